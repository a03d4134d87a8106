/*-------------------------------------------------------------------------
 *
 * number_rows.c
 *	  Writing numbers of allocators into rows.
 *
 * An allocator gives exactly as many numbers as there are rows that get one.
 * Rows that are gone or have a number already are left out before the
 * allocator is locked, and a row whose update does nothing is an error.
 *
 * Allocators are locked in the order of their ids, their series in an order of
 * their values, to the end of the transaction.  The latest version of their rows counts, whatever the
 * snapshot shows, so that numbering works in every isolation level.
 *
 * Rows are written as the owner of their table, as foreign keys do it: who
 * may insert need not be allowed to update.  The owner, not the one who
 * inserts, must be allowed to draw from the allocator.
 *
 * src/allocator/number_rows.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "allocator/cache.h"
#include "allocator/number_rows.h"
#include "allocator/reserve.h"
#include "compat.h"
#include "keys/canonical.h"
#include "spi/owner_rights.h"
#include "spi/row_writer.h"

/* A row that gets a number. */
typedef struct DueRow
{
	const SkNumberTarget *target;
	ItemPointerData tid;		/* the latest version */
	ArrayType  *series;			/* NULL if the target has none */
	uint64		position;
} DueRow;

/* A cell that is to hold a number; hash key. */
typedef struct Cell
{
	Oid			relid;
	AttrNumber	attnum;
	ItemPointerData tid;
} Cell;

/* What writes numbers into a column. */
typedef struct ColumnWriter
{
	SkRowWriter rows;
	Relation	rel;
	AttrNumber	attnum;
	Oid			type;			/* of the column, without its domain */
	ExprState  *coercion;		/* of a bigint to the type of the column */
	TupleTableSlot *old;
	TupleTableSlot *new;
} ColumnWriter;

/* A table that rows are read from, NULL before the first. */
typedef struct RowReader
{
	Relation	rel;
	TupleTableSlot *slot;
} RowReader;

static void check_column(Relation rel, AttrNumber attnum);
static void check_mode(const char *name, SkMode mode);
static AttrNumber find_column(Relation rel, const char *column,
							  bool is_number);
static AttrNumber find_series_column(Relation rel, const char *name,
									 AttrNumber number);
static bool find_row(Relation rel, AttrNumber attnum, ItemPointer tid,
					 TupleTableSlot *slot);
static bool lacks_number(Relation rel, AttrNumber attnum,
						 ItemPointerData tid);
static ArrayType *row_series(const SkNumberTarget *target, Relation rel,
							 TupleTableSlot *slot);
static bool is_same_value(TupleTableSlot *old, TupleTableSlot *new,
						  AttrNumber attnum);
static void close_reader(RowReader *reader);
static bool is_due(RowReader *reader, DueRow *row);
static bool is_noted(HTAB *cells, const DueRow *row);
static bool has_several_targets(const SkUnnumbered *rows, uint64 count);
static uint64 collect_due(const SkUnnumbered *rows, uint64 count,
						  DueRow *due);
static int	compare_counters(const DueRow *x, const DueRow *y);
static int	compare_due(const void *a, const void *b);
static void begin_writing(ColumnWriter *writer, const SkNumberTarget *target,
						  Oid *userid, int *sec_context);
static void end_writing(ColumnWriter *writer, Oid userid, int sec_context);
static bool holds_number(const ColumnWriter *writer, int64 number);
static void report_other_series(Relation rel, ArrayType *series,
								int64 number);
static void write_number(ColumnWriter *writer, const DueRow *due,
						 int64 number);
static void number_table(const SkAllocatorRow *allocator, DueRow *due,
						 uint64 count, int64 *last);
static bool number_group(DueRow *due, uint64 count, SkAssignment *assignment);

static void
check_column(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	Oid			type = getBaseType(column->atttypid);

	if (type != INT2OID && type != INT4OID && type != INT8OID &&
		type != NUMERICOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" cannot hold numbers of an allocator",
						NameStr(column->attname), RelationGetRelationName(rel)),
				 errdetail("Its type is %s.", format_type_be(column->atttypid)),
				 errhint("Use a column of type smallint, integer, bigint or numeric.")));
	if (column->attgenerated != '\0' || column->attidentity != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of relation \"%s\" is an identity or generated column",
						NameStr(column->attname), RelationGetRelationName(rel)),
				 errhint("Use a column that has no other source of values.")));
	if (column->attnotnull)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of relation \"%s\" is NOT NULL",
						NameStr(column->attname), RelationGetRelationName(rel)),
				 errdetail("Rows have no number until their transaction commits."),
				 errhint("Use ALTER TABLE ... ALTER COLUMN ... DROP NOT NULL.")));
}

