-- Series: one allocator counts for many keys.
SELECT count(spanner.create_allocator(mode, mode))
  FROM unnest('{sync,async,batch,async_batch}'::text[]) mode;

-- each series counts from 1, in every mode, and so does the allocator
CREATE VIEW counters AS
  SELECT name, NULLIF(series, '{}') AS series, next_value FROM spanner.allocator;
CREATE TABLE drawn (name text, year int, tenant text, number bigint);
INSERT INTO drawn
  SELECT name, year, tenant, spanner.next_value(name, year::text, tenant)
    FROM spanner.allocator, generate_series(2026, 2027) year, unnest('{a,b}'::text[]) tenant,
         generate_series(1, 5)
   WHERE name = mode;
SELECT name, year, tenant, count(*), min(number), max(number), count(DISTINCT number)
  FROM drawn GROUP BY name, year, tenant ORDER BY name, year, tenant;
INSERT INTO drawn
  SELECT name, 2026, 'a', spanner.next_value(name, VARIADIC ARRAY['2026', 'a'])
    FROM spanner.allocator, generate_series(1, 300) WHERE name = mode;
SELECT name, count(*), min(number), max(number), count(DISTINCT number)
  FROM drawn WHERE year = 2026 AND tenant = 'a' GROUP BY name ORDER BY name;
SELECT name, spanner.next_value(name), spanner.next_value(name, VARIADIC '{}')
  FROM spanner.allocator WHERE name = mode ORDER BY name;

-- blocks
SELECT a.name, b.* FROM spanner.allocator a, spanner.reserve_block(a.name, 1000, '2027', 'b') b
 WHERE name = mode ORDER BY name;

-- several values, and giving them back
SELECT spanner.create_allocator('back', batch_size => 10, max_batch_size => 10) > 0 AS created;
SELECT spanner.advance_allocator('back', 1, 'a');
SELECT array_agg(n) FROM spanner.next_values('back', 4, 'a') n;
SELECT array_agg(n) FROM spanner.next_values('back', 2, VARIADIC '{a}') n;
SELECT spanner.release_allocator('back', 'a') > 0 AS released, spanner.release_allocator('back'),
       spanner.next_value('back', 'a');
SELECT count(*) FROM spanner.next_values('back', 1, VARIADIC NULL);

-- arguments can be named, with and without a series
SELECT array_agg(n) FROM spanner.next_values(name => 'back', count => 3) n;
SELECT array_agg(n) FROM spanner.next_values('back', count => 3, VARIADIC series => '{b}') n;
SELECT first_value FROM spanner.reserve_block('back', count => 5);
SELECT first_value FROM spanner.reserve_block(name => 'back', count => 5, VARIADIC series => '{b}');
SELECT spanner.advance_allocator(name => 'back', minimum => 1000),
       spanner.next_value(name => 'back');
SELECT spanner.release_allocator(name => 'back') IS NOT NULL AS released,
       spanner.last_assigned(name => 'back');
SELECT spanner.drop_allocator('back');

-- a row for each, and nothing else
SELECT name, count(series), min(series), max(series) FROM counters WHERE name ~ 'sync|batch' GROUP BY name ORDER BY name;
SELECT spanner.next_value('sync', '2027', 'a');
SELECT name, mode, series, values FROM spanner.stat_allocator
 WHERE name = 'async' ORDER BY series;

-- a series begins like its allocator, and has its limits
SELECT spanner.create_allocator('from', 'sync', start_value => 1001, max_value => 1003) > 0 AS created;
SELECT spanner.next_value('from', 'x') FROM generate_series(1, 3);
SELECT spanner.next_value('from', 'x');
SELECT spanner.alter_allocator('from', max_value => 1004);
SELECT spanner.next_value('from', 'x'), spanner.next_value('from', 'y');
BEGIN;
SELECT spanner.next_value('from', 'z');
SELECT spanner.alter_allocator('from', mode => 'batch', max_value => 1002);
SELECT spanner.next_value('from', 'z');
SELECT spanner.next_value('from', 'z');
ROLLBACK;
SELECT spanner.alter_allocator('from', mode => 'batch', max_value => 9999, batch_size => 10);
SELECT spanner.next_value('from', 'y'), spanner.next_value('from', 'x');
SELECT spanner.alter_allocator('from', max_value => 1003);
SELECT spanner.next_value('from', 'y');

