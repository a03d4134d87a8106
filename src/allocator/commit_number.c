/*-------------------------------------------------------------------------
 *
 * commit_number.c
 *	  Numbering rows when their transaction commits.
 *
 * The trigger is deferred, so it is called at the commit, once for each row.
 * It then only notes the row, and queues the same event once more for
 * the first row of a target.  Events that are queued while deferred triggers
 * run are called in a further round, which core repeats until there are none.
 * When a whole round has brought no new row, all rows are numbered together:
 * an allocator is locked as late as can be, once, and several allocators are
 * locked in the order of their ids.
 *
 * An XactCallback at XACT_EVENT_PRE_COMMIT would come later still, but the
 * updates fire triggers of users, and these may open cursors or foreign
 * transactions which core and other extensions have finished off by then.
 * Here all such code runs where it may.
 *
 * As long as an event is queued, core refuses to truncate, rewrite or drop
 * the table: row versions that were noted stay where they are.
 *
 * After SET CONSTRAINTS ... IMMEDIATE an event that we queue is called at
 * once, so the row is numbered at once.  The allocator then stays locked to
 * the end of the transaction, and numbers still are in the order of commits.
 *
 * When a subtransaction is rolled back, core forgets the events that were
 * queued in it, and calls those again that were called in it.  So do we: what
 * had been noted and numbered is remembered for each level.
 *
 * Such a transaction keeps the allocator's row locked until its commit has been
 * flushed, and confirmed by synchronous standbys.  With
 * spanner_keys.early_lock_release it commits asynchronously: the commit record
 * is written, the locks are released, and only then, but before the client is
 * told, we flush and wait.  The next transaction's commit record comes later
 * in the WAL, so a crash takes away the last numbers and leaves no gap.
 * synchronous_commit is changed in its variable only, from
 * XACT_EVENT_PRE_COMMIT to the release of the locks.  No code of a user runs in
 * between, and what the setting says elsewhere, SyncRepWaitMode included, stays
 * as it is.
 *
 * src/allocator/commit_number.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "replication/syncrep.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "allocator/cache.h"
#include "allocator/number_rows.h"

PG_FUNCTION_INFO_V1(spanner_assign_on_commit);
PG_FUNCTION_INFO_V1(spanner_last_assigned);

/* A trigger that has been called in this transaction. */
typedef struct Target
{
	SkNumberTarget number;
	Oid			trigger;
	bool		is_queued;		/* have we queued an event? */
	int			queued_level;	/* in which level of subtransactions? */
	ItemPointerData queued_tid; /* for which row version? */
	uint64		seen;			/* rows_ever when it was queued, 0 at first */
} Target;

/* How far a transaction has come. */
typedef struct Progress
{
	int			level;			/* of subtransactions */
	uint64		rows;			/* noted */
	uint64		done;			/* of these, from the first on */
	int			assignments;
} Progress;

/* A session that has numbered from more allocators forgets the last numbers. */
#define SK_MAX_LAST_ASSIGNED 10000

/* The last number of an allocator that this session has assigned. */
typedef struct LastAssigned
{
	struct
	{
		int64		allocator_id;
		int64		table;		/* OID of spanner.allocator */
	}			key;
	bool		is_committed;
	int64		number;
} LastAssigned;

/* What the current transaction has assigned. */
typedef struct Assignment
{
	LastAssigned *entry;
	int64		number;
} Assignment;

/* What the current transaction has to number. */
typedef struct Numbering
{
	List	   *targets;		/* of Target */
	SkUnnumbered *rows;
	uint64		row_space;
	uint64		rows_ever;
	List	   *assignments;	/* of Assignment */
	Progress	progress;
	List	   *starts;			/* of Progress, where subtransactions began */
	bool		is_queueing;
	bool		is_called_at_once;
	bool		is_numbering;
} Numbering;

/* In TopTransactionContext, NULL if there is nothing to number. */
static Numbering *numbering = NULL;

/* What this session has assigned. */
static HTAB *last_assigned = NULL;

static bool enable_early_release = false;

/* What synchronous_commit was, -1 while it is not changed. */
static int	user_setting = -1;

