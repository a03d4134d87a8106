/* src/splits/move_split.sql */

--
-- Splits: moving one, or a part of it, while clients write
--
-- What is printed are calls of functions of this extension, in move_steps.sql and swap_split.sql.
--

-- The steps of a move.  Those of one number and server belong together, in one transaction.  Each
-- can be run again; until the swap nobody reads what is being made.
CREATE FUNCTION spanner_internal.move_steps(m spanner_internal.split_move)
RETURNS TABLE (step integer, server name, statement text)
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH names AS (
    SELECT n.nspname AS parent_schema, c.relname AS parent_name,
           m.cut IS NOT NULL AS is_cut, m.server IS NOT NULL AS is_there,
           m.to_server IS NOT NULL AS goes_there,
           spanner_internal.split_name(m.tablename, '_low') AS low,
           spanner_internal.grants_there(m.partition, m.server) AS source_grants
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = m.parent)
  SELECT s.step, s.server, s.statement
    FROM names
   CROSS JOIN LATERAL (VALUES
     (1, m.server, m.shard IS NOT NULL AND NOT is_there,
      spanner_internal.step_call('make_shard_plain', parent_schema, parent_name, m.shard)),
     (1, m.server, m.shard IS NOT NULL AND is_there,
      spanner_internal.step_call('make_shard_plain', m.schemaname, m.tablename, m.shard)),
     (1, m.server, true,
      spanner_internal.step_call('publish_split', m.move, m.schemaname, m.tablename, m.cut::text)),
     (1, m.server, is_cut AND is_there,
      spanner_internal.step_call('show_split', m.schemaname, m.tablename, low, m.cut::text,
                                 source_grants::text)),
     (2, m.server, true, spanner_internal.step_call('reserve_slot', m.move)),
     (3, m.to_server, NOT goes_there,
      spanner_internal.step_call('set_aside', m.nspname, m.name)),
     (3, m.to_server, true,
      spanner_internal.step_call('make_split', m.schemaname, m.tablename, m.definition::text)),
     (3, m.to_server, is_cut AND goes_there,
      spanner_internal.step_call('show_split', m.schemaname, m.tablename, m.new_name, NULL,
                                 (m.definition -> 'grants')::text)),
     (4, m.to_server, true,
      spanner_internal.step_call('subscribe_split', m.move, m.schemaname, m.tablename,
                                 m.connection)),
     (5, m.to_server, true, spanner_internal.step_call('await_copy', m.move)),
     (6, NULL, true, spanner_internal.step_call('await_move', m.server, m.move)),
     (7, NULL, true,
      spanner_internal.step_call('swap_split', m.move, m.nspname, m.name, m.server, m.to_server,
                                 m.new_name, m.cut::text)),
     (8, m.server, is_there,
      spanner_internal.step_call('close_split', m.schemaname, m.tablename, m.cut::text)),
     (9, NULL, is_there, spanner_internal.step_call('await_rest', m.server, m.move)),
     (10, m.to_server, true, spanner_internal.step_call('unsubscribe_split', m.move)),
     (11, m.server, true, spanner_internal.step_call('unpublish_split', m.move)),
     (12, m.server, NOT is_cut,
      spanner_internal.step_call('drop_moved', m.schemaname, m.tablename)),
     (13, m.to_server, NOT is_cut,
      spanner_internal.step_call('analyze_split', m.schemaname, m.tablename)),
     (12, m.to_server, is_cut AND goes_there,
      spanner_internal.step_call('name_split', m.schemaname, m.tablename, m.new_name)),
     (13, m.server, is_cut AND is_there,
      spanner_internal.step_call('delete_moved', m.schemaname, m.tablename, m.cut::text)),
     (14, NULL, is_cut AND is_there,
      spanner_internal.step_call('point_split', m.nspname, m.name, m.tablename)),
     (15, m.server, is_cut AND is_there,
      spanner_internal.step_call('hide_rest', m.schemaname, low)),
     (16, m.server, is_cut,
      spanner_internal.step_call('analyze_split', m.schemaname, m.tablename)),
     (17, m.to_server, is_cut,
      spanner_internal.step_call('analyze_split', m.schemaname, m.new_name)))
     s (step, server, applies, statement)
   WHERE s.applies;
END;

-- The steps that give up a move before its swap.
CREATE FUNCTION spanner_internal.give_up_steps(m spanner_internal.split_move)
RETURNS TABLE (step integer, server name, statement text)
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT s.step, s.server, s.statement
    FROM (VALUES
      (1, NULL, true,
       spanner_internal.step_call('check_not_swapped', m.nspname, m.new_name, m.to_server)),
      (2, m.to_server, true, spanner_internal.step_call('unsubscribe_split', m.move)),
      (3, m.server, true, spanner_internal.step_call('unpublish_split', m.move)),
      (3, m.server, m.cut IS NOT NULL AND m.server IS NOT NULL,
       spanner_internal.step_call('hide_rest', m.schemaname,
                                  spanner_internal.split_name(m.tablename, '_low'))),
      (4, m.to_server, true,
       spanner_internal.step_call('discard_split', m.schemaname, m.tablename, m.new_name)),
      (5, NULL, m.to_server IS NULL,
       spanner_internal.step_call('bring_back', m.nspname, m.name)))
      s (step, server, applies, statement)
   WHERE s.applies;
END;

CREATE FUNCTION spanner.move_split(
  partition regclass,
  to_server name,
  at text DEFAULT NULL,
  connection text DEFAULT NULL,
  give_up boolean DEFAULT false,
  OUT step integer,
  OUT server name,
  OUT statement text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  m spanner_internal.split_move :=
    spanner_internal.plan_move(partition, to_server, at, connection, give_up);
BEGIN
  IF give_up THEN
    RETURN QUERY SELECT * FROM spanner_internal.give_up_steps(m);
  ELSE
    RETURN QUERY SELECT * FROM spanner_internal.move_steps(m);
  END IF;
END
$$;

COMMENT ON FUNCTION spanner.move_split(regclass, name, text, text, boolean)
  IS 'the steps that move a partition, or its part from a value on, to another server'
     ' while clients write, or that give this up';
