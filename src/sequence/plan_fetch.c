/*-------------------------------------------------------------------------
 *
 * plan_fetch.c
 *	  How calls of sequence functions are planned.
 *
 * The README has the forms, and says why ("How a value is made", "When ids have to
 * ascend").
 *
 * The planner hook comes before Citus, which plans the SELECT of an INSERT by itself,
 * and puts calls into the query.  The support function handles the statement that
 * loads the library, which comes before the hook, and calls in deeper queries.
 *
 * What GENERATED ALWAYS and OVERRIDING mean for a former identity column is applied
 * to the rewritten query, which has the default of a column where core would have
 * put it.  A call of nextval that a user writes, of the same sequence, looks the
 * same and is accepted.  COPY is not planned, and takes explicit values, as with
 * identity.  So does a restore.  Only for values that are not what the default
 * would give the label of a sequence is looked at.
 *
 * src/sequence/plan_fetch.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/sequence.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"
#include "spi/tree_marks.h"

/* What takes the place of a column of a relation. */
typedef struct SkLiftedFetch
{
	int			varno;
	AttrNumber	column;
	Expr	   *fetch;
} SkLiftedFetch;

/* The calls in the output of a query, and how many rows it has. */
typedef struct SkAscending
{
	Query	   *query;
	int			rows;
} SkAscending;

PG_FUNCTION_INFO_V1(spanner_sequence_support);

static planner_hook_type prev_planner_hook = NULL;

static Expr *plan_call(PlannerInfo *root, FuncExpr *call);
static Expr *plan_nextval(PlannerInfo *root, FuncExpr *call);
static Expr *guard_fetch(Query *query, FuncExpr *call, Expr *value);
static Expr *make_call(SkFunction function, Oid type, List *arguments);
static Expr *make_case(Expr *test, Expr *value);
static bool fills_identity(Query *query, Oid seqid);
static PlannedStmt *fetching_planner(SK_PLANNER_ARGS);
static void prepare_query(Query *query);
static void ascend_calls(Query *query, int rows);
static Node *ascend_mutator(Node *node, void *context);
static int	ascending_rows(PlannerInfo *root);
static int	insert_rows(Query *insert, bool in_select);
static bool sorts_values(Query *insert);
static Query *sorted_source(Query *insert);
static List *sorted_rows(Query *insert, Query *source);
static int	only_relation(Query *query);
static bool keeps_rows(Query *query);
static List *values_lists(Query *query);
static bool fetches(Node *node, void *context);
static bool sees_state(Node *node, void *context);
static bool function_sees_state(Oid function, void *context);
static bool is_nextval(Node *node);
static Const *constant_sequence(Node *node);
static bool is_bound_call(Node *node);
static Expr *ascending_fetch(Query *query, FuncExpr *call, int rows);
static bool lift_fetches(Query *source, int location);
static TargetEntry *find_use(Query *query, AttrNumber column,
							 SkLiftedFetch *lifted);
static void lift_fetch(Query *query, TargetEntry *use, SkLiftedFetch *lifted,
					   List *rows, AttrNumber column);
static bool is_same_in_all(List *rows, AttrNumber column);
static TargetEntry *only_use(Query *query, int varno, AttrNumber column);
static Node *lift_mutator(Node *node, void *context);
static bool map_identities(Node *node, void *context);
static Expr *map_identity(NextValueExpr *identity);
static void check_explicit_values(Query *query);
static void check_targets(Query *query, List *targets, CmdType command,
						  OverridingKind override, Relation rel);
static SkIdentity explicit_identity(Query *query, TargetEntry *target,
									Relation rel);
static List **find_values(Query *query, TargetEntry *target);
static bool fetches_from(Query *query, TargetEntry *target, Oid seqid);
static void put_default_back(Query *query, TargetEntry *target, Relation rel);

/*
 * sk_plan_fetch_init
 *		Install the planner hook.
 *
 * Plans that the session made before it loaded the library are made again.
 */
