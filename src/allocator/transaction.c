/*-------------------------------------------------------------------------
 *
 * transaction.c
 *	  What the current transaction has taken from allocators, changed and restored.
 *
 * A session reserves in its own transaction: in mode sync, when rows are
 * numbered at the commit, and when the transaction has changed or locked an
 * allocator.  The first value locks the row, so that everybody else waits for
 * the end of the transaction.  Until then the counter is counted here, and it
 * is written once, just before the transaction commits or is prepared.  A
 * rollback, also of a subtransaction, gives the values back.
 *
 * A trigger on the table sees every change, by whatever command, and checks
 * the row.  The table has neither CHECKs nor DEFAULTs: core would prepare the
 * first for each row that is written, and the others depend on whether the row is
 * a series.  Sessions forget what they have cached of allocators through the
 * relation cache.  The pool is emptied just before the transaction commits, while
 * the row is locked: a batch that is reserved later comes after the change, and
 * one that is under way is kept out.  If the transaction fails after that, the
 * values are lost, which does no harm.  A new row has neither pool nor readers,
 * only roles.
 *
 * DROP ROLE must know of the roles that the table names, as owners or as those
 * that may use it.  An allocator is no object of the catalogs, so it can have no
 * dependency of its own.  Such a role has a privilege on the column of the
 * owners instead: REFERENCES, which is of no use there, since the column is
 * not unique.  So DROP ROLE refuses to drop it, in every database and in
 * sessions without this library.  Whoever writes a role into the table locks
 * the role; whoever revokes the privilege locks it in a mode that conflicts
 * with that.
 *
 * DROP OWNED does not drop allocators: REASSIGN OWNED, which usually comes
 * before it, tells nobody what it does, and counters would be lost.
 *
 * A dump has the rows of the table in any order, and ids that may be taken
 * here.  So a series waits in memory until its allocator is there.
 *
 * src/allocator/transaction.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "commands/user.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "allocator/allocator.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"

PG_FUNCTION_INFO_V1(spanner_on_allocator_apply);
PG_FUNCTION_INFO_V1(spanner_on_allocator_change);
PG_FUNCTION_INFO_V1(spanner_on_allocator_insert);
PG_FUNCTION_INFO_V1(spanner_on_drop_owned);

/* How large batches are if the INSERT does not say so. */
#define SK_DEFAULT_BATCH 200

/* A transaction that changes more allocators empties all pools. */
#define SK_MAX_CHANGES 100

/* An allocator that the current transaction has changed, 0 for all. */
typedef struct Change
{
	Oid			table;
	int64		id;
	int64		minimum;		/* values from that on may stay */
	int			level;			/* of the subtransaction */
} Change;

/* What a counter was when a subtransaction locked it, or first moved it. */
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
	List	   *marks;			/* the first of the lock; ascending levels */
} OwnCounter;

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

/* What the current transaction has taken and changed, in TopTransactionContext. */
static HTAB *counters = NULL;
static List *changes = NIL;

/* Has the current transaction taken roles out of a row? */
static bool roles_changed = false;

/* Of RestoredAllocator. */
static HTAB *restored = NULL;

#ifdef USE_ASSERT_CHECKING
static bool marks_ascend(const OwnCounter *counter);
#endif
static OwnCounter *find_counter(const SkAllocatorRow *row);
static OwnCounter *hold_counter(const SkAllocatorRow *known);
static void move_counter(OwnCounter *counter, int64 next);
static void write_counters(void);
static void end_counter(OwnCounter *counter, int level, bool is_commit);
static void check_trigger(FunctionCallInfo fcinfo, const char *before,
						  const char *function);
static List *named_roles(const SkAllocatorRow *row);
static List *granted_roles(Relation rel);
static void change_grant(Relation rel, Oid role, bool is_grant);
static void keep_roles(Relation rel, const SkAllocatorRow *row);
static bool has_options_of(const SkAllocatorRow *row,
						   const SkAllocatorRow *other);
