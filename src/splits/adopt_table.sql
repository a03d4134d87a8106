/* src/splits/adopt_table.sql */

--
-- Splits: a table with rows becomes a partitioned one, with itself as the only split
--
-- What is made again is read from the catalogs and parsed again.  All of it belongs to the owner
-- of the table, and runs as the owner; a view runs as its own.
--

-- Has the owner of an object rights on a table?  Anybody can make a view of it or a function that
-- names it.  pg_shdepend knows each owner but the first superuser.
CREATE FUNCTION spanner_internal.owner_may_use(class oid, object oid, relation regclass)
RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT coalesce(bool_and(
           has_table_privilege(s.refobjid, relation, 'SELECT,INSERT,UPDATE,DELETE')
           OR has_any_column_privilege(s.refobjid, relation, 'SELECT,INSERT,UPDATE')), true)
    FROM pg_shdepend s
    JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database()
   WHERE s.classid = class AND s.objid = object AND s.deptype = 'o';
END;

-- What refers to a table or its row type by more than a name, and would then mean the split
-- alone.  A view can be made again by whoever may act as its owner.  What is of a role without
-- rights on the table stays with the split, else anybody could keep the owner from adopting it.
CREATE FUNCTION spanner_internal.list_dependents(
  relation regclass,
  OUT object text,
  OUT viewid oid,
  OUT fate text)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  WITH dependent AS (
    SELECT DISTINCT d.classid, d.objid, 0 AS objsubid, v.relowner,
           CASE WHEN v.relkind = 'v' AND r.rulename = '_RETURN' THEN v.oid END AS viewid,
           CASE d.classid WHEN 'pg_proc'::regclass THEN d.classid ELSE 'pg_class'::regclass END
             AS class, coalesce(v.oid, p.polrelid, d.objid) AS owned
      FROM pg_depend d
      LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
      LEFT JOIN pg_class v ON v.oid = r.ev_class
      LEFT JOIN pg_policy p ON d.classid = 'pg_policy'::regclass AND p.oid = d.objid
     WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = relation
       AND (d.classid = ANY (ARRAY['pg_rewrite', 'pg_proc']::regclass[])
            OR p.polrelid <> relation)
    UNION ALL
    SELECT d.classid, d.objid, d.objsubid, NULL, NULL, d.classid, d.objid
      FROM pg_type t
      JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.deptype = 'n'
                      AND d.refobjid = ANY (ARRAY[t.oid, t.typarray])
     WHERE t.typrelid = relation AND d.classid <> 'pg_rewrite'::regclass)
  SELECT CASE WHEN viewid IS NOT NULL
              THEN format('view %s, which belongs to %I', viewid::regclass,
                          pg_get_userbyid(relowner))
              ELSE pg_describe_object(classid, objid, objsubid) END,
         viewid,
         CASE WHEN viewid IS NOT NULL AND pg_has_role(relowner, 'USAGE') THEN 'follows'
              WHEN owned = relation OR spanner_internal.owner_may_use(class, owned, relation)
              THEN 'obstacle'
              ELSE 'stays' END
    FROM dependent
  UNION
  SELECT format('foreign key %I of table %s', conname, conrelid::regclass), NULL, 'obstacle'
    FROM pg_constraint
   WHERE contype = 'f' AND confrelid = relation
  UNION
  SELECT format('publication %I%s', p.pubname,
                CASE WHEN x.prrelid IS NULL THEN ', which has no publish_via_partition_root' END),
         NULL, 'obstacle'
    FROM pg_publication p
    LEFT JOIN pg_publication_rel x ON x.prpubid = p.oid AND x.prrelid = relation
   WHERE x.prrelid IS NOT NULL
      OR NOT p.pubviaroot
     AND relation IN (SELECT r.relid FROM pg_get_publication_tables(p.pubname) r)
  UNION
  SELECT format('subscription %I', s.subname), NULL, 'obstacle'
    FROM pg_subscription_rel r
    JOIN pg_subscription s ON s.oid = r.srsubid
   WHERE r.srrelid = relation
  UNION
  SELECT pg_describe_object(refclassid, refobjid, 0), NULL, 'obstacle'
    FROM pg_depend
   WHERE classid = 'pg_class'::regclass AND objid = relation
     AND refclassid = 'pg_extension'::regclass
  UNION
  SELECT format('trigger %I, which has transition tables or is a constraint trigger', tgname),
         NULL, 'obstacle'
    FROM pg_trigger
   WHERE tgrelid = relation AND NOT tgisinternal
     AND (tgoldtable IS NOT NULL OR tgnewtable IS NOT NULL OR tgconstraint <> 0)
   ORDER BY 1
