/*-------------------------------------------------------------------------
 *
 * row_writer.c
 *	  Writing rows of a table that is open, without a statement.
 *
 * A statement would name the table, and would be planned.  Here constraints
 * are checked, and triggers are called, as by a statement for each row; rules
 * are ignored, as by COPY.  A row stays in its partition.  Updates that call no
 * trigger are of one command, which spares a command id for each row.
 *
 * An index without the column that is updated gets a further entry, without the
 * look for other rows of that key: the version before, which this transaction
 * can see, has had it all the time.  Nor is the index searched for entries to
 * delete, since none of those that we have made is dead before the commit.  If
 * all indexes are of that kind, they are opened when a new version needs entries.
 *
 * The writer works with the rights of the current user, and asks for no
 * privileges.
 *
 * src/spi/row_writer.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "spi/row_writer.h"

static bool calls_no_trigger(Relation rel);
static bool tells_of_indexes(Relation rel);
static void take_indexes(SkRowWriter *writer, AttrNumber updated);
static bool keeps_keys(HeapTuple index, AttrNumber updated);
static void fill_indexes(SkRowWriter *writer, int left);
static bool fills_all_indexes(Relation rel, AttrNumber updated);
static void begin_statement(SkRowWriter *writer);
static void end_statement(SkRowWriter *writer);
static void update_row(SkRowWriter *writer, TupleTableSlot *old,
					   TupleTableSlot *new);
static void update_in_command(SkRowWriter *writer, TupleTableSlot *old,
							  TupleTableSlot *new);
static void keep_transition(SkRowWriter *writer, TransitionCaptureState *capture,
							TupleTableSlot *old, TupleTableSlot *new);

/*
 * sk_writer_begin
 *		Prepare for rows of a table.
 *
 * "updated" is the column that updates change, which tells what triggers they
 * concern; 0 if it can be any of them.  Without "fires" there are none.
 */
void
sk_writer_begin(SkRowWriter *writer, Relation rel, AttrNumber updated, bool fires)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	EState	   *estate = CreateExecutorState();

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	rte->rtekind = RTE_RELATION;
	rte->relid = RelationGetRelid(rel);
	rte->relkind = rel->rd_rel->relkind;
	rte->rellockmode = RowExclusiveLock;
	sk_init_range_table(estate, rte, updated == 0 ? NULL :
						bms_make_singleton(updated - FirstLowInvalidHeapAttributeNumber));

	writer->estate = estate;
	writer->target = makeNode(ResultRelInfo);
	InitResultRelInfo(writer->target, rel, 1, NULL, 0);
	estate->es_opened_result_relations =
		lappend(estate->es_opened_result_relations, writer->target);
	EvalPlanQualInit(&writer->epq, estate, NULL, NIL, -1, NIL);
	writer->index_count = 0;
	if (!fires)
		writer->target->ri_TrigDesc = NULL;
	writer->stored = NULL;
	writer->is_one_command = updated != 0 && (!fires || calls_no_trigger(rel));
	if (writer->is_one_command && fills_all_indexes(rel, updated))
		fill_indexes(writer, 0);
	else
	{
		ExecOpenIndices(writer->target, false);
		writer->index_count = writer->target->ri_NumIndices;
		if (writer->is_one_command)
			take_indexes(writer, updated);
	}
	if (writer->is_one_command)
		begin_statement(writer);
}

/* Those of foreign keys are called if the key has changed. */
static bool
calls_no_trigger(Relation rel)
{
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &rel->trigdesc->triggers[i];

		if (TRIGGER_FOR_UPDATE(trigger->tgtype) &&
			RI_FKey_trigger_type(trigger->tgfoid) == RI_TRIGGER_NONE)
			return false;
	}
	return true;
}

/* What an update has done about indexes only a tuple of a heap tells. */
static bool
tells_of_indexes(Relation rel)
{
	TupleConstr *constraints = RelationGetDescr(rel)->constr;

	return rel->rd_tableam == GetHeapamTableAmRoutine() &&
		(constraints == NULL || !constraints->has_generated_stored);
}

/* Move the indexes that we fill after those that core is to know of. */
static void
take_indexes(SkRowWriter *writer, AttrNumber updated)
{
	ResultRelInfo *target = writer->target;
	int			left = 0;

	if (!tells_of_indexes(target->ri_RelationDesc))
		return;
	for (int i = 0; i < writer->index_count; i++)
	{
		Relation	index = target->ri_IndexRelationDescs[i];
		IndexInfo  *info = target->ri_IndexRelationInfo[i];

		/* a deferrable constraint has a trigger */
		Assert(index->rd_index->indimmediate);
		if (keeps_keys(index->rd_indextuple, updated))
			continue;
		target->ri_IndexRelationDescs[i] = target->ri_IndexRelationDescs[left];
		target->ri_IndexRelationInfo[i] = target->ri_IndexRelationInfo[left];
		target->ri_IndexRelationDescs[left] = index;
		target->ri_IndexRelationInfo[left++] = info;
	}
	if (left < writer->index_count)
		fill_indexes(writer, left);
}

/* Core is to know of that many indexes only. */
static void
fill_indexes(SkRowWriter *writer, int left)
{
	ResultRelInfo *target = writer->target;

	target->ri_NumIndices = left;
	writer->stored = MakeSingleTupleTableSlot(RelationGetDescr(target->ri_RelationDesc),
											  &TTSOpsHeapTuple);
}

/* Can we fill all indexes, once there is a version that needs entries? */
static bool
fills_all_indexes(Relation rel, AttrNumber updated)
{
	bool		result = tells_of_indexes(rel);
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		HeapTuple	index = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(lc)));

		result = result && HeapTupleIsValid(index) && keeps_keys(index, updated);
		if (HeapTupleIsValid(index))
			ReleaseSysCache(index);
	}
	return result;
}

