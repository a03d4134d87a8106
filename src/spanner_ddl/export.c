/*-------------------------------------------------------------------------
 *
 * export.c
 *	  PostgreSQL's expressions, queries, names and values as Spanner writes
 *	  them, for spanner.spanner_ddl().
 *
 * Expressions are read as PostgreSQL has stored them.  The tables of
 * vocabulary.c, which say what functions and casts of GoogleSQL become, are read
 * backward.
 *
 * An export is imported as a text, so no name and no value may end a
 * statement.  What a reader of either dialect finds in it has to be the same.
 *
 * src/spanner_ddl/export.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/timestamp.h"

#include "spanner_ddl/spanner_ddl.h"

PG_FUNCTION_INFO_V1(spanner_googlesql_expression);
PG_FUNCTION_INFO_V1(spanner_googlesql_name);
PG_FUNCTION_INFO_V1(spanner_googlesql_query);
PG_FUNCTION_INFO_V1(spanner_postgresql_expression);

/* Where the text goes, and whose columns there are. */
typedef struct SkWriter
{
	StringInfoData sql;
	Oid			relid;
	Node	   *case_test;		/* what CASE compares */
	List	   *queries;		/* whose columns there are, of a view: the
								 * innermost first */
	List	   *with_names;		/* that WITH has, of char * */
} SkWriter;

static Node *as_postgresql(Node *node, void *context);
static Node *call_as_postgresql(FuncExpr *call);
static Node *make_call(char *schema, char *name, List *args, Oid type);
static Node *make_operator(Node *left, char *name, Node *right);
static Node *as_type(Node *value, Oid type);
static Node *shard_as_postgresql(List *arguments);
static Node *make_text(const char *text);
static bool is_foreign(Node *node, void *context);
static bool is_foreign_function(Oid function, void *context);
static bool write_node(SkWriter *writer, Node *node);
static bool write_list(SkWriter *writer, const char *start, List *nodes, const char *separator, const char *end);
static bool write_call(SkWriter *writer, FuncExpr *call);
static bool write_own_call(SkWriter *writer, const char *name, List *args);
static bool is_default_zone(Node *zone);
static bool write_part(SkWriter *writer, const char *function, const char *start, Node *part, const char *end);
static const SkDdlFunction *find_function(const char *schema, const char *name);
static bool write_function(SkWriter *writer, const char *schema, const char *name, List *args, const char *distinct);
static bool write_typed(SkWriter *writer, Const *value, Oid type);
static bool write_relation(SkWriter *writer, Oid relid);
static bool has_known_types(List *nodes);
static bool write_cast(SkWriter *writer, Node *value, Oid type, bool is_implicit);
static bool becomes(SkDdlType from, SkDdlType to);
static bool has_cast(SkDdlType from, SkDdlType to);
static bool keeps_length(FuncExpr *cast);
static bool has_digits(const char *number, int before, int after);
static void *without_casts(Node *node);
static bool is_same_array(ArrayCoerceExpr *cast);
static bool is_same_value(Oid from, Oid to);
static bool write_shard(SkWriter *writer, List *arguments);
static bool write_canonical(SkWriter *writer, Node *key);
static bool write_operator(SkWriter *writer, OpExpr *operator);
static SkDdlType operand_type(Oid operator, List *args);
static bool is_compared(OpExpr *operator);
static bool write_minus(SkWriter *writer, Node *value);
static bool is_same_regex(Node *node);
static bool write_boolean_test(SkWriter *writer, BooleanTest *test);
static bool write_case(SkWriter *writer, CaseExpr *expr);
static bool write_in(SkWriter *writer, ScalarArrayOpExpr *expr);
static bool has_name(RangeTblEntry *rte, const char *name);
static bool write_var(SkWriter *writer, Var *var);
static bool write_aggregate(SkWriter *writer, Aggref *aggregate);
static bool write_query(SkWriter *writer, Query *query, Oid view);
static bool write_limit(SkWriter *writer, const char *start, Node *number);
static bool write_with(SkWriter *writer, List *items);
static bool write_select(SkWriter *writer, Query *query, Oid view);
static bool write_item(SkWriter *writer, Node *item);
static bool write_operand(SkWriter *writer, Node *operand, Oid view);
static bool write_sublink(SkWriter *writer, SubLink *link);
static bool write_subquery(SkWriter *writer, const char *start, Node *query, Oid view);
static bool write_from(SkWriter *writer, Node *item);
static bool write_sort(SkWriter *writer, List *clauses, List *targets, const char *start);
static const char *quote_name(const char *name);
static bool write_const(StringInfo sql, Const *value);
static bool write_number(StringInfo sql, Const *value);
static const char *const_text(Const *value);
static void write_string(StringInfo sql, const char *value);

/*
 * spanner_internal.googlesql_name(name) returns text
 *
 * A name with backquotes where it needs them.
 */
Datum
spanner_googlesql_name(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(quote_name(NameStr(*PG_GETARG_NAME(0)))));
}

/*
 * spanner_internal.googlesql_expression(relation, expression) returns text
 *
 * NULL if GoogleSQL cannot say it.
 */
Datum
spanner_googlesql_expression(PG_FUNCTION_ARGS)
{
	SkWriter	writer = {.relid = PG_GETARG_OID(0)};
	Node	   *node = stringToNode(TextDatumGetCString(PG_GETARG_DATUM(1)));

	initStringInfo(&writer.sql);
	if (!write_node(&writer, node))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(writer.sql.data));
}

/*
 * spanner_internal.googlesql_query(view) returns text
 *
 * NULL if GoogleSQL cannot say it.
 */
Datum
spanner_googlesql_query(PG_FUNCTION_ARGS)
{
	Relation	view = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	SkWriter	writer = {.relid = PG_GETARG_OID(0)};
	bool		result;

	if (view == NULL)
		PG_RETURN_NULL();
	initStringInfo(&writer.sql);
	result = view->rd_rel->relkind == RELKIND_VIEW &&
		write_query(&writer, copyObject(get_view_query(view)), PG_GETARG_OID(0));
	relation_close(view, AccessShareLock);
	if (!result)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(writer.sql.data));
}

/*
 * spanner_internal.postgresql_expression(relation, expression) returns text
 *
 * As PostgreSQL writes it, with the functions and types that Spanner's dialect
 * has; NULL with others.
 */
Datum
spanner_postgresql_expression(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char	   *relname = get_rel_name(relid);
	Node	   *node = as_postgresql(stringToNode(TextDatumGetCString(PG_GETARG_DATUM(1))), NULL);

	if (relname == NULL || is_foreign(node, NULL))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(deparse_expression(node, deparse_context_for(relname, relid),
														false, false)));
}

/* What Spanner's PostgreSQL dialect says for what is ours, as far as it means the same. */
static Node *
as_postgresql(Node *node, void *context)
{
	Const	   *value = (Const *) node;

	if (node == NULL || IsA(node, Query) || IsA(node, PartitionBoundSpec))
		return node;
	if (!IsA(node, Const))
	{
		node = expression_tree_mutator(node, as_postgresql, context);
		return IsA(node, FuncExpr) ? call_as_postgresql((FuncExpr *) node) : node;
	}

	/*
	 * the sequence of nextval() is a name there, without a cast; "public" is
	 * where names are looked for
	 */
	if (value->consttype == REGCLASSOID && !value->constisnull)
	{
		Oid			relid = DatumGetObjectId(value->constvalue);
		char	   *schema = get_namespace_name(get_rel_namespace(relid));

		if (schema == NULL)
			return node;
		if (strcmp(schema, "public") == 0)
			schema = NULL;
		return (Node *) makeConst(UNKNOWNOID, -1, InvalidOid, -2,
								  CStringGetDatum(quote_qualified_identifier(schema, get_rel_name(relid))),
								  false, false);
	}
	return node;
}

