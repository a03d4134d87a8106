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

-- the first statement of a session
CREATE FUNCTION drawing() RETURNS bigint LANGUAGE sql AS $$SELECT nextval('a.s')$$;
\c -
INSERT INTO a.t SELECT p0, x FROM (VALUES (nextval('a.s'), 'y1', 0), (nextval('a.s'), 'y2', 1), (nextval('a.s'), 'y3', 2)) v (p0, x, n)
  ORDER BY n RETURNING v;
SELECT array_agg(v ORDER BY id) FROM a.t WHERE v ~ '^y.';

-- a function in SQL draws as well
INSERT INTO a.m (b, c, v) SELECT p0, p1, n FROM (VALUES (nextval('a.s'), a.drawing(), 0), (nextval('a.s'), a.drawing(), 1)) v (p0, p1, n)
  ORDER BY n RETURNING v, b > 0 AS b, c > 0 AS c;

SET client_min_messages = warning;
DROP SCHEMA a CASCADE;
