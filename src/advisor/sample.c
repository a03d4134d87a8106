/*-------------------------------------------------------------------------
 *
 * sample.c
 *	  Rows of a table that the advisor looks at.
 *
 * Advice on all tables reads the first values of columns by the OID of the
 * table, without a query.  So no code of the table's owner runs, and no name
 * can be made to mean something else: the owner of one table can neither hold
 * up nor fail advice on all of them.
 *
 * Pictures read keys by a query, which is planned and run as the owner of the
 * table (relation_query.c).  The text of the query is made here and not in
 * SQL, since a function that runs any text as the owner would give the owner's
 * rights to its callers.  Expressions of an index are trees from the catalogs.
 *
 * TABLESAMPLE SYSTEM takes blocks here and there, many more than are needed
 * for the number of rows.  A hash of the row's place decides which of their
 * rows count: rows in one block were mostly inserted together, and would tell
 * the same.  Both choices are repeatable, so a picture can be drawn again.
 *
 * For pictures, tables and what they contain are locked with AccessShareLock,
 * as a query does, to the end of the transaction.  For advice, a lock is tried,
 * and given back at once: there may be more tables than the lock table has room
 * for.
 *
 * src/advisor/sample.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

#include "compat.h"
#include "spi/relation_query.h"
#include "spi/run_command.h"

/* How many rows are read for advice, and how many characters of a value. */
#define SK_SAMPLED_ROWS 1000
#define SK_VALUE_LENGTH 64

/* How many characters, or bytes, of a key are looked at. */
#define SK_KEY_LENGTH "64"

/* How many characters of a value are shown. */
#define SK_LABEL_LENGTH "60"

/* A value of any type as text: its output function, never a cast. */
#define SK_SHOWN(value) "pg_catalog.left(pg_catalog.concat(" value "), " SK_LABEL_LENGTH ")"

/* What has more than 300 digits counts as infinite, so that it can be shown. */
#define SK_NUMERIC(value) \
	"CASE WHEN " value " OPERATOR(pg_catalog.<=) '-1e300' THEN CAST('-Infinity' AS pg_catalog.numeric)" \
	" WHEN " value " OPERATOR(pg_catalog.>=) '1e300' AND " value " OPERATOR(pg_catalog.<) 'NaN' THEN 'Infinity'" \
	" ELSE CAST(" value " AS pg_catalog.numeric) END"

/* The first 8 bytes of a UUID, without a sign. */
#define SK_UUID_NUMBER \
	"pg_catalog.mod(CAST(CAST(CAST(pg_catalog.concat('x', pg_catalog.translate(pg_catalog.left(" \
	"CAST($1 AS pg_catalog.text), 18), '-', '')) AS pg_catalog.bit(64)) AS pg_catalog.int8) AS pg_catalog.numeric)" \
	" OPERATOR(pg_catalog.+) 18446744073709551616, 18446744073709551616)"

PG_FUNCTION_INFO_V1(spanner_is_free);
PG_FUNCTION_INFO_V1(spanner_first_values);
PG_FUNCTION_INFO_V1(spanner_sample_keys);
PG_FUNCTION_INFO_V1(spanner_check_sampled);

static bool lock_at_once(Oid relid, LOCKMODE mode);
static bool may_sample(Oid relid, AttrNumber attnum);
static void read_rows(Relation rel, AttrNumber attnum, ReturnSetInfo *result);
static Datum shown(Oid output, Datum value);
static Relation open_existing(Oid relid);
static void check_rows_here(Relation rel);
static void refuse_kind(Oid relid, char kind, const char *table);
static Node *column_of(Relation rel, const char *name);
static Node *column_var(Relation rel, AttrNumber attnum);
static List *index_columns(Relation rel, Oid indexid, bool all, Node **filter);
static Node *stored_tree(Relation index, AttrNumber attribute);
static void check_order(List *expressions);
static void add_key(StringInfo text, Oid type, int columns);
static char *parameters(int count);
static void add_order(StringInfo text, bool ordered, int parameter);
static void add_sampling(StringInfo text, double percent, double share);

/*
 * spanner_internal.is_free(relation oid) returns boolean
 *
 * Whether the server's functions on a relation, such as pg_get_expr(), find it
 * and do not wait.  They open it, or the table of an index, so a session that
 * has locked one table would hold up advice on all of them.  A sequence is
 * asked for its last value, which takes a lock as nextval() does.
 *
 * Another session may lock or drop the relation between this and the call,
 * which waits or fails then as any query does.
 */
