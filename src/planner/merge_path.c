/*-------------------------------------------------------------------------
 *
 * merge_path.c
 *	  Paths that scan an index shard by shard: in order, or for the first rows
 *	  of groups.
 *
 * The scan of one shard is planned as an ordinary index scan, the template,
 * with the condition "shard = 0" in front.
 *
 * A path that skips returns fewer rows than the table has.  It is made only where
 * nothing else sees them: the query is the scan of one table, DISTINCT, and what
 * comes after it.
 *
 * src/planner/merge_path.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "planner/planner.h"
#include "planner/shard_clause.h"
#include "planner/shard_index.h"
#include "spanner_keys.h"

/* How many rows of a shard are looked for at first. */
#define SK_MIN_DEPTH 4
#define SK_MAX_DEPTH 1000.0

/* Comparing rows of different shards costs more than sorting them in place. */
#define SK_MERGE_COST_FACTOR 3.0

/* With so many streams a comparison is twice as dear: they leave the cache. */
#define SK_MANY_STREAMS 2048.0

/* By how much many streams are dearer than a sort of rows that are stored in order. */
#define SK_PRESORTED 0.4
#define SK_PRESORTED_STREAMS 256.0

/* A partition with so few rows in a shard is sorted. */
#define SK_FEW_ROWS 2.0

/*
 * What a merge may cost before it falls back, as a share of the scan.  If it is
 * expected to cost more than the second, it is not made.
 */
#define SK_BUDGET 0.1
#define SK_MAX_BUDGET 0.3

/* So many shards for each wanted row, and most have none. */
#define SK_SHARDS_FOR_ROW 4.0

/* What it costs to find the page of each row anew, in cpu_tuple_cost. */
#define SK_SCATTERED_ROW_COST 20.0

/* So many times more groups than the statistics say are reckoned with. */
#define SK_GROUP_RISK 2.0

/*
 * A skip that has fetched this share of all rows falls back.  To fetch a row by
 * an index costs twice what it costs to scan and sort one.
 */
#define SK_SKIP_BUDGET 0.2

/* A path that merges or skips, and what its plan is made of. */
typedef struct SkMergePath
{
	CustomPath	custom;			/* its child is the template */
	IndexPath  *template;
	double		tuples;			/* that the template reads of a shard */
	double		streams;		/* shards that are likely scanned */
	SkMergePlan plan;
	List	   *columns;		/* of the index that the order consists of */
	List	   *filter;			/* conditions on the shard alone */
	bool		filtered;		/* are there others, that the index does not
								 * enforce? */
	double		wanted;			/* rows of all shards, or 0 */
} SkMergePath;

static bool can_gain_by_merge(RelOptInfo *rel, const SkShardKey *key,
							  List *derived);
static bool is_wanted_order(PlannerInfo *root, RelOptInfo *rel,
							SkOrder *order);
static void make_merge_paths(PlannerInfo *root, RelOptInfo *rel,
							 const SkShardKey *key, List *derived);
static Plan *plan_merge(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
						List *tlist, List *clauses, List *custom_plans);
static void adapt_sort(Plan *sort, const List *filter);
static List *filter_clauses(List *clauses, const SkMergePath *path);
static bool can_merge(PlannerInfo *root, RelOptInfo *rel,
					  const SkShardKey *key);
static List *find_shard_filter(RelOptInfo *rel, const SkShardKey *key,
							   List *derived);
static bool is_on_shard_only(RelOptInfo *rel, const SkShardKey *key,
							 RestrictInfo *rinfo);
static bool may_fail(Node *node, void *context);
static bool is_leaky(Oid function, void *context);
static void add_merge_path(PlannerInfo *root, RelOptInfo *rel,
						   const SkShardKey *key, IndexOptInfo *index,
						   List *filter, List *clauses, const SkOrder *order);
static bool loses_to_sort(PlannerInfo *root, RelOptInfo *rel,
						  const Path *path);
static Cost wanted_cost(PlannerInfo *root, RelOptInfo *rel, const Path *path);
static double joined_rows(PlannerInfo *root, RelOptInfo *rel,
						  RelOptInfo *other);
