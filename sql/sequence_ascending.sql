-- INSERT ... SELECT ... FROM (VALUES ...) ORDER BY ... RETURNING: ids ascend.

SELECT spanner.bit_reverse(0, true);
SET session_preload_libraries = 'spanner_keys';  -- without the NOTICE of GENERATED ALWAYS
CREATE SCHEMA a;
SET search_path = a;
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE t (id bigserial PRIMARY KEY, v text UNIQUE);
CREATE TABLE i (id integer GENERATED ALWAYS AS IDENTITY, v text);
CREATE FUNCTION ascends(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    IF line LIKE '%ascending_nextval%' THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

-- releases give the source of an INSERT different names
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    RETURN NEXT regexp_replace(line, '"\*SELECT\*"|unnamed_subquery', 'source', 'g');
  END LOOP;
END $$;

-- the values that would have been drawn, in the order of the rows
SELECT plan($$
  INSERT INTO t (v) SELECT p0::text FROM (VALUES ('a', 0), ('b', 1), ('c', 2)) AS imp_sen (p0, n)
  ORDER BY n RETURNING t.id, t.id AS id__1$$);
INSERT INTO t (v) SELECT p0::text FROM (VALUES ('c', 2), ('a', 0), ('b', 1)) AS imp_sen (p0, n)
  ORDER BY n RETURNING id, v, spanner_internal.unmap_value(id, 't_id_seq');
SELECT lastval() = spanner.currval('t_id_seq') AS same, v FROM t WHERE id = lastval();
INSERT INTO i (v) SELECT x FROM (VALUES ('a', 0), ('b', 1), ('c', 2)) v (x, y) ORDER BY y
  RETURNING id, v, spanner_internal.unmap_value(id, 'i_id_seq');

-- no other form, and no other place in it
CREATE VIEW ruled AS SELECT * FROM t;
CREATE RULE ruled AS ON INSERT TO ruled DO INSTEAD
  INSERT INTO t VALUES ((SELECT spanner.nextval('t_id_seq')), NEW.v) RETURNING *;
SELECT q AS query, ascends(q) FROM (VALUES
  ('INSERT INTO t (v) VALUES (1), (2) ORDER BY 1 RETURNING id'),
  ('WITH w AS (INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING id) SELECT FROM w'),
  ('INSERT INTO t (v) SELECT random() FROM (VALUES (random()), (2)) v (x) ORDER BY x RETURNING 1'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) ORDER BY x'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) RETURNING id'),
  ('INSERT INTO t (v) VALUES (1), (2) RETURNING id'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1)) v (x) ORDER BY x RETURNING id'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) ORDER BY x LIMIT 5 RETURNING id'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) ORDER BY x OFFSET 0 RETURNING id'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) WHERE x > random() ORDER BY x RETURNING id'),
  ('INSERT INTO t (v) SELECT DISTINCT x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING id'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) GROUP BY x ORDER BY x RETURNING id'),
  ('INSERT INTO t (v) SELECT generate_series(1, x) FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING id'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x), i ORDER BY x RETURNING t.id'),
  ('INSERT INTO t (v) SELECT x FROM generate_series(1, 2) x ORDER BY x RETURNING id'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) UNION SELECT 3 ORDER BY x RETURNING id'),
  ('INSERT INTO t SELECT 1, x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING spanner.nextval(''t_id_seq'')'),
  ('INSERT INTO t SELECT 1, x FROM (VALUES (1), (2)) v (x) ORDER BY spanner.nextval(''t_id_seq'') RETURNING id'),
  ('INSERT INTO t SELECT (SELECT spanner.nextval(''t_id_seq'') FROM (VALUES (1)) w), x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING id'),
  ('INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING (SELECT spanner.nextval(''t_id_seq''))'),
  ('INSERT INTO ruled (v) SELECT x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING id'),
  ('WITH c AS (SELECT spanner.nextval(''t_id_seq'')) INSERT INTO t SELECT 1, x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING (SELECT count(*) FROM c)'),
  ('INSERT INTO t SELECT 1, x FROM (VALUES (1), (2)) v (x) ORDER BY x ON CONFLICT (id) DO UPDATE SET id = spanner.nextval(''t_id_seq'') RETURNING id'),
  ('SELECT spanner.nextval(''t_id_seq'') FROM (VALUES (1), (2)) v (x) ORDER BY x')) q (q);
