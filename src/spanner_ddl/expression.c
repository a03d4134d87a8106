/*-------------------------------------------------------------------------
 *
 * expression.c
 *	  Expressions and queries: from GoogleSQL to PostgreSQL.
 *
 * The tree of the grammar is written with the names of vocabulary.c.  What
 * means the same in PostgreSQL is PostgreSQL's; what does not is a function of
 * googlesql.sql, and PostgreSQL chooses among its overloads by the types that it
 * knows.  No part is written twice, so the text grows as the tree does.
 *
 * Two things that PostgreSQL's choice depends on are written otherwise: an
 * INT64 is a constant of bigint, and a FLOAT64 next to other things is a
 * spanner_internal.float_literal, which becomes NUMERIC next to one.
 *
 * The PostgreSQL dialect has PostgreSQL's own expressions and queries, whose
 * tokens are written anew as they are.
 *
 * src/spanner_ddl/expression.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/formatting.h"

#include "keys/time_zone.h"
#include "spanner_ddl/spanner_ddl.h"

/* Generated columns that name others twice would grow without an end. */
#define MAX_EXPANSION 1000000

#define IS_AGGREGATE(function) \
	SK_DDL_ONE_OF(function, "array_agg", "avg", "bit_and", "bit_or", "bit_xor", "count", "countif", "logical_and", \
				  "logical_or", "max", "min", "string_agg", "sum")

/* How a literal of FLOAT64 is written. */
typedef enum SkFloats
{
	SK_FLOATS_PLAIN,			/* of the type of what it is assigned to */
	SK_FLOATS_DOUBLE,
	SK_FLOATS_LITERAL,			/* of the type of what is next to it */
	SK_FLOATS_REAL,
	SK_FLOATS_TEXT				/* that a cast reads */
} SkFloats;

/* Where the text goes. */
typedef struct SkPrinter
{
	SkDdlText  *ddl;
	StringInfoData sql;
	List	   *variables;		/* columns of an expression */
	bool		is_query;		/* names are not checked */
	bool		is_copied;		/* PostgreSQL writes this twice into its tree */
	List	   *items;			/* of SELECT, whose aliases win over columns */
} SkPrinter;

static char *copy_tokens(SkDdlText *ddl, SkDdlRange range, bool is_query);
static void write_node(SkPrinter *printer, SkNode *node);
static void write_beside(SkPrinter *printer, List *items, void (*write) (SkPrinter *, SkNode *), SkNode *node);
static void write_float(SkPrinter *printer, SkNode *node, SkFloats floats);
static void write_operand(SkPrinter *printer, SkNode *node, SkFloats floats);
static void write_list(SkPrinter *printer, List *nodes, const char *separator, SkFloats floats);
static void write_operator(SkPrinter *printer, SkNode *node);
static void write_number(SkPrinter *printer, SkNode *node);
static bool is_compound(const SkNode *node);
static bool is_null(const SkNode *node);
static bool are_null(List *nodes);
static SkDdlType known_type(SkPrinter *printer, const SkNode *node);
static bool is_text(SkPrinter *printer, const SkNode *node);
static bool keeps_scale(SkPrinter *printer, List *operands);
static SkFloats floats_beside(SkPrinter *printer, List *nodes);
static SkFloats floats_among(SkPrinter *printer, List *nodes);
static void refuse_struct(SkPrinter *printer, SkNode *node);
static void write_test(SkPrinter *printer, SkNode *node);
static void write_in_unnest(SkPrinter *printer, SkNode *node);
static void write_case(SkPrinter *printer, SkNode *node);
static void write_array(SkPrinter *printer, SkNode *node);
static void write_type(SkPrinter *printer, SkTypeName *type, StringInfo out);
static void write_element(SkPrinter *printer, SkNode *node);
static void write_typed(SkPrinter *printer, SkNode *node);
static char *time_literal(const char *text, bool is_date);
static void write_cast(SkPrinter *printer, SkNode *node);
static void write_names(SkPrinter *printer, List *names);
static void write_name(SkPrinter *printer, SkNode *node);
static SkNode *find_alias(SkPrinter *printer, const SkNode *node, int *place);
static SkVariable *find_variable(SkPrinter *printer, const char *name);
static void write_variable(SkPrinter *printer, SkVariable *variable, int at);
static void write_call(SkPrinter *printer, SkNode *node);
static bool write_special(SkPrinter *printer, SkNode *node);
static void check_count(SkPrinter *printer, SkNode *node, int min, int max);
static void write_sequence(SkPrinter *printer, SkNode *node, const char *format);
static void write_part(SkPrinter *printer, SkNode *call, SkNode *node);
static void check_argument(SkPrinter *printer, SkNode *call, const SkDdlFunction *function, int number, SkNode *node);
static void write_string(SkPrinter *printer, const char *value);

/*
 * sk_ddl_translate
 *		PostgreSQL's text of an expression, whose columns are "variables", or
 *		of a query.
 */
char *
sk_ddl_translate(SkDdlText *ddl, SkNode *node, List *variables, bool is_query)
{
	SkPrinter	printer = {.ddl = ddl,.variables = variables,.is_query = is_query};

	Assert(!is_query || variables == NIL);
	if (node->type == SK_NODE_TOKENS)
		return copy_tokens(ddl, node->range, is_query);
	initStringInfo(&printer.sql);
	write_float(&printer, node, SK_FLOATS_PLAIN);
	return printer.sql.data;
}

/*
 * Tokens as they are, with blanks where there is something between them.
 *
 * Upper and lower case is Unicode's there, and of a column that is compared by
 * bytes PostgreSQL's own have ASCII.  Queries keep those, since they are
 * exported as PostgreSQL prints them.
 */
