/*-------------------------------------------------------------------------
 *
 * merge_stream.c
 *	  The streams of a shard merge, and their order.
 *
 * One scan of the index serves all shards.  It descends to a shard, and the
 * TIDs that it finds there are kept: rows are fetched by them later, one by
 * one.  When they are used up, the scan descends again, to the current row,
 * and reads on, twice as far each time.  A row that is visible to the snapshot
 * stays in the index as long as the snapshot is held, so its TID is found
 * again.  The others need not be: a TID that has been removed, or used again,
 * leads to no row that the snapshot sees.
 *
 * A scan of an index reads whole pages.  So the first rows of one shard give a
 * bound at which the scans of the other shards stop.  That is a guess: a shard
 * without a row up to there is read again without it.
 *
 * If a LIMIT wants fewer rows than there are shards, the last of the first rows
 * that have been found is such a bound, too.  Shards without a row up to there
 * wait until the merge gets that far.
 *
 * One page of the table at most stays pinned between two rows.
 *
 * src/planner/merge_stream.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "planner/merge_bound.h"
#include "planner/merge_stream.h"

/* So many shards for each wanted row, and most have none. */
#define SK_SHARDS_FOR_ROW 4

static void start_streams(SkMerge *merge);
static void start_first_streams(SkMerge *merge);
static bool set_stop(SkMerge *merge, const SkStream *stream);
static void keep_limit(SkMerge *merge);
static bool is_behind_limit(SkMerge *merge);
static void start_deferred(SkMerge *merge);
static void look_into_shards(SkMerge *merge);
static bool guess_stop(SkMerge *merge, const SkStream *stream);
static void scan_shard(SkMerge *merge, int32 shard, SkMergeBound *bound);
static void look_ahead(SkMerge *merge, SkStream *stream, int count);
static bool next_row(SkMerge *merge, SkStream *stream);
static bool read_on(SkMerge *merge, SkStream *stream);
static bool fetch(SkMerge *merge, ItemPointer tid);
static void keep_row(SkMerge *merge, SkStream *stream, ItemPointer tid);
static Datum read_column(SkMerge *merge, int column, bool *isnull);
static void free_row(SkMerge *merge, SkStream *stream);
static int	compare_streams(Datum a, Datum b, void *arg);
static int	compare_backward(Datum a, Datum b, void *arg);

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

	/* what an earlier start has made is gone with its memory */
	Assert(merge->scan == NULL && merge->streams == NULL);
	Assert(count <= merge->shards && merge->max_ahead >= 1);
	merge->streams = palloc0(count * sizeof(SkStream));
	merge->stream_count = count;
	merge->heap = binaryheap_allocate(Max(count, 1), compare_streams, merge);
	merge->scan = sk_index_beginscan(merge->table, merge->index,
									 merge->snapshot, merge->key_count + 1);
	for (int i = 0; i < count; i++)
		merge->streams[i].shard = shards[i];
	merge->deferred_count = 0;
	if (merge->stop.count > 0 && merge->wanted > 0 &&
		merge->wanted <= count / SK_SHARDS_FOR_ROW)
		start_first_streams(merge);
	else
		start_streams(merge);
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

	if (merge->deferred_count > 0 && is_behind_limit(merge))
		start_deferred(merge);
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

	if (next_row(merge, stream))
		binaryheap_replace_first(merge->heap, PointerGetDatum(stream));
	else
		(void) binaryheap_remove_first(merge->heap);
	MemoryContextSwitchTo(old);
}

/*
 * sk_merge_reset
 *		Close all streams, and forget them.
 */
void
sk_merge_reset(SkMerge *merge)
{
	if (merge->scan)
		index_endscan(merge->scan);
	merge->scan = NULL;
	merge->streams = NULL;
	merge->stream_count = 0;
	merge->heap = NULL;
	merge->limit = NULL;
	merge->deferred_count = 0;
	MemoryContextReset(merge->context);
	MemoryContextReset(merge->bound_context);
}

