-- What spanner_ddl writes whatever the caller's settings are, and rare expressions.

CREATE SCHEMA x;
CREATE TABLE x.a (at timestamptz, utc text GENERATED ALWAYS AS (spanner.timestamp_to_string(at)) STORED,
  nothing text GENERATED ALWAYS AS (spanner.timestamp_to_string(at, NULL)) STORED, b bytea DEFAULT '\x0102ff' CHECK (octet_length(b) <= 10),
  f float8 DEFAULT 0.30000000000000004, n numeric DEFAULT 'NaN', d date DEFAULT '2026-02-01', e date DEFAULT 'infinity',
  z timestamptz DEFAULT '2026-01-01 00:00Z', u uuid DEFAULT '00000000-0000-0000-0000-000000000001', s text DEFAULT 'a\b',
  CHECK (f < 0.30000000000000004), CONSTRAINT kept CHECK (octet_length(s) <= 9), PRIMARY KEY (f));
\pset format unaligned
\pset tuples_only
SELECT spanner.spanner_ddl('x.a'::regclass);
CREATE VIEW exported AS SELECT 'googlesql' AS dialect, string_agg(s, ';') FROM spanner.spanner_ddl('x.a'::regclass) s
  UNION ALL SELECT 'postgresql', string_agg(s, ';') FROM spanner.spanner_ddl('x.a'::regclass, 'postgresql') s;
CREATE TABLE before AS TABLE exported;
SET bytea_output = escape;
SET datestyle = german;
SET extra_float_digits = -10;
SET intervalstyle = sql_standard;
SET quote_all_identifiers = on;
SET timezone = 'Asia/Tokyo';
TABLE exported EXCEPT TABLE before;
-- the length of BYTES is still known
SELECT spanner.execute_ddl('ALTER TABLE x.a ALTER COLUMN b BYTES(20) DEFAULT (b''\x01'')');
RESET quote_all_identifiers;
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'x.a'::regclass AND contype = 'c' ORDER BY 1;

-- a name of nextval() and text that looks like one; a view that is read with the caller's rights
CREATE SEQUENCE x.s;
CREATE SEQUENCE x.t;
CREATE TABLE x.b (a bigint PRIMARY KEY, n bigint DEFAULT nextval('x.s') + nextval('x.t'),
  d text DEFAULT 'nextval(''x.s''::regclass)');
SELECT spanner.spanner_ddl('x.b'::regclass, 'postgresql');
CREATE VIEW x.v1 WITH (security_invoker = yes) AS SELECT a FROM x.b;
CREATE VIEW x.v2 WITH (security_invoker = 1) AS SELECT a FROM x.b;
CREATE VIEW x.v3 WITH (security_invoker = off) AS SELECT a FROM x.b;
SELECT spanner.spanner_ddl(v) FROM unnest('{x.v1,x.v2,x.v3}'::regclass[]) v;
-- a synonym reads all of its table and nothing else
CREATE VIEW x.v4 WITH (security_invoker) AS SELECT a, n FROM x.b;
CREATE VIEW x.v5 WITH (security_invoker) AS SELECT a, n, d FROM x.b WHERE a > 0;
CREATE VIEW x.v6 WITH (security_invoker) AS SELECT a, n, d FROM ONLY x.b;
CREATE VIEW x.v7 WITH (security_invoker) AS SELECT a, n AS d, d AS n FROM x.b;
CREATE VIEW x.v8 WITH (security_invoker) AS SELECT a, n, d, 1 AS one FROM x.b;
CREATE VIEW x.v9 WITH (security_invoker) AS SELECT DISTINCT * FROM x.b;
CREATE VIEW x.va WITH (security_invoker) AS SELECT b.* FROM x.b, x.b c;
CREATE VIEW x.vb AS TABLE x.b;
SELECT spanner_internal.synonym_of('x.b'::regclass)::regclass;
CREATE VIEW x.vc WITH (security_invoker) AS TABLE x.b;
SELECT spanner_internal.synonym_of('x.b'::regclass)::regclass;
-- and was made as one: it goes with the table, and another view stops that
SELECT spanner.execute_ddl('ALTER TABLE x.b ADD SYNONYM vd');
SELECT spanner_internal.synonym_of('x.b'::regclass)::regclass;
ALTER VIEW vd RENAME n TO m;
SELECT spanner_internal.synonym_of('x.b'::regclass)::regclass;
ALTER VIEW vd RENAME m TO n;
DO $$ DECLARE v text; BEGIN FOR v IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'x'::regnamespace AND relkind = 'v' AND relname <> 'vc' LOOP
  EXECUTE 'DROP VIEW ' || v; END LOOP; END $$;
