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
  made oid[] NOT NULL DEFAULT '{}',
  swapped boolean NOT NULL DEFAULT false,
  PRIMARY KEY (performer, move));

COMMENT ON TABLE spanner.split_record
  IS 'moves of splits, copies and statements of spanner_splits that have begun and have not ended';

-- Those of the current user: nobody else can write what he would drop.
CREATE VIEW spanner_internal.own_record WITH (security_barrier) AS
SELECT * FROM spanner.split_record r WHERE r.performer = current_user
  WITH CASCADED CHECK OPTION;
GRANT SELECT, INSERT, UPDATE, DELETE ON spanner_internal.own_record TO PUBLIC;

-- Moves of whoever may act as the owner of the table; without values of rows.
CREATE VIEW spanner_internal.begun_moves AS
SELECT r.performer, r.move, r.partition, r.parent, r.nspname, r.name, r.swapped
  FROM spanner.split_record r
  JOIN pg_class c ON c.oid = r.parent
  JOIN pg_roles p ON p.rolname = r.performer AND pg_has_role(p.oid, c.relowner, 'USAGE');
GRANT SELECT ON spanner_internal.begun_moves TO PUBLIC;

-- Names are random: what has one is of that move.
CREATE FUNCTION spanner_internal.new_move_name()
RETURNS name
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN 'spanner_move_' || left(replace(gen_random_uuid()::text, '-', ''), 12);

-- A name that is free here, and is that of no part of a move.
CREATE FUNCTION spanner_internal.free_split_name(schemaname name, base name, first integer)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT n.name
    FROM generate_series(greatest(first, 0), 10000) i
   CROSS JOIN LATERAL spanner_internal.split_name(base, '_' || i) n (name)
   WHERE spanner_internal.find_relation(schemaname, n.name) IS NULL
   ORDER BY i
   LIMIT 1;
END;

-- The value in the form that every session reads alike, or an error if it is not in the partition.
CREATE FUNCTION spanner_internal.cut_value(parent regclass, partition regclass, at text)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
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
SET quote_all_identifiers = off
AS $$
#variable_conflict use_variable
DECLARE
  parent constant regclass := spanner_internal.parent_of(partition);
  c pg_class;
  part record;
  move constant name := spanner_internal.new_move_name();
  other name := (SELECT m.performer FROM spanner_internal.begun_moves m
                  WHERE m.partition = begin_move.partition LIMIT 1);
BEGIN
  SELECT * INTO c FROM pg_class WHERE oid = partition;
  SELECT * INTO part FROM spanner_internal.list_splits(parent) s WHERE s.partition = partition;
  IF parent IS NULL OR part.lower IS NULL THEN
    RAISE wrong_object_type USING
      MESSAGE = format('"%s" is not a partition by range', c.relname),
      HINT = CASE c.relkind WHEN 'p' THEN 'Name one of its partitions.'
        ELSE concat('spanner.adopt_table() makes a table a partitioned one with itself ',
                    'as the only partition.') END;
  ELSIF other IS NOT NULL THEN
    RAISE object_in_use USING
      MESSAGE = format('role "%s" has begun a move of partition "%s"', other, c.relname),
      HINT = 'Let that role end it.';
  ELSIF part.server IS NOT DISTINCT FROM target THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('partition "%s" is on that server already', c.relname);
  ELSIF c.relowner <> (SELECT relowner FROM pg_class WHERE oid = parent) THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('partition "%s" does not belong to the owner of table %s', c.relname,
                       parent),
      HINT = 'Run ALTER TABLE ... OWNER TO for the partition.';
  ELSIF NOT pg_has_role(c.relowner, 'USAGE') THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('must be owner of table %s', parent);
  END IF;
  PERFORM spanner_internal.check_split_server(parent, s)
     FROM unnest(ARRAY[part.server, target]) s
    WHERE s IS NOT NULL;
  PERFORM spanner_internal.check_no_unique_index(parent);
  at := spanner_internal.cut_value(parent, partition, at);
  INSERT INTO spanner_internal.own_record (move, partition, parent, nspname, name, source, target,
                                           schemaname, tablename, at, high, low, goes_back, moved)
  SELECT move, partition, parent, n.nspname, c.relname, part.server, target,
         part.schemaname, part.tablename, at, h.name,
         spanner_internal.free_split_name(n.nspname, c.relname,
           substring(h.name::text, '[0-9]+$')::integer + 1),
         at IS NOT NULL, CASE WHEN part.server IS NULL THEN partition END
    FROM pg_namespace n
    LEFT JOIN LATERAL (SELECT spanner_internal.free_split_name(n.nspname, c.relname, 1)
                        WHERE at IS NOT NULL) h (name) ON true
   WHERE n.oid = c.relnamespace;
  RETURN move;
