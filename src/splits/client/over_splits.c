/*-------------------------------------------------------------------------
 *
 * over_splits.c
 *	  Making the splits of a table, copies of a table, and a statement for
 *	  all splits.
 *
 * src/splits/client/over_splits.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres_fe.h"

#include "pqexpbuffer.h"

#include "client.h"

static void check_unused(Move *m);
static void run_once(const char *statement, PGresult * tables, int i);
static PGresult * tables_of(const char *table);
static void check_afterwards(const char *table);

/* Make the partitions here, then move those that are to be elsewhere; a second run goes on. */
void
create_splits(const char *table)
{
	PGresult   *splits;
	const char *servers = options.servers;
	const char *make = "SELECT spanner.create_splits($1::oid,\n"
		"  coalesce($3::integer, cardinality(string_to_array($2, ','))), dry_run => false, bits => $4::integer,\n"
		"  key => spanner_internal.known_identity($1::oid, string_to_array($5, ',')::name[]))";

	if (servers == NULL || servers[0] == '\0')
		fail("option --servers is missing");
	if (query_bool(&here, "SELECT coalesce($1::integer < cardinality(string_to_array($2, ',')), false)",
				   ARGS(options.splits, servers)))
		fail("%s splits are not enough for these servers", plain(options.splits));
	PQclear(query(&here, "SELECT spanner_internal.check_split_server($1::oid, s) FROM unnest(string_to_array($2, ',')) s\n"
				  " WHERE s <> 'here'", ARGS(table, servers)));
	if (query_bool(&here, "SELECT NOT EXISTS (SELECT FROM spanner_internal.list_splits($1::oid))", ARGS(table)))
	{
		command(&here, make, ARGS(table, servers, options.splits, options.bits, options.key));
		/* what follows needs them; the transaction is rolled back */
		if (options.dry_run)
			PQclear(query(&here, make, ARGS(table, servers, options.splits, options.bits, options.key)));
	}
	/* those that are here, and one whose move has not ended */
	splits = query(&here, "SELECT f.partition, (string_to_array($2, ','))[1 + (s.split - 1) % cardinality(string_to_array($2, ','))]\n"
				   "  FROM spanner_internal.list_splits($1::oid) s\n"
				   " CROSS JOIN spanner_internal.find_split(s.partition::text) f\n"
				   " WHERE s.server IS NULL OR EXISTS (\n"
				   "   SELECT FROM spanner_internal.begun_moves m WHERE m.partition = f.partition) ORDER BY s.split",
				   ARGS(table, servers));
	for (int i = 0; i < PQntuples(splits); i++)
	{
		options.target = PQgetvalue(splits, i, 1);
		if (strcmp(options.target, "here") != 0)
			move_split(PQgetvalue(splits, i, 0));
	}
	PQclear(splits);
	pg_log_info("done");
}

/* Copy a table to the servers that have splits, or to those that are named. */
void
copy_table(const char *table)
{
	PGresult   *names;

	check_no_move(table);
	PQclear(query(&here, "SELECT spanner_internal.check_copied_table($1::oid)", ARGS(table)));
	names = query(&here, "SELECT s FROM unnest(coalesce(string_to_array($1, ',')::name[],\n"
				  "  ARRAY(SELECT spanner_internal.servers_with_splits()))) s", ARGS(options.servers));
	if (PQntuples(names) == 0)
		fail("no server has splits; name servers with --servers");
	for (int i = 0; i < PQntuples(names); i++)
	{
		const char *server = PQgetvalue(names, i, 0);
		Move	   *m;

		PQclear(query(&here, "SELECT spanner_internal.check_split_server($1::oid, $2)", ARGS(table, server)));
		m = begin_record("SELECT spanner_internal.begin_copy($1::oid, $2)", ARGS(table, server));
		pg_log_info("copying \"%s\" to %s", plain(m->name), place(m->to));
		replicate(m);
	}
	PQclear(names);
	pg_log_info("done");
}

/*
 * What depends on a copy keeps its table.  The table is dropped to see that, and
 * comes back: a subscription that has ended does not, with all that it knows.
 */
