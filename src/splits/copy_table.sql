/* src/splits/copy_table.sql */

--
-- Splits: small tables that every server has a copy of
--
-- A copy is what a move has before its swap: a publication and a slot here, and on the other server
-- a table of the same name with a subscription.  spanner_splits makes and ends it.  The names of
-- these objects tell of which table they are, and for which server; the record here tells it when
-- the table is gone.  Slots belong to the whole server, so the database is a part of the name.
--

-- Publication, slot and subscription of the copy of a table on a server.
CREATE FUNCTION spanner_internal.copy_name(relation regclass, server name)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  SELECT 'spanner_copy_' || left(md5(format('%I %s %I', current_database(), relation, server)), 12)
$$;

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

-- A copy has begun if there is a publication of the table by its name, or a slot: anybody may take
-- the name for a publication of another one.
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
     AND (EXISTS (SELECT
                    FROM pg_publication p
                    JOIN pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid
                   WHERE p.pubname = n.copy)
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
  t pg_class := (SELECT c FROM pg_class c WHERE c.oid = relation);
BEGIN
  IF t.relkind <> 'r' OR t.relpersistence <> 'p' OR t.relispartition THEN
    RAISE wrong_object_type USING MESSAGE = format('"%s" is not a plain table', t.relname),
      HINT = 'Name a table that is neither partitioned, a partition, temporary nor unlogged.';
  ELSIF NOT pg_has_role(t.relowner, 'USAGE') THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('must be owner of table %s', t.relname);
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

-- Write down a copy here: its table may be dropped.
CREATE FUNCTION spanner_internal.begin_copy(relation regclass, server name)
RETURNS name
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
  INSERT INTO spanner_internal.own_record
    (move, partition, nspname, name, target, schemaname, tablename)
  SELECT spanner_internal.copy_name(relation, server), relation, n.nspname, c.relname, server,
         n.nspname, c.relname
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = relation
  ON CONFLICT (performer, move) DO UPDATE SET target = excluded.target
  RETURNING move;
$$;

-- What keeps a copy from being up to date, by the state of its subscription there and by what
-- replication has here; an empty text if nothing does.
CREATE FUNCTION spanner_internal.copy_problem(relation regclass, copy name, state text)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT concat_ws('; ',
           CASE WHEN state IS DISTINCT FROM 'ready'
                THEN format('the subscription is %s', coalesce(state, 'missing')) END,
           CASE WHEN NOT EXISTS (
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
                                                           s.confirmed_flush_lsn))) END)
    FROM (VALUES (1)) x
    LEFT JOIN pg_replication_slots s ON s.slot_name = copy;
END;
