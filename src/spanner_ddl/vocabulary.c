/*-------------------------------------------------------------------------
 *
 * vocabulary.c
 *	  What GoogleSQL has, and what PostgreSQL has for it: types, functions,
 *	  regular expressions, time zones.
 *
 * Expressions are written by these tables, and an export reads them backward.
 *
 * To add a function of which PostgreSQL's own does the same for all arguments,
 * NULLs included, add it here; for another one add overloads to googlesql.sql
 * as well.  It has to be immutable if it is in GoogleSQL.
 *
 * src/spanner_ddl/vocabulary.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "keys/time_zone.h"
#include "spanner_ddl/spanner_ddl.h"
#include "spanner_keys.h"
#include "spi/own_objects.h"

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
	{"integer", "bigint", SK_TYPE_INT, 0, 'p'},
	{"int", "bigint", SK_TYPE_INT, 0, 'p'},
	{"int4", "bigint", SK_TYPE_INT, 0, 'p'},
	{"bigserial", "bigserial", SK_TYPE_INT, 0, 'p'},
	{"serial8", "bigserial", SK_TYPE_INT, 0, 'p'},
	{"serial", "bigserial", SK_TYPE_INT, 0, 'p'},
	{"serial4", "bigserial", SK_TYPE_INT, 0, 'p'},
	{"smallserial", "bigserial", SK_TYPE_INT, 0, 'p'},
	{"serial2", "bigserial", SK_TYPE_INT, 0, 'p'},
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

/* A function with the name that it has in PostgreSQL, in our own schema, or with another one. */
#define CORE(name) {name, "pg_catalog", name}
#define OURS(name) {name, "spanner_internal", name}
#define WITH_PART(name, part, zone) {name, "spanner_internal", name, part, zone}

const SkDdlFunction sk_ddl_functions[] = {
	CORE("abs"), CORE("acos"), CORE("acosh"), CORE("array_agg"), OURS("array_concat"), OURS("array_first"),
	OURS("array_includes"), OURS("array_includes_all"), OURS("array_includes_any"), OURS("array_last"),
	OURS("array_length"), OURS("array_reverse"), OURS("array_to_string"), OURS("ascii"), CORE("asin"), CORE("asinh"), CORE("atan"),
	CORE("atan2"), CORE("atanh"), OURS("avg"), CORE("bit_and"), OURS("bit_count"), CORE("bit_or"),
	{"bit_reverse", "spanner", "bit_reverse"}, CORE("bit_xor"), OURS("bool"), OURS("byte_length"), CORE("ceil"),
	{"ceiling", "pg_catalog", "ceil"}, OURS("char_length"), {"character_length", "spanner_internal", "char_length"},
	OURS("chr"), CORE("cbrt"), CORE("cos"), CORE("cosh"), CORE("count"), CORE("cume_dist"), CORE("dense_rank"), CORE("first_value"), CORE("last_value"),
	CORE("percent_rank"), CORE("rank"), CORE("row_number"), WITH_PART("date", 0, 2), WITH_PART("date_add", 3, 0),
	WITH_PART("date_diff", 3, 0), OURS("date_from_unix_date"), WITH_PART("date_sub", 3, 0),
	WITH_PART("date_trunc", 2, 0), OURS("div"), OURS("ends_with"), OURS("exp"), WITH_PART("extract", 1, 3),
	{"farm_fingerprint", "spanner", "farm_fingerprint"}, OURS("float64"), CORE("floor"), OURS("from_base64"),
	OURS("from_hex"), {"generate_uuid", "spanner", "generate_uuid"}, OURS("greatest"), OURS("ieee_divide"),
	CORE("initcap"), OURS("int64"), OURS("instr"), OURS("is_inf"), OURS("is_nan"), OURS("json_query"),
	{"json_type", "pg_catalog", "jsonb_typeof"}, OURS("json_value"), OURS("least"), WITH_PART("last_day", 2, 0), OURS("left"), OURS("length"),
	OURS("ln"), OURS("log"), OURS("log10"), {"logical_and", "pg_catalog", "bool_and"},
	{"logical_or", "pg_catalog", "bool_or"}, CORE("lower"), OURS("lpad"), OURS("ltrim"), CORE("max"), OURS("md5"),
	CORE("min"), CORE("mod"), {"new_uuid", "pg_catalog", "gen_random_uuid"}, WITH_PART("normalize", 2, 0),
	{"octet_length", "spanner_internal", "byte_length"},
	OURS("parse_json"), {"pending_commit_timestamp", "spanner", "pending_commit_timestamp"}, OURS("pow"),
	{"power", "spanner_internal", "pow"}, OURS("regexp_contains"), OURS("repeat"), CORE("replace"), CORE("reverse"),
	OURS("right"), OURS("round"), OURS("rpad"), OURS("rtrim"), OURS("safe_add"), OURS("safe_divide"),
	OURS("safe_multiply"), OURS("safe_negate"), OURS("safe_subtract"), OURS("sha256"), OURS("sha512"), OURS("sign"),
	CORE("sin"), CORE("sinh"), OURS("split"), OURS("sqrt"), OURS("starts_with"), WITH_PART("string", 0, 2),
	CORE("string_agg"), OURS("strpos"), OURS("substr"), {"substring", "spanner_internal", "substr"}, OURS("sum"),
	CORE("tan"), CORE("tanh"), WITH_PART("timestamp", 0, 2), WITH_PART("timestamp_add", 3, 0),
	WITH_PART("timestamp_diff", 3, 0), OURS("timestamp_micros"), OURS("timestamp_millis"), OURS("timestamp_seconds"),
	WITH_PART("timestamp_sub", 3, 0), WITH_PART("timestamp_trunc", 2, 3), OURS("to_base64"), OURS("to_hex"),
	CORE("translate"), OURS("trim"), OURS("trunc"), OURS("unicode"), OURS("unix_date"), OURS("unix_micros"), OURS("unix_millis"),
	OURS("unix_seconds"), CORE("unnest"), CORE("upper"), {NULL}
};

