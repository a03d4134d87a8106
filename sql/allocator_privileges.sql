-- Who may do what with allocators.

CREATE ROLE regress_al_owner;
CREATE ROLE regress_al_user;
CREATE ROLE regress_al_member IN ROLE regress_al_user;
CREATE ROLE regress_al_other;

-- it takes CREATE on the database, or the function
SET ROLE regress_al_owner;
SELECT spanner.create_allocator('owned', mode => 'batch') > 0 AS id;
RESET ROLE;
GRANT EXECUTE ON FUNCTION spanner.create_allocator TO regress_al_owner;

-- everybody can read the table, and write it only through the functions
SET ROLE regress_al_owner;
SELECT spanner.create_allocator('owned', mode => 'batch') > 0 AS id;
SELECT name, mode, owner_role FROM spanner.allocator WHERE name = 'owned';
INSERT INTO spanner.allocator (name, owner_role) VALUES ('x', 'regress_al_owner');
UPDATE spanner.allocator SET next_value = 1;
TRUNCATE spanner.allocator;
CREATE TRIGGER x AFTER UPDATE ON spanner.allocator FOR EACH ROW EXECUTE FUNCTION spanner_internal.on_allocator_write();
SELECT spanner.next_value('owned');

-- the owner
SET ROLE regress_al_other;
SELECT spanner.next_value('owned');
SELECT spanner.next_values('owned', 2);
SELECT spanner.reserve_block('owned', 2);
SELECT spanner.alter_allocator('owned', batch_size => 1);
SELECT spanner.rename_allocator('owned', 'mine');
SELECT spanner.drop_allocator('owned');
SELECT spanner.grant_allocator('owned', 'regress_al_other');
SELECT spanner.revoke_allocator('owned');
SELECT spanner.advance_allocator('owned', 1000);
SELECT spanner.reset_allocator('owned', 1000);
SELECT spanner.release_allocator('owned');

-- a role that may draw, and its members, in a session that has drawn before
SET ROLE regress_al_owner;
SELECT spanner.grant_allocator('owned', 'regress_al_user');
SET ROLE regress_al_user;
SELECT spanner.next_value('owned');
SELECT spanner.drop_allocator('owned');
SET ROLE regress_al_member;
SELECT spanner.next_value('owned');
SET ROLE regress_al_other;
SELECT spanner.next_value('owned');
RESET ROLE;
REVOKE regress_al_user FROM regress_al_member;
SET ROLE regress_al_member;
SELECT spanner.next_value('owned');
SET ROLE regress_al_owner;
SELECT spanner.grant_allocator('owned', 'public');
SET ROLE regress_al_other;
SELECT spanner.next_value('owned');
SET ROLE regress_al_owner;
SELECT spanner.revoke_allocator('owned', 'public');
SET ROLE regress_al_other;
SELECT spanner.next_value('owned');
SET ROLE regress_al_user;
SELECT spanner.next_value('owned') > 0 AS still;

-- several roles, and one of them less
SET ROLE regress_al_owner;
SELECT spanner.grant_allocator('owned', 'regress_al_other');
SELECT spanner.grant_allocator('owned', 'regress_al_other');
RESET ROLE;
SELECT usage_roles FROM spanner.allocator WHERE name = 'owned';
SET ROLE regress_al_other;
SELECT spanner.next_value('owned') > 0 AS granted;
SET ROLE regress_al_owner;
SELECT spanner.revoke_allocator('owned', 'regress_al_user');
SET ROLE regress_al_user;
SELECT spanner.next_value('owned');
SET ROLE regress_al_other;
SELECT spanner.next_value('owned') > 0 AS granted;
SET ROLE regress_al_owner;
SELECT spanner.revoke_allocator('owned');
SET ROLE regress_al_other;
SELECT spanner.next_value('owned');

-- a role that somebody has written twice
RESET ROLE;
UPDATE spanner.allocator SET usage_roles = '{regress_al_user,regress_al_other,regress_al_user}'
 WHERE name = 'owned';
SET ROLE regress_al_owner;
SELECT spanner.revoke_allocator('owned', 'regress_al_user');
RESET ROLE;
SELECT usage_roles FROM spanner.allocator WHERE name = 'owned';
SET ROLE regress_al_owner;
SELECT spanner.revoke_allocator('owned');

-- a new owner, which one has to be able to become
SET ROLE regress_al_owner;
\set VERBOSITY sqlstate
SELECT spanner.alter_allocator('owned', owner_role => 'regress_al_other');
\set VERBOSITY default
RESET ROLE;
SELECT spanner.alter_allocator('owned', owner_role => 'regress_al_other');
SET ROLE regress_al_other;
SELECT spanner.next_value('owned');
SET ROLE regress_al_owner;
SELECT spanner.next_value('owned');

-- what the search path offers is not used
RESET ROLE;
CREATE SCHEMA regress_al_trap;
CREATE FUNCTION regress_al_trap.trap(text, text) RETURNS boolean LANGUAGE plpgsql
  AS $$BEGIN RAISE EXCEPTION 'trapped'; END$$;
CREATE OPERATOR regress_al_trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = regress_al_trap.trap);
SET search_path = regress_al_trap, pg_catalog;
SELECT spanner.create_allocator('path') > 0 AS id;
SELECT spanner.next_value('path');
SELECT "values" FROM spanner.stat_allocator WHERE stat_allocator.name OPERATOR(pg_catalog.=) 'path';
RESET search_path;

-- a trigger on the table runs as the owner of the table, in sessions as in the worker
CREATE TABLE regress_al_trap.seen (who name, super text);
GRANT USAGE ON SCHEMA regress_al_trap TO PUBLIC;
GRANT INSERT ON regress_al_trap.seen TO PUBLIC;
CREATE FUNCTION regress_al_trap.look() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO regress_al_trap.seen VALUES (current_user, current_setting('is_superuser'));
  RETURN NEW;
END $$;
SELECT relowner::regrole::text AS table_owner FROM pg_class WHERE oid = 'spanner.allocator'::regclass \gset
ALTER TABLE spanner.allocator OWNER TO regress_al_owner;
GRANT USAGE ON SCHEMA spanner TO regress_al_owner;
CREATE TRIGGER look BEFORE UPDATE ON spanner.allocator FOR EACH ROW EXECUTE FUNCTION regress_al_trap.look();
SELECT spanner.create_allocator('seen', mode => 'batch') > 0 AS id, spanner.create_allocator('seen2', mode => 'sync') > 0;
SELECT spanner.next_value('seen'), spanner.next_value('seen2');
SELECT DISTINCT who FROM regress_al_trap.seen;
DROP TRIGGER look ON spanner.allocator;
ALTER TABLE spanner.allocator OWNER TO :table_owner;

REVOKE USAGE ON SCHEMA spanner FROM regress_al_owner;
SET client_min_messages = warning;
SELECT spanner.drop_allocator(n) FROM unnest('{owned,path,seen,seen2}'::text[]) n;
DROP SCHEMA regress_al_trap CASCADE;
REVOKE EXECUTE ON FUNCTION spanner.create_allocator FROM regress_al_owner;
DROP ROLE regress_al_owner, regress_al_user, regress_al_member, regress_al_other;
