/* src/splits/copy_table.sql */

--
-- Splits: small tables that every server has a copy of
--
-- A copy is what a move has before its swap: a publication and a slot here, and on the other server
-- a table of the same name with a subscription.  So the steps are those of moves.  The names of
-- these objects tell of which table they are, and for which server; nothing else is kept.  Slots
-- belong to the whole server, so the database is a part of the name.
--

-- Publication, slot and subscription of the copy of a table on a server.
CREATE FUNCTION spanner_internal.copy_name(relation regclass, server name)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET quote_all_identifiers = off
BEGIN ATOMIC
  SELECT 'spanner_copy_' || left(md5(format('%I %I.%I %I', current_database(), n.nspname,
                                            c.relname, server)), 12)
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = relation;
END;

-- Where a query may need the rows of small tables.
CREATE FUNCTION spanner_internal.servers_with_splits()
RETURNS SETOF name
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT s.srvname
    FROM pg_foreign_server s
    JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw AND w.fdwname = 'postgres_fdw'
   WHERE EXISTS (
     SELECT
       FROM pg_foreign_table f
       JOIN pg_class c ON c.oid = f.ftrelid AND c.relispartition
      WHERE f.ftserver = s.oid)
   ORDER BY 1;
END;

-- A copy has begun if there is a publication or a slot of its name.
CREATE FUNCTION spanner_internal.list_copies(
  relation regclass,
  OUT server name,
  OUT copy name,
  OUT schemaname name,
  OUT tablename name)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT s.srvname, n.copy, h.nspname, c.relname
    FROM pg_class c
    JOIN pg_namespace h ON h.oid = c.relnamespace
   CROSS JOIN pg_foreign_server s
   CROSS JOIN LATERAL spanner_internal.copy_name(relation, s.srvname) n (copy)
   WHERE c.oid = relation AND c.relkind = 'r'
     AND (EXISTS (SELECT FROM pg_publication p WHERE p.pubname = n.copy)
          OR EXISTS (SELECT FROM pg_replication_slots r
                      WHERE r.slot_name = n.copy AND r.database = current_database()))
   ORDER BY s.srvname;
END;

