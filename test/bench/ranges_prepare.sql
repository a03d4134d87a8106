-- Keys as bigints of a certain width in bits.

SET client_min_messages = warning;
CREATE SEQUENCE plain;
CREATE SEQUENCE shard;
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE SEQUENCE reversed;
SET spanner.default_sequence_kind = 'striped(stripes=64)';
CREATE SEQUENCE striped64;
SET spanner.default_sequence_kind = 'striped(stripes=1024)';
CREATE SEQUENCE striped1024;

-- A shard key is the shard, of 1024, and then what ascends.
CREATE TABLE key_kind (name text, width integer, expression text);
INSERT INTO key_kind VALUES
  ('bigserial', 63, $$nextval('plain')$$),
  ('uuid', 60, $$('x' || left(replace(gen_random_uuid()::text, '-', ''), 12))::bit(48)::bigint << 12$$),
  ('hash shard', 50, $$(SELECT (spanner.shard_id(1024, v)::bigint << 40) + v FROM (SELECT nextval('shard') + 0 * i) s(v))$$),
  ('bit_reversed_positive', 63, $$spanner.nextval('reversed')$$),
  ('striped(64)', 63, $$spanner.nextval('striped64')$$),
  ('striped(1024)', 63, $$spanner.nextval('striped1024')$$);
CREATE TABLE key (value bigint, next boolean);