static void
start_streams(SkMerge *merge)
{
	look_into_shards(merge);
	for (int i = 0; i < merge->stream_count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (next_row(merge, &merge->streams[i]))
			binaryheap_add_unordered(merge->heap,
									 PointerGetDatum(&merge->streams[i]));
	}
}

/*
 * The same where few rows are wanted, and most shards have none of them.  Once
 * as many rows are known, the last one is the limit: a shard without a row up
 * to there waits.
 */
static void
start_first_streams(SkMerge *merge)
{
	binaryheap *first = binaryheap_allocate(merge->wanted + 1,
											compare_backward, merge);
	SkMergeBound *stop = NULL;

	for (int i = 0; i < merge->stream_count; i++)
	{
		SkStream   *stream = &merge->streams[i];

		CHECK_FOR_INTERRUPTS();
		scan_shard(merge, stream->shard, stop);
		look_ahead(merge, stream, merge->depth);
		if (stop && stream->ahead_count == 0)
		{
			stream->deferred = true;
			merge->deferred_count++;
			continue;
		}
		else if (stop)
			stream->ended = false;
		if (!next_row(merge, stream))
			continue;
		binaryheap_add_unordered(merge->heap, PointerGetDatum(stream));
		binaryheap_add(first, PointerGetDatum(stream));
		if (first->bh_size > merge->wanted)
			(void) binaryheap_remove_first(first);
		if (first->bh_size == merge->wanted &&
			set_stop(merge, (SkStream *) DatumGetPointer(binaryheap_first(first))))
			stop = &merge->stop;
	}
	Assert(merge->deferred_count == 0 || stop != NULL);
	if (merge->deferred_count > 0)
		keep_limit(merge);
	binaryheap_free(first);
}

/* Scans are to stop behind the current row of a stream. */
static bool
set_stop(SkMerge *merge, const SkStream *stream)
{
	SkMergeBound *stop = &merge->stop;

	for (int i = stop->first; i < stop->first + stop->count; i++)
		if (stream->nulls[i])
			return false;
	sk_set_merge_bound(merge, stop, &stream->keys[stop->first]);
	return true;
}

/*
 * No deferred stream has a row up to the last bound.  The wanted row itself may
 * have a NULL there, and then it has not become the bound.
 */
static void
keep_limit(SkMerge *merge)
{
	SkMergeBound *stop = &merge->stop;

	merge->limit = palloc(stop->count * sizeof(Datum));
	for (int i = 0; i < stop->count; i++)
	{
		SkMergeColumn *column = &merge->columns[stop->first + i];
		ScanKey		key = stop->count > 1 ? &stop->members[i] : &stop->key;

		merge->limit[i] = datumCopy(key->sk_argument, column->by_value,
									column->length);
	}
}

/*
 * Are all rows up to the limit given?  Columns of the bound that are not of the
 * order make no difference: rows that are equal without them come in any order.
 */
static bool
is_behind_limit(SkMerge *merge)
{
	SkMergeBound *stop = &merge->stop;
	SkStream   *stream;

	if (binaryheap_empty(merge->heap))
		return true;
	stream = (SkStream *) DatumGetPointer(binaryheap_first(merge->heap));
	for (int i = stop->first;
		 i < Min(stop->first + stop->count, merge->order_count); i++)
	{
		int			result = ApplySortComparator(stream->keys[i],
												 stream->nulls[i],
												 merge->limit[i - stop->first],
												 false,
												 &merge->columns[i].order);

		if (result != 0)
			return result > 0;
	}
	return false;
}

static void
start_deferred(SkMerge *merge)
{
	MemoryContext old = MemoryContextSwitchTo(merge->context);

	for (int i = 0; i < merge->stream_count; i++)
	{
		SkStream   *stream = &merge->streams[i];

		if (!stream->deferred)
			continue;
		CHECK_FOR_INTERRUPTS();
		stream->deferred = false;
		scan_shard(merge, stream->shard, NULL);
		look_ahead(merge, stream, merge->depth);
		if (next_row(merge, stream))
			binaryheap_add(merge->heap, PointerGetDatum(stream));
	}
	merge->deferred_count = 0;
	MemoryContextSwitchTo(old);
}

