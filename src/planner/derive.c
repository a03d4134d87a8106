/*-------------------------------------------------------------------------
 *
 * derive.c
 *	  From what clauses say of the keys to a condition on the shard.
 *
 * A row whose keys are equal to given values is in the shard of these values,
 * for shard_id() hashes a text that equal values have in common.
 *
 * A key is known if each of its columns is equal to something.  A key that is
 * an expression is known, too, if a clause compares the expression itself.  And
 * for a bucket of time, a range of the column says in which buckets it is.
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
 * src/planner/derive.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

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
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "compat.h"
#include "keys/canonical.h"
#include "keys/time_zone.h"
#include "planner/derive.h"
#include "planner/shard_clause.h"
#include "spi/own_objects.h"

/* So many values are compared with one another; more go into a hash table. */
#define SK_FEW_VALUES 32

/* What the mutator needs that puts values into a call. */
typedef struct SkReplacement
{
	const SkColumns *columns;
	Node	  **keys;			/* what is equal to a key, or NULL */
} SkReplacement;

/* How many elements of a list are put into an expression, one by one. */
#define SK_MAX_ELEMENTS 100

static Expr *compute_shard(PlannerInfo *root, const SkShardKey *key, FuncExpr *call);
static bool is_exact(const SkColumns *columns);
static bool lists_all_shards(PlannerInfo *root, const SkShardKey *key, Expr *condition);
static bool contradicts(List *bounds, Expr *condition);
static bool find_guards(const SkColumns *columns, List **guards);
static Expr *usual_moments(Expr *value);
static Expr *derive_guarded(PlannerInfo *root, const SkShardKey *key,
							FuncExpr *call, List *guards, bool is_list);
static SkClause *derive_elements(PlannerInfo *root, const SkColumns *columns,
								 int column);
static Expr *any_shard(PlannerInfo *root, const SkShardKey *key,
					   List *conditions);
static Expr *derive_list(PlannerInfo *root, const SkShardKey *key, List *args);
static void init_terms(SkColumns *columns);
static void match_term(PlannerInfo *root, const SkClause *clause,
					   SkColumns *columns, SkKeyTerm *term);
static void match_bound(PlannerInfo *root, const SkClause *clause,
						SkKeyTerm *term);
static bool cast_bound(PlannerInfo *root, Oid type, SkKeyValue *bound);
static Const *moment_limit(Oid type, Timestamp moment);
static Node *extreme(MinMaxOp op, Node *value, Const *limit);
static bool is_missing(const SkColumns *columns, int column);
static bool is_used(const SkColumns *columns, int column);
static bool are_known(const SkColumns *columns, const SkKeyTerm *term);
static FuncExpr *replace_known(const SkColumns *columns, bool *is_list,
							   Index *level);
static Node *list_buckets(const SkColumns *columns, const SkKeyTerm *term);
static int	find_column(const SkColumns *columns, const Node *column);
static Node *replace_keys(Node *node, void *context);
static Oid	match_operator(Expr *clause, const Node *key, SkKeyValue *value);
static List *array_elements(Expr *array);
static bool is_of_type(PlannerInfo *root, const Var *column, Node **value);
static bool is_within(Node *value, Oid type);
static bool match_boolean(Expr *clause, const Node *key, SkKeyValue *value);
static bool is_key(const Node *expr, const Node *key);
static bool is_same_bucket(const FuncExpr *expr, const FuncExpr *key);
static bool is_key_equality(Oid operator, Oid collation, Oid column_type,
							Oid value_type);
static bool is_stable_value(PlannerInfo *root, Expr *value, const Node *key);

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

	columns->key = key;
	columns->count = 0;
	columns->columns = palloc(size * sizeof(Var *));
	columns->inside = palloc0(size * sizeof(bool));
	columns->by_element = palloc0(size * sizeof(bool));
	columns->values = palloc0(size * sizeof(SkKeyValue));
	foreach(lc, vars)
	{
		if (find_column(columns, lfirst(lc)) < 0)
			columns->columns[columns->count++] = lfirst(lc);
	}
	init_terms(columns);
}

