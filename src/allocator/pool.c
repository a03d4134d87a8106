/*-------------------------------------------------------------------------
 *
 * pool.c
 *	  Pools of reserved values, and the shared memory that they are in.
 *
 * Nothing has to be preloaded: whoever needs the memory first makes it.  Its
 * size is fixed from then on, and stands in a small segment of its own, since
 * later sessions may have another spanner_keys.max_allocators.  If there is
 * not enough memory, the next one may try with a smaller size.
 *
 * All of a pool is under its spinlock, which is held for a few assignments only.  The
 * LWLock of the shared state is taken before a spinlock, never after; it is needed
 * only to find the pool of an allocator.
 *
 * "wanted" is what the sessions that wait now want, no more and no less: a session
 * takes its values and its request out of the pool under the same hold of the
 * spinlock.  So the worker can see at any time what is missing.
 *
 * src/allocator/pool.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/guc.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "allocator/allocator.h"
#include "compat.h"
#include "spanner_keys.h"

#define SK_TRANCHE_NAME "SpannerKeysAllocator"
#define SK_MAX_ALLOCATORS 65536

/* How many databases are counted apart. */
#define SK_MAX_SHARES 64

/* How long to leave a failing allocator alone while nobody waits for it. */
#define SK_FAILED_MS 1000

/* How many pools a database has. */
typedef struct Share
{
	Oid			dbid;
	int			pools;
} Share;

static int	max_allocators = 64;
static int	arrays_of = 0;		/* what init_arrays() is to make */

#ifdef SK_SEGMENT_NEEDS_REQUEST
static shmem_request_hook_type prev_shmem_request_hook = NULL;

static void request_memory(void);
#endif

static void init_header(SK_SEGMENT_ARGS);
static Size lay_out(SkSharedState *state, int size, char *arrays);
static Size arrays_size(int size);
static void init_arrays(SK_SEGMENT_ARGS);
static TransactionId database_version(void);
static SkPool *find_pool(const SkPoolKey *key);
static Share *share_of(Share *shares, Oid dbid);
static bool is_idle(const SkPool *pool);
static int	find_free_pool(void);
static int *bucket_of(const SkPoolKey *key);
static void unlink_pool(int index, const SkPoolKey *key);
static bool give_pool(int index, const SkPoolKey *key);
static void adopt_pool(SkPool *pool, TransactionId version);
static bool take_range(SkPool *pool, int64 count, bool whole, SkValues *range);
static void withdraw_request(SkWaiter *waiter);
static bool has_failed(SkWaiter *waiter);
static SkPool *lock_pool(const SkPoolKey *key);
static void discard_below(SkPool *pool, int64 minimum);
static void discard_values(SkPool *pool, int64 minimum);
static void unlock_pool(SkPool *pool);
static int	next_pending(int index, Oid dbid, SkWorkerKind kind);
static void forget_dropped(void);
static bool collect_pool(SkPool *pool, TimestampTz now, SkRefill *refill);
static bool publish_range(SkPool *pool, const SkRefill *refill,
						  TimestampTz now);

static inline int64
range_size(const SkValues *range)
{
	Assert(range->first <= range->end);
	return range->end - range->first;
}

/* With two ranges in the pool, another one would push the first one out. */
static inline bool
pool_is_full(const SkPool *pool)
{
	return sk_pool_size(pool) >= pool->low_water_mark ||
		range_size(&pool->next) > 0;
}

#ifdef USE_ASSERT_CHECKING
static inline bool
is_ordered(const SkPool *pool)
{
	return range_size(&pool->current) >= 0 &&
		(range_size(&pool->next) == 0 || pool->current.end <= pool->next.first);
}
#endif

static inline bool
is_pool_of(const SkPool *pool, const SkPoolKey *key)
{
	return pool->key.allocator_id == key->allocator_id &&
		pool->key.relid == key->relid && pool->key.dbid == key->dbid;
}

/* Whether a pool is to be filled. */
static inline char *
pending_mark(const SkPool *pool)
{
	SkSharedState *state = sk_shared_state();

	Assert(pool >= state->pools && pool < state->pools + state->size);
	return &state->pending[pool - state->pools];
}

