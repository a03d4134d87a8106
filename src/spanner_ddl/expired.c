/*-------------------------------------------------------------------------
 *
 * expired.c
 *	  Deleting the rows that a row deletion policy lets expire.
 *
 * Rows go in pieces, each in a subtransaction.  A row that cannot go, since
 * another table refers to it or a trigger fails, ends its piece: the rows
 * before it are deleted again, without it, and the next piece begins after it.
 * So each row is tried twice at most, and what can go goes.
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
#include "catalog/pg_constraint.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_trigger.h"
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
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "spi/relation_query.h"
#include "spi/row_writer.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_delete_rows);

/* A query finds so many rows at most. */
#define MAX_FOUND 1000000

/* The expired rows of a table. */
typedef struct Expired
{
	Relation	rel;
	AttrNumber	column;
	const char *older_than;
	ItemPointerData *rows;		/* found by the last query */
	int			count;
	ArrayBuildState *staying;	/* passed over, which no query finds again */
	int64		failed;			/* those among them that raised an error */
	const char *problem;		/* the first error */
} Expired;

static Relation open_own_table(Oid relid);
static void check_column(const Expired *expired);
static List *deferred_constraints(Relation rel);
static void set_constraints(List *constraints, bool deferred);
static void find_expired(Expired *expired, int limit);
static int64 delete_found(Expired *expired, int64 limit);
static int	delete_piece(Expired *expired, int start, int end, int64 *deleted);
static int64 delete_rows(Expired *expired, volatile int *row, int end);
static void pass_over(Expired *expired, ItemPointer tid);
static bool delete_row(SkRowWriter *writer, Relation rel, ItemPointer tid,
					   TupleTableSlot *old);
static bool is_kept(Relation rel, ItemPointer tid, TupleTableSlot *slot);
static bool is_of_row(int code);

/*
 * spanner_internal.delete_rows(relation oid, column_number smallint,
 *		older_than interval, batch_size integer) returns bigint
 *
 * Deletes up to "batch_size" rows of a table of the current user's of which the
 * column is older, and returns how many.  Rows that somebody else has locked
 * or changed meanwhile are left for the next time, and a warning tells of
 * those that cannot be deleted.
 */
Datum
spanner_delete_rows(PG_FUNCTION_ARGS)
{
	Expired		expired = {.rel = open_own_table(PG_GETARG_OID(0)),.column = PG_GETARG_INT16(1)};
	int			limit = Max(PG_GETARG_INT32(3), 0);
	List	   *constraints;
	int64		deleted = 0;
	int			asked;

	check_column(&expired);
	constraints = deferred_constraints(expired.rel);
	set_constraints(constraints, false);
	expired.older_than = DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(2)));
	expired.staying = initArrayResult(TIDOID, CurrentMemoryContext, false);
	do
	{
		/* so that many rows that stay take few queries */
		asked = Min(Max(limit - deleted, expired.staying->nelems), MAX_FOUND);
		find_expired(&expired, asked);
		deleted += delete_found(&expired, limit - deleted);
	} while (deleted < limit && expired.count == asked);
	set_constraints(constraints, true);
	if (expired.failed > 0)
		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_plural("%lld expired row of table \"%s\" cannot be deleted",
							   "%lld expired rows of table \"%s\" cannot be deleted",
							   expired.failed,
							   (long long) expired.failed, RelationGetRelationName(expired.rel)),
				 errdetail_internal("%s", expired.problem)));
	table_close(expired.rel, NoLock);
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

static void
check_column(const Expired *expired)
{
	AttrNumber	column = expired->column;

	if (column <= 0 || column > RelationGetNumberOfAttributes(expired->rel) ||
		TupleDescAttr(RelationGetDescr(expired->rel), column - 1)->attisdropped ||
		getBaseType(get_atttype(RelationGetRelid(expired->rel), column)) != TIMESTAMPTZOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("rows of table \"%s\" expire by a column of type timestamptz only",
						RelationGetRelationName(expired->rel))));
}

/*
 * The constraints that would fail at the commit, when it is too late to pass
 * over a row.
 */
static List *
deferred_constraints(Relation rel)
{
	List	   *result = NIL;

	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &rel->trigdesc->triggers[i];
		HeapTuple	tuple;
		Form_pg_constraint form;

		if (!trigger->tginitdeferred || !TRIGGER_FOR_DELETE(trigger->tgtype))
			continue;
		tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(trigger->tgconstraint));
		if (!HeapTupleIsValid(tuple))
			continue;
		form = (Form_pg_constraint) GETSTRUCT(tuple);
		/* SET CONSTRAINTS asks for that, and others may refer to the table */
		if (object_aclcheck(NamespaceRelationId, form->connamespace, GetUserId(), ACL_USAGE) == ACLCHECK_OK)
			result = lappend(result, makeRangeVar(get_namespace_name(form->connamespace),
												  pstrdup(NameStr(form->conname)), -1));
		ReleaseSysCache(tuple);
	}
	return result;
}

static void
set_constraints(List *constraints, bool deferred)
{
	ConstraintsSetStmt *statement = makeNode(ConstraintsSetStmt);

	statement->constraints = constraints;
	statement->deferred = deferred;
	/* without a list it would be all of them */
	if (constraints != NIL)
		AfterTriggerSetState(statement);
}

