/*-------------------------------------------------------------------------
 *
 * own_counter.c
 *	  Counters that the current transaction holds.
 *
 * In mode sync, when rows are numbered at the commit, and when the
 * transaction has changed or locked an allocator, values are reserved in the
 * transaction itself.  The first one locks the row, so that everybody else
 * waits for the end of the transaction.  Until then the counter is counted
 * here, and it is written once, just before the transaction commits or is
 * prepared.  A rollback, also of a subtransaction, gives the values back.
 *
 * src/allocator/own_counter.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "allocator/own_counter.h"
#include "allocator/reserve.h"

/* What a counter was when a subtransaction first moved it. */
typedef struct Mark
{
	int			level;
	int64		next;
} Mark;

typedef struct OwnCounterKey
{
	int64		id;
	int64		table;			/* OID of spanner.allocator */
} OwnCounterKey;

typedef struct OwnCounter
{
	OwnCounterKey key;
	SkMode		mode;
	int64		next;
	int64		max_value;
	bool		is_stale;		/* the row may have changed but for "next" */
	int			level;			/* of the subtransaction that locked the row */
	List	   *marks;			/* ascending levels */
} OwnCounter;

/* In TopTransactionContext. */
static HTAB *counters = NULL;

static OwnCounter *find_counter(const SkAllocatorRow *row);
static OwnCounter *hold_counter(const SkAllocatorRow *known);
static void move_counter(OwnCounter *counter, int64 next);
static inline Mark *last_mark(const OwnCounter *counter);
static void end_transaction(XactEvent event, void *arg);
static void end_subtransaction(SubXactEvent event, SubTransactionId subid,
							   SubTransactionId parent, void *arg);
static void roll_back(OwnCounter *counter, int level);
static void leave_level(OwnCounter *counter, int level);

/*
 * sk_own_counter_init
 *		Be told of the ends of transactions and subtransactions.
 */
void
sk_own_counter_init(void)
{
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}

/*
 * sk_own_take
 *		Reserve values in the current transaction.
 */
SkRange
sk_own_take(const SkAllocatorRow *row, int64 count)
{
	OwnCounter *counter = hold_counter(row);
	SkRange		range;

	range.first = counter->next;
	if (range.first > counter->max_value ||
		(uint64) count - 1 > (uint64) counter->max_value - (uint64) range.first)
		sk_report_exhausted(row->name, counter->max_value);
	range.end = range.first + count;
	move_counter(counter, range.end);
	return range;
}

/*
 * sk_own_next
 *		The value that would be taken next, and the mode of the allocator.
 */
int64
sk_own_next(const SkAllocatorRow *row, SkMode *mode)
{
	OwnCounter *counter = hold_counter(row);

	*mode = counter->mode;
	return counter->next;
}

/*
 * sk_own_read
 *		Bring a row that has been read up to date.
 */
void
sk_own_read(SkAllocatorRow *row)
{
	OwnCounter *counter = find_counter(row);

	if (counter != NULL)
		row->next_value = counter->next;
}

/*
 * sk_own_note_update
 *		Note that the row has been written, and whether the counter in there
 *		was moved.
 */
void
sk_own_note_update(const SkAllocatorRow *row, bool is_moved)
{
	OwnCounter *counter = find_counter(row);

	if (counter == NULL)
		return;
	counter->is_stale = true;
	if (is_moved)
		move_counter(counter, row->next_value);
}

static OwnCounter *
find_counter(const SkAllocatorRow *row)
{
	OwnCounterKey key = {row->id, row->table};

	return counters == NULL ? NULL : hash_search(counters, &key, HASH_FIND, NULL);
}

