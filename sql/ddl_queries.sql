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
CREATE VIEW l7 SQL SECURITY INVOKER AS SELECT L.M || L.N AS MN, L.K || L.K AS KK FROM L;
CREATE VIEW l8 SQL SECURITY INVOKER AS SELECT 0.5 AS x, L.I FROM L WHERE L.I < 3 ORDER BY FORMAT('%t %.2f', x, x + L.I) DESC$$, 'googlesql');
INSERT INTO l VALUES (1, 'a', '{1}', NULL), (2, 'A', NULL, '{1}'), (3, 'b', '{1}', '{2}'), (4, 'B', NULL, NULL),
  (5, NULL, NULL, NULL);
SELECT i, mn FROM l ORDER BY i;
SELECT * FROM l1 ORDER BY k;
SELECT * FROM l2, l3, l4;
SELECT i, i2 FROM l5;
SELECT * FROM l7;
SELECT * FROM l8;
SELECT s FROM spanner.spanner_ddl('queries') s WHERE s ~ '^CREATE (TABLE|VIEW)';

-- subqueries and words, and their values
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
(SELECT COUNTIF(DISTINCT x > 1) FROM UNNEST([2, 3]) AS x)	0A000 DISTINCT or ORDER BY in COUNTIF() is not supported
STRPOS('foo', 5)	42883 function STRPOS(unknown, bigint) does not exist
INSTR(5, 'foo')	42883 function INSTR(bigint, unknown) does not exist
ARRAY_TO_STRING([1, 2], ',')	42883 function ARRAY_TO_STRING(bigint[], unknown) does not exist
(1, 'a') IN ((2, 'b'), (1, 'a'))	true
(1, NULL) IN ((1, 2)) IS UNKNOWN	42601 syntax error at or near "IS"
((1, NULL) IN ((1, 2))) IS UNKNOWN	true
(1, NULL) IS NULL	0A000 a STRUCT with IS or CASE is not supported
((1, NULL)) IS NOT NULL	0A000 a STRUCT with IS or CASE is not supported
CASE (1, 2) WHEN (1, 2) THEN 1 END	0A000 a STRUCT with IS or CASE is not supported
(1 > 2) IS NOT UNKNOWN	true
(1 > 2) IS STRANGE	42601 syntax error at or near "STRANGE"
CURRENT_DATE = CURRENT_DATE()	true
CURRENT_TIMESTAMP = CURRENT_TIMESTAMP()	true
`current_date`	42703 column "current_date" does not exist
(SELECT (JSON '{"a": 1}').* FROM (SELECT 1 AS x))	42601 syntax error at or near "*"
(SELECT STRING_AGG(x ORDER BY x DESC) FROM UNNEST(['a', 'b']) AS x)	b,a
(SELECT STRING_AGG(DISTINCT x) FROM UNNEST([b'a', b'b']) AS x)	\\x612c62
TIMESTAMP '2020-01-05' + INTERVAL -3 HOUR	0A000 Type <interval> is not supported.
JSON_ARRAY(INTERVAL 5 DAY)	0A000 Type <interval> is not supported.
DATE '2020-01-05' - DATE '2020-01-01'	0A000 the difference of dates is not supported
CAST(-0.0 AS STRING)	0
CAST(1000000000000000 * 2.0 AS STRING)	2e+15
NULL IN UNNEST(ARRAY<INT64>[])	false
1e400 > 1	22003 "1e400" is out of range for type double precision
SAFE_ADD(1.7e308, 1.7e308)	\N
SAFE_SUBTRACT(-1.7e308, 1.7e308)	\N
SAFE_MULTIPLY(1e300, 1e300)	\N
SAFE_MULTIPLY(1e-300, 1e-300)	0
SAFE_DIVIDE(1e300, 1e-300)	\N
SAFE_DIVIDE(0.0, 0.0)	\N
SAFE_ADD(CAST('inf' AS FLOAT64), 1)	Infinity
SAFE_DIVIDE(CAST('inf' AS FLOAT64), CAST('inf' AS FLOAT64))	NaN
SQRT(CAST(1234567890123456789 AS NUMERIC))	1111111106.111111099
EXP(NUMERIC '20')	485165195.409790278
POW(NUMERIC '2.5', NUMERIC '20.5')	143803738.872901673
(SELECT AVG(CAST(x AS NUMERIC)) FROM UNNEST([1234567890123456789, 1, 1]) AS x)	411522630041152263.666666667
\.
SELECT concat_ws(' | ', c.expression, v.value)
  FROM cases c, value_of(c.expression) v WHERE v.value IS DISTINCT FROM c.expected ORDER BY c.id;
