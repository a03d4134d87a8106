/*-------------------------------------------------------------------------
 *
 * merge_stream.h
 *	  The streams of a shard merge, and their order.
 *
 * src/planner/merge_stream.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_MERGE_STREAM_H
#define SK_MERGE_STREAM_H

#include "access/genam.h"
#include "access/htup.h"
#include "access/skey.h"
#include "executor/tuptable.h"
#include "lib/binaryheap.h"
#include "lib/ilist.h"
#include "nodes/execnodes.h"
#include "utils/sortsupport.h"

/* A column of the order. */
typedef struct SkMergeColumn
{
	AttrNumber	attnum;			/* of the table, or 0 */
	ExprState  *expr;			/* if it is no plain column */
	int16		length;			/* of its type */
	bool		by_value;
	SortSupportData order;
} SkMergeColumn;

/*
 * The rows of one shard.  Between two rows the position in the index is kept
 * as the row's TID; a scan of its own is opened when the second row is wanted.
 */
typedef struct SkStream
{
	int32		shard;
	HeapTuple	tuple;			/* the current row */
	Datum	   *keys;			/* and its columns of the order */
	bool	   *nulls;
	ItemPointerData tid;		/* where the index says that it is */
	IndexScanDesc scan;			/* NULL if not open */
	Datum		bound;			/* key that the scan starts at */
	bool		has_bound;
	dlist_node	node;			/* in the list of open streams */
} SkStream;

typedef struct SkMerge
{
	Relation	table;
	Relation	index;
	Snapshot	snapshot;
	ScanDirection direction;
	ExprContext *econtext;		/* evaluates columns that are expressions */
	TupleTableSlot *fetch_slot;
	MemoryContext context;		/* holds the current rows */

	int			shards;			/* how many there are at most */
	int			column_count;
	SkMergeColumn *columns;
	bool		can_bound;		/* can a scan start at a row? */
	ScanKeyData bound_key;
	ScanKeyData *keys;			/* the shard, and the conditions */
	int			key_count;

	SkStream   *streams;
	int			stream_count;
	binaryheap *heap;			/* of streams that have a row */
	IndexScanDesc primer;		/* finds the first row of each stream */
	dlist_head	open;			/* open streams, the last used one first */
	int			open_count;
	int			max_open;

	int64		primed;			/* statistics: shards looked into, */
	int64		opened;			/* streams opened, rows fetched */
	int64		fetched;
} SkMerge;

extern void sk_merge_start(SkMerge *merge, const int32 *shards, int count);
extern HeapTuple sk_merge_current(SkMerge *merge);
extern void sk_merge_advance(SkMerge *merge);
extern void sk_merge_reset(SkMerge *merge);

#endif							/* SK_MERGE_STREAM_H */
