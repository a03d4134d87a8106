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

-- the schema stays behind, and one that is there already serves as well
DROP EXTENSION spanner_keys;
DROP SCHEMA spanner;
CREATE SCHEMA spanner;
CREATE EXTENSION spanner_keys;
SELECT spanner.bit_reverse(100, true);