/*
 * sk_copy_columns
 *		A copy of what is known, to learn more.
 */
SkColumns
sk_copy_columns(const SkColumns *columns)
{
	SkColumns	result = *columns;

	result.values = palloc(columns->count * sizeof(SkKeyValue));
	memcpy(result.values, columns->values, columns->count * sizeof(SkKeyValue));
	result.terms = palloc(columns->term_count * sizeof(SkKeyTerm));
	memcpy(result.terms, columns->terms, columns->term_count * sizeof(SkKeyTerm));
	return result;
}

/*
 * sk_match_clauses
 *		Learn what a list of SkClause says of the columns.
 *
 * One value is better than a list of them, which is better than nothing.
 */
void
sk_match_clauses(PlannerInfo *root, List *clauses, SkColumns *columns)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SkClause   *clause = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < columns->count; i++)
		{
			SkKeyValue *value = &columns->values[i];
			SkKeyValue	found;

			if (value->value && !value->is_array)
				continue;
			if (sk_match_equality(root, clause->expr,
								  (Node *) columns->columns[i], &found) &&
				(value->value == NULL || !found.is_array) &&
				(!columns->inside[i] ||
				 sk_can_replace(root, columns->columns[i], &found)))
			{
				*value = found;
				value->level = clause->level;
			}
		}
		for (int i = 0; i < columns->term_count; i++)
			match_term(root, clause, columns, &columns->terms[i]);
	}
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
	Oid			operator;
	Oid			type;

	if (!IsA(clause, OpExpr) && !IsA(clause, ScalarArrayOpExpr))
		return match_boolean(clause, key, value);
	operator = match_operator(clause, key, value);
	if (!OidIsValid(operator))
		return false;
	type = exprType((Node *) value->value);
	if (value->is_array)
		type = get_base_element_type(type);
	return OidIsValid(type) &&
		is_key_equality(operator, exprInputCollation((Node *) clause),
						exprType(key), type) &&
		is_stable_value(root, value->value, key);
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
		List	   *elements = array_elements(value->value);

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
 * sk_all_known
 *		Is something known of each key?
 *
 * "by_range" is set to whether a range or an expression had to do for a column;
 * it may be NULL.
 */
bool
sk_all_known(const SkColumns *columns, bool *by_range)
{
	for (int i = 0; i < columns->count; i++)
		if (is_missing(columns, i))
			return false;
	if (by_range)
		*by_range = !is_exact(columns);
	return true;
}

/*
 * sk_derive_condition
 *		The condition on the shard that follows from what is known.
 *
 * NULL if something is missing, or the condition would be of no use.
 */
