/*-------------------------------------------------------------------------
 *
 * reserve_in_turn.c
 *	  Reserving values whatever the snapshot of the transaction shows.
 *
 * In REPEATABLE READ an UPDATE fails if the row has changed since the
 * snapshot was taken, and in SERIALIZABLE two transactions that read and
 * write the same row are a conflict.  But a number is no data of the
 * transaction: whichever it gets, it has come in its turn.  So we look for
 * the row as logical replication does, which waits for whoever has it, takes
 * its latest version, and leaves no trace of having read it.  That needs no
 * planning either, while others wait for the row.
 *
 * src/allocator/reserve_in_turn.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "allocator/reserve.h"
#include "allocator/reserve_in_turn.h"
#include "compat.h"

/* How often to look for a row that seems not to be there. */
#define SK_MAX_LOOKS 10

static TupleTableSlot *lock_row(Relation rel, const SkAllocatorRow *row);
static int64 row_value(TupleTableSlot *slot, const char *column);
static TupleTableSlot *change_row(TupleTableSlot *old, int64 next_value);
static void set_value(TupleTableSlot *slot, const char *column, Datum value);
static void write_row(Relation rel, TupleTableSlot *old, TupleTableSlot *new);

/*
 * sk_reserve_in_turn
 *		Reserve values in the current transaction.
 *
 * The row stays locked until that ends, and the values go back if it is
 * rolled back.
 */
SkRange
sk_reserve_in_turn(const SkAllocatorRow *row, int64 count)
{
	SkTableScope scope;
	Relation	rel;
	TupleTableSlot *old;
	TupleTableSlot *new;
	SkRange		range;
	int64		max_value;

	sk_table_enter(&scope);
	rel = table_open(sk_allocator_table(), RowExclusiveLock);
	old = lock_row(rel, row);
	range.first = row_value(old, "next_value");
	max_value = row_value(old, "max_value");
	if (range.first > max_value ||
		(uint64) count - 1 > (uint64) max_value - (uint64) range.first)
		sk_report_exhausted(row->name, max_value);
	range.end = range.first + count;
	new = change_row(old, range.end);
	write_row(rel, old, new);
	ExecDropSingleTupleTableSlot(new);
	ExecDropSingleTupleTableSlot(old);
	table_close(rel, NoLock);
	sk_table_leave(&scope);
	return range;
}

/*
 * Wait for the row, lock it and read it.  The search takes any version, and
 * can miss all of them if the row is updated while it looks at the index.
 */
static TupleTableSlot *
lock_row(Relation rel, const SkAllocatorRow *row)
{
	TupleTableSlot *key = MakeSingleTupleTableSlot(RelationGetDescr(rel),
												   &TTSOpsVirtual);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	Oid			index = RelationGetPrimaryKeyIndex(rel, false);
	bool		found = false;

	CommandCounterIncrement();
	ExecStoreAllNullTuple(key);
	set_value(key, "allocator_id", Int64GetDatum(row->id));
	for (int i = 0; i < SK_MAX_LOOKS && !found; i++)
		found = RelationFindReplTupleByIndex(rel, index, true,
											 LockTupleNoKeyExclusive, key, slot);
	ExecDropSingleTupleTableSlot(key);
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("allocator \"%s\" does not exist", row->name)));
	slot_getallattrs(slot);
	return slot;
}

static int64
row_value(TupleTableSlot *slot, const char *column)
{
	bool		isnull;

	return DatumGetInt64(slot_getattr(slot, SPI_fnumber(slot->tts_tupleDescriptor,
														column), &isnull));
}

static TupleTableSlot *
change_row(TupleTableSlot *old, int64 next_value)
{
	TupleDesc	tupdesc = old->tts_tupleDescriptor;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);

	memcpy(slot->tts_values, old->tts_values, tupdesc->natts * sizeof(Datum));
	memcpy(slot->tts_isnull, old->tts_isnull, tupdesc->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	set_value(slot, "next_value", Int64GetDatum(next_value));
	set_value(slot, "timeline", Int32GetDatum(GetWALInsertionTimeLine()));
	return slot;
}

static void
set_value(TupleTableSlot *slot, const char *column, Datum value)
{
	int			attnum = SPI_fnumber(slot->tts_tupleDescriptor, column);

	slot->tts_values[attnum - 1] = value;
	slot->tts_isnull[attnum - 1] = false;
}

/* Constraints are checked and triggers are called as by an UPDATE. */
static void
write_row(Relation rel, TupleTableSlot *old, TupleTableSlot *new)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *target = makeNode(ResultRelInfo);
	EPQState	epq;

	InitResultRelInfo(target, rel, 0, NULL, 0);
	estate->es_opened_result_relations =
		lappend(estate->es_opened_result_relations, target);
	estate->es_output_cid = GetCurrentCommandId(true);
	EvalPlanQualInit(&epq, estate, NULL, NIL, -1, NIL);
	ExecOpenIndices(target, false);

	PushActiveSnapshot(GetLatestSnapshot());
	estate->es_snapshot = GetActiveSnapshot();
	AfterTriggerBeginQuery();
	ExecSimpleRelationUpdate(target, estate, &epq, old, new);
	AfterTriggerEndQuery(estate);
	PopActiveSnapshot();

	EvalPlanQualEnd(&epq);
	ExecResetTupleTable(estate->es_tupleTable, false);
	ExecCloseResultRelations(estate);
	FreeExecutorState(estate);
}
