/*-------------------------------------------------------------------------
 *
 * key_heatmap.c
 *	  Where in key space rows went, in the order of their insertion.
 *
 * The picture is returned as cells, or drawn for a terminal.  There, shades are
 * Unicode's block elements in a database in UTF-8, and ASCII in others.
 * Control characters in names and keys are shown as "?".
 *
 * All time buckets have the same number of rows, so that the picture does not
 * depend on when there was much load.  A key that only grows makes a diagonal
 * line; one that spreads makes an even field.
 *
 * If the first column of a key has fewer values than there are key buckets, all
 * columns count: the keys behind each of the few values may grow.
 *
 * src/advisor/key_heatmap.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "advisor/key_scale.h"

#define HEATMAP_COLUMNS 15
#define SK_MAX_TIMES 400
#define SK_MAX_KEYS 200

/* How many rows it takes to tell how evenly they spread over the keys. */
#define SK_ROWS_TO_TELL 100
#define SK_ROWS_PER_KEY 10
#define SK_SLICES_TO_TELL 4

/* What the picture says. */
typedef enum SkVerdict
{
	SK_VERDICT_NO_ROWS,
	SK_VERDICT_UNKNOWN,			/* too few rows */
	SK_VERDICT_OWN_ORDER,		/* ordered by the key itself */
	SK_VERDICT_ONE_KEY,
	SK_VERDICT_EVEN,
	SK_VERDICT_UNEVEN,
	SK_VERDICT_HOTSPOT
} SkVerdict;

/* How dense a cell is, compared with an even spread of the rows. */
typedef enum SkDensity
{
	SK_DENSITY_NONE,			/* no row */
	SK_DENSITY_QUARTER,			/* less than a quarter */
	SK_DENSITY_HALF,			/* less than half */
	SK_DENSITY_EVEN,			/* half to twice as dense */
	SK_DENSITY_FOUR,			/* up to 4 times */
	SK_DENSITY_EIGHT,			/* up to 8 times */
	SK_DENSITY_SIXTEEN,			/* up to 16 times */
	SK_DENSITY_MORE
} SkDensity;

typedef struct SkHeatmap
{
	SkKeySample sample;
	SkKeyScale	scale;
	int			times;			/* time buckets */
	int			keys;			/* key buckets */
	int64	   *cells;			/* sampled rows, by time and key bucket */
	const SkSampledRow **firsts;	/* first row of each time bucket, or NULL */
	const SkSampledRow *last;	/* last row of all */
	int			ranges;			/* key ranges that were compared */
	double		busiest;		/* share of the busiest of them, of late */
	SkVerdict	verdict;		/* on the last quarter of the rows */
	SkVerdict	earlier;		/* and before */
	int			since;			/* time bucket since when, 0 if always */
} SkHeatmap;

/* How wide the labels at the left may be. */
#define LABEL_WIDTH 24

/* Every so many lines, one has a label. */
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
PG_FUNCTION_INFO_V1(spanner_read_heatmap);

static SkHeatmap *make_heatmap(FunctionCallInfo fcinfo);
static int64 cell_rows(const SkHeatmap *map, int time, int key);
static SkDensity cell_density(const SkHeatmap *map, int time, int key);
static char *describe_finding(const SkHeatmap *map);
static const char *key_name(const SkHeatmap *map);
static char *describe_origin(const SkHeatmap *map);
static char *group_digits(double number);
static void check_buckets(const char *name, int value, int most);
static void read_keys(SkHeatmap *map, int sample_rows, int keys);
static void fill_cells(SkHeatmap *map, int times);
static void judge(SkHeatmap *map);
static void judge_slices(SkHeatmap *map, int slices);
static SkVerdict verdict_on(const SkHeatmap *map, double busiest);
static double busiest_share(const SkHeatmap *map, int slices, int slice);
static Datum text_array(char **texts, int count);
static Datum text_or_null(const char *string, bool *isnull);
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
 * spanner_internal.read_heatmap(relation regclass, time_buckets integer,
 *		key_buckets integer, column_name name, order_by name,
 *		sample_rows integer) returns spanner_internal.heatmap
 *
 * The picture as its cells, its labels and what it says.  The key is chosen as
 * for key_histogram().  The order of insertion is that of the column
 * "order_by", or if that is NULL the place in the table.
 */
