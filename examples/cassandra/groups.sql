-- All members of a group, and how many places one group is spread over.
--
-- A group of millions must not lie in one place.  hash_prefix splits it: the
-- more parts, the more servers share the writes, and the more places a reader
-- of the group goes to.  Queries do not mention it; with the library loaded,
-- the planner does.

CREATE SCHEMA example_groups;
SET search_path = example_groups;

CREATE TABLE groups (
  groupname text NOT NULL,
  username text NOT NULL,
  email text,
  age int,
  hash_prefix int GENERATED ALWAYS AS (spanner.shard_id(4, username)) STORED,
  PRIMARY KEY (hash_prefix, groupname, username)
);

INSERT INTO groups (groupname, username, email, age)
SELECT 'group' || i % 2000, left(md5(i::text), 8), left(md5(i::text), 8) || '@example.com', 18 + i % 60
  FROM generate_series(1, 40000) i;

-- Reads 4 key ranges.
SELECT username, email FROM groups WHERE groupname = 'group1';

-- In order, too: the parts are merged.
-- Reads 4 key ranges.
SELECT username FROM groups WHERE groupname = 'group1' ORDER BY username LIMIT 10;

-- Where the name is known, so is the part.
-- Reads 1 key range.
SELECT * FROM groups WHERE groupname = 'group1' AND username = 'c4ca4238';

-- Few reads of groups that may grow very large: ten parts.
CREATE TABLE groups_in_10 (
  groupname text NOT NULL,
  username text NOT NULL,
  email text,
  age int,
  hash_prefix int GENERATED ALWAYS AS (spanner.shard_id(10, username)) STORED,
  PRIMARY KEY (hash_prefix, groupname, username)
);

INSERT INTO groups_in_10 (groupname, username, email, age)
SELECT groupname, username, email, age FROM groups;

-- Reads 10 key ranges.
SELECT username, email FROM groups_in_10 WHERE groupname = 'group1';

-- Reads 1 key range.
SELECT * FROM groups_in_10 WHERE groupname = 'group1' AND username = 'c4ca4238';

-- Many reads of groups that stay small: no hash prefix.  This table is good
-- as well, until a group has very many members.
CREATE TABLE small_groups (
  groupname text NOT NULL,
  username text NOT NULL,
  email text,
  age int,
  PRIMARY KEY (groupname, username)
);

INSERT INTO small_groups (groupname, username, email, age)
SELECT groupname, username, email, age FROM groups;

-- Reads 1 key range.
SELECT username, email FROM small_groups WHERE groupname = 'group1';

-- Reads 1 key range.
SELECT * FROM small_groups WHERE groupname = 'group1' AND username = 'c4ca4238';

-- A hash prefix of one part costs a column and spreads nothing.
-- spanner.advise() finds: notice shard_count_small.
CREATE TABLE groups_in_1 (
  groupname text NOT NULL,
  username text NOT NULL,
  email text,
  age int,
  hash_prefix int GENERATED ALWAYS AS (spanner.shard_id(1, username)) STORED,
  PRIMARY KEY (hash_prefix, groupname, username)
);

INSERT INTO groups_in_1 (groupname, username, email, age)
SELECT groupname, username, email, age FROM groups;

-- Reads 1 key range.
SELECT username, email FROM groups_in_1 WHERE groupname = 'group1';

-- Users in a table of their own are not copied into each group, but a reader
-- goes there once for every member.
CREATE TABLE users (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  username text,
  email text,
  age int
);

CREATE TABLE group_members (
  groupname text,
  user_id uuid,
  PRIMARY KEY (groupname, user_id)
);

INSERT INTO users (username, email, age) SELECT username, email, age FROM groups;
INSERT INTO group_members (groupname, user_id)
SELECT g.groupname, u.id
  FROM groups g JOIN users u USING (username)
 WHERE g.groupname <> 'group1';
INSERT INTO group_members (groupname, user_id)
SELECT 'friends', id FROM users ORDER BY username LIMIT 10;
ANALYZE;

-- Reads 11 key ranges.
SELECT u.username, u.email
  FROM group_members m JOIN users u ON u.id = m.user_id
 WHERE m.groupname = 'friends';
