-- What the tables hold when the load starts: the rows of the past day.
-- psql variables: "schema" and "rows".

SET search_path = :schema;

INSERT INTO useraccesslog (lastaccess, userid)
  SELECT now() - i * (interval '1 day' / :rows), i % 100000
    FROM generate_series(:rows, 1, -1) i;

INSERT INTO orders (ordered, userid)
  SELECT now() - i * (interval '1 day' / :rows), i % 100000
    FROM generate_series(:rows, 1, -1) i;

ANALYZE useraccesslog, orders;
