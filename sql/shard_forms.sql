-- Shard keys as those who come from Spanner and from Cassandra write them.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_forms;
SET search_path = test_shard_forms;
SET max_parallel_workers_per_gather = 0;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

-- MOD(FARM_FINGERPRINT(...), n) has 2n - 1 values, with ABS it has n
CREATE TABLE signed (hash_prefix bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(name), 8)) STORED,
  name text, v int, PRIMARY KEY (hash_prefix, name));
CREATE TABLE absolute (hash_prefix int GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(name || '/' || v), 8))::int) STORED,
  name text, v int, at timestamptz, PRIMARY KEY (hash_prefix, at, name));
CREATE TABLE operators (hash_prefix smallint NOT NULL GENERATED ALWAYS AS ((@ (spanner.farm_fingerprint(name) % 8::bigint))::smallint) STORED,
  name text, v int);
CREATE INDEX ON operators (hash_prefix, v);
-- a fingerprint of NULL is NULL, in none of the shards
CREATE TABLE unknown_name (hash_prefix bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(name), 8))) STORED,
  name text, v int);
CREATE INDEX ON unknown_name (hash_prefix, v);
-- and satisfies a CHECK, whatever the column has
CREATE TABLE checked (hash_prefix bigint NOT NULL CHECK (hash_prefix = mod(spanner.farm_fingerprint(name), 8)), name text, v int);
CREATE INDEX ON checked (hash_prefix, v);
CREATE TABLE expression (name text NOT NULL, v int);
CREATE INDEX ON expression (abs(mod(spanner.farm_fingerprint(name), 8)), v);
-- what the order of a user's rows stands behind
CREATE TABLE members (groupname text, hash_prefix int GENERATED ALWAYS AS (spanner.shard_id(4, username)) STORED,
  username text, v int, PRIMARY KEY (groupname, hash_prefix, username));
CREATE TABLE limited (hash_prefix bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(name), 8)) STORED,
  name varchar(36), v int, PRIMARY KEY (hash_prefix, name));
CREATE TABLE no_number (hash_prefix bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(name), -8)) STORED, name text);
CREATE TABLE whole (hash_prefix bigint GENERATED ALWAYS AS (spanner.farm_fingerprint(name)) STORED, name text);

INSERT INTO signed (name, v) SELECT 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO absolute (name, v, at) SELECT 'n' || i, i % 100, timestamptz '2025-01-01Z' + i * interval '1 min' FROM generate_series(1, 5000) i;
INSERT INTO limited (name, v) SELECT 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO operators (name, v) SELECT 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO unknown_name (name, v) SELECT nullif('n' || i % 10, 'n3'), i FROM generate_series(1, 5000) i;
INSERT INTO checked (hash_prefix, name, v) SELECT mod(spanner.farm_fingerprint('n' || i), 8), 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO checked VALUES (1000, NULL, 7);
INSERT INTO expression (name, v) SELECT 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO members (groupname, username, v) SELECT 'g' || i % 20, 'u' || i, i FROM generate_series(1, 20000) i;
VACUUM ANALYZE;

SELECT tablename, declaration, shards, keys, usable, problem, loads_library
  FROM spanner.shard_keys WHERE schemaname = 'test_shard_forms' ORDER BY tablename COLLATE "C";

SELECT plan('SELECT * FROM signed WHERE name = ''n77''');
SELECT line FROM plan($$SELECT * FROM limited WHERE name = 'n77'$$) line WHERE line ~ 'Index Cond';
SELECT line FROM plan($$SELECT * FROM limited WHERE name IN ('n77', 'n78')$$) line WHERE line ~ 'Index Cond';
SELECT line FROM plan($$SELECT * FROM signed WHERE name IN ('n77', 'n78', NULL) AND v > 70$$) line WHERE line ~ 'Index Cond';
SELECT substring(line, 'hash_prefix = [^)]*')
  FROM plan($$SELECT * FROM absolute WHERE name IN ('n7', 'n8') AND v = 7 AND at = '2025-01-01 00:07Z'$$) line WHERE line ~ 'Index Cond';
