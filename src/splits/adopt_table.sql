/* src/splits/adopt_table.sql */

--
-- Splits: a table with rows becomes a partitioned one, with itself as the only split
--

-- What refers to a table or its row type by more than a name, and would then mean
-- the split alone.
CREATE FUNCTION spanner_internal.list_adoption_obstacles(relation regclass)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT format('foreign key %I of table %s', conname, conrelid::regclass)
    FROM pg_constraint WHERE contype = 'f' AND confrelid = relation
  UNION ALL
  SELECT pg_describe_object(d.classid, d.objid, 0)
    FROM pg_depend d
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    LEFT JOIN pg_class v ON v.oid = r.ev_class
    LEFT JOIN pg_policy p ON d.classid = 'pg_policy'::regclass AND p.oid = d.objid
   WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = relation AND d.deptype = 'n'
     AND (d.classid = 'pg_proc'::regclass OR v.relkind <> 'v' OR r.rulename <> '_RETURN' OR p.polrelid <> relation)
   GROUP BY d.classid, d.objid
  UNION
  SELECT pg_describe_object(d.classid, d.objid, d.objsubid)
    FROM pg_type t JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid = ANY (ARRAY[t.oid, t.typarray]) AND d.deptype = 'n'
   WHERE t.typrelid = relation AND d.classid <> 'pg_rewrite'::regclass
  UNION ALL
  SELECT format('publication %I', p.pubname)
    FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid WHERE r.prrelid = relation
  UNION ALL
  SELECT format('publication %I, which has no publish_via_partition_root', p.pubname)
    FROM pg_publication p, pg_get_publication_tables(p.pubname) r
   WHERE r.relid = relation AND NOT p.pubviaroot
     AND NOT EXISTS (SELECT FROM pg_publication_rel x WHERE x.prpubid = p.oid AND x.prrelid = relation)
  UNION ALL
  SELECT format('trigger %I, which has transition tables or is a constraint trigger', tgname)
    FROM pg_trigger WHERE tgrelid = relation AND NOT tgisinternal AND (tgoldtable IS NOT NULL OR tgnewtable IS NOT NULL OR tgconstraint <> 0)
   ORDER BY 1
$$;

COMMENT ON FUNCTION spanner_internal.list_adoption_obstacles(regclass)
  IS 'what refers to a table, and would be wrong when the table becomes a partition';

