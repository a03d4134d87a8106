-- Expressions of GoogleSQL in each other: what they become, and what is planned of it, is linear.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA nesting;
SET search_path = nesting;

-- expressions of such a depth, what they become, and how much is planned
CREATE FUNCTION nested(template text, depth integer) RETURNS text LANGUAGE plpgsql AS $$
  BEGIN
    RETURN CASE depth WHEN 0 THEN substring(template FROM '\{(.*)\}')
                ELSE regexp_replace(template, '\{.*\}', nested(template, depth - 1)) END;
  END $$;
CREATE FUNCTION translated(expression text) RETURNS text LANGUAGE sql
  RETURN (SELECT substring(d FROM ' AS SELECT (.*) AS x FROM t$') FROM spanner.postgresql_ddl(
    format('CREATE VIEW w SQL SECURITY INVOKER AS SELECT %s AS x FROM t', expression), 'googlesql') d);
CREATE FUNCTION plan_length(expression text, total integer DEFAULT 0) RETURNS integer LANGUAGE plpgsql AS $$
  DECLARE line text;
  BEGIN
    FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) SELECT ' || expression || ' FROM t' LOOP
      total := total + length(line);
    END LOOP;
    RETURN total;
  END $$;
SELECT spanner.execute_ddl('CREATE TABLE T (I INT64, F FLOAT64, N NUMERIC, S STRING(MAX), B BYTES(MAX), D DATE,
  P TIMESTAMP, Ok BOOL, J JSON, A ARRAY<INT64>) PRIMARY KEY ()', 'googlesql');
