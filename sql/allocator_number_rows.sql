-- One call that has rows numbered, and mistakes in what it makes when it is made by hand.
CREATE TABLE invoice (id int PRIMARY KEY, company text NOT NULL, year int NOT NULL, number bigint);
INSERT INTO invoice VALUES (1, 'north', 2025, 7), (2, 'north', 2026, 3), (3, 'south', 2026, NULL);

-- what it would do, and what it does; each series goes on after the numbers that are there
SELECT spanner.number_rows('invoice', 'number', series => '{company,year}', dry_run => true);
SELECT spanner.number_rows('invoice', 'number', array_fill('year'::name, ARRAY[33]), dry_run => true);
SELECT count(*) FROM spanner.allocator WHERE name = 'invoice_number';
SELECT spanner.number_rows('invoice', 'number', series => '{company,year}');
INSERT INTO invoice VALUES (4, 'north', 2025), (5, 'north', 2026), (6, 'south', 2026), (7, 'south', 2027);
UPDATE invoice SET number = NULL WHERE number IS NULL;
SELECT * FROM invoice ORDER BY id;
SELECT spanner.number_rows('invoice', 'number');

-- a number that was given by hand and lies ahead, also in a trigger of the table
INSERT INTO invoice VALUES (8, 'south', 2026, 3);
INSERT INTO invoice VALUES (9, 'south', 2026);
SELECT spanner.advance_allocator('invoice_number', 4, 'south', '2026');
INSERT INTO invoice VALUES (9, 'south', 2026);
CREATE TABLE noted (id int PRIMARY KEY);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO noted VALUES (1), (1);
  RETURN NEW;
END $$;
CREATE TRIGGER note BEFORE UPDATE ON invoice FOR EACH ROW EXECUTE FUNCTION note();
INSERT INTO invoice VALUES (10, 'south', 2026);
DROP TRIGGER note ON invoice;
DROP TABLE noted;
DROP FUNCTION note;

-- undone by one call, and again: no number comes twice
SELECT spanner.stop_numbering('invoice', 'number');
SELECT spanner.stop_numbering('invoice', 'number');
INSERT INTO invoice VALUES (11, 'south', 2026);
SELECT spanner.number_rows('invoice', 'number', '{company,year}');
INSERT INTO invoice VALUES (12, 'south', 2026);
SELECT * FROM invoice WHERE company = 'south' ORDER BY id;
SELECT spanner.last_assigned('invoice_number'), spanner.last_assigned('invoice_number', 'south', '2026');

-- the last number is forgotten as that of lastval()
DISCARD TEMP;
SELECT spanner.last_assigned('invoice_number');
DISCARD SEQUENCES;
SELECT spanner.last_assigned('invoice_number'), spanner.last_assigned('invoice_number', 'south', '2026');
INSERT INTO invoice VALUES (13, 'south', 2027);
DISCARD ALL;
SELECT spanner.last_assigned('invoice_number');

-- a session in which a dump was restored says what it leaves out, but nothing of what was rolled back
SET check_function_bodies = off;
BEGIN;
INSERT INTO invoice VALUES (14, 'east', 2026, NULL), (15, 'east', 2026, 1), (16, 'east', 2026, NULL);
SAVEPOINT s;
INSERT INTO invoice VALUES (17, 'east', 2026);
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK TO s;
SET CONSTRAINTS ALL DEFERRED;
DELETE FROM invoice WHERE id = 16;
COMMIT;
INSERT INTO invoice VALUES (18, 'east', 2026, 2);
RESET check_function_bodies;
SELECT id, number FROM invoice WHERE company = 'east' ORDER BY id;

-- rows that wait keep their trigger
BEGIN;
INSERT INTO invoice VALUES (19, 'west', 2026);
DROP TRIGGER invoice_number_assign ON invoice;
ROLLBACK;
BEGIN;
INSERT INTO invoice VALUES (19, 'west', 2026);
SELECT spanner.stop_numbering('invoice', 'number');
ROLLBACK;
BEGIN;
INSERT INTO invoice VALUES (19, 'west', 2026);
DROP TABLE invoice;
ROLLBACK;
CREATE TRIGGER other AFTER DELETE ON invoice EXECUTE FUNCTION suppress_redundant_updates_trigger();
BEGIN;
INSERT INTO invoice VALUES (19, 'west', 2026);
DROP TRIGGER other ON invoice;
COMMIT;
SELECT number FROM invoice WHERE id = 19;

