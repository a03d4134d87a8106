/*-------------------------------------------------------------------------
 *
 * change.c
 *	  What follows from a change of an allocator.
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
 * DROP ROLE must know of the roles that the table names, as owners or as those
 * that may draw.  An allocator is no object of the catalogs, so it can have no
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
 * src/allocator/change.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/xact.h"
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
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "allocator/cache.h"
#include "allocator/change.h"
#include "allocator/reserve.h"
#include "allocator/restored.h"
#include "allocator/series.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"

PG_FUNCTION_INFO_V1(spanner_on_allocator_apply);
PG_FUNCTION_INFO_V1(spanner_on_allocator_change);
PG_FUNCTION_INFO_V1(spanner_on_allocator_insert);
PG_FUNCTION_INFO_V1(spanner_on_drop_owned);

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

/* Of the current transaction, in its memory. */
static List *changes = NIL;

/* Has the current transaction taken roles out of a row? */
static bool roles_changed = false;

static bool is_allocator_table(Oid relid);
static void check_trigger(FunctionCallInfo fcinfo, const char *before,
						  const char *function);
static List *named_roles(const SkAllocatorRow *row);
static List *granted_roles(Relation rel);
static void change_grant(Relation rel, Oid role, bool is_grant);
static void keep_role(Relation rel, Oid role);
static void keep_roles(Relation rel, const SkAllocatorRow *row);
static void note_series(const SkAllocatorRow *row);
static void note_row(TriggerData *trigger, SkWrite write);
static HeapTuple next_allocator(Relation rel, SysScanDesc scan);
static List *allocators_of_users(Relation rel, List *roles);
static void take_roles_away(SkTable *table, int64 id, List *roles);
static List *unused_roles(Relation rel);
static bool try_to_lock(Oid role);
static void forget_unused_roles(void);
static void apply_change(Change *change);
static void end_transaction(XactEvent event, void *arg);
static void end_subtransaction(SubXactEvent event, SubTransactionId subid,
							   SubTransactionId parent, void *arg);

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

/* The table of the extension, also where its schema was renamed meanwhile. */
static bool
is_allocator_table(Oid relid)
{
	return relid == sk_allocator_table() ||
		sk_is_member(RelationRelationId, relid);
}

/* "before" is the kind of a row trigger before it, NULL for any trigger after. */
static void
check_trigger(FunctionCallInfo fcinfo, const char *before, const char *function)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!is_allocator_table(RelationGetRelid(trigger->tg_relation)) ||
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
	sk_owner_leave(&scope);
	CommandCounterIncrement();
}

/*
 * The owner of the table cannot be dropped anyway.  A dump may have the OID of
 * a role that is gone.
 */
static void
keep_role(Relation rel, Oid role)
{
	if (role == rel->rd_rel->relowner)
		return;
	LockSharedObject(AuthIdRelationId, role, 0, RowExclusiveLock);
	if (SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role)) &&
		!list_member_oid(granted_roles(rel), role))
		change_grant(rel, role, true);
}

/* Have DROP ROLE know of the roles in a row that has been written. */
static void
keep_roles(Relation rel, const SkAllocatorRow *row)
{
	ListCell   *lc;

	foreach(lc, named_roles(row))
		keep_role(rel, lfirst_oid(lc));
}

/*
 * The series of an allocator have its options.  Only few of them have pools, but
 * nobody knows which, so all pools are emptied.
 */
static void
note_series(const SkAllocatorRow *row)
{
	SkTable		table;

	sk_table_open(&table, AccessShareLock);
	if (sk_series_ids(&table, row->id, 1) != NIL)
	{
		sk_own_note_series();
		sk_change_note(row->table, 0, PG_INT64_MAX);
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
			sk_series_delete(before.id);
		}
		return;
	}
	sk_row_fetch(trigger->tg_newtuple, tupdesc, &after);
	/* pools, and what transactions have drawn, are kept by id */
	if (after.id != before.id)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot change the id of allocator \"%s\"", before.name),
				 errhint("Create another one with spanner.create_allocator().")));
	sk_row_check(&after);
	sk_own_note_update(&after, after.next_value != before.next_value);
	if (write == SK_WRITE_CHANGES && after.parent_id == 0 &&
		!sk_row_has_options_of(&after, &before))
		note_series(&after);
	if (before.owner_role != after.owner_role ||
		!equal(before.usage_roles, after.usage_roles))
	{
		roles_changed = true;
		keep_roles(trigger->tg_relation, &after);
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
		sk_restore_series_of(row.id);
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
	tuple = sk_row_complete(trigger->tg_trigtuple, tupdesc, IsLogicalWorker());
	if (sk_dump_is_restored() && sk_table_write != SK_WRITE_RESTORES)
		tuple = sk_restore_allocator(tuple, tupdesc);
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
	return PointerGetDatum(sk_row_merge(trigger->tg_trigtuple, trigger->tg_newtuple,
										RelationGetDescr(trigger->tg_relation)));
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

/* The ids of the allocators that the roles may draw from, if they own none. */
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

static void
take_roles_away(SkTable *table, int64 id, List *roles)
{
	SkAllocatorRow row;

	if (sk_row_lock(table, id, LockWaitBlock, &row) != SK_ROW_FOUND)
		return;
	row.usage_roles = list_difference_oid(row.usage_roles, roles);
	sk_row_update(table, &row, SK_WRITE_ACCESS);
}

/*
 * spanner_internal.on_drop_owned() returns event_trigger
 *
 * Takes the right to draw away from the roles, and raises an error if they
 * own allocators.
 */
Datum
spanner_on_drop_owned(PG_FUNCTION_ARGS)
{
	EventTriggerData *trigger = (EventTriggerData *) fcinfo->context;
	List	   *roles;
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
		take_roles_away(&table, *(int64 *) lfirst(lc), roles);
	foreach(lc, granted_roles(table.rel))
	{
		if (list_member_oid(roles, lfirst_oid(lc)))
			change_grant(table.rel, lfirst_oid(lc), false);
	}
	sk_table_close(&table);
	PG_RETURN_NULL();
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

/* ConditionalLockSharedObject() does not exist in all releases. */
static bool
try_to_lock(Oid role)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, AuthIdRelationId, role, 0);
	if (LockAcquire(&tag, ShareRowExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	AcceptInvalidationMessages();
	return true;
}

/*
 * Have DROP ROLE forget the roles that are in no row any more.  A role that
 * somebody else is writing into the table is left alone.
 */
static void
forget_unused_roles(void)
{
	List	   *locked = NIL;
	SkTable		table;
	ListCell   *lc;

	/* the transaction may have dropped the table, and what its roles need */
	if (!sk_extension_exists())
		return;
	sk_table_open(&table, RowExclusiveLock);
	foreach(lc, unused_roles(table.rel))
	{
		if (try_to_lock(lfirst_oid(lc)))
			locked = lappend_oid(locked, lfirst_oid(lc));
	}
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
			sk_own_write();
			if (roles_changed)
				forget_unused_roles();
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
			changes = NIL;
			roles_changed = false;
			sk_restored_end(1, event == XACT_EVENT_ABORT ? -1 : 0);
			break;
		default:
			break;
	}
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
	sk_restored_end(level, event == SUBXACT_EVENT_COMMIT_SUB ? level - 1 : -1);
	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);

		Assert(change->level >= 1 && change->level <= level);
		if (change->level < level)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			change->level = level - 1;
		else
			changes = foreach_delete_current(changes, lc);
	}
}

/*
 * sk_change_init
 *		Watch the ends of transactions and subtransactions.
 */
void
sk_change_init(void)
{
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}