/* A call as Spanner's PostgreSQL dialect has it; as it is if there is none. */
static Node *
call_as_postgresql(FuncExpr *call)
{
	char	   *schema = get_namespace_name(get_func_namespace(call->funcid));
	char	   *name = get_func_name(call->funcid);
	Node	   *first = call->args != NIL ? linitial(call->args) : NULL;
	Node	   *second = list_length(call->args) > 1 ? lsecond(call->args) : NULL;
	Node	   *result = NULL;

	if (schema == NULL || name == NULL)
		return (Node *) call;
	if (strcmp(schema, "spanner") == 0 && strcmp(name, "shard_id") == 0)
		result = shard_as_postgresql(call->args);
	else if (strcmp(schema, "spanner_internal") != 0)
		return (Node *) call;
	/* their lengths are integers */
	else if (SK_DDL_ONE_OF(name, "length", "lower", "reverse", "starts_with", "strpos", "upper"))
		result = make_call("pg_catalog", name, call->args, call->funcresulttype);
	else if (strncmp(name, "literal_to_", 11) == 0 && IsA(first, Const) && !((Const *) first)->constisnull)
		result = (Node *) makeConst(call->funcresulttype, -1, InvalidOid, get_typlen(call->funcresulttype),
									OidFunctionCall1(call->funcid, ((Const *) first)->constvalue), false,
									get_typbyval(call->funcresulttype));
	else if (strcmp(name, "div") == 0 && call->funcresulttype == INT8OID)
		result = make_operator(first, "/", second);
	else if (strcmp(name, "divide") == 0 && call->funcresulttype == FLOAT8OID)
		result = make_operator(as_type(first, FLOAT8OID), "/", as_type(second, FLOAT8OID));
	else if (strcmp(name, "regexp_contains") == 0 && is_same_regex(second))
		result = make_operator(first, "~", second);
	return result != NULL ? result : (Node *) call;
}

/* A call of a function with these arguments, as a value of a type; NULL if there is none. */
static Node *
make_call(char *schema, char *name, List *args, Oid type)
{
	Oid			types[FUNC_MAX_ARGS];
	Oid			function;
	ListCell   *lc;

	foreach(lc, args)
		types[foreach_current_index(lc)] = exprType(lfirst(lc));
	function = LookupFuncName(list_make2(makeString(schema), makeString(name)), list_length(args), types, true);
	return !OidIsValid(function) ? NULL :
		as_type((Node *) makeFuncExpr(function, get_func_rettype(function), args, InvalidOid, InvalidOid,
									  COERCE_EXPLICIT_CALL), type);
}

static Node *
make_operator(Node *left, char *name, Node *right)
{
	return (Node *) make_op(NULL, list_make2(makeString("pg_catalog"), makeString(name)), left, right, NULL, -1);
}

static Node *
as_type(Node *value, Oid type)
{
	return coerce_to_target_type(NULL, value, exprType(value), type, -1, COERCION_EXPLICIT,
								 COERCE_EXPLICIT_CAST, -1);
}

/* spanner.shard_id() of keys whose text is the same whatever is set, as write_shard() has it */
static Node *
shard_as_postgresql(List *arguments)
{
	Node	   *text = NULL;
	ListCell   *lc;

	for_each_from(lc, arguments, 1)
	{
		Node	   *key = as_type(lfirst(lc), TEXTOID);
		CoalesceExpr *part = makeNode(CoalesceExpr);

		if (!SK_DDL_ONE_OF(sk_ddl_type_name(sk_ddl_type_class(exprType(lfirst(lc)))), "BOOL", "INT64", "STRING", "UUID"))
			return NULL;
		if (list_length(arguments) > 2)
			key = make_operator(make_operator(make_call("pg_catalog", "octet_length", list_make1(key), TEXTOID),
											  "||", make_text(":")), "||", key);
		part->coalescetype = TEXTOID;
		part->args = list_make2(key, make_text("-"));
		text = text == NULL ? (Node *) part : make_operator(text, "||", (Node *) part);
	}
	text = make_call("spanner", "farm_fingerprint", list_make1(text), INT8OID);
	text = make_call("pg_catalog", "mod", list_make2(text, as_type(linitial(arguments), INT8OID)), INT8OID);

	return make_call("pg_catalog", "abs", list_make1(text), INT8OID);
}

static Node *
make_text(const char *text)
{
	return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(text), false, false);
}

/*
 * Does an expression call a function, or have an operator or a literal, that is
 * not of Spanner's PostgreSQL dialect?  Also true of what is no expression of
 * one relation, as a rule's query and a partition's bound are not.
 */
static bool
is_foreign(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query) || IsA(node, PartitionBoundSpec) || (IsA(node, Var) && castNode(Var, node)->varno != 1))
		return true;
	/* operators that are written: OpExpr has the form of two others */
	if ((IsA(node, OpExpr) || IsA(node, DistinctExpr) || IsA(node, NullIfExpr)) &&
		((OpExpr *) node)->opno >= FirstNormalObjectId)
		return true;
	if (IsA(node, ScalarArrayOpExpr) && ((ScalarArrayOpExpr *) node)->opno >= FirstNormalObjectId)
		return true;
	return check_functions_in_node(node, is_foreign_function, context) ||
		expression_tree_walker(node, is_foreign, context);
}

static bool
is_foreign_function(Oid function, void *context)
{
	char	   *schema = get_namespace_name(get_func_namespace(function));
	char	   *name = get_func_name(function);

	if (schema == NULL || name == NULL)
		return true;
	return strcmp(schema, "pg_catalog") != 0 &&
		(strcmp(schema, "spanner") != 0 ||
		 !SK_DDL_ONE_OF(name, "bit_reverse", "farm_fingerprint", "generate_uuid", "pending_commit_timestamp"));
}

/*
 * Write an expression; returns false if that cannot be done.
 *
 * A catalog may hold an expression that is empty, as a rule without WHERE
 * does, and the caller may give the expression of another relation.
 */
