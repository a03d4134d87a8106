/*-------------------------------------------------------------------------
 *
 * googlesql.c
 *	  Functions of GoogleSQL that are more than an expression of PostgreSQL's:
 *	  those of googlesql.sql that are written in C.
 *
 * A civil time that a zone has twice is the earlier one, and one that a zone
 * skips is as long after the change as before: the offset before the change
 * counts.  PostgreSQL takes the later one of two.
 *
 * src/spanner_ddl/googlesql.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "keys/time_zone.h"
#include "spanner_ddl/spanner_ddl.h"

PG_FUNCTION_INFO_V1(spanner_checked_length);
PG_FUNCTION_INFO_V1(spanner_date_diff);
PG_FUNCTION_INFO_V1(spanner_date_to_timestamp);
PG_FUNCTION_INFO_V1(spanner_date_trunc);
PG_FUNCTION_INFO_V1(spanner_element_place);
PG_FUNCTION_INFO_V1(spanner_extract_date);
PG_FUNCTION_INFO_V1(spanner_extract_timestamp);
PG_FUNCTION_INFO_V1(spanner_float_to_int);
PG_FUNCTION_INFO_V1(spanner_float_to_numeric);
PG_FUNCTION_INFO_V1(spanner_float_to_string);
PG_FUNCTION_INFO_V1(spanner_greatest);
PG_FUNCTION_INFO_V1(spanner_ieee_divide);
PG_FUNCTION_INFO_V1(spanner_least);
PG_FUNCTION_INFO_V1(spanner_numeric_avg);
PG_FUNCTION_INFO_V1(spanner_regex);
PG_FUNCTION_INFO_V1(spanner_text_to_bool);
PG_FUNCTION_INFO_V1(spanner_text_to_date);
PG_FUNCTION_INFO_V1(spanner_text_to_int);
PG_FUNCTION_INFO_V1(spanner_text_to_timestamp);
PG_FUNCTION_INFO_V1(spanner_timestamp_micros);
PG_FUNCTION_INFO_V1(spanner_timestamp_to_date);
PG_FUNCTION_INFO_V1(spanner_timestamp_trunc);
PG_FUNCTION_INFO_V1(spanner_unix_micros);
PG_FUNCTION_INFO_V1(spanner_white_space);

/* Microseconds from 1970 to 2000 */
#define UNIX_EPOCH ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* The parts of dates and times: those before SK_PART_DAY are lengths of time, others of the calendar. */
typedef enum SkPart
{
	SK_PART_MICROSECOND,
	SK_PART_MILLISECOND,
	SK_PART_SECOND,
	SK_PART_MINUTE,
	SK_PART_HOUR,
	SK_PART_DAY,
	SK_PART_DAYOFWEEK,
	SK_PART_DAYOFYEAR,
	SK_PART_WEEK,
	SK_PART_ISOWEEK,
	SK_PART_MONTH,
	SK_PART_QUARTER,
	SK_PART_YEAR,
	SK_PART_ISOYEAR
} SkPart;

static const char *const part_names[] = {
	"microsecond", "millisecond", "second", "minute", "hour", "day", "dayofweek", "dayofyear", "week", "isoweek",
	"month", "quarter", "year", "isoyear"
};
static const char *const day_names[] = {
	"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"
};
static const int64 part_lengths[] = {1, 1000, USECS_PER_SEC, USECS_PER_MINUTE, USECS_PER_HOUR};

/* A zone: an offset if there is no "zone". */
typedef struct SkZone
{
	pg_tz	   *zone;
	int			offset;			/* in minutes */
} SkZone;

