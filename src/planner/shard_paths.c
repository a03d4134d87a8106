/*-------------------------------------------------------------------------
 *
 * shard_paths.c
 *	  Index paths with conditions on the shard that the query does not have.
 *
 * The server's own code makes and costs these paths: it is run again on the
 * indexes that a shard key leads, while the relation seems to have the
 * additional clauses.  They stay in the index conditions of the paths, and
 * nowhere else.
 *
 * A derived condition follows from others, so it takes away no row that they
 * leave.  If all of these are index conditions too, it must not be counted
 * twice: the server then sees a condition that is always true.  If one of them
 * is left to a filter, the condition on the shard takes its place in the index,
 * and is counted like any other: so many rows of the index are read.  The
 * server's own cost function is asked, with the one selectivity or the other.
 *
 * src/planner/shard_paths.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/sysattr.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/derive.h"
#include "planner/planner.h"
#include "planner/shard_clause.h"
#include "planner/shard_index.h"
#include "spanner_keys.h"

/* The server looks at the statistics. */
#define SK_UNKNOWN_SELECTIVITY (-1.0)

/* What the cost function needs while paths are made for a shard key. */
typedef struct SkShardCost
{
	SkColumns	columns;		/* of the shard key */
	List	   *clauses;		/* RestrictInfos of the derived conditions */
	bool		by_range;		/* do they follow from a range as well? */
	amcostestimate_function estimate;	/* the server's */
} SkShardCost;

static SkShardCost *current = NULL;

static void make_shard_paths(PlannerInfo *root, RelOptInfo *rel,
							 const SkShardKey *key,
							 const SkExtraClauses *extra);
static void add_derived_paths(PlannerInfo *root, RelOptInfo *rel,
							  const SkShardKey *key,
							  const SkExtraClauses *extra);
static void add_list_paths(PlannerInfo *root, RelOptInfo *rel,
						   const SkShardKey *key, bool with_joins);
static void add_index_paths(PlannerInfo *root, RelOptInfo *rel,
							const SkShardKey *key,
							const SkExtraClauses *extra);
static void create_paths(PlannerInfo *root, RelOptInfo *rel,
						 const SkShardKey *key, const SkExtraClauses *extra,
						 List *alternatives, bool with_array);
static List *exchange_restrictions(const SkShardKey *key, List *clauses,
								   bool with_array);
static bool restricts_second_column(RelOptInfo *rel, const SkShardKey *key);
static bool mentions(List *clauses, RelOptInfo *rel, int attnum);
static amcostestimate_function set_cost_function(const SkShardKey *key,
												 amcostestimate_function function);
static void estimate_cost(PlannerInfo *root, IndexPath *path,
						  double loop_count, Cost *startup_cost,
						  Cost *total_cost, Selectivity *selectivity,
						  double *correlation, double *pages);
static List *derived_clauses(const IndexPath *path);
static void set_selectivity(List *clauses, double selectivity);
static Bitmapset *fixed_columns(const IndexPath *path);
static bool are_fixed(const IndexOptInfo *index, const Bitmapset *fixed,
					  bool in_front);
static void add_ordered_paths(PlannerInfo *root, RelOptInfo *rel,
							  const SkShardKey *key, RestrictInfo *shard);

void
sk_shard_paths_init(void)
{
	sk_add_path_maker(make_shard_paths);
}

static void
make_shard_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				 const SkExtraClauses *extra)
{
	if (sk_enable_derived_shard)
		add_derived_paths(root, rel, key, extra);
	if (extra->may_list && extra->base == NIL)
		add_list_paths(root, rel, key, extra->joins == NIL);
}

/*
 * Add index paths that use conditions that are derived for a shard key.
 * Planning can be nested, and an error of the inner one can be caught.
 */
static void
add_derived_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				  const SkExtraClauses *extra)
{
	SkShardCost cost;
	SkShardCost *outer = current;
	RestrictInfo *shard = sk_one_shard(key, extra->base);

	Assert(key->indexes != NIL);
	sk_init_columns(&cost.columns, key);
	cost.clauses = list_concat_copy(extra->base, extra->joins);
	cost.by_range = extra->by_range;
	cost.estimate = set_cost_function(key, estimate_cost);
	PG_TRY();
	{
		current = &cost;
		add_index_paths(root, rel, key, extra);
		if (shard)
			add_ordered_paths(root, rel, key, shard);
	}
	PG_FINALLY();
	{
		current = outer;
	}
	PG_END_TRY();
	/* nobody else exchanges it while the indexes are ours */
	Assert(((IndexOptInfo *) linitial(key->indexes))->amcostestimate == estimate_cost);
	(void) set_cost_function(key, cost.estimate);
}

