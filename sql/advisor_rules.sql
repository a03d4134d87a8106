-- The advisor: what each rule finds, and the cured forms, which none finds.

CREATE SCHEMA ar;
SET search_path = ar;
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE VIEW findings AS
  SELECT rule, relation, object, suggestion FROM spanner.advise(target => 'splits')
   WHERE relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'ar'::regnamespace);

-- few distinct first values before what grows, by name and type, and by statistics
CREATE TYPE state AS ENUM ('new', 'done');
CREATE TABLE few_key (active bool, created timestamptz DEFAULT now(), id uuid, PRIMARY KEY (active, created, id));
CREATE TABLE few_index (id uuid PRIMARY KEY, status text, mood state, tenant int, number bigserial, created_at timestamptz);
CREATE INDEX few_index_status ON few_index (status, created_at);
CREATE INDEX few_index_mood ON few_index (mood, number);
CREATE INDEX few_index_tenant ON few_index (tenant, created_at);
CREATE TABLE few_values (a int, at timestamptz, b uuid DEFAULT gen_random_uuid(), PRIMARY KEY (a, at, b));
INSERT INTO few_values SELECT g % 4, timestamptz '2020-01-01 00:00 UTC' + g * interval '1 hour' FROM generate_series(1, 1200) g;
ANALYZE few_values;

-- defaults through functions, domains and triggers; a date first; expressions of time
CREATE SEQUENCE drawn;
CREATE FUNCTION next_id() RETURNS bigint LANGUAGE sql AS 'SELECT nextval(''ar.drawn'') * 10';
CREATE FUNCTION flake() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (extract(epoch FROM clock_timestamp()) * 1000)::bigint << 20; END';
CREATE DOMAIN number AS bigint DEFAULT nextval('drawn');
CREATE TABLE by_function (id bigint DEFAULT next_id() PRIMARY KEY);
CREATE TABLE by_plpgsql (id bigint DEFAULT flake() PRIMARY KEY);
CREATE TABLE by_domain (id number PRIMARY KEY);
CREATE TABLE by_trigger (id bigint PRIMARY KEY, at timestamptz);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := nextval(''ar.drawn''); RETURN NEW; END';
CREATE TRIGGER fill BEFORE INSERT ON by_trigger FOR EACH ROW EXECUTE FUNCTION fill();
CREATE TABLE fact (day date, store int, PRIMARY KEY (day, store));
CREATE TABLE events (id uuid PRIMARY KEY, at timestamptz, serial bigserial);
CREATE INDEX events_day ON events (date_trunc('day', at AT TIME ZONE 'UTC'));
CREATE INDEX events_next ON events ((serial + 1));
CREATE INDEX events_weekday ON events ((extract(dow FROM at AT TIME ZONE 'UTC')));

-- what comes first decides, and literals do not count
CREATE TABLE time_first (id text DEFAULT 'inv_' || to_char(now(), 'YYYYMM') || gen_random_uuid() PRIMARY KEY);
CREATE TABLE random_first (id text DEFAULT gen_random_uuid()::text || now() PRIMARY KEY);
CREATE TABLE literal (id text DEFAULT 'now()' PRIMARY KEY);

-- times that are no order of insertion; a random shard; a table of counters
CREATE TABLE ends (id uuid PRIMARY KEY, deleted_at timestamptz, expires_at timestamptz, seen_at timestamptz);
CREATE INDEX ends_deleted ON ends (deleted_at);
CREATE INDEX ends_expires ON ends (expires_at);
CREATE INDEX ends_seen ON ends (seen_at);
CREATE TABLE random_shard (shard int DEFAULT floor(random() * 16), k uuid, PRIMARY KEY (shard, k));
CREATE TABLE numbers (name text PRIMARY KEY, n bigint NOT NULL);
CREATE FUNCTION next_number(which text) RETURNS bigint LANGUAGE sql
  AS 'UPDATE ar.numbers SET n = n + 1 WHERE name = which RETURNING n';

-- a published table whose key has a generated shard
CREATE TABLE visit (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, ts, uid)) STORED, ts timestamptz, uid bigint,
                    PRIMARY KEY (shard_id, ts, uid));
