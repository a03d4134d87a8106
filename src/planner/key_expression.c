/*-------------------------------------------------------------------------
 *
 * key_expression.c
 *	  Which expressions of the catalogs the planner may evaluate, and for
 *	  which values of a query it may compute them.
 *
 * The rows of a table have passed the expressions of its shard key.  A value
 * of a query has not: no row need have it.  "a + 1" fails for the largest
 * integer, and the query would fail where it has no rows to find.  A
 * fingerprint of NULL is in no shard, but rows whose fingerprint is NULL may
 * be the ones that the query looks for.  And the text of a bytea depends on a
 * setting that has changed since the row was stored.
 *
 * So only expressions count that give a result for every value, and always
 * the same one.
 *
 * src/planner/key_expression.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/partition.h"
#include "catalog/pg_language.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "planner/shard_key.h"

/* The value can be any of the arguments. */
#define SK_ALL_ARGUMENTS (-1)

/*
 * A function that takes every value as one of its arguments.  The others must
 * be constants: a row could not be stored if the function refused them.
 */
typedef struct SkSafeFunction
{
	Oid			function;
	int			argument;		/* from 0 */
} SkSafeFunction;

static const SkSafeFunction safe_functions[] = {
	{F_BYTEACAT, SK_ALL_ARGUMENTS},
	{F_TEXTCAT, SK_ALL_ARGUMENTS},
	{F_LENGTH_TEXT, 0},
	{F_LOWER_TEXT, 0},
	{F_OCTET_LENGTH_TEXT, 0},
	{F_UPPER_TEXT, 0},
	{F_BTRIM_TEXT, 0},
	{F_LEFT, 0},
	{F_RIGHT, 0},
	{F_SPLIT_PART, 0},
	{F_SUBSTR_TEXT_INT4, 0},
	{F_SUBSTR_TEXT_INT4_INT4, 0},
	{F_SUBSTRING_TEXT_INT4, 0},
	{F_SUBSTRING_TEXT_INT4_INT4, 0},
	{F_ENCODE, 0},
	{F_TEXT_BOOL, 0},
	{F_INT4AND, SK_ALL_ARGUMENTS},
	{F_INT8AND, SK_ALL_ARGUMENTS},
	{F_INT4SHR, 0},
	{F_INT8SHR, 0},
	{F_INT2DIV, 0},
	{F_INT4DIV, 0},
	{F_INT8DIV, 0},
	{F_INT24DIV, 0},
	{F_INT84DIV, 0},
	{F_INT4MOD, 0},
	{F_INT8MOD, 0},
	{F_MOD_INT4_INT4, 0},
	{F_MOD_INT8_INT8, 0},
	{F_DATE_TIMESTAMP, 0},
	{F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP, 1},
	{F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, 1},
	{F_DATE_TRUNC_TEXT_TIMESTAMP, 1},
	{F_TIMEZONE_TEXT_TIMESTAMP, 1},
	{F_TIMEZONE_TEXT_TIMESTAMPTZ, 1},
};

static bool runs_untrusted_code(Node *node, void *context);
static bool is_untrusted_function(Oid funcid, void *context);
static bool is_safe_call(Oid function, List *args);
static bool find_argument(Oid function, int *argument);
static bool has_fixed_text(Oid type);

/*
 * sk_fold_stored
 *		Evaluate what is constant in an expression that the catalogs hold.
 *
 * NULL if that could run code that no superuser has made: who plans a query on
 * a table, or looks at its shard key, need not trust the table's owner.  No
 * expression of the catalogs is evaluated but here.
 */
Node *
sk_fold_stored(PlannerInfo *root, Node *expr)
{
	return runs_untrusted_code(expr, NULL) ? NULL :
		eval_const_expressions(root, expr);
}

/*
 * sk_has_trusted_bounds
 *		May the planner ask for the bounds of a partition?
 *
 * The server evaluates what is constant in the partition keys of its ancestors
 * when it puts the bounds together.  A query on the partition alone does not
 * ask for them.
 */
