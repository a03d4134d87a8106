/*-------------------------------------------------------------------------
 *
 * pool_fill.c
 *	  Pools of reserved values: how they are filled and emptied.
 *
 * src/allocator/pool_fill.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "miscadmin.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "allocator/pool.h"
#include "allocator/shared_state.h"

/* How long to leave a failing allocator alone while nobody waits for it. */
#define SK_RETRY_MS 1000

/* How long to leave an allocator alone whose row somebody has locked. */
#define SK_LOCKED_MS 10

static SkPool *lock_pool(const SkPoolKey *key);
static void unlock_pool(SkPool *pool);
static void discard_values(SkPool *pool, int64 minimum);
static void discard_below(SkPool *pool, SkRange *range, int64 minimum);
static void end_if_dropped(SkPool *pool, const SkPoolKey *key);
static bool collect_pool(SkPool *pool, TimestampTz now, SkRefill *refill);
static int64 values_up_to(int64 limit, int64 first);
static bool publish_range(SkPool *pool, const SkRefill *refill,
						  TimestampTz now);
static int	next_pending(int index, Oid dbid, SkWorkerKind kind);

/*
 * sk_pool_discard
 *		Drop values below "minimum", and what is being reserved just now.
 *
 * Called while the row is locked, before the change is committed: so nothing
 * that is reserved later is of the time before the change.
 */
void
sk_pool_discard(const SkPoolKey *key, int64 minimum)
{
	SkPool	   *pool = lock_pool(key);

	if (pool != NULL)
		discard_values(pool, minimum);
	unlock_pool(pool);
}

/* The pool of an allocator, NULL if it has none; until unlock_pool(). */
static SkPool *
lock_pool(const SkPoolKey *key)
{
	SkPool	   *pool;

	LWLockAcquire(sk_shared_state()->lock, LW_SHARED);
	pool = sk_pool_find(key);
	if (pool != NULL)
		SpinLockAcquire(&pool->mutex);
	return pool;
}

static void
unlock_pool(SkPool *pool)
{
	if (pool != NULL)
		SpinLockRelease(&pool->mutex);
	LWLockRelease(sk_shared_state()->lock);
}

/*
 * sk_pool_discard_all
 *		The same for all values of all allocators of a table.
 */
void
sk_pool_discard_all(const SkPoolKey *key)
{
	SkSharedState *state = sk_shared_state();

	LWLockAcquire(state->lock, LW_SHARED);
	for (int i = 0; i < state->size; i++)
	{
		SkPool	   *pool = &state->pools[i];

		SpinLockAcquire(&pool->mutex);
		if (pool->key.dbid == key->dbid && pool->key.relid == key->relid)
			discard_values(pool, PG_INT64_MAX);
		SpinLockRelease(&pool->mutex);
	}
	LWLockRelease(state->lock);
}

static void
discard_values(SkPool *pool, int64 minimum)
{
	discard_below(pool, &pool->current, minimum);
	discard_below(pool, &pool->next, minimum);
	pool->generation++;
	pool->last_known = false;
	pool->batch = 0;
	pool->low_water_mark = 0;
	pool->left_known = false;
}

static void
discard_below(SkPool *pool, SkRange *range, int64 minimum)
{
	int64		first = Min(minimum, range->end);

	if (range->first < first)
	{
		pool->stats.lost += first - range->first;
		range->first = first;
	}
}

/*
 * sk_pool_withdraw
 *		Take out what could be given back to the table.
 *
 * Returns the last values that were reserved, an empty range if there are
 * none.  All values count as lost until sk_pool_given_back() is called.
 *
 * The caller has locked the row, so that nobody reserves meanwhile.
 */
SkRange
sk_pool_withdraw(const SkPoolKey *key)
{
	SkRange		result = {0, 0};
	SkPool	   *pool = lock_pool(key);

	if (pool != NULL)
	{
		result = range_size(&pool->next) > 0 ? pool->next : pool->current;
		if (pool->current.end == pool->next.first)
			result.first = pool->current.first;
		empty_pool(pool);
		pool->left_known = false;
		if (range_size(&result) > 0)
			pool->last_end = result.first;
	}
	unlock_pool(pool);
	return result;
}

/*
 * sk_pool_given_back
 *		Note that values that were withdrawn are in the table again.
 */
void
sk_pool_given_back(const SkPoolKey *key, SkRange range)
{
	SkPool	   *pool = lock_pool(key);

	if (pool != NULL)
		pool->stats.lost -= range_size(&range);
	unlock_pool(pool);
}

