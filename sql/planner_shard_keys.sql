-- Declarations of shard keys.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_keys;
SET search_path = test_shard_keys;
SET max_parallel_workers_per_gather = 0;
SET spanner_keys.enable_shard_list = off;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

-- a column that a CHECK constraint compares; other integer types
CREATE TABLE checked (shard_id bigint NOT NULL, id text NOT NULL, at int NOT NULL,
  CONSTRAINT c CHECK (spanner.shard_id(8, id) = shard_id AND at > 0), PRIMARY KEY (shard_id, id, at));
INSERT INTO checked SELECT spanner.shard_id(8, i::text), i::text, i FROM generate_series(1, 5000) i;
CREATE TABLE small (shard_id smallint GENERATED ALWAYS AS (spanner.shard_id(8, id)) STORED, id varchar(10), at int);
INSERT INTO small (id, at) SELECT i, i FROM generate_series(1, 5000) i;
CREATE INDEX small_index ON small (shard_id, at) INCLUDE (id);

-- an index; a NULL is in a shard, too
CREATE TABLE by_index (a int, b numeric);
INSERT INTO by_index SELECT nullif(i % 100, 7), i::numeric / 4 FROM generate_series(1, 5000) i;
CREATE INDEX plain_index ON by_index (spanner.shard_id(8, a, b), b, a);
VACUUM ANALYZE checked, small, by_index;

SELECT plan($$SELECT * FROM checked WHERE id = '77'$$);
SELECT plan($$SELECT * FROM checked WHERE id IN ('77', '78')$$);
SELECT plan($$SELECT * FROM small WHERE id = '77' AND at = 77$$);
SELECT plan($$SELECT * FROM small ORDER BY at LIMIT 3$$);
SELECT plan($$SELECT * FROM by_index WHERE a = 8 AND b = 2.00$$);
SELECT plan($$SELECT * FROM by_index ORDER BY b DESC LIMIT 3$$);
SELECT bool_and(same(q)), count(*) FROM unnest(ARRAY[
  $$SELECT * FROM checked WHERE id = '77'$$,
  $$SELECT * FROM small WHERE id IN ('77', '78') AND at > 77$$,
  $$SELECT * FROM by_index WHERE a = 8 AND b = 2.00$$,
  $$SELECT * FROM by_index WHERE a IS NULL AND b < 100$$,
  $$SELECT * FROM by_index WHERE a = NULL AND b = 2$$]) q;

-- partitions: chosen when planning, when running, for each row of a join
CREATE TABLE part (shard_id int NOT NULL CHECK (shard_id = spanner.shard_id(4, id)), id int NOT NULL,
  PRIMARY KEY (shard_id, id)) PARTITION BY LIST (shard_id);
CREATE TABLE part0 PARTITION OF part FOR VALUES IN (0);
CREATE TABLE part1 PARTITION OF part FOR VALUES IN (1);
CREATE TABLE part2 PARTITION OF part FOR VALUES IN (2, 3);
INSERT INTO part SELECT spanner.shard_id(4, i), i FROM generate_series(1, 3000) i;
CREATE TABLE asked AS SELECT i * 997 AS id FROM generate_series(1, 3) i;
VACUUM ANALYZE part, asked;
SELECT spanner.shard_id(4, 7) AS shard;
SELECT plan('SELECT * FROM part WHERE id = 7');
PREPARE part_of(int) AS SELECT * FROM part WHERE id = $1;
SET plan_cache_mode = force_generic_plan;
SELECT plan('EXECUTE part_of(7)');
RESET plan_cache_mode;
SELECT plan('SELECT * FROM asked JOIN part USING (id)');
SELECT plan('SELECT * FROM part ORDER BY id LIMIT 3');

-- partition key by expression; a generated column in partitions by time
CREATE TABLE by_expression (id int) PARTITION BY LIST (spanner.shard_id(2, id));
CREATE TABLE by_expression0 PARTITION OF by_expression FOR VALUES IN (0);
CREATE TABLE by_expression1 PARTITION OF by_expression FOR VALUES IN (1);
INSERT INTO by_expression SELECT i FROM generate_series(1, 100) i;
SELECT plan('SELECT * FROM by_expression WHERE id = 7');
CREATE TABLE by_time (shard_id int GENERATED ALWAYS AS (spanner.shard_id(4, id)) STORED, id int, at int NOT NULL)
  PARTITION BY RANGE (at);
