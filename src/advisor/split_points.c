/*-------------------------------------------------------------------------
 *
 * split_points.c
 *	  Where to split the values of keys that are evenly spread.
 *
 * src/advisor/split_points.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/tuplestore.h"

#include "advisor/split_points.h"

#define SK_MAX_SPLITS 65536
#define SK_MAX_BITS 63
#define SK_MAX_STRIPES 65536

PG_FUNCTION_INFO_V1(spanner_split_points);

static void check_splits(int splits);
static char *divisors(int number);

/*
 * spanner.split_points(n integer, bits integer, stripes integer)
 * returns setof bigint
 *
 * The lower bounds of all of "n" equal ranges of bit-reversed keys but the
 * first.  For striped keys, "stripes" says how many stripes they have.
 */
Datum
spanner_split_points(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			bits = PG_ARGISNULL(1) ? SK_MAX_BITS : PG_GETARG_INT32(1);
	int			stripes = 0;
	int			splits;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	splits = PG_GETARG_INT32(0);
	if (!PG_ARGISNULL(2))
	{
		stripes = PG_GETARG_INT32(2);
		if (stripes == 0)
			stripes = -1;
	}
	sk_split_check_ids(splits, bits, stripes);
	for (int i = 1; i < splits; i++)
	{
		Datum		value = Int64GetDatum(sk_split_point(i, splits, UINT64CONST(1) << bits));
		bool		isnull = false;

		tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
	}
	return (Datum) 0;
}

/*
 * sk_split_check_ids
 *		Can bit-reversed ids be split like that, or if "stripes" is not 0,
 *		striped ones?
 */
void
sk_split_check_ids(int splits, int bits, int stripes)
{
	check_splits(splits);
	if (bits < 2 || bits > SK_MAX_BITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bits must be between 2 and %d", SK_MAX_BITS),
				 errhint("The view spanner.sequences shows the bits of a sequence.")));
	if (bits < 31 && splits > 1 << (bits - 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot make %d splits of keys of %d bits", splits, bits),
				 errhint("Make at most %d splits.", 1 << (bits - 1))));
	if (stripes == 0)
		return;

	if (stripes < 2 || stripes > SK_MAX_STRIPES ||
		(stripes & (stripes - 1)) != 0 || (bits < 31 && stripes > 1 << (bits - 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("stripes must be a power of two between 2 and %d",
						bits < 17 ? 1 << (bits - 1) : SK_MAX_STRIPES),
				 errhint("Use the number of stripes that the sequence has.")));
	if (stripes % splits != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot divide %d stripes evenly into %d splits",
						stripes, splits),
				 errdetail("A split that ends within a stripe gets no rows from that stripe until it is full."),
				 errhint("Possible numbers of splits are %s.", divisors(stripes))));
}

/*
 * sk_split_check_shards
 *		Can shard ids from 0 to shards - 1 be split like that?
 */
void
sk_split_check_shards(int splits, int shards)
{
	check_splits(splits);
	if (shards < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shards must be at least 1"),
				 errhint("Use the number of shards that the table's shard ids are computed with.")));
	if (shards % splits != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot divide %d shards evenly into %d splits",
						shards, splits),
				 errhint("Possible numbers of splits are %s.", divisors(shards))));
}

/*
 * sk_split_point
 *		Where one of "splits" equal ranges of [0, values) begins.
 */
int64
sk_split_point(int point, int splits, uint64 values)
{
	uint64		width = values / splits;
	uint64		rest = values % splits;

	return (int64) (width * point + rest * point / splits);
}

static void
check_splits(int splits)
{
	if (splits < 1 || splits > SK_MAX_SPLITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of splits must be between 1 and %d", SK_MAX_SPLITS),
				 errhint("A small multiple of the number of servers suits most tables.")));
}

/* The numbers that divide another one, as a list for a message. */
static char *
divisors(int number)
{
	StringInfoData result;

	initStringInfo(&result);
	for (int i = 1; i <= Min(number, SK_MAX_SPLITS); i++)
	{
		if (number % i == 0)
			appendStringInfo(&result, "%s%d", i == 1 ? "" : ", ", i);
	}
	return result.data;
}
