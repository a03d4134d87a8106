/*-------------------------------------------------------------------------
 *
 * shard_index.c
 *	  What an index gives of one shard: an order, and conditions.
 *
 * The server learns from the conditions of the query which columns are
 * constant.  It does not know that of a derived shard, so it does not see that
 * the columns after the shard give the order.
 *
 * Some conditions must not be index conditions beside one on the shard.  A
 * B-tree of release 17 can forget a condition, such as "a = 1" in
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
 * src/planner/shard_index.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/shard_clause.h"
#include "planner/shard_index.h"

static bool read_order(PlannerInfo *root, RelOptInfo *rel,
					   IndexOptInfo *suffix, SkOrder *order);
static bool null_range_walker(Node *node, void *context);
static bool shares_column(const RelOptInfo *rel, const RestrictInfo *rinfo,
						  List *clauses);
static bool contains_row_comparison(Node *node, void *context);
static Bitmapset *first_columns(const RowCompareExpr *comparison, Index relid);

/*
 * sk_one_shard
 *		The clause of a list that leaves one shard, or NULL.
 */
RestrictInfo *
sk_one_shard(const SkShardKey *key, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (IsA(rinfo->clause, OpExpr) &&
			sk_has_shard_condition(key, list_make1(rinfo)))
			return rinfo;
	}
	return NULL;
}

/*
 * sk_orders_in_shard
 *		The useful orders that the rows of one shard have in an index.
 *
 * The columns before the shard, of which there are "position", count as fixed.
 * Returns how many orders there are: none, forward, backward or both.
 */
int
sk_orders_in_shard(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index,
				   int position, SkOrder *orders)
{
	IndexOptInfo suffix;
	int			count = 0;

	Assert(position >= 0 && position < index->nkeycolumns);
	if (index->sortopfamily == NULL || index->nkeycolumns <= position + 1)
		return 0;
	suffix = sk_index_in_shard(index, position);
	orders[count].direction = ForwardScanDirection;
	if (read_order(root, rel, &suffix, &orders[count]))
		count++;
	orders[count].direction = BackwardScanDirection;
	if (read_order(root, rel, &suffix, &orders[count]))
		count++;
	return count;
}

/*
 * sk_index_in_shard
 *		An index as it is for one shard: with the columns after it only.
 */
IndexOptInfo
sk_index_in_shard(const IndexOptInfo *index, int position)
{
	IndexOptInfo suffix = *index;
	int			skipped = position + 1;
	int			expressions = 0;

	for (int i = 0; i < skipped; i++)
		if (index->indexkeys[i] == 0)
			expressions++;
	suffix.nkeycolumns -= skipped;
	suffix.ncolumns -= skipped;
	suffix.indexkeys += skipped;
	suffix.indexcollations += skipped;
	suffix.opfamily += skipped;
	suffix.opcintype += skipped;
	suffix.sortopfamily += skipped;
	suffix.reverse_sort += skipped;
	suffix.nulls_first += skipped;
	suffix.indextlist = list_copy_tail(index->indextlist, skipped);
	suffix.indexprs = list_copy_tail(index->indexprs, expressions);
	return suffix;
}

/*
 * sk_index_clauses
 *		The clauses that the server finds for an index if the shard is fixed.
 *
 * "shard" is the condition that fixes it.  Arrays are left to the filter, for
 * they need not keep the order; so are other conditions on the shard.  NIL if
 * the index cannot be scanned, or not all columns before the shard are fixed.
 */
List *
sk_index_clauses(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index,
				 int position, RestrictInfo *shard, bool *index_only)
{
	RelOptInfo *scratch = makeNode(RelOptInfo);
	IndexOptInfo *only = makeNode(IndexOptInfo);
	List	   *result = NIL;
	bool		has_shard = false;
	int			fixed = 0;
	ListCell   *lc;

	Assert(position >= 0 && position < index->nkeycolumns);
	*scratch = *rel;
	*only = *index;
	only->rel = scratch;
	only->indrestrictinfo =
		lcons(shard, list_copy(sk_index_restrictions(rel, index->indrestrictinfo, false)));
	scratch->indexlist = list_make1(only);
	scratch->baserestrictinfo = NIL;
	scratch->joininfo = NIL;
	scratch->has_eclass_joins = false;
	scratch->pathlist = NIL;
	scratch->partial_pathlist = NIL;
	scratch->consider_parallel = false;
	/* a path for a bitmap must not drive it out */
	scratch->consider_startup = true;
	create_index_paths(root, scratch);

	foreach(lc, scratch->pathlist)
	{
		IndexPath  *path = lfirst(lc);
		ListCell   *lc2;

		if (!IsA(path, IndexPath))
			continue;
		foreach(lc2, path->indexclauses)
		{
			IndexClause *clause = lfirst_node(IndexClause, lc2);

			if (clause->rinfo == shard ||
				(clause->indexcol != position && !sk_has_array(clause->indexquals)))
				result = lappend(result, clause);
			has_shard |= clause->rinfo == shard;
			if (clause->indexcol == fixed && fixed < position &&
				sk_fixes_column(index, clause) &&
				!sk_has_array(clause->indexquals))
				fixed++;
		}
		if (index_only)
			*index_only = path->path.pathtype == T_IndexOnlyScan;
		return has_shard && fixed == position ? result : NIL;
	}
	return NIL;
}

/*
 * sk_fixes_column
 *		Does a clause say that its column is equal to a value, or to one of a list?
 */
bool
sk_fixes_column(const IndexOptInfo *index, const IndexClause *clause)
{
	ListCell   *lc;

	Assert(clause->indexcol < index->nkeycolumns);
	foreach(lc, clause->indexquals)
	{
		Expr	   *qual = lfirst_node(RestrictInfo, lc)->clause;
		Oid			operator = InvalidOid;

		if (IsA(qual, OpExpr))
			operator = ((OpExpr *) qual)->opno;
		else if (IsA(qual, ScalarArrayOpExpr))
			operator = ((ScalarArrayOpExpr *) qual)->opno;
		if (OidIsValid(operator) &&
			get_op_opfamily_strategy(operator, index->opfamily[clause->indexcol]) ==
			BTEqualStrategyNumber)
			return true;
	}
	return false;
}

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

/* A column that is redundant for the query counts, for the rows are ordered by it. */
static bool
read_order(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *suffix,
		   SkOrder *order)
{
	int			columns = suffix->nkeycolumns;
	List	   *pathkeys = build_index_pathkeys(root, suffix, order->direction);

	order->pathkeys = truncate_useless_pathkeys(root, rel, pathkeys);
	if (order->pathkeys == NIL)
		return false;
	for (suffix->nkeycolumns = 1; suffix->nkeycolumns < columns;
		 suffix->nkeycolumns++)
		if (list_length(build_index_pathkeys(root, suffix, order->direction)) >=
			list_length(order->pathkeys))
			break;
	order->column_count = suffix->nkeycolumns;
	suffix->nkeycolumns = columns;
	Assert(order->column_count >= 1 && order->column_count <= columns);
	return true;
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
