-- What the planner must not choose, or add, because it costs more than it gains.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_costs;
SET search_path = test_shard_costs;
SET max_parallel_workers_per_gather = 0;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

CREATE TABLE parted (ts timestamptz NOT NULL, uid bigint NOT NULL, v int) PARTITION BY LIST ((spanner.shard_id(4, ts, uid)));
SELECT format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%1$s)', i) FROM generate_series(0, 3) i \gexec
INSERT INTO parted SELECT timestamptz '2026-01-01Z' + i * interval '1 s', i, i FROM generate_series(1, 40000) i;
CREATE INDEX ON parted (ts, uid);
CREATE TABLE asked AS SELECT ts, uid FROM parted WHERE uid % 10 = 1;
CREATE TABLE visit (s int GENERATED ALWAYS AS (spanner.shard_id(64, at, uid)) STORED, at timestamptz NOT NULL, uid bigint NOT NULL,
  status text, PRIMARY KEY (s, at, uid));
INSERT INTO visit (at, uid, status)
SELECT timestamptz '2026-01-01Z' + i * interval '1 s', i, CASE WHEN i < 40 THEN 'open' WHEN i % 4 = 0 THEN 'new' ELSE 'done' END
  FROM generate_series(1, 40000) i;
CREATE TABLE days (s int GENERATED ALWAYS AS (spanner.shard_id(16, at)) STORED, at timestamptz NOT NULL) PARTITION BY RANGE (at);
SELECT format('CREATE TABLE days_%s PARTITION OF days (PRIMARY KEY (s, at)) FOR VALUES FROM (%L) TO (%L)', i,
              timestamptz '2026-01-01Z' + i * interval '1 d', timestamptz '2026-01-02Z' + i * interval '1 d') FROM generate_series(0, 2) i \gexec
INSERT INTO days (at) SELECT timestamptz '2026-01-01Z' + i * interval '1 h' FROM generate_series(0, 71) i;
CREATE TABLE pairs (s int NOT NULL CHECK (s = spanner.shard_id(4, a, b)), a int NOT NULL, b int NOT NULL, PRIMARY KEY (s, a, b))
  PARTITION BY LIST (s);
SELECT format('CREATE TABLE pairs_%s PARTITION OF pairs FOR VALUES IN (%1$s)', i) FROM generate_series(0, 3) i \gexec
INSERT INTO pairs SELECT spanner.shard_id(4, i, i % 97), i, i % 97 FROM generate_series(1, 40000) i;
VACUUM ANALYZE;

