/*-------------------------------------------------------------------------
 *
 * vocabulary.c
 *	  What GoogleSQL has, and what PostgreSQL has for it: types, casts,
 *	  functions, regular expressions, time zones.
 *
 * Expressions are read by these tables, and an export reads them backward.
 *
 * In what a call becomes, $1 is its first argument, %1 the same in parentheses
 * where it needs them, $* all arguments, $| all joined with ||, %z the time
 * zone of the database as a text, and %Z as AT TIME ZONE takes it.
 *
 * In place of '.', an argument PART, such as DAY, is written 'p', a regular
 * expression 'r', and a time zone, which may be left out, 'z'.  A second word
 * of a name is the PART, or the type of the arguments.
 *
 * To add a function, add a line.  It has to mean the same for all arguments,
 * NULLs included, and has to be immutable if it is in GoogleSQL.
 *
 * src/spanner_ddl/vocabulary.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/formatting.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "keys/time_zone.h"
#include "spanner_ddl/spanner_ddl.h"
#include "spanner_keys.h"

PG_FUNCTION_INFO_V1(spanner_float_to_int);
PG_FUNCTION_INFO_V1(spanner_float_to_numeric);
PG_FUNCTION_INFO_V1(spanner_shift_left);
PG_FUNCTION_INFO_V1(spanner_shift_right);
PG_FUNCTION_INFO_V1(spanner_white_space);

/* A type, in one of the dialects or in both. */
typedef struct SkTypeEntry
{
	const char *name;
	const char *postgresql;
	SkDdlType	type;
	int			max_length;		/* 0: it has none */
	char		dialect;		/* 'g', 'p', or 'b' for both */
} SkTypeEntry;

static const SkTypeEntry types[] = {
	{"int64", "bigint", SK_TYPE_INT, 0, 'g'},
	{"float64", "double precision", SK_TYPE_FLOAT, 0, 'g'},
	{"float32", "real", SK_TYPE_FLOAT32, 0, 'g'},
	{"bool", "boolean", SK_TYPE_BOOL, 0, 'b'},
	{"string", "text", SK_TYPE_STRING, 2621440, 'g'},
	{"bytes", "bytea", SK_TYPE_BYTES, 10485760, 'g'},
	{"timestamp", "timestamptz", SK_TYPE_TIMESTAMP, 0, 'g'},
	{"date", "date", SK_TYPE_DATE, 0, 'b'},
	{"numeric", "numeric(38,9)", SK_TYPE_NUMERIC, 0, 'g'},
	{"json", "jsonb", SK_TYPE_JSON, 0, 'g'},
	{"uuid", "uuid", SK_TYPE_UUID, 0, 'b'},
	{"pg.numeric", "numeric", SK_TYPE_NUMERIC, 0, 'g'},
	{"pg.jsonb", "jsonb", SK_TYPE_JSON, 0, 'g'},
	{"bigint", "bigint", SK_TYPE_INT, 0, 'p'},
	{"int8", "bigint", SK_TYPE_INT, 0, 'p'},
	{"integer", "integer", SK_TYPE_INT, 0, 'p'},
	{"int", "integer", SK_TYPE_INT, 0, 'p'},
	{"int4", "integer", SK_TYPE_INT, 0, 'p'},
	{"smallint", "smallint", SK_TYPE_INT, 0, 'p'},
	{"int2", "smallint", SK_TYPE_INT, 0, 'p'},
	{"bigserial", "bigserial", SK_TYPE_INT, 0, 'p'},
	{"serial8", "bigserial", SK_TYPE_INT, 0, 'p'},
	{"serial", "serial", SK_TYPE_INT, 0, 'p'},
	{"serial4", "serial", SK_TYPE_INT, 0, 'p'},
	{"smallserial", "smallserial", SK_TYPE_INT, 0, 'p'},
	{"serial2", "smallserial", SK_TYPE_INT, 0, 'p'},
	{"real", "real", SK_TYPE_FLOAT32, 0, 'p'},
	{"float4", "real", SK_TYPE_FLOAT32, 0, 'p'},
	{"float8", "double precision", SK_TYPE_FLOAT, 0, 'p'},
	{"double precision", "double precision", SK_TYPE_FLOAT, 0, 'p'},
	{"boolean", "boolean", SK_TYPE_BOOL, 0, 'p'},
	{"text", "text", SK_TYPE_STRING, 0, 'p'},
	{"varchar", "text", SK_TYPE_STRING, 2621440, 'p'},
	{"character varying", "text", SK_TYPE_STRING, 2621440, 'p'},
	{"bytea", "bytea", SK_TYPE_BYTES, 0, 'p'},
	{"timestamptz", "timestamptz", SK_TYPE_TIMESTAMP, 0, 'p'},
	{"timestamp with time zone", "timestamptz", SK_TYPE_TIMESTAMP, 0, 'p'},
	{"spanner.commit_timestamp", "spanner.commit_timestamp", SK_TYPE_TIMESTAMP, 0, 'p'},
	{"numeric", "numeric", SK_TYPE_NUMERIC, 0, 'p'},
	{"decimal", "numeric", SK_TYPE_NUMERIC, 0, 'p'},
	{"jsonb", "jsonb", SK_TYPE_JSON, 0, 'p'}
};

