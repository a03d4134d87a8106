/*-------------------------------------------------------------------------
 *
 * expression.c
 *	  Expressions: from GoogleSQL to PostgreSQL.
 *
 * Expressions are read by precedence, and their parts have types as far as a
 * translation depends on them.  The PostgreSQL dialect has PostgreSQL's own
 * expressions, whose tokens are written anew as they are.
 *
 * src/spanner_ddl/expression.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/formatting.h"

#include "spanner_ddl/reader.h"

#define MAX_ARGUMENTS 64
#define MAX_TOKENS 5000

static SkExpr read_logical(SkReader *reader, int level);
static SkExpr read_comparison(SkReader *reader);
static bool read_predicate(SkReader *reader, SkExpr *left);
static SkExpr read_binary(SkReader *reader, int level);
static SkExpr combine(SkReader *reader, int at, const char *sign, SkExpr left, SkExpr right);
static SkExpr read_unary(SkReader *reader);
static SkExpr read_postfix(SkReader *reader);
static SkExpr read_primary(SkReader *reader);
static SkExpr read_number(SkReader *reader);
static bool read_typed_literal(SkReader *reader, SkExpr *result);
static SkExpr read_interval(SkReader *reader);
static SkExpr read_array(SkReader *reader);
static SkExpr read_case(SkReader *reader);
static SkExpr read_cast(SkReader *reader);
static SkExpr read_extract(SkReader *reader);
static SkExpr read_sequence_value(SkReader *reader, const char *format);
static SkExpr read_call(SkReader *reader);
static SkExpr read_variable(SkReader *reader, char *name, int place);
static char *read_list(SkReader *reader, SkType *first);
static char *upper_case(const char *word);

/*
 * sk_ddl_expression
 *		PostgreSQL's text of an expression, whose columns are "variables".
 *
 * Sets its type, unless that pointer is NULL.
 */
char *
sk_ddl_expression(SkDdlText *ddl, SkRange range, List *variables, SkType *type)
{
	SkReader	reader = {ddl, range.first, range.end, variables, false};
	SkExpr		result;

	check_stack_depth();
	if (ddl->dialect == SK_POSTGRESQL)
		return sk_ddl_copy_tokens(&reader);
	sk_ddl_check_length(ddl, range);
	result = sk_ddl_read_expression(&reader);
	if (reader.next < reader.end)
		fail(&reader);
	if (type != NULL)
		*type = result.type;
	return result.sql;
}

/*
 * sk_ddl_check_length
 *		Raise an error if there are too many tokens: each operator copies what
 *		is before it.
 */
void
sk_ddl_check_length(SkDdlText *ddl, SkRange range)
{
	if (range.end - range.first > MAX_TOKENS)
		SK_DDL_ERROR(ddl, range.first, ERRCODE_STATEMENT_TOO_COMPLEX,
					 errmsg("expression or query has more than %d tokens", MAX_TOKENS));
}

static char *
upper_case(const char *word)
{
	return asc_toupper(word, strlen(word));
}

SkExpr
sk_ddl_read_expression(SkReader *reader)
{
	check_stack_depth();
	return read_logical(reader, 0);
}

/* OR, AND, NOT, which bind as in PostgreSQL */
static SkExpr
read_logical(SkReader *reader, int level)
{
	static const char *const words[] = {"or", "and"};
	SkExpr		left;

	check_stack_depth();
	if (level == lengthof(words))
	{
		if (!accept(reader, "not"))
			return read_comparison(reader);
		left = read_logical(reader, level);
		return make_expr(psprintf("NOT %s", left.sql), SK_TYPE_BOOL, false);
	}
	left = read_logical(reader, level + 1);
	while (accept(reader, words[level]))
	{
		SkExpr		right = read_logical(reader, level + 1);

		left = make_expr(psprintf("%s %s %s", left.sql, level == 0 ? "OR" : "AND", right.sql),
						 SK_TYPE_BOOL, false);
	}
	return left;
}

static SkExpr
read_comparison(SkReader *reader)
{
	static const char *const signs[] = {"=", "<", ">", "<=", ">=", "!=", "<>"};
	SkExpr		left = read_binary(reader, 0);

	for (;;)
	{
		bool		found = false;

		for (int i = 0; i < lengthof(signs) && !found; i++)
		{
			if (accept(reader, signs[i]))
			{
				left = make_expr(psprintf("%s %s %s", left.sql,
										  strcmp(signs[i], "!=") == 0 ? "<>" : signs[i],
										  read_binary(reader, 0).sql), SK_TYPE_BOOL, false);
				found = true;
			}
		}
		if (!found && !read_predicate(reader, &left))
			return left;
	}
}

