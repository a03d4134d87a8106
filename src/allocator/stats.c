/*-------------------------------------------------------------------------
 *
 * stats.c
 *	  What the statistics views of allocators show.
 *
 * src/allocator/stats.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "allocator/cache.h"
#include "allocator/worker.h"

PG_FUNCTION_INFO_V1(spanner_list_allocator_pools);
PG_FUNCTION_INFO_V1(spanner_count_allocator_pools);
PG_FUNCTION_INFO_V1(spanner_list_allocator_workers);

/* Columns of spanner_internal.list_allocator_pools() */
enum
{
	POOL_DATABASE,
	POOL_TABLE,
	POOL_ALLOCATOR,
	POOL_VALUES,
	POOL_REFILLS,
	POOL_WAITS,
	POOL_WAIT_MS,
	POOL_REFILL_MS,
	POOL_REFILL_MS_MAX,
	POOL_SIZE,
	POOL_BATCH,
	POOL_LOST,
	POOL_ERROR,
	POOL_LAST_REFILL,
	POOL_COLUMNS
};

/* Columns of spanner_internal.list_allocator_workers() */
enum
{
	WORKER_DATABASE,
	WORKER_PID,
	WORKER_STATE,
	WORKER_STARTED,
	WORKER_IDLE_SINCE,
	WORKER_PENDING,
	WORKER_BLOCKED_BY,
	WORKER_COLUMNS
};

static bool may_see_error(const SkPoolKey *key);
static void put_pool(ReturnSetInfo *result, const SkPool *pool);
static void put_worker(ReturnSetInfo *result, const SkWorkerEntry *worker);

/*
 * An error of another server can name its address, and the user there.  So it
 * is for those who would get it when they draw, and for monitoring.
 */
static bool
may_see_error(const SkPoolKey *key)
{
	SkAllocatorRow row;

	if (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		return true;
	return key->dbid == MyDatabaseId && key->relid == sk_allocator_table() &&
		sk_allocator_read(NULL, key->allocator_id, &row) &&
		sk_may_use(&row, GetUserId());
}

static void
put_pool(ReturnSetInfo *result, const SkPool *pool)
{
	const SkPoolStats *stats = &pool->stats;
	Datum		values[POOL_COLUMNS];
	bool		nulls[POOL_COLUMNS] = {false};

	values[POOL_DATABASE] = ObjectIdGetDatum(pool->key.dbid);
	values[POOL_TABLE] = ObjectIdGetDatum(pool->key.relid);
	values[POOL_ALLOCATOR] = Int64GetDatum(pool->key.allocator_id);
	values[POOL_VALUES] = Int64GetDatum(stats->values);
	values[POOL_REFILLS] = Int64GetDatum(stats->refills);
	values[POOL_WAITS] = Int64GetDatum(stats->waits);
	values[POOL_WAIT_MS] = Float8GetDatum(stats->wait_us / 1000.0);
	values[POOL_REFILL_MS] = Float8GetDatum(stats->refill_us / 1000.0 / Max(stats->refills, 1));
	values[POOL_REFILL_MS_MAX] = Float8GetDatum(stats->refill_us_max / 1000.0);
	nulls[POOL_REFILL_MS] = nulls[POOL_REFILL_MS_MAX] = stats->refills == 0;
	values[POOL_SIZE] = Int64GetDatum(pool_size(pool));
	values[POOL_BATCH] = Int32GetDatum(pool->batch);
	nulls[POOL_BATCH] = pool->batch == 0;
	values[POOL_LOST] = Int64GetDatum(stats->lost);
	values[POOL_ERROR] = CStringGetTextDatum(pool->error.message);
	nulls[POOL_ERROR] = pool->error.sqlerrcode == 0 || !may_see_error(&pool->key);
	values[POOL_LAST_REFILL] = TimestampTzGetDatum(stats->last_refill);
	nulls[POOL_LAST_REFILL] = stats->last_refill == 0;
	Assert(result->setDesc->natts == POOL_COLUMNS);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * spanner_internal.list_allocator_pools() returns setof record
 *
 * One row for each pool in shared memory.
 */
Datum
spanner_list_allocator_pools(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < sk_shared_state()->size; i++)
	{
		SkPool		pool;

		if (sk_pool_read(i, &pool))
			put_pool((ReturnSetInfo *) fcinfo->resultinfo, &pool);
	}
	return (Datum) 0;
}

/*
 * spanner_internal.count_allocator_pools(OUT size integer, OUT used integer,
 * OUT taken_over bigint, OUT lost_values bigint)
 */
Datum
spanner_count_allocator_pools(PG_FUNCTION_ARGS)
{
	SkSharedState *state = sk_shared_state();
	int			used = 0;
	TupleDesc	tupdesc;
	Datum		values[4];
	bool		nulls[4] = {false};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	LWLockAcquire(state->lock, LW_SHARED);
	for (int i = 0; i < state->size; i++)
		used += OidIsValid(state->pools[i].key.dbid);
	values[0] = Int32GetDatum(state->size);
	values[1] = Int32GetDatum(used);
	values[2] = Int64GetDatum(state->header->taken_over);
	values[3] = Int64GetDatum(state->header->lost);
	LWLockRelease(state->lock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}

static void
put_worker(ReturnSetInfo *result, const SkWorkerEntry *worker)
{
	const char *state = worker->pid == 0 ? "starting" :
		worker->blocked ? "blocked" :
		worker->idle_since != 0 ? "idle" : "reserving";
	Datum		values[WORKER_COLUMNS];
	bool		nulls[WORKER_COLUMNS] = {false};
	TransactionId blocked_by = InvalidTransactionId;
	SkPool		pool;

	for (int i = 0; worker->blocked && i < sk_shared_state()->size; i++)
		if (sk_pool_read(i, &pool) && pool.key.dbid == worker->dbid &&
			pool.kind == worker->kind && TransactionIdIsValid(pool.blocked_by))
			blocked_by = pool.blocked_by;
	values[WORKER_DATABASE] = ObjectIdGetDatum(worker->dbid);
	values[WORKER_PID] = Int32GetDatum(worker->pid);
	nulls[WORKER_PID] = worker->pid == 0;
	values[WORKER_STATE] = CStringGetTextDatum(state);
	values[WORKER_STARTED] = TimestampTzGetDatum(worker->started);
	nulls[WORKER_STARTED] = worker->pid == 0;
	values[WORKER_IDLE_SINCE] = TimestampTzGetDatum(worker->idle_since);
	nulls[WORKER_IDLE_SINCE] = worker->idle_since == 0;
	values[WORKER_PENDING] = Int32GetDatum(sk_pool_pending(worker->dbid, worker->kind));
	values[WORKER_BLOCKED_BY] = TransactionIdGetDatum(blocked_by);
	nulls[WORKER_BLOCKED_BY] = !TransactionIdIsValid(blocked_by);
	Assert(result->setDesc->natts == WORKER_COLUMNS);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * spanner_internal.list_allocator_workers() returns setof record
 *
 * One row for each worker that runs or is being started.
 */
Datum
spanner_list_allocator_workers(PG_FUNCTION_ARGS)
{
	SkSharedState *state = sk_shared_state();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < state->worker_size; i++)
	{
		SkWorkerEntry worker;

		LWLockAcquire(state->lock, LW_SHARED);
		worker = state->workers[i];
		LWLockRelease(state->lock);
		/* one that was ended by force, or could not start, is not there */
		if (worker.pid != 0 || !sk_worker_may_launch(&worker))
			put_worker((ReturnSetInfo *) fcinfo->resultinfo, &worker);
	}
	return (Datum) 0;
}
