-- The first row of each group: a scan goes from one group to the next.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_latest;
SET search_path = test_shard_latest;
SET max_parallel_workers_per_gather = 0;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

CREATE TABLE reading (
  s int GENERATED ALWAYS AS (spanner.shard_id(8, sensor, at)) STORED,
  sensor int NOT NULL, at timestamptz NOT NULL, v int, site text, PRIMARY KEY (s, sensor, at));
INSERT INTO reading (sensor, at, v, site)
SELECT i % 10, timestamptz '2026-01-01Z' + i * interval '1 min', CASE WHEN i % 3 > 0 THEN i END, 'x' FROM generate_series(1, 40000) i;
-- an index with columns before the group, NULLs and another direction
CREATE INDEX ON reading (site, s, sensor DESC, v);
CREATE TABLE nullable (s int GENERATED ALWAYS AS (spanner.shard_id(8, id)) STORED, id int NOT NULL, kind int, PRIMARY KEY (s, id));
CREATE INDEX ON nullable (s, kind, id);
INSERT INTO nullable (id, kind) SELECT i, nullif(i % 5, 0) FROM generate_series(1, 20000) i;
VACUUM ANALYZE reading, nullable;

CREATE FUNCTION skips(query text) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(*) FROM plan(query) line WHERE line ~ 'SpannerShardSkip');
SELECT plan('SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC');
SELECT plan('SELECT DISTINCT ON (sensor) * FROM reading WHERE site = ''x'' ORDER BY sensor, v DESC');
CREATE FUNCTION reads(query text, OUT searches int, OUT fetched int, OUT removed int, OUT hits int, OUT scanned boolean) LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
  searches := substring(plan::text, '"Index Searches": (\d+)');
  fetched := substring(plan::text, '"Heap Tuples Fetched": (\d+)');
  removed := substring(plan::text, '"Rows Removed by Filter": (\d+)');
  hits := substring(plan::text, '"Shared Hit Blocks": (\d+)');
  scanned := plan::text ~ 'Seq Scan';
END $$;
SELECT searches, fetched FROM reads('SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC');
SELECT removed > 0 AS filtered, fetched - removed AS passed
  FROM reads('SELECT DISTINCT ON (sensor) * FROM reading WHERE v IS NOT NULL ORDER BY sensor, at DESC');

-- where it is made, and where not
SELECT q, skips(q)
  FROM unnest(ARRAY[
    $$SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor DESC, at$$,
    $$SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC LIMIT 3$$,
    $$SELECT DISTINCT ON (sensor) * FROM reading$$,
    $$SELECT * FROM (SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC) r WHERE v > 7$$,
    $$SELECT DISTINCT ON (sensor) * FROM reading WHERE at < '2026-01-20Z' ORDER BY sensor, at DESC$$,
    $$SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC NULLS LAST$$,
    $$SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, v$$,
    $$SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC, v$$,
    $$SELECT DISTINCT ON (at) * FROM reading ORDER BY at, sensor$$,
    $$SELECT DISTINCT ON (sensor, site) * FROM reading ORDER BY sensor, site, at DESC$$,
    $$SELECT DISTINCT ON (sensor) *, random() FROM reading ORDER BY sensor, at DESC$$,
    $$SELECT DISTINCT ON (sensor) *, count(*) OVER () FROM reading ORDER BY sensor, at DESC$$,
    $$SELECT DISTINCT ON (r.sensor) r.* FROM reading r JOIN nullable n ON n.id = r.v ORDER BY r.sensor, r.at DESC$$,
    $$SELECT DISTINCT ON (kind) * FROM nullable ORDER BY kind, id$$]) q;
SET spanner_keys.enable_shard_merge = off;
SELECT skips('SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC');
RESET spanner_keys.enable_shard_merge;

