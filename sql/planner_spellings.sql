-- Every spelling of a shard, a hash or a reversed key that Spanner's guides show:
-- look-ups find it, and it is merged if it has few values.

LOAD 'spanner_keys';
SET TimeZone = 'UTC';
CREATE SCHEMA test_shard_spellings;
SET search_path = test_shard_spellings;
SET max_parallel_workers_per_gather = 0;

\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/plans.sql'
\i :included

-- a table for each expression over id, name and at
CREATE TABLE spelling (t text, column_type text, expression text);
INSERT INTO spelling VALUES
  ('abs_mod', 'bigint', $$abs(mod(spanner.farm_fingerprint(id::text), 16))$$),
  ('mod_abs', 'bigint', $$mod(abs(spanner.farm_fingerprint(id::text)), 16)$$),
  ('remainder', 'int', $$(@ spanner.farm_fingerprint(name) % 16)::int$$),
  ('cast_between', 'int', $$abs(mod(spanner.farm_fingerprint(name), 16)::int)$$),
  ('signed', 'bigint', $$mod(spanner.farm_fingerprint(id::text), 16)$$),
  ('joined_text', 'bigint', $$mod(abs(spanner.farm_fingerprint(name || '#' || id::text)), 16)$$),
  ('of_time', 'bigint', $$mod(spanner.farm_fingerprint(spanner.timestamp_to_string(at, 'America/Los_Angeles')), 16)$$),
  ('coalesced', 'bigint', $$mod(abs(spanner.farm_fingerprint(COALESCE(name, ''))), 16)$$),
  ('shard', 'int', $$spanner.shard_id(16, id::text)$$),
  ('whole', 'bigint', $$spanner.farm_fingerprint(name)$$),
  ('whole_number', 'bigint', $$spanner.farm_fingerprint(id::text)$$),
  ('reversed', 'bigint', $$spanner.bit_reverse(id, true)$$),
  ('of_reversed', 'int', $$spanner.shard_id(16, spanner.bit_reverse(id, true))$$),
  ('shifted', 'bigint', $$mod(mod(spanner.farm_fingerprint(name), 16) + 16, 16)$$),
  ('shifted_operators', 'int', $$((spanner.farm_fingerprint(name) % 16::bigint + 16::bigint) % 16)::int$$),
  ('otherwise_shifted', 'bigint', $$mod(mod(spanner.farm_fingerprint(name), 16) + 15, 16)$$),
  ('by_condition', 'bigint', $$CASE WHEN mod(spanner.farm_fingerprint(name), 16) < 0 THEN mod(spanner.farm_fingerprint(name), 16) + 16
                                ELSE mod(spanner.farm_fingerprint(name), 16) END$$),
  ('bytes', 'bigint', $$mod(abs(spanner.farm_fingerprint(spanner_internal.string_to_bytes(name))), 16)$$),
  ('whole_bytes', 'bigint', $$spanner.farm_fingerprint('\x2a00'::bytea || spanner_internal.string_to_bytes(name))$$),
  ('digest', 'bigint', $$mod(abs(spanner.farm_fingerprint(sha256(spanner_internal.string_to_bytes(name)))), 16)$$),
  ('absolute', 'bigint', $$abs(spanner.farm_fingerprint(name))$$);
SELECT format('CREATE TABLE %I (h %s NOT NULL GENERATED ALWAYS AS (%s) STORED, id bigint NOT NULL, name text NOT NULL,
                 at timestamptz NOT NULL, PRIMARY KEY (h, id, name, at))', t, column_type, expression) FROM spelling \gexec
SELECT format($$INSERT INTO %I (id, name, at) SELECT i, 'n' || i, timestamptz '2026-01-01Z' + i * interval '1 h'
                  FROM generate_series(1, 3000) i$$, t) FROM spelling \gexec
CREATE TABLE asked AS SELECT i AS number, 'n' || i AS name, timestamptz '2026-01-01Z' + i * interval '1 h' AS at
  FROM generate_series(10, 13) i;
VACUUM ANALYZE;

SELECT tablename, shards, keys, usable, problem, loads_library
  FROM spanner.shard_keys WHERE schemaname = 'test_shard_spellings' ORDER BY tablename COLLATE "C";

