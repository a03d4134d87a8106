-- Allocators' names, and who still has an old one.

CREATE SCHEMA an;
SET search_path = an;

SELECT spanner.create_allocator('sync', mode => 'sync') > 0 AS id;
SELECT spanner.create_allocator('batch', mode => 'batch', start_value => 100) > 0 AS id;

CREATE TABLE named (id bigint DEFAULT spanner.next_value('batch'), "The number" bigint);
-- as a dump makes it, which nothing checks
SET check_function_bodies = off;
CREATE CONSTRAINT TRIGGER numbers AFTER INSERT ON named DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('batch', 'The number');
RESET check_function_bodies;
BEGIN;
SELECT spanner.drop_allocator('batch');
ROLLBACK;
SELECT spanner.next_value('batch');
SELECT spanner.rename_allocator('batch', 'Grüße "x"');
SELECT spanner.next_value('Grüße "x"');
SELECT spanner.next_value('batch');
DROP TABLE named;
CREATE SEQUENCE "Batch";
SELECT spanner.next_value('"Batch"');
SELECT spanner.next_value('an."Batch"');
DROP SEQUENCE "Batch";
SELECT spanner.create_allocator('sync', if_not_exists => true) > 0 AS id;
SELECT spanner.drop_allocator('Grüße "x"'), spanner.drop_allocator('Grüße "x"', if_exists => true);
SELECT spanner.create_allocator('sync2', mode => 'sync') > 0 AS id;
SELECT spanner.create_allocator('Grüße "x"') > 0 AS id;
SELECT spanner.next_value('Grüße "x"');

-- two names of as many bytes as a name may have, of which the last one differs; one byte more is another name
SELECT spanner.create_allocator(repeat('n', 127) || last, start_value => start) > 0 AS id FROM (VALUES ('a', 1), ('b', 101)) v (last, start);
SELECT spanner.next_value(repeat('n', 127) || last) FROM unnest(ARRAY['a', 'b', 'a']) last;
SELECT spanner.next_value(repeat('n', 127) || 'ab');

-- a session looks for a name once
BEGIN;
SELECT spanner.next_value('sync2');
SELECT pg_stat_get_xact_numscans('spanner.allocator_pkey'::regclass) AS scans \gset
SELECT spanner.next_value('sync2'), pg_stat_get_xact_numscans('spanner.allocator_pkey'::regclass) - :scans AS more_scans;
COMMIT;

TRUNCATE spanner.allocator;
DROP SCHEMA an;