$$;

-- A constraint that is not enforced is not valid either, and needs not be.
CREATE FUNCTION spanner_internal.check_adoption(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t pg_class;
  child name;
  constraint_name name;
  obstacles text;
BEGIN
  SELECT * INTO t FROM pg_class WHERE oid = relation;
  child := spanner_internal.split_name(t.relname, '_p0');
  IF t.oid IS NULL THEN
    RAISE undefined_table USING
      MESSAGE = format('relation with OID %s does not exist', relation::oid);
  ELSIF t.relkind <> 'r' OR t.relpersistence <> 'p' OR t.relispartition
    OR t.relnamespace = 'pg_catalog'::regnamespace OR t.reloftype <> 0
    OR EXISTS (SELECT FROM pg_inherits WHERE relation IN (inhrelid, inhparent)) THEN
    RAISE wrong_object_type USING MESSAGE = format('"%s" is not a plain table', t.relname),
      HINT = concat('Name a table that is neither partitioned, temporary, unlogged or of a type, ',
                    'nor inherits.');
  ELSIF (spanner_internal.split_column(relation)).expression IS NULL THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('table "%s" has no primary key', t.relname),
      HINT = concat('Add one with ALTER TABLE ... ADD PRIMARY KEY: ',
                    'the table is split by its first column.');
  END IF;
  SELECT k.conname INTO constraint_name
    FROM pg_constraint k
   WHERE k.conrelid = relation AND k.contype = ANY ('{c,n}')
     AND (k.connoinherit
          OR NOT k.convalidated AND coalesce(to_jsonb(k) ->> 'conenforced', 'true') = 'true')
   ORDER BY 1 LIMIT 1;
  IF constraint_name IS NOT NULL THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('constraint "%s" of table "%s" is NOT VALID or NO INHERIT',
                       constraint_name, t.relname),
      HINT = concat('A partitioned table cannot have it like this. Run ALTER TABLE ... VALIDATE ',
                    'CONSTRAINT, or drop it and add it again without NO INHERIT.');
  END IF;
  SELECT string_agg(object, ', ') INTO obstacles
    FROM spanner_internal.list_dependents(relation)
   WHERE fate = 'obstacle';
  IF obstacles IS NOT NULL THEN
    RAISE dependent_objects_still_exist USING
      MESSAGE = format('other objects refer to table "%s"', t.relname),
      DETAIL = format('These are: %s.', obstacles),
      HINT = concat('Drop them first',
                    CASE WHEN obstacles ~ 'which belongs to'
                         THEN ', or adopt the table as a role that may act as their owners' END,
                    '. A table with partitions on other servers can have no unique key for ',
                    'foreign keys to refer to.');
  ELSIF EXISTS (SELECT FROM pg_class WHERE relnamespace = t.relnamespace AND relname = child) THEN
    RAISE duplicate_table USING MESSAGE = format('relation "%s" already exists', child),
      HINT = 'The split is named like this; rename or drop the relation first.';
  END IF;
END
$$;

-- The commands that give the rights on a table on another one.
CREATE FUNCTION spanner_internal.adoption_rights(relation regclass, target text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  -- what default privileges have given, and what the owner has given up
  SELECT format('REVOKE ALL ON TABLE %s FROM %s', target, spanner_internal.role_clause(a.grantee))
    FROM pg_class c
    JOIN pg_default_acl d ON d.defaclobjtype = 'r' AND d.defaclnamespace IN (0, c.relnamespace)
   CROSS JOIN aclexplode(d.defaclacl) a
   WHERE c.oid = relation
   GROUP BY a.grantee
  UNION ALL
  SELECT format('REVOKE ALL ON TABLE %s FROM %I', target, pg_get_userbyid(c.relowner))
    FROM pg_class c
   WHERE c.oid = relation AND NOT c.relacl @> (acldefault('r', c.relowner))[1]
  UNION ALL
  SELECT format('GRANT %s ON TABLE %s TO %s%s',
                string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), target,
                spanner_internal.role_clause(a.grantee),
                CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM pg_class c
   CROSS JOIN aclexplode(c.relacl) a
   WHERE c.oid = relation
   GROUP BY a.grantee, a.is_grantable
  UNION ALL
  SELECT format('GRANT %s (%I) ON TABLE %s TO %s%s', a.privilege_type, c.attname, target,
                spanner_internal.role_clause(a.grantee),
                CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM pg_attribute c
   CROSS JOIN aclexplode(c.attacl) a
   WHERE c.attrelid = relation;
END;

-- The commands that give a table the comment and the policies of another one.
CREATE FUNCTION spanner_internal.adoption_policies(relation regclass, target text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT format('COMMENT ON TABLE %s IS %L', target, d)
    FROM obj_description(relation, 'pg_class') d
   WHERE d IS NOT NULL
  UNION ALL
  SELECT format('CREATE POLICY %I ON %s AS %s FOR %s TO %s%s%s', p.polname, target,
                CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
                CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE'
                              WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
                (SELECT string_agg(spanner_internal.role_clause(r), ', ')
                   FROM unnest(p.polroles) r),
                ' USING ' || spanner_internal.quote_expression(pg_get_expr(p.polqual, p.polrelid)),
                ' WITH CHECK '
                || spanner_internal.quote_expression(pg_get_expr(p.polwithcheck, p.polrelid)))
    FROM pg_policy p
   WHERE p.polrelid = relation
  UNION ALL
  SELECT format('COMMENT ON POLICY %I ON %s IS %L', p.polname, target, d)
    FROM pg_policy p
   CROSS JOIN obj_description(p.oid, 'pg_policy') d
   WHERE p.polrelid = relation AND d IS NOT NULL
  UNION ALL
  SELECT format('ALTER TABLE %s %s ROW LEVEL SECURITY', target, s.word)
    FROM pg_class c
   CROSS JOIN LATERAL (VALUES (c.relrowsecurity, 'ENABLE'),
                              (c.relforcerowsecurity, 'FORCE')) s (is_set, word)
   WHERE c.oid = relation AND s.is_set;
END;

-- Security labels of the table and its columns.
CREATE FUNCTION spanner_internal.adoption_labels(relation regclass, target text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT format('SECURITY LABEL FOR %I ON %s %s%s IS %L', l.provider,
                CASE l.objsubid WHEN 0 THEN 'TABLE' ELSE 'COLUMN' END, target,
                '.' || quote_ident(a.attname), l.label)
    FROM pg_seclabel l
    LEFT JOIN pg_attribute a ON a.attrelid = l.objoid AND a.attnum = l.objsubid AND l.objsubid > 0
   WHERE l.classoid = 'pg_class'::regclass AND l.objoid = relation
   ORDER BY l.provider, l.objsubid;
END;

-- An identity column gets a sequence of the same options on the new table, and goes on where the
-- old one is; a partition cannot have identity of its own.
CREATE FUNCTION spanner_internal.adoption_identity(
  sequence regclass,
  target text,
  child text,
  column_name name,
  identity "char")
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH s AS (
    SELECT format('%I.%I', n.nspname, c.relname) AS old_name, c.relname, c.relacl, c.relowner,
           format('%I.%I', n.nspname, spanner_internal.split_name(c.relname, '_new')) AS new_name,
           o.*, obj_description(c.oid, 'pg_class') AS comment
      FROM pg_sequence o
      JOIN pg_class c ON c.oid = o.seqrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE o.seqrelid = sequence)
  SELECT format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s '
                'START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s)',
                target, column_name, CASE identity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END,
                new_name, seqstart, seqincrement, seqmin, seqmax, seqcache,
                CASE WHEN seqcycle THEN ' CYCLE' END)
    FROM s
  UNION ALL
  SELECT format('SELECT pg_catalog.setval(%L, last_value, is_called) FROM %s', new_name, old_name)
    FROM s
  UNION ALL
  SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', child, column_name)
  UNION ALL
  SELECT format('ALTER SEQUENCE %s RENAME TO %I', new_name, relname)
    FROM s
  UNION ALL
  SELECT format('COMMENT ON SEQUENCE %s IS %L', old_name, comment)
    FROM s
   WHERE comment IS NOT NULL
  UNION ALL
  SELECT format('GRANT %s ON SEQUENCE %s TO %s%s',
                string_agg(g.privilege_type, ', ' ORDER BY g.privilege_type), old_name,
                spanner_internal.role_clause(g.grantee),
                CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM s
   CROSS JOIN aclexplode(s.relacl) g
   WHERE g.grantee <> s.relowner
   GROUP BY old_name, g.grantee, g.is_grantable;
END;

-- LIKE leaves out the default of an identity whose sequence has a kind.
CREATE FUNCTION spanner_internal.adoption_sequences(relation regclass, target text, child text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH owned AS (
    SELECT s.seqrelid::regclass AS sequence, d.deptype, a.attname, a.attidentity, a.attnum
      FROM pg_depend d
      JOIN pg_sequence s ON s.seqrelid = d.objid
      JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
     WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
       AND d.refobjid = relation AND d.deptype = ANY ('{a,i}')),
  kept (place, attnum, command) AS (
    SELECT 1, o.attnum,
           format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', target, o.attname,
                  spanner_internal.quote_expression(pg_get_expr(e.adbin, e.adrelid)))
      FROM owned o
      JOIN pg_seclabel l ON l.provider = 'spanner_keys' AND l.classoid = 'pg_class'::regclass
                        AND l.objoid = o.sequence AND l.objsubid = 0
      JOIN pg_attrdef e ON e.adrelid = relation AND e.adnum = o.attnum
     WHERE o.deptype = 'a' AND l.label ~ 'identity *='
    UNION ALL
    SELECT 2, o.attnum, format('ALTER SEQUENCE %s OWNED BY %s.%I', o.sequence, target, o.attname)
      FROM owned o
     WHERE o.deptype = 'a')
  (SELECT command FROM kept ORDER BY attnum, place)
  UNION ALL
  SELECT c
    FROM owned o
   CROSS JOIN LATERAL spanner_internal.adoption_identity(o.sequence, target, child, o.attname,
                                                         o.attidentity) c
   WHERE o.deptype = 'i';
END;

-- Indexes of the partition get other names, and the partitioned table gets indexes of the old
-- names, which take them in.
CREATE FUNCTION spanner_internal.adoption_indexes(relation regclass, nspname name, child name)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT x.command
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
   CROSS JOIN LATERAL (VALUES
     (1, format('ALTER INDEX %I.%I RENAME TO %I', nspname, c.relname,
                spanner_internal.split_index_name(child, c.relname))),
     (2, pg_get_indexdef(i.indexrelid)),
     (3, format('COMMENT ON INDEX %I.%I IS ', nspname, c.relname)
         || quote_literal(obj_description(c.oid, 'pg_class')))) x (place, command)
   WHERE i.indrelid = relation AND NOT i.indisunique AND i.indisvalid AND NOT i.indisexclusion
     AND x.command IS NOT NULL
   ORDER BY c.relname, x.place;
END;

-- The commands that give the triggers of a table to the partitioned one in its place.
CREATE FUNCTION spanner_internal.adoption_triggers(relation regclass, target text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT x.command
    FROM pg_trigger t
   CROSS JOIN LATERAL (VALUES
     (1, pg_get_triggerdef(t.oid)),
     (2, format('ALTER TABLE %s %s TRIGGER %I', target,
                CASE t.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA'
                                 ELSE 'ENABLE ALWAYS' END, t.tgname)),
     (3, format('COMMENT ON TRIGGER %I ON %s IS ', t.tgname, target)
         || quote_literal(obj_description(t.oid, 'pg_trigger')))) x (place, command)
   WHERE t.tgrelid = relation AND NOT t.tgisinternal
     AND x.command IS NOT NULL AND (x.place <> 2 OR t.tgenabled <> 'O')
   ORDER BY t.tgname, x.place;
END;

-- Statistics objects of the partition get other names, as its indexes do.
CREATE FUNCTION spanner_internal.adoption_statistics(relation regclass, child name)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT x.command
    FROM pg_statistic_ext s
    JOIN pg_class c ON c.oid = s.stxrelid AND c.relowner = s.stxowner
    JOIN pg_namespace n ON n.oid = s.stxnamespace
   CROSS JOIN LATERAL (VALUES
     (1, format('ALTER STATISTICS %I.%I RENAME TO %I', n.nspname, s.stxname,
                spanner_internal.split_index_name(child, s.stxname))),
     (2, pg_get_statisticsobjdef(s.oid)),
     (3, format('ALTER STATISTICS %I.%I SET STATISTICS ', n.nspname, s.stxname)
         || nullif(s.stxstattarget, -1)),
     (4, format('COMMENT ON STATISTICS %I.%I IS ', n.nspname, s.stxname)
         || quote_literal(obj_description(s.oid, 'pg_statistic_ext')))) x (place, command)
   WHERE s.stxrelid = relation AND x.command IS NOT NULL
   ORDER BY n.nspname, s.stxname, x.place;
END;

-- A generated column cannot be a partition key, but what it is generated as.
CREATE FUNCTION spanner_internal.adoption_key(relation regclass)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT coalesce(spanner_internal.quote_expression(pg_get_expr(d.adbin, d.adrelid)),
                  quote_ident(a.attname))
    FROM spanner_internal.split_column(relation) k
    JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = k.attnum
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     AND a.attgenerated <> '';
END;

-- In their order.  Each is made while the table has its name still, and is one command.
CREATE FUNCTION spanner_internal.adoption_commands(relation regclass)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  WITH t AS (
    SELECT n.nspname, p.name AS child, format('%I.%I', n.nspname, c.relname) AS target,
           format('%I.%I', n.nspname, p.name) AS part
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
     CROSS JOIN LATERAL spanner_internal.split_name(c.relname, '_p0') p (name)
     WHERE c.oid = relation)
  SELECT format('ALTER TABLE %s RENAME TO %I', target, child) FROM t
  UNION ALL
  SELECT format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING '
                'CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS) '
                'PARTITION BY RANGE (%s)%s', target, part, spanner_internal.adoption_key(relation),
                ' TABLESPACE ' || quote_ident(s.spcname))
    FROM t
    JOIN pg_class c ON c.oid = relation
    LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
  UNION ALL
  SELECT r FROM t CROSS JOIN LATERAL spanner_internal.adoption_rights(relation, target) r
  UNION ALL
  SELECT p FROM t CROSS JOIN LATERAL spanner_internal.adoption_policies(relation, target) p
  UNION ALL
  SELECT s FROM t CROSS JOIN LATERAL spanner_internal.adoption_sequences(relation, target, part) s
  UNION ALL
  SELECT concat('ALTER TABLE ', target, s)
    FROM t
   CROSS JOIN LATERAL spanner_internal.column_settings(relation, true) s
  UNION ALL
  SELECT l FROM t CROSS JOIN LATERAL spanner_internal.adoption_labels(relation, target) l
  UNION ALL
  SELECT s FROM t CROSS JOIN LATERAL spanner_internal.adoption_statistics(relation, child) s
  UNION ALL
  SELECT format('DROP TRIGGER %I ON %s', g.tgname, part)
    FROM t
    JOIN pg_trigger g ON g.tgrelid = relation AND NOT g.tgisinternal
  UNION ALL
  SELECT format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO (MAXVALUE)',
                target, part)
    FROM t
  UNION ALL
  SELECT i FROM t CROSS JOIN LATERAL spanner_internal.adoption_indexes(relation, nspname, child) i
  UNION ALL
  SELECT g FROM t CROSS JOIN LATERAL spanner_internal.adoption_triggers(relation, target) g
$$;

-- Views that follow, each with its owner.
CREATE FUNCTION spanner_internal.adoption_views(
  relation regclass,
  OUT owner oid,
  OUT command text)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  SELECT v.relowner,
         format('CREATE OR REPLACE VIEW %s%s AS %s', v.oid::regclass,
                ' WITH (' || array_to_string(v.reloptions, ', ') || ')',
                rtrim(pg_get_viewdef(v.oid), ';'))
    FROM spanner_internal.list_dependents(relation) d
    JOIN pg_class v ON v.oid = d.viewid
   WHERE d.fate = 'follows'
   ORDER BY 2
$$;


-- Constraints and objects of others that mean the split from then on.
CREATE FUNCTION spanner_internal.tell_what_stays(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
  tablename name := (SELECT relname FROM pg_class WHERE oid = relation);
  child name := spanner_internal.split_name(tablename, '_p0');
  kept text;
BEGIN
  SELECT string_agg(quote_ident(o.name), ', ' ORDER BY o.kind, o.name) INTO kept
    FROM (SELECT contype, conname
            FROM pg_constraint
           WHERE conrelid = relation AND contype = ANY ('{p,u,x,f}')
          UNION ALL
          SELECT 'z', c.relname
            FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid
           WHERE i.indrelid = relation AND i.indisunique
             AND NOT EXISTS (SELECT FROM pg_constraint k
                              WHERE k.conindid = c.oid AND k.contype <> 'f')) o (kind, name);
  RAISE NOTICE USING
    MESSAGE = format('some constraints of table "%s" stay on partition "%s"', tablename, child),
    DETAIL = format('These are: %s.', kept),
    HINT = concat('ON CONFLICT needs a unique constraint of the partitioned table, ',
                  'and partitions on other servers allow neither one nor MERGE.');
  SELECT string_agg(object, ', ') INTO kept
    FROM spanner_internal.list_dependents(relation)
   WHERE fate = 'stays';
  IF kept IS NOT NULL THEN
    RAISE WARNING USING
      MESSAGE = format('some objects of others refer to partition "%s" from then on', child),
      DETAIL = format('These are: %s.', kept),
      HINT = format('Their owners have no rights on table "%s".', tablename);
  END IF;
END
$$;

-- The commands name the table, so the lock comes first, and the name is looked at again with it.
-- New sequences are as the old ones: no default kind for them.
CREATE FUNCTION spanner.adopt_table(relation regclass, dry_run boolean DEFAULT true)
RETURNS TABLE (statement text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET spanner.default_sequence_kind = 'local'
AS $$
#variable_conflict use_variable
DECLARE
  locked text := relation::text;
  roles oid[];
  commands text[];
BEGIN
  PERFORM spanner_internal.check_adoption(relation);
  IF NOT dry_run THEN
    PERFORM spanner_internal.run_as_owner(relation,
      format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', locked));
    PERFORM spanner_internal.check_adoption(relation);
    IF locked IS DISTINCT FROM relation::text THEN
      RAISE object_in_use USING
        MESSAGE = format('table "%s" has been renamed meanwhile', locked);
    END IF;
  END IF;
  PERFORM spanner_internal.tell_what_stays(relation);
  -- all are made before the first one runs
  SELECT array_agg(x.role), array_agg(x.command) INTO roles, commands
    FROM (SELECT c.relowner, a
            FROM pg_class c
           CROSS JOIN LATERAL spanner_internal.adoption_commands(relation) a
           WHERE c.oid = relation
           UNION ALL
          SELECT * FROM spanner_internal.adoption_views(relation)) x (role, command);
  FOR i IN 1 .. cardinality(commands)
  LOOP
    statement := spanner_internal.shown_command(roles[i], commands[i]);
    IF NOT dry_run THEN
      PERFORM spanner_internal.run_as(roles[i], commands[i]);
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;

COMMENT ON FUNCTION spanner.adopt_table(regclass, boolean)
  IS 'make a table a partitioned one with itself as the only partition, or show the commands that'
     ' do';
