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
 * src/planner/merge_scan.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

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
#include "planner/merge_bound.h"
#include "planner/merge_scan.h"

/* How many TIDs of a shard may always be kept; work_mem allows for more. */
#define SK_MIN_AHEAD 16

/* So many fit into one piece of memory, whatever work_mem is. */
#define SK_MAX_AHEAD ((int) (MaxAllocSize / sizeof(ItemPointerData)))

static Node *create_merge_state(CustomScan *scan);
static void begin_merge(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_merge(CustomScanState *node);
static void end_merge(CustomScanState *node);
static void rescan_merge(CustomScanState *node);
static void init_expressions(SkMergeState *state);
static void init_columns(SkMergeState *state);
static void init_order(SkMerge *merge, int column, SkMergeColumn *result);
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
static int	merge_private(const SkMergeState *state, SkMergePrivate part);
static List *merge_exprs(const SkMergeState *state, SkMergeExprs part);

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

static Node *
create_merge_state(CustomScan *scan)
{
	SkMergeState *state = palloc0(sizeof(SkMergeState));

	Assert(list_length(scan->custom_private) == SK_MERGE_PRIVATE_COUNT &&
		   list_length(scan->custom_exprs) == SK_MERGE_EXPRS_COUNT);
	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &merge_exec_methods;
	state->template = linitial_node(IndexScan, scan->custom_plans);
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
	merge->direction = merge_private(state, SK_MERGE_BACKWARD) ?
		BackwardScanDirection : ForwardScanDirection;
	merge->econtext = CreateExprContext(estate);
	merge->fetch_slot = table_slot_create(merge->table, NULL);
	merge->context = AllocSetContextCreate(CurrentMemoryContext,
										   "spanner_keys shard merge",
										   ALLOCSET_DEFAULT_SIZES);
	merge->bound_context = AllocSetContextCreate(CurrentMemoryContext,
												 "spanner_keys shard merge bound",
												 ALLOCSET_SMALL_SIZES);
	merge->shards = merge_private(state, SK_MERGE_SHARDS);
	Assert(merge->shards >= 1);
	init_columns(state);
	init_keys(state);
	sk_init_merge_bounds(merge);
	state->skips = merge_private(state, SK_MERGE_SKIPS) != SK_NO_SKIP;
	if (state->skips)
	{
		sk_init_skip_bound(merge, merge_private(state, SK_MERGE_SKIPS));
		/* whether a row passes decides where the scan goes on */
		state->qual = node->ss.ps.qual;
		node->ss.ps.qual = NULL;
	}
	state->rest.budget = merge_private(state, SK_MERGE_BUDGET);
	state->rest.limit = merge_private(state, SK_MERGE_LIMIT);
	if (state->rest.budget > 0)
		state->rest.context = AllocSetContextCreate(CurrentMemoryContext,
													"spanner_keys shard merge rest",
													ALLOCSET_SMALL_SIZES);
}

static TupleTableSlot *
exec_merge(CustomScanState *node)
{
	SkMergeState *state = (SkMergeState *) node;
	TupleTableSlot *result = ExecScan(&node->ss,
									  state->skips ? skip_next : merge_next,
									  merge_recheck);

	/* which row it is made of; EvalPlanQual checks one without reading it */
	if (state->rest.budget > 0 && !TupIsNull(result) &&
		node->ss.ps.state->es_epq_active == NULL)
		sk_rest_remember(&state->rest, &node->ss.ss_ScanTupleSlot->tts_tid);
	return result;
}

static void
end_merge(CustomScanState *node)
{
	SkMergeState *state = (SkMergeState *) node;
	SkMerge    *merge = &state->merge;

	if (merge->index == NULL)
		return;
	sk_rest_reset(&state->rest);
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
		sk_rest_reset(&state->rest);
		sk_merge_reset(&state->merge);
	}
	state->primed = false;
	ExecScanReScan(&node->ss);
}

static void
init_expressions(SkMergeState *state)
{
	PlanState  *node = &state->css.ss.ps;
	List	   *filter = merge_exprs(state, SK_MERGE_SHARD_FILTER);
	const TupleTableSlotOps *ops = node->scanops;

	state->recheck = ExecInitQual(list_concat_copy(state->template->indexqualorig,
												   filter), node);
	if (filter == NIL)
		return;
	node->scanops = &TTSOpsVirtual;
	state->shard_filter = ExecInitQual(filter, node);
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
	List	   *exprs = merge_exprs(state, SK_MERGE_KEYS);
	int			first = merge_private(state, SK_MERGE_SHARD_POSITION) + 1;
	int			count = IndexRelationGetNumberOfKeyAttributes(index) - first;

	merge->columns = palloc0(count * sizeof(SkMergeColumn));
	for (int i = 0; i < count; i++)
	{
		SkMergeColumn *column = &merge->columns[i];

		column->attnum = index->rd_index->indkey.values[first + i];
		if (i < list_length(exprs))
		{
			init_order(merge, first + i, column);
			if (column->attnum == 0)
				column->expr = ExecInitExpr(list_nth(exprs, i),
											&state->css.ss.ps);
			merge->order_count++;
		}
		else if (column->attnum == 0)
			break;
		get_typlenbyval(TupleDescAttr(RelationGetDescr(index), first + i)->atttypid,
						&column->length, &column->by_value);
		merge->column_count++;
	}
	Assert(merge->order_count == list_length(exprs));
	Assert(merge->order_count >= 1 && merge->order_count <= merge->column_count);
}

