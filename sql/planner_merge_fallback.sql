-- A merge whose filter few rows pass falls back to the cheapest scan and a sort.

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
    -- the first is that of the merge
    removed := coalesce(removed, substring(line, 'Rows Removed by Filter: (\d+)')::int);
    sorted := coalesce(substring(line, '-> +(?:Seq|Bitmap Heap|Index) Scan .*rows=(\d+)')::int, sorted);
  END LOOP;
  RETURN NEXT;
END $$;
-- a part of the table is merged
SELECT q, c.fetched < 8000 AS in_time, c.sorted
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

-- a volatile condition is computed once for each row
SELECT count(*) FROM (SELECT uid FROM far WHERE random() < 0.02 ORDER BY at DESC LIMIT 300) r;
-- who reads on from a cursor need not have the rights of who opened it
CREATE ROLE regress_shard_opener;
CREATE ROLE regress_shard_fetcher;
CREATE FUNCTION is_far(note text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN note < 'y'; END $$;
CREATE FUNCTION open_far(c refcursor) RETURNS refcursor LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  OPEN c NO SCROLL FOR SELECT uid FROM far WHERE is_far(note) ORDER BY at DESC, uid DESC LIMIT 12;
  RETURN c;
END $$;
REVOKE EXECUTE ON FUNCTION is_far FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_far TO regress_shard_opener;
GRANT USAGE ON SCHEMA test_shard_rest TO regress_shard_opener, regress_shard_fetcher;
GRANT SELECT ON far TO regress_shard_opener;
ALTER FUNCTION open_far OWNER TO regress_shard_opener;
SET ROLE regress_shard_fetcher;
BEGIN;
SELECT open_far('c');
FETCH ALL FROM c;
COMMIT;
RESET ROLE;
-- rows that a policy hides are not shown to a condition of the query
CREATE FUNCTION is_public(note text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN note < 'y'; END $$;
CREATE FUNCTION looks_at(note text) RETURNS boolean LANGUAGE plpgsql STABLE COST 1 AS $$ BEGIN ASSERT note < 'y', note; RETURN true; END $$;
CREATE POLICY public_rows ON far USING (is_public(note));
ALTER TABLE far ENABLE ROW LEVEL SECURITY;
SET ROLE regress_shard_opener;
SELECT count(*) FROM (SELECT at FROM far WHERE looks_at(note) ORDER BY at DESC LIMIT 20) f;
RESET ROLE;
ALTER TABLE far DISABLE ROW LEVEL SECURITY;
DROP POLICY public_rows ON far;

-- what it falls back to
CREATE FUNCTION steps(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    CONTINUE WHEN line !~ '->|Sort|Cond|  Filter|Merge Key';
    -- from 18 on the server skips through the shards without a list of them
    line := regexp_replace(line, '\(\(s = ANY \(spanner_internal\.all_shards\(4\)\)\) AND (.*)\)$', '\1');
    RETURN NEXT replace(regexp_replace(line, ' \(actual .*| +(Memory|Disk): .*', ''), '::timestamp with time zone', '');
  END LOOP;
END $$;
SELECT * FROM steps($$SELECT at FROM far WHERE note || '' < 'y' ORDER BY at DESC LIMIT 20$$);
SELECT * FROM steps($$SELECT at FROM far WHERE note || '' < 'y' AND at < '2026-01-01 00:30Z' ORDER BY at DESC LIMIT 20$$);

-- ties, NULLs, and a collation for which different values are equal
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE tied (s int GENERATED ALWAYS AS (spanner.shard_id(4, uid)) STORED, uid int NOT NULL, same int NOT NULL, rank int,
  name text COLLATE nocase, note text NOT NULL);
INSERT INTO tied (uid, same, rank, name, note)
SELECT i, 1, CASE WHEN i % 3 > 0 THEN i / 300 END, CASE WHEN i % 5 > 0 THEN translate(i % 40 || '', '0123', 'aAbB') END,
       CASE WHEN i % 1000 = 7 THEN 'x' ELSE 'y' || i END
  FROM generate_series(1, 20000) i;
CREATE INDEX ON tied (s, same);
CREATE INDEX ON tied (s, rank DESC, uid);
CREATE INDEX ON tied (s, name, uid);
CREATE INDEX ON tied (s, (rank % 7) NULLS FIRST);
VACUUM ANALYZE tied;
SELECT q, c.fetched < 8000 AS in_time, c.sorted
  FROM unnest(ARRAY[
    $$SELECT * FROM tied WHERE note || '' < 'y' ORDER BY same LIMIT 12$$,
    $$SELECT * FROM tied WHERE note || '' < 'y' ORDER BY rank DESC, uid LIMIT 12$$,
    $$SELECT * FROM tied WHERE note || '' < 'y' ORDER BY name, uid LIMIT 12$$,
    $$SELECT * FROM tied WHERE note || '' < 'y' ORDER BY rank % 7 NULLS FIRST LIMIT 12$$]) q, counters(q) c;
SELECT q, same(q, true)
  FROM unnest(ARRAY[
    $$SELECT same, count(*), count(DISTINCT uid) FROM (SELECT * FROM tied WHERE note || '' < 'y' ORDER BY same LIMIT 20) x GROUP BY same$$,
    $$SELECT uid, rank FROM tied WHERE note || '' < 'y' ORDER BY rank DESC, uid LIMIT 12$$,
    $$SELECT uid, rank FROM tied WHERE note || '' < 'y' ORDER BY rank DESC, uid LIMIT 12 OFFSET 5$$,
    $$SELECT uid, rank FROM tied WHERE note || '' < 'y' ORDER BY rank, uid DESC LIMIT 12$$,
    $$SELECT uid, name FROM tied WHERE note || '' < 'y' ORDER BY name, uid LIMIT 12$$,
    $$SELECT uid, name FROM tied WHERE note || '' < 'y' ORDER BY name DESC, uid DESC LIMIT 12$$,
    $$SELECT uid, rank % 7 AS day FROM tied WHERE note || '' < 'y' ORDER BY rank % 7 NULLS FIRST, uid LIMIT 12$$,
    $$SELECT uid, rank FROM tied t WHERE note || '' < 'y' AND EXISTS (SELECT FROM far WHERE far.uid = t.uid) IS NOT NULL ORDER BY rank DESC, uid LIMIT 12$$,
    $$SELECT k, l.* FROM generate_series(1, 3) k, LATERAL (SELECT uid, rank FROM tied WHERE note || '' < 'y' AND uid % 4 <> k ORDER BY rank DESC, uid LIMIT 12) l$$]) q;

-- each partition falls back by itself, one shard too
CREATE TABLE days (s int GENERATED ALWAYS AS (spanner.shard_id(4, at)) STORED, at timestamptz NOT NULL, note text, PRIMARY KEY (s, at))
  PARTITION BY RANGE (at);
SELECT format('CREATE TABLE days_%s PARTITION OF days FOR VALUES FROM (%L) TO (%L)', i,
              timestamptz '2026-01-01Z' + i * interval '1 d', timestamptz '2026-01-02Z' + i * interval '1 d') FROM generate_series(0, 1) i \gexec
INSERT INTO days (at, note) SELECT timestamptz '2026-01-01Z' + i * interval '8 s', CASE WHEN i % 10800 < 20 THEN 'x' ELSE 'y' || i END FROM generate_series(0, 21599) i;
CREATE TABLE shards (s int NOT NULL CHECK (s = spanner.shard_id(2, at)), at timestamptz NOT NULL, note text, PRIMARY KEY (s, at)) PARTITION BY LIST (s);
SELECT format('CREATE TABLE shards_%s PARTITION OF shards FOR VALUES IN (%1$s)', i) FROM generate_series(0, 1) i \gexec
INSERT INTO shards SELECT spanner.shard_id(2, at), at, note FROM days;
VACUUM ANALYZE days, shards;
SELECT * FROM steps($$SELECT at FROM days WHERE note || '' < 'y' ORDER BY at DESC LIMIT 30$$);
SELECT * FROM steps($$SELECT at FROM shards WHERE note || '' < 'y' ORDER BY at DESC LIMIT 30$$);
SELECT q, same(q, true)
  FROM unnest(ARRAY[
    $$SELECT at FROM days WHERE note || '' < 'y' ORDER BY at DESC LIMIT 30$$,
    $$SELECT at FROM days WHERE note || '' < 'y' ORDER BY at OFFSET 15 LIMIT 10$$,
    $$SELECT at, note FROM shards WHERE note || '' < 'y' ORDER BY at DESC LIMIT 30$$]) q;

-- a LIMIT that is not known
SET plan_cache_mode = force_generic_plan;
PREPARE newest(bigint) AS SELECT uid FROM tied ORDER BY rank DESC, uid LIMIT $1;
SELECT n, c.fetched < 10000 AS in_time, c.sorted
  FROM unnest('{3,15000,NULL}'::bigint[]) n, counters(format('EXECUTE newest(%s)', coalesce(n::text, 'NULL'))) c;
CREATE TABLE got AS EXECUTE newest(15000);
SELECT count(*), count(DISTINCT uid), (SELECT array_agg(uid) FROM got) = (SELECT array_agg(uid) FROM (SELECT uid FROM tied ORDER BY rank DESC, uid LIMIT 15000) x) AS same
  FROM got;
RESET plan_cache_mode;

SET client_min_messages = warning;
DROP SCHEMA test_shard_rest CASCADE;
DROP ROLE regress_shard_opener, regress_shard_fetcher;
