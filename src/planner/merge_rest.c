/*-------------------------------------------------------------------------
 *
 * merge_rest.c
 *	  Giving up a merge: the rows that it has not given are sorted.
 *
 * The server takes the rows that pass a filter to be spread evenly.  If they
 * all lie at the far end, a LIMIT reads everything, and a row of a merge costs
 * about ten times what a row of a scan of the table does.  So when a merge has
 * read as many rows as it may and more are wanted, the table is scanned and
 * sorted, as without the merge.  The rows that the query has got are left out:
 * they come first in that order, too, for the snapshot is the same.
 *
 * src/planner/merge_rest.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "planner/merge_scan.h"

static void init_rest(SkMergeState *state);
static void sort_rest(SkMergeState *state);
static void begin_sort(SkMergeState *state, int64 bound);
static int64 scan_rest(SkMergeState *state);
static bool is_given(const SkRest *rest, ItemPointer tid);
static int	compare_tids(const void *left, const void *right);

/*
 * sk_rest_is_due
 *		Has the merge read as many rows as it may?
 *
 * To be asked before each row that is read.
 */
bool
sk_rest_is_due(SkRest *rest)
{
	return rest->budget > 0 && rest->read++ >= rest->budget;
}

/*
 * sk_rest_remember
 *		The query has got a row, and must not get it again.
 */
void
sk_rest_remember(SkRest *rest, ItemPointer tid)
{
	if (rest->given == NULL)
	{
		rest->given_size = 16;
		rest->given = MemoryContextAlloc(rest->context,
										 rest->given_size * sizeof(ItemPointerData));
	}
	if (rest->given_count == rest->given_size)
	{
		rest->given_size *= 2;
		rest->given = repalloc_huge(rest->given,
									rest->given_size * sizeof(ItemPointerData));
	}
	rest->given[rest->given_count++] = *tid;
}

/*
 * sk_rest_next
 *		The next of the rows that the merge has not given; NULL if none is left.
 */
HeapTuple
sk_rest_next(SkMergeState *state)
{
	SkRest	   *rest = &state->rest;
	SkMerge    *merge = &state->merge;
	TupleTableSlot *slot = merge->fetch_slot;
	HeapTuple	result;
	ItemPointer tid;
	bool		isnull;

	/*
	 * more may be wanted than the LIMIT says: a row can change until it is
	 * locked
	 */
	if (rest->sort == NULL ||
		(rest->sorted == rest->bound && rest->bound < rest->count))
		sort_rest(state);
	/* a sort with a bound fails if it is asked once more */
	if (rest->sorted == rest->count ||
		!tuplesort_gettupleslot(rest->sort, true, false, rest->slot, NULL))
		return NULL;
	rest->sorted++;
	tid = (ItemPointer)
		DatumGetPointer(slot_getattr(rest->slot, merge->order_count + 1, &isnull));
	Assert(!isnull);
	if (!table_tuple_fetch_row_version(merge->table, tid, merge->snapshot, slot))
		elog(ERROR, "could not find row (%u,%u) again",
			 ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid));
	result = ExecCopySlotHeapTuple(slot);
	ExecClearTuple(slot);
	return result;
}

/*
 * sk_rest_reset
 *		Forget the rows, those that have been given included.
 */
void
sk_rest_reset(SkRest *rest)
{
	if (rest->sort)
		tuplesort_end(rest->sort);
	if (rest->slot)
		ExecClearTuple(rest->slot);
	rest->sort = NULL;
	rest->read = 0;
	rest->given = NULL;
	rest->given_count = 0;
	if (rest->context)
		MemoryContextReset(rest->context);
}

