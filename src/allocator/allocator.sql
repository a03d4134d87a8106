/* src/allocator/allocator.sql */

--
-- Allocators: batches of numbers from a table
--

-- A dump names roles, and a row with the name of one that is not there would be
-- lost together with its counter, and all other rows with it.
CREATE TYPE spanner_internal.allocator_role;

-- As regrolein(); in a restore, a role that does not exist is the current user.
CREATE FUNCTION spanner_internal.allocator_role_in(cstring)
RETURNS spanner_internal.allocator_role
AS 'MODULE_PATHNAME', 'spanner_allocator_role_in'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- As regroleout().
CREATE FUNCTION spanner_internal.allocator_role_out(spanner_internal.allocator_role)
RETURNS cstring
AS 'regroleout'
LANGUAGE internal STABLE STRICT PARALLEL SAFE;

CREATE TYPE spanner_internal.allocator_role (
  INPUT = spanner_internal.allocator_role_in,
  OUTPUT = spanner_internal.allocator_role_out,
  LIKE = pg_catalog.regrole);

CREATE CAST (spanner_internal.allocator_role AS pg_catalog.regrole) WITHOUT FUNCTION AS IMPLICIT;

COMMENT ON CAST (spanner_internal.allocator_role AS pg_catalog.regrole)
  IS 'the same role';

CREATE CAST (spanner_internal.allocator_role AS pg_catalog.oid) WITHOUT FUNCTION AS IMPLICIT;

COMMENT ON CAST (spanner_internal.allocator_role AS pg_catalog.oid)
  IS 'the OID of the role';

CREATE CAST (pg_catalog.regrole AS spanner_internal.allocator_role) WITHOUT FUNCTION AS ASSIGNMENT;

COMMENT ON CAST (pg_catalog.regrole AS spanner_internal.allocator_role)
  IS 'the same role';

-- What the pools and the sessions of this database know rows by.  It means nothing in a dump, or
-- to another server: whatever brings a row, a trigger gives it an id.
CREATE SEQUENCE spanner.allocator_id;

