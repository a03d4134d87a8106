/*-------------------------------------------------------------------------
 *
 * run_as.c
 *	  Running one command with the rights of a role; deleting what has moved.
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

#include "access/table.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "compat.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_run_as);
PG_FUNCTION_INFO_V1(spanner_delete_moved_rows);
PG_FUNCTION_INFO_V1(spanner_quote_expression);

static void enter_role(SkOwnerScope *scope, Oid role);
static void run_single(const char *command);
static bool is_referenced(Relation rel);
static char *quote_expression(const char *expression);
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

/* Text with a second command in it is refused: no name or expression can begin one. */
static void
run_single(const char *command)
{
	if (list_length(raw_parser(command, RAW_PARSE_DEFAULT)) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("not a single command: %s", command)));
	sk_run_statement(command);
}

/*
 * spanner_internal.run_as(role oid, command text) returns void
 */
Datum
spanner_run_as(PG_FUNCTION_ARGS)
{
	Oid			role = PG_GETARG_OID(0);
	char	   *command = text_to_cstring(PG_GETARG_TEXT_PP(1));
	SkOwnerScope scope;

	enter_role(&scope, role);
	run_single(command);
	sk_owner_leave(&scope);
	PG_RETURN_VOID();
}

/*
 * spanner_internal.delete_moved_rows(relation regclass, condition text)
 * returns void
 *
 * The rows are elsewhere now, so for the table's users nothing is deleted: as
 * with what replication writes, triggers and rules fire only if they are
 * ENABLE ALWAYS or REPLICA.  Those of foreign keys do not fire either, so
 * nothing may refer to the rows.
 */
Datum
spanner_delete_moved_rows(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char	   *condition = quote_expression(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	Oid			owner = sk_relation_owner(relid);
	SkOwnerScope scope;
	Relation	rel;

	if (!OidIsValid(owner))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	enter_role(&scope, owner);
	/* the lock keeps new foreign keys away */
	rel = table_open(relid, RowExclusiveLock);
	if (rel->rd_rel->relowner != GetUserId() || rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table of role \"%s\"", RelationGetRelationName(rel),
						GetUserNameFromId(GetUserId(), false))));
	if (is_referenced(rel))
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("foreign keys refer to table \"%s\", whose rows have moved",
						RelationGetRelationName(rel)),
				 errhint("Drop the foreign keys, then run this step again.")));
	(void) set_config_option("session_replication_role", "replica", PGC_SUSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	run_single(psprintf("DELETE FROM ONLY %s WHERE %s", sk_qualified_name(relid), condition));
	sk_owner_leave(&scope);
	table_close(rel, NoLock);
	PG_RETURN_VOID();
}

/* Is the table one that a foreign key refers to? */
static bool
is_referenced(Relation rel)
{
	TriggerDesc *triggers = rel->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		if (RI_FKey_trigger_type(triggers->triggers[i].tgfoid) == RI_TRIGGER_PK)
			return true;
	return false;
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
	PG_RETURN_TEXT_P(cstring_to_text(quote_expression(text_to_cstring(PG_GETARG_TEXT_PP(0)))));
}

static char *
quote_expression(const char *expression)
{
	List	   *parsed = raw_parser(expression, RAW_PARSE_PLPGSQL_EXPR);
	RawStmt    *statement = linitial_node(RawStmt, parsed);

	if (!selects_one_expression(castNode(SelectStmt, statement->stmt)))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("not an expression: %s", expression)));
	return psprintf(strstr(expression, "--") ? "(%s\n)" : "(%s)", expression);
}
