/*-------------------------------------------------------------------------
 *
 * ascending_values.c
 *	  Values in ascending order that are drawn in the rows of a VALUES list.
 *
 * A client that names the sequence itself writes nextval into each row.  That
 * is as many calls as there are rows, which know nothing of each other.  If a
 * column consists of the same call in every row, and is used once and not for
 * sorting, then a draw can take the place of that use.
 *
 * src/sequence/redirect/ascending_values.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/syscache.h"

#include "sequence/redirect/ascending.h"
#include "sequence/sequence.h"

/* What takes the place of a column of a relation. */
typedef struct SkLiftedDraw
{
	int			varno;
	AttrNumber	column;
	Expr	   *draw;
} SkLiftedDraw;

static void ascend_insert(Query *insert);
static Node *ascend_mutator(Node *node, void *context);
static bool is_bound_draw(Node *node);
static void lift_draws(Query *insert);
static bool sorts_values(Query *insert);
static List *only_values(Query *query, int *varno);
static bool is_cell(List *rows, AttrNumber column, const Const *sequence);
static Const *drawn_sequence(List *row, AttrNumber column);
static bool is_same_in_all(List *rows, AttrNumber column);
static bool calls_sql(Node *node, void *context);
static bool is_sql(Oid function, void *context);
static TargetEntry *find_use(Query *query, AttrNumber column,
							 SkLiftedDraw *lifted);
static bool is_used(Query *query, int varno, AttrNumber column);
static TargetEntry *only_use(Query *query, int varno, AttrNumber column);
static Node *lift_mutator(Node *node, void *context);

/*
 * sk_values_rows
 *		How many values have to ascend that are drawn row by row in a VALUES list.
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
 * The same for an INSERT that is not being planned yet.
 *
 * The draw takes the place of the column in the SELECT that sorts, below which
 * there may be others.
 */
static void
lift_draws(Query *insert)
{
	Query	   *source = sk_sorted_source(insert);
	List	   *rows;

	if (!sorts_values(insert))
		return;
	rows = sk_values_lists(source);
	for (AttrNumber column = 1; column <= list_length(linitial(rows)); column++)
	{
		Const	   *sequence = drawn_sequence(linitial(rows), column);
		SkLiftedDraw lifted;
		TargetEntry *use;
		ListCell   *lc;

		if (sequence == NULL ||
			sk_sequence_label(DatumGetObjectId(sequence->constvalue)) == NULL ||
			!is_same_in_all(rows, column))
			continue;
		use = find_use(source, column, &lifted);
		if (use == NULL)
			continue;
		lifted.draw = sk_ascending_draw(list_nth(linitial(rows), column - 1),
										list_length(rows));
		use->expr = (Expr *) lift_mutator((Node *) use->expr, &lifted);
		foreach(lc, rows)
			lfirst(list_nth_cell(lfirst(lc), column - 1)) =
			makeNullConst(INT8OID, -1, InvalidOid);
	}
}

/*
 * The output of a query that alone uses a column of the VALUES list, passed on
 * by the queries below it; NULL if there is none.
 */
static TargetEntry *
find_use(Query *query, AttrNumber column, SkLiftedDraw *lifted)
{
	int			varno = sk_only_relation(query);
	RangeTblEntry *rte = rt_fetch(varno, query->rtable);

	if (rte->rtekind == RTE_SUBQUERY)
	{
		TargetEntry *below = find_use(rte->subquery, column, lifted);

		if (below == NULL || !IsA(below->expr, Var))
			return NULL;
		column = below->resno;
	}
	lifted->varno = varno;
	lifted->column = column;
	return only_use(query, varno, column);
}

/*
 * sk_lift_draw
 *		Draw where a column of the VALUES list is used.
 */
void
sk_lift_draw(Query *query, AttrNumber column, Expr *draw)
{
	SkLiftedDraw lifted = {0, column, draw};
	TargetEntry *use;

	(void) only_values(query, &lifted.varno);
	use = only_use(query, lifted.varno, column);
	if (use != NULL)
		use->expr = (Expr *) lift_mutator((Node *) use->expr, &lifted);
}

/* Is a query an INSERT whose source sorts a VALUES list, and draws in it only? */
static bool
sorts_values(Query *insert)
{
	Query	   *source = sk_sorted_source(insert);
	List	   *rows;

	if (source == NULL || insert->hasSubLinks || insert->cteList != NIL ||
		source->hasSubLinks)
		return false;
	rows = sk_values_lists(source);
	return list_length(rows) >= 2 && list_length(rows) <= SK_MAX_ASCENDING &&
		!sk_draws((Node *) source->targetList, NULL) &&
		!sk_draws((Node *) list_make3(insert->returningList, insert->onConflict,
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

	/* rows are in the text in their order */
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

	if (!sk_is_nextval(cell) || !IsA(linitial(((FuncExpr *) cell)->args), Const))
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

/*
 * sk_ascend_inserts
 *		Have values ascend where a query inserts rows in that form.
 */
void
sk_ascend_inserts(Query *query)
{
	ListCell   *lc;

	if (query->commandType == CMD_INSERT && query->returningList != NIL)
		ascend_insert(query);
	if (!query->hasModifyingCTE)
		return;
	foreach(lc, query->cteList)
		sk_ascend_inserts((Query *) lfirst_node(CommonTableExpr, lc)->ctequery);
}

static void
ascend_insert(Query *insert)
{
	int			rows = sk_insert_rows(insert, false);

	if (rows > 0)
		insert->targetList = (List *)
			ascend_mutator((Node *) insert->targetList, &rows);
	rows = sk_insert_rows(insert, true);
	if (rows > 0)
	{
		Query	   *source = sk_sorted_source(insert);

		source->targetList = (List *)
			ascend_mutator((Node *) source->targetList, &rows);
	}
	lift_draws(insert);
}

/* Calls in subqueries are left alone. */
static Node *
ascend_mutator(Node *node, void *context)
{
	if (node == NULL || IsA(node, Query))
		return node;
	if (is_bound_draw(node))
		return (Node *) sk_ascending_draw((FuncExpr *) node, *(int *) context);
	return expression_tree_mutator(node, ascend_mutator, context);
}

/* Is it a call of nextval, core's or ours, for a bound sequence? */
static bool
is_bound_draw(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	Const	   *sequence;

	if (!sk_is_nextval(node))
		return false;
	sequence = linitial(call->args);
	return IsA(sequence, Const) && !sequence->constisnull &&
		sk_sequence_label(DatumGetObjectId(sequence->constvalue)) != NULL;
}
