-- What the functions of sequences refuse: state, message and hint of each, and nothing changed.

\set SHOW_CONTEXT never
\pset format unaligned
CREATE SCHEMA bad;
SET search_path = bad;
\getenv srcdir PG_ABS_SRCDIR
\set included :srcdir '/sql/include/refused.sql'
\i :included
CREATE TABLE t (id bigserial, plain integer, note text);
CREATE VIEW v AS SELECT * FROM t;
CREATE INDEX i ON t (id);
SELECT spanner.create_sequence('s', 'bit_reversed_positive');
SELECT spanner.create_sequence(format('%I', 'Ümläut "q" ''x'' ' || repeat('n', 43)), 'striped', bits => 40);
SELECT spanner.nextval('s');
CREATE ROLE regress_bad_other;
CREATE TABLE before AS SELECT * FROM spanner.sequences;

SELECT command || E'\n  ' || refused(command) AS "what is refused" FROM (VALUES
  (1, $$SELECT spanner.create_sequence(NULL)$$),
  (2, $$SELECT spanner.create_sequence('', 'striped')$$),
  (3, $$SELECT spanner.create_sequence('a.b.c.d', 'striped')$$),
  (4, $$SELECT spanner.create_sequence('nowhere.s', 'striped')$$),
  (5, $$SELECT spanner.create_sequence('s', 'striped')$$),
  (6, $$SELECT spanner.create_sequence('t', 'striped')$$),
  (7, $$SELECT spanner.create_sequence('x', 'zigzag')$$),
  (8, $$SELECT spanner.create_sequence('x', 'striped', bits => 1)$$),
  (9, $$SELECT spanner.create_sequence('x', 'striped', bits => 64)$$),
  (10, $$SELECT spanner.create_sequence('x', 'striped', stripes => 3)$$),
  (11, $$SELECT spanner.create_sequence('x', 'striped', stripes => 131072)$$),
  (12, $$SELECT spanner.create_sequence('x', 'bit_reversed_positive', stripes => 4)$$),
  (13, $$SELECT spanner.create_sequence('x', 'striped', start_with_counter => 0)$$),
  (14, $$SELECT spanner.create_sequence('x', 'striped', skip_range_min => 1)$$),
  (15, $$SELECT spanner.create_sequence('x', 'striped(bits=20, bits=20)')$$),
  (16, $$SELECT spanner.create_sequence('x', 'striped(bits=20', bits => 20)$$),
  (17, $$SELECT spanner.create_sequence('other.bad.x', 'striped')$$),
  (17, $$SELECT spanner.create_sequence('"x', 'striped')$$),
  (17, $$SELECT spanner.create_sequence('v', 'striped', if_not_exists => true)$$),
  (18, $$SELECT spanner.create_sequence('x', 'striped', start_with_counter => 9223372036854775807)$$),
  (18, $$SELECT spanner.create_sequence('x', 'striped', skip_range_max => 1, skip_range_min => 9223372036854775807)$$),
  (18, $$SELECT spanner.create_sequence('x', 'striped', skip_range_min => -9223372036854775808, skip_range_max => 0)$$),
  (20, $$SELECT spanner.alter_sequence(NULL)$$),
  (21, $$SELECT spanner.alter_sequence(4294967295::oid::regclass, kind => 'striped')$$),
  (22, $$SELECT spanner.alter_sequence('t', kind => 'striped')$$),
  (23, $$SELECT spanner.alter_sequence('v', kind => 'striped')$$),
  (24, $$SELECT spanner.alter_sequence('s', kind => 'striped')$$),
  (25, $$SELECT spanner.alter_sequence('s', bits => 20)$$),
  (26, $$SELECT spanner.alter_sequence('s', no_skip_range => true, skip_range_min => 1)$$),
  (27, $$SELECT spanner.alter_sequence('s', restart_counter_with => 0)$$),
  (30, $$SELECT spanner.nextval('t')$$),
  (31, $$SELECT spanner.nextval('i')$$),
  (32, $$SELECT spanner.nextval('nowhere')$$),
  (33, $$SELECT spanner.nextval(4294967295::oid::regclass)$$),
  (34, $$SELECT spanner.currval('t_id_seq')$$),
  (35, $$SELECT spanner.currval('v')$$),
  (36, $$SELECT spanner_internal.setval('t', 1)$$),
  (37, $$SELECT spanner_internal.unmap_value(1, 't')$$),
  (38, $$SELECT spanner_internal.map_counter(9223372036854775807, 's')$$),
  (38, $$SELECT spanner_internal.map_counter(1, 't')$$),
  (38, $$SELECT spanner_internal.may_draw('t', 'nextval(regclass)')$$),
  (39, $$SELECT spanner_internal.may_draw(4294967295, 'nextval(regclass)')$$),
  (39, $$SELECT spanner_internal.may_draw(0, 0)$$),
  (39, $$SELECT spanner_internal.ascending_nextval('t', 2)$$),
  (40, $$SELECT spanner_internal.describe_sequence('t')$$),
  (40, $$SELECT spanner.get_internal_sequence_state('')$$),
  (41, $$SELECT spanner.get_internal_sequence_state('nowhere')$$),
  (42, $$SELECT spanner.get_internal_sequence_state('t')$$),
  (43, $$SELECT spanner.get_table_column_identity_state('t')$$),
  (44, $$SELECT spanner.get_table_column_identity_state('t.nothing')$$),
  (45, $$SELECT spanner.get_table_column_identity_state('t.plain')$$),
  (46, $$SELECT spanner.get_table_column_identity_state('t.')$$),
  (46, $$SELECT spanner.get_table_column_identity_state('v.id')$$),
  (47, $$SELECT spanner.get_internal_sequence_state('other.bad.s')$$),
  (48, $$SECURITY LABEL FOR spanner_keys ON VIEW v IS 'striped'$$),
  (48, $$SECURITY LABEL FOR spanner_keys ON SEQUENCE s IS 'striped(stripes=4, stripes=8)'$$),
  (50, $$SELECT spanner.convert_column(NULL, 'id')$$),
  (51, $$SELECT spanner.convert_column('t', NULL)$$),
  (52, $$SELECT spanner.convert_column('t', 'nothing')$$),
  (53, $$SELECT spanner.convert_column('t', 'plain')$$),
  (54, $$SELECT spanner.convert_column('t', 'ctid')$$),
  (55, $$SELECT spanner.convert_column('v', 'id')$$),
  (56, $$SELECT spanner.convert_column('s', 'last_value')$$),
  (57, $$SELECT spanner.convert_column('t', 'id', kind => 'zigzag')$$),
  (58, $$SELECT spanner.convert_column('t', 'id', bits => 99)$$),
  (59, $$SELECT spanner.convert_column(4294967295::oid::regclass, 'id')$$),
  (60, $$SELECT spanner.convert_all('nowhere')$$),
  (61, $$SELECT spanner.convert_all(NULL)$$),
  (61, $$SELECT spanner.convert_all('')$$),
  (61, $$SELECT spanner.convert_all('bad', 'zigzag')$$),
  (62, $$SELECT spanner.sync_sequence('t', 'plain')$$),
  (63, $$SELECT spanner.sync_sequence('t', 'nothing')$$),
  (64, $$SELECT spanner.sync_sequence('v', 'id')$$),
  (65, $$SELECT spanner.sync_sequence(NULL, 'id')$$),
  (66, $$SELECT spanner.execute_ddl('')$$),
  (67, $$SELECT spanner.execute_ddl('SELECT 1')$$),
  (68, $$SELECT spanner.execute_ddl(E'CREATE SEQUENCE x BIT_REVERSED_POSITIVE; DROP TABLE bad.t')$$)
  ) c(number, command) ORDER BY number, command COLLATE "C";

