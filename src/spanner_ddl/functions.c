/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  The functions of GoogleSQL that expressions may call.
 *
 * In what a call becomes, $1 is its first argument, %1 the same in parentheses
 * where it needs them, $* all arguments, $| all joined with ||, %z the time
 * zone of the database.  A result type of '1' is that of the first argument.
 * An argument PART, such as DAY, is written 'p' in place of '.', a regular
 * expression 'r'.
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

#include "spanner_ddl/reader.h"

/* A place before the first character counts from the end. */
#define SUBSTR_START \
	"CASE WHEN $2 > 0 THEN $2 WHEN $2 = 0 THEN 1 ELSE greatest(pg_catalog.length($1) + $2 + 1, 1) END"

static const SkDdlFunction functions[] = {
	{"abs", ".", '1', "pg_catalog.abs($1)"},
	{"array_includes", "..", 'o', "CASE WHEN pg_catalog.num_nulls($1, $2) = 0 THEN COALESCE($2 = ANY ($1), false) END"},
	{"array_length", ".", 'i', "pg_catalog.cardinality($1)::bigint"},
	{"array_to_string", "..", 's', "spanner_internal.array_to_string($1, $2)"},
	{"avg", ".", 'f', "pg_catalog.avg($1)::double precision"},
	{"bit_reverse", "..", 'i', "spanner.bit_reverse($1, $2)"},
	{"byte_length", ".", 'i', "pg_catalog.octet_length($1)::bigint"},
	{"ceil", ".", '1', "pg_catalog.ceil($1)"},
	{"char_length", ".", 'i', "pg_catalog.char_length($1)::bigint"},
	{"character_length", ".", 'i', "pg_catalog.char_length($1)::bigint"},
	{"coalesce", "*", '1', "COALESCE($*)"},
	{"concat", "*", '1', "($|)"},
	{"count", ".", 'i', "pg_catalog.count($1)"},
	{"countif", ".", 'i', "pg_catalog.count(*) FILTER (WHERE $1)"},
	{"current_date", "", 'd', "(CURRENT_TIMESTAMP AT TIME ZONE %z)::date"},
	{"current_date", ".", 'd', "(CURRENT_TIMESTAMP AT TIME ZONE $1)::date"},
	{"current_timestamp", "", 't', "CURRENT_TIMESTAMP"},
	{"date", ".", 'd', "(%1 AT TIME ZONE %z)::date"},
	{"date", "..", 'd', "(%1 AT TIME ZONE $2)::date"},
	{"date", "...", 'd', "pg_catalog.make_date(($1)::integer, ($2)::integer, ($3)::integer)"},
	{"div", "..", '1', "(%1 / %2)"},
	{"ends_with", "..", 'o', "(pg_catalog.\"right\"($1, pg_catalog.length($2)) = $2)"},
	{"farm_fingerprint", ".", 'i', "spanner.farm_fingerprint($1)"},
	{"floor", ".", '1', "pg_catalog.floor($1)"},
	{"from_hex", ".", 'b', "pg_catalog.decode($1, 'hex')"},
	{"generate_uuid", "", 's', "spanner.generate_uuid()"},
	{"greatest", "*", '1', "CASE WHEN pg_catalog.num_nulls($*) = 0 THEN GREATEST($*) END"},
	{"if", "...", '2', "CASE WHEN $1 THEN $2 ELSE $3 END"},
	{"ifnull", "..", '1', "COALESCE($1, $2)"},
	{"least", "*", '1', "CASE WHEN pg_catalog.num_nulls($*) = 0 THEN LEAST($*) END"},
	{"left", "..", '1', "pg_catalog.\"left\"($1, ($2)::integer)"},
	{"length", ".", 'i', "pg_catalog.length($1)::bigint"},
	{"logical_and", ".", 'o', "pg_catalog.bool_and($1)"},
	{"logical_or", ".", 'o', "pg_catalog.bool_or($1)"},
	{"lower", ".", 's', "pg_catalog.lower($1)"},
	{"ltrim", ".", '1', "pg_catalog.ltrim($1)"},
	{"max", ".", '1', "pg_catalog.max($1)"},
	{"min", ".", '1', "pg_catalog.min($1)"},
	{"mod", "..", '1', "pg_catalog.mod($1, $2)"},
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
	{"rtrim", ".", '1', "pg_catalog.rtrim($1)"},
	{"sha256", ".", 'b', "pg_catalog.sha256($1)"},
	{"sha512", ".", 'b', "pg_catalog.sha512($1)"},
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
	{"timestamp_trunc", ".p", 't', "(pg_catalog.date_trunc($2, %1 AT TIME ZONE %z) AT TIME ZONE %z)"},
	{"timestamp_trunc", ".p.", 't', "(pg_catalog.date_trunc($2, %1 AT TIME ZONE $3) AT TIME ZONE $3)"},
	{"to_base64", ".", 's', "pg_catalog.translate(pg_catalog.encode($1, 'base64'), pg_catalog.chr(10), '')"},
	{"to_hex", ".", 's', "pg_catalog.encode($1, 'hex')"},
	{"trim", ".", '1', "pg_catalog.btrim($1)"},
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
 * "count" -1 asks for any number of arguments.
 */
const SkDdlFunction *
sk_ddl_function(const char *name, int count)
{
	for (int i = 0; i < lengthof(functions); i++)
	{
		if (strcmp(functions[i].name, name) == 0 &&
			(count < 0 || functions[i].arguments[0] == '*' ||
			 strlen(functions[i].arguments) == count))
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
			class = pg_tolower((unsigned char) s[1]) == classes[i][0] ? classes[i] + 1 : class;
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
		else if (*sql == '%' && sql[1] == 'z')
		{
			appendStringInfoString(&result, sk_ddl_time_zone());
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