/* IS, IN, LIKE, BETWEEN; returns false if none comes next */
static bool
read_predicate(SkReader *reader, SkExpr *left)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, left->sql);
	if (accept(reader, "is"))
	{
		appendStringInfoString(&sql, accept(reader, "not") ? " IS NOT " : " IS ");
		if (at(reader, "null") || at(reader, "true") || at(reader, "false"))
			appendStringInfoString(&sql, upper_case(peek(reader, 0)->text));
		else
			fail(reader);
		reader->next++;
	}
	else
	{
		int			start = reader->next;
		const char *not = accept(reader, "not") ? " NOT" : "";

		if (accept(reader, "like"))
			appendStringInfo(&sql, "%s LIKE %s", not, read_binary(reader, 0).sql);
		else if (accept(reader, "between"))
		{
			appendStringInfo(&sql, "%s BETWEEN %s", not, read_binary(reader, 0).sql);
			expect(reader, "and");
			appendStringInfo(&sql, " AND %s", read_binary(reader, 0).sql);
		}
		else if (accept(reader, "in"))
		{
			if (accept(reader, "unnest"))
				appendStringInfo(&sql, *not == '\0' ? " = ANY %s" : " <> ALL %s",
								 sk_ddl_read_parentheses(reader).sql);
			else if (at(reader, "("))
				appendStringInfo(&sql, "%s IN %s", not, sk_ddl_read_parentheses(reader).sql);
			else
				fail(reader);
		}
		else
		{
			reader->next = start;
			return false;
		}
	}
	*left = make_expr(sql.data, SK_TYPE_BOOL, false);
	return true;
}

/* Operators by the levels of GoogleSQL, those that bind least first. */
static SkExpr
read_binary(SkReader *reader, int level)
{
	static const char *const signs[][3] = {
		{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "||"}
	};
	SkExpr		left;

	if (level == lengthof(signs))
		return read_unary(reader);
	left = read_binary(reader, level + 1);
	for (;;)
	{
		const char *sign = NULL;
		int			place = reader->next;

		for (int i = 0; i < 3 && sign == NULL && signs[level][i] != NULL; i++)
		{
			if (accept(reader, signs[level][i]))
				sign = signs[level][i];
		}
		if (sign == NULL)
			return left;
		left = combine(reader, place, sign, left, read_binary(reader, level + 1));
	}
}

static SkExpr
combine(SkReader *reader, int place, const char *sign, SkExpr left, SkExpr right)
{
	bool		has_level = strchr("+-*/", *sign) != NULL;
	SkType		type = left.type == SK_TYPE_UNKNOWN ? right.type : left.type;
	SkExpr		operands[2] = {left, right};

	if (type == SK_TYPE_INT && (right.type == SK_TYPE_FLOAT || right.type == SK_TYPE_NUMERIC))
		type = right.type;

	/*
	 * PostgreSQL divides integers without a remainder, and knows the type
	 * integer
	 */
	if (*sign == '/' && type == SK_TYPE_UNKNOWN)
		sk_ddl_refuse(reader->ddl, place, "division of values whose type is not known",
					  "Cast them: CAST(x AS FLOAT64).");
	if (*sign == '/' && type == SK_TYPE_INT)
	{
		left.sql = sk_ddl_fill_template("%1::double precision", &left, 1);
		type = SK_TYPE_FLOAT;
	}
	else if (left.is_literal && right.is_literal && type == SK_TYPE_INT)
		left.sql = sk_ddl_fill_template("%1::bigint", &left, 1);
	operands[0] = left;
	if (strcmp(sign, "^") == 0)
		sign = "#";
	if (strcmp(sign, "<<") == 0 || strcmp(sign, ">>") == 0)
		return make_expr(psprintf("%s %s (%s)::integer", sk_ddl_fill_template("%1", &left, 1), sign,
								  right.sql), type, false);
	if (has_level)
		return make_expr(psprintf("%s %s %s", left.sql, sign, right.sql), type, false);
	return make_expr(psprintf("%s %s %s", sk_ddl_fill_template("%1", operands, 2), sign,
							  sk_ddl_fill_template("%2", operands, 2)), type, false);
}

