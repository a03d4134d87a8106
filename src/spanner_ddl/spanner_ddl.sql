-- Spanner's language: its DDL is run here, and what it has and PostgreSQL lacks.

CREATE FUNCTION spanner.execute_ddl(statement text, dialect text DEFAULT 'auto')
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_execute_ddl'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.execute_ddl(text, text)
  IS 'run statements of Spanner''s DDL, in either dialect';

CREATE FUNCTION spanner.postgresql_ddl(statement text, dialect text DEFAULT 'auto')
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_postgresql_ddl'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.postgresql_ddl(text, text)
  IS 'the statements of PostgreSQL that execute_ddl would run';

-- PostgreSQL's own depends on how elements are written, which is plain for texts.
CREATE FUNCTION spanner_internal.array_to_string(elements text[], separator text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN pg_catalog.array_to_string(elements, separator);

COMMENT ON FUNCTION spanner_internal.array_to_string(text[], text)
  IS 'array_to_string() for generated columns';

CREATE FUNCTION spanner_internal.shift_left(value bigint, places bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_shift_left'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner_internal.shift_left(bigint, bigint)
  IS 'GoogleSQL''s <<, which leaves 0 after 64 places';

CREATE FUNCTION spanner_internal.shift_right(value bigint, places bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_shift_right'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner_internal.shift_right(bigint, bigint)
  IS 'GoogleSQL''s >>, which shifts the sign like the other bits';

CREATE FUNCTION spanner_internal.float_to_int(value double precision)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_float_to_int'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner_internal.float_to_int(double precision)
  IS 'GoogleSQL''s cast, which rounds a half away from zero';

CREATE FUNCTION spanner_internal.float_to_numeric(value double precision)
RETURNS numeric
AS 'MODULE_PATHNAME', 'spanner_float_to_numeric'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner_internal.float_to_numeric(double precision)
  IS 'GoogleSQL''s cast, which takes all digits';

CREATE FUNCTION spanner_internal.string_to_bytes(value text)
RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN pg_catalog.convert_to(value, 'UTF8');

COMMENT ON FUNCTION spanner_internal.string_to_bytes(text)
  IS 'GoogleSQL''s cast, also for generated columns';

CREATE FUNCTION spanner_internal.bytes_to_string(value bytea)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN pg_catalog.convert_from(value, 'UTF8');

COMMENT ON FUNCTION spanner_internal.bytes_to_string(bytea)
  IS 'GoogleSQL''s cast, also for generated columns';

CREATE FUNCTION spanner_internal.white_space()
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_white_space'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner_internal.white_space()
  IS 'the characters that GoogleSQL''s TRIM() removes';

CREATE FUNCTION spanner_internal.longest(elements bytea[])
RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
RETURN (SELECT max(octet_length(b)) FROM unnest(elements) b);

COMMENT ON FUNCTION spanner_internal.longest(bytea[])
  IS 'the length of the longest element, for ARRAY<BYTES(n)>';

CREATE DOMAIN spanner.commit_timestamp AS timestamptz;

COMMENT ON DOMAIN spanner.commit_timestamp
  IS 'type of a column that takes spanner.pending_commit_timestamp()';

CREATE FUNCTION spanner.pending_commit_timestamp()
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CURRENT_TIMESTAMP;

COMMENT ON FUNCTION spanner.pending_commit_timestamp()
  IS 'the time at which the transaction began: PostgreSQL does not know that of its commit before';

-- The trigger with this function and a column is the row deletion policy of a table.
CREATE FUNCTION spanner_internal.row_deletion_policy()
RETURNS trigger
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN NULL;
END $$;

COMMENT ON FUNCTION spanner_internal.row_deletion_policy()
  IS 'for a trigger that never fires, and says after which time rows expire';

-- A view with a trigger of this function is the synonym of a table.
CREATE FUNCTION spanner_internal.synonym()
RETURNS trigger
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN NULL;
END $$;

COMMENT ON FUNCTION spanner_internal.synonym()
  IS 'for a trigger that never fires, and says that a view is a synonym';

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

COMMENT ON FUNCTION spanner_internal.on_update()
  IS 'for a trigger that keeps the time of a row''s last change in a column';

CREATE FUNCTION spanner_internal.delete_rows(
  relation oid,
  column_number smallint,
  older_than interval,
  batch_size integer)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_delete_rows'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner_internal.delete_rows(oid, smallint, interval, integer)
  IS 'delete rows of the current user''s table of which a column is older, so many at most';

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
      deleted := spanner_internal.delete_rows(part.relation, part.column_number,
                                              part.older_than::interval, remaining);
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
