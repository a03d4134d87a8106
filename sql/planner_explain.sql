-- What EXPLAIN and the view shard_keys say, and plans before the first ANALYZE.

LOAD 'spanner_keys';
CREATE SCHEMA test_shard_reports;
SET search_path = test_shard_reports;
SET max_parallel_workers_per_gather = 0;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

-- the names that readers of plans know; orders that are not the usual ones
CREATE TABLE event (s int GENERATED ALWAYS AS (spanner.shard_id(8, name)) STORED, name text NOT NULL, n int);
CREATE INDEX event_pattern ON event (s, name text_pattern_ops);
INSERT INTO event (name, n) SELECT 'name ' || i, i FROM generate_series(1, 4000) i;
VACUUM ANALYZE event;
CREATE FUNCTION plan_json(query text) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  result jsonb;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON, COSTS OFF) ' || query INTO result;
  RETURN jsonb_path_query_first(result, '$.**?(@."Custom Plan Provider" == "SpannerShardMerge")');
END $$;
SELECT j->'Index Name' AS name, j->'Scan Direction' AS direction, j->'Merge Key' AS key, j ? 'Index' AS old
  FROM plan_json('SELECT name FROM event ORDER BY name USING ~<~ LIMIT 3') j;
SELECT plan('SELECT name FROM event ORDER BY name USING ~>~ LIMIT 3');

-- a range, though nothing is known of the shard
CREATE TABLE loaded (s int GENERATED ALWAYS AS (spanner.shard_id(8, at, id)) STORED, at int, id int, PRIMARY KEY (s, at, id));
INSERT INTO loaded (at, id) SELECT i, i FROM generate_series(1, 20000) i;
SHOW spanner_keys.enable_shard_list;
SET enable_bitmapscan = off;
SELECT count(*) FROM plan('SELECT * FROM loaded WHERE at BETWEEN 100 AND 110') p WHERE p ~ 'all_shards|Index Cond: \(\(at';
RESET enable_bitmapscan;
SELECT same('SELECT * FROM loaded WHERE at BETWEEN 100 AND 110');

-- values of an OR are one list of shards, also for a merge
VACUUM ANALYZE loaded;
SET enable_bitmapscan = off;
SELECT count(*) FROM plan('SELECT * FROM loaded WHERE at = 5 AND (id = 5 OR id = 6 OR id = 7)') p
 WHERE p ~ 's = ANY \(''\{\d(,\d)*\}''';
RESET enable_bitmapscan;
SELECT same('SELECT * FROM loaded WHERE at = 5 AND (id = 5 OR id = 6 OR id = 7)');
SELECT same('SELECT * FROM loaded WHERE (at, id) IN ((5, 5), (77, 77), (9, 8)) ORDER BY at, id', true);

-- what the view says of constraints of release 18
CREATE TABLE checked (s int CONSTRAINT wrong_shard CHECK (s = spanner.shard_id(8, id)), id int);
CREATE INDEX ON checked (s, id);
SELECT name, usable, problem FROM spanner.shard_keys WHERE tablename = 'checked';
SELECT current_setting('server_version_num')::int >= 180000 AS has_more \gset
\if :has_more
ALTER TABLE checked ADD CONSTRAINT s_known NOT NULL s NOT VALID;
SELECT problem = 'the column can be NULL' AS ok FROM spanner.shard_keys WHERE tablename = 'checked' \gset
ALTER TABLE checked VALIDATE CONSTRAINT s_known;
SELECT :'ok'::bool AND problem IS NULL AS ok FROM spanner.shard_keys WHERE tablename = 'checked' \gset
ALTER TABLE checked DROP CONSTRAINT wrong_shard;
ALTER TABLE checked ADD CONSTRAINT wrong_shard CHECK (s = spanner.shard_id(8, id)) NOT ENFORCED;
SELECT :'ok'::bool AND problem = 'the constraint is not enforced' AS ok FROM spanner.shard_keys WHERE tablename = 'checked' \gset
CREATE TABLE virtual (s int NOT NULL CHECK (s = spanner.shard_id(8, day)), id int, day int GENERATED ALWAYS AS (id / 100) VIRTUAL);
SELECT :'ok'::bool AND problem = 'a key is a virtual generated column' AS ok FROM spanner.shard_keys WHERE tablename = 'virtual' \gset
CREATE TABLE hashed (h bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(t), 8))) STORED, t text);
CREATE INDEX ON hashed (h, t);
ALTER TABLE hashed ADD CONSTRAINT t_known NOT NULL t NOT VALID;
SELECT :'ok'::bool AND problem = 'shards are not merged or listed: a key can be NULL' AS ok FROM spanner.shard_keys WHERE tablename = 'hashed' \gset
SELECT :'ok'::bool AND NOT EXISTS (SELECT FROM plan('SELECT t FROM hashed ORDER BY t') p WHERE p ~ 'SpannerShardMerge') AS ok \gset
ALTER TABLE hashed VALIDATE CONSTRAINT t_known;
SELECT :'ok'::bool AND problem IS NULL AS ok FROM spanner.shard_keys WHERE tablename = 'hashed' \gset
\else
\set ok t
\endif
SELECT :'ok'::bool AS ok;

SET client_min_messages = warning;
DROP SCHEMA test_shard_reports CASCADE;
