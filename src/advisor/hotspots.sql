/* src/advisor/hotspots.sql */

--
-- Advisor: keys and indexes that grow at one end
--
-- Only the first column counts, and only of a B-tree.  An index that another one makes superfluous is
-- not worth mending, and neither is an index whose column is mended as the key.
--

-- Primary keys whose first column is a suspect, but for those that draw from
-- sequences, which are mended otherwise.
CREATE FUNCTION spanner_internal.suspect_keys(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_hotspot
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
  SELECT s.relid, p.indexid, s.attnum, true, s.why, s.ident, s.name::text, s.quoted, s.expr, s.type, NULL,
         CASE WHEN w.columns IS NULL THEN ''
              ELSE format('; (%s) spreads too, if queries name %s', w.columns, w.first) END
         || CASE WHEN k.key IS NOT NULL THEN '; with a shard, ON CONFLICT has to name it as well'
                 WHEN t.referenced THEN '; foreign keys refer to it, so decide whether their tables get the shard column too'
                 ELSE '; a shard column cannot be added as it is, so decide on another key' END,
         CASE WHEN k.key IS NOT NULL THEN
           format('SELECT spanner.add_shard_key(%L, %L, 16, dry_run => false)', s.ident, k.key) END
    FROM (SELECT x.* FROM unnest((facts).suspects) x WHERE x.why <> 'sequence' OFFSET 0) s
    JOIN unnest((facts).tables) t ON t.relid = s.relid AND t.pkey_attnum = s.attnum
    JOIN unnest((facts).indexes) p ON p.indexid = t.pkey AND p.is_btree
   CROSS JOIN LATERAL (SELECT spanner_internal.shardable_key(s.relid) AS key OFFSET 0) k
   -- the key with its first column that does not grow in front
    LEFT JOIN LATERAL (
      SELECT quote_ident(b.attname) AS first,
             concat_ws(', ', quote_ident(b.attname), string_agg(quote_ident(a.attname), ', ' ORDER BY v.n)) AS columns
        FROM (SELECT u.attnum FROM unnest(p.indkey) WITH ORDINALITY u (attnum, n)
                JOIN pg_attribute o ON o.attrelid = s.relid AND o.attnum = u.attnum
               WHERE u.n BETWEEN 2 AND p.keys
                 AND o.atttypid <> ALL ('{date,timestamp,timestamptz,bool}'::regtype[])
                 AND NOT EXISTS (SELECT FROM unnest((facts).columns) c
                                  WHERE c.relid = s.relid AND c.attnum = u.attnum
                                    AND (c.is_few OR c.source = ANY ('{sequence,derived,now,uuid,time}')))
               ORDER BY u.n LIMIT 1) f
        JOIN pg_attribute b ON b.attrelid = s.relid AND b.attnum = f.attnum
       CROSS JOIN unnest(p.indkey) WITH ORDINALITY v (attnum, n)
        JOIN pg_attribute a ON a.attrelid = s.relid AND a.attnum = v.attnum
       WHERE v.n <= p.keys AND v.attnum <> f.attnum
       GROUP BY b.attname) w ON p.keys > 1;
END;

COMMENT ON FUNCTION spanner_internal.suspect_keys(spanner_internal.advisor_facts)
  IS 'primary keys that begin with a column of which the facts suspect that it grows';

-- Printing a definition waits for whoever drops the table, and then fails.
CREATE FUNCTION spanner_internal.index_definition(indexid oid)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN pg_get_indexdef(indexid);
EXCEPTION WHEN internal_error THEN
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION spanner_internal.index_definition(oid)
  IS 'the statement that makes an index, NULL if that is being dropped';

-- Statements that make an index anew, with another definition behind its name,
-- while the old one is still in use.  An index of a partitioned table is
-- defined ONLY there, but made on all partitions.
CREATE FUNCTION spanner_internal.replaced_index(i spanner_internal.advisor_index, partitioned boolean, suffix text, definition text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT format('CREATE %sINDEX%s %I ON %s USING %s; DROP INDEX%s %I.%I; ALTER INDEX %I.%I RENAME TO %I',
                      CASE WHEN (i).is_unique THEN 'UNIQUE ' END, c.concurrently, n.name, (i).ident, definition,
                      c.concurrently, (i).nspname, (i).name, (i).nspname, n.name, (i).name)
          FROM (SELECT CASE WHEN NOT partitioned THEN ' /* CONCURRENTLY */' END AS concurrently) c,
               LATERAL (SELECT spanner_internal.new_index_name((i).nspname, (i).name, suffix) AS name) n);

COMMENT ON FUNCTION spanner_internal.replaced_index(spanner_internal.advisor_index, boolean, text, text)
  IS 'statements that put another index in the place of one';

-- What stands behind USING in the definition of an index.
CREATE FUNCTION spanner_internal.index_body(i spanner_internal.advisor_index, partitioned boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE
RETURN (SELECT CASE WHEN starts_with(d.definition, d.head) THEN substr(d.definition, length(d.head) + 1) END
          FROM (SELECT spanner_internal.index_definition((i).indexid) AS definition,
                       format('CREATE %sINDEX %I ON %s%s USING ', CASE WHEN (i).is_unique THEN 'UNIQUE ' END,
                              (i).name, CASE WHEN partitioned THEN 'ONLY ' END, (i).ident) AS head OFFSET 0) d);

COMMENT ON FUNCTION spanner_internal.index_body(spanner_internal.advisor_index, boolean)
  IS 'access method, columns and options of an index, as in its definition';

-- Statements that put the shard of a column in front of an index; NULL where
-- that is another constraint, or where the index serves for more than looking
-- up.
CREATE FUNCTION spanner_internal.sharded_index(i spanner_internal.advisor_index, partitioned boolean, quoted text, type oid,
  collid oid, null_share float8)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE
RETURN CASE WHEN (i).constraint_id IS NULL AND NOT (i).is_needed AND (i).keys < 32
              AND type <> ALL ('{bool,float4,float8}'::regtype[]) AND spanner_internal.is_hashable(type, coalesce(collid, 0))
  THEN spanner_internal.replaced_index(i, partitioned, 'sharded',
         format('btree (spanner.shard_id(16, %s), ', quoted) || substr(spanner_internal.index_body(i, partitioned), length('btree (') + 1)
         || CASE WHEN (i).predicate IS NULL AND null_share >= 0.5 THEN format(' WHERE %s IS NOT NULL', quoted) ELSE '' END)
  END;

COMMENT ON FUNCTION spanner_internal.sharded_index(spanner_internal.advisor_index, boolean, text, oid, oid, float8)
  IS 'statements that put a shard in front of an index';

-- Other indexes whose first column is such a suspect.
CREATE FUNCTION spanner_internal.suspect_indexes(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_hotspot
LANGUAGE sql STABLE PARALLEL UNSAFE ROWS 100
BEGIN ATOMIC
  SELECT s.relid, i.indexid, s.attnum, false, s.why, s.ident, i.name::text, s.quoted, s.expr, s.type,
         'the index begins with ' || CASE WHEN i.attnum = 0 THEN format('%s, which grows with %s', i.expression, s.quoted) ELSE s.quoted END,
         CASE WHEN d.sharded IS NOT NULL AND i.is_unique THEN '; ON CONFLICT then has to name the shard as well'
              WHEN d.sharded IS NOT NULL THEN ''
              WHEN i.constraint_id IS NOT NULL THEN '; it belongs to a constraint, so decide whether that is needed'
              ELSE '; decide whether the index is needed' END,
         d.sharded
    FROM (SELECT x.* FROM unnest((facts).suspects) x WHERE x.why <> 'sequence' OFFSET 0) s
    JOIN unnest((facts).tables) t ON t.relid = s.relid
    JOIN unnest((facts).indexes) i ON i.relid = s.relid AND i.lead = s.attnum AND i.is_btree
     AND NOT i.is_primary AND NOT i.is_identity
   CROSS JOIN LATERAL (SELECT spanner_internal.sharded_index(i, t.relkind = 'p', s.quoted, s.type, s.collid, s.null_share) AS sharded
                       OFFSET 0) d
   WHERE NOT EXISTS (SELECT FROM unnest((facts).redundant) r WHERE r.indexid = i.indexid);
END;

COMMENT ON FUNCTION spanner_internal.suspect_indexes(spanner_internal.advisor_facts)
  IS 'indexes that begin with a column of which the facts suspect that it grows';

-- First columns with few values before one that grows: inserts go to one place
-- for each value.  That are few by statistics alone if they are fewer than the
-- shards that are suggested.
CREATE FUNCTION spanner_internal.few_prefixes(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_hotspot
LANGUAGE sql STABLE PARALLEL UNSAFE ROWS 100
BEGIN ATOMIC
  SELECT f.relid, f.indexid, f.attnum, f.is_primary, 'few', f.ident, f.name, f.quoted, NULL, f.type, f.starts,
         CASE WHEN x.fix IS NULL AND f.is_primary THEN '; a shard column cannot be added as it is, so decide on another key'
              WHEN x.fix IS NULL THEN '; decide whether the index is needed'
              WHEN f.is_primary OR f.is_unique THEN '; with a shard, ON CONFLICT has to name it as well'
              ELSE '' END,
         x.fix
    FROM (SELECT c.relid, i.indexid, c.attnum, i.is_primary, i.is_unique, i.is_identity, c.ident, i.name::text, c.quoted, c.type,
                 format('%s begins with %s, which has %s, and goes on with %s, which grows',
                        CASE WHEN i.is_primary THEN 'the primary key' ELSE 'the index' END, c.quoted,
                        CASE WHEN m.rows >= 1000
                             THEN format('%s values', round(m.distinct_values::numeric))
                             ELSE 'few values by its name or type' END, s.quoted) AS starts,
                 i, t.relkind, s.quoted AS second_quoted, s.type AS second_type, s.collid AS second_collid
            FROM unnest((facts).suspects) s
            JOIN unnest((facts).indexes) i ON i.relid = s.relid AND i.second = s.attnum AND i.is_btree
             AND i.attnum > 0
            JOIN unnest((facts).columns) c ON c.relid = i.relid AND c.attnum = i.attnum AND c.source IS DISTINCT FROM 'shard'
            JOIN unnest((facts).tables) t ON t.relid = s.relid
            LEFT JOIN unnest((facts).measures) m ON m.relid = c.relid AND m.attnum = c.attnum
           WHERE s.why <> 'ascending_data' AND NOT i.is_identity
             AND CASE WHEN m.rows >= 1000 THEN m.distinct_values <= CASE WHEN c.is_few THEN 100 ELSE 15 END
                      ELSE c.is_few END
             AND NOT EXISTS (SELECT FROM unnest((facts).redundant) r WHERE r.indexid = i.indexid)
             AND NOT EXISTS (SELECT FROM unnest((facts).suspects) x WHERE x.relid = c.relid AND x.attnum = c.attnum)
          OFFSET 0) f
   CROSS JOIN LATERAL (SELECT CASE WHEN f.is_primary THEN
           (SELECT format('SELECT spanner.add_shard_key(%L, %L, 16, dry_run => false)', f.ident, k.key)
              FROM (SELECT spanner_internal.shardable_key(f.relid) AS key OFFSET 0) k WHERE k.key IS NOT NULL)
         ELSE spanner_internal.sharded_index(f.i, f.relkind = 'p', f.second_quoted, f.second_type, f.second_collid, NULL) END AS fix
         OFFSET 0) x;
END;

COMMENT ON FUNCTION spanner_internal.few_prefixes(spanner_internal.advisor_facts)
  IS 'keys and indexes that begin with few values before a column that grows';

CREATE FUNCTION spanner_internal.advisor_facts(relation regclass DEFAULT NULL, target text DEFAULT NULL)
RETURNS spanner_internal.advisor_facts
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  f spanner_internal.advisor_facts;
BEGIN
  f.tables := ARRAY(SELECT t FROM spanner_internal.advisor_tables(coalesce(relation, 0::oid), target) t);
  f.indexes := ARRAY(SELECT t FROM spanner_internal.advisor_indexes(f.tables) t);
  f.columns := ARRAY(SELECT t FROM spanner_internal.advisor_columns(f.tables, f.indexes) t);
  f.measures := ARRAY(SELECT t FROM spanner_internal.advisor_measures(f.tables, f.indexes, f.columns) t);
  f.suspects := ARRAY(SELECT t FROM spanner_internal.advisor_suspects(f.tables, f.columns, f.measures) t);
  f.redundant := ARRAY(SELECT t FROM spanner_internal.advisor_redundants(f.indexes) t);
  f.hotspots := ARRAY(SELECT t FROM spanner_internal.suspect_keys(f) t)
             || ARRAY(SELECT t FROM spanner_internal.suspect_indexes(f) t)
             || ARRAY(SELECT t FROM spanner_internal.few_prefixes(f) t);
  RETURN f;
END
$$;

COMMENT ON FUNCTION spanner_internal.advisor_facts(regclass, text)
  IS 'what the rules look at: SELECT * FROM spanner_internal.rule_key_now(spanner_internal.advisor_facts()) runs one';
