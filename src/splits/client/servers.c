/*-------------------------------------------------------------------------
 *
 * servers.c
 *	  Sessions of spanner_splits, and statements on them.
 *
 * A session goes where the foreign server says, as its user mapping says.  The
 * environment, the file of services and the file of passwords are those of who
 * runs the program, so no other server gets anything of them.  Each statement
 * is one command of the extended protocol.  No wait is without an end.
 *
 * src/splits/client/servers.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres_fe.h"

#include <poll.h>
#include <sys/time.h>

#include "common/string.h"
#include "fe_utils/string_utils.h"

#include "client.h"

Server		here;

static Server *servers;
static PQconninfoOption * here_options;
static char *here_password;

static void show_notice(void *arg, const PGresult * result);
static bool await_socket(PGconn * conn, short events, int64 until);
static void open_session(Server *server, PQExpBuffer conninfo);
static void add_option(PQExpBuffer conninfo, const char *keyword, const char *value);
static char *open_connection(Server *server, const char *conninfo);
static void forget_environment(void);
static bool is_option(const char *keyword);
static void connect_server(Server *server);
static PGresult * await_result(PGconn * conn, int64 until);
static bool is_locked_out(PGresult * result);
static PGresult * query_once(Server *server, const char *sql, int count, const char *const *args);

/* Milliseconds since some time. */
int64
now_ms(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return (int64) now.tv_sec * 1000 + now.tv_usec / 1000;
}

/* What a server has said, without what a terminal would obey. */
char *
plain(const char *text)
{
	char	   *result = pg_strdup(text !=NULL ? text : "");
	char	   *to = result;

	for (char *from = result; *from; from++)
		if ((unsigned char) *from >= ' ' && *from != 0x7f)
			*to++ = *from;
		else if (*from == '\n' || *from == '\t')
			*to++ = ' ';
	*to = '\0';
	return result;
}

/* For messages. */
const char *
place(const Server *server)
{
	return server->name == NULL ? "this server" : psprintf("server \"%s\"", plain(server->name));
}

/* An error, with detail and hint unless they are NULL, and the end. */
void
fail_with(int status, const char *detail, const char *hint, const char *format,...)
{
	va_list		args;

	va_start(args, format);
	pg_log_generic_v(PG_LOG_ERROR, PG_LOG_PRIMARY, format, args);
	va_end(args);
	if (detail != NULL)
		pg_log_error_detail("%s", plain(detail));
	if (hint != NULL)
		pg_log_error_hint("%s", plain(hint));
	exit(status);
}

/* Warnings of a server. */
static void
show_notice(void *arg, const PGresult * result)
{
	const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);

	pg_log_warning("%s: %s", place(arg), plain(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)));
	if (hint != NULL)
		pg_log_warning_hint("%s", plain(hint));
}

/* Wait for the socket; false at the deadline. */
static bool
await_socket(PGconn * conn, short events, int64 until)
{
	struct pollfd p = {.fd = PQsocket(conn),.events = events};
	int64		left = until - now_ms();

	if (p.fd < 0 || left <= 0)
		return false;
	return poll(&p, 1, (int) Min(left, 1000)) >= 0;
}

/* The last one of a keyword counts. */
static void
add_option(PQExpBuffer conninfo, const char *keyword, const char *value)
{
	appendPQExpBuffer(conninfo, " %s=", keyword);
	appendConnStrVal(conninfo, value);
}

/* Connect within ten seconds; NULL, or what is wrong. */
static char *
open_connection(Server *server, const char *conninfo)
{
	int64		until = now_ms() + 10 * 1000;
	PGconn	   *conn = server->conn = PQconnectStart(conninfo);
	PostgresPollingStatusType state = PGRES_POLLING_WRITING;

	while (PQstatus(conn) != CONNECTION_BAD &&
		   state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED)
	{
		if (!await_socket(conn, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, until) &&
			now_ms() >= until)
			return pg_strdup("the server does not answer");
		state = PQconnectPoll(conn);
	}
	return state == PGRES_POLLING_OK ? NULL : plain(PQerrorMessage(conn));
}

/* Connect, or end the program; what is wrong may pass by itself. */
static void
open_session(Server *server, PQExpBuffer conninfo)
{
	char	   *message;

	for (int i = 1; (message = open_connection(server, conninfo->data)) != NULL; i++)
	{
		if (i >= options.tries)
			fail_with(EXIT_GAVE_UP, NULL, NULL, "%s: %s", place(server), message);
		disconnect(server);
		pg_usleep(1000 * 1000);
	}
	destroyPQExpBuffer(conninfo);
	prepare_session(server);
}

