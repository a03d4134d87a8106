/*-------------------------------------------------------------------------
 *
 * export_text.c
 *	  Names and values as GoogleSQL writes them, for spanner.spanner_ddl().
 *
 * An export is imported as a text, so no name and no value may end a
 * statement.  What a reader of either dialect finds in it has to be the same.
 *
 * src/spanner_ddl/export_text.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "spanner_ddl/spanner_ddl.h"

PG_FUNCTION_INFO_V1(spanner_googlesql_name);
PG_FUNCTION_INFO_V1(spanner_is_statement);

static bool is_closed(const char *sql, SkDialect dialect, bool all_of_it, bool *is_plain);
static void write_bytes(StringInfo sql, const bytea *value);
static void write_string(StringInfo sql, const char *value);
static void write_escaped(StringInfo sql, const char *value, char quote);

/* Words that GoogleSQL reserves and PostgreSQL does not. */
static const char *const reserved_words[] = {
	"assert_rows_modified", "at", "by", "contains", "cube", "current", "define",
	"enum", "escape", "exclude", "extract", "following", "groups", "hash", "if",
	"ignore", "interval", "lookup", "merge", "new", "no", "nulls", "of", "over",
	"partition", "preceding", "proto", "range", "recursive", "respect", "rollup",
	"rows", "set", "struct", "treat", "unbounded", "unnest", "within"
};

/*
 * spanner_internal.googlesql_name(name) returns text
 *
 * A name with backquotes where it needs them.
 */
Datum
spanner_googlesql_name(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(sk_ddl_quote_name(NameStr(*PG_GETARG_NAME(0)))));
}

/*
 * sk_ddl_quote_name
 *		A name as GoogleSQL writes it.
 */
const char *
sk_ddl_quote_name(const char *name)
{
	bool		is_quoted = quote_identifier(name) != name;
	StringInfoData sql;

	for (int i = 0; i < lengthof(reserved_words) && !is_quoted; i++)
		is_quoted = strcmp(reserved_words[i], name) == 0;
	if (!is_quoted)
		return name;
	initStringInfo(&sql);
	write_escaped(&sql, name, '`');
	return sql.data;
}

/*
 * spanner_internal.is_statement(statement, dialect) returns boolean
 *
 * Is a text one statement, whichever dialect its reader takes it for?  Names
 * and strings of one dialect may end elsewhere in the other, and what is
 * behind that end would be run.
 */
Datum
spanner_is_statement(PG_FUNCTION_ARGS)
{
	const char *sql = TextDatumGetCString(PG_GETARG_DATUM(0));
	bool		is_google = strcmp(TextDatumGetCString(PG_GETARG_DATUM(1)), "postgresql") != 0;
	bool		is_plain;

	if (!is_closed(sql, SK_GOOGLESQL, is_google, &is_plain))
		PG_RETURN_BOOL(false);
	/* backquotes and bytes are known as GoogleSQL */
	PG_RETURN_BOOL((is_google && !is_plain) || is_closed(sql, SK_POSTGRESQL, true, &is_plain));
}

/*
 * Does no statement end within the text, and no token begin that goes on
 * behind it?  Without "all_of_it", a token may be there that is none and ends
 * the scan.
 */
static bool
is_closed(const char *sql, SkDialect dialect, bool all_of_it, bool *is_plain)
{
	int			count;
	SkToken    *tokens = sk_ddl_scan(sql, dialect, &count);

	*is_plain = true;
	for (int i = 0; i < count; i++)
	{
		const char *start = sql + tokens[i].start;

		if (tokens[i].type == SK_TOKEN_OPERATOR && *start == ';')
			return false;
		if (tokens[i].type == SK_TOKEN_BAD)
			return !all_of_it && strchr("'\"`", *start) != NULL &&
				(start[1] != *start || start[2] != *start);
		*is_plain &= tokens[i].type != SK_TOKEN_BYTES && *start != '`';
	}
	return true;
}

/*
 * sk_ddl_write_const
 *		Write a value; returns false if GoogleSQL has no such type or value.
 *
 * spanner_ddl() sets how values are written.
 */
bool
sk_ddl_write_const(StringInfo sql, Const *value)
{
	SkType		type = sk_ddl_type_class(value->consttype);
	Oid			output;
	bool		is_varlena;
	char	   *text;

	if (value->constisnull)
	{
		appendStringInfoString(sql, "NULL");
		return true;
	}
	if (type == SK_TYPE_BYTES)
	{
		write_bytes(sql, DatumGetByteaPP(value->constvalue));
		return true;
	}
	if (type == SK_TYPE_INT || type == SK_TYPE_FLOAT || type == SK_TYPE_FLOAT32)
		return sk_ddl_write_number(sql, value);
	if (type == SK_TYPE_UNKNOWN || type == SK_TYPE_INTERVAL)
		return false;
	getTypeOutputInfo(value->consttype, &output, &is_varlena);
	text = OidOutputFunctionCall(output, value->constvalue);

	switch (type)
	{
		case SK_TYPE_BOOL:
			appendStringInfoString(sql, *text == 't' ? "TRUE" : "FALSE");
			return true;
		case SK_TYPE_STRING:
			write_string(sql, text);
			return true;
		case SK_TYPE_UUID:
			appendStringInfo(sql, "CAST('%s' AS UUID)", text);
			return true;
		case SK_TYPE_ARRAY:
			appendStringInfoString(sql, "[]");
			return strcmp(text, "{}") == 0;
		default:
			/* a date, JSON, number or time */
			appendStringInfo(sql, "%s ", sk_ddl_type_name(type));
			write_string(sql, text);
			/* neither infinite, nor no number, nor before Christ */
			return type == SK_TYPE_JSON || strpbrk(text, "iNB") == NULL;
	}
}

static void
write_bytes(StringInfo sql, const bytea *value)
{
	appendStringInfoString(sql, "b'");
	for (int i = 0; i < VARSIZE_ANY_EXHDR(value); i++)
		appendStringInfo(sql, "\\x%02x", (uint8) VARDATA_ANY(value)[i]);
	appendStringInfoChar(sql, '\'');
}

/*
 * sk_ddl_write_number
 *		Write a number without its type; returns false if it is none.
 */
bool
sk_ddl_write_number(StringInfo sql, Const *value)
{
	Oid			output;
	bool		is_varlena;
	char	   *text;

	getTypeOutputInfo(value->consttype, &output, &is_varlena);
	text = OidOutputFunctionCall(output, value->constvalue);

	appendStringInfoString(sql, text);
	/* neither infinite nor no number */
	return strpbrk(text, "IN") == NULL;
}

/* A string in quotes that PostgreSQL's dialect finds, too. */
static void
write_string(StringInfo sql, const char *value)
{
	write_escaped(sql, value, strchr(value, '\'') != NULL && strchr(value, '"') == NULL ? '"' : '\'');
}

static void
write_escaped(StringInfo sql, const char *value, char quote)
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
