/* src/splits/move_steps.sql */

--
-- Splits: the steps of a move, each a function that runs on the server where the step is
--
-- Each can be run again, and looks first whether it has been done.  What touches a table runs as
-- its owner.  Publications, slots and subscriptions belong to whoever performs the steps.
--

-- What is made for moves and copies is named so, and nothing else is dropped.
CREATE FUNCTION spanner_internal.check_move_name(move name)
RETURNS void
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF move !~ '^spanner_(move|copy)_[0-9a-f]{12}$' THEN
    RAISE invalid_parameter_value USING MESSAGE = format('"%s" is not the name of a move', move);
  END IF;
END
$$;

-- The table of that name, or an error.
CREATE FUNCTION spanner_internal.split_table(schemaname name, tablename name)
RETURNS regclass
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  relation regclass := spanner_internal.find_relation(schemaname, tablename);
BEGIN
  IF NOT EXISTS (SELECT FROM pg_class WHERE oid = relation AND relkind = 'r') THEN
    RAISE undefined_table USING
      MESSAGE = format('there is no table "%s.%s"', schemaname, tablename);
  END IF;
  RETURN relation;
END
$$;

-- A split is cut at a value of a column: the rows from there on move.
CREATE FUNCTION spanner_internal.cut_condition(cut jsonb, operator text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET quote_all_identifiers = off
RETURN format('%I%s %s %L', cut ->> 'column',
              ' COLLATE ' || spanner_internal.qualified(cut -> 'collation'),
              CASE operator WHEN '<' THEN '<' ELSE '>=' END, cut ->> 'at');

-- Can rows be found by what is published of their old versions?
CREATE FUNCTION spanner_internal.identifies_rows(relation regclass, cut jsonb)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH identity AS (
    SELECT array_agg(a.attname::text) AS columns
      FROM pg_class c
      JOIN pg_index i ON i.indrelid = c.oid
                     AND CASE c.relreplident WHEN 'd' THEN i.indisprimary
                                             WHEN 'i' THEN i.indisreplident ELSE false END
      JOIN pg_attribute a ON a.attrelid = c.oid
                         AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1])
     WHERE c.oid = relation)
  SELECT coalesce(columns IS NOT NULL AND (cut IS NULL OR cut ->> 'column' = ANY (columns)), false)
    FROM identity;
END;

