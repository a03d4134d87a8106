/*-------------------------------------------------------------------------
 *
 * shard_call.h
 *	  The expressions that compute a shard.
 *
 * src/planner/shard_call.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARD_CALL_H
#define SK_SHARD_CALL_H

#include "nodes/primnodes.h"

/*
 * What computes a shard: shard_id(shards, keys), mod(farm_fingerprint(key), n)
 * or abs() of the latter.  The keys are immutable expressions over columns.
 */
typedef struct SkShardCall
{
	FuncExpr   *call;
	Oid			function;		/* of ours: what hashes */
	int			first_key;		/* among the arguments of the call */
	int32		first;			/* the least shard */
	int32		shards;			/* how many there are */
} SkShardCall;

extern void sk_shard_call_init(void);
extern FuncExpr *sk_find_shard_call(Node *expr);
extern List *sk_fingerprint_args(FuncExpr *call);
extern bool sk_read_shard_call(FuncExpr *call, SkShardCall *result,
							   const char **problem);
extern Oid	sk_sibling_function(Oid function, const char *name, int nargs,
								const Oid *argtypes);
extern bool sk_runs_foreign_code(Node *node, void *context);
extern bool sk_read_shard_check(Node *clause, AttrNumber *attnum,
								FuncExpr **call);
extern bool sk_may_call(Oid funcid);

#endif							/* SK_SHARD_CALL_H */