CREATE TABLE by_time0 PARTITION OF by_time FOR VALUES FROM (0) TO (1000);
CREATE TABLE by_time1 PARTITION OF by_time FOR VALUES FROM (1000) TO (4000);
CREATE INDEX ON by_time (shard_id, id, at);
CREATE INDEX by_at ON by_time (shard_id, at);
INSERT INTO by_time (id, at) SELECT i % 3000 * 997 % 3000, i FROM generate_series(1, 3000) i;
VACUUM ANALYZE by_time;
SELECT plan('SELECT * FROM asked JOIN by_time USING (id)');
SELECT plan('SELECT * FROM by_time ORDER BY at DESC LIMIT 3');
SELECT bool_and(same(q)), count(*) FROM unnest(ARRAY[
  'SELECT * FROM part WHERE id = 7', 'SELECT * FROM asked JOIN part USING (id)',
  'SELECT * FROM asked LEFT JOIN part ON asked.id = part.id AND part.shard_id < 3',
  'SELECT * FROM asked FULL JOIN part USING (id)',
  'SELECT * FROM part LEFT JOIN asked ON part.id = asked.id WHERE part.id = 2',
  'SELECT * FROM asked WHERE EXISTS (SELECT FROM part WHERE part.id = asked.id)',
  'SELECT * FROM by_expression WHERE id = 7', 'SELECT * FROM asked JOIN by_time USING (id)']) q;

-- what holds only for the parent says nothing about child tables
CREATE TABLE parent (shard_id int NOT NULL CHECK (shard_id = spanner.shard_id(4, id)) NO INHERIT, id int);
CREATE TABLE child () INHERITS (parent);
CREATE INDEX ON parent (shard_id, id);
CREATE INDEX ON child (shard_id, id);
INSERT INTO child VALUES (77, 7);
SET enable_seqscan = off;
SELECT * FROM parent WHERE id = 7;
SELECT * FROM parent ORDER BY id LIMIT 1;
RESET enable_seqscan;

-- the view, with what is none
CREATE TABLE no_index (shard_id int GENERATED ALWAYS AS (spanner.shard_id(4, id)) STORED, id int);
CREATE TABLE nullable (shard_id int CHECK (shard_id = spanner.shard_id(4, id)), id int);
CREATE INDEX ON nullable (shard_id, id);
INSERT INTO nullable VALUES (NULL, 7);
SET enable_seqscan = off;
SELECT * FROM nullable WHERE id = 7;
SELECT * FROM nullable ORDER BY id LIMIT 1;
RESET enable_seqscan;
CREATE TABLE formula (shard_id bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(id), 8))) STORED, id text);
CREATE TABLE expression (shard_id int GENERATED ALWAYS AS (spanner.shard_id(4, lower(id))) STORED, id text);
CREATE TABLE variable (n int, shard_id int GENERATED ALWAYS AS (spanner.shard_id(n, id)) STORED, id text);
CREATE TABLE by_hand ("ShardId" int, id int);
CREATE INDEX second ON by_index (a, (spanner.shard_id(8, a)));
SELECT tablename, declaration, name, shards, keys, usable, problem FROM spanner.shard_keys
 WHERE schemaname = 'test_shard_keys' ORDER BY 1, 2, 3;

\set SHOW_CONTEXT never
-- a shard column is known by the function that computes it, not by a name
CREATE FUNCTION my_shard_id(bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT ($1 % 4)::integer';
CREATE TABLE named (shard_id int GENERATED ALWAYS AS (my_shard_id(id)) STORED, id bigint, PRIMARY KEY (shard_id, id));
SELECT spanner.remove_shard_key('named');
CREATE TABLE turned (shard_id int NOT NULL CHECK (spanner.shard_id(4, id) = shard_id), id bigint, PRIMARY KEY (shard_id, id));
SELECT spanner.remove_shard_key('turned', dry_run => false);
DROP TABLE named, turned;

SET client_min_messages = warning;
DROP SCHEMA test_shard_keys CASCADE;

RESET ALL;

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

-- statistics that a dump has take the place of those that the library makes
CREATE TABLE noted (id integer, shard_id integer GENERATED ALWAYS AS (spanner.shard_id(8, id)) STORED);
SELECT stxname AS name FROM pg_statistic_ext WHERE stxrelid = 'noted'::regclass \gset
CREATE STATISTICS :name ON (spanner.shard_id(8, id)) FROM noted;
SELECT count(*), count(*) FILTER (WHERE stxstattarget = 0) AS of_the_library
  FROM pg_statistic_ext WHERE stxrelid = 'noted'::regclass;

SET client_min_messages = warning;
DROP SCHEMA shard_more CASCADE;
