/*-------------------------------------------------------------------------
 *
 * expression.c
 *	  Expressions and queries: from GoogleSQL to PostgreSQL.
 *
 * Expressions are read by precedence, and their parts have types as far as a
 * translation depends on them.  In a query, what stands between the words of its
 * clauses is names of tables and expressions.
 *
 * The PostgreSQL dialect has PostgreSQL's own expressions and queries, whose
 * tokens are written anew as they are.
 *
 * src/spanner_ddl/expression.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"

#include "keys/time_zone.h"
#include "spanner_ddl/spanner_ddl.h"

#define MAX_TOKENS 5000
#define MAX_ARGUMENTS 64

/* The level of NOT and comparisons: OR and AND bind less. */
#define COMPARISON 2

/* The tokens that are left. */
typedef struct SkReader
{
	SkDdlText  *ddl;
	int			next;
	int			end;
	List	   *variables;		/* NIL: names are not checked */
	bool		is_query;
} SkReader;

/* What an expression becomes. */
typedef struct SkExpr
{
	char	   *sql;
	SkDdlType	type;
	bool		is_primary;		/* needs no parentheses as an operand */
	bool		is_small;		/* INT64 that PostgreSQL has as integer, or
								 * NULL */
	bool		is_literal;		/* a number, or an array */
	const char *text;			/* of a literal number or string; else NULL */
} SkExpr;

/* Words of a query between its expressions; "=" begins a list of tables. */
static const char *const query_words[] = {
	"select", "distinct", "from=", "where", "group", "by", "having", "order",
	"limit", "offset", "union", "intersect", "except", "all", "asc", "desc",
	"on", "using", "join=", "inner", "left", "right", "full", "cross", "outer",
	"as", "with=", "nulls", "first", "last"
};

static void check_token_count(SkDdlText *ddl, SkDdlRange range);
static List *query_variables(SkDdlText *ddl, SkDdlRange range);
static SkExpr read_expression(SkReader *reader);
static SkExpr read_comparison(SkReader *reader);
static bool read_predicate(SkReader *reader, SkExpr *left);
static char *in_list(SkReader *reader, SkExpr *left, const char *not);
static SkExpr in_array(SkReader *reader, const SkExpr *left, bool is_in);
static SkExpr read_binary(SkReader *reader, int level);
static SkExpr combine(SkReader *reader, int place, const char *sign, SkExpr left, SkExpr right);
static bool is_unknown(const SkExpr *value);
static SkExpr shift(SkReader *reader, int place, bool is_left, SkExpr value, SkExpr places);
static SkDdlType match_types(List *operands, bool *is_small);
static SkDdlType common_type(SkDdlType a, SkDdlType b);
static SkExpr read_unary(SkReader *reader);
static SkExpr read_postfix(SkReader *reader);
static SkExpr read_primary(SkReader *reader);
static SkExpr read_parentheses(SkReader *reader);
static SkExpr read_list(SkReader *reader);
static SkExpr read_case(SkReader *reader);
static SkExpr read_cast(SkReader *reader);
static SkDdlType read_type(SkReader *reader, StringInfo out);
static SkExpr read_extract(SkReader *reader);
static SkExpr read_sequence_value(SkReader *reader, const char *format);
static SkExpr read_name(SkReader *reader);
static SkExpr read_variable(SkReader *reader, char *name, int place);
static char *expand(SkReader *reader, const SkVariable *variable);
static SkExpr read_number(SkReader *reader);
static bool read_typed_literal(SkReader *reader, SkExpr *result);
static char *timestamp_literal(SkReader *reader, const char *text);
static const char *after_date(SkReader *reader, const char *text);
static void bad_literal(SkReader *reader, const char *text);
static SkExpr read_interval(SkReader *reader);
static SkExpr read_array(SkReader *reader);
static SkExpr read_call(SkReader *reader);
static const SkDdlFunction *find_function(const char *name, int count);
static SkExpr read_argument(SkReader *reader, const SkDdlFunction *function, int number, char **name);
static const SkDdlFunction *find_variant(SkReader *reader, int start, const char *name, SkExpr *arguments, int count);
static List *list_of(SkExpr *arguments, int count);
static SkExpr make_result(const SkDdlFunction *function, SkExpr *arguments, int count);
static const char *zone_argument(SkReader *reader, int place, const SkExpr *zone);
static const char *named_zone(SkReader *reader, int place, const char *name);
static char *fill_template(const char *sql, const SkExpr *arguments, int count);
static char *read_query(SkReader *reader);
static const char *find_word(SkReader *reader);
static void read_word(SkReader *reader, const char *word, StringInfo sql);
static const char *read_order(SkReader *reader);
static char *copy_tokens(SkReader *reader);
static SkExpr make_expr(char *sql, SkDdlType type, bool is_primary);
static char *upper_case(const char *word);
static const SkToken *peek(SkReader *reader, int ahead);
static bool at(SkReader *reader, const char *word);
static bool accept(SkReader *reader, const char *word);
static void fail(SkReader *reader);
pg_noreturn static void fail(SkReader *reader);
static void expect(SkReader *reader, const char *word);

