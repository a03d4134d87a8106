/*-------------------------------------------------------------------------
 *
 * literals.c
 *	  Constants of GoogleSQL: numbers, dates, times, intervals, arrays.
 *
 * src/spanner_ddl/literals.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "utils/builtins.h"

#include "spanner_ddl/reader.h"

static char *timestamp_literal(SkReader *reader, const char *text);
static const char *after_date(SkReader *reader, const char *text);
static void bad_literal(SkReader *reader, const char *text);

/* As PostgreSQL writes it. */
SkExpr
sk_ddl_read_number(SkReader *reader)
{
	const SkToken *token = peek(reader, 0);
	bool		is_integer = strspn(token->text, "0123456789") == strlen(token->text);
	char	   *text = token->text;
	SkExpr		result;

	reader->next++;
	if (pg_strncasecmp(token->text, "0x", 2) == 0)
		text = psprintf(UINT64_FORMAT, (uint64) strtoull(token->text, NULL, 16));

	else if (!is_integer)
	{
		result = make_expr(psprintf("%s::double precision", text), SK_TYPE_FLOAT, true);
		result.is_literal = true;
		result.text = text;

		return result;
	}
	result = make_expr(text, SK_TYPE_INT, true);
	result.is_literal = true;
	result.is_small = strlen(text) <= 20 && strtoull(text, NULL, 10) <= PG_INT32_MAX;
	result.text = text;

	return result;
}

/* NULL, TRUE, FALSE, DATE '...' and so on */
bool
sk_ddl_read_typed_literal(SkReader *reader, SkExpr *result)
{
	static const struct
	{
		const char *word;
		const char *type;
		SkType		class;
	}			typed[] =
	{
		{"date", "date", SK_TYPE_DATE},
		{"json", "jsonb", SK_TYPE_JSON},
		{"numeric", "numeric", SK_TYPE_NUMERIC},
		{"timestamp", "timestamptz", SK_TYPE_TIMESTAMP}
	};
	const SkToken *token = peek(reader, 0);

	if (accept(reader, "null"))
	{
		*result = make_expr("NULL", SK_TYPE_UNKNOWN, true);
		result->is_small = true;
		return true;
	}
	if (at(reader, "true") || at(reader, "false"))
	{
		reader->next++;
		*result = make_expr(token->text, SK_TYPE_BOOL, true);
		return true;
	}
	for (int i = 0; i < lengthof(typed); i++)
	{
		if (!at(reader, typed[i].word) || reader->next + 1 >= reader->end ||
			token[1].type != SK_TOKEN_STRING)
			continue;
		reader->next += 2;
		if (typed[i].class == SK_TYPE_DATE && *after_date(reader, token[1].text) != '\0')
			bad_literal(reader, token[1].text);
		*result = make_expr(typed[i].class == SK_TYPE_TIMESTAMP ? timestamp_literal(reader, token[1].text) :
							psprintf("%s %s", typed[i].type, quote_literal_cstr(token[1].text)),
							typed[i].class, true);
		return true;
	}
	return false;
}

/* A date, perhaps a time, and perhaps a zone: an offset, Z, or a name after a blank. */
static char *
timestamp_literal(SkReader *reader, const char *text)
{
	const char *rest = after_date(reader, text);
	const char *time = "";
	const char *zone;

	if (*rest != '\0' && strchr("Tt ", *rest) != NULL && isdigit((unsigned char) rest[1]))
		rest += 1 + strspn(rest + 1, "0123456789:.");
	else
		time = " 00:00:00";
	if (*rest == '\0')
		return psprintf("(timestamp %s AT TIME ZONE %s)", quote_literal_cstr(text),
						sk_ddl_zone(reader, reader->next - 1, NULL));
	zone = *rest == ' ' ? rest + 1 : rest;
	if (*rest != ' ' && *rest != '+' && *rest != '-' && pg_strcasecmp(rest, "z") != 0)
		bad_literal(reader, text);
	if (pg_strcasecmp(zone, "z") != 0)
		(void) sk_ddl_named_zone(reader, reader->next - 1, zone);
	return psprintf("timestamptz %s", quote_literal_cstr(psprintf("%.*s%s%s", (int) (rest - text), text,
																  time, rest)));
}

/* What comes behind a year, month and day. */
static const char *
after_date(SkReader *reader, const char *text)
{
	const char *rest = text;

	for (int i = 0; i < 3; i++)
	{
		int			length = strspn(rest, "0123456789");

		if (length == 0 || (i == 0 && length != 4) || (i < 2 && rest[length] != '-'))
			bad_literal(reader, text);
		rest += length + (i < 2);
	}
	return rest;
}

/* PostgreSQL takes others, such as "today". */
static void
bad_literal(SkReader *reader, const char *text)
{
	SK_DDL_ERROR(reader->ddl, reader->next - 1, ERRCODE_INVALID_DATETIME_FORMAT,
				 errmsg("invalid date or time: \"%s\"", text));
}

/* INTERVAL number part */
SkExpr
sk_ddl_read_interval(SkReader *reader)
{
	static const char *const parts[] = {
		"day", "hour", "microsecond", "millisecond", "minute", "month", "second", "week", "year"
	};
	SkExpr		number;

	expect(reader, "interval");
	number = sk_ddl_read_unary(reader);
	for (int i = 0; i < lengthof(parts); i++)
	{
		if (accept(reader, parts[i]))
			return make_expr(number.is_literal && number.text !=NULL ?
							 psprintf("interval '%s %s'", number.text, parts[i]) :
							 psprintf("(%s * interval '1 %s')", number.sql, parts[i]),
							 SK_TYPE_INTERVAL, true);
	}
	fail(reader);
}

/* [a, b] and ARRAY<type>[a, b] */
SkExpr
sk_ddl_read_array(SkReader *reader)
{
	StringInfoData type;
	SkTypeName	name = {0};
	SkExpr		list = make_expr("", SK_TYPE_UNKNOWN, true);
	SkExpr		result;

	initStringInfo(&type);
	if (accept(reader, "array") && accept(reader, "<"))
	{
		name.at = reader->next;
		name.name = pstrdup(peek(reader, 0) != NULL ? peek(reader, 0)->text : "");
		name.length = strcmp(name.name, "string") == 0 || strcmp(name.name, "bytes") == 0 ? -1 : 0;
		reader->next++;
		appendStringInfoString(&type, "::");
		(void) sk_ddl_type(reader->ddl, &name, &type);
		appendStringInfoString(&type, "[]");
		expect(reader, ">");
	}
	expect(reader, "[");
	if (!at(reader, "]"))
		list = sk_ddl_read_list(reader);
	expect(reader, "]");
	if (type.len == 0 && list.is_small && list.type == SK_TYPE_INT)
		appendStringInfoString(&type, "::bigint[]");
	/* of the type of what it is for */
	result = make_expr(*list.sql == '\0' && type.len == 0 ? "'{}'" : psprintf("ARRAY[%s]%s", list.sql, type.data),
					   SK_TYPE_ARRAY, type.len == 0);
	result.is_literal = true;
	return result;
}
