-- What commands read of the catalogs because of the extension. What they can
-- make or change is looked at by its OID, and by no query.
CREATE SCHEMA dc;
SET search_path = dc;

-- how often a command scans each catalog and index
CREATE FUNCTION scans(command text) RETURNS TABLE (relation oid, scans bigint)
LANGUAGE plpgsql AS $$
DECLARE
  relations oid[] := ARRAY(SELECT oid FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace);
  before bigint[];
BEGIN
  -- the first time fills the caches
  EXECUTE command;
  before := ARRAY(SELECT pg_stat_get_xact_numscans(r) FROM unnest(relations) r);
  EXECUTE command;
  RETURN QUERY
    SELECT r, pg_stat_get_xact_numscans(r) - b
      FROM unnest(relations, before) AS both_lists (r, b)
     WHERE pg_stat_get_xact_numscans(r) > b;
END $$;

CREATE FUNCTION more_scans(command text) RETURNS TABLE (catalog text, more bigint)
LANGUAGE plpgsql AS $$
BEGIN
  CREATE TEMP TABLE with_triggers AS SELECT * FROM scans(command);
  ALTER EVENT TRIGGER spanner_keys_ddl_command_start DISABLE;
  ALTER EVENT TRIGGER "!spanner_keys_ddl_command_end" DISABLE;
  RETURN QUERY
    SELECT w.relation::regclass::text, w.scans - coalesce(s.scans, 0)
      FROM with_triggers w
      LEFT JOIN scans(command) s USING (relation)
     WHERE w.scans > coalesce(s.scans, 0)
     ORDER BY 1;
  ALTER EVENT TRIGGER spanner_keys_ddl_command_start ENABLE ALWAYS;
  ALTER EVENT TRIGGER "!spanner_keys_ddl_command_end" ENABLE ALWAYS;
  DROP TABLE with_triggers;
END $$;

-- there is a bound sequence, and a default kind
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE t (id bigserial PRIMARY KEY, n text);

-- the caches of the functions are filled
SELECT count(*) < 100 AS ok FROM more_scans('ALTER TABLE dc.t DISABLE TRIGGER ALL');

-- what can neither make a sequence nor change a column reads nothing
SELECT * FROM more_scans('ALTER TABLE dc.t DISABLE TRIGGER ALL');
SELECT * FROM more_scans('ALTER TABLE dc.t ENABLE TRIGGER ALL, SET (fillfactor = 90)');
SELECT * FROM more_scans('ALTER TABLE dc.t ALTER n SET STATISTICS 10');
SELECT * FROM more_scans('ALTER TABLE dc.t REPLICA IDENTITY FULL, ENABLE ROW LEVEL SECURITY');

-- a column can be a shard, and its table then needs statistics
SELECT count(*) < 10 AS few FROM more_scans('ALTER TABLE dc.t ADD COLUMN a int; ALTER TABLE dc.t DROP COLUMN a');
SELECT count(*) < 5 AS few FROM more_scans('CREATE TABLE dc.u (id bigint, n text); DROP TABLE dc.u');

DROP SCHEMA dc CASCADE;
RESET spanner.default_sequence_kind;
