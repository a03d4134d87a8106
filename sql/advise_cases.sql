-- The advisor: cases of other people's schemas and documents.

CREATE SCHEMA adcase;
SET search_path = adcase;
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE FUNCTION advice(target text)
RETURNS TABLE (rule text, relation regclass, object text, finding text, suggestion text) LANGUAGE sql AS $$
  SELECT rule, relation, object, finding, suggestion FROM spanner.advise(target => target) a
   WHERE relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'adcase'::regnamespace)
$$;

-- a table of types, or of few rows, is no parent
CREATE TABLE alert_type (id int PRIMARY KEY, name text);
CREATE TABLE place (id int PRIMARY KEY, name text);
CREATE TABLE copy (id bigint PRIMARY KEY);
CREATE TABLE copy_alert (id uuid PRIMARY KEY, alert_type int NOT NULL REFERENCES alert_type ON DELETE CASCADE,
                         copy bigint NOT NULL REFERENCES copy ON DELETE CASCADE);
CREATE TABLE visit (id uuid PRIMARY KEY, place int NOT NULL REFERENCES place ON DELETE CASCADE);
CREATE TABLE loan (id uuid PRIMARY KEY, copy bigint NOT NULL REFERENCES copy ON DELETE CASCADE);
INSERT INTO place SELECT generate_series(1, 5);
INSERT INTO copy SELECT hashint8(g) FROM generate_series(1, 200) g;
INSERT INTO visit SELECT gen_random_uuid(), 1 + g % 5 FROM generate_series(1, 1000) g;
INSERT INTO loan SELECT gen_random_uuid(), id FROM copy, generate_series(1, 5);
ANALYZE place, copy, visit, loan;
SELECT rule, relation, object, suggestion FROM advice('splits');
SELECT suggestion FROM advice('splits') WHERE suggestion IS NOT NULL \gexec
SELECT rule, relation, object, suggestion FROM advice('splits');
DROP TABLE alert_type, place, copy, copy_alert, visit, loan;

-- times as numbers, by their names; a default that is a constant; a list of migrations
CREATE TABLE event (id uuid PRIMARY KEY, received_ts bigint, stream_ordering bigint, duration_ms bigint, expires_ts bigint,
                    sent_at_ms bigint DEFAULT 0, last_heartbeat timestamp NOT NULL DEFAULT '1970-01-01 00:00:01');
CREATE INDEX event_received ON event (received_ts);
CREATE INDEX event_stream ON event (stream_ordering, id);
CREATE INDEX event_duration ON event (duration_ms);
CREATE INDEX event_expires ON event (expires_ts);
CREATE INDEX event_sent ON event (sent_at_ms);
CREATE INDEX event_heartbeat ON event (last_heartbeat);
CREATE TABLE schema_migrations (version text PRIMARY KEY);
CREATE TABLE releases (version text PRIMARY KEY);
INSERT INTO schema_migrations SELECT 'v' || g FROM generate_series(1000, 2000) g;
INSERT INTO releases TABLE schema_migrations;
ANALYZE schema_migrations, releases;
SELECT rule, relation, object, suggestion FROM advice('splits');
SELECT suggestion FROM advice('splits') WHERE suggestion IS NOT NULL \gexec
SELECT rule, relation, object, suggestion FROM advice('splits');
DROP TABLE event, schema_migrations, releases;

-- an index of several columns that is mostly NULL; a unique one
CREATE TABLE mailbox (userid bigint, msgid uuid, is_unread boolean, note int, other int, PRIMARY KEY (userid, msgid));
CREATE INDEX mailbox_unread ON mailbox (userid, is_unread);
CREATE INDEX mailbox_note ON mailbox (note, is_unread);
CREATE UNIQUE INDEX mailbox_other ON mailbox (other);
CREATE UNIQUE INDEX mailbox_strict ON mailbox (msgid, other) NULLS NOT DISTINCT;
INSERT INTO mailbox SELECT hashint8(g), gen_random_uuid(), CASE WHEN g % 20 = 0 THEN true END, hashint4(g), CASE WHEN g % 10 = 0 THEN hashint4(g) END
  FROM generate_series(1, 2000) g;
