/* src/advisor/rules_citus.sql */

--
-- Advisor: tables that Citus distributes
--

-- A few shard ids reach few of the ranges of hashes, of which there are 32.
CREATE FUNCTION spanner_internal.rule_citus_shard(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT c.relid, 0::oid, c.attnum, c.name::text,
         format('the table is distributed by %s, a shard id, whose few values Citus hashes once '
                'more: they reach few of its shards, and queries are not sent to one of them '
                'unless they name it; decide on the entity that queries name', c.quoted),
         NULL
    FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid AND t.distribution = c.attnum
   WHERE c.source = 'shard';
END;

-- The nodes keep a key unique only if it contains the column by which they are told apart.
CREATE FUNCTION spanner_internal.rule_citus_key(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT t.relid, t.pkey, a.attnum, a.attname::text,
         format('the primary key does not contain %I, by which the table is distributed, so '
                'nothing keeps it unique over the nodes; decide on a key that does', a.attname),
         NULL
    FROM (SELECT x.* FROM unnest((facts).tables) x WHERE x.distribution > 0 OFFSET 0) t
    JOIN unnest((facts).indexes) p ON p.indexid = t.pkey
    JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = t.distribution
   WHERE t.distribution <> ALL (p.indkey);
END;

-- Workers refuse to draw from sequences of these columns.
CREATE FUNCTION spanner_internal.rule_citus_narrow(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT c.relid, 0::oid, c.attnum, c.name::text,
         format('column %s uses a sequence and is %s: Citus refuses inserts through its '
                'workers; decide on bigint, before the table is distributed', c.quoted,
                c.type::regtype),
         NULL
    FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid
   WHERE c.source = ANY ('{sequence,mapped}') AND c.type = ANY ('{int2,int4}'::regtype[]);
END;

INSERT INTO spanner_internal.advisor_rule VALUES
  ('citus_key', 106, 'warning', '{citus}', NULL,
   'The primary key of a table that Citus distributes lacks the distribution column.'),
  ('citus_narrow', 107, 'notice', '{citus}', NULL,
   'A column of 32 or 16 bits uses a sequence. Workers of Citus number 64 bits only.'),
  ('citus_shard', 108, 'warning', '{citus}', NULL,
   'Citus distributes a table by a shard id. It hashes by itself: 16 ids reach 12 of 32 shards.');
