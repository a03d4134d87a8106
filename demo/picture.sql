-- Draw key_ranges and results side by side.
-- psql variable "blocks": eight characters from an eighth of a block to a full
-- one, or a single character that stands for a whole block and any part of it.

\pset tuples_only on
\pset format unaligned
\pset fieldsep ''

\echo '   |            HOTSPOT WAY              |                    SPANNER_KEYS WAY'
\echo '   | useraccesslog      orders           | useraccesslog      orders             orders'
\echo '   | by lastaccess      bigserial        | by shard_id        bit-reversed       striped'
\echo '---+-------------------------------------+-------------------------------------------------------'

WITH ranges AS (
  -- A bar of 10 blocks stands for all of the inserts.
  SELECT tab, range, share, ceil(10 * share * length(:'blocks'))::integer AS parts
    FROM key_ranges
), cells (tab, line, label, cell) AS (
  SELECT tab, range, range::text,
         rpad(repeat(right(:'blocks', 1), parts / length(:'blocks')) ||
              substr(:'blocks', parts % length(:'blocks'), 1), 11) ||
         lpad(CASE WHEN share = 0 THEN '-' ELSE to_char(100 * share, 'FM990.0') || '%' END, 6)
    FROM ranges
  UNION ALL
  SELECT tab, 17, '', repeat('-', 17) FROM results
  UNION ALL
  SELECT tab, 18, '', 'hottest' || lpad(to_char(100 * hottest, 'FM990.0') || '%', 10) FROM results
  UNION ALL
  SELECT tab, 19, '', 'written' || lpad(to_char(written, 'FM999,999,999'), 10) FROM results
  UNION ALL
  SELECT tab, 20, '', 'rows/s' || lpad(to_char(per_second, 'FM999,999,999'), 11) FROM results
  UNION ALL
  SELECT tab, 21, '', 'errors' || lpad(errors::text, 11) FROM results
)
SELECT lpad(label, 2), ' | ',
       rpad(max(cell) FILTER (WHERE tab = 'hotspot.useraccesslog'), 19),
       max(cell) FILTER (WHERE tab = 'hotspot.orders'), ' | ',
       rpad(max(cell) FILTER (WHERE tab = 'reversed.useraccesslog'), 19),
       rpad(max(cell) FILTER (WHERE tab = 'reversed.orders'), 19),
       max(cell) FILTER (WHERE tab = 'striped.orders')
  FROM cells
 GROUP BY line, label
 ORDER BY line;
