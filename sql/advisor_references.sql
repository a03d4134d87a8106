-- The advisor: references that are too narrow or have no index, keys and sequences that
-- run out, sequences that several tables share, counts that are no counters.

CREATE SCHEMA adref;
SET search_path = adref;
SET client_min_messages = warning;
CREATE FUNCTION advice(target text)
RETURNS TABLE (rule text, relation regclass, object text, suggestion text) LANGUAGE sql AS $$
  SELECT rule, relation, object, suggestion FROM spanner.advise(target => target) a
   WHERE relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'adref'::regnamespace)
$$;

-- a reference is widened before the key that it refers to is converted
CREATE TABLE builds (id bigserial PRIMARY KEY, v text);
CREATE TABLE branches (id bigserial PRIMARY KEY, last_build_id integer REFERENCES builds);
CREATE TABLE seen (id bigserial PRIMARY KEY, build smallint REFERENCES builds);
CREATE VIEW shown AS SELECT build FROM seen;
SELECT * FROM advice('splits');
SELECT suggestion FROM spanner.advise('builds', 'splits');
DROP VIEW shown;
SELECT suggestion FROM spanner.advise('builds', 'splits') \gexec
INSERT INTO builds (v) VALUES ('new');
INSERT INTO branches (last_build_id) SELECT id FROM builds;
SELECT rule, relation FROM advice('splits');
SELECT spanner.silence_rule('branches', 'reference_narrow');
DROP TABLE branches, seen, builds;

-- a sequence that several tables share is converted where it belongs
CREATE TABLE payment (id bigserial PRIMARY KEY, n int);
CREATE TABLE cash (PRIMARY KEY (id)) INHERITS (payment);
CREATE TABLE credit (PRIMARY KEY (id)) INHERITS (payment);
SELECT relation, right(finding, 70) AS finding, suggestion FROM spanner.advise(target => 'splits')
 WHERE relation IN ('payment'::regclass, 'cash', 'credit');
SELECT suggestion FROM advice('splits') WHERE suggestion IS NOT NULL \gexec
INSERT INTO cash SELECT FROM generate_series(1, 3);
SELECT count(DISTINCT id), min(id) > 1000 AS mapped FROM payment;
DROP TABLE payment CASCADE;

-- the key that is there, or a number; for splits a random one
CREATE TABLE hold_type (id serial, hold_type text);
CREATE TABLE log1 (id bigint GENERATED ALWAYS AS IDENTITY, what text);
CREATE TABLE bare (what text);
SELECT * FROM advice('one_server');
SELECT * FROM advice('splits') WHERE relation = 'bare'::regclass;
SELECT suggestion FROM advice('one_server') WHERE rule = 'key_missing' \gexec
SELECT * FROM advice('one_server') WHERE rule = 'key_missing';
DROP TABLE hold_type, log1, bare;

-- a new key is what the other rules ask for: spread, with its parent, not of an index that
-- another one makes superfluous
CREATE TABLE sender (id bigint PRIMARY KEY);
CREATE TABLE spool (seq bigserial, what text);
CREATE TABLE sent (sender bigint NOT NULL REFERENCES sender ON DELETE CASCADE, what text);
CREATE TABLE queued (no serial, sender bigint NOT NULL REFERENCES sender ON DELETE CASCADE);
CREATE TABLE read (sender bigint NOT NULL REFERENCES sender ON DELETE CASCADE, no int NOT NULL);
CREATE UNIQUE INDEX ON read (no);
CREATE TABLE token (token text NOT NULL UNIQUE);
CREATE UNIQUE INDEX token_again ON token (token);
SELECT rule, relation, suggestion FROM advice('splits');
SELECT suggestion FROM advice('splits') WHERE suggestion IS NOT NULL \gexec
SELECT rule, relation, suggestion FROM advice('splits');
DROP TABLE sent, queued, read, token, spool, sender;

