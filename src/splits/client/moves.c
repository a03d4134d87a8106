/*-------------------------------------------------------------------------
 *
 * moves.c
 *	  A split moves to another server.
 *
 * All of it is replicated, without a row filter: with one, an update that
 * brings a row into the part that moves is sent as an insert, which lacks
 * values that are stored out of line.  A split that is cut is replicated into
 * two tables.  Both are splits of the target after the swap, and the lower one
 * goes back by a second move.
 *
 * The record here says how far a move is.  It changes in the transactions that
 * it tells of, so the program can be killed at any point, and run again.
 *
 * src/splits/client/moves.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres_fe.h"

#include "client.h"

/* Milliseconds that a swap may hold its locks, at most. */
#define SWAP_TIME 900

static const char *const record_columns =
"move, partition, parent, nspname, name, source, target, schemaname, tablename, at, low, high,\n"
"moved, goes_back, swapped";

static Move *read_move(PGresult * result);
static Move *find_move(const char *relation);
static void check_same_move(Move *m);
static bool await_position(Server *from, Move *m, int64 until);
static bool swap_command(Server *session, const char *sql, int count, const char *const *args);
static bool try_swap(Move *m);
static void swap(Move *m);
static void drop_moved(Move *m, const char *moved);
static void close_source(Move *m);
static void open_target(Move *m);
static Move *end_record(Move *m);
static Move *perform(Move *m);

/* The record, or NULL. */
static Move *
read_move(PGresult * result)
{
	Move	   *m = pg_malloc0(sizeof(Move));
	bool		found = PQntuples(result) > 0;

	if (found)
	{
		char	  **texts[] = {&m->move, &m->partition, &m->parent, &m->nspname, &m->name, &m->source, &m->target,
		&m->schemaname, &m->tablename, &m->at, &m->low, &m->high, &m->moved};

		for (int i = 0; i < lengthof(texts); i++)
			*texts[i] = get_text(result, 0, i);
		m->goes_back = PQgetvalue(result, 0, 13)[0] == 't';
		m->swapped = PQgetvalue(result, 0, 14)[0] == 't';
		m->is_copy = m->parent == NULL;
		if (m->is_copy)
			m->parent = m->partition;
	}
	PQclear(result);
	return found ? m : NULL;
}

/*
 * The move of a split that has begun.  A program that was killed may have sent the
 * COMMIT of its swap: the row lock waits until that has ended.
 */
static Move *
find_move(const char *partition)
{
	PGresult   *other = query(&here, "SELECT performer, name FROM spanner_internal.begun_moves\n"
							  " WHERE partition = $1::oid AND performer <> current_user", ARGS(partition));

	if (PQntuples(other) > 0)
		fail_with(EXIT_FAILED, NULL, "Let that role end it.", "role \"%s\" has begun a move of \"%s\"",
				  plain(PQgetvalue(other, 0, 0)), plain(PQgetvalue(other, 0, 1)));
	PQclear(other);
	return read_move(query(&here, psprintf("SELECT %s FROM spanner_internal.own_record\n"
										   " WHERE parent IS NOT NULL AND partition = $1::oid FOR UPDATE",
										   record_columns), ARGS(partition)));
}

/* Nothing else is done to a table while one of its splits, or it, moves. */
void
check_no_move(const char *table)
{
	char	   *move = query_value(&here, "SELECT move FROM spanner_internal.begun_moves\n"
								   " WHERE partition = $1::oid OR parent IN (SELECT relid FROM pg_partition_tree($1::oid))",
								   ARGS(table));

	if (move != NULL)
		fail("a move of a split of this table has begun: end it with \"spanner_splits move %s\" first", move);
}

Move *
reload(const char *move)
{
	return read_move(query(&here, psprintf("SELECT %s FROM spanner_internal.own_record WHERE move = $1",
										   record_columns), ARGS(move)));
}

/* Write down what begins, if it can be done. */
Move *
begin_record(const char *sql, int count, const char *const *args)
{
	Move	   *m;

	/* with --dry-run a transaction is open already */
	if (!options.dry_run)
		PQclear(query(&here, "BEGIN", NO_ARGS));
	m = reload(query_value(&here, sql, count, args));
	check_move(m);
	if (!options.dry_run)
		PQclear(query(&here, "COMMIT", NO_ARGS));
	return m;
}

