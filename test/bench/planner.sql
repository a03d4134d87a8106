-- One round of measurements; prints results.
--
-- Variables: last, a time near the end of the rows; rows, their number.

-- The name of a shard count in a query is {shards}, that of a limit {rows}.
CREATE TEMP TABLE kind (position int, title text, what text, settings text[], query text, most_shards int);
INSERT INTO kind VALUES
  (1, 'merge', 'page', '{}', 'SELECT * FROM v{shards} ORDER BY lastaccess DESC LIMIT {rows}', 5000),
  (2, 'scan and sort', 'page', '{enable_shard_merge}', 'SELECT * FROM v{shards} ORDER BY lastaccess DESC LIMIT {rows}', 5000),
  (3, 'LATERAL by hand', 'page', '{}', 'SELECT r.* FROM generate_series(0, {shards} - 1) s CROSS JOIN LATERAL
     (SELECT * FROM v{shards} WHERE shard_id = s ORDER BY lastaccess DESC LIMIT {rows}) r ORDER BY lastaccess DESC LIMIT {rows}', 5000),
  (4, 'LIST partitions', 'page', '{}', 'SELECT * FROM p{shards} ORDER BY lastaccess DESC LIMIT {rows}', 256),
  (5, 'plain index', 'page', '{}', 'SELECT * FROM visit ORDER BY lastaccess DESC LIMIT {rows}', 5000);

-- Other queries, with the features and without.
INSERT INTO kind
  SELECT 10 + i, title, what, settings, query, most_shards
    FROM (SELECT lastaccess, userid FROM visit, asked WHERE lastaccess = ts AND userid = uid LIMIT 1) one,
         LATERAL (VALUES
           (1, 'with', 'look-up', '{}'::text[], format('SELECT * FROM v{shards} WHERE lastaccess = %L AND userid = %s', lastaccess, userid), 5000),
           (2, 'by hand', 'look-up', '{}', format('SELECT * FROM v{shards} WHERE shard_id = spanner.shard_id({shards}, timestamptz %1$L, %2$s::bigint)
              AND lastaccess = %1$L AND userid = %2$s', lastaccess, userid), 5000),
           (3, 'without', 'look-up', '{enable_derived_shard,enable_shard_list}', format('SELECT * FROM v{shards} WHERE lastaccess = %L AND userid = %s', lastaccess, userid), 5000),
           (4, 'with', 'join', '{}', 'SELECT count(v.data) FROM asked JOIN v{shards} v ON lastaccess = ts AND userid = uid', 5000),
           (5, 'without', 'join', '{enable_derived_shard,enable_shard_list}', 'SELECT count(v.data) FROM asked JOIN v{shards} v ON lastaccess = ts AND userid = uid', 5000),
           (6, 'with', 'range', '{}', format('SELECT count(*) FROM v{shards} WHERE lastaccess BETWEEN timestamptz %1$L - interval ''1000 seconds'' AND %1$L', :'last'), 5000),
           (7, 'without', 'range', '{enable_shard_list}', format('SELECT count(*) FROM v{shards} WHERE lastaccess BETWEEN timestamptz %1$L - interval ''1000 seconds'' AND %1$L', :'last'), 5000),
           (8, 'with', 'next page', '{}', format('SELECT * FROM v{shards} WHERE (lastaccess, userid) < (%L, 0) ORDER BY lastaccess DESC, userid DESC LIMIT 100', :'last'), 5000),
           (9, 'without', 'next page', '{enable_shard_merge,enable_shard_list}', format('SELECT * FROM v{shards} WHERE (lastaccess, userid) < (%L, 0) ORDER BY lastaccess DESC, userid DESC LIMIT 100', :'last'), 5000)
         ) v (i, title, what, settings, query, most_shards);

CREATE FUNCTION pg_temp.measure(settings text[], query text) RETURNS float8
LANGUAGE plpgsql AS $$
DECLARE
  result float8;
  setting text;
BEGIN
  FOREACH setting IN ARRAY settings LOOP
    PERFORM set_config('spanner_keys.' || setting, 'off', false);
  END LOOP;
  result := cost(query);
  FOREACH setting IN ARRAY settings LOOP
    PERFORM set_config('spanner_keys.' || setting, 'on', false);
  END LOOP;
  RETURN result;
END $$;

SELECT title, format('query=%s shards=%s rows=%s', replace(what, ' ', '_'), shards, rows), 'time',
       round(pg_temp.measure(settings, replace(replace(query, '{shards}', shards::text), '{rows}', rows::text))::numeric, 4), 'ms'
  FROM unnest('{16,64,256,2048}'::int[]) shards, unnest('{10,100,1000}'::int[]) rows, kind
 WHERE shards <= most_shards AND (what = 'page' OR rows = 100)
 ORDER BY shards, rows, position;

-- Deep reads, where the planner may take the merge or a sort.
CREATE FUNCTION pg_temp.measure_deep(memory text, query text, merge bool) RETURNS float8
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('work_mem', memory, true);
  PERFORM set_config('spanner_keys.enable_shard_merge', merge::text, true);
  RETURN cost(query, 3);
END $$;

SELECT CASE WHEN merge THEN 'with' ELSE 'without' END,
       format('query=deep shards=%s order=%s rows=%s work_mem=%s', shards, ordering, rows, memory), 'time',
       round(pg_temp.measure_deep(memory, format('SELECT count(data) FROM (SELECT * FROM d%s ORDER BY %s LIMIT %s) v', shards, ordering, rows), merge)::numeric, 4), 'ms'
  FROM unnest('{64,2048}'::int[]) shards, unnest('{lastaccess,userid}'::text[]) ordering,
       (VALUES (:rows / 100, '64MB'), (:rows * 2 / 5, '4MB'), (:rows * 2 / 5, '256MB')) size (rows, memory),
       unnest('{t,f}'::bool[]) merge
 ORDER BY shards, ordering, rows, memory, merge DESC;
RESET spanner_keys.enable_shard_merge;
RESET work_mem;

-- What must not be much slower with the features than without.
CREATE FUNCTION pg_temp.measure_both(query text, enabled bool) RETURNS float8
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('spanner_keys.' || name, enabled::text, true)
     FROM unnest('{enable_derived_shard,enable_shard_merge,enable_shard_list}'::text[]) name;
  RETURN cost(query, 3);
END $$;

SELECT CASE WHEN enabled THEN 'with' ELSE 'without' END, format('query=%s shards=16', what), 'time',
       round(pg_temp.measure_both(query, enabled)::numeric, 4), 'ms'
  FROM (VALUES
         ('partition_join', 'SELECT count(data) FROM asked JOIN parted USING (ts, uid)'),
         ('pairs', (SELECT format('SELECT count(*) FROM pairs WHERE (a, b) IN (%s)', string_agg(format('(%s, %s)', i * 2000, i * 2000 % 97), ', '))
                      FROM generate_series(1, 100) i)),
         ('partition_outer_join', 'SELECT count(data) FROM parted LEFT JOIN asked USING (ts, uid)'),
         ('partition_inner_join', 'SELECT count(parted.data) FROM visit JOIN parted ON lastaccess = ts AND userid = uid'),
         ('nested_partition_join', 'SELECT count(n.v) FROM asked JOIN nested n USING (ts, uid)'),
         ('partition_self_join', 'SELECT count(*) FROM parted a JOIN parted b USING (ts, uid)'),
         ('small_partitions', 'SELECT * FROM small ORDER BY at DESC LIMIT 10'),
         ('rare_status', $$SELECT * FROM reading WHERE status = 'open' ORDER BY at DESC LIMIT 10$$),
         ('no_status', $$SELECT * FROM reading WHERE status || '' = 'none' ORDER BY at DESC LIMIT 10$$),
         ('first_of_no_status', $$SELECT * FROM reading WHERE status || '' = 'none' ORDER BY at DESC LIMIT 1$$),
         ('far_rows', $$SELECT * FROM v16 WHERE left(data, 2) = 'zz' ORDER BY lastaccess DESC LIMIT 10$$),
         ('latest_of_many', 'SELECT DISTINCT ON (at) * FROM reading ORDER BY at, sensor DESC'),
         ('latest', 'SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC')) v (what, query),
       unnest('{t,f}'::bool[]) enabled
 ORDER BY what, enabled DESC;
SELECT 'by hand', 'query=latest shards=16', 'time',
       round(cost('SELECT l.* FROM generate_series(0, 99) s, LATERAL
                     (SELECT * FROM reading WHERE sensor = s ORDER BY at DESC LIMIT 1) l', 3)::numeric, 4), 'ms';

-- The same for planning alone: joins of sharded tables, pairs on partitions, an ordinary table.
CREATE FUNCTION pg_temp.plan_both(query text, enabled bool) RETURNS float8
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('spanner_keys.' || name, enabled::text, true)
     FROM unnest('{enable_derived_shard,enable_shard_merge,enable_shard_list}'::text[]) name;
  RETURN planning_cost(query);
END $$;
SELECT CASE WHEN enabled THEN 'with' ELSE 'without' END, format('query=planning_of_%s shards=16', what), 'time',
       round(pg_temp.plan_both(query, enabled)::numeric, 4), 'ms'
  FROM (VALUES
         ('join_of_4', 'SELECT 1 FROM v16 JOIN v64 USING (lastaccess, userid) JOIN v256 USING (lastaccess, userid) JOIN v1024 USING (lastaccess, userid)'),
         ('join_of_6', 'SELECT 1 FROM v16 JOIN v64 USING (lastaccess, userid) JOIN v256 USING (lastaccess, userid) JOIN v1024 USING (lastaccess, userid)
            JOIN v2048 USING (lastaccess, userid) JOIN v4096 USING (lastaccess, userid)'),
         ('ordered_join_of_6', 'SELECT 1 FROM v16 JOIN v64 USING (lastaccess, userid) JOIN v256 USING (lastaccess, userid) JOIN v1024 USING (lastaccess, userid)
            JOIN v2048 USING (lastaccess, userid) JOIN v4096 USING (lastaccess, userid) ORDER BY lastaccess LIMIT 5'),
         ('20_pairs', (SELECT format('SELECT count(*) FROM pairs WHERE (a, b) IN (%s)', string_agg(format('(%s, %s)', i * 2000, i * 2000 % 97), ', '))
                         FROM generate_series(1, 20) i)),
         ('100_pairs', (SELECT format('SELECT count(*) FROM pairs WHERE (a, b) IN (%s)', string_agg(format('(%s, %s)', i * 2000, i * 2000 % 97), ', '))
                         FROM generate_series(1, 100) i)),
         ('small_partitions', 'SELECT * FROM small ORDER BY at DESC LIMIT 10'),
         ('count_of_small_partitions', 'SELECT count(*) FROM small'),
         ('join_with_small_partitions', 'SELECT 1 FROM asked JOIN listed USING (uid)'),
         ('ordinary_table', 'SELECT * FROM visit WHERE userid = 1')) v (what, query),
       unnest('{t,f}'::bool[]) enabled
 ORDER BY what, enabled DESC;

-- Few rows of many shards.
SELECT CASE WHEN enabled THEN 'with' ELSE 'without' END, format('query=newest shards=%s', shards), 'time',
       round(pg_temp.measure_both(format('SELECT * FROM v%s ORDER BY lastaccess DESC LIMIT 10', shards), enabled)::numeric, 4), 'ms'
  FROM unnest('{1024,4096}'::int[]) shards, unnest('{t,f}'::bool[]) enabled
 ORDER BY shards, enabled DESC;

-- Memory of a merge that has opened every stream it may.
SET enable_sort = off;
SET work_mem = '4MB';
BEGIN;
DECLARE c CURSOR FOR SELECT lastaccess, userid FROM v2048 ORDER BY lastaccess;
MOVE 20000 IN c;
SELECT 'merge', 'query=all shards=2048 work_mem=4MB', 'memory', sum(total_bytes), 'bytes'
  FROM pg_backend_memory_contexts WHERE name = 'spanner_keys shard merge';
COMMIT;
SET work_mem = '1GB';
BEGIN;
DECLARE c CURSOR FOR SELECT lastaccess, userid FROM v2048 ORDER BY lastaccess;
MOVE 20000 IN c;
SELECT 'merge', 'query=all shards=2048 work_mem=1GB', 'memory', sum(total_bytes), 'bytes'
  FROM pg_backend_memory_contexts WHERE name = 'spanner_keys shard merge';
COMMIT;
