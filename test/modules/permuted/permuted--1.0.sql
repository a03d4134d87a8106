/* test/modules/permuted/permuted--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION permuted" to load this file. \quit

CREATE FUNCTION spanner.load_permuted()
RETURNS void
AS 'MODULE_PATHNAME', 'permuted_load'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION spanner.load_permuted()
  IS 'load the library of sequence kind permuted';
