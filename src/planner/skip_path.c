/*-------------------------------------------------------------------------
 *
 * skip_path.c
 *	  Paths for the first row of each group: DISTINCT ON (sensor) ... ORDER BY
 *	  sensor, at DESC.
 *
 * In an index (shard, sensor, at) the rows that can be first are few: in each
 * shard, the first or the last of each sensor.  The path finds them by going
 * from one sensor to the next, and gives no others, in no order.  A sort is put
 * above, and the server takes the first of each sensor.
 *
 * So the path gives fewer rows than the table has.  It is made only where
 * nothing else sees them: the query is the scan of one table, DISTINCT, and
 * what comes behind it.
 *
 * src/planner/skip_path.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "catalog/pg_type.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "planner/index_order.h"
#include "planner/merge_path.h"
#include "planner/merge_scan.h"
#include "planner/planner.h"

/* So many times more groups than the statistics say are reckoned with. */
#define SK_GROUP_RISK 4.0

static bool is_distinct_of(PlannerInfo *root, RelOptInfo *rel);
static bool leads_groups(PlannerInfo *root, IndexOptInfo *index, int position,
						 ScanDirection direction, int *column);
static bool can_be_null(PlannerInfo *root, RelOptInfo *rel, AttrNumber attnum);
static double count_groups(PlannerInfo *root, Expr *column);
static void add_skip_path(PlannerInfo *root, RelOptInfo *rel,
						  const SkShardKey *key, IndexOptInfo *index,
						  List *filter, List *clauses,
						  ScanDirection direction, int column);
static void cost_skip(PlannerInfo *root, CustomPath *path, double streams,
					  double groups);

/*
 * sk_add_skip_paths
 *		Add the paths that give the first row of each group and shard.
 *
 * "derived" is what has been derived for the shard; it narrows the shards.
 */
void
sk_add_skip_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				  List *derived)
{
	List	   *filter;
	ListCell   *lc;

	if (!is_distinct_of(root, rel) || !sk_can_merge(root, rel, key))
		return;
	filter = sk_shard_filter(rel, key, derived);
	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);
		int			position = sk_shard_position(key, index);
		static const ScanDirection directions[] = {
			ForwardScanDirection, BackwardScanDirection
		};

		for (int i = 0; i < lengthof(directions); i++)
		{
			int			column;
			bool		index_only;
			List	   *clauses;

			if (!leads_groups(root, index, position, directions[i], &column) ||
				can_be_null(root, rel, index->indexkeys[position + 1 + column]))
				continue;
			clauses = sk_index_clauses(root, rel, index, position,
									   sk_shard_zero(root, key), &index_only);
			if (clauses != NIL)
				add_skip_path(root, rel, key, index, filter, clauses,
							  directions[i], column);
		}
	}
}

/* Do all rows of a relation go to a DISTINCT of one column, and nowhere else? */
static bool
is_distinct_of(PlannerInfo *root, RelOptInfo *rel)
{
	Query	   *query = root->parse;

	return query->distinctClause != NIL && query->commandType == CMD_SELECT &&
		list_length(root->distinct_pathkeys) == 1 &&
		(root->sort_pathkeys == NIL ||
		 linitial(root->sort_pathkeys) == linitial(root->distinct_pathkeys) ||
		 linitial_node(PathKey, root->sort_pathkeys)->pk_eclass ==
		 linitial_node(PathKey, root->distinct_pathkeys)->pk_eclass) &&
		query->groupClause == NIL && query->groupingSets == NIL &&
		!query->hasAggs && !query->hasWindowFuncs && !query->hasTargetSRFs &&
		query->havingQual == NULL && query->setOperations == NULL &&
		query->rowMarks == NIL && root->join_info_list == NIL &&
		rel->reloptkind == RELOPT_BASEREL && rel->lateral_relids == NULL &&
		bms_equal(root->all_baserels, rel->relids) &&
		!contain_volatile_functions((Node *) query->targetList);
}

/*
 * Are the rows of one shard ordered by the column of DISTINCT, in either
 * direction, and within it as the query wants?  Sets the place of the column
 * behind the shard; those before it are fixed.
 */
