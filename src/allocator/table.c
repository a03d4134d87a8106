/*-------------------------------------------------------------------------
 *
 * table.c
 *	  Access to the table spanner.allocator.
 *
 * A row is found by an index, or by reading the table if that is short, and in
 * its latest version: a number is no data of the transaction that draws it, so
 * neither the snapshot nor the isolation level of that transaction matters,
 * and it leaves no trace of having read the row.  Nothing is planned, and
 * nothing is found by its name but the table itself.
 *
 * Users have no rights on the table; what they may do with an allocator
 * depends on its roles.  So the table is written as its owner, in a
 * restricted security context: triggers on it get no rights but those of the
 * owner, in a background worker neither.
 *
 * Whoever waits for a row waits in a queue, which is a lock on the row's id as
 * a database object.  It is held until the row is locked, so that the end of
 * a transaction wakes one waiter and not all of them.  Who has locked the row
 * already does not queue.
 *
 * src/allocator/table.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_index.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "allocator/table.h"
#include "compat.h"

/* How often to look for a row that seems not to be there. */
#define SK_MAX_LOOKS 10

/*
 * A table of that many blocks is read as a whole: a session that draws for the
 * first time would pay more for opening an index than for all the rest.
 */
#define SK_FEW_BLOCKS 4

/* What the write that is under way means, for the trigger of the table. */
SkWrite		sk_table_write = SK_WRITE_CHANGES;

typedef void (*RowWriter) (ResultRelInfo *target, EState *estate,
						   EPQState *epq, TupleTableSlot *old,
						   TupleTableSlot *new);

/*
 * sk_allocator_table
 *		The OID of spanner.allocator, InvalidOid if it is not there.
 */
Oid
sk_allocator_table(void)
{
	Oid			namespace = get_namespace_oid("spanner", true);

	return OidIsValid(namespace) ?
		get_relname_relid("allocator", namespace) : InvalidOid;
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
						 "spanner_keys")));
	table->rel = table_open(relid, mode);
	table->mode = mode;
	table->slot = NULL;
	GetUserIdAndSecContext(&table->userid, &table->sec_context);
	SetUserIdAndSecContext(table->rel->rd_rel->relowner,
						   table->sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
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

	SetUserIdAndSecContext(table->userid, table->sec_context);
	if (keep)
		ExecDropSingleTupleTableSlot(table->slot);
	table_close(table->rel, keep ? NoLock : table->mode);
}

/*
 * sk_allocator_read
 *		Look an allocator up by its name, or else by its id.
 *
 * Returns false if there is none.
 */
bool
sk_allocator_read(const char *name, int64 id, SkAllocatorRow *row)
{
	SkTable		table;
	bool		found;

	sk_table_open(&table, AccessShareLock);
	found = sk_row_find(&table, name, id, row);
	sk_table_close(&table);
	return found;
}

/* The unique index on a column; the scan reads the table if there is none. */
static Oid
index_on(Relation rel, AttrNumber column)
{
	List	   *indexes;
	Oid			result = InvalidOid;
	ListCell   *lc;

	if (RelationGetNumberOfBlocks(rel) <= SK_FEW_BLOCKS)
		return InvalidOid;
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_index index;

		if (!HeapTupleIsValid(tuple))
			continue;
		index = (Form_pg_index) GETSTRUCT(tuple);
		if (index->indisunique && index->indisvalid && index->indimmediate &&
			index->indnkeyatts == 1 && index->indkey.values[0] == column &&
			heap_attisnull(tuple, Anum_pg_index_indpred, NULL))
			result = lfirst_oid(lc);
		ReleaseSysCache(tuple);
		if (OidIsValid(result))
			break;
	}
	list_free(indexes);
	return result;
}

/* A row as a snapshot shows it.  "row" or "tuple" may be NULL. */
static bool
find_row(Relation rel, const char *name, int64 id, Snapshot snapshot,
		 SkAllocatorRow *row, HeapTuple *tuple)
{
	SysScanDesc scan;
	HeapTuple	found;
	ScanKeyData key;

	if (name != NULL)
		ScanKeyInit(&key, SK_COLUMN_NAME, BTEqualStrategyNumber, F_TEXTEQ,
					CStringGetTextDatum(name));
	else
		ScanKeyInit(&key, SK_COLUMN_ID, BTEqualStrategyNumber, F_INT8EQ,
					Int64GetDatum(id));
	scan = systable_beginscan(rel, index_on(rel, key.sk_attno), true, snapshot,
							  1, &key);
	found = systable_getnext(scan);
	if (found != NULL && row != NULL)
		sk_row_fetch(found, RelationGetDescr(rel), row);
	if (found != NULL && tuple != NULL)
		*tuple = heap_copytuple(found);
	systable_endscan(scan);
	return found != NULL;
}

/*
 * sk_row_find
 *		The same in the open table.
 *
 * The search takes what is committed when it comes along, and can miss all
 * versions of a row that is updated while it looks at the index.
 */
