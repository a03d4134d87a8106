/*-------------------------------------------------------------------------
 *
 * allocator.c
 *	  Taking values from allocators, and starting the workers that reserve them.
 *
 * Workers come and go under the LWLock of the shared state, see worker.c.  A
 * session that starts one writes the entry that the worker then finds.
 *
 * src/allocator/allocator.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/wait_event.h"

#include "allocator/allocator.h"
#include "spanner_keys.h"

PG_FUNCTION_INFO_V1(spanner_count_allocator_pools);
PG_FUNCTION_INFO_V1(spanner_list_allocator_pools);
PG_FUNCTION_INFO_V1(spanner_list_allocator_workers);
PG_FUNCTION_INFO_V1(spanner_next_value);
PG_FUNCTION_INFO_V1(spanner_next_values);
PG_FUNCTION_INFO_V1(spanner_reserve_block);

/* The allocator that a call site used last. */
typedef struct LastUsed
{
	uint64		epoch;
	SkAllocator *allocator;
	int			length;			/* of the name */
	ArrayType  *series;			/* as it was given, NULL if it was empty */
} LastUsed;

/* What a session does by itself. */
typedef struct Taking
{
	SkAllocatorRow *row;
	ArrayType  *series;
	int64		count;
	SkValues   *range;
	SkAllocator *found;
} Taking;

/* How often to look for a pool, or for a series. */
#define SK_RETRY_MS 10

/* How often a waiting session looks whether there still is a worker. */
#define SK_WAIT_SLICE_MS 1000

/* How often a session that needs a worker looks for a place for it. */
#define SK_PLACE_RETRY_MS 50

/* When a worker that was to start, or that failed, may be started again. */
#define SK_RELAUNCH_MS 1000

static bool may_launch(const SkWorkerEntry *entry);
static SkWorkerEntry *make_entry(SkWorkerKind kind);
static bool launch(const SkWorkerEntry *entry);
static bool wake_worker(SkWorkerKind kind, int64 parent_id,
						const ArrayType *series);
static bool nap(TimestampTz *begin);
static SkPool *open_pool(SkAllocator *allocator);
static void report_no_worker(void);
static void report_refill_error(SkAllocator *allocator, SkPoolError *error);
static bool has_locked_row(SkAllocator *allocator);
static void report_timeout(SkAllocator *allocator, TransactionId blocked_by);
static bool take_or_begin(void *arg);
static SkAllocator *take_alone(SkAllocatorRow *row, ArrayType *series,
							   int64 count, SkValues *range);
static SkTakeResult wait_loop(SkAllocator *allocator, SkWaiter *waiter,
							  bool whole, SkValues *range);
static SkTakeResult wait_for_values(SkAllocator *allocator, int64 count,
									bool whole, SkValues *range);
static SkValues fetch_from_pool(SkAllocator *allocator, int64 count, bool whole);
static SkValues fetch(SkAllocator *allocator, int64 count, bool whole);
static void check_call(FunctionCallInfo fcinfo, SkAllocator *allocator);
static void wait_for_series(SkAllocator *allocator, ArrayType *series,
							TimestampTz *begin);
static SkAllocator *find_allocator(FunctionCallInfo fcinfo, int series_argno);
static bool is_last_used(const LastUsed *last, text *name,
						 const ArrayType *series);
static SkAllocator *allocator_argument(FunctionCallInfo fcinfo,
									   int series_argno);
static bool may_see_error(const SkPoolKey *key);
static void put_row(ReturnSetInfo *result, const NullableDatum *columns, int count);
static void put_pool(ReturnSetInfo *result, const SkPool *pool);
static void put_worker(ReturnSetInfo *result, const SkWorkerEntry *worker);

static inline SkWorkerKind
worker_kind(SkAllocator *allocator)
{
	return allocator->row.mode == SK_MODE_REMOTE ?
		SK_WORKER_REMOTE : SK_WORKER_LOCAL;
}

