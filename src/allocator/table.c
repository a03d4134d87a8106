/*-------------------------------------------------------------------------
 *
 * table.c
 *	  The table spanner.allocator and its rows.
 *
 * A row is found by an index, and in its latest version: a number is no data of
 * the transaction that takes it, so neither the snapshot nor the isolation level
 * of that transaction matters, and it leaves no trace of having read the row.
 * Nothing is planned, and nothing is found by its name but the table itself, in
 * the schema of the extension.  What a transaction has taken is written to the
 * table that it was taken from.
 *
 * Users have no rights on the table; what they may do with an allocator
 * depends on its roles.  So the table is written as its owner, in a
 * restricted security context: triggers on it get no rights but those of the
 * owner, in a background worker neither.
 *
 * Whoever waits for a row waits in one of several queues, each a lock on the
 * row's id as a database object, which is held until the row is locked.  So the
 * end of a transaction wakes the heads of the queues and not all waiters, and
 * the first that gets a processor goes on: with a single queue all others would
 * wait for the processor too, where there is other work.  Who has locked the row
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
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "allocator/table.h"
#include "compat.h"
#include "spi/own_objects.h"
#include "spi/row_writer.h"

PG_FUNCTION_INFO_V1(spanner_allocator_role_in);

/* How often to look for a row that a snapshot shows, and that is being updated. */
#define SK_MAX_LOOKS 10

/* As many sessions at most compete for a row that is free again. */
#define SK_QUEUES 16

#define SK_MAX_BATCH_SIZE 10000000

/* Modes as they stand in the table. */
const char *const sk_mode_names[] = {
	[SK_MODE_SYNC] = "sync",
	[SK_MODE_ON_COMMIT] = "on_commit",
	[SK_MODE_ASYNC] = "async",
	[SK_MODE_BATCH] = "batch",
	[SK_MODE_ASYNC_BATCH] = "async_batch",
	[SK_MODE_REMOTE] = "remote"
};

StaticAssertDecl(lengthof(sk_mode_names) == SK_MODE_REMOTE + 1,
				 "a mode has no name");

/* What the write that is under way means, for the trigger of the table. */
SkWrite		sk_table_write = SK_WRITE_CHANGES;

/* What rows are looked for by; the attributes are those of the table. */
typedef struct RowKey
{
	ScanKeyData columns[2];
	int			count;
	int			index_columns;	/* as many has the index */
} RowKey;

#define VALUE(column) (values[(column) - 1])
#define IS_NULL(column) (nulls[(column) - 1])

static void check_columns(Relation rel);
static void open_relation(SkTable *table, Relation rel, LOCKMODE mode);
static void fetch_roles(Datum value, Oid type, SkAllocatorRow *row);
static void check_null(const bool *nulls, TupleDesc tupdesc, bool is_series);
static void fetch_options(const Datum *values, const bool *nulls,
						  TupleDesc tupdesc, SkAllocatorRow *row);
static void inherit(SkAllocatorRow *row, const SkAllocatorRow *parent);
static void set_value(TupleTableSlot *slot, SkAllocatorColumn column, Datum value,
					  bool isnull);
static void store_options(TupleTableSlot *slot, const SkAllocatorRow *row);
static void store_row(TupleTableSlot *slot, const SkAllocatorRow *row);
static void check_number(const char *column, int64 value, int64 low,
						 int64 high);
static RowKey key_of_id(int64 id);
static RowKey key_of_name(const char *name);
static RowKey key_of_series(int64 parent_id, ArrayType *series);
static Oid	index_for(Relation rel, const RowKey *key);
static bool find_row(Relation rel, const RowKey *key, Snapshot snapshot,
					 SkAllocatorRow *row, HeapTuple *tuple);
static bool find_latest(Relation rel, const RowKey *key, SkAllocatorRow *row,
						HeapTuple *tuple);
static bool add_parent(Relation rel, SkAllocatorRow *row);
static SkRowState lock_latest(SkTable *table, int64 id, LockTupleMode mode,
							  LockWaitPolicy policy, SkAllocatorRow *row);
static SkRowState lock_in_queue(SkTable *table, int64 id);
static void read_locked(SkTable *table, SkAllocatorRow *row);
static SkRowState lock_row(SkTable *table, int64 id, LockWaitPolicy policy,
						   SkAllocatorRow *row);
