-- The advisor: silencing, what is measured, odd relations, the list of rules.

CREATE SCHEMA adv;
SET search_path = adv;

-- a rule is silenced on a table, an index or a column
CREATE TABLE log (at timestamptz DEFAULT now() PRIMARY KEY, "Seen ""at""" timestamptz);
CREATE INDEX "log "" seen" ON log ("Seen ""at""");
CREATE INDEX log_seen ON log ("Seen ""at""" DESC);
SELECT rule, object FROM spanner.advise('log', 'splits');
SELECT spanner.silence_rule('"log "" seen"', 'index_time');
SELECT spanner.silence_rule('log', 'key_now', 'at');
SELECT spanner.silence_rule('log', 'key_now', 'at');
SELECT rule, object FROM spanner.advise('log', 'splits');
SELECT spanner.silence_rule('log', 'index_time');
SELECT * FROM spanner.silenced_rule ORDER BY rule, index_name;
SELECT rule, object FROM spanner.advise('log', 'splits');
SELECT spanner.silence_rule('log', 'index_time', silenced => false);
SELECT spanner.silence_rule('log', 'index_time', silenced => false);
SELECT spanner.silence_rule(relation => '"log "" seen"', rule => 'index_time', silenced => false);
SELECT spanner.silence_rule('log', 'key_now', column_name => 'at', silenced => false);
SELECT rule, object FROM spanner.advise('log', 'splits');
SELECT count(*) FROM spanner.silenced_rule;

-- errors of silencing
\set SHOW_CONTEXT never
CREATE VIEW v AS SELECT 1 AS a;
SELECT spanner.silence_rule('log', 'no_such_rule');
SELECT spanner.silence_rule('log', 'key_now', 'nothing');
SELECT spanner.silence_rule('v', 'key_now');
SELECT spanner.silence_rule(0, 'key_now');
SELECT spanner.silence_rule(NULL, 'key_now');
CREATE TEMP TABLE passing (at timestamptz DEFAULT now() PRIMARY KEY);
SELECT spanner.silence_rule('passing', 'key_now');
INSERT INTO spanner.silenced_rule (relation, rule) VALUES ('passing', 'key_now');
DROP TABLE passing;
INSERT INTO spanner.silenced_rule (relation, rule) VALUES ('log', 'rule_of_a_later_release'), ('log', 'key_now');
SELECT rule, object FROM spanner.advise('log', 'splits');
CREATE ROLE regress_spanner_stranger;
GRANT USAGE ON SCHEMA adv TO regress_spanner_stranger;
SET ROLE regress_spanner_stranger;
SELECT spanner.silence_rule('log', 'key_missing');
DELETE FROM spanner.silenced_rule;
UPDATE spanner.silenced_rule SET rule = 'index_time';
SELECT rule, object, finding FROM spanner.advise('log', 'splits');
RESET ROLE;

-- what ANALYZE tells: scattered times, wide partitions, NULLs, shards without rows
CREATE TABLE scattered (born timestamptz PRIMARY KEY);
INSERT INTO scattered SELECT timestamptz '2000-01-01 00:00 UTC' + (g * 7919 % 5003) * interval '1 hour' FROM generate_series(1, 5002) g;
CREATE TABLE groups (groupname text, joined timestamptz, username text, PRIMARY KEY (groupname, joined, username));
INSERT INTO groups SELECT CASE g % 10 WHEN 0 THEN 'g' || g % 1000 ELSE 'all' END, timestamptz '2020-01-01 00:00 UTC' + g * interval '1 minute', 'u' || g
  FROM generate_series(1, 120000) g;
CREATE TABLE sparse (id uuid DEFAULT gen_random_uuid() PRIMARY KEY, is_unread int);
INSERT INTO sparse SELECT gen_random_uuid(), CASE WHEN g % 10 = 0 THEN g * 7919 % 5003 END FROM generate_series(1, 5000) g;
CREATE INDEX sparse_unread ON sparse (is_unread);
CREATE TABLE empty_shards (shard_id int GENERATED ALWAYS AS (spanner.shard_id(2048, k)) STORED, k int, PRIMARY KEY (shard_id, k));
INSERT INTO empty_shards (k) SELECT generate_series(1, 2000);
ANALYZE scattered, groups, sparse, empty_shards;
CREATE VIEW findings AS
  SELECT rule, relation, object, regexp_replace(finding, '\d+ ', 'N ') AS finding, suggestion
    FROM spanner.advise(target => 'splits')
   WHERE relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'adv'::regnamespace AND relname <> 'log');
