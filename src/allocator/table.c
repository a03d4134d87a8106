/*-------------------------------------------------------------------------
 *
 * table.c
 *	  The table spanner.allocator: its rows, its triggers, and what the current
 *	  transaction has taken from it, changed and restored.
 *
 * A number is no data of the transaction that takes it, so neither the snapshot nor
 * the isolation level of that transaction matters, and no trace is left of having
 * read the row.  Nothing is planned, and nothing is found by its name but the table
 * itself, in the schema of the extension.
 *
 * Users have no rights on the table; what they may do with an allocator depends on
 * its roles.  So the table is written as its owner, in a restricted security
 * context: triggers on it get no other rights, in a background worker neither.
 *
 * The first value that a session reserves in its own transaction locks the row, so
 * that everybody else waits for the end of the transaction.  Until then the counter
 * is counted here, and it is written once, just before the transaction commits or is
 * prepared.  A rollback, also of a subtransaction, gives the values back.
 *
 * A trigger on the table sees every change.  The pool is emptied just before the
 * transaction commits, while the row is locked: a batch that is reserved later comes
 * after the change, and one that is under way is kept out.  If the transaction fails
 * after that, the values are lost, which does no harm.
 *
 * DROP ROLE must know of the roles that the table names.  An allocator is no object of
 * the catalogs, so such a role has a privilege on the column of the owners instead:
 * REFERENCES, which is of no use there, since the column is not unique.  Whoever
 * writes a role into the table locks the role; whoever revokes the privilege locks it
 * in a mode that conflicts with that.
 *
 * src/allocator/table.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "commands/user.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "replication/logicalworker.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/varlena.h"

#include "allocator/allocator.h"
#include "compat.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"
#include "spi/row_writer.h"

PG_FUNCTION_INFO_V1(spanner_allocator_role_in);
PG_FUNCTION_INFO_V1(spanner_on_allocator_write);

/* How often to look for a row that a snapshot shows, and that is being updated. */
#define SK_MAX_LOOKS 10

/*
 * As many sessions at most compete for a row that is free again.  Those whose
 * transaction goes on with other statements are fewer: it keeps the row for long, so
 * what counts is that nobody waits for much longer than others.
 */
#define SK_QUEUES 16
#define SK_QUEUES_OF_BLOCKS 4

/* What rows are looked for by; the attributes are those of the table. */
typedef struct RowKey
{
	const char *index;
	ScanKeyData columns[2];
	int			count;
} RowKey;

/* A transaction that changes more allocators empties all pools. */
#define SK_MAX_CHANGES 100

/* A trigger of others may move counters as often while they are written. */
#define SK_MAX_WRITES 100

/* An allocator that the current transaction has changed, 0 for all. */
typedef struct Change
{
	SkPoolKey	key;
	int64		minimum;		/* values from that on may stay */
	int			level;			/* of the subtransaction */
} Change;

/* What a counter was when a subtransaction locked it, or first moved it. */
typedef struct Mark
{
	int			level;
	int64		next;
} Mark;

typedef struct OwnCounterKey
{
	int64		id;
	int64		table;			/* OID of spanner.allocator */
} OwnCounterKey;

typedef struct OwnCounter
{
	OwnCounterKey key;
	SkMode		mode;
	int64		next;
	int64		max_value;
	ItemPointerData place;		/* where the row was found */
	bool		is_stale;		/* the row may have changed but for "next" */
	uint64		epoch;			/* of the cache, when the options were read */
	List	   *marks;			/* the first of the lock; ascending levels */
} OwnCounter;

/*
 * Changes when anything in the cache of the session may have become wrong, also what was
 * read of rows that the current transaction has written, at its end.
 */
uint64		sk_allocator_epoch = 1;

/* The longest wait for others, in ms; 0: no limit. */
int			sk_allocator_timeout = 10000;

/*
 * What the write that is under way means, for the trigger of the table, and of which
 * row: a trigger of others may write another one by a command.
 */
static SkWrite current_write = SK_WRITE_CHANGES;
static int64 current_id = 0;

/* What the current transaction has taken and changed, in TopTransactionContext. */
static HTAB *counters = NULL;
static List *changes = NIL;

/* Has a counter been moved since they were written? */
static bool counters_moved = false;

/* Has the current transaction taken roles out of a row? */
static bool roles_changed = false;

/* Has a row been read that the current transaction has written? */
static bool own_rows = false;

#define VALUE(column) (values[(column) - 1])
#define IS_NULL(column) (nulls[(column) - 1])

static bool is_sequence_name(const char *name);
static void find_near_name(SkNearName *near);
static void open_relation(SkTable *table, Relation rel, LOCKMODE mode);
static void open_again(SkTable *table, Oid relid);
static SkStamp fetch_stamp(const Datum *values, const bool *nulls,
						   SkAllocatorColumn timeline, SkAllocatorColumn system);
static void fetch_options(const Datum *values, const bool *nulls,
						  TupleDesc tupdesc, SkAllocatorRow *row);
static ArrayType *fetch_series(Datum value);
static void fetch_row(HeapTuple tuple, TupleDesc tupdesc, SkAllocatorRow *row);
static void inherit(SkAllocatorRow *row, const SkAllocatorRow *parent);
static void set_value(TupleTableSlot *slot, SkAllocatorColumn column, Datum value,
					  bool isnull);
static void store_stamp(Datum *values, bool *nulls, SkAllocatorColumn timeline,
						SkAllocatorColumn system, SkStamp stamp);
static void store_counter(TupleTableSlot *slot, const SkAllocatorRow *row);
static void store_options(TupleTableSlot *slot, const SkAllocatorRow *row);
static void store_row(TupleTableSlot *slot, const SkAllocatorRow *row);
static RowKey key_of_id(int64 id);
static RowKey key_of_name(const char *name, ArrayType *series);
static RowKey key_of_all_series(const char *name);
static SysScanDesc begin_scan(Relation rel, RowKey *key, Snapshot snapshot);
static bool find_row(Relation rel, const RowKey *key, Snapshot snapshot,
					 SkAllocatorRow *row, HeapTuple *tuple);
static bool has_versions(Relation rel, const RowKey *key);
static bool find_latest(Relation rel, const RowKey *key, SkAllocatorRow *row,
						HeapTuple *tuple);
static bool add_parent(Relation rel, SkAllocatorRow *row);
static ItemPointerData first_version(Relation rel, ItemPointer tid);
static bool is_in_place(SkTable *table, int64 id, ItemPointer tid);
static bool find_place(SkTable *table, int64 id, ItemPointer tid);
static SkRowState lock_latest(SkTable *table, int64 id, LockTupleMode mode,
							  LockWaitPolicy policy);
static SkRowState lock_in_queue(SkTable *table, int64 id);
static SkRowState lock_row(SkTable *table, int64 id, SkRowLock how,
						   SkAllocatorRow *row);
static bool has_own_triggers(Relation rel);
static void write_tuple(SkTable *table, CmdType command, TupleTableSlot *new,
						SkWrite kind);
static void write_row(SkTable *table, SkAllocatorRow *row, SkWrite kind);
static OwnCounter *find_counter(const SkAllocatorRow *row);
static void note_own_update(const SkAllocatorRow *row, bool is_moved);
static OwnCounter *hold_counter(SkAllocatorRow *known);
static void move_counter(OwnCounter *counter, int64 next);
static void write_counter(SkTable *table, OwnCounter *counter);
static void write_counters(void);
static void note_change(Oid table, int64 id, int64 minimum);
static void end_counter(OwnCounter *counter, int level, bool is_commit);
static List *named_roles(const SkAllocatorRow *row);
static List *granted_roles(Relation rel);
static void change_grant(Relation rel, Oid role, bool is_grant);
static void keep_roles(Relation rel, const SkAllocatorRow *row);
static bool has_options_of(const SkAllocatorRow *row,
						   const SkAllocatorRow *other);
static void move_series(const SkAllocatorRow *allocator, const char *name);
static void note_series(const SkAllocatorRow *row);
static void note_row(TriggerData *trigger, SkWrite write);
static bool next_allocator(Relation rel, SysScanDesc scan, SkAllocatorRow *row);
static void prepare_drop_owned(Node *command);
static List *unused_roles(Relation rel);
static void forget_unused_roles(void);
static HeapTuple complete_row(HeapTuple tuple, TupleDesc tupdesc);
static HeapTuple merge_row(HeapTuple old, HeapTuple new, TupleDesc tupdesc);
static bool meet_row(HeapTuple tuple, TupleDesc tupdesc, int64 id);
static HeapTuple arriving_row(TriggerData *trigger);
static void discard_changed(bool only_all);
static void end_transaction(XactEvent event, void *arg);
static void end_subtransaction(SubXactEvent event, SubTransactionId subid,
							   SubTransactionId parent, void *arg);

/* spanner_internal.allocator_role, which is an OID. */
static inline Oid
role_type(TupleDesc tupdesc)
{
	return TupleDescAttr(tupdesc, SK_COLUMN_OWNER_ROLE - 1)->atttypid;
}

/*
 * sk_table_init
 *		Watch the ends of transactions and subtransactions.
 */
void
sk_table_init(void)
{
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
	sk_on_command(NULL, prepare_drop_owned, NULL);
}

/*
 * sk_allocator_table
 *		The OID of spanner.allocator, InvalidOid if it is not there.
 */
Oid
sk_allocator_table(void)
{
	return sk_own_table("allocator");
}

/*
 * sk_wait_limited
 *		Call what waits for other transactions, all in all no longer than
 *		allocator_timeout.  Returns what it returns.
 *
 * The limit is core's for one wait, which core leaves alone while lock_timeout is
 * off, so all waits have it together.  The deadlock detector sees them.
 */
