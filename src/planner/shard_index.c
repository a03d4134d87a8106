/*-------------------------------------------------------------------------
 *
 * shard_index.c
 *	  What an index gives of one shard: orders, and conditions.
 *
 * The server learns from the conditions of the query which columns are
 * constant.  It does not know that of a derived shard, so it does not see that
 * the columns after the shard give the order.
 *
 * src/planner/shard_index.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "compat.h"
#include "planner/shard_clause.h"
#include "planner/shard_index.h"

static IndexOptInfo index_in_shard(const IndexOptInfo *index, int position);
static bool read_order(PlannerInfo *root, RelOptInfo *rel,
					   IndexOptInfo *suffix, SkOrder *order);
static int	count_columns(PlannerInfo *root, IndexOptInfo *suffix,
						  ScanDirection direction, int pathkeys);
static bool leads_groups(PlannerInfo *root, RelOptInfo *rel,
						 IndexOptInfo *suffix, SkOrder *order);
static bool can_be_null(PlannerInfo *root, RelOptInfo *rel, AttrNumber attnum);

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
 * sk_is_filtered_part
 *		May a scan of a partition in order drop many rows under a LIMIT?
 *
 * Then one shard is merged, too, for a merge falls back in time.
 */
bool
sk_is_filtered_part(RelOptInfo *rel)
{
	return rel->reloptkind == RELOPT_OTHER_MEMBER_REL && rel->consider_startup &&
		rel->baserestrictinfo != NIL;
}

/*
 * sk_orders_in_shard
 *		The useful orders that the rows of one shard have in an index.
 *
 * The columns before the shard, of which there are "position", count as fixed.
 * If "groups", those are meant by which the first row of each group of DISTINCT
 * is found.  Returns how many orders there are: none, forward, backward or both.
 */
int
sk_orders_in_shard(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index,
				   int position, bool groups, SkOrder *orders)
{
	static const ScanDirection directions[] = {
		ForwardScanDirection, BackwardScanDirection
	};
	IndexOptInfo suffix;
	int			count = 0;

	Assert(position >= 0 && position < index->nkeycolumns);
	if (index->sortopfamily == NULL || index->nkeycolumns <= position + 1)
		return 0;
	suffix = index_in_shard(index, position);
	for (int i = 0; i < lengthof(directions); i++)
	{
		orders[count].direction = directions[i];
		if (groups ? leads_groups(root, rel, &suffix, &orders[count]) :
			read_order(root, rel, &suffix, &orders[count]))
			count++;
	}
	return count;
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
	/* nobody asks for the order of this path */
	only->sortopfamily = NULL;
	only->indrestrictinfo =
		lcons(shard, list_copy(sk_index_restrictions(rel, rel->baserestrictinfo, false)));
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

/* An index as it is for one shard: with the columns after it only. */
static IndexOptInfo
index_in_shard(const IndexOptInfo *index, int position)
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
	List	   *pathkeys = build_index_pathkeys(root, suffix, order->direction);

	order->pathkeys = truncate_useless_pathkeys(root, rel, pathkeys);
	if (order->pathkeys == NIL)
		return false;
	order->column_count = count_columns(root, suffix, order->direction,
										list_length(order->pathkeys));
	return true;
}

/* How many columns of an index make so many pathkeys?  Each makes one at most. */
static int
count_columns(PlannerInfo *root, IndexOptInfo *suffix, ScanDirection direction,
			  int pathkeys)
{
	int			columns = suffix->nkeycolumns;
	int			result;

	for (suffix->nkeycolumns = pathkeys; suffix->nkeycolumns < columns;
		 suffix->nkeycolumns++)
		if (list_length(build_index_pathkeys(root, suffix, direction)) >= pathkeys)
			break;
	result = suffix->nkeycolumns;
	suffix->nkeycolumns = columns;
	Assert(result >= 1 && result <= columns);
	return result;
}

/*
 * Are the rows of one shard ordered by the column of DISTINCT, and within it as
 * the query wants?  That column is never NULL.  The query fixes those between it
 * and the shard.
 */
static bool
leads_groups(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *suffix,
			 SkOrder *order)
{
	List	   *pathkeys = build_index_pathkeys(root, suffix, order->direction);
	EquivalenceClass *group =
		linitial_node(PathKey, root->distinct_pathkeys)->pk_eclass;
	AttrNumber	attnum;

	if (pathkeys == NIL ||
		linitial_node(PathKey, pathkeys)->pk_eclass != group ||
		list_length(pathkeys) < list_length(root->sort_pathkeys))
		return false;
	for (int i = 1; i < list_length(root->sort_pathkeys); i++)
		if (list_nth(pathkeys, i) != list_nth(root->sort_pathkeys, i))
			return false;

	order->group = count_columns(root, suffix, order->direction, 1) - 1;
	order->column_count = count_columns(root, suffix, order->direction,
										Max(list_length(root->sort_pathkeys), 1));
	attnum = suffix->indexkeys[order->group];
	return attnum > 0 && suffix->opcintype[order->group] != NAMEOID &&
		!can_be_null(root, rel, attnum);
}

static bool
can_be_null(PlannerInfo *root, RelOptInfo *rel, AttrNumber attnum)
{
	Relation	relation;
	bool		result;

	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	result = !sk_never_null(RelationGetDescr(relation), attnum);
	table_close(relation, NoLock);
	return result;
}