static void
check_mode(const char *name, SkMode mode)
{
	if (mode != SK_MODE_ON_COMMIT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("allocator \"%s\" does not assign values on commit",
						name),
				 errdetail("Its mode is \"%s\".", sk_mode_names[mode]),
				 errhint("Change it with %s.",
						 "spanner.alter_allocator(name, mode => 'on_commit')")));
}

static AttrNumber
find_column(Relation rel, const char *column, bool is_number)
{
	AttrNumber	result = get_attnum(RelationGetRelid(rel), column);

	if (result <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, RelationGetRelationName(rel)),
				 is_number ?
				 errhint("Create the trigger with the name of a column as its second argument.") :
				 errhint("Create the trigger with the names of columns after its second argument.")));
	return result;
}

/* A virtual generated column, 'v' in releases that have them, is not stored. */
static AttrNumber
find_series_column(Relation rel, const char *name, AttrNumber number)
{
	AttrNumber	attnum = find_column(rel, name, false);
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	if (sk_key_kind(column->atttypid) == SK_KEY_UNSUPPORTED)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" cannot tell the series of a number",
						name, RelationGetRelationName(rel)),
				 errdetail("Its type is %s.", format_type_be(column->atttypid)),
				 errhint("Types of keys are %s.", sk_key_type_names())));
	if (attnum == number || column->attgenerated == 'v')
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of relation \"%s\" cannot tell the series of a number",
						name, RelationGetRelationName(rel)),
				 attnum == number ? errdetail("It is to hold the number.") :
				 errdetail("It is a virtual generated column.")));
	return attnum;
}

/*
 * Find the latest version of a row, if it is there and has no number.  The row
 * is of the current transaction, so nothing matters but what that has done.
 */
static bool
find_row(Relation rel, AttrNumber attnum, ItemPointer tid, TupleTableSlot *slot)
{
	TableScanDesc scan;

	if (table_tuple_fetch_row_version(rel, tid, SnapshotSelf, slot))
		return slot_attisnull(slot, attnum);
	scan = table_beginscan_tid(rel, SnapshotSelf);
	table_tuple_get_latest_tid(scan, tid);
	table_endscan(scan);
	return table_tuple_fetch_row_version(rel, tid, SnapshotSelf, slot) &&
		slot_attisnull(slot, attnum);
}

/* Is a row there, in any version, without a number? */
static bool
lacks_number(Relation rel, AttrNumber attnum, ItemPointerData tid)
{
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	bool		result = find_row(rel, attnum, &tid, slot);

	ExecDropSingleTupleTableSlot(slot);
	return result;
}

/*
 * sk_number_target
 *		Find columns and an allocator, and check that they fit.
 *
 * "arguments" are the allocator, the column, and those that tell the series.
 * Returns false if the tuple has its number, and needs no allocator.  A dump
 * may restore that later.
 */
bool
sk_number_target(SkNumberTarget *target, Relation rel, HeapTuple tuple,
				 char *const *arguments, int count)
{
	SkAllocator *found;

	Assert(count >= 2 && count <= SK_MAX_SERIES_COLUMNS + 2);
	memset(target, 0, sizeof(SkNumberTarget));
	target->relid = RelationGetRelid(rel);
	target->attnum = find_column(rel, arguments[1], true);
	check_column(rel, target->attnum);
	for (int i = 2; i < count; i++)
		target->series[target->series_count++] =
			find_series_column(rel, arguments[i], target->attnum);
	/* the row may have lost its number since */
	if (!heap_attisnull(tuple, target->attnum, RelationGetDescr(rel)) &&
		!lacks_number(rel, target->attnum, tuple->t_self))
		return false;
	found = sk_allocator_by_name(arguments[0]);
	check_mode(found->row.name, found->row.mode);
	target->allocator_id = found->id;
	return true;
}

static ArrayType *
row_series(const SkNumberTarget *target, Relation rel, TupleTableSlot *slot)
{
	return target->series_count == 0 ? NULL :
		sk_series_of_row(slot, rel, target->series, target->series_count);
}

