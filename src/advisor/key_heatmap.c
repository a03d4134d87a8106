/*-------------------------------------------------------------------------
 *
 * key_heatmap.c
 *	  Where in key space rows went, in the order of their insertion.
 *
 * All time buckets have the same number of rows, so that the picture does not
 * depend on when there was much load.  A key that only grows makes a diagonal
 * line, one that spreads an even field.
 *
 * src/advisor/key_heatmap.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "advisor/key_heatmap.h"

#define HEATMAP_COLUMNS 6
#define SK_MAX_TIMES 400
#define SK_MAX_KEYS 200

/* How many rows it takes to tell how evenly they spread over the keys. */
#define SK_ROWS_TO_TELL 100
#define SK_ROWS_PER_KEY 10
#define SK_SLICES_TO_TELL 4

PG_FUNCTION_INFO_V1(spanner_key_heatmap);

static void check_buckets(const char *name, int value, int most, int usual);
static void fill_cells(SkHeatmap *map, int times);
static void judge(SkHeatmap *map);
static double busiest_share(const SkHeatmap *map, int slices);
static void put_cell(ReturnSetInfo *result, const SkHeatmap *map, int time,
					 int key);

/*
 * spanner.key_heatmap(relation regclass, time_buckets integer,
 *		key_buckets integer, column_name name, order_by name,
 *		sample_rows integer) returns setof record
 *
 * One row for each time bucket and key bucket.  The key is chosen as for
 * key_histogram().  The order of insertion is that of the column "order_by",
 * or if that is NULL the place in the table.
 */
Datum
spanner_key_heatmap(PG_FUNCTION_ARGS)
{
	SkHeatmap  *map;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	map = sk_heatmap_make(fcinfo);
	for (int time = 0; time < map->times; time++)
	{
		for (int key = 0; key < map->keys; key++)
			put_cell((ReturnSetInfo *) fcinfo->resultinfo, map, time, key);
	}
	return (Datum) 0;
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

	check_buckets("time_buckets", times, SK_MAX_TIMES, 40);
	check_buckets("key_buckets", keys, SK_MAX_KEYS, 20);
	sk_key_column_find(&map->sample.key, PG_GETARG_OID(0),
					   PG_ARGISNULL(3) ? NULL : NameStr(*PG_GETARG_NAME(3)));
	if (!PG_ARGISNULL(4))
		map->sample.order_by = pstrdup(NameStr(*PG_GETARG_NAME(4)));
	sk_key_sample_read(&map->sample, sample_rows, true);
	sk_key_scale_make(&map->scale, &map->sample, keys);

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
 * sk_heatmap_ratio
 *		How dense a cell is, compared with an even spread.
 */
double
sk_heatmap_ratio(const SkHeatmap *map, int time, int key)
{
	return (double) sk_heatmap_cell(map, time, key) * map->times * map->keys /
		map->sample.count;
}

/*
 * sk_heatmap_density
 *		The same in steps.
 */
SkDensity
sk_heatmap_density(const SkHeatmap *map, int time, int key)
{
	static const double limits[] = {0.25, 0.5, 2, 4, 8, 16};
	double		ratio = sk_heatmap_ratio(map, time, key);
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

	switch (map->verdict)
	{
		case SK_VERDICT_UNKNOWN:
			return pstrdup("Too few rows to tell how they spread.");
		case SK_VERDICT_ONE_KEY:
			return pstrdup("One key: all rows go to the same place.");
		default:
			return psprintf("%s: at any time the busiest of %d key ranges takes %.0f %% of the new rows; an even share is %.0f %%.",
							findings[map->verdict], map->ranges,
							100 * map->busiest, 100.0 / map->ranges);
	}
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
		return psprintf("Drawn from all %s rows.",
						sk_heatmap_number(sample->count));
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
check_buckets(const char *name, int value, int most, int usual)
{
	if (value < 1 || value > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between 1 and %d", name, most),
				 errhint("The default is %d.", usual)));
}

static void
fill_cells(SkHeatmap *map, int times)
{
	const SkKeySample *sample = &map->sample;
	int64		read = sample->count + sample->null_count;

	map->times = (int) Min(times, read);
	map->keys = map->scale.buckets;
	map->cells = palloc0((Size) map->times * map->keys * sizeof(int64));
	map->key_rows = palloc0(map->keys * sizeof(int64));
	map->firsts = palloc0(map->times * sizeof(SkSampledRow *));
	for (int i = 0; i < sample->count; i++)
	{
		const SkSampledRow *row = &sample->rows[i];
		int			time = (int) ((row->order - 1) * map->times / read);
		int			key = sk_key_scale_bucket(&map->scale, row);

		map->cells[time * map->keys + key]++;
		map->key_rows[key]++;
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
	int			slices = 0;
	int			ranges;
	double		even;
	double		excess;

	if (map->keys == 1)
	{
		map->verdict = SK_VERDICT_ONE_KEY;
		return;
	}
	for (ranges = map->keys; ranges >= 2; ranges--)
	{
		int			rows = Max(SK_ROWS_TO_TELL, SK_ROWS_PER_KEY * ranges);

		slices = Min(map->times, map->sample.count / rows);
		if (map->keys % ranges == 0 && slices >= ranges)
			break;
	}
	if (ranges < 2 || slices < SK_SLICES_TO_TELL)
		return;

	map->ranges = ranges;
	map->busiest = busiest_share(map, slices);
	even = 1.0 / ranges;
	excess = (map->busiest - even) / (1 - even);
	map->verdict = excess >= 0.5 ? SK_VERDICT_HOTSPOT :
		excess >= 0.15 ? SK_VERDICT_UNEVEN : SK_VERDICT_EVEN;
}

/* The share of the range with most rows, on average over the slices. */
static double
busiest_share(const SkHeatmap *map, int slices)
{
	int			width = map->keys / map->ranges;
	int64		busiest = 0;

	for (int slice = 0; slice < slices; slice++)
	{
		int64		most = 0;

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
		}
		busiest += most;
	}
	return (double) busiest / map->sample.count;
}

static void
put_cell(ReturnSetInfo *result, const SkHeatmap *map, int time, int key)
{
	const SkSampledRow *first = map->firsts[time];
	char	   *labels[] = {
		first != NULL ? first->order_label : NULL,
		sk_key_scale_from(&map->scale, key),
		sk_key_scale_to(&map->scale, key),
	};
	Datum		values[HEATMAP_COLUMNS] = {0};
	bool		nulls[HEATMAP_COLUMNS] = {false};
	static const int places[] = {1, 3, 4};

	values[0] = Int32GetDatum(time + 1);
	values[2] = Int32GetDatum(key + 1);
	values[5] = Int64GetDatum((int64) sk_key_sample_rows(&map->sample,
														 sk_heatmap_cell(map, time, key)));
	for (int i = 0; i < lengthof(labels); i++)
	{
		nulls[places[i]] = labels[i] == NULL;
		if (labels[i] != NULL)
			values[places[i]] = CStringGetTextDatum(labels[i]);
	}
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}
