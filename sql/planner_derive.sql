-- The planner derives the shard from the keys.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_derived_shard;
SET search_path = test_derived_shard;
SET max_parallel_workers_per_gather = 0;
SET spanner_keys.enable_shard_list = off;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

-- the conditions on the shard that a plan has
CREATE FUNCTION derived(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  line text;
  result text[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    result := result || ARRAY(SELECT m[1]
      FROM regexp_matches(line, 'shard_id = (\d+|spanner\.shard_ids?\([^)]*\)|ANY \([^)]*\)+)', 'g') m
     WHERE line ~ 'Index Cond:');
  END LOOP;
  RETURN array_to_string(ARRAY(SELECT DISTINCT unnest(result) ORDER BY 1), ', ');
END $$;

CREATE TABLE visit (
  shard_id int GENERATED ALWAYS AS (spanner.shard_id(16, lastaccess, userid)) STORED,
  lastaccess timestamptz NOT NULL,
  userid bigint NOT NULL,
  data text,
  PRIMARY KEY (shard_id, lastaccess, userid));
INSERT INTO visit (lastaccess, userid, data)
SELECT timestamptz '2025-01-01' + i / 3 * interval '1 minute', i % 500, 'row ' || i
  FROM generate_series(1, 20000) i;
CREATE TABLE asked (ts timestamptz, uid int);
INSERT INTO asked SELECT lastaccess, userid FROM visit WHERE data LIKE '%77' ORDER BY userid LIMIT 50;
VACUUM ANALYZE visit, asked;

-- constants, of another type too
SELECT derived($$SELECT * FROM visit WHERE lastaccess = '2025-01-02 00:00Z' AND userid = 320$$);
SELECT derived($$SELECT * FROM visit WHERE '2025-01-02 00:00Z' = lastaccess AND userid = 320::smallint$$);

-- the other side must not depend on the row, nor be volatile
SELECT derived($$SELECT * FROM visit WHERE lastaccess = '2025-01-02 00:00Z' AND userid = shard_id + 1$$);
SELECT derived($$SELECT * FROM visit WHERE lastaccess = '2025-01-02 00:00Z' AND userid = 320 * random()::int$$);

-- equality of another family is none
SELECT derived($$SELECT * FROM visit WHERE lastaccess = timestamp '2025-01-02 00:00' AND userid = 320$$);

-- lists, rows, alternatives
SELECT derived($$SELECT * FROM visit WHERE lastaccess = '2025-01-02 00:00Z' AND userid IN (320, 321)$$);
SELECT derived($$SELECT * FROM visit WHERE (lastaccess, userid) IN (('2025-01-02 00:00Z', 320), ('2025-01-03 00:00Z', 140))$$);
SELECT derived($$SELECT * FROM visit WHERE userid = 320 AND (lastaccess = '2025-01-02 00:00Z' OR lastaccess = '2025-01-03 00:00Z')$$);

-- generic plans
PREPARE visit_of(timestamptz, bigint) AS SELECT * FROM visit WHERE lastaccess = $1 AND userid = $2;
PREPARE visits_of(timestamptz[], bigint) AS SELECT * FROM visit WHERE lastaccess = ANY ($1) AND userid = $2;
SET plan_cache_mode = force_generic_plan;
SELECT derived($$EXECUTE visit_of('2025-01-02 00:00Z', 320)$$);
EXECUTE visit_of('2025-01-02 00:00Z', 320);
EXECUTE visit_of(NULL, 320);
EXECUTE visits_of('{2025-01-02 00:00Z,NULL,2025-01-03 00:00Z}', 320);
EXECUTE visits_of('{}', 320);

-- the setting counts for cached plans when they are made anew
SET spanner_keys.enable_derived_shard = off;
DEALLOCATE visit_of;
PREPARE visit_of(timestamptz, bigint) AS SELECT * FROM visit WHERE lastaccess = $1 AND userid = $2;
SELECT derived($$EXECUTE visit_of('2025-01-02 00:00Z', 320)$$);
RESET spanner_keys.enable_derived_shard;
RESET plan_cache_mode;

-- joins of every kind
SELECT derived($$SELECT * FROM asked JOIN visit ON lastaccess = ts AND userid = uid$$);
SELECT derived($$SELECT * FROM asked LEFT JOIN visit ON lastaccess = ts AND userid = uid$$);
SELECT derived($$SELECT * FROM asked WHERE EXISTS (SELECT FROM visit WHERE lastaccess = ts AND userid = uid)$$);
SELECT derived($$SELECT * FROM asked WHERE NOT EXISTS (SELECT FROM visit WHERE lastaccess = ts AND userid = uid)$$);
SELECT derived($$SELECT (SELECT data FROM visit WHERE lastaccess = ts AND userid = uid) FROM asked$$);
SELECT derived($$SELECT * FROM asked JOIN visit ON lastaccess = ts WHERE userid = 77$$);
SELECT derived($$SELECT * FROM asked JOIN visit ON userid = uid WHERE lastaccess = '2025-01-02 00:00Z'$$);
CREATE TABLE tag (shard_id int GENERATED ALWAYS AS (spanner.shard_id(16, id)) STORED, id int NOT NULL,
  PRIMARY KEY (shard_id, id));
INSERT INTO tag (id) SELECT generate_series(1, 5000);
VACUUM ANALYZE tag;
SELECT derived($$SELECT * FROM (SELECT array_agg(uid) AS uids FROM asked) a JOIN tag ON id = ANY (uids)$$);
SELECT derived($$SELECT * FROM asked a JOIN asked b ON a.ts = b.ts JOIN visit ON lastaccess = b.ts AND userid = a.uid$$);

-- not where rows of the preserved side would be lost
SELECT derived($$SELECT * FROM visit LEFT JOIN asked ON lastaccess = ts AND userid = uid WHERE data = 'row 1'$$);

-- views and UNION ALL
CREATE VIEW recent AS
  SELECT lastaccess, userid FROM visit UNION ALL SELECT ts, uid::bigint FROM asked;
SELECT derived($$SELECT * FROM recent WHERE lastaccess = '2025-01-02 00:00Z' AND userid = 320$$);

-- changes
SELECT derived($$UPDATE visit SET data = '' WHERE lastaccess = '2025-01-02 00:00Z' AND userid = 320$$);
SELECT derived($$DELETE FROM visit USING asked WHERE lastaccess = ts AND userid = uid$$);
SELECT derived($$MERGE INTO visit USING asked ON lastaccess = ts AND userid = uid
                 WHEN MATCHED THEN UPDATE SET data = 'merged'$$);

-- the results are the same
SELECT bool_and(same(q)), count(*)
  FROM unnest(ARRAY[
    $$SELECT * FROM visit WHERE lastaccess = '2025-01-02 00:00Z' AND userid = 320$$,
    $$SELECT * FROM visit WHERE lastaccess = '2025-01-02 00:00Z' AND userid IN (320, 321, NULL)$$,
    $$SELECT * FROM visit WHERE (lastaccess, userid) IN (('2025-01-02 00:00Z', 320), ('2025-01-03 00:00Z', 140))$$,
    $$SELECT * FROM asked LEFT JOIN visit ON lastaccess = ts AND userid = uid$$,
    $$SELECT * FROM visit LEFT JOIN asked ON lastaccess = ts AND userid = uid$$,
    $$SELECT * FROM asked FULL JOIN visit ON lastaccess = ts AND userid = uid$$,
    $$SELECT * FROM asked WHERE NOT EXISTS (SELECT FROM visit WHERE lastaccess = ts AND userid = uid)$$,
    $$SELECT * FROM recent WHERE lastaccess = '2025-01-02 00:00Z' AND userid = 320$$]) q;

-- the rows of the derived shard are in the order of the index
CREATE TABLE post (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, author)) STORED, author int, at int,
  PRIMARY KEY (shard_id, author, at));
