-- spanner.nextval and its relatives, create_sequence, alter_sequence.

-- on an unbound sequence the same as core
CREATE SEQUENCE plain;
SELECT spanner.nextval('plain'), nextval('plain'), spanner.currval('plain'),
       spanner.lastval();

-- how a call is planned
SELECT spanner.create_sequence('s', 'bit_reversed_positive');
EXPLAIN (VERBOSE, COSTS OFF) SELECT spanner.nextval('s');
PREPARE draw(regclass) AS SELECT spanner.nextval($1);
EXECUTE draw('s');
SET plan_cache_mode = force_generic_plan;
EXECUTE draw('s');
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE draw('s');
RESET plan_cache_mode;

-- as volatile as core's: every row gets a value of its own
CREATE TABLE filled (a integer);
INSERT INTO filled SELECT generate_series(1, 3);
ALTER TABLE filled ADD COLUMN id bigint DEFAULT spanner.nextval('s');
SELECT count(DISTINCT id) FROM filled;
SELECT x = y AS once FROM (SELECT spanner.nextval('s') AS x OFFSET 0) q (x), LATERAL (SELECT q.x AS y) r;

-- currval and lastval of sequences that are mixed
CREATE SEQUENCE other;
SELECT spanner.nextval('s') > 0 AS drawn;
SELECT spanner.lastval() = spanner.currval('s') AS same;
SELECT spanner.nextval('other');
SELECT spanner.lastval(), spanner.currval('s') = spanner.lastval() AS same;

-- before the first use of a session
SELECT spanner.create_sequence('fresh', 'striped');
SELECT spanner.currval('fresh');
DISCARD SEQUENCES;
SELECT spanner.lastval();

-- the state: NULL before the first use, then the next counter
SELECT spanner.create_sequence('state', 'bit_reversed_positive', start_with_counter => 10);
SELECT spanner.get_internal_sequence_state('state');
SELECT spanner.nextval('state') > 0 AS drawn;
SELECT spanner.get_internal_sequence_state('state');
SELECT spanner.alter_sequence('state', restart_counter_with => 100);
SELECT spanner.get_internal_sequence_state('state');
SELECT spanner_internal.map_counter(100, 'state') = spanner.nextval('state') AS restarted;

-- a restart before the first use leaves the state unknown
SELECT spanner.alter_sequence('fresh', restart_counter_with => 7);
SELECT spanner.get_internal_sequence_state('fresh'),
       (SELECT start_counter FROM spanner.sequences WHERE sequencename = 'fresh');
SELECT spanner_internal.unmap_value(spanner.nextval('fresh'), 'fresh');

-- the state of a column
CREATE TABLE serials (id bigserial, a integer);
SELECT spanner.get_table_column_identity_state('serials.id');
INSERT INTO serials DEFAULT VALUES;
SELECT spanner.get_table_column_identity_state('PUBLIC.Serials.ID');
SELECT spanner.get_table_column_identity_state('serials');
SELECT spanner.get_table_column_identity_state('serials.a');
SELECT spanner.get_table_column_identity_state('nowhere.id');

-- names are written as in SQL
CREATE SCHEMA "Odd Schema";
SELECT spanner.create_sequence('"Odd Schema"."a.b"', 'striped', stripes => 4);
SELECT spanner.nextval('"Odd Schema"."a.b"');
SELECT spanner.get_internal_sequence_state('"Odd Schema"."a.b"');
SELECT spanner.create_sequence(repeat('n', 63), 'striped')::text = repeat('n', 63) AS long_name;

-- IF NOT EXISTS
SELECT spanner.create_sequence('s', 'striped');
SELECT spanner.create_sequence('s', 'striped', if_not_exists => true);
-- what is there needs no kind
SELECT spanner.create_sequence('s', if_not_exists => true, start_with_counter => 1);
SELECT spanner.create_sequence('missing', if_not_exists => true);
SELECT kind FROM spanner_internal.describe_sequence('s');
SELECT spanner.create_sequence('filled', 'striped', if_not_exists => true);
SELECT spanner.create_sequence('no_schema.s', 'striped');

-- NULLs and wrong objects
SELECT spanner.nextval(NULL), spanner.currval(NULL), spanner_internal.map_counter(NULL, 's'),
       spanner.get_internal_sequence_state(NULL);
