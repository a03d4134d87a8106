/*-------------------------------------------------------------------------
 *
 * allocator_roles.c
 *	  The roles that allocators name, as DROP ROLE knows of them.
 *
 * An allocator is no object of the catalogs, so it can have no dependency of
 * its own.  A role that is named in the table, as an owner or as one that may
 * draw, has a privilege on the column of the owners instead: REFERENCES, which
 * is of no use there, since the column is not unique.  So DROP ROLE refuses to
 * drop it, in every database and in sessions without this library.
 *
 * Whoever writes a role into the table locks the role, and whoever takes the
 * privilege away locks it in a mode that conflicts with that.
 *
 * DROP OWNED is refused to take allocators away: REASSIGN OWNED, which usually
 * comes before it, tells nobody what it does, and counters would be lost.
 *
 * src/allocator/allocator_roles.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "commands/event_trigger.h"
#include "commands/user.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "allocator/allocator_roles.h"
#include "compat.h"

PG_FUNCTION_INFO_V1(spanner_on_drop_owned);

static void keep_role(Relation rel, Oid role);
static List *granted_roles(Relation rel);
static List *unused_roles(Relation rel);
static List *named_roles(const SkAllocatorRow *row);
static void change_grant(Relation rel, Oid role, bool is_grant);
static bool try_to_lock(Oid role);
static List *allocators_of_users(Relation rel, List *roles);
static void take_roles_away(SkTable *table, int64 id, List *roles);

/*
 * sk_roles_keep
 *		Have DROP ROLE know of the roles in a row that has been written.
 */
void
sk_roles_keep(Relation rel, const SkAllocatorRow *row)
{
	ListCell   *lc;

	foreach(lc, named_roles(row))
		keep_role(rel, lfirst_oid(lc));
}

/* The owner of the table cannot be dropped, nor what a dump has as a number. */
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
			result = list_append_unique_oid(result, ACL_DAT(list)[i].ai_grantee);
	}
	ReleaseSysCache(tuple);
	return result;
}

/*
 * sk_roles_forget_unused
 *		Have DROP ROLE forget the roles that are in no row any more.
 *
 * A role that somebody else writes into the table just now is left alone.
 */
void
sk_roles_forget_unused(void)
{
	List	   *locked = NIL;
	SkTable		table;
	ListCell   *lc;

	if (!OidIsValid(sk_allocator_table()))
		return;
	sk_table_open(&table, RowExclusiveLock);
	foreach(lc, unused_roles(table.rel))
		if (try_to_lock(lfirst_oid(lc)))
		locked = lappend_oid(locked, lfirst_oid(lc));
	foreach(lc, locked == NIL ? NIL : unused_roles(table.rel))
		if (list_member_oid(locked, lfirst_oid(lc)))
		change_grant(table.rel, lfirst_oid(lc), false);
	sk_table_close(&table);
}

/* Usually the first rows name them all. */
static List *
unused_roles(Relation rel)
{
	List	   *roles = granted_roles(rel);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, SnapshotSelf,
										  0, NULL);
	HeapTuple	tuple;

	while (roles != NIL && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		SkAllocatorRow row;

		sk_row_fetch(tuple, RelationGetDescr(rel), &row);
		roles = list_difference_oid(roles, named_roles(&row));
	}
	systable_endscan(scan);
	return roles;
}

static List *
named_roles(const SkAllocatorRow *row)
{
	List	   *result = list_make1_oid(row->owner_role);

	for (int i = 0; i < row->usage_count; i++)
		if (OidIsValid(row->usage_roles[i]))
			result = lappend_oid(result, row->usage_roles[i]);
	return result;
}

/* One session at a time writes the privileges of the column. */
static void
change_grant(Relation rel, Oid role, bool is_grant)
{
	GrantStmt  *grant = makeNode(GrantStmt);
	AccessPriv *privilege = makeNode(AccessPriv);
	RoleSpec   *grantee = makeNode(RoleSpec);
	Oid			userid;
	int			sec_context;

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

	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   sec_context | SECURITY_LOCAL_USERID_CHANGE);
	ExecuteGrantStmt(grant);
	SetUserIdAndSecContext(userid, sec_context);
	CommandCounterIncrement();
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
	if (!OidIsValid(sk_allocator_table()))
		PG_RETURN_NULL();
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
		if (list_member_oid(roles, lfirst_oid(lc)))
		change_grant(table.rel, lfirst_oid(lc), false);
	sk_table_close(&table);
	PG_RETURN_NULL();
}

/* The ids of the allocators that the roles may draw from, if they own none. */
static List *
allocators_of_users(Relation rel, List *roles)
{
	List	   *result = NIL;
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, SnapshotSelf,
										  0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
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
	ListCell   *lc;

	if (sk_row_lock(table, id, LockWaitBlock, &row) != SK_ROW_FOUND)
		return;
	foreach(lc, roles)
		sk_row_take_role_away(&row, lfirst_oid(lc));
	sk_row_update(table, &row, SK_WRITE_ACCESS);
}
