/* src/spanner_keys.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION spanner_keys" to load this file. \quit

-- The schemas are made here.  So they are members of the extension, and hold no
-- objects that somebody else could have prepared.
CREATE SCHEMA spanner;
COMMENT ON SCHEMA spanner
  IS 'functions of Cloud Spanner, and what PostgreSQL needs for primary keys without hotspots';
GRANT USAGE ON SCHEMA spanner TO PUBLIC;

-- Users do not call what is here, and no stored object names it.  Functions that
-- run with the rights of their callers do, and plans and views, so most of it is
-- to be executed by everybody; what is not has been revoked.
CREATE SCHEMA spanner_internal;
COMMENT ON SCHEMA spanner_internal
  IS 'functions and types that only the extension uses';
GRANT USAGE ON SCHEMA spanner_internal TO PUBLIC;
