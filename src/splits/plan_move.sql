/* src/splits/plan_move.sql */

--
-- Splits: all that a move is made of
--
-- A move is planned of what the catalogs here know of the partition and its table.  What the source
-- says of its table is compared with that.
--

-- All that the steps are made of.  "partition" is known here by "nspname" and "name", and the rows
-- are in "tablename" of "server"; the table on the target gets the same name.  "new_name" is what
-- the partition on the target will be called here.
CREATE TYPE spanner_internal.split_move AS (
  move name, partition regclass, parent regclass, nspname name, name name, new_name name,
  server name, schemaname name, tablename name, to_server name, cut jsonb, shard name,
  definition jsonb, connection text);

-- While a split is coming here, its name is that of the table that is made for it.
CREATE FUNCTION spanner_internal.find_split(partition regclass, to_server name)
RETURNS spanner_internal.split_move
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
#variable_conflict use_variable
DECLARE
  m spanner_internal.split_move;
BEGIN
  SELECT n.nspname, c.relname INTO m.nspname, m.name
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = partition;
  m.partition := partition;
  IF to_server IS NULL AND spanner_internal.parent_of(partition) IS NULL THEN
    m.partition := spanner_internal.find_relation(m.nspname,
                     spanner_internal.split_name(m.name, '_away'));
  END IF;
  m.parent := spanner_internal.parent_of(m.partition);
  IF m.parent IS NULL THEN
    RAISE wrong_object_type USING
      MESSAGE = format('"%s" is not a partition', coalesce(m.name, partition::oid::text)),
      HINT = concat('spanner.adopt_table() makes a table a partitioned one with itself ',
                    'as the only partition.');
  END IF;
  m.new_name := m.name;
  m.to_server := to_server;
  m.move := 'spanner_move_' || left(md5(format('%I.%I', m.nspname, m.name)), 12);
  RETURN m;
END
$$;

