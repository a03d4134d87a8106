/*-------------------------------------------------------------------------
 *
 * pool.h
 *	  Pools of reserved values, shared by all sessions.
 *
 * src/allocator/pool.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_POOL_H
#define SK_POOL_H

#include "datatype/timestamp.h"

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
typedef struct SkRange
{
	int64		first;
	int64		end;
} SkRange;

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
	SkRange		range;			/* if done */
	int64		limit;			/* the last value that can be reserved */
	TransactionId blocked_by;	/* if locked */
	SkPoolError error;			/* if failed */
} SkRefill;

/* sessions */
extern SkPool *sk_pool_open(const SkPoolKey *key, SkWorkerKind kind);
extern SkTakeResult sk_pool_take(SkPool *pool, const SkPoolKey *key,
								 int64 count, bool whole, SkWaiter *waiter,
								 SkRange *range, bool *wake);
extern void sk_pool_wait_begin(SkWaiter *waiter);
extern void sk_pool_wait_sleep(SkWaiter *waiter, long timeout_ms);
extern void sk_pool_wait_end(SkWaiter *waiter);

/* changes of allocators */
extern int64 sk_pool_last_end(const SkPoolKey *key, uint64 *generation);
extern void sk_pool_drop(const SkPoolKey *key, uint64 generation);
extern void sk_pool_discard(const SkPoolKey *key, int64 minimum);
extern SkRange sk_pool_withdraw(const SkPoolKey *key, int64 end);

/* workers */
extern void sk_pool_forget_dropped(void);
extern int	sk_pool_collect(SkWorkerKind kind, Oid relid, SkRefill *refills);
extern int	sk_pool_pending(Oid dbid, SkWorkerKind kind);
extern bool sk_pool_finish(SkRefill *refill);
extern bool sk_pool_any_wanted(Oid dbid, SkWorkerKind kind);
extern void sk_pool_abandon(Oid dbid, SkWorkerKind kind);
extern bool sk_pool_read(int index, SkPool *copy);

#endif							/* SK_POOL_H */
