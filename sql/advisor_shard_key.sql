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

RESET ALL;

-- What add_shard_key keeps of a table, and what hinders it.
CREATE SCHEMA kept;
SET search_path = kept;

-- what hangs on the key and on a shard column that is replaced stays
CREATE TABLE kept (at timestamptz PRIMARY KEY, v text);
ALTER TABLE kept CLUSTER ON kept_pkey;
COMMENT ON INDEX kept_pkey IS 'the index';
SELECT count(*) FROM spanner.add_shard_key('kept', dry_run => false);
COMMENT ON COLUMN kept.shard_id IS 'it''s a shard';
GRANT SELECT (shard_id) ON kept TO PUBLIC;
SELECT spanner.add_shard_key('kept', shards => 4, dry_run => false);
SELECT i.indisclustered, obj_description(i.indexrelid, 'pg_class'), col_description(a.attrelid, a.attnum), a.attacl IS NOT NULL AS granted
  FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'shard_id' WHERE i.indrelid = 'kept'::regclass;
CREATE TABLE whole (at timestamptz PRIMARY KEY) PARTITION BY RANGE (at);
CREATE TABLE "part 1" PARTITION OF whole DEFAULT;
ALTER TABLE "part 1" REPLICA IDENTITY USING INDEX "part 1_pkey";
SELECT spanner.add_shard_key('whole', dry_run => false);
SELECT relreplident FROM pg_class WHERE oid = '"part 1"'::regclass;

-- a table whose partitions are published in its place gets a plain shard column
CREATE TABLE spread (at timestamptz PRIMARY KEY) PARTITION BY RANGE (at);
CREATE TABLE spread_1 PARTITION OF spread DEFAULT;
SET client_min_messages = error;
CREATE PUBLICATION regress_kept FOR TABLE spread;
RESET client_min_messages;
SELECT spanner.add_shard_key('spread', dry_run => false);
DROP PUBLICATION regress_kept;

-- queries that group by the key alone, and columns that store rows of the table
CREATE TABLE lone (at timestamptz DEFAULT now() PRIMARY KEY, v text);
CREATE VIEW grouped AS SELECT at, v, count(*) FROM lone GROUP BY at;
SELECT count(*) FROM spanner.add_shard_key('lone');
SELECT spanner.add_shard_key('lone', dry_run => false);
SELECT rule, suggestion FROM spanner.advise('lone', 'splits');
CREATE TABLE stored (at timestamptz DEFAULT now() PRIMARY KEY);
CREATE DOMAIN some_rows AS stored[];
CREATE TYPE pair AS (a int, r some_rows);
CREATE TABLE stores (p pair);
SELECT spanner.add_shard_key('stored');
SELECT rule, suggestion FROM spanner.advise('stored', 'splits');

-- a key that is to begin with the parent's key keeps its properties, too
CREATE TABLE parent (id uuid PRIMARY KEY);
CREATE TABLE child (id uuid, p uuid NOT NULL REFERENCES parent ON DELETE CASCADE,
  PRIMARY KEY (id) WITH (fillfactor = 60) DEFERRABLE);
COMMENT ON CONSTRAINT child_pkey ON child IS 'key';
COMMENT ON INDEX child_pkey IS 'index';
CREATE TABLE grouped_child (id uuid PRIMARY KEY, p uuid NOT NULL REFERENCES parent ON DELETE CASCADE);
CREATE VIEW children AS SELECT id, p, count(*) FROM grouped_child GROUP BY id;
SELECT suggestion FROM spanner.advise('grouped_child', 'splits') WHERE rule = 'child_not_interleaved';
SELECT suggestion FROM spanner.advise('child', 'splits') WHERE rule = 'child_not_interleaved'
\gexec
\d child
SELECT obj_description('child_pkey'::regclass, 'pg_class'), obj_description(oid, 'pg_constraint') FROM pg_constraint WHERE conname = 'child_pkey';

-- what is published, without the server's view, which opens every table
SET client_min_messages = error;
CREATE TABLE deep (a int, b int, PRIMARY KEY (a, b)) PARTITION BY LIST (a);
CREATE TABLE deep_1 PARTITION OF deep FOR VALUES IN (1) PARTITION BY LIST (b);
CREATE TABLE deep_1_1 PARTITION OF deep_1 DEFAULT;
CREATE TABLE deep_2 PARTITION OF deep DEFAULT;
CREATE SCHEMA kept_too CREATE TABLE alone (a int) CREATE TABLE other (a int);
CREATE TABLE listed (a int PRIMARY KEY, b int);
CREATE PUBLICATION regress_leaves FOR TABLE deep, listed (a);
CREATE PUBLICATION regress_root FOR TABLE deep, kept WITH (publish_via_partition_root);
CREATE PUBLICATION regress_part FOR TABLE deep_1 WITH (publish_via_partition_root);
CREATE PUBLICATION regress_schema FOR TABLES IN SCHEMA kept_too;
CREATE PUBLICATION regress_all FOR ALL TABLES;
CREATE PUBLICATION regress_all_root FOR ALL TABLES WITH (publish_via_partition_root);
WITH ours AS (SELECT DISTINCT p.pubname, l.relid FROM spanner_internal.list_published() l JOIN pg_publication p ON p.oid = l.pubid),
servers AS (SELECT pubname, format('%I.%I', schemaname, tablename)::regclass::oid AS relid FROM pg_publication_tables)
SELECT (SELECT count(*) > 0 FROM ours) AS published,
       (SELECT count(*) FROM (SELECT * FROM ours EXCEPT SELECT * FROM servers) x) AS too_many,
       (SELECT count(*) FROM (SELECT * FROM servers EXCEPT SELECT * FROM ours) x) AS missing;
