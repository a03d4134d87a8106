-- Roles that allocators name: what DROP ROLE and DROP OWNED know of them.

CREATE ROLE regress_ar_owner;
CREATE ROLE regress_ar_heir;
CREATE ROLE regress_ar_user;
SET client_min_messages = warning;

CREATE FUNCTION pg_temp.grantees() RETURNS text LANGUAGE sql AS
  $$SELECT array_agg(a.grantee::regrole ORDER BY a.grantee::regrole::text)::text
      FROM pg_attribute, aclexplode(attacl) a
     WHERE attrelid = 'spanner.allocator'::regclass AND attname = 'owner_role'$$;

-- neither an owner nor a role that may draw can be dropped
SELECT count(spanner.create_allocator(n)) FROM unnest('{ar1,ar2}'::text[]) n;
SELECT spanner.alter_allocator('ar1', owner_role => 'regress_ar_heir'), spanner.alter_allocator('ar2', owner_role => 'regress_ar_owner');
SELECT spanner.grant_allocator(n, 'regress_ar_user') FROM unnest('{ar1,ar2}'::text[]) n;
SELECT spanner.grant_allocator('ar1', 'public');
SELECT pg_temp.grantees();
DROP ROLE regress_ar_owner;
DROP ROLE regress_ar_user;

-- the privilege allows nothing
GRANT USAGE ON SCHEMA spanner TO regress_ar_owner;
CREATE SCHEMA regress_ar AUTHORIZATION regress_ar_owner;
SET ROLE regress_ar_owner;
CREATE TABLE regress_ar.t (r regrole REFERENCES spanner.allocator (owner_role));
RESET ROLE;
DROP SCHEMA regress_ar;
REVOKE USAGE ON SCHEMA spanner FROM regress_ar_owner;

-- DROP OWNED takes the right to draw away, not allocators; also for the role itself
SET ROLE regress_ar_user;
\set VERBOSITY sqlstate
DROP OWNED BY regress_ar_owner;
\set VERBOSITY default
DROP OWNED BY regress_ar_user;
RESET ROLE;
SELECT name, usage_roles::regrole[] FROM spanner.allocator WHERE name IN ('ar1', 'ar2') ORDER BY name;
DROP ROLE regress_ar_user;
REASSIGN OWNED BY regress_ar_owner TO regress_ar_heir;
DROP OWNED BY regress_ar_owner;
DROP OWNED BY regress_ar_owner CASCADE;
SELECT spanner.alter_allocator('ar2', owner_role => 'regress_ar_heir');
SELECT pg_temp.grantees();
DROP OWNED BY regress_ar_owner;
DROP ROLE regress_ar_owner;

-- the last allocator of a role
SELECT spanner.drop_allocator('ar1');
DROP ROLE regress_ar_heir;
BEGIN;
SELECT spanner.drop_allocator('ar2');
ROLLBACK;
DROP ROLE regress_ar_heir;
SELECT spanner.drop_allocator('ar2');
DROP ROLE regress_ar_heir;
SELECT pg_temp.grantees();

-- rows that are written by hand, and a rollback of the first one
CREATE ROLE regress_ar_owner;
CREATE ROLE regress_ar_user;
BEGIN;
INSERT INTO spanner.allocator (name, owner_role) VALUES ('ar1', 'regress_ar_owner');
ROLLBACK;
DROP ROLE regress_ar_owner;
CREATE ROLE regress_ar_owner;
INSERT INTO spanner.allocator (name, owner_role, usage_roles) VALUES ('ar1', 'regress_ar_owner', '{regress_ar_user}');
DROP ROLE regress_ar_owner;
UPDATE spanner.allocator SET usage_roles = NULL WHERE name = 'ar1';
DROP ROLE regress_ar_user;
DELETE FROM spanner.allocator WHERE name = 'ar1';
DROP ROLE regress_ar_owner;
SELECT pg_temp.grantees();

-- what everybody may do with the column makes no role depend on it
GRANT SELECT (owner_role) ON spanner.allocator TO PUBLIC;
SELECT spanner.create_allocator('ar1', 'async') > 0;
SELECT spanner.drop_allocator('ar1');
REVOKE SELECT (owner_role) ON spanner.allocator FROM PUBLIC;
