/*-------------------------------------------------------------------------
 *
 * shard_statistics.h
 *	  Statistics objects that load the library in time.
 *
 * src/planner/shard_statistics.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARD_STATISTICS_H
#define SK_SHARD_STATISTICS_H

#include "nodes/parsenodes.h"

extern void sk_yield_shard_statistics(CreateStatsStmt *stmt);
extern void sk_update_shard_statistics(List *relations);

#endif							/* SK_SHARD_STATISTICS_H */
