/* src/splits/describe.sql */

--
-- Splits: how a table is made
--
-- A description is jsonb: names, flags that are true, numbers, and the texts of expressions as the
-- catalogs of this server have them.  It is the same on every server, whatever a session has set,
-- so that descriptions can be compared.  make_split.sql makes a table of one.
--

-- Some builds of the server keep a number of their own in the options of a column.
CREATE FUNCTION spanner_internal.describe_options(options text[])
RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT to_jsonb(array_agg(o)) FROM unnest(options) o WHERE o !~ '^pg_attver=';
END;

-- A type is known by the name that its row has; the catalogs of each server say how it is written.
CREATE FUNCTION spanner_internal.describe_columns(relation oid)
RETURNS jsonb
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'name', a.attname,
           'type', jsonb_build_array(tn.nspname, t.typname, a.atttypmod),
           'collation', CASE WHEN a.attcollation <> t.typcollation
                             THEN jsonb_build_array(cn.nspname, o.collname) END,
           'not_null', nullif(a.attnotnull, false),
           'statistics', nullif(a.attstattarget, -1),
           'options', spanner_internal.describe_options(a.attoptions),
           'storage', CASE WHEN a.attstorage <> t.typstorage THEN a.attstorage END,
           'compression', nullif(a.attcompression, ''),
           'generated', CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END,
           'stored', nullif(a.attgenerated = 's', false))) ORDER BY a.attnum), '[]')
    FROM pg_attribute a
    JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_namespace tn ON tn.oid = t.typnamespace
    LEFT JOIN pg_collation o ON o.oid = a.attcollation
    LEFT JOIN pg_namespace cn ON cn.oid = o.collnamespace
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
   WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped;
END;

-- Release 18 has constraints that are not enforced.
CREATE FUNCTION spanner_internal.describe_checks(relation oid)
RETURNS jsonb
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'name', k.conname,
           'expression', pg_get_expr(k.conbin, k.conrelid),
           'inherited', nullif(k.coninhcount > 0, false),
           'not_valid', nullif(NOT k.convalidated, false),
           'not_enforced', nullif(to_jsonb(k) ->> 'conenforced' = 'false', false)))
           ORDER BY k.conname), '[]')
    FROM pg_constraint k
   WHERE k.conrelid = relation AND k.contype = 'c';
END;

-- Key columns and expressions of an index.
CREATE FUNCTION spanner_internal.describe_index_keys(index oid)
RETURNS jsonb
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'column', a.attname,
           'expression', CASE p.attnum WHEN 0 THEN pg_get_indexdef(index, p.n::integer, false) END,
           'collation', CASE WHEN l.oid IS NOT NULL
                             THEN jsonb_build_array(ln.nspname, l.collname) END,
           'class', jsonb_build_array(cn.nspname, c.opcname),
           'class_options', spanner_internal.describe_options(ia.attoptions),
           'descending', nullif(p.option & 1 <> 0, false),
           'nulls_first', nullif(p.option & 2 <> 0, false),
           'operator', CASE WHEN x.oid IS NOT NULL
                            THEN jsonb_build_array(xn.nspname, x.oprname) END)) ORDER BY p.n)
    FROM pg_index i
   CROSS JOIN unnest(i.indkey::int2[], i.indclass::oid[], i.indcollation::oid[],
                     i.indoption::int2[])
         WITH ORDINALITY p (attnum, class, collationid, option, n)
    JOIN pg_attribute ia ON ia.attrelid = index AND ia.attnum = p.n
    JOIN pg_opclass c ON c.oid = p.class
    JOIN pg_namespace cn ON cn.oid = c.opcnamespace
    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = p.attnum AND p.attnum <> 0
    LEFT JOIN pg_collation l ON l.oid = p.collationid
    LEFT JOIN pg_namespace ln ON ln.oid = l.collnamespace
    LEFT JOIN pg_constraint k ON k.conindid = index AND k.contype = 'x'
    LEFT JOIN pg_operator x ON x.oid = k.conexclop[p.n]
    LEFT JOIN pg_namespace xn ON xn.oid = x.oprnamespace
   WHERE i.indexrelid = index AND p.n <= i.indnkeyatts;
END;

-- "kind" is that of the constraint, if there is one: p, u or x.
CREATE FUNCTION spanner_internal.describe_indexes(relation oid)
RETURNS jsonb
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'name', c.relname,
           'kind', k.contype,
           'unique', nullif(i.indisunique, false),
           'method', m.amname,
           'keys', spanner_internal.describe_index_keys(i.indexrelid),
           'include', (
             SELECT jsonb_agg(a.attname ORDER BY p.n)
               FROM unnest(i.indkey::int2[]) WITH ORDINALITY p (attnum, n)
               JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = p.attnum
              WHERE p.n > i.indnkeyatts),
           'predicate', pg_get_expr(i.indpred, i.indrelid),
           'options', c.reloptions,
           'nulls_not_distinct', nullif(i.indnullsnotdistinct, false),
           'deferrable', nullif(k.condeferrable, false),
           'deferred', nullif(k.condeferred, false),
           'period', nullif((to_jsonb(k) ->> 'conperiod')::boolean, false)))
           ORDER BY c.relname), '[]')
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_am m ON m.oid = c.relam
    LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.contype = ANY ('{p,u,x}')
   WHERE i.indrelid = relation AND i.indisvalid;
