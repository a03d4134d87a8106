/* test/modules/unchanged/unchanged--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION unchanged" to load this file. \quit

CREATE FUNCTION spanner.load_unchanged()
RETURNS void
AS 'MODULE_PATHNAME', 'unchanged_load'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.load_unchanged()
  IS 'load the library of sequence kind unchanged';
