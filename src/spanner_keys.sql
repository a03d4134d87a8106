/* src/spanner_keys.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION spanner_keys" to load this file. \quit

-- The schema is made here, and so a member of the extension: it cannot hold
-- objects of somebody else, who could have prepared them.
CREATE SCHEMA spanner;
COMMENT ON SCHEMA spanner
  IS 'functions of Cloud Spanner, and what PostgreSQL needs for primary keys without hotspots';
GRANT USAGE ON SCHEMA spanner TO PUBLIC;