bool
sk_wait_limited(bool (*wait) (void *arg), void *arg, const char *name)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool result = false;
	int			former = LockTimeout;
	volatile int limit = former == 0 || (sk_allocator_timeout > 0 && sk_allocator_timeout < former) ?
		sk_allocator_timeout : former;

	PG_TRY();
	{
		LockTimeout = 0;
		if (limit > 0)
			enable_timeout_after(LOCK_TIMEOUT, limit);
		result = wait(arg);
	}
	PG_CATCH();
	{
		disable_timeout(LOCK_TIMEOUT, true);
		LockTimeout = former;
		if (limit == former || geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("timed out after %d ms waiting for allocator \"%s\"",
						sk_allocator_timeout, name),
				 errdetail("Another transaction has taken values from it, or has changed it."),
				 errhint("Look for a session that is idle in a transaction, or increase \"%s\".",
						 "spanner_keys.allocator_timeout")));
	}
	PG_END_TRY();

	/*
	 * if the time is up just now, the next look for interrupts raises that
	 * error
	 */
	disable_timeout(LOCK_TIMEOUT, true);
	LockTimeout = former;
	return result;
}

/*
 * sk_table_open
 *		Open the table, and become its owner.
 *
 * An error leaves it by itself: the transaction puts the user back.  The lock
 * is kept if a row has been locked.  So whoever does that takes the one that
 * writing needs at once, as a stronger one later is a deadlock with whoever
 * waits for the table in between.
 */
void
sk_table_open(SkTable *table, LOCKMODE mode)
{
	Oid			relid = sk_allocator_table();

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" does not exist", "spanner.allocator"),
				 errhint("Create the extension \"%s\" in this database.",
						 SK_EXTENSION)));
	open_relation(table, table_open(relid, mode), mode);
}

/*
 * sk_table_close
 *		Become the former user again.  What was locked or written keeps the
 *		table locked to the end of the transaction.
 */
void
sk_table_close(SkTable *table)
{
	bool		keep = table->slot != NULL;

	Assert(GetUserId() == table->rel->rd_rel->relowner);
	SetUserIdAndSecContext(table->userid, table->sec_context);
	if (keep)
		ExecDropSingleTupleTableSlot(table->slot);
	table_close(table->rel, keep ? NoLock : table->mode);
}

/*
 * sk_row_find
 *		Look an allocator up by its name, or else a row by its id, or else a series
 *		of the allocator that has the id.
 *
 * Returns false if there is none.
 */
bool
sk_row_find(SkTable *table, const char *name, int64 id, ArrayType *series,
			SkAllocatorRow *row)
{
	RowKey		key = name != NULL ? key_of_name(name, NULL) : key_of_id(id);
	SkAllocatorRow parent;

	if (!find_latest(table->rel, &key, row, NULL))
		return false;
	if (series == NULL)
		return add_parent(table->rel, row);
	parent = *row;
	key = key_of_name(parent.name, series);
	if (!find_latest(table->rel, &key, row, NULL))
		return false;
	inherit(row, &parent);
	return true;
}

/*
 * sk_allocator_read
 *		The same, with the table open for that only.
 */
bool
sk_allocator_read(const char *name, int64 id, SkAllocatorRow *row)
{
	SkTable		table;
	bool		found;

	sk_table_open(&table, AccessShareLock);
	found = sk_row_find(&table, name, id, NULL, row);
	sk_table_close(&table);
	return found;
}

/*
 * sk_report_missing
 *		Report that an allocator does not exist, and what may have been meant: one
 *		of another name, a sequence of that name, or, if "may_create", none yet.
 */
void
sk_report_missing(int elevel, const char *name, int64 id, bool may_create)
{
	SkNearName	near = {name};
	bool		is_sequence = name != NULL && is_sequence_name(name);

	if (name != NULL && !is_sequence)
		find_near_name(&near);
	ereport(elevel,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 name != NULL ? errmsg("allocator \"%s\" does not exist", name) :
			 errmsg("allocator with id %lld does not exist", (long long) id),
			 is_sequence ?
			 errhint("There is a sequence of that name: use nextval() for it.") :
			 near.found[0] != '\0' ?
			 errhint("Perhaps you meant allocator \"%s\".", near.found) :
			 !may_create ? 0 : sk_citus_exists() ?
			 errhint("Create it with spanner.create_allocator() on the coordinator of Citus, and run spanner.share_allocator() there: a worker has what is shared with it.") :
			 errhint("Create it with spanner.create_allocator().")));
}

/*
 * sk_row_locker
 *		A transaction that has locked a row, if there is one.
 *
 * Sets *is_own if the current transaction has locked or written the row.  A
 * lock that only keeps the row from being deleted does not count.
 */
TransactionId
sk_row_locker(SkTable *table, int64 id, bool *is_own)
{
	RowKey		key = key_of_id(id);
	TransactionId result = InvalidTransactionId;
	HeapTuple	found;
	HeapTupleHeader tuple;
	MultiXactMember locker;
	MultiXactMember *members = &locker;
	int			count = 1;

	*is_own = false;
	if (!find_latest(table->rel, &key, NULL, &found))
		return InvalidTransactionId;
	tuple = found->t_data;
	*is_own = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple));
	if (tuple->t_infomask & HEAP_XMAX_INVALID)
		return InvalidTransactionId;
	locker.xid = HeapTupleHeaderGetRawXmax(tuple);
	locker.status = HEAP_XMAX_IS_KEYSHR_LOCKED(tuple->t_infomask) ?
		MultiXactStatusForKeyShare : MultiXactStatusForNoKeyUpdate;
	if (tuple->t_infomask & HEAP_XMAX_IS_MULTI)
		count = GetMultiXactIdMembers(locker.xid, &members, false,
									  HEAP_XMAX_IS_LOCKED_ONLY(tuple->t_infomask));
	for (int i = 0; i < count; i++)
	{
		if (members[i].status == MultiXactStatusForKeyShare)
			continue;
		if (TransactionIdIsCurrentTransactionId(members[i].xid))
			*is_own = true;
		else if (TransactionIdIsInProgress(members[i].xid))
			result = members[i].xid;
	}
	return result;
}

/*
 * sk_row_find_settled
 *		Look for an allocator, or for a series of it, and wait for transactions that
 *		are about to give the name to a row or to take it away.
 *
 * What a series has of its allocator, which may not be there, is left out.
 */
bool
sk_row_find_settled(SkTable *table, const char *name, ArrayType *series,
					SkAllocatorRow *row)
{
	RowKey		key = key_of_name(name, series);

	Assert(table->mode >= RowExclusiveLock);
	for (;;)
	{
		SnapshotData dirty;
		TransactionId other;

		InitDirtySnapshot(dirty);
		if (!find_row(table->rel, &key, &dirty, row, NULL))
			return find_latest(table->rel, &key, row, NULL);
		other = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		if (!TransactionIdIsValid(other))
			return true;
		XactLockTableWait(other, NULL, NULL, XLTW_None);
	}
}

/*
 * sk_row_lock
 *		Lock a row until the end of the transaction, and read it, with the counter
 *		of the transaction if that has taken from it.
 *
 * SK_LOCK_KEEP only keeps it from being deleted: whoever takes or alters does not
 * wait for that, but whoever renames or drops.
 */
SkRowState
sk_row_lock(SkTable *table, int64 id, SkRowLock how, SkAllocatorRow *row)
{
	SkRowState	state = lock_row(table, id, how, row);
	OwnCounter *counter;

	if (state == SK_ROW_FOUND && !add_parent(table->rel, row))
		state = SK_ROW_GONE;
	counter = state == SK_ROW_FOUND ? find_counter(row) : NULL;
	if (counter != NULL)
		row->next_value = counter->next;
	return state;
}

/*
 * sk_row_write
 *		Write the row that was locked last, or delete it if "row" is NULL, or make a
 *		row if its id is 0, which it gets.
 *
 * What the transaction has taken from it goes on from its counter.
 */
void
sk_row_write(SkTable *table, SkAllocatorRow *row, SkWrite kind)
{
	write_row(table, row, kind);
	if (row != NULL)
		note_own_update(row, true);
}

/*
 * sk_own_take
 *		Reserve values in the current transaction, which locks the row.
 *
 * With a count of 0 it only does that, and the range begins with the next value.
 * Sets *mode to the mode of the locked row, unless NULL.
 */
SkValues
sk_own_take(SkAllocatorRow *row, int64 count, SkMode *mode)
{
	OwnCounter *counter = hold_counter(row);
	SkValues	range;

	Assert(count >= 0);
	Assert(!IsInParallelMode());
	if (mode != NULL)
		*mode = counter->mode;
	range.first = range.end = counter->next;
	if (count == 0)
		return range;
	if (range.first > counter->max_value ||
		(uint64) count - 1 > (uint64) counter->max_value - (uint64) range.first)
		sk_report_exhausted(row->name, counter->max_value);
	range.end = range.first + count;
	move_counter(counter, range.end);
	return range;
}

static bool
is_sequence_name(const char *name)
{
	List	   *parts;
	Oid			relid = InvalidOid;

	if (!SplitIdentifierString(pstrdup(name), '.', &parts))
		return false;
	if (list_length(parts) == 1)
		relid = RelnameGetRelid(linitial(parts));
	else if (list_length(parts) == 2)
		relid = get_relname_relid(lsecond(parts),
								  get_namespace_oid(linitial(parts), true));
	return OidIsValid(relid) && get_rel_relkind(relid) == RELKIND_SEQUENCE;
}