SELECT spanner.create_sequence(NULL);
SELECT spanner.alter_sequence(NULL);
SELECT spanner.nextval('filled');
SELECT spanner.currval('filled');
SELECT spanner.nextval(0::regclass);
SELECT spanner.alter_sequence('filled', 'striped');
SELECT spanner.alter_sequence(0::regclass, 'striped');
SELECT spanner.get_internal_sequence_state('filled');
SELECT spanner.get_internal_sequence_state('nowhere');
SELECT spanner_internal.map_counter(0, 's');
SELECT spanner_internal.map_counter(9223372036854775807, 's');
SELECT spanner_internal.on_ddl_command();

-- alter_sequence changes what is given
SELECT spanner.create_sequence('a', 'bit_reversed_positive');
SELECT spanner.alter_sequence('a', skip_range_min => 1, skip_range_max => 1000);
SELECT kind, skip_range_min, skip_range_max FROM spanner_internal.describe_sequence('a');
SELECT spanner.alter_sequence('a', 'striped', stripes => 16);
SELECT label FROM pg_seclabels WHERE objname = 'a';
SELECT spanner.alter_sequence('a', 'striped', skip_range_min => 5, skip_range_max => 6);
SELECT label FROM pg_seclabels WHERE objname = 'a';
SELECT spanner.alter_sequence('a', no_skip_range => true, skip_range_max => 10);
SELECT spanner.alter_sequence('a', no_skip_range => true);
SELECT label FROM pg_seclabels WHERE objname = 'a';
SELECT spanner.alter_sequence('a', 'local');
SELECT count(*) FROM pg_seclabels WHERE objname = 'a';
SELECT spanner.alter_sequence('a', stripes => 16);

-- a used sequence never gives a value again
SELECT nextval('a'), nextval('a');
SELECT spanner.alter_sequence('a', 'bit_reversed_positive',
                              skip_range_min => 2, skip_range_max => 10);
SELECT spanner.alter_sequence('a', 'bit_reversed_positive');
SELECT label FROM pg_seclabels WHERE objname = 'a';
SELECT spanner.nextval('a') = spanner_internal.map_counter(3, 'a') AS mapped;
SELECT spanner.alter_sequence('a', 'striped');
SELECT spanner.alter_sequence('a', bits => 40);
SELECT spanner.alter_sequence('a', 'striped', restart_counter_with => 0);
SELECT spanner.alter_sequence('a', 'striped', restart_counter_with => 1000);
SELECT spanner.alter_sequence('a', 'local');

-- a draw that fails is no draw for currval and lastval, even if it is the first
SELECT spanner.create_sequence('none', 'bit_reversed_positive', bits => 10, skip_range_min => 1, skip_range_max => 1023);
SELECT spanner.create_sequence('some', 'bit_reversed_positive');
\c -
SELECT nextval('none');
SELECT currval('none');
SELECT lastval();
SELECT nextval('some') = lastval() AS known;
SELECT nextval('none');
SELECT lastval() = currval('some') AS known;
SELECT currval('none');
SELECT spanner.alter_sequence('none', skip_range_max => 2, restart_counter_with => 1);
SELECT nextval('none') = currval('none') AS same, lastval() = currval('none') AS known;

-- a conversion keeps writers out, also where nobody owns the sequence
CREATE SEQUENCE shared;
CREATE TABLE shares (id bigint DEFAULT nextval('shared'), other bigint DEFAULT nextval('shared'));
BEGIN;
SELECT spanner.convert_column('shares', 'id');
SELECT mode FROM pg_locks WHERE relation = 'shares'::regclass AND mode = 'ShareRowExclusiveLock';
ROLLBACK;
DROP TABLE shares;
DROP SEQUENCE shared;

-- an identity of core is the last one as well, also if its counter is the same
CREATE TABLE of_core (id integer GENERATED BY DEFAULT AS IDENTITY, n integer);
SELECT spanner.create_sequence('again', 'bit_reversed_positive');
SELECT nextval('again'), nextval('again');
INSERT INTO of_core VALUES (DEFAULT, 1), (DEFAULT, 2);
SELECT lastval(), spanner.lastval();
SELECT nextval('again');
INSERT INTO of_core (n) VALUES (3);
SELECT lastval(), spanner.lastval();
DROP TABLE of_core;
DROP SEQUENCE again;