static bool
write_node(SkWriter *writer, Node *node)
{
	check_stack_depth();
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			return write_var(writer, (Var *) node);
		case T_Aggref:
			return write_aggregate(writer, (Aggref *) node);
		case T_Const:
			return write_const(&writer->sql, (Const *) node);
		case T_RelabelType:
			return write_cast(writer, (Node *) ((RelabelType *) node)->arg, exprType(node), false);
		case T_ArrayCoerceExpr:
			return is_same_array((ArrayCoerceExpr *) node) &&
				write_node(writer, (Node *) ((ArrayCoerceExpr *) node)->arg);
		case T_CoerceToDomain:
			return write_node(writer, (Node *) ((CoerceToDomain *) node)->arg);
		case T_CoerceViaIO:
			return write_cast(writer, (Node *) ((CoerceViaIO *) node)->arg, exprType(node), false);
		case T_FuncExpr:
			return write_call(writer, (FuncExpr *) node);
		case T_OpExpr:
			return write_operator(writer, (OpExpr *) node);
		case T_BoolExpr:
			if (((BoolExpr *) node)->boolop == NOT_EXPR)
				return write_list(writer, "(NOT ", ((BoolExpr *) node)->args, "", ")");
			return write_list(writer, "(", ((BoolExpr *) node)->args,
							  ((BoolExpr *) node)->boolop == AND_EXPR ? " AND " : " OR ", ")");
		case T_NullTest:
			return write_list(writer, "(", list_make1(((NullTest *) node)->arg), "",
							  ((NullTest *) node)->nulltesttype == IS_NULL ? " IS NULL)" : " IS NOT NULL)");
		case T_BooleanTest:
			return write_boolean_test(writer, (BooleanTest *) node);
		case T_DistinctExpr:
			return is_compared((OpExpr *) node) &&
				write_list(writer, "(", ((OpExpr *) node)->args, " IS DISTINCT FROM ", ")");
		case T_CaseExpr:
			return write_case(writer, (CaseExpr *) node);
		case T_CaseTestExpr:
			return writer->case_test != NULL && write_node(writer, writer->case_test);
		case T_CoalesceExpr:
			return write_list(writer, "COALESCE(", ((CoalesceExpr *) node)->args, ", ", ")");
		case T_NullIfExpr:
			return is_compared((OpExpr *) node) &&
				write_list(writer, "NULLIF(", ((OpExpr *) node)->args, ", ", ")");
		case T_ArrayExpr:
			return write_list(writer, "[", ((ArrayExpr *) node)->elements, ", ", "]");
		case T_ScalarArrayOpExpr:
			return write_in(writer, (ScalarArrayOpExpr *) node);
		case T_SubLink:
			return write_sublink(writer, (SubLink *) node);
		case T_SQLValueFunction:
			if (((SQLValueFunction *) node)->op != SVFOP_CURRENT_TIMESTAMP)
				return false;
			return write_list(writer, "CURRENT_TIMESTAMP()", NIL, "", "");
		default:
			return false;
	}
}

static bool
write_list(SkWriter *writer, const char *start, List *nodes, const char *separator,
		   const char *end)
{
	ListCell   *lc;

	appendStringInfoString(&writer->sql, start);
	foreach(lc, nodes)
	{
		if (lc != list_head(nodes))
			appendStringInfoString(&writer->sql, separator);
		if (!write_node(writer, lfirst(lc)))
			return false;
	}
	appendStringInfoString(&writer->sql, end);
	return true;
}

/* A call of a function that one of GoogleSQL becomes, with the same arguments. */
static bool
write_call(SkWriter *writer, FuncExpr *call)
{
	char	   *schema = get_namespace_name(get_func_namespace(call->funcid));
	char	   *name = get_func_name(call->funcid);

	if (schema == NULL || name == NULL || !SK_DDL_ONE_OF(schema, "pg_catalog", "spanner", "spanner_internal"))
		return false;			/* dropped in the meantime, or of others */
	if (call->funcformat != COERCE_EXPLICIT_CALL && call->funcformat != COERCE_SQL_SYNTAX)
	{
		FuncExpr   *cast = linitial(call->args);

		/*
		 * one cast to a type with a length is two of PostgreSQL, of which the
		 * first is implicit
		 */
		if (call->funcformat == COERCE_EXPLICIT_CAST && IsA(cast, FuncExpr) && cast->funcformat == COERCE_IMPLICIT_CAST)
			cast = linitial(cast->args);
		return keeps_length(call) && write_cast(writer, (Node *) cast, call->funcresulttype,
												call->funcformat == COERCE_IMPLICIT_CAST);
	}
	if (strcmp(name, "now") == 0)
		return write_list(writer, "CURRENT_TIMESTAMP()", NIL, "", "");
	if (strcmp(name, "nextval") == 0)
	{
		Const	   *sequence = linitial(call->args);

		appendStringInfoString(&writer->sql, "GET_NEXT_SEQUENCE_VALUE(SEQUENCE ");
		return IsA(sequence, Const) && !sequence->constisnull &&
			write_relation(writer, DatumGetObjectId(sequence->constvalue)) && write_list(writer, "", NIL, "", ")");
	}
	if (strcmp(schema, "spanner") == 0 && strcmp(name, "shard_id") == 0)
		return write_shard(writer, call->args);
	if (strcmp(schema, "spanner") == 0 && strcmp(name, "timestamp_to_string") == 0)
	{
		/* the default of the function */
		if (list_length(call->args) == 1)
			return write_list(writer, "STRING(", call->args, "", ", 'UTC')");
		if (is_default_zone(lsecond(call->args)))
			return write_list(writer, "CAST(", list_make1(linitial(call->args)), "", " AS STRING)");
		return write_list(writer, "STRING(", call->args, ", ", ")");
	}
	if (strcmp(schema, "spanner_internal") == 0 && write_own_call(writer, name, call->args))
		return true;
	if (call->funcvariadic && IsA(llast(call->args), ArrayExpr))
		return write_function(writer, schema, name, castNode(ArrayExpr, llast(call->args))->elements, "");
	return !call->funcvariadic && write_function(writer, schema, name, call->args, "");
}

/* What GoogleSQL says with an operator, a cast or words; false of other functions. */
static bool
write_own_call(SkWriter *writer, const char *name, List *args)
{
	static const char *const operators[][2] = {
		{"concat", " || "}, {"divide", " / "}, {"multiply", " * "}, {"shift_left", " << "}, {"shift_right", " >> "}, {"in_unnest", " IN UNNEST("}
	};
	Node	   *first = args != NIL ? linitial(args) : NULL;
	Node	   *second = list_length(args) > 1 ? lsecond(args) : NULL;
	const char *type = strncmp(name, "to_", 3) == 0 ? name + 3 : NULL;
	Const	   *safe = args != NIL ? llast(args) : NULL;
	bool		is_safe;

	for (int i = 0; i < lengthof(operators); i++)
	{
		if (strcmp(operators[i][0], name) == 0)
			return write_list(writer, "(", args, operators[i][1], *name == 'i' ? "))" : ")");
	}
	if (strncmp(name, "at_", 3) == 0)
		return write_list(writer, "", list_make1(first), "", psprintf("[%s(", SK_DDL_UPPER(name + 3))) &&
			write_list(writer, "", list_make1(second), "", ")]");
	if (strcmp(name, "is_between") == 0)
		return write_list(writer, "(", list_make1(first), "", " BETWEEN ") &&
			write_list(writer, "", list_copy_tail(args, 1), " AND ", ")");
	if (strcmp(name, "json_element") == 0)
		return write_list(writer, "", list_make1(first), "", "[") && write_list(writer, "", list_make1(second), "", "]");
	if (strcmp(name, "extract") == 0)
		return write_part(writer, name, "EXTRACT(", first, " FROM ") && write_list(writer, "", list_make1(second), "", "") &&
			(is_default_zone(llast(args)) || sk_ddl_type_class(exprType(second)) != SK_TYPE_TIMESTAMP ||
			 write_list(writer, " AT TIME ZONE ", list_make1(llast(args)), "", "")) && write_list(writer, "", NIL, "", ")");
	if (SK_DDL_ONE_OF(name, "date_add", "date_sub", "timestamp_add", "timestamp_sub"))
		return write_list(writer, psprintf("%s(", SK_DDL_UPPER(name)), list_make2(first, second), ", INTERVAL ", "") &&
			write_part(writer, name, " ", llast(args), ")");
	if (type == NULL || SK_DDL_ONE_OF(type, "base64", "code_points", "hex", "json", "json_string") ||
		(IsA(safe, Const) && safe->constisnull))
		return false;
	is_safe = IsA(safe, Const) && safe->consttype == BOOLOID && second != NULL && DatumGetBool(safe->constvalue);
	/* a time zone that is not the database's; no safe cast has one */
	if (SK_DDL_ONE_OF(type, "date", "string", "timestamp") && !is_default_zone(second) &&
		(strcmp(type, "timestamp") == 0) != (sk_ddl_type_class(exprType(first)) == SK_TYPE_TIMESTAMP))
		return (!is_safe || sk_ddl_type_class(exprType(first)) != SK_TYPE_STRING) &&
			write_list(writer, psprintf("%s(", SK_DDL_UPPER(type)), list_make2(first, second), ", ", ")");
	return write_list(writer, is_safe ? "SAFE_CAST(" : "CAST(", list_make1(first), "",
					  psprintf(" AS %s)", SK_DDL_UPPER(type)));
}

