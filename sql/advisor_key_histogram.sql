-- Where rows lie in key space.  All tables are small enough to be read whole.
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

-- the first column of the primary key, in parts of equal width
CREATE TABLE kh_ids (id bigint PRIMARY KEY, other integer, note text);
INSERT INTO kh_ids
  SELECT i, i % 3, CASE WHEN i <= 900 THEN 'x' END FROM generate_series(1, 1000) i;
SELECT * FROM spanner.key_histogram('kh_ids', 5);
SELECT count(*), sum(rows) FROM spanner.key_histogram('kh_ids');

-- of an index, on an expression, and of a part of the rows
CREATE INDEX kh_expression ON kh_ids ((id / 100), id);
CREATE INDEX kh_partial ON kh_ids (id DESC) WHERE id > 990 AND note IS NULL;
SELECT bucket, key_from, key_to, rows FROM spanner.key_histogram('kh_expression', 6);
SELECT bucket, key_from, key_to, rows FROM spanner.key_histogram('kh_partial', 3);

-- a column: few values get a bucket each, and rows without value their own
SELECT * FROM spanner.key_histogram('kh_ids', column_name => 'other');
SELECT * FROM spanner.key_histogram('kh_ids', column_name => 'note');

-- keys that are spread over the whole space of a type have all of it as range
CREATE TABLE kh_spread (id bigint PRIMARY KEY, half integer, random uuid);
INSERT INTO kh_spread
  SELECT spanner.bit_reverse(i, true), spanner.bit_reverse(i, true) >> 32,
         pg_catalog.format('%s-1111-4111-8111-111111111111',
                           lpad(to_hex(i * 4294967295 / 1000), 8, '0'))::uuid
    FROM generate_series(1, 1000) i;
SELECT bucket, key_from, key_to, rows FROM spanner.key_histogram('kh_spread', 4);
SELECT bucket, key_from, key_to, rows FROM spanner.key_histogram('kh_spread', 4, 'half');
SELECT bucket, key_from, key_to, rows FROM spanner.key_histogram('kh_spread', 4, 'random');

-- every kind of type, also what has no end
CREATE DOMAIN kh_cents AS numeric;
CREATE TYPE kh_color AS ENUM ('red', 'green', 'blue', 'grey');
CREATE TABLE kh_types AS
  SELECT i::smallint AS "int2", i::oid AS "oid", i > 90 AS "bool",
         (i / 8.0)::kh_cents AS "numeric", i::float4 AS "float4",
         CASE i WHEN 1 THEN 'NaN'::float8 WHEN 2 THEN '-Infinity' ELSE i END AS "float8",
         CASE i WHEN 1 THEN 'infinity'::date ELSE '2024-01-01'::date + i END AS "date",
         CASE i WHEN 1 THEN '-infinity'::timestamptz ELSE '2024-01-01'::timestamptz + i * interval '1 hour' END AS "timestamptz",
         '2024-01-01'::timestamp + i * interval '1 second' AS "timestamp",
         '00:00'::time + i * interval '1 minute' AS "time",
         ('customer-' || lpad(i::text, 5, '0'))::varchar AS "varchar",
         decode(lpad(to_hex(i), 4, '0'), 'hex') AS "bytea",
         i * interval '1 day' AS "interval",
         ('10.0.0.' || i)::inet AS "inet",
         (enum_range(NULL::kh_color))[1 + i % 4] AS "enum"
    FROM generate_series(1, 100) i;
SELECT a.attname, h.bucket, h.key_from, h.key_to, h.rows
  FROM pg_attribute a
 CROSS JOIN LATERAL spanner.key_histogram('kh_types', 2, a.attname) h
 WHERE a.attrelid = 'kh_types'::regclass AND a.attnum > 0
 ORDER BY a.attnum, h.bucket;
SELECT key_from, rows FROM spanner.key_histogram('kh_types', 32, 'enum');

-- text is compared by its bytes: digits fill the space, and so do letters
CREATE TABLE kh_text AS
  SELECT 'order:' || md5(i::text) AS hex, repeat('ü', 70) || i AS long, '' AS empty
    FROM generate_series(1, 1000) i;
