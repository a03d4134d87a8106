-- One segment of one table.
--
-- psql variables: "tab", "rows", "distance" of checkpoints; "name" of the key
-- and "parameter" for the results.  Prints results.

CREATE TEMPORARY TABLE before AS
  SELECT idx_blks_hit AS hits, idx_blks_read AS misses
    FROM pg_statio_all_tables WHERE relid = :'tab'::regclass;

CALL insert_batches(:'tab', :rows, :distance);
SELECT pg_stat_force_next_flush() \g /dev/null

SELECT :'name', :'parameter', metric, value, unit
  FROM insert_cost,
       (SELECT idx_blks_hit - hits AS hits, idx_blks_read - misses AS misses
          FROM pg_statio_all_tables, before WHERE relid = :'tab'::regclass) cache,
       LATERAL (VALUES ('time', round(seconds * 1e6 / :rows, 4), 'us/row'),
                       ('CPU time', round(cpu_seconds * 1e6 / :rows, 4), 'us/row'),
                       ('WAL', round(wal_bytes / :rows, 3), 'bytes/row'),
                       ('index', pg_relation_size(:'tab' || '_pkey'), 'bytes'),
                       ('cache hits', round(100.0 * hits / (hits + misses), 3), '%'),
                       ('cache misses', round(1.0 * misses / :rows, 5), '1/row')) m(metric, value, unit);
