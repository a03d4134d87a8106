/*-------------------------------------------------------------------------
 *
 * client.h
 *	  Servers, tables and moves of spanner_splits.
 *
 * src/splits/client/client.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SPANNER_SPLITS_CLIENT_H
#define SPANNER_SPLITS_CLIENT_H

#include "common/logging.h"
#include "libpq-fe.h"

/* What the program exits with. */
#define EXIT_FAILED 1
#define EXIT_NO_CONNECTION 2
#define EXIT_GAVE_UP 3

/* Milliseconds that an answer may take, if nobody waits for a lock. */
#define ANSWER_TIME (60 * 1000)
/* That of a statement of the user, and of ANALYZE. */
#define LONG_TIME (24 * 60 * 60 * 1000)

/* One session on a server; "name" is that of its foreign server, NULL for this one. */
typedef struct Server
{
	char	   *name;
	PGconn	   *conn;
	int64		until;			/* a time that overrides how long answers may
								 * take, or 0 */
	struct Server *next;
} Server;

/* Options of the command line. */
typedef struct Options
{
	const char *dbname;
	const char *host;
	const char *port;
	const char *user;
	const char *target;
	const char *at;
	const char *servers;
	const char *splits;
	const char *bits;
	const char *key;
	const char *connection;
	int			tries;			/* of what may pass by itself */
	int			prompt;			/* -1 never, 0 if needed, 1 first */
	int			here_first;		/* these are set by getopt_long() */
	int			splits_only;
	bool		dry_run;
	bool		yes;
} Options;

/* A move, as the record here has it; texts are NULL where the record has no value. */
typedef struct Move
{
	char	   *move;
	char	   *partition;		/* OID */
	char	   *parent;			/* OID; of a copy that of the table */
	char	   *nspname;
	char	   *name;
	char	   *source;
	char	   *target;
	char	   *schemaname;
	char	   *tablename;
	char	   *at;
	char	   *low;
	char	   *high;
	char	   *moved;			/* OID on the source, if that is here */
	bool		goes_back;
	bool		swapped;
	bool		is_empty;		/* no row has been written to it here */
	bool		is_copy;		/* of a table, which stays where it is */
	/* what check_move() has found */
	Server	   *from;
	Server	   *to;
	char	   *table;			/* OID on the source */
	char	   *owner;			/* OID of the owner on the target */
	bool		is_made;		/* the table there */
} Move;

extern Options options;
extern Server here;

/* Arguments of a statement: their number, and they. */
#define ARGS(...) \
	lengthof(((const char *const[]) {__VA_ARGS__})), (const char *const[]) {__VA_ARGS__}
#define NO_ARGS 0, NULL

/* servers.c */
extern int64 now_ms(void);
extern void connect_here(void);
extern Server *session_here(void);
extern Server *find_server(const char *name);
extern Server *find_abandoned(const char *name, const char *move);
extern void prepare_session(Server *server);
extern void check_same_version(Server *server);
extern void disconnect(Server *server);
extern const char *place(const Server *server);
extern char *plain(const char *text);
extern PGresult * try_query(Server *server, const char *sql, int count, const char *const *args);
extern void report_failure(Server *server, PGresult * result);
extern _Noreturn void fail_after(Server *server, PGresult * result);
extern PGresult * query(Server *server, const char *sql, int count, const char *const *args);
extern char *query_value(Server *server, const char *sql, int count, const char *const *args);
extern bool query_bool(Server *server, const char *sql, int count, const char *const *args);
extern char *get_text(PGresult * result, int row, int column);
extern void command(Server *server, const char *sql, int count, const char *const *args);
extern char *quoted(Server *server, const char *name);
extern char *qualified(Server *server, const char *schemaname, const char *name);
extern _Noreturn void fail_with(int status, const char *detail, const char *hint, const char *format,...)
			pg_attribute_printf(4, 5);

#define fail(...) fail_with(EXIT_FAILED, NULL, NULL, __VA_ARGS__)

/* tables.c */
extern bool is_replicating(Move *m);
extern bool is_alike(Move *m);
extern bool has_no_rows(Move *m);
extern void check_owner_there(Server *server, const char *parent, const char *schemaname,
							  const char *name, const char *copy);
extern void check_move(Move *m);
extern void replicate(Move *m);
extern void end_replication(Move *m);

/* moves.c */
extern Move *reload(const char *move);
extern Move *begin_record(const char *sql, int count, const char *const *args);
extern void check_no_move(const char *table);
extern void move_split(const char *split);
extern void abandon_split(const char *split);
extern void list_moves(void);

/* over_splits.c */
extern void create_splits(const char *table);
extern void copy_table(const char *table);
extern bool end_copies(const char *table);
extern void run_over_splits(const char *table, const char *statement);

#endif
