/*-------------------------------------------------------------------------
 *
 * parent_quals.c
 *	  Conditions on the shard that choose partitions.
 *
 * Partitions are pruned by the restrictions of their parent, before any path
 * is made, and again when the plan runs.  So the condition is added to the
 * query, while the planner has not yet taken the join tree apart: to the same
 * list of conditions that implies it.
 *
 * Only lists whose conditions hold for each row that the table contributes
 * are looked at.  Seen from the top of the join tree, these are the lists on
 * the way to the table; below an outer join that can replace the row by
 * NULLs, and below a semijoin or antijoin, the way begins anew.
 *
 * What is added takes no row away.  Partitions inherit it as it is, so it is
 * marked, and their estimates of rows are made again without it before they
 * are of use for the table or for joins.
 *
 * src/planner/parent_quals.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"

#include "compat.h"
#include "planner/derive.h"
#include "planner/parent_quals.h"
#include "planner/row_comparison.h"
#include "planner/shard_key.h"

/* Marks conditions that have been added; the server copies it and ignores it. */
#define SK_ADDED_LOCATION (-2)

/* What a column of a key is equal to, and which list says so. */
typedef struct SkListValue
{
	SkKeyValue	value;
	int			depth;
} SkListValue;

static bool find_lists(Node *node, Index relid, List **lists);
static bool find_lists_in_join(JoinExpr *join, Index relid, List **lists);
static void add_qual(PlannerInfo *root, const SkShardKey *key, List *lists);
static SkListValue find_value(PlannerInfo *root, List *lists,
							  const Var *column);
static bool mentions(List *lists, Index relid, AttrNumber attnum);
static void mark_added(Expr *condition);
static bool disregard_added(List *clauses);
static void disregard_added_joins(PlannerInfo *root, RelOptInfo *rel);
static void disregard_class(PlannerInfo *root, RelOptInfo *rel,
							EquivalenceClass *ec, Relids others);
static void scale_paths(List *paths, double factor);

/*
 * sk_add_parent_quals
 *		Add what follows for the shard of a partitioned table to the query.
 */
void
sk_add_parent_quals(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *keys = sk_parent_shard_keys(root, rel);
	List	   *lists = NIL;
	ListCell   *lc;

	if (keys == NIL || sk_may_hide((Node *) root->parse->jointree) ||
		!find_lists((Node *) root->parse->jointree, rel->relid, &lists))
		return;
	foreach(lc, keys)
		add_qual(root, lfirst(lc), lists);
}

/*
 * sk_disregard_parent_quals
 *		Have added conditions not count in the estimates of a relation.
 *
 * To be called when the paths of the relation have been made: partitions
 * come before their parent, and all tables before joins.
 */
void
sk_disregard_parent_quals(PlannerInfo *root, RelOptInfo *rel)
{
	bool		found = disregard_added(rel->baserestrictinfo);
	double		rows = rel->rows;
	ListCell   *lc;

	if (rel->part_scheme)
	{
		rel->rows = 0;
		for (int i = 0; i < rel->nparts; i++)
			if (rel->part_rels[i] && !IS_DUMMY_REL(rel->part_rels[i]))
				rel->rows += rel->part_rels[i]->rows;
		rel->rows = found && rel->rows > 0 ? rel->rows : rows;
		rel->tuples = found ? rel->rows : rel->tuples;
		disregard_added_joins(root, rel);
	}
	else if (found && rel->fdwroutine == NULL)
	{
		set_baserel_size_estimates(root, rel);
		foreach(lc, rel->ppilist)
		{
			ParamPathInfo *info = lfirst(lc);

			info->ppi_rows = clamp_row_est(info->ppi_rows * rel->rows / rows);
		}
		scale_paths(rel->pathlist, rel->rows / rows);
		scale_paths(rel->partial_pathlist, rel->rows / rows);
	}
}

/*
 * Find the lists of conditions on the way to a relation, outermost first, as
 * pointers to the fields that hold them.
 */
static bool
find_lists(Node *node, Index relid, List **lists)
{
	FromExpr   *from = (FromExpr *) node;
	List	   *below = NIL;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblRef))
		return ((RangeTblRef *) node)->rtindex == relid;
	if (IsA(node, JoinExpr))
		return find_lists_in_join((JoinExpr *) node, relid, lists);
	if (!IsA(node, FromExpr))
		return false;

	foreach(lc, from->fromlist)
	{
		if (find_lists(lfirst(lc), relid, &below))
		{
			*lists = list_concat(list_make1(&from->quals), below);
			return true;
		}
	}
	return false;
}

/* Sets *lists to NIL where those above must not be used: NULL marks that. */
static bool
find_lists_in_join(JoinExpr *join, Index relid, List **lists)
{
	List	   *below = NIL;

	if (find_lists(join->larg, relid, &below))
	{
		if (join->jointype == JOIN_INNER)
			below = lcons(&join->quals, below);
		else if (join->jointype != JOIN_LEFT && join->jointype != JOIN_SEMI &&
				 join->jointype != JOIN_ANTI)
			below = lcons(NULL, below);
		*lists = below;
		return true;
	}

	if (find_lists(join->rarg, relid, &below))
	{
		if (join->jointype == JOIN_INNER)
			below = lcons(&join->quals, below);
		else if (join->jointype == JOIN_LEFT || join->jointype == JOIN_SEMI ||
				 join->jointype == JOIN_ANTI)
			below = lcons(NULL, lcons(&join->quals, below));
		else
			below = lcons(NULL, below);
		*lists = below;
		return true;
	}
	return false;
}

