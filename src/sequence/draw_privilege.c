/*-------------------------------------------------------------------------
 *
 * draw_privilege.c
 *	  Who may draw from a sequence.
 *
 * As in core, that is who has USAGE or UPDATE on the sequence.  For an
 * identity column core asks for neither, since it knows that it is the column
 * that draws.  A column that was one draws by its default, as anybody could.
 * So who may write the column may draw for it: through the table, through a
 * table below it, or through a view over one of them that can be written and
 * whose owner may.
 *
 * The functions here are what is evaluated first where a call of a sequence
 * function was planned as something else, see sequence_support.c.  They also
 * ask for EXECUTE on the function that was called.
 *
 * src/sequence/draw_privilege.c
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
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/draw_privilege.h"
#include "sequence/extension.h"
#include "sequence/sequence.h"
#include "spi/owner_rights.h"

PG_FUNCTION_INFO_V1(spanner_may_call);
PG_FUNCTION_INFO_V1(spanner_may_draw);

/*
 * An answer that was yes; good for one user and one statement, until
 * relations, columns, functions or roles change.
 */
typedef struct Permission
{
	Oid			seqid;
	Oid			called;			/* the function, InvalidOid if none was asked
								 * for */
	Oid			user;
	TimestampTz statement;
} Permission;

/* The last answers; a sequence has one place among them. */
#define SK_PERMISSIONS 16

static Permission permissions[SK_PERMISSIONS];
static uint64 invalidations = 0;

static pg_noinline void look_for_permission(Permission *wanted);
static void check_execute(Oid function, Oid user);
static void forget_permissions(Datum arg, int cacheid, uint32 hashvalue);
static bool may_write_column(Oid seqid, Oid user);
static bool may_write(Oid relation, const char *column, Oid user);
static List *list_views(Oid relation, const char *column, List *views);
static Oid	rule_relation(Oid rule);

/*
 * sk_draw_privilege_init
 *		Register for invalidations of what privileges come from.
 */
void
sk_draw_privilege_init(void)
{
	const int	caches[] = {RELOID, ATTNUM, PROCOID, AUTHOID, AUTHMEMROLEMEM, DATABASEOID};

	for (int i = 0; i < lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], forget_permissions, (Datum) 0);
}

/*
 * spanner_internal.may_draw(sequence regclass, called regprocedure) returns boolean
 *
 * True, or an error if the current user may not draw from the sequence or not
 * execute the function.  Runs for every row.
 */
Datum
spanner_may_draw(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	sk_check_draw_privilege(PG_GETARG_OID(0), PG_GETARG_OID(1));
	PG_RETURN_BOOL(true);
}

/*
 * spanner_internal.may_call(called regprocedure) returns boolean
 *
 * True, or an error if the current user may not execute the function.
 */
Datum
spanner_may_call(PG_FUNCTION_ARGS)
{
	check_execute(PG_GETARG_OID(0), GetUserId());
	PG_RETURN_BOOL(true);
}

/*
 * sk_check_draw_privilege
 *		Raise an error if the current user may not draw from a sequence.
 *
 * "called" is the function that was called for it, which the user has to be
 * allowed to execute; InvalidOid stands for one that the executor has checked.
 */
void
sk_check_draw_privilege(Oid seqid, Oid called)
{
	Permission	wanted = {seqid, called, GetUserId(), GetCurrentStatementStartTimestamp()};
	Permission *last = &permissions[seqid % SK_PERMISSIONS];

	if (last->seqid != wanted.seqid || last->user != wanted.user ||
		last->statement != wanted.statement ||
		(last->called != called && OidIsValid(called)))
		look_for_permission(&wanted);
}

/*
 * Apart from its caller, which runs for every row.  An invalidation that
 * arrives while we look leaves the answer good for this row only.  For an
 * identity column core asks for no function, either.
 */
static pg_noinline void
look_for_permission(Permission *wanted)
{
	uint64		before = invalidations;
	SkBinding  *binding = sk_binding_get(wanted->seqid);

	if (binding->options == NULL ||
		binding->options->identity == SK_IDENTITY_NONE ||
		!may_write_column(wanted->seqid, wanted->user))
	{
		if (OidIsValid(wanted->called))
			check_execute(wanted->called, wanted->user);
		if (pg_class_aclcheck(wanted->seqid, wanted->user,
							  ACL_USAGE | ACL_UPDATE) != ACLCHECK_OK)
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SEQUENCE,
						   get_rel_name(wanted->seqid));
	}
	if (before == invalidations)
		permissions[wanted->seqid % SK_PERMISSIONS] = *wanted;
}

/* As the executor does when it prepares a call. */
static void
check_execute(Oid function, Oid user)
{
	AclResult	result = object_aclcheck(ProcedureRelationId, function, user,
										 ACL_EXECUTE);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

static void
forget_permissions(Datum arg, int cacheid, uint32 hashvalue)
{
	memset(permissions, 0, sizeof(permissions));
	invalidations++;
}

static bool
may_write_column(Oid seqid, Oid user)
{
	List	   *relations;
	ListCell   *lc;
	Oid			table;
	int32		attnum;
	char	   *column;

	if (!sequenceIsOwned(seqid, DEPENDENCY_AUTO, &table, &attnum) &&
		!sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &attnum))
		return false;
	column = get_attname(table, attnum, false);
	if (may_write(table, column, user))
		return true;

	/* the list grows while it is read, by views over views */
	relations = find_all_inheritors(table, NoLock, NULL);
	foreach(lc, relations)
	{
		if (may_write(lfirst_oid(lc), column, user))
			return true;
		relations = list_views(lfirst_oid(lc), column, relations);
	}
	return false;
}

/*
 * An INSERT draws if it does not mention the column, an UPDATE only if it
 * does.  A view may call the column as it likes.  Nobody may write what has
 * been dropped since it was listed.
 */
static bool
may_write(Oid relation, const char *column, Oid user)
{
	AttrNumber	attnum = get_attnum(relation, column);
	bool		is_view = get_rel_relkind(relation) == RELKIND_VIEW;
	bool		missing = false;

	return pg_class_aclcheck_ext(relation, user, ACL_INSERT | ACL_UPDATE,
								 &missing) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all_ext(relation, user,
									  is_view ? ACL_INSERT | ACL_UPDATE : ACL_INSERT,
									  ACLMASK_ANY, &missing) == ACLCHECK_OK ||
		(!is_view && attnum != InvalidAttrNumber &&
		 pg_attribute_aclcheck_ext(relation, attnum, user, ACL_UPDATE,
								   &missing) == ACLCHECK_OK);
}

/*
 * Append the views over a relation to a list, if they can be written.  A view
 * lets its users do what its owner may do.
 */
static List *
list_views(Oid relation, const char *column, List *views)
{
	const int	writes = (1 << CMD_INSERT) | (1 << CMD_UPDATE);
	ListCell   *lc;

	foreach(lc, sk_dependents(relation, RewriteRelationId))
	{
		Oid			view = rule_relation(lfirst_oid(lc));

		if (OidIsValid(view) &&
			may_write(relation, column, sk_relation_owner(view)) &&
			(relation_is_updatable(view, NIL, true, NULL) & writes) != 0)
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

/*
 * sk_guard_draw
 *		A value that is only drawn by whom the call of nextval allows it.
 */
Expr *
sk_guard_draw(FuncExpr *call, Expr *value)
{
	return sk_make_guarded(SK_FUNCTION_MAY_DRAW,
						   list_make2(copyObject(linitial(call->args)),
									  sk_make_oid(REGPROCEDUREOID, call->funcid)),
						   value);
}
