-- What spanner_ddl writes whatever the caller's settings are, and rare expressions.

CREATE SCHEMA x;
CREATE TABLE x.a (at timestamptz, utc text GENERATED ALWAYS AS (spanner.timestamp_to_string(at)) STORED,
  nothing text GENERATED ALWAYS AS (spanner.timestamp_to_string(at, NULL)) STORED, b bytea DEFAULT '\x0102ff' CHECK (octet_length(b) <= 10),
  f float8 DEFAULT 0.30000000000000004, n numeric DEFAULT 'NaN', d date DEFAULT '2026-02-01', e date DEFAULT 'infinity',
  z timestamptz DEFAULT '2026-01-01 00:00Z', u uuid DEFAULT '00000000-0000-0000-0000-000000000001', s text DEFAULT 'a\b',
  CHECK (f < 0.30000000000000004), PRIMARY KEY (f));
\pset format unaligned
\pset tuples_only
SELECT spanner.spanner_ddl('x.a'::regclass);
CREATE VIEW exported AS SELECT 'googlesql' AS dialect, string_agg(s, ';') FROM spanner.spanner_ddl('x.a'::regclass) s
  UNION ALL SELECT 'postgresql', string_agg(s, ';') FROM spanner.spanner_ddl('x.a'::regclass, 'postgresql') s;
CREATE TABLE before AS TABLE exported;
SET bytea_output = escape;
SET datestyle = german;
SET extra_float_digits = -10;
SET intervalstyle = sql_standard;
SET quote_all_identifiers = on;
SET timezone = 'Asia/Tokyo';
TABLE exported EXCEPT TABLE before;
-- the length of BYTES is still known
SELECT spanner.execute_ddl('ALTER TABLE x.a ALTER COLUMN b BYTES(20) DEFAULT (b''\x01'')');
RESET quote_all_identifiers;
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'x.a'::regclass AND contype = 'c' ORDER BY 1;

DROP VIEW exported;
DROP TABLE before;
DROP SCHEMA x CASCADE;