/* A cast, written as calls are. */
static const struct
{
	SkDdlType	from;
	SkDdlType	to;
	const char *sql;
}			casts[] =

{
	{SK_TYPE_BOOL, SK_TYPE_INT, "%1::integer::bigint"},
	{SK_TYPE_BOOL, SK_TYPE_STRING, "%1::text"},
	{SK_TYPE_BYTES, SK_TYPE_STRING, "spanner_internal.bytes_to_string($1)"},
	{SK_TYPE_DATE, SK_TYPE_STRING, "pg_catalog.\"left\"(spanner.timestamp_to_string(%1::timestamp AT TIME ZONE 'UTC'), 10)"},
	{SK_TYPE_DATE, SK_TYPE_TIMESTAMP, "(%1::timestamp AT TIME ZONE %Z)"},
	{SK_TYPE_FLOAT, SK_TYPE_FLOAT32, "%1::real"},
	{SK_TYPE_FLOAT, SK_TYPE_INT, "spanner_internal.float_to_int($1)"},
	{SK_TYPE_FLOAT, SK_TYPE_NUMERIC, "spanner_internal.float_to_numeric($1)"},
	{SK_TYPE_FLOAT32, SK_TYPE_FLOAT, "%1::double precision"},
	{SK_TYPE_FLOAT32, SK_TYPE_INT, "spanner_internal.float_to_int($1)"},
	{SK_TYPE_FLOAT32, SK_TYPE_NUMERIC, "spanner_internal.float_to_numeric($1)"},
	{SK_TYPE_INT, SK_TYPE_BOOL, "(%1 <> 0)"},
	{SK_TYPE_INT, SK_TYPE_FLOAT, "%1::double precision"},
	{SK_TYPE_INT, SK_TYPE_FLOAT32, "%1::real"},
	{SK_TYPE_INT, SK_TYPE_NUMERIC, "%1::numeric"},
	{SK_TYPE_INT, SK_TYPE_STRING, "%1::text"},
	{SK_TYPE_NUMERIC, SK_TYPE_FLOAT, "%1::double precision"},
	{SK_TYPE_NUMERIC, SK_TYPE_FLOAT32, "%1::real"},
	{SK_TYPE_NUMERIC, SK_TYPE_INT, "%1::bigint"},
	{SK_TYPE_NUMERIC, SK_TYPE_STRING, "pg_catalog.trim_scale($1)::text"},
	{SK_TYPE_STRING, SK_TYPE_BOOL, "%1::boolean"},
	{SK_TYPE_STRING, SK_TYPE_BYTES, "spanner_internal.string_to_bytes($1)"},
	{SK_TYPE_STRING, SK_TYPE_DATE, "%1::date"},
	{SK_TYPE_STRING, SK_TYPE_FLOAT, "%1::double precision"},
	{SK_TYPE_STRING, SK_TYPE_FLOAT32, "%1::real"},
	{SK_TYPE_STRING, SK_TYPE_INT, "%1::bigint"},
	{SK_TYPE_STRING, SK_TYPE_NUMERIC, "%1::numeric(38,9)"},
	{SK_TYPE_STRING, SK_TYPE_UUID, "%1::uuid"},
	{SK_TYPE_TIMESTAMP, SK_TYPE_DATE, "(%1 AT TIME ZONE %Z)::date"},
	{SK_TYPE_TIMESTAMP, SK_TYPE_STRING, "spanner.timestamp_to_string($1, %z)"},
	{SK_TYPE_UUID, SK_TYPE_STRING, "%1::text"}
};

