-- What the functions of the advisor refuse, and odd tables, names and settings that they bear.

\set SHOW_CONTEXT never
\pset format unaligned
CREATE SCHEMA odd;
SET search_path = odd;
\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/refused.sql'
\i :included
CREATE TABLE t (id int PRIMARY KEY, at timestamptz, p point);
INSERT INTO t VALUES (1);
CREATE TABLE keyless (j json);
CREATE VIEW v AS SELECT 1 AS id;
CREATE MATERIALIZED VIEW unfilled AS SELECT 1 AS id WITH NO DATA;
CREATE FOREIGN DATA WRAPPER odd_wrapper;
CREATE SERVER odd_server FOREIGN DATA WRAPPER odd_wrapper;
CREATE FOREIGN TABLE far (id int) SERVER odd_server;
CREATE TABLE part (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE COLLATION odd_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE names (name text COLLATE odd_case, born date, PRIMARY KEY (name, born));

SELECT command || E'\n  ' || refused(command) AS "what is refused" FROM (VALUES
  (1, $$SELECT spanner.key_histogram('t', 0)$$),
  (2, $$SELECT spanner.key_histogram('t', 2147483647)$$),
  (3, $$SELECT spanner.key_histogram('t', sample_rows => -1)$$),
  (4, $$SELECT spanner.key_histogram('t', column_name => 'p')$$),
  (5, $$SELECT spanner.key_histogram('t', column_name => 'ctid')$$),
  (6, $$SELECT spanner.key_histogram('t', column_name => '')$$),
  (7, $$SELECT spanner.key_histogram('keyless')$$),
  (8, $$SELECT spanner.key_histogram('v')$$),
  (9, $$SELECT spanner.key_histogram('far')$$),
  (10, $$SELECT spanner.key_histogram('part')$$),
  (11, $$SELECT spanner.key_histogram('unfilled', column_name => 'id')$$),
  (12, $$SELECT spanner.key_histogram(4294967295::oid)$$),
  (20, $$SELECT spanner.key_heatmap('t', -1)$$),
  (21, $$SELECT spanner.key_heatmap_text('t', 1, 2147483647)$$),
  (22, $$SELECT spanner.key_heatmap_html('t', order_by => 'p')$$),
  (23, $$SELECT spanner.key_heatmap_html('part')$$),
  (30, $$SELECT spanner.split_points(-1)$$),
  (31, $$SELECT spanner.split_points(2, 2147483647)$$),
  (32, $$SELECT spanner.split_points(2, 63, -2147483648)$$),
  (33, $$SELECT spanner.create_splits('part', 2147483647, bits => 63)$$),
  (34, $$SELECT spanner.create_splits('part', 2, shards => -2147483648)$$),
  (36, $$SELECT spanner.create_splits(4294967295::oid, 2)$$),
  (37, $$SELECT spanner.split_stats('t')$$),
  (40, $$SELECT spanner.add_shard_key('far')$$),
  (41, $$SELECT spanner.add_shard_key('t', column_name => '')$$),
  (42, $$SELECT spanner.add_shard_key('t', column_name => 'xmin')$$),
  (43, $$SELECT spanner.add_shard_key('t', shards => -2147483648)$$),
  (44, $$SELECT spanner.add_shard_key('names')$$),
  (50, $$SELECT spanner.suggest_shards('Infinity')$$),
  (51, $$SELECT spanner.suggest_shards(1, writes_per_shard => 0)$$),
  (60, $$SELECT spanner.silence_rule('far', 'key_missing')$$),
  (61, $$SELECT spanner.silence_rule('t', 'key_now', 'ctid')$$)
  ) c(number, command) ORDER BY number;
BEGIN READ ONLY;
SELECT refused($$SELECT spanner.add_shard_key('t', dry_run => false)$$) ~ '^25006',
       refused($$SELECT spanner.create_splits('part', 2, bits => 63, dry_run => false)$$) ~ '^25006',
       refused($$SELECT spanner.silence_rule('t', 'key_now')$$) ~ '^25006';
SELECT count(*) > 0 AS advice, (SELECT count(*) FROM spanner.key_histogram('t')) FROM spanner.advise();
ROLLBACK;
SELECT max(shards) FROM spanner.suggest_shards(1e308, 1e308, 2147483647, 1e308, 1e-308);
SELECT spanner.add_shard_key('names', '{born}');

-- advice on what would be refused: none
CREATE TABLE seen (name text COLLATE odd_case PRIMARY KEY);
INSERT INTO seen SELECT lpad(g::text, 6, '0') FROM generate_series(1, 2000) g;
CREATE INDEX seen_again ON seen (name DESC);
ANALYZE seen;
SELECT rule, object, finding, suggestion FROM spanner.advise('seen', 'splits');

-- no false alarms: tables that cannot have a key, indexes that enforce more than the other, names
CREATE TABLE by_expression (id text) PARTITION BY RANGE (spanner.shard_id(4, id));
CREATE TABLE elsewhere (id bigint) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE elsewhere1 PARTITION OF elsewhere DEFAULT SERVER odd_server;
CREATE TABLE deferred (a int PRIMARY KEY DEFERRABLE);
CREATE UNIQUE INDEX deferred_now ON deferred (a);
CREATE TABLE once (id text PRIMARY KEY, a int);
CREATE UNIQUE INDEX once_a ON once (a);
CREATE UNIQUE INDEX once_null ON once (a) NULLS NOT DISTINCT;
CREATE FUNCTION maxidle() RETURNS text LANGUAGE sql AS 'SELECT md5(''1'')';
CREATE TABLE idle (a text DEFAULT maxidle() PRIMARY KEY);
SELECT r, rule, object, suggestion FROM unnest('{by_expression,elsewhere,deferred,once,idle}'::regclass[]) r, spanner.advise(r, 'splits');

-- an empty partition has no rows; a partition by name: its indexes cannot go without the parent's; a child without its parent's columns
CREATE TABLE halves (at timestamptz, k int, PRIMARY KEY (k, at)) PARTITION BY RANGE (at);
CREATE INDEX halves_k ON halves (k);
CREATE INDEX halves_at ON halves (at);
CREATE TABLE half PARTITION OF halves DEFAULT;
CREATE TABLE heir () INHERITS (keyless);
SELECT rows FROM spanner.split_stats('halves');
SELECT r, rule, object, suggestion FROM unnest('{halves,half,keyless,heir}'::regclass[]) r, spanner.advise(r, 'splits');

-- names, and settings that change the meaning of SQL
CREATE SEQUENCE "s)'""";
CREATE TABLE "<t> \'" ("a,""b\" bigint DEFAULT nextval('"s)''"""') PRIMARY KEY);
SET quote_all_identifiers = on;
SELECT rule, suggestion FROM spanner.advise('"<t> \''"', 'splits');
DO $$
BEGIN
  PERFORM set_config('standard_conforming_strings', 'off', false);
EXCEPTION WHEN OTHERS THEN
  NULL;
END $$;
SET search_path = '';
SELECT rule, object FROM spanner.advise('odd.halves', 'splits');
RESET standard_conforming_strings;
RESET quote_all_identifiers;
SET search_path = odd;

-- what somebody stores as an id, or names a function, does not make advice fail
CREATE SEQUENCE ids;
CREATE TABLE named (id text PRIMARY KEY DEFAULT nextval('ids'), a int);
INSERT INTO named SELECT 'N-' || i FROM generate_series(1, 300) i;
ANALYZE named;
CREATE FUNCTION ".x"(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION ".99999"(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE INDEX ON named (".x"(a));
CREATE INDEX ON named (".99999"(a));
SELECT rule, object FROM spanner.advise('named', 'splits');

-- without rights on a schema, or on the table
CREATE ROLE regress_odd_owner;
CREATE ROLE regress_odd_other;
GRANT SELECT ON t TO regress_odd_other;
SET ROLE regress_odd_other;
SELECT rule, finding FROM spanner.advise((SELECT oid FROM pg_class WHERE relname = 't' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'odd')), 'splits');
RESET ROLE;

-- code of the table's owner is not run as somebody else: the constraint of a domain
GRANT ALL ON SCHEMA odd TO regress_odd_owner;
SET ROLE regress_odd_owner;
CREATE FUNCTION tell(value text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''as %'', current_user; RETURN true; END';
CREATE DOMAIN trap AS text CHECK (odd.tell(value));
CREATE DOMAIN trap_in_trap AS trap;
CREATE TABLE bait (a text);
INSERT INTO bait VALUES ('x');
CREATE INDEX bait_trap ON bait ((a::odd.trap_in_trap));
SELECT key_from FROM spanner.key_histogram('bait_trap');
CREATE TYPE hidden AS (a trap);
SET client_min_messages = warning;
CREATE INDEX bait_hidden ON bait ((length(a) + ('(1)'::hidden = '(1)'::hidden)::int));
RESET client_min_messages;
RESET ROLE;
SELECT key_from FROM spanner.key_histogram('bait_trap');
SELECT key_from FROM spanner.key_histogram('bait_hidden');

SET client_min_messages = warning;
DROP SCHEMA odd CASCADE;
DROP FOREIGN DATA WRAPPER odd_wrapper CASCADE;
DROP ROLE regress_odd_owner, regress_odd_other;
