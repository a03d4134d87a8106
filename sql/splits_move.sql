-- What the functions print that make, adopt and move splits, and what they refuse.
\set SHOW_CONTEXT never
\pset format unaligned
SET client_min_messages = warning;
SET session_preload_libraries = 'spanner_keys';  -- without the NOTICE of GENERATED ALWAYS
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE SCHEMA ms;
CREATE SERVER ms_1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere', port '1');
CREATE SERVER "ms ""2""" FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere', port '1');
CREATE USER MAPPING FOR CURRENT_USER SERVER ms_1 OPTIONS (user 'ms there');
CREATE ROLE ms_role;
RESET client_min_messages;
SET search_path = ms, public;
-- the tables behind foreign partitions: keys, checks, indexes, bounds, rights
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE ord (id bigserial, cust text COLLATE "C" CHECK (cust <> ''), n numeric(8,2) DEFAULT 1,
  twice int GENERATED ALWAYS AS (length(cust) * 2) STORED) PARTITION BY RANGE (id);
RESET spanner.default_sequence_kind;
CREATE INDEX ON ord (cust) WHERE n > 1;
GRANT SELECT ON ord TO ms_role;
GRANT UPDATE (cust, n) ON ord TO ms_role WITH GRANT OPTION;
ALTER TABLE ord ALTER COLUMN n SET STATISTICS 0;
SELECT spanner.create_splits('ord', 2, key => '{id}', dry_run => false);
SELECT command FROM spanner_internal.split_definition('ord_p0') ORDER BY n, command;
SELECT command FROM spanner_internal.split_definition('ord_p1') WHERE command ~ '_bounds' ORDER BY n, command;
SELECT concat(head, 'TABLE', tail) FROM spanner_internal.table_grants('ord', 'ms_1', NULL);
SELECT concat(head, 'TABLE', tail) FROM spanner_internal.table_grants('ord', NULL, '{SELECT,REFERENCES}');
-- which columns identify a row
CREATE TABLE item (ord bigint, line int, sku text) PARTITION BY RANGE (ord);
CREATE TABLE ev (shard int NOT NULL, u text, at date, CHECK (shard = spanner.shard_id(12, u, at))) PARTITION BY RANGE (shard, at, u);
CREATE TABLE u (id uuid NOT NULL DEFAULT gen_random_uuid()) PARTITION BY RANGE (id);
SELECT t, spanner_internal.known_identity(t, NULL) FROM unnest('{ord,item,ev,u}'::regclass[]) t;
\set VERBOSITY terse
SELECT spanner.create_splits('item', 2, dry_run => false, bits => 63, key => '{ord,nothing}');
\set VERBOSITY default
-- beside those of another table
SELECT statement FROM spanner.create_splits('item', beside => 'ord', key => '{ord,line}');
SELECT spanner.create_splits('ev', beside => 'ord');
SELECT spanner.create_splits('item', beside => 'ev');

-- uuids, and texts that are uuids
CREATE TABLE ut (id text DEFAULT spanner.generate_uuid()) PARTITION BY RANGE (id);
SELECT spanner.create_splits('u', 3, key => '{id}');
SELECT * FROM spanner.create_splits('ut', 4, dry_run => false);
INSERT INTO ut SELECT FROM generate_series(1, 1000);
SELECT split, range, rows BETWEEN 150 AND 350 FROM spanner.split_stats('ut', true);

-- bounds from the rows
SELECT spanner.split_points('ms.ut', 2);
ANALYZE ut;
SELECT count(*), count(*) FILTER (WHERE p BETWEEN '4' AND 'd') FROM spanner.split_points('ms.ut', 3) p;
CREATE TABLE plain (id serial PRIMARY KEY, sh int);
SELECT spanner.split_points('ms.plain'::regclass, 4);
INSERT INTO plain SELECT i, i % 4 FROM generate_series(1, 1000) i;
ANALYZE plain;
SELECT spanner.split_points('ms.plain'::regclass, 4);
CREATE TABLE shards (sh int, id int, PRIMARY KEY (sh, id));
INSERT INTO shards SELECT i % 4, i FROM generate_series(1, 1000) i;
ANALYZE shards;
SELECT spanner.split_points('ms.shards'::regclass, 2);
SELECT spanner.split_points('ms.shards'::regclass, 0);
CREATE TABLE keyless (id int);
SELECT spanner.split_points('ms.keyless'::regclass, 2);

