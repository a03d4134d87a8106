/*-------------------------------------------------------------------------
 *
 * fill_shard.c
 *	  A trigger that fills shard columns.
 *
 * A generated column cannot be part of a key that is replicated with UPDATE
 * and DELETE.  A plain column can, with a CHECK constraint that says how it is
 * computed.  The trigger computes the column by that constraint.  A subscriber
 * does not fire the trigger, and keeps the value that was sent.
 *
 * src/planner/fill_shard.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteHandler.h"
#include "utils/rel.h"

#include "planner/shard_key.h"

PG_FUNCTION_INFO_V1(spanner_fill_shard);

static HeapTuple fill_column(HeapTuple tuple, Relation relation,
							 const SkShardKey *key);
static Node *expand_generated(Node *node, void *context);

/*
 * spanner.fill_shard() returns trigger
 *
 * Sets each column that a CHECK constraint says is the shard of others.
 */
Datum
spanner_fill_shard(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	HeapTuple	tuple;
	bool		found = false;
	ListCell   *lc;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(data->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		TRIGGER_FIRED_BY_DELETE(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be called by a trigger before INSERT or UPDATE for each row",
						"spanner.fill_shard"),
				 errhint("Use CREATE TRIGGER ... BEFORE INSERT OR UPDATE ... FOR EACH ROW.")));

	tuple = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple;
	foreach(lc, sk_column_keys(RelationGetRelid(data->tg_relation)))
	{
		SkShardKey *key = lfirst(lc);

		if (!key->by_check)
			continue;
		tuple = fill_column(tuple, data->tg_relation, key);
		found = true;
	}
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no column that is a shard",
						RelationGetRelationName(data->tg_relation)),
				 errhint("Add CHECK (shard_id = spanner.shard_id(...)).")));
	return PointerGetDatum(tuple);
}

/* The row with the value that the constraint asks for. */
static HeapTuple
fill_column(HeapTuple tuple, Relation relation, const SkShardKey *key)
{
	TupleDesc	desc = RelationGetDescr(relation);
	EState	   *estate = CreateExecutorState();
	ExprContext *econtext = GetPerTupleExprContext(estate);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
	MemoryContext caller = CurrentMemoryContext;
	Node	   *value;
	Datum		datum;
	bool		isnull;
	int			attnum = key->attnum;

	Assert(attnum >= 1 && attnum <= desc->natts);
	ExecStoreHeapTuple(tuple, slot, false);
	econtext->ecxt_scantuple = slot;
	value = expand_generated((Node *) key->call, relation);
	value = coerce_to_target_type(NULL, value,
								  exprType((Node *) key->call),
								  TupleDescAttr(desc, attnum - 1)->atttypid,
								  TupleDescAttr(desc, attnum - 1)->atttypmod,
								  COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
	Assert(exprType(value) == TupleDescAttr(desc, attnum - 1)->atttypid);
	datum = ExecEvalExprSwitchContext(ExecPrepareExpr((Expr *) value, estate),
									  econtext, &isnull);
	MemoryContextSwitchTo(caller);
	tuple = heap_modify_tuple_by_cols(tuple, desc, 1, &attnum, &datum, &isnull);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);
	return tuple;
}

/* Generated columns are computed after the triggers, so take their expressions. */
static Node *
expand_generated(Node *node, void *context)
{
	Relation	relation = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) &&
		TupleDescAttr(RelationGetDescr(relation),
					  ((Var *) node)->varattno - 1)->attgenerated != '\0')
		return build_column_default(relation, ((Var *) node)->varattno);
	return expression_tree_mutator(node, expand_generated, context);
}
