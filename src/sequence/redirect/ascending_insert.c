/*-------------------------------------------------------------------------
 *
 * ascending_insert.c
 *	  Values in ascending order for an INSERT that is not planned as a whole.
 *
 * Citus plans the SELECT of an INSERT by itself, with the defaults in it, so
 * the support function does not see what it belongs to.  The planner hook is
 * called before Citus, and puts spanner_internal.ascending_nextval() into the query.
 * Without the hook, in the statement that loads the library, and for calls in
 * deeper queries there is the support function: see ascending.c.
 *
 * src/sequence/redirect/ascending_insert.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "sequence/redirect/ascending.h"
#include "sequence/redirect/sequence_support.h"
#include "sequence/sequence.h"

static void ascend_insert(Query *insert);
static Node *ascend_mutator(Node *node, void *context);
static bool is_bound_draw(Node *node);

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
	sk_lift_draws(insert);
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
