-- Objects and their names: what Spanner allows, what PostgreSQL makes beside them, there and back.

SELECT spanner.bit_reverse(0, true);
\pset format unaligned
\pset tuples_only
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA named;
SET search_path = named;

-- each text is rolled back; an error is its result
CREATE FUNCTION try(ddl text, dialect text DEFAULT 'googlesql') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM spanner.execute_ddl(ddl, dialect);
  RAISE SQLSTATE 'ZZ001';
EXCEPTION
  WHEN SQLSTATE 'ZZ001' THEN RETURN 'ran';
  WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

-- the export, imported in place of the schema, is the same again
CREATE FUNCTION again(schema_name name, dialect text DEFAULT 'googlesql') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  before text := (SELECT string_agg(s, E';\n') FROM spanner.spanner_ddl(schema_name::text::regnamespace, dialect) s);
  after text;
BEGIN
  EXECUTE format('DROP SCHEMA %I CASCADE', schema_name);
  PERFORM spanner.execute_ddl(before, dialect);
  after := (SELECT string_agg(s, E';\n') FROM spanner.spanner_ddl(schema_name::text::regnamespace, dialect) s);
  RETURN NEXT CASE WHEN after = before THEN before ELSE before || E'\n=> ' || after END;
END $$;

-- a second key to the parent: the interleaving is marked, and goes first
SELECT spanner.execute_ddl($$
CREATE SCHEMA o;
CREATE TABLE o.P (A INT64 NOT NULL) PRIMARY KEY (A);
CREATE TABLE o.C (A INT64 NOT NULL, B INT64 NOT NULL, CONSTRAINT Afk FOREIGN KEY (A) REFERENCES o.P (A),
  FOREIGN KEY (A) REFERENCES o.P (A)) PRIMARY KEY (A, B), INTERLEAVE IN PARENT o.P ON DELETE CASCADE;
CREATE TABLE o.E (A INT64 NOT NULL, N INT64 NOT NULL) PRIMARY KEY (A, N), INTERLEAVE IN o.P;
CREATE TABLE o.Empty (N INT64) PRIMARY KEY ();
CREATE TABLE o.F (N INT64) PRIMARY KEY (N), INTERLEAVE IN o.Empty$$, 'googlesql');
INSERT INTO o.p VALUES (1);
INSERT INTO o.c VALUES (1, 1);
INSERT INTO o.e VALUES (1, 1), (2, 2);
DELETE FROM o.p RETURNING a;
TABLE o.c;
SELECT try('DROP TABLE o.P');
SELECT try('DROP TABLE o.C; DROP TABLE o.E; DROP TABLE o.P');
SELECT try('ALTER TABLE o.E SET INTERLEAVE IN PARENT o.P ON DELETE NO ACTION; DROP TABLE o.P');
SELECT again('o');
DROP TABLE o.f, o.empty;
SELECT again('o', 'postgresql');
DROP SCHEMA o CASCADE;
-- without the mark, one that cascades
CREATE TABLE p (a bigint PRIMARY KEY);
CREATE TABLE c (a bigint REFERENCES p, b bigint, PRIMARY KEY (a, b), FOREIGN KEY (a) REFERENCES p ON DELETE CASCADE);
SELECT spanner.spanner_ddl('c'::regclass);
DROP TABLE c, p;
-- the key of a partitioned table goes with it, as the index of its order does
CREATE TABLE parts (a bigint, b bigint, PRIMARY KEY (a, b)) PARTITION BY RANGE (a);
CREATE INDEX ON parts (a, b DESC);
SELECT try('DROP TABLE parts');
CREATE INDEX more ON parts (b);
SELECT try('DROP TABLE parts');
DROP TABLE parts;

-- names of more than 63 bytes are kept, and are never another's
-- (views of two tables are the same text in all releases)
SELECT $$
CREATE SCHEMA o;
CREATE SEQUENCE o.long_seq BIT_REVERSED_POSITIVE;
CREATE TABLE o.long_table (Id INT64 NOT NULL DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE o.long_seq)), long_column STRING(9),
  Low STRING(MAX) AS (LOWER(long_column)) STORED, CONSTRAINT long_check CHECK (long_column != 'long_seq')) PRIMARY KEY (Id);