/* A place before the first character counts from the end. */
#define SUBSTR_START \
	"CASE WHEN $2 > 0 THEN $2 WHEN $2 = 0 THEN 1 ELSE greatest(pg_catalog.length($1) + $2 + 1, 1) END"

/* Local times lead back to a time of the same offset only if they are of days. */
#define TRUNCATED_DAYS(part) \
	"(pg_catalog.date_trunc('" part "', %1 AT TIME ZONE $3) AT TIME ZONE $3)"
#define TRUNCATED_HOURS(part) \
	"((%1 AT TIME ZONE 'UTC' - (%1 AT TIME ZONE $3 - pg_catalog.date_trunc('" part "', %1 AT TIME ZONE $3))) AT TIME ZONE 'UTC')"

const SkDdlFunction sk_ddl_functions[] = {
	{"abs", ".", SK_TYPE_OF_FIRST, "pg_catalog.abs($1)"},
	{"array_includes", "..", SK_TYPE_BOOL, "CASE WHEN pg_catalog.num_nulls($1, $2) = 0 THEN COALESCE($2 = ANY ($1), false) END"},
	{"array_length", ".", SK_TYPE_INT, "pg_catalog.cardinality($1)::bigint"},
	{"array_to_string", "..", SK_TYPE_STRING, "spanner_internal.array_to_string($1, $2)"},
	{"avg", ".", SK_TYPE_FLOAT, "pg_catalog.avg($1)::double precision"},
	{"avg numeric", ".", SK_TYPE_NUMERIC, "pg_catalog.avg($1)::numeric(38,9)"},
	{"bit_reverse", "..", SK_TYPE_INT, "spanner.bit_reverse($1, $2)"},
	{"byte_length", ".", SK_TYPE_INT, "pg_catalog.octet_length($1)::bigint"},
	{"ceil", ".", SK_TYPE_REAL, "pg_catalog.ceil($1)"},
	{"char_length", ".", SK_TYPE_INT, "pg_catalog.char_length($1)::bigint"},
	{"character_length", ".", SK_TYPE_INT, "pg_catalog.char_length($1)::bigint"},
	{"coalesce", "*", SK_TYPE_OF_ALL, "COALESCE($*)"},
	{"concat", "*", SK_TYPE_OF_FIRST, "($|)"},
	{"count", ".", SK_TYPE_INT, "pg_catalog.count($1)"},
	{"countif", ".", SK_TYPE_INT, "pg_catalog.count(*) FILTER (WHERE $1)"},
	{"current_date", "z", SK_TYPE_DATE, "(CURRENT_TIMESTAMP AT TIME ZONE $1)::date"},
	{"current_timestamp", "", SK_TYPE_TIMESTAMP, "CURRENT_TIMESTAMP"},
	{"date", ".z", SK_TYPE_DATE, "(%1 AT TIME ZONE $2)::date"},
	{"date", "...", SK_TYPE_DATE, "pg_catalog.make_date(($1)::integer, ($2)::integer, ($3)::integer)"},
	{"div", "..", SK_TYPE_OF_ALL, "(%1 / %2)"},
	{"div numeric", "..", SK_TYPE_NUMERIC, "pg_catalog.div($1, $2)"},
	{"ends_with", "..", SK_TYPE_BOOL, "(pg_catalog.\"right\"($1, pg_catalog.length($2)) = $2)"},
	{"farm_fingerprint", ".", SK_TYPE_INT, "spanner.farm_fingerprint($1)"},
	{"floor", ".", SK_TYPE_REAL, "pg_catalog.floor($1)"},
	{"from_hex", ".", SK_TYPE_BYTES, "pg_catalog.decode($1, 'hex')"},
	{"generate_uuid", "", SK_TYPE_STRING, "spanner.generate_uuid()"},
	{"greatest", "*", SK_TYPE_OF_ALL, "CASE WHEN pg_catalog.num_nulls($*) = 0 THEN GREATEST($*) END"},
	{"if", "...", SK_TYPE_OF_BRANCHES, "CASE WHEN $1 THEN $2 ELSE $3 END"},
	{"ifnull", "..", SK_TYPE_OF_ALL, "COALESCE($1, $2)"},
	{"least", "*", SK_TYPE_OF_ALL, "CASE WHEN pg_catalog.num_nulls($*) = 0 THEN LEAST($*) END"},
	{"left", "..", SK_TYPE_OF_FIRST, "pg_catalog.\"left\"($1, ($2)::integer)"},
	{"length", ".", SK_TYPE_INT, "pg_catalog.length($1)::bigint"},
	{"logical_and", ".", SK_TYPE_BOOL, "pg_catalog.bool_and($1)"},
	{"logical_or", ".", SK_TYPE_BOOL, "pg_catalog.bool_or($1)"},
	{"lower", ".", SK_TYPE_STRING, "pg_catalog.lower($1)"},
	{"ltrim", ".", SK_TYPE_OF_FIRST, "pg_catalog.ltrim($1, spanner_internal.white_space())"},
	{"ltrim", "..", SK_TYPE_OF_FIRST, "pg_catalog.ltrim($1, $2)"},
	{"max", ".", SK_TYPE_OF_FIRST, "pg_catalog.max($1)"},
	{"min", ".", SK_TYPE_OF_FIRST, "pg_catalog.min($1)"},
	{"mod", "..", SK_TYPE_OF_ALL, "pg_catalog.mod($1, $2)"},
	{"new_uuid", "", SK_TYPE_UUID, "pg_catalog.gen_random_uuid()"},
	{"nullif", "..", SK_TYPE_OF_FIRST, "NULLIF($1, $2)"},
	{"pending_commit_timestamp", "", SK_TYPE_TIMESTAMP, "spanner.pending_commit_timestamp()"},
	{"pow", "..", SK_TYPE_FLOAT, "pg_catalog.power(($1)::double precision, ($2)::double precision)"},
	{"power", "..", SK_TYPE_FLOAT, "pg_catalog.power(($1)::double precision, ($2)::double precision)"},
	{"regexp_contains", ".r", SK_TYPE_BOOL, "(%1 ~ $2)"},
	{"repeat", "..", SK_TYPE_OF_FIRST, "pg_catalog.repeat($1, ($2)::integer)"},
	{"replace", "...", SK_TYPE_OF_FIRST, "pg_catalog.replace($1, $2, $3)"},
	{"reverse", ".", SK_TYPE_STRING, "pg_catalog.reverse($1)"},
	{"right", "..", SK_TYPE_OF_FIRST, "pg_catalog.\"right\"($1, ($2)::integer)"},
	{"rtrim", ".", SK_TYPE_OF_FIRST, "pg_catalog.rtrim($1, spanner_internal.white_space())"},
	{"rtrim", "..", SK_TYPE_OF_FIRST, "pg_catalog.rtrim($1, $2)"},
	{"sha256", ".", SK_TYPE_BYTES, "pg_catalog.sha256($1)"},
	{"sha256 string", ".", SK_TYPE_BYTES, "pg_catalog.sha256(spanner_internal.string_to_bytes($1))"},
	{"sha512", ".", SK_TYPE_BYTES, "pg_catalog.sha512($1)"},
	{"sha512 string", ".", SK_TYPE_BYTES, "pg_catalog.sha512(spanner_internal.string_to_bytes($1))"},
	{"sqrt", ".", SK_TYPE_FLOAT, "pg_catalog.sqrt(($1)::double precision)"},
	{"starts_with", "..", SK_TYPE_BOOL, "pg_catalog.starts_with($1, $2)"},
	{"string", ".", SK_TYPE_STRING, "spanner.timestamp_to_string($1, %z)"},
	{"string", "..", SK_TYPE_STRING, "spanner.timestamp_to_string($1, $2)"},
	{"strpos", "..", SK_TYPE_INT, "pg_catalog.strpos($1, $2)::bigint"},
	{"substr", "..", SK_TYPE_OF_FIRST, "pg_catalog.substr($1, (" SUBSTR_START ")::integer)"},
	{"substr", "...", SK_TYPE_OF_FIRST, "pg_catalog.substr($1, (" SUBSTR_START ")::integer, ($3)::integer)"},
	{"sum", ".", SK_TYPE_OF_FIRST, "pg_catalog.sum($1)"},
	{"timestamp_add", "..", SK_TYPE_TIMESTAMP, "((%1 AT TIME ZONE 'UTC' + $2) AT TIME ZONE 'UTC')"},
	{"timestamp_micros", ".", SK_TYPE_TIMESTAMP, "(pg_catalog.to_timestamp(0) + $1 * interval '1 microsecond')"},
	{"timestamp_millis", ".", SK_TYPE_TIMESTAMP, "pg_catalog.to_timestamp(($1)::double precision / 1000)"},
	{"timestamp_seconds", ".", SK_TYPE_TIMESTAMP, "pg_catalog.to_timestamp(($1)::double precision)"},
	{"timestamp_sub", "..", SK_TYPE_TIMESTAMP, "((%1 AT TIME ZONE 'UTC' - $2) AT TIME ZONE 'UTC')"},
	{"timestamp_trunc day", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_DAYS("day")},
	{"timestamp_trunc hour", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_HOURS("hour")},
	{"timestamp_trunc isoweek", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_DAYS("week")},
	{"timestamp_trunc microsecond", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_HOURS("microseconds")},
	{"timestamp_trunc millisecond", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_HOURS("milliseconds")},
	{"timestamp_trunc minute", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_HOURS("minute")},
	{"timestamp_trunc month", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_DAYS("month")},
	{"timestamp_trunc quarter", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_DAYS("quarter")},
	{"timestamp_trunc second", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_HOURS("second")},
	{"timestamp_trunc week", ".pz", SK_TYPE_TIMESTAMP, "((pg_catalog.date_trunc('week', %1 AT TIME ZONE $3 + interval '1 day') - interval '1 day') AT TIME ZONE $3)"},
	{"timestamp_trunc year", ".pz", SK_TYPE_TIMESTAMP, TRUNCATED_DAYS("year")},
	{"to_base64", ".", SK_TYPE_STRING, "pg_catalog.translate(pg_catalog.encode($1, 'base64'), pg_catalog.chr(10), '')"},
	{"to_hex", ".", SK_TYPE_STRING, "pg_catalog.encode($1, 'hex')"},
	{"trim", ".", SK_TYPE_OF_FIRST, "pg_catalog.btrim($1, spanner_internal.white_space())"},
	{"trim", "..", SK_TYPE_OF_FIRST, "pg_catalog.btrim($1, $2)"},
	{"unix_micros", ".", SK_TYPE_INT, "pg_catalog.floor(extract(epoch FROM %1 AT TIME ZONE 'UTC') * 1000000)::bigint"},
	{"unix_millis", ".", SK_TYPE_INT, "pg_catalog.floor(extract(epoch FROM %1 AT TIME ZONE 'UTC') * 1000)::bigint"},
	{"unix_seconds", ".", SK_TYPE_INT, "pg_catalog.floor(extract(epoch FROM %1 AT TIME ZONE 'UTC'))::bigint"},
	{"upper", ".", SK_TYPE_STRING, "pg_catalog.upper($1)"},
	{NULL}
};

