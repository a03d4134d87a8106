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

#include "planner/shard_call.h"

/* How a relation declares a shard key. */
typedef enum SkDeclaration
{
	SK_GENERATED_COLUMN,
	SK_CHECK_CONSTRAINT,
	SK_INDEX_EXPRESSION,
	SK_PARTITION_KEY
} SkDeclaration;

/* A column or expression that is equal to such a call in every row. */
typedef struct SkShardKey
{
	SkDeclaration declaration;
	AttrNumber	attnum;			/* of the column, or 0 */
	Expr	   *shard;			/* the column, or the expression */
	FuncExpr   *call;
	Oid			function;		/* these four are of SkShardCall */
	int			first_key;
	int32		first;
	int32		shards;
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

#endif							/* SK_SHARD_KEY_H */