/*
 * sk_shared_state
 *		The shared memory of the allocators, as this process sees it.
 */
SkSharedState *
sk_shared_state(void)
{
	static SkSharedState state;
	SkSharedHeader *header;
	char		name[64];
	char	   *arrays;
	bool		found;

	if (likely(state.pools != NULL))
		return &state;

	header = sk_named_segment("spanner_keys allocator " SK_LAYOUT, sizeof(SkSharedHeader),
							  init_header, &found);
	sk_register_tranche(header->tranche, SK_TRANCHE_NAME);

	/* the size is settled by whoever gets the memory for it */
	LWLockAcquire(&header->lock, LW_EXCLUSIVE);
	Assert(header->size >= 0 && header->size <= SK_MAX_ALLOCATORS);
	arrays_of = header->size > 0 ? header->size : max_allocators;
	snprintf(name, sizeof(name), "spanner_keys allocator " SK_LAYOUT " pools %d", arrays_of);
	arrays = sk_named_segment(name, arrays_size(arrays_of), init_arrays, &found);
	header->size = arrays_of;
	LWLockRelease(&header->lock);

	state.header = header;
	state.lock = &header->lock;
	(void) lay_out(&state, header->size, arrays);
	return &state;
}

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
	TransactionId version = database_version();
	SkPool	   *pool;
	int			index;

	LWLockAcquire(state->lock, LW_SHARED);
	pool = find_pool(key);
	if (pool == NULL)
	{
		LWLockRelease(state->lock);
		LWLockAcquire(state->lock, LW_EXCLUSIVE);
		pool = find_pool(key);
	}
	while (pool == NULL && (index = find_free_pool()) >= 0)
	{
		if (give_pool(index, key))
			pool = &state->pools[index];
	}
	if (pool != NULL)
	{
		SpinLockAcquire(&pool->mutex);
		pool->kind = kind;
		adopt_pool(pool, version);
		SpinLockRelease(&pool->mutex);
	}
	LWLockRelease(state->lock);
	return pool;
}

/*
 * sk_pool_take
 *		Take values.
 *
 * "count" values one after the other if "whole", else as many of them as the
 * current range has.  "waiter" is NULL if the session does not wait yet; the
 * first call with one counts what it wants, so that sk_pool_wait_end() has to
 * follow, whatever happens.
 * *wake tells that the worker has to be woken: because the pool is below its
 * low-water mark, or the session waits.
 */
SkTakeResult
sk_pool_take(SkPool *pool, const SkPoolKey *key, int64 count, bool whole,
			 SkWaiter *waiter, SkValues *range, bool *wake)
{
	SkSharedState *state = sk_shared_state();
	SkTakeResult result = SK_TAKE_GONE;

	Assert(key->dbid == MyDatabaseId && OidIsValid(key->relid));
	Assert(waiter == NULL || (waiter->pool == pool && waiter->count == count));
	*wake = false;
	SpinLockAcquire(&pool->mutex);
	if (is_pool_of(pool, key))
	{
		state->last_used[pool - state->pools] = GetCurrentStatementStartTimestamp();
		result = take_range(pool, count, whole, range) ? SK_TAKE_DONE : SK_TAKE_EMPTY;
	}
	if (result == SK_TAKE_DONE)
	{
		pool->stats.values += range_size(range);
		if (waiter != NULL)
			withdraw_request(waiter);
		/* is there less than should be, and has nobody asked for more? */
		*wake = !*pending_mark(pool) &&
			!(sk_pool_size(pool) >= pool->wanted && pool_is_full(pool));
		if (*wake)
			*pending_mark(pool) = 1;
	}
	else if (result == SK_TAKE_EMPTY && waiter != NULL)
	{
		/* counted in the hold of the spinlock in which it has looked in vain */
		if (waiter->wanted == 0)
		{
			waiter->failures = pool->failures;
			waiter->wanted = Min(waiter->count, PG_INT64_MAX - pool->wanted);
			pool->wanted += waiter->wanted;
			pool->largest = Max(pool->largest, waiter->wanted);
		}
		if (has_failed(waiter))
			result = SK_TAKE_FAILED;
		else
		{
			waiter->blocked_by = pool->blocked_by;
			pool->starved = *wake = true;
			*pending_mark(pool) = 1;
		}
	}
	SpinLockRelease(&pool->mutex);
	return result;
}

