/*-------------------------------------------------------------------------
 *
 * allocator_row.h
 *	  A row of the table spanner.allocator.
 *
 * src/allocator/allocator_row.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_ROW_H
#define SK_ALLOCATOR_ROW_H

#include "access/htup.h"
#include "executor/tuptable.h"

/* The columns that other files ask for. */
#define SK_COLUMN_ID 1
#define SK_COLUMN_NAME 2
#define SK_COLUMN_OWNER_ROLE 14

/* The longest name that the table admits, in bytes. */
#define SK_MAX_ALLOCATOR_NAME 128

/* How large a batch may become if nobody says so. */
#define SK_DEFAULT_MAX_BATCH 100000

typedef enum SkMode
{
	SK_MODE_SYNC,
	SK_MODE_ON_COMMIT,
	SK_MODE_ASYNC,
	SK_MODE_BATCH,
	SK_MODE_ASYNC_BATCH,
	SK_MODE_REMOTE
} SkMode;

/* A row of the table. */
typedef struct SkAllocatorRow
{
	int64		id;
	char		name[SK_MAX_ALLOCATOR_NAME + 1];
	SkMode		mode;
	int64		next_value;
	int64		min_value;
	int64		max_value;
	int64		batch_size;
	int64		max_batch_size;
	int64		low_water_mark; /* -1: automatic */
	int64		failover_gap;	/* -1: automatic */
	int32		timeline;		/* 0: unknown */
	char		server[NAMEDATALEN];	/* empty: none */
	char		remote_name[SK_MAX_ALLOCATOR_NAME + 1]; /* empty: none */
	Oid			owner_role;
	int			usage_count;	/* roles that may draw too */
	Oid		   *usage_roles;	/* InvalidOid: everybody */
	bool		is_own;			/* written by the current transaction */
	Oid			table;			/* where it was read */
} SkAllocatorRow;

extern const char *sk_mode_name(SkMode mode);
extern SkMode sk_mode_from_name(const char *name);
extern void sk_row_fetch(HeapTuple tuple, TupleDesc tupdesc,
						 SkAllocatorRow *row);
extern void sk_row_store(TupleTableSlot *slot, const SkAllocatorRow *row);
extern HeapTuple sk_row_complete(HeapTuple tuple, TupleDesc tupdesc);
extern void sk_row_check(const SkAllocatorRow *row);
extern void sk_allocator_name(const char *source, const char *what, char *name);
extern void sk_row_take_role_away(SkAllocatorRow *row, Oid role);

static inline bool
sk_mode_has_pool(SkMode mode)
{
	return mode == SK_MODE_ASYNC || mode == SK_MODE_BATCH ||
		mode == SK_MODE_ASYNC_BATCH;
}

#endif							/* SK_ALLOCATOR_ROW_H */
