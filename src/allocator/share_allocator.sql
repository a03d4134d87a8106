/* src/allocator/share_allocator.sql */

--
-- Allocators of the coordinator of Citus, on its workers
--

-- What share_allocator() calls on a worker.  Its names are qualified instead of found by a path
-- of its own, since dblink is to be made where the path of the session says.
CREATE PROCEDURE spanner_internal.receive_allocator(
  name text,
  users text[],
  server name,
  batch_size integer,
  max_batch_size integer,
  host text,
  port integer,
  database name,
  user_name text,
  password text,
  replace_mapping boolean)
LANGUAGE plpgsql
AS $$
DECLARE
  role text;
BEGIN
  SET LOCAL citus.enable_ddl_propagation TO off;
  SET LOCAL client_min_messages TO warning;
  CREATE EXTENSION IF NOT EXISTS dblink;
  EXECUTE pg_catalog.format(
    'CREATE SERVER IF NOT EXISTS %I FOREIGN DATA WRAPPER dblink_fdw '
    'OPTIONS (host %L, port %L, dbname %L, connect_timeout %L)', server, host, port, database, 3);
  IF replace_mapping THEN
    EXECUTE pg_catalog.format('DROP USER MAPPING IF EXISTS FOR CURRENT_USER SERVER %I', server);
  END IF;
  EXECUTE pg_catalog.format(
    'CREATE USER MAPPING IF NOT EXISTS FOR CURRENT_USER SERVER %I OPTIONS (user %L%s)',
    server, user_name, ', password ' OPERATOR(pg_catalog.||) pg_catalog.quote_literal(password));
  PERFORM spanner.create_allocator(name, mode => 'remote', server => server,
                                   batch_size => batch_size, max_batch_size => max_batch_size,
                                   if_not_exists => true);
  IF NOT EXISTS (SELECT FROM spanner.allocator a
                  WHERE a.name OPERATOR(pg_catalog.=) receive_allocator.name
                    AND a.series OPERATOR(pg_catalog.=) '{}'
                    AND a.server OPERATOR(pg_catalog.=) receive_allocator.server) THEN
    RAISE duplicate_object USING
      MESSAGE := pg_catalog.format('there is another allocator "%s" on this node', name);
  END IF;
  FOREACH role IN ARRAY users LOOP
    PERFORM spanner.grant_allocator(name, role);
  END LOOP;
END
$$;

-- Each worker takes blocks from the coordinator.  What is there stays, so a
-- call after citus_add_node() sets up the new node; but a role or password that
-- is given takes the place of the one before.
CREATE FUNCTION spanner.share_allocator(
  name text,
  user_name text DEFAULT NULL,
  password text DEFAULT NULL,
  server name DEFAULT 'citus_coordinator')
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  allocator spanner.allocator;
  coordinator record;
  answer record;
  command text;
  users text[];
  workers integer := 0;
BEGIN
  IF name IS NULL OR server IS NULL THEN
    RAISE null_value_not_allowed USING MESSAGE = 'arguments "name" and "server" must not be null';
  ELSIF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = 'this database is not part of a cluster of Citus',
      HINT = 'Create allocators of mode remote on the other servers.';
  ELSIF (SELECT groupid FROM pg_dist_local_group) <> 0 THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = 'an allocator cannot be shared from a worker',
      HINT = 'Connect to the coordinator of Citus and run it there.';
  END IF;
  SELECT a.* INTO allocator
    FROM spanner.allocator a
   WHERE a.name = share_allocator.name
     AND a.series = '{}';
  IF NOT FOUND THEN
    RAISE undefined_object USING MESSAGE = format('allocator "%s" does not exist', name),
      HINT = 'Create it with spanner.create_allocator().';
  ELSIF allocator.mode = ANY ('{sync,on_commit,remote}') THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('allocator "%s" of mode %s cannot be shared', name, allocator.mode),
      HINT = 'Share one of mode async_batch, async or batch; insert rows with the others through '
             'the coordinator.';
  END IF;
  SELECT n.nodename, n.nodeport INTO coordinator FROM pg_dist_node n WHERE n.groupid = 0;
  IF NOT FOUND THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = 'workers do not know the address of the coordinator',
      HINT = 'Set it with citus_set_coordinator_host().';
  END IF;

  SELECT array_agg(CASE r WHEN 0 THEN 'public' ELSE r::regrole::text END) INTO users
    FROM unnest(allocator.usage_roles::oid[]) r;
  command := format('CALL spanner_internal.receive_allocator('
                    '%L, %L, %L, %s, %s, %L, %s, %L, %L, %L, %L)',
                    name, coalesce(users, '{}'), server,
                    allocator.batch_size, allocator.max_batch_size, coordinator.nodename,
                    coordinator.nodeport, current_database(), coalesce(user_name, current_user),
                    password, user_name IS NOT NULL OR password IS NOT NULL);
  FOR answer IN SELECT * FROM run_command_on_workers(command)
  LOOP
    IF NOT answer.success THEN
      RAISE object_not_in_prerequisite_state USING
        MESSAGE = format('allocator "%s" could not be shared with %s:%s: %s', name,
                         answer.nodename, answer.nodeport, answer.result),
        HINT = 'Workers that have it keep it. Run this again when the cause is removed.';
    END IF;
    workers := workers + 1;
  END LOOP;
  RETURN workers;
END
$$;

COMMENT ON FUNCTION spanner.share_allocator(text, text, text, name)
  IS 'have all workers of Citus take blocks from an allocator of the coordinator; return how many '
     'workers';
