/* src/splits/moves.sql */

--
-- Splits: what the program spanner_splits asks a server to do
--
-- Each server keeps a record of what a move makes there.  It is written in the transaction that
-- makes it, and nothing else is ever dropped.  What touches a table runs as its owner.
--

-- A move, a copy or a statement for all splits that has begun, and has not ended.  Here it has all
-- of the move; on another server only what was made there.
CREATE TABLE spanner.split_record (
  performer name NOT NULL DEFAULT current_user,
  move name NOT NULL,
  partition oid,
  parent oid,
  nspname name,
  name name,
  source name,
  target name,
  schemaname name,
  tablename name,
  at text,
  low name,
  high name,
  goes_back boolean NOT NULL DEFAULT false,
  former jsonb,
  moved oid,
  identity "char",
  made oid[] NOT NULL DEFAULT '{}',
  swapped boolean NOT NULL DEFAULT false,
  PRIMARY KEY (performer, move));

COMMENT ON TABLE spanner.split_record
  IS 'moves of splits, copies and statements of spanner_splits that have begun and have not ended';

-- Those of the current user: nobody else can write what he would drop.
CREATE VIEW spanner_internal.own_record WITH (security_barrier) AS
SELECT * FROM spanner.split_record r WHERE r.performer = current_user
  WITH CASCADED CHECK OPTION;
GRANT SELECT, INSERT, UPDATE (target, identity, former, made, swapped)
  ON spanner_internal.own_record TO PUBLIC;

-- What is inserted here is deleted there.  Who may delete from a table, or update all of it, may
-- also lock it, and so keep everybody from moving splits.
CREATE VIEW spanner_internal.ended_record AS SELECT move FROM spanner_internal.own_record;
CREATE RULE delete_record AS ON INSERT TO spanner_internal.ended_record DO INSTEAD
  DELETE FROM spanner.split_record r WHERE r.performer = current_user AND r.move = new.move;
GRANT INSERT ON spanner_internal.ended_record TO PUBLIC;

-- One's own moves, and those of whoever may act as the owner of the table and its partition;
-- without values of rows.
CREATE VIEW spanner_internal.begun_moves AS
SELECT r.performer, p.oid AS role, r.move, r.partition, r.parent, r.nspname, r.name, r.high, r.made,
       r.swapped
  FROM spanner.split_record r
  JOIN pg_roles p ON p.rolname = r.performer
  LEFT JOIN pg_class c ON c.oid = r.parent
 WHERE r.parent IS NOT NULL
   AND (r.performer = current_user
        OR pg_has_role(p.oid, c.relowner, 'USAGE')
           AND NOT EXISTS (SELECT
                             FROM pg_class x
                            WHERE x.oid = r.partition
                              AND NOT pg_has_role(p.oid, x.relowner, 'USAGE')));
GRANT SELECT ON spanner_internal.begun_moves TO PUBLIC;

-- Take the lock for the moves of a table until the session ends, if it is free.
CREATE FUNCTION spanner_internal.try_lock_moves(relation oid)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_try_lock_moves'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- What a name means to the program, on the search path of the user, and the table that its lock is
-- of, which is the outermost one.  Each table of a move, which may have been dropped, stands for
-- the partition that the move began with.
CREATE FUNCTION spanner_internal.find_split(given text, OUT partition oid, OUT locked oid)
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT x.oid, coalesce(pg_partition_root(x.parent), x.parent)
    FROM (SELECT to_regclass(given)::oid) t (oid)
   CROSS JOIN LATERAL (
     SELECT 1, m.partition, m.parent
       FROM pg_class c
       JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN spanner_internal.begun_moves m
         ON c.oid = m.partition OR c.oid = ANY (m.made)
            OR n.nspname = m.nspname AND c.relname IN (m.name, m.high)
               AND (m.swapped OR NOT EXISTS (SELECT FROM pg_class d WHERE d.oid = m.partition))
      WHERE c.oid = t.oid
        AND (m.performer = current_user OR pg_has_role(m.role, c.relowner, 'USAGE'))
     UNION ALL
     SELECT 2, t.oid, t.oid
     UNION ALL
     SELECT 3, r.partition, coalesce(r.parent, r.partition)
       FROM spanner_internal.own_record r
      WHERE ARRAY[given, lower(given)] && ARRAY[r.move::text, r.name::text, quote_ident(r.name),
                                                format('%I.%I', r.nspname, r.name)]
     UNION ALL
     SELECT 4, m.partition, m.parent
       FROM spanner_internal.begun_moves m
      WHERE m.move = given) x (n, oid, parent)
   WHERE x.oid IS NOT NULL
   ORDER BY x.n
   LIMIT 1;
