/*-------------------------------------------------------------------------
 *
 * merge_scan.h
 *	  What the plan of a shard merge tells the executor, and its state.
 *
 * src/planner/merge_scan.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_MERGE_SCAN_H
#define SK_MERGE_SCAN_H

#include "access/genam.h"
#include "access/skey.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"

#include "planner/merge_stream.h"

#define SK_MERGE_NAME "SpannerShardMerge"
#define SK_SKIP_NAME "SpannerShardSkip"

/* How many entries of a group are passed before the index is searched again. */
#define SK_SKIP_STEPS 32

/* All rows are given, in order. */
#define SK_NO_SKIP (-1)

/* The parts of CustomScan.custom_private; each an Integer node. */
typedef enum SkMergePrivate
{
	SK_MERGE_SHARDS,			/* how many there are */
	SK_MERGE_SHARD_COLUMN,		/* attribute number, or 0 if an expression */
	SK_MERGE_SHARD_POSITION,	/* of the shard in the index, from 0 */
	SK_MERGE_BACKWARD,			/* is the index scanned backward? */
	SK_MERGE_DEPTH,				/* rows of a shard that are likely wanted */
	SK_MERGE_FIRST_SHARD,		/* the least one */
	SK_MERGE_WANTED,			/* rows of all that are, or 0 */
	SK_MERGE_SKIPS,				/* which key makes groups, or SK_NO_SKIP */
	SK_MERGE_BUDGET,			/* read so many, then sort the rest; or 0 */
	SK_MERGE_LIMIT,				/* rows that the query takes, or 0 */
	SK_MERGE_PRIVATE_COUNT
} SkMergePrivate;

/* The parts of CustomScan.custom_exprs; each a List. */
typedef enum SkMergeExprs
{
	SK_MERGE_KEYS,				/* index columns that the order consists of */
	SK_MERGE_SHARD_FILTER,		/* conditions on the shard alone */
	SK_MERGE_EXPRS_COUNT
} SkMergeExprs;

/* How a merge is given up, and what is left of it then. */
typedef struct SkRest
{
	int64		budget;			/* rows that are read before, or 0 */
	int64		read;
	int64		limit;			/* rows that the query takes, or 0 */
	MemoryContext context;
	ItemPointerData *given;		/* rows that the query has got */
	int64		given_count;
	int64		given_size;
	int64		given_sorted;	/* how many of them the sort has left out */
	ExprState  *qual;			/* what a row of the table has to pass */
	ProjectionInfo *keys;		/* what it is sorted by, and its TID */
	Tuplesortstate *sort;		/* NULL while the merge goes on */
	TupleTableSlot *slot;
	int64		bound;			/* it has so many of the rows at most */
	int64		count;			/* and these are all */
	int64		sorted;			/* how many it has given */
} SkRest;

typedef struct SkMergeState
{
	CustomScanState css;
	IndexScan  *template;		/* the scan of one shard */
	SkMerge		merge;
	ScanKey		conditions;		/* on the other columns */
	IndexRuntimeKeyInfo *runtime_keys;
	int			runtime_key_count;
	ExprContext *runtime_context;
	ExprState  *recheck;		/* what the index conditions say */
	ExprState  *shard_filter;
	TupleTableSlot *shard_slot; /* a row of which only the shard is known */
	bool		primed;			/* have the streams been set up? */
	bool		skips;			/* only the first row of each group? */
	ExprState  *qual;			/* what such a row has to pass */
	SkRest		rest;
} SkMergeState;

extern const CustomScanMethods sk_merge_scan_methods;
extern const CustomScanMethods sk_skip_scan_methods;

/* in merge_rest.c */
extern bool sk_rest_is_due(SkRest *rest);
extern void sk_rest_remember(SkRest *rest, ItemPointer tid);
extern HeapTuple sk_rest_next(SkMergeState *state);
extern void sk_rest_reset(SkRest *rest);

/* in skip_scan.c */
extern void sk_skip_start(SkMerge *merge, const int32 *shards, int count);
extern bool sk_skip_next(SkMerge *merge);
extern void sk_skip_group(SkMerge *merge);

#endif							/* SK_MERGE_SCAN_H */
