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
