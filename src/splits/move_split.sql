/* src/splits/move_split.sql */

--
-- Splits: moving one, or a part of it, while clients write
--

-- Has the other side applied all that the source had committed when this was
-- called?  An asynchronous commit may not be flushed yet, so the position of the log
-- that counts is where records are inserted.  The last records there may be of an
-- open transaction, which nobody flushes.  So what is not flushed is waited for only
-- as long as the WAL writer may take.
CREATE FUNCTION spanner_internal.await_move(server name, move name, until timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
AS $$
#variable_conflict use_variable
DECLARE
  began constant timestamptz := clock_timestamp();
  source constant text := CASE WHEN server IS NULL THEN 'spanner.split_server' ELSE 'pg_temp.split_server' END;
  slots constant text := CASE WHEN server IS NULL THEN 'pg_catalog.pg_replication_slots' ELSE 'pg_temp.pg_replication_slots' END;
  target pg_lsn;
  flushed pg_lsn;
  confirmed pg_lsn;
  delay integer;
BEGIN
  BEGIN
    IF server IS NOT NULL THEN
      EXECUTE format('CREATE FOREIGN TABLE pg_temp.split_server (insert_lsn pg_lsn, flush_lsn pg_lsn, wal_writer_delay integer)
                        SERVER %I OPTIONS (schema_name ''spanner'', table_name ''split_server'')', server);
      EXECUTE format('CREATE FOREIGN TABLE pg_temp.pg_replication_slots (slot_name name, confirmed_flush_lsn pg_lsn)
                        SERVER %I OPTIONS (schema_name ''pg_catalog'', table_name ''pg_replication_slots'')', server);
    END IF;
    EXECUTE format('SELECT insert_lsn, wal_writer_delay FROM %s', source) INTO target, delay;
    LOOP
      EXECUTE format('SELECT flush_lsn FROM %s', source) INTO flushed;
      EXECUTE format('SELECT confirmed_flush_lsn FROM %s WHERE slot_name = $1', slots) INTO confirmed USING move;
      EXIT WHEN confirmed >= target
        OR confirmed >= flushed AND clock_timestamp() > began + make_interval(secs => 3.2 * delay / 1000);
      IF confirmed IS NULL OR clock_timestamp() > until THEN
        RAISE object_not_in_prerequisite_state USING
          MESSAGE = format('move "%s" is not in step yet', move),
          HINT = 'Run this step again.';
      END IF;
      PERFORM pg_sleep(0.005);
    END LOOP;
    RAISE EXCEPTION USING ERRCODE = 'SK001';
  EXCEPTION WHEN SQLSTATE 'SK001' THEN
    NULL;
  END;
END
$$;

COMMENT ON FUNCTION spanner_internal.await_move(name, name, timestamptz)
  IS 'wait until a move of a split is in step with its source';

-- All that move_split() needs to know.
CREATE FUNCTION spanner_internal.plan_move(partition regclass, to_server name, at text, connection text)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
#variable_conflict use_variable
DECLARE
  name name := (SELECT relname FROM pg_class WHERE oid = partition);
  parent regclass := (SELECT i.inhparent FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                       WHERE i.inhrelid = partition AND c.relispartition);
  key record;
  part record;
  facts jsonb;
  cut text;
  inside boolean;
  identity text[];
  new_name name := name;
  nspname name := (SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = partition);
BEGIN
  IF name IS NULL OR parent IS NULL THEN
    RAISE wrong_object_type USING MESSAGE = format('"%s" is not a partition', coalesce(name, partition::oid::text)),
      HINT = 'spanner.adopt_table() makes a table a partitioned one with itself as the only partition.';
  END IF;
  SELECT * INTO part FROM spanner_internal.list_splits(parent) s WHERE s.partition = plan_move.partition;
  IF part.lower IS NULL THEN
    RAISE wrong_object_type USING MESSAGE = format('partition "%s" is no range of keys', name),
      HINT = 'Move a partition that has no partitions itself, of a table that is partitioned by range.';
  END IF;
  PERFORM spanner_internal.check_split_server(s) FROM unnest(ARRAY[part.server, to_server]) s WHERE s IS NOT NULL;
  IF part.server IS NOT DISTINCT FROM to_server THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('partition "%s" is on that server already', name),
      HINT = 'Name another server; NULL is this one.';
  ELSIF to_server IS NULL AND (part.schemaname, part.tablename) <> (nspname, name) THEN
    RAISE feature_not_supported USING
      MESSAGE = format('table "%s.%s" on server "%s" has another name than partition "%s"', part.schemaname, part.tablename, part.server, name),
      HINT = 'Rename the partition first: replication needs the same name on both sides.';
  ELSIF to_server IS NOT NULL OR at IS NOT NULL THEN
    PERFORM spanner_internal.check_no_unique_index(parent);
  END IF;

  key := spanner_internal.split_column(parent);
  IF at IS NOT NULL THEN
    IF key.typename IS NULL OR key.name IS NULL THEN
      RAISE feature_not_supported USING
        MESSAGE = format('cannot cut partition "%s", which is not split by a column of a built-in type', name),
        HINT = 'Move all of it.';
    END IF;
    EXECUTE format('SELECT quote_literal(x.v), %s AND %s FROM (SELECT $1::%s AS v) x',
                   CASE part.lower WHEN 'MINVALUE' THEN 'true' ELSE format('x.v%s > %s::%s', key.collation_clause, part.lower, key.typename) END,
                   CASE part.upper WHEN 'MAXVALUE' THEN 'true' ELSE format('x.v%s < %s::%s', key.collation_clause, part.upper, key.typename) END, key.typename)
      INTO cut, inside USING at;
    IF NOT inside THEN
      RAISE invalid_parameter_value USING MESSAGE = format('%s is not within partition "%s"', cut, name),
        HINT = format('Its range is %s.', part.range);
    END IF;
    new_name := (SELECT spanner_internal.split_name(name, '_' || n) FROM generate_series(1, 10000) n
                  WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass(format('%I.%I', nspname, spanner_internal.split_name(name, '_' || n)))
                                       AND (c.relispartition OR to_server IS NOT NULL)) LIMIT 1);
  END IF;

  facts := spanner_internal.split_facts(part.server, part.schemaname, part.tablename);
  IF jsonb_typeof(facts -> 'table') IS DISTINCT FROM 'object' THEN
    RAISE undefined_table USING
      MESSAGE = format('there is no table "%s.%s" on server "%s"', part.schemaname, part.tablename, part.server),
      HINT = 'If a former move has not ended, run its other steps.';
  ELSIF facts ->> 'wal_level' <> 'logical' THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('wal_level of %s is %s', coalesce('server "' || part.server || '"', 'this server'), facts ->> 'wal_level'),
      HINT = 'Set wal_level to logical there and restart that server.';
  END IF;
  identity := ARRAY(SELECT jsonb_array_elements_text(facts #> '{table,identity_columns}'));
  RETURN jsonb_build_object(
    'parent', parent, 'name', name, 'nspname', nspname, 'new_name', new_name,
    'server', part.server, 'schemaname', part.schemaname, 'tablename', part.tablename, 'to_server', to_server,
    'move', 'spanner_move_' || left(md5(format('%I.%I', nspname, name)), 12),
    'range', part.range, 'cut', cut, 'key', key.expression,
    'table', facts -> 'table',
    'owner', (SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class WHERE oid = partition),
    'bounds', concat_ws(' AND ', pg_get_partition_constraintdef(partition), key.expression || ' >= ' || cut),
    'is_full', identity = '{}' OR facts #>> '{table,replica_identity}' = 'f'
               OR cut IS NOT NULL AND key.name <> ALL (identity),
    'generated', (SELECT jsonb_build_object('column', g[1], 'expression', g[2])
                    FROM jsonb_array_elements_text(facts #> '{table,columns}') c,
                         regexp_match(c, '^("(?:[^"]|"")*"|[^" ]+) .* GENERATED ALWAYS AS \((.*)\) STORED') g
                   WHERE g[2] ~ '^spanner\.shard_id\(' AND g[1] IN (SELECT quote_ident(i) FROM unnest(identity) i) LIMIT 1),
    'connection', coalesce(connection, (
      SELECT string_agg(format('%s=''%s''', o.name, regexp_replace(o.value, '([\\''])', '\\\1', 'g')), ' ' ORDER BY o.n)
        FROM (SELECT 1, x.option_name, x.option_value FROM pg_foreign_server s, pg_options_to_table(s.srvoptions) x
               WHERE s.srvname = part.server AND x.option_name = ANY ('{host,hostaddr,port,dbname,service,sslmode,sslrootcert}')
              UNION ALL
              SELECT 2, x.option_name, x.option_value FROM pg_user_mappings m, pg_options_to_table(m.umoptions) x
               WHERE m.srvname = part.server AND x.option_name = 'user' AND m.usename = current_user
              UNION ALL
              SELECT 1, l.option_name, l.option_value
                FROM (VALUES ('host', coalesce(host(inet_server_addr()), split_part(current_setting('unix_socket_directories'), ',', 1))),
                             ('port', current_setting('port')), ('dbname', current_database()), ('user', current_user)) l (option_name, option_value)
               WHERE part.server IS NULL) o (n, name, value))));
END
$$;

COMMENT ON FUNCTION spanner_internal.plan_move(regclass, name, text, text)
  IS 'all that the steps of a move are made of';

-- The step that swaps the partitions.  It holds the lock, and does nothing if it has
-- been done.  If it waits longer than a second for a lock or for the other side, it
-- gives up, and writers go on.
CREATE FUNCTION spanner_internal.swap_statement(plan jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  parent constant regclass := plan ->> 'parent';
  old constant text := format('%I.%I', plan ->> 'nspname', plan ->> 'name');
  new constant text := format('%I.%I', plan ->> 'nspname', plan ->> 'new_name');
  away constant name := spanner_internal.split_name(plan ->> 'name', '_away');
  -- its name while the table that replaces it has that name
  renamed constant text := CASE WHEN plan ->> 'to_server' IS NULL THEN format('%I.%I', plan ->> 'nspname', away) ELSE old END;
  width constant integer := (SELECT partnatts FROM pg_partitioned_table WHERE partrelid = parent);
  ends constant text[] := regexp_match(plan ->> 'range', $re$^FOR VALUES FROM (\((?:E?'(?:[^']|'')*'|[^',()]+)(?:, (?:E?'(?:[^']|'')*'|[^',()]+))*\)) TO (\(.*\))\Z$re$);
  point constant text := format('(%s%s)', plan ->> 'cut', repeat(', MINVALUE', width - 1));
  below constant text := format('FOR VALUES FROM %s TO %s', ends[1], point);
  above constant text := CASE WHEN plan ->> 'cut' IS NULL THEN plan ->> 'range' ELSE format('FOR VALUES FROM %s TO %s', point, ends[2]) END;
  rights constant text[] := ARRAY(SELECT g FROM spanner_internal.split_grants(to_regclass(old), NULL, '%s') g);
  steps text[];
