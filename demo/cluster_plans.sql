-- Which servers are asked.

\pset footer off
SELECT max(id) AS id FROM reversed
\gset
EXPLAIN (COSTS OFF) SELECT * FROM reversed WHERE id = :id;
EXPLAIN (COSTS OFF) SELECT * FROM reversed WHERE note = 'row 7';
