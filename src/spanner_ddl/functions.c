/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  The functions of GoogleSQL that expressions may call.
 *
 * In what a call becomes, $1 is its first argument, %1 the same in parentheses
 * where it needs them, $* all arguments, $| all joined with ||, %z the time
 * zone of the database as a text, and %Z as AT TIME ZONE takes it.
 *
 * A result type of '1' is that of the first argument, '2' that of the second
 * and third, '*' that of all, and 'F' is FLOAT64 unless the first argument is
 * NUMERIC.  In place of '.', an argument PART, such as DAY, is written 'p', a
 * regular expression 'r', and a time zone, which may be left out, 'z'.
 *
 * A second word of a name is the PART, or the type of the arguments.
 *
 * To add a function, add a line.  It has to mean the same for all arguments,
 * NULLs included, and has to be immutable if it is in GoogleSQL.
 *
 * src/spanner_ddl/functions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "utils/builtins.h"

#include "keys/time_zone.h"
#include "spanner_ddl/reader.h"

#define MAX_ARGUMENTS 64

static SkExpr read_argument(SkReader *reader, const SkDdlFunction *function, int number, char **name);
static const SkDdlFunction *find_variant(SkReader *reader, int start, const char *name,
										 SkExpr *arguments, int count);
static List *list_of(SkExpr *arguments, int count);
static SkExpr make_result(const SkDdlFunction *function, SkExpr *arguments, int count);

/* A place before the first character counts from the end. */
#define SUBSTR_START \
	"CASE WHEN $2 > 0 THEN $2 WHEN $2 = 0 THEN 1 ELSE greatest(pg_catalog.length($1) + $2 + 1, 1) END"

/* Local times lead back to a time of the same offset only if they are of days. */
#define TRUNCATED_DAYS(part) \
	"(pg_catalog.date_trunc('" part "', %1 AT TIME ZONE $3) AT TIME ZONE $3)"
#define TRUNCATED_HOURS(part) \
	"((%1 AT TIME ZONE 'UTC' - (%1 AT TIME ZONE $3 - pg_catalog.date_trunc('" part "', %1 AT TIME ZONE $3))) AT TIME ZONE 'UTC')"