SkClause *
sk_derive_condition(PlannerInfo *root, const SkColumns *columns)
{
	const SkShardKey *key = columns->key;
	List	   *guards = NIL;
	bool		is_list;
	Index		level;
	FuncExpr   *call;
	Expr	   *condition;

	if (!key->can_derive || !sk_all_known(columns, NULL) ||
		!find_guards(columns, &guards))
		return NULL;
	for (int i = 0; i < columns->count; i++)
		if (columns->by_element[i] && columns->values[i].is_array &&
			is_used(columns, i) &&
			array_elements(columns->values[i].value) != NIL)
			return derive_elements(root, columns, i);
	call = replace_known(columns, &is_list, &level);
	if (call == NULL)
		return NULL;
	/* a fingerprint is wider than the shard that is made of it */
	if (key->shards > 0 && call->funcresulttype == INT8OID)
		call = makeFuncExpr(F_INT4_INT8, INT4OID, list_make1(call),
							InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
	if (guards != NIL)
		condition = derive_guarded(root, key, call, guards, is_list);
	else if (is_list)
	{
		condition = derive_list(root, key, call->args);
		/* a range that leaves every shard is better served otherwise */
		if (condition && !is_exact(columns) && lists_all_shards(root, key, condition))
			return NULL;
	}
	else
		condition = sk_shard_is(key, compute_shard(root, key, call));
	return condition ? sk_make_clause(condition, level) : NULL;
}

/*
 * sk_derive_alternatives
 *		Derive a condition from an OR: what follows from each of its arms.
 *
 * NULL if nothing follows from one of them.  If the OR has RestrictInfos, as
 * that of a RestrictInfo has, "completed" is set to the arms with their
 * conditions; it may be NULL.  Arms whose shard is not within the bounds of a
 * partition are left out, unless all are.
 */
SkClause *
sk_derive_alternatives(PlannerInfo *root, const SkClause *clause,
					   const SkColumns *columns, List *bounds, List **completed)
{
	List	   *conditions = NIL;
	Index		level = clause->level;
	ListCell   *lc;

	foreach(lc, ((BoolExpr *) clause->expr)->args)
	{
		List	   *members = list_copy(make_ands_implicit(lfirst(lc)));
		SkColumns	arm = sk_copy_columns(columns);
		SkClause   *condition;

		CHECK_FOR_INTERRUPTS();
		sk_match_clauses(root, sk_make_clauses(members, clause->level), &arm);
		condition = sk_derive_condition(root, &arm);
		if (condition == NULL)
			return NULL;
		level = Max(level, condition->level);
		if (contradicts(bounds, condition->expr) &&
			(conditions != NIL || lnext(((BoolExpr *) clause->expr)->args, lc)))
			continue;
		conditions = lappend(conditions, condition->expr);
		if (completed)
			*completed = lappend(*completed,
								 lcons(sk_make_scan_clause(root, condition->expr,
														   condition->level),
									   members));
	}
	return sk_make_clause(any_shard(root, columns->key, conditions), level);
}

/*
 * The value of a call, as far as it is known.  The executor takes ten times as
 * long to call a function once, which counts for a list of many values.
 */
static Expr *
compute_shard(PlannerInfo *root, const SkShardKey *key, FuncExpr *call)
{
	LOCAL_FCINFO(fcinfo, FUNC_MAX_ARGS);
	FmgrInfo	function;
	Datum		shard;
	ListCell   *lc;

	foreach(lc, call->args)
	{
		Const	   *arg = lfirst(lc);

		if (key->form != SK_SHARD_ID || call->funcvariadic || !IsA(arg, Const))
			return (Expr *) eval_const_expressions(root, (Node *) call);
		fcinfo->args[foreach_current_index(lc)].value = arg->constvalue;
		fcinfo->args[foreach_current_index(lc)].isnull = arg->constisnull;
	}
	Assert(sk_is_function(call->funcid, SK_FUNCTION_SHARD_ID));
	fmgr_info(call->funcid, &function);
	fmgr_info_set_expr((Node *) call, &function);
	InitFunctionCallInfoData(*fcinfo, &function, list_length(call->args),
							 call->inputcollid, NULL, NULL);
	shard = FunctionCallInvoke(fcinfo);
	return (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), shard, false, true);
}

/* Is each column of the key equal to something? */
static bool
is_exact(const SkColumns *columns)
{
	for (int i = 0; i < columns->count; i++)
		if (!is_used(columns, i))
			return false;
	return true;
}

static bool
lists_all_shards(PlannerInfo *root, const SkShardKey *key, Expr *condition)
{
	Node	   *list;

	if (!IsA(condition, ScalarArrayOpExpr))
		return false;
	list = lsecond(((ScalarArrayOpExpr *) condition)->args);
	return IsA(list, Const) && estimate_array_length(root, list) >= key->shards;
}

/* Is the shard a constant, and the bounds leave another one? */
static bool
contradicts(List *bounds, Expr *condition)
{
	Node	   *shard;
	ListCell   *lc;

	if (!IsA(condition, OpExpr))
		return false;
	shard = lsecond(((OpExpr *) condition)->args);
	foreach(lc, bounds)
	{
		OpExpr	   *bound = (OpExpr *) lfirst_node(RestrictInfo, lc)->clause;
		Node	   *value;

		if (!IsA(bound, OpExpr))
			continue;
		value = lsecond(bound->args);
		if (IsA(shard, Const) && IsA(value, Const) &&
			((Const *) shard)->consttype == ((Const *) value)->consttype &&
			!((Const *) shard)->constisnull && !((Const *) value)->constisnull &&
			!datumIsEqual(((Const *) shard)->constvalue,
						  ((Const *) value)->constvalue, true, -1))
			return true;
	}
	return false;
}

