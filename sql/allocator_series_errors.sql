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
SELECT allocator_id AS id FROM spanner.allocator WHERE name = 's' \gset
INSERT INTO spanner.allocator (parent_id, series, next_value) VALUES (:id, '{hand}', 7);
SELECT spanner.next_value('s', 'hand');
INSERT INTO spanner.allocator (parent_id, series, next_value) VALUES (:id, '{hand}', 7);
INSERT INTO spanner.allocator (parent_id, series, next_value, mode) VALUES (:id, '{other}', 7, 'sync');
INSERT INTO spanner.allocator (parent_id, next_value) VALUES (:id, 7);
UPDATE spanner.allocator SET series = '{x}' WHERE name = 's';
UPDATE spanner.allocator SET owner_role = 'regress_se_owner' WHERE series = '{hand}';
UPDATE spanner.allocator SET next_value = 70 WHERE series = '{hand}';
SELECT spanner.next_value('s', 'hand');
UPDATE spanner.allocator SET next_value = 700 WHERE series = '{hand}';
SELECT spanner.next_value('s', 'hand');
DELETE FROM spanner.allocator WHERE series = '{hand}';
SELECT spanner.next_value('s', 'hand');

-- a new series after a promotion: others of its name may be lost
SELECT spanner.create_allocator('gap', 'batch', failover_gap => 500) > 0 AS created;
UPDATE spanner.allocator SET timeline = 99 WHERE name = 'gap';
SELECT spanner.next_value('gap', 'new');
SELECT spanner.advance_allocator('gap', 1);
SELECT spanner.next_value('gap', 'newer');
UPDATE spanner.allocator SET timeline = 99 WHERE name = 's';
SELECT spanner.next_value('s', 'new');

-- a series of a dump waits for its allocator, and a rollback forgets it
SET check_function_bodies = off;
BEGIN;
INSERT INTO spanner.allocator (allocator_id, next_value, parent_id, series) OVERRIDING SYSTEM VALUE VALUES (900001, 77, 900000, '{x}');
ROLLBACK;
BEGIN;
SAVEPOINT undone;
INSERT INTO spanner.allocator (allocator_id, next_value, parent_id, series) OVERRIDING SYSTEM VALUE VALUES (900002, 78, 900000, '{y}');
ROLLBACK TO undone;
SAVEPOINT kept;
INSERT INTO spanner.allocator (allocator_id, next_value, parent_id, series) OVERRIDING SYSTEM VALUE VALUES (900003, 79, 900000, '{z}');
RELEASE kept;
COMMIT;
BEGIN;
INSERT INTO spanner.allocator (allocator_id, name, next_value, mode, owner_role)
  OVERRIDING SYSTEM VALUE VALUES (900000, 'restored', 5, 'sync', current_user::regrole);
ROLLBACK;
INSERT INTO spanner.allocator (allocator_id, name, next_value, mode, owner_role)
  OVERRIDING SYSTEM VALUE VALUES (900000, 'restored', 5, 'sync', current_user::regrole);
RESET check_function_bodies;
SELECT spanner.next_value('restored', 'x') AS x, spanner.next_value('restored', 'y') AS y, spanner.next_value('restored', 'z') AS z;

SELECT count(spanner.drop_allocator(name)) FROM spanner.allocator WHERE name IN ('s', 'c', 'gap', 'restored');
SELECT count(*) FROM spanner.allocator WHERE parent_id IS NOT NULL;
DROP ROLE regress_se_owner;
