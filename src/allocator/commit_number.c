/*-------------------------------------------------------------------------
 *
 * commit_number.c
 *	  Numbering rows when their transaction commits.
 *
 * The deferred trigger only notes its row, and queues the same event once more for the
 * first row of a target.  Events that are queued while deferred triggers run are called
 * in a further round, which core repeats until there are none.  When a whole round has
 * brought no new row, all rows are numbered together: an allocator is locked as late as
 * can be, once, and several allocators are locked in the order of their ids.  Rows that
 * others may refer to are locked before.
 *
 * An XactCallback at XACT_EVENT_PRE_COMMIT would come later still, but the
 * updates fire triggers of users, and these may open cursors or foreign
 * transactions which core and other extensions have finished off by then.
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
 * With spanner_keys.early_lock_release such a transaction commits asynchronously: the
 * commit record is written, the locks are released, and only then, but before the
 * client is told, we flush, and wait for synchronous standbys.  The next transaction's
 * commit record comes later in the WAL, so a crash takes away the last numbers and
 * leaves no gap.  synchronous_commit is changed in its variable only, from
 * XACT_EVENT_PRE_COMMIT to the release of the locks.  No code of a user runs in
 * between, and what the setting says elsewhere, SyncRepWaitMode included, stays as it is.
 *
 * Rows are written as the owner of their table, as foreign keys do it: who
 * may insert need not be allowed to update.  The owner, not the one who
 * inserts, must be allowed to use the allocator.
 *
 * src/allocator/commit_number.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "replication/syncrep.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "allocator/allocator.h"
#include "keys/canonical.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/owner_rights.h"
#include "spi/row_writer.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_assign_on_commit);
PG_FUNCTION_INFO_V1(spanner_last_assigned);

/*
 * A trigger that has been called in this transaction, the column and the
 * allocator that its arguments have named.
 */
typedef struct Target
{
	Oid			trigger;
	Oid			relid;
	SkNumberedColumn column;
	int64		allocator_id;

	bool		is_queued;		/* have we queued an event? */
	int			queued_level;	/* in which level of subtransactions? */
	ItemPointerData queued_tid; /* for which row version? */
	uint64		seen;			/* rows_ever when it was queued, 0 at first */
} Target;

/* A row that may be due for a number. */
typedef struct Unnumbered
{
	const Target *target;
	ItemPointerData tid;		/* any version; the last if it is due */
	ArrayType  *series;			/* if it is due; NULL if the target has none */
	uint64		position;		/* if it is due */
} Unnumbered;

/* How far a transaction has come. */
typedef struct Progress
{
	int			level;			/* of subtransactions */
	uint64		rows;			/* noted */
	uint64		done;			/* of these, from the first on */
	uint64		left_out;		/* as rows of a dump */
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
	Unnumbered *rows;
	uint64		row_space;
	uint64		rows_ever;
	List	   *assignments;	/* of Assignment */
	Progress	progress;
	List	   *starts;			/* of Progress, where subtransactions began */
	bool		is_queueing;
	bool		is_called_at_once;
	bool		is_numbering;
} Numbering;

/* What writes numbers into a column. */
typedef struct ColumnWriter
{
	SkRowWriter rows;
	Relation	rel;
	AttrNumber	attnum;
	Oid			type;			/* of the column, without its domain */
	ExprState  *coercion;		/* of a bigint to the type of the column */
	TupleTableSlot *old;
	TupleTableSlot *new;

	/* for the context of errors */
	const char *allocator;
	char	   *series;			/* printed, NULL if there is none */
	int64		number;
	ErrorContextCallback callback;
} ColumnWriter;

/* In TopTransactionContext, NULL if there is nothing to number. */
static Numbering *numbering = NULL;

/* What this session has assigned. */
static HTAB *last_assigned = NULL;

static bool enable_early_release = false;

/* What synchronous_commit was, -1 while it is not changed. */
static int	user_setting = -1;

static Oid	not_null_domain(Oid type);
static void check_column(Relation rel, AttrNumber attnum);
static void check_mode(const char *name, SkMode mode);
static AttrNumber find_column(Relation rel, const char *column);
static AttrNumber find_series_column(Relation rel, const char *name,
									 AttrNumber number);
static bool is_due(TriggerData *trigger, AttrNumber attnum);
static void leave_out(TriggerData *trigger);
static bool find_row(Relation rel, AttrNumber attnum, ItemPointer tid,
					 TupleTableSlot *slot);
static ArrayType *row_series(const Target *target, Relation rel,
							 TupleTableSlot *slot);
static bool is_same_value(TupleTableSlot *old, TupleTableSlot *new,
						  AttrNumber attnum);