-- what a look-up by the key derives, with an integer as people write it
CREATE FUNCTION derived(query text) RETURNS text LANGUAGE sql
RETURN (SELECT string_agg(DISTINCT regexp_replace(substring(line, '\mh = .*?(?=\) AND|$)'), '\[\]\)+$', '[])'), ' ') FROM plan(query) line WHERE line ~ 'Index Cond');
SELECT t, derived(format($$SELECT * FROM %I WHERE id = 7 AND name = 'n7' AND at = '2026-01-01 07:00Z'$$, t)) FROM spelling;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_seqscan = off;
SELECT t, derived(format('SELECT * FROM asked a JOIN %I t ON t.id = a.number AND t.name = a.name AND t.at = a.at', t)) FROM spelling;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_seqscan;
SELECT t, line FROM spelling, plan(format('SELECT id FROM %I ORDER BY id DESC LIMIT 3', t)) line WHERE line ~ 'Merge Key';

-- integers of each width
SELECT q, derived('SELECT * FROM whole_number WHERE id ' || q)
  FROM unnest('{= 7::smallint, = 7, = 7::bigint, = 7::numeric, "IN (7, 8)", "= ANY (''{7,8}''::smallint[])", "= ANY (''{7,8}''::int[])"}'::text[]) q;
CREATE TABLE narrow (h bigint NOT NULL GENERATED ALWAYS AS (spanner.farm_fingerprint(id::text)) STORED, id smallint NOT NULL, PRIMARY KEY (h, id));
INSERT INTO narrow (id) SELECT generate_series(1, 3000);
ANALYZE narrow;
SELECT q, derived('SELECT * FROM narrow WHERE id ' || q)
  FROM unnest('{= 7, = 7::bigint, = 70000, = -32769::bigint, "= ANY (''{7,70000}''::int[])"}'::text[]) q;

SELECT t, count(*) AS queries, bool_and(same(format(q, t), true)) AS same
  FROM spelling, unnest(ARRAY[
    $$SELECT * FROM %I WHERE id = 7 AND name = 'n7' AND at = '2026-01-01 07:00Z'$$,
    $$SELECT * FROM %I WHERE id = 7 AND name = 'n7' ORDER BY at$$,
    $$SELECT * FROM %I WHERE id = 7::smallint ORDER BY name$$,
    $$SELECT * FROM %I WHERE id = 700000000000 OR name = 'n9' ORDER BY name$$,
    $$SELECT * FROM %I WHERE id IN (7, 8, 9) AND name IN ('n7', 'n8', NULL) ORDER BY id$$,
    $$SELECT * FROM %I WHERE id = ANY ('{7,NULL,9}'::int[]) ORDER BY id$$,
    $$SELECT t.* FROM asked a JOIN %I t ON t.id = a.number AND t.name = a.name AND t.at = a.at ORDER BY t.id$$,
    $$SELECT * FROM %I ORDER BY id DESC LIMIT 20$$,
    $$SELECT * FROM %I WHERE id > 2900 AND h <> 3 ORDER BY id LIMIT 20$$,
    $$SELECT * FROM %I WHERE id BETWEEN 100 AND 120 ORDER BY id$$]) q
 GROUP BY t ORDER BY t COLLATE "C";

-- a long list that begins with NULL has shard 0, too
SELECT count(*) FROM abs_mod WHERE id = ANY ('{NULL,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40}'::bigint[]);

-- a CHECK, an index and partitions of the whole hash
CREATE TABLE checked (h bigint NOT NULL CHECK (h = spanner.farm_fingerprint(name)), name text NOT NULL, PRIMARY KEY (h, name))
  PARTITION BY RANGE (h);
CREATE TABLE checked_low PARTITION OF checked FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE checked_high PARTITION OF checked FOR VALUES FROM (0) TO (MAXVALUE);
INSERT INTO checked SELECT spanner.farm_fingerprint('n' || i), 'n' || i FROM generate_series(1, 3000) i;
CREATE TABLE indexed (name text NOT NULL);
INSERT INTO indexed SELECT 'n' || i FROM generate_series(1, 3000) i;
CREATE INDEX ON indexed (spanner.farm_fingerprint(name));
ANALYZE checked, indexed;
SELECT plan($$SELECT * FROM checked WHERE name = 'n7'$$);
SELECT plan($$SELECT * FROM indexed WHERE name = 'n7'$$);
SELECT plan($$SELECT * FROM indexed WHERE name IN ('n7', 'n8')$$);

