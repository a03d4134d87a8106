--
-- Shard ids
--
\pset null NULL
SET TimeZone = 'UTC';

-- Spanner's unsigned form of the schema guide's expression
SELECT count(*) AS wrong
FROM (SELECT timestamptz '2015-03-04 05:06:07.89+00' + n * interval '7 hours 11.25 seconds' AS lastaccess
	  FROM generate_series(-5000, 5000) AS n) AS t
WHERE spanner.shard_id(2048, lastaccess)
	<> abs(mod(spanner.farm_fingerprint(spanner.timestamp_to_string(lastaccess)), 2048));

-- the canonical text of each type: the id is that of the text
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN more_positive AS positive;
CREATE TABLE canonical (n serial, type text, shard integer, canonical text);
INSERT INTO canonical (type, shard, canonical) VALUES
	('smallint', spanner.shard_id(65536, -5::smallint), '-5'),
	('integer', spanner.shard_id(65536, 2147483647), '2147483647'),
	('bigint', spanner.shard_id(65536, (-9223372036854775808)::bigint), '-9223372036854775808'),
	('text', spanner.shard_id(65536, 'a b '::text), 'a b '),
	('varchar', spanner.shard_id(65536, 'a b '::varchar(9)), 'a b '),
	('char', spanner.shard_id(65536, 'a b '::char(9)), 'a b'),
	('name', spanner.shard_id(65536, 'a b '::name), 'a b '),
	('unknown', spanner.shard_id(65536, 'a b '), 'a b '),
	('empty text', spanner.shard_id(65536, ''), ''),
	('bytea', spanner.shard_id(65536, 'a\\b'::bytea), 'a\b'),
	('boolean', spanner.shard_id(65536, true), 'true'),
	('boolean', spanner.shard_id(65536, false), 'false'),
	('uuid', spanner.shard_id(65536, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
	('date', spanner.shard_id(65536, '2024-02-29'::date), '2024-02-29'),
	('date', spanner.shard_id(65536, '10000-01-01'::date), '10000-01-01'),
	('date', spanner.shard_id(65536, '0044-03-15 BC'::date), '-0043-03-15'),
	('date', spanner.shard_id(65536, 'infinity'::date), 'infinity'),
	('date', spanner.shard_id(65536, '-infinity'::date), '-infinity'),
	('timestamp', spanner.shard_id(65536, '2024-02-29 01:02:03.1'::timestamp), '2024-02-29 01:02:03.100'),
	('timestamp', spanner.shard_id(65536, 'infinity'::timestamp), 'infinity'),
	('timestamptz', spanner.shard_id(65536, '2024-02-29 01:02:03.1+02'::timestamptz), '2024-02-28 23:02:03.100+00'),
	('timestamptz', spanner.shard_id(65536, '-infinity'::timestamptz), '-infinity'),
	('numeric', spanner.shard_id(65536, 100.00), '100'),
	('numeric', spanner.shard_id(65536, -0.00), '0'),
	('numeric', spanner.shard_id(65536, -12.3400), '-12.34'),
	('numeric', spanner.shard_id(65536, 0.0000001), '0.0000001'),
	('numeric', spanner.shard_id(65536, 1e20), '100000000000000000000'),
	('numeric', spanner.shard_id(65536, 'NaN'::numeric), 'NaN'),
	('numeric', spanner.shard_id(65536, '-Infinity'::numeric), '-Infinity'),
	('real', spanner.shard_id(65536, 0.1::real), '0.10000000149011612'),
	('double precision', spanner.shard_id(65536, 0.1::double precision), '0.1'),
	('double precision', spanner.shard_id(65536, '-0'::double precision), '0'),
	('double precision', spanner.shard_id(65536, 1e23::double precision), '1e+23'),
	('double precision', spanner.shard_id(65536, 'NaN'::double precision), 'NaN'),
	('double precision', spanner.shard_id(65536, '-Infinity'::double precision), '-Infinity'),
	('enum', spanner.shard_id(65536, 'happy'::mood), 'happy'),
	('domain', spanner.shard_id(65536, 7::more_positive), '7'),
	('NULL', spanner.shard_id(65536, NULL::date), '-'),
	('unknown NULL', spanner.shard_id(65536, NULL), '-'),
	('two keys', spanner.shard_id(65536, 1, 'ab'), '1:12:ab'),
	('three keys', spanner.shard_id(65536, NULL, ''::text, true), '-0:4:true'),
	('array', spanner.shard_id(65536, VARIADIC '{10,NULL,2}'::integer[]), '2:10-1:2'),
	('array of one', spanner.shard_id(65536, VARIADIC '{10}'::more_positive[]), '10'),
	('array of one NULL', spanner.shard_id(65536, VARIADIC '{NULL}'::mood[]), '-'),
	('NULL array', spanner.shard_id(65536, VARIADIC NULL::text[]), '-'),
	('empty array', spanner.shard_id(65536, VARIADIC '{}'::text[]), '');
SELECT type, canonical, shard,
	shard = abs(mod(spanner.farm_fingerprint(canonical), 65536)) AS ok
FROM canonical ORDER BY n;

-- values that are equal in a hash operator family
SELECT spanner.shard_id(65536, 5::smallint) = spanner.shard_id(65536, 5::bigint) AS integers,
	spanner.shard_id(65536, 1.50) = spanner.shard_id(65536, 1.5) AS scale,
	spanner.shard_id(65536, 0.1::real) = spanner.shard_id(65536, 0.1::real::double precision) AS floats,
	spanner.shard_id(65536, '-0'::real) = spanner.shard_id(65536, 0::double precision) AS zeros,
	spanner.shard_id(65536, 'a'::char) = spanner.shard_id(65536, 'a '::char(5)) AS blanks,
	spanner.shard_id(65536, 'pg'::name) = spanner.shard_id(65536, 'pg'::text) AS name;

-- keys do not run into each other
SELECT spanner.shard_id(65536, 'ab', 'c') <> spanner.shard_id(65536, 'a', 'bc') AS borders,
	spanner.shard_id(65536, '-', 'a') <> spanner.shard_id(65536, NULL, 'a') AS nulls,
	spanner.shard_id(65536, '1', 2) = spanner.shard_id(65536, 1, '2'::text) AS types;
SELECT spanner.shard_id(2147483647, 'a'), spanner.shard_id(1, 'a');
SELECT min(s), max(s), count(DISTINCT s) FROM (SELECT spanner.shard_id(7, n) AS s FROM generate_series(1, 1000) AS n) AS t;

-- every use that needs an immutable function, under changed settings
CREATE TABLE access_log (
	shard integer GENERATED ALWAYS AS (spanner.shard_id(16, ts, d, f4, f8, n, b, t)) STORED,
	ts timestamptz, d date, f4 real, f8 double precision, n numeric, b bytea, t text
);
INSERT INTO access_log (ts, d, f4, f8, n, b, t)
SELECT timestamptz '2024-01-01 00:00:00+00' + i * interval '1 day 1.5 seconds', date '2024-01-01' + i,
	i / 7.0, i / 7.0, i / 8.0, i::text::bytea, nullif(i % 10, 0)::text
FROM generate_series(1, 200) AS i;
ALTER TABLE access_log ADD CHECK (shard = spanner.shard_id(16, ts, d, f4, f8, n, b, t));
CREATE INDEX ON access_log (spanner.shard_id(8, ts), ts);
SET TimeZone = 'Asia/Kolkata';
SET DateStyle = 'SQL, DMY';
SET IntervalStyle = 'sql_standard'; SET extra_float_digits = -15;
SET bytea_output = 'escape'; SET lc_numeric = 'C';
SET search_path = pg_catalog;
SELECT count(*) AS rows, count(*) FILTER (WHERE shard <> spanner.shard_id(16, ts, d, f4, f8, n, b, t)) AS wrong
FROM public.access_log;
UPDATE public.access_log SET t = t;
RESET ALL;
DROP TABLE access_log;

-- a partition key
CREATE TABLE part (id bigint) PARTITION BY LIST (spanner.shard_id(2, id));
CREATE TABLE part0 PARTITION OF part FOR VALUES IN (0);
CREATE TABLE part1 PARTITION OF part FOR VALUES IN (1);
INSERT INTO part SELECT generate_series(1, 100);
SELECT count(*) AS rows, count(*) FILTER (WHERE spanner.shard_id(2, id) <> right(tableoid::regclass::text, 1)::integer) AS wrong FROM part;
EXPLAIN (COSTS OFF) SELECT * FROM part WHERE spanner.shard_id(2, id) = 1;
DROP TABLE part;

-- leakproof: the condition goes below a security barrier, to the index
CREATE TABLE secret (id integer, visible boolean);
CREATE INDEX secret_shard ON secret (spanner.shard_id(16, id));
CREATE VIEW visible_secret WITH (security_barrier) AS SELECT * FROM secret WHERE visible;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM visible_secret WHERE spanner.shard_id(16, id) = 3;
RESET ALL;
DROP TABLE secret CASCADE;
SELECT provolatile, proisstrict, proparallel, proleakproof FROM pg_proc WHERE proname = 'shard_id';

-- a constant number of shards below 1 is refused, in planning too
SELECT spanner.shard_id(0, 'a');
SELECT spanner.shard_id(NULL, 'a');
EXPLAIN (COSTS OFF) SELECT spanner.shard_id(-1, n) FROM canonical;
-- any other counts as 1
SELECT n, spanner.shard_id(n, 'a') FROM (VALUES (0), (-2147483648), (NULL)) AS v (n);
PREPARE shard (integer) AS SELECT spanner.shard_id($1, n) FROM canonical LIMIT 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE shard (0);
SET plan_cache_mode = force_custom_plan;
EXECUTE shard (0);

-- types without a canonical text, no key at all
SELECT spanner.shard_id(8, '1'::json);
\set VERBOSITY terse
SELECT spanner.shard_id(8, 1, ROW(1, 2));
SELECT spanner.shard_id(8, VARIADIC '{1 day}'::interval[]);
EXPLAIN (COSTS OFF) SELECT spanner.shard_id(8, ARRAY[n]) FROM canonical;
\set VERBOSITY sqlstate
SELECT spanner.shard_id(8);

DROP TABLE canonical;
DROP DOMAIN more_positive, positive;
DROP TYPE mood;
