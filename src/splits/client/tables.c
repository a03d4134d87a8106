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

static void demand(Server *server, const char *message, const char *hint,
				   const char *sql, int count, const char *const *args);
static void check_source(Move *m);
static char *check_owner(Move *m);
static void check_target(Move *m);
static void check_sorting(Move *m);
static void check_no_statement(Server *server, const char *relation);
static bool makes_part_of_table(const char *text);
static void make_one(Move *m, PGresult * commands, PGresult * grants);
static void note_made(Move *m, const char *name);
static void make_part(Move *m, PGresult * commands, PGresult * grants, const char *name);
static void make_parts(Move *m, PGresult * commands, PGresult * grants);
static void publish(Move *m);
static void make_tables(Move *m);
static char *without_passwords(const char *connection);
static void subscribe(Move *m);
static void await_copy(Move *m);
static bool has_slot(Move *m);
static char *copy_state(Move *m);
static void restart_copy(Move *m);

/* What must be true on a server, or the end. */
static void
demand(Server *server, const char *message, const char *hint,
	   const char *sql, int count, const char *const *args)
{
	if (query_bool(server, sql, count, args))
		return;
	fail_with(EXIT_FAILED, NULL, hint, "%s: %s", place(server), message);
}

/*
 * A foreign partition can name any table on its server.  So what a role does there
 * for the owner of a table here is done to a table of that owner, or to a copy.
 */
void
check_owner_there(Server *server, const char *parent, const char *schemaname, const char *name, const char *copy)
{
	char	   *owner;
	char	   *other;

	if (server->name == NULL)
		return;
	owner = query_value(&here, "SELECT nullif(spanner_internal.owner_there($1::oid, $2), current_user)",
						ARGS(parent, server->name));
	if (owner == NULL)
		return;
	other = query_value(server, "SELECT pg_get_userbyid(c.relowner) FROM pg_class c\n"
						" WHERE c.oid = spanner_internal.find_relation($1, $2) AND pg_get_userbyid(c.relowner) <> $3\n"
						"   AND NOT EXISTS (SELECT FROM pg_subscription s JOIN pg_subscription_rel r ON r.srsubid = s.oid\n"
						"                    WHERE s.subname = $4 AND s.subowner = c.relowner AND r.srrelid = c.oid)",
						ARGS(schemaname, name, owner, copy));
	if (other != NULL)
		fail_with(EXIT_FAILED, psprintf("It belongs to role \"%s\" there, and the table here to \"%s\".", other, owner),
				  "Give both the same owner, or run the program as the owner of the table here.",
				  "table \"%s.%s\" on %s has another owner", plain(schemaname), plain(name), place(server));
}

/* Can the source publish the table, and the target subscribe? */
static void
check_source(Move *m)
{
	char	   *reason = m->is_copy ? NULL :
		query_value(m->from, "SELECT spanner_internal.move_obstacle($1)", ARGS(m->table));

	if (reason != NULL)
		fail_with(EXIT_FAILED, plain(reason),
				  "Drop the foreign keys, or run ALTER TABLE ... DISABLE ROW LEVEL SECURITY: the table on the other server will have neither.",
				  "the rows of table \"%s\" cannot move", plain(m->tablename));
	if (query_value(m->from, "SELECT to_regclass('pg_catalog.pg_dist_partition')", NO_ARGS) != NULL &&
		query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = $1::oid)", ARGS(m->table)))
		fail("table \"%s\" is distributed by Citus, which moves its shards itself", plain(m->tablename));
	if (m->is_empty)
		return;
	reason = query_value(m->from, "SELECT conname FROM pg_constraint WHERE conrelid = $1::oid AND contype = 'c' AND NOT convalidated", ARGS(m->table));
	if (reason != NULL)
		fail("constraint \"%s\" of table \"%s\" is not valid: validate or drop it first", plain(reason), plain(m->tablename));
	demand(m->from, "wal_level is not logical", "Set wal_level to logical there and restart that server.",
		   "SELECT wal_level = 'logical' FROM spanner_internal.split_server", NO_ARGS);
	demand(m->from, "a publication needs the right to create objects in the database",
		   "Run GRANT CREATE ON DATABASE for the role that performs the move.",
		   "SELECT has_database_privilege(current_database(), 'CREATE')", NO_ARGS);
	demand(m->from, "a replication slot needs the attribute REPLICATION",
		   "Run ALTER ROLE ... REPLICATION for the role that performs the move.",
		   "SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user", NO_ARGS);
	demand(m->to, psprintf("role \"%s\" may not make a subscription", plain(PQuser(m->to->conn))),
		   PQserverVersion(m->to->conn) < 160000 ? "Until release 16 that role must be a superuser there." :
		   "Run GRANT pg_create_subscription and GRANT CREATE ON DATABASE for that role there.",
		   "SELECT u.rolsuper OR has_database_privilege(current_database(), 'CREATE') AND EXISTS (\n"
		   "  SELECT FROM pg_roles r WHERE r.rolname = 'pg_create_subscription' AND pg_has_role(r.oid, 'USAGE'))\n"
		   "  FROM pg_roles u WHERE u.rolname = current_user", NO_ARGS);
}