-- more values than are compared one by one
CREATE TABLE many (h int GENERATED ALWAYS AS (spanner.shard_id(1000, id)) STORED, id bigint, PRIMARY KEY (h, id));
INSERT INTO many (id) SELECT generate_series(1, 3000);
ANALYZE many;
SET enable_seqscan = off;
CREATE TABLE queries AS
SELECT t, format('SELECT * FROM %I WHERE %s = ANY (%L)', t, k, array_agg(prefix || i)) AS query
  FROM (VALUES ('whole', 'name', 'n'), ('many', 'id', '')) x (t, k, prefix), generate_series(1, 40) i GROUP BY t, k
UNION ALL
SELECT 'or', 'SELECT * FROM many WHERE ' || string_agg('id = ' || i, ' OR ') FROM generate_series(1, 40) i;
SELECT t, EXISTS (SELECT FROM plan(query) line WHERE line ~ 'Cond: .*h = ANY') AS listed FROM queries ORDER BY t COLLATE "C";
SELECT t, same(query) FROM queries ORDER BY t COLLATE "C";

SET client_min_messages = warning;
DROP SCHEMA test_shard_spellings CASCADE;

-- Shard keys as those who come from Spanner and from Cassandra write them.
RESET client_min_messages;
CREATE SCHEMA test_shard_forms;
SET search_path = test_shard_forms;
\i :included

-- MOD(FARM_FINGERPRINT(...), n) has 2n - 1 values, with ABS it has n
CREATE TABLE signed (hash_prefix bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(name), 8)) STORED,
  name text, v int, PRIMARY KEY (hash_prefix, name));
CREATE TABLE absolute (hash_prefix int GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(name || '/' || v), 8))::int) STORED,
  name text, v int, at timestamptz, PRIMARY KEY (hash_prefix, at, name));
CREATE TABLE operators (hash_prefix smallint NOT NULL GENERATED ALWAYS AS ((@ (spanner.farm_fingerprint(name) % 8::bigint))::smallint) STORED,
  name text, v int);
CREATE INDEX ON operators (hash_prefix, v);
-- a fingerprint of NULL is NULL, in none of the shards
CREATE TABLE unknown_name (hash_prefix bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(name), 8))) STORED,
  name text, v int);
CREATE INDEX ON unknown_name (hash_prefix, v);
-- and satisfies a CHECK, whatever the column has
CREATE TABLE checked (hash_prefix bigint NOT NULL CHECK (hash_prefix = mod(spanner.farm_fingerprint(name), 8)), name text, v int);
CREATE INDEX ON checked (hash_prefix, v);
-- but not where all that it is computed from is NOT NULL
CREATE TABLE known_name (hash_prefix bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(name), 8))) STORED,
  name text NOT NULL, v int);
CREATE INDEX ON known_name (hash_prefix, v);
CREATE TABLE some_name (hash_prefix bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(COALESCE(name, '')), 8))) STORED,
  name text, v int);
CREATE INDEX ON some_name (hash_prefix, v);
CREATE TABLE checked_name (hash_prefix bigint NOT NULL CHECK (hash_prefix = mod(spanner.farm_fingerprint(name), 8)), name text NOT NULL, v int);
CREATE INDEX ON checked_name (hash_prefix, v);
-- nor where a function makes NULL of it
CREATE TABLE no_digits (hash_prefix bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(substring(name FROM '[0-9]+')), 8))) STORED,
  name text NOT NULL, v int);
CREATE INDEX ON no_digits (hash_prefix, v);
CREATE TABLE expression (name text NOT NULL, v int);
CREATE INDEX ON expression (abs(mod(spanner.farm_fingerprint(name), 8)), v);
-- what the order of a user's rows stands behind
CREATE TABLE members (groupname text, hash_prefix int GENERATED ALWAYS AS (spanner.shard_id(4, username)) STORED,
  username text, v int, PRIMARY KEY (groupname, hash_prefix, username));
CREATE TABLE limited (hash_prefix bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(name), 8)) STORED,
  name varchar(36), v int, PRIMARY KEY (hash_prefix, name));
CREATE TABLE no_number (hash_prefix bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(name), -8)) STORED, name text);
CREATE TABLE whole (hash_prefix bigint GENERATED ALWAYS AS (spanner.farm_fingerprint(name)) STORED, name text);

