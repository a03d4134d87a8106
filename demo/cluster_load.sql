-- psql variables: "first" and "rows".

INSERT INTO plain (note) SELECT 'row ' || i FROM generate_series(:first, :first + :rows - 1) i;
INSERT INTO reversed (note) SELECT 'row ' || i FROM generate_series(:first, :first + :rows - 1) i;