SET client_min_messages = error;
CREATE PUBLICATION regress_visit FOR TABLE visit;
SET client_min_messages = warning;

SELECT rule, relation, object FROM findings;
SELECT finding FROM spanner.advise('numbers');
SELECT finding, suggestion FROM spanner.advise('few_index_status', 'splits');
SELECT finding, suggestion FROM spanner.advise('visit', 'one_server');
INSERT INTO numbers VALUES ('regress_order', 41);
SELECT spanner.create_allocator(name, mode => 'sync', start_value => n::bigint + 1) > 0 AS made FROM ar.numbers;
SELECT spanner.next_value('regress_order');
SELECT spanner.drop_allocator('regress_order');

-- suggestions are silent afterwards, and only what has to be decided is left
\t on
SELECT suggestion FROM findings WHERE suggestion IS NOT NULL
\gexec
\t off
SELECT rule, relation, object FROM findings;
DROP PUBLICATION regress_visit;
DROP TABLE few_key, few_index, few_values, by_function, by_plpgsql, by_domain, by_trigger, fact, events,
  time_first, random_first, literal, ends, random_shard, numbers, visit;

-- a label that was lost
CREATE TABLE lost (id bigserial PRIMARY KEY);
SELECT spanner.convert_column('lost', 'id');
INSERT INTO lost SELECT FROM generate_series(1, 500);
ANALYZE lost;
SELECT rule FROM spanner.advise('lost', 'one_server');
SECURITY LABEL FOR spanner_keys ON SEQUENCE lost_id_seq IS NULL;
SELECT rule, regexp_replace(finding, '\d{9,}', 'N') FROM spanner.advise('lost', 'one_server');
DROP TABLE lost;

-- wide partitions by bytes; keys in the sense of Cassandra are not wide
CREATE TABLE wide (k text, n bigint, PRIMARY KEY (k, n));
INSERT INTO wide SELECT CASE WHEN g % 10 = 0 THEN 'k' || g ELSE 'all' END, g * 7919 % 2003 + g * 10000::bigint FROM generate_series(1, 2000) g;
CREATE TABLE composite (k text, hash_prefix int, n bigint, PRIMARY KEY (k, hash_prefix, n));
CREATE TABLE by_day (k text, joined date, n bigint, PRIMARY KEY (k, joined, n));
INSERT INTO composite SELECT k, n % 4, n FROM wide;
INSERT INTO by_day SELECT k, date '2020-01-01' + (n % 300)::int, n FROM wide;
ANALYZE wide, composite, by_day;
SELECT * FROM findings;
UPDATE pg_class SET relpages = 400000 WHERE oid = ANY ('{wide,composite,by_day}'::regclass[]);
SELECT * FROM findings;
DROP TABLE wide, composite, by_day;

-- an index that is made anew keeps its tablespace, options and comment
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE "regress Space" LOCATION '';
CREATE TABLE moved (id uuid PRIMARY KEY, at timestamptz DEFAULT now(), n int, active boolean);
CREATE INDEX moved_at ON moved (at DESC, (n + 1)) WITH (fillfactor = 60) TABLESPACE "regress Space" WHERE active;
CREATE INDEX moved_n ON moved (n) TABLESPACE "regress Space";
COMMENT ON INDEX moved_at IS 'it''s commented';
INSERT INTO moved SELECT gen_random_uuid() FROM generate_series(1, 1000);
ANALYZE moved;
SELECT * FROM findings;
SELECT suggestion FROM findings \gexec
SELECT * FROM findings;
SELECT c.oid::regclass, s.spcname, c.reloptions, obj_description(c.oid, 'pg_class'), pg_get_expr(i.indpred, i.indrelid)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
 WHERE i.indrelid = 'moved'::regclass ORDER BY 1;
DROP TABLE moved;
DROP TABLESPACE "regress Space";

-- a column cannot be added with random values where rows of the table are stored
CREATE TABLE stored (a int);
CREATE TABLE stores (id uuid PRIMARY KEY, rows stored[]);
SELECT * FROM findings;
DROP TABLE stores, stored;

