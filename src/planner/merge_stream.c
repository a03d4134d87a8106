/*-------------------------------------------------------------------------
 *
 * merge_stream.c
 *	  The streams of a shard merge, and their order.
 *
 * One scan of the index descends once for each shard and fetches its first
 * row.  Most queries stop soon, so a stream gets a scan of its own only when
 * its second row is wanted: that scan starts at the first row, whose TID in
 * the index has been kept.  A row that is visible to the snapshot stays in
 * the index as long as the snapshot is held.
 *
 * Open scans take some 28 kB each.  Above a limit the one that has been idle
 * for longest is closed, and reopened in the same way.  It starts at the
 * first column of the current row, if this cannot be NULL, for a bound would
 * leave out rows with NULL.
 *
 * src/planner/merge_stream.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "planner/merge_stream.h"

static void prime_stream(SkMerge *merge, SkStream *stream);
static bool next_row(SkMerge *merge, SkStream *stream, IndexScanDesc scan);
static void read_keys(SkMerge *merge, SkStream *stream);
static void free_row(SkMerge *merge, SkStream *stream);
static void open_stream(SkMerge *merge, SkStream *stream);
static void set_bound(SkMerge *merge, SkStream *stream);
static void close_stream(SkMerge *merge, SkStream *stream);
static int	compare_streams(Datum a, Datum b, void *arg);

/*
 * sk_merge_start
 *		Set up one stream for each of some shards, and order them.
 *
 * The keys of the merge must be complete, but for the shard.
 */
void
sk_merge_start(SkMerge *merge, const int32 *shards, int count)
{
	MemoryContext old = MemoryContextSwitchTo(merge->context);

	merge->streams = palloc0(count * sizeof(SkStream));
	merge->stream_count = count;
	merge->heap = binaryheap_allocate(Max(count, 1), compare_streams, merge);
	dlist_init(&merge->open);
	merge->open_count = 0;

	merge->primer = sk_index_beginscan(merge->table, merge->index,
									   merge->snapshot, merge->key_count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		merge->streams[i].shard = shards[i];
		merge->primed++;
		prime_stream(merge, &merge->streams[i]);
	}
	index_endscan(merge->primer);
	merge->primer = NULL;
	binaryheap_build(merge->heap);
	MemoryContextSwitchTo(old);
}

/*
 * sk_merge_current
 *		The row that is first in order, or NULL if there is none left.
 *
 * It belongs to the merge, and lives until sk_merge_advance().
 */
HeapTuple
sk_merge_current(SkMerge *merge)
{
	SkStream   *stream;

	if (binaryheap_empty(merge->heap))
		return NULL;
	stream = (SkStream *) DatumGetPointer(binaryheap_first(merge->heap));
	return stream->tuple;
}

/*
 * sk_merge_advance
 *		Go to the next row.
 */
void
sk_merge_advance(SkMerge *merge)
{
	SkStream   *stream =
		(SkStream *) DatumGetPointer(binaryheap_first(merge->heap));
	MemoryContext old = MemoryContextSwitchTo(merge->context);

	if (stream->scan == NULL)
		open_stream(merge, stream);
	else
		dlist_move_head(&merge->open, &stream->node);

	if (next_row(merge, stream, stream->scan))
		binaryheap_replace_first(merge->heap, PointerGetDatum(stream));
	else
	{
		close_stream(merge, stream);
		(void) binaryheap_remove_first(merge->heap);
	}
	MemoryContextSwitchTo(old);
}

/*
 * sk_merge_reset
 *		Close all streams, and forget them.
 */
void
sk_merge_reset(SkMerge *merge)
{
	for (int i = 0; i < merge->stream_count; i++)
		if (merge->streams[i].scan)
			index_endscan(merge->streams[i].scan);
	if (merge->primer)
		index_endscan(merge->primer);
	merge->primer = NULL;
	merge->streams = NULL;
	merge->stream_count = 0;
	merge->heap = NULL;
	MemoryContextReset(merge->context);
}

static void
prime_stream(SkMerge *merge, SkStream *stream)
{
	merge->keys[0].sk_argument = Int32GetDatum(stream->shard);
	index_rescan(merge->primer, merge->keys, merge->key_count, NULL, 0);
	if (next_row(merge, stream, merge->primer))
		binaryheap_add_unordered(merge->heap, PointerGetDatum(stream));
}

/* Fetch the next visible row of a scan as the current one of a stream. */
static bool
next_row(SkMerge *merge, SkStream *stream, IndexScanDesc scan)
{
	ItemPointer tid;

	free_row(merge, stream);
	while ((tid = index_getnext_tid(scan, merge->direction)) != NULL)
	{
		ItemPointerData position = *tid;

		if (!index_fetch_heap(scan, merge->fetch_slot))
			continue;
		merge->fetched++;
		stream->tid = position;
		stream->tuple = ExecCopySlotHeapTuple(merge->fetch_slot);
		ExecClearTuple(merge->fetch_slot);
		read_keys(merge, stream);
		return true;
	}
	return false;
}