END;

-- Names are random: what has one is of that move.
CREATE FUNCTION spanner_internal.new_move_name()
RETURNS name
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN 'spanner_move_' || left(replace(gen_random_uuid()::text, '-', ''), 12);

-- The value in the form that every session reads alike, or an error if it is not in the partition.
CREATE FUNCTION spanner_internal.cut_value(parent regclass, partition regclass, at text)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  key record := spanner_internal.split_column(parent);
  part record;
  inside boolean;
BEGIN
  IF key.typename IS NULL OR key.name IS NULL THEN
    RAISE feature_not_supported USING
      MESSAGE = format('cannot cut partition %s, which is not split by a column of a built-in type',
                       partition),
      HINT = 'Move all of it.';
  END IF;
  SELECT * INTO part FROM spanner_internal.list_splits(parent) s WHERE s.partition = partition;
  EXECUTE format('SELECT to_jsonb(x.v) #>> ''{}'', %s FROM (SELECT $1::%s%s) x (v)',
                 spanner_internal.inside_condition(key.typename, part.lower, part.upper),
                 key.typename, key.collation_clause)
    INTO at, inside USING at;
  IF NOT inside THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('%L is not within partition %s', at, partition),
      HINT = format('Its range is %s.', part.range);
  END IF;
  RETURN at;
END
$$;

-- Write down a move that begins, here.
CREATE FUNCTION spanner_internal.begin_move(partition regclass, target name, at text)
RETURNS name
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  parent constant regclass := spanner_internal.parent_of(partition);
  c pg_class := (SELECT p FROM pg_class p WHERE p.oid = partition);
  part record;
  move constant name := spanner_internal.new_move_name();
  parts name[];
BEGIN
  SELECT * INTO part FROM spanner_internal.list_splits(parent) s WHERE s.partition = partition;
  IF parent IS NULL OR part.lower IS NULL THEN
    RAISE wrong_object_type USING
      MESSAGE = format('"%s" is not a partition by range', c.relname),
      HINT = CASE c.relkind WHEN 'p' THEN 'Name one of its partitions.'
        ELSE concat('spanner.adopt_table() makes a table a partitioned one with itself ',
                    'as the only partition.') END;
  ELSIF part.server IS NOT DISTINCT FROM target THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('partition "%s" is on that server already%s', c.relname,
                       '; a cut needs another one' || left(at, 0));
  ELSIF c.relowner <> (SELECT relowner FROM pg_class WHERE oid = parent) THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('partition "%s" does not belong to the owner of table %s', c.relname,
                       parent),
      HINT = 'Run ALTER TABLE ... OWNER TO for the partition.';
  ELSIF NOT pg_has_role(c.relowner, 'USAGE') THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('must be owner of table %s', parent);
  END IF;
  PERFORM spanner_internal.check_split_server(parent, part.server),
          spanner_internal.check_split_server(parent, target);
  at := spanner_internal.cut_value(parent, partition, at);
  IF at IS NOT NULL THEN
    parts := ARRAY(SELECT n.name
                     FROM generate_series(1, 10000) i
                    CROSS JOIN LATERAL spanner_internal.split_name(c.relname, '_' || i) n (name)
                    WHERE to_regclass(format('%s.%I', c.relnamespace::regnamespace, n.name)) IS NULL
                      AND spanner_internal.find_relation(part.schemaname, n.name) IS NULL
                    LIMIT 2);
  END IF;
  INSERT INTO spanner_internal.own_record (move, partition, parent, nspname, name, source, target,
                                           schemaname, tablename, at, high, low, goes_back, moved)
  SELECT move, partition, parent, nspname, c.relname, part.server, target,
         part.schemaname, part.tablename, at, parts[1], parts[2],
         at IS NOT NULL, CASE WHEN part.server IS NULL THEN partition END
    FROM pg_namespace
   WHERE oid = c.relnamespace;
  RETURN move;