static void write_row(SkTable *table, CmdType command,
					  const SkAllocatorRow *row, SkWrite kind);

/* spanner_internal.allocator_role, which is an OID. */
static inline Oid
role_type(TupleDesc tupdesc)
{
	return TupleDescAttr(tupdesc, SK_COLUMN_OWNER_ROLE - 1)->atttypid;
}

/* The columns are read by number. */
static inline bool
has_type(TupleDesc tupdesc, SkAllocatorColumn column, Oid type)
{
	return TupleDescAttr(tupdesc, column - 1)->atttypid == type;
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
 * sk_table_open_again
 *		The same with a table that the transaction has locked a row of.
 *
 * It is there, unless the transaction has dropped it together with the
 * extension.
 */
void
sk_table_open_again(SkTable *table, Oid relid)
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
 * sk_mode_from_name
 *		A mode as it stands in the table.
 */
SkMode
sk_mode_from_name(const char *name)
{
	for (int i = 0; i < lengthof(sk_mode_names); i++)
		if (strcmp(sk_mode_names[i], name) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid allocator mode: \"%s\"", name),
			 errhint("Modes are sync, on_commit, async, batch, async_batch, remote.")));
}

/*
 * sk_allocator_name
 *		Copy a name of at most SK_MAX_ALLOCATOR_NAME bytes.  "what" is what an
 *		error calls it.
 */
void
sk_allocator_name(const char *source, const char *what, char *name)
{
	if (source[0] == '\0' || strlen(source) > SK_MAX_ALLOCATOR_NAME)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid %s: \"%s\"", what, source),
				 errhint("A name has from 1 to %d bytes.",
						 SK_MAX_ALLOCATOR_NAME)));
	strcpy(name, source);
}

/*
 * sk_row_fetch
 *		Read a row.  Raises an error if a name or the mode is invalid.
 *
 * What a series has of its allocator is left out: inherit() adds it.
 */
void
sk_row_fetch(HeapTuple tuple, TupleDesc tupdesc, SkAllocatorRow *row)
{
	Datum	   *values = palloc(tupdesc->natts * sizeof(Datum));
	bool	   *nulls = palloc(tupdesc->natts * sizeof(bool));
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);
	bool		is_series;

	Assert(tupdesc->natts >= SK_COLUMN_COUNT);
	Assert(has_type(tupdesc, SK_COLUMN_ID, INT8OID));
	Assert(has_type(tupdesc, SK_COLUMN_MODE, TEXTOID));
	Assert(has_type(tupdesc, SK_COLUMN_NEXT_VALUE, INT8OID));
	Assert(has_type(tupdesc, SK_COLUMN_BATCH_SIZE, INT4OID));
	Assert(has_type(tupdesc, SK_COLUMN_FAILOVER_GAP, INT8OID));
	Assert(has_type(tupdesc, SK_COLUMN_SERVER, NAMEOID));
	Assert(has_type(tupdesc, SK_COLUMN_SERIES, TEXTARRAYOID));
	heap_deform_tuple(tuple, tupdesc, values, nulls);
	memset(row, 0, sizeof(SkAllocatorRow));
	row->id = DatumGetInt64(VALUE(SK_COLUMN_ID));
	row->next_value = DatumGetInt64(VALUE(SK_COLUMN_NEXT_VALUE));
	row->timeline = IS_NULL(SK_COLUMN_TIMELINE) ? 0 :
		DatumGetInt32(VALUE(SK_COLUMN_TIMELINE));
	row->system = IS_NULL(SK_COLUMN_SYSTEM) ? 0 :
		DatumGetInt64(VALUE(SK_COLUMN_SYSTEM));
	row->table = tuple->t_tableOid;
	row->tid = tuple->t_self;
	row->is_own = TransactionIdIsCurrentTransactionId(xmin);
	is_series = !IS_NULL(SK_COLUMN_PARENT_ID);
	check_null(nulls, tupdesc, is_series);
	if (is_series)
		row->parent_id = DatumGetInt64(VALUE(SK_COLUMN_PARENT_ID));
	else
		fetch_options(values, nulls, tupdesc, row);
	if (!IS_NULL(SK_COLUMN_SERIES))
		row->series = DatumGetArrayTypePCopy(VALUE(SK_COLUMN_SERIES));
	pfree(values);
	pfree(nulls);
}

