-- spanner.sequences, seen by its owner and by others.

CREATE SCHEMA v;
SET search_path = v;
SELECT spanner.create_sequence('unused', 'striped', stripes => 8, bits => 53);
SELECT spanner.create_sequence('half', 'bit_reversed_positive', bits => 10,
                               skip_range_min => 1, skip_range_max => 3,
                               start_with_counter => 512);
CREATE SEQUENCE small AS smallint CACHE 10;
SELECT spanner.alter_sequence('small', 'bit_reversed_positive');
CREATE TEMP SEQUENCE temporary;
SELECT spanner.alter_sequence('temporary', 'striped');
CREATE SEQUENCE plain;

SELECT sequencename, kind, bits, skip_range_min, skip_range_max, start_counter,
       counter, used
  FROM spanner.sequences
 WHERE schemaname = 'v' OR sequencename = 'temporary'
 ORDER BY sequencename;

-- counters that wait in a session's cache count as used
SELECT spanner.nextval('small'), spanner.nextval('half');
SELECT sequencename, counter, used
  FROM spanner.sequences WHERE schemaname = 'v' ORDER BY sequencename;

-- what has been used never reads as 0, nor as 100 while a counter is left
SELECT spanner.create_sequence('wide', 'bit_reversed_positive');
SELECT spanner.create_sequence('integer', 'bit_reversed_positive', bits => 31,
                               start_with_counter => 2147483646);
SELECT spanner.nextval('wide');
SELECT sequencename, counter, used FROM spanner.sequences WHERE sequencename IN ('wide', 'integer');
SELECT spanner.nextval('integer');
SELECT counter, used FROM spanner.sequences WHERE sequencename = 'integer';
DROP SEQUENCE wide, "integer";

-- the binding follows the sequence
ALTER SEQUENCE unused RENAME TO renamed;
CREATE SCHEMA w;
ALTER SEQUENCE renamed SET SCHEMA w;
SELECT schemaname, sequencename, kind FROM spanner.sequences
 WHERE sequencename = 'renamed';
DROP SEQUENCE w.renamed;
SELECT count(*) FROM pg_seclabel WHERE provider = 'spanner_keys'
   AND objoid NOT IN (SELECT oid FROM pg_class);

-- TRUNCATE RESTART IDENTITY restarts the counter
CREATE TABLE t (id bigint DEFAULT 0);
ALTER SEQUENCE half OWNED BY t.id;
TRUNCATE t RESTART IDENTITY;
SELECT counter FROM spanner.sequences WHERE sequencename = 'half';

-- others see what is there, but no counter
CREATE ROLE regress_spanner_reader;
GRANT USAGE ON SCHEMA v TO regress_spanner_reader;
SET ROLE regress_spanner_reader;
SELECT sequencename, kind, bits, counter, used
  FROM spanner.sequences WHERE schemaname = 'v' ORDER BY sequencename;
SELECT spanner.get_internal_sequence_state('half');
SELECT spanner.get_table_column_identity_state('t.id');
SELECT spanner.nextval('half');
SELECT spanner.currval('half');
SELECT spanner.alter_sequence('half', no_skip_range => true);
SECURITY LABEL FOR spanner_keys ON SEQUENCE half IS NULL;
RESET ROLE;
GRANT SELECT ON half TO regress_spanner_reader;
SET ROLE regress_spanner_reader;
SELECT spanner.get_internal_sequence_state('half');
SELECT spanner.nextval('half');
RESET ROLE;
GRANT USAGE ON half TO regress_spanner_reader;
SET ROLE regress_spanner_reader;
SELECT spanner.nextval('half') > 0 AS drawn;
RESET ROLE;

-- a session forgets sequences that it has only looked at, not those it has drawn from
SELECT spanner.nextval('half') AS drawn \gset
DO $$
BEGIN
  FOR i IN 1..200 LOOP
    PERFORM spanner.create_sequence('many' || i, 'striped');
    PERFORM spanner_internal.unmap_value(1, to_regclass('many' || i));
  END LOOP;
END
$$;
SELECT count(*) BETWEEN 1 AND 70 AS bounded FROM pg_backend_memory_contexts
 WHERE name = 'spanner_keys binding';
SELECT spanner.currval('half') = :drawn AS same, currval('half') = :drawn AS same_in_core;
DO $$
BEGIN
  FOR i IN 1..200 LOOP
    PERFORM spanner.nextval(to_regclass('many' || i));
    EXECUTE 'DROP SEQUENCE many' || i;
  END LOOP;
END
$$;
SELECT count(*) BETWEEN 1 AND 70 AS bounded FROM pg_backend_memory_contexts
 WHERE name = 'spanner_keys binding';
SELECT spanner.currval('half') = :drawn AS same;

-- nor those that are gone until a rollback
BEGIN;
SELECT spanner.nextval('half') AS drawn \gset
SAVEPOINT a;
DROP SEQUENCE half;
DO $$
BEGIN
  FOR i IN 1..200 LOOP
    PERFORM spanner.create_sequence('many' || i, 'striped');
    PERFORM spanner_internal.unmap_value(1, to_regclass('many' || i));
  END LOOP;
END
$$;
ROLLBACK TO a;
SELECT spanner.currval('half') = :drawn AS same, spanner.lastval() = :drawn AS last;
COMMIT;

RESET search_path;
DROP SCHEMA v, w CASCADE;
DROP ROLE regress_spanner_reader;
