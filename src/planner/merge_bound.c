/*-------------------------------------------------------------------------
 *
 * merge_bound.c
 *	  Where the scan of a shard starts, and where it stops.
 *
 * A bound compares as many columns of the order as a B-tree can use at once:
 * they follow each other, have one direction and are never NULL.  A column is
 * never NULL in a scan that has a condition on it, unless that is IS NULL.
 * Columns that are fixed by an equality come before, for a B-tree starts at
 * the equality, and would pass over a row comparison on the same column.
 *
 * src/planner/merge_bound.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_index.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "planner/merge_bound.h"

static bool is_fixed(const SkMerge *merge, AttrNumber attno);
static bool is_never_null(const SkMerge *merge, int column);
static bool has_row_comparison(const SkMerge *merge);
static bool is_descending(const SkMerge *merge, AttrNumber attno);
static bool has_nulls_first(const SkMerge *merge, AttrNumber attno);
static void init_bound(SkMerge *merge, SkMergeBound *bound, bool is_start);
static bool is_implied(const ScanKeyData *key, const SkMergeBound *bound);

/* The number of a column of the order in the index. */
#define index_attno(merge, column) \
	((merge)->keys[(merge)->shard_key].sk_attno + 1 + (column))

/*
 * sk_init_merge_bounds
 *		Choose the columns of the bounds.
 *
 * The conditions must be known, but for their values.
 */
void
sk_init_merge_bounds(SkMerge *merge)
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
	/* what is not behind a row includes NULLs if they come first */
	if (count == 0 && first < merge->column_count &&
		!has_nulls_first(merge, index_attno(merge, first)))
		merge->stop.count = 1;
	/* a B-tree that forgets the bound would forget rows */
	if (SK_BTREE_LOSES_CONDITIONS && has_row_comparison(merge))
		merge->stop.count = 0;
	init_bound(merge, &merge->start, true);
	init_bound(merge, &merge->stop, false);
}

/*
 * sk_init_skip_bound
 *		Set up the bound that is behind a group of rows.
 *
 * "column" is the one that makes the groups, among those of the order.
 */
void
sk_init_skip_bound(SkMerge *merge, int column)
{
	SkMergeBound *bound = &merge->skip;
	AttrNumber	attno = index_attno(merge, column);
	Oid			type = merge->index->rd_opcintype[attno - 1];
	StrategyNumber strategy =
		is_descending(merge, attno) == ScanDirectionIsBackward(merge->direction) ?
		BTGreaterStrategyNumber : BTLessStrategyNumber;

	bound->first = column;
	bound->count = 1;
	ScanKeyEntryInitialize(&bound->key, 0, attno, strategy, InvalidOid,
						   merge->index->rd_indcollation[attno - 1],
						   get_opcode(get_opfamily_member(merge->index->rd_opfamily[attno - 1],
														  type, type, strategy)),
						   (Datum) 0);
}

/*
 * sk_set_merge_bound
 *		Set the row of a bound, given its columns.  There is one at a time.
 */
void
sk_set_merge_bound(SkMerge *merge, SkMergeBound *bound, const Datum *values)
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
 * sk_merge_scan_keys
 *		The keys of the scan of one shard, with a bound or without.
 *
 * Their number must not change from scan to scan, so the shard is repeated.
 */
void
sk_merge_scan_keys(SkMerge *merge, int32 shard, const SkMergeBound *bound)
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

/* Does the scan give the NULLs of a column before its values? */
static bool
has_nulls_first(const SkMerge *merge, AttrNumber attno)
{
	return ((merge->index->rd_indoption[attno - 1] & INDOPTION_NULLS_FIRST) != 0) !=
		ScanDirectionIsBackward(merge->direction);
}

static void
init_bound(SkMerge *merge, SkMergeBound *bound, bool is_start)
{
	Relation	index = merge->index;
	AttrNumber	attno = index_attno(merge, bound->first);
	StrategyNumber strategy;
	Oid			type;

	if (bound->count == 0)
		return;
	strategy = is_descending(merge, attno) ==
		(ScanDirectionIsBackward(merge->direction) == is_start) ?
		BTGreaterEqualStrategyNumber : BTLessEqualStrategyNumber;
	if (bound->count == 1)
	{
		type = index->rd_opcintype[attno - 1];
		ScanKeyEntryInitialize(&bound->key, 0, attno, strategy, InvalidOid,
							   index->rd_indcollation[attno - 1],
							   get_opcode(get_opfamily_member(index->rd_opfamily[attno - 1],
															  type, type, strategy)),
							   (Datum) 0);
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