/* The publication.  Without a key the source logs whole rows until its table goes, or the move is given up. */
static void
publish(Move *m)
{
	char	   *table = qualified(m->from, m->schemaname, m->tablename);

	if (!query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = $1)", ARGS(m->move)))
	{
		if (!query_bool(m->from, "SELECT c.relreplident = 'f' OR EXISTS (\n"
						"  SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisvalid AND CASE c.relreplident\n"
						"    WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END)\n"
						"  FROM pg_class c WHERE c.oid = $1", ARGS(m->table)))
			command(m->from, "WITH noted AS (\n"
					"  UPDATE spanner_internal.own_record r SET identity = c.relreplident\n"
					"    FROM pg_class c WHERE r.move = $1 AND c.oid = $2 RETURNING c.oid)\n"
					"SELECT spanner_internal.run_as_owner(oid, $3) FROM noted",
					ARGS(m->move, m->table, psprintf("ALTER TABLE %s REPLICA IDENTITY FULL", table)));
		command(m->from, psprintf("CREATE PUBLICATION %s FOR TABLE ONLY %s", quoted(m->from, m->move), table), NO_ARGS);
	}
	if (!options.dry_run &&
		!query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid\n"
					" WHERE p.pubname = $1 AND r.prrelid = $2)", ARGS(m->move, m->table)))
	{
		pg_log_error("publication \"%s\" on %s is not of table \"%s.%s\"", m->move, place(m->from),
					 plain(m->schemaname), plain(m->tablename));
		pg_log_error_hint("Run \"spanner_splits abandon %s\", and begin again.", m->move);
		exit(EXIT_FAILED);
	}
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
		fail_with(EXIT_FAILED, psprintf("It owns table \"%s\".", plain(m->name)), "Create the role there.",
				  "%s: role \"%s\" does not exist", place(m->to), plain(owner));
	if (PQserverVersion(m->to->conn) >= 160000 || m->is_empty)
		return role;
	/* a copy stays, so until then it belongs to who subscribes */
	if (m->is_copy)
		return query_value(m->to, "SELECT oid FROM pg_roles WHERE rolname = current_user", NO_ARGS);
	if (!query_bool(m->to, "SELECT rolsuper FROM pg_roles WHERE oid = $1", ARGS(role)))
		fail_with(EXIT_FAILED, "Until release 16, what replication writes is written by the owner of the subscription, a superuser.",
				  psprintf("Use release 16 or later on %s, or let a superuser own the table.", place(m->to)),
				  "table \"%s\" would run code of role \"%s\" with your rights", plain(m->name), plain(owner));
	return role;
}

