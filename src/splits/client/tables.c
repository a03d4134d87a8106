/*-------------------------------------------------------------------------
 *
 * tables.c
 *	  The table of a split on its new server, and its replication.
 *
 * A table is made by running what the source's own pg_get_...def() functions
 * say, as the owner of the table.  Each function here looks first whether it
 * has been done, so it can be run again after a crash at any point.
 *
 * src/splits/client/tables.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres_fe.h"

#include "fe_utils/string_utils.h"

#include "client.h"

static char *find_table(Server *server, const char *schemaname, const char *name);
static void check_source(Move *m, const char *table);
static char *check_owner(Move *m);
static void check_sorting(Move *m);
static bool makes_part_of_table(const char *text);
static void make_one(Move *m, PGresult * commands, PGresult * grants, const char *owner);
static void note_made(Move *m, const char *name);
static void make_part(Move *m, PGresult * commands, PGresult * grants, const char *owner, const char *name);
static void make_parts(Move *m, PGresult * commands, PGresult * grants, const char *owner);
static void check_free_name(Move *m);
static void publish(Move *m);
static void make_tables(Move *m);
static char *without_passwords(const char *connection);
static void subscribe(Move *m);
static void await_copy(Move *m);
static bool has_slot(Move *m);
static char *copy_state(Move *m);
static void restart_copy(Move *m);

/* The OID of a plain or partitioned table, NULL if there is none of that name. */
static char *
find_table(Server *server, const char *schemaname, const char *name)
{
	return query_value(server,
					   "SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace\n"
					   " WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind = ANY ('{r,p}')",
					   ARGS(schemaname, name));
}

/* Can the source publish the table? */
static void
check_source(Move *m, const char *table)
{
	char	   *reason = m->is_copy ? NULL :
		query_value(m->from, "SELECT spanner_internal.move_obstacle($1)", ARGS(table));

	if (reason != NULL)
	{
		pg_log_error("the rows of table \"%s\" cannot move", plain(m->tablename));
		pg_log_error_detail("%s", plain(reason));
		pg_log_error_hint("Drop the foreign keys, or run ALTER TABLE ... DISABLE ROW LEVEL SECURITY: the table on the other server will have neither.");
		exit(EXIT_FAILED);
	}
	if (query_value(m->from, "SELECT to_regclass('pg_catalog.pg_dist_partition')", NO_ARGS) != NULL &&
		query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = $1::oid)", ARGS(table)))
		fail("table \"%s\" is distributed by Citus, which moves its shards itself", plain(m->tablename));
	if (m->is_empty)
		return;
	reason = query_value(m->from, "SELECT conname FROM pg_constraint WHERE conrelid = $1::oid AND contype = 'c' AND NOT convalidated", ARGS(table));
	if (reason != NULL)
		fail("constraint \"%s\" of table \"%s\" is not valid: validate or drop it first", plain(reason), plain(m->tablename));
	if (!query_bool(m->from, "SELECT current_setting('wal_level') = 'logical'\n"
					"    OR current_setting('wal_level') = 'replica'\n"
					"       AND current_setting('effective_wal_level', true) IS NOT NULL", NO_ARGS))
	{
		pg_log_error("wal_level of %s is not logical", place(m->from));
		pg_log_error_hint("Set wal_level to logical there and restart that server.");
		exit(EXIT_FAILED);
	}
	if (!query_bool(m->from, "SELECT has_database_privilege(current_database(), 'CREATE')", NO_ARGS))
	{
		pg_log_error("%s: a publication needs the right to create objects in the database", place(m->from));
		pg_log_error_hint("Run GRANT CREATE ON DATABASE for the role that performs the move.");
		exit(EXIT_FAILED);
	}
	if (!query_bool(m->from, "SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user", NO_ARGS))
	{
		pg_log_error("%s: a replication slot needs the attribute REPLICATION", place(m->from));
		pg_log_error_hint("Run ALTER ROLE ... REPLICATION for the role that performs the move.");
		exit(EXIT_FAILED);
	}
}

