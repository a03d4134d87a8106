/*-------------------------------------------------------------------------
 *
 * shard_clause.h
 *	  What a clause says of a hashed key, and conditions on the shard itself.
 *
 * src/planner/shard_clause.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARD_CLAUSE_H
#define SK_SHARD_CLAUSE_H

#include "nodes/pathnodes.h"
#include "planner/shard_key.h"

/* What a column is equal to. */
typedef struct SkKeyValue
{
	Expr	   *value;			/* NULL if nothing is known */
	bool		is_array;		/* equal to one of the elements */
	Index		level;			/* of the clause that says so */
} SkKeyValue;

/* A clause that holds, or a condition that follows from clauses. */
typedef struct SkClause
{
	Expr	   *expr;
	Index		level;			/* the highest one of its sources */
} SkClause;

extern SkClause *sk_make_clause(Expr *expr, Index level);
extern bool sk_match_equality(PlannerInfo *root, Expr *clause,
							  const Node *key, SkKeyValue *value);
extern int	sk_match_comparison(PlannerInfo *root, Expr *clause,
								const Var *column, Oid family,
								SkKeyValue *value);
extern bool sk_can_replace(PlannerInfo *root, const Var *column,
						   SkKeyValue *value);
extern List *sk_array_elements(Expr *array);
extern int	sk_array_length(Node *array);

extern Expr *sk_shard_is(const SkShardKey *key, Expr *value);
extern Expr *sk_shard_in(const SkShardKey *key, Expr *list);
extern ArrayExpr *sk_shard_array(List *shards);
extern Expr *sk_all_shards(const SkShardKey *key, bool as_call);
extern bool sk_has_shard_condition(const SkShardKey *key, List *clauses);
extern RestrictInfo *sk_make_shard_clause(PlannerInfo *root, Expr *condition,
										  Index security_level);

extern void sk_mark_added(Expr *condition);
extern bool sk_is_added(RestrictInfo *rinfo);
extern List *sk_without_added(List *clauses);

#endif							/* SK_SHARD_CLAUSE_H */