/*
 * sk_pool_wait_end
 *		Withdraw what the session still asks for, also when it is terminated.
 */
void
sk_pool_wait_end(int code, Datum arg)
{
	SkWaiter   *waiter = (SkWaiter *) DatumGetPointer(arg);
	SkPool	   *pool = waiter->pool;
	int64		waited_us = GetCurrentTimestamp() - waiter->begin;

	ConditionVariableCancelSleep();
	SpinLockAcquire(&pool->mutex);
	Assert(is_pool_of(pool, &waiter->key) || waiter->wanted == 0);
	if (is_pool_of(pool, &waiter->key))
	{
		withdraw_request(waiter);
		pool->stats.waits++;
		pool->stats.wait_us += waited_us;
	}
	SpinLockRelease(&pool->mutex);
}

/*
 * sk_pool_discard
 *		Drop values below "minimum", and what is being reserved just now if that
 *		may be below it; for all allocators of the table if the id is 0.
 *
 * Called while the row is locked, before the change is committed: so nothing
 * that is reserved later is of the time before the change.  The rows of series
 * are not locked when their allocator is changed, so it is called once more
 * when that is committed, where it must not fail.
 *
 * Unless the row "is_locked", what is under way cannot be dropped: returns false,
 * and does nothing, if that may be below.
 */
bool
sk_pool_discard(const SkPoolKey *key, int64 minimum, bool is_locked)
{
	SkSharedState *state = sk_shared_state();
	SkPool	   *pool;

	Assert(key->dbid == MyDatabaseId && OidIsValid(key->relid));
	if (key->allocator_id != 0)
	{
		bool		result;

		pool = lock_pool(key);
		result = pool == NULL || is_locked || pool->last_end >= minimum;
		if (pool != NULL && result)
			discard_values(pool, minimum);
		unlock_pool(pool);
		return result;
	}
	LWLockAcquire(state->lock, LW_SHARED);
	for (int i = 0; i < state->size; i++)
	{
		pool = &state->pools[i];
		SpinLockAcquire(&pool->mutex);
		if (pool->key.dbid == key->dbid && pool->key.relid == key->relid)
			discard_values(pool, minimum);
		SpinLockRelease(&pool->mutex);
	}
	LWLockRelease(state->lock);
	return true;
}

/*
 * sk_pool_withdraw
 *		Empty a pool, move the counter of its row back by the values that can be
 *		given back to the table, and return how many these are.
 *
 * These are the last ones that were reserved, if the counter follows them.  The
 * others are lost.
 *
 * The caller has locked the row, so that nobody reserves meanwhile, and writes
 * it if the counter has moved.
 */
int64
sk_pool_withdraw(const SkPoolKey *key, int64 *next_value)
{
	SkValues	result = {*next_value, *next_value};
	SkPool	   *pool = lock_pool(key);

	if (pool != NULL)
	{
		SkValues	last = range_size(&pool->next) > 0 ? pool->next : pool->current;

		if (pool->current.end == pool->next.first)
			last.first = pool->current.first;
		discard_below(pool, PG_INT64_MAX);
		pool->left = PG_INT64_MAX;
		if (range_size(&last) > 0)
			pool->last_end = last.first;
		if (last.end == *next_value)
			result = last;
		pool->stats.lost -= range_size(&result);
	}
	unlock_pool(pool);
	/* nothing that a session has taken is given back */
	Assert(result.end == *next_value && result.first <= result.end);
	*next_value = result.first;
	return range_size(&result);
}

/*
 * sk_pool_collect
 *		List the pools of this database that a worker has to fill now.
 *
 * "refills" has room for SK_MAX_REFILLS.  To be called in a transaction.  A
 * worker that begins frees the pools of databases that are gone.
 */
