-- Core's sequence functions on bound sequences, with the library loaded.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA r;
SET search_path = r;
CREATE SEQUENCE plain;

-- nothing is redirected as long as no sequence is bound
CREATE TABLE bound_before AS
  SELECT objoid, label FROM pg_seclabel WHERE provider = 'spanner_keys';
DO $$
DECLARE s regclass;
BEGIN
  FOR s IN SELECT objoid FROM r.bound_before LOOP
    EXECUTE format('SECURITY LABEL FOR spanner_keys ON SEQUENCE %s IS NULL', s);
  END LOOP;
END $$;
EXPLAIN (VERBOSE, COSTS OFF) SELECT nextval('plain'), currval('plain'), lastval();
PREPARE draw AS SELECT nextval('plain');
EXECUTE draw;

-- then everything is, at once and in plans that were made before
SELECT spanner.create_sequence('s', 'bit_reversed_positive');
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE draw;
EXECUTE draw;
EXPLAIN (VERBOSE, COSTS OFF)
  SELECT nextval('s'), currval('s'), lastval(), setval('s', 1), setval('s', 1, true);
SELECT nextval('s'), currval('s'), lastval();
SELECT nextval('s') FROM generate_series(1, 2);
SELECT nextval('r.s'::text) > 0 AS not_a_constant;

-- lastval of bound and unbound sequences that are mixed, with equal counters
CREATE SEQUENCE plain2;
SELECT spanner.create_sequence('s2', 'striped');
SELECT nextval('s2'), lastval();
SELECT nextval('plain2'), lastval();
SELECT nextval('s2') = lastval() AS same;

-- setval leaves a bound sequence alone, and only that
SELECT setval('s', 4611686018427387904), setval('s', 5, false);
SELECT nextval('s');
SELECT setval('plain', 10), setval('plain', 20, false);
SELECT nextval('plain');
SET check_function_bodies = off;
SELECT setval('s2', 1000, true);
RESET check_function_bodies;
SELECT spanner.unmap_value(nextval('s2'), 's2');
BEGIN READ ONLY;
SELECT setval('s', 5);
ROLLBACK;
CREATE ROLE regress_spanner_nobody;
GRANT USAGE ON SCHEMA r TO regress_spanner_nobody;
SET ROLE regress_spanner_nobody;
SELECT setval('s', 5);
SELECT nextval('s');
SELECT setval('plain', 5);
RESET ROLE;

-- what applications do after they have loaded rows never gives a duplicate
CREATE TABLE t (id bigserial PRIMARY KEY, v integer);
SELECT spanner.convert_column('t', 'id');
SET client_min_messages = warning;
DO $$
BEGIN
  FOR i IN 1 .. 10 LOOP
    INSERT INTO r.t (v) SELECT generate_series(1, 100);
    PERFORM setval(pg_get_serial_sequence('r.t', 'id'), max(id)) FROM r.t;
  END LOOP;
END $$;
RESET client_min_messages;
SELECT count(*), count(DISTINCT id) FROM t;

-- an identity column whose sequence is bound without conversion of the column
CREATE TABLE i (id integer GENERATED ALWAYS AS IDENTITY, v integer);
SET check_function_bodies = off;
SECURITY LABEL FOR spanner_keys ON SEQUENCE i_id_seq IS 'bit_reversed_positive';
RESET check_function_bodies;
INSERT INTO i (v) VALUES (1), (2) RETURNING id;
INSERT INTO i (v) SELECT 3 RETURNING id;
UPDATE i SET id = DEFAULT WHERE v = 1 RETURNING id;
INSERT INTO i VALUES (1, 1);

-- functions, views, rules, prepared and stored expressions
CREATE FUNCTION inlined() RETURNS bigint LANGUAGE sql AS 'SELECT NextVal(''r.s'')';
CREATE FUNCTION standard() RETURNS bigint LANGUAGE sql
  BEGIN ATOMIC SELECT nextval('r.s'); END;
CREATE FUNCTION outer_one() RETURNS bigint LANGUAGE sql AS 'SELECT r.inlined()';
CREATE FUNCTION plain_sql(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE FUNCTION dynamic() RETURNS bigint LANGUAGE plpgsql
  AS $$ DECLARE x bigint; BEGIN EXECUTE 'SELECT nextval(''r.s'')' INTO x; RETURN x; END $$;
CREATE FUNCTION assigned() RETURNS bigint LANGUAGE plpgsql
  AS $$ DECLARE x bigint := nextval('r.s'); BEGIN RETURN x; END $$;
CREATE VIEW v AS SELECT nextval('s') AS n;
SELECT bool_and(x > 2 ^ 40) AS all_mapped
  FROM (SELECT inlined() UNION ALL SELECT standard() UNION ALL SELECT outer_one()
        UNION ALL SELECT dynamic() UNION ALL SELECT assigned() UNION ALL SELECT n FROM v) u (x);
EXPLAIN (VERBOSE, COSTS OFF) SELECT plain_sql(1), inlined();

-- defaults that COPY and ALTER TABLE evaluate
CREATE DOMAIN d AS bigint DEFAULT nextval('s');
CREATE TABLE e (a d, b integer);
COPY e (b) FROM stdin;
1
2
\.
ALTER TABLE e ADD COLUMN c bigint DEFAULT nextval('s'), ADD COLUMN p bigint DEFAULT nextval('plain');
ALTER TABLE e ALTER COLUMN b TYPE bigint USING nextval('s') + 0 * b;
SELECT count(*) FROM e WHERE a > 2 ^ 40 AND b > 2 ^ 40 AND c > 2 ^ 40 AND p < 100;
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'e'::regclass ORDER BY adnum;

SET client_min_messages = warning;
DROP SCHEMA r CASCADE;
DROP ROLE regress_spanner_nobody;