CREATE INDEX o.long_index ON o.long_table(long_column);
CREATE VIEW o.long_view SQL SECURITY INVOKER AS SELECT t.long_column FROM o.long_table AS t, o.long_table AS u;
ALTER TABLE o.long_table ADD COLUMN long_new INT64;
ALTER TABLE o.long_table ADD CONSTRAINT long_fk FOREIGN KEY (Id) REFERENCES o.long_table (Id)$$ AS ddl \gset
SELECT try(replace(:'ddl', 'long_', repeat('long_name_', 7)));
SELECT spanner.execute_ddl(regexp_replace(:'ddl', 'long_(\w+)', '\1_' || repeat('long_name_', 6) || 'end', 'g'), 'googlesql');
SELECT again('o');
SELECT again('o', 'postgresql');
SELECT classoid::regclass, description FROM pg_description
 WHERE description LIKE '%long_name%' ORDER BY classoid::regclass::text COLLATE "C", description COLLATE "C";
SELECT 'index_' || repeat('long_name_', 6) AS index \gset
SELECT ddl, try(ddl) FROM unnest(ARRAY['DROP INDEX o.' || :'index' || 'other', 'DROP INDEX IF EXISTS o.' || :'index' || 'other',
  'CREATE INDEX IF NOT EXISTS o.' || :'index' || 'other ON o.t(a)',
  format('CREATE TABLE o.t (%1$sother INT64) PRIMARY KEY (%1$sother)', :'index'), 'DROP INDEX o.' || :'index' || 'end',
  'CREATE TABLE o.t (Id INT64 DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE o.seq_' || repeat('long_name_', 6) || 'other))) PRIMARY KEY (Id)']) ddl;
-- a publication that is made anew
SET client_min_messages = error;
SELECT spanner.postgresql_ddl(format('CREATE CHANGE STREAM %1$s FOR o.table_%2$send; ALTER CHANGE STREAM %1$s DROP FOR ALL',
  'stream_' || repeat('long_name_', 6), repeat('long_name_', 6)), 'googlesql');
SET client_min_messages = warning;
-- nor after it has got a new name
DO $$ BEGIN EXECUTE format('ALTER INDEX o.%I RENAME TO short', (SELECT relname FROM pg_class WHERE relname LIKE 'index\_long%')); END $$;
SELECT try('CREATE INDEX o.' || :'index' || 'other ON o.table_' || repeat('long_name_', 6) || 'end(Id)');
DROP SCHEMA o CASCADE;

-- names that Spanner does not allow, or that another object has
SELECT ddl, try(ddl) FROM unnest(ARRAY[
  'CREATE TABLE `a b` (Id INT64) PRIMARY KEY (Id)', 'CREATE TABLE _a (Id INT64) PRIMARY KEY (Id)',
  'CREATE TABLE T (`1` INT64) PRIMARY KEY (`1`)', 'CREATE TABLE T (Id INT64, CONSTRAINT `x-y` CHECK (Id > 1)) PRIMARY KEY (Id)',
  'CREATE TABLE T (Id INT64, CONSTRAINT pk_t CHECK (Id > 1)) PRIMARY KEY (Id)',
  'CREATE SEQUENCE größe BIT_REVERSED_POSITIVE', 'CREATE SCHEMA `a.b`',
  'CREATE VIEW `v v` SQL SECURITY INVOKER AS SELECT 1 AS N', 'CREATE CHANGE STREAM `c s` FOR ALL',
  'CREATE TABLE T (Id INT64) PRIMARY KEY (Id); CREATE INDEX `i i` ON T(Id)',
  'CREATE TABLE T (Id INT64) PRIMARY KEY (Id); ALTER TABLE T RENAME TO `t t`',
  'CREATE TABLE T (Id INT64) PRIMARY KEY (Id); ALTER TABLE T ADD COLUMN _n INT64',
  'CREATE TABLE T (Id INT64, CONSTRAINT c CHECK (Id > 1)) PRIMARY KEY (Id); CREATE TABLE U (Id INT64, CONSTRAINT C CHECK (Id > 1)) PRIMARY KEY (Id)',
  'CREATE TABLE T (Id INT64, CONSTRAINT c CHECK (Id > 1)) PRIMARY KEY (Id); CREATE INDEX c ON T(Id)',
  'CREATE TABLE T (Id INT64) PRIMARY KEY (Id); CREATE TABLE U (Id INT64, CONSTRAINT t CHECK (Id > 1)) PRIMARY KEY (Id)',
  'CREATE TABLE T (Id INT64) PRIMARY KEY (Id); CREATE TABLE t (Id INT64) PRIMARY KEY (Id)',
  'CREATE TABLE T (Id INT64, ID INT64) PRIMARY KEY (Id)']) ddl;
