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
-- what the calls for other servers do there
CREATE FUNCTION made(relation regclass, splits int, servers name[], bits int DEFAULT NULL, key name[] DEFAULT NULL)
RETURNS TABLE (server name, command text) LANGUAGE sql AS $$
  SELECT s.server, c
    FROM spanner.create_splits(relation, splits, servers, bits => bits, key => key) s,
         regexp_match(s.statement, '^SELECT spanner_internal\.make_split\(''(\w+)'', ''(\w+)'', ''(.*)''\)$') m,
         replace(m[3], '''''', '''') d,
         LATERAL (SELECT spanner_internal.table_commands(m[1], m[2], d::jsonb)
                  UNION ALL SELECT spanner_internal.grant_commands(m[2], d::jsonb -> 'grants')) t (c)
$$;

-- the tables behind foreign partitions: keys, checks, indexes, bounds, rights
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE ord (id bigserial, cust text COLLATE "C" CHECK (cust <> ''), n numeric(8,2) DEFAULT 1,
  twice int GENERATED ALWAYS AS (length(cust) * 2) STORED) PARTITION BY RANGE (id);
RESET spanner.default_sequence_kind;
CREATE INDEX ON ord (cust) WHERE n > 1;
GRANT SELECT ON ord TO ms_role;
GRANT UPDATE (cust, n) ON ord TO ms_role WITH GRANT OPTION;
ALTER TABLE ord ALTER COLUMN n SET STATISTICS 0;
SELECT * FROM spanner.create_splits('ord', 2, '{ms_1,"ms \"2\""}');
SELECT * FROM made('ord', 2, '{ms_1,"ms \"2\""}');
CREATE TABLE item (ord bigint, line int, sku text) PARTITION BY RANGE (ord);
SELECT * FROM made('item', 1, '{ms_1}', bits => 63);
SELECT * FROM made('item', 2, '{ms_1,NULL}', bits => 63, key => '{ord,line}');
SELECT spanner.create_splits('item', 2, '{ms_1,NULL}', bits => 63, key => '{ord,nothing}');
CREATE TABLE ev (shard int NOT NULL, u text, at date, CHECK (shard = spanner.shard_id(12, u, at))) PARTITION BY RANGE (shard, at, u);
SELECT * FROM made('ev', 1, '{ms_1}');
SELECT spanner.create_splits('item', beside => 'ord');
SELECT count(*) FROM spanner.create_splits('ord', 2, '{ms_1,"ms \"2\""}', dry_run => false);
-- beside those of another table
SELECT statement FROM spanner.create_splits('item', beside => 'ord', key => '{ord,line}') WHERE server IS NULL;
SELECT spanner.create_splits('ev', beside => 'ord');

-- uuids, and texts that are uuids
CREATE TABLE u (id uuid NOT NULL DEFAULT gen_random_uuid()) PARTITION BY RANGE (id);
CREATE TABLE ut (id text DEFAULT spanner.generate_uuid()) PARTITION BY RANGE (id);
SELECT * FROM made('u', 3, '{NULL,ms_1}');
BEGIN;
SELECT count(*) FROM spanner.create_splits('u', 3, '{NULL,ms_1}', dry_run => false);
SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p' AND conrelid IN ('u_p0'::regclass, 'u_p2'::regclass) ORDER BY conrelid;
ROLLBACK;
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
SELECT * FROM spanner.adopt_table('old');
SELECT c FROM spanner_internal.adoption_commands('old') c WHERE c !~ ('VIEW|' || current_user);
SET client_min_messages = warning;
SELECT statement FROM spanner.adopt_table('old')
\gexec
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

-- what cannot be moved
SELECT spanner.move_split('plain', 'ms_1');
SELECT spanner.move_split('ut_p0', NULL);
SELECT spanner.move_split('ut_p0', 'nowhere');
SELECT spanner.move_split('ut_p0', 'ms_1', 'z');
CREATE TABLE keyed (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE keyed_p0 PARTITION OF keyed FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
SELECT spanner.move_split('keyed_p0', 'ms_1');

-- a server that does not answer
SELECT partition, server, rows, counted, reachable, error ~ 'could not connect to server "ms_1"' AS error FROM spanner.split_stats('ord') LIMIT 1;
SELECT partition, server, finding, detail ~ 'could not connect' AS detail FROM spanner.check_splits('ord') WHERE finding <> 'wal_level';
-- nor does a superuser ask one of somebody else, who says where to and as whom
GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO ms_role;
ALTER SERVER ms_1 OWNER TO ms_role;
SELECT partition, server, reachable, error FROM spanner.split_stats('ord') LIMIT 1;
SELECT spanner.split_points('ord', 3);
SET client_min_messages = warning;
DROP SCHEMA ms CASCADE;
DROP SERVER ms_1 CASCADE;
DROP SERVER "ms ""2""";
REVOKE USAGE ON FOREIGN DATA WRAPPER postgres_fdw FROM ms_role;
DROP ROLE ms_role;
