/*-------------------------------------------------------------------------
 *
 * restored.c
 *	  Allocators and their series that a dump brings.
 *
 * A dump has the rows of the table in any order, and ids that may be taken
 * here.
 *
 * src/allocator/restored.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "allocator/restored.h"
#include "allocator/series.h"

/*
 * A series of a dump that came before its allocator.  The levels are those of
 * the subtransactions that added it and that have restored it; 0 if that is
 * committed, or was not done.
 */
typedef struct WaitingSeries
{
	HeapTuple	tuple;
	int			added;
	int			restored;
} WaitingSeries;

/*
 * An allocator of a dump that this session restores.  A restore may commit
 * after each row, so this outlives a transaction, but not its rollback.
 */
typedef struct RestoredAllocator
{
	int64		dumped;			/* hash key */
	int64		id;				/* it may have been there, or its id been
								 * taken; 0 before it comes */
	int			level;			/* of the subtransaction that has set the id */
	List	   *series;			/* of WaitingSeries */
} RestoredAllocator;

static HTAB *restored = NULL;

static RestoredAllocator *find_restored(int64 dumped);
static void set_restored_id(RestoredAllocator *allocator, int64 id);
static void add_waiting(RestoredAllocator *allocator, HeapTuple tuple);
static void move_forward(SkTable *table, SkAllocatorRow *row,
						 const SkAllocatorRow *dumped);
static void restore_series(SkTable *table, RestoredAllocator *allocator);

static RestoredAllocator *
find_restored(int64 dumped)
{
	bool		found;
	RestoredAllocator *result;

	if (restored == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(int64),.entrysize = sizeof(RestoredAllocator)};

		restored = hash_create("restored allocators", 64, &control, HASH_ELEM | HASH_BLOBS);
	}
	result = hash_search(restored, &dumped, HASH_ENTER, &found);
	if (!found)
	{
		result->id = 0;
		result->level = 0;
		result->series = NIL;
	}
	return result;
}

static void
set_restored_id(RestoredAllocator *allocator, int64 id)
{
	allocator->id = id;
	allocator->level = GetCurrentTransactionNestLevel();
}

static void
add_waiting(RestoredAllocator *allocator, HeapTuple tuple)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	WaitingSeries *series = palloc0(sizeof(WaitingSeries));

	series->tuple = heap_copytuple(tuple);
	series->added = GetCurrentTransactionNestLevel();
	allocator->series = lappend(allocator->series, series);
	MemoryContextSwitchTo(old);
}

/*
 * sk_restored_end
 *		What a transaction or subtransaction of this level or above it has noted
 *		goes on at another level; 0 if it has committed, -1 if it is rolled back.
 */
void
sk_restored_end(int level, int next)
{
	HASH_SEQ_STATUS scan;
	RestoredAllocator *allocator;
	ListCell   *lc;

	if (restored == NULL)
		return;
	hash_seq_init(&scan, restored);
	while ((allocator = hash_seq_search(&scan)) != NULL)
	{
		if (allocator->level >= level)
		{
			allocator->id = next < 0 ? 0 : allocator->id;
			allocator->level = Max(next, 0);
		}
		foreach(lc, allocator->series)
		{
			WaitingSeries *series = lfirst(lc);

			if ((next < 0 && series->added >= level) || (next == 0 && series->restored >= level))
			{
				heap_freetuple(series->tuple);
				pfree(series);
				allocator->series = foreach_delete_current(allocator->series, lc);
				continue;
			}
			series->added = series->added >= level ? next : series->added;
			series->restored = series->restored >= level ? Max(next, 0) : series->restored;
		}
	}
}

/* Have a row go on where that of the dump does, unless it is ahead. */
static void
move_forward(SkTable *table, SkAllocatorRow *row, const SkAllocatorRow *dumped)
{
	row->next_value = Max(row->next_value, Min(dumped->next_value, row->max_value + 1));
	sk_row_update(table, row, SK_WRITE_CHANGES);
}

/*
 * Restore the series that came before their allocator, now that it is there
 * and they can be found.
 */
static void
restore_series(SkTable *table, RestoredAllocator *allocator)
{
	ListCell   *lc;

	foreach(lc, allocator->series)
	{
		WaitingSeries *series = lfirst(lc);
		SkAllocatorRow dumped;
		SkAllocatorRow row;

		if (series->restored > 0)
			continue;
		series->restored = GetCurrentTransactionNestLevel();
		sk_row_fetch(series->tuple, RelationGetDescr(table->rel), &dumped);
		if (sk_series_find_settled(table, allocator->id, dumped.series, &row) &&
			sk_row_lock(table, row.id, LockWaitBlock, &row) == SK_ROW_FOUND)
			move_forward(table, &row, &dumped);
		else
		{
			dumped.parent_id = allocator->id;
			sk_row_restore(table, &dumped);
		}
	}
}

/*
 * sk_restore_series_of
 *		The same after an allocator was inserted, if it is one of a dump.
 */
void
sk_restore_series_of(int64 id)
{
	HASH_SEQ_STATUS scan;
	RestoredAllocator *allocator;
	SkTable		table;

	if (restored == NULL)
		return;
	hash_seq_init(&scan, restored);
	while ((allocator = hash_seq_search(&scan)) != NULL)
	{
		if (allocator->id != id || allocator->series == NIL)
			continue;
		sk_table_open(&table, RowExclusiveLock);
		restore_series(&table, allocator);
		sk_table_close(&table);
	}
}

/*
 * sk_restore_allocator
 *		What becomes of a row of a dump; NULL if it is left out.
 *
 * Migrations may have made the allocator: then it keeps its id and its options,
 * but does not give what the rows of the dump have, and the row is left out.
 * Its id may be that of another one.
 *
 * So a series waits in memory until its allocator, which a dump may have behind
 * it, has the id that it keeps.
 */
HeapTuple
sk_restore_allocator(HeapTuple tuple, TupleDesc tupdesc)
{
	int			column = SK_COLUMN_ID;
	bool		isnull = false;
	Datum		id;
	SkTable		table;
	SkAllocatorRow dumped;
	SkAllocatorRow row;
	RestoredAllocator *allocator;

	sk_row_fetch(tuple, tupdesc, &dumped);
	sk_table_open(&table, RowExclusiveLock);
	allocator = find_restored(dumped.parent_id != 0 ? dumped.parent_id : dumped.id);
	if (dumped.parent_id != 0)
	{
		add_waiting(allocator, tuple);
		tuple = NULL;
		/* gone: its restore was rolled back, or it was dropped */
		if (allocator->id != 0 && sk_row_find(&table, NULL, allocator->id, &row))
			restore_series(&table, allocator);
	}
	else if (sk_row_find_settled(&table, dumped.name, &row) &&
			 sk_row_lock(&table, row.id, LockWaitBlock, &row) == SK_ROW_FOUND)
	{
		tuple = NULL;
		set_restored_id(allocator, row.id);
		move_forward(&table, &row, &dumped);
		restore_series(&table, allocator);
	}
	else
	{
		set_restored_id(allocator, sk_row_find(&table, NULL, dumped.id, &row) ?
						sk_table_next_id(table.rel) : dumped.id);
		id = Int64GetDatum(allocator->id);
		tuple = heap_modify_tuple_by_cols(tuple, tupdesc, 1, &column, &id, &isnull);
	}
	sk_table_close(&table);
	return tuple;
}