-- The owner of the table runs the code of its partitions, so they have to be of the same owner.
CREATE FUNCTION spanner_internal.check_split_owner(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  p pg_class;
  t pg_class;
BEGIN
  SELECT * INTO p FROM pg_class WHERE oid = partition;
  SELECT * INTO t FROM pg_class WHERE oid = parent;
  IF p.relowner <> t.relowner THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('partition "%s" does not belong to the owner of table "%s"',
                       p.relname, t.relname),
      HINT = 'Run ALTER TABLE ... OWNER TO for the partition.';
  END IF;
END
$$;

-- Can it go there?
CREATE FUNCTION spanner_internal.check_move(m spanner_internal.split_move, is_cut boolean)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM spanner_internal.check_split_server(m.parent, s)
     FROM unnest(ARRAY[m.server, m.to_server]) s
    WHERE s IS NOT NULL;
  IF m.server IS NOT DISTINCT FROM m.to_server THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('partition "%s" is on that server already', m.name),
      HINT = 'Name another server; NULL is this one.';
  ELSIF m.to_server IS NULL AND (m.schemaname, m.tablename) <> (m.nspname, m.name) THEN
    RAISE feature_not_supported USING
      MESSAGE = format('table "%s.%s" on server "%s" has another name than partition "%s"',
                       m.schemaname, m.tablename, m.server, m.name),
      HINT = 'Rename the partition first: replication needs the same name on both sides.';
  ELSIF m.to_server IS NOT NULL OR is_cut THEN
    PERFORM spanner_internal.check_no_unique_index(m.parent);
  END IF;
  PERFORM spanner_internal.check_split_owner(m.parent, m.partition);
END
$$;

-- The value is kept as a text that every session reads alike.
CREATE FUNCTION spanner_internal.cut_of(m spanner_internal.split_move, at text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
#variable_conflict use_variable
DECLARE
  key record := spanner_internal.split_column(m.parent);
  part record;
  inside boolean;
BEGIN
  IF at IS NULL THEN
    RETURN NULL;
  ELSIF key.typename IS NULL OR key.name IS NULL THEN
    RAISE feature_not_supported USING
      MESSAGE = format('cannot cut partition "%s", which is not split by a column of %s', m.name,
                       'a built-in type'),
      HINT = 'Move all of it.';
  END IF;
  SELECT * INTO part FROM spanner_internal.list_splits(m.parent) s WHERE s.partition = m.partition;
  EXECUTE format('SELECT to_jsonb(x.v) #>> ''{}'', %s FROM (SELECT $1::%s%s) x (v)',
                 spanner_internal.inside_condition(key.typename, part.lower, part.upper),
                 key.typename, key.collation_clause)
    INTO at, inside USING at;
  IF NOT inside THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('%L is not within partition "%s"', at, m.name),
      HINT = format('Its range is %s.', part.range);
  END IF;
  RETURN jsonb_strip_nulls(jsonb_build_object('column', key.name, 'at', at, 'collation', (
    SELECT jsonb_build_array(n.nspname, o.collname)
      FROM pg_partitioned_table p
      JOIN pg_attribute a ON a.attrelid = m.parent AND a.attnum = key.attnum
                         AND a.attcollation <> p.partcollation[0]
      JOIN pg_collation o ON o.oid = p.partcollation[0]
      JOIN pg_namespace n ON n.oid = o.collnamespace
     WHERE p.partrelid = m.parent)));
END
$$;

-- A name for the new partition when a split is cut.
CREATE FUNCTION spanner_internal.free_name(m spanner_internal.split_move)
RETURNS name
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT n.name
    FROM generate_series(1, 10000) i
   CROSS JOIN LATERAL spanner_internal.split_name(m.name, '_' || i) n (name)
   WHERE NOT EXISTS (
     SELECT FROM pg_class c
      WHERE c.oid = spanner_internal.find_relation(m.nspname, n.name)
        AND (c.relispartition OR m.to_server IS NOT NULL))
   ORDER BY i
   LIMIT 1;
END;

-- The source has to answer, to have the table, and to be able to publish it.  The target has to
-- have the same version of the extension.  A move that is given up publishes nothing.
CREATE FUNCTION spanner_internal.ask_for_move(m spanner_internal.split_move, give_up boolean)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  facts jsonb := spanner_internal.ask_server(m.server, m.schemaname, m.tablename);
BEGIN
  IF jsonb_typeof(facts -> 'table') IS DISTINCT FROM 'object' THEN
    RAISE undefined_table USING
      MESSAGE = format('there is no table "%s.%s" on server "%s"', m.schemaname, m.tablename,
                       m.server),
      HINT = 'If a former move has not ended, run its other steps.';
  ELSIF NOT give_up THEN
    PERFORM spanner_internal.check_move_obstacle(m.tablename, facts #>> '{table,move_obstacle}');
    IF facts ->> 'wal_level' <> 'logical' THEN
      RAISE object_not_in_prerequisite_state USING
        MESSAGE = format('wal_level of %s is %s',
                         coalesce('server "' || m.server || '"', 'this server'),
                         facts ->> 'wal_level'),
        HINT = 'Set wal_level to logical there and restart that server.';
    END IF;
  END IF;
  PERFORM spanner_internal.ask_server(m.to_server, NULL, NULL);
  RETURN facts -> 'table';
END
$$;

-- Constraints that moves have made say which rows a split had before.
CREATE FUNCTION spanner_internal.is_bounds_check(name text)
RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN name ~ '_bounds$|_below_[0-9a-f]{6}$';

-- A key that another server describes is taken over by the names of its columns, if they are
-- columns here; what has expressions, or is no B-tree, is not.
CREATE FUNCTION spanner_internal.taken_index(columns jsonb, definition jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT jsonb_strip_nulls(jsonb_build_object(
           'name', definition ->> 'name',
           'kind', CASE WHEN definition ->> 'kind' = ANY ('{p,u}') THEN definition ->> 'kind' END,
           'unique', true, 'method', 'btree',
           'keys', (SELECT jsonb_agg(jsonb_build_object('column', k ->> 'column') ORDER BY n)
                      FROM jsonb_array_elements(definition -> 'keys') WITH ORDINALITY x (k, n)),
           'include', definition -> 'include',
           'nulls_not_distinct', (definition ->> 'nulls_not_distinct')::boolean,
           'deferrable', (definition ->> 'deferrable')::boolean,
           'deferred', (definition ->> 'deferred')::boolean))
   WHERE definition ->> 'unique' = 'true' AND definition ->> 'method' = 'btree'
     AND definition -> 'predicate' IS NULL AND definition -> 'period' IS NULL
     AND NOT EXISTS (
       SELECT FROM jsonb_array_elements(definition -> 'keys') k
        WHERE k ->> 'column' IS NULL
           OR NOT columns @> jsonb_build_array(jsonb_build_object('name', k ->> 'column')));
END;

-- What another server says must be what is known here, but for keys, which the table here cannot
-- have.  "wanted" has the indexes of the partitioned table.
CREATE FUNCTION spanner_internal.check_found_table(
  m spanner_internal.split_move,
  wanted jsonb,
  there jsonb)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  unknown_indexes jsonb := (
    SELECT coalesce(jsonb_agg(f), '[]')
      FROM jsonb_array_elements(there -> 'indexes') f
     WHERE spanner_internal.taken_index(wanted -> 'columns', f) IS NULL
       AND NOT EXISTS (SELECT FROM jsonb_array_elements(wanted -> 'indexes') w
                        WHERE f - 'name' = w - 'name'));
  problem text;
BEGIN
  WITH problems (finding, detail) AS (
    SELECT d.finding, d.detail
      FROM spanner_internal.split_differences(wanted, there) d
     WHERE d.finding = ANY ('{column missing,column not here,check missing}')
    UNION ALL
    SELECT 'check not here', quote_ident(f ->> 'name')
      FROM jsonb_array_elements(there -> 'checks') f
     WHERE NOT spanner_internal.is_bounds_check(f ->> 'name')
       AND f ->> 'name' IS DISTINCT FROM concat('spanner_', m.shard, '_check')
       AND NOT EXISTS (SELECT FROM jsonb_array_elements(wanted -> 'checks') w
                        WHERE w -> 'name' = f -> 'name')
    UNION ALL
    SELECT 'index not here', quote_ident(f ->> 'name')
      FROM jsonb_array_elements(unknown_indexes) f
     WHERE f ->> 'unique' = 'true' OR f ->> 'kind' = 'x')
  SELECT string_agg(concat(finding, ': ', detail), '; ' ORDER BY finding, detail)
    INTO problem
    FROM problems;
  IF problem IS NOT NULL THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('table "%s.%s" on server "%s" is not like partition "%s"',
                       m.schemaname, m.tablename, m.server, m.name),
      DETAIL = format('These differ: %s.', problem),
      HINT = concat('Make both alike first: the table of the move is made of what is known here. ',
                    'Drop an index there that the partitioned table cannot have.');
  END IF;
  FOR problem IN
    SELECT quote_ident(f ->> 'name') FROM jsonb_array_elements(unknown_indexes) f
  LOOP
    RAISE NOTICE 'index % does not move along', problem;
  END LOOP;
END
$$;

-- A column that is generated as a shard, and in a key.
CREATE FUNCTION spanner_internal.generated_shard(columns jsonb, indexes jsonb)
RETURNS name
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT (c ->> 'name')::name
    FROM jsonb_array_elements(columns) c
   WHERE starts_with(c ->> 'generated', 'spanner.shard_id(') AND (c ->> 'stored')::boolean
     AND EXISTS (SELECT FROM jsonb_array_elements(indexes) i
                  WHERE i ->> 'unique' = 'true'
                    AND i -> 'keys' @> jsonb_build_array(jsonb_build_object('column', c -> 'name')))
   LIMIT 1;
END;

-- It becomes a plain column with a CHECK constraint, see plain_shard_statements().
CREATE FUNCTION spanner_internal.plain_shard(definition jsonb, shard name)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET quote_all_identifiers = off
RETURN definition || coalesce((
         SELECT jsonb_build_object(
                  'fill_shard', true,
                  'columns', (SELECT jsonb_agg(CASE WHEN x.c ->> 'name' = shard
                                                    THEN x.c - 'generated' - 'stored'
                                                    ELSE x.c END ORDER BY n)
                                FROM jsonb_array_elements(definition -> 'columns')
                                     WITH ORDINALITY x (c, n)),
                  'checks', (definition -> 'checks') || jsonb_build_object(
                    'name', concat('spanner_', shard, '_check'),
                    'expression', format('%I = %s', shard, c ->> 'generated')))
           FROM jsonb_array_elements(definition -> 'columns') c
          WHERE c ->> 'name' = shard), '{}');

-- The table on the target, of what is known here.
CREATE FUNCTION spanner_internal.describe_target(
  m spanner_internal.split_move,
  known jsonb)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH kept AS (
    SELECT known || jsonb_build_object('checks', coalesce(jsonb_agg(c ORDER BY n), '[]')) AS d
      FROM jsonb_array_elements(known -> 'checks') WITH ORDINALITY x (c, n)
     WHERE (c ->> 'inherited')::boolean OR NOT spanner_internal.is_bounds_check(c ->> 'name'))
  SELECT p || jsonb_build_object(
           'version', spanner_internal.extension_version(),
           'owner', spanner_internal.owner_there(m.parent, m.to_server),
           'grants', spanner_internal.grants_there(m.partition, m.to_server),
           'indexes', spanner_internal.name_indexes(p -> 'indexes', m.tablename, m.new_name),
           'checks', (p -> 'checks') || spanner_internal.bounds_check(m.tablename,
             concat_ws(' AND ', spanner_internal.describe_bounds(m.partition),
                       spanner_internal.cut_condition(m.cut, '>='))))
    FROM kept
   CROSS JOIN LATERAL spanner_internal.plain_shard(d, m.shard) p;
END;

-- How the target reaches the source: as the foreign server says, and as this session does.
CREATE FUNCTION spanner_internal.connection_to(server name)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH options (n, name, value) AS (
    SELECT 1, o.option_name, o.option_value
      FROM pg_foreign_server s
     CROSS JOIN pg_options_to_table(s.srvoptions) o
     WHERE s.srvname = server
       AND o.option_name = ANY ('{host,hostaddr,port,dbname,service,sslmode,sslrootcert}')
    UNION ALL
    SELECT 2, o.option_name, o.option_value
      FROM pg_user_mappings m
     CROSS JOIN pg_options_to_table(m.umoptions) o
     WHERE m.srvname = server AND m.usename = current_user AND o.option_name = 'user'
    UNION ALL
    SELECT 1, l.name, l.value
      FROM (VALUES ('host', coalesce(host(inet_server_addr()), (
                      -- who may not see the setting gets the default of libpq
                      SELECT split_part(setting, ',', 1)
                        FROM pg_settings
                       WHERE name = 'unix_socket_directories'))),
                   ('port', current_setting('port')),
                   ('dbname', current_database()),
                   ('user', current_user)) l (name, value)
     WHERE server IS NULL AND l.value IS NOT NULL)
  SELECT string_agg(format('%s=''%s''', name, regexp_replace(value, '([\\''])', '\\\1', 'g')),
                    ' ' ORDER BY n)
    FROM options;
END;

-- All that the steps of a move are made of.
CREATE FUNCTION spanner_internal.plan_move(
  partition regclass,
  to_server name,
  at text,
  connection text,
  give_up boolean)
RETURNS spanner_internal.split_move
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  m spanner_internal.split_move := spanner_internal.find_split(partition, to_server);
  part record;
  known jsonb;
  facts jsonb;
  there jsonb;
BEGIN
  SELECT * INTO part FROM spanner_internal.list_splits(m.parent) s WHERE s.partition = m.partition;
  IF part.lower IS NULL THEN
    RAISE wrong_object_type USING
      MESSAGE = format('partition "%s" is no range of keys', m.name),
      HINT = concat('Move a partition that has no partitions itself, of a table that is ',
                    'partitioned by range.');
  END IF;
  m.server := part.server;
  m.schemaname := part.schemaname;
  m.tablename := part.tablename;
  PERFORM spanner_internal.check_move(m, at IS NOT NULL);
  m.cut := spanner_internal.cut_of(m, at);
  IF m.cut IS NOT NULL THEN
    m.new_name := spanner_internal.free_name(m);
  END IF;
  facts := spanner_internal.ask_for_move(m, coalesce(give_up, false));
  there := facts -> 'definition';
  known := spanner_internal.describe_table(m.partition);
  m.shard := spanner_internal.generated_shard(known -> 'columns', there -> 'indexes');
  IF m.server IS NOT NULL THEN
    known := jsonb_set(known, '{indexes}',
                       spanner_internal.describe_table(m.parent) -> 'indexes');
    PERFORM spanner_internal.check_found_table(m, known, there);
    known := jsonb_set(known, '{indexes}', (known -> 'indexes') || (
      SELECT coalesce(jsonb_agg(t), '[]')
        FROM jsonb_array_elements(there -> 'indexes') f
       CROSS JOIN LATERAL spanner_internal.taken_index(known -> 'columns', f) t
       WHERE t IS NOT NULL));
  END IF;
  m.definition := jsonb_strip_nulls(spanner_internal.describe_target(m, known));
  m.connection := coalesce(connection, spanner_internal.connection_to(m.server));
  PERFORM spanner_internal.tell_what_stays(m, facts);
  RETURN m;
END
$$;

-- Notices of what a split loses: foreign keys, triggers, statistics objects, parameters.
CREATE FUNCTION spanner_internal.tell_what_stays(
  m spanner_internal.split_move,
  facts jsonb)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  lost text;
BEGIN
  FOR lost IN SELECT jsonb_array_elements_text(facts -> 'foreign_keys')
  LOOP
    RAISE NOTICE 'foreign key % does not move along', lost;
  END LOOP;
  FOR lost IN
    SELECT quote_ident(tgname)
      FROM pg_trigger
     WHERE tgrelid = m.partition AND tgparentid = 0 AND NOT tgisinternal
       AND tgfoid <> 'spanner.fill_shard()'::regprocedure
     ORDER BY tgname
  LOOP
    RAISE NOTICE 'trigger % does not move along', lost;
  END LOOP;
  -- those without a target are made anew there, by themselves
  FOR lost IN
    SELECT quote_ident(stxname)
      FROM pg_statistic_ext
     WHERE stxrelid = m.partition AND stxstattarget IS DISTINCT FROM 0
     ORDER BY stxname
  LOOP
    RAISE NOTICE 'statistics object % does not move along', lost;
  END LOOP;
  -- what another server says becomes no part of a statement
  FOR lost IN
    SELECT o
      FROM jsonb_array_elements_text(facts #> '{definition,options}') o
     WHERE NOT coalesce(m.definition -> 'options', '[]') ? o
  LOOP
    RAISE NOTICE 'storage parameter % does not move along', lost;
  END LOOP;
END
$$;