SELECT bucket, left(key_from, 8) AS key_from, left(key_to, 8) AS key_to,
       rows BETWEEN 200 AND 300 AS even
  FROM spanner.key_histogram('kh_text', 4, 'hex');
-- and what is shown is a key that is there
SELECT count(*), bool_and(EXISTS (SELECT FROM kh_text WHERE hex = key_from)),
       bool_and(EXISTS (SELECT FROM kh_text WHERE hex = key_to))
  FROM spanner.key_histogram('kh_text', 16, 'hex');
SELECT bucket, length(key_from), length(key_to), rows
  FROM spanner.key_histogram('kh_text', 4, 'long');
SELECT * FROM spanner.key_histogram('kh_text', 4, 'empty');

-- one value, numbers at the ends of their types
CREATE TABLE kh_ends (a bigint, b float8, c numeric);
INSERT INTO kh_ends VALUES (-9223372036854775808, -1.7e308, '-1e400'),
  (9223372036854775807, 1.7e308, '1e400'), (0, 0, 0);
SELECT * FROM spanner.key_histogram('kh_ends', 3, 'a');
SELECT bucket, key_from, rows FROM spanner.key_histogram('kh_ends', 2, 'b');
SELECT bucket, rows FROM spanner.key_histogram('kh_ends', 3, 'c');
SELECT * FROM spanner.key_histogram('kh_ends', 1, 'b') LIMIT 1;

-- partitioned tables, materialized views, names that need quotes
CREATE TABLE "kh ""part""" ("a""b" integer PRIMARY KEY) PARTITION BY RANGE ("a""b");
CREATE TABLE kh_low PARTITION OF "kh ""part""" FOR VALUES FROM (0) TO (10);
CREATE TABLE kh_high PARTITION OF "kh ""part""" FOR VALUES FROM (10) TO (20);
INSERT INTO "kh ""part""" SELECT generate_series(0, 19);
CREATE MATERIALIZED VIEW kh_matview AS SELECT "a""b" AS id FROM "kh ""part""";
SELECT key_from, key_to, rows FROM spanner.key_histogram('"kh ""part"""', 2);
SELECT key_from, key_to, rows FROM spanner.key_histogram('kh_matview', 2, 'id');

-- however few rows are asked for, some are seen
CREATE TABLE kh_few (id bigint PRIMARY KEY, payload text);
INSERT INTO kh_few SELECT i, repeat('x', 100) FROM generate_series(1, 20000) i;
ANALYZE kh_few;
SELECT sum(rows) FROM spanner.key_histogram('kh_few', 4, sample_rows => 1);

-- what cannot be drawn
CREATE VIEW kh_view AS SELECT 1 AS id;
CREATE TABLE kh_odd (id xml, p point, n integer);
SELECT spanner.key_histogram(NULL);
SELECT spanner.key_histogram('kh_view', 4, 'id');
SELECT spanner.key_histogram('kh_types');
SELECT spanner.key_histogram('kh_types', 4, 'nowhere');
SELECT spanner.key_histogram('kh_types', 4, 'ctid');
SELECT spanner.key_histogram('kh_odd', 4, 'p');
SELECT spanner.key_histogram('kh_odd', 4, 'n');
SELECT spanner.key_histogram('kh_ids', 0);
SELECT spanner.key_histogram('kh_ids', 10001);
SELECT spanner.key_histogram('kh_ids', sample_rows => 0);
SELECT spanner.key_histogram(0);

-- no more ranges than asked for, and no labels that are too long
CREATE TABLE kh_far (few float8, huge numeric);
INSERT INTO kh_far VALUES ('-Infinity', -1e1000), (1, 1e1000), ('Infinity', 1e30), (1, 'NaN');
SELECT key_from, key_to, rows FROM spanner.key_histogram('kh_far', 2, 'few');
SELECT key_from, key_to, rows FROM spanner.key_histogram('kh_far', 2, 'huge');
DROP TABLE kh_far;
