/* src/advisor/heatmap_page.sql */

-- Advisor: a picture of key space as a page for a browser

-- A name or a key as HTML, shortened to "most" characters.  A page is of ASCII characters only, so
-- that no encoding on the way to a file can damage it. Control characters are shown as a
-- replacement character, and so are marks that change the direction of writing, as they make a name
-- look like another.
CREATE FUNCTION spanner_internal.escape_html(string text, most integer DEFAULT NULL)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT coalesce(string_agg(
           CASE WHEN p.code BETWEEN 32 AND 126 AND p.code <> ALL ('{34,38,39,60,62}') THEN p.letter
                WHEN p.code < 32 OR p.code BETWEEN 127 AND 159
                  OR p.code = ANY ('{1564,8206,8207,65534,65535}')
                  OR p.code BETWEEN 8232 AND 8238
                  OR p.code BETWEEN 8294 AND 8297 THEN '&#65533;'
                ELSE '&#' || p.code || ';' END, '' ORDER BY p.n), '')
         || CASE WHEN length(string) > most THEN '&#8230;' ELSE '' END
    FROM regexp_split_to_table(
           CASE WHEN length(string) > most THEN left(string, most - 1) ELSE string END, '')
         WITH ORDINALITY l (letter, n)
         -- nobody knows what a byte of SQL_ASCII means
   CROSS JOIN LATERAL (
     SELECT CASE WHEN getdatabaseencoding() = 'SQL_ASCII' AND ascii(l.letter) > 127
                 THEN '\xefbfbd' ELSE convert_to(l.letter, 'UTF8') END) u (b)
   CROSS JOIN LATERAL octet_length(u.b) o (bytes)
   CROSS JOIN LATERAL (
     SELECT l.letter, l.n,
            sum((get_byte(u.b, i) & CASE WHEN i > 0 THEN 63 WHEN o.bytes = 1 THEN 127
                                         ELSE 255 >> o.bytes + 1 END)
                << 6 * (o.bytes - 1 - i)) AS code
       FROM generate_series(0, o.bytes - 1) i) p
   WHERE l.letter <> '';
END;

-- The drawing is 760 wide and 470 high.  The plot in it begins at (166, 34), is 430 wide and 320
-- high, and its largest keys are on top; bars begin at 612.
CREATE FUNCTION spanner_internal.draw_cells(h spanner_internal.heatmap)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH size AS (
    SELECT 430::numeric / (h).time_buckets AS width, 320::numeric / (h).key_buckets AS height),
  key AS (
    SELECT u.n, spanner_internal.escape_html((h).key_name) || ' '
                || coalesce(spanner_internal.escape_html(u.key_from), '?')
                || CASE WHEN u.key_to <> u.key_from
                        THEN ' to ' || spanner_internal.escape_html(u.key_to) ELSE '' END AS bounds
      FROM ROWS FROM (unnest((h).key_from), unnest((h).key_to))
           WITH ORDINALITY u (key_from, key_to, n)),
  time AS (
    SELECT u.n, spanner_internal.escape_html(
                  coalesce((h).order_by, 'from block') || ' ' || coalesce(u.label, '?')) AS label
      FROM unnest((h).time_from) WITH ORDINALITY u (label, n))
  SELECT coalesce(string_agg(format(
           E'<rect class="d%s" x="%s" y="%s" width="%s" height="%s">'
           '<title>%s\n%s rows, %s times an even share\n%s</title></rect>\n', c.step,
           round(166 + (c.time_bucket - 1) * g.width, 2), round(354 - c.key_bucket * g.height, 2),
           round(g.width, 2), round(g.height, 2),
           k.bounds, to_char(c.rows, 'FM999,999,999,999,990'), round(c.ratio, 1), t.label),
         '' ORDER BY c.time_bucket, c.key_bucket), '')
    FROM size g
   CROSS JOIN spanner_internal.heatmap_cells(h) c
    JOIN key k ON k.n = c.key_bucket
    JOIN time t ON t.n = c.time_bucket
   WHERE c.sampled > 0;
END;

