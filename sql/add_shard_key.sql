-- Shard columns for existing tables, and how many shards a load wants.

CREATE SCHEMA ask;
SET search_path = ask;
\set SHOW_CONTEXT never

-- a dry run tells the statements, and changes nothing
CREATE TABLE log (at timestamptz, k int, note text, PRIMARY KEY (at, k) INCLUDE (note) WITH (fillfactor = 80));
COMMENT ON CONSTRAINT log_pkey ON log IS 'it''s the key';
INSERT INTO log SELECT timestamptz '2020-01-01 00:00 UTC' + g * interval '1 hour', g, 'x' FROM generate_series(1, 1000) g;
SELECT spanner.add_shard_key('log');
SELECT spanner.add_shard_key('log', '{k}', 8, 'Shard "k"', dry_run => NULL);
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'log'::regclass AND contype = 'p';

-- the statements as they are, run
SELECT count(*) FROM spanner.add_shard_key('log', dry_run => false);
SELECT pg_get_constraintdef(oid), obj_description(oid) FROM pg_constraint WHERE conrelid = 'log'::regclass AND contype = 'p';
SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'log'::regclass;
SELECT count(*), count(*) FILTER (WHERE shard_id = spanner.shard_id(16, at, k)), count(DISTINCT shard_id) FROM log;
INSERT INTO log VALUES ('2020-01-01 01:00 UTC', 1, 'again');

-- another number of shards, by time buckets: a day is in one shard
SELECT spanner.add_shard_key('log', 'at', 4, time_bucket => '1 day', dry_run => false);
SELECT max(count) FROM (SELECT count(DISTINCT shard_id) FROM log GROUP BY date_trunc('day', at AT TIME ZONE 'UTC')) q;
SELECT count(DISTINCT shard_id) FROM log;

-- the old key can stay unique, and the shard column goes again
\set VERBOSITY terse
SELECT spanner.add_shard_key('log', shards => 8, keep_unique => true);
\set VERBOSITY default
SELECT spanner.remove_shard_key('log');
SELECT spanner.remove_shard_key('log', dry_run => false);
SELECT pg_get_constraintdef(oid), obj_description(oid) FROM pg_constraint WHERE conrelid = 'log'::regclass AND contype = 'p';
CREATE TABLE narrow (at timestamptz PRIMARY KEY, note text);
INSERT INTO narrow SELECT timestamptz '2020-01-01 00:00 UTC' + g * interval '1 hour' FROM generate_series(1, 100) g;
SELECT spanner.add_shard_key('narrow', 'at', keep_unique => true, dry_run => false);
INSERT INTO narrow VALUES ('2020-01-01 01:00 UTC', 'first') ON CONFLICT (at) DO UPDATE SET note = 'second';
CREATE TABLE beside (at timestamptz REFERENCES narrow (at));
SELECT spanner.remove_shard_key('narrow', dry_run => false);
SELECT count(*) FROM pg_statistic_ext WHERE stxrelid = 'narrow'::regclass;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid IN ('narrow'::regclass, 'beside'::regclass) AND contype <> 'n' ORDER BY 1;
SELECT spanner.remove_shard_key('narrow');
SELECT spanner.remove_shard_key('narrow', 'note');
SELECT spanner.remove_shard_key(NULL);
SELECT count(*) FROM spanner.add_shard_key('log', dry_run => false);

-- a shard column that something else uses is not made anew
CREATE INDEX log_shard ON log (k, shard_id);
SELECT spanner.add_shard_key('log', shards => 8);
DROP INDEX log_shard;
CREATE INDEX log_shard ON log ((shard_id + 1));
SELECT spanner.add_shard_key('log', shards => 8);
DROP INDEX log_shard;
SET quote_all_identifiers = on;
\set VERBOSITY terse
SELECT spanner.add_shard_key('log', shards => 8);
\set VERBOSITY default
RESET quote_all_identifiers;

-- foreign keys are not dropped
CREATE TABLE parent (id text PRIMARY KEY);
CREATE TABLE child (id text REFERENCES parent, "other Id" text CONSTRAINT "Other" REFERENCES parent);
SELECT spanner.add_shard_key('parent');
SELECT spanner.add_shard_key('parent', dry_run => false);

-- deferrable keys, replica identity, publications, other unique indexes
CREATE TABLE deferred (a int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, b int UNIQUE);
CREATE TABLE replicated (a int PRIMARY KEY);
ALTER TABLE replicated REPLICA IDENTITY USING INDEX replicated_pkey;
SET client_min_messages = error;
CREATE PUBLICATION ask_publication FOR TABLE replicated;
RESET client_min_messages;
SELECT spanner.add_shard_key('replicated', dry_run => true);
SELECT count(*) FROM spanner.add_shard_key('replicated', dry_run => false);
SELECT indisreplident FROM pg_index WHERE indrelid = 'replicated'::regclass;
SELECT spanner.add_shard_key('replicated', shards => 4);
SELECT spanner.remove_shard_key('replicated', dry_run => false);
INSERT INTO replicated VALUES (7);
SELECT spanner.add_shard_key('deferred', dry_run => false);
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'deferred'::regclass AND contype = 'p';
DROP PUBLICATION ask_publication;

