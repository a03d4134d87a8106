/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background workers that reserve values, here or on other servers.
 *
 * Workers come and go under the LWLock of the shared state.  A session marks
 * its pool before it looks for the worker, and the worker looks for marks
 * before it leaves, so no request is missed.
 *
 * Each step of a request to another server is a transaction here, which fails for its
 * allocator alone.  If only the answer was lost, its values are never used.
 *
 * Connections are made by contrib's dblink.  It finds the options of the
 * connection in the foreign server and in the user mapping of the current user,
 * checks that this user may use the server, and demands a password from all but
 * superusers.  So it is called as the role that the connection is for, in a
 * restricted security context, in a transaction.
 *
 * src/allocator/worker.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "allocator/allocator.h"
#include "spanner_keys.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

/* How long making a connection may take if the server has no option for it. */
#define SK_CONNECT_TIMEOUT_S "10"

/* How long to wait for an answer; the other server may have to wait too. */
#define SK_ANSWER_TIMEOUT_MS 30000

/* dblink does not tell when an answer comes, so it is looked for. */
#define SK_MIN_DELAY_MS 1
#define SK_MAX_DELAY_MS 50

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

static int	idle_timeout = 1000;
static int	refill_target = 50;
static int	return_unused = false;
static int	reservation_commit = SYNCHRONOUS_COMMIT_REMOTE_FLUSH;

/* Pools that are filled in one transaction. */
typedef struct Batch
{
	SkRefill   *list;
	int			count;
} Batch;

/* What a request does, and where an error comes from. */
typedef enum RequestState
{
	REQUEST_HERE,				/* it is to be sent */
	REQUEST_CONNECTING,
	REQUEST_WAITING,			/* for the server's answer */
	REQUEST_FINISHED			/* refill has the result */
} RequestState;

/* A connection, and what it was made for. */
typedef struct Connection
{
	char		name[NAMEDATALEN];	/* dblink's; empty if it is not open */
	char		server[NAMEDATALEN];
	Oid			userid;			/* whose user mapping it uses */
	uint64		epoch;			/* of servers and user mappings */
	bool		is_busy;		/* a request waits for its answer */

	/* when the server may be tried again, and what was wrong with it */
	TimestampTz retry_at;
	SkPoolError error;
} Connection;

/* What is asked for an allocator.  Its pool has no other request under way. */
typedef struct Request
{
	RequestState state;
	SkRefill	refill;
	Connection *connection;		/* NULL: none yet */

	int64		count;			/* of values; 0: not yet chosen */
	bool		again;			/* to be made anew */
	bool		is_fresh;		/* the connection is of this request */
	bool		was_lost;		/* such a connection was lost already */
	TimestampTz begin;

	SkAllocatorRow row;			/* its name is empty if it is not known */
	char	   *query;			/* for "count" values */
} Request;

/* Of this process, if it is a worker. */
static SkWorkerEntry *my_entry = NULL;
static SkRefill *refills;

/* Of the worker that asks other servers.  In TopMemoryContext. */
static List *connections = NIL;
static List *requests = NIL;

/* Counts the changes after which a connection may have to be another one. */
static uint64 servers_epoch = 0;

/* Cancels a step; the worker ignores the signal by which lock_timeout does that. */
static TimeoutId time_limit;

PGDLLEXPORT void spanner_allocator_worker(Datum arg);

static bool attach(int index);
static void abandon_pools(void);
static bool leave(bool even_if_pending);
static void leave_at_exit(int code, Datum arg);
static void set_session_defaults(void);
static void note_error(SkPoolError *error, int sqlerrcode,
					   const char *message, const char *hint);
static void copy_clipped(char *target, const char *source, int size);
static bool lock_row(SkTable *table, SkRefill *refill, SkAllocatorRow *row);
static void choose_batch(SkRefill *refill, const SkAllocatorRow *row);
static bool plan_refill(SkRefill *refill, SkAllocatorRow *row);
static void reserve_batch(void *arg);
static void publish(SkRefill *list, int count);
static void reserve_and_publish(SkRefill *list, int count);
static void note_change(Datum arg, int cacheid, uint32 hashvalue);
static void cancel_step(void);
static void end_limit(void);
static void prepare_to_connect(void);
static int	connect_limit_ms(const ForeignServer *server);
static void find_dblink(const char *function, int nargs, FmgrInfo *finfo);
static Datum call_dblink(const char *function, const char *arg1,
						 const char *arg2);