/*
 * sk_pool_count
 *		How many pools there are room for.
 */
int
sk_pool_count(void)
{
	return sk_shared_state()->size;
}

/*
 * sk_pool_collect
 *		List the pools of this database that a worker has to fill now.
 *
 * "refills" has room for SK_MAX_REFILLS.  To be called in a transaction.
 */
int
sk_pool_collect(SkWorkerKind kind, Oid relid, SkRefill *refills)
{
	SkSharedState *state = sk_shared_state();
	TimestampTz now = GetCurrentTimestamp();
	int			count = 0;

	for (int i = next_pending(0, MyDatabaseId, kind);
		 i >= 0 && count < SK_MAX_REFILLS;
		 i = next_pending(i + 1, MyDatabaseId, kind))
	{
		SkPool	   *pool = &state->pools[i];
		SkPoolKey	key;

		SpinLockAcquire(&pool->mutex);
		key = pool->key;
		if (key.dbid == MyDatabaseId && key.relid == relid &&
			collect_pool(pool, now, &refills[count]))
			count++;
		SpinLockRelease(&pool->mutex);
		if (key.dbid == MyDatabaseId && key.relid != relid)
			end_if_dropped(pool, &key);
	}
	return count;
}

/*
 * Nobody can fill a pool of a table that is gone.  If it went on asking for
 * that, the worker would never leave.
 */
static void
end_if_dropped(SkPool *pool, const SkPoolKey *key)
{
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(key->relid)))
		return;

	SpinLockAcquire(&pool->mutex);
	if (is_pool_of(pool, key))
	{
		empty_pool(pool);
		*pending_mark(pool) = 0;
		pool->blocked_by = InvalidTransactionId;
		pool->failures++;
		memset(&pool->error, 0, sizeof(SkPoolError));
		pool->error.sqlerrcode = ERRCODE_UNDEFINED_OBJECT;
	}
	SpinLockRelease(&pool->mutex);
	ConditionVariableBroadcast(&pool->filled);
}

static bool
collect_pool(SkPool *pool, TimestampTz now, SkRefill *refill)
{
	int64		missing = pool->wanted - pool_size(pool);

	if (now < pool->locked_until)
		return false;
	/* what there is may be in two pieces, and too small for whom it is for */
	if (missing <= 0 && pool->starved)
		missing = pool->largest;
	*pending_mark(pool) = 0;
	if (missing <= 0 && (pool_is_full(pool) || now < pool->retry_at))
		return false;
	refill->pool = pool;
	refill->key = pool->key;
	refill->generation = pool->generation;
	refill->wanted = Max(missing, 0);
	refill->largest = pool->largest;
	refill->begin = now;
	refill->since_last_us = pool->stats.last_refill == 0 ? -1 :
		now - pool->stats.last_refill;
	refill->batch = pool->batch;
	refill->low_water_mark = pool->low_water_mark;
	refill->result = SK_REFILL_FAILED;
	refill->error.sqlerrcode = 0;
	refill->blocked_by = InvalidTransactionId;
	pool->is_filling = true;
	return true;
}

/*
 * sk_pool_finish
 *		Hand the values that have been reserved to the sessions, or tell them
 *		what went wrong.
 *
 * For a range this must not be called before the reservation is committed.
 * Returns false if the range lies below one that was handed out before.
 */
bool
sk_pool_finish(SkRefill *refill)
{
	SkPool	   *pool = refill->pool;
	TimestampTz now = GetCurrentTimestamp();
	bool		in_order = true;
	bool		wake = true;

	SpinLockAcquire(&pool->mutex);
	if (!is_pool_of(pool, &refill->key))
		wake = false;
	else if (refill->result == SK_REFILL_LOCKED)
	{
		/* sessions may have locked it */
		wake = pool->blocked_by != refill->blocked_by;
		pool->blocked_by = refill->blocked_by;
		pool->locked_until = TimestampTzPlusMilliseconds(now, SK_LOCKED_MS);
		*pending_mark(pool) = 1;
		pool->is_filling = false;
	}
	else
	{
		pool->blocked_by = InvalidTransactionId;
		pool->is_filling = false;
		if (refill->result == SK_REFILL_DONE)
			in_order = publish_range(pool, refill, now);
		else
		{
			pool->failures++;
			pool->error = refill->error;
			pool->retry_at =
				TimestampTzPlusMilliseconds(refill->begin, SK_RETRY_MS);
		}
	}
	SpinLockRelease(&pool->mutex);
	if (wake)
		ConditionVariableBroadcast(&pool->filled);
	return in_order;
}

