-- Numbering on commit by the columns of a row.
SELECT spanner.create_allocator('invoice', 'on_commit') > 0 AS created;
CREATE TABLE invoice (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  issued date NOT NULL,
  year int GENERATED ALWAYS AS (extract(year FROM issued)) STORED,
  tenant varchar(10),
  number bigint,
  label text GENERATED ALWAYS AS ('RE-' || extract(year FROM issued)::text || '-' || lpad(number::text, 6, '0')) STORED,
  UNIQUE (year, tenant, number));
CREATE CONSTRAINT TRIGGER number AFTER INSERT OR UPDATE ON invoice DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice', 'number', 'year', 'tenant');

-- each year and tenant from 1, in the order of the inserts
BEGIN;
INSERT INTO invoice (issued, tenant)
  SELECT date '2026-12-30' + i, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END FROM generate_series(0, 5) i;
SELECT count(number) FROM invoice;
COMMIT;
SELECT spanner.last_assigned('invoice');
INSERT INTO invoice (issued, tenant) VALUES ('2026-06-01', 'a') RETURNING id AS late \gset
SELECT id, issued, tenant, number, label FROM invoice ORDER BY id;
SELECT series, next_value FROM spanner.allocator WHERE name = 'invoice' AND series <> '{}' ORDER BY series;
SELECT spanner.last_assigned('invoice'), spanner.last_assigned('invoice', '2026', 'b') AS of_b,
       spanner.last_assigned('invoice', VARIADIC '{2026,a}') AS of_a, spanner.last_assigned('invoice', '2026', 'none') AS of_none,
       spanner.last_assigned('invoice', '2026') AS of_year;

-- rows that are rolled back, deleted or numbered already use no number
BEGIN;
SAVEPOINT s;
INSERT INTO invoice (issued, tenant) VALUES ('2030-01-01', 'new');
SET CONSTRAINTS number IMMEDIATE;
SELECT label FROM invoice WHERE tenant = 'new';
ROLLBACK TO s;
INSERT INTO invoice (issued, tenant, number) VALUES ('2030-01-01', 'new', 17);
INSERT INTO invoice (issued, tenant) VALUES ('2030-01-02', 'new');
DELETE FROM invoice WHERE issued = '2030-01-02';
INSERT INTO invoice (issued, tenant) VALUES ('2030-01-03', 'new');
COMMIT;
SELECT issued, number FROM invoice WHERE tenant = 'new' ORDER BY issued;

-- the series of a row is that of its last version when it gets its number
BEGIN;
INSERT INTO invoice (issued, tenant) VALUES ('2031-01-01', 'moved');
UPDATE invoice SET issued = '2032-01-01' WHERE tenant = 'moved';
COMMIT;
SELECT label, (SELECT array_agg(series) FROM spanner.allocator WHERE series[2] = 'moved') AS series
  FROM invoice WHERE tenant = 'moved';

-- NULL tells no series
INSERT INTO invoice (issued) VALUES ('2032-01-01');
INSERT INTO invoice (issued, number) VALUES ('2032-01-01', 1);
UPDATE invoice SET issued = issued + 1 WHERE tenant IS NULL;

-- a numbered row stays in its series, unless it gets another number
UPDATE invoice SET tenant = 'b' WHERE id = :late;
UPDATE invoice SET tenant = NULL WHERE id = :late;
UPDATE invoice SET issued = issued + 1 WHERE id = :late;
UPDATE invoice SET tenant = 'c', number = NULL WHERE id = :late;
SELECT issued, tenant, number FROM invoice WHERE id = :late;
UPDATE invoice SET tenant = 'b', number = 100 WHERE id = :late;

-- a trigger that takes a row into another series while it is numbered
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql
  AS 'BEGIN IF OLD.number IS NULL THEN NEW.tenant := ''other''; END IF; RETURN NEW; END';
CREATE TRIGGER meddle BEFORE UPDATE ON invoice FOR EACH ROW EXECUTE FUNCTION meddle();
INSERT INTO invoice (issued, tenant) VALUES ('2033-01-01', 'd');
DROP TRIGGER meddle ON invoice;
DROP FUNCTION meddle();

-- equal values are one series, whatever their type; settings do not matter
CREATE TYPE part AS ENUM ('first', 'second');
CREATE TABLE typed (id int, number int, i smallint, n numeric, f float8, d date, t timestamptz,
                    c char(5), b boolean, u uuid, e part, y bytea, x text);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON typed DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice', 'number',
  'i', 'n', 'f', 'd', 't', 'c', 'b', 'u', 'e', 'y', 'x');
INSERT INTO typed VALUES (1, NULL, 1, 1.50, -0.0, '2026-02-01', '2026-02-01 00:00+00', 'c', true,
                          'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'second', '\xdead', 'x');
SET datestyle = 'German';
SET timezone = 'Asia/Tokyo';
SET bytea_output = 'escape';
SET extra_float_digits = -15;
INSERT INTO typed VALUES (2, NULL, 1, 1.5, 0, '2026-02-01', '2026-02-01 09:00+09', 'c    ', true,
                          'a0eebc999c0b4ef8bb6d6bb9bd380a11', 'second', '\xdead', 'x');
SELECT id, number FROM typed ORDER BY id;
SELECT series FROM spanner.allocator WHERE series[12] IS NULL AND series[11] IS NOT NULL;
RESET datestyle;
RESET timezone;
RESET bytea_output;
RESET extra_float_digits;

-- partitions, of which one has its columns in another order
CREATE TABLE parted (id int, year int, tenant text, number bigint) PARTITION BY LIST (year);
CREATE TABLE parted_2026 PARTITION OF parted FOR VALUES IN (2026);
CREATE TABLE parted_2027 (number bigint, dropped int, tenant text, year int, id int);
ALTER TABLE parted_2027 DROP dropped;
ALTER TABLE parted ATTACH PARTITION parted_2027 FOR VALUES IN (2027);
CREATE CONSTRAINT TRIGGER number AFTER INSERT OR UPDATE ON parted DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice', 'number', 'tenant');
BEGIN;
INSERT INTO parted VALUES (1, 2026, 'parted'), (2, 2027, 'parted'), (3, 2026, 'parted'), (4, 2027, 'other');
UPDATE parted SET year = 2027 WHERE id = 1;
COMMIT;
SELECT tableoid::regclass, id, tenant, number FROM parted ORDER BY id;
UPDATE parted SET tenant = 'other' WHERE id = 2;
UPDATE parted SET year = 2026 WHERE id = 2;
SELECT id, number FROM parted WHERE id = 2;
DROP TABLE parted;

-- columns that are no names of series
CREATE PROCEDURE try(VARIADIC columns text[]) LANGUAGE plpgsql AS $$
BEGIN
  DROP TRIGGER IF EXISTS number ON typed;
  EXECUTE 'CREATE CONSTRAINT TRIGGER number AFTER INSERT ON typed DEFERRABLE INITIALLY DEFERRED'
    ' FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit(''invoice'', ''number'', '
    || (SELECT string_agg(quote_literal(c), ', ') FROM unnest(columns) c) || ')';
  INSERT INTO typed (id, i, x) VALUES (3, 1, repeat('x', 3000));
END $$;
ALTER TABLE typed ADD j json;
CALL try('missing');
CALL try('number');
CALL try('j');
CALL try('x');
SELECT count(*) FROM typed;
DROP PROCEDURE try(text[]);
DROP TABLE typed, invoice;
DROP TYPE part;
SELECT spanner.drop_allocator('invoice');