static SkExpr
read_unary(SkReader *reader)
{
	static const char *const signs[] = {"-", "+", "~"};

	for (int i = 0; i < lengthof(signs); i++)
	{
		if (accept(reader, signs[i]))
		{
			SkExpr		operand;
			bool		is_literal;

			check_stack_depth();
			is_literal = reader->next < reader->end &&
				peek(reader, 0)->type == SK_TOKEN_NUMBER;
			operand = read_unary(reader);
			operand.sql = psprintf(is_literal ? "%s%s" : "%s(%s)", signs[i], operand.sql);
			operand.is_primary = false;
			return operand;
		}
	}
	return read_postfix(reader);
}

/* An element of an array. */
static SkExpr
read_postfix(SkReader *reader)
{
	SkExpr		result = read_primary(reader);

	while (accept(reader, "["))
	{
		const char *format;
		SkExpr		place;

		if (accept(reader, "offset") || accept(reader, "safe_offset"))
			format = "%s[%s + 1]";
		else if (accept(reader, "ordinal") || accept(reader, "safe_ordinal"))
			format = "%s[%s]";
		else
			fail(reader);
		place = sk_ddl_read_parentheses(reader);
		expect(reader, "]");
		result = make_expr(psprintf(format, sk_ddl_fill_template("%1", &result, 1), place.sql),
						   SK_TYPE_UNKNOWN, true);
	}
	return result;
}

static SkExpr
read_primary(SkReader *reader)
{
	const SkToken *token = peek(reader, 0);
	SkExpr		result;

	if (token == NULL)
		fail(reader);
	switch (token->type)
	{
		case SK_TOKEN_NUMBER:
			return read_number(reader);
		case SK_TOKEN_STRING:
			reader->next++;
			return make_expr(quote_literal_cstr(token->text), SK_TYPE_STRING, true);
		case SK_TOKEN_BYTES:
			reader->next++;
			return make_expr(psprintf("'\\x%s'::bytea", token->text), SK_TYPE_BYTES, true);
		case SK_TOKEN_NAME:
			return sk_ddl_read_name(reader);
		case SK_TOKEN_WORD:
			break;
		default:
			if (at(reader, "("))
				return sk_ddl_read_parentheses(reader);
			if (at(reader, "["))
				return read_array(reader);
			fail(reader);
	}
	if (read_typed_literal(reader, &result))
		return result;
	if (at(reader, "case"))
		return read_case(reader);
	if (at(reader, "cast"))
		return read_cast(reader);
	if (at(reader, "extract"))
		return read_extract(reader);
	if (at(reader, "interval"))
		return read_interval(reader);
	if (at(reader, "array"))
		return read_array(reader);
	if (accept(reader, "exists"))
		return make_expr(psprintf("EXISTS %s", sk_ddl_read_parentheses(reader).sql), SK_TYPE_BOOL, true);
	if (at(reader, "get_next_sequence_value"))
		return read_sequence_value(reader, "pg_catalog.nextval(%s)");
	if (at(reader, "get_internal_sequence_state"))
		return read_sequence_value(reader, "spanner.get_internal_sequence_state(%s::pg_catalog.regclass::text)");
	if (token[1].type == SK_TOKEN_OPERATOR && reader->next + 1 < reader->end &&
		strcmp(token[1].text, "(") == 0)
		return read_call(reader);
	if (accept(reader, "current_timestamp"))
		return make_expr("CURRENT_TIMESTAMP", SK_TYPE_TIMESTAMP, true);
	return sk_ddl_read_name(reader);
}

/* An expression, a list of them or a query, with the parentheses. */
SkExpr
sk_ddl_read_parentheses(SkReader *reader)
{
	SkType		type = SK_TYPE_UNKNOWN;
	char	   *list;

	check_stack_depth();
	expect(reader, "(");
	list = at(reader, "select") || at(reader, "with") ? sk_ddl_read_query(reader) :
		read_list(reader, &type);
	expect(reader, ")");
	return make_expr(psprintf("(%s)", list), type, true);
}

