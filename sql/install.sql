-- The extensions as they are installed: schema, privileges, comments.

-- in a database of its own: other tests leave what needs the extensions
SELECT current_database() AS former \gset
CREATE DATABASE regress_install TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';
\c regress_install
CREATE EXTENSION spanner_keys;
CREATE EXTENSION spanner_keys_ddl;
CREATE EXTENSION spanner_keys_advisor;
CREATE EXTENSION spanner_keys_splits;

-- they are fixed to their schema, and need no preloading
SELECT extname, extrelocatable, nspname
  FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
 WHERE extname ~ '^spanner_keys'
 ORDER BY extname;

-- three require the first, and none of the three another one
SELECT e.extname, r.extname AS requires
  FROM pg_depend d
  JOIN pg_extension e ON d.classid = 'pg_extension'::regclass AND e.oid = d.objid
  JOIN pg_extension r ON d.refclassid = 'pg_extension'::regclass AND r.oid = d.refobjid
 WHERE e.extname ~ '^spanner_keys'
 ORDER BY e.extname;

-- who wants a sequence does not get the tools
SELECT count(*) <= 110 AS is_small
  FROM pg_depend
 WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
   AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'spanner_keys');

-- everybody may use the schemas and call their functions, but for these
SELECT s, has_schema_privilege('public', s, 'USAGE') AS usage,
       has_schema_privilege('public', s, 'CREATE') AS creation
  FROM unnest('{spanner,spanner_internal}'::name[]) s;
SELECT oid::regproc
  FROM pg_proc
 WHERE pronamespace::regnamespace::text ~ '^spanner'
   AND NOT has_function_privilege('public', oid, 'EXECUTE')
 ORDER BY oid::regproc::text COLLATE "C";
-- whatever nobody calls but the server is not for everybody, but for triggers that Spanner's DDL makes
SELECT oid::regprocedure
  FROM pg_proc p
 WHERE pronamespace = 'spanner_internal'::regnamespace
   AND (prorettype IN ('trigger'::regtype, 'event_trigger'::regtype) OR 'internal'::regtype = ANY (proargtypes))
   AND has_function_privilege('public', oid, 'EXECUTE')
 ORDER BY oid::regprocedure::text COLLATE "C";

-- every object that users see has a comment
SELECT i.type, i.identity
  FROM pg_depend d, pg_identify_object(d.classid, d.objid, d.objsubid) i
 WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
   AND d.refobjid IN (SELECT oid FROM pg_extension WHERE extname ~ '^spanner_keys')
   AND d.classid <> 'pg_type'::regclass
   AND (i.schema = 'spanner' AND i.type <> 'sequence' OR i.type = 'schema')
   AND obj_description(d.objid, d.classid::regclass::name) IS NULL
 ORDER BY i.type, i.identity COLLATE "C";

-- functions for users, their volatility and parallel safety
SELECT substr(e.extname, 13) AS extension, p.oid::regprocedure, provolatile, proparallel,
       proisstrict, proleakproof, prosupport
  FROM pg_proc p
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                  AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid
 WHERE pronamespace = 'spanner'::regnamespace
 ORDER BY e.extname, p.oid::regprocedure::text COLLATE "C";

-- those that only the extension calls; which names need quotes depends on the release
SELECT substr(e.extname, 13) AS extension, translate(p.oid::regprocedure::text, '"', '') AS oid,
       provolatile, proparallel, proisstrict, proleakproof, prosupport
  FROM pg_proc p
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                  AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid
 WHERE pronamespace = 'spanner_internal'::regnamespace
 ORDER BY e.extname, translate(p.oid::regprocedure::text, '"', '') COLLATE "C";

-- bodies in SQL and PL/pgSQL can be read, which CREATE EXTENSION does not look at
SET check_function_bodies = on;
SELECT CASE l.lanname WHEN 'sql' THEN fmgr_sql_validator(p.oid) ELSE plpgsql_validator(p.oid) END
  FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang AND l.lanname = ANY ('{sql,plpgsql}')
 WHERE pronamespace::regnamespace::text ~ '^spanner'
OFFSET 1000;

