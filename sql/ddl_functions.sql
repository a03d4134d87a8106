-- Functions of GoogleSQL with the values that its reference gives for them.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA functions;
SET search_path = functions;
\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/values.sql'
\i :included
\pset format unaligned
\pset tuples_only
COPY cases (expression, expected) FROM stdin;
ABS(-25)	25
(SELECT 1 UNION ALL SELECT 2 INTERSECT DISTINCT SELECT 2 LIMIT 1)	42601 syntax error at or near "INTERSECT"
(SELECT 1 UNION ALL (SELECT 1 INTERSECT DISTINCT SELECT 2) UNION ALL SELECT 1 LIMIT 1)	1
NUMERIC '-1.1234567890'	-1.1234567890
NUMERIC '1.1234567895'	22003 NUMERIC has at most 9 digits after the point: "1.1234567895"
ABS(CAST(-2.5 AS NUMERIC))	2.500000000
SIGN(-3)	-1
SIGN(0.0)	0
IS_NAN(CAST('NaN' AS FLOAT64))	true
IS_INF(IEEE_DIVIDE(1, 0))	true
IEEE_DIVIDE(20, 4)	5
IEEE_DIVIDE(0, 0)	NaN
IEEE_DIVIDE(-25, 0)	-Infinity
SQRT(25)	5
POW(2, 3)	8
POWER(2.0, -1)	0.5
EXP(0)	1
LN(1)	0
LOG(100, 10)	2
LOG10(100)	2
GREATEST(3, 5, 1)	5
GREATEST(3, NULL, 1)	\N
GREATEST('a', 'B')	a
LEAST(3, 5, 1)	1
LEAST(CAST('NaN' AS FLOAT64), 1.0)	NaN
GREATEST(1, 2.5)	2.5
DIV(20, 4)	5
DIV(12, -7)	-1
DIV(0, 20)	0
DIV(20, 0)	22012 division by zero
MOD(25, 12)	1
MOD(-25, 12)	-1
ROUND(2.0)	2
ROUND(2.3)	2
ROUND(2.8)	3
ROUND(2.5)	3
ROUND(-2.5)	-3
ROUND(123.7, -1)	120
ROUND(1.235, 2)	1.24
TRUNC(2.8)	2
TRUNC(-2.8)	-2
TRUNC(1.78, 1)	1.7
CEIL(2.3)	3
CEILING(-2.3)	-2
FLOOR(-2.3)	-3
SAFE_DIVIDE(20, 4)	5
SAFE_DIVIDE(20, 0)	\N
SAFE_ADD(5, 4)	9
SAFE_ADD(9223372036854775807, 1)	\N
SAFE_SUBTRACT(5, 4)	1
SAFE_MULTIPLY(20, 4)	80
SAFE_MULTIPLY(9223372036854775807, 9223372036854775807)	\N
SAFE_NEGATE(+1)	-1
SAFE_NEGATE(-9223372036854775808)	\N
1 / 2	0.5
5 / 0	22012 division by zero
NUMERIC '1' / 3	0.333333333
2 * 3.5	7
NUMERIC '0.1' * 0.5	0.050000000
9223372036854775807 + 1	22003 bigint out of range
1 << 2	4
-1 >> 60	15
-1 >> 0	-1
-1 >> 1	9223372036854775807
-1 >> 64	0
-1 << 63	-9223372036854775808
1 << 64	0
1 << -1	22023 argument cannot be negative: -1
1 >> -1	22023 argument cannot be negative: -1
5 & 6 | 8	12
6 ^ 3	5
~5	-6
BIT_COUNT(-1)	64
0xFF	255
1 = 1.0	true
1 < 2.5	true
3 BETWEEN 1 AND 5 AND NOT 3 IN (1, 2)	true
NULL + NULL	\N
CASE WHEN TRUE THEN 0.5 ELSE 1 END	0.5
IF(FALSE, 1, 2.5)	2.5
COALESCE(NULL, 1.5)	1.5
IFNULL(CAST(NULL AS NUMERIC), 0.1)	0.1
NULLIF(1, 1)	\N
CONCAT('T.P.', ' ', 'Bar')	T.P. Bar
CONCAT('Summer', NULL)	\N
'a' || 'b'	ab
b'ab' || b'c'	\\x616263
[1, 2] || [3]	{1,2,3}
[1, 2] || CAST(NULL AS ARRAY<INT64>)	\N
['a'] || []	{a}
LOWER('A') || UPPER('b') || 'c'	aBc
LOWER('A') || 5	42883 function CONCAT(text, bigint) does not exist
LENGTH('абвгд')	5
LENGTH(b'\\xd0\\xb0')	2
BYTE_LENGTH('абвгд')	10
OCTET_LENGTH('абвгд')	10
CHAR_LENGTH('абвгд')	5
CHARACTER_LENGTH('абвгд')	5
SUBSTR('apple', 2)	pple
SUBSTR('apple', 2, 2)	pp
SUBSTR('apple', -2)	le
SUBSTR('apple', 1, 123)	apple
LENGTH(SUBSTR('apple', 123))	0
SUBSTR('apple', 0)	apple
SUBSTR('apple', -10)	apple
LENGTH(SUBSTR('apple', 123, 5))	0
SUBSTR('apple', 1, -1)	22023 argument cannot be negative: -1
SUBSTRING(b'apple', -3, 2)	\\x706c
LEFT('apple', 3)	app
LEFT(b'apple', 3)	\\x617070
LEFT('apple', -1)	22023 argument cannot be negative: -1
RIGHT('apple', 3)	ple
RIGHT('apple', 9)	apple
RIGHT('apple', -1)	22023 argument cannot be negative: -1
RIGHT(b'apple', 3)	\\x706c65
REPEAT('abc', 3)	abcabcabc
REPEAT('abc', NULL)	\N
REPEAT('abc', -1)	22023 argument cannot be negative: -1
LPAD('abc', 5)	  abc
LPAD('abc', 5, 'de')	deabc
LPAD('abc', 2)	ab
RPAD('abc', 8, 'def')	abcdefde
STRPOS('foo@example.com', '@')	4
STRPOS(b'foo@', b'@')	4
STRPOS('foo', 'x')	0
INSTR('banana', 'an')	2
TRANSLATE('This is a cookie', 'sco', 'zku')	Thiz iz a kuukie
STARTS_WITH('bar', 'b')	true
STARTS_WITH(b'bar', b'ba')	true
ENDS_WITH('apple', 'e')	true
ENDS_WITH('e', 'apple')	false
ENDS_WITH(b'apple', b'le')	true
LOWER('FOO BAR')	foo bar
UPPER('foo')	FOO
INITCAP('hello world')	Hello World
TRIM('   apple   ')	apple
TRIM('***apple***', '*')	apple
LTRIM('***apple***', '*')	apple***
RTRIM('applexxz', 'xyz')	apple
TRIM(b'**a*', b'*')	\\x61
REPLACE('apple pie', 'pie', 'cobbler')	apple cobbler
REVERSE('abc')	cba
SPLIT('b,c', ',')	{b,c}
SPLIT('', ',')	{""}
SPLIT('abc', '')	{a,b,c}
SPLIT('a,b', CAST(NULL AS STRING))	\N
SPLIT('a,b')	{a,b}
ASCII('abcd')	97
ASCII('')	0
UNICODE('â')	226
CHR(65)	A
CHR(255)	ÿ
NORMALIZE('\\u0041\\u030A') = '\\u00C5'	true
NORMALIZE('\\u00C5', NFD) = '\\u0041\\u030A'	true
TO_HEX(b'\\x00\\x01\\x02\\x03\\xAA\\xEE\\xEF\\xFF')	00010203aaeeefff
FROM_HEX('00010203aaeeefff')	\\x00010203aaeeefff
FROM_HEX('0AF')	\\x00af
TO_BASE64(b'\\xde\\xad\\xbe\\xef')	3q2+7w==
FROM_BASE64('3q2+7w==')	\\xdeadbeef
TO_HEX(MD5('Hello World'))	b10a8db164e0754105b7a99be72e3fe5
TO_HEX(SHA256('Hello World'))	a591a6d40bf420404a011733cfb7b190d62c65bf0bcda32b57b277d9ad9f146e
FARM_FINGERPRINT('foo')	6150913649986995171
REGEXP_CONTAINS('foo@example.com', r'@[a-zA-Z0-9-]+\\.[a-zA-Z0-9-.]+')	true
REGEXP_CONTAINS('www.example.net', r'@[a-zA-Z0-9-]+\\.[a-zA-Z0-9-.]+')	false
REGEXP_CONTAINS('a1', r'^\\w\\d$')	true
'abc' LIKE 'a%'	true
CAST(1.0 AS STRING)	1
CAST(0.1 AS STRING)	0.1
CAST(123456789012345680.0 AS STRING)	1.2345678901234568e+17
CAST(CAST('inf' AS FLOAT64) AS STRING)	inf
CAST(CAST('nan' AS FLOAT64) AS STRING)	nan
CAST(CAST(0.1 AS FLOAT32) AS STRING)	0.1
CAST(TRUE AS STRING)	true
CAST(b'\\x41' AS STRING)	A
CAST(DATE '2014-09-27' AS STRING)	2014-09-27
CAST(TIMESTAMP '2014-09-27 12:00:00+00' AS STRING)	2014-09-27 05:00:00-07
CAST('0x12' AS INT64)	18
CAST('-0x123' AS INT64)	-291
CAST('12' AS INT64) + 1	13
CAST('1.5' AS INT64)	22P02 invalid value for type bigint: "1.5"
CAST(2.5 AS INT64)	3
CAST(-1.5 AS INT64)	-2
CAST(NUMERIC '1.5' AS INT64)	2
CAST(TRUE AS INT64)	1
CAST('true' AS BOOL)	true
CAST('yes' AS BOOL)	22P02 invalid value for type boolean: "yes"
CAST('1' AS BOOL)	22P02 invalid value for type boolean: "1"
CAST(0 AS BOOL)	false
SAFE_CAST('apple' AS INT64)	\N
SAFE_CAST('yes' AS BOOL)	\N
SAFE_CAST('12' AS INT64)	12
SAFE_CAST(12 AS STRING)	12
CAST('abc' AS STRING(2))	0A000 a length in a cast is not supported
SAFE_CAST(1e30 AS INT64)	\N
SAFE_CAST(NUMERIC '99999999999999999999' AS INT64)	\N
SAFE_CAST(NUMERIC '9223372036854775807.4' AS INT64)	9223372036854775807
[1, 2, 3][OFFSET(0)]	1
[1, 2, 3][ORDINAL(3)]	3
[1, 2, 3][OFFSET(9)]	2202E array index 9 is out of bounds
[1, 2, 3][SAFE_OFFSET(9)]	\N
['a', 'b'][SAFE_ORDINAL(2)]	b
ARRAY_LENGTH(['a', NULL])	2
ARRAY_LENGTH([NULL, NULL])	2
ARRAY_TO_STRING(['coffee', 'tea', NULL], ',')	coffee,tea
ARRAY_TO_STRING(['coffee', NULL], ',', 'MISSING')	coffee,MISSING
ARRAY_CONCAT([1, 2], [3])	{1,2,3}
ARRAY_REVERSE([1, 2, 3])	{3,2,1}
ARRAY_FIRST(['a', 'b'])	a
ARRAY_LAST(['a', 'b'])	b
ARRAY_INCLUDES([1, 2, 3], 2)	true
ARRAY_INCLUDES_ANY([1, 2], [2, 5])	true
ARRAY_INCLUDES_ALL([1, 2], [2, 5])	false
2 IN UNNEST([1, 2])	true
ARRAY(SELECT 1)	{1}
EXISTS (SELECT 1)	true
(SELECT COUNT(*) FROM UNNEST([1, 2]) AS x) / 4	0.5
(SELECT SUM(x) FROM UNNEST([1, 2]) AS x)	3
(SELECT AVG(x) FROM UNNEST([1, 2]) AS x)	1.5
(SELECT AVG(x) FROM UNNEST([NUMERIC '1', NUMERIC '1', NUMERIC '2']) AS x)	1.333333333
(SELECT MAX(x) FROM UNNEST([1, 2]) AS x)	2
(SELECT LOGICAL_AND(x > 0) FROM UNNEST([1, 2]) AS x)	true
(SELECT COUNTIF(x > 1) FROM UNNEST([1, 2]) AS x)	1
(SELECT STRING_AGG(x, '|') FROM UNNEST(['a', 'b']) AS x)	a|b
(SELECT ARRAY_AGG(x ORDER BY x DESC) FROM UNNEST([1, NULL, 2]) AS x)	{2,1,NULL}
(SELECT STRING_AGG(DISTINCT x, '' ORDER BY x) FROM UNNEST(['b', 'a', 'b']) AS x)	ab
(SELECT MAX(n) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY x ORDER BY x) AS n FROM UNNEST([1, 1]) AS x))	2
(SELECT SUM(n) FROM (SELECT COUNT(*) OVER () AS n FROM UNNEST([1, 1]) AS x) AS s)	4
ARRAY_MAX([1, NULL, 3])	3
ARRAY_MIN(['b', 'B'])	B
ARRAY_MIN([1.0, CAST('nan' AS FLOAT64)])	NaN
ARRAY_SLICE(['a', 'b', 'c', 'd'], 1, -2)	{b,c}
ARRAY_SLICE([1, 2], -9, 9)	{1,2}
ARRAY_SLICE([1, 2], 1, 0)	{}
ARRAY_IS_DISTINCT([1, NULL, NULL])	false
ARRAY_CONCAT([1], [2], [3])	{1,2,3}
GENERATE_ARRAY(1, 5, 2)	{1,3,5}
GENERATE_ARRAY(3, 1, -1)	{3,2,1}
GENERATE_ARRAY(3, 1)	{}
GENERATE_ARRAY(1, 3, 0)	22023 step size cannot equal zero
GENERATE_ARRAY(1, 9223372036854775807)	22023 generated array has more than 16000 elements
LOWER('AbC')	abc
UCASE('abc')	ABC
LCASE('A')	a
INITCAP("don't worry-be happy")	Don't Worry-Be Happy
INITCAP('a1b c', '1')	A1B c
INITCAP('over\\vover')	Over\vOver
INITCAP('', 'x') = ''	true
TRIM('\\v\\u00a0\\u3000 vev \\u2028')	vev
SAFE_CAST('.' AS FLOAT64)	\N
SAFE_CAST('2020-01-01 10:00:00 Nowhere' AS TIMESTAMP)	\N
CAST('2020-01-01 10:00:00+15:00' AS TIMESTAMP)	22P02 invalid value for type timestamp: "2020-01-01 10:00:00+15:00"
REVERSE(b'ab')	\\x6261
LPAD(b'ab', 3, b'x')	\\x786162
FORMAT('%d|%5d|%-5d|%05d|%+d', 7, -7, 7, -7, 7)	7|   -7|7    |-0007|+7
FORMAT('%x %X', 255, 255)	ff FF
FORMAT("%'d", 1234567)	22023 format "%'d" is not supported by format()
FORMAT('%s-%5s-%-5s-%.2s', 'a', 'b', 'c', 'äbc')	a-    b-c    -äb
FORMAT('%f %.2f %e %g', 1.5, 2.345, 1.5, 0.0001)	1.500000 2.35 1.500000e+00 0.0001
FORMAT('%.2f', NUMERIC '-2.345')	-2.35
FORMAT('%t %t %t %t', 1, 1.0, TRUE, 'x')	1 1.0 true x
FORMAT('%T %T %T', 'a"b', b'\\xff', DATE '2024-01-02')	'a"b' b"\\xff" DATE "2024-01-02"
FORMAT('%t', TIMESTAMP '2024-01-02 03:04:05.5Z')	2024-01-02 03:04:05.500+00
FORMAT('%T', [1, NULL])	[1, NULL]
FORMAT('%d', NULL)	\N
FORMAT('%t', NULL)	NULL
FORMAT('100%%')	100%
FORMAT('%d', 'x')	42804 format() of text with %d is not supported
FORMAT('%d')	22023 format "%d" is not supported by format()
FORMAT('x', 1)	22023 format "x" is not supported by format()
TO_HEX(SHA1('Hello World'))	0a4d55a8d778e5022fab701977c5d840bbc486d0
REGEXP_EXTRACT('foo@example.com', r'^[a-zA-Z0-9_.+-]+')	foo
REGEXP_EXTRACT('foo@example.com', r'^[a-zA-Z0-9_.+-]+@([a-zA-Z0-9-]+\\.[a-zA-Z0-9-.]+$)')	example.com
REGEXP_EXTRACT('abc', 'x')	\N
REGEXP_EXTRACT('a bar', r'\\b(foo|bar)\\b')	bar
REGEXP_EXTRACT('ab', 'a|ab')	0A000 this regular expression is not supported
REGEXP_EXTRACT('ab', 'a*?')	0A000 this regular expression is not supported
REGEXP_EXTRACT('ab', '(a)(b)')	0A000 this regular expression is not supported
REGEXP_EXTRACT('ab', '(?:ab)?')	0A000 this regular expression is not supported
REGEXP_EXTRACT_ALL('a1b22', '[0-9]+')	{1,22}
REGEXP_EXTRACT_ALL('a', 'x*')	0A000 this regular expression is not supported
REGEXP_REPLACE('# Heading', r'^# ([a-zA-Z0-9\\s]+$)', r'<h1>\\1</h1>')	<h1>Heading</h1>
REGEXP_REPLACE('a1b2', '[0-9]', r'<\\0>')	a<1>b<2>
REGEXP_REPLACE('a', 'a', r'\\a')	22023 invalid replacement for a regular expression: "\\a"
REGEXP_CONTAINS('a b', r'\\bb')	true
REGEXP_CONTAINS('ab', r'\\bb')	false
REGEXP_CONTAINS('x1', '[[:alpha:]][[:digit:]]')	true
SAFE_CAST('x' AS FLOAT64)	\N
SAFE_CAST('1e400' AS FLOAT64)	Infinity
SAFE_CAST('-inf' AS FLOAT64)	-Infinity
SAFE_CAST('0x1' AS FLOAT64)	\N
SAFE_CAST(1e300 AS FLOAT32)	\N
SAFE_CAST('1.0000000005' AS NUMERIC)	1.000000001
SAFE_CAST('1e30' AS NUMERIC)	\N
SAFE_CAST('x' AS NUMERIC)	\N
SAFE_CAST(1e30 AS NUMERIC)	\N
CAST('x' AS NUMERIC)	22P02 invalid value for type numeric: "x"
SAFE_CAST('x' AS BYTES)	\\x78
SAFE_CAST('x' AS UUID)	\N
TO_CODE_POINTS('aé')	{97,233}
TO_CODE_POINTS(b'\\x00\\xff')	{0,255}
CODE_POINTS_TO_STRING([65, 255])	Aÿ
CODE_POINTS_TO_STRING([65, NULL])	\N
CODE_POINTS_TO_BYTES([65, 255])	\\x41ff
SUBSTR('apple', NULL)	\N
SUBSTR(b'apple', NULL, 2)	\N
RIGHT('apple', NULL)	\N
RIGHT(b'apple', NULL)	\N
CODE_POINTS_TO_BYTES([256])	22003 smallint out of range
CODE_POINTS_TO_BYTES([-1])	22023 argument cannot be negative: -128
CODE_POINTS_TO_STRING([0])	54000 null character not permitted
SIGN(CAST('nan' AS FLOAT64))	NaN
ROUND(1.005, 2)	1
ROUND(2.675, 2)	2.67
ROUND(0.125, 2)	0.13
ROUND(-15.0, -1)	-20
ROUND(1e300, -400)	0
ROUND(1.7e308, -308)	22003 double precision out of range
ROUND(CAST('inf' AS FLOAT64), 1)	Infinity
ROUND(1.5, 9223372036854775807)	1.5
TRUNC(2.29, 1)	2.2
TRUNC(-1999.9, -3)	-1000
COSH(1000)	22003 value out of range: overflow
SINH(-1000)	22003 value out of range: overflow
COSH(CAST('-inf' AS FLOAT64))	Infinity
ATANH(1)	22003 value out of range: overflow
LOG(8, CAST('inf' AS FLOAT64))	NaN
SAFE_ADD(NUMERIC '99999999999999999999999999999', NUMERIC '1')	\N
SAFE_MULTIPLY(NUMERIC '99999999999999999999999999999', NUMERIC '10')	\N
SAFE_DIVIDE(NUMERIC '1', NUMERIC '3')	0.333333333
CAST(' 12\\n' AS INT64)	12
CAST(' 1.5 ' AS FLOAT64)	1.5
CAST('\\t-1.5 ' AS NUMERIC)	-1.500000000
SAFE_CAST(' ' AS INT64)	\N
SAFE_CAST('1 2' AS FLOAT64)	\N
SAFE_CAST('{f81d4fae7dec-11d0-a765-00a0c91e6bf6}' AS UUID)	f81d4fae-7dec-11d0-a765-00a0c91e6bf6
SAFE_CAST('{f81d4fae-7dec-11d0-a765-00a0c91e6bf6' AS UUID)	\N
ARRAY_SLICE(['a', 'b', 'c'], 1, 9223372036854775807)	{b,c}
ARRAY_SLICE(['a', 'b', 'c'], -9223372036854775808, -2)	{a,b}
FORMAT('%x', -1)	22003 unsigned number out of range
FORMAT('%E %G', 1.5, 1e10)	1.500000E+00 1E+10
FORMAT('%T %T', CAST('nan' AS FLOAT32), CAST('-inf' AS FLOAT64))	CAST("nan" AS FLOAT32) CAST("-inf" AS FLOAT64)
FORMAT('%t', JSON '1')	42804 format() of jsonb with %t or %T is not supported
REGEXP_CONTAINS('a', r'***x')	0A000 this regular expression is not supported
REGEXP_CONTAINS('a', r'[\\W]')	0A000 this regular expression is not supported
CAST(1e40 AS NUMERIC)	22P02 invalid value for type numeric: "1e40"
NOT NOT TRUE	true
.5 + 1	1.5
INTERVAL 5 DAY	0A000 Type <interval> is not supported.
TRIM(1 AS INT64)	42601 syntax error at or near "TRIM"
ARRAY<INT64>[]	{}
ARRAY<INT64>[1, NULL]	{1,NULL}
ARRAY<FLOAT64>[1, 2.5]	{1,2.5}
ARRAY<BYTES>[b'a']	{"\\\\x61"}
'\\x4'	22025 invalid escape sequence
'\\400'	22025 invalid escape sequence
b'\\x4g'	22025 invalid escape sequence
1 =- 1	false
\.
SELECT count(*) AS cases, count(*) FILTER (WHERE v.value IS NOT DISTINCT FROM c.expected) AS right,
       count(v.export) AS exported
  FROM cases c, value_of(c.expression) v;
