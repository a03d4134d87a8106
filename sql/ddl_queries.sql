-- Views of GoogleSQL: which names win, and what is joined.

CREATE SCHEMA queries;
SET search_path = queries;
SET client_min_messages = error;
\pset format unaligned
\pset tuples_only
-- an alias wins over a column, but in what an aggregate takes
SELECT spanner.execute_ddl($$CREATE TABLE L (I INT64, K STRING(MAX), M ARRAY<INT64>, N ARRAY<INT64>,
  MN ARRAY<INT64> AS (M || N) STORED) PRIMARY KEY (I);
CREATE VIEW l1 SQL SECURITY INVOKER AS SELECT UPPER(L.K) AS K, COUNT(*) AS N FROM L GROUP BY K;
CREATE VIEW l2 SQL SECURITY INVOKER AS SELECT -L.I AS I FROM L ORDER BY I + 0 LIMIT 1;
CREATE VIEW l3 SQL SECURITY INVOKER AS (SELECT -L.I AS I, (SELECT MAX(I) FROM L) AS J FROM L) ORDER BY J + I LIMIT 1;
CREATE VIEW l4 SQL SECURITY INVOKER AS SELECT 'x' AS K, SUM(-L.I) AS I FROM L GROUP BY K HAVING SUM(I) > 0 AND I < 0;
CREATE VIEW l5 SQL SECURITY INVOKER AS SELECT DISTINCT L.*, MOD(L.I, 2) AS I2 FROM L ORDER BY I2, I DESC;
CREATE VIEW l6 SQL SECURITY INVOKER AS
  SELECT EXISTS(SELECT 1 FROM L), LOWER(L.K) AS K, RANK() OVER (ORDER BY LOWER(K)) AS R FROM L GROUP BY K HAVING K = 'b';
CREATE VIEW l7 SQL SECURITY INVOKER AS SELECT L.M || L.N AS MN, L.K || L.K AS KK FROM L$$, 'googlesql');
INSERT INTO l VALUES (1, 'a', '{1}', NULL), (2, 'A', NULL, '{1}'), (3, 'b', '{1}', '{2}'), (4, 'B', NULL, NULL),
  (5, NULL, NULL, NULL);
SELECT i, mn FROM l ORDER BY i;
SELECT * FROM l1 ORDER BY k;
SELECT * FROM l2, l3, l4;
SELECT i, i2 FROM l5;
SELECT * FROM l7;
SELECT s FROM spanner.spanner_ddl('queries') s WHERE s ~ '^CREATE (TABLE|VIEW)';

-- subqueries, and their values
\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/values.sql'
\i :included
COPY cases (expression, expected) FROM stdin;
1 IN (SELECT 1) AND 2 NOT IN (SELECT 1)	true
(SELECT 1 UNION DISTINCT SELECT 1)	1
(SELECT 1 INTERSECT ALL SELECT 1)	1
(SELECT 1 EXCEPT ALL SELECT 2)	1
((SELECT ALL 1))	1
(SELECT 1 LIMIT 1 of 0)	42601 syntax error at or near "of"
(WITH a AS (SELECT 1 AS x), b AS (SELECT 2 AS y) SELECT x + y FROM a, b)	3
(SELECT COUNT(*) FROM (UNNEST([1,2]) AS a RIGHT JOIN UNNEST([2,3]) AS b ON a = b))	2
(SELECT COUNT(*) FROM UNNEST([1,2]) AS a FULL OUTER JOIN UNNEST([2,3]) AS b ON a = b)	3
(SELECT a FROM UNNEST([1,2,NULL]) AS a ORDER BY a NULLS LAST LIMIT 1)	1
(SELECT a FROM UNNEST([1,2,NULL]) AS a ORDER BY a DESC NULLS FIRST LIMIT 1)	\N
(SELECT a FROM UNNEST([1,2,NULL]) AS a ORDER BY a DESC NULLS LATER LIMIT 1)	42601 syntax error at or near "LATER"
\.
SELECT concat_ws(' | ', c.expression, v.value)
  FROM cases c, value_of(c.expression) v WHERE v.value IS DISTINCT FROM c.expected ORDER BY c.id;

RESET ALL;
\pset format aligned
\pset tuples_only off
SET client_min_messages = error;
DROP SCHEMA queries CASCADE;