CREATE FUNCTION spanner_internal.check_adoption(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t pg_class;
  constraint_name name;
  obstacles text;
BEGIN
  SELECT * INTO t FROM pg_class WHERE oid = relation;
  IF t.oid IS NULL THEN
    RAISE undefined_table USING MESSAGE = format('relation with OID %s does not exist', relation::oid);
  ELSIF t.relkind <> 'r' OR t.relpersistence <> 'p' OR t.relispartition OR t.relnamespace = 'pg_catalog'::regnamespace
    OR EXISTS (SELECT FROM pg_inherits WHERE relation IN (inhrelid, inhparent)) THEN
    RAISE wrong_object_type USING MESSAGE = format('"%s" is not a plain table', t.relname),
      HINT = 'Name a table that is neither partitioned, temporary or unlogged, nor inherits.';
  ELSIF (spanner_internal.split_column(relation)).expression IS NULL THEN
    RAISE object_not_in_prerequisite_state USING MESSAGE = format('table "%s" has no primary key', t.relname),
      HINT = 'Add one with ALTER TABLE ... ADD PRIMARY KEY: the table is split by its first column.';
  END IF;
  SELECT conname INTO constraint_name FROM pg_constraint
   WHERE conrelid = relation AND contype = ANY ('{c,n}') AND (connoinherit OR NOT convalidated) ORDER BY 1 LIMIT 1;
  IF constraint_name IS NOT NULL THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('constraint "%s" of table "%s" is NOT VALID or NO INHERIT', constraint_name, t.relname),
      HINT = 'A partitioned table cannot have it like this. Run ALTER TABLE ... VALIDATE CONSTRAINT, or drop it and add it again without NO INHERIT.';
  END IF;
  obstacles := (SELECT string_agg(o, ', ') FROM spanner_internal.list_adoption_obstacles(relation) o);
  IF obstacles IS NOT NULL THEN
    RAISE dependent_objects_still_exist USING MESSAGE = format('other objects refer to table "%s"', t.relname),
      DETAIL = format('These are: %s.', obstacles),
      HINT = 'Drop them first. A table with partitions on other servers can have no unique key for foreign keys to refer to.';
  END IF;
END
$$;

COMMENT ON FUNCTION spanner_internal.check_adoption(regclass)
  IS 'raise an error unless a table can become a partition of itself';

-- What CREATE TABLE LIKE leaves out.
CREATE FUNCTION spanner_internal.adoption_rights(relation regclass, target text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  SELECT format('ALTER TABLE %s OWNER TO %I', target, pg_get_userbyid(relowner)) FROM pg_class WHERE oid = relation
  UNION ALL
  SELECT format('REVOKE ALL ON TABLE %s FROM %s', target, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
    FROM pg_class c JOIN pg_default_acl d ON d.defaclobjtype = 'r' AND d.defaclnamespace IN (0, c.relnamespace), aclexplode(d.defaclacl) a
   WHERE c.oid = relation GROUP BY a.grantee
  UNION ALL
  -- the owner may have given up rights
  SELECT format('REVOKE ALL ON TABLE %s FROM %I', target, pg_get_userbyid(c.relowner))
    FROM pg_class c WHERE c.oid = relation AND NOT c.relacl @> (acldefault('r', c.relowner))[1]
  UNION ALL
  SELECT format('GRANT %s ON TABLE %s TO %s%s', string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), target,
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = relation GROUP BY a.grantee, a.is_grantable
  UNION ALL
  SELECT format('GRANT %s (%I) ON TABLE %s TO %s%s', a.privilege_type, c.attname, target,
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM pg_attribute c, aclexplode(c.attacl) a WHERE c.attrelid = relation
  UNION ALL
  SELECT format('COMMENT ON TABLE %s IS %L', target, obj_description(relation, 'pg_class')) WHERE obj_description(relation, 'pg_class') IS NOT NULL
  UNION ALL
  SELECT format('CREATE POLICY %I ON %s AS %s FOR %s TO %s%s%s', p.polname, target,
                CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
                CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
                (SELECT string_agg(CASE r WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(r)) END, ', ') FROM unnest(p.polroles) r),
                ' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')
    FROM pg_policy p WHERE p.polrelid = relation
  UNION ALL
  SELECT format('COMMENT ON POLICY %I ON %s IS ', p.polname, target) || quote_literal(obj_description(p.oid, 'pg_policy'))
    FROM pg_policy p WHERE p.polrelid = relation
  UNION ALL
  SELECT format('ALTER TABLE %s %s ROW LEVEL SECURITY', target, s) FROM pg_class c, unnest(ARRAY[
           CASE WHEN c.relrowsecurity THEN 'ENABLE' END, CASE WHEN c.relforcerowsecurity THEN 'FORCE' END]) s
   WHERE c.oid = relation AND s IS NOT NULL
$$;

COMMENT ON FUNCTION spanner_internal.adoption_rights(regclass, text)
  IS 'the statements that give a table the owner, rights, comment and policies of another one';

-- An identity column gets a sequence of the same options on the new table, and
-- goes on where the old one is; a partition cannot have identity of its own.
CREATE FUNCTION spanner_internal.adoption_sequences(relation regclass, target text, child text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
  SELECT unnest(CASE d.deptype WHEN 'a' THEN ARRAY[
      -- LIKE leaves out the default of an identity whose sequence has a kind
      (SELECT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', target, a.attname, pg_get_expr(e.adbin, e.adrelid))
         FROM pg_attrdef e JOIN pg_seclabel l ON l.provider = 'spanner_keys' AND l.classoid = d.classid AND l.objoid = d.objid AND l.objsubid = 0
        WHERE e.adrelid = a.attrelid AND e.adnum = a.attnum AND l.label ~ 'identity *='),
      format('ALTER SEQUENCE %s OWNED BY %s.%I', d.objid::regclass, target, a.attname)]
    ELSE ARRAY[
      'SET LOCAL spanner.default_sequence_kind = DEFAULT',
      format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %I.%I START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s)',
             target, a.attname, CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, n.nspname, spanner_internal.split_name(c.relname, '_new'),
             s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, CASE WHEN s.seqcycle THEN ' CYCLE' END),
      format('SELECT pg_catalog.setval(%L, last_value, is_called) FROM %s', format('%I.%I', n.nspname, spanner_internal.split_name(c.relname, '_new')), d.objid::regclass),
      format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', child, a.attname),
      format('ALTER SEQUENCE %I.%I RENAME TO %I', n.nspname, spanner_internal.split_name(c.relname, '_new'), c.relname),
      format('COMMENT ON SEQUENCE %I.%I IS ', n.nspname, c.relname) || quote_literal(obj_description(c.oid, 'pg_class'))]
      || ARRAY(SELECT format('GRANT %s ON SEQUENCE %I.%I TO %s%s', string_agg(g.privilege_type, ', ' ORDER BY g.privilege_type), n.nspname, c.relname,
                             CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END,
                             CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
                 FROM aclexplode(c.relacl) g WHERE g.grantee <> c.relowner GROUP BY g.grantee, g.is_grantable) END)
    FROM pg_depend d
    JOIN pg_sequence s ON s.seqrelid = d.objid
    JOIN pg_class c ON c.oid = d.objid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
   WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = relation AND d.deptype = ANY ('{a,i}')
$$;

COMMENT ON FUNCTION spanner_internal.adoption_sequences(regclass, text, text)
  IS 'the statements that give the sequences of a table to the partitioned one in its place';

CREATE FUNCTION spanner.adopt_table(
  relation regclass,
  OUT step integer,
  OUT server name,
  OUT statement text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
#variable_conflict use_variable
DECLARE
  nspname name := (SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = relation);
  name name := (SELECT relname FROM pg_class WHERE oid = relation);
  child name := spanner_internal.split_name(name, '_p0');
  target text;
  part text;
  key record;
  partition_key text;
  kept text;
BEGIN
  PERFORM spanner_internal.check_adoption(relation);
  target := format('%I.%I', nspname, name);
  part := format('%I.%I', nspname, child);
  IF to_regclass(part) IS NOT NULL THEN
    RAISE duplicate_table USING MESSAGE = format('relation "%s" already exists', child),
      HINT = 'The split is named like this; rename or drop the relation first.';
  END IF;
  key := spanner_internal.split_column(relation);
  -- a generated column cannot be a partition key, but what it is generated as
  SELECT coalesce('(' || pg_get_expr(d.adbin, d.adrelid) || ')', key.expression)
    INTO partition_key
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated <> ''
   WHERE a.attrelid = relation AND a.attnum = key.attnum;
  SELECT string_agg(format('%I', o.name), ', ' ORDER BY o.kind, o.name) INTO kept FROM (
    SELECT contype, conname FROM pg_constraint WHERE conrelid = relation AND contype = ANY ('{p,u,x,f}')
    UNION ALL
    SELECT 'z', c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid = relation AND i.indisunique AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid AND k.contype <> 'f')) o (kind, name);
  RAISE NOTICE USING
    MESSAGE = format('some constraints of table "%s" stay on partition "%s"', name, child),
    DETAIL = format('These are: %s.', kept),
    HINT = 'ON CONFLICT needs a unique constraint of the partitioned table, and partitions on other servers do not allow one.';

  step := 1;
  FOR statement IN
    SELECT s.statement FROM (
      SELECT 1, format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', target)
      UNION ALL SELECT 2, format('ALTER TABLE %s RENAME TO %I', target, child)
      UNION ALL SELECT 3, format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS) PARTITION BY RANGE (%s)',
                                 target, part, partition_key)
      -- first of all: a sequence belongs to the owner of its table
      UNION ALL SELECT 4, r FROM spanner_internal.adoption_rights(relation, target) r
      UNION ALL SELECT 5, s FROM spanner_internal.adoption_sequences(relation, target, part) s
      UNION ALL SELECT 6, format('DROP TRIGGER %I ON %s', t.tgname, part) FROM pg_trigger t WHERE t.tgrelid = relation AND NOT t.tgisinternal
      UNION ALL SELECT 7, format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO (MAXVALUE)', target, part)
      UNION ALL (SELECT 8, unnest(ARRAY[
               format('ALTER INDEX %I.%I RENAME TO %I', nspname, c.relname, spanner_internal.split_index_name(child, c.relname)),
               pg_get_indexdef(i.indexrelid),
               format('COMMENT ON INDEX %I.%I IS ', nspname, c.relname) || quote_literal(obj_description(c.oid, 'pg_class'))])
          FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         WHERE i.indrelid = relation AND NOT i.indisunique AND i.indisvalid AND NOT i.indisexclusion ORDER BY c.relname)
      UNION ALL SELECT 9, unnest(ARRAY[pg_get_triggerdef(t.oid),
               CASE t.tgenabled WHEN 'O' THEN NULL ELSE format('ALTER TABLE %s %s TRIGGER %I', target,
                 CASE t.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, t.tgname) END,
               format('COMMENT ON TRIGGER %I ON %s IS ', t.tgname, target) || quote_literal(obj_description(t.oid, 'pg_trigger'))])
          FROM pg_trigger t WHERE t.tgrelid = relation AND NOT t.tgisinternal
      UNION ALL (SELECT 10, format('CREATE OR REPLACE VIEW %s%s AS %s', v.oid::regclass, ' WITH (' || array_to_string(v.reloptions, ', ') || ')', rtrim(pg_get_viewdef(v.oid), ';'))
          FROM pg_class v WHERE v.relkind = 'v' AND v.oid IN (
            SELECT r.ev_class FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
             WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = relation) ORDER BY 2)) s (place, statement)
     WHERE s.statement IS NOT NULL
  LOOP
    RETURN NEXT;
  END LOOP;
END
$$;

COMMENT ON FUNCTION spanner.adopt_table(regclass)
  IS 'the statements, of one transaction, that make a table a partitioned one with itself as the only partition';