/*
 * sk_ddl_translate
 *		PostgreSQL's text of an expression, whose columns are "variables", or
 *		of a query.
 */
char *
sk_ddl_translate(SkDdlText *ddl, SkDdlRange range, List *variables, bool is_query)
{
	SkReader	reader = {ddl, range.first, range.end, variables, is_query};
	char	   *result;

	Assert(0 <= range.first && range.first <= range.end && range.end <= ddl->count);
	Assert(!is_query || variables == NIL);
	check_stack_depth();
	if (ddl->dialect == SK_POSTGRESQL)
		return copy_tokens(&reader);
	check_token_count(ddl, range);
	if (is_query)
		reader.variables = query_variables(ddl, range);
	result = is_query ? read_query(&reader) : read_expression(&reader).sql;
	if (reader.next < reader.end)
		fail(&reader);
	return result;
}

/* Raise an error if there are too many tokens: each operator copies what is before it. */
static void
check_token_count(SkDdlText *ddl, SkDdlRange range)
{
	if (range.end - range.first > MAX_TOKENS)
		SK_DDL_ERROR(ddl, range.first, ERRCODE_STATEMENT_TOO_COMPLEX,
					 errmsg("expression or query has more than %d tokens", MAX_TOKENS));
}

/*
 * The columns of all tables that a query names.
 *
 * A name of several types is of none.
 */
static List *
query_variables(SkDdlText *ddl, SkDdlRange range)
{
	List	   *result = NIL;
	List	   *tables = NIL;

	for (int i = range.first + 1; i < range.end; i++)
	{
		const char *before = ddl->tokens[i - 1].text;
		List	   *names = NIL;
		Oid			relid;
		ListCell   *lc;

		if (!SK_DDL_ONE_OF(before, "from", "join", ","))
			continue;
		for (; i < range.end && (ddl->tokens[i].type == SK_TOKEN_WORD ||
								 ddl->tokens[i].type == SK_TOKEN_NAME); i += 2)
		{
			names = lappend(names, makeString(ddl->tokens[i].text));
			if (i + 1 >= range.end || strcmp(ddl->tokens[i + 1].text, ".") != 0)
				break;
		}
		if (names == NIL || list_length(names) > 2)
			continue;
		relid = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);
		CHECK_FOR_INTERRUPTS();
		if (!OidIsValid(relid) || get_rel_type_id(relid) == InvalidOid || list_member_oid(tables, relid))
			continue;
		tables = lappend_oid(tables, relid);
		foreach(lc, sk_ddl_table_variables(relid))
		{
			SkVariable *variable = lfirst(lc);
			ListCell   *other;

			foreach(other, result)
			{
				SkVariable *known = lfirst(other);

				if (strcmp(known->name, variable->name) == 0 && known->type != variable->type)
					known->type = variable->type = SK_TYPE_UNKNOWN;
			}
			result = lappend(result, variable);
		}
	}
	return result;
}

static SkExpr
read_expression(SkReader *reader)
{
	check_stack_depth();
	return read_binary(reader, 0);
}

