/*-------------------------------------------------------------------------
 *
 * table.h
 *	  The table spanner.allocator and its rows.
 *
 * src/allocator/table.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_TABLE_H
#define SK_TABLE_H

#include "access/htup.h"
#include "executor/tuptable.h"
#include "nodes/lockoptions.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/array.h"
#include "utils/guc.h"
#include "utils/relcache.h"

/* The columns of the table. */
typedef enum SkAllocatorColumn
{
	SK_COLUMN_ID = 1,
	SK_COLUMN_NAME,
	SK_COLUMN_MODE,
	SK_COLUMN_NEXT_VALUE,
	SK_COLUMN_MIN_VALUE,
	SK_COLUMN_MAX_VALUE,
	SK_COLUMN_BATCH_SIZE,
	SK_COLUMN_MAX_BATCH_SIZE,
	SK_COLUMN_LOW_WATER_MARK,
	SK_COLUMN_FAILOVER_GAP,
	SK_COLUMN_TIMELINE,
	SK_COLUMN_SYSTEM,
	SK_COLUMN_SERVER,
	SK_COLUMN_REMOTE_NAME,
	SK_COLUMN_OWNER_ROLE,
	SK_COLUMN_USAGE_ROLES,
	SK_COLUMN_START_VALUE,
	SK_COLUMN_PARENT_ID,
	SK_COLUMN_SERIES
} SkAllocatorColumn;

#define SK_COLUMN_COUNT SK_COLUMN_SERIES

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

/* A row of the table; that of a series has all but its counter of its parent. */
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
	int64		system;			/* identifier of it, 0: unknown */
	char		server[NAMEDATALEN];	/* empty: none */
	char		remote_name[SK_MAX_ALLOCATOR_NAME + 1]; /* empty: none */
	Oid			owner_role;
	List	   *usage_roles;	/* roles that may use it too; InvalidOid: all */
	int64		start_value;	/* of a series that begins */
	int64		parent_id;		/* of a series, else 0 */
	ArrayType  *series;			/* what it counts for, else NULL */
	bool		is_own;			/* written by the current transaction */
	Oid			table;			/* where it was read, and this version */
	ItemPointerData tid;
} SkAllocatorRow;

extern const char *const sk_mode_names[];
extern SkMode sk_mode_from_name(const char *name);
extern void sk_row_fetch(HeapTuple tuple, TupleDesc tupdesc,
						 SkAllocatorRow *row);
extern void sk_row_check(const SkAllocatorRow *row);
extern void sk_allocator_name(const char *source, const char *what, char *name);

static inline bool
sk_mode_has_pool(SkMode mode)
{
	return mode == SK_MODE_ASYNC || mode == SK_MODE_BATCH ||
		mode == SK_MODE_ASYNC_BATCH;
}

/* pg_dump turns it off in all that it writes. */
static inline bool
sk_dump_is_restored(void)
{
	return !check_function_bodies;
}

/* The open table, and the former user. */
typedef struct SkTable
{
	Relation	rel;
	LOCKMODE	mode;
	Oid			userid;
	int			sec_context;
	TupleTableSlot *slot;		/* the row that was locked last, or NULL */
} SkTable;

typedef enum SkRowState
{
	SK_ROW_FOUND,
	SK_ROW_GONE,
	SK_ROW_LOCKED				/* by somebody else */
} SkRowState;

/* What a write to the table means; hand-made ones are of the last kind. */
typedef enum SkWrite
{
	SK_WRITE_RESERVES,			/* moves the counter as the mode wants it */
	SK_WRITE_FOLLOWS,			/* deletes a series with its allocator */
	SK_WRITE_ACCESS,			/* says nothing about values */
	SK_WRITE_RESTORES,			/* brings a series of a dump */
	SK_WRITE_CHANGES			/* values in a pool may be wrong now */
} SkWrite;

extern SkWrite sk_table_write;

extern Oid	sk_allocator_table(void);
extern void sk_table_open(SkTable *table, LOCKMODE mode);
extern void sk_table_open_again(SkTable *table, Oid relid);
extern void sk_table_close(SkTable *table);

extern bool sk_row_find(SkTable *table, const char *name, int64 id,
						ArrayType *series, SkAllocatorRow *row);
extern bool sk_row_find_settled(SkTable *table, const char *name, int64 parent_id,
								ArrayType *series, SkAllocatorRow *row);
extern List *sk_series_ids(SkTable *table, int64 parent_id, int limit);
extern bool sk_row_keep(SkTable *table, int64 id, SkAllocatorRow *row);
extern SkRowState sk_row_lock(SkTable *table, int64 id, LockWaitPolicy policy,
							  SkAllocatorRow *row);
extern SkRowState sk_row_lock_again(SkTable *table, ItemPointer tid, int64 id,
									SkAllocatorRow *row);
extern TransactionId sk_row_locker(SkTable *table, int64 id, bool *is_own);
extern void sk_row_update(SkTable *table, const SkAllocatorRow *row,
						  SkWrite kind);
extern int64 sk_table_next_id(Relation rel);
extern void sk_row_insert(SkTable *table, SkAllocatorRow *row, SkWrite kind);
extern void sk_row_delete(SkTable *table);
extern void sk_series_delete_row(SkTable *table, int64 id);

extern bool sk_allocator_read(const char *name, int64 id, SkAllocatorRow *row);

#endif							/* SK_TABLE_H */