CREATE SEQUENCE drawn;
CREATE VIEW checked AS
  SELECT * FROM t WHERE (v = 'x') = (spanner.nextval('drawn') = 1::bigint << 62) WITH CHECK OPTION;
INSERT INTO checked SELECT n, x FROM (VALUES (1, 'x'), (2, 'y')) v (n, x) ORDER BY n RETURNING id;

-- unbound sequences and other kinds; columns with the same sequence or others
CREATE SEQUENCE s;
SELECT spanner.create_sequence('striped', 'striped', stripes => 4);
SET spanner.default_sequence_kind = 'local';
CREATE TABLE m (k bigserial, b bigint DEFAULT nextval('s'), c bigint DEFAULT nextval('s'),
                d bigint DEFAULT nextval('striped'), v integer);
SELECT plan($$
  INSERT INTO m (v) SELECT x FROM (VALUES (3), (4)) v (x) ORDER BY x RETURNING k$$);
INSERT INTO m (v) SELECT x FROM (VALUES (1), (2), (3), (4), (5)) v (x) ORDER BY x
  RETURNING v, k, spanner_internal.unmap_value(b, 's') AS b, spanner_internal.unmap_value(c, 's') AS c, d;
SELECT lastval() = d AS last, currval('s') = c AS current FROM m WHERE v = 5;

-- nextval in each row of the VALUES, or in the SELECT, with the library loaded
SELECT plan($$
  INSERT INTO t (id, v) SELECT p0::bigint, p1::text
    FROM (VALUES (nextval('t_id_seq'), 'd', 0), (nextval('t_id_seq'), 'e', 1)) AS imp_sen (p0, p1, n)
   ORDER BY n RETURNING t.id$$);
INSERT INTO t (id, v) SELECT p0, p1
  FROM (VALUES (nextval('t_id_seq'), 'e', 1), (nextval('t_id_seq'), 'd', 0), (nextval('t_id_seq'), 'f', 2)) v (p0, p1, n)
  ORDER BY n RETURNING v, spanner_internal.unmap_value(id, 't_id_seq'), id = lastval() AS last;
INSERT INTO t SELECT nextval('t_id_seq'), p0 FROM (VALUES ('g', 0), ('h', 1), ('i', 2)) v (p0, n)
  ORDER BY n RETURNING v, spanner_internal.unmap_value(id, 't_id_seq');
SELECT q AS query, ascends(q) FROM (VALUES
  ('INSERT INTO t SELECT p0, p0 FROM (VALUES (nextval(''s''), 1), (nextval(''s''), 2)) v (p0, n) ORDER BY n RETURNING id'),
  ('INSERT INTO t SELECT p0, v FROM (VALUES (nextval(''s''), 1), (nextval(''s''), 2)) v (p0, n) ORDER BY n RETURNING id'),
  ('INSERT INTO t SELECT p0, n FROM (VALUES (nextval(''s''), 1), (nextval(''striped''), 2)) v (p0, n) ORDER BY n RETURNING id'),
  ('INSERT INTO t SELECT p0, n FROM (VALUES (nextval(''s''), 1), (7, 2)) v (p0, n) ORDER BY n RETURNING id'),
  ('INSERT INTO t SELECT p0, n FROM (VALUES (nextval(''m_k_seq''), 1), (nextval(''m_k_seq''), 2)) v (p0, n) ORDER BY n RETURNING id'),
  ('INSERT INTO t SELECT p0, (SELECT p0) FROM (VALUES (nextval(''s''), 1), (nextval(''s''), 2)) v (p0, n) ORDER BY n RETURNING id')) q (q);
SELECT plan($$
  INSERT INTO t SELECT p0, n FROM (VALUES (nextval('s'), 1), (nextval('s'), 2)) v (p0, n) ORDER BY p0 RETURNING id$$);
INSERT INTO m (b, c, v) SELECT p0, p0, n FROM (VALUES (nextval('s'), 6), (nextval('s'), 7)) v (p0, n)
  ORDER BY n RETURNING v, spanner_internal.unmap_value(b, 's') AS b, spanner_internal.unmap_value(c, 's') AS c;

