/*-------------------------------------------------------------------------
 *
 * heatmap_html.c
 *	  The picture of key space as an HTML page.
 *
 * The page needs nothing else: its style and its SVG are inside, and it has
 * no script.  It consists of ASCII characters only, others are written as
 * their numbers, so that no encoding on the way to a file can harm it.
 *
 * src/advisor/heatmap_html.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "advisor/heatmap_style.h"
#include "advisor/key_heatmap.h"

/* The parts of the drawing, in units of its own. */
#define PLOT_LEFT 196
#define PLOT_TOP 34
#define PLOT_WIDTH 620
#define PLOT_HEIGHT 420
#define BARS_LEFT (PLOT_LEFT + PLOT_WIDTH + 18)
#define BARS_WIDTH 120
#define LEGEND_TOP (PLOT_TOP + PLOT_HEIGHT + 72)
#define LEGEND_WIDTH (PLOT_WIDTH / 8)
#define DRAWING_WIDTH (BARS_LEFT + BARS_WIDTH + 60)
#define DRAWING_HEIGHT (LEGEND_TOP + 44)

/* How many characters of a key fit beside the plot. */
#define LABEL_CHARACTERS 25

/* How many labels each axis has at most. */
#define KEY_LABELS 9
#define TIME_LABELS 3

PG_FUNCTION_INFO_V1(spanner_key_heatmap_html);

static void append_page(StringInfo page, const SkHeatmap *map);
static void append_facts(StringInfo page, const SkHeatmap *map);
static void append_cells(StringInfo page, const SkHeatmap *map);
static void append_key_axis(StringInfo page, const SkHeatmap *map);
static void append_time_axis(StringInfo page, const SkHeatmap *map);
static void append_bars(StringInfo page, const SkHeatmap *map);
static void append_legend(StringInfo page);
static void append_bounds(StringInfo page, const SkHeatmap *map, int key);
static void append_escaped(StringInfo page, const char *string, int limit);
static void append_character(StringInfo page, const unsigned char *utf8);
static double key_y(const SkHeatmap *map, int key);

/*
 * spanner.key_heatmap_html(relation regclass, time_buckets integer,
 *		key_buckets integer, column_name name, order_by name,
 *		sample_rows integer) returns text
 *
 * The result of key_heatmap() as a page for a browser.
 */
Datum
spanner_key_heatmap_html(PG_FUNCTION_ARGS)
{
	StringInfoData page;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	initStringInfo(&page);
	append_page(&page, sk_heatmap_make(fcinfo));
	PG_RETURN_TEXT_P(cstring_to_text_with_len(page.data, page.len));
}

static void
append_page(StringInfo page, const SkHeatmap *map)
{
	static const char *const classes[] = {
		[SK_VERDICT_UNKNOWN] = "unknown",
		[SK_VERDICT_ONE_KEY] = "hotspot",
		[SK_VERDICT_EVEN] = "even",
		[SK_VERDICT_UNEVEN] = "uneven",
		[SK_VERDICT_HOTSPOT] = "hotspot",
	};

	appendStringInfoString(page, SK_HEATMAP_PAGE_START);
	append_escaped(page, map->sample.key.table, 0);
	appendStringInfoString(page, "</title>\n" SK_HEATMAP_STYLE "</head>\n<body>\n<main>\n<h1>");
	append_escaped(page, map->sample.key.table, 0);
	appendStringInfoString(page, "</h1>\n<p class=\"about\">Where rows go in the key space of <b>");
	append_escaped(page, map->sample.key.name, 0);
	appendStringInfo(page, "</b>, in the order of their insertion</p>\n<p class=\"finding %s\">",
					 classes[map->verdict]);
	append_escaped(page, sk_heatmap_finding(map), 0);
	appendStringInfoString(page, "</p>\n");

	appendStringInfo(page, "<figure>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t\">\n<title id=\"t\">Rows by key range and order of insertion</title>\n",
					 DRAWING_WIDTH, DRAWING_HEIGHT);
	append_cells(page, map);
	append_key_axis(page, map);
	append_time_axis(page, map);
	append_bars(page, map);
	append_legend(page);
	appendStringInfoString(page, "</svg>\n</figure>\n");
	append_facts(page, map);
	appendStringInfoString(page, "</main>\n</body>\n</html>\n");
}

