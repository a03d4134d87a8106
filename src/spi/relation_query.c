/*-------------------------------------------------------------------------
 *
 * relation_query.c
 *	  Asking about relations that are known by their OIDs.
 *
 * Nothing is looked up by name again once the text has been analyzed, as a cached
 * plan would be: to rename a schema takes no lock on what is in it.
 *
 * Whose rights: the text is analyzed, and privileges are checked, as the
 * current user.  What is planned and run calls functions that the owner has
 * chosen, so that is done as the owner; owner_rights.c says how.
 *
 * src/spi/relation_query.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parse_node.h"
#include "parser/parser.h"
#include "rewrite/rewriteManip.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"
#include "spi/relation_query.h"

/* What the walk over an analyzed query needs, for the level that it is at. */
typedef struct Level
{
	const SkRelationQuery *source;
	Query	   *query;
} Level;

static Query *analyze(const SkRelationQuery *source);
static void stand_in_for_expressions(ParseState *pstate, void *arg);
static Node *stand_in(ParseState *pstate, ParamRef *ref);
static bool check_tree(Node *node, void *context);
static void check_relations(Query *query, const SkRelationQuery *source);
static bool is_foreign_function(Oid funcid, void *context);
static Node *put_expressions(Node *node, void *context);
static Node *stored_expression(const Level *level, const Param *param);
static bool check_privileges(Node *node, void *context);
static bool has_policies(const SkRelationQuery *source);
static TupleTableSlot *run(Query *query, const char *text, Tuplestorestate *rows,
						   MemoryContext caller);

/*
 * sk_query_relation
 *		Run a query, and return its rows.
 *
 * *slot is for reading them with tuplestore_gettupleslot().  Both are the
 * caller's to free.  The query sees all that is committed, whatever the
 * snapshot of the transaction, and what the current transaction has done.
 *
 * Raises an error if the current user may not read what is asked for.
 */
Tuplestorestate *
sk_query_relation(const SkRelationQuery *source, TupleTableSlot **slot)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(caller, "query of a relation",
											   ALLOCSET_DEFAULT_SIZES);
	Tuplestorestate *rows;
	SkOwnerScope scope;
	Query	   *query;
	ListCell   *lc;

	/* a cursor may read what a function returns backwards */
	rows = tuplestore_begin_heap(true, false, work_mem);
	MemoryContextSwitchTo(work);
	query = analyze(source);
	(void) check_privileges((Node *) query, NULL);
	foreach(lc, source->relids)
	{
		Assert(sk_relation_owner(lfirst_oid(lc)) ==
			   sk_relation_owner(linitial_oid(source->relids)));
		sk_check_one_owner(lfirst_oid(lc));
	}

	/* policies are for the one who asks; whose they are has been looked at */
	if (has_policies(source))
		*slot = run(query, source->text, rows, caller);
	else
	{
		/* from here on code that the owner has chosen can run */
		sk_owner_enter(&scope, linitial_oid(source->relids));
		*slot = run(query, source->text, rows, caller);
		sk_owner_exit(&scope);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
	return rows;
}

/*
 * sk_query_number
 *		Run a query that gives one bigint; 0 if that is NULL.
 */
int64
sk_query_number(const SkRelationQuery *query)
{
	TupleTableSlot *slot;
	Tuplestorestate *rows = sk_query_relation(query, &slot);
	int64		result;
	bool		isnull;

	if (!tuplestore_gettupleslot(rows, true, false, slot))
		elog(ERROR, "query returned no row: %s", query->text);
	result = DatumGetInt64(slot_getattr(slot, 1, &isnull));
	if (isnull)
		result = 0;
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
	return result;
}

/*
 * sk_check_one_owner
 *		Raise an error if a relation shares a tree with one of another owner.
 *
 * What is above a relation and what is below it is planned with it.  So code
 * of their owners would run as the owner of the relation.  Superusers have
 * more rights anyway.
 */
void
sk_check_one_owner(Oid relid)
{
	Oid			owner = sk_relation_owner(relid);
	List	   *family = find_all_inheritors(relid, NoLock, NULL);
	ListCell   *lc;

	if (get_rel_relispartition(relid))
		family = list_concat(family, get_partition_ancestors(relid));
	foreach(lc, family)
	{
		Oid			other = sk_relation_owner(lfirst_oid(lc));

		if (other == owner || !OidIsValid(other) || superuser_arg(other))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot read relation \"%s\", since relation \"%s\" of the same tree has another owner",
						get_rel_name(relid), get_rel_name(lfirst_oid(lc))),
				 errdetail("Indexes and partition keys can call functions, which would run with the rights of the wrong owner."),
				 errhint("Give both relations the same owner.")));
	}
}

/* Analyze the text, and have nothing in it but what the caller knows. */
static Query *
analyze(const SkRelationQuery *source)
{
	List	   *raw = raw_parser(source->text, RAW_PARSE_DEFAULT);
	Level		top = {source, NULL};

	Assert(list_length(raw) == 1);
	top.query = parse_analyze_withcb(linitial_node(RawStmt, raw), source->text,
									 stand_in_for_expressions,
									 unconstify(SkRelationQuery *, source), NULL);
	if (top.query->commandType != CMD_SELECT || top.query->utilityStmt != NULL)
		elog(ERROR, "not a query: %s", source->text);
	(void) check_tree((Node *) top.query, &top);
	return (Query *) put_expressions((Node *) top.query, &top);
}

static void
stand_in_for_expressions(ParseState *pstate, void *arg)
{
	pstate->p_ref_hook_state = arg;
	pstate->p_paramref_hook = stand_in;
}

