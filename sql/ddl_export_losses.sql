-- What spanner_ddl says of indexes, expressions and keys that mean another thing in Spanner.

SELECT spanner.bit_reverse(0, true);
\pset format unaligned
\pset tuples_only
SET client_min_messages = error;
CREATE SCHEMA l;
SET search_path = l;

-- conditions of indexes, and NULLs in unique ones
CREATE TABLE i (id bigint PRIMARY KEY, "userId" bigint NOT NULL, "isDefault" bool, "deletedAt" timestamptz, b bigint,
  c bigint, UNIQUE (b, c), EXCLUDE USING btree (b WITH =));
CREATE UNIQUE INDEX one_default ON i ("userId") WHERE "isDefault";
CREATE INDEX live ON i ("userId") WHERE "deletedAt" IS NOT NULL;
CREATE INDEX any_of ON i (b) WHERE b IS NOT NULL OR c IS NOT NULL;
CREATE INDEX whole_row ON i (b) WHERE i IS NOT NULL;
CREATE UNIQUE INDEX u1 ON i (b);
CREATE UNIQUE INDEX u2 ON i ("userId", b);
CREATE UNIQUE INDEX u3 ON i (b, c) WHERE b IS NOT NULL;
CREATE UNIQUE INDEX u4 ON i (b, c) NULLS NOT DISTINCT;
SELECT spanner.spanner_ddl('i'::regclass);
SELECT spanner.spanner_ddl('i'::regclass, 'postgresql');
-- one index gives the order of the key; a key with columns that are only stored
CREATE TABLE ks (a bigint, b bigint, PRIMARY KEY (a, b));
CREATE INDEX d0 ON ks (a DESC, b DESC);
CREATE INDEX d1 ON ks (a, b DESC);
CREATE INDEX d2 ON ks (a DESC, b);
CREATE TABLE ki (a bigint, b bigint, PRIMARY KEY (a) INCLUDE (b));
SELECT spanner.spanner_ddl(t) FROM unnest('{ks,ki}'::regclass[]) t;
SELECT string_agg(s, E';\n') AS export FROM spanner.spanner_ddl('ks'::regclass) s \gset
DROP TABLE ks;
SELECT spanner.execute_ddl(:'export');
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'ks'::regclass ORDER BY 1;

-- casts that change a value, and operators that are not PostgreSQL's
CREATE OPERATOR +! (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8pl);
CREATE FUNCTION plus(bigint, text) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN $1;
CREATE OPERATOR + (LEFTARG = bigint, RIGHTARG = text, FUNCTION = plus);
CREATE TABLE c (id bigint PRIMARY KEY, a numeric(10,2) DEFAULT 0, n numeric(60,30), b timestamptz, f float8, r bigint,
  s text, v varchar(5) DEFAULT 'abc', m numeric(5,1) DEFAULT 12.34, k numeric(5,2) DEFAULT 12.34, e varchar(3)[] DEFAULT '{}',
  g1 numeric GENERATED ALWAYS AS ((a * 1.19)::numeric(10,2)) STORED,
  g2 timestamptz GENERATED ALWAYS AS (b::timestamptz(0)) STORED,
  g3 text DEFAULT 'abcdef'::text::varchar(3), g4 float4 GENERATED ALWAYS AS (f::float4) STORED,
  g5 bigint GENERATED ALWAYS AS (- '-5'::int) STORED, g6 text GENERATED ALWAYS AS (s || r) STORED,
  g7 bigint GENERATED ALWAYS AS (r OPERATOR(l.+!) r) STORED, g8 bigint GENERATED ALWAYS AS (r OPERATOR(l.+) s) STORED,
  g9 numeric(38,9) GENERATED ALWAYS AS (a * 1.19) STORED, ga varchar(9) GENERATED ALWAYS AS (s || 'x') STORED,
  gb text GENERATED ALWAYS AS (v::varchar(3)) STORED, gc text[] GENERATED ALWAYS AS (e::varchar(2)[]) STORED,
  gd bool GENERATED ALWAYS AS (r IN (1, 2) AND v IN ('a', 'b') AND e = '{a}') STORED, ge date, gf bool GENERATED ALWAYS AS (ge <> '2026-01-01') STORED, gg text DEFAULT true::text::varchar(3));
SELECT spanner.spanner_ddl('c'::regclass);
SELECT s FROM spanner.spanner_ddl('c'::regclass, 'postgresql') s WHERE s LIKE '--%';

