-- The groups of groups.sql, with each part in a partition of its own.
--
-- A generated column cannot be a partition key, so the application writes
-- hash_prefix, and a CHECK keeps it right.  From the CHECK the planner knows
-- which partition a name is in.  The command spanner_splits create puts the
-- partitions on other servers.

CREATE EXTENSION IF NOT EXISTS spanner_keys_splits;

CREATE SCHEMA example_group_partitions;
SET search_path = example_group_partitions;

CREATE TABLE groups (
  groupname text NOT NULL,
  username text NOT NULL,
  email text,
  age int,
  hash_prefix int NOT NULL CHECK (hash_prefix = spanner.shard_id(4, username)),
  PRIMARY KEY (hash_prefix, groupname, username)
) PARTITION BY RANGE (hash_prefix);

SELECT statement FROM spanner.create_splits('groups', 4, shards => 4, dry_run => false);

INSERT INTO groups (groupname, username, email, age, hash_prefix)
SELECT 'group' || i % 200, name, name || '@example.com', 18 + i % 60, spanner.shard_id(4, name)
  FROM generate_series(1, 40000) i, left(md5(i::text), 8) name;

-- Two parts may share a partition: here four parts are in two.
CREATE TABLE groups_in_2 (
  groupname text NOT NULL,
  username text NOT NULL,
  email text,
  age int,
  hash_prefix int NOT NULL CHECK (hash_prefix = spanner.shard_id(4, username)),
  PRIMARY KEY (hash_prefix, groupname, username)
) PARTITION BY RANGE (hash_prefix);

SELECT statement FROM spanner.create_splits('groups_in_2', 2, shards => 4, dry_run => false);

INSERT INTO groups_in_2 (groupname, username, email, age, hash_prefix)
SELECT groupname, username, email, age, hash_prefix FROM groups;
ANALYZE;

-- Reads 4 partitions.
SELECT username, email FROM groups WHERE groupname = 'group1';

-- Reads 1 partition.
SELECT * FROM groups WHERE groupname = 'group1' AND username = 'c4ca4238';

-- Reads 2 partitions.
SELECT username, email FROM groups_in_2 WHERE groupname = 'group1';

-- Reads 1 partition.
SELECT * FROM groups_in_2 WHERE groupname = 'group1' AND username = 'c4ca4238';
