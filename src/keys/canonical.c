/*-------------------------------------------------------------------------
 *
 * canonical.c
 *	  Canonical text of a key value, and the SQL functions that give texts.
 *
 * Shard ids are stored, so the text of a value must never change: it depends
 * on the value alone, on no setting, and is UTF-8 in a database of any
 * encoding.  Values that are equal for the default hash operator family of
 * their type have one text.
 *
 * No value makes these functions fail.  A text that cannot be converted to
 * UTF-8 keeps its bytes.
 *
 * Years are counted as ISO 8601 does: 0000 is 1 BC, -0001 is 2 BC.  GoogleSQL
 * prints a year outside 0001..9999 the same way where a time zone leads there.
 *
 * src/keys/canonical.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "keys/canonical.h"
#include "keys/farmhash.h"
#include "keys/time_zone.h"

/* Least room in which a conversion can make progress. */
#define SK_CONVERSION_ROOM 64

#define SK_UUID_TEXT_LENGTH 36

/* The time zone last used by one call site of timestamp_to_string(). */
typedef struct SkTimeZone
{
	pg_tz	   *zone;			/* NULL if the offset is fixed */
	int			offset;			/* in minutes east of UTC */
	Size		name_len;
	char		name[TZ_STRLEN_MAX + 1];
} SkTimeZone;

PG_FUNCTION_INFO_V1(spanner_generate_uuid);
PG_FUNCTION_INFO_V1(spanner_timestamp_to_string);

static void set_numeric(SkKeyText *key, Datum value);
static void set_bytes(SkKeyText *key, Datum value);
static void set_enum(SkKeyText *key, Datum value);
static int	format_timestamp(Timestamp value, char *out);
static int	format_timestamptz(TimestampTz value, int offset, char *out);
static void format_uuid(const unsigned char *uuid, char *out);
static char *append_date(char *out, int julian_day);
static int	format_date(DateADT value, char *out);
static int	format_float(double value, char *out);
static int	shorten_float(double value, char *out, int len);
static void convert_to_utf8(SkKeyText *key);
static bool is_ascii(const char *data, Size len);
static SkTimeZone *find_time_zone(FunctionCallInfo fcinfo, Datum name);
static int	zone_offset(SkTimeZone *zone, TimestampTz value);

/*
 * The types that a key can have, in the order in which messages list them.
 * Enums have no common OID.  An untyped literal has a text, but is no type of
 * a column.
 */
typedef struct SkKeyType
{
	Oid			type;
	const char *name;			/* in messages; NULL: not listed */
} SkKeyType;

static const SkKeyType key_types[] = {
	[SK_KEY_INT2] = {INT2OID, "smallint"},
	[SK_KEY_INT4] = {INT4OID, "integer"},
	[SK_KEY_INT8] = {INT8OID, "bigint"},
	[SK_KEY_NUMERIC] = {NUMERICOID, "numeric"},
	[SK_KEY_FLOAT4] = {FLOAT4OID, "real"},
	[SK_KEY_FLOAT8] = {FLOAT8OID, "double precision"},
	[SK_KEY_TEXT] = {TEXTOID, "text"},
	[SK_KEY_VARCHAR] = {VARCHAROID, "varchar"},
	[SK_KEY_BPCHAR] = {BPCHAROID, "char(n)"},
	[SK_KEY_NAME] = {NAMEOID, "name"},
	[SK_KEY_BYTEA] = {BYTEAOID, "bytea"},
	[SK_KEY_BOOL] = {BOOLOID, "boolean"},
	[SK_KEY_UUID] = {UUIDOID, "uuid"},
	[SK_KEY_DATE] = {DATEOID, "date"},
	[SK_KEY_TIMESTAMP] = {TIMESTAMPOID, "timestamp"},
	[SK_KEY_TIMESTAMPTZ] = {TIMESTAMPTZOID, "timestamptz"},
	[SK_KEY_ENUM] = {InvalidOid, "enums"},
	[SK_KEY_CSTRING] = {UNKNOWNOID, NULL},
};

/*
 * sk_key_kind
 *		Find how values of a type turn into text.
 *
 * A domain is treated as its base type.
 */
