/*-------------------------------------------------------------------------
 *
 * shard_clause.c
 *	  What a clause says of a hashed key, and conditions on the shard itself.
 *
 * "Equal" is the equality of the hash operator family of the key's type,
 * under a deterministic collation: the families join int2, int4 and int8,
 * text, varchar and name, float4 and float8, and no others that shard_id()
 * knows.  Enums are left out: renaming a label changes the text, but not the
 * shard ids that are stored.
 *
 * The operators are strict, so a condition that holds has no NULL on either
 * side.  A value must not depend on the row, nor change while the table is
 * scanned.
 *
 * A condition on the shard that is added to a query takes no row away.  It has
 * a mark (spi/tree_marks.h), by which others do not count or check it.
 *
 * src/planner/shard_clause.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/hash.h"
#include "access/nbtree.h"
#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "keys/canonical.h"
#include "planner/known_functions.h"
#include "planner/shard_clause.h"
#include "spi/tree_marks.h"

/* How many elements of a list are put into an expression, one by one. */
#define SK_MAX_ELEMENTS 100

static bool is_of_type(PlannerInfo *root, const Var *column, Node **value);
static bool is_within(Node *value, int64 least, int64 most);
static bool match_boolean(Expr *clause, const Node *key, SkKeyValue *value);
static bool is_key(const Node *expr, const Node *key);
static bool is_key_equality(Oid operator, Oid collation, Oid column_type,
							Oid value_type);
static bool is_stable_value(PlannerInfo *root, Expr *value, const Node *key);
static Const *list_shards(const SkShardKey *key);
static int *location_of(Expr *condition);

/*
 * sk_make_clause
 *		An expression that holds, and its security level.
 */
SkClause *
sk_make_clause(Expr *expr, Index level)
{
	SkClause   *result = palloc(sizeof(SkClause));

	result->expr = expr;
	result->level = level;
	return result;
}

/*
 * sk_match_equality
 *		Does a clause say what a key is equal to, or a column of one?
 *
 * Sets value and is_array; the level is the caller's to set.
 */
