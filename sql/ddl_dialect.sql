-- spanner.dialect: a database has one dialect, which decides how a text is read.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA dialect;
SET search_path = dialect;
\set VERBOSITY terse
CREATE VIEW remembered AS
  SELECT c AS setting
    FROM pg_db_role_setting s, unnest(s.setconfig) c
   WHERE s.setdatabase = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
     AND c LIKE 'spanner.dialect=%';
-- what other tests have made it; the session keeps nothing of it
SELECT format('ALTER DATABASE %I RESET spanner.dialect', current_database()) AS forget \gset
:forget;
SET spanner.dialect = '';

-- nothing says it yet: these mean two things
CREATE TABLE t (k text, a bigint, b bigint);
SELECT spanner.execute_ddl('ALTER TABLE t ADD CHECK (a / b > 1)');
SELECT spanner.execute_ddl($$ALTER TABLE t ADD CHECK (k != 'a\nb')$$);
SELECT spanner.execute_ddl('CREATE VIEW v SQL SECURITY INVOKER AS SELECT t.a FROM t ORDER BY t.a');
SELECT spanner.execute_ddl('CREATE TABLE n (n numeric PRIMARY KEY)');
\set VERBOSITY default
SELECT spanner.execute_ddl('CREATE VIEW v SQL SECURITY INVOKER AS SELECT count(*) / 2 AS half FROM t');
\set VERBOSITY terse
-- these mean the same, or only one dialect has them
SELECT spanner.execute_ddl('ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0 AND k IS NOT NULL AND NOT (b = -5))');
SELECT spanner.execute_ddl('CREATE VIEW v SQL SECURITY INVOKER AS SELECT count(*) AS n, max(t.a) AS a FROM t WHERE t.b IN (1, 2)');
SELECT spanner.execute_ddl($$ALTER TABLE t ALTER COLUMN k SET DEFAULT ("")$$);
SELECT spanner.execute_ddl('CREATE INDEX i ON "t" (a)');
SELECT spanner.execute_ddl('DROP INDEX i');
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'c';
-- a database of which text has said it
SELECT * FROM remembered;
SHOW spanner.dialect;

-- two things: other parentheses, another end of the text, another type of the result
SET spanner.dialect = 'auto';
SELECT spanner.execute_ddl('ALTER TABLE t ADD CHECK (a | b & a > 0)');
SELECT spanner.execute_ddl('ALTER TABLE t ADD CHECK (~a + b > 0)');
SELECT spanner.execute_ddl('ALTER TABLE t ADD CHECK (a > 0); /* /* */ DELETE FROM t WHERE true; -- */');
SELECT spanner.execute_ddl('CREATE VIEW w SQL SECURITY INVOKER AS SELECT 0.5 AS half');
SELECT spanner.execute_ddl('CREATE VIEW w SQL SECURITY INVOKER AS SELECT 5 AS five, a FROM t');
SELECT spanner.execute_ddl('ALTER TABLE t ADD CHECK (a > 2000000000 + 2000000000)');
-- a row, a right, or what is there does not say it
INSERT INTO t VALUES ('a\nb', 1, 2);
SELECT spanner.execute_ddl($$ALTER TABLE t ADD CHECK (k != 'a\nb')$$);
SELECT spanner.execute_ddl($$ALTER TABLE t ADD CHECK (k = 'a\nb')$$);
SELECT spanner.execute_ddl('ALTER TABLE t ADD CHECK (a > 1)');
SELECT spanner.execute_ddl($$ALTER TABLE t ADD CONSTRAINT c CHECK (k = 'a\nb')$$);
DELETE FROM t;
-- these are the same
SELECT spanner.postgresql_ddl('ALTER TABLE t ALTER COLUMN a SET DEFAULT (5)');
SELECT spanner.postgresql_ddl($$INSERT INTO t (k, a, b) VALUES ('x', 5, -6), ('y', 7, NULL)$$);
SELECT spanner.postgresql_ddl('ALTER TABLE t ADD CHECK (a BETWEEN 1 AND 5 OR (b) IN (-1, (2)))');
SELECT spanner.postgresql_ddl('/* */ CREATE INDEX i ON T (A DESC)');
-- what PostgreSQL has not says nothing
SELECT spanner.postgresql_ddl('CREATE ROLE r; CREATE TABLE x (id bigint PRIMARY KEY); GRANT SELECT ON TABLE x TO r', leave_out => true);
SELECT spanner.postgresql_ddl('START BATCH DDL; CREATE TABLE x (id bigint PRIMARY KEY); RUN BATCH');
-- neither can read these: the error is that of the one that gets further
SELECT spanner.postgresql_ddl('CREATE TABLE x (Id INT64, Kind TIMESTAMPTZ) PRIMARY KEY (Id)');
SELECT spanner.postgresql_ddl('CREATE TABLE x (id bigint PRIMARY KEY, at timestamp)');
SELECT spanner.postgresql_ddl('CREATE VIEW x SQL SECURITY INVOKER AS SELECT a FROM t WHERE a LIKEE 5');
SELECT spanner.postgresql_ddl('CREAT TABLE x (Id INT64) PRIMARY KEY (Id)');
SELECT spanner.postgresql_ddl('SELECT 1');