bool
sk_has_trusted_bounds(Oid partition)
{
	bool		result = true;
	ListCell   *lc;

	foreach(lc, get_partition_ancestors(partition))
	{
		HeapTuple	tuple = SearchSysCache1(PARTRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		bool		isnull;
		Datum		keys;

		if (!HeapTupleIsValid(tuple))
			return false;
		keys = SysCacheGetAttr(PARTRELID, tuple,
							   Anum_pg_partitioned_table_partexprs, &isnull);
		if (!isnull)
			result &= !runs_untrusted_code(stringToNode(TextDatumGetCString(keys)),
										   NULL);
		ReleaseSysCache(tuple);
	}
	return result;
}

/* What could run code in a way that is not listed here is not trusted. */
static bool
runs_untrusted_code(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Var:
		case T_Const:
		case T_FuncExpr:
		case T_OpExpr:
		case T_ScalarArrayOpExpr:
		case T_ArrayExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_RelabelType:
			break;
		case T_CoerceViaIO:
			if (((CoerceViaIO *) node)->resulttype >= FirstNormalObjectId)
				return true;
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_untrusted_function, NULL) ||
		expression_tree_walker(node, runs_untrusted_code, context);
}

/* Functions in C are a superuser's. */
static bool
is_untrusted_function(Oid funcid, void *context)
{
	HeapTuple	tuple;
	bool		result;

	if (funcid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return true;
	result = ((Form_pg_proc) GETSTRUCT(tuple))->prolang != ClanguageId;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * sk_is_safe_expression
 *		Does an expression give a result for every value of its columns?
 */
bool
sk_is_safe_expression(Node *expr)
{
	switch (nodeTag(expr))
	{
		case T_Var:
			return true;
		case T_Const:
			return !((Const *) expr)->constisnull;
		case T_RelabelType:
			return sk_is_safe_expression((Node *) ((RelabelType *) expr)->arg);
		case T_CoerceViaIO:
			{
				CoerceViaIO *coerce = (CoerceViaIO *) expr;

				return (coerce->resulttype == TEXTOID ||
						coerce->resulttype == VARCHAROID) &&
					has_fixed_text(exprType((Node *) coerce->arg)) &&
					sk_is_safe_expression((Node *) coerce->arg);
			}
		case T_FuncExpr:
			return is_safe_call(((FuncExpr *) expr)->funcid,
								((FuncExpr *) expr)->args);
		case T_OpExpr:
			return is_safe_call(get_opcode(((OpExpr *) expr)->opno),
								((OpExpr *) expr)->args);
		default:
			return false;
	}
}

static bool
is_safe_call(Oid function, List *args)
{
	int			argument;
	ListCell   *lc;

	if (!find_argument(function, &argument))
		return false;
	foreach(lc, args)
	{
		if (!sk_is_safe_expression(lfirst(lc)) ||
			(argument != SK_ALL_ARGUMENTS &&
			 argument != foreach_current_index(lc) && !IsA(lfirst(lc), Const)))
			return false;
	}
	return true;
}

/* A leakproof function promises not to fail. */
static bool
find_argument(Oid function, int *argument)
{
	for (int i = 0; i < lengthof(safe_functions); i++)
	{
		*argument = safe_functions[i].argument;
		if (safe_functions[i].function == function)
			return true;
	}
	*argument = 0;
	if (sk_is_our_function(function, SK_TIMESTAMP_TO_STRING))
		return true;
	*argument = SK_ALL_ARGUMENTS;
	return get_func_leakproof(function);
}

/* Other types have a text that depends on settings. */
static bool
has_fixed_text(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == NUMERICOID || type == TEXTOID || type == VARCHAROID ||
		type == NAMEOID || type == BOOLOID || type == UUIDOID;
}