static void
check_unused(Move *m)
{
	PGresult   *result;
	const char *code;

	PQclear(query(m->to, "BEGIN", NO_ARGS));
	result = try_query(m->to, "SELECT spanner_internal.drop_recorded($1)", ARGS(m->move));
	code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	if (code != NULL && strcmp(code, "2BP01") == 0)
		fail_with(EXIT_FAILED, PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL),
				  "Drop them first, foreign keys with \"spanner_splits run TABLE 'ALTER TABLE {} DROP CONSTRAINT IF EXISTS NAME' --splits-only\".",
				  "objects on %s depend on the copy of \"%s\"", place(m->to), plain(m->name));
	/* during the first copy, core drops the table after its subscription */
	if (result == NULL || (code != NULL && strcmp(code, "55000") != 0))
		fail_after(m->to, result);
	PQclear(result);
	PQclear(query(m->to, "ROLLBACK", NO_ARGS));
}

/* End the copies of a table, which may be gone; false if it has none. */
bool
end_copies(const char *table)
{
	PGresult   *names = query(&here, "SELECT spanner_internal.begin_copy($1::oid, server) FROM spanner_internal.list_copies($1::oid)\n"
							  " WHERE $2::text IS NULL OR server = ANY (string_to_array($2, ',')::name[])\n"
							  "UNION\n"
							  "SELECT move FROM spanner_internal.own_record WHERE parent IS NULL AND partition = $1::oid\n"
							  "   AND ($2::text IS NULL OR target = ANY (string_to_array($2, ',')::name[]))",
							  ARGS(table, options.servers));
	int			count = PQntuples(names);
	Move	  **copies = pg_malloc(count * sizeof(Move *));

	for (int i = 0; i < count; i++)
	{
		copies[i] = reload(PQgetvalue(names, i, 0));
		copies[i]->from = &here;
		copies[i]->to = find_abandoned(copies[i]->target, copies[i]->move);
		check_unused(copies[i]);
	}
	for (int i = 0; i < count; i++)
	{
		Move	   *m = copies[i];

		pg_log_info("ending the copy of \"%s\" on %s", plain(m->name), place(m->to));
		/* first, as the record there may be the one here */
		end_replication(m);
		command(m->to, "BEGIN", NO_ARGS);
		command(m->to, "SELECT spanner_internal.drop_recorded($1)", ARGS(m->move));
		command(m->to, "INSERT INTO spanner_internal.ended_record VALUES ($1)", ARGS(m->move));
		command(m->to, "COMMIT", NO_ARGS);
		command(&here, "INSERT INTO spanner_internal.ended_record VALUES ($1)", ARGS(m->move));
	}
	PQclear(names);
	return count > 0;
}

/* A record in the statement's own transaction tells later that it has been run. */
static void
run_once(const char *statement, PGresult * tables, int i)
{
	Server	   *server = find_server(get_text(tables, i, 0));
	const char *schemaname = PQgetvalue(tables, i, 1);
	const char *name = PQgetvalue(tables, i, 2);
	char	   *filled = query_value(&here, "SELECT spanner_internal.fill_in($1, format('%I.%I', $2::text, $3::text))",
									 ARGS(statement, schemaname, name));
	PGresult   *noted;
	bool		is_done;

	if (options.dry_run)
	{
		command(server, filled, NO_ARGS);
		return;
	}
	PQclear(query(server, "BEGIN", NO_ARGS));
	noted = query(server, "INSERT INTO spanner_internal.own_record (move, at, moved)\n"
				  "VALUES ($1, $2, spanner_internal.find_relation($3, $4)) ON CONFLICT DO NOTHING RETURNING move",
				  ARGS(PQgetvalue(tables, i, 3), statement, schemaname, name));
	is_done = PQntuples(noted) == 0;
	PQclear(noted);
	/* the statement is the user's, and finds names as his other statements do */
	PQclear(query(server, "SELECT set_config(name, CASE WHEN name = 'lock_timeout' AND reset_val = '0' THEN '30s'\n"
				  "                             ELSE reset_val END, true)\n"
				  "  FROM pg_settings WHERE name = ANY ('{lock_timeout,search_path}')", NO_ARGS));
	if (!is_done)
		PQclear(query(server, psprintf("%s\n/* long */", filled), NO_ARGS));
	PQclear(query(server, "COMMIT", NO_ARGS));
	pg_log_info("%s: %s%s", place(server), plain(filled), is_done ? " (was done before)" : "");
}

