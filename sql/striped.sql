-- Kind striped: where the values of a stripe lie, and how large their index is.

SELECT spanner.bit_reverse(0, true);
CREATE SCHEMA s;
SET search_path = s;

-- the first values of the second stripe, and the last ones of all
SELECT spanner.create_sequence('four', 'striped', stripes => 4);
SELECT array_agg(spanner_internal.map_counter(4 * run + 2, 'four') - (1::bigint << 61) ORDER BY run)
  FROM generate_series(0, 20) run;
SELECT array_agg(9223372036854775807 - spanner_internal.map_counter(9223372036854775807 - 4 * run, 'four') ORDER BY run)
  FROM generate_series(1, 10) run;

-- In each block of 512 positions a first pass fills 9 of 16, and a second one
-- the rest, after the first pass of the next block.  A stripe of fewer
-- positions is filled in their order.
CREATE FUNCTION wrong_runs(bits integer, stripes integer, OUT positions bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM spanner.create_sequence('s.tried', 'striped', bits => bits, stripes => stripes);
  SELECT count(*), count(*) FILTER (WHERE spanner_internal.unmap_value(value, 's.tried') <> stripes * run + 1
                                       OR spanner_internal.map_counter(stripes * run + 1, 's.tried') <> value)
    INTO positions, wrong
    FROM (SELECT (1 << bits - 1) + p AS value, row_number() OVER (ORDER BY CASE
                   WHEN (1 << bits) / stripes < 512 THEN 0
                   WHEN p % 16 IN (0, 1, 3, 5, 7, 8, 10, 12, 14) THEN 2 * (p / 512)
                   ELSE 2 * (p / 512) + 3 END, p) - 1 AS run
            FROM generate_series(0, (1 << bits) / stripes - 1) p) expected
   WHERE value < (1 << bits) - 1;
  DROP SEQUENCE s.tried;
END $$;
SELECT bits, stripes, w.*
  FROM (VALUES (4, 2), (9, 2), (10, 2), (11, 2), (15, 2), (15, 16), (15, 64), (15, 128), (17, 4)) k (bits, stripes),
       wrong_runs(bits, stripes) w;

-- narrow values have fewer stripes by default
SELECT spanner.create_sequence('s.narrow', 'striped', bits => 6);
SELECT array_agg(nextval('s.narrow')) FROM generate_series(1, 8);

-- its index is not much larger than that of plain counters
CREATE FUNCTION index_size(kind text, key text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  size numeric;
BEGIN
  PERFORM set_config('spanner.default_sequence_kind', kind, true);
  EXECUTE format('CREATE TABLE s.filled (id bigserial, v integer DEFAULT 1, PRIMARY KEY %s)', key);
  INSERT INTO s.filled SELECT FROM generate_series(1, 300000);
  size := pg_relation_size('s.filled_pkey');
  DROP TABLE s.filled;
  RETURN size;
END $$;
SELECT key, kind, index_size(kind, key) / plain <= 1.15 AS small
  FROM (SELECT key, index_size('local', key) AS plain FROM unnest('{(id),(id) INCLUDE (v)}'::text[]) key OFFSET 0) p,
       unnest('{striped(stripes=4),striped}'::text[]) kind;

SET client_min_messages = warning;
DROP SCHEMA s CASCADE;