-- the severity: by target, and by the measured rate of inserts
SELECT t, r, spanner_internal.advisor_severity('warning', '{splits,spanner}', t, r)
  FROM unnest('{splits,one_server,citus}'::text[]) t, (VALUES (NULL), (0.001), (100)) v (r);

-- the target is guessed, table by table
CREATE FOREIGN DATA WRAPPER regress_wrapper;
CREATE SERVER regress_server FOREIGN DATA WRAPPER regress_wrapper;
CREATE TABLE local (id bigserial PRIMARY KEY);
CREATE TABLE ranged (id bigserial PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE monthly (at timestamptz, id bigint, PRIMARY KEY (at, id)) PARTITION BY RANGE (at);
CREATE TABLE remote (id bigserial) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE remote1 PARTITION OF remote DEFAULT SERVER regress_server;
SELECT r, severity, rule, suggestion FROM unnest('{local,ranged,monthly,remote}'::regclass[]) r, spanner.advise(r);
SELECT finding FROM spanner.advise('ranged') WHERE rule = 'target';
SELECT finding FROM spanner.advise('remote') WHERE rule = 'key_sequence';
SELECT count(*) FROM spanner.advise('local', 'nowhere');
SELECT rule FROM spanner.advise('local', 'citus');
CREATE TABLE narrow (id serial PRIMARY KEY);
SELECT severity, rule FROM spanner.advise('narrow', 'citus');

-- join tables: the pair becomes the key, unless its first rows say that it cannot
CREATE SCHEMA joined;
SET search_path = joined;
CREATE TABLE person (id bigint PRIMARY KEY);
CREATE TABLE role (id bigint PRIMARY KEY);
CREATE TABLE of_ids (role_id bigint, person_id bigint, created_at timestamptz);
CREATE TABLE referring (of_role bigint NOT NULL REFERENCES role ON DELETE CASCADE, of_person bigint NOT NULL REFERENCES person ON DELETE CASCADE);
CREATE INDEX ON referring (of_role);
CREATE TABLE with_data (role_id bigint, person_id bigint, note text);
CREATE TABLE twice (role_id bigint, person_id bigint);
INSERT INTO twice VALUES (1, 2), (1, 2);
CREATE TABLE unknown (role_id bigint, person_id bigint);
INSERT INTO unknown VALUES (1, 2), (1, NULL);
CREATE VIEW about AS SELECT * FROM spanner.advise(target => 'one_server') WHERE relation IN (
  SELECT oid FROM pg_class WHERE relnamespace = 'joined'::regnamespace);
SELECT rule, relation, substring(finding FROM 'key; (\(.*)') AS finding, suggestion FROM about;
SELECT suggestion FROM about WHERE suggestion IS NOT NULL \gexec
SELECT rule, relation, suggestion FROM about;

-- lists of migrations, tables of one row, and templates of pg_partman need no key
CREATE TABLE alembic_version (version_num text);
CREATE TABLE options (color text);
CREATE UNIQUE INDEX ON options ((color IS NOT NULL));
CREATE TABLE several (color text);
CREATE UNIQUE INDEX ON several (lower(color));
CREATE TABLE part_config (parent_table text PRIMARY KEY, template_table text);
CREATE TABLE template_public_event (id bigint);
CREATE TABLE public.regress_template (id bigint);
CREATE TABLE public.template_of_mail (id bigint);
INSERT INTO part_config VALUES ('public.event', 'public.regress_template');
SELECT rule, relation FROM spanner.advise(target => 'one_server')
 WHERE relation = ANY ('{alembic_version,options,several,template_public_event,public.regress_template,public.template_of_mail}'::text[]::regclass[])
 ORDER BY 2::text;
DROP TABLE public.regress_template, public.template_of_mail;

-- a time for which a row is valid is none of insertion
CREATE TABLE notice (id uuid PRIMARY KEY, start timestamptz, "end" timestamptz, valid_from date, valid_to date, not_after date, started_at timestamptz);
CREATE INDEX ON notice (start, "end");
CREATE INDEX ON notice (valid_from);
CREATE INDEX ON notice (not_after);
CREATE INDEX ON notice (started_at);
SELECT object FROM spanner.advise('notice', 'splits');

-- a remainder has a sign if it is that of a hash, and nothing is done about it
CREATE TABLE hit (uid text PRIMARY KEY,
  a bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(uid), 32)) STORED,
  b integer GENERATED ALWAYS AS (hashtext(uid) % 16) STORED,
  c bigint GENERATED ALWAYS AS (mod(mod(spanner.farm_fingerprint(uid), 32) + 32, 32)) STORED,
  d bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(uid), 32))) STORED,
  e bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(uid) & 31, 32)) STORED,
  f bigint GENERATED ALWAYS AS (CASE WHEN hashtext(uid) % 16 < 0 THEN hashtext(uid) % 16 + 16 ELSE hashtext(uid) % 16 END) STORED);