/* Is it the time zone of the database? */
static bool
is_default_zone(Node *zone)
{
	return IsA(zone, Const) && !((Const *) zone)->constisnull && ((Const *) zone)->consttype == TEXTOID &&
		pg_strcasecmp(TextDatumGetCString(((Const *) zone)->constvalue), sk_ddl_time_zone()) == 0;
}

/* A PART, a word between these; false if the function has none of this name. */
static bool
write_part(SkWriter *writer, const char *function, const char *start, Node *part, const char *end)
{
	const char *name = IsA(part, Const) && !((Const *) part)->constisnull && ((Const *) part)->consttype == TEXTOID ?
		TextDatumGetCString(((Const *) part)->constvalue) : NULL;

	if (name == NULL || !sk_ddl_has_part(function, name))
		return false;
	appendStringInfo(&writer->sql, "%s%s%s", start, SK_DDL_UPPER(name), end);
	return true;
}

/* The function of GoogleSQL that a call is; NULL if there is none. */
static const SkDdlFunction *
find_function(const char *schema, const char *name)
{
	/* PostgreSQL's own that are the same for values of a usual size */
	static const char *const names[][2] = {
		{"btrim", "trim"}, {"cardinality", "array_length"}, {"character_length", "char_length"}, {"octet_length", "byte_length"}
	};
	static const char *const same[] = {
		"avg", "char_length", "div", "length", "lower", "ltrim", "reverse", "rtrim", "sha256", "sha512", "starts_with", "strpos", "sum", "upper", NULL
	};
	bool		is_core = strcmp(schema, "pg_catalog") == 0;

	for (int i = 0; i < lengthof(names) && is_core; i++)
	{
		if (strcmp(names[i][0], name) == 0)
			return find_function("spanner_internal", names[i][1]);
	}
	if (is_core && sk_ddl_one_of(name, same))
		schema = "spanner_internal";
	for (const SkDdlFunction *function = sk_ddl_functions; function->name != NULL; function++)
	{
		if (strcmp(function->target, name) == 0 && strcmp(function->schema, schema) == 0)
			return function;
	}
	return NULL;
}

/* A call with arguments that are written as they are, but for a PART and a zone. */
static bool
write_function(SkWriter *writer, const char *schema, const char *name, List *args, const char *distinct)
{
	const SkDdlFunction *function = find_function(schema, name);
	ListCell   *lc;

	if (function == NULL || !has_known_types(args))
		return false;
	appendStringInfo(&writer->sql, "%s(%s", SK_DDL_UPPER(function->name), distinct);
	foreach(lc, args)
	{
		int			number = foreach_current_index(lc) + 1;
		Const	   *value = lfirst(lc);

		if (number == function->zone && number == list_length(args) && is_default_zone(lfirst(lc)))
			break;
		appendStringInfoString(&writer->sql, number > 1 ? ", " : "");
		/* the type of NULL chooses the function; without one it is an INT64 */
		if (IsA(value, Const) && value->constisnull && value->consttype != INT8OID ? !write_typed(writer, value, value->consttype) :
			number == function->part ? !write_part(writer, function->name, "", lfirst(lc), "") : !write_node(writer, lfirst(lc)))
			return false;
	}
	/* PostgreSQL's own remove blanks, GoogleSQL's all white space */
	return write_list(writer, "", NIL, "", strcmp(schema, "pg_catalog") == 0 && strstr(name, "trim") != NULL &&
					  list_length(args) == 1 ? ", ' ')" : ")");
}

/* A value as one of a type, which may be an array's. */
static bool
write_typed(SkWriter *writer, Const *value, Oid type)
{
	Oid			element = get_element_type(type);
	SkDdlType	class = sk_ddl_type_class(OidIsValid(element) ? element : type);

	return class != SK_TYPE_UNKNOWN &&
		write_list(writer, "CAST(", list_make1(value), "", psprintf(OidIsValid(element) ? " AS ARRAY<%s>)" : " AS %s)", sk_ddl_type_name(class)));
}

/* The name of a relation, if it is still there. */
static bool
write_relation(SkWriter *writer, Oid relid)
{
	const char *relname = get_rel_name(relid);
	const char *nspname = get_namespace_name(get_rel_namespace(relid));
	ListCell   *lc;

	if (relname == NULL || nspname == NULL)
		return false;
	/* WITH would hide it */
	foreach(lc, writer->with_names)
	{
		if (pg_strcasecmp(lfirst(lc), relname) == 0)
			return false;
	}
	appendStringInfo(&writer->sql, "%s%s%s", strcmp(nspname, "public") == 0 ? "" : quote_name(nspname),
					 strcmp(nspname, "public") == 0 ? "" : ".", quote_name(relname));
	return true;
}

static bool
has_known_types(List *nodes)
{
	ListCell   *lc;

	foreach(lc, nodes)
	{
		if (sk_ddl_type_class(exprType(lfirst(lc))) == SK_TYPE_UNKNOWN)
			return false;
	}
	return true;
}

static bool
write_cast(SkWriter *writer, Node *value, Oid type, bool is_implicit)
{
	SkDdlType	from = sk_ddl_type_class(exprType(value));
	SkDdlType	to = sk_ddl_type_class(type);

	if (from == to)
		return is_same_value(exprType(value), type) && write_node(writer, value);
	/* numbers become the type of what they are compared with */
	if (IsA(value, Const) && !((Const *) value)->constisnull && SK_IS_NUMBER(to) &&
		(from == SK_TYPE_INT || from == SK_TYPE_NUMERIC ||
		 (from == SK_TYPE_FLOAT && (is_implicit || ((Const *) value)->consttype != FLOAT8OID))) &&
		to != SK_TYPE_INT)
		return write_number(&writer->sql, (Const *) value);
	if (becomes(from, to) && (is_implicit || from == SK_TYPE_FLOAT32))
		return write_node(writer, value);
	return has_cast(from, to) &&
		write_list(writer, "CAST(", list_make1(value), "", psprintf(" AS %s)", sk_ddl_type_name(to)));
}

/* Does a value become one of another type without a cast, in both languages? */
static bool
becomes(SkDdlType from, SkDdlType to)
{
	return from == to || (to == SK_TYPE_NUMERIC && from == SK_TYPE_INT) ||
		(to == SK_TYPE_FLOAT && (from == SK_TYPE_INT || from == SK_TYPE_NUMERIC || from == SK_TYPE_FLOAT32));
}

