-- Tables of the same rows, and functions that measure queries on them.
--
-- Variables: rows, the number of rows of each table.

CREATE TABLE visit AS
  SELECT timestamptz '2025-01-01' + i * interval '1 second' + (i % 7) * interval '1 millisecond' AS lastaccess,
         (i * 7919::bigint) % 1000003 AS userid,
         md5(i::text) AS data
    FROM generate_series(1, :rows) i;

-- What a query costs in ms, planned and run: the best of some runs, which take
-- 200 ms or more.  A query with a fraction of a millisecond needs many of them.
CREATE FUNCTION cost(query text, runs integer DEFAULT 5) RETURNS float8
LANGUAGE plpgsql AS $$
DECLARE
  plan json;
  best float8;
  ms float8;
  total float8 := 0;
  i integer := 0;
BEGIN
  LOOP
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
    ms := (plan->0->>'Planning Time')::float8 + (plan->0->>'Execution Time')::float8;
    IF best IS NULL OR ms < best THEN
      best := ms;
    END IF;
    total := total + ms;
    i := i + 1;
    EXIT WHEN i >= runs AND total > 200 OR i >= 3 AND ms > 500;
  END LOOP;
  RETURN best;
END $$;

-- A table that is keyed by a shard, and one that is partitioned by it.
CREATE PROCEDURE make_tables(shards integer, partitioned boolean)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE v%s (shard_id int GENERATED ALWAYS AS (spanner.shard_id(%1$s, lastaccess, userid)) STORED,
    lastaccess timestamptz NOT NULL, userid bigint NOT NULL, data text)', shards);
  EXECUTE format('INSERT INTO v%s (lastaccess, userid, data) SELECT * FROM visit', shards);
  EXECUTE format('ALTER TABLE v%s ADD PRIMARY KEY (shard_id, lastaccess, userid)', shards);
  IF NOT partitioned THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE p%s (shard_id int NOT NULL, lastaccess timestamptz NOT NULL, userid bigint NOT NULL, data text)
    PARTITION BY LIST (shard_id)', shards);
  FOR i IN 0 .. shards - 1 LOOP
    EXECUTE format('CREATE TABLE p%s_%s PARTITION OF p%1$s FOR VALUES IN (%2$s)', shards, i);
  END LOOP;
  EXECUTE format('INSERT INTO p%s SELECT * FROM v%1$s', shards);
  EXECUTE format('CREATE UNIQUE INDEX ON p%s (lastaccess, userid, shard_id)', shards);
END $$;

CALL make_tables(16, true);
CALL make_tables(64, true);
CALL make_tables(256, true);
CALL make_tables(2048, false);
CREATE INDEX hotspot ON visit (lastaccess);
CREATE TABLE asked AS SELECT lastaccess AS ts, userid AS uid FROM visit TABLESAMPLE SYSTEM (1) LIMIT 1000;

-- The same rows for deep reads, with an index in whose order they do not lie.
CREATE TABLE d64 (LIKE v64 INCLUDING ALL);
INSERT INTO d64 (lastaccess, userid, data) SELECT * FROM visit;
CREATE INDEX ON d64 (shard_id, userid);
CREATE TABLE d2048 (LIKE v2048 INCLUDING ALL);
INSERT INTO d2048 (lastaccess, userid, data) SELECT * FROM visit;
CREATE INDEX ON d2048 (shard_id, userid);

-- Partitions that are joined, many small ones, rows of few sensors, rows of a
-- status that only the oldest have.
CREATE TABLE parted (ts timestamptz NOT NULL, uid bigint NOT NULL, data text) PARTITION BY LIST ((spanner.shard_id(16, ts, uid)));
SELECT format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%1$s)', i) FROM generate_series(0, 15) i \gexec
INSERT INTO parted SELECT * FROM visit;
CREATE INDEX ON parted (ts, uid);
CREATE TABLE small (shard_id int GENERATED ALWAYS AS (spanner.shard_id(16, at, uid)) STORED, at timestamptz NOT NULL, uid bigint NOT NULL) PARTITION BY RANGE (at);
SELECT format('CREATE TABLE small_%s PARTITION OF small (PRIMARY KEY (shard_id, at, uid)) FOR VALUES FROM (%L) TO (%L)', i,
              timestamptz '2025-01-01Z' + i * interval '1 day', timestamptz '2025-01-02Z' + i * interval '1 day') FROM generate_series(0, 2499) i \gexec
