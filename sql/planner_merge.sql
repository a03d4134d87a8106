-- The planner merges the shards of an index in order.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_merge;
SET search_path = test_shard_merge;
SET max_parallel_workers_per_gather = 0;
SET spanner_keys.enable_shard_list = off;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

CREATE TABLE visit (
  shard_id int GENERATED ALWAYS AS (spanner.shard_id(16, lastaccess, userid)) STORED,
  lastaccess timestamptz NOT NULL,
  userid bigint NOT NULL,
  rank int,
  PRIMARY KEY (shard_id, lastaccess, userid));
INSERT INTO visit (lastaccess, userid, rank)
SELECT timestamptz '2025-01-01' + i / 3 * interval '1 minute', i % 500, nullif(i % 7, 3)
  FROM generate_series(1, 20000) i;
CREATE INDEX visit_rank ON visit (shard_id, rank DESC, userid);
VACUUM ANALYZE visit;

-- forward and backward, with conditions on the columns of the order
SELECT plan('SELECT * FROM visit ORDER BY lastaccess DESC LIMIT 10');
SELECT plan('SELECT * FROM visit ORDER BY lastaccess, userid LIMIT 10');
SELECT plan($$SELECT * FROM visit WHERE lastaccess < '2025-01-03Z' ORDER BY lastaccess DESC LIMIT 10$$);
SELECT plan($$SELECT * FROM visit WHERE (lastaccess, userid) < ('2025-01-03Z', 100) AND rank > 2
              ORDER BY lastaccess DESC, userid DESC LIMIT 10$$);
SELECT plan('SELECT * FROM visit ORDER BY rank DESC LIMIT 10');
SELECT plan('SELECT * FROM visit ORDER BY rank LIMIT 10');
SELECT lastaccess, userid FROM visit ORDER BY lastaccess DESC, userid DESC LIMIT 4;

-- not if the order is another one
SELECT plan('SELECT * FROM visit ORDER BY rank DESC NULLS LAST LIMIT 10');
SELECT plan('SELECT * FROM visit ORDER BY userid LIMIT 10');

-- a part of the shards
SELECT plan('SELECT * FROM visit WHERE shard_id IN (3, 5) ORDER BY lastaccess LIMIT 10');
SELECT plan('SELECT * FROM visit WHERE shard_id BETWEEN 2 AND 4 ORDER BY lastaccess LIMIT 10');
SELECT plan('SELECT * FROM visit WHERE shard_id = 3 ORDER BY lastaccess LIMIT 10');

-- min and max, groups, incremental sort
SELECT min(lastaccess), max(lastaccess) FROM visit;
SELECT count(*) FROM plan('SELECT max(lastaccess) FROM visit') p WHERE p ~ 'SpannerShardMerge';
SELECT plan('SELECT * FROM visit ORDER BY lastaccess, rank LIMIT 10');
SELECT plan('SELECT DISTINCT ON (lastaccess) * FROM visit ORDER BY lastaccess LIMIT 10');

-- the whole table is sorted
SELECT plan('SELECT * FROM visit ORDER BY lastaccess');

-- rescans
SELECT plan($$SELECT * FROM generate_series(1, 3) g CROSS JOIN LATERAL
  (SELECT * FROM visit WHERE lastaccess >= timestamptz '2025-01-02Z' + g * interval '1 day' ORDER BY lastaccess LIMIT 2) v$$);

SELECT q, same(q, true)
  FROM unnest(ARRAY[
    'SELECT * FROM visit ORDER BY lastaccess DESC, userid LIMIT 50',
    'SELECT * FROM visit ORDER BY lastaccess DESC, userid DESC LIMIT 50',
    'SELECT * FROM visit ORDER BY lastaccess, userid OFFSET 100 LIMIT 300',
    'SELECT rank FROM visit ORDER BY rank DESC LIMIT 5000',
    'SELECT rank FROM visit ORDER BY rank OFFSET 17000 LIMIT 50',
    'SELECT * FROM visit WHERE shard_id IN (3, 5, 99, NULL) ORDER BY lastaccess, userid LIMIT 50',
    'SELECT * FROM visit WHERE shard_id IN (99) ORDER BY lastaccess, userid LIMIT 50',
    'SELECT * FROM visit WHERE shard_id < 1 OR rank = 5 ORDER BY lastaccess, userid LIMIT 500',
    'SELECT * FROM visit WHERE shard_id % 5 = 2 ORDER BY lastaccess, userid LIMIT 50',
    $$SELECT * FROM visit WHERE (lastaccess, userid) < ('2025-01-03Z', 100) AND rank > 2
       ORDER BY lastaccess DESC, userid DESC LIMIT 50$$,
    $$SELECT * FROM generate_series(1, 3) g CROSS JOIN LATERAL
       (SELECT * FROM visit WHERE lastaccess >= timestamptz '2025-01-02Z' + g * interval '1 day'
         ORDER BY lastaccess, userid LIMIT 2) v$$]) q;

