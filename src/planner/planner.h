/*-------------------------------------------------------------------------
 *
 * planner.h
 *	  Settings of the shard-aware planner, and what its hooks call.
 *
 * src/planner/planner.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_PLANNER_H
#define SK_PLANNER_H

#include "planner/derive.h"

extern bool sk_enable_derived_shard;
extern bool sk_enable_shard_list;
extern bool sk_enable_shard_merge;
extern bool sk_enable_shard_statistics;
extern int	sk_max_merge_shards;

/* merge_path.c */
extern void sk_merge_init(void);
extern void sk_add_merge_paths(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key, List *derived);

/* parent_quals.c */
extern void sk_add_parent_quals(PlannerInfo *root, RelOptInfo *rel);
extern void sk_correct_estimates(PlannerInfo *root, RelOptInfo *rel);
extern void sk_forget_added(RelOptInfo *joinrel, List *clauses);

/* shard_paths.c */
extern void sk_add_shard_paths(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key,
							   const SkExtraClauses *extra);
extern void sk_add_list_paths(PlannerInfo *root, RelOptInfo *rel,
							  const SkShardKey *key, bool with_joins);

#endif							/* SK_PLANNER_H */
