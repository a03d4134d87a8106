-- A merge whose filter few rows pass is given up: the rest is sorted.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_rest;
SET search_path = test_shard_rest;
SET max_parallel_workers_per_gather = 0;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

CREATE TABLE far (s int GENERATED ALWAYS AS (spanner.shard_id(4, at, uid)) STORED, at timestamptz NOT NULL, uid bigint NOT NULL,
  note text, PRIMARY KEY (s, at, uid));
INSERT INTO far (at, uid, note)
SELECT timestamptz '2026-01-01Z' + i / 5 * interval '1 s', i % 7 + i, CASE WHEN i < 5 THEN 'b' WHEN i < 300 OR i > 39990 THEN 'x' ELSE 'y' || i END
  FROM generate_series(1, 40000) i;
VACUUM ANALYZE far;
CREATE FUNCTION counters(query text) RETURNS TABLE (fetched int, removed int, sorted int) LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    fetched := coalesce(substring(line, 'Heap Tuples Fetched: (\d+)')::int, fetched);
    removed := coalesce(substring(line, 'Rows Removed by Filter: (\d+)')::int, removed);
    sorted := coalesce(substring(line, 'Rows Sorted: (\d+)')::int, sorted);
  END LOOP;
  RETURN NEXT;
END $$;
-- a part of the table is read twice
SELECT q, c.fetched < 48000 AS in_time, c.sorted
  FROM unnest(ARRAY[
    $$SELECT * FROM far WHERE note || '' < 'y' ORDER BY at DESC LIMIT 5$$,
    $$SELECT * FROM far WHERE note || '' < 'y' ORDER BY at DESC LIMIT 20$$,
    $$SELECT * FROM far WHERE note || '' < 'a' ORDER BY at LIMIT 1$$,
    $$SELECT * FROM far WHERE note || '' < 'y' AND at > '2026-01-01 01:00Z' AND s <> 2 ORDER BY at LIMIT 3$$]) q, counters(q) c;
-- each row that is read passes the filter, is counted as removed, or was the next of its shard
SELECT q, c.fetched - c.removed AS not_removed
  FROM unnest(ARRAY[
    $$SELECT * FROM far WHERE note || '' < 'a' ORDER BY at LIMIT 1$$,
    $$SELECT * FROM far WHERE note || '' = 'y39990' ORDER BY at LIMIT 1$$]) q, counters(q) c;
SELECT q, same(q, true)
  FROM unnest(ARRAY[
    $$SELECT at FROM far WHERE note || '' < 'y' ORDER BY at DESC LIMIT 20$$,
    $$SELECT at, uid FROM far WHERE note || '' < 'y' ORDER BY at DESC, uid DESC OFFSET 3 LIMIT 20$$,
    $$SELECT at, uid FROM far WHERE note || '' < 'y' ORDER BY at DESC, uid DESC FETCH FIRST 12 ROWS WITH TIES$$,
    $$SELECT at, uid, s FROM far WHERE note || '' < 'y' AND s <> 2 ORDER BY at DESC, uid DESC LIMIT 9$$,
    $$SELECT at, uid FROM far WHERE note || '' < 'y' AND uid % 3 = 0 ORDER BY at DESC, uid DESC LIMIT 7$$,
    $$SELECT at, uid FROM far WHERE note || '' < 'y' AND at < '2026-01-01 02:00Z' ORDER BY at DESC, uid DESC LIMIT 9$$,
    $$SELECT at, note, uid FROM far WHERE note || '' < 'c' ORDER BY at DESC, note, uid LIMIT 4$$,
    $$SELECT k, l.* FROM generate_series(1, 3) k, LATERAL
        (SELECT at, uid FROM far WHERE note || '' < 'y' AND uid % k = 0 ORDER BY at DESC, uid DESC LIMIT 15) l$$]) q;
-- more rows than the LIMIT says
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT uid FROM far WHERE note || '' < 'y' ORDER BY at DESC, uid DESC LIMIT 13;
MOVE 8 IN c;
FETCH 4 FROM c;
FETCH BACKWARD 3 FROM c;
COMMIT;
SELECT count(*), count(DISTINCT uid) FROM (SELECT uid FROM far WHERE note || '' < 'y' ORDER BY at DESC LIMIT 20 FOR UPDATE) f;

SET client_min_messages = warning;
DROP SCHEMA test_shard_rest CASCADE;
