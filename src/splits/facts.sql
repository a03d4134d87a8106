/* src/splits/facts.sql */

--
-- Splits: what a server knows of its tables, and how another server reads it
--
-- The two views are read here, and on other servers through foreign tables.
-- They read only catalogs: they run no code of a table's owner, and lock no table,
-- except for a moment to get its size.
--

CREATE VIEW spanner.split_server AS
SELECT current_setting('wal_level') AS wal_level,
       (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'spanner_keys') AS extension_version,
       CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_insert_lsn() END AS insert_lsn,
       CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_flush_lsn() END AS flush_lsn,
       (SELECT s.setting::integer FROM pg_settings s WHERE s.name = 'wal_writer_delay') AS wal_writer_delay,
       ARRAY(SELECT 'publication ' || p.pubname FROM pg_publication p WHERE p.pubname ~ '^spanner_move_'
             UNION ALL
             SELECT 'subscription ' || s.subname FROM pg_subscription s
              WHERE s.subname ~ '^spanner_move_' AND s.subdbid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
             UNION ALL
             SELECT 'slot ' || s.slot_name FROM pg_replication_slots s
              WHERE s.slot_name ~ '^spanner_move_' AND s.database = current_database()
              ORDER BY 1) AS moves;

COMMENT ON VIEW spanner.split_server
  IS 'what split functions on another server ask this one: WAL positions, version, what moves have left';
COMMENT ON COLUMN spanner.split_server.wal_level
  IS 'logical, if splits can leave this server';
COMMENT ON COLUMN spanner.split_server.extension_version
  IS 'version of this extension';
COMMENT ON COLUMN spanner.split_server.insert_lsn
  IS 'end of the write-ahead log; NULL on a standby';
COMMENT ON COLUMN spanner.split_server.flush_lsn
  IS 'how far it is on disk; NULL on a standby';
COMMENT ON COLUMN spanner.split_server.wal_writer_delay
  IS 'milliseconds between rounds of the WAL writer';
COMMENT ON COLUMN spanner.split_server.moves
  IS 'publications, subscriptions and slots of moves';
GRANT SELECT ON spanner.split_server TO PUBLIC;

-- Definitions are texts without the name of the table, in one form on every
-- server, as long as search_path is pg_catalog.
CREATE VIEW spanner.split_tables AS
SELECT n.nspname AS schemaname, c.relname AS tablename, c.relkind::text AS relkind, c.relreplident::text AS replica_identity,
       ARRAY(SELECT concat(quote_ident(a.attname), ' ', format_type(a.atttypid, a.atttypmod),
                           (SELECT format(' COLLATE %I.%I', cn.nspname, o.collname)
                              FROM pg_collation o JOIN pg_namespace cn ON cn.oid = o.collnamespace
                              JOIN pg_type y ON y.oid = a.atttypid AND y.typcollation <> a.attcollation
                             WHERE o.oid = a.attcollation),
                           (SELECT format(' GENERATED ALWAYS AS (%s) %s', pg_get_expr(d.adbin, d.adrelid),
                                          CASE a.attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END)
                              FROM pg_attrdef d WHERE d.adrelid = c.oid AND d.adnum = a.attnum AND a.attgenerated <> ''),
                           CASE WHEN a.attnotnull THEN ' NOT NULL' END)
               FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
              ORDER BY a.attnum) AS columns,
       ARRAY(SELECT format('CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid))
               FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c' ORDER BY k.conname) AS checks,
       ARRAY(SELECT pg_get_constraintdef(k.oid)
               FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = ANY ('{p,u,x}')
              ORDER BY k.contype, k.conname) AS keys,
       ARRAY(SELECT format('%I %s', k.conname, pg_get_constraintdef(k.oid))
               FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f' ORDER BY k.conname) AS foreign_keys,
       x.names AS index_names, coalesce(x.definitions, '{}') AS indexes,
       ARRAY(SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1])
              WHERE i.indrelid = c.oid AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END
              ORDER BY a.attnum) AS identity_columns,
       CASE WHEN c.relkind <> 'p' THEN
         CASE WHEN c.reltuples <= 0 AND pg_stat_get_live_tuples(c.oid) > 0 THEN pg_stat_get_live_tuples(c.oid)
              ELSE round(CASE WHEN c.reltuples > 0 AND c.relpages > 0 THEN c.reltuples / c.relpages
                              ELSE (current_setting('block_size')::integer - 24) / (28 + w.width) END
                         * (pg_relation_size(c.oid) / current_setting('block_size')::integer))::bigint END END AS rows,
       CASE WHEN c.relkind <> 'p' THEN pg_total_relation_size(c.oid) END AS size,
       CASE WHEN c.relkind <> 'p' THEN pg_stat_get_tuples_inserted(c.oid) END AS inserts
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL (
    SELECT sum(CASE WHEN a.attlen > 0 THEN a.attlen ELSE 32 END)::float8 AS width
      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) w
  CROSS JOIN LATERAL (
    SELECT array_agg(ic.relname::text ORDER BY d.definition, ic.relname) AS names,
           array_agg(d.definition ORDER BY d.definition, ic.relname) AS definitions
      FROM pg_index i
      JOIN pg_class ic ON ic.oid = i.indexrelid
      CROSS JOIN LATERAL (SELECT concat(CASE WHEN i.indisunique THEN 'UNIQUE ' END,
               substr(pg_get_indexdef(i.indexrelid),
                      length(concat('CREATE ', CASE WHEN i.indisunique THEN 'UNIQUE ' END, 'INDEX ', quote_ident(ic.relname),
                                    ' ON ', CASE WHEN c.relkind = 'p' THEN 'ONLY ' END, quote_ident(n.nspname), '.', quote_ident(c.relname), ' ')) + 1))
                 AS definition) d
     WHERE i.indrelid = c.oid AND i.indisvalid AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype = ANY ('{p,u,x}'))) x
 WHERE c.relkind = ANY ('{r,p}') AND c.relpersistence <> 't';

