/* src/splits/copy_table.sql */

--
-- Splits: small tables that every server has a copy of
--
-- A copy is what a move has before its swap: a publication and a slot here, and on the other server
-- a table of the same name with a subscription.  spanner_splits makes and ends it.  The names of
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
BEGIN
  SELECT * INTO t FROM pg_class WHERE oid = relation;
  IF t.oid IS NULL THEN
    RAISE undefined_table USING
      MESSAGE = format('relation with OID %s does not exist', relation::oid);
  ELSIF t.relkind <> 'r' OR t.relpersistence <> 'p' OR t.relispartition THEN
    RAISE wrong_object_type USING MESSAGE = format('"%s" is not a plain table', t.relname),
      HINT = 'Name a table that is neither partitioned, a partition, temporary nor unlogged.';
  ELSIF NOT EXISTS (SELECT FROM pg_index i
                     WHERE i.indrelid = relation AND i.indisvalid
                       AND CASE t.relreplident WHEN 'd' THEN i.indisprimary
                                               WHEN 'i' THEN i.indisreplident END) THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('table "%s" has no replica identity', t.relname),
      HINT = 'Add a primary key.';
  ELSIF EXISTS (SELECT FROM pg_attribute a
                  JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisunique
                                 AND a.attnum = ANY (i.indkey::int2[])
                 WHERE a.attrelid = relation AND a.attgenerated <> '') THEN
    RAISE feature_not_supported USING
      MESSAGE = format('the key of table "%s" has a generated column', t.relname),
      DETAIL = 'Logical replication cannot send it.',
      HINT = 'spanner.add_shard_key() of spanner_keys_advisor shows how to make it a plain column.';
  ELSIF t.relrowsecurity THEN
    RAISE feature_not_supported USING
      MESSAGE = format('table "%s" has row-level security', t.relname),
      DETAIL = 'Who may read a copy would see all rows.',
      HINT = 'Copy a table without policies that has the rows for everybody.';
  END IF;
END
$$;

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
    SELECT facts #> '{table,parts}' AS definition,
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
   CROSS JOIN spanner_internal.part_differences(
     spanner_internal.table_parts(relation), definition) d;
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