INSERT INTO small (at, uid) SELECT timestamptz '2025-01-01Z' + i * interval '1 hour', i FROM generate_series(0, 59999) i;
CREATE TABLE listed (s int NOT NULL CHECK (s = spanner.shard_id(1000, uid)), at timestamptz NOT NULL, uid bigint NOT NULL, PRIMARY KEY (s, at, uid)) PARTITION BY LIST (s);
SELECT format('CREATE TABLE listed_%s PARTITION OF listed FOR VALUES IN (%1$s)', i) FROM generate_series(0, 999) i \gexec
INSERT INTO listed SELECT spanner.shard_id(1000, i), timestamptz '2025-01-01Z' + i * interval '1 second', i FROM generate_series(1::bigint, 20000) i;
CREATE TABLE nested (s int NOT NULL CHECK (s = spanner.shard_id(4, ts, uid)), ts timestamptz NOT NULL, uid bigint NOT NULL, v int) PARTITION BY RANGE (ts);
SELECT format('CREATE TABLE nested_%s PARTITION OF nested FOR VALUES FROM (%L) TO (%L) PARTITION BY LIST (s)', i,
              timestamptz '2025-01-01' + i * interval '3 day', timestamptz '2025-01-04' + i * interval '3 day') FROM generate_series(0, 4) i \gexec
SELECT format('CREATE TABLE nested_%s_%s PARTITION OF nested_%1$s (PRIMARY KEY (s, uid, ts)) FOR VALUES IN (%2$s)', i, j)
  FROM generate_series(0, 4) i, generate_series(0, 3) j \gexec
INSERT INTO nested SELECT spanner.shard_id(4, lastaccess, userid), lastaccess, userid, 1 FROM visit;
CREATE TABLE reading (shard_id int GENERATED ALWAYS AS (spanner.shard_id(16, sensor, at)) STORED, sensor int NOT NULL, at timestamptz NOT NULL, status text, PRIMARY KEY (shard_id, sensor, at));
INSERT INTO reading (sensor, at, status) SELECT i % 100, timestamptz '2025-01-01Z' + i * interval '1 second', CASE WHEN i < 200 THEN 'open' ELSE 'done' END FROM generate_series(1, 200000) i;
CREATE INDEX ON reading (shard_id, at);

-- Few rows of many shards; pairs of a table that is partitioned by its shard.
CALL make_tables(1024, false);
CALL make_tables(4096, false);
CREATE TABLE pairs (s int NOT NULL CHECK (s = spanner.shard_id(16, a, b)), a int NOT NULL, b int NOT NULL, PRIMARY KEY (s, a, b)) PARTITION BY LIST (s);
SELECT format('CREATE TABLE pairs_%s PARTITION OF pairs FOR VALUES IN (%1$s)', i) FROM generate_series(0, 15) i \gexec
INSERT INTO pairs SELECT spanner.shard_id(16, i, i % 97), i, i % 97 FROM generate_series(1, 300000) i;

-- What planning alone costs in ms: the best of some times.
CREATE FUNCTION planning_cost(query text) RETURNS float8
LANGUAGE plpgsql AS $$
DECLARE
  plan json;
  best float8;
BEGIN
  FOR i IN 1 .. 30 LOOP
    EXECUTE 'EXPLAIN (SUMMARY, FORMAT JSON) ' || query INTO plan;
    best := least(best, (plan->0->>'Planning Time')::float8);
  END LOOP;
  RETURN best;
END $$;
