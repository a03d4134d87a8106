/* src/advisor/shards.sql */

-- Advisor: shard keys

-- A name for an index that nothing else in the schema has.
CREATE FUNCTION spanner_internal.new_index_name(schema name, index_name name, suffix text)
RETURNS name
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  namespace oid := (SELECT oid FROM pg_namespace WHERE nspname = schema);
  new_name name;
BEGIN
  FOR i IN 0..1000 LOOP
    new_name := concat(
      CASE WHEN octet_length(index_name) <= 48 THEN index_name ELSE left(md5(index_name), 16) END,
                       '_', suffix, nullif(i, 0));
    IF NOT EXISTS (SELECT FROM pg_class c
                    WHERE c.relname = new_name AND c.relnamespace = namespace) THEN
      RETURN new_name;
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;

-- Look at a table.  Unless it is a dry run, lock it as strongly as the statements will, so that
-- what was read about it holds until they have run.
CREATE FUNCTION spanner_internal.open_shard_table(
  relation oid, column_name name, keys name[], dry_run boolean, is_added boolean)
RETURNS spanner_internal.shard_table
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t spanner_internal.shard_table;
  o spanner_internal.shard_obstacle;
BEGIN
  t := spanner_internal.read_shard_table(relation, column_name);
  IF NOT dry_run AND t.relid >= 16384 THEN
    IF NOT pg_has_role(t.owner, 'USAGE') THEN
      RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s', t.relname);
    END IF;
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', t.ident);
    -- it may have been changed while we waited
    t := spanner_internal.read_shard_table(relation, column_name);
    IF to_regclass(t.ident) IS DISTINCT FROM relation THEN
      RAISE object_in_use USING
        MESSAGE = format('table "%s" was renamed concurrently', t.relname), HINT = 'Try again.';
    END IF;
  END IF;
  IF is_added THEN
    keys := coalesce(keys, t.key, '{}');
  END IF;
  o := spanner_internal.find_shard_obstacle(relation, column_name, keys);
  IF o.warns AND dry_run THEN
    RAISE WARNING USING MESSAGE = o.message, ERRCODE = o.code, DETAIL = o.detail, HINT = o.hint;
  ELSIF o.code IS NOT NULL AND o.detail IS NOT NULL THEN
    RAISE EXCEPTION USING MESSAGE = o.message, ERRCODE = o.code, DETAIL = o.detail, HINT = o.hint;
  ELSIF o.code IS NOT NULL THEN
    RAISE EXCEPTION USING MESSAGE = o.message, ERRCODE = o.code, HINT = o.hint;
  END IF;
  RETURN t;
END
$$;