SELECT concat_ws(' | ', c.expression, v.export, (value_of(v.export)).value)
  FROM cases c, value_of(c.expression) v
 WHERE v.export <> '' AND (value_of(v.export)).value IS DISTINCT FROM v.value ORDER BY c.id;

-- ends of lines in three quotes
SELECT (value_of(E'LENGTH("""a\r\nb\rc\n\\r""") * 10 + LENGTH(R\'\'\'\r\n\'\'\')')).value;

-- PostgreSQL's parser reads these, too, and would divide integers
SET spanner.dialect = 'googlesql';
SELECT spanner.postgresql_ddl('CREATE VIEW x SQL SECURITY INVOKER AS SELECT L.I / 2 AS h FROM L WHERE ' || condition)
  FROM (VALUES ('(L.I, L.K) IN ((1, ''a''))'), ('(L.I > 1) IS UNKNOWN'), ('L.I > 5.'), ('L.I > 1 LIMIT 1')) c (condition);
SELECT spanner.execute_ddl('CREATE VIEW x SQL SECURITY INVOKER AS SELECT L.I / 2 AS h FROM L WHERE EXISTS (SELECT * FROM L)');
SELECT spanner.execute_ddl('CREATE VIEW x SQL SECURITY INVOKER AS SELECT L.I / 2 AS h, CAST(L.K AS INTERVAL) AS i FROM L');
-- rows change as GoogleSQL says
SELECT spanner.execute_ddl($$CREATE TABLE W (Id INT64 NOT NULL, H FLOAT64, D STRING(MAX) DEFAULT ('d'), Ok BOOL, N NUMERIC, G FLOAT32) PRIMARY KEY (Id);
INSERT INTO W (Id, H, D, N) VALUES (1, 5 / 2, DEFAULT, NULL), (2, 1, 'x', NULL), (3, 1, 'x', NULL), (5, 0.5, 'x', 12345678901234567.123456789);
UPDATE W AS t SET H = t.Id / 4, Ok = t.Id > 1 AND t.D = 'x', D = DEFAULT, N = -12345678901234567.25, G = 0.1 WHERE t.Id = 2;
DELETE W t WHERE t.Id / 2 = 1.5;
INSERT INTO W (Id, H) SELECT * FROM (SELECT w.Id + 10, w.Id / 2 FROM W AS w WHERE EXISTS (SELECT * FROM W))$$);
TABLE w;
SELECT spanner.execute_ddl('DELETE FROM W WHERE G = 0.1');
SELECT spanner.execute_ddl('DELETE FROM W WHERE G = CAST(0.1 AS FLOAT32)');
SELECT count(*) FROM w WHERE g IS NOT NULL;
SELECT spanner.execute_ddl('UPDATE W SET H = 1');
SELECT spanner.execute_ddl('DELETE FROM W');
SELECT spanner.postgresql_ddl('DELETE FROM W WHERE TRUE');
SET spanner.dialect = 'auto';
SELECT spanner.execute_ddl('DELETE FROM W');
SELECT spanner.postgresql_ddl('DELETE FROM w', 'postgresql');

RESET ALL;
\pset format aligned
\pset tuples_only off
SET client_min_messages = error;
DROP SCHEMA queries CASCADE;
