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

#include "spanner_ddl/reader.h"

#define MAX_TOKENS 5000

static SkExpr read_logical(SkReader *reader, int level);
static SkExpr read_comparison(SkReader *reader);
static bool read_predicate(SkReader *reader, SkExpr *left);
static char *in_list(SkReader *reader, SkExpr *left, const char *not);
static SkExpr in_array(SkReader *reader, const SkExpr *left, bool is_in);
static SkExpr read_binary(SkReader *reader, int level);
static SkExpr combine(SkReader *reader, int at, const char *sign, SkExpr left, SkExpr right);
static bool is_unknown(const SkExpr *value);
static SkExpr shift(SkReader *reader, int place, bool is_left, SkExpr value, SkExpr places);
static SkExpr sign_expr(const char *sign, bool is_literal, SkExpr operand);
static SkExpr read_postfix(SkReader *reader);
static SkExpr read_primary(SkReader *reader);
static SkExpr read_case(SkReader *reader);
static SkExpr read_cast(SkReader *reader);
static SkExpr read_extract(SkReader *reader);
static SkExpr read_sequence_value(SkReader *reader, const char *format);
static SkExpr read_variable(SkReader *reader, char *name, int place);
static char *expand(SkReader *reader, const SkVariable *variable);

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
				SkExpr		right = read_binary(reader, 0);

				(void) sk_ddl_match_types(list_make2(&left, &right), NULL);
				left = make_expr(psprintf("%s %s %s", left.sql,
										  strcmp(signs[i], "!=") == 0 ? "<>" : signs[i],
										  right.sql), SK_TYPE_BOOL, false);
				found = true;
			}
		}
		if (!found && !read_predicate(reader, &left))
			return left;
	}
}

/* IS, IS DISTINCT FROM, IN, LIKE, BETWEEN; returns false if none comes next */
static bool
read_predicate(SkReader *reader, SkExpr *left)
{
	int			start = reader->next;
	const char *not = "";
	char	   *sql;

	if (accept(reader, "is"))
	{
		not = accept(reader, "not") ? " NOT" : "";
		if (accept(reader, "distinct"))
		{
			SkExpr		right;

			expect(reader, "from");
			right = read_binary(reader, 0);
			(void) sk_ddl_match_types(list_make2(left, &right), NULL);
			*left = make_expr(psprintf("(%s IS%s DISTINCT FROM %s)", left->sql, not, right.sql),
							  SK_TYPE_BOOL, true);
			return true;
		}
		if (!at(reader, "null") && !at(reader, "true") && !at(reader, "false"))
			fail(reader);
		sql = psprintf("%s IS%s %s", left->sql, not, upper_case(peek(reader, 0)->text));
		reader->next++;
		*left = make_expr(sql, SK_TYPE_BOOL, false);
		return true;
	}
	if (accept(reader, "not"))
		not = " NOT";
	if (accept(reader, "like"))
		sql = psprintf("%s%s LIKE %s", left->sql, not, read_binary(reader, 0).sql);
	else if (accept(reader, "between"))
	{
		SkExpr		low = read_binary(reader, 0);
		SkExpr		high;

		expect(reader, "and");
		high = read_binary(reader, 0);
		(void) sk_ddl_match_types(list_make3(left, &low, &high), NULL);
		sql = psprintf("%s%s BETWEEN %s AND %s", left->sql, not, low.sql, high.sql);
	}
	else if (accept(reader, "in"))
	{
		if (accept(reader, "unnest"))
		{
			*left = in_array(reader, left, *not == '\0');
			return true;
		}
		sql = in_list(reader, left, not);
	}
	else
	{
		reader->next = start;
		return false;
	}
	*left = make_expr(sql, SK_TYPE_BOOL, false);
	return true;
}

