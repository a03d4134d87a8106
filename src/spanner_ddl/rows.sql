-- The rows, as CSV: what Google's job "Cloud Spanner to Text Files on Cloud Storage" writes, and
-- what the one in the other direction reads.  All values but NULL are quoted.  BYTES are base64,
-- arrays are JSON, times end in Z.

-- A value of a type, of the text that a file has of it.
CREATE FUNCTION spanner_internal.csv_to_value(type oid, value text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  base oid := spanner_internal.base_type(type);
  element oid := (SELECT t.typelem FROM pg_type t WHERE t.oid = base AND t.typcategory = 'A');
BEGIN
  RETURN CASE
    WHEN element <> 0
      THEN format('CASE WHEN %1$s IS NOT NULL THEN ARRAY(SELECT %2$s'
                  ' FROM pg_catalog.jsonb_array_elements_text(%1$s::pg_catalog.jsonb)'
                  ' WITH ORDINALITY e (value, n) ORDER BY e.n) END',
                  value, spanner_internal.csv_to_value(element, 'e.value'))
    WHEN base = 'bytea'::regtype THEN format('pg_catalog.decode(%s, ''base64'')', value)
    WHEN base = 'bool'::regtype THEN format('spanner_internal.to_bool(%s, false)', value)
    WHEN base = 'date'::regtype THEN format('spanner_internal.to_date(%s, ''UTC'', false)', value)
    WHEN base = 'timestamptz'::regtype
      THEN format('spanner_internal.to_timestamp(%s, ''UTC'', false)', value)
    -- an assignment refuses a text that is too long, a cast would cut it
    WHEN base IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) THEN value
    -- by the type's input: a cast may be a function of somebody else
    WHEN base >= 16384
      THEN format('(SELECT x.v FROM pg_catalog.jsonb_to_record('
                  'pg_catalog.jsonb_build_object(''v'', %s)) x (v %s))',
                  value, format_type(base, NULL))
    ELSE format('%s::%s', value, format_type(base, NULL)) END;
END $$;

-- The text that a file has of a value of a type, or what JSON writes so if it is an element.
CREATE FUNCTION spanner_internal.value_to_csv(type oid, value text, is_element boolean)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  base oid := spanner_internal.base_type(type);
  element oid := (SELECT t.typelem FROM pg_type t WHERE t.oid = base AND t.typcategory = 'A');