/* Can the table be made there? */
static void
check_target(Move *m)
{
	char	   *found = query_value(m->to, "SELECT spanner_internal.find_relation($1, $2)::oid",
									ARGS(m->schemaname, m->tablename));
	char	   *owner = query_value(m->to, "SELECT rolname FROM pg_roles WHERE oid = $1", ARGS(m->owner));

	demand(m->to, psprintf("role \"%s\" may not create tables in schema \"%s\"", plain(owner), plain(m->schemaname)),
		   "Create the schema there, and run GRANT USAGE, CREATE ON SCHEMA for that role.",
		   "SELECT CASE WHEN n.oid IS NULL THEN has_database_privilege($2::oid, current_database(), 'CREATE')\n"
		   "            ELSE has_schema_privilege($2::oid, n.oid, 'USAGE') AND has_schema_privilege($2::oid, n.oid, 'CREATE') END\n"
		   "  FROM (VALUES (1)) x LEFT JOIN pg_namespace n ON n.nspname = $1", ARGS(m->schemaname, m->owner));
	/* the partition gets another name meanwhile */
	if (found == NULL || (m->to->name == NULL && strcmp(found, m->partition) == 0))
		return;
	fail_with(EXIT_FAILED, NULL, "Rename or drop it first.", "%s: relation \"%s.%s\" already exists, and is another one",
			  place(m->to), plain(m->schemaname), plain(m->tablename));
}

