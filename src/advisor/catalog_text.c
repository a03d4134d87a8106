/*-------------------------------------------------------------------------
 *
 * catalog_text.c
 *	  What the catalogs hold, as text, without waiting for anybody.
 *
 * The server's own functions open the relation whose columns they name, and so
 * wait as long as anybody has locked it.  Advice on all tables would then wait
 * for the owner of each.  The functions here return NULL instead, as for what
 * has been dropped meanwhile.  A lock is given back at once: there may be more
 * tables than the lock table has room for.
 *
 * They tell nothing that the server's functions do not tell everybody.
 *
 * src/advisor/catalog_text.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(spanner_index_text);
PG_FUNCTION_INFO_V1(spanner_expression_text);
PG_FUNCTION_INFO_V1(spanner_constraint_text);
PG_FUNCTION_INFO_V1(spanner_partition_key_text);
PG_FUNCTION_INFO_V1(spanner_body_text);
PG_FUNCTION_INFO_V1(spanner_relation_bytes);
PG_FUNCTION_INFO_V1(spanner_last_counter);

static Datum call_locked(FunctionCallInfo fcinfo, PGFunction function,
						 List *relations, LOCKMODE mode, int nargs,
						 NullableDatum *args);
static List *lock_at_once(List *relations, LOCKMODE mode);
static void unlock(List *relations, LOCKMODE mode);

/*
 * spanner_internal.index_text(indexid oid, column_number integer) returns text
 *
 * As pg_get_indexdef().
 */
Datum
spanner_index_text(PG_FUNCTION_ARGS)
{
	Oid			index = PG_GETARG_OID(0);
	NullableDatum args[3] = {
		{ObjectIdGetDatum(index), false}, {PG_GETARG_DATUM(1), false}, {BoolGetDatum(false), false}
	};

	return call_locked(fcinfo, pg_get_indexdef_ext,
					   list_make2_oid(IndexGetRelation(index, true), index),
					   AccessShareLock, lengthof(args), args);
}

/*
 * spanner_internal.expression_text(expression pg_node_tree, relation oid)
 * returns text
 *
 * As pg_get_expr().
 */
Datum
spanner_expression_text(PG_FUNCTION_ARGS)
{
	NullableDatum args[2] = {{PG_GETARG_DATUM(0), false}, {PG_GETARG_DATUM(1), false}};

	return call_locked(fcinfo, pg_get_expr, list_make1_oid(PG_GETARG_OID(1)),
					   AccessShareLock, lengthof(args), args);
}

/*
 * spanner_internal.constraint_text(constraint oid) returns text
 *
 * As pg_get_constraintdef(), for the constraint of a table.
 */
Datum
spanner_constraint_text(PG_FUNCTION_ARGS)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, PG_GETARG_DATUM(0));
	NullableDatum args[1] = {{PG_GETARG_DATUM(0), false}};
	Oid			table;

	if (!HeapTupleIsValid(tuple))
		PG_RETURN_NULL();
	table = ((Form_pg_constraint) GETSTRUCT(tuple))->conrelid;
	ReleaseSysCache(tuple);
	return call_locked(fcinfo, pg_get_constraintdef, list_make1_oid(table),
					   AccessShareLock, lengthof(args), args);
}

/*
 * spanner_internal.partition_key_text(relation oid) returns text
 *
 * As pg_get_partkeydef().
 */
Datum
spanner_partition_key_text(PG_FUNCTION_ARGS)
{
	NullableDatum args[1] = {{PG_GETARG_DATUM(0), false}};

	return call_locked(fcinfo, pg_get_partkeydef, list_make1_oid(PG_GETARG_OID(0)),
					   AccessShareLock, lengthof(args), args);
}

/*
 * spanner_internal.body_text(function oid, relations oid[]) returns text
 *
 * As pg_get_function_sqlbody(), for a body that names these relations: the
 * server opens all of them.
 */
Datum
spanner_body_text(PG_FUNCTION_ARGS)
{
	NullableDatum args[1] = {{PG_GETARG_DATUM(0), false}};
	List	   *relations = NIL;
	Datum	   *oids;
	bool	   *nulls;
	int			count;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), OIDOID, sizeof(Oid), true,
					  TYPALIGN_INT, &oids, &nulls, &count);
	for (int i = 0; i < count; i++)
		relations = list_append_unique_oid(relations, nulls[i] ? InvalidOid :
										   DatumGetObjectId(oids[i]));
	return call_locked(fcinfo, pg_get_function_sqlbody, relations, AccessShareLock,
					   lengthof(args), args);
}

/*
 * spanner_internal.relation_bytes(relation oid) returns bigint
 *
 * As pg_relation_size().
 */
Datum
spanner_relation_bytes(PG_FUNCTION_ARGS)
{
	NullableDatum args[2] = {{PG_GETARG_DATUM(0), false}, {CStringGetTextDatum("main"), false}};

	return call_locked(fcinfo, pg_relation_size, list_make1_oid(PG_GETARG_OID(0)),
					   AccessShareLock, lengthof(args), args);
}

/*
 * spanner_internal.last_counter(sequence oid) returns bigint
 *
 * As pg_sequence_last_value(), whose lock on the sequence stays to the end of
 * the transaction.
 */
Datum
spanner_last_counter(PG_FUNCTION_ARGS)
{
	NullableDatum args[1] = {{PG_GETARG_DATUM(0), false}};

	return call_locked(fcinfo, pg_sequence_last_value,
					   list_make1_oid(PG_GETARG_OID(0)), RowExclusiveLock,
					   lengthof(args), args);
}

/* Call a function while relations are locked that it opens; else NULL. */
static Datum
call_locked(FunctionCallInfo fcinfo, PGFunction function, List *relations,
			LOCKMODE mode, int nargs, NullableDatum *args)
{
	LOCAL_FCINFO(call, 3);
	List	   *locked = lock_at_once(relations, mode);
	Datum		result;

	Assert(nargs <= 3);
	if (locked == NIL && relations != NIL)
		PG_RETURN_NULL();
	InitFunctionCallInfoData(*call, NULL, nargs, InvalidOid, NULL, NULL);
	memcpy(call->args, args, nargs * sizeof(NullableDatum));
	result = function(call);
	fcinfo->isnull = call->isnull;
	unlock(locked, mode);
	return result;
}

/* The relations, if all of them are there and none had to be waited for. */
static List *
lock_at_once(List *relations, LOCKMODE mode)
{
	List	   *locked = NIL;
	ListCell   *lc;

	foreach(lc, relations)
	{
		Oid			relid = lfirst_oid(lc);

		CHECK_FOR_INTERRUPTS();
		if (OidIsValid(relid) && ConditionalLockRelationOid(relid, mode))
			locked = lappend_oid(locked, relid);
		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) ||
			!list_member_oid(locked, relid))
		{
			unlock(locked, mode);
			return NIL;
		}
	}
	return locked;
}

static void
unlock(List *relations, LOCKMODE mode)
{
	ListCell   *lc;

	foreach(lc, relations)
		UnlockRelationOid(lfirst_oid(lc), mode);
}
