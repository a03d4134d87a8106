/* src/splits/run_as.sql */

--
-- Splits: commands with the rights of the owner of a table
--

-- Run a single command with the rights of a role that the caller may act as.
CREATE FUNCTION spanner_internal.run_as(role oid, command text)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_run_as'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- An expression in parentheses, an error if the text is not a single one.
CREATE FUNCTION spanner_internal.quote_expression(expression text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_quote_expression'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Run a single command with the rights of the owner of a relation.
CREATE FUNCTION spanner_internal.run_as_owner(relation regclass, command text)
RETURNS void
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t pg_class;
BEGIN
  SELECT * INTO t FROM pg_class WHERE oid = relation;
  IF t.oid IS NULL THEN
    RAISE undefined_table USING
      MESSAGE = format('there is no relation for command "%s"', command);
  ELSIF NOT pg_has_role(t.relowner, 'USAGE') THEN
    RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s', t.relname);
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