-- a trigger between two rows runs a command after which lastval() is not known
CREATE TABLE altered (v integer);
CREATE TABLE altering (id bigint DEFAULT nextval('s'), v integer);
CREATE FUNCTION alter_another() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE altered ADD COLUMN c%s integer GENERATED ALWAYS AS IDENTITY', NEW.v);
  RETURN NEW;
END $$;
CREATE TRIGGER altering BEFORE INSERT ON altering FOR EACH ROW EXECUTE FUNCTION alter_another();
INSERT INTO altering (v) SELECT x FROM (VALUES (1), (2), (3)) v (x) ORDER BY x
  RETURNING v, spanner_internal.unmap_value(id, 's') AS id, currval('s') = id AS current, lastval() = id AS last;

-- what else the rows evaluate sees each value that was drawn before
CREATE FUNCTION seen() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN currval('a.s'); END$$;
CREATE TABLE pairs (id bigint, v text);
SELECT q AS query, ascends('INSERT INTO pairs SELECT a, b FROM ' || q || ' ORDER BY n RETURNING id') FROM (VALUES
  ('(VALUES (nextval(''s''), gen_random_uuid()::text, 1), (nextval(''s''), random()::text, 2)) q (a, b, n)'),
  ('(VALUES (nextval(''s''), clock_timestamp()::text, 1), (nextval(''s''), now()::text, 2)) q (a, b, n)'),
  ('(VALUES (nextval(''s''), currval(''s'')::text, 1), (nextval(''s''), ''x'', 2)) q (a, b, n)'),
  ('(VALUES (nextval(''s''), ''x'', 1), (nextval(''s''), lastval()::text, 2)) q (a, b, n)'),
  ('(VALUES (nextval(''s''), ''x'', 1), (nextval(''s''), spanner.lastval()::text, 2)) q (a, b, n)'),
  ('(VALUES (nextval(''s''), setval(''s'', 99)::text, 1), (nextval(''s''), ''x'', 2)) q (a, b, n)'),
  ('(VALUES (nextval(''s''), seen()::text, 1), (nextval(''s''), seen()::text, 2)) q (a, b, n)'),
  ('(VALUES (nextval(''s''), nextval((''s'' || left(now()::text, 0))::regclass)::text, 1), (nextval(''s''), ''x'', 2)) q (a, b, n)'),
  ('(SELECT a, currval(''s'')::text, n FROM (VALUES (nextval(''s''), 1), (nextval(''s''), 2)) r (a, n)) q (a, b, n)'),
  ('(SELECT a, (SELECT last_value FROM s)::text, n FROM (VALUES (nextval(''s''), 1), (nextval(''s''), 2)) r (a, n)) q (a, b, n)')) q (q);
INSERT INTO pairs SELECT a, b FROM (VALUES (nextval('s'), currval('s')::text, 1), (nextval('s'), currval('s')::text, 2)) q (a, b, n)
  ORDER BY n RETURNING id::text = v AS same;
INSERT INTO pairs SELECT a, b FROM (VALUES (nextval('s'), seen()::text, 1), (nextval('s'), lastval()::text, 2)) q (a, b, n)
  ORDER BY n RETURNING id::text = v AS same;

-- the first statement of a session
CREATE FUNCTION drawing() RETURNS bigint LANGUAGE sql AS $$SELECT nextval('a.s')$$;
\c -
INSERT INTO a.t SELECT p0, x FROM (VALUES (nextval('a.s'), 'y1', 0), (nextval('a.s'), 'y2', 1), (nextval('a.s'), 'y3', 2)) v (p0, x, n)
  ORDER BY n RETURNING v;
SELECT array_agg(v ORDER BY id) FROM a.t WHERE v ~ '^y.';

\c -
INSERT INTO a.pairs SELECT a, b FROM (VALUES (nextval('a.s'), currval('a.s')::text, 1), (nextval('a.s'), a.seen()::text, 2)) q (a, b, n)
  ORDER BY n RETURNING id::text = v AS same;

-- a function in SQL draws as well
INSERT INTO a.m (b, c, v) SELECT p0, p1, n FROM (VALUES (nextval('a.s'), a.drawing(), 0), (nextval('a.s'), a.drawing(), 1)) v (p0, p1, n)
  ORDER BY n RETURNING v, b > 0 AS b, c > 0 AS c;

