/* src/splits/servers.sql */

--
-- Splits: asking other servers
--
-- Another server is read through temporary foreign tables, and an exception at the end undoes
-- them: only values stay.  What it says is compared, counted and shown, and never becomes a part
-- of a statement.
--

-- The owner of a server decides where a connection goes, and as whom.  Its name can be given to
-- another server at any time, so the one that counts is the one that the foreign table has.
CREATE FUNCTION spanner_internal.check_foreign_table(relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  server name := (SELECT s.srvname
                    FROM pg_foreign_table f
                    JOIN pg_foreign_server s ON s.oid = f.ftserver
                    JOIN pg_roles r ON r.oid = s.srvowner AND NOT r.rolsuper
                   WHERE f.ftrelid = relation);
BEGIN
  IF server IS NOT NULL AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('server "%s" does not belong to a superuser', server),
      DETAIL = 'A superuser would connect without a password.',
      HINT = 'Use SET ROLE to become the owner of the table.';
  END IF;
END
$$;

-- A row of a view or catalog that every server has.  An exception undoes the foreign table.
CREATE FUNCTION spanner_internal.read_there(
  server name,
  relation regclass,
  condition text,
  names name[])
RETURNS jsonb
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
AS $$
#variable_conflict use_variable
DECLARE
  opened regclass := relation;
  result jsonb;
BEGIN
  IF server IS NOT NULL THEN
    EXECUTE (
      SELECT format('CREATE FOREIGN TABLE pg_temp.spanner_there (%s) SERVER %I
                       OPTIONS (schema_name %L, table_name %L, async_capable ''false'')',
                    string_agg(format('%I %s', a.attname,
                                      CASE WHEN a.atttypid = 'anyarray'::regtype THEN 'text'
                                           ELSE format_type(a.atttypid, a.atttypmod) END), ', '),
                    server, n.nspname, c.relname)
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.oid = relation
       GROUP BY n.nspname, c.relname);
    opened := 'pg_temp.spanner_there';
    PERFORM spanner_internal.check_foreign_table(opened);
  END IF;
  EXECUTE format('SELECT to_jsonb(x) FROM %s x WHERE %s', opened, condition)
    INTO result USING names[1], names[2], names[3];
  RAISE EXCEPTION USING ERRCODE = 'SK001';
EXCEPTION WHEN SQLSTATE 'SK001' THEN
  RETURN result;
END
$$;

-- The version comes first, and from a catalog: without the extension anybody may have made a
-- schema there that looks like ours.  If it is another version, nothing else is asked.
CREATE FUNCTION spanner_internal.ask_server(
  server name,
  schemaname name,
  tablename name,
  column_name name DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  here text := (SELECT extversion FROM pg_extension WHERE extname = 'spanner_keys_splits');
  there text := spanner_internal.read_there(server, 'pg_extension', 'x.extname = $1',
                                            '{spanner_keys_splits}') ->> 'extversion';
  names name[] := ARRAY[schemaname, tablename, column_name];
BEGIN
  IF there IS DISTINCT FROM here THEN
    RAISE fdw_schema_not_found USING
      MESSAGE = format('server "%s" has another version of extension spanner_keys_splits', server),
      DETAIL = format('%s there, %s here', coalesce(there, 'none'), here),
      HINT = 'Run ALTER EXTENSION spanner_keys_splits UPDATE on the server that has the older one.';
  END IF;
  RETURN spanner_internal.read_there(server, 'spanner_internal.split_server', 'true', NULL)
    || jsonb_build_object(
         'table', spanner_internal.read_there(server, 'spanner_internal.split_tables',
           'x.schemaname = $1 AND x.tablename = $2', names),
         'column', CASE WHEN column_name IS NOT NULL
                        THEN spanner_internal.read_there(server, 'pg_stats', 'x.schemaname = $1
           AND x.tablename = $2 AND x.attname = $3 AND NOT x.inherited', names) END);
END
$$;

-- Why a role may not have rows there, or connect, if so: the owner of a server decides where they
-- go.
CREATE FUNCTION spanner_internal.server_problem(server name, role oid)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT CASE WHEN s.oid IS NULL THEN format('server "%s" does not exist', server)
              WHEN w.fdwname <> 'postgres_fdw'
              THEN format('server "%s" does not use postgres_fdw', server)
              WHEN NOT o.rolsuper AND o.oid <> role
              THEN format('server "%s" belongs to neither a superuser nor role "%s"', server,
                          pg_get_userbyid(role))
              WHEN NOT has_server_privilege(role, s.oid, 'USAGE')
              THEN format('permission denied for foreign server %s', server) END
    FROM (VALUES (server)) x (name)
    LEFT JOIN pg_foreign_server s ON s.srvname = x.name
    LEFT JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    LEFT JOIN pg_roles o ON o.oid = s.srvowner;
END;

-- Raise that as an error.
CREATE FUNCTION spanner_internal.check_server(server name, role oid)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  problem text := spanner_internal.server_problem(server, role);
BEGIN
  IF problem IS NOT NULL THEN
    RAISE insufficient_privilege USING MESSAGE = problem,
      HINT = concat('Use a server of postgres_fdw that belongs to a superuser, or to the owner of ',
                    'the table if that role runs the program. The owner needs the right USAGE on ',
                    'it.');
  END IF;
END
$$;

-- Raise an error unless partitions or copies of a table can be on a server.  The server refuses a
-- foreign partition beside a unique index too, but does not say what to do.
CREATE FUNCTION spanner_internal.check_split_server(relation regclass, server name)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t pg_class := (SELECT c FROM pg_class c WHERE c.oid = relation);
  index name := (SELECT c.relname
                   FROM pg_index i
                   JOIN pg_class c ON c.oid = i.indexrelid
                  WHERE i.indrelid = relation AND i.indisunique AND c.relkind = 'I'
                  ORDER BY 1 LIMIT 1);
BEGIN
  PERFORM spanner_internal.check_server(server, t.relowner);
  IF index IS NOT NULL THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('table "%s" with unique index "%s" cannot have partitions on other servers',
                       t.relname, index),
      HINT = concat('Drop the constraint; the table on each server has a primary key of its own, ',
                    'and their ranges do not overlap.');
  END IF;
END
$$;