void
sk_plan_fetch_init(void)
{
	prev_planner_hook = planner_hook;
	planner_hook = fetching_planner;
	ResetPlanCache();
}

/*
 * Put a function of ours in the place of one of core, for which it asks the same
 * rights.  Returns NULL for a call that stays as it is.
 */
static Expr *
plan_call(PlannerInfo *root, FuncExpr *call)
{
	switch (call->funcid)
	{
		case F_CURRVAL:
			return make_call(SK_FUNCTION_CURRVAL, INT8OID, call->args);
		case F_LASTVAL:
			return make_call(SK_FUNCTION_LASTVAL, INT8OID, call->args);
		case F_SETVAL_REGCLASS_INT8:
			return make_call(SK_FUNCTION_SETVAL, INT8OID, call->args);
		case F_SETVAL_REGCLASS_INT8_BOOL:
			return make_call(SK_FUNCTION_SETVAL_CALLED, INT8OID, call->args);
		default:
			return plan_nextval(root, call);
	}
}

/*
 * A call of nextval, of core or of ours.  What is no constant, and anything but
 * a sequence, is left to our function, which reports it.
 */
static Expr *
plan_nextval(PlannerInfo *root, FuncExpr *call)
{
	Const	   *sequence = linitial(call->args);
	Query	   *query = root == NULL ? NULL : root->parse;
	NextValueExpr *next;
	Oid			seqid;

	if (!IsA(sequence, Const) || sequence->constisnull ||
		get_rel_relkind(DatumGetObjectId(sequence->constvalue)) != RELKIND_SEQUENCE)
		return call->funcid == F_NEXTVAL ?
			make_call(SK_FUNCTION_NEXTVAL, INT8OID, call->args) : NULL;

	seqid = DatumGetObjectId(sequence->constvalue);
	if (sk_binding_get(seqid)->am != NULL)
	{
		int			rows = ascending_rows(root);

		if (rows > 0)
			return ascending_fetch(query, call, rows);

		/*
		 * The planner has finished the output of the query by then, and looks
		 * at the first row of VALUES.  It asks for the calls in the other
		 * rows later: those are gone.  Were it to copy the rows before, they
		 * would only fetch values that nobody uses.
		 */
		if (root != NULL && root->parent_root != NULL && sequence->location >= 0 &&
			sorts_values(root->parent_root->parse) &&
			lift_fetches(query, sequence->location))
			return (Expr *) makeNullConst(INT8OID, -1, InvalidOid);
	}

	next = makeNode(NextValueExpr);
	next->seqid = seqid;
	next->typeId = INT8OID;
	return guard_fetch(query, call,
					   make_call(SK_FUNCTION_MAP_COUNTER, INT8OID,
								 list_make2(next, copyObject(sequence))));
}

/* A value that is fetched only by who may call nextval for it, if "query" does not decide that. */
static Expr *
guard_fetch(Query *query, FuncExpr *call, Expr *value)
{
	Const	   *sequence = linitial(call->args);
	NullTest   *test;

	Assert(IsA(sequence, Const) && !sequence->constisnull);
	/* nobody is asked again by what fetches */
	castNode(FuncExpr, value)->location = SK_OUR_LOCATION;
	/* a default calls core's nextval; whoever calls ours has written that */
	if (query != NULL && call->funcid == F_NEXTVAL &&
		fills_identity(query, DatumGetObjectId(sequence->constvalue)))
		return value;
	test = makeNode(NullTest);
	test->arg = make_call(SK_FUNCTION_MAY_DRAW, RECORDOID,
						  list_make2(copyObject(sequence),
									 sk_make_oid(REGPROCEDUREOID, call->funcid)));
	test->nulltesttype = IS_NULL;
	test->location = -1;
	return make_case((Expr *) test, value);
}

/*
 * A call of one of our functions.
 */
