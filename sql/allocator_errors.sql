-- What allocators refuse: state, message and hint of each, and nothing changed.

\set SHOW_CONTEXT never
\pset format unaligned
CREATE FUNCTION refused(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  message text;
  detail text;
  hint text;
BEGIN
  EXECUTE command;
  RETURN 'not refused';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(E'\n  ', SQLSTATE || ' ' || message,
                   CASE WHEN SQLSTATE NOT LIKE '23%' THEN NULLIF(detail, '') END, NULLIF(hint, ''));
END $$;

SELECT spanner.create_allocator('a', start_value => 10, max_value => 100, min_value => 5) > 0 AS id;
SELECT spanner.create_allocator('c', mode => 'on_commit') > 0 AS id;
CREATE TEMP TABLE before AS SELECT * FROM spanner.allocator;

SELECT command || E'\n  ' || refused(command) AS "what is refused" FROM (VALUES
  (1, $$SELECT spanner.create_allocator(NULL)$$),
  (2, $$SELECT spanner.create_allocator('')$$),
  (3, $$SELECT spanner.create_allocator(repeat('ä', 64) || 'x')$$),
  (4, $$SELECT spanner.create_allocator('a')$$),
  (5, $$SELECT spanner.create_allocator('x', mode => 'fast')$$),
  (6, $$SELECT spanner.create_allocator('x', mode => NULL)$$),
  (7, $$SELECT spanner.create_allocator('x', batch_size => 0)$$),
  (8, $$SELECT spanner.create_allocator('x', batch_size => 10000001)$$),
  (9, $$SELECT spanner.create_allocator('x', batch_size => 20, max_batch_size => 10)$$),
  (10, $$SELECT spanner.create_allocator('x', low_water_mark => -2)$$),
  (11, $$SELECT spanner.create_allocator('x', failover_gap => -2)$$),
  (12, $$SELECT spanner.create_allocator('x', max_value => 9223372036854775807)$$),
  (13, $$SELECT spanner.create_allocator('x', start_value => 10, max_value => 8)$$),
  (14, $$SELECT spanner.create_allocator('x', start_value => 10, min_value => 11)$$),
  (15, $$SELECT spanner.create_allocator('x', mode => 'remote')$$),
  (16, $$SELECT spanner.create_allocator('x', server => 'nowhere')$$),
  (17, $$SELECT spanner.create_allocator('x', mode => 'remote', server => 'nowhere')$$),
  (18, $$SELECT spanner.create_allocator('x', batch_size => NULL)$$),
  (19, $$SELECT spanner.create_allocator('x', max_value => NULL)$$),
  (20, $$SELECT spanner.alter_allocator('nobody', batch_size => 1)$$),
  (21, $$SELECT spanner.alter_allocator(NULL)$$),
  (22, $$SELECT spanner.alter_allocator('a', mode => 'slow')$$),
  (23, $$SELECT spanner.alter_allocator('a', max_value => 4)$$),
  (24, $$SELECT spanner.alter_allocator('a', min_value => 50)$$),
  (25, $$SELECT spanner.alter_allocator('a', owner_role => 'nobody_of_that_name')$$),
  (30, $$SELECT spanner.rename_allocator('nobody', 'b')$$),
  (31, $$SELECT spanner.rename_allocator('a', 'c')$$),
  (32, $$SELECT spanner.rename_allocator('a', '')$$),
  (33, $$SELECT spanner.drop_allocator('nobody')$$),
  (34, $$SELECT spanner.grant_allocator('a', 'nobody_of_that_name')$$),
  (35, $$SELECT spanner.grant_allocator('nobody', 'public')$$),
  (36, $$SELECT spanner.revoke_allocator('nobody')$$),
  (37, $$SELECT spanner.revoke_allocator(NULL)$$),
  (38, $$SELECT spanner.alter_allocator(NULL)$$),
  (40, $$SELECT spanner.next_value('nobody')$$),
  (41, $$SELECT spanner.next_value(repeat('x', 130))$$),
  (43, $$SELECT spanner.next_value('c')$$),
  (44, $$SELECT spanner.reserve_block('c', 1)$$),
  (45, $$SELECT spanner.next_values('c', 1)$$),
  (46, $$SELECT spanner.next_values('a', -1)$$),
  (47, $$SELECT spanner.reserve_block('a', 0)$$),
  (48, $$SELECT spanner.reserve_block('nobody', 1)$$),
  (50, $$SELECT spanner.advance_allocator('a', 102)$$),
  (51, $$SELECT spanner.advance_allocator('nobody', 1)$$),
  (52, $$SELECT spanner.reset_allocator('a', 9)$$),
  (53, $$SELECT spanner.reset_allocator('a', 4, force => true)$$),
  (54, $$SELECT spanner.reset_allocator('a', 101)$$),
  (55, $$SELECT spanner.release_allocator('nobody')$$),
  (60, $$SELECT spanner_internal.on_allocator_write()$$),
  (61, $$UPDATE spanner.allocator SET next_value = 3 WHERE name = 'a'$$),
  (62, $$INSERT INTO spanner.allocator (name, owner_role) VALUES ('a', 'pg_monitor')$$),
  (63, $$INSERT INTO spanner.allocator (name, owner_role) VALUES (repeat('n', 129), 'pg_monitor')$$),
  (64, $$INSERT INTO spanner.allocator (name) VALUES ('b')$$),
  (65, $$UPDATE spanner.allocator SET name = '' WHERE name = 'a'$$),
  (66, $$UPDATE spanner.allocator SET mode = 'fast' WHERE name = 'a'$$),
  (67, $$UPDATE spanner.allocator SET mode = NULL WHERE name = 'a'$$),
  (68, $$UPDATE spanner.allocator SET mode = 'remote' WHERE name = 'a'$$),
  (69, $$UPDATE spanner.allocator SET remote_name = repeat('n', 129) WHERE name = 'a'$$),
  (70, $$UPDATE spanner.allocator SET batch_size = 0 WHERE name = 'a'$$),
  (71, $$UPDATE spanner.allocator SET max_batch_size = 10000001 WHERE name = 'a'$$),
  (72, $$UPDATE spanner.allocator SET max_value = 9223372036854775807 WHERE name = 'a'$$),
  (73, $$UPDATE spanner.allocator SET failover_gap = -2 WHERE name = 'a'$$),
  (74, $$INSERT INTO spanner.allocator (name, owner_role, batch_size) VALUES ('b', 'pg_monitor', 0)$$),
  (75, $$INSERT INTO spanner.allocator (name, owner_role, mode) VALUES ('b', 'pg_monitor', 'remote')$$),
  (76, $$UPDATE spanner.allocator SET allocator_id = 7 WHERE name = 'a'$$)
  ) c(number, command) ORDER BY number;

-- NULL gives NULL where it can mean nothing else
SELECT spanner.next_value(NULL), spanner.reserve_block('a', NULL),
       spanner.rename_allocator('a', NULL), spanner.drop_allocator(NULL), spanner.advance_allocator('a', NULL),
       spanner.reset_allocator('a', NULL), spanner.release_allocator(NULL);
SELECT count(*) FROM spanner.next_values('a', NULL);

-- triggers on the table that stand in the way
CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
BEGIN;
CREATE TRIGGER suppress BEFORE INSERT OR UPDATE ON spanner.allocator FOR EACH ROW EXECUTE FUNCTION suppress();
SELECT refused($$SELECT spanner.create_allocator('x')$$);
SELECT refused($$SELECT spanner.alter_allocator('a', batch_size => 10)$$);
ROLLBACK;
DROP FUNCTION suppress();

-- where nothing may be written
BEGIN READ ONLY;
SELECT refused($$SELECT spanner.next_value('a')$$);
SELECT refused($$SELECT spanner.reserve_block('a', 1)$$);
SELECT refused($$SELECT spanner.create_allocator('x')$$);
SELECT refused($$SELECT spanner.drop_allocator('a')$$);
SELECT refused($$SELECT spanner.release_allocator('a')$$);
ROLLBACK;
BEGIN;
SELECT spanner.alter_allocator('a', batch_size => 10);
PREPARE TRANSACTION 'refused';

SELECT * FROM spanner.allocator EXCEPT SELECT * FROM before;
SELECT spanner.drop_allocator('a'), spanner.drop_allocator('c');
DROP FUNCTION refused(text);
DROP TABLE before;
