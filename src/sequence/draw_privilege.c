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
 * ask for EXECUTE on the function that was called.  Our functions do what
 * core's do, so whoever calls one of ours needs EXECUTE on core's of that name
 * as well.
 *
 * src/sequence/draw_privilege.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
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
#include "nodes/bitmapset.h"
#include "parser/parsetree.h"
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

/* What an identity column can be written through. */
typedef struct Writable
{
	Oid			relid;
	Bitmapset  *columns;		/* those that are the identity column */
	bool		asks_user;		/* below, what counts is the user of the view,
								 * not its owner */
	const struct Writable *below;	/* what a view is over; NULL for a table */
} Writable;

static pg_noinline void look_for_permission(Permission *wanted);
static void forget_permissions(Datum arg, int cacheid, uint32 hashvalue);
static bool may_write_column(Oid seqid, Oid user);
static Writable *make_writable(Oid relid, AttrNumber column);
static bool may_write_through(const Writable *relation, Oid user);
static bool may_write(const Writable *relation, Oid user);
static List *list_views(const Writable *relation, List *views);
static bool is_listed(List *list, Oid relid);
static Writable *read_view(const Writable *relation, Oid relid);
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
 * spanner_internal.may_draw(sequence regclass, called regprocedure) returns record
 *
 * NULL, or an error if the current user may not draw from the sequence or not
 * execute the function.  Runs for every row.
 */
Datum
spanner_may_draw(PG_FUNCTION_ARGS)
{
	if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1))
		sk_check_draw_privilege(PG_GETARG_OID(0), PG_GETARG_OID(1));
	PG_RETURN_NULL();
}

/*
 * spanner_internal.may_call(called regprocedure) returns boolean
 *
 * True, or an error if the current user may not execute the function.
 */
Datum
spanner_may_call(PG_FUNCTION_ARGS)
{
	sk_check_execute(PG_GETARG_OID(0));
	PG_RETURN_BOOL(true);
}

/*
 * sk_check_draw_privilege
 *		Raise an error if the current user may not draw from a sequence.
 *
 * "called" is the function that was called for it, which the user has to be
 * allowed to execute, besides core's nextval; InvalidOid means one that the
 * executor has checked.
 */
void
sk_check_draw_privilege(Oid seqid, Oid called)
{
	Permission	wanted = {seqid, called, GetUserId(), GetCurrentStatementStartTimestamp()};
	Permission *last = &permissions[seqid % SK_PERMISSIONS];

	/* what was forgotten must not look like an answer */
	Assert(OidIsValid(seqid) && OidIsValid(wanted.user));
	if (last->seqid != wanted.seqid || last->user != wanted.user ||
		last->statement != wanted.statement ||
		(last->called != called && OidIsValid(called)))
		look_for_permission(&wanted);
}

/*
 * Apart from its caller, which runs for every row.  An invalidation that
 * arrives while we look leaves the answer good for this row only.  For an
 * identity column core asks for no function, either.  Its default calls core's
 * nextval, so whoever calls another function has written the call.
 */
static pg_noinline void
look_for_permission(Permission *wanted)
{
	uint64		before = invalidations;
	SkBinding  *binding = sk_binding_get(wanted->seqid);

	if (OidIsValid(wanted->called) && wanted->called != F_NEXTVAL)
	{
		sk_check_execute(wanted->called);
		sk_check_execute(F_NEXTVAL);
	}
	if (binding->options == NULL ||
		binding->options->identity == SK_IDENTITY_NONE ||
		!may_write_column(wanted->seqid, wanted->user))
	{
		sk_check_execute(F_NEXTVAL);
		if (pg_class_aclcheck(wanted->seqid, wanted->user,
							  ACL_USAGE | ACL_UPDATE) != ACLCHECK_OK)
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SEQUENCE,
						   get_rel_name(wanted->seqid));
	}
	if (before == invalidations)
		permissions[wanted->seqid % SK_PERMISSIONS] = *wanted;
}

/*
 * sk_check_execute
 *		Raise an error if the current user may not execute a function.
 *
 * As the executor does when it prepares a call.
 */