/* Publication and slot on the source, and which table is left there after the move. */
static void
publish(Move *m)
{
	char	   *table = find_table(m->from, m->schemaname, m->tablename);
	char	   *name = quoted(m->from, m->move);

	if (table == NULL)
		fail("there is no table \"%s.%s\" on %s", plain(m->schemaname), plain(m->tablename), place(m->from));
	check_source(m, table);
	if (m->from->name != NULL)
		command(m->from, "INSERT INTO spanner_internal.own_record (move, moved) VALUES ($1, $2)\n"
				"ON CONFLICT DO NOTHING", ARGS(m->move, table));
	command(m->from, "SELECT spanner_internal.make_shards_plain($1::oid, $2::oid)",
			ARGS(table, m->from->name == NULL && m->parent != NULL ? m->parent : table));
	if (m->is_empty)
		return;
	if (!query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = $1)", ARGS(m->move)))
	{
		if (!query_bool(m->from, "SELECT c.relreplident = 'f' OR EXISTS (\n"
						"  SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisvalid AND CASE c.relreplident\n"
						"    WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END)\n"
						"  FROM pg_class c WHERE c.oid = $1", ARGS(table)))
			command(m->from, "SELECT spanner_internal.run_as_owner($1::oid, $2)",
					ARGS(table, psprintf("ALTER TABLE %s REPLICA IDENTITY FULL",
										 qualified(m->from, m->schemaname, m->tablename))));
		command(m->from, psprintf("CREATE PUBLICATION %s FOR TABLE ONLY %s", name,
								  qualified(m->from, m->schemaname, m->tablename)), NO_ARGS);
	}
	if (!options.dry_run &&
		!query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid\n"
					" WHERE p.pubname = $1 AND r.prrelid = $2)", ARGS(m->move, table)))
		fail("publication \"%s\" on %s is not of table \"%s.%s\"", m->move, place(m->from),
			 plain(m->schemaname), plain(m->tablename));
}

/* Whose the table is on the target; on release 15 its code would run as who subscribes. */
static char *
check_owner(Move *m)
{
	char	   *owner = query_value(&here, "SELECT spanner_internal.owner_there($1::oid, $2)",
									ARGS(m->parent, m->target));
	char	   *role;

	if (owner == NULL)
		return query_value(m->to, "SELECT oid FROM pg_roles WHERE rolname = current_user", NO_ARGS);
	role = query_value(m->to, "SELECT oid FROM pg_roles WHERE rolname = $1", ARGS(owner));
	if (role == NULL)
	{
		pg_log_error("%s: role \"%s\" does not exist", place(m->to), plain(owner));
		pg_log_error_detail("It owns table \"%s\".", plain(m->name));
		exit(EXIT_FAILED);
	}
	/* a copy stays, so until then it belongs to who subscribes */
	if (m->is_copy && PQserverVersion(m->to->conn) < 160000)
		return query_value(m->to, "SELECT oid FROM pg_roles WHERE rolname = current_user", NO_ARGS);
	if (PQserverVersion(m->to->conn) < 160000 &&
		!query_bool(m->to, "SELECT rolsuper OR rolname = current_user FROM pg_roles WHERE oid = $1", ARGS(role)))
	{
		pg_log_error("table \"%s\" would run code of role \"%s\" with your rights", plain(m->name), plain(owner));
		pg_log_error_detail("Until release 16, what replication writes is written by the owner of the subscription.");
		pg_log_error_hint("Run this program as the owner of the table, or use release 16 or later on %s.", place(m->to));
		exit(EXIT_FAILED);
	}
	return role;
}

