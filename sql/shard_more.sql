-- Shards: columns of other types, keys that are conditions, orders of expressions, and what is no shard key.
CREATE SCHEMA shard_more;
SET search_path = shard_more;
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'EXPLAIN (COSTS off) ' || query;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;

-- the shard is a bigint or a smallint
CREATE TABLE wide (shard bigint GENERATED ALWAYS AS (spanner.shard_id(4, a)) STORED, a int, b text);
INSERT INTO wide (a, b) SELECT i, 'b' || i FROM generate_series(1, 200) i;
CREATE INDEX wide_key ON wide (shard, a);
CREATE TABLE narrow (shard smallint GENERATED ALWAYS AS (spanner.shard_id(40000, a)) STORED, a int, b text);
CREATE TABLE small (shard smallint GENERATED ALWAYS AS (spanner.shard_id(4, a)) STORED, a int, b text);
INSERT INTO small (a, b) SELECT i, 'b' || i FROM generate_series(1, 200) i;
CREATE INDEX small_key ON small (shard, a);
ANALYZE;
SELECT plan('SELECT a FROM wide ORDER BY a LIMIT 3');
SELECT array_agg(a) FROM (SELECT a FROM wide ORDER BY a LIMIT 3) w;
SELECT array_agg(a) FROM (SELECT a FROM small ORDER BY a DESC LIMIT 3) w;
SELECT b FROM wide WHERE a = 7;
SELECT b FROM small WHERE a = 7;
BEGIN;
SELECT a FROM small ORDER BY a LIMIT 2 FOR UPDATE;
ROLLBACK;
BEGIN;
SELECT a FROM wide ORDER BY a LIMIT 2 FOR UPDATE;
ROLLBACK;

-- the order is that of an expression, by value and by reference, with nulls
CREATE TABLE expressed (shard int GENERATED ALWAYS AS (spanner.shard_id(4, a)) STORED, a int, b text);
INSERT INTO expressed (a, b) SELECT i, CASE WHEN i % 3 > 0 THEN 'B' || i END FROM generate_series(1, 200) i;
CREATE INDEX lower_key ON expressed (shard, lower(b) DESC NULLS LAST);
CREATE INDEX minus_key ON expressed (shard, (-a) NULLS FIRST);
CREATE INDEX collate_key ON expressed (shard, b COLLATE "POSIX");
ANALYZE expressed;
SELECT plan('SELECT b FROM expressed ORDER BY lower(b) DESC NULLS LAST LIMIT 3');
SELECT plan('SELECT b FROM expressed ORDER BY b COLLATE "POSIX" LIMIT 3');
SELECT array_agg(b) FROM (SELECT b FROM expressed ORDER BY lower(b) DESC NULLS LAST LIMIT 3) e;
SELECT array_agg(b) FROM (SELECT b FROM expressed ORDER BY lower(b) NULLS FIRST OFFSET 65 LIMIT 4) e;
SELECT array_agg(a) FROM (SELECT a FROM expressed ORDER BY -a NULLS FIRST LIMIT 3) e;
SELECT array_agg(b) FROM (SELECT b FROM expressed ORDER BY b COLLATE "POSIX" LIMIT 3) e;

