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
#include "common/cryptohash.h"
#include "common/int.h"
#include "common/sha1.h"
#include "common/shortest_dec.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "nodes/value.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/formatting.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "keys/time_zone.h"
#include "spanner_ddl/spanner_ddl.h"

PG_FUNCTION_INFO_V1(spanner_checked_length);
PG_FUNCTION_INFO_V1(spanner_date_diff);
PG_FUNCTION_INFO_V1(spanner_date_to_timestamp);
PG_FUNCTION_INFO_V1(spanner_element_place);
PG_FUNCTION_INFO_V1(spanner_extract_date);
PG_FUNCTION_INFO_V1(spanner_extract_timestamp);
PG_FUNCTION_INFO_V1(spanner_extreme);
PG_FUNCTION_INFO_V1(spanner_float_round);
PG_FUNCTION_INFO_V1(spanner_float_to_numeric);
PG_FUNCTION_INFO_V1(spanner_float_to_string);
PG_FUNCTION_INFO_V1(spanner_format);
PG_FUNCTION_INFO_V1(spanner_format_date);
PG_FUNCTION_INFO_V1(spanner_format_timestamp);
PG_FUNCTION_INFO_V1(spanner_ieee_divide);
PG_FUNCTION_INFO_V1(spanner_literal_to_numeric);
PG_FUNCTION_INFO_V1(spanner_lower);
PG_FUNCTION_INFO_V1(spanner_numeric_avg);
PG_FUNCTION_INFO_V1(spanner_numeric_avg_accum);
PG_FUNCTION_INFO_V1(spanner_parse_date);
PG_FUNCTION_INFO_V1(spanner_parse_timestamp);
PG_FUNCTION_INFO_V1(spanner_regex);
PG_FUNCTION_INFO_V1(spanner_regex_replacement);
PG_FUNCTION_INFO_V1(spanner_safe_float);
PG_FUNCTION_INFO_V1(spanner_sha1);
PG_FUNCTION_INFO_V1(spanner_text_to_bool);
PG_FUNCTION_INFO_V1(spanner_text_to_date);
PG_FUNCTION_INFO_V1(spanner_text_to_float);
PG_FUNCTION_INFO_V1(spanner_text_to_int);
PG_FUNCTION_INFO_V1(spanner_text_to_numeric);
PG_FUNCTION_INFO_V1(spanner_text_to_timestamp);
PG_FUNCTION_INFO_V1(spanner_timestamp_micros);
PG_FUNCTION_INFO_V1(spanner_timestamp_to_date);
PG_FUNCTION_INFO_V1(spanner_timestamp_trunc);
PG_FUNCTION_INFO_V1(spanner_json_array);
PG_FUNCTION_INFO_V1(spanner_json_object);
PG_FUNCTION_INFO_V1(spanner_json_text);
PG_FUNCTION_INFO_V1(spanner_upper);

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
static const char *const month_names[] = {
	"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December", NULL
};
static const int64 part_lengths[] = {1, 1000, USECS_PER_SEC, USECS_PER_MINUTE, USECS_PER_HOUR};

/* White space of ASCII */
#define BLANKS " \t\n\v\f\r"

/* GoogleSQL's NUMERIC ends there. */
#define NUMERIC_END 1e29

/* What PARSE_TIMESTAMP() and PARSE_DATE() have read. */
typedef struct SkReadTime
{
	int			parts[SK_PART_ISOYEAR + 1];
	int			half;			/* 1 for AM, 2 for PM, 0 if there is none */
	int64		seconds;		/* since 1970 */
	bool		has_seconds;
	bool		has_offset;
	int			offset;			/* in minutes */
	bool		is_date;
	bool		is_strict;		/* as in a cast: no blanks, years of four
								 * digits */
} SkReadTime;

/* What is not read of a time. */
#define UNREAD .parts = {[SK_PART_YEAR] = 1970,[SK_PART_MONTH] = 1,[SK_PART_DAY] = 1}

/* An element of a format of times that is read as a number of so many digits, or as a name. */
typedef struct SkTimeElement
{
	char		letter;
	SkPart		part;
	int			digits;
	const char *const *names;	/* from 1, the last one is NULL */
} SkTimeElement;

static const SkTimeElement time_elements[] = {
	{'A', SK_PART_DAYOFWEEK,.names = days}, {'a', SK_PART_DAYOFWEEK,.names = days},
	{'B', SK_PART_MONTH,.names = month_names}, {'b', SK_PART_MONTH,.names = month_names}, {'h', SK_PART_MONTH,.names = month_names},
	{'d', SK_PART_DAY, 2}, {'e', SK_PART_DAY, 2}, {'H', SK_PART_HOUR, 2}, {'j', SK_PART_DAYOFYEAR, 3},
	{'k', SK_PART_HOUR, 2}, {'M', SK_PART_MINUTE, 2}, {'m', SK_PART_MONTH, 2}, {'S', SK_PART_SECOND, 2},
	{'Y', SK_PART_YEAR, 4}
};
static const char *const halves[] = {"AM", "PM", NULL};

/* A specifier of FORMAT() */
typedef struct SkSpecifier
{
	char		letter;
	bool		is_left;
	bool		has_zeros;
	const char *plus;			/* before numbers that are not negative */
	int			width;
	int			precision;		/* -1 if there is none */
} SkSpecifier;

/* How a value is written: for a reader, as a literal, or in JSON */
typedef enum SkStyle
{
	SK_STYLE_PLAIN,
	SK_STYLE_LITERAL,
	SK_STYLE_JSON
} SkStyle;

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
static bool read_number(const char **input, int max_digits, int *value);
static bool read_timestamp(const char *input, const char *default_zone, TimestampTz *result);
static void out_of_range(const char *what);
pg_noreturn static void out_of_range(const char *what);
static Datum bad_text(FunctionCallInfo fcinfo, const char *type, const char *value, bool is_safe);
static Datum rounded_numeric(char *value);
static float8 float_value(Oid type, Datum value);
static bool read_float(const char *value, float8 *number);
static char *float_text(float8 value, int digits);
static Oid	case_collation(void);
static void write_local(StringInfo out, const char *format, DateADT date, int64 time, int64 offset);
static int	write_extension(StringInfo out, const char *format, const struct pg_tm *tm, int fraction);
static bool read_local(SkReadTime *time, const char *format, const char **input);
static bool read_time_element(SkReadTime *time, const char **format, const char **input);
static bool has_fraction(const char *format);
static bool read_offset(SkReadTime *time, const char **input);
static void read_fraction(const char **input, int *microseconds);
static bool read_name(const char **input, const char *const *names, int *number);
static bool civil_time(const SkReadTime *time, Timestamp *local);
static Timestamp parsed_time(SkReadTime *time, text *format, text *value);
static const char *expand_element(char element);
static void write_specifier(StringInfo out, SkSpecifier *specifier, Oid type, Datum value);
static void write_padded(StringInfo out, SkSpecifier *specifier, const char *sign, const char *value);
static void write_value(StringInfo out, Oid type, Datum value, bool is_null, SkStyle style);
static void write_bytes(StringInfo out, bytea *value, SkStyle style);
static void write_elements(StringInfo out, ArrayType *array, SkStyle style);
static void write_floating(StringInfo out, float8 value, int digits, SkStyle style);
static const char *argument_json(FunctionCallInfo fcinfo, int argument);
static void copy_json(StringInfo out, const char **input, int order);
static int	compare_members(const ListCell *a, const ListCell *b);
static void bad_format(const char *function, const char *format);
pg_noreturn static void bad_format(const char *function, const char *format);