-- Raise an error unless a table can have copies.
CREATE FUNCTION spanner_internal.check_copied_table(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t pg_class;
  known constant jsonb := spanner_internal.describe_table(relation);
BEGIN
  SELECT * INTO t FROM pg_class WHERE oid = relation;
  IF t.oid IS NULL THEN
    RAISE undefined_table USING
      MESSAGE = format('relation with OID %s does not exist', relation::oid);
  ELSIF t.relkind <> 'r' OR t.relpersistence <> 'p' OR t.relispartition THEN
    RAISE wrong_object_type USING MESSAGE = format('"%s" is not a plain table', t.relname),
      HINT = 'Name a table that is neither partitioned, a partition, temporary nor unlogged.';
  ELSIF NOT spanner_internal.identifies_rows(relation, NULL) THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('table "%s" has no replica identity', t.relname),
      HINT = 'Add a primary key.';
  ELSIF spanner_internal.generated_shard(known -> 'columns', known -> 'indexes') IS NOT NULL THEN
    RAISE feature_not_supported USING
      MESSAGE = format('the key of table "%s" has a generated column', t.relname),
      DETAIL = 'Logical replication cannot send it.',
      HINT = 'spanner.add_shard_key() of spanner_keys_advisor shows how to make it a plain column.';
  ELSIF t.relrowsecurity THEN
    RAISE feature_not_supported USING
      MESSAGE = format('table "%s" has row-level security', t.relname),
      DETAIL = 'Who may read a copy would see all rows.',
      HINT = 'Copy a table without policies that has the rows for everybody.';
  ELSIF current_setting('wal_level') <> 'logical' THEN
    RAISE object_not_in_prerequisite_state USING MESSAGE = 'wal_level is not logical',
      HINT = 'Set wal_level to logical and restart the server.';
  END IF;
END
$$;

-- A new slot would begin with what changes from now on, and a subscription that exists would go on
-- with that.  It would never get what has changed since the old slot was lost.
CREATE FUNCTION spanner_internal.check_copy_continues(relation regclass, server name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  copy constant name := spanner_internal.copy_name(relation, server);
  table_name name;
  facts jsonb;
BEGIN
  SELECT c.relname, spanner_internal.split_facts(server, n.nspname, c.relname)
    INTO table_name, facts
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = relation;
  IF facts -> 'copies' ? copy
     AND NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = copy) THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('the copy of table "%s" on server "%s" has lost its replication slot',
                       table_name, server),
      HINT = 'Give the copy up with give_up => true, then make it again.';
  END IF;
END
$$;

-- A copy is read: who may change the table may not change the copy.
CREATE FUNCTION spanner_internal.describe_copy(relation regclass, server name)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN jsonb_strip_nulls(spanner_internal.describe_table(relation) || jsonb_build_object(
         'version', spanner_internal.extension_version(),
         'owner', spanner_internal.owner_there(relation, server),
         'grants', (
           SELECT coalesce(jsonb_agg(g || jsonb_build_object('privileges', p.reading)
                                     ORDER BY n), '[]')
             FROM jsonb_array_elements(spanner_internal.grants_there(relation, server))
                  WITH ORDINALITY x (g, n)
            CROSS JOIN LATERAL (
              SELECT jsonb_agg(r)
                FROM jsonb_array_elements_text(g -> 'privileges') r
               WHERE r = ANY ('{SELECT,REFERENCES}')) p (reading)
            WHERE p.reading IS NOT NULL)));

-- The owner of a table may give it triggers at any time.  Until release 16 a worker runs them as
-- the owner of the subscription, so the copy belongs to the same role there.
CREATE FUNCTION spanner_internal.make_copy(schemaname name, tablename name, definition jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
  IF current_setting('server_version_num')::integer < 160000 AND definition ? 'owner' THEN
    definition := definition - 'owner' || jsonb_build_object('grants',
      (definition -> 'grants') || jsonb_build_object('role', definition -> 'owner', 'grantable',
        false, 'privileges', '{SELECT,REFERENCES}'::text[]));
  END IF;
  PERFORM spanner_internal.make_split(schemaname, tablename, definition);
END
$$;

-- A step that ends a copy, on its server.  Without the subscription the table is no copy.
CREATE FUNCTION spanner_internal.drop_copy(copy name, schemaname name, tablename name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM spanner_internal.check_move_name(copy);
  IF spanner_internal.copy_state(copy) IS NOT NULL THEN
    PERFORM spanner_internal.unsubscribe_split(copy);
    PERFORM spanner_internal.drop_left(schemaname, tablename, 'r');
  END IF;
END
$$;

-- The steps that copy a table to servers, or that give the copies up.
CREATE FUNCTION spanner_internal.copy_steps(
  relation regclass,
  servers name[],
  connection text,
  give_up boolean)
RETURNS TABLE (step integer, server name, statement text)
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH copy AS (
    SELECT p.n, p.place, n.nspname, c.relname,
           spanner_internal.copy_name(relation, p.place) AS name
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
     CROSS JOIN unnest(servers) WITH ORDINALITY p (place, n)
     WHERE c.oid = relation)
  SELECT s.step, s.server, s.statement
    FROM copy c
   CROSS JOIN LATERAL (VALUES
     (1, NULL, false,
      spanner_internal.step_call('publish_split', c.name, c.nspname, c.relname, NULL)),
     (2, NULL, false, spanner_internal.step_call('reserve_slot', c.name)),
     (3, c.place, false,
      spanner_internal.step_call('make_copy', c.nspname, c.relname,
                                 spanner_internal.describe_copy(relation, c.place)::text)),
     (4, c.place, false,
      spanner_internal.step_call('subscribe_split', c.name, c.nspname, c.relname, connection)),
     (5, c.place, false, spanner_internal.step_call('await_copy', c.name)),
     (6, c.place, false, spanner_internal.step_call('analyze_split', c.nspname, c.relname)),
     (1, c.place, true, spanner_internal.step_call('drop_copy', c.name, c.nspname, c.relname)),
     (2, NULL, true, spanner_internal.step_call('unpublish_split', c.name)))
     s (step, server, ends, statement)
   WHERE s.ends = give_up
   ORDER BY s.step, c.n;
END;

CREATE FUNCTION spanner.copy_table(
  relation regclass,
  servers name[] DEFAULT NULL,
  connection text DEFAULT NULL,
  give_up boolean DEFAULT false,
  OUT step integer,
  OUT server name,
  OUT statement text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  places constant name[] := coalesce(servers,
    CASE WHEN give_up THEN ARRAY(SELECT l.server FROM spanner_internal.list_copies(relation) l)
         ELSE ARRAY(SELECT s FROM spanner_internal.servers_with_splits() s) END);
BEGIN
  IF relation IS NULL OR array_position(places, NULL) IS NOT NULL THEN
    RAISE null_value_not_allowed USING
      MESSAGE = 'neither argument "relation" nor one of the servers must be null';
  ELSIF places = '{}' THEN
    RAISE invalid_parameter_value USING
      MESSAGE = CASE WHEN give_up THEN 'the table has no copies'
                     ELSE 'no table has splits on other servers' END,
      HINT = 'Name the servers.';
  ELSIF NOT coalesce(give_up, false) THEN
    PERFORM spanner_internal.check_copied_table(relation);
    PERFORM spanner_internal.check_split_server(relation, p),
            spanner_internal.ask_server(p, NULL, NULL),
            spanner_internal.check_copy_continues(relation, p)
       FROM unnest(places) p;
  END IF;
  RETURN QUERY
    SELECT *
      FROM spanner_internal.copy_steps(relation, places,
             coalesce(connection, spanner_internal.connection_to(NULL)), coalesce(give_up, false));
END
$$;

COMMENT ON FUNCTION spanner.copy_table(regclass, name[], text, boolean)
  IS 'the steps that copy a small table to other servers and keep the copies up to date,'
     ' or that give this up';

-- What replication lacks here.
CREATE FUNCTION spanner_internal.copy_source_problem(copy name, relation regclass)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT CASE WHEN NOT EXISTS (
                SELECT
                  FROM pg_publication p
                  JOIN pg_publication_rel r ON r.prpubid = p.oid
                 WHERE p.pubname = copy AND r.prrelid = relation)
              THEN 'the publication here is gone'
              WHEN s.slot_name IS NULL THEN 'the replication slot here is gone'
              WHEN s.wal_status = 'lost' THEN 'the replication slot here has lost its log'
              WHEN NOT s.active
              THEN format('nothing reads the replication slot here, which is %s behind',
                          pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_insert_lsn(),
                                                         s.confirmed_flush_lsn))) END
    FROM (VALUES (1)) x
    LEFT JOIN pg_replication_slots s ON s.slot_name = copy;
END;

-- Of one copy.
CREATE FUNCTION spanner_internal.copy_problems(
  relation regclass,
  copy name,
  facts jsonb,
  OUT finding text,
  OUT detail text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH there AS (
    SELECT facts #> '{table,definition}' AS definition,
           coalesce(facts -> 'copies' ->> copy, 'missing') AS state)
  SELECT 'extension version', p
    FROM spanner_internal.version_problem(facts) p
   WHERE p IS NOT NULL
  UNION ALL
  SELECT 'copy missing', 'there is no such table'
    FROM there
   WHERE definition IS NULL AND spanner_internal.version_problem(facts) IS NULL
  UNION ALL
  SELECT 'copy not up to date', concat_ws('; ',
           CASE WHEN state <> 'ready' THEN format('the subscription is %s', state) END,
           spanner_internal.copy_source_problem(copy, relation))
    FROM there
   WHERE spanner_internal.version_problem(facts) IS NULL AND definition IS NOT NULL
     AND (state <> 'ready' OR spanner_internal.copy_source_problem(copy, relation) IS NOT NULL)
  UNION ALL
  SELECT d.finding, d.detail
    FROM there
   CROSS JOIN spanner_internal.split_differences(
     spanner_internal.describe_table(relation), definition) d;
END;

-- What is wrong with the copies of a table.
CREATE FUNCTION spanner_internal.copy_findings(
  relation regclass,
  OUT server name,
  OUT finding text,
  OUT detail text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  copied record;
  facts jsonb;
BEGIN
  FOR copied IN SELECT * FROM spanner_internal.list_copies(relation)
  LOOP
    server := copied.server;
    BEGIN
      facts := spanner_internal.split_facts(server, copied.schemaname, copied.tablename);
      RETURN QUERY
        SELECT server, p.finding, p.detail
          FROM spanner_internal.copy_problems(relation, copied.copy, facts) p;
    EXCEPTION WHEN OTHERS THEN
      finding := 'not reachable';
      detail := SQLERRM;
      RETURN NEXT;
    END;
  END LOOP;
  RETURN QUERY
    SELECT s, 'copy missing', 'other tables have splits there'
      FROM spanner_internal.servers_with_splits() s
     WHERE s NOT IN (SELECT l.server FROM spanner_internal.list_copies(relation) l);
END
$$;
