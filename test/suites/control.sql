-- control.sql
--	  Spread ids without the extension: what fails with these as well is a test
--	  that wants ids 1, 2, 3, or in this order.
--
-- A new sequence of which nothing was asked counts down from the middle of its
-- type, in steps, or with spread_ids.bits = 31 from that of an integer.  Nothing
-- else of the schema differs from a plain database.
--
-- test/suites/control.sql

CREATE SCHEMA spread_ids;

CREATE FUNCTION spread_ids.spread() RETURNS event_trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  s record;
BEGIN
  FOR s IN
    SELECT c.objid, c.object_identity, q.seqtypid::regtype AS type
      FROM pg_event_trigger_ddl_commands() c
      JOIN pg_sequence q ON q.seqrelid = c.objid
     WHERE c.command_tag = 'CREATE SEQUENCE'
       AND c.schema_name <> 'pg_temp'
       AND (q.seqstart, q.seqincrement, q.seqmin) = (1, 1, 1)
  LOOP
    EXECUTE format('ALTER SEQUENCE %s INCREMENT %s MINVALUE %s START %s RESTART', s.object_identity,
                   CASE s.type WHEN 'smallint'::regtype THEN -3 ELSE -1009 END,
                   CASE s.type WHEN 'smallint'::regtype THEN '-32768'
                               WHEN 'integer'::regtype THEN '-2147483648'
                               ELSE '-9223372036854775808' END,
                   CASE WHEN s.type = 'smallint'::regtype THEN '16384'
                        WHEN s.type = 'integer'::regtype
                          OR current_setting('spread_ids.bits', true) = '31' THEN '1073741824'
                        ELSE '4611686018427387904' END);
  END LOOP;
END
$$;

CREATE EVENT TRIGGER spread_ids
  ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE', 'CREATE SEQUENCE')
  EXECUTE FUNCTION spread_ids.spread();