int
sk_pool_collect(SkWorkerKind kind, SkRefill *refills)
{
	static bool is_first = true;
	SkSharedState *state = sk_shared_state();
	TimestampTz now = GetCurrentTimestamp();
	int			count = 0;

	Assert(IsTransactionState());
	if (is_first)
		forget_dropped();
	is_first = false;
	for (int i = next_pending(0, MyDatabaseId, kind);
		 i >= 0 && count < SK_MAX_REFILLS;
		 i = next_pending(i + 1, MyDatabaseId, kind))
	{
		SkPool	   *pool = &state->pools[i];

		SpinLockAcquire(&pool->mutex);
		if (pool->key.dbid == MyDatabaseId && collect_pool(pool, now, &refills[count]))
			count++;
		SpinLockRelease(&pool->mutex);
	}
	return count;
}

/*
 * sk_pool_finish
 *		Give the values that have been reserved to the sessions, or report what
 *		went wrong.
 *
 * For a range this must not be called before the reservation is committed.
 * Returns false if the range lies below one that was issued before.
 */
bool
sk_pool_finish(SkRefill *refill)
{
	SkPool	   *pool = refill->pool;
	TimestampTz now = GetCurrentTimestamp();
	bool		in_order = true;
	bool		wake = true;

	/* values of a transaction that can still fail must not be seen */
	Assert(refill->result != SK_REFILL_DONE || !IsTransactionState());
	Assert(refill->result != SK_REFILL_FAILED || refill->error.sqlerrcode != 0);
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
				TimestampTzPlusMilliseconds(refill->begin, SK_FAILED_MS);
		}
	}
	SpinLockRelease(&pool->mutex);
	if (wake)
		ConditionVariableBroadcast(&pool->filled);
	return in_order;
}

/*
 * sk_pool_pending
 *		How many pools are to be filled?
 */
int
sk_pool_pending(Oid dbid, SkWorkerKind kind)
{
	int			count = 0;

	for (int i = next_pending(0, dbid, kind); i >= 0;
		 i = next_pending(i + 1, dbid, kind))
		count++;
	return count;
}

/*
 * sk_pool_read
 *		Copy a pool.  Returns false if it is free.
 */
bool
sk_pool_read(int index, SkPool *copy)
{
	SkPool	   *pool = &sk_shared_state()->pools[index];

	Assert(index >= 0 && index < sk_shared_state()->size);
	SpinLockAcquire(&pool->mutex);
	*copy = *pool;
	SpinLockRelease(&pool->mutex);
	return OidIsValid(copy->key.dbid);
}

/*
 * sk_pool_init
 *		Define the setting, and ask for the memory if that is still possible.
 */
void
sk_pool_init(void)
{
	DefineCustomIntVariable("spanner_keys.max_allocators",
							"Sets how many allocators of the server can have a pool of values at a time.",
							"Without preloading, the session that uses an allocator first decides.",
							&max_allocators,
							64, 1, SK_MAX_ALLOCATORS,
							process_shared_preload_libraries_in_progress ?
							PGC_POSTMASTER : PGC_SIGHUP,
							0,
							NULL, NULL, NULL);
#ifdef SK_SEGMENT_NEEDS_REQUEST
	if (process_shared_preload_libraries_in_progress)
	{
		prev_shmem_request_hook = shmem_request_hook;
		shmem_request_hook = request_memory;
	}
#endif
}

static void
init_header(SK_SEGMENT_ARGS)
{
	SkSharedHeader *header = segment;

	memset(header, 0, sizeof(SkSharedHeader));
	header->tranche = LWLockNewTrancheId(SK_TRANCHE_NAME);
	LWLockInitialize(&header->lock, header->tranche);
}