static void check_series(const Target *target, Relation rel,
						 TupleTableSlot *old, TupleTableSlot *new);
static Target *find_target(TriggerData *trigger);
static bool is_of_key(Relation rel, AttrNumber number);
static void lock_key(TriggerData *trigger, AttrNumber attnum);
static void note_row(Target *target, ItemPointer tid);
static bool queue_event(TriggerData *trigger);
static LastAssigned *last_assigned_entry(int64 allocator_id,
										 HASHACTION action);
static void remember_number(int64 id, int64 number);
static void forget_numbers(Node *command);
static uint64 collect_due(Unnumbered *rows, uint64 count);
static int	compare_counters(const Unnumbered *x, const Unnumbered *y);
static int	compare_due(const void *a, const void *b);
static void begin_writing(ColumnWriter *writer, const Target *target,
						  Oid *userid, int *sec_context);
static void add_number_context(void *arg);
static bool holds_number(const ColumnWriter *writer);
static void write_number(ColumnWriter *writer, const Unnumbered *due);
static void number_table(SkAllocatorRow *allocator, Unnumbered *due,
						 uint64 count, int64 *last);
static void number_group(Unnumbered *due, uint64 count);
static void number_rows(Unnumbered *due, uint64 count);
static void number_all(void);
static void queue_again(TriggerData *trigger, Target *target);
static void flush_late(ResourceReleasePhase phase, bool is_commit,
					   bool is_top_level, void *arg);
static void end_transaction(XactEvent event, void *arg);
static void end_level(int level, bool is_rolled_back);
static void end_subtransaction(SubXactEvent event, SubTransactionId subid,
							   SubTransactionId parent, void *arg);

/* The row version of an event. */
static inline TupleTableSlot *
new_slot(TriggerData *trigger)
{
	return TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ?
		trigger->tg_newslot : trigger->tg_trigslot;
}

/*
 * sk_commit_number_init
 *		Watch the ends of transactions.
 */
void
sk_commit_number_init(void)
{
	DefineCustomBoolVariable("spanner_keys.early_lock_release",
							 "Enables transactions that number rows to release their locks before their commit is durable.",
							 "COMMIT returns when it is durable, but others see the rows shortly before that.",
							 &enable_early_release,
							 false,
							 PGC_SUSET,
							 0,
							 NULL, NULL, NULL);
	sk_on_command(forget_numbers, NULL, NULL);
	RegisterResourceReleaseCallback(flush_late, NULL);
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}

/*
 * sk_check_numbering_trigger
 *		Raise an error if a trigger that calls spanner.assign_on_commit() cannot
 *		do so.
 */
void
sk_check_numbering_trigger(const Trigger *trigger)
{
	if (!TRIGGER_FOR_ROW(trigger->tgtype) ||
		!TRIGGER_FOR_AFTER(trigger->tgtype) || TRIGGER_FOR_DELETE(trigger->tgtype) ||
		!trigger->tgdeferrable || !trigger->tginitdeferred)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be an initially deferred constraint trigger for INSERT or UPDATE",
						trigger->tgname),
				 errhint("Create it with CREATE CONSTRAINT TRIGGER ... AFTER INSERT ... DEFERRABLE INITIALLY DEFERRED FOR EACH ROW.")));
	if (trigger->tgnargs < 2 || trigger->tgnargs > SK_MAX_SERIES_COLUMNS + 2)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must have two arguments, and at most %d columns of a series",
						trigger->tgname, SK_MAX_SERIES_COLUMNS),
				 errhint("Create it with EXECUTE FUNCTION %s('allocator', 'column').",
						 "spanner.assign_on_commit")));
}

/*
 * sk_numbered_column
 *		Find a column for numbers, and those that tell the series, whose names
 *		come after it.  Raises an error if one of them cannot do that.
 */
void
sk_numbered_column(Relation rel, char *const *names, int count,
				   SkNumberedColumn *column)
{
	Assert(count >= 1 && count <= SK_MAX_SERIES_COLUMNS + 1);
	memset(column, 0, sizeof(*column));
	column->attnum = find_column(rel, names[0]);
	check_column(rel, column->attnum);
	for (int i = 1; i < count; i++)
		column->series[column->series_count++] =
			find_series_column(rel, names[i], column->attnum);
}

/*
 * sk_numbering_allocator
 *		Find an allocator that assigns numbers on commit.
 */
SkAllocator *
sk_numbering_allocator(const char *name)
{
	SkAllocator *result = sk_allocator_find(name, 0);

	check_mode(result->row.name, result->row.mode);
	return result;
}

