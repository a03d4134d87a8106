-- The tables, as the server that takes the statements knows them: one in this
-- server, one with all its rows in the first of the others, two over all.

CREATE EXTENSION spanner_keys_splits;
CREATE TABLE local (id bigserial PRIMARY KEY, note text);
CREATE TABLE one_server (id bigserial, note text) PARTITION BY RANGE (id);
CREATE TABLE bigserial (id bigserial, note text) PARTITION BY RANGE (id);
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE TABLE bit_reversed_positive (id bigserial, note text) PARTITION BY RANGE (id);

-- Three equal ranges of 63 bits each, and where their rows are.
CREATE VIEW split AS
  SELECT t.name, format('%s_p%s', t.name, p.n - 1) AS split,
         format('server%s', CASE t.name WHEN 'one_server' THEN 1 ELSE p.n END) AS server,
         coalesce(lag(p.point) OVER w, 'MINVALUE') AS lower, p.point AS upper
    FROM (VALUES ('one_server'), ('bigserial'), ('bit_reversed_positive')) t (name)
   CROSS JOIN (SELECT n, point
                 FROM unnest(ARRAY(SELECT point::text FROM spanner.split_points(3) point)
                             || ARRAY['MAXVALUE']) WITH ORDINALITY y (point, n)) p
  WINDOW w AS (PARTITION BY t.name ORDER BY p.n);

CREATE VIEW statements AS
  SELECT server, format('CREATE TABLE %I (id bigint NOT NULL, note text)', split) AS statement FROM split;

CREATE FUNCTION run_splits() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  command text;
BEGIN
  FOR command IN
    SELECT format('CREATE FOREIGN TABLE %I PARTITION OF %I FOR VALUES FROM (%s) TO (%s) SERVER %I',
                  split, name, lower, upper, server)
      FROM split
  LOOP
    EXECUTE command;
  END LOOP;
END $$;