/*
 * Does this transaction hold such a lock on the table, or a stronger one?
 * SHARE and the stronger ones keep the worker from writing.
 */
static inline bool
has_locked_table(LOCKMODE mode)
{
	return sk_relation_is_locked(sk_allocator_table(), mode);
}

/*
 * sk_allocator_init
 *		Define the setting of those who take values.
 */
void
sk_allocator_init(void)
{
	DefineCustomIntVariable("spanner_keys.allocator_timeout",
							"Sets how long to wait for values of an allocator.",
							"Zero waits without a limit.",
							&sk_allocator_timeout,
							10000, 0, INT_MAX,
							PGC_USERSET,
							GUC_UNIT_MS,
							NULL, NULL, NULL);
}

/*
 * Has enough time passed since the worker of an entry was started?
 *
 * Until then it may still come.  The clock may have gone back.
 */
static bool
may_launch(const SkWorkerEntry *entry)
{
	TimestampTz now = GetCurrentTimestamp();

	return entry->launched == 0 || now < entry->launched ||
		TimestampDifferenceExceeds(entry->launched, now, SK_RELAUNCH_MS);
}

/*
 * The entry of this database, or a free one for it.  NULL if others have workers,
 * or start them, in all places there are.
 */
static SkWorkerEntry *
make_entry(SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *result = NULL;

	Assert(LWLockHeldByMeInMode(state->lock, LW_EXCLUSIVE));
	for (int i = 0; i < state->worker_size; i++)
	{
		SkWorkerEntry *entry = &state->workers[i];

		if (entry->dbid == MyDatabaseId && entry->kind == kind)
			return entry;
		if (result == NULL && (!OidIsValid(entry->dbid) ||
							   (entry->latch == NULL && may_launch(entry))))
			result = entry;
	}
	if (result != NULL)
	{
		memset(result, 0, sizeof(SkWorkerEntry));
		result->dbid = MyDatabaseId;
		result->kind = kind;
	}
	return result;
}

static bool
launch(const SkWorkerEntry *entry)
{
	const char *type = entry->kind == SK_WORKER_REMOTE ? "remote allocator" : "allocator";
	BackgroundWorker worker;

	/* it looks for its entry when we let go of the lock */
	Assert(LWLockHeldByMeInMode(sk_shared_state()->lock, LW_EXCLUSIVE));
	Assert(entry->latch == NULL && entry->dbid == MyDatabaseId);
	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION | BGWORKER_INTERRUPTIBLE;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "spanner_keys", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "spanner_allocator_worker",
			sizeof(worker.bgw_function_name));
	snprintf(worker.bgw_name, BGW_MAXLEN, "spanner_keys %s worker for database %u",
			 type, entry->dbid);
	snprintf(worker.bgw_type, BGW_MAXLEN, "spanner_keys %s", type);

	/*
	 * it may load another library than this one, with shared memory of its
	 * own
	 */
	strlcpy(worker.bgw_extra, SK_LAYOUT, BGW_EXTRALEN);
	worker.bgw_main_arg = Int32GetDatum((int32) (entry - sk_shared_state()->workers));
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/*
 * Wake the worker of this database, or start it.  Returns false if it cannot be
 * started, or if one has not come: the library may have been replaced.
 *
 * With a series, that is to be made: one at a time, so who does not find it asks
 * again.
 */
static bool
wake_worker(SkWorkerKind kind, int64 parent_id, const ArrayType *series)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry;
	bool		launched = true;

	Assert(series == NULL || VARSIZE(series) <= SK_MAX_SERIES_BYTES);
	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	entry = make_entry(kind);
	if (entry != NULL && series != NULL && entry->parent_id == 0)
	{
		entry->parent_id = parent_id;
		memcpy(entry->series, series, VARSIZE(series));
	}
	if (entry == NULL)
		launched = false;
	else if (entry->latch != NULL)
		SetLatch(entry->latch);
	else
	{
		if (may_launch(entry))
		{
			launched = launch(entry);
			entry->launched = launched ? GetCurrentTimestamp() : 0;
			entry->launches += launched;
		}
		launched &= entry->launches <= 1;
	}
	LWLockRelease(state->lock);
	return launched;
}

