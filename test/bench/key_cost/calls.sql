-- psql variables: "calls" in each round, "rounds".

CREATE TABLE input AS
  SELECT i::bigint AS number,
         'user' || i || '@example.com' AS text,
         timestamptz '2026-01-01 00:00+00' + i * interval '1234567 microseconds' AS time
    FROM generate_series(1, :calls) i;
VACUUM ANALYZE input;

CREATE SEQUENCE core1;
CREATE SEQUENCE core32 CACHE 32;
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE SEQUENCE reversed1;
CREATE SEQUENCE reversed32 CACHE 32;
SET spanner.default_sequence_kind = 'striped';
CREATE SEQUENCE striped1;
CREATE SEQUENCE striped32 CACHE 32;

INSERT INTO call_costs (section, name, expression, baseline) VALUES
  ('baseline', 'number', 'number', NULL),
  ('baseline', 'text', 'text', NULL),
  ('baseline', 'time', 'time', NULL),
  ('CACHE 1', 'core `nextval`', $$nextval('core1')$$, 'number'),
  ('CACHE 1', '`spanner.nextval`, not bound', $$spanner.nextval('core1')$$, 'number'),
  ('CACHE 1', '`spanner.nextval`, bit_reversed_positive', $$spanner.nextval('reversed1')$$, 'number'),
  ('CACHE 1', '`spanner.nextval`, striped', $$spanner.nextval('striped1')$$, 'number'),
  ('CACHE 32', 'core `nextval`', $$nextval('core32')$$, 'number'),
  ('CACHE 32', '`spanner.nextval`, not bound', $$spanner.nextval('core32')$$, 'number'),
  ('CACHE 32', '`spanner.nextval`, bit_reversed_positive', $$spanner.nextval('reversed32')$$, 'number'),
  ('CACHE 32', '`spanner.nextval`, striped', $$spanner.nextval('striped32')$$, 'number'),
  ('function', '`hashint8extended(bigint, 0)`', 'hashint8extended(number, 0)', 'number'),
  ('function', '`spanner.bit_reverse(bigint, true)`', 'spanner.bit_reverse(number, true)', 'number'),
  ('function', '`spanner.shard_id(64, bigint)`', 'spanner.shard_id(64, number)', 'number'),
  ('function', '`hashtextextended(text, 0)`', 'hashtextextended(text, 0)', 'text'),
  ('function', '`md5(text)`', 'md5(text)', 'text'),
  ('function', '`spanner.farm_fingerprint(text)`', 'spanner.farm_fingerprint(text)', 'text'),
  ('function', '`spanner.shard_id(2048, timestamptz)`', 'spanner.shard_id(2048, time)', 'time');

CALL measure_calls(:rounds);