\pset format unaligned
\pset tuples_only
CREATE TABLE templates (template text);
COPY templates FROM stdin;
({F} / 2)
({N} / 3)
({N} * N)
({I} + I * 2)
-({I})
~({I})
({I} << 2)
({I} >> I)
({I} & 5 | 3)
({S} || S)
CONCAT({S}, 'x')
IF({I} > 0, 1, 2)
CASE {I} WHEN 1 THEN 2 ELSE 3 END
COALESCE({S}, S)
NULLIF({I}, 1)
IFNULL({N}, 0.5)
GREATEST({I}, 2, I)
LEAST({S}, 'x')
ABS({I})
MOD({I}, 5)
DIV({I}, 5)
SIGN({N})
ROUND({N}, 2)
ROUND({F})
TRUNC({F}, 1)
SQRT({N})
SAFE_DIVIDE({F}, 2)
SAFE_DIVIDE({N}, 2)
SAFE_ADD({I}, 2)
SAFE_NEGATE({I})
SUBSTR({S}, 2)
SUBSTR({S}, -2, 2)
SUBSTR({B}, 2)
LEFT({S}, 2)
RIGHT({S}, 2)
REPEAT({S}, 2)
LPAD({S}, 9, '-')
TRIM({S})
LTRIM({S}, 'x')
UPPER({S})
REPLACE({S}, 'a', 'b')
SPLIT({S}, ',')[OFFSET(0)]
CHR(ASCII({S}))
NORMALIZE({S})
TO_HEX(FROM_HEX({S}))
TO_BASE64(SHA256({S}))
CAST({I} AS INT64)
CAST(CAST({I} AS STRING) AS INT64)
CAST(CAST({N} AS STRING) AS NUMERIC)
CAST(CAST({F} AS STRING) AS FLOAT64)
CAST(CAST({B} AS STRING) AS BYTES)
CAST(CAST({P} AS DATE) AS TIMESTAMP)
SAFE_CAST(CAST({Ok} AS STRING) AS BOOL)
IF({I} IN (1, I), 1, 2)
IF({I} BETWEEN 1 AND I, 1, 2)
({Ok} IS NOT TRUE)
NOT ({Ok})
IF({S} LIKE S, 'x', 'y')
IF(STARTS_WITH({S}, 'x'), 'x', 'y')
DATE_ADD({D}, INTERVAL 1 MONTH)
DATE_TRUNC({D}, WEEK)
DATE_FROM_UNIX_DATE(DATE_DIFF({D}, D, DAY))
DATE(EXTRACT(YEAR FROM {D}), 1, 1)
TIMESTAMP_ADD({P}, INTERVAL 1 DAY)
TIMESTAMP_TRUNC({P}, HOUR)
TIMESTAMP_SECONDS(UNIX_SECONDS({P}))
TIMESTAMP_MICROS(TIMESTAMP_DIFF({P}, P, MICROSECOND))
TIMESTAMP(STRING({P}))
JSON_QUERY({J}, '$.a')
ARRAY_CONCAT({A}, A)
ARRAY_CONCAT({A}, A, A)
ARRAY_FIRST([{I}])
ARRAY_LENGTH([{I}, I])
IF({I} IN UNNEST(A), 1, 2)
IF(ARRAY_INCLUDES(A, {I}), 1, 2)
IF(REGEXP_CONTAINS({S}, '^x'), 'x', 'y')
REGEXP_EXTRACT({S}, '^x')
REGEXP_REPLACE({S}, 'x', 'y')
REGEXP_EXTRACT_ALL({S}, 'x')[OFFSET(0)]
INITCAP({S})
FORMAT('%s %s', {S}, S)
FORMAT_DATE('%F', PARSE_DATE('%F', {S}))
FORMAT_TIMESTAMP('%F', PARSE_TIMESTAMP('%F', {S}))
TO_HEX(SHA1({S}))
LPAD({B}, 9, b'-')
REVERSE({B})
CODE_POINTS_TO_STRING(TO_CODE_POINTS({S}))
SAFE_CAST(CAST({N} AS STRING) AS NUMERIC)
SAFE_CAST(CAST({F} AS STRING) AS FLOAT64)
LAX_STRING(TO_JSON({S}))
JSON_SET({J}, '$.a', J)
JSON_OBJECT('a', {J})
TO_JSON_STRING(PARSE_JSON({S}))
ARRAY_SLICE({A}, 1, 2)
ARRAY_MAX([{I}])
ARRAY_LENGTH(GENERATE_ARRAY(1, {I}))
\.
-- none is much longer than what it is made of
SELECT t.template, e.depth, round(length(translated(e.e)) / length(e.e)::numeric, 1) AS times
  FROM templates t, LATERAL (SELECT d AS depth, nested(t.template, d) AS e FROM unnest('{1,12}'::int[]) d) e
 WHERE length(translated(e.e)) > 30 * length(e.e);
-- twice as deep, about twice as long
SELECT template, e.n, e.m FROM templates,
  LATERAL (SELECT plan_length(translated(nested(template, 32))) AS n, plan_length(translated(nested(template, 64))) AS m) e
 WHERE e.m > 2.5 * e.n;

-- nor is the way back longer than what it came from
CREATE FUNCTION exported(expression text, OUT export text) LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM spanner.execute_ddl(format('CREATE VIEW w SQL SECURITY INVOKER AS SELECT %s AS x FROM t', expression), 'googlesql');
    export := spanner_internal.googlesql_query('w'::regclass);
    DROP VIEW w;
  END $$;
SELECT template, length(e.e) AS length, length(exported(e.e)) AS export FROM templates, LATERAL nested(template, 10) e (e)
 WHERE length(exported(e.e)) > 5 * length(e.e);

\set VERBOSITY terse
-- generated columns take each other's expressions along, up to a size
SELECT spanner.execute_ddl('CREATE TABLE grow (a STRING(MAX), '
  || string_agg(format('b%s STRING(MAX) AS (CONCAT(b%s, b%s)) STORED', i, i - 1, i - 1), ', ')
  || ', b0 STRING(MAX) AS (LOWER(a)) STORED) PRIMARY KEY ()', 'googlesql') FROM generate_series(1, 30) i;


\set VERBOSITY default
RESET ALL;
\pset format aligned
\pset tuples_only off
SET client_min_messages = error;
DROP SCHEMA nesting CASCADE;
