/*-------------------------------------------------------------------------
 *
 * equality.c
 *	  What a clause says of a column that is hashed.
 *
 * "Equal" is the equality of the hash operator family of the column's type,
 * under a deterministic collation: the families join int2, int4 and int8,
 * text, varchar and name, float4 and float8, and no others that shard_id()
 * knows.  Enums are left out: renaming a label changes the text, but not the
 * shard ids that are stored.
 *
 * The operators are strict, so a condition that holds has no NULL on either
 * side.  A value must not depend on the row, nor change while the table is
 * scanned.
 *
 * src/planner/equality.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/hash.h"
#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "keys/canonical.h"
#include "planner/derive.h"

/* How many elements of a list are put into an expression, one by one. */
#define SK_MAX_ELEMENTS 100

static bool is_of_type(PlannerInfo *root, const Var *column, Node **value);
static bool is_within(Node *value, int64 least, int64 most);
static bool match_operator(PlannerInfo *root, OpExpr *clause,
						   const Var *column, SkKeyValue *value);
static bool match_array(PlannerInfo *root, ScalarArrayOpExpr *clause,
						const Var *column, SkKeyValue *value);
static bool match_boolean(Expr *clause, const Var *column, SkKeyValue *value);
static bool is_column(Node *expr, const Var *column);
static bool is_key_equality(Oid operator, Oid collation, Oid column_type,
							Oid value_type);
static bool is_stable_value(PlannerInfo *root, Expr *value,
							const Var *column);

/*
 * sk_match_equality
 *		Does a clause say what a column is equal to?
 *
 * Sets value and is_array; the level is the caller's to set.
 */
bool
sk_match_equality(PlannerInfo *root, Expr *clause, const Var *column,
				  SkKeyValue *value)
{
	if (IsA(clause, OpExpr))
		return match_operator(root, (OpExpr *) clause, column, value);
	if (IsA(clause, ScalarArrayOpExpr))
		return match_array(root, (ScalarArrayOpExpr *) clause, column, value);
	return column->vartype == BOOLOID && match_boolean(clause, column, value);
}

/*
 * sk_match_term
 *		The same for an expression that is hashed.
 */
bool
sk_match_term(PlannerInfo *root, Expr *clause, Node *term, SkKeyValue *value)
{
	List	   *args = NIL;
	Oid			operator = InvalidOid;
	Oid			collation = InvalidOid;
	Oid			type;

	if (IsA(clause, OpExpr))
	{
		args = ((OpExpr *) clause)->args;
		operator = ((OpExpr *) clause)->opno;
		collation = ((OpExpr *) clause)->inputcollid;
	}
	else if (IsA(clause, ScalarArrayOpExpr) && ((ScalarArrayOpExpr *) clause)->useOr)
	{
		args = ((ScalarArrayOpExpr *) clause)->args;
		operator = ((ScalarArrayOpExpr *) clause)->opno;
		collation = ((ScalarArrayOpExpr *) clause)->inputcollid;
	}
	if (list_length(args) != 2)
		return false;
	if (IsA(clause, OpExpr) && equal(lsecond(args), term))
	{
		operator = get_commutator(operator);
		args = list_make2(lsecond(args), linitial(args));
	}
	if (!OidIsValid(operator) || !equal(linitial(args), term))
		return false;

	value->value = lsecond(args);
	value->is_array = IsA(clause, ScalarArrayOpExpr);
	type = exprType((Node *) value->value);
	if (value->is_array)
		type = get_base_element_type(type);
	return OidIsValid(type) &&
		is_key_equality(operator, collation, exprType(term), type) &&
		is_stable_value(root, value->value,
						linitial_node(Var, pull_var_clause(term, 0)));
}

/*
 * sk_match_comparison
 *		The strategy by which a clause compares a column with a value; 0 if none.
 */