/* IN, with a list or a query */
static char *
in_list(SkReader *reader, SkExpr *left, const char *not)
{
	List	   *values = list_make1(left);
	StringInfoData sql;
	ListCell   *lc;

	expect(reader, "(");
	if (at(reader, "select") || at(reader, "with"))
	{
		reader->next--;
		return psprintf("%s%s IN %s", left->sql, not, sk_ddl_read_parentheses(reader).sql);
	}
	do
	{
		SkExpr	   *value = palloc(sizeof(SkExpr));

		*value = sk_ddl_read_expression(reader);
		values = lappend(values, value);
	} while (accept(reader, ","));
	expect(reader, ")");
	(void) sk_ddl_match_types(values, NULL);

	initStringInfo(&sql);
	appendStringInfo(&sql, "%s%s IN (", left->sql, not);
	for_each_from(lc, values, 1)
		appendStringInfo(&sql, "%s%s", foreach_current_index(lc) == 1 ? "" : ", ", ((SkExpr *) lfirst(lc))->sql);
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/* In no array, which NULL is, there is nothing. */
static SkExpr
in_array(SkReader *reader, const SkExpr *left, bool is_in)
{
	SkExpr		array;
	const char *format;

	expect(reader, "(");
	array = sk_ddl_read_expression(reader);
	expect(reader, ")");
	if (array.is_literal)
		return make_expr(psprintf(is_in ? "%s = ANY (%s)" : "%s <> ALL (%s)", left->sql, array.sql),
						 SK_TYPE_BOOL, false);
	format = is_in ? "(%s IS NOT NULL AND %s = ANY (%s))" : "(%s IS NULL OR %s <> ALL (%s))";
	return make_expr(psprintf(format, sk_ddl_fill_template("%1", &array, 1), left->sql, array.sql),
					 SK_TYPE_BOOL, true);
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
		return sk_ddl_read_unary(reader);
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
	bool		is_arithmetic = strchr("+-*/", *sign) != NULL;
	SkExpr		operands[] = {left, right};
	bool		is_small;
	SkType		type;

	if (strcmp(sign, "<<") == 0 || strcmp(sign, ">>") == 0)
		return shift(reader, place, *sign == '<', left, right);
	if (*sign == '/' && (is_unknown(&left) || is_unknown(&right)))
		sk_ddl_refuse(reader->ddl, place, "division of values whose type is not known",
					  "Cast them: CAST(x AS FLOAT64).");

	/*
	 * PostgreSQL computes reals as such, and divides integers without a
	 * remainder
	 */
	for (int i = 0; i < 2 && is_arithmetic; i++)
	{
		if (operands[i].type == SK_TYPE_FLOAT32)
			operands[i] = make_expr(sk_ddl_fill_template("%1::double precision", &operands[i], 1),
									SK_TYPE_FLOAT, true);
	}
	type = sk_ddl_match_types(list_make2(&operands[0], &operands[1]), &is_small);
	left = operands[0];
	right = operands[1];
	if (*sign == '/' && type == SK_TYPE_INT)
	{
		left.sql = sk_ddl_fill_template("%1::double precision", &left, 1);
		type = SK_TYPE_FLOAT;
	}
	else if (is_small)
		left.sql = sk_ddl_fill_template("%1::bigint", &left, 1);
	/* so many digits that rounding twice does nothing */
	if (*sign == '/' && type == SK_TYPE_NUMERIC)
		left.sql = sk_ddl_fill_template("%1::numeric(88,50)", &left, 1);
	if ((*sign == '/' || *sign == '*') && type == SK_TYPE_NUMERIC)
		return make_expr(psprintf("(%s %s %s)::numeric(38,9)", left.sql, sign, right.sql), type, true);
	if (is_arithmetic)
		return make_expr(psprintf("%s %s %s", left.sql, sign, right.sql), type, false);
	operands[0] = left;
	operands[1] = right;
	return make_expr(psprintf("%s %s %s", sk_ddl_fill_template("%1", operands, 2),
							  strcmp(sign, "^") == 0 ? "#" : sign,
							  sk_ddl_fill_template("%2", operands, 2)), type, false);
}

/* Has it a type that is not known?  NULL is of any type. */
static bool
is_unknown(const SkExpr *value)
{
	return value->type == SK_TYPE_UNKNOWN && !value->is_small;
}

/* By a constant that PostgreSQL can shift by, or by any number. */
static SkExpr
shift(SkReader *reader, int place, bool is_left, SkExpr value, SkExpr places)
{
	SkExpr		operands[2];
	int			number = places.is_small && places.text !=NULL && strlen(places.text) < 3 ? atoi(places.text) : 0;

	if ((value.type != SK_TYPE_INT && value.type != SK_TYPE_UNKNOWN) ||
		(places.type != SK_TYPE_INT && places.type != SK_TYPE_UNKNOWN))
		sk_ddl_refuse(reader->ddl, place, "shift of values of this type", NULL);
	if (value.is_small)
		value.sql = sk_ddl_fill_template("%1::bigint", &value, 1);
	operands[0] = value;
	operands[1] = places;
	if (number <= 0 || number >= 64)
		return make_expr(sk_ddl_fill_template(is_left ? "spanner_internal.shift_left($1, $2)" :
											  "spanner_internal.shift_right($1, $2)", operands, 2),
						 SK_TYPE_INT, true);
	if (is_left)
		return make_expr(sk_ddl_fill_template("%1 << $2", operands, 2), SK_TYPE_INT, false);
	/* PostgreSQL repeats the sign */
	return make_expr(psprintf("((%s >> %d) & " INT64_FORMAT ")", sk_ddl_fill_template("%1", operands, 1), number,
							  (int64) (PG_UINT64_MAX >> number)), SK_TYPE_INT, true);
}

/*
 * sk_ddl_match_types
 *		The type that operands, which are SkExpr, become.
 *
 * Next to a NUMERIC or FLOAT32, a literal of FLOAT64 is one.  Sets "is_small" if
 * PostgreSQL takes them for integers, unless that pointer is NULL.
 */
SkType
sk_ddl_match_types(List *operands, bool *is_small)
{
	SkType		type = SK_TYPE_UNKNOWN;
	bool		are_small = true;
	ListCell   *lc;

	foreach(lc, operands)
	{
		SkExpr	   *operand = lfirst(lc);

		are_small = are_small && operand->is_small;
		if (!operand->is_literal || operand->type != SK_TYPE_FLOAT)
			type = sk_ddl_common_type(type, operand->type);
	}
	foreach(lc, operands)
	{
		SkExpr	   *operand = lfirst(lc);

		if (!operand->is_literal || operand->type != SK_TYPE_FLOAT)
			continue;
		if (type == SK_TYPE_NUMERIC || type == SK_TYPE_FLOAT32)
			operand->sql = psprintf("%s::%s", operand->text, type == SK_TYPE_NUMERIC ? "numeric" : "real");
		else
			type = sk_ddl_common_type(type, SK_TYPE_FLOAT);
	}
	if (is_small != NULL)
		*is_small = are_small && type == SK_TYPE_INT;
	return type;
}

SkExpr
sk_ddl_read_unary(SkReader *reader)
{
	static const char *const signs[] = {"-", "+", "~"};

	for (int i = 0; i < lengthof(signs); i++)
	{
		if (accept(reader, signs[i]))
		{
			bool		is_literal = *signs[i] != '~' && reader->next < reader->end &&
				peek(reader, 0)->type == SK_TOKEN_NUMBER;

			check_stack_depth();
			return sign_expr(signs[i], is_literal, sk_ddl_read_unary(reader));
		}
	}
	return read_postfix(reader);
}

/* PostgreSQL's ~ binds less than other operators. */
static SkExpr
sign_expr(const char *sign, bool is_literal, SkExpr operand)
{
	SkExpr		result;

	is_literal = is_literal && operand.text !=NULL;
	if (*sign == '~')
		result = make_expr(sk_ddl_fill_template("(~ %1)", &operand, 1), operand.type, true);
	else
		result = make_expr(psprintf(is_literal ? "%s%s" : "%s(%s)", sign, operand.sql), operand.type, false);
	result.is_small = operand.is_small;
	result.is_literal = is_literal;
	result.text = is_literal ? psprintf("%s%s", sign, operand.text) : NULL;
	return result;
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
			return sk_ddl_read_number(reader);
		case SK_TOKEN_STRING:
			reader->next++;
			result = make_expr(quote_literal_cstr(token->text), SK_TYPE_STRING, true);
			result.text = token->text;
			return result;
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
				return sk_ddl_read_array(reader);
			fail(reader);
	}
	if (sk_ddl_read_typed_literal(reader, &result))
		return result;
	if (at(reader, "case"))
		return read_case(reader);
	if (at(reader, "cast"))
		return read_cast(reader);
	if (at(reader, "extract"))
		return read_extract(reader);
	if (at(reader, "interval"))
		return sk_ddl_read_interval(reader);
	if (at(reader, "array"))
		return sk_ddl_read_array(reader);
	if (accept(reader, "exists"))
		return make_expr(psprintf("EXISTS %s", sk_ddl_read_parentheses(reader).sql), SK_TYPE_BOOL, true);
	if (at(reader, "get_next_sequence_value"))
		return read_sequence_value(reader, "pg_catalog.nextval(%s)");
	if (at(reader, "get_internal_sequence_state"))
		return read_sequence_value(reader, "spanner.get_internal_sequence_state(%s::pg_catalog.regclass::text)");
	if (token[1].type == SK_TOKEN_OPERATOR && reader->next + 1 < reader->end &&
		strcmp(token[1].text, "(") == 0)
		return sk_ddl_read_call(reader);
	if (accept(reader, "current_timestamp"))
		return make_expr("CURRENT_TIMESTAMP", SK_TYPE_TIMESTAMP, true);
	return sk_ddl_read_name(reader);
}