/* Look through all allocators for a name that is nearly this one. */
static void
find_near_name(SkNearName *near)
{
	SkTable		table;
	SysScanDesc scan;
	SkAllocatorRow row;

	sk_table_open(&table, AccessShareLock);
	scan = systable_beginscan(table.rel, InvalidOid, false, SnapshotSelf, 0, NULL);
	while (next_allocator(table.rel, scan, &row))
		sk_near_name_try(near, row.name);
	systable_endscan(scan);
	sk_table_close(&table);
}

/*
 * Rows are read and written by the numbers of their columns, so a table of another
 * version of the extension is refused, and one that has lost a column.
 */
static void
open_relation(SkTable *table, Relation rel, LOCKMODE mode)
{
	TupleDesc	tupdesc = RelationGetDescr(rel);

	for (int i = 0; i < SK_COLUMN_COUNT; i++)
		if (i >= tupdesc->natts || TupleDescAttr(tupdesc, i)->attisdropped)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table \"%s\" does not have the columns that this library expects",
							"spanner.allocator"),
					 errhint("Run ALTER EXTENSION %s UPDATE.", SK_EXTENSION)));
	table->rel = rel;
	table->mode = mode;
	table->slot = NULL;
	table->place = NULL;
	table->queues = SK_QUEUES;
	GetUserIdAndSecContext(&table->userid, &table->sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   table->sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
}

/*
 * Open a table that the transaction has locked a row of.  It is there, unless the
 * transaction has dropped it together with the extension.
 */
static void
open_again(SkTable *table, Oid relid)
{
	Relation	rel = try_table_open(relid, RowExclusiveLock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" was dropped after values had been taken from it",
						"spanner.allocator"),
				 errdetail("The counters of the transaction cannot be written."),
				 errhint("Drop the extension in a transaction of its own.")));
	open_relation(table, rel, RowExclusiveLock);
	table->slot = table_slot_create(rel, NULL);
}

static SkStamp
fetch_stamp(const Datum *values, const bool *nulls, SkAllocatorColumn timeline,
			SkAllocatorColumn system)
{
	SkStamp		result = {0};

	if (!IS_NULL(timeline))
		result.timeline = DatumGetInt32(VALUE(timeline));
	if (!IS_NULL(system))
		result.system = DatumGetInt64(VALUE(system));
	return result;
}

/* A CHECK has the columns that an allocator needs, and a series must not have. */
static void
fetch_options(const Datum *values, const bool *nulls, TupleDesc tupdesc,
			  SkAllocatorRow *row)
{
	Datum	   *roles;
	bool	   *is_null;
	int			count = 0;

	for (int column = SK_COLUMN_MODE; column <= SK_COLUMN_MAX_BATCH_SIZE; column++)
		if (IS_NULL(column))
			elog(ERROR, "allocator \"%s\" has no \"%s\"", row->name,
				 NameStr(TupleDescAttr(tupdesc, column - 1)->attname));
	row->mode = sk_mode_from_name(TextDatumGetCString(VALUE(SK_COLUMN_MODE)));
	row->min_value = DatumGetInt64(VALUE(SK_COLUMN_MIN_VALUE));
	row->max_value = DatumGetInt64(VALUE(SK_COLUMN_MAX_VALUE));
	row->batch_size = DatumGetInt32(VALUE(SK_COLUMN_BATCH_SIZE));
	row->max_batch_size = DatumGetInt32(VALUE(SK_COLUMN_MAX_BATCH_SIZE));
	row->low_water_mark = IS_NULL(SK_COLUMN_LOW_WATER_MARK) ? SK_AUTOMATIC :
		DatumGetInt32(VALUE(SK_COLUMN_LOW_WATER_MARK));
	row->failover_gap = IS_NULL(SK_COLUMN_FAILOVER_GAP) ? SK_AUTOMATIC :
		DatumGetInt64(VALUE(SK_COLUMN_FAILOVER_GAP));
	if (!IS_NULL(SK_COLUMN_SERVER))
		strlcpy(row->server, NameStr(*DatumGetName(VALUE(SK_COLUMN_SERVER))), NAMEDATALEN);
	if (!IS_NULL(SK_COLUMN_REMOTE_NAME))
		strlcpy(row->remote_name, TextDatumGetCString(VALUE(SK_COLUMN_REMOTE_NAME)),
				sizeof(row->remote_name));
	row->owner_role = DatumGetObjectId(VALUE(SK_COLUMN_OWNER_ROLE));
	if (!IS_NULL(SK_COLUMN_USAGE_ROLES))
		deconstruct_array(DatumGetArrayTypeP(VALUE(SK_COLUMN_USAGE_ROLES)), role_type(tupdesc),
						  sizeof(Oid), true, TYPALIGN_INT, &roles, &is_null, &count);
	for (int i = 0; i < count; i++)
		if (!is_null[i])
			row->usage_roles = lappend_oid(row->usage_roles, DatumGetObjectId(roles[i]));
	row->start_value = IS_NULL(SK_COLUMN_START_VALUE) ? row->min_value :
		DatumGetInt64(VALUE(SK_COLUMN_START_VALUE));
	row->series_stamp = fetch_stamp(values, nulls, SK_COLUMN_SERIES_TIMELINE,
									SK_COLUMN_SERIES_SYSTEM);
	if (!IS_NULL(SK_COLUMN_FORMER_GAP) && !IS_NULL(SK_COLUMN_FORMER_TIMELINE))
	{
		row->former_gap = DatumGetInt64(VALUE(SK_COLUMN_FORMER_GAP));
		row->former_timeline = DatumGetInt32(VALUE(SK_COLUMN_FORMER_TIMELINE));
	}
}

/* NULL for the allocator itself, whose array is empty. */
static ArrayType *
fetch_series(Datum value)
{
	ArrayType  *result = DatumGetArrayTypePCopy(value);

	return ARR_NDIM(result) == 0 ? NULL : result;
}

/* Read a row, without what a series has of its allocator: inherit() adds that. */
static void
fetch_row(HeapTuple tuple, TupleDesc tupdesc, SkAllocatorRow *row)
{
	Datum	   *values = palloc(tupdesc->natts * sizeof(Datum));
	bool	   *nulls = palloc(tupdesc->natts * sizeof(bool));
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

	Assert(tupdesc->natts >= SK_COLUMN_COUNT);
	heap_deform_tuple(tuple, tupdesc, values, nulls);
	memset(row, 0, sizeof(SkAllocatorRow));
	strlcpy(row->name, TextDatumGetCString(VALUE(SK_COLUMN_NAME)), sizeof(row->name));
	row->series = fetch_series(VALUE(SK_COLUMN_SERIES));
	row->id = DatumGetInt64(VALUE(SK_COLUMN_ID));
	row->next_value = DatumGetInt64(VALUE(SK_COLUMN_NEXT_VALUE));
	row->stamp = fetch_stamp(values, nulls, SK_COLUMN_TIMELINE, SK_COLUMN_SYSTEM);
	row->table = tuple->t_tableOid;
	row->tid = tuple->t_self;
	row->is_own = TransactionIdIsCurrentTransactionId(xmin);
	own_rows |= row->is_own;
	if (row->series == NULL)
		fetch_options(values, nulls, tupdesc, row);
	pfree(values);
	pfree(nulls);
}

/*
 * Give the row of a series what it has of its allocator, or had when it was read.
 *
 * The worker does not see an allocator that the transaction has changed.
 */
static void
inherit(SkAllocatorRow *row, const SkAllocatorRow *parent)
{
	SkAllocatorRow all = *parent;

	Assert(row->series != NULL && (parent->series == NULL || parent->id == row->id));
	Assert(strcmp(row->name, parent->name) == 0 && row->table == parent->table);
	all.id = row->id;
	/* the bounds of the allocator may have been moved since */
	all.next_value = Max(row->next_value, parent->min_value);
	all.stamp = row->stamp;
	all.parent_id = parent->series == NULL ? parent->id : parent->parent_id;
	all.series = row->series;
	all.tid = row->tid;
	all.is_own |= row->is_own;
	*row = all;
}

static void
set_value(TupleTableSlot *slot, SkAllocatorColumn column, Datum value, bool isnull)
{
	slot->tts_values[column - 1] = value;
	slot->tts_isnull[column - 1] = isnull;
}

static void
store_stamp(Datum *values, bool *nulls, SkAllocatorColumn timeline,
			SkAllocatorColumn system, SkStamp stamp)
{
	VALUE(timeline) = Int32GetDatum(stamp.timeline);
	IS_NULL(timeline) = stamp.timeline == 0;
	VALUE(system) = Int64GetDatum(stamp.system);
	IS_NULL(system) = stamp.system == 0;
}

static void
store_counter(TupleTableSlot *slot, const SkAllocatorRow *row)
{
	set_value(slot, SK_COLUMN_NEXT_VALUE, Int64GetDatum(row->next_value), false);
	store_stamp(slot->tts_values, slot->tts_isnull, SK_COLUMN_TIMELINE, SK_COLUMN_SYSTEM,
				row->stamp);
}

