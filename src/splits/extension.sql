/* src/splits/extension.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION spanner_keys_splits" to load this file. \quit