INSERT INTO signed (name, v) SELECT 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO absolute (name, v, at) SELECT 'n' || i, i % 100, timestamptz '2025-01-01Z' + i * interval '1 min' FROM generate_series(1, 5000) i;
INSERT INTO limited (name, v) SELECT 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO operators (name, v) SELECT 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO unknown_name (name, v) SELECT nullif('n' || i % 10, 'n3'), i FROM generate_series(1, 5000) i;
INSERT INTO checked (hash_prefix, name, v) SELECT mod(spanner.farm_fingerprint('n' || i), 8), 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO checked VALUES (1000, NULL, 7);
INSERT INTO known_name (name, v) SELECT 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO some_name (name, v) SELECT nullif('n' || i % 10, 'n3'), i FROM generate_series(1, 5000) i;
INSERT INTO checked_name (hash_prefix, name, v) SELECT mod(spanner.farm_fingerprint('n' || i), 8), 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO no_digits (name, v) SELECT CASE WHEN i % 3 > 0 THEN 'n' || i ELSE 'n' END, i FROM generate_series(1, 5000) i;
INSERT INTO expression (name, v) SELECT 'n' || i, i FROM generate_series(1, 5000) i;
INSERT INTO members (groupname, username, v) SELECT 'g' || i % 20, 'u' || i, i FROM generate_series(1, 20000) i;
VACUUM ANALYZE;

SELECT tablename, declaration, shards, keys, usable, problem, loads_library
  FROM spanner.shard_keys WHERE schemaname = 'test_shard_forms' ORDER BY tablename COLLATE "C";

SELECT plan('SELECT * FROM signed WHERE name = ''n77''');
SELECT line FROM plan($$SELECT * FROM limited WHERE name = 'n77'$$) line WHERE line ~ 'Index Cond';
SELECT line FROM plan($$SELECT * FROM limited WHERE name IN ('n77', 'n78')$$) line WHERE line ~ 'Index Cond';
SELECT line FROM plan($$SELECT * FROM signed WHERE name IN ('n77', 'n78', NULL) AND v > 70$$) line WHERE line ~ 'Index Cond';
SELECT substring(line, 'hash_prefix = [^)]*')
  FROM plan($$SELECT * FROM absolute WHERE name IN ('n7', 'n8') AND v = 7 AND at = '2025-01-01 00:07Z'$$) line WHERE line ~ 'Index Cond';
SELECT plan('SELECT * FROM signed ORDER BY name LIMIT 3');
SELECT plan('SELECT * FROM absolute ORDER BY at DESC LIMIT 3');
SELECT plan('SELECT * FROM absolute WHERE name = ''n77'' AND v = 77 AND at = ''2025-01-01 01:17Z''');
SELECT plan('SELECT * FROM unknown_name ORDER BY v LIMIT 3');
SELECT plan('SELECT * FROM checked ORDER BY v LIMIT 3');
SELECT t, count(line) FROM unnest('{known_name,some_name,checked_name,expression,no_digits}'::text[]) t
  LEFT JOIN plan(format('SELECT * FROM %I ORDER BY v LIMIT 3', t)) line ON line ~ 'SpannerShardMerge' GROUP BY t ORDER BY t;
ALTER TABLE known_name ALTER name DROP NOT NULL;
SELECT count(*) FROM plan('SELECT * FROM known_name ORDER BY v LIMIT 3') line WHERE line ~ 'SpannerShardMerge';
INSERT INTO known_name (name, v) VALUES (NULL, 0);
SELECT same('SELECT * FROM known_name ORDER BY v LIMIT 3', true);
SELECT line FROM plan('SELECT * FROM checked WHERE name = ''n77'' AND v = 77') line WHERE line ~ 'Index Cond';
SELECT line FROM plan('SELECT * FROM expression WHERE name = ''n77'' AND v = 77') line WHERE line ~ 'Index Cond';
SELECT plan('SELECT * FROM members WHERE groupname = ''g1'' AND username = ''u21''');
SELECT plan('SELECT * FROM members WHERE groupname = ''g1'' ORDER BY username DESC LIMIT 3');
SELECT count(*) FROM plan('SELECT * FROM members WHERE groupname IN (''g1'', ''g2'') ORDER BY username LIMIT 3') line WHERE line ~ 'Merge';