static SkExpr
read_number(SkReader *reader)
{
	const SkToken *token = peek(reader, 0);
	bool		is_integer = strspn(token->text, "0123456789") == strlen(token->text);
	SkExpr		result;

	reader->next++;
	if (pg_strncasecmp(token->text, "0x", 2) == 0)
		result = make_expr(psprintf(UINT64_FORMAT, (uint64) strtoull(token->text, NULL, 16)),
						   SK_TYPE_INT, true);
	else if (is_integer)
		result = make_expr(token->text, SK_TYPE_INT, true);
	else
		result = make_expr(psprintf("%s::double precision", token->text), SK_TYPE_FLOAT, true);
	result.is_literal = true;
	return result;
}

/* NULL, TRUE, FALSE, DATE '...' and so on */
static bool
read_typed_literal(SkReader *reader, SkExpr *result)
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
		char	   *value;
		const char *zone;

		if (!at(reader, typed[i].word) || reader->next + 1 >= reader->end ||
			token[1].type != SK_TOKEN_STRING)
			continue;
		reader->next += 2;
		value = quote_literal_cstr(token[1].text);
		/* a zone is what comes after the time: a letter or a sign */
		zone = strpbrk(token[1].text, ":");
		if (typed[i].class == SK_TYPE_TIMESTAMP &&
			(zone == NULL || strpbrk(zone, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-") == NULL))
			value = psprintf("(timestamp %s AT TIME ZONE %s)", value, sk_ddl_time_zone());
		else
			value = psprintf("%s %s", typed[i].type, value);
		*result = make_expr(value, typed[i].class, true);
		return true;
	}
	return false;
}

/* INTERVAL number part */
static SkExpr
read_interval(SkReader *reader)
{
	static const char *const parts[] = {
		"day", "hour", "microsecond", "millisecond", "minute", "month", "second", "week", "year"
	};
	SkExpr		number;

	expect(reader, "interval");
	number = read_unary(reader);
	for (int i = 0; i < lengthof(parts); i++)
	{
		if (accept(reader, parts[i]))
			return make_expr(number.is_literal ?
							 psprintf("interval '%s %s'", number.sql, parts[i]) :
							 psprintf("(%s * interval '1 %s')", number.sql, parts[i]),
							 SK_TYPE_INTERVAL, true);
	}
	fail(reader);
}

/* [a, b] and ARRAY<type>[a, b] */
static SkExpr
read_array(SkReader *reader)
{
	StringInfoData type;
	SkTypeName	name = {0};
	char	   *list = "";

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
		list = read_list(reader, NULL);
	expect(reader, "]");
	/* of the type of what it is for */
	if (*list == '\0' && type.len == 0)
		return make_expr("'{}'", SK_TYPE_ARRAY, true);
	return make_expr(psprintf("ARRAY[%s]%s", list, type.data), SK_TYPE_ARRAY, true);
}

static SkExpr
read_case(SkReader *reader)
{
	StringInfoData sql;
	SkType		type = SK_TYPE_UNKNOWN;

	initStringInfo(&sql);
	expect(reader, "case");
	appendStringInfoString(&sql, "CASE");
	if (!at(reader, "when"))
		appendStringInfo(&sql, " %s", sk_ddl_read_expression(reader).sql);
	while (accept(reader, "when"))
	{
		SkExpr		value;

		appendStringInfo(&sql, " WHEN %s", sk_ddl_read_expression(reader).sql);
		expect(reader, "then");
		value = sk_ddl_read_expression(reader);
		if (type == SK_TYPE_UNKNOWN)
			type = value.type;
		appendStringInfo(&sql, " THEN %s", value.sql);
	}
	if (accept(reader, "else"))
		appendStringInfo(&sql, " ELSE %s", sk_ddl_read_expression(reader).sql);
	expect(reader, "end");
	appendStringInfoString(&sql, " END");
	return make_expr(sql.data, type, true);
}

/* CAST(expression AS type) */
static SkExpr
read_cast(SkReader *reader)
{
	int			start = reader->next++;
	StringInfoData type;
	SkTypeName	name = {0};
	SkExpr		value;
	SkType		target;
	const char *cast;

	initStringInfo(&type);
	expect(reader, "(");
	value = sk_ddl_read_expression(reader);
	expect(reader, "as");
	if (peek(reader, 0) == NULL)
		fail(reader);
	name.at = reader->next;
	name.name = peek(reader, 0)->text;
	name.length = strcmp(name.name, "string") == 0 || strcmp(name.name, "bytes") == 0 ? -1 : 0;
	reader->next++;
	target = sk_ddl_type(reader->ddl, &name, &type);
	expect(reader, ")");

	cast = value.type == SK_TYPE_UNKNOWN ? NULL : sk_ddl_cast(value.type, target);
	if (value.type == SK_TYPE_UNKNOWN && strcmp(value.sql, "NULL") == 0)
		return make_expr(psprintf("NULL::%s", type.data), target, true);
	if (cast == NULL)
		sk_ddl_refuse(reader->ddl, start,
					  psprintf("cast to %s of a value of this type", upper_case(name.name)),
					  NULL);
	return make_expr(sk_ddl_fill_template(cast, &value, 1), target, true);
}

/* EXTRACT(part FROM expression [AT TIME ZONE zone]) */
static SkExpr
read_extract(SkReader *reader)
{
	const SkToken *part;
	SkExpr		value;
	const char *zone = sk_ddl_time_zone();

	reader->next++;
	expect(reader, "(");
	part = peek(reader, 0);
	if (part == NULL || part->type != SK_TOKEN_WORD)
		fail(reader);
	reader->next++;
	expect(reader, "from");
	value = sk_ddl_read_expression(reader);
	if (accept(reader, "at"))
	{
		expect(reader, "time");
		expect(reader, "zone");
		zone = read_unary(reader).sql;
	}
	expect(reader, ")");
	if (value.type == SK_TYPE_TIMESTAMP)
		value = make_expr(psprintf("%s AT TIME ZONE %s", sk_ddl_fill_template("%1", &value, 1), zone),
						  SK_TYPE_UNKNOWN, false);
	else if (value.type != SK_TYPE_DATE)
		sk_ddl_refuse(reader->ddl, reader->next - 1, "EXTRACT() from a value of this type", NULL);
	/* GoogleSQL's week begins on Sunday, and its fractions are apart */
	if (strcmp(part->text, "date") == 0)
		return make_expr(psprintf("(%s)::date", value.sql), SK_TYPE_DATE, true);
	if (strcmp(part->text, "dayofweek") == 0)
		return make_expr(psprintf("(extract(dow FROM %s) + 1)::bigint", value.sql), SK_TYPE_INT, true);
	if (strcmp(part->text, "year") != 0 && strcmp(part->text, "month") != 0 &&
		strcmp(part->text, "day") != 0 && strcmp(part->text, "hour") != 0 &&
		strcmp(part->text, "minute") != 0 && strcmp(part->text, "second") != 0 &&
		strcmp(part->text, "quarter") != 0 && strcmp(part->text, "isoyear") != 0)
		sk_ddl_refuse(reader->ddl, reader->next - 1,
					  psprintf("EXTRACT() of %s", upper_case(part->text)), NULL);
	return make_expr(psprintf("floor(extract(%s FROM %s))::bigint", part->text, value.sql),
					 SK_TYPE_INT, true);
}

/* function(SEQUENCE name) */
static SkExpr
read_sequence_value(SkReader *reader, const char *format)
{
	SkName		name = {NIL, 0};

	reader->next++;
	expect(reader, "(");
	expect(reader, "sequence");
	do
	{
		if (peek(reader, 0) == NULL || (peek(reader, 0)->type != SK_TOKEN_WORD &&
										peek(reader, 0)->type != SK_TOKEN_NAME))
			fail(reader);
		if (name.parts == NIL)
			name.at = reader->next;
		name.parts = lappend(name.parts, peek(reader, 0)->text);
		reader->next++;
	} while (accept(reader, "."));
	expect(reader, ")");
	(void) sk_ddl_find(reader->ddl, &name, RELKIND_SEQUENCE, false);
	return make_expr(psprintf(format, quote_literal_cstr(sk_ddl_name(&name))), SK_TYPE_INT, true);
}

/* A call of a function that functions.c knows. */
static SkExpr
read_call(SkReader *reader)
{
	int			start = reader->next;
	char	   *name = peek(reader, 0)->text;
	const SkDdlFunction *function = sk_ddl_function(name, -1);
	SkExpr		arguments[MAX_ARGUMENTS];
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
		if (strcmp(name, "count") == 0 && accept(reader, "*"))
			arguments[count++] = make_expr("*", SK_TYPE_UNKNOWN, true);
		else if (count == 1 && strchr(function->arguments, 'p') != NULL &&
				 peek(reader, 0) != NULL && peek(reader, 0)->type == SK_TOKEN_WORD)
		{
			arguments[count++] = make_expr(quote_literal_cstr(peek(reader, 0)->text), SK_TYPE_STRING, true);
			reader->next++;
		}
		else if (count == 1 && strchr(function->arguments, 'r') != NULL)
			arguments[count++] = sk_ddl_read_regex(reader);
		else
		{
			bool		is_distinct = accept(reader, "distinct");

			arguments[count] = sk_ddl_read_expression(reader);
			if (is_distinct)
				arguments[count].sql = psprintf("DISTINCT %s", arguments[count].sql);
			count++;
		}
	}
	function = sk_ddl_function(name, count);
	if (function == NULL || (count == 0 && function->arguments[0] == '*'))
		SK_DDL_ERROR(reader->ddl, start, ERRCODE_UNDEFINED_FUNCTION,
					 errmsg("function %s does not take %d arguments here", upper_case(name), count));
	result = make_expr(sk_ddl_fill_template(function->sql, arguments, count), function->result, true);
	if (function->result == '1' || function->result == '2')
		result.type = arguments[function->result - '1'].type;
	/* of integers, PostgreSQL's sum is numeric */
	if (strcmp(name, "sum") == 0 && result.type == SK_TYPE_INT)
		result.sql = psprintf("%s::bigint", result.sql);
	return result;
}

