/*-------------------------------------------------------------------------
 *
 * planner.h
 *	  A setting of the shard-aware planner, who makes merges, the plan of a merge.
 *
 * src/planner/planner.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_PLANNER_H
#define SK_PLANNER_H

#include "nodes/pathnodes.h"
#include "planner/shard_key.h"

/* Makes merges of a table, given the conditions derived for a shard key. */
typedef void (*SkMergePaths) (PlannerInfo *root, RelOptInfo *rel,
							  const SkShardKey *key, List *derived);

extern bool sk_enable_derived_shard;

extern Path *sk_below_projection(Path *path);

/* set by merge_path.c, which needs what is declared here */
extern SkMergePaths sk_merge_paths_hook;

/* What merge_path.c decides, and merge_scan.c executes. */

#define SK_MERGE_NAME "SpannerShardMerge"
#define SK_SKIP_NAME "SpannerShardSkip"

/* How many entries of a group are skipped before the index is searched again. */
#define SK_SKIP_STEPS 32

/*
 * A row that the filter of a skip takes away counts so many times in the budget:
 * without the skip it is not sorted.
 */
#define SK_SKIP_FILTERED 8

/* All rows are returned, in order. */
#define SK_NO_SKIP (-1)

/* What the planner decides; all are of type int, for the plan is a list of them. */
typedef struct SkMergePlan
{
	int			shards;			/* how many there are */
	int			first_shard;	/* the least one */
	int			column;			/* of the shard, or 0 if an expression */
	int			position;		/* of the shard in the index, from 0 */
	int			backward;		/* is the index scanned backward? */
	int			depth;			/* rows of a shard that are likely wanted */
	int			wanted;			/* rows of all that are, or 0 */
	int			skips;			/* which key makes groups, or SK_NO_SKIP */
	int			apart;			/* is a group in one shard only? */
	int			budget;			/* of rows to read before the fallback */
	int			limit;			/* rows that the query likely takes, or 0 */
} SkMergePlan;

#endif							/* SK_PLANNER_H */