SELECT split_part(s, E'\n', 1) FROM spanner.spanner_ddl(schema => 'x') s WHERE s ~ 'b' AND s ~ '(VIEW|TABLE) ';
SELECT spanner.postgresql_ddl('DROP TABLE x.b');
SELECT spanner.execute_ddl('ALTER TABLE x.b DROP SYNONYM x.vc');
DROP VIEW x.vc;
SELECT spanner.postgresql_ddl('DROP TABLE x.b');
DROP VIEW vd;

-- a stranger's view is not chosen, even if it has the mark
CREATE ROLE test_stranger;
CREATE SCHEMA hidden AUTHORIZATION test_stranger;
CREATE ROLE test_owner;
CREATE SCHEMA shown AUTHORIZATION test_owner;
GRANT USAGE ON SCHEMA shown TO test_stranger;
SET ROLE test_owner;
SELECT spanner.execute_ddl('CREATE TABLE shown.Secret (Id INT64 NOT NULL) PRIMARY KEY (Id)');
SET ROLE test_stranger;
SELECT spanner.execute_ddl('ALTER TABLE shown.Secret ADD SYNONYM hidden.s');
CREATE VIEW hidden.v WITH (security_invoker) AS SELECT * FROM shown.secret;
CREATE TRIGGER synonym AFTER UPDATE ON hidden.v FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION spanner_internal.synonym();
SET ROLE test_owner;
SELECT spanner.postgresql_ddl('ALTER TABLE shown.Secret ADD COLUMN N INT64; ALTER TABLE shown.Secret ADD SYNONYM shown.Open');
RESET ROLE;
SELECT spanner.spanner_ddl(schema => 'hidden');
SELECT spanner.postgresql_ddl('DROP TABLE shown.Secret');
-- a superuser makes the owner's
SELECT spanner.execute_ddl('ALTER TABLE shown.Secret ADD SYNONYM shown.Open');
SET ROLE test_owner;
SELECT spanner.postgresql_ddl('ALTER TABLE shown.Secret ADD COLUMN N INT64');
SELECT spanner.spanner_ddl(schema => 'shown');
SELECT spanner.postgresql_ddl('ALTER TABLE shown.Secret DROP SYNONYM shown.Open');
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA hidden, shown CASCADE;
DROP ROLE test_stranger, test_owner;
RESET client_min_messages;

DROP VIEW exported;
DROP TABLE before;
SET client_min_messages = warning;
DROP SCHEMA x CASCADE;
RESET ALL;

