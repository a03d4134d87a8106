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
#include "utils/timestamp.h"

#include "keys/time_zone.h"

/* What hashes the keys. */
typedef enum SkKeyForm
{
	SK_SHARD_ID,
	SK_FINGERPRINT,
	SK_BIT_REVERSE
} SkKeyForm;

/*
 * A column or expression that is equal in every row to a call that the planner
 * can compute: shard_id(shards, keys), mod(farm_fingerprint(key), n), abs() of
 * that, farm_fingerprint(key), or bit_reverse(key, preserve_sign).  The keys
 * are immutable expressions over columns.
 */
typedef struct SkShardKey
{
	bool		by_check;		/* declared by a CHECK constraint? */
	bool		holds;			/* of a column: for all rows? */
	AttrNumber	attnum;			/* of the column, or 0 */
	Expr	   *shard;			/* the column, or the expression */
	SkKeyForm	form;			/* what the call is made of */
	FuncExpr   *call;
	int32		first;			/* the least shard */
	int32		shards;			/* how many there are; 0 if any bigint */
	bool		can_derive;		/* may the planner compute it? */
	bool		usual_moments;	/* not for the first and the last moments */
	bool		covers_rows;	/* is each row in one of the shards? */
	List	   *indexes;		/* IndexOptInfo of the B-trees that have it */
} SkShardKey;

/* more shards are neither merged nor listed; a setting */
extern int	sk_max_merge_shards;

extern List *sk_shard_keys(PlannerInfo *root, RelOptInfo *rel);
extern List *sk_column_keys(Oid relid);
extern List *sk_keys_that_hold(List *keys);
extern int	sk_shard_position(const SkShardKey *key,
							  const IndexOptInfo *index);

/* in key_expression.c */
extern bool sk_is_key_expression(Node *expr);
extern bool sk_read_key_expression(Node *expr, SkShardKey *key,
								   const char **problem);
extern bool sk_null_columns(const SkShardKey *key, Bitmapset **columns);
extern bool sk_read_key_check(Node *clause, AttrNumber *attnum, Node **expr);
extern List *sk_hashed_keys(const SkShardKey *key);
extern Node *sk_fold_stored(PlannerInfo *root, Node *expr);
extern bool sk_is_bucket(Node *key);

/* Is a constant far from the first and the last moment, or infinite? */
static inline bool
sk_is_usual_moment(const Const *value)
{
	Timestamp	moment;

	if (!IsA(value, Const) || value->constisnull)
		return false;
	moment = DatumGetTimestamp(value->constvalue);
	return TIMESTAMP_NOT_FINITE(moment) || sk_is_usual(moment);
}

#endif							/* SK_SHARD_KEY_H */
