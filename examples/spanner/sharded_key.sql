-- A shard id in front of the time: rows in order of time, over all users.
--
-- Writes go to as many places as there are shards, and readers of the newest
-- rows visit each of them.  Queries do not mention the shard.

CREATE SCHEMA example_sharded_key;
SET search_path = example_sharded_key;

CREATE TABLE useraccesslog (
shardid bigint NOT NULL GENERATED ALWAYS AS (spanner.shard_id(16, lastaccess)) STORED,
lastaccess TIMESTAMPTZ NOT NULL,
userid bigint NOT NULL,
PRIMARY KEY (shardid, lastaccess, userid)
);

INSERT INTO useraccesslog (lastaccess, userid)
SELECT timestamptz '2016-01-25' + i * interval '1 minute', i % 500
  FROM generate_series(1, 40000) i;

-- The number of shards of Spanner's guide.  It suits a large table that is
-- seldom read in the order of time.
-- spanner.advise() finds: info shard_count_large.
CREATE TABLE useraccesslog_2048 (
shardid bigint NOT NULL GENERATED ALWAYS AS (spanner.shard_id(2048, lastaccess)) STORED,
lastaccess TIMESTAMPTZ NOT NULL,
userid bigint NOT NULL,
PRIMARY KEY (shardid, lastaccess, userid)
);

INSERT INTO useraccesslog_2048 (lastaccess, userid)
SELECT lastaccess, userid FROM useraccesslog;

-- The guide's expression as it is.  Its remainder is negative for half of the
-- rows, so there are 4095 shards, and shard 0 gets twice as much as any other.
-- spanner.advise() finds: info shard_signed.
CREATE TABLE useraccesslog_signed (
shardid bigint NOT NULL
GENERATED ALWAYS AS (MOD(spanner.farm_fingerprint(spanner.timestamp_to_string(lastaccess, 'America/Los_Angeles')), 2048)) STORED,
lastaccess TIMESTAMPTZ NOT NULL,
userid bigint NOT NULL,
PRIMARY KEY (shardid, lastaccess, userid)
);
ANALYZE;

-- The newest rows.
-- Reads 16 key ranges.
SELECT lastaccess, userid FROM useraccesslog ORDER BY lastaccess DESC LIMIT 10;

-- A stretch of time.
-- Reads 16 key ranges.
SELECT lastaccess, userid FROM useraccesslog
 WHERE lastaccess >= '2016-02-01 00:00Z' AND lastaccess < '2016-02-01 01:00Z'
 ORDER BY lastaccess;

-- One moment: the shard is known.
-- Reads 1 key range.
SELECT userid FROM useraccesslog WHERE lastaccess = '2016-02-01 00:00Z';

-- Reads 1 key range.
SELECT userid FROM useraccesslog_2048 WHERE lastaccess = '2016-02-01 00:00Z';

-- The newest rows cost 2048 descents, whatever the limit is.
-- Reads 2048 key ranges.
SELECT lastaccess, userid FROM useraccesslog_2048 ORDER BY lastaccess DESC LIMIT 10;