static bool
is_same_value(TupleTableSlot *old, TupleTableSlot *new, AttrNumber attnum)
{
	Form_pg_attribute column = TupleDescAttr(old->tts_tupleDescriptor, attnum - 1);
	bool		is_null[2];
	Datum		values[2];

	values[0] = slot_getattr(old, attnum, &is_null[0]);
	values[1] = slot_getattr(new, attnum, &is_null[1]);
	return is_null[0] == is_null[1] &&
		(is_null[0] || datum_image_eq(values[0], values[1], column->attbyval, column->attlen));
}

/*
 * sk_number_check_series
 *		Refuse an update that takes a number into another series.
 *
 * A row with a NULL, which got its number by hand, is of no series.
 */
void
sk_number_check_series(const SkNumberTarget *target, Relation rel,
					   TupleTableSlot *old, TupleTableSlot *new)
{
	bool		is_changed = false;
	bool		has_null = false;

	for (int i = 0; i < target->series_count; i++)
	{
		is_changed |= !is_same_value(old, new, target->series[i]);
		has_null |= slot_attisnull(old, target->series[i]) ||
			slot_attisnull(new, target->series[i]);
	}
	if (!is_changed || slot_attisnull(new, target->attnum) ||
		!is_same_value(old, new, target->attnum) ||
		(!has_null &&
		 sk_series_compare(row_series(target, rel, old), row_series(target, rel, new)) == 0))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
			 errmsg("cannot change the series of a numbered row of relation \"%s\"",
					RelationGetRelationName(rel)),
			 has_null ? 0 :
			 errdetail("Its number is one of series (%s), not of (%s).",
					   sk_series_print(row_series(target, rel, old)),
					   sk_series_print(row_series(target, rel, new))),
			 errhint("Set column \"%s\" to NULL as well: the row gets a number of the other series.",
					 NameStr(TupleDescAttr(RelationGetDescr(rel), target->attnum - 1)->attname))));
}

static void
close_reader(RowReader *reader)
{
	if (reader->rel == NULL)
		return;
	ExecDropSingleTupleTableSlot(reader->slot);
	table_close(reader->rel, NoLock);
	reader->rel = NULL;
}

/* Is the row to be numbered?  Sets the latest version, and its series. */
static bool
is_due(RowReader *reader, DueRow *row)
{
	if (reader->rel == NULL || RelationGetRelid(reader->rel) != row->target->relid)
	{
		close_reader(reader);
		reader->rel = table_open(row->target->relid, RowExclusiveLock);
		reader->slot = table_slot_create(reader->rel, NULL);
	}
	if (!find_row(reader->rel, row->target->attnum, &row->tid, reader->slot))
		return false;
	row->series = row_series(row->target, reader->rel, reader->slot);
	return true;
}

/*
 * Note the cell that a row's number is for.  Returns whether it was noted
 * before.
 */
static bool
is_noted(HTAB *cells, const DueRow *row)
{
	Cell		cell;
	bool		found;

	memset(&cell, 0, sizeof(Cell));
	cell.relid = row->target->relid;
	cell.attnum = row->target->attnum;
	cell.tid = row->tid;
	(void) hash_search(cells, &cell, HASH_ENTER, &found);
	return found;
}

static bool
has_several_targets(const SkUnnumbered *rows, uint64 count)
{
	for (uint64 i = 1; i < count; i++)
		if (rows[i].target != rows[0].target)
			return true;
	return false;
}

/*
 * Take the rows that need a number.  Two triggers may fill the same column, of
 * which the first one wins.  A row of one trigger can be there several times,
 * too: when it was inserted and updated.  It has a number at the second time.
 *
 * Rows of one counter are looked at when they are written.  One must be due
 * before that is locked.
 */
