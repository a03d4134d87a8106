-- Two tables, each split over three servers: one with a plain bigserial, and
-- one with bit-reversed keys.

CREATE EXTENSION spanner_keys;
CREATE TABLE plain (id bigserial, note text) PARTITION BY RANGE (id);
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE reversed (id bigserial, note text) PARTITION BY RANGE (id);

-- The splits of the plain one are the thirds of the values below 2^17.
CREATE VIEW statements AS
  SELECT * FROM spanner.create_splits('reversed', 3, '{server1,server2,server3}')
  UNION ALL
  SELECT * FROM spanner.create_splits('plain', 3, '{server1,server2,server3}', bits => 17);

CREATE FUNCTION run_splits() RETURNS void LANGUAGE sql AS $$
  SELECT spanner.create_splits('reversed', 3, '{server1,server2,server3}', dry_run => false);
  SELECT spanner.create_splits('plain', 3, '{server1,server2,server3}', dry_run => false, bits => 17);
$$;

CREATE VIEW splits (tab, server, rows) AS
  SELECT 'plain', server, rows FROM spanner.split_stats('plain')
  UNION ALL
  SELECT 'reversed', server, rows FROM spanner.split_stats('reversed');

CREATE TABLE earlier (tab text, server name, rows bigint);
