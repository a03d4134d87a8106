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
 *		spanner.ascending_nextval('s', number of rows)
 *
 * which draws for all rows at the first one, sorts the values, and hands them
 * out one by one.  They are the values that would have been drawn anyway.
 *
 * The values wait in fn_extra, that is, for as long as one execution of the
 * statement lasts.  What is left over then is a gap.
 *
 * src/sequence/redirect/ascending.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "sequence/binding.h"
#include "sequence/extension.h"
#include "sequence/redirect/ascending.h"
#include "sequence/sequence_functions.h"

/*
 * More rows than this draw one by one.  Their VALUES list takes far more
 * memory than their values, so this is only for direct calls.
 */
#define SK_MAX_BATCH 1000000

PG_FUNCTION_INFO_V1(spanner_ascending_nextval);

/* What was drawn ahead by one call in one execution of a statement. */
typedef struct SkBatch
{
	Oid			seqid;
	uint64		changes;		/* those of the binding, after the draw */
	int			next;			/* the first that has not been handed out */
	int			count;
	int64		values[FLEXIBLE_ARRAY_MEMBER];
} SkBatch;

/* What takes the place of a column of a VALUES list. */
typedef struct SkLiftedDraw
{
	int			varno;
	AttrNumber	column;
	Expr	   *draw;
} SkLiftedDraw;

static SkBatch *make_batch(MemoryContext context, Oid seqid, int count);
static void draw_batch(SkBatch *batch, int first);
static int	compare_values(const void *a, const void *b);
static Query *sorted_source(Query *insert);
static RangeTblEntry *only_relation(Query *query);
static bool keeps_rows(Query *query);
static List *values_lists(Query *query);
static bool has_volatile_order(Query *query);
static bool draws(Node *node, void *context);
static bool is_nextval(Node *node);
static bool sorts_values(Query *insert);
static List *only_values(Query *query, int *varno);
static bool is_cell(List *rows, AttrNumber column, const Const *sequence);
static Const *drawn_sequence(List *row, AttrNumber column);
static bool is_same_in_all(List *rows, AttrNumber column);
static bool calls_sql(Node *node, void *context);
static bool is_sql(Oid function, void *context);
static bool is_used(Query *query, int varno, AttrNumber column);
static TargetEntry *only_use(Query *query, int varno, AttrNumber column);
static Node *lift_mutator(Node *node, void *context);

/*
 * spanner.ascending_nextval(seq regclass, rows integer) returns bigint
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

	if (count < 1 || count > SK_MAX_BATCH)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of rows must be between 1 and %d",
						SK_MAX_BATCH),
				 errhint("Use spanner.nextval() to draw one value.")));

	if (batch == NULL || batch->seqid != seqid || batch->count != count)
	{
		batch = make_batch(fcinfo->flinfo->fn_mcxt, seqid, count);
		fcinfo->flinfo->fn_extra = batch;
	}
	if (batch->next == count)
		draw_batch(batch, 0);
	else if (batch->changes != sk_binding_get(seqid)->changes)
		draw_batch(batch, batch->next);

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
 * Draw the values from "first" on.  Not always all of them: the transaction
 * itself may change the binding while it inserts, and what follows has to
 * obey.
 */
static void
draw_batch(SkBatch *batch, int first)
{
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
	bool		in_select;
	Query	   *insert;
	Query	   *source;
	List	   *rows;

	if (root == NULL)
		return 0;
	in_select = root->parse->commandType == CMD_SELECT;
	if (in_select && root->parent_root == NULL)
		return 0;
	insert = in_select ? root->parent_root->parse : root->parse;
	source = sorted_source(insert);
	if (source == NULL)
		return 0;
	rows = values_lists(source);
	if (list_length(rows) < 2 || list_length(rows) > SK_MAX_BATCH)
		return 0;

	/*
	 * Calls in other places are left alone: they are not evaluated once for
	 * each row, or not in order.  Without subqueries and CTEs in the INSERT,
	 * what is planned below it is its source.
	 */
	if (in_select &&
		(insert->hasSubLinks || insert->cteList != NIL ||
		 draws((Node *) rows, NULL) || has_volatile_order(source)))
		return 0;
	if (draws((Node *) list_make3(insert->returningList,
								  insert->onConflict,
								  insert->withCheckOptions), NULL))
		return 0;
	return list_length(rows);
}

/*
 * The sorted SELECT that is the only source of an INSERT with RETURNING, NULL
 * for any other query.
 */
static Query *
sorted_source(Query *insert)
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
	Node	   *node = (Node *) query->jointree;

	while (node != NULL && IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;

		if (list_length(from->fromlist) != 1 || from->quals != NULL)
			return NULL;
		node = linitial(from->fromlist);
	}
	if (node == NULL || !IsA(node, RangeTblRef))
		return NULL;
	return rt_fetch(((RangeTblRef *) node)->rtindex, query->rtable);
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

/* The rows of a VALUES list that a query gives one by one; NIL if it is not so. */
static List *
values_lists(Query *query)
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

/* Is a value of a sequence drawn anywhere in an expression? */
static bool
draws(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, NextValueExpr) || is_nextval(node))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, draws, context, 0);
	return expression_tree_walker(node, draws, context);
}

/* A call of core's nextval, or of ours? */
static bool
is_nextval(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;

	return IsA(node, FuncExpr) &&
		(call->funcid == F_NEXTVAL ||
		 call->funcid == sk_function(SK_FUNCTION_NEXTVAL));
}

/*
 * sk_values_rows
 *		How many values have to ascend that are drawn row by row in a VALUES list.
 *
 * A client that names the sequence itself writes nextval into each row of the
 * VALUES list.  That is as many calls as there are rows, which know nothing
 * of each other.  If a column consists of the same call in every row, and is
 * used once and not for sorting, then a draw can take the place of that use.
 *
 * "sequence" is the argument of a call of nextval that "root" plans.  Where in
 * the text it stands tells whether the call is one of these, and of which
 * column.  Returns 0 if it is not.
 */
