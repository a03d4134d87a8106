-- What not to do: a key that begins with the time.
--
-- Reading the newest rows is cheap, but all inserts go to one end of the key.
-- The other files show ways out.

CREATE SCHEMA example_hotspot;
SET search_path = example_hotspot;

-- spanner.advise() finds: notice key_time.
CREATE TABLE useraccesslog (
  lastaccess timestamptz NOT NULL,
  userid text,
PRIMARY KEY (lastaccess, userid)
);

INSERT INTO useraccesslog (lastaccess, userid)
SELECT timestamptz '2016-01-25' + i * interval '1 minute', left(md5((i % 500)::text), 8)
  FROM generate_series(1, 20000) i;

-- A default that is the time leaves no doubt.
-- spanner.advise() finds: warning key_now.
CREATE TABLE useraccesslog_now (
  lastaccess timestamptz NOT NULL DEFAULT now(),
  userid text,
PRIMARY KEY (lastaccess, userid)
);
ANALYZE;

-- Reads 1 key range.
SELECT * FROM useraccesslog ORDER BY lastaccess DESC LIMIT 10;
