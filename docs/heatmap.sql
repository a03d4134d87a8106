-- The picture of the README: where rows of the tables "orders" and "spread" went.
--
-- psql -XAt -f docs/heatmap.sql shop > docs/heatmap.svg
WITH picture (place, title, relation) AS (
  VALUES (0, 'before: bigserial', 'orders'::regclass), (1, 'after: bit_reversed_positive', 'spread')
), cell AS (
  SELECT 20 + 440 * place + 10 * (time_bucket - 1) AS x, 200 - 10 * (key_bucket - 1) AS y,
         rows * 640 / sum(rows) OVER (PARTITION BY place) AS density
    FROM picture CROSS JOIN LATERAL spanner.key_heatmap(relation, 40, 16)
), shape (n, line) AS (
  SELECT 2, format('<path class="d%s" d="%s"/>', step, string_agg(format('M%s %sh10v10h-10z', x, y), '' ORDER BY x, y))
    FROM cell CROSS JOIN LATERAL (SELECT width_bucket(density, '{0.5,2,8}'::numeric[]) AS step) d
   WHERE density > 0 GROUP BY step
  UNION ALL
  SELECT 1, format('<rect class="plot" x="%1$s" y="50" width="400" height="160"/>
<text class="title" x="%1$s" y="30">%2$s</text>
<text x="%1$s" y="45">key &#8593;</text><text class="end" x="%3$s" y="228">order of insertion &#8594;</text>',
                   20 + 440 * place, title, 420 + 440 * place)
    FROM picture
  UNION ALL
  SELECT 3, format('<rect class="d%s" x="%s" y="245" width="14" height="14"/><text x="%s" y="257">%s</text>',
                   i - 1, i * 215 - 195, i * 215 - 174, label)
    FROM unnest('{less than half,half to twice,2 to 8 times,more than 8 times}'::text[]) WITH ORDINALITY l (label, i)
)
SELECT '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 290" role="img" aria-label="Two heat maps of the same rows">
<style>
.plot { fill: #eef2f7; } .d0 { fill: #bfd5ec; } .d1 { fill: #5a96da; } .d2 { fill: #e77b1e; } .d3 { fill: #b2310a; }
path, .plot { shape-rendering: crispEdges; }
text { fill: #4a5668; font: 13px system-ui, sans-serif; } .title { fill: #18212f; font-weight: 600; } .end { text-anchor: end; }
@media (prefers-color-scheme: dark) {
  .plot { fill: #1a2332; } .d0 { fill: #173565; } .d1 { fill: #2e63b1; } .d2 { fill: #e77b1e; } .d3 { fill: #f4d689; }
  text { fill: #a9b5c6; } .title { fill: #e6ebf2; }
}
</style>
' || string_agg(line, E'\n' ORDER BY n, line) || '
<text x="20" y="280">rows in a cell, compared with an even share</text>
</svg>'
  FROM shape;
