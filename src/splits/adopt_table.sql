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

-- What a partitioned table cannot have, and what refers to a table or its row type by more than a
-- name, and would then mean the split alone.  A view can be made again by whoever may act as its
-- owner.  What is of a role without rights on the table stays with the split, else anybody could
-- keep the owner from adopting it.
CREATE FUNCTION spanner_internal.list_dependents(
  relation regclass,
  OUT object text,
  OUT viewid oid,
  OUT fate text)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
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
  UNION
  SELECT format('constraint %I, which is NOT VALID or NO INHERIT', conname), NULL, 'obstacle'
    FROM pg_constraint k
   WHERE conrelid = relation AND contype = ANY ('{c,n}')
     -- one that is not enforced is not valid either, and needs not be
     AND (connoinherit
          OR NOT convalidated AND coalesce(to_jsonb(k) ->> 'conenforced', 'true') = 'true')
   ORDER BY 1;
END;

-- Raise an error unless a table can be adopted.
CREATE FUNCTION spanner_internal.check_adoption(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t pg_class := (SELECT c FROM pg_class c WHERE c.oid = relation);
  obstacles text;
BEGIN
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
  SELECT string_agg(object, ', ') INTO obstacles
    FROM spanner_internal.list_dependents(relation)
   WHERE fate = 'obstacle';
  IF obstacles IS NOT NULL THEN
    RAISE dependent_objects_still_exist USING
      MESSAGE = format('some objects keep table "%s" from being partitioned', t.relname),
      DETAIL = format('These are: %s.', obstacles),
      HINT = concat('Drop them first',
                    CASE WHEN obstacles ~ 'which belongs to'
                         THEN ', or adopt the table as a role that may act as their owners' END,
                    CASE WHEN obstacles ~ 'NOT VALID'
                         THEN ', or validate constraints and add them without NO INHERIT' END,
                    '.', CASE WHEN obstacles ~ 'foreign key '
                         THEN ' A table with partitions on other servers can have no unique key '
                              'for foreign keys to refer to.' END);
  END IF;
END
$$;

-- The commands that give the rights on a table on another one, without what default privileges have
-- given, and what the owner has given up.
CREATE FUNCTION spanner_internal.adoption_rights(relation regclass, target text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT format('REVOKE ALL ON TABLE %s FROM %s', target, spanner_internal.role_clause(a.grantee))
    FROM pg_class c
    JOIN pg_default_acl d ON d.defaclobjtype = 'r' AND d.defaclnamespace IN (0, c.relnamespace)
   CROSS JOIN aclexplode(d.defaclacl) a
   WHERE c.oid = relation
  UNION
  SELECT format('REVOKE ALL ON TABLE %s FROM %I', target, pg_get_userbyid(c.relowner))
    FROM pg_class c
   WHERE c.oid = relation AND NOT c.relacl @> (acldefault('r', c.relowner))[1]
  UNION ALL
  SELECT format('GRANT %s ON TABLE %s TO %I',
                string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), target,
                pg_get_userbyid(c.relowner))
    FROM pg_class c
   CROSS JOIN aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
   WHERE c.oid = relation AND a.grantee = c.relowner
     AND (c.relacl IS NOT NULL
          OR EXISTS (SELECT FROM pg_default_acl d WHERE d.defaclobjtype = 'r'))
   GROUP BY c.relowner
  UNION ALL
  SELECT concat(g.head, target, g.tail)
    FROM spanner_internal.table_grants(relation, NULL, NULL) g;
END;

-- Sequences follow, with the commands of each.  An identity column gets a sequence of the same
-- options on the new table, and goes on where the old one is; a partition cannot have identity of
-- its own.  LIKE leaves out the default of an identity whose sequence has a kind.
CREATE FUNCTION spanner_internal.adoption_sequences(
  relation regclass,
  target text,
  child text,
  OUT attnum smallint,
  OUT made oid,
  OUT commands text[])
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT a.attnum, CASE d.deptype WHEN 'i' THEN c.oid END,
         CASE d.deptype WHEN 'i' THEN ARRAY[
           -- First: its lock keeps every nextval() out until the other has its place.
           format('ALTER SEQUENCE %s RENAME TO %I', c.oid::regclass, t.old_name),
           format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s '
                  'START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s)',
                  target, a.attname,
                  CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, c.oid::regclass,
                  s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache,
                  CASE WHEN s.seqcycle THEN ' CYCLE' END),
           format('SELECT pg_catalog.setval(%L, last_value, is_called) FROM %s.%I', c.oid::regclass,
                  c.relnamespace::regnamespace, t.old_name),
           format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', child, a.attname)]
           || ARRAY(SELECT concat(g.head, c.oid::regclass, g.tail)
                      FROM spanner_internal.table_grants(c.oid, NULL, NULL) g)
         ELSE ARRAY[
           format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT ', target, a.attname)
           || (SELECT format('(%s)', pg_get_expr(e.adbin, e.adrelid))
                 FROM pg_seclabel l
                 JOIN pg_attrdef e ON e.adrelid = relation AND e.adnum = a.attnum
                WHERE l.provider = 'spanner_keys' AND l.classoid = 'pg_class'::regclass
                  AND l.objoid = c.oid AND l.objsubid = 0 AND l.label ~ 'identity *='),
           format('ALTER SEQUENCE %s OWNED BY %s.%I', c.oid::regclass, target, a.attname)] END
    FROM pg_depend d
    JOIN pg_sequence s ON s.seqrelid = d.objid
    JOIN pg_class c ON c.oid = s.seqrelid
    JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
   CROSS JOIN LATERAL spanner_internal.split_name(c.relname, '_old') t (old_name)
   WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
     AND d.refobjid = relation AND d.deptype = ANY ('{a,i}');
END;

-- Indexes and statistics objects of the partition get other names, triggers go, policies stay; the
-- partitioned table gets all of them under the old names, and its indexes take in the others.
CREATE FUNCTION spanner_internal.adoption_objects(
  relation regclass,
  target text,
  part text,
  child name,
  OUT class regclass,
  OUT made oid,
  OUT name name,
  OUT commands text[])
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT 'pg_class'::regclass, c.oid, c.relname, ARRAY[
           format('ALTER INDEX %s RENAME TO %I', c.oid::regclass,
                  spanner_internal.split_index_name(child, c.relname)),
           pg_get_indexdef(c.oid)]
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
   WHERE i.indrelid = relation AND NOT i.indisunique AND i.indisvalid AND NOT i.indisexclusion
  UNION ALL
  SELECT 'pg_trigger', t.oid, t.tgname, ARRAY[
           format('DROP TRIGGER %I ON %s', t.tgname, part),
           pg_get_triggerdef(t.oid),
           CASE WHEN t.tgenabled <> 'O'
                THEN format('ALTER TABLE %s %s TRIGGER %I', target,
                            CASE t.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA'
                                             ELSE 'ENABLE ALWAYS' END, t.tgname) END]
    FROM pg_trigger t
   WHERE t.tgrelid = relation AND NOT t.tgisinternal
  UNION ALL
  SELECT 'pg_statistic_ext', s.oid, s.stxname, ARRAY[
           format('ALTER STATISTICS %s RENAME TO %I', i.identity,
                  spanner_internal.split_index_name(child, s.stxname)),
           pg_get_statisticsobjdef(s.oid),
           format('ALTER STATISTICS %s SET STATISTICS ', i.identity)
           || nullif(s.stxstattarget, -1)]
    FROM pg_statistic_ext s
    JOIN pg_class c ON c.oid = s.stxrelid AND c.relowner = s.stxowner
   CROSS JOIN LATERAL pg_identify_object('pg_statistic_ext'::regclass, s.oid, 0) i
   WHERE s.stxrelid = relation
  UNION ALL
  SELECT 'pg_policy', p.oid, p.polname, ARRAY[
           format('CREATE POLICY %I ON %s AS %s FOR %s TO %s%s%s', p.polname, target,
                CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
                CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE'
                              WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
                (SELECT string_agg(spanner_internal.role_clause(r), ', ')
                   FROM unnest(p.polroles) r),
                ' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')',
                ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')]
    FROM pg_policy p
   WHERE p.polrelid = relation;
END;

-- The commands in their order, each of them one.  They are made while the table has its name still.
-- What they make gets the comment of the old object, which has the same name.  A generated column
-- cannot be a partition key, but what it is generated as.
CREATE FUNCTION spanner_internal.adoption_commands(relation regclass)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  WITH t AS (
    SELECT c.*, p.name AS child, relation::text AS target,
           format('%s.%I', c.relnamespace::regnamespace, p.name) AS part
      FROM pg_class c
     CROSS JOIN LATERAL spanner_internal.split_name(c.relname, '_p0') p (name)
     WHERE c.oid = relation),
  step (place, class, made, name, commands) AS (
    SELECT 1, 'pg_class'::regclass, relation::oid, NULL, ARRAY[
             format('ALTER TABLE %s RENAME TO %I', t.target, t.child),
             format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING '
                    'CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS) '
                    'PARTITION BY RANGE (%s)%s', t.target, t.part,
                    coalesce('(' || pg_get_expr(d.adbin, d.adrelid) || ')', k.expression),
                    ' TABLESPACE ' || quote_ident(s.spcname))]
      FROM t
     CROSS JOIN LATERAL spanner_internal.split_column(relation) k
      LEFT JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = k.attnum
                              AND a.attgenerated <> ''
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN pg_tablespace s ON s.oid = t.reltablespace
    UNION ALL
    SELECT 2, NULL, NULL, NULL,
           ARRAY[CASE WHEN relrowsecurity
                      THEN format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target) END,
                 CASE WHEN relforcerowsecurity
                      THEN format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target) END]
           || ARRAY(SELECT spanner_internal.adoption_rights(relation, target))
           || ARRAY(SELECT concat('ALTER TABLE ', target, s)
                      FROM spanner_internal.column_settings(relation, true) s)
           || ARRAY(SELECT format('SECURITY LABEL FOR %I ON %s %s IS %L', l.provider,
                                  CASE l.objsubid WHEN 0 THEN 'TABLE' ELSE 'COLUMN' END,
                                  i.identity, l.label)
                      FROM pg_seclabel l
                     CROSS JOIN LATERAL pg_identify_object(l.classoid, l.objoid, l.objsubid) i
                     WHERE l.classoid = 'pg_class'::regclass AND l.objoid = relation
                     ORDER BY l.provider, l.objsubid)
      FROM t
    UNION ALL
    SELECT 3, 'pg_class', q.made, q.attnum::text, q.commands
      FROM t
     CROSS JOIN LATERAL spanner_internal.adoption_sequences(relation, target, part) q
    UNION ALL
    SELECT 4, NULL, NULL, NULL, ARRAY[format(
             'ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO (MAXVALUE)',
             target, part)]
      FROM t
    UNION ALL
    SELECT 5, o.*
      FROM t
     CROSS JOIN LATERAL spanner_internal.adoption_objects(relation, target, part, child) o)
  SELECT c.command
    FROM step s
   CROSS JOIN LATERAL pg_identify_object(s.class, s.made, 0) i
   CROSS JOIN LATERAL unnest(s.commands || (
     format('COMMENT ON %s %s IS ', upper(split_part(i.type, ' ', 1)), i.identity)
     || quote_literal(obj_description(s.made, s.class::text::name)))) WITH ORDINALITY c (command, n)
   WHERE c.command IS NOT NULL
   ORDER BY s.place, s.class, s.name, c.n
$$;

-- Constraints and objects of others that mean the split from then on.
CREATE FUNCTION spanner_internal.tell_what_stays(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  tablename name := (SELECT relname FROM pg_class WHERE oid = relation);
  child name := spanner_internal.split_name(tablename, '_p0');
  kept text;
BEGIN
  SELECT string_agg(quote_ident(o.name), ', ' ORDER BY o.n, o.name) INTO kept
    FROM (SELECT 2 - (i.indisprimary)::integer, c.relname
            FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid
           WHERE i.indrelid = relation AND (i.indisunique OR i.indisexclusion)
          UNION ALL
          SELECT 3, conname FROM pg_constraint WHERE conrelid = relation AND contype = 'f')
         o (n, name);
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
          (SELECT v.relowner,
                  format('CREATE OR REPLACE VIEW %s%s AS %s', v.oid::regclass,
                         ' WITH (' || array_to_string(v.reloptions, ', ') || ')',
                         rtrim(pg_get_viewdef(v.oid), ';'))
             FROM spanner_internal.list_dependents(relation) d
             JOIN pg_class v ON v.oid = d.viewid
            WHERE d.fate = 'follows'
            ORDER BY 2)) x (role, command);
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