/* SK_IS_NUMBER() and what is of two types depend on their order. */
StaticAssertDecl(SK_TYPE_INT + 1 == SK_TYPE_NUMERIC && SK_TYPE_NUMERIC + 1 == SK_TYPE_FLOAT32 &&
				 SK_TYPE_FLOAT32 + 1 == SK_TYPE_FLOAT, "numbers are not in order");

static char *default_time_zone = "";

static bool check_time_zone(char **newval, void **extra, GucSource source);

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
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Form_pg_type form;
	Oid			base;

	/* an expression that is read may be older than a DROP TYPE */
	if (!HeapTupleIsValid(tuple))
		return SK_TYPE_UNKNOWN;
	form = (Form_pg_type) GETSTRUCT(tuple);
	base = form->typnamespace == sk_own_schema(SK_INTERNAL_SCHEMA) && namestrcmp(&form->typname, "float_literal") == 0 ?
		FLOAT8OID : getBaseType(type);
	ReleaseSysCache(tuple);
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
	bool		ends_range = false;

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
			ends_range = true;
			appendStringInfo(&result, in_class ? "%s%s" : "[%s%s]", negated ? "^" : "", class);
		}
		else if (*s == '\\' && s[1] != '\0' && strchr("nrtfv.,:;!@#%&=~'\"/\\-+*?()[]{}|^$_ ", s[1]) != NULL)
			appendStringInfo(&result, "\\%c", *++s);
		else if (*s == '\\' || (!in_class && s[0] == '(' && s[1] == '?' && s[2] != ':') ||
				 (in_class && *s == '[') || (!in_class && s[0] == '[' && s[1 + (s[1] == '^')] == ']'))
			return NULL;
		else if (*s == '.' && !in_class)
			appendStringInfoString(&result, "[^\\n]");
		else if (*s == '-' && in_class && ends_range)
			appendStringInfoString(&result, "\\-");
		else
		{
			ends_range = in_class && s > regex + 1 && s[-1] == '-' && s[-2] != '[' && s[-2] != '^' && !ends_range;
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
