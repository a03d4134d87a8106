-- psql variables: "name" of the key, "id" its type, "kind" of its sequence,
-- "base_rows" before, "rows" to insert, "batch".

SET client_min_messages = warning;
SET spanner.default_sequence_kind = :'kind';

DROP TABLE IF EXISTS keyed;
CREATE TABLE keyed (id :id PRIMARY KEY, payload integer);
INSERT INTO keyed (payload) SELECT generate_series(1, :base_rows);

CALL insert_batches(:'name', :rows, :batch);
