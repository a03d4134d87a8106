-- Queries for which other planners of sharded keys gave wrong rows or bad plans.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_traps;
SET search_path = test_shard_traps;
SET max_parallel_workers_per_gather = 0;
SET spanner_keys.enable_shard_list = off;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

-- collations: equal text of a nondeterministic collation is in several shards
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE named (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, name)) STORED, name text COLLATE no_case, n int);
CREATE INDEX named_index ON named (shard_id, name);
INSERT INTO named (name, n) SELECT CASE i % 2 WHEN 0 THEN 'Ann ' ELSE 'ANN ' END || i / 2, i FROM generate_series(1, 2000) i;
ANALYZE named;
SET enable_seqscan = off;
SELECT name FROM named WHERE name = 'ann 7' ORDER BY n;
SELECT name FROM named WHERE name = 'Ann 7' COLLATE "C";
SELECT name FROM named ORDER BY name, n LIMIT 3;
RESET enable_seqscan;

-- enums: stored shards are those of the old label
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE felt (shard_id int GENERATED ALWAYS AS (spanner.shard_id(64, mood, at)) STORED, mood mood, at int);
CREATE INDEX felt_index ON felt (shard_id, mood, at);
INSERT INTO felt (mood, at) SELECT 'sad', generate_series(1, 500);
ALTER TYPE mood RENAME VALUE 'sad' TO 'blue';
SET enable_seqscan = off;
SELECT * FROM felt WHERE mood = 'blue' AND at = 7;
SELECT at FROM felt WHERE mood = 'blue' ORDER BY at DESC LIMIT 2;
RESET enable_seqscan;

-- duplicate and redundant columns of the index and of the order
CREATE TABLE event (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, a, b)) STORED, a int NOT NULL, b int, c int);
CREATE INDEX event_abc ON event (shard_id, a, b, c);
CREATE INDEX event_aac ON event (shard_id, c, a, c DESC);
INSERT INTO event (a, b, c) SELECT i % 40, nullif(i % 41, 0), i % 43 FROM generate_series(1, 6000) i;
CREATE INDEX event_partial ON event (shard_id, b) WHERE b > 30;
CREATE TABLE other AS SELECT i % 40 AS x, i % 41 AS y FROM generate_series(1, 50) i;
VACUUM ANALYZE event, other;
SELECT q, same(q, true) FROM unnest(ARRAY[
  'SELECT a, b, c FROM event WHERE a = b ORDER BY a, c LIMIT 30',
  'SELECT a, b, c FROM event WHERE a = 7 ORDER BY a, b, c LIMIT 30',
  'SELECT a, b, c FROM event WHERE b = 7 ORDER BY a, b, c LIMIT 30',
  'SELECT c, a FROM event ORDER BY c, a, c DESC LIMIT 300',
  'SELECT c FROM event ORDER BY c DESC OFFSET 200 LIMIT 300',
  'SELECT b FROM event WHERE b > 30 ORDER BY b LIMIT 30',
  'SELECT b FROM event WHERE b > 29 ORDER BY b LIMIT 300']) q;
SET enable_seqscan = off;
SET enable_sort = off;
SELECT plan('SELECT a, c FROM event WHERE a = b ORDER BY a, c LIMIT 30');
SELECT plan('SELECT b FROM event WHERE b > 30 ORDER BY b LIMIT 30');
RESET enable_seqscan;
RESET enable_sort;

-- lists with duplicates and NULL, all branches of a union
SELECT q, same(q) FROM unnest(ARRAY[
  'SELECT * FROM event WHERE a IN (1, 1, 2, NULL) AND b IN (5, 5)',
  'SELECT * FROM event WHERE a = ANY (ARRAY[[1, 2], [3, 4]]) AND b = ANY (''{}'')',
  'SELECT * FROM event WHERE a NOT IN (1, 2) AND b = 7',
  'SELECT * FROM event WHERE a = 1 AND b = 5 OR a = 2 AND b = 6 OR c = 3 AND a = 4',
  'SELECT * FROM event WHERE a = 1 AND (b = 5 OR b = 6 OR b IS NULL)',
  'SELECT * FROM event WHERE a = 1 AND b IS NOT DISTINCT FROM 5',
  'SELECT a, b FROM event WHERE a = 1 AND b = 5 UNION ALL SELECT a, b FROM event WHERE a = 1 AND b = 5',
  'SELECT * FROM (SELECT a, b FROM event UNION ALL SELECT x, y FROM other) u WHERE a = 1 AND b = 5',
  'SELECT * FROM event e JOIN event f ON e.a = f.b AND e.b = f.a AND e.c = f.c',
  'SELECT * FROM other LEFT JOIN event ON a = x AND b = y AND c < 20',
  'SELECT * FROM other LEFT JOIN event ON a = x AND b = 5 WHERE b IS NULL',
  'SELECT * FROM event RIGHT JOIN other ON a = x AND b = y WHERE x < 5',
  'SELECT * FROM other o LEFT JOIN (event e JOIN other p ON a = p.x) ON e.b = o.y AND e.a = o.x',
  'SELECT * FROM other WHERE (x, y) IN (SELECT a, b FROM event)',
  'SELECT * FROM other WHERE (x, y) NOT IN (SELECT a, b FROM event WHERE b IS NOT NULL)',
  'SELECT x, (SELECT max(c) FROM event WHERE a = x AND b = y) FROM other']) q;