END;

-- Constants within expressions depend on settings.
CREATE FUNCTION spanner_internal.describe_table(relation oid)
RETURNS jsonb
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
  SELECT jsonb_strip_nulls(jsonb_build_object(
           'columns', spanner_internal.describe_columns(relation),
           'checks', spanner_internal.describe_checks(relation),
           'indexes', spanner_internal.describe_indexes(relation),
           'options', (SELECT reloptions FROM pg_class WHERE oid = relation)))
$$;

-- The rows that a partition takes, as an expression.
CREATE FUNCTION spanner_internal.describe_bounds(partition oid)
RETURNS text
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
  SELECT pg_get_partition_constraintdef(partition)
$$;

-- The rights that others than the owner have on a table, and on its columns.
CREATE FUNCTION spanner_internal.describe_grants(relation oid)
RETURNS jsonb
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH acl (attname, relacl) AS (
    SELECT NULL, relacl FROM pg_class WHERE oid = relation
    UNION ALL
    SELECT attname, attacl
      FROM pg_attribute
     WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped),
  granted AS (
    SELECT g.rolname AS role, a.is_grantable, acl.attname,
           array_agg(a.privilege_type ORDER BY a.privilege_type) AS privileges
      FROM pg_class c
     CROSS JOIN acl
     CROSS JOIN aclexplode(acl.relacl) a
      LEFT JOIN pg_roles g ON g.oid = a.grantee
     WHERE c.oid = relation AND a.grantee <> c.relowner
     GROUP BY a.grantee, g.rolname, a.is_grantable, acl.attname)
  SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'role', role, 'grantable', is_grantable, 'privileges', privileges, 'column', attname))
           ORDER BY role NULLS FIRST, is_grantable, attname NULLS FIRST), '[]')
    FROM granted;
END;

-- What the rows of a foreign partition differ in from what is known here.  A column there may
-- be NOT NULL where the one here is not, as those of its keys are, and may be plain where the
-- one here is a generated shard: move_split() makes it so.
CREATE FUNCTION spanner_internal.is_same_column(wanted jsonb, found jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT wanted - n.names = found - n.names
     AND (wanted -> 'not_null' IS NULL OR found -> 'not_null' IS NOT NULL)
     AND (wanted -> 'generated' IS NOT DISTINCT FROM found -> 'generated'
          AND wanted -> 'stored' IS NOT DISTINCT FROM found -> 'stored'
          OR coalesce(starts_with(wanted ->> 'generated', 'spanner.shard_id('), false)
             AND found -> 'generated' IS NULL)
    FROM (VALUES (
           '{not_null,generated,stored,statistics,options,storage,compression}'::text[])) n (names);
END;

-- How a table on another server differs from what is known here.
CREATE FUNCTION spanner_internal.split_differences(
  wanted jsonb,
  found jsonb,
  OUT finding text,
  OUT detail text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH missing (finding, name) AS (
    SELECT 'column missing', w ->> 'name'
      FROM jsonb_array_elements(wanted -> 'columns') w
     WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(found -> 'columns') f
                        WHERE spanner_internal.is_same_column(w, f))
    UNION ALL
    SELECT 'column not here', f ->> 'name'
      FROM jsonb_array_elements(found -> 'columns') f
     WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(wanted -> 'columns') w
                        WHERE spanner_internal.is_same_column(w, f))
    UNION ALL
    SELECT 'check missing', w ->> 'name'
      FROM jsonb_array_elements(wanted -> 'checks') w
     WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(found -> 'checks') f
                        WHERE f - 'inherited' = w - 'inherited'
                           OR f - 'inherited' = w - 'inherited' - 'not_valid')
    UNION ALL
    SELECT 'index missing', w ->> 'name'
      FROM jsonb_array_elements(wanted -> 'indexes') w
     WHERE w ->> 'kind' IS NULL
       AND NOT EXISTS (SELECT FROM jsonb_array_elements(found -> 'indexes') f
                        WHERE f - 'name' = w - 'name'))
  SELECT finding, string_agg(quote_ident(name), ', ' ORDER BY name COLLATE "C")
    FROM missing
   GROUP BY finding
  UNION ALL
  SELECT 'key missing', 'no primary key or unique constraint'
   WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(found -> 'indexes') f
                      WHERE f ->> 'kind' = ANY ('{p,u}'));
END;