/* What was asked for must be the move that has begun; without --to that is any. */
static void
check_same_move(Move *m)
{
	const char *target = m->goes_back && m->at == NULL ? m->source : m->target;
	bool		is_same = (m->goes_back || m->at != NULL) == (options.at != NULL);

	if (options.target == NULL && options.at == NULL)
		return;
	if (is_same && m->at != NULL && !m->swapped)
		is_same = strcmp(m->at, query_value(&here, "SELECT spanner_internal.cut_value($1::oid, $2::oid, $3)",
											ARGS(m->parent, m->partition, options.at))) == 0;
	if (is_same && strcmp(target ? target : "here", options.target ? options.target : "here") == 0)
		return;
	fail_with(EXIT_FAILED, NULL,
			  psprintf("Run \"spanner_splits move %s\" to go on, or \"spanner_splits abandon %s\" if its rows have not moved yet.",
					   m->move, m->move),
			  "a move of \"%s\" to %s%s%s has begun", plain(m->name), target ? plain(target) : "here",
			  m->at ? " at " : "", m->at ? plain(m->at) : "");
}

/*
 * Ask until the target has applied all that is committed on the source now.  The
 * message flushes the log at its commit, also what open transactions have written.
 */
static bool
await_position(Server *from, Move *m, int64 until)
{
	bool		result = false;
	PGresult   *sent;

	/*
	 * a session that is lost for being late is made anew, but not that here,
	 * which has the lock
	 */
	from->until = until + (from->name == NULL ? 10 * 1000 : 0);
	sent = try_query(from, "SELECT pg_logical_emit_message(true, 'spanner_splits', '')", NO_ARGS);
	while (PQresultStatus(sent) == PGRES_TUPLES_OK && !result && now_ms() < until)
	{
		PGresult   *state = try_query(from, "SELECT confirmed_flush_lsn >= $2::pg_lsn\n"
									  "  FROM pg_replication_slots WHERE slot_name = $1",
									  ARGS(m->move, PQgetvalue(sent, 0, 0)));

		if (PQresultStatus(state) != PGRES_TUPLES_OK || PQntuples(state) != 1)
			break;
		result = PQgetvalue(state, 0, 0)[0] == 't';
		PQclear(state);
		if (!result)
			pg_usleep(5 * 1000);
	}
	PQclear(sent);
	from->until = 0;
	return result;
}

/* A statement of the swap.  What cannot pass by itself ends the program. */
static bool
swap_command(Server *session, const char *sql, int count, const char *const *args)
{
	PGresult   *result = try_query(session, sql, count, args);
	ExecStatusType status = PQresultStatus(result);
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
	{
		PQclear(result);
		return true;
	}
	if (code != NULL && strncmp(code, "55P03", 5) != 0 && strncmp(code, "57", 2) != 0 &&
		strncmp(code, "40", 2) != 0 && strncmp(code, "08", 2) != 0 && strncmp(code, "25P03", 5) != 0)
		fail_after(session, result);
	PQclear(result);
	return false;
}

/*
 * One try.  This session holds the locks, and another one asks the source.  The
 * server ends the session if the program does not go on, so nobody else waits
 * longer for it.  When the record is locked, the program has to have its lock
 * still: who gets that later waits for the record.
 */
static bool
try_swap(Move *m)
{
	Server	   *session = session_here();
	Server	   *from = m->from;
	int64		until;
	bool		done;

	/* autovacuum gives way after a second, in which nobody else has to wait */
	done = swap_command(session, "BEGIN", NO_ARGS) &&
		(m->source != NULL ||
		 swap_command(session, "SELECT spanner_internal.run_as_owner($1::oid, format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE',\n"
					  "  $1::oid::regclass))", ARGS(m->partition)));
	until = now_ms() + SWAP_TIME;
	done = done &&
		swap_command(session, "SELECT set_config('lock_timeout', '300ms', true), set_config('statement_timeout', '2s', true),\n"
					 "  set_config('idle_in_transaction_session_timeout', '2s', true)", NO_ARGS) &&
		swap_command(session, "SELECT spanner_internal.begin_swap($1)", ARGS(m->move)) &&
		swap_command(&here, "SELECT", NO_ARGS) &&
		is_alike(m) &&
		(m->is_empty ? has_no_rows(m) : await_position(from, m, until)) &&
		swap_command(session, "SELECT spanner_internal.end_swap($1)", ARGS(m->move)) &&
		swap_command(session, "COMMIT", NO_ARGS);
	if (session->conn != NULL)
		disconnect(session);
	pg_free(session);
	return done;
}