SELECT ddl, try(ddl, 'postgresql') FROM unnest(ARRAY[
  'create table t (id bigint primary key); create table "T" (id bigint primary key)',
  'create table t (id bigint primary key, "ID" bigint)', 'create table "a b" (id bigint primary key)']) ddl;

-- names that PostgreSQL has made up give way
SELECT spanner.execute_ddl($$
CREATE SCHEMA o;
CREATE TABLE o.D (A INT64 NOT NULL, B INT64 NOT NULL) PRIMARY KEY (A, B DESC);
CREATE INDEX o.D_A_B_idx ON o.D(B);
CREATE INDEX IF NOT EXISTS o.D_pkey ON o.D(B, A);
CREATE TABLE o.I (A INT64 NOT NULL, FOREIGN KEY (A) REFERENCES o.D(B)) PRIMARY KEY (A);
CREATE INDEX o.D_B_key ON o.D(B DESC);
CREATE INDEX o.E_pkey ON o.D(A);
CREATE TABLE o.E (A INT64) PRIMARY KEY (A);
CREATE TABLE o.J (A INT64 NOT NULL GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE)) PRIMARY KEY (A);
CREATE SEQUENCE o.J_A_seq BIT_REVERSED_POSITIVE$$, 'googlesql');
SELECT again('o');
SELECT relname, relkind FROM pg_class WHERE relnamespace = 'o'::regnamespace AND relname LIKE '%\_1' ORDER BY 1;
DROP SCHEMA o CASCADE;

-- a view with other columns is made anew, and keeps its owner and rights, or is not made
CREATE ROLE "regress reader";
CREATE SCHEMA o;
GRANT ALL ON SCHEMA o TO "regress reader";
SELECT spanner.postgresql_ddl('CREATE VIEW o.v SQL SECURITY DEFINER AS SELECT 1 AS a, 2 AS b; CREATE OR REPLACE VIEW o.v SQL SECURITY DEFINER AS SELECT 1 AS b', 'googlesql');
SELECT spanner.execute_ddl('CREATE VIEW o.v SQL SECURITY DEFINER AS SELECT 1 AS a', 'googlesql');
GRANT SELECT ON o.v TO "regress reader" WITH GRANT OPTION;
SELECT spanner.execute_ddl('CREATE OR REPLACE VIEW o.v SQL SECURITY DEFINER AS SELECT 2 AS a', 'googlesql');
SELECT spanner.execute_ddl('CREATE OR REPLACE VIEW o.v SQL SECURITY DEFINER AS SELECT 1 AS b', 'googlesql');
SELECT has_table_privilege('regress reader', 'o.v', 'SELECT WITH GRANT OPTION'), has_table_privilege('regress reader', 'o.v', 'INSERT');
-- what another role has granted, goes when that role loses it
GRANT USAGE ON SCHEMA o TO "regress reader";
SET ROLE "regress reader";
GRANT SELECT ON o.v TO PUBLIC;
RESET ROLE;
SELECT spanner.execute_ddl('CREATE OR REPLACE VIEW o.v SQL SECURITY DEFINER AS SELECT 1 AS a', 'googlesql');
REVOKE ALL ON SCHEMA o FROM "regress reader";
REVOKE ALL ON o.v FROM "regress reader" CASCADE;
ALTER VIEW o.v OWNER TO "regress reader";
GRANT SELECT ON o.v TO PUBLIC;
GRANT UPDATE (b) ON o.v TO CURRENT_USER;
SELECT spanner.execute_ddl('CREATE OR REPLACE VIEW o.v SQL SECURITY DEFINER AS SELECT 1 AS a, 2 AS b', 'googlesql');
SELECT relowner::regrole, 0 = ANY (SELECT grantee FROM aclexplode(relacl)) AS public, (SELECT count(*) FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL)
  FROM pg_class c WHERE oid = 'o.v'::regclass;