static Expr *
make_call(SkFunction function, Oid type, List *arguments)
{
	return (Expr *) makeFuncExpr(sk_function(function), type, arguments,
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* CASE WHEN test THEN value END */
static Expr *
make_case(Expr *test, Expr *value)
{
	CaseExpr   *result = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = test;
	when->result = value;
	when->location = -1;
	result->casetype = INT8OID;
	result->args = list_make1(when);
	result->defresult = (Expr *) makeNullConst(INT8OID, -1, InvalidOid);
	result->location = -1;
	return (Expr *) result;
}

/*
 * Does a query write the former identity column that a sequence belongs to?
 * Then the executor asks for INSERT on the table or for UPDATE of the column
 * before it evaluates anything, of the owners of the views that the query came
 * through.
 *
 * What this is found by, the label and the owner of the sequence and the
 * parents of the table, makes the plan anew when it changes.
 */
static bool
fills_identity(Query *query, Oid seqid)
{
	SkBinding  *binding;
	List	   *targets;
	Oid			relid;
	char	   *name;
	AttrNumber	attnum;
	ListCell   *lc;

	if (query->commandType != CMD_INSERT && query->commandType != CMD_UPDATE &&
		query->commandType != CMD_MERGE)
		return false;
	binding = sk_binding_get(seqid);
	if (binding->options == NULL ||
		binding->options->identity == SK_IDENTITY_NONE)
		return false;
	relid = rt_fetch(query->resultRelation, query->rtable)->relid;
	name = sk_identity_name(seqid, relid);
	if (name == NULL)
		return false;

	/* an INSERT has the columns that get their default here as well */
	attnum = get_attnum(relid, name);
	targets = query->commandType == CMD_MERGE ? NIL : list_copy(query->targetList);
	foreach(lc, query->mergeActionList)
		targets = list_concat(targets, lfirst_node(MergeAction, lc)->targetList);
	foreach(lc, targets)
	{
		TargetEntry *target = lfirst(lc);

		if (target->resno == attnum && !target->resjunk)
			return true;
	}
	return false;
}

/* What only reads has no identity column to fill, and no rows to return in order. */
static PlannedStmt *
fetching_planner(SK_PLANNER_ARGS)
{
	if ((parse->commandType != CMD_SELECT || parse->hasModifyingCTE) &&
		sk_bindings_exist())
	{
		prepare_query(parse);
		(void) map_identities((Node *) parse, NULL);
	}

	if (prev_planner_hook)
		return prev_planner_hook(SK_PLANNER_PASS);
	return standard_planner(SK_PLANNER_PASS);
}

/* A query that is about to be planned, and those in WITH that write. */
static void
prepare_query(Query *query)
{
	ListCell   *lc;

	/* first: a call that was put into the query does not look like a default */
	if (!sk_restoring())
		check_explicit_values(query);
	ascend_calls(query, insert_rows(query, false));
	ascend_calls(sorted_source(query), insert_rows(query, true));
	if (sorts_values(query))
		(void) lift_fetches(sorted_source(query), -1);
	foreach(lc, query->hasModifyingCTE ? query->cteList : NIL)
		prepare_query((Query *) lfirst_node(CommonTableExpr, lc)->ctequery);
}

/* Have what is fetched in the output of a query ascend, if that has rows. */
static void
ascend_calls(Query *query, int rows)
{
	SkAscending ascending = {query, rows};

	if (rows > 0)
		query->targetList = (List *) ascend_mutator((Node *) query->targetList,
													&ascending);
}

/* Calls in subqueries are left alone. */
static Node *
ascend_mutator(Node *node, void *context)
{
	SkAscending *ascending = context;

	if (node == NULL || IsA(node, Query))
		return node;
	if (is_bound_call(node))
		return (Node *) ascending_fetch(ascending->query, (FuncExpr *) node,
										ascending->rows);
	return expression_tree_mutator(node, ascend_mutator, context);
}

/*
 * How many values that are fetched in a query have to ascend.
 *
 * The call of nextval belongs to the query that "root" plans: the INSERT, if
 * it comes from a column default, or its SELECT.  Returns 0 if the values
 * need not ascend.
 */
static int
ascending_rows(PlannerInfo *root)
{
	if (root == NULL)
		return 0;
	if (root->parse->commandType != CMD_SELECT)
		return insert_rows(root->parse, false);
	return root->parent_root == NULL ? 0 :
		insert_rows(root->parent_root->parse, true);
}

/*
 * How many values that are fetched in an INSERT, or in the SELECT that is its
 * source, have to ascend.
 *
 * Calls in other places are left alone: they are not evaluated once for each
 * row, or not in order.  Without subqueries and CTEs in the INSERT, what is
 * planned below it is its source.
 */
static int
insert_rows(Query *insert, bool in_select)
{
	Query	   *source = sorted_source(insert);
	List	   *rows = sorted_rows(insert, source);

	if (rows != NIL && in_select &&
		(insert->hasSubLinks || insert->cteList != NIL ||
		 fetches((Node *) rows, NULL) ||
		 contain_volatile_functions((Node *)
									get_sortgrouplist_exprs(source->sortClause,
															source->targetList))))
		return 0;
	return list_length(rows);
}

/*
 * Does an INSERT sort the rows of a VALUES list, and fetch in these only?
 *
 * A fetch that moves from the rows to the SELECT comes later than what else the
 * rows evaluate.  So nothing in them may see which value was fetched last.
 */
static bool
sorts_values(Query *insert)
{
	Query	   *source = sorted_source(insert);

	return sorted_rows(insert, source) != NIL &&
		!insert->hasSubLinks && insert->cteList == NIL &&
		!fetches((Node *) source->targetList, NULL) &&
		!sees_state((Node *) source, NULL);
}

/*
 * The sorted SELECT that is the only source of an INSERT with RETURNING, NULL
 * for any other query.
 */
static Query *
sorted_source(Query *insert)
{
	RangeTblEntry *rte;
	int			varno;

	if (insert->commandType != CMD_INSERT || insert->returningList == NIL)
		return NULL;
	varno = only_relation(insert);
	if (varno == 0)
		return NULL;
	rte = rt_fetch(varno, insert->rtable);
	return rte->rtekind == RTE_SUBQUERY && rte->subquery->sortClause != NIL ?
		rte->subquery : NULL;
}

/*
 * The rows of the VALUES list that the source of an INSERT sorts.  NIL if there
 * are none, and if what comes after them fetches as well.
 */
static List *
sorted_rows(Query *insert, Query *source)
{
	List	   *rows = source == NULL ? NIL : values_lists(source);

	if (list_length(rows) < 2 || list_length(rows) > SK_MAX_ASCENDING ||
		fetches((Node *) list_make3(insert->returningList, insert->onConflict,
									insert->withCheckOptions), NULL))
		return NIL;
	return rows;
}

/*
 * The number of what a query without WHERE reads, 0 if that is not a single
 * relation.
 */
static int
only_relation(Query *query)
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
 * The rows of a VALUES list that a query returns one by one, NIL for any other
 * query.
 */
static List *
values_lists(Query *query)
{
	while (keeps_rows(query))
	{
		int			varno = only_relation(query);
		RangeTblEntry *rte;

		if (varno == 0)
			return NIL;
		rte = rt_fetch(varno, query->rtable);
		if (rte->rtekind == RTE_VALUES)
			return rte->values_lists;
		if (rte->rtekind != RTE_SUBQUERY || rte->subquery->sortClause != NIL)
			return NIL;
		query = rte->subquery;
	}
	return NIL;
}

/* Is a value of a sequence fetched anywhere in an expression? */
static bool
fetches(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, NextValueExpr) || is_nextval(node))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, fetches, context, 0);
	return expression_tree_walker(node, fetches, context);
}