/* The places of the rows, without those that stay. */
static void
find_expired(Expired *expired, int limit)
{
	Oid			relid = RelationGetRelid(expired->rel);
	Oid			type = TIDOID;
	Oid			column_type;
	int32		typmod;
	Oid			collation;
	Datum		staying = makeArrayResult(expired->staying, CurrentMemoryContext);
	SkRelationQuery query = {0};
	Tuplestorestate *rows;
	TupleTableSlot *slot;

	get_atttypetypmodcoll(relid, expired->column, &column_type, &typmod, &collation);
	query.relids = list_make1_oid(relid);
	query.expressions = list_make2(makeVar(1, expired->column, column_type, typmod, collation, 0),
								   makeConst(get_array_type(TIDOID), -1, InvalidOid, -1,
											 staying, false, false));
	query.column_count = 1;
	query.types = &type;
	query.all_rows = true;
	query.text = psprintf("SELECT t.ctid FROM ONLY %s AS t"
						  " WHERE CAST($1 AS pg_catalog.timestamptz) OPERATOR(pg_catalog.<)"
						  " (CURRENT_TIMESTAMP OPERATOR(pg_catalog.-) CAST(%s AS pg_catalog.interval))"
						  " AND t.ctid OPERATOR(pg_catalog.<>) ALL ($2)"
						  " LIMIT %d",
						  sk_qualified_name(relid), quote_literal_cstr(expired->older_than), limit);
	rows = sk_query_relation(&query, &slot);
	expired->rows = palloc(limit * sizeof(ItemPointerData));
	expired->count = 0;
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		bool		isnull;

		ItemPointerCopy((ItemPointer) DatumGetPointer(slot_getattr(slot, 1, &isnull)),
						&expired->rows[expired->count]);
		expired->count++;
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
}

/* Delete so many of them at most; returns how many. */
static int64
delete_found(Expired *expired, int64 limit)
{
	int64		result = 0;
	int			start = 0;
	int			end = 0;

	while (start < expired->count && result < limit)
	{
		int64		deleted;
		int			row;

		if (end <= start)
			end = Min(expired->count, start + limit - result);
		row = delete_piece(expired, start, end, &deleted);
		if (row == end)
		{
			result += deleted;
			start = end;
		}
		else if (row > start)
			end = row;
		else
		{
			pass_over(expired, &expired->rows[start++]);
			expired->failed++;
		}
	}
	return result;
}

/*
 * Delete the rows of a piece.  If one of them fails none is deleted, and its
 * place is returned; else it is the end of the piece.
 */
static int
delete_piece(Expired *expired, int start, int end, int64 *deleted)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	MemoryContext work = AllocSetContextCreate(caller, "expired rows", ALLOCSET_DEFAULT_SIZES);
	int			staying = expired->staying->nelems;
	volatile int row = start;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(work);
	PG_TRY();
	{
		*deleted = delete_rows(expired, &row, end);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (row == end || !is_of_row(error->sqlerrcode))
			ReThrowError(error);
		expired->staying->nelems = staying;
		if (expired->problem == NULL)
			expired->problem = pstrdup(error->message);
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	CurrentResourceOwner = owner;
	MemoryContextDelete(work);
	return row;
}

/* Delete from one row on; "row" tells which it is, if that fails. */
static int64
delete_rows(Expired *expired, volatile int *row, int end)
{
	Relation	rel = expired->rel;
	TupleTableSlot *old = table_slot_create(rel, NULL);
	SkRowWriter writer;
	int64		deleted = 0;

	sk_writer_begin(&writer, rel, 0);
	for (; *row < end; (*row)++)
	{
		ItemPointerData tid = expired->rows[*row];

		CHECK_FOR_INTERRUPTS();
		if (delete_row(&writer, rel, &tid, old))
			deleted++;
		else
			pass_over(expired, &tid);
	}
	sk_writer_end(&writer);
	ExecDropSingleTupleTableSlot(old);
	return deleted;
}

static void
pass_over(Expired *expired, ItemPointer tid)
{
	(void) accumArrayResult(expired->staying, PointerGetDatum(tid), false, TIDOID,
							expired->staying->mcontext);
}

/* Delete a row.  If that is not done, "tid" is where it stays. */
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
	return rel->trigdesc == NULL || !rel->trigdesc->trig_delete_before_row ||
		!is_kept(rel, tid, old);
}

/* Has a trigger kept the row, or changed it instead? */
static bool
is_kept(Relation rel, ItemPointer tid, TupleTableSlot *slot)
{
	TableScanDesc scan = sk_table_beginscan(rel, SnapshotSelf, 0, NULL);

	table_tuple_get_latest_tid(scan, tid);
	table_endscan(scan);
	return table_tuple_fetch_row_version(rel, tid, SnapshotSelf, slot);
}

/* May the same command succeed for other rows? */
static bool
is_of_row(int code)
{
	int			category = ERRCODE_TO_CATEGORY(code);

	return category != ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION) &&
		category != ERRCODE_TO_CATEGORY(ERRCODE_TRANSACTION_ROLLBACK) &&
		category != ERRCODE_TO_CATEGORY(ERRCODE_INSUFFICIENT_RESOURCES) &&
		category != ERRCODE_TO_CATEGORY(ERRCODE_INTERNAL_ERROR);
}