static bool leads_join(PlannerInfo *root, const Path *path);
static bool is_no_better(const Path *path, const Path *other);
static SkMergePath *make_merge_path(PlannerInfo *root, RelOptInfo *rel,
									const SkShardKey *key,
									IndexOptInfo *index, List *filter,
									List *clauses, const SkOrder *order);
static int	likely_depth(PlannerInfo *root, const SkMergePath *path);
static double read_rows(const SkMergePath *path);
static double wanted_rows(PlannerInfo *root, const SkMergePath *path);
static RestrictInfo *shard_is_zero(PlannerInfo *root, const SkShardKey *key);
static void cost_merge(PlannerInfo *root, SkMergePath *merge);
static bool set_budget(PlannerInfo *root, SkMergePath *merge);
static SortPath *make_fallback(PlannerInfo *root, SkMergePath *merge);
static Path *copy_cheapest_scan(const RelOptInfo *rel);
static double order_correlation(PlannerInfo *root, Expr *column);
static bool is_distinct_of(PlannerInfo *root, RelOptInfo *rel);
static double count_groups(PlannerInfo *root, Expr *column);
static void add_skip_path(PlannerInfo *root, RelOptInfo *rel,
						  const SkShardKey *key, IndexOptInfo *index,
						  List *filter, List *clauses, const SkOrder *order);
static void cost_skip(PlannerInfo *root, SkMergePath *skip, double groups);

static const CustomPathMethods merge_path_methods = {
	.CustomName = SK_MERGE_NAME,
	.PlanCustomPath = plan_merge
};

void
sk_merge_path_init(void)
{
	sk_merge_paths_hook = make_merge_paths;
}

/*
 * Add the paths that give the rows of a table in the order that the columns
 * after the shard have in an index, or the first of each group.  What has been
 * derived for the shard narrows the shards.
 */
static void
make_merge_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				 List *derived)
{
	bool		merges = can_gain_by_merge(rel, key, derived);
	bool		skips = is_distinct_of(root, rel);
	List	   *filter;
	ListCell   *lc;

	if ((!merges && !skips) || !can_merge(root, rel, key))
		return;
	filter = find_shard_filter(rel, key, derived);
	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);
		SkOrder		orders[2];
		SkOrder		groups[2];
		int			position = sk_shard_position(key, index);
		int			order_count = merges ?
			sk_orders_in_shard(root, rel, index, position, false, orders) : 0;
		int			group_count = skips ?
			sk_orders_in_shard(root, rel, index, position, true, groups) : 0;
		List	   *clauses = NIL;

		if (order_count + group_count > 0)
			clauses = sk_index_clauses(root, rel, index, position,
									   shard_is_zero(root, key), NULL);
		if (clauses == NIL)
			continue;
		for (int i = 0; i < order_count; i++)
			if (is_wanted_order(root, rel, &orders[i]))
				add_merge_path(root, rel, key, index, filter, clauses, &orders[i]);
		for (int i = 0; i < group_count; i++)
			add_skip_path(root, rel, key, index, filter, clauses, &groups[i]);
	}
}

/* Are there more than one shard and more than few rows? */
static bool
can_gain_by_merge(RelOptInfo *rel, const SkShardKey *key, List *derived)
{
	/* to look into each shard costs more than a small partition gains */
	return (!sk_one_shard(key, derived) || sk_is_filtered_part(rel)) &&
		!sk_one_shard(key, rel->baserestrictinfo) &&
		!(rel->reloptkind == RELOPT_OTHER_MEMBER_REL &&
		  rel->tuples <= SK_FEW_ROWS * key->shards);
}

/*
 * Each order that a table of a join has makes planning longer.  Where few rows
 * are wanted, the order of the query is enough: rows of the others are looked
 * up, and not merged in another order.
 */
static bool
is_wanted_order(PlannerInfo *root, RelOptInfo *rel, SkOrder *order)
{
	int			common;

	if (!rel->consider_startup || bms_equal(root->all_baserels, rel->relids))
		return true;
	(void) pathkeys_count_contained_in(root->query_pathkeys, order->pathkeys,
									   &common);
	order->pathkeys = list_truncate(list_copy(order->pathkeys), common);
	return common > 0;
}

