-- Rows on each server, and the inserts of the last second.

\pset footer off
WITH held AS (
  SELECT coalesce(server, 'this one') AS server, sum(rows) AS rows
    FROM spanner.split_stats('orders', exact => true) GROUP BY 1),
come AS (
  SELECT coalesce((SELECT s.srvname FROM pg_foreign_table f JOIN pg_foreign_server s ON s.oid = f.ftserver
                    WHERE f.ftrelid = o.tableoid), 'this one') AS server, count(*) AS rows
    FROM orders o WHERE note = 'new' AND at > now() - interval '1 second' GROUP BY 1)
SELECT h.server, h.rows, rpad(repeat('#', (20 * h.rows / sum(h.rows) OVER ())::integer), 20) AS "share of rows",
       coalesce(c.rows, 0) AS "last second",
       rpad(repeat('#', (20 * coalesce(c.rows, 0) / sum(c.rows) OVER ())::integer), 20) AS "share of inserts"
  FROM held h LEFT JOIN come c USING (server)
 ORDER BY h.server = 'this one' DESC, h.server;