/*
 * Some moments must not reach the key's functions.  False if one of the values
 * is such a moment; else the conditions on values that are not known yet.
 */
static bool
find_guards(const SkColumns *columns, List **guards)
{
	for (int i = 0; columns->key->usual_moments && i < columns->count; i++)
	{
		Oid			type = columns->columns[i]->vartype;
		SkKeyValue *value = &columns->values[i];

		if (!columns->inside[i] || value->is_array || !is_used(columns, i) ||
			(type != TIMESTAMPOID && type != TIMESTAMPTZOID))
			continue;
		if (!IsA(value->value, Const))
			*guards = lappend(*guards, usual_moments(value->value));
		else if (!sk_is_usual_moment((Const *) value->value))
			return false;
	}
	return true;
}

/* The condition that a value is a usual moment. */
static Expr *
usual_moments(Expr *value)
{
	Oid			type = exprType((Node *) value);
	Oid			family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	Timestamp	limits[] = {SK_FIRST_USUAL, SK_LAST_USUAL};
	static const StrategyNumber strategies[] = {
		BTGreaterEqualStrategyNumber, BTLessStrategyNumber
	};
	List	   *result = NIL;

	for (int i = 0; i < lengthof(limits); i++)
	{
		OpExpr	   *comparison = (OpExpr *)
			make_opclause(get_opfamily_member(family, type, type,
											  strategies[i]),
						  BOOLOID, false, copyObject(value),
						  (Expr *) moment_limit(type, limits[i]),
						  InvalidOid, InvalidOid);

		set_opfuncid(comparison);
		result = lappend(result, comparison);
	}
	return make_andclause(result);
}

/* The shard if the values are usual moments, else all shards. */
static Expr *
derive_guarded(PlannerInfo *root, const SkShardKey *key, FuncExpr *call,
			   List *guards, bool is_list)
{
	CaseExpr   *choice = makeNode(CaseExpr);
	CaseWhen   *usual = makeNode(CaseWhen);

	Expr	   *list = is_list ? derive_list(root, key, call->args) : NULL;

	if (key->shards == 0 || key->shards > sk_max_merge_shards ||
		(is_list && list == NULL))
		return NULL;
	usual->expr = make_ands_explicit(guards);
	if (list && IsA(list, ScalarArrayOpExpr))
		usual->result = lsecond(((ScalarArrayOpExpr *) list)->args);
	else
		usual->result = (Expr *)
			sk_shard_array(list_make1(eval_const_expressions(root, (Node *) call)));
	usual->location = -1;
	choice->casetype = INT4ARRAYOID;
	choice->args = list_make1(usual);
	choice->defresult = sk_all_shards(key, true);
	choice->location = -1;
	return sk_shard_in(key, (Expr *) choice);
}

/* A list whose elements are taken one by one. */
static SkClause *
derive_elements(PlannerInfo *root, const SkColumns *columns, int column)
{
	List	   *conditions = NIL;
	Index		level = columns->values[column].level;
	SkColumns	choice = sk_copy_columns(columns);
	Expr	   *result;
	ListCell   *lc;

	Assert(columns->by_element[column] && columns->values[column].is_array);
	choice.values[column].is_array = false;
	foreach(lc, array_elements(columns->values[column].value))
	{
		SkClause   *condition;

		CHECK_FOR_INTERRUPTS();
		choice.values[column].value = lfirst(lc);
		if (columns->inside[column] &&
			!sk_can_replace(root, columns->columns[column],
							&choice.values[column]))
			return NULL;
		condition = sk_derive_condition(root, &choice);
		/* of two such lists there are too many combinations */
		if (condition == NULL || !IsA(condition->expr, OpExpr))
			return NULL;
		conditions = lappend(conditions, condition->expr);
		level = Max(level, condition->level);
	}
	result = any_shard(root, columns->key, conditions);
	return sk_make_clause(result, level);
}

/*
 * Some conditions that each fix the shard, as one list; else as an OR.  No
 * shard is NULL.
 */
