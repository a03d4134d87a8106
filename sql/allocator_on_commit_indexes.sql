-- Numbers on commit: what becomes of the table's indexes.
CREATE SCHEMA indexes;
SET search_path = indexes;
SELECT spanner.create_allocator('indexed', 'on_commit') > 0 AS created;
CREATE TABLE indexed (
  id int PRIMARY KEY,
  number bigint UNIQUE,
  code int,
  kind text,
  word text,
  EXCLUDE USING hash (word WITH =));
CREATE FUNCTION half(number bigint, code int) RETURNS bigint
LANGUAGE sql IMMUTABLE AS 'SELECT CASE WHEN code < 0 THEN number / 2 END';
CREATE UNIQUE INDEX by_kind ON indexed (kind, id) INCLUDE (number);
CREATE UNIQUE INDEX numbered ON indexed (kind) WHERE number % 1000 = 7;
CREATE UNIQUE INDEX halves ON indexed (half(number, code));
CREATE INDEX by_length ON indexed (length(kind));
CREATE INDEX by_range ON indexed USING brin (id);
CREATE INDEX by_hash ON indexed USING hash (code);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON indexed DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('indexed', 'number');

-- what a query that uses an index finds
CREATE FUNCTION found(condition text) RETURNS TABLE (by_index bool, rows bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  line text;
BEGIN
  by_index := false;
  FOR line IN EXECUTE 'EXPLAIN SELECT number FROM indexed WHERE ' || condition LOOP
    by_index := by_index OR line ~ 'Index';
  END LOOP;
  EXECUTE 'SELECT count(number) FROM indexed WHERE ' || condition INTO rows;
  RETURN NEXT;
END $$;
CREATE VIEW summary AS
  SELECT condition, by_index, rows
    FROM (VALUES ('id > 0'), ('number > 0'), ('code = 5'),
      ('kind = ''few'' AND id > 0'), ('kind = ''one'''), ('number % 1000 = 7 AND kind = ''few'''),
      ('length(kind) = 3')) c(condition),
      found(condition)
   ORDER BY condition;

-- most of the second versions do not fit beside the first ones
INSERT INTO indexed (id, code, kind, word) SELECT i, i, 'few', i FROM generate_series(1, 1000) i;
SELECT * FROM summary;

-- those of a small transaction do
INSERT INTO indexed (id, code, kind) VALUES (1001, 1001, 'one');
SELECT * FROM summary;

-- constraints hold, of rows that have got their number and of those that get one
INSERT INTO indexed (id) VALUES (500);
INSERT INTO indexed (id, number) VALUES (2000, 500);
INSERT INTO indexed (id, word) VALUES (2000, '1000');
INSERT INTO indexed (id, code) SELECT i, -1 FROM generate_series(2000, 2400) i;
INSERT INTO indexed (id, kind) SELECT i, 'few' FROM generate_series(2000, 3010) i;
BEGIN;
INSERT INTO indexed (id) SELECT generate_series(2000, 3000);
SET CONSTRAINTS number IMMEDIATE;
INSERT INTO indexed (id) VALUES (2999);
ROLLBACK;
SELECT max(number), count(*) = max(number) AS without_gap FROM indexed;

-- deleted and inserted again in the transaction that has numbered it
BEGIN;
INSERT INTO indexed (id) SELECT generate_series(4000, 4400);
SET CONSTRAINTS number IMMEDIATE;
DELETE FROM indexed WHERE id >= 4000;
INSERT INTO indexed (id) SELECT generate_series(4000, 4400);
SAVEPOINT a;
INSERT INTO indexed (id) VALUES (4200);
ROLLBACK TO a;
COMMIT;
SELECT count(number), min(number), max(number) FROM indexed WHERE id >= 4000;

SET client_min_messages = warning;
DROP SCHEMA indexes CASCADE;
SELECT spanner.drop_allocator('indexed');
