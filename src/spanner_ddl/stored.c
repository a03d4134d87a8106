/*-------------------------------------------------------------------------
 *
 * stored.c
 *	  What predicates and defaults say that the catalogs store as trees.
 *
 * src/spanner_ddl/stored.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "spanner_ddl/spanner_ddl.h"

PG_FUNCTION_INFO_V1(spanner_drawn_sequence);
PG_FUNCTION_INFO_V1(spanner_not_null_columns);

static bool collect_not_null(Node *node, List **columns);
static bool is_foreign_function(Oid function, void *context);

/*
 * spanner_internal.not_null_columns(predicate) returns smallint[]
 *
 * The columns of a predicate that is nothing but IS NOT NULL of each of them;
 * NULL of others.
 */
Datum
spanner_not_null_columns(PG_FUNCTION_ARGS)
{
	List	   *columns = NIL;
	Datum	   *values;
	int			count = 0;
	ListCell   *lc;

	if (!collect_not_null(stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0))), &columns))
		PG_RETURN_NULL();
	list_sort(columns, list_int_cmp);
	values = palloc(sizeof(Datum) * list_length(columns));
	foreach(lc, columns)
		values[count++] = Int16GetDatum(lfirst_int(lc));
	PG_RETURN_ARRAYTYPE_P(construct_array(values, count, INT2OID, sizeof(int16), true, TYPALIGN_SHORT));
}

static bool
collect_not_null(Node *node, List **columns)
{
	ListCell   *lc;
	List	   *parts = node != NULL && is_andclause(node) ? ((BoolExpr *) node)->args : list_make1(node);

	foreach(lc, parts)
	{
		NullTest   *test = lfirst(lc);
		Var		   *var;

		if (test == NULL || !IsA(test, NullTest) || test->nulltesttype != IS_NOT_NULL || test->argisrow ||
			!IsA(test->arg, Var))
			return false;
		var = (Var *) test->arg;
		if (var->varattno <= 0)
			return false;
		*columns = list_append_unique_int(*columns, var->varattno);
	}
	return true;
}

/*
 * spanner_internal.drawn_sequence(expression) returns oid
 *
 * The sequence of which a default is the next value; NULL if it is another
 * expression.
 */
Datum
spanner_drawn_sequence(PG_FUNCTION_ARGS)
{
	Node	   *node = stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0)));
	Oid			sequence;

	/* of a column of a shorter type */
	if (node != NULL && IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat != COERCE_EXPLICIT_CALL &&
		sk_ddl_type_class(((FuncExpr *) node)->funcresulttype) == SK_TYPE_INT)
		node = linitial(((FuncExpr *) node)->args);
	sequence = sk_ddl_nextval_sequence(node);
	if (!OidIsValid(sequence))
		PG_RETURN_NULL();
	PG_RETURN_OID(sequence);
}

/*
 * sk_ddl_nextval_sequence
 *		The sequence of a call of nextval() that names it, or InvalidOid.
 */
Oid
sk_ddl_nextval_sequence(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	char	   *schema;
	char	   *name;
	Const	   *sequence;

	if (node == NULL || !IsA(node, FuncExpr) || list_length(call->args) != 1 || !IsA(linitial(call->args), Const))
		return InvalidOid;
	schema = get_namespace_name(get_func_namespace(call->funcid));
	name = get_func_name(call->funcid);
	if (schema == NULL || name == NULL || strcmp(name, "nextval") != 0 ||
		(strcmp(schema, "pg_catalog") != 0 && strcmp(schema, "spanner") != 0))
		return InvalidOid;
	sequence = linitial_node(Const, call->args);
	if (sequence->consttype != REGCLASSOID || sequence->constisnull)
		return InvalidOid;
	return DatumGetObjectId(sequence->constvalue);
}

/*
 * sk_ddl_is_foreign
 *		Does an expression call a function, or have an operator, that is
 *		neither PostgreSQL's nor ours?  Also true of what is no expression of
 *		one relation, as a rule's query and a partition's bound are not.
 */
bool
sk_ddl_is_foreign(Node *node, void *context)
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
		expression_tree_walker(node, sk_ddl_is_foreign, context);
}

static bool
is_foreign_function(Oid function, void *context)
{
	char	   *schema = get_namespace_name(get_func_namespace(function));

	return schema == NULL || (strcmp(schema, "pg_catalog") != 0 && strcmp(schema, "spanner") != 0 &&
							  strcmp(schema, "spanner_internal") != 0);
}
