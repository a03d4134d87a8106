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
#include "catalog/pg_type.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "allocator/reserve.h"
#include "compat.h"

/* Without failover_gap, as many batches of the largest size are left out. */
#define SK_GAP_BATCHES 10

/* In mode async a batch is as large as the number of sessions that wait. */
#define SK_ASYNC_BATCH 100

int			sk_allocator_refill_target = 50;

/* Whatever the signs, neither difference overflows. */
static SkStatement reserve_here = {
	"UPDATE spanner.allocator a"
	" SET next_value = a.next_value OPERATOR(pg_catalog.+) $2, timeline = $3"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) $1"
	" AND (a.timeline IS NULL OR a.timeline OPERATOR(pg_catalog.>=) $3)"
	" AND CASE WHEN a.max_value OPERATOR(pg_catalog.<) 0"
	" THEN $2 OPERATOR(pg_catalog.-) 1"
	" OPERATOR(pg_catalog.<=) (a.max_value OPERATOR(pg_catalog.-) a.next_value)"
	" ELSE a.next_value OPERATOR(pg_catalog.<=)"
	" (a.max_value OPERATOR(pg_catalog.-) ($2 OPERATOR(pg_catalog.-) 1)) END"
	" RETURNING a.next_value",
	SPI_OK_UPDATE_RETURNING, 3, {INT8OID, INT8OID, INT4OID}
};

/* What fetch_counter() reads. */
#define SELECT_COUNTERS \
	"SELECT a.allocator_id, a.mode, a.next_value, a.max_value, a.batch_size," \
	" a.max_batch_size, a.low_water_mark, a.failover_gap, a.timeline, a.name" \
	" FROM spanner.allocator a WHERE a.allocator_id OPERATOR(pg_catalog.=)"

static SkStatement lock_row = {
	SELECT_COUNTERS " $1 FOR NO KEY UPDATE OF a",
	SPI_OK_SELECT, 1, {INT8OID}
};

static SkStatement lock_rows = {
	SELECT_COUNTERS " ANY ($1)"
	" ORDER BY a.allocator_id FOR NO KEY UPDATE OF a SKIP LOCKED",
	SPI_OK_SELECT, 1, {INT8ARRAYOID}
};

static SkStatement leave_gap = {
	"UPDATE spanner.allocator a SET next_value = $2, timeline = $3"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) $1",
	SPI_OK_UPDATE, 3, {INT8OID, INT8OID, INT4OID}
};

static SkStatement find_rows = {
	"SELECT a.allocator_id, a.xmax FROM spanner.allocator a"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) ANY ($1)",
	SPI_OK_SELECT, 1, {INT8ARRAYOID}
};

static SkStatement update_rows = {
	"UPDATE spanner.allocator a"
	" SET next_value = n.next_value, timeline = $3"
	" FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2))"
	" AS n (allocator_id, next_value)"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) n.allocator_id",
	SPI_OK_UPDATE, 3, {INT8ARRAYOID, INT8ARRAYOID, INT4OID}
};

static SkStatement undo_reservation = {
	"UPDATE spanner.allocator a SET next_value = $2"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) $1"
	" AND a.next_value OPERATOR(pg_catalog.=) $3",
	SPI_OK_UPDATE, 3, {INT8OID, INT8OID, INT8OID}
};

/* A row as the worker finds it. */
typedef struct CounterRow
{
	SkMode		mode;
	int64		next_value;
	int64		max_value;
	int32		batch_size;
	int32		max_batch_size;
	int64		low_water_mark; /* -1: automatic */
	int64		failover_gap;	/* -1: automatic */
	int32		timeline;		/* 0: none yet */
	char	   *name;
} CounterRow;

static void copy_clipped(char *target, const char *source, int size);
static Datum int64_array(Datum *values, int count);
static void fetch_counter(uint64 number, CounterRow *row);
static SkRefill *find_refill(SkRefill *refills, int count, int64 id);
static void plan_refill(SkRefill *refill, CounterRow *row);
static int64 leave_gap_here(int64 id, const char *name);
static bool is_before_promotion(const CounterRow *row);
static int64 first_value(const CounterRow *row);
static void write_counters(SkRefill *refills, int count);

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
 * sk_reserve_here
 *		Reserve values in the current transaction.
 *
 * The row stays locked until that ends, and the values go back if it is
 * rolled back.
 */
SkRange
sk_reserve_here(const SkAllocatorRow *row, int64 count)
{
	Datum		values[] = {Int64GetDatum(row->id), Int64GetDatum(count),
	Int32GetDatum(GetWALInsertionTimeLine())};
	SkTableScope scope;
	SkRange		range;

	sk_table_enter(&scope);
	if (sk_table_execute(&reserve_here, values, NULL) == 0)
	{
		int64		limit = leave_gap_here(row->id, row->name);

		if (sk_table_execute(&reserve_here, values, NULL) == 0)
			sk_report_exhausted(row->name, limit);
	}
	range.end = sk_table_int64(0, 1);
	range.first = range.end - count;
	sk_table_leave(&scope);
	return range;
}

