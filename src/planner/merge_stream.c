/*-------------------------------------------------------------------------
 *
 * merge_stream.c
 *	  The streams of a shard merge, one for each shard, and their order.
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
 * A bound compares as many columns of the order as a B-tree can use at once:
 * they follow each other, have one direction and are never NULL.  A column is
 * never NULL in a scan that has a condition on it, unless that is IS NULL.
 * Columns that are fixed by an equality come before, for a B-tree starts at
 * the equality, and would skip a row comparison on the same column.
 *
 * A merge that skips returns the first rows of the groups of each shard, one
 * shard after the other.  It goes to the first row of a group that passes the
 * filter, and from there to the next group.  A few entries of the index are
 * skipped one by one, which is cheaper than a descent if the next group is near.
 *
 * One page of the table at most stays pinned between two rows.
 *
 * src/planner/merge_stream.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "catalog/pg_index.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "planner/merge.h"

/* So many shards for each wanted row, and most have none. */
#define SK_SHARDS_FOR_ROW 4

/* The number of a column of the order in the index. */
#define index_attno(merge, column) \
	((merge)->keys[(merge)->shard_key].sk_attno + 1 + (column))

static void advance(SkMerge *merge);
static void start_streams(SkMerge *merge);
static void start_first_streams(SkMerge *merge);
static bool set_stop(SkMerge *merge, const SkStream *stream);
static void keep_limit(SkMerge *merge);
static bool is_after_limit(SkMerge *merge);
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
static void set_bound(SkMerge *merge, SkMergeBound *bound,
					  const Datum *values);
static void set_scan_keys(SkMerge *merge, int32 shard,
						  const SkMergeBound *bound);
static bool is_fixed(const SkMerge *merge, AttrNumber attno);
static bool is_never_null(const SkMerge *merge, int column);
static bool has_row_comparison(const SkMerge *merge);
static bool is_descending(const SkMerge *merge, AttrNumber attno);
static bool scans_upward(const SkMerge *merge, AttrNumber attno);
static bool has_nulls_first(const SkMerge *merge, AttrNumber attno);
static void init_bound(SkMerge *merge, SkMergeBound *bound, bool is_start);
static void init_column_bound(SkMerge *merge, SkMergeBound *bound,
							  StrategyNumber strategy);
static bool is_implied(const ScanKeyData *key, const SkMergeBound *bound);
static bool next_shard(SkMerge *merge);
static bool is_same_group(SkMerge *merge);

/*
 * sk_merge_open
 *		Choose the columns of the bounds.
 *
 * The conditions must be known, but for their values.  "skip_column" is the
 * one that makes groups, among those of the order, or SK_NO_SKIP.
 */
void
sk_merge_open(SkMerge *merge, int skip_column)
{
	int			first = 0;
	int			count = 0;

	while (first < merge->column_count &&
		   is_fixed(merge, index_attno(merge, first)))
		first++;
	while (first + count < merge->column_count &&
		   is_never_null(merge, first + count) &&
		   is_descending(merge, index_attno(merge, first + count)) ==
		   is_descending(merge, index_attno(merge, first)))
		count++;

	Assert(first + count <= merge->column_count);
	merge->start.first = first;
	merge->start.count = count;
	merge->stop = merge->start;
	/* what is not after a row includes NULLs if they come first */
	if (count == 0 && first < merge->column_count &&
		!has_nulls_first(merge, index_attno(merge, first)))
		merge->stop.count = 1;
	/* a B-tree that forgets the bound would forget rows */
	if (SK_BTREE_LOSES_CONDITIONS && has_row_comparison(merge))
		merge->stop.count = 0;
	init_bound(merge, &merge->start, true);
	init_bound(merge, &merge->stop, false);
	if (skip_column != SK_NO_SKIP)
	{
		merge->skip.first = skip_column;
		merge->skip.count = 1;
		init_column_bound(merge, &merge->skip,
						  scans_upward(merge, index_attno(merge, skip_column)) ?
						  BTGreaterStrategyNumber : BTLessStrategyNumber);
	}
}

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
	Assert(merge->max_ahead >= 1);
	merge->streams = palloc0(count * sizeof(SkStream));
	merge->stream_count = count;
	merge->scan = sk_index_beginscan(merge->table, merge->index,
									 merge->snapshot, merge->key_count + 1);
	for (int i = 0; i < count; i++)
		merge->streams[i].shard = shards[i];
	if (merge->skip.count > 0)
	{
		/* the group of an entry is looked at without its row */
		merge->scan->xs_want_itup = true;
		merge->stream_next = 0;
		merge->in_shard = false;
		merge->has_group = false;
	}
	else
	{
		merge->heap = binaryheap_allocate(Max(count, 1), compare_streams, merge);
		if (merge->stop.count > 0 && merge->wanted > 0 &&
			merge->wanted <= count / SK_SHARDS_FOR_ROW)
			start_first_streams(merge);
		else
			start_streams(merge);
		binaryheap_build(merge->heap);
	}
	MemoryContextSwitchTo(old);
}