/* What the key orders has to sort alike everywhere: labels of an enum, and a collation. */
static void
check_sorting(Move *m)
{
	const char *sql = "SELECT coalesce((SELECT string_agg(quote_literal(enumlabel), ' ' ORDER BY enumsortorder)\n"
		"  FROM pg_enum WHERE enumtypid = to_regtype($1)), spanner_internal.sorting(to_regcollation($2)))";
	PGresult   *keys = query(&here, "SELECT a.atttypid::regtype, k.oid::regcollation FROM pg_partitioned_table p\n"
							 " CROSS JOIN unnest(p.partattrs::int2[], p.partcollation::oid[]) k (attnum, oid)\n"
							 "  LEFT JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = k.attnum\n"
							 " WHERE p.partrelid = $1::oid", ARGS(m->parent));
	Server	   *others[] = {m->from, m->to};

	for (int i = 0; i < PQntuples(keys); i++)
		for (int j = 0; j < 2; j++)
		{
			const char *args[] = {get_text(keys, i, 0), get_text(keys, i, 1)};
			char	   *known = query_value(&here, sql, 2, args);
			char	   *there = query_value(others[j], sql, 2, args);

			if (known == NULL || (there != NULL && strcmp(known, there) == 0))
				continue;
			fail_with(EXIT_FAILED, psprintf("Type %s with collation %s is %s there, %s here.", args[0] ? args[0] : "?",
											args[1], there ? there : "unknown", known),
					  "Use a key with collation \"C\", or databases of the same provider, locale and version.",
					  "%s sorts the key of table \"%s\" in another way", place(others[j]), plain(m->name));
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
make_one(Move *m, PGresult * commands, PGresult * grants)
{
	for (int i = 0; i < PQntuples(commands); i++)
	{
		const char *text = PQgetvalue(commands, i, 1);

		/* the parts of a cut have other bounds */
		if (m->at != NULL && strcmp(PQgetvalue(commands, i, 0), "8") == 0)
			continue;
		if (!makes_part_of_table(text))
			fail("%s describes table \"%s\" by something else: %s", place(m->from), plain(m->tablename), plain(text));
		command(m->to, "SELECT spanner_internal.run_as($1, $2)", ARGS(m->owner, text));
	}
	for (int i = 0; i < PQntuples(grants); i++)
		command(m->to, "SELECT spanner_internal.run_as($1, $2)", ARGS(m->owner, PQgetvalue(grants, i, 0)));
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
make_part(Move *m, PGresult * commands, PGresult * grants, const char *name)
{
	PGresult   *renames;

	make_one(m, commands, grants);
	/* the table that would be made is like that on the source */
	renames = query(options.dry_run ? m->from : m->to, "SELECT spanner_internal.rename_commands(spanner_internal.find_relation($1, $2), $3)",
					ARGS(m->schemaname, m->tablename, name));
	for (int i = 0; i < PQntuples(renames); i++)
		command(m->to, "SELECT spanner_internal.run_as($1, $2)", ARGS(m->owner, PQgetvalue(renames, i, 0)));
	PQclear(renames);
	note_made(m, name);
}

/* Rows of a split that is cut are routed into its parts, by a table that has them as partitions. */
static void
make_parts(Move *m, PGresult * commands, PGresult * grants)
{
	PGresult   *ranges;
	char	   *key = query_value(&here, "SELECT pg_get_partkeydef($1::oid)", ARGS(m->parent));
	char	   *table = qualified(m->to, m->schemaname, m->tablename);

	command(&here, "SELECT spanner_internal.note_former($1)", ARGS(m->move));
	/* the ranges need it; the transaction is rolled back */
	if (options.dry_run)
		PQclear(query(&here, "SELECT spanner_internal.note_former($1)", ARGS(m->move)));
	make_part(m, commands, grants, m->low);
	make_part(m, commands, grants, m->high);
	command(m->to, "SELECT spanner_internal.run_as($1, $2)",
			ARGS(m->owner, psprintf("CREATE TABLE %s (LIKE %s INCLUDING GENERATED) PARTITION BY %s", table,
									qualified(m->to, m->schemaname, m->high), key)));
	note_made(m, m->tablename);
	ranges = query(&here, "SELECT p.tablename, p.range FROM spanner.split_record r\n"
				   " CROSS JOIN spanner_internal.move_ranges(r) p\n"
				   " WHERE r.move = $1 AND r.performer = current_user", ARGS(m->move));
	for (int i = 0; i < PQntuples(ranges); i++)
	{
		char	   *part = qualified(m->to, m->schemaname, PQgetvalue(ranges, i, 0));

		command(m->to, "SELECT spanner_internal.run_as($1, $2)",
				ARGS(m->owner, psprintf("ALTER TABLE %s ATTACH PARTITION %s %s", table, part,
										PQgetvalue(ranges, i, 1))));
		command(m->to, "SELECT spanner_internal.run_as($1, format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s)',\n"
				"  $2::text, spanner_internal.split_name($3, '_bounds'), pg_get_partition_constraintdef($2::text::regclass)))",
				ARGS(m->owner, part, PQgetvalue(ranges, i, 0)));
	}
	PQclear(ranges);
}

/* The tables on the target and their record, in one transaction. */
static void
make_tables(Move *m)
{
	PGresult   *commands;
	PGresult   *grants;

	if (m->is_made)
		return;
	commands = query(m->from, "SELECT n, command FROM spanner_internal.split_definition(spanner_internal.find_relation($1, $2)) ORDER BY n, command",
					 ARGS(m->schemaname, m->tablename));
	/* a copy is read only, and until release 16 it belongs to who subscribes */
	grants = query(&here, "SELECT concat(g.head, $1::text, g.tail) FROM spanner_internal.table_grants($2::oid, $3,\n"
				   "  CASE WHEN $4::boolean THEN '{SELECT,REFERENCES}'::text[] END) g\n"
				   "UNION ALL\n"
				   "SELECT format('GRANT SELECT, REFERENCES ON TABLE %s TO %I', $1::text, o)\n"
				   "  FROM spanner_internal.owner_there($2::oid, $3) o WHERE $4::boolean AND o IS NOT NULL",
				   ARGS(qualified(m->to, m->schemaname, m->tablename), m->partition, m->target, m->is_copy ? "t" : "f"));
	/* the name that the table needs is that of the partition */
	if (m->target == NULL)
		command(m->to, "SELECT spanner_internal.run_as_owner(oid, format('ALTER FOREIGN TABLE %s RENAME TO %I',\n"
				"  oid::regclass, spanner_internal.split_name($3, '_away'))) FROM pg_class\n"
				" WHERE oid = spanner_internal.find_relation($1, $2)", ARGS(m->schemaname, m->tablename, m->name));
	command(m->to, "BEGIN", NO_ARGS);
	command(m->to, "INSERT INTO spanner_internal.own_record (move) VALUES ($1) ON CONFLICT DO NOTHING", ARGS(m->move));
	if (!query_bool(m->to, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", ARGS(m->schemaname)))
		command(m->to, "SELECT spanner_internal.run_as($1, $2)",
				ARGS(m->owner, psprintf("CREATE SCHEMA %s", quoted(m->to, m->schemaname))));
	if (m->at != NULL)
		make_parts(m, commands, grants);
	else
	{
		make_one(m, commands, grants);
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

		if (source == NULL || target == NULL || strcmp(source, target) != 0)
			fail_with(EXIT_FAILED, psprintf("It is %s there, and %s.", source ? source : "gone", target ? target : "gone here"),
					  "One of them has been changed during the move. Make both alike, or abandon the move.",
					  "table \"%s.%s\" on %s is not like that on the source", plain(m->schemaname),
					  plain(names[i]), place(m->to));
	}
	return true;
}

static bool
has_slot(Move *m)
{
	return query_bool(m->from, "SELECT EXISTS (SELECT FROM pg_replication_slots\n"
					  " WHERE slot_name = $1 AND database = current_database())", ARGS(m->move));
}

/*
 * Of the first copy: 'r' if it has ended, ' ' if the subscription has found no
 * publication, NULL without a subscription.
 */
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

	if (state != NULL && (state[0] == 'f' || state[0] == ' ' || !has_slot(m)))
	{
		restart_copy(m);
		state = NULL;
	}
	if (!has_slot(m))
		command(m->from, "SELECT pg_create_logical_replication_slot($1, 'pgoutput')\n"
				"  FROM set_config('lock_timeout', '0', true) /* long */", ARGS(m->move));
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
		if (state[0] == ' ')
			fail_with(EXIT_FAILED, NULL, "Run the same command again, with --connection as that server reaches the source.",
					  "%s has not found publication \"%s\": it has connected to another database", place(m->to), m->move);
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
		/* release 19 counts tables and sequences apart */
			query_bool(m->to, "SELECT COALESCE(to_jsonb(s) ->> 'sync_table_error_count', to_jsonb(s) ->> 'sync_error_count')::bigint >= 10\n"
					   " FROM pg_stat_subscription_stats s WHERE subname = $1", ARGS(m->move)))
			fail_with(EXIT_GAVE_UP, NULL, "Look into the log there, then run the same command again.",
					  "the first copy does not end: no worker runs on %s, or each one fails", place(m->to));
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

/* A table that has had a statement for all splits stays where the same command finds it. */
static void
check_no_statement(Server *server, const char *relation)
{
	PGresult   *found = query(server, "SELECT at, move FROM spanner_internal.own_record\n"
							  " WHERE starts_with(move, 'spanner_run_') AND (moved = $1::oid\n"
							  "   OR moved IN (SELECT relid FROM pg_partition_ancestors($1::oid)))", ARGS(relation));

	if (PQntuples(found) > 0)
		fail_with(EXIT_FAILED, psprintf("On %s it has been run: %s", place(server), PQgetvalue(found, 0, 0)),
				  psprintf("Run it again, which ends it, or forget it there by INSERT INTO spanner_internal.ended_record VALUES ('%s').",
						   PQgetvalue(found, 0, 1)),
				  "a statement for all splits has not been run everywhere");
	PQclear(found);
}

/* What can be seen before anything is made or written down. */
void
check_move(Move *m)
{
	m->from = find_server(m->source);
	m->to = find_server(m->target);
	m->table = query_value(m->from, "SELECT oid FROM pg_class\n"
						   " WHERE oid = spanner_internal.find_relation($1, $2) AND relkind = ANY ('{r,p}')",
						   ARGS(m->schemaname, m->tablename));
	if (m->table == NULL)
		fail("there is no table \"%s.%s\" on %s", plain(m->schemaname), plain(m->tablename), place(m->from));
	check_owner_there(m->from, m->parent, m->schemaname, m->tablename, NULL);
	check_no_statement(m->from, m->table);
	check_no_statement(&here, m->partition);
	m->is_empty = m->source == NULL && !m->is_copy && has_no_rows(m) &&
		!has_slot(m) && copy_state(m) == NULL;
	check_source(m);
	m->owner = check_owner(m);
	m->is_made = query_bool(m->to, "SELECT made <> '{}' FROM spanner_internal.own_record WHERE move = $1", ARGS(m->move));
	if (!m->is_made)
		check_target(m);
	check_sorting(m);
}

/* All that comes before the swap.  A partition without rows needs no replication. */
void
replicate(Move *m)
{
	check_move(m);
	if (m->from->name != NULL)
		command(m->from, "INSERT INTO spanner_internal.own_record (move, moved) VALUES ($1, $2)\n"
				"ON CONFLICT DO NOTHING", ARGS(m->move, m->table));
	command(m->from, "SELECT spanner_internal.make_shards_plain($1::oid, $2::oid)",
			ARGS(m->table, m->from->name == NULL ? m->parent : m->table));
	make_tables(m);
	if (m->is_empty)
		return;
	publish(m);
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
