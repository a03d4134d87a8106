-- Whose code runs when a table is looked at, and whose tables are.
\set SHOW_CONTEXT never
CREATE ROLE regress_mallory;
CREATE ROLE regress_reader;
CREATE SCHEMA victim;
CREATE SCHEMA mallory AUTHORIZATION regress_mallory;
GRANT USAGE ON SCHEMA victim, mallory TO PUBLIC;
CREATE TABLE victim.orders (id bigserial PRIMARY KEY);
INSERT INTO victim.orders SELECT FROM generate_series(1, 10);
SET ROLE regress_mallory;
CREATE FUNCTION mallory.f(value bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  IF current_user <> 'regress_mallory' THEN
    RAISE 'code of mallory as %', current_user;
  END IF;
  RETURN value;
END $$;

-- a table of somebody else whose default names the sequence decides nothing
CREATE TABLE mallory.evil (id bigint DEFAULT nextval('victim.orders_id_seq'));
SET client_min_messages = warning;
CREATE INDEX ON mallory.evil ((mallory.f(1) + id));
INSERT INTO mallory.evil VALUES (9223372036854775806);
RESET client_min_messages;
RESET ROLE;
SELECT spanner.sync_sequence('victim.orders', 'id');
SELECT spanner.convert_column('victim.orders', 'id');
INSERT INTO victim.orders DEFAULT VALUES RETURNING id;
SELECT spanner.sync_sequence('victim.orders', 'id');

-- what the owner of a table has chosen runs as that owner, whoever asks
SET ROLE regress_mallory;
CREATE TABLE mallory.keys (id bigserial PRIMARY KEY, secret int);
SET client_min_messages = warning;
INSERT INTO mallory.keys (secret) SELECT i FROM generate_series(1, 8) i;
CREATE INDEX by_call ON mallory.keys ((id + mallory.f(1)));
CREATE INDEX by_part ON mallory.keys (id) WHERE id > mallory.f(4);
RESET client_min_messages;
GRANT SELECT (id) ON mallory.keys TO regress_reader;
RESET ROLE;
SELECT DISTINCT sum(rows) OVER () FROM spanner.key_histogram('mallory.by_part', 2);
SET ROLE regress_reader;
SELECT key_from, rows FROM spanner.key_histogram('mallory.by_part', 2);
SELECT key_from FROM spanner.key_histogram('mallory.keys', 2, 'secret');
RESET ROLE;
SELECT spanner_internal.count_rows('mallory.keys', false);
SELECT spanner.convert_column('mallory.keys', 'id') IS NOT NULL AS converted;

-- but not with functions that the one who asks has put into its way
SET ROLE regress_mallory;
CREATE FUNCTION mallory.g() RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  RETURN helper();
EXCEPTION WHEN undefined_function THEN
  RETURN 2;
END $$;
CREATE FUNCTION mallory.helper() RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT 2';
SET search_path = mallory;
CREATE INDEX by_helper ON keys ((id + g()));
RESET search_path;
RESET ROLE;
GRANT CREATE ON SCHEMA victim TO regress_reader;
SET ROLE regress_reader;
SET search_path = victim;
CREATE FUNCTION victim.helper() RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS
  $$BEGIN RAISE 'code of the reader as %', current_user; END$$;
SELECT key_from FROM spanner.key_histogram('mallory.keys', 1, 'id');
RESET search_path;
RESET ROLE;

-- policies are for the one who asks, so that only a superuser's can be kept
SET ROLE regress_mallory;
ALTER TABLE mallory.keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON mallory.keys USING (id < mallory.f(4));
RESET ROLE;
SET ROLE regress_reader;
SELECT sum(rows) FROM spanner.key_histogram('mallory.keys', 1);
RESET ROLE;
ALTER TABLE victim.orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON victim.orders USING (id < 4);
GRANT SELECT ON victim.orders TO regress_reader;
SET ROLE regress_reader;
SELECT sum(rows) FROM spanner.key_histogram('victim.orders', 1);
RESET ROLE;

-- partitions with an owner of their own
SET client_min_messages = warning;
CREATE TABLE victim.parted (id bigint) PARTITION BY RANGE (id);
CREATE TABLE victim.p0 PARTITION OF victim.parted FOR VALUES FROM (0) TO (10);
INSERT INTO victim.parted VALUES (1), (2);
ALTER TABLE victim.p0 OWNER TO regress_mallory;
SELECT sum(rows) FROM spanner.key_histogram('victim.parted', 1, 'id');
SELECT sum(rows) FROM spanner.key_histogram('victim.p0', 1, 'id');
SELECT spanner_internal.count_rows('victim.p0', true);
ALTER TABLE victim.parted OWNER TO regress_mallory;
ALTER TABLE victim.p0 OWNER TO regress_reader;
SELECT spanner_internal.count_rows('victim.p0', true);

-- a foreign table would be asked as its owner
CREATE FOREIGN DATA WRAPPER regress_far;
CREATE SERVER regress_far FOREIGN DATA WRAPPER regress_far;
CREATE FOREIGN TABLE victim.far (id bigint) SERVER regress_far;
SELECT * FROM spanner_internal.sample_keys('victim.far'::regclass, 0, 'id', false, '', 100, 1);
CREATE FOREIGN TABLE victim.far_part PARTITION OF victim.parted FOR VALUES FROM (10) TO (20) SERVER regress_far;
SELECT * FROM spanner_internal.sample_keys('victim.parted'::regclass, 0, 'id', false, '', 100, 1);
DROP FOREIGN DATA WRAPPER regress_far CASCADE;

DROP SCHEMA victim, mallory CASCADE;
DROP ROLE regress_mallory, regress_reader;
