/*-------------------------------------------------------------------------
 *
 * shard_clause.c
 *	  Conditions on the shard itself: making and recognizing them.
 *
 * src/planner/shard_clause.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/array.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/derive.h"

/* So many values are compared with one another; more go into a hash table. */
#define SK_FEW_VALUES 32

static HTAB *create_shard_set(void);
static bool is_new_shard(HTAB *seen, const Const *value);

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
 * sk_any_shard
 *		Some conditions that each fix the shard, as one list; else as an OR.
 *
 * No shard is NULL.
 */
Expr *
sk_any_shard(PlannerInfo *root, const SkShardKey *key, List *conditions)
{
	List	   *values = NIL;
	Expr	   *condition = NULL;
	HTAB	   *seen = NULL;
	ListCell   *lc;

	if (list_length(conditions) > SK_FEW_VALUES)
		seen = create_shard_set();
	foreach(lc, conditions)
	{
		Node	   *value;

		CHECK_FOR_INTERRUPTS();
		if (!IsA(lfirst(lc), OpExpr))
			return make_orclause(conditions);
		value = lsecond(((OpExpr *) lfirst(lc))->args);
		if (IsA(value, Const) && ((Const *) value)->constisnull &&
			(condition != NULL || lnext(conditions, lc) != NULL))
			continue;
		condition = lfirst(lc);
		if (seen == NULL || !IsA(value, Const))
			values = list_append_unique(values, value);
		else if (is_new_shard(seen, (Const *) value))
			values = lappend(values, value);
	}
	if (seen != NULL)
		hash_destroy(seen);
	if (list_length(values) <= 1)
		return condition;
	return sk_shard_in(key, (Expr *)
					   eval_const_expressions(root, (Node *) sk_shard_array(values)));
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
 * sk_all_shards_const
 *		All shards, as a constant of type integer[].
 */
Const *
sk_all_shards_const(const SkShardKey *key)
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

/*
 * sk_all_shards
 *		The same as a call of all_shards(), which is short to read in EXPLAIN.
 */
Expr *
sk_all_shards(const SkShardKey *key)
{
	const Oid	argtypes[] = {INT4OID};
	Oid			function = InvalidOid;

	if (key->form == SK_SHARD_ID)
		function = sk_internal_function("all_shards", 1, argtypes);
	if (!OidIsValid(function))
		return (Expr *) sk_all_shards_const(key);
	return (Expr *) makeFuncExpr(function, INT4ARRAYOID,
								 list_make1(linitial(key->call->args)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static HTAB *
create_shard_set(void)
{
	HASHCTL		ctl;

	ctl.keysize = sizeof(int64);
	ctl.entrysize = sizeof(int64);
	ctl.hcxt = CurrentMemoryContext;
	return hash_create("spanner_keys shards", 256, &ctl,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static bool
is_new_shard(HTAB *seen, const Const *value)
{
	int64		shard = value->consttype == INT8OID ?
		DatumGetInt64(value->constvalue) : DatumGetInt32(value->constvalue);
	bool		found;

	(void) hash_search(seen, &shard, HASH_ENTER, &found);
	return !found;
}
