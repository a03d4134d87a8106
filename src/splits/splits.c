/*-------------------------------------------------------------------------
 *
 * splits.c
 *	  What splits need beside SQL.
 *
 * A command on a table can run code of its owner: checks, index expressions,
 * partition keys, domains, triggers; reading a constant of a type can run some
 * already.  So each step of a move is performed as the owner of the table,
 * with a security context that does not let such code get back to the caller.
 * Rows are counted with the rights of the owner for the same reason.
 *
 * src/splits/splits.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/partcache.h"

#include "compat.h"
#include "spi/owner_rights.h"
#include "spi/relation_query.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_count_rows);
PG_FUNCTION_INFO_V1(spanner_run_as);
PG_FUNCTION_INFO_V1(spanner_quote_expression);

static Relation open_existing(Oid relid, LOCKMODE mode);
static Node *partition_constraint(Relation rel);
static void enter_role(SkOwnerScope *scope, Oid role);
static bool selects_one_expression(SelectStmt *select);

/*
 * spanner_internal.count_rows(relation regclass, outside boolean)
 * returns bigint
 *
 * Counts the rows of a relation, or those outside of its bounds as a
 * partition.  NULL if there is no relation.
 */
Datum
spanner_count_rows(PG_FUNCTION_ARGS)
{
	SkRelationQuery query = {0};
	Oid			type = INT8OID;
	Relation	rel;
	Tuplestorestate *rows;
	TupleTableSlot *slot;
	bool		isnull;
	int64		result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	rel = open_existing(PG_GETARG_OID(0), AccessShareLock);
	query.relids = list_make1_oid(RelationGetRelid(rel));
	query.column_count = 1;
	query.types = &type;
	if (!PG_ARGISNULL(1) && PG_GETARG_BOOL(1))
		query.expressions = list_make1(partition_constraint(rel));
	query.text = psprintf("SELECT pg_catalog.count(*) FROM %s%s",
						  sk_qualified_name(RelationGetRelid(rel)),
						  query.expressions != NIL ? " WHERE $1 IS NOT TRUE" : "");

	rows = sk_query_relation(&query, &slot);
	if (!tuplestore_gettupleslot(rows, true, false, slot))
		elog(ERROR, "query returned no row: %s", query.text);
	result = DatumGetInt64(slot_getattr(slot, 1, &isnull));
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
	relation_close(rel, NoLock);
	PG_RETURN_INT64(result);
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
	sk_run_command(command);
	sk_owner_exit(&scope);
	PG_RETURN_VOID();
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

/* Not dropped before the lock is held; else an error. */
static Relation
open_existing(Oid relid, LOCKMODE mode)
{
	Relation	result = try_relation_open(relid, mode);

	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return result;
}

/*
 * The bounds of a partition.  The relation cache simplifies the partition key
 * when it is asked for it, which calls functions.
 */
static Node *
partition_constraint(Relation rel)
{
	SkOwnerScope scope;
	List	   *conditions;

	sk_check_one_owner(RelationGetRelid(rel));
	sk_owner_enter(&scope, RelationGetRelid(rel));
	conditions = RelationGetPartitionQual(rel);
	sk_owner_exit(&scope);
	if (conditions == NIL)
		return makeBoolConst(true, false);
	return (Node *) make_ands_explicit(conditions);
}

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
