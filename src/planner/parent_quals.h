/*-------------------------------------------------------------------------
 *
 * parent_quals.h
 *	  Conditions on the shard that choose partitions.
 *
 * src/planner/parent_quals.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_PARENT_QUALS_H
#define SK_PARENT_QUALS_H

#include "nodes/pathnodes.h"

extern void sk_add_parent_quals(PlannerInfo *root, RelOptInfo *rel);
extern void sk_disregard_parent_quals(PlannerInfo *root, RelOptInfo *rel);

#endif							/* SK_PARENT_QUALS_H */