/*
 * sk_row_check
 *		Raise an error if the columns do not fit together.
 */
void
sk_row_check(const SkAllocatorRow *row)
{
	bool		has_server = row->server[0] != '\0';

	if ((row->parent_id != 0) != (row->series != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" and \"%s\" of a row of table \"%s\" do not fit together",
						"parent_id", "series", "spanner.allocator"),
				 errdetail("A series has both, an allocator has none.")));
	/* its allocator has the rest */
	if (row->parent_id != 0)
		return;
	check_number("batch_size", row->batch_size, 1, SK_MAX_BATCH_SIZE);
	check_number("max_batch_size", row->max_batch_size, row->batch_size,
				 SK_MAX_BATCH_SIZE);
	check_number("low_water_mark", row->low_water_mark, -1, PG_INT32_MAX);
	check_number("failover_gap", row->failover_gap, -1, PG_INT64_MAX);
	check_number("max_value", row->max_value, row->min_value,
				 PG_INT64_MAX - 1);
	check_number("next value", row->next_value, row->min_value,
				 row->max_value + 1);
	if ((row->mode == SK_MODE_REMOTE) != has_server)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 has_server ?
				 errmsg("allocator \"%s\" cannot have a server", row->name) :
				 errmsg("allocator \"%s\" needs a server", row->name),
				 errhint("Mode \"%s\" takes values from a foreign server, all others from this one.",
						 "remote")));
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
	RowKey		key = name != NULL ? key_of_name(name) :
		series != NULL ? key_of_series(id, series) : key_of_id(id);

	return find_latest(table->rel, &key, row, NULL) && add_parent(table->rel, row);
}

/*
 * sk_series_ids
 *		The ids of the series of an allocator, a list of int64, as many as
 *		"limit" at most.
 */