/* Make the plan of a path.  The template has become an IndexScan. */
static Plan *
plan_merge(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
		   List *tlist, List *clauses, List *custom_plans)
{
	SkMergePath *merge = (SkMergePath *) path;
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *template = linitial(custom_plans);
	IndexScan  *index_scan;
	ListCell   *lc;

	/* constant conditions are checked above the merge, not here */
	if (IsA(template, Result))
		template = outerPlan(template);
	scan->scan.plan.qual = filter_clauses(clauses, merge);
	if (list_length(custom_plans) > 1 && IsA(lsecond(custom_plans), Sort))
		adapt_sort(lsecond(custom_plans), scan->scan.plan.qual);
	index_scan = castNode(IndexScan, template);

	/* the executor puts each shard in place of the 0 of "shard = 0" */
	foreach(lc, merge->template->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (clause->indexcol == merge->plan.position)
			index_scan->indexqualorig = list_difference(index_scan->indexqualorig,
														list_make1(clause->rinfo->clause));
	}
	Assert(list_length(index_scan->indexqual) == list_length(index_scan->indexqualorig) + 1);

	/* create_merge_state() takes both lists apart */
	StaticAssertStmt(sizeof(SkMergePlan) % sizeof(int) == 0, "a field is no int");
	for (int i = 0; i < sizeof(SkMergePlan) / sizeof(int); i++)
		scan->custom_private = lappend_int(scan->custom_private,
										   ((int *) &merge->plan)[i]);
	scan->custom_exprs = list_make2(merge->columns, merge->filter);
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_plans = lcons(template, list_copy_tail(custom_plans, 1));
	scan->methods = GetCustomScanMethods(merge->plan.skips == SK_NO_SKIP ?
										 SK_MERGE_NAME : SK_SKIP_NAME, false);
	return &scan->scan.plan;
}

/*
 * Make the sort that a merge falls back to one whose rows the merge can take.
 * The filter of the merge is applied to them: a volatile condition must not be
 * computed twice for a row.  What comes after it must not see rows that it removes:
 * it may be of a security policy.
 */
static void
adapt_sort(Plan *sort, const List *filter)
{
	Plan	   *scan = outerPlan(sort);
	bool		is_late = false;
	ListCell   *lc;

	/* the gate would look for the TID in what the scan returns by itself */
	if (IsA(scan, Result))
	{
		outerPlan(scan)->targetlist = scan->targetlist;
		scan = outerPlan(sort) = outerPlan(scan);
	}
	foreach(lc, scan->qual)
	{
		is_late |= contain_volatile_functions(lfirst(lc));
		if (is_late && list_member(filter, lfirst(lc)))
			scan->qual = foreach_delete_current(scan->qual, lc);
	}
}

/*
 * The conditions that neither the index nor the choice of shards enforces.
 * Those of the template do not serve: some are dropped there because
 * "shard = 0" implies them.
 */
static List *
filter_clauses(List *clauses, const SkMergePath *path)
{
	IndexPath  *template = path->template;
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant &&
			list_member_ptr(template->indexinfo->indrestrictinfo, rinfo) &&
			!is_redundant_with_indexclauses(rinfo, template->indexclauses) &&
			!list_member(path->filter, rinfo->clause))
			result = lappend(result, rinfo->clause);
	}
	return result;
}

/* Can the shards of a table be scanned one by one? */
static bool
can_merge(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key)
{
	Relation	relation;
	bool		result;

	if (rel->lateral_relids != NULL || !key->covers_rows || key->shards > sk_max_merge_shards)
		return false;

	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	result = relation->rd_rel->relam == HEAP_TABLE_AM_OID;
	table_close(relation, NoLock);
	return result;
}

/* The conditions that need nothing of a row but its shard. */
static List *
find_shard_filter(RelOptInfo *rel, const SkShardKey *key, List *derived)
{
	List	   *result = extract_actual_clauses(derived, false);
	ListCell   *lc;

	if (key->attnum == 0)
		return NIL;
	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (is_on_shard_only(rel, key, rinfo))
			result = lappend(result, rinfo->clause);
	}
	return result;
}

/*
 * Such conditions are computed for every shard, also for those without a row.
 * So they must not fail, which leakproof functions promise for all values.  Those
 * that have no column to leak must not fail either.
 */