/* SK_IS_NUMBER() and what is of two types depend on their order. */
StaticAssertDecl(SK_TYPE_INT + 1 == SK_TYPE_NUMERIC && SK_TYPE_NUMERIC + 1 == SK_TYPE_FLOAT32 &&
				 SK_TYPE_FLOAT32 + 1 == SK_TYPE_FLOAT, "numbers are not in order");

static char *default_time_zone = "";

static bool check_time_zone(char **newval, void **extra, GucSource source);
static uint64 shift(uint64 value, int64 places, bool is_left);

/*
 * sk_spanner_ddl_init
 *		Define the setting of this module.
 */
void
sk_spanner_ddl_init(void)
{
	DefineCustomStringVariable("spanner.default_time_zone",
							   "Sets the time zone in which Spanner's expressions see timestamps.",
							   "Empty means Spanner's own default, America/Los_Angeles.",
							   &default_time_zone,
							   "",
							   PGC_USERSET,
							   0,
							   check_time_zone, NULL, NULL);
}

/*
 * sk_ddl_type
 *		Append PostgreSQL's name of a type to "out", and return its class.
 */
SkDdlType
sk_ddl_type(SkDdlText *ddl, const SkTypeName *name, StringInfo out)
{
	const SkTypeEntry *entry = NULL;

	for (int i = 0; i < lengthof(types) && entry == NULL; i++)
	{
		if (strcmp(types[i].name, name->name) == 0 &&
			(types[i].dialect != 'g' || ddl->dialect == SK_GOOGLESQL) &&
			(types[i].dialect != 'p' || ddl->dialect == SK_POSTGRESQL))
			entry = &types[i];
	}
	if (entry == NULL)
		SK_DDL_ERROR(ddl, name->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Type <%s> is not supported.", name->name),
					 strcmp(name->name, "timestamp") == 0 ? errhint("Use timestamptz.") : 0);
	if ((name->length != 0 && entry->max_length == 0) || name->scale != 0 ||
		(name->length == 0 && entry->max_length != 0 && entry->dialect == 'g'))
		SK_DDL_ERROR(ddl, name->at, ERRCODE_SYNTAX_ERROR,
					 entry->max_length == 0 ? errmsg("type \"%s\" has no length", name->name) :
					 errmsg("type \"%s\" needs a length, or MAX", name->name));
	if (name->length < -1 || (name->length > entry->max_length && entry->max_length != 0))
		SK_DDL_ERROR(ddl, name->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("length of type \"%s\" must be between 1 and %d",
							name->name, entry->max_length));
	if (entry->type == SK_TYPE_STRING && name->length > 0)
		appendStringInfo(out, "varchar(%d)", (int) name->length);
	else
		appendStringInfoString(out, entry->postgresql);
	if (name->is_array)
		appendStringInfoString(out, "[]");
	return name->is_array ? SK_TYPE_ARRAY : entry->type;
}