static const SkDdlFunction functions[] = {
	{"abs", ".", '1', "pg_catalog.abs($1)"},
	{"array_includes", "..", 'o', "CASE WHEN pg_catalog.num_nulls($1, $2) = 0 THEN COALESCE($2 = ANY ($1), false) END"},
	{"array_length", ".", 'i', "pg_catalog.cardinality($1)::bigint"},
	{"array_to_string", "..", 's', "spanner_internal.array_to_string($1, $2)"},
	{"avg", ".", 'f', "pg_catalog.avg($1)::double precision"},
	{"avg numeric", ".", 'n', "pg_catalog.avg($1)::numeric(38,9)"},
	{"bit_reverse", "..", 'i', "spanner.bit_reverse($1, $2)"},
	{"byte_length", ".", 'i', "pg_catalog.octet_length($1)::bigint"},
	{"ceil", ".", 'F', "pg_catalog.ceil($1)"},
	{"char_length", ".", 'i', "pg_catalog.char_length($1)::bigint"},
	{"character_length", ".", 'i', "pg_catalog.char_length($1)::bigint"},
	{"coalesce", "*", '*', "COALESCE($*)"},
	{"concat", "*", '1', "($|)"},
	{"count", ".", 'i', "pg_catalog.count($1)"},
	{"countif", ".", 'i', "pg_catalog.count(*) FILTER (WHERE $1)"},
	{"current_date", "z", 'd', "(CURRENT_TIMESTAMP AT TIME ZONE $1)::date"},
	{"current_timestamp", "", 't', "CURRENT_TIMESTAMP"},
	{"date", ".z", 'd', "(%1 AT TIME ZONE $2)::date"},
	{"date", "...", 'd', "pg_catalog.make_date(($1)::integer, ($2)::integer, ($3)::integer)"},
	{"div", "..", '*', "(%1 / %2)"},
	{"div numeric", "..", 'n', "pg_catalog.div($1, $2)"},
	{"ends_with", "..", 'o', "(pg_catalog.\"right\"($1, pg_catalog.length($2)) = $2)"},
	{"farm_fingerprint", ".", 'i', "spanner.farm_fingerprint($1)"},
	{"floor", ".", 'F', "pg_catalog.floor($1)"},
	{"from_hex", ".", 'b', "pg_catalog.decode($1, 'hex')"},
	{"generate_uuid", "", 's', "spanner.generate_uuid()"},
	{"greatest", "*", '*', "CASE WHEN pg_catalog.num_nulls($*) = 0 THEN GREATEST($*) END"},
	{"if", "...", '2', "CASE WHEN $1 THEN $2 ELSE $3 END"},
	{"ifnull", "..", '*', "COALESCE($1, $2)"},
	{"least", "*", '*', "CASE WHEN pg_catalog.num_nulls($*) = 0 THEN LEAST($*) END"},
	{"left", "..", '1', "pg_catalog.\"left\"($1, ($2)::integer)"},
	{"length", ".", 'i', "pg_catalog.length($1)::bigint"},
	{"logical_and", ".", 'o', "pg_catalog.bool_and($1)"},
	{"logical_or", ".", 'o', "pg_catalog.bool_or($1)"},
	{"lower", ".", 's', "pg_catalog.lower($1)"},
	{"ltrim", ".", '1', "pg_catalog.ltrim($1, spanner_internal.white_space())"},
	{"ltrim", "..", '1', "pg_catalog.ltrim($1, $2)"},
	{"max", ".", '1', "pg_catalog.max($1)"},
	{"min", ".", '1', "pg_catalog.min($1)"},
	{"mod", "..", '*', "pg_catalog.mod($1, $2)"},
	{"new_uuid", "", 'u', "pg_catalog.gen_random_uuid()"},
	{"nullif", "..", '1', "NULLIF($1, $2)"},
	{"pending_commit_timestamp", "", 't', "spanner.pending_commit_timestamp()"},
	{"pow", "..", 'f', "pg_catalog.power(($1)::double precision, ($2)::double precision)"},
	{"power", "..", 'f', "pg_catalog.power(($1)::double precision, ($2)::double precision)"},
	{"regexp_contains", ".r", 'o', "(%1 ~ $2)"},
	{"repeat", "..", '1', "pg_catalog.repeat($1, ($2)::integer)"},
	{"replace", "...", '1', "pg_catalog.replace($1, $2, $3)"},
	{"reverse", ".", 's', "pg_catalog.reverse($1)"},
	{"right", "..", '1', "pg_catalog.\"right\"($1, ($2)::integer)"},
	{"rtrim", ".", '1', "pg_catalog.rtrim($1, spanner_internal.white_space())"},
	{"rtrim", "..", '1', "pg_catalog.rtrim($1, $2)"},
	{"sha256", ".", 'b', "pg_catalog.sha256($1)"},
	{"sha256 string", ".", 'b', "pg_catalog.sha256(spanner_internal.string_to_bytes($1))"},
	{"sha512", ".", 'b', "pg_catalog.sha512($1)"},
	{"sha512 string", ".", 'b', "pg_catalog.sha512(spanner_internal.string_to_bytes($1))"},
	{"sqrt", ".", 'f', "pg_catalog.sqrt(($1)::double precision)"},
	{"starts_with", "..", 'o', "pg_catalog.starts_with($1, $2)"},
	{"string", ".", 's', "spanner.timestamp_to_string($1, %z)"},
	{"string", "..", 's', "spanner.timestamp_to_string($1, $2)"},
	{"strpos", "..", 'i', "pg_catalog.strpos($1, $2)::bigint"},
	{"substr", "..", '1', "pg_catalog.substr($1, (" SUBSTR_START ")::integer)"},
	{"substr", "...", '1', "pg_catalog.substr($1, (" SUBSTR_START ")::integer, ($3)::integer)"},
	{"sum", ".", '1', "pg_catalog.sum($1)"},
	{"timestamp_add", "..", 't', "((%1 AT TIME ZONE 'UTC' + $2) AT TIME ZONE 'UTC')"},
	{"timestamp_micros", ".", 't', "(pg_catalog.to_timestamp(0) + $1 * interval '1 microsecond')"},
	{"timestamp_millis", ".", 't', "pg_catalog.to_timestamp(($1)::double precision / 1000)"},
	{"timestamp_seconds", ".", 't', "pg_catalog.to_timestamp(($1)::double precision)"},
	{"timestamp_sub", "..", 't', "((%1 AT TIME ZONE 'UTC' - $2) AT TIME ZONE 'UTC')"},
	{"timestamp_trunc day", ".pz", 't', TRUNCATED_DAYS("day")},
	{"timestamp_trunc hour", ".pz", 't', TRUNCATED_HOURS("hour")},
	{"timestamp_trunc isoweek", ".pz", 't', TRUNCATED_DAYS("week")},
	{"timestamp_trunc microsecond", ".pz", 't', TRUNCATED_HOURS("microseconds")},
	{"timestamp_trunc millisecond", ".pz", 't', TRUNCATED_HOURS("milliseconds")},
	{"timestamp_trunc minute", ".pz", 't', TRUNCATED_HOURS("minute")},
	{"timestamp_trunc month", ".pz", 't', TRUNCATED_DAYS("month")},
	{"timestamp_trunc quarter", ".pz", 't', TRUNCATED_DAYS("quarter")},
	{"timestamp_trunc second", ".pz", 't', TRUNCATED_HOURS("second")},
	{"timestamp_trunc week", ".pz", 't', "((pg_catalog.date_trunc('week', %1 AT TIME ZONE $3 + interval '1 day') - interval '1 day') AT TIME ZONE $3)"},
	{"timestamp_trunc year", ".pz", 't', TRUNCATED_DAYS("year")},
	{"to_base64", ".", 's', "pg_catalog.translate(pg_catalog.encode($1, 'base64'), pg_catalog.chr(10), '')"},
	{"to_hex", ".", 's', "pg_catalog.encode($1, 'hex')"},
	{"trim", ".", '1', "pg_catalog.btrim($1, spanner_internal.white_space())"},
	{"trim", "..", '1', "pg_catalog.btrim($1, $2)"},
	{"unix_micros", ".", 'i', "pg_catalog.floor(extract(epoch FROM %1 AT TIME ZONE 'UTC') * 1000000)::bigint"},
	{"unix_millis", ".", 'i', "pg_catalog.floor(extract(epoch FROM %1 AT TIME ZONE 'UTC') * 1000)::bigint"},
	{"unix_seconds", ".", 'i', "pg_catalog.floor(extract(epoch FROM %1 AT TIME ZONE 'UTC'))::bigint"},
	{"upper", ".", 's', "pg_catalog.upper($1)"}
};

