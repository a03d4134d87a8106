/*-------------------------------------------------------------------------
 *
 * reserve.c
 *	  Reserving values in the table spanner.allocator.
 *
 * The worker reserves for many pools in one transaction, and passes over rows
 * that others have locked.
 *
 * A session reserves in its own transaction: in mode sync, when rows are
 * numbered at the commit, and when the transaction has changed or locked an
 * allocator.  The first value locks the row, so that everybody else waits for
 * the end of the transaction.  Until then the counter is counted here, and it
 * is written once, just before the transaction commits or is prepared.  A
 * rollback, also of a subtransaction, gives the values back.
 *
 * src/allocator/reserve.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "allocator/cache.h"
#include "allocator/reserve.h"
#include "compat.h"

/* Without failover_gap, as many batches of the largest size are left out. */
#define SK_GAP_BATCHES 10

/* As many timelines are counted; pg_resetwal can leave out any number of them. */
#define SK_MAX_GAPS 100

int			sk_allocator_refill_target = 50;

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
	ItemPointerData tid;		/* of the row when it was locked */
	bool		is_stale;		/* the row may have changed but for "next" */
	uint64		epoch;			/* of the cache, when the options were read */
	int			level;			/* of the subtransaction that locked the row */
	List	   *marks;			/* ascending levels */
} OwnCounter;

/* In TopTransactionContext. */
static HTAB *counters = NULL;

static void write_counter(SkTable *table, OwnCounter *counter);
static void copy_clipped(char *target, const char *source, int size);
static int	count_gaps(const SkAllocatorRow *row);
static bool plan_refill(SkRefill *refill, SkAllocatorRow *row);
static void reserve_pool(SkTable *table, SkRefill *refill);
static OwnCounter *find_counter(const SkAllocatorRow *row);
#ifdef USE_ASSERT_CHECKING
static bool marks_ascend(const OwnCounter *counter);
#endif
static OwnCounter *hold_counter(const SkAllocatorRow *known);
static void move_counter(OwnCounter *counter, int64 next);
static void roll_back(OwnCounter *counter, int level);
static void leave_level(OwnCounter *counter, int level);
static void end_subtransaction(SubXactEvent event, SubTransactionId subid,
							   SubTransactionId parent, void *arg);

/*
 * sk_report_exhausted
 *		Raise the error that all values have been given.
 */
void
sk_report_exhausted(const char *name, int64 max_value)
{
	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("reached maximum value of allocator \"%s\" (%lld)",
					name, (long long) max_value),
			 errhint("Raise the limit with %s.",
					 "spanner.alter_allocator(name, max_value => ...)")));
}

/* A character is copied as a whole, or not at all. */
static void
copy_clipped(char *target, const char *source, int size)
{
	int			length = source == NULL ? 0 :
		pg_mbcliplen(source, strlen(source), size - 1);

	if (length > 0)
		memcpy(target, source, length);
	target[length] = '\0';
}

/*
 * sk_reserve_error
 *		Note why values could not be reserved.
 */
void
sk_reserve_error(SkPoolError *error, int sqlerrcode,
				 const char *message, const char *hint)
{
	error->sqlerrcode = sqlerrcode;
	error->is_remote = false;
	copy_clipped(error->message, message, sizeof(error->message));
	copy_clipped(error->hint, hint, sizeof(error->hint));
}

/*
 * How many gaps are to be left: one for each timeline that has begun since the
 * row was written.  Each may be that of a server that left a gap itself, gave
 * values behind it, and was lost before it told anybody.
 */
static int
count_gaps(const SkAllocatorRow *row)
{
	uint32		now = GetWALInsertionTimeLine();
	uint32		then = row->timeline;

	if (sk_row_is_of_this_timeline(row))
		return 0;
	if (then == 0 || then >= now || row->system != (int64) GetSystemIdentifier())
		return 1;
	return Min(now - then, SK_MAX_GAPS);
}

/*
 * sk_reserve_leave_gap
 *		Leave out values that may have been given before a promotion or a
 *		recovery to a point in time, of which this server does not know.
 *
 * To be called for a locked row before anything is changed that the gap
 * depends on, or that depends on it.  Modes without a pool need no gap: their
 * values are of transactions that are lost too, or not ours.
 */