bool
sk_row_find(SkTable *table, const char *name, int64 id, SkAllocatorRow *row)
{
	for (int i = 0; i < SK_MAX_LOOKS; i++)
		if (find_row(table->rel, name, id, SnapshotSelf, row, NULL))
			return true;
	return false;
}

/*
 * sk_row_find_settled
 *		Look for a name, and wait for transactions that are about to give it to
 *		an allocator or to take it away.
 */
bool
sk_row_find_settled(SkTable *table, const char *name, SkAllocatorRow *row)
{
	for (;;)
	{
		SnapshotData dirty;
		TransactionId other;

		InitDirtySnapshot(dirty);
		if (!find_row(table->rel, name, 0, &dirty, row, NULL))
			return sk_row_find(table, name, 0, row);
		other = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		if (!TransactionIdIsValid(other))
			return true;
		XactLockTableWait(other, NULL, NULL, XLTW_None);
	}
}

static bool
has_latest(Relation rel, int64 id, HeapTuple *tuple)
{
	for (int i = 0; i < SK_MAX_LOOKS; i++)
		if (find_row(rel, NULL, id, SnapshotSelf, NULL, tuple))
			return true;
	return false;
}

static TransactionId
find_locker(HeapTupleHeader tuple, bool *is_own)
{
	TransactionId xmax = HeapTupleHeaderGetRawXmax(tuple);
	TransactionId result = InvalidTransactionId;
	MultiXactMember *members;
	int			count;

	*is_own = false;
	if (tuple->t_infomask & HEAP_XMAX_INVALID)
		return InvalidTransactionId;
	if (!(tuple->t_infomask & HEAP_XMAX_IS_MULTI))
	{
		*is_own = TransactionIdIsCurrentTransactionId(xmax);
		return *is_own || TransactionIdIsInProgress(xmax) ? xmax : InvalidTransactionId;
	}
	count = GetMultiXactIdMembers(xmax, &members, false,
								  HEAP_XMAX_IS_LOCKED_ONLY(tuple->t_infomask));
	for (int i = 0; i < count; i++)
	{
		if (TransactionIdIsCurrentTransactionId(members[i].xid))
			*is_own = true;
		else if (TransactionIdIsInProgress(members[i].xid))
			result = members[i].xid;
	}
	return result;
}

/* Has the current transaction written or locked a row? */
static bool
is_locked_here(Relation rel, int64 id)
{
	HeapTuple	tuple;
	bool		is_own;

	if (!has_latest(rel, id, &tuple))
		return false;
	(void) find_locker(tuple->t_data, &is_own);
	is_own |= TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
	heap_freetuple(tuple);
	return is_own;
}

/* "Gone" is to be looked for again. */
static SkRowState
lock_version(SkTable *table, ItemPointer tid, LockWaitPolicy policy)
{
	TM_FailureData failure;
	TM_Result	result;

	if (table->slot == NULL)
		table->slot = table_slot_create(table->rel, NULL);
	result = table_tuple_lock(table->rel, tid, GetActiveSnapshot(), table->slot,
							  GetCurrentCommandId(false),
							  LockTupleNoKeyExclusive, policy,
							  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);
	switch (result)
	{
		case TM_Ok:
			return SK_ROW_FOUND;
		case TM_WouldBlock:
			return SK_ROW_LOCKED;
		case TM_Updated:
		case TM_Deleted:
			return SK_ROW_GONE;
		default:
			elog(ERROR, "unexpected result %d of locking an allocator", result);
	}
}

/*
 * sk_row_lock
 *		Lock a row until the end of the transaction, and read it.
 *
 * Waits, or does not, as "policy" says.  The snapshot keeps the version that
 * was found from being replaced by another row before it is locked.
 */
SkRowState
sk_row_lock(SkTable *table, int64 id, LockWaitPolicy policy,
			SkAllocatorRow *row)
{
	Oid			relid = RelationGetRelid(table->rel);
	uint16		queue = (uint16) (id >> 32);
	bool		in_queue = false;
	SkRowState	state = SK_ROW_GONE;
	HeapTuple	tuple;

	/* what an earlier part of this command has written can be locked */
	CommandCounterIncrement();
	if (policy == LockWaitBlock && !is_locked_here(table->rel, id))
	{
		LockDatabaseObject(relid, (Oid) id, queue, ExclusiveLock);
		in_queue = true;
	}
	PushActiveSnapshot(GetLatestSnapshot());
	while (state == SK_ROW_GONE && has_latest(table->rel, id, &tuple))
		state = lock_version(table, &tuple->t_self, policy);
	PopActiveSnapshot();
	if (in_queue)
		UnlockDatabaseObject(relid, (Oid) id, queue, ExclusiveLock);
	if (state == SK_ROW_FOUND)
	{
		bool		should_free;

		sk_row_fetch(ExecFetchSlotHeapTuple(table->slot, false, &should_free),
					 RelationGetDescr(table->rel), row);
		Assert(row->id == id);
	}
	return state;
}

