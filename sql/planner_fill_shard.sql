-- A shard column that a trigger fills, and a CHECK constraint describes.
\set SHOW_CONTEXT never
CREATE SCHEMA fs;
SET search_path = fs;
CREATE TABLE visit (shard smallint NOT NULL, uid text, at timestamptz, note text, PRIMARY KEY (shard, uid, at),
  CONSTRAINT visit_shard CHECK (shard = spanner.shard_id(8, uid, at)));
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON visit FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard();
INSERT INTO visit (uid, at) SELECT 'u' || i, '2024-01-01Z' FROM generate_series(1, 100) i;
INSERT INTO visit VALUES (7, 'wrong', '2024-01-01Z');
UPDATE visit SET uid = 'v' || uid WHERE uid IN ('u1', 'u2', 'u3');
SELECT count(*), count(DISTINCT shard), bool_and(shard = spanner.shard_id(8, uid, at)) FROM visit;

-- the planner reads the constraint
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT note FROM visit WHERE uid = 'u7' AND at = '2024-01-01Z';
RESET enable_seqscan;
RESET enable_bitmapscan;

-- with several columns, and in partitions
CREATE TABLE parted (id int, a int NOT NULL, b int NOT NULL, CHECK (a = spanner.shard_id(4, id)), CHECK (b = spanner.shard_id(16, id)))
  PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parted DEFAULT;
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard();
INSERT INTO parted SELECT i FROM generate_series(1, 20) i;
SELECT count(DISTINCT a) > 1 AS a, count(DISTINCT b) > 4 AS b FROM part;

-- from a column that is generated itself
CREATE TABLE doubled (id int, twice int GENERATED ALWAYS AS (id * 2) STORED, shard_id int NOT NULL CHECK (shard_id = spanner.shard_id(16, twice)));
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON doubled FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard();
INSERT INTO doubled SELECT i FROM generate_series(1, 20) i;
UPDATE doubled SET id = id + 1;
SELECT count(*) FROM doubled WHERE shard_id = spanner.shard_id(16, 2 * id);

-- rows of before are filled before the constraint holds for them
CREATE TABLE before (id int);
INSERT INTO before SELECT i FROM generate_series(1, 20) i;
ALTER TABLE before ADD shard_id int;
ALTER TABLE before ADD CONSTRAINT before_shard CHECK (shard_id = spanner.shard_id(16, id)) NOT VALID;
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON before FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard();
INSERT INTO before VALUES (21);
SELECT count(*), count(shard_id) FROM before;
CREATE INDEX ON before (shard_id, id);
SET enable_seqscan = off;
SELECT count(*) FROM before WHERE id = 7;
RESET enable_seqscan;
UPDATE before SET id = id WHERE shard_id IS NULL;
ALTER TABLE before VALIDATE CONSTRAINT before_shard;
SELECT usable, problem FROM spanner.shard_keys WHERE tablename = 'before';
ALTER TABLE before ALTER shard_id SET NOT NULL;
SELECT usable, problem FROM spanner.shard_keys WHERE tablename = 'before';
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM before WHERE id = 7;
RESET enable_seqscan;

-- who fires it, and on what
CREATE TABLE plain (id int);
CREATE TRIGGER fill BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard();
INSERT INTO plain VALUES (1);
DROP TRIGGER fill ON plain;
CREATE TRIGGER fill AFTER INSERT ON plain FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard();
INSERT INTO plain VALUES (1);
SELECT spanner.fill_shard();

-- the statements that make a generated column such a one
CREATE TABLE generated (id int, shard_id int NOT NULL GENERATED ALWAYS AS (spanner.shard_id(4, id)) STORED, PRIMARY KEY (shard_id, id));
INSERT INTO generated SELECT i FROM generate_series(1, 20) i;
SELECT spanner_internal.plain_shard_statements('fs.generated', 'shard_id', 'spanner.shard_id(4, id)')
\gexec
INSERT INTO generated SELECT i FROM generate_series(21, 40) i;
SELECT count(*), bool_and(shard_id = spanner.shard_id(4, id)) FROM generated;
SELECT declaration, name, shards, keys, usable FROM spanner.shard_keys WHERE schemaname = 'fs' AND tablename = 'generated';
SET client_min_messages = warning;
DROP SCHEMA fs CASCADE;