/* The domain that a type is, or is based on, and that is NOT NULL. */
static Oid
not_null_domain(Oid type)
{
	Oid			result = InvalidOid;

	while (!OidIsValid(result) && get_typtype(type) == TYPTYPE_DOMAIN)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", type);
		if (((Form_pg_type) GETSTRUCT(tuple))->typnotnull)
			result = type;
		type = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
		ReleaseSysCache(tuple);
	}
	return result;
}

static void
check_column(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	Oid			type = getBaseType(column->atttypid);
	Oid			domain = not_null_domain(column->atttypid);

	if (type != INT2OID && type != INT4OID && type != INT8OID &&
		type != NUMERICOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" cannot hold numbers of an allocator",
						NameStr(column->attname), RelationGetRelationName(rel)),
				 errdetail("Its type is %s.", format_type_be(column->atttypid)),
				 errhint("Use a column of type smallint, integer, bigint or numeric.")));
	if (column->attgenerated != '\0' || column->attidentity != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of relation \"%s\" is an identity or generated column",
						NameStr(column->attname), RelationGetRelationName(rel)),
				 errhint("Use a column that has no other source of values.")));
	if (column->attnotnull || OidIsValid(domain))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of relation \"%s\" is NOT NULL",
						NameStr(column->attname), RelationGetRelationName(rel)),
				 errdetail("Rows have no number until their transaction commits."),
				 !column->attnotnull ?
				 errhint("Run ALTER DOMAIN %s DROP NOT NULL.", format_type_be(domain)) :
				 errhint("Run ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL.",
						 sk_qualified_name(RelationGetRelid(rel)),
						 quote_identifier(NameStr(column->attname)))));
}

static void
check_mode(const char *name, SkMode mode)
{
	if (mode != SK_MODE_ON_COMMIT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("allocator \"%s\" does not assign values on commit",
						name),
				 errdetail("Its mode is \"%s\".", sk_mode_names[mode]),
				 errhint("Change it with %s.",
						 "spanner.alter_allocator(name, mode => 'on_commit')")));
}

static AttrNumber
find_column(Relation rel, const char *column)
{
	TupleDesc	desc = RelationGetDescr(rel);
	AttrNumber	result = get_attnum(RelationGetRelid(rel), column);
	SkNearName	near = {column};

	if (result > 0)
		return result;
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			sk_near_name_try(&near, NameStr(TupleDescAttr(desc, i)->attname));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist",
					column, RelationGetRelationName(rel)),
			 near.found[0] != '\0' ?
			 errhint("Perhaps you meant column \"%s\".", near.found) : 0));
}

/*
 * A virtual generated column, 'v' in releases that have them, is not stored.  Texts that
 * differ are two series, and must not be equal for a unique index.
 */
static AttrNumber
find_series_column(Relation rel, const char *name, AttrNumber number)
{
	AttrNumber	attnum = find_column(rel, name);
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	bool		is_key = sk_key_kind(column->atttypid) != SK_KEY_UNSUPPORTED;
	bool		is_exact = !OidIsValid(column->attcollation) ||
		get_collation_isdeterministic(column->attcollation);

	if (!is_key || !is_exact || attnum == number || column->attgenerated == 'v')
		ereport(ERROR,
				(errcode(is_key ? ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE : ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" cannot tell the series of a number",
						name, RelationGetRelationName(rel)),
				 !is_key ? errdetail("Its type is %s.", format_type_be(column->atttypid)) :
				 !is_exact ? errdetail("Its collation is not deterministic.") :
				 attnum == number ? errdetail("It is to hold the number.") :
				 errdetail("It is a virtual generated column."),
				 is_key ? 0 : errhint("Types of keys are %s.", sk_key_type_names())));
	return attnum;
}

/*
 * Find the latest version of a row, if it is there and has no number.  The row
 * is of the current transaction, so nothing matters but what that has done.
 */
static bool
find_row(Relation rel, AttrNumber attnum, ItemPointer tid, TupleTableSlot *slot)
{
	TableScanDesc scan;

	if (table_tuple_fetch_row_version(rel, tid, SnapshotSelf, slot))
		return slot_attisnull(slot, attnum);
	scan = table_beginscan_tid(rel, SnapshotSelf);
	table_tuple_get_latest_tid(scan, tid);
	table_endscan(scan);
	return table_tuple_fetch_row_version(rel, tid, SnapshotSelf, slot) &&
		slot_attisnull(slot, attnum);
}

/* Has the latest version of a row no number?  It may have lost it since. */
static bool
is_due(TriggerData *trigger, AttrNumber attnum)
{
	ItemPointerData tid = new_slot(trigger)->tts_tid;
	TupleTableSlot *slot = table_slot_create(trigger->tg_relation, NULL);
	bool		result = find_row(trigger->tg_relation, attnum, &tid, slot);

	ExecDropSingleTupleTableSlot(slot);
	return result;
}

