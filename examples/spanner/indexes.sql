-- Secondary indexes: over time, with stored columns, without NULLs.

CREATE SCHEMA example_indexes;
SET search_path = example_indexes;

CREATE TABLE users (
userid     bigint NOT NULL,
lastaccess TIMESTAMPTZ,
PRIMARY KEY (userid)
);

INSERT INTO users (userid, lastaccess)
SELECT spanner.bit_reverse(i, true),
       CASE WHEN i % 4 > 0 THEN timestamptz '2016-01-25' + i * interval '1 minute' END
  FROM generate_series(1, 40000) i;

-- What not to do: the index is a table that begins with the time.  Spanner
-- says NULL_FILTERED for the condition.
-- spanner.advise() finds: notice key_time.
CREATE INDEX usersbylastaccess ON users(lastaccess)
WHERE lastaccess IS NOT NULL;

-- A shard in front spreads it, as it does for keys.  Without the index above,
-- which reads one place, queries use it as they are.
CREATE TABLE users_spread (
userid     bigint NOT NULL,
lastaccess TIMESTAMPTZ,
PRIMARY KEY (userid)
);

INSERT INTO users_spread (userid, lastaccess) SELECT userid, lastaccess FROM users;

CREATE INDEX usersbyshard ON users_spread(spanner.shard_id(16, lastaccess), lastaccess)
WHERE lastaccess IS NOT NULL;

-- Mailboxes.  Few messages are unread, and an index of those answers the
-- commonest query by itself: Spanner says NULL_FILTERED and STORING.  It
-- begins with the user, so it stays within one mailbox: interleaved.
CREATE TABLE messages (
  userid bigint NOT NULL,
  messageid uuid NOT NULL DEFAULT gen_random_uuid(),
  is_unread boolean,
  subject text,
  body text,
  PRIMARY KEY (userid, messageid)
);

CREATE INDEX messages_unread ON messages (userid, messageid) INCLUDE (subject)
WHERE is_unread IS NOT NULL;

INSERT INTO messages (userid, is_unread, subject, body)
SELECT spanner.bit_reverse(i % 500, true), CASE WHEN i % 7 = 0 THEN true END, 'Message ' || i, repeat('x', 500)
  FROM generate_series(1, 20000) i;
VACUUM ANALYZE users_spread, messages;
ANALYZE;

-- Reads 1 key range.
SELECT userid FROM users WHERE lastaccess > '2016-02-20' ORDER BY lastaccess DESC LIMIT 10;

-- Reads 16 key ranges.
SELECT userid FROM users_spread WHERE lastaccess > '2016-02-20' ORDER BY lastaccess DESC LIMIT 10;

-- Reads 1 key range, and no row of the table.
SELECT messageid, subject FROM messages
 WHERE userid = spanner.bit_reverse(42, true) AND is_unread IS NOT NULL;
