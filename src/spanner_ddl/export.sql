-- Spanner's DDL for what is here.  A line that begins with "--" says what Spanner has not.

-- A name as GoogleSQL writes it.
CREATE FUNCTION spanner_internal.googlesql_name(name name)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_googlesql_name'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- An expression as GoogleSQL writes it, NULL if it cannot.
CREATE FUNCTION spanner_internal.googlesql_expression(relation oid, expression pg_node_tree)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_googlesql_expression'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- An expression as Spanner's PostgreSQL dialect writes it.
CREATE FUNCTION spanner_internal.postgresql_expression(relation oid, expression pg_node_tree)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_postgresql_expression'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Whether a text is one statement, or a part of one, for readers of either dialect.
CREATE FUNCTION spanner_internal.is_statement(statement text, dialect text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_is_statement'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The name that an object has in Spanner, and a statement with such names.
CREATE FUNCTION spanner_internal.spanner_name(name name)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_spanner_name'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.spanner_names(statement text, dialect text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_spanner_names'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Whether a default is the next value of a sequence, and nothing else.
CREATE FUNCTION spanner_internal.is_nextval(expression text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN expression ~ '^\(?(spanner\.)?nextval\(''([^'']|'''')+''::regclass\)(\)::\w+)?$' COLLATE "C";

-- All that is exported goes through this: a remark is one line, a statement is one statement.
CREATE FUNCTION spanner_internal.ddl_statement(statement text, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
  WHEN statement NOT LIKE '--%' AND spanner_internal.is_statement(statement, dialect)
    THEN spanner_internal.spanner_names(statement, dialect)
  ELSE regexp_replace(CASE WHEN statement LIKE '--%' THEN statement
                        ELSE '-- not as one statement: ' || statement END,
                      '[\x01-\x1f\x7f]', ' ', 'g') END;

-- The query of a view as GoogleSQL writes it, NULL if it cannot.
CREATE FUNCTION spanner_internal.googlesql_query(view oid)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_googlesql_query'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Whether a view is read with the rights of the caller.
CREATE FUNCTION spanner_internal.is_invoker(reloptions text[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (SELECT FROM pg_options_to_table(reloptions) o
                WHERE o.option_name = 'security_invoker' AND o.option_value::boolean);

-- A name as a dialect writes it.
CREATE FUNCTION spanner_internal.ddl_name(name name, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE dialect WHEN 'postgresql' THEN quote_ident(name)
  ELSE spanner_internal.googlesql_name(name) END;

-- A relation as a dialect names it.
CREATE FUNCTION spanner_internal.ddl_relation(relation oid, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE n.nspname WHEN 'public' THEN ''
           ELSE spanner_internal.ddl_name(n.nspname, dialect) || '.' END
         || spanner_internal.ddl_name(c.relname, dialect)
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = relation;
END;

-- The query of a view.  PostgreSQL's function looks at its catalogs by unqualified operators.
CREATE FUNCTION spanner_internal.view_query(view oid)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN btrim(pg_get_viewdef(view), ' ;');
END $$;

-- Whether a view shows the rows of a table, and nothing else.
CREATE FUNCTION spanner_internal.is_synonym(view oid, relation oid)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  -- before release 16 a column has the name of its table
  SELECT bool_or(regexp_replace(spanner_internal.view_query(view), '\s+', ' ', 'g')
                 = regexp_replace(q.query, '\s+', ' ', 'g'))
    FROM (SELECT format('SELECT %s FROM %I.%I',
                   string_agg(f.prefix || quote_ident(a.attname), ', ' ORDER BY a.attnum),
                   n.nspname, c.relname) AS query
            FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           CROSS JOIN LATERAL unnest(ARRAY['', quote_ident(c.relname) || '.']) f (prefix)
           WHERE c.oid = relation
           GROUP BY n.nspname, c.relname, f.prefix) q;
END;

-- Columns as a dialect lists them.
CREATE FUNCTION spanner_internal.ddl_columns(relation oid, columns smallint[], dialect text,
  descending boolean[] DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (
    SELECT string_agg(spanner_internal.ddl_name(a.attname, dialect)
                      || CASE WHEN descending[u.n] THEN ' DESC' ELSE '' END, ', ' ORDER BY u.n)
      FROM unnest(columns) WITH ORDINALITY u (attnum, n)
      JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = u.attnum);
END $$;

-- What GoogleSQL and the PostgreSQL dialect call a type, NULL if they have none.
CREATE FUNCTION spanner_internal.ddl_type(type oid, typmod integer, length text, dialect text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  element oid := (SELECT t.typelem FROM pg_type t WHERE t.oid = type AND t.typcategory = 'A');
  characters text := CASE WHEN type = 'varchar'::regtype AND typmod >= 0 THEN (typmod - 4)::text
                       ELSE coalesce(length, 'MAX') END;
BEGIN
  IF element <> 0 THEN
    RETURN replace(CASE dialect WHEN 'postgresql' THEN '*[]' ELSE 'ARRAY<*>' END, '*',
             spanner_internal.ddl_type(element, typmod, length, dialect));
  END IF;
  RETURN (
    SELECT format(CASE dialect WHEN 'postgresql' THEN t.postgresql ELSE t.googlesql END, characters)
      FROM (VALUES
             ('bool'::regtype, 'boolean', 'BOOL'), ('bytea', 'bytea', 'BYTES(%s)'),
             ('date', 'date', 'DATE'), ('float4', 'real', 'FLOAT32'),
             ('float8', 'double precision', 'FLOAT64'), ('int2', 'bigint', 'INT64'),
             ('int4', 'bigint', 'INT64'), ('int8', 'bigint', 'INT64'), ('json', NULL, 'JSON'),
             ('jsonb', 'jsonb', 'JSON'), ('numeric', 'numeric', 'NUMERIC'),
             ('spanner.commit_timestamp', 'spanner.commit_timestamp', 'TIMESTAMP'),
             ('text', CASE WHEN length IS NULL THEN 'text' ELSE 'varchar(%s)' END, 'STRING(%s)'),
             ('timestamptz', 'timestamptz', 'TIMESTAMP'), ('uuid', 'uuid', 'UUID'),
             ('varchar', format_type(type, typmod), 'STRING(%s)')) t (oid, postgresql, googlesql)
     WHERE t.oid = type);
END $$;

-- The length of a column by its constraints.
CREATE FUNCTION spanner_internal.ddl_length(relation oid, attnum smallint, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT min(spanner_internal.ddl_length(c.oid, dialect))::text
          FROM pg_constraint c
         WHERE c.conrelid = relation AND c.conkey = ARRAY[ddl_length.attnum]);

-- The clauses of a sequence with Spanner's kind, which goes on with the next counter, and skips
-- what may have been given before.  Who may not see the counter gets an error.
CREATE FUNCTION spanner_internal.ddl_sequence(sequence oid, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH found AS MATERIALIZED (
    SELECT s.*
      FROM spanner.sequences s
      JOIN pg_class c ON c.relname = s.sequencename
      JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = s.schemaname
     WHERE c.oid = sequence
       AND s.kind = 'bit_reversed_positive'
       AND s.bits = 63)
  SELECT 'BIT_REVERSED_POSITIVE'
         || CASE WHEN x.first IS NULL THEN ''
              ELSE format(' SKIP RANGE %s%s %s', x.first,
                CASE dialect WHEN 'postgresql' THEN '' ELSE ',' END, x.last) END
         || CASE WHEN x.counter = 1 THEN '' ELSE format(' START COUNTER WITH %s', x.counter) END
    FROM found s
   CROSS JOIN LATERAL (
           SELECT least(s.skip_range_min, split_part(s.given, '..', 1)::bigint),
                  greatest(s.skip_range_max, split_part(s.given, '..', 2)::bigint),
                  coalesce(spanner.get_internal_sequence_state(sequence::regclass::text),
                           s.start_counter)) x (first, last, counter);
END;

-- A column, or with attnum 0 a relation.  What a view needs is known of its rule.
CREATE FUNCTION spanner_internal.is_lost(relation oid, attnum integer, dialect text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  relkind "char" := (SELECT c.relkind FROM pg_class c WHERE c.oid = relation);
BEGIN
  RETURN CASE
    WHEN relkind = 'v' THEN false
    WHEN relkind = 'S' THEN spanner_internal.ddl_sequence(relation, dialect) IS NULL
    WHEN relkind IN ('r', 'p') THEN EXISTS (
      SELECT
        FROM pg_attribute a
       WHERE a.attrelid = relation
         AND a.attnum = is_lost.attnum
         AND a.attnum > 0
         AND spanner_internal.ddl_type(a.atttypid, a.atttypmod, NULL, dialect) IS NULL)
    ELSE true END;
END $$;

-- A default, a constraint or a rule.  Of functions, operators and types that are not pinned, only
-- those of our extensions are known there.  A view of the PostgreSQL dialect is written as it is.
CREATE FUNCTION spanner_internal.needs_lost(class regclass, object oid, dialect text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
  SELECT
    FROM pg_depend d
   WHERE d.classid = class
     AND d.objid = object
     AND CASE
           WHEN d.refclassid = 'pg_class'::regclass
             THEN spanner_internal.is_lost(d.refobjid, d.refobjsubid, dialect)
           WHEN d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)
             THEN NOT EXISTS (
                    SELECT
                      FROM pg_depend o
                      JOIN pg_extension x ON x.oid = o.refobjid
                     WHERE o.classid = d.refclassid
                       AND o.objid = d.refobjid
                       AND o.refclassid = 'pg_extension'::regclass
                       AND o.deptype = 'e'
                       AND x.extname LIKE 'spanner\_keys%')
                  OR dialect = 'postgresql' AND class = 'pg_rewrite'::regclass
                  AND (pg_identify_object(d.refclassid, d.refobjid, 0)).identity !~
                    '^spanner\.(bit_reverse|farm_fingerprint|generate_uuid|commit_timestamp)' END);

-- The query of a view, NULL if it cannot be said.  A view needs what the views below it need; each
-- of them is looked at once, and they can be in a circle.
CREATE FUNCTION spanner_internal.ddl_query(view oid, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH RECURSIVE views AS (
    SELECT view AS oid
     UNION
    SELECT c.oid
      FROM views v
      JOIN pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
      JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                      AND d.refclassid = 'pg_class'::regclass
      JOIN pg_class c ON c.oid = d.refobjid AND c.relkind = 'v')
  SELECT CASE dialect WHEN 'postgresql' THEN spanner_internal.view_query(view)
           ELSE spanner_internal.googlesql_query(view) END
   WHERE NOT EXISTS (
           SELECT
             FROM views v
             JOIN pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
            WHERE spanner_internal.needs_lost('pg_rewrite', r.oid, dialect)
               OR dialect = 'googlesql' AND spanner_internal.googlesql_query(v.oid) IS NULL);
END;

-- Spanner has no order for arrays and JSON, nor for the numbers of its PostgreSQL dialect.
CREATE FUNCTION spanner_internal.can_be_key(relation oid, columns smallint[], dialect text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN NOT EXISTS (
    SELECT
      FROM pg_attribute a
      JOIN pg_type t ON t.oid = a.atttypid
     WHERE a.attrelid = relation
       AND a.attnum = ANY (columns)
       AND (t.typcategory = 'A'
            OR t.oid IN ('json'::regtype, 'jsonb'::regtype)
            OR t.oid = 'numeric'::regtype AND dialect = 'postgresql'
            OR spanner_internal.is_lost(relation, a.attnum, dialect)));
END $$;

-- An expression as a dialect writes it, NULL if it cannot.
CREATE FUNCTION spanner_internal.ddl_expression(relation oid, expression pg_node_tree, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT e.text
    FROM (SELECT CASE dialect
                   WHEN 'postgresql' THEN
                     spanner_internal.postgresql_expression(relation, expression)
                   ELSE spanner_internal.googlesql_expression(relation, expression) END AS text) e
   WHERE spanner_internal.is_statement(e.text, dialect);
END;

-- A sequence of which the default of another column takes values is one of its own.
CREATE FUNCTION spanner_internal.ddl_identity(relation oid, attnum smallint)
RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT s.objid
    FROM pg_depend s
    JOIN pg_class c ON c.oid = s.objid AND c.relkind = 'S'
    LEFT JOIN pg_attrdef d ON d.adrelid = relation AND d.adnum = ddl_identity.attnum
   WHERE s.classid = 'pg_class'::regclass
     AND s.refclassid = 'pg_class'::regclass
     AND s.refobjid = relation
     AND s.refobjsubid = ddl_identity.attnum
     AND (s.deptype = 'i'
          OR s.deptype = 'a'
             AND spanner_internal.is_nextval(pg_get_expr(d.adbin, relation))
             AND ARRAY[d.oid] = ARRAY(SELECT o.objid FROM pg_depend o
                                       WHERE o.classid = 'pg_attrdef'::regclass
                                         AND o.refclassid = 'pg_class'::regclass
                                         AND o.refobjid = s.objid))
   LIMIT 1;
END;

-- A column, and what is lost of it.
CREATE FUNCTION spanner_internal.ddl_column(relation oid, attnum smallint, dialect text,
  OUT definition text, OUT lost text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  a record;
  is_google boolean := dialect <> 'postgresql';
  expression text;
  identity text;
BEGIN
  SELECT t.*, d.oid AS default_oid, d.adbin, pg_get_expr(d.adbin, d.adrelid) AS source,
         (t.atttypmod - 4) >> 16 AS precision, ((t.atttypmod - 4) & 2047 # 1024) - 1024 AS scale,
         CASE WHEN EXISTS (SELECT FROM pg_constraint c
                            WHERE c.conrelid = relation AND c.conkey = ARRAY[t.attnum]
                              AND c.contype = 'c')
           THEN spanner_internal.ddl_length(relation, t.attnum, dialect) END AS length,
         CASE WHEN t.attidentity <> '' OR d.oid IS NOT NULL AND t.attgenerated = ''
           THEN spanner_internal.ddl_identity(relation, t.attnum) END AS sequence
    INTO a
    FROM pg_attribute t
    LEFT JOIN pg_attrdef d ON d.adrelid = t.attrelid AND d.adnum = t.attnum
   WHERE t.attrelid = relation AND t.attnum = ddl_column.attnum;

  definition := spanner_internal.ddl_type(a.atttypid, a.atttypmod, a.length, dialect);
  IF definition IS NULL THEN
    lost := format('column %I of type %s', a.attname, format_type(a.atttypid, a.atttypmod));
    RETURN;
  END IF;
  definition := format('%s %s', spanner_internal.ddl_name(a.attname, dialect), definition)
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END;
  identity := spanner_internal.ddl_sequence(a.sequence, dialect);
  IF identity IS NOT NULL THEN
    definition := definition || format(' GENERATED BY DEFAULT AS IDENTITY (%s)', identity);
  ELSIF a.sequence IS NOT NULL THEN
    lost := format('the sequence of column %I, '
      'which is not of the kind bit_reversed_positive with 63 bits', a.attname);
  ELSIF a.adbin IS NOT NULL THEN
    expression := spanner_internal.ddl_expression(relation, a.adbin, dialect);
    IF expression IS NULL
       OR spanner_internal.needs_lost('pg_attrdef', a.default_oid, dialect) THEN
      lost := format('the expression of column %I: %s', a.attname, a.source);
    ELSIF a.attgenerated = '' THEN
      definition := definition || format(' DEFAULT (%s)', expression)
        || CASE WHEN spanner_internal.update_trigger(relation, attnum) IS NULL THEN ''
             ELSE format(' ON UPDATE (%s)', expression) END;
    ELSE
      definition := definition || CASE WHEN is_google THEN ' AS (' ELSE ' GENERATED ALWAYS AS (' END
        || expression || ') STORED';
    END IF;
  END IF;
  -- NUMERIC has 29 digits before the point and 9 behind it
  IF is_google AND lost IS NULL AND a.atttypid IN ('numeric'::regtype, 'numeric[]'::regtype)
     AND a.atttypmod > 0 AND (a.scale > 9 OR a.precision - a.scale > 29) THEN
    lost := format('digits of column %I, a %s', a.attname, format_type(a.atttypid, a.atttypmod));
  END IF;
  IF is_google AND a.atttypid = 'spanner.commit_timestamp'::regtype THEN
    definition := definition || ' OPTIONS (allow_commit_timestamp = true)';
  END IF;
END $$;

-- The columns of which the condition of an index says IS NOT NULL, NULL if it says anything else.
CREATE FUNCTION spanner_internal.not_null_columns(relation oid, condition text)
RETURNS smallint[]
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT array_agg(a.attnum ORDER BY a.attnum)
    FROM pg_attribute a
   CROSS JOIN LATERAL format('(%I IS NOT NULL)', a.attname) t (test)
   WHERE a.attrelid = relation AND a.attnum > 0 AND strpos(condition, t.test) > 0
  HAVING condition IN (string_agg(t.test, ' AND ' ORDER BY strpos(condition, t.test)),
           format('(%s)', string_agg(t.test, ' AND ' ORDER BY strpos(condition, t.test))));
END;

-- The columns of an index, and those that have to have a value.  "filter" is NULL if the condition
-- is another one.
CREATE FUNCTION spanner_internal.ddl_index_columns(indexid oid, OUT key smallint[],
  OUT stored smallint[], OUT descending boolean[], OUT filter smallint[], OUT nullable smallint[])
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH parts AS (
    SELECT i.indrelid, c.columns[1:i.indnkeyatts] AS key, c.columns[i.indnkeyatts + 1:] AS stored,
           ARRAY(SELECT d & 1 = 1
                   FROM unnest(i.indoption::smallint[]) WITH ORDINALITY u (d, n)
                  ORDER BY n) AS descending,
           CASE WHEN i.indpred IS NULL THEN '{}'
             ELSE spanner_internal.not_null_columns(
                    i.indrelid, pg_get_expr(i.indpred, i.indrelid)) END AS filter,
           i.indisunique AND NOT i.indnullsnotdistinct AS has_many_nulls
      FROM pg_index i
     CROSS JOIN LATERAL (SELECT string_to_array(i.indkey::text, ' ')::smallint[] AS columns) c
     WHERE i.indexrelid = indexid)
  SELECT p.key, p.stored, p.descending, p.filter,
         CASE WHEN p.has_many_nulls
           THEN ARRAY(SELECT a.attnum
                        FROM pg_attribute a
                       WHERE a.attrelid = p.indrelid
                         AND a.attnum = ANY (p.key)
                         AND a.attnum <> ALL (p.filter)
                         AND NOT a.attnotnull
                       ORDER BY a.attnum)
           ELSE '{}' END
    FROM parts p;
END;

-- What Spanner says of a table or index whose key does not begin with the key of its parent.
-- Which way a key goes is known if its columns do not all go one way.  Keys of the PostgreSQL
-- dialect ascend, and an index beside one is an index like others.
CREATE FUNCTION spanner_internal.interleave_problem(child oid, parent oid, dialect text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (
    WITH child_key AS (
      SELECT child AS relation, k.columns, k.descending, cardinality(k.columns) AS declared,
             'Table ' AS kind, false AS filtered
        FROM spanner_internal.ddl_key(child) k WHERE k.index IS NOT NULL
       UNION ALL
      SELECT i.indrelid, c.key || ARRAY(
               SELECT u.attnum
                 FROM unnest(k.columns) WITH ORDINALITY u (attnum, n)
                WHERE u.attnum <> ALL (c.key)
                ORDER BY u.n), c.descending, i.indnkeyatts, 'Index ', i.indpred IS NOT NULL
        FROM pg_index i
       CROSS JOIN LATERAL spanner_internal.ddl_index_columns(child) c
       CROSS JOIN LATERAL spanner_internal.ddl_key(i.indrelid) k
       WHERE i.indexrelid = child),
    parts AS (
      SELECT c.kind || spanner_internal.ddl_relation(child, 'postgresql') AS object, c.kind, u.n,
             c.declared < cardinality(o.columns) AS is_short, p.attname, a.attname AS child_name,
             spanner_internal.ddl_type(p.atttypid, p.atttypmod,
               spanner_internal.ddl_length(parent, p.attnum, 'googlesql'), 'googlesql') AS type,
             spanner_internal.ddl_type(a.atttypid, a.atttypmod,
               spanner_internal.ddl_length(c.relation, a.attnum, 'googlesql'), 'googlesql')
               AS child_type,
             (dialect = 'googlesql' OR c.kind = 'Index ')
               AND coalesce(o.descending[u.n], c.descending[1], false) AS descends,
             (dialect = 'googlesql' OR c.kind = 'Index ')
               AND coalesce(c.descending[u.n], o.descending[1], false) AS child_descends,
             CASE WHEN p.attnotnull THEN 'not null' ELSE 'nullable' END AS nullability,
             CASE WHEN a.attnotnull THEN 'not null' ELSE 'nullable' END AS child_nullability,
             c.filtered OR c.kind = 'Index ' AND a.attnotnull AS may_differ
        FROM child_key c
       CROSS JOIN spanner_internal.ddl_key(parent) o
       CROSS JOIN LATERAL unnest(o.columns) WITH ORDINALITY u (attnum, n)
        JOIN pg_attribute p ON p.attrelid = parent AND p.attnum = u.attnum
        LEFT JOIN pg_attribute a ON a.attrelid = c.relation AND a.attnum = c.columns[u.n])
    SELECT w.problem
      FROM parts p
     CROSS JOIN LATERAL (
             SELECT CASE
               WHEN p.kind = 'Index ' AND p.is_short AND p.attname <> p.child_name
                 THEN format('%1$s specifies keys that are not a prefix of the keys of table %2$s, '
                   'yet is to be interleaved in %2$s.', p.object,
                   spanner_internal.ddl_relation(parent, 'postgresql'))
               WHEN p.kind = 'Table ' AND p.attname IS DISTINCT FROM p.child_name
                 THEN format('%s does not reference parent key column %s.', p.object, p.attname)
               WHEN p.descends <> p.child_descends
                 THEN format('%s references parent key column %s with incorrect order %s.',
                   p.object, p.attname, CASE WHEN p.child_descends THEN 'ASC' ELSE 'DESC' END)
               WHEN p.type <> p.child_type
                 THEN format('%s references parent key column %s with incorrect type %s '
                   '(should be %s).', p.object, p.attname, p.child_type, p.type)
               WHEN p.nullability <> p.child_nullability AND NOT p.may_differ
                 THEN format('%s references parent key column %s that is %s, but child key is %s.',
                   p.object, p.attname, p.nullability, p.child_nullability) END) w (problem)
     WHERE w.problem IS NOT NULL
     ORDER BY p.n
     LIMIT 1);
END $$;

-- Of tables that are the parents of each other, the oldest one has no parent.  Nor has a table
-- without a key.
CREATE FUNCTION spanner_internal.ddl_parent(relation oid, dialect text,
  OUT constraint_oid oid, OUT parent oid)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  path oid[] := ARRAY[relation];
  ancestor oid;
  key smallint[];
BEGIN
  constraint_oid := spanner_internal.parent_constraint(relation);
  IF constraint_oid IS NOT NULL THEN
    SELECT c.confrelid, c.confrelid, c.confkey INTO parent, ancestor, key
      FROM pg_constraint c
     WHERE c.oid = constraint_oid;
    WHILE ancestor <> ALL (path) LOOP
      path := path || ancestor;
      ancestor := (SELECT c.confrelid
                     FROM pg_constraint c
                    WHERE c.oid = spanner_internal.parent_constraint(ancestor));
    END LOOP;
    IF (ancestor = relation AND relation = (SELECT min(p) FROM unnest(path) p)) IS NOT TRUE
       AND spanner_internal.can_be_key(relation,
             (SELECT k.columns FROM spanner_internal.ddl_key(relation) k), dialect)
       AND spanner_internal.can_be_key(parent, key, dialect)
       AND spanner_internal.interleave_problem(relation, parent, dialect) IS NULL THEN
      RETURN;
    END IF;
  END IF;
  constraint_oid := NULL;
  parent := (SELECT t.tgconstrrelid
               FROM pg_trigger t
              WHERE t.oid = spanner_internal.interleaved_trigger(relation));
END $$;

-- A synonym is a view of all columns of one table, with the rights of the caller, that was made as
-- one.  Anybody can make a view of that shape over anybody's table, so its trigger says what it is,
-- as with a row deletion policy: that is dumped, and goes with the view.  Others can give a view of
-- their own that trigger too, so it counts only if the table and the view have the same owner.
CREATE FUNCTION spanner_internal.synonym_of(relation oid)
RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT v.oid
    FROM (SELECT DISTINCT c.oid, c.reloptions
            FROM pg_class t
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid
            JOIN pg_rewrite r ON r.oid = d.objid
            JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v' AND c.relowner = t.relowner
            JOIN pg_trigger m
              ON m.tgrelid = c.oid AND m.tgfoid = 'spanner_internal.synonym'::regproc
           WHERE t.oid = relation
             AND d.classid = 'pg_rewrite'::regclass) v
   WHERE spanner_internal.is_invoker(v.reloptions)
     AND spanner_internal.is_synonym(v.oid, relation)
   ORDER BY v.oid
   LIMIT 1;
END;

-- CONSTRAINT and the name, which is left out if another object has it in Spanner.
CREATE FUNCTION spanner_internal.ddl_constraint_name(constraint_oid oid, dialect text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (
    SELECT format('CONSTRAINT %s ', spanner_internal.ddl_name(c.conname, dialect))
      FROM pg_constraint c
     CROSS JOIN LATERAL spanner_internal.spanner_name(c.conname) s
     WHERE c.oid = constraint_oid
       AND c.conname !~* '^(pk_|ck_is_not_null_)'
       AND NOT EXISTS (SELECT
                         FROM pg_constraint o
                        WHERE o.connamespace = c.connamespace
                          AND o.conname IN (c.conname, lower(c.conname), s, lower(s))
                          AND o.contype IN ('c', 'f')
                          AND (o.oid < c.oid OR o.conname <> c.conname))
       AND NOT EXISTS (SELECT
                         FROM pg_class r
                        WHERE r.relnamespace = c.connamespace
                          AND r.relname IN (c.conname, lower(c.conname), s, lower(s))
                          AND spanner_internal.made_up(r.relnamespace, r.relname) IS NULL));
END $$;

-- A foreign key as Spanner adds it.
CREATE FUNCTION spanner_internal.ddl_foreign_key(constraint_oid oid, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN spanner_internal.can_be_key(c.conrelid, c.conkey, dialect)
                   AND spanner_internal.can_be_key(c.confrelid, c.confkey, dialect)
              THEN '' ELSE '-- ' END
         || format('ALTER TABLE %s ADD %sFOREIGN KEY (%s) REFERENCES %s (%s)%s',
                spanner_internal.ddl_relation(c.conrelid, dialect),
                spanner_internal.ddl_constraint_name(c.oid, dialect),
                spanner_internal.ddl_columns(c.conrelid, c.conkey, dialect),
                spanner_internal.ddl_relation(c.confrelid, dialect),
                spanner_internal.ddl_columns(c.confrelid, c.confkey, dialect),
                CASE c.confdeltype WHEN 'c' THEN ' ON DELETE CASCADE' ELSE '' END
                  -- from release 18 on
                  || CASE to_jsonb(c) ->> 'conenforced' WHEN 'false' THEN ' NOT ENFORCED'
                       ELSE '' END)
    FROM pg_constraint c
   WHERE c.oid = constraint_oid;
END;

-- What a table does that Spanner's do not, as remarks
CREATE FUNCTION spanner_internal.ddl_table_losses(relation oid, dialect text)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH losses AS (
    SELECT 1 AS kind, c.conname AS name, format('%s of foreign key %I', concat_ws(', ',
             CASE WHEN c.confmatchtype = 'f' THEN 'MATCH FULL' END,
             'ON UPDATE ' || CASE c.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL'
                               WHEN 'd' THEN 'SET DEFAULT' END,
             'ON DELETE ' || CASE c.confdeltype WHEN 'n' THEN 'SET NULL'
                               WHEN 'd' THEN 'SET DEFAULT' END,
             CASE WHEN c.condeferrable THEN 'DEFERRABLE' END,
             CASE WHEN NOT c.convalidated AND to_jsonb(c) ->> 'conenforced' IS DISTINCT FROM 'false'
               THEN 'NOT VALID' END), c.conname) AS loss
      FROM pg_constraint c
     WHERE c.conrelid = relation AND c.contype = 'f' AND c.conparentid = 0
     UNION ALL
    SELECT 2, c.conname, format('constraint %I: %s', c.conname, pg_get_constraintdef(c.oid))
      FROM pg_constraint c
     WHERE c.conrelid = relation AND c.contype = 'x'
     UNION ALL
    SELECT 3, t.tgname, format('trigger %I: %s', t.tgname, pg_get_triggerdef(t.oid))
      FROM pg_trigger t
     WHERE t.tgrelid = relation AND NOT t.tgisinternal
       AND t.tgfoid NOT IN ('spanner_internal.row_deletion_policy'::regproc,
                            'spanner_internal.interleaved_in'::regproc,
                            'spanner_internal.on_update'::regproc)
     UNION ALL
    SELECT 4, p.polname, format('policy %I', p.polname)
      FROM pg_policy p
     WHERE p.polrelid = relation
     UNION ALL
    SELECT 5, c.relname, 'row-level security'
      FROM pg_class c
     WHERE c.oid = relation AND c.relrowsecurity
     UNION ALL
    SELECT 7, r.rulename, format('rule %I', r.rulename)
      FROM pg_rewrite r
     WHERE r.ev_class = relation
     UNION ALL
    SELECT 8, c.relname, format('rows of %s, which inherits from it', c.oid::regclass)
      FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid AND NOT c.relispartition
     WHERE i.inhparent = relation
     UNION ALL
    SELECT 6, a.attname, format('collation %I of column %I', c.collname, a.attname)
      FROM pg_attribute a
      JOIN pg_collation c ON c.oid = a.attcollation
     WHERE a.attrelid = relation AND a.attnum > 0
       AND c.oid NOT IN ('"default"'::regcollation, '"C"'::regcollation, '"POSIX"'::regcollation))
  SELECT format('-- %s is without %s', spanner_internal.ddl_relation(relation, dialect), l.loss)
    FROM losses l
   WHERE l.loss !~ '^ of foreign key'
   ORDER BY l.kind, l.name COLLATE "C";
END;

-- What has another name in Spanner, and what has that of another object or column, as remarks.
CREATE FUNCTION spanner_internal.ddl_renamed(relation oid, dialect text)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH names AS (
    SELECT 0 AS place, c.relname AS name, c.oid AS object FROM pg_class c WHERE c.oid = relation
     UNION ALL
    SELECT a.attnum, a.attname, relation
      FROM pg_attribute a
     WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
     UNION ALL
    SELECT 5000, r.relname, r.oid
      FROM pg_index i
      JOIN pg_class r ON r.oid = i.indexrelid
     WHERE i.indrelid = relation
     UNION ALL
    SELECT 6000, c.conname, c.oid
      FROM pg_constraint c
     WHERE c.conrelid = relation AND c.contype IN ('c', 'f')
       AND c.conname <> 'interleave in parent'),
  named AS (
    SELECT n.*, s AS spanner_name, n.name !~ '^[A-Za-z][A-Za-z0-9_]{0,58}$'
             AND octet_length(s) < 64 AND s <> n.name AS is_other,
           n.place < 6000
             AND count(*) OVER (PARTITION BY lower(s), n.place < 6000, n.place BETWEEN 1 AND 4999)
                 > 1
             OR n.place IN (0, 5000)
                AND EXISTS (SELECT
                              FROM pg_class o
                              JOIN pg_class c ON c.relnamespace = o.relnamespace
                             WHERE c.oid = relation
                               AND o.relname IN (lower(n.name), lower(s))
                               AND o.relname <> n.name) AS is_taken
      FROM names n
     CROSS JOIN LATERAL spanner_internal.spanner_name(n.name) s)
  SELECT r.remark
    FROM named n
   CROSS JOIN LATERAL (
           SELECT 1 AS kind, format('-- %I is called %s, as Spanner has no such name', n.name,
                               n.spanner_name) AS remark
            WHERE n.is_other
            UNION ALL
           SELECT 2, format('-- %I has the name of another object or column in Spanner, where case '
                       'makes no difference', n.name)
            WHERE n.is_taken) r
   WHERE CASE
           WHEN NOT (n.is_other OR n.is_taken) THEN false
           WHEN n.place = 5000
             THEN (SELECT spanner_internal.made_up(c.relnamespace, c.relname) IS NULL
                     FROM pg_class c
                    WHERE c.oid = n.object)
           WHEN n.place = 6000 THEN spanner_internal.ddl_length(n.object, dialect) IS NULL
             AND spanner_internal.ddl_constraint_name(n.object, dialect) IS NOT NULL
           ELSE true END
   ORDER BY r.kind, n.place, n.name COLLATE "C";
END;

-- Clauses behind the columns of a table that are not of its key
CREATE FUNCTION spanner_internal.ddl_clauses(relation oid, dialect text)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  clauses text[] := '{}';
  parent record;
  policy record;
BEGIN
  SELECT p.parent, p.constraint_oid, c.confdeltype INTO parent
    FROM spanner_internal.ddl_parent(relation, dialect) p
    LEFT JOIN pg_constraint c ON c.oid = p.constraint_oid;
  IF parent.parent IS NOT NULL THEN
    clauses := clauses || format('INTERLEAVE IN %s%s%s',
      CASE WHEN parent.constraint_oid IS NOT NULL THEN 'PARENT ' END,
      spanner_internal.ddl_relation(parent.parent, dialect),
      CASE parent.confdeltype WHEN 'c' THEN ' ON DELETE CASCADE' ELSE '' END);
  END IF;
  SELECT a.attname, convert_from(rtrim(t.tgargs, '\x00'), getdatabaseencoding())::interval AS age
    INTO policy
    FROM pg_trigger t
    JOIN pg_attribute a ON a.attrelid = t.tgrelid AND a.attnum = t.tgattr[0]
   WHERE t.tgrelid = relation AND t.tgfoid = 'spanner_internal.row_deletion_policy'::regproc;
  IF FOUND THEN
    clauses := clauses || format(
      CASE dialect WHEN 'postgresql' THEN 'TTL INTERVAL ''%2$s days'' ON %1$s'
        ELSE 'ROW DELETION POLICY (OLDER_THAN(%s, INTERVAL %s DAY))' END,
      spanner_internal.ddl_name(policy.attname, dialect),
      (extract(epoch FROM policy.age) / 86400)::bigint);
  END IF;
  RETURN clauses;
END $$;

-- A row of a table with a row deletion policy goes with its children, and theirs, or stays.
CREATE FUNCTION spanner_internal.expiry_problem(relation oid)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH RECURSIVE ancestors AS (
    SELECT relation AS relid
     UNION
    SELECT c.confrelid
      FROM ancestors a
      JOIN pg_constraint c
        ON c.conrelid = a.relid AND c.contype = 'f'
       AND c.oid = spanner_internal.parent_constraint(a.relid)),
  expiring AS (
    SELECT t.tgrelid AS policy, t.tgrelid AS relid, 'c'::"char" AS action
      FROM ancestors a
      JOIN pg_trigger t
        ON t.tgrelid = a.relid AND t.tgfoid = 'spanner_internal.row_deletion_policy'::regproc
     UNION
    SELECT e.policy, c.conrelid, c.confdeltype
      FROM expiring e
      JOIN pg_constraint c
        ON c.confrelid = e.relid AND c.contype = 'f' AND c.conparentid = 0
       -- only of these, since it opens the table
       AND CASE c.confrelid WHEN e.relid
             THEN c.oid = spanner_internal.parent_constraint(c.conrelid) END)
  SELECT format('Cannot create or alter table %s with ON DELETE NO ACTION because there is '
           'a row deletion policy on ancestor table %s.',
           spanner_internal.ddl_relation(e.relid, 'postgresql'),
           spanner_internal.ddl_relation(e.policy, 'postgresql'))
    FROM expiring e
   WHERE e.action <> 'c'
   ORDER BY e.relid, e.policy
   LIMIT 1;
END;

-- A check, or what is lost of it; nothing of a length, which its column has.
CREATE FUNCTION spanner_internal.ddl_check(constraint_oid oid, dialect text,
  OUT definition text, OUT lost text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF spanner_internal.ddl_length(constraint_oid, dialect) IS NOT NULL THEN
    RETURN;
  END IF;
  IF NOT spanner_internal.needs_lost('pg_constraint', constraint_oid, dialect) THEN
    -- rows may violate one that is not validated
    SELECT format('%sCHECK', spanner_internal.ddl_constraint_name(c.oid, dialect))
           || ' (' || spanner_internal.ddl_expression(c.conrelid, c.conbin, dialect) || ')'
      INTO definition
      FROM pg_constraint c
     WHERE c.oid = constraint_oid AND c.convalidated;
  END IF;
  IF definition IS NULL THEN
    lost := (SELECT format('constraint %I: %s', c.conname, pg_get_constraintdef(c.oid))
               FROM pg_constraint c
              WHERE c.oid = constraint_oid);
  END IF;
END $$;

-- CREATE TABLE, and comments on what is lost
CREATE FUNCTION spanner_internal.ddl_table(relation oid, dialect text)
RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  name text := spanner_internal.ddl_relation(relation, dialect);
  is_google boolean := dialect <> 'postgresql';
  remark text := repeat('-', 2) || ' ' || name;
  elements text[];
  key record;
  tail text[] := '{}';
  part record;
BEGIN
  SELECT k.*, spanner_internal.ddl_columns(relation, k.columns, dialect,
                CASE WHEN is_google THEN k.descending END) AS list
    INTO key FROM spanner_internal.ddl_key(relation) k;
  FOR part IN
    SELECT a.attnum::integer AS place, NULL::name AS conname, c.*
      FROM pg_attribute a
     CROSS JOIN LATERAL spanner_internal.ddl_column(relation, a.attnum, dialect) c
     WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
     UNION ALL
    SELECT NULL, c.conname, k.*
      FROM pg_constraint c
     CROSS JOIN LATERAL spanner_internal.ddl_check(c.oid, dialect) k
     WHERE c.conrelid = relation AND c.contype = 'c'
     ORDER BY 1, 2
  LOOP
    elements := elements || part.definition;
    IF part.lost IS NOT NULL THEN
      RETURN NEXT format('%s is without %s', remark, part.lost);
    END IF;
  END LOOP;

  IF key.index IS NULL THEN
    RETURN NEXT remark || ' has no key: Spanner adds one that is hidden';
  ELSIF NOT spanner_internal.can_be_key(relation, key.columns, dialect) THEN
    RETURN NEXT format('%s is without its key (%s): Spanner adds one that is hidden', remark,
      key.list);
    key.index := NULL;
  ELSIF key.is_empty AND NOT is_google THEN
    RETURN NEXT remark || ' has an empty key, as only GoogleSQL can write it';
  ELSIF NOT is_google AND EXISTS (SELECT FROM pg_attribute a
                                   WHERE a.attrelid = relation AND a.attnum = ANY (key.columns)
                                     AND NOT a.attnotnull) THEN
    RETURN NEXT remark || ' has a key with NULLs, as only GoogleSQL has it';
  END IF;
  IF key.index IS NULL OR key.is_empty AND NOT is_google THEN
    NULL;
  ELSIF is_google THEN
    tail := tail || format('PRIMARY KEY (%s)', key.list);
  ELSE
    elements := elements || format('PRIMARY KEY (%s)', key.list);
  END IF;
  elements := elements || ('SYNONYM ('
    || spanner_internal.ddl_relation(spanner_internal.synonym_of(relation), dialect) || ')');
  tail := tail || spanner_internal.ddl_clauses(relation, dialect);
  RETURN NEXT format(E'CREATE TABLE %s (\n  %s\n)%s%s', name,
    array_to_string(elements, E',\n  '), CASE WHEN tail <> '{}' THEN ' ' END,
    array_to_string(tail, CASE WHEN is_google THEN E',\n  ' ELSE E'\n  ' END));
END $$;

-- CREATE INDEX, which leaves rows out that have no value of the columns of "filter"
CREATE FUNCTION spanner_internal.ddl_index(indexid oid, filter smallint[], dialect text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (
    WITH parts AS (
      SELECT c.*, i.indisunique, i.indrelid, t.relnamespace, r.relname,
             dialect <> 'postgresql' AS is_google, k.columns AS table_key,
             ARRAY(SELECT k FROM unnest(c.key) k ORDER BY k)
               = ARRAY(SELECT f FROM unnest(ddl_index.filter) f ORDER BY f) AS has_whole_key
        FROM pg_index i
        JOIN pg_class r ON r.oid = i.indexrelid
        JOIN pg_class t ON t.oid = i.indrelid
       CROSS JOIN LATERAL spanner_internal.ddl_index_columns(indexid) c
       CROSS JOIN LATERAL spanner_internal.ddl_key(i.indrelid) k
       WHERE i.indexrelid = indexid)
    SELECT format('CREATE %s%sINDEX %s%s ON %s(%s)%s%s',
             CASE WHEN p.indisunique THEN 'UNIQUE ' END,
             CASE WHEN p.has_whole_key AND p.is_google THEN 'NULL_FILTERED ' END,
             CASE WHEN p.is_google AND p.relnamespace <> to_regnamespace('public')
               THEN spanner_internal.ddl_name(n.nspname, dialect) || '.' END,
             spanner_internal.ddl_name(p.relname, dialect),
             spanner_internal.ddl_relation(p.indrelid, dialect),
             spanner_internal.ddl_columns(p.indrelid, p.key, dialect, p.descending),
             CASE WHEN p.is_google THEN ' STORING (' ELSE ' INCLUDE (' END
               || spanner_internal.ddl_columns(p.indrelid, ARRAY(
                    SELECT u.attnum
                      FROM unnest(p.stored) WITH ORDINALITY u (attnum, n)
                     -- the key of the table is in each index of Spanner
                     WHERE u.attnum <> ALL (p.key || coalesce(p.table_key, '{}'))
                       AND u.n = array_position(p.stored, u.attnum)
                     ORDER BY u.n), dialect) || ')',
             CASE WHEN NOT p.has_whole_key OR NOT p.is_google
               THEN ' WHERE ' || (SELECT string_agg(spanner_internal.ddl_name(a.attname, dialect)
                                                    || ' IS NOT NULL', ' AND ' ORDER BY a.attnum)
                                    FROM pg_attribute a
                                   WHERE a.attrelid = p.indrelid
                                     AND a.attnum = ANY (ddl_index.filter)) END)
      FROM parts p
      JOIN pg_namespace n ON n.oid = p.relnamespace);
END $$;

-- Indexes that are not those of a constraint or of the key.  Several NULLs of one column are
-- possible in Spanner if the index leaves them out.
CREATE FUNCTION spanner_internal.ddl_indexes(relation oid, dialect text)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH indexes AS (
    SELECT i.indexrelid, r.relname, c.filter, c.nullable, cardinality(c.nullable) > 1 AS differs,
           0 = ANY (c.key) OR m.amname <> 'btree' OR c.filter IS NULL
             OR NOT spanner_internal.can_be_key(relation, c.key, dialect)
             OR EXISTS (SELECT FROM unnest(c.stored || c.filter) u (attnum)
                         WHERE spanner_internal.is_lost(relation, u.attnum, dialect)) AS is_lost
      FROM pg_index i
      JOIN pg_class r ON r.oid = i.indexrelid
      JOIN pg_am m ON m.oid = r.relam
     CROSS JOIN LATERAL spanner_internal.ddl_key(relation) k
     CROSS JOIN LATERAL spanner_internal.ddl_index_columns(i.indexrelid) c
     WHERE i.indrelid = relation
       AND i.indexrelid IS DISTINCT FROM k.index
       -- the order of the key, which only GoogleSQL says with the table
       AND (dialect = 'postgresql' OR i.indexrelid IS DISTINCT FROM k.order_index)
       AND NOT i.indisexclusion
       -- Spanner makes those that foreign keys need by itself
       AND NOT EXISTS (SELECT FROM pg_constraint o
                         JOIN pg_depend d
                           ON d.refclassid = 'pg_class'::regclass AND d.refobjid = o.conindid
                          AND d.classid = 'pg_constraint'::regclass
                         JOIN pg_constraint f ON f.oid = d.objid AND f.contype = 'f'
                        WHERE o.conrelid = relation
                          AND o.conindid = i.indexrelid AND o.contype = 'u'))
  SELECT s.statement
    FROM indexes i
   CROSS JOIN LATERAL (
           SELECT 1 AS n, format('-- %s has rows with NULLs once, as if they were equal',
                                 spanner_internal.ddl_name(i.relname, dialect)) AS statement
            WHERE i.differs AND NOT i.is_lost
            UNION ALL
           SELECT 2, CASE WHEN i.is_lost THEN '-- ' || pg_get_indexdef(i.indexrelid)
                       ELSE spanner_internal.ddl_index(i.indexrelid,
                              CASE WHEN i.differs THEN i.filter
                                ELSE i.filter || i.nullable END, dialect) END) s
   ORDER BY i.relname COLLATE "C", s.n;
END;

-- A view as Spanner creates it.
CREATE FUNCTION spanner_internal.ddl_view(relation oid, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN q.query IS NULL
              THEN format('-- query not written for %s: ',
                          CASE dialect WHEN 'googlesql' THEN 'GoogleSQL' ELSE 'Spanner' END)
              ELSE '' END
         || format('CREATE VIEW %s SQL SECURITY %s AS %s',
              spanner_internal.ddl_relation(relation, dialect),
              CASE WHEN spanner_internal.is_invoker(c.reloptions) THEN 'INVOKER'
                ELSE 'DEFINER' END,
              coalesce(q.query, spanner_internal.view_query(relation)))
    FROM pg_class c
   CROSS JOIN LATERAL spanner_internal.ddl_query(relation, dialect) q (query)
   WHERE c.oid = relation;
END;

-- Columns of the key are published in any case, and not listed.
CREATE FUNCTION spanner_internal.ddl_streams(schema oid, dialect text)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH tables AS (
    SELECT r.prpubid, c.relnamespace, r.prqual IS NOT NULL AS filtered,
           spanner_internal.ddl_relation(c.oid, dialect)
             || CASE WHEN r.prattrs IS NULL THEN ''
                  ELSE format('(%s)', spanner_internal.ddl_columns(c.oid, ARRAY(
                         SELECT a
                           FROM unnest(r.prattrs::smallint[]) a
                          WHERE a <> ALL (coalesce(k.columns, '{}'))
                            AND NOT spanner_internal.is_lost(c.oid, a, dialect)),
                         dialect)) END AS definition
      FROM pg_publication_rel r
      JOIN pg_class c ON c.oid = r.prrelid
     CROSS JOIN LATERAL spanner_internal.ddl_key(c.oid) k),
  streams AS (
    SELECT p.oid, string_agg(t.definition, ', ' ORDER BY t.definition COLLATE "C") AS list,
           min(t.relnamespace) AS schema,
           bool_or(t.filtered) OR EXISTS (SELECT FROM pg_publication_namespace n
                                           WHERE n.pnpubid = p.oid) AS differs
      FROM pg_publication p
      LEFT JOIN tables t ON t.prpubid = p.oid
     GROUP BY p.oid)
  SELECT CASE WHEN s.differs
              THEN '-- a change stream has no conditions, and names its tables: '
              ELSE '' END
         || format('CREATE CHANGE STREAM %s%s%s', spanner_internal.ddl_name(p.pubname, dialect),
              CASE WHEN p.puballtables THEN ' FOR ALL' ELSE ' FOR ' || s.list END,
              coalesce(CASE dialect WHEN 'postgresql' THEN ' WITH (' ELSE ' OPTIONS (' END
                || nullif(concat_ws(', ',
                  CASE WHEN NOT p.pubinsert THEN 'exclude_insert = true' END,
                  CASE WHEN NOT p.pubupdate THEN 'exclude_update = true' END,
                  CASE WHEN NOT p.pubdelete THEN 'exclude_delete = true' END), '')
                || ')', ''))
    FROM pg_publication p
    JOIN streams s ON s.oid = p.oid
   WHERE CASE WHEN s.schema IS NULL THEN to_regnamespace('public') ELSE s.schema END
         = ddl_streams.schema
   ORDER BY p.pubname COLLATE "C";
END;

-- One of the two dialects in lower case, or an error.
CREATE FUNCTION spanner_internal.ddl_check_dialect(dialect text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF lower(dialect) IN ('googlesql', 'postgresql') THEN
    RETURN lower(dialect);
  END IF;
  RAISE EXCEPTION 'dialect "%" is not known', dialect
    USING ERRCODE = 'invalid_parameter_value', HINT = 'Use "googlesql" or "postgresql".';
END $$;

CREATE FUNCTION spanner.spanner_ddl(relation regclass, dialect text DEFAULT 'googlesql')
RETURNS SETOF text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET bytea_output = 'hex'
SET datestyle = 'ISO'
SET extra_float_digits = 1
SET intervalstyle = 'postgres'
SET plan_cache_mode = force_generic_plan
SET quote_all_identifiers = off
SET standard_conforming_strings = on
SET timezone = 'UTC'
AS $$
DECLARE
  relkind "char" := (SELECT c.relkind FROM pg_class c WHERE c.oid = relation);
BEGIN
  dialect := spanner_internal.ddl_check_dialect(dialect);
  RETURN QUERY SELECT spanner_internal.ddl_statement(s, dialect)
    FROM spanner_internal.ddl_renamed(relation, dialect) s;
  IF relkind IN ('r', 'p') THEN
    RETURN QUERY SELECT spanner_internal.ddl_statement(s, dialect)
      FROM spanner_internal.ddl_table(relation, dialect) s;
    RETURN QUERY SELECT spanner_internal.ddl_statement(s, dialect)
      FROM spanner_internal.ddl_table_losses(relation, dialect) s;
    RETURN QUERY SELECT spanner_internal.ddl_statement(s, dialect)
      FROM spanner_internal.ddl_indexes(relation, dialect) s;
    RETURN QUERY SELECT spanner_internal.ddl_statement(
                          spanner_internal.ddl_foreign_key(c.oid, dialect), dialect)
      FROM pg_constraint c
     CROSS JOIN LATERAL spanner_internal.ddl_parent(relation, dialect) p
     WHERE c.conrelid = relation AND c.contype = 'f' AND c.conparentid = 0
       AND c.oid IS DISTINCT FROM p.constraint_oid
     ORDER BY c.conname COLLATE "C";
  ELSIF relkind = 'v' THEN
    RETURN NEXT spanner_internal.ddl_statement(
      spanner_internal.ddl_view(relation, dialect), dialect);
  ELSIF relkind IN ('S', 'm', 'f') THEN
    RETURN NEXT spanner_internal.ddl_statement(coalesce(
      CASE relkind WHEN 'S' THEN
        'CREATE SEQUENCE ' || spanner_internal.ddl_relation(relation, dialect) || ' '
          || spanner_internal.ddl_sequence(relation, dialect) END,
      '-- ' || format(
        CASE relkind
          WHEN 'S' THEN 'sequence %s is not of the kind bit_reversed_positive with 63 bits'
          WHEN 'm' THEN '%s is a materialized view, which Spanner has not'
          ELSE '%s is a foreign table, which Spanner has not' END, relation)), dialect);
  ELSE
    RAISE EXCEPTION '"%" is no table, view or sequence', relation
      USING ERRCODE = 'wrong_object_type';
  END IF;
END $$;

COMMENT ON FUNCTION spanner.spanner_ddl(regclass, text)
  IS 'Spanner''s DDL for a relation, in one of its dialects';

CREATE FUNCTION spanner.spanner_ddl(schema regnamespace, dialect text DEFAULT 'googlesql')
RETURNS SETOF text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  dialect := spanner_internal.ddl_check_dialect(dialect);
  RETURN QUERY
    SELECT spanner_internal.ddl_statement(
             'CREATE SCHEMA ' || spanner_internal.ddl_name(n.nspname, dialect), dialect)
      FROM pg_namespace n
     WHERE n.oid = schema AND n.nspname <> 'public';
  -- parents before children, foreign keys when all tables are there
  RETURN QUERY
    WITH RECURSIVE tables AS (
      SELECT c.oid, c.relname, p.parent
        FROM pg_class c
       CROSS JOIN LATERAL spanner_internal.ddl_parent(c.oid, dialect) p
       WHERE c.relnamespace = schema AND c.relkind IN ('r', 'p') AND NOT c.relispartition),
    ordered AS (
      SELECT t.oid, ARRAY[t.relname::text] AS path
        FROM tables t
       WHERE NOT EXISTS (SELECT FROM tables o WHERE o.oid = t.parent)
       UNION ALL
      SELECT t.oid, o.path || t.relname::text
        FROM ordered o
        JOIN tables t ON t.parent = o.oid),
    parts AS (
      SELECT 1 AS kind, ARRAY[c.relname::text] AS path, c.oid
        FROM pg_class c
       WHERE c.relnamespace = schema AND c.relkind = 'S'
         AND NOT EXISTS (SELECT FROM pg_depend d
                          WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                            AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
                            AND spanner_internal.ddl_identity(d.refobjid, d.refobjsubid::smallint)
                                = c.oid)
       UNION ALL
      SELECT 2, o.path, o.oid FROM ordered o
       UNION ALL
      SELECT 4, ARRAY[lpad(c.oid::text, 10, '0')], c.oid FROM pg_class c
       WHERE c.relnamespace = schema AND c.relkind IN ('v', 'm', 'f') AND NOT c.relispartition
         AND NOT EXISTS (SELECT FROM pg_rewrite r
                           JOIN pg_depend d
                             ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                          WHERE r.ev_class = c.oid AND d.refclassid = 'pg_class'::regclass
                            AND spanner_internal.synonym_of(d.refobjid) = c.oid))
    SELECT s.statement
      FROM parts p
     CROSS JOIN LATERAL
           spanner.spanner_ddl(p.oid::regclass, dialect) WITH ORDINALITY s (statement, n)
     ORDER BY CASE WHEN s.statement ~ '^ALTER TABLE .* FOREIGN KEY' THEN 3 ELSE p.kind END,
           p.path COLLATE "C", s.n;
  RETURN QUERY
    SELECT spanner_internal.ddl_statement(s, dialect)
      FROM spanner_internal.ddl_streams(schema, dialect) s;
END $$;

COMMENT ON FUNCTION spanner.spanner_ddl(regnamespace, text)
  IS 'Spanner''s DDL for the sequences, tables, indexes, views and change streams of a schema';

-- The schema of a name that is no relation's.
CREATE FUNCTION spanner_internal.named_schema(name text)
RETURNS regnamespace
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  schema oid := (SELECT n.oid FROM pg_namespace n WHERE ARRAY[n.nspname::text] = parse_ident(name));
BEGIN
  IF schema IS NULL THEN
    RAISE EXCEPTION 'there is no relation or schema "%"', name USING ERRCODE = 'undefined_object';
  END IF;
  RETURN schema;
END $$;

CREATE FUNCTION spanner.spanner_ddl(name text, dialect text DEFAULT 'googlesql')
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT s
    FROM spanner.spanner_ddl(to_regclass(name), dialect) s
   WHERE to_regclass(name) IS NOT NULL
   UNION ALL
  SELECT s
    FROM spanner.spanner_ddl(spanner_internal.named_schema(name), dialect) s
   WHERE to_regclass(name) IS NULL;
END;

COMMENT ON FUNCTION spanner.spanner_ddl(text, text)
  IS 'the same for a relation or schema of that name';
