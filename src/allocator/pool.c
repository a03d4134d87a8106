/*-------------------------------------------------------------------------
 *
 * pool.c
 *	  Pools of reserved values, shared by all sessions.
 *
 * A pool holds up to two ranges: the current one, which values are taken
 * from, and the next one.  All of it is under the spinlock of the pool, which
 * is held for a few assignments only.  The LWLock of the shared state is
 * taken before a spinlock, never after; it is needed only to find a pool for
 * an allocator that has none yet.
 *
 * "wanted" is what the sessions that wait now want, no more and no less: a
 * session takes its values and its wish out of the pool under the same hold
 * of the spinlock.  So the worker can see at any time what is missing.
 *
 * When there is no free pool, that of another allocator is taken over, the
 * one which has not been used for the longest time.  Its values are lost.  A
 * database that has its share of all pools takes one of its own, so that it
 * cannot empty those of the others.
 *
 * src/allocator/pool.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "allocator/pool.h"
#include "allocator/shared_state.h"
#include "compat.h"

/* How many databases the pools are shared fairly among. */
#define SK_MAX_SHARES 64

/* How many pools a database has. */
typedef struct Share
{
	Oid			dbid;
	int			pools;
} Share;

static int	find_free_pool(void);
static int	count_shares(Share *shares);
static bool is_idle(SkPool *pool);
static void give_pool(int index, const SkPoolKey *key, SkWorkerKind kind);
static int *bucket_of(const SkPoolKey *key);
static void unlink_pool(int index);
static SkTakeResult take_values(SkPool *pool, const SkPoolKey *key, int64 count,
								bool whole, SkRange *range);
static bool take_range(SkPool *pool, int64 count, bool whole, SkRange *range);
static bool ask_for_batch(SkPool *pool);
static bool has_failed(SkWaiter *waiter);
static void forget_wish(SkWaiter *waiter);

/*
 * sk_pool_open
 *		Find the pool of an allocator, or give it one.
 *
 * Returns NULL if sessions wait at all of them.
 */
SkPool *
sk_pool_open(const SkPoolKey *key, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkPool	   *pool;
	int			index = -1;

	LWLockAcquire(state->lock, LW_SHARED);
	pool = sk_pool_find(key);
	if (pool != NULL && pool->kind != kind)
		pool = NULL;
	LWLockRelease(state->lock);
	if (pool != NULL)
		return pool;

	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	pool = sk_pool_find(key);
	if (pool != NULL)
		pool->kind = kind;
	else
	{
		index = find_free_pool();
		if (index >= 0)
		{
			give_pool(index, key, kind);
			pool = &state->pools[index];
		}
	}
	LWLockRelease(state->lock);
	if (index >= 0)
		ConditionVariableBroadcast(&pool->filled);
	return pool;
}

/*
 * sk_pool_find
 *		The pool of an allocator, NULL if it has none.
 *
 * The caller holds the LWLock.
 */
SkPool *
sk_pool_find(const SkPoolKey *key)
{
	SkSharedState *state = sk_shared_state();

	for (int i = *bucket_of(key); i >= 0; i = state->pools[i].next_in_bucket)
		if (is_pool_of(&state->pools[i], key))
			return &state->pools[i];
	return NULL;
}

/* The index of a pool that is free, or else of one to be taken over, or -1. */
static int
find_free_pool(void)
{
	SkSharedState *state = sk_shared_state();
	Share		shares[SK_MAX_SHARES] = {{MyDatabaseId, 0}};
	int			databases = count_shares(shares);
	int			fair = state->size / databases;
	int			any = -1;
	int			best = -1;

	for (int i = 0; i < state->size; i++)
	{
		Oid			dbid = state->pools[i].key.dbid;
		bool		is_fair = dbid == MyDatabaseId && shares[0].pools >= fair;

		if (!OidIsValid(dbid))
			return i;
		/* whoever has more than its share gives to who has less */
		for (int j = 1; shares[0].pools < fair && j < databases; j++)
			is_fair |= shares[j].dbid == dbid && shares[j].pools > fair;
		if ((any >= 0 && !is_fair &&
			 state->last_used[i] >= state->last_used[any]) ||
			(best >= 0 && state->last_used[i] >= state->last_used[best]) ||
			!is_idle(&state->pools[i]))
			continue;
		if (any < 0 || state->last_used[i] < state->last_used[any])
			any = i;
		if (is_fair)
			best = i;
	}
	return best >= 0 ? best : any;
}

/* Those of this database come first.  Returns the number of databases. */
static int
count_shares(Share *shares)
{
	SkSharedState *state = sk_shared_state();
	int			count = 1;

	for (int i = 0; i < state->size; i++)
	{
		Oid			dbid = state->pools[i].key.dbid;
		int			j = 0;

		if (!OidIsValid(dbid))
			continue;
		while (j < count && shares[j].dbid != dbid)
			j++;
		if (j == SK_MAX_SHARES)
			continue;
		if (j == count)
		{
			shares[count].dbid = dbid;
			shares[count++].pools = 0;
		}
		shares[j].pools++;
	}
	return count;
}