/* The new partitions take the place of the old one, when the rows are on the target. */
static void
swap(Move *m)
{
	replicate(m);
	if (options.dry_run)
	{
		printf("this server: lock the table, wait for the rest of the log, and change the partitions\n");
		return;
	}
	for (int i = 0; i < options.tries; i++)
	{
		if (((m->is_empty || await_position(m->from, m, now_ms() + 60 * 1000)) && try_swap(m)) ||
			reload(m->move)->swapped)
			return;
		pg_log_info("the swap of \"%s\" gave up, and is tried again", plain(m->name));
		pg_usleep(500 * 1000);
		replicate(m);
	}
	fail_with(EXIT_GAVE_UP, NULL, "Run the same command again, or \"spanner_splits abandon\".",
			  "partition \"%s\" could not be swapped: its table is busy, or a server does not answer", plain(m->name));
}

/* The table that the rows have left goes, unless something depends on it. */
static void
drop_moved(Move *m, const char *moved)
{
	PGresult   *result;

	command(m->from, "UPDATE spanner_internal.own_record SET made = ARRAY[$2::oid] WHERE move = $1", ARGS(m->move, moved));
	if (options.dry_run)
	{
		command(m->from, "SELECT spanner_internal.drop_recorded($1)", ARGS(m->move));
		return;
	}
	result = try_query(m->from, "SELECT spanner_internal.drop_recorded($1)", ARGS(m->move));
	if (PQresultStatus(result) != PGRES_TUPLES_OK)
	{
		const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

		if (code == NULL || strcmp(code, "2BP01") != 0)
			fail_after(m->from, result);
		pg_log_warning("the table that \"%s\" has left stays on %s", plain(m->name), place(m->from));
		pg_log_warning_detail("%s", plain(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL)));
		pg_log_warning_hint("Drop what depends on it, then the table.");
	}
	PQclear(result);
}

/* Those who write to the source's table directly fail from now on; what they have written goes along. */
static void
close_source(Move *m)
{
	char	   *moved = m->source == NULL ? m->moved :
		query_value(m->from, "SELECT moved FROM spanner_internal.own_record WHERE move = $1", ARGS(m->move));

	if (moved == NULL || !query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_class WHERE oid = $1)", ARGS(moved)))
		return;
	if (query_bool(m->from, "SELECT relname = $2 FROM pg_class WHERE oid = $1", ARGS(moved, m->tablename)))
		command(m->from, "SELECT spanner_internal.run_as_owner($1::oid, format('ALTER TABLE %s RENAME TO %I',\n"
				"  $1::oid::regclass, spanner_internal.split_name($2, '_' || right($3, 12))))",
				ARGS(moved, m->tablename, m->move));

	/*
	 * a program that was killed may have ended the subscription, and not the
	 * slot
	 */
	if (!options.dry_run && is_replicating(m) &&
		!await_position(m->from, m, now_ms() + 60 * 1000))
		fail_with(EXIT_GAVE_UP, NULL, "Run the same command again.",
				  "%s has not sent all of the log within a minute", place(m->from));
	end_replication(m);
	drop_moved(m, moved);
}