/*
 * sk_merge_next
 *		The next row in order, or NULL if there is none left.
 *
 * It belongs to the merge, and lives until the next call.
 */
HeapTuple
sk_merge_next(SkMerge *merge)
{
	SkStream   *stream;

	if (merge->has_returned)
		advance(merge);
	if (merge->deferred_count > 0 && is_after_limit(merge))
		start_deferred(merge);
	merge->has_returned = !binaryheap_empty(merge->heap);
	if (!merge->has_returned)
		return NULL;
	stream = (SkStream *) DatumGetPointer(binaryheap_first(merge->heap));
	return stream->tuple;
}

/*
 * sk_merge_next_group
 *		The next row that is the first visible one of a group; false if none is
 *		left.  It is in the slot.
 *
 * The same group goes on until sk_merge_skip_group().
 */
bool
sk_merge_next_group(SkMerge *merge)
{
	int			steps = 0;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!merge->in_shard && !next_shard(merge))
			return false;
		if (index_getnext_tid(merge->scan, merge->direction) == NULL)
		{
			merge->in_shard = false;
			continue;
		}
		if (merge->has_group && is_same_group(merge))
		{
			if (++steps >= SK_SKIP_STEPS)
			{
				scan_shard(merge, merge->streams[merge->stream_next - 1].shard,
						   &merge->skip);
				merge->has_group = false;
			}
			continue;
		}
		merge->has_group = false;
		if (!index_fetch_heap(merge->scan, merge->fetch_slot))
			continue;
		InstrCountFiltered2(merge->node, 1);
		return true;
	}
}

/*
 * sk_merge_skip_group
 *		Go on after the group of the row that sk_merge_next_group() has returned.
 */
void
sk_merge_skip_group(SkMerge *merge)
{
	bool		isnull;
	Datum		value = index_getattr(merge->scan->xs_itup,
									  merge->skip.key.sk_attno,
									  merge->scan->xs_itupdesc, &isnull);

	if (isnull)
		elog(ERROR, "index \"%s\" has a NULL in a column that cannot be NULL",
			 RelationGetRelationName(merge->index));
	set_bound(merge, &merge->skip, &value);
	merge->has_group = true;
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
	merge->has_returned = false;
	merge->limit = NULL;
	merge->deferred_count = 0;
	MemoryContextReset(merge->context);
	MemoryContextReset(merge->bound_context);
}

/* Put the stream of the row that was returned in its new place. */
static void
advance(SkMerge *merge)
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

/* Scans are to stop after the current row of a stream. */
static bool
set_stop(SkMerge *merge, const SkStream *stream)
{
	SkMergeBound *stop = &merge->stop;

	for (int i = stop->first; i < stop->first + stop->count; i++)
		if (stream->nulls[i])
			return false;
	set_bound(merge, stop, &stream->keys[stop->first]);
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
is_after_limit(SkMerge *merge)
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
	set_bound(merge, stop, values);
	ExecClearTuple(merge->fetch_slot);
	return true;
}

