/*-------------------------------------------------------------------------
 *
 * key_functions.c
 *	  SQL functions on keys: bit reversal, fingerprints, bytes, buckets of time.
 *
 * src/keys/key_functions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "keys/bit_reverse.h"
#include "keys/canonical.h"
#include "keys/time_zone.h"

PG_FUNCTION_INFO_V1(spanner_bit_reverse);
PG_FUNCTION_INFO_V1(spanner_farm_fingerprint_bytea);
PG_FUNCTION_INFO_V1(spanner_farm_fingerprint_text);
PG_FUNCTION_INFO_V1(spanner_string_to_bytes);
PG_FUNCTION_INFO_V1(spanner_time_buckets);

/*
 * spanner.bit_reverse(value bigint, preserve_sign boolean) returns bigint
 *
 * Spanner's function of that name, for any value.  NULL for NULL.
 */
Datum
spanner_bit_reverse(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(sk_bit_reverse(PG_GETARG_INT64(0), PG_GETARG_BOOL(1)));
}

/*
 * spanner.farm_fingerprint(value bytea) returns bigint
 *
 * FarmHash Fingerprint64 of the bytes, taken as a signed integer.
 */
Datum
spanner_farm_fingerprint_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) sk_key_fingerprint(SK_KEY_BYTEA, PG_GETARG_DATUM(0)));
}

/*
 * spanner.farm_fingerprint(value text) returns bigint
 *
 * The same of the UTF-8 bytes of a text, whatever the encoding of the
 * database.  Bytes that cannot be converted are taken as they are.
 */
Datum
spanner_farm_fingerprint_text(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) sk_key_fingerprint(SK_KEY_TEXT, PG_GETARG_DATUM(0)));
}

/*
 * spanner_internal.string_to_bytes(value text) returns bytea
 *
 * The bytes that farm_fingerprint() hashes.
 */
Datum
spanner_string_to_bytes(PG_FUNCTION_ARGS)
{
	SkKeyText	key_text;
	bytea	   *result;

	sk_key_text(SK_KEY_TEXT, PG_GETARG_DATUM(0), &key_text);
	result = palloc(VARHDRSZ + key_text.len);
	SET_VARSIZE(result, VARHDRSZ + key_text.len);
	memcpy(VARDATA(result), key_text.data, key_text.len);
	sk_key_text_release(&key_text);
	PG_RETURN_BYTEA_P(result);
}

/*
 * spanner_internal.time_buckets(stride interval, origin timestamptz,
 * low timestamptz, high timestamptz, open_end boolean, most integer)
 * returns timestamptz[]
 *
 * What date_bin() gives for the moments from low to high, high itself excluded
 * if the end is open.  If that is more than "most" buckets, or an end is a
 * moment that date_bin() may fail for, the result is any most + 1 elements,
 * which mean all shards in shard_ids().
 */
Datum
spanner_time_buckets(PG_FUNCTION_ARGS)
{
	Interval   *stride = PG_GETARG_INTERVAL_P(0);
	int64		step = stride->day * USECS_PER_DAY + stride->time;
	Timestamp	origin = PG_GETARG_TIMESTAMP(1);
	Timestamp	low = PG_GETARG_TIMESTAMP(2);
	Timestamp	high = PG_GETARG_TIMESTAMP(3);
	int32		most = PG_GETARG_INT32(5);
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 2);
	int64		count = 0;
	Datum	   *buckets;

	if (type != TIMESTAMPOID)
		type = TIMESTAMPTZOID;
	if (most < 0 || most > SK_MAX_SHARD_LIST || stride->month != 0 || step <= 0 ||
		!sk_is_usual(origin))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid bucket of time")));
	if (sk_is_usual(low) && sk_is_usual(high))
	{
		if (PG_GETARG_BOOL(4))
			high--;
		if (low <= high)
		{
			low = DatumGetTimestamp(DirectFunctionCall3(timestamp_bin,
														PG_GETARG_DATUM(0),
														TimestampGetDatum(low),
														TimestampGetDatum(origin)));
			count = (high - low) / step + 1;
		}
	}
	else
		count = most + 1;
	count = Min(count, most + 1);
	buckets = palloc(Max(count, 1) * sizeof(Datum));
	for (int64 i = 0; i < count; i++)
		buckets[i] = TimestampGetDatum(sk_is_usual(low) ? low + i * step : low);
	PG_RETURN_ARRAYTYPE_P(construct_array(buckets, (int) count, type,
										  sizeof(Timestamp), FLOAT8PASSBYVAL,
										  TYPALIGN_DOUBLE));
}
