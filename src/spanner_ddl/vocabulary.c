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
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
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
	CORE("abs"), CORE("acos"), CORE("acosh"), CORE("array_agg"), {"array_concat", "spanner_internal", "concat"}, OURS("array_first"),
	OURS("array_includes"), OURS("array_includes_all"), OURS("array_includes_any"), OURS("array_last"),
	OURS("array_is_distinct"), OURS("array_length"), OURS("array_max"), OURS("array_min"), OURS("array_reverse"), OURS("array_slice"), OURS("array_to_string"), OURS("ascii"), CORE("asin"), CORE("asinh"), CORE("atan"),
	CORE("atan2"), OURS("atanh"), OURS("avg"), CORE("bit_and"), OURS("bit_count"), CORE("bit_or"),
	{"bit_reverse", "spanner", "bit_reverse"}, CORE("bit_xor"), OURS("bool"), OURS("bool_array"), OURS("byte_length"), CORE("ceil"),
	{"ceiling", "pg_catalog", "ceil"}, OURS("char_length"), {"character_length", "spanner_internal", "char_length"},
	OURS("chr"), CORE("cbrt"), OURS("code_points_to_bytes"), OURS("code_points_to_string"), CORE("cos"), OURS("cosh"), CORE("count"), CORE("cume_dist"), CORE("dense_rank"), CORE("first_value"), CORE("last_value"),
	CORE("percent_rank"), CORE("rank"), CORE("row_number"), WITH_PART("date", 0, 2), WITH_PART("date_add", 3, 0),
	WITH_PART("date_diff", 3, 0), OURS("date_from_unix_date"), WITH_PART("date_sub", 3, 0),
	WITH_PART("date_trunc", 2, 0), OURS("div"), OURS("ends_with"), OURS("exp"), WITH_PART("extract", 1, 3),
	{"farm_fingerprint", "spanner", "farm_fingerprint"}, OURS("float32"), OURS("float32_array"), OURS("float64"), OURS("float64_array"), CORE("floor"), OURS("format"), OURS("format_date"),
	WITH_PART("format_timestamp", 0, 3), OURS("from_base64"),
	OURS("from_hex"), OURS("generate_array"), WITH_PART("generate_date_array", 4, 0), {"generate_uuid", "spanner", "generate_uuid"}, OURS("greatest"), OURS("ieee_divide"),
	OURS("initcap"), OURS("int64"), OURS("int64_array"), OURS("instr"), OURS("is_inf"), OURS("is_nan"), OURS("json_array"), OURS("json_array_append"), OURS("json_array_insert"),
	OURS("json_contains"), OURS("json_object"), OURS("json_query"), OURS("json_query_array"),
	OURS("json_remove"), OURS("json_set"), OURS("json_strip_nulls"), {"json_type", "pg_catalog", "jsonb_typeof"}, OURS("json_value"), OURS("json_value_array"), OURS("lax_bool"), OURS("lax_float64"), OURS("lax_int64"),
	OURS("lax_string"), OURS("least"), WITH_PART("last_day", 2, 0), OURS("left"), OURS("length"),
	OURS("ln"), OURS("log"), OURS("log10"), {"logical_and", "pg_catalog", "bool_and"},
	{"logical_or", "pg_catalog", "bool_or"}, OURS("lower"), {"lcase", "spanner_internal", "lower"}, OURS("lpad"), OURS("ltrim"), CORE("max"), OURS("md5"),
	CORE("min"), CORE("mod"), {"new_uuid", "pg_catalog", "gen_random_uuid"}, WITH_PART("normalize", 2, 0),
	{"octet_length", "spanner_internal", "byte_length"},
	WITH_PART("parse_timestamp", 0, 3), OURS("parse_date"), OURS("parse_json"), {"pending_commit_timestamp", "spanner", "pending_commit_timestamp"}, OURS("pow"),
	{"power", "spanner_internal", "pow"}, OURS("regexp_contains"), OURS("regexp_extract"),
	OURS("regexp_extract_all"), OURS("regexp_replace"), OURS("repeat"), CORE("replace"), OURS("reverse"),
	OURS("right"), OURS("round"), OURS("rpad"), OURS("rtrim"), OURS("safe_add"), OURS("safe_divide"),
	OURS("safe_multiply"), OURS("safe_negate"), OURS("safe_subtract"), OURS("sha1"), OURS("sha256"), OURS("sha512"), OURS("sign"),
	CORE("sin"), OURS("sinh"), OURS("split"), OURS("sqrt"), OURS("starts_with"), WITH_PART("string", 0, 2), OURS("string_array"),
	CORE("string_agg"), OURS("strpos"), OURS("substr"), {"substring", "spanner_internal", "substr"}, OURS("sum"),
	CORE("tan"), CORE("tanh"), WITH_PART("timestamp", 0, 2), WITH_PART("timestamp_add", 3, 0),
	WITH_PART("timestamp_diff", 3, 0), OURS("timestamp_micros"), OURS("timestamp_millis"), OURS("timestamp_seconds"),
	WITH_PART("timestamp_sub", 3, 0), WITH_PART("timestamp_trunc", 2, 3), OURS("to_base64"), OURS("to_code_points"), OURS("to_hex"), OURS("to_json"), OURS("to_json_string"),
	CORE("translate"), OURS("trim"), OURS("trunc"), OURS("unicode"), OURS("unix_date"), OURS("unix_micros"), OURS("unix_millis"),
	OURS("unix_seconds"), CORE("unnest"), OURS("upper"), {"ucase", "spanner_internal", "upper"}, {NULL}
};