/*
 * Wait a little before what the session needs is looked for again.  Returns true
 * if it has waited since "begin" for too long; "begin" is 0 at first.
 */
static bool
nap(TimestampTz *begin)
{
	TimestampTz now = GetCurrentTimestamp();

	if (*begin == 0)
		*begin = now;
	if (sk_allocator_timeout > 0 && TimestampDifferenceExceeds(*begin, now, sk_allocator_timeout))
		return true;
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 SK_RETRY_MS, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* The pool of an allocator.  Waits for one if sessions wait at all of them. */
static SkPool *
open_pool(SkAllocator *allocator)
{
	TimestampTz begin = 0;
	SkPool	   *pool;

	while ((pool = sk_pool_open(&allocator->key, worker_kind(allocator))) == NULL)
		if (nap(&begin))
			ereport(ERROR,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("too many allocators in use"),
					 errdetail("Sessions wait for every pool that there is (%d).",
							   sk_shared_state()->size),
					 errhint("Increase \"%s\" and preload the library.",
							 "spanner_keys.max_allocators")));
	return pool;
}

static void
report_no_worker(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
			 errmsg("could not start allocator worker"),
			 errdetail("There was no free place for one in %d ms.", sk_allocator_timeout),
			 errhint("Increase \"%s\", above \"%s\".",
					 "max_worker_processes", "max_parallel_workers")));
}

static void
report_refill_error(SkAllocator *allocator, SkPoolError *error)
{
	switch (error->is_remote ? ERRCODE_SUCCESSFUL_COMPLETION : error->sqlerrcode)
	{
		case ERRCODE_UNDEFINED_OBJECT:
		case ERRCODE_UNDEFINED_TABLE:	/* the extension was dropped */
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("allocator \"%s\" does not exist",
							allocator->row.name)));
			break;
		case ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED:
			sk_report_exhausted(allocator->row.name, error->limit);
			break;
		default:
			ereport(ERROR,
					(errcode(error->sqlerrcode),
					 errmsg("could not refill allocator \"%s\": %s",
							allocator->row.name, error->message),
					 error->hint[0] != '\0' ? errhint("%s", error->hint) : 0));
	}
}

/*
 * Several transactions may have locked the row, and the worker names one.  One
 * that has no lock on the table has not locked a row.
 */
static bool
has_locked_row(SkAllocator *allocator)
{
	SkTable		table;
	bool		is_own;

	if (!has_locked_table(RowShareLock))
		return false;
	sk_table_open(&table, AccessShareLock);
	(void) sk_row_locker(&table, allocator->id, &is_own);
	sk_table_close(&table);
	return is_own;
}

static void
report_timeout(SkAllocator *allocator, TransactionId blocked_by)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("timed out after %d ms waiting for allocator \"%s\"",
					sk_allocator_timeout, allocator->row.name),
			 TransactionIdIsValid(blocked_by) ?
			 errdetail("Its row is locked by transaction %u.", blocked_by) :
			 allocator->row.server[0] != '\0' ?
			 errdetail("Server \"%s\" has not answered yet.",
					   allocator->row.server) :
			 errdetail("Its worker waits for storage, a synchronous standby or a processor."),
			 errhint("Look at %s, or increase \"%s\".",
					 "spanner.stat_allocator_worker",
					 "spanner_keys.allocator_timeout")));
}

static bool
take_or_begin(void *arg)
{
	Taking	   *taking = arg;

	if (taking->series != NULL)
		taking->found = sk_allocator_by_series(taking->row->id, taking->series, true);
	else
		*taking->range = sk_own_take(taking->row, taking->count, NULL);
	return true;
}

