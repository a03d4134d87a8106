-- Stored values are skipped by one mechanism: convert_column, convert_all, sync_sequence
-- and setval; and what has too few values left is refused with what limits it.
SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA st;
SET search_path = st;
CREATE VIEW state AS
  SELECT sequencename, given, counter FROM spanner.sequences WHERE schemaname = 'st' ORDER BY 1;

-- ids that came from Spanner are converted without loss
CREATE TABLE spread (id bigserial PRIMARY KEY);
INSERT INTO spread SELECT spanner.bit_reverse(c, true) FROM generate_series(1, 5000) c;
SELECT spanner.convert_column('spread', 'id');
SELECT * FROM state WHERE sequencename = 'spread_id_seq';
INSERT INTO spread SELECT FROM generate_series(1, 5000);
-- and those that small ones lie beside, under both kinds
CREATE TABLE mixed (id bigserial PRIMARY KEY);
INSERT INTO mixed SELECT FROM generate_series(1, 100);
INSERT INTO mixed SELECT spanner.bit_reverse(c, true) FROM generate_series(1, 3000) c;
SELECT spanner.convert_column('mixed', 'id');
SELECT * FROM state WHERE sequencename = 'mixed_id_seq';
INSERT INTO mixed SELECT FROM generate_series(1, 5000);

-- exhausted at the second row: refused
CREATE TABLE wide (id bigserial PRIMARY KEY);
SELECT setval('wide_id_seq', 8090);
INSERT INTO wide VALUES (9223372036854775807 - (1::bigint << 50));
SELECT spanner.convert_column('wide', 'id');
SELECT spanner.alter_sequence('wide_id_seq', 'bit_reversed_positive');
SELECT spanner.sync_sequence('wide', 'id');
CREATE TABLE full_type (id smallserial PRIMARY KEY);
INSERT INTO full_type SELECT FROM generate_series(1, 32700);
SELECT spanner.convert_column('full_type', 'id');

-- what limits it: MAXVALUE, a skip range, the bits that were asked for
CREATE TABLE old (id serial PRIMARY KEY, n text);
INSERT INTO old (n) SELECT 'r' FROM generate_series(1, 100);
ALTER TABLE old ALTER id TYPE bigint;
ALTER SEQUENCE old_id_seq AS bigint MAXVALUE 101;
SELECT spanner.convert_column('old', 'id');
ALTER SEQUENCE old_id_seq NO MAXVALUE;
SELECT spanner.convert_column('old', 'id', bits => 6);
SELECT spanner.convert_column('old', 'id', 'striped(skip_range_min=1, skip_range_max=9223372036854775806)');
SELECT spanner.convert_column('old', 'id');
INSERT INTO old SELECT FROM generate_series(1, 1000);

-- a shared sequence is converted once
CREATE SCHEMA sh;
CREATE SEQUENCE sh.s;
CREATE TABLE sh.a (id bigint DEFAULT nextval('sh.s'));
CREATE TABLE sh.b (id bigint DEFAULT nextval('sh.s'));
CREATE TABLE sh.c (id bigserial);
SELECT spanner.convert_all('sh');
SELECT spanner.convert_all('sh', dry_run => false);
SELECT spanner.convert_all('sh');

-- setval with a value above all stored ones: the ids will come
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE event_old (id integer PRIMARY KEY);
INSERT INTO event_old VALUES (1), (262144), (524288), (600000);
CREATE TABLE event (id serial PRIMARY KEY);
SELECT setval('event_id_seq', (SELECT max(id) FROM event_old), true);
SELECT * FROM state WHERE sequencename = 'event_id_seq';
INSERT INTO event SELECT FROM generate_series(1, 5000);
INSERT INTO event SELECT * FROM event_old;
SELECT setval('event_id_seq', 700001, false);
SELECT * FROM state WHERE sequencename = 'event_id_seq';
-- not what the sequence has given, nor what is stored
SELECT setval('event_id_seq', currval('event_id_seq'));
SELECT setval('event_id_seq', max(id)) > 0 FROM event;
SELECT * FROM state WHERE sequencename = 'event_id_seq';
-- spread ids of another server cannot be skipped before they are there
CREATE TABLE server_two (id bigserial PRIMARY KEY);
CREATE TABLE server_one AS SELECT spanner.bit_reverse(c, true) AS id FROM generate_series(1, 100) c;
SELECT setval('server_two_id_seq', (SELECT max(id) FROM server_one)) > 0;
INSERT INTO server_two SELECT id FROM server_one;
SELECT spanner.sync_sequence('server_two', 'id');

-- fixtures lock the sequence once: nobody can change it, and setval does not wait
CREATE TABLE fixture (id bigserial PRIMARY KEY);
INSERT INTO fixture VALUES (1), (2), (3);
SELECT setval('fixture_id_seq', max(id)) FROM fixture;
BEGIN;
SELECT setval('fixture_id_seq', max(id)) FROM fixture;
SELECT mode FROM pg_locks WHERE relation = 'fixture_id_seq'::regclass ORDER BY 1;
COMMIT;
SELECT * FROM state WHERE sequencename = 'fixture_id_seq';

SET client_min_messages = warning;
DROP SCHEMA st, sh CASCADE;
