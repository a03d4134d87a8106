-- Buckets of time in a shard key: the bucket itself, and ranges of the time.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_buckets;
SET search_path = test_shard_buckets;
SET max_parallel_workers_per_gather = 0;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

SELECT spanner_internal.time_buckets('4 days', '2000-01-01Z'::timestamptz, low::timestamptz, high::timestamptz, open_end, 3)
  FROM (VALUES ('2026-05-16Z', '2026-05-20Z', true), ('2026-05-16Z', '2026-05-20Z', false), ('2026-05-17Z', '2026-05-16Z', false),
               ('2026-05-16Z', '2026-05-16Z', true), ('2026-05-16Z', '2027-05-16Z', true), ('2026-05-16Z', 'infinity', true),
               ('4714-11-24 BC', '2026-05-16Z', true), ('2026-05-16Z', NULL, true)) v (low, high, open_end);
SELECT spanner_internal.time_buckets('1 hour', timestamp '2000-01-01', '1999-12-31 22:30', '2000-01-01 00:00', false, 16);
SELECT spanner_internal.time_buckets('1 month', timestamp '2000-01-01', '1999-12-31 22:30', '2000-01-01 00:00', false, 16);

CREATE TABLE reading (
  s int GENERATED ALWAYS AS (spanner.shard_id(16, series, date_bin('4 days', at, timestamptz '2000-01-01Z'))) STORED,
  series int NOT NULL, at timestamptz NOT NULL, v int, PRIMARY KEY (s, series, at));
INSERT INTO reading (series, at, v)
SELECT i % 20, timestamptz '2026-01-01Z' + i * interval '5 min', i FROM generate_series(1, 40000) i;
CREATE TABLE parted (s int NOT NULL CHECK (s = spanner.shard_id(4, date_bin('1 day', at, timestamp '2000-01-01'))),
  at timestamp NOT NULL, PRIMARY KEY (s, at)) PARTITION BY LIST (s);
SELECT format('CREATE TABLE parted%s PARTITION OF parted FOR VALUES IN (%1$s)', i) FROM generate_series(0, 3) i \gexec
INSERT INTO parted SELECT spanner.shard_id(4, date_bin('1 day', at, timestamp '2000-01-01')), at
  FROM (SELECT timestamp '2026-01-01' + i * interval '1 h' AS at FROM generate_series(1, 2000) i) x;
VACUUM ANALYZE reading, parted;

-- a range inside of one bucket reads one shard, one over two buckets reads two
SELECT plan($$SELECT * FROM reading WHERE series = 1 AND at >= '2026-05-16Z' AND at < '2026-05-20Z' ORDER BY at DESC LIMIT 10$$);
SELECT line FROM plan($$SELECT v FROM reading WHERE series = 1 AND at BETWEEN '2026-05-16Z' AND '2026-05-20Z'$$) line WHERE line ~ 'Index Cond';
SELECT line FROM plan($$SELECT v FROM reading WHERE series IN (1, 2) AND at > '2026-05-17Z' AND at < '2026-05-18Z'$$) line WHERE line ~ 'Index Cond';
SELECT plan($$SELECT * FROM reading WHERE series = 1 AND date_bin('4 days', at, '2000-01-01Z') = '2026-05-16Z' ORDER BY at$$);
SELECT plan($$SELECT * FROM reading WHERE series = 1 AND at >= '2026-05-14Z' AND at < '2026-05-20Z' ORDER BY at DESC LIMIT 10$$);
-- too many buckets are all shards
SELECT plan($$SELECT * FROM reading WHERE series = 1 AND at >= '2025-05-16Z' AND at < '2026-05-20Z' ORDER BY at DESC LIMIT 10$$);
-- of one end, too: rows may be in the future, so all buckets from there on count
SELECT plan($$SELECT * FROM reading WHERE series = 1 AND at > '2026-05-18Z' ORDER BY at DESC LIMIT 10$$);
SELECT count(*) FROM plan($$SELECT v FROM reading WHERE series = 1 AND at > '2026-05-18Z'$$) line WHERE line ~ 'Seq Scan';
-- a date is cast by the time zone of the session
CREATE FUNCTION shards_of(query text) RETURNS text LANGUAGE sql
RETURN (SELECT substring(line, 's = ANY \(spanner_internal.shard_ids\((.*), true, 16\)') FROM plan(query) line WHERE line ~ 'Index Cond|Shard Filter');
SELECT q, shards_of('SELECT v FROM reading WHERE series = 1 AND ' || q)
  FROM unnest(ARRAY[
    $$at >= date '2026-05-16' AND at < date '2026-05-17'$$,
    $$at >= CURRENT_DATE AND at < now()$$,
    $$at >= CURRENT_DATE - 1 AND at < LOCALTIMESTAMP$$,
    $$at >= timestamp '2026-05-16 10:00' AND at < date '5874897-12-31'$$]) q;
