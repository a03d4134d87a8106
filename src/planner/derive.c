/*-------------------------------------------------------------------------
 *
 * derive.c
 *	  From equalities on the keys to a condition on the shard.
 *
 * A row whose keys are equal to given values is in the shard of these values,
 * for shard_id() hashes a text that equal values have in common.
 *
 * For a scan, the equalities come from clauses that the very scan enforces:
 * restrictions of the relation, and join clauses that may be pushed into it.
 * A row that is left out because of its shard would not have passed those, so
 * no knowledge of the rest of the query is needed.  The bounds of a partition
 * can be conditions on the shard, too.
 *
 * A key is known if each of its columns is equal to something.  A key that is
 * an expression is known, too, if a clause compares the expression itself.  And
 * for a bucket of time, a range of the column says in which buckets it is.
 *
 * src/planner/derive.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "compat.h"
#include "keys/canonical.h"
#include "keys/moments.h"
#include "planner/derive.h"
#include "planner/known_functions.h"
#include "planner/planner.h"
#include "planner/shard_clause.h"

/* How many ways to combine values of several relations are tried. */
#define SK_MAX_JOIN_COMBINATIONS 16

/* So many values are compared with one another; more go into a hash table. */
#define SK_FEW_VALUES 32

/* A value that a join clause gives, and the relations that it is from. */
typedef struct SkJoinValue
{
	SkKeyValue	value;
	Relids		relids;
} SkJoinValue;

/* What the mutator needs that puts values into a call. */
typedef struct SkReplacement
{
	const SkColumns *columns;
	Node	  **keys;			/* what is equal to a key, or NULL */
} SkReplacement;

static bool is_exact(const SkColumns *columns);
static bool lists_all_shards(const SkShardKey *key, Expr *condition);
static bool contradicts(List *bounds, Expr *condition);
static List *clauses_of(List *rinfos);
static bool may_bound_shard(PlannerInfo *root, RelOptInfo *rel,
							const SkShardKey *key);
static List *partition_clauses(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key);
static RestrictInfo *make_rinfo(PlannerInfo *root, const SkClause *condition);
static List *derive_joins(PlannerInfo *root, RelOptInfo *rel,
						  const SkColumns *columns);
static List *combine_one_source(PlannerInfo *root, const SkColumns *columns,
								List **choices);
static SkJoinValue *find_choice(List *choices, Relids relids);
static List *combine_sources(PlannerInfo *root, const SkColumns *columns,
							 List **choices);
static List *add_condition(PlannerInfo *root, List *list,
						   const SkColumns *columns);
static List *find_join_values(PlannerInfo *root, RelOptInfo *rel,
							  const Var *column, bool inside);
static bool is_member_column(PlannerInfo *root, RelOptInfo *rel,
							 EquivalenceClass *ec, EquivalenceMember *em,
							 void *arg);
static bool is_joined_on_shard(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key);
static bool find_guards(const SkColumns *columns, List **guards);
static Expr *usual_moments(Expr *value);
static Expr *derive_guarded(PlannerInfo *root, const SkShardKey *key,
							FuncExpr *call, List *guards, bool is_list);
static SkClause *derive_elements(PlannerInfo *root, const SkColumns *columns,
								 int column);
static List *arm_clauses(Node *arm);
static Expr *any_shard(PlannerInfo *root, const SkShardKey *key,
					   List *conditions);
static HTAB *create_shard_set(void);
static bool is_new_shard(HTAB *seen, const Const *value);
static Expr *derive_list(PlannerInfo *root, const SkShardKey *key, List *args);
static bool can_be_listed(const SkShardKey *key, List *args);
static void init_terms(SkColumns *columns);
static SkColumns copy_columns(const SkColumns *columns);
static void match_term(PlannerInfo *root, const SkClause *clause,
					   SkColumns *columns, SkKeyTerm *term);
static void match_bound(PlannerInfo *root, const SkClause *clause,
						SkKeyTerm *term);