/*
 * Take values in the current transaction, or, with a series, find that or make it.
 * Both may have to wait for other transactions.
 */
static SkAllocator *
take_alone(SkAllocatorRow *row, ArrayType *series, int64 count, SkValues *range)
{
	Taking		taking = {row, series, count, range, NULL};

	(void) sk_wait_limited(take_or_begin, &taking, row->name);
	return taking.found;
}

/*
 * Without a worker the session reserves by itself, as parallel queries may have
 * all places for long.  Other servers only a worker can ask.
 */
static SkTakeResult
wait_loop(SkAllocator *allocator, SkWaiter *waiter, bool whole,
		  SkValues *range)
{
	uint32		wait_event = WaitEventExtensionNew("SpannerKeysAllocatorRefill");
	SkWorkerKind kind = worker_kind(allocator);

	for (;;)
	{
		long		left = SK_WAIT_SLICE_MS;
		bool		has_worker;
		SkTakeResult result;
		bool		wake;

		/*
		 * It marks the pool before the worker is looked for.  A worker that
		 * leaves looks for marks under the lock that wake_worker() takes: it
		 * sees this one, or is seen to be gone.
		 */
		result = sk_pool_take(waiter->pool, &waiter->key, waiter->count, whole,
							  waiter, range, &wake);
		has_worker = !wake || wake_worker(kind, 0, NULL);
		if (result == SK_TAKE_FAILED)
			report_refill_error(allocator, &waiter->error);
		if (result != SK_TAKE_EMPTY ||
			(!has_worker && kind == SK_WORKER_LOCAL) ||
			(TransactionIdIsValid(waiter->blocked_by) && has_locked_row(allocator)))
			return result;

		if (sk_allocator_timeout > 0)
			left = Min(left, sk_allocator_timeout -
					   TimestampDifferenceMilliseconds(waiter->begin, GetCurrentTimestamp()));
		if (left <= 0 && !has_worker)
			report_no_worker();
		if (left <= 0)
			report_timeout(allocator, waiter->blocked_by);
		if (!has_worker)
			left = Min(left, SK_PLACE_RETRY_MS);
		(void) ConditionVariableTimedSleep(&waiter->pool->filled, left, wait_event);
	}
}

/*
 * Wait until there are values, and take them.  The pool stays empty if it is
 * the current transaction that keeps the worker from filling it.
 */
static SkTakeResult
wait_for_values(SkAllocator *allocator, int64 count, bool whole,
				SkValues *range)
{
	volatile SkTakeResult result = SK_TAKE_EMPTY;
	SkWaiter	waiter = {allocator->pool, allocator->key, count};

	/* the worker cannot get at what this transaction keeps to itself */
	Assert(!allocator->row.is_own && !has_locked_table(ShareLock));
	waiter.begin = GetCurrentTimestamp();

	/* before the pool is looked at again, so that no wakeup is missed */
	ConditionVariablePrepareToSleep(&waiter.pool->filled);
	PG_ENSURE_ERROR_CLEANUP(sk_pool_wait_end, PointerGetDatum(&waiter));
	{
		result = wait_loop(allocator, &waiter, whole, range);
	}
	PG_END_ENSURE_ERROR_CLEANUP(sk_pool_wait_end, PointerGetDatum(&waiter));
	sk_pool_wait_end(0, PointerGetDatum(&waiter));
	return result;
}