static void delete_series(int64 parent_id);
static void note_series(const SkAllocatorRow *row);
static void note_row(TriggerData *trigger, SkWrite write);
static HeapTuple next_allocator(Relation rel, SysScanDesc scan);
static List *allocators_of_users(Relation rel, List *roles);
static List *unused_roles(Relation rel);
static void forget_unused_roles(void);
static void apply_change(Change *change);
static HeapTuple complete_row(HeapTuple tuple, TupleDesc tupdesc,
							  bool is_replicated);
static HeapTuple merge_row(HeapTuple old, HeapTuple new, TupleDesc tupdesc);
static RestoredAllocator *find_restored(int64 dumped);
static void end_restored(int level, int next);
static void move_forward(SkTable *table, SkAllocatorRow *row,
						 const SkAllocatorRow *dumped);
static void restore_series(SkTable *table, RestoredAllocator *allocator);
static void restore_series_of(int64 id);
static HeapTuple restore_allocator(HeapTuple tuple, TupleDesc tupdesc);
static void end_transaction(XactEvent event, void *arg);
static void end_subtransaction(SubXactEvent event, SubTransactionId subid,
							   SubTransactionId parent, void *arg);

/*
 * sk_transaction_init
 *		Watch the ends of transactions and subtransactions.
 */
void
sk_transaction_init(void)
{
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}

/*
 * sk_own_take
 *		Reserve values in the current transaction.
 */