static bool find_part(const char *name, SkPart *part, int *first_day);
static SkPart part_argument(text *name, int *first_day);
static SkZone zone_argument(text *name);
static int64 zone_offset(TimestampTz moment, SkZone zone);
static TimestampTz moment_of(Timestamp local, SkZone zone);
static DateADT date_of(Timestamp local);
static DateADT truncate_date(DateADT date, SkPart part, int first_day);
static int64 extract_part(DateADT date, int64 time, SkPart part, int first_day);
static bool read_number(const char **text, int max_digits, int *value);
static bool read_date(const char **text, DateADT *date);
static bool read_time(const char **text, int64 *time);
static bool read_timestamp(const char *text, const char *default_zone, TimestampTz *result);
static void out_of_range(const char *what);
pg_noreturn static void out_of_range(const char *what);
static Datum bad_text(FunctionCallInfo fcinfo, const char *type, const char *value, bool is_safe);
static Datum extreme(FunctionCallInfo fcinfo, int sign);

/*
 * sk_ddl_has_part
 *		Does a function of GoogleSQL take this PART?
 */
bool
sk_ddl_has_part(const char *function, const char *name)
{
	bool		is_trunc = strstr(function, "_trunc") != NULL || strcmp(function, "last_day") == 0;
	bool		is_timestamp = strncmp(function, "timestamp_", 10) == 0;
	SkPart		part;
	int			first_day;

	if (strcmp(function, "normalize") == 0)
		return SK_DDL_ONE_OF(name, "nfc", "nfd", "nfkc", "nfkd");
	if (!find_part(name, &part, &first_day))
		return false;
	if (strcmp(function, "extract") == 0)
		return true;
	if (part == SK_PART_DAYOFWEEK || part == SK_PART_DAYOFYEAR)
		return false;
	if (is_timestamp)
		return is_trunc || part <= SK_PART_DAY;
	if (strcmp(function, "date_add") == 0 || strcmp(function, "date_sub") == 0)
		return part >= SK_PART_DAY && part != SK_PART_ISOWEEK && part != SK_PART_ISOYEAR && strchr(name, '(') == NULL;
	return part >= SK_PART_DAY;
}

/* The part of a name, and the day that a week begins with. */
static bool
find_part(const char *name, SkPart *part, int *first_day)
{
	*first_day = 0;
	for (int i = 0; i < lengthof(part_names); i++)
	{
		if (strcmp(part_names[i], name) != 0)
			continue;
		*part = i;
		*first_day = i == SK_PART_ISOWEEK;
		return true;
	}
	*part = SK_PART_WEEK;
	for (; *first_day < lengthof(day_names); (*first_day)++)
	{
		const char *day = day_names[*first_day];

		if (strncmp(name, "week(", 5) == 0 && strncmp(name + 5, day, strlen(day)) == 0 &&
			strcmp(name + 5 + strlen(day), ")") == 0)
			return true;
	}
	return false;
}

static SkPart
part_argument(text *name, int *first_day)
{
	SkPart		part;

	if (!find_part(text_to_cstring(name), &part, first_day))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is no part of a date or time", text_to_cstring(name))));
	return part;
}

static SkZone
zone_argument(text *name)
{
	SkZone		zone;

	if (!sk_parse_time_zone(text_to_cstring(name), &zone.zone, &zone.offset))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" not recognized", text_to_cstring(name)),
				 errhint(SK_TIME_ZONE_HINT)));
	return zone;
}

/* Microseconds that the clocks of a zone are ahead of UTC. */
static int64
zone_offset(TimestampTz moment, SkZone zone)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			west;

	if (zone.zone == NULL)
		return zone.offset * USECS_PER_MINUTE;
	if (timestamp2tm(moment, &west, &tm, &fsec, NULL, zone.zone) != 0)
		out_of_range("timestamp");
	return -west * USECS_PER_SEC;
}

/* The moment of a civil time. */
static TimestampTz
moment_of(Timestamp local, SkZone zone)
{
	/*
	 * no zone changes twice in two days: the offset of the day before is that
	 * before a change
	 */
	int64		before = zone_offset(local - zone_offset(local, zone) - USECS_PER_DAY, zone);
	TimestampTz result = local - before;
	int64		after = zone_offset(result, zone);

	/* the change lies before this time, unless that is skipped or there twice */
	if (after != before && zone_offset(local - after, zone) == after)
		result = local - after;
	if (!IS_VALID_TIMESTAMP(result))
		out_of_range("timestamp");
	return result;
}

