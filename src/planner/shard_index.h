/*-------------------------------------------------------------------------
 *
 * shard_index.h
 *	  What an index gives of one shard: an order, and conditions.
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
extern List *sk_index_restrictions(RelOptInfo *rel, List *clauses,
								   bool with_array);
extern bool sk_has_row_comparison(Node *node);
extern bool sk_has_array(List *clauses);
extern bool sk_has_nullable_range(RelOptInfo *rel, Node *node);

#endif							/* SK_SHARD_INDEX_H */