List *
sk_series_ids(SkTable *table, int64 parent_id, int limit)
{
	RowKey		key = key_of_series(parent_id, NULL);
	SysScanDesc scan = systable_beginscan(table->rel, index_for(table->rel, &key), true,
										  SnapshotSelf, key.count, key.columns);
	List	   *result = NIL;
	HeapTuple	tuple;

	while (list_length(result) < limit && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		int64	   *id = palloc(sizeof(int64));
		bool		isnull;

		*id = DatumGetInt64(heap_getattr(tuple, SK_COLUMN_ID,
										 RelationGetDescr(table->rel), &isnull));
		result = lappend(result, id);
	}
	systable_endscan(scan);
	return result;
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
	TransactionId xmax;
	MultiXactMember *members;
	int			count;

	*is_own = false;
	if (!find_latest(table->rel, &key, NULL, &found))
		return InvalidTransactionId;
	tuple = found->t_data;
	xmax = HeapTupleHeaderGetRawXmax(tuple);
	*is_own = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple));
	if (tuple->t_infomask & HEAP_XMAX_INVALID)
		return InvalidTransactionId;
	if (!(tuple->t_infomask & HEAP_XMAX_IS_MULTI) &&
		HEAP_XMAX_IS_KEYSHR_LOCKED(tuple->t_infomask))
		return InvalidTransactionId;
	if (!(tuple->t_infomask & HEAP_XMAX_IS_MULTI))
	{
		*is_own |= TransactionIdIsCurrentTransactionId(xmax);
		return *is_own || TransactionIdIsInProgress(xmax) ? xmax : InvalidTransactionId;
	}
	count = GetMultiXactIdMembers(xmax, &members, false,
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
 * sk_row_lock
 *		Lock a row until the end of the transaction, and read it.
 *
 * Waits, or does not, as "policy" says.
 */
SkRowState
sk_row_lock(SkTable *table, int64 id, LockWaitPolicy policy,
			SkAllocatorRow *row)
{
	SkRowState	state = lock_row(table, id, policy, row);

	return state != SK_ROW_FOUND || add_parent(table->rel, row) ? state : SK_ROW_GONE;
}

/*
 * sk_row_lock_again
 *		The same for a row that the transaction has locked, at "tid".
 *
 * It is still there, unless the transaction has written the row or the whole
 * table since.  The one version of that id that SnapshotSelf shows is the latest.
 */
SkRowState
sk_row_lock_again(SkTable *table, ItemPointer tid, int64 id, SkAllocatorRow *row)
{
	Assert(table->mode >= RowExclusiveLock);
	/* what an earlier part of this command has written can be written again */
	CommandCounterIncrement();
	if (table->slot == NULL)
		table->slot = table_slot_create(table->rel, NULL);
	if (ItemPointerGetBlockNumber(tid) < RelationGetNumberOfBlocks(table->rel) &&
		table_tuple_fetch_row_version(table->rel, tid, SnapshotSelf, table->slot))
	{
		read_locked(table, row);
		if (row->id == id && add_parent(table->rel, row))
			return SK_ROW_FOUND;
	}
	return sk_row_lock(table, id, LockWaitBlock, row);
}

/*
 * sk_row_keep
 *		Read a row, and keep it from being deleted until the end of the
 *		transaction.
 *
 * Whoever takes or alters does not wait for that, but whoever renames or drops.
 * Returns false if it is gone.
 */
bool
sk_row_keep(SkTable *table, int64 id, SkAllocatorRow *row)
{
	Assert(table->mode >= RowExclusiveLock);
	CommandCounterIncrement();
	return lock_latest(table, id, LockTupleKeyShare, LockWaitBlock, row) == SK_ROW_FOUND;
}

/*
 * sk_row_update
 *		Write the row that was locked last.
 */
void
sk_row_update(SkTable *table, const SkAllocatorRow *row, SkWrite kind)
{
	write_row(table, CMD_UPDATE, row, kind);
}

/*
 * sk_row_delete
 *		Delete the row that was locked last.
 */
void
sk_row_delete(SkTable *table)
{
	write_row(table, CMD_DELETE, NULL, SK_WRITE_CHANGES);
}

/*
 * sk_series_delete_row
 *		Delete a series of a deleted allocator, if it is there.
 */
void
sk_series_delete_row(SkTable *table, int64 id)
{
	SkAllocatorRow row;

	if (lock_row(table, id, LockWaitBlock, &row) == SK_ROW_FOUND)
		write_row(table, CMD_DELETE, NULL, SK_WRITE_FOLLOWS);
}

/*
 * sk_table_next_id
 *		An id that no row has.
 *
 * It comes from where an INSERT finds it, as the identity column may have been
 * converted.  Rows that were replicated have not moved the identity.
 */
int64
sk_table_next_id(Relation rel)
{
	Expr	   *id = (Expr *) build_column_default(rel, SK_COLUMN_ID);
	ExprContext *context = CreateStandaloneExprContext();
	RowKey		key;
	Datum		result;
	bool		isnull;

	if (id == NULL)
		elog(ERROR, "allocators get no ids");
	do
	{
		result = ExecEvalExprSwitchContext(ExecInitExpr(expression_planner(id), NULL),
										   context, &isnull);
		key = key_of_id(DatumGetInt64(result));
	} while (find_row(rel, &key, SnapshotSelf, NULL, NULL));
	FreeExprContext(context, true);
	return DatumGetInt64(result);
}

/*
 * sk_row_insert
 *		Make a row.  Sets its id, unless it has one that is free.
 */
void
sk_row_insert(SkTable *table, SkAllocatorRow *row, SkWrite kind)
{
	RowKey		key = key_of_id(row->id);

	if (row->id == 0 || find_latest(table->rel, &key, NULL, NULL))
		row->id = sk_table_next_id(table->rel);
	write_row(table, CMD_INSERT, row, kind);
}

/*
 * Rows are read and written by the numbers of their columns, so a table of another
 * version of the extension is refused, and one that has lost a column.
 */
static void
check_columns(Relation rel)
{
	TupleDesc	tupdesc = RelationGetDescr(rel);
	bool		fits = tupdesc->natts >= SK_COLUMN_COUNT;

	for (int i = 0; fits && i < SK_COLUMN_COUNT; i++)
		fits = !TupleDescAttr(tupdesc, i)->attisdropped;
	if (!fits)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" does not have the columns that this library expects",
						"spanner.allocator"),
				 errhint("Run ALTER EXTENSION %s UPDATE.", SK_EXTENSION)));
}

