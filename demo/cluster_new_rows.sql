-- Rows that came since the table earlier was filled.

\pset footer off
SELECT server,
       sum(s.rows - e.rows) FILTER (WHERE tab = 'plain') AS "bigserial",
       sum(s.rows - e.rows) FILTER (WHERE tab = 'reversed') AS "bit-reversed"
  FROM splits s JOIN earlier e USING (tab, server)
 GROUP BY server
 ORDER BY server;
