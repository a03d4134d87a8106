/* src/splits/stats.sql */

--
-- Splits: how full they are
--

-- Count rows, with the rights of the owner of the table if the caller has them.
CREATE FUNCTION spanner_internal.count_rows(relation regclass, outside boolean)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_count_rows'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL RESTRICTED;

-- Privileges are checked first: who may not read the table waits for no lock.  The constraints of
-- partitions are left alone, since they can call functions of another owner.
CREATE FUNCTION spanner.split_stats(
  relation regclass,
  exact boolean DEFAULT false,
  OUT split integer,
  OUT partition regclass,
  OUT server name,
  OUT range text,
  OUT rows bigint,
  OUT counted boolean,
  OUT size bigint,
  OUT inserts bigint,
  OUT reachable boolean,
  OUT error text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET constraint_exclusion = off
AS $$
#variable_conflict use_variable
DECLARE
  schemaname name;
  tablename name;
  facts jsonb;
BEGIN
  FOR split, partition, server, range, schemaname, tablename, rows, size, inserts, error IN
    SELECT s.split, s.partition, s.server, s.range, s.schemaname, s.tablename,
           NULL, NULL, NULL, NULL
      FROM spanner_internal.list_splits(relation) s
  LOOP
    counted := coalesce(exact, false);
    IF counted AND NOT has_any_column_privilege(partition, 'SELECT') THEN
      RAISE insufficient_privilege USING
        MESSAGE = format('permission denied for %stable %s',
                         CASE WHEN server IS NOT NULL THEN 'foreign ' END,
                         (SELECT relname FROM pg_class WHERE oid = partition));
    END IF;
    BEGIN
      facts := spanner_internal.ask_server(server, schemaname, tablename) -> 'table';
      size := (facts ->> 'size')::bigint;
      inserts := (facts ->> 'inserts')::bigint;
      IF NOT counted THEN
        rows := (facts ->> 'rows')::bigint;
      ELSE
        IF server IS NOT NULL THEN
          PERFORM spanner_internal.check_foreign_table(partition);
        END IF;
        rows := spanner_internal.count_rows(partition, false);
      END IF;
      IF jsonb_typeof(facts) IS DISTINCT FROM 'object' AND NOT counted THEN
        error := format('table "%s.%s" does not exist there', schemaname, tablename);
      END IF;
    EXCEPTION WHEN OTHERS THEN
      IF server IS NULL THEN
        RAISE;
      END IF;
      error := SQLERRM;
      counted := false;
    END;
    reachable := error IS NULL;
    RETURN NEXT;
  END LOOP;
END
$$;

COMMENT ON FUNCTION spanner.split_stats(regclass, boolean)
  IS 'server, range, rows (counted or estimated), size in bytes and inserts of each partition,'
     ' and why a server does not answer';