int
sk_values_rows(PlannerInfo *root, const Const *sequence, AttrNumber *column)
{
	int			varno;
	List	   *rows;

	if (root == NULL || root->parent_root == NULL || sequence->location < 0 ||
		!sorts_values(root->parent_root->parse))
		return 0;
	rows = only_values(root->parse, &varno);
	for (*column = 1;
		 rows != NIL && *column <= list_length(linitial(rows)); (*column)++)
	{
		TargetEntry *use;

		if (!is_cell(rows, *column, sequence))
			continue;

		/* it is no longer used if another row was here before */
		if (!is_used(root->parse, varno, *column))
			return list_length(rows);
		use = only_use(root->parse, varno, *column);
		if (use == NULL || !is_same_in_all(rows, *column) ||
			calls_sql((Node *) rows, NULL) ||
			calls_sql((Node *) root->parse->targetList, NULL))
			return 0;
		return list_length(rows);
	}
	return 0;
}

/*
 * sk_lift_draw
 *		Draw where a column of the VALUES list is used.
 */
void
sk_lift_draw(PlannerInfo *root, AttrNumber column, Expr *draw)
{
	SkLiftedDraw lifted = {0, column, draw};
	TargetEntry *use;

	(void) only_values(root->parse, &lifted.varno);
	use = only_use(root->parse, lifted.varno, column);
	if (use != NULL)
		use->expr = (Expr *) lift_mutator((Node *) use->expr, &lifted);
}

/* Is a query an INSERT whose source sorts a VALUES list, and draws in it only? */
static bool
sorts_values(Query *insert)
{
	Query	   *source = sorted_source(insert);
	List	   *rows;

	if (source == NULL || insert->hasSubLinks || insert->cteList != NIL ||
		source->hasSubLinks)
		return false;
	rows = values_lists(source);
	return list_length(rows) >= 2 && list_length(rows) <= SK_MAX_BATCH &&
		!draws((Node *) source->targetList, NULL) &&
		!draws((Node *) list_make3(insert->returningList, insert->onConflict,
								   insert->withCheckOptions), NULL);
}

/* The rows of the only VALUES list that a query reads, and its number. */
static List *
only_values(Query *query, int *varno)
{
	List	   *result = NIL;
	ListCell   *lc;

	*varno = 0;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind != RTE_VALUES)
			continue;
		if (result != NIL)
			return NIL;
		result = rte->values_lists;
		*varno = foreach_current_index(lc) + 1;
	}
	return result;
}

/* Does a call with this argument make up a column in one of the rows? */
static bool
is_cell(List *rows, AttrNumber column, const Const *sequence)
{
	int			low = 0;
	int			high = list_length(rows) - 1;

	/* rows stand in the text in their order */
	while (low <= high)
	{
		int			middle = (low + high) / 2;
		Const	   *other = drawn_sequence(list_nth(rows, middle), column);

		if (other == NULL)
			return false;
		if (other->location == sequence->location)
			return true;
		if (other->location < sequence->location)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return false;
}

/* The constant sequence that a column of a row draws from; NULL if it does not. */
static Const *
drawn_sequence(List *row, AttrNumber column)
{
	Node	   *cell = list_nth(row, column - 1);

	if (!is_nextval(cell) || !IsA(linitial(((FuncExpr *) cell)->args), Const))
		return NULL;
	return linitial(((FuncExpr *) cell)->args);
}

static bool
is_same_in_all(List *rows, AttrNumber column)
{
	Node	   *first = list_nth(linitial(rows), column - 1);
	ListCell   *lc;

	foreach(lc, rows)
	{
		CHECK_FOR_INTERRUPTS();
		if (!equal(list_nth(lfirst(lc), column - 1), first))
			return false;
	}
	return true;
}

/* A function in SQL may be inlined, and its text has places of its own. */
static bool
calls_sql(Node *node, void *context)
{
	return node != NULL &&
		(check_functions_in_node(node, is_sql, NULL) ||
		 expression_tree_walker(node, calls_sql, context));
}

static bool
is_sql(Oid function, void *context)
{
	HeapTuple	tuple;
	bool		result;

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == SQLlanguageId;
	ReleaseSysCache(tuple);
	return result;
}

/* Does the output of a query refer to a column? */
static bool
is_used(Query *query, int varno, AttrNumber column)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) query->targetList, 0))
	{
		Var		   *var = lfirst(lc);

		if (var->varno == varno &&
			(var->varattno == column || var->varattno == InvalidAttrNumber))
			return true;
	}
	return false;
}

/*
 * The output of a query that alone refers to a column, once; NULL if there
 * is none, or if the query sorts by it.
 */
static TargetEntry *
only_use(Query *query, int varno, AttrNumber column)
{
	TargetEntry *result = NULL;
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst(lc);
		ListCell   *lc2;

		foreach(lc2, pull_var_clause((Node *) entry->expr, 0))
		{
			Var		   *var = lfirst(lc2);

			if (var->varno != varno ||
				(var->varattno != column && var->varattno != InvalidAttrNumber))
				continue;
			if (var->varattno != column || result != NULL ||
				entry->ressortgroupref != 0)
				return NULL;
			result = entry;
		}
	}
	return result;
}

/* Put a draw where a column was. */
static Node *
lift_mutator(Node *node, void *context)
{
	SkLiftedDraw *lifted = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == lifted->varno &&
		((Var *) node)->varattno == lifted->column)
		return (Node *) lifted->draw;
	return expression_tree_mutator(node, lift_mutator, context);
}