/* Tables of splits and copies, and the table here; splits that are here in the place of it. */
static PGresult *
tables_of(const char *table)
{
	return query(&here, "SELECT x.server, x.nspname, x.relname,\n"
				 "  'spanner_run_' || left(md5(concat_ws(' ', current_database(), $1::oid, x.server, x.nspname, x.relname, $4::text)), 12), x.copy\n"
				 "  FROM (SELECT 1 AS n, s.server, s.schemaname AS nspname, s.tablename AS relname, NULL::name AS copy\n"
				 "          FROM (SELECT $1::oid AS oid WHERE EXISTS (SELECT FROM pg_partitioned_table WHERE partrelid = $1::oid)) p\n"
				 "         CROSS JOIN spanner_internal.list_splits(p.oid) s WHERE s.server IS NOT NULL OR $2 = 'only'\n"
				 "        UNION ALL\n"
				 "        SELECT 1, l.server, l.schemaname, l.tablename, l.copy FROM spanner_internal.list_copies($1::oid) l\n"
				 "        UNION ALL\n"
				 "        SELECT 2, NULL, n.nspname, c.relname, NULL FROM pg_class c\n"
				 "          JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::oid AND $2 <> 'only') x\n"
				 " ORDER BY x.n * $3::integer, x.server, x.nspname, x.relname",
				 ARGS(table, options.splits_only ? "only" : "all", options.here_first ? "-1" : "1",
					  options.at ? options.at : ""));
}

/* A statement may have made servers differ. */
static void
check_afterwards(const char *table)
{
	PGresult   *found = try_query(&here, "SELECT coalesce(server, 'here'), finding, detail\n"
								  "  FROM spanner.check_splits($1::oid)", ARGS(table));

	if (PQresultStatus(found) != PGRES_TUPLES_OK)
	{
		pg_log_error("the statement has been run everywhere, but the table cannot be checked now");
		report_failure(&here, found);
		exit(EXIT_FAILED);
	}
	if (PQntuples(found) == 0)
		return;
	pg_log_error("the statement has been run everywhere, but this is wrong now:");
	for (int i = 0; i < PQntuples(found); i++)
		fprintf(stderr, "%s: %s: %s\n", plain(PQgetvalue(found, i, 0)), plain(PQgetvalue(found, i, 1)),
				plain(PQgetvalue(found, i, 2)));
	exit(EXIT_FAILED);
}

/* A statement for all splits on their servers, each once, whatever stops this program. */
void
run_over_splits(const char *table, const char *statement)
{
	PGresult   *tables;
	PQExpBuffer names = createPQExpBuffer();
	char	   *run;
	char	   *done;
	int			count;

	check_no_move(table);
	options.at = statement;
	tables = tables_of(table);
	count = PQntuples(tables);
	/* all servers answer before the first one runs it */
	for (int i = 0; i < count; i++)
		check_owner_there(find_server(get_text(tables, i, 0)), table, PQgetvalue(tables, i, 1),
						  PQgetvalue(tables, i, 2), get_text(tables, i, 4));

	/*
	 * A record here says which have run it, before theirs are deleted, and
	 * keeps the splits where they are until then.
	 */
	run = query_value(&here, "SELECT 'spanner_run_' || left(md5(concat_ws(' ', $1::oid, $2::text)), 12)",
					  ARGS(table, statement));
	done = query_value(&here, "SELECT former #>> '{}' FROM spanner_internal.own_record WHERE move = $1", ARGS(run));
	for (int i = 0; i < count; i++)
	{
		appendPQExpBuffer(names, "%s ", PQgetvalue(tables, i, 3));
		if (done == NULL || strstr(done, PQgetvalue(tables, i, 3)) == NULL)
			run_once(statement, tables, i);
	}
	if (done != NULL)
		pg_log_info("the statement has been run before, but for tables that are named above");
	command(&here, "INSERT INTO spanner_internal.own_record (move, former, at, moved) VALUES ($1, to_jsonb($2::text), $3, $4)\n"
			"ON CONFLICT (performer, move) DO UPDATE SET former = excluded.former", ARGS(run, names->data, statement, table));
	for (int i = 0; i < count; i++)
		command(find_server(get_text(tables, i, 0)), "INSERT INTO spanner_internal.ended_record VALUES ($1)",
				ARGS(PQgetvalue(tables, i, 3)));
	command(&here, "INSERT INTO spanner_internal.ended_record VALUES ($1)", ARGS(run));
	PQclear(tables);
	if (!options.dry_run)
		check_afterwards(table);
	pg_log_info("done");
}
