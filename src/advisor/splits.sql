/* src/advisor/splits.sql */

--
-- Advisor: tables that are split in key space
--

CREATE FUNCTION spanner.split_points(
  n integer,
  bits integer DEFAULT 63,
  stripes integer DEFAULT NULL)
RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'spanner_split_points'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.split_points(integer, integer, integer)
  IS 'the bounds between n equal ranges of bit-reversed or striped keys';

CREATE FUNCTION spanner.create_splits(
  relation regclass,
  splits integer,
  servers name[] DEFAULT NULL,
  dry_run boolean DEFAULT true,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL,
  shards integer DEFAULT NULL,
  OUT server name,
  OUT statement text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_create_splits'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.create_splits(regclass, integer, name[], boolean, integer, integer, integer)
  IS 'make partitions for equal ranges of an evenly spread key, here or on other servers, or show the statements that do';

CREATE FUNCTION spanner.split_stats(
  relation regclass,
  exact boolean DEFAULT false,
  OUT split integer,
  OUT partition regclass,
  OUT server name,
  OUT range text,
  OUT rows bigint,
  OUT counted boolean,
  OUT size bigint,
  OUT inserts bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_split_stats'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.split_stats(regclass, boolean)
  IS 'server, range, rows (counted or estimated), size in bytes and inserts of each partition';
