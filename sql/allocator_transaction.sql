-- Allocators: the counter that a transaction holds until its end.

SELECT spanner.create_allocator('held', mode => 'sync', start_value => 101) > 0 AS id;
SELECT spanner.create_allocator('pool', mode => 'batch', batch_size => 10) > 0 AS id;

-- many values in one statement are written once
SELECT count(DISTINCT n), min(n), max(n)
  FROM (SELECT spanner.next_value('held') AS n FROM generate_series(1, 100000)) d;
SELECT next_value FROM spanner.allocator WHERE name = 'held';
SELECT pg_relation_size('spanner.allocator') < 1000000 AS small;

-- savepoints, one in the other, kept or not
BEGIN;
SELECT spanner.next_value('held');
SAVEPOINT a;
SELECT spanner.next_value('held');
SAVEPOINT b;
SELECT spanner.next_value('held'), spanner.next_value('held');
RELEASE b;
SELECT spanner.next_value('held');
ROLLBACK TO a;
SELECT spanner.next_value('held');
SAVEPOINT c;
SELECT spanner.next_value('held');
SAVEPOINT d;
SELECT spanner.next_value('held');
RELEASE d;
RELEASE c;
SELECT spanner.next_value('held');
ROLLBACK TO a;
SELECT spanner.next_value('held');
COMMIT;
SELECT spanner.next_value('held');
DO $$
BEGIN
  FOR i IN 1 .. 4 LOOP
    BEGIN
      RAISE NOTICE '%', spanner.next_value('held');
      IF i % 2 = 0 THEN
        RAISE division_by_zero;
      END IF;
    EXCEPTION WHEN division_by_zero THEN
      NULL;
    END;
  END LOOP;
END $$;

-- what a released savepoint has drawn stays drawn if a later one is rolled back
SELECT spanner.create_allocator('nested', 'sync') > 0 AS id;
BEGIN;
SELECT spanner.next_value('nested');
SAVEPOINT a;
SAVEPOINT b;
SELECT spanner.next_value('nested');
RELEASE b;
SAVEPOINT c;
ROLLBACK TO c;
SELECT spanner.next_value('nested');
ROLLBACK TO a;
SELECT spanner.next_value('nested');
COMMIT;

-- commands in the same transaction begin where the counter is
BEGIN;
SELECT spanner.next_value('held');
SAVEPOINT a;
SELECT spanner.rename_allocator('held', 'renamed');
SELECT spanner.next_value('renamed');
ROLLBACK TO a;
SELECT spanner.next_value('held');
SELECT spanner.alter_allocator('held', max_value => 200000);
SELECT spanner.next_value('held');
SELECT spanner.advance_allocator('held', 100200), spanner.next_value('held');
SAVEPOINT b;
SELECT spanner.reset_allocator('held', 100300), spanner.next_value('held');
ROLLBACK TO b;
SELECT spanner.next_value('held');
UPDATE spanner.allocator SET batch_size = 7 WHERE name = 'held';
SELECT spanner.next_value('held');
UPDATE spanner.allocator SET next_value = 100400 WHERE name = 'held';
SELECT spanner.next_value('held');
SELECT spanner.alter_allocator('held', max_value => 100401);
SELECT spanner.next_value('held');
SAVEPOINT c;
SELECT spanner.next_value('held');
ROLLBACK TO c;
COMMIT;
SELECT next_value, batch_size, max_value FROM spanner.allocator WHERE name = 'held';

-- one that is dropped after it was drawn from
BEGIN;
SELECT spanner.alter_allocator('held', max_value => 100500), spanner.next_value('held');
SELECT spanner.drop_allocator('held');
COMMIT;

-- what is reserved in a transaction that has locked the row comes after the
-- pool's values, which are dropped then
SELECT spanner.next_value('pool');
BEGIN;
SELECT FROM spanner.allocator WHERE name = 'pool' FOR SHARE;
SELECT spanner.alter_allocator('pool', batch_size => 5);
SELECT spanner.next_value('pool');
COMMIT;
SELECT spanner.next_value('pool');

-- a change that is rolled back empties no pool, and stands in no way
BEGIN;
SAVEPOINT a;
SELECT spanner.alter_allocator('pool', batch_size => 20);
ROLLBACK TO a;
COMMIT;
SELECT spanner.next_value('pool');

