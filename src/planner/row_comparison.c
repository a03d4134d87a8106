/*-------------------------------------------------------------------------
 *
 * row_comparison.c
 *	  What must not be an index condition beside one on the shard.
 *
 * A B-tree of release 17 can forget a condition, such as "a = 1" in
 *
 *		shard = 3 AND (a, b) < (5, 6) AND a = 1
 *
 * When it goes on to a page, it checks the last row there.  If that is not past
 * the end, it takes the conditions that bound the scan for granted on the whole
 * page.  A row comparison that is NULL, as (5, NULL) < (5, 6) is, ends that
 * check before it comes to the next condition on the same column.  This happens
 * only with a condition on every column before.  A query may lack the one on
 * the shard; we add it.  Nothing is lost if the row comparison is left to the
 * filter.
 *
 * The same shortcut takes "a > 5" for granted on a page whose last row has a
 * NULL there, where NULLs come before the range.  A scan comes to such a page
 * only if an array of shards makes it go on from one shard to the next.  So
 * beside an array, ranges over columns that can be NULL are left to the filter.
 *
 * src/planner/row_comparison.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/row_comparison.h"

static bool shares_column(const RelOptInfo *rel, const RestrictInfo *rinfo,
						  List *clauses);
static bool contains_row_comparison(Node *node, void *context);
static bool null_range_walker(Node *node, void *context);
static Bitmapset *first_columns(const RowCompareExpr *comparison, Index relid);

/*
 * sk_index_restrictions
 *		The restrictions of a relation, wrapped where an index must not get them.
 *
 * "clauses" are all that may become index conditions, except those of joins.
 * The wrapping is an AND with one arm: it is no index condition, and still
 * tells which columns are needed.  "with_array" says that the condition on the
 * shard is an array.
 */
List *
sk_index_restrictions(RelOptInfo *rel, List *clauses, bool with_array)
{
	List	   *result = NIL;
	ListCell   *lc;

	if (!SK_BTREE_LOSES_CONDITIONS)
		return clauses;
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (shares_column(rel, rinfo, clauses) ||
			(with_array && sk_has_nullable_range(rel, (Node *) rinfo)))
		{
			RestrictInfo *wrapped = makeNode(RestrictInfo);

			*wrapped = *rinfo;
			wrapped->clause = make_andclause(list_make1(rinfo->clause));
			rinfo = wrapped;
		}
		result = lappend(result, rinfo);
	}
	return result;
}

/*
 * sk_has_row_comparison
 *		Is there a row comparison in an expression, on a release that must avoid it?
 */
bool
sk_has_row_comparison(Node *node)
{
	return SK_BTREE_LOSES_CONDITIONS && contains_row_comparison(node, NULL);
}

/*
 * sk_has_array
 *		Is one of the conditions an array of values?
 */
bool
sk_has_array(List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (IsA(lfirst_node(RestrictInfo, lc)->clause, ScalarArrayOpExpr))
			return true;
	}
	return false;
}

/*
 * sk_has_nullable_range
 *		Can a B-tree take a NULL for a value within a range of an expression?
 */
bool
sk_has_nullable_range(RelOptInfo *rel, Node *node)
{
	return SK_BTREE_LOSES_CONDITIONS && null_range_walker(node, rel);
}

static bool
null_range_walker(Node *node, void *context)
{
	RelOptInfo *rel = context;

	if (node == NULL)
		return false;
	if (IsA(node, RestrictInfo))
		node = (Node *) ((RestrictInfo *) node)->clause;
	if (IsA(node, RowCompareExpr) || IsA(node, NullTest) || IsA(node, FuncExpr) ||
		(IsA(node, OpExpr) &&
		 !op_mergejoinable(((OpExpr *) node)->opno,
						   exprType(linitial(((OpExpr *) node)->args)))))
	{
		Bitmapset  *columns = NULL;
		int			column = -1;

		pull_varattnos(node, rel->relid, &columns);
		while ((column = bms_next_member(columns, column)) >= 0)
		{
			if (sk_null_is_in_range(rel, column + FirstLowInvalidHeapAttributeNumber))
				return true;
		}
	}
	return expression_tree_walker(node, null_range_walker, context);
}

/* Is it a row comparison on a column that another condition may use as well? */
static bool
shares_column(const RelOptInfo *rel, const RestrictInfo *rinfo, List *clauses)
{
	Bitmapset  *columns;
	ListCell   *lc;

	if (!IsA(rinfo->clause, RowCompareExpr))
		return false;
	if (rel->joininfo != NIL || rel->has_eclass_joins)
		return true;
	columns = first_columns((RowCompareExpr *) rinfo->clause, rel->relid);
	foreach(lc, clauses)
	{
		RestrictInfo *other = lfirst_node(RestrictInfo, lc);
		Bitmapset  *others = NULL;

		pull_varattnos((Node *) other->clause, rel->relid, &others);
		if (other != rinfo && bms_overlap(columns, others))
			return true;
	}
	return false;
}

static bool
contains_row_comparison(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RowCompareExpr))
		return true;
	if (IsA(node, RestrictInfo))
		node = (Node *) ((RestrictInfo *) node)->clause;
	return IsA(node, RowCompareExpr) ||
		expression_tree_walker(node, contains_row_comparison, context);
}

/* Either side can be the one that is matched to an index. */
static Bitmapset *
first_columns(const RowCompareExpr *comparison, Index relid)
{
	Bitmapset  *result = NULL;

	pull_varattnos(linitial(comparison->largs), relid, &result);
	pull_varattnos(linitial(comparison->rargs), relid, &result);
	return result;
}