Datum
spanner_is_free(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char		kind = get_rel_relkind(relid);
	LOCKMODE	mode = kind == RELKIND_SEQUENCE ? RowExclusiveLock : AccessShareLock;
	bool		is_index = kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX;
	Oid			table = is_index ? IndexGetRelation(relid, true) : relid;

	if (!lock_at_once(table, mode))
		PG_RETURN_BOOL(false);
	UnlockRelationOid(table, mode);
	PG_RETURN_BOOL(SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)));
}

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
	if (!lock_at_once(relid, AccessShareLock))
		return (Datum) 0;
	/* asked under the lock: the table may have been dropped just before */
	if (get_rel_relkind(relid) == RELKIND_RELATION && may_sample(relid, attnum))
	{
		rel = table_open(relid, NoLock);
		read_rows(rel, attnum, result);
		table_close(rel, NoLock);
	}
	UnlockRelationOid(relid, AccessShareLock);
	return (Datum) 0;
}

/*
 * spanner_internal.sample_keys(relation oid, indexid oid,
 *		column_name name, all_columns boolean, order_by name,
 *		block_percent double precision, row_share double precision)
 * returns setof record (type oid, number numeric, key text, rank bigint,
 *		place bigint, label text)
 *
 * The key is the first column of the index or all of them, or the column if
 * there is no index.  "number" or "key" has it, by type; both are NULL if the key is.
 * "rank", for types without either, and for several columns, is how many
 * smaller keys are sampled, plus one.  "place" and "label" are the row's place
 * in the order of the column order_by and its value there; both are NULL without
 * a name, so that no right to the whole row is needed, as to read ctid.
 */
Datum
spanner_sample_keys(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		all_columns = PG_GETARG_BOOL(3);
	const char *order_by = NameStr(*PG_GETARG_NAME(4));
	bool		by_column = false;
	Relation	rel = open_existing(PG_GETARG_OID(0));
	bool		partitioned = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	Node	   *filter = NULL;
	SkRelationQuery query = {0};
	StringInfoData text;
	TupleTableSlot *slot;
	MemoryContext before;

	InitMaterializedSRF(fcinfo, 0);
	check_rows_here(rel);
	if (!OidIsValid(PG_GETARG_OID(1)))
		query.expressions = list_make1(column_of(rel, NameStr(*PG_GETARG_NAME(2))));
	else
		query.expressions = index_columns(rel, PG_GETARG_OID(1), all_columns, &filter);

	initStringInfo(&text);
	add_key(&text, getBaseType(exprType(linitial(query.expressions))),
			all_columns ? list_length(query.expressions) : 0);
	if (*order_by && strcmp(order_by, "ctid") != 0)
	{
		by_column = true;
		query.expressions = lappend(query.expressions, column_of(rel, order_by));
	}
	check_order(query.expressions);
	add_order(&text, *order_by, by_column ? list_length(query.expressions) : 0);
	appendStringInfo(&text, " FROM %s%s AS t", partitioned ? "" : "ONLY ",
					 sk_qualified_name(RelationGetRelid(rel)));
	add_sampling(&text, PG_GETARG_FLOAT8(5), PG_GETARG_FLOAT8(6));
	if (filter != NULL)
	{
		query.expressions = lappend(query.expressions, filter);
		appendStringInfo(&text, " AND $%d", list_length(query.expressions));
	}

	query.text = text.data;

	query.relids = list_make1_oid(RelationGetRelid(rel));
	relation_close(rel, NoLock);

	/*
	 * The rows of the query are the result.  The store in their place has to
	 * live until the caller has read it.
	 */
	before = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	tuplestore_end(result->setResult);
	result->setResult = sk_query_relation(&query, &slot);
	ExecDropSingleTupleTableSlot(slot);
	MemoryContextSwitchTo(before);
	return (Datum) 0;
}

/*
 * spanner_internal.check_sampled(relation oid) returns void
 *
 * Raises an error if a relation has no rows here that can be sampled.
 */
Datum
spanner_check_sampled(PG_FUNCTION_ARGS)
{
	Relation	rel = open_existing(PG_GETARG_OID(0));

	check_rows_here(rel);
	relation_close(rel, NoLock);
	PG_RETURN_VOID();
}

