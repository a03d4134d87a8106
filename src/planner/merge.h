/*-------------------------------------------------------------------------
 *
 * merge.h
 *	  A merge of the shards of an index: its plan, its state, its streams.
 *
 * src/planner/merge.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_MERGE_H
#define SK_MERGE_H

#include "access/genam.h"
#include "access/htup.h"
#include "access/skey.h"
#include "executor/tuptable.h"
#include "lib/binaryheap.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "utils/sortsupport.h"

#define SK_MERGE_NAME "SpannerShardMerge"
#define SK_SKIP_NAME "SpannerShardSkip"

/* How many entries of a group are skipped before the index is searched again. */
#define SK_SKIP_STEPS 32

/* All rows are returned, in order. */
#define SK_NO_SKIP (-1)

/* What the planner decides; all are of type int, for the plan is a list of them. */
typedef struct SkMergePlan
{
	int			shards;			/* how many there are */
	int			first_shard;	/* the least one */
	int			column;			/* of the shard, or 0 if an expression */
	int			position;		/* of the shard in the index, from 0 */
	int			backward;		/* is the index scanned backward? */
	int			depth;			/* rows of a shard that are likely wanted */
	int			wanted;			/* rows of all that are, or 0 */
	int			skips;			/* which key makes groups, or SK_NO_SKIP */
	int			budget;			/* read so many, then sort; or 0 */
	int			limit;			/* rows that the query takes, or 0 */
} SkMergePlan;

/* A column of the order. */
typedef struct SkMergeColumn
{
	AttrNumber	attnum;			/* of the table, or 0 */
	ExprState  *expr;			/* if it is no plain column */
	int16		length;			/* of its type */
	bool		by_value;
	Oid			ordering;		/* the operator, if it is of the order */
	SortSupportData order;
} SkMergeColumn;

/* A condition that rows are not before, or not after, a given one. */
typedef struct SkMergeBound
{
	int			first;			/* among the columns of the order */
	int			count;			/* 0 if there can be no such condition */
	ScanKeyData key;			/* of a column, or of a row comparison */
	ScanKeyData *members;		/* of the row comparison */
} SkMergeBound;

/*
 * The rows of one shard.  Between two rows the position in the index is kept
 * as the row's TID, together with the TIDs that follow there.
 */
typedef struct SkStream
{
	int32		shard;
	HeapTuple	tuple;			/* the current row */
	Datum	   *keys;			/* and its columns of the order */
	bool	   *nulls;
	ItemPointerData tid;		/* where the index says that it is */
	ItemPointerData *ahead;		/* what follows in the index */
	int			ahead_size;
	int			ahead_count;
	int			ahead_next;
	bool		ended;			/* nothing follows what is ahead */
	bool		deferred;		/* all rows are after the limit */
} SkStream;

typedef struct SkMerge
{
	PlanState  *node;			/* counts searches and fetched rows */
	Relation	table;
	Relation	index;
	Snapshot	snapshot;
	ScanDirection direction;
	ExprContext *econtext;		/* evaluates columns that are expressions */
	TupleTableSlot *fetch_slot;
	MemoryContext context;		/* holds the current rows */
	MemoryContext bound_context;	/* holds the values of a bound */

	int			depth;			/* rows of a shard that are likely wanted */
	int			wanted;			/* rows of all that are, or 0 */
	int			max_ahead;
	int			column_count;	/* with those that only bounds need */
	int			order_count;
	SkMergeColumn *columns;
	SkMergeBound start;			/* not before the current row */
	SkMergeBound stop;			/* not after a guessed one */
	SkMergeBound skip;			/* after the group of the last row */
	ScanKeyData *keys;			/* the shard, and the conditions */
	int			key_count;
	int			shard_key;		/* which of them is the shard */
	ScanKeyData *scan_keys;		/* the same, and a bound */

	SkStream   *streams;
	int			stream_count;
	binaryheap *heap;			/* of streams that have a row */
	bool		has_returned;	/* the first one of the heap */
	IndexScanDesc scan;
	Datum	   *limit;			/* columns of "stop" of the last wanted row */
	int			deferred_count;

	int			stream_next;	/* where groups are looked for one by one */
	bool		in_shard;		/* is the scan in the shard before that? */
	bool		has_group;		/* is the group in "skip" to be skipped? */
} SkMerge;

/* merge_scan.c */
extern const CustomScanMethods sk_merge_scan_methods;
extern const CustomScanMethods sk_skip_scan_methods;

/* merge_stream.c */
extern void sk_merge_open(SkMerge *merge, int skip_column);
extern void sk_merge_start(SkMerge *merge, const int32 *shards, int count);
extern HeapTuple sk_merge_next(SkMerge *merge);
extern bool sk_merge_next_group(SkMerge *merge);
extern void sk_merge_skip_group(SkMerge *merge);
extern void sk_merge_reset(SkMerge *merge);

#endif							/* SK_MERGE_H */
