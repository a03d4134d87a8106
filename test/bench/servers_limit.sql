-- Each row keeps this server busy for some time, one after another.
-- psql variables: "ms".

CREATE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_lock(1);
  PERFORM pg_sleep(TG_ARGV[0]::float8 / 1000);
  PERFORM pg_advisory_unlock(1);
  RETURN NEW;
END
$$;

SELECT format('CREATE TRIGGER work BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION work(%s)', oid::regclass, :ms)
  FROM pg_class
 WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
\gexec