-- a condition on the shard that fails for a shard without a row
CREATE TABLE sparse (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, a)) STORED, a int NOT NULL,
  PRIMARY KEY (shard_id, a));
INSERT INTO sparse (a) SELECT i FROM generate_series(1, 3000) i WHERE spanner.shard_id(8, i) <> 0;
VACUUM ANALYZE sparse;
SELECT plan('SELECT a FROM sparse WHERE 10 / shard_id > 2 ORDER BY a LIMIT 2');
SELECT a FROM sparse WHERE 10 / shard_id > 2 ORDER BY a LIMIT 2;

-- more streams than may be open at a time
SET enable_sort = off;
SET enable_seqscan = off;
SET work_mem = '64kB';
SELECT plan('SELECT lastaccess, userid FROM visit ORDER BY lastaccess, userid');
SELECT count(*), bool_and(ok) FROM (
  SELECT (lastaccess, userid) > lag((lastaccess, userid)) OVER () IS NOT FALSE AS ok
    FROM (SELECT * FROM visit ORDER BY lastaccess, userid) v) w;
SELECT count(*), bool_and(ok) FROM (
  SELECT rank <= lag(rank) OVER () IS NOT FALSE AS ok
    FROM (SELECT rank FROM visit ORDER BY rank DESC) v) w;
RESET enable_sort;
RESET enable_seqscan;
RESET work_mem;

-- cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT lastaccess, userid FROM visit ORDER BY lastaccess DESC, userid DESC;
FETCH 2 FROM c;
MOVE FORWARD 1000 IN c;
FETCH BACKWARD 2 FROM c;
DECLARE u CURSOR FOR SELECT * FROM visit ORDER BY lastaccess, userid FOR UPDATE;
FETCH 1 FROM u;
UPDATE visit SET rank = 1000 WHERE CURRENT OF u;
SELECT lastaccess, userid, rank FROM visit WHERE rank = 1000;
ROLLBACK;

-- a range without an order; from 18 on an index scan skips by itself
SET spanner_keys.enable_shard_list = on;
SELECT current_setting('server_version_num')::int >= 180000 OR EXISTS (
  SELECT FROM plan($$SELECT count(*) FROM visit WHERE lastaccess BETWEEN '2025-01-02Z' AND '2025-01-02 01:00Z'$$) p
   WHERE p ~ 'all_shards') AS listed;
SELECT same($$SELECT * FROM visit WHERE lastaccess BETWEEN '2025-01-02Z' AND '2025-01-02 01:00Z'$$);
SELECT same($$SELECT * FROM visit WHERE shard_id < 5 AND lastaccess BETWEEN '2025-01-02Z' AND '2025-01-02 01:00Z'$$);

-- limits
SET spanner_keys.max_merge_shards = 15;
SELECT plan('SELECT * FROM visit ORDER BY lastaccess LIMIT 10');
RESET spanner_keys.max_merge_shards;
SET spanner_keys.enable_shard_merge = off;
SELECT plan('SELECT * FROM visit ORDER BY lastaccess LIMIT 10');
SET spanner_keys.enable_shard_merge = 2;

RESET spanner_keys.enable_shard_merge;

-- a condition on the shard that can fail is not computed if there are no rows
SET plan_cache_mode = force_generic_plan;
SET enable_sort = off;
PREPARE divided(int) AS SELECT * FROM visit WHERE lastaccess < '2000-01-01Z' AND shard_id <> 10 / $1 ORDER BY lastaccess LIMIT 5;
EXECUTE divided(0);
RESET enable_sort;
RESET plan_cache_mode;

-- many rows that do not lie in the order of the merge are sorted
CREATE TABLE ticket (shard_id int GENERATED ALWAYS AS (spanner.shard_id(64, id)) STORED,
  status text COLLATE "C" NOT NULL, at int NOT NULL, id int, note text, PRIMARY KEY (shard_id, status, id));
CREATE INDEX ON ticket (shard_id, at);
INSERT INTO ticket (status, at, id, note)
SELECT CASE i % 2 WHEN 0 THEN 'open' ELSE 'closed' END, i, i, repeat('x', 100) FROM generate_series(1, 20000) i;
VACUUM ANALYZE ticket;
SELECT plan('SELECT * FROM ticket ORDER BY status LIMIT 8000');
SELECT line FROM plan('SELECT * FROM ticket ORDER BY status LIMIT 800') line WHERE line ~ 'Merge';
SELECT line FROM plan('SELECT * FROM ticket ORDER BY at LIMIT 8000') line WHERE line ~ 'Merge';

-- an expression after the columns of the order
CREATE INDEX ON ticket (shard_id, id, upper(note));
SELECT plan('SELECT * FROM ticket ORDER BY id LIMIT 10');
SELECT id FROM ticket ORDER BY id LIMIT 2;

SET client_min_messages = warning;
DROP SCHEMA test_shard_merge CASCADE;