/* Lay out the arrays one behind the other, and return their size. */
static Size
lay_out(SkSharedState *state, int size, char *arrays)
{
	Size		end = MAXALIGN(size * sizeof(TimestampTz));

	Assert(size >= 1 && size <= SK_MAX_ALLOCATORS);
	state->size = size;
	/* as many workers as there can be, and as many that have failed to start */
	state->worker_size = 2 * max_worker_processes + 8;
	state->bucket_mask = pg_nextpower2_32(size) - 1;
	state->last_used = (TimestampTz *) arrays;
	state->workers = (SkWorkerEntry *) (arrays + end);
	end += MAXALIGN(state->worker_size * sizeof(SkWorkerEntry));
	state->buckets = (int *) (arrays + end);
	end += MAXALIGN((state->bucket_mask + 1) * sizeof(int));
	state->pending = arrays + end;
	end += MAXALIGN(size);
	state->pools = (SkPool *) (arrays + end);
	return end + MAXALIGN(size * sizeof(SkPool));
}

static Size
arrays_size(int size)
{
	SkSharedState state;
	char		start;

	return lay_out(&state, size, &start);
}

static void
init_arrays(SK_SEGMENT_ARGS)
{
	SkSharedState state;

	memset(segment, 0, lay_out(&state, arrays_of, segment));
	for (uint32 i = 0; i <= state.bucket_mask; i++)
		state.buckets[i] = -1;
	for (int i = 0; i < arrays_of; i++)
	{
		SpinLockInit(&state.pools[i].mutex);
		ConditionVariableInit(&state.pools[i].filled);
		state.pools[i].next_in_bucket = -1;
	}
}

/*
 * The transaction that has written the row of this database in pg_database: in one
 * that had the same OID before, it was another.
 */
static TransactionId
database_version(void)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	TransactionId result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
	result = HeapTupleHeaderGetRawXmin(tuple->t_data);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * The pool of an allocator, NULL if it has none.
 *
 * The caller holds the LWLock.
 */
static SkPool *
find_pool(const SkPoolKey *key)
{
	SkSharedState *state = sk_shared_state();

	Assert(LWLockHeldByMe(state->lock));
	for (int i = *bucket_of(key); i >= 0; i = state->pools[i].next_in_bucket)
		if (is_pool_of(&state->pools[i], key))
			return &state->pools[i];
	return NULL;
}

/* The entry of a database.  Those that find no place have the last one together. */
static Share *
share_of(Share *shares, Oid dbid)
{
	int			i = 0;

	while (i < SK_MAX_SHARES && OidIsValid(shares[i].dbid) && shares[i].dbid != dbid)
		i++;
	shares[i].dbid = dbid;
	return &shares[i];
}

/* Nobody waits at it, and no batch is on its way to it. */
static bool
is_idle(const SkPool *pool)
{
	return pool->wanted == 0 && !pool->is_filling;
}

/*
 * The index of a pool that is free, or else of one to be taken over, or -1.
 *
 * That is one of the database that has the most, of this one if others have as
 * many: it cannot empty the pools of those that have fewer.
 */