static void
store_options(TupleTableSlot *slot, const SkAllocatorRow *row)
{
	int			count = list_length(row->usage_roles);
	Datum	   *roles = palloc(Max(count, 1) * sizeof(Datum));
	NameData   *server = palloc(sizeof(NameData));

	for (int i = 0; i < count; i++)
		roles[i] = ObjectIdGetDatum(list_nth_oid(row->usage_roles, i));
	namestrcpy(server, row->server);
	set_value(slot, SK_COLUMN_MODE, CStringGetTextDatum(sk_mode_names[row->mode]), false);
	set_value(slot, SK_COLUMN_MIN_VALUE, Int64GetDatum(row->min_value), false);
	set_value(slot, SK_COLUMN_MAX_VALUE, Int64GetDatum(row->max_value), false);
	set_value(slot, SK_COLUMN_BATCH_SIZE, Int32GetDatum((int32) row->batch_size), false);
	set_value(slot, SK_COLUMN_MAX_BATCH_SIZE, Int32GetDatum((int32) row->max_batch_size), false);
	set_value(slot, SK_COLUMN_LOW_WATER_MARK, Int32GetDatum((int32) row->low_water_mark),
			  row->low_water_mark == SK_AUTOMATIC);
	set_value(slot, SK_COLUMN_FAILOVER_GAP, Int64GetDatum(row->failover_gap),
			  row->failover_gap == SK_AUTOMATIC);
	set_value(slot, SK_COLUMN_SERVER, NameGetDatum(server), row->server[0] == '\0');
	set_value(slot, SK_COLUMN_REMOTE_NAME, CStringGetTextDatum(row->remote_name),
			  row->remote_name[0] == '\0');
	set_value(slot, SK_COLUMN_OWNER_ROLE, ObjectIdGetDatum(row->owner_role), false);
	set_value(slot, SK_COLUMN_USAGE_ROLES,
			  PointerGetDatum(construct_array(roles, count, role_type(slot->tts_tupleDescriptor),
											  sizeof(Oid), true, TYPALIGN_INT)),
			  count == 0);
	set_value(slot, SK_COLUMN_START_VALUE, Int64GetDatum(row->start_value), false);
	store_stamp(slot->tts_values, slot->tts_isnull, SK_COLUMN_SERIES_TIMELINE,
				SK_COLUMN_SERIES_SYSTEM, row->series_stamp);
	set_value(slot, SK_COLUMN_FORMER_GAP, Int64GetDatum(row->former_gap), row->former_gap == 0);
	set_value(slot, SK_COLUMN_FORMER_TIMELINE, Int32GetDatum(row->former_timeline),
			  row->former_gap == 0);
}

/*
 * Store a row in a slot, whose other columns are filled already.
 *
 * The options of a series are columns of another row: those of a new one are
 * NULL, and stay so.
 */
static void
store_row(TupleTableSlot *slot, const SkAllocatorRow *row)
{
	Assert(row->mode <= SK_MODE_REMOTE);
	Assert(slot->tts_tupleDescriptor->natts >= SK_COLUMN_COUNT);
	set_value(slot, SK_COLUMN_NAME, CStringGetTextDatum(row->name), false);
	set_value(slot, SK_COLUMN_SERIES,
			  PointerGetDatum(row->series != NULL ? row->series : construct_empty_array(TEXTOID)),
			  false);
	set_value(slot, SK_COLUMN_ID, Int64GetDatum(row->id), false);
	if (row->series == NULL)
		store_options(slot, row);
}

static RowKey
key_of_id(int64 id)
{
	RowKey		key = {.index = "allocator_allocator_id_key",.count = 1};

	ScanKeyInit(&key.columns[0], SK_COLUMN_ID, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(id));
	return key;
}

/* The allocator itself without a series. */
static RowKey
key_of_name(const char *name, ArrayType *series)
{
	RowKey		key = {.index = "allocator_pkey",.count = 2};

	ScanKeyInit(&key.columns[0], SK_COLUMN_NAME, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(name));
	ScanKeyInit(&key.columns[1], SK_COLUMN_SERIES, BTEqualStrategyNumber, F_ARRAY_EQ,
				PointerGetDatum(series != NULL ? series : construct_empty_array(TEXTOID)));
	return key;
}

/* All series of an allocator, which comes before them itself. */
static RowKey
key_of_all_series(const char *name)
{
	RowKey		key = key_of_name(name, NULL);

	key.columns[1].sk_strategy = BTGreaterStrategyNumber;
	fmgr_info(F_ARRAY_GT, &key.columns[1].sk_func);
	return key;
}

/*
 * Begin to look for a key, which gets the numbers of the index's columns.  Without
 * the index the table is read.
 */
static SysScanDesc
begin_scan(Relation rel, RowKey *key, Snapshot snapshot)
{
	return systable_beginscan(rel, get_relname_relid(key->index, RelationGetNamespace(rel)),
							  true, snapshot, key->count, key->columns);
}

/* A row as a snapshot shows it.  "row" or "tuple" may be NULL. */
static bool
find_row(Relation rel, const RowKey *key, Snapshot snapshot,
		 SkAllocatorRow *row, HeapTuple *tuple)
{
	RowKey		copy = *key;
	SysScanDesc scan;
	HeapTuple	found;

	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
	scan = begin_scan(rel, &copy, snapshot);
	found = systable_getnext(scan);
	if (found != NULL && row != NULL)
		fetch_row(found, RelationGetDescr(rel), row);
	if (found != NULL && tuple != NULL)
		*tuple = heap_copytuple(found);
	systable_endscan(scan);
	return found != NULL;
}

/*
 * Is there any version of a row that somebody may see, or could see lately?
 *
 * What a snapshot of that kind reads is no conflict in SERIALIZABLE, as that of a
 * transaction would be.  The other one keeps versions from being removed meanwhile.
 */
static bool
has_versions(Relation rel, const RowKey *key)
{
	Snapshot	keep = RegisterSnapshot(GetCatalogSnapshot(RelationGetRelid(rel)));
	SnapshotData any;
	bool		found;

	InitNonVacuumableSnapshot(any, GlobalVisTestFor(rel));
	Assert(!IsMVCCSnapshot(&any));
	found = find_row(rel, key, &any, NULL, NULL);
	UnregisterSnapshot(keep);
	return found;
}

/*
 * The latest version of a row.  The search takes what is committed when it
 * comes along, and can miss all versions of a row that is updated while it
 * looks at the index.
 */
static bool
find_latest(Relation rel, const RowKey *key, SkAllocatorRow *row, HeapTuple *tuple)
{
	for (int i = 0; i < SK_MAX_LOOKS; i++)
	{
		if (find_row(rel, key, SnapshotSelf, row, tuple))
			return true;
		if (!has_versions(rel, key))
			break;
	}
	return false;
}

/* Add what a series has of its allocator.  False if that is gone. */
static bool
add_parent(Relation rel, SkAllocatorRow *row)
{
	RowKey		key;
	SkAllocatorRow parent;

	if (likely(row->series == NULL))
		return true;
	key = key_of_name(row->name, NULL);
	if (!find_latest(rel, &key, &parent, NULL))
		return false;
	inherit(row, &parent);
	return true;
}

/*
 * Where the entry of an index for a version of a row points to: versions that need
 * no entry hang on that one.
 */
static ItemPointerData
first_version(Relation rel, ItemPointer tid)
{
	OffsetNumber first[MaxHeapTuplesPerPage];
	ItemPointerData result = *tid;
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));
	OffsetNumber offset;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	heap_get_root_tuples(BufferGetPage(buffer), first);
	UnlockReleaseBuffer(buffer);
	offset = first[ItemPointerGetOffsetNumber(tid) - 1];
	if (OffsetNumberIsValid(offset))
		ItemPointerSetOffsetNumber(&result, offset);
	return result;
}

/*
 * Is the row where it was found last?  Other versions of it have come since, but
 * as long as none of them needs an entry in an index they begin at this place.
 */
static bool
is_in_place(SkTable *table, int64 id, ItemPointer tid)
{
	IndexFetchTableData *fetch;
	bool		goes_on = false;
	bool		isnull;
	bool		found;

	*tid = *table->place;
	/* VACUUM may have cut the table off */
	if (ItemPointerGetBlockNumber(tid) >= RelationGetNumberOfBlocks(table->rel))
		return false;
	fetch = sk_index_fetch_begin(table->rel);
	found = table_index_fetch_tuple(fetch, tid, SnapshotSelf, table->slot, &goes_on, NULL) &&
		DatumGetInt64(slot_getattr(table->slot, SK_COLUMN_ID, &isnull)) == id;
	table_index_fetch_end(fetch);
	return found;
}

/* Find the latest version of a row, to lock it. */
static bool
find_place(SkTable *table, int64 id, ItemPointer tid)
{
	RowKey		key = key_of_id(id);
	HeapTuple	tuple;

	if (table->slot == NULL)
		table->slot = table_slot_create(table->rel, NULL);
	if (table->place != NULL && is_in_place(table, id, tid))
		return true;
	if (!find_latest(table->rel, &key, NULL, &tuple))
		return false;
	*tid = tuple->t_self;
	if (table->place != NULL)
		*table->place = first_version(table->rel, tid);
	return true;
}

/*
 * A snapshot, of any time before, keeps the version that was found from being
 * replaced by another row before it is locked.
 */
static SkRowState
lock_latest(SkTable *table, int64 id, LockTupleMode mode, LockWaitPolicy policy)
{
	TM_Result	result = TM_Deleted;
	TM_FailureData failure;
	ItemPointerData tid;
	bool		has_snapshot = ActiveSnapshotSet();

	if (!has_snapshot)
		PushActiveSnapshot(GetLatestSnapshot());
	/* a row that is gone is looked for again: it may have come back */
	while ((result == TM_Updated || result == TM_Deleted) && find_place(table, id, &tid))
		result = table_tuple_lock(table->rel, &tid, GetActiveSnapshot(), table->slot,
								  GetCurrentCommandId(false), mode, policy,
								  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);
	if (!has_snapshot)
		PopActiveSnapshot();
	if (result != TM_Ok && result != TM_WouldBlock && result != TM_Updated &&
		result != TM_Deleted)
		elog(ERROR, "unexpected result %d of locking an allocator", result);
	return result == TM_Ok ? SK_ROW_FOUND :
		result == TM_WouldBlock ? SK_ROW_LOCKED : SK_ROW_GONE;
}