/* Does an index know nothing of the column? */
static bool
keeps_keys(HeapTuple index, AttrNumber updated)
{
	Form_pg_index form = (Form_pg_index) GETSTRUCT(index);

	if (!form->indisready || !heap_attisnull(index, Anum_pg_index_indexprs, NULL) ||
		!heap_attisnull(index, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < form->indnatts; i++)
		if (form->indkey.values[i] == updated)
			return false;
	return true;
}

static void
begin_statement(SkRowWriter *writer)
{
	PushActiveSnapshot(GetLatestSnapshot());
	writer->estate->es_snapshot = GetActiveSnapshot();
	AfterTriggerBeginQuery();
}

static void
end_statement(SkRowWriter *writer)
{
	AfterTriggerEndQuery(writer->estate);
	PopActiveSnapshot();
	/* what comes next is to see the rows */
	CommandCounterIncrement();
}

/*
 * sk_writer_write
 *		Write a row.
 *
 * "old" is the latest version of the row, of an insert NULL.  "new" is what
 * becomes of it, of a delete NULL; its tts_tid stays invalid if a trigger has
 * suppressed the command.
 */
void
sk_writer_write(SkRowWriter *writer, CmdType command, TupleTableSlot *old,
				TupleTableSlot *new)
{
	EState	   *estate = writer->estate;

	if (!writer->is_one_command)
		begin_statement(writer);
	estate->es_output_cid = GetCurrentCommandId(true);
	if (command == CMD_INSERT)
		ExecSimpleRelationInsert(writer->target, estate, new);
	else if (command == CMD_UPDATE)
		update_row(writer, old, new);
	else
		ExecSimpleRelationDelete(writer->target, estate, &writer->epq, old);
	if (!writer->is_one_command)
		end_statement(writer);
}

/*
 * sk_writer_end
 *		Free what sk_writer_begin() has made.
 */
void
sk_writer_end(SkRowWriter *writer)
{
	if (writer->is_one_command)
		end_statement(writer);
	if (writer->stored != NULL)
		ExecDropSingleTupleTableSlot(writer->stored);
	writer->target->ri_NumIndices = writer->index_count;
	EvalPlanQualEnd(&writer->epq);
	ExecResetTupleTable(writer->estate->es_tupleTable, false);
	ExecCloseResultRelations(writer->estate);
	FreeExecutorState(writer->estate);
}

/* An update, between the triggers of its statement. */
static void
update_row(SkRowWriter *writer, TupleTableSlot *old, TupleTableSlot *new)
{
	ResultRelInfo *target = writer->target;
	TransitionCaptureState *capture =
		MakeTransitionCaptureState(target->ri_TrigDesc,
								   RelationGetRelid(target->ri_RelationDesc), CMD_UPDATE);

	ExecBSUpdateTriggers(writer->estate, target);
	if (writer->stored != NULL)
		update_in_command(writer, old, new);
	else
		ExecSimpleRelationUpdate(target, writer->estate, &writer->epq, old, new);
	if (capture != NULL && ItemPointerIsValid(&new->tts_tid))
		keep_transition(writer, capture, old, new);
	ExecASUpdateTriggers(writer->estate, target, capture);
}

/* No trigger can change the row, or suppress the update. */
static void
update_in_command(SkRowWriter *writer, TupleTableSlot *old, TupleTableSlot *new)
{
	ResultRelInfo *target = writer->target;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	ExecCopySlot(writer->stored, new);
	ExecSimpleRelationUpdate(target, writer->estate, &writer->epq, old, writer->stored);
	new->tts_tid = writer->stored->tts_tid;
	if (HeapTupleIsHeapOnly(((HeapTupleTableSlot *) writer->stored)->tuple))
		return;
	if (target->ri_IndexRelationDescs == NULL)
	{
		ExecOpenIndices(target, false);
		writer->index_count = target->ri_NumIndices;
		target->ri_NumIndices = 0;
	}
	for (int i = target->ri_NumIndices; i < writer->index_count; i++)
	{
		IndexInfo  *info = target->ri_IndexRelationInfo[i];

		/* one that is being made */
		if (!info->ii_ReadyForInserts)
			continue;

		/*
		 * UNIQUE_CHECK_NO spares the look for other rows of the key: without
		 * it a row that is numbered at the commit costs 6 % more
		 * instructions.
		 */
		FormIndexDatum(info, new, writer->estate, values, nulls);
		(void) index_insert(target->ri_IndexRelationDescs[i], values, nulls, &new->tts_tid,
							target->ri_RelationDesc, UNIQUE_CHECK_NO, false, info);
	}
}

/*
 * Put the row into the transition tables of the statement's triggers.  The
 * triggers of the row, which core calls in the same place, have been called.
 */
static void
keep_transition(SkRowWriter *writer, TransitionCaptureState *capture,
				TupleTableSlot *old, TupleTableSlot *new)
{
	ResultRelInfo *target = writer->target;
	TriggerDesc *all = target->ri_TrigDesc;
	TriggerDesc without_row = *all;

	/*
	 * Core looks at ri_TrigDesc to decide which triggers of the row to queue.
	 * If it looked elsewhere, they would be called twice, which the test of
	 * statement triggers of numbers on commit sees.
	 */
	without_row.trig_update_after_row = false;
	target->ri_TrigDesc = &without_row;
	ExecARUpdateTriggers(writer->estate, target, NULL, NULL, &old->tts_tid, NULL,
						 new, NIL, capture, false);
	target->ri_TrigDesc = all;
}