/* An expression, a list of them or a query, with the parentheses. */
SkExpr
sk_ddl_read_parentheses(SkReader *reader)
{
	SkExpr		result;

	check_stack_depth();
	expect(reader, "(");
	result = at(reader, "select") || at(reader, "with") ?
		make_expr(sk_ddl_read_query(reader), SK_TYPE_UNKNOWN, true) : sk_ddl_read_list(reader);
	expect(reader, ")");
	result.sql = psprintf("(%s)", result.sql);
	result.is_primary = true;
	return result;
}

static SkExpr
read_case(SkReader *reader)
{
	StringInfoData sql;
	List	   *conditions = NIL;
	List	   *values = NIL;
	SkExpr		result = make_expr(NULL, SK_TYPE_UNKNOWN, true);
	bool		is_more;

	initStringInfo(&sql);
	expect(reader, "case");
	appendStringInfoString(&sql, "CASE");
	if (!at(reader, "when"))
		appendStringInfo(&sql, " %s", sk_ddl_read_expression(reader).sql);
	do
	{
		SkExpr	   *value = palloc(sizeof(SkExpr));

		is_more = accept(reader, "when");
		if (is_more)
		{
			conditions = lappend(conditions, sk_ddl_read_expression(reader).sql);
			expect(reader, "then");
		}
		else if (!accept(reader, "else"))
			break;
		*value = sk_ddl_read_expression(reader);
		values = lappend(values, value);
	} while (is_more);
	expect(reader, "end");

	result.type = sk_ddl_match_types(values, &result.is_small);
	for (int i = 0; i < list_length(values); i++)
	{
		const char *value = ((SkExpr *) list_nth(values, i))->sql;

		if (i < list_length(conditions))
			appendStringInfo(&sql, " WHEN %s THEN %s", (char *) list_nth(conditions, i), value);
		else
			appendStringInfo(&sql, " ELSE %s", value);
	}
	appendStringInfoString(&sql, " END");
	result.sql = sql.data;
	return result;
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
	SkExpr		named;
	const char *zone = sk_ddl_zone(reader, reader->next, NULL);

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
		named = sk_ddl_read_unary(reader);
		zone = sk_ddl_zone(reader, reader->next - 1, &named);
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
			name = expand(reader, variable);
			variable->is_open = false;
			return make_expr(name, variable->type, true);
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

/* The expression of a column, as that has it. */
static char *
expand(SkReader *reader, const SkVariable *variable)
{
	SkDdlText  *ddl = reader->ddl;
	SkRange		range = variable->column->expr;
	SkReader	inner = {ddl, range.first, range.end, reader->variables, false};
	SkExpr		value;
	SkType		type;

	sk_ddl_check_length(ddl, range);
	value = sk_ddl_read_expression(&inner);
	if (inner.next < inner.end)
		fail(&inner);
	if (sk_ddl_is_number(variable->type) &&
		(value.type != variable->type || value.is_small || variable->type == SK_TYPE_NUMERIC))
		return psprintf("(%s)::%s", value.sql, sk_ddl_column_type(ddl, variable->column, &type));
	return psprintf("(%s)", value.sql);
}

/*
 * sk_ddl_read_list
 *		Expressions with commas between them, and the type that they have together.
 */
SkExpr
sk_ddl_read_list(SkReader *reader)
{
	SkExpr		result = sk_ddl_read_expression(reader);

	while (accept(reader, ","))
	{
		SkExpr		value = sk_ddl_read_expression(reader);

		result.sql = psprintf("%s, %s", result.sql, value.sql);
		result.type = sk_ddl_common_type(result.type, value.type);
		result.is_small = result.is_small && value.is_small;
		result.is_literal = false;
		result.text = NULL;
	}
	return result;
}