void
sk_reserve_leave_gap(SkAllocatorRow *row)
{
	int			gaps = count_gaps(row);
	int64		former = row->next_value;

	if (gaps == 0)
		return;
	sk_row_stamp(row);
	if (!sk_mode_has_pool(row->mode))
		return;
	for (int i = 0; i < gaps && row->next_value <= row->max_value; i++)
	{
		uint64		left = (uint64) row->max_value - (uint64) row->next_value + 1;
		uint64		gap = row->failover_gap >= 0 ? row->failover_gap :
			SK_GAP_BATCHES * row->max_batch_size;

		row->next_value += (int64) Min(gap, left / 10 + (left % 10 != 0));
		/* the value after the last one says that all are used up */
		Assert(row->next_value - 1 <= row->max_value);
	}
	if (row->next_value == former)
		return;
	ereport(LOG,
			(errcode(ERRCODE_WARNING),
			 errmsg("new timeline %u: allocator \"%s\" skipped %llu values",
					GetWALInsertionTimeLine(), row->name,
					(unsigned long long) row->next_value - (unsigned long long) former)));
}

/* Decide which values a pool gets: fewer than a batch if no more are left. */
static bool
plan_refill(SkRefill *refill, SkAllocatorRow *row)
{
	int64		size;
	uint64		left;

	sk_reserve_choose_batch(refill, row);
	if (row->next_value > row->max_value)
	{
		sk_reserve_error(&refill->error, ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
						 "all values are used up", NULL);
		refill->error.limit = row->max_value;
		return false;
	}
	left = (uint64) row->max_value - (uint64) row->next_value + 1;

	/* a request for more than is left must not take the rest from others */
	size = refill->wanted;
	if (size > 0 && (uint64) size > left)
		size -= refill->largest;
	size = Max(refill->batch, size);
	refill->limit = row->max_value;
	refill->range.first = row->next_value;
	refill->range.end = row->next_value + (int64) Min(left, (uint64) size);
	Assert(refill->range.first < refill->range.end);
	Assert(refill->range.end - 1 <= row->max_value);
	return true;
}

static void
reserve_pool(SkTable *table, SkRefill *refill)
{
	SkAllocatorRow row;

	if (!sk_reserve_lock(table, refill, SK_WORKER_LOCAL, &row))
		return;
	sk_reserve_leave_gap(&row);
	if (!plan_refill(refill, &row))
		return;
	row.next_value = refill->range.end;
	sk_row_update(table, &row, SK_WRITE_RESERVES);
	refill->result = SK_REFILL_DONE;
}

/*
 * sk_reserve_pools
 *		Reserve what pools need, in the current transaction.
 *
 * Sets the result of each.  Values may be handed out when the transaction is
 * committed, not before.
 */
void
sk_reserve_pools(SkRefill *refills, int count)
{
	SkTable		table;

	Assert(count >= 1 && count <= SK_MAX_REFILLS);
	sk_table_open(&table, RowExclusiveLock);
	for (int i = 0; i < count; i++)
		reserve_pool(&table, &refills[i]);
	sk_table_close(&table);
}

/*
 * sk_reserve_lock
 *		Lock the row of a pool that workers of a kind fill.
 *
 * Otherwise sets the result, and returns false.
 */
bool
sk_reserve_lock(SkTable *table, SkRefill *refill, SkWorkerKind kind,
				SkAllocatorRow *row)
{
	int64		id = refill->key.allocator_id;
	bool		is_own;

	Assert(refill->key.dbid == MyDatabaseId);
	refill->result = SK_REFILL_FAILED;
	/* the extension may have been created again since the pool asked */
	if (refill->key.relid != RelationGetRelid(table->rel))
	{
		sk_reserve_error(&refill->error, ERRCODE_UNDEFINED_OBJECT,
						 "it does not exist", NULL);
		return false;
	}
	switch (sk_row_lock(table, id, LockWaitSkip, row))
	{
		case SK_ROW_FOUND:
			if (kind == SK_WORKER_REMOTE ? row->mode == SK_MODE_REMOTE :
				sk_mode_has_pool(row->mode))
				return true;
			sk_reserve_error(&refill->error, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
							 psprintf("its mode is now \"%s\"", sk_mode_names[row->mode]),
							 "Repeat the statement.");
			break;
		case SK_ROW_LOCKED:
			refill->result = SK_REFILL_LOCKED;
			refill->blocked_by = sk_row_locker(table, id, &is_own);
			break;
		case SK_ROW_GONE:
			sk_reserve_error(&refill->error, ERRCODE_UNDEFINED_OBJECT,
							 "it does not exist", NULL);
			break;
	}
	return false;
}

