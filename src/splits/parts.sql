/* src/splits/parts.sql */

--
-- Splits: what a table is made of, as texts that two servers can compare
--

-- A role, as GRANT and CREATE POLICY take it.
CREATE FUNCTION spanner_internal.role_clause(role oid)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN CASE role WHEN 0 THEN 'PUBLIC' ELSE role::regrole::text END;

-- Behind ALTER TABLE and a name, this gives columns the statistics targets and n_distinct of a
-- table.  What ANALYZE finds of all partitions has a setting of its own.  Some builds of the server
-- keep a number of their own in the options.
CREATE FUNCTION spanner_internal.column_settings(relation regclass, is_adopted boolean)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT format(' ALTER COLUMN %I SET STATISTICS %s', a.attname, a.attstattarget)
    FROM pg_attribute a
   WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget >= 0
  UNION ALL
  SELECT format(' ALTER COLUMN %I SET (%s)', a.attname, string_agg(
           format('%I = %L', v.name, split_part(o, '=', 2)), ', '))
    FROM pg_attribute a
   CROSS JOIN unnest(a.attoptions) o
   CROSS JOIN LATERAL (
     SELECT split_part(o, '=', 1)
     UNION
     SELECT 'n_distinct_inherited'
      WHERE is_adopted AND starts_with(o, 'n_distinct=')
        AND NOT a.attoptions::text ~ 'n_distinct_inherited=') v (name)
   WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped AND o !~ '^pg_attver='
   GROUP BY a.attnum, a.attname;
END;