SELECT l.relid::regclass, l.columns FROM spanner_internal.list_published() l JOIN pg_publication p ON p.oid = l.pubid
 WHERE p.pubname = 'regress_leaves' ORDER BY l.relid::regclass::text COLLATE "C";
DROP PUBLICATION regress_leaves, regress_root, regress_part, regress_schema, regress_all, regress_all_root;
DROP SCHEMA kept_too CASCADE;

SET client_min_messages = warning;
DROP SCHEMA kept CASCADE;

RESET ALL;

-- Another number of shards is of the same keys, and one shard column outlives the other.
SET client_min_messages = error;
CREATE SCHEMA ash;
SET search_path = ash;
\pset format unaligned
\pset tuples_only

CREATE TABLE bucket (dev bigint, at timestamptz, v text, PRIMARY KEY (dev, at));
CREATE TABLE one_key (dev bigint, at timestamptz, v text, PRIMARY KEY (dev, at));
SELECT count(*) FROM spanner.add_shard_key('bucket', '{at,dev}', 1, time_bucket => '1 day 2 hours', dry_run => false);
SELECT count(*) FROM spanner.add_shard_key('one_key', 'at', 1, column_name => 'My shard', dry_run => false);
-- what add_shard_key would not make again
CREATE FUNCTION shard_of(relation text, expression text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  EXECUTE format('CREATE TABLE %s (dev bigint, at timestamp, until timestamp, shard_id int NOT NULL GENERATED ALWAYS AS (%s)
    STORED, PRIMARY KEY (shard_id, dev, at, until))', relation, expression); END $$;
SELECT shard_of('computed', 'spanner.shard_id(1, dev % 7, at)');
SELECT shard_of('half', $$spanner.shard_id(1, date_bin('1 day', at, '2000-01-01'::timestamp), until)$$);
SELECT shard_of('two_buckets', $$spanner.shard_id(1, date_bin('1 day', at, '2000-01-01'::timestamp), date_bin('2 days', until, '2000-01-01'::timestamp))$$);
SELECT shard_of('origin', $$spanner.shard_id(1, date_bin('1 day', at, '2001-01-01'::timestamp))$$);
SELECT relation, suggestion FROM spanner.advise() WHERE rule = 'shard_count_small' ORDER BY relation::text;
SELECT suggestion FROM spanner.advise() WHERE rule = 'shard_count_small' AND suggestion IS NOT NULL ORDER BY relation::text
\gexec

-- a published table has plain columns, and one trigger that fills them
CREATE TABLE two (id bigint PRIMARY KEY);
CREATE PUBLICATION advise_shards FOR TABLE two;
SELECT count(*) FROM spanner.add_shard_key('two', dry_run => false);
SELECT count(*) FROM spanner.add_shard_key('two', 'id', 4, 's2', dry_run => false);
INSERT INTO two VALUES (1) RETURNING *;
SELECT spanner.remove_shard_key('two', 's2', dry_run => false);
INSERT INTO two VALUES (2) RETURNING *;
SELECT spanner.remove_shard_key('two', dry_run => false);
INSERT INTO two VALUES (3) RETURNING *;

-- a list of columns without the new key; one that follows another identity is none
ALTER PUBLICATION advise_shards SET TABLE two (id);
SELECT count(*) FROM spanner.add_shard_key('two');
SELECT spanner.add_shard_key('two', dry_run => false);
ALTER TABLE two ADD n bigint NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX two_identity ON two (id);
ALTER TABLE two REPLICA IDENTITY USING INDEX two_identity;
SELECT count(*) FROM spanner.add_shard_key('two', dry_run => false);
UPDATE two SET n = id;
CREATE TABLE parted (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (9);
ALTER PUBLICATION advise_shards SET (publish_via_partition_root);
ALTER PUBLICATION advise_shards SET TABLE parted (id);
SELECT spanner.add_shard_key('parted', dry_run => false);

-- a subscription that is enabled finds rows by the key
CREATE TABLE got (id bigint PRIMARY KEY);
BEGIN;
SET LOCAL allow_system_table_mods = on;
CREATE SUBSCRIPTION advise_shards CONNECTION 'dbname=nothing' PUBLICATION p WITH (connect = false, slot_name = NONE);
INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate) SELECT oid, 'got'::regclass, 'r' FROM pg_subscription WHERE subname = 'advise_shards';
SELECT count(*) FROM spanner.add_shard_key('got');
UPDATE pg_subscription SET subenabled = true WHERE subname = 'advise_shards';
SELECT spanner.add_shard_key('got', dry_run => false);
ROLLBACK;
DROP PUBLICATION advise_shards;
DROP SCHEMA ash CASCADE;
