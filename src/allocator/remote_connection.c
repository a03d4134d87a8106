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

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/syscache.h"
#include "utils/timeout.h"

#include "allocator/allocator_table.h"
#include "allocator/remote_connection.h"

/* How long making a connection may take if the server has no option for it. */
#define SK_CONNECT_TIMEOUT_S "10"

static SkStatement find_dblink = {
	"SELECT n.nspname FROM pg_catalog.pg_extension e"
	" JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
	" WHERE e.extname OPERATOR(pg_catalog.=) 'dblink'::pg_catalog.name",
	SPI_OK_SELECT, 0
};

/* Counts the changes after which a connection may have to be another one. */
static uint64 servers_epoch = 0;

static TimeoutId connect_timeout;

static void check_server(const ForeignServer *server, Oid userid);
static void become(Oid userid, SkTableScope *scope);
static uint64 run_dblink(const char *command, const char *arg1, const char *arg2);
static int	connect_limit_ms(const char *server);
static void prepare_process(void);
static void note_change(Datum arg, int cacheid, uint32 hashvalue);
static void cancel_connect(void);

/*
 * sk_connection_is_open
 *		Is there a connection, as far as is known?
 */
bool
sk_connection_is_open(const SkConnection *connection)
{
	return connection->name[0] != '\0';
}

/*
 * sk_connection_is_for
 *		Can it be used for that server and role, as they are now?
 */
bool
sk_connection_is_for(const SkConnection *connection, const char *server,
					 Oid userid)
{
	return sk_connection_is_open(connection) &&
		strcmp(connection->server, server) == 0 &&
		connection->userid == userid && !sk_connection_is_stale(connection);
}

/*
 * sk_connection_is_stale
 *		Have servers or user mappings changed since it was made, or tried?
 */
bool
sk_connection_is_stale(const SkConnection *connection)
{
	return connection->epoch != servers_epoch;
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
	SkTableScope scope;

	prepare_process();
	/* dblink would take another text for a connection string */
	check_server(GetForeignServerByName(server, false), userid);
	strlcpy(connection->server, server, NAMEDATALEN);
	connection->userid = userid;
	connection->epoch = servers_epoch;
	snprintf(name, NAMEDATALEN, "spanner_keys " UINT64_FORMAT, ++number);

	become(userid, &scope);
	enable_timeout_after(connect_timeout, connect_limit_ms(server));
	PG_TRY();
	{
		(void) run_dblink("SELECT %s.dblink_connect($1, $2)", name, server);
	}
	PG_FINALLY();
	{
		disable_timeout(connect_timeout, false);
		QueryCancelPending = false;
	}
	PG_END_TRY();
	sk_table_leave(&scope);
	strlcpy(connection->name, name, NAMEDATALEN);
}

/*
 * sk_connection_send
 *		Send a query, which becomes a transaction of its own there.
 */
void
sk_connection_send(SkConnection *connection, const char *query)
{
	SkTableScope scope;
	bool		isnull;

	become(connection->userid, &scope);
	if (run_dblink("SELECT %s.dblink_send_query($1, $2)",
				   connection->name, query) != 1 ||
		DatumGetInt32(sk_table_datum(0, 1, &isnull)) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("connection to server \"%s\" is broken",
						connection->server),
				 errhint("Look at the log of that server.")));
	sk_table_leave(&scope);
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
	static const char *const get_result =
	"SELECT r.first_value, r.last_value FROM %s.dblink_get_result($1)"
	" AS r(first_value pg_catalog.int8, last_value pg_catalog.int8)"
	" WHERE r.first_value IS NOT NULL AND r.last_value IS NOT NULL";
	SkTableScope scope;
	bool		isnull;
	bool		done;

	become(connection->userid, &scope);
	done = run_dblink("SELECT %s.dblink_is_busy($1)", connection->name, NULL) == 1 &&
		DatumGetInt32(sk_table_datum(0, 1, &isnull)) == 0;
	if (done)
	{
		if (run_dblink(get_result, connection->name, NULL) != 1)
			ereport(ERROR,
					(errcode(ERRCODE_CONNECTION_FAILURE),
					 errmsg("no answer came from server \"%s\"",
							connection->server),
					 errhint("Look at the log of that server.")));
		*first = sk_table_int64(0, 1);
		*last = sk_table_int64(0, 2);
		(void) run_dblink(get_result, connection->name, NULL);
	}
	sk_table_leave(&scope);
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
	SkTableScope scope;

	strlcpy(name, connection->name, NAMEDATALEN);
	connection->name[0] = '\0';
	become(connection->userid, &scope);
	(void) run_dblink("SELECT %s.dblink_disconnect($1)", name, NULL);
	sk_table_leave(&scope);
}

/*
 * dblink lets superusers connect without a password.  The owner of the server
 * says where to, and as whom: he can make a user mapping for anybody.  And who
 * may write into spanner.allocator, as the owner of the database, can make a
 * superuser the owner of an allocator.  So another's server would be connected
 * to with the rights of this server's account.
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

/* Until sk_table_leave(). */
static void
become(Oid userid, SkTableScope *scope)
{
	GetUserIdAndSecContext(&scope->userid, &scope->sec_context);
	SetUserIdAndSecContext(userid,
						   scope->sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

/*
 * Run a command in which %s stands for the schema of dblink, wherever that has
 * been put.  "arg2" may be missing.
 */
static uint64
run_dblink(const char *command, const char *arg1, const char *arg2)
{
	Oid			argtypes[] = {TEXTOID, TEXTOID};
	Datum		values[] = {CStringGetTextDatum(arg1), (Datum) 0};
	bool		isnull;
	char	   *schema;

	if (sk_table_execute(&find_dblink, NULL, NULL) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" does not exist", "dblink"),
				 errhint("Create the extension \"%s\" in this database.",
						 "dblink")));
	schema = NameStr(*DatumGetName(sk_table_datum(0, 1, &isnull)));
	if (arg2 != NULL)
		values[1] = CStringGetTextDatum(arg2);
	if (SPI_execute_with_args(psprintf(command, quote_identifier(schema)),
							  arg2 != NULL ? 2 : 1, argtypes, values, NULL,
							  false, 0) != SPI_OK_SELECT)
		elog(ERROR, "unexpected result of: %s", command);
	return SPI_processed;
}

/*
 * libpq keeps to the option connect_timeout for each host when dblink waits
 * within libpq, as it did at first; since it waits outside, nobody does.
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
	/* a superuser who is no more one needs a password */
	CacheRegisterSyscacheCallback(AUTHOID, note_change, (Datum) 0);
	connect_timeout = RegisterTimeout(USER_TIMEOUT, cancel_connect);
	setenv("PGCONNECT_TIMEOUT", SK_CONNECT_TIMEOUT_S, 0);
	done = true;
}

static void
note_change(Datum arg, int cacheid, uint32 hashvalue)
{
	servers_epoch++;
}

/* In the handler of a signal. */
static void
cancel_connect(void)
{
	InterruptPending = true;
	QueryCancelPending = true;
}