/* A column, perhaps with a table before it. */
SkExpr
sk_ddl_read_name(SkReader *reader)
{
	StringInfoData sql;
	int			start = reader->next;
	char	   *last = NULL;

	initStringInfo(&sql);
	do
	{
		const SkToken *token = peek(reader, 0);

		if (token == NULL || (token->type != SK_TOKEN_WORD && token->type != SK_TOKEN_NAME))
			fail(reader);
		if (sql.len > 0)
			appendStringInfoChar(&sql, '.');
		if (reader->is_query && sql.len > 0 && at(reader, "*"))
			break;
		last = token->text;
		appendStringInfoString(&sql, quote_identifier(last));
		reader->next++;
	} while (accept(reader, "."));
	if (reader->next == start + 1 || reader->is_query)
	{
		SkExpr		result = read_variable(reader, last, start);

		return reader->is_query ? make_expr(sql.data, result.type, true) : result;
	}
	return make_expr(sql.data, SK_TYPE_UNKNOWN, true);
}

/*
 * A column as an expression sees it.  PostgreSQL's generated columns cannot
 * depend on others, so what those are computed from takes their place.
 */
static SkExpr
read_variable(SkReader *reader, char *name, int place)
{
	ListCell   *lc;

	foreach(lc, reader->variables)
	{
		SkVariable *variable = lfirst(lc);

		if (strcmp(variable->name, name) != 0)
			continue;
		if (variable->is_open)
			SK_DDL_ERROR(reader->ddl, place, ERRCODE_INVALID_OBJECT_DEFINITION,
						 errmsg("generated column \"%s\" depends on itself", name));
		if (variable->column != NULL && variable->expands)
		{
			variable->is_open = true;
			name = sk_ddl_expression(reader->ddl, variable->column->expr,
									 reader->variables, NULL);
			variable->is_open = false;
			return make_expr(psprintf("(%s)", name), variable->type, true);
		}
		if (variable->expression != NULL && variable->expands)
			return make_expr(variable->expression, variable->type, true);
		return make_expr(pstrdup(quote_identifier(name)), variable->type, true);
	}
	if (reader->is_query)
		return make_expr(name, SK_TYPE_UNKNOWN, true);
	SK_DDL_ERROR(reader->ddl, place, ERRCODE_UNDEFINED_COLUMN,
				 errmsg("column \"%s\" does not exist", name));
}

/* Expressions with commas between them; the type is that of the first. */
static char *
read_list(SkReader *reader, SkType *first)
{
	StringInfoData sql;

	initStringInfo(&sql);
	do
	{
		SkExpr		value = sk_ddl_read_expression(reader);

		if (sql.len > 0)
			appendStringInfoString(&sql, ", ");
		else if (first != NULL)
			*first = value.type;
		appendStringInfoString(&sql, value.sql);
	} while (accept(reader, ","));
	return sql.data;
}