SELECT object, finding FROM spanner.advise('hit', 'splits') WHERE rule = 'shard_signed';

-- the sequence of a column that has a domain changes, as the column cannot
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE TABLE of_domain (id serial PRIMARY KEY);
ALTER TABLE of_domain ALTER COLUMN id TYPE positive;
SELECT suggestion FROM spanner.advise('of_domain', 'splits') \gexec
INSERT INTO of_domain DEFAULT VALUES RETURNING id > 1000000 AS is_spread;
-- and keeps the default that its domain has
CREATE SEQUENCE of_numbers AS integer START 2000000000;
CREATE DOMAIN numbered AS integer DEFAULT nextval('of_numbers');
CREATE TABLE of_default (id numbered PRIMARY KEY);
ALTER SEQUENCE of_numbers OWNED BY of_default.id;
INSERT INTO of_default DEFAULT VALUES;
SELECT finding, suggestion FROM spanner.advise('of_default') WHERE rule = 'sequence_near_end';
DROP TABLE of_default CASCADE;

-- one index serves two foreign keys
CREATE TABLE pair (a bigint, b bigint, PRIMARY KEY (a, b));
CREATE TABLE single (a bigint PRIMARY KEY);
CREATE TABLE of_both (id uuid PRIMARY KEY, a bigint REFERENCES single ON DELETE CASCADE, b bigint,
                      FOREIGN KEY (a, b) REFERENCES pair ON DELETE CASCADE);
SELECT rule, suggestion FROM spanner.advise('of_both', 'one_server');

-- a count that another function counts down is none of numbers
CREATE TABLE kept (name text PRIMARY KEY, rows_now bigint);
CREATE FUNCTION more(which text) RETURNS void LANGUAGE sql AS 'UPDATE joined.kept SET rows_now = rows_now + 1 WHERE name = which';
SELECT count(*) FROM spanner.advise('kept') WHERE rule = 'counter_table';
CREATE FUNCTION fewer(which text) RETURNS void LANGUAGE sql
  AS 'UPDATE joined.kept SET rows_now = greatest(rows_now - 1, 0) WHERE name = which';
SELECT count(*) FROM spanner.advise('kept') WHERE rule = 'counter_table';

