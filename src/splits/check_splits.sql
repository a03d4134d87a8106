/* src/splits/check_splits.sql */

--
-- Splits: what is wrong with them, and what to do about their sizes
--

-- The bounds are an expression of the partitioned table, so they are not evaluated where a
-- partition is of another owner.
CREATE FUNCTION spanner_internal.count_outside(partition regclass, relation regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET constraint_exclusion = off
AS $$
BEGIN
  PERFORM spanner_internal.check_foreign_table(partition);
  RETURN format('%s rows are outside of them', spanner_internal.count_rows(partition,
    true));
EXCEPTION WHEN insufficient_privilege THEN
  RETURN format('rows have not been counted: %s', SQLERRM);
END
$$;

-- What is wrong with a split or a copy, of which its server says these facts; at the first one,
-- what is wrong with the server.  A split that is here has no other table to be compared with.
CREATE FUNCTION spanner_internal.split_findings(
  relation regclass,
  partition regclass,
  copy name,
  is_here boolean,
  is_first boolean,
  facts jsonb,
  OUT finding text,
  OUT detail text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
  WITH there AS (
    SELECT facts #> '{table,parts}' AS parts WHERE NOT is_here)
  SELECT 'wal_level', format('%s: no split can be moved from there', facts ->> 'wal_level')
   WHERE is_first AND copy IS NULL AND facts ->> 'wal_level' <> 'logical'
  UNION ALL
  SELECT 'left by a move', string_agg(m, ', ')
    FROM jsonb_array_elements_text(facts -> 'moves') m
   WHERE is_first AND copy IS NULL
  HAVING count(*) > 0
  UNION ALL
  SELECT CASE WHEN copy IS NULL THEN 'no table' ELSE 'copy missing' END,
         'there is no such table; while a split is cut, it is a view'
    FROM there
   WHERE parts IS NULL
  UNION ALL
  SELECT 'copy not up to date', p
    FROM there
   CROSS JOIN spanner_internal.copy_problem(relation, copy, facts -> 'copies' ->> copy) p
   WHERE copy IS NOT NULL AND parts IS NOT NULL AND p <> ''
  UNION ALL
  SELECT d.finding, d.detail
    FROM there
   CROSS JOIN spanner_internal.part_differences(
     spanner_internal.table_parts(relation), parts) d
  UNION ALL
  SELECT 'bounds not checked', spanner_internal.count_outside(partition, relation)
    FROM there
   WHERE copy IS NULL AND parts IS NOT NULL
     AND NOT EXISTS (SELECT
                       FROM jsonb_array_elements(parts) c
                      WHERE c ->> 'kind' = 'check' AND c ->> 'name' ~ '_bounds$'
                        AND c ->> 'text' !~ ' NOT VALID$');
END;

CREATE FUNCTION spanner.check_splits(
  relation regclass,
  OUT partition regclass,
  OUT server name,
  OUT finding text,
  OUT detail text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  is_copied boolean := EXISTS (SELECT FROM spanner_internal.list_copies(relation));
  part record;
BEGIN
  IF NOT is_copied AND (SELECT relkind <> 'p' FROM pg_class WHERE oid = relation) THEN
    RAISE wrong_object_type USING
      MESSAGE = format('table "%s" has neither partitions nor copies',
                       (SELECT relname FROM pg_class WHERE oid = relation)),
      HINT = 'Make copies with "spanner_splits copy", or partitions with spanner.adopt_table().';
  END IF;
  RETURN QUERY
    SELECT spanner_internal.find_relation(m.nspname, m.name), NULL::name, 'move has begun',
           concat('spanner_splits move ', m.move, ' goes on with it',
                  CASE WHEN NOT m.swapped THEN ', abandon ' || m.move || ' undoes it' END,
                  CASE WHEN m.performer <> current_user
                       THEN format('; role "%s" has begun it', m.performer) END)
      FROM spanner_internal.begun_moves m
     WHERE m.parent IN (SELECT p.relid FROM pg_partition_tree(relation) p)
     ORDER BY 1;
  FOR part IN
    SELECT x.*, row_number() OVER (PARTITION BY x.server ORDER BY x.split) = 1 AS is_first
      FROM (SELECT s.split, s.partition, s.server, s.schemaname, s.tablename, NULL::name AS copy
              FROM spanner_internal.list_splits(CASE WHEN NOT is_copied THEN relation END) s
            UNION ALL
            SELECT 1, NULL, c.server, c.schemaname, c.tablename, c.copy
              FROM spanner_internal.list_copies(relation) c) x
     ORDER BY x.split, x.server
  LOOP
    partition := part.partition;
    server := part.server;
    BEGIN
      RETURN QUERY
        SELECT partition, server, f.finding, f.detail
          FROM spanner_internal.ask_server(server, part.schemaname, part.tablename) t (facts)
         CROSS JOIN LATERAL spanner_internal.split_findings(
           relation, partition, part.copy, server IS NULL, part.is_first, t.facts) f;
    EXCEPTION
      WHEN fdw_schema_not_found THEN
        CONTINUE WHEN NOT part.is_first;
        finding := 'extension version';
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
        RETURN NEXT;
      WHEN OTHERS THEN
        finding := 'not reachable';
        detail := SQLERRM;
        RETURN NEXT;
    END;
  END LOOP;
  RETURN QUERY
    SELECT NULL::regclass, s, 'copy missing', 'other tables have splits there'
      FROM spanner_internal.servers_with_splits() s
     WHERE is_copied
       AND s NOT IN (SELECT l.server FROM spanner_internal.list_copies(relation) l);
END
$$;

COMMENT ON FUNCTION spanner.check_splits(regclass)
  IS 'how the tables behind foreign partitions, or copies of a table, differ from the table here,'
     ' and what moves have left';

-- Shares of each split and of its server, of rows and inserts together, and where least is.
CREATE FUNCTION spanner_internal.split_loads(
  relation regclass,
  OUT split integer,
  OUT partition regclass,
  OUT server name,
  OUT row_share numeric,
  OUT insert_share numeric,
  OUT server_share numeric,
  OUT splits_there bigint,
  OUT servers bigint,
  OUT emptiest name)
RETURNS SETOF record
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
  WITH stats AS MATERIALIZED (
    SELECT s.split, s.partition, s.server,
           s.rows::numeric / nullif(sum(s.rows) OVER (), 0) AS row_share,
           s.inserts::numeric / nullif(sum(s.inserts) OVER (), 0) AS insert_share
      FROM spanner.split_stats(relation) s),
  usable AS (
    SELECT s.srvname AS server
      FROM pg_class c
      JOIN pg_foreign_server s ON spanner_internal.server_problem(s.srvname, c.relowner) IS NULL
     WHERE c.oid = relation),
  servers AS (
    SELECT s.server, s.server IS NULL AS may_get_more
      FROM stats s
     WHERE s.server IS NULL OR s.server NOT IN (SELECT u.server FROM usable u)
    UNION
    SELECT u.server, true FROM usable u),
  load AS (
    SELECT v.server, v.may_get_more, count(s.split) AS splits,
           coalesce(sum(s.row_share + coalesce(s.insert_share, s.row_share)), 0) / 2 AS share
      FROM servers v
      LEFT JOIN stats s ON s.server IS NOT DISTINCT FROM v.server
     GROUP BY v.server, v.may_get_more)
  SELECT s.split, s.partition, s.server, s.row_share, s.insert_share, l.share, l.splits,
         (SELECT count(*) FROM servers), m.server
    FROM stats s
    JOIN load l ON l.server IS NOT DISTINCT FROM s.server
   CROSS JOIN (SELECT server FROM load WHERE may_get_more ORDER BY share, server LIMIT 1) m
   ORDER BY s.split;
END;

-- A word of a command line, as a shell reads it.
CREATE FUNCTION spanner_internal.shell_word(word text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN word ~ '^[[:alnum:]_.:,+/][[:alnum:]_.:,+/-]*$' THEN word
            ELSE '''' || replace(word, '''', '''\''''') || '''' END;

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
  share numeric;
  server_share numeric;
BEGIN
  FOR part IN SELECT * FROM spanner_internal.split_loads(relation)
  LOOP
    -- as they are shown
    share := round(greatest(part.row_share, part.insert_share) * part.servers, 1);
    server_share := round(part.server_share * part.servers, 1);
    CONTINUE WHEN part.servers < 2 OR part.server IS NOT DISTINCT FROM part.emptiest
      OR greatest(share, server_share) <= 1.5;
    partition := part.partition;
    server := part.server;
    share_of_rows := round(part.row_share, 3);
    share_of_inserts := round(part.insert_share, 3);
    to_server := part.emptiest;
    at := NULL;
    IF share > 1.5 THEN
      finding := format('has %s times its share of %s', share,
                        CASE WHEN part.insert_share > part.row_share THEN 'inserts'
                             ELSE 'rows' END);
      BEGIN
        at := (SELECT p FROM spanner.split_points(partition, 2) p LIMIT 1);
      EXCEPTION WHEN object_not_in_prerequisite_state OR wrong_object_type OR datatype_mismatch THEN
        finding := finding || format('; cannot tell where to cut it: %s', SQLERRM);
      END;
    ELSE
      CONTINUE WHEN part.splits_there < 2;
      finding := format('is on a server that has %s times its share', server_share);
    END IF;
    suggestion := concat_ws(' ', 'spanner_splits move',
                            spanner_internal.shell_word(partition::text),
                            '--to', spanner_internal.shell_word(coalesce(to_server, 'here')),
                            '--at ' || spanner_internal.shell_word(at));
    RETURN NEXT;
  END LOOP;
END
$$;

COMMENT ON FUNCTION spanner.split_advice(regclass)
  IS 'which splits have more than their share, where to cut them, and which server has least';
