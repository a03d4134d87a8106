-- Series: what they refuse, and who may use them.
CREATE ROLE regress_se_owner;
CREATE ROLE regress_se_user;
SELECT spanner.create_allocator('s', 'sync') > 0 AS created,
       spanner.create_allocator('c', 'on_commit') > 0 AS created;

-- names of series
SELECT spanner.next_value('s', NULL);
SELECT spanner.next_value('s', 'a', NULL);
SELECT spanner.next_value('s', VARIADIC '{{a,b},{c,d}}');
SELECT spanner.next_value('s', VARIADIC array_fill('x'::text, ARRAY[33]));
SELECT spanner.next_value('s', repeat('x', 2000));
SELECT spanner.next_value('s', VARIADIC array_fill('x'::text, ARRAY[32]));
SELECT spanner.next_value('missing', 'a');
SELECT spanner.next_value('c', 'a');
BEGIN READ ONLY;
SELECT spanner.next_value('s', 'a');
ROLLBACK;

-- rights are those of the allocator
SELECT spanner.alter_allocator('s', owner_role => 'regress_se_owner');
SET ROLE regress_se_user;
SELECT spanner.next_value('s', 'a');
SELECT spanner.reserve_block('s', 5, 'a');
SELECT spanner.advance_allocator('s', 5, 'a');
SELECT spanner.reset_allocator('s', 5, true, '{a}');
RESET ROLE;
SELECT count(*) FROM spanner.allocator WHERE series = '{a}';
SELECT spanner.next_value('s', 'a');
SELECT spanner.grant_allocator('s', 'regress_se_user');
SET ROLE regress_se_user;
SELECT spanner.next_value('s', 'a'), spanner.next_value('s', 'b');
SELECT spanner.advance_allocator('s', 5, 'a');
RESET ROLE;
SET ROLE regress_se_owner;
SELECT spanner.advance_allocator('s', 5, 'a');
RESET ROLE;
SELECT spanner.revoke_allocator('s', 'regress_se_user');
SET ROLE regress_se_user;
SELECT spanner.next_value('s', 'a');
RESET ROLE;
DROP ROLE regress_se_user;
DROP OWNED BY regress_se_owner;

-- rows by hand
\set VERBOSITY terse
INSERT INTO spanner.allocator (name, series, next_value, mode) VALUES ('s', '{hand}', 7, 'batch') RETURNING name, series, next_value, mode, batch_size;
SELECT spanner.next_value('s', 'hand');
INSERT INTO spanner.allocator (name, series, next_value) VALUES ('s', '{hand}', 7);
INSERT INTO spanner.allocator (name, series) VALUES ('s', '{NULL}');
INSERT INTO spanner.allocator (name, series) VALUES ('s', '{}');
INSERT INTO spanner.allocator (name, series) VALUES ('s', '[5:6]={q,r}');
INSERT INTO spanner.allocator (name, series) VALUES ('s', '{{q,r}}');
INSERT INTO spanner.allocator (name, series) VALUES ('s', array_fill('q'::text, ARRAY[33]));
INSERT INTO spanner.allocator (name, series) VALUES (NULL, '{q}');
UPDATE spanner.allocator SET series = '{x}' WHERE name = 's' AND series = '{}';
UPDATE spanner.allocator SET owner_role = 'regress_se_owner' WHERE series = '{hand}';
UPDATE spanner.allocator SET next_value = 70 WHERE series = '{hand}';
SELECT spanner.next_value('s', 'hand');
UPDATE spanner.allocator SET next_value = 700 WHERE series = '{hand}';
SELECT spanner.next_value('s', 'hand');
DELETE FROM spanner.allocator WHERE series = '{hand}';
SELECT spanner.next_value('s', 'hand');

-- a new series after a promotion: others of its name may be lost
SELECT spanner.create_allocator('gap', 'batch', failover_gap => 500) > 0 AS created;
UPDATE spanner.allocator SET timeline = 99, series_timeline = 99 WHERE name = 'gap';
SELECT spanner.next_value('gap', 'new');
-- what the allocator itself goes through says nothing of series
SELECT spanner.next_value('gap');
SELECT spanner.next_value('gap', 'drawn');
SELECT spanner.alter_allocator('gap', batch_size => 300);
SELECT spanner.next_value('gap', 'altered');
SELECT spanner.reset_allocator('gap', 2000);
SELECT spanner.next_value('gap', 'reset');
SELECT spanner.advance_allocator('gap', 1, 'advanced');
SELECT spanner.next_value('gap', 'new');
-- this does
SELECT spanner.advance_allocator('gap', 1);
SELECT spanner.next_value('gap', 'newer');
-- options that change before a series has left its gap make it no smaller; later ones are smaller
SELECT spanner.create_allocator('lowered', 'batch', failover_gap => 500) > 0 AS created,
       spanner.create_allocator('without', 'batch', failover_gap => 500) > 0 AS created;