/*
 * sk_ddl_has_part
 *		Does a function of GoogleSQL take this PART?
 */
bool
sk_ddl_has_part(const char *function, const char *name)
{
	bool		is_trunc = strstr(function, "_trunc") != NULL || strcmp(function, "last_day") == 0;
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
	if (strncmp(function, "timestamp_", 10) == 0)
		return is_trunc || part <= SK_PART_DAY;
	if (SK_DDL_ONE_OF(function, "date_add", "date_sub", "generate_date_array"))
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
	while (days[*first_day] != NULL && pg_strcasecmp(name, psprintf("week(%s)", days[*first_day])) != 0)
		(*first_day)++;
	return days[*first_day] != NULL;
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
read_number(const char **input, int max_digits, int *value)
{
	int			count = 0;

	for (*value = 0; count < max_digits && isdigit((unsigned char) **input); count++)
		*value = *value * 10 + *(*input)++ - '0';
	return count > 0;
}

/* Read what may be behind a second, whose digits after the sixth are cut. */
static void
read_fraction(const char **input, int *microseconds)
{
	*microseconds = 0;
	if (**input != '.')
		return;
	(*input)++;
	for (int unit = USECS_PER_SEC / 10; isdigit((unsigned char) **input); unit /= 10)
		*microseconds += unit * (*(*input)++ - '0');
}

/* A date, perhaps a time, and perhaps a zone: an offset, Z, or a name after a blank. */
static bool
read_timestamp(const char *input, const char *default_zone, TimestampTz *result)
{
	SkReadTime	time = {UNREAD,.is_strict = true};
	const char *name;
	SkZone		zone;
	Timestamp	local;

	if (!read_local(&time, "%E4Y-%m-%d", &input))
		return false;
	if (*input != '\0' && strchr("Tt ", *input) != NULL && isdigit((unsigned char) input[1]))
	{
		input++;
		if (!read_local(&time, "%H:%M:%E*S", &input))
			return false;
	}
	if (!civil_time(&time, &local) || (*input != '\0' && strchr(" +-zZ", *input) == NULL))
		return false;
	name = *input == ' ' ? input + 1 : input;

	if (*name == '\0')
		name = default_zone;
	else if (pg_strcasecmp(name, "z") == 0)
		name = "UTC";
	if (!sk_parse_time_zone(name, &zone.zone, &zone.offset))
		return false;
	*result = moment_of(local, zone);
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

/* spanner_internal.to_date(value timestamptz, zone text, safe boolean) returns date */
Datum
spanner_timestamp_to_date(PG_FUNCTION_ARGS)
{
	TimestampTz value = PG_GETARG_TIMESTAMPTZ(0);
	SkZone		zone = zone_argument(PG_GETARG_TEXT_PP(1));

	if (TIMESTAMP_NOT_FINITE(value))
		out_of_range("date");
	PG_RETURN_DATEADT(date_of(value + zone_offset(value, zone)));
}

/* spanner_internal.to_timestamp(value date, zone text, safe boolean) returns timestamptz */
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

/* spanner_internal.timestamp_micros(number bigint) returns timestamptz */
Datum
spanner_timestamp_micros(PG_FUNCTION_ARGS)
{
	TimestampTz result;

	if (pg_sub_s64_overflow(PG_GETARG_INT64(0), UNIX_EPOCH, &result) || !IS_VALID_TIMESTAMP(result))
		out_of_range("timestamp");
	PG_RETURN_TIMESTAMPTZ(result);
}

/* spanner_internal.to_date(value text, zone text, safe boolean) returns date */
Datum
spanner_text_to_date(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));
	const char *rest = value;
	SkReadTime	time = {UNREAD,.is_strict = true};
	Timestamp	local;

	if (!read_local(&time, "%E4Y-%m-%d", &rest) || *rest != '\0' || !civil_time(&time, &local))
		return bad_text(fcinfo, "date", value, PG_GETARG_BOOL(2));
	PG_RETURN_DATEADT(date_of(local));
}

/* spanner_internal.to_timestamp(value text, zone text, safe boolean) returns timestamptz */
Datum
spanner_text_to_timestamp(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));
	TimestampTz result;

	if (!read_timestamp(value, text_to_cstring(PG_GETARG_TEXT_PP(1)), &result))
		return bad_text(fcinfo, "timestamp", value, PG_GETARG_BOOL(2));
	PG_RETURN_TIMESTAMPTZ(result);
}

/* spanner_internal.to_bool(value text, safe boolean) returns boolean */
Datum
spanner_text_to_bool(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (pg_strcasecmp(value, "true") != 0 && pg_strcasecmp(value, "false") != 0)
		return bad_text(fcinfo, "boolean", value, PG_GETARG_BOOL(1));
	PG_RETURN_BOOL(pg_tolower((unsigned char) *value) == 't');
}

/*
 * spanner_internal.to_int64(value text, safe boolean) returns bigint
 *
 * In decimal or in hexadecimal.
 */
Datum
spanner_text_to_int(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));
	const char *digits = value + strspn(value, BLANKS);
	bool		is_negative = *digits == '-';
	char	   *rest;
	uint64		number;

	digits += *digits == '-' || *digits == '+';
	errno = 0;
	number = strtou64(digits, &rest, pg_strncasecmp(digits, "0x", 2) == 0 ? 16 : 10);
	if (!isdigit((unsigned char) *digits) || strspn(rest, BLANKS) < strlen(rest) || errno != 0 ||
		number > (uint64) PG_INT64_MAX + (is_negative ? 1 : 0))
		return bad_text(fcinfo, "bigint", value, PG_GETARG_BOOL(1));
	PG_RETURN_INT64((int64) (is_negative ? 0 - number : number));
}

