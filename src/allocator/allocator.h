/*-------------------------------------------------------------------------
 *
 * allocator.h
 *	  Allocators, the table and the shared memory that they are in, and what the
 *	  files of the module offer to each other.
 *
 * Pools are written by pool.c, and by a worker that ends, the entries of workers by
 * whoever starts one (allocator.c) and by the worker.
 *
 * src/allocator/allocator.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_H
#define SK_ALLOCATOR_H

#include "access/xlog.h"
#include "commands/trigger.h"
#include "datatype/timestamp.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lockdefs.h"
#include "storage/lwlock.h"
#include "storage/spin.h"
#include "utils/array.h"
#include "utils/relcache.h"

#include "compat.h"

/*
 * The allocator that a pool belongs to.  The table is part of the key because
 * the same id means another allocator after the extension was dropped and
 * created again.
 */
typedef struct SkPoolKey
{
	Oid			dbid;
	Oid			relid;			/* of spanner.allocator */
	int64		allocator_id;
} SkPoolKey;

/* The values of a series fit into the index, and into shared memory. */
#define SK_MAX_SERIES_BYTES 1024

/* Values in [first, end). */
typedef struct SkValues
{
	int64		first;
	int64		end;
} SkValues;

/* Other servers can be slow, so they have a worker of their own. */
typedef enum SkWorkerKind
{
	SK_WORKER_LOCAL,
	SK_WORKER_REMOTE
} SkWorkerKind;

typedef enum SkTakeResult
{
	SK_TAKE_DONE,
	SK_TAKE_EMPTY,				/* not enough there */
	SK_TAKE_FAILED,				/* nor will there be */
	SK_TAKE_GONE				/* the pool belongs to another allocator now */
} SkTakeResult;

/* Why values could not be reserved. */
typedef struct SkPoolError
{
	int			sqlerrcode;
	bool		is_remote;		/* of another server, or of the way to it */
	int64		limit;			/* max_value, if that is reached here */
	char		message[256];
	char		hint[256];
} SkPoolError;

typedef struct SkPoolStats
{
	int64		values;			/* taken */
	int64		refills;
	int64		waits;
	int64		wait_us;
	int64		refill_us;		/* in all */
	int64		refill_us_max;
	int64		lost;			/* reserved, and dropped */
	TimestampTz last_refill;
} SkPoolStats;

/* How long to leave an allocator alone whose row somebody has locked. */
#define SK_LOCKED_MS 10

/* How many pools a worker fills at a time. */
#define SK_MAX_REFILLS 256

typedef struct SkPool SkPool;

/* A session that waits for values. */
typedef struct SkWaiter
{
	SkPool	   *pool;
	SkPoolKey	key;
	int64		count;			/* how many values it waits for */
	int64		wanted;			/* as the pool counts that, 0 if it does not */
	TimestampTz begin;
	uint64		failures;		/* of the pool when it began to wait */
	TransactionId blocked_by;	/* keeps the worker from reserving, if valid */
	SkPoolError error;			/* if it has failed */
} SkWaiter;

/* A pool that a worker fills: what is wanted, and what became of it. */
typedef enum SkRefillResult
{
	SK_REFILL_FAILED,
	SK_REFILL_LOCKED,			/* the row is locked by somebody else */
	SK_REFILL_DONE
} SkRefillResult;

typedef struct SkRefill
{
	SkPool	   *pool;
	SkPoolKey	key;
	uint64		generation;
	int64		wanted;			/* by sessions, more than there is */
	int64		largest;		/* request of one session */
	TimestampTz begin;
	int64		since_last_us;	/* -1 for the first time */

	/* what the pool has, and is to have */
	int32		batch;
	int64		low_water_mark;
	bool		is_scarce;		/* it was another allocator's, and may be
								 * again */

	SkRefillResult result;
	SkValues	range;			/* if done */
	int64		limit;			/* the last value that can be reserved */
	TransactionId blocked_by;	/* if locked */
	SkPoolError error;			/* if failed */
} SkRefill;

/*
 * To be raised with each change of what is in shared memory.  A library that is
 * replaced while the server runs then leaves the memory to sessions that have the
 * former one, and makes its own.
 */
#define SK_LAYOUT "3"

/*
 * The pool of one allocator.  "mutex" protects all fields but the condition
 * variable and the chain of the hash table, and the mark in "pending" too.
 * The key also changes under the LWLock of the whole, so that whoever holds
 * that in shared mode may read it.
 */
