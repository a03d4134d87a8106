-- The extension as it is installed: schema, privileges, comments.

-- it is trusted, fixed to its schema, and needs no preloading
SELECT extname, extrelocatable, nspname
  FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
 WHERE extname = 'spanner_keys';
SELECT trusted, relocatable, schema
  FROM pg_available_extension_versions
 WHERE name = 'spanner_keys' AND version = '1.0';

-- everybody may use the schema and call its functions
SELECT has_schema_privilege('public', 'spanner', 'USAGE') AS usage,
       has_schema_privilege('public', 'spanner', 'CREATE') AS creation;
SELECT proname
  FROM pg_proc
 WHERE pronamespace = 'spanner'::regnamespace
   AND NOT has_function_privilege('public', oid, 'EXECUTE');

-- every object has a comment
SELECT pg_describe_object(classid, objid, objsubid)
  FROM pg_depend
 WHERE refclassid = 'pg_extension'::regclass
   AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'spanner_keys')
   AND deptype = 'e' AND classid <> 'pg_type'::regclass
   AND obj_description(objid, classid::regclass::name) IS NULL
 ORDER BY 1;

-- volatility and parallel safety of every function
SELECT p.oid::regprocedure, provolatile, proparallel, proisstrict,
       proleakproof, prosupport
  FROM pg_proc p
 WHERE pronamespace = 'spanner'::regnamespace
 ORDER BY p.oid::regprocedure::text COLLATE "C";

-- the prefix of our own settings is reserved, that of Spanner's is not
SELECT spanner.bit_reverse(1, true);
SET spanner_keys.nonsense = 1;
SET spanner.retry_aborts_internally = false;

-- CASCADE takes the default of a domain back, not its columns
SELECT spanner.create_sequence('install_seq', 'striped');
CREATE DOMAIN install_domain AS bigint DEFAULT nextval('install_seq') + 0 * nextval('install_seq');
CREATE TABLE install_table (id install_domain, other bigint DEFAULT nextval('install_seq'));
INSERT INTO install_table VALUES (1, 2);
DROP EXTENSION spanner_keys;
DROP EXTENSION spanner_keys CASCADE;
SELECT typdefault FROM pg_type WHERE typname = 'install_domain';
INSERT INTO install_table DEFAULT VALUES;
SELECT * FROM install_table ORDER BY id;
DROP TABLE install_table;
DROP DOMAIN install_domain;
DROP SEQUENCE install_seq;
CREATE EXTENSION spanner_keys;

-- the same if its schema or its owner's objects are dropped
SELECT spanner.create_sequence('install_seq', 'striped');
CREATE DOMAIN install_domain AS bigint DEFAULT nextval('install_seq');
DROP SCHEMA spanner CASCADE;
CREATE EXTENSION spanner_keys;
CREATE ROLE regress_spanner_owner SUPERUSER;
ALTER SCHEMA spanner OWNER TO regress_spanner_owner;
ALTER DOMAIN install_domain SET DEFAULT spanner.nextval('install_seq');
DROP OWNED BY regress_spanner_owner CASCADE;
SELECT typdefault FROM pg_type WHERE typname = 'install_domain';
DROP ROLE regress_spanner_owner;
DROP DOMAIN install_domain;
DROP SEQUENCE install_seq;
CREATE EXTENSION spanner_keys;

-- the schema stays behind, and one that is there already serves as well
DROP EXTENSION spanner_keys;
DROP SCHEMA spanner;
CREATE SCHEMA spanner;
CREATE EXTENSION spanner_keys;
SELECT spanner.bit_reverse(100, true);
