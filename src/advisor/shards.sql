/* src/advisor/shards.sql */

--
-- Advisor: shard keys
--

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
