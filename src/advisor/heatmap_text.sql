/* src/advisor/heatmap_text.sql */

-- Advisor: a picture of key space for a terminal.  Shades are Unicode's block elements in a
-- database in UTF-8, and ASCII in others.

-- How many columns of a terminal a text takes: characters of East Asia and signs take two, marks
-- above others none.
CREATE FUNCTION spanner_internal.display_width(string text)
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN getdatabaseencoding() <> 'UTF8' OR octet_length(string) = length(string)
         THEN length(string)
         ELSE length(string)
              + length(regexp_replace(string, '[^\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3'
                '\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6'
                '\U0001f300-\U0001faff\U00020000-\U0003fffd]', '', 'g'))
              - length(regexp_replace(string, '[^\u0300-\u036f\u200b-\u200d\ufe00-\ufe0f]',
                                      '', 'g')) END;

-- A name or key for a terminal, cut to "most" columns.  Control characters, and marks that change
-- the direction of writing, are shown as "?".
CREATE FUNCTION spanner_internal.clean_label(label text, most integer DEFAULT NULL)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN spanner_internal.display_width(c.label) > most
              THEN (SELECT left(c.label, max(g)) || '..'
                      FROM generate_series(0, most) g
                     WHERE spanner_internal.display_width(left(c.label, g)) <= most - 2)
              ELSE c.label END
    FROM (SELECT CASE getdatabaseencoding()
                   WHEN 'UTF8' THEN regexp_replace(label,
                     '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]',
                     '?', 'g')
                   ELSE regexp_replace(label, '[\x01-\x1f\x7f]', '?', 'g') END AS label) c;
END;

-- The field, with its largest keys on top, and the axes.
CREATE FUNCTION spanner_internal.heatmap_lines(h spanner_internal.heatmap, charset text[])
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE ROWS 30
BEGIN ATOMIC
  WITH label AS MATERIALIZED (
    SELECT u.n, CASE WHEN (u.n - 1) % CASE WHEN (h).key_buckets <= 8 THEN 1 ELSE 4 END = 0
                     THEN spanner_internal.clean_label(u.label, 24) END AS label
      FROM unnest((h).key_label) WITH ORDINALITY u (label, n)),
  margin AS (
    SELECT coalesce(max(spanner_internal.display_width(l.label)), 0) AS columns FROM label l),
  field AS (
    SELECT c.key_bucket AS n,
           string_agg(charset[c.step + 1], ''
                      ORDER BY c.time_bucket) AS shades
      FROM spanner_internal.heatmap_cells(h) c
     GROUP BY c.key_bucket)
  SELECT q.line
    FROM (SELECT -f.n AS n,
                 repeat(' ', m.columns - coalesce(spanner_internal.display_width(l.label), 0))
                 || concat(l.label, ' ', charset[CASE WHEN l.label IS NULL THEN 9 ELSE 10 END],
                           f.shades) AS line
            FROM field f
            JOIN label l ON l.n = f.n
           CROSS JOIN margin m
           UNION ALL
          SELECT 1, repeat(' ', m.columns + 1) || charset[11]
                 || repeat(charset[12], (h).time_buckets)
            FROM margin m
           UNION ALL
          SELECT 2, repeat(' ', m.columns + 2)
                 || concat_ws(' ', spanner_internal.clean_label(coalesce((h).order_by, 'block')),
                      coalesce(spanner_internal.clean_label((h).time_from[1], 32), '?'),
                      charset[13],
                      coalesce(spanner_internal.clean_label((h).time_to, 32), '?'))
            FROM margin m) q
   ORDER BY q.n;
END;

CREATE FUNCTION spanner.key_heatmap_text(
  relation regclass, time_buckets integer DEFAULT 40, key_buckets integer DEFAULT 20,
  column_name name DEFAULT NULL, order_by name DEFAULT NULL, sample_rows integer DEFAULT 30000)
RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  h spanner_internal.heatmap := spanner_internal.read_heatmap(relation, time_buckets, key_buckets,
                                                              column_name, order_by, sample_rows);
  -- eight shades from none to most, the axis, a tick on it, its corner, its line below, an arrow
  charset text[] := ARRAY(
    SELECT chr(c)
      FROM unnest(CASE getdatabaseencoding() WHEN 'UTF8'
                  THEN '{32,9617,9617,9618,9619,9619,9608,9608,9474,9508,9492,9472,8594}'
                  ELSE '{32,46,46,58,43,43,35,35,124,43,43,45,62}' END::integer[]) c);
BEGIN
  IF relation IS NULL THEN
    RETURN;
  END IF;
  RETURN NEXT spanner_internal.clean_label(h.finding);
  RETURN NEXT format('%s: rows by %s and order of insertion',
                     spanner_internal.clean_label(h.relation),
                     spanner_internal.clean_label(h.key_name));
  IF h.key_buckets = 0 THEN
    RETURN;
  END IF;
  RETURN NEXT '';
  RETURN QUERY SELECT * FROM spanner_internal.heatmap_lines(h, charset);
  RETURN NEXT '';
  RETURN NEXT format('Compared with an even spread:  %s less than half   '
                     '%s as dense, half to twice   %s 2 to 8 times   %s more',
                     charset[3], charset[4], charset[5], charset[8]);
  RETURN NEXT h.origin;
END
$$;

COMMENT ON FUNCTION
  spanner.key_heatmap_text(regclass, integer, integer, name, name, integer)
  IS 'picture of spanner.key_heatmap for a terminal: '
  'a diagonal is a hotspot, an even field is none';