/*
 * sk_reserve_choose_batch
 *		Choose the size of the batch, and when to fill the pool again.
 *
 * A batch that lasts less than the target is doubled, one that lasts ten
 * times as long is halved.  A negative low-water mark is automatic.  Where pools
 * are scarce, the first batches are smaller than they should be: as many values
 * are lost at most as have been given.
 */
void
sk_reserve_choose_batch(SkRefill *refill, const SkAllocatorRow *row)
{
	int64		target_us = (int64) sk_allocator_refill_target * 1000;
	int64		batch = refill->batch;
	bool		is_small = refill->is_scarce && batch < row->batch_size;

	if (row->mode == SK_MODE_ASYNC)
		batch = 1;
	else if (is_small)
		batch = Max(2 * batch, 1);
	else if (batch == 0)
		batch = row->batch_size;
	else if (refill->since_last_us >= 0 && refill->since_last_us < target_us)
		batch *= 2;
	else if (refill->since_last_us > 10 * target_us)
		batch /= 2;
	if (is_small)
		batch = Min(batch, row->batch_size);
	else if (row->mode != SK_MODE_ASYNC)
		batch = Min(Max(batch, row->batch_size), row->max_batch_size);
	Assert(batch >= 1 && batch <= PG_INT32_MAX);
	refill->batch = batch;

	if (row->mode != SK_MODE_ASYNC_BATCH && row->mode != SK_MODE_REMOTE)
		refill->low_water_mark = 0;
	else
		refill->low_water_mark = row->low_water_mark < 0 ? batch / 2 :
			is_small ? Min(row->low_water_mark, batch / 2) : row->low_water_mark;
}

/*
 * sk_reserve_undo
 *		Give what is left in the pool of a locked row back to it, and return how
 *		many values these are.
 *
 * Only the last values that were reserved can be given back.
 */
int64
sk_reserve_undo(SkTable *table, SkAllocatorRow *row)
{
	SkPoolKey	key = {MyDatabaseId, RelationGetRelid(table->rel), row->id};
	SkRange		range = sk_pool_withdraw(&key, row->next_value);

	if (range.first == range.end)
		return 0;
	/* nobody has reserved after the pool, which is empty now */
	Assert(range.end == row->next_value);
	row->next_value = range.first;
	sk_row_update(table, row, SK_WRITE_RESERVES);
	return range.end - range.first;
}

static OwnCounter *
find_counter(const SkAllocatorRow *row)
{
	OwnCounterKey key = {row->id, row->table};

	return counters == NULL ? NULL : hash_search(counters, &key, HASH_FIND, NULL);
}

static inline Mark *
last_mark(const OwnCounter *counter)
{
	return counter->marks == NIL ? NULL : llast(counter->marks);
}

#ifdef USE_ASSERT_CHECKING
/* A counter and its marks are of levels that have not ended, outermost first. */
static bool
marks_ascend(const OwnCounter *counter)
{
	int			level = counter->level;
	ListCell   *lc;

	if (level < 1)
		return false;
	foreach(lc, counter->marks)
	{
		if (((Mark *) lfirst(lc))->level <= level)
			return false;
		level = ((Mark *) lfirst(lc))->level;
	}
	return level <= GetCurrentTransactionNestLevel();
}
#endif