static bool
is_on_shard_only(RelOptInfo *rel, const SkShardKey *key, RestrictInfo *rinfo)
{
	Bitmapset  *attnums = NULL;

	if (rinfo->pseudoconstant || rinfo->security_level > rel->baserestrict_min_security ||
		contain_volatile_functions((Node *) rinfo->clause) ||
		contain_leaked_vars((Node *) rinfo->clause) ||
		may_fail((Node *) rinfo->clause, NULL) ||
		contain_subplans((Node *) rinfo->clause))
		return false;
	pull_varattnos((Node *) rinfo->clause, rel->relid, &attnums);
	return bms_membership(attnums) == BMS_SINGLETON &&
		bms_is_member(key->attnum - FirstLowInvalidHeapAttributeNumber,
					  attnums);
}

static bool
may_fail(Node *node, void *context)
{
	return node != NULL &&
		(check_functions_in_node(node, is_leaky, NULL) ||
		 expression_tree_walker(node, may_fail, NULL));
}

static bool
is_leaky(Oid function, void *context)
{
	return !get_func_leakproof(function);
}

static void
add_merge_path(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
			   IndexOptInfo *index, List *filter, List *clauses,
			   const SkOrder *order)
{
	SkMergePath *merge = make_merge_path(root, rel, key, index, filter,
										 clauses, order);
	Path	   *path = &merge->custom.path;

	path->pathkeys = order->pathkeys;
	cost_merge(root, merge);
	elog(DEBUG2, "merge of %.0f shards by index \"%s\": cost %.2f..%.2f",
		 merge->streams, get_rel_name(index->indexoid), path->startup_cost,
		 path->total_cost);
	if (loses_to_sort(root, rel, path) || !set_budget(root, merge))
		return;
	if (!rel->consider_startup || root->join_info_list != NIL ||
		rel->reloptkind != RELOPT_BASEREL)
		add_path(rel, path);
	else if (leads_join(root, path))
	{
		/* another table may drop it, so it drives out no other */
		rel->pathlist = lappend(rel->pathlist, path);
	}
}

/*
 * Is the first wanted row of a path dearer than all rows sorted?  The server
 * keeps such a path for its order, and tries it in every join.
 */
static bool
loses_to_sort(PlannerInfo *root, RelOptInfo *rel, const Path *path)
{
	Cost		wanted = wanted_cost(root, rel, path);
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *other = lfirst(lc);
		Path		sort;

		if (other->param_info != NULL || other->total_cost >= wanted)
			continue;
		sk_cost_sort(&sort, root, path->pathkeys, other, rel->reltarget->width);
		if (sort.total_cost < wanted && !sk_is_more_disabled(&sort, path))
			return true;
	}
	return false;
}

/*
 * What has to be paid of a path at least before the first row of the query is
 * there.  If few of its rows find one of an inner join, that is a part of them
 * all: in the mean, one row in as many as there are joined rows.
 */
static Cost
wanted_cost(PlannerInfo *root, RelOptInfo *rel, const Path *path)
{
	double		rows = path->rows;
	int			relid = -1;

	if (!rel->consider_startup)
		return path->total_cost;
	if (root->join_info_list != NIL || rel->reloptkind != RELOPT_BASEREL)
		return path->startup_cost;
	while ((relid = bms_next_member(root->all_baserels, relid)) >= 0)
		if (relid != rel->relid)
			rows = Min(rows, joined_rows(root, rel, root->simple_rel_array[relid]));
	return path->startup_cost +
		(path->total_cost - path->startup_cost) / Max(rows, 1.0);
}

/* How many rows the join with another table has, by the server's estimates. */
static double
joined_rows(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *other)
{
	SpecialJoinInfo *join = makeNode(SpecialJoinInfo);
	Relids		both = bms_union(rel->relids, other->relids);
	List	   *clauses = sk_join_clauses(root, both, other->relids, rel);

	join->jointype = JOIN_INNER;
	join->min_lefthand = join->syn_lefthand = other->relids;
	join->min_righthand = join->syn_righthand = rel->relids;
	return rel->rows * other->rows *
		clauselist_selectivity(root, clauses, 0, JOIN_INNER, join);
}