/* Prepare the conditions of the scan, and what it is sorted by. */
static void
init_rest(SkMergeState *state)
{
	SkRest	   *rest = &state->rest;
	PlanState  *node = &state->css.ss.ps;
	Index		relid = ((Scan *) node->plan)->scanrelid;
	const TupleTableSlotOps *ops = node->scanops;
	List	   *exprs = ((CustomScan *) node->plan)->custom_exprs;
	List	   *conditions = list_concat_copy(state->template->indexqualorig,
											  list_nth(exprs, SK_MERGE_SHARD_FILTER));
	List	   *targets = NIL;
	TupleDesc	desc;
	ListCell   *lc;

	foreach(lc, (List *) list_nth(exprs, SK_MERGE_KEYS))
		targets = lappend(targets, makeTargetEntry(lfirst(lc),
												   list_length(targets) + 1,
												   NULL, false));
	targets = lappend(targets,
					  makeTargetEntry((Expr *) makeVar(relid,
													   SelfItemPointerAttributeNumber,
													   TIDOID, -1, InvalidOid, 0),
									  list_length(targets) + 1, NULL, false));
	desc = ExecTypeFromTL(targets);
	node->scanops = state->merge.fetch_slot->tts_ops;
	rest->qual = ExecInitQual(list_concat(conditions, node->plan->qual), node);
	rest->keys = ExecBuildProjectionInfo(targets, state->merge.econtext,
										 MakeSingleTupleTableSlot(desc, &TTSOpsVirtual),
										 node, NULL);
	node->scanops = ops;
	rest->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

/* Sort what is left; once more without a bound if there was one. */
static void
sort_rest(SkMergeState *state)
{
	SkRest	   *rest = &state->rest;
	bool		again = rest->sort != NULL;
	MemoryContext old =
		MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);

	if (rest->qual == NULL && rest->keys == NULL)
		init_rest(state);
	if (again)
	{
		ExecClearTuple(rest->slot);
		tuplesort_end(rest->sort);
	}
	else
		sk_merge_reset(&state->merge);
	if (rest->given_count > 1)
		qsort(rest->given, rest->given_count, sizeof(ItemPointerData), compare_tids);
	rest->given_sorted = rest->given_count;
	begin_sort(state, again ? 0 : Max(rest->limit - rest->given_count, 0));
	rest->count = scan_rest(state);
	rest->sorted = 0;
	tuplesort_performsort(rest->sort);
	MemoryContextSwitchTo(old);
}

/* A sort like the order of the merge; of that many rows, if it is not 0. */
static void
begin_sort(SkMergeState *state, int64 bound)
{
	SkRest	   *rest = &state->rest;
	SkMerge    *merge = &state->merge;
	int			count = merge->order_count;
	AttrNumber *attnums = palloc(count * sizeof(AttrNumber));
	Oid		   *operators = palloc(count * sizeof(Oid));
	Oid		   *collations = palloc(count * sizeof(Oid));
	bool	   *nulls_first = palloc(count * sizeof(bool));

	for (int i = 0; i < count; i++)
	{
		attnums[i] = i + 1;
		operators[i] = merge->columns[i].ordering;
		collations[i] = merge->columns[i].order.ssup_collation;
		nulls_first[i] = merge->columns[i].order.ssup_nulls_first;
	}
	rest->sort = tuplesort_begin_heap(rest->slot->tts_tupleDescriptor, count,
									  attnums, operators, collations,
									  nulls_first, work_mem, NULL,
									  bound > 0 ? TUPLESORT_ALLOWBOUNDED : TUPLESORT_NONE);
	rest->bound = bound > 0 ? bound : PG_INT64_MAX;
	if (bound > 0)
		tuplesort_set_bound(rest->sort, bound);
}

/* Give the rows that are left to the sort; how many are they? */
static int64
scan_rest(SkMergeState *state)
{
	SkRest	   *rest = &state->rest;
	SkMerge    *merge = &state->merge;
	ExprContext *econtext = merge->econtext;
	TupleTableSlot *slot = merge->fetch_slot;
	TableScanDesc scan = sk_table_beginscan(merge->table, merge->snapshot, 0, NULL);
	int64		result = 0;

	econtext->ecxt_scantuple = slot;
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		InstrCountFiltered2(merge->node, 1);
		if (!ExecQual(rest->qual, econtext))
		{
			InstrCountFiltered1(merge->node, 1);
			continue;
		}
		if (is_given(rest, &slot->tts_tid))
			continue;
		tuplesort_puttupleslot(rest->sort, ExecProject(rest->keys));
		result++;
	}
	table_endscan(scan);
	ResetExprContext(econtext);
	ExecClearTuple(slot);
	return result;
}

static bool
is_given(const SkRest *rest, ItemPointer tid)
{
	return rest->given_sorted > 0 &&
		bsearch(tid, rest->given, rest->given_sorted, sizeof(ItemPointerData),
				compare_tids) != NULL;
}

static int
compare_tids(const void *left, const void *right)
{
	return ItemPointerCompare((ItemPointer) unconstify(void *, left),
							  (ItemPointer) unconstify(void *, right));
}
