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

#include "client.h"

Server		here;

static Server *servers[256];
static int	server_count = 0;
static PQconninfoOption * here_options;
static char *here_password;

static void show_notice(void *arg, const PGresult * result);
static bool await_socket(PGconn * conn, short events, int64 until);
static PGconn * open_connection(const char *const *names, const char *const *values, char **message);
static void forget_environment(void);
static bool is_option(const char *keyword);
static void connect_server(Server *server);
static PGresult * await_result(PGconn * conn, int64 until);
static PGresult * query_within(Server *server, int64 time, const char *sql, int count, const char *const *args);

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

/* An error, and the end. */
void
fail(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	pg_log_generic_v(PG_LOG_ERROR, PG_LOG_PRIMARY, format, args);
	va_end(args);
	exit(EXIT_FAILED);
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

/* Connect within ten seconds, or NULL as the connection, with a message. */
static PGconn *
open_connection(const char *const *names, const char *const *values, char **message)
{
	int64		until = now_ms() + 10 * 1000;
	PGconn	   *conn = PQconnectStartParams(names, values, 0);
	PostgresPollingStatusType state = PGRES_POLLING_WRITING;

	while (PQstatus(conn) != CONNECTION_BAD &&
		   state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED)
	{
		if (!await_socket(conn, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, until) &&
			now_ms() >= until)
			break;
		state = PQconnectPoll(conn);
	}
	if (state == PGRES_POLLING_OK)
		return conn;
	*message = now_ms() >= until ? pg_strdup("the server does not answer") :
		plain(PQerrorMessage(conn));
	return conn;
}

/* Settings that change how constants and names are written, or how long anybody waits. */
void
prepare_session(Server *server)
{
	PQsetNoticeReceiver(server->conn, show_notice, server);
	PQclear(query(server,
				  "SELECT pg_catalog.set_config(s.name, s.value, false)\n"
				  "  FROM (VALUES ('search_path', 'pg_catalog, pg_temp'),\n"
				  "               ('client_min_messages', 'warning'),\n"
				  "               ('standard_conforming_strings', 'on'),\n"
				  "               ('quote_all_identifiers', 'off'),\n"
				  "               ('DateStyle', 'ISO'),\n"
				  "               ('IntervalStyle', 'postgres'),\n"
				  "               ('extra_float_digits', '1'),\n"
				  "               ('bytea_output', 'hex'),\n"
				  "               ('lock_timeout', coalesce(nullif(current_setting('lock_timeout'), '0'), '30s')),\n"
				  "               ('idle_in_transaction_session_timeout', '0'),\n"
				  "               ('synchronous_commit', 'on')) s (name, value)", NO_ARGS));
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
	{
		pg_log_error("%s", plain(PQerrorMessage(here.conn)));
		exit(EXIT_NO_CONNECTION);
	}
	here_options = PQconninfo(here.conn);
	here_password = PQpass(here.conn) ? pg_strdup(PQpass(here.conn)) : NULL;
	forget_environment();
}

/* Another session on this server. */
Server *
session_here(void)
{
	const char *names[64];
	const char *values[64];
	int			n = 0;
	char	   *message = NULL;
	Server	   *result = pg_malloc0(sizeof(Server));

	for (PQconninfoOption * o = here_options; o->keyword != NULL && n < 60; o++)
		if (o->val != NULL && strcmp(o->keyword, "service") != 0 &&
			strcmp(o->keyword, "password") != 0)
		{
			names[n] = o->keyword;
			values[n++] = o->val;
		}
	names[n] = "password";
	values[n++] = here_password;
	names[n] = values[n] = NULL;
	result->conn = open_connection(names, values, &message);
	if (message != NULL)
		fail("%s: %s", place(result), message);
	prepare_session(result);
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
	const char *names[64];
	const char *values[64];
	int			n = 0;
	char	   *message = NULL;
	PGresult   *result = query(&here,
							   "SELECT keyword, value FROM spanner_internal.server_options($1)",
							   ARGS(server->name));

	for (int i = 0; i < PQntuples(result) && n < 50; i++)
		if (is_option(PQgetvalue(result, i, 0)))
		{
			names[n] = get_text(result, i, 0);
			values[n++] = get_text(result, i, 1);
		}
	names[n] = "passfile";
	values[n++] = "/dev/null/none";
	names[n] = "connect_timeout";
	values[n++] = "10";
	names[n] = "tcp_user_timeout";
	values[n++] = "30000";
	names[n] = "fallback_application_name";
	values[n++] = "spanner_splits";
	names[n] = "client_encoding";
	values[n++] = PQparameterStatus(here.conn, "client_encoding");
	names[n] = values[n] = NULL;
	PQclear(result);
	for (int i = 1;; i++)
	{
		message = NULL;
		server->conn = open_connection(names, values, &message);
		if (message == NULL || i >= options.tries)
			break;
		disconnect(server);
		pg_usleep(1000 * 1000);
	}
	if (message != NULL)
	{
		pg_log_error("%s: %s", place(server), message);
		exit(EXIT_GAVE_UP);
	}
	prepare_session(server);
}

/* The session on a server, made when it is asked for first, or when it is lost. */
Server *
find_server(const char *name)
{
	Server	   *server = NULL;

	if (name == NULL)
		return &here;
	for (int i = 0; i < server_count; i++)
		if (strcmp(servers[i]->name, name) == 0)
			server = servers[i];
	if (server == NULL)
	{
		if (server_count == lengthof(servers))
			fail("too many servers");
		server = servers[server_count++] = pg_malloc0(sizeof(Server));
		server->name = pg_strdup(name);
	}
	if (server->conn == NULL)
	{
		connect_server(server);
		check_same_version(server);
	}
	return server;
}

/* Both servers need the same version of the extension; nothing else is asked of another one. */
void
check_same_version(Server *server)
{
	const char *sql = "SELECT extversion FROM pg_catalog.pg_extension\n"
		" WHERE extname = 'spanner_keys_splits'";
	char	   *there = query_value(server, sql, NO_ARGS);
	char	   *version = query_value(&here, sql, NO_ARGS);

	if (there != NULL && version != NULL && strcmp(there, version) == 0)
		return;
	pg_log_error("%s has another version of extension spanner_keys_splits", place(server));
	pg_log_error_detail("It is %s there, %s here.", there ? plain(there) : "none", version ? version : "none");
	pg_log_error_hint("Run CREATE EXTENSION or ALTER EXTENSION spanner_keys_splits UPDATE there.");
	exit(EXIT_FAILED);
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
		int			unsent = PQflush(conn);

		if (unsent < 0 || (PQstatus(conn) == CONNECTION_BAD && !PQisBusy(conn)))
			return last ? last : PQgetResult(conn);
		if (PQisBusy(conn) || unsent > 0)
		{
			if (now_ms() >= until)
				return NULL;
			await_socket(conn, unsent > 0 ? POLLIN | POLLOUT : POLLIN, until);
			if (!PQconsumeInput(conn))
				return PQmakeEmptyPGresult(conn, PGRES_FATAL_ERROR);
			continue;
		}
		next = PQgetResult(conn);
		if (next == NULL)
			return last;
		PQclear(last);
		last = next;
	}
}

