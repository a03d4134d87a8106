/*-------------------------------------------------------------------------
 *
 * shard_key.h
 *	  The shard keys of a relation.
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

/*
 * A column or expression that is equal to shard_id(shards, keys) in every
 * row.  The arguments of the call are immutable expressions over columns.
 */
typedef struct SkShardKey
{
	SkDeclaration declaration;
	AttrNumber	attnum;			/* of the column, or 0 */
	Expr	   *shard;			/* the column, or the expression */
	FuncExpr   *call;
	bool		can_derive;		/* may the planner compute it? */
	int32		shards;
	List	   *indexes;		/* IndexOptInfo of the B-trees that it leads */
} SkShardKey;

extern void sk_shard_key_init(void);
extern List *sk_shard_keys(PlannerInfo *root, RelOptInfo *rel);
extern List *sk_parent_shard_keys(PlannerInfo *root, RelOptInfo *rel);
extern List *sk_column_keys(Oid relid);
extern FuncExpr *sk_find_shard_call(Node *expr);
extern bool sk_read_shard_call(FuncExpr *call, int32 *shards,
							   const char **problem);
extern bool sk_runs_foreign_code(Node *node, void *context);
extern bool sk_read_shard_check(Node *clause, AttrNumber *attnum,
								FuncExpr **call);
extern bool sk_may_call(Oid funcid);

#endif							/* SK_SHARD_KEY_H */
