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

#include "planner/merge_stream.h"

#define SK_MERGE_NAME "SpannerShardMerge"

/* The parts of CustomScan.custom_private; each an Integer node. */
typedef enum SkMergePrivate
{
	SK_MERGE_SHARDS,			/* how many there are */
	SK_MERGE_SHARD_COLUMN,		/* attribute number, or 0 if an expression */
	SK_MERGE_SHARD_POSITION,	/* of the shard in the index, from 0 */
	SK_MERGE_BACKWARD,			/* is the index scanned backward? */
	SK_MERGE_DEPTH,				/* rows of a shard that are likely wanted */
	SK_MERGE_FIRST_SHARD,		/* the least one */
	SK_MERGE_PRIVATE_COUNT
} SkMergePrivate;

/* The parts of CustomScan.custom_exprs; each a List. */
typedef enum SkMergeExprs
{
	SK_MERGE_KEYS,				/* index columns that the order consists of */
	SK_MERGE_SHARD_FILTER,		/* conditions on the shard alone */
	SK_MERGE_EXPRS_COUNT
} SkMergeExprs;

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
} SkMergeState;

extern const CustomScanMethods sk_merge_scan_methods;

#endif							/* SK_MERGE_SCAN_H */
