/*-------------------------------------------------------------------------
 *
 * core_support.c
 *	  Our functions in the place of core's: support function, calls.
 *
 * This is what ALTER FUNCTION ... SUPPORT does, and its reverse, for which there is
 * no command.  pg_upgrade loses it, so it is done again when a label is set.
 *
 * pg_proc has the support function, and pg_depend says that core's function
 * needs it.  They come and go together: as long as core's function has the
 * OID, core refuses to drop ours.
 *
 * Locking: a change takes a lock on each of core's functions, in the order of
 * their OIDs, until the transaction ends.
 *
 * src/sequence/core_support.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/sequence.h"

PG_FUNCTION_INFO_V1(spanner_attach_support);

/* Core's functions, by OID. */
static const Oid core_functions[] = {
	F_NEXTVAL,
	F_CURRVAL,
	F_SETVAL_REGCLASS_INT8,
	F_SETVAL_REGCLASS_INT8_BOOL,
	F_LASTVAL,
};

static bool change_support(Oid function, Oid from, Oid to);

/*
 * spanner_internal.attach_support() returns void
 *
 * Run by the script of the extension.  For superusers.
 */
Datum
spanner_attach_support(PG_FUNCTION_ARGS)
{
	sk_set_core_support(true);
	PG_RETURN_VOID();
}

/*
 * sk_set_core_support
 *		Attach our support function to those of core's functions that lack it, or
 *		detach it from all.
 *
 * Raises an error if one of them has a support function of another extension.
 */
void
sk_set_core_support(bool attach)
{
	Oid			support = sk_function(SK_FUNCTION_SEQUENCE_SUPPORT);
	bool		changed = false;

	for (int i = 0; i < lengthof(core_functions); i++)
	{
		Oid			function = core_functions[i];

		if (!attach)
			(void) change_support(function, support, InvalidOid);
		else if (get_func_support(function) != support)
		{
			changed |= change_support(function, InvalidOid, support);
			if (get_func_support(function) != support)
				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_IN_USE),
						 errmsg("function %s already has support function %s",
								format_procedure_qualified(function),
								format_procedure_qualified(get_func_support(function))),
						 errhint("Drop the extension that the support function belongs to.")));
		}
	}

	/*
	 * Plans do not depend on functions of core, and those without a relation
	 * are only made again when a schema changes.
	 */
	if (changed)
		CacheInvalidateCatalog(NamespaceRelationId);
}

/*
 * sk_make_oid
 *		A constant of type regclass, regprocedure and the like.
 */
Expr *
sk_make_oid(Oid type, Oid value)
{
	return (Expr *) makeConst(type, -1, InvalidOid, sizeof(Oid),
							  ObjectIdGetDatum(value), false, true);
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

/*
 * Exchange the support function of a function.  Returns false if another
 * session was faster.
 */
static bool
change_support(Oid function, Oid from, Oid to)
{
	Relation	catalog = table_open(ProcedureRelationId, RowExclusiveLock);
	HeapTuple	tuple;
	Form_pg_proc form;
	bool		result;

	Assert(from != to && function < FirstNormalObjectId);
	/* this also accepts what the other session has changed */
	LockDatabaseObject(ProcedureRelationId, function, 0,
					   ShareUpdateExclusiveLock);
	tuple = SearchSysCacheCopy1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	result = form->prosupport == from;
	if (result)
	{
		ObjectAddress ours;
		ObjectAddress theirs;

		form->prosupport = to;
		CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
		ObjectAddressSet(theirs, ProcedureRelationId, function);
		ObjectAddressSet(ours, ProcedureRelationId, to);
		if (OidIsValid(to))
			recordDependencyOn(&theirs, &ours, DEPENDENCY_NORMAL);
		else
			(void) deleteDependencyRecordsForSpecific(ProcedureRelationId,
													  function,
													  DEPENDENCY_NORMAL,
													  ProcedureRelationId,
													  from);
		CommandCounterIncrement();
	}
	table_close(catalog, RowExclusiveLock);
	return result;
}