-- A series is a row that has a counter and stamps of its own, and NULL in all that it has of its
-- allocator, whose series is empty.
CREATE TABLE spanner.allocator (
  name            text COLLATE "C" NOT NULL,
  series          text[] COLLATE "C" NOT NULL DEFAULT '{}',
  allocator_id    bigint NOT NULL UNIQUE,
  next_value      bigint NOT NULL DEFAULT 1,
  timeline        integer,
  system          bigint,
  mode            text DEFAULT 'async_batch',
  min_value       bigint DEFAULT 1,
  max_value       bigint DEFAULT 9223372036854775806,
  batch_size      integer DEFAULT 200,
  max_batch_size  integer DEFAULT 100000,
  low_water_mark  integer,
  failover_gap    bigint,
  start_value     bigint,
  series_timeline integer,
  series_system   bigint,
  former_gap      bigint,
  former_timeline integer,
  server          name,
  remote_name     text,
  owner_role      spanner_internal.allocator_role,
  usage_roles     spanner_internal.allocator_role[],
  PRIMARY KEY (name, series),
  CONSTRAINT allocator_name_check
    CHECK (octet_length(name) BETWEEN 1 AND 128),
  CONSTRAINT allocator_series_check
    CHECK (series = '{}' OR
           array_ndims(series) = 1 AND array_lower(series, 1) = 1 AND
           cardinality(series) <= 32 AND array_position(series, NULL) IS NULL),
  CONSTRAINT allocator_options_check
    CHECK (CASE WHEN series = '{}'
             THEN num_nulls(mode, min_value, max_value, batch_size, max_batch_size,
                            owner_role) = 0
             ELSE num_nonnulls(mode, min_value, max_value, batch_size, max_batch_size,
                               low_water_mark, failover_gap, start_value, series_timeline,
                               series_system, former_gap, former_timeline, server,
                               remote_name, owner_role, usage_roles) = 0
           END),
  CONSTRAINT allocator_mode_check
    CHECK (mode IN ('sync', 'on_commit', 'async', 'batch', 'async_batch', 'remote')),
  CONSTRAINT allocator_server_check
    CHECK ((mode = 'remote') = (server IS NOT NULL)),
  CONSTRAINT allocator_remote_name_check
    CHECK (octet_length(remote_name) BETWEEN 1 AND 128),
  CONSTRAINT allocator_max_value_check
    CHECK (max_value >= min_value AND max_value < 9223372036854775807),
  CONSTRAINT allocator_next_value_check
    CHECK (next_value >= min_value AND (next_value <= max_value OR next_value - 1 = max_value)),
  CONSTRAINT allocator_batch_size_check
    CHECK (batch_size BETWEEN 1 AND 10000000),
  CONSTRAINT allocator_max_batch_size_check
    CHECK (max_batch_size BETWEEN batch_size AND 10000000),
  CONSTRAINT allocator_low_water_mark_check
    CHECK (low_water_mark >= 0),
  CONSTRAINT allocator_failover_gap_check
    CHECK (failover_gap >= 0)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

COMMENT ON TABLE spanner.allocator
  IS 'counters that hand out numbers one by one or in batches';
COMMENT ON COLUMN spanner.allocator.allocator_id
  IS 'what the pools of this database know the row by; another server gives it another one';
COMMENT ON COLUMN spanner.allocator.name
  IS 'name, up to 128 bytes; a series has that of its allocator';
COMMENT ON COLUMN spanner.allocator.mode
  IS 'sync, on_commit, async, batch, async_batch or remote';
COMMENT ON COLUMN spanner.allocator.next_value
  IS 'first number that has not been reserved yet, max_value + 1 if there is none left';
COMMENT ON COLUMN spanner.allocator.min_value
  IS 'lowest number that may be given';
COMMENT ON COLUMN spanner.allocator.max_value
  IS 'highest number that may be given';
COMMENT ON COLUMN spanner.allocator.batch_size
  IS 'how many numbers are reserved at a time, to begin with, 1 to 10000000';
COMMENT ON COLUMN spanner.allocator.max_batch_size
  IS 'how many at most when they are used up fast, up to 10000000; the same as batch_size turns '
     'adaptation off';
COMMENT ON COLUMN spanner.allocator.low_water_mark
  IS 'the next batch is reserved when fewer numbers than this are left, NULL for half a batch';
COMMENT ON COLUMN spanner.allocator.failover_gap
  IS 'how many numbers are left out after a promotion or recovery to a point in time, for each new '
     'timeline; NULL for ten times max_batch_size; never more than a tenth of what is left';
COMMENT ON COLUMN spanner.allocator.timeline
  IS 'timeline of the WAL when the counter was written last; another one is a reason for a gap, '
     'NULL too';
COMMENT ON COLUMN spanner.allocator.system
  IS 'system identifier of that server, which pg_upgrade changes; another one is a reason for a '
     'gap';
COMMENT ON COLUMN spanner.allocator.server
  IS 'foreign server that the numbers come from, in mode remote';
COMMENT ON COLUMN spanner.allocator.remote_name
  IS 'name of the allocator on that server';
COMMENT ON COLUMN spanner.allocator.owner_role
  IS 'role that may alter, drop and use the allocator';
COMMENT ON COLUMN spanner.allocator.usage_roles
  IS 'roles that may use the allocator too, - for everybody, NULL for nobody else';
COMMENT ON COLUMN spanner.allocator.start_value
  IS 'first number of each series, NULL for min_value';
COMMENT ON COLUMN spanner.allocator.series
  IS 'what the series counts for, such as year and tenant; empty for the allocator itself, which '
     'has the options of all of them';
COMMENT ON COLUMN spanner.allocator.series_timeline
  IS 'timeline since which all series are known; a series that begins on another one leaves a gap, '
     'unless advance_allocator() has moved the allocator on it';
COMMENT ON COLUMN spanner.allocator.series_system
  IS 'system identifier of that server';

COMMENT ON COLUMN spanner.allocator.former_gap
  IS 'the gap that a counter leaves which was written before former_timeline, if it is larger';
COMMENT ON COLUMN spanner.allocator.former_timeline
  IS 'timeline on which the gap was made smaller';

COMMENT ON SEQUENCE spanner.allocator_id
  IS 'ids of rows of the table of allocators';

REVOKE ALL ON spanner.allocator FROM PUBLIC;

-- so that whoever may read the tables of a database can dump it, as catalogs
-- can be read by everybody, and its owner can restore a dump
GRANT SELECT ON spanner.allocator TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON spanner.allocator TO pg_database_owner;

SELECT pg_catalog.pg_extension_config_dump('spanner.allocator', '');

-- Has all sessions forget a changed row, and DROP ROLE know of its roles.  Before that, it gives a
-- new row an id and the stamp of this server; what a dump or another server brings moves the row of
-- that key forward, and never back.
CREATE FUNCTION spanner_internal.on_allocator_write()
RETURNS trigger
AS 'MODULE_PATHNAME', 'spanner_on_allocator_write'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- Whoever writes the table fires its triggers, without the right to call them.
REVOKE ALL ON FUNCTION spanner_internal.on_allocator_write() FROM PUBLIC;

CREATE TRIGGER on_allocator_arrival
  BEFORE INSERT OR UPDATE ON spanner.allocator
  FOR EACH ROW EXECUTE FUNCTION spanner_internal.on_allocator_write();

CREATE TRIGGER on_allocator_change
  AFTER INSERT OR UPDATE OR DELETE ON spanner.allocator
  FOR EACH ROW EXECUTE FUNCTION spanner_internal.on_allocator_write();

CREATE TRIGGER on_allocator_truncate
  AFTER TRUNCATE ON spanner.allocator
  FOR EACH STATEMENT EXECUTE FUNCTION spanner_internal.on_allocator_write();

-- Logical replication works in role replica.
ALTER TABLE spanner.allocator
  ENABLE ALWAYS TRIGGER on_allocator_arrival,
  ENABLE ALWAYS TRIGGER on_allocator_change,
  ENABLE ALWAYS TRIGGER on_allocator_truncate;

CREATE FUNCTION spanner.create_allocator(
  name text,
  mode text DEFAULT 'async_batch',
  start_value bigint DEFAULT 1,
  max_value bigint DEFAULT 9223372036854775806,
  batch_size integer DEFAULT 200,
  low_water_mark integer DEFAULT NULL,
  max_batch_size integer DEFAULT NULL,
  failover_gap bigint DEFAULT NULL,
  min_value bigint DEFAULT NULL,
  server name DEFAULT NULL,
  remote_name text DEFAULT NULL,
  if_not_exists boolean DEFAULT false)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_create_allocator'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.create_allocator(text, text, bigint, bigint, integer, integer, integer,
                                             bigint, bigint, name, text, boolean)
  IS 'make an allocator that belongs to the current user, and return its id';

