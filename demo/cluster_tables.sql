-- One server, and a table with a serial key.  psql variable: "rows".

CREATE EXTENSION spanner_keys;
CREATE EXTENSION spanner_keys_splits;
CREATE TABLE orders (id bigserial PRIMARY KEY, note text NOT NULL, at timestamptz DEFAULT now());
INSERT INTO orders (note) SELECT 'old' FROM generate_series(1, :rows);
ANALYZE orders;