static void
add_qual(PlannerInfo *root, const SkShardKey *key, List *lists)
{
	Var		  **columns = palloc(list_length(key->call->args) * sizeof(Var *));
	int			count = sk_key_columns(key, columns);
	SkKeyValue *values = palloc0(count * sizeof(SkKeyValue));
	int			depth = list_length(lists);
	Expr	   *condition;
	Node	  **quals;

	/* the last mark, for the way begins anew there */
	for (int i = list_length(lists) - 1; i >= 0; i--)
		if (list_nth(lists, i) == NULL)
		{
			lists = list_copy_tail(lists, i + 1);
			depth = list_length(lists);
			break;
		}
	if (key->attnum != 0 && mentions(lists, columns[0]->varno, key->attnum))
		return;

	for (int i = 0; i < count; i++)
	{
		SkListValue found = find_value(root, lists, columns[i]);

		if (found.value.value == NULL)
			return;
		values[i] = found.value;
		depth = Min(depth, found.depth);
	}
	condition = sk_derive_condition(root, key, values);
	if (condition == NULL)
		return;
	mark_added(condition);
	quals = list_nth(lists, depth);
	*quals = (Node *) lappend((List *) *quals, condition);
}

static SkListValue
find_value(PlannerInfo *root, List *lists, const Var *column)
{
	SkListValue result;

	memset(&result, 0, sizeof(result));
	for (int depth = 0; depth < list_length(lists); depth++)
	{
		Node	  **quals = list_nth(lists, depth);
		ListCell   *lc;

		foreach(lc, (List *) *quals)
		{
			SkKeyValue	value;

			if (result.value.value && !result.value.is_array)
				return result;
			if (sk_match_equality(root, lfirst(lc), column, &value) &&
				(result.value.value == NULL || !value.is_array))
			{
				result.value = value;
				result.value.security_level = 0;
				result.depth = depth;
			}
		}
	}
	return result;
}

/* Does the query itself restrict the shard? */
static bool
mentions(List *lists, Index relid, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, lists)
	{
		Node	  **quals = lfirst(lc);
		Bitmapset  *attnums = NULL;

		pull_varattnos(*quals, relid, &attnums);
		if (bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber,
						  attnums))
			return true;
	}
	return false;
}

static void
mark_added(Expr *condition)
{
	if (IsA(condition, OpExpr))
		((OpExpr *) condition)->location = SK_ADDED_LOCATION;
	else if (IsA(condition, ScalarArrayOpExpr))
		((ScalarArrayOpExpr *) condition)->location = SK_ADDED_LOCATION;
}

/* Returns whether there is one among some RestrictInfos. */
static bool
disregard_added(List *clauses)
{
	bool		found = false;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Expr	   *clause = rinfo->clause;

		if ((IsA(clause, OpExpr) &&
			 ((OpExpr *) clause)->location == SK_ADDED_LOCATION) ||
			(IsA(clause, ScalarArrayOpExpr) &&
			 ((ScalarArrayOpExpr *) clause)->location == SK_ADDED_LOCATION))
		{
			rinfo->norm_selec = SK_REDUNDANT_SELECTIVITY;
			rinfo->outer_selec = SK_REDUNDANT_SELECTIVITY;
			found = true;
		}
	}
	return found;
}

/*
 * The same for join clauses.  Those of an equivalence class are made when they
 * are wanted, and kept; so they are made now.
 */
static void
disregard_added_joins(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;

	(void) disregard_added(rel->joininfo);
	if (!rel->has_eclass_joins)
		return;
	foreach(lc, root->eq_classes)
	{
		EquivalenceClass *ec = lfirst(lc);

		if (!ec->ec_has_const && bms_is_subset(rel->relids, ec->ec_relids) &&
			disregard_added(ec->ec_sources))
		{
			Relids		others = bms_difference(ec->ec_relids, rel->relids);

			disregard_class(root, rel, ec, others);
		}
	}
}

/* All join clauses of the class say the same as the one that was added. */
static void
disregard_class(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
				Relids others)
{
	List	   *classes = list_make1(ec);
	int			other = -1;
	ListCell   *lc;

	while ((other = bms_next_member(others, other)) >= 0)
	{
		Relids		relids = bms_make_singleton(other);
		Relids		joined = bms_union(relids, rel->relids);
		List	   *clauses;

		if (root->simple_rel_array[other] == NULL)
			continue;
		clauses = generate_join_implied_equalities_for_ecs(root, classes,
														   joined, relids, rel);
		clauses = list_concat(clauses,
							  generate_join_implied_equalities_for_ecs(root, classes,
																	   joined,
																	   rel->relids,
																	   root->simple_rel_array[other]));
		foreach(lc, clauses)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

			rinfo->norm_selec = SK_REDUNDANT_SELECTIVITY;
			rinfo->outer_selec = SK_REDUNDANT_SELECTIVITY;
		}
	}
}

static void
scale_paths(List *paths, double factor)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		path->rows = clamp_row_est(path->rows * factor);
	}
}