static void check_trigger(FunctionCallInfo fcinfo);
static HeapTuple new_tuple(TriggerData *trigger);
static Target *find_queued(TriggerData *trigger);
static Target *find_target(TriggerData *trigger);
static bool is_same_target(const SkNumberTarget *a, const SkNumberTarget *b);
static void note_row(Target *target, ItemPointer tid);
static bool queue_event(TriggerData *trigger);
static LastAssigned *last_assigned_entry(int64 allocator_id,
										 HASHACTION action);
static void remember_number(int64 id, int64 number);
static void remember_assignment(const SkAssignment *assignment);
static void number_all(void);
static void queue_again(TriggerData *trigger, Target *target);
static int64 id_of_series(int64 parent_id, ArrayType *series);
static void flush_late(ResourceReleasePhase phase, bool is_commit,
					   bool is_top_level, void *arg);
static void release_early(void);
static void end_transaction(XactEvent event, void *arg);
static void start_level(int level);
static void end_level(int level, bool is_rolled_back);
static void end_subtransaction(SubXactEvent event, SubTransactionId subid,
							   SubTransactionId parent, void *arg);

static void
check_trigger(FunctionCallInfo fcinfo)
{
	const char *function = "spanner.assign_on_commit";
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager",
						function),
				 errhint("Use it in CREATE CONSTRAINT TRIGGER.")));
	if (!TRIGGER_FIRED_AFTER(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		!trigger->tg_trigger->tgdeferrable ||
		!trigger->tg_trigger->tginitdeferred)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be an initially deferred constraint trigger",
						trigger->tg_trigger->tgname),
				 errhint("Create it with CREATE CONSTRAINT TRIGGER ... DEFERRABLE INITIALLY DEFERRED FOR EACH ROW.")));
	if (!TRIGGER_FIRED_BY_INSERT(trigger->tg_event) &&
		!TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired for INSERT or UPDATE",
						trigger->tg_trigger->tgname),
				 errhint("Create it with AFTER INSERT.")));
	if (trigger->tg_trigger->tgnargs < 2)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must have two arguments",
						trigger->tg_trigger->tgname),
				 errhint("Create it with EXECUTE FUNCTION %s('allocator', 'column').",
						 function)));
	if (trigger->tg_trigger->tgnargs > SK_MAX_SERIES_COLUMNS + 2)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" has more than %d columns of a series",
						trigger->tg_trigger->tgname, SK_MAX_SERIES_COLUMNS)));
}

static HeapTuple
new_tuple(TriggerData *trigger)
{
	return TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ?
		trigger->tg_newtuple : trigger->tg_trigtuple;
}

static inline ItemPointer
row_version(TriggerData *trigger)
{
	return &new_tuple(trigger)->t_self;
}

/* The target if this event is the one that we have queued for it. */
static Target *
find_queued(TriggerData *trigger)
{
	ListCell   *lc;

	foreach(lc, numbering->targets)
	{
		Target	   *target = lfirst(lc);

		if (target->is_queued &&
			target->trigger == trigger->tg_trigger->tgoid &&
			ItemPointerEquals(&target->queued_tid, row_version(trigger)))
			return target;
	}
	return NULL;
}

static bool
is_same_target(const SkNumberTarget *a, const SkNumberTarget *b)
{
	return a->relid == b->relid && a->attnum == b->attnum && a->allocator_id == b->allocator_id &&
		a->series_count == b->series_count &&
		memcmp(a->series, b->series, a->series_count * sizeof(AttrNumber)) == 0;
}

/*
 * What numbers a row, NULL if it has a number.  Names are looked up for each
 * row: they may have changed in between.
 */
static Target *
find_target(TriggerData *trigger)
{
	MemoryContext old;
	SkNumberTarget number;
	Target	   *target;
	ListCell   *lc;
	bool		is_due = sk_number_target(&number, trigger->tg_relation, new_tuple(trigger),
										  trigger->tg_trigger->tgargs,
										  trigger->tg_trigger->tgnargs);

	/* a row that keeps its number stays in its series */
	if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		sk_number_check_series(&number, trigger->tg_relation,
							   trigger->tg_trigslot, trigger->tg_newslot);
	if (!is_due)
		return NULL;
	foreach(lc, numbering->targets)
	{
		target = lfirst(lc);
		if (target->trigger == trigger->tg_trigger->tgoid &&
			is_same_target(&target->number, &number))
			return target;
	}

	old = MemoryContextSwitchTo(TopTransactionContext);
	target = palloc0(sizeof(Target));
	target->number = number;
	target->trigger = trigger->tg_trigger->tgoid;
	numbering->targets = lappend(numbering->targets, target);
	MemoryContextSwitchTo(old);
	return target;
}

