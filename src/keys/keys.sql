/* src/keys/keys.sql */

--
-- Keys: bit reversal, fingerprints, shard ids
--

CREATE FUNCTION spanner.bit_reverse(value bigint, preserve_sign boolean)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_bit_reverse'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

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

-- Planner support for shard_id.
CREATE FUNCTION spanner_internal.shard_id_support(request internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'spanner_shard_id_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

REVOKE ALL ON FUNCTION spanner_internal.shard_id_support(internal) FROM PUBLIC;

CREATE FUNCTION spanner.shard_id(shards integer, VARIADIC keys "any")
RETURNS integer
AS 'MODULE_PATHNAME', 'spanner_shard_id'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT LEAKPROOF PARALLEL SAFE COST 5
SUPPORT spanner_internal.shard_id_support;

COMMENT ON FUNCTION spanner.shard_id(integer, "any")
  IS 'compute the shard, from 0 to shards - 1, that a list of keys belongs to';

-- List the shards in which keys can be; an array means any of its elements.
CREATE FUNCTION spanner_internal.shard_ids(shards integer, VARIADIC keys "any")
RETURNS integer[]
AS 'MODULE_PATHNAME', 'spanner_shard_ids'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

-- List all shards, from 0 to shards - 1.
CREATE FUNCTION spanner_internal.all_shards(shards integer)
RETURNS integer[]
AS 'MODULE_PATHNAME', 'spanner_all_shards'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- List the buckets of date_bin in a range of time, or more than asked for if they are too many.
CREATE FUNCTION spanner_internal.time_buckets(
  stride interval, origin timestamptz, low timestamptz, high timestamptz,
  open_end boolean, most integer)
RETURNS timestamptz[]
AS 'MODULE_PATHNAME', 'spanner_time_buckets'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- List the buckets of date_bin in a range of time, or more than asked for if they are too many.
CREATE FUNCTION spanner_internal.time_buckets(
  stride interval, origin timestamp, low timestamp, high timestamp,
  open_end boolean, most integer)
RETURNS timestamp[]
AS 'MODULE_PATHNAME', 'spanner_time_buckets'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The type that a domain is made of, or the type itself.
-- In PL/pgSQL, which keeps the plan of the query.
CREATE FUNCTION spanner_internal.base_type(type oid)
RETURNS oid
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  base oid := type;
BEGIN
  WHILE base <> 0 LOOP
    type := base;
    base := (SELECT y.typbasetype FROM pg_type y WHERE y.oid = type);
  END LOOP;
  RETURN type;
END
$$;

-- Can spanner.shard_id take a column of this type and collation as the key of a table?
CREATE FUNCTION spanner_internal.is_hashable(type oid, collation_id oid)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_is_hashable'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