/*
 * sk_row_locker
 *		A transaction that has locked a row, if there is one.
 *
 * Sets *is_own if the current transaction has.
 */
TransactionId
sk_row_locker(SkTable *table, int64 id, bool *is_own)
{
	TransactionId result = InvalidTransactionId;
	HeapTuple	tuple;

	*is_own = false;
	if (has_latest(table->rel, id, &tuple))
	{
		result = find_locker(tuple->t_data, is_own);
		heap_freetuple(tuple);
	}
	return result;
}

/* Constraints are checked and triggers are called as by a statement. */
static void
run_writer(SkTable *table, RowWriter writer, TupleTableSlot *new)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *target = makeNode(ResultRelInfo);
	EPQState	epq;

	InitResultRelInfo(target, table->rel, 0, NULL, 0);
	estate->es_opened_result_relations =
		lappend(estate->es_opened_result_relations, target);
	estate->es_output_cid = GetCurrentCommandId(true);
	EvalPlanQualInit(&epq, estate, NULL, NIL, -1, NIL);
	ExecOpenIndices(target, false);

	PushActiveSnapshot(GetLatestSnapshot());
	estate->es_snapshot = GetActiveSnapshot();
	AfterTriggerBeginQuery();
	writer(target, estate, &epq, table->slot, new);
	AfterTriggerEndQuery(estate);
	PopActiveSnapshot();

	EvalPlanQualEnd(&epq);
	ExecResetTupleTable(estate->es_tupleTable, false);
	ExecCloseResultRelations(estate);
	FreeExecutorState(estate);
}

static void
report_suppressed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
			 errmsg("could not write a row of table \"%s\"",
					"spanner.allocator"),
			 errhint("Look for a trigger on the table that suppresses inserts or updates.")));
}

/* The trigger of the table finds out what the write means. */
static void
write_row(SkTable *table, RowWriter writer, TupleTableSlot *new, SkWrite kind)
{
	SkWrite		outer = sk_table_write;

	sk_table_write = kind;
	PG_TRY();
	{
		run_writer(table, writer, new);
	}
	PG_FINALLY();
	{
		sk_table_write = outer;
	}
	PG_END_TRY();
	if (new != NULL && !ItemPointerIsValid(&new->tts_tid))
		report_suppressed();
}

/*
 * sk_row_update
 *		Write the row that was locked last.
 */
void
sk_row_update(SkTable *table, const SkAllocatorRow *row, SkWrite kind)
{
	TupleDesc	tupdesc = RelationGetDescr(table->rel);
	TupleTableSlot *new = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);

	slot_getallattrs(table->slot);
	memcpy(new->tts_values, table->slot->tts_values, tupdesc->natts * sizeof(Datum));
	memcpy(new->tts_isnull, table->slot->tts_isnull, tupdesc->natts * sizeof(bool));
	sk_row_store(new, row);
	write_row(table, ExecSimpleRelationUpdate, new, kind);
	ExecDropSingleTupleTableSlot(new);
}

/* As an INSERT finds it; the identity column may have been converted. */
static int64
next_id(Relation rel)
{
	Expr	   *id = (Expr *) build_column_default(rel, SK_COLUMN_ID);
	ExprContext *context = CreateStandaloneExprContext();
	Datum		result;
	bool		isnull;

	if (id == NULL)
		elog(ERROR, "allocators get no ids");
	result = ExecEvalExprSwitchContext(ExecInitExpr(expression_planner(id), NULL),
									   context, &isnull);
	FreeExprContext(context, true);
	return DatumGetInt64(result);
}

static void
insert_tuple(ResultRelInfo *target, EState *estate, EPQState *epq,
			 TupleTableSlot *old, TupleTableSlot *new)
{
	ExecSimpleRelationInsert(target, estate, new);
}

/*
 * sk_row_insert
 *		Make a row.  Sets its id.
 */
void
sk_row_insert(SkTable *table, SkAllocatorRow *row)
{
	TupleDesc	tupdesc = RelationGetDescr(table->rel);
	TupleTableSlot *new = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);

	/* what is written keeps the table locked */
	if (table->slot == NULL)
		table->slot = table_slot_create(table->rel, NULL);
	row->id = next_id(table->rel);
	memset(new->tts_isnull, true, tupdesc->natts * sizeof(bool));
	sk_row_store(new, row);
	write_row(table, insert_tuple, new, SK_WRITE_CHANGES);
	ExecDropSingleTupleTableSlot(new);
}

static void
delete_tuple(ResultRelInfo *target, EState *estate, EPQState *epq,
			 TupleTableSlot *old, TupleTableSlot *new)
{
	ExecSimpleRelationDelete(target, estate, epq, old);
}

/*
 * sk_row_delete
 *		Delete the row that was locked last.
 */
void
sk_row_delete(SkTable *table)
{
	write_row(table, delete_tuple, NULL, SK_WRITE_CHANGES);
}