/*
 * Of tables that are joined by the column of the order one leads, and rows of
 * the others are looked up.  So a merge of another table that gives the same
 * order at a higher cost is dropped; is there none at a lower cost?
 */
static bool
leads_join(PlannerInfo *root, const Path *path)
{
	PathKey    *first = linitial_node(PathKey, path->pathkeys);
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, first->pk_eclass->ec_members)
	{
		EquivalenceMember *member = lfirst_node(EquivalenceMember, lc);
		RelOptInfo *table;
		int			relid;

		if (member->em_is_child ||
			!bms_get_singleton_member(member->em_relids, &relid))
			continue;
		table = root->simple_rel_array[relid];
		if (table == NULL || table == path->parent ||
			table->reloptkind != RELOPT_BASEREL || table->cheapest_total_path == NULL)
			continue;
		foreach(lc2, table->pathlist)
		{
			Path	   *other = lfirst(lc2);

			if (is_no_better(path, other))
				return false;
			if (is_no_better(other, path))
			{
				/*
				 * Paths are left, for it has driven out none; no join has
				 * been made of it yet.  Others may be the cheapest ones now.
				 */
				table->pathlist = foreach_delete_current(table->pathlist, lc2);
				set_cheapest(table);
			}
		}
	}
	return true;
}

/* Are both merges, and is the first one not better than the other one? */
static bool
is_no_better(const Path *path, const Path *other)
{
	return IsA(path, CustomPath) && IsA(other, CustomPath) &&
		((CustomPath *) path)->methods == &merge_path_methods &&
		((CustomPath *) other)->methods == &merge_path_methods &&
		pathkeys_contained_in(path->pathkeys, other->pathkeys) &&
		path->rows >= other->rows && path->startup_cost >= other->startup_cost;
}

/* A path that scans an index shard by shard; without its cost and order. */
static SkMergePath *
make_merge_path(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				IndexOptInfo *index, List *filter, List *clauses,
				const SkOrder *order)
{
	SkMergePath *result = palloc0(sizeof(SkMergePath));
	CustomPath *path = &result->custom;
	SkMergePlan *plan = &result->plan;
	double		streams = key->shards *
		clauselist_selectivity(root, filter, rel->relid, JOIN_INNER, NULL);

	NodeSetTag(path, T_CustomPath);
	streams = Min(Max(rint(streams), 1), key->shards);
	result->streams = streams;
	result->template = create_index_path(root, index, clauses, NIL, NIL, NIL,
										 order->direction, false, NULL, streams,
										 false);
	result->tuples = clamp_row_est(result->template->indexselectivity * rel->tuples);

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.parallel_safe = rel->consider_parallel;
	path->path.rows = rel->rows;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(result->template);
	path->methods = &merge_path_methods;

	plan->shards = key->shards;
	plan->first_shard = key->first;
	plan->column = key->attnum;
	plan->position = sk_shard_position(key, index);
	plan->backward = ScanDirectionIsBackward(order->direction);
	plan->depth = likely_depth(root, result);
	plan->skips = SK_NO_SKIP;

	Assert(order->column_count >= 1 &&
		   plan->position + order->column_count < index->nkeycolumns);
	for (int i = 1; i <= order->column_count; i++)
		result->columns = lappend(result->columns,
								  list_nth_node(TargetEntry, index->indextlist,
												plan->position + i)->expr);
	result->filter = filter;
	result->filtered = filter_clauses(rel->baserestrictinfo, result) != NIL;
	result->wanted = wanted_rows(root, result);

	/*
	 * shards that wait would be started once more if the filter drops too
	 * many
	 */
	if (!result->filtered && result->wanted <= streams / SK_SHARDS_FOR_ROW)
		plan->wanted = (int) ceil(result->wanted);
	return result;
}

/*
 * How many rows of a shard are likely wanted.  A LIMIT is spread over the
 * shards, unevenly: twice the square root of the share is added.
 */
static int
likely_depth(PlannerInfo *root, const SkMergePath *path)
{
	double		share = root->limit_tuples / path->streams;

	if (root->limit_tuples < 0)
		return SK_MIN_DEPTH;
	share *= read_rows(path);
	return SK_MIN_DEPTH + (int) Min(share + 2.0 * sqrt(share), SK_MAX_DEPTH);
}

