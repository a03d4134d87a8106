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
typedef struct SkClause
{
	Expr	   *expr;
	Index		level;			/* the highest one of its sources */
} SkClause;

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
extern bool sk_match_equality(PlannerInfo *root, Expr *clause,
							  const Var *column, SkKeyValue *value);
extern bool sk_match_term(PlannerInfo *root, Expr *clause, Node *term,
						  SkKeyValue *value);
extern int	sk_match_comparison(PlannerInfo *root, Expr *clause,
								const Var *column, Oid family,
								SkKeyValue *value);
extern SkClause *sk_make_clause(Expr *expr, Index level);
extern bool sk_can_replace(PlannerInfo *root, const Var *column,
						   SkKeyValue *value);
extern List *sk_array_elements(Expr *array);
extern int	sk_array_length(Node *array);
extern SkClause *sk_derive_condition(PlannerInfo *root,
									 const SkColumns *columns);
extern SkClause *sk_derive_alternatives(PlannerInfo *root, const SkClause *clause,
										const SkColumns *columns,
										List *bounds, SkClause **arms);

/* in key_values.c */
extern void sk_init_columns(SkColumns *columns, const SkShardKey *key);
extern SkColumns sk_copy_columns(const SkColumns *columns);
extern void sk_match_clauses(PlannerInfo *root, List *clauses, SkColumns *columns);
extern bool sk_all_known(const SkColumns *columns);
extern bool sk_is_missing(const SkColumns *columns, int column);
extern bool sk_is_used(const SkColumns *columns, int column);
extern FuncExpr *sk_replace_keys(const SkColumns *columns, bool *is_list,
								 Index *level);

/* in shard_clause.c */
extern Expr *sk_any_shard(PlannerInfo *root, const SkShardKey *key,
						  List *conditions);
extern Expr *sk_shard_is(const SkShardKey *key, Expr *value);
extern Expr *sk_shard_in(const SkShardKey *key, Expr *list);
extern ArrayExpr *sk_shard_array(List *shards);
extern Const *sk_all_shards_const(const SkShardKey *key);
extern Expr *sk_all_shards(const SkShardKey *key);
extern bool sk_has_shard_condition(const SkShardKey *key,
								   List *clauses);
extern RestrictInfo *sk_make_shard_clause(PlannerInfo *root, Expr *condition,
										  Index security_level);

#endif							/* SK_DERIVE_H */