-- what is no fault is one line, and so is what all tables of a schema have
CREATE TABLE counted1 (id serial PRIMARY KEY);
CREATE TABLE counted2 (id serial PRIMARY KEY);
CREATE TABLE logged (at timestamptz DEFAULT now() PRIMARY KEY);
SELECT count(*), bool_and(relation IS NULL AND suggestion IS NULL) FROM spanner.advise(target => 'one_server') WHERE rule = 'ascending_keys';
SELECT count(*) FROM spanner.advise('logged', 'one_server') WHERE rule = 'ascending_keys' AND relation = 'logged'::regclass;
SELECT relation, object, finding FROM spanner.advise(target => 'citus') WHERE rule = 'citus_narrow' AND object = 'joined';
-- a table of one row needs no key, and partitions have indexes of their own
CREATE TABLE position (lock char(1) DEFAULT 'X' NOT NULL UNIQUE CHECK (lock = 'X'), at bigint);
CREATE TABLE sole (is_it boolean NOT NULL UNIQUE CHECK (is_it), at bigint);
CREATE TABLE letters (letter char(1) NOT NULL UNIQUE CHECK (letter > 'A'), at bigint);
SELECT relation FROM spanner.advise() WHERE rule = 'key_missing' AND relation::text ~ '^(position|sole|letters)$';
CREATE TABLE parted (a bigint REFERENCES single ON DELETE CASCADE, region int NOT NULL) PARTITION BY LIST (region);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted2 PARTITION OF parted FOR VALUES IN (2);
CREATE INDEX ON parted1 (a);
SELECT count(*) FROM spanner.advise('parted', 'one_server') WHERE rule = 'reference_unindexed';
CREATE INDEX ON parted2 (a);
SELECT count(*) FROM spanner.advise('parted', 'one_server') WHERE rule = 'reference_unindexed';
-- a key of each is enough, but on a system without partitions
ALTER TABLE parted1 ADD PRIMARY KEY (region);
SELECT count(*) FROM spanner.advise('parted', 'splits') WHERE rule = 'key_missing';
ALTER TABLE parted2 ADD PRIMARY KEY (region);
SELECT t, (SELECT count(*) FROM spanner.advise('parted', t) WHERE rule = 'key_missing')
  FROM unnest('{one_server,splits,spanner}'::text[]) t;

-- an index that a suggested key makes superfluous goes with it
CREATE TABLE page (url text NOT NULL, a bigint NOT NULL REFERENCES single ON DELETE CASCADE);
CREATE UNIQUE INDEX ON page (url);
CREATE INDEX ON page (a);
SELECT suggestion FROM spanner.advise('page', 'splits') WHERE rule = 'key_missing';

-- but not one of another collation, and no key changes that a publication would lack
CREATE TABLE author (name text PRIMARY KEY);
CREATE TABLE book (n int PRIMARY KEY, author text NOT NULL REFERENCES author ON DELETE CASCADE, title text);
CREATE INDEX ON book (author COLLATE "C");
SELECT suggestion FROM spanner.advise('book', 'splits') WHERE rule = 'child_not_interleaved';
SET client_min_messages = error;
CREATE PUBLICATION regress_titles FOR TABLE book (n, title);
SELECT suggestion FROM spanner.advise('book', 'splits') WHERE rule = 'child_not_interleaved';
DROP PUBLICATION regress_titles;
SET client_min_messages = warning;

-- a UUID does not fit everywhere
CREATE FUNCTION gen_ulid() RETURNS text LANGUAGE sql AS $$ SELECT substr(md5(clock_timestamp()::text), 7) $$;
CREATE DOMAIN short AS varchar(26);
CREATE TABLE wide_id (id varchar(36) DEFAULT gen_ulid() PRIMARY KEY);
CREATE TABLE short_id (id varchar(35) DEFAULT gen_ulid() PRIMARY KEY);
CREATE TABLE checked_id (id text DEFAULT gen_ulid() PRIMARY KEY CHECK (length(id) = 26));
CREATE TABLE domain_id (id short DEFAULT gen_ulid() PRIMARY KEY);
SELECT relation, right(finding, 25) AS finding, suggestion FROM spanner.advise(target => 'splits')
 WHERE relation IN ('wide_id'::regclass, 'short_id', 'checked_id', 'domain_id');
SELECT suggestion FROM spanner.advise(target => 'splits') WHERE relation = 'wide_id'::regclass \gexec
INSERT INTO wide_id DEFAULT VALUES;

-- counters by the name of the table
CREATE TABLE counters (name text PRIMARY KEY, value bigint);
CREATE TABLE readings (name text PRIMARY KEY, value bigint);
SELECT relation, finding FROM spanner.advise() WHERE rule = 'counter_table' AND object = 'value';
DROP SCHEMA joined CASCADE;
SET search_path = ar;

-- all hotspots are one array
SELECT object FROM unnest((spanner_internal.advisor_facts('local')).hotspots);
DROP SCHEMA ar CASCADE;
DROP FOREIGN DATA WRAPPER regress_wrapper CASCADE;
