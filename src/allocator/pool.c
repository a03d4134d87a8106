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
 * src/allocator/pool.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "common/int.h"
#include "miscadmin.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "allocator/pool.h"
#include "allocator/shared_state.h"
#include "compat.h"

static SkPool *find_free_pool(Oid relid);
static bool is_reclaimable(SkPool *pool, Oid relid);
static void give_pool(SkPool *pool, const SkPoolKey *key, SkWorkerKind kind);
static void register_waiter(SkWaiter *waiter);
static void take_back(SkPool *pool, const SkWaiter *waiter);
static bool take_range(SkPool *pool, int64 count, bool whole, SkRange *range);

/*
 * sk_pool_open
 *		Find the pool of an allocator, or make one.
 *
 * Fails if there are too many.
 */
SkPool *
sk_pool_open(const SkPoolKey *key, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkPool	   *pool;

	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	pool = sk_pool_find(key);
	if (pool == NULL)
	{
		pool = find_free_pool(key->relid);
		if (pool != NULL)
			give_pool(pool, key, kind);
	}
	else
		pool->kind = kind;
	LWLockRelease(state->lock);

	if (pool == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many allocators in use"),
				 errdetail("There is room for the values of %d allocators.",
						   state->size),
				 errhint("Increase \"%s\" and preload the library, or call spanner.release_allocator() for allocators that are not needed now.",
						 "spanner_keys.max_allocators")));
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

	for (int i = 0; i < state->size; i++)
		if (is_pool_of(&state->pools[i], key))
			return &state->pools[i];
	return NULL;
}

/* A pool that is free, or else one that can be taken from another allocator. */
static SkPool *
find_free_pool(Oid relid)
{
	SkSharedState *state = sk_shared_state();

	for (int i = 0; i < state->size; i++)
		if (!OidIsValid(state->pools[i].key.dbid))
			return &state->pools[i];
	for (int i = 0; i < state->size; i++)
		if (is_reclaimable(&state->pools[i], relid))
			return &state->pools[i];
	return NULL;
}

/*
 * Nobody misses a pool that is empty and not waited for, nor one of a former
 * life of the extension or of a database that is gone.
 */
static bool
is_reclaimable(SkPool *pool, Oid relid)
{
	bool		result;

	SpinLockAcquire(&pool->mutex);
	result = pool_size(pool) == 0 && !pool->pending && pool->wanted == 0;
	SpinLockRelease(&pool->mutex);
	if (result)
		return true;
	if (pool->key.dbid == MyDatabaseId)
		return pool->key.relid != relid;
	return !SearchSysCacheExists1(DATABASEOID,
								  ObjectIdGetDatum(pool->key.dbid));
}

static void
give_pool(SkPool *pool, const SkPoolKey *key, SkWorkerKind kind)
{
	SpinLockAcquire(&pool->mutex);
	empty_pool(pool);
	pool->key = *key;
	pool->kind = kind;
	pool->last_end = 0;
	pool->generation++;
	pool->low_water_mark = 0;
	pool->batch = 0;
	pool->pending = false;
	pool->wanted = 0;
	pool->largest = 0;
	pool->left_known = false;
	pool->round++;
	pool->served = 0;
	pool->retry_at = 0;
	pool->blocked_by = InvalidTransactionId;
	pool->locked_until = 0;
	pool->error.sqlerrcode = 0;
	memset(&pool->stats, 0, sizeof(SkPoolStats));
	SpinLockRelease(&pool->mutex);
	ConditionVariableBroadcast(&pool->filled);
}

/*
 * sk_pool_take
 *		Take values.
 *
 * "count" values one after the other if "whole", else as many of them as the
 * current range has.  *is_low tells that the worker has to be woken because
 * the pool is below its low-water mark.
 */
SkTakeResult
sk_pool_take(SkPool *pool, const SkPoolKey *key, int64 count, bool whole,
			 SkRange *range, bool *is_low)
{
	SkTakeResult result = SK_TAKE_DONE;

	*is_low = false;
	SpinLockAcquire(&pool->mutex);
	if (!is_pool_of(pool, key))
		result = SK_TAKE_GONE;
	else if (!take_range(pool, count, whole, range))
		result = SK_TAKE_EMPTY;
	else
	{
		pool->stats.values += range_size(range);
		if (!pool->pending && pool_size(pool) < pool->low_water_mark)
			pool->pending = *is_low = true;
	}
	SpinLockRelease(&pool->mutex);
	return result;
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
 * To be followed by sk_pool_wait_end(), whatever happens.  The worker has to
 * be woken afterwards.
 */
void
sk_pool_wait_begin(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;

	waiter->registered = false;
	waiter->begin = GetCurrentTimestamp();
	SpinLockAcquire(&pool->mutex);
	waiter->failures = pool->failures;
	register_waiter(waiter);
	SpinLockRelease(&pool->mutex);
	ConditionVariablePrepareToSleep(&pool->filled);
}

static void
register_waiter(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;

	if (!is_pool_of(pool, &waiter->key))
		return;
	if (pg_add_s64_overflow(pool->wanted, waiter->count, &pool->wanted))
		pool->wanted = PG_INT64_MAX;
	pool->largest = Max(pool->largest, waiter->count);
	pool->pending = true;
	waiter->round = pool->round;
	waiter->registered = true;
}

/*
 * sk_pool_wait_again
 *		Ask again if the worker has looked, and had not enough for all.
 *
 * The worker has to be woken afterwards.
 */
void
sk_pool_wait_again(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;

	SpinLockAcquire(&pool->mutex);
	if (waiter->registered && waiter->round != pool->round)
	{
		take_back(pool, waiter);
		waiter->registered = false;
		register_waiter(waiter);
	}
	SpinLockRelease(&pool->mutex);
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

/* In a round that is under way the worker may still come back without values. */
static void
take_back(SkPool *pool, const SkWaiter *waiter)
{
	if (waiter->round == pool->round)
		pool->wanted = Max(pool->wanted - waiter->count, 0);
	else if (waiter->round + 1 == pool->round)
		pool->served = Max(pool->served - waiter->count, 0);
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
		if (waiter->registered)
			take_back(pool, waiter);
		pool->stats.waits++;
		pool->stats.wait_us += waited_us;
	}
	SpinLockRelease(&pool->mutex);
	waiter->registered = false;
}

/*
 * sk_pool_wait_failed
 *		Has reserving values failed since the session began to wait, or are
 *		there not as many left as it wants?
 */
bool
sk_pool_wait_failed(SkWaiter *waiter, SkPoolError *error)
{
	SkPool	   *pool = waiter->pool;
	bool		result;

	SpinLockAcquire(&pool->mutex);
	result = is_pool_of(pool, &waiter->key) &&
		pool->failures != waiter->failures;
	if (result)
		*error = pool->error;
	else if (is_pool_of(pool, &waiter->key) && pool->left_known &&
			 waiter->round != pool->round &&
			 pool->left < waiter->count - pool_size(pool))
	{
		memset(error, 0, sizeof(SkPoolError));
		error->sqlerrcode = ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED;
		error->limit = pool->limit;
		result = true;
	}
	SpinLockRelease(&pool->mutex);
	return result;
}

/*
 * sk_pool_blocked_by
 *		The transaction that keeps the worker from reserving, if there is one.
 */
TransactionId
sk_pool_blocked_by(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;
	TransactionId result;

	SpinLockAcquire(&pool->mutex);
	result = pool->blocked_by;
	SpinLockRelease(&pool->mutex);
	return result;
}
