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
  server record;
BEGIN
  SELECT s.srvname, r.rolsuper
    INTO server
    FROM pg_foreign_table f
    JOIN pg_foreign_server s ON s.oid = f.ftserver
    JOIN pg_roles r ON r.oid = s.srvowner
   WHERE f.ftrelid = relation;
  IF NOT FOUND THEN
    RAISE wrong_object_type USING MESSAGE = format('relation %s has no foreign server', relation);
  ELSIF NOT server.rolsuper AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('server "%s" does not belong to a superuser', server.srvname),
      DETAIL = 'A superuser would connect without a password.',
      HINT = 'Use SET ROLE to become the owner of the table.';
  END IF;
END
$$;

-- A view or catalog that every server has, to be read here.
CREATE FUNCTION spanner_internal.open_relation(server name, relation regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
SET client_min_messages = warning
AS $$
#variable_conflict use_variable
DECLARE
  there record;
  opened regclass;
BEGIN
  IF server IS NULL THEN
    RETURN relation;
  END IF;
  SELECT n.nspname, c.relname, 'spanner_' || c.relname AS name,
         string_agg(format('%I %s', a.attname,
                           CASE WHEN a.atttypid = 'anyarray'::regtype THEN 'text'
                                ELSE format_type(a.atttypid, a.atttypmod) END), ', ') AS columns
    INTO there
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                       -- of pg_replication_slots; a foreign table cannot have it
                       AND a.attname <> 'xmin'
   WHERE c.oid = relation
   GROUP BY n.nspname, c.relname;
  EXECUTE format('CREATE FOREIGN TABLE pg_temp.%I (%s) SERVER %I
                    OPTIONS (schema_name %L, table_name %L, async_capable ''false'')',
                 there.name, there.columns, server, there.nspname, there.relname);
  opened := format('pg_temp.%I', there.name);
  PERFORM spanner_internal.check_foreign_table(opened);
  RETURN opened;
END
$$;

-- The version comes first, and from a catalog: without the extension anybody may have made a
-- schema there that looks like ours.  If it is another version, nothing else is asked, and how it
-- differs is all that is returned.
CREATE FUNCTION spanner_internal.split_facts(
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
  there text;
  facts jsonb;
  rows jsonb;
BEGIN
  BEGIN
    EXECUTE format('SELECT extversion FROM %s WHERE extname = $1',
                   spanner_internal.open_relation(server, 'pg_extension'))
      INTO there USING 'spanner_keys_splits'::name;
    IF there = here THEN
      EXECUTE format('SELECT to_jsonb(s) FROM %s s',
                     spanner_internal.open_relation(server, 'spanner_internal.split_server'))
        INTO facts;
      EXECUTE format('SELECT to_jsonb(t) FROM %s t WHERE t.schemaname = $1 AND t.tablename = $2',
                     spanner_internal.open_relation(server, 'spanner_internal.split_tables'))
        INTO rows USING schemaname, tablename;
      facts := facts || jsonb_build_object('table', rows);
      IF column_name IS NOT NULL THEN
        EXECUTE format('SELECT jsonb_build_object(
                          ''histogram'', s.histogram_bounds::text::text[],
                          ''common'', s.most_common_vals::text::text[],
                          ''shares'', s.most_common_freqs)
                          FROM %s s
                         WHERE s.schemaname = $1 AND s.tablename = $2 AND s.attname = $3
                           AND NOT s.inherited',
                       spanner_internal.open_relation(server, 'pg_stats'))
          INTO rows USING schemaname, tablename, column_name;
        facts := facts || jsonb_build_object('column', rows);
      END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'SK001';
  EXCEPTION WHEN SQLSTATE 'SK001' THEN
    NULL;
  END;
  RETURN coalesce(facts, jsonb_build_object('version_problem',
                           format('%s there, %s here', coalesce(there, 'none'), here)));
END
$$;

-- What a server of the same version knows; see split_facts().
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
  facts jsonb := spanner_internal.split_facts(server, schemaname, tablename, column_name);
BEGIN
  IF facts ? 'version_problem' THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('server "%s" has another version of extension spanner_keys_splits', server),
      DETAIL = format('It is %s.', facts ->> 'version_problem'),
      HINT = 'Run ALTER EXTENSION spanner_keys_splits UPDATE on the server that has the older one.';
  END IF;
  RETURN facts;
END
$$;

-- Rows go only where the owner of the table, or a superuser, has said that they may.
CREATE FUNCTION spanner_internal.check_split_server(relation regclass, server name)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  t pg_class;
  known record;
BEGIN
  SELECT * INTO t FROM pg_class WHERE oid = relation;
  SELECT s.oid, w.fdwname AS wrapper, r.rolsuper OR s.srvowner = t.relowner AS is_trusted
    INTO known
    FROM pg_foreign_server s
    JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    JOIN pg_roles r ON r.oid = s.srvowner
   WHERE s.srvname = server;
  IF known.oid IS NULL THEN
    RAISE undefined_object USING MESSAGE = format('server "%s" does not exist', server),
      HINT = 'Create it with CREATE SERVER ... FOREIGN DATA WRAPPER postgres_fdw.';
  ELSIF known.wrapper <> 'postgres_fdw' THEN
    RAISE wrong_object_type USING
      MESSAGE = format('server "%s" does not use postgres_fdw', server),
      HINT = 'Create a server with FOREIGN DATA WRAPPER postgres_fdw.';
  ELSIF NOT known.is_trusted THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('server "%s" belongs to neither a superuser nor the owner of table "%s"',
                       server, t.relname),
      DETAIL = 'The owner of a server decides where rows go.';
  ELSIF NOT has_server_privilege(t.relowner, known.oid, 'USAGE') THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('permission denied for foreign server %s', server),
      DETAIL = format('Its partitions belong to the owner of table "%s".', t.relname),
      HINT = format('Run GRANT USAGE ON FOREIGN SERVER for role "%s".',
                    pg_get_userbyid(t.relowner));
  END IF;
END
$$;
