/*-------------------------------------------------------------------------
 *
 * number_rows.c
 *	  Writing numbers of allocators into rows.
 *
 * An allocator gives exactly as many numbers as there are rows that get one:
 * rows that are gone or that have a number already are sorted out before the
 * numbers are reserved, and a row whose update does nothing is an error.
 *
 * Locks: first the allocator itself, as a database object, to the end of the
 * transaction, then its row in spanner.allocator.  Whoever has got the first
 * one finds no newer version of the row than a fresh snapshot shows, so that
 * numbering works in every isolation level.  Allocators are locked in the
 * order of their ids.  A transaction that has changed the allocator has
 * locked its row already, and takes no other lock, since somebody who has it
 * may be waiting for the row.
 *
 * Rows are updated as the owner of their table, as foreign keys do it: who
 * may insert need not be allowed to update.  The owner, not the one who
 * inserts, must be allowed to draw from the allocator.
 *
 * src/allocator/number_rows.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "allocator/allocator_cache.h"
#include "allocator/number_rows.h"
#include "allocator/reserve.h"
#include "allocator/reserve_in_turn.h"
#include "spi/run_command.h"

/* A row that gets a number. */
typedef struct DueRow
{
	const SkNumberTarget *target;
	ItemPointerData tid;		/* the latest version */
	uint64		position;
} DueRow;

/* A cell that is to hold a number; hash key. */
typedef struct Cell
{
	Oid			relid;
	AttrNumber	attnum;
	ItemPointerData tid;
} Cell;

/* The update of a column, planned once in a session. */
typedef struct ColumnPlan
{
	struct
	{
		Oid			relid;
		int32		attnum;
	}			key;
	SPIPlanPtr	plan;
} ColumnPlan;

static HTAB *column_plans = NULL;

static void check_column(Relation rel, AttrNumber attnum);
static void check_mode(const SkAllocator *allocator);
static uint64 collect_due(const SkUnnumbered *rows, uint64 count, DueRow *due);
static bool find_row(const SkNumberTarget *target, ItemPointer tid);
static int	compare_due(const void *a, const void *b);
static bool number_group(DueRow *due, uint64 count, SkAssignment *assignment);
static void lock_allocator(int64 id, SkAllocatorRow *row);
static int64 number_table(const SkAllocatorRow *allocator, DueRow *due,
						  uint64 count, int64 number);
static bool write_number(SPIPlanPtr plan, Relation rel, DueRow *due, int64 number);
static bool update_row(SPIPlanPtr plan, Relation rel, DueRow *due, int64 number);
static SPIPlanPtr column_plan(Relation rel, AttrNumber attnum);

/*
 * sk_number_target
 *		Find a column and an allocator, and check that they fit.
 */
void
sk_number_target(SkNumberTarget *target, Relation rel,
				 const char *allocator, const char *column)
{
	SkAllocator *found;

	target->relid = RelationGetRelid(rel);
	target->attnum = SPI_fnumber(RelationGetDescr(rel), column);
	if (target->attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, RelationGetRelationName(rel)),
				 errhint("Create the trigger with the name of a column as its second argument.")));
	check_column(rel, target->attnum);
	found = sk_allocator_by_name(allocator);
	check_mode(found);
	target->allocator_id = found->id;
}

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
check_mode(const SkAllocator *allocator)
{
	if (allocator->row.mode != SK_MODE_ON_COMMIT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("allocator \"%s\" does not assign values on commit",
						allocator->name),
				 errdetail("Its mode is \"%s\".",
						   sk_mode_name(allocator->row.mode)),
				 errhint("Change it with %s.",
						 "spanner.alter_allocator(name, mode => 'on_commit')")));
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
			if (due[end].target->allocator_id != assignment->allocator_id)
				break;
		if (number_group(due + i, end - i, assignment))
			assignments = lappend(assignments, assignment);
	}
	pfree(due);
	return assignments;
}