/* Nobody waits at it, and no batch is on its way to it. */
static bool
is_idle(SkPool *pool)
{
	bool		result;

	SpinLockAcquire(&pool->mutex);
	result = pool->wanted == 0 && !pool->is_filling;
	SpinLockRelease(&pool->mutex);
	return result;
}

/* Nobody can begin to wait at a pool that is found idle and has a new key. */
static void
give_pool(int index, const SkPoolKey *key, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkPool	   *pool = &state->pools[index];
	int		   *bucket = bucket_of(key);
	bool		was_used = OidIsValid(pool->key.dbid);

	if (was_used)
		unlink_pool(index);
	SpinLockAcquire(&pool->mutex);
	if (was_used)
	{
		state->header->taken_over++;
		state->header->lost += pool_size(pool);
	}
	empty_pool(pool);
	pool->key = *key;
	pool->kind = kind;
	pool->last_known = false;
	pool->generation++;
	pool->low_water_mark = 0;
	pool->batch = 0;
	pool->wanted = 0;
	pool->largest = 0;
	pool->starved = false;
	pool->is_filling = false;
	pool->left_known = false;
	pool->retry_at = 0;
	pool->blocked_by = InvalidTransactionId;
	pool->locked_until = 0;
	pool->error.sqlerrcode = 0;
	memset(&pool->stats, 0, sizeof(SkPoolStats));
	state->pending[index] = 0;
	SpinLockRelease(&pool->mutex);
	state->last_used[index] = GetCurrentStatementStartTimestamp();
	pool->next_in_bucket = *bucket;
	*bucket = index;
}

static int *
bucket_of(const SkPoolKey *key)
{
	SkSharedState *state = sk_shared_state();
	uint32		hash = hash_combine(hash_bytes_uint32(key->dbid ^ (uint32) (key->allocator_id >> 32)),
									hash_bytes_uint32((uint32) key->allocator_id));

	return &state->buckets[hash & state->bucket_mask];
}

static void
unlink_pool(int index)
{
	SkSharedState *state = sk_shared_state();
	int		   *link = bucket_of(&state->pools[index].key);

	while (*link != index)
		link = &state->pools[*link].next_in_bucket;
	*link = state->pools[index].next_in_bucket;
}

/*
 * sk_pool_forget_dropped
 *		Free the pools of databases that are gone, which would count as sharers.
 *
 * To be called in a transaction.
 */
void
sk_pool_forget_dropped(void)
{
	SkSharedState *state = sk_shared_state();
	SkPoolKey	none = {InvalidOid};

	for (int i = 0; i < state->size; i++)
	{
		SkPool	   *pool = &state->pools[i];
		Oid			dbid = pool->key.dbid;

		if (!OidIsValid(dbid) ||
			SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(dbid)))
			continue;
		LWLockAcquire(state->lock, LW_EXCLUSIVE);
		if (pool->key.dbid == dbid)
		{
			unlink_pool(i);
			SpinLockAcquire(&pool->mutex);
			pool->key = none;
			state->pending[i] = 0;
			SpinLockRelease(&pool->mutex);
		}
		LWLockRelease(state->lock);
	}
}

/*
 * sk_pool_read_use
 *		How the pools are shared.
 */
void
sk_pool_read_use(SkPoolUse *use)
{
	SkSharedState *state = sk_shared_state();

	LWLockAcquire(state->lock, LW_SHARED);
	use->size = state->size;
	use->used = 0;
	for (int i = 0; i < state->size; i++)
		use->used += OidIsValid(state->pools[i].key.dbid);
	use->taken_over = state->header->taken_over;
	use->lost = state->header->lost;
	LWLockRelease(state->lock);
}

/*
 * sk_pool_take
 *		Take values.
 *
 * "count" values one after the other if "whole", else as many of them as the
 * current range has.  *wake tells that the worker has to be woken because the
 * pool is below its low-water mark.
 */
SkTakeResult
sk_pool_take(SkPool *pool, const SkPoolKey *key, int64 count, bool whole,
			 SkRange *range, bool *wake)
{
	SkTakeResult result;

	*wake = false;
	SpinLockAcquire(&pool->mutex);
	result = take_values(pool, key, count, whole, range);
	if (result == SK_TAKE_DONE)
		*wake = ask_for_batch(pool);
	SpinLockRelease(&pool->mutex);
	return result;
}