-- a hash join computes no shard; a nested loop chooses partitions
SELECT count(*) FROM plan('SELECT * FROM asked JOIN parted USING (ts, uid)') line WHERE line ~ 'shard_id';
SELECT count(*) FROM plan('SELECT * FROM parted a JOIN parted b USING (ts, uid)') line WHERE line ~ 'shard_id';
CREATE FUNCTION loops(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  line text;
  result bigint := 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    result := result + CASE WHEN line ~ 'Scan.* on parted_' THEN coalesce(substring(line, 'loops=(\d+)')::int, 0) ELSE 0 END;
  END LOOP;
  RETURN result;
END $$;
-- of few rows it is the cheapest plan, since one partition is left for each
SELECT loops('SELECT * FROM (SELECT * FROM asked LIMIT 101) a JOIN parted USING (ts, uid)');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT loops('SELECT * FROM (SELECT * FROM asked LIMIT 100) a JOIN parted USING (ts, uid)');
RESET enable_hashjoin;
RESET enable_mergejoin;
-- all partitions by time can have the shard; below one of them, one does
CREATE TABLE timed (s int NOT NULL CHECK (s = spanner.shard_id(4, ts, uid)), ts timestamptz NOT NULL, uid bigint NOT NULL)
  PARTITION BY RANGE (ts);
CREATE TABLE nested (LIKE timed INCLUDING CONSTRAINTS) PARTITION BY RANGE (ts);
SELECT format('CREATE TABLE %s PARTITION OF %s %s FOR VALUES FROM (%L) TO (%L) %s', t || '_' || i, t, p, timestamptz '2026-01-01Z' + i * interval '3 h',
              timestamptz '2026-01-01Z' + (i + 1) * interval '3 h', q)
  FROM (VALUES ('timed', '(PRIMARY KEY (s, uid, ts))', ''), ('nested', '', 'PARTITION BY LIST (s)')) x(t, p, q), generate_series(0, 3) i \gexec
SELECT format('CREATE TABLE nested_%s_%s PARTITION OF nested_%1$s (PRIMARY KEY (s, uid, ts)) FOR VALUES IN (%2$s)', i, j)
  FROM generate_series(0, 3) i, generate_series(0, 3) j \gexec
INSERT INTO timed SELECT spanner.shard_id(4, ts, uid), ts, uid FROM parted;
INSERT INTO nested SELECT * FROM timed;
VACUUM ANALYZE timed, nested;
SELECT t, (SELECT count(*) FROM plan(format('SELECT * FROM (SELECT * FROM asked LIMIT 400) a JOIN %s t USING (ts, uid)', t)) line WHERE line ~ 'Hash Join') AS hashed
  FROM unnest('{timed,nested}'::text[]) t;

-- a filter that few rows pass, or that nothing is known of
SELECT q, (SELECT count(*) FROM plan(q) line WHERE line ~ 'SpannerShardMerge') AS merges
  FROM unnest(ARRAY[
    $$SELECT * FROM visit WHERE status = 'new' ORDER BY at DESC LIMIT 10$$,
    $$SELECT * FROM visit WHERE status = 'open' ORDER BY at DESC LIMIT 10$$,
    $$SELECT * FROM visit WHERE status || '' = 'x' ORDER BY at DESC LIMIT 10$$,
    $$SELECT * FROM days ORDER BY at DESC LIMIT 10$$]) q;
-- without a filter a sort takes all rows: so many may be merged before it is worth it
CREATE FUNCTION sorts(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  line text;
  result boolean := false;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    result := result OR line ~ '-> +Sort';
  END LOOP;
  RETURN result;
END $$;
SET plan_cache_mode = force_generic_plan;
PREPARE newest(bigint) AS SELECT * FROM visit ORDER BY at DESC LIMIT $1;
SELECT rows, sorts(format('EXECUTE newest(%s)', rows)) FROM unnest('{10,1000,20000}'::int[]) rows;
RESET plan_cache_mode;

-- of partitions in the order of the query only those are merged that a LIMIT
-- reaches; the last query reaches all, since its rows are in the last one
CREATE TABLE months (s int GENERATED ALWAYS AS (spanner.shard_id(4, at)) STORED, at int NOT NULL) PARTITION BY RANGE (at);
SELECT format('CREATE TABLE months_%s PARTITION OF months (PRIMARY KEY (s, at)) FOR VALUES FROM (%s) TO (%s)', i, i * 3000, i * 3000 + 3000)
  FROM generate_series(0, 3) i \gexec
INSERT INTO months (at) SELECT i FROM generate_series(0, 11999) i;
VACUUM ANALYZE months;
CREATE TABLE asked_months AS SELECT * FROM unnest(ARRAY[
    $$SELECT * FROM months ORDER BY at DESC LIMIT 10$$,
    $$SELECT * FROM months ORDER BY at LIMIT 10 OFFSET 400$$,
    $$SELECT * FROM months WHERE at % 2 < 2 ORDER BY at DESC LIMIT 10$$,
    $$SELECT * FROM months WHERE at % 9 < 8 - at ORDER BY at DESC LIMIT 10$$]) q;
SELECT q, (SELECT string_agg(substring(line, 'on (\w+)'), ' ') FROM plan(q) line WHERE line ~ 'SpannerShardMerge') AS merged FROM asked_months;
-- what is not reached does not start, which a parallel sort would be cheaper than
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM plan('SELECT * FROM months ORDER BY at DESC LIMIT 10') line WHERE line ~ 'SpannerShardMerge';
SELECT count(*) FROM plan('SELECT at, s + 1 FROM months ORDER BY at DESC LIMIT 10') line WHERE line ~ 'SpannerShardMerge';
RESET parallel_setup_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;
SELECT bool_and(same(q, true)), count(*) FROM asked_months;
SELECT max(at), min(at) FROM months;
-- to sort what is stored in order takes less than the server reckons
CREATE TABLE many (s int GENERATED ALWAYS AS (spanner.shard_id(512, at)) STORED, at int NOT NULL, PRIMARY KEY (s, at));
INSERT INTO many (at) SELECT generate_series(1, 40000);
VACUUM ANALYZE many;
SELECT q, (SELECT count(*) FROM plan(q) line WHERE line ~ 'SpannerShardMerge') AS merges
  FROM unnest(ARRAY[
    $$SELECT * FROM many ORDER BY at LIMIT 12000$$,
    $$SELECT * FROM many ORDER BY at DESC LIMIT 12000$$]) q;

-- each pair is looked up in its partition only, once
SELECT count(*), count(*) FILTER (WHERE line ~ 'ANY') AS lists, count(DISTINCT line) AS different
  FROM plan('SELECT * FROM pairs WHERE (a, b) IN ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8))') line
 WHERE line ~ 'Index Cond';
SELECT q, same(q)
  FROM unnest(ARRAY[
    $$SELECT * FROM pairs WHERE (a, b) IN ((1, 1), (2, 2), (3, 3), (4, 5), (500, 15), (6, 6), (NULL, 7))$$,
    $$SELECT * FROM pairs WHERE ((a, b) IN ((1, 1), (2, 2)) OR (a, b) IN ((300, 9), (301, 10))) AND s IN (0, 1, 2)$$,
    $$SELECT * FROM pairs WHERE (a, b) IN ((1, 1), (2, 2), (3, 3)) AND (a, b) IN ((2, 2), (3, 3), (97, 0))$$,
    $$SELECT * FROM pairs p JOIN asked ON p.a = uid WHERE (a, b) IN ((1, 1), (11, 11), (98, 1))$$]) q;

-- of tables that are joined in order one leads, the one whose merge starts first
CREATE TABLE visit4 (s int GENERATED ALWAYS AS (spanner.shard_id(4, at, uid)) STORED, at timestamptz NOT NULL, uid bigint NOT NULL,
  PRIMARY KEY (s, at, uid));
INSERT INTO visit4 (at, uid) SELECT at, uid FROM visit;
ANALYZE visit4;
SELECT q, (SELECT string_agg(substring(line, 'on (\w+)'), ' ') FROM plan(q) line WHERE line ~ 'SpannerShardMerge') AS leads
  FROM unnest(ARRAY[
    $$SELECT v.at FROM visit v JOIN visit4 USING (at) ORDER BY at DESC LIMIT 10$$,
    $$SELECT v.at FROM visit4 JOIN visit v USING (at) ORDER BY at DESC LIMIT 10$$,
    $$SELECT v.at FROM visit v LEFT JOIN visit4 USING (at) ORDER BY v.at DESC LIMIT 10$$]) q;
-- partitions that are merged do not lead one another
SET enable_seqscan = off;
SELECT count(*) FROM plan('SELECT * FROM days ORDER BY at, s LIMIT 5') line WHERE line ~ ' on days_';
RESET enable_seqscan;

SELECT q, same(q, true)
  FROM unnest(ARRAY[
    $$SELECT v.at FROM visit v JOIN visit4 USING (at) ORDER BY at DESC LIMIT 10$$,
    $$SELECT v.at FROM visit v LEFT JOIN visit4 w USING (at) WHERE w.uid < 5 OR v.uid > 9 ORDER BY at DESC LIMIT 10$$,
    $$SELECT * FROM asked JOIN parted USING (ts, uid) ORDER BY ts$$,
    $$SELECT * FROM parted LEFT JOIN asked a USING (ts, uid) ORDER BY ts$$,
    $$SELECT * FROM parted a JOIN parted b USING (ts, uid) WHERE a.v < 100 ORDER BY ts$$,
    $$SELECT * FROM visit WHERE status = 'open' ORDER BY at DESC LIMIT 10$$,
    $$SELECT * FROM days ORDER BY at DESC LIMIT 10$$]) q;

SET client_min_messages = warning;
DROP SCHEMA test_shard_costs CASCADE;
