/*-------------------------------------------------------------------------
 *
 * heatmap_text.c
 *	  The picture of key space for a terminal.
 *
 * Shades are Unicode's block elements in a database in UTF-8, and ASCII in
 * others.  Control characters in names and keys are shown as "?".
 *
 * src/advisor/heatmap_text.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "advisor/key_heatmap.h"

/* How wide the labels at the left may be. */
#define LABEL_WIDTH 24

/* One label is written for so many lines. */
#define LABEL_DISTANCE 4

typedef struct SkCharset
{
	const char *shades[SK_DENSITY_MORE + 1];
	const char *axis;
	const char *tick;
	const char *corner;
	const char *line;
	const char *arrow;
} SkCharset;

static const SkCharset unicode_charset = {
	{" ", "\xe2\x96\x91", "\xe2\x96\x91", "\xe2\x96\x92", "\xe2\x96\x93",
	"\xe2\x96\x93", "\xe2\x96\x88", "\xe2\x96\x88"},
	"\xe2\x94\x82", "\xe2\x94\xa4", "\xe2\x94\x94", "\xe2\x94\x80",
	"\xe2\x86\x92"
};

static const SkCharset ascii_charset = {
	{" ", ".", ".", ":", "+", "+", "#", "#"},
	"|", "+", "+", "-", ">"
};

PG_FUNCTION_INFO_V1(spanner_key_heatmap_text);

static void put_title(ReturnSetInfo *result, const SkHeatmap *map);
static void put_cells(ReturnSetInfo *result, const SkHeatmap *map,
					  const SkCharset *charset);
static void put_time_axis(ReturnSetInfo *result, const SkHeatmap *map,
						  const SkCharset *charset, int left);
static void put_legend(ReturnSetInfo *result, const SkHeatmap *map,
					   const SkCharset *charset);
static void put_line(ReturnSetInfo *result, StringInfo line);
static char *clean_label(const char *label, int width);
static int	display_width(const char *string);
static void append_padding(StringInfo line, const char *filling, int count);

/*
 * spanner.key_heatmap_text(relation regclass, time_buckets integer,
 *		key_buckets integer, column_name name, order_by name,
 *		sample_rows integer) returns setof text
 *
 * The result of key_heatmap() as a picture, line by line.
 */
Datum
spanner_key_heatmap_text(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	const SkCharset *charset = GetDatabaseEncoding() == PG_UTF8 ?
		&unicode_charset : &ascii_charset;
	SkHeatmap  *map;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	map = sk_heatmap_make(fcinfo);
	put_title(result, map);
	if (map->cells != NULL)
	{
		put_cells(result, map, charset);
		put_legend(result, map, charset);
	}
	return (Datum) 0;
}

static void
put_title(ReturnSetInfo *result, const SkHeatmap *map)
{
	StringInfoData line;

	initStringInfo(&line);
	appendStringInfo(&line, "%s: rows by %s and order of insertion",
					 clean_label(map->sample.key.table, 0),
					 clean_label(sk_heatmap_key_name(map), 0));
	put_line(result, &line);
	appendStringInfoString(&line, sk_heatmap_finding(map));
	put_line(result, &line);
	if (map->cells != NULL)
		put_line(result, &line);
}

/* The largest keys are on top. */
static void
put_cells(ReturnSetInfo *result, const SkHeatmap *map, const SkCharset *charset)
{
	char	  **labels = palloc0(map->keys * sizeof(char *));
	int			distance = map->keys <= 2 * LABEL_DISTANCE ? 1 : LABEL_DISTANCE;
	int			left = 0;
	StringInfoData line;

	for (int key = 0; key < map->keys; key++)
	{
		const char *label = sk_key_scale_label(&map->scale, key);

		if (key % distance == 0 && label != NULL)
		{
			labels[key] = clean_label(label, LABEL_WIDTH);
			left = Max(left, display_width(labels[key]));
		}
	}

	initStringInfo(&line);
	for (int key = map->keys - 1; key >= 0; key--)
	{
		const char *label = labels[key] != NULL ? labels[key] : "";

		append_padding(&line, " ", left - display_width(label));
		appendStringInfo(&line, "%s %s", label,
						 labels[key] != NULL ? charset->tick : charset->axis);
		for (int time = 0; time < map->times; time++)
			appendStringInfoString(&line,
								   charset->shades[sk_heatmap_density(map, time, key)]);
		put_line(result, &line);
	}
	put_time_axis(result, map, charset, left);
}

static void
put_time_axis(ReturnSetInfo *result, const SkHeatmap *map,
			  const SkCharset *charset, int left)
{
	const char *what = map->sample.order_by ? map->sample.order_by : "block";
	const char *first = map->firsts[0] ? map->firsts[0]->order_label : NULL;
	const char *last = map->last->order_label;
	StringInfoData line;

	initStringInfo(&line);
	append_padding(&line, " ", left + 1);
	appendStringInfoString(&line, charset->corner);
	append_padding(&line, charset->line, map->times);
	put_line(result, &line);
	append_padding(&line, " ", left + 2);
	appendStringInfo(&line, "%s %s %s %s", clean_label(what, 0),
					 first ? clean_label(first, LABEL_WIDTH + 8) : "?", charset->arrow,
					 last ? clean_label(last, LABEL_WIDTH + 8) : "?");
	put_line(result, &line);
	put_line(result, &line);
}

static void
put_legend(ReturnSetInfo *result, const SkHeatmap *map, const SkCharset *charset)
{
	StringInfoData line;

	initStringInfo(&line);
	appendStringInfo(&line,
					 "Compared with an even spread:  %s less than half   %s as dense, half to twice   %s 2 to 8 times   %s more",
					 charset->shades[SK_DENSITY_HALF],
					 charset->shades[SK_DENSITY_EVEN],
					 charset->shades[SK_DENSITY_FOUR],
					 charset->shades[SK_DENSITY_MORE]);
	put_line(result, &line);
	appendStringInfoString(&line, sk_heatmap_origin(map));
	put_line(result, &line);
}

/* Return a line, and start the next. */
static void
put_line(ReturnSetInfo *result, StringInfo line)
{
	Datum		value = CStringGetTextDatum(line->data);
	bool		isnull = false;

	tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
	resetStringInfo(line);
}

/* A name or key that does not harm the lines; "width" 0 is no limit. */
static char *
clean_label(const char *label, int width)
{
	StringInfoData clean;
	char	   *result;
	int			length;

	initStringInfo(&clean);
	for (; *label != '\0'; label += pg_mblen(label))
	{
		if (pg_encoding_dsplen(GetDatabaseEncoding(), label) < 0)
			appendStringInfoChar(&clean, '?');
		else
			appendBinaryStringInfo(&clean, label, pg_mblen(label));
	}
	result = clean.data;
	length = clean.len;
	if (width > 0 && display_width(result) > width)
	{
		while (display_width(result) > width - 2)
		{
			length = pg_mbcliplen(result, length, length - 1);
			result[length] = '\0';
		}
		result = psprintf("%s..", result);
	}
	return result;
}

static int
display_width(const char *string)
{
	int			result = 0;

	while (*string != '\0')
	{
		result += Max(pg_encoding_dsplen(GetDatabaseEncoding(), string), 0);
		string += pg_mblen(string);
	}
	return result;
}

static void
append_padding(StringInfo line, const char *filling, int count)
{
	for (int i = 0; i < count; i++)
		appendStringInfoString(line, filling);
}
