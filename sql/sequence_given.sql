-- What a sequence has given never comes again, whoever moves START, changes the label
-- or the kind; the user's skip range is another range.
SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA g;
SET search_path = g;
CREATE VIEW labels AS
  SELECT relname, label
    FROM pg_class JOIN pg_seclabel ON objoid = oid AND provider = 'spanner_keys'
   WHERE relnamespace = 'g'::regnamespace ORDER BY relname;

-- START says nothing of a plain counter, whether a function or a label gives the kind
CREATE TABLE moved (id bigserial PRIMARY KEY);
INSERT INTO moved SELECT FROM generate_series(1, 999);
ALTER SEQUENCE moved_id_seq START 1000 RESTART;
BEGIN;
SECURITY LABEL FOR spanner_keys ON SEQUENCE moved_id_seq IS 'striped';
ROLLBACK;
BEGIN;
SECURITY LABEL FOR spanner_keys ON SEQUENCE moved_id_seq IS 'striped(given=1..998)';
ROLLBACK;
BEGIN;
SECURITY LABEL FOR spanner_keys ON SEQUENCE moved_id_seq IS 'striped(given=1..999)';
INSERT INTO moved SELECT FROM generate_series(1, 1000);
ROLLBACK;
SELECT spanner.alter_sequence('moved_id_seq', 'striped');
INSERT INTO moved SELECT FROM generate_series(1, 1000);
ALTER SEQUENCE moved_id_seq MINVALUE 1 START 5000 RESTART;
SELECT spanner.alter_sequence('moved_id_seq', 'bit_reversed_positive');

-- nor of one with a kind
CREATE SEQUENCE small AS smallint;
SELECT spanner.alter_sequence('small', 'striped');
SELECT count(nextval('small')) FROM generate_series(1, 200);
ALTER SEQUENCE small START 201 RESTART;
SELECT spanner.alter_sequence('small', 'bit_reversed_positive');
SELECT spanner.alter_sequence('small', bits => 14);

-- only the command that makes a sequence knows that it has given nothing
SELECT spanner.create_sequence('created', 'striped', start_with_counter => 1000);
SET spanner.default_sequence_kind = 'striped';
CREATE SEQUENCE started START 1000;
RESET spanner.default_sequence_kind;
CREATE SEQUENCE plain START 1000;
SELECT spanner.alter_sequence('plain', 'striped');
SELECT * FROM labels WHERE relname IN ('created', 'started', 'plain');
SELECT spanner.get_internal_sequence_state('plain') AS not_used;
-- until its first use the kind can be changed
SELECT spanner.alter_sequence('started', 'bit_reversed_positive');
SELECT spanner.alter_sequence('started', bits => 31);
SELECT nextval('started') > 0;
SELECT spanner.alter_sequence('started', bits => 63);
SELECT * FROM labels WHERE relname = 'started';

-- a conversion, local and back, after the rows are gone
CREATE TABLE again (id bigserial PRIMARY KEY, v int);
CREATE TABLE before (id bigint);
INSERT INTO again (v) SELECT generate_series(1, 1000);
INSERT INTO before SELECT id FROM again;
SELECT spanner.convert_column('again', 'id', 'striped');
INSERT INTO again (v) VALUES (1001);
INSERT INTO before SELECT id FROM again WHERE v = 1001;
SET client_min_messages = error;
SELECT spanner.alter_sequence('again_id_seq', 'local');
RESET client_min_messages;
SELECT * FROM labels WHERE relname = 'again_id_seq';
DELETE FROM again;
INSERT INTO again (v) VALUES (1002) RETURNING id;
-- another kind could repeat what the one before has given, the same one cannot
SELECT spanner.alter_sequence('again_id_seq', 'bit_reversed_positive');
SELECT spanner.convert_column('again', 'id');
SECURITY LABEL FOR spanner_keys ON SEQUENCE again_id_seq IS 'bit_reversed_positive';
SECURITY LABEL FOR spanner_keys ON SEQUENCE again_id_seq IS 'local';
SELECT spanner.convert_column('again', 'id', 'striped');
SELECT * FROM labels WHERE relname = 'again_id_seq';
INSERT INTO again (v) SELECT generate_series(1, 3000);
SELECT count(*) FROM again JOIN before USING (id);
SELECT spanner.alter_sequence('again_id_seq', 'bit_reversed_positive');

