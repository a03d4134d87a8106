/*-------------------------------------------------------------------------
 *
 * remote_connection.c
 *	  Connections to other servers, made by contrib's dblink.
 *
 * dblink finds the options of the connection in the foreign server and in the
 * user mapping of the current user, checks that this user may use the server,
 * and demands a password from all but superusers.  So everything here runs as
 * the role that the connection is for, in a restricted security context.
 *
 * All functions need a transaction, and raise an error if they fail.
 *
 * src/allocator/remote_connection.c
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
#include "commands/defrem.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/inval.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/tuplestore.h"

#include "allocator/remote.h"
#include "compat.h"

/* How long making a connection may take if the server has no option for it. */
#define SK_CONNECT_TIMEOUT_S "10"

/* The former user. */
typedef struct Role
{
	Oid			userid;
	int			sec_context;
} Role;

/* Counts the changes after which a connection may have to be another one. */
static uint64 servers_epoch = 0;

static TimeoutId time_limit;

static void note_change(Datum arg, int cacheid, uint32 hashvalue);
static void cancel_step(void);
static void prepare_process(void);
static void check_server(const ForeignServer *server, Oid userid);
static void become(Oid userid, Role *former);
static int	connect_limit_ms(const char *server);
static void find_dblink(const char *function, int nargs, FmgrInfo *finfo);
static Datum call_dblink(const char *function, const char *arg1,
						 const char *arg2);
static void leave(const Role *former);
static bool get_result(const char *name, int64 *first, int64 *last);

/*
 * sk_connection_is_for
 *		Was it made, or tried, for that server and role as they are now?
 */
bool
sk_connection_is_for(const SkConnection *connection, const char *server,
					 Oid userid)
{
	return strcmp(connection->server, server) == 0 &&
		connection->userid == userid && connection->epoch == servers_epoch;
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

/*
 * sk_limit_time
 *		Have what a worker does canceled after a time, until sk_end_limit().
 *
 * The worker ignores the signal by which lock_timeout does that.
 */
void
sk_limit_time(int limit_ms)
{
	static bool done = false;

	if (!done)
		time_limit = RegisterTimeout(USER_TIMEOUT, cancel_step);
	done = true;
	enable_timeout_after(time_limit, limit_ms);
}

/*
 * sk_end_limit
 *		Nothing is canceled any more.
 */
void
sk_end_limit(void)
{
	disable_timeout(time_limit, false);
	QueryCancelPending = false;
}

/* What this process needs once. */
static void
prepare_process(void)
{
	static bool done = false;

	if (done)
		return;
	CacheRegisterSyscacheCallback(FOREIGNDATAWRAPPEROID, note_change, (Datum) 0);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, note_change, (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, note_change, (Datum) 0);
	/* a former superuser needs a password */
	CacheRegisterSyscacheCallback(AUTHOID, note_change, (Datum) 0);
	setenv("PGCONNECT_TIMEOUT", SK_CONNECT_TIMEOUT_S, 0);
	done = true;
}

/*
 * dblink lets superusers connect without a password.  The owner of the server
 * decides where to, and as whom: they can make a user mapping for anybody.  And
 * who may write into spanner.allocator, like the owner of the database, can
 * make a superuser the owner of an allocator.  So they could connect with the
 * rights of this server's account.
 */
static void
check_server(const ForeignServer *server, Oid userid)
{
	if (superuser_arg(userid) && !superuser_arg(server->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("server \"%s\" does not belong to a superuser",
						server->servername),
				 errdetail("The allocator belongs to a superuser, who would connect without a password."),
				 errhint("Give the allocator, or the server, to another role.")));
}

/* Until leave(). */
static void
become(Oid userid, Role *former)
{
	GetUserIdAndSecContext(&former->userid, &former->sec_context);
	SetUserIdAndSecContext(userid,
						   former->sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
}

/*
 * Older releases of dblink wait within libpq, which applies connect_timeout to
 * each host.  Newer ones wait outside, where nobody applies it.
 */
static int
connect_limit_ms(const char *server)
{
	ForeignServer *foreign_server = GetForeignServerByName(server, false);
	const char *seconds = SK_CONNECT_TIMEOUT_S;
	int			hosts = 1;
	int64		limit;
	ListCell   *lc;

	foreach(lc, foreign_server->options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, "connect_timeout") == 0)
			seconds = defGetString(option);
		else if (strcmp(option->defname, "host") == 0)
			for (const char *c = defGetString(option); *c != '\0'; c++)
				hosts += *c == ',';
	}
	/* the least that libpq accepts is two seconds; 0 is no limit */
	limit = Max(atoi(seconds), 2) * (int64) hosts * 1000;
	if (atoi(seconds) <= 0)
		limit = INT_MAX;
	return (int) Min(limit + 500, INT_MAX);
}

/*
 * Find a function of dblink, with that name and arguments of type text.  It is
 * a member of the extension, whatever its schema is called; and only a
 * superuser can have made a function in C.
 */
static void
find_dblink(const char *function, int nargs, FmgrInfo *finfo)
{
	Oid			extension = get_extension_oid("dblink", true);
	CatCList   *list;
	Oid			found = InvalidOid;

	if (!OidIsValid(extension))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" does not exist", "dblink"),
				 errhint("Create the extension \"%s\" in this database.",
						 "dblink")));
	list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(function));
	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_proc candidate = (Form_pg_proc) GETSTRUCT(&list->members[i]->tuple);
		bool		fits = candidate->prolang == ClanguageId && candidate->pronargs == nargs;

		for (int j = 0; fits && j < nargs; j++)
			fits = candidate->proargtypes.values[j] == TEXTOID;
		if (fits && getExtensionOfObject(ProcedureRelationId, candidate->oid) == extension)
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

