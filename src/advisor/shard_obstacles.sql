/* src/advisor/shard_obstacles.sql */

-- Advisor: can a table get a shard column, or lose it

-- A table that gets or loses a shard column, and its primary key: the parts that statements are
-- made of.  "key" has the columns except the shard.
CREATE TYPE spanner_internal.shard_table AS (
  relid oid, ident text, relname name, nspname name, owner oid, is_partitioned boolean,
  indexid oid, index_name name, key_name text, key name[], columns text,
  has_column boolean, in_key boolean, index_tail text, constraint_tail text, deferral text,
  is_replica_identity boolean, comment text);

-- Why a table cannot have a shard key.  If "warns", a dry run only warns.
CREATE TYPE spanner_internal.shard_obstacle AS (
  code text, message text, detail text, hint text, warns boolean);

-- A table and its primary key, as spanner.add_shard_key looks at them.
CREATE FUNCTION spanner_internal.read_shard_table(relation oid, column_name name)
RETURNS spanner_internal.shard_table
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_nestloop = on  -- it looks at one table, also where rules look at all
AS $$
BEGIN
  RETURN (
    SELECT ROW(c.oid,
           format('%I.%I', CASE WHEN n.oid = pg_my_temp_schema() THEN 'pg_temp' ELSE n.nspname END,
                  c.relname),
           c.relname, n.nspname, c.relowner, c.relkind = 'p',
           p.indexrelid, i.relname, quote_ident(k.conname), l.key, l.columns,
           a.attnum IS NOT NULL, coalesce(a.attnum = ANY (p.indkey::int2[]), false),
           concat(l.include, w.options, ' TABLESPACE ' || quote_ident(s.spcname)),
           concat(l.include, w.options, ' USING INDEX TABLESPACE ' || quote_ident(s.spcname),
                  d.deferral),
           d.deferral, p.indisreplident,
           obj_description(k.oid, 'pg_constraint'))::spanner_internal.shard_table
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = column_name
      LEFT JOIN pg_index p ON p.indrelid = c.oid AND p.indisprimary
      LEFT JOIN pg_class i ON i.oid = p.indexrelid
      LEFT JOIN pg_tablespace s ON s.oid = i.reltablespace
      LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.conindid = p.indexrelid
       AND k.contype = 'p'
     CROSS JOIN LATERAL (
       SELECT array_agg(o.attname ORDER BY u.n)
              FILTER (WHERE u.n <= p.indnkeyatts AND o.attname <> column_name) AS key,
              string_agg(quote_ident(o.attname), ', ' ORDER BY u.n)
                FILTER (WHERE u.n <= p.indnkeyatts AND o.attname <> column_name) AS columns,
              ' INCLUDE (' || spanner_internal.column_list(
                c.oid, (p.indkey::int2[])[p.indnkeyatts:]) || ')' AS include
         FROM unnest(p.indkey::int2[]) WITH ORDINALITY u (attnum, n)
         JOIN pg_attribute o ON o.attrelid = c.oid AND o.attnum = u.attnum) l
     CROSS JOIN LATERAL (SELECT ' WITH (' || string_agg(regexp_replace(o, '=(.*)', '=''\1'''), ', ')
                         || ')' AS options
                           FROM unnest(i.reloptions) o) w
     CROSS JOIN LATERAL (
       SELECT CASE WHEN NOT k.condeferrable THEN ''
                   WHEN k.condeferred THEN ' DEFERRABLE INITIALLY DEFERRED'
                   ELSE ' DEFERRABLE' END AS deferral) d
     WHERE c.oid = relation);
END
$$;

-- GROUP BY of the key alone may leave out the other columns, and relies on the key.
CREATE FUNCTION spanner_internal.list_key_users(key_index oid)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT DISTINCT pg_describe_object(d.classid, d.objid, 0)
    FROM pg_index i
    JOIN pg_constraint k ON k.conrelid = i.indrelid AND k.conindid = i.indexrelid
     AND k.contype = 'p'
    JOIN pg_depend d ON d.refclassid = 'pg_constraint'::regclass AND d.refobjid = k.oid
     AND d.deptype = 'n'
   WHERE i.indexrelid = key_index;
