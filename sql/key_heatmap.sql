-- Where rows go in key space, in the order of their insertion.  All tables
-- are small enough to be read whole.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

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
\pset tuples_only off
\pset format aligned

-- arguments
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