static void open_connection(Connection *connection);
static bool get_result(const char *name, int64 *first, int64 *last);
static void close_connection(void *arg);
static void describe_step(void *arg);
static void note_failure(Request *request, ErrorData *error);
static void run_step(Request *request, void (*step) (void *arg));
static void disconnect(void);
static char *name_there(const SkAllocatorRow *row);
static void read_row(void *arg);
static Connection *find_connection(const Request *request);
static void send_request(void *arg);
static void ask(Request *request);
static void check_range(Request *request, int64 first, int64 last);
static void receive_values(void *arg);
static int	exchange_requests(SkRefill *refills, int count);
static long requests_delay(void);
static bool is_awaited(void);
static void begin_series(void *arg);
static bool make_series(void);
static bool fill_pools(void);
static void work_until_idle(void);
static void give_back_unused(void *arg);

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
	DefineCustomIntVariable("spanner_keys.allocator_refill_target",
							"Sets how long a batch of an allocator should last.",
							"A batch that is used up faster is doubled, one that lasts ten times as long is halved.",
							&refill_target,
							50, 1, 3600 * 1000,
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
		entry->launches = 0;
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

/* Note why values could not be reserved. */
static void
note_error(SkPoolError *error, int sqlerrcode, const char *message,
		   const char *hint)
{
	error->sqlerrcode = sqlerrcode;
	error->is_remote = false;
	copy_clipped(error->message, message, sizeof(error->message));
	copy_clipped(error->hint, hint, sizeof(error->hint));
}

/* A character is copied as a whole, or not at all. */
static void
copy_clipped(char *target, const char *source, int size)
{
	int			length = source == NULL ? 0 :
		pg_mbcliplen(source, strlen(source), size - 1);

	if (length > 0)
		memcpy(target, source, length);
	target[length] = '\0';
}

/*
 * Lock the row of a pool that this worker fills.  Otherwise sets the result, and
 * returns false.
 */
static bool
lock_row(SkTable *table, SkRefill *refill, SkAllocatorRow *row)
{
	/* the extension may have been created again since the pool asked */
	SkRowState	state = refill->key.relid != RelationGetRelid(table->rel) ? SK_ROW_GONE :
		sk_row_lock(table, refill->key.allocator_id, SK_LOCK_SKIP, row);
	bool		is_own;

	Assert(refill->key.dbid == MyDatabaseId);
	refill->result = state == SK_ROW_LOCKED ? SK_REFILL_LOCKED : SK_REFILL_FAILED;
	if (state == SK_ROW_LOCKED)
		refill->blocked_by = sk_row_locker(table, refill->key.allocator_id, &is_own);
	else if (state == SK_ROW_GONE)
		note_error(&refill->error, ERRCODE_UNDEFINED_OBJECT, "it does not exist", NULL);
	else if (my_entry->kind == SK_WORKER_REMOTE ? row->mode == SK_MODE_REMOTE :
			 sk_mode_has_pool(row->mode))
		return true;
	else
		note_error(&refill->error, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
				   psprintf("its mode is now \"%s\"", sk_mode_names[row->mode]),
				   "Repeat the statement.");
	return false;
}

/*
 * Choose the size of the batch, and when to fill the pool again.  Where pools are
 * scarce, the first batches are smaller than they should be: as many values are lost
 * at most as have been given.
 */
static void
choose_batch(SkRefill *refill, const SkAllocatorRow *row)
{
	int64		target_us = (int64) refill_target * 1000;
	int64		batch = refill->batch;
	int64		least = row->batch_size;
	int64		most = row->max_batch_size;

	if (row->mode == SK_MODE_ASYNC)
		least = most = 1;
	else if (refill->is_scarce)
		least = Min(least, Max(2 * batch, 1));
	if (refill->since_last_us >= 0 && refill->since_last_us < target_us)
		batch *= 2;
	else if (refill->since_last_us > 10 * target_us)
		batch /= 2;
	refill->batch = Min(Max(batch, least), most);
	Assert(refill->batch >= 1);

	refill->low_water_mark = 0;
	if (row->mode == SK_MODE_ASYNC_BATCH || row->mode == SK_MODE_REMOTE)
		refill->low_water_mark = row->low_water_mark < 0 ? refill->batch / 2 : row->low_water_mark;
	if (refill->is_scarce)
		refill->low_water_mark = Min(refill->low_water_mark, refill->batch / 2);
}

/* Decide which values a pool gets: fewer than a batch if no more are left. */
static bool
plan_refill(SkRefill *refill, SkAllocatorRow *row)
{
	int64		size;
	uint64		left;

	choose_batch(refill, row);
	if (row->next_value > row->max_value)
	{
		note_error(&refill->error, ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
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

		if (!lock_row(&table, refill, &row))
			continue;
		sk_row_skip_gap(&row);
		if (!plan_refill(refill, &row))
			continue;
		row.next_value = refill->range.end;
		sk_row_write(&table, &row, SK_WRITE_RESERVES);
		refill->result = SK_REFILL_DONE;
	}
	sk_table_close(&table);
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

/*
 * Reserve in a transaction, and commit it.  One that fails must not keep the others
 * from being filled.
 */
static void
reserve_and_publish(SkRefill *list, int count)
{
	Batch		batch = {list, count};
	ErrorData  *error = count == 0 ? NULL :
		sk_run_transaction(reserve_batch, &batch, "reserving values of allocators",
						   GetConfigOption("spanner_keys.allocator_synchronous_commit", false, false));

	if (error != NULL && count > 1)
	{
		for (int i = 0; i < count; i++)
			reserve_and_publish(&list[i], 1);
		return;
	}
	if (error != NULL)
	{
		list->result = SK_REFILL_FAILED;
		note_error(&list->error, error->sqlerrcode, error->message, error->hint);
	}
	publish(list, count);
}

static void
note_change(Datum arg, int cacheid, uint32 hashvalue)
{
	servers_epoch++;
}

/* Runs in a signal handler. */
static void
cancel_step(void)
{
	InterruptPending = true;
	QueryCancelPending = true;
}

/* Nothing is canceled any more. */
static void
end_limit(void)
{
	disable_timeout(time_limit, false);
	QueryCancelPending = false;
}

/* What a worker that asks other servers needs once. */
static void
prepare_to_connect(void)
{
	time_limit = RegisterTimeout(USER_TIMEOUT, cancel_step);
	CacheRegisterSyscacheCallback(FOREIGNDATAWRAPPEROID, note_change, (Datum) 0);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, note_change, (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, note_change, (Datum) 0);
	/* a former superuser needs a password */
	CacheRegisterSyscacheCallback(AUTHOID, note_change, (Datum) 0);
	setenv("PGCONNECT_TIMEOUT", SK_CONNECT_TIMEOUT_S, 0);
}

/*
 * Older releases of dblink wait within libpq, which applies connect_timeout to
 * each host.  Newer ones wait outside, where nobody applies it.
 */
static int
connect_limit_ms(const ForeignServer *server)
{
	const char *seconds = SK_CONNECT_TIMEOUT_S;
	int			hosts = 1;
	ListCell   *lc;

	foreach(lc, server->options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, "connect_timeout") == 0)
			seconds = defGetString(option);
		else if (strcmp(option->defname, "host") == 0)
			for (const char *c = defGetString(option); *c != '\0'; c++)
				hosts += *c == ',';
	}
	/* 0 is no limit; the least that libpq accepts is two seconds */
	if (atoi(seconds) <= 0)
		return INT_MAX;
	return (int) Min(Max(atoi(seconds), 2) * (int64) hosts * 1000 + 500, INT_MAX);
}

/*
 * Find a function of dblink, with that name and arguments of type text.  It is
 * a member of the extension, whatever its schema is called; and only a
 * superuser can have made a function in C.
 */
static void
find_dblink(const char *function, int nargs, FmgrInfo *finfo)
{
	static const Oid types[] = {TEXTOID, TEXTOID};
	Oid			extension = get_extension_oid("dblink", true);
	CatCList   *list;
	Oid			found = InvalidOid;

	Assert(nargs <= lengthof(types));
	if (!OidIsValid(extension))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" does not exist", "dblink"),
				 errhint("Create the extension \"%s\" in this database.",
						 "dblink")));
	list = SearchSysCacheList2(PROCNAMEARGSNSP, CStringGetDatum(function),
							   PointerGetDatum(buildoidvector(types, nargs)));
	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_proc candidate = (Form_pg_proc) GETSTRUCT(&list->members[i]->tuple);

		if (candidate->prolang == ClanguageId &&
			getExtensionOfObject(ProcedureRelationId, candidate->oid) == extension)
			found = candidate->oid;
	}
	ReleaseCatCacheList(list);
	if (!OidIsValid(found))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("extension \"%s\" has no function \"%s\"",
						"dblink", function),
				 errhint("Drop the extension, and create it anew.")));
	fmgr_info(found, finfo);
}