/* Lock the row unless that has been done. */
static OwnCounter *
hold_counter(const SkAllocatorRow *known)
{
	OwnCounter *counter = find_counter(known);
	OwnCounterKey key = {known->id, known->table};
	SkAllocatorRow row;
	SkTable		table;

	if (likely(counter != NULL && !counter->is_stale))
		return counter;

	sk_table_open(&table, RowExclusiveLock);
	if (sk_row_lock(&table, known->id, LockWaitBlock, &row) != SK_ROW_FOUND)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("allocator \"%s\" does not exist", known->name)));
	sk_table_close(&table);
	if (row.mode == SK_MODE_REMOTE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot draw from allocator \"%s\" in the transaction that has changed it",
						known->name),
				 errdetail("Its values come from server \"%s\".", row.server),
				 errhint("Commit the change first.")));
	if (counters == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(OwnCounterKey);
		ctl.entrysize = sizeof(OwnCounter);
		ctl.hcxt = TopTransactionContext;
		counters = hash_create("spanner_keys own counters", 16, &ctl,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (counter == NULL)
	{
		sk_reserve_leave_gap(&row);
		counter = hash_search(counters, &key, HASH_ENTER, NULL);
		counter->next = row.next_value;
		counter->level = GetCurrentTransactionNestLevel();
		counter->marks = NIL;
	}
	counter->mode = row.mode;
	counter->max_value = row.max_value;
	counter->is_stale = false;
	return counter;
}

/* Remember where a subtransaction began, unless it locked the row itself. */
static void
move_counter(OwnCounter *counter, int64 next)
{
	int			level = GetCurrentTransactionNestLevel();
	Mark	   *last = last_mark(counter);

	if (level > counter->level && (last == NULL || last->level < level))
	{
		MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
		Mark	   *mark = palloc(sizeof(Mark));

		mark->level = level;
		mark->next = counter->next;
		counter->marks = lappend(counter->marks, mark);
		MemoryContextSwitchTo(old);
	}
	counter->next = next;
}

static inline Mark *
last_mark(const OwnCounter *counter)
{
	return counter->marks == NIL ? NULL : llast(counter->marks);
}

/*
 * sk_own_write
 *		Write the counters.
 *
 * A pool may have values that come before those that were taken here, so it
 * is emptied; modes without a pool only do what they always do.
 */
void
sk_own_write(void)
{
	HASH_SEQ_STATUS status;
	OwnCounter *counter;
	SkTable		table;

	if (counters == NULL || hash_get_num_entries(counters) == 0 ||
		!OidIsValid(sk_allocator_table()))
		return;
	sk_table_open(&table, RowExclusiveLock);
	hash_seq_init(&status, counters);
	while ((counter = hash_seq_search(&status)) != NULL)
	{
		SkAllocatorRow row;
		int64		next = counter->next;

		if (counter->key.table != RelationGetRelid(table.rel) ||
			sk_row_lock(&table, counter->key.id, LockWaitBlock, &row) != SK_ROW_FOUND ||
			row.next_value == next)
			continue;
		sk_reserve_set_timeline(&row);
		row.next_value = next;
		sk_row_update(&table, &row, sk_mode_has_pool(row.mode) ?
					  SK_WRITE_CHANGES : SK_WRITE_RESERVES);
	}
	sk_table_close(&table);
}

static void
end_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		counters = NULL;
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();
	HASH_SEQ_STATUS status;
	OwnCounter *counter;

	if (counters == NULL ||
		(event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB))
		return;
	hash_seq_init(&status, counters);
	while ((counter = hash_seq_search(&status)) != NULL)
	{
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			leave_level(counter, level);
		else
			roll_back(counter, level);
	}
}

/* A row that was locked in the subtransaction is free again. */
static void
roll_back(OwnCounter *counter, int level)
{
	Mark	   *last;

	if (counter->level >= level)
	{
		(void) hash_search(counters, &counter->key, HASH_REMOVE, NULL);
		return;
	}
	/* its changes of the row are undone as well */
	counter->is_stale = true;
	while ((last = last_mark(counter)) != NULL && last->level >= level)
	{
		counter->next = last->next;
		counter->marks = list_delete_last(counter->marks);
	}
}

/* What a subtransaction has done belongs to the one around it from now on. */
static void
leave_level(OwnCounter *counter, int level)
{
	Mark	   *last = last_mark(counter);
	int			count = list_length(counter->marks);

	if (last != NULL && last->level == level)
	{
		last->level = level - 1;
		if (level - 1 <= counter->level ||
			(count > 1 &&
			 ((Mark *) list_nth(counter->marks, count - 2))->level == level - 1))
			counter->marks = list_delete_last(counter->marks);
	}
	counter->level = Min(counter->level, level - 1);
}
