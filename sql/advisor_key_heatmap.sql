-- Where rows go in key space, in the order of their insertion.  All tables
-- are small enough to be read whole.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
\set SHOW_CONTEXT never

-- a key that only grows makes a diagonal
CREATE TABLE hm_serial (id integer PRIMARY KEY, at timestamptz, tag text);
INSERT INTO hm_serial
  SELECT i, '2024-01-01'::timestamptz + i * interval '1 minute', 'same'
    FROM generate_series(1, 1000) i;
SELECT time_bucket, key_bucket, key_from, key_to, rows
  FROM spanner.key_heatmap('hm_serial', 4, 4);
SELECT DISTINCT time_bucket, time_from
  FROM spanner.key_heatmap('hm_serial', 4, 4, order_by => 'at') ORDER BY 1;
\pset tuples_only on
\pset format unaligned
SELECT regexp_replace(line, 'block 0 → \d+', 'block 0 → last')
  FROM spanner.key_heatmap_text('hm_serial', 20, 10) line;

-- a bit-reversed one an even field, and random keys too
CREATE TABLE hm_reversed (id bigint PRIMARY KEY, at integer);
INSERT INTO hm_reversed
  SELECT spanner.bit_reverse(i, true), i FROM generate_series(1, 4096) i;
SELECT spanner.key_heatmap_text('hm_reversed', 16, 8, order_by => 'at');
CREATE TABLE hm_hash (shard integer, at date);
INSERT INTO hm_hash
  SELECT spanner.shard_id(4, i), '2024-01-01'::date + i / 10
    FROM generate_series(0, 3999) i;
SELECT spanner.key_heatmap_text('hm_hash', 16, 8, column_name => 'shard', order_by => 'at');

-- half the rows in one place; one key only; too few rows
CREATE TABLE hm_half (id integer, at integer);
INSERT INTO hm_half
  SELECT CASE WHEN i % 5 < 2 THEN 0 ELSE i * 37 % 100 END, i FROM generate_series(1, 4000) i;
SELECT spanner.key_heatmap_text('hm_half', 8, 10, 'id', 'at');
SELECT spanner.key_heatmap_text('hm_serial', 8, 8, 'tag', 'at');
CREATE TABLE hm_few (id text COLLATE "C" PRIMARY KEY, at integer);
INSERT INTO hm_few VALUES ('de', 1), ('fr', 2), (E'\n<b>\x07☃日本', 3), ('us', NULL);
SELECT spanner.key_heatmap_text('hm_few', order_by => 'at');

-- the page: nothing that a browser would fetch or run, and only ASCII
CREATE TABLE "hm <b>""&'" ("k <i>" text COLLATE "C", "at </title><script>" integer);
INSERT INTO "hm <b>""&'"
  SELECT '<img src=x onerror="alert(1)">' || chr(8238) || chr(233) || chr(1) || i, i
    FROM generate_series(1000, 1999) i;
SELECT page ~ '^<!DOCTYPE html>', page ~ '</html>\n$', page !~ '[^\x01-\x7e]',
       page ~ '<h1>public.&#34;hm &#60;b&#62;&#34;&#34;&#38;&#39;&#34;</h1>',
       page !~* '<(script|img|i|link|iframe|object|use)\M(?! rel="icon" href="data:,">)',
       page !~* '<[^>]*(href|src)=(?!"data:,")', page ~ '&#65533;&#233;&#65533;1'
  FROM spanner.key_heatmap_html('"hm <b>""&''"', 4, 4, 'k <i>', 'at </title><script>') page;
SELECT regexp_count, expected
  FROM (SELECT count(*) AS regexp_count
          FROM spanner.key_heatmap_html('hm_serial', 4, 4) page,
               regexp_matches(page, '<rect class="d[1-7]"[^>]*><title>', 'g')) found,
       (SELECT count(*) AS expected
          FROM spanner.key_heatmap('hm_serial', 4, 4) WHERE rows > 0) cells;

-- a key that was converted: the verdict is about the latest rows
CREATE TABLE hm_converted (id bigint PRIMARY KEY, at date);
INSERT INTO hm_converted
  SELECT CASE WHEN i <= 2000 THEN i ELSE spanner.bit_reverse(i, true) END, '2024-01-01'::date + i / 10
    FROM generate_series(1, 4000) i;
SELECT spanner.key_heatmap_text('hm_converted', 16, 8, order_by => 'at');
SELECT line FROM spanner.key_heatmap_text('hm_converted', 16, 8, order_by => 'id') line LIMIT 2;