/* On the target, the parts of a cut become tables of their own. */
static void
open_target(Move *m)
{
	PGresult   *tables = query(m->to, "SELECT c.oid::regclass FROM spanner_internal.own_record r\n"
							   "  JOIN pg_class c ON c.oid = ANY (r.made) AND c.relkind = 'r' WHERE r.move = $1", ARGS(m->move));

	command(m->to, "SELECT spanner_internal.run_as_owner(c.oid, CASE WHEN i.inhparent IS NULL\n"
			"  THEN format('DROP TABLE %s', c.oid::regclass)\n"
			"  ELSE format('ALTER TABLE %s DETACH PARTITION %s', i.inhparent::regclass, c.oid::regclass) END)\n"
			"  FROM spanner_internal.own_record r\n"
			" CROSS JOIN unnest(r.made) WITH ORDINALITY x (oid, n)\n"
			"  JOIN pg_class c ON c.oid = x.oid\n"
			"  LEFT JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent = ANY (r.made)\n"
			" WHERE r.move = $1 AND (c.relkind = 'p' OR i.inhparent IS NOT NULL) ORDER BY x.n", ARGS(m->move));
	for (int i = 0; i < PQntuples(tables); i++)
		command(m->to, psprintf("ANALYZE %s /* long */", PQgetvalue(tables, i, 0)), NO_ARGS);
	if (m->target != NULL)
		command(m->to, "INSERT INTO spanner_internal.ended_record VALUES ($1)", ARGS(m->move));
	PQclear(tables);
}

/* The end of a move is the begin of the lower part's way back. */
static Move *
end_record(Move *m)
{
	char	   *back = NULL;

	command(&here, "BEGIN", NO_ARGS);
	if (m->goes_back && m->at != NULL)
	{
		/* if its name was that of the table that routed the rows */
		if (m->target == NULL && strcmp(m->name, m->tablename) == 0 && strcmp(m->nspname, m->schemaname) == 0)
			command(&here, "SELECT spanner_internal.run_as_owner($1::oid, format('ALTER TABLE %I.%I RENAME TO %I', $2::name, $3::name, $4::name))",
					ARGS(m->parent, m->nspname, m->low, m->name));
		back = query_value(&here, "INSERT INTO spanner_internal.own_record\n"
						   "  (move, partition, parent, nspname, name, source, target, schemaname, tablename, goes_back, moved)\n"
						   "SELECT spanner_internal.new_move_name(), s.partition, $2::oid, $3, $4, s.server, $5,\n"
						   "  s.schemaname, s.tablename, true, CASE WHEN s.server IS NULL THEN s.partition::oid END\n"
						   "  FROM spanner_internal.list_splits($2::oid) s\n"
						   " WHERE s.partition = spanner_internal.find_relation($3, $4) AND $1 <> '' RETURNING move",
						   ARGS(m->move, m->parent, m->nspname, m->name, m->source));
		if (back == NULL)
			fail("partition \"%s\" is gone", plain(m->name));
	}
	command(&here, "INSERT INTO spanner_internal.ended_record VALUES ($1)", ARGS(m->move));
	command(&here, "COMMIT", NO_ARGS);
	return back == NULL ? NULL : reload(back);
}

/* From the record to its end; returns the move that follows. */
static Move *
perform(Move *m)
{
	m->from = find_server(m->source);
	m->to = find_server(m->target);
	if (!m->swapped)
	{
		pg_log_info("copying \"%s\" from %s to %s", plain(m->name), place(m->from), place(m->to));
		swap(m);
		if (options.dry_run)
			return NULL;
		pg_log_info("the rows of \"%s\" are on %s now", plain(m->name), place(m->to));
	}
	m->from = find_server(m->source);
	close_source(m);
	end_replication(m);
	if (m->source != NULL)
		command(m->from, "INSERT INTO spanner_internal.ended_record VALUES ($1)", ARGS(m->move));
	open_target(m);
	return end_record(m);
}

/* Move a split, or go on with it. */
void
move_split(const char *split)
{
	const char *target = options.target;
	Move	   *m;

	m = find_move(split);
	if (m != NULL)
		check_same_move(m);
	else
	{
		if (target == NULL)
			fail("option --to is missing");
		if (strcmp(target, "here") == 0)
			target = NULL;
		m = begin_record("SELECT spanner_internal.begin_move($1::oid, $2, $3)", ARGS(split, target, options.at));
	}
	while (m != NULL)
		m = perform(m);
	pg_log_info("done");
}

/*
 * Undo what a move has made, unless the rows are on the target already.  The
 * partition may have been dropped meanwhile, and the target may be gone.
 */