/*
 * spanner_internal.float_round(value double precision, digits bigint,
 * truncates boolean) returns double precision
 *
 * With the steps of GoogleSQL, which decide what a half is.
 */
Datum
spanner_float_round(PG_FUNCTION_ARGS)
{
	float8		value = PG_GETARG_FLOAT8(0);
	int64		digits = PG_GETARG_INT64(1);
	long double unit = 1;
	long double result;

	/* there is no such digit */
	if (isnan(value) || isinf(value) || digits > 323)
		PG_RETURN_FLOAT8(value);
	if (digits < -308)
		PG_RETURN_FLOAT8(0);
	for (int64 i = 0; i != digits; i += digits > 0 ? 1 : -1)
		unit = digits > 0 ? unit / 10 : unit * 10;
	result = PG_GETARG_BOOL(2) ? truncl(value / unit) * unit : roundl(value / unit) * unit;
	if (isinf((float8) result))
		out_of_range("double precision");
	PG_RETURN_FLOAT8((float8) result);
}

/*
 * spanner_internal.to_numeric(value double precision, safe boolean)
 * returns numeric
 *
 * All digits before the point, and 9 behind it; a half is rounded away from
 * zero.  No double is so near to a half that 60 digits do not tell.
 */
Datum
spanner_float_to_numeric(PG_FUNCTION_ARGS)
{
	float8		value = PG_GETARG_FLOAT8(0);

	if (!isnan(value) && fabs(value) < NUMERIC_END)
		return rounded_numeric(psprintf("%.60f", value));
	if (!PG_GETARG_BOOL(1))
		out_of_range("numeric");
	PG_RETURN_NULL();
}

/* spanner_internal.literal_to_numeric(value float_literal) returns numeric */
Datum
spanner_literal_to_numeric(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(numeric_trim_scale, DirectFunctionCall2(numeric_round, PG_GETARG_DATUM(0),
																	   Int32GetDatum(9)));
}

/* spanner_internal.to_numeric(value text, safe boolean) returns numeric */
Datum
spanner_text_to_numeric(PG_FUNCTION_ARGS)
{
	char	   *value = text_to_cstring(PG_GETARG_TEXT_PP(0));
	float8		number;

	if (!read_float(value, &number) || isnan(number) || fabs(number) >= NUMERIC_END)
		return bad_text(fcinfo, "numeric", value, PG_GETARG_BOOL(1));
	/* PostgreSQL has no numbers with so many zeros after the point */
	return rounded_numeric(fabs(number) < 1e-30 ? "0" : value);
}

static Datum
rounded_numeric(char *value)
{
	Datum		result = DirectFunctionCall3(numeric_in, CStringGetDatum(value),
											 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));

	return DirectFunctionCall2(numeric_round, result, Int32GetDatum(9));
}

/* Read a number in decimal, or the name of one that is none; returns false for other texts. */
static bool
read_float(const char *value, float8 *number)
{
	char	   *rest;

	*number = strtod(value, &rest);
	/* not in hexadecimal; what is too large is infinite */
	return rest > value && strspn(rest, BLANKS) == strlen(rest) && strpbrk(value, "xX(") == NULL;
}

/* spanner_internal.to_float64(value text, safe boolean) returns double precision */
Datum
spanner_text_to_float(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));
	float8		result;

	if (!read_float(value, &result))
		return bad_text(fcinfo, "double precision", value, PG_GETARG_BOOL(1));
	PG_RETURN_FLOAT8(result);
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
	/* zero has no sign */
	PG_RETURN_TEXT_P(cstring_to_text(float_text(PG_GETARG_FLOAT8(0) + 0.0, PG_GETARG_INT32(1))));
}

static char *
float_text(float8 value, int digits)
{
	char	   *result;

	if (isnan(value) || isinf(value))
		return isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
	result = psprintf("%.*g", digits, value);
	if (digits == 6 ? strtof(result, NULL) != (float4) value : strtod(result, NULL) != value)
		result = psprintf("%.*g", digits == 6 ? 9 : 17, value);
	return result;
}

/* spanner_internal.ieee_divide(a double precision, b double precision) returns double precision */
Datum
spanner_ieee_divide(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(PG_GETARG_FLOAT8(0) / PG_GETARG_FLOAT8(1));
}

/*
 * spanner_internal.safe_float(a double precision, operator "char",
 * b double precision) returns double precision
 */
Datum
spanner_safe_float(PG_FUNCTION_ARGS)
{
	float8		a = PG_GETARG_FLOAT8(0);
	char		operator = PG_GETARG_CHAR(1);
	float8		b = PG_GETARG_FLOAT8(2);
	float8		result = operator == '+' ? a + b : operator == '-' ? a - b : operator == '*' ? a * b : a / b;

	if (!isfinite(result) && isfinite(a) && isfinite(b))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(result);
}

/*
 * spanner_internal.numeric_avg_accum(internal, value numeric) returns internal
 *
 * The mean has as many digits after the point as the values have.
 */
Datum
spanner_numeric_avg_accum(PG_FUNCTION_ARGS)
{
	if (!PG_ARGISNULL(1))
		fcinfo->args[1].value = DirectFunctionCall2(numeric_round, fcinfo->args[1].value, Int32GetDatum(9));
	return numeric_avg_accum(fcinfo);
}

/* spanner_internal.numeric_avg(internal) returns numeric */
Datum
spanner_numeric_avg(PG_FUNCTION_ARGS)
{
	Datum		result = numeric_avg(fcinfo);

	return fcinfo->isnull ? (Datum) 0 : DirectFunctionCall2(numeric_round, result, Int32GetDatum(9));
}

/*
 * spanner_internal.extreme(items anyarray, sign integer) returns anyelement
 *
 * NULL if an item is, and no number if one is none.
 */
Datum
spanner_extreme(PG_FUNCTION_ARGS)
{
	ArrayType  *items = PG_GETARG_ARRAYTYPE_P(0);
	int			sign = PG_GETARG_INT32(1);
	TypeCacheEntry *type = lookup_type_cache(ARR_ELEMTYPE(items), TYPECACHE_CMP_PROC_FINFO);
	Datum	   *values;
	bool	   *nulls;
	int			count;
	int			best = -1;

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
	for (int i = 0; i < count; i++)
	{
		if ((type->type_id == FLOAT8OID && isnan(DatumGetFloat8(values[i]))) ||
			(type->type_id == FLOAT4OID && isnan(DatumGetFloat4(values[i]))))
			return values[i];
		if (best < 0 ||
			sign * DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo, C_COLLATION_OID, values[i], values[best])) > 0)
			best = i;
	}
	if (best < 0)
		PG_RETURN_NULL();
	return values[best];
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

