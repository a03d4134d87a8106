/*-------------------------------------------------------------------------
 *
 * merge_scan.c
 *	  Executing the merge of the shards of an index, and EXPLAIN of it.
 *
 * Filter, projection and EvalPlanQual are those of every scan.  EvalPlanQual
 * checks a changed row against the index conditions, whatever shard it is in
 * now.
 *
 * A row that is visible to the snapshot stays in the index as long as the
 * snapshot is held, so its TID is found again.  The others need not be: a TID
 * that has been removed, or used again, leads to no row that the snapshot sees.
 *
 * A bound compares as many columns of the order as a B-tree can use at once:
 * they follow each other, have one direction and are never NULL.  A column is
 * never NULL in a scan that has a condition on it, unless that is IS NULL.
 * Columns that are fixed by an equality come before, for a B-tree starts at
 * the equality, and would skip a row comparison on the same column.
 *
 * The rows that a merge has returned come first in the order of the sort, too,
 * for the snapshot is the same.  So they are known by the key of the last one,
 * and by the TIDs of those that have this key.
 *
 * src/planner/merge_scan.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/skey.h"
#include "access/tableam.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "executor/nodeIndexscan.h"
#include "lib/binaryheap.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#include "compat.h"
#include "planner/planner.h"
#include "spanner_keys.h"

/* How many TIDs of a shard may always be kept; work_mem allows for more. */
#define SK_MIN_AHEAD 16

/* So many fit into one piece of memory, whatever work_mem is. */
#define SK_MAX_AHEAD ((int) (MaxAllocSize / sizeof(ItemPointerData)))

/* A column of the order. */
typedef struct SkMergeColumn
{
	AttrNumber	attnum;			/* of the table, or 0 */
	ExprState  *expr;			/* if it is no plain column */
	int16		length;			/* of its type */
	bool		by_value;
	bool		upward;			/* from the least value to the greatest? */
	SortSupportData order;
} SkMergeColumn;

/* A condition that rows are not before, or not after, a given one. */
typedef struct SkMergeBound
{
	int			first;			/* among the columns of the order */
	int			count;			/* 0 if there can be no such condition */
	MemoryContext context;		/* holds the values */
	ScanKeyData key;			/* of a column, or of a row comparison */
	ScanKeyData *members;		/* of the row comparison */
} SkMergeBound;

/*
 * The rows of one shard.  Between two rows the position in the index is kept
 * as the row's TID, together with the TIDs that follow there.
 */
typedef struct SkStream
{
	int32		shard;
	HeapTuple	tuple;			/* the current row */
	Datum	   *keys;			/* and its columns of the order */
	bool	   *nulls;
	ItemPointerData tid;		/* where the index says that it is */
	ItemPointerData *ahead;		/* what follows in the index */
	int			ahead_size;
	int			ahead_count;
	int			ahead_next;
	bool		ended;			/* nothing follows what is ahead */
	bool		deferred;		/* all rows are after the limit */
} SkStream;

/* The best row of a group that has been returned: its columns of the order. */
typedef struct SkGroup
{
	struct SkGroup *next;		/* after it in the order */
	bool	   *nulls;
	Datum		keys[FLEXIBLE_ARRAY_MEMBER];
} SkGroup;

