-- Which sequence a column has: the one that its default fetches from.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA oc;
SET search_path = oc;
SET client_min_messages = warning;
CREATE VIEW labels AS
  SELECT relname, split_part(label, '(', 1) AS kind
    FROM pg_class LEFT JOIN pg_seclabel ON objoid = oid AND provider = 'spanner_keys'
   WHERE relnamespace = 'oc'::regnamespace AND relkind = 'S' ORDER BY relname;

-- nobody owns it, and the one that the column owns is not used
CREATE TABLE bill (id bigserial PRIMARY KEY, n integer);
CREATE SEQUENCE bill_new START 1000;
ALTER TABLE bill ALTER COLUMN id SET DEFAULT nextval('bill_new');
INSERT INTO bill (n) VALUES (1), (2);
SELECT spanner.get_table_column_identity_state('oc.bill.id');
SELECT spanner.convert_all('oc');
SELECT spanner.convert_column('bill', 'id');
INSERT INTO bill (n) VALUES (3) RETURNING id > 2 ^ 40 AS mapped;
SELECT spanner.sync_sequence('bill', 'id');
SELECT * FROM labels;

-- two that the column owns, and the younger one is used
CREATE TABLE two (id integer NOT NULL, n integer);
CREATE SEQUENCE two_a OWNED BY two.id;
CREATE SEQUENCE two_b OWNED BY two.id;
ALTER TABLE two ALTER COLUMN id SET DEFAULT nextval('two_b');
INSERT INTO two (n) VALUES (1);
SELECT spanner.convert_column('two', 'id', 'striped');
INSERT INTO two (n) VALUES (2) RETURNING id > 2 ^ 20 AS mapped;
CREATE TABLE computing (id integer NOT NULL);
CREATE SEQUENCE computing_a OWNED BY computing.id;
CREATE SEQUENCE computing_b OWNED BY computing.id;
ALTER TABLE computing ALTER COLUMN id SET DEFAULT nextval('computing_b') % 10;
SELECT spanner_internal.column_sequence('computing', 1::smallint);
ALTER TABLE computing ALTER COLUMN id DROP DEFAULT;
SELECT spanner_internal.column_sequence('computing', 1::smallint);
CREATE TABLE identity (id integer GENERATED ALWAYS AS IDENTITY);
CREATE SEQUENCE identity_b OWNED BY identity.id;
SELECT spanner_internal.column_sequence('identity', 1::smallint);

-- one of another column is not its own
CREATE TABLE borrowing (id bigserial, n integer);
ALTER TABLE borrowing ALTER COLUMN id SET DEFAULT nextval('two_b');
SELECT spanner.convert_column('borrowing', 'id');
SELECT spanner.get_table_column_identity_state('oc.borrowing.id');

-- named by a text, on which the default does not depend
CREATE SEQUENCE named;
CREATE SEQUENCE narrow;
CREATE TABLE by_name (id bigint PRIMARY KEY DEFAULT nextval(('named'::text)::regclass),
                      small integer DEFAULT nextval('oc.narrow'::varchar::regclass),
                      none bigint DEFAULT nextval('missing'::text::regclass),
                      wrong bigint DEFAULT nextval('a.b.c"'::text::regclass), n text);
INSERT INTO by_name (none, wrong, n) SELECT 1, 1, 'x' FROM generate_series(1, 5);
SELECT spanner.convert_all('oc');
SELECT * FROM spanner.convert_all('oc', dry_run => false);
INSERT INTO by_name (none, wrong, n) SELECT 1, 1, 'x' FROM generate_series(1, 5)
  RETURNING id > 2 ^ 40, small > 2 ^ 20;
SELECT spanner.sync_sequence('by_name', 'small');
SELECT * FROM labels;

DROP SCHEMA oc CASCADE;
