/*-------------------------------------------------------------------------
 *
 * row.c
 *	  A row of the table spanner.allocator.
 *
 * src/allocator/row.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "allocator/table.h"
#include "spi/own_objects.h"

PG_FUNCTION_INFO_V1(spanner_allocator_role_in);

/* The columns of the table. */
typedef enum Column
{
	COLUMN_ID = SK_COLUMN_ID,
	COLUMN_NAME = SK_COLUMN_NAME,
	COLUMN_MODE,
	COLUMN_NEXT_VALUE,
	COLUMN_MIN_VALUE,
	COLUMN_MAX_VALUE,
	COLUMN_BATCH_SIZE,
	COLUMN_MAX_BATCH_SIZE,
	COLUMN_LOW_WATER_MARK,
	COLUMN_FAILOVER_GAP,
	COLUMN_TIMELINE,
	COLUMN_SYSTEM,
	COLUMN_SERVER,
	COLUMN_REMOTE_NAME,
	COLUMN_OWNER_ROLE = SK_COLUMN_OWNER_ROLE,
	COLUMN_USAGE_ROLES,
	COLUMN_START_VALUE,
	COLUMN_PARENT_ID = SK_COLUMN_PARENT_ID,
	COLUMN_SERIES = SK_COLUMN_SERIES
} Column;

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
StaticAssertDecl(COLUMN_START_VALUE + 1 == COLUMN_PARENT_ID &&
				 COLUMN_SERIES == SK_COLUMN_COUNT, "the columns are not those of the table");

/* Timeline and system. */
#define STAMP_COLUMNS 2

#define SK_DEFAULT_BATCH 200
#define SK_MAX_BATCH_SIZE 10000000

static void fetch_roles(Datum value, Oid type, SkAllocatorRow *row);
static void check_null(const bool *nulls, bool is_series);
static void fetch_options(const Datum *values, const bool *nulls,
						  TupleDesc tupdesc, SkAllocatorRow *row);
static void set_value(TupleTableSlot *slot, Column column, Datum value,
					  bool isnull);
static void store_options(TupleTableSlot *slot, const SkAllocatorRow *row);
static bool is_same_row(HeapTuple old, HeapTuple new, TupleDesc tupdesc);
static void check_number(const char *column, int64 value, int64 low,
						 int64 high);

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

