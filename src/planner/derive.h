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

/* Conditions that hold for all rows that a scan has to return. */
typedef struct SkExtraClauses
{
	List	   *base;			/* on the scanned relation only */
	List	   *alternatives;	/* the same, each an OR */
	List	   *sources;		/* what the alternatives follow from */
	List	   *joins;			/* with values of other relations */
	bool		by_range;		/* "base" is from a range of time */
} SkExtraClauses;

extern void sk_derive_clauses(PlannerInfo *root, RelOptInfo *rel,
							  const SkShardKey *key, SkExtraClauses *result);
extern SkClause *sk_derive_condition(PlannerInfo *root,
									 const SkColumns *columns);
extern SkClause *sk_derive_alternatives(PlannerInfo *root, const SkClause *clause,
										const SkColumns *columns,
										List *bounds, SkClause **arms);
extern void sk_init_columns(SkColumns *columns, const SkShardKey *key);
extern void sk_match_clauses(PlannerInfo *root, List *clauses, SkColumns *columns);
extern bool sk_all_known(const SkColumns *columns);

#endif							/* SK_DERIVE_H */
