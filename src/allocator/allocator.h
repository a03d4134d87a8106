/*-------------------------------------------------------------------------
 *
 * allocator.h
 *	  Allocators, the table that they are in, and what the files of the module
 *	  offer to each other.
 *
 * src/allocator/allocator.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_H
#define SK_ALLOCATOR_H

#include "access/xlog.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/array.h"
#include "utils/guc.h"
#include "utils/relcache.h"

#include "allocator/pool.h"
#include "compat.h"

/* The columns of the table. */
typedef enum SkAllocatorColumn
{
	SK_COLUMN_NAME = 1,
	SK_COLUMN_SERIES,
	SK_COLUMN_ID,
	SK_COLUMN_NEXT_VALUE,
	SK_COLUMN_TIMELINE,
	SK_COLUMN_SYSTEM,
	/* from here on, of the allocator itself only */
	SK_COLUMN_MODE,
	SK_COLUMN_MIN_VALUE,
	SK_COLUMN_MAX_VALUE,
	SK_COLUMN_BATCH_SIZE,
	SK_COLUMN_MAX_BATCH_SIZE,
	SK_COLUMN_LOW_WATER_MARK,
	SK_COLUMN_FAILOVER_GAP,
	SK_COLUMN_START_VALUE,
	SK_COLUMN_SERIES_TIMELINE,
	SK_COLUMN_SERIES_SYSTEM,
	SK_COLUMN_FORMER_GAP,
	SK_COLUMN_FORMER_TIMELINE,
	SK_COLUMN_SERVER,
	SK_COLUMN_REMOTE_NAME,
	SK_COLUMN_OWNER_ROLE,
	SK_COLUMN_USAGE_ROLES
} SkAllocatorColumn;

#define SK_COLUMN_COUNT SK_COLUMN_USAGE_ROLES

/* The longest name that the table admits, in bytes. */
#define SK_MAX_ALLOCATOR_NAME 128

/* A number that is left to us. */
#define SK_AUTOMATIC (-1)

/* Without failover_gap, as many batches of the largest size are left out. */
#define SK_GAP_BATCHES 10

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

/* A moment in the life of a server, as far as promotions can tell. */
typedef struct SkStamp
{
	int32		timeline;		/* 0: unknown */
	int64		system;			/* identifier of it, 0: unknown */
} SkStamp;

/* A row of the table; that of a series has all but its counter of its allocator. */
typedef struct SkAllocatorRow
{
	int64		id;				/* of this database; 0 before the row is there */
	char		name[SK_MAX_ALLOCATOR_NAME + 1];
	SkMode		mode;
	int64		next_value;
	int64		min_value;
	int64		max_value;
	int64		batch_size;
	int64		max_batch_size;
	int64		low_water_mark; /* may be SK_AUTOMATIC, as the next one */
	int64		failover_gap;
	SkStamp		stamp;			/* when the counter was written */
	SkStamp		series_stamp;	/* since when all series are known here */
	int64		former_gap;		/* of counters that were written before this
								 * timeline, if it is larger */
	int32		former_timeline;
	char		server[NAMEDATALEN];	/* empty: none */
	char		remote_name[SK_MAX_ALLOCATOR_NAME + 1]; /* empty: none */
	Oid			owner_role;
	List	   *usage_roles;	/* roles that may use it too; InvalidOid: all */
	int64		start_value;	/* of a series that begins */
	int64		parent_id;		/* of the allocator of a series, else 0 */
	ArrayType  *series;			/* what it counts for, else NULL */
	uint64		epoch;			/* of the cache, when the options were read */
	bool		is_own;			/* written by the current transaction */
	Oid			table;			/* where it was read, and this version */
	ItemPointerData tid;		/* or where it was found last */
} SkAllocatorRow;


static inline bool
sk_mode_has_pool(SkMode mode)
{
	return mode == SK_MODE_ASYNC || mode == SK_MODE_BATCH ||
		mode == SK_MODE_ASYNC_BATCH;
}

/* How many values to leave out for a timeline. */
static inline uint64
sk_row_gap(const SkAllocatorRow *row)
{
	if (!sk_mode_has_pool(row->mode))
		return 0;
	return row->failover_gap >= 0 ? row->failover_gap : SK_GAP_BATCHES * row->max_batch_size;
}

/* The open table, and the former user. */
typedef struct SkTable
{
	Relation	rel;
	LOCKMODE	mode;
	Oid			userid;
	int			sec_context;
	TupleTableSlot *slot;		/* the row that was locked last, or NULL */
	ItemPointer place;			/* where to look for a row first, or NULL */
	int			queues;			/* in which to wait for a row */
} SkTable;

typedef enum SkRowState
{
	SK_ROW_FOUND,
	SK_ROW_GONE,
	SK_ROW_LOCKED				/* by somebody else */
} SkRowState;

/* How to lock a row. */
typedef enum SkRowLock
{
	SK_LOCK_WAIT,
	SK_LOCK_SKIP,				/* not, if somebody has locked it */
	SK_LOCK_KEEP				/* only against being deleted */
} SkRowLock;