Datum
spanner_read_heatmap(PG_FUNCTION_ARGS)
{
	static const char *const verdicts[] = {
		"unknown", "unknown", "unknown", "hotspot", "even", "uneven", "hotspot"
	};
	SkHeatmap  *map;
	TupleDesc	desc;
	Datum		values[HEATMAP_COLUMNS];
	bool		nulls[HEATMAP_COLUMNS] = {false};
	char	  **labels[4];
	Datum	   *cells;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	map = make_heatmap(fcinfo);

	for (int i = 0; i < lengthof(labels); i++)
		labels[i] = palloc0(Max(map->times, map->keys) * sizeof(char *) + 1);
	for (int time = 0; time < map->times; time++)
		labels[0][time] = map->firsts[time] ? map->firsts[time]->order_label : NULL;
	for (int key = 0; key < map->keys; key++)
	{
		labels[1][key] = sk_key_scale_from(&map->scale, key);
		labels[2][key] = sk_key_scale_to(&map->scale, key);
		labels[3][key] = sk_key_scale_label(&map->scale, key);
	}
	cells = palloc(map->times * map->keys * sizeof(Datum) + 1);
	for (int i = 0; i < map->times * map->keys; i++)
		cells[i] = Int64GetDatum(map->cells[i]);

	values[0] = CStringGetTextDatum(map->sample.key.table);
	values[1] = CStringGetTextDatum(key_name(map));
	values[2] = text_or_null(map->sample.order_by, &nulls[2]);
	values[3] = CStringGetTextDatum(verdicts[map->verdict]);
	values[4] = CStringGetTextDatum(describe_finding(map));
	values[5] = CStringGetTextDatum(describe_origin(map));
	values[6] = Int32GetDatum(map->times);
	values[7] = Int32GetDatum(map->keys);
	values[8] = Float8GetDatum(map->sample.total);
	values[9] = PointerGetDatum(construct_array(cells, map->times * map->keys,
												INT8OID, sizeof(int64),
												sizeof(Datum) == sizeof(int64), TYPALIGN_DOUBLE));
	values[10] = text_array(labels[0], map->times);
	values[11] = text_or_null(map->last ? map->last->order_label : NULL, &nulls[11]);
	values[12] = text_array(labels[1], map->keys);
	values[13] = text_array(labels[2], map->keys);
	values[14] = text_array(labels[3], map->keys);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/*
 * Make the picture that the six arguments of a function ask for.  The first of
 * them must not be NULL.
 */
static SkHeatmap *
make_heatmap(FunctionCallInfo fcinfo)
{
	SkHeatmap  *map = palloc0(sizeof(SkHeatmap));
	int			times = PG_ARGISNULL(1) ? 40 : PG_GETARG_INT32(1);
	int			keys = PG_ARGISNULL(2) ? 20 : PG_GETARG_INT32(2);
	int			sample_rows = PG_ARGISNULL(5) ? 30000 : PG_GETARG_INT32(5);

	check_buckets("time_buckets", times, SK_MAX_TIMES);
	check_buckets("key_buckets", keys, SK_MAX_KEYS);
	sk_key_column_find(&map->sample.key, PG_GETARG_OID(0),
					   PG_ARGISNULL(3) ? NULL : NameStr(*PG_GETARG_NAME(3)));
	if (!PG_ARGISNULL(4))
		map->sample.order_by = pstrdup(NameStr(*PG_GETARG_NAME(4)));
	read_keys(map, sample_rows, keys);
	fill_cells(map, times);
	judge(map);
	return map;
}

/* How many sampled rows are in a cell. */
static int64
cell_rows(const SkHeatmap *map, int time, int key)
{
	return map->cells[time * map->keys + key];
}

/* The same in steps. */
static SkDensity
cell_density(const SkHeatmap *map, int time, int key)
{
	static const double limits[] = {0.25, 0.5, 2, 4, 8, 16};
	double		ratio = (double) cell_rows(map, time, key) *
		map->times * map->keys / map->sample.count;
	int			result = SK_DENSITY_QUARTER;

	if (ratio == 0)
		return SK_DENSITY_NONE;
	for (int i = 0; i < lengthof(limits) && ratio >= limits[i]; i++)
		result++;
	return (SkDensity) result;
}

/* What the picture says, as a sentence. */
static char *
describe_finding(const SkHeatmap *map)
{
	static const char *const findings[] = {
		[SK_VERDICT_EVEN] = "Even",
		[SK_VERDICT_UNEVEN] = "Uneven",
		[SK_VERDICT_HOTSPOT] = "Hotspot",
	};
	static const char *const before[] = {
		[SK_VERDICT_EVEN] = "even",
		[SK_VERDICT_UNEVEN] = "uneven",
		[SK_VERDICT_HOTSPOT] = "a hotspot",
	};
	StringInfoData buf;

	switch (map->verdict)
	{
		case SK_VERDICT_NO_ROWS:
			return pstrdup("There are no rows with a key yet.");
		case SK_VERDICT_UNKNOWN:
			return pstrdup("Too few rows to tell how they spread.");
		case SK_VERDICT_OWN_ORDER:
			return pstrdup("Ordered by the key itself, which does not tell where rows were inserted.");
		case SK_VERDICT_ONE_KEY:
			return pstrdup("One key: all rows go to the same place.");
		default:
			break;
	}

	initStringInfo(&buf);
	appendStringInfoString(&buf, findings[map->verdict]);
	if (map->since > 0)
	{
		const char *label = map->firsts[map->since] ?
			map->firsts[map->since]->order_label : NULL;

		if (label == NULL)
			label = "?";
		if (map->sample.order_by != NULL)
			appendStringInfo(&buf, " since %s (%s)", label, map->sample.order_by);
		else
			appendStringInfo(&buf, " since block %s", label);
	}
	appendStringInfo(&buf, ": at any time the busiest of %d %s takes %.0f %% of the new rows; an even share is %.0f %%.",
					 map->ranges, map->ranges == map->keys ? "key ranges" :
					 psprintf("groups of %d key ranges", map->keys / map->ranges),
					 100 * map->busiest, 100.0 / map->ranges);
	if (map->since > 0)
		appendStringInfo(&buf, " Until then it was %s.", before[map->earlier]);
	return buf.data;
}

/* What users know the drawn key as. */
static const char *
key_name(const SkHeatmap *map)
{
	return map->sample.all_columns ? map->sample.key.column_names :
		map->sample.key.name;
}

/* What the picture was drawn from, as a sentence. */
static char *
describe_origin(const SkHeatmap *map)
{
	const SkKeySample *sample = &map->sample;

	if (sample->whole)
		return sample->count == 1 ? pstrdup("Drawn from 1 row.") :
			psprintf("Drawn from all %s rows.", group_digits(sample->count));
	return psprintf("Drawn from a sample of %s of about %s rows.",
					group_digits(sample->count),
					group_digits(sk_key_sample_rows(sample, sample->count)));
}

/* A whole number with its digits in groups of three. */
static char *
group_digits(double number)
{
	char	   *digits = psprintf("%.0f", number);
	int			length = strlen(digits);
	StringInfoData result;

	initStringInfo(&result);
	for (int i = 0; i < length; i++)
	{
		if (i > 0 && (length - i) % 3 == 0)
			appendStringInfoChar(&result, ',');
		appendStringInfoChar(&result, digits[i]);
	}
	return result.data;
}

static void
check_buckets(const char *name, int value, int most)
{
	if (value < 1 || value > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between 1 and %d", name, most)));
}

/* The sample, and its scale. */
static void
read_keys(SkHeatmap *map, int sample_rows, int keys)
{
	SkKeySample *sample = &map->sample;

	sk_key_sample_read(sample, sample_rows, true);
	sk_key_scale_make(&map->scale, sample, keys);
	if (sample->key.columns != NULL &&
		sk_key_scale_different(&map->scale) <= keys)
	{
		sample->all_columns = true;
		sk_key_sample_read(sample, sample_rows, true);
		sk_key_scale_make(&map->scale, sample, keys);
	}
}

static void
fill_cells(SkHeatmap *map, int times)
{
	const SkKeySample *sample = &map->sample;
	int64		read = sample->count + sample->null_count;

	if (sample->count == 0)
		return;
	map->times = (int) Min(times, read);
	map->keys = map->scale.buckets;
	map->cells = palloc0((Size) map->times * map->keys * sizeof(int64));
	map->firsts = palloc0(map->times * sizeof(SkSampledRow *));
	for (int i = 0; i < sample->count; i++)
	{
		const SkSampledRow *row = &sample->rows[i];
		int			time = (int) ((row->order - 1) * map->times / read);
		int			key = sk_key_scale_bucket(&map->scale, row);

		map->cells[time * map->keys + key]++;
		if (map->firsts[time] == NULL || row->order < map->firsts[time]->order)
			map->firsts[time] = row;
		if (map->last == NULL || row->order > map->last->order)
			map->last = row;
	}
}

/*
 * Few rows go to few keys by chance.  A slice of time hides that a key grows if
 * the key passes a whole key range in it.  So there may be fewer slices than
 * time buckets, and fewer ranges than key buckets.
 */
static void
judge(SkHeatmap *map)
{
	const SkKeySample *sample = &map->sample;
	int			slices = 0;
	int			ranges;

	map->verdict = sample->count == 0 ? SK_VERDICT_NO_ROWS : SK_VERDICT_UNKNOWN;
	if (sample->count < SK_ROWS_TO_TELL)
		return;
	if (map->keys == 1)
	{
		map->verdict = SK_VERDICT_ONE_KEY;
		return;
	}
	if (sample->order_by != NULL && strcmp(sample->order_by, sample->key.name) == 0)
	{
		map->verdict = SK_VERDICT_OWN_ORDER;
		return;
	}
	for (ranges = map->keys; ranges >= 2; ranges--)
	{
		int			rows = Max(SK_ROWS_TO_TELL, SK_ROWS_PER_KEY * ranges);

		slices = Min(map->times, sample->count / rows);
		if (map->keys % ranges == 0 && slices >= ranges)
			break;
	}
	if (ranges < 2 || slices < SK_SLICES_TO_TELL)
		return;

	map->ranges = ranges;
	judge_slices(map, slices);
}

/*
 * The last quarter of the slices tells what the key does now.  If it did
 * something else before, for an eighth of the time at least, it changed where
 * the means of the slices before and after differ most.
 */
static void
judge_slices(SkHeatmap *map, int slices)
{
	int			late = slices - Max(slices / 4, 1);
	double	   *sums = palloc0((slices + 1) * sizeof(double));
	double		most = 0;

	for (int slice = 0; slice < slices; slice++)
		sums[slice + 1] = sums[slice] + busiest_share(map, slices, slice);
	map->busiest = (sums[slices] - sums[late]) / (slices - late);
	map->verdict = verdict_on(map, map->busiest);
	for (int slice = (slices + 7) / 8; slice <= late; slice++)
	{
		double		mean = sums[slice] / slice;
		double		distance = (sums[slices] - sums[slice]) / (slices - slice) - mean;
		double		weight = distance * distance * slice * (slices - slice);
		SkVerdict	earlier = verdict_on(map, mean);

		if (weight > most && earlier != map->verdict)
		{
			most = weight;
			map->since = slice * map->times / slices;
			map->earlier = earlier;
		}
	}
}

static SkVerdict
verdict_on(const SkHeatmap *map, double busiest)
{
	double		even = 1.0 / map->ranges;
	double		excess = (busiest - even) / (1 - even);

	return excess >= 0.5 ? SK_VERDICT_HOTSPOT :
		excess >= 0.15 ? SK_VERDICT_UNEVEN : SK_VERDICT_EVEN;
}

/* The share of the range with most rows in a slice. */
static double
busiest_share(const SkHeatmap *map, int slices, int slice)
{
	int			width = map->keys / map->ranges;
	int64		most = 0;
	int64		all = 0;

	for (int range = 0; range < map->ranges; range++)
	{
		int64		rows = 0;

		for (int time = slice * map->times / slices;
			 time < (slice + 1) * map->times / slices; time++)
		{
			for (int i = 0; i < width; i++)
				rows += cell_rows(map, time, range * width + i);
		}
		most = Max(most, rows);
		all += rows;
	}
	return all == 0 ? 0 : (double) most / all;
}

static Datum
text_array(char **texts, int count)
{
	Datum	   *values = palloc(count * sizeof(Datum) + 1);
	bool	   *nulls = palloc(count * sizeof(bool) + 1);
	int			lower = 1;

	for (int i = 0; i < count; i++)
		values[i] = text_or_null(texts[i], &nulls[i]);
	return PointerGetDatum(construct_md_array(values, nulls, 1, &count, &lower,
											  TEXTOID, -1, false, TYPALIGN_INT));
}

static Datum
text_or_null(const char *string, bool *isnull)
{
	*isnull = string == NULL;
	return *isnull ? (Datum) 0 : CStringGetTextDatum(string);
}

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
	map = make_heatmap(fcinfo);
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
					 clean_label(key_name(map), 0));
	put_line(result, &line);
	appendStringInfoString(&line, describe_finding(map));
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
								   charset->shades[cell_density(map, time, key)]);
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
	appendStringInfoString(&line, describe_origin(map));
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

/* A name or key without control characters; "width" 0 is no limit. */
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