SET client_min_messages = warning;
DROP SCHEMA a CASCADE;

RESET client_min_messages;
-- What spanner_internal.ascending_nextval() draws ahead: gaps, plans, changed bindings.
CREATE SCHEMA a;
SET search_path = a;
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE t (id bigserial PRIMARY KEY, v text UNIQUE);

-- values that no row takes are gaps; none is given twice
CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN RETURN CASE WHEN NEW.v <> 'x2' THEN NEW END; END $$;
CREATE TRIGGER suppress BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION suppress();
INSERT INTO t (v) SELECT x FROM (VALUES ('x1', 1), ('x2', 2), ('x3', 3)) v (x, n) ORDER BY n RETURNING v;
INSERT INTO t (v) SELECT x FROM (VALUES ('x3', 1), ('x4', 2)) v (x, n) ORDER BY n
  ON CONFLICT DO NOTHING RETURNING v, spanner_internal.unmap_value(id, 't_id_seq');
BEGIN;
SAVEPOINT p;
INSERT INTO t (v) SELECT x FROM (VALUES ('x5', 1), ('x6', 2)) v (x, n) ORDER BY n RETURNING v;
ROLLBACK TO p;
INSERT INTO t (v) SELECT x FROM (VALUES ('x5', 1), ('x6', 2)) v (x, n) ORDER BY n RETURNING v;
COMMIT;

-- each execution of a plan draws anew, whoever executes it
PREPARE three(text) AS
  INSERT INTO t (v) SELECT $1 || x FROM (VALUES (1), (2), (3)) v (x) ORDER BY x RETURNING v;
EXECUTE three('a');
SET plan_cache_mode = force_generic_plan;
EXECUTE three('b');
RESET plan_cache_mode;
CREATE FUNCTION in_sql(text) RETURNS bigint LANGUAGE sql AS
  $$ INSERT INTO a.t (v) SELECT $1 || x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING id $$;
CREATE FUNCTION nested() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM a.in_sql(NEW.v || 'n') WHERE NEW.v ~ '^d.$' OR NEW.v ~ '^d.n.$';
  RETURN NEW;
END $$;
CREATE TRIGGER nested BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION nested();
DO $$ DECLARE r record; BEGIN
  FOR n IN 1 .. 3 LOOP
    FOR r IN INSERT INTO a.t (v) SELECT 'c' || n || x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING id LOOP END LOOP;
  END LOOP;
END $$;
SELECT in_sql('d') > 0 AS drawn;
SELECT batch, count(*), array_agg(v ORDER BY id) = array_agg(v ORDER BY v) AS ascending
  FROM (SELECT id, v, CASE WHEN v ~ '^c' THEN substr(v, 1, 2) ELSE rtrim(v, '123') END AS batch
          FROM t WHERE v !~ '^x') b GROUP BY batch ORDER BY batch;
SELECT count(*) AS nested FROM t WHERE v ~ '^d';
SELECT count(*) - count(DISTINCT id) AS twice FROM t;

-- a partitioned table, a view, an identity column of somebody else
CREATE TABLE p (id bigint GENERATED BY DEFAULT AS IDENTITY, v integer) PARTITION BY LIST (v);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1, 3);
CREATE TABLE p2 PARTITION OF p DEFAULT;
CREATE VIEW w AS SELECT * FROM p;
CREATE ROLE regress_spanner_writer;
GRANT USAGE ON SCHEMA a TO regress_spanner_writer;
GRANT SELECT, INSERT ON t, p, w TO regress_spanner_writer;
SET ROLE regress_spanner_writer;
INSERT INTO p (v) SELECT x FROM (VALUES (1), (2), (3)) v (x) ORDER BY x RETURNING v, spanner_internal.unmap_value(id, 'p_id_seq');
INSERT INTO w (v) SELECT x FROM (VALUES (1), (2), (3)) v (x) ORDER BY x DESC RETURNING v, spanner_internal.unmap_value(id, 'p_id_seq');
INSERT INTO t (v) SELECT x FROM (VALUES (1), (2)) v (x) ORDER BY x RETURNING v;
RESET ROLE;