END
$$;

-- Of the commands below, those that make the table itself.
CREATE FUNCTION spanner_internal.table_definition(
  relation regclass,
  OUT n integer,
  OUT command text)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH columns AS (
    SELECT attnum, attname, atttypid, atttypmod, attnotnull, attgenerated, attstorage,
           attcompression, typstorage, pg_get_expr(d.adbin, d.adrelid) AS expression,
           CASE WHEN a.attcollation <> y.typcollation
                THEN ' COLLATE ' || a.attcollation::regcollation END AS collate_clause
      FROM pg_attribute a
      JOIN pg_type y ON y.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                            AND a.attgenerated <> ''
     WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped)
  SELECT 1, format('CREATE TABLE %s (%s)%s', relation,
           (SELECT string_agg(concat(quote_ident(attname), ' ', format_type(atttypid, atttypmod),
                     collate_clause, ' GENERATED ALWAYS AS (' || expression || CASE attgenerated
                       WHEN 'v' THEN ') VIRTUAL' ELSE ') STORED' END,
                     CASE WHEN attnotnull THEN ' NOT NULL' END), ', ' ORDER BY attnum)
              FROM columns),
           (SELECT format(' WITH (%s)', string_agg(format('%I = %L', split_part(o, '=', 1),
                     substr(o, strpos(o, '=') + 1)), ', '))
              FROM pg_class t
             CROSS JOIN unnest(t.reloptions) o
             WHERE t.oid = relation
            HAVING count(*) > 0))
  UNION ALL
  SELECT 2, concat('ALTER TABLE ', relation, spanner_internal.column_settings(relation, false))
  UNION ALL
  SELECT 2, format('ALTER TABLE %s ALTER COLUMN %I SET %s %s', relation, attname, w.setting, w.word)
    FROM columns
   CROSS JOIN LATERAL (VALUES
     ('STORAGE', CASE nullif(attstorage, typstorage) WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL'
                   WHEN 'x' THEN 'EXTENDED' WHEN 'm' THEN 'MAIN' END),
     ('COMPRESSION', CASE attcompression WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' END))
     w (setting, word)
   WHERE w.word IS NOT NULL
  UNION ALL
  SELECT 7, format('ALTER TABLE %s REPLICA IDENTITY %s', relation,
                   coalesce((SELECT 'USING INDEX ' || quote_ident(c.relname)
                               FROM pg_index i
                               JOIN pg_class c ON c.oid = i.indexrelid
                              WHERE i.indrelid = t.oid AND i.indisreplident
                                AND t.relreplident = 'i'),
                            'FULL'))
    FROM pg_class t
   WHERE t.oid = relation AND t.relreplident = ANY ('{i,f}');
END;

-- The commands that make such a table, as this server writes them, in a session whose settings
-- the program has set.
CREATE FUNCTION spanner_internal.split_definition(
  relation regclass,
  OUT n integer,
  OUT command text)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT * FROM spanner_internal.table_definition(relation)
  UNION ALL
  SELECT CASE WHEN k.conname ~ '_bounds$' THEN 8 ELSE 3 END,
         format('ALTER TABLE %s ADD CONSTRAINT %I %s', relation, k.conname,
                pg_get_constraintdef(k.oid))
    FROM pg_constraint k
   WHERE k.conrelid = relation AND k.contype = ANY ('{p,u,x,c}')
  UNION ALL
  SELECT 8, format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s)', relation, b.name,
                   pg_get_partition_constraintdef(relation))
    FROM pg_class t
   CROSS JOIN spanner_internal.split_name(t.relname, '_bounds') b (name)
   WHERE t.oid = relation AND pg_get_partition_constraintdef(relation) IS NOT NULL
     AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = relation AND conname = b.name)
  UNION ALL
  SELECT 4, pg_get_indexdef(i.indexrelid)
    FROM pg_index i
   WHERE i.indrelid = relation AND i.indisvalid
     AND NOT EXISTS (SELECT FROM pg_constraint k
                      WHERE k.conindid = i.indexrelid AND k.contype = ANY ('{p,u,x}'))
  UNION ALL
  SELECT 5, pg_get_statisticsobjdef(s.oid) FROM pg_statistic_ext s WHERE s.stxrelid = relation
  UNION ALL
  SELECT 6, pg_get_triggerdef(g.oid)
    FROM pg_trigger g
   WHERE g.tgrelid = relation AND NOT g.tgisinternal AND g.tgparentid = 0
     AND g.tgfoid = 'spanner.fill_shard()'::regprocedure
   ORDER BY 1, 2;