/* spanner_internal.allocator_role, which is an OID. */
static inline Oid
role_type(TupleDesc tupdesc)
{
	return TupleDescAttr(tupdesc, COLUMN_OWNER_ROLE - 1)->atttypid;
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

#ifdef USE_ASSERT_CHECKING
/* The columns are read by number. */
static inline bool
has_type(TupleDesc tupdesc, Column column, Oid type)
{
	return TupleDescAttr(tupdesc, column - 1)->atttypid == type;
}
#endif

/* The table admits NULL in these columns for the sake of series. */
static void
check_null(const bool *nulls, bool is_series)
{
	static const struct
	{
		Column		column;
		const char *name;
	}			columns[] = {
		{COLUMN_NAME, "name"}, {COLUMN_MODE, "mode"},
		{COLUMN_MIN_VALUE, "min_value"}, {COLUMN_MAX_VALUE, "max_value"},
		{COLUMN_BATCH_SIZE, "batch_size"}, {COLUMN_MAX_BATCH_SIZE, "max_batch_size"},
		{COLUMN_OWNER_ROLE, "owner_role"}
	};

	for (int i = 0; i < lengthof(columns); i++)
		if (nulls[columns[i].column - 1] != is_series)
			ereport(ERROR,
					(errcode(is_series ? ERRCODE_INVALID_PARAMETER_VALUE :
							 ERRCODE_NOT_NULL_VIOLATION),
					 is_series ?
					 errmsg("a series cannot have \"%s\"", columns[i].name) :
					 errmsg("null value in column \"%s\" of relation \"%s\" violates not-null constraint",
							columns[i].name, "allocator"),
					 is_series ?
					 errdetail("It has that of its allocator.") : 0));
}

#define VALUE(column) (values[(column) - 1])
#define IS_NULL(column) (nulls[(column) - 1])

static void
fetch_options(const Datum *values, const bool *nulls, TupleDesc tupdesc,
			  SkAllocatorRow *row)
{
	sk_allocator_name(TextDatumGetCString(VALUE(COLUMN_NAME)), "allocator name", row->name);
	row->mode = sk_mode_from_name(TextDatumGetCString(VALUE(COLUMN_MODE)));
	row->min_value = DatumGetInt64(VALUE(COLUMN_MIN_VALUE));
	row->max_value = DatumGetInt64(VALUE(COLUMN_MAX_VALUE));
	row->batch_size = DatumGetInt32(VALUE(COLUMN_BATCH_SIZE));
	row->max_batch_size = DatumGetInt32(VALUE(COLUMN_MAX_BATCH_SIZE));
	row->low_water_mark = IS_NULL(COLUMN_LOW_WATER_MARK) ? -1 :
		DatumGetInt32(VALUE(COLUMN_LOW_WATER_MARK));
	row->failover_gap = IS_NULL(COLUMN_FAILOVER_GAP) ? -1 :
		DatumGetInt64(VALUE(COLUMN_FAILOVER_GAP));
	if (!IS_NULL(COLUMN_SERVER))
		strlcpy(row->server, NameStr(*DatumGetName(VALUE(COLUMN_SERVER))), NAMEDATALEN);
	if (!IS_NULL(COLUMN_REMOTE_NAME))
		sk_allocator_name(TextDatumGetCString(VALUE(COLUMN_REMOTE_NAME)), "remote_name",
						  row->remote_name);
	row->owner_role = DatumGetObjectId(VALUE(COLUMN_OWNER_ROLE));
	if (!IS_NULL(COLUMN_USAGE_ROLES))
		fetch_roles(VALUE(COLUMN_USAGE_ROLES), role_type(tupdesc), row);
	row->start_value = IS_NULL(COLUMN_START_VALUE) ? row->min_value :
		DatumGetInt64(VALUE(COLUMN_START_VALUE));
}

/*
 * sk_row_check_columns
 *		Raise an error if a table has not the columns that rows are made of.
 *
 * Rows are read and written by the numbers of their columns.  Roles are of a
 * type of the extension, whose elements sk_row_fetch() checks in an array.
 */
void
sk_row_check_columns(Relation rel)
{
	static const Oid types[] = {
		INT8OID, TEXTOID, TEXTOID, INT8OID, INT8OID, INT8OID, INT4OID, INT4OID,
		INT4OID, INT8OID, INT4OID, INT8OID, NAMEOID, TEXTOID, InvalidOid, InvalidOid,
		INT8OID, INT8OID, TEXTARRAYOID
	};
	TupleDesc	tupdesc = RelationGetDescr(rel);
	bool		fits = rel->rd_rel->relkind == RELKIND_RELATION &&
		tupdesc->natts >= (int) lengthof(types);

	StaticAssertStmt(lengthof(types) == SK_COLUMN_COUNT, "a type for each column");
	for (int i = 0; fits && i < lengthof(types); i++)
	{
		Form_pg_attribute column = TupleDescAttr(tupdesc, i);

		fits = OidIsValid(types[i]) ? column->atttypid == types[i] :
			OidIsValid(column->atttypid) &&
			column->attlen == (i + 1 == SK_COLUMN_OWNER_ROLE ? (int16) sizeof(Oid) : -1);
	}
	if (!fits)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" does not have the columns that this library expects",
						"spanner.allocator"),
				 errhint("Run ALTER EXTENSION %s UPDATE.", SK_EXTENSION)));
}

/*
 * sk_row_fetch
 *		Read a row.  Raises an error if a name or the mode is invalid.
 *
 * What a series has of its allocator is left out: sk_row_inherit() adds it.
 */
void
sk_row_fetch(HeapTuple tuple, TupleDesc tupdesc, SkAllocatorRow *row)
{
	Datum	   *values = palloc(tupdesc->natts * sizeof(Datum));
	bool	   *nulls = palloc(tupdesc->natts * sizeof(bool));
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);
	bool		is_series;

	Assert(tupdesc->natts >= SK_COLUMN_COUNT);
	Assert(has_type(tupdesc, COLUMN_ID, INT8OID));
	Assert(has_type(tupdesc, COLUMN_MODE, TEXTOID));
	Assert(has_type(tupdesc, COLUMN_NEXT_VALUE, INT8OID));
	Assert(has_type(tupdesc, COLUMN_BATCH_SIZE, INT4OID));
	Assert(has_type(tupdesc, COLUMN_FAILOVER_GAP, INT8OID));
	Assert(has_type(tupdesc, COLUMN_SERVER, NAMEOID));
	Assert(has_type(tupdesc, COLUMN_SERIES, TEXTARRAYOID));
	heap_deform_tuple(tuple, tupdesc, values, nulls);
	memset(row, 0, sizeof(SkAllocatorRow));
	row->id = DatumGetInt64(VALUE(COLUMN_ID));
	row->next_value = DatumGetInt64(VALUE(COLUMN_NEXT_VALUE));
	row->timeline = IS_NULL(COLUMN_TIMELINE) ? 0 :
		DatumGetInt32(VALUE(COLUMN_TIMELINE));
	row->system = IS_NULL(COLUMN_SYSTEM) ? 0 :
		DatumGetInt64(VALUE(COLUMN_SYSTEM));
	row->table = tuple->t_tableOid;
	row->tid = tuple->t_self;
	row->is_own = TransactionIdIsCurrentTransactionId(xmin);
	is_series = !IS_NULL(COLUMN_PARENT_ID);
	check_null(nulls, is_series);
	if (is_series)
		row->parent_id = DatumGetInt64(VALUE(COLUMN_PARENT_ID));
	else
		fetch_options(values, nulls, tupdesc, row);
	if (!IS_NULL(COLUMN_SERIES))
		row->series = DatumGetArrayTypePCopy(VALUE(COLUMN_SERIES));
	pfree(values);
	pfree(nulls);
}