-- parents of each other, sequences, foreign keys, change streams
CREATE TABLE ma (id bigint PRIMARY KEY);
CREATE TABLE mb (id bigint PRIMARY KEY REFERENCES ma ON DELETE CASCADE);
ALTER TABLE ma ADD FOREIGN KEY (id) REFERENCES mb;
CREATE TABLE mc (id bigint REFERENCES mb, n bigint, PRIMARY KEY (id, n));
CREATE SEQUENCE os;
CREATE TABLE o (id text PRIMARY KEY DEFAULT 'ORD-' || nextval('os'), five bigint DEFAULT 5, shared bigint, own bigint);
SELECT spanner.execute_ddl(format('CREATE SEQUENCE l.%s BIT_REVERSED_POSITIVE', s)) FROM unnest('{five,shared,own}'::text[]) s;
ALTER SEQUENCE os OWNED BY o.id;
ALTER SEQUENCE five OWNED BY o.five;
ALTER SEQUENCE shared OWNED BY o.shared;
ALTER SEQUENCE own OWNED BY o.own;
ALTER TABLE o ALTER shared SET DEFAULT nextval('shared'), ALTER own SET DEFAULT nextval('own');
CREATE TABLE p (id bigint PRIMARY KEY DEFAULT nextval('shared'),
  e1 bigint REFERENCES ma ON DELETE SET NULL ON UPDATE CASCADE DEFERRABLE, e2 bigint,
  FOREIGN KEY (e1, e2) REFERENCES mc MATCH FULL ON DELETE SET DEFAULT);
CREATE TABLE nk (a bigint, b bigint);
CREATE PUBLICATION losses_nk FOR TABLE nk (a);
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER tg BEFORE INSERT ON o FOR EACH ROW EXECUTE FUNCTION tf();
ALTER TABLE o ENABLE ROW LEVEL SECURITY;
CREATE POLICY po ON o USING (five > 3);
CREATE RULE ru AS ON DELETE TO o DO INSTEAD NOTHING;
CREATE TABLE nk_child () INHERITS (nk);
DROP TABLE i, ks, ki, c;
SELECT spanner.spanner_ddl(schema => 'l');
SELECT string_agg(s, E';\n') AS export FROM spanner.spanner_ddl(schema => 'l') s \gset
DROP PUBLICATION losses_nk;
DROP SCHEMA l CASCADE;
SELECT spanner.execute_ddl(:'export');
SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'l'::regnamespace AND contype = 'f'
  ORDER BY conrelid::regclass::text, 2;

DROP PUBLICATION losses_nk;
DROP SCHEMA l CASCADE;

RESET ALL;

-- What needs something that Spanner has not is not written: an export can be imported.
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
CREATE FOREIGN DATA WRAPPER regress_lost;
CREATE SERVER regress_lost FOREIGN DATA WRAPPER regress_lost;
CREATE FOREIGN TABLE away (a int) SERVER regress_lost;
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
DROP FOREIGN DATA WRAPPER regress_lost CASCADE;
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

-- the other dialect: what it has for functions of GoogleSQL, the rest is said; equal NULLs, also under a condition
CREATE SCHEMA other;
SELECT spanner.execute_ddl($$CREATE TABLE other.G (Id INT64 NOT NULL, S STRING(MAX) NOT NULL, T TIMESTAMP, N NUMERIC, F FLOAT64, U UUID,
  Half FLOAT64 AS (Id / 2) STORED, Low BOOL AS (STARTS_WITH(LOWER(S), "a")) STORED, Long INT64 AS (LENGTH(S) + DIV(Id, 3)) STORED,
  Ok BOOL AS (REGEXP_CONTAINS(S, "^a")) STORED, Next TIMESTAMP AS (TIMESTAMP_ADD(T, INTERVAL 1 DAY)) STORED,
  Words STRING(MAX) AS (INITCAP(S)) STORED, CHECK (N IN (1, 2.5)), CHECK (F > 0.5)) PRIMARY KEY (Id);
CREATE VIEW other.V SQL SECURITY INVOKER AS SELECT UPPER(a.S) AS s FROM other.G AS a, other.G AS b$$, 'googlesql');
ALTER TABLE other.g ADD s1 bigint GENERATED ALWAYS AS (spanner.shard_id(16, s)) STORED,
  ADD s2 integer GENERATED ALWAYS AS (spanner.shard_id(8, id, s, u)) STORED, ADD s3 bigint GENERATED ALWAYS AS (spanner.shard_id(8, t)) STORED;
