/*-------------------------------------------------------------------------
 *
 * owner_rights.c
 *	  Looking at a table with the rights of its owner.
 *
 * Indexes, partition keys, constraints and extended statistics can call
 * functions of the owner.  Planning a query runs those that have constant
 * arguments, whatever the query asks for.  So they must not run with the
 * rights of a superuser who wants advice on the table: as in ANALYZE, whoever
 * may act as the owner does so meanwhile, in a restricted security context,
 * and changes of settings are undone.  Others keep their own rights, as in any
 * query.
 *
 * src/spi/owner_rights.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "partitioning/partdesc.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "spi/owner_rights.h"

/*
 * sk_relation_owner
 *		The owner of a relation; InvalidOid if there is no such relation.
 */
Oid
sk_relation_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return result;
}

/*
 * sk_owner_enter
 *		Become the owner of a table.
 *
 * "may_read" says that the current user is known to be allowed to read what
 * will be read; then anybody becomes the owner.  An error leaves the scope by
 * itself: the transaction puts the user back.
 */
void
sk_owner_enter(SkOwnerScope *scope, Oid relid, bool may_read)
{
	Oid			owner = sk_relation_owner(relid);

	GetUserIdAndSecContext(&scope->userid, &scope->sec_context);
	scope->nest_level = NewGUCNestLevel();
	if (!OidIsValid(owner) || owner == scope->userid)
		return;
	if (may_read || has_privs_of_role(scope->userid, owner))
	{
		int			sec_context = scope->sec_context |
			SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION;

		if (may_read || has_bypassrls_privilege(scope->userid))
			sec_context |= SECURITY_NOFORCE_RLS;
		SetUserIdAndSecContext(owner, sec_context);
	}
}

/*
 * sk_owner_leave
 *		Become the former user again, and undo changes of settings.
 */
void
sk_owner_leave(SkOwnerScope *scope)
{
	AtEOXact_GUC(false, scope->nest_level);
	SetUserIdAndSecContext(scope->userid, scope->sec_context);
}

/*
 * sk_owner_load_partitions
 *		Have the relation cache load the partition key and the partitions.
 *
 * They stay there as long as the relation is open.
 */
void
sk_owner_load_partitions(Relation rel)
{
	SkOwnerScope scope;

	sk_owner_enter(&scope, RelationGetRelid(rel), true);
	(void) RelationGetPartitionKey(rel);
	(void) RelationGetPartitionDesc(rel, true);
	sk_owner_leave(&scope);
}
