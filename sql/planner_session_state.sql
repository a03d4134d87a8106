-- What planning leaves behind in a backend.
CREATE SCHEMA test_shard_planning;
SET search_path = test_shard_planning;
SET client_min_messages = warning;
SELECT spanner.shard_id(16, 1);

-- an error while a nested query is planned, and caught: the plan of the outer query does not change
CREATE TABLE outer_key (id bigint, at int,
  shard_id int GENERATED ALWAYS AS (spanner.shard_id(16, id)) STORED, PRIMARY KEY (shard_id, at, id));
INSERT INTO outer_key (id, at) SELECT i % 50, i FROM generate_series(1, 5000) i;
CREATE TABLE inner_key (at int, a bigint, b bigint,
  shard_id int GENERATED ALWAYS AS (spanner.shard_id(16, a, b)) STORED, PRIMARY KEY (shard_id, at, a, b));
INSERT INTO inner_key SELECT i, i, i FROM generate_series(1, 1000) i;
ANALYZE outer_key, inner_key;
CREATE SEQUENCE calls;
-- the planner asks for the value once for the table, and once more for the shard
CREATE FUNCTION failing() RETURNS bigint STABLE LANGUAGE plpgsql AS $$
BEGIN
  IF nextval('test_shard_planning.calls') % 2 = 0 THEN
    RAISE 'no value';
  END IF;
  RETURN 7;
END $$;
CREATE FUNCTION catching() RETURNS bigint STABLE LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM test_shard_planning.inner_key WHERE a = 7 AND b = test_shard_planning.failing();
  RETURN 5;
EXCEPTION WHEN raise_exception THEN
  RETURN 5;
END $$;
CREATE FUNCTION quiet() RETURNS bigint STABLE LANGUAGE plpgsql AS 'BEGIN RETURN 5; END';
CREATE FUNCTION plan(value text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('EXPLAIN (FORMAT json) SELECT * FROM outer_key WHERE id = %s()', value) INTO result;
  RETURN replace(result, value, '')::jsonb;
END $$;
SELECT plan('catching') = plan('quiet') AS same, (SELECT last_value >= 4 FROM calls) AS failed;

-- the keys of 256 relations are kept, not of all that a session has ever read
SET spanner_keys.enable_shard_statistics = off;
DO $$
BEGIN
  FOR i IN 1 .. 300 LOOP
    EXECUTE format('CREATE TEMP TABLE t%s (a int, shard_id int GENERATED ALWAYS AS (spanner.shard_id(4, a)) STORED)', i);
    EXECUTE format('CREATE INDEX ON t%s (shard_id, a)', i);
  END LOOP;
END $$;
DO $$
BEGIN
  FOR i IN 1 .. 300 LOOP
    EXECUTE format('SELECT FROM t%s WHERE a = 1', i);
  END LOOP;
END $$;
SELECT count(*) BETWEEN 1 AND 257 AS bounded FROM pg_backend_memory_contexts WHERE name = 'spanner_keys shard keys';

-- a STABLE function sees rows from before a constraint that a function of the query has added
SET enable_seqscan = off;
CREATE TABLE plain (shard_id int, id int, PRIMARY KEY (shard_id, id));
INSERT INTO plain SELECT 0, i FROM generate_series(1, 300) i;
CREATE FUNCTION repair() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE plain SET shard_id = spanner.shard_id(16, id);
  ALTER TABLE plain ADD CHECK (shard_id = spanner.shard_id(16, id));
END $$;
CREATE FUNCTION shard_of(n int) RETURNS int STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT shard_id FROM plain WHERE id = n); END $$;
SELECT repair(), shard_of(5);
SELECT shard_of(5) = spanner.shard_id(16, 5) AS repaired;

DROP SCHEMA test_shard_planning CASCADE;
