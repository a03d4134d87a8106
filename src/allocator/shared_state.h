/*-------------------------------------------------------------------------
 *
 * shared_state.h
 *	  What allocators keep in shared memory.
 *
 * Only the files of pools and worker_list.c look inside.
 *
 * src/allocator/shared_state.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARED_STATE_H
#define SK_SHARED_STATE_H

#include "datatype/timestamp.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/spin.h"

#include "allocator/pool.h"

/*
 * The pool of one allocator.  "mutex" protects all fields but the condition
 * variable.  The key also changes under the LWLock of the whole, so that
 * whoever holds that in shared mode may read it.
 */
struct SkPool
{
	slock_t		mutex;
	SkPoolKey	key;			/* dbid is InvalidOid if the pool is free */
	SkWorkerKind kind;			/* which worker fills it */

	SkRange		current;		/* taken from first */
	SkRange		next;
	int64		last_end;		/* end of the last range, 0 if there was none */
	uint64		generation;		/* changed to keep out what is under way */

	bool		left_known;
	int64		left;			/* values that can still be reserved */
	int64		limit;			/* the last of them */

	int64		low_water_mark; /* to be filled when less than that is left */
	int32		batch;			/* size of the next batch, 0: not yet known */

	bool		pending;		/* to be filled */
	int64		wanted;			/* how many values the sessions wait for */
	int64		largest;		/* how many one of them waits for, at most */
	uint64		round;			/* how often the worker has looked at that */
	int64		served;			/* what it looked at then and is wanted still */
	TimestampTz retry_at;		/* after a failure, if nobody waits */
	TransactionId blocked_by;	/* transaction that has locked the row */
	TimestampTz locked_until;	/* when to look at the row again */

	uint64		failures;		/* counts them */
	SkPoolError error;			/* the last one */

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
	TimestampTz started;
	TimestampTz idle_since;		/* 0 if it is not idle */
	bool		blocked;		/* waits for a locked row */
} SkWorkerEntry;

/* Where all that is in this process. */
typedef struct SkSharedState
{
	LWLock	   *lock;
	int			size;			/* number of pools */
	int			worker_size;	/* number of worker entries */
	SkPool	   *pools;
	SkWorkerEntry *workers;
} SkSharedState;

static inline int64
range_size(const SkRange *range)
{
	return range->end - range->first;
}

static inline int64
pool_size(const SkPool *pool)
{
	return range_size(&pool->current) + range_size(&pool->next);
}

static inline bool
is_pool_of(const SkPool *pool, const SkPoolKey *key)
{
	return pool->key.allocator_id == key->allocator_id &&
		pool->key.relid == key->relid && pool->key.dbid == key->dbid;
}

static inline void
empty_pool(SkPool *pool)
{
	pool->stats.lost += pool_size(pool);
	pool->current.first = pool->current.end = 0;
	pool->next.first = pool->next.end = 0;
}

extern void sk_shared_state_init(void);
extern SkSharedState *sk_shared_state(void);
extern SkPool *sk_pool_find(const SkPoolKey *key);

#endif							/* SK_SHARED_STATE_H */