END;

-- The CHECK constraint of a plain shard column.
CREATE FUNCTION spanner_internal.shard_check(relation oid, column_name name)
RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT min(c.oid)
    FROM pg_attribute a
    JOIN pg_constraint c ON c.conrelid = a.attrelid AND c.contype = 'c'
     AND a.attnum = ANY (c.conkey)
   CROSS JOIN LATERAL spanner_internal.read_shard_key(c.conbin, c.conrelid) k
   WHERE a.attrelid = relation AND a.attname = column_name AND k.column_number = a.attnum;
END;

-- The publications of a table, or of its partitions in its place; and whether one lists the columns
-- of the key, by which updates and deletions find rows elsewhere.
CREATE FUNCTION spanner_internal.list_publications(relation oid)
RETURNS TABLE (name name, lists_key boolean)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
  SELECT p.pubname,
         bool_or(l.columns IS NOT NULL AND (p.pubupdate OR p.pubdelete))
         AND EXISTS (
           SELECT FROM pg_class c
             LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
            WHERE c.oid IN (SELECT spanner_internal.list_parts(relation)) AND c.relkind = 'r'
              AND (c.relreplident = 'd' OR i.indisreplident))
    FROM spanner_internal.list_published() l
    JOIN pg_publication p ON p.oid = l.pubid
   WHERE l.relid IN (SELECT spanner_internal.list_parts(relation))
   GROUP BY p.pubname;
END;

