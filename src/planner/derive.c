/*-------------------------------------------------------------------------
 *
 * derive.c
 *	  From equalities on the keys to a condition on the shard.
 *
 * A row whose keys are equal to given values is in the shard of these values,
 * for shard_id() hashes a text that equal values have in common.
 *
 * src/planner/derive.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "keys/canonical.h"
#include "planner/derive.h"

static int	find_column(const SkColumns *columns, const Node *column);
static Node *replace_columns(Node *node, void *context);
static List *arm_clauses(Node *arm);
static Expr *any_shard(PlannerInfo *root, const SkShardKey *key,
					   List *conditions);
static SkFact *derive_elements(PlannerInfo *root, const SkColumns *columns,
							   int column);
static Expr *derive_list(PlannerInfo *root, const SkShardKey *key, List *args);
static bool can_be_listed(const SkShardKey *key, List *args);
static int	known_length(Node *array);

/*
 * sk_make_fact
 *		A clause, or the clause of a RestrictInfo, and its level.
 */
SkFact *
sk_make_fact(Expr *clause, Index level)
{
	SkFact	   *result = palloc(sizeof(SkFact));

	result->clause = clause;
	result->level = level;
	return result;
}

/*
 * sk_init_columns
 *		List the columns among the keys, each once; nothing is known of them.
 */
void
sk_init_columns(SkColumns *columns, const SkShardKey *key)
{
	List	   *vars = pull_var_clause((Node *) key->call, 0);
	int			size = list_length(vars);
	ListCell   *lc;
	ListCell   *lc2;

	columns->key = key;
	columns->count = 0;
	columns->columns = palloc(size * sizeof(Var *));
	columns->inside = palloc0(size * sizeof(bool));
	columns->values = palloc0(size * sizeof(SkKeyValue));
	foreach(lc, vars)
	{
		if (find_column(columns, lfirst(lc)) < 0)
			columns->columns[columns->count++] = lfirst(lc);
	}
	for_each_from(lc, key->call->args, key->first_key)
	{
		if (IsA(lfirst(lc), Var))
			continue;
		foreach(lc2, pull_var_clause(lfirst(lc), 0))
			columns->inside[find_column(columns, lfirst(lc2))] = true;
	}
}

/*
 * sk_match_facts
 *		Learn what a list of SkFacts says of the columns.
 *
 * One value is better than a list of them, which is better than nothing.
 */
void
sk_match_facts(PlannerInfo *root, List *facts, SkColumns *columns)
{
	ListCell   *lc;

	foreach(lc, facts)
	{
		SkFact	   *fact = lfirst(lc);

		for (int i = 0; i < columns->count; i++)
		{
			SkKeyValue *value = &columns->values[i];
			SkKeyValue	found;

			if (value->value && !value->is_array)
				continue;
			if (sk_match_equality(root, fact->clause, columns->columns[i],
								  &found) &&
				(value->value == NULL || !found.is_array) &&
				(!columns->inside[i] ||
				 sk_can_replace(columns->columns[i], &found)))
			{
				*value = found;
				value->level = fact->level;
			}
		}
	}
}

/*
 * sk_all_known
 *		Is something known of each column?
 */
bool
sk_all_known(const SkColumns *columns)
{
	for (int i = 0; i < columns->count; i++)
		if (columns->values[i].value == NULL)
			return false;
	return true;
}

/*
 * sk_derive_condition
 *		The condition on the shard that follows from what is known.
 *
 * NULL if something is missing, or the condition would be of no use.
 */