/* Call a function of dblink.  "arg2" may be missing. */
static Datum
call_dblink(const char *function, const char *arg1, const char *arg2)
{
	FmgrInfo	finfo;

	find_dblink(function, arg2 != NULL ? 2 : 1, &finfo);
	if (arg2 == NULL)
		return FunctionCall1(&finfo, CStringGetTextDatum(arg1));
	return FunctionCall2(&finfo, CStringGetTextDatum(arg1), CStringGetTextDatum(arg2));
}

/*
 * Connect to the foreign server with the user mapping of the role.
 *
 * The names of dblink's connections are never used again, so it does no harm
 * if it could not be asked to close one.
 */
static void
open_connection(Connection *connection)
{
	static uint64 number = 0;
	const char *server = connection->server;
	Oid			userid = connection->userid;
	char		name[NAMEDATALEN];
	ForeignServer *foreign_server;
	SkOwnerScope scope;

	Assert(IsTransactionState());
	/* dblink would keep the one before, under a name that we forget */
	Assert(connection->name[0] == '\0');
	/* dblink would take another text for a connection string */
	foreign_server = GetForeignServerByName(server, false);

	/*
	 * dblink lets superusers connect without a password.  The owner of the
	 * server decides where to, and as whom: they can make a user mapping for
	 * anybody.  And who may write into spanner.allocator, like the owner of
	 * the database, can make a superuser the owner of an allocator.  So they
	 * could connect with the rights of this server's account.
	 */
	if (superuser_arg(userid) && !superuser_arg(foreign_server->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("server \"%s\" does not belong to a superuser", server),
				 errdetail("The allocator belongs to a superuser, who would connect without a password."),
				 errhint("Give the allocator, or the server, to another role.")));
	snprintf(name, NAMEDATALEN, "spanner_keys " UINT64_FORMAT, ++number);

	sk_role_enter(&scope, userid);
	enable_timeout_after(time_limit, connect_limit_ms(foreign_server));
	(void) call_dblink("dblink_connect", name, server);
	end_limit();
	sk_owner_exit(&scope);
	strlcpy(connection->name, name, NAMEDATALEN);
}

