-- What add_shard_key keeps of a table, and what hinders it.

CREATE SCHEMA kept;
SET search_path = kept;
\set SHOW_CONTEXT never

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
