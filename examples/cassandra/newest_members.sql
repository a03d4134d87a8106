-- The newest members of a group.
--
-- Here a group is split by time, not at random: a reader of the newest rows
-- wants one part, or two, and not all of them.

CREATE SCHEMA example_newest_members;
SET search_path = example_newest_members;
SET TimeZone = 'UTC';

-- Without parts.  Within a group the rows are in the order of time.
-- PostgreSQL reads an index backward as well, so it needs no clustering order
-- DESC for this.
CREATE TABLE group_join_dates (
  groupname text NOT NULL,
  joined timestamptz NOT NULL DEFAULT now(),
  username text NOT NULL,
  email text,
  age int,
  PRIMARY KEY (groupname, joined, username)
);

INSERT INTO group_join_dates (groupname, joined, username, age)
SELECT 'group' || i % 20, timestamptz '2026-01-01' + i * interval '5 minutes', left(md5(i::text), 8), 18 + i % 60
  FROM generate_series(1, 40000) i;

-- Reads 1 key range.
SELECT joined, username FROM group_join_dates
 WHERE groupname = 'group1' ORDER BY joined DESC LIMIT 10;

-- Two columns in different directions want an index that has both.
CREATE INDEX group_join_dates_newest ON group_join_dates (groupname, joined DESC);

-- Reads 1 key range.
SELECT groupname, joined FROM group_join_dates
 WHERE groupname >= 'group15' ORDER BY groupname, joined DESC LIMIT 10;

-- One part for each group and each four days.  If groups get three members a
-- day and readers want ten, four days give them what they want.  The parts
-- are spread over 16 places.  The application may leave out both times, or
-- write both; the CHECK keeps them together.
CREATE TABLE group_join_buckets (
  groupname text NOT NULL,
  bucket timestamptz NOT NULL DEFAULT date_bin('4 days', now(), '2000-01-01 00:00Z'),
  joined timestamptz NOT NULL DEFAULT now(),
  username text NOT NULL,
  email text,
  age int,
  shard int GENERATED ALWAYS AS (spanner.shard_id(16, groupname, bucket)) STORED,
  PRIMARY KEY (shard, groupname, bucket, joined, username),
  CHECK (bucket = date_bin('4 days', joined, '2000-01-01 00:00Z'))
);

INSERT INTO group_join_buckets (groupname, bucket, joined, username, age)
SELECT groupname, date_bin('4 days', joined, '2000-01-01 00:00Z'), joined, username, age
  FROM group_join_dates;
INSERT INTO group_join_buckets (groupname, username) VALUES ('group1', 'Alice');
ANALYZE;

-- Today's part, then the one before, until there are enough.
-- Reads 1 key range.
SELECT joined, username FROM group_join_buckets
 WHERE groupname = 'group1' AND bucket = date_bin('4 days', now(), '2000-01-01 00:00Z')
 ORDER BY joined DESC LIMIT 10;

-- Reads 1 key range.
SELECT joined, username FROM group_join_buckets
 WHERE groupname = 'group1' AND bucket = '2026-04-02'
 ORDER BY joined DESC LIMIT 10;

-- Without the part, all 16 places are asked for their newest rows.
-- Reads 16 key ranges.
SELECT joined, username FROM group_join_buckets
 WHERE groupname = 'group1'
 ORDER BY bucket DESC, joined DESC LIMIT 10;
