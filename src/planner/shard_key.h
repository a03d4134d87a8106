/*-------------------------------------------------------------------------
 *
 * shard_key.h
 *	  The shard keys of a relation, and the expressions that compute a shard.
 *
 * src/planner/shard_key.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARD_KEY_H
#define SK_SHARD_KEY_H

#include "nodes/pathnodes.h"

/* How a relation declares a shard key. */
typedef enum SkDeclaration
{
	SK_GENERATED_COLUMN,
	SK_CHECK_CONSTRAINT,
	SK_INDEX_EXPRESSION,
	SK_PARTITION_KEY
} SkDeclaration;

/* Functions of the extension that the planner knows. */
typedef enum SkKeyFunction
{
	SK_SHARD_ID,
	SK_FINGERPRINT,
	SK_TIMESTAMP_TO_STRING,
	SK_FUNCTION_COUNT
} SkKeyFunction;

/*
 * A column or expression that is equal in every row to a call that computes a
 * shard: shard_id(shards, keys), mod(farm_fingerprint(key), n) or abs() of the
 * latter.  The keys are immutable expressions over columns.
 */
typedef struct SkShardKey
{
	SkDeclaration declaration;
	AttrNumber	attnum;			/* of the column, or 0 */
	Expr	   *shard;			/* the column, or the expression */
	FuncExpr   *call;
	Oid			function;		/* of ours: what hashes */
	int			first_key;		/* among the arguments of the call */
	int32		first;			/* the least shard */
	int32		shards;			/* how many there are */
	bool		can_derive;		/* may the planner compute it? */
	bool		covers_rows;	/* is each row in one of the shards? */
	List	   *indexes;		/* IndexOptInfo of the B-trees that have it */
} SkShardKey;

extern void sk_shard_key_init(void);
extern List *sk_shard_keys(PlannerInfo *root, RelOptInfo *rel);
extern List *sk_parent_shard_keys(PlannerInfo *root, RelOptInfo *rel);
extern List *sk_column_keys(Oid relid);
extern int	sk_shard_position(const SkShardKey *key,
							  const IndexOptInfo *index);

extern FuncExpr *sk_find_shard_call(Node *expr);
extern bool sk_read_shard_call(FuncExpr *call, SkShardKey *key,
							   const char **problem);
extern bool sk_read_shard_check(Node *clause, AttrNumber *attnum,
								FuncExpr **call);
extern List *sk_fingerprint_args(FuncExpr *call);
extern bool sk_is_our_function(Oid funcid, SkKeyFunction function);
extern Oid	sk_sibling_function(Oid function, const char *name, int nargs,
								const Oid *argtypes);

/* in key_expression.c */
extern Node *sk_fold_stored(PlannerInfo *root, Node *expr);
extern bool sk_has_trusted_bounds(Oid partition);
extern bool sk_is_safe_expression(Node *expr);

#endif							/* SK_SHARD_KEY_H */
