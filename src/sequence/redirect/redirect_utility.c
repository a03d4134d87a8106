/*-------------------------------------------------------------------------
 *
 * redirect_utility.c
 *	  Calls of core's sequence functions in the arguments of commands.
 *
 * The arguments of CALL and of EXECUTE, and the condition of COPY ... WHERE,
 * are evaluated without being planned as a query, so the planner hook does
 * not see them.
 *
 * src/sequence/redirect/redirect_utility.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "tcop/utility.h"

#include "sequence/binding.h"
#include "sequence/redirect/raw_default.h"
#include "sequence/redirect/redirect.h"
#include "sequence/redirect/redirect_utility.h"

static ProcessUtility_hook_type prev_ProcessUtility_hook = NULL;

static void redirecting_utility(PlannedStmt *pstmt, const char *queryString,
								bool readOnlyTree, ProcessUtilityContext context,
								ParamListInfo params,
								QueryEnvironment *queryEnv,
								DestReceiver *dest, QueryCompletion *qc);
static bool has_arguments(Node *command);
static ExecuteStmt *inner_execute(Node *command);

/*
 * sk_redirect_utility_init
 *		Install the hook.
 */
void
sk_redirect_utility_init(void)
{
	prev_ProcessUtility_hook = ProcessUtility_hook;
	ProcessUtility_hook = redirecting_utility;
}

static void
redirecting_utility(PlannedStmt *pstmt, const char *queryString,
					bool readOnlyTree, ProcessUtilityContext context,
					ParamListInfo params, QueryEnvironment *queryEnv,
					DestReceiver *dest, QueryCompletion *qc)
{
	if (sk_bindings_possible && has_arguments(pstmt->utilityStmt) &&
		sk_bindings_exist())
	{
		Node	   *command;

		if (readOnlyTree)
			pstmt = copyObject(pstmt);
		readOnlyTree = false;
		command = pstmt->utilityStmt;
		if (IsA(command, CallStmt))
			sk_redirect_expression((Node *) ((CallStmt *) command)->funcexpr);
		else if (IsA(command, CopyStmt))
			sk_redirect_raw_arguments(list_make1(((CopyStmt *) command)->whereClause));
		else
			sk_redirect_raw_arguments(inner_execute(command)->params);
	}

	if (prev_ProcessUtility_hook)
		prev_ProcessUtility_hook(pstmt, queryString, readOnlyTree, context,
								 params, queryEnv, dest, qc);
	else
		standard_ProcessUtility(pstmt, queryString, readOnlyTree, context,
								params, queryEnv, dest, qc);
}

static bool
has_arguments(Node *command)
{
	ExecuteStmt *execute;

	if (IsA(command, CallStmt))
		return true;
	if (IsA(command, CopyStmt))
		return ((CopyStmt *) command)->whereClause != NULL;
	execute = inner_execute(command);
	return execute != NULL && execute->params != NIL;
}

/* EXECUTE by itself, in EXPLAIN, or in CREATE TABLE AS; else NULL. */
static ExecuteStmt *
inner_execute(Node *command)
{
	Node	   *query = NULL;

	if (IsA(command, ExecuteStmt))
		return (ExecuteStmt *) command;
	if (IsA(command, ExplainStmt))
		query = ((ExplainStmt *) command)->query;
	else if (IsA(command, CreateTableAsStmt))
		query = ((CreateTableAsStmt *) command)->query;
	if (query == NULL || !IsA(query, Query) ||
		((Query *) query)->commandType != CMD_UTILITY)
		return NULL;
	return inner_execute(((Query *) query)->utilityStmt);
}