/* SK_IS_NUMBER() and what is of two types depend on their order. */
StaticAssertDecl(SK_TYPE_INT + 1 == SK_TYPE_NUMERIC && SK_TYPE_NUMERIC + 1 == SK_TYPE_FLOAT32 &&
				 SK_TYPE_FLOAT32 + 1 == SK_TYPE_FLOAT, "numbers are not in order");

static const struct config_enum_entry dialects[] = {
	{"", SK_SETTING_EMPTY, false},
	{"auto", SK_SETTING_AUTO, false},
	{"googlesql", SK_SETTING_GOOGLESQL, false},
	{"postgresql", SK_SETTING_POSTGRESQL, false},
	{NULL, 0, false}
};

int			sk_ddl_dialect = SK_SETTING_EMPTY;
static char *default_time_zone = "";

/* Of what a regular expression matches. */
#define ANY_LENGTH (-1)
#define NO_LENGTH (-2)

static bool matches_alike(const char *regex);
static int	matched_length(const char **regex, int *groups);
static bool check_time_zone(char **newval, void **extra, GucSource source);

/*
 * sk_spanner_ddl_init
 *		Define the settings of this module.
 */
void
sk_spanner_ddl_init(void)
{
	DefineCustomEnumVariable("spanner.dialect",
							 "Sets the dialect in which Spanner's DDL is read.",
							 "Empty means that the first text that only one can read sets it; auto, that none does.",
							 &sk_ddl_dialect,
							 SK_SETTING_EMPTY,
							 dialects,
							 PGC_USERSET,
							 0,
							 NULL, NULL, NULL);
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
 *		Append PostgreSQL's name of a type to "out", and return its class; with
 *		NULL only make sure that the dialect has the type.
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
		sk_ddl_refuse_type(ddl, name->at, name->name);
	if (out == NULL)
		return entry->type;
	if ((name->length != 0 && entry->max_length == 0) || name->scale != 0 ||
		(name->length == 0 && entry->max_length != 0 && entry->dialect == 'g'))
		SK_DDL_ERROR(ddl, name->at, ERRCODE_SYNTAX_ERROR,
					 entry->max_length == 0 ? errmsg("type \"%s\" has no length", name->name) :
					 errmsg("type \"%s\" needs a length, or MAX", name->name));
	if (name->length < -1 || (name->length > entry->max_length && entry->max_length != 0))
		SK_DDL_ERROR(ddl, name->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("length of type \"%s\" must be between 1 and %d",
							name->name, entry->max_length));
	appendStringInfo(out, "%s%s", entry->postgresql, name->is_array ? "[]" : "");
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
 *
 * The purpose is the end of the name of a function: contains, extract,
 * extract_all or replace.  All but the first need the same match, not just one.
 */
char *
sk_ddl_regex(const char *regex, const char *purpose)
{
	static const char *const classes[] = {"d0-9", "w0-9A-Za-z_", "s\\t\\n\\f\\r "};
	static const char *const names[] = {
		"[:alnum:]", "[:alpha:]", "[:digit:]", "[:lower:]", "[:punct:]", "[:space:]", "[:upper:]", "[:xdigit:]"
	};
	StringInfoData result;
	bool		in_class = false;
	bool		ends_range = false;
	int			groups = 0;

	initStringInfo(&result);
	if (strncmp(regex, "***", 3) == 0)
		return NULL;
	for (const char *s = regex; *s != '\0'; s++)
	{
		const char *class = NULL;
		const char *name = NULL;

		for (int i = 0; *s == '\\' && i < lengthof(classes); i++)
			class = pg_tolower((unsigned char) s[1]) == (unsigned char) classes[i][0] ? classes[i] + 1 : class;
		for (int i = 0; *s == '[' && in_class && i < lengthof(names); i++)
			name = strncmp(s, names[i], strlen(names[i])) == 0 ? names[i] : name;
		groups += *s == '(' && s[1] != '?' && !in_class;
		if (class != NULL)
		{
			bool		negated = *++s < 'a';

			if (in_class && negated)
				return NULL;
			ends_range = true;
			appendStringInfo(&result, in_class ? "%s%s" : "[%s%s]", negated ? "^" : "", class);
		}
		else if (name != NULL)
		{
			appendStringInfoString(&result, name);
			s += strlen(name) - 1;
			ends_range = true;
		}
		/* the edges of words, which are ASCII in both as the collation is C */
		else if (*s == '\\' && !in_class && (s[1] == 'b' || s[1] == 'B'))
			appendStringInfoString(&result, *++s == 'b' ? "\\y" : "\\Y");
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
	if (strcmp(purpose, "contains") == 0)
		return result.data;
	if (!matches_alike(regex) || (*purpose == 'e' && groups > 1))
		return NULL;
	/* where empty matches begin and end */
	if (strcmp(purpose, "extract") != 0 &&
		DatumGetBool(DirectFunctionCall2Coll(textregexeq, C_COLLATION_OID, CStringGetTextDatum(""),
											 CStringGetTextDatum(result.data))))
		return NULL;
	return result.data;
}

/*
 * Do both engines find the same of several matches?
 *
 * GoogleSQL's takes the first one of those that a search with backtracking
 * finds, and PostgreSQL's the longest.  They are the same if what is repeated
 * is one character, as much of it as there is, and alternatives have the same
 * length: of two ways to match, at each place the one that is further there can
 * go on as the other one does.
 */
static bool
matches_alike(const char *regex)
{
	int			groups = 0;

	return matched_length(&regex, &groups) != NO_LENGTH && *regex == '\0';
}

/* The length of what alternatives match, ANY_LENGTH, or NO_LENGTH if they are none of those. */
static int
matched_length(const char **regex, int *groups)
{
	const char *s = *regex;
	int			first_group = *groups;
	int			length = 0;
	int			other;

	check_stack_depth();
	while (*s != '\0' && *s != ')' && *s != '|')
	{
		bool		is_group = *s == '(';
		int			item = 1;

		if (is_group)
		{
			*groups += s[1] != '?';
			s += s[1] == '?' ? 3 : 1;
			item = matched_length(&s, groups);
			if (*s != ')')
				return NO_LENGTH;
		}
		else if (*s == '[')
		{
			for (s += s[1] == '^' ? 2 : 1; *s != '\0' && *s != ']'; s++)
			{
				if (strncmp(s, "[:", 2) == 0 && strstr(s, ":]") != NULL)
					s = strstr(s, ":]") + 1;
				else if (*s == '\\' && s[1] != '\0')
					s++;
			}
		}
		else if (*s == '\\')
			item = s[1] != 'b' && s[1] != 'B', s += s[1] != '\0';
		else
			item = *s != '^' && *s != '$';
		if (*s == '\0')
			return NO_LENGTH;
		s += pg_mblen(s);
		if (*s != '\0' && strchr("*+?{", *s) != NULL)
		{
			if (is_group || item != 1)
				return NO_LENGTH;
			item = ANY_LENGTH;
			s = *s == '{' ? s + strcspn(s, "}") : s;
			if (*s == '\0' || (s[1] != '\0' && strchr("*+?{", s[1]) != NULL))
				return NO_LENGTH;
			s++;
		}
		if (item == NO_LENGTH)
			return NO_LENGTH;
		length = item == ANY_LENGTH || length == ANY_LENGTH ? ANY_LENGTH : length + item;
	}
	*regex = s;
	if (*s != '|')
		return length;
	(*regex)++;
	other = matched_length(regex, groups);
	return length >= 0 && length == other && *groups == first_group ? length : NO_LENGTH;
}

/*
 * sk_ddl_is_reserved
 *		Does GoogleSQL reserve a word, which is in lower case?
 *
 * The words are those of its documentation.
 */
bool
sk_ddl_is_reserved(const char *word)
{
	static const char *const words[] = {
		"all", "and", "any", "array", "as", "asc", "assert_rows_modified", "at", "between", "by", "case",
		"cast", "collate", "contains", "create", "cross", "cube", "current", "default", "define", "desc",
		"distinct", "else", "end", "enum", "escape", "except", "exclude", "exists", "extract", "false",
		"fetch", "following", "for", "from", "full", "group", "grouping", "groups", "hash", "having",
		"if", "ignore", "in", "inner", "intersect", "interval", "into", "is", "join", "lateral", "left",
		"like", "limit", "lookup", "merge", "natural", "new", "no", "not", "null", "nulls", "of", "on",
		"or", "order", "outer", "over", "partition", "preceding", "proto", "range", "recursive",
		"respect", "right", "rollup", "rows", "select", "set", "some", "struct", "tablesample", "then",
		"to", "treat", "true", "unbounded", "union", "unnest", "using", "when", "where", "window", "with",
		"within", NULL
	};

	return sk_ddl_one_of(word, words);
}

/*
 * sk_ddl_write_quoted
 *		Append a string of GoogleSQL, with escapes.
 */
void
sk_ddl_write_quoted(StringInfo sql, const char *value, char quote)
{
	appendStringInfoChar(sql, quote);
	for (; *value != '\0'; value++)
	{
		char		c = *value;

		if (c == '\\' || (c == quote && c == '`'))
			appendStringInfo(sql, "\\%c", c);
		else if (c == '\n')
			appendStringInfoString(sql, "\\n");
		else if (c == quote || (unsigned char) c < ' ' || c == 0x7f)
			appendStringInfo(sql, "\\x%02x", (unsigned char) c);
		else
			appendStringInfoChar(sql, c);
	}
	appendStringInfoChar(sql, quote);
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
 * sk_ddl_is_zone
 *		Is it a time zone, and the same one in both languages?
 */
bool
sk_ddl_is_zone(const char *zone)
{
	pg_tz	   *found;
	int			offset;

	/* with summers in GoogleSQL, and fixed offsets in PostgreSQL */
	return sk_parse_time_zone(zone, &found, &offset) &&
		!SK_DDL_ONE_OF(asc_toupper(zone, strlen(zone)), "CET", "EET", "MET", "WET");
}

static bool
check_time_zone(char **newval, void **extra, GucSource source)
{
	if (**newval == '\0' || sk_ddl_is_zone(*newval))
		return true;
	GUC_check_errhint(SK_TIME_ZONE_HINT);
	return false;
}