static void
open_relation(SkTable *table, Relation rel, LOCKMODE mode)
{
	check_columns(rel);
	table->rel = rel;
	table->mode = mode;
	table->slot = NULL;
	GetUserIdAndSecContext(&table->userid, &table->sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   table->sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
}

static void
fetch_roles(Datum value, Oid type, SkAllocatorRow *row)
{
	Datum	   *roles;
	bool	   *nulls;
	int			count;

	ArrayType  *array = DatumGetArrayTypeP(value);

	if (ARR_ELEMTYPE(array) != type)
		elog(ERROR, "unexpected type of roles of an allocator");
	deconstruct_array(array, type, sizeof(Oid), true,
					  TYPALIGN_INT, &roles, &nulls, &count);
	for (int i = 0; i < count; i++)
		if (!nulls[i])
			row->usage_roles = lappend_oid(row->usage_roles, DatumGetObjectId(roles[i]));
}

/* Series are the reason why the table cannot declare these columns NOT NULL. */
static void
check_null(const bool *nulls, TupleDesc tupdesc, bool is_series)
{
	static const SkAllocatorColumn columns[] = {
		SK_COLUMN_NAME, SK_COLUMN_MODE, SK_COLUMN_MIN_VALUE, SK_COLUMN_MAX_VALUE,
		SK_COLUMN_BATCH_SIZE, SK_COLUMN_MAX_BATCH_SIZE, SK_COLUMN_OWNER_ROLE
	};

	for (int i = 0; i < lengthof(columns); i++)
		if (IS_NULL(columns[i]) != is_series)
			ereport(ERROR,
					(errcode(is_series ? ERRCODE_INVALID_PARAMETER_VALUE :
							 ERRCODE_NOT_NULL_VIOLATION),
					 errmsg(is_series ? "a series cannot have \"%s\"" : "an allocator needs \"%s\"",
							NameStr(TupleDescAttr(tupdesc, columns[i] - 1)->attname)),
					 is_series ? errdetail("It has that of its allocator.") : 0));
}

static void
fetch_options(const Datum *values, const bool *nulls, TupleDesc tupdesc,
			  SkAllocatorRow *row)
{
	sk_allocator_name(TextDatumGetCString(VALUE(SK_COLUMN_NAME)), "allocator name", row->name);
	row->mode = sk_mode_from_name(TextDatumGetCString(VALUE(SK_COLUMN_MODE)));
	row->min_value = DatumGetInt64(VALUE(SK_COLUMN_MIN_VALUE));
	row->max_value = DatumGetInt64(VALUE(SK_COLUMN_MAX_VALUE));
	row->batch_size = DatumGetInt32(VALUE(SK_COLUMN_BATCH_SIZE));
	row->max_batch_size = DatumGetInt32(VALUE(SK_COLUMN_MAX_BATCH_SIZE));
	row->low_water_mark = IS_NULL(SK_COLUMN_LOW_WATER_MARK) ? -1 :
		DatumGetInt32(VALUE(SK_COLUMN_LOW_WATER_MARK));
	row->failover_gap = IS_NULL(SK_COLUMN_FAILOVER_GAP) ? -1 :
		DatumGetInt64(VALUE(SK_COLUMN_FAILOVER_GAP));
	if (!IS_NULL(SK_COLUMN_SERVER))
		strlcpy(row->server, NameStr(*DatumGetName(VALUE(SK_COLUMN_SERVER))), NAMEDATALEN);
	if (!IS_NULL(SK_COLUMN_REMOTE_NAME))
		sk_allocator_name(TextDatumGetCString(VALUE(SK_COLUMN_REMOTE_NAME)), "remote_name",
						  row->remote_name);
	row->owner_role = DatumGetObjectId(VALUE(SK_COLUMN_OWNER_ROLE));
	if (!IS_NULL(SK_COLUMN_USAGE_ROLES))
		fetch_roles(VALUE(SK_COLUMN_USAGE_ROLES), role_type(tupdesc), row);
	row->start_value = IS_NULL(SK_COLUMN_START_VALUE) ? row->min_value :
		DatumGetInt64(VALUE(SK_COLUMN_START_VALUE));
}

/*
 * Give the row of a series what it has of its allocator.
 *
 * The worker does not see an allocator that the transaction has changed.
 */
static void
inherit(SkAllocatorRow *row, const SkAllocatorRow *parent)
{
	SkAllocatorRow all = *parent;

	Assert(row->parent_id == parent->id && row->table == parent->table);
	all.id = row->id;
	/* the bounds of the allocator may have been moved since */
	all.next_value = Max(row->next_value, parent->min_value);
	all.timeline = row->timeline;
	all.system = row->system;
	all.parent_id = row->parent_id;
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
store_options(TupleTableSlot *slot, const SkAllocatorRow *row)
{
	int			count = list_length(row->usage_roles);
	Datum	   *roles = palloc(Max(count, 1) * sizeof(Datum));
	NameData   *server = palloc(sizeof(NameData));

	for (int i = 0; i < count; i++)
		roles[i] = ObjectIdGetDatum(list_nth_oid(row->usage_roles, i));
	namestrcpy(server, row->server);
	set_value(slot, SK_COLUMN_NAME, CStringGetTextDatum(row->name), false);
	set_value(slot, SK_COLUMN_MODE, CStringGetTextDatum(sk_mode_names[row->mode]), false);
	set_value(slot, SK_COLUMN_MIN_VALUE, Int64GetDatum(row->min_value), false);
	set_value(slot, SK_COLUMN_MAX_VALUE, Int64GetDatum(row->max_value), false);
	set_value(slot, SK_COLUMN_BATCH_SIZE, Int32GetDatum((int32) row->batch_size), false);
	set_value(slot, SK_COLUMN_MAX_BATCH_SIZE, Int32GetDatum((int32) row->max_batch_size), false);
	set_value(slot, SK_COLUMN_LOW_WATER_MARK, Int32GetDatum((int32) row->low_water_mark),
			  row->low_water_mark < 0);
	set_value(slot, SK_COLUMN_FAILOVER_GAP, Int64GetDatum(row->failover_gap),
			  row->failover_gap < 0);
	set_value(slot, SK_COLUMN_SERVER, NameGetDatum(server), row->server[0] == '\0');
	set_value(slot, SK_COLUMN_REMOTE_NAME, CStringGetTextDatum(row->remote_name),
			  row->remote_name[0] == '\0');
	set_value(slot, SK_COLUMN_OWNER_ROLE, ObjectIdGetDatum(row->owner_role), false);
	set_value(slot, SK_COLUMN_USAGE_ROLES,
			  PointerGetDatum(construct_array(roles, count, role_type(slot->tts_tupleDescriptor),
											  sizeof(Oid), true, TYPALIGN_INT)),
			  count == 0);
	set_value(slot, SK_COLUMN_START_VALUE, Int64GetDatum(row->start_value), false);
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
	Assert(row->mode < lengthof(sk_mode_names));
	Assert(slot->tts_tupleDescriptor->natts >= SK_COLUMN_COUNT);
	Assert((row->parent_id != 0) == (row->series != NULL));
	set_value(slot, SK_COLUMN_ID, Int64GetDatum(row->id), false);
	set_value(slot, SK_COLUMN_NEXT_VALUE, Int64GetDatum(row->next_value), false);
	set_value(slot, SK_COLUMN_TIMELINE, Int32GetDatum(row->timeline), row->timeline == 0);
	set_value(slot, SK_COLUMN_SYSTEM, Int64GetDatum(row->system), row->system == 0);
	set_value(slot, SK_COLUMN_PARENT_ID, Int64GetDatum(row->parent_id), row->parent_id == 0);
	set_value(slot, SK_COLUMN_SERIES, PointerGetDatum(row->series), row->series == NULL);
	if (row->parent_id == 0)
		store_options(slot, row);
	ExecStoreVirtualTuple(slot);
	ItemPointerSetInvalid(&slot->tts_tid);
}

static void
check_number(const char *column, int64 value, int64 low, int64 high)
{
	if (value < low || value > high)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %lld is out of range", column, (long long) value),
				 errhint("It must be between %lld and %lld.",
						 (long long) low, (long long) high)));
}