-- an argument, or a text, says it: for this session and the database
:forget;
SET spanner.dialect = '';
SELECT spanner.execute_ddl('DROP VIEW v', 'postgresql');
SHOW spanner.dialect;
SELECT * FROM remembered;
SELECT spanner.postgresql_ddl('ALTER TABLE t ADD CHECK (a / b > 1)');
:forget;
SET spanner.dialect = '';
BEGIN;
SELECT spanner.execute_ddl('CREATE TABLE g (Id INT64) PRIMARY KEY (Id)');
SELECT * FROM remembered;
ROLLBACK;
SHOW spanner.dialect;
SELECT * FROM remembered;
SELECT spanner.execute_ddl('CREATE TABLE g (Id INT64) PRIMARY KEY (Id)');
SHOW spanner.dialect;
SELECT * FROM remembered;
SELECT spanner.postgresql_ddl('ALTER TABLE t ADD CHECK (a / b > 1)');
-- an argument wins, and so does what can be read in the other dialect only; it changes nothing
SELECT spanner.postgresql_ddl('ALTER TABLE t ADD CHECK (a / b > 1)', 'postgresql');
SELECT spanner.postgresql_ddl('CREATE TABLE p (id bigint PRIMARY KEY, n int)');
SELECT spanner.postgresql_ddl('ALTER TABLE t ADD CHECK ((a / b)::int > 1)');
SELECT * FROM remembered;
-- no word and no name wins over it
SELECT spanner.postgresql_ddl('CREATE VIEW x SQL SECURITY INVOKER AS SELECT text.a / 2 AS x FROM t text');
ALTER TABLE t ADD timestamp bigint, ADD storing bigint;
SET spanner.dialect = 'postgresql';
SELECT spanner.postgresql_ddl('CREATE VIEW x SQL SECURITY INVOKER AS SELECT timestamp / 2 AS x, storing FROM t');
SELECT spanner.postgresql_ddl('CREATE TABLE x (Id DATE, Day DATE) PRIMARY KEY (Id)');
SELECT spanner.postgresql_ddl('ALTER TABLE t ADD CHECK (IF(a > 0, true, false))');
SELECT spanner.postgresql_ddl('ALTER TABLE t ADD CHECK ([a, b][OFFSET(0)] > 0)');
SET spanner.dialect = 'googlesql';
-- errors that can be the dialect's say which one this is
\set VERBOSITY default
SELECT spanner.execute_ddl('ALTER TABLE t ADD CHECK (now() IS NULL)');
DO $$
DECLARE
  context text;
BEGIN
  PERFORM spanner.execute_ddl('ALTER TABLE t ADD CHECK (a @@ 5)');
EXCEPTION WHEN undefined_function THEN
  GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
  RAISE NOTICE '%', split_part(context, E'\n', 1);
END $$;
SELECT spanner.execute_ddl('ALTER TABLE missing ADD CHECK (a > 5)');
\set VERBOSITY terse

-- auto: each text for itself, nothing is remembered
:forget;
SET spanner.dialect = 'auto';
SELECT spanner.execute_ddl('DROP TABLE g', 'googlesql');
SELECT spanner.execute_ddl('CREATE TABLE g (Id INT64) PRIMARY KEY (Id)');
SELECT * FROM remembered;
SELECT spanner.postgresql_ddl('ALTER TABLE t ADD CHECK (a / b > 1)');
SET spanner.dialect = 'spanner';

-- names are shown as they are written
\set VERBOSITY default
SELECT repeat('Abcdefgh_', 7) AS name \gset
SELECT spanner.execute_ddl(format('CREATE TABLE %1$sx (Id INT64) PRIMARY KEY (Id); CREATE TABLE %1$sY (Id INT64) PRIMARY KEY (Id)', :'name'));
\set VERBOSITY terse
SELECT spanner.execute_ddl(format('CREATE INDEX %sZ ON t (a)', :'name'));

-- who does not own the database has it for the session
CREATE ROLE test_ddl_dialect;
GRANT USAGE, CREATE ON SCHEMA dialect TO test_ddl_dialect;
GRANT SELECT ON remembered TO test_ddl_dialect;
SET spanner.dialect = '';
SET ROLE test_ddl_dialect;
SELECT spanner.execute_ddl('CREATE TABLE mine (Id INT64) PRIMARY KEY (Id)');
SHOW spanner.dialect;
SELECT * FROM remembered;
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA dialect CASCADE;
DROP ROLE test_ddl_dialect;
