/*-------------------------------------------------------------------------
 *
 * expressions.c
 *	  What defaults, indexes and constraints are made of.
 *
 * The advisor asks what an expression calls, in which order, and whether it
 * grows with a column.  Its tree in the catalogs tells that; a text would have
 * to be searched for names, which also stand in literals.  Nothing is opened,
 * locked or evaluated here.
 *
 * src/advisor/expressions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "compat.h"

PG_FUNCTION_INFO_V1(spanner_called_functions);

static List *read_call(Node *node, const char **name);
static const char *name_with_constant(const char *name, List *arguments);
static const char *time_constant(Node *node);
static bool add_names(Node *node, void *context);

/* The arguments of a function, an operator or a cast, and its name, "" of a cast. */
static List *
read_call(Node *node, const char **name)
{
	List	   *arguments = NIL;

	*name = "";
	if (IsA(node, FuncExpr))
	{
		FuncExpr   *call = (FuncExpr *) node;

		arguments = call->args;
		if (call->funcformat != COERCE_EXPLICIT_CAST && call->funcformat != COERCE_IMPLICIT_CAST)
			*name = get_func_name(call->funcid);
		else
			arguments = list_copy_head(arguments, 1);	/* without the type's
														 * modifier */
	}
	else if (IsA(node, OpExpr))
	{
		arguments = ((OpExpr *) node)->args;
		*name = get_opname(((OpExpr *) node)->opno);
	}
	else if (IsA(node, RelabelType))
		arguments = list_make1(((RelabelType *) node)->arg);
	else if (IsA(node, CoerceViaIO))
		arguments = list_make1(((CoerceViaIO *) node)->arg);
	if (*name == NULL)
		*name = "?";			/* dropped just now */
	return arguments;
}

/* A remainder with the integer constant that it is of, and a part of a time with its field. */
static const char *
name_with_constant(const char *name, List *arguments)
{
	bool		is_part = strcmp(name, "date_part") == 0 || strcmp(name, "extract") == 0;
	Const	   *value;
	const char *cast = "";

	if (list_length(arguments) != 2 || !(is_part || strcmp(name, "%") == 0 || strcmp(name, "mod") == 0))
		return name;
	value = is_part ? linitial(arguments) : llast(arguments);
	while (!IsA(value, Const) && *cast == '\0' && (arguments = read_call((Node *) value, &cast)) != NIL)
		value = linitial(arguments);
	if (!IsA(value, Const) || value->constisnull)
		return name;
	if (is_part && value->consttype == TEXTOID)
		return psprintf("part %s", TextDatumGetCString(value->constvalue));
	if (value->consttype == INT4OID)
		return psprintf("%% %d", DatumGetInt32(value->constvalue));
	if (value->consttype == INT8OID)
		return psprintf("%% " INT64_FORMAT, DatumGetInt64(value->constvalue));
	return name;
}

/* A constant that stands for a time: 'now' as a text that is read at each call, or infinity. */
static const char *
time_constant(Node *node)
{
	Const	   *value = (Const *) node;

	if (IsA(node, CoerceViaIO))
	{
		value = (Const *) ((CoerceViaIO *) node)->arg;
		return IsA(value, Const) && value->consttype == TEXTOID && !value->constisnull &&
			strcmp(TextDatumGetCString(value->constvalue), "now") == 0 ? "now" : NULL;
	}
	if (!IsA(node, Const) || value->constisnull)
		return NULL;
	if (value->consttype == DATEOID)
		return DATE_NOT_FINITE(DatumGetDateADT(value->constvalue)) ? "infinity" : NULL;
	if (value->consttype == TIMESTAMPOID || value->consttype == TIMESTAMPTZOID)
		return TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value->constvalue)) ? "infinity" : NULL;
	return NULL;
}

static bool
add_names(Node *node, void *context)
{
	const char *name;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, add_names, context, 0);
	if (IsA(node, SQLValueFunction))
		name = ((SQLValueFunction *) node)->op <= SVFOP_LOCALTIMESTAMP_N ? "now" : "user";
	else if (IsA(node, NullTest))
		name = ((NullTest *) node)->nulltesttype == IS_NOT_NULL ? "is not null" : "is null";
	else if (IsA(node, Var))
		name = psprintf(".%d", ((Var *) node)->varattno);
	else if ((name = time_constant(node)) == NULL)
	{
		List	   *arguments = read_call(node, &name);

		name = name_with_constant(name, arguments);
	}
	if (*name)
		accumArrayResult(context, CStringGetTextDatum(name), false, TEXTOID, CurrentMemoryContext);
	return expression_tree_walker(node, add_names, context);
}

/*
 * spanner_internal.called_functions(expression pg_node_tree) returns text[]
 *
 * The functions and operators that an expression calls, by their names without
 * schema, and the columns in it, in the order of the text, a function before
 * its arguments.  Casts are left out.  The server's functions of the current
 * time are "now", the remainder by 16 is "% 16", the year of a time "part year",
 * and column 3 is ".3".  Between the expressions of a list stands ",".
 */
Datum
spanner_called_functions(PG_FUNCTION_ARGS)
{
	ArrayBuildState *names = initArrayResult(TEXTOID, CurrentMemoryContext, false);
	Node	   *tree = stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0)));
	List	   *expressions = tree && IsA(tree, List) ? (List *) tree : list_make1(tree);
	ListCell   *cell;

	foreach(cell, expressions)
	{
		if (cell != list_head(expressions))
			accumArrayResult(names, CStringGetTextDatum(","), false, TEXTOID, CurrentMemoryContext);
		add_names(lfirst(cell), names);
	}
	return makeArrayResult(names, CurrentMemoryContext);
}
