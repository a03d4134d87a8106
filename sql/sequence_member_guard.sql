-- The objects of the extension are not renamed, moved or taken out of it, by
-- superusers neither; everything else of them can be changed.

CREATE SCHEMA test_member_guard;
CREATE FUNCTION test_member_guard.attempt(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE command;
  RETURN 'done';
EXCEPTION WHEN OTHERS THEN
  RETURN sqlstate || ' ' || sqlerrm;
END $$;

SELECT c.command, test_member_guard.attempt(c.command) FROM (VALUES
  ('ALTER SCHEMA spanner RENAME TO elsewhere'),
  ('ALTER SCHEMA spanner_internal RENAME TO elsewhere'),
  ('ALTER FUNCTION spanner.nextval(regclass) RENAME TO elsewhere'),
  ('ALTER FUNCTION spanner.nextval(regclass) SET SCHEMA test_member_guard'),
  ('ALTER FUNCTION spanner_internal.may_draw(regclass, regprocedure) SET SCHEMA public'),
  ('ALTER ROUTINE spanner.shard_id(integer, "any") RENAME TO elsewhere'),
  ('ALTER ROUTINE spanner.convert_all(name, text, boolean) SET SCHEMA public'),
  ('ALTER TABLE spanner.allocator RENAME TO elsewhere'),
  ('ALTER TABLE spanner.allocator SET SCHEMA public'),
  ('ALTER INDEX spanner.allocator RENAME TO elsewhere'),
  ('ALTER TABLE spanner.sequences RENAME TO elsewhere'),
  ('ALTER VIEW spanner.sequences SET SCHEMA public'),
  ('ALTER VIEW spanner.shard_keys RENAME TO elsewhere'),
  ('ALTER SEQUENCE spanner.allocator_id RENAME TO elsewhere'),
  ('ALTER TYPE spanner_internal.advisor_facts RENAME TO elsewhere'),
  ('ALTER TYPE spanner_internal.advisor_table SET SCHEMA public'),
  ('ALTER EXTENSION spanner_keys SET SCHEMA public'),
  ('ALTER EXTENSION spanner_keys DROP SCHEMA spanner'),
  ('ALTER EXTENSION spanner_keys DROP FUNCTION spanner.nextval(regclass)'),
  ('ALTER EXTENSION spanner_keys DROP VIEW spanner.sequences'),
  ('ALTER EXTENSION spanner_keys ADD SCHEMA test_member_guard'),
  ('ALTER FUNCTION spanner.execute_ddl(text, text) RENAME TO elsewhere'),
  ('ALTER FUNCTION spanner.check_splits(regclass) SET SCHEMA public'),
  ('ALTER EXTENSION spanner_keys_ddl DROP FUNCTION spanner.execute_ddl(text, text)'),
  ('ALTER EXTENSION spanner_keys_splits ADD SCHEMA test_member_guard'),
  ('ALTER EXTENSION nothing DROP SCHEMA spanner'),
  ('ALTER TABLE IF EXISTS spanner.nothing RENAME TO elsewhere')) c (command);

-- the whole message
ALTER SCHEMA spanner RENAME TO elsewhere;
ALTER EXTENSION spanner_keys DROP FUNCTION spanner.nextval(regclass);

-- what keeps its name and place may be changed, as may what is not a member
CREATE FUNCTION spanner.of_user() RETURNS int LANGUAGE sql RETURN 1;
CREATE TABLE spanner.of_user (id int);
CREATE TYPE spanner.kinds_of_user AS ENUM ('a');
BEGIN;
SELECT c.command, test_member_guard.attempt(c.command) FROM (VALUES
  ('ALTER FUNCTION spanner_internal.unmap_value(bigint, regclass) COST 10'),
  ('ALTER FUNCTION spanner_internal.unmap_value(bigint, regclass) OWNER TO CURRENT_USER'),
  ('ALTER TABLE spanner.allocator SET (fillfactor = 30)'),
  ('ALTER TABLE spanner.allocator ADD COLUMN note text'),
  ('ALTER SCHEMA spanner OWNER TO CURRENT_USER'),
  ('ALTER FUNCTION spanner.of_user() RENAME TO renamed'),
  ('ALTER FUNCTION spanner.renamed() SET SCHEMA test_member_guard'),
  ('ALTER TABLE spanner.of_user RENAME TO renamed'),
  ('ALTER TABLE spanner.renamed SET SCHEMA test_member_guard'),
  ('ALTER TYPE spanner.kinds_of_user RENAME TO renamed'),
  ('ALTER TYPE spanner.renamed SET SCHEMA public')) c (command);
SELECT spanner.create_allocator('guarded', 'sync') > 0 AS created, spanner.next_value('guarded');
ROLLBACK;
DROP FUNCTION spanner.of_user();
DROP TABLE spanner.of_user;
DROP TYPE spanner.kinds_of_user;

-- a number that could not be written is not given
BEGIN;
SELECT spanner.create_allocator('lost', 'sync') > 0 AS created, spanner.next_value('lost');
ALTER TABLE spanner.allocator DROP COLUMN usage_roles;
COMMIT;
SELECT count(*) FROM spanner.allocator WHERE name = 'lost';

SET client_min_messages = warning;
DROP SCHEMA test_member_guard CASCADE;
