/*-------------------------------------------------------------------------
 *
 * merge_path.h
 *	  Making a path that scans an index shard by shard.
 *
 * src/planner/merge_path.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_MERGE_PATH_H
#define SK_MERGE_PATH_H

#include "nodes/pathnodes.h"

#include "planner/index_order.h"
#include "planner/shard_key.h"

extern bool sk_can_merge(PlannerInfo *root, RelOptInfo *rel,
						 const SkShardKey *key);
extern List *sk_shard_filter(RelOptInfo *rel, const SkShardKey *key,
							 List *derived);
extern RestrictInfo *sk_shard_zero(PlannerInfo *root, const SkShardKey *key);
extern CustomPath *sk_make_merge_path(PlannerInfo *root, RelOptInfo *rel,
									  const SkShardKey *key,
									  IndexOptInfo *index, List *filter,
									  List *clauses, const SkOrder *order,
									  double *streams);

#endif							/* SK_MERGE_PATH_H */