/*
 * Wait for a row in a queue.  A queue has 44 bits for the 64 of an id, and ids
 * can differ in the highest bits only.
 */
static SkRowState
lock_in_queue(SkTable *table, int64 id)
{
	Oid			relid = RelationGetRelid(table->rel);
	Oid			queue = (Oid) (id ^ (id >> 32));
	uint16		part = (uint16) ((id >> 32) * SK_QUEUES + MyProcPid % table->queues);
	bool		is_own;
	SkRowState	state;

	(void) sk_row_locker(table, id, &is_own);
	if (is_own)
		return lock_latest(table, id, LockTupleNoKeyExclusive, LockWaitBlock);
	LockDatabaseObject(relid, queue, part, ExclusiveLock);
	state = lock_latest(table, id, LockTupleNoKeyExclusive, LockWaitBlock);
	UnlockDatabaseObject(relid, queue, part, ExclusiveLock);
	return state;
}

/* What a series has of its allocator is left out. */
static SkRowState
lock_row(SkTable *table, int64 id, SkRowLock how, SkAllocatorRow *row)
{
	SkRowState	state;
	bool		should_free;

	/* sk_table_open() says why a weaker one is not enough */
	Assert(table->mode >= RowExclusiveLock);
	Assert(GetUserId() == table->rel->rd_rel->relowner);
	/* what an earlier part of this command has written can be locked */
	CommandCounterIncrement();
	if (how == SK_LOCK_KEEP)
		state = lock_latest(table, id, LockTupleKeyShare, LockWaitBlock);
	else
		state = lock_latest(table, id, LockTupleNoKeyExclusive, LockWaitSkip);
	if (state == SK_ROW_LOCKED && how == SK_LOCK_WAIT)
		state = lock_in_queue(table, id);
	/* it may have been renamed while we waited */
	if (state == SK_ROW_FOUND)
		fetch_row(ExecFetchSlotHeapTuple(table->slot, false, &should_free),
				  RelationGetDescr(table->rel), row);
	Assert(state != SK_ROW_FOUND || row->id == id);
	return state;
}

/* Are all triggers of the table those of the extension? */
static bool
has_own_triggers(Relation rel)
{
	Oid			schema = sk_own_schema(SK_INTERNAL_SCHEMA);

	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
		if (get_func_namespace(rel->trigdesc->triggers[i].tgfoid) != schema)
			return false;
	return true;
}

/*
 * Write a row as an SQL command does.  The trigger of the table finds out what the
 * write means.
 *
 * A counter that moves, and a series that follows its allocator, break no CHECK.
 * Core would prepare them anew for each such row, which takes longer than all the
 * rest; it passes over those that have no expression.
 */
static void
write_tuple(SkTable *table, CmdType command, TupleTableSlot *new, SkWrite kind)
{
	TupleConstr *constraints = RelationGetDescr(table->rel)->constr;
	bool		moves = kind == SK_WRITE_RESERVES;
	SkRowWriter writer;

	sk_writer_begin(&writer, table->rel, moves ? SK_COLUMN_NEXT_VALUE : 0,
					!moves || !has_own_triggers(table->rel));
	if (kind <= SK_WRITE_FOLLOWS && constraints->num_check > 0)
		sk_check_expressions(writer.target) = palloc0(constraints->num_check * sizeof(ExprState *));
	sk_writer_write(&writer, command, table->slot, new);
	sk_writer_end(&writer);
}

/* Write the row that was locked last, delete it, or make one: see sk_row_write(). */
static void
write_row(SkTable *table, SkAllocatorRow *row, SkWrite kind)
{
	volatile CmdType command = row == NULL ? CMD_DELETE : row->id == 0 ? CMD_INSERT : CMD_UPDATE;
	TupleDesc	tupdesc = RelationGetDescr(table->rel);
	TupleTableSlot *new = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);
	SkWrite		outer = current_write;
	int64		outer_id = current_id;
	bool		isnull;

	Assert(GetUserId() == table->rel->rd_rel->relowner);
	Assert(table->mode >= RowExclusiveLock);
	Assert(command == CMD_INSERT || (table->slot != NULL && !TTS_EMPTY(table->slot)));

	/* what is written keeps the table locked */
	if (table->slot == NULL)
		table->slot = table_slot_create(table->rel, NULL);
	if (command == CMD_UPDATE)
	{
		slot_getallattrs(table->slot);
		/* only the row that was locked last can be written */
		Assert(DatumGetInt64(table->slot->tts_values[SK_COLUMN_ID - 1]) == row->id);
		memcpy(new->tts_values, table->slot->tts_values, tupdesc->natts * sizeof(Datum));
		memcpy(new->tts_isnull, table->slot->tts_isnull, tupdesc->natts * sizeof(bool));
	}
	else
		memset(new->tts_isnull, true, tupdesc->natts * sizeof(bool));
	/* what only moves a counter is read and written for each transaction */
	if (row != NULL && kind != SK_WRITE_RESERVES)
		store_row(new, row);
	if (row != NULL)
		store_counter(new, row);
	ExecStoreVirtualTuple(new);
	ItemPointerSetInvalid(&new->tts_tid);
	current_write = kind;
	current_id = command == CMD_INSERT ? 0 :
		DatumGetInt64(slot_getattr(table->slot, SK_COLUMN_ID, &isnull));
	PG_TRY();
	{
		write_tuple(table, command, new, kind);
	}
	PG_FINALLY();
	{
		current_write = outer;
		current_id = outer_id;
	}
	PG_END_TRY();
	if (row != NULL && !ItemPointerIsValid(&new->tts_tid))
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
				 errmsg("could not write a row of table \"%s\"",
						"spanner.allocator"),
				 errhint("Look for a trigger on the table that suppresses inserts or updates.")));
	if (command == CMD_INSERT)
	{
		row->id = DatumGetInt64(new->tts_values[SK_COLUMN_ID - 1]);
		row->is_own = own_rows = true;
	}
	ExecDropSingleTupleTableSlot(new);
}

static OwnCounter *
find_counter(const SkAllocatorRow *row)
{
	OwnCounterKey key = {row->id, row->table};

	return counters == NULL ? NULL : hash_search(counters, &key, HASH_FIND, NULL);
}

/* Lock the row unless that has been done. */
static OwnCounter *
hold_counter(SkAllocatorRow *known)
{
	OwnCounter *counter = find_counter(known);
	OwnCounterKey key = {known->id, known->table};
	SkAllocatorRow row;
	SkTable		table;
	bool		found;

	if (likely(counter != NULL && !counter->is_stale &&
			   (known->series == NULL || counter->epoch == sk_allocator_epoch)))
		return counter;

	sk_table_open(&table, RowExclusiveLock);
	table.place = &known->tid;
	if (IsTransactionBlock() && known->mode != SK_MODE_ON_COMMIT)
		table.queues = SK_QUEUES_OF_BLOCKS;
	found = lock_row(&table, known->id, SK_LOCK_WAIT, &row) == SK_ROW_FOUND;
	/* the options of a series may have changed while we waited */
	AcceptInvalidationMessages();
	if (found && row.series != NULL && known->epoch == sk_allocator_epoch)
		inherit(&row, known);
	else
		found = found && add_parent(table.rel, &row);
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("allocator \"%s\" does not exist", known->name)));
	sk_table_close(&table);
	if (row.mode == SK_MODE_REMOTE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot take values from allocator \"%s\" in the transaction that has changed it",
						known->name),
				 errdetail("Its values come from server \"%s\".", row.server),
				 errhint("Commit the change first.")));
	if (counters == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(OwnCounterKey),.entrysize = sizeof(OwnCounter),
		.hcxt = TopTransactionContext};

		counters = hash_create("spanner_keys own counters", 16, &ctl,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (counter == NULL)
	{
		sk_row_skip_gap(&row);
		counter = hash_search(counters, &key, HASH_ENTER, NULL);
		counter->next = row.next_value;
		counter->marks = NIL;
		move_counter(counter, row.next_value);
	}
	counter->mode = row.mode;
	counter->max_value = row.max_value;
	counter->place = known->tid;
	counter->is_stale = false;
	counter->epoch = sk_allocator_epoch;
	/* that of a series may be below a bound which its allocator has got since */
	if (counter->next < row.min_value)
		move_counter(counter, row.min_value);
	return counter;
}

/* Move a counter, and remember where that of the current level began. */
static void
move_counter(OwnCounter *counter, int64 next)
{
	int			level = GetCurrentTransactionNestLevel();

	if (counter->marks == NIL || ((Mark *) llast(counter->marks))->level < level)
	{
		MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
		Mark	   *mark = palloc(sizeof(Mark));

		mark->level = level;
		mark->next = counter->next;
		counter->marks = lappend(counter->marks, mark);
		MemoryContextSwitchTo(old);
	}
	counter->next = next;
	counters_moved = true;
}

/* Note that a row has been written, and whether its counter was moved. */
static void
note_own_update(const SkAllocatorRow *row, bool is_moved)
{
	OwnCounter *counter = find_counter(row);

	if (counter == NULL)
		return;
	counter->is_stale = true;
	if (is_moved)
		move_counter(counter, row->next_value);
}

