/*-------------------------------------------------------------------------
 *
 * shared_state.c
 *	  The shared memory of the allocators, and which pool belongs to whom.
 *
 * Nothing has to be preloaded: whoever needs the memory first makes it.  Its
 * size is fixed from then on, and stands in a small segment of its own, since
 * later sessions may have another spanner_keys.max_allocators.  If there is
 * not enough memory, the next one may try with a smaller size.
 *
 * When there is no free pool, that of another allocator is taken over: the one
 * that has not been used for the longest time.  Its values are lost, so the
 * batches of a pool that was taken over begin with what is wanted, and grow.  A
 * database that has its share of all pools takes one of its own, so that it
 * cannot empty those of the others.
 *
 * src/allocator/shared_state.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/ipc.h"
#include "utils/guc.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "allocator/cache.h"
#include "allocator/shared_state.h"
#include "compat.h"

#define SK_TRANCHE_NAME "SpannerKeysAllocator"
#define SK_MAX_ALLOCATORS 65536

/* How many databases the pools are shared fairly among. */
#define SK_MAX_SHARES 64

/* How many pools a database has. */
typedef struct Share
{
	Oid			dbid;
	int			pools;
} Share;

static int	max_allocators = 64;
static int	arrays_of = 0;		/* what init_arrays() is to make */

static void init_header(SK_SEGMENT_ARGS);
static Size lay_out(SkSharedState *state, int size, char *arrays);
static Size arrays_size(int size);
static void init_arrays(SK_SEGMENT_ARGS);
static int	count_shares(Share *shares);
static bool is_idle(const SkPool *pool);
static bool looks_idle(SkPool *pool);
static int	find_free_pool(void);
static int *bucket_of(const SkPoolKey *key);
static void unlink_pool(int index, const SkPoolKey *key);
static bool give_pool(int index, const SkPoolKey *key, SkWorkerKind kind);
#ifdef SK_SEGMENT_NEEDS_REQUEST
static void request_memory(void);
#endif

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

/* Count the pools of each database, and return the number of databases. */
static int
count_shares(Share *shares)
{
	SkSharedState *state = sk_shared_state();
	int			count = 1;

	Assert(LWLockHeldByMe(state->lock));
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
is_idle(const SkPool *pool)
{
	Assert(sk_spin_lock_is_held(&pool->mutex));
	return pool->wanted == 0 && !pool->is_filling;
}

/* The same without the lock: a session may begin to wait at any time. */
static bool
looks_idle(SkPool *pool)
{
	bool		result;

	SpinLockAcquire(&pool->mutex);
	result = is_idle(pool);
	SpinLockRelease(&pool->mutex);
	return result;
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

	Assert(LWLockHeldByMeInMode(state->lock, LW_EXCLUSIVE));
	Assert(databases >= 1 && databases <= SK_MAX_SHARES);
	for (int i = 0; i < state->size; i++)
	{
		Oid			dbid = state->pools[i].key.dbid;
		bool		is_fair = dbid == MyDatabaseId && shares[0].pools >= fair;

		if (!OidIsValid(dbid))
			return i;
		/* a database above its share gives to one below */
		for (int j = 1; shares[0].pools < fair && j < databases; j++)
			is_fair |= shares[j].dbid == dbid && shares[j].pools > fair;
		if ((any >= 0 && !is_fair &&
			 state->last_used[i] >= state->last_used[any]) ||
			(best >= 0 && state->last_used[i] >= state->last_used[best]) ||
			!looks_idle(&state->pools[i]))
			continue;
		if (any < 0 || state->last_used[i] < state->last_used[any])
			any = i;
		if (is_fair)
			best = i;
	}
	return best >= 0 ? best : any;
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
give_pool(int index, const SkPoolKey *key, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkPool	   *pool = &state->pools[index];
	SkPoolKey	former = pool->key;
	int		   *bucket = bucket_of(key);
	bool		was_used = OidIsValid(former.dbid);

	Assert(LWLockHeldByMeInMode(state->lock, LW_EXCLUSIVE));
	Assert(key->dbid == MyDatabaseId && sk_pool_find(key) == NULL);
	SpinLockAcquire(&pool->mutex);
	if (was_used && !is_idle(pool))
	{
		SpinLockRelease(&pool->mutex);
		return false;
	}
	if (was_used)
	{
		state->header->taken_over++;
		state->header->lost += pool_size(pool);
	}
	pool->key = *key;
	pool->kind = kind;
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
	int			index;

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
	{
		SpinLockAcquire(&pool->mutex);
		pool->kind = kind;
		SpinLockRelease(&pool->mutex);
	}
	while (pool == NULL && (index = find_free_pool()) >= 0)
	{
		if (give_pool(index, key, kind))
			pool = &state->pools[index];
	}
	LWLockRelease(state->lock);
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

	Assert(LWLockHeldByMe(state->lock));
	for (int i = *bucket_of(key); i >= 0; i = state->pools[i].next_in_bucket)
		if (is_pool_of(&state->pools[i], key))
			return &state->pools[i];
	return NULL;
}

/*
 * sk_pool_forget_dropped
 *		Free the pools of databases that are gone, which would count as in use.
 *
 * To be called in a transaction.
 */
void
sk_pool_forget_dropped(void)
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

#ifdef SK_SEGMENT_NEEDS_REQUEST
static shmem_request_hook_type prev_shmem_request_hook = NULL;

static void
request_memory(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	RequestAddinShmemSpace(add_size(MAXALIGN(sizeof(SkSharedHeader)),
									arrays_size(max_allocators)));
}
#endif

/*
 * sk_shared_state_settings
 *		Define the setting, and ask for the memory if that is still possible.
 */
void
sk_shared_state_settings(void)
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