/*
 * sk_reserve_leave_gap
 *		Leave out values that may have been given before a promotion.
 *
 * To be called before anything is changed that the gap depends on, or that
 * depends on it.
 */
void
sk_reserve_leave_gap(const SkAllocatorRow *row)
{
	SkTableScope scope;

	sk_table_enter(&scope);
	(void) leave_gap_here(row->id, row->name);
	sk_table_leave(&scope);
}

/* The same on the table.  Locks the row, and returns its max_value. */
static int64
leave_gap_here(int64 id, const char *name)
{
	Datum		values[] = {Int64GetDatum(id), (Datum) 0,
	Int32GetDatum(GetWALInsertionTimeLine())};
	CounterRow	row;
	int64		first;

	if (sk_table_execute(&lock_row, values, NULL) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("allocator \"%s\" does not exist", name),
				 errhint("It has just been dropped.")));
	fetch_counter(0, &row);
	first = Min(first_value(&row), row.max_value + 1);
	if (is_before_promotion(&row))
	{
		values[1] = Int64GetDatum(first);
		(void) sk_table_execute(&leave_gap, values, NULL);
	}
	return row.max_value;
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
	SkTableScope scope;
	Datum	   *ids = palloc(count * sizeof(Datum));
	Datum		array;
	uint64		found;

	for (int i = 0; i < count; i++)
	{
		ids[i] = Int64GetDatum(refills[i].key.allocator_id);
		refills[i].result = SK_REFILL_LOCKED;
	}
	array = int64_array(ids, count);

	sk_table_enter(&scope);
	found = sk_table_execute(&lock_rows, &array, NULL);
	for (uint64 i = 0; i < found; i++)
	{
		CounterRow	row;

		fetch_counter(i, &row);
		plan_refill(find_refill(refills, count, sk_table_int64(i, 1)), &row);
	}
	write_counters(refills, count);
	if (found < count)
		sk_reserve_explain_missing(refills, count);
	sk_table_leave(&scope);
}