/* Can an expression, or what a query evaluates, depend on what was fetched before? */
static bool
sees_state(Node *node, void *context)
{
	if (node == NULL || constant_sequence(node) != NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, sees_state, context, 0);
	return IsA(node, SubLink) ||
		check_functions_in_node(node, function_sees_state, NULL) ||
		expression_tree_walker(node, sees_state, context);
}

/*
 * Is a function volatile for another reason than that it makes a random value or
 * reads the clock?  Those are the ones in C that need no argument: a client sends
 * them beside nextval, and counts on ascending ids then, too.
 */
static bool
function_sees_state(Oid function, void *context)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	result = form->provolatile == PROVOLATILE_VOLATILE &&
		(function == F_LASTVAL || function == sk_function(SK_FUNCTION_LASTVAL) ||
		 form->pronargs > 0 ||
		 (form->prolang != INTERNALlanguageId && form->prolang != ClanguageId));
	ReleaseSysCache(tuple);
	return result;
}

/* Is it a call of core's nextval, or of ours? */
static bool
is_nextval(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;

	return IsA(node, FuncExpr) &&
		(call->funcid == F_NEXTVAL ||
		 call->funcid == sk_function(SK_FUNCTION_NEXTVAL));
}

/* The sequence that a call of nextval names by a constant, or NULL. */
static Const *
constant_sequence(Node *node)
{
	Const	   *sequence;

	if (!is_nextval(node))
		return NULL;
	sequence = linitial(((FuncExpr *) node)->args);
	return IsA(sequence, Const) && !sequence->constisnull ? sequence : NULL;
}