SkKeyKind
sk_key_kind(Oid type)
{
	if (!OidIsValid(type))
		return SK_KEY_UNSUPPORTED;

	type = getBaseType(type);
	for (int i = 0; i < lengthof(key_types); i++)
		if (key_types[i].type == type)
			return (SkKeyKind) i;
	return type_is_enum(type) ? SK_KEY_ENUM : SK_KEY_UNSUPPORTED;
}

/*
 * sk_key_type_names
 *		The types that a key can have, for a message.
 */
char *
sk_key_type_names(void)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < lengthof(key_types); i++)
		if (key_types[i].name != NULL)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
							 key_types[i].name);
	return names.data;
}

/*
 * sk_key_text
 *		Make the canonical text of a value.
 *
 * The result is valid as long as the value and "key" itself are.
 */
void
sk_key_text(SkKeyKind kind, Datum value, SkKeyText *key)
{
	key->data = key->space;
	key->copy = NULL;
	switch (kind)
	{
		case SK_KEY_INT2:
			key->len = pg_lltoa(DatumGetInt16(value), key->space);
			break;
		case SK_KEY_INT4:
			key->len = pg_lltoa(DatumGetInt32(value), key->space);
			break;
		case SK_KEY_INT8:
			key->len = pg_lltoa(DatumGetInt64(value), key->space);
			break;
		case SK_KEY_NUMERIC:
			set_numeric(key, value);
			break;
		case SK_KEY_FLOAT4:
			key->len = format_float(DatumGetFloat4(value), key->space);
			break;
		case SK_KEY_FLOAT8:
			key->len = format_float(DatumGetFloat8(value), key->space);
			break;
		case SK_KEY_TEXT:
		case SK_KEY_VARCHAR:
		case SK_KEY_BPCHAR:
			set_bytes(key, value);
			if (kind == SK_KEY_BPCHAR)
				key->len = bpchartruelen(unconstify(char *, key->data), key->len);
			convert_to_utf8(key);
			break;
		case SK_KEY_NAME:
			key->data = NameStr(*DatumGetName(value));
			key->len = strnlen(key->data, NAMEDATALEN);
			convert_to_utf8(key);
			break;
		case SK_KEY_BYTEA:
			set_bytes(key, value);
			break;
		case SK_KEY_BOOL:
			key->data = DatumGetBool(value) ? "true" : "false";
			key->len = strlen(key->data);
			break;
		case SK_KEY_UUID:
			format_uuid(DatumGetUUIDP(value)->data, key->space);
			key->len = SK_UUID_TEXT_LENGTH;
			break;
		case SK_KEY_DATE:
			key->len = format_date(DatumGetDateADT(value), key->space);
			break;
		case SK_KEY_TIMESTAMP:
			key->len = format_timestamp(DatumGetTimestamp(value), key->space);
			break;
		case SK_KEY_TIMESTAMPTZ:
			key->len = format_timestamptz(DatumGetTimestampTz(value), 0, key->space);
			break;
		case SK_KEY_ENUM:
			set_enum(key, value);
			break;
		case SK_KEY_CSTRING:
			key->data = DatumGetCString(value);
			key->len = strlen(key->data);
			convert_to_utf8(key);
			break;
		case SK_KEY_UNSUPPORTED:
			Assert(false);
			break;
	}
	Assert(key->data != key->space || key->len <= SK_KEY_SPACE);
}

/*
 * sk_key_text_release
 *		Free what a canonical text has allocated.
 */
void
sk_key_text_release(SkKeyText *key)
{
	if (key->copy)
		pfree(key->copy);
	key->copy = NULL;
}

/*
 * sk_key_fingerprint
 *		The fingerprint of a value's canonical text.
 */
uint64
sk_key_fingerprint(SkKeyKind kind, Datum value)
{
	SkKeyText	key;
	uint64		result;

	sk_key_text(kind, value, &key);
	result = sk_farm_fingerprint64(key.data, key.len);
	sk_key_text_release(&key);
	return result;
}

/*
 * Write a time as GoogleSQL does, "offset" minutes east of UTC.
 *
 * "out" needs SK_KEY_SPACE bytes and is not terminated; returns the length.
 * Minutes of the offset appear only if there are any.
 */
