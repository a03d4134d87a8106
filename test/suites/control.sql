-- control.sql
--	  Spread ids without the extension: what fails with these as well is a test
--	  that wants ids 1, 2, 3, or in this order.
--
-- A new sequence of which nothing was asked counts down from the middle of its
-- type, in steps, or with spread_ids.bits = 31 from that of an integer.  A restart
-- at n, as of fixtures, is one after n such steps.  Nothing else of the schema
-- differs from a plain database.
--
-- test/suites/control.sql

-- A suite may drop all schemas.
SET allow_system_table_mods = on;

CREATE FUNCTION pg_catalog.spread_ids() RETURNS event_trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  s record;
  next bigint;
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
  FOR s IN
    SELECT c.objid, c.object_identity, q.seqstart, q.seqincrement
      FROM pg_event_trigger_ddl_commands() c
      JOIN pg_sequence q ON q.seqrelid = c.objid
     WHERE c.command_tag = 'ALTER SEQUENCE'
       AND q.seqincrement IN (-3, -1009)
  LOOP
    EXECUTE format('SELECT last_value FROM %s WHERE NOT is_called', s.object_identity) INTO next;
    IF next BETWEEN 1 AND 1000 THEN
      PERFORM setval(s.objid, s.seqstart + s.seqincrement * next, false);
    END IF;
  END LOOP;
END
$$;

CREATE EVENT TRIGGER spread_ids
  ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE', 'CREATE SEQUENCE', 'ALTER SEQUENCE')
  EXECUTE FUNCTION pg_catalog.spread_ids();
