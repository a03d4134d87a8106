/* src/splits/create_splits.sql */

--
-- Splits: making the partitions of a table, here and on other servers
--

-- The statements that create a table like another one, of which split_tables has a
-- row, with a constraint on its bounds.  If "again", each can be run twice.  Names
-- of indexes begin with "base", which no other table there may have used.  Foreign
-- tables get all values from here, so there are no defaults.
CREATE FUNCTION spanner_internal.table_statements(
  facts jsonb,
  schemaname name,
  tablename name,
  base name,
  bounds text,
  again boolean)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  SELECT format('CREATE SCHEMA IF NOT EXISTS %I', schemaname) WHERE schemaname <> 'public'
  UNION ALL
  SELECT format('CREATE TABLE %s%I.%I (%s)', CASE WHEN again THEN 'IF NOT EXISTS ' END, schemaname, tablename,
                (SELECT string_agg(part, ', ' ORDER BY kind, n)
                   FROM (SELECT 1, n, c FROM jsonb_array_elements_text(facts -> 'columns') WITH ORDINALITY c (c, n)
                         UNION ALL
                         SELECT 2, n, k FROM jsonb_array_elements_text(facts -> 'keys') WITH ORDINALITY k (k, n)
                         UNION ALL
                         SELECT 3, n, c FROM jsonb_array_elements_text(facts -> 'checks') WITH ORDINALITY c (c, n)
                          WHERE c !~ ('^CONSTRAINT ("?)' || regexp_replace(coalesce(facts ->> 'tablename', ''), '\W', '\\\&', 'g') || '_bounds\1 ')
                         UNION ALL
                         SELECT 4, 0, format('CONSTRAINT %I CHECK (%s)', spanner_internal.split_name(tablename, '_bounds'), bounds)
                          WHERE bounds IS NOT NULL) d (kind, n, part)))
  UNION ALL
  SELECT concat('CREATE ', CASE WHEN d.definition ~ '^UNIQUE ' THEN 'UNIQUE ' END, 'INDEX ', CASE WHEN again THEN 'IF NOT EXISTS ' END,
                quote_ident(spanner_internal.split_index_name(base,
                  CASE WHEN starts_with(x.name, facts ->> 'tablename' || '_') THEN substr(x.name, length(facts ->> 'tablename') + 2) ELSE x.name END)),
                ' ON ', quote_ident(schemaname), '.', quote_ident(tablename), ' ', regexp_replace(d.definition, '^UNIQUE ', ''))
    FROM jsonb_array_elements_text(nullif(facts -> 'index_names', 'null')) WITH ORDINALITY x (name, n)
    JOIN jsonb_array_elements_text(facts -> 'indexes') WITH ORDINALITY d (definition, n) USING (n)
$$;

COMMENT ON FUNCTION spanner_internal.table_statements(jsonb, name, name, name, text, boolean)
  IS 'the statements that make a table like another one';

-- Where a foreign table has its rows.
CREATE FUNCTION spanner_internal.split_options(server name, schemaname name, tablename name)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT format(' SERVER %I OPTIONS (schema_name %L, table_name %L, batch_size ''1000'', async_capable ''true'')',
                server, schemaname, tablename);
END;

COMMENT ON FUNCTION spanner_internal.split_options(name, name, name)
  IS 'the end of CREATE FOREIGN TABLE';

-- Rights on a table of another server: those that roles have on the table
-- here, and those that a connection from here needs.
CREATE FUNCTION spanner_internal.split_grants(relation regclass, server name, target text)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  SELECT format('GRANT %s ON TABLE %s TO %s%s', string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), target,
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM pg_class c, aclexplode(c.relacl) a
   WHERE c.oid = relation AND a.grantee <> c.relowner
   GROUP BY a.grantee, a.is_grantable
  UNION ALL
  SELECT format('GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE %s TO %I', target, u.username)
    FROM (SELECT DISTINCT o.option_value AS username
            FROM pg_user_mappings m, pg_options_to_table(m.umoptions) o
           WHERE m.srvname = server AND o.option_name = 'user') u
   ORDER BY 1