/* NOT and comparisons, which bind as in PostgreSQL */
static SkExpr
read_comparison(SkReader *reader)
{
	SkExpr		left;

	check_stack_depth();
	if (accept(reader, "not"))
		return make_expr(psprintf("NOT %s", read_comparison(reader).sql), SK_TYPE_BOOL, false);
	left = read_binary(reader, COMPARISON + 1);
	for (;;)
	{
		const SkToken *token = peek(reader, 0);
		SkExpr		right;

		if (token != NULL && token->type == SK_TOKEN_OPERATOR &&
			SK_DDL_ONE_OF(token->text, "=", "<", ">", "<=", ">=", "!=", "<>"))
		{
			reader->next++;
			right = read_binary(reader, COMPARISON + 1);
			(void) match_types(list_make2(&left, &right), NULL);
			left = make_expr(psprintf("%s %s %s", left.sql, strcmp(token->text, "!=") == 0 ? "<>" : token->text,
									  right.sql), SK_TYPE_BOOL, false);
		}
		else if (!read_predicate(reader, &left))
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
			right = read_binary(reader, COMPARISON + 1);
			(void) match_types(list_make2(left, &right), NULL);
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
		sql = psprintf("%s%s LIKE %s", left->sql, not, read_binary(reader, COMPARISON + 1).sql);
	else if (accept(reader, "between"))
	{
		SkExpr		low = read_binary(reader, COMPARISON + 1);
		SkExpr		high;

		expect(reader, "and");
		high = read_binary(reader, COMPARISON + 1);
		(void) match_types(list_make3(left, &low, &high), NULL);
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
		return psprintf("%s%s IN %s", left->sql, not, read_parentheses(reader).sql);
	}
	do
	{
		SkExpr	   *value = palloc(sizeof(SkExpr));

		*value = read_expression(reader);
		values = lappend(values, value);
	} while (accept(reader, ","));
	expect(reader, ")");
	(void) match_types(values, NULL);

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
	array = read_expression(reader);
	expect(reader, ")");
	if (array.is_literal)
		return make_expr(psprintf(is_in ? "%s = ANY (%s)" : "%s <> ALL (%s)", left->sql, array.sql),
						 SK_TYPE_BOOL, false);
	format = is_in ? "(%s IS NOT NULL AND %s = ANY (%s))" : "(%s IS NULL OR %s <> ALL (%s))";
	return make_expr(psprintf(format, fill_template("%1", &array, 1), left->sql, array.sql),
					 SK_TYPE_BOOL, true);
}

/* Operators by the levels of GoogleSQL, those that bind least first. */
static SkExpr
read_binary(SkReader *reader, int level)
{
	static const char *const signs[][3] = {
		{"or"}, {"and"},[COMPARISON + 1] = {"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "||"}
	};
	SkExpr		left;

	if (level == COMPARISON)
		return read_comparison(reader);
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
		if (level < COMPARISON)
			left = make_expr(psprintf("%s %s %s", left.sql, upper_case(sign), read_binary(reader, level + 1).sql),
							 SK_TYPE_BOOL, false);
		else
			left = combine(reader, place, sign, left, read_binary(reader, level + 1));
	}
}

static SkExpr
combine(SkReader *reader, int place, const char *sign, SkExpr left, SkExpr right)
{
	bool		is_arithmetic = strchr("+-*/", *sign) != NULL;
	SkExpr		operands[] = {left, right};
	bool		is_small;
	SkDdlType	type;

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
			operands[i] = make_expr(fill_template("%1::double precision", &operands[i], 1),
									SK_TYPE_FLOAT, true);
	}
	type = match_types(list_make2(&operands[0], &operands[1]), &is_small);
	left = operands[0];
	right = operands[1];
	if (*sign == '/' && type == SK_TYPE_INT)
	{
		left.sql = fill_template("%1::double precision", &left, 1);
		type = SK_TYPE_FLOAT;
	}
	else if (is_small)
		left.sql = fill_template("%1::bigint", &left, 1);
	/* so many digits that rounding twice does nothing */
	if (*sign == '/' && type == SK_TYPE_NUMERIC)
		left.sql = fill_template("%1::numeric(88,50)", &left, 1);
	if ((*sign == '/' || *sign == '*') && type == SK_TYPE_NUMERIC)
		return make_expr(psprintf("(%s %s %s)::numeric(38,9)", left.sql, sign, right.sql), type, true);
	if (is_arithmetic)
		return make_expr(psprintf("%s %s %s", left.sql, sign, right.sql), type, false);
	operands[0] = left;
	operands[1] = right;
	return make_expr(psprintf("%s %s %s", fill_template("%1", operands, 2),
							  strcmp(sign, "^") == 0 ? "#" : sign,
							  fill_template("%2", operands, 2)), type, false);
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
		value.sql = fill_template("%1::bigint", &value, 1);
	operands[0] = value;
	operands[1] = places;
	if (number <= 0 || number >= 64)
		return make_expr(fill_template(is_left ? "spanner_internal.shift_left($1, $2)" :
									   "spanner_internal.shift_right($1, $2)", operands, 2),
						 SK_TYPE_INT, true);
	if (is_left)
		return make_expr(fill_template("%1 << $2", operands, 2), SK_TYPE_INT, false);
	/* PostgreSQL repeats the sign */
	return make_expr(psprintf("((%s >> %d) & " INT64_FORMAT ")", fill_template("%1", operands, 1), number,
							  (int64) (PG_UINT64_MAX >> number)), SK_TYPE_INT, true);
}

/*
 * The type that operands, which are SkExpr, become.
 *
 * Next to a NUMERIC or FLOAT32, a literal of FLOAT64 is one.  Sets "is_small"
 * if PostgreSQL takes them for integers, unless that pointer is NULL.
 */
static SkDdlType
match_types(List *operands, bool *is_small)
{
	SkDdlType	type = SK_TYPE_UNKNOWN;
	bool		are_small = true;
	ListCell   *lc;

	foreach(lc, operands)
	{
		SkExpr	   *operand = lfirst(lc);

		are_small = are_small && operand->is_small;
		if (!operand->is_literal || operand->type != SK_TYPE_FLOAT)
			type = common_type(type, operand->type);
	}
	foreach(lc, operands)
	{
		SkExpr	   *operand = lfirst(lc);

		if (!operand->is_literal || operand->type != SK_TYPE_FLOAT)
			continue;
		if (type == SK_TYPE_NUMERIC || type == SK_TYPE_FLOAT32)
			operand->sql = psprintf("%s::%s", operand->text, type == SK_TYPE_NUMERIC ? "numeric" : "real");
		else
			type = common_type(type, SK_TYPE_FLOAT);
	}
	if (is_small != NULL)
		*is_small = are_small && type == SK_TYPE_INT;
	return type;
}

