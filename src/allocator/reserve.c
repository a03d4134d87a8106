/*-------------------------------------------------------------------------
 *
 * reserve.c
 *	  Reserving values in the table spanner.allocator.
 *
 * A session reserves in its own transaction, which keeps the row locked to
 * its end; the worker reserves for many pools in one transaction, and passes
 * over rows that others have locked.
 *
 * src/allocator/reserve.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "mb/pg_wchar.h"

#include "allocator/reserve.h"
#include "compat.h"

/* Without failover_gap, as many batches of the largest size are left out. */
#define SK_GAP_BATCHES 10

/* In mode async a batch is as large as the number of sessions that wait. */
#define SK_ASYNC_BATCH 100

int			sk_allocator_refill_target = 50;

static void copy_clipped(char *target, const char *source, int size);
static void reserve_pool(SkTable *table, SkRefill *refill);
static bool plan_refill(SkRefill *refill, SkAllocatorRow *row);

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
 * sk_reserve_set_timeline
 *		Note that this server knows of all values that were reserved.
 */
void
sk_reserve_set_timeline(SkAllocatorRow *row)
{
	row->timeline = GetWALInsertionTimeLine();
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
	int64		gap = row->failover_gap;
	uint64		left;

	if (row->timeline == (int32) GetWALInsertionTimeLine())
		return;
	sk_reserve_set_timeline(row);
	if (!sk_mode_has_pool(row->mode) || row->next_value > row->max_value)
		return;
	if (gap < 0)
		gap = SK_GAP_BATCHES * (row->mode == SK_MODE_ASYNC ?
								SK_ASYNC_BATCH : row->max_batch_size);
	left = (uint64) row->max_value - (uint64) row->next_value + 1;
	gap = (int64) Min((uint64) gap, left / 10 + (left % 10 != 0));
	if (gap == 0)
		return;
	row->next_value += gap;
	ereport(LOG,
			(errcode(ERRCODE_WARNING),
			 errmsg("new timeline %u: allocator \"%s\" skipped %lld values",
					GetWALInsertionTimeLine(), row->name, (long long) gap)));
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

	sk_table_open(&table, RowExclusiveLock);
	for (int i = 0; i < count; i++)
		reserve_pool(&table, &refills[i]);
	sk_table_close(&table);
}

static void
reserve_pool(SkTable *table, SkRefill *refill)
{
	SkAllocatorRow row;

	if (!sk_reserve_lock(table, refill, &row))
		return;
	sk_reserve_leave_gap(&row);
	if (!plan_refill(refill, &row))
		return;
	row.next_value = refill->range.end;
	sk_row_update(table, &row, SK_WRITE_RESERVES);
	refill->result = SK_REFILL_DONE;
}

/*
 * sk_reserve_lock
 *		Lock the row of a pool.  Otherwise sets the result, and returns false.
 */
bool
sk_reserve_lock(SkTable *table, SkRefill *refill, SkAllocatorRow *row)
{
	int64		id = refill->key.allocator_id;
	bool		is_own;

	refill->result = SK_REFILL_FAILED;
	switch (sk_row_lock(table, id, LockWaitSkip, row))
	{
		case SK_ROW_FOUND:
			return true;
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

/* Decide which values a pool gets: a part of the batch if there are no more. */
static bool
plan_refill(SkRefill *refill, SkAllocatorRow *row)
{
	int64		size;
	uint64		left;

	if (!sk_mode_has_pool(row->mode))
	{
		sk_reserve_wrong_mode(refill, row->mode);
		return false;
	}
	sk_reserve_choose_batch(refill, row);
	if (row->next_value > row->max_value)
	{
		sk_reserve_error(&refill->error, ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
						 "all values are used up", NULL);
		refill->error.limit = row->max_value;
		return false;
	}
	left = (uint64) row->max_value - (uint64) row->next_value + 1;

	/* nobody's request for too many takes all that others can have */
	size = refill->wanted;
	if (size > 0 && (uint64) size > left)
		size -= refill->largest;
	size = Max(refill->batch, size);
	refill->limit = row->max_value;
	refill->range.first = row->next_value;
	refill->range.end = row->next_value + (int64) Min(left, (uint64) size);
	return true;
}

/*
 * sk_reserve_wrong_mode
 *		Note that values of an allocator of this mode are not for a pool, or
 *		not for this kind of pool.
 */
void
sk_reserve_wrong_mode(SkRefill *refill, SkMode mode)
{
	refill->result = SK_REFILL_FAILED;
	sk_reserve_error(&refill->error, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 psprintf("its mode is now \"%s\"", sk_mode_name(mode)),
					 "Repeat the statement.");
}

/*
 * sk_reserve_choose_batch
 *		Choose the size of the batch, and when to fill the pool again.
 *
 * A batch that lasts less than the target is doubled, one that lasts ten
 * times as long is halved.  A negative low-water mark is automatic.
 */
void
sk_reserve_choose_batch(SkRefill *refill, const SkAllocatorRow *row)
{
	int64		target_us = (int64) sk_allocator_refill_target * 1000;
	int64		batch = refill->batch;

	if (row->mode == SK_MODE_ASYNC)
		batch = 1;
	else if (batch == 0)
		batch = row->batch_size;
	else if (refill->since_last_us >= 0 && refill->since_last_us < target_us)
		batch *= 2;
	else if (refill->since_last_us > 10 * target_us)
		batch /= 2;
	if (row->mode != SK_MODE_ASYNC)
		batch = Min(Max(batch, row->batch_size), row->max_batch_size);
	refill->batch = batch;

	if (row->mode != SK_MODE_ASYNC_BATCH && row->mode != SK_MODE_REMOTE)
		refill->low_water_mark = 0;
	else
		refill->low_water_mark = row->low_water_mark >= 0 ?
			row->low_water_mark : batch / 2;
}

/*
 * sk_reserve_undo
 *		Give back the last values that were reserved, if they still are the
 *		last ones of a locked row.  Returns whether they were.
 */
bool
sk_reserve_undo(SkTable *table, SkAllocatorRow *row, SkRange range)
{
	if (range.first == range.end || row->next_value != range.end)
		return false;
	row->next_value = range.first;
	sk_row_update(table, row, SK_WRITE_RESERVES);
	return true;
}
