-- Numbering on commit, with triggers, partitions, inheritance and privileges around it.
SELECT spanner.create_allocator('n', 'on_commit') > 0 AS created;

-- partitions, and rows that move between them
CREATE TABLE p (k int, id int, number int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 (number int, dropped int, id int, k int);
ALTER TABLE p2 DROP dropped;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON p DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('n', 'number');
BEGIN;
INSERT INTO p (id, k) VALUES (1, 1), (2, 2), (3, 1);
UPDATE p SET k = 2 WHERE id = 1;
COMMIT;
SELECT tableoid::regclass, * FROM p ORDER BY number;
DROP TABLE p;

-- a trigger of a parent is not inherited; temporary tables
CREATE TEMPORARY TABLE parent (id int, number int);
CREATE TEMPORARY TABLE child () INHERITS (parent);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON parent DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('n', 'number');
BEGIN;
INSERT INTO parent VALUES (1);
INSERT INTO child VALUES (2);
COMMIT;
SELECT tableoid::regclass, * FROM parent ORDER BY id;
DROP TABLE parent CASCADE;

-- a number once a condition is met, in a row that is written several times:
-- there are as many numbers as rows
SELECT spanner.alter_allocator('n', max_value => 6);
CREATE TABLE t (id int, state text, number int);
CREATE CONSTRAINT TRIGGER number AFTER INSERT OR UPDATE ON t DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.state = 'final')
  EXECUTE FUNCTION spanner.assign_on_commit('n', 'number');
INSERT INTO t VALUES (1, 'draft');
BEGIN;
INSERT INTO t VALUES (2, 'final'), (3, 'draft');
UPDATE t SET state = 'final' WHERE id = 1;
UPDATE t SET id = id + 10;
COMMIT;
UPDATE t SET id = id + 10;
SELECT * FROM t ORDER BY id;
TRUNCATE t;
SELECT spanner.alter_allocator('n', max_value => 1000);

-- triggers on numbered rows that insert, delete and number others
DROP TRIGGER number ON t;
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('n', 'number');
CREATE FUNCTION change_others() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  CASE NEW.state
    WHEN 'inserts' THEN INSERT INTO t VALUES (NEW.id + 100, 'was inserted');
    WHEN 'deletes' THEN DELETE FROM t WHERE id = NEW.id + 1;
    WHEN 'numbers' THEN UPDATE t SET number = -1 WHERE id = NEW.id + 1;
    WHEN 'updates' THEN UPDATE t SET state = 'was updated' WHERE id = NEW.id + 1;
    WHEN 'tries' THEN
      BEGIN
        INSERT INTO t VALUES (NEW.id + 100, 'never');
        SET CONSTRAINTS ALL IMMEDIATE;
        RAISE division_by_zero;
      EXCEPTION WHEN division_by_zero THEN
      END;
    ELSE
  END CASE;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER a AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.id < 10) EXECUTE FUNCTION change_others();
CREATE TRIGGER b AFTER UPDATE OF number ON t
  FOR EACH ROW WHEN (NEW.id > 10) EXECUTE FUNCTION change_others();
CREATE CONSTRAINT TRIGGER c AFTER UPDATE ON t DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.id < 10 AND NEW.state = 'inserts') EXECUTE FUNCTION change_others();
SELECT next_value FROM spanner.allocator WHERE name = 'n';
INSERT INTO t VALUES (1, 'inserts'), (2, 'deletes'), (3, 'gone'), (4, 'tries'), (5, 'updates'), (6, '');
INSERT INTO t VALUES (11, 'inserts'), (12, 'deletes'), (13, 'gone'), (14, 'tries'),
  (15, 'updates'), (16, ''), (17, 'numbers'), (18, 'has one');
BEGIN;
SET CONSTRAINTS ALL IMMEDIATE;
INSERT INTO t VALUES (21, 'inserts'), (22, 'deletes'), (23, 'gone'), (24, 'tries'), (25, 'updates'), (26, '');
COMMIT;
SELECT * FROM t ORDER BY number, id;
SELECT next_value, next_value - 1 = spanner.last_assigned('n') FROM spanner.allocator WHERE name = 'n';
DROP TABLE t;
DROP FUNCTION change_others;

-- who inserts needs no other right; the owner of the table needs the allocator
CREATE ROLE regress_invoice_owner;
CREATE ROLE regress_invoice_clerk;
CREATE TABLE invoice (id int, number int, by_user name);
ALTER TABLE invoice OWNER TO regress_invoice_owner;
ALTER TABLE invoice ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY add ON invoice FOR INSERT TO regress_invoice_clerk WITH CHECK (true);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON invoice DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('n', 'number');
GRANT INSERT ON invoice TO regress_invoice_clerk;
SET ROLE regress_invoice_clerk;
INSERT INTO invoice VALUES (1, NULL, current_user);
RESET ROLE;
SELECT spanner.grant_allocator('n', 'regress_invoice_owner');
SET ROLE regress_invoice_clerk;
INSERT INTO invoice VALUES (2, NULL, current_user);
SELECT current_user;
SELECT spanner.last_assigned('n');
RESET ROLE;
SELECT *, number = spanner.last_assigned('n') AS last FROM invoice;
DROP TABLE invoice;
SELECT spanner.drop_allocator('n');
DROP ROLE regress_invoice_owner, regress_invoice_clerk;

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