BEGIN
  steps := ARRAY['PERFORM pg_catalog.set_config(''lock_timeout'', ''300ms'', true)'];
  IF plan ->> 'server' IS NULL THEN
    -- a stronger lock would be logged, and be waited for as unflushed
    steps := steps || ARRAY[
      format('LOCK TABLE ONLY %s, ONLY %s IN SHARE ROW EXCLUSIVE MODE', parent, old),
      format('PERFORM spanner_internal.await_move(NULL, %L, started OPERATOR(pg_catalog.+) interval ''900 ms'')', plan ->> 'move'),
      format('ALTER TABLE %s DETACH PARTITION %s', parent, old)];
    IF plan ->> 'cut' IS NULL THEN
      steps := steps || format('ALTER TABLE %s RENAME TO %I', old, spanner_internal.split_name(plan ->> 'name', '_moved'));
    ELSE
      -- the rows that have moved must not be deleted there as well
      steps := steps || ARRAY[
        format('ALTER PUBLICATION %I DROP TABLE %s', plan ->> 'move', old),
        format('DELETE FROM %s WHERE %s >= %s', old, plan ->> 'key', plan ->> 'cut'),
        format('ALTER TABLE %s ATTACH PARTITION %s %s', parent, old, below)];
    END IF;
  ELSE
    steps := steps || ARRAY[
      format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', parent),
      format('DROP FOREIGN TABLE %s', renamed),
      format('PERFORM spanner_internal.await_move(%L, %L, started OPERATOR(pg_catalog.+) interval ''900 ms'')', plan ->> 'server', plan ->> 'move')];
  END IF;
  IF plan ->> 'to_server' IS NOT NULL THEN
    steps := steps || format('CREATE FOREIGN TABLE %s PARTITION OF %s %s%s', new, parent, above,
                             spanner_internal.split_options(plan ->> 'to_server', plan ->> 'schemaname',
                                                   CASE WHEN plan ->> 'cut' IS NULL THEN plan ->> 'tablename' ELSE plan ->> 'new_name' END));
  ELSE
    IF plan ->> 'cut' IS NOT NULL THEN
      steps := steps || format('ALTER TABLE %s RENAME TO %I', old, plan ->> 'new_name');
    END IF;
    steps := steps || format('ALTER TABLE %s ATTACH PARTITION %s %s', parent, new, above);
  END IF;
  steps := steps || format('ALTER TABLE %s OWNER TO %s', new, plan ->> 'owner') || ARRAY(SELECT replace(r, ' ON TABLE %s TO ', ' ON TABLE ' || new || ' TO ') FROM unnest(rights) r);
  IF plan ->> 'cut' IS NOT NULL AND plan ->> 'server' IS NOT NULL THEN
    steps := steps || format('CREATE FOREIGN TABLE %s PARTITION OF %s %s%s', old, parent, below,
                             spanner_internal.split_options(plan ->> 'server', plan ->> 'schemaname', spanner_internal.split_name(plan ->> 'tablename', '_low')))
                   || format('ALTER TABLE %s OWNER TO %s', old, plan ->> 'owner') || ARRAY(SELECT replace(r, ' ON TABLE %s TO ', ' ON TABLE ' || old || ' TO ') FROM unnest(rights) r);
  END IF;
  RETURN format(E'DO $move$\nDECLARE\n  started pg_catalog.timestamptz := pg_catalog.clock_timestamp();\nBEGIN\n  IF %s THEN\n    %s;\n  END IF;\nEND $move$',
    CASE WHEN plan ->> 'cut' IS NOT NULL
         THEN format('NOT EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(%L)::pg_catalog.oid)', new)
         WHEN plan ->> 'server' IS NULL
         THEN format('EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(%L)::pg_catalog.oid AND relkind OPERATOR(pg_catalog.=) ''r'')', old)
         ELSE format('EXISTS (SELECT FROM pg_catalog.pg_foreign_table f JOIN pg_catalog.pg_foreign_server s ON s.oid OPERATOR(pg_catalog.=) f.ftserver WHERE f.ftrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(%L)::pg_catalog.oid AND s.srvname OPERATOR(pg_catalog.=) %L)',
                     renamed, plan ->> 'server') END,
    array_to_string(steps, E';\n    '));
