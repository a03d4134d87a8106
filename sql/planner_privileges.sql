-- Shard-aware planning and privileges.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_security;
SET search_path = test_shard_security;
SET max_parallel_workers_per_gather = 0;
SET spanner_keys.enable_shard_list = off;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

CREATE ROLE regress_shard_reader;
GRANT USAGE ON SCHEMA test_shard_security TO regress_shard_reader;
CREATE TABLE doc (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, id)) STORED, id int, owner text, body text);
CREATE INDEX doc_index ON doc (shard_id, id);
INSERT INTO doc (id, owner, body)
SELECT i, CASE i % 2 WHEN 0 THEN 'regress_shard_reader' ELSE 'other' END, 'body ' || i FROM generate_series(1, 4000) i;
CREATE TABLE asked AS SELECT i * 97 AS id FROM generate_series(1, 5) i;
VACUUM ANALYZE doc, asked;

-- the shard column need not be granted
GRANT SELECT (id, owner, body) ON doc TO regress_shard_reader;
GRANT SELECT ON asked TO regress_shard_reader;
GRANT EXECUTE ON FUNCTION plan TO regress_shard_reader;
SET ROLE regress_shard_reader;
SELECT plan('SELECT body FROM doc WHERE id = 7');
SELECT body FROM doc WHERE id = 7;
SELECT body FROM doc ORDER BY id DESC LIMIT 1;
SELECT plan('SELECT body FROM asked JOIN doc USING (id)');
SELECT shard_id FROM doc WHERE id = 7;
RESET ROLE;

-- row-level security: conditions come from policies and from the query
ALTER TABLE doc ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON doc USING (owner = current_user);
SET ROLE regress_shard_reader;
SELECT plan('SELECT body FROM doc WHERE id = 8');
SELECT body FROM doc WHERE id IN (7, 8);
SELECT plan('SELECT body FROM asked JOIN doc USING (id)');
SELECT count(*), bool_and(same(q)) FROM unnest(ARRAY[
  'SELECT body FROM doc WHERE id IN (7, 8)',
  'SELECT body FROM asked JOIN doc USING (id)',
  'SELECT id, body FROM doc ORDER BY id LIMIT 5',
  'SELECT id, body FROM asked LEFT JOIN doc USING (id)']) q;
SELECT body FROM doc ORDER BY id LIMIT 2;
RESET ROLE;

-- a function that is not leakproof sees no row that a policy hides
CREATE FUNCTION spy(int) RETURNS int LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN RAISE NOTICE 'saw %', $1; RETURN $1; END $$;
SET ROLE regress_shard_reader;
SELECT body FROM doc WHERE id = 7 AND spy(id) = 7;
SELECT body FROM doc WHERE spy(id) < 3 AND id < 4 ORDER BY id LIMIT 1;
RESET ROLE;

-- the same through a security barrier
CREATE VIEW even WITH (security_barrier) AS SELECT * FROM doc WHERE id % 2 = 0;
GRANT SELECT ON even TO regress_shard_reader;
SET ROLE regress_shard_reader;
SELECT body FROM even WHERE id = 8 AND spy(id) = 8;
SELECT body FROM even WHERE id = 7 AND spy(id) = 7;
SELECT plan('SELECT body FROM even WHERE id = 8');
RESET ROLE;

-- who may not call the function gets a plan without it
REVOKE EXECUTE ON FUNCTION spanner.shard_id FROM PUBLIC;
SET ROLE regress_shard_reader;
SELECT plan('SELECT body FROM asked JOIN doc USING (id)');
SELECT count(*) FROM asked JOIN doc USING (id);
RESET ROLE;
GRANT EXECUTE ON FUNCTION spanner.shard_id TO PUBLIC;

-- the same for a function inside of the key, and if the plan was made for somebody else
CREATE TABLE visit (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, spanner.timestamp_to_string(at))) STORED, at timestamptz);
CREATE INDEX ON visit (shard_id, at);
INSERT INTO visit (at) SELECT timestamptz '2026-01-01Z' + i * interval '1 h' FROM generate_series(1, 4000) i;
VACUUM ANALYZE visit;
GRANT SELECT ON visit TO regress_shard_reader;
REVOKE EXECUTE ON FUNCTION spanner.timestamp_to_string FROM PUBLIC;
SET plan_cache_mode = force_generic_plan;
PREPARE visited AS SELECT at FROM visit WHERE at = $1;
EXECUTE visited('2026-01-02Z');
SET ROLE regress_shard_reader;
EXECUTE visited('2026-01-02Z');
SELECT at FROM visit WHERE at = '2026-01-02Z';
RESET ROLE;
RESET plan_cache_mode;
GRANT EXECUTE ON FUNCTION spanner.timestamp_to_string TO PUBLIC;

-- statistics belong to the owner of the table; who made them stays who they are
CREATE TABLE counted (id integer, shard_id integer GENERATED ALWAYS AS (spanner.shard_id(8, id)) STORED);
SELECT format('DROP STATISTICS test_shard_security.%I', stxname) FROM pg_statistic_ext WHERE stxrelid = 'counted'::regclass \gexec
GRANT CREATE ON SCHEMA test_shard_security TO regress_shard_reader;
ALTER TABLE counted OWNER TO regress_shard_reader;
CREATE INDEX ON counted (shard_id, id);
SELECT stxowner::regrole FROM pg_statistic_ext WHERE stxrelid = 'counted'::regclass;
SELECT current_user = session_user AS same;

SET client_min_messages = warning;
DROP SCHEMA test_shard_security CASCADE;
DROP ROLE regress_shard_reader;
