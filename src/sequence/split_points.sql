/* src/sequence/split_points.sql */

--
-- Sequences: equal ranges of the keys that a kind makes
--

-- Raise an error unless so many shards or stripes can be divided into so many splits.
CREATE FUNCTION spanner_internal.check_split_count(splits integer, units integer, unit text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  message text;
  hint text;
BEGIN
  IF splits NOT BETWEEN 1 AND 65536 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'number of splits must be between 1 and 65536',
      HINT = 'A small multiple of the number of servers suits most tables.';
  ELSIF units % splits <> 0 THEN
    message := format('cannot divide %s %s evenly into %s splits', units, unit, splits);
    hint := format('Possible numbers of splits are %s.',
      (SELECT string_agg(i::text, ', ' ORDER BY i)
         FROM generate_series(1, least(units, 65536)) i
        WHERE units % i = 0));
    IF unit = 'stripes' THEN
      RAISE invalid_parameter_value USING
        MESSAGE = message,
        DETAIL = concat('A split that ends within a stripe gets no rows from that stripe ',
                        'until it is full.'),
        HINT = hint;
    END IF;
    RAISE invalid_parameter_value USING MESSAGE = message, HINT = hint;
  END IF;
END
$$;

CREATE FUNCTION spanner.split_points(
  n integer,
  bits integer DEFAULT 63,
  stripes integer DEFAULT NULL)
RETURNS SETOF bigint
LANGUAGE plpgsql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  width constant integer := coalesce(bits, 63);
  half constant integer := 1 << (least(width, 31) - 1);
BEGIN
  IF n IS NULL THEN
    RETURN;
  END IF;
  PERFORM spanner_internal.check_split_count(n, 0, '');
  IF width NOT BETWEEN 2 AND 63 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'bits must be between 2 and 63',
      HINT = 'The view spanner.sequences shows the bits of a sequence.';
  ELSIF n > half THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('cannot make %s splits of keys of %s bits', n, width),
      HINT = format('Make at most %s splits.', half);
  ELSIF stripes NOT BETWEEN 2 AND least(half, 65536) OR stripes & (stripes - 1) <> 0 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('stripes must be a power of two between 2 and %s', least(half, 65536)),
      HINT = 'Use the number of stripes that the sequence has.';
  END IF;
  PERFORM spanner_internal.check_split_count(n, stripes, 'stripes');
  RETURN QUERY SELECT div(2::numeric ^ width * i, n)::bigint FROM generate_series(1, n - 1) i;
END
$$;

COMMENT ON FUNCTION spanner.split_points(integer, integer, integer)
  IS 'the bounds between n equal ranges of bit-reversed or striped keys';
