/* src/advisor/rules_indexes.sql */

-- Advisor: statements that replace an index; superfluous, sparse, slow and costly indexes, and
-- tables that could not be measured

-- Statements that give an index another definition under the same name, while the old one is still
-- in use.  The definition of an index of a partitioned table says ONLY, but the new index is made
-- on all partitions.  The planner takes the bodies of this function and the next one for their
-- calls.
CREATE FUNCTION spanner_internal.replaced_index(
  i spanner_internal.advisor_index, suffix text, definition text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN format('CREATE %sINDEX%s %I ON %s USING ', CASE WHEN (i).is_unique THEN 'UNIQUE ' END,
              CASE WHEN NOT (i).is_partitioned THEN ' /* CONCURRENTLY */' END,
              spanner_internal.new_index_name((i).nspname, (i).name, suffix), (i).ident)
       || definition
       || format('; DROP INDEX%s %I.%I; ALTER INDEX %I.%I RENAME TO %I',
                 CASE WHEN NOT (i).is_partitioned THEN ' /* CONCURRENTLY */' END,
                 (i).nspname, (i).name, (i).nspname,
                 spanner_internal.new_index_name((i).nspname, (i).name, suffix), (i).name)
       || coalesce(format('; COMMENT ON INDEX %I.%I IS ', (i).nspname, (i).name)
                   || quote_literal(obj_description((i).indexid, 'pg_class')), '');

-- What comes behind USING in the definition of an index.  The server leaves out the tablespace,
-- which stands before WHERE.
CREATE FUNCTION spanner_internal.index_body(i spanner_internal.advisor_index)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE
RETURN left((string_to_array(spanner_internal.index_text((i).indexid, 0),
                             format('CREATE %sINDEX %I ON %s%s USING ',
                                    CASE WHEN (i).is_unique THEN 'UNIQUE ' END, (i).name,
                                    CASE WHEN (i).is_partitioned THEN 'ONLY ' END,
                                    (i).ident)))[2] || ' ',
            -1 - length(concat(' WHERE ' || (i).predicate)))
       || concat((i).tablespace, ' WHERE ' || (i).predicate);

-- The findings of these rules.
CREATE FUNCTION spanner_internal.rules_indexes(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
  -- Indexes whose work another one can do.
  SELECT 'index_redundant', i.relid, i.indexid, i.attnum, i.name::text,
         format('%I can answer whatever this index answers', o.relname),
         format('DROP INDEX%s %I.%I', CASE WHEN NOT i.is_partitioned THEN ' /* CONCURRENTLY */' END,
                i.nspname, i.name)
    FROM unnest((facts).indexes) i
    JOIN pg_class o ON o.oid = i.other
   UNION ALL
  -- A random key of an index that does not fit into memory: each insert reads and writes a page of
  -- its own.
  SELECT 'key_random', c.relid, i.indexid, c.attnum, i.name::text,
         format('the index has %s and begins with %s, whose values are random: each insert touches '
                'a page that is likely not in memory; keys that ascend, as of bigserial or UUIDs '
                'of version 7, or kind striped cost a fraction',
                pg_size_pretty(k.relpages * 8192::bigint), c.quoted),
         NULL
    FROM unnest((facts).columns) c
    JOIN unnest((facts).indexes) i ON i.relid = c.relid AND i.attnum = c.attnum AND i.is_btree
     AND i.is_unique
    JOIN pg_class k ON k.oid = i.indexid
   WHERE (c.source = 'random' OR c.source = 'mapped' AND c.label ~ '^ *bit_reversed')
     AND k.relpages > (SELECT s.setting::bigint FROM pg_settings s WHERE s.name = 'shared_buffers')
   UNION ALL
  -- An index that was never read since the server began to count, while rows were inserted.
  SELECT 'index_unused', i.relid, i.indexid, i.attnum, i.name::text,
         format('the index was never read, and has cost %s inserts a day; decide whether standbys '
                'or rare reports need it', round((t.inserts * 86400)::numeric)),
         NULL
    FROM unnest((facts).tables) t
    JOIN unnest((facts).indexes) i ON i.relid = t.relid AND NOT i.is_unique AND NOT i.is_needed
     AND i.constraint_id IS NULL AND i.other IS NULL
   WHERE t.relkind = 'r' AND t.inserts * 86400 >= 1000
     AND coalesce(pg_stat_get_numscans(i.indexid), 0) = 0
   UNION ALL
  -- An index one of whose first two columns is mostly NULL.  If that is the second, a search by the
  -- first one alone needs another index that begins with it.  A unique index in which NULLs are
  -- equal does more than find rows.
 (WITH sparse AS (
    SELECT DISTINCT ON (i.indexid) i, i.indexid, i.relid, i.attnum AS lead, c.attnum, c.quoted,
           c.null_share
      FROM unnest((facts).indexes) i
      JOIN unnest((facts).columns) c ON c.relid = i.relid AND c.null_share >= 0.5
       AND c.rows >= 1000 AND c.attnum IN (i.attnum, i.second)
     WHERE i.is_btree AND i.predicate IS NULL AND NOT i.is_primary AND i.other IS NULL
       AND NOT EXISTS (SELECT FROM unnest((facts).columns) s
                        WHERE s.relid = i.relid AND s.attnum = i.attnum AND s.why IS NOT NULL)
     ORDER BY i.indexid, c.null_share DESC, c.attnum
  ), judged AS (
    SELECT s.*,
           (s.i).constraint_id IS NULL AND NOT (s.i).is_needed AND NOT (s.i).is_strict AS is_free,
           s.attnum = s.lead
           OR EXISTS (SELECT FROM unnest((facts).indexes) o
                       WHERE o.relid = s.relid AND o.indexid <> s.indexid AND o.attnum = s.lead
                         AND o.is_btree AND o.predicate IS NULL) AS is_spare
      FROM sparse s)
  SELECT 'index_null_filtered', j.relid, j.indexid, j.attnum, (j.i).name::text,
         format('%s %% of %s is NULL, and the index keeps all of it%s',
                round(j.null_share * 100), j.quoted,
                CASE WHEN j.attnum = j.lead THEN ' in one place' END)
         || CASE WHEN NOT j.is_free THEN '; decide whether the constraint is needed'
                 WHEN NOT j.is_spare
                 THEN '; decide whether queries search by its first column alone'
                 WHEN (j.i).is_unique THEN '; ON CONFLICT then has to repeat the condition'
                 ELSE '' END,
         CASE WHEN j.is_free AND j.is_spare THEN
           spanner_internal.replaced_index(j.i, 'filtered',
             format('%s WHERE %s IS NOT NULL', spanner_internal.index_body(j.i), j.quoted)) END
    FROM judged j)
   UNION ALL
  -- An index through which many rows are fetched, of a table that is seldom written and has only
  -- few small columns more than the index.
  SELECT 'index_storing', i.relid, i.indexid, i.attnum, i.name::text,
         format('%s rows were fetched through this index; with %s stored in it, the table need not '
                'be read', x.fetched, w.columns),
         spanner_internal.replaced_index(i, 'storing',
           regexp_replace(spanner_internal.index_body(i),
                          '(( WITH \(.*\))?( TABLESPACE .*)?)$',
                          format(' INCLUDE (%s)\1', replace(w.columns, '\', '\\'))))
    FROM unnest((facts).indexes) i
    JOIN unnest((facts).tables) t ON t.relid = i.relid AND t.relkind = 'r'
   CROSS JOIN LATERAL (SELECT pg_stat_get_tuples_fetched(i.indexid) AS fetched,
           pg_stat_get_tuples_inserted(t.relid) + pg_stat_get_tuples_updated(t.relid)
             + pg_stat_get_tuples_deleted(t.relid) AS written) x
   CROSS JOIN LATERAL (
     SELECT string_agg(quote_ident(s.attname), ', ' ORDER BY s.attname) AS columns,
           sum(s.avg_width) AS width, count(*) AS count
      FROM pg_stats s JOIN pg_attribute c ON c.attrelid = i.relid AND c.attname = s.attname
     WHERE s.schemaname = i.nspname AND s.tablename = t.relname AND NOT s.inherited
       AND c.attnum <> ALL (i.indkey) AND x.fetched >= 100000) w
   WHERE x.fetched >= 100000 AND x.fetched >= 10 * x.written
     AND w.count BETWEEN 1 AND 3 AND w.width <= 32
     AND i.is_btree AND i.constraint_id IS NULL AND NOT i.is_needed AND NOT i.storing
     AND i.predicate IS NULL AND i.other IS NULL
     AND NOT i.is_unique AND NOT 0 = ANY (i.indkey)
     AND (SELECT count(*) FROM pg_attribute c
           WHERE c.attrelid = i.relid AND c.attnum > 0 AND NOT c.attisdropped
             AND c.attnum <> ALL (i.indkey)) = w.count
     AND NOT EXISTS (SELECT FROM unnest((facts).columns) s
                      WHERE s.relid = i.relid AND s.attnum = i.attnum AND s.why IS NOT NULL)
   UNION ALL
  -- The right to a table is asked first: it is one look-up for all of its columns.
  SELECT 'no_privilege', t.relid, 0::oid, 0::int2, t.relname::text,
         'without the right to read all rows, the measured rules are left out', NULL
    FROM (SELECT x.relid, x.relname, NOT x.is_usable OR row_security_active(x.relid) AS is_hidden
            FROM unnest((facts).tables) x
          OFFSET 0) t
   WHERE (t.is_hidden OR NOT has_table_privilege(t.relid, 'SELECT'))
     AND EXISTS (SELECT FROM unnest((facts).columns) c
                   JOIN unnest((facts).indexes) i ON i.relid = c.relid AND i.attnum = c.attnum
                  WHERE c.relid = t.relid AND (c.source IS NULL OR c.source = 'time')
                    AND (t.is_hidden OR NOT has_column_privilege(c.relid, c.attnum, 'SELECT')))
   UNION ALL
  -- Tables that nobody has analyzed, and that are large enough to matter.
  SELECT 'no_statistics', t.relid, 0::oid, 0::int2, t.relname::text,
         'the table has never been analyzed, so the measured rules look at its first rows only',
         format('ANALYZE %s', t.ident)
    FROM (SELECT x.* FROM unnest((facts).tables) x WHERE x.relkind = 'r' AND x.rows < 0
           ORDER BY pg_stat_get_tuples_inserted(x.relid) DESC, x.relid LIMIT 1000) t
   WHERE CASE WHEN spanner_internal.is_free(t.relid) THEN pg_relation_size(t.relid) END >= 1048576
     AND NOT EXISTS (SELECT FROM unnest((facts).columns) c
                      WHERE c.relid = t.relid AND c.null_share IS NOT NULL);
END;