static DateADT
date_of(Timestamp local)
{
	return (DateADT) ((local - (local < 0 ? USECS_PER_DAY - 1 : 0)) / USECS_PER_DAY);
}

/* The first day of a week, month and so on. */
static DateADT
truncate_date(DateADT date, SkPart part, int first_day)
{
	int			year;
	int			month;
	int			day;
	int			julian = date + POSTGRES_EPOCH_JDATE;

	j2date(julian, &year, &month, &day);
	switch (part)
	{
		case SK_PART_WEEK:
		case SK_PART_ISOWEEK:
			return date - (j2day(julian) - first_day + 7) % 7;
		case SK_PART_MONTH:
			return date2j(year, month, 1) - POSTGRES_EPOCH_JDATE;
		case SK_PART_QUARTER:
			return date2j(year, month - (month - 1) % 3, 1) - POSTGRES_EPOCH_JDATE;
		case SK_PART_YEAR:
			return date2j(year, 1, 1) - POSTGRES_EPOCH_JDATE;
		case SK_PART_ISOYEAR:
			return isoweek2j(date2isoyear(year, month, day), 1) - POSTGRES_EPOCH_JDATE;
		default:
			return date;
	}
}

/* A number of a date and a time of it. */
static int64
extract_part(DateADT date, int64 time, SkPart part, int first_day)
{
	int			year;
	int			month;
	int			day;
	int			julian = date + POSTGRES_EPOCH_JDATE;
	int			day_of_year;

	j2date(julian, &year, &month, &day);
	day_of_year = julian - date2j(year, 1, 1) + 1;
	switch (part)
	{
		case SK_PART_MICROSECOND:
			return time % USECS_PER_SEC;
		case SK_PART_MILLISECOND:
			return time % USECS_PER_SEC / 1000;
		case SK_PART_SECOND:
			return time % USECS_PER_MINUTE / USECS_PER_SEC;
		case SK_PART_MINUTE:
			return time % USECS_PER_HOUR / USECS_PER_MINUTE;
		case SK_PART_HOUR:
			return time / USECS_PER_HOUR;
		case SK_PART_DAY:
			return day;
		case SK_PART_DAYOFWEEK:
			return j2day(julian) + 1;
		case SK_PART_DAYOFYEAR:
			return day_of_year;
		case SK_PART_WEEK:
			return (day_of_year + 6 - (j2day(julian) - first_day + 7) % 7) / 7;
		case SK_PART_ISOWEEK:
			return date2isoweek(year, month, day);
		case SK_PART_MONTH:
			return month;
		case SK_PART_QUARTER:
			return (month + 2) / 3;
		case SK_PART_YEAR:
			return year;
		case SK_PART_ISOYEAR:
			return date2isoyear(year, month, day);
	}
	return 0;					/* keep compiler quiet */
}

/* Read digits; returns false if there is none. */
static bool
read_number(const char **text, int max_digits, int *value)
{
	int			count = 0;

	for (*value = 0; count < max_digits && isdigit((unsigned char) **text); count++)
		*value = *value * 10 + *(*text) ++- '0';
	return count > 0;
}

/* Read year-month-day. */
static bool
read_date(const char **text, DateADT *date)
{
	const char *start = *text;
	int			year;
	int			month;
	int			day;

	if (!read_number(text, 4, &year) || *text !=start + 4 || *(*text) ++!= '-' ||
		!read_number(text, 2, &month) || *(*text) ++!= '-' || !read_number(text, 2, &day) ||
		year < 1 || month < 1 || month > MONTHS_PER_YEAR || day < 1 || day > day_tab[isleap(year)][month - 1])
		return false;
	*date = date2j(year, month, day) - POSTGRES_EPOCH_JDATE;
	return true;
}

