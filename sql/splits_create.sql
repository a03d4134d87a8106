-- Splitting a table by ranges of an evenly spread key, on one server.
\set SHOW_CONTEXT never
SELECT spanner.split_points(4);
SELECT spanner.split_points(3, 31);
SELECT spanner.split_points(4, stripes => 16), spanner.split_points(4, 15, 4);
SELECT count(*) FROM spanner.split_points(1);
SELECT count(*), min(p), max(p) FROM spanner.split_points(65536) p;

-- each split gets as many of the first values as any other
SELECT width_bucket(spanner.bit_reverse(i, true), ARRAY(SELECT spanner.split_points(5))) AS split,
       count(*)
  FROM generate_series(1, 10000) i GROUP BY 1 ORDER BY 1;

-- what cannot be split evenly
SELECT spanner.split_points(0);
SELECT spanner.split_points(65537);
SELECT spanner.split_points(4, 64);
SELECT spanner.split_points(5, 3);
SELECT spanner.split_points(3, stripes => 16);
SELECT spanner.split_points(32, stripes => 16);
SELECT spanner.split_points(2, stripes => 0);
SELECT spanner.split_points(2, stripes => 12);
SELECT spanner.split_points(2, 3, 8);

-- partitions by the id, with what the sequence of the column says
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE sp_orders (id bigserial PRIMARY KEY, note text) PARTITION BY RANGE (id);
SET spanner.default_sequence_kind = 'striped(stripes=16,bits=53)';
CREATE TABLE sp_items (id bigserial, note text) PARTITION BY RANGE (id);
SET spanner.default_sequence_kind = 'striped';
CREATE TABLE sp_small (id smallserial) PARTITION BY RANGE (id);
RESET spanner.default_sequence_kind;
SELECT * FROM spanner.create_splits('sp_orders', 3);
SELECT * FROM spanner.create_splits('sp_items', 2);
SELECT * FROM spanner.create_splits('sp_items', 3);
SELECT * FROM spanner.create_splits('sp_items', 2, bits => 31);
SELECT * FROM spanner.create_splits('sp_items', 2, stripes => 8);
SELECT * FROM spanner.create_splits('sp_items', 2, shards => 16);
SELECT count(*) FROM spanner.create_splits('sp_items', 2, bits => 53, stripes => 16);
SELECT * FROM spanner.create_splits('sp_small', 2);
SELECT * FROM spanner.create_splits('sp_small', 0);
SELECT count(*) FROM pg_inherits WHERE inhparent = 'sp_orders'::regclass;
SELECT count(*) FROM spanner.create_splits('sp_orders', 3, dry_run => false);
INSERT INTO sp_orders (note) SELECT 'x' FROM generate_series(1, 3000);
SELECT split, partition, server, range, rows, counted, size > 0 AS size, inserts >= 0 AS inserts
  FROM spanner.split_stats('sp_orders', exact => true);
SELECT sum(rows) BETWEEN 2000 AND 4000 AS estimated, bool_or(counted)
  FROM spanner.split_stats('sp_orders');
SELECT spanner.create_splits('sp_orders', 3);

-- by a shard id: a column, or the first of several, or an expression
CREATE TABLE sp_log (shard smallint, at date) PARTITION BY RANGE (shard, at);
SELECT statement FROM spanner.create_splits('sp_log', 2, shards => 16);
CREATE TABLE sp_checked (shard int NOT NULL, userid text, CHECK (shard = spanner.shard_id(12, userid)))
  PARTITION BY RANGE (shard);
SELECT statement FROM spanner.create_splits('sp_checked', 3);
SELECT spanner.create_splits('sp_checked', 5);
CREATE TABLE sp_expression (userid text) PARTITION BY RANGE (spanner.shard_id(6, userid));
SELECT statement FROM spanner.create_splits('sp_expression', 3, dry_run => false);
INSERT INTO sp_expression SELECT 'user' || i FROM generate_series(1, 600) i;
SELECT partition, rows BETWEEN 150 AND 250 AS even
  FROM spanner.split_stats('sp_expression', true);