/*
 * The first row of a result; false if there is none.  Of two NULLs, 0 and -1.
 *
 * The function is called as the executor would, and not by its name: the owner of
 * its schema could give the name to another schema.
 */
static bool
get_result(const char *name, int64 *first, int64 *last)
{
	ExprContext *econtext = CreateStandaloneExprContext();
	TupleDesc	desc = CreateTemplateTupleDesc(2);
	ReturnSetInfo rsinfo = {.type = T_ReturnSetInfo,.econtext = econtext,
	.allowedModes = SFRM_Materialize,.expectedDesc = desc};

	LOCAL_FCINFO(fcinfo, 1);
	FmgrInfo	finfo;
	TupleTableSlot *row;
	bool		found;

	TupleDescInitEntry(desc, 1, "first_value", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "last_value", INT8OID, -1, 0);
	sk_finish_tupdesc(desc);
	find_dblink("dblink_get_result", 1, &finfo);
	InitFunctionCallInfoData(*fcinfo, &finfo, 1, InvalidOid, NULL, (Node *) &rsinfo);
	fcinfo->args[0].value = CStringGetTextDatum(name);
	fcinfo->args[0].isnull = false;
	(void) FunctionCallInvoke(fcinfo);
	FreeExprContext(econtext, true);
	/* a server may say that it has run a command */
	if (rsinfo.setResult == NULL || rsinfo.setDesc->natts != desc->natts)
		return false;
	row = MakeSingleTupleTableSlot(rsinfo.setDesc, &TTSOpsMinimalTuple);
	found = tuplestore_gettupleslot(rsinfo.setResult, true, false, row);
	if (found)
	{
		slot_getallattrs(row);
		found = row->tts_isnull[0] == row->tts_isnull[1];
		*first = row->tts_isnull[0] ? 0 : DatumGetInt64(row->tts_values[0]);
		*last = row->tts_isnull[1] ? -1 : DatumGetInt64(row->tts_values[1]);
	}
	ExecDropSingleTupleTableSlot(row);
	tuplestore_end(rsinfo.setResult);
	return found;
}