/* Read hour:minute:second, whose digits after the sixth are cut. */
static bool
read_time(const char **text, int64 *time)
{
	int			hour;
	int			minute;
	int			second;

	if (!read_number(text, 2, &hour) || *(*text) ++!= ':' || !read_number(text, 2, &minute) ||
		*(*text) ++!= ':' || !read_number(text, 2, &second) || hour > 23 || minute > 59 || second > 59)
		return false;
	*time = hour * USECS_PER_HOUR + minute * USECS_PER_MINUTE + second * USECS_PER_SEC;
	if (**text == '.')
	{
		(*text) ++;
		for (int64 unit = USECS_PER_SEC / 10; isdigit((unsigned char) **text); unit /= 10)
			*time += unit * (*(*text) ++- '0');
	}
	return true;
}

/* A date, perhaps a time, and perhaps a zone: an offset, Z, or a name after a blank. */
static bool
read_timestamp(const char *text, const char *default_zone, TimestampTz *result)
{
	const char *name;
	SkZone		zone;
	DateADT		date;
	int64		time = 0;

	if (!read_date(&text, &date))
		return false;
	if (*text !='\0' && strchr("Tt ", *text) != NULL && isdigit((unsigned char) text[1]))
	{
		text	  ++;

		if (!read_time(&text, &time))
			return false;
	}
	if (*text !='\0' && strchr(" +-zZ", *text) == NULL)
		return false;
	name = *text == ' ' ? text +1 : text;

	if (*name == '\0')
		name = default_zone;
	else if (pg_strcasecmp(name, "z") == 0)
		name = "UTC";
	zone = zone_argument(cstring_to_text(name));
	*result = moment_of(date * USECS_PER_DAY + time, zone);
	return true;
}

static void
out_of_range(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("%s out of range", what)));
}

/* NULL of a text that is no value, if that is safe, or an error */
static Datum
bad_text(FunctionCallInfo fcinfo, const char *type, const char *value, bool is_safe)
{
	if (!is_safe)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid value for type %s: \"%s\"", type, value)));
	PG_RETURN_NULL();
}

/* spanner_internal.date(value timestamptz, zone text) returns date */
Datum
spanner_timestamp_to_date(PG_FUNCTION_ARGS)
{
	TimestampTz value = PG_GETARG_TIMESTAMPTZ(0);
	SkZone		zone = zone_argument(PG_GETARG_TEXT_PP(1));

	if (TIMESTAMP_NOT_FINITE(value))
		out_of_range("date");
	PG_RETURN_DATEADT(date_of(value + zone_offset(value, zone)));
}

/* spanner_internal.timestamp(value date, zone text) returns timestamptz */
Datum
spanner_date_to_timestamp(PG_FUNCTION_ARGS)
{
	DateADT		date = PG_GETARG_DATEADT(0);
	SkZone		zone = zone_argument(PG_GETARG_TEXT_PP(1));

	if (DATE_NOT_FINITE(date) || !IS_VALID_TIMESTAMP(date * USECS_PER_DAY))
		out_of_range("timestamp");
	PG_RETURN_TIMESTAMPTZ(moment_of(date * USECS_PER_DAY, zone));
}

/* spanner_internal.extract(part text, value date, zone text) returns bigint */
Datum
spanner_extract_date(PG_FUNCTION_ARGS)
{
	DateADT		date = PG_GETARG_DATEADT(1);
	int			first_day;
	SkPart		part = part_argument(PG_GETARG_TEXT_PP(0), &first_day);

	if (part < SK_PART_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a date has no part \"%s\"", part_names[part])));
	if (DATE_NOT_FINITE(date))
		out_of_range("date");
	PG_RETURN_INT64(extract_part(date, 0, part, first_day));
}