/* Is there no need to wait for the lock?  The relation may be gone meanwhile. */
static bool
lock_at_once(Oid relid, LOCKMODE mode)
{
	CHECK_FOR_INTERRUPTS();
	return OidIsValid(relid) && ConditionalLockRelationOid(relid, mode);
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

		/* what output functions leak goes with each row */
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

/* It may have been dropped before we have the lock. */
static Relation
open_existing(Oid relid)
{
	Relation	result = try_relation_open(relid, AccessShareLock);

	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return result;
}

/*
 * A foreign table is read with the user mapping of the one who asks for it.
 * We would ask as the owner, so a caller could read there what only the owner
 * may.  The locks keep the kinds as they are.
 */
static void
check_rows_here(Relation rel)
{
	char		kind = rel->rd_rel->relkind;
	ListCell   *lc;

	if (kind == RELKIND_RELATION || kind == RELKIND_MATVIEW)
		return;
	if (kind != RELKIND_PARTITIONED_TABLE)
		refuse_kind(RelationGetRelid(rel), kind, NULL);
	foreach(lc, find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL))
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
			refuse_kind(lfirst_oid(lc), RELKIND_FOREIGN_TABLE,
						RelationGetRelationName(rel));
	}
}

/* "table" is what the relation is a partition of, if it is one. */
static void
refuse_kind(Oid relid, char kind, const char *table)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 table ?
			 errmsg("cannot sample partition \"%s\" of table \"%s\"", get_rel_name(relid), table) :
			 errmsg("cannot sample relation \"%s\"", get_rel_name(relid)),
			 errdetail_relkind_not_supported(kind),
			 table ?
			 errhint("Call the function for the local partitions and on the other servers, or use spanner.split_stats() of extension \"spanner_keys_splits\".") :
			 kind == RELKIND_FOREIGN_TABLE ?
			 errhint("Call the function on the server that holds the rows.") :
			 errhint("Name a table or a materialized view.")));
}

static Node *
column_of(Relation rel, const char *name)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);

	if (attnum < 1)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(rel))));
	return column_var(rel, attnum);
}

static Node *
column_var(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	return (Node *) makeVar(1, attnum, column->atttypid, column->atttypmod,
							column->attcollation, 0);
}

/* An index may be on expressions, and on a part of the rows. */
static List *
index_columns(Relation rel, Oid indexid, bool all, Node **filter)
{
	Relation	index = open_existing(indexid);
	Form_pg_index form = index->rd_index;
	List	   *expressions;
	List	   *result = NIL;
	int			next = 0;

	if (form == NULL || form->indrelid != RelationGetRelid(rel))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("\"%s\" is not an index of relation \"%s\"",
						RelationGetRelationName(index), RelationGetRelationName(rel))));
	expressions = (List *) stored_tree(index, Anum_pg_index_indexprs);
	*filter = stored_tree(index, Anum_pg_index_indpred);
	for (int i = 0; i < (all ? form->indnkeyatts : 1); i++)
	{
		AttrNumber	attnum = form->indkey.values[i];

		result = lappend(result, attnum != 0 ? column_var(rel, attnum) :
						 list_nth(expressions, next++));
	}
	relation_close(index, NoLock);
	return result;
}

/* The relation cache would run functions with constant arguments. */
static Node *
stored_tree(Relation index, AttrNumber attribute)
{
	bool		isnull;
	Datum		tree = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
									   attribute, &isnull);

	return isnull ? NULL : stringToNode(TextDatumGetCString(tree));
}

static void
check_order(List *expressions)
{
	ListCell   *lc;

	foreach(lc, expressions)
	{
		Oid			type = getBaseType(exprType(lfirst(lc)));

		if (!OidIsValid(lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("values of type %s have no order", format_type_be(type)),
					 errhint("Name a column of a type that a B-tree index can hold.")));
	}
}

/*
 * Four columns: type, number, key, rank.  The owner of a type can create a
 * cast from it that calls any function.  So only types of the server are cast.
 */