SELECT concat_ws(E'\n  ', c.expression, coalesce(v.value, 'NULL'), 'not ' || coalesce(c.expected, 'NULL'))
  FROM cases c, value_of(c.expression) v WHERE v.value IS DISTINCT FROM c.expected ORDER BY c.id;
SELECT concat_ws(E'\n  ', c.expression, v.export, (value_of(v.export)).value)
  FROM cases c, value_of(c.expression) v
 WHERE v.export <> '' AND (value_of(v.export)).value IS DISTINCT FROM v.value ORDER BY c.id;

-- types are PostgreSQL's, whatever the names: a column of a subquery is not one of the table
SELECT spanner.execute_ddl($$CREATE TABLE A (V FLOAT64, N STRING(MAX)) PRIMARY KEY ();
CREATE VIEW halves SQL SECURITY INVOKER AS
  SELECT S.V / 2 AS half, CAST(S.N AS INT64) AS whole FROM (SELECT COUNT(*) AS V, 2.5 AS N FROM A) AS S;
CREATE VIEW sums SQL SECURITY INVOKER AS
  WITH w AS (SELECT 1 AS V UNION ALL SELECT 2) SELECT SUM(w.V) / 2 AS x, MAX(w.V) / COUNT(*) AS y FROM w$$);
INSERT INTO a VALUES (1, 'x');
SELECT * FROM halves, sums;
-- those of FLOAT32 would be other values
\set VERBOSITY terse
SELECT spanner.execute_ddl('CREATE TABLE R (G FLOAT32, H FLOAT32) PRIMARY KEY ()');
SELECT spanner.execute_ddl('CREATE VIEW r1 SQL SECURITY INVOKER AS SELECT R.G FROM R WHERE R.G = 0.1', 'googlesql');
SELECT spanner.execute_ddl('CREATE VIEW r2 SQL SECURITY INVOKER AS SELECT R.G + R.H AS x FROM R', 'googlesql');
SELECT spanner.execute_ddl('CREATE VIEW r4 SQL SECURITY INVOKER AS SELECT (SELECT SUM(R.H) FROM R AS S) AS x FROM R', 'googlesql');
SELECT spanner.execute_ddl('CREATE VIEW r3 SQL SECURITY INVOKER AS SELECT R.G / R.H AS x, R.G * 2.5 AS y, SUM(R.G) AS z
  FROM R WHERE R.G < R.H GROUP BY R.G, R.H', 'googlesql');

RESET ALL;
\pset format aligned
\pset tuples_only off
SET client_min_messages = error;
DROP SCHEMA functions CASCADE;