/*
 * sk_row_inherit
 *		Give the row of a series what it has of its allocator.
 *
 * The worker does not see an allocator that the transaction has changed.
 */
void
sk_row_inherit(SkAllocatorRow *row, const SkAllocatorRow *parent)
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

/*
 * sk_row_has_options_of
 *		Do two versions of an allocator give values in the same way?
 */
bool
sk_row_has_options_of(const SkAllocatorRow *row, const SkAllocatorRow *other)
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

static void
set_value(TupleTableSlot *slot, Column column, Datum value, bool isnull)
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
	set_value(slot, COLUMN_NAME, CStringGetTextDatum(row->name), false);
	set_value(slot, COLUMN_MODE, CStringGetTextDatum(sk_mode_names[row->mode]), false);
	set_value(slot, COLUMN_MIN_VALUE, Int64GetDatum(row->min_value), false);
	set_value(slot, COLUMN_MAX_VALUE, Int64GetDatum(row->max_value), false);
	set_value(slot, COLUMN_BATCH_SIZE, Int32GetDatum((int32) row->batch_size), false);
	set_value(slot, COLUMN_MAX_BATCH_SIZE, Int32GetDatum((int32) row->max_batch_size), false);
	set_value(slot, COLUMN_LOW_WATER_MARK, Int32GetDatum((int32) row->low_water_mark),
			  row->low_water_mark < 0);
	set_value(slot, COLUMN_FAILOVER_GAP, Int64GetDatum(row->failover_gap),
			  row->failover_gap < 0);
	set_value(slot, COLUMN_SERVER, NameGetDatum(server), row->server[0] == '\0');
	set_value(slot, COLUMN_REMOTE_NAME, CStringGetTextDatum(row->remote_name),
			  row->remote_name[0] == '\0');
	set_value(slot, COLUMN_OWNER_ROLE, ObjectIdGetDatum(row->owner_role), false);
	set_value(slot, COLUMN_USAGE_ROLES,
			  PointerGetDatum(construct_array(roles, count, role_type(slot->tts_tupleDescriptor),
											  sizeof(Oid), true, TYPALIGN_INT)),
			  count == 0);
	set_value(slot, COLUMN_START_VALUE, Int64GetDatum(row->start_value), false);
}

/*
 * sk_row_store
 *		Store a row in a slot, whose other columns are filled already.
 *
 * The options of a series are columns of another row: those of a new one are
 * NULL, and stay so.
 */
void
sk_row_store(TupleTableSlot *slot, const SkAllocatorRow *row)
{
	Assert(row->mode < lengthof(sk_mode_names));
	Assert(slot->tts_tupleDescriptor->natts >= SK_COLUMN_COUNT);
	Assert((row->parent_id != 0) == (row->series != NULL));
	set_value(slot, COLUMN_ID, Int64GetDatum(row->id), false);
	set_value(slot, COLUMN_NEXT_VALUE, Int64GetDatum(row->next_value), false);
	set_value(slot, COLUMN_TIMELINE, Int32GetDatum(row->timeline), row->timeline == 0);
	set_value(slot, COLUMN_SYSTEM, Int64GetDatum(row->system), row->system == 0);
	set_value(slot, COLUMN_PARENT_ID, Int64GetDatum(row->parent_id), row->parent_id == 0);
	set_value(slot, COLUMN_SERIES, PointerGetDatum(row->series), row->series == NULL);
	if (row->parent_id == 0)
		store_options(slot, row);
	ExecStoreVirtualTuple(slot);
	ItemPointerSetInvalid(&slot->tts_tid);
}

