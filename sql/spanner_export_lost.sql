-- What needs something that Spanner has not is not written: an export can be imported.

\pset format unaligned
\pset tuples_only
SET client_min_messages = error;
CREATE SCHEMA lost;
SET search_path = lost;
CREATE SEQUENCE plain;
CREATE TABLE drawn (id bigint PRIMARY KEY DEFAULT nextval('plain'), twice bigint DEFAULT nextval('plain') * 2);
CREATE TABLE shared (id bigserial PRIMARY KEY, again bigint DEFAULT nextval('shared_id_seq'));
CREATE DOMAIN amount AS bigint CHECK (value > 0);
CREATE TABLE domains (id amount PRIMARY KEY);
-- columns of which others are made
CREATE TABLE times (id bigint PRIMARY KEY, i interval, c char(3), at timestamptz, CHECK (i > '1 day'), CHECK (id > 0),
  days bigint GENERATED ALWAYS AS (extract(day FROM i)::bigint) STORED, u text GENERATED ALWAYS AS (c || 'x') STORED);
CREATE INDEX ON times (i);
CREATE INDEX ON times (id) INCLUDE (c);
CREATE INDEX ON times (at) WHERE i IS NOT NULL;
CREATE INDEX ON times (at) INCLUDE (days);
CREATE VIEW shown AS SELECT id FROM times;
CREATE VIEW hidden AS SELECT id FROM times WHERE i IS NULL;
CREATE VIEW of_hidden AS SELECT id FROM hidden;
CREATE MATERIALIZED VIEW filled AS SELECT 1 AS a;
CREATE VIEW of_filled AS SELECT a FROM filled;
CREATE FUNCTION own(bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE VIEW called AS SELECT own(id) AS id FROM times;
CREATE VIEW ours AS SELECT spanner.bit_reverse(id, false) AS id FROM times;
CREATE PUBLICATION lost_stream FOR TABLE times (id, c, at);
-- keys of a type that has none, and what refers to them
CREATE TABLE docs (doc jsonb PRIMARY KEY, tags text[], at timestamptz[] UNIQUE);
CREATE TABLE numbers (n numeric PRIMARY KEY, m numeric(5, 2) UNIQUE);
CREATE TABLE spans (i interval, id bigint, PRIMARY KEY (i, id));
CREATE TABLE referring (id bigint PRIMARY KEY, doc jsonb REFERENCES docs, n numeric REFERENCES numbers, i interval, FOREIGN KEY (i, id) REFERENCES spans);
CREATE TABLE spans_parent (id bigint PRIMARY KEY);
CREATE TABLE spans_child (id bigint REFERENCES spans_parent ON DELETE CASCADE, i interval, PRIMARY KEY (id, i));
CREATE TABLE numbers_child (n numeric REFERENCES numbers ON DELETE CASCADE, id bigint, PRIMARY KEY (n, id));
CREATE INDEX ON docs (tags);
-- keys of the PostgreSQL dialect have no order
SELECT spanner.execute_ddl('CREATE TABLE lost.ups (a INT64 NOT NULL, b INT64 NOT NULL) PRIMARY KEY (a, b DESC);
  CREATE TABLE lost.downs (a INT64 NOT NULL, b INT64 NOT NULL, c INT64 NOT NULL) PRIMARY KEY (a, b DESC, c), INTERLEAVE IN PARENT lost.ups');
-- releases write the queries of PostgreSQL's views in two ways
SELECT regexp_replace(s, '^(-- .* VIEW \S+).*', '\1') FROM spanner.spanner_ddl(schema => 'lost') s;
SELECT regexp_replace(s, '(VIEW \S+).*', '\1') FROM spanner.spanner_ddl(schema => 'lost', dialect => 'postgresql') s;

SELECT string_agg(s, E';\n') AS google FROM spanner.spanner_ddl(schema => 'lost') s \gset
SELECT string_agg(s, E';\n') AS pg FROM spanner.spanner_ddl(schema => 'lost', dialect => 'postgresql') s \gset
CREATE TEMP TABLE written AS SELECT 'googlesql' AS dialect, s FROM spanner.spanner_ddl(schema => 'lost') s
  UNION ALL SELECT 'postgresql', s FROM spanner.spanner_ddl(schema => 'lost', dialect => 'postgresql') s;
DROP PUBLICATION lost_stream;
DROP SCHEMA lost CASCADE;
SELECT spanner.execute_ddl(:'google');
SELECT s FROM written WHERE dialect = 'googlesql' AND s !~ '^--' EXCEPT SELECT s FROM spanner.spanner_ddl(schema => 'lost') s;
DROP PUBLICATION lost_stream;
DROP SCHEMA lost CASCADE;
SELECT spanner.execute_ddl(:'pg');
SELECT s FROM written WHERE dialect = 'postgresql' AND s !~ '^--' EXCEPT SELECT s FROM spanner.spanner_ddl(schema => 'lost', dialect => 'postgresql') s;
DROP PUBLICATION lost_stream;
DROP SCHEMA lost CASCADE;

-- views that need each other, and a pile of them with many columns
CREATE SCHEMA pile;
CREATE TABLE pile.t (id bigint PRIMARY KEY, a int, b int, c int, d int, e int, f int, g int, h int, lost interval);
CREATE VIEW pile.v0 AS SELECT id, a, b, c, d, e, f, g, h FROM pile.t;
SELECT format('CREATE VIEW pile.v%s AS SELECT * FROM pile.v%s', i, i - 1) FROM generate_series(1, 9) i \gexec
CREATE VIEW pile.needs AS SELECT lost FROM pile.t;
CREATE VIEW pile.first AS SELECT 1::bigint AS x;
CREATE VIEW pile.second AS SELECT x FROM pile.first;
CREATE OR REPLACE VIEW pile.first AS SELECT x FROM pile.second;
CREATE VIEW pile.third AS SELECT x, lost FROM pile.first, pile.needs;
SELECT regexp_replace(s, '^(-- .* VIEW \S+).*', '\1') FROM unnest('{pile.v9,pile.second,pile.third}'::regclass[]) v, spanner.spanner_ddl(v) s;
DROP SCHEMA pile CASCADE;
