/*-------------------------------------------------------------------------
 *
 * delete_moved.c
 *	  Deleting the rows of a table that are on another server now.
 *
 * For the table's users nothing is deleted, so nothing of theirs may run.  The
 * table access method deletes the rows, without a statement: that calls no
 * trigger and asks no rule or policy.  Setting session_replication_role would
 * do so for all that the owner's functions write meanwhile, and for other
 * tables; only superusers may.
 *
 * src/splits/delete_moved.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

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
#include "parser/parse_collate.h"
#include "parser/parse_node.h"
#include "parser/parse_oper.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "spi/owner_rights.h"
#include "spi/relation_query.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_delete_moved_rows);

static Relation open_table(Oid relid);
static bool is_referenced(Relation rel);
static Node *from_value_on(Relation rel, const char *column, char *value, Oid collation);
static bool delete_rows(Relation rel, Node *condition);
static bool delete_row(Relation rel, ItemPointer tid);

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
	rel = open_table(PG_GETARG_OID(0));
	sk_owner_enter(&scope, RelationGetRelid(rel));
	condition = from_value_on(rel, NameStr(*PG_GETARG_NAME(1)),
							  text_to_cstring(PG_GETARG_TEXT_PP(2)),
							  PG_ARGISNULL(3) ? InvalidOid : PG_GETARG_OID(3));
	while (delete_rows(rel, condition))
		CHECK_FOR_INTERRUPTS();
	sk_owner_leave(&scope);
	table_close(rel, NoLock);
	PG_RETURN_VOID();
}

/* Nothing refers to the rows, since no trigger looks; the lock keeps it so. */
static Relation
open_table(Oid relid)
{
	Relation	rel = try_table_open(relid, RowExclusiveLock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
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
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
	return result == TM_Deleted;
}
