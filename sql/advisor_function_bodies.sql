-- The advisor reads the bodies of functions in defaults and triggers, and no
-- more than their first 10,000 characters.

CREATE SCHEMA test_advise_bodies;
SET search_path = test_advise_bodies;

-- where the values of a column come from
CREATE FUNCTION sources(relation regclass) RETURNS TABLE (name name, source text) LANGUAGE sql AS $$
  SELECT c.name, c.source FROM unnest((spanner_internal.advisor_facts(relation)).columns) c ORDER BY c.attnum
$$;

CREATE SEQUENCE s;
CREATE FUNCTION of_time() RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN RETURN clock_timestamp(); END';
CREATE FUNCTION of_chance() RETURNS bigint LANGUAGE sql RETURN random() * 2 ^ 60;
CREATE FUNCTION drawn() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN nextval(''s'') * 10; END';
CREATE FUNCTION drawn(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT nextval($1) * 10';
CREATE FUNCTION spread(regclass) RETURNS bigint LANGUAGE sql
BEGIN ATOMIC SELECT spanner.bit_reverse(nextval($1), true); END;
CREATE FUNCTION counted() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM pg_class; END;
CREATE TABLE made (
  a timestamptz DEFAULT of_time(),
  b bigint DEFAULT of_chance(),
  c bigint DEFAULT drawn(),
  d bigint DEFAULT drawn('s'),
  e bigint DEFAULT spread('s'),
  f bigint DEFAULT counted(),
  g bigint DEFAULT of_chance() + drawn('s'));
SELECT * FROM sources('made');

CREATE FUNCTION assign() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.c = 7 THEN NEW.c := 8; END IF;
  NEW.a := now(); new."b" = nextval('s');
  SELECT random() INTO STRICT new.d;
  SELECT INTO new.e gen_random_uuid();
  RETURN NEW;
END $$;
CREATE TABLE assigned (a timestamptz, b bigint, c bigint, d float8, e uuid, PRIMARY KEY (a, b));
CREATE INDEX ON assigned (b);
CREATE INDEX ON assigned (c);
CREATE INDEX ON assigned (d);
CREATE INDEX ON assigned (e);
CREATE TRIGGER assign BEFORE INSERT ON assigned FOR EACH ROW EXECUTE FUNCTION assign();
SELECT * FROM sources('assigned');

-- what comes after 10,000 characters is not read
DO $$
BEGIN
  FOR i IN 0..1 LOOP
    EXECUTE format('CREATE FUNCTION long%s() RETURNS timestamptz LANGUAGE plpgsql AS %L', i,
                   'BEGIN RETURN ' || repeat(' ', 5000 + 5000 * i) || 'now(); END');
    EXECUTE format('CREATE FUNCTION assign_long%s() RETURNS trigger LANGUAGE plpgsql AS %L', i,
                   'BEGIN ' || repeat(' ', 5000 + 5000 * i) || 'NEW.c := now(); RETURN NEW; END');
    EXECUTE format('CREATE TABLE of_long%s (a timestamptz DEFAULT long%s(), b text DEFAULT %L, c text PRIMARY KEY)', i, i, repeat('x', 100));
    EXECUTE format('CREATE TRIGGER t BEFORE INSERT ON of_long%s FOR EACH ROW EXECUTE FUNCTION assign_long%s()', i, i);
    EXECUTE format('CREATE TABLE rows%s (label text PRIMARY KEY, reached bigint)', i);
    EXECUTE format('CREATE FUNCTION count_up%s() RETURNS void LANGUAGE sql AS %L', i,
                   'SELECT 1;' || repeat(' ', 5000 + 5000 * i) || format('UPDATE rows%s SET reached = reached + 1', i));
  END LOOP;
END $$;
SELECT * FROM sources('of_long0');
SELECT * FROM sources('of_long1');
SELECT count(*) FROM spanner.advise('rows0') WHERE rule = 'counter_table';
SELECT count(*) FROM spanner.advise('rows1') WHERE rule = 'counter_table';

-- nor a body in standard SQL of more than a megabyte; a default is read whole
DO $$
BEGIN
  EXECUTE format('CREATE FUNCTION huge() RETURNS float8 LANGUAGE sql RETURN random() + length(%L)', repeat('x', 1100000));
  EXECUTE format('CREATE TABLE of_huge (a float8 DEFAULT huge(), b float8 DEFAULT length(%L) + random(), c float8 DEFAULT random())',
                 repeat('x', 1100000));
END $$;
SELECT * FROM sources('of_huge');

SET client_min_messages = warning;
DROP SCHEMA test_advise_bodies CASCADE;
