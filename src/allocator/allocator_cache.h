/*-------------------------------------------------------------------------
 *
 * allocator_cache.h
 *	  What this session knows of the allocators that it uses.
 *
 * src/allocator/allocator_cache.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_CACHE_H
#define SK_ALLOCATOR_CACHE_H

#include "allocator/allocator_table.h"
#include "allocator/pool.h"

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

extern void sk_allocator_cache_init(void);
extern SkAllocator *sk_allocator_by_name(const char *name);
extern SkAllocator *sk_allocator_by_id(int64 id);
extern void sk_allocator_check_usage(SkAllocator *allocator);
extern bool sk_may_use(const SkAllocatorRow *row, Oid role);
extern void sk_check_usage(const SkAllocatorRow *row, Oid role);
extern void sk_check_owner(const SkAllocatorRow *row, Oid role);
extern void sk_check_may_create(Oid function);
extern void sk_check_writable(Oid function);

#endif							/* SK_ALLOCATOR_CACHE_H */