static Expr *
any_shard(PlannerInfo *root, const SkShardKey *key, List *conditions)
{
	List	   *values = NIL;
	Expr	   *condition = NULL;
	HTAB	   *seen = NULL;
	ListCell   *lc;

	if (list_length(conditions) == 1)
		return linitial(conditions);
	if (list_length(conditions) > SK_FEW_VALUES)
	{
		HASHCTL		ctl;

		ctl.keysize = ctl.entrysize = sizeof(int64);
		ctl.hcxt = CurrentMemoryContext;
		seen = hash_create("spanner_keys shards", 256, &ctl,
						   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	foreach(lc, conditions)
	{
		Const	   *value;
		int64		shard;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		if (!IsA(lfirst(lc), OpExpr))
			return make_orclause(conditions);
		value = lsecond(((OpExpr *) lfirst(lc))->args);
		if (IsA(value, Const) && value->constisnull &&
			(condition != NULL || lnext(conditions, lc) != NULL))
			continue;
		condition = lfirst(lc);
		if (seen == NULL || !IsA(value, Const))
		{
			values = list_append_unique(values, value);
			continue;
		}
		shard = value->consttype == INT8OID ?
			DatumGetInt64(value->constvalue) : DatumGetInt32(value->constvalue);
		(void) hash_search(seen, &shard, HASH_ENTER, &found);
		if (!found)
			values = lappend(values, value);
	}
	if (seen != NULL)
		hash_destroy(seen);
	if (list_length(values) <= 1)
		return condition;
	return sk_shard_in(key, (Expr *)
					   eval_const_expressions(root, (Node *) sk_shard_array(values)));
}

/* One shard of a list that is known now is no list. */
static Expr *
derive_list(PlannerInfo *root, const SkShardKey *key, List *args)
{
	Oid			function = sk_callable_function(SK_FUNCTION_SHARD_IDS);
	Expr	   *list;

	/* of more shards it would make a list of any length, or fail */
	if (!OidIsValid(function) || key->shards > SK_MAX_SHARD_LIST)
		return NULL;
	list = (Expr *) makeFuncExpr(function, INT4ARRAYOID, args,
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	list = (Expr *) eval_const_expressions(root, (Node *) list);
	if (IsA(list, Const) && !((Const *) list)->constisnull)
	{
		ArrayType  *array = DatumGetArrayTypeP(((Const *) list)->constvalue);

		Assert(ARR_ELEMTYPE(array) == INT4OID && !ARR_HASNULL(array));
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

static void
init_terms(SkColumns *columns)
{
	const SkShardKey *key = columns->key;
	List	   *keys = sk_hashed_keys(key);
	ListCell   *lc;
	ListCell   *lc2;

	columns->term_count = list_length(keys);
	columns->terms = palloc0(columns->term_count * sizeof(SkKeyTerm));
	foreach(lc, keys)
	{
		SkKeyTerm  *term = &columns->terms[foreach_current_index(lc)];

		term->key = lfirst(lc);
		term->is_column = IsA(term->key, Var) && key->form == SK_SHARD_ID;
		term->is_bucket = key->can_derive && key->form == SK_SHARD_ID &&
			sk_is_bucket(term->key);
		foreach(lc2, pull_var_clause(term->key, 0))
		{
			int			place = find_column(columns, lfirst(lc2));

			Assert(place >= 0);
			term->columns = bms_add_member(term->columns, place);
			columns->inside[place] |= !term->is_column;
			columns->by_element[place] |= !term->is_column ||
				key->shards > SK_MAX_SHARD_LIST;
		}
	}
}

/* Does a clause compare a key that is an expression, or bound its column? */
static void
match_term(PlannerInfo *root, const SkClause *clause, SkColumns *columns,
		   SkKeyTerm *term)
{
	SkKeyValue	found;

	if (term->is_column || bms_is_empty(term->columns) ||
		!columns->key->can_derive)
		return;
	if (term->is_bucket)
		match_bound(root, clause, term);
	if ((term->value.value == NULL || term->value.is_array) &&
		sk_match_equality(root, clause->expr, term->key, &found) &&
		(term->value.value == NULL || !found.is_array) &&
		(columns->key->form == SK_SHARD_ID ||
		 (!found.is_array &&
		  exprType((Node *) found.value) == exprType(term->key))))
	{
		term->value = found;
		term->value.level = clause->level;
	}
}

/* The first bound on each side counts. */
static void
match_bound(PlannerInfo *root, const SkClause *clause, SkKeyTerm *term)
{
	Var		   *column = lsecond_node(Var, ((FuncExpr *) term->key)->args);
	Oid			family = lookup_type_cache(column->vartype,
										   TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	SkKeyValue	found;
	Oid			operator = match_operator(clause->expr, (Node *) column, &found);
	int			strategy;
	bool		is_low;

	if (!OidIsValid(operator) || found.is_array ||
		!is_stable_value(root, found.value, (Node *) column))
		return;
	strategy = get_op_opfamily_strategy(operator, family);
	is_low = strategy == BTGreaterStrategyNumber ||
		strategy == BTGreaterEqualStrategyNumber;
	if ((!is_low && strategy != BTLessStrategyNumber &&
		 strategy != BTLessEqualStrategyNumber) ||
		(is_low ? term->low.value : term->high.value) != NULL ||
		!cast_bound(root, column->vartype, &found))
		return;
	found.level = clause->level;
	if (is_low)
		term->low = found;
	else
	{
		term->high = found;
		term->open_end = strategy == BTLessStrategyNumber;
	}
}

/*
 * Give a bound the type of the column.  The operators of dates and times cast
 * them in the same way, but do not fail for one that is out of range.  So it is
 * first moved to a day outside of usual moments, in any time zone: there all
 * shards are listed.
 */
static bool
cast_bound(PlannerInfo *root, Oid type, SkKeyValue *bound)
{
	Node	   *value = (Node *) bound->value;
	Oid			value_type = exprType(value);
	Oid			cast = InvalidOid;

	if (value_type == type)
		return true;
	if (value_type == DATEOID)
		cast = type == TIMESTAMPTZOID ? F_TIMESTAMPTZ_DATE : F_TIMESTAMP_DATE;
	else if (value_type == TIMESTAMPOID && type == TIMESTAMPTZOID)
		cast = F_TIMESTAMPTZ_TIMESTAMP;
	if (!OidIsValid(cast))
		return false;
	/* what the clock says is usual */
	if (!IsA(value, SQLValueFunction))
	{
		value = extreme(IS_LEAST, value,
						moment_limit(value_type, SK_LAST_USUAL + USECS_PER_DAY));
		value = extreme(IS_GREATEST, value,
						moment_limit(value_type, SK_FIRST_USUAL - USECS_PER_DAY));
	}
	value = (Node *) makeFuncExpr(cast, type, list_make1(value), InvalidOid,
								  InvalidOid, COERCE_EXPLICIT_CAST);
	bound->value = (Expr *) eval_const_expressions(root, value);
	return true;
}

/* A moment as a constant; of a whole day if it is to be a date. */
static Const *
moment_limit(Oid type, Timestamp moment)
{
	Assert(moment % USECS_PER_DAY == 0);
	if (type == DATEOID)
		return makeConst(type, -1, InvalidOid, sizeof(DateADT),
						 DateADTGetDatum((DateADT) (moment / USECS_PER_DAY)),
						 false, true);
	Assert(type == TIMESTAMPOID || type == TIMESTAMPTZOID);
	return makeConst(type, -1, InvalidOid, sizeof(Timestamp),
					 TimestampGetDatum(moment), false, FLOAT8PASSBYVAL);
}

static Node *
extreme(MinMaxOp op, Node *value, Const *limit)
{
	MinMaxExpr *result = makeNode(MinMaxExpr);

	result->op = op;
	result->minmaxtype = limit->consttype;
	result->args = list_make2(value, limit);
	result->location = -1;
	return (Node *) result;
}

/* Is nothing known of a column, nor of a key that it is in? */
static bool
is_missing(const SkColumns *columns, int column)
{
	if (columns->values[column].value != NULL)
		return false;
	for (int i = 0; i < columns->term_count; i++)
	{
		SkKeyTerm  *term = &columns->terms[i];

		if (bms_is_member(column, term->columns) && term->value.value == NULL &&
			(term->low.value == NULL || term->high.value == NULL))
			return true;
	}
	return false;
}

/* Does the value of a column take its place in a key? */
static bool
is_used(const SkColumns *columns, int column)
{
	for (int i = 0; i < columns->term_count; i++)
		if (bms_is_member(column, columns->terms[i].columns) &&
			are_known(columns, &columns->terms[i]))
			return true;
	return false;
}

/* Is each column of a key equal to something? */
static bool
are_known(const SkColumns *columns, const SkKeyTerm *term)
{
	int			column = -1;

	while ((column = bms_next_member(term->columns, column)) >= 0)
		if (columns->values[column].value == NULL)
			return false;
	return true;
}

/*
 * The call with what is known of its keys; NULL if that cannot be.  "is_list"
 * says whether one of them is a list, "level" which security level the clauses
 * have.
 */
static FuncExpr *
replace_known(const SkColumns *columns, bool *is_list, Index *level)
{
	SkReplacement replacement;

	*is_list = false;
	*level = 0;
	replacement.columns = columns;
	replacement.keys = palloc0(columns->term_count * sizeof(Node *));
	for (int i = 0; i < columns->count; i++)
	{
		if (!is_used(columns, i))
			continue;
		*is_list |= columns->values[i].is_array;
		*level = Max(*level, columns->values[i].level);
	}
	for (int i = 0; i < columns->term_count; i++)
	{
		SkKeyTerm  *term = &columns->terms[i];

		if (are_known(columns, term))
			continue;
		replacement.keys[i] = (Node *) term->value.value;
		*is_list |= term->value.value == NULL || term->value.is_array;
		*level = Max(*level, term->value.level);
		if (term->value.value == NULL)
		{
			replacement.keys[i] = list_buckets(columns, term);
			*level = Max(*level, Max(term->low.level, term->high.level));
		}
		if (replacement.keys[i] == NULL)
			return NULL;
	}
	return (FuncExpr *) replace_keys((Node *) columns->key->call, &replacement);
}

/* The buckets of a range as an array; too many of them mean all shards. */
static Node *
list_buckets(const SkColumns *columns, const SkKeyTerm *term)
{
	List	   *bin = ((FuncExpr *) term->key)->args;
	Oid			type = exprType(lsecond(bin));
	Oid			function;
	List	   *args;

	if (columns->key->shards > SK_MAX_SHARD_LIST)
		return NULL;
	Assert(type == TIMESTAMPOID || type == TIMESTAMPTZOID);
	function = sk_callable_function(type == TIMESTAMPOID ?
									SK_FUNCTION_TIME_BUCKETS :
									SK_FUNCTION_TIME_BUCKETS_TZ);
	if (!OidIsValid(function))
		return NULL;
	args = list_make5(linitial(bin), lthird(bin), term->low.value,
					  term->high.value, makeBoolConst(term->open_end, false));
	args = lappend(args, makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
								   Int32GetDatum(columns->key->shards), false,
								   true));
	return (Node *) makeFuncExpr(function, get_array_type(type), args,
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

/* A call, with what is known for its keys and their columns. */
static Node *
replace_keys(Node *node, void *context)
{
	SkReplacement *replacement = context;
	const SkColumns *columns = replacement->columns;

	if (node == NULL)
		return NULL;
	for (int i = 0; i < columns->term_count; i++)
		if (node == columns->terms[i].key && replacement->keys[i] != NULL)
			return copyObject(replacement->keys[i]);
	if (IsA(node, Var))
	{
		int			place = find_column(columns, node);

		Assert(place >= 0 && columns->values[place].value != NULL);
		return copyObject((Node *) columns->values[place].value);
	}
	return expression_tree_mutator(node, replace_keys, context);
}

/*
 * The operator by which a clause compares a key, on the left, with a value or
 * the elements of an array; InvalidOid if it does not.
 */
static Oid
match_operator(Expr *clause, const Node *key, SkKeyValue *value)
{
	bool		is_array = IsA(clause, ScalarArrayOpExpr);
	ScalarArrayOpExpr *any = (ScalarArrayOpExpr *) clause;
	Oid			operator;
	List	   *args;

	if (!IsA(clause, OpExpr) && (!is_array || !any->useOr))
		return InvalidOid;
	operator = is_array ? any->opno : ((OpExpr *) clause)->opno;
	args = is_array ? any->args : ((OpExpr *) clause)->args;
	value->is_array = is_array;
	if (list_length(args) == 2 && is_key(linitial(args), key))
	{
		value->value = lsecond(args);
		return operator;
	}
	if (list_length(args) != 2 || is_array || !is_key(lsecond(args), key))
		return InvalidOid;
	value->value = linitial(args);
	return get_commutator(operator);
}

/*
 * The elements of an array, as expressions of one type.  NIL if they are not
 * known yet, or too many to put each into an expression.
 */
static List *
array_elements(Expr *array)
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

/* Does a value have the type of a column, or can it be cast to it? */
static bool
is_of_type(PlannerInfo *root, const Var *column, Node **value)
{
	Oid			type = exprType(*value);

	/* varchar has neither operators nor functions of its own */
	if (type == column->vartype ||
		(type == TEXTOID && column->vartype == VARCHAROID))
		return true;
	if (!OidIsValid(get_opfamily_member(INTEGER_BTREE_FAM_OID, type, column->vartype,
										BTEqualStrategyNumber)) ||
		(get_typlen(type) > get_typlen(column->vartype) &&
		 !is_within(*value, column->vartype)))
		return false;
	*value = coerce_type(NULL, *value, type, column->vartype, -1,
						 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
	*value = eval_const_expressions(root, *value);
	return true;
}

/* Is it a constant that a narrower integer type has, too? */
static bool
is_within(Node *value, Oid type)
{
	Const	   *constant = (Const *) value;
	int64		number;

	if (!IsA(value, Const) || constant->constisnull)
		return false;
	number = constant->consttype == INT4OID ? DatumGetInt32(constant->constvalue) :
		DatumGetInt64(constant->constvalue);
	return type == INT2OID ? number >= PG_INT16_MIN && number <= PG_INT16_MAX :
		number >= PG_INT32_MIN && number <= PG_INT32_MAX;
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
		return equal(expr, key) ||
			is_same_bucket((const FuncExpr *) expr, (const FuncExpr *) key);
	while (expr && IsA(expr, RelabelType))
		expr = (Node *) ((const RelabelType *) expr)->arg;
	return expr && IsA(expr, Var) &&
		((const Var *) expr)->varno == column->varno &&
		((const Var *) expr)->varattno == column->varattno &&
		((const Var *) expr)->varlevelsup == 0;
}

/* date_bin() of the same column: '24 hours' are '1 day' there. */
static bool
is_same_bucket(const FuncExpr *expr, const FuncExpr *key)
{
	const Const *stride;
	const Const *other;

	if (!IsA(key, FuncExpr) || !IsA(expr, FuncExpr) ||
		expr->funcid != key->funcid ||
		(key->funcid != F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP &&
		 key->funcid != F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ))
		return false;
	stride = linitial(key->args);
	other = linitial(expr->args);
	/* a month is no number of days, though it is equal to 30 */
	return IsA(stride, Const) && IsA(other, Const) &&
		!stride->constisnull && !other->constisnull &&
		DatumGetIntervalP(stride->constvalue)->month == 0 &&
		DatumGetIntervalP(other->constvalue)->month == 0 &&
		DatumGetBool(DirectFunctionCall2(interval_eq, stride->constvalue,
										 other->constvalue)) &&
		equal(lsecond(expr->args), lsecond(key->args)) &&
		equal(lthird(expr->args), lthird(key->args));
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
	return IsA(value, Const) ||
		(!bms_overlap(pull_varnos(root, unconstify(Node *, key)),
					  pull_varnos(root, (Node *) value)) &&
		 !contain_volatile_functions((Node *) value) &&
		 !contain_subplans((Node *) value));
}