static bool
is_bound_call(Node *node)
{
	Const	   *sequence = constant_sequence(node);

	return sequence != NULL &&
		sk_sequence_label(DatumGetObjectId(sequence->constvalue)) != NULL;
}

/*
 * The call that fetches the next of so many values in ascending order, in the
 * place of a call of nextval in a query.
 */
static Expr *
ascending_fetch(Query *query, FuncExpr *call, int rows)
{
	Const	   *count = makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
								  Int32GetDatum(rows), false, true);

	Assert(rows >= 2 && rows <= SK_MAX_ASCENDING && is_nextval((Node *) call));
	return guard_fetch(query, call,
					   make_call(SK_FUNCTION_ASCENDING_NEXTVAL, INT8OID,
								 list_make2(copyObject(linitial(call->args)),
											count)));
}

/*
 * Have fetches take the place of the columns of a VALUES list that are a call of
 * nextval in all rows.
 *
 * They are in the SELECT that sorts, below which there may be others.  Where in
 * the text it stands tells one call from another: is it one of these whose
 * argument is at "location"?  The text of a function in SQL has places of its own,
 * but one that fetches is volatile, and sees_state() has seen it.
 */
static bool
lift_fetches(Query *source, int location)
{
	List	   *rows = values_lists(source);
	bool		result = false;

	for (AttrNumber column = 1;
		 rows != NIL && column <= list_length(linitial(rows)); column++)
	{
		Node	   *call = list_nth(linitial(rows), column - 1);
		SkLiftedFetch lifted;
		TargetEntry *use;

		if (!is_bound_call(call) || !is_same_in_all(rows, column))
			continue;
		use = find_use(source, column, &lifted);
		if (use == NULL)
			continue;
		/* the call is gone from the rows after that */
		result |= constant_sequence(call)->location == location;
		lift_fetch(source, use, &lifted, rows, column);
	}
	return result;
}

/*
 * The output of a query that alone uses a column of the VALUES list, passed on
 * by the queries below it; NULL if there is none.
 */