/* Lock the row unless that has been done. */
static OwnCounter *
hold_counter(const SkAllocatorRow *known)
{
	OwnCounter *counter = find_counter(known);
	OwnCounterKey key = {known->id, known->table};
	SkAllocatorRow row;
	SkTable		table;

	Assert(counter == NULL || marks_ascend(counter));
	if (likely(counter != NULL && !counter->is_stale &&
			   (known->parent_id == 0 || counter->epoch == sk_allocator_epoch)))
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
				 errmsg("cannot take values from allocator \"%s\" in the transaction that has changed it",
						known->name),
				 errdetail("Its values come from server \"%s\".", row.server),
				 errhint("Commit the change first.")));
	if (counters == NULL)
	{
		HASHCTL		ctl;

		sk_forget_with_transaction((void **) &counters);
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
	counter->tid = row.tid;
	counter->is_stale = false;
	counter->epoch = sk_allocator_epoch;
	/* that of a series may be below a bound which its allocator has got since */
	if (counter->next < row.min_value)
		move_counter(counter, row.min_value);
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
	Assert(marks_ascend(counter));
	counter->next = next;
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

	Assert(count >= 1);
	Assert(!IsInParallelMode());
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
 *		Give a row that has been read the counter of the transaction.
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

/*
 * sk_own_note_series
 *		Note that an allocator was changed, of which counters may be series.
 */
void
sk_own_note_series(void)
{
	HASH_SEQ_STATUS status;
	OwnCounter *counter;

	if (counters == NULL)
		return;
	hash_seq_init(&status, counters);
	while ((counter = hash_seq_search(&status)) != NULL)
		counter->is_stale = true;
}

/*
 * sk_own_write
 *		Write the counters to the tables that they were drawn from.
 *
 * A pool may have values that come before those that were taken here, so it
 * is emptied.  In modes without a pool this is an ordinary reservation.
 */
void
sk_own_write(void)
{
	HASH_SEQ_STATUS status;
	OwnCounter *counter;
	SkTable		table = {0};

	if (counters == NULL)
		return;
	/* a subtransaction could still be rolled back */
	Assert(GetCurrentTransactionNestLevel() == 1);
	hash_seq_init(&status, counters);
	while ((counter = hash_seq_search(&status)) != NULL)
	{
		if (table.rel != NULL && counter->key.table != RelationGetRelid(table.rel))
		{
			sk_table_close(&table);
			table.rel = NULL;
		}
		if (table.rel == NULL)
			sk_table_open_again(&table, (Oid) counter->key.table);
		write_counter(&table, counter);
	}
	if (table.rel != NULL)
		sk_table_close(&table);
}

/* The row is there, unless the transaction has deleted it. */
static void
write_counter(SkTable *table, OwnCounter *counter)
{
	SkAllocatorRow row;

	Assert(counter->level == 1 && counter->marks == NIL);
	if (sk_row_lock_again(table, &counter->tid, counter->key.id, &row) != SK_ROW_FOUND ||
		row.next_value == counter->next)
		return;
	sk_row_stamp(&row);
	row.next_value = counter->next;
	sk_row_update(table, &row, sk_mode_has_pool(row.mode) ?
				  SK_WRITE_CHANGES : SK_WRITE_RESERVES);
}

/* A row that was locked in the subtransaction is free again. */
static void
roll_back(OwnCounter *counter, int level)
{
	Mark	   *last;

	Assert(level >= 2 && marks_ascend(counter));
	if (counter->level >= level)
	{
		(void) hash_search(counters, &counter->key, HASH_REMOVE, NULL);
		return;
	}
	/* its changes of the row are undone as well */
	counter->is_stale = true;
	while ((last = last_mark(counter)) != NULL && last->level >= level)
	{
		Assert(last->level == level);
		counter->next = last->next;
		counter->marks = list_delete_last(counter->marks);
	}
}

/* The parent takes over what a subtransaction has done. */
static void
leave_level(OwnCounter *counter, int level)
{
	Mark	   *last = last_mark(counter);
	int			count = list_length(counter->marks);

	Assert(level >= 2 && marks_ascend(counter));
	if (last != NULL && last->level == level)
	{
		last->level = level - 1;
		if (level - 1 <= counter->level ||
			(count > 1 &&
			 ((Mark *) list_nth(counter->marks, count - 2))->level == level - 1))
			counter->marks = list_delete_last(counter->marks);
	}
	counter->level = Min(counter->level, level - 1);
	Assert(marks_ascend(counter));
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

/*
 * sk_reserve_init
 *		Watch the ends of subtransactions.
 */
void
sk_reserve_init(void)
{
	RegisterSubXactCallback(end_subtransaction, NULL);
}
