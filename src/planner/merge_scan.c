/*-------------------------------------------------------------------------
 *
 * merge_scan.c
 *	  Executing the merge of the shards of an index, and EXPLAIN of it.
 *
 * Filter, projection and EvalPlanQual are those of every scan.  EvalPlanQual
 * checks a changed row against the index conditions, whatever shard it is in
 * now.
 *
 * The rows are copies, so that no page stays pinned between two of them.
 *
 * The server takes the rows that pass a filter to be spread evenly.  If they
 * all lie at the far end, a LIMIT reads everything, and a row of a merge costs
 * about ten times what a row of a scan of the table does.  So when a merge has
 * read as many rows as it may and more are wanted, it falls back: the table is
 * scanned and sorted, as without the merge.  The rows that the query has got
 * are left out: they come first in that order, too, for the snapshot is the
 * same.
 *
 * src/planner/merge_scan.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/tableam.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "executor/nodeIndexscan.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "compat.h"
#include "planner/merge.h"

/* How many TIDs of a shard may always be kept; work_mem allows for more. */
#define SK_MIN_AHEAD 16

/* So many fit into one piece of memory, whatever work_mem is. */
#define SK_MAX_AHEAD ((int) (MaxAllocSize / sizeof(ItemPointerData)))

/* When a merge falls back to a sort, and what the sort has. */
typedef struct SkFallback
{
	int64		budget;			/* rows that are read before, or 0 */
	int64		read;
	int64		limit;			/* rows that the query takes, or 0 */
	MemoryContext context;
	ItemPointerData *given;		/* rows that the query has got */
	int64		given_count;
	int64		given_size;
	int64		given_sorted;	/* how many of them the sort has left out */
	ExprState  *qual;			/* what a row of the table has to pass */
	ProjectionInfo *keys;		/* what it is sorted by, and its TID */
	Tuplesortstate *sort;		/* NULL while the merge goes on */
	TupleTableSlot *slot;
	int64		bound;			/* it has so many of the rows at most */
	int64		count;			/* and these are all */
	int64		sorted;			/* how many it has returned */
} SkFallback;

typedef struct SkMergeState
{
	CustomScanState css;
	IndexScan  *template;		/* the scan of one shard */
	SkMergePlan plan;
	List	   *order;			/* index columns that it consists of */
	List	   *filter;			/* conditions on the shard alone */
	SkMerge		merge;
	ScanKey		conditions;		/* on the other columns */
	IndexRuntimeKeyInfo *runtime_keys;
	int			runtime_key_count;
	ExprContext *runtime_context;
	ExprState  *recheck;		/* what the index conditions say */
	ExprState  *shard_filter;
	TupleTableSlot *shard_slot; /* a row of which only the shard is known */
	bool		primed;			/* have the streams been set up? */
	ExprState  *qual;			/* what the first row of a group has to pass */
	SkFallback	fallback;
} SkMergeState;