/* Settings that change how constants and names are written, or how long anybody waits. */
void
prepare_session(Server *server)
{
	PQsetNoticeReceiver(server->conn, show_notice, server);
	PQclear(query(server,
				  "SELECT pg_catalog.set_config(p.name, s.value, false)\n"
				  "  FROM (VALUES ('search_path', 'pg_catalog, pg_temp'),\n"
				  "               ('client_min_messages', 'warning'),\n"
				  "               ('standard_conforming_strings', 'on'),\n"
				  "               ('quote_all_identifiers', 'off'),\n"
				  "               ('DateStyle', 'ISO'),\n"
				  "               ('IntervalStyle', 'postgres'),\n"
				  "               ('extra_float_digits', '1'),\n"
				  "               ('bytea_output', 'hex'),\n"
				  "               ('lock_timeout', '2s'),\n"
				  "               ('idle_in_transaction_session_timeout', '0'),\n"
				  "               ('idle_session_timeout', '0'),\n"
				  "               ('statement_timeout', '0'),\n"
				  "               ('transaction_timeout', '0'),\n"
				  "               ('client_connection_check_interval', '1s'),\n"
				  "               ('synchronous_commit', 'on')) s (name, value)\n"
				  "  JOIN pg_catalog.pg_settings p ON p.name OPERATOR(pg_catalog.=) s.name", NO_ARGS));
}

/* Nobody else gets what the environment says of this server. */
static void
forget_environment(void)
{
	PQconninfoOption *defaults = PQconndefaults();

	for (PQconninfoOption * o = defaults; o != NULL && o->keyword != NULL; o++)
		if (o->envvar != NULL)
			unsetenv(o->envvar);
	PQconninfoFree(defaults);
	unsetenv("PGSERVICEFILE");
	unsetenv("PGSYSCONFDIR");
}

/* Connect to the server of the partitioned table, as all clients do. */
void
connect_here(void)
{
	const char *names[] = {"host", "port", "user", "password", "dbname",
	"fallback_application_name", "connect_timeout", "tcp_user_timeout", NULL};

	if (options.prompt > 0)
		here_password = simple_prompt("Password: ", false);
	for (;;)
	{
		const char *values[] = {options.host, options.port, options.user, here_password,
		options.dbname, "spanner_splits", "10", "30000", NULL};

		here.conn = PQconnectdbParams(names, values, 1);
		if (PQstatus(here.conn) != CONNECTION_BAD || here_password != NULL ||
			options.prompt < 0 || !PQconnectionNeedsPassword(here.conn))
			break;
		PQfinish(here.conn);
		here_password = simple_prompt("Password: ", false);
	}
	if (PQstatus(here.conn) == CONNECTION_BAD)
		fail_with(EXIT_NO_CONNECTION, NULL, NULL, "%s", plain(PQerrorMessage(here.conn)));
	here_options = PQconninfo(here.conn);
	here_password = PQpass(here.conn) ? pg_strdup(PQpass(here.conn)) : NULL;
	forget_environment();
}

/* Another session on this server. */
Server *
session_here(void)
{
	PQExpBuffer conninfo = createPQExpBuffer();
	Server	   *result = pg_malloc0(sizeof(Server));

	for (PQconninfoOption * o = here_options; o->keyword != NULL; o++)
		if (o->val != NULL && strcmp(o->keyword, "service") != 0)
			add_option(conninfo, o->keyword, o->val);
	if (here_password != NULL)
		add_option(conninfo, "password", here_password);
	open_session(result, conninfo);
	return result;
}

/* Others are postgres_fdw's own. */
static bool
is_option(const char *keyword)
{
	for (PQconninfoOption * o = here_options; o->keyword != NULL; o++)
		if (strcmp(o->keyword, keyword) == 0)
			return true;
	return false;
}