static int
format_timestamptz(TimestampTz value, int offset, char *out)
{
	char	   *end;

	Assert(abs(offset) < 100 * MINS_PER_HOUR);
	if (TIMESTAMP_NOT_FINITE(value))
		return format_timestamp(value, out);

	end = out + format_timestamp(value + offset * USECS_PER_MINUTE, out);
	*end++ = offset < 0 ? '-' : '+';
	offset = abs(offset);
	end = pg_ultostr_zeropad(end, offset / MINS_PER_HOUR, 2);
	if (offset % MINS_PER_HOUR != 0)
	{
		*end++ = ':';
		end = pg_ultostr_zeropad(end, offset % MINS_PER_HOUR, 2);
	}
	return end - out;
}

/*
 * Write a UUID in lower case with dashes.
 *
 * "out" needs SK_UUID_TEXT_LENGTH bytes and is not terminated.
 */
static void
format_uuid(const unsigned char *uuid, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < UUID_LEN; i++)
	{
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*out++ = '-';
		*out++ = digits[uuid[i] >> 4];
		*out++ = digits[uuid[i] & 0x0F];
	}
}

/* Write a time without offset; the fraction has no, three or six digits. */
static int
format_timestamp(Timestamp value, char *out)
{
	char	   *end;
	int64		day;
	int64		time;
	int			second;
	int			fraction;

	if (TIMESTAMP_NOT_FINITE(value))
	{
		const char *name = TIMESTAMP_IS_NOBEGIN(value) ? "-infinity" : "infinity";
		int			len = strlen(name);

		memcpy(out, name, len);
		return len;
	}

	day = value / USECS_PER_DAY;
	time = value % USECS_PER_DAY;
	if (time < 0)
	{
		day--;
		time += USECS_PER_DAY;
	}

	Assert(time >= 0 && time < USECS_PER_DAY);
	second = time / USECS_PER_SEC;
	fraction = time % USECS_PER_SEC;

	end = append_date(out, (int) day + POSTGRES_EPOCH_JDATE);
	*end++ = ' ';
	end = pg_ultostr_zeropad(end, second / SECS_PER_HOUR, 2);
	*end++ = ':';
	end = pg_ultostr_zeropad(end, second / SECS_PER_MINUTE % MINS_PER_HOUR, 2);
	*end++ = ':';
	end = pg_ultostr_zeropad(end, second % SECS_PER_MINUTE, 2);

	if (fraction != 0)
	{
		*end++ = '.';
		if (fraction % 1000 == 0)
			end = pg_ultostr_zeropad(end, fraction / 1000, 3);
		else
			end = pg_ultostr_zeropad(end, fraction, 6);
	}
	return end - out;
}

static char *
append_date(char *out, int julian_day)
{
	int			year;
	int			month;
	int			day;

	j2date(julian_day, &year, &month, &day);
	if (year < 0)
	{
		*out++ = '-';
		year = -year;
	}
	out = pg_ultostr_zeropad(out, year, 4);
	*out++ = '-';
	out = pg_ultostr_zeropad(out, month, 2);
	*out++ = '-';
	return pg_ultostr_zeropad(out, day, 2);
}

static int
format_date(DateADT value, char *out)
{
	if (DATE_IS_NOBEGIN(value))
		return format_timestamp(DT_NOBEGIN, out);
	if (DATE_IS_NOEND(value))
		return format_timestamp(DT_NOEND, out);
	return append_date(out, value + POSTGRES_EPOCH_JDATE) - out;
}

/*
 * Write the shortest text that reads back as the same value.
 *
 * The server's routine passes over a text that lies halfway between two
 * values, although the text reads back as the one with the even mantissa:
 * where other languages print 1e+23 it prints 9.999999999999999e+22.  Texts
 * of that kind exist between 2^53 and 10^40 only.
 */
static int
format_float(double value, char *out)
{
	int			len;

	/* the two zeros are equal */
	if (value == 0.0)
		value = 0.0;

	len = double_to_shortest_decimal_bufn(value, out);
	if (fabs(value) > 9007199254740992.0 && fabs(value) < 1e41)
		len = shorten_float(value, out, len);
	return len;
}

