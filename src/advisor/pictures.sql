/* src/advisor/pictures.sql */

-- Advisor: rows in key space, over all or in the order of their insertion

-- Read a sample, and count its rows by time bucket and key bucket.  A key that is known by its rank
-- becomes a text that begins with it.  Keys are compared by their bytes, whatever the collation.
CREATE FUNCTION spanner_internal.count_buckets(
  k spanner_internal.picture_key, all_columns boolean, time_buckets integer, key_buckets integer)
RETURNS spanner_internal.heatmap
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH sample AS MATERIALIZED (
    SELECT s.type, s.number,
           CASE WHEN s.key IS NOT NULL THEN coalesce(r.rank, s.key) END COLLATE "C" AS code,
           coalesce(r.rank || s.key, s.key) COLLATE "C" AS key,
           CASE WHEN s.number > '-Infinity' AND s.number < 'Infinity' THEN s.number END AS finite,
           s.place, s.label
      FROM spanner_internal.sample_keys(
             (k).relid, coalesce((k).indexid, 0), coalesce((k).column_name, ''), all_columns,
             coalesce((k).order_by, 'ctid'), (k).block_percent, (k).row_share) s
     CROSS JOIN LATERAL (SELECT lpad(s.rank::text, 19, '0') AS rank) r),
  few AS MATERIALIZED (
    SELECT DISTINCT s.number, s.code
      FROM sample s
     WHERE s.number IS NOT NULL OR s.code IS NOT NULL
     LIMIT key_buckets + 1),
  seen AS MATERIALIZED (
    SELECT ROW(count(*), count(s.number) + count(s.code), min(s.type), bool_or(s.code <> s.key),
               min(s.number), min(s.finite), max(s.finite), max(s.number),
               min(s.code), max(s.code),
               array_agg(s.code) FILTER (
                 WHERE hashtext(s.code)
                       % ceil(least((k).wanted, (k).tuples) / 100000 + 0.5)::integer = 0),
               (SELECT count(*) FROM few f),
               (SELECT array_agg(f.code ORDER BY f.code) FROM few f)
              )::spanner_internal.key_range AS r
      FROM sample s),
  scale AS MATERIALIZED (
    SELECT c.whole, (c.whole).numbers, (c.whole).texts, (e.r).rows,
           least(time_buckets, (e.r).rows)::integer AS times
      FROM seen e
     CROSS JOIN LATERAL (
       SELECT CASE WHEN (e.r).first IS NULL
                   THEN spanner_internal.scale_numbers(e.r, (k).tuples, key_buckets)
                   ELSE spanner_internal.scale_texts(e.r, key_buckets) END AS whole) c
     WHERE (e.r).keys > 0),
  cell AS MATERIALIZED (
    SELECT ((coalesce(s.place, 1) - 1) * c.times / c.rows + 1)::integer AS time,
           coalesce(width_bucket(s.number, c.numbers), width_bucket(s.code, c.texts)) AS bucket,
           count(*) AS rows, min(s.key) AS key_from, max(s.key) AS key_to,
           min(s.place) AS first, max(s.place) AS last
      FROM sample s
     CROSS JOIN scale c
     WHERE s.number IS NOT NULL OR s.code IS NOT NULL
     GROUP BY 1, 2),
  label AS MATERIALIZED (
    SELECT s.place, CASE WHEN (k).order_by IS NULL THEN split_part(ltrim(s.label, '('), ',', 1)
                         ELSE s.label END AS label
      FROM sample s
     WHERE s.place IN (SELECT min(l.first) FROM cell l GROUP BY l.time
                        UNION ALL SELECT max(l.last) FROM cell l))
  SELECT (e.r).rows, (e.r).keys, (e.r).different, coalesce(c.times, 0),
         coalesce((c.whole).buckets, 0), coalesce(n.cells, '{}'), b.key_from, b.key_to, b.key_label,
         t.time_from, (SELECT l.label FROM label l ORDER BY l.place DESC LIMIT 1), NULL::float8,
         (k).relation, CASE WHEN all_columns THEN (k).column_names ELSE (k).name END,
         (k).order_by::text, NULL, NULL, NULL
    FROM seen e
    LEFT JOIN scale c ON true
   CROSS JOIN LATERAL (
     SELECT array_agg(coalesce(l.rows, 0) ORDER BY g.time, h.bucket) AS cells
       FROM generate_series(1, c.times) g (time)
      CROSS JOIN generate_series(1, (c.whole).buckets) h (bucket)
       LEFT JOIN cell l ON l.time = g.time AND l.bucket = h.bucket) n
   CROSS JOIN LATERAL (
     SELECT array_agg(q.key_from ORDER BY g.bucket) AS key_from,
            array_agg(q.key_to ORDER BY g.bucket) AS key_to,
            -- beside a picture, without most of a long text that all begin with
            array_agg(CASE WHEN (c.whole).prefix <= 12 THEN q.key_from
                           ELSE '..' || substr(q.key_from,
                             CASE WHEN (c.whole).type = 'bytea'::regtype
                                  THEN 2 * (c.whole).prefix - 1
                                  ELSE (c.whole).prefix - 3 END) END
                      ORDER BY g.bucket) AS key_label
       FROM generate_series(1, (c.whole).buckets) g (bucket)
       LEFT JOIN (SELECT l.bucket, min(l.key_from) AS key_from, max(l.key_to) AS key_to
                    FROM cell l GROUP BY l.bucket) l ON l.bucket = g.bucket
      CROSS JOIN LATERAL spanner_internal.bucket_bounds(
        c.whole, g.bucket, l.key_from, l.key_to) q) b
   CROSS JOIN LATERAL (
     SELECT array_agg(l.label ORDER BY g.time) AS time_from
       FROM generate_series(1, c.times) g (time)
       LEFT JOIN (SELECT l.time, min(l.first) AS place FROM cell l GROUP BY l.time) f
         ON f.time = g.time
       LEFT JOIN label l ON l.place = f.place) t;