/*
 * sk_ddl_function
 *		What a call of a function with so many arguments becomes; NULL if
 *		there is none of this name.
 *
 * "count" -1 asks for any number of arguments, whatever the second word.
 */
const SkDdlFunction *
sk_ddl_function(const char *name, int count)
{
	for (int i = 0; i < lengthof(functions); i++)
	{
		const char *arguments = functions[i].arguments;
		int			length = count < 0 ? strcspn(functions[i].name, " ") : strlen(functions[i].name);

		if (strlen(name) == length && strncmp(functions[i].name, name, length) == 0 &&
			(count < 0 || arguments[0] == '*' || strlen(arguments) == count ||
			 (strlen(arguments) == count + 1 && arguments[count] == 'z')))
			return &functions[i];
	}
	return NULL;
}

/*
 * sk_ddl_function_backward
 *		The function of GoogleSQL that becomes nothing but a call of this one,
 *		with the same arguments; NULL if there is none.
 */
const SkDdlFunction *
sk_ddl_function_backward(const char *name, int count)
{
	static const char *const calls[] = {"()", "($1)", "($1, $2)", "($1, $2, $3)"};

	for (int i = 0; i < lengthof(functions) && count < lengthof(calls); i++)
	{
		int			length = strlen(name);
		const char *sql = functions[i].sql;

		/* a result is often cast to the type of GoogleSQL */
		if (strncmp(sql, name, length) == 0 && sql[length] == '(' &&
			strncmp(sql + length, calls[count], strlen(calls[count])) == 0 &&
			(sql[length + strlen(calls[count])] == '\0' ||
			 strcmp(sql + length + strlen(calls[count]), "::bigint") == 0))
			return &functions[i];
	}
	return NULL;
}

/*
 * sk_ddl_read_call
 *		A call of a function of the table.
 */
