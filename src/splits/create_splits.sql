/* src/splits/create_splits.sql */

--
-- Splits: making the partitions of a table
--
-- They are made here.  The program spanner_splits moves those that are to be on other servers.
--

-- Whose the table on a server is: of the role of that name there, so that code of the owner runs
-- there with no other rights.  A superuser's code may run as whoever moves the split: then NULL.
CREATE FUNCTION spanner_internal.owner_there(relation regclass, server name)
RETURNS name
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT CASE WHEN server IS NULL OR NOT o.rolsuper THEN o.rolname END
    FROM pg_class c
    JOIN pg_roles o ON o.oid = c.relowner
   WHERE c.oid = relation;
END;

-- Where the values of the first column of the partition key come from.
CREATE FUNCTION spanner_internal.split_values(
  relation regclass,
  OUT bits integer,
  OUT stripes integer,
  OUT shards integer,
  OUT keys text[],
  OUT is_uuid boolean)
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  SELECT s.bits, s.stripes,
         -- of several expressions, the first
         coalesce(k.shards, substring(c.expression, '^spanner\.shard_id\(([0-9]+), ')::integer),
         k.keys,
         c.type = 'uuid'::regtype OR EXISTS (
           SELECT FROM pg_attrdef a
            WHERE a.adrelid = relation AND a.adnum = c.attnum
              AND pg_get_expr(a.adbin, a.adrelid)
                  ~ '\m(generate_uuid|gen_random_uuid|uuid_generate_v4|uuidv4|md5)\('
              AND c.typename = ANY ('{text,character varying,character}'))
    FROM spanner_internal.split_column(relation) c
    LEFT JOIN LATERAL (
      SELECT d.bits, CASE WHEN l.label ~ '^striped'
                          THEN coalesce(substring(l.label, 'stripes *= *([0-9]+)')::integer,
                                        1 << least(6, d.bits - 1)) END AS stripes
        FROM pg_attrdef a
        JOIN pg_depend p ON p.classid = 'pg_attrdef'::regclass AND p.objid = a.oid
                        AND p.refclassid = 'pg_class'::regclass
        JOIN pg_seclabel l ON l.provider = 'spanner_keys' AND l.classoid = p.refclassid
                          AND l.objoid = p.refobjid AND l.objsubid = 0
       CROSS JOIN LATERAL spanner_internal.describe_sequence(l.objoid) d
       WHERE a.adrelid = relation AND a.adnum = c.attnum
         AND d.kind = ANY ('{bit_reversed_positive,striped}')) s ON true
    LEFT JOIN LATERAL (
      SELECT v.shards, v.keys
        FROM spanner.shard_keys v
       WHERE spanner_internal.find_relation(v.schemaname, v.tablename) = relation
         AND v.name = c.name AND v.shards IS NOT NULL) k ON true
$$;