CREATE FUNCTION spanner.alter_allocator(
  name text,
  mode text DEFAULT NULL,
  max_value bigint DEFAULT NULL,
  batch_size integer DEFAULT NULL,
  low_water_mark integer DEFAULT NULL,
  max_batch_size integer DEFAULT NULL,
  failover_gap bigint DEFAULT NULL,
  min_value bigint DEFAULT NULL,
  server name DEFAULT NULL,
  remote_name text DEFAULT NULL,
  owner_role text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_alter_allocator'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.alter_allocator(text, text, bigint, integer, integer, integer, bigint,
                                            bigint, name, text, text)
  IS 'change an allocator; what is NULL stays as it is, -1 makes low_water_mark and failover_gap '
     'automatic';

CREATE FUNCTION spanner.rename_allocator(name text, new_name text)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_rename_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.rename_allocator(text, text)
  IS 'give an allocator another name';

CREATE FUNCTION spanner.drop_allocator(name text, if_exists boolean DEFAULT false)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_drop_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.drop_allocator(text, boolean)
  IS 'drop an allocator, and tell whether there was one';

CREATE FUNCTION spanner.grant_allocator(name text, role text)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_grant_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.grant_allocator(text, text)
  IS 'let the members of one more role, or public, use an allocator';

CREATE FUNCTION spanner.revoke_allocator(name text, role text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_revoke_allocator'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.revoke_allocator(text, text)
  IS 'revoke the right to use an allocator from a role, or from all but its owner';

-- The values of a series are arguments of their own.  A default for VARIADIC
-- would not do: a call that names its arguments finds no function with it.  So
-- these functions have two forms; reset_allocator(), whose "force" is named with
-- a series too, takes an array.
CREATE FUNCTION spanner.advance_allocator(name text, minimum bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_advance_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.advance_allocator(text, bigint)
  IS 'move an allocator forward, so that it gives no number below a minimum; return its next '
     'number';

CREATE FUNCTION spanner.advance_allocator(
  name text, minimum bigint, VARIADIC series text[])
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_advance_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.advance_allocator(text, bigint, text[])
  IS 'move a series of an allocator forward; it begins if it is not there';

CREATE FUNCTION spanner.reset_allocator(
  name text, value bigint, force boolean DEFAULT false, series text[] DEFAULT '{}')
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_reset_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.reset_allocator(text, bigint, boolean, text[])
  IS 'set the next number of an allocator, or of a series of it; giving numbers again needs force';

CREATE FUNCTION spanner.release_allocator(name text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_release_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.release_allocator(text)
  IS 'return numbers of an allocator that are reserved and unused to the table, and tell how many';

CREATE FUNCTION spanner.release_allocator(name text, VARIADIC series text[])
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_release_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.release_allocator(text, text[])
  IS 'return numbers of a series that are reserved and unused to the table, and tell how many';

CREATE FUNCTION spanner.next_value(name text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_next_value'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.next_value(text)
  IS 'take a number from an allocator';

CREATE FUNCTION spanner.next_value(name text, VARIADIC series text[])
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_next_value'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.next_value(text, text[])
  IS 'take a number from a series of an allocator';

CREATE FUNCTION spanner.next_values(name text, count integer)
RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'spanner_next_values'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 200;

COMMENT ON FUNCTION spanner.next_values(text, integer)
  IS 'take several numbers from an allocator';

CREATE FUNCTION spanner.next_values(name text, count integer, VARIADIC series text[])
RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'spanner_next_values'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 200;

COMMENT ON FUNCTION spanner.next_values(text, integer, text[])
  IS 'take several numbers from a series of an allocator';

CREATE FUNCTION spanner.reserve_block(
  name text, count bigint, OUT first_value bigint, OUT last_value bigint)
AS 'MODULE_PATHNAME', 'spanner_reserve_block'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.reserve_block(text, bigint)
  IS 'take numbers without a gap between them from an allocator';

CREATE FUNCTION spanner.reserve_block(
  name text, count bigint, VARIADIC series text[],
  OUT first_value bigint, OUT last_value bigint)
AS 'MODULE_PATHNAME', 'spanner_reserve_block'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.reserve_block(text, bigint, text[])
  IS 'take numbers without a gap between them from a series of an allocator';

CREATE FUNCTION spanner.assign_on_commit()
RETURNS trigger
AS 'MODULE_PATHNAME', 'spanner_assign_on_commit'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.assign_on_commit()
  IS 'deferred constraint trigger (allocator, column, series columns): number new rows when the '
     'transaction commits';

CREATE FUNCTION spanner.number_rows(
  relation regclass,
  column_name name,
  series name[] DEFAULT '{}',
  allocator text DEFAULT NULL,
  dry_run boolean DEFAULT false)
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_number_rows'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.number_rows(regclass, name, name[], text, boolean)
  IS 'have rows of a table numbered without gaps when they are committed, for each value of the '
     'columns "series" from 1: make allocator, unique index and trigger, or only print how';

CREATE FUNCTION spanner.stop_numbering(relation regclass, column_name name)
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_stop_numbering'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.stop_numbering(regclass, name)
  IS 'drop the trigger and the index that number_rows() has made; the allocator stays';

-- Defaults and triggers that name an allocator.
CREATE FUNCTION spanner_internal.users_of_allocator(name text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT format('default of column "%s" of %s', a.attname, d.adrelid::regclass)
    FROM pg_attrdef d
    JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
   WHERE strpos(pg_get_expr(d.adbin, d.adrelid), format('next_value(%L::text', name)) > 0
   UNION ALL
  SELECT format('trigger "%s" on %s', t.tgname, t.tgrelid::regclass)
    FROM pg_trigger t
   WHERE t.tgfoid = 'spanner.assign_on_commit()'::regprocedure
     AND strpos(encode(t.tgargs, 'hex'),
                encode(convert_to(name, getdatabaseencoding()), 'hex') || '00') = 1
   ORDER BY 1;
END;

CREATE FUNCTION spanner.last_assigned(name text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_last_assigned'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.last_assigned(text)
  IS 'the last number that a committed transaction of this session assigned from an allocator, of '
     'any series, else NULL';

CREATE FUNCTION spanner.last_assigned(name text, VARIADIC series text[])
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_last_assigned'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.last_assigned(text, text[])
  IS 'the last number that a committed transaction of this session assigned from a series of an '
     'allocator, else NULL';

-- Pools of reserved numbers in shared memory.
CREATE FUNCTION spanner_internal.list_allocator_pools(
  OUT datid oid, OUT table_oid oid, OUT allocator_id bigint,
  OUT "values" bigint, OUT refills bigint, OUT waits bigint, OUT wait_ms double precision,
  OUT refill_ms_avg double precision, OUT refill_ms_max double precision,
  OUT pool_remaining bigint, OUT batch_now integer, OUT lost_values bigint,
  OUT last_error text, OUT last_refill timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_list_allocator_pools'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 64;

-- Background workers that reserve numbers.
CREATE FUNCTION spanner_internal.list_allocator_workers(
  OUT datid oid, OUT pid integer, OUT state text, OUT started timestamptz,
  OUT idle_since timestamptz, OUT pending integer, OUT blocked_by xid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_list_allocator_workers'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 2;

CREATE VIEW spanner.stat_allocator AS
  SELECT pg_catalog.current_database() AS database,
         a.name,
         o.mode,
         CASE WHEN o.mode NOT IN ('sync', 'on_commit') THEN COALESCE(p."values", 0) END AS "values",
         COALESCE(p.refills, 0) AS refills,
         COALESCE(p.waits, 0) AS waits,
         COALESCE(p.wait_ms, 0) AS wait_ms,
         p.refill_ms_avg,
         p.refill_ms_max,
         COALESCE(p.pool_remaining, 0) AS pool_remaining,
         p.batch_now,
         COALESCE(p.lost_values, 0) AS lost_values,
         p.last_error,
         p.last_refill,
         a.series
    FROM spanner.allocator a
    JOIN spanner.allocator o
      ON o.name OPERATOR(pg_catalog.=) a.name
     AND o.series OPERATOR(pg_catalog.=) '{}'
    LEFT JOIN (SELECT l.*
                 FROM spanner_internal.list_allocator_pools() l
                 JOIN pg_catalog.pg_database d
                   ON d.oid OPERATOR(pg_catalog.=) l.datid
                WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
                  AND l.table_oid OPERATOR(pg_catalog.=) 'spanner.allocator'::pg_catalog.regclass) p
      ON p.allocator_id OPERATOR(pg_catalog.=) a.allocator_id;

COMMENT ON VIEW spanner.stat_allocator
  IS 'allocators of this database and their series, and what was taken from them since the server '
     'started';
COMMENT ON COLUMN spanner.stat_allocator.database
  IS 'the current database';
COMMENT ON COLUMN spanner.stat_allocator.name
  IS 'name of the allocator';
COMMENT ON COLUMN spanner.stat_allocator.mode
  IS 'how numbers are assigned';
COMMENT ON COLUMN spanner.stat_allocator.values
  IS 'numbers taken from the shared pool; NULL in modes sync and on_commit, where a transaction '
     'reserves by itself';
COMMENT ON COLUMN spanner.stat_allocator.refills
  IS 'batches reserved';
COMMENT ON COLUMN spanner.stat_allocator.waits
  IS 'how many times a session had to wait for a batch';
COMMENT ON COLUMN spanner.stat_allocator.wait_ms
  IS 'how long sessions waited for batches, in milliseconds';
COMMENT ON COLUMN spanner.stat_allocator.refill_ms_avg
  IS 'how long it takes to reserve a batch, in milliseconds';
COMMENT ON COLUMN spanner.stat_allocator.refill_ms_max
  IS 'how long it took at most, in milliseconds';
COMMENT ON COLUMN spanner.stat_allocator.pool_remaining
  IS 'numbers that are reserved and not given yet';
COMMENT ON COLUMN spanner.stat_allocator.batch_now
  IS 'how many numbers are reserved at a time at present';
COMMENT ON COLUMN spanner.stat_allocator.lost_values
  IS 'numbers that were reserved and will never be given';
COMMENT ON COLUMN spanner.stat_allocator.last_error
  IS 'why the last batch could not be reserved';
COMMENT ON COLUMN spanner.stat_allocator.last_refill
  IS 'when a batch was reserved last';
COMMENT ON COLUMN spanner.stat_allocator.series
  IS 'what the series counts for, empty for the allocator itself';

CREATE VIEW spanner.stat_allocator_worker AS
  SELECT w.datid, w.pid, w.state, w.started, w.idle_since, w.pending, w.blocked_by
    FROM spanner_internal.list_allocator_workers() w;

COMMENT ON VIEW spanner.stat_allocator_worker
  IS 'background workers that reserve numbers, one or two for each database in use';
COMMENT ON COLUMN spanner.stat_allocator_worker.datid
  IS 'OID of the database';
COMMENT ON COLUMN spanner.stat_allocator_worker.pid
  IS 'process, NULL while it is being started';
COMMENT ON COLUMN spanner.stat_allocator_worker.started
  IS 'when the process was started';
COMMENT ON COLUMN spanner.stat_allocator_worker.idle_since
  IS 'since when it has nothing to do, NULL if it has';
COMMENT ON COLUMN spanner.stat_allocator_worker.state
  IS 'starting, idle, reserving or blocked';
COMMENT ON COLUMN spanner.stat_allocator_worker.pending
  IS 'how many allocators wait for a batch';
COMMENT ON COLUMN spanner.stat_allocator_worker.blocked_by
  IS 'transaction that has locked an allocator which the worker wants to reserve from';

-- How many pools of reserved numbers there are, and are in use.
CREATE FUNCTION spanner_internal.count_allocator_pools(
  OUT size integer, OUT used integer, OUT taken_over bigint, OUT lost_values bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_count_allocator_pools'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1;

CREATE VIEW spanner.stat_allocator_pools AS
  SELECT c.size, c.used, c.taken_over, c.lost_values
    FROM spanner_internal.count_allocator_pools() c;

COMMENT ON VIEW spanner.stat_allocator_pools
  IS 'pools of reserved numbers in the shared memory of the server';
COMMENT ON COLUMN spanner.stat_allocator_pools.size
  IS 'how many there are: spanner_keys.max_allocators when the first one was used';
COMMENT ON COLUMN spanner.stat_allocator_pools.used
  IS 'how many belong to an allocator';
COMMENT ON COLUMN spanner.stat_allocator_pools.taken_over
  IS 'how many were taken from an allocator for another one, since the server started';
COMMENT ON COLUMN spanner.stat_allocator_pools.lost_values
  IS 'numbers that were in them, and will never be given';

GRANT SELECT ON spanner.stat_allocator, spanner.stat_allocator_pools,
  spanner.stat_allocator_worker TO PUBLIC;