int
sk_match_comparison(PlannerInfo *root, Expr *clause, const Var *column,
					Oid family, SkKeyValue *value)
{
	OpExpr	   *comparison = (OpExpr *) clause;
	Oid			operator;

	value->is_array = false;
	value->value = NULL;
	if (!IsA(clause, OpExpr) || list_length(comparison->args) != 2)
		return 0;
	operator = comparison->opno;
	value->value = lsecond(comparison->args);
	if (!is_column(linitial(comparison->args), column))
	{
		operator = get_commutator(operator);
		value->value = linitial(comparison->args);
		if (!is_column(lsecond(comparison->args), column))
			return 0;
	}
	if (!OidIsValid(operator) || !is_stable_value(root, value->value, column))
		return 0;
	return get_op_opfamily_strategy(operator, family);
}

/*
 * sk_can_replace
 *		May a value take the place of a column inside of an expression?
 *
 * Only if it is the same for every function.  Equal values of some types are
 * not, such as 1.0 and 1.00.  The B-tree operator class of a type knows.  An
 * integer of another width becomes one of the column's type.
 */
bool
sk_can_replace(PlannerInfo *root, const Var *column, SkKeyValue *value)
{
	TypeCacheEntry *type = lookup_type_cache(column->vartype,
											 TYPECACHE_BTREE_OPFAMILY);
	Node	   *replacement = (Node *) value->value;
	Oid			function;

	if (value->is_array)
	{
		List	   *elements = sk_array_elements(value->value);

		if (elements == NIL)
			return false;
		replacement = linitial(elements);
	}
	if (!is_of_type(root, column, &replacement) || !OidIsValid(type->btree_opf))
		return false;
	if (!value->is_array)
		value->value = (Expr *) replacement;
	function = get_opfamily_proc(type->btree_opf, type->btree_opintype,
								 type->btree_opintype, BTEQUALIMAGE_PROC);
	return OidIsValid(function) &&
		DatumGetBool(OidFunctionCall1Coll(function, column->varcollid,
										  ObjectIdGetDatum(type->btree_opintype)));
}

/* Does a value have the type of a column, or can it be cast to it? */
static bool
is_of_type(PlannerInfo *root, const Var *column, Node **value)
{
	Oid			type = exprType(*value);
	Oid			cast = InvalidOid;

	/* varchar has neither operators nor functions of its own */
	if (type == column->vartype ||
		(type == TEXTOID && column->vartype == VARCHAROID))
		return true;
	if (column->vartype == INT8OID)
		cast = type == INT4OID ? F_INT8_INT4 : type == INT2OID ? F_INT8_INT2 : InvalidOid;
	else if (column->vartype == INT4OID && type == INT2OID)
		cast = F_INT4_INT2;
	else if (column->vartype == INT4OID && is_within(*value, PG_INT32_MIN, PG_INT32_MAX))
		cast = F_INT4_INT8;
	else if (column->vartype == INT2OID && is_within(*value, PG_INT16_MIN, PG_INT16_MAX))
		cast = type == INT4OID ? F_INT2_INT4 : F_INT2_INT8;
	if (!OidIsValid(cast))
		return false;
	*value = (Node *) makeFuncExpr(cast, column->vartype, list_make1(*value),
								   InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
	*value = eval_const_expressions(root, *value);
	return true;
}

/* Is it a constant that a narrower type has, too? */
static bool
is_within(Node *value, int64 least, int64 most)
{
	Const	   *constant = (Const *) value;
	int64		number;

	if (!IsA(value, Const) || constant->constisnull)
		return false;
	if (constant->consttype == INT4OID)
		number = DatumGetInt32(constant->constvalue);
	else if (constant->consttype == INT8OID)
		number = DatumGetInt64(constant->constvalue);
	else
		return false;
	return number >= least && number <= most;
}

/*
 * sk_array_elements
 *		The elements of an array, as expressions of one type.
 *
 * NIL if they are not known yet, or too many to put each into an expression.
 */
List *
sk_array_elements(Expr *array)
{
	Oid			type = get_base_element_type(exprType((Node *) array));
	List	   *result = NIL;
	Datum	   *values;
	bool	   *nulls;
	int			count;
	int16		length;
	bool		by_value;
	char		align;

	Assert(OidIsValid(type));
	while (IsA(array, RelabelType))
		array = ((RelabelType *) array)->arg;
	if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims &&
		((ArrayExpr *) array)->element_typeid == type)
		result = ((ArrayExpr *) array)->elements;
	else if (IsA(array, Const) && !((Const *) array)->constisnull)
	{
		ArrayType  *elements = DatumGetArrayTypeP(((Const *) array)->constvalue);

		if (ArrayGetNItems(ARR_NDIM(elements), ARR_DIMS(elements)) > SK_MAX_ELEMENTS)
			return NIL;
		get_typlenbyvalalign(type, &length, &by_value, &align);
		deconstruct_array(elements, type, length, by_value, align,
						  &values, &nulls, &count);
		for (int i = 0; i < count; i++)
			result = lappend(result, makeConst(type, -1, get_typcollation(type), length,
											   values[i], nulls[i], by_value));
	}
	return list_length(result) <= SK_MAX_ELEMENTS ? result : NIL;
}