static Node *create_merge_state(CustomScan *scan);
static void begin_merge(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_merge(CustomScanState *node);
static void end_merge(CustomScanState *node);
static void rescan_merge(CustomScanState *node);
static void init_expressions(SkMergeState *state);
static void init_columns(SkMergeState *state);
static void init_order(SkMerge *merge, int column, SkMergeColumn *result);
static Oid	order_operator(Relation index, int column, bool backward,
						   bool *descending, bool *nulls_first);
static void init_keys(SkMergeState *state);
static void set_conditions(SkMergeState *state);
static TupleTableSlot *merge_next(ScanState *node);
static TupleTableSlot *skip_next(ScanState *node);
static bool merge_recheck(ScanState *node, TupleTableSlot *slot);
static void start_merge(SkMergeState *state);
static bool passes_filter(SkMergeState *state, int32 shard);
static void explain_merge(CustomScanState *node, List *ancestors,
						  ExplainState *es);
static List *describe_keys(SkMergeState *state, List *context, bool prefix);
static void describe_direction(StringInfo key, Node *expr, Relation index,
							   int column, bool backward);
static void explain_qual(const char *label, List *qual, List *context,
						 bool prefix, ExplainState *es);
static void remember_row(SkFallback *fallback, ItemPointer tid);
static HeapTuple next_of_sort(SkMergeState *state);
static void reset_fallback(SkFallback *fallback);
static void init_fallback(SkMergeState *state);
static void start_fallback(SkMergeState *state);
static void begin_sort(SkMergeState *state, int64 bound);
static int64 scan_table(SkMergeState *state);
static bool is_given(const SkFallback *fallback, ItemPointer tid);
static int	compare_tids(const void *left, const void *right);

const CustomScanMethods sk_merge_scan_methods = {
	.CustomName = SK_MERGE_NAME,
	.CreateCustomScanState = create_merge_state
};

const CustomScanMethods sk_skip_scan_methods = {
	.CustomName = SK_SKIP_NAME,
	.CreateCustomScanState = create_merge_state
};

static const CustomExecMethods merge_exec_methods = {
	.CustomName = SK_MERGE_NAME,
	.BeginCustomScan = begin_merge,
	.ExecCustomScan = exec_merge,
	.EndCustomScan = end_merge,
	.ReScanCustomScan = rescan_merge,
	.ExplainCustomScan = explain_merge
};

/* "custom_private" has the fields of SkMergePlan, "custom_exprs" two lists. */
static Node *
create_merge_state(CustomScan *scan)
{
	SkMergeState *state = palloc0(sizeof(SkMergeState));
	ListCell   *lc;

	Assert(list_length(scan->custom_private) * sizeof(int) == sizeof(SkMergePlan) &&
		   list_length(scan->custom_exprs) == 2);
	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &merge_exec_methods;
	state->template = linitial_node(IndexScan, scan->custom_plans);
	foreach(lc, scan->custom_private)
		((int *) &state->plan)[foreach_current_index(lc)] = lfirst_int(lc);
	state->order = linitial(scan->custom_exprs);
	state->filter = lsecond(scan->custom_exprs);
	sk_use_slots(&state->css, &TTSOpsHeapTuple);
	return (Node *) state;
}

static void
begin_merge(CustomScanState *node, EState *estate, int eflags)
{
	SkMergeState *state = (SkMergeState *) node;
	SkMerge    *merge = &state->merge;
	Index		relid = ((Scan *) node->ss.ps.plan)->scanrelid;

	sk_init_slots(node, estate, &TTSOpsHeapTuple);
	init_expressions(state);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	merge->node = &node->ss.ps;
	merge->table = node->ss.ss_currentRelation;
	merge->index = index_open(state->template->indexid,
							  exec_rt_fetch(relid, estate)->rellockmode);
	/* rows are found again by their TIDs, as long as nothing removes them */
	Assert(IsMVCCSnapshot(estate->es_snapshot));
	merge->snapshot = estate->es_snapshot;
	merge->direction = state->plan.backward ?
		BackwardScanDirection : ForwardScanDirection;
	merge->econtext = CreateExprContext(estate);
	merge->fetch_slot = table_slot_create(merge->table, NULL);
	merge->context = AllocSetContextCreate(CurrentMemoryContext,
										   "spanner_keys shard merge",
										   ALLOCSET_DEFAULT_SIZES);
	merge->bound_context = AllocSetContextCreate(CurrentMemoryContext,
												 "spanner_keys shard merge bound",
												 ALLOCSET_SMALL_SIZES);
	Assert(state->plan.shards >= 1);
	init_columns(state);
	init_keys(state);
	sk_merge_open(merge, state->plan.skips);
	if (state->plan.skips != SK_NO_SKIP)
	{
		/* whether a row passes decides where the scan goes on */
		state->qual = node->ss.ps.qual;
		node->ss.ps.qual = NULL;
	}
	state->fallback.budget = state->plan.budget;
	state->fallback.limit = state->plan.limit;
	if (state->fallback.budget > 0)
		state->fallback.context = AllocSetContextCreate(CurrentMemoryContext,
														"spanner_keys shard merge fallback",
														ALLOCSET_SMALL_SIZES);
}

static TupleTableSlot *
exec_merge(CustomScanState *node)
{
	SkMergeState *state = (SkMergeState *) node;
	TupleTableSlot *result = ExecScan(&node->ss,
									  state->plan.skips != SK_NO_SKIP ?
									  skip_next : merge_next,
									  merge_recheck);

	/* which row it is made of; EvalPlanQual checks one without reading it */
	if (state->fallback.budget > 0 && !TupIsNull(result) &&
		node->ss.ps.state->es_epq_active == NULL)
		remember_row(&state->fallback, &node->ss.ss_ScanTupleSlot->tts_tid);
	return result;
}

static void
end_merge(CustomScanState *node)
{
	SkMergeState *state = (SkMergeState *) node;
	SkMerge    *merge = &state->merge;

	if (merge->index == NULL)
		return;
	reset_fallback(&state->fallback);
	sk_merge_reset(merge);
	ExecDropSingleTupleTableSlot(merge->fetch_slot);
	index_close(merge->index, NoLock);
}

static void
rescan_merge(CustomScanState *node)
{
	SkMergeState *state = (SkMergeState *) node;

	if (state->primed)
	{
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
		reset_fallback(&state->fallback);
		sk_merge_reset(&state->merge);
	}
	state->primed = false;
	ExecScanReScan(&node->ss);
}

static void
init_expressions(SkMergeState *state)
{
	PlanState  *node = &state->css.ss.ps;
	const TupleTableSlotOps *ops = node->scanops;

	state->recheck = ExecInitQual(list_concat_copy(state->template->indexqualorig,
												   state->filter), node);
	if (state->filter == NIL)
		return;
	node->scanops = &TTSOpsVirtual;
	state->shard_filter = ExecInitQual(state->filter, node);
	node->scanops = ops;
	state->shard_slot =
		ExecInitExtraTupleSlot(node->state,
							   RelationGetDescr(state->css.ss.ss_currentRelation),
							   &TTSOpsVirtual);
}

/*
 * The columns of the order are those behind the shard.  More of the index
 * follow, as long as they are plain columns, for they make bounds narrow.
 */
static void
init_columns(SkMergeState *state)
{
	SkMerge    *merge = &state->merge;
	Relation	index = merge->index;
	int			first = state->plan.position + 1;
	int			count = IndexRelationGetNumberOfKeyAttributes(index) - first;

	merge->columns = palloc0(count * sizeof(SkMergeColumn));
	for (int i = 0; i < count; i++)
	{
		SkMergeColumn *column = &merge->columns[i];

		column->attnum = index->rd_index->indkey.values[first + i];
		if (i < list_length(state->order))
		{
			init_order(merge, first + i, column);
			if (column->attnum == 0)
				column->expr = ExecInitExpr(list_nth(state->order, i),
											&state->css.ss.ps);
			merge->order_count++;
		}
		else if (column->attnum == 0)
			break;
		get_typlenbyval(TupleDescAttr(RelationGetDescr(index), first + i)->atttypid,
						&column->length, &column->by_value);
		merge->column_count++;
	}
	Assert(merge->order_count == list_length(state->order));
	Assert(merge->order_count >= 1 && merge->order_count <= merge->column_count);
}

static void
init_order(SkMerge *merge, int column, SkMergeColumn *result)
{
	SortSupport order = &result->order;
	Relation	index = merge->index;
	bool		descending;

	order->ssup_cxt = CurrentMemoryContext;
	order->ssup_collation = index->rd_indcollation[column];
	result->ordering = order_operator(index, column,
									  ScanDirectionIsBackward(merge->direction),
									  &descending, &order->ssup_nulls_first);
	PrepareSortSupportFromOrderingOp(result->ordering, order);
}

/* By which operator a scan of an index orders a column, and where NULLs are. */
static Oid
order_operator(Relation index, int column, bool backward, bool *descending,
			   bool *nulls_first)
{
	int16		option = index->rd_indoption[column];
	Oid			type = index->rd_opcintype[column];

	*descending = ((option & INDOPTION_DESC) != 0) != backward;
	*nulls_first = ((option & INDOPTION_NULLS_FIRST) != 0) != backward;
	return get_opfamily_member(index->rd_opfamily[column], type, type,
							   *descending ? BTGreaterStrategyNumber :
							   BTLessStrategyNumber);
}

/*
 * The keys of a scan: conditions on the columns before the shard, the shard,
 * conditions on those behind it.  Their values are set when they are known.
 */
static void
init_keys(SkMergeState *state)
{
	SkMerge    *merge = &state->merge;
	PlanState  *node = &state->css.ss.ps;
	ExprContext *econtext = node->ps_ExprContext;
	int			position = state->plan.position;
	Oid			operator = get_opfamily_member(merge->index->rd_opfamily[position],
											   merge->index->rd_opcintype[position],
											   INT4OID, BTEqualStrategyNumber);
	int			count;

	ExecIndexBuildScanKeys(node, merge->index, state->template->indexqual,
						   false, &state->conditions, &count,
						   &state->runtime_keys, &state->runtime_key_count,
						   NULL, NULL);
	if (state->runtime_key_count > 0)
	{
		ExecAssignExprContext(node->state, node);
		state->runtime_context = node->ps_ExprContext;
		node->ps_ExprContext = econtext;
	}

	while (merge->shard_key < count &&
		   state->conditions[merge->shard_key].sk_attno <= position)
		merge->shard_key++;
	merge->key_count = count + 1;
	merge->keys = palloc(merge->key_count * sizeof(ScanKeyData));
	merge->scan_keys = palloc((merge->key_count + 1) * sizeof(ScanKeyData));
	ScanKeyEntryInitialize(&merge->keys[merge->shard_key], 0, position + 1,
						   BTEqualStrategyNumber, INT4OID, InvalidOid,
						   get_opcode(operator), Int32GetDatum(0));
	set_conditions(state);
}

/* Put the conditions around the shard. */
static void
set_conditions(SkMergeState *state)
{
	SkMerge    *merge = &state->merge;
	int			before = merge->shard_key;

	memcpy(merge->keys, state->conditions, before * sizeof(ScanKeyData));
	memcpy(&merge->keys[before + 1], &state->conditions[before],
		   (merge->key_count - before - 1) * sizeof(ScanKeyData));
	/* a B-tree wants them in the order of its columns */
	for (int i = 1; i < merge->key_count; i++)
		Assert(merge->keys[i - 1].sk_attno <= merge->keys[i].sk_attno);
}

static TupleTableSlot *
merge_next(ScanState *node)
{
	SkMergeState *state = (SkMergeState *) node;
	SkFallback *fallback = &state->fallback;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	HeapTuple	tuple;

	ExecClearTuple(slot);
	if (fallback->sort ||
		(fallback->budget > 0 && fallback->read++ >= fallback->budget))
	{
		tuple = next_of_sort(state);
		if (tuple)
			ExecStoreHeapTuple(tuple, slot, true);
		return slot;
	}
	if (!state->primed)
		start_merge(state);
	tuple = sk_merge_next(&state->merge);
	if (tuple)
		ExecStoreHeapTuple(tuple, slot, false);
	return slot;
}

/* The first row of a group that passes the filter. */
static TupleTableSlot *
skip_next(ScanState *node)
{
	SkMergeState *state = (SkMergeState *) node;
	ExprContext *econtext = node->ps.ps_ExprContext;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;

	if (!state->primed)
		start_merge(state);
	while (sk_merge_next_group(&state->merge))
	{
		ExecStoreHeapTuple(ExecCopySlotHeapTuple(state->merge.fetch_slot),
						   slot, true);
		ExecClearTuple(state->merge.fetch_slot);
		econtext->ecxt_scantuple = slot;
		if (state->qual == NULL || ExecQualAndReset(state->qual, econtext))
		{
			sk_merge_skip_group(&state->merge);
			return slot;
		}
		InstrCountFiltered1(node, 1);
	}
	return ExecClearTuple(slot);
}

static bool
merge_recheck(ScanState *node, TupleTableSlot *slot)
{
	ExprContext *econtext = node->ps.ps_ExprContext;

	econtext->ecxt_scantuple = slot;
	return ExecQualAndReset(((SkMergeState *) node)->recheck, econtext);
}

static void
start_merge(SkMergeState *state)
{
	SkMerge    *merge = &state->merge;
	SkMergePlan *plan = &state->plan;
	int32	   *shards = palloc(plan->shards * sizeof(int32));
	int			count = 0;
	int64		ahead;

	Assert(!state->primed);
	if (state->runtime_key_count > 0)
	{
		ResetExprContext(state->runtime_context);
		ExecIndexEvalRuntimeKeys(state->runtime_context, state->runtime_keys,
								 state->runtime_key_count);
	}
	set_conditions(state);

	for (int32 i = 0; i < plan->shards; i++)
	{
		int32		shard = plan->first_shard + i;

		if (state->shard_filter == NULL || passes_filter(state, shard))
			shards[count++] = shard;
	}
	ahead = work_mem * INT64CONST(1024) / (Max(count, 1) * (int64) sizeof(ItemPointerData));
	merge->max_ahead = (int) Min(Max(ahead, SK_MIN_AHEAD), SK_MAX_AHEAD);
	merge->depth = Min(plan->depth, merge->max_ahead);
	merge->wanted = plan->wanted;
	Assert(merge->depth >= 1);
	sk_merge_start(merge, shards, count);
	pfree(shards);
	state->primed = true;
}

/* Does a row of a shard pass the conditions on the shard? */
static bool
passes_filter(SkMergeState *state, int32 shard)
{
	TupleTableSlot *slot = state->shard_slot;
	ExprContext *econtext = state->merge.econtext;
	AttrNumber	attnum = state->plan.column;
	Datum	   *value = &slot->tts_values[attnum - 1];

	Assert(attnum >= 1 && attnum <= slot->tts_tupleDescriptor->natts);
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true,
		   slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_isnull[attnum - 1] = false;
	switch (TupleDescAttr(slot->tts_tupleDescriptor, attnum - 1)->atttypid)
	{
		case INT2OID:
			if (shard > PG_INT16_MAX || shard < PG_INT16_MIN)
				return false;
			*value = Int16GetDatum(shard);
			break;
		case INT8OID:
			*value = Int64GetDatum((int64) shard);
			break;
		default:
			Assert(TupleDescAttr(slot->tts_tupleDescriptor, attnum - 1)->atttypid == INT4OID);
			*value = Int32GetDatum(shard);
			break;
	}
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_scantuple = slot;
	return ExecQualAndReset(state->shard_filter, econtext);
}

/* Print the order, the index, the shards and the conditions. */
static void
explain_merge(CustomScanState *node, List *ancestors, ExplainState *es)
{
	SkMergeState *state = (SkMergeState *) node;
	bool		backward = state->plan.backward;
	bool		prefix = es->verbose || list_length(es->rtable) > 1;
	char	   *index = get_rel_name(state->template->indexid);
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   node->ss.ps.plan,
												   ancestors);

	ExplainPropertyList(state->plan.skips == SK_NO_SKIP ?
						"Merge Key" : "Skip Key",
						describe_keys(state, context, prefix), es);
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Index",
							psprintf("%s%s", quote_identifier(index),
									 backward ? " (backward)" : ""), es);
	else
	{
		ExplainPropertyText("Index Name", index, es);
		ExplainPropertyText("Scan Direction",
							backward ? "Backward" : "Forward", es);
	}
	ExplainPropertyInteger("Shards", NULL, state->plan.shards, es);
	explain_qual("Shard Filter", state->filter, context, prefix, es);
	explain_qual("Index Cond", state->template->indexqualorig,
				 context, prefix, es);
	if (es->analyze && node->ss.ps.instrument)
	{
		/* the counters that parallel workers send back */
		ExplainPropertyInteger("Index Searches", NULL,
							   (int64) node->ss.ps.instrument->ntuples2, es);
		ExplainPropertyInteger("Heap Tuples Fetched", NULL,
							   (int64) node->ss.ps.instrument->nfiltered2, es);
		if (state->fallback.sort)
			ExplainPropertyInteger("Rows Sorted", NULL, state->fallback.count, es);
	}
}