static int
shorten_float(double value, char *out, int len)
{
	for (int digits = DBL_DIG; digits <= DBL_DIG + 1; digits++)
	{
		char		shorter[SK_KEY_SPACE];
		char	   *exponent;
		char	   *end;

		snprintf(shorter, sizeof(shorter), "%.*e", digits - 1, value);
		if (strtod(shorter, NULL) != value)
			continue;

		exponent = strchr(shorter, 'e');
		end = exponent;
		while (end[-1] == '0')
			end--;
		if (end[-1] == '.')
			end--;
		memmove(end, exponent, strlen(exponent) + 1);

		if (strlen(shorter) < len)
		{
			len = strlen(shorter);
			memcpy(out, shorter, len);
		}
		break;
	}
	return len;
}

/* No exponent, and no zeros after the last digit of a fraction. */
static void
set_numeric(SkKeyText *key, Datum value)
{
	Numeric		number = DatumGetNumeric(value);

	key->copy = numeric_normalize(number);
	key->data = key->copy;
	key->len = strlen(key->data);
	if ((Pointer) number != DatumGetPointer(value))
		pfree(number);
}

static void
set_bytes(SkKeyText *key, Datum value)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);

	if ((Pointer) packed != DatumGetPointer(value))
		key->copy = packed;
	key->data = VARDATA_ANY(packed);
	key->len = VARSIZE_ANY_EXHDR(packed);
}

static void
set_enum(SkKeyText *key, Datum value)
{
	HeapTuple	tuple = SearchSysCache1(ENUMOID, value);

	StaticAssertStmt(NAMEDATALEN <= SK_KEY_SPACE, "no room for a label");

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for enum value %u",
			 DatumGetObjectId(value));
	key->len = strlen(NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel));
	memcpy(key->space, NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel),
		   key->len);
	ReleaseSysCache(tuple);
	convert_to_utf8(key);
}

/*
 * Convert a text from the encoding of the database, or leave it as it is.
 *
 * The conversion is the built-in one: a default conversion that somebody has
 * put into the search path must not change a stored shard id.  It runs in
 * pieces, for a text of any size, and never raises an error.
 */
static void
convert_to_utf8(SkKeyText *key)
{
	int			encoding = GetDatabaseEncoding();
	Oid			conversion;
	unsigned char *converted;
	Size		size;
	Size		used = 0;
	Size		done = 0;

	if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII ||
		is_ascii(key->data, key->len))
		return;

	conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE, encoding, PG_UTF8);
	if (!OidIsValid(conversion))
		return;

	size = key->len + key->len / 2 + SK_CONVERSION_ROOM;
	converted = MemoryContextAllocHuge(CurrentMemoryContext, size);
	while (done < key->len)
	{
		int			consumed;

		if (size - used < SK_CONVERSION_ROOM)
		{
			size *= 2;
			converted = repalloc_huge(converted, size);
		}

		consumed = pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8,
												 (unsigned char *) key->data + done,
												 key->len - done,
												 converted + used,
												 Min(size - used, PG_INT32_MAX),
												 true);
		if (consumed <= 0)
		{
			pfree(converted);
			return;
		}
		done += consumed;
		used += strlen((char *) converted + used);
		Assert(done <= key->len && used < size);
	}

	sk_key_text_release(key);
	key->copy = converted;
	key->data = (char *) converted;
	key->len = used;
}

static bool
is_ascii(const char *data, Size len)
{
	for (Size i = 0; i < len; i++)
	{
		if (IS_HIGHBIT_SET(data[i]))
			return false;
	}
	return true;
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

/*
 * spanner.generate_uuid() returns text
 *
 * A random UUID of version 4, 36 characters in lower case.
 */
Datum
spanner_generate_uuid(PG_FUNCTION_ARGS)
{
	char		out[SK_UUID_TEXT_LENGTH];

	format_uuid(DatumGetUUIDP(gen_random_uuid(fcinfo))->data, out);
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

	len = format_timestamptz(value, zone_offset(zone, value), out);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out, len));
}
