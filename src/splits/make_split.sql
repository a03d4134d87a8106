/* src/splits/make_split.sql */

--
-- Splits: a table is made of its description, on the server where it will be
--
-- Every part of a description is a name that is quoted here, a type, collation, operator class or
-- operator that is found in the catalogs here, or an expression, and quote_expression() lets no
-- text through that is more than one.  Each command runs alone, as the owner of the table.
--

-- Run a single command with the rights of a role that the caller may act as.
CREATE FUNCTION spanner_internal.run_as(role oid, command text)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_run_as'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- An expression in parentheses, an error if the text is not a single one.
CREATE FUNCTION spanner_internal.quote_expression(expression text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_quote_expression'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Run a single command with the rights of the owner of a relation.
CREATE FUNCTION spanner_internal.run_as_owner(relation regclass, command text)
RETURNS void
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t pg_class;
BEGIN
  SELECT * INTO t FROM pg_class WHERE oid = relation;
  IF t.oid IS NULL THEN
    RAISE undefined_table USING
      MESSAGE = format('there is no relation for command "%s"', command);
  ELSIF NOT pg_has_role(t.relowner, 'USAGE') THEN
    RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s', t.relname);
  END IF;
  PERFORM spanner_internal.run_as(t.relowner, command);
END
$$;

-- A statement that is printed: a call, whose arguments are literals whatever they contain.
CREATE FUNCTION spanner_internal.step_call(function_name name, VARIADIC arguments text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN format('SELECT spanner_internal.%I(%s)', function_name,
              (SELECT string_agg(quote_nullable(a), ', ' ORDER BY n)
                 FROM unnest(arguments) WITH ORDINALITY x (a, n)));

-- A name that a description has as schema and name.
CREATE FUNCTION spanner_internal.qualified(names jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET quote_all_identifiers = off
RETURN format('%I.%I', names ->> 0, names ->> 1);

-- A column of a description, as CREATE TABLE takes it.
CREATE FUNCTION spanner_internal.column_clause(definition jsonb)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  type oid := (SELECT t.oid
                 FROM pg_type t
                 JOIN pg_namespace n ON n.oid = t.typnamespace
                WHERE n.nspname = definition #>> '{type,0}'
                  AND t.typname = definition #>> '{type,1}');
BEGIN
  IF type IS NULL THEN
    RAISE undefined_object USING
      MESSAGE = format('type %s does not exist', spanner_internal.qualified(definition -> 'type')),
      HINT = 'Create the types that the table uses on each server first.';
  END IF;
  RETURN concat_ws(' ', quote_ident(definition ->> 'name'),
    format_type(type, (definition #>> '{type,2}')::integer),
    'COLLATE ' || spanner_internal.qualified(definition -> 'collation'),
    'GENERATED ALWAYS AS ' || spanner_internal.quote_expression(definition ->> 'generated')
      || CASE WHEN (definition ->> 'stored')::boolean THEN ' STORED' ELSE ' VIRTUAL' END,
    CASE WHEN (definition ->> 'not_null')::boolean THEN 'NOT NULL' END);
END
$$;

-- A CHECK constraint of a description, as CREATE TABLE takes it.
CREATE FUNCTION spanner_internal.check_clause(definition jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN format('CONSTRAINT %I CHECK %s%s', definition ->> 'name',
              spanner_internal.quote_expression(definition ->> 'expression'),
              CASE WHEN (definition ->> 'not_enforced')::boolean THEN ' NOT ENFORCED' END);

-- An operator of an exclusion constraint, if there is one of that name.
CREATE FUNCTION spanner_internal.operator_clause(names jsonb)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT format('WITH OPERATOR(%I.%s)', n.nspname, o.oprname)
    FROM pg_operator o
    JOIN pg_namespace n ON n.oid = o.oprnamespace
   WHERE n.nspname = names ->> 0 AND o.oprname = names ->> 1
   LIMIT 1;
END;

-- Storage parameters and options of operator classes are texts "name=value".
CREATE FUNCTION spanner_internal.options_clause(options jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT format('(%s)', string_agg(format('%I = %L', split_part(o, '=', 1),
                                          substr(o, strpos(o, '=') + 1)), ', '))
    FROM jsonb_array_elements_text(options) o
HAVING count(*) > 0;
END;

-- Key columns of an index, as CREATE INDEX takes them.
CREATE FUNCTION spanner_internal.index_keys_clause(keys jsonb)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT string_agg(concat_ws(' ',
           coalesce(quote_ident(k ->> 'column'),
                    spanner_internal.quote_expression(k ->> 'expression')),
           'COLLATE ' || spanner_internal.qualified(k -> 'collation'),
           nullif(concat(spanner_internal.qualified(k -> 'class'),
                         spanner_internal.options_clause(k -> 'class_options')), ''),
           CASE WHEN (k ->> 'descending')::boolean THEN 'DESC' END,
           CASE WHEN k -> 'nulls_first' IS DISTINCT FROM k -> 'descending'
                THEN CASE WHEN (k ->> 'nulls_first')::boolean THEN 'NULLS FIRST'
                          ELSE 'NULLS LAST' END END,
           spanner_internal.operator_clause(k -> 'operator')), ', ' ORDER BY n)
    FROM jsonb_array_elements(keys) WITH ORDINALITY x (k, n);
END;

-- What follows the key columns.
CREATE FUNCTION spanner_internal.index_tail(definition jsonb)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN coalesce(' ' || nullif(concat_ws(' ',
         (SELECT format('INCLUDE (%s)', string_agg(quote_ident(c), ', ' ORDER BY n))
            FROM jsonb_array_elements_text(definition -> 'include') WITH ORDINALITY x (c, n)
          HAVING count(*) > 0),
         CASE WHEN (definition ->> 'nulls_not_distinct')::boolean
                   AND definition ->> 'kind' IS NULL THEN 'NULLS NOT DISTINCT' END,
         'WITH ' || spanner_internal.options_clause(definition -> 'options'),
         'WHERE ' || spanner_internal.quote_expression(definition ->> 'predicate'),
         CASE WHEN (definition ->> 'deferrable')::boolean THEN 'DEFERRABLE' END,
         CASE WHEN (definition ->> 'deferred')::boolean THEN 'INITIALLY DEFERRED' END), ''), '');

-- A key or exclusion constraint of a description, as CREATE TABLE takes it.
CREATE FUNCTION spanner_internal.key_clause(definition jsonb)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN CASE definition ->> 'kind'
       WHEN 'x' THEN format('EXCLUDE USING %I (%s)%s', definition ->> 'method',
                            spanner_internal.index_keys_clause(definition -> 'keys'),
                            spanner_internal.index_tail(definition))
       ELSE format('%s%s (%s%s)%s',
                   CASE definition ->> 'kind' WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END,
                   CASE WHEN (definition ->> 'nulls_not_distinct')::boolean
                        THEN ' NULLS NOT DISTINCT' END,
                   (SELECT string_agg(quote_ident(k ->> 'column'), ', ' ORDER BY n)
                      FROM jsonb_array_elements(definition -> 'keys') WITH ORDINALITY x (k, n)),
                   CASE WHEN (definition ->> 'period')::boolean THEN ' WITHOUT OVERLAPS' END,
                   spanner_internal.index_tail(definition)) END;

-- The commands that give columns the statistics targets and n_distinct of a description.
CREATE FUNCTION spanner_internal.statistics_commands(target text, columns jsonb)
RETURNS SETOF text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', target, c ->> 'name',
                (c ->> 'statistics')::integer)
    FROM jsonb_array_elements(columns) c
   WHERE c ->> 'statistics' IS NOT NULL
  UNION ALL
  SELECT format('ALTER TABLE %s ALTER COLUMN %I SET %s', target, c ->> 'name',
                spanner_internal.options_clause(c -> 'options'))
    FROM jsonb_array_elements(columns) c
   WHERE c ->> 'options' IS NOT NULL;
END;

-- The commands that have columns stored as a description says.
CREATE FUNCTION spanner_internal.storage_commands(target text, columns jsonb)
RETURNS SETOF text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT format('ALTER TABLE %s ALTER COLUMN %I SET %s %s', target, c ->> 'name', w.setting, w.word)
    FROM jsonb_array_elements(columns) c
   CROSS JOIN LATERAL (VALUES
     ('STORAGE', CASE c ->> 'storage' WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL'
                                      WHEN 'x' THEN 'EXTENDED' WHEN 'm' THEN 'MAIN' END),
     ('COMPRESSION', CASE c ->> 'compression' WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' END))
     w (setting, word)
   WHERE w.word IS NOT NULL;
END;

-- The commands that make a table of its description.
CREATE FUNCTION spanner_internal.table_commands(
  schemaname name,
  tablename name,
  definition jsonb)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH parts (kind, n, part) AS (
    SELECT 1, n, spanner_internal.column_clause(c)
      FROM jsonb_array_elements(definition -> 'columns') WITH ORDINALITY x (c, n)
    UNION ALL
    SELECT 2, n, spanner_internal.key_clause(i)
      FROM jsonb_array_elements(definition -> 'indexes') WITH ORDINALITY x (i, n)
     WHERE i ->> 'kind' IS NOT NULL
    UNION ALL
    SELECT 3, n, spanner_internal.check_clause(c)
      FROM jsonb_array_elements(definition -> 'checks') WITH ORDINALITY x (c, n))
  SELECT concat(format('CREATE TABLE %I.%I (%s)', schemaname, tablename,
                       string_agg(part, ', ' ORDER BY kind, n)),
                ' WITH ' || spanner_internal.options_clause(definition -> 'options'))
    FROM parts
  UNION ALL
  SELECT format('CREATE %sINDEX %I ON %I.%I USING %I (%s)%s',
                CASE WHEN (i ->> 'unique')::boolean THEN 'UNIQUE ' END, i ->> 'name',
                schemaname, tablename, i ->> 'method',
                spanner_internal.index_keys_clause(i -> 'keys'), spanner_internal.index_tail(i))
    FROM jsonb_array_elements(definition -> 'indexes') i
   WHERE i ->> 'kind' IS NULL
  UNION ALL
  SELECT format('CREATE TRIGGER spanner_fill_shard BEFORE INSERT OR UPDATE ON %I.%I
                   FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard()', schemaname, tablename)
   WHERE (definition ->> 'fill_shard')::boolean
  UNION ALL
  SELECT s
    FROM spanner_internal.statistics_commands(format('%I.%I', schemaname, tablename),
                                              definition -> 'columns') s
  UNION ALL
  SELECT s
    FROM spanner_internal.storage_commands(format('%I.%I', schemaname, tablename),
                                           definition -> 'columns') s;
END;

-- A right is one of a table, and a role is quoted.
CREATE FUNCTION spanner_internal.grant_commands(target text, grants jsonb)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT format('GRANT %s ON TABLE %s TO %s%s',
                (SELECT string_agg(concat(p, ' (' || quote_ident(g ->> 'column') || ')'), ', '
                                   ORDER BY n)
                   FROM jsonb_array_elements_text(g -> 'privileges') WITH ORDINALITY x (p, n)
                  WHERE p ~ '^[A-Z]+$'),
                target, coalesce(quote_ident(g ->> 'role'), 'PUBLIC'),
                CASE WHEN (g ->> 'grantable')::boolean THEN ' WITH GRANT OPTION' END)
    FROM jsonb_array_elements(grants) g;
END;

-- A table of that name may be left from the same step.
CREATE FUNCTION spanner_internal.check_made_table(relation regclass, owner oid, definition jsonb)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t pg_class;
BEGIN
  SELECT * INTO t FROM pg_class WHERE oid = relation;
  IF t.relkind <> 'r' OR t.relowner <> owner
    OR (SELECT jsonb_agg(jsonb_build_array(c -> 'name', c -> 'type'))
          FROM jsonb_array_elements(definition -> 'columns') c)
       IS DISTINCT FROM
       (SELECT jsonb_agg(jsonb_build_array(c -> 'name', c -> 'type'))
          FROM jsonb_array_elements(spanner_internal.describe_columns(relation)) c) THEN
    RAISE duplicate_table USING
      MESSAGE = format('relation %s already exists, and is another one', relation),
      DETAIL = format('It is not a table of role "%s" with the columns of the split.',
                      pg_get_userbyid(owner)),
      HINT = 'Rename or drop it first.';
  END IF;
END
$$;

-- A step that has been done does nothing again.
CREATE FUNCTION spanner_internal.make_split(schemaname name, tablename name, definition jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET standard_conforming_strings = on
SET DateStyle = 'ISO'
SET IntervalStyle = 'postgres'
AS $$
DECLARE
  relation constant regclass := spanner_internal.find_relation(schemaname, tablename);
  owner constant regrole := quote_ident(coalesce(definition ->> 'owner', current_user));
  command text;
BEGIN
  IF definition ->> 'version' IS DISTINCT FROM spanner_internal.extension_version() THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = 'the step has been printed by another version of extension spanner_keys_splits',
      DETAIL = format('It was %s, and %s is here.', coalesce(definition ->> 'version', 'none'),
                      spanner_internal.extension_version());
  ELSIF relation IS NOT NULL THEN
    PERFORM spanner_internal.check_made_table(relation, owner, definition);
    RETURN;
  ELSIF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = schemaname) THEN
    EXECUTE format('CREATE SCHEMA %I AUTHORIZATION %s', schemaname, owner);
  END IF;
  FOREACH command IN ARRAY
    ARRAY(SELECT c FROM spanner_internal.table_commands(schemaname, tablename, definition) c)
    || ARRAY(SELECT c FROM spanner_internal.grant_commands(format('%I.%I', schemaname, tablename),
                                                           definition -> 'grants') c)
  LOOP
    PERFORM spanner_internal.run_as(owner, command);
  END LOOP;
END
$$;
