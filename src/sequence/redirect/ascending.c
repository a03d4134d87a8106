/*-------------------------------------------------------------------------
 *
 * ascending.c
 *	  Values in ascending order for clients that sort returned ids.
 *
 * Some clients insert many objects with
 *
 *		INSERT INTO t (...) SELECT ... FROM (VALUES (..., 0), (..., 1)) AS v
 *		ORDER BY v.n RETURNING id
 *
 * sort the ids that come back, and take the n-th smallest for the id of the
 * n-th row, because nothing promises the order of RETURNING.  So in exactly
 * this form, an INSERT with RETURNING whose only source is a sorted SELECT of
 * the rows of a VALUES list, a draw is planned as
 *
 *		spanner_internal.ascending_nextval('s', number of rows)
 *
 * which draws for all rows at the first one, sorts the values, and hands them
 * out one by one.  They are the values that would have been drawn anyway.
 *
 * Calls in the rows of the VALUES list: ascending_values.c.
 *
 * Citus plans the SELECT of an INSERT by itself, with the defaults in it, so
 * the support function does not see what it belongs to.  The planner hook
 * comes before Citus, and puts the draw into the query.  The support function
 * handles the statement that loads the library, which comes before the hook,
 * and calls in deeper queries.
 *
 * The values wait in fn_extra, that is, for as long as one execution of the
 * statement lasts.  What is left over then is a gap.
 *
 * src/sequence/redirect/ascending.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"

#include "sequence/binding.h"
#include "sequence/draw_privilege.h"
#include "sequence/extension.h"
#include "sequence/redirect/ascending.h"
#include "sequence/sequence.h"
#include "sequence/sequence_functions.h"

/* What was drawn ahead by one call in one execution of a statement. */
typedef struct SkBatch
{
	Oid			seqid;
	uint64		changes;		/* those of the binding, after the draw */
	int			next;			/* the first that has not been handed out */
	int			count;
	int64		values[FLEXIBLE_ARRAY_MEMBER];
} SkBatch;

PG_FUNCTION_INFO_V1(spanner_ascending_nextval);

static SkBatch *make_batch(MemoryContext context, Oid seqid, int count);
static void draw_batch(SkBatch *batch, int first);
static int	compare_values(const void *a, const void *b);
static RangeTblEntry *only_relation(Query *query);
static bool keeps_rows(Query *query);
static bool has_volatile_order(Query *query);

/*
 * spanner_internal.ascending_nextval(sequence regclass, rows integer) returns bigint
 *
 * Draws "rows" values at its first call, and returns them in ascending order.
 * After that many calls it draws again.
 */
Datum
spanner_ascending_nextval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	int			count = PG_GETARG_INT32(1);
	SkBatch    *batch = fcinfo->flinfo->fn_extra;
	int64		value;

	if (count < 1 || count > SK_MAX_ASCENDING)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of rows must be between 1 and %d",
						SK_MAX_ASCENDING),
				 errhint("Use spanner.nextval() to get one value.")));

	if (batch == NULL || batch->seqid != seqid || batch->count != count)
	{
		batch = make_batch(fcinfo->flinfo->fn_mcxt, seqid, count);
		fcinfo->flinfo->fn_extra = batch;
	}
	if (batch->next == count)
		draw_batch(batch, 0);
	else if (batch->changes != sk_binding_get(seqid)->changes)
		draw_batch(batch, batch->next);

	Assert(batch->next >= 0 && batch->next < batch->count);
	value = batch->values[batch->next++];
	sk_set_last_value(sk_binding_get(seqid), value);
	PG_RETURN_INT64(value);
}

static SkBatch *
make_batch(MemoryContext context, Oid seqid, int count)
{
	SkBatch    *batch = MemoryContextAlloc(context,
										   offsetof(SkBatch, values) +
										   sizeof(int64) * count);

	batch->seqid = seqid;
	batch->changes = 0;
	batch->next = batch->count = count;
	return batch;
}

/*
 * Draw the values from "first" on.  That is not always all of them: the
 * transaction may change the binding while it inserts, and the rest has to
 * follow.
 */
static void
draw_batch(SkBatch *batch, int first)
{
	Assert(first >= 0 && first < batch->count);
	/* there is nothing to hand out if this fails */
	batch->next = batch->count;
	for (int i = first; i < batch->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		batch->values[i] = sk_draw_value(batch->seqid);
	}
	qsort(batch->values + first, batch->count - first, sizeof(int64),
		  compare_values);
	batch->changes = sk_binding_get(batch->seqid)->changes;
	batch->next = first;
}