SkValues
sk_own_take(const SkAllocatorRow *row, int64 count)
{
	OwnCounter *counter = hold_counter(row);
	SkValues	range;

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
 * sk_change_note
 *		Have values of an allocator below "minimum" discarded when the
 *		transaction commits.
 */
void
sk_change_note(Oid table, int64 id, int64 minimum)
{
	MemoryContext old;
	Change	   *change;
	ListCell   *lc;

	Assert(IsTransactionState());
	foreach(lc, changes)
	{
		change = lfirst(lc);
		if (change->table != table || (change->id != id && change->id != 0))
			continue;
		change->minimum = Max(change->minimum, minimum);
		return;
	}
	old = MemoryContextSwitchTo(TopTransactionContext);
	change = palloc(sizeof(Change));
	change->table = table;
	change->id = list_length(changes) < SK_MAX_CHANGES ? id : 0;
	change->minimum = change->id == 0 ? PG_INT64_MAX : minimum;
	change->level = GetCurrentTransactionNestLevel();
	changes = lappend(changes, change);
	MemoryContextSwitchTo(old);
}

static OwnCounter *
find_counter(const SkAllocatorRow *row)
{
	OwnCounterKey key = {row->id, row->table};

	return counters == NULL ? NULL : hash_search(counters, &key, HASH_FIND, NULL);
}

#ifdef USE_ASSERT_CHECKING
/* Marks are of levels that have not ended, outermost first. */
static bool
marks_ascend(const OwnCounter *counter)
{
	int			level = 0;
	ListCell   *lc;

	foreach(lc, counter->marks)
	{
		if (((Mark *) lfirst(lc))->level <= level)
			return false;
		level = ((Mark *) lfirst(lc))->level;
	}
	return level >= 1 && level <= GetCurrentTransactionNestLevel();
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
		HASHCTL		ctl = {.keysize = sizeof(OwnCounterKey),.entrysize = sizeof(OwnCounter),
		.hcxt = TopTransactionContext};

		counters = hash_create("spanner_keys own counters", 16, &ctl,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (counter == NULL)
	{
		sk_reserve_skip_gap(&row);
		counter = hash_search(counters, &key, HASH_ENTER, NULL);
		counter->next = row.next_value;
		counter->marks = NIL;
		move_counter(counter, row.next_value);
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

/* Move a counter, and remember where that of the current level began. */
static void
move_counter(OwnCounter *counter, int64 next)
{
	int			level = GetCurrentTransactionNestLevel();

	if (counter->marks == NIL || ((Mark *) llast(counter->marks))->level < level)
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
 * Write the counters to the tables that they were taken from.  A row is there,
 * unless the transaction has deleted it.
 *
 * A pool may have values that come before those that were taken here, so it
 * is emptied.  In modes without a pool this is an ordinary reservation.
 */
static void
write_counters(void)
{
	HASH_SEQ_STATUS status;
	OwnCounter *counter;
	SkAllocatorRow row;
	SkTable		table = {0};

	if (counters == NULL)
		return;
	/* a subtransaction could still be rolled back */
	Assert(GetCurrentTransactionNestLevel() == 1);
	hash_seq_init(&status, counters);
	while ((counter = hash_seq_search(&status)) != NULL)
	{
		Assert(list_length(counter->marks) == 1 && marks_ascend(counter));
		if (table.rel != NULL && counter->key.table != RelationGetRelid(table.rel))
		{
			sk_table_close(&table);
			table.rel = NULL;
		}
		if (table.rel == NULL)
			sk_table_open_again(&table, (Oid) counter->key.table);
		if (sk_row_lock_again(&table, &counter->tid, counter->key.id, &row) != SK_ROW_FOUND ||
			row.next_value == counter->next)
			continue;
		sk_reserve_stamp(&row);
		row.next_value = counter->next;
		sk_row_update(&table, &row, sk_mode_has_pool(row.mode) ?
					  SK_WRITE_CHANGES : SK_WRITE_RESERVES);
	}
	if (table.rel != NULL)
		sk_table_close(&table);
}

/*
 * The parent takes over what a subtransaction has done, or its values are free
 * again; so is a row that was locked in it.
 */
static void
end_counter(OwnCounter *counter, int level, bool is_commit)
{
	int			count = list_length(counter->marks);
	Mark	   *last = llast(counter->marks);

	Assert(level >= 2 && marks_ascend(counter));
	/* changes of the row are undone as well */
	counter->is_stale |= !is_commit;
	if (last->level < level)
		return;
	Assert(last->level == level);
	last->level--;
	if (!is_commit)
		counter->next = last->next;
	if (is_commit && (count == 1 ||
					  ((Mark *) list_nth(counter->marks, count - 2))->level < last->level))
		return;
	counter->marks = list_delete_last(counter->marks);
	if (counter->marks == NIL)
		(void) hash_search(counters, &counter->key, HASH_REMOVE, NULL);
}

/* "before" is the kind of a row trigger before it, NULL for any trigger after. */
static void
check_trigger(FunctionCallInfo fcinfo, const char *before, const char *function)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		RelationGetRelid(trigger->tg_relation) != sk_allocator_table() ||
		(before == NULL ?
		 !TRIGGER_FIRED_AFTER(trigger->tg_event) :
		 !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		 !TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		 (strcmp(before, "INSERT") == 0 ?
		  !TRIGGER_FIRED_BY_INSERT(trigger->tg_event) :
		  !TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by %s trigger of table \"%s\"",
						function,
						before == NULL ? "an AFTER" : psprintf("a BEFORE %s", before),
						"spanner.allocator")));
}

static List *
named_roles(const SkAllocatorRow *row)
{
	/* a series has those of its allocator */
	if (row->parent_id != 0)
		return NIL;
	return lappend_oid(list_delete_oid(list_copy(row->usage_roles), InvalidOid),
					   row->owner_role);
}

static List *
granted_roles(Relation rel)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, RelationGetRelid(rel),
										SK_COLUMN_OWNER_ROLE);
	List	   *result = NIL;
	Datum		acl;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "unexpected columns of an allocator");
	acl = SysCacheGetAttr(ATTNUM, tuple, Anum_pg_attribute_attacl, &isnull);
	if (!isnull)
	{
		Acl		   *list = DatumGetAclP(acl);

		for (int i = 0; i < ACL_NUM(list); i++)
		{
			/* what all may do makes no role depend on the table */
			if (OidIsValid(ACL_DAT(list)[i].ai_grantee))
				result = list_append_unique_oid(result, ACL_DAT(list)[i].ai_grantee);
		}
	}
	ReleaseSysCache(tuple);
	return result;
}

