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
