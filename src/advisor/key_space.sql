/* src/advisor/key_space.sql */

-- Advisor: keys of a sample of rows, and buckets of equal width in key space

-- What is sampled: a column or an index of a table, which part of the rows, and by which column, or
-- by their place in the table, they are ordered.
CREATE TYPE spanner_internal.picture_key AS (
  relid oid, relation text, relname name, relkind "char",
  indexid oid, column_name name, name text, column_names text, order_by name,
  wanted float8, tuples float8, counted boolean, fraction float8,
  block_percent float8, row_share float8);

-- A sample, in short: how many rows and how many with a key, the numbers and texts at the ends,
-- texts here and there.  "values" is all the different keys if they are few.
CREATE TYPE spanner_internal.key_range AS (
  rows bigint, keys bigint, type oid, ranked boolean,
  lowest numeric, low numeric, high numeric, highest numeric,
  first text, last text, chosen text[], different bigint, "values" text[]);

-- What buckets begin with: numbers or texts.  "step" is the distance of neighbours, 0 if there are
-- none; "low" and "high" are what the first bucket begins and the last one ends with.  All texts
-- have "prefix" characters in common.  Keys that are "ranked" begin with their rank.
CREATE TYPE spanner_internal.key_scale AS (
  type oid, buckets integer, numbers numeric[], texts text[],
  low numeric, high numeric, step numeric, prefix integer, ranked boolean);

-- A picture: its cells, by time bucket and then by key bucket, count sampled rows.  key_from and
-- the like are what a bucket begins with.
CREATE TYPE spanner_internal.heatmap AS (
  rows bigint, keys bigint, different bigint, time_buckets integer, key_buckets integer,
  cells bigint[], key_from text[], key_to text[], key_label text[],
  time_from text[], time_to text, total float8,
  relation text, key_name text, order_by text, verdict text, finding text, origin text);

-- Keys of a sample of the rows of a table, as numbers or texts.
CREATE FUNCTION spanner_internal.sample_keys(
  relation oid, indexid oid, column_name name, all_columns boolean, order_by name,
  block_percent float8, row_share float8)
RETURNS TABLE (type oid, number numeric, key text, rank bigint, place bigint, label text)
AS 'MODULE_PATHNAME', 'spanner_sample_keys'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED ROWS 30000;