/* Connect as the foreign server and its user mapping say, and nothing else. */
static void
connect_server(Server *server)
{
	PQExpBuffer conninfo = createPQExpBuffer();
	PGresult   *result = query(&here,
							   "SELECT keyword, value FROM spanner_internal.server_options($1)",
							   ARGS(server->name));

	/*
	 * who does not own the server sees what options a mapping for PUBLIC has,
	 * but not their values
	 */
	char	   *is_shown = query_value(&here, "SELECT m.umuser <> 0 OR NOT EXISTS (\n"
									   "  SELECT FROM information_schema.user_mapping_options o\n"
									   "   WHERE o.foreign_server_name = m.srvname AND o.authorization_identifier = 'PUBLIC'\n"
									   "     AND o.option_value IS NULL)\n"
									   "  FROM pg_user_mappings m\n"
									   " WHERE m.srvname = $1 AND (m.umuser = 0 OR m.usename = current_user)\n"
									   " ORDER BY m.umuser DESC LIMIT 1", ARGS(server->name));

	if (is_shown == NULL || is_shown[0] != 't')
		fail_with(EXIT_FAILED, is_shown ? "Only the owner of the server sees the options of that for PUBLIC." : NULL,
				  "Create it with CREATE USER MAPPING.", "role \"%s\" has no user mapping for server \"%s\"",
				  plain(PQuser(here.conn)), plain(server->name));
	for (int i = 0; i < PQntuples(result); i++)
		if (is_option(PQgetvalue(result, i, 0)))
			add_option(conninfo, PQgetvalue(result, i, 0), PQgetvalue(result, i, 1));
	PQclear(result);
	appendPQExpBufferStr(conninfo, " passfile=/dev/null/none connect_timeout=10 tcp_user_timeout=30000"
						 " fallback_application_name=spanner_splits");
	add_option(conninfo, "client_encoding", PQparameterStatus(here.conn, "client_encoding"));
	open_session(server, conninfo);
}

/* The session on a server, made when it is asked for first, or when it is lost. */
Server *
find_server(const char *name)
{
	Server	   *server = servers;

	if (name == NULL)
		return &here;
	while (server != NULL && strcmp(server->name, name) != 0)
		server = server->next;
	if (server == NULL)
	{
		server = pg_malloc0(sizeof(Server));
		server->name = pg_strdup(name);
		server->next = servers;
		servers = server;
	}
	if (server->conn == NULL)
	{
		connect_server(server);
		check_same_version(server);
	}
	return server;
}

/*
 * The session for what is given up.  Of a server that has been dropped nothing is
 * known, and what is asked of this one instead finds nothing.
 */
Server *
find_abandoned(const char *name, const char *move)
{
	if (name == NULL || query_bool(&here, "SELECT EXISTS (SELECT FROM pg_foreign_server WHERE srvname = $1)", ARGS(name)))
		return find_server(name);
	pg_log_warning("server \"%s\" does not exist: what has been made there stays", plain(name));
	pg_log_warning_hint("If it still runs, drop subscription \"%s\" there first.", move);
	return &here;
}

/* Both servers need the same version of the extension; nothing else is asked of another one. */
void
check_same_version(Server *server)
{
	const char *sql = "SELECT extversion FROM pg_catalog.pg_extension\n"
		" WHERE extname OPERATOR(pg_catalog.=) 'spanner_keys_splits'";
	char	   *there = query_value(server, sql, NO_ARGS);
	char	   *version = query_value(&here, sql, NO_ARGS);

	if (there == NULL || version == NULL || strcmp(there, version) != 0)
		fail_with(EXIT_FAILED, psprintf("It is %s there, %s here.", there ? there : "none", version ? version : "none"),
				  "Run CREATE EXTENSION or ALTER EXTENSION spanner_keys_splits UPDATE there.",
				  "%s has another version of extension spanner_keys_splits", place(server));
}

/* What the session was doing is undone by the server. */
void
disconnect(Server *server)
{
	PQfinish(server->conn);
	server->conn = NULL;
}

/* The result of what was sent; NULL at the deadline. */
static PGresult *
await_result(PGconn * conn, int64 until)
{
	PGresult   *last = NULL;
	PGresult   *next;

	for (;;)
	{
		while (PQisBusy(conn))
		{
			if (now_ms() >= until)
				return NULL;
			await_socket(conn, POLLIN, until);
			if (!PQconsumeInput(conn))
				return PQmakeEmptyPGresult(conn, PGRES_FATAL_ERROR);
		}
		/* why the server has closed the session, and not only that it has */
		if (last != NULL && PQstatus(conn) == CONNECTION_BAD)
			return last;
		next = PQgetResult(conn);
		if (next == NULL)
			return last;
		PQclear(last);
		last = next;
	}
}