-- the skip range, and the end of a sequence
CREATE TABLE n (id bigint, v integer);
SELECT spanner.create_sequence('narrow', 'bit_reversed_positive', bits => 4, skip_range_min => 1, skip_range_max => 8);
ALTER TABLE n ALTER id SET DEFAULT spanner.nextval('narrow');
INSERT INTO n (v) SELECT x FROM (VALUES (1), (2), (3), (4)) v (x) ORDER BY x RETURNING *;
INSERT INTO n (v) SELECT x FROM (VALUES (5), (6), (7)) v (x) ORDER BY x RETURNING *;
SELECT count(*) FROM n;

-- a binding that the statement itself changes, or only invalidates
CREATE TABLE c (id bigserial, v integer, u bigint);
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.u := spanner_internal.unmap_value(NEW.id, 'a.c_id_seq');
  CASE NEW.v
    WHEN 11 THEN ALTER SEQUENCE a.c_id_seq CACHE 2;
    WHEN 21 THEN PERFORM spanner.alter_sequence('a.c_id_seq', skip_range_min => 1::bigint << 62, skip_range_max => 7::bigint << 60);
    WHEN 31 THEN PERFORM nextval('a.c_id_seq');
    WHEN 41 THEN PERFORM spanner.alter_sequence('a.c_id_seq', 'local');
    ELSE
  END CASE;
  RETURN NEW;
END $$;
CREATE TRIGGER change BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION change();
INSERT INTO c (v) SELECT x FROM (VALUES (11), (12), (13), (14)) v (x) ORDER BY x RETURNING v, u;
INSERT INTO c (v) SELECT x FROM (VALUES (21), (22), (23), (24)) v (x) ORDER BY x RETURNING v, u, id BETWEEN 1::bigint << 62 AND 7::bigint << 60 AS skipped;
INSERT INTO c (v) SELECT x FROM (VALUES (31), (32), (33), (34)) v (x) ORDER BY x RETURNING v, u, id = currval('c_id_seq') AS current, id = lastval() AS last;
INSERT INTO c (v) SELECT x FROM (VALUES (41), (42), (43), (44)) v (x) ORDER BY x RETURNING v, u, CASE WHEN v > 41 THEN id END AS id;
SELECT count(*) - count(DISTINCT id) AS twice FROM c;

-- another sequence that is drawn from for some rows
CREATE TABLE l (id bigserial, v integer);
CREATE SEQUENCE other;
SELECT nextval('other') > 0 AS drawn FROM generate_series(1, 5);
CREATE FUNCTION draw_other() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN PERFORM nextval('a.other') WHERE NEW.v = 1; RETURN NEW; END $$;
CREATE TRIGGER draw_other BEFORE INSERT ON l FOR EACH ROW EXECUTE FUNCTION draw_other();
INSERT INTO l (v) SELECT x FROM (VALUES (1), (2), (3)) v (x) ORDER BY x
  RETURNING v, id = lastval() AS last, id = currval('l_id_seq') AS current, currval('other') = lastval() AS other;
TRUNCATE l RESTART IDENTITY;
INSERT INTO l (v) VALUES (2), (3), (4);
SELECT id = lastval() AS last, id = currval('l_id_seq') AS current FROM l WHERE v = 4;

-- called by a user
SELECT spanner_internal.ascending_nextval('other', 0);
SELECT spanner_internal.ascending_nextval('other', 1000001);
SELECT spanner_internal.ascending_nextval('l', 2);
SELECT spanner_internal.unmap_value(spanner_internal.ascending_nextval('other', 3), 'other') FROM generate_series(1, 4);
SELECT i, spanner_internal.unmap_value(spanner_internal.ascending_nextval(s, n), s)
  FROM (VALUES (1, 'other'::regclass, 2), (2, 'other', 2), (3, 'l_id_seq', 2), (4, 'l_id_seq', 3)) v (i, s, n);
-- a call keeps no more than its last values
SELECT drawn, (SELECT sum(total_bytes) < 4000000 FROM pg_backend_memory_contexts WHERE name = 'ExecutorState' AND drawn > 0) AS little
  FROM (SELECT count(spanner_internal.ascending_nextval('other', n)) AS drawn FROM generate_series(1001, 2000) n OFFSET 0) s;

SET client_min_messages = warning;
DROP SCHEMA a CASCADE;
DROP ROLE regress_spanner_writer;