static char *
copy_tokens(SkDdlText *ddl, SkDdlRange range, bool is_query)
{
	StringInfoData result;

	Assert(0 <= range.first && range.first <= range.end && range.end <= ddl->count);
	initStringInfo(&result);
	for (int i = range.first; i < range.end; i++)
	{
		SkToken    *token = &ddl->tokens[i];

		/* a string does not grow together with what is before it */
		if (i > range.first && (token->start > token[-1].end ||
								(token->type == SK_TOKEN_STRING && strcmp(token[-1].text, "(") != 0)))
			appendStringInfoChar(&result, ' ');
		if (!is_query && token->type == SK_TOKEN_WORD && SK_DDL_ONE_OF(token->text, "lower", "upper") &&
			i + 1 < range.end && strcmp(token[1].text, "(") == 0 && (i == range.first || strcmp(token[-1].text, ".") != 0))
			appendStringInfoString(&result, "spanner_internal.");
		if (token->type == SK_TOKEN_NAME)
			appendStringInfoString(&result, quote_identifier(token->text));
		else if (token->type == SK_TOKEN_STRING)
			appendStringInfoString(&result, quote_literal_cstr(token->text));
		else
			appendBinaryStringInfo(&result, ddl->sql + token->start, token->end - token->start);
	}
	return result.data;
}

static void
write_node(SkPrinter *printer, SkNode *node)
{
	StringInfo	sql = &printer->sql;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (node->type)
	{
		case SK_NODE_WORD:
			appendStringInfoString(sql, node->text);
			break;
		case SK_NODE_INTEGER:
			appendStringInfo(sql, "bigint '%s'", node->text);
			break;
		case SK_NODE_FLOAT:
			write_float(printer, node, SK_FLOATS_DOUBLE);
			break;
		case SK_NODE_STRING:
			write_string(printer, node->text);
			break;
		case SK_NODE_BYTES:
			appendStringInfo(sql, "bytea '\\x%s'", node->text);
			break;
		case SK_NODE_TYPED:
			write_typed(printer, node);
			break;
		case SK_NODE_NAME:
			write_name(printer, node);
			break;
		case SK_NODE_FIELD:
			appendStringInfoString(sql, "spanner_internal.json_element(");
			write_node(printer, linitial(node->args));
			appendStringInfo(sql, ", %s)", quote_literal_cstr(node->text));
			break;
		case SK_NODE_ELEMENT:
			write_element(printer, node);
			break;
		case SK_NODE_ARRAY:
			write_array(printer, node);
			break;
		case SK_NODE_OPERATOR:
			write_operator(printer, node);
			break;
		case SK_NODE_TEST:
		case SK_NODE_IN:
			write_test(printer, node);
			break;
		case SK_NODE_IN_UNNEST:
			write_in_unnest(printer, node);
			break;
		case SK_NODE_CASE:
			write_case(printer, node);
			break;
		case SK_NODE_CALL:
			write_beside(printer, IS_AGGREGATE(node->text) ? NIL : printer->items, write_call, node);
			break;
		case SK_NODE_CAST:
			write_cast(printer, node);
			break;
		case SK_NODE_PARENTHESES:
			appendStringInfoChar(sql, '(');
			write_node(printer, linitial(node->args));
			appendStringInfoChar(sql, ')');
			break;
		case SK_NODE_ALIASED:
			write_beside(printer, list_copy_tail(node->args, 1), write_node, linitial(node->args));
			break;
		case SK_NODE_PHRASE:
		case SK_NODE_LIST:
			write_list(printer, node->args, node->type == SK_NODE_LIST ? ", " : " ", node->name != NULL ? SK_FLOATS_PLAIN : SK_FLOATS_DOUBLE);
			break;
		case SK_NODE_SORT:
			write_number(printer, linitial(node->args));
			appendStringInfoString(sql, node->text);
			break;
		case SK_NODE_INTERVAL:
			sk_ddl_refuse_type(printer->ddl, node->at, "interval");
		case SK_NODE_TOKENS:
		case SK_NODE_SEQUENCE:
			/* what only stands in calls */
			sk_ddl_fail(printer->ddl, node->at, NULL);
	}
}

/* Write a node in which the aliases of these items are names: those of SELECT, not before it, where aggregates are. */
static void
write_beside(SkPrinter *printer, List *items, void (*write) (SkPrinter *, SkNode *), SkNode *node)
{
	List	   *others = printer->items;

	printer->items = items;
	write(printer, node);
	printer->items = others;
}

/* Write a node; if it is a literal of FLOAT64, perhaps in parentheses, then in this way. */
static void
write_float(SkPrinter *printer, SkNode *node, SkFloats floats)
{
	static const char *const formats[] = {
		[SK_FLOATS_PLAIN] = "%s",[SK_FLOATS_DOUBLE] = "float8 '%s'",
		[SK_FLOATS_LITERAL] = "spanner_internal.float_literal '%s'",[SK_FLOATS_REAL] = "real '%s'",[SK_FLOATS_TEXT] = "'%s'"
	};

	if (node->type == SK_NODE_PARENTHESES)
	{
		appendStringInfoChar(&printer->sql, '(');
		write_float(printer, linitial(node->args), floats);
		appendStringInfoChar(&printer->sql, ')');
	}
	else if (node->type == SK_NODE_FLOAT)
	{
		/* an error now, not when rows come */
		DirectFunctionCall1(float8in, CStringGetDatum(node->text));
		appendStringInfo(&printer->sql, formats[floats], node->text);
	}
	else
		write_node(printer, node);
}

