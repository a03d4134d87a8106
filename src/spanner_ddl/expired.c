/*-------------------------------------------------------------------------
 *
 * expired.c
 *	  Deleting the rows that a row deletion policy lets expire.
 *
 * src/spanner_ddl/expired.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/itemptr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "spi/relation_query.h"
#include "spi/row_writer.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_delete_rows);

static Relation open_own_table(Oid relid);
static Tuplestorestate *find_expired(Relation rel, AttrNumber column,
									 Interval *older_than, int limit,
									 TupleTableSlot **slot);
static bool delete_row(SkRowWriter *writer, Relation rel, ItemPointer tid,
					   TupleTableSlot *old);

/*
 * spanner_internal.delete_rows(relation oid, column_number smallint,
 *		older_than interval, batch_size integer) returns bigint
 *
 * Deletes up to "batch_size" rows of a table of the current user's of which the
 * column is older, and returns how many.  Rows that somebody else has locked
 * or changed meanwhile are left for the next time.
 */
Datum
spanner_delete_rows(PG_FUNCTION_ARGS)
{
	Relation	rel = open_own_table(PG_GETARG_OID(0));
	AttrNumber	column = PG_GETARG_INT16(1);
	TupleTableSlot *old = table_slot_create(rel, NULL);
	TupleTableSlot *found;
	Tuplestorestate *rows = find_expired(rel, column, PG_GETARG_INTERVAL_P(2),
										 PG_GETARG_INT32(3), &found);
	SkRowWriter writer;
	int64		deleted = 0;

	sk_writer_begin(&writer, rel, 0);
	while (tuplestore_gettupleslot(rows, true, false, found))
	{
		bool		isnull;
		ItemPointer tid = (ItemPointer) DatumGetPointer(slot_getattr(found, 1, &isnull));

		CHECK_FOR_INTERRUPTS();
		if (delete_row(&writer, rel, tid, old))
			deleted++;
	}
	sk_writer_end(&writer);
	ExecDropSingleTupleTableSlot(found);
	ExecDropSingleTupleTableSlot(old);
	tuplestore_end(rows);
	table_close(rel, NoLock);
	PG_RETURN_INT64(deleted);
}

static Relation
open_own_table(Oid relid)
{
	Relation	rel = try_table_open(relid, RowExclusiveLock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table with OID %u does not exist", relid)));
	if (rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table", RelationGetRelationName(rel))));

	/* triggers of the table run as the current user */
	if (rel->rd_rel->relowner != GetUserId())
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   RelationGetRelationName(rel));
	return rel;
}

/* The places of the rows. */
static Tuplestorestate *
find_expired(Relation rel, AttrNumber column, Interval *older_than, int limit,
			 TupleTableSlot **slot)
{
	Oid			type = TIDOID;
	Oid			column_type;
	int32		typmod;
	Oid			collation;
	SkRelationQuery query = {0};

	if (column <= 0 || column > RelationGetNumberOfAttributes(rel) ||
		getBaseType(get_atttype(RelationGetRelid(rel), column)) != TIMESTAMPTZOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("rows of table \"%s\" expire by a column of type timestamptz only",
						RelationGetRelationName(rel))));
	get_atttypetypmodcoll(RelationGetRelid(rel), column, &column_type, &typmod, &collation);
	query.relids = list_make1_oid(RelationGetRelid(rel));
	query.expressions = list_make1(makeVar(1, column, column_type, typmod, collation, 0));
	query.column_count = 1;
	query.types = &type;
	query.all_rows = true;
	query.text = psprintf("SELECT t.ctid FROM ONLY %s AS t"
						  " WHERE CAST($1 AS pg_catalog.timestamptz) OPERATOR(pg_catalog.<)"
						  " (CURRENT_TIMESTAMP OPERATOR(pg_catalog.-) CAST(%s AS pg_catalog.interval))"
						  " LIMIT %d",
						  sk_qualified_name(RelationGetRelid(rel)),
						  quote_literal_cstr(DatumGetCString(DirectFunctionCall1(interval_out,
																				 IntervalPGetDatum(older_than)))),
						  Max(limit, 0));
	return sk_query_relation(&query, slot);
}

static bool
delete_row(SkRowWriter *writer, Relation rel, ItemPointer tid,
		   TupleTableSlot *old)
{
	TM_FailureData failure;
	TM_Result	result;

	/* a row that was updated meanwhile may be young again */
	result = table_tuple_lock(rel, tid, GetActiveSnapshot(), old,
							  GetCurrentCommandId(false), LockTupleExclusive,
							  LockWaitSkip, 0, &failure);
	if (result != TM_Ok)
		return false;
	sk_writer_write(writer, CMD_DELETE, old, NULL);
	return true;
}