/* One session at a time writes the privileges of the column. */
static void
change_grant(Relation rel, Oid role, bool is_grant)
{
	GrantStmt  *grant = makeNode(GrantStmt);
	AccessPriv *privilege = makeNode(AccessPriv);
	RoleSpec   *grantee = makeNode(RoleSpec);
	SkOwnerScope scope;
	LOCKTAG		tag PG_USED_FOR_ASSERTS_ONLY;

	/* neither dropped, nor written into a row by others meanwhile */
	SET_LOCKTAG_OBJECT(tag, InvalidOid, AuthIdRelationId, role, 0);
	Assert(LockHeldByMe(&tag, is_grant ? RowExclusiveLock : ShareRowExclusiveLock, true));
	LockDatabaseObject(RelationGetRelid(rel), InvalidOid, 0, ExclusiveLock);
	privilege->priv_name = "references";
	privilege->cols = list_make1(makeString("owner_role"));
	grantee->roletype = ROLESPEC_CSTRING;
	grantee->rolename = GetUserNameFromId(role, false);
	grant->is_grant = is_grant;
	grant->targtype = ACL_TARGET_OBJECT;
	grant->objtype = OBJECT_TABLE;
	grant->objects = list_make1(makeRangeVar(get_namespace_name(RelationGetNamespace(rel)),
											 RelationGetRelationName(rel), -1));
	grant->privileges = list_make1(privilege);
	grant->grantees = list_make1(grantee);

	sk_owner_enter(&scope, RelationGetRelid(rel));
	ExecuteGrantStmt(grant);
	sk_owner_exit(&scope);
	CommandCounterIncrement();
}

/*
 * Have DROP ROLE know of the roles in a row that has been written.  The owner of
 * the table cannot be dropped anyway.  A dump may have the OID of a role that is
 * gone.
 */
static void
keep_roles(Relation rel, const SkAllocatorRow *row)
{
	ListCell   *lc;

	foreach(lc, named_roles(row))
	{
		Oid			role = lfirst_oid(lc);

		if (role == rel->rd_rel->relowner)
			continue;
		LockSharedObject(AuthIdRelationId, role, 0, RowExclusiveLock);
		if (SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role)) &&
			!list_member_oid(granted_roles(rel), role))
			change_grant(rel, role, true);
	}
}

/* Do two versions of an allocator give values in the same way? */
static bool
has_options_of(const SkAllocatorRow *row, const SkAllocatorRow *other)
{
	return row->mode == other->mode &&
		row->min_value == other->min_value &&
		row->max_value == other->max_value &&
		row->batch_size == other->batch_size &&
		row->max_batch_size == other->max_batch_size &&
		row->low_water_mark == other->low_water_mark &&
		row->failover_gap == other->failover_gap &&
		strcmp(row->server, other->server) == 0 &&
		strcmp(row->remote_name, other->remote_name) == 0;
}

/*
 * Delete the series of an allocator that has been deleted.
 *
 * A transaction that was making one has kept the allocator until its end.
 */
static void
delete_series(int64 parent_id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "spanner_keys series",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	SkTable		table;
	ListCell   *lc;

	sk_table_open(&table, RowExclusiveLock);
	table.slot = table_slot_create(table.rel, NULL);
	foreach(lc, sk_series_ids(&table, parent_id, PG_INT32_MAX))
	{
		int64		id = *(int64 *) lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		sk_change_note(RelationGetRelid(table.rel), id, PG_INT64_MAX);
		old = MemoryContextSwitchTo(context);
		sk_series_delete_row(&table, id);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	sk_table_close(&table);
	MemoryContextDelete(context);
}

/*
 * The series of an allocator have its options.  Only few of them have pools, but
 * nobody knows which, so all pools are emptied, and all own counters stale.
 */
static void
note_series(const SkAllocatorRow *row)
{
	HASH_SEQ_STATUS status;
	OwnCounter *counter;
	SkTable		table;

	sk_table_open(&table, AccessShareLock);
	if (sk_series_ids(&table, row->id, 1) != NIL)
	{
		sk_change_note(row->table, 0, PG_INT64_MAX);
		if (counters != NULL)
		{
			hash_seq_init(&status, counters);
			while ((counter = hash_seq_search(&status)) != NULL)
				counter->is_stale = true;
		}
	}
	sk_table_close(&table);
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
		sk_change_note(before.table, before.id, PG_INT64_MAX);
	if (!TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
	{
		if (before.parent_id == 0)
		{
			roles_changed = true;
			delete_series(before.id);
		}
		return;
	}
	sk_row_fetch(trigger->tg_newtuple, tupdesc, &after);
	/* pools, and what transactions have taken, are kept by id */
	if (after.id != before.id)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot change the id of allocator \"%s\"", before.name),
				 errhint("Create another one with spanner.create_allocator().")));
	sk_row_check(&after);
	sk_own_note_update(&after, after.next_value != before.next_value);
	if (write == SK_WRITE_CHANGES && after.parent_id == 0 &&
		!has_options_of(&after, &before))
		note_series(&after);
	if (before.owner_role != after.owner_role ||
		!equal(before.usage_roles, after.usage_roles))
	{
		roles_changed = true;
		keep_roles(trigger->tg_relation, &after);
	}
}

