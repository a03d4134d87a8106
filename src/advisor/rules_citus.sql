/* src/advisor/rules_citus.sql */

--
-- Advisor: tables that Citus distributes
--

-- The findings of these rules.
CREATE FUNCTION spanner_internal.rules_citus(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- A few shard ids reach few of the ranges of hashes, of which there are 32.
  SELECT 'citus_shard', c.relid, 0::oid, c.attnum, c.name::text,
         format('the table is distributed by %s, a shard id, whose few values Citus hashes once '
                'more: they reach few of its shards, and queries are not sent to one of them '
                'unless they name it; decide on the entity that queries name', c.quoted),
         NULL
    FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid AND t.distribution = c.attnum
   WHERE c.source = 'shard'
   UNION ALL
  -- The nodes keep a key unique only if it contains the column by which they are told apart.
  SELECT 'citus_key', t.relid, t.pkey, a.attnum, a.attname::text,
         format('the primary key does not contain %I, by which the table is distributed, so '
                'nothing keeps it unique over the nodes; decide on a key that does', a.attname),
         NULL
    FROM (SELECT x.* FROM unnest((facts).tables) x WHERE x.distribution > 0 OFFSET 0) t
    JOIN unnest((facts).indexes) p ON p.indexid = t.pkey
    JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = t.distribution
   WHERE t.distribution <> ALL (p.indkey)
   UNION ALL
  -- Workers refuse to draw from sequences of these columns.  A line for each schema.
  SELECT 'citus_narrow', CASE count(*) WHEN 1 THEN min(t.relid) ELSE 0 END, 0::oid, 0::int2,
         t.nspname::text,
         format(CASE count(*) WHEN 1
                  THEN 'column %3$s uses a sequence and has 32 bits or less'
                  ELSE '%s columns of schema %I use sequences and have 32 bits or less, such as '
                       '%s' END,
                count(*), t.nspname, min(format('%I.%I', t.relname, n.name) COLLATE "C"))
         || ': Citus refuses inserts through its workers; decide on bigint, before the tables are '
            'distributed',
         NULL
    FROM unnest((facts).narrow) n
    JOIN unnest((facts).tables) t ON t.relid = n.relid AND t.target = 'citus'
   WHERE n.referenced = 0
   GROUP BY t.nspname;
END;