-- few first values: the whole key counts; rows of one time are in their order
CREATE TABLE hm_regions (region text COLLATE "C", id integer, at timestamptz DEFAULT '2024-01-01', PRIMARY KEY (region, id));
INSERT INTO hm_regions SELECT ('{asia,eu,us}'::text[])[1 + i % 3], i FROM generate_series(1, 3000) i;
SELECT spanner.key_heatmap_text('hm_regions', 16, 9, order_by => 'at');
CREATE INDEX hm_regions_id ON hm_regions ((length(region)), id);
SELECT line FROM spanner.key_heatmap_text('hm_regions_id', 16, 9, order_by => 'at') line LIMIT 2;

-- no row, one row
CREATE TABLE hm_empty (id integer PRIMARY KEY, at integer);
SELECT spanner.key_heatmap_text('hm_empty');
SELECT count(*) FROM spanner.key_heatmap('hm_empty');
INSERT INTO hm_empty VALUES (1, NULL);
SELECT spanner.key_heatmap_text('hm_empty');
SELECT page ~ 'class="d[1-7]"', page ~ 'Drawn from 1 row' FROM spanner.key_heatmap_html('hm_empty') page;

-- numbers that are not finite are the ends
CREATE TABLE hm_numbers (id float8);
INSERT INTO hm_numbers VALUES ('NaN'), ('Infinity'), ('-Infinity');
SELECT key_from, key_to, rows FROM spanner.key_histogram('hm_numbers', 4, 'id') WHERE rows > 0;

-- two tables beside each other; what the page says of itself; each shade is
-- told from its neighbour by 1.4 times the luminance, in both themes
SELECT regexp_count, page ~ '<main class="pair">', page ~ '>public.hm_serial<.*>public.hm_reversed<'
  FROM spanner.key_heatmap_html('hm_serial', 4, 4, after => 'hm_reversed') page,
       LATERAL (SELECT count(*) AS regexp_count FROM regexp_matches(page, '<svg', 'g')) svgs;
SELECT page ~ format('in database %s by spanner_keys 1.0 on PostgreSQL ', current_database()),
       page ~ '>id &#8593;<', page ~ '>500<', page ~ '>1,000 rows<', page ~ '>2024-01-01 00:01<',
       page ~ 'by column at &#8594;'
  FROM spanner.key_heatmap_html('hm_serial', order_by => 'at') page;
-- below, labels at three places, where they do not meet; the verdict comes first
SELECT (SELECT array_agg(m[1]) FROM regexp_matches(page, '<text class="(?:first|middle|last)" x="([0-9.]+)" y="374">', 'g') m),
       page ~ '<section>\n<p class="finding'
  FROM spanner.key_heatmap_html('hm_serial') page;
WITH shades AS (
  SELECT n, row_number() OVER (ORDER BY n) AS place, 0.2126 * c[1] + 0.7152 * c[2] + 0.0722 * c[3] + 0.05 AS light
    FROM regexp_matches(spanner_internal.heatmap_style(), '--d\d: #(..)(..)(..)', 'g') WITH ORDINALITY m (rgb, n),
         LATERAL (SELECT array_agg(CASE WHEN v <= 0.04045 THEN v / 12.92 ELSE ((v + 0.055) / 1.055) ^ 2.4 END ORDER BY i) AS c
                    FROM unnest(rgb) WITH ORDINALITY h (hex, i),
                         LATERAL (SELECT get_byte(decode(hex, 'hex'), 0) / 255.0 AS v) x) y)
SELECT count(*), bool_and(greatest(a.light, b.light) / least(a.light, b.light) >= 1.4)
  FROM shades a JOIN shades b ON b.place = a.place + 1 AND a.place <> 8;
\pset tuples_only off
\pset format aligned

-- arguments
SELECT spanner.key_heatmap_html('hm_serial', after => 'nowhere');
SELECT spanner.key_heatmap_html('hm_serial', after => NULL) ~ '<main class="one">';
SELECT spanner.key_heatmap(NULL);
SELECT spanner.key_heatmap_html(NULL);
SELECT count(*) FROM spanner.key_heatmap('hm_serial', NULL, NULL, NULL, NULL, NULL);
SELECT spanner.key_heatmap('hm_serial', 0);
SELECT spanner.key_heatmap('hm_serial', 4, 201);
SELECT spanner.key_heatmap_text('hm_serial', order_by => 'nowhere');
SELECT spanner.key_heatmap_html('hm_hash');
TRUNCATE hm_few;
SELECT spanner.key_heatmap_text('hm_few');
CREATE TABLE hm_parts (id integer PRIMARY KEY, at integer) PARTITION BY RANGE (id);
CREATE TABLE hm_parts_1 PARTITION OF hm_parts FOR VALUES FROM (0) TO (10);
INSERT INTO hm_parts VALUES (1, 1);
SELECT spanner.key_heatmap('hm_parts');
SELECT * FROM spanner.key_heatmap('hm_parts', order_by => 'at');