/* spanner_internal.extract(part text, value timestamptz, zone text) returns bigint */
Datum
spanner_extract_timestamp(PG_FUNCTION_ARGS)
{
	TimestampTz value = PG_GETARG_TIMESTAMPTZ(1);
	SkZone		zone = zone_argument(PG_GETARG_TEXT_PP(2));
	int			first_day;
	SkPart		part = part_argument(PG_GETARG_TEXT_PP(0), &first_day);

	if (TIMESTAMP_NOT_FINITE(value))
		out_of_range("timestamp");
	value += zone_offset(value, zone);
	PG_RETURN_INT64(extract_part(date_of(value), value - date_of(value) * USECS_PER_DAY, part, first_day));
}

/*
 * spanner_internal.timestamp_trunc(value timestamptz, part text, zone text)
 * returns timestamptz
 */
Datum
spanner_timestamp_trunc(PG_FUNCTION_ARGS)
{
	TimestampTz value = PG_GETARG_TIMESTAMPTZ(0);
	SkZone		zone = zone_argument(PG_GETARG_TEXT_PP(2));
	int			first_day;
	SkPart		part = part_argument(PG_GETARG_TEXT_PP(1), &first_day);
	Timestamp	local;
	DateADT		date;

	if (TIMESTAMP_NOT_FINITE(value))
		PG_RETURN_TIMESTAMPTZ(value);
	local = value + zone_offset(value, zone);
	date = date_of(local);
	/* a time that is there twice stays the one of both that it is */
	if (part < SK_PART_DAY)
		PG_RETURN_TIMESTAMPTZ(value - (local - date * USECS_PER_DAY) % part_lengths[part]);
	PG_RETURN_TIMESTAMPTZ(moment_of(truncate_date(date, part, first_day) * USECS_PER_DAY, zone));
}

/* spanner_internal.date_trunc(value date, part text) returns date */
Datum
spanner_date_trunc(PG_FUNCTION_ARGS)
{
	DateADT		date = PG_GETARG_DATEADT(0);
	int			first_day;
	SkPart		part = part_argument(PG_GETARG_TEXT_PP(1), &first_day);

	PG_RETURN_DATEADT(DATE_NOT_FINITE(date) ? date : truncate_date(date, part, first_day));
}

/* spanner_internal.date_diff(a date, b date, part text) returns bigint */
Datum
spanner_date_diff(PG_FUNCTION_ARGS)
{
	DateADT		dates[] = {PG_GETARG_DATEADT(0), PG_GETARG_DATEADT(1)};
	int64		numbers[2];
	int			first_day;
	SkPart		part = part_argument(PG_GETARG_TEXT_PP(2), &first_day);

	for (int i = 0; i < 2; i++)
	{
		if (DATE_NOT_FINITE(dates[i]))
			out_of_range("date");
		numbers[i] = truncate_date(dates[i], part, first_day);
		if (part >= SK_PART_MONTH)
			numbers[i] = extract_part(dates[i], 0, part == SK_PART_ISOYEAR ? part : SK_PART_YEAR, 0);
		if (part == SK_PART_MONTH || part == SK_PART_QUARTER)
			numbers[i] = numbers[i] * (part == SK_PART_MONTH ? 12 : 4) + extract_part(dates[i], 0, part, 0);
	}
	PG_RETURN_INT64((numbers[0] - numbers[1]) / (part == SK_PART_WEEK || part == SK_PART_ISOWEEK ? 7 : 1));
}

/* spanner_internal.unix_micros(value timestamptz) returns bigint */
Datum
spanner_unix_micros(PG_FUNCTION_ARGS)
{
	TimestampTz value = PG_GETARG_TIMESTAMPTZ(0);

	if (TIMESTAMP_NOT_FINITE(value))
		out_of_range("bigint");
	PG_RETURN_INT64(value + UNIX_EPOCH);
}