END
$$;

-- How this server sorts what a collation or an enum orders.
CREATE FUNCTION spanner_internal.sorting(kind text, schemaname name, object_name name)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE kind
    WHEN 'enum' THEN (
      SELECT string_agg(quote_literal(e.enumlabel), ' ' ORDER BY e.enumsortorder)
        FROM pg_enum e
        JOIN pg_type t ON t.oid = e.enumtypid
        JOIN pg_namespace n ON n.oid = t.typnamespace
       WHERE n.nspname = schemaname AND t.typname = object_name)
    ELSE (
      SELECT spanner_internal.sorting(o.oid)
        FROM pg_collation o
        JOIN pg_namespace n ON n.oid = o.collnamespace
       WHERE n.nspname = schemaname AND o.collname = object_name
       ORDER BY o.collencoding DESC
       LIMIT 1) END;
END;

-- What has to sort alike on all servers of a table.
CREATE FUNCTION spanner_internal.key_sorting(
  parent regclass, OUT kind text, OUT schemaname name, OUT object_name name)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT 'collation', n.nspname, o.collname
    FROM pg_partitioned_table p
   CROSS JOIN unnest(p.partcollation::oid[]) k (oid)
    JOIN pg_collation o ON o.oid = k.oid
    JOIN pg_namespace n ON n.oid = o.collnamespace
   WHERE p.partrelid = parent
  UNION
  SELECT 'enum', n.nspname, t.typname
    FROM pg_partitioned_table p
    JOIN pg_attribute a ON a.attrelid = parent AND a.attnum = ANY (p.partattrs::int2[])
    JOIN pg_type t ON t.oid = a.atttypid AND t.typtype = 'e'
    JOIN pg_namespace n ON n.oid = t.typnamespace
   WHERE p.partrelid = parent;
END;

