-- Options of sequences: skip ranges, limits, and what is refused.

-- a skip range is inclusive
SELECT spanner.create_sequence('skip', 'bit_reversed_positive',
                               skip_range_min => 2305843009213693952,
                               skip_range_max => 4611686018427387904);
SELECT spanner.nextval('skip') FROM generate_series(1, 4);
SELECT spanner.currval('skip'), spanner.lastval();

-- the lower bound may be negative, as long as the upper is positive
SELECT spanner.create_sequence('negative', 'bit_reversed_positive',
                               skip_range_min => -100, skip_range_max => 1);

-- a striped sequence skips, too
SELECT spanner.create_sequence('striped_skip', 'striped', stripes => 2, bits => 8,
                               skip_range_min => 1, skip_range_max => 5);
SELECT spanner.nextval('striped_skip') FROM generate_series(1, 8);

-- a range that covers almost everything ends in an error
SELECT spanner.create_sequence('covered', 'bit_reversed_positive',
                               skip_range_min => 0,
                               skip_range_max => 9223372036854775807);
SELECT spanner.nextval('covered');
SELECT spanner.get_internal_sequence_state('covered');

-- what Spanner refuses, in Spanner's words and order
\set VERBOSITY default
SELECT spanner.create_sequence('x', 'fibonacci', start_with_counter => 0);
SELECT spanner.create_sequence('x', 'bit_reversed_positive', start_with_counter => 0, skip_range_min => 5);
SELECT spanner.create_sequence('x', 'bit_reversed_positive', skip_range_min => 5);
SELECT spanner.create_sequence('x', 'bit_reversed_positive', skip_range_max => 5);
SELECT spanner.create_sequence('x', 'bit_reversed_positive', skip_range_min => 5, skip_range_max => 4);
SELECT spanner.create_sequence('x', 'bit_reversed_positive', skip_range_min => -100, skip_range_max => -1);
SELECT spanner.create_sequence('x', 'bit_reversed_positive', skip_range_min => 0, skip_range_max => 0);
SELECT spanner.create_sequence('x');

-- and what is ours
SELECT spanner.create_sequence('x', 'bit_reversed_positive', bits => 64);
SELECT spanner.create_sequence('x', 'bit_reversed_positive', bits => 1);
SELECT spanner.create_sequence('x', 'bit_reversed_positive', stripes => 4);
SELECT spanner.create_sequence('x', 'striped', stripes => 3);
SELECT spanner.create_sequence('x', 'striped', stripes => 131072);
SELECT spanner.create_sequence('x', 'striped', stripes => 256, bits => 8);
SELECT spanner.create_sequence('x', 'bit_reversed_positive', bits => 8, start_with_counter => 255);
SELECT count(*) FROM pg_class WHERE relname = 'x';

-- limits that would break the mapping
CREATE SEQUENCE cycling CYCLE;
SELECT spanner.alter_sequence('cycling', 'bit_reversed_positive');
CREATE SEQUENCE descending INCREMENT -1;
SELECT spanner.alter_sequence('descending', 'striped');
CREATE SEQUENCE low MINVALUE 0;
SELECT spanner.alter_sequence('low', 'bit_reversed_positive');
SECURITY LABEL FOR spanner_keys ON SEQUENCE cycling IS 'bit_reversed_positive';

-- nor can they be set afterwards
SELECT spanner.create_sequence('bound', 'bit_reversed_positive');
ALTER SEQUENCE bound CYCLE;
ALTER SEQUENCE bound INCREMENT -1 MINVALUE -10;
ALTER SEQUENCE bound MINVALUE -10;
BEGIN;
ALTER SEQUENCE bound AS integer;
ROLLBACK;
CREATE SEQUENCE narrow AS smallint;
SELECT spanner.alter_sequence('narrow', 'bit_reversed_positive');
SELECT nextval('narrow');
ALTER SEQUENCE narrow AS bigint;
SELECT nextval('narrow'), currval('narrow');
ALTER SEQUENCE bound AS bigint CACHE 5 INCREMENT 2;
SELECT spanner.nextval('bound') FROM generate_series(1, 2);

-- the text of labels
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound
  IS E' bit_reversed_positive\t( skip_range_min = 1 ,skip_range_max=+10 ) ';