static uint64
collect_due(const SkUnnumbered *rows, uint64 count, DueRow *due)
{
	RowReader	reader = {NULL};
	HTAB	   *cells = NULL;
	bool		has_several = has_several_targets(rows, count);
	bool		is_one_counter = !has_several && rows[0].target->series_count == 0;
	uint64		found = 0;

	Assert(count >= 1);
	if (has_several)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(Cell);
		ctl.entrysize = sizeof(Cell);
		ctl.hcxt = CurrentMemoryContext;
		cells = hash_create("cells to number", 256, &ctl,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	/* what was inserted so far can be updated */
	CommandCounterIncrement();
	for (uint64 i = 0; i < count; i++)
	{
		DueRow		row = {rows[i].target, rows[i].tid, NULL, i};

		CHECK_FOR_INTERRUPTS();
		if ((is_one_counter && found > 0) ||
			(is_due(&reader, &row) && (cells == NULL || !is_noted(cells, &row))))
			due[found++] = row;
	}
	close_reader(&reader);
	if (cells != NULL)
		hash_destroy(cells);
	return found;
}

/*
 * By allocator and series.  Series that begin get their ids in this order, so
 * ids would be no order that is the same for all transactions.
 */
static int
compare_counters(const DueRow *x, const DueRow *y)
{
	if (x->target->allocator_id != y->target->allocator_id)
		return x->target->allocator_id < y->target->allocator_id ? -1 : 1;
	return sk_series_compare(x->series, y->series);
}

/* By counter, and as the rows came. */
static int
compare_due(const void *a, const void *b)
{
	const DueRow *x = a;
	const DueRow *y = b;
	int			result = compare_counters(x, y);

	if (result != 0)
		return result;
	return x->position < y->position ? -1 : 1;
}

/*
 * Become the owner of the table, and prepare to write.  A check, a domain or a
 * trigger runs as the owner.  Triggers that are deferred go on doing so later,
 * so the security context is not a restricted one.
 */
static void
begin_writing(ColumnWriter *writer, const SkNumberTarget *target,
			  Oid *userid, int *sec_context)
{
	Relation	rel = table_open(target->relid, RowExclusiveLock);
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), target->attnum - 1);
	CaseTestExpr *number = makeNode(CaseTestExpr);
	Node	   *coercion;

	GetUserIdAndSecContext(userid, sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   *sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	sk_writer_begin(&writer->rows, rel, target->attnum);
	number->typeId = INT8OID;
	number->typeMod = -1;
	coercion = coerce_to_target_type(NULL, (Node *) number, INT8OID,
									 column->atttypid, column->atttypmod,
									 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
	Assert(coercion != NULL);
	writer->coercion = ExecPrepareExpr((Expr *) coercion, writer->rows.estate);
	writer->rel = rel;
	writer->attnum = target->attnum;
	writer->type = getBaseType(column->atttypid);
	writer->old = table_slot_create(rel, NULL);
	writer->new = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);
}

static void
end_writing(ColumnWriter *writer, Oid userid, int sec_context)
{
	ExecDropSingleTupleTableSlot(writer->new);
	ExecDropSingleTupleTableSlot(writer->old);
	sk_writer_end(&writer->rows);
	SetUserIdAndSecContext(userid, sec_context);
	table_close(writer->rel, NoLock);
}

/* Does the column hold a number? */
static bool
holds_number(const ColumnWriter *writer, int64 number)
{
	bool		isnull;
	Datum		value = slot_getattr(writer->new, writer->attnum, &isnull);

	if (isnull)
		return false;
	switch (writer->type)
	{
		case INT2OID:
			return DatumGetInt16(value) == number;
		case INT4OID:
			return DatumGetInt32(value) == number;
		case INT8OID:
			return DatumGetInt64(value) == number;
		default:
			Assert(writer->type == NUMERICOID);
			return DatumGetBool(DirectFunctionCall2(numeric_eq, value,
													NumericGetDatum(int64_to_numeric(number))));
	}
}

static void
report_other_series(Relation rel, ArrayType *series, int64 number)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			 errmsg("could not write number %lld into a row of relation \"%s\"",
					(long long) number, RelationGetRelationName(rel)),
			 errdetail("The number is one of series (%s), which the row has left.",
					   sk_series_print(series)),
			 errhint("Look for a trigger on the table that changes the columns of the series.")));
}

/*
 * Write a number into the row that is in writer->old.  A trigger may keep it
 * from being stored, which is an error.
 */