-- another table with the allocator of that name
CREATE SCHEMA elsewhere;
CREATE TABLE elsewhere.invoice (number int UNIQUE);
SELECT spanner.number_rows('elsewhere.invoice', 'number');
SET search_path = elsewhere;
SELECT spanner.number_rows('invoice', 'number', allocator => 'elsewhere');
INSERT INTO invoice VALUES (DEFAULT), (DEFAULT);
SELECT * FROM invoice;
RESET search_path;
SELECT spanner.stop_numbering('elsewhere.invoice', 'number');
\d elsewhere.invoice

-- names that need quotes, and both tables with one allocator
CREATE TABLE "The 'Paper'" ("No. \" numeric, "Year's" date NOT NULL, EXCLUDE ("No. \" WITH =));
INSERT INTO "The 'Paper'" VALUES (2.5, '2026-01-01'), (-3, '2026-02-01');
SELECT spanner.number_rows('"The ''Paper''"', 'No. \', '{"Year''s"}');
INSERT INTO "The 'Paper'" VALUES (NULL, '2026-01-01'), (NULL, '2026-02-01');
SELECT * FROM "The 'Paper'" ORDER BY 2, 1;
SELECT spanner.stop_numbering('"The ''Paper''"', 'No. \');

-- a domain that is NOT NULL, and numbers that the index would refuse: in a dry run too
CREATE DOMAIN needed AS bigint NOT NULL;
CREATE DOMAIN really_needed AS needed;
CREATE TABLE stored (number really_needed, other int, branch text);
SELECT spanner.number_rows('stored', 'number', dry_run => true);
ALTER TABLE stored DROP COLUMN number;
INSERT INTO stored VALUES (1, 'a'), (1, 'b'), (2, 'a'), (5, NULL), (5, NULL);
SELECT spanner.number_rows('stored', 'other', dry_run => true);
SELECT spanner.number_rows('stored', 'other', '{branch}', dry_run => true);
INSERT INTO stored VALUES (1, 'a');
SELECT spanner.number_rows('stored', 'other', '{branch}', dry_run => true);
DROP TABLE stored;
DROP DOMAIN really_needed, needed;

-- partitions: the index needs the partition key
CREATE TABLE parted (year int NOT NULL, number int) PARTITION BY LIST (year);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (2026);
INSERT INTO parted VALUES (2026, 41);
SELECT spanner.number_rows('parted', 'number');
SELECT spanner.number_rows('parted_1', 'number');
SELECT spanner.number_rows('parted', 'number', '{year}');
INSERT INTO parted VALUES (2026);
TABLE parted_1;
BEGIN;
INSERT INTO parted VALUES (2026);
ALTER TABLE parted DETACH PARTITION parted_1;
ROLLBACK;
BEGIN;
INSERT INTO parted VALUES (2026);
DROP TRIGGER parted_number_assign ON parted;
ROLLBACK;
-- with what its condition needs
CREATE FUNCTION is_final(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 0';
CREATE TABLE final (year int, number int);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON final DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (is_final(NEW.year))
  EXECUTE FUNCTION spanner.assign_on_commit('parted_number', 'number');
BEGIN;
INSERT INTO final VALUES (2026);
DROP FUNCTION is_final CASCADE;
ROLLBACK;
DROP TABLE final;
DROP FUNCTION is_final;
-- nothing has loaded the library yet
CREATE COLLATION plain FROM "C";
CREATE TABLE final (year int, note text, number int);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON final DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.note > '' COLLATE plain)
  EXECUTE FUNCTION spanner.assign_on_commit('parted_number', 'number');
\c -
BEGIN;
INSERT INTO final VALUES (2026, 'x');
DROP COLLATION plain CASCADE;
ROLLBACK;
DROP TABLE final;
DROP COLLATION plain;
SELECT spanner.stop_numbering('parted_1', 'number');
SELECT spanner.stop_numbering('parted', 'number');
CREATE TABLE by_expression (year int NOT NULL, number int) PARTITION BY LIST ((year % 2));
SELECT spanner.number_rows('by_expression', 'number', '{year}', dry_run => true);

-- a column that has another name by now is stopped by the old one
CREATE TABLE renamed (id int, number bigint);
SELECT count(*) FROM spanner.number_rows('renamed', 'number');
INSERT INTO renamed VALUES (1);
ALTER TABLE renamed RENAME number TO no;
INSERT INTO renamed VALUES (2);
SELECT spanner.stop_numbering('renamed', 'no');
SELECT spanner.stop_numbering('renamed', 'number');
SELECT spanner.number_rows('renamed', 'no', allocator => 'renamed_number');
INSERT INTO renamed VALUES (2);
TABLE renamed;
-- and so is one that is gone
ALTER TABLE renamed DROP no;
SELECT spanner.stop_numbering('renamed', 'no');
DROP TABLE renamed;

-- inheritance
CREATE TABLE parent (number int);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child VALUES (10);
SELECT spanner.number_rows('parent', 'number');
SELECT spanner.number_rows('child', 'number', allocator => 'parent_number');
INSERT INTO parent VALUES (DEFAULT);
INSERT INTO child VALUES (DEFAULT);
SELECT tableoid::regclass, number FROM parent ORDER BY number;

-- whose rights: those of the owner of the table, who may make allocators
CREATE ROLE regress_owner;
CREATE ROLE regress_other;
CREATE SCHEMA owned AUTHORIZATION regress_owner;
GRANT USAGE ON SCHEMA owned TO regress_other;
SET ROLE regress_owner;
CREATE TABLE owned.bill (number int, branch text);
SELECT spanner.number_rows('owned.bill', 'number');
SET ROLE regress_other;
SELECT spanner.number_rows('owned.bill', 'number');
SELECT spanner.number_rows('owned.bill', 'number', dry_run => true);
SELECT spanner.stop_numbering('owned.bill', 'number');
RESET ROLE;
SELECT spanner.number_rows('owned.bill', 'number');
SELECT owner_role FROM spanner.allocator WHERE name = 'bill_number';
GRANT INSERT ON owned.bill TO regress_other;
SET ROLE regress_other;
INSERT INTO owned.bill (branch) VALUES ('x');
SET ROLE regress_owner;
SELECT * FROM owned.bill;
SELECT spanner.stop_numbering('owned.bill', 'number');
SELECT spanner.number_rows('owned.bill', 'number', '{branch}', allocator => 'parent_number');
SELECT spanner.number_rows('owned.bill', 'number', '{branch}');
RESET ROLE;
DROP TABLE owned.bill;
SELECT spanner.drop_allocator('bill_number');
-- an allocator that another role has made under that name
SELECT spanner.create_allocator('bill_number', 'on_commit') > 0 AS made;
SELECT spanner.grant_allocator('bill_number', 'public');
SELECT spanner.alter_allocator('bill_number', owner_role => 'regress_other');
SET ROLE regress_owner;
CREATE TABLE owned.bill (number int);
SELECT spanner.number_rows('owned.bill', 'number');
SELECT spanner.number_rows('owned.bill', 'number', allocator => 'bill_number');
RESET ROLE;
DROP TABLE owned.bill;
DROP SCHEMA owned;
SELECT spanner.drop_allocator('bill_number');
DROP ROLE regress_owner, regress_other;

-- what it refuses
CREATE TABLE bad (id int PRIMARY KEY, "Number" int, needed bigint NOT NULL, word text, json json,
                  code int, UNIQUE (code));
CREATE VIEW bad_view AS SELECT * FROM bad;
SELECT spanner.number_rows('bad', 'number');
SELECT spanner.number_rows('bad', 'needed');
SELECT spanner.number_rows('bad', 'word');
SELECT spanner.number_rows('bad', 'Number', '{wort}');
SELECT spanner.number_rows('bad', 'Number', '{json}');
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER TABLE bad ADD any_word text COLLATE any_case;
SELECT spanner.number_rows('bad', 'Number', '{any_word}');
ALTER TABLE bad DROP any_word;
DROP COLLATION any_case;
CREATE UNIQUE INDEX one_null ON bad ("Number") NULLS NOT DISTINCT;
SELECT spanner.number_rows('bad', 'Number');
DROP INDEX one_null;
SELECT spanner.number_rows('bad', 'Number', '{Number}');
SELECT spanner.number_rows('bad', 'Number', '{NULL}');
SELECT spanner.number_rows('bad', 'Number', '{word,id,word}');
SELECT spanner.number_rows('bad', 'Number', series => 'word');
SELECT spanner.number_rows('bad', 'code', '{word}');
ALTER TABLE bad ADD begun bigint DEFAULT 1;
SELECT spanner.number_rows('bad', 'begun');
ALTER TABLE bad DROP begun;
SELECT spanner.number_rows('bad_view', 'code');
SELECT spanner.number_rows('bad', 'code', allocator => '');
SELECT spanner.number_rows('bad', 'code', dry_run => NULL);
SELECT spanner.stop_numbering('bad', 'nothing');
SELECT spanner.create_allocator('Pooled') > 0 AS created;
SELECT spanner.number_rows('bad', 'code', allocator => 'Pooled');
INSERT INTO bad VALUES (1, 5, 0), (2, 5, 0);
SELECT spanner.number_rows('bad', 'Number');
BEGIN READ ONLY;
SELECT spanner.number_rows('bad', 'code');
SELECT spanner.number_rows('bad', 'code', dry_run => true);
ROLLBACK;

-- names that are nearly right
SELECT spanner.next_value('pooled');
SELECT spanner.next_value('Poled');
SELECT spanner.next_value('Pool');
SELECT spanner.drop_allocator('POOLED');

-- the commands name the table: nothing stays if that is another one by then
CREATE SCHEMA first;
CREATE SCHEMA second;
CREATE TABLE first.t (number bigint);
CREATE TABLE second.t (number bigint);
CREATE FUNCTION swap() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  ALTER SCHEMA first RENAME TO third;
  ALTER SCHEMA second RENAME TO first;
END $$;
CREATE EVENT TRIGGER swap ON ddl_command_start WHEN TAG IN ('CREATE TRIGGER', 'DROP TRIGGER') EXECUTE FUNCTION swap();
SELECT spanner.number_rows('first.t', 'number');
ALTER EVENT TRIGGER swap DISABLE;
SELECT count(*) FROM (VALUES ('first.t'), ('second.t')) v (t), spanner.number_rows(t::regclass, 'number', allocator => t);
ALTER EVENT TRIGGER swap ENABLE;
SELECT spanner.stop_numbering('first.t', 'number');
DROP EVENT TRIGGER swap;
DROP FUNCTION swap;
DROP TABLE first.t, second.t;
DROP SCHEMA first, second;

-- triggers and defaults by hand
CREATE CONSTRAINT TRIGGER n AFTER INSERT ON bad DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice_numbr', 'code');
DROP TRIGGER n ON bad;
CREATE CONSTRAINT TRIGGER n AFTER INSERT ON bad DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('Pooled', 'code');
CREATE CONSTRAINT TRIGGER n AFTER INSERT ON bad DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice_number', 'cod');
CREATE CONSTRAINT TRIGGER n AFTER INSERT ON bad DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice_number');
CREATE TRIGGER n BEFORE INSERT ON bad
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice_number', 'code');
CREATE TABLE by_default (number bigint NOT NULL DEFAULT spanner.next_value('invoice_number'));
CREATE TABLE by_default (number bigint DEFAULT 10 + spanner.next_value('invoice_number', 'north', '2026'));
CREATE TABLE by_default (number bigint);
ALTER TABLE by_default ALTER number SET DEFAULT spanner.next_value('invoice_number');
ALTER TABLE by_default ADD other bigint DEFAULT spanner.next_value('invoice_number');
ALTER TABLE by_default ALTER number SET DEFAULT spanner.next_value('pooled');
ALTER TABLE by_default ALTER number SET DEFAULT spanner.next_value('Pooled');
-- none of which keeps a dump from being restored
SET check_function_bodies = off;
CREATE CONSTRAINT TRIGGER n AFTER INSERT ON bad DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('missing', 'code');
ALTER TABLE by_default ALTER number SET DEFAULT spanner.next_value('missing');
RESET check_function_bodies;

DROP TABLE invoice, elsewhere.invoice, "The 'Paper'", parted, by_expression, parent, child, by_default;
DROP TABLE bad CASCADE;
DROP SCHEMA elsewhere;
SELECT bool_and(spanner.drop_allocator(name)) FROM spanner.allocator WHERE series = '{}';