INSERT INTO post (author, at) SELECT i % 10, i FROM generate_series(1, 5000) i;
VACUUM ANALYZE post;
SELECT derived('SELECT at FROM post WHERE author = 3 AND at < 4000 ORDER BY at DESC LIMIT 3');
SELECT at FROM post WHERE author = 3 AND at < 4000 ORDER BY at DESC LIMIT 3;

-- the shard pays also where the index does not have the keys behind it
CREATE TABLE event (shard_id int GENERATED ALWAYS AS (spanner.shard_id(64, author)) STORED, author int, at int,
  PRIMARY KEY (shard_id, at));
INSERT INTO event (author, at) SELECT i % 1000, i FROM generate_series(1, 20000) i;
VACUUM ANALYZE event;
SELECT q, derived(q) FROM unnest(ARRAY[
    'SELECT * FROM event WHERE author = 3',
    'SELECT * FROM event WHERE author IN (3, 5)',
    'SELECT * FROM event WHERE author = 3 AND at > 15000',
    'SELECT * FROM event WHERE author = 3 ORDER BY at DESC LIMIT 2',
    'SELECT * FROM (VALUES (3), (5)) v(a) JOIN event ON author = a']) q;
SELECT * FROM event WHERE author = 3 ORDER BY at DESC LIMIT 2;

-- what the query says itself is not said again
SELECT derived($$SELECT * FROM visit WHERE shard_id = 3 AND lastaccess = '2025-01-02 00:00Z' AND userid = 320$$);

-- a plan does not survive the change of the expression
CREATE TABLE changing (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, id)) STORED, id int);
CREATE INDEX ON changing (shard_id, id);
INSERT INTO changing (id) SELECT i FROM generate_series(1, 1000) i;
PREPARE changing AS SELECT id FROM changing WHERE id = 7;
SET enable_seqscan = off;
SELECT derived('EXECUTE changing');
ALTER TABLE changing ALTER COLUMN shard_id DROP EXPRESSION;
UPDATE changing SET shard_id = 9;
SELECT derived('EXECUTE changing');
EXECUTE changing;

SET client_min_messages = warning;
DROP SCHEMA test_derived_shard CASCADE;