-- Keys at the left; below, rows and what they are ordered by.  A label at the beginning, in the
-- middle and at the end: there is no room for more.  A range without rows may have no label: then
-- the next ones of its part have.  A label that may need more than the 146 beside the plot gets
-- these: letters that are not ASCII count twice.
CREATE FUNCTION spanner_internal.draw_axes(h spanner_internal.heatmap)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH part AS (
    SELECT DISTINCT ON ((u.n - 1) / p.size) u.n, left(u.label, 21) AS label,
           spanner_internal.escape_html(u.label, 21) AS text,
           spanner_internal.escape_html(u.key_from) AS whole
      FROM ROWS FROM (unnest((h).key_label), unnest((h).key_from))
           WITH ORDINALITY u (label, key_from, n)
     CROSS JOIN LATERAL (SELECT (h).key_buckets / 9 + 1 AS size) p
     WHERE u.label IS NOT NULL AND (u.n - 1) % p.size <= (p.size - 1) / 2
     ORDER BY (u.n - 1) / p.size, u.n),
  key AS (
    SELECT string_agg(format(
             E'<line x1="160" y1="%1$s" x2="166" y2="%1$s"/>'
             '<text class="key" x="156" y="%1$s"%2$s>%3$s<title>%4$s</title></text>\n',
             round(354 - 320::numeric * (n - 1) / (h).key_buckets, 2),
             CASE WHEN length(label) + length(regexp_replace(label, '[ -~]', '', 'g')) > 17
                  THEN ' textLength="146" lengthAdjust="spacingAndGlyphs"' END,
             text, whole), '' ORDER BY n) AS lines
      FROM part),
  tick AS (
    SELECT x.share, x.anchor, to_char(x.share::float8 * (h).total, 'FM999,999,999,999,990') AS rows,
           CASE WHEN (h).order_by IS NULL THEN 'block ' ELSE '' END
           || regexp_replace(CASE x.share WHEN 1 THEN (h).time_to
                ELSE (h).time_from[floor(x.share * (h).time_buckets)::integer + 1] END,
              '^(\d{4}-\d\d-\d\d \d\d:\d\d).*', '\1') AS label
      FROM unnest('{0,0.25,0.5,0.75,1}'::numeric[], '{first,NULL,middle,NULL,last}'::text[])
           x (share, anchor)
     WHERE (h).time_buckets > 0),
  time AS (
    SELECT string_agg(format(E'<line x1="%1$s" y1="354" x2="%1$s" y2="360"/>\n', p.x)
           || CASE WHEN t.anchor IS NULL THEN '' ELSE format(
                E'<text class="%2$s" x="%1$s" y="374">%3$s</text>'
                '<text class="%2$s" x="%1$s" y="390">%4$s</text>\n',
                p.x, t.anchor, t.rows || CASE t.share WHEN 1 THEN ' rows' ELSE '' END,
                spanner_internal.escape_html(t.label, 20)) END, '' ORDER BY t.share) AS lines
      FROM tick t
     CROSS JOIN LATERAL (SELECT round(166 + 430 * t.share, 2) AS x) p)
  SELECT format(E'<text class="axis" x="8" y="20">%s &#8593;</text>\n<g class="label end">\n',
                spanner_internal.escape_html((h).key_name, 40))
         || coalesce(key.lines, '') || E'</g>\n<g class="label">\n' || coalesce(time.lines, '')
         || format(E'</g>\n<text class="axis" x="166" y="412">'
                   'order of insertion, by %s &#8594;</text>\n',
                   coalesce('column ' || nullif(spanner_internal.escape_html((h).order_by, 40), ''),
                            'place in the table'))
    FROM key, time;
END;

