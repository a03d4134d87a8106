/*-------------------------------------------------------------------------
 *
 * spanner_splits.c
 *	  Move the splits of a table between servers, and make or copy tables there.
 *
 * src/splits/client/spanner_splits.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres_fe.h"

#include <limits.h>

#include "fe_utils/option_utils.h"
#include "getopt_long.h"

#include "client.h"

Options		options = {.tries = 30};

static struct option long_options[] = {
	{"at", required_argument, NULL, 1},
	{"bits", required_argument, NULL, 8},
	{"connection", required_argument, NULL, 2},
	{"dbname", required_argument, NULL, 'd'},
	{"dry-run", no_argument, NULL, 'n'},
	{"here-first", no_argument, &options.here_first, 1},
	{"host", required_argument, NULL, 'h'},
	{"key", required_argument, NULL, 9},
	{"no-password", no_argument, NULL, 'w'},
	{"password", no_argument, NULL, 'W'},
	{"port", required_argument, NULL, 'p'},
	{"servers", required_argument, NULL, 4},
	{"splits", required_argument, NULL, 5},
	{"splits-only", no_argument, &options.splits_only, 1},
	{"to", required_argument, NULL, 7},
	{"tries", required_argument, NULL, 10},
	{"username", required_argument, NULL, 'U'},
	{"yes", no_argument, NULL, 'y'},
	{NULL, 0, NULL, 0}
};

static const char try_help[] = "Try \"spanner_splits --help\" for more information.";

static void usage(void);
static void read_options(int argc, char **argv);
static char *find_and_lock(const char *name);
static void ask(const char *what, const char *name);
static void perform_command(int count, char **words);

static void
usage(void)
{
	printf("%s moves the splits of a table between servers.\n\n", "spanner_splits");
	printf("Usage:\n"
		   "  spanner_splits [OPTION]... create TABLE --servers=NAME,...\n"
		   "  spanner_splits [OPTION]... move SPLIT --to=SERVER [--at=VALUE]\n"
		   "  spanner_splits [OPTION]... copy TABLE [--servers=NAME,...]\n"
		   "  spanner_splits [OPTION]... run TABLE 'STATEMENT with {} for each table'\n"
		   "  spanner_splits [OPTION]... abandon SPLIT\n"
		   "  spanner_splits [OPTION]... list\n\n");
	printf("A server is a foreign server of postgres_fdw; \"here\" is the server of the table.\n\n");
	printf("Options:\n"
		   "      --at=VALUE           cut the split: rows from this value of its key on move\n"
		   "      --bits=NUMBER        with create: bits of the values, if they are not known\n"
		   "      --connection=STRING  how the target connects to the source\n"
		   "  -n, --dry-run            show what would be run, and change nothing\n"
		   "      --here-first         with run: here, then on the other servers\n"
		   "      --key=COLUMN,...     with create: columns that identify a row\n"
		   "      --servers=NAME,...   servers of the splits or copies\n"
		   "      --splits=NUMBER      with create: how many splits (default one for each server)\n"
		   "      --splits-only        with run: only for splits, not for the table itself\n"
		   "      --to=SERVER          where the split goes\n"
		   "      --tries=NUMBER       how often a server or a lock is tried (default 30)\n"
		   "  -y, --yes                do not ask\n"
		   "  -V, --version            output version information, then exit\n"
		   "  -?, --help               show this help, then exit\n\n");
	printf("Connection options:\n"
		   "  -d, --dbname=DBNAME      database, or connection string, of the partitioned table\n"
		   "  -h, --host=HOSTNAME      database server host or socket directory\n"
		   "  -p, --port=PORT          database server port\n"
		   "  -U, --username=NAME      database user name\n"
		   "  -w, --no-password        never prompt for password\n"
		   "  -W, --password           force password prompt\n\n");
	printf("Exit status: 0 done, 1 an error, 2 no connection, 3 gave up; the same command goes on.\n");
}

/* Words of the command line that are no options are moved to its end. */
static void
read_options(int argc, char **argv)
{
	static const char **const texts[] = {
		[1] = &options.at,
		[2] = &options.connection,
		[4] = &options.servers,
		[5] = &options.splits,
		[7] = &options.target,
		[8] = &options.bits,
		[9] = &options.key,
		['d'] = &options.dbname,
		['h'] = &options.host,
		['p'] = &options.port,
		['U'] = &options.user
	};
	int			c;

	while ((c = getopt_long(argc, argv, "d:h:np:U:wWy", long_options, NULL)) != -1)
		switch (c)
		{
			case 0:
				break;
			case 10:
				if (!option_parse_int(optarg, "--tries", 1, INT_MAX, &options.tries))
					exit(EXIT_FAILED);
				break;
			case 'n':
				options.dry_run = true;
				break;
			case 'w':
				options.prompt = -1;
				break;
			case 'W':
				options.prompt = 1;
				break;
			case 'y':
				options.yes = true;
				break;
			case '?':
				pg_log_error_hint("%s", try_help);
				exit(EXIT_FAILED);
			default:
				*texts[c] = optarg;
		}
	if (options.target != NULL && options.target[0] == '\0')
		options.target = "here";
}

