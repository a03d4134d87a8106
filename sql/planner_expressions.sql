-- Shard keys that hash expressions over columns: merged always, derived where a
-- value can take the place of the column.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_expressions;
SET search_path = test_shard_expressions;
SET max_parallel_workers_per_gather = 0;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

-- buckets of time
CREATE TABLE member (
  s int GENERATED ALWAYS AS (spanner.shard_id(16, groupname, date_bin('4 days', joined, timestamptz '2000-01-01Z'))) STORED,
  groupname text NOT NULL, joined timestamptz NOT NULL, PRIMARY KEY (s, groupname, joined));
INSERT INTO member (groupname, joined)
SELECT 'g' || i % 5, timestamptz '2025-01-01Z' + i * interval '1 hour' FROM generate_series(1, 20000) i;
-- a text of a time
CREATE TABLE log (s int GENERATED ALWAYS AS (spanner.shard_id(16, spanner.timestamp_to_string(at))) STORED,
  at timestamptz NOT NULL, PRIMARY KEY (s, at));
INSERT INTO log (at) SELECT timestamptz '2025-01-01Z' + i * interval '1 hour' FROM generate_series(1, 20000) i;
-- equal numbers have different texts
CREATE TABLE number (s int GENERATED ALWAYS AS (spanner.shard_id(16, n::text)) STORED, n numeric NOT NULL, PRIMARY KEY (s, n));
INSERT INTO number (n) SELECT i FROM generate_series(1, 20000) i;
CREATE TABLE asked AS SELECT groupname AS g, joined AS j FROM member ORDER BY joined LIMIT 5;
VACUUM ANALYZE;

SELECT plan('SELECT * FROM member WHERE groupname = ''g1'' ORDER BY joined DESC LIMIT 10');
SELECT plan('SELECT * FROM log ORDER BY at DESC LIMIT 10');
SELECT plan('SELECT * FROM number ORDER BY n LIMIT 10');
SELECT plan('SELECT * FROM member WHERE groupname = ''g1'' AND joined = ''2025-02-01 01:00Z''');
SELECT line FROM plan('SELECT * FROM asked JOIN member ON groupname = g AND joined = j') line WHERE line ~ 'Index Cond';
SELECT plan('SELECT * FROM log WHERE at = ''2025-02-01Z''');
SET spanner_keys.enable_shard_list = off;
SELECT count(*) FROM plan('SELECT * FROM number WHERE n = 5.0') line WHERE line ~ 's = ';
SELECT count(*) FROM plan('SELECT * FROM log WHERE at IN (''2025-02-01Z'', ''2025-02-02Z'')') line WHERE line ~ 's = ';
RESET spanner_keys.enable_shard_list;

SELECT q, same(q, true)
  FROM unnest(ARRAY[
    $$SELECT * FROM member WHERE groupname = 'g1' ORDER BY joined DESC LIMIT 10$$,
    $$SELECT * FROM member WHERE groupname = 'g1' AND joined = '2025-02-01 01:00Z'$$,
    $$SELECT * FROM member WHERE groupname = 'g1' AND joined IN ('2025-02-01 01:00Z', '2025-02-06 01:00Z') ORDER BY joined$$,
    $$SELECT * FROM member WHERE (groupname, joined) IN (('g1', '2025-02-01 01:00Z'), ('g2', '2025-02-06 02:00Z')) ORDER BY joined$$,
    $$SELECT * FROM asked JOIN member ON groupname = g AND joined = j ORDER BY j$$,
    $$SELECT * FROM log WHERE at = '2025-02-01Z'$$,
    $$SELECT * FROM log WHERE at = timestamp '2025-02-01'$$,
    $$SELECT * FROM number WHERE n = 5.0$$,
    $$SELECT * FROM number WHERE n = 5$$,
    $$SELECT * FROM number ORDER BY n DESC LIMIT 20$$]) q;