-- what is counted down, or kept by a trigger, is no counter
CREATE TABLE tag (name text PRIMARY KEY, ref_count int NOT NULL DEFAULT 0);
CREATE TABLE stock (name text PRIMARY KEY, n int NOT NULL DEFAULT 0);
CREATE TABLE number (name text PRIMARY KEY, n int NOT NULL DEFAULT 0);
CREATE FUNCTION count_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE tag SET ref_count = ref_count + 1 WHERE name = NEW.name; RETURN NEW; END $$;
CREATE FUNCTION move_stock(which text, up boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF up THEN UPDATE stock SET n = n + 1 WHERE name = which;
  ELSE UPDATE stock SET n = n - 1 WHERE name = which; END IF;
END $$;
CREATE FUNCTION draw(which text) RETURNS int LANGUAGE sql
  AS 'UPDATE adref.number SET n = n + 1 WHERE name = which RETURNING n';
SELECT rule, relation, object FROM advice('one_server');
DROP TABLE tag, stock, number;

-- foreign keys without an index, of many rows or of rows that are deleted with their parents
CREATE TABLE parent (id bigint PRIMARY KEY);
CREATE TABLE few (id bigint PRIMARY KEY, p bigint REFERENCES parent ON DELETE CASCADE);
CREATE TABLE many (id bigint PRIMARY KEY, p bigint REFERENCES parent, q bigint REFERENCES parent);
CREATE TABLE gone (id bigint PRIMARY KEY, p bigint REFERENCES parent ON DELETE SET NULL);
INSERT INTO parent SELECT generate_series(1, 50);
INSERT INTO few SELECT i, 1 + i % 50 FROM generate_series(1, 900) i;
INSERT INTO many SELECT hashint8(i), 1 + i % 50 FROM generate_series(1, 10000) i;
INSERT INTO gone SELECT hashint8(i), 1 + i % 50 FROM generate_series(1, 1000) i;
ANALYZE few, many, gone;
SELECT * FROM advice('one_server') WHERE rule = 'reference_unindexed';
SELECT suggestion FROM advice('one_server') WHERE rule = 'reference_unindexed' \gexec
SELECT * FROM advice('one_server');
DROP TABLE few, many, gone, parent;

-- what runs out: keys of the application, a MAXVALUE
CREATE TABLE given (id integer PRIMARY KEY, v text);
INSERT INTO given SELECT 2100000000 - i FROM generate_series(1, 100) i;
CREATE TABLE small (id smallint PRIMARY KEY);
INSERT INTO small SELECT generate_series(1, 100);
CREATE TABLE ended (id bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 1000000) PRIMARY KEY);
SELECT setval('ended_id_seq', 900000);
CREATE TABLE owned (id bigserial PRIMARY KEY);
ALTER SEQUENCE owned_id_seq MAXVALUE 1000;
SELECT setval('owned_id_seq', 750);
ANALYZE given, small;
SELECT relation, object, finding, suggestion FROM spanner.advise(target => 'one_server')
 WHERE rule = 'sequence_near_end' AND relation IN ('given'::regclass, 'small', 'ended', 'owned');
SELECT suggestion FROM advice('one_server') WHERE rule ~ 'near_end' \gexec
ANALYZE given;
SELECT * FROM advice('one_server') WHERE rule ~ 'near_end';

-- a column is not widened whose type PostgreSQL does not change
CREATE TYPE type AS (id int, v text);
CREATE TABLE above (id int, v text);
CREATE TABLE called (id int PRIMARY KEY, v text);
CREATE TABLE typed OF type (PRIMARY KEY (id));
CREATE TABLE inherited (PRIMARY KEY (id)) INHERITS (above);
CREATE TABLE stored (id int PRIMARY KEY, v text);
CREATE TABLE storing (id bigint PRIMARY KEY, row stored);
CREATE TABLE published (id int PRIMARY KEY, v text);
CREATE TABLE checked (id int DEFAULT 1 PRIMARY KEY CHECK (id > 0), v text, UNIQUE (v, id));
CREATE STATISTICS of_two ON id, v FROM checked;
CREATE FUNCTION total() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT sum(id) FROM called; END;
DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY '{called,typed,inherited,stored,published,checked}'::text[] LOOP
    EXECUTE format('INSERT INTO %s SELECT 2100000000 - i, i FROM generate_series(1, 100) i; ANALYZE %1$s', t);
  END LOOP;
END $$;
SET client_min_messages = error;
CREATE PUBLICATION regress_adref FOR TABLE published WHERE (id > 0);
SELECT relation, right(finding, 30) AS finding, suggestion FROM spanner.advise(target => 'one_server')
 WHERE rule = 'sequence_near_end' AND relation IN ('called'::regclass, 'typed', 'inherited', 'stored', 'published', 'checked');
SELECT suggestion FROM advice('one_server') WHERE rule ~ 'near_end' \gexec
DROP PUBLICATION regress_adref;
DROP SCHEMA adref CASCADE;
