/*-------------------------------------------------------------------------
 *
 * shard_cost.c
 *	  What index scans with a derived condition on the shard cost.
 *
 * Such a condition follows from others, so it takes away no row that they
 * leave.  If all of these are index conditions too, it must not be counted
 * twice: the server then sees a condition that is always true.  If one of them
 * is left to a filter, the condition on the shard does for it what it can,
 * and is counted like any other: so many rows of the index are read.
 *
 * The server estimates with its own function, which is asked with the
 * condition as it has to be counted.
 *
 * src/planner/shard_cost.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "planner/index_order.h"
#include "planner/shard_cost.h"

/* The statistics say. */
#define SK_UNKNOWN_SELECTIVITY (-1.0)

static SkShardCost *current = NULL;

static void estimate_cost(PlannerInfo *root, IndexPath *path, double loop_count,
						  Cost *startup_cost, Cost *total_cost,
						  Selectivity *selectivity, double *correlation,
						  double *pages);
static List *derived_clauses(const IndexPath *path);
static void set_selectivity(List *clauses, double selectivity);
static Bitmapset *fixed_columns(const IndexPath *path);
static bool are_fixed(const IndexOptInfo *index, const Bitmapset *fixed,
					  bool in_front);

/*
 * sk_shard_cost_begin
 *		Have index scans with one of these clauses costed as they should be.
 *
 * To be followed by sk_shard_cost_end(), unless an error ends the planning.
 */
void
sk_shard_cost_begin(SkShardCost *cost, const SkShardKey *key, List *clauses)
{
	ListCell   *lc;

	sk_init_columns(&cost->columns, key);
	cost->clauses = clauses;
	cost->outer = current;
	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);

		/* all are B-trees */
		cost->estimate = index->amcostestimate;
		index->amcostestimate = estimate_cost;
	}
	current = cost;
}

/*
 * sk_shard_cost_end
 *		Leave it to the server again.
 */
void
sk_shard_cost_end(SkShardCost *cost)
{
	ListCell   *lc;

	foreach(lc, cost->columns.key->indexes)
		((IndexOptInfo *) lfirst(lc))->amcostestimate = cost->estimate;
	current = cost->outer;
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

	/* the condition decides how much is read of the index */
	if (!are_fixed(path->indexinfo, fixed, true))
		set_selectivity(derived, SK_UNKNOWN_SELECTIVITY);
	current->estimate(root, path, loop_count, startup_cost, total_cost,
					  selectivity, correlation, pages);
	set_selectivity(derived, SK_REDUNDANT_SELECTIVITY);

	/* the others decide how many rows are left, though they come behind */
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

/* The positions of the index columns that are equal to something. */
static Bitmapset *
fixed_columns(const IndexPath *path)
{
	Bitmapset  *result = NULL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (sk_fixes_column(path->indexinfo, clause))
			result = bms_add_member(result, clause->indexcol);
	}
	return result;
}

/*
 * Are all columns of the shard key fixed?  "in_front" asks for such that no
 * column comes before that is not: the scan then reads these rows only.
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
