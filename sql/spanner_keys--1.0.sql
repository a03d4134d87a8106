/* sql/spanner_keys--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION spanner_keys" to load this file. \quit

-- The schema is made here, and so a member of the extension: it cannot hold
-- objects of somebody else, who could have prepared them.
CREATE SCHEMA spanner;
COMMENT ON SCHEMA spanner
  IS 'functions of Cloud Spanner, and what PostgreSQL needs for primary keys without hotspots';
GRANT USAGE ON SCHEMA spanner TO PUBLIC;

--
-- Keys: bit reversal, fingerprints, shard ids
--

CREATE FUNCTION spanner.bit_reverse(value bigint, preserve_sign boolean)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_bit_reverse'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.bit_reverse(bigint, boolean)
  IS 'reverse the bits of a bigint, keeping the sign bit in place if asked';

CREATE FUNCTION spanner.farm_fingerprint(value text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_farm_fingerprint_text'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION spanner.farm_fingerprint(text)
  IS 'FarmHash Fingerprint64 of the UTF-8 bytes of a text';

CREATE FUNCTION spanner.farm_fingerprint(value bytea)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_farm_fingerprint_bytea'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION spanner.farm_fingerprint(bytea)
  IS 'FarmHash Fingerprint64 of a byte string';

CREATE FUNCTION spanner.generate_uuid()
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_generate_uuid'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.generate_uuid()
  IS 'make a random UUID, in lower case with dashes';

CREATE FUNCTION spanner.timestamp_to_string(value timestamptz, time_zone text DEFAULT 'UTC')
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_timestamp_to_string'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.timestamp_to_string(timestamptz, text)
  IS 'write a time as GoogleSQL casts it to a string, whatever the settings of the session';

CREATE FUNCTION spanner.shard_id_support(request internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'spanner_shard_id_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.shard_id_support(internal)
  IS 'planner support for shard_id';

CREATE FUNCTION spanner.shard_id(shards integer, VARIADIC keys "any")
RETURNS integer
AS 'MODULE_PATHNAME', 'spanner_shard_id'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT LEAKPROOF PARALLEL SAFE COST 5
SUPPORT spanner.shard_id_support;

COMMENT ON FUNCTION spanner.shard_id(integer, "any")
  IS 'compute the shard, from 0 to shards - 1, that a list of keys belongs to';

CREATE FUNCTION spanner.shard_ids(shards integer, VARIADIC keys "any")
RETURNS integer[]
AS 'MODULE_PATHNAME', 'spanner_shard_ids'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.shard_ids(integer, "any")
  IS 'list the shards in which keys can be; an array stands for any of its elements';

CREATE FUNCTION spanner.all_shards(shards integer)
RETURNS integer[]
AS 'MODULE_PATHNAME', 'spanner_all_shards'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.all_shards(integer)
  IS 'list all shards, from 0 to shards - 1';

--
-- Sequences: access methods, bindings, event triggers
--

CREATE FUNCTION spanner.sequence_support(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'spanner_sequence_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.sequence_support(internal)
  IS 'planner support function of nextval, currval, lastval and setval';

CREATE FUNCTION spanner.nextval(seq regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_nextval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
SUPPORT spanner.sequence_support;

COMMENT ON FUNCTION spanner.nextval(regclass)
  IS 'draw the next value of a sequence, mapped by its access method';

CREATE FUNCTION spanner.currval(seq regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_currval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.currval(regclass)
  IS 'the value that this session drew last from a sequence';

CREATE FUNCTION spanner.lastval()
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_lastval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.lastval()
  IS 'the value that this session drew last from any sequence';

CREATE FUNCTION spanner.setval(seq regclass, value bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_setval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.setval(regclass, bigint)
  IS 'as setval of PostgreSQL, but leaves sequences with an access method alone';

CREATE FUNCTION spanner.setval(seq regclass, value bigint, is_called boolean)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_setval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.setval(regclass, bigint, boolean)
  IS 'as setval of PostgreSQL, but leaves sequences with an access method alone';

-- What calls of nextval and the like are planned as.  STABLE, so that they do
-- not count as volatile by themselves: what they check or map does.
CREATE FUNCTION spanner.may_call(called regprocedure)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_may_call'
LANGUAGE C STABLE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.may_call(regprocedure)
  IS 'check that the user may call a function';

CREATE FUNCTION spanner.may_draw(seq regclass, called regprocedure)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_may_draw'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.may_draw(regclass, regprocedure)
  IS 'check that the user may draw from a sequence by calling a function';

CREATE FUNCTION spanner.map_counter(counter bigint, seq regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_map_counter'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.map_counter(bigint, regclass)
  IS 'map a counter that was drawn from a sequence to its value';

CREATE FUNCTION spanner.ascending_nextval(seq regclass, rows integer)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_ascending_nextval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.ascending_nextval(regclass, integer)
  IS 'draw the values of that many rows at the first of them, and return them in ascending order';

CREATE FUNCTION spanner.unmap_value(value bigint, seq regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_unmap_value'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.unmap_value(bigint, regclass)
  IS 'the counter that gives a value, NULL if none does';

CREATE FUNCTION spanner.create_sequence(
  name text,
  kind text DEFAULT NULL,
  start_with_counter bigint DEFAULT NULL,
  skip_range_min bigint DEFAULT NULL,
  skip_range_max bigint DEFAULT NULL,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL,
  if_not_exists boolean DEFAULT false)
RETURNS regclass
AS 'MODULE_PATHNAME', 'spanner_create_sequence'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.create_sequence(text, text, bigint, bigint, bigint, integer, integer, boolean)
  IS 'create a sequence with an access method';

CREATE FUNCTION spanner.alter_sequence(
  seq regclass,
  kind text DEFAULT NULL,
  skip_range_min bigint DEFAULT NULL,
  skip_range_max bigint DEFAULT NULL,
  no_skip_range boolean DEFAULT false,
  restart_counter_with bigint DEFAULT NULL,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_alter_sequence'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.alter_sequence(regclass, text, bigint, bigint, boolean, bigint, integer, integer)
  IS 'change the access method of a sequence, its options or its counter; only for the owner';

CREATE FUNCTION spanner.convert_column(
  "table" regclass,
  "column" name,
  kind text DEFAULT NULL,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL)
RETURNS regclass
AS 'MODULE_PATHNAME', 'spanner_convert_column'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.convert_column(regclass, name, text, integer, integer)
  IS 'give the sequence of an existing column an access method that skips what exists; only for the owner of the table';

CREATE FUNCTION spanner.convert_all(
  schema name,
  kind text DEFAULT NULL,
  dry_run boolean DEFAULT true)
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_convert_all'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.convert_all(name, text, boolean)
  IS 'convert every column of a schema that owns an ordinary sequence, or show the statements that would';

CREATE FUNCTION spanner.sync_sequence("table" regclass, "column" name)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_sync_sequence'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.sync_sequence(regclass, name)
  IS 'have the sequence of a column pass over every stored value; only for the owner of the table';

CREATE FUNCTION spanner.execute_ddl(statement text)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_execute_ddl'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.execute_ddl(text)
  IS 'run a statement of Spanner''s DDL for sequences and identity columns';

CREATE FUNCTION spanner.get_internal_sequence_state(sequence_name text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_get_internal_sequence_state'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.get_internal_sequence_state(text)
  IS 'the next counter of a sequence, NULL before the first use';

CREATE FUNCTION spanner.get_table_column_identity_state(table_column text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_get_table_column_identity_state'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.get_table_column_identity_state(text)
  IS 'the next counter of the sequence that a column owns, NULL before the first use';

CREATE FUNCTION spanner.describe_sequence(
  seq regclass,
  OUT kind text,
  OUT bits integer,
  OUT skip_range_min bigint,
  OUT skip_range_max bigint,
  OUT counter bigint,
  OUT used double precision)
AS 'MODULE_PATHNAME', 'spanner_describe_sequence'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.describe_sequence(regclass)
  IS 'access method, options and counter of a sequence';

CREATE FUNCTION spanner.list_sequence_access_methods(
  OUT name text,
  OUT description text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_list_sequence_access_methods'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.list_sequence_access_methods()
  IS 'the sequence access methods that this session knows';

CREATE VIEW spanner.sequence_access_methods AS
  SELECT m.name, m.description
    FROM spanner.list_sequence_access_methods() m;

COMMENT ON VIEW spanner.sequence_access_methods
  IS 'the sequence access methods that this session knows';
COMMENT ON COLUMN spanner.sequence_access_methods.name
  IS 'the kind, as a label names it';
COMMENT ON COLUMN spanner.sequence_access_methods.description
  IS 'what its values look like';

CREATE VIEW spanner.sequences AS
  SELECT n.nspname AS schemaname,
         c.relname AS sequencename,
         d.kind,
         d.bits,
         d.skip_range_min,
         d.skip_range_max,
         s.seqstart AS start_counter,
         d.counter,
         d.used
    FROM pg_catalog.pg_seclabel l
    JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) l.objoid
    JOIN pg_catalog.pg_sequence s ON s.seqrelid OPERATOR(pg_catalog.=) c.oid
    JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
   CROSS JOIN LATERAL spanner.describe_sequence(c.oid) d
   WHERE l.provider OPERATOR(pg_catalog.=) 'spanner_keys'
     AND l.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
     AND NOT pg_catalog.pg_is_other_temp_schema(n.oid);

COMMENT ON VIEW spanner.sequences
  IS 'sequences with an access method, their options and counters';
COMMENT ON COLUMN spanner.sequences.schemaname
  IS 'schema of the sequence';
COMMENT ON COLUMN spanner.sequences.sequencename
  IS 'name of the sequence';
COMMENT ON COLUMN spanner.sequences.kind
  IS 'name of the access method';
COMMENT ON COLUMN spanner.sequences.bits
  IS 'values are between 1 and 2^bits - 2';
COMMENT ON COLUMN spanner.sequences.skip_range_min
  IS 'first value that is passed over';
COMMENT ON COLUMN spanner.sequences.skip_range_max
  IS 'last value that is passed over';
COMMENT ON COLUMN spanner.sequences.start_counter
  IS 'counter that the sequence starts with';
COMMENT ON COLUMN spanner.sequences.counter
  IS 'next counter, NULL before the first use or without the right to see it';
COMMENT ON COLUMN spanner.sequences.used
  IS 'share of the counters that have been drawn, from 0 to 1';

GRANT SELECT ON spanner.sequence_access_methods, spanner.sequences TO PUBLIC;

-- pg_upgrade does not run this script: attached again with the next label.
CREATE FUNCTION spanner.attach_support()
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_attach_support'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.attach_support()
  IS 'have nextval, currval, lastval and setval of PostgreSQL ask our support function; only for superusers';

REVOKE ALL ON FUNCTION spanner.attach_support() FROM PUBLIC;

SELECT spanner.attach_support();

CREATE FUNCTION spanner.on_ddl_command_start()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'spanner_on_ddl_command_start'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.on_ddl_command_start()
  IS 'load the label provider, guard bound sequences and the extension, change columns that ALTER TABLE adds';

CREATE FUNCTION spanner.on_ddl_command_end()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'spanner_on_ddl_command_end'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.on_ddl_command_end()
  IS 'give new sequences the default kind, and identity columns defaults that draw from them';

CREATE EVENT TRIGGER spanner_keys_ddl_command_start
  ON ddl_command_start
  WHEN TAG IN ('SECURITY LABEL', 'ALTER SEQUENCE', 'CREATE SCHEMA',
               'CREATE TABLE', 'ALTER TABLE', 'ALTER FOREIGN TABLE',
               'DROP EXTENSION', 'DROP OWNED')
  EXECUTE FUNCTION spanner.on_ddl_command_start();

ALTER EVENT TRIGGER spanner_keys_ddl_command_start ENABLE ALWAYS;

COMMENT ON EVENT TRIGGER spanner_keys_ddl_command_start
  IS 'loads the provider of security labels, applies spanner.default_sequence_kind to added columns';

CREATE EVENT TRIGGER spanner_keys_ddl_command_end
  ON ddl_command_end
  WHEN TAG IN ('CREATE SEQUENCE', 'CREATE TABLE', 'CREATE FOREIGN TABLE',
               'CREATE SCHEMA', 'ALTER TABLE', 'ALTER FOREIGN TABLE',
               'ALTER SEQUENCE', 'SECURITY LABEL')
  EXECUTE FUNCTION spanner.on_ddl_command_end();

ALTER EVENT TRIGGER spanner_keys_ddl_command_end ENABLE ALWAYS;

COMMENT ON EVENT TRIGGER spanner_keys_ddl_command_end
  IS 'applies spanner.default_sequence_kind';

--
-- Allocators: batches of numbers from a table
--

CREATE TABLE spanner.allocator (
  allocator_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name            text COLLATE "C" NOT NULL UNIQUE
                  CHECK (name <> '' AND octet_length(name) <= 128),
  mode            text NOT NULL DEFAULT 'async_batch'
                  CHECK (mode IN ('sync', 'on_commit', 'async', 'batch', 'async_batch', 'remote')),
  next_value      bigint NOT NULL DEFAULT 1,
  min_value       bigint NOT NULL DEFAULT 1,
  max_value       bigint NOT NULL DEFAULT 9223372036854775806
                  CHECK (max_value < 9223372036854775807),
  batch_size      integer NOT NULL DEFAULT 200
                  CHECK (batch_size BETWEEN 1 AND 10000000),
  max_batch_size  integer NOT NULL DEFAULT 100000
                  CHECK (max_batch_size BETWEEN 1 AND 10000000),
  low_water_mark  integer CHECK (low_water_mark >= 0),
  failover_gap    bigint CHECK (failover_gap >= 0),
  timeline        integer,
  server          name,
  remote_name     text CHECK (octet_length(remote_name) <= 128),
  owner_role      regrole NOT NULL,
  usage_roles     regrole[],
  CHECK (next_value BETWEEN min_value AND max_value + 1),
  CHECK (max_batch_size >= batch_size),
  CHECK ((mode = 'remote') = (server IS NOT NULL))
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

COMMENT ON TABLE spanner.allocator
  IS 'counters of which numbers are handed out one by one or in batches';
COMMENT ON COLUMN spanner.allocator.allocator_id
  IS 'stays the same when the allocator is renamed';
COMMENT ON COLUMN spanner.allocator.name
  IS 'name, unique in the database, up to 128 bytes';
COMMENT ON COLUMN spanner.allocator.mode
  IS 'sync, on_commit, async, batch, async_batch or remote';
COMMENT ON COLUMN spanner.allocator.next_value
  IS 'first number that has not been reserved yet, max_value + 1 if there is none left';
COMMENT ON COLUMN spanner.allocator.min_value
  IS 'lowest number that may be given';
COMMENT ON COLUMN spanner.allocator.max_value
  IS 'highest number that may be given';
COMMENT ON COLUMN spanner.allocator.batch_size
  IS 'how many numbers are reserved at a time, to begin with';
COMMENT ON COLUMN spanner.allocator.max_batch_size
  IS 'how many at most when they are used up fast; the same as batch_size turns adaptation off';
COMMENT ON COLUMN spanner.allocator.low_water_mark
  IS 'the next batch is reserved when fewer numbers than this are left, NULL for half a batch';
COMMENT ON COLUMN spanner.allocator.failover_gap
  IS 'how many numbers are left out after a promotion or recovery to a point in time, NULL for ten times the largest batch; never more than a tenth of what is left';
COMMENT ON COLUMN spanner.allocator.timeline
  IS 'timeline of the WAL when the counter was written last; another one is a reason for a gap';
COMMENT ON COLUMN spanner.allocator.server
  IS 'foreign server that the numbers come from, in mode remote';
COMMENT ON COLUMN spanner.allocator.remote_name
  IS 'name of the allocator on that server';
COMMENT ON COLUMN spanner.allocator.owner_role
  IS 'role that may alter and drop the allocator, and draw from it';
COMMENT ON COLUMN spanner.allocator.usage_roles
  IS 'roles that may draw from the allocator too, - for everybody, NULL for nobody else';

COMMENT ON SEQUENCE spanner.allocator_allocator_id_seq
  IS 'ids of allocators';

REVOKE ALL ON spanner.allocator FROM PUBLIC;

-- so that the owner of the database can restore a dump
GRANT SELECT, INSERT, UPDATE, DELETE ON spanner.allocator TO pg_database_owner;
GRANT SELECT, USAGE, UPDATE ON SEQUENCE spanner.allocator_allocator_id_seq TO pg_database_owner;

SELECT pg_catalog.pg_extension_config_dump('spanner.allocator', '');
SELECT pg_catalog.pg_extension_config_dump('spanner.allocator_allocator_id_seq', '');

CREATE FUNCTION spanner.on_allocator_change()
RETURNS trigger
AS 'MODULE_PATHNAME', 'spanner_on_allocator_change'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.on_allocator_change()
  IS 'make all sessions forget what they know of changed allocators, and DROP ROLE know of their roles';

CREATE FUNCTION spanner.on_allocator_insert()
RETURNS trigger
AS 'MODULE_PATHNAME', 'spanner_on_allocator_insert'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.on_allocator_insert()
  IS 'note that a new allocator knows of all numbers that it has given';

CREATE TRIGGER on_allocator_insert
  BEFORE INSERT ON spanner.allocator
  FOR EACH ROW EXECUTE FUNCTION spanner.on_allocator_insert();

ALTER TABLE spanner.allocator ENABLE ALWAYS TRIGGER on_allocator_insert;

COMMENT ON TRIGGER on_allocator_insert ON spanner.allocator
  IS 'sets the timeline, which a dump has from another server';

CREATE TRIGGER on_allocator_change
  AFTER INSERT OR UPDATE OR DELETE ON spanner.allocator
  FOR EACH ROW EXECUTE FUNCTION spanner.on_allocator_change();

ALTER TABLE spanner.allocator ENABLE ALWAYS TRIGGER on_allocator_change;

COMMENT ON TRIGGER on_allocator_change ON spanner.allocator
  IS 'discards numbers that sessions share when an allocator is changed, and keeps its roles from being dropped';

CREATE TRIGGER on_allocator_truncate
  AFTER TRUNCATE ON spanner.allocator
  FOR EACH STATEMENT EXECUTE FUNCTION spanner.on_allocator_change();

ALTER TABLE spanner.allocator ENABLE ALWAYS TRIGGER on_allocator_truncate;

COMMENT ON TRIGGER on_allocator_truncate ON spanner.allocator
  IS 'discards the numbers of all allocators';

CREATE FUNCTION spanner.on_drop_owned()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'spanner_on_drop_owned'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.on_drop_owned()
  IS 'take the right to draw from allocators away from roles, and keep their own allocators from being lost';

CREATE EVENT TRIGGER spanner_keys_drop_owned
  ON ddl_command_start
  WHEN TAG IN ('DROP OWNED')
  EXECUTE FUNCTION spanner.on_drop_owned();

ALTER EVENT TRIGGER spanner_keys_drop_owned ENABLE ALWAYS;

COMMENT ON EVENT TRIGGER spanner_keys_drop_owned
  IS 'keeps allocators of roles from being lost';

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

COMMENT ON FUNCTION spanner.create_allocator(text, text, bigint, bigint, integer, integer, integer, bigint, bigint, name, text, boolean)
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

COMMENT ON FUNCTION spanner.alter_allocator(text, text, bigint, integer, integer, integer, bigint, bigint, name, text, text)
  IS 'change an allocator; what is NULL stays as it is, -1 makes low_water_mark and failover_gap automatic';

CREATE FUNCTION spanner.rename_allocator(name text, new_name text)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_rename_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.rename_allocator(text, text)
  IS 'give an allocator another name';

CREATE FUNCTION spanner.drop_allocator(name text, missing_ok boolean DEFAULT false)
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
  IS 'let the members of one more role, or public, draw from an allocator';

CREATE FUNCTION spanner.revoke_allocator(name text, role text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_revoke_allocator'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.revoke_allocator(text, text)
  IS 'take the right to draw from an allocator away from a role, without one from all but its owner';

CREATE FUNCTION spanner.advance_allocator(name text, minimum bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_advance_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.advance_allocator(text, bigint)
  IS 'have an allocator give no number below a minimum any more, and return its next value';

CREATE FUNCTION spanner.reset_allocator(name text, value bigint, force boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_reset_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.reset_allocator(text, bigint, boolean)
  IS 'set the next value of an allocator; to give numbers again takes force';

CREATE FUNCTION spanner.release_allocator(name text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_release_allocator'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.release_allocator(text)
  IS 'give numbers that are reserved and unused back to the table, and return how many';

CREATE FUNCTION spanner.next_value(name text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_next_value'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.next_value(text)
  IS 'draw a number from an allocator';

CREATE FUNCTION spanner.allocator_id(name text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_allocator_id'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.allocator_id(text)
  IS 'the id of an allocator, which stays when it is renamed';

CREATE FUNCTION spanner.next_value(allocator_id bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_next_value_by_id'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.next_value(bigint)
  IS 'draw a number from the allocator of an id, whatever its name';

CREATE FUNCTION spanner.next_values(name text, count integer)
RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'spanner_next_values'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 200;

COMMENT ON FUNCTION spanner.next_values(text, integer)
  IS 'draw several numbers from an allocator';

CREATE FUNCTION spanner.reserve_block(name text, count bigint, OUT first_value bigint, OUT last_value bigint)
AS 'MODULE_PATHNAME', 'spanner_reserve_block'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.reserve_block(text, bigint)
  IS 'draw numbers without a gap between them from an allocator';

CREATE FUNCTION spanner.assign_on_commit()
RETURNS trigger
AS 'MODULE_PATHNAME', 'spanner_assign_on_commit'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.assign_on_commit()
  IS 'deferred constraint trigger (allocator, column): number new rows when the transaction commits';

CREATE FUNCTION spanner.last_assigned(name text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_last_assigned'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.last_assigned(text)
  IS 'the last number that a committed transaction of this session assigned from an allocator, else NULL';

CREATE FUNCTION spanner.list_allocator_pools(
  OUT datid oid, OUT table_oid oid, OUT allocator_id bigint,
  OUT "values" bigint, OUT refills bigint, OUT waits bigint, OUT wait_ms double precision,
  OUT refill_ms_avg double precision, OUT refill_ms_max double precision,
  OUT pool_remaining bigint, OUT batch_now integer, OUT lost_values bigint,
  OUT last_error text, OUT last_refill timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_list_allocator_pools'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 64;

COMMENT ON FUNCTION spanner.list_allocator_pools()
  IS 'pools of reserved numbers in shared memory';

CREATE FUNCTION spanner.list_allocator_workers(
  OUT datid oid, OUT pid integer, OUT state text, OUT started timestamptz,
  OUT idle_since timestamptz, OUT pending integer, OUT blocked_by xid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_list_allocator_workers'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 2;

COMMENT ON FUNCTION spanner.list_allocator_workers()
  IS 'background workers that reserve numbers';

CREATE VIEW spanner.stat_allocator AS
  SELECT pg_catalog.current_database() AS database,
         a.name,
         a.mode,
         COALESCE(p."values", 0) AS "values",
         COALESCE(p.refills, 0) AS refills,
         COALESCE(p.waits, 0) AS waits,
         COALESCE(p.wait_ms, 0) AS wait_ms,
         p.refill_ms_avg,
         p.refill_ms_max,
         COALESCE(p.pool_remaining, 0) AS pool_remaining,
         p.batch_now,
         COALESCE(p.lost_values, 0) AS lost_values,
         p.last_error,
         p.last_refill
    FROM spanner.allocator a
    LEFT JOIN (SELECT l.*
                 FROM spanner.list_allocator_pools() l
                 JOIN pg_catalog.pg_database d
                   ON d.oid OPERATOR(pg_catalog.=) l.datid
                WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
                  AND l.table_oid OPERATOR(pg_catalog.=) 'spanner.allocator'::pg_catalog.regclass) p
      ON p.allocator_id OPERATOR(pg_catalog.=) a.allocator_id;

COMMENT ON VIEW spanner.stat_allocator
  IS 'allocators of this database, and what was drawn from them since the server started';
COMMENT ON COLUMN spanner.stat_allocator.database
  IS 'the current database';
COMMENT ON COLUMN spanner.stat_allocator.name
  IS 'name of the allocator';
COMMENT ON COLUMN spanner.stat_allocator.mode
  IS 'how numbers are assigned';
COMMENT ON COLUMN spanner.stat_allocator.values
  IS 'numbers drawn from the shared pool; what a transaction reserves by itself, as in mode sync, does not count';
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
  IS 'numbers that are reserved and not drawn yet';
COMMENT ON COLUMN spanner.stat_allocator.batch_now
  IS 'how many numbers are reserved at a time at present';
COMMENT ON COLUMN spanner.stat_allocator.lost_values
  IS 'numbers that were reserved and will never be given';
COMMENT ON COLUMN spanner.stat_allocator.last_error
  IS 'why the last batch could not be reserved';
COMMENT ON COLUMN spanner.stat_allocator.last_refill
  IS 'when a batch was reserved last';

CREATE VIEW spanner.stat_allocator_worker AS
  SELECT w.datid, w.pid, w.state, w.started, w.idle_since, w.pending, w.blocked_by
    FROM spanner.list_allocator_workers() w;

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

CREATE FUNCTION spanner.count_allocator_pools(
  OUT size integer, OUT used integer, OUT taken_over bigint, OUT lost_values bigint)
AS 'MODULE_PATHNAME', 'spanner_count_allocator_pools'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.count_allocator_pools()
  IS 'how many pools of reserved numbers there are, and are in use';

CREATE VIEW spanner.stat_allocator_pools AS
  SELECT c.size, c.used, c.taken_over, c.lost_values
    FROM spanner.count_allocator_pools() c;

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

--
-- Planner
--

CREATE FUNCTION spanner.read_shard_key(expression pg_node_tree, relation oid,
  OUT column_number smallint, OUT shards integer, OUT keys text[],
  OUT problem text)
AS 'MODULE_PATHNAME', 'spanner_read_shard_key'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.read_shard_key(pg_node_tree, oid)
  IS 'read the call of shard_id in an expression of the catalogs';

CREATE VIEW spanner.shard_keys AS
  WITH functions AS (
    SELECT p.oid
      FROM pg_catalog.pg_proc p
     WHERE p.pronamespace OPERATOR(pg_catalog.=) 'spanner'::pg_catalog.regnamespace
       AND p.proname OPERATOR(pg_catalog.=) ANY ('{shard_id,farm_fingerprint}'::pg_catalog.name[])
  ), uses AS (
    SELECT DISTINCT d.classid, d.objid
      FROM pg_catalog.pg_depend d
      JOIN functions f ON f.oid OPERATOR(pg_catalog.=) d.refobjid
     WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
  ), led AS (
    SELECT DISTINCT i.indrelid,
           pg_catalog.unnest((i.indkey::pg_catalog.int2[])[0:i.indnkeyatts OPERATOR(pg_catalog.-) 1]) AS attnum
      FROM pg_catalog.pg_index i
      JOIN pg_catalog.pg_class ic ON ic.oid OPERATOR(pg_catalog.=) i.indexrelid
      JOIN pg_catalog.pg_am m ON m.oid OPERATOR(pg_catalog.=) ic.relam
     WHERE i.indisvalid
       AND m.amname OPERATOR(pg_catalog.=) 'btree'
  ), keys AS (
    SELECT d.adrelid AS relid, 'generated column' AS declaration,
           a.attname AS name, d.adnum AS attnum, k.shards, k.keys,
           CASE WHEN a.attgenerated OPERATOR(pg_catalog.<>) 's'
                THEN 'the column is not stored' ELSE k.problem END AS problem
      FROM uses u
      JOIN pg_catalog.pg_attrdef d ON d.oid OPERATOR(pg_catalog.=) u.objid
      JOIN pg_catalog.pg_attribute a
        ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid
       AND a.attnum OPERATOR(pg_catalog.=) d.adnum
     CROSS JOIN LATERAL spanner.read_shard_key(d.adbin, d.adrelid) k
     WHERE u.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass
       AND a.attgenerated OPERATOR(pg_catalog.<>) ''
    UNION ALL
    SELECT c.conrelid, 'check constraint', COALESCE(a.attname, c.conname),
           a.attnum, k.shards, k.keys,
           CASE WHEN k.problem IS NOT NULL THEN k.problem
                WHEN a.attnum IS NULL THEN 'the constraint is not a comparison of a column with spanner.shard_id()'
                WHEN NOT a.attnotnull
                  OR EXISTS (SELECT FROM pg_catalog.pg_constraint n
                              WHERE n.conrelid OPERATOR(pg_catalog.=) c.conrelid
                                AND n.contype OPERATOR(pg_catalog.=) 'n'
                                AND n.conkey[1] OPERATOR(pg_catalog.=) a.attnum
                                AND NOT n.convalidated)
                THEN 'the column can be NULL'
                WHEN (pg_catalog.to_jsonb(c) OPERATOR(pg_catalog.->>) 'conenforced')
                     OPERATOR(pg_catalog.=) 'false'
                THEN 'the constraint is not enforced'
                WHEN NOT c.convalidated THEN 'the constraint is not validated'
            END
      FROM uses u
      JOIN pg_catalog.pg_constraint c ON c.oid OPERATOR(pg_catalog.=) u.objid
     CROSS JOIN LATERAL spanner.read_shard_key(c.conbin, c.conrelid) k
      LEFT JOIN pg_catalog.pg_attribute a
        ON a.attrelid OPERATOR(pg_catalog.=) c.conrelid
       AND a.attnum OPERATOR(pg_catalog.=) k.column_number
     WHERE u.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_constraint'::pg_catalog.regclass
       AND c.contype OPERATOR(pg_catalog.=) 'c'
       AND c.conrelid OPERATOR(pg_catalog.<>) 0
    UNION ALL
    SELECT i.indrelid, 'index expression', ic.relname, NULL, k.shards, k.keys,
           CASE WHEN k.problem IS NOT NULL THEN k.problem
                WHEN i.indkey[0] OPERATOR(pg_catalog.<>) 0
                THEN 'the expression is not the first column of the index'
                WHEN NOT i.indisvalid THEN 'the index is not valid'
                WHEN m.amname OPERATOR(pg_catalog.<>) 'btree'
                THEN 'the index is not a B-tree'
            END
      FROM uses u
      JOIN pg_catalog.pg_index i ON i.indexrelid OPERATOR(pg_catalog.=) u.objid
      JOIN pg_catalog.pg_class ic ON ic.oid OPERATOR(pg_catalog.=) i.indexrelid
      JOIN pg_catalog.pg_am m ON m.oid OPERATOR(pg_catalog.=) ic.relam
     CROSS JOIN LATERAL spanner.read_shard_key(i.indexprs, i.indrelid) k
     WHERE u.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
    UNION ALL
    SELECT p.partrelid, 'partition key', NULL, NULL, k.shards, k.keys, k.problem
      FROM pg_catalog.pg_partitioned_table p
     CROSS JOIN LATERAL spanner.read_shard_key(p.partexprs, p.partrelid) k
    UNION ALL
    SELECT a.attrelid, 'plain column', a.attname, a.attnum, NULL, NULL,
           'no CHECK constraint compares the column with spanner.shard_id()'
      FROM pg_catalog.pg_attribute a
     WHERE a.attnum OPERATOR(pg_catalog.>) 0
       AND a.attgenerated OPERATOR(pg_catalog.=) ''
       AND NOT a.attisdropped
       AND a.atttypid OPERATOR(pg_catalog.=) ANY ('{int2,int4,int8}'::pg_catalog.regtype[])
       AND pg_catalog.lower(a.attname) OPERATOR(pg_catalog.~) '^shard_?(id|no|key)?$'
       AND NOT EXISTS (
         SELECT FROM pg_catalog.pg_constraint c
          WHERE c.conrelid OPERATOR(pg_catalog.=) a.attrelid
            AND c.contype OPERATOR(pg_catalog.=) 'c'
            AND a.attnum OPERATOR(pg_catalog.=) ANY (c.conkey)
            AND c.oid OPERATOR(pg_catalog.=) ANY (SELECT u.objid FROM uses u))
  )
  SELECT n.nspname AS schemaname,
         c.relname AS tablename,
         k.declaration,
         k.name,
         k.shards,
         k.keys,
         k.problem IS NULL AND NOT x.unindexed AS usable,
         CASE WHEN k.problem IS NULL AND x.unindexed
              THEN 'no B-tree index has the column'
              ELSE k.problem END AS problem,
         k.declaration OPERATOR(pg_catalog.=) ANY ('{index expression,partition key}')
         OR EXISTS (
           SELECT FROM pg_catalog.pg_statistic_ext e
             JOIN pg_catalog.pg_depend d
               ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass
              AND d.objid OPERATOR(pg_catalog.=) e.oid
             JOIN pg_catalog.pg_proc f ON f.oid OPERATOR(pg_catalog.=) d.refobjid
            WHERE e.stxrelid OPERATOR(pg_catalog.=) k.relid
              AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
              AND f.pronamespace OPERATOR(pg_catalog.=) 'spanner'::pg_catalog.regnamespace
              AND f.proname OPERATOR(pg_catalog.=) 'shard_id') AS loads_library
    FROM keys k
    JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) k.relid
    JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
   CROSS JOIN LATERAL (
     SELECT k.attnum IS NOT NULL AND NOT EXISTS (
       SELECT FROM led l
        WHERE l.indrelid OPERATOR(pg_catalog.=) k.relid
          AND l.attnum OPERATOR(pg_catalog.=) k.attnum) AS unindexed) x
   WHERE pg_catalog.num_nonnulls(k.keys, k.problem) OPERATOR(pg_catalog.>) 0
     AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m,p}'::pg_catalog."char"[])
     AND NOT pg_catalog.pg_is_other_temp_schema(n.oid)
     AND n.nspname OPERATOR(pg_catalog.<>) 'spanner';

COMMENT ON VIEW spanner.shard_keys
  IS 'shard keys that the planner knows of, and what looks like one but is not';
COMMENT ON COLUMN spanner.shard_keys.schemaname
  IS 'schema of the table';
COMMENT ON COLUMN spanner.shard_keys.tablename
  IS 'name of the table';
COMMENT ON COLUMN spanner.shard_keys.shards
  IS 'number of shards';
COMMENT ON COLUMN spanner.shard_keys.declaration
  IS 'what makes it a shard key';
COMMENT ON COLUMN spanner.shard_keys.name
  IS 'the column, or the index';
COMMENT ON COLUMN spanner.shard_keys.keys
  IS 'what the shard id is computed from';
COMMENT ON COLUMN spanner.shard_keys.usable
  IS 'does the planner use it';
COMMENT ON COLUMN spanner.shard_keys.problem
  IS 'why it does not';
COMMENT ON COLUMN spanner.shard_keys.loads_library
  IS 'does the table have sessions load the library in time';

GRANT SELECT ON spanner.shard_keys TO PUBLIC;

-- Advisor: rules about keys and indexes, shard keys
--

CREATE FUNCTION spanner.advise(relation regclass DEFAULT NULL)
RETURNS TABLE (
  severity text,
  rule text,
  relation regclass,
  object text,
  finding text,
  suggestion text)
AS 'MODULE_PATHNAME', 'spanner_advise'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.advise(regclass)
  IS 'hotspots and other faults of a table, or of all tables, with the statements that mend them';

CREATE FUNCTION spanner.list_advisor_rules(
  OUT rule text, OUT severity text, OUT checkable boolean, OUT explanation text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_list_advisor_rules'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 50;

COMMENT ON FUNCTION spanner.list_advisor_rules()
  IS 'the rules of spanner.advise';

CREATE VIEW spanner.advisor_rules AS
  SELECT r.rule, r.severity, r.checkable, r.explanation
    FROM spanner.list_advisor_rules() r;

COMMENT ON VIEW spanner.advisor_rules
  IS 'the rules of spanner.advise, and recommendations that it cannot check';
COMMENT ON COLUMN spanner.advisor_rules.rule
  IS 'name of the rule, for spanner.silence_rule()';
COMMENT ON COLUMN spanner.advisor_rules.explanation
  IS 'what the rule looks for, and why';
COMMENT ON COLUMN spanner.advisor_rules.severity
  IS 'warning: inserts meet in one place; notice: if they are many; info: measured, with more than one explanation';
COMMENT ON COLUMN spanner.advisor_rules.checkable
  IS 'false for a recommendation that the catalogs and statistics cannot tell about';

GRANT SELECT ON spanner.advisor_rules TO PUBLIC;

CREATE FUNCTION spanner.silence_rule(object regclass, rule text, "column" name DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_silence_rule'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.silence_rule(regclass, text, name)
  IS 'have spanner.advise keep quiet about a rule on a table, index or column; only for the owner';

CREATE FUNCTION spanner.unsilence_rule(object regclass, rule text, "column" name DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_unsilence_rule'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.unsilence_rule(regclass, text, name)
  IS 'undo spanner.silence_rule, and tell whether there was something to undo';

CREATE FUNCTION spanner.add_shard_key(
  relation regclass,
  keys name[] DEFAULT NULL,
  shards integer DEFAULT 16,
  column_name name DEFAULT 'shard_id',
  dry_run boolean DEFAULT true,
  time_bucket interval DEFAULT NULL)
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_add_shard_key'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.add_shard_key(regclass, name[], integer, name, boolean, interval)
  IS 'put a generated shard column in front of the primary key, or show the statements that would';

CREATE FUNCTION spanner.suggest_shards(
  writes_per_second double precision,
  reads_per_second double precision DEFAULT 0,
  nodes integer DEFAULT 1,
  rows_per_read double precision DEFAULT 100,
  writes_per_shard double precision DEFAULT 1000)
RETURNS TABLE (
  shards integer,
  writes_per_shard double precision,
  busiest_node double precision,
  read_microseconds double precision,
  read_cores double precision,
  suggested boolean,
  reasoning text)
AS 'MODULE_PATHNAME', 'spanner_suggest_shards'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 10;

COMMENT ON FUNCTION spanner.suggest_shards(double precision, double precision, integer, double precision, double precision)
  IS 'numbers of shards for a load, with what each costs writers and readers';

-- Advisor: pictures of key space, and tables that are split in it
--

CREATE FUNCTION spanner.key_histogram(
  relation regclass,
  buckets integer DEFAULT 32,
  column_name name DEFAULT NULL,
  sample_rows integer DEFAULT 30000,
  OUT bucket integer,
  OUT key_from text,
  OUT key_to text,
  OUT rows bigint,
  OUT share double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_key_histogram'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.key_histogram(regclass, integer, name, integer)
  IS 'rows in each of equal parts of key space, estimated from a sample of so many rows unless the table has fewer';

CREATE FUNCTION spanner.key_heatmap(
  relation regclass,
  time_buckets integer DEFAULT 40,
  key_buckets integer DEFAULT 20,
  column_name name DEFAULT NULL,
  order_by name DEFAULT NULL,
  sample_rows integer DEFAULT 30000,
  OUT time_bucket integer,
  OUT time_from text,
  OUT key_bucket integer,
  OUT key_from text,
  OUT key_to text,
  OUT rows bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_key_heatmap'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.key_heatmap(regclass, integer, integer, name, name, integer)
  IS 'rows by key range and order of insertion, estimated from a sample of so many rows unless the table has fewer';

CREATE FUNCTION spanner.key_heatmap_text(
  relation regclass,
  time_buckets integer DEFAULT 40,
  key_buckets integer DEFAULT 20,
  column_name name DEFAULT NULL,
  order_by name DEFAULT NULL,
  sample_rows integer DEFAULT 30000)
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_key_heatmap_text'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.key_heatmap_text(regclass, integer, integer, name, name, integer)
  IS 'picture of spanner.key_heatmap for a terminal: a diagonal is a hotspot, an even field is none';

CREATE FUNCTION spanner.key_heatmap_html(
  relation regclass,
  time_buckets integer DEFAULT 40,
  key_buckets integer DEFAULT 20,
  column_name name DEFAULT NULL,
  order_by name DEFAULT NULL,
  sample_rows integer DEFAULT 30000)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_key_heatmap_html'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.key_heatmap_html(regclass, integer, integer, name, name, integer)
  IS 'the same picture as an HTML page that needs no other file';

CREATE FUNCTION spanner.split_points(
  n integer,
  bits integer DEFAULT 63,
  stripes integer DEFAULT NULL)
RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'spanner_split_points'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.split_points(integer, integer, integer)
  IS 'the bounds between n equal ranges of bit-reversed or striped keys';

CREATE FUNCTION spanner.create_splits(
  relation regclass,
  splits integer,
  servers name[] DEFAULT NULL,
  dry_run boolean DEFAULT true,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL,
  shards integer DEFAULT NULL,
  OUT server name,
  OUT statement text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_create_splits'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.create_splits(regclass, integer, name[], boolean, integer, integer, integer)
  IS 'make partitions for equal ranges of an evenly spread key, here or on other servers, or show the statements that do';

CREATE FUNCTION spanner.split_stats(
  relation regclass,
  exact boolean DEFAULT false,
  OUT split integer,
  OUT partition regclass,
  OUT server name,
  OUT range text,
  OUT rows bigint,
  OUT counted boolean,
  OUT size bigint,
  OUT inserts bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_split_stats'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.split_stats(regclass, boolean)
  IS 'server, range, rows (counted or estimated), size in bytes and inserts of each partition';
