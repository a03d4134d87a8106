/*-------------------------------------------------------------------------
 *
 * draw.c
 *	  Drawing values from an allocator.
 *
 * Values come from the shared pool; when that is empty the session waits for
 * the worker to fill it.  What the current transaction has changed or locked
 * is out of the worker's reach, so the session then reserves by itself.
 *
 * src/allocator/draw.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "allocator/draw.h"
#include "allocator/own_counter.h"
#include "allocator/reserve.h"
#include "allocator/worker_list.h"
#include "compat.h"

/* How often to look for a pool. */
#define SK_POOL_RETRY_MS 10

/* How often a waiting session looks whether there still is a worker. */
#define SK_WAIT_SLICE_MS 1000

int			sk_allocator_timeout = 10000;

static SkRange draw_from_pool(SkAllocator *allocator, int64 count, bool whole);
static SkTakeResult wait_for_values(SkAllocator *allocator, int64 count,
									bool whole, SkRange *range);
static void end_wait(int code, Datum waiter);
static SkTakeResult wait_loop(SkAllocator *allocator, SkWaiter *waiter,
							  bool whole, SkRange *range);
static SkPool *open_pool(SkAllocator *allocator);
static bool has_locked_table(LOCKMODE mode);
static bool has_locked_row(SkAllocator *allocator);
pg_noreturn static void report_refill_error(SkAllocator *allocator,
											SkPoolError *error);
pg_noreturn static void report_timeout(SkAllocator *allocator,
									   TransactionId blocked_by);
pg_noreturn static void report_no_worker(void);

static inline SkWorkerKind
worker_kind(SkAllocator *allocator)
{
	return allocator->row.mode == SK_MODE_REMOTE ?
		SK_WORKER_REMOTE : SK_WORKER_LOCAL;
}

/*
 * sk_draw
 *		Draw "count" values one after the other if "whole", else from 1 to
 *		"count" of them.
 *
 * The caller has checked privileges.
 */
SkRange
sk_draw(SkAllocator *allocator, int64 count, bool whole)
{
	switch (allocator->row.mode)
	{
		case SK_MODE_ON_COMMIT:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("allocator \"%s\" assigns values on commit",
							allocator->row.name),
					 errhint("Use spanner.assign_on_commit() as a deferred constraint trigger.")));
			break;
		case SK_MODE_SYNC:
			return sk_own_take(&allocator->row, count);
		default:
			break;
	}
	if (allocator->row.is_own || !IsUnderPostmaster)
		return sk_own_take(&allocator->row, count);
	return draw_from_pool(allocator, count, whole);
}

static SkRange
draw_from_pool(SkAllocator *allocator, int64 count, bool whole)
{
	SkTakeResult result;
	SkRange		range;
	bool		wake;

	for (;;)
	{
		if (allocator->pool == NULL)
			allocator->pool = open_pool(allocator);
		result = sk_pool_take(allocator->pool, &allocator->key, count, whole,
							  &range, &wake);
		if (result == SK_TAKE_DONE && wake)
			(void) sk_worker_wake(worker_kind(allocator));
		if (result == SK_TAKE_EMPTY && !has_locked_table(ShareLock))
			result = wait_for_values(allocator, count, whole, &range);
		if (result == SK_TAKE_DONE)
			return range;
		if (result == SK_TAKE_EMPTY)
			return sk_own_take(&allocator->row, count);
		allocator->pool = NULL;
	}
}

