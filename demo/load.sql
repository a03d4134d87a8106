-- One transaction of the load, for pgbench.  The same for every way to choose
-- keys: search_path says whose tables it writes.

\set userid random(1, 100000)

BEGIN;
INSERT INTO useraccesslog (lastaccess, userid) VALUES (clock_timestamp(), :userid);
INSERT INTO orders (ordered, userid) VALUES (clock_timestamp(), :userid);
COMMIT;