/* The next row that names roles: there may be very many series, which do not. */
static HeapTuple
next_allocator(Relation rel, SysScanDesc scan)
{
	HeapTuple	tuple;

	do
	{
		CHECK_FOR_INTERRUPTS();
		tuple = systable_getnext(scan);
	} while (HeapTupleIsValid(tuple) &&
			 !heap_attisnull(tuple, SK_COLUMN_PARENT_ID, RelationGetDescr(rel)));
	return tuple;
}

/* The ids of the allocators that the roles may use, if they own none. */
static List *
allocators_of_users(Relation rel, List *roles)
{
	List	   *result = NIL;
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, SnapshotSelf,
										  0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = next_allocator(rel, scan)))
	{
		SkAllocatorRow row;

		sk_row_fetch(tuple, RelationGetDescr(rel), &row);
		if (list_member_oid(roles, row.owner_role))
			ereport(ERROR,
					(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
					 errmsg("role \"%s\" owns allocator \"%s\"",
							GetUserNameFromId(row.owner_role, false), row.name),
					 errhint("Give its allocators to another role with spanner.alter_allocator(), or drop them with spanner.drop_allocator().")));
		if (list_length(list_difference_oid(roles, named_roles(&row))) < list_length(roles))
		{
			int64	   *id = palloc(sizeof(int64));

			*id = row.id;
			result = lappend(result, id);
		}
	}
	systable_endscan(scan);
	return result;
}

/* The first rows usually name them all. */
static List *
unused_roles(Relation rel)
{
	List	   *roles = granted_roles(rel);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, SnapshotSelf,
										  0, NULL);
	HeapTuple	tuple;

	while (roles != NIL && HeapTupleIsValid(tuple = next_allocator(rel, scan)))
	{
		SkAllocatorRow row;

		sk_row_fetch(tuple, RelationGetDescr(rel), &row);
		roles = list_difference_oid(roles, named_roles(&row));
	}
	systable_endscan(scan);
	return roles;
}

/*
 * Have DROP ROLE forget the roles that are in no row any more.  A role that
 * somebody else is writing into the table is left alone.
 */
