/* src/spanner_keys.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION spanner_keys" to load this file. \quit

-- The schemas are made here.  So they are members of the extension, and hold no
-- objects that somebody else could have prepared.
CREATE SCHEMA spanner;
COMMENT ON SCHEMA spanner
  IS 'functions of Cloud Spanner, and what PostgreSQL needs for primary keys without hotspots';
GRANT USAGE ON SCHEMA spanner TO PUBLIC;

-- Users do not type what is here.  Functions that run with the rights of their
-- callers call it, and plans, views, and what Spanner's DDL makes: triggers and
-- generated columns.  So everybody may execute most of it; the rest is revoked.
CREATE SCHEMA spanner_internal;
COMMENT ON SCHEMA spanner_internal
  IS 'functions and types that only the extension uses';
GRANT USAGE ON SCHEMA spanner_internal TO PUBLIC;
