/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background workers that reserve values.
 *
 * The first session that needs a worker starts it.  It fills all pools of its
 * database that have asked for it in one transaction, hands the values out
 * when that is committed, and leaves after a while without work, so that the
 * database can be dropped.  Allocators of other servers have a worker of their
 * own.
 *
 * Workers come and go under the LWLock of the shared state.  A session marks
 * its pool before it looks for the worker, and the worker looks for marks
 * before it leaves, so no request is missed.
 *
 * src/allocator/worker.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "allocator/allocator.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_list_allocator_workers);

/* How long the worker waits for those who are making a series themselves. */
#define SK_SERIES_LIMIT_MS 20

static const struct config_enum_entry return_unused_values[] = {
	{"off", false, false},
	{"idle", true, false},
	{NULL, 0, false}
};

/* Values must not be issued before the reservation is durable. */
static const struct config_enum_entry synchronous_commit_values[] = {
	{"local", SYNCHRONOUS_COMMIT_LOCAL_FLUSH, false},
	{"remote_write", SYNCHRONOUS_COMMIT_REMOTE_WRITE, false},
	{"on", SYNCHRONOUS_COMMIT_REMOTE_FLUSH, false},
	{"remote_apply", SYNCHRONOUS_COMMIT_REMOTE_APPLY, false},
	{NULL, 0, false}
};

/* When a worker that was to start, or that failed, may be started again. */
#define SK_RELAUNCH_MS 1000

static int	idle_timeout = 1000;
static int	return_unused = false;
static int	reservation_commit = SYNCHRONOUS_COMMIT_REMOTE_FLUSH;

typedef enum FillResult
{
	FILL_NOTHING,
	FILL_DONE,
	FILL_BLOCKED,
	FILL_WAITING				/* for another server */
} FillResult;

/* Pools that are filled in one transaction. */
typedef struct Batch
{
	SkRefill   *list;
	int			count;
} Batch;

/* Of this process, if it is a worker. */
static SkWorkerEntry *my_entry = NULL;
static SkRefill *refills;

PGDLLEXPORT void spanner_allocator_worker(Datum arg);

static bool attach(int index);
static void abandon_pools(void);
static bool leave(bool even_if_pending);
static void leave_at_exit(int code, Datum arg);
static void set_session_defaults(void);
static bool plan_refill(SkRefill *refill, SkAllocatorRow *row);
static void reserve_batch(void *arg);
static bool try_to_reserve(SkRefill *list, int count);
static void publish(SkRefill *list, int count);
static void reserve_and_publish(SkRefill *list, int count);
static void begin_series(void *arg);
static bool make_series(void);
static FillResult fill_pools(void);
static void work_until_idle(void);
static void give_back_unused(void *arg);
static SkWorkerEntry *find_entry(Oid dbid, SkWorkerKind kind);
static SkWorkerEntry *make_entry(SkWorkerKind kind);
static bool launch(const SkWorkerEntry *entry);
static bool may_launch(const SkWorkerEntry *entry);
static void put_worker(ReturnSetInfo *result, const SkWorkerEntry *worker);

/*
 * sk_worker_wake
 *		Wake the worker of this database, or start it.
 *
 * Returns false if it cannot be started.
 */
bool
sk_worker_wake(SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry;
	bool		launched = true;

	LWLockAcquire(state->lock, LW_SHARED);
	entry = find_entry(MyDatabaseId, kind);
	if (entry != NULL && entry->latch != NULL)
	{
		SetLatch(entry->latch);
		LWLockRelease(state->lock);
		return true;
	}
	LWLockRelease(state->lock);

	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	entry = make_entry(kind);
	if (entry == NULL)
		launched = false;
	else if (entry->latch != NULL)
		SetLatch(entry->latch);
	else if (may_launch(entry))
	{
		launched = launch(entry);
		entry->launched = launched ? GetCurrentTimestamp() : 0;
	}
	LWLockRelease(state->lock);
	return launched;
}

/*
 * sk_worker_is_running
 *		Has this database a worker of that kind, which has started?
 */
