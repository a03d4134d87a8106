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
ALTER TABLE "It's" ALTER COLUMN n SET STATISTICS 77;
CREATE STATISTICS "It's both" (dependencies) ON id, n FROM "It's";
ALTER STATISTICS "It's both" SET STATISTICS 55;
COMMENT ON STATISTICS "It's both" IS 'statistics';
GRANT USAGE ON SEQUENCE "It's_id_seq" TO regress_adopt;
REVOKE TRUNCATE ON "It's" FROM CURRENT_USER;
SELECT replace(c, current_user, 'OWNER') AS command FROM spanner_internal.adoption_commands('"It''s"') c WHERE c ~ 'COMMENT|REVOKE|USAGE|STATISTICS';
SELECT count(*) > 0 AS adopted FROM spanner.adopt_table('"It''s"', dry_run => false);
SELECT spanner.adopt_table('"It''s"');
SELECT spanner.adopt_table(0);
SELECT spanner.adopt_table(NULL);
SELECT has_table_privilege('"It''s"', 'INSERT'), c.relacl::text ~ '=[a-zA-Z]*D[a-zA-Z]*/' AS truncate FROM pg_class c WHERE oid = '"It''s"'::regclass;

-- rights are those that the table had, not those that new tables get by now
CREATE TABLE older (id int PRIMARY KEY);
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO regress_adopt;
SELECT replace(c, current_user, 'OWNER') AS command FROM spanner_internal.adoption_commands('older') c WHERE c ~ '^REVOKE' ORDER BY 1 COLLATE "C";
SELECT count(*) > 0 AS adopted FROM spanner.adopt_table('older', dry_run => false);
ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM regress_adopt;
SELECT bool_and(relacl @> (acldefault('r', relowner))[1]) AS all_of_owner, bool_or(relacl::text ~ 'regress_adopt') AS of_others FROM pg_class WHERE oid = 'older'::regclass;

-- long names of indexes stay apart
CREATE TABLE a_very_long_table_name_that_has_nearly_sixty_three_bytes_in_it (id bigint PRIMARY KEY, a int, b int);
CREATE INDEX a_very_long_index_name_that_has_nearly_sixty_three_bytes_on_a ON a_very_long_table_name_that_has_nearly_sixty_three_bytes_in_it (a);
CREATE INDEX a_very_long_index_name_that_has_nearly_sixty_three_bytes_on_b ON a_very_long_table_name_that_has_nearly_sixty_three_bytes_in_it (b);
SELECT c FROM spanner_internal.adoption_commands('a_very_long_table_name_that_has_nearly_sixty_three_bytes_in_it') c WHERE c ~ '^ALTER INDEX';
-- an identity whose sequence has a kind stays one, and goes on
CREATE TABLE bound (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text);
SET client_min_messages = warning;
SELECT spanner.convert_column('adopt.bound', 'id');
RESET client_min_messages;
INSERT INTO bound (v) VALUES ('before');
GRANT ALL ON SCHEMA adopt TO regress_adopt;
ALTER TABLE bound OWNER TO regress_adopt;
SELECT c FROM spanner_internal.adoption_commands('bound') c;
SELECT count(*) > 0 AS adopted FROM spanner.adopt_table('bound', dry_run => false);
SELECT relowner::regrole FROM pg_class WHERE oid = 'bound'::regclass;
INSERT INTO bound (v) VALUES ('behind');
INSERT INTO bound (id, v) VALUES (7, 'by hand');
INSERT INTO bound_p0 (id, v) VALUES (7, 'by hand');
SELECT id, v, tableoid::regclass FROM bound;
ALTER SEQUENCE bound_id_seq OWNED BY bound_p0.v;

-- what would mean the split alone, and constraints that a partitioned table cannot have
CREATE TABLE typed (id int PRIMARY KEY, n int);
ALTER TABLE typed ADD CONSTRAINT later CHECK (n > 0) NOT VALID;
SELECT spanner.adopt_table('typed');
ALTER TABLE typed VALIDATE CONSTRAINT later;
-- from release 18 on a constraint may be not enforced, which a partitioned table can have
SELECT current_setting('server_version_num')::int >= 180000 AS not_enforced \gset
\if :not_enforced
ALTER TABLE typed ADD CONSTRAINT never CHECK (n > 9) NOT ENFORCED;
\endif
SELECT count(*) FROM spanner.adopt_table('typed');
CREATE FUNCTION named(t typed) RETURNS int LANGUAGE sql AS 'SELECT t.n';
CREATE TABLE stores (id int PRIMARY KEY, rows typed[]);
CREATE POLICY seen ON stores USING (EXISTS (SELECT FROM typed t WHERE t.id = stores.id));
CREATE VIEW typed_view AS SELECT id FROM typed;
CREATE RULE written AS ON INSERT TO typed_view DO INSTEAD INSERT INTO typed VALUES (new.id);
CREATE RULE also AS ON INSERT TO typed DO ALSO SELECT 1;
-- anybody can make a view: it is no obstacle to whoever may act as its owner
SET ROLE regress_adopt;
CREATE VIEW others AS SELECT id FROM typed;
RESET ROLE;
SET client_min_messages = error;
CREATE PUBLICATION regress_leaves FOR TABLES IN SCHEMA adopt;
RESET client_min_messages;
SELECT spanner.adopt_table('typed');
DROP PUBLICATION regress_leaves;

-- a view is made again as its owner; what is of roles that may not use the table stays with the split
SET client_min_messages = warning;
CREATE ROLE regress_guest;
GRANT ALL ON SCHEMA adopt TO regress_guest;
CREATE TABLE seen (id int PRIMARY KEY, n int);
ALTER TABLE seen OWNER TO regress_adopt;
CREATE TABLE seen_twice (LIKE seen INCLUDING ALL);
ALTER TABLE seen_twice OWNER TO regress_adopt;
RESET client_min_messages;
SET ROLE regress_guest;
CREATE VIEW guest AS SELECT n FROM seen;
CREATE VIEW guest_twice AS SELECT n FROM seen_twice;
CREATE FUNCTION guest_function(seen_twice) RETURNS int LANGUAGE sql RETURN 1;
SET ROLE regress_adopt;
GRANT SELECT (n) ON seen TO regress_guest;
SELECT spanner.adopt_table('seen');
SELECT count(*) > 0 AS adopted FROM spanner.adopt_table('seen_twice', dry_run => false);
SELECT pg_get_viewdef('guest_twice') ~ 'FROM seen_twice_p0;' AS of_the_split;
RESET ROLE;
-- who is not the owner sees calls that take the owner's rights
SELECT statement FROM spanner.adopt_table('seen') WHERE statement ~ 'RENAME';
SELECT count(*) > 0 AS adopted FROM spanner.adopt_table('seen', dry_run => false);
SELECT pg_get_viewdef('guest') ~ 'FROM seen;' AS of_all, relowner::regrole FROM pg_class WHERE oid = 'guest'::regclass;
\set VERBOSITY terse
SET ROLE regress_guest;
SELECT spanner.adopt_table('typed', dry_run => false);
SELECT spanner.adopt_table('stores', dry_run => false);
RESET ROLE;
\set VERBOSITY default

SET client_min_messages = warning;
DROP SCHEMA adopt CASCADE;
DROP ROLE regress_adopt, regress_guest;