INSERT INTO other.g (id, s, n, f, u) SELECT i, 'ab' || i, 1, i, CASE i WHEN 1 THEN gen_random_uuid() END FROM generate_series(1, 9) i;
CREATE TEMP TABLE rows_before AS SELECT id, s, n, f, u, half, low, long, ok, s1, s2 FROM other.g;
SELECT spanner.spanner_ddl(r, 'postgresql') FROM unnest('{other.g,other.v}'::regclass[]) r;
SELECT string_agg(s, E';\n') AS other FROM spanner.spanner_ddl(schema => 'other', dialect => 'postgresql') s \gset
DROP SCHEMA other CASCADE;
SELECT spanner.execute_ddl(:'other', 'postgresql');
INSERT INTO other.g (id, s, n, f, u) SELECT id, s, n, f, u FROM rows_before;
SELECT count(*) FROM (SELECT id, s, n, f, u, half, low, long, ok, s1, s2 FROM other.g EXCEPT TABLE rows_before) differs;
SELECT spanner.execute_ddl('CREATE TABLE other.p (id bigint PRIMARY KEY, a bigint, b bigint, t timestamptz DEFAULT now());
CREATE UNIQUE INDEX p_ab ON other.p (a, b) WHERE a IS NOT NULL', 'postgresql');
INSERT INTO other.p VALUES (1, NULL, 1), (2, NULL, 1), (3, 1, NULL);
INSERT INTO other.p VALUES (4, 1, NULL);
SELECT spanner.spanner_ddl('other.p'::regclass);
-- the name of a length has none in Spanner; literals as a dump brings them
CREATE TABLE other.l (id bigint PRIMARY KEY, s text CONSTRAINT "my check" CHECK (length(s) <= 5), c numeric(38, 9),
  CHECK (c = ANY (ARRAY[('1'::bigint)::numeric, ('2.5'::spanner_internal.float_literal)::numeric])));
SELECT spanner.spanner_ddl('other.l'::regclass);
DROP SCHEMA other CASCADE;

-- values that Spanner has not, and constraints that rows may violate
CREATE SCHEMA beyond;
CREATE TABLE beyond.t (id bigint PRIMARY KEY, n numeric DEFAULT 0.1234567891, m numeric DEFAULT -0.123456789, d date DEFAULT '10000-01-01',
  ts timestamptz DEFAULT '9999-12-31 23:59:59Z', p bigint, CONSTRAINT digits CHECK (n > 123456789012345678901234567890));
INSERT INTO beyond.t (id, n, p) VALUES (1, 1e30, -1);
ALTER TABLE beyond.t ADD CONSTRAINT old CHECK (p > 0) NOT VALID, ADD CONSTRAINT parent FOREIGN KEY (p) REFERENCES beyond.t NOT VALID;
SELECT spanner.spanner_ddl('beyond.t'::regclass);
DROP SCHEMA beyond CASCADE;
-- from release 18 on constraints may not be enforced
SELECT current_setting('server_version_num')::int >= 180000 AS has_not_enforced \gset
SELECT spanner.execute_ddl('CREATE SCHEMA beyond; CREATE TABLE beyond.t (Id INT64, P INT64,
  CONSTRAINT parent FOREIGN KEY (P) REFERENCES beyond.t (Id) NOT ENFORCED) PRIMARY KEY (Id)', 'googlesql');
SELECT (s LIKE '%REFERENCES beyond.t (id) NOT ENFORCED') = :'has_not_enforced'::bool AS same
  FROM (SELECT string_agg(s, ';') FROM spanner.spanner_ddl('beyond.t'::regclass) s) x (s);
DROP SCHEMA beyond CASCADE;

-- what a generated column takes from another one is of that one's type, there as well
CREATE SCHEMA chain;
SELECT spanner.execute_ddl($$CREATE TABLE chain.T (A INT64, H1 NUMERIC AS (A) STORED, H2 NUMERIC AS (H1 / 3) STORED) PRIMARY KEY (A)$$);
INSERT INTO chain.t VALUES (1000000007);
SELECT string_agg(s, E';\n') AS chain FROM spanner.spanner_ddl(schema => 'chain', dialect => 'googlesql') s \gset
\echo :chain
TABLE chain.t;
DROP SCHEMA chain CASCADE;
SELECT spanner.execute_ddl(:'chain', 'googlesql');
INSERT INTO chain.t VALUES (1000000007);
TABLE chain.t;
DROP SCHEMA chain CASCADE;

-- numbers of many digits, what has no collation there, and a function with another rule for words
CREATE SCHEMA more;
CREATE COLLATION more.nobody (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE more.t (id bigint PRIMARY KEY, f float8 DEFAULT 1e308, c text COLLATE more.nobody, d text COLLATE "C",
  CHECK (initcap(d) = d));
SELECT spanner.spanner_ddl('more.t'::regclass);
DROP SCHEMA more CASCADE;