/* Wait for a pool if sessions wait at all of them. */
static SkPool *
open_pool(SkAllocator *allocator)
{
	TimestampTz begin = 0;

	for (;;)
	{
		SkPool	   *pool = sk_pool_open(&allocator->key, worker_kind(allocator));
		TimestampTz now;

		if (pool != NULL)
			return pool;
		now = GetCurrentTimestamp();
		if (begin == 0)
			begin = now;
		if (sk_allocator_timeout > 0 &&
			TimestampDifferenceExceeds(begin, now, sk_allocator_timeout))
			ereport(ERROR,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("too many allocators in use"),
					 errdetail("Sessions wait for the values of %d allocators, for more there is no room.",
							   sk_pool_count()),
					 errhint("Increase \"%s\" and preload the library.",
							 "spanner_keys.max_allocators")));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 SK_POOL_RETRY_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Has this transaction such a lock on the table, or a stronger one?  From
 * SHARE on, that keeps the worker from its work.
 */
static bool
has_locked_table(LOCKMODE mode)
{
	Relation	table = RelationIdGetRelation(sk_allocator_table());
	bool		result;

	if (!RelationIsValid(table))
		return false;
	result = CheckRelationLockedByMe(table, mode, true);
	RelationClose(table);
	return result;
}

/*
 * Several may have locked the row, of whom the worker tells one.  Who has not
 * locked the table for that does not wait for it now.
 */
static bool
has_locked_row(SkAllocator *allocator)
{
	SkTable		table;
	bool		is_own;

	if (!has_locked_table(RowShareLock))
		return false;
	sk_table_open(&table, AccessShareLock);
	(void) sk_row_locker(&table, allocator->id, &is_own);
	sk_table_close(&table);
	return is_own;
}

/*
 * Wait until there are values, and take them.  The pool stays empty if it is
 * the current transaction that keeps the worker from filling it.
 */
static SkTakeResult
wait_for_values(SkAllocator *allocator, int64 count, bool whole,
				SkRange *range)
{
	volatile SkTakeResult result = SK_TAKE_EMPTY;
	SkWaiter	waiter;

	waiter.pool = allocator->pool;
	waiter.key = allocator->key;
	waiter.count = count;

	sk_pool_wait_begin(&waiter);
	PG_ENSURE_ERROR_CLEANUP(end_wait, PointerGetDatum(&waiter));
	{
		result = wait_loop(allocator, &waiter, whole, range);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_wait, PointerGetDatum(&waiter));
	sk_pool_wait_end(&waiter);
	return result;
}

/* Also for a session that has to die, which does not come back. */
static void
end_wait(int code, Datum waiter)
{
	sk_pool_wait_end((SkWaiter *) DatumGetPointer(waiter));
}

static SkTakeResult
wait_loop(SkAllocator *allocator, SkWaiter *waiter, bool whole,
		  SkRange *range)
{
	for (;;)
	{
		long		left = SK_WAIT_SLICE_MS;
		SkTakeResult result;
		bool		wake;

		result = sk_pool_wait_take(waiter, whole, range, &wake);
		if (wake && !sk_worker_wake(worker_kind(allocator)) &&
			result == SK_TAKE_EMPTY)
			report_no_worker();
		if (result == SK_TAKE_FAILED)
			report_refill_error(allocator, &waiter->error);
		if (result != SK_TAKE_EMPTY ||
			(TransactionIdIsValid(waiter->blocked_by) && has_locked_row(allocator)))
			return result;

		if (sk_allocator_timeout > 0)
			left = Min(left, sk_allocator_timeout -
					   TimestampDifferenceMilliseconds(waiter->begin, GetCurrentTimestamp()));
		if (left <= 0)
			report_timeout(allocator, waiter->blocked_by);
		sk_pool_wait_sleep(waiter, left);
	}
}

static void
report_refill_error(SkAllocator *allocator, SkPoolError *error)
{
	switch (error->is_remote ? ERRCODE_SUCCESSFUL_COMPLETION : error->sqlerrcode)
	{
		case ERRCODE_UNDEFINED_OBJECT:
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("allocator \"%s\" does not exist",
							allocator->row.name)));
			break;
		case ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED:
			sk_report_exhausted(allocator->row.name, error->limit);
			break;
		default:
			ereport(ERROR,
					(errcode(error->sqlerrcode),
					 errmsg("could not refill allocator \"%s\": %s",
							allocator->row.name, error->message),
					 error->hint[0] != '\0' ? errhint("%s", error->hint) : 0));
	}
}

static void
report_timeout(SkAllocator *allocator, TransactionId blocked_by)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("timed out after %d ms waiting for allocator \"%s\"",
					sk_allocator_timeout, allocator->row.name),
			 TransactionIdIsValid(blocked_by) ?
			 errdetail("Its row is locked by transaction %u.", blocked_by) :
			 allocator->row.server[0] != '\0' ?
			 errdetail("Server \"%s\" has not answered yet.",
					   allocator->row.server) :
			 errdetail("The worker is starting, or its commit waits for storage or for a synchronous standby."),
			 errhint("Look at %s, or increase \"%s\".",
					 "spanner.stat_allocator_worker",
					 "spanner_keys.allocator_timeout")));
}

static void
report_no_worker(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
			 errmsg("could not start allocator worker"),
			 errhint("Increase \"%s\".", "max_worker_processes")));
}