static void
write_number(ColumnWriter *writer, const DueRow *due, int64 number)
{
	TupleTableSlot *new = writer->new;
	int			natts = RelationGetDescr(writer->rel)->natts;
	ExprContext *context = GetPerTupleExprContext(writer->rows.estate);

	ExecClearTuple(new);
	ResetExprContext(context);
	slot_getallattrs(writer->old);
	memcpy(new->tts_values, writer->old->tts_values, natts * sizeof(Datum));
	memcpy(new->tts_isnull, writer->old->tts_isnull, natts * sizeof(bool));
	context->caseValue_datum = Int64GetDatum(number);
	context->caseValue_isNull = false;
	new->tts_values[writer->attnum - 1] =
		ExecEvalExprSwitchContext(writer->coercion, context,
								  &new->tts_isnull[writer->attnum - 1]);
	ExecStoreVirtualTuple(new);

	sk_writer_write(&writer->rows, CMD_UPDATE, writer->old, new);
	if (ItemPointerIsValid(&new->tts_tid) &&
		sk_series_compare(row_series(due->target, writer->rel, new), due->series) != 0)
		report_other_series(writer->rel, due->series, number);
	if (ItemPointerIsValid(&new->tts_tid) &&
		holds_number(writer, number))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			 errmsg("could not write number %lld into a row of relation \"%s\"",
					(long long) number, RelationGetRelationName(writer->rel)),
			 ItemPointerIsValid(&new->tts_tid) ?
			 errdetail("Another value was stored in its place.") :
			 errdetail("The update of the row was suppressed."),
			 ItemPointerIsValid(&new->tts_tid) ?
			 errhint("Look for a trigger on the table that changes the column, or at the column's type.") :
			 errhint("Look for a trigger on the table that suppresses updates.")));
}

/* Number rows of one table.  Sets *last to the last number, if there is one. */
static void
number_table(const SkAllocatorRow *allocator, DueRow *due, uint64 count,
			 int64 *last)
{
	ColumnWriter writer;
	Oid			userid;
	int			sec_context;

	sk_check_usage(&sk_allocator_by_id(allocator->id)->row,
				   sk_relation_owner(due->target->relid));
	begin_writing(&writer, due->target, &userid, &sec_context);
	for (uint64 i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();

		/* a trigger of a row before may have changed or deleted this one */
		if (!find_row(writer.rel, writer.attnum, &due[i].tid, writer.old))
			continue;
		/* nothing happens in between, so no number is lost */
		*last = sk_own_take(allocator, 1).first;
		write_number(&writer, &due[i], *last);
	}
	end_writing(&writer, userid, sec_context);
}

/*
 * Number the rows of one allocator, or of one series, which is locked first.
 * Returns false if none of them was left.
 */
static bool
number_group(DueRow *due, uint64 count, SkAssignment *assignment)
{
	ArrayType  *series = due[0].series;
	SkAllocatorRow allocator;
	SkMode		mode;
	int64		first;
	uint64		end;

	PreventCommandIfReadOnly("spanner.assign_on_commit()");
	/* the cache may forget it while the triggers of users run */
	allocator = series == NULL ? sk_allocator_by_id(assignment->allocator_id)->row :
		sk_allocator_by_series(assignment->allocator_id, series, true)->row;
	assignment->counter_id = allocator.id;
	first = sk_own_next(&allocator, &mode);
	check_mode(allocator.name, mode);
	assignment->last = first - 1;
	for (uint64 i = 0; i < count; i = end)
	{
		for (end = i + 1; end < count; end++)
			if (due[end].target != due[i].target)
				break;
		number_table(&allocator, due + i, end - i, &assignment->last);
	}
	return assignment->last >= first;
}

/*
 * sk_number_rows
 *		Give numbers to rows, in their order.
 *
 * Returns what was assigned, a list of SkAssignment.
 */
List *
sk_number_rows(const SkUnnumbered *rows, uint64 count)
{
	DueRow	   *due = MemoryContextAllocHuge(CurrentMemoryContext,
											 count * sizeof(DueRow));
	uint64		due_count = collect_due(rows, count, due);
	List	   *assignments = NIL;
	uint64		end;

	qsort(due, due_count, sizeof(DueRow), compare_due);
	for (uint64 i = 0; i < due_count; i = end)
	{
		SkAssignment *assignment = palloc(sizeof(SkAssignment));

		assignment->allocator_id = due[i].target->allocator_id;
		for (end = i + 1; end < due_count; end++)
			if (compare_counters(&due[end], &due[i]) != 0)
				break;
		/* all transactions lock the rows of allocators in this order */
		Assert(end == due_count || compare_counters(&due[i], &due[end]) < 0);
		if (number_group(due + i, end - i, assignment))
			assignments = lappend(assignments, assignment);
	}
	pfree(due);
	return assignments;
}