/* Find the first TIDs of each shard.  A row is fetched only for a bound. */
static void
look_into_shards(SkMerge *merge)
{
	SkMergeBound *stop = NULL;

	for (int i = 0; i < merge->stream_count; i++)
	{
		SkStream   *stream = &merge->streams[i];

		CHECK_FOR_INTERRUPTS();
		scan_shard(merge, stream->shard, stop);
		look_ahead(merge, stream, stop ?
				   Min(2 * merge->depth, merge->max_ahead) : merge->depth);
		if (stop && stream->ahead_count == 0)
		{
			scan_shard(merge, stream->shard, NULL);
			look_ahead(merge, stream, merge->depth);
		}
		else if (stop)
		{
			stream->ended = false;
			continue;
		}
		if (merge->stop.count > 0 && stream->ahead_count == merge->depth &&
			guess_stop(merge, stream))
			stop = &merge->stop;
	}
}

/* Take the last row that has been found in a shard as the bound. */
static bool
guess_stop(SkMerge *merge, const SkStream *stream)
{
	SkMergeBound *stop = &merge->stop;
	Datum		values[INDEX_MAX_KEYS];

	Assert(stream->ahead_count >= 1);
	Assert(stop->count >= 1 && stop->first + stop->count <= merge->column_count);
	if (!fetch(merge, &stream->ahead[stream->ahead_count - 1]))
		return false;
	ResetExprContext(merge->econtext);
	for (int i = 0; i < stop->count; i++)
	{
		bool		isnull;

		values[i] = read_column(merge, stop->first + i, &isnull);
		if (isnull)
			return false;
	}
	sk_set_merge_bound(merge, stop, values);
	ExecClearTuple(merge->fetch_slot);
	return true;
}

static void
scan_shard(SkMerge *merge, int32 shard, SkMergeBound *bound)
{
	sk_merge_scan_keys(merge, shard, bound);
	index_rescan(merge->scan, merge->scan_keys, merge->key_count + 1, NULL, 0);
	InstrCountTuples2(merge->node, 1);
}

/*
 * Keep the TIDs that come next in the scan.  An index without WAL keeps its
 * page pinned until the next scan is started.
 */
static void
look_ahead(SkMerge *merge, SkStream *stream, int count)
{
	ItemPointer tid;

	Assert(count >= 1 && stream->ahead_next == stream->ahead_count);
	if (count > stream->ahead_size)
	{
		if (stream->ahead)
			pfree(stream->ahead);
		stream->ahead = palloc(count * sizeof(ItemPointerData));
		stream->ahead_size = count;
	}
	stream->ahead_count = 0;
	stream->ahead_next = 0;
	while (stream->ahead_count < count)
	{
		tid = index_getnext_tid(merge->scan, merge->direction);
		if (tid == NULL)
			break;
		stream->ahead[stream->ahead_count++] = *tid;
	}
	stream->ended = stream->ahead_count < count;
	if (!RelationNeedsWAL(merge->index))
		index_rescan(merge->scan, merge->scan_keys, merge->key_count + 1,
					 NULL, 0);
}

/* Make the next visible row of a stream its current one. */
static bool
next_row(SkMerge *merge, SkStream *stream)
{
	while (stream->ahead_next < stream->ahead_count)
	{
		ItemPointer tid = &stream->ahead[stream->ahead_next++];

		if (fetch(merge, tid))
		{
			keep_row(merge, stream, tid);
			return true;
		}
	}
	if (!stream->ended && read_on(merge, stream))
		return true;
	free_row(merge, stream);
	return false;
}

/*
 * Scan a shard again from its current row on, or from its start.  Rows are
 * fetched by index_fetch_heap(), which marks entries of rows that are dead to
 * all.
 */