/* Do values of one class become the same ones of another as in GoogleSQL? */
static bool
has_cast(SkDdlType from, SkDdlType to)
{
	static const SkDdlType casts[][2] = {
		{SK_TYPE_BOOL, SK_TYPE_STRING}, {SK_TYPE_FLOAT, SK_TYPE_FLOAT32}, {SK_TYPE_FLOAT32, SK_TYPE_FLOAT},
		{SK_TYPE_INT, SK_TYPE_FLOAT}, {SK_TYPE_INT, SK_TYPE_FLOAT32}, {SK_TYPE_INT, SK_TYPE_NUMERIC},
		{SK_TYPE_INT, SK_TYPE_STRING}, {SK_TYPE_NUMERIC, SK_TYPE_FLOAT}, {SK_TYPE_NUMERIC, SK_TYPE_FLOAT32},
		{SK_TYPE_NUMERIC, SK_TYPE_INT}, {SK_TYPE_STRING, SK_TYPE_DATE}, {SK_TYPE_STRING, SK_TYPE_FLOAT},
		{SK_TYPE_STRING, SK_TYPE_FLOAT32}, {SK_TYPE_STRING, SK_TYPE_INT}, {SK_TYPE_STRING, SK_TYPE_NUMERIC},
		{SK_TYPE_STRING, SK_TYPE_UUID}, {SK_TYPE_UUID, SK_TYPE_STRING}
	};

	for (int i = 0; i < lengthof(casts); i++)
	{
		if (casts[i][0] == from && casts[i][1] == to)
			return true;
	}
	return from == to;
}

/*
 * May a cast to a length or scale be left out?
 *
 * A column checks the length of a string itself, NUMERIC has a scale of 9, and
 * a value may be short enough.
 */
static bool
keeps_length(FuncExpr *cast)
{
	SkDdlType	type = sk_ddl_type_class(cast->funcresulttype);
	Const	   *value = without_casts(linitial(cast->args));
	int32		typmod;
	int			scale;
	const char *written;

	if (!exprIsLengthCoercion((Node *) cast, &typmod) || typmod < 0)
		return true;
	if ((type == SK_TYPE_STRING && cast->funcformat == COERCE_IMPLICIT_CAST) ||
		(type == SK_TYPE_TIMESTAMP && typmod >= MAX_TIMESTAMP_PRECISION) ||
		(type == SK_TYPE_NUMERIC && typmod == NUMERIC_TYPMOD(38, 9)))
		return true;
	if (!IsA(value, Const) || (sk_ddl_type_class(value->consttype) != type &&
							   (type != SK_TYPE_NUMERIC || sk_ddl_type_class(value->consttype) != SK_TYPE_INT)))
		return false;
	if (value->constisnull)
		return true;
	written = const_text(value);
	typmod -= VARHDRSZ;
	if (type == SK_TYPE_STRING)
		return pg_mbstrlen(written) <= typmod;
	if (type != SK_TYPE_NUMERIC)
		return false;
	scale = ((typmod & 0x7ff) ^ 1024) - 1024;
	return has_digits(written, (typmod >> 16) - scale, scale);
}

/* Has a number no more digits than these, before the point and after it, but for zeros? */
static bool
has_digits(const char *number, int before, int after)
{
	int			whole = strcspn(number + strspn(number, "-"), ".");
	const char *point = number + strcspn(number, ".");
	int			length = strlen(point);

	while (length > 0 && point[length - 1] == '0')
		length--;
	/* with its point */
	return whole <= before && length <= after + 1;
}

/* What is cast to another type, not to a length. */
static void *
without_casts(Node *node)
{
	int32		typmod;

	while (IsA(node, RelabelType) ||
		   (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat != COERCE_EXPLICIT_CALL &&
			list_length(((FuncExpr *) node)->args) == 1 && !exprIsLengthCoercion(node, &typmod)))
		node = IsA(node, RelabelType) ? (Node *) ((RelabelType *) node)->arg : linitial(((FuncExpr *) node)->args);
	return node;
}

/* Has an array the same elements after a cast? */
static bool
is_same_array(ArrayCoerceExpr *cast)
{
	Oid			from = get_element_type(exprType((Node *) cast->arg));
	Oid			to = get_element_type(cast->resulttype);
	int32		typmod;

	if (!is_same_value(from, to))
		return false;
	return !exprIsLengthCoercion((Node *) cast, &typmod) || typmod < 0 ||
		(sk_ddl_type_class(to) == SK_TYPE_STRING && cast->coerceformat == COERCE_IMPLICIT_CAST) ||
		(sk_ddl_type_class(to) == SK_TYPE_NUMERIC && typmod == NUMERIC_TYPMOD(38, 9));
}

/* Is a value of one type the same as that of another one? */
static bool
is_same_value(Oid from, Oid to)
{
	SkDdlType	type = sk_ddl_type_class(from);

	return type == sk_ddl_type_class(to) && type != SK_TYPE_UNKNOWN;
}

/* spanner.shard_id(shards, key, ...), as docs/planning.md defines it */
static bool
write_shard(SkWriter *writer, List *arguments)
{
	const char *start = "ABS(MOD(FARM_FINGERPRINT(CONCAT(";
	ListCell   *lc;

	for_each_from(lc, arguments, 1)
	{
		SkWriter	key = *writer;

		initStringInfo(&key.sql);
		if (!write_canonical(&key, lfirst(lc)))
			return false;
		if (list_length(arguments) == 2)
			appendStringInfo(&writer->sql, "ABS(MOD(FARM_FINGERPRINT(COALESCE(%s, '-')", key.sql.data);
		else
			appendStringInfo(&writer->sql, "%sCOALESCE(CONCAT(CAST(BYTE_LENGTH(%s) AS STRING), ':', %s), '-')",
							 start, key.sql.data, key.sql.data);
		start = ", ";
	}
	return write_list(writer, list_length(arguments) == 2 ? "), " : ")), ", list_make1(linitial(arguments)), "", "))");
}

/* The canonical text of a key. */
static bool
write_canonical(SkWriter *writer, Node *key)
{
	switch (sk_ddl_type_class(exprType(key)))
	{
		case SK_TYPE_STRING:
			return write_node(writer, key);
		case SK_TYPE_BOOL:
		case SK_TYPE_DATE:
		case SK_TYPE_INT:
		case SK_TYPE_UUID:
			return write_list(writer, "CAST(", list_make1(key), "", " AS STRING)");
		case SK_TYPE_TIMESTAMP:
			return write_list(writer, "STRING(", list_make1(key), "", ", 'UTC')");
		default:
			return false;
	}
}