-- EXPLAIN for programs
CREATE FUNCTION direction(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer json;
BEGIN
  EXECUTE 'EXPLAIN (COSTS off, FORMAT json) ' || query INTO answer;
  RETURN answer #>> '{0,Plan,Plans,0,Scan Direction}';
END $$;
SELECT direction('SELECT a FROM wide ORDER BY a LIMIT 3'), direction('SELECT a FROM wide ORDER BY a DESC LIMIT 3');

-- a boolean key is a condition by itself
CREATE TABLE flags (shard int GENERATED ALWAYS AS (spanner.shard_id(4, flag, id)) STORED, flag bool, id int);
INSERT INTO flags (flag, id) SELECT i % 2 = 0, i FROM generate_series(1, 100) i;
CREATE INDEX flags_key ON flags (shard, flag, id);
SELECT plan('SELECT id FROM flags WHERE flag AND id = 4');
SELECT plan('SELECT id FROM flags WHERE NOT flag AND id = 5');
SELECT id FROM flags WHERE flag = true AND id = 4;
SELECT id FROM flags WHERE NOT flag AND id IN (4, 5);

RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_sort;

-- partitions by shard, beside other tables
CREATE TABLE parted (shard int NOT NULL, a int, b int, CHECK (shard = spanner.shard_id(2, a))) PARTITION BY LIST (shard);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
INSERT INTO parted SELECT spanner.shard_id(2, i), i, i FROM generate_series(1, 20) i;
CREATE FUNCTION partitions_in(query text) RETURNS bigint LANGUAGE sql
  AS $$ SELECT count(*) FROM plan(query) p WHERE p LIKE '%on parted\__ %' $$;
SELECT partitions_in('SELECT b FROM parted p JOIN (VALUES (1), (2)) v(x) ON v.x = p.b WHERE p.a = 1') AS "join",
       partitions_in('SELECT b FROM (VALUES (1), (2)) v(x) LEFT JOIN parted p ON v.x = p.b AND p.a = 1') AS "left",
       partitions_in('SELECT b FROM parted p RIGHT JOIN (VALUES (1), (2)) v(x) ON v.x = p.b AND p.a = 1') AS "right",
       partitions_in('SELECT b FROM parted p LEFT JOIN (VALUES (1), (2)) v(x) ON v.x = p.b AND p.a = 1') AS "all",
       partitions_in('SELECT b FROM parted p FULL JOIN (VALUES (1), (2)) v(x) ON v.x = p.b') AS "full";
SELECT x, b FROM parted p RIGHT JOIN (VALUES (1), (2)) v(x) ON v.x = p.b AND p.a = 1 ORDER BY x;
SELECT count(*) FROM parted p FULL JOIN (VALUES (1), (30)) v(x) ON v.x = p.b;

-- conditions that choose partitions do not change how many rows are expected
CREATE TABLE valued (a int, b int) PARTITION BY LIST ((spanner.shard_id(4, a)));
CREATE TABLE valued_01 PARTITION OF valued FOR VALUES IN (0, 1);
CREATE TABLE valued_23 PARTITION OF valued FOR VALUES IN (2, 3);
INSERT INTO valued SELECT i % 20, i FROM generate_series(1, 8000) i;
ANALYZE valued;
CREATE FUNCTION expected(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  answer json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO answer;
  RETURN round((answer #>> '{0,Plan,Plan Rows}')::numeric, -1);
END $$;
CREATE VIEW estimate AS SELECT expected(q) FROM unnest(ARRAY[
  'SELECT b FROM valued WHERE a = 7', 'SELECT b FROM valued WHERE a IN (7, 8)',
  'SELECT b FROM valued JOIN generate_series(1, 3) g ON a = g', 'SELECT b FROM generate_series(1, 3) g JOIN valued ON g = a',
  'SELECT b FROM generate_series(1, 3) g LEFT JOIN valued ON a = g']) q;
SELECT string_agg(expected::text, ', ') FROM estimate;
SET spanner_keys.enable_derived_shard = off;
SELECT string_agg(expected::text, ', ') FROM estimate;
RESET spanner_keys.enable_derived_shard;

-- lists of shards
SELECT spanner_internal.shard_ids(4, ARRAY[1, 2, 3, 4, 5, 6, 7, 8]);
SELECT cardinality(spanner_internal.shard_ids(4, ARRAY(SELECT generate_series(1, 100)), ARRAY(SELECT generate_series(1, 100))));
SELECT spanner_internal.shard_ids(2000000000, ARRAY(SELECT generate_series(1, 1001)), ARRAY(SELECT generate_series(1, 1000)));
SELECT spanner_internal.all_shards(0), spanner_internal.all_shards(-1);
SELECT spanner_internal.all_shards(2147483647);

-- lists that may be longer than shard_ids() bears
CREATE TABLE many (shard int GENERATED ALWAYS AS (spanner.shard_id(100000, a, b)) STORED, a int, b int);
INSERT INTO many (a, b) SELECT i, i FROM generate_series(1, 1000) i;
CREATE INDEX many_key ON many (shard, a, b);
ANALYZE many;
SET enable_seqscan = off;
SELECT substring(plan, 'shard = ANY [^)]*') FROM plan('SELECT a FROM many WHERE a IN (1, 2) AND b = 2') WHERE plan ~ 'Index Cond';
SELECT count(*) FROM many WHERE a = ANY (ARRAY(SELECT generate_series(1, 1001))) AND b = ANY (ARRAY(SELECT generate_series(1, 1000)));
DO $$
BEGIN
  PERFORM FROM many WHERE a = ANY (ARRAY(SELECT generate_series(1, 1001))) AND b = 1;
  EXECUTE format('SELECT FROM many WHERE a = ANY (%1$L) AND b = ANY (%1$L)', ARRAY(SELECT generate_series(1, 1001)));
END $$;
RESET enable_seqscan;

-- what cannot be a shard key
CREATE TABLE constants (shard int GENERATED ALWAYS AS (spanner.shard_id(4, 'x'::text)) STORED);
CREATE TABLE by_array (shard int GENERATED ALWAYS AS (spanner.shard_id(4, VARIADIC ARRAY[a, b])) STORED, a int, b int);
SELECT tablename, problem FROM spanner.shard_keys WHERE schemaname = 'shard_more' AND NOT usable ORDER BY 1;

-- the function that reads them bears everything that is of its type, and other tables
SELECT count(spanner_internal.read_shard_key(ev_qual, ev_class)), count(spanner_internal.read_shard_key(ev_action, ev_class)) FROM pg_rewrite;
SELECT spanner_internal.read_shard_key(relpartbound, oid) FROM pg_class WHERE relname = 'parted_0';
SELECT spanner_internal.read_shard_key(adbin, 0), spanner_internal.read_shard_key(adbin, 'constants'::regclass),
       spanner_internal.read_shard_key(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'wide'::regclass;

SET client_min_messages = warning;
DROP SCHEMA shard_more CASCADE;
