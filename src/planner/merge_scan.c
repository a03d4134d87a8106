/*-------------------------------------------------------------------------
 *
 * merge_scan.c
 *	  Executing the merge of the shards of an index.
 *
 * Filter, projection and EvalPlanQual are those of every scan: a row that is
 * looked at again is checked against the index conditions, whatever shard it
 * is in now.
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
#include "executor/nodeIndexscan.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "planner/merge_scan.h"

/* What an open scan is counted with, in kB, and how many may always be open. */
#define SK_SCAN_KB 32
#define SK_MIN_OPEN_SCANS 16

static Node *create_merge_state(CustomScan *scan);
static void begin_merge(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_merge(CustomScanState *node);
static void end_merge(CustomScanState *node);
static void rescan_merge(CustomScanState *node);
static void init_expressions(SkMergeState *state);
static void init_columns(SkMergeState *state);
static void init_keys(SkMergeState *state);
static void init_bound(SkMerge *merge);
static TupleTableSlot *merge_next(ScanState *node);
static bool merge_recheck(ScanState *node, TupleTableSlot *slot);
static void start_merge(SkMergeState *state);
static bool passes_filter(SkMergeState *state, int32 shard);
static int	merge_private(const SkMergeState *state, SkMergePrivate part);
static List *merge_exprs(const SkMergeState *state, SkMergeExprs part);

const CustomScanMethods sk_merge_scan_methods = {
	.CustomName = SK_MERGE_NAME,
	.CreateCustomScanState = create_merge_state
};

static const CustomExecMethods merge_exec_methods = {
	.CustomName = SK_MERGE_NAME,
	.BeginCustomScan = begin_merge,
	.ExecCustomScan = exec_merge,
	.EndCustomScan = end_merge,
	.ReScanCustomScan = rescan_merge,
	.ExplainCustomScan = sk_explain_merge
};

static Node *
create_merge_state(CustomScan *scan)
{
	SkMergeState *state = palloc0(sizeof(SkMergeState));

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

	merge->table = node->ss.ss_currentRelation;
	merge->index = index_open(state->template->indexid,
							  exec_rt_fetch(relid, estate)->rellockmode);
	merge->snapshot = estate->es_snapshot;
	merge->direction = merge_private(state, SK_MERGE_BACKWARD) ?
		BackwardScanDirection : ForwardScanDirection;
	merge->econtext = CreateExprContext(estate);
	merge->fetch_slot = table_slot_create(merge->table, NULL);
	merge->context = AllocSetContextCreate(CurrentMemoryContext,
										   "spanner_keys shard merge",
										   ALLOCSET_DEFAULT_SIZES);
	merge->shards = merge_private(state, SK_MERGE_SHARDS);
	merge->max_open = Max(SK_MIN_OPEN_SCANS, work_mem / SK_SCAN_KB);
	init_columns(state);
	init_keys(state);
	init_bound(merge);
}

static TupleTableSlot *
exec_merge(CustomScanState *node)
{
	return ExecScan(&node->ss, merge_next, merge_recheck);
}

static void
end_merge(CustomScanState *node)
{
	SkMergeState *state = (SkMergeState *) node;
	SkMerge    *merge = &state->merge;

	if (merge->index == NULL)
		return;
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

/* The columns of the order are those behind the first one of the index. */
static void
init_columns(SkMergeState *state)
{
	SkMerge    *merge = &state->merge;
	Relation	index = merge->index;
	List	   *exprs = merge_exprs(state, SK_MERGE_KEYS);

	merge->column_count = list_length(exprs);
	merge->columns = palloc0(merge->column_count * sizeof(SkMergeColumn));
	for (int i = 0; i < merge->column_count; i++)
	{
		SkMergeColumn *column = &merge->columns[i];
		SortSupport order = &column->order;
		Expr	   *expr = list_nth(exprs, i);
		int16		option = index->rd_indoption[i + 1];
		bool		descending = (option & INDOPTION_DESC) != 0;
		bool		nulls_first = (option & INDOPTION_NULLS_FIRST) != 0;
		bool		backward = ScanDirectionIsBackward(merge->direction);

		if (IsA(expr, Var))
			column->attnum = ((Var *) expr)->varattno;
		else
			column->expr = ExecInitExpr(expr, &state->css.ss.ps);
		get_typlenbyval(TupleDescAttr(RelationGetDescr(index), i + 1)->atttypid,
						&column->length, &column->by_value);

		order->ssup_cxt = CurrentMemoryContext;
		order->ssup_collation = index->rd_indcollation[i + 1];
		order->ssup_nulls_first = nulls_first != backward;
		PrepareSortSupportFromOrderingOp(get_opfamily_member(index->rd_opfamily[i + 1],
															 index->rd_opcintype[i + 1],
															 index->rd_opcintype[i + 1],
															 descending != backward ?
															 BTGreaterStrategyNumber :
															 BTLessStrategyNumber),
										 order);
	}
}

/* The shard comes first; conditions follow when their values are known. */
static void
init_keys(SkMergeState *state)
{
	SkMerge    *merge = &state->merge;
	PlanState  *node = &state->css.ss.ps;
	ExprContext *econtext = node->ps_ExprContext;
	Oid			operator = get_opfamily_member(merge->index->rd_opfamily[0],
											   merge->index->rd_opcintype[0],
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

	merge->key_count = count + 1;
	merge->keys = palloc(merge->key_count * sizeof(ScanKeyData));
	ScanKeyEntryInitialize(&merge->keys[0], 0, 1, BTEqualStrategyNumber,
						   INT4OID, InvalidOid, get_opcode(operator),
						   Int32GetDatum(0));
}

/* A scan can start at a row if the column after the shard is never NULL. */
static void
init_bound(SkMerge *merge)
{
	Relation	index = merge->index;
	AttrNumber	attnum = merge->columns[0].attnum;
	bool		descending = (index->rd_indoption[1] & INDOPTION_DESC) != 0;
	StrategyNumber strategy;
	Oid			type = index->rd_opcintype[1];
	Oid			operator;

	if (attnum <= 0 || !sk_never_null(RelationGetDescr(merge->table), attnum))
		return;
	strategy = descending != ScanDirectionIsBackward(merge->direction) ?
		BTLessEqualStrategyNumber : BTGreaterEqualStrategyNumber;
	operator = get_opfamily_member(index->rd_opfamily[1], type, type, strategy);
	ScanKeyEntryInitialize(&merge->bound_key, 0, 2, strategy, InvalidOid,
						   index->rd_indcollation[1], get_opcode(operator),
						   (Datum) 0);
	merge->can_bound = true;
}

static TupleTableSlot *
merge_next(ScanState *node)
{
	SkMergeState *state = (SkMergeState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	HeapTuple	tuple;

	ExecClearTuple(slot);
	if (!state->primed)
		start_merge(state);
	else if (sk_merge_current(&state->merge) != NULL)
		sk_merge_advance(&state->merge);

	tuple = sk_merge_current(&state->merge);
	if (tuple)
		ExecStoreHeapTuple(tuple, slot, false);
	return slot;
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
	int			count = 0;

	if (state->runtime_key_count > 0)
	{
		ResetExprContext(state->runtime_context);
		ExecIndexEvalRuntimeKeys(state->runtime_context, state->runtime_keys,
								 state->runtime_key_count);
	}
	if (merge->key_count > 1)
		memcpy(&merge->keys[1], state->conditions,
			   (merge->key_count - 1) * sizeof(ScanKeyData));

	for (int32 shard = 0; shard < merge->shards; shard++)
		if (state->shard_filter == NULL || passes_filter(state, shard))
			shards[count++] = shard;
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

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true,
		   slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_isnull[attnum - 1] = false;
	switch (TupleDescAttr(slot->tts_tupleDescriptor, attnum - 1)->atttypid)
	{
		case INT2OID:
			if (shard > PG_INT16_MAX)
				return false;
			*value = Int16GetDatum(shard);
			break;
		case INT8OID:
			*value = Int64GetDatum((int64) shard);
			break;
		default:
			*value = Int32GetDatum(shard);
			break;
	}
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_scantuple = slot;
	return ExecQualAndReset(state->shard_filter, econtext);
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