/* Close a connection that may be open.  It counts as closed even if that fails. */
static void
close_connection(void *arg)
{
	Connection *connection = arg;
	char		name[NAMEDATALEN];

	connection->is_busy = false;
	if (connection->name[0] == '\0')
		return;
	strlcpy(name, connection->name, NAMEDATALEN);
	connection->name[0] = '\0';
	(void) call_dblink("dblink_disconnect", name, NULL);
}

static void
describe_step(void *arg)
{
	Request    *request = arg;

	if (request->row.name[0] != '\0')
		errcontext("refill of allocator \"%s\" from server \"%s\"",
				   request->row.name, request->row.server);
}

/* Make an error the result, or decide to ask again. */
static void
note_failure(Request *request, ErrorData *error)
{
	SkPoolError *result = &request->refill.error;
	const char *message = error->message;
	const char *hint = error->hint;
	int			code = error->sqlerrcode;
	int			category = ERRCODE_TO_CATEGORY(code);
	int64		least = Max(request->refill.wanted, 1);

	request->refill.result = SK_REFILL_FAILED;
	if (request->state == REQUEST_CONNECTING)
	{
		if (code == ERRCODE_QUERY_CANCELED)
		{
			code = ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION;
			message = "timeout expired";
		}
		else if (category == ERRCODE_CONNECTION_EXCEPTION && error->detail != NULL)
			message = error->detail;
		if (code == ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED)
			hint = "Put a password into the user mapping of the allocator's owner, and have that server ask for it.";
		else if (hint == NULL)
			hint = "Check the options of the server, and the user mapping of the allocator's owner.";
		message = psprintf("could not connect to server \"%s\": %s",
						   request->row.server, message);
	}
	else if (request->state == REQUEST_WAITING)
	{
		if (!request->was_lost &&
			(category == ERRCODE_CONNECTION_EXCEPTION ||
			 category == ERRCODE_OPERATOR_INTERVENTION))
		{
			/* an older connection may have been broken for a long time */
			request->again = true;
			request->was_lost = request->is_fresh;
		}
		else if (code == ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED &&
				 request->count > least)
		{
			/* there may be enough for those who wait */
			request->count = least;
			request->again = true;
		}
		message = psprintf("server \"%s\": %s", request->row.server, message);
	}
	/* libpq adds lines with advice that does not belong into a message */
	note_error(result, code, pnstrdup(message, strcspn(message, "\n")), hint);
	result->is_remote = request->state != REQUEST_HERE;

	if (request->state == REQUEST_CONNECTING && request->connection != NULL)
	{
		TimestampTz now = GetCurrentTimestamp();

		request->connection->retry_at = now + (now - request->begin);
		request->connection->error = *result;
	}
	request->state = REQUEST_FINISHED;
}

/* Run a step in a transaction.  An error becomes the result. */
static void
run_step(Request *request, void (*step) (void *arg))
{
	static const char *const activity = "getting values of allocators from other servers";
	ErrorContextCallback callback;
	ErrorData  *error;

	Assert(!IsTransactionState());
	request->again = false;
	callback.callback = describe_step;
	callback.arg = request;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	/* nothing but a lock on a row is written */
	error = sk_run_transaction(step, request, activity, "off");
	/* of a connection that has failed */
	end_limit();
	if (error != NULL)
	{
		note_failure(request, error);
		if (request->connection != NULL)
			(void) sk_run_transaction(close_connection, request->connection, activity, "off");
		request->connection = NULL;
	}
	error_context_stack = callback.previous;
}

/* Close the connections over which nothing is asked. */
static void
disconnect(void)
{
	ListCell   *lc;

	foreach(lc, connections)
	{
		Connection *connection = lfirst(lc);

		if (connection->is_busy)
			continue;
		(void) sk_run_transaction(close_connection, connection,
								  "closing connections to other servers", "off");
		connections = foreach_delete_current(connections, lc);
		pfree(connection);
	}
}

/*
 * The name of the allocator there.  One of the same name may be the one that
 * asks, which would wait for itself: of that the name is NULL.
 */