static bool is_missing(const SkColumns *columns, int column);
static bool is_used(const SkColumns *columns, int column);
static bool are_known(const SkColumns *columns, const SkKeyTerm *term);
static FuncExpr *replace_known(const SkColumns *columns, bool *is_list,
							   Index *level);
static Node *list_buckets(const SkColumns *columns, const SkKeyTerm *term);
static int	find_column(const SkColumns *columns, const Node *column);
static int	column_place(const SkColumns *columns, const Node *column);
static Node *replace_keys(Node *node, void *context);

/*
 * sk_derive_clauses
 *		Derive what can be said of the shard of the rows of a relation.
 *
 * Nothing, if the query itself says it.
 */
void
sk_derive_clauses(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				  SkExtraClauses *result)
{
	SkColumns	columns;
	List	   *clauses;
	List	   *bounds;
	List	   *own = sk_without_added(rel->baserestrictinfo);
	bool		has_added = sk_has_shard_condition(key, rel->baserestrictinfo);
	ListCell   *lc;

	memset(result, 0, sizeof(SkExtraClauses));
	if (sk_has_shard_condition(key, own))
		return;

	sk_init_columns(&columns, key);
	clauses = clauses_of(own);
	sk_match_clauses(root, clauses, &columns);
	if (sk_all_known(&columns))
	{
		if (has_added)
			return;
		result->base = add_condition(root, NIL, &columns);
		result->by_range = !is_exact(&columns);
		if (!result->by_range)
			return;
	}

	bounds = partition_clauses(root, rel, key);
	result->base = list_concat(result->base, bounds);
	foreach(lc, own)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		SkClause   *clause;
		SkClause   *arms;

		if (rinfo->pseudoconstant || !is_orclause(rinfo->clause))
			continue;
		clause = sk_derive_alternatives(root,
										sk_make_clause(rinfo->clause,
													   rinfo->security_level),
										&columns, bounds, &arms);
		if (clause == NULL)
			continue;
		result->sources = lappend(result->sources, rinfo);
		result->alternatives = lappend(result->alternatives,
									   make_rinfo(root, arms));
		if (!is_orclause(clause->expr) && !has_added)
			result->base = lappend(result->base, make_rinfo(root, clause));
	}
	if ((rel->joininfo != NIL || rel->has_eclass_joins) &&
		!is_joined_on_shard(root, rel, key))
		result->joins = derive_joins(root, rel, &columns);
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

	if (!key->can_derive || !sk_all_known(columns) ||
		!find_guards(columns, &guards))
		return NULL;
	for (int i = 0; i < columns->count; i++)
		if (columns->by_element[i] && columns->values[i].is_array &&
			is_used(columns, i))
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
		if (condition && !is_exact(columns) && lists_all_shards(key, condition))
			return NULL;
	}
	else
		condition = sk_shard_is(key, (Expr *)
								eval_const_expressions(root, (Node *) call));
	return condition ? sk_make_clause(condition, level) : NULL;
}

/*
 * sk_derive_alternatives
 *		Derive a condition from an OR: what follows from each of its arms.
 *
 * NULL if nothing follows from one of them.  "arms" is set to the OR of the
 * arms, each with its condition, unless it is NULL.  Arms whose shard is not
 * within the bounds of a partition are left out, unless all are.
 */