static void
note_row(Target *target, ItemPointer tid)
{
	uint64		next = numbering->progress.rows;

	Assert(numbering->progress.done <= next && next <= numbering->row_space);
	if (next == numbering->row_space)
	{
		numbering->rows = next == 0 ?
			MemoryContextAlloc(TopTransactionContext, 16 * sizeof(SkUnnumbered)) :
			repalloc_huge(numbering->rows, 2 * next * sizeof(SkUnnumbered));
		numbering->row_space = Max(16, 2 * next);
	}
	numbering->rows[next].target = &target->number;
	numbering->rows[next].tid = *tid;
	numbering->progress.rows++;
	numbering->rows_ever++;
}

/*
 * Queue an event for the row, as INSERT would do it.  Returns whether it was
 * called at once.
 */
static bool
queue_event(TriggerData *trigger)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *target = makeNode(ResultRelInfo);
	TriggerDesc *triggers = palloc0(sizeof(TriggerDesc));
	Trigger    *copy = palloc(sizeof(Trigger));

	/* it has fired before, so its conditions do not matter any more */
	*copy = *trigger->tg_trigger;
	copy->tgtype |= TRIGGER_TYPE_INSERT;
	copy->tgenabled = TRIGGER_FIRES_ALWAYS;
	copy->tgqual = NULL;
	triggers->triggers = copy;
	triggers->numtriggers = 1;
	triggers->trig_insert_after_row = true;
	InitResultRelInfo(target, trigger->tg_relation, 0, NULL, 0);
	target->ri_TrigDesc = triggers;

	Assert(!numbering->is_queueing);
	numbering->is_queueing = true;
	numbering->is_called_at_once = false;
	PG_TRY();
	{
		AfterTriggerBeginQuery();
		ExecARInsertTriggers(estate, target,
							 TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ?
							 trigger->tg_newslot : trigger->tg_trigslot,
							 NIL, NULL);
		AfterTriggerEndQuery(estate);
	}
	PG_FINALLY();
	{
		numbering->is_queueing = false;
	}
	PG_END_TRY();
	ExecResetTupleTable(estate->es_tupleTable, false);
	ExecCloseResultRelations(estate);
	FreeExecutorState(estate);
	return numbering->is_called_at_once;
}

/*
 * NULL if it is only to be found and there is none.  The current transaction
 * has pointers to the entries that it has made.
 */
static LastAssigned *
last_assigned_entry(int64 allocator_id, HASHACTION action)
{
	LastAssigned key = {{allocator_id, sk_allocator_table()}};
	LastAssigned *entry;
	bool		found;

	if (last_assigned != NULL && action == HASH_ENTER &&
		numbering->assignments == NIL &&
		hash_get_num_entries(last_assigned) >= SK_MAX_LAST_ASSIGNED)
	{
		hash_destroy(last_assigned);
		last_assigned = NULL;
	}
	if (last_assigned == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(key.key);
		ctl.entrysize = sizeof(LastAssigned);
		last_assigned = hash_create("spanner_keys last numbers", 16, &ctl,
									HASH_ELEM | HASH_BLOBS);
	}
	entry = hash_search(last_assigned, &key.key, action, &found);
	if (entry != NULL && !found)
		entry->is_committed = false;
	return entry;
}

/* The entry is made here, because nothing may fail after the commit. */
static void
remember_number(int64 id, int64 number)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	Assignment *kept = palloc(sizeof(Assignment));

	Assert(numbering->progress.assignments <= list_length(numbering->assignments));
	kept->entry = last_assigned_entry(id, HASH_ENTER);
	kept->number = number;
	/* those behind are of subtransactions that were rolled back */
	numbering->assignments =
		lappend(list_truncate(numbering->assignments,
							  numbering->progress.assignments++), kept);
	MemoryContextSwitchTo(old);
}

