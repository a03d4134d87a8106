/* src/splits/points.sql */

--
-- Splits: where to split, by the rows
--

-- What is known of the first column of the key that a table is split by, or
-- would be: of the partition key, else of the primary key.
CREATE FUNCTION spanner_internal.split_column(
  relation regclass,
  OUT name name,
  OUT attnum smallint,
  OUT type regtype,
  OUT expression text,
  OUT typename text,
  OUT collation_clause text)
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT a.attname, coalesce(p.partattrs[0], i.indkey[0]),
         CASE WHEN a.attnum IS NOT NULL THEN t.oid
              WHEN e.text IS NOT NULL THEN 'integer'::regtype END,
         coalesce(quote_ident(a.attname), e.text),
         CASE WHEN a.attnum IS NOT NULL THEN format_type(t.oid, NULL)
              WHEN e.text IS NOT NULL THEN 'integer' END,
         coalesce(' COLLATE ' || nullif(coalesce(nullif(p.partcollation[0], 0), a.attcollation),
                                        0)::regcollation, '')
    FROM (VALUES (relation)) c (oid)
    LEFT JOIN pg_partitioned_table p ON p.partrelid = c.oid
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
                            AND a.attnum = coalesce(p.partattrs[0], i.indkey[0])
    LEFT JOIN pg_type t ON t.oid = spanner_internal.base_type(a.atttypid) AND t.typtype = 'b'
                       AND t.typnamespace = 'pg_catalog'::regnamespace
   CROSS JOIN LATERAL pg_get_expr(p.partexprs, p.partrelid) e (text);
END;

-- Is x.v, a value of the key, strictly between the bounds of a partition?  The type is one of the
-- server itself, and the bounds are literals, as the catalogs here have them.
CREATE FUNCTION spanner_internal.inside_condition(typename text, lower text, upper text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN concat_ws(' AND ', 'true',
         CASE WHEN lower <> 'MINVALUE' THEN format('x.v > %s::%s', lower, typename) END,
         CASE WHEN upper <> 'MAXVALUE' THEN format('x.v < %s::%s', upper, typename) END);

-- What ANALYZE has sampled, on each server for its part: values that are common, with their shares
-- of the rows, and bounds of equal shares of the others.
CREATE FUNCTION spanner_internal.split_sample(relation regclass, OUT value text, OUT rows float8)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  parent regclass := coalesce(spanner_internal.parent_of(relation), relation);
  key record := spanner_internal.split_column(parent);
  part record;
  facts jsonb;
BEGIN
  IF key.name IS NULL THEN
    RAISE wrong_object_type USING
      MESSAGE = format('"%s" has no column that it can be split by',
                       (SELECT relname FROM pg_class WHERE oid = relation)),
      HINT = 'Name a table with a primary key, or one that is partitioned by a column.';
  ELSIF key.typename IS NULL THEN
    RAISE datatype_mismatch USING
      MESSAGE = format('cannot split by column "%s", which has no type of the server itself',
                       key.name),
      HINT = 'Use bounds of your own.';
  END IF;
  FOR part IN
    SELECT s.server, s.schemaname, s.tablename
      FROM spanner_internal.list_splits(parent) s
     WHERE parent <> relation AND s.partition = relation
        OR parent = relation AND (SELECT relkind FROM pg_class WHERE oid = relation) = 'p'
    UNION ALL
    SELECT NULL, n.nspname, c.relname
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = relation AND c.relkind = 'r' AND parent = relation
  LOOP
    facts := spanner_internal.ask_server(part.server, part.schemaname, part.tablename, key.name);
    CONTINUE WHEN coalesce((facts #>> '{table,rows}')::float8, 0) = 0;
    IF jsonb_typeof(facts -> 'column') IS DISTINCT FROM 'object' THEN
      RAISE object_not_in_prerequisite_state USING
        MESSAGE = format('there are no statistics for column "%s" of table "%s"%s', key.name,
                         part.tablename, ' on server "' || part.server || '"'),
        HINT = 'Run ANALYZE on the table there.';
    END IF;
    RETURN QUERY
      SELECT x.value, x.share * (facts #>> '{table,rows}')::float8
        FROM jsonb_to_record(facts -> 'column')
             c (histogram_bounds text[], most_common_vals text[], most_common_freqs float8[])
       CROSS JOIN LATERAL (
         SELECT * FROM unnest(c.most_common_vals, c.most_common_freqs)
         UNION ALL
         SELECT b, (1 - coalesce((SELECT sum(s) FROM unnest(c.most_common_freqs) s), 0))
                   / (cardinality(c.histogram_bounds) - 1)
           FROM unnest(c.histogram_bounds[2:]) b) x (value, share);
  END LOOP;
END
$$;

CREATE FUNCTION spanner.split_points(relation regclass, n integer)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  parent regclass := spanner_internal.parent_of(relation);
  key record := spanner_internal.split_column(coalesce(parent, relation));
  typename text := coalesce(key.typename, 'text');
  part record;
  points text[];
BEGIN
  PERFORM spanner_internal.check_split_count(n, 0, '');
  -- statistics may be older than the bounds
  SELECT s.lower, s.upper INTO part
    FROM spanner_internal.list_splits(parent) s WHERE s.partition = relation;
  EXECUTE format(
    'WITH sample AS (
       SELECT x.v, s.rows
         FROM spanner_internal.split_sample($1) s
        CROSS JOIN LATERAL (SELECT s.value::%1$s%2$s AS v) x
        WHERE %3$s),
     seen AS (
       SELECT v, sum(sum(rows)) OVER (ORDER BY v) AS rows
         FROM sample
        GROUP BY v),
     points AS (
       SELECT DISTINCT (SELECT s.v FROM seen s
                         WHERE s.rows >= t.rows * i / $2
                         ORDER BY s.v LIMIT 1) AS v
         FROM generate_series(1, $2 - 1) i, (SELECT max(rows) FROM seen) t (rows))
     SELECT array_agg(p.v::text ORDER BY p.v)
       FROM points p
      WHERE p.v > (SELECT v FROM seen ORDER BY v LIMIT 1)',
    typename, key.collation_clause,
    spanner_internal.inside_condition(typename, part.lower, part.upper))
    INTO points USING relation, n;
  IF n > 1 AND points IS NULL THEN
    RAISE object_not_in_prerequisite_state USING
      MESSAGE = format('table "%s" has no rows to split',
                       (SELECT relname FROM pg_class WHERE oid = relation)),
      HINT = 'spanner.split_points(n, bits, stripes) returns equal ranges of spread keys.';
  END IF;
  RETURN QUERY SELECT unnest(points);
END
$$;

COMMENT ON FUNCTION spanner.split_points(regclass, integer)
  IS 'the bounds between n ranges with equal numbers of rows, from the statistics of a table';

-- Without it, a constant without type could be the number n of spanner.split_points(n).
CREATE FUNCTION spanner.split_points(relation text, n integer)
RETURNS SETOF text
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT spanner.split_points(relation::regclass, n);
END;

COMMENT ON FUNCTION spanner.split_points(text, integer)
  IS 'the same for a table by its name';