$$;

COMMENT ON FUNCTION spanner_internal.split_grants(regclass, name, text)
  IS 'the statements that give rights on a table of another server';

CREATE FUNCTION spanner_internal.check_split_server(server name)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  wrapper name := (SELECT w.fdwname FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
                    WHERE s.srvname = server);
BEGIN
  IF wrapper IS NULL THEN
    RAISE undefined_object USING MESSAGE = format('server "%s" does not exist', server),
      HINT = 'Create it with CREATE SERVER ... FOREIGN DATA WRAPPER postgres_fdw.';
  ELSIF wrapper <> 'postgres_fdw' THEN
    RAISE wrong_object_type USING MESSAGE = format('server "%s" does not use postgres_fdw', server),
      HINT = 'Create a server with FOREIGN DATA WRAPPER postgres_fdw.';
  END IF;
END
$$;

COMMENT ON FUNCTION spanner_internal.check_split_server(name)
  IS 'raise an error unless a server can have partitions';

-- The server refuses such a foreign partition too, but does not say what to do.
CREATE FUNCTION spanner_internal.check_no_unique_index(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  index name := (SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                  WHERE i.indrelid = relation AND i.indisunique ORDER BY 1 LIMIT 1);
BEGIN
  IF index IS NOT NULL THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('table "%s" with unique index "%s" cannot have partitions on other servers',
                       (SELECT relname FROM pg_class WHERE oid = relation), index),
      HINT = 'Drop the constraint; the table on each server has a primary key of its own, and their ranges do not overlap.';
  END IF;
END
$$;

COMMENT ON FUNCTION spanner_internal.check_no_unique_index(regclass)
  IS 'raise an error if a partitioned table cannot have foreign partitions';

-- Where the values of the first column of the partition key come from.
CREATE FUNCTION spanner_internal.split_values(
  relation regclass,
  OUT bits integer,
  OUT stripes integer,
  OUT shards integer,
  OUT keys text[],
  OUT is_uuid boolean)
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  key record := spanner_internal.split_column(relation);
  label text;
  call text[];
BEGIN
  IF key.name IS NULL THEN
    call := regexp_match(key.expression, '^spanner\.shard_id\(([0-9]+), ');
    shards := call[1]::integer;
    RETURN;
  END IF;
  SELECT s.bits, l.label INTO bits, label
    FROM pg_attrdef a
    JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid AND d.refclassid = 'pg_class'::regclass
    JOIN pg_seclabel l ON l.provider = 'spanner_keys' AND l.classoid = d.refclassid AND l.objoid = d.refobjid AND l.objsubid = 0
    CROSS JOIN LATERAL spanner_internal.describe_sequence(l.objoid) s
   WHERE a.adrelid = relation AND a.adnum = key.attnum AND s.kind = ANY ('{bit_reversed_positive,striped}');
  IF label ~ '^striped' THEN
    stripes := coalesce(substring(label, 'stripes *= *([0-9]+)')::integer, 1 << least(6, bits - 1));
  END IF;
  SELECT k.shards, k.keys INTO shards, keys
    FROM spanner.shard_keys k JOIN pg_namespace n ON n.nspname = k.schemaname
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = k.tablename
   WHERE c.oid = relation AND k.name = key.name AND k.keys IS NOT NULL;
  is_uuid := key.type = 'uuid'::regtype OR EXISTS (
    SELECT FROM pg_attrdef a WHERE a.adrelid = relation AND a.adnum = key.attnum
       AND pg_get_expr(a.adbin, a.adrelid) ~ '\m(generate_uuid|gen_random_uuid|uuid_generate_v4|uuidv4|md5)\('
       AND key.typename = ANY ('{text,character varying,character}'));
END
$$;

COMMENT ON FUNCTION spanner_internal.split_values(regclass)
  IS 'which values a partition key has: bits and stripes of a sequence, shards, or random uuids';

-- The columns that identify a row, which are the primary key on each server.  The
-- table here cannot have a unique index that shows them.
CREATE FUNCTION spanner_internal.split_identity(relation regclass, key name[])
RETURNS name[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
#variable_conflict use_column
DECLARE
  unknown name := (SELECT k FROM unnest(key) k WHERE k IS NULL OR NOT EXISTS (
                     SELECT FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = k AND a.attnum > 0) LIMIT 1);
  values_of record := spanner_internal.split_values(relation);
  columns name[];
  ids name[];
BEGIN
  IF unknown IS NOT NULL THEN
    RAISE undefined_column USING
      MESSAGE = format('column "%s" of table "%s" does not exist', unknown, (SELECT relname FROM pg_class WHERE oid = relation)),
      HINT = 'Name in key the columns that identify a row.';
  ELSIF cardinality(key) > 0 THEN
    RETURN key;
  END IF;
  SELECT array_agg(a.attname ORDER BY p.n)
    INTO columns
    FROM (SELECT partattrs FROM pg_partitioned_table WHERE partrelid = relation) t,
         unnest(t.partattrs::smallint[]) WITH ORDINALITY p (attnum, n)
    JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = p.attnum AND p.attnum > 0;
  -- columns that a sequence fills, or a random value
  SELECT array_agg(a.attname ORDER BY a.attnum)
    INTO ids
    FROM pg_attribute a
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated = ''
   WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
     AND (a.attidentity <> '' OR pg_get_expr(d.adbin, d.adrelid)
            ~ '\m(nextval|next_value|generate_uuid|gen_random_uuid|uuid_generate_v[0-9]|uuidv[47])\(');
  IF columns[1] = ANY (ids) THEN
    RETURN columns;
  ELSIF cardinality(ids) > 0 THEN
    RETURN columns || ARRAY(SELECT i FROM unnest(ids) i WHERE i <> ALL (coalesce(columns, '{}')));
  ELSIF cardinality(columns) > 1 AND values_of.keys <@ ARRAY(SELECT quote_ident(c) FROM unnest(columns) c) THEN
    RETURN columns;
  END IF;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION spanner_internal.split_identity(regclass, name[])
  IS 'the columns that identify a row of a partitioned table';

-- Which partitioned tables can get splits.
CREATE FUNCTION spanner_internal.check_split_table(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  name name := (SELECT relname FROM pg_class WHERE oid = relation);
  key record := spanner_internal.split_column(relation);
  fallback oid;
BEGIN
  PERFORM FROM spanner_internal.list_splits(relation);
  IF (SELECT partstrat FROM pg_partitioned_table WHERE partrelid = relation) <> 'r' THEN
    RAISE wrong_object_type USING MESSAGE = format('table "%s" is not partitioned by range', name),
      HINT = 'Create the table with PARTITION BY RANGE on its bit-reversed id or on its shard id.';
  ELSIF coalesce(key.type <> ALL ('{int2,int4,int8}'::regtype[]), true) AND NOT (SELECT is_uuid FROM spanner_internal.split_values(relation)) THEN
    RAISE datatype_mismatch USING
      MESSAGE = format('cannot split table "%s" by a partition key of type %s', name, format_type(key.type, NULL)),
      HINT = 'The first column of the partition key has to be a bit-reversed id or a shard id.';
  END IF;
  SELECT i.inhrelid INTO fallback FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = relation ORDER BY pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT' LIMIT 1;
  IF fallback IN (SELECT partdefid FROM pg_partitioned_table WHERE partrelid = relation) THEN
    RAISE object_not_in_prerequisite_state USING MESSAGE = format('table "%s" has a default partition', name),
      HINT = format('Detach partition "%s", make the splits, and insert its rows into the table again.',
                    (SELECT relname FROM pg_class WHERE oid = fallback));
  ELSIF fallback IS NOT NULL THEN
    RAISE object_not_in_prerequisite_state USING MESSAGE = format('table "%s" already has partitions', name),
      HINT = 'Detach them first, or create a new partitioned table and move the rows there.';
  END IF;
END
$$;

COMMENT ON FUNCTION spanner_internal.check_split_table(regclass)
  IS 'raise an error unless splits can be made of a table';

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
  name name := (SELECT relname FROM pg_class WHERE oid = relation);
  key record := spanner_internal.split_column(relation);
  known record := spanner_internal.split_values(relation);
  width integer := 8 * (SELECT typlen FROM pg_type WHERE oid = key.type) - 1;
  contradiction text := CASE
    WHEN shards IS NOT NULL AND (known.bits IS NOT NULL OR shards <> known.shards) THEN 'shards'
    WHEN known.shards IS NOT NULL OR shards IS NOT NULL THEN NULL
    WHEN bits <> known.bits THEN 'bits'
    WHEN known.bits IS NOT NULL AND stripes <> coalesce(known.stripes, 0) THEN 'stripes' END;
BEGIN
  IF contradiction IS NOT NULL THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('argument %s contradicts the partition key of table "%s"', contradiction, name),
      HINT = 'Leave it out: the values of the key are known from its default, its constraint or its expression.';
  ELSIF coalesce(known.shards, shards) IS NOT NULL THEN
    shards := coalesce(known.shards, shards);
    IF bits IS NOT NULL OR stripes IS NOT NULL THEN
      RAISE invalid_parameter_value USING MESSAGE = 'a shard id has neither bits nor stripes',
        HINT = 'Give only shards for a table that is partitioned by a shard id.';
    ELSIF shards < 1 THEN
      RAISE invalid_parameter_value USING MESSAGE = 'number of shards must be at least 1',
        HINT = 'Use the number of shards that the table''s shard ids are computed with.';
    END IF;
    PERFORM spanner_internal.check_split_count(splits, shards, 'shards');
    IF width = 15 AND shards > 32768 THEN
      RAISE invalid_parameter_value USING
        MESSAGE = format('type %s has no values for %s shards', format_type(key.type, NULL), shards),
        HINT = 'Give at most 32768 shards, or use a column of type integer.';
    END IF;
    RETURN ARRAY(SELECT (shards::bigint * i / splits)::text FROM generate_series(1, splits - 1) i);
  ELSIF known.is_uuid THEN
    PERFORM spanner_internal.check_split_count(splits, 0, '');
    RETURN ARRAY(SELECT quote_literal(lpad(to_hex((1::bigint << 32) * i / splits), 8, '0') ||
                                      CASE key.type WHEN 'uuid'::regtype THEN '-0000-0000-0000-000000000000' ELSE '' END)
                   FROM generate_series(1, splits - 1) i);
  ELSIF coalesce(known.bits, bits) IS NULL THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('cannot tell what values the partition key of table "%s" has', name),
      DETAIL = 'It is neither filled by a sequence with an access method nor computed by spanner.shard_id().',
      HINT = 'Give bits, and stripes if there are any, for an id, or shards for a shard id; spanner.convert_column() gives an ordinary sequence an access method.';
  ELSIF bits > width AND bits < 64 AND splits BETWEEN 1 AND 65536 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('type %s has no values of %s bits', format_type(key.type, NULL), bits),
      HINT = format('Give at most %s bits.', width);
  END IF;
  RETURN ARRAY(SELECT p::text FROM spanner.split_points(splits, coalesce(known.bits, bits), coalesce(known.stripes, stripes)) p);
END
$$;

COMMENT ON FUNCTION spanner_internal.equal_points(regclass, integer, integer, integer, integer)
  IS 'the bounds between equal ranges of the values that the partition key of a table has';

-- The bounds and servers of another table, as literals.
CREATE FUNCTION spanner_internal.points_of(relation regclass, type regtype, OUT points text[], OUT servers name[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF (SELECT k.type FROM spanner_internal.split_column(relation) k) IS DISTINCT FROM type
    OR EXISTS (SELECT FROM spanner_internal.list_splits(relation) s WHERE s.lower IS NULL) THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('there cannot be splits beside those of table "%s"', (SELECT relname FROM pg_class WHERE oid = relation)),
      HINT = 'Partition both tables by range of columns of the same type.';
  END IF;
  SELECT (array_agg(CASE WHEN type = ANY ('{int2,int4,int8}'::regtype[]) THEN btrim(s.lower, '''') ELSE s.lower END ORDER BY s.split))[2:],
         array_agg(s.server ORDER BY s.split)
    INTO points, servers
    FROM spanner_internal.list_splits(relation) s;
END
$$;

COMMENT ON FUNCTION spanner_internal.points_of(regclass, regtype)
  IS 'the bounds between the splits of a table, and their servers';

CREATE FUNCTION spanner.create_splits(
  relation regclass,
  splits integer DEFAULT NULL,
  servers name[] DEFAULT NULL,
  dry_run boolean DEFAULT true,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL,
  shards integer DEFAULT NULL,
  key name[] DEFAULT NULL,
  beside regclass DEFAULT NULL,
  OUT server name,
  OUT statement text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
#variable_conflict use_variable
DECLARE
  first record;
  parent record;
  points text[];
  places name[] := CASE WHEN cardinality(servers) > 0 THEN ARRAY(SELECT s FROM unnest(servers) s) ELSE '{NULL}' END;
  facts jsonb;
  primary_key text;
  part record;
BEGIN
  IF relation IS NULL OR coalesce(splits, beside::oid::integer) IS NULL THEN
    RAISE null_value_not_allowed USING MESSAGE = 'arguments "relation" and "splits" must not be null';
  ELSIF NOT coalesce(dry_run, true) AND EXISTS (SELECT FROM pg_class WHERE oid = relation AND relkind = 'p' AND pg_has_role(relowner, 'USAGE')) THEN
    EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', relation);
  END IF;
  PERFORM spanner_internal.check_split_table(relation);
  first := spanner_internal.split_column(relation);
  SELECT n.nspname, c.relname AS name, p.partnatts AS width,
         coalesce((SELECT a.attnotnull FROM pg_attribute a WHERE a.attrelid = relation AND a.attnum = first.attnum AND a.attnum > 0), false) AS is_notnull
    INTO parent
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_partitioned_table p ON p.partrelid = c.oid
   WHERE c.oid = relation;
  IF beside IS NOT NULL THEN
    SELECT p.points, p.servers, cardinality(p.servers) INTO points, places, splits FROM spanner_internal.points_of(beside, first.type) p;
  END IF;

  PERFORM spanner_internal.check_split_server(p), spanner_internal.check_no_unique_index(relation) FROM unnest(places) p WHERE p IS NOT NULL;
  IF splits BETWEEN 1 AND cardinality(places) - 1 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('%s splits are not enough for %s servers', splits, cardinality(places)),
      HINT = 'Make as many splits as there are servers, or a multiple of that.';
  END IF;
  points := coalesce(points, spanner_internal.equal_points(relation, splits, bits, stripes, shards));
  facts := spanner_internal.split_facts(NULL, parent.nspname, parent.name) -> 'table';
  IF array_remove(places, NULL) <> '{}' THEN
    key := spanner_internal.split_identity(relation, key);
    IF key IS NULL THEN
      RAISE WARNING USING ERRCODE = '01000',
        MESSAGE = format('cannot tell which columns identify a row of table "%s"', parent.name),
        DETAIL = 'Its partitions get no primary key.',
        HINT = 'Name the columns with key.';
      facts := facts || coalesce((
        SELECT jsonb_build_object('index_names', coalesce(nullif(facts -> 'index_names', 'null'), '[]') || jsonb_build_array(parent.name || '_split_idx'),
                                  'indexes', (facts -> 'indexes') || jsonb_build_array(format('USING btree (%s)', string_agg(quote_ident(a.attname), ', ' ORDER BY k.n))))
          FROM pg_partitioned_table p, unnest(p.partattrs::smallint[]) WITH ORDINALITY k (attnum, n)
          JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = k.attnum AND k.attnum > 0
         WHERE p.partrelid = relation HAVING count(*) > 0), '{}');
    ELSE
      primary_key := format('PRIMARY KEY (%s)', (SELECT string_agg(quote_ident(k), ', ' ORDER BY n) FROM unnest(key) WITH ORDINALITY k (k, n)));
      facts := jsonb_set(facts, '{keys}', to_jsonb(ARRAY[primary_key]));
    END IF;
  END IF;

  FOR part IN
    SELECT r.round, i, places[1 + i % cardinality(places)] AS server, spanner_internal.split_name(parent.name, '_p' || i) AS name, b.lower, b.upper,
           concat(b.lower, repeat(CASE b.lower WHEN 'MAXVALUE' THEN ', MAXVALUE' ELSE ', MINVALUE' END, parent.width - 1)) AS first,
           concat(b.upper, repeat(CASE b.upper WHEN 'MAXVALUE' THEN ', MAXVALUE' ELSE ', MINVALUE' END, parent.width - 1)) AS last
      FROM generate_series(1, 2) r (round), generate_series(0, splits - 1) i,
           LATERAL (SELECT CASE i WHEN 0 THEN 'MINVALUE' ELSE points[i] END,
                           CASE i WHEN splits - 1 THEN 'MAXVALUE' ELSE points[i + 1] END) b (lower, upper)
     ORDER BY r.round, i
  LOOP
    server := CASE part.round WHEN 1 THEN part.server END;
    IF part.round = 2 THEN
      -- the partitioned table has no key that a partition here could take
      statement := format('CREATE %sTABLE %I.%I PARTITION OF %I.%I%s FOR VALUES FROM (%s) TO (%s)%s',
        CASE WHEN part.server IS NOT NULL THEN 'FOREIGN ' END, parent.nspname, part.name, parent.nspname, parent.name,
        CASE WHEN part.server IS NULL THEN ' (' || primary_key || ')' END, part.first, part.last,
        CASE WHEN part.server IS NOT NULL THEN spanner_internal.split_options(part.server, parent.nspname, part.name) END);
      IF NOT coalesce(dry_run, true) THEN
        EXECUTE statement;
      END IF;
      RETURN NEXT;
    ELSIF to_regclass(format('%I.%I', parent.nspname, part.name)) IS NOT NULL THEN
      RAISE duplicate_table USING MESSAGE = format('relation "%s" already exists', part.name),
        HINT = 'Partitions are named like this; rename or drop the relation first.';
    ELSIF server IS NOT NULL THEN
      FOR statement IN
        SELECT t FROM spanner_internal.table_statements(facts, parent.nspname, part.name, part.name, nullif(concat_ws(' AND ',
                 CASE WHEN NOT parent.is_notnull THEN first.expression || ' IS NOT NULL' END,
                 CASE WHEN part.lower <> 'MINVALUE' THEN first.expression || ' >= ' || part.lower END,
                 CASE WHEN part.upper <> 'MAXVALUE' THEN first.expression || ' < ' || part.upper END), ''), false) t
         WHERE part.i < cardinality(places) OR t !~ '^CREATE SCHEMA'
        UNION ALL
        SELECT g FROM spanner_internal.split_grants(relation, server, format('%I.%I', parent.nspname, part.name)) g
      LOOP
        RETURN NEXT;
      END LOOP;
    END IF;
  END LOOP;
END
$$;

COMMENT ON FUNCTION spanner.create_splits(regclass, integer, name[], boolean, integer, integer, integer, name[], regclass)
  IS 'make partitions for equal ranges of an evenly spread key, or beside those of another table, here or on other servers, or show the statements that do';
