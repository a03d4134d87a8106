-- The tables, as the server that takes the statements knows them: one in this
-- server, one with all its rows in the first of the others, two over all.

CREATE EXTENSION spanner_keys_splits;
CREATE TABLE local (id bigserial PRIMARY KEY, note text);
CREATE TABLE one_server (id bigserial, note text) PARTITION BY RANGE (id);
CREATE TABLE bigserial (id bigserial, note text) PARTITION BY RANGE (id);
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE bit_reversed_positive (id bigserial, note text) PARTITION BY RANGE (id);

CREATE VIEW statements AS
  SELECT * FROM spanner.create_splits('one_server', 3, '{server1,server1,server1}', bits => 63)
  UNION ALL
  SELECT * FROM spanner.create_splits('bigserial', 3, '{server1,server2,server3}', bits => 63)
  UNION ALL
  SELECT * FROM spanner.create_splits('bit_reversed_positive', 3, '{server1,server2,server3}');

CREATE FUNCTION run_splits() RETURNS void LANGUAGE sql AS $$
  SELECT spanner.create_splits('one_server', 3, '{server1,server1,server1}', dry_run => false, bits => 63);
  SELECT spanner.create_splits('bigserial', 3, '{server1,server2,server3}', dry_run => false, bits => 63);
  SELECT spanner.create_splits('bit_reversed_positive', 3, '{server1,server2,server3}', dry_run => false);
$$;