SkFact *
sk_derive_condition(PlannerInfo *root, const SkColumns *columns)
{
	const SkShardKey *key = columns->key;
	List	   *args = list_truncate(list_copy(key->call->args), key->first_key);
	bool		is_list = false;
	Index		level = 0;
	FuncExpr   *call;
	Expr	   *condition;
	ListCell   *lc;

	if (!key->can_derive || !sk_all_known(columns))
		return NULL;
	for (int i = 0; i < columns->count; i++)
	{
		if (columns->inside[i] && columns->values[i].is_array)
			return derive_elements(root, columns, i);
		level = Max(level, columns->values[i].level);
	}
	for_each_from(lc, key->call->args, key->first_key)
	{
		args = lappend(args, replace_columns(lfirst(lc),
											 unconstify(SkColumns *, columns)));
		is_list |= IsA(lfirst(lc), Var) &&
			columns->values[find_column(columns, lfirst(lc))].is_array;
	}
	if (is_list)
		condition = derive_list(root, key, args);
	else
	{
		call = copyObject(key->call);
		call->args = args;

		/* a fingerprint is wider than the shard that is made of it */
		if (call->funcresulttype == INT8OID)
			call = makeFuncExpr(F_INT4_INT8, INT4OID, list_make1(call),
								InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
		condition = sk_shard_is(key, (Expr *)
								eval_const_expressions(root, (Node *) call));
	}
	return condition ? sk_make_fact(condition, level) : NULL;
}

/* A list for a column inside of an expression: each element in turn. */
static SkFact *
derive_elements(PlannerInfo *root, const SkColumns *columns, int column)
{
	List	   *conditions = NIL;
	Index		level = columns->values[column].level;
	SkColumns	choice = *columns;
	Expr	   *result;
	ListCell   *lc;

	choice.values = palloc(columns->count * sizeof(SkKeyValue));
	memcpy(choice.values, columns->values, columns->count * sizeof(SkKeyValue));
	choice.values[column].is_array = false;
	foreach(lc, sk_array_elements(columns->values[column].value))
	{
		SkFact	   *condition;

		choice.values[column].value = lfirst(lc);
		condition = sk_derive_condition(root, &choice);
		/* of two such lists there are too many combinations */
		if (condition == NULL || !IsA(condition->clause, OpExpr))
			return NULL;
		conditions = lappend(conditions, condition->clause);
		level = Max(level, condition->level);
	}
	result = any_shard(root, columns->key, conditions);
	return sk_make_fact(result, level);
}

/*
 * sk_derive_alternatives
 *		Derive a condition from an OR: what follows from each of its arms.
 *
 * NULL if nothing follows from one of them.  "arms" is set to the OR of the
 * arms, each with its condition, unless it is NULL.
 */
SkFact *
sk_derive_alternatives(PlannerInfo *root, const SkFact *fact,
					   const SkColumns *columns, SkFact **arms)
{
	List	   *conditions = NIL;
	List	   *completed = NIL;
	Index		level = fact->level;
	ListCell   *lc;

	foreach(lc, ((BoolExpr *) fact->clause)->args)
	{
		List	   *clauses = arm_clauses(lfirst(lc));
		List	   *facts = NIL;
		SkColumns	arm = *columns;
		SkFact	   *condition;
		ListCell   *lc2;

		arm.values = palloc(columns->count * sizeof(SkKeyValue));
		memcpy(arm.values, columns->values,
			   columns->count * sizeof(SkKeyValue));
		foreach(lc2, clauses)
			facts = lappend(facts, sk_make_fact(lfirst(lc2), fact->level));
		sk_match_facts(root, facts, &arm);
		condition = sk_derive_condition(root, &arm);
		if (condition == NULL)
			return NULL;
		level = Max(level, condition->level);
		conditions = lappend(conditions, condition->clause);
		completed = lappend(completed,
							make_andclause(lcons(copyObject(condition->clause),
												 copyObject(clauses))));
	}
	if (arms)
		*arms = sk_make_fact(make_orclause(completed), level);
	return sk_make_fact(any_shard(root, columns->key, conditions), level);
}

/*
 * sk_shard_is
 *		The condition that the shard is a value of type integer.
 */
Expr *
sk_shard_is(const SkShardKey *key, Expr *value)
{
	Oid			operator = get_opfamily_member(INTEGER_BTREE_FAM_OID,
											   exprType((Node *) key->shard),
											   INT4OID, BTEqualStrategyNumber);
	OpExpr	   *result = (OpExpr *)
		make_opclause(operator, BOOLOID, false,
					  copyObject(key->shard), value, InvalidOid, InvalidOid);

	set_opfuncid(result);
	return (Expr *) result;
}

/*
 * sk_shard_in
 *		The condition that the shard is one of a list, of type integer[].
 */
Expr *
sk_shard_in(const SkShardKey *key, Expr *list)
{
	ScalarArrayOpExpr *result = makeNode(ScalarArrayOpExpr);

	result->opno = get_opfamily_member(INTEGER_BTREE_FAM_OID,
									   exprType((Node *) key->shard), INT4OID,
									   BTEqualStrategyNumber);
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
 * sk_all_shards_const
 *		All shards, as a constant of type integer[].
 */
Const *
sk_all_shards_const(const SkShardKey *key)
{
	int32		shards = key->shards;
	Datum	   *list = palloc(shards * sizeof(Datum));
	ArrayType  *array;

	for (int32 i = 0; i < shards; i++)
		list[i] = Int32GetDatum(key->first + i);
	array = construct_array(list, shards, INT4OID,
							sizeof(int32), true, TYPALIGN_INT);
	return makeConst(INT4ARRAYOID, -1, InvalidOid, -1,
					 PointerGetDatum(array), false, false);
}

/*
 * sk_all_shards_call
 *		The same as a call of all_shards(), which is short to read.
 */
Expr *
sk_all_shards_call(const SkShardKey *key)
{
	const Oid	argtypes[] = {INT4OID};
	Oid			function = InvalidOid;

	if (key->first_key == 1)
		function = sk_sibling_function(key->function, "all_shards", 1, argtypes);
	if (!OidIsValid(function))
		return (Expr *) sk_all_shards_const(key);
	return (Expr *) makeFuncExpr(function, INT4ARRAYOID,
								 list_make1(linitial(key->call->args)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* The place of a column among those of the key, or -1. */
static int
find_column(const SkColumns *columns, const Node *column)
{
	for (int i = 0; i < columns->count; i++)
		if (columns->columns[i]->varattno == ((const Var *) column)->varattno)
			return i;
	return -1;
}

/* An argument of the call, with values for its columns. */
static Node *
replace_columns(Node *node, void *context)
{
	SkColumns  *columns = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
		return copyObject((Node *) columns->values[find_column(columns, node)].value);
	return expression_tree_mutator(node, replace_columns, context);
}

/* The clauses of one arm of an OR, without RestrictInfos. */
static List *
arm_clauses(Node *arm)
{
	List	   *result = NIL;
	ListCell   *lc;

	if (IsA(arm, RestrictInfo))
		return list_make1(((RestrictInfo *) arm)->clause);
	if (!is_andclause(arm))
		return list_make1(arm);
	foreach(lc, ((BoolExpr *) arm)->args)
		result = list_concat(result, arm_clauses(lfirst(lc)));
	return result;
}

/* Some conditions that each fix the shard, as one list; else as an OR. */
static Expr *
any_shard(PlannerInfo *root, const SkShardKey *key, List *conditions)
{
	ArrayExpr  *list = makeNode(ArrayExpr);
	List	   *values = NIL;
	ListCell   *lc;

	foreach(lc, conditions)
	{
		OpExpr	   *condition = lfirst(lc);

		if (!IsA(condition, OpExpr))
			return make_orclause(conditions);
		values = list_append_unique(values, lsecond(condition->args));
	}
	if (list_length(values) == 1)
		return linitial(conditions);
	list->array_typeid = INT4ARRAYOID;
	list->element_typeid = INT4OID;
	list->elements = values;
	list->location = -1;
	return sk_shard_in(key, (Expr *)
					   eval_const_expressions(root, (Node *) list));
}

/* One shard of a list that is known now is no list. */
static Expr *
derive_list(PlannerInfo *root, const SkShardKey *key, List *args)
{
	const Oid	argtypes[] = {INT4OID, ANYOID};
	Oid			function = sk_sibling_function(key->function, "shard_ids", 2, argtypes);
	Expr	   *list;

	if (!OidIsValid(function) || !can_be_listed(key, args))
		return NULL;
	list = (Expr *) makeFuncExpr(function, INT4ARRAYOID, args,
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	list = (Expr *) eval_const_expressions(root, (Node *) list);
	if (IsA(list, Const) && !((Const *) list)->constisnull)
	{
		ArrayType  *array = DatumGetArrayTypeP(((Const *) list)->constvalue);

		if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 1)
		{
			int32		shard = *(int32 *) ARR_DATA_PTR(array);

			return sk_shard_is(key, (Expr *)
							   makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
										 Int32GetDatum(shard), false, true));
		}
	}
	return sk_shard_in(key, list);
}

/*
 * shard_ids() resorts to all shards where it would be too long, and fails where
 * these are too many.  The query itself would not.
 */
static bool
can_be_listed(const SkShardKey *key, List *args)
{
	double		combinations = 1;
	ListCell   *lc;

	if (key->shards <= SK_MAX_SHARD_LIST)
		return true;
	for_each_from(lc, args, 1)
	{
		int			length = known_length(lfirst(lc));

		if (length < 0)
			return false;
		combinations *= length;
	}
	return combinations <= SK_MAX_COMBINATIONS;
}

/* The length of an array, 1 for what is no array, -1 if it is not known. */
static int
known_length(Node *array)
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