/* The type of what may be a value of either type. */
static SkDdlType
common_type(SkDdlType a, SkDdlType b)
{
	Assert(a <= SK_TYPE_UUID && b <= SK_TYPE_UUID);
	if (a == SK_TYPE_UNKNOWN)
		return b;
	return SK_IS_NUMBER(a) && SK_IS_NUMBER(b) ? Max(a, b) : a;
}

static SkExpr
read_unary(SkReader *reader)
{
	const SkToken *sign = peek(reader, 0);
	const SkToken *operand = peek(reader, 1);
	bool		is_literal;
	SkExpr		value;
	SkExpr		result;

	if (!at(reader, "-") && !at(reader, "+") && !at(reader, "~"))
		return read_postfix(reader);
	reader->next++;
	check_stack_depth();
	value = read_unary(reader);
	is_literal = *sign->text !='~' && operand != NULL && operand->type == SK_TOKEN_NUMBER && value.text !=NULL;
	/* PostgreSQL's ~ binds less than other operators */
	if (*sign->text == '~')
		result = make_expr(fill_template("(~ %1)", &value, 1), value.type, true);
	else
		result = make_expr(psprintf(is_literal ? "%s%s" : "%s(%s)", sign->text, value.sql), value.type, false);
	result.is_small = value.is_small;
	result.is_literal = is_literal;
	result.text = is_literal ? psprintf("%s%s", sign->text, value.text) : NULL;
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
		place = read_parentheses(reader);
		expect(reader, "]");
		result = make_expr(psprintf(format, fill_template("%1", &result, 1), place.sql),
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
			result = make_expr(quote_literal_cstr(token->text), SK_TYPE_STRING, true);
			result.text = token->text;
			return result;
		case SK_TOKEN_BYTES:
			reader->next++;
			return make_expr(psprintf("'\\x%s'::bytea", token->text), SK_TYPE_BYTES, true);
		case SK_TOKEN_NAME:
			return read_name(reader);
		case SK_TOKEN_WORD:
			break;
		default:
			if (at(reader, "("))
				return read_parentheses(reader);
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
		return make_expr(psprintf("EXISTS %s", read_parentheses(reader).sql), SK_TYPE_BOOL, true);
	if (at(reader, "get_next_sequence_value"))
		return read_sequence_value(reader, "pg_catalog.nextval(%s)");
	if (at(reader, "get_internal_sequence_state"))
		return read_sequence_value(reader, "spanner.get_internal_sequence_state(%s::pg_catalog.regclass::text)");
	if (token[1].type == SK_TOKEN_OPERATOR && reader->next + 1 < reader->end &&
		strcmp(token[1].text, "(") == 0)
		return read_call(reader);
	if (accept(reader, "current_timestamp"))
		return make_expr("CURRENT_TIMESTAMP", SK_TYPE_TIMESTAMP, true);
	return read_name(reader);
}

/* An expression, a list of them or a query, with the parentheses. */
static SkExpr
read_parentheses(SkReader *reader)
{
	SkExpr		result;

	check_stack_depth();
	expect(reader, "(");
	result = at(reader, "select") || at(reader, "with") ?
		make_expr(read_query(reader), SK_TYPE_UNKNOWN, true) : read_list(reader);
	expect(reader, ")");
	result.sql = psprintf("(%s)", result.sql);
	result.is_primary = true;
	return result;
}

/* Expressions with commas between them, and the type that they have together. */
static SkExpr
read_list(SkReader *reader)
{
	SkExpr		result = read_expression(reader);

	while (accept(reader, ","))
	{
		SkExpr		value = read_expression(reader);

		result.sql = psprintf("%s, %s", result.sql, value.sql);
		result.type = common_type(result.type, value.type);
		result.is_small = result.is_small && value.is_small;
		result.is_literal = false;
		result.text = NULL;
	}
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
		appendStringInfo(&sql, " %s", read_expression(reader).sql);
	do
	{
		SkExpr	   *value = palloc(sizeof(SkExpr));

		is_more = accept(reader, "when");
		if (is_more)
		{
			conditions = lappend(conditions, read_expression(reader).sql);
			expect(reader, "then");
		}
		else if (!accept(reader, "else"))
			break;
		*value = read_expression(reader);
		values = lappend(values, value);
	} while (is_more);
	expect(reader, "end");

	result.type = match_types(values, &result.is_small);
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
	SkExpr		value;
	int			target_at;
	SkDdlType	target;
	const char *cast;

	initStringInfo(&type);
	expect(reader, "(");
	value = read_expression(reader);
	expect(reader, "as");
	target_at = reader->next;
	target = read_type(reader, &type);
	expect(reader, ")");

	cast = value.type == SK_TYPE_UNKNOWN ? NULL : sk_ddl_cast(value.type, target);
	if (value.type == SK_TYPE_UNKNOWN && strcmp(value.sql, "NULL") == 0)
		return make_expr(psprintf("NULL::%s", type.data), target, true);
	if (cast == NULL)
		sk_ddl_refuse(reader->ddl, start,
					  psprintf("cast to %s of a value of this type",
							   upper_case(reader->ddl->tokens[target_at].text)),
					  NULL);
	return make_expr(fill_template(cast, &value, 1), target, true);
}

/* Append PostgreSQL's name of a type without a length, and return its class. */
static SkDdlType
read_type(SkReader *reader, StringInfo out)
{
	SkTypeName	name = {.at = reader->next};

	if (peek(reader, 0) == NULL)
		fail(reader);
	name.name = peek(reader, 0)->text;
	name.length = SK_DDL_ONE_OF(name.name, "string", "bytes") ? -1 : 0;
	reader->next++;
	return sk_ddl_type(reader->ddl, &name, out);
}

/* EXTRACT(part FROM expression [AT TIME ZONE zone]) */
static SkExpr
read_extract(SkReader *reader)
{
	const SkToken *part;
	SkExpr		value;
	SkExpr		named;
	const char *zone = zone_argument(reader, reader->next, NULL);

	reader->next++;
	expect(reader, "(");
	part = peek(reader, 0);
	if (part == NULL || part->type != SK_TOKEN_WORD)
		fail(reader);
	reader->next++;
	expect(reader, "from");
	value = read_expression(reader);
	if (accept(reader, "at"))
	{
		expect(reader, "time");
		expect(reader, "zone");
		named = read_unary(reader);
		zone = zone_argument(reader, reader->next - 1, &named);
	}
	expect(reader, ")");
	if (value.type == SK_TYPE_TIMESTAMP)
		value = make_expr(psprintf("%s AT TIME ZONE %s", fill_template("%1", &value, 1), zone),
						  SK_TYPE_UNKNOWN, false);
	else if (value.type != SK_TYPE_DATE)
		sk_ddl_refuse(reader->ddl, reader->next - 1, "EXTRACT() from a value of this type", NULL);
	/* GoogleSQL's week begins on Sunday, and its fractions are apart */
	if (strcmp(part->text, "date") == 0)
		return make_expr(psprintf("(%s)::date", value.sql), SK_TYPE_DATE, true);
	if (strcmp(part->text, "dayofweek") == 0)
		return make_expr(psprintf("(extract(dow FROM %s) + 1)::bigint", value.sql), SK_TYPE_INT, true);
	if (!SK_DDL_ONE_OF(part->text, "year", "month", "day", "hour", "minute", "second", "quarter", "isoyear"))
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
static SkExpr
read_name(SkReader *reader)
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
	SkDdlRange	range = variable->column->expr;
	SkReader	inner = {ddl, range.first, range.end, reader->variables, false};
	StringInfoData type;
	SkExpr		value;

	check_token_count(ddl, range);
	value = read_expression(&inner);
	if (inner.next < inner.end)
		fail(&inner);
	if (!SK_IS_NUMBER(variable->type) ||
		(value.type == variable->type && !value.is_small && variable->type != SK_TYPE_NUMERIC))
		return psprintf("(%s)", value.sql);
	initStringInfo(&type);
	(void) sk_ddl_type(ddl, variable->column->type, &type);
	return psprintf("(%s)::%s", value.sql, type.data);
}

/* As PostgreSQL writes it. */
static SkExpr
read_number(SkReader *reader)
{
	char	   *text = peek(reader, 0)->text;
	bool		is_hex = pg_strncasecmp(text, "0x", 2) == 0;
	bool		is_integer = is_hex || strspn(text, "0123456789") == strlen(text);
	SkExpr		result;

	reader->next++;
	if (is_hex)
		text = psprintf(UINT64_FORMAT, (uint64) strtoull(text, NULL, 16));

	result = make_expr(is_integer ? text : psprintf("%s::double precision", text),
					   is_integer ? SK_TYPE_INT : SK_TYPE_FLOAT, true);
	result.is_literal = true;
	result.is_small = is_integer && strlen(text) <= 20 && strtoull(text, NULL, 10) <= PG_INT32_MAX;
	result.text = text;

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
		SkDdlType	class;
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
						zone_argument(reader, reader->next - 1, NULL));
	zone = *rest == ' ' ? rest + 1 : rest;
	if (*rest != ' ' && *rest != '+' && *rest != '-' && pg_strcasecmp(rest, "z") != 0)
		bad_literal(reader, text);
	if (pg_strcasecmp(zone, "z") != 0)
		(void) named_zone(reader, reader->next - 1, zone);
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
static SkExpr
read_interval(SkReader *reader)
{
	SkExpr		number;
	const SkToken *part;

	expect(reader, "interval");
	number = read_unary(reader);
	part = peek(reader, 0);
	if (part == NULL || part->type != SK_TOKEN_WORD ||
		!SK_DDL_ONE_OF(part->text, "day", "hour", "microsecond", "millisecond", "minute", "month", "second", "week", "year"))
		fail(reader);
	reader->next++;
	return make_expr(number.is_literal && number.text !=NULL ? psprintf("interval '%s %s'", number.text, part->text) :
					 psprintf("(%s * interval '1 %s')", number.sql, part->text), SK_TYPE_INTERVAL, true);
}

/* [a, b] and ARRAY<type>[a, b] */
static SkExpr
read_array(SkReader *reader)
{
	StringInfoData type;
	SkExpr		list = make_expr("", SK_TYPE_UNKNOWN, true);
	SkExpr		result;

	initStringInfo(&type);
	if (accept(reader, "array") && accept(reader, "<"))
	{
		appendStringInfoString(&type, "::");
		(void) read_type(reader, &type);
		appendStringInfoString(&type, "[]");
		expect(reader, ">");
	}
	expect(reader, "[");
	if (!at(reader, "]"))
		list = read_list(reader);
	expect(reader, "]");
	if (type.len == 0 && list.is_small && list.type == SK_TYPE_INT)
		appendStringInfoString(&type, "::bigint[]");
	/* of the type of what it is for */
	result = make_expr(*list.sql == '\0' && type.len == 0 ? "'{}'" : psprintf("ARRAY[%s]%s", list.sql, type.data),
					   SK_TYPE_ARRAY, type.len == 0);
	result.is_literal = true;
	return result;
}

/* A call of a function of the table. */
static SkExpr
read_call(SkReader *reader)
{
	int			start = reader->next;
	char	   *name = peek(reader, 0)->text;
	const SkDdlFunction *function = find_function(name, -1);
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
	if (find_function(name, count) == NULL || (count == 0 && function->arguments[0] == '*'))
		SK_DDL_ERROR(reader->ddl, start, ERRCODE_UNDEFINED_FUNCTION,
					 errmsg("function %s does not take %d arguments here", upper_case(name), count));
	function = find_variant(reader, start, name, arguments, count);
	for (int i = 0; i < strlen(function->arguments); i++)
	{
		if (function->arguments[i] == 'z')
			arguments[i].sql = pstrdup(zone_argument(reader, start, i < count ? &arguments[i] : NULL));
	}
	result = make_result(function, arguments, count);
	result.sql = fill_template(function->sql, arguments, count);
	/* of integers, PostgreSQL's sum is numeric */
	if (strcmp(name, "sum") == 0 && result.type == SK_TYPE_INT)
		result.sql = psprintf("%s::bigint", result.sql);
	return result;
}

/*
 * What a call of a function with so many arguments becomes; NULL if there is
 * none of this name.  "count" -1 asks for any number of arguments, whatever
 * the second word.
 */
static const SkDdlFunction *
find_function(const char *name, int count)
{
	for (const SkDdlFunction *function = sk_ddl_functions; function->name != NULL; function++)
	{
		const char *arguments = function->arguments;
		int			length = count < 0 ? strcspn(function->name, " ") : strlen(function->name);

		if (strlen(name) == length && strncmp(function->name, name, length) == 0 &&
			(count < 0 || arguments[0] == '*' || strlen(arguments) == count ||
			 (strlen(arguments) == count + 1 && arguments[count] == 'z')))
			return function;
	}
	return NULL;
}

/* An argument; a PART becomes the second word of the name. */
static SkExpr
read_argument(SkReader *reader, const SkDdlFunction *function, int number, char **name)
{
	const SkToken *token = peek(reader, 0);
	char	   *regex;
	bool		is_distinct;
	SkExpr		result;

	if (strcmp(*name, "count") == 0 && accept(reader, "*"))
		return make_expr("*", SK_TYPE_UNKNOWN, true);
	if (number == 1 && strchr(function->arguments, 'p') != NULL)
	{
		if (token == NULL || token->type != SK_TOKEN_WORD)
			fail(reader);
		if (find_function(psprintf("%s %s", *name, token->text), 2) == NULL)
			sk_ddl_refuse(reader->ddl, reader->next,
						  psprintf("%s() to %s", upper_case(*name), upper_case(token->text)), NULL);
		*name = psprintf("%s %s", *name, token->text);
		reader->next++;
		return make_expr("", SK_TYPE_UNKNOWN, true);
	}
	if (number == 1 && strchr(function->arguments, 'r') != NULL)
	{
		/* a regular expression has to be a string, and is translated as well */
		regex = token != NULL && token->type == SK_TOKEN_STRING ? sk_ddl_regex(token->text) : NULL;
		if (regex == NULL)
			sk_ddl_refuse(reader->ddl, reader->next, "this regular expression",
						  "Strings without \\b, \\p, (?...) and [:...:] are translated.");
		/* raises an error if it is none */
		(void) DirectFunctionCall2Coll(textregexeq, C_COLLATION_OID, CStringGetTextDatum(""),
									   CStringGetTextDatum(regex));
		reader->next++;
		return make_expr(quote_literal_cstr(regex), SK_TYPE_STRING, true);
	}
	is_distinct = accept(reader, "distinct");
	result = read_expression(reader);
	if (is_distinct)
		result.sql = psprintf("DISTINCT %s", result.sql);
	return result;
}

/* The function for arguments of these types. */
static const SkDdlFunction *
find_variant(SkReader *reader, int start, const char *name, SkExpr *arguments, int count)
{
	const SkDdlFunction *function = find_function(name, count);
	const SkDdlFunction *variant = NULL;
	SkDdlType	type = SK_TYPE_UNKNOWN;

	if (function->result == SK_TYPE_OF_ALL)
		type = match_types(list_of(arguments, count), NULL);
	else if (count > 0)
		type = arguments[0].type;
	if (type == SK_TYPE_NUMERIC)
		variant = find_function(psprintf("%s numeric", name), count);
	if (type == SK_TYPE_STRING)
		variant = find_function(psprintf("%s string", name), count);
	if (strcmp(name, "div") == 0 && type != SK_TYPE_INT && type != SK_TYPE_NUMERIC)
		sk_ddl_refuse(reader->ddl, start, "DIV() of values of this type", "Cast them: CAST(x AS INT64).");
	if (strcmp(name, "sum") == 0 && type == SK_TYPE_FLOAT32)
		sk_ddl_refuse(reader->ddl, start, "SUM() of FLOAT32", "Cast it: CAST(x AS FLOAT64).");
	/* GoogleSQL's result has all digits */
	if (variant == NULL && type == SK_TYPE_NUMERIC && function->result == SK_TYPE_FLOAT)
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
		case SK_TYPE_OF_FIRST:
			result.type = arguments[0].type;
			result.is_small = arguments[0].is_small;
			break;
		case SK_TYPE_OF_BRANCHES:
			result.type = match_types(list_of(arguments + 1, 2), &result.is_small);
			break;
		case SK_TYPE_OF_ALL:
			result.type = match_types(list_of(arguments, count), &result.is_small);
			break;
		case SK_TYPE_REAL:
			result.type = arguments[0].type == SK_TYPE_NUMERIC ? SK_TYPE_NUMERIC : SK_TYPE_FLOAT;
			break;
		default:
			Assert(function->result <= SK_TYPE_UUID);
			break;
	}
	return result;
}