/*
 * Count a row that stays without a number, since this seems to be a restore.
 * Nothing tells a dump from an application that goes on in its session.
 */
static void
leave_out(TriggerData *trigger)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(trigger->tg_relation),
									trigger->tg_trigger->tgargs[1]);

	if (attnum > 0 && slot_attisnull(new_slot(trigger), attnum) && is_due(trigger, attnum))
		numbering->progress.left_out++;
}

/*
 * sk_series_text
 *		What a value of a column is in the name of a series.
 *
 * A text in the encoding of the database; bytes are shown in hexadecimal.
 */
Datum
sk_series_text(Datum value, Oid type)
{
	SkKeyKind	kind = sk_key_kind(type);
	SkKeyText	key;
	Datum		result;

	sk_key_text(kind, value, &key);
	if (kind == SK_KEY_BYTEA)
	{
		char	   *hex = palloc(2 * key.len + 3);

		memcpy(hex, "\\x", 2);
		hex[2 + hex_encode(key.data, key.len, hex + 2)] = '\0';
		result = CStringGetTextDatum(hex);
	}
	else
	{
		char	   *text = pnstrdup(key.data, key.len);

		result = CStringGetTextDatum(pg_any_to_server(text, key.len, PG_UTF8));
	}
	return result;
}

/* The series that columns of a row name, NULL if the target has none. */
static ArrayType *
row_series(const Target *target, Relation rel, TupleTableSlot *slot)
{
	Datum		texts[SK_MAX_SERIES_COLUMNS];

	Assert(target->column.series_count <= SK_MAX_SERIES_COLUMNS);
	if (target->column.series_count == 0)
		return NULL;
	for (int i = 0; i < target->column.series_count; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), target->column.series[i] - 1);
		bool		isnull;
		Datum		value = slot_getattr(slot, target->column.series[i], &isnull);

		if (isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("null value in column \"%s\" of relation \"%s\", which tells the series of a number",
							NameStr(column->attname), RelationGetRelationName(rel)),
					 errhint("Declare the column NOT NULL, or give it a value that means none."),
					 errtablecol(rel, target->column.series[i])));
		texts[i] = sk_series_text(value, column->atttypid);
	}
	return sk_series_make(texts, target->column.series_count);
}

static bool
is_same_value(TupleTableSlot *old, TupleTableSlot *new, AttrNumber attnum)
{
	Form_pg_attribute column = TupleDescAttr(old->tts_tupleDescriptor, attnum - 1);
	bool		is_null[2];
	Datum		values[2];

	values[0] = slot_getattr(old, attnum, &is_null[0]);
	values[1] = slot_getattr(new, attnum, &is_null[1]);
	return is_null[0] == is_null[1] &&
		(is_null[0] || datum_image_eq(values[0], values[1], column->attbyval, column->attlen));
}

/*
 * Refuse an update that takes a number into another series.
 *
 * A row with a NULL, which got its number by hand, is of no series.
 */
static void
check_series(const Target *target, Relation rel,
			 TupleTableSlot *old, TupleTableSlot *new)
{
	bool		is_changed = false;
	bool		has_null = false;

	for (int i = 0; i < target->column.series_count; i++)
	{
		is_changed |= !is_same_value(old, new, target->column.series[i]);
		has_null |= slot_attisnull(old, target->column.series[i]) ||
			slot_attisnull(new, target->column.series[i]);
	}
	if (!is_changed || slot_attisnull(new, target->column.attnum) ||
		!is_same_value(old, new, target->column.attnum) ||
		(!has_null &&
		 sk_series_compare(row_series(target, rel, old), row_series(target, rel, new)) == 0))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
			 errmsg("cannot change the series of a numbered row of relation \"%s\"",
					RelationGetRelationName(rel)),
			 has_null ? 0 :
			 errdetail("Its number is one of series (%s), not of (%s).",
					   sk_series_print(row_series(target, rel, old)),
					   sk_series_print(row_series(target, rel, new))),
			 errhint("Set column \"%s\" to NULL as well: the row gets a number of the other series.",
					 NameStr(TupleDescAttr(RelationGetDescr(rel), target->column.attnum - 1)->attname))));
}

/*
 * What numbers a row, NULL if it has a number, and needs no allocator: a dump may
 * restore that later.  Names are looked up for each row: they may have changed in
 * between.
 */
