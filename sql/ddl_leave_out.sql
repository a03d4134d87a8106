-- leave_out: what cannot be done is left out and listed, and the rest of the text is run.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA left_out;
SET search_path = left_out;
SET spanner.dialect = 'googlesql';
CREATE TABLE file AS SELECT $$
CREATE LOCALITY GROUP disks OPTIONS (storage = 'hdd');
CREATE PROTO BUNDLE (shop.Kind);
CREATE FUNCTION Twice(x INT64) RETURNS INT64 AS (2 * x);
CREATE TABLE Notes (
  Id INT64 NOT NULL,
  Body STRING(MAX) OPTIONS (locality_group = 'disks'),
  Place STRING(20) NOT NULL PLACEMENT KEY,
  Words TOKENLIST AS (TOKENIZE_FULLTEXT(Body)) HIDDEN,
  Vector ARRAY<FLOAT32>(vector_length => 3),
  Kind shop.Kind,
  Parts ARRAY<shop.part.Part>,
  Pair ARRAY<STRUCT<a INT64, b ARRAY<INT64>>>,
  Span INTERVAL,
  N INT64 DEFAULT (Twice(3)),
  M INT64 DEFAULT (SOUNDEX("x")),
  Changed TIMESTAMP OPTIONS (allow_commit_timestamp = true, locality_group = 'disks'),
  -- a comma, and what depends on a column that is not there
  CHECK (Kind IS NOT NULL),
  CONSTRAINT positive CHECK (N > 0),
) PRIMARY KEY (Id), OPTIONS (locality_group = 'disks'), ROW DELETION POLICY (OLDER_THAN(Changed, INTERVAL 9 DAY));
CREATE TABLE Keyed (Kind shop.Kind NOT NULL, N INT64) PRIMARY KEY (Kind);
CREATE TABLE Pages (Id INT64 NOT NULL, Page INT64 NOT NULL, FOREIGN KEY (Page) REFERENCES Keyed (N))
  PRIMARY KEY (Id, Page), INTERLEAVE IN PARENT Notes ON DELETE CASCADE;
CREATE TABLE Orphans (Kind INT64 NOT NULL, N INT64 NOT NULL) PRIMARY KEY (Kind, N), INTERLEAVE IN PARENT Keyed;
CREATE SEARCH INDEX ByWords ON Notes(Words) OPTIONS (sort_order_sharding = true);
CREATE VECTOR INDEX ByVector ON Notes(Vector) OPTIONS (distance_type = 'COSINE');
CREATE INDEX ByKind ON Notes(Kind);
CREATE INDEX ByN ON Notes(N) STORING (Body) OPTIONS (locality_group = 'disks');
CREATE INDEX OfKeyed ON Keyed(N);
CREATE VIEW Kinds SQL SECURITY INVOKER AS SELECT Keyed.Kind FROM Keyed;
CREATE CHANGE STREAM Changes FOR Notes(Body) OPTIONS (partition_mode = 'MUTABLE_KEY_RANGE');
ALTER TABLE Notes ADD COLUMN More TOKENLIST;
ALTER TABLE Notes DROP COLUMN More;
CREATE MODEL Guess INPUT (a INT64) OUTPUT (b INT64) REMOTE OPTIONS (endpoint = '//x');
CREATE PROPERTY GRAPH Web NODE TABLES (Notes);
CREATE ROLE reader;
GRANT SELECT ON TABLE Notes TO ROLE reader;
ALTER STATISTICS yesterday SET OPTIONS (allow_gc = false);
DROP SEARCH INDEX ByWords;
INSERT INTO Notes (Id, Body, Place, N) VALUES (1, 'a\tb', "here", 5), (2, NULL, 'there', 6);
INSERT Pages (Id, Page) SELECT n.Id, n.N + 1 FROM Notes AS n;
INSERT OR UPDATE INTO Notes (Id) VALUES (1);
UPDATE Notes SET N = N + 1, Body = CONCAT(Body, '!') WHERE Id = 1 THEN RETURN N;
UPDATE Notes SET N = N + 1, Body = CONCAT(Body, '!') WHERE Id = 1;
DELETE FROM Notes WHERE Id = 2;
SELECT 1;
$$ AS ddl;
-- wal_level may be too low for publications
SET client_min_messages = error;
SELECT l.* FROM file, spanner.execute_ddl(ddl, leave_out => true) l;
SELECT * FROM pg_publication_tables WHERE schemaname = 'left_out';
DROP PUBLICATION changes;
\d notes
\d pages
SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'notes'::regclass ORDER BY 1;
TABLE notes;
TABLE pages;
-- as PostgreSQL's, and back
DROP TABLE pages, notes, orphans;
SELECT d FROM file, spanner.postgresql_ddl(ddl, 'googlesql', leave_out => true) d LIMIT 9;
RESET client_min_messages;
-- without that, an error names the first one and counts the others
SELECT spanner.execute_ddl(ddl) FROM file;
SELECT l.* FROM file, spanner.execute_ddl(ddl, 'googlesql', false) l;
SELECT to_regclass('notes');