-- Why a table cannot get a shard column that is computed from "keys", or if they are NULL, why it
-- cannot lose one: what a table and its shard column have to be, the columns that the shard cannot
-- be computed from, and what uses the table or its key and would fail.  The first row counts, those
-- after it are not evaluated.  ALTER TABLE would drop indexes and constraints together with the
-- column.
CREATE FUNCTION spanner_internal.list_shard_obstacles(relation oid, column_name name, keys name[])
RETURNS SETOF spanner_internal.shard_obstacle
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT o.code, format(o.message, c.relname, column_name, relation, o.key, o.type),
         format(o.detail, o.users), o.hint, o.warns
    FROM (SELECT keys IS NOT NULL AS is_added) s
    LEFT JOIN pg_class c ON c.oid = relation
   CROSS JOIN LATERAL spanner_internal.read_shard_table(relation, column_name) t
   CROSS JOIN LATERAL spanner_internal.shard_check(relation, column_name) y (shard_check)
   CROSS JOIN LATERAL (
     SELECT y.shard_check IS NOT NULL
            OR EXISTS (SELECT FROM pg_attribute a
                         JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                        CROSS JOIN LATERAL spanner_internal.read_shard_key(d.adbin, d.adrelid) k
                        WHERE a.attrelid = c.oid AND a.attname = column_name
                          AND a.attgenerated <> '' AND num_nonnulls(k.keys, k.problem) > 0)
              AS is_shard,
            t.in_key OR s.is_added AS changes_key,
            s.is_added AND NOT t.has_column AS is_new OFFSET 0) x
   CROSS JOIN LATERAL (
     SELECT v.*, NULL AS users, NULL::name AS key, NULL AS type, false AS warns
       FROM (VALUES
         (c.oid IS NULL, 'undefined_table', 'table with OID %3$s does not exist', NULL,
          'Name a table.'),
         (c.relkind <> ALL ('{r,p}'), 'wrong_object_type', '"%s" is not a table', NULL,
          'Name the table that stores the rows.'),
         (c.oid < 16384, 'insufficient_privilege', '"%s" is a system catalog', NULL,
          'Name a table of your own.'),
         (EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid), 'wrong_object_type',
          'table "%s" is a partition, or inherits its columns', NULL,
          'Name the table that it is a part of.'),
         (c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid),
          'feature_not_supported', 'other tables inherit the columns of table "%s"',
          'A primary key does not spread the rows of its children.', 'Use partitions instead.'),
         (c.reloftype <> 0, 'wrong_object_type', 'table "%s" has the columns of a type', NULL,
          'Separate it from the type by ALTER TABLE ... NOT OF.'),
         (t.indexid IS NULL, 'object_not_in_prerequisite_state',
          'table "%s" has no primary key', NULL, 'Add one with ALTER TABLE ... ADD PRIMARY KEY.'),
         ((SELECT i.relam FROM pg_class i WHERE i.oid = t.indexid) <> 403,
          'feature_not_supported', 'primary key of table "%s" is not a B-tree', NULL,
          'Use one without WITHOUT OVERLAPS.'),
         (t.key IS NULL, 'object_not_in_prerequisite_state',
          'primary key of table "%s" has no other column', NULL, 'Use another column_name.'),
         (t.has_column AND NOT x.is_shard AND s.is_added, 'duplicate_column',
          'column "%2$s" of table "%1$s" already exists', NULL, 'Use another column_name.'),
         (t.has_column AND NOT x.is_shard, 'undefined_column',
          'column "%2$s" of table "%1$s" is not a generated shard column', NULL,
          'The view spanner.shard_keys lists shard columns.'),
         (NOT t.has_column AND NOT s.is_added, 'undefined_column',
          'column "%2$s" of table "%1$s" does not exist', NULL,
          'The view spanner.shard_keys lists shard columns.'),
         (x.is_new AND (cardinality(t.key) >= 32 OR c.relnatts >= 1600), 'too_many_columns',
          'table "%s" or its primary key cannot have another column', NULL,
          'Divide the table, or use a shorter key.'))
         v (found, code, message, detail, hint)
      WHERE v.found
      UNION ALL
     SELECT true, 'dependent_objects_still_exist',
            'column "%2$s" of table "%1$s" is used elsewhere',
            'These use it: %s.', 'Drop them first: they would go together with the column.',
            string_agg(n.name, ', ' ORDER BY n.name COLLATE "C"), NULL, NULL, false
       FROM pg_attribute a
       JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid
        AND d.refobjsubid = a.attnum AND d.classid <> 'pg_attrdef'::regclass
       LEFT JOIN pg_constraint k ON k.oid = d.objid AND d.classid = 'pg_constraint'::regclass
      CROSS JOIN LATERAL (SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS name) n
      WHERE a.attrelid = c.oid AND a.attname = column_name
        AND (k.contype = ANY ('{p,n}') OR k.oid = y.shard_check) IS NOT TRUE
     HAVING count(*) > 0
      UNION ALL
     SELECT true, 'invalid_parameter_value', 'there is no column to compute the shard from', NULL,
            'Name columns of the primary key.', NULL, NULL, NULL, false
      WHERE keys = '{}'
      UNION ALL
    (SELECT v.*, NULL, coalesce(k.name, 'null'), format_type(a.atttypid, NULL), false
       FROM unnest(keys) WITH ORDINALITY k (name, n)
       LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = k.name
      CROSS JOIN LATERAL (VALUES
        ((k.name = ANY (t.key)) IS NOT TRUE, 'invalid_column_reference',
         'column "%4$s" is not in the primary key of table "%1$s"',
         'With a shard made of other columns, the primary key would not keep its own columns '
         'unique.', 'Name columns of the primary key.'),
        (EXISTS (SELECT FROM pg_collation l
                  WHERE l.oid = a.attcollation AND NOT l.collisdeterministic),
         'feature_not_supported', 'column "%4$s" of table "%1$s" has a nondeterministic collation',
         'Texts that are equal would have different shards, and could be inserted twice.',
         'Name other columns of the primary key.'),
        (a.attgenerated <> '', 'invalid_column_reference',
         'column "%4$s" of table "%1$s" is generated itself', NULL,
         'Name other columns of the primary key.'),
        (NOT spanner_internal.is_hashable(a.atttypid, a.attcollation), 'datatype_mismatch',
         'cannot compute a shard id of type %5$s', NULL,
         'Name other columns of the primary key, or call spanner.shard_id() with the value '
         'cast to text.')) v (found, code, message, detail, hint)
      WHERE v.found
      ORDER BY k.n)
      UNION ALL
     SELECT true, v.code, v.message, v.detail, v.hint, v.users, NULL, NULL, v.warns
       FROM (VALUES
         (CASE WHEN s.is_added THEN (
            SELECT string_agg(u, ', ' ORDER BY u COLLATE "C")
              FROM spanner_internal.list_row_type_users(c.oid) u) END,
          'dependent_objects_still_exist', 'columns use the row type of table "%s"',
          'PostgreSQL cannot rewrite the table while these exist: %s.',
          'Give them another type first.', false),
         (CASE WHEN x.changes_key THEN (
            SELECT string_agg(format('%I of table %s', f.conname, f.conrelid::regclass), ', '
                              ORDER BY f.conname COLLATE "C")
              FROM pg_depend d
              JOIN pg_constraint f ON f.oid = d.objid AND f.conindid = t.indexid
               AND f.contype = 'f' AND f.conparentid = 0
             WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = t.indexid
               AND d.classid = 'pg_constraint'::regclass) END,
          'dependent_objects_still_exist', 'foreign keys refer to the primary key of table "%s"',
          'These are: %s.',
          CASE WHEN s.is_added
               THEN 'Drop them, and add them again with a shard column in the referencing tables '
                    'too, or without one to the unique index of the old key that keep_unique => '
                    'true makes.'
               ELSE 'Drop them, and add them again afterwards.' END, true),
         (CASE WHEN x.changes_key THEN (
            SELECT string_agg(u, ', ' ORDER BY u COLLATE "C")
              FROM spanner_internal.list_key_users(t.indexid) u) END,
          'dependent_objects_still_exist', 'queries rely on the primary key of table "%s"',
          'These are: %s.', 'Drop them, and create them again afterwards with all columns that '
          'they read in GROUP BY.', true),
         (CASE WHEN x.is_new THEN (
            SELECT string_agg(quote_ident(p.name), ', ')
              FROM spanner_internal.list_publications(c.oid) p WHERE p.lists_key) END,
          'object_not_in_prerequisite_state', 'publications have lists of columns of table "%s"',
          'These are: %s. Updates and deletions would fail, since a list has to contain the '
          'primary key.',
          'Publish all columns, and set the list again afterwards with the shard column.', true),
         (CASE WHEN x.is_new THEN (
            SELECT string_agg(DISTINCT quote_ident(u.subname), ', ')
              FROM pg_subscription_rel r
              JOIN pg_subscription u ON u.oid = r.srsubid AND u.subenabled
             WHERE r.srrelid IN (SELECT spanner_internal.list_parts(c.oid))) END,
          'object_not_in_prerequisite_state', 'subscriptions write to table "%s"',
          'These are: %s. They would fail, since they find rows by the primary key, and get no '
          'shard column.',
          'Disable them, change the published table in the same way, and enable them again.',
          true))
         v (users, code, message, detail, hint, warns)
      WHERE v.users IS NOT NULL
      LIMIT 1) o;
END;

-- Can a table get a shard column that is computed from "keys"?  If they are NULL: can it lose one?
-- NULL if it can.  Nothing else answers that question.
CREATE FUNCTION spanner_internal.find_shard_obstacle(relation oid, column_name name, keys name[])
RETURNS spanner_internal.shard_obstacle
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_nestloop = on
AS $$
BEGIN
  RETURN (SELECT o FROM spanner_internal.list_shard_obstacles(relation, column_name, keys) o);
END
$$;

-- The columns that spanner.add_shard_key would hash, NULL if it would refuse the table.
CREATE FUNCTION spanner_internal.shardable_key(relation oid)
RETURNS name[]
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT t.key
    FROM spanner_internal.read_shard_table(relation, 'shard_id') t
   WHERE (spanner_internal.find_shard_obstacle(relation, 'shard_id',
                                               coalesce(t.key, '{}'))).code IS NULL;
END;