static bool
write_operator(SkWriter *writer, OpExpr *operator)
{
	char	   *name = get_opname(operator->opno);
	SkDdlType	type = operand_type(operator->opno, operator->args);
	bool		is_number = SK_IS_NUMBER(type);
	bool		result;

	if (name == NULL || type == SK_TYPE_UNKNOWN)
		return false;
	if (list_length(operator->args) == 1)
	{
		if (strcmp(name, "~") == 0 && type == SK_TYPE_INT)
			return write_list(writer, "(~", operator->args, "", ")");
		return is_number && strcmp(name, "-") == 0 && write_minus(writer, linitial(operator->args));
	}
	if (strcmp(name, "/") == 0 && type == SK_TYPE_INT)
		return write_list(writer, "DIV(", operator->args, ", ", ")");
	if (strcmp(name, "%") == 0 && type == SK_TYPE_INT)
		return write_list(writer, "MOD(", operator->args, ", ", ")");
	if (strcmp(name, "/") == 0)
		return is_number && write_list(writer, "(", operator->args, " / ", ")");
	if (strcmp(name, "~") == 0)
		return type == SK_TYPE_STRING && is_same_regex(lsecond(operator->args)) &&
			write_list(writer, "REGEXP_CONTAINS(", operator->args, ", ", ")");
	if (strcmp(name, "~~") == 0)
		return write_list(writer, "(", operator->args, " LIKE ", ")");
	if (!SK_DDL_ONE_OF(name, "+", "-", "*", "=", "<>", "<", "<=", ">", ">=", "||", "&", "|"))
		return false;

	/*
	 * an array and NULL are the array; arrays and JSON are not compared; of
	 * times, the operators are others
	 */
	if (strcmp(name, "||") == 0)
		result = type == SK_TYPE_STRING || type == SK_TYPE_BYTES;
	else if (strchr("+-*&|", *name) != NULL)
		result = is_number;
	else
		result = type != SK_TYPE_ARRAY && type != SK_TYPE_JSON;
	return result && write_list(writer, "(", operator->args, psprintf(" %s ", name), ")");
}

/* The type of what an operator of PostgreSQL's own takes on either side. */
static SkDdlType
operand_type(Oid operator, List *args)
{
	SkDdlType	left = sk_ddl_type_class(exprType(linitial(args)));
	SkDdlType	right = sk_ddl_type_class(exprType(llast(args)));

	if (operator >= FirstNormalObjectId)
		return SK_TYPE_UNKNOWN;
	/* both languages take floats of two lengths as long ones */
	if ((left == SK_TYPE_FLOAT && right == SK_TYPE_FLOAT32) || (left == SK_TYPE_FLOAT32 && right == SK_TYPE_FLOAT))
		return SK_TYPE_FLOAT;
	return left == right ? left : SK_TYPE_UNKNOWN;
}

/* Does an operator that means equality compare what GoogleSQL compares? */
static bool
is_compared(OpExpr *operator)
{
	SkDdlType	type = operand_type(operator->opno, operator->args);

	return type != SK_TYPE_UNKNOWN && type != SK_TYPE_ARRAY && type != SK_TYPE_JSON;
}

/* Two signs in a row would begin a comment. */
static bool
write_minus(SkWriter *writer, Node *value)
{
	SkWriter	operand = *writer;

	initStringInfo(&operand.sql);
	if (!write_node(&operand, value))
		return false;
	appendStringInfo(&writer->sql, *operand.sql.data == '-' ? "(- %s)" : "(-%s)", operand.sql.data);
	return true;
}

/* Is it a regular expression of PostgreSQL that is understood by both? */
static bool
is_same_regex(Node *node)
{
	Const	   *value = (Const *) node;
	char	   *regex = IsA(node, Const) && !value->constisnull ? TextDatumGetCString(value->constvalue) : NULL;

	return regex != NULL && sk_ddl_regex(regex, "contains") != NULL &&
		strcmp(sk_ddl_regex(regex, "contains"), regex) == 0;
}

/* IS UNKNOWN is IS NULL. */
static bool
write_boolean_test(SkWriter *writer, BooleanTest *test)
{
	static const char *const tests[] = {
		[IS_TRUE] = "TRUE",[IS_NOT_TRUE] = "NOT TRUE",[IS_FALSE] = "FALSE",
		[IS_NOT_FALSE] = "NOT FALSE",[IS_UNKNOWN] = "NULL",[IS_NOT_UNKNOWN] = "NOT NULL"
	};

	return write_list(writer, "(", list_make1(test->arg), "", psprintf(" IS %s)", tests[test->booltesttype]));
}

static bool
write_case(SkWriter *writer, CaseExpr *expr)
{
	Node	   *outer = writer->case_test;
	bool		is_simple = expr->arg != NULL;
	ListCell   *lc;

	/* what is compared is written once, if it is compared as it is */
	foreach(lc, expr->args)
	{
		OpExpr	   *test = (OpExpr *) lfirst_node(CaseWhen, lc)->expr;

		is_simple &= IsA(test, OpExpr) && is_compared(test) && IsA(linitial(test->args), CaseTestExpr);
	}
	writer->case_test = (Node *) expr->arg;
	appendStringInfoString(&writer->sql, "CASE");
	if (is_simple && !write_list(writer, " ", list_make1(expr->arg), "", ""))
		return false;
	foreach(lc, expr->args)
	{
		CaseWhen   *when = lfirst_node(CaseWhen, lc);
		Node	   *condition = is_simple ? lsecond(((OpExpr *) when->expr)->args) : (Node *) when->expr;

		if (!write_list(writer, " WHEN ", list_make1(condition), "", " THEN ") ||
			!write_node(writer, (Node *) when->result))
			return false;
	}
	writer->case_test = outer;
	return write_list(writer, " ELSE ", list_make1(expr->defresult), "", " END");
}

/* IN, with a list or an array */
static bool
write_in(SkWriter *writer, ScalarArrayOpExpr *expr)
{
	Node	   *array = lsecond(expr->args);
	char	   *name = get_opname(expr->opno);
	const char *word = expr->useOr ? "IN" : "NOT IN";

	if (IsA(array, ArrayCoerceExpr))
		array = (Node *) ((ArrayCoerceExpr *) array)->arg;
	if (name == NULL || strcmp(name, expr->useOr ? "=" : "<>") != 0 || expr->opno >= FirstNormalObjectId ||
		sk_ddl_type_class(get_element_type(exprType(array))) != sk_ddl_type_class(exprType(linitial(expr->args))))
		return false;
	if (IsA(array, ArrayExpr) && ((ArrayExpr *) array)->elements != NIL)
		return write_list(writer, "(", list_make1(linitial(expr->args)), "", psprintf(" %s ", word)) &&
			write_list(writer, "(", ((ArrayExpr *) array)->elements, ", ", "))");
	/* in no array, GoogleSQL finds nothing, and PostgreSQL does not know */
	return write_list(writer, "IF(", list_make1(array), "", " IS NULL, NULL, ") &&
		write_list(writer, "(", expr->args, psprintf(" %s UNNEST(", word), ")))");
}

/* Has a table, or a column of it, a name? */
static bool
has_name(RangeTblEntry *rte, const char *name)
{
	for (int i = 1; i <= list_length(rte->eref->colnames); i++)
	{
		if (pg_strcasecmp(get_rte_attribute_name(rte, i), name) == 0)
			return true;
	}
	return pg_strcasecmp(rte->eref->aliasname, name) == 0;
}

