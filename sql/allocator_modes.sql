-- Allocators: modes, blocks, limits, and what a transaction does to its own.

CREATE SCHEMA al;
SET search_path = al;

SELECT spanner.create_allocator('async_batch') > 0 AS id;
SELECT spanner.create_allocator('batch', mode => 'batch', start_value => 100, max_batch_size => 200) > 0 AS id;
SELECT spanner.create_allocator('async', mode => 'Async', start_value => -2) > 0 AS id;
SELECT spanner.create_allocator('sync', mode => 'sync') > 0 AS id;
CREATE VIEW mine AS SELECT * FROM spanner.allocator WHERE name IN ('async_batch', 'batch', 'async', 'sync');
SELECT name, mode, next_value, min_value, max_value, batch_size, max_batch_size, low_water_mark,
       failover_gap, server, remote_name, owner_role = current_user::regrole AS own, usage_roles
  FROM mine ORDER BY allocator_id;

-- values ascend, whatever function draws them
SELECT a.mode, spanner.next_value(a.name), spanner.next_value(a.name, VARIADIC '{}') AS again
  FROM mine a ORDER BY allocator_id;
SELECT a.mode, array_agg(n) FROM mine a, spanner.next_values(a.name, 5) n
 GROUP BY a.mode, allocator_id ORDER BY allocator_id;
SELECT a.mode, b.* FROM mine a, spanner.reserve_block(a.name, 1000) b ORDER BY allocator_id;
SELECT a.mode, spanner.next_value(a.name) FROM mine a ORDER BY allocator_id;
SELECT count(*) FROM spanner.next_values('batch', 0);
SELECT count(DISTINCT n), max(n) - min(n) AS width
  FROM (SELECT spanner.next_value('batch') AS n FROM generate_series(1, 5000)) d;
SELECT count(n), max(n) - min(n) AS width FROM spanner.next_values('async_batch', 5000) n;

-- rollback: a gap, but in mode sync the value comes again
BEGIN;
SELECT spanner.next_value('sync') AS before \gset
SELECT spanner.next_value('batch') AS batch \gset
SAVEPOINT a;
SELECT spanner.next_value('sync') - :before AS ascends;
ROLLBACK TO a;
SELECT spanner.next_value('sync') - :before AS ascends;
ROLLBACK;
SELECT spanner.next_value('sync') - :before AS again, spanner.next_value('batch') - :batch AS gap;

-- an allocator can be used in the transaction that creates, alters or locks it
BEGIN;
SELECT spanner.create_allocator('own', start_value => 10) > 0 AS id;
SELECT spanner.next_value('own'), spanner.next_value('own');
COMMIT;
SELECT spanner.next_value('own');
BEGIN;
SELECT spanner.alter_allocator('own', max_value => 1000000);
SELECT spanner.next_value('own') > 12 AS ascends;
SAVEPOINT a;
SELECT spanner.drop_allocator('own');
SELECT spanner.next_value('own');
ROLLBACK TO a;
SELECT spanner.next_value('own') > 13 AS ascends;
COMMIT;
BEGIN;
SELECT 1 FROM spanner.allocator WHERE name = 'own' FOR UPDATE;
SELECT count(n) FROM spanner.next_values('own', 1000) n;
ROLLBACK;
BEGIN;
SELECT spanner.create_allocator('never') > 0 AS id;
SELECT spanner.next_value('never');
ROLLBACK;
SELECT spanner.next_value('never');