END;

-- The same, or an error where no row was found.  If the first column has fewer values than there
-- are buckets, "all_columns" has all of them count.
CREATE FUNCTION spanner_internal.fill_buckets(
  k spanner_internal.picture_key, time_buckets integer, key_buckets integer, all_columns boolean)
RETURNS spanner_internal.heatmap
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
  b spanner_internal.heatmap := spanner_internal.count_buckets(k, false, time_buckets, key_buckets);
BEGIN
  IF all_columns AND k.column_names IS NOT NULL AND b.keys > 0 AND b.different <= key_buckets THEN
    b := spanner_internal.count_buckets(k, true, time_buckets, key_buckets);
  END IF;
  IF b.keys = 0 AND k.fraction < 1 THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('found no rows with a key in relation "%s"', k.relname),
      HINT = 'Use a larger sample_rows, or VACUUM FULL a table that is almost empty.';
  END IF;
  b.total := CASE WHEN k.fraction = 1 THEN b.rows
    WHEN k.counted AND NOT EXISTS (SELECT FROM pg_index i
                                    WHERE i.indexrelid = k.indexid AND i.indpred IS NOT NULL)
    THEN k.tuples ELSE round(b.rows / k.fraction) END;
  b.origin := CASE WHEN k.fraction < 1 THEN
           format('Drawn from a sample of %s of about %s rows.',
                  to_char(b.keys, 'FM999,999,999,999,990'),
                  to_char(b.keys * b.total / b.rows, 'FM999,999,999,999,990'))
         WHEN b.keys = 1 THEN 'Drawn from 1 row.'
         ELSE format('Drawn from all %s rows.', to_char(b.keys, 'FM999,999,999,999,990')) END;
  RETURN b;
END
$$;