SkExpr
sk_ddl_read_call(SkReader *reader)
{
	int			start = reader->next;
	char	   *name = peek(reader, 0)->text;
	const SkDdlFunction *function = sk_ddl_function(name, -1);
	SkExpr		arguments[MAX_ARGUMENTS + 1] = {0};
	int			count = 0;
	SkExpr		result;

	if (function == NULL)
		SK_DDL_ERROR(reader->ddl, start, ERRCODE_UNDEFINED_FUNCTION,
					 errmsg("function %s is not known here", upper_case(name)),
					 errhint("Write the expression without it, or run a statement of PostgreSQL directly."));
	reader->next += 2;
	while (!accept(reader, ")"))
	{
		if ((count > 0 && !accept(reader, ",")) || count == MAX_ARGUMENTS)
			fail(reader);
		arguments[count] = read_argument(reader, function, count, &name);
		count++;
	}
	if (sk_ddl_function(name, count) == NULL || (count == 0 && function->arguments[0] == '*'))
		SK_DDL_ERROR(reader->ddl, start, ERRCODE_UNDEFINED_FUNCTION,
					 errmsg("function %s does not take %d arguments here", upper_case(name), count));
	function = find_variant(reader, start, name, arguments, count);
	for (int i = 0; i < strlen(function->arguments); i++)
	{
		if (function->arguments[i] == 'z')
			arguments[i].sql = pstrdup(sk_ddl_zone(reader, start, i < count ? &arguments[i] : NULL));
	}
	result = make_result(function, arguments, count);
	result.sql = sk_ddl_fill_template(function->sql, arguments, count);
	/* of integers, PostgreSQL's sum is numeric */
	if (strcmp(name, "sum") == 0 && result.type == SK_TYPE_INT)
		result.sql = psprintf("%s::bigint", result.sql);
	return result;
}

/* An argument; a PART becomes the second word of the name. */
static SkExpr
read_argument(SkReader *reader, const SkDdlFunction *function, int number, char **name)
{
	const SkToken *token = peek(reader, 0);
	bool		is_distinct;
	SkExpr		result;

	if (strcmp(*name, "count") == 0 && accept(reader, "*"))
		return make_expr("*", SK_TYPE_UNKNOWN, true);
	if (number == 1 && strchr(function->arguments, 'p') != NULL)
	{
		if (token == NULL || token->type != SK_TOKEN_WORD)
			fail(reader);
		if (sk_ddl_function(psprintf("%s %s", *name, token->text), 2) == NULL)
			sk_ddl_refuse(reader->ddl, reader->next,
						  psprintf("%s() to %s", upper_case(*name), upper_case(token->text)), NULL);
		*name = psprintf("%s %s", *name, token->text);
		reader->next++;
		return make_expr("", SK_TYPE_UNKNOWN, true);
	}
	if (number == 1 && strchr(function->arguments, 'r') != NULL)
		return sk_ddl_read_regex(reader);
	is_distinct = accept(reader, "distinct");
	result = sk_ddl_read_expression(reader);
	if (is_distinct)
		result.sql = psprintf("DISTINCT %s", result.sql);
	return result;
}

/* The function for arguments of these types. */
static const SkDdlFunction *
find_variant(SkReader *reader, int start, const char *name, SkExpr *arguments, int count)
{
	const SkDdlFunction *function = sk_ddl_function(name, count);
	const SkDdlFunction *variant = NULL;
	SkType		type = SK_TYPE_UNKNOWN;

	if (function->result == '*')
		type = sk_ddl_match_types(list_of(arguments, count), NULL);
	else if (count > 0)
		type = arguments[0].type;
	if (type == SK_TYPE_NUMERIC)
		variant = sk_ddl_function(psprintf("%s numeric", name), count);
	if (type == SK_TYPE_STRING)
		variant = sk_ddl_function(psprintf("%s string", name), count);
	if (strcmp(name, "div") == 0 && type != SK_TYPE_INT && type != SK_TYPE_NUMERIC)
		sk_ddl_refuse(reader->ddl, start, "DIV() of values of this type", "Cast them: CAST(x AS INT64).");
	if (strcmp(name, "sum") == 0 && type == SK_TYPE_FLOAT32)
		sk_ddl_refuse(reader->ddl, start, "SUM() of FLOAT32", "Cast it: CAST(x AS FLOAT64).");
	/* GoogleSQL's result has all digits */
	if (variant == NULL && type == SK_TYPE_NUMERIC && function->result == 'f')
		sk_ddl_refuse(reader->ddl, start, psprintf("%s() of NUMERIC", upper_case(name)),
					  "Cast it: CAST(x AS FLOAT64).");
	return variant != NULL ? variant : function;
}