static Target *
find_target(TriggerData *trigger)
{
	const Trigger *definition = trigger->tg_trigger;
	Relation	rel = trigger->tg_relation;
	Target		number = {.trigger = definition->tgoid,.relid = RelationGetRelid(rel)};
	Target	   *target;
	MemoryContext old;
	ListCell   *lc;
	bool		is_unnumbered;

	sk_numbered_column(rel, definition->tgargs + 1, definition->tgnargs - 1, &number.column);
	is_unnumbered = slot_attisnull(new_slot(trigger), number.column.attnum) ||
		is_due(trigger, number.column.attnum);
	if (is_unnumbered)
		number.allocator_id = sk_numbering_allocator(definition->tgargs[0])->id;
	/* a row that keeps its number stays in its series */
	if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		check_series(&number, rel, trigger->tg_trigslot, trigger->tg_newslot);
	if (!is_unnumbered)
		return NULL;
	foreach(lc, numbering->targets)
	{
		target = lfirst(lc);
		if (target->trigger == number.trigger && target->relid == number.relid &&
			target->allocator_id == number.allocator_id &&
			memcmp(&target->column, &number.column, sizeof(SkNumberedColumn)) == 0)
			return target;
	}

	old = MemoryContextSwitchTo(TopTransactionContext);
	target = palloc(sizeof(Target));
	*target = number;
	numbering->targets = lappend(numbering->targets, target);
	MemoryContextSwitchTo(old);
	return target;
}

/* Is the number part of a key, or a column that may be generated from it? */
static bool
is_of_key(Relation rel, AttrNumber number)
{
	Bitmapset  *keys = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_KEY);
	bool		result = false;

	for (int i = bms_next_member(keys, -1); i >= 0; i = bms_next_member(keys, i))
	{
		AttrNumber	attnum = i + FirstLowInvalidHeapAttributeNumber;

		result |= attnum == number ||
			TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated != '\0';
	}
	bms_free(keys);
	return result;
}

/*
 * Lock a row that others may see, if the number is part of a key: whoever refers to the
 * row keeps its key until their transaction ends.  The write would wait for them too,
 * but with the allocator locked, so that all others wait as well.
 */
static void
lock_key(TriggerData *trigger, AttrNumber attnum)
{
	Relation	rel = trigger->tg_relation;
	ItemPointerData tid = new_slot(trigger)->tts_tid;
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TM_FailureData failure;

	if (is_of_key(rel, attnum) && find_row(rel, attnum, &tid, slot))
	{
		/* what this command has written can be locked */
		CommandCounterIncrement();
		(void) table_tuple_lock(rel, &tid, GetActiveSnapshot(), slot,
								GetCurrentCommandId(false), LockTupleExclusive,
								LockWaitBlock, 0, &failure);
	}
	ExecDropSingleTupleTableSlot(slot);
}

