-- Views and change streams, and all of a relation or a schema.

CREATE FUNCTION spanner_internal.ddl_view(relation oid, dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT CASE WHEN q.query IS NULL
              THEN format('-- %s has no such query: ',
                          CASE dialect WHEN 'googlesql' THEN 'GoogleSQL' ELSE 'Spanner' END)
              ELSE '' END
         || format('CREATE VIEW %s SQL SECURITY %s AS %s',
              spanner_internal.ddl_relation(relation, dialect),
              CASE WHEN spanner_internal.is_invoker(c.reloptions) THEN 'INVOKER'
                ELSE 'DEFINER' END,
              coalesce(q.query, btrim(pg_get_viewdef(relation), ' ;')))
    FROM pg_class c
   CROSS JOIN LATERAL spanner_internal.ddl_query(relation, dialect) q (query)
   WHERE c.oid = relation;
END;

COMMENT ON FUNCTION spanner_internal.ddl_view(oid, text)
  IS 'a view as Spanner creates it';

-- Columns of the key are published in any case, and not listed.
CREATE FUNCTION spanner_internal.ddl_streams(schema oid, dialect text)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
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

COMMENT ON FUNCTION spanner_internal.ddl_streams(oid, text)
  IS 'the publications of a schema''s tables as Spanner''s change streams';

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

COMMENT ON FUNCTION spanner_internal.ddl_check_dialect(text)
  IS 'one of the two dialects in lower case, or an error';

CREATE FUNCTION spanner.spanner_ddl(relation regclass, dialect text DEFAULT 'googlesql')
RETURNS SETOF text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET bytea_output = 'hex'
SET datestyle = 'ISO'
SET extra_float_digits = 1
SET intervalstyle = 'postgres'
SET quote_all_identifiers = off
SET standard_conforming_strings = on
SET timezone = 'UTC'
AS $$
DECLARE
  relkind "char" := (SELECT c.relkind FROM pg_class c WHERE c.oid = relation);
BEGIN
  dialect := spanner_internal.ddl_check_dialect(dialect);
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
  ELSIF relkind = 'S' THEN
    RETURN NEXT spanner_internal.ddl_statement(coalesce(
      'CREATE SEQUENCE ' || spanner_internal.ddl_relation(relation, dialect) || ' '
        || spanner_internal.ddl_sequence(relation, dialect),
      format('-- sequence %s is not of the kind bit_reversed_positive with 63 bits', relation)),
      dialect);
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
       WHERE c.relnamespace = schema AND c.relkind = 'v'
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