static bool
write_var(SkWriter *writer, Var *var)
{
	const char *name;
	RangeTblEntry *rte;
	ListCell   *lc;

	if (writer->queries == NIL)
	{
		name = get_attname(writer->relid, var->varattno, true);
		if (name == NULL)
			return false;
		appendStringInfoString(&writer->sql, quote_name(name));
		return true;
	}
	/* the expression of a policy has the columns of its table in a subquery */
	if (var->varattno <= 0 || var->varlevelsup >= list_length(writer->queries))
		return false;
	rte = rt_fetch(var->varno, list_nth_node(Query, writer->queries, var->varlevelsup)->rtable);
	/* there a table or column of a query further in may have the name */
	for (int i = 0; i < var->varlevelsup; i++)
	{
		foreach(lc, list_nth_node(Query, writer->queries, i)->rtable)
		{
			if (has_name(lfirst_node(RangeTblEntry, lc), rte->eref->aliasname))
				return false;
		}
	}
	/* a column of USING is that of one side */
	if (rte->rtekind == RTE_JOIN)
		return var->varlevelsup == 0 && write_node(writer, list_nth(rte->joinaliasvars, var->varattno - 1));
	/* in GoogleSQL, the columns of a view have their tables before them */
	appendStringInfo(&writer->sql, "%s.%s", quote_name(rte->eref->aliasname),
					 quote_name(get_rte_attribute_name(rte, var->varattno)));
	return true;
}

static bool
write_aggregate(SkWriter *writer, Aggref *aggregate)
{
	const char *name = get_func_name(aggregate->aggfnoid);
	const char *schema = get_namespace_name(get_func_namespace(aggregate->aggfnoid));

	if (name == NULL || schema == NULL || aggregate->aggorder != NIL || aggregate->aggdirectargs != NIL ||
		aggregate->agglevelsup > 0)
		return false;
	if (aggregate->aggstar)
		return aggregate->aggfilter == NULL ? write_list(writer, "COUNT(*)", NIL, "", "") :
			write_list(writer, "COUNTIF(", list_make1(aggregate->aggfilter), "", ")");
	return aggregate->aggfilter == NULL &&
		write_function(writer, schema, name, get_tlist_exprs(aggregate->args, false),
					   aggregate->aggdistinct != NIL ? "DISTINCT " : "");
}

/* A query, as far as both languages have the same. */
static bool
write_query(SkWriter *writer, Query *query, Oid view)
{
	bool		result;

	check_stack_depth();
	if (query->commandType != CMD_SELECT || query->hasRecursive || query->groupingSets != NIL ||
		query->hasWindowFuncs || query->hasDistinctOn || query->hasTargetSRFs || query->rowMarks != NIL ||
		query->limitOption == LIMIT_OPTION_WITH_TIES)
		return false;
	writer->queries = lcons(query, writer->queries);
	result = write_with(writer, query->cteList) &&
		(query->setOperations != NULL ? write_operand(writer, query->setOperations, view) :
		 write_select(writer, query, view)) &&
		write_sort(writer, query->sortClause, query->targetList, " ORDER BY ") &&
		(query->limitCount != NULL ? write_limit(writer, " LIMIT ", query->limitCount) : query->limitOffset == NULL) &&
		(query->limitOffset == NULL || write_limit(writer, " OFFSET ", query->limitOffset));
	writer->queries = list_delete_first(writer->queries);
	return result;
}

/* GoogleSQL takes nothing but a number there. */
static bool
write_limit(SkWriter *writer, const char *start, Node *number)
{
	Const	   *value = without_casts(number);

	return IsA(value, Const) && !value->constisnull && write_list(writer, start, list_make1(value), "", "");
}

/* WITH, without names of columns. */
static bool
write_with(SkWriter *writer, List *items)
{
	ListCell   *lc;

	foreach(lc, items)
	{
		CommonTableExpr *item = lfirst_node(CommonTableExpr, lc);

		appendStringInfo(&writer->sql, "%s%s AS ", lc == list_head(items) ? "WITH " : ", ", quote_name(item->ctename));
		if (item->aliascolnames != NIL || !write_subquery(writer, "(", item->ctequery, InvalidOid))
			return false;
		writer->with_names = lappend(writer->with_names, item->ctename);
	}
	appendStringInfoString(&writer->sql, items != NIL ? " " : "");
	return true;
}

/* SELECT, to HAVING. */
static bool
write_select(SkWriter *writer, Query *query, Oid view)
{
	StringInfo	sql = &writer->sql;
	bool		is_first = true;
	ListCell   *lc;

	query->targetList = (List *) sk_flatten_groups(query, (Node *) query->targetList);
	query->havingQual = sk_flatten_groups(query, query->havingQual);
	appendStringInfoString(sql, query->distinctClause != NIL ? "SELECT DISTINCT " : "SELECT ");
	foreach(lc, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, lc);

		if (target->resjunk)
			continue;
		appendStringInfoString(sql, is_first ? "" : ", ");
		if (!write_item(writer, (Node *) target->expr))
			return false;
		appendStringInfoString(sql, " AS ");
		appendStringInfoString(sql, quote_name(OidIsValid(view) ? get_attname(view, target->resno, false) :
											   target->resname));
		is_first = false;
	}
	foreach(lc, query->jointree->fromlist)
	{
		appendStringInfoString(sql, lc == list_head(query->jointree->fromlist) ? " FROM " : ", ");
		if (!write_from(writer, lfirst(lc)))
			return false;
	}
	/* without FROM there is nothing else */
	if (query->jointree->fromlist == NIL)
		return !is_first && query->jointree->quals == NULL && query->havingQual == NULL && !query->hasAggs &&
			query->groupClause == NIL;
	return !is_first &&
		(query->jointree->quals == NULL ||
		 write_list(writer, " WHERE ", list_make1(query->jointree->quals), "", "")) &&
		write_sort(writer, query->groupClause, query->targetList, " GROUP BY ") &&
		(query->havingQual == NULL || write_list(writer, " HAVING ", list_make1(query->havingQual), "", ""));
}

/* What SELECT returns: there, a number has no type but its own, and NULL none. */
static bool
write_item(SkWriter *writer, Node *item)
{
	bool		has_length = IsA(item, FuncExpr) && exprIsLengthCoercion(item, NULL) && keeps_length((FuncExpr *) item);
	Const	   *value = without_casts(has_length ? linitial(((FuncExpr *) item)->args) : item);
	SkDdlType	type = sk_ddl_type_class(exprType(item));

	return IsA(value, Const) && (value->constisnull || (SK_IS_NUMBER(type) &&
														(type == SK_TYPE_FLOAT32 || sk_ddl_type_class(value->consttype) != type))) ?
		write_typed(writer, value, exprType(item)) : write_node(writer, item);
}

/* A query, or what UNION and its kin make of two; the first one has the names of the columns. */
static bool
write_operand(SkWriter *writer, Node *operand, Oid view)
{
	static const char *const words[] = {
		[SETOP_UNION] = "UNION",[SETOP_INTERSECT] = "INTERSECT",[SETOP_EXCEPT] = "EXCEPT"
	};
	SetOperationStmt *operation = (SetOperationStmt *) operand;
	Query	   *query = linitial_node(Query, writer->queries);
	ListCell   *lc;

	check_stack_depth();
	if (IsA(operand, RangeTblRef))
	{
		Query	   *part = rt_fetch(((RangeTblRef *) operand)->rtindex, query->rtable)->subquery;

		foreach(lc, query->targetList)
		{
			TargetEntry *target = get_tle_by_resno(part->targetList, lfirst_node(TargetEntry, lc)->resno);

			if (!becomes(sk_ddl_type_class(exprType((Node *) target->expr)),
						 sk_ddl_type_class(exprType((Node *) lfirst_node(TargetEntry, lc)->expr))))
				return false;
		}
		return write_subquery(writer, "(", (Node *) part, view);
	}
	appendStringInfoChar(&writer->sql, '(');
	if (!write_operand(writer, operation->larg, view))
		return false;
	appendStringInfo(&writer->sql, " %s %s ", words[operation->op], operation->all ? "ALL" : "DISTINCT");
	return write_operand(writer, operation->rarg, InvalidOid) && write_list(writer, ")", NIL, "", "");
}