END;

-- What two tables of one split have to have in common, whatever their names are.
CREATE FUNCTION spanner_internal.split_signature(relation regclass)
RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT array_agg(t.text ORDER BY t.text COLLATE "C")
    FROM jsonb_to_recordset(spanner_internal.table_parts(relation))
         p (kind text, name text, text text, not_null boolean, generated text)
   CROSS JOIN LATERAL concat_ws(' ', CASE p.kind WHEN 'column' THEN quote_ident(p.name)
                                                 WHEN 'index' THEN 'INDEX' END, p.text,
                                p.generated, CASE WHEN p.not_null THEN 'NOT NULL' END) t (text)
   WHERE p.kind <> 'check' OR p.name !~ '_bounds$';
END;

-- A generated column in a key cannot be published; the table that changes may be the parent.
CREATE FUNCTION spanner_internal.make_shards_plain(keyed regclass, changed regclass)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT spanner_internal.run_as_owner(changed, c)
    FROM pg_attribute a
    JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
   CROSS JOIN pg_identify_object('pg_class'::regclass, changed, 0) i
   CROSS JOIN LATERAL spanner_internal.plain_shard_statements(i.identity, quote_ident(a.attname),
     pg_get_expr(d.adbin, d.adrelid)) c
   WHERE a.attrelid = keyed AND a.attgenerated = 's'
     AND starts_with(pg_get_expr(d.adbin, d.adrelid), 'spanner.shard_id(')
     AND EXISTS (SELECT FROM pg_index x
                  WHERE x.indrelid = keyed AND x.indisunique
                    AND a.attnum = ANY (x.indkey::int2[]));
END;

-- The commands that give the tables of a cut their own names, as CREATE has given them others.
CREATE FUNCTION spanner_internal.rename_commands(relation regclass, new_name name)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT format('ALTER INDEX %s RENAME TO %I', i.indexrelid::regclass,
                spanner_internal.split_index_name(new_name,
                  CASE WHEN starts_with(c.relname, t.relname || '_')
                       THEN substr(c.relname, length(t.relname) + 2) ELSE c.relname END))
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_class t ON t.oid = i.indrelid
   WHERE i.indrelid = relation
  UNION ALL
  SELECT format('ALTER STATISTICS %s.%I RENAME TO %I', s.stxnamespace::regnamespace, s.stxname,
                spanner_internal.split_index_name(new_name, s.stxname))
    FROM pg_statistic_ext s
   WHERE s.stxrelid = relation
  UNION ALL
  SELECT format('ALTER TABLE %s RENAME TO %I', relation, new_name);
END;

