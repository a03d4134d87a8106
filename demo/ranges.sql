-- Cut the key space of each table into 16 equal ranges, and count where the
-- rows of the last second of its load went.
-- psql variable: "history", the number of rows before the load.

-- What pgbench said about each turn.
CREATE TABLE load (
  schema text NOT NULL,
  seconds integer NOT NULL,
  transactions bigint NOT NULL,
  errors bigint NOT NULL
);

-- A key that only grows: the key space is what the table spans by now.
-- Otherwise it is what the first column of the key can be.
CREATE VIEW key_spaces (tab, low, high) AS
  SELECT 'hotspot.useraccesslog', extract(epoch FROM min(lastaccess)),
         extract(epoch FROM max(lastaccess))
    FROM hotspot.useraccesslog
  UNION ALL
  SELECT 'hotspot.orders', min(orderid), max(orderid) FROM hotspot.orders
  UNION ALL
  VALUES ('reversed.useraccesslog', 0, 2048),
         ('reversed.orders', 0, 9223372036854775808),
         ('striped.useraccesslog', 0, 2048),
         ('striped.orders', 0, 9223372036854775808);

CREATE VIEW keys (tab, key, inserted) AS
  SELECT 'hotspot.useraccesslog', extract(epoch FROM lastaccess), lastaccess
    FROM hotspot.useraccesslog
  UNION ALL
  SELECT 'hotspot.orders', orderid, ordered FROM hotspot.orders
  UNION ALL
  SELECT 'reversed.useraccesslog', shardid, lastaccess FROM reversed.useraccesslog
  UNION ALL
  SELECT 'reversed.orders', orderid, ordered FROM reversed.orders
  UNION ALL
  SELECT 'striped.useraccesslog', shardid, lastaccess FROM striped.useraccesslog
  UNION ALL
  SELECT 'striped.orders', orderid, ordered FROM striped.orders;

CREATE VIEW key_ranges (tab, range, inserts, share) AS
  WITH ends AS (
    SELECT tab, max(inserted) AS last FROM keys GROUP BY tab
  ), counts AS (
    SELECT tab, least(width_bucket(key, low, high, 16), 16) AS range, count(*) AS inserts
      FROM keys JOIN ends USING (tab) JOIN key_spaces USING (tab)
     WHERE inserted > last - interval '1 second'
     GROUP BY 1, 2
  )
  SELECT tab, range, coalesce(inserts, 0),
         coalesce(inserts, 0) / sum(inserts) OVER (PARTITION BY tab)
    FROM key_spaces CROSS JOIN generate_series(1, 16) range
    LEFT JOIN counts USING (tab, range);

-- One row for each table: how much the load wrote, and to the hottest range.
-- A row that pgbench counts and the table does not have is an error, too.
CREATE VIEW results (tab, written, per_second, errors, hottest) AS
  WITH loads AS (
    SELECT schema, sum(seconds) AS seconds, sum(transactions) AS transactions, sum(errors) AS errors
      FROM load GROUP BY schema
  ), tables AS (
    SELECT tab, split_part(tab, '.', 1) AS schema, count(*) - :history AS written
      FROM keys GROUP BY tab
  ), hottest AS (
    SELECT tab, max(share) AS share FROM key_ranges GROUP BY tab
  )
  SELECT tab, written, written / seconds, errors + abs(written - transactions), share
    FROM tables JOIN loads USING (schema) JOIN hottest USING (tab);