bool
sk_worker_is_running(SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry;
	bool		result;

	LWLockAcquire(state->lock, LW_SHARED);
	entry = find_entry(MyDatabaseId, kind);
	result = entry != NULL && entry->latch != NULL;
	LWLockRelease(state->lock);
	return result;
}

/*
 * sk_worker_make_series
 *		Have the worker that asks other servers make a series of an allocator.
 *
 * It makes one at a time: who does not find the series asks again.  Returns
 * false if the worker cannot be started.
 */
bool
sk_worker_make_series(int64 parent_id, const ArrayType *series)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry;

	Assert(VARSIZE(series) <= SK_MAX_SERIES_BYTES);
	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	entry = make_entry(SK_WORKER_REMOTE);
	if (entry != NULL && entry->parent_id == 0)
	{
		entry->parent_id = parent_id;
		memcpy(entry->series, series, VARSIZE(series));
	}
	LWLockRelease(state->lock);
	return sk_worker_wake(SK_WORKER_REMOTE);
}

/*
 * sk_worker_init
 *		Define the settings of the worker.
 */
void
sk_worker_init(void)
{
	DefineCustomIntVariable("spanner_keys.allocator_idle_timeout",
							"Sets how long an allocator worker stays without work.",
							"Commands on a database wait until it is gone.",
							&idle_timeout,
							1000, 0, SK_MAX_IDLE_TIMEOUT,
							PGC_SIGHUP,
							GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomEnumVariable("spanner_keys.allocator_return_unused",
							 "Sets when values of allocators that were reserved and not used are given back.",
							 NULL,
							 &return_unused,
							 false, return_unused_values,
							 PGC_SIGHUP,
							 0,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("spanner_keys.allocator_synchronous_commit",
							 "Sets how durable a reservation is before its values are handed out.",
							 NULL,
							 &reservation_commit,
							 SYNCHRONOUS_COMMIT_REMOTE_FLUSH,
							 synchronous_commit_values,
							 PGC_SIGHUP,
							 0,
							 NULL, NULL, NULL);
}

/* Become a worker.  Returns false if the entry has one. */
static bool
attach(int index)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry = &state->workers[index];

	Assert(index >= 0 && index < state->worker_size);
	Assert(my_entry == NULL);
	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	/* an entry is given to others, but never taken back */
	Assert(OidIsValid(entry->dbid));
	if (entry->latch == NULL)
	{
		entry->latch = MyLatch;
		entry->pid = MyProcPid;
		entry->started = GetCurrentTimestamp();
		entry->idle_since = 0;
		entry->blocked = false;
		my_entry = entry;
	}
	LWLockRelease(state->lock);
	return my_entry != NULL;
}

/*
 * Leave what this worker has begun to the next one, and wake the sessions that
 * wait, so that they start it.
 */
static void
abandon_pools(void)
{
	SkSharedState *state = sk_shared_state();

	Assert(LWLockHeldByMe(state->lock));
	for (int i = 0; i < state->size; i++)
	{
		SkPool	   *pool = &state->pools[i];
		bool		wake;

		if (pool->key.dbid != my_entry->dbid || pool->kind != my_entry->kind)
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
 * Note that the worker ends.  Returns false, and does nothing, if there is
 * something to do and the process does not end by force.
 */
static bool
leave(bool even_if_pending)
{
	SkSharedState *state = sk_shared_state();

	if (my_entry == NULL)
		return true;
	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	/* a session marks its pool before it looks for the worker under this lock */
	if (!even_if_pending &&
		(my_entry->parent_id != 0 ||
		 sk_pool_pending(my_entry->dbid, my_entry->kind) > 0))
	{
		LWLockRelease(state->lock);
		return false;
	}
	Assert(my_entry->latch == MyLatch && my_entry->pid == MyProcPid);
	my_entry->latch = NULL;
	my_entry->pid = 0;
	if (!even_if_pending)
		my_entry->launched = 0;
	abandon_pools();
	LWLockRelease(state->lock);
	my_entry = NULL;
	return true;
}

/* Whatever ends the worker, the next one can be started. */
static void
leave_at_exit(int code, Datum arg)
{
	(void) leave(true);
}

/* Settings of the database are for its users, not for this process. */
static void
set_session_defaults(void)
{
	static const char *const settings[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
		{"statement_timeout", "0"},
		{"lock_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		SK_TRANSACTION_TIMEOUT
		{"jit", "off"}
	};

	for (int i = 0; i < lengthof(settings); i++)
		SetConfigOption(settings[i][0], settings[i][1],
						PGC_SUSET, PGC_S_OVERRIDE);
}

/* Decide which values a pool gets: fewer than a batch if no more are left. */
static bool
plan_refill(SkRefill *refill, SkAllocatorRow *row)
{
	int64		size;
	uint64		left;

	sk_reserve_choose_batch(refill, row);
	if (row->next_value > row->max_value)
	{
		sk_pool_error(&refill->error, ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
					  "all values are used up", NULL);
		refill->error.limit = row->max_value;
		return false;
	}
	left = (uint64) row->max_value - (uint64) row->next_value + 1;

	/* a request for more than is left must not take the rest from others */
	size = refill->wanted;
	if (size > 0 && (uint64) size > left)
		size -= refill->largest;
	size = Max(refill->batch, size);
	refill->limit = row->max_value;
	refill->range.first = row->next_value;
	refill->range.end = row->next_value + (int64) Min(left, (uint64) size);
	Assert(refill->range.first < refill->range.end);
	Assert(refill->range.end - 1 <= row->max_value);
	return true;
}

/*
 * Reserve what pools need, in the current transaction.  Values may be issued when
 * that is committed, not before.
 */
static void
reserve_batch(void *arg)
{
	Batch	   *batch = arg;
	SkAllocatorRow row;
	SkTable		table;

	Assert(batch->count >= 1 && batch->count <= SK_MAX_REFILLS);
	sk_table_open(&table, RowExclusiveLock);
	for (int i = 0; i < batch->count; i++)
	{
		SkRefill   *refill = &batch->list[i];

		if (!sk_reserve_lock(&table, refill, SK_WORKER_LOCAL, &row))
			continue;
		sk_reserve_skip_gap(&row);
		if (!plan_refill(refill, &row))
			continue;
		row.next_value = refill->range.end;
		sk_row_update(&table, &row, SK_WRITE_RESERVES);
		refill->result = SK_REFILL_DONE;
	}
	sk_table_close(&table);
}

/* Reserve in a transaction, and commit it.  Sets the results. */
static bool
try_to_reserve(SkRefill *list, int count)
{
	Batch		batch = {list, count};
	ErrorData  *error =
		sk_run_transaction(reserve_batch, &batch, "reserving values of allocators",
						   GetConfigOption("spanner_keys.allocator_synchronous_commit", false, false));

	for (int i = 0; error != NULL && i < count; i++)
	{
		list[i].result = SK_REFILL_FAILED;
		sk_pool_error(&list[i].error, error->sqlerrcode, error->message,
					  error->hint);
	}
	return error == NULL;
}

/*
 * Hand out what has been reserved, unless the process is to exit: then the
 * commit may not have waited for a standby to the end.
 */
static void
publish(SkRefill *list, int count)
{
	CHECK_FOR_INTERRUPTS();
	Assert(!IsTransactionState());
	for (int i = 0; i < count; i++)
	{
		if (!sk_pool_finish(&list[i]))
			ereport(WARNING,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("allocator %lld was moved backwards to %lld; discarding cached values",
							(long long) list[i].key.allocator_id,
							(long long) list[i].range.first),
					 errhint("Use spanner.reset_allocator() to move an allocator.")));
	}
}

/* One that fails must not keep the others from being filled. */
static void
reserve_and_publish(SkRefill *list, int count)
{
	if (count > 1 && !try_to_reserve(list, count))
	{
		for (int i = 0; i < count; i++)
			reserve_and_publish(&list[i], 1);
		return;
	}
	if (count == 1)
		(void) try_to_reserve(list, 1);
	publish(list, count);
}

static void
begin_series(void *arg)
{
	const SkWorkerEntry *request = arg;
	SkAllocatorRow row;
	SkTable		table;

	sk_table_open(&table, RowExclusiveLock);
	sk_series_begin(&table, request->parent_id, (ArrayType *) request->series, &row);
	sk_table_close(&table);
}

/*
 * Make the series that a session wants, who asks again if that fails.  Nobody
 * who has locked what this needs may hold up the other allocators.
 */
static bool
make_series(void)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry request;

	if (my_entry->parent_id == 0)
		return false;
	LWLockAcquire(state->lock, LW_SHARED);
	request = *my_entry;
	LWLockRelease(state->lock);
	sk_limit_time(SK_SERIES_LIMIT_MS);
	(void) sk_run_transaction(begin_series, &request, "beginning a series of an allocator",
							  "local");
	sk_end_limit();
	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	my_entry->parent_id = 0;
	LWLockRelease(state->lock);
	return true;
}

/* Fill the pools that have to be filled now. */
static FillResult
fill_pools(void)
{
	FillResult	result = FILL_DONE;
	MemoryContext context;
	int			count;

	Assert(my_entry->dbid == MyDatabaseId);
	if (make_series())
		SetLatch(MyLatch);
	StartTransactionCommand();
	count = sk_pool_collect(my_entry->kind, sk_allocator_table(), refills);
	CommitTransactionCommand();
	if (count == 0 && (my_entry->kind == SK_WORKER_LOCAL || sk_remote_delay() < 0))
		return sk_pool_pending(MyDatabaseId, my_entry->kind) > 0 ?
			FILL_BLOCKED : FILL_NOTHING;

	context = AllocSetContextCreate(TopMemoryContext, "spanner_keys refill",
									ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	if (my_entry->kind == SK_WORKER_LOCAL)
		reserve_and_publish(refills, count);
	else
	{
		count = sk_remote_exchange(refills, count);
		publish(refills, count);
		if (sk_remote_delay() >= 0)
			result = FILL_WAITING;
	}
	if (result == FILL_DONE && sk_pool_pending(MyDatabaseId, my_entry->kind) > 0)
		result = FILL_BLOCKED;
	MemoryContextSwitchTo(TopMemoryContext);
	MemoryContextDelete(context);
	/* sessions may have asked for more meanwhile */
	if (count > 0)
		SetLatch(MyLatch);
	pgstat_report_stat(false);
	return result;
}

static void
work_until_idle(void)
{
	SkSharedState *state = sk_shared_state();
	static uint32 main_event = 0;
	static uint32 remote_event = 0;
	TimestampTz idle_since = 0;

	if (main_event == 0)
	{
		main_event = WaitEventExtensionNew("SpannerKeysAllocatorMain");
		remote_event = WaitEventExtensionNew("SpannerKeysAllocatorRemote");
	}
	for (;;)
	{
		FillResult	result = fill_pools();
		TimestampTz now = GetCurrentTimestamp();
		long		timeout = idle_timeout + 1;
		bool		is_wanted = false;

		/* does any session wait? */
		for (int i = 0; result == FILL_WAITING && i < state->size; i++)
			is_wanted |= state->pools[i].key.dbid == MyDatabaseId &&
				state->pools[i].kind == my_entry->kind && state->pools[i].wanted > 0;
		if (result != FILL_NOTHING &&
			(result != FILL_WAITING || is_wanted))
			idle_since = 0;
		else if (idle_since == 0)
			idle_since = now;
		else if (TimestampDifferenceExceeds(idle_since, now, idle_timeout))
			return;
		if (result == FILL_BLOCKED)
			timeout = SK_LOCKED_MS;
		if (result == FILL_WAITING)
			timeout = sk_remote_delay();

		/* show what the worker does */
		if (my_entry->idle_since != idle_since ||
			my_entry->blocked != (result == FILL_BLOCKED))
		{
			LWLockAcquire(state->lock, LW_EXCLUSIVE);
			my_entry->idle_since = idle_since;
			my_entry->blocked = result == FILL_BLOCKED;
			LWLockRelease(state->lock);
		}
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 timeout,
						 result == FILL_WAITING ? remote_event : main_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
	}
}

/*
 * Give back what is left in the pools of this worker.  A row that somebody
 * has locked must not keep it from its work, so those values stay in the pool.
 */
static void
give_back_unused(void *arg)
{
	SkPool		pool;
	SkTable		table;
	SkAllocatorRow row;

	if (!OidIsValid(sk_allocator_table()))
		return;
	sk_table_open(&table, RowExclusiveLock);
	for (int i = 0; i < sk_shared_state()->size; i++)
		if (sk_pool_read(i, &pool) && sk_pool_size(&pool) > 0 &&
			pool.kind == my_entry->kind && pool.key.dbid == MyDatabaseId &&
			pool.key.relid == RelationGetRelid(table.rel) &&
			sk_row_lock(&table, pool.key.allocator_id, LockWaitSkip, &row) == SK_ROW_FOUND)
			(void) sk_reserve_undo(&table, &row);
	sk_table_close(&table);
}

static SkWorkerEntry *
find_entry(Oid dbid, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();

	Assert(LWLockHeldByMe(state->lock));
	for (int i = 0; i < state->worker_size; i++)
	{
		SkWorkerEntry *entry = &state->workers[i];

		if (entry->dbid == dbid && entry->kind == kind)
			return entry;
	}
	return NULL;
}

/* NULL if others have workers, or start them, in all places there are. */
static SkWorkerEntry *
make_entry(SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry = find_entry(MyDatabaseId, kind);

	Assert(LWLockHeldByMeInMode(state->lock, LW_EXCLUSIVE));
	for (int i = 0; entry == NULL && i < state->worker_size; i++)
	{
		SkWorkerEntry *other = &state->workers[i];

		if (OidIsValid(other->dbid) &&
			(other->latch != NULL || !may_launch(other)))
			continue;
		memset(other, 0, sizeof(SkWorkerEntry));
		other->dbid = MyDatabaseId;
		other->kind = kind;
		entry = other;
	}
	return entry;
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
	worker.bgw_main_arg = Int32GetDatum((int32) (entry - sk_shared_state()->workers));
	return RegisterDynamicBackgroundWorker(&worker, NULL);
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
	Datum		values[lengthof(columns)];
	bool		nulls[lengthof(columns)];
	SkPool		pool;

	Assert(result->setDesc->natts == lengthof(columns));
	for (int i = 0; i < lengthof(columns); i++)
	{
		values[i] = columns[i].value;
		nulls[i] = columns[i].isnull;
	}

	/*
	 * the last column tells which transaction has locked a row that it waits
	 * for
	 */
	for (int i = 0; worker->blocked && i < sk_shared_state()->size; i++)
		if (sk_pool_read(i, &pool) && pool.key.dbid == worker->dbid &&
			pool.kind == worker->kind && TransactionIdIsValid(pool.blocked_by))
		{
			values[lengthof(columns) - 1] = TransactionIdGetDatum(pool.blocked_by);
			nulls[lengthof(columns) - 1] = false;
		}
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * spanner_allocator_worker
 *		Entry point.  The argument is the index of the worker's entry.
 */
void
spanner_allocator_worker(Datum arg)
{
	/* die() lets a commit end before the process does */
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	/* a canceled wait for a standby must not look like a commit */
	pqsignal(SIGINT, PG_SIG_IGN);

	if (!attach(DatumGetInt32(arg)))
		return;
	before_shmem_exit(leave_at_exit, (Datum) 0);
	BackgroundWorkerUnblockSignals();

	/*
	 * sessions that are connected go on taking where nobody may connect any
	 * more
	 */
	BackgroundWorkerInitializeConnectionByOid(my_entry->dbid, InvalidOid,
											  BGWORKER_BYPASS_ALLOWCONN);
	set_session_defaults();

	StartTransactionCommand();
	sk_pool_forget_dropped();
	CommitTransactionCommand();

	refills = MemoryContextAlloc(TopMemoryContext,
								 SK_MAX_REFILLS * sizeof(SkRefill));
	do
	{
		work_until_idle();
		if (my_entry->kind == SK_WORKER_REMOTE)
			sk_remote_disconnect();
		/* to lose that does no harm, to wait for a standby could last */
		else if (return_unused)
			(void) sk_run_transaction(give_back_unused, NULL,
									  "giving back values of allocators", "local");
	} while (!leave(false));
	pgstat_report_stat(true);
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