SELECT spanner.create_splits('sp_log', 5, shards => 16);
SELECT spanner.create_splits('sp_log', 5, shards => 0);
SELECT spanner.create_splits('sp_log', 5);
\set VERBOSITY terse
SELECT spanner.create_splits('sp_log', 4, dry_run => false, bits => 16);
\set VERBOSITY default
SELECT spanner.create_splits('sp_log', 2, shards => 16, bits => 16);
SELECT spanner.create_splits('sp_checked', 3, stripes => 16);
SELECT spanner.create_splits('sp_checked', 3, shards => 6);
SELECT count(*) FROM spanner.create_splits('sp_checked', 3, shards => 12);
CREATE TABLE sp_expression2 (userid text) PARTITION BY RANGE (spanner.shard_id(6, userid));
SELECT spanner.create_splits('sp_expression2', 3, bits => 16);
\set VERBOSITY terse
SELECT spanner.create_splits('sp_log', 2, dry_run => false, shards => 65536);
\set VERBOSITY default
SELECT count(*) FROM spanner.create_splits('sp_log', 2, shards => 32768);

-- names: long ones are cut, odd ones quoted, those in use refused
CREATE TABLE "sp <b>""'" ("k ""k" bigint) PARTITION BY RANGE ("k ""k");
SELECT statement FROM spanner.create_splits('"sp <b>""''"', 1, bits => 63, dry_run => false);
SELECT * FROM spanner.split_stats('"sp <b>""''"', true);
CREATE TABLE sp_long_4567890123456789012345678901234567890123456789012345678 (id bigint) PARTITION BY RANGE (id);
SELECT substring(statement, 'TABLE public.(\w+)') FROM spanner.create_splits('sp_long_4567890123456789012345678901234567890123456789012345678', 2, bits => 63);
CREATE TABLE sp_items_p1 ();
SELECT spanner.create_splits('sp_items', 2, dry_run => false);

-- tables that cannot be split
CREATE TABLE sp_plain (id bigint);
CREATE VIEW sp_view AS SELECT 1 AS id;
CREATE TABLE sp_hash (id bigint) PARTITION BY HASH (id);
CREATE TABLE sp_text (id text) PARTITION BY RANGE (id);
CREATE TABLE sp_default (id bigint) PARTITION BY RANGE (id);
CREATE TABLE sp_rest PARTITION OF sp_default DEFAULT;
SELECT spanner.create_splits('sp_plain', 2);
SELECT spanner.split_stats('sp_view');
SELECT spanner.create_splits('sp_hash', 2);
SELECT spanner.create_splits('sp_text', 2);
CREATE TABLE sp_other (id int) PARTITION BY RANGE ((id % 16), (spanner.shard_id(8, id)));
SELECT spanner.create_splits('sp_other', 2);
SELECT spanner.create_splits('sp_default', 2, bits => 63);
SELECT spanner.create_splits(NULL, 2);
SELECT spanner.split_stats(0);

-- counted by the leader of a parallel query, whose snapshot stays
CREATE TABLE sp_parallel (id int) WITH (parallel_workers = 2);
INSERT INTO sp_parallel SELECT generate_series(1, 1000);
ANALYZE sp_parallel;
BEGIN;
SELECT set_config(name, 'on', true) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SET LOCAL min_parallel_table_scan_size = 0;
SELECT spanner_internal.count_rows('sp_parallel', false), id FROM sp_parallel WHERE id = 7;
ROLLBACK;
DROP TABLE sp_parallel;

-- servers that a split cannot move to
CREATE FOREIGN DATA WRAPPER sp_wrapper;
CREATE SERVER sp_server FOREIGN DATA WRAPPER sp_wrapper;
SELECT spanner_internal.check_split_server('sp_small', 'nowhere');
SELECT spanner_internal.check_split_server('sp_small', 'sp_server');
DROP FOREIGN DATA WRAPPER sp_wrapper CASCADE;