REVOKE ALL ON o.v FROM "regress reader", PUBLIC;
REVOKE ALL (a, b) ON o.v FROM CURRENT_USER;
SELECT spanner.execute_ddl('CREATE OR REPLACE VIEW o.v SQL SECURITY DEFINER AS SELECT 1 AS b', 'googlesql', leave_out => true);
SELECT relowner::regrole FROM pg_class WHERE oid = 'o.v'::regclass;
DROP SCHEMA o CASCADE;
DROP ROLE "regress reader";

-- words that are no keywords where they stand
SELECT spanner.execute_ddl($$
CREATE SCHEMA o;
CREATE TABLE o.table (Id INT64 NOT NULL, primary BOOL, table STRING(9), check INT64, unique INT64, constraint STRING(MAX),
  foreign INT64, references INT64, add INT64, alter INT64, drop INT64, column INT64, only INT64, grant INT64, revoke INT64,
  synonym INT64, interleave INT64 NOT NULL, CHECK (check > 0 AND table != 'x'), CONSTRAINT check2 CHECK (primary),
  FOREIGN KEY (foreign) REFERENCES o.table (Id)) PRIMARY KEY (Id, interleave);
CREATE INDEX o.check ON o.table(check, table DESC) STORING (primary, add);
CREATE INDEX o.index ON o.table(add); ALTER INDEX o.index ADD STORED COLUMN drop; ALTER INDEX o.index DROP STORED COLUMN drop;
ALTER TABLE o.table DROP COLUMN only; ALTER TABLE o.table DROP grant; ALTER TABLE o.table ADD CONSTRAINT add CHECK (unique > 0);
ALTER TABLE o.table DROP CONSTRAINT add; ALTER TABLE o.table ALTER COLUMN alter SET DEFAULT (5);
ALTER TABLE o.table DROP COLUMN constraint; ALTER TABLE o.table ADD COLUMN constraint INT64;
CREATE TABLE o.primary (Id INT64 NOT NULL, interleave INT64 NOT NULL, x INT64) PRIMARY KEY (Id, interleave, x),
  INTERLEAVE IN PARENT o.table ON DELETE CASCADE;
ALTER TABLE o.primary RENAME TO unique$$, 'googlesql');
SELECT again('o');
DROP SCHEMA o CASCADE;
SELECT spanner.execute_ddl($$
create schema o;
create table o.by (id bigint primary key, by text, set bigint, if boolean, add bigint, alter bigint, drop bigint, exists bigint,
  interval bigint, revoke bigint, synonym bigint, interleave bigint);
create table if not exists o.exists (by bigint, set bigint, primary key (by, set)) ;
alter table o.by drop column add; alter table o.by add column add bigint, alter column by set default 'x', drop column alter;
create index set on o.by (by, set) include (if); alter table o.by drop if exists exists$$, 'postgresql');
SELECT again('o', 'postgresql');
DROP SCHEMA o CASCADE;

-- options of change streams
SET client_min_messages = error;
SELECT o, try(format('CREATE CHANGE STREAM s OPTIONS (%s)', o)) FROM unnest(ARRAY['retention_period = 1', 'retention_period = null',
  'retention_period = "7d"', 'value_capture_type = true', 'exclude_insert = "false"', 'exclude_update = null',
  'exclude_delete = 1', 'exclude_ttl_deletes = false', 'exclude_ttl_deletes = true', 'other = true']) o;
SET client_min_messages = warning;

