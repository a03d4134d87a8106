-- One transaction of the load, for pgbench.  The same for every way to choose
-- keys: search_path says whose tables it writes.

-- each client has users of its own: two can insert in the same microsecond
\set userid 100 * random(1, 1000) + :client_id

BEGIN;
INSERT INTO useraccesslog (lastaccess, userid) VALUES (clock_timestamp(), :userid);
INSERT INTO orders (ordered, userid) VALUES (clock_timestamp(), :userid);
COMMIT;
