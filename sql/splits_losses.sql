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

-- storage, compression and n_distinct, of splits, and of a table that is adopted
CREATE FUNCTION columns(relation regclass) RETURNS TABLE (attname name, attstorage "char", compressed boolean, options text) LANGUAGE sql AS $$
  SELECT attname, attstorage, attcompression = 'p', array_to_string(array_agg(o ORDER BY o), ', ')
    FROM pg_attribute LEFT JOIN unnest(attoptions) o ON o !~ '^pg_attver' WHERE attrelid = relation AND attnum > 0 GROUP BY attnum, 1, 2, 3 ORDER BY attnum
$$;
CREATE TABLE stored (id bigint, doc text COMPRESSION pglz, n int) PARTITION BY RANGE (id);
ALTER TABLE stored ALTER doc SET STORAGE EXTERNAL, ALTER n SET (n_distinct = -0.25), ALTER n SET STATISTICS 50;
SELECT statement FROM spanner.create_splits('stored', 2, bits => 63) \gexec
SELECT * FROM columns('stored_p0');
SELECT command FROM spanner_internal.split_definition('stored_p1') ORDER BY n, command;
CREATE TABLE kept (id int PRIMARY KEY, doc text COMPRESSION pglz, n int, "Odd ""N" int) WITH (fillfactor = 70);
ALTER TABLE kept ALTER doc SET STORAGE MAIN, ALTER n SET (n_distinct = -0.25), ALTER doc SET (n_distinct = 4, n_distinct_inherited = 5);
SELECT command FROM spanner_internal.split_definition('kept') ORDER BY n, command;
SET allow_system_table_mods = on;
INSERT INTO pg_seclabel SELECT 'kept'::regclass, 'pg_class'::regclass, n, 'regress', 'it''s ' || n FROM unnest('{0,1,4}'::int[]) n;
RESET allow_system_table_mods;
SELECT c FROM spanner_internal.adoption_commands('kept') c WHERE c ~ 'LABEL|CREATE TABLE';
DELETE FROM pg_seclabel WHERE provider = 'regress';
SELECT count(*) > 0 AS adopted FROM spanner.adopt_table('kept', dry_run => false);
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
SELECT spanner_internal.move_obstacle('acct_p0'::regclass);
DROP TABLE "entry's";
ALTER TABLE acct_p0 ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT spanner_internal.move_obstacle('acct_p0'::regclass);

-- what cannot be moved
CREATE TABLE plain (id int PRIMARY KEY);
CREATE TABLE keyed (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE keyed_p0 PARTITION OF keyed FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
SELECT spanner_internal.begin_move('plain', 'losses_1', NULL);
SELECT spanner_internal.begin_move('stored_p0', NULL, NULL);
SELECT spanner_internal.begin_move('stored_p0', 'nowhere', NULL);
SELECT spanner_internal.begin_move('stored_p0', 'losses_1', 'z');
SELECT spanner_internal.begin_move('keyed_p0', 'losses_1', NULL);
SELECT spanner_internal.begin_move('stored_p1', 'losses_1', '-1');
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE moods (m mood, n int) PARTITION BY RANGE (m);
CREATE TABLE moods_p0 PARTITION OF moods FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
SELECT spanner_internal.begin_move('moods_p0', 'losses_1', 'ok');
SELECT spanner.split_points('moods', 2);
ALTER TABLE moods_p0 OWNER TO regress_losses;
SELECT spanner_internal.begin_move('moods_p0', 'losses_1', NULL);

-- nothing runs as a role that the caller is not, and one command at a time
SET ROLE regress_losses;
SELECT spanner_internal.run_as('pg_monitor'::regrole, 'SELECT 1');
SELECT spanner_internal.run_as(current_user::regrole, 'SELECT 1; SELECT 2');
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA losses CASCADE;
DROP SERVER losses_1;
DROP ROLE regress_losses;
