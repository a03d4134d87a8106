-- psql variables: "rows", "rounds".  Prints results.

SET client_min_messages = warning;
CREATE TABLE input AS
  SELECT i::bigint AS number,
         'user' || i || '@example.com' AS name,
         timestamptz '2026-01-01 00:00+00' + i * interval '1234567 microseconds' AS time
    FROM generate_series(1, :rows) i;
VACUUM ANALYZE input;

-- What one finds when looking for a bit reversal in SQL.
CREATE FUNCTION reverse_in_sql(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT reverse(value::bit(64)::text)::bit(64)::bigint $$;

CREATE FUNCTION reverse_in_plpgsql(value bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  result bigint := 0;
BEGIN
  FOR i IN 1 .. 63 LOOP
    result := (result << 1) | (value & 1);
    value := value >> 1;
  END LOOP;
  RETURN result;
END
$$;

-- The slow ones are called for a part of the rows.
CREATE TABLE call (
  place integer GENERATED ALWAYS AS IDENTITY,
  name text,
  argument text,
  expression text,
  part integer DEFAULT 1
);
INSERT INTO call (name, argument, expression, part) VALUES
  ('hashint8extended', 'number', 'hashint8extended(number, 0)', 1),
  ('spanner.bit_reverse', 'number', 'spanner.bit_reverse(number, true)', 1),
  ('bit reversal, SQL', 'number', 'reverse_in_sql(number)', 20),
  ('bit reversal, PL/pgSQL', 'number', 'reverse_in_plpgsql(number)', 100),
  ('spanner.shard_id', 'number', 'spanner.shard_id(64, number)', 1),
  ('hashtextextended', 'name', 'hashtextextended(name, 0)', 1),
  ('md5', 'name', 'md5(name)', 20),
  ('spanner.farm_fingerprint', 'name', 'spanner.farm_fingerprint(name)', 1),
  ('spanner.shard_id', 'name', 'spanner.shard_id(64, name)', 1),
  ('shard of md5, SQL', 'name', $$('x' || left(md5(name), 8))::bit(32)::bigint % 64$$, 20),
  ('hashtextextended of time::text', 'time', 'hashtextextended(time::text, 0)', 20),
  ('spanner.shard_id', 'time', 'spanner.shard_id(64, time)', 1);

CREATE TABLE cost (id integer GENERATED ALWAYS AS IDENTITY, name text, argument text, ns numeric, empty numeric);

-- CPU time of this backend.
CREATE FUNCTION cpu_ns() RETURNS numeric
LANGUAGE sql VOLATILE
AS $$ SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 64), ' ', 1)::numeric $$;

-- Eight calls for each row, so that they weigh more than the row.
CREATE FUNCTION spent(expression text, rows bigint) RETURNS numeric
LANGUAGE plpgsql
AS $$
DECLARE
  condition text := array_to_string(array_fill(format('%s IS NULL', expression), '{8}'), ' OR ');
  start numeric := cpu_ns();
BEGIN
  EXECUTE format('SELECT count(*) FILTER (WHERE %s) FROM (SELECT * FROM input LIMIT %s) i', condition, rows);
  RETURN (cpu_ns() - start) / rows / 8;
END
$$;

CREATE PROCEDURE measure(input_rows bigint, rounds integer)
LANGUAGE plpgsql
AS $$
DECLARE
  c record;
BEGIN
  FOR i IN 1 .. rounds LOOP
    FOR c IN SELECT *, input_rows / part AS rows FROM call ORDER BY place LOOP
      INSERT INTO cost (name, argument, ns, empty)
        VALUES (c.name, c.argument, spent(c.expression, c.rows), spent(c.argument, input_rows));
    END LOOP;
  END LOOP;
END
$$;

CALL measure(:rows, :rounds);

-- The empty query is always the same, so its least time is the right one.
SELECT name, argument, 'CPU time', round(ns - min(empty) OVER (PARTITION BY argument), 1), 'ns'
  FROM cost ORDER BY id;