/* A parameter has the place and the type of an expression meanwhile. */
static Node *
stand_in(ParseState *pstate, ParamRef *ref)
{
	const SkRelationQuery *source = pstate->p_ref_hook_state;
	Node	   *expression = list_nth(source->expressions, ref->number - 1);
	Param	   *param = makeNode(Param);

	param->paramkind = PARAM_EXTERN;
	param->paramid = ref->number;
	param->paramtype = exprType(expression);
	param->paramtypmod = exprTypmod(expression);
	param->paramcollid = exprCollation(expression);
	param->location = ref->location;
	return (Node *) param;
}

/* Look at all relations and functions of a query. */
static bool
check_tree(Node *node, void *context)
{
	const SkRelationQuery *source = ((Level *) context)->source;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		check_relations((Query *) node, source);
		return query_tree_walker((Query *) node, check_tree, context, 0);
	}
	if (check_functions_in_node(node, is_foreign_function, NULL))
		elog(ERROR, "a function of somebody else was found by its name: %s",
			 source->text);
	return expression_tree_walker(node, check_tree, context);
}

static void
check_relations(Query *query, const SkRelationQuery *source)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind != RTE_RELATION)
			continue;
		if (!list_member_oid(source->relids, rte->relid))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("relation \"%s\" was renamed while it was looked for",
							get_rel_name(linitial_oid(source->relids))),
					 errhint("Try again.")));
		Assert(CheckRelationOidLockedByMe(rte->relid, AccessShareLock, true));
		if (rte->relkind == RELKIND_VIEW)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is a view", get_rel_name(rte->relid))));
	}
}

/* The names in the text are qualified, so this should never be true. */
static bool
is_foreign_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId &&
		!sk_is_member(ProcedureRelationId, funcid);
}

/* Replace the parameters by the expressions that they stand in for. */
static Node *
put_expressions(Node *node, void *context)
{
	Level	   *level = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
	{
		Level		inner = {level->source, (Query *) node};

		/* privileges are noted in the query that the caller gets */
		return (Node *) query_tree_mutator(inner.query, put_expressions, &inner,
										   QTW_DONT_COPY_QUERY);
	}
	if (IsA(node, Param))
		return stored_expression(level, (Param *) node);
	return expression_tree_mutator(node, put_expressions, context);
}

/* An expression, of the relation where this level of the query has it. */
static Node *
stored_expression(const Level *level, const Param *param)
{
	Oid			relid = linitial_oid(level->source->relids);
	Node	   *result = copyObject(list_nth(level->source->expressions,
											 param->paramid - 1));
	int			varno = 0;
	ListCell   *lc;

	foreach(lc, level->query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION && rte->relid == relid)
			varno = foreach_current_index(lc) + 1;
	}
	if (varno == 0)
		elog(ERROR, "expression is not beside its relation");
	ChangeVarNodes(result, 1, varno, 0);
	pull_varattnos(result, varno, sk_selected_columns(level->query, varno));
	return result;
}

/* What core checks when a query begins, for the user who asks. */
static bool
check_privileges(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		(void) sk_check_query_privileges((Query *) node);
		return query_tree_walker((Query *) node, check_privileges, context, 0);
	}
	return expression_tree_walker(node, check_privileges, context);
}

/*
 * Do policies hide rows from the one who asks?  They would not hide them from
 * the owner, and they can call functions.  So the query has to run as the
 * current user, for whom only code of superusers is safe.
 */
static bool
has_policies(const SkRelationQuery *source)
{
	Oid			relid = InvalidOid;
	Oid			owner = sk_relation_owner(linitial_oid(source->relids));
	ListCell   *lc;

	foreach(lc, source->relids)
	{
		if (check_enable_rls(lfirst_oid(lc), InvalidOid, true) == RLS_ENABLED)
			relid = lfirst_oid(lc);
	}
	if (!OidIsValid(relid))
		return false;
	if (source->all_rows || (owner != GetUserId() && !superuser_arg(owner)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("query would be affected by row-level security policy for table \"%s\"",
						get_rel_name(relid)),
				 errhint("Ask as a role that sees all rows, such as one with BYPASSRLS.")));
	return true;
}

/* Plan and run; the slot lives in the caller's memory, as the rows do. */
static TupleTableSlot *
run(Query *query, const char *text, Tuplestorestate *rows, MemoryContext caller)
{
	List	   *rewritten;
	PlannedStmt *plan;
	DestReceiver *dest;
	QueryDesc  *desc;
	TupleTableSlot *result;
	MemoryContext work;

	/*
	 * What this command has done so far is to be seen, such as a new label. A
	 * parallel query has written nothing, and keeps its snapshot.
	 */
	if (IsInParallelMode())
		PushActiveSnapshot(GetActiveSnapshot());
	else
	{
		CommandCounterIncrement();
		PushActiveSnapshot(GetLatestSnapshot());
	}
	rewritten = pg_rewrite_query(query);
	Assert(list_length(rewritten) == 1);
	plan = sk_plan_query(linitial_node(Query, rewritten), text,
						 CURSOR_OPT_PARALLEL_OK);

	dest = CreateDestReceiver(DestTuplestore);
	SetTuplestoreDestReceiverParams(dest, rows, caller, false, NULL, NULL);
	desc = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot,
						   dest, NULL, NULL, 0);
	ExecutorStart(desc, 0);
	sk_executor_run(desc);
	ExecutorFinish(desc);

	work = MemoryContextSwitchTo(caller);
	result = MakeSingleTupleTableSlot(CreateTupleDescCopy(desc->tupDesc),
									  &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(work);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	PopActiveSnapshot();
	return result;
}