/* How many rows are read for each one that passes the filter. */
static double
read_rows(const SkMergePath *path)
{
	double		rows = path->custom.path.parent->rows;

	Assert(path->streams >= 1.0 && rows > 0.0);
	return Max(path->streams * path->tuples / rows, 1.0);
}

/*
 * How many rows of all shards are likely read for a LIMIT; 0 if nobody knows.
 * What pass a filter are a bit more or less dense than in the mean: that is twice
 * the square root.
 */
static double
wanted_rows(PlannerInfo *root, const SkMergePath *path)
{
	RelOptInfo *rel = path->custom.path.parent;
	double		limit = root->limit_tuples;

	if (limit < 0 || bms_membership(root->all_baserels) != BMS_SINGLETON)
		return 0.0;
	if (!path->filtered)
		return limit;
	if (rel->top_parent_relids)
		limit *= rel->rows / find_base_rel(root, bms_singleton_member(rel->top_parent_relids))->rows;
	return Max(limit + 2.0 * sqrt(limit), 1.0) * read_rows(path);
}

/* The condition on the shard that the template has. */
static RestrictInfo *
shard_is_zero(PlannerInfo *root, const SkShardKey *key)
{
	Expr	   *zero = (Expr *) makeConst(INT4OID, -1, InvalidOid,
										  sizeof(int32), Int32GetDatum(0),
										  false, true);
	RestrictInfo *result = sk_make_shard_clause(root, sk_shard_is(key, zero), 0);

	result->norm_selec = 1.0 / key->shards;
	return result;
}

/*
 * The first row is known when each shard has given one.  That takes a page of
 * each, which counts unless a LIMIT asks for few rows: a join that needs few of
 * the others' rows finds them in their shards.  The template has the
 * cost of all rows of one shard, where all shards are scanned in turn.  Rows
 * that are not stored in the order of the merge are each on another page, which
 * a sort of the whole table would read once.
 */
static void
cost_merge(PlannerInfo *root, SkMergePath *merge)
{
	Path	   *path = &merge->custom.path;
	IndexPath  *template = merge->template;
	double		streams = merge->streams;
	double		tuples = merge->tuples;
	double		correlation = order_correlation(root, linitial(merge->columns));
	Cost		startup = template->path.startup_cost;
	Cost		first = (template->path.total_cost - startup) / tuples;
	Cost		comparison = 2.0 * cpu_operator_cost * (log2(streams) + 1.0);
	double		uncached = Min(streams / SK_MANY_STREAMS, 1.0);
	Cost		scattered = SK_SCATTERED_ROW_COST * cpu_tuple_cost *
		(1.0 - correlation * correlation);

	/* workers sort in much less time than they are reckoned with */
	if (template->path.parent->partial_pathlist != NIL)
		uncached *= 2.0;
	path->startup_cost = streams * (startup + first + comparison);
	if (root->limit_tuples < 0)
		path->startup_cost += streams * random_page_cost;
	if (correlation == (template->indexinfo->reverse_sort[merge->plan.position + 1] ==
						merge->plan.backward ? 1.0 : -1.0))
		comparison *= 1.0 + SK_PRESORTED * Min(streams / SK_PRESORTED_STREAMS, 1.0);
	path->total_cost = streams * template->path.total_cost +
		streams * tuples * (SK_MERGE_COST_FACTOR * (1.0 + uncached) * comparison +
							scattered);
	path->total_cost = Max(path->total_cost, path->startup_cost);
	sk_copy_disabled_nodes(path, &template->path);
}

/*
 * The server takes the rows that pass a filter to be spread evenly, and a LIMIT
 * that it does not know to be small.  If the rows all lie at the far end, or
 * all are wanted, a merge reads everything, and a row of a merge costs ten times
 * what a row of a scan of the table does, or more.  So where that can be, the
 * merge falls back when it has cost a part of that scan, which without a filter
 * sorts all it has read.  Returns false if it is likely to get that far.
 */