static int
find_free_pool(void)
{
	SkSharedState *state = sk_shared_state();
	Share		shares[SK_MAX_SHARES + 1] = {{MyDatabaseId, 1}};
	int			best = -1;
	int			most = 0;

	Assert(LWLockHeldByMeInMode(state->lock, LW_EXCLUSIVE));
	for (int i = 0; i < state->size; i++)
	{
		if (!OidIsValid(state->pools[i].key.dbid))
			return i;
		share_of(shares, state->pools[i].key.dbid)->pools++;
	}
	/* who has no share of its own gives nothing while others can */
	shares[SK_MAX_SHARES].pools = 0;
	for (int i = 0; i < state->size; i++)
	{
		int			share = share_of(shares, state->pools[i].key.dbid)->pools;

		if (best >= 0 && (share < most ||
						  (share == most && state->last_used[i] >= state->last_used[best])))
			continue;
		/* without its spinlock: give_pool() asks again */
		if (!is_idle(&state->pools[i]))
			continue;
		best = i;
		most = share;
	}
	return best;
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
unlink_pool(int index, const SkPoolKey *key)
{
	SkSharedState *state = sk_shared_state();
	int		   *link = bucket_of(key);

	Assert(LWLockHeldByMeInMode(state->lock, LW_EXCLUSIVE));
	while (*link != index)
	{
		Assert(*link >= 0 && *link < state->size);
		link = &state->pools[*link].next_in_bucket;
	}
	*link = state->pools[index].next_in_bucket;
}

/*
 * Returns false if a session has begun to wait at the pool since it was chosen.
 *
 * Who begins to wait compares the key under the same spinlock, not under the
 * LWLock.  So a pool keeps its allocator as long as somebody waits at it, and a
 * wish is withdrawn from the pool that has counted it.
 */
static bool
give_pool(int index, const SkPoolKey *key)
{
	SkSharedState *state = sk_shared_state();
	SkPool	   *pool = &state->pools[index];
	SkPoolKey	former = pool->key;
	int		   *bucket = bucket_of(key);
	bool		was_used = OidIsValid(former.dbid);

	Assert(LWLockHeldByMeInMode(state->lock, LW_EXCLUSIVE));
	Assert(key->dbid == MyDatabaseId && find_pool(key) == NULL);
	SpinLockAcquire(&pool->mutex);
	if (was_used && !is_idle(pool))
	{
		SpinLockRelease(&pool->mutex);
		return false;
	}
	if (was_used)
	{
		state->header->taken_over++;
		state->header->lost += sk_pool_size(pool);
	}
	pool->key = *key;
	pool->generation++;
	memset(&pool->current, 0, offsetof(SkPool, filled) - offsetof(SkPool, current));
	pool->last_end = PG_INT64_MIN;
	pool->left = PG_INT64_MAX;
	pool->is_scarce = was_used;
	state->pending[index] = 0;
	SpinLockRelease(&pool->mutex);
	if (was_used)
		unlink_pool(index, &former);
	state->last_used[index] = GetCurrentStatementStartTimestamp();
	pool->next_in_bucket = *bucket;
	*bucket = index;
	return true;
}

/*
 * Drop what was reserved in a former database of the same OID; or before this one
 * was altered, where it does no harm.
 *
 * A session does so before its first look at what is in the pool.  Those of the former
 * database are gone, so nothing of it comes back.  A worker may have filled the
 * pool before that, which is lost.
 */
static void
adopt_pool(SkPool *pool, TransactionId version)
{
	Assert(sk_spin_lock_is_held(&pool->mutex));
	if (pool->database_version == version)
		return;
	discard_values(pool, PG_INT64_MAX);
	pool->database_version = version;
}

static bool
take_range(SkPool *pool, int64 count, bool whole, SkValues *range)
{
	SkValues   *current = &pool->current;
	SkValues   *next = &pool->next;

	Assert(sk_spin_lock_is_held(&pool->mutex));
	Assert(count >= 1);
	Assert(is_ordered(pool));
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
	Assert(whole ? range_size(range) == count : range_size(range) >= 1);
	Assert(is_ordered(pool));
	return true;
}

static void
withdraw_request(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;

	Assert(sk_spin_lock_is_held(&pool->mutex));
	Assert(waiter->wanted >= 0 && pool->wanted >= waiter->wanted);
	pool->wanted -= waiter->wanted;
	if (pool->wanted == 0)
		pool->largest = 0;
	waiter->wanted = 0;
}

/*
 * Has reserving values failed since the session began to wait, or are there
 * not as many left as it wants?
 */
static bool
has_failed(SkWaiter *waiter)
{
	SkPool	   *pool = waiter->pool;

	/* they are counted for the pool, whoever has it */
	Assert(pool->failures >= waiter->failures);
	if (pool->failures != waiter->failures)
		waiter->error = pool->error;
	else if (pool->left < waiter->count - sk_pool_size(pool))
	{
		waiter->error.sqlerrcode = ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED;
		waiter->error.is_remote = false;
		waiter->error.limit = pool->limit;
	}
	else
		return false;
	return true;
}

/* The pool of an allocator, NULL if it has none; until unlock_pool(). */
static SkPool *
lock_pool(const SkPoolKey *key)
{
	TransactionId version = database_version();
	SkPool	   *pool;

	LWLockAcquire(sk_shared_state()->lock, LW_SHARED);
	pool = find_pool(key);
	if (pool != NULL)
	{
		SpinLockAcquire(&pool->mutex);
		adopt_pool(pool, version);
	}
	return pool;
}

static void
discard_below(SkPool *pool, int64 minimum)
{
	SkValues   *ranges[] = {&pool->current, &pool->next};

	Assert(sk_spin_lock_is_held(&pool->mutex));
	for (int i = 0; i < lengthof(ranges); i++)
	{
		int64		first = Max(ranges[i]->first, Min(minimum, ranges[i]->end));

		pool->stats.lost += first - ranges[i]->first;
		ranges[i]->first = first;
	}
	Assert(is_ordered(pool));
}

static void
discard_values(SkPool *pool, int64 minimum)
{
	discard_below(pool, minimum);
	/* what is under way lies behind what has come, so it may come too */
	if (pool->last_end >= minimum && minimum < PG_INT64_MAX)
		return;
	pool->generation++;
	pool->last_end = PG_INT64_MIN;
	pool->batch = 0;
	pool->low_water_mark = 0;
	pool->left = PG_INT64_MAX;
}

static void
unlock_pool(SkPool *pool)
{
	if (pool != NULL)
		SpinLockRelease(&pool->mutex);
	LWLockRelease(sk_shared_state()->lock);
}

/*
 * The next pool of a worker that is to be filled, from an index on, or -1.
 * Whoever marks one wakes the worker afterwards, so a look without a lock will
 * do.
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

/* Free the pools of databases that are gone, which would count as in use. */
static void
forget_dropped(void)
{
	SkSharedState *state = sk_shared_state();
	SkPoolKey	none = {InvalidOid};

	Assert(IsTransactionState());
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
			unlink_pool(i, &pool->key);
			SpinLockAcquire(&pool->mutex);
			/* its sessions are gone, and each has withdrawn its wish */
			Assert(pool->wanted == 0);
			pool->key = none;
			state->pending[i] = 0;
			SpinLockRelease(&pool->mutex);
		}
		LWLockRelease(state->lock);
	}
}