static void
append_facts(StringInfo page, const SkHeatmap *map)
{
	appendStringInfo(page,
					 "<p class=\"facts\">%s %d key ranges of equal width, %d steps of as many rows each. "
					 "A line that climbs is a hotspot: each row goes beside the one before it. "
					 "An even field is a key that spreads.</p>\n",
					 sk_heatmap_origin(map), map->keys, map->times);
}

static void
append_cells(StringInfo page, const SkHeatmap *map)
{
	double		width = (double) PLOT_WIDTH / map->times;
	double		height = (double) PLOT_HEIGHT / map->keys;

	appendStringInfo(page, "<rect class=\"d0\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n<g class=\"cells\">\n",
					 PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT);
	for (int time = 0; time < map->times; time++)
	{
		const SkSampledRow *first = map->firsts[time];

		for (int key = 0; key < map->keys; key++)
		{
			int64		count = sk_heatmap_cell(map, time, key);

			if (count == 0)
				continue;
			appendStringInfo(page, "<rect class=\"d%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>",
							 (int) sk_heatmap_density(map, time, key),
							 PLOT_LEFT + time * width, key_y(map, key), width, height);
			append_bounds(page, map, key);
			appendStringInfo(page, "\n%s rows, %.1f times an even share\n",
							 sk_heatmap_number(sk_key_sample_rows(&map->sample, count)),
							 sk_heatmap_ratio(map, time, key));
			append_escaped(page, map->sample.order_by ? map->sample.order_by : "from block", 0);
			appendStringInfoChar(page, ' ');
			append_escaped(page, first->order_label ? first->order_label : "?", 0);
			appendStringInfoString(page, "</title></rect>\n");
		}
	}
	appendStringInfo(page, "</g>\n<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
					 PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT);
}

static void
append_key_axis(StringInfo page, const SkHeatmap *map)
{
	int			step = (map->keys + KEY_LABELS - 1) / KEY_LABELS;
	double		height = (double) PLOT_HEIGHT / map->keys;

	appendStringInfo(page, "<text class=\"axis end\" x=\"%d\" y=\"%d\">key</text>\n<g class=\"label end\">\n",
					 PLOT_LEFT - 10, PLOT_TOP - 14);
	for (int key = 0; key < map->keys; key += step)
	{
		char	   *label = sk_key_scale_label(&map->scale, key);
		double		y = key_y(map, key) + height;

		if (label == NULL)
			continue;
		appendStringInfo(page, "<line x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\"/><text x=\"%d\" y=\"%.2f\">",
						 PLOT_LEFT - 6, y, PLOT_LEFT, y, PLOT_LEFT - 10, y);
		append_escaped(page, label, LABEL_CHARACTERS);
		appendStringInfoString(page, "<title>");
		append_escaped(page, sk_key_scale_from(&map->scale, key), 0);
		appendStringInfoString(page, "</title></text>\n");
	}
	appendStringInfoString(page, "</g>\n");
}

static void
append_time_axis(StringInfo page, const SkHeatmap *map)
{
	int			labels = Min(TIME_LABELS, map->times);
	int			y = PLOT_TOP + PLOT_HEIGHT;

	appendStringInfoString(page, "<g class=\"label\">\n");
	for (int i = 0; i < labels; i++)
	{
		int			time = i * map->times / labels;
		double		x = PLOT_LEFT + (double) PLOT_WIDTH * time / map->times;
		const SkSampledRow *first = map->firsts[time];

		appendStringInfo(page, "<line x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\"/>",
						 x, y, x, y + 6);
		if (first == NULL || first->order_label == NULL)
			continue;
		appendStringInfo(page, "<text x=\"%.2f\" y=\"%d\">", x, y + 18);
		append_escaped(page, first->order_label, 32);
		appendStringInfoString(page, "</text>\n");
	}
	appendStringInfo(page, "</g>\n<text class=\"axis\" x=\"%d\" y=\"%d\">order of insertion, by ", PLOT_LEFT, y + 42);
	append_escaped(page, map->sample.order_by ? map->sample.order_by :
				   "block of the table", 60);
	appendStringInfoString(page, " &#8594;</text>\n");
}