static void
init_order(SkMerge *merge, int column, SkMergeColumn *result)
{
	SortSupport order = &result->order;
	Relation	index = merge->index;
	int16		option = index->rd_indoption[column];
	bool		backward = ScanDirectionIsBackward(merge->direction);
	bool		descending = (option & INDOPTION_DESC) != 0;
	Oid			type = index->rd_opcintype[column];

	order->ssup_cxt = CurrentMemoryContext;
	order->ssup_collation = index->rd_indcollation[column];
	order->ssup_nulls_first =
		((option & INDOPTION_NULLS_FIRST) != 0) != backward;
	result->ordering = get_opfamily_member(index->rd_opfamily[column], type, type,
										   descending != backward ?
										   BTGreaterStrategyNumber :
										   BTLessStrategyNumber);
	PrepareSortSupportFromOrderingOp(result->ordering, order);
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
	int			position = merge_private(state, SK_MERGE_SHARD_POSITION);
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
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	HeapTuple	tuple;

	ExecClearTuple(slot);
	if (state->rest.sort || sk_rest_is_due(&state->rest))
	{
		tuple = sk_rest_next(state);
		if (tuple)
			ExecStoreHeapTuple(tuple, slot, true);
		return slot;
	}
	if (!state->primed)
		start_merge(state);
	else if (sk_merge_current(&state->merge) != NULL)
		sk_merge_advance(&state->merge);

	tuple = sk_merge_current(&state->merge);
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
	while (sk_skip_next(&state->merge))
	{
		ExecStoreHeapTuple(ExecCopySlotHeapTuple(state->merge.fetch_slot),
						   slot, true);
		ExecClearTuple(state->merge.fetch_slot);
		econtext->ecxt_scantuple = slot;
		if (state->qual == NULL || ExecQualAndReset(state->qual, econtext))
		{
			sk_skip_group(&state->merge);
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
	int32	   *shards = palloc(merge->shards * sizeof(int32));
	int32		first = merge_private(state, SK_MERGE_FIRST_SHARD);
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

	for (int32 i = 0; i < merge->shards; i++)
	{
		int32		shard = first + i;

		if (state->shard_filter == NULL || passes_filter(state, shard))
			shards[count++] = shard;
	}
	ahead = work_mem * INT64CONST(1024) / (Max(count, 1) * (int64) sizeof(ItemPointerData));
	merge->max_ahead = (int) Min(Max(ahead, SK_MIN_AHEAD), SK_MAX_AHEAD);
	merge->depth = Min(merge_private(state, SK_MERGE_DEPTH), merge->max_ahead);
	merge->wanted = merge_private(state, SK_MERGE_WANTED);
	Assert(merge->depth >= 1);
	if (state->skips)
		sk_skip_start(merge, shards, count);
	else
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
	AttrNumber	attnum = merge_private(state, SK_MERGE_SHARD_COLUMN);
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
	bool		backward = merge_private(state, SK_MERGE_BACKWARD);
	bool		prefix = es->verbose || list_length(es->rtable) > 1;
	char	   *index = get_rel_name(state->template->indexid);
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   node->ss.ps.plan,
												   ancestors);

	ExplainPropertyList(merge_private(state, SK_MERGE_SKIPS) == SK_NO_SKIP ?
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
	ExplainPropertyInteger("Shards", NULL,
						   merge_private(state, SK_MERGE_SHARDS), es);
	explain_qual("Shard Filter", merge_exprs(state, SK_MERGE_SHARD_FILTER),
				 context, prefix, es);
	explain_qual("Index Cond", state->template->indexqualorig,
				 context, prefix, es);
	if (es->analyze && node->ss.ps.instrument)
	{
		/* the counters that parallel workers send back */
		ExplainPropertyInteger("Index Searches", NULL,
							   (int64) node->ss.ps.instrument->ntuples2, es);
		ExplainPropertyInteger("Heap Tuples Fetched", NULL,
							   (int64) node->ss.ps.instrument->nfiltered2, es);
		if (state->rest.sort)
			ExplainPropertyInteger("Rows Sorted", NULL, state->rest.count, es);
	}
}

/* The columns of the order, as in ORDER BY. */
static List *
describe_keys(SkMergeState *state, List *context, bool prefix)
{
	bool		backward = merge_private(state, SK_MERGE_BACKWARD);
	Relation	index = index_open(state->template->indexid, AccessShareLock);
	List	   *result = NIL;
	int			column = merge_private(state, SK_MERGE_SHARD_POSITION) + 1;
	ListCell   *lc;

	foreach(lc, merge_exprs(state, SK_MERGE_KEYS))
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
	int16		option = index->rd_indoption[column];
	bool		descending = ((option & INDOPTION_DESC) != 0) != backward;
	bool		nulls_first =
		((option & INDOPTION_NULLS_FIRST) != 0) != backward;
	Oid			type = index->rd_opcintype[column];
	Oid			operator = get_opfamily_member(index->rd_opfamily[column],
											   type, type,
											   descending ?
											   BTGreaterStrategyNumber :
											   BTLessStrategyNumber);
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

static int
merge_private(const SkMergeState *state, SkMergePrivate part)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;

	return intVal(list_nth(scan->custom_private, part));
}

static List *
merge_exprs(const SkMergeState *state, SkMergeExprs part)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;

	return list_nth(scan->custom_exprs, part);
}