static char *
name_there(const SkAllocatorRow *row)
{
	const char *name = row->remote_name[0] != '\0' ? row->remote_name : row->name;
	char	   *result = psprintf("%s::pg_catalog.text", quote_literal_cstr(name));
	int64		start_us = PgStartTime +
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;

	if (strcmp(name, row->name) == 0)
		result = psprintf("CASE WHEN pg_catalog.extract('epoch', pg_catalog.pg_postmaster_start_time())"
						  " OPERATOR(pg_catalog.<>) %lld.%06d"
						  " OR pg_catalog.current_database() OPERATOR(pg_catalog.<>) %s THEN %s END",
						  (long long) (start_us / USECS_PER_SEC),
						  (int) (start_us % USECS_PER_SEC),
						  quote_literal_cstr(get_database_name(MyDatabaseId)), result);
	return result;
}

/*
 * Read what is to be asked: for a block of the allocator there, or of the series
 * of the same name.  The row is locked for a moment, so that whoever
 * changes it comes afterwards; the change has the answer dropped.
 */
static void
read_row(void *arg)
{
	Request    *request = arg;
	SkAllocatorRow *row = &request->row;
	const char *series = "";
	char	   *query;
	SkTable		table;

	Assert(request->refill.key.dbid == MyDatabaseId && request->count >= 0);
	request->state = REQUEST_HERE;
	sk_table_open(&table, RowExclusiveLock);
	if (!lock_row(&table, &request->refill, row))
	{
		row->name[0] = '\0';
		request->state = REQUEST_FINISHED;
	}
	else
	{
		if (request->count == 0)
		{
			choose_batch(&request->refill, row);
			request->count = Max(request->refill.batch, request->refill.wanted);
		}
		if (row->series != NULL)
			series = psprintf(", VARIADIC %s::pg_catalog.text[]",
							  quote_literal_cstr(OidOutputFunctionCall(F_ARRAY_OUT,
																	   PointerGetDatum(row->series))));
		query = psprintf("SELECT b.first_value, b.last_value"
						 " FROM spanner.reserve_block(%s, %lld::pg_catalog.int8%s) AS b",
						 name_there(row), (long long) request->count, series);
		if (request->query != NULL)
			pfree(request->query);
		request->query = MemoryContextStrdup(TopMemoryContext, query);
	}
	sk_table_close(&table);
}

/*
 * A connection for the request: an open one, else the one that could not be
 * opened last, else a new one.  As many are made as there are requests at a time,
 * not as there are allocators and series.
 */
static Connection *
find_connection(const Request *request)
{
	const SkAllocatorRow *row = &request->row;
	Connection *result = NULL;
	MemoryContext old;
	ListCell   *lc;

	foreach(lc, connections)
	{
		Connection *other = lfirst(lc);

		if (other->is_busy)
			continue;
		if (other->epoch != servers_epoch)
		{
			/* it may lead elsewhere now, or have become forbidden */
			connections = foreach_delete_current(connections, lc);
			close_connection(other);
			pfree(other);
		}
		else if (other->userid == row->owner_role && strcmp(other->server, row->server) == 0 &&
				 (result == NULL ||
				  (result->name[0] == '\0' &&
				   (other->name[0] != '\0' || other->retry_at > result->retry_at))))
			result = other;
	}
	if (result != NULL)
		return result;
	old = MemoryContextSwitchTo(TopMemoryContext);
	result = palloc0(sizeof(Connection));
	connections = lappend(connections, result);
	MemoryContextSwitchTo(old);
	strlcpy(result->server, row->server, NAMEDATALEN);
	result->userid = row->owner_role;
	result->epoch = servers_epoch;
	return result;
}

/*
 * Send the query, which becomes a transaction of its own there.
 *
 * Waiting for a server that does not react holds up the others.  So it is left
 * alone for as long as the last attempt took.
 */
static void
send_request(void *arg)
{
	Request    *request = arg;
	Connection *connection;

	Assert(request->state == REQUEST_HERE && request->count >= 1);
	Assert(request->refill.result == SK_REFILL_FAILED);
	request->state = REQUEST_CONNECTING;
	request->begin = GetCurrentTimestamp();
	request->connection = connection = find_connection(request);
	request->is_fresh = connection->name[0] == '\0';
	if (request->is_fresh && connection->retry_at > request->begin)
	{
		request->refill.error = connection->error;
		request->state = REQUEST_FINISHED;
		return;
	}
	if (request->is_fresh)
		open_connection(connection);
	request->state = REQUEST_WAITING;
	if (DatumGetInt32(call_dblink("dblink_send_query", connection->name, request->query)) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("connection to server \"%s\" is broken", connection->server),
				 errhint("Look at the log of that server.")));
	request->begin = GetCurrentTimestamp();
	connection->is_busy = true;
}