static void
read_keys(SkMerge *merge, SkStream *stream)
{
	TupleDesc	desc = RelationGetDescr(merge->table);

	if (stream->keys == NULL)
	{
		stream->keys = palloc(merge->column_count * sizeof(Datum));
		stream->nulls = palloc(merge->column_count * sizeof(bool));
	}
	for (int i = 0; i < merge->column_count; i++)
	{
		SkMergeColumn *column = &merge->columns[i];

		if (column->expr == NULL)
		{
			stream->keys[i] = heap_getattr(stream->tuple, column->attnum, desc,
										   &stream->nulls[i]);
			continue;
		}
		ResetExprContext(merge->econtext);
		ExecForceStoreHeapTuple(stream->tuple, merge->fetch_slot, false);
		merge->econtext->ecxt_scantuple = merge->fetch_slot;
		stream->keys[i] = ExecEvalExprSwitchContext(column->expr,
													merge->econtext,
													&stream->nulls[i]);
		if (!stream->nulls[i])
			stream->keys[i] = datumCopy(stream->keys[i], column->by_value,
										column->length);
		ExecClearTuple(merge->fetch_slot);
	}
}

static void
free_row(SkMerge *merge, SkStream *stream)
{
	if (stream->tuple == NULL)
		return;
	for (int i = 0; i < merge->column_count; i++)
		if (merge->columns[i].expr && !merge->columns[i].by_value &&
			!stream->nulls[i])
			pfree(DatumGetPointer(stream->keys[i]));
	heap_freetuple(stream->tuple);
	stream->tuple = NULL;
}

/* Open a scan of a stream's own, at its current row. */
static void
open_stream(SkMerge *merge, SkStream *stream)
{
	ScanKeyData *keys = merge->keys;
	int			key_count = merge->key_count;
	ItemPointer tid;

	if (merge->open_count >= merge->max_open)
		close_stream(merge, dlist_container(SkStream, node,
											dlist_tail_node(&merge->open)));

	keys[0].sk_argument = Int32GetDatum(stream->shard);
	if (merge->can_bound)
	{
		/* the bound has to stand between the shard and the conditions */
		keys = palloc((key_count + 1) * sizeof(ScanKeyData));
		keys[0] = merge->keys[0];
		memcpy(&keys[2], &merge->keys[1],
			   (key_count - 1) * sizeof(ScanKeyData));
		set_bound(merge, stream);
		keys[1] = merge->bound_key;
		keys[1].sk_argument = stream->bound;
		key_count++;
	}
	stream->scan = sk_index_beginscan(merge->table, merge->index,
									  merge->snapshot, key_count);
	index_rescan(stream->scan, keys, key_count, NULL, 0);
	if (keys != merge->keys)
		pfree(keys);
	dlist_push_head(&merge->open, &stream->node);
	merge->open_count++;
	merge->opened++;

	while ((tid = index_getnext_tid(stream->scan, merge->direction)) != NULL)
		if (ItemPointerEquals(tid, &stream->tid))
			return;
	elog(ERROR, "could not find row (%u,%u) again in index \"%s\"",
		 ItemPointerGetBlockNumber(&stream->tid),
		 ItemPointerGetOffsetNumber(&stream->tid),
		 RelationGetRelationName(merge->index));
}

/* Keep the first key as long as the scan refers to it. */
static void
set_bound(SkMerge *merge, SkStream *stream)
{
	SkMergeColumn *column = &merge->columns[0];

	stream->bound = datumCopy(stream->keys[0], column->by_value,
							  column->length);
	stream->has_bound = !column->by_value;
}

static void
close_stream(SkMerge *merge, SkStream *stream)
{
	index_endscan(stream->scan);
	stream->scan = NULL;
	if (stream->has_bound)
		pfree(DatumGetPointer(stream->bound));
	stream->has_bound = false;
	dlist_delete(&stream->node);
	merge->open_count--;
}

/* The heap gives the largest first, so the comparison is inverted. */
static int
compare_streams(Datum a, Datum b, void *arg)
{
	SkMerge    *merge = arg;
	SkStream   *left = (SkStream *) DatumGetPointer(a);
	SkStream   *right = (SkStream *) DatumGetPointer(b);

	for (int i = 0; i < merge->column_count; i++)
	{
		int			result = ApplySortComparator(left->keys[i], left->nulls[i],
												 right->keys[i],
												 right->nulls[i],
												 &merge->columns[i].order);

		if (result != 0)
			return -result;
	}
	return 0;
}