/*
 * Write a counter to the table that it was taken from, which is opened for the first
 * one.  A row is there, unless the transaction has deleted it.
 *
 * A pool may have values that come before those that were taken here, so it
 * is emptied.  The row is locked until the transaction ends, also a prepared one,
 * so nobody fills the pool before that.
 */
static void
write_counter(SkTable *table, OwnCounter *counter)
{
	SkAllocatorRow row = {0};
	ItemPointerData tid;
	bool		found;
	bool		isnull;

	Assert(list_length(counter->marks) == 1);
	/* that of an extension that was dropped before is gone, which is an error */
	if (table->rel == NULL || counter->key.table != RelationGetRelid(table->rel))
		open_again(table, (Oid) counter->key.table);
	row.id = counter->key.id;
	row.next_value = counter->next;
	row.stamp = sk_stamp_now();
	table->place = &counter->place;

	/* what an earlier part of this command has written can be written again */
	CommandCounterIncrement();
	/* it is locked, and there unless the transaction has moved or deleted it */
	found = is_in_place(table, row.id, &tid) ||
		lock_latest(table, row.id, LockTupleNoKeyExclusive, LockWaitBlock) == SK_ROW_FOUND;
	if (!found ||
		DatumGetInt64(slot_getattr(table->slot, SK_COLUMN_NEXT_VALUE, &isnull)) == counter->next)
		return;
	write_row(table, &row, SK_WRITE_RESERVES);
	if (sk_mode_has_pool(counter->mode))
	{
		SkPoolKey	key = {MyDatabaseId, (Oid) counter->key.table, counter->key.id};

		(void) sk_pool_discard(&key, PG_INT64_MAX, true);
	}
}

/*
 * Write all counters, and then those that a trigger of others on the table has
 * moved meanwhile.  No timeout ends a commit, so one that always moves them is an
 * error.
 */
static void
write_counters(void)
{
	HASH_SEQ_STATUS status;
	OwnCounter *counter;
	SkTable		table = {0};

	/* a subtransaction could still be rolled back */
	Assert(counters == NULL || GetCurrentTransactionNestLevel() == 1);
	for (int i = 0; counters != NULL && counters_moved; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i == SK_MAX_WRITES)
			ereport(ERROR,
					(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
					 errmsg("a trigger on table \"%s\" takes numbers whenever a counter is written",
							RelationGetRelationName(table.rel)),
					 errhint("Give the trigger a WHEN condition that leaves out the allocators whose numbers it takes.")));
		counters_moved = false;
		hash_seq_init(&status, counters);
		while ((counter = hash_seq_search(&status)) != NULL)
			write_counter(&table, counter);
	}
	if (table.rel != NULL)
		sk_table_close(&table);
}

/*
 * Have values of an allocator below "minimum" discarded when the transaction
 * commits.
 */
static void
note_change(Oid table, int64 id, int64 minimum)
{
	MemoryContext old;
	Change	   *change;
	ListCell   *lc;

	Assert(IsTransactionState());
	foreach(lc, changes)
	{
		change = lfirst(lc);
		if (change->key.relid != table ||
			(change->key.allocator_id != id && change->key.allocator_id != 0))
			continue;
		change->minimum = Max(change->minimum, minimum);
		return;
	}
	old = MemoryContextSwitchTo(TopTransactionContext);
	change = palloc(sizeof(Change));
	change->key.dbid = MyDatabaseId;
	change->key.relid = table;
	change->key.allocator_id = list_length(changes) < SK_MAX_CHANGES ? id : 0;
	change->minimum = change->key.allocator_id == 0 ? PG_INT64_MAX : minimum;
	change->level = GetCurrentTransactionNestLevel();
	changes = lappend(changes, change);
	MemoryContextSwitchTo(old);
}

/*
 * The parent takes over what a subtransaction has done, or its values are free
 * again; so is a row that was locked in it.
 */
static void
end_counter(OwnCounter *counter, int level, bool is_commit)
{
	int			count = list_length(counter->marks);
	Mark	   *last = llast(counter->marks);

	Assert(level >= 2);
	/* changes of the row are undone as well */
	counter->is_stale |= !is_commit;
	if (last->level < level)
		return;
	Assert(last->level == level);
	last->level--;
	if (!is_commit)
		counter->next = last->next;
	if (is_commit && (count == 1 ||
					  ((Mark *) list_nth(counter->marks, count - 2))->level < last->level))
		return;
	counter->marks = list_delete_last(counter->marks);
	if (counter->marks == NIL)
		(void) hash_search(counters, &counter->key, HASH_REMOVE, NULL);
}

static List *
named_roles(const SkAllocatorRow *row)
{
	/* a series has those of its allocator */
	if (row->series != NULL)
		return NIL;
	return lappend_oid(list_delete_oid(list_copy(row->usage_roles), InvalidOid),
					   row->owner_role);
}

static List *
granted_roles(Relation rel)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, RelationGetRelid(rel),
										SK_COLUMN_OWNER_ROLE);
	List	   *result = NIL;
	Datum		acl;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "unexpected columns of an allocator");
	acl = SysCacheGetAttr(ATTNUM, tuple, Anum_pg_attribute_attacl, &isnull);
	if (!isnull)
	{
		Acl		   *list = DatumGetAclP(acl);

		for (int i = 0; i < ACL_NUM(list); i++)
		{
			/* what all may do makes no role depend on the table */
			if (OidIsValid(ACL_DAT(list)[i].ai_grantee))
				result = list_append_unique_oid(result, ACL_DAT(list)[i].ai_grantee);
		}
	}
	ReleaseSysCache(tuple);
	return result;
}

/* One session at a time writes the privileges of the column. */
static void
change_grant(Relation rel, Oid role, bool is_grant)
{
	GrantStmt  *grant = makeNode(GrantStmt);
	AccessPriv *privilege = makeNode(AccessPriv);
	RoleSpec   *grantee = makeNode(RoleSpec);
	SkOwnerScope scope;
	LOCKTAG		tag PG_USED_FOR_ASSERTS_ONLY;

	/* neither dropped, nor written into a row by others meanwhile */
	SET_LOCKTAG_OBJECT(tag, InvalidOid, AuthIdRelationId, role, 0);
	Assert(LockHeldByMe(&tag, is_grant ? RowExclusiveLock : ShareRowExclusiveLock, true));
	LockDatabaseObject(RelationGetRelid(rel), InvalidOid, 0, ExclusiveLock);
	privilege->priv_name = "references";
	privilege->cols = list_make1(makeString("owner_role"));
	grantee->roletype = ROLESPEC_CSTRING;
	grantee->rolename = GetUserNameFromId(role, false);
	grant->is_grant = is_grant;
	grant->targtype = ACL_TARGET_OBJECT;
	grant->objtype = OBJECT_TABLE;
	grant->objects = list_make1(makeRangeVar(get_namespace_name(RelationGetNamespace(rel)),
											 RelationGetRelationName(rel), -1));
	grant->privileges = list_make1(privilege);
	grant->grantees = list_make1(grantee);

	sk_owner_enter(&scope, RelationGetRelid(rel));
	ExecuteGrantStmt(grant);
	sk_owner_exit(&scope);
	CommandCounterIncrement();
}

/*
 * Have DROP ROLE know of the roles in a row that has been written.  The owner of
 * the table cannot be dropped anyway.  A dump may have the OID of a role that is
 * gone.
 */
static void
keep_roles(Relation rel, const SkAllocatorRow *row)
{
	ListCell   *lc;

	foreach(lc, named_roles(row))
	{
		Oid			role = lfirst_oid(lc);

		if (role == rel->rd_rel->relowner)
			continue;
		LockSharedObject(AuthIdRelationId, role, 0, RowExclusiveLock);
		if (SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role)) &&
			!list_member_oid(granted_roles(rel), role))
			change_grant(rel, role, true);
	}
}

/* Do two versions of an allocator give values in the same way? */
static bool
has_options_of(const SkAllocatorRow *row, const SkAllocatorRow *other)
{
	return row->mode == other->mode &&
		row->min_value == other->min_value &&
		row->max_value == other->max_value &&
		row->batch_size == other->batch_size &&
		row->max_batch_size == other->max_batch_size &&
		row->low_water_mark == other->low_water_mark &&
		row->failover_gap == other->failover_gap &&
		strcmp(row->server, other->server) == 0 &&
		strcmp(row->remote_name, other->remote_name) == 0;
}

/*
 * Give the series of an allocator that has been renamed its new name, or delete
 * those of one that has been deleted if that is NULL.
 *
 * A transaction that was making one has kept the allocator until its end.  A scan
 * keeps VACUUM out of a page, so none is open while a row is waited for; and it can
 * miss a row that moves meanwhile, so it begins anew until there is none.
 */
static void
move_series(const SkAllocatorRow *allocator, const char *name)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "spanner_keys series",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	SkAllocatorRow row;
	SkTable		table;
	List	   *ids;
	ListCell   *lc;

	sk_table_open(&table, RowExclusiveLock);
	table.slot = table_slot_create(table.rel, NULL);
	do
	{
		RowKey		key = key_of_all_series(allocator->name);
		SysScanDesc scan = begin_scan(table.rel, &key, SnapshotSelf);
		HeapTuple	tuple;

		ids = NIL;
		while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		{
			int64	   *id = palloc(sizeof(int64));
			bool		isnull;

			*id = DatumGetInt64(heap_getattr(tuple, SK_COLUMN_ID,
											 RelationGetDescr(table.rel), &isnull));
			ids = lappend(ids, id);
		}
		systable_endscan(scan);
		foreach(lc, ids)
		{
			int64		id = *(int64 *) lfirst(lc);

			CHECK_FOR_INTERRUPTS();
			if (name == NULL)
				note_change(allocator->table, id, PG_INT64_MAX);
			old = MemoryContextSwitchTo(context);
			/* not by that name: the allocator is gone, or has another */
			if (lock_row(&table, id, SK_LOCK_WAIT, &row) == SK_ROW_FOUND)
			{
				if (name != NULL)
					strlcpy(row.name, name, sizeof(row.name));
				write_row(&table, name == NULL ? NULL : &row, SK_WRITE_FOLLOWS);
			}
			MemoryContextSwitchTo(old);
			MemoryContextReset(context);
		}
	} while (ids != NIL);
	sk_table_close(&table);
	MemoryContextDelete(context);
}

