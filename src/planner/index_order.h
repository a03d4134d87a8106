/*-------------------------------------------------------------------------
 *
 * index_order.h
 *	  The order of the rows of one shard in an index.
 *
 * src/planner/index_order.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_INDEX_ORDER_H
#define SK_INDEX_ORDER_H

#include "nodes/pathnodes.h"
#include "planner/shard_key.h"

/* An order, and how many columns behind the shard make it. */
typedef struct SkOrder
{
	ScanDirection direction;
	List	   *pathkeys;
	int			column_count;
} SkOrder;

extern RestrictInfo *sk_one_shard(const SkShardKey *key, List *clauses);
extern int	sk_orders_in_shard(PlannerInfo *root, RelOptInfo *rel,
							   IndexOptInfo *index, int position,
							   SkOrder *orders);
extern IndexOptInfo sk_index_in_shard(const IndexOptInfo *index, int position);
extern List *sk_index_clauses(PlannerInfo *root, RelOptInfo *rel,
							  IndexOptInfo *index, int position,
							  RestrictInfo *shard, bool *index_only);
extern bool sk_fixes_column(const IndexOptInfo *index,
							const IndexClause *clause);
extern void sk_add_ordered_paths(PlannerInfo *root, RelOptInfo *rel,
								 const SkShardKey *key, RestrictInfo *shard);

#endif							/* SK_INDEX_ORDER_H */
