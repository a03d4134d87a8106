/*-------------------------------------------------------------------------
 *
 * operators.c
 *	  Operators and casts of GoogleSQL that PostgreSQL does not have.
 *
 * src/spanner_ddl/operators.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/namespace.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

PG_FUNCTION_INFO_V1(spanner_float_to_int);
PG_FUNCTION_INFO_V1(spanner_float_to_numeric);
PG_FUNCTION_INFO_V1(spanner_shift_left);
PG_FUNCTION_INFO_V1(spanner_shift_right);
PG_FUNCTION_INFO_V1(spanner_white_space);

static uint64 shift(uint64 value, int64 places, bool is_left);

/*
 * spanner_internal.shift_left(value bigint, places bigint) returns bigint
 */
Datum
spanner_shift_left(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) shift(PG_GETARG_INT64(0), PG_GETARG_INT64(1), true));
}

/*
 * spanner_internal.shift_right(value bigint, places bigint) returns bigint
 *
 * The sign is a bit like the others.
 */
Datum
spanner_shift_right(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) shift(PG_GETARG_INT64(0), PG_GETARG_INT64(1), false));
}

static uint64
shift(uint64 value, int64 places, bool is_left)
{
	if (places < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bits cannot be shifted by %lld places", (long long) places)));
	if (places >= 64)
		return 0;
	return is_left ? value << places : value >> places;
}

/*
 * spanner_internal.float_to_int(value double precision) returns bigint
 *
 * A half is rounded away from zero.
 */
Datum
spanner_float_to_int(PG_FUNCTION_ARGS)
{
	float8		value = round(PG_GETARG_FLOAT8(0));

	if (isnan(value) || !FLOAT8_FITS_IN_INT64(value))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
	PG_RETURN_INT64((int64) value);
}

/*
 * spanner_internal.float_to_numeric(value double precision) returns numeric
 *
 * All digits before the point, and 9 behind it; a half is rounded away from
 * zero.  No double is so near to a half that 60 digits do not tell.
 */
Datum
spanner_float_to_numeric(PG_FUNCTION_ARGS)
{
	float8		value = PG_GETARG_FLOAT8(0);
	Datum		result;

	/* GoogleSQL's numbers end there */
	if (isnan(value) || fabs(value) >= 1e29)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("numeric out of range")));
	result = DirectFunctionCall3(numeric_in, CStringGetDatum(psprintf("%.60f", value)),
								 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	return DirectFunctionCall2(numeric_round, result, Int32GetDatum(9));
}

/*
 * spanner_internal.white_space() returns text
 *
 * What GoogleSQL's TRIM() removes: Unicode's white space, as far as the
 * encoding of the database has it.
 */
Datum
spanner_white_space(PG_FUNCTION_ARGS)
{
	static const char *const others[] = {
		"\xC2\x85", "\xC2\xA0", "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82",
		"\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87",
		"\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8", "\xE2\x80\xA9",
		"\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"
	};
	int			encoding = GetDatabaseEncoding();
	Oid			conversion = FindDefaultConversionProc(PG_UTF8, encoding);
	StringInfoData result;

	initStringInfo(&result);
	appendStringInfoString(&result, "\t\n\v\f\r ");
	for (int i = 0; i < lengthof(others); i++)
	{
		char text[	MAX_CONVERSION_INPUT_LENGTH + 1];
		int			length = strlen(others[i]);

		if (encoding == PG_UTF8)
			appendStringInfoString(&result, others[i]);
		else if (OidIsValid(conversion) &&
				 pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding,
											   (unsigned char *) unconstify(char *, others[i]), length,
											   (unsigned char *) text, sizeof(text), true) == length)
			appendStringInfoString(&result, text);
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(result.data, result.len));
}
