-- Where the results go, and what measures.

CREATE EXTENSION spanner_keys;

CREATE TABLE insert_costs (
  place integer GENERATED ALWAYS AS IDENTITY,
  name text,
  seconds numeric,
  cpu_seconds numeric,
  wal_bytes numeric,
  index_bytes numeric
);

CREATE TABLE call_costs (
  place integer GENERATED ALWAYS AS IDENTITY,
  section text,
  name text,
  expression text,
  baseline text,
  ns numeric
);

-- CPU time of this backend.
CREATE FUNCTION cpu_ns() RETURNS numeric
LANGUAGE sql VOLATILE
AS $$ SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 64), ' ', 1)::numeric $$;

-- Insert rows into the table "keyed", with a checkpoint before each batch.
CREATE PROCEDURE insert_batches(name text, total bigint, batch bigint)
LANGUAGE plpgsql
AS $$
DECLARE
  start_lsn pg_lsn := pg_current_wal_insert_lsn();
  seconds numeric := 0;
  cpu numeric := 0;
  start_time timestamptz;
  start_cpu numeric;
BEGIN
  FOR i IN 1 .. total / batch LOOP
    CHECKPOINT;
    start_time := clock_timestamp();
    start_cpu := cpu_ns();
    INSERT INTO keyed (payload) SELECT generate_series(1, batch);
    COMMIT;
    cpu := cpu + cpu_ns() - start_cpu;
    seconds := seconds + extract(epoch FROM clock_timestamp() - start_time);
  END LOOP;
  INSERT INTO insert_costs (name, seconds, cpu_seconds, wal_bytes, index_bytes)
    VALUES (name, seconds, cpu / 1e9, pg_current_wal_insert_lsn() - start_lsn,
            pg_relation_size('keyed_pkey'));
END
$$;

-- Measure each expression over the rows of "input", keeping the least time.
CREATE PROCEDURE measure_calls(rounds integer)
LANGUAGE plpgsql
AS $$
DECLARE
  call record;
  start_cpu numeric;
  spent numeric;
BEGIN
  FOR i IN 1 .. rounds LOOP
    FOR call IN SELECT place, expression FROM call_costs ORDER BY place LOOP
      start_cpu := cpu_ns();
      EXECUTE format('SELECT count(%s) FROM input', call.expression);
      spent := cpu_ns() - start_cpu;
      UPDATE call_costs SET ns = least(ns, spent) WHERE place = call.place;
      COMMIT;
    END LOOP;
  END LOOP;
END
$$;
