/*-------------------------------------------------------------------------
 *
 * shard_clause.h
 *	  Conditions on the shard, and what may be an index condition beside them.
 *
 * src/planner/shard_clause.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARD_CLAUSE_H
#define SK_SHARD_CLAUSE_H

#include "nodes/pathnodes.h"
#include "planner/shard_key.h"

/* A clause that holds, or a condition that follows from clauses. */
typedef struct SkClause
{
	Expr	   *expr;
	Index		level;			/* the highest one of its sources */
} SkClause;

extern SkClause *sk_make_clause(Expr *expr, Index level);
extern List *sk_make_clauses(List *clauses, Index level);
extern bool sk_mentions(Node *expr, Index relid, AttrNumber attnum);
extern Expr *sk_shard_is(const SkShardKey *key, Expr *value);
extern Expr *sk_shard_in(const SkShardKey *key, Expr *list);
extern ArrayExpr *sk_shard_array(List *shards);
extern Expr *sk_all_shards(const SkShardKey *key, bool as_call);
extern bool sk_has_shard_condition(const SkShardKey *key, List *clauses);
extern RestrictInfo *sk_make_shard_clause(PlannerInfo *root, Expr *condition,
										  Index security_level);
extern List *sk_without_added(List *clauses);
extern List *sk_index_restrictions(RelOptInfo *rel, List *clauses,
								   bool with_array);
extern bool sk_loses_condition(Node *node, RelOptInfo *rel);
extern bool sk_has_array(List *clauses);
extern bool sk_fixes_column(const IndexOptInfo *index,
							const IndexClause *clause);

#endif							/* SK_SHARD_CLAUSE_H */