static void
add_key(StringInfo text, Oid type, int columns)
{
	static const struct
	{
		Oid			type;
		const char *number;
		const char *key;
	}			forms[] = {
		{BOOLOID, "CAST(CAST($1 AS pg_catalog.int4) AS pg_catalog.numeric)", NULL},
		{INT2OID, "CAST($1 AS pg_catalog.numeric)", NULL},
		{INT4OID, "CAST($1 AS pg_catalog.numeric)", NULL},
		{INT8OID, "CAST($1 AS pg_catalog.numeric)", NULL},
		{OIDOID, "CAST(CAST($1 AS pg_catalog.int8) AS pg_catalog.numeric)", NULL},
		{FLOAT4OID, "CAST($1 AS pg_catalog.numeric)", NULL},
		{FLOAT8OID, "CAST($1 AS pg_catalog.numeric)", NULL},
		{NUMERICOID, SK_NUMERIC("$1"), NULL},
		{DATEOID, "pg_catalog.extract('epoch', $1)", NULL},
		{TIMEOID, "pg_catalog.extract('epoch', $1)", NULL},
		{TIMESTAMPOID, "pg_catalog.extract('epoch', $1)", NULL},
		{TIMESTAMPTZOID, "pg_catalog.extract('epoch', $1)", NULL},
		{UUIDOID, SK_UUID_NUMBER, NULL},
		{TEXTOID, NULL, "pg_catalog.left($1, " SK_KEY_LENGTH ")"},
		{VARCHAROID, NULL, "pg_catalog.left(CAST($1 AS pg_catalog.text), " SK_KEY_LENGTH ")"},
		{BPCHAROID, NULL, "pg_catalog.left(CAST($1 AS pg_catalog.text), " SK_KEY_LENGTH ")"},
		{NAMEOID, NULL, "CAST($1 AS pg_catalog.text)"},
		{BYTEAOID, NULL, "pg_catalog.encode(pg_catalog.substring($1, 1, " SK_KEY_LENGTH "), 'hex')"},
	};

	appendStringInfo(text, "SELECT CAST(%u AS pg_catalog.oid), ", columns > 0 ? RECORDOID : type);
	for (int i = 0; i < lengthof(forms) && columns == 0; i++)
	{
		if (forms[i].type != type)
			continue;
		appendStringInfo(text, "%s, %s, CAST(NULL AS pg_catalog.int8)",
						 forms[i].number ? forms[i].number : "CAST(NULL AS pg_catalog.numeric)",
						 forms[i].key ? forms[i].key : "CAST(NULL AS pg_catalog.text)");
		return;
	}
	if (columns > 0)
		appendStringInfo(text, "CAST(NULL AS pg_catalog.numeric), "
						 SK_SHOWN("ROW(%s)") ", pg_catalog.rank() OVER (ORDER BY %s)",
						 parameters(columns), parameters(columns));
	else
		appendStringInfoString(text, "CAST(NULL AS pg_catalog.numeric),"
							   " CASE WHEN pg_catalog.num_nulls($1) OPERATOR(pg_catalog.=) 0 THEN " SK_SHOWN("$1") " END,"
							   " pg_catalog.rank() OVER (ORDER BY $1)");
}

static char *
parameters(int count)
{
	StringInfoData result;

	initStringInfo(&result);
	for (int i = 1; i <= count; i++)
		appendStringInfo(&result, "%s$%d", i > 1 ? ", " : "", i);
	return result.data;
}

/* Two columns: the place in the order of insertion, and what that goes by. */
static void
add_order(StringInfo text, bool ordered, int parameter)
{
	if (parameter > 0)
		appendStringInfo(text, ", pg_catalog.row_number() OVER (ORDER BY $%d, t.tableoid, t.ctid),"
						 " CASE WHEN pg_catalog.num_nulls($%d) OPERATOR(pg_catalog.=) 0 THEN " SK_SHOWN("$%d") " END",
						 parameter, parameter, parameter);
	else if (ordered)
		appendStringInfoString(text, ", pg_catalog.row_number() OVER (ORDER BY t.ctid),"
							   " CAST(t.ctid AS pg_catalog.text)");
	else
		appendStringInfoString(text, ", CAST(NULL AS pg_catalog.int8), CAST(NULL AS pg_catalog.text)");
}

static void
add_sampling(StringInfo text, double percent, double share)
{
	if (percent < 100)
		appendStringInfo(text, " TABLESAMPLE pg_catalog.system(%.9g) REPEATABLE (0)", percent);
	appendStringInfoString(text, " WHERE true");
	if (share < 1)
		appendStringInfo(text, " AND (pg_catalog.hashtid(t.ctid) OPERATOR(pg_catalog.&) 2147483647)"
						 " OPERATOR(pg_catalog.<) " INT64_FORMAT,
						 (int64) (Max(share, 0) * ((int64) PG_INT32_MAX + 1)));
}