COMMENT ON VIEW spanner.split_tables
  IS 'what split functions on another server ask this one: how a table is made, and how full it is';
COMMENT ON COLUMN spanner.split_tables.schemaname
  IS 'schema of the table';
COMMENT ON COLUMN spanner.split_tables.tablename
  IS 'name of the table';
COMMENT ON COLUMN spanner.split_tables.relkind
  IS 'r, or p for a partitioned table';
COMMENT ON COLUMN spanner.split_tables.replica_identity
  IS 'replica identity, as pg_class has it';
COMMENT ON COLUMN spanner.split_tables.columns
  IS 'definitions of columns, without defaults';
COMMENT ON COLUMN spanner.split_tables.checks
  IS 'definitions of CHECK constraints';
COMMENT ON COLUMN spanner.split_tables.keys
  IS 'definitions of primary keys, unique and exclusion constraints';
COMMENT ON COLUMN spanner.split_tables.foreign_keys
  IS 'names and definitions of foreign keys';
COMMENT ON COLUMN spanner.split_tables.index_names
  IS 'names of the indexes that are no constraints';
COMMENT ON COLUMN spanner.split_tables.indexes
  IS 'their definitions';
COMMENT ON COLUMN spanner.split_tables.identity_columns
  IS 'columns of the replica identity';
COMMENT ON COLUMN spanner.split_tables.rows
  IS 'estimated number of rows';
COMMENT ON COLUMN spanner.split_tables.size
  IS 'bytes, with indexes';
COMMENT ON COLUMN spanner.split_tables.inserts
  IS 'rows inserted since statistics were reset';
GRANT SELECT ON spanner.split_tables TO PUBLIC;

-- The columns are those of the views.  The foreign tables are temporary, and the
-- exception undoes the subtransaction that created them.
CREATE FUNCTION spanner_internal.split_facts(
  server name,
  schemaname name,
  tablename name,
  column_name name DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET client_min_messages = warning
AS $$
#variable_conflict use_variable
DECLARE
  from_server constant text := CASE WHEN server IS NULL THEN 'spanner' ELSE 'pg_temp' END;
  facts jsonb;
  view record;
BEGIN
  -- the owner of the server decides where the connection goes, and as whom
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
     AND (SELECT NOT r.rolsuper FROM pg_foreign_server f JOIN pg_roles r ON r.oid = f.srvowner WHERE f.srvname = server) THEN
    RAISE insufficient_privilege USING MESSAGE = format('server "%s" does not belong to a superuser', server),
      DETAIL = 'A superuser would connect without a password.',
      HINT = 'Use SET ROLE to become the owner of the table.';
  END IF;
  BEGIN
    FOR view IN
      SELECT v.name, v.remote, (SELECT string_agg(format('%I %s', a.attname,
               CASE WHEN a.atttypid = 'anyarray'::regtype THEN 'text' ELSE format_type(a.atttypid, a.atttypmod) END), ', ' ORDER BY a.attnum)
               FROM pg_attribute a WHERE a.attrelid = v.remote AND a.attnum > 0) AS columns
        FROM (VALUES ('split_server', 'spanner.split_server'::regclass), ('split_tables', 'spanner.split_tables'::regclass),
                     ('pg_stats', 'pg_catalog.pg_stats'::regclass)) v (name, remote)
       WHERE server IS NOT NULL
    LOOP
      EXECUTE format('CREATE FOREIGN TABLE pg_temp.%I (%s) SERVER %I OPTIONS (schema_name %L, table_name %L, async_capable ''false'')',
                     view.name, view.columns, server, CASE view.name WHEN 'pg_stats' THEN 'pg_catalog' ELSE 'spanner' END, view.name);
    END LOOP;
    EXECUTE format('SELECT to_jsonb(s) FROM %s.split_server s', from_server) INTO facts;
    EXECUTE format('SELECT $1 || jsonb_build_object(''table'', (SELECT to_jsonb(t) FROM %s.split_tables t
                      WHERE t.schemaname = $2 AND t.tablename = $3))', from_server)
      INTO facts USING facts, schemaname, tablename;
    IF column_name IS NOT NULL THEN
      EXECUTE format('SELECT $1 || jsonb_build_object(''column'', (SELECT jsonb_build_object(
                        ''histogram'', s.histogram_bounds::text::text[], ''common'', s.most_common_vals::text::text[],
                        ''shares'', s.most_common_freqs) FROM %s.pg_stats s
                        WHERE s.schemaname = $2 AND s.tablename = $3 AND s.attname = $4 AND NOT s.inherited))',
                     CASE WHEN server IS NULL THEN 'pg_catalog' ELSE 'pg_temp' END)
        INTO facts USING facts, schemaname, tablename, column_name;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'SK001';
  EXCEPTION WHEN SQLSTATE 'SK001' THEN
    NULL;
  END;
  RETURN facts;