/* A time zone as AT TIME ZONE takes it; "zone" is NULL for the database's. */
static const char *
zone_argument(SkReader *reader, int place, const SkExpr *zone)
{
	if (zone == NULL)
		return sk_ddl_zone_operand(sk_ddl_time_zone());
	if (zone->type != SK_TYPE_STRING || zone->text == NULL)
		sk_ddl_refuse(reader->ddl, place, "a time zone that is not a constant",
					  "Write a string, such as 'Europe/Berlin'.");
	return named_zone(reader, place, zone->text);
}

/* The same of a name. */
static const char *
named_zone(SkReader *reader, int place, const char *name)
{
	const char *result = sk_ddl_zone_operand(name);

	if (result == NULL)
		SK_DDL_ERROR(reader->ddl, place, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("time zone \"%s\" not recognized", name), errhint(SK_TIME_ZONE_HINT));
	return result;
}

/* What a function or cast becomes, with its arguments. */
static char *
fill_template(const char *sql, const SkExpr *arguments, int count)
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
								 fill_template("%1", &arguments[i], 1));
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

			Assert(argument->sql != NULL);

			appendStringInfo(&result, *sql == '%' && !argument->is_primary ? "(%s)" : "%s",
							 argument->sql);
			sql++;
		}
		else
			appendStringInfoChar(&result, *sql);
	}
	return result.data;
}