/* Write an operand, in parentheses unless it stands alone. */
static void
write_operand(SkPrinter *printer, SkNode *node, SkFloats floats)
{
	if (is_compound(node))
		appendStringInfoChar(&printer->sql, '(');
	write_float(printer, node, floats);
	if (is_compound(node))
		appendStringInfoChar(&printer->sql, ')');
}

/* Parts that are NULL are left out. */
static void
write_list(SkPrinter *printer, List *nodes, const char *separator, SkFloats floats)
{
	bool		is_first = true;
	ListCell   *lc;

	foreach(lc, nodes)
	{
		if (lfirst(lc) == NULL)
			continue;
		if (!is_first)
			appendStringInfoString(&printer->sql, separator);
		is_first = false;
		if (strcmp(separator, " || ") == 0)
			write_operand(printer, lfirst(lc), floats);
		else
			write_float(printer, lfirst(lc), floats);
	}
}

static void
write_operator(SkPrinter *printer, SkNode *node)
{
	StringInfo	sql = &printer->sql;
	SkNode	   *left = linitial(node->args);
	SkNode	   *right = llast(node->args);
	bool		is_arithmetic = strchr("+-*", *node->text) != NULL;
	SkFloats	floats = strchr("<>=", *node->text) != NULL ? floats_beside(printer, node->args) :
		SK_FLOATS_LITERAL;
	const char *function = strcmp(node->text, "/") == 0 ? "divide" :
		strcmp(node->text, "<<") == 0 ? "shift_left" :
		strcmp(node->text, ">>") == 0 ? "shift_right" :
		strcmp(node->text, "||") == 0 && !is_text(printer, node) ? "concat" :
		strcmp(node->text, "*") == 0 && !keeps_scale(printer, node->args) ? "multiply" : NULL;

	if (*node->text == '-' && known_type(printer, left) == SK_TYPE_DATE && known_type(printer, right) == SK_TYPE_DATE)
		sk_ddl_refuse(printer->ddl, node->at, "the difference of dates", "Write DATE_DIFF(a, b, DAY).");
	if (are_null(node->args) && !SK_DDL_ONE_OF(node->text, "AND", "OR", "NOT"))
		appendStringInfoString(sql, "NULL::bigint");
	else if (function != NULL)
	{
		appendStringInfo(sql, "spanner_internal.%s(", function);
		write_list(printer, node->args, ", ", floats);
		appendStringInfoChar(sql, ')');
	}
	else
	{
		if (list_length(node->args) > 1)
		{
			/* both languages read a + b + c from the left */
			if (left->type == SK_NODE_OPERATOR && list_length(left->args) > 1 && strcmp(left->text, node->text) == 0)
				write_node(printer, left);
			else
				write_operand(printer, left, floats);
			if (is_arithmetic && known_type(printer, left) == SK_TYPE_FLOAT32)
				appendStringInfoString(sql, "::float8");
			appendStringInfoChar(sql, ' ');
		}
		appendStringInfo(sql, "%s ", node->text);
		if (right->type == SK_NODE_OPERATOR && strcmp(node->text, "NOT") == 0 && strcmp(right->text, "NOT") == 0)
			write_node(printer, right);
		else
			write_operand(printer, right, floats);
		if (is_arithmetic && known_type(printer, right) == SK_TYPE_FLOAT32)
			appendStringInfoString(sql, "::float8");
	}
}

/* In GROUP BY, ORDER BY: a number is the place of a column, and so is an alias, if that is known. */
static void
write_number(SkPrinter *printer, SkNode *node)
{
	int			place = 0;

	if (node->type == SK_NODE_INTEGER)
		appendStringInfoString(&printer->sql, node->text);
	else if (find_alias(printer, node, &place) != NULL && place > 0)
		appendStringInfo(&printer->sql, "%d", place);
	else
		write_node(printer, node);
}

static bool
is_compound(const SkNode *node)
{
	return node->type == SK_NODE_TEST || node->type == SK_NODE_IN || node->type == SK_NODE_IN_UNNEST ||
		(node->type == SK_NODE_OPERATOR && !SK_DDL_ONE_OF(node->text, "/", "<<", ">>"));
}

static bool
is_null(const SkNode *node)
{
	return node->type == SK_NODE_WORD && strcmp(node->text, "NULL") == 0;
}

static bool
are_null(List *nodes)
{
	ListCell   *lc;

	foreach(lc, nodes)
	{
		if (!is_null(lfirst(lc)))
			return false;
	}
	return true;
}

/* The type of a literal, of a column or of what is joined with them, if it is known. */
static SkDdlType
known_type(SkPrinter *printer, const SkNode *node)
{
	SkVariable *variable;

	if (node->type == SK_NODE_INTEGER)
		return SK_TYPE_INT;
	if (node->type == SK_NODE_STRING)
		return SK_TYPE_STRING;
	if (node->type == SK_NODE_BYTES)
		return SK_TYPE_BYTES;
	if (node->type == SK_NODE_CAST && strcmp(node->type_name->name, "string") == 0 && !node->type_name->is_array)
		return SK_TYPE_STRING;
	if (node->type == SK_NODE_OPERATOR && strcmp(node->text, "||") == 0)
	{
		SkDdlType	left = known_type(printer, linitial(node->args));

		return left == SK_TYPE_STRING || left == SK_TYPE_BYTES ? left : known_type(printer, lsecond(node->args));
	}
	if (node->type == SK_NODE_PARENTHESES)
		return known_type(printer, linitial(node->args));
	if (node->type != SK_NODE_NAME || list_length(node->args) > 1)
		return SK_TYPE_UNKNOWN;
	variable = find_variable(printer, linitial(node->args));
	return variable != NULL ? variable->type : SK_TYPE_UNKNOWN;
}

