-- What measures the inserts.

CREATE TABLE insert_cost (seconds numeric, cpu_seconds numeric, wal_bytes numeric);

-- CPU time of this backend.
CREATE FUNCTION cpu_ns() RETURNS numeric
LANGUAGE sql VOLATILE
AS $$ SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 64), ' ', 1)::numeric $$;

-- Insert rows, with a checkpoint before each batch, which is not measured.
CREATE PROCEDURE insert_batches(tab regclass, rows bigint, batch bigint)
LANGUAGE plpgsql
AS $$
DECLARE
  seconds numeric := 0;
  cpu numeric := 0;
  wal numeric := 0;
  start_time timestamptz;
  start_cpu numeric;
  start_lsn pg_lsn;
BEGIN
  FOR i IN 1 .. rows / batch LOOP
    CHECKPOINT;
    start_lsn := pg_current_wal_insert_lsn();
    start_time := clock_timestamp();
    start_cpu := cpu_ns();
    EXECUTE format('INSERT INTO %s SELECT FROM generate_series(1, %s)', tab, batch);
    COMMIT;
    cpu := cpu + cpu_ns() - start_cpu;
    seconds := seconds + extract(epoch FROM clock_timestamp() - start_time);
    wal := wal + (pg_current_wal_insert_lsn() - start_lsn);
  END LOOP;
  TRUNCATE insert_cost;
  INSERT INTO insert_cost VALUES (seconds, cpu / 1e9, wal);
END
$$;