/*
 * spanner_internal.regex(expression text, purpose text) returns text
 *
 * The purpose is the end of the name of a function: REGEXP_CONTAINS() and so
 * on.
 */
Datum
spanner_regex(PG_FUNCTION_ARGS)
{
	const char *expression = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *regex = sk_ddl_regex(expression, text_to_cstring(PG_GETARG_TEXT_PP(1)));

	if (regex == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_REGULAR_EXPRESSION),
				 errmsg("regular expression \"%s\" is not supported", expression),
				 errhint(SK_REGEX_HINT)));
	PG_RETURN_TEXT_P(cstring_to_text(regex));
}

/*
 * spanner_internal.regex_replacement(replacement text) returns text
 *
 * With \\0 to \\9, as PostgreSQL has it.
 */
Datum
spanner_regex_replacement(PG_FUNCTION_ARGS)
{
	char	   *replacement = text_to_cstring(PG_GETARG_TEXT_PP(0));

	for (char *s = replacement; *s != '\0'; s++)
	{
		if (*s != '\\')
			continue;
		s++;
		if (*s != '\\' && !isdigit((unsigned char) *s))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid replacement for a regular expression: \"%s\"", replacement)));
		if (*s == '0')
			*s = '&';
	}
	PG_RETURN_TEXT_P(cstring_to_text(replacement));
}

/* spanner_internal.sha1(value bytea) returns bytea */
Datum
spanner_sha1(PG_FUNCTION_ARGS)
{
	bytea	   *value = PG_GETARG_BYTEA_PP(0);
	bytea	   *result = palloc(VARHDRSZ + SHA1_DIGEST_LENGTH);
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA1);

	SET_VARSIZE(result, VARHDRSZ + SHA1_DIGEST_LENGTH);
	if (pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, (uint8 *) VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)) < 0 ||
		pg_cryptohash_final(context, (uint8 *) VARDATA(result), SHA1_DIGEST_LENGTH) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not compute SHA1 hash: %s", pg_cryptohash_error(context))));
	pg_cryptohash_free(context);
	PG_RETURN_BYTEA_P(result);
}

/*
 * The collation whose upper and lower case are Unicode's, whatever the database
 * and the columns have; that of the database if the server has none.
 */
static Oid
case_collation(void)
{
	static const char *const names[] = {"und-x-icu", "pg_unicode_fast", "pg_c_utf8", "C.utf8"};

	for (int i = 0; i < lengthof(names); i++)
	{
		Oid			found = get_collation_oid(list_make2(makeString("pg_catalog"), makeString((char *) names[i])), true);

		if (OidIsValid(found))
			return found;
	}
	return DEFAULT_COLLATION_OID;
}

/* spanner_internal.lower(value text) returns text */
Datum
spanner_lower(PG_FUNCTION_ARGS)
{
	text	   *value = PG_GETARG_TEXT_PP(0);

	PG_RETURN_TEXT_P(cstring_to_text(str_tolower(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), case_collation())));
}

/* spanner_internal.upper(value text) returns text */
Datum
spanner_upper(PG_FUNCTION_ARGS)
{
	text	   *value = PG_GETARG_TEXT_PP(0);

	PG_RETURN_TEXT_P(cstring_to_text(str_toupper(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), case_collation())));
}

static void
bad_format(const char *function, const char *format)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("format \"%s\" is not supported by %s()", format, function)));
}

/* The elements that stand for others; NULL of others. */
static const char *
expand_element(char element)
{
	static const char *const expansions[] = {
		"c%a %b %e %H:%M:%S %Y", "D%m/%d/%y", "F%Y-%m-%d", "R%H:%M", "T%H:%M:%S", "X%H:%M:%S", "x%m/%d/%y"
	};

	for (int i = 0; i < lengthof(expansions); i++)
	{
		if (expansions[i][0] == element)
			return expansions[i] + 1;
	}
	return NULL;
}