/* Is it known to be a STRING or BYTES? */
static bool
is_text(SkPrinter *printer, const SkNode *node)
{
	SkDdlType	type = known_type(printer, node);

	return type == SK_TYPE_STRING || type == SK_TYPE_BYTES;
}

/* Has a product no more digits after the point than NUMERIC has? */
static bool
keeps_scale(SkPrinter *printer, List *operands)
{
	SkNode	   *left = linitial(operands);
	SkNode	   *right = lsecond(operands);
	SkDdlType	a = known_type(printer, left);
	SkDdlType	b = known_type(printer, right);

	return left->type == SK_NODE_INTEGER || right->type == SK_NODE_INTEGER || (a == SK_TYPE_INT && b == SK_TYPE_INT) ||
		a == SK_TYPE_FLOAT || b == SK_TYPE_FLOAT;
}

/* How literals are written that are compared with others of these. */
static SkFloats
floats_beside(SkPrinter *printer, List *nodes)
{
	ListCell   *lc;

	foreach(lc, nodes)
	{
		if (known_type(printer, lfirst(lc)) == SK_TYPE_FLOAT32)
			return SK_FLOATS_REAL;
	}
	return SK_FLOATS_LITERAL;
}

/* How literals are written of which one of these is the value. */
static SkFloats
floats_among(SkPrinter *printer, List *nodes)
{
	bool		are_literals = true;
	ListCell   *lc;

	foreach(lc, nodes)
	{
		SkNode	   *node = lfirst(lc);
		SkDdlType	type = known_type(printer, node);

		if (type == SK_TYPE_FLOAT32)
			return SK_FLOATS_REAL;
		if (type == SK_TYPE_INT)
			return SK_FLOATS_DOUBLE;
		are_literals &= node->type == SK_NODE_FLOAT || is_null(node);
	}
	return are_literals ? SK_FLOATS_DOUBLE : SK_FLOATS_LITERAL;
}

/* NULL in a field is another thing there for PostgreSQL, which looks at the fields. */
static void
refuse_struct(SkPrinter *printer, SkNode *node)
{
	const SkNode *value = node;

	while (value->type == SK_NODE_PARENTHESES)
		value = linitial(value->args);
	if (value->type == SK_NODE_LIST)
		sk_ddl_refuse(printer->ddl, node->at, "a STRUCT with IS or CASE", "Name its fields.");
}

/*
 * Operands with words between them, or IN with a list.
 *
 * PostgreSQL copies what is compared with several values.  Of several that are
 * in each other, it does so with the outermost.
 */
static void
write_test(SkPrinter *printer, SkNode *node)
{
	StringInfo	sql = &printer->sql;
	SkFloats	floats = floats_beside(printer, node->args);
	SkNode	   *value = linitial(node->args);
	bool		is_in = node->type == SK_NODE_IN;
	bool		is_between = !is_in && list_length(node->args) == 5;
	bool		was_copied = printer->is_copied;
	ListCell   *lc;

	if (!is_in && strncmp(((SkNode *) lsecond(node->args))->text, "IS", 2) == 0)
		refuse_struct(printer, value);
	if (was_copied && is_between)
		appendStringInfo(sql, "%sspanner_internal.is_between(",
						 strncmp(((SkNode *) lsecond(node->args))->text, "NOT", 3) == 0 ? "NOT " : "");
	printer->is_copied |= is_in || is_between;
	write_operand(printer, value, floats);
	printer->is_copied = was_copied;
	if (is_in)
	{
		appendStringInfoString(sql, !was_copied ? psprintf(" %sIN (", node->text) :
							   node->text[0] != '\0' ? " <> ALL (ARRAY[" : " = ANY (ARRAY[");
		write_list(printer, list_copy_tail(node->args, 1), ", ", floats);
		appendStringInfoString(sql, was_copied ? "])" : ")");
		return;
	}
	for_each_from(lc, node->args, 1)
	{
		/* the words are every second part */
		if (was_copied && is_between && foreach_current_index(lc) % 2 == 1)
			appendStringInfoChar(sql, ',');
		else
		{
			appendStringInfoChar(sql, ' ');
			write_operand(printer, lfirst(lc), floats);
		}
	}
	if (was_copied && is_between)
		appendStringInfoChar(sql, ')');
}

/* In no array, which NULL is, there is nothing. */
static void
write_in_unnest(SkPrinter *printer, SkNode *node)
{
	StringInfo	sql = &printer->sql;
	bool		is_literal = ((SkNode *) lsecond(node->args))->type == SK_NODE_ARRAY;

	if (!is_literal)
		appendStringInfo(sql, "%sspanner_internal.in_unnest(", node->text);
	write_operand(printer, linitial(node->args), SK_FLOATS_DOUBLE);
	appendStringInfoString(sql, !is_literal ? ", " : node->text[0] != '\0' ? " <> ALL (" : " = ANY (");
	write_node(printer, lsecond(node->args));
	appendStringInfoChar(sql, ')');
}

static void
write_case(SkPrinter *printer, SkNode *node)
{
	StringInfo	sql = &printer->sql;
	List	   *values = NIL;
	SkFloats	compared = SK_FLOATS_LITERAL;
	SkFloats	floats;

	for (int i = 2; i < list_length(node->args); i += 2)
		values = lappend(values, list_nth(node->args, i));
	floats = floats_among(printer, values);
	appendStringInfoString(sql, "CASE");
	if (linitial(node->args) != NULL)
	{
		refuse_struct(printer, linitial(node->args));
		compared = floats_beside(printer, list_make1(linitial(node->args)));
		appendStringInfoChar(sql, ' ');
		write_operand(printer, linitial(node->args), SK_FLOATS_DOUBLE);
	}
	for (int i = 1; i < list_length(node->args); i += 2)
	{
		SkNode	   *condition = list_nth(node->args, i);

		appendStringInfoString(sql, condition != NULL ? " WHEN " : " ELSE ");
		if (condition != NULL)
		{
			write_float(printer, condition, compared);
			appendStringInfoString(sql, " THEN ");
		}
		write_float(printer, list_nth(node->args, i + 1), floats);
	}
	appendStringInfoString(sql, " END");
}