-- a table with rows becomes a partitioned one
CREATE TABLE old (id int GENERATED ALWAYS AS IDENTITY (START WITH 5 INCREMENT BY 5) PRIMARY KEY, s serial, v text DEFAULT 'x' CHECK (v <> ''),
  len int GENERATED ALWAYS AS (length(v)) STORED, UNIQUE (s));
CREATE INDEX old_v ON old (lower(v));
COMMENT ON TABLE old IS 'it''s old';
COMMENT ON COLUMN old.v IS 'a value';
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.v := NEW.v || ''!''; RETURN NEW; END';
CREATE TRIGGER stamp BEFORE INSERT ON old FOR EACH ROW EXECUTE FUNCTION stamp();
GRANT SELECT, INSERT ON old TO ms_role;
GRANT UPDATE (v) ON old TO ms_role WITH GRANT OPTION;
ALTER TABLE old ENABLE ROW LEVEL SECURITY;
CREATE POLICY short ON old AS RESTRICTIVE FOR SELECT TO ms_role USING (len < 5);
CREATE POLICY "all" ON old USING (true) WITH CHECK (v <> 'no');
CREATE VIEW old_view WITH (security_barrier) AS SELECT id, v FROM old WHERE len < 9;
INSERT INTO old (v) SELECT 'v' FROM generate_series(1, 100);
SELECT count(*) > 0 AS shown FROM spanner.adopt_table('old');
SELECT c FROM spanner_internal.adoption_commands('old') c WHERE c !~ ('VIEW|' || current_user);
SET client_min_messages = warning;
SELECT count(*) > 0 AS adopted FROM spanner.adopt_table('old', dry_run => false);
RESET client_min_messages;
SELECT tableoid::regclass, count(*), max(id), max(s) FROM old GROUP BY 1;
INSERT INTO old (v) VALUES ('new') RETURNING *;
SELECT count(*) FROM old_view;
SELECT relname, relrowsecurity, relacl IS NOT NULL AS granted, obj_description(oid) FROM pg_class WHERE relname IN ('old', 'old_p0') ORDER BY 1;
SELECT pg_get_serial_sequence('ms.old', 'id'), pg_get_serial_sequence('ms.old', 's');
SELECT polname, polcmd, polpermissive FROM pg_policy WHERE polrelid = 'ms.old'::regclass ORDER BY 1;
SELECT inhrelid::regclass, inhparent::regclass FROM pg_inherits WHERE inhparent = 'ms.old_v'::regclass;
DROP TABLE old_p0;
INSERT INTO old (v) VALUES ('later');

-- what cannot be adopted, with all that refers to it
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
CREATE MATERIALIZED VIEW parents AS SELECT * FROM parent;
SELECT spanner.adopt_table('parent');
SELECT * FROM spanner.adopt_table('child');
SELECT spanner.adopt_table('keyless');
SELECT spanner.adopt_table('ord');
SELECT spanner.adopt_table('ut_p0');
SELECT spanner.adopt_table(0);

-- what differs from a table on another server: order counts for the key alone
CREATE TYPE grade AS ENUM ('low', 'high');
CREATE TABLE graded (w text, g grade, n int CHECK (n > 0), note text) PARTITION BY RANGE (w, g);
CREATE INDEX ON graded (n) INCLUDE (note) WHERE n > 7;
CREATE TABLE graded_there (LIKE graded INCLUDING ALL, PRIMARY KEY (w, g));
CREATE FUNCTION differs(change text, instead text) RETURNS TABLE (finding text, detail text) LANGUAGE sql AS $$
  SELECT d.finding, CASE WHEN d.finding !~ 'sorts' THEN d.detail ELSE left(d.detail, 2) END
    FROM spanner_internal.part_differences(spanner_internal.table_parts('graded'::regclass),
           regexp_replace(spanner_internal.table_parts('graded_there'::regclass)::text, change, instead, 'g')::jsonb) d ORDER BY 1