static void
forget_unused_roles(void)
{
	List	   *locked = NIL;
	LOCKTAG		tag;
	SkTable		table;
	ListCell   *lc;

	/* the transaction may have dropped the table, and what its roles need */
	if (!sk_extension_exists())
		return;
	sk_table_open(&table, RowExclusiveLock);
	foreach(lc, unused_roles(table.rel))
	{
		/* ConditionalLockSharedObject() does not exist in all releases */
		SET_LOCKTAG_OBJECT(tag, InvalidOid, AuthIdRelationId, lfirst_oid(lc), 0);
		if (LockAcquire(&tag, ShareRowExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL)
			locked = lappend_oid(locked, lfirst_oid(lc));
	}
	AcceptInvalidationMessages();
	/* whoever had such a lock may have written the role into a row */
	foreach(lc, locked == NIL ? NIL : unused_roles(table.rel))
	{
		if (list_member_oid(locked, lfirst_oid(lc)))
			change_grant(table.rel, lfirst_oid(lc), false);
	}
	sk_table_close(&table);
}

static void
apply_change(Change *change)
{
	SkPoolKey	key = {MyDatabaseId, change->table, change->id};

	sk_pool_discard(&key, change->minimum);
}

/*
 * The tuple of an INSERT with the defaults, and the stamp of now.
 *
 * A row from a dump has the stamp of another server.  One that is replicated
 * gets none, since more values may have been given there than came along.
 */
static HeapTuple
complete_row(HeapTuple tuple, TupleDesc tupdesc, bool is_replicated)
{
	struct
	{
		SkAllocatorColumn column;
		Datum		value;
	}			defaults[] = {
		{SK_COLUMN_TIMELINE, Int32GetDatum(GetWALInsertionTimeLine())},
		{SK_COLUMN_SYSTEM, Int64GetDatum((int64) GetSystemIdentifier())},
		{SK_COLUMN_MODE, CStringGetTextDatum(sk_mode_names[SK_MODE_ASYNC_BATCH])},
		{SK_COLUMN_NEXT_VALUE, Int64GetDatum(1)},
		{SK_COLUMN_MIN_VALUE, Int64GetDatum(1)},
		{SK_COLUMN_MAX_VALUE, Int64GetDatum(PG_INT64_MAX - 1)},
		{SK_COLUMN_BATCH_SIZE, Int32GetDatum(SK_DEFAULT_BATCH)},
		{SK_COLUMN_MAX_BATCH_SIZE, Int32GetDatum(SK_DEFAULT_MAX_BATCH)}
	};
	bool		is_series = !heap_attisnull(tuple, SK_COLUMN_PARENT_ID, tupdesc);
	int			columns[lengthof(defaults)];
	Datum		values[lengthof(defaults)];
	bool		nulls[lengthof(defaults)] = {false};
	int			count = 0;

	for (int i = 0; i < lengthof(defaults); i++)
	{
		/* the stamp is always that of now */
		if (i >= 2 &&
			(is_series || !heap_attisnull(tuple, defaults[i].column, tupdesc)))
			continue;
		columns[count] = defaults[i].column;
		nulls[count] = i < 2 && is_replicated;
		values[count++] = defaults[i].value;
	}
	return heap_modify_tuple_by_cols(tuple, tupdesc, count, columns, values, nulls);
}

/*
 * The tuple of an UPDATE that comes from another server: the counter does
 * not go back, and the stamp stays.
 *
 * NULL if nothing changes, so that pools keep their values.
 */
static HeapTuple
merge_row(HeapTuple old, HeapTuple new, TupleDesc tupdesc)
{
	int			columns[] = {SK_COLUMN_TIMELINE, SK_COLUMN_SYSTEM, SK_COLUMN_NEXT_VALUE};
	Datum		values[lengthof(columns)];
	bool		nulls[lengthof(columns)];
	bool		isnull;
	Datum		next = heap_getattr(new, SK_COLUMN_NEXT_VALUE, tupdesc, &isnull);

	for (int i = 0; i < lengthof(columns); i++)
		values[i] = heap_getattr(old, columns[i], tupdesc, &nulls[i]);
	/* a NULL is for the constraint to refuse */
	if (isnull || DatumGetInt64(next) > DatumGetInt64(values[2]))
	{
		values[2] = next;
		nulls[2] = isnull;
	}
	new = heap_modify_tuple_by_cols(new, tupdesc, lengthof(columns), columns, values, nulls);
	return DatumGetBool(OidFunctionCall2(F_RECORD_IMAGE_EQ,
										 heap_copy_tuple_as_datum(old, tupdesc),
										 heap_copy_tuple_as_datum(new, tupdesc))) ? NULL : new;
}

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

/*
 * What a transaction or subtransaction of this level or above it has noted
 * goes on at another level; 0 if it has committed, -1 if it is rolled back.
 */
static void
end_restored(int level, int next)
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
		if (sk_row_find_settled(table, NULL, allocator->id, dumped.series, &row) &&
			sk_row_lock(table, row.id, LockWaitBlock, &row) == SK_ROW_FOUND)
			move_forward(table, &row, &dumped);
		else
		{
			dumped.parent_id = allocator->id;
			sk_row_insert(table, &dumped, SK_WRITE_RESTORES);
		}
	}
}