CREATE TABLE checks (q text);
INSERT INTO checks VALUES
  ($$SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC$$),
  ($$SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor DESC, at$$),
  ($$SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC LIMIT 3 OFFSET 2$$),
  ($$SELECT DISTINCT ON (sensor) * FROM reading WHERE v % 7 = 0 ORDER BY sensor, at DESC$$),
  ($$SELECT DISTINCT ON (sensor) * FROM reading WHERE sensor BETWEEN 3 AND 6 ORDER BY sensor, at DESC$$),
  ($$SELECT DISTINCT ON (sensor) * FROM reading WHERE sensor > 3 AND at > '2026-01-20Z' ORDER BY sensor, at$$),
  ($$SELECT DISTINCT ON (sensor) * FROM reading WHERE s IN (1, 3, 5) ORDER BY sensor, at DESC$$),
  ($$SELECT DISTINCT ON (sensor) sensor, v FROM reading WHERE site = 'x' ORDER BY sensor, v$$),
  ($$SELECT DISTINCT ON (sensor) sensor, v FROM reading WHERE site = 'x' ORDER BY sensor, v DESC$$),
  ($$SELECT DISTINCT sensor, site || '' FROM reading$$),
  ($$SELECT DISTINCT ON (sensor) *, v + 1 FROM reading WHERE v % 7 = 0 AND current_setting('work_mem') <> '' ORDER BY sensor, at DESC$$),
  ($$SELECT sensor, at, v + 1 FROM reading WHERE v % 7 = 0 AND current_setting('work_mem') <> '' ORDER BY sensor, at LIMIT 5$$),
  ($$SELECT x, l.* FROM generate_series(0, 3) x, LATERAL (SELECT DISTINCT ON (sensor) * FROM reading WHERE sensor >= x ORDER BY sensor, at DESC LIMIT 2) l ORDER BY 1, 3$$);
SELECT bool_and(same(q, true)) FROM checks;
-- rows that vanish, and a filter that the first rows do not pass
BEGIN;
DELETE FROM reading WHERE at > '2026-01-25Z' OR sensor = 4;
UPDATE reading SET v = -1 WHERE sensor = 5;
SELECT bool_and(same(q, true)) FROM checks;
SET LOCAL enable_seqscan = off;
SELECT bool_and(same(q, true)) FROM checks;
ROLLBACK;
SET enable_seqscan = off;
SELECT bool_and(same(q, true)) FROM checks;
RESET enable_seqscan;
-- a merge of all rows is known without a LIMIT
SET enable_seqscan = off;
SET enable_sort = off;
SELECT count(*) FROM plan('SELECT * FROM reading ORDER BY sensor, at') line WHERE line ~ 'SpannerShardMerge';
RESET enable_seqscan;
RESET enable_sort;
-- a partial index: its predicate is looked for in the index, too, so a descent
-- leads to the next group; and what is read of a page ends with the best row
CREATE TABLE part (
  s int GENERATED ALWAYS AS (spanner.shard_id(4, sensor, at)) STORED,
  kind int, sensor int NOT NULL, at int NOT NULL, v int);
INSERT INTO part (kind, sensor, at, v) SELECT 3, i % 100, i, i FROM generate_series(1, 40000) i;
CREATE INDEX ON part (s, kind, sensor, at) WHERE kind = 3;
VACUUM ANALYZE part;
SELECT plan('SELECT DISTINCT ON (sensor) * FROM part WHERE kind = 3 ORDER BY sensor, at DESC');
SELECT searches, fetched, hits < 2500 AS few_pages
  FROM reads('SELECT DISTINCT ON (sensor) * FROM part WHERE kind = 3 ORDER BY sensor, at DESC');
TRUNCATE checks;
INSERT INTO checks VALUES
  ($$SELECT DISTINCT ON (sensor) * FROM part WHERE kind = 3 ORDER BY sensor, at DESC$$),
  ($$SELECT DISTINCT ON (sensor) * FROM part WHERE kind = 3 AND at < 30000 ORDER BY sensor, at DESC$$),
  ($$SELECT DISTINCT ON (sensor) * FROM part WHERE kind = 3 AND sensor > 90 AND v % 3 = 0 ORDER BY sensor DESC, at$$);
