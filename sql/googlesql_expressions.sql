-- Expressions of GoogleSQL in defaults, checks, generated columns and views.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA expressions;
SET search_path = expressions;
SELECT spanner.execute_ddl($$CREATE SEQUENCE Ids BIT_REVERSED_POSITIVE;
CREATE TABLE T (Id INT64 NOT NULL, I INT64, F FLOAT64, N NUMERIC, S STRING(MAX), B BYTES(MAX),
  D DATE, At TIMESTAMP, Ok BOOL, U UUID, J JSON, A ARRAY<STRING(MAX)>) PRIMARY KEY (Id)$$);
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
INT64	MOD(FARM_FINGERPRINT(CAST(At AS STRING)), 2048)
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
STRING(MAX)	STRING(At, "UTC")
STRING(MAX)	STRING(At)
DATE	DATE(At)
DATE	DATE(At, "Asia/Tokyo")
TIMESTAMP	TIMESTAMP_ADD(At, INTERVAL 3 DAY)
TIMESTAMP	TIMESTAMP_TRUNC(At, HOUR)
TIMESTAMP	TIMESTAMP_TRUNC(At, DAY, "UTC")
INT64	EXTRACT(DAY FROM At)
INT64	EXTRACT(HOUR FROM At AT TIME ZONE "UTC")
INT64	UNIX_SECONDS(At)
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
BOOL	At > TIMESTAMP '2016-01-25 00:00:00' AND D = DATE '2026-03-09'
JSON	JSON '{"b": [1]}'
INT64	SOUNDEX(S)
INT64	MOD(Id)
INT64	EXTRACT(5 FROM At)
TIMESTAMP	TIMESTAMP_TRUNC(At, 5)
TIMESTAMP	TIMESTAMP_TRUNC(At,
STRING(MAX)	CAST(F AS STRING)
STRING(MAX)	SUBSTR(S, 2)
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
CREATE TABLE z (at TIMESTAMP, s STRING(MAX) AS (CAST(at AS STRING)) STORED) PRIMARY KEY (at)$$);
INSERT INTO z VALUES ('2026-01-01 12:00Z') RETURNING s;
ROLLBACK;
SET spanner.default_time_zone = 'Nowhere';

-- queries
SELECT spanner.postgresql_ddl(query) FROM (VALUES
  ($$CREATE VIEW v SQL SECURITY DEFINER AS
     WITH x AS (SELECT Id, I / 2 AS half FROM T@{FORCE_INDEX=_BASE_TABLE} WHERE S != "it's")
     SELECT DISTINCT x.Id, half, CAST(At AS STRING) AS text FROM x INNER JOIN T AS t2 ON x.Id = t2.Id
     WHERE EXISTS (SELECT 1 FROM `T` WHERE Ok) ORDER BY 1 DESC LIMIT 10 OFFSET 0$$),
  ($$CREATE OR REPLACE VIEW v SQL SECURITY INVOKER AS SELECT SUM(I) AS total, AVG(I) AS mean,
     COUNT(DISTINCT S) AS n, COUNTIF(Ok) AS oks, MAX(t.at) AS last FROM t
     UNION ALL SELECT 1, 2.5, 3, 4, CURRENT_TIMESTAMP()$$)) q (query);
SELECT spanner.postgresql_ddl('CREATE VIEW v SQL SECURITY INVOKER AS SELECT x / y FROM (SELECT 1 AS x, 2 AS y) AS `s`');
SELECT spanner.postgresql_ddl('CREATE VIEW v SQL SECURITY INVOKER AS SELECT a FROM UNNEST([1]) AS a WITH OFFSET AS `o`');

-- what is too much
\set VERBOSITY terse
SELECT spanner.execute_ddl('CREATE TABLE t2 (a INT64 DEFAULT (1' || repeat(' + 1', 2500) || ')) PRIMARY KEY (a)');
SELECT spanner.execute_ddl('CREATE TABLE t2 (a BOOL DEFAULT (' || repeat('NOT ', 5000) || 'TRUE)) PRIMARY KEY (a)');
SELECT spanner.execute_ddl('CREATE TABLE t2 (' || string_agg('c' || i || ' INT64', ',') || ') PRIMARY KEY ()')
  FROM generate_series(1, 1601) i;
SELECT spanner.execute_ddl('CREATE TABLE t2 (a INT64) PRIMARY KEY (' || repeat('a, ', 32) || 'a)');

SET client_min_messages = warning;
DROP SCHEMA expressions CASCADE;
