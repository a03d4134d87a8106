-- Users that are looked up by name or by e-mail: a table for each query.
--
-- Names and addresses come in no order, so the keys spread by themselves.
-- A lookup finds all it wants in one place; the price is a second copy.

CREATE SCHEMA example_users;
SET search_path = example_users;

CREATE TABLE users_by_username (
  username text PRIMARY KEY,
  email text,
  age int
);

CREATE TABLE users_by_email (
  email text PRIMARY KEY,
  username text,
  age int
);

-- Both copies are written by one statement.
WITH new AS (
  INSERT INTO users_by_username (username, email, age)
  SELECT left(md5(i::text), 8), left(md5(i::text), 8) || '@example.com', 18 + i % 60
    FROM generate_series(1, 20000) i
  RETURNING username, email, age)
INSERT INTO users_by_email (email, username, age)
SELECT email, username, age FROM new;

-- Reads 1 key range.
SELECT * FROM users_by_username WHERE username = 'c4ca4238';

-- Reads 1 key range.
SELECT * FROM users_by_email WHERE email = 'c4ca4238@example.com';

-- With one copy of each user, a lookup goes to two places.  That is cheaper
-- to write, and right if users change more often than they are read.
CREATE TABLE users (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  username text,
  email text,
  age int
);

CREATE TABLE ids_by_username (
  username text PRIMARY KEY,
  id uuid
);

CREATE TABLE ids_by_email (
  email text PRIMARY KEY,
  id uuid
);

INSERT INTO users (username, email, age)
SELECT username, email, age FROM users_by_username;
INSERT INTO ids_by_username (username, id) SELECT username, id FROM users;
INSERT INTO ids_by_email (email, id) SELECT email, id FROM users;
ANALYZE;

-- Reads 2 key ranges.
SELECT u.* FROM ids_by_username n JOIN users u USING (id) WHERE n.username = 'c4ca4238';