BEGIN
  RETURN CASE
    WHEN element <> 0
      THEN format('CASE WHEN %1$s IS NOT NULL THEN pg_catalog.array_to_json(ARRAY(SELECT %2$s'
                  ' FROM pg_catalog.unnest(%1$s) WITH ORDINALITY e (value, n) ORDER BY e.n)) END',
                  value, spanner_internal.value_to_csv(element, 'e.value', true))
    WHEN base = 'bytea'::regtype
      THEN format('pg_catalog.translate(pg_catalog.encode(%s, ''base64''), E''\n'', '''')', value)
    -- JSON has dates and times as ISO 8601 has them, whatever is set
    WHEN base = 'date'::regtype
      THEN format('pg_catalog.btrim(pg_catalog.to_json(%s)::pg_catalog.text, ''"'')', value)
    WHEN base = 'timestamptz'::regtype
      THEN format('pg_catalog.textcat(pg_catalog.btrim(pg_catalog.to_json('
                  'pg_catalog.timezone(''UTC'', %s))::pg_catalog.text, ''"''), ''Z'')', value)
    WHEN is_element AND base IN ('bool'::regtype, 'int2'::regtype, 'int4'::regtype, 'int8'::regtype,
      'float4'::regtype, 'float8'::regtype) THEN value
    -- by the type's output: a cast may be a function of somebody else
    WHEN base >= 16384
      THEN format('CASE WHEN pg_catalog.num_nulls(%1$s) = 0'
                  ' THEN pg_catalog.concat(%1$s) END', value)
    ELSE value || '::pg_catalog.text' END;
END $$;

-- A table, or else all of a schema, those that others refer to first, with the file that each has:
-- in a directory, whatever the table is called.
CREATE FUNCTION spanner_internal.csv_files(name text, INOUT file text, INOUT relation regclass)
RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  directory text := rtrim(file, '/');
  rest oid[];
BEGIN
  IF relation IS NOT NULL THEN
    RETURN NEXT;
    RETURN;
  END IF;
  rest := ARRAY(SELECT c.oid
                  FROM pg_class c
                 WHERE c.relnamespace = spanner_internal.named_schema(name)
                   AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                 ORDER BY c.relname);
  WHILE cardinality(rest) > 0 LOOP
    -- of tables that refer to each other none can be first, so the first name is
    SELECT c.oid, directory || '/' || replace(replace(replace(
             c.relname, '%', '%25'), '/', '%2F'), '\', '%5C') || '.csv'
      INTO relation, file
      FROM unnest(rest) WITH ORDINALITY t (oid, n)
      JOIN pg_class c ON c.oid = t.oid
     ORDER BY EXISTS (SELECT
                        FROM pg_constraint c
                       WHERE c.conrelid = t.oid AND c.contype = 'f'
                         AND c.confrelid <> t.oid AND c.confrelid = ANY (rest)), t.n
     LIMIT 1;
    RETURN NEXT;
    rest := array_remove(rest, relation::oid);
  END LOOP;
END $$;

-- The columns that a file has: those that are named, or all that are not generated.
CREATE FUNCTION spanner_internal.csv_columns(relation oid, names name[],
  OUT name name, OUT type oid, OUT is_generated boolean)
RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  unknown name;
BEGIN
  IF (SELECT c.relkind FROM pg_class c WHERE c.oid = relation) NOT IN ('r', 'p') THEN
    RAISE EXCEPTION '"%" is no table', relation::regclass USING ERRCODE = 'wrong_object_type';
  END IF;
  unknown := (SELECT n
                FROM unnest(names) n
               WHERE NOT EXISTS (SELECT FROM pg_attribute a
                                  WHERE a.attrelid = relation AND a.attname = n AND a.attnum > 0)
               LIMIT 1);
  IF unknown IS NOT NULL THEN
    RAISE EXCEPTION 'column "%" of relation "%" does not exist', unknown, relation::regclass
      USING ERRCODE = 'undefined_column';
  END IF;
  RETURN QUERY
    SELECT a.attname, a.atttypid, a.attgenerated <> ''
      FROM pg_attribute a
     WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
       AND CASE WHEN names IS NULL THEN a.attgenerated = '' ELSE a.attname = ANY (names) END
     ORDER BY array_position(names, a.attname), a.attnum;
END $$;

-- COPY between a relation of this session and a file: psql's if it has a name, else the driver's.
CREATE FUNCTION spanner_internal.csv_copy(direction text, file text, options text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF file ~ '[\x01-\x1f]' THEN
    RAISE EXCEPTION 'name of a file must not contain control characters'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN CASE WHEN file IS NULL THEN format('COPY %s', format(direction, 'STD'
           || CASE WHEN direction LIKE '%FROM%' THEN 'IN' ELSE 'OUT' END))
         ELSE '\copy ' || format(direction, '''' || replace(file, '''', '''''') || '''') END
         || format(' WITH (FORMAT csv%s)', options)
         || CASE WHEN file IS NULL THEN ';' ELSE '' END;
END $$;

CREATE FUNCTION spanner.load_statements(relation regclass, file text DEFAULT NULL,
  columns name[] DEFAULT NULL, header boolean DEFAULT false, null_string text DEFAULT '')
RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN NEXT 'BEGIN;';
  RETURN QUERY
    SELECT format('CREATE TEMPORARY TABLE spanner_rows (%s) ON COMMIT DROP;',
                  string_agg(format('%I text', c.name), ', '))
      FROM spanner_internal.csv_columns(relation, columns) c;
  RETURN NEXT spanner_internal.csv_copy('pg_temp.spanner_rows FROM %s', file,
    CASE WHEN header THEN ', HEADER MATCH' ELSE '' END
    || CASE WHEN null_string <> '' THEN format(', NULL %L', null_string) ELSE '' END);
  RETURN QUERY
    SELECT format(E'INSERT INTO %s (%s)\nSELECT %s\n  FROM pg_temp.spanner_rows r;', relation,
                  string_agg(quote_ident(c.name), ', '),
                  string_agg(spanner_internal.csv_to_value(c.type, format('r.%I', c.name)),
                             E',\n       '))
      FROM spanner_internal.csv_columns(relation, columns) c
     WHERE NOT c.is_generated;
  -- new values of sequences are beyond those that came
  RETURN QUERY
    SELECT format('SELECT spanner.sync_sequence(%L, %L);', relation, a.attname)
      FROM pg_attribute a
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
       AND (a.attidentity <> '' OR spanner_internal.is_nextval(pg_get_expr(d.adbin, relation)))
     ORDER BY a.attnum;
  RETURN NEXT 'COMMIT;';
END $$;

COMMENT ON FUNCTION spanner.load_statements(regclass, text, name[], boolean, text)
  IS 'statements for psql that load a CSV file of Cloud Spanner into a table';

CREATE FUNCTION spanner.load_statements(name text, file text DEFAULT NULL,
  columns name[] DEFAULT NULL, header boolean DEFAULT false, null_string text DEFAULT '')
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT s.statement
    FROM spanner_internal.csv_files(name, file, to_regclass(name))
         WITH ORDINALITY t (file, relation, n)
   CROSS JOIN LATERAL
         spanner.load_statements(t.relation, t.file, columns, header, null_string)
         WITH ORDINALITY s (statement, n)
   ORDER BY t.n, s.n;
END;

COMMENT ON FUNCTION spanner.load_statements(text, text, name[], boolean, text)
  IS 'the same for a table, or for all tables of a schema from a directory';

CREATE FUNCTION spanner.unload_statements(relation regclass, file text DEFAULT NULL,
  columns name[] DEFAULT NULL, header boolean DEFAULT false, null_string text DEFAULT '')
RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  -- a view, since what \copy takes is one line, and a name need not be
  RETURN QUERY
    SELECT format(E'CREATE TEMPORARY VIEW spanner_rows AS\nSELECT %s\n  FROM %s r;',
                  string_agg(format('%s AS %I',
                               spanner_internal.value_to_csv(c.type, format('r.%I', c.name), false),
                               c.name), E',\n       '),
                  relation)
      FROM spanner_internal.csv_columns(relation, columns) c;
  RETURN NEXT spanner_internal.csv_copy('(TABLE pg_temp.spanner_rows) TO %s', file,
    ', FORCE_QUOTE *' || CASE WHEN header THEN ', HEADER' ELSE '' END
    || CASE WHEN null_string <> '' THEN format(', NULL %L', null_string) ELSE '' END);
  RETURN NEXT 'DROP VIEW pg_temp.spanner_rows;';
END $$;

COMMENT ON FUNCTION spanner.unload_statements(regclass, text, name[], boolean, text)
  IS 'statements for psql that write the rows of a table to a CSV file for Cloud Spanner';

CREATE FUNCTION spanner.unload_statements(name text, file text DEFAULT NULL,
  columns name[] DEFAULT NULL, header boolean DEFAULT false, null_string text DEFAULT '')
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT s.statement
    FROM spanner_internal.csv_files(name, file, to_regclass(name))
         WITH ORDINALITY t (file, relation, n)
   CROSS JOIN LATERAL
         spanner.unload_statements(t.relation, t.file, columns, header, null_string)
         WITH ORDINALITY s (statement, n)
   ORDER BY t.n, s.n;
END;

COMMENT ON FUNCTION spanner.unload_statements(text, text, name[], boolean, text)
  IS 'the same for a table, or for all tables of a schema to a directory';