-- the first and the last moment, and a quotient that is no integer
CREATE TABLE local_time (s int GENERATED ALWAYS AS (spanner.shard_id(8, t AT TIME ZONE 'America/New_York')) STORED, t timestamp NOT NULL, PRIMARY KEY (s, t));
CREATE TABLE zone_time (s int GENERATED ALWAYS AS (spanner.shard_id(8, t AT TIME ZONE 'America/New_York')) STORED, t timestamptz NOT NULL, PRIMARY KEY (s, t));
CREATE TABLE bucket_time (s int GENERATED ALWAYS AS (spanner.shard_id(8, date_bin('4 days', t, timestamptz '2001-01-01Z'))) STORED, t timestamptz NOT NULL, PRIMARY KEY (s, t));
CREATE TABLE year_time (s int GENERATED ALWAYS AS (spanner.shard_id(8, date_trunc('year', t))) STORED, t timestamp NOT NULL, PRIMARY KEY (s, t));
CREATE TABLE quotient (s int GENERATED ALWAYS AS (spanner.shard_id(8, n / -1)) STORED, n int NOT NULL, PRIMARY KEY (s, n));
INSERT INTO bucket_time (t) VALUES ('294276-12-31 23:30Z'), ('infinity'), ('-infinity'), ('2026-01-01Z');
SELECT count(*) FROM local_time WHERE t = '294276-12-31 23:30';
SELECT count(*) FROM zone_time WHERE t = '4714-11-24 00:00+00 BC';
SELECT count(*) FROM bucket_time WHERE t = '4714-11-24 00:00+00 BC';
SELECT count(*) FROM year_time WHERE t = '4714-11-24 00:00 BC';
SELECT count(*) FROM quotient WHERE n = -2147483648;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan('SELECT * FROM bucket_time WHERE t = ''2026-01-01Z''');
SET plan_cache_mode = force_generic_plan;
PREPARE moment (timestamptz) AS SELECT count(*) FROM bucket_time WHERE t = $1;
SELECT plan('EXECUTE moment (''2026-01-01Z'')');
EXECUTE moment ('4714-11-24 00:00+00 BC');
EXECUTE moment ('294276-12-31 23:30Z');
EXECUTE moment ('-infinity');
EXECUTE moment ('2026-01-01Z');
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- constants for which a function fails whatever the value is, which no row shows
CREATE TABLE failing (t text, e text);
INSERT INTO failing VALUES
  ('position', $$split_part(x, '-', 0)$$), ('length', 'substr(x, 1, -1)'), ('same_length', 'substring(x, 1, -1)'),
  ('format', $$encode(sha256(b), 'nonsense')$$), ('collation', 'lower(x || y)'), ('comparison', 'x = y'),
  ('unit', $$date_trunc('nonsense', at)$$), ('zone', $$at AT TIME ZONE 'Nowhere'$$),
  ('zone_of_text', $$spanner.timestamp_to_string(moment, 'Nowhere')$$), ('second_part', $$split_part(x, '-', 2)$$),
  ('last_part', $$split_part(x, '-', -1)$$), ('start', 'substr(x, 1, 3)'), ('hex', $$encode(sha256(b), 'HEX')$$),
  ('day', $$date_trunc('DAY', at)$$), ('known_zone', $$at AT TIME ZONE 'Europe/Berlin'$$);
SELECT format('CREATE TABLE failing_%s (s int GENERATED ALWAYS AS (spanner.shard_id(4, %s)) STORED, x text COLLATE "C", y text COLLATE "POSIX",
  b bytea, at timestamp, moment timestamptz)', t, e), format('CREATE INDEX ON failing_%s (s, x)', t) FROM failing \gexec
SET enable_seqscan = off;
SELECT t, count(line) > 0 AS derives FROM failing
  LEFT JOIN plan(format($$SELECT * FROM failing_%s WHERE x = 'a' AND y = 'b' AND b = 'c' AND at = '2026-01-01' AND moment = '2026-01-01'$$, t)) line
         ON line ~ 's = \d' GROUP BY t ORDER BY t COLLATE "C";
