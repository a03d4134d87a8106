/*-------------------------------------------------------------------------
 *
 * reserve.c
 *	  Reserving values in the table spanner.allocator.
 *
 * What the workers, commands and transactions of sessions have in common: the
 * stamp of a counter and its gap after a promotion, the size of a batch, and
 * values that go back from a pool.
 *
 * src/allocator/reserve.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "allocator/allocator.h"

/* Without failover_gap, as many batches of the largest size are left out. */
#define SK_GAP_BATCHES 10

/* As many timelines are counted; pg_resetwal can leave out any number of them. */
#define SK_MAX_GAPS 100

int			sk_allocator_refill_target = 50;


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
 * sk_reserve_stamp
 *		Note that the counter is one that this server knows, and when.
 *
 * pg_upgrade makes a new system, whose timelines begin with 1 again.
 */
void
sk_reserve_stamp(SkAllocatorRow *row)
{
	row->timeline = GetWALInsertionTimeLine();
	row->system = GetSystemIdentifier();
}

/*
 * sk_reserve_skip_gap
 *		Leave out values that may have been given before a promotion or a
 *		recovery to a point in time, of which this server does not know.
 *
 * There is one gap for each timeline that has begun since the row was written.
 * Each may be that of a server that left a gap itself, gave values after it, and
 * was lost before it told anybody.
 *
 * To be called for a locked row before anything is changed that the gap
 * depends on, or that depends on it.  Modes without a pool need no gap: their
 * values are of transactions that are lost too, or not ours.
 */
void
sk_reserve_skip_gap(SkAllocatorRow *row)
{
	uint32		now = GetWALInsertionTimeLine();
	uint32		then = row->timeline;
	bool		is_known = row->system == (int64) GetSystemIdentifier() && then != 0;
	int64		former = row->next_value;
	int			gaps = is_known && then < now ? Min(now - then, SK_MAX_GAPS) : 1;

	if (is_known && then == now)
		return;
	sk_reserve_stamp(row);
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
		sk_pool_error(&refill->error, ERRCODE_UNDEFINED_OBJECT,
					  "it does not exist", NULL);
		return false;
	}
	switch (sk_row_lock(table, id, LockWaitSkip, row))
	{
		case SK_ROW_FOUND:
			if (kind == SK_WORKER_REMOTE ? row->mode == SK_MODE_REMOTE :
				sk_mode_has_pool(row->mode))
				return true;
			sk_pool_error(&refill->error, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						  psprintf("its mode is now \"%s\"", sk_mode_names[row->mode]),
						  "Repeat the statement.");
			break;
		case SK_ROW_LOCKED:
			refill->result = SK_REFILL_LOCKED;
			refill->blocked_by = sk_row_locker(table, id, &is_own);
			break;
		case SK_ROW_GONE:
			sk_pool_error(&refill->error, ERRCODE_UNDEFINED_OBJECT,
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
	SkValues	range = sk_pool_withdraw(&key, row->next_value);

	if (range.first == range.end)
		return 0;
	/* nobody has reserved after the pool, which is empty now */
	Assert(range.end == row->next_value);
	row->next_value = range.first;
	sk_row_update(table, row, SK_WRITE_RESERVES);
	return range.end - range.first;
}
