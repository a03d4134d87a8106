/*-------------------------------------------------------------------------
 *
 * shard_cost.h
 *	  What index scans with a derived condition on the shard cost.
 *
 * src/planner/shard_cost.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARD_COST_H
#define SK_SHARD_COST_H

#include "access/amapi.h"

#include "planner/derive.h"

/* Between begin and end, on the stack of the caller. */
typedef struct SkShardCost
{
	SkColumns	columns;		/* of the shard key */
	List	   *clauses;		/* RestrictInfos of the derived conditions */
	amcostestimate_function estimate;	/* the server's */
	struct SkShardCost *outer;
} SkShardCost;

extern void sk_shard_cost_begin(SkShardCost *cost, const SkShardKey *key,
								List *clauses);
extern void sk_shard_cost_end(SkShardCost *cost);

#endif							/* SK_SHARD_COST_H */