static void
scan_shard(SkMerge *merge, int32 shard, SkMergeBound *bound)
{
	set_scan_keys(merge, shard, bound);
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
		set_bound(merge, start, &stream->keys[start->first]);
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

/* Set the row of a bound, given its columns.  There is one at a time. */
static void
set_bound(SkMerge *merge, SkMergeBound *bound, const Datum *values)
{
	MemoryContext old;

	Assert(bound->count >= 1);
	MemoryContextReset(merge->bound_context);
	old = MemoryContextSwitchTo(merge->bound_context);
	for (int i = 0; i < bound->count; i++)
	{
		SkMergeColumn *column = &merge->columns[bound->first + i];
		ScanKey		key = bound->count > 1 ? &bound->members[i] : &bound->key;

		key->sk_argument = datumCopy(values[i], column->by_value,
									 column->length);
	}
	MemoryContextSwitchTo(old);
}

/*
 * The keys of the scan of one shard, with a bound or without. Their number
 * must not change from scan to scan, so the shard is repeated.
 */
static void
set_scan_keys(SkMerge *merge, int32 shard, const SkMergeBound *bound)
{
	ScanKey		keys = merge->keys;
	ScanKey		result = merge->scan_keys;
	int			spare = bound ? 0 : 1;
	bool		placed = bound == NULL;

	Assert(bound == NULL || bound->count >= 1);
	for (int i = 0; bound && i < merge->key_count; i++)
		if (is_implied(&keys[i], bound))
			spare++;

	keys[merge->shard_key].sk_argument = Int32GetDatum(shard);
	for (int i = 0; i < merge->key_count; i++)
	{
		if (!placed && keys[i].sk_attno > bound->key.sk_attno)
		{
			*result++ = bound->key;
			placed = true;
		}
		if (i == merge->shard_key)
			while (spare-- > 0)
				*result++ = keys[i];
		if (bound == NULL || !is_implied(&keys[i], bound))
			*result++ = keys[i];
	}
	if (!placed)
		*result++ = bound->key;
	Assert(result == merge->scan_keys + merge->key_count + 1);
	for (int i = 1; i <= merge->key_count; i++)
		Assert(merge->scan_keys[i - 1].sk_attno <= merge->scan_keys[i].sk_attno);
}

/* Does a condition leave one value of a column, or NULL? */
static bool
is_fixed(const SkMerge *merge, AttrNumber attno)
{
	for (int i = 0; i < merge->key_count; i++)
	{
		ScanKey		key = &merge->keys[i];

		if (key->sk_attno == attno &&
			((key->sk_flags & SK_SEARCHNULL) != 0 ||
			 (key->sk_strategy == BTEqualStrategyNumber &&
			  (key->sk_flags & (SK_ROW_HEADER | SK_SEARCHARRAY)) == 0)))
			return true;
	}
	return false;
}

static bool
is_never_null(const SkMerge *merge, int column)
{
	AttrNumber	attnum = merge->columns[column].attnum;

	if (attnum > 0 && sk_never_null(RelationGetDescr(merge->table), attnum))
		return true;
	for (int i = 0; i < merge->key_count; i++)
		if (merge->keys[i].sk_attno == index_attno(merge, column) &&
			(merge->keys[i].sk_flags & SK_SEARCHNULL) == 0)
			return true;
	return false;
}

static bool
has_row_comparison(const SkMerge *merge)
{
	for (int i = 0; i < merge->key_count; i++)
		if ((merge->keys[i].sk_flags & SK_ROW_HEADER) != 0)
			return true;
	return false;
}

static bool
is_descending(const SkMerge *merge, AttrNumber attno)
{
	return (merge->index->rd_indoption[attno - 1] & INDOPTION_DESC) != 0;
}

/* Does the scan give the values of a column from the least to the greatest? */
static bool
scans_upward(const SkMerge *merge, AttrNumber attno)
{
	return is_descending(merge, attno) == ScanDirectionIsBackward(merge->direction);
}

/* Does the scan give the NULLs of a column before its values? */
static bool
has_nulls_first(const SkMerge *merge, AttrNumber attno)
{
	return ((merge->index->rd_indoption[attno - 1] & INDOPTION_NULLS_FIRST) != 0) !=
		ScanDirectionIsBackward(merge->direction);
}

/* Set up a bound: its operator, and the columns that it compares. */
static void
init_bound(SkMerge *merge, SkMergeBound *bound, bool is_start)
{
	Relation	index = merge->index;
	AttrNumber	attno = index_attno(merge, bound->first);
	StrategyNumber strategy;

	if (bound->count == 0)
		return;
	strategy = scans_upward(merge, attno) == is_start ?
		BTGreaterEqualStrategyNumber : BTLessEqualStrategyNumber;
	if (bound->count == 1)
	{
		init_column_bound(merge, bound, strategy);
		return;
	}

	bound->members = palloc0(bound->count * sizeof(ScanKeyData));
	for (int i = 0; i < bound->count; i++)
		ScanKeyEntryInitialize(&bound->members[i],
							   SK_ROW_MEMBER |
							   (i == bound->count - 1 ? SK_ROW_END : 0),
							   attno + i, strategy, InvalidOid,
							   index->rd_indcollation[attno + i - 1],
							   index_getprocid(index, attno + i, BTORDER_PROC),
							   (Datum) 0);
	memset(&bound->key, 0, sizeof(ScanKeyData));
	bound->key.sk_flags = SK_ROW_HEADER;
	bound->key.sk_attno = attno;
	bound->key.sk_strategy = strategy;
	bound->key.sk_argument = PointerGetDatum(bound->members);
}

/* The same for a bound that compares one column. */
static void
init_column_bound(SkMerge *merge, SkMergeBound *bound, StrategyNumber strategy)
{
	AttrNumber	attno = index_attno(merge, bound->first);
	Oid			type = merge->index->rd_opcintype[attno - 1];
	Oid			operator = get_opfamily_member(merge->index->rd_opfamily[attno - 1],
											   type, type, strategy);

	ScanKeyEntryInitialize(&bound->key, 0, attno, strategy, InvalidOid,
						   merge->index->rd_indcollation[attno - 1],
						   get_opcode(operator), (Datum) 0);
}

/*
 * Does the bound imply a condition that the row of the bound passes?  Then the
 * condition must not compete for where the scan starts.
 */
static bool
is_implied(const ScanKeyData *key, const SkMergeBound *bound)
{
	bool		upward = bound->key.sk_strategy >= BTGreaterEqualStrategyNumber;
	ScanKey		member;
	int			count = 1;

	if (key->sk_attno != bound->key.sk_attno ||
		(key->sk_flags & (SK_ISNULL | SK_SEARCHARRAY | SK_SEARCHNULL |
						  SK_SEARCHNOTNULL)) != 0 ||
		!(upward ? key->sk_strategy >= BTGreaterEqualStrategyNumber :
		  key->sk_strategy <= BTLessEqualStrategyNumber))
		return false;
	if ((key->sk_flags & SK_ROW_HEADER) == 0)
		return true;
	for (member = (ScanKey) DatumGetPointer(key->sk_argument);
		 (member->sk_flags & SK_ROW_END) == 0; member++)
		if (member[1].sk_attno != key->sk_attno + count++)
			return false;
	return count <= bound->count;
}

/* Begin with the next shard of a merge that skips; false if none is left. */
static bool
next_shard(SkMerge *merge)
{
	if (merge->stream_next >= merge->stream_count)
		return false;
	scan_shard(merge, merge->streams[merge->stream_next++].shard, NULL);
	merge->in_shard = true;
	merge->has_group = false;
	return true;
}

/* Is the entry that the scan has found of the group that is skipped? */
static bool
is_same_group(SkMerge *merge)
{
	SkMergeColumn *column = &merge->columns[merge->skip.first];
	bool		isnull;
	Datum		value = index_getattr(merge->scan->xs_itup,
									  merge->skip.key.sk_attno,
									  merge->scan->xs_itupdesc, &isnull);

	Assert(!isnull);
	return ApplySortComparator(value, isnull, merge->skip.key.sk_argument,
							   false, &column->order) == 0;
}
