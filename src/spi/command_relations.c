/*-------------------------------------------------------------------------
 *
 * command_relations.c
 *	  What the command of an event trigger has done.
 *
 * Only pg_event_trigger_ddl_commands() knows that.  Every CREATE TABLE and
 * most of ALTER TABLE come here, so the function is called without a query
 * around it: to parse and plan one takes longer than many of these commands.
 *
 * src/spi/command_relations.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic_ext.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "spi/command_relations.h"

/* The result columns that count. */
enum
{
	SK_COMMAND_CLASS = 1,
	SK_COMMAND_OBJECT,
	SK_COMMAND_TAG = 4,
	SK_COMMAND_IN_EXTENSION = 8
};

static void call_function(ReturnSetInfo *result);
static SkCommandRelation *read_relation(TupleTableSlot *row);
static Oid	statistics_table(Oid object);

/*
 * sk_command_relations
 *		The relations that the command has created or altered.
 *
 * To be called by an event trigger on ddl_command_end.  Returns a list of
 * SkCommandRelation, in the order in which it was done.  Relations that are
 * gone are left out, and so are those of an extension that is being created.
 */
List *
sk_command_relations(void)
{
	ExprContext *econtext = CreateStandaloneExprContext();
	ReturnSetInfo rsinfo = {.type = T_ReturnSetInfo,.econtext = econtext,
	.allowedModes = SFRM_Materialize};
	List	   *result = NIL;
	TupleTableSlot *row;

	call_function(&rsinfo);
	row = MakeSingleTupleTableSlot(rsinfo.setDesc, &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(rsinfo.setResult, true, false, row))
	{
		SkCommandRelation *relation = read_relation(row);

		if (relation != NULL)
			result = lappend(result, relation);
	}
	ExecDropSingleTupleTableSlot(row);
	tuplestore_end(rsinfo.setResult);
	FreeExprContext(econtext, true);
	return result;
}

/* As the executor does for a function in FROM. */
static void
call_function(ReturnSetInfo *result)
{
	LOCAL_FCINFO(fcinfo, 0);
	FmgrInfo	function;

	fmgr_info(F_PG_EVENT_TRIGGER_DDL_COMMANDS, &function);
	InitFunctionCallInfoData(*fcinfo, &function, 0, InvalidOid, NULL,
							 (Node *) result);
	(void) FunctionCallInvoke(fcinfo);
	Assert(result->returnMode == SFRM_Materialize);
}

/* A row of the result, NULL if it is not about a relation. */
static SkCommandRelation *
read_relation(TupleTableSlot *row)
{
	SkCommandRelation *relation;
	Oid			classid;
	Oid			relid;
	char		relkind;

	slot_getallattrs(row);
	/* privileges have no object */
	if (row->tts_isnull[SK_COMMAND_CLASS - 1] ||
		DatumGetBool(row->tts_values[SK_COMMAND_IN_EXTENSION - 1]))
		return NULL;
	classid = DatumGetObjectId(row->tts_values[SK_COMMAND_CLASS - 1]);
	relid = DatumGetObjectId(row->tts_values[SK_COMMAND_OBJECT - 1]);
	if (classid == StatisticExtRelationId)
		relid = statistics_table(relid);
	else if (classid != RelationRelationId)
		return NULL;
	relkind = get_rel_relkind(relid);
	if (relkind == '\0')
		return NULL;

	relation = palloc(sizeof(SkCommandRelation));
	relation->relid = relid;
	relation->relkind = relkind;
	relation->is_new = classid == RelationRelationId &&
		strncmp(TextDatumGetCString(row->tts_values[SK_COMMAND_TAG - 1]),
				"CREATE ", strlen("CREATE ")) == 0;
	return relation;
}

/* The table of a statistics object, which is altered with it. */
static Oid
statistics_table(Oid object)
{
	HeapTuple	tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(object));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_statistic_ext) GETSTRUCT(tuple))->stxrelid;
		ReleaseSysCache(tuple);
	}
	return result;
}
