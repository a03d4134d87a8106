/*-------------------------------------------------------------------------
 *
 * planner.h
 *	  Settings of the shard-aware planner.
 *
 * src/planner/planner.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_PLANNER_H
#define SK_PLANNER_H

extern bool sk_enable_derived_shard;
extern bool sk_enable_shard_list;
extern bool sk_enable_shard_merge;
extern bool sk_enable_shard_statistics;
extern int	sk_max_merge_shards;

#endif							/* SK_PLANNER_H */