SET client_min_messages = warning;
SELECT rule, relation, object, finding FROM findings;
\t on
SELECT suggestion FROM findings
\gexec
\t off
SELECT * FROM findings;

-- a large table without statistics
CREATE TABLE unread (id uuid PRIMARY KEY, filler text) WITH (autovacuum_enabled = off);
INSERT INTO unread SELECT gen_random_uuid(), repeat('x', 1000) FROM generate_series(1, 1200);
SELECT rule, suggestion FROM findings;

-- relations of all kinds; partitions are reported as their parent
DROP TABLE unread;
CREATE SEQUENCE s;
CREATE MATERIALIZED VIEW m AS SELECT 1 AS a;
CREATE TABLE columnless ();
CREATE TABLE part (at timestamptz, k int, PRIMARY KEY (at, k)) PARTITION BY RANGE (at);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE part2 PARTITION OF part DEFAULT;
DO $$
BEGIN
  EXECUTE (SELECT 'CREATE TABLE wide (' || string_agg('c' || g || ' int', ', ') || ')' FROM generate_series(1, 1600) g);
  EXECUTE (SELECT 'CREATE TABLE wide_key (at timestamptz PRIMARY KEY, ' || string_agg('c' || g || ' int', ', ') || ')'
             FROM generate_series(1, 1599) g);
END $$;
CREATE TABLE odd_type (a xid8 PRIMARY KEY, p point);
SELECT rule, relation, object, finding, suggestion FROM findings;
SELECT rule, finding, suggestion FROM spanner.advise('part1', 'splits');
-- an index is judged alone
SELECT rule, object FROM spanner.advise('log_seen', 'splits');
SELECT r, (SELECT count(*) FROM spanner.advise(r, 'splits'))
  FROM unnest('{v,s,m,log_pkey,pg_catalog.pg_class,0}'::regclass[]) r;

-- an index becomes the key only if the server accepts it as one
CREATE TABLE down (a int NOT NULL UNIQUE NULLS NOT DISTINCT DEFERRABLE, b text NOT NULL);
CREATE UNIQUE INDEX down_a ON down (a DESC);
SELECT finding, suggestion FROM spanner.advise('down') WHERE rule = 'key_missing';
DROP INDEX down_a;
CREATE UNIQUE INDEX down_b ON down (b COLLATE "C" text_pattern_ops);
SELECT suggestion FROM spanner.advise('down') WHERE rule = 'key_missing';
DROP INDEX down_b;
CREATE UNIQUE INDEX down_b ON down (b) INCLUDE (a);
SELECT suggestion FROM spanner.advise('down') WHERE rule = 'key_missing'
\gexec
SELECT count(*) FROM spanner.advise('down') WHERE rule = 'key_missing';

-- values of a sequence fit into the narrowest column that draws from it
CREATE SEQUENCE narrow;
CREATE TABLE narrow4 (id int DEFAULT nextval('narrow') PRIMARY KEY);
CREATE TABLE own8 (id bigserial PRIMARY KEY);
CREATE TABLE own2 (id smallint DEFAULT nextval('own8_id_seq') PRIMARY KEY);
CREATE TABLE app (id int PRIMARY KEY);
CREATE SEQUENCE app_seq;
SELECT r, suggestion FROM unnest('{narrow4,own8,own2,app}'::regclass[]) r, spanner.advise(r, 'splits') WHERE suggestion IS NOT NULL;
SELECT suggestion FROM unnest('{narrow4,own8,app}'::regclass[]) r, spanner.advise(r, 'splits') WHERE suggestion IS NOT NULL
\gexec
INSERT INTO narrow4 DEFAULT VALUES RETURNING id;
INSERT INTO own2 DEFAULT VALUES RETURNING id;
SELECT nextval('app_seq');

-- the rules, and nothing without an explanation
SELECT rule, severity FROM spanner.advisor_rules WHERE checkable;
SELECT rule FROM spanner.advisor_rules WHERE NOT checkable;
SELECT count(*) FROM spanner.advisor_rules WHERE explanation !~ '\.$' OR (severity IS NULL) = checkable;

SET client_min_messages = warning;
DROP SCHEMA adv CASCADE;
DROP ROLE regress_spanner_stranger;