/* The columns of the order, as in ORDER BY. */
static List *
describe_keys(SkMergeState *state, List *context, bool prefix)
{
	bool		backward = state->plan.backward;
	Relation	index = index_open(state->template->indexid, AccessShareLock);
	List	   *result = NIL;
	int			column = state->plan.position + 1;
	ListCell   *lc;

	foreach(lc, state->order)
	{
		Node	   *expr = lfirst(lc);
		Oid			collation = index->rd_indcollation[column];
		StringInfoData key;

		initStringInfo(&key);
		appendStringInfoString(&key,
							   deparse_expression(expr, context, prefix, false));
		if (OidIsValid(collation) && collation != exprCollation(expr))
			appendStringInfo(&key, " COLLATE %s",
							 quote_identifier(get_collation_name(collation)));
		describe_direction(&key, expr, index, column, backward);
		result = lappend(result, key.data);
		column++;
	}
	index_close(index, AccessShareLock);
	return result;
}

/* An order that is not the default of the type is named by its operator. */
static void
describe_direction(StringInfo key, Node *expr, Relation index, int column,
				   bool backward)
{
	bool		descending;
	bool		nulls_first;
	Oid			operator = order_operator(index, column, backward, &descending,
										  &nulls_first);
	TypeCacheEntry *usual = lookup_type_cache(exprType(expr),
											  TYPECACHE_LT_OPR |
											  TYPECACHE_GT_OPR);

	if (operator == usual->gt_opr)
		appendStringInfoString(key, " DESC");
	else if (operator != usual->lt_opr && get_opname(operator))
		appendStringInfo(key, " USING %s", get_opname(operator));
	if (nulls_first != descending)
		appendStringInfoString(key,
							   nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

static void
explain_qual(const char *label, List *qual, List *context, bool prefix,
			 ExplainState *es)
{
	if (qual == NIL)
		return;
	ExplainPropertyText(label,
						deparse_expression((Node *) make_ands_explicit(qual),
										   context, prefix, false), es);
}

/* The query has got a row, and must not get it again. */
static void
remember_row(SkFallback *fallback, ItemPointer tid)
{
	if (fallback->given == NULL)
	{
		fallback->given_size = 16;
		fallback->given = MemoryContextAlloc(fallback->context,
											 fallback->given_size * sizeof(ItemPointerData));
	}
	if (fallback->given_count == fallback->given_size)
	{
		fallback->given_size *= 2;
		fallback->given = repalloc_huge(fallback->given,
										fallback->given_size * sizeof(ItemPointerData));
	}
	fallback->given[fallback->given_count++] = *tid;
}

/* The next of the rows that the merge has not given; NULL if none is left. */
static HeapTuple
next_of_sort(SkMergeState *state)
{
	SkFallback *fallback = &state->fallback;
	SkMerge    *merge = &state->merge;
	TupleTableSlot *slot = merge->fetch_slot;
	HeapTuple	result;
	ItemPointer tid;
	bool		isnull;

	/*
	 * more may be wanted than the LIMIT says: a row can change until it is
	 * locked
	 */
	if (fallback->sort == NULL ||
		(fallback->sorted == fallback->bound && fallback->bound < fallback->count))
		start_fallback(state);
	/* a sort with a bound fails if it is asked once more */
	if (fallback->sorted == fallback->count ||
		!tuplesort_gettupleslot(fallback->sort, true, false, fallback->slot, NULL))
		return NULL;
	fallback->sorted++;
	tid = (ItemPointer)
		DatumGetPointer(slot_getattr(fallback->slot, merge->order_count + 1, &isnull));
	Assert(!isnull);
	if (!table_tuple_fetch_row_version(merge->table, tid, merge->snapshot, slot))
		elog(ERROR, "could not find row (%u,%u) again",
			 ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid));
	result = ExecCopySlotHeapTuple(slot);
	ExecClearTuple(slot);
	return result;
}

/* Forget the rows, those that have been given included. */
static void
reset_fallback(SkFallback *fallback)
{
	if (fallback->sort)
		tuplesort_end(fallback->sort);
	if (fallback->slot)
		ExecClearTuple(fallback->slot);
	fallback->sort = NULL;
	fallback->read = 0;
	fallback->given = NULL;
	fallback->given_count = 0;
	if (fallback->context)
		MemoryContextReset(fallback->context);
}

/* Prepare the conditions of the scan, and what it is sorted by. */
static void
init_fallback(SkMergeState *state)
{
	SkFallback *fallback = &state->fallback;
	PlanState  *node = &state->css.ss.ps;
	Index		relid = ((Scan *) node->plan)->scanrelid;
	const TupleTableSlotOps *ops = node->scanops;
	List	   *conditions = list_concat_copy(state->template->indexqualorig,
											  state->filter);
	List	   *targets = NIL;
	TupleDesc	desc;
	ListCell   *lc;

	foreach(lc, state->order)
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
	fallback->qual = ExecInitQual(list_concat(conditions, node->plan->qual), node);
	fallback->keys = ExecBuildProjectionInfo(targets, state->merge.econtext,
											 MakeSingleTupleTableSlot(desc, &TTSOpsVirtual),
											 node, NULL);
	node->scanops = ops;
	fallback->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

/* Sort what is left; once more without a bound if there was one. */
static void
start_fallback(SkMergeState *state)
{
	SkFallback *fallback = &state->fallback;
	bool		again = fallback->sort != NULL;
	MemoryContext old =
		MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);

	if (fallback->qual == NULL && fallback->keys == NULL)
		init_fallback(state);
	if (again)
	{
		ExecClearTuple(fallback->slot);
		tuplesort_end(fallback->sort);
	}
	else
		sk_merge_reset(&state->merge);
	if (fallback->given_count > 1)
		qsort(fallback->given, fallback->given_count, sizeof(ItemPointerData), compare_tids);
	fallback->given_sorted = fallback->given_count;
	begin_sort(state, again ? 0 : Max(fallback->limit - fallback->given_count, 0));
	fallback->count = scan_table(state);
	fallback->sorted = 0;
	tuplesort_performsort(fallback->sort);
	MemoryContextSwitchTo(old);
}

/* A sort like the order of the merge; of that many rows, if it is not 0. */
static void
begin_sort(SkMergeState *state, int64 bound)
{
	SkFallback *fallback = &state->fallback;
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
	fallback->sort = tuplesort_begin_heap(fallback->slot->tts_tupleDescriptor, count,
										  attnums, operators, collations,
										  nulls_first, work_mem, NULL,
										  bound > 0 ? TUPLESORT_ALLOWBOUNDED : TUPLESORT_NONE);
	fallback->bound = bound > 0 ? bound : PG_INT64_MAX;
	if (bound > 0)
		tuplesort_set_bound(fallback->sort, bound);
}

/* Give the rows that are left to the sort; how many are they? */
static int64
scan_table(SkMergeState *state)
{
	SkFallback *fallback = &state->fallback;
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
		if (!ExecQual(fallback->qual, econtext))
		{
			InstrCountFiltered1(merge->node, 1);
			continue;
		}
		if (is_given(fallback, &slot->tts_tid))
			continue;
		tuplesort_puttupleslot(fallback->sort, ExecProject(fallback->keys));
		result++;
	}
	table_endscan(scan);
	ResetExprContext(econtext);
	ExecClearTuple(slot);
	return result;
}

static bool
is_given(const SkFallback *fallback, ItemPointer tid)
{
	return fallback->given_sorted > 0 &&
		bsearch(tid, fallback->given, fallback->given_sorted, sizeof(ItemPointerData),
				compare_tids) != NULL;
}

static int
compare_tids(const void *left, const void *right)
{
	return ItemPointerCompare((ItemPointer) unconstify(void *, left),
							  (ItemPointer) unconstify(void *, right));
}