static bool
leads_groups(PlannerInfo *root, IndexOptInfo *index, int position,
			 ScanDirection direction, int *column)
{
	IndexOptInfo suffix;
	List	   *pathkeys;
	EquivalenceClass *group =
		linitial_node(PathKey, root->distinct_pathkeys)->pk_eclass;
	int			columns;

	if (index->sortopfamily == NULL || index->nkeycolumns <= position + 1)
		return false;
	suffix = sk_index_in_shard(index, position);
	pathkeys = build_index_pathkeys(root, &suffix, direction);
	if (pathkeys == NIL ||
		linitial_node(PathKey, pathkeys)->pk_eclass != group ||
		list_length(pathkeys) < list_length(root->sort_pathkeys))
		return false;
	for (int i = 1; i < list_length(root->sort_pathkeys); i++)
		if (list_nth(pathkeys, i) != list_nth(root->sort_pathkeys, i))
			return false;

	columns = suffix.nkeycolumns;
	for (suffix.nkeycolumns = 1; suffix.nkeycolumns < columns;
		 suffix.nkeycolumns++)
		if (build_index_pathkeys(root, &suffix, direction) != NIL)
			break;
	*column = suffix.nkeycolumns - 1;
	return suffix.indexkeys[*column] > 0 &&
		suffix.opcintype[*column] != NAMEOID;
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

/* How many values a column has; 0 if the statistics do not say. */
static double
count_groups(PlannerInfo *root, Expr *column)
{
	VariableStatData variable;
	bool		is_default;
	double		result;

	examine_variable(root, (Node *) column, 0, &variable);
	result = get_variable_numdistinct(&variable, &is_default);
	ReleaseVariableStats(variable);
	return is_default ? 0 : result;
}

static void
add_skip_path(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
			  IndexOptInfo *index, List *filter, List *clauses,
			  ScanDirection direction, int column)
{
	SkOrder		order = {direction, NIL, column + 1};
	int			position = sk_shard_position(key, index);
	double		streams;
	CustomPath *path = sk_make_merge_path(root, rel, key, index, filter,
										  clauses, &order, &streams);
	double		groups = count_groups(root,
									  list_nth_node(TargetEntry, index->indextlist,
													position + 1 + column)->expr);

	if (groups <= 0)
		return;
	lfirst(list_nth_cell(path->custom_private, SK_MERGE_SKIPS)) =
		makeInteger(column);
	cost_skip(root, path, streams, groups);
	elog(DEBUG2, "skip of %.0f groups in %.0f shards: cost %.2f..%.2f",
		 groups, streams, path->path.startup_cost, path->path.total_cost);
	/* the server tries an unsorted path only if it is the cheapest one */
	order.pathkeys = list_length(root->sort_pathkeys) > 1 ?
		root->sort_pathkeys : root->distinct_pathkeys;
	add_path(rel, (Path *) create_sort_path(root, rel, &path->path,
											order.pathkeys, -1.0));
}

/*
 * Each row is found by a descent, and is on pages of its own.  Where a filter is
 * left, the scan may have to read on in vain: it is taken to read as much of all
 * as the filter takes away.
 */
static void
cost_skip(PlannerInfo *root, CustomPath *path, double streams, double groups)
{
	IndexPath  *template = linitial_node(IndexPath, path->custom_paths);
	RelOptInfo *rel = path->path.parent;
	double		tuples = clamp_row_est(template->indexselectivity * rel->tuples);
	double		rows = streams * Min(SK_GROUP_RISK * groups, tuples);
	double		passing = Min(rel->rows / (streams * tuples), 1.0);
	double		pages;

	pages = index_pages_fetched(rows, rel->pages, template->indexinfo->pages, root) +
		Min(rows, template->indexinfo->pages);
	path->path.rows = clamp_row_est(Min(streams * groups, rel->rows));
	path->path.startup_cost = template->path.startup_cost;
	path->path.total_cost = path->path.startup_cost +
		rows * (template->path.startup_cost + cpu_tuple_cost +
				SK_SKIP_STEPS * cpu_index_tuple_cost) +
		pages * random_page_cost +
		(1.0 - passing) * streams * template->path.total_cost;
	path->path.total_cost += (rows + streams) * rel->baserestrictcost.per_tuple;
	sk_copy_disabled_nodes(&path->path, &template->path);
}
