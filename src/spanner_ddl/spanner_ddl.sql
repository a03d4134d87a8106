-- Spanner's language: its DDL is run here, and what it has and PostgreSQL lacks.

CREATE FUNCTION spanner.execute_ddl(statement text, dialect text DEFAULT 'auto')
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_execute_ddl'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.execute_ddl(text, text)
  IS 'run statements of Spanner''s DDL, in either dialect';

CREATE FUNCTION spanner.execute_ddl(
  statement text,
  dialect text,
  leave_out boolean,
  OUT statement integer,
  OUT what text,
  OUT why text,
  OUT instead text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_execute_ddl'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.execute_ddl(text, text, boolean)
  IS 'run statements of Spanner''s DDL, and list what cannot be done, if that shall be left out';

CREATE FUNCTION spanner.execute_ddl(
  statement text,
  leave_out boolean,
  OUT statement integer,
  OUT what text,
  OUT why text,
  OUT instead text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_execute_ddl'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.execute_ddl(text, boolean)
  IS 'run statements of Spanner''s DDL, and list what cannot be done, if that shall be left out';

CREATE FUNCTION spanner.postgresql_ddl(
  statement text,
  dialect text DEFAULT 'auto',
  leave_out boolean DEFAULT false)
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_postgresql_ddl'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.postgresql_ddl(text, text, boolean)
  IS 'the statements of PostgreSQL that execute_ddl would run';

-- The length of the longest element, for ARRAY<STRING(n)> and ARRAY<BYTES(n)>.
CREATE FUNCTION spanner_internal.longest(elements text[])
RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT max(char_length(s)) FROM unnest(elements) s);
-- The same of BYTES.
CREATE FUNCTION spanner_internal.longest(elements bytea[])
RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT max(octet_length(b)) FROM unnest(elements) b);

CREATE DOMAIN spanner.commit_timestamp AS timestamptz;

COMMENT ON DOMAIN spanner.commit_timestamp
  IS 'type of a column that takes spanner.pending_commit_timestamp()';

CREATE FUNCTION spanner.pending_commit_timestamp()
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CURRENT_TIMESTAMP;

COMMENT ON FUNCTION spanner.pending_commit_timestamp()
  IS 'the time at which the transaction began: PostgreSQL does not know that of its commit before';

-- Triggers of these never fire.  One of the first and a column is the row deletion policy of a
-- table; a view with one of the second is the synonym of a table; the constraint of one of the
-- third refers to the table that another one is interleaved in, without being its child.
CREATE FUNCTION spanner_internal.row_deletion_policy() RETURNS trigger
AS 'suppress_redundant_updates_trigger' LANGUAGE internal STABLE PARALLEL SAFE;
CREATE FUNCTION spanner_internal.synonym() RETURNS trigger
AS 'suppress_redundant_updates_trigger' LANGUAGE internal STABLE PARALLEL SAFE;
CREATE FUNCTION spanner_internal.interleaved_in() RETURNS trigger
AS 'suppress_redundant_updates_trigger' LANGUAGE internal STABLE PARALLEL SAFE;

-- Its trigger is for the column that the condition of the trigger compares.
CREATE FUNCTION spanner_internal.on_update()
RETURNS trigger
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  name text := (SELECT a.attname
                  FROM pg_trigger t
                  JOIN pg_depend d ON d.classid = 'pg_trigger'::regclass AND d.objid = t.oid
                  JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                 WHERE t.tgrelid = TG_RELID AND t.tgname = TG_NAME
                   AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0
                 LIMIT 1);
BEGIN
  RETURN jsonb_populate_record(NEW,
    jsonb_build_object(name, spanner.pending_commit_timestamp()));
END $$;

-- Places of rows of the current user's table of which a column is older, without those that stay.
CREATE FUNCTION spanner_internal.find_expired(relation oid, column_number smallint,
  older_than interval, staying tid[], row_limit integer)
