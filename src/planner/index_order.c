/*-------------------------------------------------------------------------
 *
 * index_order.c
 *	  The order of the rows of one shard in an index.
 *
 * The server learns from the conditions of the query which columns are
 * constant.  It does not know that of a derived shard, so it does not see that
 * the columns behind the shard give the order.
 *
 * src/planner/index_order.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"

#include "planner/derive.h"
#include "planner/index_order.h"
#include "planner/row_comparison.h"

static bool read_order(PlannerInfo *root, RelOptInfo *rel,
					   IndexOptInfo *suffix, SkOrder *order);
static bool uses_array(IndexClause *clause);

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
 *		An index as it is for one shard: with the columns behind it only.
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
				(clause->indexcol != position && !uses_array(clause)))
				result = lappend(result, clause);
			has_shard |= clause->rinfo == shard;
			if (clause->indexcol == fixed && fixed < position &&
				sk_fixes_column(index, clause) && !uses_array(clause))
				fixed++;
		}
		*index_only = path->path.pathtype == T_IndexOnlyScan;
		return has_shard && fixed == position ? result : NIL;
	}
	return NIL;
}

/*
 * sk_add_ordered_paths
 *		Add index scans of one shard that give a useful order.
 *
 * "shard" is the derived condition that fixes the shard.
 */
void
sk_add_ordered_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
					 RestrictInfo *shard)
{
	ListCell   *lc;

	if (!has_useful_pathkeys(root, rel) || rel->lateral_relids != NULL)
		return;
	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);
		SkOrder		orders[2];
		int			position = sk_shard_position(key, index);
		int			count = sk_orders_in_shard(root, rel, index, position,
											   orders);
		bool		index_only;
		List	   *clauses;

		if (count == 0)
			continue;
		clauses = sk_index_clauses(root, rel, index, position, shard,
								   &index_only);
		for (int i = 0; i < count && clauses != NIL; i++)
			add_path(rel, (Path *)
					 create_index_path(root, index, clauses, NIL, NIL,
									   orders[i].pathkeys, orders[i].direction,
									   index_only, NULL, 1.0, false));
	}
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

static bool
uses_array(IndexClause *clause)
{
	ListCell   *lc;

	foreach(lc, clause->indexquals)
	{
		if (IsA(lfirst_node(RestrictInfo, lc)->clause, ScalarArrayOpExpr))
			return true;
	}
	return false;
}