END
$$;

COMMENT ON FUNCTION spanner_internal.split_facts(name, name, name, name)
  IS 'what this server, or another one, knows of itself, a table and the values of a column';

-- A name with a suffix, of at most 63 bytes; the suffix is kept whole.
CREATE FUNCTION spanner_internal.split_name(base text, suffix text)
RETURNS name
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT concat(left(base, max(n)), suffix)::name
    FROM generate_series(0, length(base)) n
   WHERE octet_length(left(base, n)) + octet_length(suffix) <= 63;
END;

COMMENT ON FUNCTION spanner_internal.split_name(text, text)
  IS 'a name with a suffix, cut to the length of a name';

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

COMMENT ON FUNCTION spanner_internal.split_index_name(text, text)
  IS 'the name of an index of a split';

-- Instead of a partition that is partitioned itself, its partitions are listed.
-- Bounds are sorted as numbers if they are numbers.
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
SET quote_all_identifiers = off
AS $$
#variable_conflict use_column
DECLARE
  kind "char" := (SELECT relkind FROM pg_class WHERE oid = relation);
  -- a literal, as the server quotes it, or a word
  value constant text := $re$(E?'(?:[^']|'')*'|[^',()]+)$re$;
BEGIN
  IF kind IS NULL THEN
    RAISE undefined_table USING MESSAGE = format('relation with OID %s does not exist', relation::oid);
  ELSIF kind <> 'p' THEN
    RAISE wrong_object_type USING
      MESSAGE = format('"%s" is not a partitioned table', (SELECT relname FROM pg_class WHERE oid = relation)),
      HINT = 'Create the table with PARTITION BY RANGE on its bit-reversed id or on its shard id.';
  END IF;
  RETURN QUERY
  WITH RECURSIVE part (oid, kind, range, lower, upper, path) AS (
    SELECT relation::oid, 'p'::"char", NULL::text COLLATE "C", NULL::text COLLATE "C", NULL::text COLLATE "C", '{}'::text[] COLLATE "C"
    UNION ALL
    SELECT c.oid, c.relkind, b.range, f.bound[1], t.bound[1], p.path || concat(CASE
             WHEN f.bound[1] = 'MINVALUE' THEN '0'
             WHEN n.number IS NOT NULL THEN '1' || lpad((n.number + 2::numeric ^ 64)::numeric(40, 0)::text, 25, '0')
             WHEN f.bound[1] IS NOT NULL THEN '2' || f.bound[1]
             WHEN b.range = 'DEFAULT' THEN '9' ELSE '3' || b.range END, ' ', b.range, c.relname)
      FROM part p
      JOIN pg_inherits i ON i.inhparent = p.oid AND p.kind = 'p'
      JOIN pg_class c ON c.oid = i.inhrelid
      CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid) COLLATE "C") b (range)
      LEFT JOIN LATERAL regexp_match(b.range, '^FOR VALUES FROM \(' || value) f (bound) ON true
      LEFT JOIN LATERAL regexp_match(b.range, '^FOR VALUES FROM \(' || value || '(?:, ' || value || ')*\) TO \(' || value) u (bound) ON true
      CROSS JOIN LATERAL (SELECT ARRAY[u.bound[array_upper(u.bound, 1)]]) t (bound)
      CROSS JOIN LATERAL (SELECT CASE WHEN btrim(f.bound[1], '''') ~ '^-?[0-9]{1,19}$' THEN btrim(f.bound[1], '''')::numeric END) n (number))
  SELECT row_number() OVER (ORDER BY p.path)::integer, p.oid::regclass, s.srvname,
         coalesce(o.options ->> 'schema_name', n.nspname)::name, coalesce(o.options ->> 'table_name', c.relname)::name,
         p.range, p.lower, p.upper
    FROM part p
    JOIN pg_class c ON c.oid = p.oid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_foreign_table f ON f.ftrelid = p.oid
    LEFT JOIN pg_foreign_server s ON s.oid = f.ftserver
    CROSS JOIN LATERAL (
      SELECT jsonb_object_agg(x.option_name, x.option_value) FROM pg_options_to_table(f.ftoptions) x) o (options)
   WHERE p.kind <> 'p'
   ORDER BY 1;
END
$$;

COMMENT ON FUNCTION spanner_internal.list_splits(regclass)
  IS 'the partitions of a table in the order of their ranges, with their servers, and their names there';
