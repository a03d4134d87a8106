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
 * src/planner/parent_quals.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "planner/derive.h"
#include "planner/parent_quals.h"
#include "planner/row_comparison.h"
#include "planner/shard_key.h"

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