-- more allocators than locks, and than changes that are noted one by one
SELECT count(spanner.create_allocator('many ' || i, 'batch')) FROM generate_series(1, 12000) i;
UPDATE spanner.allocator SET batch_size = 3 WHERE name LIKE 'many %';
DELETE FROM spanner.allocator WHERE name LIKE 'many %';
SELECT spanner.next_value('pool') < spanner.next_value('pool') AS ascends;
SELECT spanner.drop_allocator('pool');

-- rows that the transaction moves after it has drawn from them, to each other's places
SELECT count(spanner.create_allocator(n, 'sync')) FROM unnest('{moved b,moved a}'::text[]) n;
BEGIN;
SELECT spanner.next_value('moved b'), spanner.next_value('moved a');
CLUSTER spanner.allocator USING allocator_allocator_id_key;
COMMIT; CLUSTER spanner.allocator; BEGIN;
SELECT spanner.next_value('moved b'), spanner.next_value('moved a'), spanner.next_value('moved a');
CLUSTER spanner.allocator USING allocator_pkey;
COMMIT;
SELECT name, next_value FROM spanner.allocator WHERE name LIKE 'moved%' ORDER BY name;
ALTER TABLE spanner.allocator SET WITHOUT CLUSTER;
SELECT count(spanner.drop_allocator(n, true)) FROM unnest('{moved a,moved b}'::text[]) n;

-- a draw notes that this server knows of the values; another timeline would not
SELECT spanner.create_allocator('elsewhere', 'sync') > 0 AS is_made;
UPDATE spanner.allocator SET timeline = 99 WHERE name = 'elsewhere';
SELECT spanner.next_value('elsewhere');
SELECT timeline = 99 AS is_unknown FROM spanner.allocator WHERE name = 'elsewhere';
SELECT spanner.drop_allocator('elsewhere');

-- what is not fetched of a set is not drawn, where numbers have no gap
SELECT spanner.create_allocator('fetched', 'sync') > 0 AS is_made;
SELECT spanner.next_values('fetched', 10) LIMIT 3;
BEGIN;
DECLARE page CURSOR FOR SELECT spanner.next_values('fetched', 10);
FETCH 2 FROM page;
COMMIT;
SELECT spanner.next_value('fetched');
SELECT spanner.drop_allocator('fetched');

-- a trigger of others on the table may take numbers while counters are written, and
-- may change another allocator
SELECT count(spanner.create_allocator('counted ' || i, 'sync')) + count(spanner.create_allocator('count ' || i, 'sync'))
  FROM generate_series(1, 20) i;
SELECT spanner.create_allocator('changed') > 0 AS is_made;
SELECT spanner.next_value('changed');
CREATE TABLE counted (name text, number bigint);
CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO public.counted VALUES (NEW.name, spanner.next_value(pg_catalog.replace(NEW.name, 'counted', 'count')));
  IF NEW.name = 'counted 1' THEN
    UPDATE spanner.allocator SET next_value = 5000 WHERE name = 'changed';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_write AFTER UPDATE ON spanner.allocator
  FOR EACH ROW WHEN (NEW.name LIKE 'counted%') EXECUTE FUNCTION count_write();
SELECT count(spanner.next_value('counted ' || i)) FROM generate_series(1, 20) i;
SELECT count(spanner.next_value('counted ' || i)) FROM generate_series(1, 20) i;
DROP TRIGGER count_write ON spanner.allocator;
SELECT count(*), count(DISTINCT (name, number)), max(number) FROM counted;
SELECT spanner.next_value('changed');
-- but not whenever one is written
CREATE OR REPLACE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM spanner.next_value('count 1');
  RETURN NULL;
END $$;
CREATE TRIGGER count_write AFTER UPDATE ON spanner.allocator FOR EACH ROW EXECUTE FUNCTION count_write();
SELECT spanner.next_value('counted 2');
DROP TRIGGER count_write ON spanner.allocator;
SELECT spanner.next_value('counted 2'), spanner.next_value('count 1');
DROP FUNCTION count_write;
DROP TABLE counted;
SELECT count(spanner.drop_allocator(name)) FROM spanner.allocator WHERE name LIKE 'count%' OR name IN ('changed', 'nested');
