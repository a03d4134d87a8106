-- Functions of GoogleSQL that PostgreSQL has under the same name: of angles, and over rows.
SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA known;
SET search_path = known;
SET client_min_messages = error;

SELECT spanner.execute_ddl($$
CREATE TABLE Numbers (N INT64, X FLOAT64, B BOOL, J JSON) PRIMARY KEY (N);
CREATE VIEW angles SQL SECURITY INVOKER AS SELECT Numbers.N,
  ROUND(SIN(Numbers.X), 6) AS a, ROUND(COS(Numbers.X), 6) AS b, ROUND(TAN(Numbers.X), 6) AS c,
  ROUND(ASIN(Numbers.X), 6) AS d, ROUND(ACOS(Numbers.X), 6) AS e, ROUND(ATAN(Numbers.X), 6) AS f,
  ROUND(ATAN2(Numbers.X, 2.0), 6) AS g, ROUND(CBRT(Numbers.X), 6) AS h FROM Numbers;
CREATE VIEW hyperbolic SQL SECURITY INVOKER AS SELECT Numbers.N,
  ROUND(SINH(Numbers.X), 6) AS a, ROUND(COSH(Numbers.X), 6) AS b, ROUND(TANH(Numbers.X), 6) AS c,
  ROUND(ASINH(Numbers.X), 6) AS d, ROUND(ACOSH(Numbers.X + 1.0), 6) AS e, ROUND(ATANH(Numbers.X / 2.0), 6) AS f,
  JSON_TYPE(Numbers.J) AS g FROM Numbers;
CREATE VIEW aggregates SQL SECURITY INVOKER AS SELECT
  BIT_AND(Numbers.N) AS a, BIT_OR(Numbers.N) AS b, BIT_XOR(Numbers.N) AS c, LOGICAL_AND(Numbers.B) AS d,
  LOGICAL_OR(Numbers.B) AS e, MIN(Numbers.N) AS f, MAX(Numbers.N) AS g FROM Numbers;
CREATE VIEW ranks SQL SECURITY INVOKER AS SELECT Numbers.N,
  RANK() OVER (ORDER BY Numbers.X) AS a, DENSE_RANK() OVER (ORDER BY Numbers.X) AS b,
  CUME_DIST() OVER (ORDER BY Numbers.X) AS c, PERCENT_RANK() OVER (ORDER BY Numbers.X) AS d,
  ROW_NUMBER() OVER (ORDER BY Numbers.N DESC) AS e, FIRST_VALUE(Numbers.N) OVER (ORDER BY Numbers.N) AS f,
  LAST_VALUE(Numbers.N) OVER (ORDER BY Numbers.N) AS g FROM Numbers$$);
INSERT INTO numbers VALUES (6, 0, false, '[1]'), (7, 0.5, true, '{"a": 1}'), (12, 0.5, NULL, '"x"'), (15, 1, true, '2.5');
SELECT * FROM angles ORDER BY n;
SELECT * FROM hyperbolic ORDER BY n;
SELECT * FROM aggregates;
SELECT * FROM ranks ORDER BY n;

DROP SCHEMA known CASCADE;