/* A subquery in an expression. */
static bool
write_sublink(SkWriter *writer, SubLink *link)
{
	OpExpr	   *test = (OpExpr *) link->testexpr;

	switch (link->subLinkType)
	{
		case EXISTS_SUBLINK:
			return write_subquery(writer, "EXISTS(", link->subselect, InvalidOid);
		case EXPR_SUBLINK:
			return write_subquery(writer, "(", link->subselect, InvalidOid);
		case ARRAY_SUBLINK:
			return write_subquery(writer, "ARRAY(", link->subselect, InvalidOid);
		case ANY_SUBLINK:
			return IsA(test, OpExpr) && is_compared(test) && strcmp(get_opname(test->opno), "=") == 0 &&
				IsA(lsecond(test->args), Param) && write_list(writer, "(", list_make1(linitial(test->args)), "", " IN ") &&
				write_subquery(writer, "(", link->subselect, InvalidOid) && write_list(writer, ")", NIL, "", "");
		default:
			return false;
	}
}

static bool
write_subquery(SkWriter *writer, const char *start, Node *query, Oid view)
{
	appendStringInfoString(&writer->sql, start);
	return write_query(writer, castNode(Query, query), view) && write_list(writer, ")", NIL, "", "");
}

/* A table, a subquery or a join. */
static bool
write_from(SkWriter *writer, Node *item)
{
	static const char *const joins[] = {
		[JOIN_INNER] = " JOIN ",[JOIN_LEFT] = " LEFT JOIN ",
		[JOIN_FULL] = " FULL JOIN ",[JOIN_RIGHT] = " RIGHT JOIN "
	};
	RangeTblEntry *rte;
	JoinExpr   *join;

	check_stack_depth();
	if (IsA(item, JoinExpr))
	{
		join = (JoinExpr *) item;
		if (join->alias != NULL || join->jointype > JOIN_RIGHT || !write_from(writer, join->larg))
			return false;
		appendStringInfoString(&writer->sql, join->quals == NULL ? " CROSS JOIN " : joins[join->jointype]);
		appendStringInfoString(&writer->sql, IsA(join->rarg, JoinExpr) ? "(" : "");
		if (!write_from(writer, join->rarg))
			return false;
		appendStringInfoString(&writer->sql, IsA(join->rarg, JoinExpr) ? ")" : "");
		return join->quals == NULL || write_list(writer, " ON ", list_make1(join->quals), "", "");
	}
	rte = rt_fetch(((RangeTblRef *) item)->rtindex, linitial_node(Query, writer->queries)->rtable);
	/* renamed columns */
	if (rte->lateral || rte->tablesample != NULL || (rte->alias != NULL && rte->alias->colnames != NIL))
		return false;
	if (rte->rtekind == RTE_CTE)
		appendStringInfoString(&writer->sql, quote_name(rte->ctename));
	else if (rte->rtekind == RTE_SUBQUERY ? !write_subquery(writer, "(", (Node *) rte->subquery, InvalidOid) :
			 rte->rtekind != RTE_RELATION || !rte->inh || !write_relation(writer, rte->relid))
		return false;
	appendStringInfo(&writer->sql, " AS %s", quote_name(rte->eref->aliasname));
	return true;
}

/* GROUP BY or ORDER BY, where Spanner's NULLs are less than all values. */
static bool
write_sort(SkWriter *writer, List *clauses, List *targets, const char *start)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		bool		is_desc = OidIsValid(clause->sortop) && strcmp(get_opname(clause->sortop), ">") == 0;
		TargetEntry *target = get_sortgroupclause_tle(clause, targets);
		Node	   *value = without_casts((Node *) target->expr);

		appendStringInfoString(&writer->sql, lc == list_head(clauses) ? start : ", ");

		/*
		 * a number would be the place of a column, and a column of UNION has
		 * no table
		 */
		if (!target->resjunk && (IsA(value, Const) || linitial_node(Query, writer->queries)->setOperations != NULL))
			appendStringInfo(&writer->sql, "%d", target->resno);
		else if (IsA(value, Const) || !write_node(writer, (Node *) target->expr))
			return false;
		if (strcmp(start, " ORDER BY ") != 0)
			continue;
		if (clause->nulls_first == is_desc)
			return false;
		appendStringInfoString(&writer->sql, is_desc ? " DESC" : "");
	}
	return true;
}

/* A name as GoogleSQL writes it. */
static const char *
quote_name(const char *name)
{
	StringInfoData sql;

	if (quote_identifier(name) == name && !sk_ddl_is_reserved(name))
		return name;
	initStringInfo(&sql);
	sk_ddl_write_quoted(&sql, name, '`');
	return sql.data;
}

/*
 * Write a value; returns false if GoogleSQL has no such type or value.
 *
 * spanner_ddl() sets how values are written.
 */
static bool
write_const(StringInfo sql, Const *value)
{
	SkDdlType	type = sk_ddl_type_class(value->consttype);
	const char *text;

	if (value->constisnull)
	{
		appendStringInfoString(sql, "NULL");
		return true;
	}
	if (type == SK_TYPE_BYTES)
	{
		bytea	   *bytes = DatumGetByteaPP(value->constvalue);

		appendStringInfoString(sql, "b'");
		for (int i = 0; i < VARSIZE_ANY_EXHDR(bytes); i++)
			appendStringInfo(sql, "\\x%02x", (uint8) VARDATA_ANY(bytes)[i]);
		appendStringInfoChar(sql, '\'');
		return true;
	}
	if (type == SK_TYPE_INT || type == SK_TYPE_FLOAT || type == SK_TYPE_FLOAT32)
		return write_number(sql, value);
	if (type == SK_TYPE_UNKNOWN || type == SK_TYPE_INTERVAL)
		return false;
	text = const_text(value);

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

			/*
			 * neither infinite, nor no number, nor of other years, nor of
			 * more digits
			 */
			return type == SK_TYPE_JSON ||
				(strpbrk(text, "iNB") == NULL && (type == SK_TYPE_NUMERIC ? has_digits(text, 29, 9) : text[4] == '-'));
	}
}

/* Write a number without its type; returns false if it is none. */
static bool
write_number(StringInfo sql, Const *value)
{
	const char *text = const_text(value);

	appendStringInfoString(sql, text);
	/* it would be an INT64, perhaps of too many digits */
	if (sk_ddl_type_class(value->consttype) != SK_TYPE_INT && strpbrk(text, ".eIN") == NULL)
		appendStringInfoString(sql, ".0");
	/* neither infinite nor no number */
	return strpbrk(text, "IN") == NULL;
}

/* A value as its type writes it. */
static const char *
const_text(Const *value)
{
	Oid			output;
	bool		is_varlena;

	Assert(!value->constisnull);
	getTypeOutputInfo(value->consttype, &output, &is_varlena);
	return OidOutputFunctionCall(output, value->constvalue);
}

/* A string in quotes that PostgreSQL's dialect finds, too. */
static void
write_string(StringInfo sql, const char *value)
{
	sk_ddl_write_quoted(sql, value, strchr(value, '\'') != NULL && strchr(value, '"') == NULL ? '"' : '\'');
}