/* An array without a type is of the type of what it is for. */
static void
write_array(SkPrinter *printer, SkNode *node)
{
	StringInfo	sql = &printer->sql;

	if (node->args == NIL && node->type_name == NULL)
		appendStringInfoString(sql, "'{}'");
	else
	{
		appendStringInfoString(sql, "ARRAY[");
		write_list(printer, node->args, ", ", node->type_name != NULL ? SK_FLOATS_PLAIN : floats_among(printer, node->args));
		appendStringInfoChar(sql, ']');
	}
	/* GoogleSQL's NULL is an INT64 */
	if (node->type_name == NULL && node->args != NIL && are_null(node->args))
		appendStringInfoString(sql, "::bigint[]");
	if (node->type_name != NULL)
	{
		node->type_name->is_array = true;
		appendStringInfoString(sql, "::");
		write_type(printer, node->type_name, sql);
	}
}

/* The type of a value, which has no length. */
static void
write_type(SkPrinter *printer, SkTypeName *type, StringInfo out)
{
	if (SK_DDL_ONE_OF(type->name, "string", "bytes"))
		type->length = -1;
	(void) sk_ddl_type(printer->ddl, type, out);
}

/* array[OFFSET(place)] or json[place] */
static void
write_element(SkPrinter *printer, SkNode *node)
{
	SkNode	   *place = lsecond(node->args);
	bool		is_array = place->type == SK_NODE_CALL &&
		SK_DDL_ONE_OF(place->text, "offset", "ordinal", "safe_offset", "safe_ordinal") &&
		list_length(place->args) == 1;

	appendStringInfo(&printer->sql, "spanner_internal.%s(", is_array ? psprintf("at_%s", place->text) : "json_element");
	write_node(printer, linitial(node->args));
	appendStringInfoString(&printer->sql, ", ");
	write_node(printer, is_array ? linitial(place->args) : place);
	appendStringInfoChar(&printer->sql, ')');
}

/* DATE '...' and so on */
static void
write_typed(SkPrinter *printer, SkNode *node)
{
	SkDdlText  *ddl = printer->ddl;
	char	   *value;

	if (strcmp(node->name, "json") == 0)
	{
		value = TextDatumGetCString(DirectFunctionCall2(spanner_json_text, CStringGetTextDatum(node->text), Int32GetDatum(-1)));
		appendStringInfo(&printer->sql, "jsonb %s", quote_literal_cstr(value));
	}
	else if (strcmp(node->name, "numeric") == 0)
	{
		Datum		number = DirectFunctionCall3(numeric_in, CStringGetDatum(node->text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));

		if (!DatumGetBool(DirectFunctionCall2(numeric_eq, number, DirectFunctionCall2(numeric, number, Int32GetDatum(NUMERIC_TYPMOD(38, 9))))))
			SK_DDL_ERROR(ddl, node->at + 1, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
						 errmsg("NUMERIC has at most 9 digits after the point: \"%s\"", node->text));
		appendStringInfo(&printer->sql, "numeric %s", quote_literal_cstr(node->text));
	}
	else if (strcmp(node->name, "date") == 0 || strcmp(node->name, "timestamp") == 0)
	{
		value = time_literal(node->text, strcmp(node->name, "date") == 0);
		if (value == NULL)
			SK_DDL_ERROR(ddl, node->at + 1, ERRCODE_INVALID_DATETIME_FORMAT,
						 errmsg("invalid date or time: \"%s\"", node->text));
		appendStringInfoString(&printer->sql, value);
	}
	else
		sk_ddl_fail(ddl, node->at + 1, NULL);
}

