/*-------------------------------------------------------------------------
 *
 * derived_clauses.c
 *	  The conditions on the shard that follow from the clauses of a scan.
 *
 * They come from clauses that the very scan enforces: restrictions of the
 * relation, and join clauses that may be pushed into it.  A row that is left
 * out because of its shard would not have passed those, so no knowledge of
 * the rest of the query is needed.  The bounds of a partition are such
 * conditions, too.
 *
 * src/planner/derived_clauses.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "compat.h"
#include "planner/derive.h"
#include "planner/shard_paths.h"

/* How many ways to combine values of several relations are tried. */
#define SK_MAX_JOIN_COMBINATIONS 16

/* A value that a join clause gives, and the relations that it is from. */
typedef struct SkJoinValue
{
	SkKeyValue	value;
	Relids		relids;
} SkJoinValue;

static List *restriction_facts(RelOptInfo *rel);
static List *partition_clauses(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key);
static RestrictInfo *make_clause(PlannerInfo *root, const SkFact *condition);
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
	List	   *facts;
	ListCell   *lc;

	memset(result, 0, sizeof(SkExtraClauses));
	if (sk_has_shard_condition(key, rel->baserestrictinfo))
		return;

	sk_init_columns(&columns, key);
	facts = restriction_facts(rel);
	sk_match_facts(root, facts, &columns);
	if (sk_all_known(&columns))
	{
		result->base = add_condition(root, NIL, &columns);
		return;
	}

	result->base = partition_clauses(root, rel, key);
	foreach(lc, facts)
	{
		SkFact	   *fact = lfirst(lc);
		SkFact	   *arms;

		if (!is_orclause(fact->clause))
			continue;
		fact = sk_derive_alternatives(root, fact, &columns, &arms);
		if (fact == NULL)
			continue;
		result->alternatives = lappend(result->alternatives,
									   make_clause(root, arms));
		if (!is_orclause(fact->clause))
			result->base = lappend(result->base, make_clause(root, fact));
	}
	if ((rel->joininfo != NIL || rel->has_eclass_joins) &&
		!is_joined_on_shard(root, rel, key))
		result->joins = derive_joins(root, rel, &columns);
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

	rinfo->norm_selec = SK_REDUNDANT_SELECTIVITY;
	rinfo->outer_selec = SK_REDUNDANT_SELECTIVITY;
	return rinfo;
}

static List *
restriction_facts(RelOptInfo *rel)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant)
			result = lappend(result, sk_make_fact(rinfo->clause,
												  rinfo->security_level));
	}
	return result;
}

/* What the bounds of a partition say of the shard of its rows. */
static List *
partition_clauses(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key)
{
	Relation	relation;
	List	   *quals = NIL;
	List	   *result = NIL;
	ListCell   *lc;

	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	if (relation->rd_rel->relispartition)
		quals = copyObject(RelationGetPartitionQual(relation));
	table_close(relation, NoLock);
	if (quals == NIL)
		return NIL;

	ChangeVarNodes((Node *) quals, 1, rel->relid, 0);
	quals = (List *) eval_const_expressions(root, (Node *) quals);
	foreach(lc, make_ands_implicit(make_ands_explicit(quals)))
	{
		RestrictInfo *rinfo = sk_make_shard_clause(root, lfirst(lc), 0);

		if (sk_has_shard_condition(key, list_make1(rinfo)))
			result = lappend(result, rinfo);
	}
	return result;
}

static RestrictInfo *
make_clause(PlannerInfo *root, const SkFact *condition)
{
	return sk_make_shard_clause(root, condition->clause, condition->level);
}

/*
 * Derive conditions with the values that join clauses give: one for each
 * relation that gives all that are missing, whatever their order in the query.
 */
static List *
derive_joins(PlannerInfo *root, RelOptInfo *rel, const SkColumns *columns)
{
	List	  **choices = palloc0(columns->count * sizeof(List *));
	List	   *result;

	for (int i = 0; i < columns->count; i++)
	{
		if (columns->values[i].value)
			continue;
		choices[i] = find_join_values(root, rel, columns->columns[i],
									  columns->inside[i]);
		if (choices[i] == NIL)
			return NIL;
	}
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
		first++;
	foreach(lc, choices[first])
	{
		Relids		source = ((SkJoinValue *) lfirst(lc))->relids;
		SkColumns	choice = *columns;

		if (find_choice(choices[first], source) != lfirst(lc))
			continue;
		choice.values = palloc(columns->count * sizeof(SkKeyValue));
		for (int i = 0; i < columns->count; i++)
		{
			SkJoinValue *found = find_choice(choices[i], source);

			choice.values[i] = found ? found->value : columns->values[i];
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
		if (bms_equal(((SkJoinValue *) lfirst(lc))->relids, relids))
		return lfirst(lc);
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
		SkColumns	choice = *columns;
		int			rest = n;

		choice.values = palloc(columns->count * sizeof(SkKeyValue));
		for (int i = 0; i < columns->count; i++)
		{
			int			length = list_length(choices[i]);

			choice.values[i] = columns->values[i];
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
	SkFact	   *condition = sk_derive_condition(root, columns);

	return condition ? lappend(list, make_clause(root, condition)) : list;
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
			!sk_match_equality(root, rinfo->clause, column, &value) ||
			(inside && !sk_can_replace(column, &value)))
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