static bool
collect_pool(SkPool *pool, TimestampTz now, SkRefill *refill)
{
	int64		missing = pool->wanted - sk_pool_size(pool);

	Assert(sk_spin_lock_is_held(&pool->mutex));
	Assert(pool->wanted >= 0 && pool->largest >= 0);
	if (now < pool->locked_until)
		return false;
	/* the values may be in two pieces, each too small for who waits */
	if (missing <= 0 && pool->starved)
		missing = pool->largest;
	/* who wants more from here on, or when a batch has come, marks it again */
	*pending_mark(pool) = 0;
	if (pool->is_filling ||
		(missing <= 0 && (pool_is_full(pool) || now < pool->retry_at)))
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
	refill->is_scarce = pool->is_scarce;
	refill->result = SK_REFILL_FAILED;
	refill->error.sqlerrcode = 0;
	refill->blocked_by = InvalidTransactionId;
	pool->is_filling = true;
	return true;
}

static bool
publish_range(SkPool *pool, const SkRefill *refill, TimestampTz now)
{
	int64		taken_us = now - refill->begin;
	bool		in_order = refill->range.first >= pool->last_end;

	/*
	 * there may be more than fit into 63 bits, from the least value to the
	 * most
	 */
	uint64		left = (uint64) refill->limit + 1 - (uint64) refill->range.end;

	Assert(sk_spin_lock_is_held(&pool->mutex));
	Assert(range_size(&refill->range) >= 1);
	Assert(refill->range.end - 1 <= refill->limit);
	Assert(refill->batch >= 1 && refill->low_water_mark >= 0);
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
		discard_below(pool, PG_INT64_MAX);
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
	Assert(is_ordered(pool));
	pool->last_end = refill->range.end;
	pool->limit = refill->limit;
	pool->left = (int64) Min(left, (uint64) PG_INT64_MAX);
	pool->batch = refill->batch;
	pool->low_water_mark = refill->low_water_mark;
	*pending_mark(pool) |= pool->wanted > sk_pool_size(pool);
	return in_order;
}

#ifdef SK_SEGMENT_NEEDS_REQUEST
static void
request_memory(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	RequestAddinShmemSpace(add_size(MAXALIGN(sizeof(SkSharedHeader)),
									arrays_size(max_allocators)));
}
#endif