-- the shard follows from the group: each is in one shard
CREATE TABLE apart (
  s int GENERATED ALWAYS AS (spanner.shard_id(8, sensor)) STORED,
  sensor text NOT NULL, at numeric, v int);
CREATE INDEX ON apart (s, sensor, at);
INSERT INTO apart (sensor, at, v) SELECT 'sensor ' || i % 2000, nullif(i % 7, 0) / 3.0, i FROM generate_series(1, 40000) i;
-- groups in all shards, whose rows are compared by more than one column
CREATE TABLE many (
  s int GENERATED ALWAYS AS (spanner.shard_id(8, id)) STORED,
  sensor text NOT NULL, at numeric, id int NOT NULL, v int);
CREATE INDEX ON many (s, sensor, at, id);
INSERT INTO many (sensor, at, id, v) SELECT 'sensor ' || i % 1000, nullif(i % 7, 0) / 3.0, i, i FROM generate_series(1, 40000) i;
VACUUM ANALYZE apart, many;
SELECT searches, fetched FROM reads('SELECT DISTINCT ON (sensor) * FROM apart ORDER BY sensor, at');
SELECT searches, fetched < 4000 AS few_rows
  FROM reads('SELECT DISTINCT ON (sensor) * FROM many ORDER BY sensor DESC, at DESC, id DESC');
INSERT INTO checks VALUES
  ($$SELECT DISTINCT ON (sensor) sensor, at FROM apart ORDER BY sensor, at$$),
  ($$SELECT DISTINCT ON (sensor) sensor, at FROM apart WHERE v % 5 <> 1 ORDER BY sensor DESC, at DESC$$),
  ($$SELECT DISTINCT ON (sensor) * FROM many ORDER BY sensor DESC, at DESC, id DESC$$),
  ($$SELECT DISTINCT ON (sensor) * FROM many WHERE v > 20000 ORDER BY sensor, at, id$$),
  ($$SELECT x, l.* FROM generate_series(1, 3) x, LATERAL (SELECT DISTINCT ON (sensor) * FROM many WHERE v % 4 > x ORDER BY sensor, at, id) l WHERE sensor ~ '9$' ORDER BY x, sensor$$);
SELECT bool_and(same(q, true)) FROM checks;
-- many more groups than the statistics say, or rows that a filter takes away:
-- the table is scanned
ALTER TABLE many ALTER id SET (n_distinct = 10);
CREATE INDEX ON many (s, id);
ANALYZE many;
SELECT searches, scanned FROM reads('SELECT DISTINCT ON (id) * FROM many');
SELECT searches, scanned FROM reads('SELECT DISTINCT ON (sensor) * FROM reading WHERE v + 0 < 1000 ORDER BY sensor, at DESC');
TRUNCATE checks;
INSERT INTO checks VALUES
  ($$SELECT DISTINCT ON (id) * FROM many$$),
  ($$SELECT DISTINCT ON (id) *, v + 1 FROM many WHERE v % 3 = 0 ORDER BY id$$),
  ($$SELECT DISTINCT ON (sensor) * FROM reading WHERE v + 0 < 1000 ORDER BY sensor, at DESC$$),
  ($$SELECT x, l.* FROM generate_series(1, 3) x, LATERAL (SELECT DISTINCT ON (id) id, v FROM many WHERE v % 4 > x ORDER BY id LIMIT 5) l ORDER BY 1, 2$$);
SELECT bool_and(same(q, true)) FROM checks;
SET work_mem = '64kB';
SELECT scanned FROM reads('SELECT DISTINCT ON (sensor) * FROM many ORDER BY sensor DESC, at DESC, id DESC');
SELECT bool_and(same(q, true)) FROM checks;
RESET work_mem;
-- cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT DISTINCT ON (sensor) sensor, at FROM reading ORDER BY sensor, at DESC;
FETCH 2 FROM c;
DELETE FROM reading WHERE sensor = 2;
FETCH 1 FROM c;
FETCH BACKWARD 2 FROM c;
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA test_shard_latest CASCADE;
