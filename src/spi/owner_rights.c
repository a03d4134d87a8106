/*-------------------------------------------------------------------------
 *
 * owner_rights.c
 *	  Looking at a relation with the rights of its owner.
 *
 * Indexes, partition keys, constraints and extended statistics can call any
 * function.  Planning a query runs those that have constant arguments,
 * whatever the query asks for.  The owner of the relation has chosen them, so
 * they run with the owner's rights and with nobody else's: as in ANALYZE, the
 * code becomes the owner, in a restricted security context and with a fixed
 * search_path, and changes of settings are undone.  That holds for
 * superusers, and for the owner too.
 *
 * Whoever enters has checked, as the user of before, what that user may read.
 *
 * src/spi/owner_rights.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
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
 * sk_check_own_table
 *		Raise an error unless it is a table of the current user's.  Nobody locks those
 *		of others.
 */
void
sk_check_own_table(Oid relid)
{
	char		relkind = get_rel_relkind(relid);

	if (relkind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table with OID %u does not exist", relid)));
	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table", get_rel_name(relid))));
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
}

/*
 * sk_owner_enter
 *		Become the owner of a relation that the caller has locked.
 */
void
sk_owner_enter(SkOwnerScope *scope, Oid relid)
{
	Oid			owner = sk_relation_owner(relid);

	if (!OidIsValid(owner))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	sk_role_enter(scope, owner);
}

/*
 * sk_role_enter
 *		Become a role.  The caller has checked that it may.
 *
 * The context is a restricted one also if it is the same role: the code that
 * runs in it is what others have made.  An error leaves the scope by itself:
 * the transaction puts the user back.
 */
void
sk_role_enter(SkOwnerScope *scope, Oid role)
{
	Assert(IsTransactionState());
	GetUserIdAndSecContext(&scope->userid, &scope->sec_context);
	scope->nest_level = NewGUCNestLevel();
	SetUserIdAndSecContext(role,
						   scope->sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS);

	/* else a function of the owner could call one of the caller's */
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/*
 * sk_owner_exit
 *		Become the former user again, and undo changes of settings.
 */
void
sk_owner_exit(SkOwnerScope *scope)
{
	AtEOXact_GUC(false, scope->nest_level);
	SetUserIdAndSecContext(scope->userid, scope->sec_context);
}