/*
 * sk_ddl_type_class
 *		The class of a column's type.
 */
SkDdlType
sk_ddl_type_class(Oid type)
{
	static const struct
	{
		Oid			type;
		SkDdlType	class;
	}			classes[] =
	{
		{BOOLOID, SK_TYPE_BOOL}, {BYTEAOID, SK_TYPE_BYTES}, {DATEOID, SK_TYPE_DATE},
		{FLOAT4OID, SK_TYPE_FLOAT32}, {FLOAT8OID, SK_TYPE_FLOAT}, {INT2OID, SK_TYPE_INT},
		{INT4OID, SK_TYPE_INT}, {INT8OID, SK_TYPE_INT}, {INTERVALOID, SK_TYPE_INTERVAL},
		{JSONBOID, SK_TYPE_JSON}, {NUMERICOID, SK_TYPE_NUMERIC}, {TEXTOID, SK_TYPE_STRING},
		{TIMESTAMPTZOID, SK_TYPE_TIMESTAMP}, {UUIDOID, SK_TYPE_UUID}, {VARCHAROID, SK_TYPE_STRING}
	};
	Oid			base;

	/* an expression that is read may be older than a DROP TYPE */
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		return SK_TYPE_UNKNOWN;
	base = getBaseType(type);
	for (int i = 0; i < lengthof(classes); i++)
	{
		if (classes[i].type == base)
			return classes[i].class;
	}
	return OidIsValid(get_element_type(type)) ? SK_TYPE_ARRAY : SK_TYPE_UNKNOWN;
}

