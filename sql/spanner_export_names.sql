-- No name, value or remark of an export is a statement of its own.

\pset format unaligned
\pset tuples_only
SET client_min_messages = error;
CREATE TABLE victim ();
CREATE SCHEMA m;
CREATE TABLE m.notes (id bigint PRIMARY KEY, body text, low text DEFAULT '\', "a"" -- " bigint);
CREATE INDEX ON m.notes (replace(body, E'\r\n;DROP TABLE public.victim;--', ''));
CREATE TABLE m.t ("a` int64)primary key();drop table victim;create table z(`b" bigint, "tab	\r" bigint);
CREATE TABLE m.u ("back\" bigint, s text DEFAULT $$\';DROP TABLE public.victim;--$$, n text DEFAULT $$'';DROP TABLE public.victim;''$$);
CREATE VIEW m.v AS SELECT $$\' int64;DROP TABLE public.victim;--$$ AS a, $$it's "so"$$ AS b;
SELECT format('CREATE SEQUENCE m.%1$I; CREATE TABLE m.%2$I (%1$I bigint); CREATE VIEW m.%3$I AS SELECT row_number() OVER ();
  CREATE PUBLICATION %1$I FOR TABLE m.notes WHERE (id > 1)', n, n || 't', n || 'v')
  FROM (SELECT E'\n;DROP TABLE victim;--' AS n) s \gexec
SELECT spanner.spanner_ddl(schema => 'm');
SELECT spanner.spanner_ddl(schema => 'm', dialect => 'postgresql');
SELECT string_agg(s, E';\n') AS google FROM spanner.spanner_ddl(schema => 'm') s \gset
SELECT string_agg(s, E';\n') AS pg FROM spanner.spanner_ddl(schema => 'm', dialect => 'postgresql') s \gset
SELECT format('DROP PUBLICATION %I', pubname) FROM pg_publication WHERE pubname LIKE '%victim%' \gexec
CREATE TABLE before AS SELECT attrelid::regclass::text, attname FROM pg_attribute WHERE attrelid = ANY ('{m.t,m.u,m.v}'::regclass[]);
DROP SCHEMA m CASCADE;
SELECT spanner.execute_ddl(:'google');
TABLE before EXCEPT SELECT attrelid::regclass::text, attname FROM pg_attribute;
DROP SCHEMA m CASCADE;
SELECT spanner.execute_ddl(:'pg');
TABLE victim;
DROP TABLE before, victim;
DROP SCHEMA m CASCADE;

-- every tree of the catalogs may be given, also one that is no expression of one relation
CREATE TABLE parted (a int) PARTITION BY LIST (a);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE RULE moved AS ON UPDATE TO parted WHERE old.a <> new.a DO INSTEAD INSERT INTO parted VALUES (new.a);
SELECT count(nullif(spanner_internal.postgresql_expression(ev_class, ev_qual), '')) AS conditions,
       count(spanner_internal.postgresql_expression(ev_class, ev_action)) AS queries,
       count(spanner_internal.googlesql_expression(ev_class, ev_action)) AS googlesql
  FROM pg_rewrite;
SELECT spanner_internal.postgresql_expression(oid, relpartbound), spanner_internal.googlesql_expression(oid, relpartbound)
  FROM pg_class WHERE relname = 'parted_1';
DROP TABLE parted;
