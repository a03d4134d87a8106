/*-------------------------------------------------------------------------
 *
 * expired.c
 *	  Finding and deleting the rows that a row deletion policy lets expire.
 *
 * spanner_internal.delete_rows() calls these, piece by piece.  Nothing here is
 * found by name: the owner of a schema could put another table in the place of
 * one that is locked, whose triggers would run with the rights of the caller.
 *
 * src/spanner_ddl/expired.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/itemptr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "spi/relation_query.h"
#include "spi/row_writer.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_delete_tids);
PG_FUNCTION_INFO_V1(spanner_find_expired);

static Relation open_own_table(Oid relid);
static bool delete_row(SkRowWriter *writer, TableScanDesc scan, ItemPointer tid,
					   TupleTableSlot *old);

/* A table of the current user's: its triggers run with the caller's rights. */
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
	if (rel->rd_rel->relowner != GetUserId())
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(rel));
	return rel;
}

/*
 * spanner_internal.find_expired(relation oid, column_number smallint,
 *		older_than interval, staying tid[], row_limit integer) returns tid[]
 *
 * The places of rows of a table of the current user's of which the column is
 * older, without those that are known to stay.
 */
Datum
spanner_find_expired(PG_FUNCTION_ARGS)
{
	Relation	rel = open_own_table(PG_GETARG_OID(0));
	Oid			relid = RelationGetRelid(rel);
	AttrNumber	column = PG_GETARG_INT16(1);
	SkRelationQuery query = {0};
	ArrayBuildState *found = initArrayResult(TIDOID, CurrentMemoryContext, false);
	Tuplestorestate *rows;
	TupleTableSlot *slot;
	Oid			type;
	int32		typmod;
	Oid			collation;

	if (column <= 0 || column > RelationGetNumberOfAttributes(rel) ||
		TupleDescAttr(RelationGetDescr(rel), column - 1)->attisdropped ||
		getBaseType(get_atttype(relid, column)) != TIMESTAMPTZOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("rows of table \"%s\" expire by a column of type timestamptz only",
						RelationGetRelationName(rel))));
	get_atttypetypmodcoll(relid, column, &type, &typmod, &collation);
	query.relids = list_make1_oid(relid);
	query.expressions = list_make3(makeVar(1, column, type, typmod, collation, 0),
								   makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval),
											 PG_GETARG_DATUM(2), false, false),
								   makeConst(get_array_type(TIDOID), -1, InvalidOid, -1,
											 PG_GETARG_DATUM(3), false, false));
	query.all_rows = true;
	query.text = psprintf("SELECT t.ctid FROM ONLY %s AS t"
						  " WHERE CAST($1 AS pg_catalog.timestamptz) OPERATOR(pg_catalog.<)"
						  " (CURRENT_TIMESTAMP OPERATOR(pg_catalog.-) $2)"
						  " AND t.ctid OPERATOR(pg_catalog.<>) ALL ($3)"
						  " LIMIT %d",
						  sk_qualified_name(relid), Max(PG_GETARG_INT32(4), 0));
	rows = sk_query_relation(&query, &slot);
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		bool		isnull;
		Datum		tid = slot_getattr(slot, 1, &isnull);

		found = accumArrayResult(found, tid, isnull, TIDOID, CurrentMemoryContext);
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
	table_close(rel, NoLock);
	PG_RETURN_DATUM(makeArrayResult(found, CurrentMemoryContext));
}

/*
 * spanner_internal.delete_tids(relation oid, tids tid[]) returns tid[]
 *
 * Deletes rows of a table of the current user's, and returns where those are
 * that stay: another transaction has locked or changed them meanwhile, or a
 * trigger keeps them.
 */
Datum
spanner_delete_tids(PG_FUNCTION_ARGS)
{
	Relation	rel = open_own_table(PG_GETARG_OID(0));
	TupleTableSlot *old = table_slot_create(rel, NULL);
	ArrayBuildState *staying = initArrayResult(TIDOID, CurrentMemoryContext, false);
	SkRowWriter writer;
	TableScanDesc scan;
	Datum	   *tids;
	int			count;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TIDOID, sizeof(ItemPointerData), false,
					  TYPALIGN_SHORT, &tids, NULL, &count);
	sk_writer_begin(&writer, rel, 0, true);
	/* the lock keeps the table from getting shorter than the scan has seen it */
	scan = sk_table_beginscan(rel, GetActiveSnapshot(), 0, NULL);
	for (int i = 0; i < count; i++)
	{
		ItemPointerData tid = *(ItemPointer) DatumGetPointer(tids[i]);

		CHECK_FOR_INTERRUPTS();
		if (!delete_row(&writer, scan, &tid, old))
			staying = accumArrayResult(staying, PointerGetDatum(&tid), false, TIDOID,
									   CurrentMemoryContext);
	}
	table_endscan(scan);
	sk_writer_end(&writer);
	ExecDropSingleTupleTableSlot(old);
	table_close(rel, NoLock);
	PG_RETURN_DATUM(makeArrayResult(staying, CurrentMemoryContext));
}

/*
 * Delete a row.  If that is not done, "tid" is where it stays.
 *
 * The place comes from SQL, so it can be any.  table_tuple_lock() believes what
 * it is told: it would read a line pointer that is not there.  So the row is
 * fetched before, which looks at block, line pointer and visibility as a TID
 * scan does.
 */
static bool
delete_row(SkRowWriter *writer, TableScanDesc scan, ItemPointer tid, TupleTableSlot *old)
{
	Relation	rel = scan->rs_rd;
	TM_FailureData failure;
	bool		stays;

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	if (!table_tuple_tid_valid(scan, tid) ||
		!table_tuple_fetch_row_version(rel, tid, scan->rs_snapshot, old))
		return false;
	ExecClearTuple(old);
	/* a row that was updated meanwhile may be young again */
	if (table_tuple_lock(rel, tid, scan->rs_snapshot, old, GetCurrentCommandId(false),
						 LockTupleExclusive, LockWaitSkip, 0, &failure) != TM_Ok)
		return false;
	sk_writer_write(writer, CMD_DELETE, old, NULL);
	if (rel->trigdesc == NULL || !rel->trigdesc->trig_delete_before_row)
		return true;
	/* a trigger may have kept the row, or changed it instead */
	scan = sk_table_beginscan(rel, SnapshotSelf, 0, NULL);
	table_tuple_get_latest_tid(scan, tid);
	table_endscan(scan);
	stays = table_tuple_fetch_row_version(rel, tid, SnapshotSelf, old);
	ExecClearTuple(old);
	return !stays;
}