SELECT kind, bits, skip_range_min, skip_range_max
  FROM spanner_internal.describe_sequence('bound');
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS '';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS '(bits=3)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(bits)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(bits=)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(bits=20 stripes=4)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(bits=20) x';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(bits=20, bits=20)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(bits=many)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(bits=99999999999999999999)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(bits=4294967304)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(colour=red)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE bound IS 'striped(identity=maybe)';
CREATE TABLE no_sequence (a integer);
SECURITY LABEL FOR spanner_keys ON TABLE no_sequence IS 'striped';
SECURITY LABEL FOR spanner_keys ON COLUMN no_sequence.a IS 'striped';
SECURITY LABEL FOR spanner_keys ON SCHEMA public IS 'striped';
SELECT label FROM pg_seclabels WHERE objname = 'bound';

-- a sequence that has given values: those are skipped besides the skip range, and a label says so
CREATE SEQUENCE given;
SELECT count(nextval('given')) FROM generate_series(1, 10);
SELECT spanner.alter_sequence('given', 'striped(stripes=4)', skip_range_min => 1, skip_range_max => 5);
SELECT spanner.alter_sequence('given', 'striped(stripes=4)', skip_range_min => 1, skip_range_max => 1000);
SELECT label FROM pg_seclabels WHERE objname = 'given';
CREATE SEQUENCE labelled;
SELECT count(nextval('labelled')) FROM generate_series(1, 10);
SECURITY LABEL FOR spanner_keys ON SEQUENCE labelled IS 'striped(skip_range_min=1, skip_range_max=1000)';
SECURITY LABEL FOR spanner_keys ON SEQUENCE labelled IS 'striped(skip_range_min=1, skip_range_max=1000, given=1..10)';
DROP SEQUENCE given, labelled;

-- kinds and names of options in any case
SELECT spanner.create_sequence('any_case', 'Striped(Stripes=16, IDENTITY=By_Default)');
SELECT spanner.alter_sequence('any_case', 'STRIPED(STRIPES=8)');
SELECT sequencename, kind FROM spanner.sequences WHERE sequencename = 'any_case';
SELECT label FROM pg_seclabels WHERE objname = 'any_case';
SECURITY LABEL FOR spanner_keys ON SEQUENCE any_case IS 'BIT_REVERSED_POSITIVE(Bits=20)';
SELECT label FROM pg_seclabels WHERE objname = 'any_case';
SELECT spanner.alter_sequence('any_case', 'Local');
SELECT spanner.create_sequence('x', 'Local(bits=3)');
SELECT spanner.execute_ddl('CREATE SEQUENCE ddl_case Striped(Stripes=16)');
SELECT spanner.execute_ddl($$CREATE SEQUENCE option_case OPTIONS (Sequence_Kind = 'Bit_Reversed_Positive')$$);
CREATE SCHEMA convert;
CREATE TABLE convert.convert_case (id bigserial, other bigserial);
SELECT spanner.convert_column('convert.convert_case', 'id', 'STRIPED(Bits=53)');
SELECT spanner.convert_all('convert', 'Striped(Stripes=4)');
SET spanner.default_sequence_kind = 'Striped(Stripes=16)';
SHOW spanner.default_sequence_kind;
CREATE SEQUENCE default_case;
SET spanner.default_sequence_kind = 'LOCAL';
CREATE SEQUENCE local_case;
RESET spanner.default_sequence_kind;
SELECT objname, label FROM pg_seclabels WHERE objname LIKE '%case%' ORDER BY 1;
DROP TABLE convert.convert_case;
DROP SCHEMA convert;
DROP SEQUENCE any_case, ddl_case, option_case, default_case, local_case;

-- a label has at most 32 options and 1 kB, and nothing of more is read
SELECT spanner.create_sequence('long', 'striped(' || string_agg('a' || i || '=1', ',') || ')')
  FROM generate_series(1, 33) i;
SELECT spanner.create_sequence('long', 'striped(' || string_agg('a' || i || '=1', ',') || ')')
  FROM generate_series(1, 32) i;
SELECT spanner.create_sequence('long', 'striped(' || repeat('bits', 300) || ')');
-- so it has with a space after each comma
SELECT spanner.create_sequence('long', 'striped(' || string_agg(rpad('a' || i, 28, 'a') || '=1', ',') || ')')
  FROM generate_series(1, 32) i;
CREATE SEQUENCE long;
SELECT spanner.alter_sequence('long', repeat('striped', 200));
SELECT format('SECURITY LABEL FOR spanner_keys ON SEQUENCE long IS %L',
  'striped(' || repeat('bits', 300) || ')') \gexec
SELECT set_config('spanner.default_sequence_kind', 'striped(' || repeat('bits=3,', 100000) || ')', false);
SELECT spanner.alter_sequence('long', 'striped' || repeat(' ', 1017));
DROP SEQUENCE long;
