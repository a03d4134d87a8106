-- The advisor: what it says of sequences with a kind, and of partitions for their ids.

CREATE SCHEMA ar;
SET search_path = ar;
\set SHOW_CONTEXT never

-- partitions by ranges of the id: what would happen is said before, and what does happen after
SET client_min_messages = warning;
CREATE TABLE ranged (id bigserial PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE ranged_1 PARTITION OF ranged FOR VALUES FROM (1) TO (1000000);
SELECT rule, finding, suggestion FROM spanner.advise('ranged', 'splits');
CREATE TABLE ranged_2 PARTITION OF ranged FOR VALUES FROM (1000000) TO (MAXVALUE);
SELECT rule, finding, suggestion FROM spanner.advise('ranged', 'splits');
SELECT spanner.convert_column('ranged', 'id');
SELECT rule, finding, suggestion FROM spanner.advise('ranged');
ALTER TABLE ranged DETACH PARTITION ranged_2;
SELECT rule, finding, suggestion FROM spanner.advise('ranged', 'one_server');
ALTER TABLE ranged ATTACH PARTITION ranged_2 FOR VALUES FROM (1000000) TO (4611686018427387904);
CREATE TABLE ranged_3 PARTITION OF ranged FOR VALUES FROM (4611686018427387904) TO (MAXVALUE);
SELECT rule FROM spanner.advise('ranged', 'splits');
DROP TABLE ranged, ranged_2;
CREATE TABLE ranged (id bigserial PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE ranged_1 PARTITION OF ranged FOR VALUES FROM (1) TO (4611686018427387904);
CREATE TABLE ranged_2 PARTITION OF ranged FOR VALUES FROM (4611686018427387904) TO (MAXVALUE);
SELECT rule, suggestion FROM spanner.advise('ranged', 'splits');
DROP TABLE ranged;

-- what computes with the values of a kind
CREATE SEQUENCE counted;
CREATE SEQUENCE tickets;
CREATE FUNCTION remainder() RETURNS bigint LANGUAGE sql
  AS 'SELECT extract(epoch FROM now())::bigint << 23 | (nextval(''ar.counted'') % 1024)';
CREATE FUNCTION padded() RETURNS text LANGUAGE plpgsql
  AS 'BEGIN RETURN ''T'' || lpad(nextval(''ar.tickets''::regclass)::text, 6, ''0''); END';
CREATE FUNCTION plainly() RETURNS bigint LANGUAGE plpgsql
  AS 'BEGIN -- no sum
        RETURN nextval(''ar.counted''); END';
CREATE TABLE ticket (code text PRIMARY KEY DEFAULT lpad(nextval('tickets')::text, 6, '0'));
CREATE TABLE plain_ticket (id bigint PRIMARY KEY DEFAULT nextval('tickets'));
SELECT count(*) FROM spanner.advise() WHERE rule = 'sequence_computed';
SELECT spanner.alter_sequence('counted', 'striped'), spanner.alter_sequence('tickets', 'striped');
SELECT relation, object, finding, suggestion FROM spanner.advise() WHERE rule = 'sequence_computed' ORDER BY finding DESC;
SELECT relation, object FROM spanner.advise('ticket') WHERE rule = 'sequence_computed' ORDER BY finding DESC;
SELECT relation, object FROM spanner.advise('counted') WHERE rule = 'sequence_computed';
DROP TABLE ticket, plain_ticket;
DROP FUNCTION remainder, padded, plainly;
DROP SEQUENCE counted, tickets;

-- a default that names its sequence by a text
CREATE SEQUENCE named;
CREATE TABLE by_name (id bigint PRIMARY KEY DEFAULT nextval(('ar.named'::text)::regclass));
SELECT rule, suggestion FROM spanner.advise('by_name', 'splits');
SELECT spanner.alter_sequence('ar.named', kind => 'bit_reversed_positive');
SELECT rule FROM spanner.advise('by_name', 'splits');
DROP TABLE by_name;
DROP SEQUENCE named;

-- a sequence with a kind that comes to its end
CREATE TABLE burnt (id smallserial PRIMARY KEY);
SELECT spanner.convert_column('burnt', 'id');
SELECT count(nextval('burnt_id_seq')) FROM generate_series(1, 25000);
SELECT rule, finding, suggestion FROM spanner.advise('burnt', 'one_server');
DROP TABLE burnt;
SELECT spanner.create_sequence('free', 'striped', bits => 15);
SELECT count(nextval('free')) FROM generate_series(1, 25000);
SELECT relation, finding, suggestion FROM spanner.advise(target => 'splits') WHERE rule = 'sequence_near_end';

DROP SCHEMA ar CASCADE;