static bool
set_budget(PlannerInfo *root, SkMergePath *merge)
{
	Path	   *path = &merge->custom.path;
	SortPath   *fallback;
	Cost		start = path->startup_cost;
	Cost		row = (path->total_cost - start) / (merge->streams * merge->tuples);
	Cost		scan;
	double		budget;

	if (!path->parent->consider_startup || (root->limit_tuples >= 0 && !merge->filtered))
		return true;
	fallback = make_fallback(root, merge);
	if (fallback == NULL || sk_is_more_disabled(&fallback->path, path))
		return true;

	/* few rows may pass a filter and be sorted */
	scan = fallback->subpath->total_cost;
	/* without one all rows are sorted, and no shard is looked into in vain */
	if (!merge->filtered)
	{
		scan = fallback->path.total_cost;
		start = 0.0;
	}
	if (Min(start + merge->wanted * row, path->total_cost) > SK_MAX_BUDGET * scan)
		return false;

	budget = Max(SK_BUDGET * scan - start, 0.0);
	budget = row > 0.0 ? Max(budget / row, merge->wanted) : INT_MAX;
	merge->plan.budget = (int) Min(ceil(budget) + 1.0, INT_MAX);
	if (bms_membership(root->all_baserels) == BMS_SINGLETON)
		merge->plan.limit = (int) Min(Max(root->limit_tuples, 0.0), INT_MAX);
	merge->custom.custom_paths = lappend(merge->custom.custom_paths, fallback);
	return true;
}

/*
 * What the server would do without the merge: the cheapest scan, and a sort.
 * It gives the columns of the order and the TID.
 */
static SortPath *
make_fallback(PlannerInfo *root, SkMergePath *merge)
{
	RelOptInfo *rel = merge->custom.path.parent;
	Path	   *scan = copy_cheapest_scan(rel);
	PathTarget *target = create_empty_pathtarget();
	ListCell   *lc;

	if (scan == NULL)
		return NULL;
	foreach(lc, merge->columns)
		add_column_to_pathtarget(target, lfirst(lc), 0);
	add_column_to_pathtarget(target,
							 (Expr *) makeVar(rel->relid, SelfItemPointerAttributeNumber,
											  TIDOID, -1, InvalidOid, 0), 0);
	scan = (Path *) create_projection_path(root, rel, scan,
										   set_pathtarget_cost_width(root, target));
	return create_sort_path(root, rel, scan, merge->custom.path.pathkeys,
							root->limit_tuples);
}

/* The cheapest scan of a table that can give TIDs; NULL if there is none. */
static Path *
copy_cheapest_scan(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = sk_below_projection(lfirst(lc));
		Size		size;
		Path	   *result;

		if (path->param_info != NULL)
			continue;
		if (path->pathtype == T_SeqScan)
			size = sizeof(Path);
		else if (path->pathtype == T_IndexScan)
			size = sizeof(IndexPath);
		else if (path->pathtype == T_BitmapHeapScan)
			size = sizeof(BitmapHeapPath);
		else
			continue;
		/* a path that add_path() throws out later is freed */
		result = palloc(size);
		memcpy(result, path, size);
		return result;
	}
	return NULL;
}

