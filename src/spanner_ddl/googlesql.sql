-- What GoogleSQL's expressions become where PostgreSQL's own mean another thing: expression.c
-- writes calls of these, and PostgreSQL chooses the overload.  A function has GoogleSQL's name,
-- unless it is an operator or a cast there.
--
-- All are immutable.  Those of one expression are not strict, so that the planner can put the
-- expression in their place.  What is long, or takes others of these, is C.  A default must never
-- change, as a call that is stored is without it.

-- A literal of FLOAT64 next to other things: of NUMERIC next to one.  It has all digits that are
-- written.
CREATE TYPE spanner_internal.float_literal;
-- The type's own functions are those of numeric.
CREATE FUNCTION spanner_internal.float_literal_in(cstring, oid, integer)
RETURNS spanner_internal.float_literal
AS 'numeric_in' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
-- The same.
CREATE FUNCTION spanner_internal.float_literal_out(spanner_internal.float_literal)
RETURNS cstring
AS 'numeric_out' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE spanner_internal.float_literal (
  INPUT = spanner_internal.float_literal_in,
  OUTPUT = spanner_internal.float_literal_out,
  LIKE = numeric,
  CATEGORY = 'N');
-- What it becomes.
CREATE FUNCTION spanner_internal.literal_to_float(value spanner_internal.float_literal)
RETURNS double precision
AS 'numeric_float8' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
-- With 9 digits after the point.
CREATE FUNCTION spanner_internal.literal_to_numeric(value spanner_internal.float_literal)
RETURNS numeric
AS 'MODULE_PATHNAME', 'spanner_literal_to_numeric'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (spanner_internal.float_literal AS double precision)
  WITH FUNCTION spanner_internal.literal_to_float AS IMPLICIT;
CREATE CAST (spanner_internal.float_literal AS numeric)
  WITH FUNCTION spanner_internal.literal_to_numeric AS IMPLICIT;

