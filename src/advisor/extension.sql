/* src/advisor/extension.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION spanner_keys_advisor" to load this file. \quit