/* How many values there are in [first, limit]. */
static int64
values_up_to(int64 limit, int64 first)
{
	uint64		count;

	if (first > limit)
		return 0;
	count = (uint64) limit - (uint64) first;
	return count < (uint64) PG_INT64_MAX ? (int64) count + 1 : PG_INT64_MAX;
}

static bool
publish_range(SkPool *pool, const SkRefill *refill, TimestampTz now)
{
	int64		taken_us = now - refill->begin;
	bool		in_order = !pool->last_known ||
		refill->range.first >= pool->last_end;

	pool->stats.refills++;
	pool->stats.refill_us += taken_us;
	pool->stats.refill_us_max = Max(pool->stats.refill_us_max, taken_us);
	pool->stats.last_refill = now;
	pool->starved = false;
	if (pool->generation != refill->generation)
	{
		pool->stats.lost += range_size(&refill->range);
		*pending_mark(pool) |= pool->wanted > 0;
		return true;
	}

	if (!in_order)
		empty_pool(pool);
	if (range_size(&pool->next) > 0)
	{
		pool->stats.lost += range_size(&pool->current);
		pool->current = pool->next;
		pool->next = refill->range;
	}
	else if (range_size(&pool->current) == 0)
		pool->current = refill->range;
	else if (pool->current.end == refill->range.first)
		pool->current.end = refill->range.end;
	else
		pool->next = refill->range;
	pool->last_known = true;
	pool->last_end = refill->range.end;
	pool->limit = refill->limit;
	pool->left = values_up_to(refill->limit, refill->range.end);
	pool->left_known = true;
	pool->batch = refill->batch;
	pool->low_water_mark = refill->low_water_mark;
	*pending_mark(pool) |= pool->wanted > pool_size(pool);
	return in_order;
}

/*
 * sk_pool_any_pending
 *		Is there anything for a worker to do?
 *
 * Sets *count to the number of pools, if not NULL.
 */
bool
sk_pool_any_pending(Oid dbid, SkWorkerKind kind, int *count)
{
	int			found = 0;

	for (int i = next_pending(0, dbid, kind); i >= 0;
		 i = next_pending(i + 1, dbid, kind))
	{
		found++;
		if (count == NULL)
			break;
	}
	if (count != NULL)
		*count = found;
	return found > 0;
}

/*
 * The next pool of a worker that is to be filled, from an index on, or -1.
 * Whoever marks one wakes the worker afterwards, so a dirty look is enough.
 */
static int
next_pending(int index, Oid dbid, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();

	while (index < state->size)
	{
		char	   *mark = memchr(state->pending + index, 1, state->size - index);

		if (mark == NULL)
			break;
		index = mark - state->pending;
		if (state->pools[index].key.dbid == dbid &&
			state->pools[index].kind == kind)
			return index;
		index++;
	}
	return -1;
}

/*
 * sk_pool_any_wanted
 *		Does any session wait for a worker?
 */
bool
sk_pool_any_wanted(Oid dbid, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();

	for (int i = 0; i < state->size; i++)
	{
		SkPool	   *pool = &state->pools[i];

		if (pool->key.dbid == dbid && pool->kind == kind && pool->wanted > 0)
			return true;
	}
	return false;
}

/*
 * sk_pool_abandon
 *		Have the next worker do what this one has begun, and tell those who
 *		wait to start it.
 *
 * The caller holds the LWLock.
 */
void
sk_pool_abandon(Oid dbid, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();

	for (int i = 0; i < state->size; i++)
	{
		SkPool	   *pool = &state->pools[i];
		bool		wake;

		if (pool->key.dbid != dbid || pool->kind != kind)
			continue;
		SpinLockAcquire(&pool->mutex);
		pool->is_filling = false;
		wake = pool->wanted > 0;
		if (wake)
			state->pending[i] = 1;
		SpinLockRelease(&pool->mutex);
		if (wake)
			ConditionVariableBroadcast(&pool->filled);
	}
}

/*
 * sk_pool_read
 *		Look at a pool.  Returns false if it is free.
 */
bool
sk_pool_read(int index, SkPoolState *result)
{
	SkPool	   *pool = &sk_shared_state()->pools[index];

	SpinLockAcquire(&pool->mutex);
	result->key = pool->key;
	result->kind = pool->kind;
	result->blocked_by = pool->blocked_by;
	result->stats = pool->stats;
	result->remaining = pool_size(pool);
	result->batch = pool->batch;
	result->error = pool->error;
	SpinLockRelease(&pool->mutex);
	return OidIsValid(result->key.dbid);
}
