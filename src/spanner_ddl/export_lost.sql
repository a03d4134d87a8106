-- What an export has not, and what needs it.  The catalogs say which object needs which, so nothing
-- is written that would miss something when it is imported.

-- A column, or with attnum 0 a relation.  What a view needs is known of its rule.
CREATE FUNCTION spanner_internal.is_lost(relation oid, attnum integer, dialect text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  CASE (SELECT c.relkind FROM pg_class c WHERE c.oid = relation)
    WHEN 'r', 'p' THEN
      RETURN EXISTS (SELECT FROM pg_attribute a
                      WHERE a.attrelid = relation AND a.attnum = is_lost.attnum AND a.attnum > 0
                        AND spanner_internal.ddl_type(a.atttypid, a.atttypmod, NULL, dialect)
                            IS NULL);
    WHEN 'S' THEN
      RETURN spanner_internal.ddl_sequence(relation, dialect) IS NULL;
    WHEN 'v' THEN
      RETURN false;
    ELSE
      RETURN true;
  END CASE;
END $$;

COMMENT ON FUNCTION spanner_internal.is_lost(oid, integer, text)
  IS 'whether a dialect has nothing for a column, a table or a sequence';

-- A default, a constraint or a rule.  Of functions, operators and types that are not pinned, only
-- those of this extension are known there.
CREATE FUNCTION spanner_internal.needs_lost(class regclass, object oid, dialect text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
RETURN EXISTS (
  SELECT
    FROM pg_depend d
   WHERE d.classid = class AND d.objid = object
     AND CASE WHEN d.refclassid = 'pg_class'::regclass
              THEN spanner_internal.is_lost(d.refobjid, d.refobjsubid, dialect)
              ELSE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass,
                                    'pg_type'::regclass)
                   AND NOT EXISTS (SELECT FROM pg_depend e
                                     JOIN pg_extension x ON x.oid = e.refobjid
                                    WHERE e.classid = d.refclassid AND e.objid = d.refobjid
                                      AND e.deptype = 'e'
                                      AND x.extname IN ('spanner_keys', 'spanner_keys_ddl')) END);

COMMENT ON FUNCTION spanner_internal.needs_lost(regclass, oid, text)
  IS 'whether a default, a constraint or a rule needs something that a dialect has not';

-- The query of a view, NULL if it cannot be said.  A view needs what the views below it need; each
-- of them is looked at once, and they can be in a circle.
CREATE FUNCTION spanner_internal.ddl_query(view oid, dialect text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF EXISTS (
    WITH RECURSIVE views AS (
      SELECT view AS oid
       UNION
      SELECT c.oid
        FROM views v
        JOIN pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
        JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                        AND d.refclassid = 'pg_class'::regclass
        JOIN pg_class c ON c.oid = d.refobjid AND c.relkind = 'v')
    SELECT
      FROM views v
      JOIN pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
     WHERE spanner_internal.needs_lost('pg_rewrite', r.oid, dialect)
        OR dialect = 'googlesql' AND spanner_internal.googlesql_query(v.oid) IS NULL) THEN
    RETURN NULL;
  END IF;
  RETURN CASE dialect WHEN 'postgresql' THEN btrim(pg_get_viewdef(view), ' ;')
                      ELSE spanner_internal.googlesql_query(view) END;
END $$;

COMMENT ON FUNCTION spanner_internal.ddl_query(oid, text)
  IS 'the query of a view as a dialect writes it, NULL if it cannot';

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
     WHERE a.attrelid = relation AND a.attnum = ANY (columns)
       AND (t.typcategory = 'A' OR t.oid IN ('json'::regtype, 'jsonb'::regtype)
            OR t.oid = 'numeric'::regtype AND dialect = 'postgresql'
            OR spanner_internal.is_lost(relation, a.attnum, dialect)));
END $$;

COMMENT ON FUNCTION spanner_internal.can_be_key(oid, smallint[], text)
  IS 'whether columns can be those of a key or of an index in a dialect';
