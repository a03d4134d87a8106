-- Measure readers of sharded tables; prints Markdown.
--
-- Variables: last, a time near the end of the rows.

\pset tuples_only on
\pset format unaligned
\pset fieldsep ' | '
SET max_parallel_workers_per_gather = 0;
SET jit = off;

CREATE TEMP TABLE kind (position int, title text, settings text[], query text, most_shards int);
INSERT INTO kind VALUES
  (1, 'merge', '{}', 'SELECT * FROM v%1$s ORDER BY lastaccess DESC LIMIT %2$s', 5000),
  (2, 'sequential scan and sort', '{enable_shard_merge}', 'SELECT * FROM v%1$s ORDER BY lastaccess DESC LIMIT %2$s', 5000),
  (3, 'LATERAL by hand', '{}', 'SELECT r.* FROM generate_series(0, %1$s - 1) s CROSS JOIN LATERAL
     (SELECT * FROM v%1$s WHERE shard_id = s ORDER BY lastaccess DESC LIMIT %2$s) r ORDER BY lastaccess DESC LIMIT %2$s', 5000),
  (4, 'LIST partitions, of which merge append', '{}', 'SELECT * FROM p%1$s ORDER BY lastaccess DESC LIMIT %2$s', 256),
  (5, 'plain index on the time (the hotspot)', '{}', 'SELECT * FROM visit ORDER BY lastaccess DESC LIMIT %2$s', 5000);

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

CREATE TEMP TABLE result AS
  SELECT k.position, n AS shards, l AS rows, pg_temp.measure(k.settings, format(k.query, n, l)) AS ms
    FROM unnest('{16,64,256,2048}'::int[]) n, unnest('{10,100,1000}'::int[]) l, kind k
   WHERE n <= k.most_shards;

\qecho
\qecho 'ms for ORDER BY lastaccess DESC LIMIT k, planned and run, best of 7'
\qecho
\qecho '| shards | k | merge | seq. scan, sort | LATERAL by hand | LIST partitions | plain index |'
\qecho '|---:|---:|---:|---:|---:|---:|---:|'
SELECT '| ' || shards, rows, string_agg(coalesce(round(ms::numeric, 3)::text, '-'), ' | ' ORDER BY position) || ' |'
  FROM (SELECT k.position, s.shards, s.rows, r.ms
          FROM kind k CROSS JOIN (SELECT DISTINCT shards, rows FROM result) s
          LEFT JOIN result r USING (position, shards, rows)) w
 GROUP BY shards, rows ORDER BY shards, rows;

\qecho
\qecho 'ms for other queries'
\qecho
\qecho '| shards | look-up, derived | shard written out | without | join of 1000 rows | without | range of 1000 rows, listed | without | page after a key, LIMIT 100 | without |'
\qecho '|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
SELECT '| ' || n,
       round(pg_temp.measure('{}', format(point, n))::numeric, 4),
       round(pg_temp.measure('{}', format(by_hand, n))::numeric, 4),
       round(pg_temp.measure('{enable_derived_shard,enable_shard_list}', format(point, n))::numeric, 3),
       round(pg_temp.measure('{}', format(joined, n))::numeric, 2),
       round(pg_temp.measure('{enable_derived_shard,enable_shard_list}', format(joined, n))::numeric, 1),
       round(pg_temp.measure('{}', format(range, n))::numeric, 3),
       round(pg_temp.measure('{enable_shard_list}', format(range, n))::numeric, 1),
       round(pg_temp.measure('{}', format(page, n))::numeric, 3),
       round(pg_temp.measure('{enable_shard_merge,enable_shard_list}', format(page, n))::numeric, 1) || ' |'
  FROM unnest('{16,64,256,2048}'::int[]) n,
       (SELECT 'SELECT * FROM v%s WHERE lastaccess = ''' || ts || ''' AND userid = ' || uid AS point,
               'SELECT * FROM v%1$s WHERE shard_id = spanner.shard_id(%1$s, timestamptz ''' || ts || ''', ' || uid || '::bigint) AND lastaccess = ''' || ts || ''' AND userid = ' || uid AS by_hand
          FROM asked OFFSET 500 LIMIT 1) one,
       (SELECT 'SELECT count(v.data) FROM asked JOIN v%s v ON lastaccess = ts AND userid = uid' AS joined,
               'SELECT count(*) FROM v%s WHERE lastaccess BETWEEN ''' || :'last' || '''::timestamptz - interval ''1000 seconds'' AND ''' || :'last' || '''' AS range,
               'SELECT * FROM v%s WHERE (lastaccess, userid) < (''' || :'last' || ''', 0) ORDER BY lastaccess DESC, userid DESC LIMIT 100' AS page) queries;

\qecho
\qecho 'The whole table in order: what the planner takes, and ms of both ways'
\qecho
\qecho '| shards | plan | merge | sort |'
\qecho '|---:|---|---:|---:|'
SET work_mem = '1GB';
CREATE FUNCTION pg_temp.whole(shards int, switch text) RETURNS float8
LANGUAGE plpgsql AS $$
DECLARE
  result float8;
BEGIN
  PERFORM set_config(switch, 'off', false);
  result := cost(format('SELECT * FROM v%s ORDER BY lastaccess', shards), 3);
  PERFORM set_config(switch, 'on', false);
  RETURN result;
END $$;
SELECT '| ' || n, nodes(format('SELECT * FROM v%s ORDER BY lastaccess', n)),
       round(pg_temp.whole(n, 'enable_sort')::numeric), round(pg_temp.whole(n, 'spanner_keys.enable_shard_merge')::numeric) || ' |'
  FROM unnest('{16,64,256,2048}'::int[]) n;

-- memory of a merge that has opened every stream it may
\qecho
\qecho '| work_mem | memory of a merge of 2048 shards, all read | for each shard |'
\qecho '|---|---:|---:|'
SET enable_sort = off;
SET work_mem = '4MB';
BEGIN;
DECLARE c CURSOR FOR SELECT lastaccess, userid FROM v2048 ORDER BY lastaccess;
MOVE 100000 IN c;
SELECT '| 4 MB', pg_size_pretty(sum(total_bytes)), pg_size_pretty((sum(total_bytes) / 2048)::bigint) || ' |' FROM pg_backend_memory_contexts WHERE name = 'spanner_keys shard merge';
COMMIT;
SET work_mem = '1GB';
BEGIN;
DECLARE c CURSOR FOR SELECT lastaccess, userid FROM v2048 ORDER BY lastaccess;
MOVE 100000 IN c;
SELECT '| 1 GB', pg_size_pretty(sum(total_bytes)), pg_size_pretty((sum(total_bytes) / 2048)::bigint) || ' |' FROM pg_backend_memory_contexts WHERE name = 'spanner_keys shard merge';
COMMIT;