static SkValues
fetch_from_pool(SkAllocator *allocator, int64 count, bool whole)
{
	SkTakeResult result;
	SkValues	range;
	bool		wake;

	Assert(sk_mode_has_pool(allocator->row.mode) ||
		   allocator->row.mode == SK_MODE_REMOTE);
	for (;;)
	{
		if (allocator->pool == NULL)
			allocator->pool = open_pool(allocator);
		result = sk_pool_take(allocator->pool, &allocator->key, count, whole,
							  NULL, &range, &wake);
		if (result == SK_TAKE_DONE && wake)
			(void) wake_worker(worker_kind(allocator), 0, NULL);
		if (result == SK_TAKE_EMPTY && !has_locked_table(ShareLock))
			result = wait_for_values(allocator, count, whole, &range);
		if (result == SK_TAKE_EMPTY)
			(void) take_alone(&allocator->row, NULL, count, &range);
		if (result != SK_TAKE_GONE)
			return range;
		allocator->pool = NULL;
	}
}

/*
 * Draw "count" values one after the other if "whole", else from 1 to "count"
 * of them.  The caller has checked privileges.
 */
static SkValues
fetch(SkAllocator *allocator, int64 count, bool whole)
{
	SkValues	range;

	/* whoever has just lost the right must not fetch by what was known before */
	Assert(allocator->usable_by == GetUserId());
	Assert(count >= 1);
	switch (allocator->row.mode)
	{
		case SK_MODE_ON_COMMIT:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("allocator \"%s\" assigns values on commit",
							allocator->row.name),
					 errhint("Use spanner.assign_on_commit() as a deferred constraint trigger.")));
			break;
		case SK_MODE_SYNC:
			/* nobody may ask for the rest, which would be a gap */
			return sk_own_take(&allocator->row, whole ? count : 1, NULL);
		default:
			if (!allocator->row.is_own && IsUnderPostmaster)
				return fetch_from_pool(allocator, count, whole);
			(void) take_alone(&allocator->row, NULL, count, &range);
			return range;
	}
}

static void
check_call(FunctionCallInfo fcinfo, SkAllocator *allocator)
{
	sk_check_writable(fcinfo->flinfo->fn_oid);
	sk_allocator_check_usage(allocator);
}

/*
 * The worker asks another server for the values of a series, so it has to see
 * the row of that: it makes it, one at a time.
 */
static void
wait_for_series(SkAllocator *allocator, ArrayType *series, TimestampTz *begin)
{
	bool		has_worker;

	/* the worker cannot write; this raises the error that says so */
	if (allocator->row.is_own || has_locked_table(ShareLock))
		(void) sk_own_take(&allocator->row, 1, NULL);
	has_worker = wake_worker(SK_WORKER_REMOTE, allocator->id, series);
	if (!nap(begin))
		return;
	if (!has_worker)
		report_no_worker();
	report_timeout(allocator, InvalidTransactionId);
}

/* An allocator from which the user may fetch, or a series of it. */
static SkAllocator *
find_allocator(FunctionCallInfo fcinfo, int series_argno)
{
	TimestampTz begin = 0;

	for (bool again = false;; again = true)
	{
		SkAllocator *found =
			sk_allocator_find(text_to_cstring(PG_GETARG_TEXT_PP(0)), 0);
		SkAllocatorRow parent = found->row;
		ArrayType  *series;

		check_call(fcinfo, found);
		series = sk_series_of_argument(fcinfo, series_argno);
		if (series == NULL)
			return found;
		if (again)
			wait_for_series(found, series, &begin);
		found = sk_allocator_by_series(parent.id, series, parent.mode <= SK_MODE_ON_COMMIT);
		if (found == NULL && sk_mode_has_pool(parent.mode))
			found = take_alone(&parent, series, 0, NULL);
		if (found != NULL)
		{
			check_call(fcinfo, found);
			return found;
		}
	}
}

static bool
is_last_used(const LastUsed *last, text *name, const ArrayType *series)
{
	if (last == NULL || last->epoch != sk_allocator_epoch ||
		(series == NULL ? last->series != NULL :
		 last->series == NULL || sk_series_compare(last->series, series) != 0))
		return false;
	return last->length == VARSIZE_ANY_EXHDR(name) &&
		memcmp(last->allocator->row.name, VARDATA_ANY(name), last->length) == 0;
}

