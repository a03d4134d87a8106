/*-------------------------------------------------------------------------
 *
 * splits.c
 *	  What the steps of a split need beside SQL.
 *
 * A command on a table can run code of its owner: checks, index expressions,
 * partition keys, domains, triggers; reading a constant of a type can run some
 * already.  So each step of a move is performed as the owner of the table,
 * with a security context that does not let such code get back to the caller.
 * Rows are counted with the rights of the owner for the same reason.
 *
 * When a split is cut, nothing is deleted for the table's users: the rows are
 * on another server now.  So nothing of theirs may run.  The table access
 * method deletes the rows, without a statement: that calls no trigger and asks
 * no rule or policy.  Setting session_replication_role would do so for all that
 * the owner's functions write meanwhile, and for other tables; only superusers
 * may.
 *
 * src/splits/splits.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parse_collate.h"
#include "parser/parse_node.h"
#include "parser/parse_oper.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "spi/owner_rights.h"
#include "spi/relation_query.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_count_rows);
PG_FUNCTION_INFO_V1(spanner_delete_moved_rows);
PG_FUNCTION_INFO_V1(spanner_run_as);
PG_FUNCTION_INFO_V1(spanner_quote_expression);

static Relation open_existing(Oid relid, LOCKMODE mode);
static Node *partition_constraint(Relation rel);
static Relation open_moved(Oid relid);
static bool is_referenced(Relation rel);
static Node *from_value_on(Relation rel, const char *column, char *value, Oid collation);
static bool delete_rows(Relation rel, Node *condition);
static bool delete_row(Relation rel, ItemPointer tid);
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
 * spanner_internal.delete_moved_rows(relation regclass, column_name name,
 *		at text, by_collation regcollation) returns void
 *
 * Deletes the rows of which the column is at least the value "at", by the
 * collation, or by that of the column if it is NULL.  Only the owner may do it.
 */
Datum
spanner_delete_moved_rows(PG_FUNCTION_ARGS)
{
	SkOwnerScope scope;
	Relation	rel;
	Node	   *condition;

	for (int i = 0; i < 3; i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("table, column and value must not be null")));
	rel = open_moved(PG_GETARG_OID(0));
	sk_owner_enter(&scope, RelationGetRelid(rel));
	condition = from_value_on(rel, NameStr(*PG_GETARG_NAME(1)),
							  text_to_cstring(PG_GETARG_TEXT_PP(2)),
							  PG_ARGISNULL(3) ? InvalidOid : PG_GETARG_OID(3));

	/*
	 * a row that was changed while we waited for it may still be ours to
	 * delete
	 */
	while (delete_rows(rel, condition))
		CHECK_FOR_INTERRUPTS();
	sk_owner_exit(&scope);
	table_close(rel, NoLock);
	PG_RETURN_VOID();
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

/* Nothing refers to the rows, since no trigger looks; the lock keeps it so. */
static Relation
open_moved(Oid relid)
{
	Relation	rel = open_existing(relid, RowExclusiveLock);

	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(rel));
	if (rel->rd_rel->relkind != RELKIND_RELATION || IsSystemRelation(rel))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table that can be a split", RelationGetRelationName(rel))));
	if (is_referenced(rel))
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("foreign keys refer to table \"%s\", whose rows have moved",
						RelationGetRelationName(rel)),
				 errhint("Drop the foreign keys, then run this step again.")));
	CheckCmdReplicaIdentity(rel, CMD_DELETE);
	return rel;
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

/* The condition that a column is at least a value. */
static Node *
from_value_on(Relation rel, const char *column, char *value, Oid collation)
{
	Oid			relid = RelationGetRelid(rel);
	AttrNumber	attnum = get_attnum(relid, column);
	ParseState *pstate = make_parsestate(NULL);
	Node	   *left;
	Node	   *right;
	Node	   *result;
	Oid			type;
	int32		typmod;
	Oid			own_collation;

	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", column,
						RelationGetRelationName(rel))));
	get_atttypetypmodcoll(relid, attnum, &type, &typmod, &own_collation);
	left = (Node *) makeVar(1, attnum, type, typmod, own_collation, 0);
	if (OidIsValid(collation))
	{
		CollateExpr *collate = makeNode(CollateExpr);

		collate->arg = (Expr *) left;
		collate->collOid = collation;
		collate->location = -1;
		left = (Node *) collate;
	}
	right = (Node *) makeConst(UNKNOWNOID, -1, InvalidOid, -2, CStringGetDatum(value), false, false);
	result = (Node *) make_op(pstate, list_make2(makeString("pg_catalog"), makeString(">=")),
							  left, right, NULL, -1);
	assign_expr_collations(pstate, result);
	free_parsestate(pstate);
	return result;
}

/* Returns whether some were changed meanwhile, and are to be looked for again. */
static bool
delete_rows(Relation rel, Node *condition)
{
	SkRelationQuery query = {0};
	Oid			type = TIDOID;
	bool		is_changed = false;
	Tuplestorestate *rows;
	TupleTableSlot *slot;

	query.relids = list_make1_oid(RelationGetRelid(rel));
	query.expressions = list_make1(condition);
	query.column_count = 1;
	query.types = &type;
	query.all_rows = true;
	query.text = psprintf("SELECT t.ctid FROM ONLY %s AS t WHERE $1",
						  sk_qualified_name(RelationGetRelid(rel)));
	rows = sk_query_relation(&query, &slot);
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		if (!delete_row(rel, (ItemPointer) DatumGetPointer(slot_getattr(slot, 1, &isnull))))
			is_changed = true;
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
	CommandCounterIncrement();
	return is_changed;
}

/* Waits for those who have locked the row; false if it has been changed. */
static bool
delete_row(Relation rel, ItemPointer tid)
{
	TM_FailureData failure;
	TM_Result	result = sk_table_tuple_delete(rel, tid, GetCurrentCommandId(true),
											   GetActiveSnapshot(), &failure);

	if (result == TM_Ok)
		return true;
	/* no later snapshot would find the row, as after UPDATE or DELETE */
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
	/* another session has deleted it: nothing is left to do */
	return result == TM_Deleted;
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