/*
 * The series of an allocator have its options.  Only few of them have pools, but
 * nobody knows which, so all pools are emptied, and all own counters stale.
 */
static void
note_series(const SkAllocatorRow *row)
{
	RowKey		key = key_of_all_series(row->name);
	HASH_SEQ_STATUS status;
	OwnCounter *counter;
	SkTable		table;

	sk_table_open(&table, AccessShareLock);
	if (find_row(table.rel, &key, SnapshotSelf, NULL, NULL))
	{
		note_change(row->table, 0, PG_INT64_MAX);
		if (counters != NULL)
		{
			hash_seq_init(&status, counters);
			while ((counter = hash_seq_search(&status)) != NULL)
				counter->is_stale = true;
		}
	}
	sk_table_close(&table);
}

static void
note_row(TriggerData *trigger, SkWrite write)
{
	TupleDesc	tupdesc = RelationGetDescr(trigger->tg_relation);
	SkAllocatorRow before;
	SkAllocatorRow after;
	bool		isnull;

	if (DatumGetInt64(heap_getattr(trigger->tg_trigtuple, SK_COLUMN_ID, tupdesc,
								   &isnull)) != current_id)
		write = SK_WRITE_CHANGES;
	if (write < SK_WRITE_ACCESS)
		return;
	fetch_row(trigger->tg_trigtuple, tupdesc, &before);
	CacheInvalidateRelcache(trigger->tg_relation);
	if (write == SK_WRITE_CHANGES)
		note_change(before.table, before.id, PG_INT64_MAX);
	if (!TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
	{
		if (before.series == NULL)
		{
			roles_changed = true;
			move_series(&before, NULL);
		}
		return;
	}
	fetch_row(trigger->tg_newtuple, tupdesc, &after);
	/* pools, and what transactions have taken, are kept by id */
	if (after.id != before.id)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot change the id of allocator \"%s\"", before.name),
				 errhint("Create another one with spanner.create_allocator().")));
	note_own_update(&after, after.next_value != before.next_value);
	if (write == SK_WRITE_ADVANCES)
		note_change(before.table, before.id, after.next_value);
	if (write == SK_WRITE_CHANGES && after.series == NULL &&
		!has_options_of(&after, &before))
		note_series(&after);
	if (after.series == NULL && strcmp(after.name, before.name) != 0)
		move_series(&before, after.name);
	if (before.owner_role != after.owner_role ||
		!equal(before.usage_roles, after.usage_roles))
	{
		roles_changed = true;
		keep_roles(trigger->tg_relation, &after);
	}
}

/* Read the next allocator, past the series, which name no roles.  False if there is none. */
static bool
next_allocator(Relation rel, SysScanDesc scan, SkAllocatorRow *row)
{
	HeapTuple	tuple;

	do
	{
		CHECK_FOR_INTERRUPTS();
		tuple = systable_getnext(scan);
	} while (HeapTupleIsValid(tuple) &&
			 heap_attisnull(tuple, SK_COLUMN_OWNER_ROLE, RelationGetDescr(rel)));
	if (HeapTupleIsValid(tuple))
		fetch_row(tuple, RelationGetDescr(rel), row);
	return HeapTupleIsValid(tuple);
}

/*
 * Before DROP OWNED, take the right to use allocators away from the roles, and
 * raise an error if they own allocators.
 */
static void
prepare_drop_owned(Node *command)
{
	List	   *roles;
	SkAllocatorRow row;
	SkTable		table;
	SysScanDesc scan;
	bool		found;
	ListCell   *lc;

	if (!IsA(command, DropOwnedStmt))
		return;
	roles = roleSpecsToIds(((DropOwnedStmt *) command)->roles);
	foreach(lc, roles)
	{
		/* core refuses it */
		if (!has_privs_of_role(GetUserId(), lfirst_oid(lc)))
			return;
		LockSharedObject(AuthIdRelationId, lfirst_oid(lc), 0, ShareRowExclusiveLock);
	}
	sk_table_open(&table, RowExclusiveLock);
	/* a scan can miss a row that moves while another one is waited for */
	do
	{
		scan = systable_beginscan(table.rel, InvalidOid, false, SnapshotSelf, 0, NULL);
		found = false;
		while (next_allocator(table.rel, scan, &row))
		{
			if (list_member_oid(roles, row.owner_role))
				ereport(ERROR,
						(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
						 errmsg("role \"%s\" owns allocator \"%s\"",
								GetUserNameFromId(row.owner_role, false), row.name),
						 errhint("Give its allocators to another role with spanner.alter_allocator(), or drop them with spanner.drop_allocator().")));
			/* does it name one of them? */
			if (list_length(list_difference_oid(roles, row.usage_roles)) == list_length(roles))
				continue;
			found = true;
			if (sk_row_lock(&table, row.id, SK_LOCK_WAIT, &row) != SK_ROW_FOUND)
				continue;
			row.usage_roles = list_difference_oid(row.usage_roles, roles);
			sk_row_write(&table, &row, SK_WRITE_ACCESS);
		}
		systable_endscan(scan);
	} while (found);
	foreach(lc, granted_roles(table.rel))
	{
		if (list_member_oid(roles, lfirst_oid(lc)))
			change_grant(table.rel, lfirst_oid(lc), false);
	}
	sk_table_close(&table);
}

/* The first rows usually name them all. */
static List *
unused_roles(Relation rel)
{
	List	   *roles = granted_roles(rel);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, SnapshotSelf,
										  0, NULL);
	SkAllocatorRow row;

	while (roles != NIL && next_allocator(rel, scan, &row))
		roles = list_difference_oid(roles, named_roles(&row));
	systable_endscan(scan);
	return roles;
}

/*
 * Have DROP ROLE forget the roles that are in no row any more.  A role that
 * somebody else is writing into the table is left alone.
 */
