-- The values that the built-in access methods give.

SELECT name FROM spanner.sequence_access_methods ORDER BY name;

-- bit_reversed_positive: Spanner's first values
SELECT spanner.create_sequence('br', 'bit_reversed_positive');
SELECT spanner.nextval('br') FROM generate_series(1, 6);

-- widths follow the type
CREATE SEQUENCE br31 AS integer;
SECURITY LABEL FOR spanner_keys ON SEQUENCE br31 IS 'bit_reversed_positive';
SELECT spanner.nextval('br31') FROM generate_series(1, 4);
CREATE SEQUENCE br15 AS smallint;
SECURITY LABEL FOR spanner_keys ON SEQUENCE br15 IS 'bit_reversed_positive';
SELECT spanner.nextval('br15') FROM generate_series(1, 4);

-- or are chosen
SELECT spanner.create_sequence('br53', 'bit_reversed_positive', bits => 53);
SELECT spanner.nextval('br53') FROM generate_series(1, 4);
SELECT spanner.create_sequence('br2', 'bit_reversed_positive', bits => 2);
SELECT spanner.nextval('br2');
SELECT spanner.nextval('br2');
SELECT spanner.nextval('br2');
SELECT spanner.nextval('br2');

-- the last counter of 63 bits
SELECT spanner.create_sequence('br_last', 'bit_reversed_positive',
                               start_with_counter => 9223372036854775805);
SELECT spanner.nextval('br_last');
SELECT spanner.nextval('br_last');
SELECT spanner.nextval('br_last');

-- striped: the lowest bits reversed, and below them the rest in passes
SELECT spanner.create_sequence('st4', 'striped', stripes => 4, bits => 63);
SELECT spanner.nextval('st4') FROM generate_series(1, 9);
SELECT spanner.create_sequence('st', 'striped');
SELECT spanner.nextval('st') AS value, spanner.currval('st') >> 57 AS stripe
  FROM generate_series(1, 3);
SELECT spanner.create_sequence('st_few', 'striped', stripes => 2, bits => 2);
SELECT spanner.nextval('st_few');
SELECT spanner.nextval('st_few');
SELECT spanner.nextval('st_few');

-- narrow values have fewer stripes by default
SELECT spanner.create_sequence('st_narrow', 'striped', bits => 4);
SELECT spanner.nextval('st_narrow') FROM generate_series(1, 14);
SELECT spanner.nextval('st_narrow');

-- every value of 15 bits but 0 and the largest comes once
SELECT spanner.create_sequence('all_br', 'bit_reversed_positive', bits => 15);
SELECT count(*), count(DISTINCT v), min(v), max(v)
  FROM (SELECT spanner.nextval('all_br') AS v FROM generate_series(1, 32766)) s;
SELECT spanner.nextval('all_br');
SELECT spanner.create_sequence('all_st', 'striped', bits => 15);
SELECT count(*), count(DISTINCT v), min(v), max(v)
  FROM (SELECT spanner.nextval('all_st') AS v FROM generate_series(1, 32766)) s;
SELECT spanner.nextval('all_st');

-- a value and its counter determine each other, over the whole domain
SELECT spanner.create_sequence('st_wide', 'striped', stripes => 65536);
SELECT count(*)
  FROM (VALUES ('br'::regclass), ('br31'), ('br15'), ('br53'), ('all_br'),
               ('st'), ('st4'), ('all_st'), ('st_wide')) k (s),
       LATERAL (SELECT (2::numeric ^ bits - 3)::bigint AS span
                  FROM spanner_internal.describe_sequence(s)) d,
       generate_series(0, 500) i,
       LATERAL (SELECT 1 + (span * i::numeric / 500)::bigint AS c) g
 WHERE spanner_internal.unmap_value(spanner_internal.map_counter(c, s), s) <> c;
SELECT count(*)
  FROM generate_series(1, 32766) c, (VALUES ('all_br'::regclass), ('all_st')) k (s)
 WHERE spanner_internal.unmap_value(spanner_internal.map_counter(c, s), s) <> c;
SELECT spanner_internal.unmap_value(0, 'br'), spanner_internal.unmap_value(-5, 'br'),
       spanner_internal.unmap_value(9223372036854775807, 'br'),
       spanner_internal.unmap_value(9223372036854775806, 'br'),
       spanner_internal.unmap_value(32767, 'all_st');

-- any number of equal ranges gets its share
SELECT n, max(rows) - min(rows) AS unevenness
  FROM (SELECT n, width_bucket(v::numeric, 0, 9223372036854775808, n) AS range,
               count(*) AS rows
          FROM (SELECT spanner_internal.map_counter(c, 'br') AS v
                  FROM generate_series(1, 16384) c) m,
               (VALUES (4), (16), (64), (256)) r (n)
         GROUP BY 1, 2) s
 GROUP BY n ORDER BY n;

-- INCREMENT and START give each of four writers a key range of its own
CREATE SEQUENCE writer1 START WITH 1 INCREMENT BY 4;
CREATE SEQUENCE writer2 START WITH 2 INCREMENT BY 4;
CREATE SEQUENCE writer3 START WITH 3 INCREMENT BY 4;
CREATE SEQUENCE writer4 START WITH 4 INCREMENT BY 4;
SELECT spanner.alter_sequence(('writer' || i)::regclass, 'bit_reversed_positive')
  FROM generate_series(1, 4) i;
SELECT writer, array_agg(DISTINCT spanner.nextval(('writer' || writer)::regclass) >> 61) AS quarter
  FROM generate_series(1, 4) writer, generate_series(1, 100)
 GROUP BY writer ORDER BY writer;

-- CACHE leaves the values alone
CREATE SEQUENCE cached CACHE 10;
SELECT spanner.alter_sequence('cached', 'bit_reversed_positive');
SELECT spanner.nextval('cached') FROM generate_series(1, 3);
SELECT spanner.get_internal_sequence_state('cached');

-- Kind striped: where the values of a stripe lie, and how large their index is.
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