-- the end: a part of a batch, then an error
SELECT spanner.create_allocator('short', start_value => 9223372036854775800, batch_size => 4) > 0 AS id;
SELECT max(n) FROM spanner.next_values('short', 6) n;
SELECT spanner.reserve_block('short', 2);
SELECT spanner.next_value('short');
SELECT spanner.next_value('short');
SELECT next_value FROM spanner.allocator WHERE name = 'short';
SELECT spanner.create_allocator('ten', max_value => 10) > 0 AS id;
SELECT spanner.reserve_block('ten', 11);
SELECT spanner.reserve_block('ten', 9223372036854775807);
SELECT spanner.reserve_block('ten', 8);
SELECT spanner.next_values('ten', 3);
SELECT spanner.next_value('ten');
SELECT spanner.alter_allocator('ten', max_value => 11);
SELECT spanner.next_value('ten');
SELECT spanner.create_allocator('below', mode => 'sync', start_value => -10, max_value => -8) > 0 AS id;
SELECT spanner.reserve_block('below', 9223372036854775807);
SELECT spanner.reserve_block('below', 3);
SELECT spanner.next_value('below');

-- moving: forward at will, back by force; values of the pool that are too small are dropped
SELECT spanner.next_value('batch') < 90000 AS in_pool;
SELECT spanner.advance_allocator('batch', 90000);
SELECT spanner.next_value('batch');
SELECT spanner.advance_allocator('batch', 100000), spanner.next_value('batch');
SELECT spanner.advance_allocator('batch', 5) > 100000 AS stays, spanner.next_value('batch');
-- within a batch, and in the same transaction
SELECT spanner.create_allocator('imported', mode => 'batch', batch_size => 100) > 0 AS id;
SELECT spanner.next_value('imported');
BEGIN;
SELECT spanner.advance_allocator('imported', 50), spanner.next_value('imported'), spanner.reserve_block('imported', 3);
ROLLBACK;
SELECT spanner.next_value('imported');
SELECT spanner.reset_allocator('batch', 200000);
SELECT spanner.next_value('batch');
SELECT spanner.reset_allocator('batch', 7, force => true);
SELECT spanner.next_value('batch'), spanner.release_allocator('batch'), spanner.next_value('batch');
UPDATE spanner.allocator SET next_value = 50 WHERE name = 'batch';
SELECT spanner.next_value('batch');

-- what cannot be given back is lost: somebody has gone behind our back
BEGIN;
SET LOCAL allow_system_table_mods = on;
UPDATE pg_trigger SET tgenabled = 'D' WHERE tgrelid = 'spanner.allocator'::regclass AND tgname = 'on_allocator_change';
UPDATE pg_class SET relname = relname WHERE oid = 'spanner.allocator'::regclass;
UPDATE spanner.allocator SET next_value = next_value + 1 WHERE name = 'batch';
UPDATE pg_trigger SET tgenabled = 'A' WHERE tgrelid = 'spanner.allocator'::regclass AND tgname = 'on_allocator_change';
UPDATE pg_class SET relname = relname WHERE oid = 'spanner.allocator'::regclass;
COMMIT;
SELECT pool_remaining AS remaining, lost_values AS lost FROM spanner.stat_allocator WHERE name = 'batch' \gset
SELECT spanner.release_allocator('batch');
SELECT :remaining > 0 AS remained, pool_remaining, lost_values - :lost = :remaining AS lost
  FROM spanner.stat_allocator WHERE name = 'batch';

-- statistics
SELECT database = current_database() AS here, name, mode, "values" > 0 AS "values", refills > 0 AS refills,
       waits > 0 AS waits, wait_ms > 0 AS wait_ms, refill_ms_avg <= refill_ms_max AS average,
       pool_remaining > 0 AS remaining, batch_now, last_error, last_refill <= now() AS past
  FROM spanner.stat_allocator WHERE name IN ('async', 'sync', 'own') ORDER BY name COLLATE "C";
-- the worker may have left; an empty pool calls it
DO $$
BEGIN
    FOR i IN 1 .. 100000 LOOP
        PERFORM spanner.next_value('async');
        IF (SELECT count(*) = 1 AND count(pid) = 1 FROM spanner.stat_allocator_worker
             WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database())) THEN
            RETURN;
        END IF;
    END LOOP;
    RAISE EXCEPTION 'no worker of this database was seen';
END
$$;

TRUNCATE spanner.allocator;
SELECT spanner.next_value('own');
DROP VIEW mine;
DROP SCHEMA al;