/* Write a civil time; of a date, "time" is negative. */
static void
write_local(StringInfo out, const char *format, DateADT date, int64 time, int64 offset)
{
	int			julian = date + POSTGRES_EPOCH_JDATE;
	int64		second = (Max(time, 0) / USECS_PER_SEC);
	struct pg_tm tm = {
		.tm_sec = second % SECS_PER_MINUTE,.tm_min = second / SECS_PER_MINUTE % MINS_PER_HOUR,
		.tm_hour = second / SECS_PER_HOUR,.tm_wday = j2day(julian),.tm_gmtoff = offset / USECS_PER_SEC
	};
	char		element[] = "% ";
	char		written[MAXDATELEN];

	j2date(julian, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	tm.tm_yday = julian - date2j(tm.tm_year, 1, 1);
	/* as C has them */
	tm.tm_year -= 1900;
	tm.tm_mon--;
	for (const char *s = format; *s != '\0'; s++)
	{
		if (*s != '%')
		{
			appendStringInfoChar(out, *s);
			continue;
		}
		element[1] = *++s;
		if (*s == '\0' || strchr("AaBbCcDdEeFGgHhIjklMmnPpQRSsTtUuVWwXxYyz%", *s) == NULL ||
			(time < 0 && strchr("cEHIklMPpRSsTXz", *s) != NULL && strncmp(s, "E4Y", 3) != 0))
			bad_format(time < 0 ? "format_date" : "format_timestamp", s - 1);
		if (expand_element(*s) != NULL)
			write_local(out, expand_element(*s), date, time, offset);
		else if (strchr("GQY", *s) != NULL)
			appendStringInfo(out, "%d", (int) extract_part(date, 0, *s == 'G' ? SK_PART_ISOYEAR : *s == 'Q' ?
														   SK_PART_QUARTER : SK_PART_YEAR, 0));
		else if (*s == 'P')
			appendStringInfoString(out, tm.tm_hour < 12 ? "am" : "pm");
		else if (*s == 's')
			appendStringInfo(out, INT64_FORMAT, second + date * (int64) SECS_PER_DAY + UNIX_EPOCH / USECS_PER_SEC - tm.tm_gmtoff);
		else if (*s == 'E')
			s += write_extension(out, s, &tm, Max(time, 0) % USECS_PER_SEC);
		else
		{
			pg_strftime(written, sizeof(written), element, &tm);
			appendStringInfoString(out, written);
		}
	}
}

/* Write %E4Y, %Ez, or seconds with a fraction; returns how many characters follow the E. */
static int
write_extension(StringInfo out, const char *format, const struct pg_tm *tm, int fraction)
{
	char	   *second;
	int			places;

	if (strncmp(format, "E4Y", 3) == 0)
		appendStringInfo(out, "%04d", tm->tm_year + 1900);
	else if (format[1] == 'z')
	{
		appendStringInfo(out, "%c%02d:%02d", tm->tm_gmtoff < 0 ? '-' : '+', abs((int) tm->tm_gmtoff) / SECS_PER_HOUR,
						 abs((int) tm->tm_gmtoff) / SECS_PER_MINUTE % MINS_PER_HOUR);
		return 1;
	}
	else if (has_fraction(format))
	{
		second = psprintf("%02d.%06d", tm->tm_sec, fraction);
		places = format[1] == '*' ? strlen(second) : 3 + format[1] - '0';
		while (format[1] == '*' && places > 3 && second[places - 1] == '0')
			places--;
		appendBinaryStringInfo(out, second, places == 3 ? 2 : places);
	}
	else
		bad_format("format_timestamp", format - 1);
	return 2;
}

/* %E*S, or with a number of places */
static bool
has_fraction(const char *format)
{
	return format[0] == 'E' && format[1] != '\0' && strchr("*0123456", format[1]) != NULL && format[2] == 'S';
}

/* spanner_internal.format_date(format text, value date) returns text */
Datum
spanner_format_date(PG_FUNCTION_ARGS)
{
	DateADT		date = PG_GETARG_DATEADT(1);
	StringInfoData result;

	if (DATE_NOT_FINITE(date))
		out_of_range("date");
	initStringInfo(&result);
	write_local(&result, text_to_cstring(PG_GETARG_TEXT_PP(0)), date, -1, 0);
	PG_RETURN_TEXT_P(cstring_to_text(result.data));
}

/* spanner_internal.format_timestamp(format text, value timestamptz, zone text) returns text */
Datum
spanner_format_timestamp(PG_FUNCTION_ARGS)
{
	TimestampTz value = PG_GETARG_TIMESTAMPTZ(1);
	int64		offset;
	StringInfoData result;

	if (TIMESTAMP_NOT_FINITE(value))
		out_of_range("timestamp");
	offset = zone_offset(value, zone_argument(PG_GETARG_TEXT_PP(2)));
	value += offset;
	initStringInfo(&result);
	write_local(&result, text_to_cstring(PG_GETARG_TEXT_PP(0)), date_of(value),
				value - date_of(value) * USECS_PER_DAY, offset);
	PG_RETURN_TEXT_P(cstring_to_text(result.data));
}

/* Read a civil time by a format, in which blanks are any white space. */
static bool
read_local(SkReadTime *time, const char *format, const char **input)
{
	for (const char *s = format; *s != '\0'; s++)
	{
		if (isspace((unsigned char) *s))
		{
			while (isspace((unsigned char) **input))
				(*input)++;
		}
		else if (*s != '%')
		{
			if (*(*input)++ != *s)
				return false;
		}
		else
		{
			s++;
			if (!read_time_element(time, &s, input))
				return false;
		}
	}
	return true;
}

/* Read what an element stands for, and go to its last character. */
static bool
read_time_element(SkReadTime *time, const char **format, const char **input)
{
	char		letter = **format;
	const SkTimeElement *element = NULL;
	const char *more = expand_element(letter);
	int			number;

	if (time->is_date && letter != '\0' && strchr("cEHIklMPpRSsTXz", letter) != NULL && strncmp(*format, "E4Y", 3) != 0)
		bad_format("parse_date", *format - 1);
	if (more != NULL)
		return read_local(time, more, input);
	for (int i = 0; i < lengthof(time_elements); i++)
	{
		if (time_elements[i].letter == letter)
			element = &time_elements[i];
	}
	while (letter != '%' && !time->is_strict && isspace((unsigned char) **input))
		(*input)++;
	if (element != NULL && element->digits > 0)
		return read_number(input, element->digits, &time->parts[element->part]);
	if (element != NULL && element->names != NULL)
		return read_name(input, element->names, &time->parts[element->part]);
	switch (letter)
	{
		case 'I':
		case 'l':
			return read_number(input, 2, &time->parts[SK_PART_HOUR]) && time->parts[SK_PART_HOUR] >= 1 &&
				time->parts[SK_PART_HOUR] <= 12;
		case 'n':
		case 't':
			return true;
		case 'P':
		case 'p':
			return read_name(input, halves, &time->half);
		case 's':
			more = *input;
			time->seconds = strtoi64(more, (char **) input, 10);
			time->has_seconds = true;
			return *input > more;
		case 'y':
			number = read_number(input, 2, &time->parts[SK_PART_YEAR]);
			time->parts[SK_PART_YEAR] += time->parts[SK_PART_YEAR] < 69 ? 2000 : 1900;
			return number;
		case '%':
			return *(*input)++ == '%';
		case 'z':
			return read_offset(time, input);
		default:
			break;
	}
	if (strncmp(*format, "Ez", 2) == 0)
	{
		*format += 1;
		return read_offset(time, input);
	}
	*format += 2;
	if (strncmp(*format - 2, "E4Y", 3) == 0)
	{
		more = *input;
		return read_number(input, 4, &time->parts[SK_PART_YEAR]) && (!time->is_strict || *input == more + 4);
	}
	if (!has_fraction(*format - 2))
		bad_format(time->is_date ? "parse_date" : "parse_timestamp", *format - 3);
	return read_number(input, 2, &time->parts[SK_PART_SECOND]) &&
		(read_fraction(input, &time->parts[SK_PART_MICROSECOND]), true);
}

/* Read hours and minutes east of UTC. */
static bool
read_offset(SkReadTime *time, const char **input)
{
	int			sign = **input == '-' ? -1 : 1;
	int			minutes = 0;

	if ((**input != '-' && **input != '+') || ((*input)++, !read_number(input, 2, &time->offset)))
		return false;
	*input += **input == ':';
	(void) read_number(input, 2, &minutes);
	time->offset = sign * (time->offset * MINS_PER_HOUR + minutes);
	time->has_offset = true;
	return minutes < MINS_PER_HOUR && abs(time->offset) <= 14 * MINS_PER_HOUR;
}

/* A name, or its first three letters, and its number from 1. */
static bool
read_name(const char **input, const char *const *names, int *number)
{
	for (int i = 0; names[i] != NULL; i++)
	{
		int			length = strlen(names[i]);

		if (pg_strncasecmp(*input, names[i], length) != 0 && length > 3)
			length = 3;
		if (pg_strncasecmp(*input, names[i], length) != 0)
			continue;
		*input += length;
		*number = i + 1;
		return true;
	}
	return false;
}

/* The time that was read; returns false if there is none. */
static bool
civil_time(const SkReadTime *time, Timestamp *local)
{
	const int  *parts = time->parts;
	int			year = parts[SK_PART_YEAR];
	int			month = parts[SK_PART_MONTH];
	int			day = parts[SK_PART_DAY];
	int			day_of_year = parts[SK_PART_DAYOFYEAR];

	if (year < 1 || parts[SK_PART_HOUR] >= HOURS_PER_DAY || parts[SK_PART_MINUTE] >= MINS_PER_HOUR ||
		parts[SK_PART_SECOND] >= SECS_PER_MINUTE || day_of_year > 365 + isleap(year) ||
		(day_of_year == 0 && (month < 1 || month > MONTHS_PER_YEAR || day < 1 || day > day_tab[isleap(year)][month - 1])))
		return false;
	*local = day_of_year > 0 ? date2j(year, 1, 1) + day_of_year - 1 : date2j(year, month, day);
	*local = (*local - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY;
	/* those are the parts of a time, from the shortest, without milliseconds */
	for (SkPart part = SK_PART_MICROSECOND; part <= SK_PART_HOUR; part++)
		*local += parts[part] * part_lengths[part];
	return true;
}

/* Read all of a text, and return the civil time that it has. */
static Timestamp
parsed_time(SkReadTime *time, text *format, text *value)
{
	const char *rest = text_to_cstring(value);
	Timestamp	local;

	if (read_local(time, text_to_cstring(format), &rest))
	{
		rest += strspn(rest, BLANKS);
		if (time->half > 0)
			time->parts[SK_PART_HOUR] = time->parts[SK_PART_HOUR] % 12 + (time->half - 1) * 12;
		if (*rest == '\0' && civil_time(time, &local))
			return local;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_DATETIME_FORMAT),
			 errmsg("text \"%s\" does not have the format \"%s\"", text_to_cstring(value), text_to_cstring(format))));
}