void
abandon_split(const char *split)
{
	Move	   *m;

	m = find_move(split);
	if (m == NULL && end_copies(split))
		return;
	if (m == NULL)
		fail("no move or copy of this table has begun");
	m->from = find_abandoned(m->source, m->move);
	if (m->swapped)
	{
		if (query_bool(&here, "SELECT spanner_internal.find_relation($1, $2) IS NULL", ARGS(m->nspname, m->name)))
		{
			m->goes_back = false;
			perform(m);
			return;
		}
		fail_with(EXIT_FAILED, NULL, "Run the move again, which ends it.",
				  "the rows of \"%s\" have moved already", plain(m->name));
	}
	/* a slot that nobody reads would keep the log until the target is back */
	command(m->from, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots\n"
			" WHERE slot_name = $1 AND database = current_database() AND NOT active", ARGS(m->move));
	m->to = find_abandoned(m->target, m->move);
	end_replication(m);
	command(m->from, "SELECT spanner_internal.run_as_owner(c.oid, format('ALTER TABLE %s REPLICA IDENTITY %s',\n"
			"  c.oid::regclass, CASE r.identity WHEN 'n' THEN 'NOTHING' ELSE 'DEFAULT' END))\n"
			"  FROM spanner_internal.own_record r JOIN pg_class c ON c.oid = r.moved\n"
			" WHERE r.move = $1 AND r.identity IS NOT NULL", ARGS(m->move));
	command(m->to, "SELECT spanner_internal.drop_recorded($1)", ARGS(m->move));
	if (m->target == NULL)
		command(&here, "SELECT spanner_internal.run_as_owner(c.oid, format('ALTER FOREIGN TABLE %s RENAME TO %I', c.oid::regclass, $2::name))\n"
				"  FROM pg_class c WHERE c.oid = $1::oid AND c.relname <> $2::name", ARGS(m->partition, m->name));
	command(m->from, "INSERT INTO spanner_internal.ended_record\n"
			"SELECT move FROM spanner_internal.own_record WHERE move = $1 AND parent IS NULL", ARGS(m->move));
	command(m->to, "INSERT INTO spanner_internal.ended_record\n"
			"SELECT move FROM spanner_internal.own_record WHERE move = $1 AND parent IS NULL", ARGS(m->move));
	command(&here, "INSERT INTO spanner_internal.ended_record VALUES ($1)", ARGS(m->move));
	pg_log_info("done");
}

/* What has begun and has not ended, and copies that are not read, and keep the log. */
void
list_moves(void)
{
	PGresult   *rows = query(&here, "SELECT nspname, name, coalesce(source, 'here'), coalesce(target, 'here'),\n"
							 "  CASE WHEN swapped THEN 'swapped' ELSE 'copying' END, move\n"
							 "  FROM spanner_internal.own_record WHERE parent IS NOT NULL\n"
							 "UNION ALL\n"
							 "SELECT l.schemaname, l.tablename, 'here', l.server, 'not read', format('%I.%I', l.schemaname, l.tablename)\n"
							 "  FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = p.oid\n"
							 "  JOIN pg_replication_slots s ON s.slot_name = p.pubname AND NOT s.active AND s.database = current_database()\n"
							 " CROSS JOIN LATERAL spanner_internal.list_copies(r.prrelid) l\n"
							 " WHERE l.copy = p.pubname\n"
							 "UNION ALL\n"
							 "SELECT nspname, name, 'here', target, 'table is gone', move FROM spanner_internal.own_record r\n"
							 " WHERE parent IS NULL AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = r.partition)\n"
							 "   AND partition IS NOT NULL ORDER BY 1, 2, 4", NO_ARGS);

	for (int i = 0; i < PQntuples(rows); i++)
		printf("%s.%s\t%s -> %s\t%s\t%s\n", plain(PQgetvalue(rows, i, 0)), plain(PQgetvalue(rows, i, 1)),
			   plain(PQgetvalue(rows, i, 2)), plain(PQgetvalue(rows, i, 3)), PQgetvalue(rows, i, 4),
			   plain(PQgetvalue(rows, i, 5)));
	if (PQntuples(rows) > 0)
		pg_log_info("\"move\" with the last name of a line goes on, \"abandon\" undoes what is not swapped, or ends a copy");
	PQclear(rows);
}
