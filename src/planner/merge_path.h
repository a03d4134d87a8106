/*-------------------------------------------------------------------------
 *
 * merge_path.h
 *	  Paths that merge the shards of an index in order.
 *
 * src/planner/merge_path.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_MERGE_PATH_H
#define SK_MERGE_PATH_H

#include "nodes/pathnodes.h"
#include "planner/shard_key.h"

extern void sk_merge_init(void);
extern void sk_add_merge_paths(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key, List *derived);

#endif							/* SK_MERGE_PATH_H */