/*
 * sk_row_stamp
 *		Note that the counter is one that this server knows, and when.
 *
 * pg_upgrade makes a new system, whose timelines begin with 1 again.
 */
void
sk_row_stamp(SkAllocatorRow *row)
{
	row->timeline = GetWALInsertionTimeLine();
	row->system = GetSystemIdentifier();
}

/*
 * sk_row_is_of_this_timeline
 *		Has the counter been written here since the last promotion?
 */
bool
sk_row_is_of_this_timeline(const SkAllocatorRow *row)
{
	return row->timeline == (int32) GetWALInsertionTimeLine() &&
		row->system == (int64) GetSystemIdentifier();
}

/*
 * sk_row_complete
 *		The tuple of an INSERT with the defaults, and the stamp of now.
 *
 * A row from a dump has the stamp of another server.  One that is replicated
 * gets none, since more values may have been given there than came along.
 */
HeapTuple
sk_row_complete(HeapTuple tuple, TupleDesc tupdesc, bool is_replicated)
{
	struct
	{
		Column		column;
		Datum		value;
	}			defaults[] = {
		{COLUMN_TIMELINE, Int32GetDatum(GetWALInsertionTimeLine())},
		{COLUMN_SYSTEM, Int64GetDatum((int64) GetSystemIdentifier())},
		{COLUMN_MODE, CStringGetTextDatum(sk_mode_names[SK_MODE_ASYNC_BATCH])},
		{COLUMN_NEXT_VALUE, Int64GetDatum(1)},
		{COLUMN_MIN_VALUE, Int64GetDatum(1)},
		{COLUMN_MAX_VALUE, Int64GetDatum(PG_INT64_MAX - 1)},
		{COLUMN_BATCH_SIZE, Int32GetDatum(SK_DEFAULT_BATCH)},
		{COLUMN_MAX_BATCH_SIZE, Int32GetDatum(SK_DEFAULT_MAX_BATCH)}
	};
	bool		is_series = !heap_attisnull(tuple, COLUMN_PARENT_ID, tupdesc);
	int			columns[lengthof(defaults)];
	Datum		values[lengthof(defaults)];
	bool		nulls[lengthof(defaults)] = {false};
	int			count = 0;

	for (int i = 0; i < lengthof(defaults); i++)
	{
		if (i >= STAMP_COLUMNS &&
			(is_series || !heap_attisnull(tuple, defaults[i].column, tupdesc)))
			continue;
		columns[count] = defaults[i].column;
		nulls[count] = i < STAMP_COLUMNS && is_replicated;
		values[count++] = defaults[i].value;
	}
	return heap_modify_tuple_by_cols(tuple, tupdesc, count, columns, values, nulls);
}

static bool
is_same_row(HeapTuple old, HeapTuple new, TupleDesc tupdesc)
{
	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(tupdesc, i);
		bool		is_null[2];
		Datum		value[2];

		value[0] = heap_getattr(old, i + 1, tupdesc, &is_null[0]);
		value[1] = heap_getattr(new, i + 1, tupdesc, &is_null[1]);
		if (is_null[0] != is_null[1] ||
			(!is_null[0] && !datum_image_eq(value[0], value[1], column->attbyval,
											column->attlen)))
			return false;
	}
	return true;
}

/*
 * sk_row_merge
 *		The tuple of an UPDATE that comes from another server: the counter does
 *		not go back, and the stamp stays.
 *
 * NULL if nothing changes, so that pools keep their values.
 */
HeapTuple
sk_row_merge(HeapTuple old, HeapTuple new, TupleDesc tupdesc)
{
	int			columns[] = {COLUMN_TIMELINE, COLUMN_SYSTEM, COLUMN_NEXT_VALUE};
	Datum		values[lengthof(columns)];
	bool		nulls[lengthof(columns)];
	bool		isnull;
	Datum		next = heap_getattr(new, COLUMN_NEXT_VALUE, tupdesc, &isnull);

	for (int i = 0; i < lengthof(columns); i++)
		values[i] = heap_getattr(old, columns[i], tupdesc, &nulls[i]);
	/* a NULL is for the constraint to refuse */
	if (isnull || DatumGetInt64(next) > DatumGetInt64(values[2]))
	{
		values[2] = next;
		nulls[2] = isnull;
	}
	new = heap_modify_tuple_by_cols(new, tupdesc, lengthof(columns), columns, values, nulls);
	return is_same_row(old, new, tupdesc) ? NULL : new;
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