-- How the rows of all times spread over the keys.
CREATE FUNCTION spanner_internal.draw_bars(h spanner_internal.heatmap)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH bar AS (
    SELECT c.key_bucket, sum(c.sampled) AS sampled, sum(c.rows) AS rows,
           max(sum(c.sampled)) OVER () AS most, sum(sum(c.sampled)) OVER () AS all_rows
      FROM spanner_internal.heatmap_cells(h) c
     GROUP BY c.key_bucket)
  SELECT E'<text class="axis" x="612" y="20">share of all rows</text>\n<g class="bars">\n'
         || string_agg(format(
              E'<rect x="612" y="%s" width="%s" height="%s">'
              '<title>%s rows, %s %%</title></rect>\n',
              round(354 - 320 * (b.key_bucket - 0.1) / (h).key_buckets, 2),
              round(84 * b.sampled / b.most, 2), round(320 * 0.8 / (h).key_buckets, 2),
              to_char(b.rows, 'FM999,999,999,999,990'),
              round(100 * b.sampled / b.all_rows, 2))
            || CASE WHEN (h).key_buckets <= 26 THEN format(
                 E'<text x="702" y="%s">%s %%</text>\n',
                 round(354 - 320 * (b.key_bucket - 0.5) / (h).key_buckets, 2),
                 round(100 * b.sampled / b.all_rows, 1)) ELSE '' END, '' ORDER BY b.key_bucket)
         || format('</g>
<line class="even" x1="%1$s" y1="30" x2="%1$s" y2="358"><title>an even share</title></line>
', round(612 + 84 * max(b.all_rows) / (h).key_buckets / max(b.most), 2))
    FROM bar b;
END;

-- A picture as a part of a page.
CREATE FUNCTION spanner_internal.draw_heatmap(h spanner_internal.heatmap)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH legend AS (
    SELECT string_agg(format(
             E'<rect class="d%s" x="%s" y="446" width="73" height="10"/>'
             '<text x="%s" y="468">%s</text>\n',
             l.n - 1, 102 + 73 * l.n - 9, 102 + 73 * l.n + 27, l.step), '' ORDER BY l.n) AS lines
      FROM unnest('{none,under 1/4,1/4 to 1/2,1/2 to 2,2 to 4,4 to 8,8 to 16,16 and more}'::text[])
           WITH ORDINALITY l (step, n))
  SELECT format('<section>
<p class="finding %s">%s</p>
<h1>%s</h1>
<p class="about">Where rows go in the key space of <b>%s</b>, in the order of their insertion</p>
<figure tabindex="0">
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 470" role="img"
 aria-label="Rows by key range and order of insertion">
<rect class="d0" x="166" y="34" width="430" height="320"/>
<g class="cells">
%s</g>
<rect class="frame" x="166" y="34" width="430" height="320"/>
%s%s<text class="axis" x="166" y="440">rows, as multiples of an even share</text>
<g class="legend">
%s</g>
</svg>
</figure>
<p class="facts">%s %s key ranges, %s steps of as many rows each.</p>
</section>
', (h).verdict, spanner_internal.escape_html((h).finding),
         spanner_internal.escape_html((h).relation), spanner_internal.escape_html((h).key_name),
         spanner_internal.draw_cells(h), spanner_internal.draw_axes(h),
         spanner_internal.draw_bars(h), l.lines,
         spanner_internal.escape_html((h).origin), (h).key_buckets, (h).time_buckets)
    FROM legend l;
END;

-- Even is blue; what is denser is warmer, what is thinner paler.  In a light and in a dark page,
-- each step has 1.4 times the luminance of its neighbour.
CREATE FUNCTION spanner_internal.heatmap_style()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '<style>
:root {
  --page: #ffffff; --ink: #18212f; --soft: #5b6778; --line: #aab4c2; --bar: #8fa3bd;
  --d0: #f7fafd; --d1: #bfd5ec; --d2: #88b5e3; --d3: #5a96da;
  --d4: #b96109; --d5: #b2310a; --d6: #960814; --d7: #670727;
  --good: #1d6fb8; --fair: #b06a00; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0c1119; --ink: #e6ebf2; --soft: #98a5b7; --line: #4a586c; --bar: #5d7390;
    --d0: #121a29; --d1: #173565; --d2: #1e4c8c; --d3: #2e63b1;
    --d4: #bd650d; --d5: #e77b1e; --d6: #f2a73c; --d7: #f4d689;
    --good: #6fb2ee; --fair: #f0b95a; --bad: #ff8a80;
  }
}
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 28px 24px 40px; }
main.pair { max-width: 1900px; display: grid; gap: 32px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); }
section { min-width: 0; }
h1 { margin: 0; font-size: 26px; line-height: 1.25; overflow-wrap: anywhere; }
.about { margin: 4px 0 18px; color: var(--soft); overflow-wrap: anywhere; }
.about b { color: var(--ink); }
.finding { margin: 0 0 18px; padding: 10px 14px; border-left: 4px solid;
  background: var(--d0); font-weight: 600; }