RETURNS tid[]
AS 'MODULE_PATHNAME', 'spanner_find_expired'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Delete rows of the current user's table by their places; returns where some of them stay.
CREATE FUNCTION spanner_internal.delete_tids(relation oid, tids tid[])
RETURNS tid[]
AS 'MODULE_PATHNAME', 'spanner_delete_tids'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- The constraints that would fail at the commit, when it is too late to skip a row.  To set them
-- needs the right to use their schemas.
CREATE FUNCTION spanner_internal.deferred_constraints(relation oid)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT string_agg(DISTINCT format('%I.%I', n.nspname, c.conname), ', ')
    FROM pg_trigger t
    JOIN pg_constraint c ON c.oid = t.tgconstraint
    JOIN pg_namespace n ON n.oid = c.connamespace
   WHERE t.tgrelid = relation
     AND t.tginitdeferred
     -- of a DELETE
     AND t.tgtype & 8 <> 0
     AND has_schema_privilege(n.oid, 'USAGE');
END;

-- Delete rows of the current user's table of which a column is older, so many at most.  Rows go in
-- pieces.  A piece with a row that cannot go, since another table refers to it or a trigger fails,
-- is tried again by half, until that row is alone.
CREATE FUNCTION spanner_internal.delete_rows(
  relation oid,
  column_number smallint,
  older_than interval,
  batch_size integer)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  deferred text := spanner_internal.deferred_constraints(relation);
  staying tid[] := '{}';
  found tid[];
  piece tid[];
  kept tid[];
  asked integer;
  first integer;
  size integer;
  deleted bigint := 0;
  failed bigint := 0;
  problem text;
BEGIN
  IF deferred IS NOT NULL THEN
    EXECUTE format('SET CONSTRAINTS %s IMMEDIATE', deferred);
  END IF;
  LOOP
    -- so that many rows that stay take few queries
    asked := least(greatest(batch_size - deleted, cardinality(staying)), 1000000);
    found := spanner_internal.find_expired(relation, column_number, older_than, staying, asked);
    first := 1;
    size := batch_size;
    WHILE first <= cardinality(found) AND deleted < batch_size LOOP
      size := least(size, batch_size - deleted);
      piece := found[first:first + size - 1];
      BEGIN
        kept := spanner_internal.delete_tids(relation, piece);
        first := first + cardinality(piece);
        deleted := deleted + cardinality(piece) - cardinality(kept);
        staying := staying || kept;
        size := least(size, 500000) * 2;
      EXCEPTION WHEN OTHERS THEN
        -- rolled back, stopped, out of memory or broken: other rows would fare no better
        IF SQLSTATE ~ '^(40|53|57|XX)' THEN
          RAISE;
        END IF;
        problem := coalesce(problem, SQLERRM);
        IF cardinality(piece) = 1 THEN
          first := first + 1;
          failed := failed + 1;
          staying := array_append(staying, piece[1]);
        END IF;
        size := greatest(cardinality(piece) / 2, 1);
      END;
    END LOOP;
    EXIT WHEN deleted >= batch_size OR cardinality(found) < asked;
  END LOOP;
  IF deferred IS NOT NULL THEN
    EXECUTE format('SET CONSTRAINTS %s DEFERRED', deferred);
  END IF;
  IF failed > 0 THEN
    RAISE WARNING '% of table "%" cannot be deleted',
      CASE failed WHEN 1 THEN '1 expired row' ELSE failed || ' expired rows' END,
      (SELECT c.relname FROM pg_class c WHERE c.oid = relation)
      USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problem;
  END IF;
  RETURN deleted;
END $$;

CREATE FUNCTION spanner.delete_expired(batch_size integer DEFAULT 10000)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET intervalstyle = 'postgres'
AS $$
DECLARE
  part record;
  policy oid;
  remaining integer;
  deleted bigint;
  total bigint := 0;