-- Of the commands below, which pin the settings, those that make the table itself.
CREATE FUNCTION spanner_internal.table_definition(relation oid, OUT n integer, OUT command text)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH t AS (
    SELECT c.*, format('%I.%I', s.nspname, c.relname) AS target
      FROM pg_class c
      JOIN pg_namespace s ON s.oid = c.relnamespace
     WHERE c.oid = relation),
  columns AS (
    SELECT a.*, y.typstorage, pg_get_expr(d.adbin, d.adrelid) AS expression,
           (SELECT format(' COLLATE %I.%I', s.nspname, o.collname)
              FROM pg_collation o
              JOIN pg_namespace s ON s.oid = o.collnamespace
             WHERE o.oid = a.attcollation AND o.oid <> y.typcollation) AS collate_clause
      FROM pg_attribute a
      JOIN pg_type y ON y.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                            AND a.attgenerated <> ''
     WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped)
  SELECT 1, format('CREATE TABLE %s (%s)%s', t.target,
           (SELECT string_agg(concat(quote_ident(attname), ' ', format_type(atttypid, atttypmod),
                     collate_clause, ' GENERATED ALWAYS AS (' || expression || CASE attgenerated
                       WHEN 'v' THEN ') VIRTUAL' ELSE ') STORED' END,
                     CASE WHEN attnotnull THEN ' NOT NULL' END), ', ' ORDER BY attnum)
              FROM columns),
           (SELECT format(' WITH (%s)', string_agg(format('%I = %L', split_part(o, '=', 1),
                     substr(o, strpos(o, '=') + 1)), ', '))
              FROM unnest(t.reloptions) o
            HAVING count(*) > 0))
    FROM t
  UNION ALL
  SELECT 2, concat('ALTER TABLE ', t.target, spanner_internal.column_settings(relation, false))
    FROM t
  UNION ALL
  SELECT 2, format('ALTER TABLE %s ALTER COLUMN %I SET %s %s', t.target, attname, w.setting, w.word)
    FROM t
   CROSS JOIN columns
   CROSS JOIN LATERAL (VALUES
     ('STORAGE', CASE nullif(attstorage, typstorage) WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL'
                   WHEN 'x' THEN 'EXTENDED' WHEN 'm' THEN 'MAIN' END),
     ('COMPRESSION', CASE attcompression WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' END))
     w (setting, word)
   WHERE w.word IS NOT NULL
  UNION ALL
  SELECT 7, format('ALTER TABLE %s REPLICA IDENTITY %s', t.target,
                   coalesce((SELECT 'USING INDEX ' || quote_ident(c.relname)
                               FROM pg_index i
                               JOIN pg_class c ON c.oid = i.indexrelid
                              WHERE i.indrelid = t.oid AND i.indisreplident
                                AND t.relreplident = 'i'),
                            'FULL'))
    FROM t
   WHERE t.relreplident = ANY ('{i,f}');
END;

-- The commands that make such a table, as this server writes them.
CREATE FUNCTION spanner_internal.split_definition(
  relation regclass,
  OUT n integer,
  OUT command text)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET standard_conforming_strings = on
SET DateStyle = 'ISO'
SET IntervalStyle = 'postgres'
SET TimeZone = 'UTC'
SET extra_float_digits = 1
SET bytea_output = 'hex'
AS $$
  WITH t AS (
    SELECT c.*, format('%I.%I', s.nspname, c.relname) AS target
      FROM pg_class c
      JOIN pg_namespace s ON s.oid = c.relnamespace
     WHERE c.oid = relation)
  SELECT * FROM spanner_internal.table_definition(relation)
  UNION ALL
  SELECT CASE WHEN k.conname ~ '_bounds$' THEN 8 ELSE 3 END,
         format('ALTER TABLE %s ADD CONSTRAINT %I %s', t.target, k.conname,
                pg_get_constraintdef(k.oid))
    FROM t
    JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = ANY ('{p,u,x,c}')
  UNION ALL
  SELECT 8, format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s)', t.target,
                   spanner_internal.split_name(t.relname, '_bounds'),
                   pg_get_partition_constraintdef(t.oid))
    FROM t
   WHERE t.relispartition AND pg_get_partition_constraintdef(t.oid) IS NOT NULL
     AND NOT EXISTS (SELECT FROM pg_constraint k
                      WHERE k.conrelid = t.oid
                        AND k.conname = spanner_internal.split_name(t.relname, '_bounds'))
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
   ORDER BY 1, 2
$$;

-- What two tables of one split have to have in common, whatever their names are.
CREATE FUNCTION spanner_internal.split_signature(relation regclass)
RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET quote_all_identifiers = off
BEGIN ATOMIC
  SELECT ARRAY(
           SELECT concat(
                    CASE WHEN d.n = 4 THEN substring(d.command, '^CREATE (?:UNIQUE )?INDEX') END,
                    regexp_replace(
                      substr(d.command, strpos(d.command, t.target) + length(t.target)),
                      '^ ADD CONSTRAINT (?:"(?:[^"]|"")*"|[^ "]+)', ''))
             FROM spanner_internal.split_definition(relation) d
            WHERE d.n = ANY ('{1,3,4}')
            ORDER BY 1)
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
   CROSS JOIN LATERAL format('%I.%I', n.nspname, c.relname) t (target)
   WHERE c.oid = relation;
END;