CREATE FUNCTION spanner.key_histogram(
  relation regclass, buckets integer DEFAULT 32, column_name name DEFAULT NULL,
  sample_rows integer DEFAULT 30000,
  OUT bucket integer, OUT key_from text, OUT key_to text, OUT rows bigint,
  OUT share double precision)
RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  b spanner_internal.heatmap;
BEGIN
  IF relation IS NULL THEN
    RETURN;
  END IF;
  PERFORM spanner_internal.check_range('buckets', buckets, 10000);
  b := spanner_internal.fill_buckets(
    spanner_internal.plan_sample(relation, column_name, '', sample_rows), 1,
    coalesce(buckets, 32), false);
  RETURN QUERY
  SELECT c.n::integer, c.key_from, c.key_to, round(c.cell * (b.total / nullif(b.rows, 0)))::bigint,
         c.cell::float8 / b.rows
    FROM (SELECT u.n, u.key_from, u.key_to, u.cell
            FROM ROWS FROM (unnest(b.cells), unnest(b.key_from), unnest(b.key_to))
                 WITH ORDINALITY u (cell, key_from, key_to, n)
           UNION ALL
          SELECT NULL, NULL, NULL, b.rows - b.keys
           WHERE b.rows > b.keys) c;
END
$$;

COMMENT ON FUNCTION spanner.key_histogram(regclass, integer, name, integer)
  IS 'rows in each of equal parts of key space, '
  'estimated from a sample of so many rows unless the table has fewer';