/* A constant that no setting changes, as the cast of a text makes it; NULL if the text is none. */
static char *
time_literal(const char *text, bool is_date)
{
	LOCAL_FCINFO(fcinfo, 3);
	Datum		value;

	InitFunctionCallInfoData(*fcinfo, NULL, 3, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = CStringGetTextDatum(text);
	fcinfo->args[1].value = CStringGetTextDatum(sk_ddl_time_zone());
	fcinfo->args[2].value = BoolGetDatum(true);
	value = is_date ? spanner_text_to_date(fcinfo) : spanner_text_to_timestamp(fcinfo);
	if (fcinfo->isnull)
		return NULL;
	if (is_date)
		return psprintf("date '%s'", text);
	return psprintf("timestamptz '%s+00'", DatumGetCString(DirectFunctionCall1(timestamp_out, value)));
}

/* CAST(value AS type), a function with the type's name */
static void
write_cast(SkPrinter *printer, SkNode *node)
{
	StringInfo	sql = &printer->sql;
	SkNode	   *value = linitial(node->args);
	const char *name = node->type_name->name;
	SkDdlType	from = known_type(printer, value);
	StringInfoData type;

	if (!SK_DDL_ONE_OF(node->text, "cast", "safe_cast"))
		sk_ddl_fail(printer->ddl, node->at, NULL);
	if (node->type_name->length > 0)
		sk_ddl_refuse(printer->ddl, node->type_name->at, "a length in a cast", NULL);
	initStringInfo(&type);
	write_type(printer, node->type_name, &type);
	if (is_null(value) || node->type_name->is_array)
	{
		write_operand(printer, value, SK_FLOATS_DOUBLE);
		appendStringInfo(sql, "::%s", type.data);
		return;
	}
	/* a shard of such a column is derived from it */
	if (strcmp(name, "string") == 0 && (from == SK_TYPE_INT || from == SK_TYPE_BOOL || from == SK_TYPE_UUID))
	{
		write_operand(printer, value, SK_FLOATS_DOUBLE);
		appendStringInfoString(sql, "::text");
		return;
	}
	if (strcmp(name, "string") == 0 && from == SK_TYPE_TIMESTAMP)
		appendStringInfoString(sql, "spanner.timestamp_to_string(");
	else
		appendStringInfo(sql, "spanner_internal.to_%s(", name);
	write_float(printer, value, strcmp(name, "numeric") == 0 ? SK_FLOATS_TEXT : SK_FLOATS_DOUBLE);
	if (SK_DDL_ONE_OF(name, "string", "date", "timestamp"))
	{
		appendStringInfoString(sql, ", ");
		write_string(printer, sk_ddl_time_zone());
	}
	if (strcmp(name, "string") != 0)
		appendStringInfoString(sql, *node->text == 's' ? ", true" : ", false");
	appendStringInfoChar(sql, ')');
}

static void
write_names(SkPrinter *printer, List *names)
{
	ListCell   *lc;

	foreach(lc, names)
		appendStringInfo(&printer->sql, "%s%s", lc == list_head(names) ? "" : ".",
						 strcmp(lfirst(lc), "*") == 0 ? "*" : quote_identifier(lfirst(lc)));
}

/* A column, perhaps with its table, or a field of it */
static void
write_name(SkPrinter *printer, SkNode *node)
{
	const char *name = linitial(node->args);
	SkVariable *variable = find_variable(printer, name);
	SkNode	   *value = find_alias(printer, node, NULL);
	List	   *items = printer->items;

	if (strcmp(name, "*") == 0 && printer->ddl->statement->type == SK_CREATE_VIEW)
		SK_DDL_ERROR(printer->ddl, node->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("SELECT * is not allowed in strict name resolution mode"));
	if (value != NULL)
	{
		if (printer->sql.len > MAX_EXPANSION)
			SK_DDL_ERROR(printer->ddl, node->at, ERRCODE_STATEMENT_TOO_COMPLEX,
						 errmsg("query with what its aliases stand for has more than %d bytes", MAX_EXPANSION));
		printer->items = NIL;
		write_operand(printer, value, SK_FLOATS_LITERAL);
		printer->items = items;
	}
	else if (variable != NULL && list_length(node->args) > 1)
	{
		for (int i = 1; i < list_length(node->args); i++)
			appendStringInfoString(&printer->sql, "spanner_internal.json_element(");
		write_variable(printer, variable, node->at);
		/* there are dots between the names */
		for (int i = 1; i < list_length(node->args); i++)
			appendStringInfo(&printer->sql, ", %s)", quote_literal_cstr(printer->ddl->tokens[node->at + 2 * i].written));
	}
	else if (variable != NULL)
		write_variable(printer, variable, node->at);
	else if (printer->is_query || list_length(node->args) > 1)
		write_names(printer, node->args);
	else
		SK_DDL_ERROR(printer->ddl, node->at, ERRCODE_UNDEFINED_COLUMN,
					 errmsg("column \"%s\" does not exist", name));
}

/* The value whose alias a name is, and its place in SELECT, 0 if that has all columns of a table before it. */
static SkNode *
find_alias(SkPrinter *printer, const SkNode *node, int *place)
{
	bool		is_counted = true;
	ListCell   *lc;

	if (node->type != SK_NODE_NAME || list_length(node->args) > 1)
		return NULL;
	foreach(lc, printer->items)
	{
		SkNode	   *item = lfirst(lc);

		if (item->type == SK_NODE_PHRASE && ((SkNode *) lsecond(item->args))->type == SK_NODE_WORD &&
			strcmp(((SkNode *) lsecond(item->args))->text, "AS") == 0 &&
			strcmp(linitial(((SkNode *) llast(item->args))->args), linitial(node->args)) == 0)
		{
			if (place != NULL)
				*place = is_counted ? foreach_current_index(lc) + 1 : 0;
			return linitial(item->args);
		}
		is_counted &= item->type != SK_NODE_NAME || strcmp(llast(item->args), "*") != 0;
	}
	return NULL;
}

static SkVariable *
find_variable(SkPrinter *printer, const char *name)
{
	ListCell   *lc;

	foreach(lc, printer->variables)
	{
		if (strcmp(((SkVariable *) lfirst(lc))->name, name) == 0)
			return lfirst(lc);
	}
	return NULL;
}

/*
 * A column as an expression sees it.  PostgreSQL's generated columns cannot
 * depend on others, so what those are computed from takes their place.
 */
static void
write_variable(SkPrinter *printer, SkVariable *variable, int at)
{
	StringInfo	sql = &printer->sql;

	if (variable->is_open)
		SK_DDL_ERROR(printer->ddl, at, ERRCODE_INVALID_OBJECT_DEFINITION,
					 errmsg("generated column \"%s\" depends on itself", variable->name));
	if (variable->expands && sql->len > MAX_EXPANSION)
		SK_DDL_ERROR(printer->ddl, at, ERRCODE_STATEMENT_TOO_COMPLEX,
					 errmsg("expression with those of the generated columns in it has more than %d bytes", MAX_EXPANSION));
	if (variable->expands && variable->column != NULL)
	{
		variable->is_open = true;
		appendStringInfoChar(sql, '(');
		write_float(printer, variable->column->expr, SK_FLOATS_PLAIN);
		appendStringInfoChar(sql, ')');
		variable->is_open = false;
		/* what it becomes on assignment */
		if (SK_IS_NUMBER(variable->type))
		{
			appendStringInfoString(sql, "::");
			(void) sk_ddl_type(printer->ddl, variable->column->type, sql);
		}
	}
	else if (variable->expands && variable->expression != NULL)
		appendStringInfoString(sql, variable->expression);
	else
		appendStringInfo(sql, "%s%s", quote_identifier(variable->name), variable->is_short ? "::bigint" : "");
}

/* A call of a function of the vocabulary. */
static void
write_call(SkPrinter *printer, SkNode *node)
{
	StringInfo	sql = &printer->sql;
	const SkDdlFunction *function;
	SkFloats	floats;
	bool		is_time;
	bool		is_any;			/* takes values of any type */
	int			number = 0;
	ListCell   *lc;

	if (write_special(printer, node))
		return;
	/* JSON is changed at one path after the other */
	if (SK_DDL_ONE_OF(node->text, "json_array_append", "json_array_insert", "json_remove", "json_set"))
	{
		SkNode	   *inner = palloc(sizeof(SkNode));
		int			count = list_length(node->args) - (strcmp(node->text, "json_remove") == 0 ? 1 : 2);

		*inner = *node;
		inner->args = list_truncate(list_copy(node->args), Max(count, 0));
		if (count > 1)
			node->args = lcons(inner, list_copy_tail(node->args, count));
	}
	function = sk_ddl_functions;
	while (function->name != NULL && strcmp(function->name, node->text) != 0)
		function++;
	if (function->name == NULL)
		SK_DDL_ERROR(printer->ddl, node->at, ERRCODE_UNDEFINED_FUNCTION,
					 errmsg("function %s is not known here", SK_DDL_UPPER(node->text)),
					 errhint("Write the expression without it, or run a statement of PostgreSQL directly."));
	is_time = strcmp(node->text, "string") == 0 && node->args != NIL &&
		known_type(printer, linitial(node->args)) == SK_TYPE_TIMESTAMP;
	is_any = SK_TAKES_ANY(node->text);
	floats = SK_DDL_ONE_OF(node->text, "greatest", "least") ? floats_among(printer, node->args) :
		is_any ? SK_FLOATS_DOUBLE : SK_FLOATS_LITERAL;
	appendStringInfo(sql, "%s.%s(%s", is_time ? "spanner" : function->schema,
					 is_time ? "timestamp_to_string" : quote_identifier(function->target),
					 node->name != NULL ? node->name : "");
	foreach(lc, node->args)
	{
		appendStringInfoString(sql, number++ > 0 ? ", " : "");
		check_argument(printer, node, function, number, lfirst(lc));
		if (is_any && ((SkNode *) lfirst(lc))->type == SK_NODE_STRING)
			appendStringInfoString(sql, "text ");
		if (number == function->part)
			write_part(printer, node, lfirst(lc));
		else if (((SkNode *) lfirst(lc))->type == SK_NODE_INTERVAL && number + 1 == function->part)
		{
			write_node(printer, linitial(((SkNode *) lfirst(lc))->args));
			appendStringInfo(sql, ", '%s'", ((SkNode *) lfirst(lc))->text);
		}
		else
			write_float(printer, lfirst(lc), floats);
		if (is_any && is_null(lfirst(lc)))
			appendStringInfoString(sql, "::bigint");
		if (is_any && ((SkNode *) lfirst(lc))->type == SK_NODE_ARRAY && ((SkNode *) lfirst(lc))->args == NIL)
			appendStringInfoString(sql, "::bigint[]");
	}
	/* the zone of the database, which is the value of a setting */
	if (number + 1 == function->zone)
	{
		appendStringInfoString(sql, number > 0 ? ", " : "");
		write_string(printer, sk_ddl_time_zone());
	}
	if (number == 1 && strcmp(node->text, "string_agg") == 0)
		appendStringInfoString(sql, ", ','");
	if (node->sort != NULL)
	{
		appendStringInfoChar(sql, ' ');
		write_node(printer, node->sort);
	}
	appendStringInfoChar(sql, ')');
}

/* What is no call in PostgreSQL; returns false for others. */
static bool
write_special(SkPrinter *printer, SkNode *node)
{
	StringInfo	sql = &printer->sql;
	const char *name = node->text;
	SkFloats	floats = floats_among(printer, node->args);
	SkNode		test = {0};
	SkNode		now = {.type = SK_NODE_WORD,.text = "CURRENT_TIMESTAMP"};

	if (strcmp(name, "if") == 0)
	{
		check_count(printer, node, 3, 3);
		test.args = list_make5(NULL, linitial(node->args), lsecond(node->args), NULL, lthird(node->args));
		write_case(printer, &test);
	}
	else if (SK_DDL_ONE_OF(name, "coalesce", "ifnull", "nullif"))
	{
		check_count(printer, node, *name == 'c' ? 1 : 2, *name == 'c' ? PG_INT32_MAX : 2);
		appendStringInfoString(sql, *name == 'n' ? "NULLIF(" : "COALESCE(");
		write_list(printer, node->args, ", ", floats);
		appendStringInfoChar(sql, ')');
	}
	else if (strcmp(name, "concat") == 0)
	{
		check_count(printer, node, 1, PG_INT32_MAX);
		appendStringInfoChar(sql, '(');
		write_list(printer, node->args, " || ", floats);
		appendStringInfoChar(sql, ')');
	}
	else if (strcmp(name, "countif") == 0)
	{
		check_count(printer, node, 1, 1);
		appendStringInfoString(sql, "pg_catalog.count(*) FILTER (WHERE ");
		write_node(printer, linitial(node->args));
		appendStringInfoChar(sql, ')');
	}
	else if (strcmp(name, "current_date") == 0 ||
			 (strcmp(name, "extract") == 0 && list_length(node->args) > 1 &&
			  ((SkNode *) linitial(node->args))->type == SK_NODE_STRING &&
			  strcmp(((SkNode *) linitial(node->args))->text, "date") == 0))
	{
		/* the only part of a moment that is no number */
		List	   *args = *name == 'c' ? list_concat(list_make1(&now), node->args) : list_copy_tail(node->args, 1);

		check_count(printer, node, 0, *name == 'c' ? 1 : 3);
		appendStringInfoString(sql, "spanner_internal.to_date(");
		write_list(printer, args, ", ", floats);
		if (list_length(args) == 1)
		{
			appendStringInfoString(sql, ", ");
			write_string(printer, sk_ddl_time_zone());
		}
		appendStringInfoString(sql, ", false)");
	}
	else if (strcmp(name, "current_timestamp") == 0)
	{
		check_count(printer, node, 0, 0);
		appendStringInfoString(sql, "CURRENT_TIMESTAMP");
	}
	else if (strcmp(name, "get_next_sequence_value") == 0)
		write_sequence(printer, node, "pg_catalog.nextval(%s)");
	else if (strcmp(name, "get_internal_sequence_state") == 0)
		write_sequence(printer, node, "spanner.get_internal_sequence_state(%s::pg_catalog.regclass::text)");
	else
		return false;
	return true;
}

static void
check_count(SkPrinter *printer, SkNode *node, int min, int max)
{
	int			count = list_length(node->args);

	if (node->name != NULL || node->sort != NULL)
		sk_ddl_refuse(printer->ddl, node->at, psprintf("DISTINCT or ORDER BY in %s()", SK_DDL_UPPER(node->text)), NULL);
	if (count < min || count > max)
		SK_DDL_ERROR(printer->ddl, node->at, ERRCODE_UNDEFINED_FUNCTION,
					 errmsg("function %s does not take %d arguments here", SK_DDL_UPPER(node->text), count));
}

/* function(SEQUENCE name) */
static void
write_sequence(SkPrinter *printer, SkNode *node, const char *format)
{
	SkNode	   *sequence = node->args != NIL ? linitial(node->args) : NULL;
	SkName		name;

	if (sequence == NULL || sequence->type != SK_NODE_SEQUENCE || strcmp(sequence->text, "sequence") != 0)
		sk_ddl_fail(printer->ddl, sequence != NULL ? sequence->at : node->at, NULL);
	name.parts = sequence->args;
	name.at = sequence->at;
	(void) sk_ddl_find(printer->ddl, &name, RELKIND_SEQUENCE, false);
	appendStringInfo(&printer->sql, format, quote_literal_cstr(sk_ddl_name(&name)));
}

/* A PART is a text: 'day', or 'week(monday)'. */
static void
write_part(SkPrinter *printer, SkNode *call, SkNode *node)
{
	SkNode	   *day = node->type == SK_NODE_CALL && list_length(node->args) == 1 ? linitial(node->args) : NULL;
	const char *part = node->type == SK_NODE_STRING ? node->text : NULL;

	if (node->type == SK_NODE_NAME && list_length(node->args) == 1)
		part = linitial(node->args);
	else if (day != NULL && day->type == SK_NODE_NAME)
		part = psprintf("%s(%s)", node->text, (char *) linitial(day->args));
	if (part == NULL)
		sk_ddl_fail(printer->ddl, node->at, NULL);
	if (!sk_ddl_has_part(call->text, part))
		sk_ddl_refuse(printer->ddl, node->at, psprintf("%s() %s %s", SK_DDL_UPPER(call->text),
													   strcmp(call->text, "extract") == 0 ? "of" : "to", SK_DDL_UPPER(part)), NULL);
	write_string(printer, part);
}

/* Raise an error of a constant that no value of the function would come from. */
static void
check_argument(SkPrinter *printer, SkNode *call, const SkDdlFunction *function, int number, SkNode *node)
{
	char	   *regex;

	if (node->type == SK_NODE_INTERVAL && !sk_ddl_has_part(call->text, node->text))
		sk_ddl_refuse(printer->ddl, node->at, psprintf("%s() of %s", SK_DDL_UPPER(call->text), SK_DDL_UPPER(node->text)), NULL);
	if (node->type != SK_NODE_STRING)
		return;
	if (number == function->zone && !sk_ddl_is_zone(node->text))
		SK_DDL_ERROR(printer->ddl, node->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("time zone \"%s\" not recognized", node->text), errhint(SK_TIME_ZONE_HINT));
	/* raises an error if it is none */
	if (number == 1 && strcmp(call->text, "format_date") == 0)
		(void) DirectFunctionCall2(spanner_format_date, CStringGetTextDatum(node->text), Int32GetDatum(0));
	if (number == 1 && strcmp(call->text, "format_timestamp") == 0)
		(void) DirectFunctionCall3(spanner_format_timestamp, CStringGetTextDatum(node->text), Int64GetDatum(0),
								   CStringGetTextDatum("UTC"));
	if (number == 2 && strncmp(call->text, "regexp_", 7) == 0)
	{
		regex = sk_ddl_regex(node->text, call->text +7);
		if (regex == NULL)
			sk_ddl_refuse(printer->ddl, node->at, "this regular expression", SK_REGEX_HINT);
		/* raises an error if it is none */
		(void) DirectFunctionCall2Coll(textregexeq, C_COLLATION_OID, CStringGetTextDatum(""),
									   CStringGetTextDatum(regex));
	}
}

static void
write_string(SkPrinter *printer, const char *value)
{
	appendStringInfoString(&printer->sql, quote_literal_cstr(value));
}