struct SkPool
{
	slock_t		mutex;
	SkPoolKey	key;			/* dbid is InvalidOid if the pool is free */
	int			next_in_bucket; /* index, -1 at the end; under the LWLock */
	SkWorkerKind kind;			/* which worker fills it */
	TransactionId database_version; /* has written the row of the database */

	uint64		generation;		/* changed to keep out what is under way */
	uint64		failures;		/* counts them */

	/* from here on, of the allocator that has the pool */
	SkValues	current;		/* taken from first */
	SkValues	next;
	int64		last_end;		/* of the last range; the least if unknown */

	int64		left;			/* that can be reserved; the most if unknown */
	int64		limit;			/* the last of them */

	int64		low_water_mark; /* to be filled when less than that is left */
	int32		batch;			/* size of the next batch, 0: not yet known */

	int64		wanted;			/* how many values the waiting sessions want */
	int64		largest;		/* how many one of them wanted, at most */
	bool		starved;		/* one has looked in vain since the last batch */
	bool		is_scarce;		/* was taken over from another allocator */
	bool		is_filling;		/* a batch is under way */
	TimestampTz retry_at;		/* after a failure, if nobody waits */
	TransactionId blocked_by;	/* transaction that has locked the row */
	TimestampTz locked_until;	/* when to look at the row again */

	SkPoolError error;			/* of the last failure */
	SkPoolStats stats;

	ConditionVariable filled;
};

/* A database that has, had, or is to have a worker.  Under the LWLock. */
typedef struct SkWorkerEntry
{
	Oid			dbid;			/* InvalidOid if the entry is free */
	SkWorkerKind kind;
	int			pid;			/* 0 if it is not running */
	Latch	   *latch;			/* NULL if it is not running */
	TimestampTz launched;		/* 0 if it may be launched at once */
	int			launches;		/* since the last one came */
	TimestampTz started;
	TimestampTz idle_since;		/* 0 if it is not idle */
	bool		blocked;		/* waits for a locked row */
	int64		parent_id;		/* of a series to be made, 0 if none */
	int32		series[SK_MAX_SERIES_BYTES / sizeof(int32)];	/* an array of texts */
} SkWorkerEntry;

/* What exists once. */
typedef struct SkSharedHeader
{
	int			tranche;
	int			size;			/* of the arrays, 0 if they are not made yet */
	LWLock		lock;
	int64		taken_over;		/* pools; under the LWLock, as the next one */
	int64		lost;			/* values in these */
} SkSharedHeader;

/*
 * The addresses in this process.  What is searched in all pools at once has
 * arrays of its own.
 */
typedef struct SkSharedState
{
	SkSharedHeader *header;
	LWLock	   *lock;
	int			size;			/* number of pools */
	int			worker_size;	/* number of worker entries */
	uint32		bucket_mask;
	SkPool	   *pools;
	SkWorkerEntry *workers;
	TimestampTz *last_used;		/* of a pool: when that statement began */
	int		   *buckets;		/* indexes of pools, -1 for none */
	char	   *pending;		/* 1 for a pool that is to be filled */
} SkSharedState;

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

/* How the pool of a row is found. */
static inline SkPoolKey
sk_row_key(const SkAllocatorRow *row)
{
	SkPoolKey	result = {MyDatabaseId, row->table, row->id};

	return result;
}

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

static inline int64
sk_pool_size(const SkPool *pool)
{
	return pool->current.end - pool->current.first + pool->next.end - pool->next.first;
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

/* pool.c: for all, for sessions, for changes of allocators, for workers */
extern SkSharedState *sk_shared_state(void);
extern SkPool *sk_pool_open(const SkPoolKey *key, SkWorkerKind kind);
extern SkTakeResult sk_pool_take(SkPool *pool, const SkPoolKey *key,
								 int64 count, bool whole, SkWaiter *waiter,
								 SkValues *range, bool *wake);
extern void sk_pool_wait_end(int code, Datum arg);
extern bool sk_pool_discard(const SkPoolKey *key, int64 minimum, bool is_locked);
extern int64 sk_pool_withdraw(const SkPoolKey *key, int64 *next_value);
extern int	sk_pool_collect(SkWorkerKind kind, SkRefill *refills);
extern int	sk_pool_pending(Oid dbid, SkWorkerKind kind);
extern bool sk_pool_finish(SkRefill *refill);
extern bool sk_pool_read(int index, SkPool *copy);

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
extern void sk_row_write(SkTable *table, SkAllocatorRow *row, SkWrite kind);
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
