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