/* spanner_internal.parse_date(format text, value text) returns date */
Datum
spanner_parse_date(PG_FUNCTION_ARGS)
{
	SkReadTime	time = {UNREAD,.is_date = true};

	PG_RETURN_DATEADT(date_of(parsed_time(&time, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1))));
}

/* spanner_internal.parse_timestamp(format text, value text, zone text) returns timestamptz */
Datum
spanner_parse_timestamp(PG_FUNCTION_ARGS)
{
	SkReadTime	time = {UNREAD};
	Timestamp	local = parsed_time(&time, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1));
	SkZone		zone = zone_argument(PG_GETARG_TEXT_PP(2));

	if (time.has_offset)
		zone = (SkZone)
	{
		.offset = time.offset
	};
	if (time.has_seconds)
	{
		if (time.seconds < -(PG_INT64_MAX / USECS_PER_SEC) || time.seconds > PG_INT64_MAX / USECS_PER_SEC - UNIX_EPOCH / USECS_PER_SEC ||
			!IS_VALID_TIMESTAMP(time.seconds * USECS_PER_SEC - UNIX_EPOCH))
			out_of_range("timestamp");
		PG_RETURN_TIMESTAMPTZ(time.seconds * USECS_PER_SEC - UNIX_EPOCH);
	}
	PG_RETURN_TIMESTAMPTZ(moment_of(local, zone));
}

/*
 * spanner_internal.format(format text, VARIADIC items "any") returns text
 *
 * NULL if an item is, unless it is written by %t or %T.
 */
Datum
spanner_format(PG_FUNCTION_ARGS)
{
	int			argument = 1;
	StringInfoData result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	initStringInfo(&result);
	for (const char *s = text_to_cstring(PG_GETARG_TEXT_PP(0)); *s != '\0'; s++)
	{
		SkSpecifier specifier = {.plus = "",.precision = -1};
		const char *start = s;
		bool		is_any;
		Oid			type;

		if (*s != '%' || s[1] == '%')
		{
			appendStringInfoChar(&result, *s);
			s += *s == '%';
			continue;
		}
		for (s++; *s != '\0' && strchr("-+ 0", *s) != NULL; s++)
		{
			specifier.is_left |= *s == '-';
			specifier.has_zeros |= *s == '0';
			if (*s == '+' || (*s == ' ' && *specifier.plus == '\0'))
				specifier.plus = *s == '+' ? "+" : " ";
		}
		(void) read_number(&s, 6, &specifier.width);
		if (*s == '.')
		{
			s++;
			(void) read_number(&s, 6, &specifier.precision);
		}
		specifier.letter = *s;
		if (*s == '\0' || strchr("disxXfFeEgGtT", *s) == NULL || argument >= PG_NARGS())
			bad_format("format", start);
		is_any = *s == 't' || *s == 'T';
		type = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, argument));
		if (PG_ARGISNULL(argument) && !is_any)
			PG_RETURN_NULL();
		if (is_any)
		{
			StringInfoData text;

			initStringInfo(&text);
			write_value(&text, type, PG_ARGISNULL(argument) ? (Datum) 0 : PG_GETARG_DATUM(argument),
						PG_ARGISNULL(argument), *s == 'T' ? SK_STYLE_LITERAL : SK_STYLE_PLAIN);
			write_padded(&result, &specifier, NULL, text.data);
		}
		else
			write_specifier(&result, &specifier, type, PG_GETARG_DATUM(argument));
		argument++;
	}
	if (argument < PG_NARGS())
		bad_format("format", text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_TEXT_P(cstring_to_text(result.data));
}

