/*-------------------------------------------------------------------------
 *
 * derive.h
 *	  From equalities on the keys to a condition on the shard.
 *
 * src/planner/derive.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DERIVE_H
#define SK_DERIVE_H

#include "nodes/pathnodes.h"
#include "planner/shard_key.h"

/* What a column is equal to. */
typedef struct SkKeyValue
{
	Expr	   *value;			/* NULL if nothing is known */
	bool		is_array;		/* equal to one of the elements */
	Index		security_level; /* of the clause that says so */
} SkKeyValue;

extern bool sk_match_equality(PlannerInfo *root, Expr *clause,
							  const Var *column, SkKeyValue *value);
extern int	sk_key_columns(const SkShardKey *key, Var **columns);
extern Expr *sk_derive_condition(PlannerInfo *root, const SkShardKey *key,
								 const SkKeyValue *values);
extern Expr *sk_shard_in(const SkShardKey *key, Expr *list);
extern bool sk_has_shard_condition(const SkShardKey *key,
								   List *clauses);
extern Const *sk_all_shards_const(int32 shards);
extern Expr *sk_all_shards_call(const SkShardKey *key);

#endif							/* SK_DERIVE_H */