-- A generated column in a key cannot be published; the table that changes may be the parent.
CREATE FUNCTION spanner_internal.make_shards_plain(keyed regclass, changed regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET standard_conforming_strings = on
AS $$
DECLARE
  command text;
BEGIN
  FOR command IN
    SELECT c
      FROM pg_attribute a
      JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     CROSS JOIN LATERAL spanner_internal.plain_shard_statements(changed::text,
       quote_ident(a.attname), pg_get_expr(d.adbin, d.adrelid)) c
     WHERE a.attrelid = keyed AND a.attgenerated = 's'
       AND starts_with(pg_get_expr(d.adbin, d.adrelid), 'spanner.shard_id(')
       AND EXISTS (SELECT FROM pg_index i
                    WHERE i.indrelid = keyed AND i.indisunique
                      AND a.attnum = ANY (i.indkey::int2[]))
  LOOP
    PERFORM spanner_internal.run_as_owner(changed, command);
  END LOOP;
END
$$;

-- The commands that give the tables of a cut their own names, as CREATE has given them others.
CREATE FUNCTION spanner_internal.rename_commands(relation regclass, new_name name)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  SELECT format('ALTER INDEX %s RENAME TO %I', i.indexrelid::regclass,
                spanner_internal.split_index_name(new_name,
                  CASE WHEN starts_with(c.relname, t.relname || '_')
                       THEN substr(c.relname, length(t.relname) + 2) ELSE c.relname END))
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_class t ON t.oid = i.indrelid
   WHERE i.indrelid = relation
  UNION ALL
  SELECT format('ALTER STATISTICS %I.%I RENAME TO %I', n.nspname, s.stxname,
                spanner_internal.split_index_name(new_name, s.stxname))
    FROM pg_statistic_ext s
    JOIN pg_namespace n ON n.oid = s.stxnamespace
   WHERE s.stxrelid = relation
  UNION ALL
  SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', relation, k.name)
    FROM (SELECT conname FROM pg_constraint
           WHERE conrelid = relation AND contype = 'c' AND conname ~ '_bounds$'
          UNION
          -- a table that is made like a partition has it
          SELECT spanner_internal.split_name(relname, '_bounds')
            FROM pg_class WHERE oid = relation AND relispartition) k (name)
  UNION ALL
  SELECT format('ALTER TABLE %s RENAME TO %I', relation, new_name)
$$;

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
SET search_path = pg_catalog, pg_temp
AS $$
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
     AND NOT r.swapped
$$;

-- The swap begins: nobody writes to the split any more when this has returned.
CREATE FUNCTION spanner_internal.begin_swap(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  m spanner.split_record;
BEGIN
  SELECT * INTO STRICT m
    FROM spanner_internal.own_record r
   WHERE r.move = begin_swap.move AND NOT r.swapped;
  IF m.source IS NULL THEN
    -- a stronger lock would be logged, and be waited for as unflushed
    PERFORM spanner_internal.run_as_owner(m.parent,
      format('LOCK TABLE ONLY %s, ONLY %s IN SHARE ROW EXCLUSIVE MODE',
             m.parent::regclass, m.partition::regclass));
  ELSE
    PERFORM spanner_internal.run_as_owner(m.parent,
      format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', m.parent::regclass));
  END IF;
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

-- A foreign partition, with the rights and the statistics targets that the one before had.
CREATE FUNCTION spanner_internal.attach_foreign(
  m spanner.split_record,
  name name,
  tablename name,
  range text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  command text;
  made constant text := format('%I.%I', m.nspname, name);
BEGIN
  PERFORM spanner_internal.check_split_server(m.parent, m.target);
  PERFORM spanner_internal.run_as_owner(m.parent,
    format('CREATE FOREIGN TABLE %s PARTITION OF %s %s%s', made, m.parent::regclass, range,
           spanner_internal.split_options(m.target, m.schemaname, tablename)));
  FOR command IN
    SELECT concat(c ->> 0, made, c ->> 1) FROM jsonb_array_elements(m.former -> 'commands') c
  LOOP
    PERFORM spanner_internal.run_as_owner(m.parent, command);
  END LOOP;
END
$$;

-- A table that was made here becomes a partition.
CREATE FUNCTION spanner_internal.attach_local(
  m spanner.split_record,
  name name,
  tablename name,
  range text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  part constant text := format('%I.%I', m.schemaname, tablename);
BEGIN
  IF m.at IS NOT NULL THEN
    PERFORM spanner_internal.run_as_owner(m.parent,
      format('ALTER TABLE %I.%I DETACH PARTITION %s', m.schemaname, m.tablename, part));
  END IF;
  IF name <> tablename AND (m.at IS NULL OR name <> m.tablename) THEN
    PERFORM spanner_internal.run_as_owner(m.parent,
      format('ALTER TABLE %s RENAME TO %I', part, name));
    tablename := name;
  END IF;
  PERFORM spanner_internal.run_as_owner(m.parent,
    format('ALTER TABLE %s ATTACH PARTITION %I.%I %s', m.parent::regclass, m.schemaname, tablename,
           range));
END
$$;

-- The swap ends: the new partitions are in the place of the old one.
CREATE FUNCTION spanner_internal.end_swap(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET standard_conforming_strings = on
AS $$
DECLARE
  m spanner.split_record;
  part record;
BEGIN
  SELECT * INTO STRICT m FROM spanner_internal.own_record r WHERE r.move = end_swap.move;
  IF m.source IS NULL THEN
    PERFORM spanner_internal.run_as_owner(m.parent,
              format('ALTER TABLE %s DETACH PARTITION %s', m.parent::regclass,
                     m.partition::regclass));
    PERFORM spanner_internal.run_as_owner(m.partition,
              format('ALTER TABLE %s RENAME TO %I', m.partition::regclass,
                     spanner_internal.split_name(m.name, '_' || right(m.move, 12))));
  END IF;
  FOR part IN SELECT * FROM spanner_internal.move_ranges(m)
  LOOP
    IF m.target IS NULL THEN
      PERFORM spanner_internal.attach_local(m, part.name, part.tablename, part.range);
    ELSE
      PERFORM spanner_internal.attach_foreign(m, part.name, part.tablename, part.range);
    END IF;
  END LOOP;
  UPDATE spanner_internal.own_record r SET swapped = true WHERE r.move = end_swap.move;
END
$$;

-- Drop what a record has: tables that a move has made, or that it has left.
CREATE FUNCTION spanner_internal.drop_recorded(move name)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  relation regclass;
BEGIN
  FOR relation IN
    SELECT c.oid
      FROM spanner_internal.own_record r
     CROSS JOIN unnest(r.made) WITH ORDINALITY x (made, n)
      JOIN pg_class c ON c.oid = x.made AND c.relkind = ANY ('{r,p}')
     WHERE r.move = drop_recorded.move
     ORDER BY x.n DESC
  LOOP
    -- the parts of a cut go with their table
    CONTINUE WHEN NOT EXISTS (SELECT FROM pg_class WHERE oid = relation);
    PERFORM spanner_internal.run_as_owner(relation, format('DROP TABLE %s', relation));
  END LOOP;
END
$$;

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

-- How the current user connects to a foreign server.  Its owner decides where a connection goes.
CREATE FUNCTION spanner_internal.server_options(server name, OUT keyword text, OUT value text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  s record;
BEGIN
  SELECT f.oid, f.srvoptions, w.fdwname, r.rolsuper OR r.rolname = current_user AS is_trusted
    INTO s
    FROM pg_foreign_server f
    JOIN pg_foreign_data_wrapper w ON w.oid = f.srvfdw
    JOIN pg_roles r ON r.oid = f.srvowner
   WHERE f.srvname = server_options.server;
  IF s.oid IS NULL THEN
    RAISE undefined_object USING MESSAGE = format('server "%s" does not exist', server),
      HINT = 'Create it with CREATE SERVER ... FOREIGN DATA WRAPPER postgres_fdw.';
  ELSIF s.fdwname <> 'postgres_fdw' THEN
    RAISE wrong_object_type USING
      MESSAGE = format('server "%s" does not use postgres_fdw', server);
  ELSIF NOT s.is_trusted THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('server "%s" belongs to neither a superuser nor role "%s"', server,
                       current_user),
      DETAIL = 'The owner of a server decides where a connection goes.';
  END IF;
  RETURN QUERY
  SELECT DISTINCT ON (x.name) x.name, x.value
    FROM (SELECT 3, 'user', current_user::text
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
   ORDER BY x.name, x.n;
END
$$;

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

-- The commands that grant rights on the table of a split or copy.  A copy is read: who may change
-- the table may not change the copy.
CREATE FUNCTION spanner_internal.grants_for_target(
  relation regclass,
  server name,
  target text,
  is_copy boolean)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT concat(g.head, target, g.tail)
    FROM spanner_internal.table_grants(relation, server,
           CASE WHEN is_copy THEN '{SELECT,REFERENCES}'::text[] END) g
  UNION ALL
  -- until release 16 a copy belongs to who subscribes
  SELECT format('GRANT SELECT, REFERENCES ON TABLE %s TO %I', target, o.name)
    FROM spanner_internal.owner_there(relation, server) o (name)
   WHERE is_copy AND o.name IS NOT NULL;
END;
