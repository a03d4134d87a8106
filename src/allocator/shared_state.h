/*-------------------------------------------------------------------------
 *
 * shared_state.h
 *	  What allocators keep in shared memory.
 *
 * Only pool.c, shared_state.c and worker.c write it.
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
 * To be raised with each change of a struct of this file, or of what is in it.
 * A library that is replaced while the server runs then leaves the memory to
 * sessions that have the former one, and makes its own.
 */
#define SK_LAYOUT "2"

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

	uint64		generation;		/* changed to keep out what is under way */
	uint64		failures;		/* counts them */

	/* from here on, of the allocator that has the pool */
	SkRange		current;		/* taken from first */
	SkRange		next;
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
range_size(const SkRange *range)
{
	Assert(range->first <= range->end);
	return range->end - range->first;
}

static inline int64
pool_size(const SkPool *pool)
{
	return range_size(&pool->current) + range_size(&pool->next);
}

/* With two ranges in the pool, another one would push the first one out. */
static inline bool
pool_is_full(const SkPool *pool)
{
	return pool_size(pool) >= pool->low_water_mark ||
		range_size(&pool->next) > 0;
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

extern void sk_shared_state_settings(void);
extern SkSharedState *sk_shared_state(void);
extern SkPool *sk_pool_find(const SkPoolKey *key);

/* Whether a pool is to be filled. */
static inline char *
pending_mark(const SkPool *pool)
{
	SkSharedState *state = sk_shared_state();

	Assert(pool >= state->pools && pool < state->pools + state->size);
	return &state->pending[pool - state->pools];
}

#endif							/* SK_SHARED_STATE_H */
