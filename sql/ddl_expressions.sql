-- Expressions of GoogleSQL in defaults, checks, generated columns and views.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA expressions;
SET search_path = expressions;
SELECT spanner.execute_ddl($$CREATE SEQUENCE Ids BIT_REVERSED_POSITIVE;
CREATE TABLE T (Id INT64 NOT NULL, I INT64, F FLOAT64, N NUMERIC, S STRING(MAX), B BYTES(MAX),
  D DATE, Ts TIMESTAMP, Ok BOOL, U UUID, J JSON, A ARRAY<STRING(MAX)>) PRIMARY KEY (Id)$$);
INSERT INTO t VALUES (7, -5, 1.5, 2.50, 'Text', 'abc', '2026-03-09', '2016-01-25 15:10:10.555555Z',
  true, '11111111-1111-4111-8111-111111111111', '{"a": 1}', '{x,y}');

-- a generated column of each expression: what it becomes, and its value
CREATE FUNCTION show(type text, expression text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE sql text; value text;
  BEGIN
    PERFORM spanner.execute_ddl(format('ALTER TABLE T ADD COLUMN g %s AS (%s) STORED', type, expression));
    SELECT pg_get_expr(adbin, adrelid) INTO sql FROM pg_attrdef
      JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE attname = 'g';
    EXECUTE 'SELECT g::text FROM t' INTO value;
    PERFORM spanner.execute_ddl('ALTER TABLE T DROP COLUMN g');
    RETURN format('%s' || E'\n  %s\n  %s', expression, sql, value);
  EXCEPTION WHEN OTHERS THEN
    RETURN format('%s' || E'\n  %s: %s', expression, SQLSTATE, SQLERRM);
  END $$;
\pset format unaligned
\pset tuples_only
CREATE TABLE tests (id serial, type text, expression text);
COPY tests (type, expression) FROM stdin;
INT64	MOD(FARM_FINGERPRINT(CAST(Ts AS STRING)), 2048)
INT64	ABS(MOD(FARM_FINGERPRINT(CONCAT(CAST(Id AS STRING), s)), 16))
INT64	FARM_FINGERPRINT(B) & 15 | 2 ^ 1
INT64	BIT_REVERSE(Id, TRUE) + 1
FLOAT64	I / 2
FLOAT64	(I + 1) / Id * 2
NUMERIC	N / 2
INT64	DIV(I, 2)
INT64	I << 2
STRING(MAX)	CAST(D AS STRING)
STRING(MAX)	CAST(N AS STRING)
STRING(MAX)	CAST(Ok AS STRING)
STRING(MAX)	CAST(U AS STRING)
STRING(MAX)	STRING(Ts, "UTC")
STRING(MAX)	STRING(Ts)
DATE	DATE(Ts)
DATE	DATE(Ts, "Asia/Tokyo")
TIMESTAMP	TIMESTAMP_ADD(Ts, INTERVAL 3 DAY)
TIMESTAMP	TIMESTAMP_TRUNC(Ts, HOUR)
TIMESTAMP	TIMESTAMP_TRUNC(Ts, DAY, "UTC")
INT64	EXTRACT(DAY FROM Ts)
INT64	EXTRACT(HOUR FROM Ts AT TIME ZONE "UTC")
INT64	UNIX_SECONDS(Ts)
INT64	CAST(F AS INT64)
STRING(MAX)	IF(I < 0, "less", 'more')
STRING(MAX)	CASE WHEN Ok THEN UPPER(S) ELSE LOWER(S) END
STRING(MAX)	CASE I WHEN 1 THEN 'one' END
STRING(MAX)	COALESCE(NULLIF(S, 'Text'), IFNULL(NULL, "none"))
INT64	GREATEST(I, Id, NULL)
STRING(MAX)	S || '-' || TO_HEX(B)
BOOL	S LIKE "T%" AND NOT (I BETWEEN 1 AND 2 OR I IN (3, 4)) AND S IS NOT NULL
BOOL	ARRAY_INCLUDES(A, 'y')
BOOL	REGEXP_CONTAINS(S, r'^\\w+t$')
BOOL	STARTS_WITH(S, "Te") AND ENDS_WITH(S, 't')
INT64	CHAR_LENGTH(TRIM(S)) + ARRAY_LENGTH(A)
STRING(MAX)	A[OFFSET(1)]
STRING(MAX)	ARRAY_TO_STRING([S, 'x', NULL], ' ')
BYTES(MAX)	b'\\x00a' || B
STRING(MAX)	r'\\d' || '''it's''' || """a "b" """ || '\\u00e9\\n'
INT64	0x1F + 2000000000 + 2000000000
INT64	-(-I)
ARRAY<INT64>	[1, 2, Id]
ARRAY<STRING(MAX)>	ARRAY<STRING>[]
BOOL	Ts > TIMESTAMP '2016-01-25 00:00:00' AND D = DATE '2026-03-09'
JSON	JSON '{"b": [1]}'
JSON	J.a
JSON	(JSON '{"b": {"c": [1]}}').b.c[0]
JSON	J.firstName. /* in any case */ `A B`
INT64	SOUNDEX(S)
INT64	MOD(Id)
INT64	EXTRACT(5 FROM Ts)
TIMESTAMP	TIMESTAMP_TRUNC(Ts, 5)
TIMESTAMP	TIMESTAMP_TRUNC(Ts,
STRING(MAX)	CAST(F AS STRING)
STRING(MAX)	SUBSTR(S, 2)
INT64	D - D
INT64	missing + 1
INT64	g + 1
INT64	SAFE_CAST(S AS INT64)
INT64	Id +
STRING(MAX)	'a' 'b'
\.
SELECT show(type, expression) FROM tests ORDER BY id;

-- a generated column may depend on others, which take their own expressions along
SELECT spanner.postgresql_ddl($$CREATE TABLE chain (
  c INT64 AS (b * 2) STORED, a INT64, b INT64 AS (a + 1)) PRIMARY KEY (a)$$);
SELECT spanner.execute_ddl($$CREATE TABLE circle (a INT64 AS (b) STORED, b INT64 AS (a) STORED) PRIMARY KEY (a)$$);

-- another time zone, which the database keeps
BEGIN;
SELECT spanner.execute_ddl($$ALTER DATABASE db SET OPTIONS (default_time_zone = 'Europe/Berlin');
CREATE TABLE z (ts TIMESTAMP, s STRING(MAX) AS (CAST(ts AS STRING)) STORED) PRIMARY KEY (ts)$$);
INSERT INTO z VALUES ('2026-01-01 12:00Z') RETURNING s;
ROLLBACK;
SET spanner.default_time_zone = 'Nowhere';

-- queries
SELECT spanner.postgresql_ddl(query) FROM (VALUES
  ($$CREATE VIEW v SQL SECURITY DEFINER AS
     WITH x AS (SELECT Id, I / 2 AS half FROM T@{FORCE_INDEX=_BASE_TABLE} WHERE S != "it's")
     SELECT DISTINCT x.Id, half, CAST(Ts AS STRING) AS text FROM x INNER JOIN T AS t2 ON x.Id = t2.Id
     WHERE EXISTS (SELECT 1 FROM `T` WHERE Ok) ORDER BY 1 DESC LIMIT 10 OFFSET 0$$),
  ($$CREATE OR REPLACE VIEW v SQL SECURITY INVOKER AS SELECT SUM(I) AS total, AVG(I) AS mean,
     COUNT(DISTINCT S) AS n, COUNTIF(Ok) AS oks, MAX(t.ts) AS last FROM t
     UNION ALL SELECT 1, 2.5, 3, 4, CURRENT_TIMESTAMP()$$)) q (query);
SELECT spanner.postgresql_ddl('CREATE VIEW v SQL SECURITY INVOKER AS SELECT x / y FROM (SELECT 1 AS x, 2 AS y) AS `s`');
SELECT spanner.postgresql_ddl('CREATE VIEW v SQL SECURITY INVOKER AS SELECT a FROM UNNEST([1]) AS a WITH OFFSET AS `o`');

-- what is too much
\set VERBOSITY terse
SELECT spanner.execute_ddl('CREATE TABLE t2 (a INT64 DEFAULT (1' || repeat(' + 1', 2500) || ')) PRIMARY KEY (a)');
SELECT spanner.execute_ddl('CREATE TABLE t2 (a BOOL DEFAULT (' || repeat('NOT ', 100000) || 'TRUE)) PRIMARY KEY (a)');
SELECT spanner.execute_ddl('CREATE TABLE t2 (' || string_agg('c' || i || ' INT64', ',') || ') PRIMARY KEY ()')
  FROM generate_series(1, 1601) i;
SELECT spanner.execute_ddl('CREATE TABLE t2 (a INT64) PRIMARY KEY (' || repeat('a, ', 32) || 'a)');

SET client_min_messages = warning;
DROP SCHEMA expressions CASCADE;

RESET ALL;
\pset format aligned
\pset tuples_only off
\set VERBOSITY default

-- Results of GoogleSQL's expressions where PostgreSQL's own would be others.
CREATE SCHEMA results;
SET search_path = results;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SELECT spanner.execute_ddl($$CREATE TABLE T (Id INT64 NOT NULL, I INT64, F FLOAT64, G FLOAT32, N NUMERIC, M NUMERIC,
  S STRING(MAX), Ts TIMESTAMP, Ok BOOL, A ARRAY<STRING(MAX)>, None ARRAY<STRING(MAX)>, Num ARRAY<NUMERIC>) PRIMARY KEY (Id)$$);
INSERT INTO t VALUES (7, 5, 1234567890123456789, 0.1, 12, -7, E'\t\u00a0 x\u3000\n', '2026-11-01 08:30Z', true, '{x,NULL}', NULL);

-- the value of a generated column; what is exported from it; the value of that, if it is another one
CREATE FUNCTION value_of(type text, expression text, OUT value text, OUT export text) LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM spanner.execute_ddl(format('ALTER TABLE T ADD COLUMN z %s AS (%s) STORED', type, expression));
    EXECUTE 'SELECT z::text FROM t' INTO value;
    SELECT spanner_internal.googlesql_expression(adrelid, adbin) INTO export FROM pg_attrdef
      JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE attname = 'z';
    ALTER TABLE t DROP COLUMN z;
  EXCEPTION WHEN OTHERS THEN
    value := SQLERRM;
  END $$;
CREATE TABLE tests (id serial, type text, expression text, spanner text);
\pset format unaligned
\pset tuples_only
COPY tests (type, expression, spanner) FROM stdin;
INT64	EXTRACT(HOUR FROM Ts AT TIME ZONE '+08:00')	16
INT64	EXTRACT(HOUR FROM Ts AT TIME ZONE '-3:30')	5
INT64	EXTRACT(HOUR FROM Ts AT TIME ZONE 'UTC+3')	time zone "UTC+3" not recognized
INT64	EXTRACT(HOUR FROM Ts AT TIME ZONE 'CET')	time zone "CET" not recognized
INT64	EXTRACT(HOUR FROM Ts AT TIME ZONE IF(Ok, '+08:00', S))	16
DATE	DATE(TIMESTAMP_ADD(Ts, INTERVAL 8 HOUR), '+08:00')	2026-11-02
STRING(MAX)	STRING(Ts, '+08:00')	2026-11-01 16:30:00+08
TIMESTAMP	TIMESTAMP_TRUNC(Ts, DAY, '+08:00')	2026-10-31 16:00:00+00
TIMESTAMP	TIMESTAMP_TRUNC(Ts, DAY)	2026-11-01 07:00:00+00
TIMESTAMP	TIMESTAMP_TRUNC(Ts, HOUR)	2026-11-01 08:00:00+00
TIMESTAMP	TIMESTAMP_TRUNC(Ts, HOUR, 'Asia/Kathmandu')	2026-11-01 08:15:00+00
TIMESTAMP	TIMESTAMP_TRUNC(Ts, MILLISECOND)	2026-11-01 08:30:00+00
TIMESTAMP	TIMESTAMP_TRUNC(Ts, WEEK, 'UTC')	2026-11-01 00:00:00+00
TIMESTAMP	TIMESTAMP_TRUNC(Ts, ISOWEEK, 'UTC')	2026-10-26 00:00:00+00
TIMESTAMP	TIMESTAMP_TRUNC(Ts, QUARTER, 'UTC')	2026-10-01 00:00:00+00
TIMESTAMP	TIMESTAMP_TRUNC(Ts, DECADE)	TIMESTAMP_TRUNC() to DECADE is not supported
INT64	UNIX_SECONDS(TIMESTAMP '2014-09-27+05:30')	1411756200
INT64	UNIX_SECONDS(TIMESTAMP '2014-09-27 America/New_York')	1411790400
INT64	UNIX_SECONDS(TIMESTAMP '2014-09-27T12:00:00Z')	1411819200
INT64	UNIX_SECONDS(TIMESTAMP '2014-09-27 12:30:00.45-8')	1411849800
INT64	UNIX_SECONDS(TIMESTAMP '2014-09-27')	1411801200
INT64	UNIX_SECONDS(TIMESTAMP '2014-09-27 Mars')	invalid date or time: "2014-09-27 Mars"
TIMESTAMP	TIMESTAMP 'now'	invalid date or time: "now"
DATE	DATE 'today'	invalid date or time: "today"
INT64	FARM_FINGERPRINT(CAST(Id AS STRING))	-8633013323626695528
INT64	FARM_FINGERPRINT(CAST(Id AS STRING)) >> 60	8
INT64	FARM_FINGERPRINT(CAST(Id AS STRING)) >> Id * 8 + 4	8
INT64	I << 2	20
INT64	I << 63	-9223372036854775808
INT64	I << 64	0
INT64	I >> 70	0
INT64	1 << 40	1099511627776
INT64	I << -I	argument cannot be negative: -5
INT64	~I + 1	-5
INT64	-~I	6
INT64	2 * ~I | 1	-11
NUMERIC	DIV(N, M)	-1.000000000
INT64	DIV(-I, 2)	-2
FLOAT64	DIV(F, 2)	function DIV(double precision, bigint) does not exist
INT64	CAST(F AS INT64)	1234567890123456768
NUMERIC	CAST(F AS NUMERIC)	1234567890123456768.000000000
INT64	CAST(0.49999999999999994 AS INT64)	0
INT64	CAST(2.5 AS INT64) + CAST(-2.5 AS INT64) * 10	-27
INT64	CAST(F * 10 AS INT64)	bigint out of range
STRING(MAX)	CAST(CAST(0.0009765625 AS NUMERIC) AS STRING)	0.000976563
STRING(MAX)	CAST(CAST(G AS NUMERIC) AS STRING)	0.100000001
STRING(MAX)	CAST(NUMERIC '2' / 3 AS STRING)	0.666666667
STRING(MAX)	CAST(N / M * M AS STRING)	11.999999998
STRING(MAX)	CAST(NUMERIC '0.00001' * NUMERIC '0.00005' AS STRING)	0.000000001
STRING(MAX)	CAST(N * 0.3 AS STRING)	3.6
STRING(MAX)	CAST(CAST('1.0000000005' AS NUMERIC) AS STRING)	1.000000001
STRING(MAX)	CAST(CASE WHEN Ok THEN N * 1000000000000000 + 0.5 ELSE 0.5 END AS STRING)	12000000000000000.5
NUMERIC	SQRT(N)	3.464101615
BOOL	S IN UNNEST(None)	false
BOOL	S NOT IN UNNEST(None)	true
BOOL	'y' IN UNNEST(A)	\N
BOOL	'x' IN UNNEST(A)	true
BOOL	Id IN UNNEST([5, 7])	true
FLOAT64	G * G	0.010000000298023226
BOOL	G = 0.1 AND G IN (0.1, -0.1) AND NOT G BETWEEN -1.0 AND 0.1 - 0.05	true
FLOAT64	G * 0.1 * -2.5	-0.02500000037252903
FLOAT64	G + I	5.100000001490116
FLOAT64	CAST(CAST(0.1 AS FLOAT32) AS FLOAT64)	0.10000000149011612
STRING(MAX)	TRIM(S)	x
INT64	CHAR_LENGTH(LTRIM(S)) * 10 + CHAR_LENGTH(RTRIM(S))	34
STRING(MAX)	TRIM('xyx', 'x')	y
INT64	IF(Ok, 2000000000, 0) + IF(Ok, 2000000000, 1)	4000000000
INT64	(2000000000) + CASE WHEN Ok THEN 2000000000 END	4000000000
INT64	GREATEST(2000000000, 1) * COALESCE(NULL, 2)	4000000000
INT64	ABS(-2000000000) + [2000000000][OFFSET(0)]	4000000000
INT64	(-(2000000000)) - ([NULL, 2000000000])[OFFSET(1)]	-4000000000
FLOAT64	CEIL(I) / 2	2.5
INT64	-5[OFFSET(0)]	function AT_OFFSET(bigint, bigint) does not exist
TIMESTAMP	TIMESTAMP_SUB(Ts, INTERVAL (-3) DAY)	2026-11-04 08:30:00+00
STRING(MAX)	TO_HEX(SHA256('abc'))	ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
INT64	BYTE_LENGTH(SHA512(CONCAT(S, 'x')))	64
STRING(MAX)	TO_HEX(CAST(S AS BYTES))	09c2a02078e380800a
BOOL	CAST(CAST(S AS BYTES) AS STRING) = S	true
BOOL	I IS DISTINCT FROM NULL	true
BOOL	I IS NOT DISTINCT FROM 5 AND F IS DISTINCT FROM 5	true
BOOL	Ok IS NOT FALSE AND (I = NULL) IS NOT TRUE	true
\.
SELECT t.expression || E'\n  ' || concat_ws(E'\n  ', v.value, v.export) ||
       CASE WHEN v.value IS DISTINCT FROM t.spanner THEN E'\nWRONG: ' || coalesce(t.spanner, 'NULL') ELSE '' END ||
       CASE WHEN v.export <> '' AND (value_of(t.type, v.export)).value IS DISTINCT FROM v.value
            THEN E'\nWRONG export: ' || (value_of(t.type, v.export)).value ELSE '' END
  FROM tests t, value_of(t.type, t.expression) v ORDER BY t.id;

-- an offset is a zone of the database as well
SET spanner.default_time_zone = '+08:00';
SELECT (value_of(type, expression)).value FROM (VALUES ('INT64', 'EXTRACT(HOUR FROM Ts)'), ('DATE', 'CAST(Ts AS DATE)'),
  ('STRING(MAX)', 'CAST(Ts AS STRING)'), ('TIMESTAMP', 'CAST(DATE ''2026-01-01'' AS TIMESTAMP)')) v (type, expression);
SET spanner.default_time_zone = 'UTC+3';
SET spanner.default_time_zone = 'CET';
-- an expression keeps the one that it was created with
SET spanner.default_time_zone = 'Asia/Tokyo';
SELECT spanner.execute_ddl($$CREATE TABLE zones (Id INT64, S STRING(MAX), D DATE,
  T TIMESTAMP AS (CAST(S AS TIMESTAMP)) STORED, T2 TIMESTAMP AS (CAST(D AS TIMESTAMP)) STORED,
  T3 TIMESTAMP AS (SAFE_CAST(S AS TIMESTAMP)) STORED, M TIMESTAMP, T4 TIMESTAMP AS (CAST(M AS TIMESTAMP)) STORED) PRIMARY KEY (Id)$$);
RESET spanner.default_time_zone;
SELECT spanner.spanner_ddl('zones'::regclass);

-- what a column takes from another one has the type of that
SELECT spanner.execute_ddl($$CREATE TABLE chain (Id INT64 NOT NULL, A NUMERIC, Ok BOOL,
  P NUMERIC AS (A * A) STORED, PS STRING(MAX) AS (CAST(P AS STRING)) STORED,
  Q FLOAT64 AS (Id) STORED, QH FLOAT64 AS (Q / 2) STORED,
  R INT64 AS (IF(Ok, 2000000000, 1)) STORED, RR INT64 AS (R + 2000000000) STORED,
  E FLOAT32 AS (0.1) STORED, EE FLOAT64 AS (E + 0) STORED) PRIMARY KEY (Id);
ALTER TABLE chain ADD COLUMN PS2 STRING(MAX) AS (CAST(P AS STRING)) STORED;
ALTER TABLE chain ADD COLUMN QH2 FLOAT64 AS (Q / 2) STORED;
ALTER TABLE chain ADD COLUMN EE2 FLOAT64 AS (E + 0) STORED$$);
INSERT INTO chain VALUES (7, 0.00003, true) RETURNING *;
-- PostgreSQL's own
CREATE TABLE own (id bigint PRIMARY KEY, s text, a text[], r real, CHECK (s = ANY (a)), CHECK (btrim(s) <> ''),
  CHECK (id >> 3 > 0), CHECK (id << 3 > 0), CHECK (r::numeric > 0),
  CHECK (a IS DISTINCT FROM '{x}'), CHECK (nullif(a, '{}') IS NOT NULL), CHECK (s IS DISTINCT FROM 'x'));
SELECT spanner.spanner_ddl('own'::regclass);

SET client_min_messages = warning;
DROP SCHEMA results CASCADE;