static void
write_specifier(StringInfo out, SkSpecifier *specifier, Oid type, Datum value)
{
	SkDdlType	class = sk_ddl_type_class(type);
	int			precision = specifier->precision < 0 ? 6 : specifier->precision;
	char		letter = specifier->letter;
	int64		integer;
	unsigned long long magnitude;
	float8		number;
	char	   *digits;

	if (letter == 's' && (class == SK_TYPE_STRING || type == UNKNOWNOID))
		write_padded(out, specifier, NULL, type == UNKNOWNOID ? DatumGetCString(value) : TextDatumGetCString(value));
	else if (strchr("dixX", letter) != NULL && class == SK_TYPE_INT && specifier->precision < 0)
	{
		integer = type == INT8OID ? DatumGetInt64(value) : type == INT4OID ? DatumGetInt32(value) : DatumGetInt16(value);
		if (integer < 0 && (letter == 'x' || letter == 'X'))
			out_of_range("unsigned number");
		magnitude = integer < 0 ? 0 - (uint64) integer : (uint64) integer;
		digits = psprintf(letter == 'x' ? "%llx" : letter == 'X' ? "%llX" : "%llu", magnitude);
		write_padded(out, specifier, integer < 0 ? "-" : specifier->plus, digits);
	}
	else if (strchr("fF", letter) != NULL && class == SK_TYPE_NUMERIC)
	{
		digits = DatumGetCString(DirectFunctionCall1(numeric_out,
													 DirectFunctionCall2(numeric_round, value, Int32GetDatum(precision))));
		write_padded(out, specifier, *digits == '-' ? "-" : specifier->plus, digits + (*digits == '-'));
	}
	else if (strchr("fFeEgG", letter) != NULL && (class == SK_TYPE_FLOAT || class == SK_TYPE_FLOAT32))
	{
		number = float_value(type, value);
		digits = isnan(number) ? "nan" : isinf(number) ? "inf" :
			psprintf(psprintf("%%.*%c", pg_tolower((unsigned char) letter)), precision, fabs(number));
		specifier->has_zeros &= !isnan(number) && !isinf(number);
		if (letter < 'a')
			digits = asc_toupper(digits, strlen(digits));
		write_padded(out, specifier, !isnan(number) && signbit(number) ? "-" : specifier->plus, digits);
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("format() of %s with %%%c is not supported", format_type_be(type), letter)));
}

/* Write a text to a width; without a "sign" it is no number, and its precision is a length. */
static void
write_padded(StringInfo out, SkSpecifier *specifier, const char *sign, const char *value)
{
	int			length = strlen(value);
	int			missing;

	if (sign == NULL && specifier->precision >= 0)
		length = pg_mbcharcliplen(value, length, specifier->precision);
	missing = specifier->width - pg_mbstrlen_with_len(value, length) - (sign != NULL ? strlen(sign) : 0);
	if (!specifier->is_left && (!specifier->has_zeros || sign == NULL))
		appendStringInfoSpaces(out, Max(missing, 0));
	appendStringInfoString(out, sign != NULL ? sign : "");
	for (int i = 0; i < missing && specifier->has_zeros && sign != NULL && !specifier->is_left; i++)
		appendStringInfoChar(out, '0');
	appendBinaryStringInfo(out, value, length);
	if (specifier->is_left)
		appendStringInfoSpaces(out, Max(missing, 0));
}

/* A value in a style. */
static void
write_value(StringInfo out, Oid type, Datum value, bool is_null, SkStyle style)
{
	SkDdlType	class = type == UNKNOWNOID ? SK_TYPE_STRING : sk_ddl_type_class(type);
	bool		is_literal = style == SK_STYLE_LITERAL;
	bool		is_json = style == SK_STYLE_JSON;
	const char *quote = style == SK_STYLE_PLAIN ? "" : "\"";
	const char *string;
	Oid			output;
	bool		is_varlena;
	TimestampTz moment;

	if (is_null)
	{
		appendStringInfoString(out, is_json ? "null" : "NULL");
		return;
	}
	getTypeOutputInfo(type, &output, &is_varlena);
	switch (class)
	{
		case SK_TYPE_BOOL:
			appendStringInfoString(out, DatumGetBool(value) ? "true" : "false");
			return;
		case SK_TYPE_FLOAT:
			write_floating(out, float_value(type, value), 15, style);
			return;
		case SK_TYPE_FLOAT32:
			write_floating(out, float_value(type, value), 6, style);
			return;
		case SK_TYPE_NUMERIC:
			string = DatumGetCString(DirectFunctionCall1(numeric_out, DirectFunctionCall1(numeric_trim_scale, value)));
			appendStringInfo(out, is_literal ? "NUMERIC \"%s\"" : "%s", string);
			return;
		case SK_TYPE_INT:
		case SK_TYPE_JSON:
		case SK_TYPE_UUID:
			if (class != SK_TYPE_INT && !is_json)
				break;
			appendStringInfo(out, class == SK_TYPE_UUID ? "\"%s\"" : "%s", OidOutputFunctionCall(output, value));
			return;
		case SK_TYPE_STRING:
			string = OidOutputFunctionCall(output, value);
			if (is_literal)
				sk_ddl_write_quoted(out, string, strchr(string, '"') != NULL && strchr(string, '\'') == NULL ? '\'' : '"');
			else if (is_json)
				escape_json(out, string);
			else
				appendStringInfoString(out, string);
			return;
		case SK_TYPE_BYTES:
			appendStringInfo(out, "%s%s", is_literal ? "b" : "", quote);
			write_bytes(out, DatumGetByteaPP(value), style);
			appendStringInfoString(out, quote);
			return;
		case SK_TYPE_DATE:
			if (DATE_NOT_FINITE(DatumGetDateADT(value)))
				break;
			appendStringInfo(out, "%s%s", is_literal ? "DATE " : "", quote);
			write_local(out, "%E4Y-%m-%d", DatumGetDateADT(value), -1, 0);
			appendStringInfoString(out, quote);
			return;
		case SK_TYPE_TIMESTAMP:
			moment = DatumGetTimestampTz(value);
			if (TIMESTAMP_NOT_FINITE(moment))
				break;
			appendStringInfo(out, "%s%s", is_literal ? "TIMESTAMP " : "", quote);
			/* of seconds, milliseconds or microseconds */
			string = psprintf("%%E4Y-%%m-%%d%c%%H:%%M:%%E%dS%s", is_json ? 'T' : ' ',
							  moment % USECS_PER_SEC == 0 ? 0 : moment % 1000 == 0 ? 3 : 6, is_json ? "Z" : "+00");
			write_local(out, string, date_of(moment), moment - date_of(moment) * USECS_PER_DAY, 0);
			appendStringInfoString(out, quote);
			return;
		case SK_TYPE_ARRAY:
			write_elements(out, DatumGetArrayTypeP(value), style);
			return;
		default:
			break;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 is_json ? errmsg("value of type %s is not supported in JSON", format_type_be(type)) :
			 errmsg("format() of %s with %%t or %%T is not supported", format_type_be(type))));
}

/* In JSON they are base64, without the ends of its lines. */
static void
write_bytes(StringInfo out, bytea *value, SkStyle style)
{
	if (style == SK_STYLE_JSON)
		value = DatumGetByteaPP(DirectFunctionCall2(binary_encode, PointerGetDatum(value), CStringGetTextDatum("base64")));
	for (int i = 0; i < VARSIZE_ANY_EXHDR(value); i++)
	{
		unsigned char c = VARDATA_ANY(value)[i];

		if (style != SK_STYLE_JSON || c != '\n')
			appendStringInfo(out, c == '\\' || (style == SK_STYLE_LITERAL && c == '"') ? "\\%c" :
							 c >= ' ' && c < 0x7f ? "%c" : "\\x%02x", c);
	}
}

