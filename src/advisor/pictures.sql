/* src/advisor/pictures.sql */

--
-- Advisor: pictures of key space
--

CREATE FUNCTION spanner.key_histogram(
  relation regclass,
  buckets integer DEFAULT 32,
  column_name name DEFAULT NULL,
  sample_rows integer DEFAULT 30000,
  OUT bucket integer,
  OUT key_from text,
  OUT key_to text,
  OUT rows bigint,
  OUT share double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_key_histogram'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.key_histogram(regclass, integer, name, integer)
  IS 'rows in each of equal parts of key space, estimated from a sample of so many rows unless the table has fewer';

CREATE FUNCTION spanner.key_heatmap(
  relation regclass,
  time_buckets integer DEFAULT 40,
  key_buckets integer DEFAULT 20,
  column_name name DEFAULT NULL,
  order_by name DEFAULT NULL,
  sample_rows integer DEFAULT 30000,
  OUT time_bucket integer,
  OUT time_from text,
  OUT key_bucket integer,
  OUT key_from text,
  OUT key_to text,
  OUT rows bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_key_heatmap'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.key_heatmap(regclass, integer, integer, name, name, integer)
  IS 'rows by key range and order of insertion, estimated from a sample of so many rows unless the table has fewer';

CREATE FUNCTION spanner.key_heatmap_text(
  relation regclass,
  time_buckets integer DEFAULT 40,
  key_buckets integer DEFAULT 20,
  column_name name DEFAULT NULL,
  order_by name DEFAULT NULL,
  sample_rows integer DEFAULT 30000)
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_key_heatmap_text'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.key_heatmap_text(regclass, integer, integer, name, name, integer)
  IS 'picture of spanner.key_heatmap for a terminal: a diagonal is a hotspot, an even field is none';

CREATE FUNCTION spanner.key_heatmap_html(
  relation regclass,
  time_buckets integer DEFAULT 40,
  key_buckets integer DEFAULT 20,
  column_name name DEFAULT NULL,
  order_by name DEFAULT NULL,
  sample_rows integer DEFAULT 30000)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_key_heatmap_html'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED;

COMMENT ON FUNCTION spanner.key_heatmap_html(regclass, integer, integer, name, name, integer)
  IS 'the same picture as an HTML page that needs no other file';