-- what an index stores, and what a generated column and a check may read
SELECT ddl, try('CREATE TABLE T (Id INT64 NOT NULL, N INT64, Ts TIMESTAMP OPTIONS (allow_commit_timestamp = true), '
  'G INT64 AS (N + 1) STORED) PRIMARY KEY (Id); CREATE INDEX I ON T(N);' || ddl) FROM unnest(ARRAY[
  'CREATE INDEX J ON T(N) STORING (Id)', 'CREATE INDEX J ON T(N) STORING (G, G)', 'CREATE INDEX J ON T(N) STORING (N)',
  'ALTER INDEX I ADD STORED COLUMN Id', 'ALTER INDEX I ADD STORED COLUMN N', 'ALTER INDEX I DROP STORED COLUMN N',
  'ALTER TABLE T ADD COLUMN X INT64 NOT NULL AS (N)', 'ALTER TABLE T ADD COLUMN X STRING(9) AS (CAST(N AS STRING))',
  'ALTER TABLE T ADD COLUMN X STRING(MAX) AS (CAST(N AS STRING))', 'ALTER TABLE T ADD COLUMN X TIMESTAMP AS (Ts) STORED',
  'ALTER TABLE T ADD CHECK (Ts > TIMESTAMP "2026-01-01")', 'ALTER TABLE T ADD CHECK (G > 1)', 'ALTER TABLE T ADD CHECK (G > N)',
  'ALTER TABLE T ADD CHECK (1 > 0)', 'CREATE INDEX D ON T(Id DESC); DROP TABLE T']) ddl;
SELECT try('create table t (id bigint primary key, g bigint not null generated always as (id + 1) virtual)', 'postgresql');

-- what is PostgreSQL's own goes out with names and clauses that Spanner has
CREATE SCHEMA o;
SET search_path = o;
CREATE TABLE _m (_id bigint PRIMARY KEY, "has dash" text, "größe" text GENERATED ALWAYS AS (lower("has dash")) STORED,
  gone int, CONSTRAINT "c c" CHECK ("has dash" > 'x'), CONSTRAINT positive CHECK (_id > 0));
ALTER TABLE _m DROP gone;
CREATE TABLE "order" ("select" bigint PRIMARY KEY REFERENCES _m, "1" text, CONSTRAINT positive CHECK ("select" > 0),
  CONSTRAINT _m CHECK ("1" <> ''), CONSTRAINT pk_order CHECK ("1" <> ' '));
CREATE TABLE "Order" (id bigint PRIMARY KEY);
CREATE INDEX "i i" ON _m ("has dash") INCLUDE (_id);
CREATE UNIQUE INDEX stored ON "order" ("select") INCLUDE ("select", "1");
CREATE VIEW "v v" WITH (security_invoker = true) AS SELECT _m."has dash" AS "a b" FROM _m, _m AS other;
CREATE SEQUENCE _s;
SELECT spanner.alter_sequence('_s', 'bit_reversed_positive');
ALTER TABLE "order" ALTER "select" SET DEFAULT nextval('_s');
SELECT spanner.spanner_ddl(schema => 'o');
SELECT spanner.spanner_ddl(schema => 'o', dialect => 'postgresql') EXCEPT ALL
  SELECT s FROM spanner.spanner_ddl(schema => 'o') s ORDER BY 1;
RESET search_path;
SET search_path = named;
DROP SCHEMA o CASCADE;

-- names that are one in Spanner
CREATE SCHEMA o;
CREATE TABLE o."t u" ("a b" bigint PRIMARY KEY, a_b bigint, "Ab" int, ab int, CONSTRAINT "c d" CHECK (a_b > 0), CONSTRAINT c_d CHECK (a_b > 1));
CREATE TABLE o.t_u (id bigint PRIMARY KEY);
CREATE INDEX "T u" ON o."t u" (a_b);
SELECT spanner.spanner_ddl(schema => 'o');
DROP SCHEMA o CASCADE;