bool
sk_match_equality(PlannerInfo *root, Expr *clause, const Node *key,
				  SkKeyValue *value)
{
	List	   *args;
	Oid			operator;
	Oid			collation;
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
	else
		return match_boolean(clause, key, value);
	if (list_length(args) != 2)
		return false;

	value->value = lsecond(args);
	value->is_array = IsA(clause, ScalarArrayOpExpr);
	if (!is_key(linitial(args), key))
	{
		if (value->is_array || !is_key(lsecond(args), key))
			return false;
		value->value = linitial(args);
		operator = get_commutator(operator);
	}
	type = exprType((Node *) value->value);
	if (value->is_array)
		type = get_base_element_type(type);
	return OidIsValid(operator) && OidIsValid(type) &&
		is_key_equality(operator, collation, exprType(key), type) &&
		is_stable_value(root, value->value, key);
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
	if (!is_key(linitial(comparison->args), (const Node *) column))
	{
		operator = get_commutator(operator);
		value->value = linitial(comparison->args);
		if (!is_key(lsecond(comparison->args), (const Node *) column))
			return 0;
	}
	if (!OidIsValid(operator) || !is_stable_value(root, value->value, (const Node *) column))
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

/*
 * sk_shard_is
 *		The condition that the shard is a value.
 */
Expr *
sk_shard_is(const SkShardKey *key, Expr *value)
{
	Oid			operator = get_opfamily_member(INTEGER_BTREE_FAM_OID,
											   exprType((Node *) key->shard),
											   exprType((Node *) value),
											   BTEqualStrategyNumber);
	OpExpr	   *result = (OpExpr *)
		make_opclause(operator, BOOLOID, false,
					  copyObject(key->shard), value, InvalidOid, InvalidOid);

	Assert(OidIsValid(operator));
	set_opfuncid(result);
	return (Expr *) result;
}

/*
 * sk_shard_in
 *		The condition that the shard is one of a list.
 */
Expr *
sk_shard_in(const SkShardKey *key, Expr *list)
{
	ScalarArrayOpExpr *result = makeNode(ScalarArrayOpExpr);
	Oid			type = get_element_type(exprType((Node *) list));

	result->opno = get_opfamily_member(INTEGER_BTREE_FAM_OID,
									   exprType((Node *) key->shard), type,
									   BTEqualStrategyNumber);
	Assert(OidIsValid(result->opno));
	result->opfuncid = get_opcode(result->opno);
	result->useOr = true;
	result->args = list_make2(copyObject(key->shard), list);
	result->location = -1;
	return (Expr *) result;
}

/*
 * sk_shard_array
 *		A list of shards as an array.
 */
ArrayExpr *
sk_shard_array(List *shards)
{
	ArrayExpr  *result = makeNode(ArrayExpr);

	result->element_typeid = exprType(linitial(shards));
	result->array_typeid = get_array_type(result->element_typeid);
	result->elements = shards;
	result->location = -1;
	return result;
}

/*
 * sk_all_shards
 *		All shards, as a constant of type integer[], or as a call of all_shards(),
 *		which is short to read in EXPLAIN.
 */
Expr *
sk_all_shards(const SkShardKey *key, bool as_call)
{
	const Oid	argtypes[] = {INT4OID};
	Oid			function = InvalidOid;

	if (as_call && key->form == SK_SHARD_ID)
		function = sk_internal_function("all_shards", 1, argtypes);
	if (!OidIsValid(function))
		return (Expr *) list_shards(key);
	return (Expr *) makeFuncExpr(function, INT4ARRAYOID,
								 list_make1(linitial(key->call->args)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * sk_has_shard_condition
 *		Does a list of RestrictInfos already fix the shard, or list shards?
 */
bool
sk_has_shard_condition(const SkShardKey *key, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Expr	   *clause = lfirst_node(RestrictInfo, lc)->clause;
		List	   *args;
		Oid			operator;

		if (IsA(clause, OpExpr))
		{
			args = ((OpExpr *) clause)->args;
			operator = ((OpExpr *) clause)->opno;
		}
		else if (IsA(clause, ScalarArrayOpExpr))
		{
			args = ((ScalarArrayOpExpr *) clause)->args;
			operator = ((ScalarArrayOpExpr *) clause)->opno;
		}
		else
			continue;
		if (list_length(args) == 2 &&
			get_op_opfamily_strategy(operator, INTEGER_BTREE_FAM_OID) ==
			BTEqualStrategyNumber &&
			(equal(linitial(args), key->shard) ||
			 equal(lsecond(args), key->shard)))
			return true;
	}
	return false;
}

/*
 * sk_make_shard_clause
 *		Make a RestrictInfo of an implied condition.
 *
 * It takes away no row that other clauses leave, and so must not lower an
 * estimate.
 */
RestrictInfo *
sk_make_shard_clause(PlannerInfo *root, Expr *condition, Index security_level)
{
	RestrictInfo *rinfo = sk_make_scan_clause(root, condition, security_level);

	/* whoever may not see its sources must not see it */
	Assert(security_level <= root->qual_security_level);
	rinfo->norm_selec = SK_REDUNDANT_SELECTIVITY;
	rinfo->outer_selec = SK_REDUNDANT_SELECTIVITY;
	return rinfo;
}

/*
 * sk_mark_added
 *		Mark a condition as added to the query.
 *
 * It is a comparison, a list or an OR.
 */
void
sk_mark_added(Expr *condition)
{
	int		   *location = location_of(condition);

	Assert(location != NULL);
	*location = SK_ADDED_LOCATION;
}

/*
 * sk_is_added
 *		Has a condition been added to the query?
 */
bool
sk_is_added(RestrictInfo *rinfo)
{
	int		   *location = location_of(rinfo->clause);

	return location != NULL && *location == SK_ADDED_LOCATION;
}

/*
 * sk_without_added
 *		Those of some RestrictInfos that are the query's own.
 */
List *
sk_without_added(List *clauses)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (!sk_is_added(lfirst_node(RestrictInfo, lc)))
			result = lappend(result, lfirst(lc));
	}
	return result;
}

/* Where the mark of a condition is, or NULL if it cannot have one. */
static int *
location_of(Expr *condition)
{
	if (IsA(condition, OpExpr))
		return &((OpExpr *) condition)->location;
	if (IsA(condition, ScalarArrayOpExpr))
		return &((ScalarArrayOpExpr *) condition)->location;
	if (IsA(condition, BoolExpr))
		return &((BoolExpr *) condition)->location;
	return NULL;
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

/* The server has made "b" of "b = true". */
static bool
match_boolean(Expr *clause, const Node *key, SkKeyValue *value)
{
	bool		is_true = !is_notclause(clause);

	if (!is_true)
		clause = (Expr *) get_notclausearg(clause);
	if (exprType(key) != BOOLOID || !is_key((Node *) clause, key))
		return false;
	value->value = (Expr *) makeBoolConst(is_true, false);
	value->is_array = false;
	return true;
}

/* Is an expression the key?  One that is a column may be relabelled. */
static bool
is_key(const Node *expr, const Node *key)
{
	const Var  *column = (const Var *) key;

	if (!IsA(key, Var))
		return equal(expr, key);
	while (expr && IsA(expr, RelabelType))
		expr = (Node *) ((const RelabelType *) expr)->arg;
	return expr && IsA(expr, Var) &&
		((const Var *) expr)->varno == column->varno &&
		((const Var *) expr)->varattno == column->varattno &&
		((const Var *) expr)->varlevelsup == 0;
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
is_stable_value(PlannerInfo *root, Expr *value, const Node *key)
{
	return !bms_overlap(pull_varnos(root, unconstify(Node *, key)),
						pull_varnos(root, (Node *) value)) &&
		!contain_volatile_functions((Node *) value) &&
		!contain_subplans((Node *) value);
}

/* All shards, as a constant of type integer[]. */
static Const *
list_shards(const SkShardKey *key)
{
	int32		shards = key->shards;
	Datum	   *list = palloc(shards * sizeof(Datum));
	ArrayType  *array;

	Assert(shards >= 1);
	for (int32 i = 0; i < shards; i++)
		list[i] = Int32GetDatum(key->first + i);
	array = construct_array(list, shards, INT4OID,
							sizeof(int32), true, TYPALIGN_INT);
	return makeConst(INT4ARRAYOID, -1, InvalidOid, -1,
					 PointerGetDatum(array), false, false);
}