-- bounds that are moved are those of series that are there, too
SELECT spanner.create_allocator('bounds', 'sync') > 0 AS created;
SELECT spanner.next_value('bounds', 'x') FROM generate_series(1, 2);
SELECT spanner.reset_allocator('bounds', 100), spanner.alter_allocator('bounds', min_value => 100);
SELECT spanner.next_value('bounds', 'x'), spanner.next_value('bounds', 'y'), spanner.next_value('bounds');
BEGIN;
SELECT spanner.next_value('bounds', 'x');
SAVEPOINT s;
SELECT spanner.reset_allocator('bounds', 200), spanner.alter_allocator('bounds', min_value => 200);
SELECT spanner.next_value('bounds', 'x');
ROLLBACK TO s;
SELECT spanner.next_value('bounds', 'x');
COMMIT;
SELECT spanner.advance_allocator('bounds', 300, 'y'), spanner.alter_allocator('bounds', mode => 'batch', max_value => 250);
SELECT spanner.next_value('bounds', 'y');
SELECT spanner.drop_allocator('bounds');

-- a transaction that has locked the allocator draws from its series by itself
SET spanner_keys.allocator_timeout = '1s';
BEGIN;
SELECT FROM spanner.allocator WHERE name = 'batch' AND series = '{}' FOR UPDATE;
SELECT min(n), max(n), count(*)
  FROM (SELECT spanner.next_value('batch', '2027', 'b') AS n FROM generate_series(1, 500)) x;
COMMIT;
RESET spanner_keys.allocator_timeout;

-- a transaction that is rolled back leaves no series behind, a savepoint neither
BEGIN;
SELECT spanner.next_value('sync', 'rolled back') FROM generate_series(1, 3);
ROLLBACK;
BEGIN;
SELECT spanner.next_value('sync', 'kept');
SAVEPOINT s;
SELECT spanner.next_value('sync', 'kept'), spanner.next_value('sync', 'new');
ROLLBACK TO s;
SELECT spanner.next_value('sync', 'kept'), spanner.next_value('sync', 'new');
COMMIT;
SELECT * FROM counters WHERE name = 'sync' AND series[2] IS NULL AND series IS NOT NULL ORDER BY series;

-- values are texts
SELECT spanner.next_value('sync', ''), spanner.next_value('sync', ' '), spanner.next_value('sync', ''),
       spanner.next_value('sync', 'a', ''), spanner.next_value('sync', 'a,'), spanner.next_value('sync', 'NULL');
SELECT spanner.next_value('sync', VARIADIC '[5:6]={2026,a}'::text[]),
       spanner.next_value('sync', VARIADIC '{2026,a}');

-- advance, reset
SELECT spanner.advance_allocator('sync', 100, 'imported'), spanner.next_value('sync', 'imported');
SELECT spanner.advance_allocator('sync', 50, 'imported');
SELECT spanner.reset_allocator('sync', 5, true, '{imported}');
SELECT spanner.next_value('sync', 'imported');
SELECT spanner.reset_allocator('sync', 5, series => '{imported}');
SELECT spanner.advance_allocator('async_batch', 100000, '2026', 'a');
SELECT spanner.next_value('async_batch', '2026', 'a');

-- a new name and the end are of the series too
CREATE TABLE by_default (number bigint DEFAULT spanner.next_value('sync', 'default'),
                         own bigint DEFAULT spanner.next_value('sync'), n int);
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'by_default'::regclass ORDER BY adnum;
INSERT INTO by_default (n) VALUES (1), (2) RETURNING number, own;
PREPARE own AS SELECT spanner.next_value($1), spanner.next_value($1, $2);
EXECUTE own('sync', 'default');
EXECUTE own('sync', 'prepared');
DEALLOCATE own;
SELECT spanner.rename_allocator('sync', 'renamed');
SELECT spanner.next_value('renamed', 'imported');
SELECT spanner.next_value('sync', 'imported');
DROP TABLE by_default;
SELECT spanner.drop_allocator('renamed');
SELECT count(*) FROM spanner.allocator WHERE name NOT IN (SELECT name FROM spanner.allocator WHERE series = '{}');
SELECT spanner.create_allocator('renamed', 'sync') > 0 AS created;
SELECT spanner.next_value('renamed', 'imported');
DELETE FROM spanner.allocator WHERE name = 'renamed' AND series = '{}';
SELECT count(*) FROM spanner.allocator WHERE name NOT IN (SELECT name FROM spanner.allocator WHERE series = '{}');
SELECT count(spanner.drop_allocator(name)) FROM spanner.allocator WHERE (name = mode OR name = 'from') AND series = '{}';
SELECT count(*) FROM spanner.allocator WHERE series <> '{}';
DROP VIEW counters;
DROP TABLE drawn;