-- nor is it forgotten where a label takes the kind away
SET client_min_messages = error;
SECURITY LABEL FOR spanner_keys ON SEQUENCE again_id_seq IS NULL;
RESET client_min_messages;
SELECT * FROM labels WHERE relname = 'again_id_seq';
SELECT spanner.alter_sequence('again_id_seq', 'bit_reversed_positive');
SELECT spanner.alter_sequence('again_id_seq', 'striped');

-- a few bits leave room for another kind; what is far ahead is remembered, too
CREATE SEQUENCE few;
SELECT spanner.alter_sequence('few', 'striped(bits=15)');
SELECT count(nextval('few')) FROM generate_series(1, 100);
SET client_min_messages = error;
SELECT spanner.alter_sequence('few', 'local');
RESET client_min_messages;
SELECT spanner.alter_sequence('few', 'bit_reversed_positive');
SELECT spanner.create_sequence('far', 'striped(given=9000000000000000000..9000000000000001000)');
SELECT spanner.alter_sequence('far', 'local');
SELECT nextval('far');
SELECT * FROM labels WHERE relname IN ('few', 'far');
SELECT count(*) FROM spanner.sequences WHERE sequencename = 'far';
ALTER SEQUENCE far CYCLE;
ALTER SEQUENCE far NO CYCLE;
SELECT spanner.alter_sequence('far', 'striped');

-- a label of the same kind, and the user's own skip range
CREATE TABLE kept (id bigserial PRIMARY KEY, v int);
INSERT INTO kept (v) SELECT generate_series(1, 1000);
SELECT spanner.convert_column('kept', 'id', 'striped');
SECURITY LABEL FOR spanner_keys ON SEQUENCE kept_id_seq IS 'striped';
INSERT INTO kept (v) VALUES (1);
SECURITY LABEL FOR spanner_keys ON SEQUENCE kept_id_seq IS 'striped';
SECURITY LABEL FOR spanner_keys ON SEQUENCE kept_id_seq IS 'striped(skip_range_min=1, skip_range_max=1000)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE kept_id_seq IS 'striped(given=1..1000)';
-- nor does it say that the kind has given nothing
ALTER SEQUENCE kept_id_seq RESTART 2000;
SECURITY LABEL FOR spanner_keys ON SEQUENCE kept_id_seq IS 'striped(given=1..1000, since=2000)';
SELECT spanner.alter_sequence('kept_id_seq', 'bit_reversed_positive(bits=63)');
SELECT spanner.alter_sequence('kept_id_seq', skip_range_min => 5000, skip_range_max => 6000);
SELECT kind, skip_range_min, skip_range_max, given FROM spanner.sequences WHERE sequencename = 'kept_id_seq';
INSERT INTO kept (v) SELECT generate_series(1, 1000);
SELECT spanner.alter_sequence('kept_id_seq', no_skip_range => true);
SELECT spanner.alter_sequence('kept_id_seq', restart_counter_with => 1, kind => 'striped');
SELECT * FROM labels WHERE relname = 'kept_id_seq';

-- a restore brings labels as they are
SET check_function_bodies = off;
SECURITY LABEL FOR spanner_keys ON SEQUENCE kept_id_seq IS 'striped(bits=63, given=5..6)';
CREATE SEQUENCE restored CYCLE;
SECURITY LABEL FOR spanner_keys ON SEQUENCE restored IS 'local(former=striped, bits=63, given=1..50)';
RESET check_function_bodies;
SELECT nextval('restored');
ALTER SEQUENCE restored NO CYCLE;
SELECT spanner.alter_sequence('restored', 'bit_reversed_positive');
SELECT spanner.alter_sequence('restored', 'striped');
SELECT * FROM labels WHERE relname IN ('kept_id_seq', 'restored');

-- what cannot be read
SELECT spanner.create_sequence('x', 'striped(given=5)');
SELECT spanner.create_sequence('x', 'striped(given=5..4)');
SELECT spanner.create_sequence('x', 'striped(given=0..4)');
SELECT spanner.create_sequence('x', 'striped(given=1..many)');
SELECT spanner.create_sequence('x', 'striped(given=1..2..3)');

