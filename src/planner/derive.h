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
	Index		level;			/* of the clause that says so */
} SkKeyValue;

/* A clause that holds, or a condition that follows from clauses. */
typedef struct SkFact
{
	Expr	   *clause;
	Index		level;			/* the highest one of its sources */
} SkFact;

/* The columns of a key, and what is known of them. */
typedef struct SkColumns
{
	const SkShardKey *key;
	int			count;
	Var		  **columns;
	bool	   *inside;			/* is the column inside of an expression? */
	SkKeyValue *values;
} SkColumns;

extern bool sk_match_equality(PlannerInfo *root, Expr *clause,
							  const Var *column, SkKeyValue *value);
extern SkFact *sk_make_fact(Expr *clause, Index level);
extern void sk_init_columns(SkColumns *columns, const SkShardKey *key);
extern void sk_match_facts(PlannerInfo *root, List *facts, SkColumns *columns);
extern bool sk_can_replace(const Var *column, const SkKeyValue *value);
extern List *sk_array_elements(Expr *array);
extern bool sk_all_known(const SkColumns *columns);
extern SkFact *sk_derive_condition(PlannerInfo *root,
								   const SkColumns *columns);
extern SkFact *sk_derive_alternatives(PlannerInfo *root, const SkFact *fact,
									  const SkColumns *columns,
									  SkFact **arms);
extern Expr *sk_shard_is(const SkShardKey *key, Expr *value);
extern Expr *sk_shard_in(const SkShardKey *key, Expr *list);
extern bool sk_has_shard_condition(const SkShardKey *key,
								   List *clauses);
extern Const *sk_all_shards_const(const SkShardKey *key);
extern Expr *sk_all_shards_call(const SkShardKey *key);

#endif							/* SK_DERIVE_H */