static List *
list_of(SkExpr *arguments, int count)
{
	List	   *result = NIL;

	for (int i = 0; i < count; i++)
		result = lappend(result, &arguments[i]);
	return result;
}

/* Has the type of the result, and sees that arguments are of one type. */
static SkExpr
make_result(const SkDdlFunction *function, SkExpr *arguments, int count)
{
	SkExpr		result = make_expr(NULL, function->result, true);

	switch (function->result)
	{
		case '1':
			result.type = arguments[0].type;
			result.is_small = arguments[0].is_small;
			break;
		case '2':
			result.type = sk_ddl_match_types(list_of(arguments + 1, 2), &result.is_small);
			break;
		case '*':
			result.type = sk_ddl_match_types(list_of(arguments, count), &result.is_small);
			break;
		case 'F':
			result.type = arguments[0].type == SK_TYPE_NUMERIC ? SK_TYPE_NUMERIC : SK_TYPE_FLOAT;
			break;
	}
	return result;
}

/*
 * sk_ddl_zone
 *		A time zone as AT TIME ZONE takes it; "zone" is NULL for the database's.
 */
const char *
sk_ddl_zone(SkReader *reader, int place, const SkExpr *zone)
{
	if (zone == NULL)
		return sk_ddl_zone_operand(sk_ddl_time_zone());
	if (zone->type != SK_TYPE_STRING || zone->text == NULL)
		sk_ddl_refuse(reader->ddl, place, "a time zone that is not a constant",
					  "Write a string, such as 'Europe/Berlin'.");
	return sk_ddl_named_zone(reader, place, zone->text);
}

/*
 * sk_ddl_named_zone
 *		The same of a name.
 */
const char *
sk_ddl_named_zone(SkReader *reader, int place, const char *name)
{
	const char *result = sk_ddl_zone_operand(name);

	if (result == NULL)
		SK_DDL_ERROR(reader->ddl, place, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("time zone \"%s\" not recognized", name), errhint(SK_TIME_ZONE_HINT));
	return result;
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

/* A regular expression, which has to be a string: it is translated as well. */
SkExpr
sk_ddl_read_regex(SkReader *reader)
{
	const SkToken *token = peek(reader, 0);
	char	   *regex = token != NULL && token->type == SK_TOKEN_STRING ? sk_ddl_regex(token->text) : NULL;

	if (regex == NULL)
		sk_ddl_refuse(reader->ddl, reader->next, "this regular expression",
					  "Strings without \\b, \\p, (?...) and [:...:] are translated.");
	/* raises an error if it is none */
	(void) DirectFunctionCall2Coll(textregexeq, C_COLLATION_OID, CStringGetTextDatum(""),
								   CStringGetTextDatum(regex));
	reader->next++;
	return make_expr(quote_literal_cstr(regex), SK_TYPE_STRING, true);
}

/*
 * sk_ddl_fill_template
 *		What a function or cast becomes, with its arguments.
 */
char *
sk_ddl_fill_template(const char *sql, const SkExpr *arguments, int count)
{
	StringInfoData result;

	initStringInfo(&result);
	for (; *sql != '\0'; sql++)
	{
		if (*sql == '$' && (sql[1] == '*' || sql[1] == '|'))
		{
			for (int i = 0; i < count; i++)
				appendStringInfo(&result, "%s%s", i == 0 ? "" : sql[1] == '*' ? ", " : " || ",
								 sql[1] == '*' ? arguments[i].sql :
								 sk_ddl_fill_template("%1", &arguments[i], 1));
			sql++;
		}
		else if (*sql == '%' && sql[1] == 'Z')
		{
			appendStringInfoString(&result, sk_ddl_zone_operand(sk_ddl_time_zone()));
			sql++;
		}
		else if (*sql == '%' && sql[1] == 'z')
		{
			appendStringInfoString(&result, quote_literal_cstr(sk_ddl_time_zone()));
			sql++;
		}
		else if ((*sql == '$' || *sql == '%') && sql[1] >= '1' && sql[1] <= '9')
		{
			const SkExpr *argument = &arguments[sql[1] - '1'];

			appendStringInfo(&result, *sql == '%' && !argument->is_primary ? "(%s)" : "%s",
							 argument->sql);
			sql++;
		}
		else
			appendStringInfoChar(&result, *sql);
	}
	return result.data;
}