static bool
read_on(SkMerge *merge, SkStream *stream)
{
	IndexScanDesc scan = merge->scan;
	SkMergeBound *start = NULL;
	ItemPointer tid;

	Assert(!stream->ended && stream->ahead_next == stream->ahead_count);
	if (stream->tuple && merge->start.count > 0)
	{
		start = &merge->start;
		sk_set_merge_bound(merge, start, &stream->keys[start->first]);
	}
	scan_shard(merge, stream->shard, start);
	while (stream->tuple)
	{
		tid = index_getnext_tid(scan, merge->direction);
		if (tid == NULL)
			elog(ERROR, "could not find row (%u,%u) again in index \"%s\"",
				 ItemPointerGetBlockNumber(&stream->tid),
				 ItemPointerGetOffsetNumber(&stream->tid),
				 RelationGetRelationName(merge->index));
		if (ItemPointerEquals(tid, &stream->tid))
			break;
	}

	while ((tid = index_getnext_tid(scan, merge->direction)) != NULL)
	{
		ItemPointerData position = *tid;

		CHECK_FOR_INTERRUPTS();
		if (!index_fetch_heap(scan, merge->fetch_slot))
			continue;
		keep_row(merge, stream, &position);
		look_ahead(merge, stream,
				   Max(Min(2 * stream->ahead_size, merge->max_ahead),
					   merge->depth));
		return true;
	}
	return false;
}

/* Is there a visible row at a TID?  It is in the slot then. */
static bool
fetch(SkMerge *merge, ItemPointer tid)
{
	ItemPointerData position = *tid;
	bool		again = false;

	if (!table_index_fetch_tuple(merge->scan->xs_heapfetch, &position,
								 merge->snapshot, merge->fetch_slot,
								 &again, NULL))
		return false;
	pgstat_count_heap_fetch(merge->index);
	return true;
}

/* Copy the row in the slot, so that its page need not stay pinned. */
static void
keep_row(SkMerge *merge, SkStream *stream, ItemPointer tid)
{
	TupleDesc	desc = RelationGetDescr(merge->table);

	/* where it lives until sk_merge_reset() */
	Assert(CurrentMemoryContext == merge->context);
	InstrCountFiltered2(merge->node, 1);
	free_row(merge, stream);
	if (stream->keys == NULL)
	{
		stream->keys = palloc(merge->column_count * sizeof(Datum));
		stream->nulls = palloc(merge->column_count * sizeof(bool));
	}
	stream->tid = *tid;
	stream->tuple = ExecCopySlotHeapTuple(merge->fetch_slot);
	ResetExprContext(merge->econtext);
	for (int i = 0; i < merge->column_count; i++)
	{
		SkMergeColumn *column = &merge->columns[i];

		if (column->expr == NULL)
			stream->keys[i] = heap_getattr(stream->tuple, column->attnum, desc,
										   &stream->nulls[i]);
		else
		{
			stream->keys[i] = read_column(merge, i, &stream->nulls[i]);
			if (!stream->nulls[i])
				stream->keys[i] = datumCopy(stream->keys[i], column->by_value,
											column->length);
		}
	}
	ExecClearTuple(merge->fetch_slot);
}

/* A column of the order of the row in the slot. */
static Datum
read_column(SkMerge *merge, int column, bool *isnull)
{
	SkMergeColumn *read = &merge->columns[column];

	if (read->expr == NULL)
		return slot_getattr(merge->fetch_slot, read->attnum, isnull);
	merge->econtext->ecxt_scantuple = merge->fetch_slot;
	return ExecEvalExprSwitchContext(read->expr, merge->econtext, isnull);
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

/* The heap gives the largest first, so the comparison is inverted. */
static int
compare_streams(Datum a, Datum b, void *arg)
{
	SkMerge    *merge = arg;
	SkStream   *left = (SkStream *) DatumGetPointer(a);
	SkStream   *right = (SkStream *) DatumGetPointer(b);

	Assert(left->tuple != NULL && right->tuple != NULL);
	for (int i = 0; i < merge->order_count; i++)
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

static int
compare_backward(Datum a, Datum b, void *arg)
{
	return compare_streams(b, a, arg);
}