/* The same after an allocator was inserted, if it is one of a dump. */
static void
restore_series_of(int64 id)
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
 * What becomes of a row of a dump; NULL if it is left out.
 *
 * Migrations may have made the allocator: then it keeps its id and its options,
 * but does not give what the rows of the dump have, and the row is left out.
 * Its id may be that of another one.
 *
 * So a series waits in memory until its allocator, which a dump may have behind
 * it, has the id that it keeps.
 */
static HeapTuple
restore_allocator(HeapTuple tuple, TupleDesc tupdesc)
{
	int			column = SK_COLUMN_ID;
	bool		isnull = false;
	HeapTuple	result = NULL;
	bool		exists;
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
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		WaitingSeries *series = palloc0(sizeof(WaitingSeries));

		series->tuple = heap_copytuple(tuple);
		series->added = GetCurrentTransactionNestLevel();
		allocator->series = lappend(allocator->series, series);
		MemoryContextSwitchTo(old);
		/* gone: its restore was rolled back, or it was dropped */
		if (allocator->id != 0 && sk_row_find(&table, NULL, allocator->id, NULL, &row))
			restore_series(&table, allocator);
	}
	else
	{
		exists = sk_row_find_settled(&table, dumped.name, 0, NULL, &row) &&
			sk_row_lock(&table, row.id, LockWaitBlock, &row) == SK_ROW_FOUND;
		allocator->id = exists ? row.id : dumped.id;
		if (!exists && sk_row_find(&table, NULL, dumped.id, NULL, &row))
			allocator->id = sk_table_next_id(table.rel);
		allocator->level = GetCurrentTransactionNestLevel();
		id = Int64GetDatum(allocator->id);
		if (!exists)
			result = heap_modify_tuple_by_cols(tuple, tupdesc, 1, &column, &id, &isnull);
		else
		{
			move_forward(&table, &row, &dumped);
			restore_series(&table, allocator);
		}
	}
	sk_table_close(&table);
	return result;
}

/* What the transaction has counted is written before pools are emptied. */
static void
end_transaction(XactEvent event, void *arg)
{
	ListCell   *lc;

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:

			/*
			 * What can fail comes first: the values of a pool that has been
			 * emptied are lost.  The rows stay locked from here to the end,
			 * so nobody fills the pools by what is about to be replaced.
			 */
			write_counters();
			if (roles_changed)
				forget_unused_roles();
			foreach(lc, changes)
				apply_change(lfirst(lc));
			break;
		case XACT_EVENT_PRE_PREPARE:
			write_counters();
			if (changes != NIL)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has altered or numbered from an allocator"),
						 errhint("Change allocators in a transaction of its own.")));
			if (roles_changed)
				forget_unused_roles();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			/* a worker may have read an allocator of series meanwhile */
			foreach(lc, event == XACT_EVENT_COMMIT ? changes : NIL)
			{
				if (((Change *) lfirst(lc))->id == 0)
					apply_change(lfirst(lc));
			}
			/* what they point to goes with the memory of the transaction */
			counters = NULL;
			changes = NIL;
			roles_changed = false;
			end_restored(1, event == XACT_EVENT_ABORT ? -1 : 0);
			break;
		default:
			break;
	}
}

