/*-------------------------------------------------------------------------
 *
 * change.c
 *	  What happens when an allocator is changed.
 *
 * A trigger on the table sees every change, by whatever command.  Sessions
 * forget what they know of allocators through the relation cache.  The pool
 * is emptied just before the transaction commits, while the row is locked: a
 * batch that is reserved later comes after the change, and one that is under
 * way is kept out.  If the transaction fails after that, the values are lost,
 * which does no harm.
 *
 * src/allocator/change.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "allocator/allocator_table.h"
#include "allocator/change.h"
#include "allocator/pool.h"

PG_FUNCTION_INFO_V1(spanner_on_allocator_change);

/* An allocator that the current transaction has changed, 0 for all. */
typedef struct Change
{
	int64		id;
	int64		minimum;		/* values from that on may stay */
} Change;

/* Set in workers: what they do to the table is no change. */
bool		sk_only_reserves = false;

/* What a reservation writes, and what says nothing about values. */
static const char *const reservation_columns[] = {"next_value", "timeline"};
static const char *const access_columns[] = {"name", "owner_role", "usage_role"};

/* In TopTransactionContext. */
static List *changes = NIL;

static bool is_reservation(TriggerData *trigger);
static bool same_columns(TriggerData *trigger, const char *const *others,
						 int count);
static Datum row_value(HeapTuple row, TupleDesc tupdesc, const char *column);
static bool same_value(HeapTuple old, HeapTuple new, TupleDesc tupdesc, int attnum);
static void apply_changes(XactEvent event, void *arg);
static void apply_change(Change *change);

/*
 * sk_change_init
 *		Be told of the ends of transactions.
 */
void
sk_change_init(void)
{
	RegisterXactCallback(apply_changes, NULL);
}

/*
 * sk_change_note
 *		Have values of an allocator below "minimum" discarded when the
 *		transaction commits.
 */
void
sk_change_note(int64 id, int64 minimum)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	Change	   *change = NULL;
	ListCell   *lc;

	foreach(lc, changes)
	{
		change = lfirst(lc);
		if (change->id == id)
			break;
		change = NULL;
	}
	if (change == NULL)
	{
		change = palloc(sizeof(Change));
		change->id = id;
		change->minimum = minimum;
		changes = lappend(changes, change);
	}
	change->minimum = Max(change->minimum, minimum);
	MemoryContextSwitchTo(old);
}

/*
 * spanner.on_allocator_change() returns trigger
 *
 * Row trigger for INSERT, UPDATE, DELETE and statement trigger for TRUNCATE.
 */
Datum
spanner_on_allocator_change(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TriggerEvent event;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		RelationGetRelid(trigger->tg_relation) != sk_allocator_table() ||
		!TRIGGER_FIRED_AFTER(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by an AFTER trigger of table \"%s\"",
						"spanner.on_allocator_change", "spanner.allocator"),
				 errhint("It serves that table only.")));

	event = trigger->tg_event;
	if (!TRIGGER_FIRED_FOR_ROW(event))
	{
		CacheInvalidateRelcache(trigger->tg_relation);
		sk_change_note(0, PG_INT64_MAX);
	}
	else if (!is_reservation(trigger))
	{
		CacheInvalidateRelcache(trigger->tg_relation);
		if (!TRIGGER_FIRED_BY_UPDATE(event) ||
			!same_columns(trigger, access_columns, lengthof(access_columns)))
			sk_change_note(DatumGetInt64(row_value(trigger->tg_trigtuple,
												   RelationGetDescr(trigger->tg_relation),
												   "allocator_id")),
						   PG_INT64_MAX);
	}
	return PointerGetDatum(NULL);
}

/*
 * Reserving values moves next_value forward, by the worker or in one of the
 * modes that have no pool.
 */
static bool
is_reservation(TriggerData *trigger)
{
	TupleDesc	tupdesc = RelationGetDescr(trigger->tg_relation);
	HeapTuple	old = trigger->tg_trigtuple;
	HeapTuple	new = trigger->tg_newtuple;
	SkMode		mode;

	if (!TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		return false;
	if (sk_only_reserves)
		return true;
	if (DatumGetInt64(row_value(new, tupdesc, "next_value")) <
		DatumGetInt64(row_value(old, tupdesc, "next_value")))
		return false;
	return same_columns(trigger, reservation_columns,
						lengthof(reservation_columns)) &&
		sk_mode_from_name(TextDatumGetCString(row_value(new, tupdesc, "mode")),
						  &mode) &&
		(mode == SK_MODE_SYNC || mode == SK_MODE_ON_COMMIT);
}

/* Are the columns the same but for some? */
static bool
same_columns(TriggerData *trigger, const char *const *others, int count)
{
	TupleDesc	tupdesc = RelationGetDescr(trigger->tg_relation);

	for (int i = 1; i <= tupdesc->natts; i++)
	{
		const char *column = NameStr(TupleDescAttr(tupdesc, i - 1)->attname);
		bool		is_other = false;

		for (int j = 0; j < count; j++)
			is_other |= strcmp(column, others[j]) == 0;
		if (!is_other &&
			!same_value(trigger->tg_trigtuple, trigger->tg_newtuple, tupdesc, i))
			return false;
	}
	return true;
}

static Datum
row_value(HeapTuple row, TupleDesc tupdesc, const char *column)
{
	bool		isnull;

	return SPI_getbinval(row, tupdesc, SPI_fnumber(tupdesc, column), &isnull);
}

static bool
same_value(HeapTuple old, HeapTuple new, TupleDesc tupdesc, int attnum)
{
	Form_pg_attribute attribute = TupleDescAttr(tupdesc, attnum - 1);
	bool		old_isnull;
	bool		new_isnull;
	Datum		old_value = heap_getattr(old, attnum, tupdesc, &old_isnull);
	Datum		new_value = heap_getattr(new, attnum, tupdesc, &new_isnull);

	if (old_isnull || new_isnull)
		return old_isnull && new_isnull;
	return datumIsEqual(old_value, new_value, attribute->attbyval,
						attribute->attlen);
}

static void
apply_changes(XactEvent event, void *arg)
{
	ListCell   *lc;

	if (changes == NIL)
		return;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			foreach(lc, changes)
				apply_change(lfirst(lc));
			break;
		case XACT_EVENT_PRE_PREPARE:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction that has altered or numbered from an allocator"),
					 errhint("Change allocators in a transaction of its own.")));
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
			changes = NIL;
			break;
		default:
			break;
	}
}

static void
apply_change(Change *change)
{
	SkPoolKey	key;

	key.dbid = MyDatabaseId;
	key.relid = sk_allocator_table();
	key.allocator_id = change->id;
	if (change->id != 0)
		sk_pool_discard(&key, change->minimum);
	else
		sk_pool_discard_all(&key);
}