/* spanner_internal.timestamp_micros(number bigint) returns timestamptz */
Datum
spanner_timestamp_micros(PG_FUNCTION_ARGS)
{
	TimestampTz result;

	if (pg_sub_s64_overflow(PG_GETARG_INT64(0), UNIX_EPOCH, &result) || !IS_VALID_TIMESTAMP(result))
		out_of_range("timestamp");
	PG_RETURN_TIMESTAMPTZ(result);
}

/* spanner_internal.text_to_date(value text, safe boolean) returns date */
Datum
spanner_text_to_date(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));
	const char *rest = value;
	DateADT		date;

	if (!read_date(&rest, &date) || *rest != '\0')
		return bad_text(fcinfo, "date", value, PG_GETARG_BOOL(1));
	PG_RETURN_DATEADT(date);
}

/*
 * spanner_internal.text_to_timestamp(value text, zone text, safe boolean)
 * returns timestamptz
 */
Datum
spanner_text_to_timestamp(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));
	TimestampTz result;

	if (!read_timestamp(value, text_to_cstring(PG_GETARG_TEXT_PP(1)), &result))
		return bad_text(fcinfo, "timestamp", value, PG_GETARG_BOOL(2));
	PG_RETURN_TIMESTAMPTZ(result);
}

/* spanner_internal.text_to_bool(value text, safe boolean) returns boolean */
Datum
spanner_text_to_bool(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (pg_strcasecmp(value, "true") != 0 && pg_strcasecmp(value, "false") != 0)
		return bad_text(fcinfo, "boolean", value, PG_GETARG_BOOL(1));
	PG_RETURN_BOOL(pg_tolower((unsigned char) *value) == 't');
}

/*
 * spanner_internal.text_to_int(value text, safe boolean) returns bigint
 *
 * In decimal or in hexadecimal.
 */
Datum
spanner_text_to_int(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));
	bool		is_negative = *value == '-';
	const char *digits = value + (*value == '-' || *value == '+');
	bool		is_hex = pg_strncasecmp(digits, "0x", 2) == 0;
	char	   *rest;
	uint64		number;

	errno = 0;
	number = strtou64(digits, &rest, is_hex ? 16 : 10);
	if (!isdigit((unsigned char) *digits) || *rest != '\0' || errno != 0 ||
		number > (uint64) PG_INT64_MAX + (is_negative ? 1 : 0))
		return bad_text(fcinfo, "bigint", value, PG_GETARG_BOOL(1));
	PG_RETURN_INT64((int64) (is_negative ? 0 - number : number));
}

/*
 * spanner_internal.float_to_int(value double precision, safe boolean)
 * returns bigint
 *
 * A half is rounded away from zero.
 */