static void
remember_assignment(const SkAssignment *assignment)
{
	remember_number(assignment->allocator_id, assignment->last);
	if (assignment->counter_id != assignment->allocator_id)
		remember_number(assignment->counter_id, assignment->last);
}

/*
 * Number all rows that have been noted, and those that the triggers on them
 * note meanwhile.
 */
static void
number_all(void)
{
	Progress   *progress = &numbering->progress;

	if (numbering->is_numbering)
		return;
	numbering->is_numbering = true;
	Assert(progress->done <= progress->rows);
	PG_TRY();
	{
		while (progress->done < progress->rows)
		{
			uint64		count = progress->rows - progress->done;
			SkUnnumbered *batch =
				MemoryContextAllocHuge(CurrentMemoryContext,
									   count * sizeof(SkUnnumbered));
			List	   *assigned;
			ListCell   *lc;

			memcpy(batch, numbering->rows + progress->done,
				   count * sizeof(SkUnnumbered));
			assigned = sk_number_rows(batch, count);
			progress->done += count;
			foreach(lc, assigned)
				remember_assignment(lfirst(lc));
			pfree(batch);
		}
	}
	PG_FINALLY();
	{
		numbering->is_numbering = false;
	}
	PG_END_TRY();
	if (GetCurrentTransactionNestLevel() == 1)
		progress->rows = progress->done = 0;
}

/* Be called again for this row, after all events that are queued now. */
static void
queue_again(TriggerData *trigger, Target *target)
{
	if (queue_event(trigger))
		number_all();
	else
	{
		target->is_queued = true;
		target->queued_level = GetCurrentTransactionNestLevel();
		target->queued_tid = *row_version(trigger);
	}
}

/*
 * spanner.assign_on_commit() returns trigger
 *
 * Deferred constraint trigger with the arguments (allocator, column), and the
 * columns that tell the series.
 */
Datum
spanner_assign_on_commit(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	Target	   *target;

	check_trigger(fcinfo);
	/* a row of a dump that has no number had none */
	if (sk_dump_is_restored())
		return PointerGetDatum(NULL);
	if (numbering == NULL)
	{
		sk_forget_with_transaction((void **) &numbering);
		numbering = MemoryContextAllocZero(TopTransactionContext, sizeof(Numbering));
	}
	if (numbering->is_queueing)
	{
		numbering->is_called_at_once = true;
		return PointerGetDatum(NULL);
	}

	target = find_queued(trigger);
	if (target == NULL)
	{
		target = find_target(trigger);
		if (target == NULL)
			return PointerGetDatum(NULL);
		note_row(target, row_version(trigger));
		if (!target->is_queued)
		{
			target->seen = 0;
			queue_again(trigger, target);
		}
	}
	else
	{
		target->is_queued = false;
		Assert(target->seen <= numbering->rows_ever);
		if (target->seen == numbering->rows_ever)
			number_all();
		else
		{
			target->seen = numbering->rows_ever;
			queue_again(trigger, target);
		}
	}
	return PointerGetDatum(NULL);
}

/* The id of a series, 0 if there is none. */
static int64
id_of_series(int64 parent_id, ArrayType *series)
{
	SkTable		table;
	SkAllocatorRow row;
	bool		found;

	sk_table_open(&table, AccessShareLock);
	found = sk_series_find(&table, parent_id, series, &row);
	sk_table_close(&table);
	return found ? row.id : 0;
}

/*
 * spanner.last_assigned(name text, VARIADIC series text[]) returns bigint
 *
 * The last number that a committed transaction of this session has assigned,
 * of whatever series without one.
 */
Datum
spanner_last_assigned(PG_FUNCTION_ARGS)
{
	SkAllocator *allocator =
		sk_allocator_by_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	ArrayType  *series = sk_series_of_argument(fcinfo, 1);
	int64		id = allocator->id;
	LastAssigned *entry;

	sk_allocator_check_usage(allocator);
	if (series != NULL)
		id = id_of_series(id, series);
	entry = last_assigned_entry(id, HASH_FIND);
	if (entry == NULL || !entry->is_committed)
		PG_RETURN_NULL();
	PG_RETURN_INT64(entry->number);
}

/*
 * The locks have been released, by a commit or because it has failed.  Do what
 * a commit has left out.  As in RecordTransactionCommit(), a failure to flush
 * must not look like a rollback.
 */
