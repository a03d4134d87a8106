/* src/splits/facts.sql */

--
-- Splits: what a server knows of itself and of its tables
--
-- The two views are read here, and on other servers through foreign tables.
-- They read only catalogs: they run no code of a table's owner, and lock no table,
-- except for a moment to get its size.
--

-- What split functions on another server ask this one: what moves have left, how copies are.  Where
-- there is effective_wal_level, from release 19 on, a slot raises it above replica.
CREATE VIEW spanner_internal.split_server AS
SELECT CASE WHEN current_setting('wal_level') = 'replica'
             AND current_setting('effective_wal_level', true) IS NOT NULL THEN 'logical'
            ELSE current_setting('wal_level') END AS wal_level,
       ARRAY(SELECT 'publication ' || p.pubname
               FROM pg_publication p
              WHERE p.pubname ~ '^spanner_move_'
             UNION ALL
             SELECT 'subscription ' || s.subname
               FROM pg_subscription s
               JOIN pg_database d ON d.oid = s.subdbid
              WHERE s.subname ~ '^spanner_move_' AND d.datname = current_database()
             UNION ALL
             SELECT 'slot ' || s.slot_name
               FROM pg_replication_slots s
              WHERE s.slot_name ~ '^spanner_move_' AND s.database = current_database()
              ORDER BY 1) AS moves,
       (SELECT coalesce(jsonb_object_agg(s.subname,
                 CASE WHEN NOT s.subenabled THEN 'disabled'
                      WHEN r.srsubstate = 'r' THEN 'ready'
                      ELSE 'copying' END), '{}')
          FROM pg_subscription s
          JOIN pg_database d ON d.oid = s.subdbid
          LEFT JOIN pg_subscription_rel r ON r.srsubid = s.oid
         WHERE s.subname ~ '^spanner_copy_' AND d.datname = current_database()) AS copies;
GRANT SELECT ON spanner_internal.split_server TO PUBLIC;

-- A move deletes the rows at the end, and a split on another server has neither the policies nor
-- the keys of its table.
CREATE FUNCTION spanner_internal.move_obstacle(relation oid)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  SELECT CASE WHEN c.relrowsecurity THEN 'It has row-level security.'
              ELSE 'These foreign keys refer to it: ' || (
                SELECT string_agg(f.text, ', ' ORDER BY f.text COLLATE "C")
                  FROM pg_constraint k
                 CROSS JOIN LATERAL format('%I of table %s', k.conname, k.conrelid::regclass)
                       f (text)
                 WHERE k.contype = 'f' AND k.confrelid = relation) || '.' END
    FROM pg_class c
   WHERE c.oid = relation
$$;

-- After a crash only the last ANALYZE is known of the rows; without one they are guessed.
CREATE VIEW spanner_internal.split_tables AS
SELECT n.nspname AS schemaname, c.relname AS tablename,
       spanner_internal.table_parts(c.oid) AS parts,
       CASE WHEN c.relkind <> 'p'
            THEN coalesce(nullif(pg_stat_get_live_tuples(c.oid), 0),
                          nullif(c.reltuples, -1)::bigint,
                          pg_relation_size(c.oid) / 64) END AS rows,
       CASE WHEN c.relkind <> 'p' THEN pg_total_relation_size(c.oid) END AS size,
       CASE WHEN c.relkind <> 'p' THEN pg_stat_get_tuples_inserted(c.oid) END AS inserts
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = ANY ('{r,p}') AND c.relpersistence <> 't';
GRANT SELECT ON spanner_internal.split_tables TO PUBLIC;

-- A name with a suffix, of at most 63 bytes; the suffix is kept whole.
CREATE FUNCTION spanner_internal.split_name(base text, suffix text)
RETURNS name
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT concat(left(base, max(n)), suffix)::name
    FROM generate_series(0, length(base)) n
   WHERE octet_length(left(base, n)) + octet_length(suffix) <= 63;
END;

-- An index of a split is named after the table and the index; if that is too long, a
-- hash keeps the names of two indexes apart.
CREATE FUNCTION spanner_internal.split_index_name(base text, index_name text)
RETURNS name
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN octet_length(n.name) <= 63 THEN n.name::name
              ELSE spanner_internal.split_name(base, '_' || left(md5(n.name), 8)) END
    FROM concat(base, '_', index_name) n (name);