Datum
spanner_float_to_int(PG_FUNCTION_ARGS)
{
	float8		value = round(PG_GETARG_FLOAT8(0));

	if (!isnan(value) && FLOAT8_FITS_IN_INT64(value))
		PG_RETURN_INT64((int64) value);
	if (!PG_GETARG_BOOL(1))
		out_of_range("bigint");
	PG_RETURN_NULL();
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
		out_of_range("numeric");
	result = DirectFunctionCall3(numeric_in, CStringGetDatum(psprintf("%.60f", value)),
								 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	return DirectFunctionCall2(numeric_round, result, Int32GetDatum(9));
}

/*
 * spanner_internal.float_to_string(value double precision, digits integer)
 * returns text
 *
 * So many digits if they are the value, or as many as are.
 */
Datum
spanner_float_to_string(PG_FUNCTION_ARGS)
{
	float8		value = PG_GETARG_FLOAT8(0);
	int			digits = PG_GETARG_INT32(1);
	char	   *result;

	if (isnan(value) || isinf(value))
		PG_RETURN_TEXT_P(cstring_to_text(isnan(value) ? "nan" : value < 0 ? "-inf" : "inf"));
	result = psprintf("%.*g", digits, value);
	if (digits == 6 ? strtof(result, NULL) != (float4) value : strtod(result, NULL) != value)
		result = psprintf("%.*g", digits == 6 ? 9 : 17, value);
	PG_RETURN_TEXT_P(cstring_to_text(result));
}

/* spanner_internal.ieee_divide(a double precision, b double precision) returns double precision */
Datum
spanner_ieee_divide(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(PG_GETARG_FLOAT8(0) / PG_GETARG_FLOAT8(1));
}

/* spanner_internal.numeric_avg(internal) returns numeric */
Datum
spanner_numeric_avg(PG_FUNCTION_ARGS)
{
	Datum		result = numeric_avg(fcinfo);

	return fcinfo->isnull ? (Datum) 0 : DirectFunctionCall2(numeric_round, result, Int32GetDatum(9));
}

/* spanner_internal.greatest(VARIADIC items anycompatiblearray) returns anycompatible */
Datum
spanner_greatest(PG_FUNCTION_ARGS)
{
	return extreme(fcinfo, 1);
}

/* spanner_internal.least(VARIADIC items anycompatiblearray) returns anycompatible */
Datum
spanner_least(PG_FUNCTION_ARGS)
{
	return extreme(fcinfo, -1);
}

/* NULL if an item is, and no number if one is none. */
static Datum
extreme(FunctionCallInfo fcinfo, int sign)
{
	ArrayType  *items = PG_GETARG_ARRAYTYPE_P(0);
	TypeCacheEntry *type = lookup_type_cache(ARR_ELEMTYPE(items), TYPECACHE_CMP_PROC_FINFO);
	Datum	   *values;
	bool	   *nulls;
	int			count;
	Datum		result;

	if (!OidIsValid(type->cmp_proc_finfo.fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify a comparison function for type %s", format_type_be(type->type_id))));
	deconstruct_array(items, type->type_id, type->typlen, type->typbyval, type->typalign, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			PG_RETURN_NULL();
	}
	if (count == 0)
		PG_RETURN_NULL();
	result = values[0];
	for (int i = 0; i < count; i++)
	{
		if ((type->type_id == FLOAT8OID && isnan(DatumGetFloat8(values[i]))) ||
			(type->type_id == FLOAT4OID && isnan(DatumGetFloat4(values[i]))))
			return values[i];
		if (sign * DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo, C_COLLATION_OID, values[i], result)) > 0)
			result = values[i];
	}
	return result;
}

/*
 * spanner_internal.element_place(elements anyarray, place bigint, first bigint)
 * returns integer
 */
Datum
spanner_element_place(PG_FUNCTION_ARGS)
{
	ArrayType  *elements = PG_GETARG_ARRAYTYPE_P(0);
	int64		place = PG_GETARG_INT64(1);
	int64		first = PG_GETARG_INT64(2);

	if (place < first || place - first >= ArrayGetNItems(ARR_NDIM(elements), ARR_DIMS(elements)))
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array index %lld is out of bounds", (long long) place)));
	PG_RETURN_INT32((int32) (place - first) + 1);
}

/* spanner_internal.checked_length(number bigint) returns integer */
Datum
spanner_checked_length(PG_FUNCTION_ARGS)
{
	int64		number = PG_GETARG_INT64(0);

	if (number < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument cannot be negative: %lld", (long long) number)));
	PG_RETURN_INT32((int32) Min(number, PG_INT32_MAX));
}

/* spanner_internal.regex(expression text) returns text */
Datum
spanner_regex(PG_FUNCTION_ARGS)
{
	const char *expression = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *regex = sk_ddl_regex(expression);

	if (regex == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_REGULAR_EXPRESSION),
				 errmsg("regular expression \"%s\" is not supported", expression),
				 errhint("Strings without \\b, \\p, (?...) and [:...:] are translated.")));
	PG_RETURN_TEXT_P(cstring_to_text(regex));
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