static void
flush_late(ResourceReleasePhase phase, bool is_commit, bool is_top_level,
		   void *arg)
{
	if (user_setting < 0 || !is_top_level || phase != RESOURCE_RELEASE_AFTER_LOCKS)
		return;
	/* core puts settings of the transaction back later than this */
	Assert(synchronous_commit == SYNCHRONOUS_COMMIT_OFF);
	synchronous_commit = user_setting;
	user_setting = -1;
	if (!is_commit)
		return;

	START_CRIT_SECTION();
	XLogFlush(XactLastCommitEnd);
	END_CRIT_SECTION();
	SyncRepWaitForLSN(XactLastCommitEnd, true);
}

/* Have the transaction that is about to commit release its locks early. */
static void
release_early(void)
{
	if (!enable_early_release || user_setting >= 0 ||
		synchronous_commit == SYNCHRONOUS_COMMIT_OFF)
		return;
	user_setting = synchronous_commit;
	synchronous_commit = SYNCHRONOUS_COMMIT_OFF;
}

static void
end_transaction(XactEvent event, void *arg)
{
	if (numbering == NULL || numbering->progress.assignments == 0)
		return;
	Assert(numbering->progress.assignments <= list_length(numbering->assignments));
	if (event == XACT_EVENT_PRE_COMMIT)
		release_early();
	else if (event == XACT_EVENT_PRE_PREPARE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot PREPARE a transaction that has altered or numbered from an allocator"),
				 errhint("Number rows in a transaction that commits in one step.")));
	else if (event == XACT_EVENT_COMMIT)
		for (int i = 0; i < numbering->progress.assignments; i++)
		{
			Assignment *kept = list_nth(numbering->assignments, i);

			kept->entry->number = kept->number;
			kept->entry->is_committed = true;
		}
}

/* Note how far the transaction has come when a subtransaction begins. */
static void
start_level(int level)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	Progress   *start = palloc(sizeof(Progress));

	Assert(level >= 2 && (numbering->starts == NIL ||
						  ((Progress *) llast(numbering->starts))->level < level));
	*start = numbering->progress;
	start->level = level;
	numbering->starts = lappend(numbering->starts, start);
	MemoryContextSwitchTo(old);
}

/* A level without a note began when there was nothing yet. */
static void
end_level(int level, bool is_rolled_back)
{
	Progress	start = {0};
	ListCell   *lc;

	if (numbering->starts != NIL &&
		((Progress *) llast(numbering->starts))->level == level)
	{
		start = *(Progress *) llast(numbering->starts);
		pfree(llast(numbering->starts));
		numbering->starts = list_delete_last(numbering->starts);
	}
	Assert(numbering->starts == NIL ||
		   ((Progress *) llast(numbering->starts))->level < level);
	Assert(start.rows <= numbering->progress.rows &&
		   start.done <= numbering->progress.done &&
		   start.assignments <= numbering->progress.assignments);
	if (is_rolled_back)
		numbering->progress = start;
	foreach(lc, numbering->targets)
	{
		Target	   *target = lfirst(lc);

		if (is_rolled_back && target->queued_level >= level)
			target->is_queued = false;
		target->queued_level = Min(target->queued_level, level - 1);
	}
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	if (numbering == NULL)
		return;
	if (event == SUBXACT_EVENT_START_SUB)
		start_level(level);
	else if (event == SUBXACT_EVENT_COMMIT_SUB ||
			 event == SUBXACT_EVENT_ABORT_SUB)
		end_level(level, event == SUBXACT_EVENT_ABORT_SUB);
}

/*
 * sk_commit_number_settings
 *		Define the setting.
 */
void
sk_commit_number_settings(void)
{
	DefineCustomBoolVariable("spanner_keys.early_lock_release",
							 "Enables transactions that number rows to release their locks before their commit is durable.",
							 "COMMIT returns when it is durable, but others see the rows shortly before that.",
							 &enable_early_release,
							 false,
							 PGC_SUSET,
							 0,
							 NULL, NULL, NULL);
}

/*
 * sk_commit_number_init
 *		Watch the ends of transactions.
 */
void
sk_commit_number_init(void)
{
	RegisterResourceReleaseCallback(flush_late, NULL);
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}