/* When a merge falls back to a sort, and which rows it has returned by then. */
typedef struct SkFallback
{
	Plan	   *plan;			/* a scan and a sort, or NULL */
	PlanState  *state;			/* the same */
	bool		used;			/* has it been needed? */
	bool		active;			/* has the merge ended? */
	int			bound;			/* of the sort; 0 if it has none */
	int64		fetched;		/* rows of the sort */
	int64		read;			/* rows of the merge, up to the budget */
	MemoryContext context;		/* holds the key of the last row */
	Datum		keys[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	ItemPointerData *tids;		/* of the rows that have this key */
	int64		tid_count;
	int64		tid_size;
	int64		sorted_count;	/* those that were there when the sort began */
} SkFallback;

/* A node that merges or skips. */
typedef struct SkMerge
{
	CustomScanState css;
	IndexScan  *template;		/* the scan of one shard */
	SkMergePlan plan;
	List	   *order;			/* index columns that it consists of */
	List	   *filter;			/* conditions on the shard alone */
	IndexRuntimeKeyInfo *runtime_keys;
	int			runtime_key_count;
	ExprContext *runtime_context;
	ExprState  *recheck;		/* what the index conditions say */
	ExprState  *shard_filter;
	TupleTableSlot *shard_slot; /* a row of which only the shard is known */
	ExprState  *qual;			/* what the first row of a group has to pass */

	Relation	table;
	Relation	index;
	Snapshot	snapshot;
	ScanDirection direction;
	ExprContext *econtext;		/* evaluates columns that are expressions */
	TupleTableSlot *fetch_slot;
	MemoryContext context;		/* holds the current rows */

	int			column_count;	/* with those that only bounds need */
	int			order_count;
	SkMergeColumn *columns;
	SkMergeBound start;			/* not before the current row */
	SkMergeBound stop;			/* not after a guessed one */
	SkMergeBound skip;			/* after the group of the last row */
	ScanKeyData *keys;			/* the shard, and the conditions */
	int			key_count;
	int			shard_key;		/* which of them is the shard */
	ScanKeyData *scan_keys;		/* the same, and bounds */
	int			scan_key_count;
	SkFallback	fallback;

	/* reset_merge() clears what follows */
	bool		primed;			/* have the streams been set up? */
	int			depth;			/* rows of a shard that are likely wanted */
	int			max_ahead;
	SkStream   *streams;
	int			stream_count;
	binaryheap *heap;			/* of streams that have a row */
	bool		has_returned;	/* the first one of the heap */
	IndexScanDesc scan;
	int			deferred_count;

	SkGroup    *groups;			/* those of the shards before, in order */
	SkGroup   **place;			/* of the next one in this shard */
	SkStream   *current;		/* the row that is looked at */
	int			stream_next;	/* the shard after this one */
	bool		in_shard;		/* is there more of this one? */
	bool		has_group;		/* is the group in "skip" to be skipped? */
	bool		has_scan;		/* does the scan go on from there? */
	bool		has_stop;		/* not after the row at "place" */
	bool		is_better;		/* is the current row better than that one? */
	int			steps;			/* in the group that is skipped */
	int			descents;		/* so many come before steps are tried */
	double		skip_budget;	/* rows that may still be fetched */
} SkMerge;

/* The number of a column of the order in the index. */
#define index_attno(merge, column) \
	((merge)->keys[(merge)->shard_key].sk_attno + 1 + (column))

static Node *create_merge_state(CustomScan *scan);
static void begin_merge(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_merge(CustomScanState *node);
static void end_merge(CustomScanState *node);
static void rescan_merge(CustomScanState *node);
static void init_expressions(SkMerge *merge);
static void init_columns(SkMerge *merge);
static bool is_upward(Relation index, int column, bool backward);
static bool has_nulls_first(Relation index, int column, bool backward);
static Oid	column_operator(Relation index, int column, StrategyNumber strategy);
static void init_keys(SkMerge *merge);
static TupleTableSlot *merge_next(ScanState *node);
static TupleTableSlot *skip_next(ScanState *node);
static bool merge_recheck(ScanState *node, TupleTableSlot *slot);
static void start_merge(SkMerge *merge);
static bool passes_filter(SkMerge *merge, int32 shard);
static void explain_merge(CustomScanState *node, List *ancestors,
						  ExplainState *es);
static List *describe_keys(SkMerge *merge, List *context, bool prefix);
static void describe_direction(StringInfo key, Node *expr, Relation index,
							   int column, bool backward);
static void explain_qual(const char *label, List *qual, List *context,
						 bool prefix, ExplainState *es);
static void record_row(SkMerge *merge, const Datum *keys, const bool *nulls,
					   ItemPointer tid);
static bool is_recorded(SkMerge *merge, const Datum *keys, const bool *nulls,
						ItemPointer tid);
static bool next_of_sort(SkMerge *merge);
static void start_fallback(SkMerge *merge, int bound);
static int	compare_tids(const void *left, const void *right);
static void init_bounds(SkMerge *merge);
static SkStream *next_in_order(SkMerge *merge);
static bool next_group(SkMerge *merge);
static void descend(SkMerge *merge);
static bool may_be_first(SkMerge *merge);
static int	compare_entry(SkMerge *merge, const SkGroup *group, int *column);
static void keep_best(SkMerge *merge);
static void skip_group(SkMerge *merge, const Datum *keys);
static void reset_merge(SkMerge *merge);
static void start_streams(SkMerge *merge);
static bool set_row(SkMerge *merge, SkMergeBound *bound, const Datum *keys,
					const bool *nulls);
static bool is_after_limit(SkMerge *merge);
static void start_deferred(SkMerge *merge);
static bool guess_stop(SkMerge *merge, const SkStream *stream);
static void scan_shard(SkMerge *merge, int32 shard, const SkMergeBound *start,
					   const SkMergeBound *stop);
static void look_ahead(SkMerge *merge, SkStream *stream, int count);
static void begin_stream(SkMerge *merge, SkStream *stream, SkMergeBound *bound,
						 int count);
static bool next_row(SkMerge *merge, SkStream *stream);
static bool read_on(SkMerge *merge, SkStream *stream);
static bool fetch(SkMerge *merge, ItemPointer tid);
static void keep_row(SkMerge *merge, SkStream *stream, ItemPointer tid);
static void copy_keys(SkMerge *merge, int count, const Datum *from,
					  const bool *from_nulls, Datum *to, bool *to_nulls);
static Datum read_column(SkMerge *merge, int column, bool *isnull);
static void free_row(SkMerge *merge, SkStream *stream);
static inline int compare_keys(SkMerge *merge, const Datum *left, const bool *left_nulls,
							   const Datum *right, const bool *right_nulls);
static int	compare_streams(Datum a, Datum b, void *arg);
static int	compare_backward(Datum a, Datum b, void *arg);
static void set_bound(SkMerge *merge, SkMergeBound *bound,
					  const Datum *values);
static void set_scan_keys(SkMerge *merge, int32 shard,
						  const SkMergeBound *start, const SkMergeBound *stop);
static void insert_key(ScanKey keys, int count, const ScanKeyData *key);
static bool is_fixed(const SkMerge *merge, AttrNumber attno);
static bool is_never_null(const SkMerge *merge, int column);
static bool has_row_comparison(const SkMerge *merge);
static void init_bound(SkMerge *merge, SkMergeBound *bound, bool is_start);
static void init_column_bound(SkMerge *merge, SkMergeBound *bound,
							  StrategyNumber strategy);
static bool is_implied(const ScanKeyData *key, const SkMergeBound *bound);
static bool is_same_group(SkMerge *merge);

static const CustomScanMethods merge_scan_methods = {
	.CustomName = SK_MERGE_NAME,
	.CreateCustomScanState = create_merge_state
};

static const CustomScanMethods skip_scan_methods = {
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

void
sk_merge_scan_init(void)
{
	RegisterCustomScanMethods(&merge_scan_methods);
	RegisterCustomScanMethods(&skip_scan_methods);
}

/* "custom_private" has the fields of SkMergePlan, "custom_exprs" two lists. */
static Node *
create_merge_state(CustomScan *scan)
{
	SkMerge    *merge = palloc0(sizeof(SkMerge));
	ListCell   *lc;

	Assert(list_length(scan->custom_private) * sizeof(int) == sizeof(SkMergePlan) &&
		   list_length(scan->custom_exprs) == 2);
	NodeSetTag(merge, T_CustomScanState);
	merge->css.methods = &merge_exec_methods;
	merge->template = linitial_node(IndexScan, scan->custom_plans);
	if (list_length(scan->custom_plans) > 1)
		merge->fallback.plan = lsecond(scan->custom_plans);
	foreach(lc, scan->custom_private)
		((int *) &merge->plan)[foreach_current_index(lc)] = lfirst_int(lc);
	merge->order = linitial(scan->custom_exprs);
	merge->filter = lsecond(scan->custom_exprs);
	sk_use_slots(&merge->css, &TTSOpsHeapTuple);
	return (Node *) merge;
}

static void
begin_merge(CustomScanState *node, EState *estate, int eflags)
{
	SkMerge    *merge = (SkMerge *) node;
	SkFallback *fallback = &merge->fallback;
	Index		relid = ((Scan *) node->ss.ps.plan)->scanrelid;

	sk_init_slots(node, estate, &TTSOpsHeapTuple);
	init_expressions(merge);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	merge->table = node->ss.ss_currentRelation;
	merge->index = index_open(merge->template->indexid,
							  exec_rt_fetch(relid, estate)->rellockmode);
	/* rows are found again by their TIDs, as long as nothing removes them */
	Assert(IsMVCCSnapshot(estate->es_snapshot));
	merge->snapshot = estate->es_snapshot;
	merge->direction = merge->plan.backward ?
		BackwardScanDirection : ForwardScanDirection;
	merge->econtext = CreateExprContext(estate);
	merge->fetch_slot = table_slot_create(merge->table, NULL);
	merge->context = AllocSetContextCreate(CurrentMemoryContext,
										   "spanner_keys shard merge",
										   ALLOCSET_DEFAULT_SIZES);
	Assert(merge->plan.shards >= 1);
	init_columns(merge);
	init_keys(merge);
	init_bounds(merge);
	if (merge->plan.skips != SK_NO_SKIP)
	{
		/* whether a row passes decides where the scan goes on */
		merge->qual = node->ss.ps.qual;
		node->ss.ps.qual = NULL;
	}
	if (fallback->plan == NULL)
		return;
	/* now, for it checks rights: who reads on from a cursor may have fewer */
	fallback->state = ExecInitNode(fallback->plan, estate, 0);
	fallback->context = AllocSetContextCreate(CurrentMemoryContext,
											  "spanner_keys shard merge fallback",
											  ALLOCSET_SMALL_SIZES);
	fallback->tid_size = 16;
	fallback->tids = palloc(fallback->tid_size * sizeof(ItemPointerData));
}

static TupleTableSlot *
exec_merge(CustomScanState *node)
{
	SkMerge    *merge = (SkMerge *) node;
	SkFallback *fallback = &merge->fallback;
	TupleTableSlot *result;

	if (merge->plan.skips == SK_NO_SKIP)
		return ExecScan(&node->ss, merge_next, merge_recheck);
	if (!fallback->active)
	{
		result = ExecScan(&node->ss, skip_next, merge_recheck);
		if (!fallback->active)
			return result;
	}
	/* a skip returns the rows of the other plan as they are */
	return ExecProcNode(fallback->state);
}

static void
end_merge(CustomScanState *node)
{
	SkMerge    *merge = (SkMerge *) node;

	if (merge->index == NULL)
		return;
	if (merge->fallback.state)
		ExecEndNode(merge->fallback.state);
	reset_merge(merge);
	ExecDropSingleTupleTableSlot(merge->fetch_slot);
	index_close(merge->index, NoLock);
}

static void
rescan_merge(CustomScanState *node)
{
	SkMerge    *merge = (SkMerge *) node;
	SkFallback *fallback = &merge->fallback;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	reset_merge(merge);
	if (fallback->state && node->ss.ps.chgParam)
		UpdateChangedParamSet(fallback->state, node->ss.ps.chgParam);
	fallback->active = false;
	fallback->read = 0;
	fallback->tid_count = 0;
	ExecScanReScan(&node->ss);
}

static void
init_expressions(SkMerge *merge)
{
	PlanState  *node = &merge->css.ss.ps;
	const TupleTableSlotOps *ops = node->scanops;

	merge->recheck = ExecInitQual(list_concat_copy(merge->template->indexqualorig,
												   merge->filter), node);
	if (merge->filter == NIL)
		return;
	node->scanops = &TTSOpsVirtual;
	merge->shard_filter = ExecInitQual(merge->filter, node);
	node->scanops = ops;
	merge->shard_slot =
		ExecInitExtraTupleSlot(node->state,
							   RelationGetDescr(merge->css.ss.ss_currentRelation),
							   &TTSOpsVirtual);
}

/*
 * The columns of the order are those behind the shard.  More of the index
 * follow, as long as they are plain columns, for they make bounds narrow.
 */
static void
init_columns(SkMerge *merge)
{
	Relation	index = merge->index;
	int			first = merge->plan.position + 1;
	int			count = IndexRelationGetNumberOfKeyAttributes(index) - first;

	merge->columns = palloc0(count * sizeof(SkMergeColumn));
	for (int i = 0; i < count; i++)
	{
		SkMergeColumn *column = &merge->columns[i];
		SortSupport order = &column->order;

		column->attnum = index->rd_index->indkey.values[first + i];
		column->upward = is_upward(index, first + i, merge->plan.backward);
		if (i < list_length(merge->order))
		{
			order->ssup_cxt = CurrentMemoryContext;
			order->ssup_collation = index->rd_indcollation[first + i];
			order->ssup_nulls_first = has_nulls_first(index, first + i, merge->plan.backward);
			PrepareSortSupportFromOrderingOp(column_operator(index, first + i,
															 column->upward ?
															 BTLessStrategyNumber :
															 BTGreaterStrategyNumber),
											 order);
			if (column->attnum == 0)
				column->expr = ExecInitExpr(list_nth(merge->order, i),
											&merge->css.ss.ps);
			merge->order_count++;
		}
		else if (column->attnum == 0)
			break;
		get_typlenbyval(TupleDescAttr(RelationGetDescr(index), first + i)->atttypid,
						&column->length, &column->by_value);
		merge->column_count++;
	}
	Assert(merge->order_count == list_length(merge->order));
	Assert(merge->order_count >= 1 && merge->order_count <= merge->column_count);
}

/* Does a scan give the values of a column from the least to the greatest? */
static bool
is_upward(Relation index, int column, bool backward)
{
	return ((index->rd_indoption[column] & INDOPTION_DESC) != 0) == backward;
}

static bool
has_nulls_first(Relation index, int column, bool backward)
{
	return ((index->rd_indoption[column] & INDOPTION_NULLS_FIRST) != 0) != backward;
}

static Oid
column_operator(Relation index, int column, StrategyNumber strategy)
{
	Oid			type = index->rd_opcintype[column];

	return get_opfamily_member(index->rd_opfamily[column], type, type, strategy);
}

/*
 * The keys of a scan: conditions on the columns before the shard, the shard,
 * conditions on those behind it.  Their values are set when they are known.
 */
static void
init_keys(SkMerge *merge)
{
	PlanState  *node = &merge->css.ss.ps;
	ExprContext *econtext = node->ps_ExprContext;

	ExecIndexBuildScanKeys(node, merge->index, merge->template->indexqual,
						   false, &merge->keys, &merge->key_count,
						   &merge->runtime_keys, &merge->runtime_key_count,
						   NULL, NULL);
	if (merge->runtime_key_count > 0)
	{
		ExecAssignExprContext(node->state, node);
		merge->runtime_context = node->ps_ExprContext;
		node->ps_ExprContext = econtext;
	}

	while (merge->keys[merge->shard_key].sk_attno <= merge->plan.position)
		merge->shard_key++;
	Assert(merge->shard_key < merge->key_count &&
		   merge->keys[merge->shard_key].sk_attno == merge->plan.position + 1);
	/* and a bound, or two */
	merge->scan_key_count = merge->key_count +
		(merge->plan.skips == SK_NO_SKIP ? 1 : 2);
	merge->scan_keys = palloc(merge->scan_key_count * sizeof(ScanKeyData));
}

static TupleTableSlot *
merge_next(ScanState *node)
{
	SkMerge    *merge = (SkMerge *) node;
	SkFallback *fallback = &merge->fallback;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	SkStream   *stream;

	ExecClearTuple(slot);
	if (fallback->plan && fallback->read++ >= merge->plan.budget)
	{
		if (next_of_sort(merge))
			ExecStoreHeapTuple(ExecFetchSlotHeapTuple(merge->fetch_slot, false, NULL),
							   slot, false);
		return slot;
	}
	if (!merge->primed)
		start_merge(merge);
	stream = next_in_order(merge);
	if (stream == NULL)
		return slot;
	/* whatever becomes of the row above, it is not to be returned again */
	if (fallback->plan)
		record_row(merge, stream->keys, stream->nulls, &stream->tuple->t_self);
	ExecStoreHeapTuple(stream->tuple, slot, false);
	return slot;
}

/* The next row that may be the first one of its group, and passes the filter. */
static TupleTableSlot *
skip_next(ScanState *node)
{
	SkMerge    *merge = (SkMerge *) node;
	ExprContext *econtext = node->ps.ps_ExprContext;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (!merge->primed)
		start_merge(merge);
	while (next_group(merge))
	{
		ExecStoreHeapTuple(merge->current->tuple, slot, false);
		econtext->ecxt_scantuple = slot;
		if (merge->qual == NULL || ExecQualAndReset(merge->qual, econtext))
		{
			keep_best(merge);
			return slot;
		}
		merge->skip_budget -= SK_SKIP_FILTERED - 1;
		InstrCountFiltered1(node, 1);
	}
	return ExecClearTuple(slot);
}

static bool
merge_recheck(ScanState *node, TupleTableSlot *slot)
{
	ExprContext *econtext = node->ps.ps_ExprContext;

	econtext->ecxt_scantuple = slot;
	return ExecQualAndReset(((SkMerge *) node)->recheck, econtext);
}

/* Set up one stream for each shard that the query asks for, and order them. */
static void
start_merge(SkMerge *merge)
{
	SkMergePlan *plan = &merge->plan;
	MemoryContext old = MemoryContextSwitchTo(merge->context);
	int64		ahead;

	/* what an earlier start has made is gone with its memory */
	Assert(!merge->primed && merge->scan == NULL && merge->streams == NULL);
	if (merge->runtime_key_count > 0)
	{
		ResetExprContext(merge->runtime_context);
		ExecIndexEvalRuntimeKeys(merge->runtime_context, merge->runtime_keys,
								 merge->runtime_key_count);
	}

	merge->streams = palloc0(plan->shards * sizeof(SkStream));
	for (int32 i = 0; i < plan->shards; i++)
	{
		int32		shard = plan->first_shard + i;

		if (merge->shard_filter == NULL || passes_filter(merge, shard))
			merge->streams[merge->stream_count++].shard = shard;
	}
	ahead = work_mem * INT64CONST(1024) /
		(Max(merge->stream_count, 1) * (int64) sizeof(ItemPointerData));
	merge->max_ahead = (int) Min(Max(ahead, SK_MIN_AHEAD), SK_MAX_AHEAD);
	merge->depth = Min(plan->depth, merge->max_ahead);
	Assert(merge->depth >= 1);
	merge->scan = sk_index_beginscan(merge->table, merge->index,
									 merge->snapshot, merge->scan_key_count);
	if (merge->skip.count > 0)
	{
		/* the group of an entry is looked at without its row */
		merge->scan->xs_want_itup = true;
		merge->current = palloc0(sizeof(SkStream));
	}
	else
	{
		merge->heap = binaryheap_allocate(Max(merge->stream_count, 1),
										  compare_streams, merge);
		start_streams(merge);
		binaryheap_build(merge->heap);
	}
	merge->primed = true;
	MemoryContextSwitchTo(old);
}

/* Does a row of a shard pass the conditions on the shard? */
static bool
passes_filter(SkMerge *merge, int32 shard)
{
	TupleTableSlot *slot = merge->shard_slot;
	ExprContext *econtext = merge->econtext;
	int			column = merge->plan.column - 1;

	Assert(column >= 0 && column < slot->tts_tupleDescriptor->natts);
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true,
		   slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_isnull[column] = false;
	/* a smallint is read from an integer; no row has a shard that is wider */
	slot->tts_values[column] =
		TupleDescAttr(slot->tts_tupleDescriptor, column)->atttypid == INT8OID ?
		Int64GetDatum((int64) shard) : Int32GetDatum(shard);
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_scantuple = slot;
	return ExecQualAndReset(merge->shard_filter, econtext);
}

/* Print the order, the index, the shards and the conditions. */
static void
explain_merge(CustomScanState *node, List *ancestors, ExplainState *es)
{
	SkMerge    *merge = (SkMerge *) node;
	bool		backward = merge->plan.backward;
	bool		prefix = es->verbose || list_length(es->rtable) > 1;
	char	   *index = get_rel_name(merge->template->indexid);
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   node->ss.ps.plan,
												   ancestors);

	ExplainPropertyList(merge->plan.skips == SK_NO_SKIP ?
						"Merge Key" : "Skip Key",
						describe_keys(merge, context, prefix), es);
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
	ExplainPropertyInteger("Shards", NULL, merge->plan.shards, es);
	explain_qual("Shard Filter", merge->filter, context, prefix, es);
	explain_qual("Index Cond", merge->template->indexqualorig,
				 context, prefix, es);
	if (es->analyze && node->ss.ps.instrument)
	{
		/* the counters that parallel workers send back */
		ExplainPropertyInteger("Index Searches", NULL,
							   (int64) node->ss.ps.instrument->ntuples2, es);
		ExplainPropertyInteger("Heap Tuples Fetched", NULL,
							   (int64) node->ss.ps.instrument->nfiltered2, es);
	}

	/*
	 * not before: parallel workers would look for what the leader has not
	 * made
	 */
	if (merge->fallback.used)
		node->custom_ps = list_make1(merge->fallback.state);
}

/* The columns of the order, as in ORDER BY. */
static List *
describe_keys(SkMerge *merge, List *context, bool prefix)
{
	bool		backward = merge->plan.backward;
	Relation	index = index_open(merge->template->indexid, AccessShareLock);
	List	   *result = NIL;
	int			column = merge->plan.position + 1;
	ListCell   *lc;

	foreach(lc, merge->order)
	{
		Node	   *expr = lfirst(lc);
		Oid			collation = index->rd_indcollation[column];
		StringInfoData key;

		if (merge->plan.skips != SK_NO_SKIP &&
			foreach_current_index(lc) > merge->plan.skips)
			break;
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
	bool		upward = is_upward(index, column, backward);
	bool		nulls_first = has_nulls_first(index, column, backward);
	Oid			operator = column_operator(index, column, upward ?
										   BTLessStrategyNumber :
										   BTGreaterStrategyNumber);
	TypeCacheEntry *usual = lookup_type_cache(exprType(expr),
											  TYPECACHE_LT_OPR |
											  TYPECACHE_GT_OPR);

	if (operator == usual->gt_opr)
		appendStringInfoString(key, " DESC");
	else if (operator != usual->lt_opr && get_opname(operator))
		appendStringInfo(key, " USING %s", get_opname(operator));
	if (nulls_first == upward)
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

/*
 * Record that a row has been returned.  All rows with smaller keys have been,
 * too, so their TIDs are not needed.
 */
static void
record_row(SkMerge *merge, const Datum *keys, const bool *nulls, ItemPointer tid)
{
	SkFallback *fallback = &merge->fallback;

	if (fallback->tid_count == 0 ||
		compare_keys(merge, keys, nulls, fallback->keys, fallback->nulls) != 0)
	{
		MemoryContext old;

		MemoryContextReset(fallback->context);
		old = MemoryContextSwitchTo(fallback->context);
		copy_keys(merge, merge->order_count, keys, nulls, fallback->keys, fallback->nulls);
		MemoryContextSwitchTo(old);
		fallback->tid_count = fallback->sorted_count = 0;
	}
	if (fallback->tid_count == fallback->tid_size)
	{
		fallback->tid_size *= 2;
		fallback->tids = repalloc_huge(fallback->tids,
									   fallback->tid_size * sizeof(ItemPointerData));
	}
	fallback->tids[fallback->tid_count++] = *tid;
}

/*
 * Had a row been returned when the sort began?  If the merge has read it, it
 * has returned it, or has dropped it by the filter.
 */
static bool
is_recorded(SkMerge *merge, const Datum *keys, const bool *nulls, ItemPointer tid)
{
	SkFallback *fallback = &merge->fallback;
	int			order;

	if (fallback->tid_count == 0)
		return false;
	order = compare_keys(merge, keys, nulls, fallback->keys, fallback->nulls);
	if (order != 0)
		return order < 0;
	return bsearch(tid, fallback->tids, fallback->sorted_count,
				   sizeof(ItemPointerData), compare_tids) != NULL;
}

/*
 * Fetch the next row that the merge has not returned; false if none is left.  It
 * stays in the slot, and its page pinned, until the next call.
 */
static bool
next_of_sort(SkMerge *merge)
{
	SkFallback *fallback = &merge->fallback;
	TupleTableSlot *sorted;
	ItemPointer tid;

	do
	{
		/*
		 * more may be wanted than the LIMIT says, by a sort above or FOR
		 * UPDATE
		 */
		if (!fallback->active)
			start_fallback(merge, merge->plan.limit);
		else if (fallback->bound > 0 && fallback->fetched == fallback->bound)
			start_fallback(merge, 0);
		sorted = ExecProcNode(fallback->state);
		if (TupIsNull(sorted))
			return false;
		fallback->fetched++;
		slot_getsomeattrs(sorted, merge->order_count + 1);
		tid = (ItemPointer) DatumGetPointer(sorted->tts_values[merge->order_count]);
	} while (is_recorded(merge, sorted->tts_values, sorted->tts_isnull, tid));

	if (fallback->bound > 0)
		record_row(merge, sorted->tts_values, sorted->tts_isnull, tid);
	if (!table_tuple_fetch_row_version(merge->table, tid, merge->snapshot,
									   merge->fetch_slot))
		elog(ERROR, "could not find row (%u,%u) again",
			 ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid));
	return true;
}

/*
 * Begin the scan and the sort.  The bound of a sort counts from the first row of
 * the order, as a LIMIT does.
 */
static void
start_fallback(SkMerge *merge, int bound)
{
	SkFallback *fallback = &merge->fallback;

	if (fallback->used)
		ExecReScan(fallback->state);
	ExecSetTupleBound(bound > 0 ? bound : -1, fallback->state);
	if (!fallback->active)
		reset_merge(merge);
	fallback->active = fallback->used = true;
	fallback->bound = bound;
	fallback->fetched = 0;
	qsort(fallback->tids, fallback->tid_count, sizeof(ItemPointerData), compare_tids);
	fallback->sorted_count = fallback->tid_count;
}

static int
compare_tids(const void *left, const void *right)
{
	return ItemPointerCompare((ItemPointer) unconstify(void *, left),
							  (ItemPointer) unconstify(void *, right));
}

/*
 * Choose the columns of the bounds.  The conditions must be known, but for
 * their values.
 */
static void
init_bounds(SkMerge *merge)
{
	int			first = 0;
	int			count = 0;

	merge->start.context = AllocSetContextCreate(CurrentMemoryContext,
												 "spanner_keys shard merge bound",
												 ALLOCSET_SMALL_SIZES);
	while (first < merge->column_count &&
		   is_fixed(merge, index_attno(merge, first)))
		first++;
	while (first + count < merge->column_count &&
		   is_never_null(merge, first + count) &&
		   merge->columns[first + count].upward == merge->columns[first].upward)
		count++;

	Assert(first + count <= merge->column_count);
	merge->start.first = first;
	merge->start.count = count;
	merge->stop = merge->start;
	/* the last one stays as long as streams are deferred */
	merge->stop.context = AllocSetContextCreate(CurrentMemoryContext,
												"spanner_keys shard merge limit",
												ALLOCSET_SMALL_SIZES);
	/* what is not after a row includes NULLs if they come first */
	if (count == 0 && first < merge->column_count &&
		!has_nulls_first(merge->index, index_attno(merge, first) - 1, merge->plan.backward))
		merge->stop.count = 1;
	/* a B-tree that forgets the bound would forget rows */
	if (SK_BTREE_LOSES_CONDITIONS && has_row_comparison(merge))
		merge->stop.count = 0;
	init_bound(merge, &merge->start, true);
	init_bound(merge, &merge->stop, false);
	if (merge->plan.skips != SK_NO_SKIP)
	{
		merge->skip.first = merge->plan.skips;
		merge->skip.count = 1;
		merge->skip.context = AllocSetContextCreate(CurrentMemoryContext,
													"spanner_keys shard skip",
													ALLOCSET_SMALL_SIZES);
		init_column_bound(merge, &merge->skip,
						  merge->columns[merge->skip.first].upward ?
						  BTGreaterStrategyNumber : BTLessStrategyNumber);
	}
}

/*
 * The stream that has the next row in order, or NULL if there is none left.  The
 * row lives until the next call.
 */
static SkStream *
next_in_order(SkMerge *merge)
{
	SkStream   *stream;

	/* the stream whose row was returned gets its new place */
	if (merge->has_returned)
	{
		MemoryContext old = MemoryContextSwitchTo(merge->context);

		stream = (SkStream *) DatumGetPointer(binaryheap_first(merge->heap));
		if (next_row(merge, stream))
			binaryheap_replace_first(merge->heap, PointerGetDatum(stream));
		else
			(void) binaryheap_remove_first(merge->heap);
		MemoryContextSwitchTo(old);
	}
	if (merge->deferred_count > 0 && is_after_limit(merge))
		start_deferred(merge);
	merge->has_returned = !binaryheap_empty(merge->heap);
	if (!merge->has_returned)
		return NULL;
	return (SkStream *) DatumGetPointer(binaryheap_first(merge->heap));
}

/*
 * Is there another visible row that may be the first one of its group?  It is
 * the current one then.
 */
static bool
next_group(SkMerge *merge)
{
	ItemPointer tid;

	while (merge->in_shard || merge->stream_next < merge->stream_count)
	{
		CHECK_FOR_INTERRUPTS();
		if (!merge->has_scan)
			descend(merge);
		tid = index_getnext_tid(merge->scan, merge->direction);
		if (tid == NULL && merge->has_stop)
			skip_group(merge, (*merge->place)->keys);
		else if (tid == NULL)
			merge->in_shard = merge->has_scan = false;
		else if (may_be_first(merge))
		{
			ItemPointerData position = *tid;
			MemoryContext old;

			/* are there more groups, or more rows in vain, than expected? */
			if (merge->skip_budget-- < 0.0 ||
				MemoryContextMemAllocated(merge->context, false) > get_hash_memory_limit())
			{
				start_fallback(merge, 0);
				return false;
			}
			if (!index_fetch_heap(merge->scan, merge->fetch_slot))
				continue;
			old = MemoryContextSwitchTo(merge->context);
			keep_row(merge, merge->current, &position);
			MemoryContextSwitchTo(old);
			if (!merge->current->nulls[merge->skip.first])
				return true;
			start_fallback(merge, 0);
			return false;
		}
	}
	return false;
}

/* Go to the entry after the group that is skipped, or to the next shard. */
static void
descend(SkMerge *merge)
{
	if (!merge->in_shard)
	{
		/* the later the shard, the fewer of its rows are before the others' */
		merge->skip_budget += (double) merge->plan.budget / ++merge->stream_next;
		merge->place = &merge->groups;
		merge->in_shard = true;
		merge->has_group = false;
	}
	merge->has_scan = true;
	merge->has_stop = merge->descents > 0 && merge->stop.count > 0 &&
		*merge->place != NULL &&
		set_row(merge, &merge->stop, (*merge->place)->keys, (*merge->place)->nulls);
	scan_shard(merge, merge->streams[merge->stream_next - 1].shard,
			   merge->has_group ? &merge->skip : NULL,
			   merge->has_stop ? &merge->stop : NULL);
}

/* May the entry that the scan has found be of a first row?  If not, skip it. */
static bool
may_be_first(SkMerge *merge)
{
	SkGroup    *best;
	int			column;
	int			order = -1;

	if (merge->has_group && is_same_group(merge))
	{
		if (++merge->steps == SK_SKIP_STEPS)
		{
			merge->has_scan = false;
			merge->descents = SK_SKIP_STEPS;
		}
		return false;
	}
	while ((best = *merge->place) != NULL)
	{
		order = compare_entry(merge, best, &column);
		if (order <= 0 || column > merge->skip.first)
			break;
		merge->place = &best->next;
	}
	merge->is_better = best != NULL && column > merge->skip.first;
	if (best == NULL || order < 0)
		return true;
	skip_group(merge, best->keys);
	return false;
}

/*
 * Does the entry that the scan has found come before the best row of a group, or
 * after it?  And which is the first column that differs?
 */
static int
compare_entry(SkMerge *merge, const SkGroup *group, int *column)
{
	int			result = 0;

	for (*column = merge->skip.first; *column < merge->order_count; (*column)++)
	{
		bool		isnull;
		Datum		value = index_getattr(merge->scan->xs_itup,
										  index_attno(merge, *column),
										  merge->scan->xs_itupdesc, &isnull);

		result = ApplySortComparator(value, isnull, group->keys[*column],
									 group->nulls[*column],
									 &merge->columns[*column].order);
		if (result != 0)
			break;
	}
	return result;
}

/* The current row is the best one of its group, as far as is known. */
static void
keep_best(SkMerge *merge)
{
	const SkStream *row = merge->current;
	int			count = merge->column_count;
	SkGroup    *group = *merge->place;
	MemoryContext old;

	Assert(!row->nulls[merge->skip.first]);
	if (merge->plan.apart)
	{
		skip_group(merge, row->keys);
		return;
	}
	old = MemoryContextSwitchTo(merge->context);
	if (!merge->is_better)
	{
		group = palloc0(offsetof(SkGroup, keys) + count * (sizeof(Datum) + sizeof(bool)));
		group->nulls = (bool *) &group->keys[count];
		group->next = *merge->place;
		*merge->place = group;
	}
	copy_keys(merge, count, row->keys, row->nulls, group->keys, group->nulls);
	MemoryContextSwitchTo(old);
	skip_group(merge, group->keys);
}

/* Go on after the group of a row, which is passed if others have it. */
static void
skip_group(SkMerge *merge, const Datum *keys)
{
	set_bound(merge, &merge->skip, &keys[merge->skip.first]);
	if (*merge->place && keys == (*merge->place)->keys)
		merge->place = &(*merge->place)->next;
	merge->has_group = true;
	merge->steps = 0;
	/* an entry after the stop would be missed */
	if (merge->has_stop || merge->descents > 0)
		merge->has_scan = false;
	if (merge->descents > 0)
		merge->descents--;
}

/* Close all streams, and forget them. */
static void
reset_merge(SkMerge *merge)
{
	if (merge->scan)
		index_endscan(merge->scan);
	memset(&merge->primed, 0, sizeof(SkMerge) - offsetof(SkMerge, primed));
	MemoryContextReset(merge->context);
	MemoryContextReset(merge->start.context);
	MemoryContextReset(merge->stop.context);
	if (merge->skip.context)
		MemoryContextReset(merge->skip.context);
}

/*
 * Find the first rows of each shard.  Where few rows are wanted, most shards have
 * none of them: once as many are known, the last one is the limit, and a shard
 * without a row up to there waits.  Else the bound is a guess, and such a shard is
 * scanned again.
 */
static void
start_streams(SkMerge *merge)
{
	int			wanted = merge->plan.wanted;
	bool		waits = merge->stop.count > 0 && wanted > 0 && wanted < merge->stream_count;
	binaryheap *first = waits ? binaryheap_allocate(wanted + 1, compare_backward, merge) : NULL;
	SkMergeBound *stop = NULL;

	for (int i = 0; i < merge->stream_count; i++)
	{
		SkStream   *stream = &merge->streams[i];
		bool		is_bounded;

		begin_stream(merge, stream, stop, stop && !waits ?
					 Min(2 * merge->depth, merge->max_ahead) : merge->depth);
		is_bounded = stop && stream->ahead_count > 0;
		if (is_bounded)
			stream->ended = false;
		else if (stop && waits)
		{
			stream->deferred = true;
			merge->deferred_count++;
			continue;
		}
		else if (stop)
			begin_stream(merge, stream, NULL, merge->depth);
		if (!waits && !is_bounded && merge->stop.count > 0 &&
			stream->ahead_count == merge->depth && guess_stop(merge, stream))
			stop = &merge->stop;

		if (!next_row(merge, stream))
			continue;
		binaryheap_add_unordered(merge->heap, PointerGetDatum(stream));
		if (!waits)
			continue;
		binaryheap_add(first, PointerGetDatum(stream));
		if (first->bh_size > wanted)
			(void) binaryheap_remove_first(first);
		stream = (SkStream *) DatumGetPointer(binaryheap_first(first));
		if (first->bh_size == wanted &&
			set_row(merge, &merge->stop, stream->keys, stream->nulls))
			stop = &merge->stop;
	}
	Assert(merge->deferred_count == 0 || stop != NULL);
	if (waits)
		binaryheap_free(first);
}

/* Scans are to start at a row, or to stop after it; not if it has a NULL there. */
static bool
set_row(SkMerge *merge, SkMergeBound *bound, const Datum *keys, const bool *nulls)
{
	for (int i = bound->first; i < bound->first + bound->count; i++)
		if (nulls[i])
			return false;
	set_bound(merge, bound, &keys[bound->first]);
	return true;
}

/*
 * Are all rows up to the limit given, the last bound?  No deferred stream has one
 * up to there.  The wanted row itself may have a NULL, and has not become the
 * bound then.  Columns of the bound that are not of the order make no difference:
 * rows that are equal without them come in any order.
 */
static bool
is_after_limit(SkMerge *merge)
{
	SkMergeBound *stop = &merge->stop;
	SkStream   *stream;

	if (binaryheap_empty(merge->heap))
		return true;
	stream = (SkStream *) DatumGetPointer(binaryheap_first(merge->heap));
	for (int i = stop->first;
		 i < Min(stop->first + stop->count, merge->order_count); i++)
	{
		ScanKey		limit = stop->count > 1 ? &stop->members[i - stop->first] :
			&stop->key;
		int			result = ApplySortComparator(stream->keys[i],
												 stream->nulls[i],
												 limit->sk_argument, false,
												 &merge->columns[i].order);

		if (result != 0)
			return result > 0;
	}
	return false;
}

static void
start_deferred(SkMerge *merge)
{
	MemoryContext old = MemoryContextSwitchTo(merge->context);

	for (int i = 0; i < merge->stream_count; i++)
	{
		SkStream   *stream = &merge->streams[i];

		if (!stream->deferred)
			continue;
		stream->deferred = false;
		begin_stream(merge, stream, NULL, merge->depth);
		if (next_row(merge, stream))
			binaryheap_add(merge->heap, PointerGetDatum(stream));
	}
	merge->deferred_count = 0;
	MemoryContextSwitchTo(old);
}

/* Take the last row that has been found in a shard as the bound. */
static bool
guess_stop(SkMerge *merge, const SkStream *stream)
{
	SkMergeBound *stop = &merge->stop;
	Datum		values[INDEX_MAX_KEYS];

	Assert(stream->ahead_count >= 1);
	Assert(stop->count >= 1 && stop->first + stop->count <= merge->column_count);
	if (!fetch(merge, &stream->ahead[stream->ahead_count - 1]))
		return false;
	ResetExprContext(merge->econtext);
	for (int i = 0; i < stop->count; i++)
	{
		bool		isnull;

		values[i] = read_column(merge, stop->first + i, &isnull);
		if (isnull)
			return false;
	}
	set_bound(merge, stop, values);
	ExecClearTuple(merge->fetch_slot);
	return true;
}

static void
scan_shard(SkMerge *merge, int32 shard, const SkMergeBound *start,
		   const SkMergeBound *stop)
{
	set_scan_keys(merge, shard, start, stop);
	index_rescan(merge->scan, merge->scan_keys, merge->scan_key_count, NULL, 0);
	InstrCountTuples2(&merge->css.ss.ps, 1);
}

/*
 * Keep the TIDs that come next in the scan.  An index without WAL keeps its
 * page pinned until the next scan is started.
 */
static void
look_ahead(SkMerge *merge, SkStream *stream, int count)
{
	ItemPointer tid;

	Assert(count >= 1 && stream->ahead_next == stream->ahead_count);
	if (count > stream->ahead_size)
	{
		if (stream->ahead)
			pfree(stream->ahead);
		stream->ahead = palloc(count * sizeof(ItemPointerData));
		stream->ahead_size = count;
	}
	stream->ahead_count = 0;
	stream->ahead_next = 0;
	while (stream->ahead_count < count)
	{
		tid = index_getnext_tid(merge->scan, merge->direction);
		if (tid == NULL)
			break;
		stream->ahead[stream->ahead_count++] = *tid;
	}
	stream->ended = stream->ahead_count < count;
	if (!RelationNeedsWAL(merge->index))
		index_rescan(merge->scan, merge->scan_keys, merge->scan_key_count,
					 NULL, 0);
}

/* Scan the shard of a stream from its start, and keep the first TIDs. */
static void
begin_stream(SkMerge *merge, SkStream *stream, SkMergeBound *bound, int count)
{
	CHECK_FOR_INTERRUPTS();
	scan_shard(merge, stream->shard, NULL, bound);
	look_ahead(merge, stream, count);
}

/* Make the next visible row of a stream its current one. */
static bool
next_row(SkMerge *merge, SkStream *stream)
{
	while (stream->ahead_next < stream->ahead_count)
	{
		ItemPointer tid = &stream->ahead[stream->ahead_next++];

		if (fetch(merge, tid))
		{
			keep_row(merge, stream, tid);
			return true;
		}
	}
	if (!stream->ended && read_on(merge, stream))
		return true;
	free_row(merge, stream);
	return false;
}

/*
 * Scan a shard again from its current row on, or from its start.  Rows are
 * fetched by index_fetch_heap(), which marks entries of rows that are dead to
 * all.
 */
static bool
read_on(SkMerge *merge, SkStream *stream)
{
	IndexScanDesc scan = merge->scan;
	SkMergeBound *start = NULL;
	ItemPointer tid;

	Assert(!stream->ended && stream->ahead_next == stream->ahead_count);
	if (stream->tuple && merge->start.count > 0 &&
		set_row(merge, &merge->start, stream->keys, stream->nulls))
		start = &merge->start;
	scan_shard(merge, stream->shard, start, NULL);
	while (stream->tuple)
	{
		tid = index_getnext_tid(scan, merge->direction);
		if (tid == NULL)
			elog(ERROR, "could not find row (%u,%u) again in index \"%s\"",
				 ItemPointerGetBlockNumber(&stream->tid),
				 ItemPointerGetOffsetNumber(&stream->tid),
				 RelationGetRelationName(merge->index));
		if (ItemPointerEquals(tid, &stream->tid))
			break;
	}

	while ((tid = index_getnext_tid(scan, merge->direction)) != NULL)
	{
		ItemPointerData position = *tid;

		CHECK_FOR_INTERRUPTS();
		if (!index_fetch_heap(scan, merge->fetch_slot))
			continue;
		keep_row(merge, stream, &position);
		look_ahead(merge, stream,
				   Max(Min(2 * stream->ahead_size, merge->max_ahead),
					   merge->depth));
		return true;
	}
	return false;
}

/* Is there a visible row at a TID?  It is in the slot then. */
static bool
fetch(SkMerge *merge, ItemPointer tid)
{
	ItemPointerData position = *tid;
	bool		again = false;

	if (!table_index_fetch_tuple(merge->scan->xs_heapfetch, &position,
								 merge->snapshot, merge->fetch_slot,
								 &again, NULL))
		return false;
	pgstat_count_heap_fetch(merge->index);
	return true;
}

/* Copy the row in the slot, so that its page need not stay pinned. */
static void
keep_row(SkMerge *merge, SkStream *stream, ItemPointer tid)
{
	TupleDesc	desc = RelationGetDescr(merge->table);

	/* where it lives until reset_merge() */
	Assert(CurrentMemoryContext == merge->context);
	InstrCountFiltered2(&merge->css.ss.ps, 1);
	free_row(merge, stream);
	if (stream->keys == NULL)
	{
		stream->keys = palloc(merge->column_count * sizeof(Datum));
		stream->nulls = palloc(merge->column_count * sizeof(bool));
	}
	stream->tid = *tid;
	stream->tuple = ExecCopySlotHeapTuple(merge->fetch_slot);
	ResetExprContext(merge->econtext);
	for (int i = 0; i < merge->column_count; i++)
	{
		SkMergeColumn *column = &merge->columns[i];

		if (column->expr == NULL)
			stream->keys[i] = heap_getattr(stream->tuple, column->attnum, desc,
										   &stream->nulls[i]);
		else
		{
			stream->keys[i] = read_column(merge, i, &stream->nulls[i]);
			if (!stream->nulls[i])
				stream->keys[i] = datumCopy(stream->keys[i], column->by_value,
											column->length);
		}
	}
	ExecClearTuple(merge->fetch_slot);
}

static void
copy_keys(SkMerge *merge, int count, const Datum *from, const bool *from_nulls,
		  Datum *to, bool *to_nulls)
{
	for (int i = 0; i < count; i++)
	{
		to_nulls[i] = from_nulls[i];
		if (!from_nulls[i])
			to[i] = datumCopy(from[i], merge->columns[i].by_value, merge->columns[i].length);
	}
}

/* A column of the order of the row in the slot. */
static Datum
read_column(SkMerge *merge, int column, bool *isnull)
{
	SkMergeColumn *read = &merge->columns[column];

	if (read->expr == NULL)
		return slot_getattr(merge->fetch_slot, read->attnum, isnull);
	merge->econtext->ecxt_scantuple = merge->fetch_slot;
	return ExecEvalExprSwitchContext(read->expr, merge->econtext, isnull);
}

static void
free_row(SkMerge *merge, SkStream *stream)
{
	if (stream->tuple == NULL)
		return;
	for (int i = 0; i < merge->column_count; i++)
		if (merge->columns[i].expr && !merge->columns[i].by_value &&
			!stream->nulls[i])
			pfree(DatumGetPointer(stream->keys[i]));
	heap_freetuple(stream->tuple);
	stream->tuple = NULL;
}

/* In which order the merge returns two rows. */
static inline int
compare_keys(SkMerge *merge, const Datum *left, const bool *left_nulls,
			 const Datum *right, const bool *right_nulls)
{
	for (int i = 0; i < merge->order_count; i++)
	{
		int			result = ApplySortComparator(left[i], left_nulls[i],
												 right[i], right_nulls[i],
												 &merge->columns[i].order);

		if (result != 0)
			return result;
	}
	return 0;
}

/* The heap gives the largest first, so the comparison is inverted. */
static int
compare_streams(Datum a, Datum b, void *arg)
{
	SkMerge    *merge = arg;
	SkStream   *left = (SkStream *) DatumGetPointer(a);
	SkStream   *right = (SkStream *) DatumGetPointer(b);

	Assert(left->tuple != NULL && right->tuple != NULL);
	return -compare_keys(merge, left->keys, left->nulls, right->keys, right->nulls);
}

static int
compare_backward(Datum a, Datum b, void *arg)
{
	return compare_streams(b, a, arg);
}

/* Set the row of a bound, given its columns. */
static void
set_bound(SkMerge *merge, SkMergeBound *bound, const Datum *values)
{
	MemoryContext old;

	Assert(bound->count >= 1);
	MemoryContextReset(bound->context);
	old = MemoryContextSwitchTo(bound->context);
	for (int i = 0; i < bound->count; i++)
	{
		SkMergeColumn *column = &merge->columns[bound->first + i];
		ScanKey		key = bound->count > 1 ? &bound->members[i] : &bound->key;

		key->sk_argument = datumCopy(values[i], column->by_value,
									 column->length);
	}
	MemoryContextSwitchTo(old);
}

/*
 * The keys of the scan of one shard, and bounds if there are any.  Their number
 * must not change from scan to scan, so the shard is repeated.
 */
static void
set_scan_keys(SkMerge *merge, int32 shard, const SkMergeBound *start,
			  const SkMergeBound *stop)
{
	ScanKey		keys = merge->keys;
	int			count = 0;

	keys[merge->shard_key].sk_argument = Int32GetDatum(shard);
	for (int i = 0; i < merge->key_count; i++)
		if (!is_implied(&keys[i], start) && !is_implied(&keys[i], stop))
			merge->scan_keys[count++] = keys[i];
	if (start)
		insert_key(merge->scan_keys, count++, &start->key);
	if (stop)
		insert_key(merge->scan_keys, count++, &stop->key);
	while (count < merge->scan_key_count)
		insert_key(merge->scan_keys, count++, &keys[merge->shard_key]);
	Assert(count == merge->scan_key_count);
}

/* Put a key among others: a B-tree wants them in the order of its columns. */
static void
insert_key(ScanKey keys, int count, const ScanKeyData *key)
{
	while (count > 0 && keys[count - 1].sk_attno > key->sk_attno)
	{
		keys[count] = keys[count - 1];
		count--;
	}
	keys[count] = *key;
}

/* Does a condition leave one value of a column, or NULL? */
static bool
is_fixed(const SkMerge *merge, AttrNumber attno)
{
	for (int i = 0; i < merge->key_count; i++)
	{
		ScanKey		key = &merge->keys[i];

		if (key->sk_attno == attno &&
			((key->sk_flags & SK_SEARCHNULL) != 0 ||
			 (key->sk_strategy == BTEqualStrategyNumber &&
			  (key->sk_flags & (SK_ROW_HEADER | SK_SEARCHARRAY)) == 0)))
			return true;
	}
	return false;
}

static bool
is_never_null(const SkMerge *merge, int column)
{
	AttrNumber	attnum = merge->columns[column].attnum;

	if (attnum > 0 && sk_never_null(RelationGetDescr(merge->table), attnum))
		return true;
	for (int i = 0; i < merge->key_count; i++)
		if (merge->keys[i].sk_attno == index_attno(merge, column) &&
			(merge->keys[i].sk_flags & SK_SEARCHNULL) == 0)
			return true;
	return false;
}

static bool
has_row_comparison(const SkMerge *merge)
{
	for (int i = 0; i < merge->key_count; i++)
		if ((merge->keys[i].sk_flags & SK_ROW_HEADER) != 0)
			return true;
	return false;
}

/* Set up a bound: its operator, and the columns that it compares. */
static void
init_bound(SkMerge *merge, SkMergeBound *bound, bool is_start)
{
	Relation	index = merge->index;
	AttrNumber	attno = index_attno(merge, bound->first);
	StrategyNumber strategy;
	int			ends = 0;

	if (bound->count == 0)
		return;
	strategy = merge->columns[bound->first].upward == is_start ?
		BTGreaterEqualStrategyNumber : BTLessEqualStrategyNumber;
	if (bound->count == 1)
	{
		init_column_bound(merge, bound, strategy);
		return;
	}

	/*
	 * A B-tree goes on to the end of a page if another column than the first
	 * one decides.  As the columns follow each other, no later entry passes
	 * either, which these flags say.
	 */
	if (!is_start)
		ends = ScanDirectionIsBackward(merge->direction) ? SK_BT_REQBKWD : SK_BT_REQFWD;
	bound->members = palloc0(bound->count * sizeof(ScanKeyData));
	for (int i = 0; i < bound->count; i++)
		ScanKeyEntryInitialize(&bound->members[i],
							   SK_ROW_MEMBER | ends |
							   (i == bound->count - 1 ? SK_ROW_END : 0),
							   attno + i, strategy, InvalidOid,
							   index->rd_indcollation[attno + i - 1],
							   index_getprocid(index, attno + i, BTORDER_PROC),
							   (Datum) 0);
	memset(&bound->key, 0, sizeof(ScanKeyData));
	bound->key.sk_flags = SK_ROW_HEADER;
	bound->key.sk_attno = attno;
	bound->key.sk_strategy = strategy;
	bound->key.sk_argument = PointerGetDatum(bound->members);
}

/* The same for a bound that compares one column. */
static void
init_column_bound(SkMerge *merge, SkMergeBound *bound, StrategyNumber strategy)
{
	AttrNumber	attno = index_attno(merge, bound->first);

	ScanKeyEntryInitialize(&bound->key, 0, attno, strategy, InvalidOid,
						   merge->index->rd_indcollation[attno - 1],
						   get_opcode(column_operator(merge->index, attno - 1, strategy)),
						   (Datum) 0);
}

/*
 * Does the bound imply a condition that the row of the bound passes?  Then the
 * condition must not compete for where the scan starts.
 */
static bool
is_implied(const ScanKeyData *key, const SkMergeBound *bound)
{
	bool		upward;
	ScanKey		member;
	int			count = 1;

	if (bound == NULL)
		return false;
	upward = bound->key.sk_strategy >= BTGreaterEqualStrategyNumber;
	if (key->sk_attno != bound->key.sk_attno ||
		(key->sk_flags & (SK_ISNULL | SK_SEARCHARRAY | SK_SEARCHNULL |
						  SK_SEARCHNOTNULL)) != 0 ||
		!(upward ? key->sk_strategy >= BTGreaterEqualStrategyNumber :
		  key->sk_strategy <= BTLessEqualStrategyNumber))
		return false;
	if ((key->sk_flags & SK_ROW_HEADER) == 0)
		return true;
	for (member = (ScanKey) DatumGetPointer(key->sk_argument);
		 (member->sk_flags & SK_ROW_END) == 0; member++)
		if (member[1].sk_attno != key->sk_attno + count++)
			return false;
	return count <= bound->count;
}

/* Is the entry that the scan has found of the group that is skipped? */
static bool
is_same_group(SkMerge *merge)
{
	SkMergeColumn *column = &merge->columns[merge->skip.first];
	bool		isnull;
	Datum		value = index_getattr(merge->scan->xs_itup,
									  merge->skip.key.sk_attno,
									  merge->scan->xs_itupdesc, &isnull);

	Assert(!isnull);
	return ApplySortComparator(value, isnull, merge->skip.key.sk_argument,
							   false, &column->order) == 0;
}
