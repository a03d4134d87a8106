-- Numbering on commit: what an UPDATE of each row would do besides.
SELECT spanner.create_allocator('n', 'on_commit') > 0 AS created;
CREATE DOMAIN small AS int CHECK (VALUE < 5);
CREATE TABLE t (id int, number small, label text GENERATED ALWAYS AS ('no ' || number) STORED,
                CONSTRAINT not_three CHECK (number <> 3));
CREATE INDEX t_number ON t (number);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('n', 'number');

-- triggers of statements, their transition tables, triggers of columns
CREATE TABLE log (seen text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log VALUES (format('%s %s', TG_WHEN, TG_LEVEL));
  RETURN NULL;
END $$;
CREATE FUNCTION note_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log SELECT format('%s to %s', o, n) FROM old_rows o, new_rows n;
  RETURN NULL;
END $$;
CREATE TRIGGER a BEFORE UPDATE ON t EXECUTE FUNCTION note();
CREATE TRIGGER b AFTER UPDATE ON t EXECUTE FUNCTION note();
CREATE TRIGGER c AFTER UPDATE OF number ON t FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER d AFTER UPDATE OF id ON t FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER e AFTER UPDATE ON t REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  EXECUTE FUNCTION note_rows();
INSERT INTO t VALUES (10), (20);
TABLE log;
SELECT * FROM t ORDER BY id;
SET enable_seqscan = off;
SELECT id FROM t WHERE number = 2;
RESET enable_seqscan;

-- constraints of the table and of the type
INSERT INTO t VALUES (30);
SELECT spanner.advance_allocator('n', 4);
INSERT INTO t VALUES (40);
INSERT INTO t VALUES (50);
SELECT * FROM t ORDER BY id;

-- a rule is for statements; a number does not move a row to another partition
CREATE RULE nothing AS ON UPDATE TO t DO INSTEAD NOTHING;
SELECT spanner.reset_allocator('n', 1, force => true);
INSERT INTO t VALUES (60);
SELECT * FROM t WHERE id = 60;
CREATE TABLE p (id int, number int) PARTITION BY LIST (number);
CREATE TABLE p_none PARTITION OF p FOR VALUES IN (NULL);
CREATE TABLE p_rest PARTITION OF p DEFAULT;
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON p DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('n', 'number');
INSERT INTO p VALUES (1);

DROP TABLE t, p, log;
DROP FUNCTION note, note_rows;
DROP DOMAIN small;
SELECT spanner.drop_allocator('n');