static TargetEntry *
find_use(Query *query, AttrNumber column, SkLiftedFetch *lifted)
{
	int			varno = only_relation(query);
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

/* Fetch where a column of the VALUES list is used, and no longer in its rows. */
static void
lift_fetch(Query *query, TargetEntry *use, SkLiftedFetch *lifted, List *rows,
		   AttrNumber column)
{
	ListCell   *lc;

	lifted->fetch = ascending_fetch(query,
									list_nth_node(FuncExpr, linitial(rows), column - 1),
									list_length(rows));
	use->expr = (Expr *) lift_mutator((Node *) use->expr, lifted);
	foreach(lc, rows)
	{
		lfirst(list_nth_cell(lfirst(lc), column - 1)) =
			makeNullConst(INT8OID, -1, InvalidOid);
	}
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

			/* a whole row has the column as well */
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

/* Put a fetch where a column was. */
static Node *
lift_mutator(Node *node, void *context)
{
	SkLiftedFetch *lifted = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == lifted->varno &&
		((Var *) node)->varattno == lifted->column)
		return (Node *) lifted->fetch;
	return expression_tree_mutator(node, lift_mutator, context);
}

/*
 * Map the fetches of identity columns in a query.  The rewriter puts each into a
 * target or a row of VALUES.  What is mapped is left alone, so that another hook
 * may plan a query twice.
 */
static bool
map_identities(Node *node, void *context)
{
	TargetEntry *target = (TargetEntry *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, map_identities, context, 0);
	if (IsA(node, FuncExpr) &&
		((FuncExpr *) node)->funcid == sk_function(SK_FUNCTION_MAP_COUNTER))
		return false;
	if (IsA(node, TargetEntry) && IsA(target->expr, NextValueExpr))
		target->expr = map_identity((NextValueExpr *) target->expr);
	foreach(lc, IsA(node, List) ? (List *) node : NIL)
	{
		if (lfirst(lc) != NULL && IsA(lfirst(lc), NextValueExpr))
			lfirst(lc) = map_identity(lfirst(lc));
	}
	return expression_tree_walker(node, map_identities, context);
}

/* As in core, an identity column needs no right on the sequence. */
static Expr *
map_identity(NextValueExpr *identity)
{
	NextValueExpr *counter = copyObject(identity);
	Expr	   *value;

	/* the mapped value gets the type of the column, not the counter */
	counter->typeId = INT8OID;
	value = make_call(SK_FUNCTION_MAP_COUNTER, INT8OID,
					  list_make2(counter, sk_make_oid(REGCLASSOID, identity->seqid)));
	if (identity->typeId == INT8OID)
		return value;
	return (Expr *) makeFuncExpr(identity->typeId == INT4OID ?
								 F_INT4_INT8 : F_INT2_INT8,
								 identity->typeId, list_make1(value),
								 InvalidOid, InvalidOid,
								 COERCE_IMPLICIT_CAST);
}

/*
 * Refuse explicit values for GENERATED ALWAYS columns, and apply OVERRIDING USER
 * VALUE.
 */
static void
check_explicit_values(Query *query)
{
	Relation	rel;
	ListCell   *lc;

	if (query->commandType != CMD_INSERT && query->commandType != CMD_UPDATE &&
		query->commandType != CMD_MERGE)
		return;
	/* the rewriter has locked it, and expanded its views */
	rel = relation_open(rt_fetch(query->resultRelation, query->rtable)->relid,
						NoLock);
	if (query->commandType != CMD_MERGE)
		check_targets(query, query->targetList, query->commandType, query->override,
					  rel);
	if (query->onConflict != NULL)
		check_targets(query, query->onConflict->onConflictSet, CMD_UPDATE,
					  OVERRIDING_NOT_SET, rel);
	foreach(lc, query->mergeActionList)
	{
		MergeAction *action = lfirst(lc);

		check_targets(query, action->targetList, action->commandType,
					  action->override, rel);
	}
	relation_close(rel, NoLock);
}

/* What one part of a query inserts or updates. */
static void
check_targets(Query *query, List *targets, CmdType command,
			  OverridingKind override, Relation rel)
{
	ListCell   *lc;

	foreach(lc, targets)
	{
		TargetEntry *target = lfirst(lc);
		SkIdentity	identity = explicit_identity(query, target, rel);
		char	   *name;

		if (identity == SK_IDENTITY_NONE || override == OVERRIDING_SYSTEM_VALUE)
			continue;
		if (override == OVERRIDING_USER_VALUE)
		{
			put_default_back(query, target, rel);
			continue;
		}
		if (identity != SK_IDENTITY_ALWAYS)
			continue;
		name = get_attname(RelationGetRelid(rel), target->resno, false);
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 command == CMD_INSERT ?
				 errmsg("cannot insert a non-DEFAULT value into column \"%s\"", name) :
				 errmsg("column \"%s\" can only be updated to DEFAULT", name),
				 errdetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.",
						   name),
				 command == CMD_INSERT ?
				 errhint("Use OVERRIDING SYSTEM VALUE to override.") : 0));
	}
}