-- The ranges of the parts that a split has after the move.
CREATE FUNCTION spanner_internal.move_ranges(
  m spanner.split_record,
  OUT name name,
  OUT tablename name,
  OUT range text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT x.name, x.tablename, format('FOR VALUES FROM %s TO %s', x.lower, x.upper)
    FROM pg_partitioned_table p
   CROSS JOIN spanner_internal.split_bounds(m.former ->> 'range') b
   CROSS JOIN LATERAL spanner_internal.bound_clause(quote_literal(m.at), '', p.partnatts) c (point)
   CROSS JOIN LATERAL (VALUES
     (m.name, coalesce(m.low, m.tablename), b.all_lower,
      CASE WHEN m.at IS NULL THEN b.all_upper ELSE c.point END, true),
     (m.high, m.high, c.point, b.all_upper, m.at IS NOT NULL))
     x (name, tablename, lower, upper, is_there)
   WHERE p.partrelid = m.parent AND x.is_there;
END;

-- What is known of a partition before it is dropped.
CREATE FUNCTION spanner_internal.note_former(move name)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
  UPDATE spanner_internal.own_record r
     SET former = jsonb_build_object('range', s.range, 'commands', (
           SELECT coalesce(jsonb_agg(jsonb_build_array(c.head, c.tail)), '[]')
             FROM (SELECT g.head, g.tail
                     FROM spanner_internal.table_grants(r.partition::regclass, NULL, NULL) g
                   UNION ALL
                   SELECT 'ALTER TABLE ',
                          spanner_internal.column_settings(r.partition::regclass, false)) c))
    FROM spanner_internal.own_record o
   CROSS JOIN LATERAL spanner_internal.list_splits(o.parent) s
   WHERE r.move = note_former.move AND o.move = r.move AND s.partition = r.partition
     AND NOT r.swapped;
END;

-- The swap begins: nobody writes to the split any more when this has returned.
CREATE FUNCTION spanner_internal.begin_swap(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  m spanner.split_record;
BEGIN
  SELECT * INTO STRICT m
    FROM spanner_internal.own_record r
   WHERE r.move = begin_swap.move AND NOT r.swapped;
  -- if it is here, a stronger lock would be logged, and be waited for as unflushed
  PERFORM spanner_internal.run_as_owner(m.parent, format('LOCK TABLE ONLY %s%s EXCLUSIVE MODE',
    m.parent::regclass, CASE WHEN m.source IS NULL
                             THEN format(', ONLY %s IN SHARE ROW', m.partition::regclass)
                             ELSE ' IN ACCESS' END));
  PERFORM spanner_internal.note_former(move);
  IF NOT EXISTS (SELECT FROM spanner_internal.list_splits(m.parent) s
                  WHERE s.partition = m.partition AND s.server IS NOT DISTINCT FROM m.source) THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('partition "%s" is not where the move has found it', m.name);
  ELSIF m.source IS NOT NULL THEN
    PERFORM spanner_internal.run_as_owner(m.parent,
      format('DROP FOREIGN TABLE %s', m.partition::regclass));
  END IF;
END
$$;

-- The commands that put the new partitions in the place of the old one.  A foreign one gets the
-- rights and the statistics targets that the one before had.
CREATE FUNCTION spanner_internal.swap_commands(m spanner.split_record)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT format('ALTER TABLE %s DETACH PARTITION %s', m.parent::regclass, m.partition::regclass)
   WHERE m.source IS NULL
  UNION ALL
  SELECT format('ALTER TABLE %s RENAME TO %I', m.partition::regclass,
                spanner_internal.split_name(m.name, '_' || right(m.move, 12)))
   WHERE m.source IS NULL
  UNION ALL
  SELECT x.command
    FROM spanner_internal.move_ranges(m) p
   CROSS JOIN LATERAL (
     VALUES (format('%I.%I', m.nspname, p.name), format('%I.%I', m.schemaname, p.tablename),
             format('%I.%I', m.nspname, p.tablename), p.name <> p.tablename
             AND (m.at IS NULL OR (m.nspname, p.name) <> (m.schemaname, m.tablename))))
     t (partition, made, moved, is_renamed)
   CROSS JOIN LATERAL (
     SELECT format('CREATE FOREIGN TABLE %s PARTITION OF %s %s SERVER %I OPTIONS (schema_name %L, '
                   'table_name %L, batch_size ''1000'', async_capable ''true'')', t.partition,
                   m.parent::regclass, p.range, m.target, m.schemaname, p.tablename)
      WHERE m.target IS NOT NULL
     UNION ALL
     SELECT concat(c ->> 0, t.partition, c ->> 1)
       FROM jsonb_array_elements(m.former -> 'commands') c
      WHERE m.target IS NOT NULL
     UNION ALL
     SELECT format('ALTER TABLE %I.%I DETACH PARTITION %s', m.schemaname, m.tablename, t.made)
      WHERE m.target IS NULL AND m.at IS NOT NULL
     UNION ALL
     SELECT format('ALTER TABLE %s SET SCHEMA %I', t.made, m.nspname)
      WHERE m.target IS NULL AND m.nspname <> m.schemaname
     UNION ALL
     SELECT format('ALTER TABLE %s RENAME TO %I', t.moved, p.name)
      WHERE m.target IS NULL AND t.is_renamed
     UNION ALL
     SELECT format('ALTER TABLE %s ATTACH PARTITION %s %s', m.parent::regclass,
                   CASE WHEN t.is_renamed THEN t.partition ELSE t.moved END, p.range)
      WHERE m.target IS NULL) x (command);
END;

-- The swap ends: the new partitions are in the place of the old one.
CREATE FUNCTION spanner_internal.end_swap(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  m spanner.split_record;
BEGIN
  SELECT * INTO STRICT m FROM spanner_internal.own_record r WHERE r.move = end_swap.move;
  PERFORM spanner_internal.check_split_server(m.parent, m.target);
  -- all are made before the first one runs
  PERFORM spanner_internal.run_as_owner(m.parent, c)
     FROM unnest(ARRAY(SELECT spanner_internal.swap_commands(m))) c;
  UPDATE spanner_internal.own_record r SET swapped = true WHERE r.move = end_swap.move;
END
$$;

-- Drop what a record has: tables that a move has made, or that it has left.
CREATE FUNCTION spanner_internal.drop_recorded(move name)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT spanner_internal.run_as_owner(min(c.oid), 'DROP TABLE ' || string_agg(
           format('%I.%I', n.nspname, c.relname), ', '))
    FROM spanner_internal.own_record r
    JOIN pg_class c ON c.oid = ANY (r.made) AND c.relkind = ANY ('{r,p}')
    JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE r.move = drop_recorded.move
  HAVING count(*) > 0;
END;

-- The subscription of a move ends; its slot is dropped on its own server.
CREATE FUNCTION spanner_internal.end_subscription(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_subscription s
               JOIN pg_database d ON d.oid = s.subdbid AND d.datname = current_database()
              WHERE s.subname = move) THEN
    EXECUTE format('ALTER SUBSCRIPTION %I DISABLE', move);
    EXECUTE format('ALTER SUBSCRIPTION %I SET (slot_name = NONE)', move);
    EXECUTE format('DROP SUBSCRIPTION %I', move);
  END IF;
END
$$;

-- How the current user connects to a foreign server.
CREATE FUNCTION spanner_internal.server_options(server name, OUT keyword text, OUT value text)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT spanner_internal.check_server(server, r.oid)
    FROM pg_roles r
   WHERE r.rolname = current_user;
  SELECT DISTINCT ON (x.name) x.name, x.value
    FROM pg_foreign_server s
   CROSS JOIN LATERAL (
     SELECT 3, 'user', current_user::text
     UNION ALL
     SELECT 2, o.option_name, o.option_value FROM pg_options_to_table(s.srvoptions) o
     UNION ALL
     SELECT 1, o.option_name, o.option_value
       FROM (SELECT u.umoptions
               FROM pg_user_mappings u
              WHERE u.srvid = s.oid AND (u.umuser = 0 OR u.usename = current_user)
              ORDER BY u.umuser DESC
              LIMIT 1) u
      CROSS JOIN pg_options_to_table(u.umoptions) o) x (n, name, value)
   WHERE s.srvname = server
   ORDER BY x.name, x.n;
END;

-- How a subscription on another server reaches a server; NULL is this one.
CREATE FUNCTION spanner_internal.subscription_connection(server name)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT string_agg(format('%s=''%s''', x.keyword,
                           regexp_replace(x.value, '([\\''])', '\\\1', 'g')), ' '
                    ORDER BY x.keyword)
    FROM (SELECT o.keyword, o.value
            FROM spanner_internal.server_options(server) o
           WHERE o.keyword = ANY (
             '{host,hostaddr,port,dbname,user,password,service,sslmode,sslrootcert}')
          UNION ALL
          SELECT l.keyword, l.value
            FROM (VALUES ('host', coalesce(host(inet_server_addr()), (
                           -- who may not see the setting gets the default of libpq
                           SELECT split_part(setting, ',', 1)
                             FROM pg_settings
                            WHERE name = 'unix_socket_directories'))),
                         ('port', current_setting('port')),
                         ('dbname', current_database()),
                         ('user', current_user)) l (keyword, value)
           WHERE server IS NULL AND l.value IS NOT NULL) x;
END;