-- The share of the busiest of some key ranges in each of some slices of time, and how many of the
-- ranges have a quarter of an even share at least.
CREATE FUNCTION spanner_internal.busiest_shares(
  cells bigint[], time_buckets integer, key_buckets integer, slices integer, ranges integer,
  OUT shares float8[], OUT places bigint[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH range AS (
    SELECT (((u.n - 1) / key_buckets + 1) * slices - 1) / time_buckets AS n, sum(u.rows) AS rows
      FROM unnest(cells) WITH ORDINALITY u (rows, n)
     GROUP BY 1, (u.n - 1) % key_buckets / (key_buckets / ranges)),
  share AS (
    SELECT r.n,
           coalesce(r.rows / nullif(sum(r.rows) OVER (PARTITION BY r.n), 0), 0)::float8 AS share
      FROM range r),
  slice AS (
    SELECT s.n, max(s.share) AS share, count(*) FILTER (WHERE s.share * ranges >= 0.25) AS places
      FROM share s
     GROUP BY s.n)
  SELECT array_agg(s.share ORDER BY s.n), array_agg(s.places ORDER BY s.n) FROM slice s;
END;

-- What the share of the busiest key range says, and how many ranges get rows at a time.
CREATE FUNCTION spanner_internal.verdict_on(busiest float8, places numeric, ranges integer)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN e.excess >= 0.5 THEN 'hotspot'
              WHEN e.excess >= 0.15 OR places * 2 <= ranges THEN 'uneven'
              ELSE 'even' END
    FROM (SELECT (busiest - 1.0::float8 / ranges) / (1 - 1.0::float8 / ranges) AS excess) e;
END;

-- Few rows go to few keys by chance.  A slice of time hides that a key grows if the key passes a
-- whole key range in it.  So there may be fewer slices than time buckets, and fewer ranges than key
-- buckets.  The last quarter of the slices tells what the key does now.  If it did something else
-- before, for an eighth of the time at least, it changed where the means of the slices before and
-- after differ most.  No row if there are too few rows to tell.
CREATE FUNCTION spanner_internal.judge_buckets(
  b spanner_internal.heatmap,
  OUT verdict text, OUT ranges integer, OUT busiest float8, OUT places integer, OUT since integer,
  OUT earlier text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  WITH division AS (
    SELECT r.ranges,
           least((b).time_buckets, (b).keys / greatest(100, 10 * r.ranges))::integer AS slices
      FROM generate_series(2, (b).key_buckets) r (ranges)
     WHERE (b).key_buckets % r.ranges = 0),
  chosen AS MATERIALIZED (
    SELECT d.ranges, d.slices, d.slices - greatest(d.slices / 4, 1) AS late,
           q.shares, q.places
      FROM (SELECT d.ranges, d.slices
              FROM division d
             WHERE d.slices >= d.ranges
             ORDER BY d.ranges DESC LIMIT 1) d
     CROSS JOIN LATERAL spanner_internal.busiest_shares(
       (b).cells, (b).time_buckets, (b).key_buckets, d.slices, d.ranges) q
     WHERE d.slices >= 4),
  now AS (
    SELECT c.*, m.busiest, round(m.used)::integer AS used,
           spanner_internal.verdict_on(m.busiest, m.used, c.ranges) AS verdict
      FROM chosen c
     CROSS JOIN LATERAL (SELECT avg(u.share) AS busiest, avg(u.places) AS used
                           FROM unnest(c.shares[c.late + 1:], c.places[c.late + 1:])
                                u (share, places)) m)
  SELECT n.verdict, n.ranges, n.busiest, n.used, e.slice * (b).time_buckets / n.slices, e.verdict
    FROM now n
    LEFT JOIN LATERAL (
      SELECT s.slice, spanner_internal.verdict_on(m.before, m.used, n.ranges) AS verdict
        FROM generate_series((n.slices + 7) / 8, n.late) s (slice)
       CROSS JOIN LATERAL (
         SELECT avg(u.share) FILTER (WHERE u.i <= s.slice) AS before,
                avg(u.share) FILTER (WHERE u.i > s.slice) AS after,
                avg(u.places) FILTER (WHERE u.i <= s.slice) AS used
           FROM unnest(n.shares, n.places) WITH ORDINALITY u (share, places, i)) m
       WHERE m.before <> m.after
         AND spanner_internal.verdict_on(m.before, m.used, n.ranges) <> n.verdict
       ORDER BY (m.after - m.before) ^ 2 * s.slice * (n.slices - s.slice) DESC, s.slice
       LIMIT 1) e ON true;
END;

-- The verdict, and a sentence that tells it.  A key that orders the rows does not tell where they
-- were inserted.
CREATE FUNCTION spanner_internal.describe_buckets(
  b spanner_internal.heatmap, own_order boolean, OUT verdict text, OUT finding text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN t.text IS NULL THEN j.verdict
              WHEN (b).keys >= 100 AND (b).key_buckets = 1 THEN 'hotspot'
              ELSE 'unknown' END,
         coalesce(t.text, format(
           '%s%s: %sat any time the busiest of %s takes %s %% of the new rows; '
           'an even share is %s %%.%s', initcap(j.verdict),
           CASE WHEN j.since IS NULL THEN ''
                WHEN (b).order_by IS NULL THEN ' since block ' || s.label
                ELSE ' since ' || s.label || ' (' || (b).order_by || ')' END,
           CASE WHEN j.verdict = 'uneven' AND j.places BETWEEN 2 AND j.ranges / 2
                THEN j.places || ' places; ' END,
           CASE WHEN j.ranges = (b).key_buckets THEN j.ranges || ' key ranges'
                ELSE format('%s groups of %s key ranges', j.ranges, (b).key_buckets / j.ranges) END,
           round(100 * j.busiest), round(100.0::float8 / j.ranges),
           ' Until then it was ' || CASE j.earlier WHEN 'hotspot' THEN 'a hotspot'
                                                   ELSE j.earlier END || '.'))
    FROM (VALUES (1)) one
    LEFT JOIN spanner_internal.judge_buckets(b) j ON true
   CROSS JOIN LATERAL (SELECT coalesce((b).time_from[j.since + 1], '?') AS label) s
   CROSS JOIN LATERAL (
     SELECT CASE WHEN (b).keys = 0 THEN 'There are no rows with a key yet.'
                 WHEN (b).keys < 100 THEN 'Too few rows to tell how they spread.'
                 WHEN (b).key_buckets = 1 THEN 'One key: all rows go to the same place.'
                 WHEN own_order THEN 'Ordered by the key itself, '
                   'which does not tell where rows were inserted.'
                 WHEN j.verdict IS NULL THEN 'Too few rows to tell how they spread.' END AS text) t;
END;

-- The key is chosen as for key_histogram().  The order of insertion is that of the column order_by,
-- or if that is NULL the place in the table.
CREATE FUNCTION spanner_internal.read_heatmap(
  relation regclass, time_buckets integer, key_buckets integer, column_name name, order_by name,
  sample_rows integer)
RETURNS spanner_internal.heatmap
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  k spanner_internal.picture_key;
  h spanner_internal.heatmap;
BEGIN
  IF relation IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM spanner_internal.check_range('time_buckets', time_buckets, 400),
          spanner_internal.check_range('key_buckets', key_buckets, 200);
  k := spanner_internal.plan_sample(relation, column_name, order_by, sample_rows);
  IF order_by IS NULL AND k.relkind = 'p' THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('the rows of partitioned table "%s" have no physical order', k.relname),
      HINT = 'Name a column that tells the order of insertion with order_by, or take a partition.';
  END IF;
  h := spanner_internal.fill_buckets(k, coalesce(time_buckets, 40), coalesce(key_buckets, 20),
                                     true);
  SELECT d.verdict, d.finding INTO h.verdict, h.finding
    FROM spanner_internal.describe_buckets(h, k.order_by = k.name) d;
  RETURN h;
END
$$;

-- The cells of a picture as rows, and how dense they are compared with an even spread: step 0 is
-- for no row, the others begin at 0, a quarter, a half, 2, 4, 8 and 16 times.
CREATE FUNCTION spanner_internal.heatmap_cells(h spanner_internal.heatmap)
RETURNS TABLE (time_bucket integer, key_bucket integer, sampled bigint, rows bigint, ratio numeric,
               step integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT ((u.n - 1) / (h).key_buckets + 1)::integer, ((u.n - 1) % (h).key_buckets + 1)::integer,
         u.cell, round(u.cell * ((h).total / s.rows::float8))::bigint, r.ratio,
         CASE WHEN r.ratio = 0 THEN 0
              ELSE 1 + width_bucket(r.ratio, '{0.25,0.5,2,4,8,16}'::numeric[]) END
    FROM unnest((h).cells) WITH ORDINALITY u (cell, n)
   CROSS JOIN (SELECT sum(c) AS rows FROM unnest((h).cells) c) s
   CROSS JOIN LATERAL (
     SELECT u.cell * (h).time_buckets * (h).key_buckets / s.rows AS ratio) r;
END;

CREATE FUNCTION spanner.key_heatmap(
  relation regclass, time_buckets integer DEFAULT 40, key_buckets integer DEFAULT 20,
  column_name name DEFAULT NULL, order_by name DEFAULT NULL, sample_rows integer DEFAULT 30000,
  OUT time_bucket integer, OUT time_from text, OUT key_bucket integer, OUT key_from text,
  OUT key_to text, OUT rows bigint)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT c.time_bucket, (h).time_from[c.time_bucket], c.key_bucket,
         (h).key_from[c.key_bucket], (h).key_to[c.key_bucket], c.rows
    FROM (SELECT spanner_internal.read_heatmap($1, $2, $3, $4, $5, $6) AS h OFFSET 0) q
   CROSS JOIN LATERAL spanner_internal.heatmap_cells(h) c
   ORDER BY 1, 3;
END;

COMMENT ON FUNCTION spanner.key_heatmap(regclass, integer, integer, name, name, integer)
  IS 'rows by key range and order of insertion, '
  'estimated from a sample of so many rows unless the table has fewer';