$$;
SELECT * FROM differs('nothing', '');
SELECT * FROM differs('"sorting": "[^"]*"', '"sorting": "icu en-US 153.14"');
SELECT * FROM differs('{low,high}', '{high,low}');
SELECT * FROM differs('n > ', 'n >= ');
SELECT * FROM differs('integer', 'bigint');
SELECT * FROM differs('PRIMARY', 'EXCLUDE');
SELECT * FROM differs('(CHECK [^"]*)', '\1 NOT VALID');
SELECT spanner_internal.sorting(oid) FROM pg_collation WHERE collname = 'C';

-- advice is a command line: nothing in a name is more than a word of it
SELECT spanner_internal.shell_word(w) FROM (VALUES ('ms.orders_p3'), ('4711'), ('2026-01-01 12:00:00+00'), ('it''s $(x) `y`'), ('"T"'), ('--to'), (E'a\nb'), ('')) v (w);

-- a server that does not answer
DROP TABLE ord_p1;
CREATE FOREIGN TABLE ord_p1 PARTITION OF ord FOR VALUES FROM ('4611686018427387904') TO (MAXVALUE) SERVER ms_1;
SELECT partition, server, rows, counted, reachable, error ~ 'could not connect to server "ms_1"' AS error FROM spanner.split_stats('ord');
SELECT partition, server, finding, detail ~ 'could not connect' AS detail FROM spanner.check_splits('ord') WHERE finding <> 'wal_level';
-- nor does a superuser ask one of somebody else, who says where to and as whom
GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO ms_role;
ALTER SERVER ms_1 OWNER TO ms_role;
SELECT partition, server, reachable, error FROM spanner.split_stats('ord') OFFSET 1;
SELECT spanner.split_points('ord', 3);

-- others can neither change what is known of a move, nor lock anybody out
INSERT INTO spanner_internal.own_record (move, parent, name) VALUES ('a move', 'ord'::regclass, 'ord_p0');
GRANT USAGE ON SCHEMA ms TO ms_role;
SET ROLE ms_role;
UPDATE spanner_internal.own_record SET performer = 'somebody';
INSERT INTO spanner_internal.ended_record VALUES ('a move');
BEGIN;
LOCK TABLE spanner_internal.own_record IN SHARE MODE;
ROLLBACK;
BEGIN;
LOCK TABLE spanner_internal.ended_record IN SHARE MODE;
ROLLBACK;
SELECT spanner_internal.try_lock_moves('ord'::regclass);
RESET ROLE;
-- a partition that has just been dropped is nobody's
BEGIN;
SET LOCAL allow_system_table_mods = on;
INSERT INTO pg_inherits VALUES (1, 'ord'::regclass, 1, false);
SET LOCAL ROLE ms_role;
SELECT spanner_internal.try_lock_moves('ord'::regclass);
ROLLBACK;
GRANT TRUNCATE ON ord_p0 TO ms_role;
SET ROLE ms_role;
SELECT spanner_internal.try_lock_moves('ord'::regclass);
SELECT pg_advisory_unlock_all();
RESET ROLE;
SELECT move FROM spanner_internal.own_record;
INSERT INTO spanner_internal.ended_record VALUES ('a move');
SELECT move FROM spanner_internal.own_record;
SET client_min_messages = warning;
DROP SCHEMA ms CASCADE;
DROP SERVER ms_1 CASCADE;
DROP SERVER "ms ""2""";
REVOKE USAGE ON FOREIGN DATA WRAPPER postgres_fdw FROM ms_role;
DROP ROLE ms_role;