-- When a move is planned, and on the source when it begins.
CREATE FUNCTION spanner_internal.check_move_obstacle(tablename name, obstacle text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF obstacle IS NOT NULL THEN
    RAISE dependent_objects_still_exist USING
      MESSAGE = format('the rows of table "%s" cannot move', tablename),
      DETAIL = obstacle,
      HINT = concat('Drop the foreign keys, or run ALTER TABLE ... DISABLE ROW LEVEL SECURITY: ',
                    'the table on the other server will have neither.');
  END IF;
END
$$;

-- Step 1, on the source, if the key has a generated shard: that cannot be published.
CREATE FUNCTION spanner_internal.make_shard_plain(
  schemaname name,
  tablename name,
  column_name name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET standard_conforming_strings = on
AS $$
DECLARE
  relation constant regclass := spanner_internal.find_relation(schemaname, tablename);
  expression constant text := (
    SELECT pg_get_expr(d.adbin, d.adrelid)
      FROM pg_attribute a
      JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE a.attrelid = relation AND a.attname = column_name AND a.attgenerated = 's');
  command text;
BEGIN
  IF relation IS NULL THEN
    RAISE undefined_table USING
      MESSAGE = format('there is no table "%s.%s"', schemaname, tablename);
  END IF;
  FOR command IN
    SELECT c
      FROM spanner_internal.plain_shard_statements(format('%I.%I', schemaname, tablename),
                                                   quote_ident(column_name), expression) c
     WHERE expression IS NOT NULL
  LOOP
    PERFORM spanner_internal.run_as_owner(relation, command);
  END LOOP;
END
$$;

-- Step 1, on the source.
CREATE FUNCTION spanner_internal.publish_split(
  move name,
  schemaname name,
  tablename name,
  cut jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  relation constant regclass := spanner_internal.split_table(schemaname, tablename);
BEGIN
  PERFORM spanner_internal.check_move_name(move),
          spanner_internal.check_move_obstacle(tablename,
            CASE WHEN move ~ '^spanner_move_' THEN spanner_internal.move_obstacle(relation) END);
  IF current_setting('wal_level') <> 'logical' THEN
    RAISE object_not_in_prerequisite_state USING MESSAGE = 'wal_level is not logical',
      HINT = 'Set wal_level to logical and restart the server.';
  ELSIF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = move) THEN
    IF NOT spanner_internal.identifies_rows(relation, cut) THEN
      PERFORM spanner_internal.run_as_owner(relation,
        format('ALTER TABLE %I.%I REPLICA IDENTITY FULL', schemaname, tablename));
    END IF;
    EXECUTE format('CREATE PUBLICATION %I FOR TABLE ONLY %I.%I%s', move, schemaname, tablename,
                   ' WHERE (' || spanner_internal.cut_condition(cut, '>=') || ')');
  END IF;
  -- a schema may have been renamed meanwhile, and a publication be left from another move
  IF NOT EXISTS (SELECT FROM pg_publication p
                   JOIN pg_publication_rel r ON r.prpubid = p.oid
                  WHERE p.pubname = move AND r.prrelid = relation) THEN
    RAISE object_in_use USING
      MESSAGE = format('publication "%s" is not of table "%s.%s"', move, schemaname, tablename);
  END IF;
END
$$;

-- Step 1 on the source: a view of the rows that stay.  Step 3 on the target: one of all rows, by
-- the name that the new split will have.  postgres_fdw looks for ctid.
CREATE FUNCTION spanner_internal.show_split(
  schemaname name,
  tablename name,
  viewname name,
  cut jsonb,
  grants jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  relation constant regclass := spanner_internal.split_table(schemaname, tablename);
  command text;
BEGIN
  PERFORM spanner_internal.run_as_owner(relation,
    format('CREATE OR REPLACE VIEW %I.%I AS SELECT ctid, * FROM %I.%I%s',
           schemaname, viewname, schemaname, tablename,
           ' WHERE ' || spanner_internal.cut_condition(cut, '<') || ' WITH CASCADED CHECK OPTION'));
  FOR command IN
    SELECT c
      FROM spanner_internal.grant_commands(format('%I.%I', schemaname, viewname), grants) c
  LOOP
    PERFORM spanner_internal.run_as_owner(relation, command);
  END LOOP;
END
$$;

-- Step 2, on the source.
CREATE FUNCTION spanner_internal.reserve_slot(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM spanner_internal.check_move_name(move);
  -- Where others change catalogs meanwhile, decoding ends a subtransaction here and goes on with
  -- the resources of the one around it.  In a block with EXCEPTION that is the statement's own.
  BEGIN
    PERFORM pg_create_logical_replication_slot(move, 'pgoutput');
  EXCEPTION WHEN duplicate_object THEN
    IF NOT EXISTS (SELECT FROM pg_replication_slots
                    WHERE slot_name = move AND database = current_database()) THEN
      RAISE;
    END IF;  -- else it was made before
  END;
END
$$;

-- Step 3, if the target is here: replication needs a table of the same name.
CREATE FUNCTION spanner_internal.set_aside(schemaname name, partition name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  relation constant regclass := spanner_internal.find_relation(schemaname, partition);
BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE oid = relation AND relkind = 'f') THEN
    PERFORM spanner_internal.run_as_owner(relation,
      format('ALTER FOREIGN TABLE %I.%I RENAME TO %I', schemaname, partition,
             spanner_internal.split_name(partition, '_away')));
  END IF;
END
$$;

-- The state of the copy as the subscription has it, NULL without a subscription.
CREATE FUNCTION spanner_internal.copy_state(move name)
RETURNS "char"
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(r.srsubstate, ' ')
    FROM pg_subscription s
    JOIN pg_database d ON d.oid = s.subdbid AND d.datname = current_database()
    LEFT JOIN pg_subscription_rel r ON r.srsubid = s.oid
   WHERE s.subname = move;
END;

-- What a worker of a subscription runs when it writes to a table: triggers that fire for it, and
-- what the columns, constraints and indexes of the table call.  Superusers may make all of it.
CREATE FUNCTION spanner_internal.code_of_others(relation regclass)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH part (classid, objid) AS (
    SELECT 'pg_class'::regclass, relation::oid
    UNION ALL
    SELECT 'pg_class'::regclass, indexrelid FROM pg_index WHERE indrelid = relation
    UNION ALL
    SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = relation
    UNION ALL
    SELECT 'pg_attrdef'::regclass, oid FROM pg_attrdef WHERE adrelid = relation
    UNION ALL
    SELECT 'pg_trigger'::regclass, oid
      FROM pg_trigger
     WHERE tgrelid = relation AND tgenabled = ANY ('{A,R}')),
  owned (classid, objid, owner) AS (
    SELECT 'pg_proc'::regclass, oid, proowner FROM pg_proc
    UNION ALL
    SELECT 'pg_operator'::regclass, oid, oprowner FROM pg_operator
    UNION ALL
    SELECT 'pg_type'::regclass, oid, typowner FROM pg_type WHERE typtype <> 'e')
  SELECT DISTINCT pg_describe_object(o.classid, o.objid, 0)
    FROM part p
    JOIN pg_depend d ON d.classid = p.classid AND d.objid = p.objid AND d.deptype = 'n'
    JOIN owned o ON o.classid = d.refclassid AND o.objid = d.refobjid
    JOIN pg_roles r ON r.oid = o.owner AND NOT r.rolsuper
   WHERE o.owner <> (SELECT oid FROM pg_roles WHERE rolname = current_user);
END;

-- Release 16 has workers write as the owner of the table.
CREATE FUNCTION spanner_internal.check_applied_code(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  code text;
BEGIN
  IF current_setting('server_version_num')::integer < 160000 THEN
    SELECT string_agg(c, ', ' ORDER BY c) INTO code
      FROM spanner_internal.code_of_others(relation) c;
  END IF;
  IF code IS NOT NULL THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('table %s would run code of other roles with your rights', relation),
      DETAIL = format('These are: %s.', code),
      HINT = concat('Until release 16, what replication writes is written by the owner of the ',
                    'subscription. Have a superuser own what you trust.');
  END IF;
END
$$;

-- Step 4, on the target.  Commits are synchronous: a crash must not lose the state of a copy whose
-- slot is gone.  A crash just before that commit does (f), since core drops the slot first: the
-- copy can only begin anew then.
CREATE FUNCTION spanner_internal.subscribe_split(
  move name,
  schemaname name,
  tablename name,
  connection text)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  relation constant regclass := spanner_internal.split_table(schemaname, tablename);
BEGIN
  PERFORM spanner_internal.check_move_name(move);
  IF spanner_internal.copy_state(move) = 'f' THEN
    PERFORM spanner_internal.unsubscribe_split(move);
    PERFORM spanner_internal.run_as_owner(relation,
      format('TRUNCATE ONLY %I.%I', schemaname, tablename));
  END IF;
  IF spanner_internal.copy_state(move) IS NULL THEN
    PERFORM spanner_internal.check_applied_code(relation);
    IF spanner_internal.count_rows(relation, false) > 0 THEN
      RAISE object_not_in_prerequisite_state USING
        MESSAGE = format('table "%s.%s" has rows already', schemaname, tablename);
    END IF;
    EXECUTE format('CREATE SUBSCRIPTION %1$I CONNECTION %2$L PUBLICATION %1$I
                      WITH (create_slot = false, slot_name = %1$L, synchronous_commit = on)',
                   move, connection);
  END IF;
END
$$;

-- Step 5, on the target.
CREATE FUNCTION spanner_internal.await_copy(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  idle integer := 0;
BEGIN
  IF spanner_internal.copy_state(move) IS NULL THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('move "%s" has no subscription', move),
      HINT = 'Run step 4 again.';
  END IF;
  FOR i IN 1 .. 6000
  LOOP
    IF spanner_internal.copy_state(move) = 'r' THEN
      RETURN;
    ELSIF spanner_internal.copy_state(move) = 'f'
      AND NOT EXISTS (SELECT FROM pg_stat_subscription
                       WHERE subname = move AND relid IS NOT NULL AND pid IS NOT NULL) THEN
      idle := idle + 1;
    END IF;
    EXIT WHEN idle > 100;
    PERFORM pg_sleep(0.1);
  END LOOP;
  RAISE object_not_in_prerequisite_state USING
    MESSAGE = 'the first copy has not ended',
    HINT = CASE WHEN idle > 100 THEN 'Run step 4 again, which starts the copy anew.'
                ELSE 'Run this step again, or look into the log.' END;
END
$$;

-- Step 8, on the source: nobody can write there directly any more.
CREATE FUNCTION spanner_internal.close_split(schemaname name, tablename name, cut jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  relation constant regclass := spanner_internal.find_relation(schemaname, tablename);
  below constant name := spanner_internal.below_name(tablename, cut);
BEGIN
  IF cut IS NULL THEN
    IF relation IS NOT NULL THEN
      PERFORM spanner_internal.run_as_owner(relation,
        format('ALTER TABLE %I.%I RENAME TO %I', schemaname, tablename,
               spanner_internal.split_name(tablename, '_moved')));
    END IF;
  ELSIF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = relation AND conname = below) THEN
    PERFORM spanner_internal.run_as_owner(spanner_internal.split_table(schemaname, tablename),
      format('ALTER TABLE %I.%I ADD CONSTRAINT %I CHECK (%s) NOT VALID', schemaname, tablename,
             below, spanner_internal.cut_condition(cut, '<')));
  END IF;
END
$$;

-- The name of the constraint on the rows that stay.
CREATE FUNCTION spanner_internal.below_name(tablename name, cut jsonb)
RETURNS name
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN spanner_internal.split_name(tablename, '_below_' || left(md5(cut ->> 'at'), 6));

-- Step 10, on the target.
CREATE FUNCTION spanner_internal.unsubscribe_split(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
BEGIN
  PERFORM spanner_internal.check_move_name(move);
  IF spanner_internal.copy_state(move) IS NOT NULL THEN
    EXECUTE format('ALTER SUBSCRIPTION %I DISABLE', move);
    EXECUTE format('ALTER SUBSCRIPTION %I SET (slot_name = NONE)', move);
    EXECUTE format('DROP SUBSCRIPTION %I', move);
  END IF;
END
$$;

-- Step 11, on the source.
CREATE FUNCTION spanner_internal.unpublish_split(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
BEGIN
  PERFORM spanner_internal.check_move_name(move);
  FOR i IN 1 .. 600
  LOOP
    EXIT WHEN NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = move AND active);
    PERFORM pg_sleep(0.1);
  END LOOP;
  PERFORM pg_drop_replication_slot(slot_name)
     FROM pg_replication_slots
    WHERE slot_name = move AND database = current_database();
  IF EXISTS (SELECT FROM pg_publication WHERE pubname = move) THEN
    EXECUTE format('DROP PUBLICATION %I', move);
  END IF;
END
$$;

-- Drop a relation of a kind, if there is one of that name.
CREATE FUNCTION spanner_internal.drop_left(schemaname name, relation_name name, kind "char")
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  relation constant regclass := spanner_internal.find_relation(schemaname, relation_name);
BEGIN
  IF EXISTS (SELECT FROM pg_class
              WHERE oid = relation AND relkind = kind AND NOT relispartition) THEN
    PERFORM spanner_internal.run_as_owner(relation,
      format('DROP %s %I.%I', CASE kind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END,
             schemaname, relation_name));
  END IF;
END
$$;

-- Step 12, on the source: all of the split has moved.
CREATE FUNCTION spanner_internal.drop_moved(schemaname name, tablename name)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT spanner_internal.drop_left(schemaname, spanner_internal.split_name(tablename, '_moved'),
                                    'r');
END;

-- Step 12, on the target: the table gets the name that its view had.
CREATE FUNCTION spanner_internal.name_split(schemaname name, tablename name, new_name name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
BEGIN
  PERFORM spanner_internal.drop_left(schemaname, new_name, 'v');
  IF spanner_internal.find_relation(schemaname, new_name) IS NULL THEN
    PERFORM spanner_internal.run_as_owner(spanner_internal.split_table(schemaname, tablename),
      format('ALTER TABLE %I.%I RENAME TO %I', schemaname, tablename, new_name));
  END IF;
END
$$;

-- Triggers, rules and policies of the table do not notice.
CREATE FUNCTION spanner_internal.delete_moved_rows(
  relation regclass,
  column_name name,
  at text,
  by_collation regcollation)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_delete_moved_rows'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

-- Delete the rows that have moved when a split is cut.
CREATE FUNCTION spanner_internal.delete_cut(relation regclass, cut jsonb)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT spanner_internal.delete_moved_rows(relation, (cut ->> 'column')::name, cut ->> 'at',
           spanner_internal.qualified(cut -> 'collation')::regcollation)
$$;

-- Step 13, on the source: a part of the split has moved.
CREATE FUNCTION spanner_internal.delete_moved(schemaname name, tablename name, cut jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  relation constant regclass := spanner_internal.split_table(schemaname, tablename);
BEGIN
  PERFORM spanner_internal.delete_cut(relation, cut);
  PERFORM spanner_internal.run_as_owner(relation,
    format('ALTER TABLE %I.%I VALIDATE CONSTRAINT %I', schemaname, tablename,
           spanner_internal.below_name(tablename, cut)));
END
$$;

-- Step 14, here: from the view of the rows that stay to the table, which has no others now.
CREATE FUNCTION spanner_internal.point_split(schemaname name, partition name, tablename name)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET quote_all_identifiers = off
BEGIN ATOMIC
  SELECT spanner_internal.run_as_owner(spanner_internal.find_relation(schemaname, partition),
           format('ALTER FOREIGN TABLE %I.%I OPTIONS (SET table_name %L)', schemaname, partition,
                  tablename));
END;

-- Step 15, on the source.
CREATE FUNCTION spanner_internal.hide_rest(schemaname name, viewname name)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT spanner_internal.drop_left(schemaname, viewname, 'v');
END;

-- Collect statistics of a split.
CREATE FUNCTION spanner_internal.analyze_split(schemaname name, tablename name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
BEGIN
  EXECUTE format('ANALYZE %I.%I', schemaname, tablename);
END
$$;

-- To give up: a move that has swapped the partitions has to go on.
CREATE FUNCTION spanner_internal.is_swapped(schemaname name, new_name name, to_server name)
RETURNS boolean
LANGUAGE sql STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED
RETURN EXISTS (
  SELECT
    FROM spanner_internal.find_relation(schemaname, new_name) r
   CROSS JOIN LATERAL spanner_internal.list_splits(spanner_internal.parent_of(r)) s
   WHERE s.partition = r AND s.server IS NOT DISTINCT FROM to_server);

-- Raise an error if a move cannot be given up any more.
CREATE FUNCTION spanner_internal.check_not_swapped(
  schemaname name,
  new_name name,
  to_server name)
RETURNS void
LANGUAGE plpgsql STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF spanner_internal.is_swapped(schemaname, new_name, to_server) THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('partition "%s" is where it was to go', new_name),
      HINT = 'Run the steps from number 8 on.';
  END IF;
END
$$;

-- Drop what a move that is given up has made on its target.
CREATE FUNCTION spanner_internal.discard_split(schemaname name, tablename name, viewname name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM spanner_internal.drop_left(schemaname, viewname, 'v');
  PERFORM spanner_internal.drop_left(schemaname, tablename, 'r');
END
$$;

-- Undo set_aside().
CREATE FUNCTION spanner_internal.bring_back(schemaname name, partition name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  away constant name := spanner_internal.split_name(partition, '_away');
  relation constant regclass := spanner_internal.find_relation(schemaname, away);
BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE oid = relation AND relkind = 'f') THEN
    PERFORM spanner_internal.run_as_owner(relation,
      format('ALTER FOREIGN TABLE %I.%I RENAME TO %I', schemaname, away, partition));
  END IF;
END
$$;