-- a counter that went back and has come again to where the kind began has given values
SELECT spanner.create_sequence('came_back', 'striped', bits => 12, start_with_counter => 1000);
CREATE TABLE given_again AS SELECT nextval('came_back') AS v FROM generate_series(1, 10);
ALTER SEQUENCE came_back RESTART WITH 1;
INSERT INTO given_again SELECT nextval('came_back') FROM generate_series(1, 999);
SELECT spanner.alter_sequence('came_back', 'bit_reversed_positive(bits=12)');
SELECT spanner.alter_sequence('came_back', 'local');
SELECT * FROM labels WHERE relname = 'came_back';
CREATE TABLE emptied (id bigserial PRIMARY KEY, v int);
INSERT INTO emptied (v) SELECT generate_series(1, 300);
SELECT spanner.convert_column('emptied', 'id', 'striped', bits => 14);
TRUNCATE emptied RESTART IDENTITY;
DO $$ BEGIN
  WHILE (SELECT last_value FROM g.emptied_id_seq) < 300 LOOP INSERT INTO g.emptied (v) VALUES (1); END LOOP;
END $$;
SECURITY LABEL FOR spanner_keys ON SEQUENCE emptied_id_seq IS 'bit_reversed_positive(bits=14, given=1..300)';
SELECT spanner.alter_sequence('emptied_id_seq', 'bit_reversed_positive(bits=14)');

-- a kind that has given nothing leaves nothing behind
CREATE TABLE changed (id bigserial PRIMARY KEY, v int);
INSERT INTO changed (v) SELECT generate_series(1, 10);
SELECT spanner.convert_column('changed', 'id', 'striped');
SELECT spanner.alter_sequence('changed_id_seq', 'bit_reversed_positive');
SELECT last_value, is_called FROM changed_id_seq;
SELECT * FROM labels WHERE relname = 'changed_id_seq';

-- an event trigger that comes before ours labels another sequence
CREATE TABLE outer_one (id bigserial, v int);
CREATE TABLE inner_one (id bigserial, v int);
INSERT INTO outer_one (v) SELECT generate_series(1, 10);
INSERT INTO inner_one (v) SELECT generate_series(1, 20);
SELECT spanner.convert_column('outer_one', 'id', 'striped');
SELECT spanner.convert_column('inner_one', 'id', 'striped');
INSERT INTO outer_one (v) VALUES (11);
INSERT INTO inner_one (v) VALUES (21);
CREATE FUNCTION label_inner() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_seclabel WHERE objoid = 'g.inner_one_id_seq'::regclass AND label ~ '^striped') THEN
    SECURITY LABEL FOR spanner_keys ON SEQUENCE g.inner_one_id_seq IS NULL;
  END IF;
END $$;
CREATE EVENT TRIGGER "!" ON ddl_command_end WHEN TAG IN ('SECURITY LABEL') EXECUTE FUNCTION label_inner();
SECURITY LABEL FOR spanner_keys ON SEQUENCE outer_one_id_seq IS NULL;
SELECT relname, label FROM labels WHERE relname IN ('outer_one_id_seq', 'inner_one_id_seq') ORDER BY 1;
DROP EVENT TRIGGER "!";
SELECT count(*) FROM pg_seclabel WHERE provider <> 'spanner_keys';

-- an event trigger that comes before ours fills a new table with plain counters
CREATE FUNCTION seed() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO g.seeded (v) VALUES (0), (0);
END $$;
CREATE EVENT TRIGGER "!" ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION seed();
SET spanner.default_sequence_kind = 'striped';
CREATE TABLE seeded (id bigserial PRIMARY KEY, v int);
RESET spanner.default_sequence_kind;
DROP EVENT TRIGGER "!";
SELECT * FROM labels WHERE relname = 'seeded_id_seq';
INSERT INTO seeded (v) SELECT generate_series(1, 200);
SELECT count(*), count(*) FILTER (WHERE id < 1000) AS plain FROM seeded;

-- a conversion while a statement of the session writes the table, as ALTER TABLE
CREATE TABLE running (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, v int);
CREATE FUNCTION convert_running() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.v = 5 THEN
    PERFORM spanner.convert_column('g.running', 'id', 'striped');
  ELSIF NEW.v = 6 THEN
    SECURITY LABEL FOR spanner_keys ON SEQUENCE g.running_id_seq IS 'striped';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER convert BEFORE INSERT ON running FOR EACH ROW EXECUTE FUNCTION convert_running();
\set SHOW_CONTEXT never
INSERT INTO running (v) SELECT generate_series(1, 20);
INSERT INTO running (v) SELECT generate_series(6, 20);
\set SHOW_CONTEXT errors
INSERT INTO running (v) VALUES (1) RETURNING id < 100 AS plain;

SET client_min_messages = warning;
DROP SCHEMA g CASCADE;