-- of somebody else
-- in a read-only transaction, where the label could otherwise be changed
BEGIN READ ONLY;
SELECT command || E'\n  ' || refused(command) AS "what is refused" FROM (VALUES
  (1, $$SELECT spanner.create_sequence('x', 'striped')$$),
  (2, $$SELECT spanner.alter_sequence('s', skip_range_min => 1, skip_range_max => 5)$$),
  (3, $$SELECT spanner.convert_column('t', 'id')$$),
  (4, $$SELECT spanner.convert_all('bad', dry_run => false)$$),
  (5, $$SELECT spanner.sync_sequence('t', 'id')$$)
  ) c(number, command) ORDER BY number;
ROLLBACK;

GRANT USAGE ON SCHEMA bad TO regress_bad_other;
GRANT SELECT ON t TO regress_bad_other;
SET ROLE regress_bad_other;
SELECT command || E'\n  ' || refused(command) AS "what is refused" FROM (VALUES
  (1, $$SELECT spanner.create_sequence('bad.x', 'striped')$$),
  (2, $$SELECT spanner.alter_sequence('s', kind => 'striped')$$),
  (3, $$SELECT spanner.nextval('s')$$),
  (4, $$SELECT spanner.currval('s')$$),
  (5, $$SELECT spanner_internal.setval('s', 1)$$),
  (6, $$SELECT spanner.convert_column('t', 'id')$$),
  (7, $$SELECT spanner.sync_sequence('t', 'id')$$),
  (8, $$SELECT spanner.get_internal_sequence_state('s')$$),
  (9, $$SELECT spanner.execute_ddl('DROP SEQUENCE bad.s')$$),
  (10, $$SECURITY LABEL FOR spanner_keys ON SEQUENCE bad.s IS NULL$$)
  ) c(number, command) ORDER BY number;
RESET ROLE;

SELECT * FROM spanner.sequences EXCEPT SELECT * FROM before;

-- names of 63 bytes that need quotes are good everywhere
SELECT quote_ident('a"''. ü' || repeat('ß', 28)) AS name, 'a"''. ü' || repeat('ß', 28) AS plain \gset
CREATE SCHEMA :name CREATE TABLE :name (:name bigserial);
SELECT octet_length(:'plain'), spanner.create_sequence(:'name', 'striped');
SELECT spanner.nextval(:'name'), spanner.get_internal_sequence_state(:'name');
SELECT spanner.convert_all(:'plain', 'striped', false);
INSERT INTO :name.:name DEFAULT VALUES;
SELECT spanner.sync_sequence(format('%1$s.%1$s', :'name'), :'plain'), spanner.get_table_column_identity_state(format('%1$s.%1$s.%1$s', :'name'));
SET client_min_messages = warning;
DROP SCHEMA bad, :name CASCADE;
DROP ROLE regress_bad_other;
