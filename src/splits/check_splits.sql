/* src/splits/check_splits.sql */

--
-- Splits: what is wrong with them, and what to do about their sizes
--

-- Sorted texts that one list has and the other does not have.
CREATE FUNCTION spanner_internal.missing_texts(wanted jsonb, found jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT string_agg(w, '; ' ORDER BY w)
    FROM (SELECT jsonb_array_elements_text(nullif(wanted, 'null'))
          EXCEPT SELECT jsonb_array_elements_text(nullif(found, 'null'))) x (w)
$$;

COMMENT ON FUNCTION spanner_internal.missing_texts(jsonb, jsonb)
  IS 'the elements of a list that another one does not have';

CREATE FUNCTION spanner.check_splits(
  relation regclass,
  OUT partition regclass,
  OUT server name,
  OUT finding text,
  OUT detail text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET constraint_exclusion = off
AS $$
#variable_conflict use_variable
DECLARE
  here jsonb := (SELECT spanner_internal.split_facts(NULL, n.nspname, c.relname)
                   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = relation);
  wanted constant jsonb := here -> 'table';
  asked name[] := '{}';
  part record;
  facts jsonb;
  there jsonb;
  outside bigint;
BEGIN
  FOR part IN SELECT * FROM spanner_internal.list_splits(relation)
  LOOP
    partition := part.partition;
    server := part.server;
    BEGIN
      facts := spanner_internal.split_facts(server, part.schemaname, part.tablename);
    EXCEPTION WHEN OTHERS THEN
      finding := 'not reachable';
      detail := SQLERRM;
      RETURN NEXT;
      CONTINUE;
    END;
    there := facts -> 'table';
    IF NOT coalesce(server = ANY (asked), false) THEN
      asked := asked || server;
      RETURN QUERY
        SELECT partition, server, f.finding, f.detail
          FROM (VALUES ('extension version', format('%s there, %s here', coalesce(facts ->> 'extension_version', 'none'), here ->> 'extension_version'),
                        facts -> 'extension_version' IS DISTINCT FROM here -> 'extension_version'),
                       ('wal_level', format('%s: no split can be moved from there', facts ->> 'wal_level'), facts ->> 'wal_level' <> 'logical'),
                       ('left by a move', (SELECT string_agg(m, ', ') FROM jsonb_array_elements_text(facts -> 'moves') m),
                        jsonb_array_length(facts -> 'moves') > 0)) f (finding, detail, is_so)
         WHERE f.is_so;
    END IF;
    CONTINUE WHEN server IS NULL;
    IF jsonb_typeof(there) IS DISTINCT FROM 'object' THEN
      finding := 'no table';
      detail := format('"%s.%s" is no table there; while a split is cut, it is a view', part.schemaname, part.tablename);
      RETURN NEXT;
      CONTINUE;
    END IF;
    RETURN QUERY
      SELECT partition, server, f.finding, f.detail
        FROM (VALUES ('column missing', spanner_internal.missing_texts(wanted -> 'columns', there -> 'columns')),
                     ('column not here', spanner_internal.missing_texts(there -> 'columns', wanted -> 'columns')),
                     ('check missing', spanner_internal.missing_texts(wanted -> 'checks', there -> 'checks')),
                     ('index missing', spanner_internal.missing_texts(wanted -> 'indexes', there -> 'indexes')),
                     ('key missing', CASE WHEN there -> 'keys' = '[]' THEN 'no primary key or unique constraint' END)) f (finding, detail)
       WHERE f.detail IS NOT NULL;
    IF NOT EXISTS (SELECT FROM jsonb_array_elements_text(there -> 'checks') c WHERE c ~ '_bounds"? CHECK' AND c !~ 'NOT VALID$') THEN
      outside := spanner_internal.count_rows(partition, format('(%s) IS NOT TRUE', pg_get_partition_constraintdef(partition)));
      finding := 'bounds not checked';
      detail := format('%s rows are outside of them', outside);
      RETURN NEXT;
    END IF;
  END LOOP;
END
$$;

COMMENT ON FUNCTION spanner.check_splits(regclass)
  IS 'how the tables behind foreign partitions differ from the partitioned one, and what moves have left';

CREATE FUNCTION spanner.split_advice(
  relation regclass,
  OUT partition regclass,
  OUT server name,
  OUT share_of_rows numeric,
  OUT share_of_inserts numeric,
  OUT finding text,
  OUT at text,
  OUT to_server name,
  OUT suggestion text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  part record;
BEGIN
  FOR part IN
    WITH stats AS (
      SELECT s.split, s.partition, s.server, s.rows::numeric / nullif(sum(s.rows) OVER (), 0) AS row_share,
             s.inserts::numeric / nullif(sum(s.inserts) OVER (), 0) AS insert_share
        FROM spanner.split_stats(relation) s),
    servers AS (
      SELECT DISTINCT s.server FROM stats s
      UNION
      SELECT f.srvname FROM pg_foreign_server f JOIN pg_foreign_data_wrapper w ON w.oid = f.srvfdw
       WHERE w.fdwname = 'postgres_fdw' AND has_server_privilege(f.oid, 'USAGE')),
    load AS (
      SELECT v.server, coalesce(sum(s.row_share + coalesce(s.insert_share, s.row_share)), 0) AS load
        FROM servers v LEFT JOIN stats s ON s.server IS NOT DISTINCT FROM v.server GROUP BY v.server)
    SELECT s.*, (SELECT count(*) FROM servers) AS servers,
           (SELECT l.server FROM load l ORDER BY l.load, l.server LIMIT 1) AS least,
           (SELECT count(*) FROM stats o WHERE o.server IS NOT DISTINCT FROM s.server) AS splits_there,
           (SELECT l.load / 2 FROM load l WHERE l.server IS NOT DISTINCT FROM s.server) AS server_share
      FROM stats s ORDER BY s.split
  LOOP
    CONTINUE WHEN part.servers < 2 OR part.server IS NOT DISTINCT FROM part.least
      OR greatest(part.row_share, part.insert_share, part.server_share) * part.servers < 1.5;
    partition := part.partition;
    server := part.server;
    share_of_rows := round(part.row_share, 3);
    share_of_inserts := round(part.insert_share, 3);
    to_server := part.least;
    at := NULL;
    IF greatest(part.row_share, part.insert_share) * part.servers >= 1.5 THEN
      finding := format('has %s times its share of %s', round(greatest(part.row_share, part.insert_share) * part.servers, 1),
                        CASE WHEN part.insert_share > part.row_share THEN 'inserts' ELSE 'rows' END);
      BEGIN
        at := (SELECT p FROM spanner.split_points(partition, 2) p LIMIT 1);
      EXCEPTION WHEN object_not_in_prerequisite_state OR wrong_object_type OR datatype_mismatch THEN
        finding := finding || format('; cannot tell where to cut it: %s', SQLERRM);
      END;
    ELSE
      CONTINUE WHEN part.splits_there < 2;
      finding := format('is on a server that has %s times its share', round(part.server_share * part.servers, 1));
    END IF;
    suggestion := format('SELECT * FROM spanner.move_split(%L, %L%s);', partition, to_server, ', ' || quote_literal(at));
    RETURN NEXT;
  END LOOP;
END
$$;

COMMENT ON FUNCTION spanner.split_advice(regclass)
  IS 'which splits have more than their share, where to cut them, and which server has least';