/* A query, up to the parenthesis that ends it. */
static char *
read_query(SkReader *reader)
{
	StringInfoData sql;
	bool		in_tables = false;
	bool		in_order = false;

	check_stack_depth();
	initStringInfo(&sql);
	while (reader->next < reader->end && !at(reader, ")"))
	{
		const char *word = find_word(reader);

		CHECK_FOR_INTERRUPTS();
		if (accept(reader, ","))
		{
			appendStringInfoChar(&sql, ',');
			continue;
		}
		if (sql.len > 0)
			appendStringInfoChar(&sql, ' ');
		if (word != NULL)
		{
			read_word(reader, word, &sql);
			if (strcmp(word, "as") != 0)
				in_tables = strchr(word, '=') != NULL;
			in_order = strcmp(word, "order") == 0 ||
				(in_order && SK_DDL_ONE_OF(word, "by", "nulls", "first", "last"));
		}
		else if (at(reader, "*"))
			SK_DDL_ERROR(reader->ddl, reader->next, ERRCODE_FEATURE_NOT_SUPPORTED,
						 errmsg("SELECT * is not allowed in strict name resolution mode"));
		else if (in_tables && at(reader, "("))
			appendStringInfoString(&sql, read_parentheses(reader).sql);
		else if (accept(reader, "@") && at(reader, "{"))
		{
			/* a hint */
			while (!accept(reader, "}"))
			{
				if (++reader->next >= reader->end)
					fail(reader);
			}
		}
		else if (in_tables && accept(reader, "unnest"))
			appendStringInfo(&sql, "pg_catalog.unnest%s", read_parentheses(reader).sql);
		else if (in_tables)
			appendStringInfoString(&sql, read_name(reader).sql);
		else
		{
			appendStringInfoString(&sql, read_expression(reader).sql);
			if (in_order)
				appendStringInfoString(&sql, read_order(reader));
		}
	}
	return sql.data;
}