BEGIN
  FOR part IN
    SELECT t.oid AS policy, l.relation, a.attnum AS column_number,
           convert_from(substring(t.tgargs FROM 1 FOR length(t.tgargs) - 1), getdatabaseencoding())
             AS older_than
      FROM pg_trigger t
      JOIN pg_class c ON c.oid = t.tgrelid
      JOIN pg_roles r ON r.oid = c.relowner AND r.rolname = current_user
     -- the rows of a partitioned table are in its partitions
     CROSS JOIN LATERAL
           (SELECT p.relid::oid
              FROM pg_partition_tree(c.oid) p
             WHERE c.relkind = 'p' AND p.isleaf
             UNION ALL
            SELECT c.oid
             WHERE c.relkind <> 'p') l (relation)
      JOIN pg_attribute k ON k.attrelid = t.tgrelid AND k.attnum = t.tgattr[0]
      JOIN pg_attribute a ON a.attrelid = l.relation AND a.attname = k.attname
     WHERE t.tgfoid = 'spanner_internal.row_deletion_policy'::regproc
       AND t.tgparentid = 0
     ORDER BY c.oid, t.oid, l.relation
  LOOP
    IF policy IS DISTINCT FROM part.policy THEN
      policy := part.policy;
      remaining := batch_size;
    END IF;
    BEGIN
      -- days of 24 hours, whatever the clocks of the session's time zone do
      deleted := spanner_internal.delete_rows(part.relation, part.column_number,
        make_interval(secs => extract(epoch FROM part.older_than::interval)), remaining);
      remaining := remaining - deleted;
      total := total + deleted;
    EXCEPTION WHEN OTHERS THEN
      RAISE WARNING 'could not delete expired rows of %', part.relation::regclass
        USING DETAIL = SQLERRM;
    END;
  END LOOP;
  RETURN total;
END $$;

COMMENT ON FUNCTION spanner.delete_expired(integer)
  IS 'delete expired rows of the current user''s tables, so many of each at most; returns how many';

-- Functions that an export calls for each table are PL/pgSQL, which keeps their plans, and these
-- are generic: SQL functions within each other are planned whenever they are called.

-- The key of a table: its primary key; since Spanner's may be NULL, a UNIQUE NULLS NOT DISTINCT
-- constraint; an index on true.  The index beside it says which columns descend, but one of which
-- all columns do, as the key's own is read backward.
CREATE FUNCTION spanner_internal.ddl_key(relation oid, OUT index oid, OUT columns smallint[],
  OUT descending boolean[], OUT is_empty boolean, OUT order_index oid)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  SELECT k.indexrelid,
         CASE WHEN k.indkey::text <> '0'
           THEN (string_to_array(k.indkey::text, ' ')::smallint[])[1:k.indnkeyatts] END,
         (SELECT array_agg(d & 1 = 1 ORDER BY n)
            FROM unnest(o.indoption::smallint[]) WITH ORDINALITY u (d, n)),
         k.indkey::text = '0', o.indexrelid
    INTO index, columns, descending, is_empty, order_index
    FROM pg_index k
    LEFT JOIN pg_index o
      ON o.indrelid = k.indrelid AND o.indkey = k.indkey AND NOT o.indisunique
     AND o.indpred IS NULL AND o.indoption::text ~ '[13]' AND o.indoption::text ~ '[02]'
   WHERE k.indrelid = relation
     AND (k.indisprimary
          OR k.indnullsnotdistinct
             AND EXISTS (SELECT FROM pg_constraint c
                          WHERE c.conrelid = relation AND c.conindid = k.indexrelid)
          OR k.indkey::text = '0' AND pg_get_expr(k.indexprs, relation) = 'true')
   ORDER BY k.indisprimary DESC, k.indexrelid, o.indexrelid
   LIMIT 1;
END $$;