-- Refuse to sample what has no rows here.
CREATE FUNCTION spanner_internal.check_sampled(relation oid)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_check_sampled'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- The pages of a table and its partitions, and how many rows a page has.
CREATE FUNCTION spanner_internal.list_density(relation oid)
RETURNS TABLE (reltuples float8, pages float8, density float8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
  SELECT c.reltuples, coalesce(pg_relation_size(c.oid), 0) / current_setting('block_size')::float8,
         CASE WHEN c.reltuples >= 0 AND c.relpages > 0 THEN c.reltuples / c.relpages
              ELSE (SELECT greatest(8000.0 / (28 + coalesce(sum(
                             CASE WHEN a.attlen > 0 THEN a.attlen ELSE 32 END), 0)), 1)
                      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) END
    FROM spanner_internal.list_parts(relation) p (oid)
    JOIN pg_class c ON c.oid = p.oid AND c.relkind <> 'p';
END;

-- Refuse a number of buckets, or of rows.
CREATE FUNCTION spanner_internal.check_range(argument text, value integer, most integer)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF value NOT BETWEEN 1 AND most THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('%s must be between 1 and %s', argument, most);
  END IF;
END
$$;

-- The key that an index is, or the primary key of a table, or a column; and which of the rows are
-- read.  Where nobody has counted the rows of a table or a partition, their number is guessed by
-- the width of the columns.  A table with few rows is read whole.  Of the others, 10 rows of a
-- block are taken on average.  For fewer than 100 rows, all blocks could be empty.
CREATE FUNCTION spanner_internal.plan_sample(
  relation oid, column_name name, order_by name, sample_rows integer)
RETURNS spanner_internal.picture_key
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  k spanner_internal.picture_key;
  pages float8;
  share float8;
BEGIN
  k.relid := coalesce((SELECT i.indrelid FROM pg_index i WHERE i.indexrelid = relation), relation);
  k.column_name := column_name;
  k.name := column_name;
  k.order_by := order_by;
  k.wanted := greatest(coalesce(sample_rows, 30000), 100);
  SELECT format('%I.%I', CASE n.oid WHEN pg_my_temp_schema() THEN 'pg_temp' ELSE n.nspname END,
                c.relname), c.relname, c.relkind
    INTO k.relation, k.relname, k.relkind
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = k.relid;
  PERFORM spanner_internal.check_sampled(coalesce(k.relid, 0)),
          spanner_internal.check_range('sample_rows', sample_rows, 10000000);
  IF column_name IS NULL THEN
    SELECT i.indexrelid, coalesce(a.attname, pg_get_indexdef(i.indexrelid, 1, false)),
           CASE WHEN i.indnkeyatts > 1 AND m.amname = 'btree'
                THEN (SELECT string_agg(pg_get_indexdef(i.indexrelid, g, false), ', ' ORDER BY g)
                        FROM generate_series(1, i.indnkeyatts) g) END
      INTO k.indexid, k.name, k.column_names
      FROM pg_index i
      JOIN pg_class c ON c.oid = i.indexrelid
      JOIN pg_am m ON m.oid = c.relam
      LEFT JOIN pg_attribute a ON a.attrelid = k.relid AND a.attnum = nullif(i.indkey[0], 0)
     WHERE i.indrelid = k.relid
       AND CASE WHEN relation = k.relid THEN i.indisprimary ELSE i.indexrelid = relation END;
    IF k.indexid IS NULL THEN
      RAISE undefined_object USING MESSAGE = format('relation "%s" has no primary key', k.relname),
        HINT = 'Name a column with column_name, or give an index instead of the relation.';
    END IF;
  END IF;
  SELECT coalesce(sum(s.pages), 0), coalesce(round(sum(s.pages * s.density)), 0),
         coalesce(bool_and(s.reltuples >= 0), true)
    INTO pages, k.tuples, k.counted
    FROM spanner_internal.list_density(k.relid) s;
  k.fraction := least(k.wanted / nullif(k.tuples, 0), 1);
  share := least(greatest(k.fraction, k.wanted / nullif(10 * pages, 0)), 1);
  k.row_share := k.fraction / share;
  k.block_percent := 100 * share;
  RETURN k;
END
$$;

-- A number as a value of the type of the keys: of a UUID the first 8 bytes.
CREATE FUNCTION spanner_internal.number_label(type oid, number numeric, upper boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET extra_float_digits = 0
RETURN CASE
  WHEN type = ANY ('{float4,float8}'::regtype[])
    OR type = 'numeric'::regtype AND abs(number) >= 1e20 THEN number::float8::text
  WHEN type = 'numeric'::regtype
    THEN trim_scale(round(number, CASE WHEN abs(number) < 1 THEN 15
                                       ELSE 15 - length(trunc(abs(number))::text) END))::text
  WHEN number IN ('NaN', 'Infinity', '-Infinity') THEN lower(number::text)
  ELSE CASE type
    WHEN 'bool'::regtype THEN CASE number WHEN 0 THEN 'f' ELSE 't' END
    WHEN 'date'::regtype THEN ('1970-01-01'::date + div(number, 86400)::integer)::text
    WHEN 'time'::regtype
      THEN CASE WHEN number >= 86400 THEN '24:00:00'
                ELSE ('00:00'::time + number::float8 * interval '1 second')::text END
    WHEN 'timestamp'::regtype
      THEN ('1970-01-01'::timestamp + make_interval(days => div(number, 86400)::integer,
                                                    secs => mod(number, 86400)::float8))::text
    WHEN 'timestamptz'::regtype
      THEN (('1970-01-01'::timestamp + make_interval(days => div(number, 86400)::integer,
                                                     secs => mod(number, 86400)::float8))
            AT TIME ZONE 'UTC')::text
    WHEN 'uuid'::regtype
      THEN (lpad(to_hex((CASE WHEN number >= 9223372036854775808
                              THEN number - 18446744073709551616 ELSE number END)::bigint),
                 16, '0') || repeat(CASE WHEN upper THEN 'f' ELSE '0' END, 16))::uuid::text
    ELSE number::text END END;

-- Where there are few positions, each has a bucket.  If the sampled keys look as if they were
-- spread over all values that have 15, 31, 53 or 63 bits, or over all UUIDs, those are the range: a
-- key that counts rows never looks so.  What is infinite or no number goes to the outermost
-- buckets.
CREATE FUNCTION spanner_internal.scale_numbers(
  r spanner_internal.key_range, tuples float8, buckets integer)
RETURNS spanner_internal.key_scale
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  s spanner_internal.key_scale;
  whole numeric := CASE
    WHEN r.type = 'uuid'::regtype AND r.low < 1152921504606846976 AND r.high > 17293822569102704639
    THEN 18446744073709551615
    WHEN r.type IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) AND r.low >= 0 THEN (
      SELECT min(2 * b.half - 1)
        FROM unnest('{16384,1073741824,4503599627370496,4611686018427387904}'::numeric[]) b (half)
       WHERE r.low < b.half / 2 AND r.high >= b.half AND r.high < 2 * b.half
         AND tuples < b.half::float8 / 8) END;
  low numeric := CASE WHEN whole IS NULL THEN coalesce(r.low, 0) ELSE 0 END;
  high numeric := coalesce(whole, r.high, 0);
  last numeric;
  width numeric;
BEGIN
  s.type := r.type;
  s.prefix := 0;
  s.step := CASE WHEN r.type = 'date'::regtype THEN 86400
    WHEN r.type IN ('time'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) THEN 0.000001
    WHEN r.type IN ('float4'::regtype, 'float8'::regtype, 'numeric'::regtype) THEN 0
    ELSE 1 END;
  s.low := least(r.lowest, low);
  s.high := greatest(r.highest, high);
  IF high = low THEN
    s.numbers := (CASE WHEN s.low < low THEN '{-Infinity}'::numeric[] END || low
                  || CASE WHEN s.high > high THEN '{Infinity}'::numeric[] END)[:buckets];
  ELSIF s.step = 0 THEN
    s.numbers := ARRAY(SELECT low + (high - low) * b / buckets
                         FROM generate_series(0, buckets - 1) b);
  ELSE
    last := div(high - low, s.step);
    width := div(last, buckets);
    IF s.step < 1 AND width > 100000000 THEN
      width := ceil(width / 1000000) * 1000000;
    ELSIF width < 1048576 OR mod(last, buckets) = buckets - 1 THEN
      width := width + 1;
    END IF;
    s.numbers := ARRAY(SELECT low + width * s.step * b
                         FROM generate_series(0, least(div(last, width), buckets - 1)) b);
  END IF;
  s.buckets := cardinality(s.numbers);
  s.numbers[1] := '-Infinity';
  RETURN s;
END
$$;

-- Texts are numbers, too: behind what all keys begin with, the characters that occur at a place are
-- its digits.  So keys of decimal or hexadecimal digits spread over the whole space.  Places are
-- added until there are a thousand positions in a bucket.  Byte strings are texts of two digits for
-- each byte.
CREATE FUNCTION spanner_internal.text_starts(
  keys text[], first text, last text, unit integer, buckets integer, prefix integer)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH RECURSIVE place (n, symbols, size, low, high) AS (
    SELECT prefix, NULL::text[], 1::numeric, 0::numeric, 0::numeric
     UNION ALL
    SELECT p.n + 1, s.symbols, p.size * cardinality(s.symbols),
           p.low * cardinality(s.symbols)
           + array_position(s.symbols, substr(first, p.n * unit + 1, unit)) - 1,
           p.high * cardinality(s.symbols)
           + array_position(s.symbols, substr(last, p.n * unit + 1, unit)) - 1
      FROM place p
     CROSS JOIN LATERAL (
       SELECT array_agg(c.symbol ORDER BY c.symbol COLLATE "C") AS symbols
         FROM (SELECT DISTINCT substr(k, p.n * unit + 1, unit)
                 FROM unnest(keys || ARRAY[first, last]) k) c (symbol)) s
     WHERE p.high - p.low < 1000::numeric * buckets AND p.n < 64),
  whole AS (
    SELECT p.low, p.high, p.size FROM place p ORDER BY p.n DESC LIMIT 1),
  bucket AS (
    SELECT b.n, w.low + div((w.high - w.low + 1) * (b.n - 1), buckets) AS position, w.size
      FROM whole w
     CROSS JOIN generate_series(1, least(buckets, 10000)) b (n)),
  digit AS (
    SELECT b.n, p.n AS place, p.symbols[mod(div(b.position, b.size / p.size),
                                            cardinality(p.symbols))::integer + 1] AS symbol
      FROM bucket b
      JOIN place p ON p.symbols IS NOT NULL),
  start AS (
    SELECT d.n, string_agg(d.symbol, '' ORDER BY d.place) AS symbols
      FROM (SELECT d.n, d.place, d.symbol,
                   bool_or(d.symbol = '') OVER (PARTITION BY d.n ORDER BY d.place) AS ended
              FROM digit d) d
     WHERE NOT d.ended OR d.symbol = ''
     GROUP BY d.n)
  SELECT array_agg(CASE s.n WHEN 1 THEN '' ELSE left(first, prefix * unit) || s.symbols END
                   ORDER BY s.n)
    FROM start s;
END;

-- Few different texts have a bucket each.  Keys that are known by their rank have as many rows in
-- each bucket.
CREATE FUNCTION spanner_internal.scale_texts(
  r spanner_internal.key_range, buckets integer)
RETURNS spanner_internal.key_scale
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  s spanner_internal.key_scale;
  unit integer := CASE WHEN r.type = 'bytea'::regtype THEN 2 ELSE 1 END;
  width bigint := (r.keys - 1) / buckets;
BEGIN
  s.type := r.type;
  s.ranked := r.ranked;
  s.prefix := 0;
  IF r.different <= buckets THEN
    s.texts := r."values";
  ELSIF r.ranked THEN
    width := width + (width < 1048576 OR (r.keys - 1) % buckets = buckets - 1)::integer;
    s.texts := ARRAY(SELECT lpad((width * b + 1)::text, 19, '0')
                        FROM generate_series(0, least((r.keys - 1) / width + 1, buckets) - 1) b);
  ELSE
    s.prefix := (SELECT min(g) - 1 FROM generate_series(1, 65) g
                  WHERE substr(r.first, (g - 1) * unit + 1, unit)
                     <> substr(r.last, (g - 1) * unit + 1, unit));
    s.texts := spanner_internal.text_starts(r.chosen, r.first, r.last, unit, buckets, s.prefix);
  END IF;
  s.buckets := cardinality(s.texts);
  RETURN s;
END
$$;

-- What a bucket begins and ends with.  Texts are sampled keys, NULL if there are none.  A number at
-- the end is the last in the bucket, or the first of the next if keys have no neighbours, such as
-- times.
CREATE FUNCTION spanner_internal.bucket_bounds(
  s spanner_internal.key_scale, bucket integer, first text, last text,
  OUT key_from text, OUT key_to text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN (s).ranked THEN substr(first, 20)
              WHEN (s).type = 'bytea'::regtype THEN '\x' || first
              WHEN (s).numbers IS NULL THEN first
              ELSE spanner_internal.number_label((s).type, CASE bucket WHEN 1 THEN (s).low
                     ELSE (s).numbers[bucket] END, false) END,
         CASE WHEN (s).ranked THEN substr(last, 20)
              WHEN (s).type = 'bytea'::regtype THEN '\x' || last
              WHEN (s).numbers IS NULL THEN last
              ELSE spanner_internal.number_label((s).type, CASE bucket
                     WHEN (s).buckets THEN (s).high
                     WHEN (s).buckets - 1 THEN least((s).numbers[bucket + 1], (s).high) - n.distance
                     ELSE (s).numbers[bucket + 1] - n.distance END, true) END
    FROM (SELECT CASE WHEN (s).step >= 1 THEN (s).step ELSE 0 END AS distance) n;
END;