SELECT q, same(q, true)
  FROM unnest(ARRAY[
    $$SELECT * FROM signed WHERE name = 'n77'$$,
    $$SELECT * FROM signed WHERE name IN ('n77', 'n78') ORDER BY name$$,
    $$SELECT * FROM signed WHERE name = ANY ('{}') ORDER BY name$$,
    $$SELECT * FROM limited WHERE name = 'n77'$$,
    $$SELECT * FROM limited WHERE name IN ('n77', 'n78') ORDER BY name$$,
    $$SELECT * FROM (VALUES ('n7'), ('n8')) v (n) JOIN limited ON name = n ORDER BY n$$,
    $$SELECT * FROM signed WHERE name = ANY ('{{n77,n78},{NULL,n77}}') ORDER BY name$$,
    $$SELECT * FROM absolute WHERE name IN ('n7', 'n8') AND v IN (7, 8) ORDER BY at$$,
    $$SELECT * FROM members m JOIN signed s ON s.name IN (m.username, 'n5') WHERE groupname = 'g1' AND username = 'u21'$$,
    $$SELECT * FROM signed WHERE name = 'n77' OR name = 'n78' ORDER BY name$$,
    $$SELECT * FROM signed ORDER BY name LIMIT 20$$,
    $$SELECT * FROM signed WHERE hash_prefix < -3 ORDER BY name DESC LIMIT 20$$,
    $$SELECT * FROM signed WHERE name BETWEEN 'n7' AND 'n72' ORDER BY name$$,
    $$SELECT * FROM absolute ORDER BY at DESC LIMIT 20$$,
    $$SELECT * FROM operators WHERE v BETWEEN 10 AND 20 ORDER BY v$$,
    $$SELECT * FROM operators ORDER BY v LIMIT 20$$,
    $$SELECT * FROM operators WHERE name = 'n77' ORDER BY v$$,
    $$SELECT * FROM unknown_name ORDER BY v LIMIT 20$$,
    $$SELECT * FROM unknown_name WHERE v BETWEEN 1 AND 5 ORDER BY v$$,
    $$SELECT * FROM unknown_name WHERE name = 'n7' AND v < 100 ORDER BY v$$,
    $$SELECT * FROM some_name ORDER BY v LIMIT 20$$,
    $$SELECT * FROM some_name WHERE v BETWEEN 1 AND 5 ORDER BY v$$,
    $$SELECT * FROM checked_name ORDER BY v LIMIT 20$$,
    $$SELECT * FROM checked_name WHERE v BETWEEN 1 AND 5 ORDER BY v$$,
    $$SELECT * FROM no_digits ORDER BY v LIMIT 20$$,
    $$SELECT * FROM expression ORDER BY v LIMIT 20$$,
    $$SELECT * FROM checked ORDER BY v LIMIT 20$$,
    $$SELECT * FROM checked WHERE v BETWEEN 5 AND 8 ORDER BY v, name$$,
    $$SELECT * FROM expression WHERE v BETWEEN 5 AND 8 ORDER BY v$$,
    $$SELECT s.name FROM unknown_name u JOIN signed s ON s.name = u.name WHERE u.v < 20 ORDER BY u.v$$,
    $$SELECT * FROM members WHERE groupname = 'g1' AND username = 'u21'$$,
    $$SELECT * FROM members WHERE groupname IN ('g1', 'g2') AND username IN ('u21', 'u22') ORDER BY username$$,
    $$SELECT * FROM members WHERE groupname = 'g7' AND v % 3 = 0 ORDER BY username LIMIT 20$$,
    $$SELECT * FROM members WHERE groupname = 'g7' AND username > 'u5' ORDER BY username DESC LIMIT 20$$,
    $$SELECT * FROM members WHERE groupname > 'g7' ORDER BY groupname, username LIMIT 20$$,
    $$SELECT * FROM members WHERE groupname = 'g7' AND hash_prefix > 1 ORDER BY username LIMIT 20$$,
    $$SELECT m.username FROM (VALUES ('g1'), ('g2')) v(g), LATERAL
      (SELECT username FROM members WHERE groupname = g ORDER BY username LIMIT 3) m ORDER BY 1$$]) q;

SET client_min_messages = warning;
DROP SCHEMA test_shard_forms CASCADE;