/* The word of a query that comes next; NULL if there is another thing. */
static const char *
find_word(SkReader *reader)
{
	const SkToken *token = peek(reader, 0);

	for (int i = 0; i < lengthof(query_words) && token->type == SK_TOKEN_WORD; i++)
	{
		int			length = strcspn(query_words[i], "=");

		/* LEFT is a function as well */
		if (strncmp(query_words[i], token->text, length) == 0 && token->text[length] == '\0')
			return strcmp(token->text, "left") == 0 && strcmp(token[1].text, "(") == 0 ? NULL :
				query_words[i];
	}
	return NULL;
}

static void
read_word(SkReader *reader, const char *word, StringInfo sql)
{
	const SkToken *next = peek(reader, 1);

	if (strcmp(word, "with=") == 0 && next != NULL && strcmp(next->text, "offset") == 0)
		sk_ddl_refuse(reader->ddl, reader->next, "WITH OFFSET", NULL);
	appendStringInfoString(sql, asc_toupper(word, strcspn(word, "=")));
	reader->next++;
	if (strcmp(word, "as") == 0 && next != NULL &&
		(next->type == SK_TOKEN_WORD || next->type == SK_TOKEN_NAME))
	{
		/* a name, whatever else it may be */
		appendStringInfo(sql, " %s", quote_identifier(next->text));
		reader->next++;
	}
	/* UNION DISTINCT is PostgreSQL's UNION */
	if (SK_DDL_ONE_OF(word, "union", "intersect", "except") && !accept(reader, "distinct") && !at(reader, "all"))
		fail(reader);
}