-- partitioned tables, hostile names
CREATE TABLE part (at timestamp, k int, PRIMARY KEY (at, k)) PARTITION BY RANGE (at);
CREATE TABLE part1 PARTITION OF part DEFAULT;
INSERT INTO part SELECT timestamp '2020-01-01' + g * interval '1 hour', g FROM generate_series(1, 100) g;
SELECT spanner.add_shard_key('part', '{k,at}', 8, time_bucket => '90 minutes', dry_run => false);
SELECT count(*), count(DISTINCT shard_id) FROM part1;
SELECT spanner.add_shard_key('part1');
SELECT spanner.remove_shard_key('part', dry_run => false);
SELECT count(*) FROM pg_statistic_ext WHERE stxrelid IN ('part'::regclass, 'part1'::regclass);
CREATE TABLE "We""ird T'able ü" ("a"";DROP" date, "B" uuid, PRIMARY KEY ("B", "a"";DROP"));
SELECT spanner.add_shard_key('"We""ird T''able ü"', '{"a\";DROP"}', column_name => 'sh"ard', dry_run => false);
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = '"We""ird T''able ü"'::regclass AND contype = 'p';

-- what cannot be done
CREATE VIEW v AS SELECT 1 AS a;
CREATE TABLE keyless (a int);
CREATE TABLE odd (i interval PRIMARY KEY, shard_id int);
CREATE TABLE generated (a int, b int GENERATED ALWAYS AS (a + 1) STORED PRIMARY KEY);
SELECT spanner.add_shard_key(NULL);
SELECT spanner.add_shard_key(0);
SELECT spanner.add_shard_key('v');
SELECT spanner.add_shard_key('keyless');
SELECT spanner.add_shard_key('odd');
SELECT spanner.add_shard_key('odd', column_name => 's');
SELECT spanner.add_shard_key('generated');
CREATE TABLE ancestor (a int PRIMARY KEY);
CREATE TABLE heir () INHERITS (ancestor);
SELECT spanner.add_shard_key('ancestor');
CREATE TYPE two AS (a int, b int);
CREATE TABLE typed OF two (PRIMARY KEY (a));
SELECT spanner.add_shard_key('typed');
SELECT spanner.add_shard_key('parent', shards => 0);
SELECT spanner.add_shard_key('parent', '{}');
SELECT spanner.add_shard_key('parent', '{id,NULL}');
SELECT spanner.add_shard_key('parent', '{nothing}');
SELECT spanner.add_shard_key('deferred', '{b}');
SELECT spanner.add_shard_key('parent', time_bucket => '1 day');
SELECT spanner.add_shard_key('log', time_bucket => '1 month');
SELECT spanner.add_shard_key('log', time_bucket => '-1 day');
CREATE ROLE regress_spanner_stranger;
GRANT USAGE ON SCHEMA ask TO regress_spanner_stranger;
SET ROLE regress_spanner_stranger;
SELECT count(*) FROM spanner.add_shard_key('keyless');
SELECT spanner.add_shard_key('deferred', dry_run => false);
RESET ROLE;

-- a temporary table can have shards, a catalog cannot
CREATE TEMP TABLE temporary (id int PRIMARY KEY) WITH (fillfactor = 50);
SELECT spanner.add_shard_key('temporary', shards => 4, dry_run => false);
SELECT spanner.add_shard_key('pg_catalog.pg_authid');
SELECT spanner.add_shard_key('pg_catalog.pg_class', dry_run => false);

-- numbers of shards: writes want many, reads few, nodes a share each
SELECT * FROM spanner.suggest_shards(20000, 500, 6);
SELECT shards, suggested FROM spanner.suggest_shards(100);
SELECT shards, reasoning FROM spanner.suggest_shards(1, 1, 100) WHERE suggested;
SELECT shards, reasoning FROM spanner.suggest_shards(1e9) ORDER BY shards DESC LIMIT 1;
SELECT shards FROM spanner.suggest_shards(20000, writes_per_shard => 20000) WHERE suggested;
SELECT spanner.suggest_shards(-1);
SELECT spanner.suggest_shards('NaN');
SELECT spanner.suggest_shards(1, nodes => 0);

SET client_min_messages = warning;
DROP SCHEMA ask CASCADE;
DROP ROLE regress_spanner_stranger;