/* Run one command; NULL if the server has not answered in time, and the session is lost then. */
static PGresult *
query_within(Server *server, int64 time, const char *sql, int count, const char *const *args)
{
	int64		until = server->until != 0 ? server->until : now_ms() + time;
	PGresult   *result = NULL;

	if (server->conn == NULL)
		return NULL;
	if (!PQsendQueryParams(server->conn, sql, count, NULL, args, NULL, NULL, 0))
		return PQmakeEmptyPGresult(server->conn, PGRES_FATAL_ERROR);
	result = await_result(server->conn, until);
	if (result == NULL)
		disconnect(server);
	return result;
}

PGresult *
try_query(Server *server, const char *sql, int count, const char *const *args)
{
	return query_within(server, strstr(sql, "/* long */") ? LONG_TIME : ANSWER_TIME, sql, count, args);
}

/* Message, detail and hint of an error, each on a line of its own. */
void
report_failure(Server *server, PGresult * result)
{
	const char *primary = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	const char *detail = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL) : NULL;
	const char *hint = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_HINT) : NULL;

	if (primary == NULL)
		primary = result == NULL ? "the server has not answered in time" : PQerrorMessage(server->conn);
	pg_log_error("%s: %s", place(server), plain(primary));
	if (detail != NULL)
		pg_log_error_detail("%s", plain(detail));
	if (hint != NULL)
		pg_log_error_hint("%s", plain(hint));
}

/* Run one command, or end the program. */
PGresult *
query(Server *server, const char *sql, int count, const char *const *args)
{
	PGresult   *result = try_query(server, sql, count, args);

	if (result != NULL && (PQresultStatus(result) == PGRES_TUPLES_OK ||
						   PQresultStatus(result) == PGRES_COMMAND_OK))
		return result;
	report_failure(server, result);
	exit(result == NULL || PQstatus(server->conn) == CONNECTION_BAD ? EXIT_GAVE_UP : EXIT_FAILED);
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