-- Operators. So many digits that rounding twice does nothing.
CREATE FUNCTION spanner_internal.divide(a bigint, b bigint) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a::float8 / b::float8;
CREATE FUNCTION spanner_internal.divide(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a / b;
CREATE FUNCTION spanner_internal.divide(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (a::numeric(88,50) / b)::numeric(38,9);
CREATE FUNCTION spanner_internal.multiply(a integer, b integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a::bigint * b::bigint;
CREATE FUNCTION spanner_internal.multiply(a bigint, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a * b;
CREATE FUNCTION spanner_internal.multiply(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a * b;
CREATE FUNCTION spanner_internal.multiply(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (a * b)::numeric(38,9);
-- Of what may be arrays: an array and NULL are NULL.
CREATE FUNCTION spanner_internal.concat(a text, b text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a || b;
CREATE FUNCTION spanner_internal.concat(a bytea, b bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a || b;
CREATE FUNCTION spanner_internal.concat(a anycompatiblearray, b anycompatiblearray)
RETURNS anycompatiblearray
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN pg_catalog.array_cat($1, $2) END
$$;
CREATE FUNCTION spanner_internal.concat(a anycompatiblearray, b anycompatiblearray,
  c anycompatiblearray)
RETURNS anycompatiblearray
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.concat(spanner_internal.concat($1, $2), $3)
$$;

-- A number that is not negative, and not larger than PostgreSQL's lengths.
CREATE FUNCTION spanner_internal.checked_length(number bigint)
RETURNS integer
AS 'MODULE_PATHNAME', 'spanner_checked_length'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- A NUMERIC as INT64, NULL if it is none.
CREATE FUNCTION spanner_internal.checked_int(value numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value BETWEEN -9223372036854775808
  AND 9223372036854775807 THEN value::bigint END;

-- A number as NUMERIC, NULL if it is none.
CREATE FUNCTION spanner_internal.checked_numeric(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN abs(value) < 1e29 - 5e-10 THEN value::numeric(38,9) END;

-- The sign is a bit like the others, and 64 places leave 0.
CREATE FUNCTION spanner_internal.shift_left(value bigint, places bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN spanner_internal.checked_length(places) < 64
  THEN value << places::integer WHEN places >= 64 THEN value & 0 END;
CREATE FUNCTION spanner_internal.shift_right(value bigint, places bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN places BETWEEN 1 AND 63
  THEN (value >> places::integer) & (9223372036854775807 >> (places::integer - 1))
  WHEN spanner_internal.checked_length(places) = 0 THEN value WHEN places >= 64 THEN value & 0 END;

-- False of no array, which NULL is.
CREATE FUNCTION spanner_internal.in_unnest(value anycompatible, elements anycompatiblearray)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $2 IS NULL THEN false ELSE $1 OPERATOR(pg_catalog.=) ANY ($2) END
$$;

-- BETWEEN of a value that holds another one: PostgreSQL's own copies it.
CREATE FUNCTION spanner_internal.is_between(value anycompatible,
  low anycompatible, high anycompatible)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT $1 OPERATOR(pg_catalog.>=) $2 AND $1 OPERATOR(pg_catalog.<=) $3
$$;

-- The place of an element, from 1: an error if the array has none there.
CREATE FUNCTION spanner_internal.element_place(elements anyarray, place bigint, first bigint)
RETURNS integer
AS 'MODULE_PATHNAME', 'spanner_element_place'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.at_offset(elements anyarray, place bigint)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT $1[spanner_internal.element_place($1, $2, '0')]
$$;
CREATE FUNCTION spanner_internal.at_ordinal(elements anyarray, place bigint)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT $1[spanner_internal.element_place($1, $2, '1')]
$$;
CREATE FUNCTION spanner_internal.at_safe_offset(elements anyarray, place bigint)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT $1[($2 OPERATOR(pg_catalog.+) '1')::pg_catalog.int4]
$$;
CREATE FUNCTION spanner_internal.at_safe_ordinal(elements anyarray, place bigint)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT $1[$2::pg_catalog.int4]
$$;
CREATE FUNCTION spanner_internal.json_element(value jsonb, key text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value -> key;
CREATE FUNCTION spanner_internal.json_element(value jsonb, place bigint) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN place >= 0 THEN value -> place::integer END;

-- A half is rounded away from zero.
CREATE FUNCTION spanner_internal.float_round(value float8, digits bigint, truncates boolean)
RETURNS float8
AS 'MODULE_PATHNAME', 'spanner_float_round'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.round(value float8, digits bigint DEFAULT 0) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.float_round(value, digits, false);
CREATE FUNCTION spanner_internal.round(value numeric, digits bigint DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.round(value, digits::integer);

-- Casts, of which those that are safe return NULL in place of an error. A NUMERIC has all digits of
-- a float.
CREATE FUNCTION spanner_internal.to_int64(value bigint, safe boolean) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.to_int64(value boolean, safe boolean) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer::bigint;
CREATE FUNCTION spanner_internal.to_int64(value float8, safe boolean) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN NOT safe OR value BETWEEN -9223372036854775808 AND 9223372036854774784::float8
  THEN spanner_internal.round(value)::bigint END;
CREATE FUNCTION spanner_internal.to_int64(value numeric, safe boolean) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN safe
  THEN spanner_internal.checked_int(pg_catalog.round(value)) ELSE value::bigint END;
CREATE FUNCTION spanner_internal.to_int64(value text, safe boolean)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_text_to_int'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_bool(value bigint, safe boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value <> 0;
CREATE FUNCTION spanner_internal.to_bool(value boolean, safe boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.to_bool(value text, safe boolean)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_text_to_bool'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_date(value date, zone text, safe boolean) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.to_date(value text, zone text, safe boolean)
RETURNS date
AS 'MODULE_PATHNAME', 'spanner_text_to_date'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_date(value timestamptz, zone text, safe boolean)
RETURNS date
AS 'MODULE_PATHNAME', 'spanner_timestamp_to_date'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_timestamp(value date, zone text, safe boolean)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'spanner_date_to_timestamp'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_timestamp(value text, zone text, safe boolean)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'spanner_text_to_timestamp'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_timestamp(value timestamptz, zone text, safe boolean)
RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.to_float64(value float8, safe boolean) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.to_float64(value text, safe boolean)
RETURNS float8
AS 'MODULE_PATHNAME', 'spanner_text_to_float'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_float32(value float8, safe boolean) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN abs(value) <= 7.006492321624085e-46 THEN 0
  WHEN NOT safe OR abs(value) < 3.4028235677973366e38 OR abs(value) >= 'Infinity'
  THEN value::real END;
CREATE FUNCTION spanner_internal.to_float32(value text, safe boolean) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.to_float32(
  spanner_internal.to_float64(value, safe), safe);
CREATE FUNCTION spanner_internal.to_numeric(value bigint, safe boolean) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::numeric;
CREATE FUNCTION spanner_internal.to_numeric(value float8, safe boolean)
RETURNS numeric
AS 'MODULE_PATHNAME', 'spanner_float_to_numeric'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_numeric(value numeric, safe boolean) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.to_numeric(value text, safe boolean)
RETURNS numeric
AS 'MODULE_PATHNAME', 'spanner_text_to_numeric'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_uuid(value text, safe boolean) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
  WHEN NOT safe OR value ~* '^(?=[^{]*$|\{.*\}$)\{?([0-9a-f]{4}-?){7}[0-9a-f]{4}\}?$' COLLATE "C"
  THEN value::uuid END;
CREATE FUNCTION spanner_internal.to_uuid(value uuid, safe boolean) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.to_bytes(value bytea, safe boolean) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.string_to_bytes(value text)
RETURNS bytea
AS 'MODULE_PATHNAME', 'spanner_string_to_bytes'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_bytes(value text, safe boolean) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.string_to_bytes(value);
CREATE FUNCTION spanner_internal.float_to_string(value float8, digits integer)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_float_to_string'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.bytes_to_string(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN convert_from(value, 'UTF8');
CREATE FUNCTION spanner_internal.to_string(value bigint, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::text;
CREATE FUNCTION spanner_internal.to_string(value boolean, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::text;
CREATE FUNCTION spanner_internal.to_string(value bytea, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.bytes_to_string(value);
CREATE FUNCTION spanner_internal.to_string(value date, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.left(spanner.timestamp_to_string(
  value::timestamp AT TIME ZONE 'UTC', 'UTC'), 10);
CREATE FUNCTION spanner_internal.to_string(value float8, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.float_to_string(value, 15);
CREATE FUNCTION spanner_internal.to_string(value real, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.float_to_string(value, 6);
CREATE FUNCTION spanner_internal.to_string(value integer, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::text;
CREATE FUNCTION spanner_internal.to_string(value smallint, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::text;
CREATE FUNCTION spanner_internal.to_string(value numeric, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN trim_scale(value)::text;
CREATE FUNCTION spanner_internal.to_string(value text, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.to_string(value timestamptz, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner.timestamp_to_string(value, zone);
CREATE FUNCTION spanner_internal.to_string(value uuid, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::text;

-- Numbers.
CREATE FUNCTION spanner_internal.div(a integer, b integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a::bigint / b::bigint;
CREATE FUNCTION spanner_internal.div(a bigint, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a / b;
CREATE FUNCTION spanner_internal.div(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.div(a, b);
CREATE FUNCTION spanner_internal.sign(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.sign(value::float8)::bigint;
CREATE FUNCTION spanner_internal.sign(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value <> 'NaN' THEN pg_catalog.sign(value) ELSE value END;
CREATE FUNCTION spanner_internal.sign(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.sign(value);
CREATE FUNCTION spanner_internal.trunc(value float8, digits bigint DEFAULT 0) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.float_round(value, digits, true);
CREATE FUNCTION spanner_internal.trunc(value numeric, digits bigint DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.trunc(value, digits::integer);
-- Of NUMERIC, PostgreSQL's own have as many digits after the point as their arguments have.
CREATE FUNCTION spanner_internal.sqrt(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.sqrt(value);
CREATE FUNCTION spanner_internal.sqrt(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.round(pg_catalog.sqrt(value::numeric(38,9)), 9);
CREATE FUNCTION spanner_internal.exp(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.exp(value);
CREATE FUNCTION spanner_internal.exp(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.round(pg_catalog.exp(value::numeric(38,9)), 9);
CREATE FUNCTION spanner_internal.ln(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.ln(value);
CREATE FUNCTION spanner_internal.ln(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.round(pg_catalog.ln(value), 9);
CREATE FUNCTION spanner_internal.log(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.ln(value);
CREATE FUNCTION spanner_internal.log(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.round(pg_catalog.ln(value), 9);
CREATE FUNCTION spanner_internal.log(value float8, base float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN base < 'Infinity'
  THEN pg_catalog.ln(value) / pg_catalog.ln(base) WHEN value <> 'NaN' THEN 'NaN' ELSE value END;
CREATE FUNCTION spanner_internal.log(value numeric, base numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.round(pg_catalog.log(base, value), 9);
CREATE FUNCTION spanner_internal.log10(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.log10(value);
CREATE FUNCTION spanner_internal.log10(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.round(pg_catalog.log(value), 9);
CREATE FUNCTION spanner_internal.pow(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.power(a, b);
CREATE FUNCTION spanner_internal.pow(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.round(pg_catalog.power(a::numeric(38,9), b::numeric(38,9)), 9);
-- What is infinite of a finite number is an error, which PostgreSQL's own has not.
CREATE FUNCTION spanner_internal.finite(result float8, value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN abs(result) = 'Infinity' AND abs(value) < 'Infinity'
  THEN float8 '1e308' * (abs(value) + 10) ELSE result END;
CREATE FUNCTION spanner_internal.atanh(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.finite(pg_catalog.atanh(value), value);
CREATE FUNCTION spanner_internal.cosh(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.finite(pg_catalog.cosh(value), value);
CREATE FUNCTION spanner_internal.sinh(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.finite(pg_catalog.sinh(value), value);
CREATE FUNCTION spanner_internal.ieee_divide(a float8, b float8)
RETURNS float8
AS 'MODULE_PATHNAME', 'spanner_ieee_divide'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
-- What has no end is NULL, unless a number has none.
CREATE FUNCTION spanner_internal.safe_float(a float8, operator "char", b float8)
RETURNS float8
AS 'MODULE_PATHNAME', 'spanner_safe_float'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.safe_divide(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.safe_float(a, '/', NULLIF(b, 0));
CREATE FUNCTION spanner_internal.safe_divide(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.checked_numeric(a::numeric(88,50) / NULLIF(b, 0));
CREATE FUNCTION spanner_internal.safe_add(a bigint, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.checked_int(a::numeric + b::numeric);
CREATE FUNCTION spanner_internal.safe_add(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.safe_float(a, '+', b);
CREATE FUNCTION spanner_internal.safe_add(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.checked_numeric(a + b);
CREATE FUNCTION spanner_internal.safe_subtract(a bigint, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.checked_int(a::numeric - b::numeric);
CREATE FUNCTION spanner_internal.safe_subtract(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.safe_float(a, '-', b);
CREATE FUNCTION spanner_internal.safe_subtract(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.checked_numeric(a - b);
CREATE FUNCTION spanner_internal.safe_multiply(a bigint, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.checked_int(a::numeric * b::numeric);
CREATE FUNCTION spanner_internal.safe_multiply(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.safe_float(a, '*', b);
CREATE FUNCTION spanner_internal.safe_multiply(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.checked_numeric(a * b);
CREATE FUNCTION spanner_internal.safe_negate(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.checked_int(- value::numeric);
CREATE FUNCTION spanner_internal.safe_negate(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN - value;
CREATE FUNCTION spanner_internal.safe_negate(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN - value;
CREATE FUNCTION spanner_internal.is_nan(value float8) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value = 'NaN';
CREATE FUNCTION spanner_internal.is_inf(value float8) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value IN ('Infinity', '-Infinity');
CREATE FUNCTION spanner_internal.bit_count(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.bit_count(value::bit(64));

-- NULL if one is, and no number if one is none; texts by their bytes.
CREATE FUNCTION spanner_internal.extreme(items anyarray, sign integer)
RETURNS anyelement
AS 'MODULE_PATHNAME', 'spanner_extreme'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.greatest(VARIADIC items anycompatiblearray)
RETURNS anycompatible
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT spanner_internal.extreme($1, ''1'')';
CREATE FUNCTION spanner_internal.least(VARIADIC items anycompatiblearray)
RETURNS anycompatible
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT spanner_internal.extreme($1, ''-1'')';

-- Aggregates: of INT64 a sum is INT64, and the mean of NUMERIC has 9 digits after the point.
CREATE AGGREGATE spanner_internal.sum(bigint) (
  SFUNC = int8pl, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE);
CREATE AGGREGATE spanner_internal.sum(numeric) (
  SFUNC = numeric_add, STYPE = numeric, COMBINEFUNC = numeric_add, PARALLEL = SAFE);
CREATE AGGREGATE spanner_internal.sum(float8) (
  SFUNC = float8pl, STYPE = float8, COMBINEFUNC = float8pl, PARALLEL = SAFE);
CREATE FUNCTION spanner_internal.add_short(total bigint, value integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN coalesce(total + value, total, value);
CREATE AGGREGATE spanner_internal.sum(integer) (
  SFUNC = spanner_internal.add_short, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE);
CREATE FUNCTION spanner_internal.numeric_avg_accum(internal, value numeric)
RETURNS internal
AS 'MODULE_PATHNAME', 'spanner_numeric_avg_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
REVOKE EXECUTE ON FUNCTION spanner_internal.numeric_avg_accum FROM public;
-- The same of their end.
CREATE FUNCTION spanner_internal.numeric_avg(internal)
RETURNS numeric
AS 'MODULE_PATHNAME', 'spanner_numeric_avg'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
REVOKE EXECUTE ON FUNCTION spanner_internal.numeric_avg FROM public;
-- The mean of NUMERIC.
CREATE AGGREGATE spanner_internal.avg(numeric) (
  SFUNC = spanner_internal.numeric_avg_accum, STYPE = internal,
  FINALFUNC = spanner_internal.numeric_avg,
  COMBINEFUNC = numeric_avg_combine, SERIALFUNC = numeric_avg_serialize,
  DESERIALFUNC = numeric_avg_deserialize, PARALLEL = SAFE);
-- The mean of other numbers.
CREATE AGGREGATE spanner_internal.avg(float8) (
  SFUNC = float8_accum, STYPE = float8[], FINALFUNC = float8_avg,
  COMBINEFUNC = float8_combine, INITCOND = '{0,0,0}', PARALLEL = SAFE);

-- Texts and bytes.
CREATE FUNCTION spanner_internal.length(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN char_length(value)::bigint;
CREATE FUNCTION spanner_internal.length(value bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN octet_length(value)::bigint;
CREATE FUNCTION spanner_internal.char_length(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN char_length(value)::bigint;
CREATE FUNCTION spanner_internal.byte_length(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN octet_length(value)::bigint;
CREATE FUNCTION spanner_internal.byte_length(value bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN octet_length(value)::bigint;
CREATE FUNCTION spanner_internal.strpos(value text, part text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.strpos(value, part)::bigint;
CREATE FUNCTION spanner_internal.instr(value text, part text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.strpos(value, part)::bigint;
CREATE FUNCTION spanner_internal.strpos(value bytea, part bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN position(part IN value)::bigint;

-- A place before the first character counts from the end.
CREATE FUNCTION spanner_internal.start_place(place bigint, length integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (CASE WHEN place > 0 THEN least(place, 2147483647) WHEN place = 0 THEN 1
  WHEN place < 0 THEN greatest(length + place + 1, 1) END)::integer;
CREATE FUNCTION spanner_internal.substr(value text, place bigint,
  length bigint DEFAULT 2147483647)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.substr(value, spanner_internal.start_place(place, char_length(value)),
  spanner_internal.checked_length(length));
CREATE FUNCTION spanner_internal.left(value text, length bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.substr(value, 1, spanner_internal.checked_length(length));
CREATE FUNCTION spanner_internal.right(value text, length bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NOT NULL THEN pg_catalog.substr(value, greatest(
  char_length(value)::bigint - spanner_internal.checked_length(length), 0)::integer + 1) END;
CREATE FUNCTION spanner_internal.substr(value bytea, place bigint,
  length bigint DEFAULT 2147483647)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.substr(value, spanner_internal.start_place(place, octet_length(value)),
  spanner_internal.checked_length(length));
CREATE FUNCTION spanner_internal.left(value bytea, length bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.substr(value, 1, spanner_internal.checked_length(length));
CREATE FUNCTION spanner_internal.right(value bytea, length bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NOT NULL THEN pg_catalog.substr(value, greatest(
  octet_length(value)::bigint - spanner_internal.checked_length(length), 0)::integer + 1) END;
CREATE FUNCTION spanner_internal.repeat(value text, times bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.repeat(value, spanner_internal.checked_length(times));
CREATE FUNCTION spanner_internal.lpad(value text, length bigint, pattern text DEFAULT ' ')
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.lpad(value, spanner_internal.checked_length(length), pattern);
CREATE FUNCTION spanner_internal.rpad(value text, length bigint, pattern text DEFAULT ' ')
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.rpad(value, spanner_internal.checked_length(length), pattern);
CREATE FUNCTION spanner_internal.lpad(value bytea, length bigint, pattern bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN decode(pg_catalog.lpad(encode(value, 'hex'), spanner_internal.checked_length(length * 2),
  encode(pattern, 'hex')), 'hex');
CREATE FUNCTION spanner_internal.rpad(value bytea, length bigint, pattern bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN decode(pg_catalog.rpad(encode(value, 'hex'), spanner_internal.checked_length(length * 2),
  encode(pattern, 'hex')), 'hex');
CREATE FUNCTION spanner_internal.reverse(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.reverse(value);
CREATE FUNCTION spanner_internal.reverse(value bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT coalesce(string_agg(pg_catalog.substr(value, i, 1), '' ORDER BY i DESC), '')
          FROM generate_series(1, octet_length(value)) i);
CREATE FUNCTION spanner_internal.starts_with(value text, start text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.starts_with(value, start);
CREATE FUNCTION spanner_internal.starts_with(value bytea, start bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.substr(value, 1, octet_length(start)) = start;
CREATE FUNCTION spanner_internal.ends_with(value text, ending text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.right(value, char_length(ending)) = ending COLLATE "C";
CREATE FUNCTION spanner_internal.ends_with(value bytea, ending bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.substr(value,
  greatest(octet_length(value) - octet_length(ending), 0) + 1) = ending;

-- Upper and lower case by Unicode, whatever the collation is: they fail for no text, so the planner
-- derives shards of them. In words are no delimiters.
CREATE FUNCTION spanner_internal.lower(value text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_lower'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION spanner_internal.upper(value text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_upper'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION spanner_internal.initcap(value text,
  delimiters text DEFAULT E' \t\n\x0b\f\r[](){}/|<>!?@"^#$&~_,.:;*%+-')
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT string_agg(CASE WHEN strpos(delimiters, before) > 0
                 THEN spanner_internal.upper(c) ELSE c END, '' ORDER BY n)
          FROM (SELECT c, n, lag(c, 1, '') OVER (ORDER BY n) AS before
                  FROM regexp_split_to_table(spanner_internal.lower(value), '' COLLATE "C")
                       WITH ORDINALITY w (c, n)) l);
-- printf() of C, with %t and %T for values of any type
CREATE FUNCTION spanner_internal.format(format text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_format'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION spanner_internal.format(format text, VARIADIC items "any")
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_format'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- What GoogleSQL's TRIM() removes: Unicode's white space, as far as the database has it.
CREATE FUNCTION spanner_internal.white_space() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN E' \t\n\x0b\f\r' || unistr(CASE WHEN getdatabaseencoding() = 'UTF8' THEN
  '\0085\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000'
  WHEN getdatabaseencoding() ~ '^(LATIN|ISO_8859|WIN125)' THEN '\00a0' ELSE '' END);
CREATE FUNCTION spanner_internal.trim(value text,
  characters text DEFAULT spanner_internal.white_space())
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.btrim(value, characters);
CREATE FUNCTION spanner_internal.trim(value bytea, characters bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.btrim(value, characters);
CREATE FUNCTION spanner_internal.ltrim(value text,
  characters text DEFAULT spanner_internal.white_space())
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.ltrim(value, characters);
CREATE FUNCTION spanner_internal.ltrim(value bytea, characters bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.ltrim(value, characters);
CREATE FUNCTION spanner_internal.rtrim(value text,
  characters text DEFAULT spanner_internal.white_space())
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.rtrim(value, characters);
CREATE FUNCTION spanner_internal.rtrim(value bytea, characters bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.rtrim(value, characters);
CREATE FUNCTION spanner_internal.split(value text, delimiter text DEFAULT ',') RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN delimiter IS NULL THEN NULL WHEN value = '' THEN ARRAY['']
  ELSE string_to_array(value, CASE WHEN delimiter <> '' THEN delimiter END) END;
CREATE FUNCTION spanner_internal.ascii(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.ascii(pg_catalog.left(value, 1))::bigint;
CREATE FUNCTION spanner_internal.unicode(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.ascii(value)::bigint;
CREATE FUNCTION spanner_internal.chr(code bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN code = 0 THEN '' ELSE pg_catalog.chr(code::integer) END;
CREATE FUNCTION spanner_internal.to_code_points(value text) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT pg_catalog.ascii(c) FROM regexp_split_to_table(value, '' COLLATE "C") c
              WHERE c <> '');
CREATE FUNCTION spanner_internal.to_code_points(value bytea) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT get_byte(value, i) FROM generate_series(0, octet_length(value) - 1) i);
CREATE FUNCTION spanner_internal.code_points_to_string(codes bigint[]) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT CASE WHEN count(c) = count(*)
                 THEN coalesce(string_agg(pg_catalog.chr(c::integer), '' ORDER BY n), '') END
          FROM unnest(codes) WITH ORDINALITY u (c, n));
CREATE FUNCTION spanner_internal.code_points_to_bytes(codes bigint[]) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT CASE WHEN count(c) = count(*) THEN coalesce(
                 -- an error if it is not from 0 to 255
                 string_agg(decode(lpad(to_hex(spanner_internal.checked_length(
                   (c * 128)::smallint) / 128), 2, '0'), 'hex'), '' ORDER BY n), '') END
          FROM unnest(codes) WITH ORDINALITY u (c, n));
CREATE FUNCTION spanner_internal.normalize(value text, form text DEFAULT 'nfc') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.normalize(value, pg_catalog.upper(form));
CREATE FUNCTION spanner_internal.to_hex(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN encode(value, 'hex');
CREATE FUNCTION spanner_internal.from_hex(value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN decode(pg_catalog.repeat('0', octet_length(value) % 2) || value, 'hex');
CREATE FUNCTION spanner_internal.to_base64(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN translate(encode(value, 'base64'), pg_catalog.chr(10), '');
CREATE FUNCTION spanner_internal.from_base64(value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN decode(value, 'base64');
CREATE FUNCTION spanner_internal.md5(value bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN decode(pg_catalog.md5(value), 'hex');
CREATE FUNCTION spanner_internal.md5(value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN decode(pg_catalog.md5(spanner_internal.string_to_bytes(value)), 'hex');
CREATE FUNCTION spanner_internal.sha1(value bytea)
RETURNS bytea
AS 'MODULE_PATHNAME', 'spanner_sha1'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.sha1(value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.sha1(spanner_internal.string_to_bytes(value));
CREATE FUNCTION spanner_internal.sha256(value bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.sha256(value);
CREATE FUNCTION spanner_internal.sha256(value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.sha256(spanner_internal.string_to_bytes(value));
CREATE FUNCTION spanner_internal.sha512(value bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN pg_catalog.sha512(value);
CREATE FUNCTION spanner_internal.sha512(value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.sha512(spanner_internal.string_to_bytes(value));

-- A regular expression of RE2, as PostgreSQL has it, and what takes the place of a match.
CREATE FUNCTION spanner_internal.regex(expression text, purpose text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_regex'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.regex_replacement(replacement text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_regex_replacement'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.regexp_contains(value text, expression text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value ~ spanner_internal.regex(expression, 'contains') COLLATE "C";
CREATE FUNCTION spanner_internal.regexp_extract(value text, expression text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.substring(value,
  spanner_internal.regex(expression, 'extract') COLLATE "C");
CREATE FUNCTION spanner_internal.regexp_extract_all(value text, expression text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT m[1] FROM regexp_matches(value,
  spanner_internal.regex(expression, 'extract_all') COLLATE "C", 'g') m);
CREATE FUNCTION spanner_internal.regexp_replace(value text, expression text, replacement text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.regexp_replace(value, spanner_internal.regex(expression, 'replace') COLLATE "C",
  spanner_internal.regex_replacement(replacement), 'g');

-- Dates and times. A zone is a name, or an offset east of UTC.
CREATE FUNCTION spanner_internal.string(value timestamptz, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner.timestamp_to_string(value, zone);
CREATE FUNCTION spanner_internal.string(value jsonb, zone text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE jsonb_typeof(value) WHEN 'string' THEN value #>> '{}'
  -- errors of other values
  WHEN 'boolean' THEN (value::integer)::text ELSE (value::boolean)::text END;
CREATE FUNCTION spanner_internal.date(value date, zone text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.date(value timestamptz, zone text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.to_date(value, zone, false);
CREATE FUNCTION spanner_internal.date(year bigint, month bigint, day bigint) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN make_date(year::integer, month::integer, day::integer);
CREATE FUNCTION spanner_internal.timestamp(value date, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.to_timestamp(value, zone, false);
CREATE FUNCTION spanner_internal.timestamp(value text, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.to_timestamp(value, zone, false);
CREATE FUNCTION spanner_internal.timestamp(value timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE FUNCTION spanner_internal.format_date(format text, value date)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_format_date'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.format_timestamp(format text, value timestamptz, zone text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_format_timestamp'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.parse_date(format text, value text)
RETURNS date
AS 'MODULE_PATHNAME', 'spanner_parse_date'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.parse_timestamp(format text, value text, zone text)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'spanner_parse_timestamp'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.extract(part text, value date, zone text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_extract_date'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.extract(part text, value timestamptz, zone text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_extract_timestamp'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.timestamp_trunc(value timestamptz, part text, zone text)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'spanner_timestamp_trunc'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.unix_micros(value timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (pg_catalog.extract('epoch', value AT TIME ZONE 'UTC') * 1000000)::bigint;
CREATE FUNCTION spanner_internal.unix_millis(value timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.floor(spanner_internal.unix_micros(value) / 1000.0)::bigint;
CREATE FUNCTION spanner_internal.unix_seconds(value timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.floor(spanner_internal.unix_micros(value) / 1000000.0)::bigint;
CREATE FUNCTION spanner_internal.timestamp_micros(number bigint)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'spanner_timestamp_micros'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.timestamp_millis(number bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.timestamp_micros(number * 1000);
CREATE FUNCTION spanner_internal.timestamp_seconds(number bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.timestamp_micros(number * 1000000);
CREATE FUNCTION spanner_internal.part_length(part text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE part WHEN 'day' THEN 86400000000 WHEN 'hour' THEN 3600000000
  WHEN 'minute' THEN 60000000 WHEN 'second' THEN 1000000 WHEN 'millisecond' THEN 1000
  WHEN 'microsecond' THEN 1 END;
CREATE FUNCTION spanner_internal.timestamp_add(value timestamptz, number bigint, part text)
RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.timestamp_micros(
  spanner_internal.unix_micros(value) + number * spanner_internal.part_length(part));
CREATE FUNCTION spanner_internal.timestamp_sub(value timestamptz, number bigint, part text)
RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.timestamp_micros(
  spanner_internal.unix_micros(value) - number * spanner_internal.part_length(part));
CREATE FUNCTION spanner_internal.timestamp_diff(a timestamptz, b timestamptz, part text)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (spanner_internal.unix_micros(a) -
  spanner_internal.unix_micros(b)) / spanner_internal.part_length(part);
CREATE FUNCTION spanner_internal.date_trunc(value date, part text)
RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.to_date(spanner_internal.timestamp_trunc(
  spanner_internal.to_timestamp(value, 'UTC', false), part, 'UTC'), 'UTC', false);
CREATE FUNCTION spanner_internal.part_interval(part text) RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE part WHEN 'day' THEN interval '1 day' WHEN 'week' THEN interval '7 days'
  WHEN 'month' THEN interval '1 month' WHEN 'quarter' THEN interval '3 months'
  WHEN 'year' THEN interval '1 year' END;
CREATE FUNCTION spanner_internal.date_add(value date, number bigint, part text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (value + number::integer * spanner_internal.part_interval(part))::date;
CREATE FUNCTION spanner_internal.date_sub(value date, number bigint, part text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (value - number::integer * spanner_internal.part_interval(part))::date;
CREATE FUNCTION spanner_internal.last_day(value date, part text DEFAULT 'month') RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN part ~ 'week' THEN spanner_internal.date_trunc(value, part) + 6
  -- an ISO year has 52 or 53 weeks
  WHEN part = 'isoyear' THEN spanner_internal.date_trunc(
    spanner_internal.date_trunc(value, part) + 371, part) - 1
  ELSE (spanner_internal.date_trunc(value, part)
    + spanner_internal.part_interval(part))::date - 1 END;
CREATE FUNCTION spanner_internal.date_diff(a date, b date, part text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_date_diff'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.unix_date(value date) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value - date '1970-01-01')::bigint;
CREATE FUNCTION spanner_internal.date_from_unix_date(days bigint) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date '1970-01-01' + days::integer;

-- JSON and arrays.
-- Without blanks, and with members of objects by their keys (1), as they are (0), or from the last
-- one (-1): jsonb takes the last of those with one key, where GoogleSQL takes the first.
CREATE FUNCTION spanner_internal.json_text(value text, "order" integer)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_json_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION spanner_internal.parse_json(value text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.json_text(value, -1)::jsonb;
CREATE FUNCTION spanner_internal.to_json_string(value jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN spanner_internal.json_text(value::text, 1);

-- The steps of a path, $ and as many of .name, ."name" and [place] as there are: texts and numbers.
CREATE FUNCTION spanner_internal.json_steps(path text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF path COLLATE "C" !~ '^\$(\."([^"\\]|\\.)*"|\.[^]."''$@*()?,&|[]+|\[\s*\d{1,6}\s*\])*$' THEN
    RAISE EXCEPTION 'invalid path in JSON: "%"', path USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN (SELECT coalesce(jsonb_agg(coalesce(to_jsonb(m[3]::int), to_jsonb(m[2]),
                   to_jsonb(replace(m[1], '\"', '"')))), '[]')
            FROM regexp_matches(path COLLATE "C",
                   '\."((?:[^"\\]|\\.)*)"|\.([^."[]+)|\[\s*(\d+)\s*\]', 'g') m);
END $$;
-- As PostgreSQL has it.
CREATE FUNCTION spanner_internal.json_path(path text) RETURNS jsonpath
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT ('strict $' || coalesce(string_agg(CASE jsonb_typeof(s)
                 WHEN 'number' THEN format('[%s]', s) ELSE format('.%s', s) END, ''), ''))::jsonpath
          FROM jsonb_array_elements(spanner_internal.json_steps(path)) s);
CREATE FUNCTION spanner_internal.json_query(value jsonb, path text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_path_query_first(value, spanner_internal.json_path(path), '{}', true);
-- Of a text a text, in which there is no null.
CREATE FUNCTION spanner_internal.json_query(value text, path text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  part json := value;
  step jsonb;
BEGIN
  FOR step IN SELECT s FROM jsonb_array_elements(spanner_internal.json_steps(path)) s LOOP
    part := CASE json_typeof(part) || jsonb_typeof(step)
              WHEN 'arraynumber' THEN part -> step::int
              WHEN 'objectstring' THEN (
                SELECT m.value FROM json_each(part) m
                 WHERE m.key COLLATE "C" = step #>> '{}'
                 LIMIT 1) END;
  END LOOP;
  RETURN CASE WHEN json_typeof(part) <> 'null' THEN spanner_internal.json_text(part::text, 0) END;
END $$;
CREATE FUNCTION spanner_internal.json_value(value jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(value) = 'number' THEN spanner_internal.to_json_string(value)
  WHEN jsonb_typeof(value) NOT IN ('array', 'object') THEN value #>> '{}' END;
CREATE FUNCTION spanner_internal.json_value(value jsonb, path text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.json_value(spanner_internal.json_query(value, path));
CREATE FUNCTION spanner_internal.json_value(value text, path text DEFAULT '$') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.json_value(spanner_internal.parse_json(value), path);
CREATE FUNCTION spanner_internal.json_contains(value jsonb, part jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value @> part;
-- Any other value is an error, that of its text: from PostgreSQL 18 on a cast makes NULL of JSON's
-- null.
CREATE FUNCTION spanner_internal.int64(value jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(value) = 'number' AND value::numeric % 1 = 0 THEN value::bigint
  ELSE value::text::bigint END;
CREATE FUNCTION spanner_internal.float32(value jsonb) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::text::real;
CREATE FUNCTION spanner_internal.float64(value jsonb) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::text::float8;
CREATE FUNCTION spanner_internal.bool(value jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE jsonb_typeof(value) WHEN 'boolean' THEN value::boolean
  ELSE ('JSON ' || value::text)::boolean END;
-- What a value of another type is like; NULL if it is like none.
CREATE FUNCTION spanner_internal.lax_bool(value jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE jsonb_typeof(value) WHEN 'boolean' THEN value::boolean
  WHEN 'number' THEN value::numeric <> 0
  WHEN 'string' THEN spanner_internal.to_bool(value #>> '{}', true) END;
CREATE FUNCTION spanner_internal.lax_float64(value jsonb) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(value) IN ('number', 'string')
  THEN spanner_internal.to_float64(value #>> '{}', true) END;
CREATE FUNCTION spanner_internal.lax_int64(value jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE jsonb_typeof(value) WHEN 'boolean' THEN value::boolean::integer
  WHEN 'number' THEN spanner_internal.checked_int(pg_catalog.round(value::numeric))
  WHEN 'string' THEN spanner_internal.checked_int(pg_catalog.round(
    spanner_internal.to_numeric(value #>> '{}', true))) END;
CREATE FUNCTION spanner_internal.lax_string(value jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(value) IN ('boolean', 'string') THEN value #>> '{}'
  -- a FLOAT64, unless it is an integer of 64 bits
  WHEN jsonb_typeof(value) = 'number' THEN CASE WHEN value #>> '{}' ~ '^-?\d{1,20}$' COLLATE "C"
    THEN value #>> '{}' ELSE spanner_internal.float_to_string(value::float8, 15) END END;

-- Arrays of JSON, NULL if it is none, and an error if elements are of another type.
CREATE FUNCTION spanner_internal.json_query_array(value jsonb, path text DEFAULT '$')
RETURNS jsonb[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT CASE WHEN jsonb_typeof(a) = 'array' THEN ARRAY(SELECT jsonb_array_elements(a)) END
          FROM spanner_internal.json_query(value, path) a);
CREATE FUNCTION spanner_internal.json_value_array(value jsonb, path text DEFAULT '$') RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT CASE WHEN a IS NOT NULL AND NOT EXISTS (
                 SELECT FROM unnest(a) e WHERE jsonb_typeof(e) IN ('array', 'object'))
               THEN ARRAY(SELECT e #>> '{}' FROM unnest(a) e) END
          FROM spanner_internal.json_query_array(value, path) a);
CREATE FUNCTION spanner_internal.json_query_array(value text, path text DEFAULT '$') RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT CASE WHEN json_typeof(a::json) = 'array'
                 THEN ARRAY(SELECT e::text FROM json_array_elements(a::json) e) END
          FROM spanner_internal.json_query(value, path) a);
CREATE FUNCTION spanner_internal.json_value_array(value text, path text DEFAULT '$') RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.json_value_array(spanner_internal.parse_json(value), path);
CREATE FUNCTION spanner_internal.bool_array(value jsonb) RETURNS boolean[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT spanner_internal.bool(e) FROM jsonb_array_elements(value) e);
CREATE FUNCTION spanner_internal.int64_array(value jsonb) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT spanner_internal.int64(e) FROM jsonb_array_elements(value) e);
CREATE FUNCTION spanner_internal.float32_array(value jsonb) RETURNS real[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT spanner_internal.float32(e) FROM jsonb_array_elements(value) e);
CREATE FUNCTION spanner_internal.float64_array(value jsonb) RETURNS float8[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT spanner_internal.float64(e) FROM jsonb_array_elements(value) e);
CREATE FUNCTION spanner_internal.string_array(value jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT spanner_internal.string(e, 'UTC') FROM jsonb_array_elements(value) e);
-- JSON of values of any type.
CREATE FUNCTION spanner_internal.json_array()
RETURNS jsonb
AS 'MODULE_PATHNAME', 'spanner_json_array'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION spanner_internal.json_array(VARIADIC items "any")
RETURNS jsonb
AS 'MODULE_PATHNAME', 'spanner_json_array'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION spanner_internal.to_json(value anyelement)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.json_array($1) OPERATOR(pg_catalog.->) 0
$$;
CREATE FUNCTION spanner_internal.json_object()
RETURNS jsonb
AS 'MODULE_PATHNAME', 'spanner_json_object'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION spanner_internal.json_object(VARIADIC items "any")
RETURNS jsonb
AS 'MODULE_PATHNAME', 'spanner_json_object'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
-- Of a key that is none, or has no item, an error.
CREATE FUNCTION spanner_internal.json_object(keys text[], items anyarray)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(pg_catalog.jsonb_object_agg(
           CASE WHEN i OPERATOR(pg_catalog.<=) pg_catalog.cardinality($2) THEN $1[i] END,
           spanner_internal.to_json($2[i]) ORDER BY i DESC), '{}')
    FROM pg_catalog.generate_series(
           1, greatest(pg_catalog.cardinality($1), pg_catalog.cardinality($2))) i
$$;
CREATE FUNCTION spanner_internal.json_strip_nulls(value jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN CASE jsonb_typeof(value)
    WHEN 'object' THEN (
      SELECT coalesce(jsonb_object_agg(m.key, spanner_internal.json_strip_nulls(m.value)), '{}')
        FROM jsonb_each(value) m
       WHERE m.value <> 'null')
    WHEN 'array' THEN (
      SELECT coalesce(jsonb_agg(spanner_internal.json_strip_nulls(e.item) ORDER BY e.place), '[]')
        FROM jsonb_array_elements(value) WITH ORDINALITY e (item, place)
       WHERE e.item <> 'null')
    ELSE value END;
END $$;
-- The part at the end of steps is set to an item; items, an array, are appended to it, or inserted
-- before it; it is removed; or null is stripped from it.  Steps that lead nowhere change nothing.
CREATE FUNCTION spanner_internal.json_change(value jsonb, steps jsonb, change text, item jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  key text := steps ->> 0;
  has_places boolean := jsonb_typeof(steps -> 0) = 'number';
  is_last boolean := jsonb_array_length(steps) = 1;
  is_inserted boolean := change = 'insert' AND is_last AND has_places;
BEGIN
  IF key IS NULL AND change = 'remove' THEN
    RAISE EXCEPTION 'the path "$" cannot be removed' USING ERRCODE = 'invalid_parameter_value';
  ELSIF key IS NULL THEN
    RETURN CASE
      WHEN change = 'set' OR (change = 'append' AND value = 'null') THEN item
      WHEN change = 'append' AND jsonb_typeof(value) = 'array' THEN value || item
      WHEN change = 'strip' THEN spanner_internal.json_strip_nulls(value)
      ELSE value END;
  END IF;
  -- null becomes what the path needs
  IF value = 'null' AND (change = 'set' OR is_inserted) THEN
    value := CASE WHEN has_places THEN '[]' ELSE '{}' END;
  END IF;
  IF jsonb_typeof(value) <> (CASE WHEN has_places THEN 'array' ELSE 'object' END) THEN
    RETURN value;
  END IF;
  IF has_places AND (change = 'set' OR is_inserted) AND key::int > jsonb_array_length(value) THEN
    value := value || to_jsonb(array_fill(NULL::int, ARRAY[key::int - jsonb_array_length(value)]));
  END IF;
  IF is_last AND change IN ('insert', 'remove') THEN
    FOR i IN REVERSE CASE WHEN is_inserted THEN jsonb_array_length(item) ELSE 0 END - 1 .. 0 LOOP
      value := jsonb_insert(value, ARRAY[key], item -> i);
    END LOOP;
    RETURN CASE change WHEN 'remove' THEN value #- ARRAY[key] ELSE value END;
  END IF;
  RETURN CASE WHEN change = 'set' OR value #> ARRAY[key] IS NOT NULL
    THEN jsonb_set(value, ARRAY[key], spanner_internal.json_change(
           coalesce(value #> ARRAY[key], 'null'), steps - 0, change, item))
    ELSE value END;
END $$;
CREATE FUNCTION spanner_internal.json_change(value jsonb, path text, change text, item jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN path IS NULL THEN value
  ELSE spanner_internal.json_change(value, spanner_internal.json_steps(path), change, item) END;
CREATE FUNCTION spanner_internal.json_strip_nulls(value jsonb, path text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.json_change(value, path, 'strip', NULL);
CREATE FUNCTION spanner_internal.json_remove(value jsonb, path text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.json_change(value, path, 'remove', NULL);
CREATE FUNCTION spanner_internal.json_set(value jsonb, path text, item anyelement) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.json_change($1, $2, 'set', spanner_internal.to_json($3))
$$;
CREATE FUNCTION spanner_internal.json_array_append(value jsonb, path text, item anynonarray)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.json_change($1, $2, 'append', spanner_internal.json_array($3))
$$;
-- The elements of an array are added one by one.
CREATE FUNCTION spanner_internal.json_array_append(value jsonb, path text, items anyarray)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.json_change(
    $1, CASE WHEN $3 IS NOT NULL THEN $2 END, 'append', spanner_internal.to_json($3))
$$;
CREATE FUNCTION spanner_internal.json_array_insert(value jsonb, path text, item anynonarray)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.json_change($1, $2, 'insert', spanner_internal.json_array($3))
$$;
CREATE FUNCTION spanner_internal.json_array_insert(value jsonb, path text, items anyarray)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.json_change(
    $1, CASE WHEN $3 IS NOT NULL THEN $2 END, 'insert', spanner_internal.to_json($3))
$$;
CREATE FUNCTION spanner_internal.array_max(elements anyarray)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.extreme(pg_catalog.array_remove($1, NULL), '1')
$$;
CREATE FUNCTION spanner_internal.array_min(elements anyarray)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.extreme(pg_catalog.array_remove($1, NULL), '-1')
$$;
CREATE FUNCTION spanner_internal.array_is_distinct(elements anyarray)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 IS NOT NULL THEN pg_catalog.cardinality($1) OPERATOR(pg_catalog.=)
    (SELECT pg_catalog.count(*) FROM (SELECT DISTINCT e FROM pg_catalog.unnest($1) e) d) END
$$;
-- From one place to another, which count from the end if they are negative.
CREATE FUNCTION spanner_internal.slice_place(place bigint, length integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (greatest(least(place, 2147483646), -2147483648) + 1
  + CASE WHEN place < 0 THEN length WHEN place >= 0 THEN 0 END)::integer;
CREATE FUNCTION spanner_internal.array_slice(elements anyarray, first bigint, last bigint)
RETURNS anyarray
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $2 IS NOT NULL AND $3 IS NOT NULL THEN $1[
    spanner_internal.slice_place($2, pg_catalog.cardinality($1))
    :spanner_internal.slice_place($3, pg_catalog.cardinality($1))] END
$$;
CREATE FUNCTION spanner_internal.generate_array(first bigint, last bigint, step bigint DEFAULT 1)
RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  items bigint[] := ARRAY(SELECT generate_series(first, last, step) LIMIT 16001);
BEGIN
  IF cardinality(items) > 16000 THEN
    RAISE EXCEPTION 'generated array has more than 16000 elements'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN items;
END $$;
-- without defaults, as a number without a part is no interval
CREATE FUNCTION spanner_internal.generate_date_array(first date, last date, number bigint,
  part text)
RETURNS date[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT d
               FROM unnest(spanner_internal.generate_array(0, abs(last - first) / abs(number)
                 / CASE part WHEN 'day' THEN 1 WHEN 'week' THEN 7 ELSE 28 END)) i
              CROSS JOIN LATERAL spanner_internal.date_add(first, i * number, part) d
              WHERE sign(number) * (last - d) >= 0
              ORDER BY i);
CREATE FUNCTION spanner_internal.generate_date_array(first date, last date) RETURNS date[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN spanner_internal.generate_date_array(first, last, 1, 'day');
CREATE FUNCTION spanner_internal.array_length(elements anyarray)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT pg_catalog.cardinality($1)::pg_catalog.int8
$$;
CREATE FUNCTION spanner_internal.array_first(elements anyarray)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.at_ordinal($1, '1')
$$;
CREATE FUNCTION spanner_internal.array_last(elements anyarray)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT spanner_internal.at_ordinal($1, pg_catalog.cardinality($1))
$$;
CREATE FUNCTION spanner_internal.array_reverse(elements anyarray)
RETURNS anyarray
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 IS NOT NULL THEN ARRAY(
    SELECT e.value
      FROM pg_catalog.unnest($1) WITH ORDINALITY AS e (value, place)
     ORDER BY e.place DESC) END
$$;
CREATE FUNCTION spanner_internal.array_includes(elements anycompatiblearray, value anycompatible)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL
    THEN COALESCE($2 OPERATOR(pg_catalog.=) ANY ($1), false) END
$$;
CREATE FUNCTION spanner_internal.array_includes_any(elements anyarray, others anyarray)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT $1 OPERATOR(pg_catalog.&&) $2
$$;
CREATE FUNCTION spanner_internal.array_includes_all(elements anyarray, others anyarray)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT $1 OPERATOR(pg_catalog.@>) $2
$$;

-- PostgreSQL's own depends on how elements are written, which is plain for texts.
CREATE FUNCTION spanner_internal.array_to_string(elements text[], separator text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN pg_catalog.array_to_string(elements, separator);
CREATE FUNCTION spanner_internal.array_to_string(elements text[], separator text, null_text text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN pg_catalog.array_to_string(elements, separator, null_text);
