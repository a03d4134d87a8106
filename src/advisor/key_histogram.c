/*-------------------------------------------------------------------------
 *
 * key_histogram.c
 *	  How many rows lie in each part of key space.
 *
 * src/advisor/key_histogram.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "advisor/key_scale.h"

#define HISTOGRAM_COLUMNS 5
#define SK_MAX_BUCKETS 10000

PG_FUNCTION_INFO_V1(spanner_key_histogram);

static void put_bucket(ReturnSetInfo *result, const SkKeyScale *scale,
					   int bucket, int64 count);
static void put_null_keys(ReturnSetInfo *result, const SkKeySample *sample);
static Datum text_or_null(const char *value, bool *isnull);

/*
 * spanner.key_histogram(relation regclass, buckets integer, column_name name,
 *		sample_rows integer) returns setof record
 *
 * One row for each of "buckets" equal parts of key space, or fewer if there
 * are fewer different keys.  The key is the column, or if that is NULL the
 * first of the index or of the primary key.  Rows without key come last, in a
 * bucket without number.
 */
Datum
spanner_key_histogram(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			buckets = PG_ARGISNULL(1) ? 32 : PG_GETARG_INT32(1);
	int			sample_rows = PG_ARGISNULL(3) ? 30000 : PG_GETARG_INT32(3);
	SkKeySample sample = {0};
	SkKeyScale	scale;
	int64	   *counts;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	if (buckets < 1 || buckets > SK_MAX_BUCKETS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("buckets must be between 1 and %d", SK_MAX_BUCKETS)));

	sk_key_column_find(&sample.key, PG_GETARG_OID(0),
					   PG_ARGISNULL(2) ? NULL : NameStr(*PG_GETARG_NAME(2)));
	sk_key_sample_read(&sample, sample_rows, false);
	sk_key_scale_make(&scale, &sample, buckets);

	counts = palloc0(scale.buckets * sizeof(int64) + 1);
	for (int i = 0; i < sample.count; i++)
		counts[sk_key_scale_bucket(&scale, &sample.rows[i])]++;
	for (int i = 0; i < scale.buckets; i++)
		put_bucket(result, &scale, i, counts[i]);
	if (sample.null_count > 0)
		put_null_keys(result, &sample);
	return (Datum) 0;
}

static void
put_bucket(ReturnSetInfo *result, const SkKeyScale *scale, int bucket,
		   int64 count)
{
	const SkKeySample *sample = scale->sample;
	Datum		values[HISTOGRAM_COLUMNS];
	bool		nulls[HISTOGRAM_COLUMNS] = {false};

	values[0] = Int32GetDatum(bucket + 1);
	values[1] = text_or_null(sk_key_scale_from(scale, bucket), &nulls[1]);
	values[2] = text_or_null(sk_key_scale_to(scale, bucket), &nulls[2]);
	values[3] = Int64GetDatum((int64) sk_key_sample_rows(sample, count));
	values[4] = Float8GetDatum((double) count / (sample->count + sample->null_count));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static void
put_null_keys(ReturnSetInfo *result, const SkKeySample *sample)
{
	Datum		values[HISTOGRAM_COLUMNS] = {0};
	bool		nulls[HISTOGRAM_COLUMNS] = {true, true, true};

	values[3] = Int64GetDatum((int64) sk_key_sample_rows(sample, sample->null_count));
	values[4] = Float8GetDatum((double) sample->null_count /
							   (sample->count + sample->null_count));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static Datum
text_or_null(const char *value, bool *isnull)
{
	*isnull = value == NULL;
	return *isnull ? (Datum) 0 : CStringGetTextDatum(value);
}