SELECT spanner.next_value('lowered', 'known'), spanner.next_value('without', 'known');
UPDATE spanner.allocator SET timeline = 0, series_timeline = 0 WHERE name IN ('lowered', 'without') AND series = '{}';
UPDATE spanner.allocator SET timeline = 0 WHERE name IN ('lowered', 'without') AND series <> '{}';
SELECT spanner.alter_allocator('lowered', failover_gap => 20), spanner.alter_allocator('without', 'sync');
SELECT spanner.next_value('lowered', 'known') > 500 AS is_left, spanner.next_value('lowered', 'unknown'),
       spanner.next_value('without', 'known') > 500 AS is_left, spanner.next_value('without', 'unknown');
SELECT spanner.advance_allocator('lowered', 1);
SELECT spanner.next_value('lowered', 'new');
SELECT spanner.drop_allocator('lowered'), spanner.drop_allocator('without');
UPDATE spanner.allocator SET series_timeline = 99 WHERE name = 's' AND series = '{}';
SELECT spanner.next_value('s', 'new');

-- a series of a dump may come before its allocator; a row that is there moves forward only
SET check_function_bodies = off;
-- a limit here gives way to values that were given elsewhere
SELECT spanner.create_allocator('limited', 'sync', max_value => 100) > 0 AS created;
SELECT spanner.next_value('limited', 'x');
INSERT INTO spanner.allocator (name, next_value, max_value, mode, owner_role)
  VALUES ('limited', 500, 1000, 'sync', current_user::regrole);
INSERT INTO spanner.allocator (name, series, next_value) VALUES ('limited', '{x}', 700);
SELECT spanner.next_value('limited', 'x');
SELECT series, next_value, max_value FROM spanner.allocator WHERE name = 'limited' ORDER BY series;
SELECT spanner.alter_allocator('limited', max_value => 1000);
SELECT spanner.next_value('limited'), spanner.next_value('limited', 'x');
SELECT spanner.drop_allocator('limited');
INSERT INTO spanner.allocator (name, series, next_value) VALUES ('restored', '{x}', 77), ('restored', '{y}', 78);
BEGIN;
SAVEPOINT undone;
INSERT INTO spanner.allocator (name, series, next_value) VALUES ('restored', '{x}', 100);
ROLLBACK TO undone;
INSERT INTO spanner.allocator (name, series, next_value) VALUES ('restored', '{x}', 80), ('restored', '{y}', 1);
COMMIT;
INSERT INTO spanner.allocator (allocator_id, name, next_value, mode, owner_role)
  VALUES (1, 'restored', 5, 'sync', current_user::regrole);
INSERT INTO spanner.allocator (name, next_value, mode, owner_role)
  VALUES ('restored', 9, 'batch', current_user::regrole), ('restored', 7, 'batch', current_user::regrole);
BEGIN;
SELECT spanner.next_value('restored', 'y') AS y, spanner.next_value('restored', 'y') AS y;
INSERT INTO spanner.allocator (name, series, next_value) VALUES ('restored', '{y}', 79);
SELECT spanner.next_value('restored', 'y') AS y;
COMMIT;
RESET check_function_bodies;
SELECT spanner.next_value('restored') AS itself, spanner.next_value('restored', 'x') AS x,
       spanner.next_value('restored', 'y') AS y;
SELECT mode, allocator_id > 1 AS has_own_id FROM spanner.allocator WHERE name = 'restored' AND series = '{}';

-- a name is that of all rows
SELECT spanner.rename_allocator('restored', 'renamed');
SELECT spanner.next_value('renamed', 'x') AS x, spanner.next_value('renamed', 'begun') AS begun;
UPDATE spanner.allocator SET name = 'by hand' WHERE name = 'renamed' AND series = '{}';
SELECT spanner.next_value('by hand', 'x') AS x, spanner.next_value('by hand', 'begun') AS begun;
SELECT DISTINCT name FROM spanner.allocator WHERE name IN ('restored', 'renamed', 'by hand');

SELECT count(spanner.drop_allocator(name)) FROM spanner.allocator
 WHERE name IN ('s', 'c', 'gap', 'by hand') AND series = '{}';
SELECT count(*) FROM spanner.allocator WHERE series <> '{}';
DROP ROLE regress_se_owner;
