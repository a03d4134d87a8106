/* src/advisor/column_sample.sql */

--
-- Advisor: what the first rows of a table tell about a column
--

-- Is it a UUID of version 1, 6 or 7, whose high-order bits are a time?
CREATE FUNCTION spanner_internal.is_uuid_of_time(value text)
RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN value ~* ('^([0-9a-f]{8}-[0-9a-f]{4}-[167][0-9a-f]{3}-[89ab]|'
                 '(\\x)?[0-9a-f]{12}[167][0-9a-f]{3}[89ab][0-9a-f]{15}$)')
   AND length(value) IN (32, 34, 36);

-- Values are read without a query, so no code of the table's owner runs.
CREATE FUNCTION spanner_internal.first_values(relation oid, column_number smallint)
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_first_values'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

-- Numbers and dates are compared as such, all others by their bytes.
CREATE FUNCTION spanner_internal.sample_column(
  relation oid, column_number smallint,
  OUT rows float8, OUT uuid_share float8, OUT ascending_share float8)
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH type AS MATERIALIZED (
    SELECT t.oid = ANY ('{int2,int4,int8,numeric}'::regtype[]) AS is_number,
           t.oid = 'date'::regtype AS is_date,
           t.oid = ANY ('{uuid,text,varchar,bpchar,bytea}'::regtype[]) AS is_text
      FROM pg_attribute a
     CROSS JOIN LATERAL spanner_internal.base_type(a.atttypid) t (oid)
     WHERE a.attrelid = relation AND a.attnum = column_number AND a.attnum > 0),
  value AS MATERIALIZED (
    SELECT v.value, v.n
      FROM type t
     CROSS JOIN LATERAL spanner_internal.first_values(relation, column_number)
           WITH ORDINALITY v (value, n)
     WHERE t.is_number OR t.is_date OR t.is_text),
  pair AS (
    SELECT v.value, lag(v.value) OVER (ORDER BY v.n) AS before
      FROM value v
     WHERE v.value IS NOT NULL)
  SELECT (SELECT nullif(count(*), 0) FROM value v),
         avg(CASE WHEN t.is_text AND spanner_internal.is_uuid_of_time(p.value) THEN 1 ELSE 0 END),
         avg(CASE WHEN t.is_number THEN p.value::numeric > p.before::numeric
                  WHEN t.is_date THEN p.value::date > p.before::date
                  ELSE p.value COLLATE "C" > p.before COLLATE "C" END::integer)
    FROM pair p
   CROSS JOIN type t;
END;