/* The allocator that the arguments name, which is looked for once. */
static SkAllocator *
allocator_argument(FunctionCallInfo fcinfo, int series_argno)
{
	LastUsed   *last = fcinfo->flinfo->fn_extra;
	ArrayType  *series = NULL;

	if (unlikely(PG_NARGS() > series_argno))
		series = PG_GETARG_ARRAYTYPE_P(series_argno);
	if (series != NULL && ARR_NDIM(series) == 0)
		series = NULL;
	if (!is_last_used(last, PG_GETARG_TEXT_PP(0), series))
	{
		SkAllocator *found = find_allocator(fcinfo, series_argno);

		if (last == NULL)
			last = fcinfo->flinfo->fn_extra =
				MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(LastUsed));
		if (last->series != NULL)
			pfree(last->series);
		last->series = NULL;
		last->epoch = found->row.epoch;
		last->allocator = found;
		last->length = strlen(found->row.name);
		if (series != NULL)
		{
			last->series = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, VARSIZE(series));
			memcpy(last->series, series, VARSIZE(series));
		}
	}
	else
		check_call(fcinfo, last->allocator);
	return last->allocator;
}

/*
 * An error of another server can name its address, and the user there.  So it
 * is for those who would get it when they fetch, and for monitoring.
 */
static bool
may_see_error(const SkPoolKey *key)
{
	SkAllocatorRow row;

	if (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		return true;
	return key->dbid == MyDatabaseId && key->relid == sk_allocator_table() &&
		sk_allocator_read(NULL, key->allocator_id, &row) &&
		sk_check_usage(&row, GetUserId(), true);
}

static void
put_row(ReturnSetInfo *result, const NullableDatum *columns, int count)
{
	Datum	   *values = palloc(count * sizeof(Datum));
	bool	   *nulls = palloc(count * sizeof(bool));

	Assert(result->setDesc->natts == count);
	for (int i = 0; i < count; i++)
	{
		values[i] = columns[i].value;
		nulls[i] = columns[i].isnull;
	}
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* The columns are those of spanner_internal.list_allocator_pools(). */
static void
put_pool(ReturnSetInfo *result, const SkPool *pool)
{
	const SkPoolStats *stats = &pool->stats;
	bool		is_new = stats->refills == 0;
	NullableDatum columns[] = {
		{ObjectIdGetDatum(pool->key.dbid)},
		{ObjectIdGetDatum(pool->key.relid)},
		{Int64GetDatum(pool->key.allocator_id)},
		{Int64GetDatum(stats->values)},
		{Int64GetDatum(stats->refills)},
		{Int64GetDatum(stats->waits)},
		{Float8GetDatum(stats->wait_us / 1000.0)},
		{Float8GetDatum(stats->refill_us / 1000.0 / Max(stats->refills, 1)), is_new},
		{Float8GetDatum(stats->refill_us_max / 1000.0), is_new},
		{Int64GetDatum(sk_pool_size(pool))},
		{Int32GetDatum(pool->batch), pool->batch == 0},
		{Int64GetDatum(stats->lost)},
		{CStringGetTextDatum(pool->error.message),
		pool->error.sqlerrcode == 0 || !may_see_error(&pool->key)},
		{TimestampTzGetDatum(stats->last_refill), stats->last_refill == 0}
	};

	put_row(result, columns, lengthof(columns));
}

/* The columns are those of spanner_internal.list_allocator_workers(). */
static void
put_worker(ReturnSetInfo *result, const SkWorkerEntry *worker)
{
	const char *state = worker->pid == 0 ? "starting" :
		worker->blocked ? "blocked" :
		worker->idle_since != 0 ? "idle" : "reserving";
	NullableDatum columns[] = {
		{ObjectIdGetDatum(worker->dbid)},
		{Int32GetDatum(worker->pid), worker->pid == 0},
		{CStringGetTextDatum(state)},
		{TimestampTzGetDatum(worker->started), worker->pid == 0},
		{TimestampTzGetDatum(worker->idle_since), worker->idle_since == 0},
		{Int32GetDatum(sk_pool_pending(worker->dbid, worker->kind))},
		{TransactionIdGetDatum(InvalidTransactionId), true}
	};
	SkPool		pool;

	/*
	 * the last column tells which transaction has locked a row that it waits
	 * for
	 */
	for (int i = 0; worker->blocked && i < sk_shared_state()->size; i++)
		if (sk_pool_read(i, &pool) && pool.key.dbid == worker->dbid &&
			pool.kind == worker->kind && TransactionIdIsValid(pool.blocked_by))
			columns[lengthof(columns) - 1] = (NullableDatum)
		{
			TransactionIdGetDatum(pool.blocked_by), false
		};
	put_row(result, columns, lengthof(columns));
}

/*
 * spanner.next_value(name text, VARIADIC series text[]) returns bigint
 *
 * Draws one value from an allocator, or from a series of it.
 */
Datum
spanner_next_value(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(fetch(allocator_argument(fcinfo, 1), 1, true).first);
}

/*
 * spanner.next_values(name text, count integer, VARIADIC series text[])
 * returns setof bigint
 *
 * Takes "count" values, from 0 on.  They ascend, but others may have taken
 * values in between.
 */
Datum
spanner_next_values(PG_FUNCTION_ARGS)
{
	FuncCallContext *context;
	SkValues   *range;

	if (SRF_IS_FIRSTCALL())
	{
		int32		count = PG_GETARG_INT32(1);

		if (count < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("count of values must not be negative")));
		context = SRF_FIRSTCALL_INIT();
		context->max_calls = count;
		context->user_fctx =
			MemoryContextAllocZero(context->multi_call_memory_ctx,
								   sizeof(SkValues));
	}

	context = SRF_PERCALL_SETUP();
	range = context->user_fctx;
	if (context->call_cntr >= context->max_calls)
		SRF_RETURN_DONE(context);
	if (range->first == range->end)
	{
		*range = fetch(find_allocator(fcinfo, 2),
					   context->max_calls - context->call_cntr, false);
		Assert(range->first < range->end);
	}
	SRF_RETURN_NEXT(context, Int64GetDatum(range->first++));
}

/*
 * spanner.reserve_block(name text, count bigint, VARIADIC series text[],
 * OUT first_value bigint, OUT last_value bigint)
 *
 * Draws "count" values, from 1 on, that follow each other without a gap.
 */
Datum
spanner_reserve_block(PG_FUNCTION_ARGS)
{
	int64		count = PG_GETARG_INT64(1);
	SkValues	range;
	TupleDesc	tupdesc;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (count < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("size of a block must be positive")));
	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	range = fetch(allocator_argument(fcinfo, 2), count, true);
	Assert(range.first <= range.end - count);
	values[0] = Int64GetDatum(range.first);
	values[1] = Int64GetDatum(range.end - 1);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
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
	NullableDatum columns[4] = {{Int32GetDatum(state->size)}};

	LWLockAcquire(state->lock, LW_SHARED);
	for (int i = 0; i < state->size; i++)
		used += OidIsValid(state->pools[i].key.dbid);
	columns[1].value = Int32GetDatum(used);
	columns[2].value = Int64GetDatum(state->header->taken_over);
	columns[3].value = Int64GetDatum(state->header->lost);
	LWLockRelease(state->lock);
	InitMaterializedSRF(fcinfo, 0);
	put_row((ReturnSetInfo *) fcinfo->resultinfo, columns, lengthof(columns));
	return (Datum) 0;
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
		if (worker.pid != 0 || !may_launch(&worker))
			put_worker((ReturnSetInfo *) fcinfo->resultinfo, &worker);
	}
	return (Datum) 0;
}
