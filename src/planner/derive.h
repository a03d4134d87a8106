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
#include "planner/shard_clause.h"

/* What a column or a key is equal to. */
typedef struct SkKeyValue
{
	Expr	   *value;			/* NULL if nothing is known */
	bool		is_array;		/* equal to one of the elements */
	Index		level;			/* of the clause that says so */
} SkKeyValue;

/* One of the hashed keys, and what is known of it apart from its columns. */
typedef struct SkKeyTerm
{
	Node	   *key;
	Bitmapset  *columns;		/* their places */
	bool		is_column;		/* hashed as it is */
	bool		is_bucket;		/* of time */
	SkKeyValue	value;			/* of the expression */
	SkKeyValue	low;			/* of the column of a bucket */
	SkKeyValue	high;
	bool		open_end;		/* high itself excluded */
} SkKeyTerm;

/* The columns of a key, and what is known of them. */
typedef struct SkColumns
{
	const SkShardKey *key;
	int			count;
	Var		  **columns;
	bool	   *inside;			/* is the column inside of an expression? */
	bool	   *by_element;		/* are its lists taken one by one? */
	SkKeyValue *values;
	int			term_count;
	SkKeyTerm  *terms;
} SkColumns;

extern void sk_init_columns(SkColumns *columns, const SkShardKey *key);
extern SkColumns sk_copy_columns(const SkColumns *columns);
extern void sk_match_clauses(PlannerInfo *root, List *clauses, SkColumns *columns);
extern bool sk_match_equality(PlannerInfo *root, Expr *clause,
							  const Node *key, SkKeyValue *value);
extern bool sk_can_replace(PlannerInfo *root, const Var *column,
						   SkKeyValue *value);
extern bool sk_all_known(const SkColumns *columns, bool *by_range);
extern SkClause *sk_derive_condition(PlannerInfo *root,
									 const SkColumns *columns);
extern SkClause *sk_derive_alternatives(PlannerInfo *root, const SkClause *clause,
										const SkColumns *columns,
										List *bounds, List **completed);

#endif							/* SK_DERIVE_H */