/*
 * Add the paths that look into every shard, one after the other.  That pays if
 * the second column of an index is restricted; not by a join if one fixes the
 * shard.  The list is costed as a constant, and then replaced by a call that
 * gives it.
 */
static void
add_list_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
			   bool with_joins)
{
	SkExtraClauses extra = {NIL};
	List	   *joininfo = rel->joininfo;
	bool		has_eclass_joins = rel->has_eclass_joins;
	ScalarArrayOpExpr *condition;

	if (!with_joins)
	{
		rel->joininfo = NIL;
		rel->has_eclass_joins = false;
	}
	if (key->covers_rows && key->shards <= sk_max_merge_shards &&
		restricts_second_column(rel, key) &&
		!sk_has_shard_condition(key, rel->baserestrictinfo))
	{
		condition = (ScalarArrayOpExpr *)
			sk_shard_in(key, sk_all_shards(key, false));
		extra.base = list_make1(sk_make_shard_clause(root, (Expr *) condition, 0));
		add_index_paths(root, rel, key, &extra);
		lsecond(condition->args) = sk_all_shards(key, true);
	}
	rel->joininfo = joininfo;
	rel->has_eclass_joins = has_eclass_joins;
}

/*
 * Add index paths that use additional conditions on the shard.  Each join
 * condition is tried with those from the same relations, for there are many
 * ways to mix them, and none of these reads less.
 */
static void
add_index_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				const SkExtraClauses *extra)
{
	List	   *joininfo = rel->joininfo;
	bool		has_eclass_joins = rel->has_eclass_joins;
	Relids		referencers = rel->lateral_referencers;
	bool		with_array = sk_has_array(extra->base) ||
		sk_has_array(extra->joins);
	ListCell   *lc;
	ListCell   *lc2;

	if (sk_loses_condition((Node *) extra->alternatives, rel) ||
		sk_loses_condition((Node *) joininfo, with_array ? rel : NULL))
		return;

	elog(DEBUG2, "shard of \"%s\": %d conditions, %d from joins, %d alternatives",
		 get_rel_name(planner_rt_fetch(rel->relid, root)->relid),
		 list_length(extra->base), list_length(extra->joins),
		 list_length(extra->alternatives));

	foreach(lc, extra->joins)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Relids		outer = bms_difference(rinfo->clause_relids, rel->relids);

		Assert(bms_is_subset(rel->relids, rinfo->clause_relids));
		/* what is enforced outside the index condition must not change */
		(void) get_baserel_parampathinfo(root, rel,
										 bms_union(outer,
												   rel->lateral_relids));
		rel->joininfo = lappend(list_copy(joininfo), rinfo);
		rel->lateral_referencers = bms_union(referencers,
											 bms_difference(root->all_baserels,
															rinfo->clause_relids));
		create_paths(root, rel, key, extra, NIL, with_array);

		/* a parameterized scan need not check an implied condition */
		foreach(lc2, rel->ppilist)
		{
			ParamPathInfo *info = lfirst(lc2);

			info->ppi_clauses = list_delete_ptr(info->ppi_clauses, rinfo);
		}
	}
	rel->lateral_referencers = referencers;

	if (extra->base != NIL || extra->alternatives != NIL)
	{
		rel->joininfo = extra->joins == NIL ? joininfo : NIL;
		rel->has_eclass_joins = has_eclass_joins && extra->joins == NIL;
		create_paths(root, rel, key, extra, extra->alternatives, with_array);
	}
	rel->joininfo = joininfo;
	rel->has_eclass_joins = has_eclass_joins;
}

/*
 * An OR may need other indexes for other arms, hence all of them.  What it
 * was derived from need not be tried again.
 */
static void
create_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
			 const SkExtraClauses *extra, List *alternatives, bool with_array)
{
	List	   *indexlist = rel->indexlist;
	List	   *baserestrictinfo = rel->baserestrictinfo;
	List	   *saved = exchange_restrictions(key, extra->base, with_array);
	ListCell   *lc;
	ListCell   *lc2;

	if (alternatives == NIL)
		rel->indexlist = key->indexes;
	else
		rel->baserestrictinfo =
			list_concat(list_difference_ptr(sk_without_added(baserestrictinfo),
											extra->sources), alternatives);
	/* after an error nobody plans with the relation any more */
	create_index_paths(root, rel);
	rel->baserestrictinfo = baserestrictinfo;
	rel->indexlist = indexlist;
	Assert(list_length(key->indexes) == list_length(saved));
	forboth(lc, key->indexes, lc2, saved)
		((IndexOptInfo *) lfirst(lc))->indrestrictinfo = lfirst(lc2);
}

