-- The order of the key swapped: first who, then when.
--
-- One user does not write thousands of rows in a second, and all of one
-- user's rows are together.  Take it if readers ask about one user.

CREATE SCHEMA example_swapped_key;
SET search_path = example_swapped_key;

CREATE TABLE useraccesslog (
userid bigint NOT NULL,
lastaccess TIMESTAMPTZ NOT NULL,
PRIMARY KEY (UserId, LastAccess)
);

INSERT INTO useraccesslog (userid, lastaccess)
SELECT spanner.bit_reverse(i % 500, true), timestamptz '2016-01-25' + i * interval '1 minute'
  FROM generate_series(1, 20000) i;
ANALYZE;

-- Reads 1 key range.
SELECT * FROM useraccesslog
 WHERE userid = spanner.bit_reverse(42, true)
 ORDER BY lastaccess DESC LIMIT 10;
