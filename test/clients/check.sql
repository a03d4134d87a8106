-- Print what is right or wrong with the objects of a client: the standard
-- input has a line "id<TAB>name" for each, the table :table their rows.
\set ON_ERROR_STOP on
CREATE TEMPORARY TABLE object (id bigint, name text);
\copy object FROM pstdin

-- A sequence that a migration has dropped gave the first ids of its type.
BEGIN;
CREATE SEQUENCE former AS integer;
SELECT count(spanner.nextval('former')) AS drawn FROM generate_series(1, 1000) \gset

-- An id is mapped if a sequence with an access method has given it, and has
-- most of its values left: it may have passed over ids of the former one.
WITH stored AS (
  SELECT id::bigint, name,
    EXISTS (
      SELECT FROM spanner.sequences s
      WHERE spanner_internal.unmap_value(t.id::bigint,
          format('%I.%I', s.schemaname, s.sequencename)::regclass) < s.counter
        AND s.used < 0.01) AS mapped
  FROM :table t)
SELECT CASE
    WHEN count(o) <> 11 OR count(s) <> 11 OR count(*) <> 11
      THEN format('%s objects, %s rows', count(o), count(s))
    WHEN count(*) FILTER (WHERE o.id <> s.id) > 0
      THEN format('%s of 11 objects have a wrong id', count(*) FILTER (WHERE o.id <> s.id))
    WHEN max(s.id) < 1000
      THEN '11 plain counters'
    WHEN count(*) FILTER (WHERE NOT mapped) > 0
      THEN format('%s of 11 ids are not of the sequence', count(*) FILTER (WHERE NOT mapped))
    ELSE '11 ids'
  END
FROM object o
FULL JOIN stored s USING (name);