/*
 * Take the rows that need a number.  A row can be there several times: when
 * it was inserted and updated, or when two triggers fill the same column, of
 * which the first one wins.
 */
static uint64
collect_due(const SkUnnumbered *rows, uint64 count, DueRow *due)
{
	HTAB	   *seen = NULL;
	uint64		found = 0;

	if (count > 1)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(Cell);
		ctl.entrysize = sizeof(Cell);
		ctl.hcxt = CurrentMemoryContext;
		seen = hash_create("cells to number", 256, &ctl,
						   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	CommandCounterIncrement();
	for (uint64 i = 0; i < count; i++)
	{
		DueRow		row = {rows[i].target, rows[i].tid, i};
		bool		again = false;

		CHECK_FOR_INTERRUPTS();
		if (!find_row(row.target, &row.tid))
			continue;
		if (seen != NULL)
		{
			Cell		cell;

			memset(&cell, 0, sizeof(Cell));
			cell.relid = row.target->relid;
			cell.attnum = row.target->attnum;
			cell.tid = row.tid;
			(void) hash_search(seen, &cell, HASH_ENTER, &again);
		}
		if (!again)
			due[found++] = row;
	}
	if (seen != NULL)
		hash_destroy(seen);
	return found;
}

/* Find the latest version of a row, if it is there and has no number. */
static bool
find_row(const SkNumberTarget *target, ItemPointer tid)
{
	Relation	rel = table_open(target->relid, RowExclusiveLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TableScanDesc scan = table_beginscan_tid(rel, snapshot);
	bool		found;

	table_tuple_get_latest_tid(scan, tid);
	table_endscan(scan);
	found = table_tuple_fetch_row_version(rel, tid, snapshot, slot) &&
		slot_attisnull(slot, target->attnum);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	table_close(rel, NoLock);
	return found;
}

/* By the lock of the allocator, by allocator, and as the rows came. */
static int
compare_due(const void *a, const void *b)
{
	const DueRow *x = a;
	const DueRow *y = b;
	int64		x_id = x->target->allocator_id;
	int64		y_id = y->target->allocator_id;

	if ((Oid) x_id != (Oid) y_id)
		return (Oid) x_id < (Oid) y_id ? -1 : 1;
	if (x_id != y_id)
		return x_id < y_id ? -1 : 1;
	return x->position < y->position ? -1 : 1;
}

/*
 * Number the rows of one allocator.  Returns false if none of them was left.
 *
 * Triggers that the updates fire may delete or number other rows.  The
 * numbers that were meant for those are the last ones, and go back.
 */
static bool
number_group(DueRow *due, uint64 count, SkAssignment *assignment)
{
	SkAllocatorRow allocator;
	SkRange		range;
	SkRange		unused;
	int64		next;
	uint64		end;

	lock_allocator(assignment->allocator_id, &allocator);
	range = sk_reserve_in_turn(&allocator, count);
	next = range.first;
	for (uint64 i = 0; i < count; i = end)
	{
		for (end = i + 1; end < count; end++)
			if (due[end].target != due[i].target)
				break;
		next = number_table(&allocator, due + i, end - i, next);
	}

	unused.first = next;
	unused.end = range.end;
	if (next < range.end && !sk_reserve_undo(allocator.id, unused))
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("allocator \"%s\" was changed while it numbered rows",
						allocator.name),
				 errhint("Look for a trigger that draws from it or alters it.")));
	assignment->last = next - 1;
	return next > range.first;
}

static void
lock_allocator(int64 id, SkAllocatorRow *row)
{
	SkAllocator *allocator;

	PreventCommandIfReadOnly("spanner.assign_on_commit()");
	allocator = sk_allocator_by_id(id);
	if (!allocator->row.is_own)
	{
		LockDatabaseObject(allocator->key.relid, (Oid) id, 0, ExclusiveLock);
		allocator = sk_allocator_by_id(id);
	}
	check_mode(allocator);
	*row = allocator->row;
	row->name = pstrdup(row->name);
}