static RowKey
key_of_id(int64 id)
{
	RowKey		key = {.count = 1,.index_columns = 1};

	ScanKeyInit(&key.columns[0], SK_COLUMN_ID, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(id));
	return key;
}

static RowKey
key_of_name(const char *name)
{
	RowKey		key = {.count = 1,.index_columns = 1};

	ScanKeyInit(&key.columns[0], SK_COLUMN_NAME, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(name));
	return key;
}

/* Without a series, all those of the allocator. */
static RowKey
key_of_series(int64 parent_id, ArrayType *series)
{
	RowKey		key = {.count = series == NULL ? 1 : 2,.index_columns = 2};

	ScanKeyInit(&key.columns[0], SK_COLUMN_PARENT_ID, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(parent_id));
	ScanKeyInit(&key.columns[1], SK_COLUMN_SERIES, BTEqualStrategyNumber, F_ARRAY_EQ,
				PointerGetDatum(series));
	return key;
}

/* The unique index for a key; the scan reads the table if a REINDEX has made it invalid. */
static Oid
index_for(Relation rel, const RowKey *key)
{
	Oid			result = InvalidOid;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_index index;

		if (!HeapTupleIsValid(tuple))
			continue;
		index = (Form_pg_index) GETSTRUCT(tuple);
		if (index->indisunique && index->indisvalid && index->indimmediate &&
			index->indnkeyatts == key->index_columns &&
			index->indkey.values[0] == key->columns[0].sk_attno &&
			(key->index_columns == 1 ||
			 index->indkey.values[1] == key->columns[1].sk_attno) &&
			heap_attisnull(tuple, Anum_pg_index_indpred, NULL))
			result = lfirst_oid(lc);
		ReleaseSysCache(tuple);
	}
	return result;
}