-- mistakes are errors
SELECT * FROM spanner.execute_ddl('CREATE TABLE a (Id INT64, T TOKENLIST) PRIMARY KEY (Id); CREATE INDEX i ON missing(Id)',
                                  leave_out => true);
SELECT * FROM spanner.execute_ddl('CREATE TABLE a (Id INT64, T TOKENLIST) PRIMARY KEY (Id); CREATE TABLE a (Id INT64) PRIMARY KEY (Id)',
                                  leave_out => true);
SELECT to_regclass('a');
-- what follows an error within a table is the caller's, and not its owner's
CREATE ROLE test_left_out;
GRANT USAGE, CREATE ON SCHEMA left_out TO test_left_out;
CREATE TABLE theirs (id bigint);
ALTER TABLE theirs OWNER TO test_left_out;
SELECT * FROM spanner.execute_ddl('ALTER TABLE theirs ALTER COLUMN id SET DEFAULT (SOUNDEX("x"));
CREATE VIEW own SQL SECURITY DEFINER AS SELECT 1 AS x', leave_out => true);
SELECT relowner = current_user::regrole AS is_own FROM pg_class WHERE oid = 'own'::regclass;
-- nothing is left out
SELECT * FROM spanner.execute_ddl('CREATE TABLE a (Id INT64) PRIMARY KEY (Id)', leave_out => true);
-- rows of the other dialect are PostgreSQL's
SELECT spanner.postgresql_ddl($$INSERT INTO a VALUES (7), (8);
UPDATE "a" SET id = id + 1 WHERE id = '8';
DELETE FROM a USING pg_class WHERE relname = 'a;b' AND id = 5$$, 'postgresql');
SELECT spanner.execute_ddl('INSERT INTO missing (id) VALUES (1)', 'postgresql');
-- a part of a table in which PostgreSQL's parser stops
SELECT * FROM spanner.execute_ddl('CREATE TABLE p (id bigint PRIMARY KEY, a bigint DEFAULT (1 +), b bigint, CHECK (b >))', 'postgresql', true);
SELECT spanner.execute_ddl('CREATE TABLE p (id bigint PRIMARY KEY, a bigint, CHECK (a > 5 5))', 'postgresql');
-- names of types, one by one
\set VERBOSITY terse
SELECT spanner.execute_ddl('CREATE TABLE b (Id INT64, V STRUCT<a INT64>) PRIMARY KEY (Id)');
SELECT spanner.execute_ddl('CREATE TABLE b (Id INT64, V ARRAY<TOKENLIST>) PRIMARY KEY (Id)');
SELECT spanner.execute_ddl('CREATE TABLE b (Id INT64, V a.b.C) PRIMARY KEY (Id)');
SELECT spanner.execute_ddl('ALTER TABLE a ADD COLUMN V INTERVAL');
SELECT spanner.execute_ddl('ALTER CHANGE STREAM nothing DROP FOR ALL');
SELECT spanner.execute_ddl('DROP CHANGE STREAM nothing');
SELECT spanner.execute_ddl('DROP CHANGE STREAM IF EXISTS nothing');
SET client_min_messages = error;
SELECT spanner.execute_ddl('CREATE CHANGE STREAM kept');
RESET client_min_messages;
SELECT spanner.execute_ddl('ALTER CHANGE STREAM kept SET OPTIONS (retention_period = ''7d'', value_capture_type = ''NEW_ROW'')', 'googlesql');
DROP PUBLICATION kept;

SET client_min_messages = warning;
DROP SCHEMA left_out CASCADE;
DROP ROLE test_left_out;