/*
 * sk_array_length
 *		The length of an array, 1 for what is no array, -1 if it is not known.
 */
int
sk_array_length(Node *array)
{
	if (!OidIsValid(get_base_element_type(exprType(array))))
		return 1;
	while (IsA(array, RelabelType))
		array = (Node *) ((RelabelType *) array)->arg;
	if (IsA(array, Const) && !((Const *) array)->constisnull)
	{
		ArrayType  *value = DatumGetArrayTypeP(((Const *) array)->constvalue);

		return ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
	}
	if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
		return list_length(((ArrayExpr *) array)->elements);
	return -1;
}

static bool
match_operator(PlannerInfo *root, OpExpr *clause, const Var *column,
			   SkKeyValue *value)
{
	Node	   *left;
	Node	   *right;
	Oid			operator = clause->opno;

	if (list_length(clause->args) != 2)
		return false;
	left = linitial(clause->args);
	right = lsecond(clause->args);
	if (!is_column(left, column))
	{
		Node	   *swap = left;

		left = right;
		right = swap;
		if (!is_column(left, column))
			return false;
		operator = get_commutator(operator);
	}

	value->value = (Expr *) right;
	value->is_array = false;
	return OidIsValid(operator) &&
		is_key_equality(operator, clause->inputcollid, column->vartype,
						exprType(right)) &&
		is_stable_value(root, value->value, column);
}

static bool
match_array(PlannerInfo *root, ScalarArrayOpExpr *clause, const Var *column,
			SkKeyValue *value)
{
	Expr	   *array = lsecond(clause->args);
	Oid			element_type = get_base_element_type(exprType((Node *) array));

	value->value = array;
	value->is_array = true;
	return clause->useOr && OidIsValid(element_type) &&
		is_column(linitial(clause->args), column) &&
		is_key_equality(clause->opno, clause->inputcollid, column->vartype,
						element_type) &&
		is_stable_value(root, array, column);
}

/* The server has made "b" of "b = true". */
static bool
match_boolean(Expr *clause, const Var *column, SkKeyValue *value)
{
	bool		is_true = !is_notclause(clause);

	if (!is_true)
		clause = (Expr *) get_notclausearg(clause);
	if (!is_column((Node *) clause, column))
		return false;
	value->value = (Expr *) makeBoolConst(is_true, false);
	value->is_array = false;
	return true;
}

static bool
is_column(Node *expr, const Var *column)
{
	while (expr && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return expr && IsA(expr, Var) &&
		((Var *) expr)->varno == column->varno &&
		((Var *) expr)->varattno == column->varattno &&
		((Var *) expr)->varlevelsup == 0;
}

static bool
is_key_equality(Oid operator, Oid collation, Oid column_type, Oid value_type)
{
	Oid			family = lookup_type_cache(getBaseType(column_type),
										   TYPECACHE_HASH_OPFAMILY)->hash_opf;
	SkKeyKind	kind = sk_key_kind(value_type);

	return OidIsValid(family) &&
		get_op_opfamily_strategy(operator, family) == HTEqualStrategyNumber &&
		kind != SK_KEY_UNSUPPORTED && kind != SK_KEY_ENUM &&
		(!OidIsValid(collation) || get_collation_isdeterministic(collation));
}

static bool
is_stable_value(PlannerInfo *root, Expr *value, const Var *column)
{
	return !bms_is_member(column->varno, pull_varnos(root, (Node *) value)) &&
		!contain_volatile_functions((Node *) value) &&
		!contain_subplans((Node *) value);
}