static void
ask(Request *request)
{
	do
	{
		run_step(request, read_row);
		if (request->state == REQUEST_HERE)
			run_step(request, send_request);
	} while (request->again);
	Assert(request->state == REQUEST_WAITING || request->state == REQUEST_FINISHED);
}

static void
check_range(Request *request, int64 first, int64 last)
{
	/* reserve_block() has been asked for NULL, and is strict: name_there() */
	if (first == 0 && last == -1 &&
		strcmp(request->row.remote_name, request->row.name) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("it is this database, whose allocator \"%s\" would wait for itself",
						request->row.name),
				 errhint("Change the server, or the remote name, with spanner.alter_allocator().")));
	if (first > last || (uint64) last - (uint64) first != request->count - 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("asked for %lld values, it gave those from %lld to %lld",
						(long long) request->count,
						(long long) first, (long long) last),
				 errhint("Check that %s on that server is the function of this extension.",
						 "spanner.reserve_block()")));
	if (first < request->row.min_value || last > request->row.max_value)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("values from %lld to %lld are out of bounds here (%lld..%lld)",
						(long long) first, (long long) last,
						(long long) request->row.min_value,
						(long long) request->row.max_value),
				 errhint("Change the bounds with spanner.alter_allocator().")));
}

/* Get the two numbers that the query returns, if they are there. */
static void
receive_values(void *arg)
{
	Request    *request = arg;
	Connection *connection = request->connection;
	int64		first;
	int64		last;
	int64		nothing;

	Assert(connection->is_busy && connection->name[0] != '\0');
	Assert(request->state == REQUEST_WAITING);
	if (DatumGetInt32(call_dblink("dblink_is_busy", connection->name, NULL)) != 0)
	{
		if (TimestampDifferenceExceeds(request->begin, GetCurrentTimestamp(),
									   SK_ANSWER_TIMEOUT_MS))
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("no answer within %d ms", SK_ANSWER_TIMEOUT_MS),
					 errhint("Look for what keeps that server, or the network, from answering.")));
		return;
	}
	if (!get_result(connection->name, &first, &last))
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("no answer came from server \"%s\"", connection->server),
				 errhint("Look at the log of that server.")));

	/*
	 * The numbers come when the transaction there is committed, so this call,
	 * which finds that there are no more results, does not wait for long.
	 */
	(void) get_result(connection->name, &nothing, &nothing);
	connection->is_busy = false;
	check_range(request, first, last);
	Assert(last < PG_INT64_MAX);
	request->refill.range.first = first;
	request->refill.range.end = last + 1;
	request->refill.limit = request->row.max_value;
	request->refill.result = SK_REFILL_DONE;
	request->state = REQUEST_FINISHED;
}

/*
 * Ask for what pools need, and look for answers.
 *
 * Puts refills that are done or have failed, of this or of earlier calls,
 * into "refills", which has room for SK_MAX_REFILLS, and returns how many
 * these are.
 */
static int
exchange_requests(SkRefill *refills, int count)
{
	int			finished = 0;
	ListCell   *lc;

	Assert(count >= 0 && count <= SK_MAX_REFILLS);
	for (int i = 0; i < count; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		Request    *request = palloc0(sizeof(Request));

		requests = lappend(requests, request);
		MemoryContextSwitchTo(old);
		request->refill = refills[i];
		ask(request);
	}

	foreach(lc, requests)
	{
		Request    *request = lfirst(lc);

		if (request->state == REQUEST_WAITING)
		{
			run_step(request, receive_values);
			if (request->again)
				ask(request);
		}
		/* the others can wait for the next call */
		if (request->state == REQUEST_FINISHED && finished < SK_MAX_REFILLS)
		{
			refills[finished++] = request->refill;
			requests = foreach_delete_current(requests, lc);
			if (request->query != NULL)
				pfree(request->query);
			pfree(request);
		}
	}
	return finished;
}