-- Columns of a table by their numbers; 0, an expression, is none.
CREATE FUNCTION spanner_internal.column_names(relation oid, columns smallint[])
RETURNS name[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN ARRAY(
    SELECT a.attname
      FROM unnest(columns) WITH ORDINALITY u (attnum, n)
      JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = u.attnum
     WHERE a.attnum <> 0
     ORDER BY u.n);
END $$;

-- The columns of the key of a table.
CREATE FUNCTION spanner_internal.table_key(relation oid)
RETURNS name[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN spanner_internal.column_names(relation,
           (SELECT k.columns FROM spanner_internal.ddl_key(relation) k));
END $$;

-- The foreign key to the parent that a table is interleaved in: from the beginning of its key to
-- the key, of columns of the same names.  Of several it is the one of that name, which execute_ddl
-- makes, else one that cascades, unless a trigger says what the table is interleaved in.  A key
-- whose name is noted is a plain foreign key of Spanner's.
CREATE FUNCTION spanner_internal.parent_constraint(relation oid)
RETURNS oid
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (
    SELECT c.oid
      FROM pg_constraint c
     CROSS JOIN LATERAL spanner_internal.table_key(c.confrelid) p (key)
     WHERE c.conrelid = relation
       AND c.contype = 'f'
       AND c.confrelid <> relation
       AND p.key = spanner_internal.column_names(c.confrelid, c.confkey)
       AND p.key = spanner_internal.column_names(relation, c.conkey)
       AND (c.conname = 'interleave in parent'
            OR spanner_internal.interleaved_trigger(relation) IS NULL
               AND starts_with(obj_description(c.oid, 'pg_constraint'), c.conname) IS NOT TRUE)
       AND p.key = (spanner_internal.table_key(relation))[1:cardinality(p.key)]
     ORDER BY c.conname = 'interleave in parent' DESC, c.confdeltype = 'c' DESC, c.conname
     LIMIT 1);
END $$;

-- The commands that make the other foreign keys to the parent again: the triggers of older ones
-- fire first, and would see children that the new key of the interleaving deletes.
CREATE FUNCTION spanner_internal.keys_after_parent(relation oid)
RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY
    SELECT u.command
      FROM pg_constraint i
      JOIN pg_constraint c
        ON c.conrelid = i.conrelid AND c.confrelid = i.confrelid AND c.contype = 'f'
       AND c.oid < i.oid
     CROSS JOIN LATERAL (
             SELECT 1, format('ALTER TABLE %1$s DROP CONSTRAINT %2$I, ADD CONSTRAINT %2$I %3$s',
                         relation::regclass, c.conname, pg_get_constraintdef(c.oid))
              UNION ALL
             SELECT 2, format('COMMENT ON CONSTRAINT %I ON %s IS %L', c.conname,
                         relation::regclass, d.description)
               FROM pg_description d
              WHERE d.classoid = 'pg_constraint'::regclass AND d.objoid = c.oid) u (n, command)
     WHERE i.oid = spanner_internal.parent_constraint(relation)
       AND i.confdeltype = 'c'
     ORDER BY c.oid, u.n;
END $$;

-- Whether a foreign key may refer to these columns.
CREATE FUNCTION spanner_internal.has_unique_key(relation oid, columns smallint[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN 0 <> ALL (columns) AND EXISTS (
  SELECT
    FROM pg_index i
   WHERE i.indrelid = relation
     AND i.indislive
     AND i.indisunique
     AND i.indimmediate
     AND i.indpred IS NULL
     AND i.indnkeyatts = cardinality(columns)
     AND columns <@ (string_to_array(i.indkey::text, ' ')::smallint[])[1:i.indnkeyatts]);

-- An index with a column that would get another NOT NULL: Spanner's keys depend on it.
CREATE FUNCTION spanner_internal.nullability_problem(relation oid, attnum integer, not_null boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT format('Changing NOT NULL constraints on column %s is not allowed because it affects '
           'index %s.', a.attname, i.indexrelid::regclass)
    FROM pg_attribute a
    JOIN pg_index i ON i.indrelid = a.attrelid AND i.indislive AND a.attnum = ANY (i.indkey)
   WHERE a.attrelid = relation
     AND a.attnum = nullability_problem.attnum
     AND a.attnotnull <> not_null
   ORDER BY i.indexrelid
   LIMIT 1;
END;

-- The length of STRING or BYTES that a constraint checks, NULL if it is another, or one of a type
-- that has no length in the dialect.  There is no way to write it but these, since names that are
-- not of pg_catalog have a schema.
CREATE FUNCTION spanner_internal.ddl_length(constraint_oid oid, dialect text)
RETURNS integer
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (
    SELECT n.length::integer
      FROM pg_constraint c
      JOIN pg_attribute a ON a.attrelid = c.conrelid AND ARRAY[a.attnum] = c.conkey
     CROSS JOIN LATERAL pg_get_expr(c.conbin, c.conrelid) e (text)
     CROSS JOIN LATERAL substring(e.text FROM ' <= (\d+)\)$') n (length)
     WHERE c.oid = constraint_oid
       AND CASE WHEN a.atttypid IN ('bytea'::regtype, 'bytea[]'::regtype)
             THEN dialect = 'googlesql'
             ELSE a.atttypid IN ('text'::regtype, 'text[]'::regtype)
                  AND e.text !~ '^.octet_length' END
       AND e.text IN (format('(length(%I) <= %s)', a.attname, n.length),
                      format('(octet_length(%I) <= %s)', a.attname, n.length),
                      format('(spanner_internal.longest(%I) <= %s)', a.attname, n.length)));
END $$;

-- The whole name of an object of which PostgreSQL has cut the name to this one: its comment.  Few
-- comments are such names, but the planner expects most, and would compile the query.
CREATE FUNCTION spanner_internal.long_name(name text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET jit = off
BEGIN ATOMIC
  SELECT d.description
    FROM pg_description d
   WHERE starts_with(d.description, long_name.name)
     AND octet_length(d.description) BETWEEN 64 AND 128
     AND d.description ~ '^[A-Za-z]\w*$'
     AND long_name.name = CASE d.classoid
           WHEN 'pg_class'::regclass THEN CASE d.objsubid
             WHEN 0 THEN (SELECT c.relname FROM pg_class c WHERE c.oid = d.objoid)
             ELSE (SELECT a.attname
                     FROM pg_attribute a
                    WHERE a.attrelid = d.objoid AND a.attnum = d.objsubid) END
           WHEN 'pg_constraint'::regclass
             THEN (SELECT c.conname FROM pg_constraint c WHERE c.oid = d.objoid)
           WHEN 'pg_namespace'::regclass
             THEN (SELECT n.nspname FROM pg_namespace n WHERE n.oid = d.objoid)
           WHEN 'pg_publication'::regclass
             THEN (SELECT p.pubname FROM pg_publication p WHERE p.oid = d.objoid) END
   ORDER BY d.classoid, d.objoid, d.objsubid
   LIMIT 1;
END;

-- A relation that has this name, though Spanner has none of it: the index of a constraint or of the
-- order of a key, the sequence of an identity column.
CREATE FUNCTION spanner_internal.made_up(schema oid, name name)
RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT c.oid
    FROM pg_class c
   WHERE c.relnamespace = schema
     AND c.relname = made_up.name
     AND CASE upper(c.relkind)
           WHEN 'I' THEN EXISTS (SELECT
                                   FROM pg_index i
                                   JOIN pg_constraint k ON k.conrelid = i.indrelid
                                  WHERE i.indexrelid = c.oid
                                    AND k.conindid = c.oid AND k.contype IN ('p', 'u', 'x'))
             OR EXISTS (SELECT
                          FROM pg_index i
                         CROSS JOIN LATERAL spanner_internal.ddl_key(i.indrelid) k
                         WHERE i.indexrelid = c.oid AND k.order_index = c.oid)
           WHEN 'S' THEN EXISTS (SELECT FROM pg_depend d
                                  WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                                    AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0) END;
END;

-- What a new object cannot have the name of, in Spanner: names of relations and constraints of a
-- schema are one set, whatever their case.  The same name of a relation is left to PostgreSQL.
CREATE FUNCTION spanner_internal.same_name(schema oid, name name, is_constraint boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT pg_describe_object('pg_constraint'::regclass, c.oid, 0)
    FROM pg_constraint c
   WHERE c.connamespace = schema
     AND c.conname IN (same_name.name, lower(same_name.name))
     AND c.contype IN ('c', 'f')
   UNION ALL
  SELECT pg_describe_object('pg_class'::regclass, c.oid, 0)
    FROM pg_class c
   WHERE c.relnamespace = schema
     AND c.relname IN (same_name.name, lower(same_name.name))
     AND (same_name.is_constraint OR c.relname <> same_name.name)
     AND spanner_internal.made_up(schema, c.relname) IS NULL
   LIMIT 1;
END;

-- What keeps a column: the key, an index, a constraint, another column, a view.  PostgreSQL would
-- drop some of them along.
CREATE FUNCTION spanner_internal.drop_column_problem(relation oid, attnum integer)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN o.attname = ANY (spanner_internal.table_key(relation))
           THEN format('Cannot drop key column %s from table %s.', o.attname, relation::regclass)
           ELSE format('Cannot drop column %s from table %s because it is used by %s.', o.attname,
             relation::regclass, pg_describe_object(d.classid, d.objid, d.objsubid)) END
    FROM pg_depend d
    JOIN pg_attribute o ON o.attrelid = relation AND o.attnum = drop_column_problem.attnum
    LEFT JOIN pg_constraint c ON d.classid = 'pg_constraint'::regclass AND c.oid = d.objid
    LEFT JOIN pg_attrdef a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
    LEFT JOIN pg_class k ON d.classid = 'pg_class'::regclass AND k.oid = d.objid
    LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
   WHERE d.refclassid = 'pg_class'::regclass
     AND d.refobjid = relation
     AND d.refobjsubid = drop_column_problem.attnum
     AND (c.contype IN ('p', 'u', 'f')
          OR c.contype = 'c' AND spanner_internal.ddl_length(c.oid, 'googlesql') IS NULL
          OR a.adnum <> drop_column_problem.attnum
          OR k.relkind = 'i'
          OR d.classid = 'pg_rewrite'::regclass
          OR t.oid IS NOT NULL AND NOT t.tgisinternal)
   ORDER BY d.classid, d.objid
   LIMIT 1;
END;

-- Whether a column is of the key that a parent and its children share.
CREATE FUNCTION spanner_internal.is_interleaved(relation oid, attnum integer)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
  SELECT
    FROM pg_constraint c
   WHERE (c.conrelid = relation AND is_interleaved.attnum = ANY (c.conkey)
          OR c.confrelid = relation AND is_interleaved.attnum = ANY (c.confkey))
     AND c.oid = spanner_internal.parent_constraint(c.conrelid));

-- Whether the default of a column is the commit timestamp.
CREATE FUNCTION spanner_internal.is_commit_default(relation oid, attnum integer)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
  SELECT
    FROM pg_attrdef d
   WHERE d.adrelid = relation
     AND d.adnum = is_commit_default.attnum
     AND pg_get_expr(d.adbin, relation)
         ~ '^\(?(spanner\.)?pending_commit_timestamp\(\)(\)::(spanner\.)?commit_timestamp)?$');

-- The trigger of a column ON UPDATE.
CREATE FUNCTION spanner_internal.update_trigger(relation oid, attnum integer)
RETURNS name
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT t.tgname
    FROM pg_trigger t
   WHERE t.tgrelid = relation
     AND t.tgfoid = 'spanner_internal.on_update'::regproc
     AND EXISTS (SELECT
                   FROM pg_depend d
                  WHERE d.classid = 'pg_trigger'::regclass
                    AND d.objid = t.oid
                    AND d.refobjid = relation
                    AND d.refobjsubid = update_trigger.attnum);
END;

-- What an index would lose if it is created anew.
CREATE FUNCTION spanner_internal.index_loss(indexid oid)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE
           WHEN i.indisreplident THEN 'its place as replica identity'
           WHEN i.indisclustered THEN 'its mark for CLUSTER'
           WHEN EXISTS (SELECT FROM pg_attribute a
                         WHERE a.attrelid = indexid AND coalesce(a.attstattarget, -1) >= 0)
             THEN 'its statistics targets'
           WHEN EXISTS (SELECT FROM pg_partition_tree(indexid) p
                          JOIN pg_class c ON c.oid = p.relid
                         WHERE (c.reltablespace, c.reloptions)
                               IS DISTINCT FROM (k.reltablespace, k.reloptions))
             THEN 'options of its partitions' END
    FROM pg_index i
    JOIN pg_class k ON k.oid = i.indexrelid
   WHERE i.indexrelid = indexid;
END;

-- Tables that could not be changed while they are published: one, or with 0 all that are there.
CREATE FUNCTION spanner_internal.tables_without_identity(relation oid)
RETURNS SETOF oid
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.oid
    FROM pg_class k
    JOIN pg_namespace n ON n.oid = k.relnamespace
   WHERE CASE WHEN relation = 0 THEN k.oid >= 16384 ELSE k.oid = relation END
     AND k.relkind = 'r'
     AND k.relpersistence = 'p'
     AND k.relreplident IN ('d', 'n')
     AND n.nspname NOT IN ('pg_catalog', 'information_schema')
     AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = k.oid AND i.indisprimary)
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = k.oid AND d.deptype = 'e')
   ORDER BY n.nspname COLLATE "C", k.relname COLLATE "C";
END;

-- The commands that give a view its owner and all rights, also after it was made anew.  They fail
-- if another role than the owner has granted one: nobody can do that in its place.
CREATE FUNCTION spanner_internal.view_rights(view regclass)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT concat('ALTER VIEW ', view, ' OWNER TO ', c.relowner::regrole,
           string_agg('; GRANT ' || a.privilege_type || format('%s ON %s TO %s%s%s', g.of, view,
                        CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
                        CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' END,
                        CASE WHEN a.grantor <> c.relowner
                             THEN ' GRANTED BY ' || a.grantor::regrole END), ''
                      ORDER BY g.of, a.grantee, a.privilege_type))
    FROM pg_class c
   CROSS JOIN LATERAL (
           SELECT '', coalesce(c.relacl, acldefault('r', c.relowner))
            UNION ALL
           SELECT format(' (%I)', k.attname), k.attacl
             FROM pg_attribute k
            WHERE k.attrelid = c.oid) g (of, rights)
    LEFT JOIN LATERAL aclexplode(g.rights) a ON true
   WHERE c.oid = view
   GROUP BY c.relowner;
END;

-- What Spanner refuses in the generated columns and checks of a table.
CREATE FUNCTION spanner_internal.expression_problem(relation oid)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT format('Cannot use commit timestamp column `%s` as a dependency of a materialized '
           'generated column.', a.attname)
    FROM pg_attrdef e
    JOIN pg_attribute g ON g.attrelid = e.adrelid AND g.attnum = e.adnum AND g.attgenerated <> ''
    JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid
                    AND d.refclassid = 'pg_class'::regclass
                    AND d.refobjid = relation AND d.refobjsubid <> e.adnum
    JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = d.refobjsubid
   WHERE e.adrelid = relation
     AND a.atttypid = 'spanner.commit_timestamp'::regtype
   UNION ALL
  SELECT CASE
           WHEN 'spanner.commit_timestamp'::regtype = ANY (k.types)
             THEN format('Column `%s` has option commit_timestamp, which is not supported in check '
               'constraint.', k.names[array_position(k.types, 'spanner.commit_timestamp'::regtype)])
           -- a generated column is made of others
           ELSE format('Check constraint `%s`.`%s` does not use any non generated column. A check '
             'constraint expression requires at least one non-generated column as dependency.',
             c.conrelid::regclass, c.conname) END
    FROM pg_constraint c
   CROSS JOIN LATERAL (
           SELECT array_agg(a.atttypid::regtype) AS types, array_agg(a.attname) AS names
             FROM pg_attribute a
            WHERE a.attrelid = relation AND a.attnum = ANY (c.conkey)) k
   WHERE c.conrelid = relation
     AND c.contype = 'c'
     AND ('spanner.commit_timestamp'::regtype = ANY (k.types) OR k.types IS NULL)
   LIMIT 1;
END;

-- The trigger that says what a table is interleaved in.
CREATE FUNCTION spanner_internal.interleaved_trigger(relation oid)
RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT t.oid
    FROM pg_trigger t
   WHERE t.tgrelid = relation
     AND t.tgfoid = 'spanner_internal.interleaved_in'::regproc
   LIMIT 1;
END;

-- What a table has that has to be dropped before it.
CREATE FUNCTION spanner_internal.drop_table_problem(relation oid)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH users AS (
    SELECT 'indices' AS kind, i.indexrelid::regclass::text AS name
      FROM pg_index i
      JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid = relation
       AND i.indkey::text <> '0'
       AND spanner_internal.made_up(c.relnamespace, c.relname) IS NULL
     UNION ALL
    SELECT 'interleaved tables', t.tgrelid::regclass::text
      FROM pg_trigger t
     WHERE t.tgconstrrelid = relation
       AND t.tgfoid = 'spanner_internal.interleaved_in'::regproc
     UNION ALL
    SELECT 'change_streams', quote_ident(p.pubname)
      FROM pg_publication_rel r
      JOIN pg_publication p ON p.oid = r.prpubid
     WHERE r.prrelid = relation)
  SELECT format('Cannot drop table %s with %s: %s.', relation::regclass, u.kind,
           string_agg(u.name, ', ' ORDER BY u.name COLLATE "C"))
    FROM users u
   GROUP BY u.kind
   ORDER BY u.kind DESC
   LIMIT 1;
END;
