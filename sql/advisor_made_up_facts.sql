-- Rules about what a test cannot wait for, or does not have: statistics of days,
-- large indexes, Citus.  The facts are made up.

CREATE SCHEMA faked;
SET search_path = faked;

-- an index that nobody reads, of a table with 2 inserts a second
CREATE TABLE written (id uuid PRIMARY KEY, a int, b int);
CREATE INDEX written_a ON written (a);
CREATE UNIQUE INDEX written_b ON written (b);
CREATE VIEW rates AS
  SELECT inserts, jsonb_populate_record(NULL::spanner_internal.advisor_facts,
           jsonb_set(to_jsonb(spanner_internal.advisor_facts('written')), '{tables,0,inserts}', to_jsonb(inserts))) AS facts
    FROM unnest('{2,0.01}'::numeric[]) inserts;
SELECT inserts, object, finding FROM rates, spanner_internal.rules_indexes(facts) r WHERE r.rule = 'index_unused' ORDER BY 1;

-- random keys in an index larger than memory
CREATE TABLE random_key (id uuid DEFAULT gen_random_uuid() PRIMARY KEY);
CREATE TABLE small_key (id uuid DEFAULT gen_random_uuid() PRIMARY KEY);
SELECT spanner.create_sequence('reversed_seq', 'bit_reversed_positive');
CREATE TABLE reversed_key (id bigint DEFAULT nextval('reversed_seq') PRIMARY KEY);
UPDATE pg_class SET relpages = 2000000000 WHERE oid IN ('random_key_pkey'::regclass, 'reversed_key_pkey'::regclass);
SELECT a.* FROM spanner.advise(target => 'one_server') a WHERE a.rule = 'key_random';
SELECT count(*) FROM spanner.advise(target => 'splits') a WHERE a.rule = 'key_random';
UPDATE pg_class SET relpages = 1 WHERE oid IN ('random_key_pkey'::regclass, 'reversed_key_pkey'::regclass);

-- Citus: what it would have in its catalog
BEGIN;
SET LOCAL allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text, repmodel "char");
CREATE TABLE by_shard (shard_id int GENERATED ALWAYS AS (spanner.shard_id(16, id)) STORED, id bigint, PRIMARY KEY (shard_id, id));
CREATE TABLE by_customer (id serial, customer bigint NOT NULL, PRIMARY KEY (id));
CREATE TABLE good (id bigserial, customer bigint, PRIMARY KEY (customer, id));
CREATE TABLE reference (id bigint PRIMARY KEY);
CREATE TABLE local (id serial PRIMARY KEY);
INSERT INTO pg_catalog.pg_dist_partition VALUES
  ('by_shard', 'h', '{VAR :varno 1 :varattno 1 :vartype 23}', 's'),
  ('by_customer', 'h', '{VAR :varno 1 :varattno 2 :vartype 20}', 's'),
  ('good', 'h', '{VAR :varno 1 :varattno 2 :vartype 20}', 's'),
  ('reference', 'n', NULL, 't');
SELECT a.severity, a.rule, a.relation, a.object, regexp_replace(a.finding, 'one_server: \d+', 'one_server: some') AS finding
  FROM spanner.advise() a WHERE a.rule IN ('target') OR a.rule LIKE 'citus%';
SELECT a.rule, a.relation FROM spanner.advise(target => 'citus') a WHERE a.relation IN ('good'::regclass, 'reference'::regclass);
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA faked CASCADE;
