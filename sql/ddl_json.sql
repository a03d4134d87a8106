-- Functions of JSON with the values that GoogleSQL's reference gives for them.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA json_functions;
SET search_path = json_functions;
\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/values.sql'
\i :included
\pset format unaligned
\pset tuples_only
COPY cases (expression, expected) FROM stdin;
JSON_VALUE(JSON '{"name": "Jakob", "age": 6}', '$.age')	6
JSON_VALUE(JSON '{"fruits": ["apple"]}', '$.fruits')	\N
JSON_QUERY(JSON '{"fruits": ["apple"]}', '$.fruits')	["apple"]
JSON_VALUE(JSON '{"a": {"b": true}}', '$.a.b')	true
INT64(JSON '2005')	2005
PARSE_JSON('{"id": 1}')	{"id": 1}
JSON_VALUE(JSON '"x"')	x
STRING(JSON '"purple"')	purple
BOOL(JSON 'true')	true
FLOAT64(JSON '9.8')	9.8
(JSON '{"a": [1, 2]}').a[1]	2
(JSON '{"firstName": {"Last name": 1}, "firstname": 2}').firstName.`Last name`	1
INT64(JSON '1.5')	22P02 invalid input syntax for type bigint: "1.5"
INT64(JSON 'null')	22P02 invalid input syntax for type bigint: "null"
BOOL(JSON 'null')	22P02 invalid input syntax for type boolean: "JSON null"
FLOAT64(JSON 'null')	22P02 invalid input syntax for type double precision: "null"
INT64_ARRAY(JSON '[1, 2]')	{1,2}
STRING_ARRAY(JSON '["a", "b"]')	{a,b}
FLOAT32_ARRAY(JSON '[1, 2.5]')	{1,2.5}
FLOAT64_ARRAY(JSON '[1, 2.5]')	{1,2.5}
BOOL_ARRAY(JSON '[true]')	{t}
LAX_INT64(JSON '"1.6"')	2
LAX_INT64(JSON 'true')	1
LAX_INT64(JSON '"x"')	\N
LAX_BOOL(JSON '"TRUE"')	true
LAX_BOOL(JSON '0')	false
LAX_FLOAT64(JSON '"1.5"')	1.5
LAX_STRING(JSON '10')	10
LAX_STRING(JSON '[]')	\N
JSON_QUERY_ARRAY(JSON '{"a": [1, {"b": 2}]}', '$.a')	{1,"{\\"b\\": 2}"}
JSON_VALUE_ARRAY(JSON '["x", 1, null]')	{x,1,NULL}
JSON_VALUE_ARRAY(JSON '["x", [1]]')	\N
JSON_VALUE_ARRAY(JSON '"x"')	\N
JSON_QUERY_ARRAY('[{"b": 1, "a": [null]}, "x"]', '$')	{"{\\"b\\":1,\\"a\\":[null]}","\\"x\\""}
JSON_VALUE_ARRAY('["x", 1]')	{x,1}
JSON_VALUE('{"a": {"b c": 1, "b c": 2}}', '$.a.b c')	1
JSON_QUERY('{"b": {"k": 1.50, "k": [ ]}}', '$.b')	{"k":1.50,"k":[]}
JSON_QUERY('null', '$')	\N
JSON_QUERY(JSON '{"a": null}', '$.a')	null
JSON_QUERY(JSON '{"a-b": {"c\\\\"": [5]}}', '$.a-b."c\\\\""[0]')	5
JSON_QUERY(JSON '[{"0": 1}]', '$[0][0]')	\N
JSON_VALUE(JSON '{"a": 1}', '$.*')	22023 invalid path in JSON: "$.*"
JSON_VALUE(JSON '{"a": 1}', 'a')	22023 invalid path in JSON: "a"
JSON '{"b": 2, "a": 1, "b": {"a": 1, "a": 2}, "a": 3}'	{"a": 1, "b": 2}
JSON '{"a": 1, "\\u0061": 2, "b": [{"c": 1.50, "c": 2}]}'	{"a": 1, "b": [{"c": 1.5}]}
JSON '{"a": }'	22P02 invalid input syntax for type json
STRING(JSON '1')	22023 cannot cast jsonb numeric to type boolean
STRING(JSON 'true')	22023 cannot cast jsonb boolean to type integer
STRING_ARRAY(JSON '["a", 1]')	22023 cannot cast jsonb numeric to type boolean
(JSON '[1, 2]')[-1]	\N
LAX_STRING(JSON '1.0')	1
LAX_STRING(JSON '1e21')	1e+21
LAX_STRING(JSON '-9223372036854775808')	-9223372036854775808
JSON_VALUE(JSON '{"a": 1e21}', '$.a')	1e+21
JSON_VALUE(JSON '1.0')	1.0
JSON_ARRAY()	[]
JSON_ARRAY(1, 'a"', NULL, [])	[1, "a\\"", null, []]
JSON_ARRAY(1.5, CAST('nan' AS FLOAT64), -CAST('inf' AS FLOAT64), CAST(0.5 AS FLOAT32), NUMERIC '1.50')	[1.5, "NaN", "-Infinity", 0.5, 1.5]
JSON_ARRAY(DATE '2017-03-06', TIMESTAMP '2017-03-06 12:34:56.789012Z', TIMESTAMP '2017-03-06 12:34:56Z')	["2017-03-06", "2017-03-06T12:34:56.789012Z", "2017-03-06T12:34:56Z"]
JSON_ARRAY(b'Google', CAST('F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6' AS UUID), [JSON '{"a": 1}'])	["R29vZ2xl", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", [{"a": 1}]]
TO_JSON('a')	"a"
TO_JSON(NULL)	null
TO_JSON(1.0)	1.0
JSON_OBJECT()	{}
JSON_OBJECT('foo', 10, 'bar', ['a', 'b'])	{"bar": ["a", "b"], "foo": 10}
JSON_OBJECT('a', 10, 'a', 'foo')	{"a": 10}
JSON_OBJECT(['a', 'b', 'a'], [10, NULL, 11])	{"a": 10, "b": null}
JSON_OBJECT(['a'], [10, 11])	22023 field name must not be null
JSON_OBJECT(['a', NULL], [10, 11])	22023 field name must not be null
JSON_OBJECT('a', 1, 'b')	42883 a JSON object needs as many values as keys
JSON_OBJECT(NULL, 1)	22P02 invalid input syntax for type json
JSON_CONTAINS(JSON '[1, 2, 3]', JSON '2')	true
JSON_CONTAINS(JSON '[[1, 2, 3]]', JSON '[2]')	false
JSON_SET(JSON '{"a": 1}', '$', JSON '{"b": 2}')	{"b": 2}
JSON_SET(JSON 'null', '$.a.b', 100)	{"a": {"b": 100}}
JSON_SET(JSON '{"a": 1}', '$.b', 2, '$.a.c', 100, '$.d', NULL)	{"a": 1, "b": 2, "d": null}
JSON_SET(JSON '["a", ["b", "c"], "d"]', '$[1][4]', 'foo')	["a", ["b", "c", null, null, "foo"], "d"]
JSON_SET(JSON '{}', '$.b[2].d', 100, NULLIF('a', 'a'), 1)	{"b": [null, null, {"d": 100}]}
JSON_SET(JSON '{}', '$."a\\\\"b"', 1, '$.c.d', [1, 2])	{"c": {"d": [1, 2]}, "a\\"b": 1}
JSON_SET(JSON '[]', '$[1000000]', 1)	22023 invalid path in JSON: "$[1000000]"
JSON_SET(JSON '[]', '$[-1]', 1)	22023 invalid path in JSON: "$[-1]"
JSON_SET(JSON '{}', '$.a')	42883 function JSON_SET(jsonb, text) does not exist
JSON_SET(JSON '{}', 1, 2)	42883 function JSON_SET(jsonb, bigint, bigint) does not exist
JSON_SET(JSON_QUERY(JSON '1', '$.a'), '$.a', 1)	\N
JSON_ARRAY_APPEND(JSON '["a", ["b"], "c"]', '$[1]', [1, 2], '$[1][1]', [3, 4])	["a", ["b", 1, 2], "c"]
JSON_ARRAY_APPEND(JSON '{"a": null, "b": 1}', '$.a', 10, '$.b', 2, '$.c', 3)	{"a": [10], "b": 1}
JSON_ARRAY_APPEND(JSON '[1]', '$', NULLIF([1], [1]), '$', NULL)	[1, null]
JSON_ARRAY_INSERT(JSON '["a", ["b", "c"], "d"]', '$[1][0]', 1)	["a", [1, "b", "c"], "d"]
JSON_ARRAY_INSERT(JSON '["a", "b"]', '$[1]', [1, 2], '$[6]', 'e')	["a", 1, 2, "b", null, null, "e"]
JSON_ARRAY_INSERT(JSON '{"a": null}', '$.a[2]', 10, '$', 3, '$.b[0]', 4)	{"a": [null, null, 10]}
JSON_REMOVE(JSON '{"a": [1, 2, 3]}', '$.a[0]', '$.a.b', '$.b', '$.a[0]', '$.a[9]')	{"a": [3]}
JSON_REMOVE(JSON '{"0": 1}', '$[0]', NULL)	{"0": 1}
JSON_REMOVE(JSON '{}', '$')	22023 the path "$" cannot be removed
JSON_STRIP_NULLS(JSON '{"a": null, "b": [1, null, [null]]}')	{"b": [1, []]}
JSON_STRIP_NULLS(JSON '{"a": [null], "b": null}', '$.a')	{"a": [], "b": null}
TO_JSON_STRING(JSON '{"bb": 1, "aaa": 2.50, "c": 1e2, "b": ""}')	{"aaa":2.5,"b":"","bb":1,"c":100.0}
TO_JSON_STRING(JSON '{"a b": 1, "a": 2, "a!": 3, "a.b": 4, "": 5}')	{"":5,"a":2,"a b":1,"a!":3,"a.b":4}
TO_JSON_STRING('1')	42883 function TO_JSON_STRING(text) does not exist
FORMAT(CAST(NULL AS STRING), 1)	\N
FORMAT('%t', CAST(NULL AS DATE))	NULL
ARRAY_LENGTH(CAST(NULL AS ARRAY<STRING>))	\N
JSON_ARRAY_APPEND(JSON '[1]', '$', CAST(NULL AS ARRAY<INT64>))	[1]
TO_JSON_STRING(JSON '{"a": [1, " x "], "b": "\\\\\\""}')	{"a":[1," x "],"b":"\\""}
\.
SELECT count(*) AS cases, count(*) FILTER (WHERE v.value IS NOT DISTINCT FROM c.expected) AS right,
       count(v.export) AS exported
  FROM cases c, value_of(c.expression) v;
SELECT concat_ws(E'\n  ', c.expression, coalesce(v.value, 'NULL'), 'not ' || coalesce(c.expected, 'NULL'))
  FROM cases c, value_of(c.expression) v WHERE v.value IS DISTINCT FROM c.expected ORDER BY c.id;
SELECT concat_ws(E'\n  ', c.expression, v.export, (value_of(v.export)).value)
  FROM cases c, value_of(c.expression) v
 WHERE v.export <> '' AND (value_of(v.export)).value IS DISTINCT FROM v.value ORDER BY c.id;

RESET ALL;
\pset format aligned
\pset tuples_only off
SET client_min_messages = error;
DROP SCHEMA json_functions CASCADE;
