/* src/advisor/rules_references.sql */

--
-- Advisor: columns that refer to others
--

-- Do statistics say that at least half of a column is NULL?
CREATE FUNCTION spanner_internal.is_mostly_null(
  schema name, relation name, column_name name, partitioned boolean)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET enable_nestloop = on  -- by the indexes of the catalogs
BEGIN ATOMIC
  SELECT s.null_frac >= 0.5
    FROM pg_stats s
   WHERE s.schemaname = schema AND s.tablename = relation AND s.attname = column_name
     AND s.inherited = partitioned;
END;

-- The findings of these rules.
CREATE FUNCTION spanner_internal.rules_references(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- Columns that refer to wider ones.
  SELECT 'reference_narrow', t.relid, 0::oid, r.attnum, r.name::text,
         format('column %I is %s, and %s, to which it refers, is wider: a row with a larger value '
                'there cannot be referred to',
                r.name, r.type::regtype, r.other)
         || CASE WHEN r.widen IS NULL THEN '; decide how to widen it' ELSE '' END,
         r.widen
    FROM unnest((facts).narrow) r
    JOIN unnest((facts).tables) t ON t.relid = r.relid
   WHERE r.referenced <> 0
   UNION ALL
  -- Without an index on the child, a row that is deleted from the parent has the
  -- child read.  Of several columns one at the head of an index is enough.  If nothing is known
  -- of the rows, a child whose rows go with their parents counts.
  SELECT 'reference_unindexed', t.relid, 0::oid, k.conkey[1], k.conname::text,
         format('no index begins with %s, so each row that is deleted from %s reads this table',
                n.columns,
                k.confrelid::regclass),
         format('CREATE INDEX%s ON %s (%s)',
                CASE WHEN t.relkind = 'r' THEN ' /* CONCURRENTLY */' END,
                t.ident, n.columns)
         || CASE WHEN n.sparse THEN format(' WHERE %s IS NOT NULL', n.columns) ELSE '' END
    FROM unnest((facts).tables) t
    JOIN pg_constraint k ON k.conrelid = t.relid AND k.contype = 'f' AND k.conparentid = 0
   CROSS JOIN LATERAL (
     SELECT spanner_internal.column_list(t.relid, k.conkey) AS columns,
            cardinality(k.conkey) = 1
            AND spanner_internal.is_mostly_null(
                  t.nspname, t.relname,
                  (SELECT a.attname FROM pg_attribute a
                    WHERE a.attrelid = t.relid AND a.attnum = k.conkey[1]),
                  t.relkind = 'p') AS sparse
     OFFSET 0) n
   WHERE (t.rows >= 10000
          OR k.confdeltype = ANY ('{c,n,d}') AND (t.rows >= 1000 OR t.rows < 0))
     AND NOT EXISTS (SELECT FROM unnest((facts).indexes) i
                      WHERE i.relid = t.relid AND i.attnum = ANY (k.conkey)
                        AND (i.predicate IS NULL OR EXISTS (
                          SELECT FROM pg_index x
                           WHERE x.indexrelid = i.indexid
                             AND (spanner_internal.called_functions(x.indpred))[1]
                                 = 'is not null')))
     AND NOT EXISTS (SELECT FROM spanner_internal.list_pairs(facts) p
                      WHERE p.relid = t.relid AND p.may_be_key AND p.attnums[1] = ANY (k.conkey))
     -- the index of a longer one, or of the same columns, serves this one
     AND NOT EXISTS (SELECT FROM pg_constraint o
                      WHERE o.conrelid = t.relid AND o.contype = 'f' AND o.conparentid = 0
                        AND o.conkey[1:cardinality(k.conkey)] = k.conkey
                        AND (cardinality(o.conkey), k.oid) > (cardinality(k.conkey), o.oid)
                        AND (t.rows >= 10000 OR o.confdeltype = ANY ('{c,n,d}')));
END;