-- The statements after those that change a key, which give it and a shard column that was replaced
-- what they had.
CREATE FUNCTION spanner_internal.keep_properties(t spanner_internal.shard_table, column_name name)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_nestloop = on
AS $$
BEGIN
  RETURN array_remove(ARRAY[
    CASE WHEN t.is_replica_identity
         THEN format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %s', t.ident, t.key_name) END,
    (SELECT format('ALTER TABLE %s CLUSTER ON %s', t.ident, t.key_name)
       FROM pg_index i
      WHERE i.indexrelid = t.indexid AND i.indisclustered),
    format('COMMENT ON CONSTRAINT %s ON %s IS ', t.key_name, t.ident) || quote_literal(t.comment),
    format('COMMENT ON INDEX %I.%s IS ', t.nspname, t.key_name)
      || quote_literal(obj_description(t.indexid, 'pg_class'))], NULL)
    -- indexes of partitions get new names; DEFAULT is the primary key
    || ARRAY(SELECT format('ALTER TABLE %s REPLICA IDENTITY DEFAULT', p::regclass)
               FROM spanner_internal.list_parts(t.relid) p
               JOIN pg_index i ON i.indrelid = p AND i.indisprimary AND i.indisreplident
                AND p <> t.relid
              ORDER BY 1)
    || ARRAY(SELECT x.statement
               FROM pg_attribute a
              CROSS JOIN LATERAL (
                SELECT format('COMMENT ON COLUMN %s.%I IS ', t.ident, a.attname)
                       || quote_literal(col_description(a.attrelid, a.attnum))
                UNION ALL
                SELECT format('GRANT %s (%I) ON TABLE %s TO %s%s', g.privilege_type, a.attname,
                              t.ident, coalesce(nullif(g.grantee, 0)::regrole::text, 'PUBLIC'),
                              CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
                  FROM aclexplode(a.attacl) g) x (statement)
              WHERE a.attrelid = t.relid AND a.attname = column_name
                AND x.statement IS NOT NULL);
END
$$;

-- One statement does them all, but Citus takes a change of a constraint alone.
CREATE FUNCTION spanner_internal.alter_table_statements(
  t spanner_internal.shard_table, VARIADIC actions text[])
RETURNS text[]
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT CASE WHEN (t).relid IN (SELECT d.relid FROM spanner_internal.list_distributions() d)
              THEN array_agg(format('ALTER TABLE %s %s', (t).ident, a.action) ORDER BY a.n)
              ELSE ARRAY[format('ALTER TABLE %s %s', (t).ident,
                                string_agg(a.action, ', ' ORDER BY a.n))] END
    FROM unnest(actions) WITH ORDINALITY a (action, n)
   WHERE a.action IS NOT NULL;
END;

-- The call of spanner.shard_id that a shard column is generated as.
CREATE FUNCTION spanner_internal.shard_expression(
  relation oid, keys name[], shards integer, time_bucket interval)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
DECLARE
  arguments text;
  has_time boolean;
BEGIN
  IF extract(year FROM time_bucket) <> 0 OR extract(month FROM time_bucket) <> 0
    OR extract(epoch FROM time_bucket) <= 0 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = 'time_bucket must be a positive number of days, hours or the like',
      DETAIL = 'Months differ in length.', HINT = 'An example is ''7 days''.';
  END IF;
  SELECT string_agg(CASE WHEN time_bucket IS NULL OR x.time IS NULL THEN quote_ident(a.attname)
           ELSE format('pg_catalog.date_bin(interval %L, %I, %s)', time_bucket, a.attname,
                       x.time) END, ', ' ORDER BY k.n),
         bool_or(x.time IS NOT NULL)
    INTO arguments, has_time
    FROM unnest(keys) WITH ORDINALITY k (name, n)
    JOIN pg_attribute a ON a.attrelid = relation AND a.attname = k.name
   CROSS JOIN LATERAL (SELECT CASE spanner_internal.base_type(a.atttypid)
           WHEN 'timestamptz'::regtype THEN 'timestamp with time zone ''2000-01-01 00:00:00+00'''
           WHEN 'timestamp'::regtype
             THEN 'timestamp without time zone ''2000-01-01 00:00:00''' END AS time) x;
  IF time_bucket IS NOT NULL AND NOT has_time THEN
    RAISE invalid_parameter_value USING MESSAGE = 'there is no timestamp to make time buckets of',
      HINT = 'Leave out time_bucket, or name a column of type timestamp in keys.';
  END IF;
  RETURN format('spanner.shard_id(%s, %s)', shards, arguments);
END
$$;

-- Notices about what relies on the key.
CREATE FUNCTION spanner_internal.report_new_key(
  t spanner_internal.shard_table, dry_run boolean, keep_unique boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  list text := (SELECT string_agg(quote_ident(c.relname), ', ' ORDER BY c.relname COLLATE "C")
                  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                 WHERE i.indrelid = t.relid AND i.indisunique AND NOT i.indisprimary);
BEGIN
  IF list IS NOT NULL THEN
    RAISE NOTICE USING
      MESSAGE = format('other unique indexes of table "%s" stay as they are', t.relname),
      DETAIL = format('These are: %s.', list);
  END IF;
  list := (SELECT string_agg(quote_ident(p.name), ', ' ORDER BY p.name)
             FROM spanner_internal.list_publications(t.relid) p);
  IF list IS NOT NULL THEN
    RAISE NOTICE USING MESSAGE = format('table "%s" is published', t.relname),
      DETAIL = format('The shard column is a plain one, which a trigger fills: a generated one '
                      'cannot be replicated as part of a key. Publications: %s.', list),
      HINT = 'Give the subscribers the column and the primary key as well.';
  END IF;
  IF dry_run THEN
    SELECT pg_size_pretty(
      sum(pg_relation_size(r.oid)
          + coalesce(pg_relation_size(nullif(r.reltoastrelid, 0)), 0))) INTO list
      FROM pg_class r
     WHERE r.oid = t.relid OR t.is_partitioned
       AND r.oid IN (SELECT x.relid FROM pg_partition_tree(t.relid) x);
    IF list IS NULL THEN  -- it was dropped meanwhile
      RAISE undefined_table USING MESSAGE = format('table with OID %s does not exist', t.relid);
    END IF;
    RAISE NOTICE USING
      MESSAGE = format('table "%s" will be rewritten under AccessExclusiveLock', t.relname),
      DETAIL
        = format('It has %s, and its indexes are made anew. Nobody can read or write it meanwhile.',
                 list);
    IF NOT keep_unique AND NOT t.in_key THEN
      RAISE NOTICE USING
        MESSAGE
          = format('ON CONFLICT (%s) will find no unique index of table "%s"', t.columns,
                   t.relname),
        HINT = 'Name the shard column in ON CONFLICT as well, or keep the old key unique with '
               'keep_unique => true.';
    END IF;
  END IF;
END
$$;

-- Shows statements, and runs them unless it is a dry run.
CREATE FUNCTION spanner_internal.run_statements(statements text[], dry_run boolean)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  statement text;
BEGIN
  FOREACH statement IN ARRAY statements LOOP
    IF NOT dry_run THEN
      EXECUTE statement;
    END IF;
    RETURN NEXT statement;
  END LOOP;
END
$$;

-- The trigger that fills a plain shard column is dropped with the last one.
CREATE FUNCTION spanner_internal.stop_filling(t spanner_internal.shard_table, column_name name)
RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT ARRAY(SELECT format('DROP TRIGGER %I ON %s', g.tgname, (t).ident)
                 FROM pg_trigger g
                WHERE g.tgrelid = (t).relid AND g.tgfoid = 'spanner.fill_shard()'::regprocedure
                  AND (t).has_column
                  AND NOT EXISTS (
                    SELECT FROM pg_attribute a
                     WHERE a.attrelid = (t).relid AND a.attnum > 0 AND NOT a.attisdropped
                       AND a.attname <> column_name
                       AND spanner_internal.shard_check(a.attrelid, a.attname) IS NOT NULL));
END;

-- The statements that replace a key by one of these columns, and add or drop a shard column.  A
-- plain table gets its new index while the old one is still in use, by a statement that a user can
-- also run CONCURRENTLY.  That does not work for a partitioned table, which cannot adopt an index,
-- nor for a column that is replaced, since its index is dropped with it.
CREATE FUNCTION spanner_internal.new_key_statements(
  t spanner_internal.shard_table, column_name name, columns text, added text, kept text[],
  suffix text, known_index name DEFAULT NULL)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  dropped text := CASE WHEN t.has_column THEN format('DROP COLUMN %I', column_name) END;
  new_index name := coalesce(known_index, spanner_internal.new_index_name(t.nspname, t.index_name,
                                                                         suffix));
BEGIN
  RETURN spanner_internal.stop_filling(t, column_name)
    || CASE WHEN t.is_partitioned OR t.has_column AND added IS NOT NULL
         THEN kept || spanner_internal.alter_table_statements(t,
           'DROP CONSTRAINT ' || t.key_name, dropped, added,
           format('ADD CONSTRAINT %s PRIMARY KEY (%s)%s', t.key_name, columns, t.constraint_tail))
         ELSE array_remove(
           format('ALTER TABLE %s ', t.ident) || added || kept
           || CASE WHEN known_index IS NULL
                   THEN format('CREATE UNIQUE INDEX /* CONCURRENTLY */ %I ON %s USING btree (%s)%s',
                               new_index, t.ident, columns, t.index_tail) END, NULL)
           || spanner_internal.alter_table_statements(t, 'DROP CONSTRAINT ' || t.key_name, dropped,
                format('ADD CONSTRAINT %s PRIMARY KEY USING INDEX %I%s', t.key_name, new_index,
                       t.deferral)) END
    || spanner_internal.keep_properties(t, CASE WHEN added IS NOT NULL THEN column_name END);
END
$$;

CREATE FUNCTION spanner.add_shard_key(
  relation regclass, keys name[], shards integer DEFAULT 16, column_name name DEFAULT 'shard_id',
  dry_run boolean DEFAULT true, time_bucket interval DEFAULT NULL,
  keep_unique boolean DEFAULT false)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  t spanner_internal.shard_table;
  expression text;
  needs_identity boolean;
  kept_index name;
  kept text[] := '{}';
  statements text[];
BEGIN
  dry_run := coalesce(dry_run, true);
  keep_unique := coalesce(keep_unique, false);
  IF relation IS NULL OR shards IS NULL OR column_name IS NULL THEN
    RAISE null_value_not_allowed USING
      MESSAGE = 'arguments "relation", "shards" and "column_name" must not be null';
  ELSIF column_name = '' THEN
    RAISE invalid_name USING MESSAGE = 'column_name must not be empty';
  ELSIF shards < 1 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'number of shards must be greater than 0',
      HINT = 'Use spanner.suggest_shards() to find a number.';
  END IF;
  t := spanner_internal.open_shard_table(relation, column_name, keys, dry_run, true);
  expression := spanner_internal.shard_expression(relation, coalesce(keys, t.key), shards,
                                                  time_bucket);
  -- While Citus moves a shard, it sends changes by the replica identity, but no generated columns.
  -- So a key that has one cannot be the identity, nor can whole rows.
  needs_identity := EXISTS (
    SELECT
      FROM spanner_internal.list_distributions() d
      JOIN pg_class c ON c.oid = d.relid
     WHERE d.relid = t.relid AND d.method <> 'l' AND NOT t.is_partitioned
       AND (c.relreplident = ANY ('{d,f}') OR t.is_replica_identity));
  keep_unique := keep_unique OR needs_identity;
  t.is_replica_identity := t.is_replica_identity AND NOT needs_identity;
  IF keep_unique THEN
    kept_index := spanner_internal.new_index_name(t.nspname, t.index_name, 'unsharded');
    kept := ARRAY[format('CREATE UNIQUE INDEX%s %I ON %s USING btree (%s)%s',
                         CASE WHEN NOT t.is_partitioned THEN ' /* CONCURRENTLY */' END,
                         kept_index, t.ident, t.columns, t.index_tail)];
  END IF;
  statements := spanner_internal.new_key_statements(
    t, column_name, format('%I, %s', column_name, t.columns),
    format('ADD COLUMN %I integer NOT NULL GENERATED ALWAYS AS (%s) STORED', column_name,
           expression),
    kept, 'sharded');
  IF needs_identity THEN
    statements := statements
      || format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', t.ident, kept_index);
  END IF;
  IF EXISTS (SELECT FROM spanner_internal.list_publications(relation)) THEN
    statements := statements
      || ARRAY(SELECT s
                 FROM spanner_internal.plain_shard_statements(t.ident, quote_ident(column_name),
                                                              expression) s);
  END IF;

  PERFORM spanner_internal.report_new_key(t, dry_run, keep_unique);
  RETURN QUERY SELECT spanner_internal.run_statements(statements, dry_run);
END
$$;

COMMENT ON FUNCTION spanner.add_shard_key(regclass, name[], integer, name, boolean, interval,
                                          boolean)
  IS 'put a generated shard column in front of the primary key, or show the statements that would';

CREATE FUNCTION spanner.add_shard_key(
  relation regclass, keys text DEFAULT NULL, shards integer DEFAULT 16,
  column_name name DEFAULT 'shard_id', dry_run boolean DEFAULT true,
  time_bucket interval DEFAULT NULL,
  keep_unique boolean DEFAULT false)
RETURNS SETOF text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT spanner.add_shard_key($1,
                               CASE WHEN starts_with($2, '{')
                                    THEN $2::name[] ELSE ARRAY[$2]::name[] END,
                               $3, $4, $5, $6, $7) WHERE $2 IS NOT NULL
  UNION ALL
  SELECT spanner.add_shard_key($1, NULL::name[], $3, $4, $5, $6, $7) WHERE $2 IS NULL;
END;

COMMENT ON FUNCTION spanner.add_shard_key(regclass, text, integer, name, boolean, interval, boolean)
  IS 'the same; the keys are one name, or an array literal';

-- The shard column is dropped, and the primary key is what it was.  A unique index of the old key
-- that was kept becomes the key again.
CREATE FUNCTION spanner.remove_shard_key(
  relation regclass, column_name name DEFAULT 'shard_id',
  dry_run boolean DEFAULT true)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  t spanner_internal.shard_table;
  known_index name;
  statements text[];
BEGIN
  dry_run := coalesce(dry_run, true);
  IF relation IS NULL OR column_name IS NULL THEN
    RAISE null_value_not_allowed USING
      MESSAGE = 'arguments "relation" and "column_name" must not be null',
      HINT = 'Name a table that has a shard column.';
  END IF;
  t := spanner_internal.open_shard_table(relation, column_name, NULL, dry_run, false);
  IF NOT t.in_key THEN
    statements := spanner_internal.stop_filling(t, column_name)
      || format('ALTER TABLE %s DROP COLUMN %I', t.ident, column_name);
  ELSE
    SELECT c.relname INTO known_index
      FROM pg_index i
      JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid = t.relid AND i.indisunique AND i.indisvalid
       AND pg_get_indexdef(i.indexrelid)
         = format('CREATE UNIQUE INDEX %I ON %I.%I USING btree (%s)%s', c.relname,
             t.nspname, t.relname, t.columns, regexp_replace(t.index_tail, ' TABLESPACE .*', ''))
       -- foreign keys cannot refer to what is deferrable
       AND NOT EXISTS (SELECT FROM pg_constraint k
                        WHERE k.conindid = i.indexrelid AND (k.contype <> 'f' OR t.deferral <> ''))
     ORDER BY c.relname LIMIT 1;
    statements := spanner_internal.new_key_statements(t, column_name, t.columns, NULL, '{}',
                                                      'unsharded', known_index);
  END IF;
  IF dry_run THEN
    RAISE NOTICE USING
      MESSAGE = format('table "%s" will be changed under AccessExclusiveLock', t.relname),
      DETAIL = 'It is not rewritten.';
  END IF;
  RETURN QUERY SELECT spanner_internal.run_statements(statements, dry_run);
END
$$;

COMMENT ON FUNCTION spanner.remove_shard_key(regclass, name, boolean)
  IS 'undo spanner.add_shard_key, or show the statements that would';

-- Raise an error unless a load makes sense.
CREATE FUNCTION spanner_internal.check_load(
  writes float8, reads float8, nodes integer, rows_per_read float8, writes_per_shard float8)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NOT (writes >= 0 AND reads >= 0 AND rows_per_read >= 0 AND writes_per_shard > 0 AND nodes >= 1
          AND greatest(writes, reads, rows_per_read, writes_per_shard) < 'Infinity') THEN
    RAISE invalid_parameter_value USING
      MESSAGE = 'rates and rows must be finite and not negative, writes_per_shard and nodes must '
                'be positive';
  END IF;
  RETURN true;
END
$$;

-- A read in order takes 2.5 microseconds for each shard and 0.2 for each row: what the ordered
-- merge of the shards costs.  A node may get a quarter more than its share.  Powers of two up to
-- four times the suggested one are shown.
CREATE FUNCTION spanner.suggest_shards(
  writes_per_second double precision, reads_per_second double precision DEFAULT 0,
  nodes integer DEFAULT 1, rows_per_read double precision DEFAULT 100,
  writes_per_shard double precision DEFAULT 1000)
RETURNS TABLE (
  shards integer, writes_per_shard double precision, busiest_node double precision,
  read_microseconds double precision, read_cores double precision, suggested boolean,
  reasoning text)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 10
BEGIN ATOMIC
  WITH cost AS (
    SELECT n.shards, $1 / n.shards AS writes,
           ceil(n.shards::float8 / $3) * $3 / n.shards AS imbalance,
           2.5 * n.shards + 0.2 * least($4, 1e150) AS read
      FROM (SELECT 1 << i AS shards FROM generate_series(0, 12) i) n
     WHERE spanner_internal.check_load($1, $2, $3, $4, $5)),
  judged AS (
    SELECT c.*,
           CASE WHEN c.shards < $3
                THEN format('Too few: %s of %s nodes get no writes.', $3 - c.shards, $3)
                WHEN c.writes > $5
                THEN format('Too few: %s writes per second go to one place, more than %s.',
                            round(c.writes::numeric), round($5::numeric))
                WHEN c.imbalance > 1.25
                THEN format('Too few for %s nodes: the busiest gets %s %% more than its share.',
                            $3, round((c.imbalance - 1)::numeric * 100)) END AS problem
      FROM cost c),
  choice AS (
    SELECT coalesce(min(j.shards) FILTER (WHERE j.problem IS NULL), max(j.shards)) AS shards
      FROM judged j)
  SELECT j.shards, j.writes, j.imbalance / $3, j.read, least($2, 1e150) * j.read / 1e6,
         j.shards = s.shards,
         coalesce(j.problem, CASE WHEN j.shards = s.shards
           THEN 'The fewest shards that divide the writes and suit the nodes.'
           ELSE format('Divides the writes further, and each ordered read costs %s times as much.',
                       round((j.read / (2.5 * s.shards + 0.2 * least($4, 1e150)))::numeric, 1)) END)
    FROM judged j CROSS JOIN choice s
   WHERE j.shards <= s.shards * 4
   ORDER BY j.shards;
END;

COMMENT ON FUNCTION spanner.suggest_shards(double precision, double precision, integer,
                                           double precision, double precision)
  IS 'numbers of shards for a load, with what each costs writers and readers';