-- the prefix of our own settings is reserved, that of Spanner's is not
SELECT spanner.bit_reverse(1, true);
SET spanner_keys.nonsense = 1;
SET spanner.retry_aborts_internally = false;

-- the schemas belong to the extension
DROP SCHEMA spanner;
DROP SCHEMA spanner CASCADE;
DROP SCHEMA spanner_internal CASCADE;
CREATE SCHEMA spanner;

-- core's functions ask ours, and nothing that is stored does
SELECT oid::regprocedure FROM pg_proc
 WHERE prosupport = 'spanner_internal.sequence_support'::regproc ORDER BY pg_proc.oid;
SELECT spanner.create_sequence('install_seq', 'striped');
CREATE DOMAIN install_domain AS bigint DEFAULT nextval('install_seq') + 0 * nextval('install_seq');
CREATE TABLE install_table (id install_domain, other bigint DEFAULT nextval('install_seq'));
INSERT INTO install_table DEFAULT VALUES RETURNING id > 2 ^ 40 AS id, other > 2 ^ 40 AS other;

-- each of the others goes alone, and the first with what requires it
DROP EXTENSION spanner_keys_splits;
DROP EXTENSION spanner_keys_advisor;
DROP EXTENSION spanner_keys_ddl;
SELECT p.oid::regprocedure
  FROM pg_proc p
 WHERE pronamespace::regnamespace::text ~ '^spanner'
   AND NOT EXISTS (SELECT FROM pg_depend d
                    WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e');

-- without the extension the same takes the plain counter
BEGIN;
DROP EXTENSION spanner_keys;
INSERT INTO install_table DEFAULT VALUES RETURNING *;
SELECT nextval('install_seq'), currval('install_seq'), lastval();
SELECT count(*) FROM pg_proc WHERE prosupport <> 0 AND proname ~ '^(next|curr|last|set)val$';
SELECT count(*) FROM pg_seclabel WHERE provider = 'spanner_keys';
ROLLBACK;
SELECT nextval('install_seq') > 2 ^ 40 AS mapped;
DROP EXTENSION spanner_keys;
INSERT INTO install_table DEFAULT VALUES RETURNING *;
SELECT count(*) FROM pg_namespace WHERE nspname ~ '^spanner';
SECURITY LABEL FOR spanner_keys ON SEQUENCE install_seq IS 'striped';
SECURITY LABEL FOR spanner_keys ON SEQUENCE install_seq IS NULL;

-- a schema that is there already is not taken
CREATE SCHEMA spanner;
\set SHOW_CONTEXT never
CREATE EXTENSION spanner_keys;
\set SHOW_CONTEXT errors
DROP SCHEMA spanner;
CREATE SCHEMA spanner_internal;
\set SHOW_CONTEXT never
CREATE EXTENSION spanner_keys;
\set SHOW_CONTEXT errors
DROP SCHEMA spanner_internal;
CREATE EXTENSION spanner_keys;

-- it goes with what its owner owns
CREATE ROLE regress_spanner_owner SUPERUSER;
DROP EXTENSION spanner_keys;
SET ROLE regress_spanner_owner;
CREATE EXTENSION spanner_keys;
RESET ROLE;
DROP OWNED BY regress_spanner_owner CASCADE;
SELECT count(*) FROM pg_proc WHERE prosupport <> 0 AND proname ~ '^(next|curr|last|set)val$';
DROP ROLE regress_spanner_owner;
DROP TABLE install_table;
DROP DOMAIN install_domain;
DROP SEQUENCE install_seq;
CREATE EXTENSION spanner_keys;
SELECT spanner.bit_reverse(100, true);

-- each of the others brings the first, and one script cannot be run without it
DROP EXTENSION spanner_keys;
CREATE EXTENSION spanner_keys_advisor;
CREATE EXTENSION spanner_keys_advisor CASCADE;
CREATE EXTENSION spanner_keys_splits;
CREATE EXTENSION spanner_keys_ddl;
DROP EXTENSION spanner_keys CASCADE;
CREATE EXTENSION spanner_keys;
CREATE EXTENSION spanner_keys_ddl;
CREATE EXTENSION spanner_keys_advisor;
CREATE EXTENSION spanner_keys_splits;
\c :"former"
DROP DATABASE regress_install;
