/*-------------------------------------------------------------------------
 *
 * number_rows.c
 *	  Writing numbers of allocators into rows.
 *
 * An allocator gives exactly as many numbers as there are rows that get one.
 * Rows that are gone or have a number already are left out before the
 * allocator is locked, and a row whose update does nothing is an error.
 *
 * Allocators are locked in the order of their ids, to the end of the
 * transaction.  The latest version of their rows counts, whatever the
 * snapshot shows, so that numbering works in every isolation level.
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
#include "parser/analyze.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "allocator/cache.h"
#include "allocator/number_rows.h"
#include "allocator/reserve.h"
#include "compat.h"
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

/* How many updates a session keeps the plans of. */
#define SK_MAX_PLANS 100

/* The update of a column. */
typedef struct ColumnPlan
{
	Oid			relid;
	char	   *command;
	SPIPlanPtr	plan;			/* NULL: not yet made */
} ColumnPlan;

/* In TopMemoryContext, the newest one first. */
static List *column_plans = NIL;

/* The one that is being run, or was run last. */
static const ColumnPlan *running = NULL;

static post_parse_analyze_hook_type prev_post_parse_analyze_hook = NULL;

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
	check_mode(found->row.name, found->row.mode);
	target->allocator_id = found->id;
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

/* By allocator, and as the rows came. */
static int
compare_due(const void *a, const void *b)
{
	const DueRow *x = a;
	const DueRow *y = b;

	if (x->target->allocator_id != y->target->allocator_id)
		return x->target->allocator_id < y->target->allocator_id ? -1 : 1;
	return x->position < y->position ? -1 : 1;
}

/*
 * The entry for an update.  A new one makes those go that are too many, and
 * whose tables may be gone.
 */
static ColumnPlan *
find_plan(Oid relid, const char *command)
{
	ColumnPlan *entry;
	MemoryContext old;
	ListCell   *lc;

	foreach(lc, column_plans)
	{
		entry = lfirst(lc);
		if (entry->relid == relid && strcmp(entry->command, command) == 0)
			return entry;
	}
	running = NULL;
	foreach(lc, column_plans)
	{
		entry = lfirst(lc);
		if (entry->plan != NULL && SPI_plan_is_valid(entry->plan) &&
			foreach_current_index(lc) < SK_MAX_PLANS - 1)
			continue;
		column_plans = foreach_delete_current(column_plans, lc);
		if (entry->plan != NULL)
			SPI_freeplan(entry->plan);
		pfree(entry->command);
		pfree(entry);
	}
	old = MemoryContextSwitchTo(TopMemoryContext);
	entry = palloc0(sizeof(ColumnPlan));
	entry->relid = relid;
	entry->command = pstrdup(command);
	column_plans = lcons(entry, column_plans);
	MemoryContextSwitchTo(old);
	return entry;
}

/*
 * The plan that updates a column.  Core makes it anew when the table has
 * changed, from a text with names.
 */
static SPIPlanPtr
column_plan(Relation rel, AttrNumber attnum)
{
	Oid			argtypes[] = {INT8OID, TIDOID};
	const char *column = quote_identifier(NameStr(TupleDescAttr(RelationGetDescr(rel),
																attnum - 1)->attname));
	ColumnPlan *entry = find_plan(RelationGetRelid(rel),
								  psprintf("UPDATE ONLY %s n SET %s = $1"
										   " WHERE n.ctid OPERATOR(pg_catalog.=) $2 AND n.%s IS NULL"
										   " RETURNING n.%s OPERATOR(pg_catalog.=) $1",
										   sk_qualified_name(RelationGetRelid(rel)),
										   column, column, column));

	running = entry;
	if (entry->plan == NULL)
	{
		SPIPlanPtr	plan = SPI_prepare_cursor(entry->command, 2, argtypes,
											  CURSOR_OPT_GENERIC_PLAN);

		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "could not prepare: %s", entry->command);
		entry->plan = plan;
	}
	return entry->plan;
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

/* A trigger that the updates fired has deleted or numbered the row. */
static void
put_back(const SkAllocatorRow *allocator, int64 number)
{
	SkAllocatorRow row = *allocator;
	SkMode		mode;

	if (sk_own_next(allocator, &mode) != number + 1)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("allocator \"%s\" was changed while it numbered rows",
						allocator->name),
				 errhint("Look for a trigger that draws from it or alters it.")));
	row.next_value = number;
	sk_own_note_update(&row, true);
}

/* Number rows of one table.  Sets *last to the last number, if there is one. */
static void
number_table(const SkAllocatorRow *allocator, DueRow *due, uint64 count,
			 int64 *last)
{
	Relation	rel = table_open(due->target->relid, RowExclusiveLock);
	Oid			userid;
	int			sec_context;
	SPIPlanPtr	plan;

	sk_check_usage(&sk_allocator_by_id(allocator->id)->row, rel->rd_rel->relowner);
	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	plan = column_plan(rel, due->target->attnum);
	for (uint64 i = 0; i < count; i++)
	{
		int64		number = sk_own_take(allocator, 1).first;

		CHECK_FOR_INTERRUPTS();
		if (write_number(plan, rel, &due[i], number))
			*last = number;
		else
			put_back(allocator, number);
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	SetUserIdAndSecContext(userid, sec_context);
	table_close(rel, NoLock);
}

/*
 * Number the rows of one allocator, which is locked first.  Returns false if
 * none of them was left.
 */
static bool
number_group(DueRow *due, uint64 count, SkAssignment *assignment)
{
	int64		id = assignment->allocator_id;
	SkAllocatorRow allocator;
	SkMode		mode;
	int64		first;
	uint64		end;

	PreventCommandIfReadOnly("spanner.assign_on_commit()");
	/* the cache may forget it while the triggers of users run */
	allocator = sk_allocator_by_id(id)->row;
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
			if (due[end].target->allocator_id != assignment->allocator_id)
				break;
		if (number_group(due + i, end - i, assignment))
			assignments = lappend(assignments, assignment);
	}
	pfree(due);
	return assignments;
}

/*
 * The update runs as the owner of the table.  Whoever owns its schema can
 * rename the schema at any time, so that the text means a table with triggers
 * of their own.  So whenever core parses the text, it must mean the table that
 * is locked.
 */
static void
check_update(ParseState *pstate, Query *query,
			 SK_JUMBLE_STATE * jstate)
{
	if (unlikely(running != NULL) && pstate->p_sourcetext != NULL &&
		strcmp(pstate->p_sourcetext, running->command) == 0 &&
		(query->resultRelation == 0 ||
		 rt_fetch(query->resultRelation, query->rtable)->relid != running->relid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" was renamed while its rows were numbered",
						get_rel_name(running->relid)),
				 errhint("Repeat the transaction.")));
	if (prev_post_parse_analyze_hook)
		prev_post_parse_analyze_hook(pstate, query, jstate);
}

/*
 * sk_number_rows_init
 *		Check the updates when core has parsed them.
 */
void
sk_number_rows_init(void)
{
	prev_post_parse_analyze_hook = post_parse_analyze_hook;
	post_parse_analyze_hook = check_update;
}