SELECT plan('SELECT * FROM signed ORDER BY name LIMIT 3');
SELECT plan('SELECT * FROM absolute ORDER BY at DESC LIMIT 3');
SELECT plan('SELECT * FROM absolute WHERE name = ''n77'' AND v = 77 AND at = ''2025-01-01 01:17Z''');
SELECT plan('SELECT * FROM unknown_name ORDER BY v LIMIT 3');
SELECT plan('SELECT * FROM checked ORDER BY v LIMIT 3');
SELECT line FROM plan('SELECT * FROM checked WHERE name = ''n77'' AND v = 77') line WHERE line ~ 'Index Cond';
SELECT line FROM plan('SELECT * FROM expression WHERE name = ''n77'' AND v = 77') line WHERE line ~ 'Index Cond';
SELECT plan('SELECT * FROM members WHERE groupname = ''g1'' AND username = ''u21''');
SELECT plan('SELECT * FROM members WHERE groupname = ''g1'' ORDER BY username DESC LIMIT 3');
SELECT count(*) FROM plan('SELECT * FROM members WHERE groupname IN (''g1'', ''g2'') ORDER BY username LIMIT 3') line WHERE line ~ 'Merge';

SELECT q, same(q, true)
  FROM unnest(ARRAY[
    $$SELECT * FROM signed WHERE name = 'n77'$$,
    $$SELECT * FROM signed WHERE name IN ('n77', 'n78') ORDER BY name$$,
    $$SELECT * FROM signed WHERE name = ANY ('{}') ORDER BY name$$,
    $$SELECT * FROM limited WHERE name = 'n77'$$,
    $$SELECT * FROM limited WHERE name IN ('n77', 'n78') ORDER BY name$$,
    $$SELECT * FROM (VALUES ('n7'), ('n8')) v (n) JOIN limited ON name = n ORDER BY n$$,
    $$SELECT * FROM signed WHERE name = ANY ('{{n77,n78},{NULL,n77}}') ORDER BY name$$,
    $$SELECT * FROM absolute WHERE name IN ('n7', 'n8') AND v IN (7, 8) ORDER BY at$$,
    $$SELECT * FROM members m JOIN signed s ON s.name IN (m.username, 'n5') WHERE groupname = 'g1' AND username = 'u21'$$,
    $$SELECT * FROM signed WHERE name = 'n77' OR name = 'n78' ORDER BY name$$,
    $$SELECT * FROM signed ORDER BY name LIMIT 20$$,
    $$SELECT * FROM signed WHERE hash_prefix < -3 ORDER BY name DESC LIMIT 20$$,
    $$SELECT * FROM signed WHERE name BETWEEN 'n7' AND 'n72' ORDER BY name$$,
    $$SELECT * FROM absolute ORDER BY at DESC LIMIT 20$$,
    $$SELECT * FROM operators WHERE v BETWEEN 10 AND 20 ORDER BY v$$,
    $$SELECT * FROM operators ORDER BY v LIMIT 20$$,
    $$SELECT * FROM operators WHERE name = 'n77' ORDER BY v$$,
    $$SELECT * FROM unknown_name ORDER BY v LIMIT 20$$,
    $$SELECT * FROM unknown_name WHERE v BETWEEN 1 AND 5 ORDER BY v$$,
    $$SELECT * FROM unknown_name WHERE name = 'n7' AND v < 100 ORDER BY v$$,
    $$SELECT * FROM checked ORDER BY v LIMIT 20$$,
    $$SELECT * FROM checked WHERE v BETWEEN 5 AND 8 ORDER BY v, name$$,
    $$SELECT * FROM expression WHERE v BETWEEN 5 AND 8 ORDER BY v$$,
    $$SELECT s.name FROM unknown_name u JOIN signed s ON s.name = u.name WHERE u.v < 20 ORDER BY u.v$$,
    $$SELECT * FROM members WHERE groupname = 'g1' AND username = 'u21'$$,
    $$SELECT * FROM members WHERE groupname IN ('g1', 'g2') AND username IN ('u21', 'u22') ORDER BY username$$,
    $$SELECT * FROM members WHERE groupname = 'g7' AND v % 3 = 0 ORDER BY username LIMIT 20$$,
    $$SELECT * FROM members WHERE groupname = 'g7' AND username > 'u5' ORDER BY username DESC LIMIT 20$$,
    $$SELECT * FROM members WHERE groupname > 'g7' ORDER BY groupname, username LIMIT 20$$,
    $$SELECT * FROM members WHERE groupname = 'g7' AND hash_prefix > 1 ORDER BY username LIMIT 20$$,
    $$SELECT m.username FROM (VALUES ('g1'), ('g2')) v(g), LATERAL
      (SELECT username FROM members WHERE groupname = g ORDER BY username LIMIT 3) m ORDER BY 1$$]) q;

SET client_min_messages = warning;
DROP SCHEMA test_shard_forms CASCADE;