-- The columns that identify a row, which are the primary key on each server: those that are named,
-- or else a guess, NULL if there is none.  The table here cannot have a unique index to show them.
CREATE FUNCTION spanner_internal.known_identity(relation regclass, key name[])
RETURNS name[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  columns name[];
  ids name[];
BEGIN
  IF cardinality(key) > 0 THEN
    RETURN key;
  END IF;
  -- ids are what a sequence fills, or a random value
  SELECT array_agg(a.attname ORDER BY p.n) FILTER (WHERE p.n IS NOT NULL),
         array_agg(a.attname ORDER BY a.attnum)
           FILTER (WHERE a.attidentity <> '' OR pg_get_expr(d.adbin, d.adrelid)
             ~ concat('\m(nextval|next_value|generate_uuid|gen_random_uuid|uuid_generate_v[0-9]',
                      '|uuidv[47])\('))
    INTO columns, ids
    FROM pg_partitioned_table t
    JOIN pg_attribute a ON a.attrelid = t.partrelid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN unnest(t.partattrs::smallint[]) WITH ORDINALITY p (attnum, n) USING (attnum)
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated = ''
   WHERE t.partrelid = relation;
  IF columns[1] = ANY (ids) THEN
    RETURN columns;
  ELSIF ids IS NOT NULL THEN
    RETURN columns || ARRAY(SELECT i FROM unnest(ids) i WHERE i <> ALL (coalesce(columns, '{}')));
  ELSIF cardinality(columns) > 1
    AND (SELECT v.keys <@ ARRAY(SELECT quote_ident(c) FROM unnest(columns) c)
           FROM spanner_internal.split_values(relation) v) THEN
    RETURN columns;
  END IF;
  RAISE WARNING USING ERRCODE = '01000',
    MESSAGE = format('cannot tell which columns identify a row of table "%s"',
                     (SELECT relname FROM pg_class WHERE oid = relation)),
    DETAIL = 'Its partitions get no primary key.',
    HINT = 'Name the columns with key.';
  RETURN NULL;
END
$$;

-- Which partitioned tables can get splits.
CREATE FUNCTION spanner_internal.check_split_table(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  name name := (SELECT relname FROM pg_class WHERE oid = relation);
  key record := spanner_internal.split_column(relation);
BEGIN
  IF EXISTS (SELECT FROM spanner_internal.list_splits(relation)) THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('table "%s" already has partitions', name),
      HINT = 'Detach them first, or create a new partitioned table and move the rows there.';
  ELSIF (SELECT partstrat FROM pg_partitioned_table WHERE partrelid = relation) <> 'r' THEN
    RAISE wrong_object_type USING MESSAGE = format('table "%s" is not partitioned by range', name),
      HINT = 'Create the table with PARTITION BY RANGE on its bit-reversed id or on its shard id.';
  ELSIF coalesce(key.type <> ALL ('{int2,int4,int8}'::regtype[]), true)
    AND NOT (SELECT is_uuid FROM spanner_internal.split_values(relation)) THEN
    RAISE datatype_mismatch USING
      MESSAGE = format('cannot split table "%s" by a partition key of type %s', name,
                       format_type(key.type, NULL)),
      HINT = 'The first column of the partition key has to be a bit-reversed id or a shard id.';
  END IF;
END
$$;

-- The lower bounds of all of "splits" equal ranges but the first.
CREATE FUNCTION spanner_internal.equal_points(
  relation regclass,
  splits integer,
  bits integer,
  stripes integer,
  shards integer)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  known record := spanner_internal.split_values(relation);
  by_shards boolean := coalesce(known.shards, shards) IS NOT NULL;
  contradiction text := CASE
    WHEN shards <> known.shards OR shards IS NOT NULL AND known.bits IS NOT NULL THEN 'shards'
    WHEN bits <> known.bits OR by_shards AND bits IS NOT NULL THEN 'bits'
    WHEN known.bits IS NOT NULL AND stripes <> coalesce(known.stripes, 0)
      OR by_shards AND stripes IS NOT NULL THEN 'stripes' END;
BEGIN
  IF contradiction IS NOT NULL THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('argument %s contradicts the partition key of table "%s"', contradiction,
                       (SELECT relname FROM pg_class WHERE oid = relation)),
      HINT = concat('Leave it out: the values of the key are known from its default, ',
                    'its constraint or its expression; a shard id has neither bits nor stripes.');
  ELSIF shards < 1 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'number of shards must be at least 1',
      HINT = 'Use the number of shards that the table''s shard ids are computed with.';
  ELSIF coalesce(known.bits, bits, known.shards, shards) IS NULL AND NOT known.is_uuid THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('cannot tell what values the partition key of table "%s" has',
                       (SELECT relname FROM pg_class WHERE oid = relation)),
      DETAIL = concat('It is neither filled by a sequence with a kind ',
                      'nor computed by spanner.shard_id().'),
      HINT = concat('Give bits, and stripes if there are any, for an id, or shards for a shard ',
                    'id; spanner.convert_column() gives an ordinary sequence a kind.');
  ELSIF by_shards OR known.is_uuid THEN
    shards := coalesce(known.shards, shards);
    PERFORM spanner_internal.check_split_count(splits, coalesce(shards, 0), 'shards');
  END IF;
  RETURN CASE
    WHEN by_shards
    THEN ARRAY(SELECT (shards::bigint * i / splits)::text FROM generate_series(1, splits - 1) i)
    WHEN known.is_uuid
    THEN ARRAY(SELECT concat(lpad(to_hex((1::bigint << 32) * i / splits), 8, '0'),
                             CASE (spanner_internal.split_column(relation)).type
                                  WHEN 'uuid'::regtype THEN '-0000-0000-0000-000000000000' END)
                 FROM generate_series(1, splits - 1) i)
    ELSE ARRAY(SELECT p::text
                 FROM spanner.split_points(splits, coalesce(known.bits, bits),
                                           coalesce(known.stripes, stripes)) p) END;
END
$$;

-- A bound is a literal; NULL is MINVALUE or MAXVALUE.
CREATE FUNCTION spanner_internal.bound_clause(at text, word text, width integer)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN format('(%s)', concat(coalesce(at, word),
                             repeat(', ' || CASE WHEN at IS NULL THEN word ELSE 'MINVALUE' END,
                                    width - 1)));

-- The commands that make the partitions.  The table has no key that they could take, if they are to
-- move to other servers, so each gets its own.
CREATE FUNCTION spanner_internal.split_commands(relation regclass, points text[], key name[])
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT x.command
    FROM pg_class c
    JOIN pg_partitioned_table t ON t.partrelid = c.oid
   CROSS JOIN generate_series(0, cardinality(points)) i
   CROSS JOIN LATERAL format('%s.%I', c.relnamespace::regnamespace,
                             spanner_internal.split_name(c.relname, '_p' || i)) p (name)
   CROSS JOIN LATERAL (
     SELECT format('CREATE TABLE %s PARTITION OF %s%s FOR VALUES FROM %s TO %s', p.name, relation,
                   (SELECT format(' (PRIMARY KEY (%s))',
                                  string_agg(quote_ident(k.name), ', ' ORDER BY k.n))
                      FROM unnest(key) WITH ORDINALITY k (name, n)
                    HAVING count(*) > 0),
                   spanner_internal.bound_clause(points[i], 'MINVALUE', t.partnatts),
                   spanner_internal.bound_clause(points[i + 1], 'MAXVALUE', t.partnatts))
     UNION ALL
     SELECT concat('ALTER TABLE ', p.name, s)
       FROM spanner_internal.column_settings(relation, false) s) x (command)
   WHERE c.oid = relation
   ORDER BY i, x.command NOT LIKE 'CREATE%', x.command;
END;

-- The owner of the table runs the commands: reading a bound can call functions of a domain.
CREATE FUNCTION spanner.create_splits(
  relation regclass,
  splits integer DEFAULT NULL,
  dry_run boolean DEFAULT true,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL,
  shards integer DEFAULT NULL,
  key name[] DEFAULT NULL,
  beside regclass DEFAULT NULL)
RETURNS TABLE (statement text)
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
#variable_conflict use_variable
DECLARE
  points text[];
BEGIN
  IF relation IS NULL OR splits IS NULL AND beside IS NULL THEN
    RAISE null_value_not_allowed USING
      MESSAGE = 'arguments "relation" and "splits" must not be null';
  ELSIF NOT coalesce(dry_run, true) THEN
    PERFORM spanner_internal.run_as_owner(relation,
      format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', relation));
  END IF;
  PERFORM spanner_internal.check_split_table(relation);
  IF beside IS NULL THEN
    points := spanner_internal.equal_points(relation, splits, bits, stripes, shards);
    points := ARRAY(SELECT quote_literal(p) FROM unnest(points) p);
  ELSIF (spanner_internal.split_column(beside)).type
        = (spanner_internal.split_column(relation)).type THEN
    points := (SELECT (array_agg(s.lower ORDER BY s.split))[2:]
                 FROM spanner_internal.list_splits(beside) s
               HAVING bool_and(s.lower IS NOT NULL));
  END IF;
  IF points IS NULL THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('there cannot be splits beside those of table "%s"',
                       (SELECT relname FROM pg_class WHERE oid = beside)),
      HINT = 'Partition both tables by range of columns of the same type, and make its splits.';
  END IF;
  FOR statement IN SELECT * FROM spanner_internal.split_commands(relation, points, key)
  LOOP
    IF NOT coalesce(dry_run, true) THEN
      PERFORM spanner_internal.run_as_owner(relation, statement);
    END IF;
    statement := (SELECT spanner_internal.shown_command(relowner, statement)
                    FROM pg_class WHERE oid = relation);
    RETURN NEXT;
  END LOOP;
END
$$;

COMMENT ON FUNCTION spanner.create_splits(
    regclass, integer, boolean, integer, integer, integer, name[], regclass)
  IS 'make partitions for equal ranges of an evenly spread key, or beside those of another table,'
     ' or show the statements that do';
