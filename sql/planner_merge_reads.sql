-- What a merge reads: how often it searches the index, and that it goes on at
-- the right row, whatever the columns of the order are.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_merge_reads;
SET search_path = test_shard_merge_reads;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET enable_sort = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

-- the counters of a merge that has run
CREATE FUNCTION reads(query text, counter text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ counter THEN
      RETURN substring(line, '\d+');
    END IF;
  END LOOP;
END $$;

CREATE TABLE event (
  s int GENERATED ALWAYS AS (spanner.shard_id(16, id)) STORED,
  id int NOT NULL,
  status text NOT NULL,
  at int,
  rank int NOT NULL);
INSERT INTO event (id, status, at, rank)
SELECT i, 'status ' || i % 2, nullif(i / 3 % 800, 7), i % 5 FROM generate_series(1, 6000) i;
CREATE INDEX event_status ON event (s, status, id);
CREATE INDEX event_at ON event (s, at, id);
CREATE INDEX event_at_desc ON event (s, at DESC, rank, id);
CREATE INDEX event_first ON event (s, at NULLS FIRST, id DESC);
VACUUM ANALYZE event;

-- a few rows of each shard, with one search for most
SELECT reads('SELECT * FROM event ORDER BY at, id LIMIT 20', 'Searches') BETWEEN 16 AND 24 AS searches,
       reads('SELECT * FROM event ORDER BY at, id LIMIT 20', 'Fetched') BETWEEN 35 AND 40 AS rows;

-- fewer rows than shards: most shards have none of them, unless a filter takes more than it should
SELECT reads('SELECT * FROM event ORDER BY at, id LIMIT 2', 'Searches') BETWEEN 16 AND 18 AS searches,
       reads('SELECT * FROM event ORDER BY at, id LIMIT 2', 'Fetched') BETWEEN 2 AND 14 AS rows,
       reads('SELECT * FROM event WHERE id + 0 > 5900 ORDER BY at, id LIMIT 1', 'Searches') > 30 AS filtered;

-- all rows, with few searches: by a column of few values, by one that can be NULL
SELECT reads('SELECT * FROM event ORDER BY status, id', 'Searches') < 200 AS status,
       reads('SELECT * FROM event ORDER BY status DESC', 'Searches') < 200 AS status_desc,
       reads('SELECT * FROM event ORDER BY at, id', 'Searches') < 200 AS at,
       reads('SELECT * FROM event ORDER BY at DESC, rank', 'Searches') < 200 AS at_desc;
SET work_mem = '64kB';
SELECT reads('SELECT * FROM event ORDER BY status, id', 'Searches') < 200 AS little_memory;
RESET work_mem;

CREATE FUNCTION query(what text, sort text, rows text) RETURNS text
LANGUAGE sql AS $$ SELECT format('SELECT * FROM event %s ORDER BY %s %s', what, sort, rows) $$;

-- every order goes on at the right row
SELECT sort, bool_and(same(query(what, sort, rows), true)) AS same
  FROM unnest('{"status, id","status DESC, id DESC","at, id","at DESC, id DESC","at DESC, rank, id","at, rank DESC, id DESC",
                "at NULLS FIRST, id DESC","at DESC NULLS LAST, id"}'::text[]) WITH ORDINALITY o (sort, n),
       unnest('{"","LIMIT 1","LIMIT 4","LIMIT 500","OFFSET 200 LIMIT 3000"}'::text[]) rows,
       unnest('{"","WHERE at IS NULL","WHERE at = 5","WHERE at > 100","WHERE at <= 700","WHERE (at, id) > (100, 1000)",
                "WHERE (at, id) < (100, 1000)","WHERE at BETWEEN 10 AND 300 AND id > 500","WHERE status = ''status 1''",
                "WHERE status > ''status 0'' AND id < 4000","WHERE at IS NOT NULL AND rank = 3","WHERE id + 0 > 5900","WHERE at + 0 > 700"}'::text[]) what
 GROUP BY sort, n ORDER BY n;

-- rows that are gone for everybody, and for nobody else yet
BEGIN;
DELETE FROM event WHERE at < 300 OR id % 100 <> 0;
SELECT same('SELECT * FROM event ORDER BY at, id LIMIT 50', true), same('SELECT * FROM event ORDER BY status, id', true);
SELECT at, id FROM event ORDER BY at, id LIMIT 2;
ROLLBACK;
DELETE FROM event WHERE at < 300;
SELECT same('SELECT * FROM event ORDER BY at, id LIMIT 50', true);
VACUUM event;
SELECT same('SELECT * FROM event ORDER BY at, id LIMIT 50', true);

-- few rows in a shard, and none
CREATE TABLE few (s int GENERATED ALWAYS AS (spanner.shard_id(64, id)) STORED, id int NOT NULL, PRIMARY KEY (s, id));
INSERT INTO few (id) SELECT generate_series(1, 40);
SELECT array_agg(id) FROM (SELECT id FROM few ORDER BY id DESC LIMIT 5) f;
SELECT count(*), min(id), max(id) FROM (SELECT id FROM few ORDER BY id) f;

-- as much memory as can be asked for
SET work_mem = '2147483647kB';
SELECT count(*) = (SELECT count(*) FROM few WHERE s < 32) FROM (SELECT id FROM few WHERE s < 32 ORDER BY id) f;
RESET work_mem;

-- and no more than that
CREATE TABLE many (s int GENERATED ALWAYS AS (spanner.shard_id(1024, id)) STORED, id int NOT NULL, v text, PRIMARY KEY (s, id));
INSERT INTO many (id, v) SELECT i, i FROM generate_series(1, 20000) i;
VACUUM ANALYZE many;
SET work_mem = '64kB';
SET enable_sort = off;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM many WHERE v || '' = 'x' ORDER BY id LIMIT 20000;
MOVE ALL IN c;
SELECT sum(total_bytes) < 1000000 AS little FROM pg_backend_memory_contexts WHERE name = 'spanner_keys shard merge';
COMMIT;
RESET work_mem;
RESET enable_sort;

-- cursors
BEGIN;
DECLARE c NO SCROLL CURSOR FOR SELECT at, id FROM event ORDER BY at, id;
MOVE 100 IN c;
DELETE FROM event WHERE at < 400;
FETCH 1 FROM c;
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA test_shard_merge_reads CASCADE;
