-- All that the catalogs say of the extension, one line for each row.
--
-- Members of the extension and what belongs to them (columns, indexes,
-- constraints, triggers, rules, types), with owners, privileges, initial
-- privileges, comments, labels and dependencies.  OIDs are replaced by names,
-- and what tells of an object's age is left out, so two databases print the
-- same if their extensions are the same, however they came to be:
--
--   psql -XAtq -f sql/include/members.sql

SET search_path = pg_catalog;

-- Which columns of catalogs hold OIDs, and of what.
CREATE TEMPORARY TABLE reference AS
  SELECT fktable, fkcols[1]::name AS column_name, pktable
    FROM pg_get_catalog_foreign_keys()
   WHERE cardinality(fkcols) = 1;

CREATE FUNCTION pg_temp.identity(class regclass, object oid, column_number integer DEFAULT 0)
RETURNS text
LANGUAGE sql
AS $$
  SELECT i.type || ' ' || i.identity
    FROM pg_identify_object(class, object, column_number) i
$$;

-- A row of a catalog, as JSON, made readable.
CREATE FUNCTION pg_temp.readable(class regclass, entry jsonb)
RETURNS jsonb
LANGUAGE sql
AS $$
  SELECT jsonb_object_agg(e.key,
           CASE WHEN e.key ~ '(acl|privs)$' AND jsonb_typeof(e.value) = 'array'
                THEN (SELECT jsonb_agg(v ORDER BY v) FROM jsonb_array_elements(e.value) v)
                -- some minor releases note a version in the options of every column
                WHEN e.key = 'attoptions' AND jsonb_typeof(e.value) = 'array'
                THEN (SELECT jsonb_agg(v ORDER BY v) FROM jsonb_array_elements_text(e.value) v
                       WHERE v NOT LIKE 'pg_attver=%')
                WHEN r.pktable IS NULL
                THEN e.value
                WHEN jsonb_typeof(e.value) = 'array'
                THEN (SELECT jsonb_agg(pg_temp.identity(r.pktable, v::oid) ORDER BY n)
                        FROM jsonb_array_elements_text(e.value) WITH ORDINALITY a (v, n))
                WHEN e.value #>> '{}' ~ '^[1-9][0-9]*$'
                THEN to_jsonb(pg_temp.identity(r.pktable, (e.value #>> '{}')::oid))
                ELSE e.value
            END)
    FROM jsonb_each(entry) e
    JOIN pg_attribute a ON a.attrelid = class AND a.attname = e.key
    LEFT JOIN pg_temp.reference r ON r.fktable = class AND r.column_name = e.key
   WHERE a.atttypid <> 'pg_node_tree'::regtype
     AND e.key NOT IN ('oid', 'relfilenode', 'relpages', 'reltuples', 'relallvisible',
           'relallfrozen', 'relfrozenxid', 'relminmxid')
     -- numbers of columns, and values of columns that were added
     AND e.key NOT IN ('relnatts', 'attnum', 'adnum', 'conkey', 'confkey', 'indkey', 'tgattr',
           'atthasmissing', 'attmissingval')
$$;

-- The rows that a catalog has of an object.
CREATE FUNCTION pg_temp.entries(class regclass, column_name text, object oid)
RETURNS SETOF jsonb
LANGUAGE plpgsql
AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT pg_temp.readable(%L, to_jsonb(t)) FROM %s t WHERE %I = $1',
    class, class, column_name) USING object;
END
$$;

-- Expressions and queries, which are no text in the catalogs.
CREATE FUNCTION pg_temp.definition(class regclass, object oid)
RETURNS text
LANGUAGE sql
AS $$
  SELECT CASE class
           WHEN 'pg_proc'::regclass
           THEN concat_ws(' ', pg_get_function_arguments(object), pg_get_function_sqlbody(object))
           WHEN 'pg_constraint'::regclass THEN pg_get_constraintdef(object)
           WHEN 'pg_trigger'::regclass THEN pg_get_triggerdef(object)
           WHEN 'pg_rewrite'::regclass THEN pg_get_ruledef(object)
           WHEN 'pg_attrdef'::regclass
           THEN (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE oid = object)
           WHEN 'pg_policy'::regclass
           THEN (SELECT concat_ws(' CHECK ', pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
                   FROM pg_policy WHERE oid = object)
           WHEN 'pg_class'::regclass
           THEN (SELECT concat_ws(' ', pg_get_indexdef(oid), pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid))
                   FROM pg_class WHERE oid = object)
         END
$$;

WITH RECURSIVE members AS (
  SELECT 'pg_extension'::regclass::oid AS classid, oid AS objid
    FROM pg_extension
   WHERE extname = 'spanner_keys'
  UNION
  SELECT d.classid, d.objid
    FROM members m
    JOIN pg_depend d ON d.refclassid = m.classid AND d.refobjid = m.objid
   WHERE d.deptype IN ('e', 'i', 'a', 'P', 'S')
     AND d.classid <> 'pg_extension'::regclass
), lines AS (
  SELECT pg_temp.identity(classid, objid) AS member, l.kind, l.content
    FROM members
   CROSS JOIN LATERAL (
     SELECT 'row' AS kind, pg_temp.entries(classid, 'oid', objid)::text AS content
     UNION ALL
     SELECT 'definition', pg_temp.definition(classid, objid)
     UNION ALL
     SELECT s.kind, pg_temp.entries(s.class, s.column_name, objid)::text
       FROM (VALUES ('pg_class'::regclass, 'column', 'pg_attribute'::regclass, 'attrelid'),
                    ('pg_class', 'index', 'pg_index', 'indexrelid'),
                    ('pg_class', 'sequence', 'pg_sequence', 'seqrelid'),
                    ('pg_type', 'enum', 'pg_enum', 'enumtypid'),
                    ('pg_type', 'range', 'pg_range', 'rngtypid'),
                    ('pg_proc', 'aggregate', 'pg_aggregate', 'aggfnoid')) s (of, kind, class, column_name)
      WHERE s.of = members.classid
     UNION ALL
     SELECT 'column order', string_agg(attname, ', ' ORDER BY attnum)
       FROM pg_attribute
      WHERE classid = 'pg_class'::regclass AND attrelid = objid AND attnum > 0 AND NOT attisdropped
     UNION ALL
     SELECT 'comment', concat_ws(': ', pg_temp.identity(classid, objid, c.objsubid), c.description)
       FROM pg_description c
      WHERE c.classoid = classid AND c.objoid = objid
     UNION ALL
     SELECT 'label', concat_ws(': ', pg_temp.identity(classid, objid, s.objsubid), s.provider, s.label)
       FROM pg_seclabel s
      WHERE s.classoid = classid AND s.objoid = objid
     UNION ALL
     SELECT 'initial privileges', concat_ws(': ', pg_temp.identity(classid, objid, p.objsubid),
              pg_temp.readable('pg_init_privs', to_jsonb(p) - '{objoid,classoid,objsubid}'::text[]))
       FROM pg_init_privs p
      WHERE p.classoid = classid AND p.objoid = objid
     UNION ALL
     SELECT 'depends', concat_ws(' ', pg_temp.identity(classid, objid, d.objsubid), d.deptype,
              pg_temp.identity(d.refclassid, d.refobjid, d.refobjsubid))
       FROM pg_depend d
      WHERE d.classid = members.classid AND d.objid = members.objid
   ) l
   WHERE l.content IS NOT NULL
     AND l.content !~ '"attisdropped": true'
)
-- Toast tables are named by OIDs.
SELECT regexp_replace(replace(l.line, E'\n', ' '), 'pg_toast_\d+', 'pg_toast_N', 'g')
  FROM (SELECT concat_ws(': ', member, kind, content) AS line FROM lines) l
 ORDER BY l.line COLLATE "C";