-- interval '24 hours' is '1 day', a month is no number of days
SELECT plan($$SELECT * FROM reading WHERE series = 1 AND date_bin('96 hours', at, '2000-01-01Z') = '2026-05-16Z'$$);
SELECT count(*) FROM plan($$SELECT * FROM reading WHERE series = 1 AND date_bin('95 hours', at, '2000-01-01Z') = '2026-05-16Z'$$) line WHERE line ~ '[(]s = \d';
-- partitions are chosen as well
SELECT plan($$SELECT * FROM parted WHERE at >= '2026-01-05' AND at < '2026-01-06'$$);
-- parameters
SET plan_cache_mode = force_generic_plan;
PREPARE page (int, timestamptz, timestamptz) AS SELECT at FROM reading WHERE series = $1 AND at >= $2 AND at < $3 ORDER BY at DESC LIMIT 3;
SELECT plan($$EXECUTE page (1, '2026-05-16Z', '2026-05-20Z')$$);
EXECUTE page (1, '2026-05-16Z', '2026-05-20Z');
EXECUTE page (1, '-infinity', 'infinity');
EXECUTE page (1, '2026-05-16Z', NULL);
PREPARE day (date, date) AS SELECT count(*) FROM reading WHERE series = 1 AND at >= $1 AND at < $2;
EXECUTE day ('2026-05-16', '2026-05-17');
EXECUTE day ('-infinity', 'infinity');
EXECUTE day ('4714-11-24 BC', '5874897-12-31');
EXECUTE day ('5874897-12-31', 'infinity');
EXECUTE day ('192394-01-20', '5874897-12-31');
EXECUTE day ('4714-11-24 BC', NULL);
INSERT INTO reading (series, at) VALUES (99, '-infinity'), (99, 'infinity');
SELECT at FROM reading WHERE series = 99 AND at >= date '-infinity' AND at <= timestamptz '-infinity';
SELECT at FROM reading WHERE series = 99 AND at >= timestamptz 'infinity' AND at <= date 'infinity';
SET TimeZone = 'Asia/Tokyo';
EXECUTE day ('2026-05-16', '2026-05-17');
SELECT count(*) FROM reading WHERE series = 1 AND at >= '2026-05-16' AND at < '2026-05-17';
SET TimeZone = 'UTC';
RESET plan_cache_mode;

SELECT q, same(q, true)
  FROM unnest(ARRAY[
    $$SELECT * FROM reading WHERE series = 1 AND at >= '2026-05-16Z' AND at < '2026-05-20Z' ORDER BY at DESC$$,
    $$SELECT * FROM reading WHERE series = 1 AND at > '2026-05-15 23:59Z' AND at <= '2026-05-20Z' ORDER BY at$$,
    $$SELECT * FROM reading WHERE series IN (1, 2, 3) AND '2026-05-16Z' <= at AND '2026-05-20Z' > at ORDER BY at$$,
    $$SELECT * FROM reading WHERE series = 1 AND (at BETWEEN '2026-02-01Z' AND '2026-02-02Z' OR at BETWEEN '2026-03-01Z' AND '2026-03-09Z') ORDER BY at$$,
    $$SELECT * FROM reading WHERE series = 1 AND date_bin('4 days', at, '2000-01-01Z') IN ('2026-05-16Z', '2026-05-20Z') ORDER BY at$$,
    $$SELECT * FROM reading WHERE series = 1 AND date_bin('4 days', at, '2000-01-01Z') = '2026-05-17Z' ORDER BY at$$,
    $$SELECT count(*) FROM reading r JOIN (VALUES (1), (2)) x (n) ON series = n WHERE at >= '2026-05-16Z' AND at < '2026-05-17Z'$$,
    $$SELECT x.*, l.at FROM (VALUES (timestamptz '2026-02-01Z'), ('2026-03-01Z')) x (day), LATERAL
      (SELECT at FROM reading WHERE series = 5 AND at >= day AND at < day + interval '1 day' ORDER BY at DESC LIMIT 2) l ORDER BY 1, 2$$,
    $$SELECT * FROM reading WHERE series = 1 AND at > '2026-05-20Z' AND at < '2026-05-16Z'$$,
    $$SELECT * FROM reading WHERE series = 1 AND at >= date '2026-05-16' AND at < date '2026-05-18' ORDER BY at$$,
    $$SELECT * FROM reading WHERE series = 1 AND at > timestamp '2026-05-16 23:00' AND at <= date '5874897-12-31' ORDER BY at$$,
    $$SELECT * FROM reading WHERE series = 1 AND date_bin('96 hours', at, '2000-01-01Z') = '2026-05-16Z' ORDER BY at$$,
    $$SELECT * FROM parted WHERE at >= date '2026-01-05' AND at < date '2026-01-08' ORDER BY at$$,
    $$SELECT * FROM parted WHERE at >= '2026-01-05' AND at < '2026-01-08' ORDER BY at$$,
    $$SELECT * FROM parted WHERE date_bin('1 day', at, '2000-01-01') = '2026-01-05' ORDER BY at$$]) q;

SET client_min_messages = warning;
DROP SCHEMA test_shard_buckets CASCADE;