SkClause *
sk_derive_alternatives(PlannerInfo *root, const SkClause *clause,
					   const SkColumns *columns, List *bounds, SkClause **arms)
{
	List	   *conditions = NIL;
	List	   *completed = NIL;
	Index		level = clause->level;
	ListCell   *lc;

	foreach(lc, ((BoolExpr *) clause->expr)->args)
	{
		List	   *exprs = arm_clauses(lfirst(lc));
		List	   *clauses = NIL;
		SkColumns	arm = copy_columns(columns);
		SkClause   *condition;
		ListCell   *lc2;

		CHECK_FOR_INTERRUPTS();
		foreach(lc2, exprs)
			clauses = lappend(clauses, sk_make_clause(lfirst(lc2), clause->level));
		sk_match_clauses(root, clauses, &arm);
		condition = sk_derive_condition(root, &arm);
		if (condition == NULL)
			return NULL;
		level = Max(level, condition->level);
		if (contradicts(bounds, condition->expr) &&
			(conditions != NIL || lnext(((BoolExpr *) clause->expr)->args, lc)))
			continue;
		conditions = lappend(conditions, condition->expr);
		if (arms == NULL)
			continue;
		completed = lappend(completed,
							make_andclause(lcons(copyObject(condition->expr),
												 copyObject(exprs))));
	}
	if (arms)
		*arms = sk_make_clause(make_orclause(completed), level);
	return sk_make_clause(any_shard(root, columns->key, conditions), level);
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
 * sk_all_known
 *		Is something known of each key?
 */
bool
sk_all_known(const SkColumns *columns)
{
	for (int i = 0; i < columns->count; i++)
		if (is_missing(columns, i))
			return false;
	return true;
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
lists_all_shards(const SkShardKey *key, Expr *condition)
{
	Const	   *list = lsecond(((ScalarArrayOpExpr *) condition)->args);

	return IsA(condition, ScalarArrayOpExpr) && IsA(list, Const) &&
		!list->constisnull && sk_array_length((Node *) list) >= key->shards;
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

static List *
clauses_of(List *rinfos)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant)
			result = lappend(result, sk_make_clause(rinfo->clause,
													rinfo->security_level));
	}
	return result;
}

/*
 * Can the bounds of a partition be conditions on the shard?  To put them together
 * takes long, so the partition key of the parent is looked at first.
 */
static bool
may_bound_shard(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key)
{
	AppendRelInfo *info;
	RelOptInfo *parent;
	RangeTblEntry *rte;

	if (rel->reloptkind != RELOPT_OTHER_MEMBER_REL)
		return true;
	info = root->append_rel_array[rel->relid];
	parent = root->simple_rel_array[info->parent_relid];
	rte = planner_rt_fetch(info->parent_relid, root);
	if (parent->part_scheme == NULL ||
		parent->reloptkind != RELOPT_BASEREL || get_rel_relispartition(rte->relid))
		return true;
	for (int i = 0; i < parent->part_scheme->partnatts; i++)
	{
		if (equal(adjust_appendrel_attrs(root, linitial(parent->partexprs[i]),
										 1, &info), key->shard))
			return true;
	}
	return false;
}

/* What the bounds of a partition say of the shard of its rows. */
static List *
partition_clauses(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key)
{
	Relation	relation;
	List	   *quals = NIL;
	List	   *result = NIL;
	ListCell   *lc;

	if (!may_bound_shard(root, rel, key))
		return NIL;
	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	if (relation->rd_rel->relispartition &&
		sk_has_trusted_bounds(RelationGetRelid(relation)))
		quals = copyObject(RelationGetPartitionQual(relation));
	table_close(relation, NoLock);
	if (quals == NIL)
		return NIL;

	ChangeVarNodes((Node *) quals, 1, rel->relid, 0);
	foreach(lc, quals)
	{
		Node	   *qual = sk_fold_stored(root, lfirst(lc));
		ListCell   *lc2;

		if (qual == NULL)
			continue;
		foreach(lc2, make_ands_implicit((Expr *) qual))
		{
			RestrictInfo *rinfo = sk_make_shard_clause(root, lfirst(lc2), 0);

			if (sk_has_shard_condition(key, list_make1(rinfo)))
				result = lappend(result, rinfo);
		}
	}
	return result;
}

static RestrictInfo *
make_rinfo(PlannerInfo *root, const SkClause *condition)
{
	return sk_make_shard_clause(root, condition->expr, condition->level);
}

/*
 * Derive conditions with the values that join clauses give: one for each
 * relation that gives all that are missing, whatever their order in the query.
 */
