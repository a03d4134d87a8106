-- Rows on each server, and where its range begins.

\pset footer off
SELECT server, range, rows FROM spanner.split_stats('reversed');