static void
write_elements(StringInfo out, ArrayType *array, SkStyle style)
{
	TypeCacheEntry *type = lookup_type_cache(ARR_ELEMTYPE(array), 0);
	Datum	   *values;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, type->type_id, type->typlen, type->typbyval, type->typalign, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		appendStringInfoString(out, i == 0 ? "[" : ", ");
		write_value(out, getBaseType(type->type_id), values[i], nulls[i], style);
	}
	appendStringInfoString(out, count == 0 ? "[]" : "]");
}

/* A FLOAT32, a FLOAT64, or a literal, which has the form of a numeric */
static float8
float_value(Oid type, Datum value)
{
	return type == FLOAT4OID ? DatumGetFloat4(value) : type == FLOAT8OID ? DatumGetFloat8(value) :
		DatumGetFloat8(DirectFunctionCall1(numeric_float8, value));
}

/* A float is never written as an integer. */
static void
write_floating(StringInfo out, float8 value, int digits, SkStyle style)
{
	char	   *text = style == SK_STYLE_JSON ? double_to_shortest_decimal(value) : float_text(value, digits);
	bool		is_finite = !isnan(value) && !isinf(value);

	if (!is_finite && style == SK_STYLE_JSON)
		appendStringInfo(out, "\"%s\"", text);
	else if (!is_finite && style == SK_STYLE_LITERAL)
		appendStringInfo(out, "CAST(\"%s\" AS FLOAT%d)", text, digits == 6 ? 32 : 64);
	else
		appendStringInfo(out, "%s%s", text, is_finite && strpbrk(text, ".e") == NULL ? ".0" : "");
}

/* spanner_internal.json_array(VARIADIC items "any") returns jsonb */
Datum
spanner_json_array(PG_FUNCTION_ARGS)
{
	StringInfoData json;

	initStringInfo(&json);
	for (int i = 0; i < PG_NARGS(); i++)
		appendStringInfo(&json, "%s%s", i > 0 ? "," : "[", argument_json(fcinfo, i));
	appendStringInfoString(&json, PG_NARGS() > 0 ? "]" : "[]");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/*
 * spanner_internal.json_object(VARIADIC items "any") returns jsonb
 *
 * Of keys and values by turns; of members with one key, jsonb takes the last,
 * which is the first one of these.
 */
Datum
spanner_json_object(PG_FUNCTION_ARGS)
{
	StringInfoData json;

	if (PG_NARGS() % 2 != 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("a JSON object needs as many values as keys")));
	initStringInfo(&json);
	for (int i = PG_NARGS() - 2; i >= 0; i -= 2)
		appendStringInfo(&json, "%s%s:%s", i < PG_NARGS() - 2 ? "," : "{", argument_json(fcinfo, i),
						 argument_json(fcinfo, i + 1));
	appendStringInfoString(&json, PG_NARGS() > 0 ? "}" : "{}");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/* An argument of any type as a JSON text. */
static const char *
argument_json(FunctionCallInfo fcinfo, int argument)
{
	StringInfoData text;

	initStringInfo(&text);
	write_value(&text, getBaseType(get_fn_expr_argtype(fcinfo->flinfo, argument)),
				PG_ARGISNULL(argument) ? (Datum) 0 : PG_GETARG_DATUM(argument), PG_ARGISNULL(argument), SK_STYLE_JSON);
	return text.data;
}

/*
 * spanner_internal.json_text(value text, order integer) returns text
 *
 * JSON without blanks.
 */
Datum
spanner_json_text(PG_FUNCTION_ARGS)
{
	const char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));
	StringInfoData result;

	/* raises an error if it is none */
	(void) DirectFunctionCall1(json_in, CStringGetDatum(value));
	initStringInfo(&result);
	copy_json(&result, &value, PG_GETARG_INT32(1));
	PG_RETURN_TEXT_P(cstring_to_text_with_len(result.data, result.len));
}

/*
 * Copy JSON, with members of objects in the order of their keys if that is 1,
 * as they are if 0, and from the last one if -1.
 */
static void
copy_json(StringInfo out, const char **input, int order)
{
	const char *s = *input + strspn(*input, BLANKS);
	const char *start = s;
	List	   *parts = NIL;
	ListCell   *lc;
	float8		number;

	check_stack_depth();
	if (*start == '{' || *start == '[')
	{
		/* in ASCII, the closing ones follow after one more */
		for (s++; s += strspn(s, BLANKS ","), *s != *start + 2;)
		{
			StringInfoData part;

			initStringInfo(&part);
			copy_json(&part, &s, order);
			s += strspn(s, BLANKS);
			if (*s == ':')
			{
				appendStringInfoChar(&part, *s++);
				copy_json(&part, &s, order);
			}
			parts = order < 0 && *start == '{' ? lcons(part.data, parts) : lappend(parts, part.data);
		}
		if (order > 0 && *start == '{')
			list_sort(parts, compare_members);
		appendStringInfoChar(out, *start);
		foreach(lc, parts)
			appendStringInfo(out, "%s%s", lc == list_head(parts) ? "" : ",", (char *) lfirst(lc));
		appendStringInfoChar(out, *start + 2);
		*input = s + 1;
		return;
	}
	if (*s == '"')
	{
		for (s++; *s != '"'; s++)
			s += *s == '\\';
		*input = s + 1;
	}
	else
		*input = s + strcspn(s, ",:]}" BLANKS);
	start = pnstrdup(start, *input - start);

	/* a number is a FLOAT64, unless it is an integer or may need more digits */
	if ((*start == '-' || isdigit((unsigned char) *start)) && read_float(start, &number) && !isinf(number) &&
		(order > 0 ? strpbrk(start, ".eE") != NULL || strlen(start) > 20 :
		 order < 0 && strpbrk(start, ".eE") != NULL && strlen(start) <= 17))
		write_floating(out, number, 0, SK_STYLE_JSON);
	else
		appendStringInfoString(out, start);
}

/* By their keys: the quote that ends one is less than all that may go on. */
static int
compare_members(const ListCell *a, const ListCell *b)
{
	const unsigned char *s = lfirst(a);
	const unsigned char *t = lfirst(b);

	for (; *s == *t && *s != '\0'; s++)
		t++;
	return (*s == '"' ? 0 : *s) - (*t == '"' ? 0 : *t);
}