static List *
derive_joins(PlannerInfo *root, RelOptInfo *rel, const SkColumns *columns)
{
	List	  **choices = palloc0(columns->count * sizeof(List *));
	bool		found = false;
	List	   *result;

	for (int i = 0; i < columns->count; i++)
	{
		if (columns->values[i].value)
			continue;
		choices[i] = find_join_values(root, rel, columns->columns[i],
									  columns->inside[i]);
		if (choices[i] == NIL && is_missing(columns, i))
			return NIL;
		found |= choices[i] != NIL;
	}
	if (!found)
		return NIL;
	result = combine_one_source(root, columns, choices);
	return result ? result : combine_sources(root, columns, choices);
}

static List *
combine_one_source(PlannerInfo *root, const SkColumns *columns,
				   List **choices)
{
	List	   *result = NIL;
	int			first = 0;
	ListCell   *lc;

	while (choices[first] == NIL)
	{
		first++;
		Assert(first < columns->count);
	}
	foreach(lc, choices[first])
	{
		Relids		source = ((SkJoinValue *) lfirst(lc))->relids;
		SkColumns	choice;

		if (find_choice(choices[first], source) != lfirst(lc))
			continue;
		choice = copy_columns(columns);
		for (int i = 0; i < columns->count; i++)
		{
			SkJoinValue *found = find_choice(choices[i], source);

			if (found)
				choice.values[i] = found->value;
		}
		result = add_condition(root, result, &choice);
	}
	return result;
}

/* The first value that some relations give. */
static SkJoinValue *
find_choice(List *choices, Relids relids)
{
	ListCell   *lc;

	foreach(lc, choices)
	{
		if (bms_equal(((SkJoinValue *) lfirst(lc))->relids, relids))
			return lfirst(lc);
	}
	return NULL;
}

/* No relation gives all values: some of their combinations. */
static List *
combine_sources(PlannerInfo *root, const SkColumns *columns, List **choices)
{
	List	   *result = NIL;
	int			combinations = 1;

	for (int i = 0; i < columns->count; i++)
		combinations = Min(combinations * Max(list_length(choices[i]), 1),
						   SK_MAX_JOIN_COMBINATIONS);
	for (int n = 0; n < combinations; n++)
	{
		SkColumns	choice = copy_columns(columns);
		int			rest = n;

		for (int i = 0; i < columns->count; i++)
		{
			int			length = list_length(choices[i]);

			if (length == 0)
				continue;
			choice.values[i] =
				((SkJoinValue *) list_nth(choices[i], rest % length))->value;
			rest /= length;
		}
		result = add_condition(root, result, &choice);
	}
	return result;
}

static List *
add_condition(PlannerInfo *root, List *list, const SkColumns *columns)
{
	SkClause   *condition = sk_derive_condition(root, columns);

	return condition ? lappend(list, make_rinfo(root, condition)) : list;
}

/* The values of other relations that a column is equal to; lists come last. */
static List *
find_join_values(PlannerInfo *root, RelOptInfo *rel, const Var *column,
				 bool inside)
{
	List	   *clauses = NIL;
	List	   *values = NIL;
	List	   *lists = NIL;
	ListCell   *lc;

	if (rel->has_eclass_joins)
		clauses = generate_implied_equalities_for_column(root, rel,
														 is_member_column,
														 unconstify(Var *, column),
														 rel->lateral_referencers);
	foreach(lc, list_concat(clauses, rel->joininfo))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		SkKeyValue	value;
		SkJoinValue *found;

		if (!join_clause_is_movable_to(rinfo, rel) ||
			!sk_match_equality(root, rinfo->clause, (const Node *) column, &value) ||
			(inside && !sk_can_replace(root, column, &value)))
			continue;
		found = palloc(sizeof(SkJoinValue));
		found->value = value;
		found->value.level = rinfo->security_level;
		found->relids = pull_varnos(root, (Node *) value.value);
		if (value.is_array)
			lists = lappend(lists, found);
		else
			values = lappend(values, found);
	}
	return list_concat(values, lists);
}

