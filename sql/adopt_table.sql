-- What adopt_table keeps of a table, and what it refuses.
\set SHOW_CONTEXT never
\pset format unaligned
SET client_min_messages = warning;
CREATE SCHEMA adopt;
CREATE ROLE regress_adopt;
RESET client_min_messages;
SET search_path = adopt;
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';

-- comments, rights that the owner has given up, unique indexes that are no constraints
CREATE TABLE "It's" (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int);
CREATE UNIQUE INDEX "unique n" ON "It's" (n) WHERE n > 3;
CREATE INDEX plain_n ON "It's" (n);
CREATE TRIGGER stamp BEFORE INSERT ON "It's" FOR EACH ROW WHEN (new.n < 0) EXECUTE FUNCTION stamp();
CREATE POLICY positive ON "It's" USING (n > 0);
COMMENT ON INDEX plain_n IS 'index';
COMMENT ON TRIGGER stamp ON "It's" IS 'trigger';
COMMENT ON POLICY positive ON "It's" IS 'it''s a policy';
COMMENT ON SEQUENCE "It's_id_seq" IS 'sequence';
GRANT USAGE ON SEQUENCE "It's_id_seq" TO regress_adopt;
REVOKE TRUNCATE ON "It's" FROM CURRENT_USER;
SELECT replace(statement, current_user, 'OWNER') AS statement FROM spanner.adopt_table('"It''s"') WHERE statement ~ 'COMMENT|REVOKE|ON SEQUENCE';
SET client_min_messages = warning;
BEGIN;
\set ECHO none
SELECT statement FROM spanner.adopt_table('"It''s"')
\gexec
\set ECHO all
COMMIT;
RESET client_min_messages;
SELECT has_table_privilege('"It''s"', 'INSERT'), c.relacl::text ~ '=[a-zA-Z]*D[a-zA-Z]*/' AS truncate FROM pg_class c WHERE oid = '"It''s"'::regclass;

-- long names of indexes stay apart
CREATE TABLE a_very_long_table_name_that_has_nearly_sixty_three_bytes_in_it (id bigint PRIMARY KEY, a int, b int);
CREATE INDEX a_very_long_index_name_that_has_nearly_sixty_three_bytes_on_a ON a_very_long_table_name_that_has_nearly_sixty_three_bytes_in_it (a);
CREATE INDEX a_very_long_index_name_that_has_nearly_sixty_three_bytes_on_b ON a_very_long_table_name_that_has_nearly_sixty_three_bytes_in_it (b);
SELECT statement FROM spanner.adopt_table('a_very_long_table_name_that_has_nearly_sixty_three_bytes_in_it') WHERE statement ~ '^ALTER INDEX';
SELECT t FROM spanner_internal.table_statements(spanner_internal.split_facts(NULL, 'adopt', 'a_very_long_table_name_that_has_nearly_sixty_three_bytes_in_it') -> 'table',
  'adopt', 'x', 'a_very_long_table_name_that_has_nearly_sixty_three_bytes_in__p1', NULL, true) t WHERE t ~ 'INDEX';

-- what would mean the split alone, and constraints that a partitioned table cannot have
CREATE TABLE typed (id int PRIMARY KEY, n int);
ALTER TABLE typed ADD CONSTRAINT later CHECK (n > 0) NOT VALID;
SELECT spanner.adopt_table('typed');
ALTER TABLE typed VALIDATE CONSTRAINT later;
CREATE FUNCTION named(t typed) RETURNS int LANGUAGE sql AS 'SELECT t.n';
CREATE TABLE stores (id int PRIMARY KEY, rows typed[]);
CREATE POLICY seen ON stores USING (EXISTS (SELECT FROM typed t WHERE t.id = stores.id));
CREATE VIEW typed_view AS SELECT id FROM typed;
CREATE RULE written AS ON INSERT TO typed_view DO INSTEAD INSERT INTO typed VALUES (new.id);
SET client_min_messages = error;
CREATE PUBLICATION regress_leaves FOR TABLES IN SCHEMA adopt;
RESET client_min_messages;
SELECT spanner.adopt_table('typed');
DROP PUBLICATION regress_leaves;

SET client_min_messages = warning;
DROP SCHEMA adopt CASCADE;
DROP ROLE regress_adopt;