END;

-- The relation of that name, NULL if there is none.
CREATE FUNCTION spanner_internal.find_relation(schemaname name, relation_name name)
RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT c.oid
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = schemaname AND c.relname = relation_name;
END;

-- The table that a partition is one of, NULL for other tables.
CREATE FUNCTION spanner_internal.parent_of(partition regclass)
RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT i.inhparent
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhrelid = partition AND c.relispartition;
END;

-- A bound of several columns is a list of literals, as the server quotes them, or words.  The
-- first column decides.
CREATE FUNCTION spanner_internal.split_bounds(
  range text,
  OUT lower text,
  OUT upper text,
  OUT all_lower text,
  OUT all_upper text)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT m.b[1], m.b[3], concat('(', m.b[1], m.b[2], ')'), concat('(', m.b[3], m.b[4], ')')
    FROM format('\((%1$s)((?:, %1$s)*)\)', '(?:E?''(?:[^'']|'''')*''|[^'',()]+)') l (list)
   CROSS JOIN regexp_match(range, format('^FOR VALUES FROM %1$s TO %1$s\Z', l.list)) m (b);
END;

-- Instead of a partition that is partitioned itself, its partitions are listed.  They are in the
-- order of the ranges, if bounds are numbers.
CREATE FUNCTION spanner_internal.list_splits(
  relation regclass,
  OUT split integer,
  OUT partition regclass,
  OUT server name,
  OUT schemaname name,
  OUT tablename name,
  OUT range text,
  OUT lower text,
  OUT upper text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  kind "char" := (SELECT relkind FROM pg_class WHERE oid = relation);
BEGIN
  IF kind IS NULL THEN
    RAISE undefined_table USING
      MESSAGE = format('relation with OID %s does not exist', relation::oid);
  ELSIF kind <> 'p' THEN
    RAISE wrong_object_type USING
      MESSAGE = format('"%s" is not a partitioned table',
                       (SELECT relname FROM pg_class WHERE oid = relation)),
      HINT = 'Create the table with PARTITION BY RANGE on its bit-reversed id or on its shard id.';
  END IF;
  RETURN QUERY
  WITH RECURSIVE part (oid, kind, range, lower, upper, path) AS (
    SELECT relation::oid, 'p'::"char", NULL::text COLLATE "C", NULL::text COLLATE "C",
           NULL::text COLLATE "C", '{}'::text[] COLLATE "C"
    UNION ALL
    SELECT c.oid, c.relkind, r.range, b.lower COLLATE "C", b.upper COLLATE "C",
           p.path || concat(
             CASE WHEN b.lower = 'MINVALUE' THEN '0'
                  WHEN v.value ~ '^-?[0-9]{1,19}$'
                  THEN '1' || lpad(trunc(v.value::numeric + 2::numeric ^ 64)::text, 25, '0')
                  WHEN b.lower IS NOT NULL THEN '2' || b.lower
                  WHEN r.range = 'DEFAULT' THEN '9'
                  ELSE '3' || r.range END, ' ', r.range, c.relname) COLLATE "C"
      FROM part p
      JOIN pg_inherits i ON i.inhparent = p.oid AND p.kind = 'p'
      JOIN pg_class c ON c.oid = i.inhrelid
     CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid) COLLATE "C") r (range)
     CROSS JOIN LATERAL spanner_internal.split_bounds(r.range) b
     CROSS JOIN LATERAL btrim(b.lower, '''') v (value))
  SELECT row_number() OVER (ORDER BY p.path)::integer, p.oid::regclass, s.srvname,
         coalesce(o.options ->> 'schema_name', n.nspname)::name,
         coalesce(o.options ->> 'table_name', c.relname)::name,
         p.range, p.lower, p.upper
    FROM part p
    JOIN pg_class c ON c.oid = p.oid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_foreign_table f ON f.ftrelid = p.oid
    LEFT JOIN pg_foreign_server s ON s.oid = f.ftserver
   CROSS JOIN LATERAL (
     SELECT jsonb_object_agg(x.option_name, x.option_value)
       FROM pg_options_to_table(f.ftoptions) x) o (options)
   WHERE p.kind <> 'p'
   ORDER BY 1;
END
$$;