.pair .finding { min-height: 3em; }
.even { border-color: var(--good); } .uneven { border-color: var(--fair); }
.hotspot { border-color: var(--bad); } .unknown { border-color: var(--line); }
figure { margin: 0; overflow-x: auto; }
svg { display: block; width: 100%; min-width: 580px; height: auto; }
.cells, .d0 { shape-rendering: crispEdges; }
.d0 { fill: var(--d0); } .d1 { fill: var(--d1); } .d2 { fill: var(--d2); } .d3 { fill: var(--d3); }
.d4 { fill: var(--d4); } .d5 { fill: var(--d5); } .d6 { fill: var(--d6); } .d7 { fill: var(--d7); }
.cells rect:hover, .bars rect:hover { stroke: var(--ink); stroke-width: 1.5; }
.frame { fill: none; stroke: var(--line); pointer-events: none; }
.legend rect { stroke: var(--line); stroke-width: 0.5; }
text { fill: var(--soft); font: 12px system-ui, sans-serif;
  font-variant-numeric: tabular-nums; }
.axis { fill: var(--ink); font-size: 13px; font-weight: 600; }
.end text, .last { text-anchor: end; }
.key, .bars text { dominant-baseline: central; }
.label line { stroke: var(--line); }
.bars rect { fill: var(--bar); }
line.even { stroke: var(--ink); stroke-dasharray: 3 3; opacity: 0.6; }
.legend text, .middle { text-anchor: middle; }
.facts, footer { margin: 14px 0 0; color: var(--soft); font-size: 14px;
  overflow-wrap: anywhere; }
footer { grid-column: 1 / -1; }
@media (max-width: 620px) {
  main { padding: 18px 14px 28px; } h1 { font-size: 21px; }
  figure { border-right: 3px solid var(--line); }
  figure::before { content: "wider than the screen: swipe \2192"; display: block; position: sticky;
    left: 0; width: max-content; padding: 2px 8px; background: var(--ink); color: var(--page);
    font-size: 13px; }
}
@media print { main { padding: 0; } .finding, svg { print-color-adjust: exact; } }
</style>
';

-- The page needs no other file: it contains its style and its SVG, and has no script.
CREATE FUNCTION spanner.key_heatmap_html(
  relation regclass, time_buckets integer DEFAULT 40, key_buckets integer DEFAULT 20,
  column_name name DEFAULT NULL, order_by name DEFAULT NULL, sample_rows integer DEFAULT 30000,
  after regclass DEFAULT NULL)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  SELECT format('<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>%s</title>
%s</head>
<body>
<main class="%s">
%s<footer>A line that climbs is a hotspot: each row goes beside the one before it.
An even field is a key that spreads.
Drawn %s in database %s by spanner_keys %s on PostgreSQL %s.</footer>
</main>
</body>
</html>
',        string_agg(spanner_internal.escape_html((q.h).relation), ' and ' ORDER BY q.n),
          spanner_internal.heatmap_style(), CASE WHEN $7 IS NULL THEN 'one' ELSE 'pair' END,
          string_agg(spanner_internal.draw_heatmap(q.h), '' ORDER BY q.n),
          to_char(now(), 'YYYY-MM-DD HH24:MI OF'),
          spanner_internal.escape_html(current_database()::text),
          (SELECT x.extversion FROM pg_extension x WHERE x.extname = 'spanner_keys'),
          spanner_internal.escape_html(current_setting('server_version')))
    FROM (SELECT u.n, spanner_internal.read_heatmap(u.relation, $2, $3, $4, $5, $6) AS h
            FROM unnest(ARRAY[$1, $7]) WITH ORDINALITY u (relation, n)
           WHERE u.relation IS NOT NULL
          OFFSET 0) q
  HAVING $1 IS NOT NULL;
END;

COMMENT ON FUNCTION
  spanner.key_heatmap_html(regclass, integer, integer, name, name, integer, regclass)
  IS 'the same picture as an HTML page that needs no other file, or one of two tables';
