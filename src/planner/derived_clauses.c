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

/* How many ways to combine join clauses are tried. */
#define SK_MAX_JOIN_COMBINATIONS 16

/* The columns of a key, and what restrictions say of them. */
typedef struct SkColumns
{
	int			count;
	Var		  **columns;
	SkKeyValue *values;
} SkColumns;

static void read_columns(const SkShardKey *key, SkColumns *columns);
static List *partition_clauses(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key);
static void match_clauses(PlannerInfo *root, List *clauses, Index level,
						  SkColumns *columns);
static bool all_known(const SkColumns *columns);
static RestrictInfo *derive_clause(PlannerInfo *root, const SkShardKey *key,
								   const SkColumns *columns);
static Index max_security_level(const SkColumns *columns);
static RestrictInfo *derive_alternatives(PlannerInfo *root,
										 const SkShardKey *key,
										 RestrictInfo *alternatives,
										 const SkColumns *columns);
static List *arm_clauses(Node *arm);
static List *derive_joins(PlannerInfo *root, RelOptInfo *rel,
						  const SkShardKey *key, const SkColumns *columns);
static List *find_join_values(PlannerInfo *root, RelOptInfo *rel,
							  const Var *column);
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
	ListCell   *lc;

	memset(result, 0, sizeof(SkExtraClauses));
	if (sk_has_shard_condition(key, rel->baserestrictinfo))
		return;

	read_columns(key, &columns);
	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant)
			match_clauses(root, list_make1(rinfo->clause),
						  rinfo->security_level, &columns);
	}
	if (all_known(&columns))
	{
		RestrictInfo *rinfo = derive_clause(root, key, &columns);

		if (rinfo)
			result->base = list_make1(rinfo);
		return;
	}

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (restriction_is_or_clause(rinfo))
			rinfo = derive_alternatives(root, key, rinfo, &columns);
		else
			rinfo = NULL;
		if (rinfo)
			result->alternatives = lappend(result->alternatives, rinfo);
	}
	result->base = partition_clauses(root, rel, key);
	if ((rel->joininfo != NIL || rel->has_eclass_joins) &&
		!is_joined_on_shard(root, rel, key))
		result->joins = derive_joins(root, rel, key, &columns);
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

static void
read_columns(const SkShardKey *key, SkColumns *columns)
{
	int			size = list_length(key->call->args);

	columns->columns = palloc(size * sizeof(Var *));
	columns->count = sk_key_columns(key, columns->columns);
	columns->values = palloc0(size * sizeof(SkKeyValue));
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

/* One value is better than a list of them, which is better than nothing. */
static void
match_clauses(PlannerInfo *root, List *clauses, Index level,
			  SkColumns *columns)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		for (int i = 0; i < columns->count; i++)
		{
			SkKeyValue *value = &columns->values[i];
			SkKeyValue	found;

			if (value->value && !value->is_array)
				continue;
			if (sk_match_equality(root, lfirst(lc), columns->columns[i],
								  &found) &&
				(value->value == NULL || !found.is_array))
			{
				*value = found;
				value->security_level = level;
			}
		}
	}
}

static bool
all_known(const SkColumns *columns)
{
	for (int i = 0; i < columns->count; i++)
		if (columns->values[i].value == NULL)
			return false;
	return true;
}

static RestrictInfo *
derive_clause(PlannerInfo *root, const SkShardKey *key,
			  const SkColumns *columns)
{
	Expr	   *condition = sk_derive_condition(root, key, columns->values);

	return condition ?
		sk_make_shard_clause(root, condition, max_security_level(columns)) :
		NULL;
}

static Index
max_security_level(const SkColumns *columns)
{
	Index		result = 0;

	for (int i = 0; i < columns->count; i++)
		result = Max(result, columns->values[i].security_level);
	return result;
}

/*
 * Derive a condition in each arm of an OR.  NULL if that is not possible in
 * one of them, for then no index serves the OR.
 */
static RestrictInfo *
derive_alternatives(PlannerInfo *root, const SkShardKey *key,
					RestrictInfo *alternatives, const SkColumns *columns)
{
	List	   *arms = NIL;
	Index		level = alternatives->security_level;
	ListCell   *lc;

	foreach(lc, ((BoolExpr *) alternatives->orclause)->args)
	{
		List	   *clauses = arm_clauses(lfirst(lc));
		SkColumns	arm = *columns;
		Expr	   *condition = NULL;

		arm.values = palloc(columns->count * sizeof(SkKeyValue));
		memcpy(arm.values, columns->values,
			   columns->count * sizeof(SkKeyValue));
		match_clauses(root, clauses, alternatives->security_level, &arm);
		if (all_known(&arm))
			condition = sk_derive_condition(root, key, arm.values);
		if (condition == NULL)
			return NULL;
		level = Max(level, max_security_level(&arm));
		arms = lappend(arms, make_andclause(lcons(condition,
												  copyObject(clauses))));
	}
	return sk_make_shard_clause(root, make_orclause(arms), level);
}

/* The clauses of one arm of an OR of RestrictInfos, without these. */
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

/* Derive conditions with the values that join clauses give. */
static List *
derive_joins(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
			 const SkColumns *columns)
{
	List	   *result = NIL;
	List	  **choices = palloc0(columns->count * sizeof(List *));
	int			combinations = 1;

	for (int i = 0; i < columns->count; i++)
	{
		if (columns->values[i].value)
			choices[i] = list_make1(&columns->values[i]);
		else
			choices[i] = find_join_values(root, rel, columns->columns[i]);
		if (choices[i] == NIL)
			return NIL;
		combinations = Min(combinations * list_length(choices[i]),
						   SK_MAX_JOIN_COMBINATIONS);
	}

	for (int n = 0; n < combinations; n++)
	{
		SkColumns	choice = *columns;
		RestrictInfo *rinfo;
		int			rest = n;

		choice.values = palloc(columns->count * sizeof(SkKeyValue));
		for (int i = 0; i < columns->count; i++)
		{
			int			length = list_length(choices[i]);

			choice.values[i] =
				*(SkKeyValue *) list_nth(choices[i], rest % length);
			rest /= length;
		}
		rinfo = derive_clause(root, key, &choice);
		if (rinfo)
			result = lappend(result, rinfo);
	}
	return result;
}

/* The values of other relations that a column is equal to. */
static List *
find_join_values(PlannerInfo *root, RelOptInfo *rel, const Var *column)
{
	List	   *clauses = NIL;
	List	   *result = NIL;
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
		SkKeyValue *found;

		if (!join_clause_is_movable_to(rinfo, rel) ||
			!sk_match_equality(root, rinfo->clause, column, &value))
			continue;
		found = palloc(sizeof(SkKeyValue));
		*found = value;
		found->security_level = rinfo->security_level;
		result = lappend(result, found);
	}
	return result;
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