END
$$;

COMMENT ON FUNCTION spanner_internal.swap_statement(jsonb)
  IS 'the statement that puts a moved split in the place of the old one';

-- Steps of one number and server belong together, in one transaction.  Each
-- can be run again; until the swap nobody reads what is being made.
CREATE FUNCTION spanner.move_split(
  partition regclass,
  to_server name,
  at text DEFAULT NULL,
  connection text DEFAULT NULL,
  OUT step integer,
  OUT server name,
  OUT statement text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
#variable_conflict use_variable
DECLARE
  plan jsonb := spanner_internal.plan_move(partition, to_server, at, connection);
  cut constant text := plan ->> 'cut';
  source constant name := plan ->> 'server';
  table_there constant text := format('%I.%I', plan ->> 'schemaname', plan ->> 'tablename');
  moved constant name := spanner_internal.split_name(plan ->> 'tablename', '_moved');
  low constant text := format('%I.%I', plan ->> 'schemaname', spanner_internal.split_name(plan ->> 'tablename', '_low'));
  new_there constant text := format('%I.%I', plan ->> 'schemaname', plan ->> 'new_name');
  move constant text := plan ->> 'move';
  facts jsonb := plan -> 'table';
  mark constant text := '$move$';
  lost text;
  state text;
  steps text[];
BEGIN
  FOR lost IN SELECT jsonb_array_elements_text(facts -> 'foreign_keys')
  LOOP
    RAISE NOTICE 'foreign key % does not move along', lost;
  END LOOP;
  FOR lost IN SELECT tgname FROM pg_trigger
             WHERE tgrelid = partition AND tgparentid = 0 AND NOT tgisinternal AND tgfoid <> 'spanner.fill_shard()'::regprocedure
  LOOP
    RAISE NOTICE 'trigger % does not move along', quote_ident(lost);
  END LOOP;

  -- the source: what is published
  IF plan ->> 'generated' IS NOT NULL THEN
    steps := steps || format('DO %s BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid OPERATOR(pg_catalog.=) %L::pg_catalog.regclass AND pg_catalog.quote_ident(attname) OPERATOR(pg_catalog.=) %L AND attgenerated OPERATOR(pg_catalog.<>) '''') THEN %s; END IF; END %1$s',
      mark, CASE WHEN source IS NULL THEN plan ->> 'parent' ELSE table_there END, plan #>> '{generated,column}',
      (SELECT string_agg(s, '; ') FROM spanner_internal.plain_shard_statements(
        CASE WHEN source IS NULL THEN plan ->> 'parent' ELSE table_there END, plan #>> '{generated,column}', plan #>> '{generated,expression}') s));
    facts := jsonb_set(jsonb_set(facts, '{columns}', (SELECT jsonb_agg(regexp_replace(c, ' GENERATED ALWAYS AS \(spanner\.shard_id\(.*\) STORED', ''))
                FROM jsonb_array_elements_text(facts -> 'columns') c)),
      '{checks}', (facts -> 'checks') || jsonb_build_array(format('CONSTRAINT %I CHECK (%s = %s)', 'spanner_' || trim(plan #>> '{generated,column}', '"') || '_check',
        plan #>> '{generated,column}', plan #>> '{generated,expression}')));
  END IF;
  steps := steps || format('DO %s BEGIN IF pg_catalog.current_setting(''wal_level'') OPERATOR(pg_catalog.<>) ''logical'' THEN RAISE EXCEPTION ''wal_level is not logical''; END IF; IF NOT EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname OPERATOR(pg_catalog.=) %L) THEN %sCREATE PUBLICATION %I FOR TABLE %s%s; END IF; END %1$s',
    mark, move, CASE WHEN (plan ->> 'is_full')::boolean THEN format('ALTER TABLE %s REPLICA IDENTITY FULL; ', table_there) END,
    move, table_there, CASE WHEN cut IS NOT NULL THEN format(' WHERE (%s >= %s)', plan ->> 'key', cut) END);
  IF cut IS NOT NULL AND source IS NOT NULL THEN
    -- postgres_fdw looks for ctid
    steps := steps || format('CREATE OR REPLACE VIEW %s AS SELECT ctid, * FROM %s WHERE %s < %s WITH CASCADED CHECK OPTION', low, table_there, plan ->> 'key', cut)
                   || ARRAY(SELECT g FROM spanner_internal.split_grants(partition, source, low) g);
  END IF;
  RETURN QUERY SELECT 1, source, s FROM unnest(steps) s;
  RETURN QUERY SELECT 2, source, format('SELECT pg_catalog.pg_create_logical_replication_slot(%L, ''pgoutput'') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_replication_slots WHERE slot_name OPERATOR(pg_catalog.=) %1$L)', move);

  -- the target: a table of the same name, as replication needs it
  steps := '{}';
  IF to_server IS NULL THEN
    steps := steps || format('DO %s BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(%L)::pg_catalog.oid AND relkind OPERATOR(pg_catalog.=) ''f'') THEN ALTER FOREIGN TABLE %s RENAME TO %I; END IF; END %1$s',
      mark, format('%I.%I', plan ->> 'nspname', plan ->> 'name'), partition, spanner_internal.split_name(plan ->> 'name', '_away'));
  END IF;
  steps := steps || ARRAY(SELECT t FROM spanner_internal.table_statements(facts, (plan ->> 'schemaname')::name, (plan ->> 'tablename')::name, (plan ->> 'new_name')::name, plan ->> 'bounds', true) t);
  IF plan ->> 'generated' IS NOT NULL AND to_server IS NOT NULL THEN
    steps := steps || format('CREATE OR REPLACE TRIGGER spanner_fill_shard BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard()', table_there);
  END IF;
  IF to_server IS NOT NULL THEN
    steps := steps || ARRAY(SELECT g FROM spanner_internal.split_grants(partition, to_server, table_there) g);
    IF cut IS NOT NULL THEN
      steps := steps || format('CREATE OR REPLACE VIEW %s AS SELECT ctid, * FROM %s', new_there, table_there)
                     || ARRAY(SELECT g FROM spanner_internal.split_grants(partition, to_server, new_there) g);
    END IF;
  END IF;
  RETURN QUERY SELECT 3, to_server, s FROM unnest(steps) s;
  -- synchronous commits: a crash must not lose the state of a copy whose slot is gone.  A crash just before that
  -- commit does, since core drops the slot first: the copy can only begin anew then.
  state := format('EXISTS (SELECT FROM pg_catalog.pg_subscription s JOIN pg_catalog.pg_subscription_rel r ON r.srsubid OPERATOR(pg_catalog.=) s.oid WHERE s.subname OPERATOR(pg_catalog.=) %L AND r.srsubstate OPERATOR(pg_catalog.=) ', move);
  RETURN QUERY SELECT 4, to_server, format('DO %s BEGIN IF %s''f'') THEN ALTER SUBSCRIPTION %I DISABLE; ALTER SUBSCRIPTION %3$I SET (slot_name = NONE); DROP SUBSCRIPTION %3$I; TRUNCATE ONLY %s; END IF; IF NOT EXISTS (SELECT FROM pg_catalog.pg_subscription WHERE subname OPERATOR(pg_catalog.=) %3$L) THEN IF EXISTS (SELECT FROM ONLY %4$s) THEN RAISE EXCEPTION ''table %s has rows already''; END IF; CREATE SUBSCRIPTION %3$I CONNECTION %6$L PUBLICATION %3$I WITH (create_slot = false, slot_name = %3$L, synchronous_commit = ''on''); END IF; END %1$s',
    mark, state, move, table_there, replace(replace(table_there, '%', '%%'), '''', ''''''), plan ->> 'connection');
  RETURN QUERY SELECT 5, to_server, format('DO %s DECLARE idle integer := 0; BEGIN FOR i IN 1 .. 6000 LOOP IF %s''r'') THEN RETURN; END IF; IF %2$s''f'') AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_subscription WHERE subname OPERATOR(pg_catalog.=) %L AND relid IS NOT NULL AND pid IS NOT NULL) THEN idle := idle OPERATOR(pg_catalog.+) 1; END IF; EXIT WHEN idle OPERATOR(pg_catalog.>) 100; PERFORM pg_catalog.pg_sleep(0.1); END LOOP; RAISE EXCEPTION ''the first copy has not ended'' USING HINT = CASE WHEN idle OPERATOR(pg_catalog.>) 100 THEN ''Run step 4 again, which starts the copy anew.'' ELSE ''Run this step again, or look into the log.'' END; END %1$s',
    mark, state, move);
  RETURN QUERY SELECT 6, NULL::name, format('SELECT spanner_internal.await_move(%L, %L, pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) interval ''10 min'')', source, move);
  RETURN QUERY SELECT 7, NULL::name, spanner_internal.swap_statement(plan);

  -- the source again: nobody can write there directly any more
  IF source IS NOT NULL THEN
    RETURN QUERY SELECT 8, source, CASE WHEN cut IS NULL
      THEN format('ALTER TABLE IF EXISTS %s RENAME TO %I', table_there, moved)
      ELSE format('DO %s BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conrelid OPERATOR(pg_catalog.=) %L::pg_catalog.regclass AND conname OPERATOR(pg_catalog.=) %L) THEN ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s < %s) NOT VALID; END IF; END %1$s',
                  mark, table_there, spanner_internal.split_name(plan ->> 'tablename', '_below_' || left(md5(cut), 6)), table_there,
                  spanner_internal.split_name(plan ->> 'tablename', '_below_' || left(md5(cut), 6)), plan ->> 'key', cut) END;
    RETURN QUERY SELECT 9, NULL::name, format('SELECT spanner_internal.await_move(%L, %L, pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) interval ''10 min'') WHERE EXISTS (SELECT FROM pg_catalog.jsonb_array_elements_text(spanner_internal.split_facts(%1$L, NULL, NULL) OPERATOR(pg_catalog.->) ''moves'') m WHERE m OPERATOR(pg_catalog.=) ''slot %2$s'')', source, move);
  END IF;
  RETURN QUERY SELECT 10, to_server, format('DO %s BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_subscription WHERE subname OPERATOR(pg_catalog.=) %L) THEN ALTER SUBSCRIPTION %I DISABLE; ALTER SUBSCRIPTION %3$I SET (slot_name = NONE); DROP SUBSCRIPTION %3$I; END IF; END %1$s', mark, move, move);
  RETURN QUERY SELECT 11, source, s FROM unnest(ARRAY[
    format('DO %s BEGIN FOR i IN 1 .. 600 LOOP EXIT WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_replication_slots WHERE slot_name OPERATOR(pg_catalog.=) %L AND active); PERFORM pg_catalog.pg_sleep(0.1); END LOOP; END %1$s', mark, move),
    format('SELECT pg_catalog.pg_drop_replication_slot(slot_name) FROM pg_catalog.pg_replication_slots WHERE slot_name OPERATOR(pg_catalog.=) %L', move),
    format('DROP PUBLICATION IF EXISTS %I', move)]) s;
  IF cut IS NULL THEN
    RETURN QUERY SELECT 12, source, format('DROP TABLE IF EXISTS %I.%I', plan ->> 'schemaname', moved);
    RETURN QUERY SELECT 13, to_server, format('ANALYZE %s', table_there);
    RETURN;
  END IF;
  IF to_server IS NOT NULL THEN
    RETURN QUERY SELECT 12, to_server, format('DO %s BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(%L)::pg_catalog.oid AND relkind OPERATOR(pg_catalog.=) ''v'') THEN DROP VIEW %s; ALTER TABLE %s RENAME TO %I; END IF; END %1$s',
      mark, new_there, new_there, table_there, plan ->> 'new_name');
  END IF;
  IF source IS NOT NULL THEN
    RETURN QUERY SELECT 13, source, s FROM unnest(ARRAY[
      format('DELETE FROM %s WHERE %s >= %s', table_there, plan ->> 'key', cut),
      format('ALTER TABLE %s VALIDATE CONSTRAINT %I', table_there, spanner_internal.split_name(plan ->> 'tablename', '_below_' || left(md5(cut), 6)))]) s;
    RETURN QUERY SELECT 14, NULL::name, format('ALTER FOREIGN TABLE %I.%I OPTIONS (SET table_name %L)', plan ->> 'nspname', plan ->> 'name', plan ->> 'tablename');
    RETURN QUERY SELECT 15, source, format('DROP VIEW IF EXISTS %s', low);
  END IF;
  RETURN QUERY SELECT 16, source, format('ANALYZE %s', table_there);
  RETURN QUERY SELECT 17, to_server, format('ANALYZE %s', new_there);
END
$$;

COMMENT ON FUNCTION spanner.move_split(regclass, name, text, text)
  IS 'the steps that move a partition, or its part from a value on, to another server while clients write';
