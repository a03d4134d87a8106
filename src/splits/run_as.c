/*-------------------------------------------------------------------------
 *
 * run_as.c
 *	  Running one command with the rights of a role.
 *
 * A command on a table can run code of its owner: checks, index expressions,
 * partition keys, domains, triggers; reading a constant of a type can run some
 * already.  So each step of a move is performed as the owner of the table,
 * with a security context that does not let such code get back to the caller.
 *
 * src/splits/run_as.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_run_as);
PG_FUNCTION_INFO_V1(spanner_quote_expression);

static void enter_role(SkOwnerScope *scope, Oid role);
static bool selects_one_expression(SelectStmt *select);

/* Become a role that the current user may act as. */
static void
enter_role(SkOwnerScope *scope, Oid role)
{
	char	   *name = GetUserNameFromId(role, true);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role with OID %u does not exist", role)));
	if (!has_privs_of_role(GetUserId(), role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be able to act as role \"%s\"", name)));
	check_can_set_role(GetUserId(), role);
	sk_role_enter(scope, role);
}

/*
 * spanner_internal.run_as(role oid, command text) returns void
 *
 * Text with a second command in it is refused, so that no name or expression
 * can begin one.
 */
Datum
spanner_run_as(PG_FUNCTION_ARGS)
{
	Oid			role = PG_GETARG_OID(0);
	char	   *command = text_to_cstring(PG_GETARG_TEXT_PP(1));
	SkOwnerScope scope;

	if (list_length(raw_parser(command, RAW_PARSE_DEFAULT)) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("not a single command: %s", command)));
	enter_role(&scope, role);
	sk_run_statement(command);
	sk_owner_leave(&scope);
	PG_RETURN_VOID();
}

/* Is this what SELECT makes of an expression, and of nothing else? */
static bool
selects_one_expression(SelectStmt *select)
{
	ResTarget  *target;

	if (list_length(select->targetList) != 1)
		return false;
	target = linitial_node(ResTarget, select->targetList);
	return target->name == NULL && select->distinctClause == NIL &&
		select->fromClause == NIL && select->whereClause == NULL &&
		select->groupClause == NIL && select->havingClause == NULL &&
		select->windowClause == NIL && select->sortClause == NIL &&
		select->limitOffset == NULL && select->limitCount == NULL &&
		select->lockingClause == NIL;
}

/*
 * spanner_internal.quote_expression(expression text) returns text
 *
 * What quote_ident() is for names: an expression in parentheses, which nothing
 * in it can end.  The line break ends a comment.
 */
Datum
spanner_quote_expression(PG_FUNCTION_ARGS)
{
	char	   *expression = text_to_cstring(PG_GETARG_TEXT_PP(0));
	List	   *parsed = raw_parser(expression, RAW_PARSE_PLPGSQL_EXPR);
	RawStmt    *statement = linitial_node(RawStmt, parsed);

	if (!selects_one_expression(castNode(SelectStmt, statement->stmt)))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("not an expression: %s", expression)));
	PG_RETURN_TEXT_P(cstring_to_text(psprintf(strstr(expression, "--") ?
											  "(%s\n)" : "(%s)", expression)));
}
