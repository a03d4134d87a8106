/*-------------------------------------------------------------------------
 *
 * change.c
 *	  What happens when an allocator is changed.
 *
 * A trigger on the table sees every change, by whatever command, and checks
 * the row.  The table has neither CHECKs nor DEFAULTs: core would read them
 * from the catalogs when a session draws for the first time.  Sessions
 * forget what they know of allocators through the relation cache.  The pool
 * is emptied just before the transaction commits, while the row is locked: a
 * batch that is reserved later comes after the change, and one that is under
 * way is kept out.  If the transaction fails after that, the values are lost,
 * which does no harm.  A new row has neither pool nor readers, only roles.
 *
 * src/allocator/change.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "allocator/allocator_roles.h"
#include "allocator/allocator_table.h"
#include "allocator/change.h"
#include "allocator/own_counter.h"
#include "allocator/pool.h"

PG_FUNCTION_INFO_V1(spanner_on_allocator_change);
PG_FUNCTION_INFO_V1(spanner_on_allocator_insert);

/* A transaction that changes more allocators empties all pools. */
#define SK_MAX_CHANGES 100

/* An allocator that the current transaction has changed, 0 for all. */
typedef struct Change
{
	int64		id;
	int64		minimum;		/* values from that on may stay */
	int			level;			/* of the subtransaction */
} Change;

/* In TopTransactionContext. */
static List *changes = NIL;

/* Has a row lost its roles, in the current transaction? */
static bool roles_changed = false;

static void check_trigger(FunctionCallInfo fcinfo, bool is_before,
						  const char *function);
static void note_row(TriggerData *trigger, SkWrite write);
static bool has_same_roles(const SkAllocatorRow *a, const SkAllocatorRow *b);
static void end_transaction(XactEvent event, void *arg);
static void apply_change(Change *change);
static void end_subtransaction(SubXactEvent event, SubTransactionId subid,
							   SubTransactionId parent, void *arg);

/*
 * sk_change_init
 *		Be told of the ends of transactions and subtransactions.
 */
void
sk_change_init(void)
{
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}

/*
 * sk_change_note
 *		Have values of an allocator below "minimum" discarded when the
 *		transaction commits.
 */
void
sk_change_note(int64 id, int64 minimum)
{
	MemoryContext old;
	Change	   *change;
	ListCell   *lc;

	foreach(lc, changes)
	{
		change = lfirst(lc);
		if (change->id != id && change->id != 0)
			continue;
		change->minimum = Max(change->minimum, minimum);
		return;
	}
	old = MemoryContextSwitchTo(TopTransactionContext);
	change = palloc(sizeof(Change));
	change->id = list_length(changes) < SK_MAX_CHANGES ? id : 0;
	change->minimum = change->id == 0 ? PG_INT64_MAX : minimum;
	change->level = GetCurrentTransactionNestLevel();
	changes = lappend(changes, change);
	MemoryContextSwitchTo(old);
}

/*
 * spanner_internal.on_allocator_change() returns trigger
 *
 * Row trigger for INSERT, UPDATE, DELETE and statement trigger for TRUNCATE.
 */
Datum
spanner_on_allocator_change(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	SkWrite		write = sk_table_write;

	check_trigger(fcinfo, false, "spanner_internal.on_allocator_change");
	if (!TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
	{
		CacheInvalidateRelcache(trigger->tg_relation);
		roles_changed = true;
		sk_change_note(0, PG_INT64_MAX);
	}
	else if (TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
	{
		SkAllocatorRow row;

		sk_row_fetch(trigger->tg_trigtuple, RelationGetDescr(trigger->tg_relation), &row);
		sk_row_check(&row);
		sk_roles_keep(trigger->tg_relation, &row);
	}
	else if (write != SK_WRITE_RESERVES)
		note_row(trigger, write);
	return PointerGetDatum(NULL);
}

static void
note_row(TriggerData *trigger, SkWrite write)
{
	TupleDesc	tupdesc = RelationGetDescr(trigger->tg_relation);
	SkAllocatorRow before;
	SkAllocatorRow after;

	sk_row_fetch(trigger->tg_trigtuple, tupdesc, &before);
	CacheInvalidateRelcache(trigger->tg_relation);
	if (write == SK_WRITE_CHANGES)
		sk_change_note(before.id, PG_INT64_MAX);
	if (!TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
	{
		roles_changed = true;
		return;
	}
	sk_row_fetch(trigger->tg_newtuple, tupdesc, &after);
	sk_row_check(&after);
	sk_own_note_update(&after, after.next_value != before.next_value);
	if (!has_same_roles(&before, &after))
	{
		roles_changed = true;
		sk_roles_keep(trigger->tg_relation, &after);
	}
}

static bool
has_same_roles(const SkAllocatorRow *a, const SkAllocatorRow *b)
{
	return a->owner_role == b->owner_role && a->usage_count == b->usage_count &&
		(a->usage_count == 0 ||
		 memcmp(a->usage_roles, b->usage_roles, a->usage_count * sizeof(Oid)) == 0);
}

/*
 * spanner_internal.on_allocator_insert() returns trigger
 *
 * Row trigger before INSERT, which fills in what the INSERT has left out.
 */
Datum
spanner_on_allocator_insert(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	check_trigger(fcinfo, true, "spanner_internal.on_allocator_insert");
	return PointerGetDatum(sk_row_complete(trigger->tg_trigtuple,
										   RelationGetDescr(trigger->tg_relation)));
}

static void
check_trigger(FunctionCallInfo fcinfo, bool is_before, const char *function)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		RelationGetRelid(trigger->tg_relation) != sk_allocator_table() ||
		(is_before ?
		 !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		 !TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		 !TRIGGER_FIRED_BY_INSERT(trigger->tg_event) :
		 !TRIGGER_FIRED_AFTER(trigger->tg_event)))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 is_before ?
				 errmsg("function \"%s\" was not called by a BEFORE INSERT trigger of table \"%s\"",
						function, "spanner.allocator") :
				 errmsg("function \"%s\" was not called by an AFTER trigger of table \"%s\"",
						function, "spanner.allocator")));
}

/* What the transaction has counted is written before pools are emptied. */
static void
end_transaction(XactEvent event, void *arg)
{
	ListCell   *lc;

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			sk_own_write();
			if (roles_changed)
				sk_roles_forget_unused();
			foreach(lc, changes)
				apply_change(lfirst(lc));
			break;
		case XACT_EVENT_PRE_PREPARE:
			sk_own_write();
			if (changes != NIL)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has altered or numbered from an allocator"),
						 errhint("Change allocators in a transaction of its own.")));
			if (roles_changed)
				sk_roles_forget_unused();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			changes = NIL;
			roles_changed = false;
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

/* What a subtransaction has changed is undone with it. */
static void
end_subtransaction(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();
	ListCell   *lc;

	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);

		if (change->level < level)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			change->level = level - 1;
		else
			changes = foreach_delete_current(changes, lc);
	}
}
