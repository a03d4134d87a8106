-- This way: the same tables and the same bigserial, spread over the key space.
-- psql variables: "schema", and "kind", a kind of sequence.

CREATE SCHEMA :schema;
SET search_path = :schema;
SET spanner.default_sequence_kind = :'kind';

CREATE TABLE useraccesslog (
  shardid integer GENERATED ALWAYS AS (spanner.shard_id(2048, lastaccess)) STORED,
  lastaccess timestamptz NOT NULL,
  userid bigint NOT NULL,
  PRIMARY KEY (shardid, lastaccess, userid)
);

CREATE TABLE orders (
  orderid bigserial PRIMARY KEY,
  ordered timestamptz NOT NULL,
  userid bigint NOT NULL
);
