-- What the shard is derived from: other tables in any order, by way of other
-- columns, and everything that index conditions come from chooses partitions.

LOAD 'spanner_keys';
CREATE SCHEMA test_shard_sources;
SET search_path = test_shard_sources;
SET max_parallel_workers_per_gather = 0;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

-- one condition for each other table that gives the whole key
SELECT format('CREATE TABLE t%s (s int GENERATED ALWAYS AS (spanner.shard_id(64, a, b, c)) STORED,
                a int NOT NULL, b int NOT NULL, c int NOT NULL, PRIMARY KEY (s, a, b, c))', n) FROM generate_series(1, 5) n \gexec
SELECT format('INSERT INTO t%s (a, b, c) SELECT i, i %% 100, i %% 7 FROM generate_series(1, 5000) i', n) FROM generate_series(1, 5) n \gexec
CREATE TABLE small AS SELECT a, b, c FROM t1 WHERE a % 600 = 0;
VACUUM ANALYZE;

CREATE FUNCTION lacks_shard(query text) RETURNS SETOF text
LANGUAGE sql AS $$
  SELECT line FROM plan(query) line
   WHERE line ~ 'Scan.* on t\d|all_shards' OR line ~ 'Index Cond' AND line !~ 's = spanner.shard_id'
$$;
SET join_collapse_limit = 20;
SELECT line FROM lacks_shard('SELECT count(*) FROM t1 JOIN t2 USING (a, b, c) JOIN t3 USING (a, b, c) JOIN t4 USING (a, b, c)
  JOIN t5 USING (a, b, c) JOIN small USING (a, b, c)') line WHERE line !~ 'Index';
SELECT line FROM lacks_shard('SELECT count(*) FROM small JOIN t1 USING (a, b, c) JOIN t2 USING (a, b, c) JOIN t3 USING (a, b, c)
  JOIN t4 USING (a, b, c) JOIN t5 USING (a, b, c)') line WHERE line !~ 'Index';
SELECT count(*) FROM t1 JOIN t2 USING (a, b, c) JOIN t3 USING (a, b, c) JOIN t4 USING (a, b, c)
  JOIN t5 USING (a, b, c) JOIN small USING (a, b, c);
SELECT same('SELECT * FROM t1 JOIN t2 USING (a, b, c) JOIN t3 USING (a, b, c) JOIN small USING (a, b, c)');

-- values of several tables, if none gives all
CREATE TABLE part AS SELECT DISTINCT a, b FROM small;
CREATE TABLE rest AS SELECT DISTINCT c FROM small;
ANALYZE part, rest;
SELECT plan('SELECT count(*) FROM t1 JOIN part USING (a, b) JOIN rest USING (c)');
SELECT same('SELECT * FROM t1 JOIN part USING (a, b) JOIN rest USING (c)');

-- what is made of an OR is materialized, or made unique
SELECT same('SELECT * FROM small x JOIN t1 ON t1.a > x.a - 700 WHERE (t1.a, t1.b, t1.c) IN ((1, 1, 1), (2, 2, 2))');
SELECT same('SELECT * FROM t2 WHERE a IN (SELECT a FROM t1 WHERE (a, b, c) IN ((1, 1, 1), (2, 2, 2)))');

-- partitions
CREATE TABLE p (s int NOT NULL CHECK (s = spanner.shard_id(8, a, b)), a int NOT NULL, b text NOT NULL, PRIMARY KEY (s, a, b))
  PARTITION BY LIST (s);
CREATE TABLE q (LIKE p INCLUDING ALL) PARTITION BY LIST (s);
SELECT format('CREATE TABLE %s%s PARTITION OF %1$s FOR VALUES IN (%2$s)', t, n) FROM unnest('{p,q}'::text[]) t, generate_series(0, 7) n \gexec
INSERT INTO p SELECT spanner.shard_id(8, i, 'x' || i % 5), i, 'x' || i % 5 FROM generate_series(1, 400) i;
INSERT INTO q SELECT * FROM p;
ANALYZE p, q;

CREATE FUNCTION scanned(query text) RETURNS text
LANGUAGE sql AS $$
  SELECT string_agg(name, ' ' ORDER BY name)
    FROM (SELECT DISTINCT substring(line, ' on ([pq]\d)') AS name FROM plan(query) line) p
$$;
-- by way of the other table's columns, and in a generic plan
SELECT scanned($$SELECT * FROM p JOIN q USING (a, b) WHERE a = 9 AND b = 'x4'$$);
SELECT scanned($$SELECT * FROM p JOIN q ON q.a = p.a AND q.b = p.b WHERE q.a = 9 AND p.b = 'x4'$$);
SELECT scanned($$SELECT * FROM p LEFT JOIN q ON q.a = p.a AND q.b = p.b WHERE p.a = 9 AND p.b = 'x4'$$);
SELECT scanned($$SELECT * FROM p JOIN q USING (a, b) WHERE a IN (9, 10) AND b = 'x4'$$);
SELECT scanned($$SELECT * FROM p WHERE EXISTS (SELECT FROM q WHERE q.a = p.a AND q.b = p.b) AND p.a = 9 AND p.b = 'x4'$$);
SET plan_cache_mode = force_generic_plan;
PREPARE joined(int, text) AS SELECT * FROM p JOIN q USING (a, b) WHERE a = $1 AND b = $2;
SELECT scanned($$EXECUTE joined(9, 'x4')$$);
PREPARE listed(int, int, text) AS SELECT * FROM p WHERE a IN ($1, $2) AND b = $3;
SELECT scanned($$EXECUTE listed(5, 10, 'x0')$$);
EXECUTE listed(5, 10, 'x0');
-- a list that is not known does not choose, and is no work for each row
PREPARE unknown(int[], text) AS SELECT * FROM p WHERE a = ANY ($1) AND b = $2;
SELECT scanned($$EXECUTE unknown('{5,10}', 'x0')$$);
SELECT count(*) FROM plan($$EXECUTE unknown('{5,10}', 'x0')$$) line WHERE line ~ 'Filter: .*shard_ids';
EXECUTE unknown('{5,10}', 'x0');
RESET plan_cache_mode;
-- rows, and the arms of an OR
SELECT scanned($$SELECT * FROM p WHERE (a, b) IN ((5, 'x0'), (6, 'x1'))$$);
SELECT scanned($$SELECT * FROM p WHERE a = 5 AND b = 'x0' OR a = 7 AND b IN ('x1', 'x2')$$);
SELECT scanned($$SELECT * FROM p WHERE a = 5 AND (b = 'x0' OR b = 'x3' AND a > 0)$$);
SELECT count(DISTINCT line) FROM plan($$SELECT * FROM p WHERE a = 5 AND b = 'x0' OR a = 7$$) line WHERE line ~ ' on p\d';
-- of one arm that is left, nothing remains an OR
SET enable_seqscan = off;
SELECT count(*) FROM plan($$SELECT * FROM p WHERE a = 5 AND b = 'x0' AND length(b) = 2 OR a = 7 AND b = 'x2' AND length(b) < 9$$) line
 WHERE line ~ 'Filter: \(\(\(';
RESET enable_seqscan;
-- a row of the same table
CREATE FUNCTION never_executed(query text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  line text;
  found bigint := 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    found := found + (line ~ 'never executed')::int;
  END LOOP;
  RETURN found;
END $$;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT never_executed('SELECT * FROM p x JOIN p y USING (a, b) WHERE x.a + 0 = 9');
RESET enable_hashjoin;
RESET enable_mergejoin;
-- members of UNION ALL
SELECT scanned($$SELECT * FROM (SELECT a, b FROM p UNION ALL SELECT a, b FROM q) x WHERE a = 5 AND b = 'x0'$$);
SELECT scanned($$SELECT * FROM (SELECT a, b FROM p WHERE b = 'x0' UNION ALL SELECT b::int, 'x0' FROM (VALUES ('5')) v (b)) x WHERE a = 5$$);
-- row-level security
SET test.b = 'x0';
CREATE ROLE regress_shard_sources;
GRANT USAGE ON SCHEMA test_shard_sources TO regress_shard_sources;
GRANT SELECT ON p TO regress_shard_sources;
ALTER TABLE p ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_b ON p USING (b = current_setting('test.b'));
SET ROLE regress_shard_sources;
EXPLAIN (COSTS OFF) SELECT * FROM p WHERE a = 5;
SELECT * FROM p WHERE a = 5;
RESET ROLE;
ALTER TABLE p DISABLE ROW LEVEL SECURITY;

SELECT q, same(q)
  FROM unnest(ARRAY[
    $$SELECT * FROM p JOIN q USING (a, b) WHERE a = 9 AND b = 'x4'$$,
    $$SELECT * FROM p x LEFT JOIN p y ON y.a = x.a + 1 AND y.b = x.b JOIN p z ON z.a = x.a AND z.b = x.b$$,
    $$SELECT * FROM p LEFT JOIN q ON q.a = p.a AND q.b = p.b WHERE p.a = 9 AND p.b = 'x4'$$,
    $$SELECT * FROM p LEFT JOIN q ON q.a = p.a AND q.b = 'x4' AND p.b = 'x3' WHERE p.a = 9$$,
    $$SELECT * FROM p LEFT JOIN q ON q.a = p.a AND q.b = p.b AND q.b = 'x1' WHERE p.a < 50$$,
    $$SELECT * FROM p LEFT JOIN q ON q.a = p.a AND q.b = p.b WHERE p.a IN (5, 6)$$,
    $$SELECT * FROM p FULL JOIN q ON q.a = p.a AND q.b = p.b WHERE p.a = 5 OR q.a = 6 AND q.b = 'x1'$$,
    $$SELECT * FROM p WHERE (a, b) IN ((5, 'x0'), (6, 'x1'), (NULL, 'x2'))$$,
    $$SELECT * FROM p WHERE a = 5 AND b = 'x0' OR a = 7 AND b IN ('x1', 'x2')$$,
    $$SELECT * FROM p WHERE NOT EXISTS (SELECT FROM q WHERE q.a = p.a AND q.b = p.b AND (q.a = 5 OR q.b = 'x1'))$$,
    $$SELECT * FROM (SELECT a, b FROM p UNION ALL SELECT a + 1, b FROM q) x WHERE a = 5 AND b = 'x0'$$]) q;

SET client_min_messages = warning;
DROP SCHEMA test_shard_sources CASCADE;
DROP ROLE regress_shard_sources;