/*
 * sk_ddl_type_name
 *		GoogleSQL's name of a class: the first one.
 */
const char *
sk_ddl_type_name(SkDdlType type)
{
	for (int i = 0; i < lengthof(types); i++)
	{
		if (types[i].type == type)
			return asc_toupper(types[i].name, strlen(types[i].name));
	}
	return "ARRAY";
}

/*
 * sk_ddl_cast
 *		How values of one class become those of another; NULL if they do not.
 */
const char *
sk_ddl_cast(SkDdlType from, SkDdlType to)
{
	for (int i = 0; i < lengthof(casts); i++)
	{
		if (casts[i].from == from && casts[i].to == to)
			return casts[i].sql;
	}
	return from == to ? "%1" : NULL;
}

/*
 * sk_ddl_regex
 *		PostgreSQL's text of a regular expression of GoogleSQL; NULL if it has
 *		something that means another thing there.
 */
char *
sk_ddl_regex(const char *regex)
{
	static const char *const classes[] = {"d0-9", "w0-9A-Za-z_", "s\\t\\n\\f\\r "};
	StringInfoData result;
	bool		in_class = false;

	initStringInfo(&result);
	if (strncmp(regex, "***", 3) == 0)
		return NULL;
	for (const char *s = regex; *s != '\0'; s++)
	{
		const char *class = NULL;

		for (int i = 0; *s == '\\' && i < lengthof(classes); i++)
			class = pg_tolower((unsigned char) s[1]) == (unsigned char) classes[i][0] ? classes[i] + 1 : class;
		if (class != NULL)
		{
			bool		negated = *++s < 'a';

			if (in_class && negated)
				return NULL;
			appendStringInfo(&result, in_class ? "%s%s" : "[%s%s]", negated ? "^" : "", class);
		}
		else if (*s == '\\' && s[1] != '\0' && strchr("nrtfv.,:;!@#%&=~'\"/\\-+*?()[]{}|^$_ ", s[1]) != NULL)
			appendStringInfo(&result, "\\%c", *++s);
		else if (*s == '\\' || (!in_class && s[0] == '(' && s[1] == '?' && s[2] != ':') ||
				 (in_class && *s == '[') || (!in_class && s[0] == '[' && s[1 + (s[1] == '^')] == ']'))
			return NULL;
		else if (*s == '.' && !in_class)
			appendStringInfoString(&result, "[^\\n]");
		else
		{
			in_class = *s == '[' || (in_class && *s != ']');
			appendStringInfoChar(&result, *s);
		}
	}
	return result.data;
}