/*
 * The identity of a column that a query sets to something else than the next
 * value of its sequence; SK_IDENTITY_NONE for any other column.
 */
static SkIdentity
explicit_identity(Query *query, TargetEntry *target, Relation rel)
{
	Form_pg_attribute column;
	Oid			seqid;

	if (target->resjunk)
		return SK_IDENTITY_NONE;
	column = TupleDescAttr(RelationGetDescr(rel), target->resno - 1);
	if (!column->atthasdef)
		return SK_IDENTITY_NONE;
	/* cheap, and for most columns the answer: no catalog is read so far */
	seqid = sk_fetched_sequence(build_column_default(rel, target->resno), InvalidOid);
	if (!OidIsValid(seqid) || fetches_from(query, target, seqid))
		return SK_IDENTITY_NONE;

	return sk_column_identity(seqid, RelationGetRelid(rel), NameStr(column->attname));
}

/* The rows of VALUES that a target comes from, or NULL. */
static List **
find_values(Query *query, TargetEntry *target)
{
	Var		   *var = (Var *) target->expr;
	RangeTblEntry *rte;

	if (!IsA(var, Var) || var->varlevelsup > 0)
		return NULL;
	rte = rt_fetch(var->varno, query->rtable);
	return rte->rtekind == RTE_VALUES ? &rte->values_lists : NULL;
}

/* Is a column set to the next value of a sequence, in each row? */
static bool
fetches_from(Query *query, TargetEntry *target, Oid seqid)
{
	List	  **values = find_values(query, target);
	ListCell   *lc;

	if (values == NULL)
		return sk_fetched_sequence((Node *) target->expr, InvalidOid) == seqid;
	foreach(lc, *values)
	{
		if (sk_fetched_sequence(list_nth(lfirst(lc), ((Var *) target->expr)->varattno - 1),
								InvalidOid) != seqid)
			return false;
	}
	return true;
}

/* What the user gave is not evaluated, not even in some of the rows. */
static void
put_default_back(Query *query, TargetEntry *target, Relation rel)
{
	List	  **values = find_values(query, target);
	ListCell   *lc;

	foreach(lc, values != NULL ? *values : NIL)
	{
		ListCell   *cell = list_nth_cell(lfirst(lc), ((Var *) target->expr)->varattno - 1);

		Assert(list_length(lfirst(lc)) == list_length(linitial(*values)));
		lfirst(cell) = makeNullConst(exprType(lfirst(cell)), -1, InvalidOid);
	}
	target->expr = (Expr *) build_column_default(rel, target->resno);
}

/*
 * spanner_internal.sequence_support(internal) returns internal
 *
 * Planner support function of spanner.nextval() and of core's nextval,
 * currval, lastval and setval.
 */
Datum
spanner_sequence_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;

		PG_RETURN_POINTER(plan_call(simplify->root, simplify->fcall));
	}
	PG_RETURN_POINTER(NULL);
}
