/*-------------------------------------------------------------------------
 *
 * column_sample.c
 *	  The first values of a column.
 *
 * The rows are read by the OID of the table, without a query, so no code of
 * the table's owner runs and no name can be made to mean something else: advice
 * on all tables can be neither held up nor failed by the owner of one.
 *
 * src/advisor/column_sample.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "compat.h"

/* How many rows are read. */
#define SK_SAMPLED_ROWS 1000

/* How many characters of a value are looked at. */
#define SK_VALUE_LENGTH 64

PG_FUNCTION_INFO_V1(spanner_first_values);

static bool may_sample(Oid relid, AttrNumber attnum);
static void read_rows(Relation rel, AttrNumber attnum, ReturnSetInfo *result);
static Datum shown(Oid output, Datum value);

/*
 * spanner_internal.first_values(relation oid, column_number smallint)
 * returns setof text
 *
 * The values of at most 1,000 rows, in the order in which they are stored, and
 * of each at most 64 characters.
 * None for a column that the caller may not read, and for a table that is being
 * altered or has been dropped.
 */
Datum
spanner_first_values(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = PG_GETARG_OID(0);
	AttrNumber	attnum = PG_GETARG_INT16(1);
	Relation	rel;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (!OidIsValid(relid) || !ConditionalLockRelationOid(relid, AccessShareLock))
		return (Datum) 0;
	if (get_rel_relkind(relid) == RELKIND_RELATION && may_sample(relid, attnum))
	{
		rel = table_open(relid, NoLock);
		read_rows(rel, attnum, result);
		table_close(rel, NoLock);
	}
	UnlockRelationOid(relid, AccessShareLock);
	return (Datum) 0;
}

/* May the current user read all rows of the column? */
static bool
may_sample(Oid relid, AttrNumber attnum)
{
	Oid			user = GetUserId();

	return attnum > 0 && OidIsValid(get_atttype(relid, attnum)) &&
		!isOtherTempNamespace(get_rel_namespace(relid)) &&
		object_aclcheck(NamespaceRelationId, get_rel_namespace(relid), user,
						ACL_USAGE) == ACLCHECK_OK &&
		(pg_class_aclcheck(relid, user, ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck(relid, attnum, user, ACL_SELECT) == ACLCHECK_OK) &&
		check_enable_rls(relid, InvalidOid, true) != RLS_ENABLED;
}

static void
read_rows(Relation rel, AttrNumber attnum, ReturnSetInfo *result)
{
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TableScanDesc scan = sk_table_beginscan(rel, GetActiveSnapshot(), 0, NULL);
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "row of a sample",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(row);
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid,
					  &output, &is_varlena);
	for (int rows = 0; rows < SK_SAMPLED_ROWS &&
		 table_scan_getnextslot(scan, ForwardScanDirection, slot); rows++)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, attnum, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (!isnull)
			value = shown(output, value);
		tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
		MemoryContextReset(row);
	}
	MemoryContextSwitchTo(before);
	MemoryContextDelete(row);
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/* A value as text, or the first characters of it. */
static Datum
shown(Oid output, Datum value)
{
	char	   *text = OidOutputFunctionCall(output, value);

	return PointerGetDatum(cstring_to_text_with_len(text,
													pg_mbcharcliplen(text, strlen(text), SK_VALUE_LENGTH)));
}