/* After how many milliseconds to look for answers again. */
static long
requests_delay(void)
{
	TimestampTz now = GetCurrentTimestamp();
	long		delay = SK_MAX_DELAY_MS;
	ListCell   *lc;

	foreach(lc, requests)
	{
		Request    *request = lfirst(lc);
		long		waited = TimestampDifferenceMilliseconds(request->begin, now);

		delay = Min(delay, Max(waited / 4, SK_MIN_DELAY_MS));
	}
	return delay;
}

/* Does a session wait for what is asked? */
static bool
is_awaited(void)
{
	ListCell   *lc;

	foreach(lc, requests)
		if (((Request *) lfirst(lc))->refill.pool->wanted > 0)
		return true;
	return false;
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
	enable_timeout_after(time_limit, SK_SERIES_LIMIT_MS);
	(void) sk_run_transaction(begin_series, &request, "beginning a series of an allocator",
							  "local");
	end_limit();
	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	my_entry->parent_id = 0;
	LWLockRelease(state->lock);
	return true;
}

/*
 * Fill the pools that have to be filled now.  Returns false if there was nothing to do:
 * an answer that nobody waits for does not keep the worker.
 */
static bool
fill_pools(void)
{
	MemoryContext context;
	int			count;

	Assert(my_entry->dbid == MyDatabaseId);
	if (make_series())
		SetLatch(MyLatch);
	StartTransactionCommand();
	count = sk_pool_collect(my_entry->kind, refills);
	CommitTransactionCommand();

	context = AllocSetContextCreate(TopMemoryContext, "spanner_keys refill",
									ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	if (my_entry->kind == SK_WORKER_LOCAL)
		reserve_and_publish(refills, count);
	else
	{
		count = exchange_requests(refills, count);
		publish(refills, count);
	}
	MemoryContextSwitchTo(TopMemoryContext);
	MemoryContextDelete(context);
	/* sessions may have asked for more meanwhile */
	if (count > 0)
		SetLatch(MyLatch);
	pgstat_report_stat(false);
	return requests != NIL ? is_awaited() : count > 0;
}

static void
work_until_idle(void)
{
	SkSharedState *state = sk_shared_state();
	uint32		main_event = WaitEventExtensionNew("SpannerKeysAllocatorMain");
	uint32		remote_event = WaitEventExtensionNew("SpannerKeysAllocatorRemote");
	TimestampTz idle_since = 0;

	for (;;)
	{
		bool		is_busy = fill_pools();
		TimestampTz now = GetCurrentTimestamp();
		long		timeout = idle_timeout + 1;
		bool		is_blocked = requests == NIL && sk_pool_pending(MyDatabaseId, my_entry->kind) > 0;

		if (is_busy || is_blocked)
			idle_since = 0;
		else if (idle_since == 0)
			idle_since = now;
		else if (TimestampDifferenceExceeds(idle_since, now, idle_timeout))
			return;
		if (is_blocked)
			timeout = SK_LOCKED_MS;
		if (requests != NIL)
			timeout = requests_delay();

		/* show what the worker does */
		if (my_entry->idle_since != idle_since ||
			my_entry->blocked != is_blocked)
		{
			LWLockAcquire(state->lock, LW_EXCLUSIVE);
			my_entry->idle_since = idle_since;
			my_entry->blocked = is_blocked;
			LWLockRelease(state->lock);
		}
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 timeout,
						 requests != NIL ? remote_event : main_event);
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
			sk_row_lock(&table, pool.key.allocator_id, SK_LOCK_SKIP, &row) == SK_ROW_FOUND &&
			sk_pool_withdraw(&pool.key, &row.next_value) > 0)
			sk_row_write(&table, &row, SK_WRITE_RESERVES);
	sk_table_close(&table);
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

	/* whoever has started it may have shared memory of another layout */
	if (strcmp(MyBgworkerEntry->bgw_extra, SK_LAYOUT) != 0 ||
		!attach(DatumGetInt32(arg)))
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
	if (my_entry->kind == SK_WORKER_REMOTE)
		prepare_to_connect();

	refills = MemoryContextAlloc(TopMemoryContext,
								 SK_MAX_REFILLS * sizeof(SkRefill));
	do
	{
		work_until_idle();
		if (my_entry->kind == SK_WORKER_REMOTE)
			disconnect();
		/* to lose that does no harm, to wait for a standby could last */
		else if (return_unused)
			(void) sk_run_transaction(give_back_unused, NULL,
									  "giving back values of allocators", "local");
	} while (!leave(false));
	pgstat_report_stat(true);
}