/* Behind an expression of ORDER BY: where NULLs are, which are the least in GoogleSQL. */
static const char *
read_order(SkReader *reader)
{
	bool		is_desc = accept(reader, "desc");

	if (!is_desc)
		(void) accept(reader, "asc");
	if (at(reader, "nulls"))
		return is_desc ? " DESC" : "";
	return is_desc ? " DESC NULLS LAST" : " NULLS FIRST";
}

/* Tokens as they are, with blanks where there is something between them. */
static char *
copy_tokens(SkReader *reader)
{
	StringInfoData result;

	initStringInfo(&result);
	for (int i = reader->next; i < reader->end; i++)
	{
		SkToken    *token = &reader->ddl->tokens[i];

		/* a string does not grow together with what is before it */
		if (i > reader->next && (token->start > token[-1].end ||
								 (token->type == SK_TOKEN_STRING &&
								  strcmp(token[-1].text, "(") != 0)))
			appendStringInfoChar(&result, ' ');
		if (token->type == SK_TOKEN_NAME)
			appendStringInfoString(&result, quote_identifier(token->text));
		else if (token->type == SK_TOKEN_STRING)
			appendStringInfoString(&result, quote_literal_cstr(token->text));
		else
			appendBinaryStringInfo(&result, reader->ddl->sql + token->start, token->end - token->start);
	}
	return result.data;
}

static SkExpr
make_expr(char *sql, SkDdlType type, bool is_primary)
{
	SkExpr		result = {.sql = sql,.type = type,.is_primary = is_primary};

	return result;
}

static char *
upper_case(const char *word)
{
	return asc_toupper(word, strlen(word));
}

/* A token that comes; NULL after the last one. */
static const SkToken *
peek(SkReader *reader, int ahead)
{
	return reader->next + ahead < reader->end ?
		&reader->ddl->tokens[reader->next + ahead] : NULL;
}

static bool
at(SkReader *reader, const char *word)
{
	const SkToken *token = peek(reader, 0);

	return token != NULL && strcmp(token->text, word) == 0 &&
		(token->type == SK_TOKEN_WORD || token->type == SK_TOKEN_OPERATOR);
}

static bool
accept(SkReader *reader, const char *word)
{
	if (!at(reader, word))
		return false;
	reader->next++;
	return true;
}

/* Report a token that is not expected. */
static void
fail(SkReader *reader)
{
	const SkToken *token = &reader->ddl->tokens[reader->next];

	SK_DDL_ERROR(reader->ddl, reader->next, ERRCODE_SYNTAX_ERROR,
				 reader->next < reader->ddl->end ?
				 errmsg("syntax error at or near \"%.*s\"", token->end - token->start,
						reader->ddl->sql + token->start) :
				 errmsg("syntax error at end of input"));
}

static void
expect(SkReader *reader, const char *word)
{
	if (!accept(reader, word))
		fail(reader);
}
