/*-------------------------------------------------------------------------
 *
 * key_heatmap.c
 *	  Where in key space rows went, in the order of their insertion.
 *
 * All time buckets have the same number of rows, so that the picture does not
 * depend on when there was much load.  A key that only grows makes a diagonal
 * line, one that spreads an even field.
 *
 * Where the first column of a key has fewer values than there are key buckets,
 * all columns count: each of the few values may grow at its end.
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
#include "utils/array.h"
#include "utils/builtins.h"

#include "advisor/key_heatmap.h"

#define HEATMAP_COLUMNS 15
#define SK_MAX_TIMES 400
#define SK_MAX_KEYS 200

/* How many rows it takes to tell how evenly they spread over the keys. */
#define SK_ROWS_TO_TELL 100
#define SK_ROWS_PER_KEY 10
#define SK_SLICES_TO_TELL 4

PG_FUNCTION_INFO_V1(spanner_read_heatmap);

static void check_buckets(const char *name, int value, int most);
static void read_keys(SkHeatmap *map, int sample_rows, int keys);
static void fill_cells(SkHeatmap *map, int times);
static void judge(SkHeatmap *map);
static void judge_slices(SkHeatmap *map, int slices);
static SkVerdict verdict_on(const SkHeatmap *map, double busiest);
static double busiest_share(const SkHeatmap *map, int slices, int slice);
static Datum text_array(char **texts, int count);
static Datum text_or_null(const char *string, bool *isnull);

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
	map = sk_heatmap_make(fcinfo);

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
	values[1] = CStringGetTextDatum(sk_heatmap_key_name(map));
	values[2] = text_or_null(map->sample.order_by, &nulls[2]);
	values[3] = CStringGetTextDatum(verdicts[map->verdict]);
	values[4] = CStringGetTextDatum(sk_heatmap_finding(map));
	values[5] = CStringGetTextDatum(sk_heatmap_origin(map));
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
 * sk_heatmap_make
 *		Make the picture that the six arguments of a function ask for.
 *
 * The first of them must not be NULL.
 */
SkHeatmap *
sk_heatmap_make(FunctionCallInfo fcinfo)
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

/*
 * sk_heatmap_cell
 *		How many sampled rows are in a cell.
 */
int64
sk_heatmap_cell(const SkHeatmap *map, int time, int key)
{
	return map->cells[time * map->keys + key];
}

/*
 * sk_heatmap_density
 *		The same in steps.
 */
SkDensity
sk_heatmap_density(const SkHeatmap *map, int time, int key)
{
	static const double limits[] = {0.25, 0.5, 2, 4, 8, 16};
	double		ratio = (double) sk_heatmap_cell(map, time, key) *
		map->times * map->keys / map->sample.count;
	int			result = SK_DENSITY_QUARTER;

	if (ratio == 0)
		return SK_DENSITY_NONE;
	for (int i = 0; i < lengthof(limits) && ratio >= limits[i]; i++)
		result++;
	return (SkDensity) result;
}

/*
 * sk_heatmap_finding
 *		What the picture says, as a sentence.
 */
char *
sk_heatmap_finding(const SkHeatmap *map)
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

/*
 * sk_heatmap_key_name
 *		What users know the drawn key as.
 */
const char *
sk_heatmap_key_name(const SkHeatmap *map)
{
	return map->sample.all_columns ? map->sample.key.column_names :
		map->sample.key.name;
}

/*
 * sk_heatmap_origin
 *		What the picture was drawn from, as a sentence.
 */
char *
sk_heatmap_origin(const SkHeatmap *map)
{
	const SkKeySample *sample = &map->sample;

	if (sample->whole)
		return sample->count == 1 ? pstrdup("Drawn from 1 row.") :
			psprintf("Drawn from all %s rows.", sk_heatmap_number(sample->count));
	return psprintf("Drawn from a sample of %s of about %s rows.",
					sk_heatmap_number(sample->count),
					sk_heatmap_number(sk_key_sample_rows(sample, sample->count)));
}

/*
 * sk_heatmap_number
 *		A whole number with its digits in groups of three.
 */
char *
sk_heatmap_number(double number)
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
 * Few rows go to few keys by chance, and slices of time that are longer than
 * it takes a growing key to pass a key range hide that it grows.  So there
 * may be fewer slices than time buckets, and fewer ranges than key buckets.
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
 * something else before, for an eighth of the time at least, that ended where
 * the means of what is before and behind differ most.
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
				rows += sk_heatmap_cell(map, time, range * width + i);
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