static int
compare_values(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/*
 * sk_ascending_rows
 *		How many values that are drawn in a query have to ascend.
 *
 * The call of nextval belongs to the query that "root" plans: the INSERT, if
 * it comes from a column default, or its SELECT.  Returns 0 if the values
 * need not ascend.
 */
int
sk_ascending_rows(PlannerInfo *root)
{
	if (root == NULL)
		return 0;
	if (root->parse->commandType != CMD_SELECT)
		return sk_insert_rows(root->parse, false);
	return root->parent_root == NULL ? 0 :
		sk_insert_rows(root->parent_root->parse, true);
}

/*
 * sk_insert_rows
 *		How many values that are drawn in an INSERT, or in the SELECT that is
 *		its source, have to ascend.
 */
int
sk_insert_rows(Query *insert, bool in_select)
{
	Query	   *source = sk_sorted_source(insert);
	List	   *rows;

	if (source == NULL)
		return 0;
	rows = sk_values_lists(source);
	if (list_length(rows) < 2 || list_length(rows) > SK_MAX_ASCENDING)
		return 0;

	/*
	 * Calls in other places are left alone: they are not evaluated once for
	 * each row, or not in order.  Without subqueries and CTEs in the INSERT,
	 * what is planned below it is its source.
	 */
	if (in_select &&
		(insert->hasSubLinks || insert->cteList != NIL ||
		 sk_draws((Node *) rows, NULL) || has_volatile_order(source)))
		return 0;
	if (sk_draws((Node *) list_make3(insert->returningList,
									 insert->onConflict,
									 insert->withCheckOptions), NULL))
		return 0;
	return list_length(rows);
}

/*
 * sk_sorted_source
 *		The sorted SELECT that is the only source of an INSERT with RETURNING.
 *
 * Returns NULL for any other query.
 */
Query *
sk_sorted_source(Query *insert)
{
	RangeTblEntry *rte;

	if (insert->commandType != CMD_INSERT || insert->returningList == NIL)
		return NULL;
	rte = only_relation(insert);
	if (rte == NULL || rte->rtekind != RTE_SUBQUERY ||
		rte->subquery->sortClause == NIL)
		return NULL;
	return rte->subquery;
}

/* What a query without WHERE reads, NULL if it is not a single relation. */
static RangeTblEntry *
only_relation(Query *query)
{
	int			varno = sk_only_relation(query);

	return varno == 0 ? NULL : rt_fetch(varno, query->rtable);
}

/*
 * sk_only_relation
 *		The number of what a query without WHERE reads, 0 if that is not a
 *		single relation.
 */
int
sk_only_relation(Query *query)
{
	Node	   *node = (Node *) query->jointree;

	while (node != NULL && IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;

		if (list_length(from->fromlist) != 1 || from->quals != NULL)
			return 0;
		node = linitial(from->fromlist);
	}
	if (node == NULL || !IsA(node, RangeTblRef))
		return 0;
	return ((RangeTblRef *) node)->rtindex;
}

/* Does a query give as many rows as it reads? */
static bool
keeps_rows(Query *query)
{
	return query->commandType == CMD_SELECT &&
		!query->hasAggs && !query->hasWindowFuncs && !query->hasTargetSRFs &&
		query->groupClause == NIL && query->groupingSets == NIL &&
		query->havingQual == NULL && query->distinctClause == NIL &&
		query->limitOffset == NULL && query->limitCount == NULL &&
		query->setOperations == NULL;
}

/*
 * sk_values_lists
 *		The rows of a VALUES list that a query gives one by one.
 *
 * Returns NIL for any other query.
 */
List *
sk_values_lists(Query *query)
{
	while (keeps_rows(query))
	{
		RangeTblEntry *rte = only_relation(query);

		if (rte == NULL)
			return NIL;
		if (rte->rtekind == RTE_VALUES)
			return rte->values_lists;
		if (rte->rtekind != RTE_SUBQUERY || rte->subquery->sortClause != NIL)
			return NIL;
		query = rte->subquery;
	}
	return NIL;
}

static bool
has_volatile_order(Query *query)
{
	return contain_volatile_functions((Node *)
									  get_sortgrouplist_exprs(query->sortClause,
															  query->targetList));
}

/*
 * sk_draws
 *		Is a value of a sequence drawn anywhere in an expression?
 */
bool
sk_draws(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, NextValueExpr) || sk_is_nextval(node))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, sk_draws, context, 0);
	return expression_tree_walker(node, sk_draws, context);
}

/*
 * sk_is_nextval
 *		Is it a call of core's nextval, or of ours?
 */
bool
sk_is_nextval(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;

	return IsA(node, FuncExpr) &&
		(call->funcid == F_NEXTVAL ||
		 call->funcid == sk_function(SK_FUNCTION_NEXTVAL));
}

/*
 * sk_ascending_draw
 *		The call that draws the next of so many values in ascending order.
 *
 * It takes the place of a call of nextval.
 */
Expr *
sk_ascending_draw(FuncExpr *call, int rows)
{
	Const	   *count = makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
								  Int32GetDatum(rows), false, true);

	Assert(rows >= 2 && rows <= SK_MAX_ASCENDING && sk_is_nextval((Node *) call));
	return sk_guard_draw(call, sk_make_call(SK_FUNCTION_ASCENDING_NEXTVAL, INT8OID,
											list_make2(copyObject(linitial(call->args)),
													   count)));
}
