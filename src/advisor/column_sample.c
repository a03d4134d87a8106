/*-------------------------------------------------------------------------
 *
 * column_sample.c
 *	  What the first rows of a table tell about a column.
 *
 * The rows are read by the OID of the table, without a query, and values are
 * compared by the functions of their built-in types.  So no code of the
 * table's owner runs, and no name can be made to mean something else.
 *
 * src/advisor/column_sample.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "compat.h"

PG_FUNCTION_INFO_V1(spanner_sample_column);

/* How many rows are read. */
#define SK_SAMPLED_ROWS 1000

/* What is counted in the rows. */
typedef struct SkColumnSample
{
	int			rows;
	int			values;			/* not null */
	int			uuids_of_time;
	int			pairs;			/* of values that follow each other */
	int			ascents;
} SkColumnSample;

static bool may_sample(Oid relid, AttrNumber attnum);
static bool find_type(Oid relid, AttrNumber attnum, Oid *type);
static void read_rows(Relation rel, AttrNumber attnum, Oid type,
					  SkColumnSample *sample);
static bool is_uuid_of_time(const char *value);

/*
 * spanner_internal.sample_column(relation oid, column_number smallint)
 * returns record (rows double precision, uuid_share double precision,
 *		ascending_share double precision)
 *
 * NULL for a column that the caller may not read or whose type is not known
 * here, and for a table that is being altered or has been dropped.
 */
Datum
spanner_sample_column(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	AttrNumber	attnum = PG_GETARG_INT16(1);
	SkColumnSample sample = {0};
	TupleDesc	desc;
	Relation	rel;
	Oid			type;
	Datum		values[3];
	bool		nulls[3];

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (!OidIsValid(relid) || !ConditionalLockRelationOid(relid, AccessShareLock))
		PG_RETURN_NULL();
	if (get_rel_relkind(relid) != RELKIND_RELATION ||
		!find_type(relid, attnum, &type) || !may_sample(relid, attnum))
	{
		UnlockRelationOid(relid, AccessShareLock);
		PG_RETURN_NULL();
	}

	rel = table_open(relid, NoLock);
	read_rows(rel, attnum, type, &sample);
	table_close(rel, AccessShareLock);

	values[0] = Float8GetDatum(sample.rows);
	values[1] = Float8GetDatum((double) sample.uuids_of_time / Max(sample.values, 1));
	values[2] = Float8GetDatum((double) sample.ascents / Max(sample.pairs, 1));
	nulls[0] = false;
	nulls[1] = sample.values == 0;
	nulls[2] = sample.pairs == 0;
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* May the current user read all rows of the column? */
static bool
may_sample(Oid relid, AttrNumber attnum)
{
	Oid			user = GetUserId();

	return !isOtherTempNamespace(get_rel_namespace(relid)) &&
		object_aclcheck(NamespaceRelationId, get_rel_namespace(relid), user,
						ACL_USAGE) == ACLCHECK_OK &&
		(pg_class_aclcheck(relid, user, ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck(relid, attnum, user, ACL_SELECT) == ACLCHECK_OK) &&
		check_enable_rls(relid, InvalidOid, true) != RLS_ENABLED;
}

/* The type of a column, without domains; false if no sample is taken of it. */
static bool
find_type(Oid relid, AttrNumber attnum, Oid *type)
{
	*type = attnum > 0 ? get_atttype(relid, attnum) : InvalidOid;
	if (OidIsValid(*type))
		*type = getBaseType(*type);
	switch (*type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case DATEOID:
		case UUIDOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BYTEAOID:
			return true;
		default:
			return false;
	}
}

/* Read the first rows, in the order in which they are stored. */
static void
read_rows(Relation rel, AttrNumber attnum, Oid type, SkColumnSample *sample)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);
	int16		length = get_typlen(type);
	bool		by_value = get_typbyval(type);
	bool		is_text = type == UUIDOID || length == -1;
	Oid			collation = get_typcollation(type);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TableScanDesc scan = sk_table_beginscan(rel, GetActiveSnapshot(), 0, NULL);
	Datum		before = (Datum) 0;
	Oid			output;
	bool		is_varlena;

	if (OidIsValid(collation))
		collation = C_COLLATION_OID;
	getTypeOutputInfo(type, &output, &is_varlena);
	while (sample->rows < SK_SAMPLED_ROWS &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, attnum, &isnull);

		CHECK_FOR_INTERRUPTS();
		sample->rows++;
		if (isnull)
			continue;
		value = is_varlena ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
			datumCopy(value, by_value, length);
		if (sample->values++ > 0)
		{
			sample->pairs++;
			if (DatumGetInt32(FunctionCall2Coll(&entry->cmp_proc_finfo, collation,
												value, before)) > 0)
				sample->ascents++;
		}
		if (is_text && is_uuid_of_time(OidOutputFunctionCall(output, value)))
			sample->uuids_of_time++;
		if (sample->values > 1 && !by_value)
			pfree(DatumGetPointer(before));
		before = value;
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Is a text, by its length and the places of version and variant, a UUID of
 * version 1, 6 or 7, whose most significant bits are a time?  One value may
 * look so by chance, but most do not.
 */
static bool
is_uuid_of_time(const char *value)
{
	int			version;
	int			variant;

	switch (strlen(value))
	{
		case 36:
			version = 14;
			variant = 19;
			if (value[8] != '-')
				return false;
			break;
		case 34:
			version = 14;
			variant = 18;
			if (strncmp(value, "\\x", 2) != 0)
				return false;
			break;
		case 32:
			version = 12;
			variant = 16;
			break;
		default:
			return false;
	}
	return strchr("167", value[version]) != NULL &&
		strchr("89abAB", value[variant]) != NULL;
}
