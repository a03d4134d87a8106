-- The hotspot way: primary keys that only grow.  Every insert goes to the end
-- of the key space, so one server of a distributed database takes them all.

CREATE SCHEMA hotspot;
SET search_path = hotspot;

CREATE TABLE useraccesslog (
  lastaccess timestamptz NOT NULL,
  userid bigint NOT NULL,
  PRIMARY KEY (lastaccess, userid)
);

CREATE TABLE orders (
  orderid bigserial PRIMARY KEY,
  ordered timestamptz NOT NULL,
  userid bigint NOT NULL
);