/* Run one command; NULL if the server has not answered in time, and the session is lost then. */
static PGresult *
query_once(Server *server, const char *sql, int count, const char *const *args)
{
	int64		time = strstr(sql, "/* long */") ? LONG_TIME : ANSWER_TIME;
	PGresult   *result;

	if (server->conn == NULL)
		return NULL;
	if (!PQsendQueryParams(server->conn, sql, count, NULL, args, NULL, NULL, 0))
		return PQmakeEmptyPGresult(server->conn, PGRES_FATAL_ERROR);
	result = await_result(server->conn, server->until != 0 ? server->until : now_ms() + time);
	if (result == NULL)
		disconnect(server);
	return result;
}

/* Is it the error that a lock could not be had? */
static bool
is_locked_out(PGresult * result)
{
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	return code != NULL && strcmp(code, "55P03") == 0;
}

/*
 * Run one command.  Who waits for a strong lock makes others wait, so a lock is
 * waited for for two seconds, in which autovacuum gives way, and tried again.
 */
PGresult *
try_query(Server *server, const char *sql, int count, const char *const *args)
{
	for (int i = 1;; i++)
	{
		PGresult   *result = query_once(server, sql, count, args);

		if (i >= options.tries || !is_locked_out(result) ||
			PQtransactionStatus(server->conn) != PQTRANS_IDLE)
			return result;
		PQclear(result);
		pg_usleep(500 * 1000);
	}
}

/* Message, detail and hint of an error, each on a line of its own. */
void
report_failure(Server *server, PGresult * result)
{
	const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
	const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);

	if (primary == NULL)
		primary = result == NULL ? "the server has not answered in time" : PQerrorMessage(server->conn);
	pg_log_error("%s: %s", place(server), plain(primary));
	if (detail != NULL)
		pg_log_error_detail("%s", plain(detail));
	if (hint != NULL)
		pg_log_error_hint("%s", plain(hint));
}

/* A command has failed, and the program ends: a lock, or a server that is away, may be there later. */
void
fail_after(Server *server, PGresult * result)
{
	report_failure(server, result);
	exit(result == NULL || is_locked_out(result) || PQstatus(server->conn) == CONNECTION_BAD ?
		 EXIT_GAVE_UP : EXIT_FAILED);
}

/* Run one command, or end the program. */
PGresult *
query(Server *server, const char *sql, int count, const char *const *args)
{
	PGresult   *result = try_query(server, sql, count, args);

	if (PQresultStatus(result) == PGRES_TUPLES_OK || PQresultStatus(result) == PGRES_COMMAND_OK)
		return result;
	fail_after(server, result);
}

/* A field as a string of its own, NULL for a null. */
char *
get_text(PGresult * result, int row, int column)
{
	return row >= PQntuples(result) || PQgetisnull(result, row, column) ? NULL :
		pg_strdup(PQgetvalue(result, row, column));
}

/* The first field of the first row, NULL if there is none. */
char *
query_value(Server *server, const char *sql, int count, const char *const *args)
{
	PGresult   *result = query(server, sql, count, args);
	char	   *value = get_text(result, 0, 0);

	PQclear(result);
	return value;
}

/* Is it true? */
bool
query_bool(Server *server, const char *sql, int count, const char *const *args)
{
	char	   *value = query_value(server, sql, count, args);

	return value != NULL && value[0] == 't';
}

/* A statement that changes something: with --dry-run it is only shown. */
void
command(Server *server, const char *sql, int count, const char *const *args)
{
	if (!options.dry_run)
	{
		PQclear(query(server, sql, count, args));
		return;
	}
	printf("%s: %s", place(server), plain(sql));
	for (int i = 0; i < count; i++)
		printf("%s$%d = %s", i == 0 ? "  -- " : ", ", i + 1, args[i] ? plain(args[i]) : "NULL");
	printf("\n");
}

/* A name as an identifier. */
char *
quoted(Server *server, const char *name)
{
	char	   *result = PQescapeIdentifier(server->conn, name, strlen(name));

	if (result == NULL)
		fail("%s: %s", place(server), plain(PQerrorMessage(server->conn)));
	return result;
}

char *
qualified(Server *server, const char *schemaname, const char *name)
{
	return psprintf("%s.%s", quoted(server, schemaname), quoted(server, name));
}
