/*-------------------------------------------------------------------------
 *
 * planner.h
 *	  Settings of the shard-aware planner, and those who make paths.
 *
 * src/planner/planner.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_PLANNER_H
#define SK_PLANNER_H

#include "nodes/pathnodes.h"
#include "planner/shard_key.h"

/* Conditions that hold for all rows that a scan has to return. */
typedef struct SkExtraClauses
{
	List	   *base;			/* on the scanned relation only */
	List	   *alternatives;	/* the same, each an OR */
	List	   *sources;		/* what the alternatives follow from */
	List	   *joins;			/* with values of other relations */
	bool		by_range;		/* "base" is from a range of time */
	bool		may_list;		/* may all shards be listed? */
	bool		may_merge;		/* may they be merged? */
} SkExtraClauses;

/* Makes paths of a table, given what is known of a shard key. */
typedef void (*SkMakePaths) (PlannerInfo *root, RelOptInfo *rel,
							 const SkShardKey *key,
							 const SkExtraClauses *extra);

extern bool sk_enable_derived_shard;
extern int	sk_max_merge_shards;

extern void sk_add_path_maker(SkMakePaths make);

#endif							/* SK_PLANNER_H */