/* How far the rows lie in the order of a column, from -1 to 1. */
static double
order_correlation(PlannerInfo *root, Expr *column)
{
	VariableStatData variable;
	AttStatsSlot slot;
	double		result = 0.0;

	examine_variable(root, (Node *) column, 0, &variable);
	if (HeapTupleIsValid(variable.statsTuple) &&
		get_attstatsslot(&slot, variable.statsTuple, STATISTIC_KIND_CORRELATION,
						 InvalidOid, ATTSTATSSLOT_NUMBERS))
	{
		result = slot.numbers[0];
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(variable);
	return result;
}

/* Do all rows of a relation go to a DISTINCT of one column, and nowhere else? */
static bool
is_distinct_of(PlannerInfo *root, RelOptInfo *rel)
{
	Query	   *query = root->parse;

	return query->distinctClause != NIL && query->commandType == CMD_SELECT &&
		list_length(root->distinct_pathkeys) == 1 &&
		(root->sort_pathkeys == NIL ||
		 linitial_node(PathKey, root->sort_pathkeys)->pk_eclass ==
		 linitial_node(PathKey, root->distinct_pathkeys)->pk_eclass) &&
		query->groupClause == NIL && query->groupingSets == NIL &&
		!query->hasAggs && !query->hasWindowFuncs && !query->hasTargetSRFs &&
		query->havingQual == NULL && query->setOperations == NULL &&
		query->rowMarks == NIL && root->join_info_list == NIL &&
		rel->reloptkind == RELOPT_BASEREL && rel->lateral_relids == NULL &&
		bms_equal(root->all_baserels, rel->relids) &&
		!contain_volatile_functions((Node *) query->targetList) &&
		!contain_volatile_functions((Node *) rel->baserestrictinfo);
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
			  const SkOrder *order)
{
	SkMergePath *skip = make_merge_path(root, rel, key, index, filter,
										clauses, order);
	Path	   *path = &skip->custom.path;
	SkMergePlan *plan = &skip->plan;
	Path	   *fallback = copy_cheapest_scan(rel);
	int			fixed = 0;
	ListCell   *lc;
	double		groups = count_groups(root, list_nth(skip->columns, order->group));

	if (groups <= 0 || fallback == NULL)
		return;
	/* a descent begins at the first column that is not fixed in the scan */
	foreach(lc, clauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (clause->indexcol == plan->position + 1 + fixed &&
			sk_fixes_column(index, clause))
			fixed++;
	}
	if (fixed < order->group)
		return;
	plan->skips = order->group;
	/* does the shard follow from the group, and from what is fixed? */
	plan->apart = skip->streams == 1.0 ||
		list_difference(pull_var_clause((Node *) sk_hashed_keys(key), 0),
						list_truncate(list_copy(skip->columns), order->group + 1)) == NIL;
	/* its rows are returned as they are */
	skip->custom.flags = 0;
	skip->custom.custom_paths = lappend(skip->custom.custom_paths, fallback);
	cost_skip(root, skip, groups);
	elog(DEBUG2, "skip of %.0f groups in %.0f shards: cost %.2f..%.2f",
		 groups, skip->streams, path->startup_cost, path->total_cost);
	/* the server tries an unsorted path only if it is the cheapest one */
	add_path(rel, (Path *)
			 create_sort_path(root, rel, path,
							  list_length(root->sort_pathkeys) > 1 ?
							  root->sort_pathkeys : root->distinct_pathkeys, -1.0));
}

/*
 * In each shard, a group takes a descent, or its entries are skipped one by one.
 * A row is fetched if it is before those of the other shards: of the second one
 * a half, of the third one a third.  Each is on a page of its own.  Where a
 * filter is left, the rows are more by those that it takes away.
 */
static void
cost_skip(PlannerInfo *root, SkMergePath *skip, double groups)
{
	Path	   *path = &skip->custom.path;
	IndexPath  *template = skip->template;
	RelOptInfo *rel = path->parent;
	double		streams = skip->streams;
	double		tuples = streams * skip->tuples;
	double		passing = Min(rel->rows / tuples, 1.0);
	double		likely = SK_GROUP_RISK * groups;
	double		fetches = log(streams) + 1.0;
	double		searches = Min(skip->plan.apart ? likely : likely * streams, tuples);
	double		rows = Min(skip->plan.apart ? likely : likely * fetches, rel->rows);
	double		filtered = Min(rows / passing, tuples) - rows;
	double		budget = Max(SK_SKIP_BUDGET * tuples,
							 rows + SK_SKIP_FILTERED * filtered);
	Cost		search = template->path.startup_cost +
		SK_SKIP_STEPS * cpu_index_tuple_cost;
	double		pages;

	skip->plan.budget = (int) Min(budget / fetches, INT_MAX);
	pages = index_pages_fetched(rows + filtered, rel->pages, template->indexinfo->pages, root) +
		Min(searches, template->indexinfo->pages);
	path->rows = clamp_row_est(Min(rows / SK_GROUP_RISK, rel->rows));
	path->startup_cost = template->path.startup_cost;
	path->total_cost = path->startup_cost +
		Min(searches * search,
			tuples * (cpu_index_tuple_cost + cpu_operator_cost)) +
		pages * random_page_cost;
	path->total_cost += (rows + filtered) * (cpu_tuple_cost + rel->baserestrictcost.per_tuple);
	sk_copy_disabled_nodes(path, &template->path);
}