static void
note_row(Target *target, ItemPointer tid)
{
	uint64		next = numbering->progress.rows;

	Assert(numbering->progress.done <= next && next <= numbering->row_space);
	if (next == numbering->row_space)
	{
		numbering->rows = next == 0 ?
			MemoryContextAlloc(TopTransactionContext, 16 * sizeof(Unnumbered)) :
			repalloc_huge(numbering->rows, 2 * next * sizeof(Unnumbered));
		numbering->row_space = Max(16, 2 * next);
	}
	numbering->rows[next].target = target;
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

	/*
	 * Core queues what ri_TrigDesc says, and finds the trigger again by tgoid
	 * in the relation cache when the event is called.  If it looked for it in
	 * the relation cache already here, a trigger that is for UPDATE only or
	 * has a WHEN condition would not be queued: the tests of triggers of
	 * numbers on commit see rows without a number.
	 */
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
		ExecARInsertTriggers(estate, target, new_slot(trigger), NIL, NULL);
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
		HASHCTL		ctl = {.keysize = sizeof(key.key),.entrysize = sizeof(LastAssigned)};

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

/* As DISCARD SEQUENCES has lastval() forget. */
static void
forget_numbers(Node *command)
{
	HASH_SEQ_STATUS status;
	LastAssigned *entry;

	if (!IsA(command, DiscardStmt) || last_assigned == NULL ||
		(((DiscardStmt *) command)->target != DISCARD_ALL &&
		 ((DiscardStmt *) command)->target != DISCARD_SEQUENCES))
		return;
	/* the current transaction has pointers to the entries */
	hash_seq_init(&status, last_assigned);
	while ((entry = hash_seq_search(&status)) != NULL)
		entry->is_committed = false;
}

/*
 * Leave the rows that need a number in the array, and return how many.  A row can
 * be there several times: when it was inserted and updated, or if two triggers fill
 * the same column.  It has a number at the second time.
 *
 * Rows of one counter are looked at when they are written.  One must be due
 * before that is locked.
 */
static uint64
collect_due(Unnumbered *rows, uint64 count)
{
	Relation	rel = NULL;
	TupleTableSlot *slot = NULL;
	uint64		found = 0;
	bool		is_one_counter = rows[0].target->column.series_count == 0;

	for (uint64 i = 1; i < count; i++)
		is_one_counter &= rows[i].target == rows[0].target;
	/* what was inserted so far can be updated */
	CommandCounterIncrement();
	for (uint64 i = 0; i < count; i++)
	{
		const Target *target = rows[i].target;
		Unnumbered	row = {target, rows[i].tid, NULL, i};

		CHECK_FOR_INTERRUPTS();
		if (is_one_counter && found > 0)
		{
			rows[found++] = row;
			continue;
		}
		if (rel == NULL || RelationGetRelid(rel) != target->relid)
		{
			if (rel != NULL)
			{
				ExecDropSingleTupleTableSlot(slot);
				table_close(rel, NoLock);
			}
			rel = table_open(target->relid, RowExclusiveLock);
			slot = table_slot_create(rel, NULL);
		}
		if (!find_row(rel, target->column.attnum, &row.tid, slot))
			continue;
		row.series = row_series(target, rel, slot);
		rows[found++] = row;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, NoLock);
	return found;
}

/*
 * By allocator and series.  Series that begin get their ids in this order, so
 * ids would be no order that is the same for all transactions.
 */
static int
compare_counters(const Unnumbered *x, const Unnumbered *y)
{
	if (x->target->allocator_id != y->target->allocator_id)
		return x->target->allocator_id < y->target->allocator_id ? -1 : 1;
	return sk_series_compare(x->series, y->series);
}

/* By counter, and as the rows came. */
static int
compare_due(const void *a, const void *b)
{
	const Unnumbered *x = a;
	const Unnumbered *y = b;
	int			result = compare_counters(x, y);

	if (result != 0)
		return result;
	return x->position < y->position ? -1 : 1;
}

/*
 * Become the owner of the table, and prepare to write.  A check, a domain or a
 * trigger runs as the owner.  Triggers that are deferred go on doing so later,
 * so the security context is not a restricted one.
 */
static void
begin_writing(ColumnWriter *writer, const Target *target,
			  Oid *userid, int *sec_context)
{
	Relation	rel = table_open(target->relid, RowExclusiveLock);
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), target->column.attnum - 1);
	CaseTestExpr *number = makeNode(CaseTestExpr);
	Node	   *coercion;

	GetUserIdAndSecContext(userid, sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   *sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	sk_writer_begin(&writer->rows, rel, target->column.attnum, true);
	number->typeId = INT8OID;
	number->typeMod = -1;
	coercion = coerce_to_target_type(NULL, (Node *) number, INT8OID,
									 column->atttypid, column->atttypmod,
									 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
	Assert(coercion != NULL);
	writer->coercion = ExecPrepareExpr((Expr *) coercion, writer->rows.estate);
	writer->rel = rel;
	writer->attnum = target->column.attnum;
	writer->type = getBaseType(column->atttypid);
	writer->old = table_slot_create(rel, NULL);
	writer->new = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);
}

/* Name the number that is written. */
static void
add_number_context(void *arg)
{
	const ColumnWriter *writer = arg;

	if (writer->series == NULL)
		errcontext("number %lld of allocator \"%s\"",
				   (long long) writer->number, writer->allocator);
	else
		errcontext("number %lld of allocator \"%s\", series (%s)",
				   (long long) writer->number, writer->allocator, writer->series);
	/* not, if it comes from within a trigger of the table */
	if (geterrcode() == ERRCODE_UNIQUE_VIOLATION &&
		error_context_stack == &writer->callback)
		errhint("If this number was given by hand before, move the allocator past it with %s.",
				"spanner.advance_allocator()");
}

/* Does the column hold the number? */
static bool
holds_number(const ColumnWriter *writer)
{
	int64		number = writer->number;
	bool		isnull;
	Datum		value = slot_getattr(writer->new, writer->attnum, &isnull);

	if (isnull)
		return false;
	switch (writer->type)
	{
		case INT2OID:
			return DatumGetInt16(value) == number;
		case INT4OID:
			return DatumGetInt32(value) == number;
		case INT8OID:
			return DatumGetInt64(value) == number;
		default:
			Assert(writer->type == NUMERICOID);
			return DatumGetBool(DirectFunctionCall2(numeric_eq, value,
													NumericGetDatum(int64_to_numeric(number))));
	}
}

/*
 * Write the number into the row that is in writer->old.  A trigger may keep it
 * from being stored, which is an error.
 */
