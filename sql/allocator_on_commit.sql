-- Rows get gap-free numbers when their transaction commits.
SELECT spanner.create_allocator('invoice', 'on_commit') > 0 AS created;
CREATE TABLE invoice (id int PRIMARY KEY, number bigint UNIQUE, note text);
CREATE CONSTRAINT TRIGGER invoice_number
  AFTER INSERT ON invoice DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice', 'number');

-- in the order of insertion, from one reservation
SELECT spanner.last_assigned('invoice');
BEGIN;
INSERT INTO invoice (id) VALUES (3), (1), (2);
SELECT count(number) FROM invoice;
SELECT next_value FROM spanner.allocator WHERE name = 'invoice';
COMMIT;
SELECT id, number FROM invoice ORDER BY number;
SELECT spanner.last_assigned('invoice');

-- what is rolled back, deleted, or has a number needs none
BEGIN;
INSERT INTO invoice (id) VALUES (10);
ROLLBACK;
BEGIN;
INSERT INTO invoice (id) VALUES (11), (12), (13), (14);
DELETE FROM invoice WHERE id = 11;
UPDATE invoice SET number = -12 WHERE id = 12;
UPDATE invoice SET id = 130, note = 'moved' WHERE id = 13;
UPDATE invoice SET note = 'again' WHERE id = 130;
INSERT INTO invoice (id, number) VALUES (15, -15);
SAVEPOINT s;
INSERT INTO invoice (id) VALUES (16);
DELETE FROM invoice WHERE id = 14;
ROLLBACK TO s;
SAVEPOINT t;
INSERT INTO invoice (id) VALUES (17);
RELEASE t;
COMMIT;
SELECT id, number, note FROM invoice WHERE id > 10 ORDER BY id;
SELECT next_value FROM spanner.allocator WHERE name = 'invoice';
SELECT spanner.last_assigned('invoice');

-- all ways of inserting
COPY invoice (id) FROM stdin;
20
21
\.
INSERT INTO invoice (id) VALUES (20), (22) ON CONFLICT (id) DO UPDATE SET note = 'there';
MERGE INTO invoice i USING (VALUES (22), (23)) v (id) ON i.id = v.id
  WHEN MATCHED THEN UPDATE SET note = 'merged' WHEN NOT MATCHED THEN INSERT (id) VALUES (v.id);
WITH added AS (INSERT INTO invoice (id) VALUES (24) RETURNING id)
  UPDATE invoice SET note = 'with' FROM added WHERE invoice.id = 23;
DO 'BEGIN INSERT INTO invoice (id) VALUES (25); COMMIT; INSERT INTO invoice (id) VALUES (26); END';
SELECT id, number, note FROM invoice WHERE id >= 20 ORDER BY id;

-- the transaction sees its numbers if it wants them at once
BEGIN;
INSERT INTO invoice (id) VALUES (30), (31);
SET CONSTRAINTS invoice_number IMMEDIATE;
SELECT id, number FROM invoice WHERE id >= 30 ORDER BY id;
INSERT INTO invoice (id) VALUES (32), (33);
SELECT id, number FROM invoice WHERE id >= 32 ORDER BY id;
SELECT spanner.last_assigned('invoice');
ROLLBACK;
BEGIN;
INSERT INTO invoice (id) VALUES (34);
SAVEPOINT s;
INSERT INTO invoice (id) VALUES (35);
SET CONSTRAINTS ALL IMMEDIATE;
SELECT id, number FROM invoice WHERE id >= 34 ORDER BY id;
ROLLBACK TO s;
SELECT id, number FROM invoice WHERE id >= 34 ORDER BY id;
INSERT INTO invoice (id) VALUES (36);
COMMIT;
SELECT id, number FROM invoice WHERE id >= 34 ORDER BY id;
SELECT spanner.last_assigned('invoice');
BEGIN;
INSERT INTO invoice (id) VALUES (37);
SET CONSTRAINTS ALL IMMEDIATE;
SAVEPOINT s;
SAVEPOINT t;
RELEASE t;
ROLLBACK TO s;
COMMIT;
SELECT number = spanner.last_assigned('invoice') AS same FROM invoice WHERE id = 37;

-- several allocators, tables and columns in one transaction
SELECT spanner.create_allocator('first', 'on_commit', start_value => 100) > 0 AS first,
       spanner.create_allocator('second', 'on_commit', start_value => 200) > 0 AS second;
CREATE TABLE two_numbers (a_number smallint, b_number numeric);
CREATE TABLE one_number (number int);
CREATE CONSTRAINT TRIGGER a AFTER INSERT ON two_numbers DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('second', 'a_number');
CREATE CONSTRAINT TRIGGER b AFTER INSERT ON two_numbers DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('first', 'b_number');
CREATE CONSTRAINT TRIGGER c AFTER INSERT ON one_number DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('second', 'number');
BEGIN;
INSERT INTO one_number DEFAULT VALUES;
INSERT INTO two_numbers DEFAULT VALUES;
INSERT INTO one_number DEFAULT VALUES;
COMMIT;
SELECT * FROM two_numbers;
SELECT * FROM one_number ORDER BY number;
SELECT spanner.last_assigned('first'), spanner.last_assigned('second');

-- TRUNCATE and ALTER TABLE would move rows that have no number yet
BEGIN;
INSERT INTO one_number DEFAULT VALUES;
TRUNCATE one_number;
ROLLBACK;
BEGIN;
INSERT INTO one_number DEFAULT VALUES;
ALTER TABLE one_number ALTER number TYPE bigint;
ROLLBACK;
BEGIN;
INSERT INTO one_number DEFAULT VALUES;
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE one_number ALTER number TYPE numeric;
INSERT INTO one_number DEFAULT VALUES;
COMMIT;
SELECT * FROM one_number ORDER BY number;

-- numbers from below zero on, without a limit
SELECT spanner.create_allocator('below', 'on_commit', start_value => -2) > 0 AS created;
CREATE TABLE below (number bigint);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON below DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('below', 'number');
INSERT INTO below VALUES (NULL), (NULL), (NULL);
SELECT * FROM below ORDER BY number;

SELECT spanner.drop_allocator(name) FROM unnest('{invoice,first,second,below}'::text[]) name;
DROP TABLE two_numbers, one_number, invoice, below;