/* What a subtransaction has taken and changed is undone with it, or is its parent's. */
static void
end_subtransaction(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	bool		is_commit = event == SUBXACT_EVENT_COMMIT_SUB;
	int			level = GetCurrentTransactionNestLevel();
	ListCell   *lc;

	if (!is_commit && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	if (counters != NULL)
	{
		HASH_SEQ_STATUS status;
		OwnCounter *counter;

		hash_seq_init(&status, counters);
		while ((counter = hash_seq_search(&status)) != NULL)
			end_counter(counter, level, is_commit);
	}
	end_restored(level, is_commit ? level - 1 : -1);
	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);

		Assert(change->level >= 1 && change->level <= level);
		if (change->level < level)
			continue;
		if (is_commit)
			change->level = level - 1;
		else
			changes = foreach_delete_current(changes, lc);
	}
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

	check_trigger(fcinfo, NULL, "spanner_internal.on_allocator_change");
	if (!TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
	{
		CacheInvalidateRelcache(trigger->tg_relation);
		roles_changed = true;
		sk_change_note(RelationGetRelid(trigger->tg_relation), 0, PG_INT64_MAX);
	}
	else if (TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
	{
		SkAllocatorRow row;

		sk_row_fetch(trigger->tg_trigtuple, RelationGetDescr(trigger->tg_relation), &row);
		sk_row_check(&row);
		keep_roles(trigger->tg_relation, &row);
		restore_series_of(row.id);
	}
	else if (write != SK_WRITE_RESERVES && write != SK_WRITE_FOLLOWS)
		note_row(trigger, write);
	return PointerGetDatum(NULL);
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
	TupleDesc	tupdesc;
	HeapTuple	tuple;

	check_trigger(fcinfo, "INSERT", "spanner_internal.on_allocator_insert");
	tupdesc = RelationGetDescr(trigger->tg_relation);
	tuple = complete_row(trigger->tg_trigtuple, tupdesc, IsLogicalWorker());
	if (sk_dump_is_restored() && sk_table_write != SK_WRITE_RESTORES)
		tuple = restore_allocator(tuple, tupdesc);
	return PointerGetDatum(tuple);
}

/*
 * spanner_internal.on_allocator_apply() returns trigger
 *
 * Row trigger before UPDATE, for what logical replication brings.  The other
 * server does not know which values were given here.
 */
Datum
spanner_on_allocator_apply(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	check_trigger(fcinfo, "UPDATE", "spanner_internal.on_allocator_apply");
	if (!IsLogicalWorker())
		return PointerGetDatum(trigger->tg_newtuple);
	return PointerGetDatum(merge_row(trigger->tg_trigtuple, trigger->tg_newtuple,
									 RelationGetDescr(trigger->tg_relation)));
}

/*
 * spanner_internal.on_drop_owned() returns event_trigger
 *
 * Takes the right to use allocators away from the roles, and raises an error if they
 * own allocators.
 */
Datum
spanner_on_drop_owned(PG_FUNCTION_ARGS)
{
	EventTriggerData *trigger = (EventTriggerData *) fcinfo->context;
	List	   *roles;
	SkAllocatorRow row;
	SkTable		table;
	ListCell   *lc;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo) || !IsA(trigger->parsetree, DropOwnedStmt))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by an event trigger for %s",
						"spanner_internal.on_drop_owned", "DROP OWNED")));
	roles = roleSpecsToIds(castNode(DropOwnedStmt, trigger->parsetree)->roles);
	foreach(lc, roles)
	{
		/* core refuses it */
		if (!has_privs_of_role(GetUserId(), lfirst_oid(lc)))
			PG_RETURN_NULL();
		LockSharedObject(AuthIdRelationId, lfirst_oid(lc), 0, ShareRowExclusiveLock);
	}
	sk_table_open(&table, RowExclusiveLock);
	foreach(lc, allocators_of_users(table.rel, roles))
	{
		if (sk_row_lock(&table, *(int64 *) lfirst(lc), LockWaitBlock, &row) != SK_ROW_FOUND)
			continue;
		row.usage_roles = list_difference_oid(row.usage_roles, roles);
		sk_row_update(&table, &row, SK_WRITE_ACCESS);
	}
	foreach(lc, granted_roles(table.rel))
	{
		if (list_member_oid(roles, lfirst_oid(lc)))
			change_grant(table.rel, lfirst_oid(lc), false);
	}
	sk_table_close(&table);
	PG_RETURN_NULL();
}
