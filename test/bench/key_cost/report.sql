-- The results as Markdown.

\echo
SELECT format('%s rows inserted into a table of %s, a checkpoint every %s rows.  PostgreSQL %s, %s.',
              :'rows', :'base_rows', :'batch', current_setting('server_version'),
              string_agg(format('%s=%s', name, current_setting(name)), ', ' ORDER BY name))
  FROM pg_settings
 WHERE name IN ('fsync', 'full_page_writes', 'shared_buffers', 'synchronous_commit', 'wal_compression');

\echo
\echo '| key | insert, s | | CPU, s | | WAL, MB | | index, MB | |'
\echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|'
SELECT format('| %s | %s | x %s | %s | x %s | %s | x %s | %s | x %s |', c.name,
              round(c.seconds, 1), round(c.seconds / b.seconds, 1),
              round(c.cpu_seconds, 1), round(c.cpu_seconds / b.cpu_seconds, 1),
              to_char(c.wal_bytes / 1e6, 'FM999,990'), round(c.wal_bytes / b.wal_bytes, 1),
              to_char(c.index_bytes / 1e6, 'FM999,990'), round(c.index_bytes / b.index_bytes, 1))
  FROM insert_costs c JOIN insert_costs b ON b.name = 'bigserial'
 ORDER BY c.place;

\echo
SELECT format('CPU time of one call: the least of %s rounds of %s calls, less that of reading the argument.',
              :'rounds', :'calls');

CREATE TEMPORARY VIEW net AS
  SELECT c.place, c.section, c.name, (c.ns - b.ns) / :calls AS ns
    FROM call_costs c
    JOIN call_costs b ON b.section = 'baseline' AND b.name = c.baseline;

\echo
\echo '| draw a value | CACHE 1, ns | | CACHE 32, ns | |'
\echo '|---|---:|---:|---:|---:|'
SELECT format('| %s | %s | x %s | %s | x %s |', o.name,
              round(o.ns), round(o.ns / core1.ns, 2), round(m.ns), round(m.ns / core32.ns, 2))
  FROM net o
  JOIN net m ON m.name = o.name AND m.section = 'CACHE 32'
  JOIN net core1 ON core1.name = 'core `nextval`' AND core1.section = 'CACHE 1'
  JOIN net core32 ON core32.name = 'core `nextval`' AND core32.section = 'CACHE 32'
 WHERE o.section = 'CACHE 1'
 ORDER BY o.place;

\echo
\echo '| function | ns |'
\echo '|---|---:|'
SELECT format('| %s | %s |', name, round(ns)) FROM net WHERE section = 'function' ORDER BY place;