ANALYZE mailbox;
SELECT object, regexp_replace(finding, '^\d+', 'N') AS finding, suggestion FROM advice('one_server');
SELECT suggestion FROM advice('one_server') WHERE suggestion IS NOT NULL \gexec
SELECT object FROM advice('one_server');
DROP TABLE mailbox;

-- keys of more than 16 columns, for Spanner
SELECT format('CREATE TABLE %s (%s, PRIMARY KEY (%s))', t, string_agg(format('c%s text', g), ', '), string_agg('c' || g, ', '))
  FROM (VALUES ('sixteen', 16), ('seventeen', 17)) v (t, n), generate_series(1, n) g GROUP BY t ORDER BY t
\gexec
SELECT * FROM advice('spanner');
SELECT * FROM advice('splits');
DROP TABLE sixteen, seventeen;

-- timeuuid: version 1 is not sorted by time
CREATE TABLE joined (g text, at uuid, username text, PRIMARY KEY (g, at));
CREATE TABLE later (g text, at uuid, PRIMARY KEY (g, at));
INSERT INTO joined SELECT 'g' || g % 100, (lpad(to_hex(g * 10000), 8, '0') || '-eaa2-11de-a572-001b779c76e3')::uuid
  FROM generate_series(1, 1000) g;
INSERT INTO later SELECT g, (substr(at::text, 1, 14) || '7' || substr(at::text, 16))::uuid FROM joined;
ANALYZE joined, later;
SELECT * FROM advice('cassandra');
DROP TABLE joined, later;

-- the number to begin with: the next one of the table, or the one behind the last
CREATE TABLE sequences (name text PRIMARY KEY, next_value bigint NOT NULL);
CREATE TABLE lasts (name text PRIMARY KEY, last_value bigint NOT NULL);
CREATE TABLE drawn (name text PRIMARY KEY, next_n bigint NOT NULL);
CREATE TABLE returned (name text PRIMARY KEY, next_n bigint NOT NULL);
CREATE FUNCTION draw(which text) RETURNS bigint LANGUAGE sql
  AS 'UPDATE adcase.drawn SET next_n = next_n + 1 WHERE name = which RETURNING next_n - 1';
CREATE FUNCTION draw_returned(which text) RETURNS bigint LANGUAGE sql
  AS 'UPDATE adcase.returned SET next_n = next_n + 1 WHERE name = which RETURNING next_n';
SELECT relation, substring(finding from 'SELECT .* FROM \S+(?=,)') AS call FROM advice('one_server');
INSERT INTO sequences VALUES ('regress_invoice', 1);
SELECT replace(substring(finding from 'SELECT .* FROM \S+(?=,)'), 'SELECT ', 'SELECT 0 < ') FROM advice('one_server')
 WHERE relation = 'sequences'::regclass
\gexec
SELECT spanner.next_value('regress_invoice');
SELECT spanner.drop_allocator('regress_invoice');
DROP TABLE sequences, lasts, drawn, returned;

-- sequences that no column draws from
CREATE SEQUENCE app_seq AS integer;
CREATE SEQUENCE "Low" MAXVALUE 100;
CREATE SEQUENCE endless;
CREATE SEQUENCE circle MAXVALUE 100 CYCLE;
CREATE TABLE owner (id serial PRIMARY KEY);
SELECT count(setval(s, 100)) FROM unnest(ARRAY['"Low"', 'endless', 'circle', 'owner_id_seq']) s;
SELECT setval('app_seq', 2000000000);
SELECT * FROM advice('one_server') WHERE rule ~ 'near_end';
SELECT severity, rule, relation FROM spanner.advise('app_seq');
SELECT spanner.silence_rule('"Low"', 'free_sequence_near_end');
SELECT relation FROM advice('splits') WHERE rule ~ 'near_end';
SELECT spanner.silence_rule('"Low"', 'free_sequence_near_end', silenced => false);
SELECT suggestion FROM advice('one_server') WHERE suggestion IS NOT NULL \gexec
SELECT * FROM advice('one_server') WHERE rule ~ 'near_end';
DROP SCHEMA adcase CASCADE;