-- The rights that others than the owner have on a table and on its columns, and those that the user
-- of a user mapping gets on another server: of the role that the mapping is for.  Anybody may make
-- a mapping.  The name of the table belongs between the two texts.
CREATE FUNCTION spanner_internal.table_grants(
  relation regclass,
  server name,
  privileges text[],
  OUT head text,
  OUT tail text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH mapped AS (
    SELECT quote_ident(o.option_value) AS role, m.umuser, p.privilege,
           m.umuser = 0 OR has_table_privilege(m.umuser, relation, p.privilege) AS on_table
      FROM pg_user_mappings m
     CROSS JOIN pg_options_to_table(m.umoptions) o
     CROSS JOIN unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) p (privilege)
     WHERE m.srvname = server AND o.option_name = 'user'),
  granted AS (
    SELECT spanner_internal.role_clause(a.grantee) AS role, s.attname,
           a.privilege_type AS privilege, a.is_grantable
      FROM pg_class c
     CROSS JOIN LATERAL (
       SELECT NULL::name, c.relacl
       UNION ALL
       SELECT attname, attacl FROM pg_attribute WHERE attrelid = relation AND NOT attisdropped)
       s (attname, acl)
     CROSS JOIN aclexplode(s.acl) a
     WHERE c.oid = relation AND a.grantee <> c.relowner
    UNION
    SELECT m.role, a.attname, m.privilege, false
      FROM mapped m
      LEFT JOIN pg_attribute a ON a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
                              AND CASE WHEN m.on_table OR m.privilege = 'DELETE' THEN false ELSE
                                has_column_privilege(m.umuser, relation, a.attnum, m.privilege) END
     WHERE m.on_table OR a.attnum IS NOT NULL)
  SELECT format('GRANT %s ON TABLE ', string_agg(
           concat(g.privilege, ' (' || quote_ident(g.attname) || ')'), ', ' ORDER BY g.privilege)),
         format(' TO %s%s', g.role, CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM (SELECT * FROM granted WHERE table_grants.privileges IS NULL
                                   OR privilege = ANY (table_grants.privileges)) g
   GROUP BY g.role, g.is_grantable, g.attname
   ORDER BY g.role, g.is_grantable, g.attname NULLS FIRST;
END;

-- What decides the order of texts by a collation: provider, locale, rules and the version of the
-- library.  Bytes need no version.
CREATE FUNCTION spanner_internal.sorting(collation_id oid)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN s.locale = ANY ('{C,POSIX}') THEN 'bytes'
              ELSE concat_ws(' ', CASE s.provider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu'
                                                  ELSE 'builtin' END,
                             s.locale, s.rules, s.version) END
    FROM pg_collation o
    JOIN pg_database d ON d.datname = current_database()
   CROSS JOIN LATERAL (VALUES (to_jsonb(o), to_jsonb(d))) j (o, d)
   CROSS JOIN LATERAL (
     SELECT o.collprovider, coalesce(j.o ->> 'colllocale', j.o ->> 'colliculocale', o.collcollate),
            j.o ->> 'collicurules', pg_collation_actual_version(o.oid)
      WHERE o.collprovider <> 'd'
     UNION ALL
     SELECT d.datlocprovider, coalesce(j.d ->> 'datlocale', j.d ->> 'daticulocale', d.datcollate),
            j.d ->> 'daticurules', pg_database_collation_actual_version(d.oid)
      WHERE o.collprovider = 'd') s (provider, locale, rules, version)
   WHERE o.oid = collation_id;
END;

-- Columns, checks, indexes and keys of a table: an array of objects.  The texts are those of
-- pg_get_*def(), without the names of table and index, and the same on every server, whatever a
-- session has set.
CREATE FUNCTION spanner_internal.table_parts(relation oid)
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
  WITH part AS (
    SELECT 'column' AS kind, a.attname AS name,
           concat_ws(' ', format_type(a.atttypid, a.atttypmod),
                     CASE WHEN a.attcollation <> t.typcollation
                          THEN 'COLLATE ' || a.attcollation::regcollation END,
                     (SELECT array_agg(e.enumlabel ORDER BY e.enumsortorder)
                        FROM pg_enum e
                       WHERE e.enumtypid = a.atttypid)) AS text,
           spanner_internal.sorting(a.attcollation) AS sorting,
           a.attnum = ANY (p.partattrs::int2[]) AS in_key, a.attnotnull AS not_null,
           CASE WHEN a.attgenerated <> ''
                THEN concat(pg_get_expr(d.adbin, d.adrelid), ' ', a.attgenerated) END AS generated
      FROM pg_attribute a
      JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN pg_partitioned_table p ON p.partrelid = a.attrelid
     WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT CASE k.contype WHEN 'c' THEN 'check' ELSE 'key' END, k.conname,
           pg_get_constraintdef(k.oid), NULL, NULL, NULL, NULL
      FROM pg_constraint k
     WHERE k.conrelid = relation AND k.contype = ANY ('{c,p,u,x}')
    UNION ALL
    SELECT 'index', c.relname,
           concat(CASE WHEN i.indisunique THEN 'UNIQUE ' END,
                  substr(d.command, strpos(d.command, d.target) + length(d.target))),
           NULL, NULL, NULL, NULL
      FROM pg_index i
      JOIN pg_class c ON c.oid = i.indexrelid
     CROSS JOIN LATERAL (
       VALUES (pg_get_indexdef(c.oid), format(' %s ', i.indrelid::regclass))) d (command, target)
     WHERE i.indrelid = relation AND i.indisvalid
       AND NOT EXISTS (SELECT FROM pg_constraint k
                        WHERE k.conindid = c.oid AND k.contype = ANY ('{p,u,x}')))
  SELECT jsonb_agg(to_jsonb(p) ORDER BY p.kind, p.name) FROM part p
$$;

-- How a table on another server differs from what is known here.  A column there may be NOT NULL
-- where the one here is not, as those of its keys are, and may be plain where the one here is a
-- generated shard.  Order counts for the partition key only.
CREATE FUNCTION spanner_internal.part_differences(
  wanted jsonb,
  found jsonb,
  OUT finding text,
  OUT detail text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH w AS (
    SELECT *
      FROM jsonb_to_recordset(wanted) p (kind text, name text, text text, sorting text,
                                         in_key boolean, not_null boolean, generated text)),
  f AS (
    SELECT *
      FROM jsonb_to_recordset(found) p (kind text, name text, text text, sorting text,
                                        not_null boolean, generated text)),
  differs (finding, detail) AS (
    SELECT CASE WHEN f.kind IS NULL THEN w.kind || ' missing' ELSE 'sorts in another way' END,
           CASE WHEN f.kind IS NULL THEN quote_ident(w.name)
                ELSE format('%I: %s there, %s here', w.name, f.sorting, w.sorting) END
      FROM w
      LEFT JOIN f ON f.kind = w.kind AND CASE w.kind
        WHEN 'column' THEN f.name = w.name AND f.text = w.text AND f.not_null >= w.not_null
          AND (f.generated IS NOT DISTINCT FROM w.generated
               OR f.generated IS NULL AND starts_with(w.generated, 'spanner.shard_id('))
        WHEN 'check' THEN f.name = w.name AND w.text IN (f.text, f.text || ' NOT VALID')
        ELSE f.text = w.text END
     WHERE w.kind <> 'key'
       AND (f.kind IS NULL OR w.in_key AND f.sorting IS DISTINCT FROM w.sorting)
    UNION ALL
    SELECT 'column not here', quote_ident(f.name)
      FROM f
     WHERE f.kind = 'column' AND f.name NOT IN (SELECT w.name FROM w WHERE w.kind = 'column')
    UNION ALL
    SELECT 'key missing', 'no primary key or unique constraint'
     WHERE NOT EXISTS (SELECT FROM f WHERE f.kind = 'key' AND f.text ~ '^(PRIMARY|UNIQUE)'))
  SELECT d.finding, string_agg(d.detail, ', ' ORDER BY d.detail COLLATE "C")
    FROM differs d
   GROUP BY d.finding;
END;
