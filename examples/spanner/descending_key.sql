-- The newest rows first.
--
-- Spanner's keys may say DESC.  PostgreSQL's primary keys may not, and need
-- not: an index is read backward as fast.  DESC matters where one column
-- ascends and the other descends.  As the first column of a key, descending
-- time is as much a hotspot as ascending time, only at the other end.

CREATE SCHEMA example_descending_key;
SET search_path = example_descending_key;

CREATE TABLE useraccesslog (
userid bigint NOT NULL,
lastaccess TIMESTAMPTZ NOT NULL,
PRIMARY KEY (UserId, LastAccess)
);

CREATE INDEX useraccesslog_newest ON useraccesslog (userid, lastaccess DESC);

INSERT INTO useraccesslog (userid, lastaccess)
SELECT spanner.bit_reverse(i % 500, true), timestamptz '2016-01-25' + i * interval '1 minute'
  FROM generate_series(1, 20000) i;

CREATE TABLE history (
  id bigint PRIMARY KEY,
  lastaccess timestamptz
);

-- What not to do
-- spanner.advise() finds: notice key_time.
CREATE INDEX history_newest ON history (lastaccess DESC);
ANALYZE;

-- Reads 1 key range.
SELECT lastaccess FROM useraccesslog
 WHERE userid = spanner.bit_reverse(42, true) ORDER BY lastaccess DESC LIMIT 10;

-- Reads 1 key range.
SELECT userid, lastaccess FROM useraccesslog
 WHERE userid >= spanner.bit_reverse(42, true) ORDER BY userid, lastaccess DESC LIMIT 10;