/* How the rows of all times spread over the keys. */
static void
append_bars(StringInfo page, const SkHeatmap *map)
{
	double		height = (double) PLOT_HEIGHT / map->keys;
	int64		most = 1;
	double		even;

	for (int key = 0; key < map->keys; key++)
		most = Max(most, map->key_rows[key]);
	even = BARS_WIDTH * ((double) map->sample.count / map->keys / most);

	appendStringInfo(page, "<text class=\"axis\" x=\"%d\" y=\"%d\">share of all rows</text>\n<g class=\"bars\">\n",
					 BARS_LEFT, PLOT_TOP - 14);
	for (int key = 0; key < map->keys; key++)
	{
		double		share = (double) map->key_rows[key] / map->sample.count;
		double		width = (double) BARS_WIDTH * map->key_rows[key] / most;
		double		y = key_y(map, key);

		appendStringInfo(page, "<rect x=\"%d\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>",
						 BARS_LEFT, y + height * 0.1, width, height * 0.8);
		append_bounds(page, map, key);
		appendStringInfo(page, "\n%s rows, %.2f %%</title></rect>\n",
						 sk_heatmap_number(sk_key_sample_rows(&map->sample, map->key_rows[key])),
						 100 * share);
		if (height >= 12)
			appendStringInfo(page, "<text x=\"%.2f\" y=\"%.2f\">%.1f %%</text>\n",
							 BARS_LEFT + BARS_WIDTH + 8.0, y + height / 2, 100 * share);
	}
	appendStringInfo(page, "</g>\n<line class=\"even\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\"><title>an even share</title></line>\n",
					 BARS_LEFT + even, PLOT_TOP - 4, BARS_LEFT + even,
					 PLOT_TOP + PLOT_HEIGHT + 4);
}

static void
append_legend(StringInfo page)
{
	static const char *const steps[] = {
		"none", "under 1/4", "1/4 to 1/2", "1/2 to 2", "2 to 4", "4 to 8", "8 to 16", "16 and more"
	};

	appendStringInfo(page, "<text class=\"axis\" x=\"%d\" y=\"%d\">rows, as multiples of an even share</text>\n<g class=\"legend\">\n",
					 PLOT_LEFT, LEGEND_TOP);
	for (int i = 0; i < lengthof(steps); i++)
	{
		int			x = PLOT_LEFT + i * LEGEND_WIDTH;

		appendStringInfo(page, "<rect class=\"d%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
						 i, x, LEGEND_TOP + 10, LEGEND_WIDTH,
						 x + LEGEND_WIDTH / 2, LEGEND_TOP + 38, steps[i]);
	}
	appendStringInfoString(page, "</g>\n");
}

static void
append_bounds(StringInfo page, const SkHeatmap *map, int key)
{
	char	   *from = sk_key_scale_from(&map->scale, key);
	char	   *to = sk_key_scale_to(&map->scale, key);

	append_escaped(page, map->sample.key.name, 0);
	appendStringInfoChar(page, ' ');
	append_escaped(page, from != NULL ? from : "?", 0);
	if (from != NULL && to != NULL && strcmp(from, to) != 0)
	{
		appendStringInfoString(page, " to ");
		append_escaped(page, to, 0);
	}
}

/*
 * Append a name or a key as HTML, shortened to "limit" characters if that is
 * not 0.
 */
static void
append_escaped(StringInfo page, const char *string, int limit)
{
	unsigned char *utf8 = (unsigned char *)
		pg_server_to_any(string, strlen(string), PG_UTF8);
	int			count = 0;

	if (pg_mbstrlen(string) <= limit)
		limit = 0;
	for (; *utf8 != '\0'; utf8 += pg_utf_mblen(utf8))
	{
		if (limit > 0 && count++ >= limit - 1)
		{
			appendStringInfoString(page, "&#8230;");
			return;
		}
		append_character(page, utf8);
	}
}

/*
 * Control characters are shown as a replacement character; marks that change
 * the direction of writing would let a name look like another.
 */
static void
append_character(StringInfo page, const unsigned char *utf8)
{
	pg_wchar	code = utf8_to_unicode(utf8);
	bool		harmless = code >= 0xA0 && code != 0x61C &&
		(code < 0x200E || code > 0x200F) && (code < 0x2028 || code > 0x202E) &&
		(code < 0x2066 || code > 0x2069) && (code & 0xFFFE) != 0xFFFE;

	if (code >= ' ' && code < 0x7F && strchr("&<>\"'", (int) code) == NULL)
		appendStringInfoChar(page, (char) code);
	else
		appendStringInfo(page, "&#%u;", code >= ' ' && (code < 0x7F || harmless) ?
						 (unsigned int) code : 0xFFFD);
}

/* The upper edge of a key range; the largest keys are on top. */
static double
key_y(const SkHeatmap *map, int key)
{
	return PLOT_TOP + (double) PLOT_HEIGHT * (map->keys - 1 - key) / map->keys;
}
