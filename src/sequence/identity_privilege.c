/*-------------------------------------------------------------------------
 *
 * identity_privilege.c
 *	  Who may draw from the sequence of an identity column.
 *
 * Core draws for an identity column without a look at privileges, since it
 * knows that it is the column that asks.  Here the column's default asks, as
 * anybody could.  So a user may draw who may write the column by some way:
 * through the table, through a table below it, or through a view over one of
 * them whose owner may.  A right on the sequence itself serves as well.
 *
 * src/sequence/identity_privilege.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_rewrite.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/dependents.h"
#include "sequence/identity_privilege.h"
#include "spi/owner_rights.h"

/*
 * The last answer that was yes; good for one user and one statement, until
 * relations, columns or roles change.
 */
typedef struct Permission
{
	Oid			seqid;
	Oid			user;
	TimestampTz statement;
} Permission;

static Permission last_permission = {InvalidOid, InvalidOid, 0};
static uint64 invalidations = 0;

static pg_noinline void look_for_permission(Oid seqid, Oid user,
											TimestampTz statement);
static void forget_permission(Datum arg, int cacheid, uint32 hashvalue);
static bool may_write_column(Oid seqid, Oid user);
static bool may_write(Oid relation, Oid user);
static List *list_views(Oid relation, List *views);
static Oid	rule_relation(Oid rule);

/*
 * sk_identity_privilege_init
 *		Register for invalidations of what privileges come from.
 */
void
sk_identity_privilege_init(void)
{
	const int	caches[] = {RELOID, ATTNUM, AUTHOID, AUTHMEMROLEMEM, DATABASEOID};

	for (int i = 0; i < lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], forget_permission, (Datum) 0);
}

/*
 * sk_check_identity_privilege
 *		Raise an error if the current user may not draw from a sequence.
 */
void
sk_check_identity_privilege(Oid seqid)
{
	Oid			user = GetUserId();
	TimestampTz statement = GetCurrentStatementStartTimestamp();

	if (last_permission.seqid != seqid || last_permission.user != user ||
		last_permission.statement != statement)
		look_for_permission(seqid, user, statement);
}

/*
 * Apart from its caller, which runs for every row.  An invalidation that
 * arrives while we look leaves the answer good for this row only.
 */
static pg_noinline void
look_for_permission(Oid seqid, Oid user, TimestampTz statement)
{
	uint64		before = invalidations;

	/* raises an error for what is no sequence */
	(void) sk_binding_get(seqid);
	if (pg_class_aclcheck(seqid, user, ACL_USAGE | ACL_UPDATE) != ACLCHECK_OK &&
		!may_write_column(seqid, user))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SEQUENCE, get_rel_name(seqid));
	if (before != invalidations)
		return;

	last_permission.seqid = seqid;
	last_permission.user = user;
	last_permission.statement = statement;
}

static void
forget_permission(Datum arg, int cacheid, uint32 hashvalue)
{
	last_permission.seqid = InvalidOid;
	invalidations++;
}

static bool
may_write_column(Oid seqid, Oid user)
{
	List	   *relations;
	ListCell   *lc;
	Oid			table;
	int32		column;

	if (!sequenceIsOwned(seqid, DEPENDENCY_AUTO, &table, &column) &&
		!sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &column))
		return false;
	if (may_write(table, user))
		return true;

	/* the list grows while it is read, by views over views */
	relations = find_all_inheritors(table, NoLock, NULL);
	foreach(lc, relations)
	{
		if (may_write(lfirst_oid(lc), user))
			return true;
		relations = list_views(lfirst_oid(lc), relations);
	}
	return false;
}

static bool
may_write(Oid relation, Oid user)
{
	const AclMode write = ACL_INSERT | ACL_UPDATE;

	return pg_class_aclcheck(relation, user, write) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all(relation, user, write,
								  ACLMASK_ANY) == ACLCHECK_OK;
}

/*
 * Append the views over a relation to a list.  A view lets its users do what
 * its owner may do.
 */
static List *
list_views(Oid relation, List *views)
{
	ListCell   *lc;

	foreach(lc, sk_list_dependents(relation, RewriteRelationId))
	{
		Oid			view = rule_relation(lfirst_oid(lc));

		if (may_write(relation, sk_relation_owner(view)))
			views = list_append_unique_oid(views, view);
	}
	return views;
}

/* The relation that a rule is on; a view has its query as a rule. */
static Oid
rule_relation(Oid rule)
{
	Relation	catalog = table_open(RewriteRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	ScanKeyInit(&key, Anum_pg_rewrite_oid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(rule));
	scan = systable_beginscan(catalog, RewriteOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		result = ((Form_pg_rewrite) GETSTRUCT(tuple))->ev_class;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}