static bool
is_member_column(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
				 EquivalenceMember *em, void *arg)
{
	const Var  *column = arg;
	Expr	   *expr = em->em_expr;

	while (expr && IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return expr && IsA(expr, Var) &&
		((Var *) expr)->varno == column->varno &&
		((Var *) expr)->varattno == column->varattno;
}

/* Does the query itself join on the shard? */
static bool
is_joined_on_shard(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key)
{
	if (sk_has_shard_condition(key, rel->joininfo))
		return true;
	return key->attnum != 0 && rel->has_eclass_joins &&
		generate_implied_equalities_for_column(root, rel, is_member_column,
											   key->shard,
											   rel->lateral_referencers) != NIL;
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
		else if (!sk_is_usual_moment((Node *) value->value))
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

	Assert(type == TIMESTAMPOID || type == TIMESTAMPTZOID);
	for (int i = 0; i < lengthof(limits); i++)
	{
		Const	   *limit = makeConst(type, -1, InvalidOid, sizeof(Timestamp),
									  TimestampGetDatum(limits[i]), false,
									  FLOAT8PASSBYVAL);
		OpExpr	   *comparison = (OpExpr *)
			make_opclause(get_opfamily_member(family, type, type,
											  strategies[i]),
						  BOOLOID, false, copyObject(value), (Expr *) limit,
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
	SkColumns	choice = copy_columns(columns);
	Expr	   *result;
	ListCell   *lc;

	Assert(columns->by_element[column] && columns->values[column].is_array);
	choice.values[column].is_array = false;
	foreach(lc, sk_array_elements(columns->values[column].value))
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

/* One shard of a list that is known now is no list. */
static Expr *
derive_list(PlannerInfo *root, const SkShardKey *key, List *args)
{
	const Oid	argtypes[] = {INT4OID, ANYOID};
	Oid			function = sk_internal_function("shard_ids", 2, argtypes);
	Expr	   *list;

	if (!OidIsValid(function) || !can_be_listed(key, args))
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
		int			length = sk_array_length(lfirst(lc));

		if (length < 0)
			return false;
		combinations *= length;
	}
	return combinations <= SK_MAX_COMBINATIONS;
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
			int			place = column_place(columns, lfirst(lc2));

			term->columns = bms_add_member(term->columns, place);
			if (!term->is_column)
				columns->inside[place] = columns->by_element[place] = true;
		}
	}
}

/* A copy of what is known, to learn more. */
static SkColumns
copy_columns(const SkColumns *columns)
{
	SkColumns	result = *columns;

	result.values = palloc(columns->count * sizeof(SkKeyValue));
	memcpy(result.values, columns->values, columns->count * sizeof(SkKeyValue));
	result.terms = palloc(columns->term_count * sizeof(SkKeyTerm));
	memcpy(result.terms, columns->terms, columns->term_count * sizeof(SkKeyTerm));
	return result;
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
	int			strategy = sk_match_comparison(root, clause->expr, column,
											   family, &found);

	if (strategy == 0 || exprType((Node *) found.value) != column->vartype)
		return;
	found.level = clause->level;
	switch (strategy)
	{
		case BTGreaterStrategyNumber:
		case BTGreaterEqualStrategyNumber:
			if (term->low.value == NULL)
				term->low = found;
			break;
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			if (term->high.value == NULL)
			{
				term->high = found;
				term->open_end = strategy == BTLessStrategyNumber;
			}
			break;
		default:
			break;
	}
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
 * The call with what is known of its keys; NULL if that cannot be. "is_list"
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
	const Oid	argtypes[] = {INTERVALOID, type, type, type, BOOLOID, INT4OID};
	Oid			function;
	List	   *args;

	if (columns->key->shards > SK_MAX_SHARD_LIST)
		return NULL;
	function = sk_internal_function("time_buckets", lengthof(argtypes), argtypes);
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

/* The same for one of the columns of the key. */
static int
column_place(const SkColumns *columns, const Node *column)
{
	int			result = find_column(columns, column);

	Assert(result >= 0 && result < columns->count);
	return result;
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
		SkKeyValue *value = &columns->values[column_place(columns, node)];

		Assert(value->value != NULL);
		return copyObject((Node *) value->value);
	}
	return expression_tree_mutator(node, replace_keys, context);
}