/*
 * What a name means, as the user's search path finds it, before that is set to
 * another.  One move at a time for a table: the name is looked up again under the
 * lock, since what ran meanwhile may have put another relation in its place.  The
 * server frees the lock when a program has ended, but takes a moment to notice
 * that: so one that has just ended is waited for.
 */
static char *
find_and_lock(const char *name)
{
	char	   *locked = NULL;
	int			tries = 20;

	for (;;)
	{
		PGresult   *found = query(&here, "SELECT partition, locked FROM spanner_internal.find_split($1)", ARGS(name));
		char	   *partition = get_text(found, 0, 0);
		char	   *key = get_text(found, 0, 1);

		PQclear(found);
		if (partition == NULL)
			fail("relation \"%s\" does not exist", plain(name));
		if (locked != NULL && strcmp(locked, key) == 0)
			return partition;
		if (query_bool(&here, "SELECT spanner_internal.try_lock_moves($1)", ARGS(key)))
			locked = key;
		else if (--tries == 0)
			fail_with(EXIT_FAILED, NULL, "Wait until it has ended.",
					  "another move, copy or statement for this table is under way");
		else
			pg_usleep(100 * 1000);
	}
}

/* Ask before anything is changed, if there is somebody to ask. */
static void
ask(const char *what, const char *name)
{
	char		answer[8] = "";

	if (options.yes || options.dry_run || !isatty(fileno(stdin)))
		return;
	fprintf(stderr, "%s %s? (y/n) ", what, plain(name));
	if (fgets(answer, sizeof(answer), stdin) == NULL || answer[0] != 'y')
		exit(EXIT_FAILED);
}

static void
perform_command(int count, char **words)
{
	const char *verb = words[0];
	const char *name = count > 1 ? words[1] : NULL;
	bool		is_run = strcmp(verb, "run") == 0;

	if (strcmp(verb, "list") == 0 && count == 1)
	{
		prepare_session(&here);
		list_moves();
	}
	else if (count != (is_run ? 3 : 2))
		fail("there is no command \"%s\" with %d arguments", plain(verb), count - 1);
	else
	{
		char	   *relation;

		ask(verb, name);
		relation = find_and_lock(name);
		prepare_session(&here);
		/* nothing of it stays */
		if (options.dry_run)
			PQclear(query(&here, "BEGIN", NO_ARGS));
		if (is_run)
			run_over_splits(relation, words[2]);
		else if (strcmp(verb, "move") == 0)
			move_split(relation);
		else if (strcmp(verb, "abandon") == 0)
			abandon_split(relation);
		else if (strcmp(verb, "create") == 0)
			create_splits(relation);
		else if (strcmp(verb, "copy") == 0)
			copy_table(relation);
		else
			fail("there is no command \"%s\"", plain(verb));
	}
}

int
main(int argc, char **argv)
{
	pg_logging_init(argv[0]);
	pg_logging_set_level(PG_LOG_INFO);
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0))
	{
		usage();
		return 0;
	}
	if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0))
	{
		puts("spanner_splits (spanner_keys) 1.0");
		return 0;
	}
	read_options(argc, argv);
	if (optind >= argc)
		fail_with(EXIT_FAILED, NULL, try_help, "no command specified");
	connect_here();
	check_same_version(&here);
	perform_command(argc - optind, argv + optind);
	disconnect(&here);
	return 0;
}