/*
 * sk_ddl_time_zone
 *		The time zone of this database's expressions.
 */
const char *
sk_ddl_time_zone(void)
{
	return *default_time_zone != '\0' ? default_time_zone : "America/Los_Angeles";
}

/*
 * sk_ddl_zone_operand
 *		A time zone as AT TIME ZONE takes it; NULL if it takes no such zone.
 *
 * In a text, PostgreSQL counts offsets west of UTC, and in an interval, east.
 */
const char *
sk_ddl_zone_operand(const char *zone)
{
	/* with summers in GoogleSQL, and fixed offsets in PostgreSQL */
	static const char *const ambiguous[] = {"CET", "EET", "MET", "WET"};
	pg_tz	   *found;
	int			offset;

	if (!sk_parse_time_zone(zone, &found, &offset))
		return NULL;
	for (int i = 0; i < lengthof(ambiguous); i++)
	{
		if (pg_strcasecmp(zone, ambiguous[i]) == 0)
			return NULL;
	}
	if (*zone != '+' && *zone != '-')
		return quote_literal_cstr(zone);
	return psprintf("interval '%c%02d:%02d'", offset < 0 ? '-' : '+', abs(offset) / MINS_PER_HOUR,
					abs(offset) % MINS_PER_HOUR);
}

static bool
check_time_zone(char **newval, void **extra, GucSource source)
{
	if (**newval == '\0' || sk_ddl_zone_operand(*newval) != NULL)
		return true;
	GUC_check_errhint(SK_TIME_ZONE_HINT);
	return false;
}

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
