/*-------------------------------------------------------------------------
 *
 * pool.h
 *	  Pools of reserved values, and what else allocators keep in shared memory.
 *
 * Pools are written by pool.c, and by a worker that ends, the entries of workers by
 * whoever starts one (allocator.c) and by the worker.
 *
 * src/allocator/pool.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_POOL_H
#define SK_POOL_H

#include "datatype/timestamp.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/spin.h"

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
	bool		is_counted;		/* by the pool */
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
 * To be raised with each change of a struct of this file, or of what is in it.
 * A library that is replaced while the server runs then leaves the memory to
 * sessions that have the former one, and makes its own.
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

static inline int64
sk_pool_size(const SkPool *pool)
{
	return pool->current.end - pool->current.first + pool->next.end - pool->next.first;
}

extern SkSharedState *sk_shared_state(void);

/* sessions */
extern SkPool *sk_pool_open(const SkPoolKey *key, SkWorkerKind kind);
extern SkTakeResult sk_pool_take(SkPool *pool, const SkPoolKey *key,
								 int64 count, bool whole, SkWaiter *waiter,
								 SkValues *range, bool *wake);
extern void sk_pool_wait_end(int code, Datum arg);

/* changes of allocators */
extern void sk_pool_discard(const SkPoolKey *key, int64 minimum);
extern bool sk_pool_advance(const SkPoolKey *key, int64 minimum);
extern int64 sk_pool_withdraw(const SkPoolKey *key, int64 *next_value);

/* workers */
extern int	sk_pool_collect(SkWorkerKind kind, SkRefill *refills);
extern int	sk_pool_pending(Oid dbid, SkWorkerKind kind);
extern bool sk_pool_finish(SkRefill *refill);
extern bool sk_pool_read(int index, SkPool *copy);

#endif							/* SK_POOL_H */