/* What the key orders has to sort alike everywhere. */
static void
check_sorting(Move *m)
{
	const char *sql = "SELECT spanner_internal.sorting($1, $2, $3)";
	PGresult   *keys = query(&here, "SELECT * FROM spanner_internal.key_sorting($1::oid)", ARGS(m->parent));

	for (int i = 0; i < PQntuples(keys); i++)
	{
		const char *args[3] = {get_text(keys, i, 0), get_text(keys, i, 1), get_text(keys, i, 2)};
		char	   *known = query_value(&here, sql, 3, args);
		Server	   *others[] = {m->from, m->to};

		for (int j = 0; j < 2; j++)
		{
			char	   *there = query_value(others[j], sql, 3, args);

			if (known != NULL && there != NULL && strcmp(known, there) == 0)
				continue;
			pg_log_error("%s sorts the key of table \"%s\" in another way", place(others[j]), plain(m->name));
			pg_log_error_detail("%s \"%s\" is %s there, %s here.", args[0], plain(args[2]),
								there ? plain(there) : "unknown", known ? plain(known) : "unknown");
			pg_log_error_hint("Use a key with collation \"C\", or databases of the same provider, locale and version.");
			exit(EXIT_FAILED);
		}
	}
	PQclear(keys);
}

/* What a source says is run as the owner of the table, and is of these kinds. */
static bool
makes_part_of_table(const char *text)
{
	static const char *const kinds[] = {"CREATE TABLE ", "ALTER TABLE ", "CREATE INDEX ",
	"CREATE UNIQUE INDEX ", "CREATE STATISTICS ", "CREATE TRIGGER "};

	for (int i = 0; i < lengthof(kinds); i++)
		if (strncmp(text, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

/* A table of the name that the source's has, in the transaction that is open. */
static void
make_one(Move *m, PGresult * commands, PGresult * grants, const char *owner)
{
	for (int i = 0; i < PQntuples(commands); i++)
	{
		const char *text = PQgetvalue(commands, i, 1);

		if (!makes_part_of_table(text))
			fail("%s describes table \"%s\" by something else: %s", place(m->from), plain(m->tablename), plain(text));
		command(m->to, "SELECT spanner_internal.run_as($1, $2)", ARGS(owner, text));
	}
	for (int i = 0; i < PQntuples(grants); i++)
		command(m->to, "SELECT spanner_internal.run_as($1, $2)", ARGS(owner, PQgetvalue(grants, i, 0)));
}

/* What has been made is in the record. */
static void
note_made(Move *m, const char *name)
{
	command(m->to, "UPDATE spanner_internal.own_record\n"
			"   SET made = made || spanner_internal.find_relation($2, $3)::oid WHERE move = $1",
			ARGS(m->move, m->schemaname, name));
}

/* A part of a cut: another table like that, with its own names. */
static void
make_part(Move *m, PGresult * commands, PGresult * grants, const char *owner, const char *name)
{
	PGresult   *renames;

	make_one(m, commands, grants, owner);
	/* the table that would be made is like that on the source */
	renames = query(options.dry_run ? m->from : m->to, "SELECT spanner_internal.rename_commands(spanner_internal.find_relation($1, $2), $3)",
					ARGS(m->schemaname, m->tablename, name));
	for (int i = 0; i < PQntuples(renames); i++)
		command(m->to, "SELECT spanner_internal.run_as($1, $2)", ARGS(owner, PQgetvalue(renames, i, 0)));
	PQclear(renames);
	note_made(m, name);
}

/* Rows of a split that is cut are routed into its parts, by a table that has them as partitions. */
static void
make_parts(Move *m, PGresult * commands, PGresult * grants, const char *owner)
{
	PGresult   *ranges;
	char	   *key = query_value(&here, "SELECT pg_get_partkeydef($1::oid)", ARGS(m->parent));
	char	   *table = qualified(m->to, m->schemaname, m->tablename);

	command(&here, "SELECT spanner_internal.note_former($1)", ARGS(m->move));
	/* the ranges need it; the transaction is rolled back */
	if (options.dry_run)
		PQclear(query(&here, "SELECT spanner_internal.note_former($1)", ARGS(m->move)));
	make_part(m, commands, grants, owner, m->low);
	make_part(m, commands, grants, owner, m->high);
	command(m->to, "SELECT spanner_internal.run_as($1, $2)",
			ARGS(owner, psprintf("CREATE TABLE %s (LIKE %s INCLUDING GENERATED) PARTITION BY %s", table,
								 qualified(m->to, m->schemaname, m->high), key)));
	note_made(m, m->tablename);
	ranges = query(&here, "SELECT p.tablename, p.range FROM spanner.split_record r\n"
				   " CROSS JOIN spanner_internal.move_ranges(r) p\n"
				   " WHERE r.move = $1 AND r.performer = current_user", ARGS(m->move));
	for (int i = 0; i < PQntuples(ranges); i++)
	{
		char	   *part = qualified(m->to, m->schemaname, PQgetvalue(ranges, i, 0));

		command(m->to, "SELECT spanner_internal.run_as($1, $2)",
				ARGS(owner, psprintf("ALTER TABLE %s ATTACH PARTITION %s %s", table, part,
									 PQgetvalue(ranges, i, 1))));
		command(m->to, "SELECT spanner_internal.run_as($1, format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s)',\n"
				"  $2::text, spanner_internal.split_name($3, '_bounds'), pg_get_partition_constraintdef($2::text::regclass)))",
				ARGS(owner, part, PQgetvalue(ranges, i, 0)));
	}
	PQclear(ranges);
}

/* The name that the table needs may be that of the partition, which gets another one meanwhile. */
static void
check_free_name(Move *m)
{
	char	   *found = query_value(m->to, "SELECT spanner_internal.find_relation($1, $2)::oid",
									ARGS(m->schemaname, m->tablename));

	if (found == NULL)
		return;
	if (m->to->name == NULL && strcmp(found, m->partition) == 0)
	{
		command(m->to, "SELECT spanner_internal.run_as_owner($1::oid, format('ALTER FOREIGN TABLE %s RENAME TO %I',\n"
				"  $1::oid::regclass, spanner_internal.split_name($2, '_away')))", ARGS(m->partition, m->name));
		return;
	}
	pg_log_error("%s: relation \"%s.%s\" already exists, and is another one", place(m->to),
				 plain(m->schemaname), plain(m->tablename));
	pg_log_error_hint("Rename or drop it first.");
	exit(EXIT_FAILED);
}

/* The tables on the target and their record, in one transaction. */
static void
make_tables(Move *m)
{
	char	   *owner = check_owner(m);
	char	   *made = query_value(m->to, "SELECT cardinality(made) FROM spanner_internal.own_record WHERE move = $1",
								   ARGS(m->move));
	PGresult   *commands;
	PGresult   *grants;

	if (m->parent != NULL)
		check_sorting(m);
	if (made != NULL && strcmp(made, "0") != 0)
		return;
	commands = query(m->from, "SELECT n, command FROM spanner_internal.split_definition(spanner_internal.find_relation($1, $2)) ORDER BY n, command",
					 ARGS(m->schemaname, m->tablename));
	grants = query(&here, "SELECT spanner_internal.grants_for_target($2::oid, $3, $1, $4)",
				   ARGS(qualified(m->to, m->schemaname, m->tablename), m->partition, m->target, m->is_copy ? "t" : "f"));
	command(m->to, "BEGIN", NO_ARGS);
	command(m->to, "INSERT INTO spanner_internal.own_record (move) VALUES ($1) ON CONFLICT DO NOTHING", ARGS(m->move));
	check_free_name(m);
	if (!query_bool(m->to, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", ARGS(m->schemaname)))
		command(m->to, psprintf("CREATE SCHEMA %s AUTHORIZATION %s", quoted(m->to, m->schemaname),
								quoted(m->to, query_value(m->to, "SELECT rolname FROM pg_roles WHERE oid = $1", ARGS(owner)))),
				NO_ARGS);
	if (m->at != NULL)
		make_parts(m, commands, grants, owner);
	else
	{
		make_one(m, commands, grants, owner);
		note_made(m, m->tablename);
	}
	command(m->to, "COMMIT", NO_ARGS);
	PQclear(commands);
	PQclear(grants);
}

/* What is changed of a table during its copy is not replicated; true, or the end of the program. */
bool
is_alike(Move *m)
{
	const char *sql = "SELECT spanner_internal.split_signature(spanner_internal.find_relation($1, $2))::text";
	const char *names[] = {m->at ? m->low : m->tablename, m->at ? m->high : NULL};
	char	   *source = query_value(m->from, sql, ARGS(m->schemaname, m->tablename));

	for (int i = 0; i < 2 && names[i] != NULL; i++)
	{
		char	   *target = query_value(m->to, sql, ARGS(m->schemaname, names[i]));

		if (source != NULL && target != NULL && strcmp(source, target) == 0)
			continue;
		pg_log_error("table \"%s.%s\" on %s is not like that on the source", plain(m->schemaname),
					 plain(names[i]), place(m->to));
		pg_log_error_detail("It is %s there, and %s.", source ? plain(source) : "gone", target ? plain(target) : "gone here");
		pg_log_error_hint("One of them has been changed during the move. Make both alike, or abandon the move.");
		exit(EXIT_FAILED);
	}
	return true;
}

static bool
has_slot(Move *m)
{
	return query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_replication_slots\n"
					  " WHERE slot_name = $1 AND database = current_database())", ARGS(m->move));
}

/* Of the first copy: 'r' if it has ended, ' ' before it begins, NULL without a subscription. */
static char *
copy_state(Move *m)
{
	return query_value(m->to, "SELECT coalesce(r.srsubstate, ' ') FROM pg_subscription s\n"
					   "  JOIN pg_database d ON d.oid = s.subdbid AND d.datname = current_database()\n"
					   "  LEFT JOIN pg_subscription_rel r ON r.srsubid = s.oid\n"
					   " WHERE s.subname = $1", ARGS(m->move));
}

/* Are both ends of the replication there? */
bool
is_replicating(Move *m)
{
	return copy_state(m) != NULL && has_slot(m);
}

/* The copy begins anew, since its slot is gone. */
static void
restart_copy(Move *m)
{
	command(m->to, "SELECT spanner_internal.end_subscription($1)", ARGS(m->move));
	command(m->to, "SELECT spanner_internal.run_as_owner(c.oid, format('TRUNCATE %s', c.oid::regclass))\n"
			"  FROM spanner_internal.own_record r JOIN pg_class c ON c.oid = r.made[cardinality(r.made)]\n"
			" WHERE r.move = $1", ARGS(m->move));
}

/* A connection string as it is shown: with stars for what libpq keeps from being seen. */
static char *
without_passwords(const char *connection)
{
	PQconninfoOption *parsed = PQconninfoParse(connection, NULL);
	PQExpBufferData shown;

	if (parsed == NULL)
		return pg_strdup("********");
	initPQExpBuffer(&shown);
	for (PQconninfoOption * o = parsed; o->keyword != NULL; o++)
		if (o->val != NULL)
		{
			appendPQExpBuffer(&shown, "%s%s=", shown.len > 0 ? " " : "", o->keyword);
			appendConnStrVal(&shown, o->dispchar[0] == '*' ? "********" : o->val);
		}
	PQconninfoFree(parsed);
	return shown.data;
}

/* Slot on the source and subscription on the target. */
static void
subscribe(Move *m)
{
	char	   *state = copy_state(m);
	char	   *name = quoted(m->to, m->move);
	char	   *connection;
	char	   *literal;

	if (state != NULL && (state[0] == 'f' || !has_slot(m)))
	{
		restart_copy(m);
		state = NULL;
	}
	if (!has_slot(m))
		command(m->from, "SELECT pg_create_logical_replication_slot($1, 'pgoutput') /* long */", ARGS(m->move));
	if (state != NULL)
		return;
	if (!options.dry_run &&
		!query_bool(m->to, "SELECT spanner_internal.count_rows(r.made[cardinality(r.made)], false) = 0\n"
					"  FROM spanner_internal.own_record r WHERE r.move = $1", ARGS(m->move)))
		fail("table \"%s.%s\" on %s has rows already", plain(m->schemaname), plain(m->tablename), place(m->to));
	connection = options.connection ? pg_strdup(options.connection) :
		query_value(&here, "SELECT spanner_internal.subscription_connection($1)", ARGS(m->source));
	if (options.dry_run)
		connection = without_passwords(connection);
	literal = PQescapeLiteral(m->to->conn, connection, strlen(connection));
	command(m->to, psprintf("CREATE SUBSCRIPTION %s CONNECTION %s PUBLICATION %s\n"
							"  WITH (create_slot = false, slot_name = %s, synchronous_commit = on)",
							name, literal, name, name), NO_ARGS);
}

/* Wait until the first copy has ended.  A minute without a worker, or ten errors, are too many. */
static void
await_copy(Move *m)
{
	int64		idle_since = now_ms();
	int64		shown = now_ms();

	if (options.dry_run)
		return;
	for (;;)
	{
		char	   *state = copy_state(m);

		if (state == NULL)
			fail("%s: subscription \"%s\" is gone", place(m->to), m->move);
		if (state[0] == 'r')
			return;
		if (query_bool(m->to, "SELECT EXISTS (SELECT FROM pg_stat_subscription\n"
					   " WHERE subname = $1 AND pid IS NOT NULL AND (relid IS NOT NULL OR $2 <> 'f'))", ARGS(m->move, state)))
			idle_since = now_ms();
		if (state[0] == 'f' && now_ms() - idle_since > 10 * 1000)
		{
			/*
			 * core drops the slot of the copy before it commits that the copy
			 * has ended
			 */
			subscribe(m);
			idle_since = now_ms();
		}
		if (now_ms() - idle_since > 60 * 1000 ||
			query_bool(m->to, "SELECT sync_error_count >= 10 FROM pg_stat_subscription_stats WHERE subname = $1", ARGS(m->move)))
		{
			pg_log_error("the first copy does not end: no worker runs on %s, or each one fails", place(m->to));
			pg_log_error_hint("Look into the log there, then run the same command again.");
			exit(EXIT_GAVE_UP);
		}
		if (now_ms() - shown > 10 * 1000)
		{
			pg_log_info("the first copy of \"%s\" goes on", plain(m->name));
			shown = now_ms();
		}
		pg_usleep(100 * 1000);
	}
}

/* Has nothing ever been written to a table here?  Under the lock of the swap it stays so. */
bool
has_no_rows(Move *m)
{
	return query_bool(&here, "SELECT pg_relation_size($1::oid) = 0", ARGS(m->moved));
}

/* All that comes before the swap.  A partition without rows needs no replication. */
void
replicate(Move *m)
{
	m->is_empty = m->source == NULL && !m->is_copy && has_no_rows(m) &&
		!has_slot(m) && copy_state(m) == NULL;
	publish(m);
	make_tables(m);
	if (m->is_empty)
		return;
	subscribe(m);
	await_copy(m);
}

/* Subscription, slot and publication go. */
void
end_replication(Move *m)
{
	int64		until = now_ms() + 60 * 1000;

	command(m->to, "SELECT spanner_internal.end_subscription($1)", ARGS(m->move));
	while (!options.dry_run && now_ms() < until &&
		   query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active)", ARGS(m->move)))
		pg_usleep(50 * 1000);
	command(m->from, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots\n"
			" WHERE slot_name = $1 AND database = current_database()", ARGS(m->move));
	command(m->from, psprintf("DROP PUBLICATION IF EXISTS %s", quoted(m->from, m->move)), NO_ARGS);
}
