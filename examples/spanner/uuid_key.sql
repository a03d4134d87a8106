-- A random UUID as the key.
--
-- UUIDs of version 4 spread over any number of places.  Their price: 16 bytes
-- or more, no meaning, and rows that belong together lie apart.

CREATE SCHEMA example_uuid_key;
SET search_path = example_uuid_key;

CREATE TABLE useraccesslog (
  logentryid VARCHAR(36) NOT NULL,
  lastaccess timestamptz NOT NULL,
  userid text,
PRIMARY KEY (logentryid, lastaccess, userid)
);

INSERT INTO
  useraccesslog (logentryid, lastaccess, userid)
VALUES
  (spanner.generate_uuid(),'2016-01-25 10:10:10.555555-05:00', 'TomSmith');

INSERT INTO useraccesslog (logentryid, lastaccess, userid)
SELECT spanner.generate_uuid(), timestamptz '2016-01-25' + i * interval '1 minute', 'user' || i % 500
  FROM generate_series(1, 20000) i;

-- PostgreSQL has a type for them, which takes less than half of the space.
CREATE TABLE useraccesslog_uuid (
  logentryid uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  lastaccess timestamptz NOT NULL,
  userid text
);

INSERT INTO useraccesslog_uuid (lastaccess, userid)
SELECT lastaccess, userid FROM useraccesslog;

-- UUIDs of other versions begin with the time.  These are of version 7.
-- spanner.advise() finds: warning key_uuid.
CREATE TABLE useraccesslog_version_7 (
  logentryid uuid PRIMARY KEY,
  lastaccess timestamptz NOT NULL,
  userid text
);

INSERT INTO useraccesslog_version_7 (logentryid, lastaccess, userid)
SELECT (lpad(to_hex((extract(epoch FROM lastaccess) * 1000)::bigint), 12, '0') || '7' || substr(md5(logentryid), 1, 3) ||
        'a' || substr(md5(logentryid), 4, 15))::uuid, lastaccess, userid
  FROM useraccesslog
 ORDER BY lastaccess;
ANALYZE;

-- Reads 1 key range.
SELECT * FROM useraccesslog WHERE logentryid = '00000000-0000-4000-8000-000000000000';