-- regular expressions, lengths of elements, views, change streams
SET client_min_messages = error;
CREATE SCHEMA y;
SET search_path = y;
SELECT spanner.execute_ddl($$CREATE TABLE T (A INT64 NOT NULL, B STRING(MAX), C TIMESTAMP, D DATE, E ARRAY<BYTES(3)>,
  F ARRAY<STRING(4)>, CONSTRAINT mail CHECK (REGEXP_CONTAINS(B, r'^[\w.-]+@\w+\.(com|[^x]{2,4})\d*.$')),
  CONSTRAINT plain CHECK (NOT REGEXP_CONTAINS(B, '^(?:a+|b)$') OR REGEXP_CONTAINS(B, "\\S"))) PRIMARY KEY (A);
CREATE TABLE U (A INT64 NOT NULL, V FLOAT64) PRIMARY KEY (A);
CREATE VIEW Joined SQL SECURITY INVOKER AS SELECT t.A, t.B AS `Order`, u.V * 2 AS twice FROM T AS t
  LEFT JOIN U AS u ON u.A = t.A WHERE t.B LIKE 'a  %' AND NOT REGEXP_CONTAINS(t.B, 'x');
CREATE VIEW Grouped SQL SECURITY DEFINER AS SELECT t.B, COUNT(*) AS n, SUM(t.A) AS s, COUNT(DISTINCT t.C) AS m,
  MAX(u.V) AS v FROM T AS t, U AS u WHERE t.A = u.A GROUP BY t.B HAVING COUNT(*) > 1 ORDER BY n DESC, t.B LIMIT 10 OFFSET 2;
CREATE VIEW Nested SQL SECURITY INVOKER AS SELECT DISTINCT s.x FROM (SELECT t.A + 1 AS x FROM T AS t) AS s CROSS JOIN U AS u;
CREATE VIEW Ordered SQL SECURITY INVOKER AS SELECT t.A FROM T AS t ORDER BY t.B, t.C DESC;
CREATE VIEW Elements SQL SECURITY INVOKER AS SELECT t.A FROM T AS t WHERE t.A NOT IN UNNEST([1, 2]);
CREATE CHANGE STREAM more_s1 FOR T(B, D), U OPTIONS (exclude_insert = true, exclude_delete = true);
CREATE CHANGE STREAM more_s2 FOR T()$$);
INSERT INTO t (a, b, e, f) VALUES (1, 'a.b@c.com7x', '{abc}', '{abcd}');
INSERT INTO t (a, b) VALUES (2, E'a.b@c.com7\n');
INSERT INTO t (a, e) VALUES (3, '{abcd}');
INSERT INTO t (a, f) VALUES (4, '{abcde}');
CREATE VIEW other AS SELECT a, row_number() OVER () FROM t;
CREATE VIEW strings AS SELECT E'x\n  y' AS s WHERE EXISTS (SELECT FROM u);
CREATE PUBLICATION more_p FOR TABLE t WHERE (a > 5);
SELECT regexp_replace(s, 'query: .*', 'query') FROM spanner.spanner_ddl(schema => 'y') s;
SELECT s FROM spanner.spanner_ddl('y'::regnamespace, 'postgresql') s WHERE s ~ 'STREAM';
SELECT count(*) FROM spanner.spanner_ddl('y.strings'::regclass, 'postgresql') s WHERE s ~ E'x\n  y';
CREATE TABLE public.before AS SELECT relname, pg_get_viewdef(oid, true) AS definition, reloptions FROM pg_class
  WHERE relnamespace = 'y'::regnamespace AND relkind = 'v' AND relname NOT IN ('other', 'strings');
SELECT string_agg(s, E';\n') AS export FROM spanner.spanner_ddl(schema => 'y') s \gset
DROP PUBLICATION more_s1, more_s2, more_p;
DROP SCHEMA y CASCADE;
SELECT spanner.execute_ddl(:'export');
SELECT relname, regexp_replace(definition, '\mt\.', '', 'g') AS definition, reloptions
  FROM (TABLE public.before EXCEPT SELECT relname, pg_get_viewdef(oid, true), reloptions
          FROM pg_class WHERE relnamespace = 'y'::regnamespace) d;
SELECT pubname, tablename, attnames, pubinsert, pubupdate, pubdelete
  FROM pg_publication_tables JOIN pg_publication USING (pubname) WHERE pubname LIKE 'more%' ORDER BY 1, 2;
-- what is not the same in both
\set VERBOSITY terse
SELECT spanner.postgresql_ddl($$ALTER TABLE y.`T` ADD CHECK (REGEXP_CONTAINS(B, r'\bx'))$$);
SELECT spanner.postgresql_ddl($$ALTER TABLE y.`T` ADD CHECK (REGEXP_CONTAINS(B, r'[[:alpha:]]'))$$);
SELECT spanner.postgresql_ddl($$ALTER TABLE y.`T` ADD CHECK (REGEXP_CONTAINS(B, '(?i)x'))$$);
SELECT spanner.postgresql_ddl($$ALTER TABLE y.`T` ADD CHECK (REGEXP_CONTAINS(B, B))$$);
SELECT spanner.postgresql_ddl($$ALTER TABLE y.`T` ADD CHECK (REGEXP_CONTAINS(B, r'(x'))$$);

DROP PUBLICATION more_s1, more_s2;
DROP TABLE public.before;
DROP SCHEMA y CASCADE;
