/* src/advisor/rules_references.sql */

--
-- Advisor: columns that refer to others
--

-- Columns that refer to wider ones.
CREATE FUNCTION spanner_internal.rule_reference_narrow(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT t.relid, 0::oid, r.attnum, r.name::text,
         format('column %I is %s, and %s, to which it refers, is wider: a row with a larger value '
                'there cannot be referred to',
                r.name, r.type::regtype, r.other)
         || CASE WHEN r.widen IS NULL THEN '; decide how to widen it' ELSE '' END,
         r.widen
    FROM unnest((facts).narrow) r
    JOIN unnest((facts).tables) t ON t.relid = r.relid;
END;

-- Without an index on the child, a row that is deleted from the parent has the
-- child read.  Of several columns one at the head of an index is enough.  If nothing is known
-- of the rows, a child whose rows go with their parents counts.
CREATE FUNCTION spanner_internal.rule_reference_unindexed(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT t.relid, 0::oid, k.conkey[1], k.conname::text,
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
     SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY u.n) AS columns,
            count(*) = 1 AND max(s.null_frac) >= 0.5 AS sparse
       FROM unnest(k.conkey) WITH ORDINALITY u (attnum, n)
       JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = u.attnum
       LEFT JOIN pg_stats s ON s.schemaname = t.nspname AND s.tablename = t.relname
        AND s.attname = a.attname AND s.inherited = (t.relkind = 'p')
     OFFSET 0) n
   WHERE (t.rows >= 10000
          OR k.confdeltype = ANY ('{c,n,d}') AND (t.rows >= 1000 OR t.rows < 0))
     AND NOT EXISTS (SELECT FROM unnest((facts).indexes) i
                      WHERE i.relid = t.relid AND i.attnum = ANY (k.conkey)
                        AND (i.predicate IS NULL OR i.predicate ~ '^\(?[^ ]+ IS NOT NULL\)?$'))
     AND NOT EXISTS (SELECT FROM pg_constraint o
                      WHERE o.conrelid = t.relid AND o.contype = 'f' AND o.conkey = k.conkey
                        AND o.oid < k.oid AND o.conparentid = 0);
END;

INSERT INTO spanner_internal.advisor_rule VALUES
  ('reference_narrow', 5, 'warning', '{one_server,splits,spanner,citus,cassandra}', NULL,
   'A column of 16 or 32 bits refers to a wider one. It breaks when the sequence there passes its '
   'range, and with the first bit-reversed id.'),
  ('reference_unindexed', 165, 'notice', '{one_server}', NULL,
   'No index begins with a column of a foreign key, and the table has many rows, or they are '
   'deleted or changed with their parents.');
