/*-------------------------------------------------------------------------
 *
 * shard_index.h
 *	  What an index gives of one shard: orders, and conditions.
 *
 * src/planner/shard_index.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARD_INDEX_H
#define SK_SHARD_INDEX_H

#include "nodes/pathnodes.h"
#include "planner/shard_key.h"

/* An order, and how many columns after the shard make it. */
typedef struct SkOrder
{
	ScanDirection direction;
	List	   *pathkeys;
	int			column_count;
	int			group;			/* which of them is that of DISTINCT */
} SkOrder;

extern RestrictInfo *sk_one_shard(const SkShardKey *key, List *clauses);
extern bool sk_is_filtered_part(RelOptInfo *rel);
extern int	sk_orders_in_shard(PlannerInfo *root, RelOptInfo *rel,
							   IndexOptInfo *index, int position, bool groups,
							   SkOrder *orders);
extern List *sk_index_clauses(PlannerInfo *root, RelOptInfo *rel,
							  IndexOptInfo *index, int position,
							  RestrictInfo *shard, bool *index_only);

#endif							/* SK_SHARD_INDEX_H */