/* A row as a snapshot shows it, NULL for one of now.  "row" or "tuple" may be NULL. */
static bool
find_row(Relation rel, const RowKey *key, Snapshot snapshot,
		 SkAllocatorRow *row, HeapTuple *tuple)
{
	RowKey		copy = *key;
	SysScanDesc scan;
	HeapTuple	found;

	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
	/* the scan puts the numbers of the index's columns into the key */
	scan = systable_beginscan(rel, index_for(rel, key), true, snapshot,
							  copy.count, copy.columns);
	found = systable_getnext(scan);
	if (found != NULL && row != NULL)
		sk_row_fetch(found, RelationGetDescr(rel), row);
	if (found != NULL && tuple != NULL)
		*tuple = heap_copytuple(found);
	systable_endscan(scan);
	return found != NULL;
}

/*
 * The latest version of a row.  The search takes what is committed when it
 * comes along, and can miss all versions of a row that is updated while it
 * looks at the index.  A snapshot shows one of them.
 */
static bool
find_latest(Relation rel, const RowKey *key, SkAllocatorRow *row, HeapTuple *tuple)
{
	for (int i = 0; i < SK_MAX_LOOKS; i++)
	{
		if (find_row(rel, key, SnapshotSelf, row, tuple))
			return true;
		if (!find_row(rel, key, NULL, NULL, NULL))
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

	if (likely(row->parent_id == 0))
		return true;
	key = key_of_id(row->parent_id);
	if (!find_latest(rel, &key, &parent, NULL) || parent.parent_id != 0)
		return false;
	inherit(row, &parent);
	return true;
}

/*
 * sk_row_find_settled
 *		Look for a name, or else for a series, and wait for transactions that are
 *		about to give it to a row or to take it away.
 */
bool
sk_row_find_settled(SkTable *table, const char *name, int64 parent_id,
					ArrayType *series, SkAllocatorRow *row)
{
	RowKey		key = name != NULL ? key_of_name(name) : key_of_series(parent_id, series);

	Assert(table->mode >= RowExclusiveLock);
	for (;;)
	{
		SnapshotData dirty;
		TransactionId other;

		InitDirtySnapshot(dirty);
		if (!find_row(table->rel, &key, &dirty, row, NULL))
			return find_latest(table->rel, &key, row, NULL) &&
				add_parent(table->rel, row);
		other = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		if (!TransactionIdIsValid(other))
			return add_parent(table->rel, row);
		XactLockTableWait(other, NULL, NULL, XLTW_None);
	}
}

/*
 * The snapshot keeps the version that was found from being replaced by another
 * row before it is locked.
 */
static SkRowState
lock_latest(SkTable *table, int64 id, LockTupleMode mode, LockWaitPolicy policy,
			SkAllocatorRow *row)
{
	RowKey		key = key_of_id(id);
	TM_Result	result = TM_Deleted;
	TM_FailureData failure;
	HeapTuple	tuple;

	PushActiveSnapshot(GetLatestSnapshot());
	/* a row that is gone is looked for again: it may have come back */
	while ((result == TM_Updated || result == TM_Deleted) &&
		   find_latest(table->rel, &key, row, &tuple))
	{
		if (table->slot == NULL)
			table->slot = table_slot_create(table->rel, NULL);
		result = table_tuple_lock(table->rel, &tuple->t_self, GetActiveSnapshot(), table->slot,
								  GetCurrentCommandId(false), mode, policy,
								  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);
	}
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
	uint16		part = (uint16) ((id >> 32) * SK_QUEUES + MyProcPid % SK_QUEUES);
	bool		is_own;
	SkRowState	state;

	(void) sk_row_locker(table, id, &is_own);
	if (is_own)
		return lock_latest(table, id, LockTupleNoKeyExclusive, LockWaitBlock, NULL);
	LockDatabaseObject(relid, queue, part, ExclusiveLock);
	state = lock_latest(table, id, LockTupleNoKeyExclusive, LockWaitBlock, NULL);
	UnlockDatabaseObject(relid, queue, part, ExclusiveLock);
	return state;
}

/* Read the row that was locked last, without what a series has of its allocator. */
static void
read_locked(SkTable *table, SkAllocatorRow *row)
{
	bool		should_free;

	sk_row_fetch(ExecFetchSlotHeapTuple(table->slot, false, &should_free),
				 RelationGetDescr(table->rel), row);
}

/* What a series has of its allocator is left out. */
static SkRowState
lock_row(SkTable *table, int64 id, LockWaitPolicy policy, SkAllocatorRow *row)
{
	SkRowState	state;

	/* sk_table_open() says why a weaker one is not enough */
	Assert(table->mode >= RowExclusiveLock);
	Assert(GetUserId() == table->rel->rd_rel->relowner);
	/* what an earlier part of this command has written can be locked */
	CommandCounterIncrement();
	state = lock_latest(table, id, LockTupleNoKeyExclusive, LockWaitSkip, NULL);
	if (state == SK_ROW_LOCKED && policy == LockWaitBlock)
		state = lock_in_queue(table, id);
	if (state == SK_ROW_FOUND)
	{
		read_locked(table, row);
		Assert(row->id == id);
	}
	return state;
}

/*
 * Write the row that was locked last, or a new one.  The trigger of the table
 * finds out what the write means.
 */
static void
write_row(SkTable *table, CmdType command, const SkAllocatorRow *row, SkWrite kind)
{
	TupleDesc	tupdesc = RelationGetDescr(table->rel);
	TupleTableSlot *new = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);
	SkWrite		outer = sk_table_write;
	SkRowWriter writer;

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
	if (row != NULL)
		store_row(new, row);
	sk_table_write = kind;
	PG_TRY();
	{
		sk_writer_begin(&writer, table->rel, 0);
		sk_writer_write(&writer, command, table->slot, new);
		sk_writer_end(&writer);
	}
	PG_FINALLY();
	{
		sk_table_write = outer;
	}
	PG_END_TRY();
	if (row != NULL && !ItemPointerIsValid(&new->tts_tid))
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
				 errmsg("could not write a row of table \"%s\"",
						"spanner.allocator"),
				 errhint("Look for a trigger on the table that suppresses inserts or updates.")));
	ExecDropSingleTupleTableSlot(new);
}

/*
 * spanner_internal.allocator_role_in(cstring) returns allocator_role
 *
 * As type regrole, but the counter of an allocator is not lost for a role
 * that the server of the dump had and this one has not.
 */
Datum
spanner_allocator_role_in(PG_FUNCTION_ARGS)
{
	char	   *name = PG_GETARG_CSTRING(0);
	List	   *parts;

	if (sk_dump_is_restored() && strcmp(name, "-") != 0 &&
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
				 errhint("Create the roles of a dump before it is restored.")));
		PG_RETURN_OID(GetUserId());
	}
	return DirectFunctionCall1(regrolein, CStringGetDatum(name));
}