/* What a write to the table means; hand-made ones are of the last kind. */
typedef enum SkWrite
{
	SK_WRITE_RESERVES,			/* moves the counter as the mode wants it */
	SK_WRITE_FOLLOWS,			/* has a series follow its allocator */
	SK_WRITE_ACCESS,			/* says nothing about values */
	SK_WRITE_ADVANCES,			/* only moves the counter forward */
	SK_WRITE_CHANGES			/* values in a pool may be wrong now */
} SkWrite;

/* The most values that a series has. */
#define SK_MAX_SERIES_COLUMNS 32

typedef struct SkAllocator
{
	int64		id;				/* hash key */
	SkAllocatorRow row;			/* its counter is as it was then */
	Oid			usable_by;		/* the last role that was found to be allowed */
	SkPoolKey	key;
	SkPool	   *pool;			/* NULL: not yet looked for */
} SkAllocator;

/* A column for numbers, and those that tell the series. */
typedef struct SkNumberedColumn
{
	AttrNumber	attnum;
	int16		series_count;
	AttrNumber	series[SK_MAX_SERIES_COLUMNS];
} SkNumberedColumn;

/* The name that comes nearest to one that does not exist. */
typedef struct SkNearName
{
	const char *wanted;
	int			distance;
	char		found[SK_MAX_ALLOCATOR_NAME + 1];	/* empty: none */
} SkNearName;

/* pg_dump turns it off in all that it writes. */
static inline bool
sk_dump_is_restored(void)
{
	return !check_function_bodies;
}

/*
 * The stamp of now.  pg_upgrade makes a new system, whose timelines begin with 1
 * again.
 */
static inline SkStamp
sk_stamp_now(void)
{
	SkStamp		result = {GetWALInsertionTimeLine(), GetSystemIdentifier()};

	return result;
}

static inline bool
sk_stamp_is_now(SkStamp stamp)
{
	return stamp.timeline == GetWALInsertionTimeLine() &&
		stamp.system == (int64) GetSystemIdentifier();
}

/* row.c */
extern const char *const sk_mode_names[];

extern SkMode sk_mode_from_name(const char *name);
extern void sk_row_skip_gap(SkAllocatorRow *row);
pg_noreturn extern void sk_report_exhausted(const char *name, int64 max_value);
extern ArrayType *sk_series_make(Datum *values, int count);
extern int	sk_series_compare(const ArrayType *a, const ArrayType *b);
extern char *sk_series_print(ArrayType *series);

extern void sk_near_name_try(SkNearName *near, const char *name);

/* table.c */
extern uint64 sk_allocator_epoch;
extern int	sk_allocator_timeout;

extern Oid	sk_allocator_table(void);
extern bool sk_wait_limited(bool (*wait) (void *arg), void *arg, const char *name);
extern void sk_table_open(SkTable *table, LOCKMODE mode);
extern void sk_table_close(SkTable *table);
extern bool sk_row_find(SkTable *table, const char *name, int64 id,
						ArrayType *series, SkAllocatorRow *row);
extern bool sk_row_find_settled(SkTable *table, const char *name, ArrayType *series,
								SkAllocatorRow *row);
extern SkRowState sk_row_lock(SkTable *table, int64 id, SkRowLock how,
							  SkAllocatorRow *row);
extern TransactionId sk_row_locker(SkTable *table, int64 id, bool *is_own);
extern void sk_row_write(SkTable *table, const SkAllocatorRow *row, SkWrite kind);
extern void sk_row_insert(SkTable *table, SkAllocatorRow *row);
extern bool sk_allocator_read(const char *name, int64 id, SkAllocatorRow *row);
extern void sk_report_missing(int elevel, const char *name, int64 id,
							  bool may_create);
extern SkValues sk_own_take(SkAllocatorRow *row, int64 count, SkMode *mode);

/* cache.c */
extern SkAllocator *sk_allocator_find(const char *name, int64 id);
extern SkAllocator *sk_allocator_by_series(int64 parent_id, ArrayType *series,
										   bool may_begin);
extern void sk_allocator_check_usage(SkAllocator *allocator);
extern bool sk_check_usage(const SkAllocatorRow *row, Oid role, bool missing_ok);
extern void sk_check_writable(Oid function);
extern ArrayType *sk_series_of_argument(FunctionCallInfo fcinfo, int argno);
extern void sk_series_begin(SkTable *table, int64 parent_id, ArrayType *series,
							SkAllocatorRow *row);

/* commit_number.c */
extern void sk_check_numbering_trigger(const Trigger *trigger);
extern void sk_numbered_column(Relation rel, char *const *names, int count,
							   SkNumberedColumn *column);
extern SkAllocator *sk_numbering_allocator(const char *name);
extern Datum sk_series_text(Datum value, Oid type);

#endif							/* SK_ALLOCATOR_H */
