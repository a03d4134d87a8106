-- What a table keeps when it becomes splits, and what cannot come along.
\set SHOW_CONTEXT never
\pset format unaligned
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE SCHEMA losses;
CREATE ROLE regress_losses;
GRANT ALL ON SCHEMA losses TO regress_losses;
CREATE SERVER losses_1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere', port '1');
GRANT USAGE ON FOREIGN SERVER losses_1 TO regress_losses;
RESET client_min_messages;
SET search_path = losses;

-- storage, compression and n_distinct, of splits here and there, and of a table that is adopted
CREATE FUNCTION columns(relation regclass) RETURNS TABLE (attname name, attstorage "char", compressed boolean, options text) LANGUAGE sql AS $$
  SELECT attname, attstorage, attcompression = 'p', array_to_string(array_agg(o ORDER BY o), ', ')
    FROM pg_attribute LEFT JOIN unnest(attoptions) o ON o !~ '^pg_attver' WHERE attrelid = relation AND attnum > 0 GROUP BY attnum, 1, 2, 3 ORDER BY attnum
$$;
CREATE TABLE stored (id bigint, doc text COMPRESSION pglz, n int) PARTITION BY RANGE (id);
ALTER TABLE stored ALTER doc SET STORAGE EXTERNAL, ALTER n SET (n_distinct = -0.25), ALTER n SET STATISTICS 50;
SELECT statement FROM spanner.create_splits('stored', 2, '{NULL,losses_1}', bits => 63) WHERE server IS NULL \gexec
SELECT * FROM columns('stored_p0');
SELECT attname, options FROM columns('stored_p1') WHERE options <> '';
SELECT c FROM spanner_internal.table_commands('losses', 'stored_p1', spanner_internal.describe_table('stored'::regclass)) c;
CREATE TABLE kept (id int PRIMARY KEY, doc text COMPRESSION pglz, n int) WITH (fillfactor = 70);
ALTER TABLE kept ALTER doc SET STORAGE MAIN, ALTER n SET (n_distinct = -0.25), ALTER doc SET (n_distinct = 4, n_distinct_inherited = 5);
SELECT spanner_internal.describe_table('kept'::regclass) -> 'options' AS options;
SET allow_system_table_mods = on;
INSERT INTO pg_seclabel SELECT 'kept'::regclass, 'pg_class'::regclass, n, 'regress', 'it''s ' || n FROM generate_series(0, 1) n;
RESET allow_system_table_mods;
SELECT c FROM spanner_internal.adoption_commands('kept') c WHERE c ~ 'LABEL|CREATE TABLE';
DELETE FROM pg_seclabel WHERE provider = 'regress';
SELECT statement FROM spanner.adopt_table('kept') \gexec
SELECT * FROM columns('kept');

-- what would mean the split alone, or is of a type
CREATE TYPE pair AS (id int, n int);
CREATE TABLE typed OF pair (PRIMARY KEY (id));
SELECT spanner.adopt_table('typed');
CREATE TABLE member (id int PRIMARY KEY);
ALTER EXTENSION postgres_fdw ADD TABLE member;
SET client_min_messages = error;
CREATE SUBSCRIPTION regress_losses CONNECTION 'host=/nowhere' PUBLICATION nothing WITH (connect = false, slot_name = NONE);
SET allow_system_table_mods = on;
INSERT INTO pg_subscription_rel SELECT oid, 'member'::regclass, 'i' FROM pg_subscription WHERE subname = 'regress_losses';
RESET allow_system_table_mods;
RESET client_min_messages;
SELECT spanner.adopt_table('member');
DROP SUBSCRIPTION regress_losses;
ALTER EXTENSION postgres_fdw DROP TABLE member;

-- rows that others refer to, or that policies hide, do not move
CREATE TABLE acct (id int NOT NULL, v text) PARTITION BY RANGE (id);
CREATE TABLE acct_p0 PARTITION OF acct (PRIMARY KEY (id)) FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
ALTER TABLE acct OWNER TO regress_losses;
ALTER TABLE acct_p0 OWNER TO regress_losses;
CREATE TABLE "entry's" (acct int CONSTRAINT owned REFERENCES acct_p0 ON DELETE CASCADE);
INSERT INTO acct SELECT i, 'v' FROM generate_series(1, 6) i;
INSERT INTO "entry's" SELECT generate_series(1, 6);
SELECT spanner.move_split('acct_p0', 'losses_1', '4');
SELECT spanner_internal.publish_split('spanner_move_0123456789ab', 'losses', 'acct_p0', NULL);
SELECT spanner_internal.delete_moved_rows('acct_p0', 'id', '4', NULL);
SELECT count(*) FROM "entry's";
DROP TABLE "entry's";
ALTER TABLE acct_p0 ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT spanner.move_split('acct_p0', 'losses_1');

-- rows that have moved are not deleted for those who watch: all of them go, and no trigger or rule knows
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''% %'', tg_op, old; END';
CREATE TRIGGER watch BEFORE DELETE ON acct_p0 FOR EACH ROW EXECUTE FUNCTION watch();
CREATE TRIGGER watch_all AFTER DELETE ON acct_p0 EXECUTE FUNCTION watch();
CREATE RULE kept AS ON DELETE TO acct_p0 DO INSTEAD NOTHING;
SELECT spanner_internal.delete_moved_rows('acct_p0', 'id', '4; DROP TABLE acct', NULL);
SELECT spanner_internal.delete_moved_rows('acct_p0', 'nothing', '4', NULL);
SELECT spanner_internal.delete_moved_rows('acct_p0', 'id', NULL, NULL);
SELECT spanner_internal.delete_moved_rows('pg_class', 'relname', 'z', NULL);
SELECT spanner_internal.delete_moved_rows('acct', 'id', '4', NULL);
SELECT spanner_internal.delete_moved_rows(0, 'id', '4', NULL);
SELECT spanner_internal.delete_moved_rows('acct_p0', 'id', '4', NULL);
SELECT count(*) FROM acct;
SET ROLE regress_losses;
SELECT spanner_internal.delete_moved_rows('acct_p0', 'id', '3', NULL);
SELECT spanner_internal.delete_moved_rows('typed', 'id', '3', NULL);
RESET ROLE;
SELECT count(*) FROM acct;
-- triggers that are always enabled are those of the table, too; a collation decides what is from a value on
CREATE TABLE words (w text COLLATE "C" PRIMARY KEY);
INSERT INTO words VALUES ('a'), ('B'), ('b');
CREATE TRIGGER watch BEFORE DELETE ON words FOR EACH ROW EXECUTE FUNCTION watch();
ALTER TABLE words ENABLE ALWAYS TRIGGER watch;
BEGIN;
SELECT spanner_internal.delete_moved_rows('words', 'w', 'b', NULL);
TABLE words;
ROLLBACK;
SELECT spanner_internal.delete_cut('words', '{"column": "w", "at": "a", "collation": ["pg_catalog", "POSIX"]}');
TABLE words;

SET client_min_messages = warning;
DROP SCHEMA losses CASCADE;
DROP SERVER losses_1;
DROP ROLE regress_losses;
