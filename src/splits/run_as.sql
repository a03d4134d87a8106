/* src/splits/run_as.sql */

--
-- Splits: commands with the rights of the owner of a table
--

-- Run a single command with the rights of a role that the caller may act as.
CREATE FUNCTION spanner_internal.run_as(role oid, command text)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_run_as'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- A statement with a name for each {}, which may be part of no string, name or comment.
CREATE FUNCTION spanner_internal.fill_in(statement text, name text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_fill_in'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Run a single command with the rights of the owner of a relation.
CREATE FUNCTION spanner_internal.run_as_owner(relation regclass, command text)
RETURNS void
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t pg_class := (SELECT c FROM pg_class c WHERE c.oid = relation);
BEGIN
  IF pg_has_role(t.relowner, 'USAGE') IS NOT TRUE THEN
    RAISE insufficient_privilege USING
      MESSAGE = coalesce('must be owner of table ' || t.relname, 'no relation for ' || command);
  END IF;
  PERFORM spanner_internal.run_as(t.relowner, command);
END
$$;

-- A command as it is shown.  It may have expressions of the role, and runs with the role's rights
-- also if it is pasted.
CREATE FUNCTION spanner_internal.shown_command(role oid, command text)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN CASE WHEN pg_get_userbyid(role) = current_user THEN command
            ELSE format('SELECT spanner_internal.run_as(%L::pg_catalog.regrole, %L)',
                        role::regrole, command) END;
