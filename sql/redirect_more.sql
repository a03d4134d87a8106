-- Core's sequence functions where no query is planned, and in replica sessions.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA m;
SET search_path = m;
SELECT spanner.create_sequence('s', 'bit_reversed_positive', bits => 31);

-- arguments of commands
CREATE PROCEDURE passed(INOUT x bigint) LANGUAGE plpgsql AS $$BEGIN END$$;
CALL passed(nextval('s'));
DO $$ DECLARE x bigint := 0; BEGIN CALL m.passed(x); RAISE NOTICE '%', x; END $$;
PREPARE given(bigint) AS SELECT $1 AS value;
EXECUTE given(nextval('s'));
EXECUTE given(pg_catalog.nextval('m.s'));
EXECUTE given(currval('s'));
EXECUTE given(lastval());
EXECUTE given(setval('s', 5));
EXPLAIN (COSTS OFF) EXECUTE given(nextval('s'));
CREATE TABLE made AS EXECUTE given(nextval('s'));
SELECT * FROM made;
-- another function of the name
CREATE FUNCTION nextval(text) RETURNS bigint LANGUAGE sql AS 'SELECT 42::bigint';
SET search_path = m, pg_catalog;
EXECUTE given(nextval('s'));
DROP FUNCTION nextval(text);
SET search_path = m;

-- arguments that are left out
CREATE FUNCTION defaulted(y text, x bigint DEFAULT nextval('s'), z bigint DEFAULT 7)
  RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN x; END$$;
SELECT defaulted('a'), defaulted(y => 'b', z => 8), defaulted('c', 99);
SELECT d FROM defaulted('d') d;
CREATE PROCEDURE called(y text, x bigint DEFAULT nextval('s')) LANGUAGE plpgsql
  AS $$BEGIN RAISE NOTICE '% %', y, x; END$$;
CALL called('e');

-- defaults that call a function in SQL
CREATE FUNCTION inlined() RETURNS bigint LANGUAGE sql AS $$SELECT nextval('s')$$;
CREATE TABLE with_function (v integer, id bigint DEFAULT inlined());
COPY with_function (v) FROM STDIN;
1
2
\.
SELECT * FROM with_function;
CREATE TABLE filled AS SELECT generate_series(1, 2) AS v;
ALTER TABLE filled ADD COLUMN id bigint DEFAULT inlined();
SELECT * FROM filled;

-- domains and views
CREATE SEQUENCE late AS integer;
CREATE DOMAIN drawn AS bigint DEFAULT nextval('late') + 0;
CREATE TABLE with_domain (v integer, id drawn);
SELECT spanner.alter_sequence('late', kind => 'striped');
SELECT typdefault FROM pg_type WHERE typname = 'drawn';
COPY with_domain (v) FROM STDIN;
1
2
\.
SELECT * FROM with_domain;
CREATE VIEW over AS SELECT * FROM made;
ALTER VIEW over ALTER COLUMN value SET DEFAULT nextval('s');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'over'::regclass;

-- a session that applies changes of another server
SET spanner.default_sequence_kind = 'bit_reversed_positive';
SET session_replication_role = replica;
CREATE TABLE replicated (id bigserial, v integer);
ALTER TABLE made ADD COLUMN id bigserial;
RESET session_replication_role;
RESET spanner.default_sequence_kind;
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef
 WHERE adrelid IN ('replicated'::regclass, 'made'::regclass) ORDER BY 1;

-- a label cannot make a used sequence repeat values
SECURITY LABEL FOR spanner_keys ON SEQUENCE s IS 'striped';
SECURITY LABEL FOR spanner_keys ON SEQUENCE s IS 'bit_reversed_positive(bits=15)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE s IS 'bit_reversed_positive(bits=31, skip_range_min=1, skip_range_max=3)';
CREATE SEQUENCE used;
SELECT nextval('used'), nextval('used');
SECURITY LABEL FOR spanner_keys ON SEQUENCE used IS 'striped';
SET check_function_bodies = off;
SECURITY LABEL FOR spanner_keys ON SEQUENCE s IS 'striped';
RESET check_function_bodies;

SET client_min_messages = warning;
DROP SCHEMA m CASCADE;