static Datum
int64_array(Datum *values, int count)
{
	return PointerGetDatum(construct_array(values, count, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static void
fetch_counter(uint64 number, CounterRow *row)
{
	bool		isnull;
	Datum		value;

	if (!sk_mode_from_name(TextDatumGetCString(sk_table_datum(number, 2, &isnull)),
						   &row->mode))
		elog(ERROR, "unknown mode of an allocator");
	row->next_value = sk_table_int64(number, 3);
	row->max_value = sk_table_int64(number, 4);
	row->batch_size = DatumGetInt32(sk_table_datum(number, 5, &isnull));
	row->max_batch_size = DatumGetInt32(sk_table_datum(number, 6, &isnull));
	value = sk_table_datum(number, 7, &isnull);
	row->low_water_mark = isnull ? -1 : DatumGetInt32(value);
	value = sk_table_datum(number, 8, &isnull);
	row->failover_gap = isnull ? -1 : DatumGetInt64(value);
	value = sk_table_datum(number, 9, &isnull);
	row->timeline = isnull ? 0 : DatumGetInt32(value);
	row->name = TextDatumGetCString(sk_table_datum(number, 10, &isnull));
}

static SkRefill *
find_refill(SkRefill *refills, int count, int64 id)
{
	for (int i = 0; i < count; i++)
		if (refills[i].key.allocator_id == id)
			return &refills[i];
	elog(ERROR, "unexpected allocator");
}

/* Decide which values a pool gets: a part of the batch if there are no more. */
static void
plan_refill(SkRefill *refill, CounterRow *row)
{
	int64		first = first_value(row);
	int64		size;
	uint64		left;

	refill->result = SK_REFILL_FAILED;
	if (row->mode != SK_MODE_ASYNC && row->mode != SK_MODE_BATCH &&
		row->mode != SK_MODE_ASYNC_BATCH)
	{
		sk_reserve_wrong_mode(refill, row->mode);
		return;
	}
	sk_reserve_choose_batch(refill, row->mode, row->batch_size,
							row->max_batch_size, row->low_water_mark);
	if (first > row->max_value)
	{
		sk_reserve_error(&refill->error, ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
						 "all values are used up", NULL);
		refill->error.limit = row->max_value;
		return;
	}
	left = (uint64) row->max_value - (uint64) first + 1;

	/* nobody's request for too many takes all that others can have */
	size = refill->wanted;
	if ((uint64) size > left)
		size -= refill->largest;
	size = Max(refill->batch, size);
	refill->limit = row->max_value;
	refill->range.first = first;
	refill->range.end = first + (int64) Min(left, (uint64) size);
	refill->result = SK_REFILL_DONE;
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
sk_reserve_choose_batch(SkRefill *refill, SkMode mode, int32 batch_size,
						int32 max_batch_size, int64 low_water_mark)
{
	int64		target_us = (int64) sk_allocator_refill_target * 1000;
	int64		batch = refill->batch;

	if (mode == SK_MODE_ASYNC)
		batch = 1;
	else if (batch == 0)
		batch = batch_size;
	else if (refill->since_last_us >= 0 && refill->since_last_us < target_us)
		batch *= 2;
	else if (refill->since_last_us > 10 * target_us)
		batch /= 2;
	if (mode != SK_MODE_ASYNC)
		batch = Min(Max(batch, batch_size), max_batch_size);
	refill->batch = batch;

	if (mode != SK_MODE_ASYNC_BATCH && mode != SK_MODE_REMOTE)
		refill->low_water_mark = 0;
	else
		refill->low_water_mark = low_water_mark >= 0 ? low_water_mark : batch / 2;
}

/* Was the counter moved last before a promotion? */
static bool
is_before_promotion(const CounterRow *row)
{
	return row->timeline != 0 && row->timeline < GetWALInsertionTimeLine();
}

/*
 * The first value to reserve.  After a promotion or a recovery to a point in
 * time, values may have been given of which this server does not know.  Those
 * of the other modes are of transactions that are lost too, or not ours.
 */
static int64
first_value(const CounterRow *row)
{
	int64		gap = row->failover_gap;
	int64		first;

	if (!is_before_promotion(row) || gap == 0 ||
		(row->mode != SK_MODE_ASYNC && row->mode != SK_MODE_BATCH &&
		 row->mode != SK_MODE_ASYNC_BATCH))
		return row->next_value;
	if (gap < 0)
		gap = SK_GAP_BATCHES * (int64) (row->mode == SK_MODE_ASYNC ?
										SK_ASYNC_BATCH : row->max_batch_size);
	if (pg_add_s64_overflow(row->next_value, gap, &first))
		first = PG_INT64_MAX;
	ereport(LOG,
			(errcode(ERRCODE_WARNING),
			 errmsg("new timeline %u: allocator \"%s\" skipped %lld values",
					GetWALInsertionTimeLine(), row->name, (long long) gap)));
	return first;
}

static void
write_counters(SkRefill *refills, int count)
{
	Datum	   *nexts = palloc(count * sizeof(Datum));
	Datum	   *ids = palloc(count * sizeof(Datum));
	Datum		values[3];
	int			n = 0;

	for (int i = 0; i < count; i++)
		if (refills[i].result == SK_REFILL_DONE)
		{
			ids[n] = Int64GetDatum(refills[i].key.allocator_id);
			nexts[n++] = Int64GetDatum(refills[i].range.end);
		}
	if (n == 0)
		return;
	values[0] = int64_array(ids, n);
	values[1] = int64_array(nexts, n);
	values[2] = Int32GetDatum(GetWALInsertionTimeLine());
	if (sk_table_execute(&update_rows, values, NULL) != n)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
				 errmsg("could not update all rows of table \"%s\"",
						"spanner.allocator"),
				 errhint("Look for a trigger or rule on the table that suppresses updates.")));
}

/*
 * sk_reserve_explain_missing
 *		Find out why rows could not be locked: they are gone, or somebody else
 *		has locked them.
 *
 * To be called on the table, for refills of which the result is
 * SK_REFILL_LOCKED.
 */
void
sk_reserve_explain_missing(SkRefill *refills, int count)
{
	Datum	   *ids = palloc(count * sizeof(Datum));
	Datum		missing;
	uint64		found;
	int			n = 0;

	for (int i = 0; i < count; i++)
		if (refills[i].result == SK_REFILL_LOCKED)
		{
			ids[n++] = Int64GetDatum(refills[i].key.allocator_id);
			refills[i].result = SK_REFILL_FAILED;
			sk_reserve_error(&refills[i].error, ERRCODE_UNDEFINED_OBJECT,
							 "it does not exist", NULL);
		}
	missing = int64_array(ids, n);
	found = sk_table_execute(&find_rows, &missing, NULL);
	for (uint64 i = 0; i < found; i++)
	{
		SkRefill   *refill = find_refill(refills, count, sk_table_int64(i, 1));
		bool		isnull;

		refill->result = SK_REFILL_LOCKED;
		refill->blocked_by =
			DatumGetTransactionId(sk_table_datum(i, 2, &isnull));
	}
}

/*
 * sk_reserve_try_lock
 *		Lock an allocator for the current transaction, unless somebody else
 *		has locked it or it is gone.
 */
bool
sk_reserve_try_lock(int64 id)
{
	Datum		key = Int64GetDatum(id);
	Datum		array = int64_array(&key, 1);
	SkTableScope scope;
	bool		done;

	sk_table_enter(&scope);
	done = sk_table_execute(&lock_rows, &array, NULL) > 0;
	sk_table_leave(&scope);
	return done;
}

/*
 * sk_reserve_undo
 *		Give back the last values that were reserved, if they still are the
 *		last ones.  In the current transaction; returns whether they were.
 */
bool
sk_reserve_undo(int64 id, SkRange range)
{
	Datum		values[] = {Int64GetDatum(id), Int64GetDatum(range.first),
	Int64GetDatum(range.end)};
	SkTableScope scope;
	bool		done;

	sk_table_enter(&scope);
	done = sk_table_execute(&undo_reservation, values, NULL) > 0;
	sk_table_leave(&scope);
	return done;
}
