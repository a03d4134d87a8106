/*-------------------------------------------------------------------------
 *
 * key_functions.c
 *	  SQL functions on keys: bit reversal, fingerprints, UUIDs, times.
 *
 * src/keys/key_functions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "keys/bit_reverse.h"
#include "keys/canonical.h"
#include "keys/farmhash.h"
#include "keys/time_zone.h"

/* The time zone last used by one call site of timestamp_to_string(). */
typedef struct SkTimeZone
{
	pg_tz	   *zone;			/* NULL if the offset is fixed */
	int			offset;			/* in minutes east of UTC */
	Size		name_len;
	char		name[TZ_STRLEN_MAX + 1];
} SkTimeZone;

PG_FUNCTION_INFO_V1(spanner_bit_reverse);
PG_FUNCTION_INFO_V1(spanner_farm_fingerprint_bytea);
PG_FUNCTION_INFO_V1(spanner_farm_fingerprint_text);
PG_FUNCTION_INFO_V1(spanner_generate_uuid);
PG_FUNCTION_INFO_V1(spanner_timestamp_to_string);

static uint64 fingerprint(SkKeyKind kind, Datum value);
static SkTimeZone *find_time_zone(FunctionCallInfo fcinfo, Datum name);
static int	zone_offset(SkTimeZone *zone, TimestampTz value);

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
	PG_RETURN_INT64((int64) fingerprint(SK_KEY_BYTEA, PG_GETARG_DATUM(0)));
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
	PG_RETURN_INT64((int64) fingerprint(SK_KEY_TEXT, PG_GETARG_DATUM(0)));
}

/*
 * spanner.generate_uuid() returns text
 *
 * A random UUID of version 4, 36 characters in lower case.
 */
Datum
spanner_generate_uuid(PG_FUNCTION_ARGS)
{
	unsigned char uuid[UUID_LEN];
	char		out[SK_UUID_TEXT_LENGTH];

	if (!pg_strong_random(uuid, UUID_LEN))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));

	/* version 4, variant of RFC 4122 */
	uuid[6] = (uuid[6] & 0x0F) | 0x40;
	uuid[8] = (uuid[8] & 0x3F) | 0x80;
	sk_format_uuid(uuid, out);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out, SK_UUID_TEXT_LENGTH));
}

/*
 * spanner.timestamp_to_string(value timestamptz, time_zone text) returns text
 *
 * What GoogleSQL's CAST(TIMESTAMP AS STRING) gives in a time zone, which is
 * the name of a zone or an offset from UTC.  An unknown zone is an error.
 * Infinite values, and years outside 0001..9999, which GoogleSQL does not
 * have, are written as canonical.c says.
 */
Datum
spanner_timestamp_to_string(PG_FUNCTION_ARGS)
{
	TimestampTz value = PG_GETARG_TIMESTAMPTZ(0);
	SkTimeZone *zone = find_time_zone(fcinfo, PG_GETARG_DATUM(1));
	char		out[SK_KEY_SPACE];
	int			len;

	len = sk_format_timestamptz(value, zone_offset(zone, value), out);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out, len));
}

static uint64
fingerprint(SkKeyKind kind, Datum value)
{
	SkKeyText	key_text;
	uint64		result;

	sk_key_text(kind, value, &key_text);
	result = sk_farm_fingerprint64(key_text.data, key_text.len);
	sk_key_text_release(&key_text);
	return result;
}

/* Return the time zone of a name; a call site remembers the last one. */
static SkTimeZone *
find_time_zone(FunctionCallInfo fcinfo, Datum name)
{
	SkTimeZone *zone = fcinfo->flinfo->fn_extra;
	SkTimeZone	found;
	SkKeyText	wanted;

	sk_key_text(SK_KEY_TEXT, name, &wanted);
	if (zone && zone->name_len == wanted.len &&
		memcmp(zone->name, wanted.data, wanted.len) == 0)
	{
		sk_key_text_release(&wanted);
		return zone;
	}

	found.name_len = Min(wanted.len, TZ_STRLEN_MAX);
	memcpy(found.name, wanted.data, found.name_len);
	found.name[found.name_len] = '\0';
	if (found.name_len < wanted.len || !sk_parse_time_zone(found.name, &found.zone, &found.offset))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" not recognized",
						TextDatumGetCString(name)),
				 errhint(SK_TIME_ZONE_HINT)));
	sk_key_text_release(&wanted);

	if (zone == NULL)
		zone = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(SkTimeZone));
	*zone = found;
	fcinfo->flinfo->fn_extra = zone;
	return zone;
}

/* Zones had odd seconds before standard time; they are cut off. */
static int
zone_offset(SkTimeZone *zone, TimestampTz value)
{
	pg_time_t	seconds;
	struct pg_tm *local;

	if (zone->zone == NULL || TIMESTAMP_NOT_FINITE(value))
		return zone->offset;

	seconds = timestamptz_to_time_t(value);
	if (value % USECS_PER_SEC < 0)
		seconds--;
	local = pg_localtime(&seconds, zone->zone);
	return local ? local->tm_gmtoff / SECS_PER_MINUTE : 0;
}
