/*-------------------------------------------------------------------------
 *
 * skip_scan.c
 *	  The first rows of the groups of each shard, one after the other.
 *
 * A scan of a shard goes to the first row of a group that passes the filter,
 * and from there to the next group.  A few entries of the index are passed one
 * by one, which is cheaper than a descent if the next group is near.
 *
 * src/planner/skip_scan.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "planner/merge_bound.h"
#include "planner/merge_scan.h"

static bool next_shard(SkMerge *merge);
static void scan_from(SkMerge *merge, SkMergeBound *bound);
static bool is_same_group(SkMerge *merge);
static void remember_group(SkMerge *merge);

/*
 * sk_skip_start
 *		Begin with the first of some shards.
 */
void
sk_skip_start(SkMerge *merge, const int32 *shards, int count)
{
	MemoryContext old = MemoryContextSwitchTo(merge->context);

	Assert(merge->scan == NULL && merge->streams == NULL);
	merge->streams = palloc0(count * sizeof(SkStream));
	merge->stream_count = count;
	merge->stream_next = 0;
	for (int i = 0; i < count; i++)
		merge->streams[i].shard = shards[i];
	merge->scan = sk_index_beginscan(merge->table, merge->index,
									 merge->snapshot, merge->key_count + 1);
	/* the group of an entry is looked at without its row */
	merge->scan->xs_want_itup = true;
	merge->in_shard = false;
	merge->has_group = false;
	MemoryContextSwitchTo(old);
}

/*
 * sk_skip_next
 *		The next row that is the first visible one of a group; false if none is
 *		left.  It is in the slot.
 *
 * The same group goes on until sk_skip_group().
 */
bool
sk_skip_next(SkMerge *merge)
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
				scan_from(merge, &merge->skip);
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
 * sk_skip_group
 *		Go on behind the group of the row that sk_skip_next() has returned.
 */
void
sk_skip_group(SkMerge *merge)
{
	remember_group(merge);
	merge->has_group = true;
}

static bool
next_shard(SkMerge *merge)
{
	if (merge->stream_next >= merge->stream_count)
		return false;
	scan_from(merge, NULL);
	merge->stream_next++;
	merge->in_shard = true;
	merge->has_group = false;
	return true;
}

/* Scan a shard, or the rest of it. */
static void
scan_from(SkMerge *merge, SkMergeBound *bound)
{
	int			number = bound ? merge->stream_next - 1 : merge->stream_next;

	sk_merge_scan_keys(merge, merge->streams[number].shard, bound);
	index_rescan(merge->scan, merge->scan_keys, merge->key_count + 1, NULL, 0);
	InstrCountTuples2(merge->node, 1);
}

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

static void
remember_group(SkMerge *merge)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull;

	values[0] = index_getattr(merge->scan->xs_itup, merge->skip.key.sk_attno,
							  merge->scan->xs_itupdesc, &isnull);
	if (isnull)
		elog(ERROR, "index \"%s\" has a NULL in a column that cannot be NULL",
			 RelationGetRelationName(merge->index));
	sk_set_merge_bound(merge, &merge->skip, values);
}