static void
write_number(ColumnWriter *writer, const Unnumbered *due)
{
	TupleTableSlot *new = writer->new;
	int			natts = RelationGetDescr(writer->rel)->natts;
	ExprContext *context = GetPerTupleExprContext(writer->rows.estate);
	bool		is_written;
	bool		is_of_series;

	ExecClearTuple(new);
	ResetExprContext(context);
	slot_getallattrs(writer->old);
	memcpy(new->tts_values, writer->old->tts_values, natts * sizeof(Datum));
	memcpy(new->tts_isnull, writer->old->tts_isnull, natts * sizeof(bool));
	context->caseValue_datum = Int64GetDatum(writer->number);
	context->caseValue_isNull = false;
	new->tts_values[writer->attnum - 1] =
		ExecEvalExprSwitchContext(writer->coercion, context,
								  &new->tts_isnull[writer->attnum - 1]);
	ExecStoreVirtualTuple(new);

	sk_writer_write(&writer->rows, CMD_UPDATE, writer->old, new);
	is_written = ItemPointerIsValid(&new->tts_tid);
	is_of_series = !is_written ||
		sk_series_compare(row_series(due->target, writer->rel, new), due->series) == 0;
	if (is_written && is_of_series && holds_number(writer))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			 errmsg("could not write number %lld into a row of relation \"%s\"",
					(long long) writer->number, RelationGetRelationName(writer->rel)),
			 !is_written ? errdetail("The update of the row was suppressed.") :
			 !is_of_series ?
			 errdetail("The number is one of series (%s), which the row has left.",
					   sk_series_print(due->series)) :
			 errdetail("Another value was stored in its place."),
			 errhint("Look for a trigger on the table that does that, or at the column's type.")));
}

/* Number rows of one table.  Sets *last to the last number, if there is one. */
static void
number_table(SkAllocatorRow *allocator, Unnumbered *due, uint64 count,
			 int64 *last)
{
	ColumnWriter writer = {.allocator = allocator->name,
	.callback = {error_context_stack, add_number_context, &writer}};
	Oid			userid;
	int			sec_context;

	(void) sk_check_usage(&sk_allocator_find(NULL, allocator->id)->row,
						  sk_relation_owner(due->target->relid), false);
	begin_writing(&writer, due->target, &userid, &sec_context);
	if (due->series != NULL)
		writer.series = sk_series_print(due->series);
	for (uint64 i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();

		/* a trigger of a row before may have changed or deleted this one */
		if (!find_row(writer.rel, writer.attnum, &due[i].tid, writer.old))
			continue;
		/* nothing happens in between, so no number is lost */
		*last = writer.number = sk_own_take(allocator, 1, NULL).first;
		error_context_stack = &writer.callback;
		write_number(&writer, &due[i]);
		error_context_stack = writer.callback.previous;
	}
	ExecDropSingleTupleTableSlot(writer.new);
	ExecDropSingleTupleTableSlot(writer.old);
	sk_writer_end(&writer.rows);
	SetUserIdAndSecContext(userid, sec_context);
	table_close(writer.rel, NoLock);
}

/*
 * Number the rows of one allocator, or of one series, which is locked first, and
 * note the last number if any of them was left.
 */
static void
number_group(Unnumbered *due, uint64 count)
{
	int64		allocator_id = due[0].target->allocator_id;
	ArrayType  *series = due[0].series;
	SkAllocator *found;
	SkAllocatorRow allocator;
	SkMode		mode;
	int64		first;
	int64		last;
	uint64		end;

	PreventCommandIfReadOnly("spanner.assign_on_commit()");
	found = series == NULL ? sk_allocator_find(NULL, allocator_id) :
		sk_allocator_by_series(allocator_id, series, true);
	first = sk_own_take(&found->row, 0, &mode).first;
	/* the cache may forget it while the triggers of users run */
	allocator = found->row;
	check_mode(allocator.name, mode);
	last = first - 1;
	for (uint64 i = 0; i < count; i = end)
	{
		for (end = i + 1; end < count; end++)
			if (due[end].target != due[i].target)
				break;
		number_table(&allocator, due + i, end - i, &last);
	}
	if (last < first)
		return;
	remember_number(allocator_id, last);
	if (series != NULL)
		remember_number(allocator.id, last);
}

/* Give numbers to rows, in their order. */
static void
number_rows(Unnumbered *due, uint64 count)
{
	uint64		due_count = collect_due(due, count);
	uint64		end;

	qsort(due, due_count, sizeof(Unnumbered), compare_due);
	for (uint64 i = 0; i < due_count; i = end)
	{
		for (end = i + 1; end < due_count; end++)
			if (compare_counters(&due[end], &due[i]) != 0)
				break;
		/* all transactions lock the rows of allocators in this order */
		Assert(end == due_count || compare_counters(&due[i], &due[end]) < 0);
		number_group(due + i, end - i);
	}
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
			Unnumbered *batch =
				MemoryContextAllocHuge(CurrentMemoryContext,
									   count * sizeof(Unnumbered));

			memcpy(batch, numbering->rows + progress->done,
				   count * sizeof(Unnumbered));
			number_rows(batch, count);
			progress->done += count;
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
		target->queued_tid = new_slot(trigger)->tts_tid;
	}
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