RESET enable_seqscan;

-- the planner computes nothing that the owner of a table has written
CREATE FUNCTION bucket(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'computed'; RETURN n / 10; END $$;
CREATE TABLE own (s int GENERATED ALWAYS AS (spanner.shard_id(8, bucket(n))) STORED, n int NOT NULL, PRIMARY KEY (s, n));
SELECT plan('SELECT * FROM own ORDER BY n LIMIT 3');
SET enable_seqscan = off;
SELECT count(*) FROM plan('SELECT * FROM own WHERE n = 5') line WHERE line ~ 's = spanner.shard_id|s = \d';
RESET enable_seqscan;

-- but calls functions in SQL of the extension
CREATE TABLE called (s int GENERATED ALWAYS AS (spanner.shard_id(8, n, spanner_internal.largest_integer(31))) STORED, n int NOT NULL, PRIMARY KEY (s, n));
SET enable_seqscan = off;
SELECT count(*) > 0 AS derives FROM plan('SELECT * FROM called WHERE n = 5') line WHERE line ~ 's = \d';
RESET enable_seqscan;

-- a value that no row can have is no error, and one without a fingerprint is found
CREATE TABLE next (s int GENERATED ALWAYS AS (spanner.shard_id(16, n + 1)) STORED, n int NOT NULL, PRIMARY KEY (s, n));
CREATE TABLE digits (s int GENERATED ALWAYS AS (spanner.shard_id(16, t::bigint)) STORED, t text NOT NULL, PRIMARY KEY (s, t));
CREATE TABLE found (s bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(substring(t FROM '[0-9]+')), 16)) STORED, t text);
CREATE TABLE checked (s bigint NOT NULL CHECK (s = mod(spanner.farm_fingerprint(substring(t FROM '[0-9]+')), 16)), t text);
CREATE TABLE binary_text (s int GENERATED ALWAYS AS (spanner.shard_id(16, b::text)) STORED, b bytea NOT NULL, PRIMARY KEY (s, b));
CREATE TABLE hundreds (s int GENERATED ALWAYS AS (spanner.shard_id(16, n / 100, lower(t) || (n % 10))) STORED, n int, t text);
CREATE INDEX ON found (s, t);
CREATE INDEX ON checked (s, t);
CREATE INDEX ON hundreds (s, n);
INSERT INTO next (n) SELECT generate_series(1, 20);
INSERT INTO digits (t) SELECT generate_series(1, 20);
INSERT INTO found (t) VALUES ('a'), ('1');
INSERT INTO checked VALUES (3, 'a');
INSERT INTO binary_text (b) SELECT i::text::bytea FROM generate_series(1, 20) i;
INSERT INTO hundreds (n, t) SELECT i, 'T' FROM generate_series(1, 2000) i;
ANALYZE next, digits, found, checked, binary_text, hundreds;
SET enable_seqscan = off;
SET bytea_output = 'escape';
SET plan_cache_mode = force_generic_plan;
PREPARE next (int) AS SELECT count(*) FROM next WHERE n = $1;
SELECT count(*) FROM next WHERE n = 2147483647;
EXECUTE next (2147483647);
SELECT count(*) FROM digits WHERE t = 'x';
SELECT count(*) FROM found WHERE t = 'a';
SELECT count(*) FROM checked WHERE t = 'a';
SELECT count(*) FROM binary_text WHERE b IN ('5', '6', '7');
SELECT count(*) FROM hundreds WHERE n = 1234 AND t = 'T';
SELECT count(*) FROM plan('SELECT * FROM hundreds WHERE n = 1234 AND t = ''T''') line WHERE line ~ 's = \d';
RESET plan_cache_mode;
RESET bytea_output;
RESET enable_seqscan;

SELECT tablename, keys, usable, problem, loads_library FROM spanner.shard_keys
 WHERE schemaname = current_schema AND tablename !~ '^failing' ORDER BY tablename;

SET client_min_messages = warning;
DROP SCHEMA test_shard_expressions CASCADE;
