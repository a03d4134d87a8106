/* src/allocator/share_allocator.sql */

--
-- Allocators of the coordinator of Citus, on its workers
--

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
  SELECT a.* INTO allocator FROM spanner.allocator a WHERE a.name = share_allocator.name;
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

  -- a literal, which no name, role or password in it can end
  command := format('DO %L', format('BEGIN '
      'SET LOCAL citus.enable_ddl_propagation = off; '
      'SET LOCAL client_min_messages = warning; '
      'CREATE EXTENSION IF NOT EXISTS dblink; '
      'CREATE SERVER IF NOT EXISTS %1$I FOREIGN DATA WRAPPER dblink_fdw '
      'OPTIONS (host %2$L, port %3$L, dbname %4$L, connect_timeout %5$L); '
      '%14$s'
      'CREATE USER MAPPING IF NOT EXISTS FOR CURRENT_USER SERVER %1$I OPTIONS (user %6$L%7$s); '
      'PERFORM spanner.create_allocator(%8$L, mode => %9$L, server => %1$L, '
      'batch_size => %10$s, max_batch_size => %11$s, if_not_exists => true); '
      'IF NOT EXISTS (SELECT FROM spanner.allocator a '
      'WHERE a.name OPERATOR(pg_catalog.=) %8$L AND a.server OPERATOR(pg_catalog.=) %1$L) '
      'THEN RAISE duplicate_object USING MESSAGE = %12$L; END IF; '
      '%13$s END',
    server, coordinator.nodename, coordinator.nodeport, current_database(), 3,
    coalesce(user_name, current_user), ', password ' || quote_literal(password),
    name, 'remote', allocator.batch_size, allocator.max_batch_size,
    format('there is another allocator "%s" on this node', name),
    (SELECT string_agg(format('PERFORM spanner.grant_allocator(%L, %L); ', name,
                              CASE r WHEN 0 THEN 'public' ELSE r::regrole::text END), '')
       FROM unnest(allocator.usage_roles::oid[]) r),
    CASE WHEN user_name IS NOT NULL OR password IS NOT NULL
         THEN format('DROP USER MAPPING IF EXISTS FOR CURRENT_USER SERVER %I; ', server) END));
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
