/*-------------------------------------------------------------------------
 *
 * shard_paths.h
 *	  Index paths with conditions on the shard that the query does not have.
 *
 * src/planner/shard_paths.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARD_PATHS_H
#define SK_SHARD_PATHS_H

#include "nodes/pathnodes.h"
#include "planner/shard_key.h"

/* Conditions that hold for all rows that a scan has to return. */
typedef struct SkExtraClauses
{
	List	   *base;			/* on the scanned relation only */
	List	   *alternatives;	/* the same, each an OR */
	List	   *joins;			/* with values of other relations */
} SkExtraClauses;

extern void sk_derive_clauses(PlannerInfo *root, RelOptInfo *rel,
							  const SkShardKey *key, SkExtraClauses *result);
extern void sk_add_index_paths(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key,
							   const SkExtraClauses *extra);
extern void sk_add_list_paths(PlannerInfo *root, RelOptInfo *rel,
							  const SkShardKey *key, bool with_joins);
extern RestrictInfo *sk_make_shard_clause(PlannerInfo *root, Expr *condition,
										  Index security_level);

#endif							/* SK_SHARD_PATHS_H */
