/*-------------------------------------------------------------------------
 *
 * cache.h
 *	  The allocators and series that a session uses.
 *
 * src/allocator/cache.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_CACHE_H
#define SK_ALLOCATOR_CACHE_H

#include "fmgr.h"

#include "allocator/pool.h"
#include "allocator/table.h"

/* The most values that a series has. */
#define SK_MAX_SERIES_COLUMNS 32

typedef struct SkAllocator
{
	int64		id;				/* hash key */
	uint64		epoch;			/* valid if it is that of the cache */
	SkAllocatorRow row;			/* its counter is as it was then */
	Oid			usable_by;		/* the last role that was found to be allowed */
	SkPoolKey	key;
	SkPool	   *pool;			/* NULL: not yet looked for */
} SkAllocator;

/* Changes when anything in the cache may have become wrong. */
extern uint64 sk_allocator_epoch;

extern SkAllocator *sk_allocator_by_name(const char *name);
extern SkAllocator *sk_allocator_by_id(int64 id);
extern SkAllocator *sk_allocator_by_series(int64 parent_id, ArrayType *series,
										   bool may_begin);
extern void sk_allocator_check_usage(SkAllocator *allocator);
extern bool sk_check_usage(const SkAllocatorRow *row, Oid role, bool missing_ok);
extern void sk_check_writable(Oid function);

extern ArrayType *sk_series_of_argument(FunctionCallInfo fcinfo, int argno);
extern ArrayType *sk_series_of_row(TupleTableSlot *slot, Relation rel,
								   const AttrNumber *columns, int count);
extern int	sk_series_compare(const ArrayType *a, const ArrayType *b);
extern char *sk_series_print(ArrayType *series);
extern void sk_series_begin(SkTable *table, int64 parent_id, ArrayType *series,
							SkAllocatorRow *row);

extern void sk_cache_init(void);

#endif							/* SK_ALLOCATOR_CACHE_H */
