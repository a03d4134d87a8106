-- Numbers on commit: many rows, allocators and subtransactions in one transaction.
CREATE SCHEMA many;
SET search_path = many;
SELECT count(spanner.create_allocator('many' || i, 'on_commit')) FROM generate_series(0, 20) i;
CREATE TABLE numbered (id int PRIMARY KEY, number bigint UNIQUE);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON numbered DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('many0', 'number');
CREATE VIEW summary AS SELECT count(*) AS rows, count(number) AS numbers, max(number) AS last,
  bool_and(number = position) AS in_order
  FROM (SELECT number, row_number() OVER (ORDER BY id) AS position FROM numbered) n;

-- more rows than there is room for at first
INSERT INTO numbered SELECT generate_series(1, 1000);
SELECT * FROM summary;

-- more allocators
DO $$ BEGIN
  FOR i IN 1 .. 20 LOOP
    EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, number bigint)', i);
    EXECUTE format('CREATE CONSTRAINT TRIGGER number AFTER INSERT ON t%s DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit(%L, %L)', i, 'many' || i, 'number');
  END LOOP;
END $$;
DO $$ BEGIN
  FOR i IN 1 .. 20 LOOP
    EXECUTE format('INSERT INTO t%s SELECT generate_series(1, %s)', i, i);
  END LOOP;
END $$;
SELECT bool_and(spanner.last_assigned('many' || i) = i) FROM generate_series(1, 20) i;

-- subtransactions within each other, of which the inner ones are rolled back
CREATE PROCEDURE nest(level int) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO numbered VALUES (1000 + level);
  IF level < 50 THEN
    BEGIN
      CALL nest(level + 1);
      IF level % 2 = 1 AND level > 40 THEN
        RAISE division_by_zero;
      END IF;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
  END IF;
END $$;
BEGIN;
CALL nest(1);
COMMIT;
SELECT * FROM summary;

-- the first rows belong to a level that is deep already, then it is left
BEGIN;
SAVEPOINT a; SAVEPOINT b; SAVEPOINT c; SAVEPOINT d; SAVEPOINT e; SAVEPOINT f; SAVEPOINT g; SAVEPOINT h;
SAVEPOINT i; SAVEPOINT j; SAVEPOINT k; SAVEPOINT l; SAVEPOINT m; SAVEPOINT n; SAVEPOINT o; SAVEPOINT p;
SAVEPOINT q; SAVEPOINT r;
INSERT INTO numbered VALUES (2001);
SAVEPOINT s;
INSERT INTO numbered VALUES (2002);
ROLLBACK TO s;
INSERT INTO numbered VALUES (2003);
ROLLBACK TO f;
INSERT INTO numbered VALUES (2004);
SAVEPOINT t; SAVEPOINT u;
INSERT INTO numbered VALUES (2005);
RELEASE t;
COMMIT;
SELECT * FROM summary;
SELECT next_value FROM spanner.allocator WHERE name = 'many0';

-- numbered before subtransactions begin, and after some have failed
BEGIN;
INSERT INTO numbered VALUES (3001);
SET CONSTRAINTS ALL IMMEDIATE;
SAVEPOINT a;
INSERT INTO numbered VALUES (3002);
SAVEPOINT b; SAVEPOINT c; SAVEPOINT d; SAVEPOINT e; SAVEPOINT f; SAVEPOINT g; SAVEPOINT h; SAVEPOINT i;
SAVEPOINT j; SAVEPOINT k; SAVEPOINT l; SAVEPOINT m; SAVEPOINT n; SAVEPOINT o; SAVEPOINT p; SAVEPOINT q;
INSERT INTO numbered VALUES (3003);
ROLLBACK TO p;
SAVEPOINT r;
INSERT INTO numbered VALUES (3004);
ROLLBACK TO b;
INSERT INTO numbered VALUES (3005);
COMMIT;
SELECT * FROM summary;

-- many rows of a table that foreign keys refer to, with two numbers each
SELECT spanner.create_allocator('head', 'on_commit') > 0 AS head,
       spanner.create_allocator('second', 'on_commit') > 0 AS second;
CREATE TABLE head (id int PRIMARY KEY, number bigint UNIQUE, second int,
                   parent bigint REFERENCES head (number) ON UPDATE CASCADE);
CREATE TABLE line (head int REFERENCES head ON DELETE CASCADE ON UPDATE CASCADE);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON head DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('head', 'number');
CREATE CONSTRAINT TRIGGER second AFTER INSERT ON head DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('second', 'second');
BEGIN;
INSERT INTO head (id) SELECT generate_series(1, 1000);
INSERT INTO line SELECT generate_series(1, 1000);
SAVEPOINT a;
INSERT INTO head (id) SELECT generate_series(1001, 2000);
ROLLBACK TO a;
DELETE FROM head WHERE id % 10 = 0;
UPDATE head SET id = id + 10000 WHERE id % 10 = 1;
COMMIT;
SELECT count(*), min(number), max(number), count(DISTINCT number), bool_and(second = number)
  FROM head;
SELECT count(*), count(h.id) FROM line l LEFT JOIN head h ON h.id = l.head;
DROP TABLE line, head;
SELECT spanner.drop_allocator('head'), spanner.drop_allocator('second');

SET client_min_messages = warning;
DROP SCHEMA many CASCADE;
SELECT count(spanner.drop_allocator('many' || i)) FROM generate_series(0, 20) i;