/* Returns the restrictions that the indexes of the key have had. */
static List *
exchange_restrictions(const SkShardKey *key, List *clauses, bool with_array)
{
	List	   *saved = NIL;
	ListCell   *lc;

	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);

		saved = lappend(saved, index->indrestrictinfo);
		index->indrestrictinfo =
			list_concat_copy(sk_index_restrictions(index->rel,
												   index->indrestrictinfo,
												   with_array),
							 clauses);
	}
	return saved;
}

static bool
restricts_second_column(RelOptInfo *rel, const SkShardKey *key)
{
	ListCell   *lc;

	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);

		if (index->nkeycolumns < 2 || sk_shard_position(key, index) != 0)
			continue;
		if (index->indexkeys[1] == 0 || rel->has_eclass_joins ||
			mentions(rel->baserestrictinfo, rel, index->indexkeys[1]) ||
			mentions(rel->joininfo, rel, index->indexkeys[1]))
			return true;
	}
	return false;
}

static bool
mentions(List *clauses, RelOptInfo *rel, int attnum)
{
	Bitmapset  *attnums = NULL;

	pull_varattnos((Node *) extract_actual_clauses(clauses, false), rel->relid,
				   &attnums);
	return bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, attnums);
}

/* Returns the function that the indexes of the key have had: all are B-trees. */
static amcostestimate_function
set_cost_function(const SkShardKey *key, amcostestimate_function function)
{
	amcostestimate_function result = NULL;
	ListCell   *lc;

	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);

		Assert(result == NULL || result == index->amcostestimate);
		result = index->amcostestimate;
		index->amcostestimate = function;
	}
	return result;
}

static void
estimate_cost(PlannerInfo *root, IndexPath *path, double loop_count,
			  Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
			  double *correlation, double *pages)
{
	List	   *derived = derived_clauses(path);
	Bitmapset  *fixed = fixed_columns(path);
	Cost		startup;
	Cost		total;

	/* it is called within make_shard_paths() only, for an index of the key */
	Assert(current != NULL && current->estimate != estimate_cost);
	/* the condition on the shard decides how much of the index is read */
	if (!are_fixed(path->indexinfo, fixed, true))
		set_selectivity(derived, SK_UNKNOWN_SELECTIVITY);
	current->estimate(root, path, loop_count, startup_cost, total_cost,
					  selectivity, correlation, pages);
	set_selectivity(derived, SK_REDUNDANT_SELECTIVITY);

	/* the conditions behind it decide how many rows are left */
	if (derived != NIL && !are_fixed(path->indexinfo, fixed, true) &&
		are_fixed(path->indexinfo, fixed, false))
		current->estimate(root, path, loop_count, &startup, &total,
						  selectivity, correlation, pages);
	bms_free(fixed);
}

/* Those of our clauses that are conditions of the scan. */
static List *
derived_clauses(const IndexPath *path)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (list_member_ptr(current->clauses, clause->rinfo))
			result = lappend(result, clause->rinfo);
	}
	return result;
}

static void
set_selectivity(List *clauses, double selectivity)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		rinfo->norm_selec = rinfo->outer_selec = selectivity;
	}
}

/*
 * The positions of the index columns that are equal to something, or restricted
 * in a way that the shard follows from.
 */
static Bitmapset *
fixed_columns(const IndexPath *path)
{
	Bitmapset  *result = NULL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (current->by_range || sk_fixes_column(path->indexinfo, clause))
			result = bms_add_member(result, clause->indexcol);
	}
	return result;
}

/*
 * Are all columns of the shard key fixed?  "in_front" asks whether no column
 * before them is free: then the scan reads only these rows.
 */
static bool
are_fixed(const IndexOptInfo *index, const Bitmapset *fixed, bool in_front)
{
	for (int i = 0; i < current->columns.count; i++)
	{
		bool		found = false;

		for (int j = 0; !found && j < index->nkeycolumns; j++)
		{
			if (bms_is_member(j, fixed))
				found = index->indexkeys[j] == current->columns.columns[i]->varattno;
			else if (in_front)
				break;
		}
		if (!found)
			return false;
	}
	return true;
}

/*
 * Add index scans of one shard that give a useful order.  "shard" is the
 * derived condition that fixes the shard.
 */
static void
add_ordered_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
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
											   false, orders);
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