static void
end_transaction(XactEvent event, void *arg)
{
	int			count = numbering == NULL ? 0 : numbering->progress.assignments;

	Assert(count == 0 || count <= list_length(numbering->assignments));
	if ((event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE) &&
		numbering != NULL && numbering->progress.left_out > 0)
		ereport(WARNING,
				(errcode(ERRCODE_WARNING),
				 errmsg_plural("%llu row was left without a number, since \"%s\" is off",
							   "%llu rows were left without a number, since \"%s\" is off",
							   numbering->progress.left_out,
							   (unsigned long long) numbering->progress.left_out,
							   "check_function_bodies"),
				 errdetail("A dump turns the setting off, and restores rows as they were."),
				 errhint("If this is no restore, turn it on, and set the column of these rows to NULL: a trigger AFTER INSERT OR UPDATE then numbers them.")));
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			/* have the transaction release its locks early: flush_late() */
			if (count > 0 && enable_early_release && user_setting < 0 &&
				synchronous_commit != SYNCHRONOUS_COMMIT_OFF)
			{
				user_setting = synchronous_commit;
				synchronous_commit = SYNCHRONOUS_COMMIT_OFF;
			}
			break;
		case XACT_EVENT_PRE_PREPARE:
			if (count > 0)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has altered or numbered from an allocator"),
						 errhint("Number rows in a transaction that commits in one step.")));
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			for (int i = 0; event == XACT_EVENT_COMMIT && i < count; i++)
			{
				Assignment *kept = list_nth(numbering->assignments, i);

				kept->entry->number = kept->number;
				kept->entry->is_committed = true;
			}
			/* it goes with the memory of the transaction */
			numbering = NULL;
			break;
		default:
			break;
	}
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
		   start.left_out <= numbering->progress.left_out &&
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
	{
		/* note how far the transaction has come */
		MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
		Progress   *start = palloc(sizeof(Progress));

		Assert(level >= 2 && (numbering->starts == NIL ||
							  ((Progress *) llast(numbering->starts))->level < level));
		*start = numbering->progress;
		start->level = level;
		numbering->starts = lappend(numbering->starts, start);
		MemoryContextSwitchTo(old);
	}
	else if (event == SUBXACT_EVENT_COMMIT_SUB ||
			 event == SUBXACT_EVENT_ABORT_SUB)
		end_level(level, event == SUBXACT_EVENT_ABORT_SUB);
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
	Target	   *target = NULL;
	ListCell   *lc;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager",
						"spanner.assign_on_commit"),
				 errhint("Use it in CREATE CONSTRAINT TRIGGER.")));
	sk_check_numbering_trigger(trigger->tg_trigger);
	if (numbering == NULL)
		numbering = MemoryContextAllocZero(TopTransactionContext, sizeof(Numbering));
	/* a row of a dump that has no number had none */
	if (sk_brings_labels())
	{
		leave_out(trigger);
		return PointerGetDatum(NULL);
	}
	if (numbering->is_queueing)
	{
		numbering->is_called_at_once = true;
		return PointerGetDatum(NULL);
	}

	/* is this event the one that we have queued? */
	foreach(lc, numbering->targets)
	{
		Target	   *each = lfirst(lc);

		if (target == NULL && each->is_queued && each->trigger == trigger->tg_trigger->tgoid &&
			ItemPointerEquals(&each->queued_tid, &new_slot(trigger)->tts_tid))
			target = each;
	}
	if (target == NULL)
	{
		target = find_target(trigger);
		if (target == NULL)
			return PointerGetDatum(NULL);
		if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
			lock_key(trigger, target->column.attnum);
		note_row(target, &new_slot(trigger)->tts_tid);
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
		sk_allocator_find(text_to_cstring(PG_GETARG_TEXT_PP(0)), 0);
	ArrayType  *series = sk_series_of_argument(fcinfo, 1);
	LastAssigned *entry;

	sk_allocator_check_usage(allocator);
	if (series != NULL)
		allocator = sk_allocator_by_series(allocator->id, series, false);
	entry = allocator == NULL ? NULL : last_assigned_entry(allocator->id, HASH_FIND);
	if (entry == NULL || !entry->is_committed)
		PG_RETURN_NULL();
	PG_RETURN_INT64(entry->number);
}