-- prepared statements whose parameters change
PREPARE by_keys(int, int) AS SELECT count(*) FROM event WHERE a = $1 AND b = $2;
PREPARE by_order(int) AS SELECT a, b, c FROM event WHERE a > $1 ORDER BY a, b, c LIMIT 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_keys(1, 5);
EXECUTE by_keys(2, 6);
EXECUTE by_keys(NULL, 6);
EXECUTE by_order(1);
EXECUTE by_order(20);
EXECUTE by_order(NULL);
RESET plan_cache_mode;

-- a filter must not make the limit read everything; ON CONFLICT names the whole key
SELECT plan('SELECT a, b FROM event WHERE c <> 5 ORDER BY a LIMIT 2');
CREATE UNIQUE INDEX ON named (shard_id, n, name);
INSERT INTO named (name, n) VALUES ('Ann 7', 14) ON CONFLICT (shard_id, n, name) DO UPDATE SET n = -1 RETURNING n;

-- NULLs before a range, in an index that is read from one shard to the next
CREATE TABLE before_range (shard int GENERATED ALWAYS AS (spanner.shard_id(16, a)) STORED, a int, n int);
INSERT INTO before_range (a, n) SELECT CASE WHEN i % 3 = 0 THEN i % 30 END, i FROM generate_series(1, 2000) i;
CREATE INDEX ON before_range (shard, a DESC, n);
VACUUM ANALYZE before_range;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET cpu_index_tuple_cost = 1;
SET spanner_keys.enable_shard_list = on;
SELECT count(*), count(a) FROM before_range WHERE a > 100;
SELECT count(*), count(a) FROM before_range WHERE a > 20;
RESET enable_seqscan;
RESET enable_indexscan;
RESET cpu_index_tuple_cost;
SET spanner_keys.enable_shard_list = off;

-- a row comparison that is NULL on the last row of a page of the index
CREATE TABLE hidden (shard_id int GENERATED ALWAYS AS (spanner.shard_id(2, k)) STORED, k int, b int, a int, z int);
INSERT INTO hidden (k, z, b, a) SELECT 1, i, CASE WHEN i <= 500 THEN 0 WHEN i <= 510 THEN 1 ELSE 3 END, CASE WHEN i <= 510 THEN 1 END
  FROM generate_series(1, 512) i;
CREATE INDEX ON hidden (shard_id, b, a, z);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*), max(b) FROM hidden WHERE k = 1 AND (b, a) <= (3, 100) AND b = 0;
SELECT count(*), max(b) FROM (SELECT b FROM hidden WHERE k = 1 AND (b, a, k) <= (3, 100, 1) AND b = 0 ORDER BY b DESC) q;
SELECT count(*), max(h.b) FROM hidden h, (VALUES (1, 0)) v (k, b) WHERE h.k = v.k AND h.b = v.b AND (h.b, h.a) <= (3, 100);
SELECT count(*), max(b) FROM hidden WHERE (k = 1 AND (b, a) <= (3, 100) AND b = 0) OR (k = 2 AND b = 7);
RESET enable_seqscan;
RESET enable_bitmapscan;

-- a bound on a column that is not one of the order, behind those that are fixed
CREATE TABLE fixed (shard_id int GENERATED ALWAYS AS (spanner.shard_id(4, c, id)) STORED, a boolean NOT NULL, c int, id int);
INSERT INTO fixed (a, c, id) SELECT true, nullif(i % 5, 0), i FROM generate_series(1, 100) i;
CREATE INDEX ON fixed (shard_id, a, c, id);
SET enable_seqscan = off;
SET enable_sort = off;
SELECT line FROM plan('SELECT * FROM fixed WHERE a ORDER BY a DESC') line WHERE line ~ 'Merge';
SELECT count(*), count(c) FROM (SELECT * FROM fixed WHERE a ORDER BY a DESC OFFSET 0) q;
SELECT count(*), count(c) FROM (SELECT * FROM fixed WHERE a ORDER BY a OFFSET 0) q;
RESET enable_seqscan;
RESET enable_sort;

-- unlogged and temporary tables, and a table without rows
CREATE TEMP TABLE temporary (shard_id int GENERATED ALWAYS AS (spanner.shard_id(256, a)) STORED, a int);
CREATE INDEX ON temporary (shard_id, a);
INSERT INTO temporary (a) SELECT generate_series(1, 20000);
ANALYZE temporary;
SELECT plan('SELECT a FROM temporary ORDER BY a LIMIT 3');
SELECT a FROM temporary ORDER BY a LIMIT 3;
TRUNCATE event;
SELECT min(a), max(a) FROM event;

SET client_min_messages = warning;
DROP SCHEMA test_shard_traps CASCADE;