static void
leave(const Role *former)
{
	SetUserIdAndSecContext(former->userid, former->sec_context);
}

/*
 * sk_connection_open
 *		Connect to a foreign server with the user mapping of a role.
 *
 * The names of dblink's connections are never used again, so it does no harm
 * if it could not be asked to close one.
 */
void
sk_connection_open(SkConnection *connection, const char *server, Oid userid)
{
	static uint64 number = 0;
	char		name[NAMEDATALEN];
	Role		former;

	Assert(IsTransactionState());
	/* dblink would keep the one before, under a name that we forget */
	Assert(connection->name[0] == '\0');
	prepare_process();
	/* dblink would take another text for a connection string */
	check_server(GetForeignServerByName(server, false), userid);
	strlcpy(connection->server, server, NAMEDATALEN);
	connection->userid = userid;
	connection->epoch = servers_epoch;
	snprintf(name, NAMEDATALEN, "spanner_keys " UINT64_FORMAT, ++number);

	become(userid, &former);
	sk_limit_time(connect_limit_ms(server));
	PG_TRY();
	{
		(void) call_dblink("dblink_connect", name, server);
	}
	PG_FINALLY();
	{
		sk_end_limit();
	}
	PG_END_TRY();
	leave(&former);
	strlcpy(connection->name, name, NAMEDATALEN);
}

/*
 * sk_connection_send
 *		Send a query, which becomes a transaction of its own there.
 */
void
sk_connection_send(SkConnection *connection, const char *query)
{
	Role		former;

	Assert(connection->name[0] != '\0');
	become(connection->userid, &former);
	if (DatumGetInt32(call_dblink("dblink_send_query", connection->name, query)) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("connection to server \"%s\" is broken",
						connection->server),
				 errhint("Look at the log of that server.")));
	leave(&former);
}

/* The first row of a result; false if there is none.  Of two NULLs, 0 and -1. */
static bool
get_result(const char *name, int64 *first, int64 *last)
{
	LOCAL_FCINFO(fcinfo, 1);
	ReturnSetInfo result = {T_ReturnSetInfo};
	TupleDesc	tupdesc = CreateTemplateTupleDesc(2);
	FmgrInfo	finfo;
	TupleTableSlot *slot;
	bool		found = false;

	TupleDescInitEntry(tupdesc, 1, "first_value", INT8OID, -1, 0);
	TupleDescInitEntry(tupdesc, 2, "last_value", INT8OID, -1, 0);
	sk_finish_tupdesc(tupdesc);
	result.econtext = CreateStandaloneExprContext();
	result.expectedDesc = tupdesc;
	result.allowedModes = SFRM_Materialize;
	find_dblink("dblink_get_result", 1, &finfo);
	InitFunctionCallInfoData(*fcinfo, &finfo, 1, InvalidOid, NULL, (Node *) &result);
	fcinfo->args[0].value = CStringGetTextDatum(name);
	fcinfo->args[0].isnull = false;
	(void) FunctionCallInvoke(fcinfo);

	if (result.setResult != NULL)
	{
		slot = MakeSingleTupleTableSlot(result.setDesc, &TTSOpsMinimalTuple);
		if (tuplestore_gettupleslot(result.setResult, true, false, slot))
		{
			bool		isnull[2];

			Assert(TupleDescAttr(result.setDesc, 0)->atttypid == INT8OID &&
				   TupleDescAttr(result.setDesc, 1)->atttypid == INT8OID);
			*first = DatumGetInt64(slot_getattr(slot, 1, &isnull[0]));
			*last = DatumGetInt64(slot_getattr(slot, 2, &isnull[1]));
			if (isnull[0] && isnull[1])
			{
				*first = 0;
				*last = -1;
			}
			found = isnull[0] == isnull[1];
		}
		ExecDropSingleTupleTableSlot(slot);
		tuplestore_end(result.setResult);
	}
	FreeExprContext(result.econtext, true);
	return found;
}

/*
 * sk_connection_receive
 *		Get the two numbers that a query returns.
 *
 * Returns false if they are not there yet.  They come when the transaction is
 * committed, so the last call, which finds that there are no more results,
 * does not wait for long.
 */
bool
sk_connection_receive(SkConnection *connection, int64 *first, int64 *last)
{
	int64		nothing;
	Role		former;
	bool		done;

	Assert(connection->name[0] != '\0');
	become(connection->userid, &former);
	done = DatumGetInt32(call_dblink("dblink_is_busy", connection->name, NULL)) == 0;
	if (done)
	{
		if (!get_result(connection->name, first, last))
			ereport(ERROR,
					(errcode(ERRCODE_CONNECTION_FAILURE),
					 errmsg("no answer came from server \"%s\"",
							connection->server),
					 errhint("Look at the log of that server.")));
		(void) get_result(connection->name, &nothing, &nothing);
	}
	leave(&former);
	return done;
}

/*
 * sk_connection_close
 *		Close a connection.  It counts as closed even if that fails.
 */
void
sk_connection_close(SkConnection *connection)
{
	char		name[NAMEDATALEN];
	Role		former;

	Assert(connection->name[0] != '\0');
	strlcpy(name, connection->name, NAMEDATALEN);
	connection->name[0] = '\0';
	become(connection->userid, &former);
	(void) call_dblink("dblink_disconnect", name, NULL);
	leave(&former);
}