void
sk_check_execute(Oid function)
{
	AclResult	result = object_aclcheck(ProcedureRelationId, function,
										 GetUserId(), ACL_EXECUTE);

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
	List	   *relations = NIL;
	ListCell   *lc;
	Oid			table;
	int32		attnum;
	char	   *column;

	if (!sequenceIsOwned(seqid, DEPENDENCY_AUTO, &table, &attnum) &&
		!sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &attnum))
		return false;
	if (may_write(make_writable(table, attnum), user))
		return true;

	column = get_attname(table, attnum, false);
	foreach(lc, find_all_inheritors(table, NoLock, NULL))
		relations = lappend(relations,
							make_writable(lfirst_oid(lc),
										  get_attnum(lfirst_oid(lc), column)));

	/* the list grows while it is read, by views over views */
	foreach(lc, relations)
	{
		CHECK_FOR_INTERRUPTS();
		if (may_write_through(lfirst(lc), user))
			return true;
		relations = list_views(lfirst(lc), relations);
	}
	return false;
}

/* A table, or with columns to come, something else. */
static Writable *
make_writable(Oid relid, AttrNumber column)
{
	Writable   *result = palloc0(sizeof(Writable));

	result->relid = relid;
	if (column > 0)
		result->columns = bms_make_singleton(column);
	return result;
}

/*
 * The owner of a view has been found to be allowed what the view needs, unless
 * its user has to be.
 */
static bool
may_write_through(const Writable *relation, Oid user)
{
	while (may_write(relation, user))
	{
		if (relation->below == NULL || !relation->asks_user)
			return true;
		relation = relation->below;
	}
	return false;
}

/*
 * An INSERT draws if it does not mention the column, an UPDATE only if it
 * does.  Nobody may write what has been dropped since it was listed.
 */
static bool
may_write(const Writable *relation, Oid user)
{
	bool		missing = false;
	int			column = -1;

	if (pg_class_aclcheck_ext(relation->relid, user, ACL_INSERT | ACL_UPDATE,
							  &missing) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all_ext(relation->relid, user, ACL_INSERT,
									  ACLMASK_ANY, &missing) == ACLCHECK_OK)
		return true;
	while ((column = bms_next_member(relation->columns, column)) >= 0)
	{
		if (pg_attribute_aclcheck_ext(relation->relid, column, user, ACL_UPDATE,
									  &missing) == ACLCHECK_OK)
			return true;
	}
	return false;
}

/*
 * Append the views over a relation to a list, if they can be written.  A view
 * lets its users do what its owner may do.
 */
static List *
list_views(const Writable *relation, List *views)
{
	const int	writes = (1 << CMD_INSERT) | (1 << CMD_UPDATE);
	ListCell   *lc;

	foreach(lc, sk_dependents(relation->relid, RewriteRelationId))
	{
		Oid			relid = rule_relation(lfirst_oid(lc));
		Writable   *view;

		CHECK_FOR_INTERRUPTS();
		if (!OidIsValid(relid) || is_listed(views, relid) ||
			!may_write_through(relation, sk_relation_owner(relid)))
			continue;
		view = read_view(relation, relid);
		if (view != NULL &&
			(relation_is_updatable(relid, NIL, true, NULL) & writes) != 0)
			views = lappend(views, view);
	}
	return views;
}

static bool
is_listed(List *list, Oid relid)
{
	ListCell   *lc;

	foreach(lc, list)
	{
		if (((Writable *) lfirst(lc))->relid == relid)
			return true;
	}
	return false;
}

/*
 * A view over a relation, or a table with a rule that names it.  NULL if it has
 * been dropped.
 */
static Writable *
read_view(const Writable *relation, Oid relid)
{
	Relation	view = try_relation_open(relid, AccessShareLock);
	Writable   *result;
	Query	   *query;
	ListCell   *lc;

	if (view == NULL)
		return NULL;
	result = make_writable(relid, InvalidAttrNumber);
	result->below = relation;
	if (view->rd_rel->relkind == RELKIND_VIEW)
	{
		result->asks_user = RelationHasSecurityInvoker(view);
		query = get_view_query(view);
		foreach(lc, query->targetList)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, lc);
			Var		   *column = (Var *) entry->expr;
			RangeTblEntry *rte;

			if (!IsA(column, Var) || entry->resjunk)
				continue;
			rte = rt_fetch(column->varno, query->rtable);
			if (rte->rtekind == RTE_RELATION && rte->relid == relation->relid &&
				bms_is_member(column->varattno, relation->columns))
				result->columns = bms_add_member(result->columns, entry->resno);
		}
	}
	relation_close(view, AccessShareLock);
	return result;
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