-- a table that is interleaved in another one has a key to it as well, which stays, and is after a new interleaving
SELECT spanner.execute_ddl($$CREATE SCHEMA o;
CREATE TABLE o.P (A INT64 NOT NULL) PRIMARY KEY (A);
CREATE TABLE o.C (A INT64 NOT NULL, B INT64 NOT NULL, CONSTRAINT Afk FOREIGN KEY (A) REFERENCES o.P (A)) PRIMARY KEY (A, B), INTERLEAVE IN o.P$$, 'googlesql');
COMMENT ON CONSTRAINT afk ON o.c IS 'it''s';
SELECT spanner.spanner_ddl('o.c'::regclass);
SELECT try('ALTER TABLE o.C SET INTERLEAVE IN PARENT o.P ON DELETE CASCADE');
SELECT spanner.execute_ddl('ALTER TABLE o.C SET INTERLEAVE IN PARENT o.P');
SELECT spanner.postgresql_ddl('ALTER TABLE o.C SET ON DELETE CASCADE');
SELECT spanner.execute_ddl('ALTER TABLE o.C SET INTERLEAVE IN PARENT o.P ON DELETE CASCADE');
INSERT INTO o.p VALUES (1);
INSERT INTO o.c VALUES (1, 1);
DELETE FROM o.p;
TABLE o.c;
SELECT * FROM again('o');
DROP SCHEMA o CASCADE;

-- words that GoogleSQL reserves are names in backquotes only; the other dialect has other words
SELECT ddl, try(ddl)
  FROM unnest(ARRAY['CREATE TABLE Order (Id INT64) PRIMARY KEY (Id)', 'CREATE TABLE R (Id INT64, At TIMESTAMP) PRIMARY KEY (Id)',
  'CREATE TABLE R (Id INT64, CONSTRAINT select CHECK (Id > 0)) PRIMARY KEY (Id)',
  'CREATE TABLE R (Id INT64, CHECK (of > 0)) PRIMARY KEY (Id)', 'CREATE INDEX Rows ON R(Id)',
  'CREATE VIEW V SQL SECURITY INVOKER AS SELECT R.Id AS hash FROM R', 'CREATE VIEW V SQL SECURITY INVOKER AS SELECT r.Id FROM R AS no',
  'CREATE TABLE `Order` (`At` INT64, Offset INT64, Check INT64, CHECK (`At` > 0)) PRIMARY KEY (`At`);'
  'CREATE VIEW V SQL SECURITY INVOKER AS SELECT `Order`.at AS `hash` FROM `Order`']) ddl;
SELECT try('CREATE TABLE rows (at bigint PRIMARY KEY, hash bigint)', 'postgresql');

-- the schema public is not named, so that a copy can be elsewhere
CREATE TABLE public.ddl_a (id bigint PRIMARY KEY);
CREATE VIEW public.ddl_v AS SELECT a.id FROM public.ddl_a a, public.ddl_a b;
CREATE SEQUENCE public.ddl_s;
SELECT spanner.alter_sequence('public.ddl_s', 'bit_reversed_positive');
CREATE TABLE public.ddl_b (id bigint PRIMARY KEY DEFAULT nextval('public.ddl_s'));
SELECT spanner.spanner_ddl(r, 'postgresql') FROM unnest('{public.ddl_s,public.ddl_b,public.ddl_v}'::regclass[]) r;
DROP TABLE public.ddl_a, public.ddl_b CASCADE;
DROP SEQUENCE public.ddl_s;

-- a foreign key to what could be the parent is one after an export, too; a table of PostgreSQL is interleaved
SELECT spanner.execute_ddl($$CREATE SCHEMA o;
CREATE TABLE o.Venues (Id INT64 NOT NULL) PRIMARY KEY (Id);
CREATE TABLE o.Concerts (Id INT64 NOT NULL, N INT64, CONSTRAINT Venue FOREIGN KEY (Id) REFERENCES o.Venues (Id),
  FOREIGN KEY (Id) REFERENCES o.Venues (Id)) PRIMARY KEY (Id, N);
CREATE TABLE o.Shows (Id INT64 NOT NULL, N INT64) PRIMARY KEY (Id, N);
ALTER TABLE o.Shows ADD CONSTRAINT ShowVenue FOREIGN KEY (Id) REFERENCES o.Venues (Id)$$, 'googlesql');
CREATE TABLE o.seats (id bigint REFERENCES o.venues, n bigint, PRIMARY KEY (id, n));
SELECT again('o');
DROP SCHEMA o CASCADE;

DROP SCHEMA named CASCADE;
