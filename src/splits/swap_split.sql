/* src/splits/swap_split.sql */

--
-- Splits: step 7 of a move, which puts the new partition in the place of the old one
--
-- It is one transaction, and runs as the owner of the table.
--

-- Step 7, from here.  A stronger lock would be logged, and be waited for as unflushed.  Rows that
-- have moved must not be deleted on the target as well, so they are not published any more.
CREATE FUNCTION spanner_internal.leave_here(
  m spanner_internal.split_move,
  below text,
  until timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  old constant text := format('%I.%I', m.nspname, m.name);
BEGIN
  PERFORM spanner_internal.run_as_owner(m.parent,
    format('LOCK TABLE ONLY %s, ONLY %s IN SHARE ROW EXCLUSIVE MODE', m.parent, old));
  -- nobody writes any more, so what is in the log now is all that the target needs
  PERFORM spanner_internal.await_move(NULL, m.move, until);
  PERFORM spanner_internal.run_as_owner(m.parent,
    format('ALTER TABLE %s DETACH PARTITION %s', m.parent, old));
  IF m.cut IS NULL THEN
    PERFORM spanner_internal.run_as_owner(m.parent,
      format('ALTER TABLE %s RENAME TO %I', old,
             spanner_internal.split_name(m.name, '_moved')));
  ELSE
    -- first, or the target would delete the rows as well
    EXECUTE format('ALTER PUBLICATION %I DROP TABLE %s', m.move, old);
    PERFORM spanner_internal.delete_cut(m.partition, m.cut);
    PERFORM spanner_internal.run_as_owner(m.parent,
      format('ALTER TABLE %s ATTACH PARTITION %s %s', m.parent, old, below));
  END IF;
END
$$;

-- Step 7, from another server.
CREATE FUNCTION spanner_internal.leave_server(
  m spanner_internal.split_move,
  until timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM spanner_internal.run_as_owner(m.parent,
    format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', m.parent));
  PERFORM spanner_internal.run_as_owner(m.parent, format('DROP FOREIGN TABLE %s', m.partition));
  PERFORM spanner_internal.await_move(m.server, m.move, until);
END
$$;

-- Step 7: a foreign partition, with the rights and the statistics targets that the one before had.
CREATE FUNCTION spanner_internal.attach_server(
  m spanner_internal.split_move,
  name name,
  range text,
  server name,
  tablename name,
  former jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  command text;
BEGIN
  PERFORM spanner_internal.check_split_server(m.parent, server);
  PERFORM spanner_internal.run_as_owner(m.parent,
    format('CREATE FOREIGN TABLE %I.%I PARTITION OF %s %s%s', m.nspname, name, m.parent, range,
           spanner_internal.split_options(server, m.schemaname, tablename)));
  FOR command IN
    SELECT c
      FROM format('%I.%I', m.nspname, name) t
     CROSS JOIN LATERAL (
       SELECT spanner_internal.grant_commands(t, former -> 'grants')
       UNION ALL
       SELECT spanner_internal.statistics_commands(t, former -> 'columns')) x (c)
  LOOP
    PERFORM spanner_internal.run_as_owner(m.parent, command);
  END LOOP;
END
$$;

-- Step 7: the table that has been made here.
CREATE FUNCTION spanner_internal.attach_here(m spanner_internal.split_move, range text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
BEGIN
  IF m.cut IS NOT NULL THEN
    PERFORM spanner_internal.run_as_owner(m.parent,
      format('ALTER TABLE %I.%I RENAME TO %I', m.nspname, m.name, m.new_name));
  END IF;
  PERFORM spanner_internal.run_as_owner(m.parent,
    format('ALTER TABLE %s ATTACH PARTITION %I.%I %s', m.parent, m.nspname, m.new_name, range));
END
$$;

-- The ranges that a partition is divided into; all of it is "above", if it is not cut.
CREATE FUNCTION spanner_internal.swap_ranges(
  m spanner_internal.split_move,
  range text,
  OUT below text,
  OUT above text)
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT CASE WHEN m.cut IS NOT NULL
              THEN format('FOR VALUES FROM %s TO %s', b.all_lower, c.point) END,
         format('FOR VALUES FROM %s TO %s',
                CASE WHEN m.cut IS NULL THEN b.all_lower ELSE c.point END, b.all_upper)
    FROM pg_partitioned_table p
   CROSS JOIN spanner_internal.split_bounds(range) b
   CROSS JOIN LATERAL spanner_internal.bound_clause(m.cut ->> 'at', '', p.partnatts) c (point)
   WHERE p.partrelid = m.parent;
END;

-- Step 7: the move as it is to be swapped, of what the catalogs say now.
CREATE FUNCTION spanner_internal.find_swap(
  schemaname name,
  partition name,
  from_server name,
  to_server name,
  OUT m spanner_internal.split_move,
  OUT range text)
LANGUAGE plpgsql STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
#variable_conflict use_variable
DECLARE
  relation constant regclass := spanner_internal.find_relation(schemaname, partition);
  part record;
BEGIN
  IF relation IS NULL THEN
    RAISE undefined_table USING
      MESSAGE = format('partition "%s.%s" does not exist', schemaname, partition),
      HINT = 'If it has been renamed during the move, give it its name back, or give the move up.';
  END IF;
  m := spanner_internal.find_split(relation, to_server);
  SELECT * INTO part FROM spanner_internal.list_splits(m.parent) s WHERE s.partition = m.partition;
  IF part.server IS DISTINCT FROM from_server THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('partition "%s" is not on %s', partition,
                       coalesce('server "' || from_server || '"', 'this server'));
  END IF;
  PERFORM spanner_internal.check_split_owner(m.parent, m.partition);
  m.server := from_server;
  m.schemaname := part.schemaname;
  m.tablename := part.tablename;
  range := part.range;
END
$$;

-- Step 7, before anybody waits for it: what has been changed of a table during its copy is not
-- replicated, and a foreign table has no columns or checks of its own.
CREATE FUNCTION spanner_internal.check_target(m spanner_internal.split_move, to_server name)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  facts jsonb := spanner_internal.ask_server(to_server, m.schemaname, m.tablename);
  problem text;
BEGIN
  SELECT string_agg(concat(d.finding, ': ', d.detail), '; ' ORDER BY d.finding, d.detail)
    INTO problem
    FROM spanner_internal.split_differences(
           spanner_internal.describe_table(m.partition),
           coalesce(facts #> '{table,definition}',
                    '{"columns": [], "checks": [], "indexes": []}')) d
   WHERE d.finding = ANY ('{column missing,column not here,check missing}');
  IF problem IS NOT NULL THEN
    RAISE invalid_table_definition USING
      MESSAGE = format('table "%s.%s" on server "%s" is not like partition "%s"',
                       m.schemaname, m.tablename, to_server, m.name),
      DETAIL = format('These differ: %s.', problem),
      HINT = 'One of them has been changed during the move. Make both alike, or give the move up.';
  END IF;
END
$$;

-- Step 7, here: one transaction that holds the lock, and does nothing if it has been done.  If it
-- waits longer than a second for a lock or for the other side, it gives up, and writers go on.
CREATE FUNCTION spanner_internal.swap_split(
  move name,
  schemaname name,
  partition name,
  from_server name,
  to_server name,
  new_name name,
  cut jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET standard_conforming_strings = on
SET lock_timeout = '300ms'
AS $$
#variable_conflict use_variable
DECLARE
  until timestamptz;
  swap record;
  m spanner_internal.split_move;
  ranges record;
  former jsonb;
BEGIN
  PERFORM spanner_internal.check_move_name(move);
  IF spanner_internal.is_swapped(schemaname, new_name, to_server) THEN
    RETURN;
  END IF;
  swap := spanner_internal.find_swap(schemaname, partition, from_server, to_server);
  m := swap.m;
  m.move := move;
  m.new_name := new_name;
  m.cut := cut;
  ranges := spanner_internal.swap_ranges(m, swap.range);
  IF to_server IS NOT NULL THEN
    PERFORM spanner_internal.check_target(m, to_server);
  END IF;
  former := jsonb_build_object('grants', spanner_internal.describe_grants(m.partition),
                               'columns', spanner_internal.describe_columns(m.partition));
  until := clock_timestamp() + interval '900 ms';
  IF from_server IS NULL THEN
    PERFORM spanner_internal.leave_here(m, ranges.below, until);
  ELSE
    PERFORM spanner_internal.leave_server(m, until);
  END IF;
  IF to_server IS NULL THEN
    PERFORM spanner_internal.attach_here(m, ranges.above);
  ELSE
    PERFORM spanner_internal.attach_server(m, new_name, ranges.above, to_server,
              CASE WHEN cut IS NULL THEN m.tablename ELSE new_name END, former);
  END IF;
  IF cut IS NOT NULL AND from_server IS NOT NULL THEN
    PERFORM spanner_internal.attach_server(m, partition, ranges.below, from_server,
              spanner_internal.split_name(m.tablename, '_low'), former);
  END IF;
END
$$;