static SkTakeResult
take_values(SkPool *pool, const SkPoolKey *key, int64 count, bool whole,
			SkRange *range)
{
	SkSharedState *state = sk_shared_state();

	if (!is_pool_of(pool, key))
		return SK_TAKE_GONE;
	state->last_used[pool - state->pools] = GetCurrentStatementStartTimestamp();
	if (!take_range(pool, count, whole, range))
		return SK_TAKE_EMPTY;
	pool->stats.values += range_size(range);
	return SK_TAKE_DONE;
}

/* Is there less than should be, and has nobody asked for more? */
static bool
ask_for_batch(SkPool *pool)
{
	char	   *pending = pending_mark(pool);

	if (*pending || (pool_size(pool) >= pool->wanted && pool_is_full(pool)))
		return false;
	*pending = 1;
	return true;
}

static bool
take_range(SkPool *pool, int64 count, bool whole, SkRange *range)
{
	SkRange    *current = &pool->current;
	SkRange    *next = &pool->next;

	if (range_size(current) < count && range_size(next) > 0)
	{
		if (current->end == next->first || range_size(current) == 0)
		{
			if (range_size(current) == 0)
				current->first = next->first;
			current->end = next->end;
			next->first = next->end;
		}
		else if (whole && range_size(next) >= count)
		{
			/* values do not go down, so what is left here is lost */
			pool->stats.lost += range_size(current);
			*current = *next;
			next->first = next->end;
		}
	}
	if (range_size(current) < (whole ? count : 1))
		return false;

	range->first = current->first;
	range->end = range->first + Min(count, range_size(current));
	current->first = range->end;
	return true;
}

/*
 * sk_pool_wait_begin
 *		Begin to wait for "waiter->count" values.
 *
 * To be followed by sk_pool_wait_end(), whatever happens.
 */
void
sk_pool_wait_begin(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;

	waiter->wanted = 0;
	waiter->begin = GetCurrentTimestamp();
	SpinLockAcquire(&pool->mutex);
	if (is_pool_of(pool, &waiter->key))
	{
		waiter->failures = pool->failures;
		waiter->wanted = Min(waiter->count, PG_INT64_MAX - pool->wanted);
		pool->wanted += waiter->wanted;
		pool->largest = Max(pool->largest, waiter->wanted);
	}
	SpinLockRelease(&pool->mutex);
	ConditionVariablePrepareToSleep(&pool->filled);
}

/*
 * sk_pool_wait_take
 *		Take the values that the session waits for.
 *
 * *wake tells that the worker has to be woken: if there are no values, and if
 * there is too little for others now.
 */
SkTakeResult
sk_pool_wait_take(SkWaiter *waiter, bool whole, SkRange *range, bool *wake)
{
	SkPool	   *pool = waiter->pool;
	SkTakeResult result;

	*wake = false;
	SpinLockAcquire(&pool->mutex);
	result = take_values(pool, &waiter->key, waiter->count, whole, range);
	if (result == SK_TAKE_DONE)
	{
		forget_wish(waiter);
		*wake = ask_for_batch(pool);
	}
	else if (result == SK_TAKE_EMPTY && has_failed(waiter))
		result = SK_TAKE_FAILED;
	else if (result == SK_TAKE_EMPTY)
	{
		waiter->blocked_by = pool->blocked_by;
		pool->starved = *wake = true;
		*pending_mark(pool) = 1;
	}
	SpinLockRelease(&pool->mutex);
	return result;
}

/*
 * Has reserving values failed since the session began to wait, or are there
 * not as many left as it wants?
 */
static bool
has_failed(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;

	if (pool->failures != waiter->failures)
		waiter->error = pool->error;
	else if (pool->left_known && pool->left < waiter->count - pool_size(pool))
	{
		waiter->error.sqlerrcode = ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED;
		waiter->error.is_remote = false;
		waiter->error.limit = pool->limit;
	}
	else
		return false;
	return true;
}

static void
forget_wish(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;

	pool->wanted -= waiter->wanted;
	if (pool->wanted == 0)
		pool->largest = 0;
	waiter->wanted = 0;
}

/*
 * sk_pool_wait_sleep
 *		Sleep until something has happened to the pool, or the time is over.
 */
void
sk_pool_wait_sleep(SkWaiter *waiter, long timeout_ms)
{
	static uint32 wait_event = 0;

	if (wait_event == 0)
		wait_event = WaitEventExtensionNew("SpannerKeysAllocatorRefill");
	(void) ConditionVariableTimedSleep(&waiter->pool->filled, timeout_ms,
									   wait_event);
}

/*
 * sk_pool_wait_end
 *		Take back what the session still asks for.
 */
void
sk_pool_wait_end(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;
	int64		waited_us = GetCurrentTimestamp() - waiter->begin;

	ConditionVariableCancelSleep();
	SpinLockAcquire(&pool->mutex);
	if (is_pool_of(pool, &waiter->key))
	{
		forget_wish(waiter);
		pool->stats.waits++;
		pool->stats.wait_us += waited_us;
	}
	SpinLockRelease(&pool->mutex);
}