/*
 * Number rows of one table, beginning with "number".  Returns the number that
 * comes next.
 */
static int64
number_table(const SkAllocatorRow *allocator, DueRow *due, uint64 count,
			 int64 number)
{
	Relation	rel = table_open(due->target->relid, RowExclusiveLock);
	Oid			userid;
	int			sec_context;
	SPIPlanPtr	plan;

	sk_check_usage(allocator, rel->rd_rel->relowner);
	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	plan = column_plan(rel, due->target->attnum);
	for (uint64 i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (write_number(plan, rel, &due[i], number))
			number++;
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	SetUserIdAndSecContext(userid, sec_context);
	table_close(rel, NoLock);
	return number;
}

/* Returns false if the row needs no number any more. */
static bool
write_number(SPIPlanPtr plan, Relation rel, DueRow *due, int64 number)
{
	ItemPointerData tid = due->tid;

	if (update_row(plan, rel, due, number))
		return true;
	if (!find_row(due->target, &due->tid))
		return false;
	if (!ItemPointerEquals(&tid, &due->tid) &&
		update_row(plan, rel, due, number))
		return true;
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			 errmsg("could not write number %lld into a row of relation \"%s\"",
					(long long) number, RelationGetRelationName(rel)),
			 errdetail("The update of the row was suppressed."),
			 errhint("Look for a trigger or rule on the table that suppresses updates.")));
}

static bool
update_row(SPIPlanPtr plan, Relation rel, DueRow *due, int64 number)
{
	Datum		values[] = {Int64GetDatum(number), PointerGetDatum(&due->tid)};
	int			result = SPI_execute_plan(plan, values, NULL, false, 0);
	bool		isnull;

	if (result != SPI_OK_UPDATE_RETURNING || SPI_processed == 0)
		return false;
	if (!DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0],
									SPI_tuptable->tupdesc, 1, &isnull)) ||
		isnull)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("could not write number %lld into a row of relation \"%s\"",
						(long long) number, RelationGetRelationName(rel)),
				 errdetail("Another value was stored in its place."),
				 errhint("Look for a trigger on the table that changes the column, or at the column's type.")));
	SPI_freetuptable(SPI_tuptable);
	return true;
}

/*
 * The plan that updates a column.  It is made anew when the table has
 * changed, because it contains names.
 */
static SPIPlanPtr
column_plan(Relation rel, AttrNumber attnum)
{
	Oid			argtypes[] = {INT8OID, TIDOID};
	ColumnPlan	key = {{RelationGetRelid(rel), attnum}};
	ColumnPlan *entry;
	bool		found;
	const char *column;
	char	   *command;
	SPIPlanPtr	plan;

	if (column_plans == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(key.key);
		ctl.entrysize = sizeof(ColumnPlan);
		column_plans = hash_create("spanner_keys columns to number", 16, &ctl,
								   HASH_ELEM | HASH_BLOBS);
	}
	entry = hash_search(column_plans, &key.key, HASH_ENTER, &found);
	if (!found)
		entry->plan = NULL;
	if (entry->plan != NULL)
	{
		if (SPI_plan_is_valid(entry->plan))
			return entry->plan;
		SPI_freeplan(entry->plan);
		entry->plan = NULL;
	}

	column = quote_identifier(NameStr(TupleDescAttr(RelationGetDescr(rel),
													attnum - 1)->attname));
	command = psprintf("UPDATE ONLY %s n SET %s = $1"
					   " WHERE n.ctid OPERATOR(pg_catalog.=) $2 AND n.%s IS NULL"
					   " RETURNING n.%s OPERATOR(pg_catalog.=) $1",
					   sk_qualified_name(RelationGetRelid(rel)),
					   column, column, column);
	plan = SPI_prepare_cursor(command, 2, argtypes, CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL || SPI_keepplan(plan) != 0)
		elog(ERROR, "could not prepare: %s", command);
	return entry->plan = plan;
}