static void
forget_unused_roles(void)
{
	LOCKTAG		tag;
	SkTable		table;
	ListCell   *lc;

	/* the transaction may have dropped the table, and what its roles need */
	if (!sk_extension_exists())
		return;
	sk_table_open(&table, RowExclusiveLock);
	foreach(lc, unused_roles(table.rel))
	{
		/* ConditionalLockSharedObject() does not exist in all releases */
		SET_LOCKTAG_OBJECT(tag, InvalidOid, AuthIdRelationId, lfirst_oid(lc), 0);
		if (LockAcquire(&tag, ShareRowExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
			continue;
		AcceptInvalidationMessages();
		/* whoever had such a lock may have written the role into a row */
		if (list_member_oid(unused_roles(table.rel), lfirst_oid(lc)))
			change_grant(table.rel, lfirst_oid(lc), false);
	}
	sk_table_close(&table);
}

/*
 * The tuple of an INSERT, with an id and the stamp of now.  A series has the options
 * of its allocator.
 *
 * The id and the stamp of another server mean nothing here.  A row that is
 * replicated has no stamp, since more values may have been given there than came
 * along.
 */
static HeapTuple
complete_row(HeapTuple tuple, TupleDesc tupdesc)
{
	Datum	   *values = palloc(tupdesc->natts * sizeof(Datum));
	bool	   *nulls = palloc(tupdesc->natts * sizeof(bool));
	SkStamp		stamp = {0};

	if (!IsLogicalWorker())
		stamp = sk_stamp_now();
	heap_deform_tuple(tuple, tupdesc, values, nulls);
	VALUE(SK_COLUMN_ID) = Int64GetDatum(nextval_internal(sk_own_table("allocator_id"), false));
	IS_NULL(SK_COLUMN_ID) = false;
	store_stamp(values, nulls, SK_COLUMN_TIMELINE, SK_COLUMN_SYSTEM, stamp);
	store_stamp(values, nulls, SK_COLUMN_SERIES_TIMELINE, SK_COLUMN_SERIES_SYSTEM, stamp);
	IS_NULL(SK_COLUMN_FORMER_GAP) = IS_NULL(SK_COLUMN_FORMER_TIMELINE) = true;
	if (!IS_NULL(SK_COLUMN_SERIES) && fetch_series(VALUE(SK_COLUMN_SERIES)) != NULL)
	{
		for (int column = SK_COLUMN_MODE; column <= SK_COLUMN_COUNT; column++)
			IS_NULL(column) = true;
	}
	return heap_form_tuple(tupdesc, values, nulls);
}

/*
 * The tuple of an UPDATE that comes from another server: the counter does not go
 * back, and the id stays.  So do the stamps, unless the counter moves.
 *
 * NULL if nothing changes, so that pools keep their values.
 */
static HeapTuple
merge_row(HeapTuple old, HeapTuple new, TupleDesc tupdesc)
{
	int			columns[] = {
		SK_COLUMN_NEXT_VALUE, SK_COLUMN_MAX_VALUE, SK_COLUMN_ID, SK_COLUMN_TIMELINE,
		SK_COLUMN_SYSTEM, SK_COLUMN_SERIES_TIMELINE, SK_COLUMN_SERIES_SYSTEM,
		SK_COLUMN_FORMER_GAP, SK_COLUMN_FORMER_TIMELINE
	};
	Datum		values[lengthof(columns)];
	bool		nulls[lengthof(columns)];
	bool		isnull;
	Datum		next = heap_getattr(new, SK_COLUMN_NEXT_VALUE, tupdesc, &isnull);

	for (int i = 0; i < lengthof(columns); i++)
		values[i] = heap_getattr(old, columns[i], tupdesc, &nulls[i]);
	/* a NULL is for the constraint to refuse */
	if (isnull || DatumGetInt64(next) > DatumGetInt64(values[0]))
	{
		values[0] = next;
		nulls[0] = isnull;
		/* more may have been given there than came along */
		nulls[3] = nulls[4] = nulls[5] = nulls[6] = true;
	}
	/* more may have been given here than the new limit allows */
	values[1] = heap_getattr(new, SK_COLUMN_MAX_VALUE, tupdesc, &nulls[1]);
	if (!nulls[0] && !nulls[1] && DatumGetInt64(values[0]) > PG_INT64_MIN)
		values[1] = Int64GetDatum(Max(DatumGetInt64(values[1]), DatumGetInt64(values[0]) - 1));
	new = heap_modify_tuple_by_cols(new, tupdesc, lengthof(columns), columns, values, nulls);
	return DatumGetBool(OidFunctionCall2(F_RECORD_IMAGE_EQ,
										 heap_copy_tuple_as_datum(old, tupdesc),
										 heap_copy_tuple_as_datum(new, tupdesc))) ? NULL : new;
}

/*
 * Has a row that a dump or another server brings been made here already?  "id"
 * is that of the row which is to get the name and the series of the tuple, else 0.
 *
 * Then that one keeps its id and its options, but gives nothing below the counter
 * that comes, which it takes over unless it is ahead.  A limit that is lower gives
 * way: values up to the counter may have been given.  From another server it loses
 * its stamps, as a row that is new here has none: see complete_row().
 */
static bool
meet_row(HeapTuple tuple, TupleDesc tupdesc, int64 id)
{
	bool		nulls[3];
	Datum		name = heap_getattr(tuple, SK_COLUMN_NAME, tupdesc, &nulls[0]);
	Datum		series = heap_getattr(tuple, SK_COLUMN_SERIES, tupdesc, &nulls[1]);
	Datum		value = heap_getattr(tuple, SK_COLUMN_NEXT_VALUE, tupdesc, &nulls[2]);
	int64		next = DatumGetInt64(value);
	bool		found;
	bool		loses_stamps;
	SkStamp		unknown = {0};
	SkTable		table;
	SkAllocatorRow row;
	OwnCounter *counter;

	/* for the constraints to refuse */
	if (nulls[0] || nulls[1] || nulls[2])
		return false;
	sk_table_open(&table, RowExclusiveLock);
	/* the allocator of a series may come later */
	found = sk_row_find_settled(&table, TextDatumGetCString(name), fetch_series(series), &row) &&
		row.id != id &&
		lock_row(&table, row.id, SK_LOCK_WAIT, &row) == SK_ROW_FOUND;
	if (found)
	{
		counter = find_counter(&row);
		if (counter != NULL)
			row.next_value = counter->next;
		note_change(row.table, row.id, next);
		loses_stamps = IsLogicalWorker() &&
			(row.stamp.timeline != 0 || row.series_stamp.timeline != 0);
		if (loses_stamps)
			row.stamp = row.series_stamp = unknown;
		if (next > row.next_value || loses_stamps)
		{
			row.next_value = Max(row.next_value, next);

			/*
			 * a series that is beyond the limit of its allocator gives
			 * nothing
			 */
			if (row.series == NULL)
				row.max_value = Max(row.max_value, row.next_value - 1);
			sk_row_write(&table, &row, SK_WRITE_ADVANCES);
		}
	}
	sk_table_close(&table);
	return found;
}

/*
 * What is to be written in place of a row, NULL for nothing: an INSERT makes it one of
 * this server, and so does an UPDATE that logical replication brings, since the other
 * server does not know which values were given here.
 */
static HeapTuple
arriving_row(TriggerData *trigger)
{
	TupleDesc	tupdesc = RelationGetDescr(trigger->tg_relation);
	bool		isnull;
	Datum		id;

	if (!TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
	{
		if ((sk_brings_labels() || IsLogicalWorker()) &&
			meet_row(trigger->tg_trigtuple, tupdesc, 0))
			return NULL;
		return complete_row(trigger->tg_trigtuple, tupdesc);
	}
	/* what we write ourselves has been decided */
	if (!IsLogicalWorker() || current_write != SK_WRITE_CHANGES)
		return trigger->tg_newtuple;
	id = heap_getattr(trigger->tg_trigtuple, SK_COLUMN_ID, tupdesc, &isnull);
	/* its new name may be that of another one, which goes on in its place */
	if (meet_row(trigger->tg_newtuple, tupdesc, DatumGetInt64(id)))
		return NULL;
	return merge_row(trigger->tg_trigtuple, trigger->tg_newtuple, tupdesc);
}

/* Empty the pools of what the transaction has changed, or only those of all allocators. */
static void
discard_changed(bool only_all)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);

		if (!only_all || change->key.allocator_id == 0)
			(void) sk_pool_discard(&change->key, change->minimum, true);
	}
}

/* What the transaction has counted is written before pools are emptied. */
static void
end_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:

			/*
			 * What can fail comes first: the values of a pool that has been
			 * emptied are lost.  The rows stay locked from here to the end,
			 * so nobody fills the pools by what is about to be replaced.
			 */
			write_counters();
			if (roles_changed)
				forget_unused_roles();
			discard_changed(false);
			break;
		case XACT_EVENT_PRE_PREPARE:
			write_counters();
			if (changes != NIL)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has altered or numbered from an allocator"),
						 errhint("Change allocators in a transaction of its own.")));
			if (roles_changed)
				forget_unused_roles();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			/* a worker may have read an allocator of series meanwhile */
			if (event == XACT_EVENT_COMMIT)
				discard_changed(true);
			/* what they point to goes with the memory of the transaction */
			counters = NULL;
			counters_moved = false;
			changes = NIL;
			roles_changed = false;
			sk_allocator_epoch += own_rows;
			own_rows = false;
			break;
		default:
			break;
	}
}

/* What a subtransaction has taken and changed is undone with it, or is its parent's. */
static void
end_subtransaction(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	bool		is_commit = event == SUBXACT_EVENT_COMMIT_SUB;
	int			level = GetCurrentTransactionNestLevel();
	ListCell   *lc;

	if (!is_commit && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	/* a series that began in a subtransaction is gone with it */
	sk_allocator_epoch += own_rows && !is_commit;
	if (counters != NULL)
	{
		HASH_SEQ_STATUS status;
		OwnCounter *counter;

		hash_seq_init(&status, counters);
		while ((counter = hash_seq_search(&status)) != NULL)
			end_counter(counter, level, is_commit);
	}
	foreach(lc, changes)
	{
		Change	   *change = lfirst(lc);

		Assert(change->level >= 1 && change->level <= level);
		if (change->level < level)
			continue;
		if (is_commit)
			change->level = level - 1;
		else
			changes = foreach_delete_current(changes, lc);
	}
}

/*
 * spanner_internal.allocator_role_in(cstring) returns allocator_role
 *
 * As type regrole, but the counter of an allocator is not lost for a role
 * that the server of the dump, or the publisher, had and this one has not.
 */
Datum
spanner_allocator_role_in(PG_FUNCTION_ARGS)
{
	char	   *name = PG_GETARG_CSTRING(0);
	List	   *parts;

	if ((sk_brings_labels() || IsLogicalWorker()) && strcmp(name, "-") != 0 &&
		strspn(name, "0123456789") < strlen(name) &&
		SplitIdentifierString(pstrdup(name), '.', &parts) &&
		list_length(parts) == 1 &&
		!OidIsValid(get_role_oid(linitial(parts), true)))
	{
		ereport(WARNING,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role \"%s\" does not exist", (char *) linitial(parts)),
				 errdetail("Role \"%s\" takes its place in an allocator.",
						   GetUserNameFromId(GetUserId(), false)),
				 IsLogicalWorker() ?
				 errhint("Create the roles of a publisher before it is subscribed to.") :
				 errhint("Create the roles of a dump before it is restored.")));
		PG_RETURN_OID(GetUserId());
	}
	return DirectFunctionCall1(regrolein, CStringGetDatum(name));
}

/*
 * spanner_internal.on_allocator_write() returns trigger
 *
 * Row trigger before INSERT and UPDATE, and after INSERT, UPDATE and DELETE;
 * statement trigger after TRUNCATE.
 */
Datum
spanner_on_allocator_write(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		RelationGetRelid(trigger->tg_relation) != sk_allocator_table())
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by a trigger of table \"%s\"",
						"spanner_internal.on_allocator_write", "spanner.allocator")));
	if (!TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
	{
		CacheInvalidateRelcache(trigger->tg_relation);
		roles_changed = true;
		note_change(RelationGetRelid(trigger->tg_relation), 0, PG_INT64_MAX);
	}
	else if (TRIGGER_FIRED_BEFORE(trigger->tg_event))
		return PointerGetDatum(arriving_row(trigger));
	else if (TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
	{
		SkAllocatorRow row;

		fetch_row(trigger->tg_trigtuple, RelationGetDescr(trigger->tg_relation), &row);
		keep_roles(trigger->tg_relation, &row);
	}
	else
		note_row(trigger, current_write);
	return PointerGetDatum(NULL);
}
