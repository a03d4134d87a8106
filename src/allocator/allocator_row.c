/*-------------------------------------------------------------------------
 *
 * allocator_row.c
 *	  A row of the table spanner.allocator.
 *
 * src/allocator/allocator_row.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "allocator/allocator_row.h"

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
	COLUMN_SERVER,
	COLUMN_REMOTE_NAME,
	COLUMN_OWNER_ROLE = SK_COLUMN_OWNER_ROLE,
	COLUMN_USAGE_ROLES
} Column;

static const char *const mode_names[] = {
	[SK_MODE_SYNC] = "sync",
	[SK_MODE_ON_COMMIT] = "on_commit",
	[SK_MODE_ASYNC] = "async",
	[SK_MODE_BATCH] = "batch",
	[SK_MODE_ASYNC_BATCH] = "async_batch",
	[SK_MODE_REMOTE] = "remote"
};

static void fetch_roles(Datum value, SkAllocatorRow *row);

/*
 * sk_mode_name, sk_mode_from_name
 *		Modes as they stand in the table.
 */
const char *
sk_mode_name(SkMode mode)
{
	return mode_names[mode];
}

bool
sk_mode_from_name(const char *name, SkMode *mode)
{
	for (int i = 0; i < lengthof(mode_names); i++)
		if (strcmp(mode_names[i], name) == 0)
		{
			*mode = i;
			return true;
		}
	return false;
}

/*
 * sk_row_fetch
 *		Read a row.
 */
void
sk_row_fetch(HeapTuple tuple, TupleDesc tupdesc, SkAllocatorRow *row)
{
	Datum	   *values = palloc(tupdesc->natts * sizeof(Datum));
	bool	   *nulls = palloc(tupdesc->natts * sizeof(bool));
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

	if (tupdesc->natts < COLUMN_USAGE_ROLES)
		elog(ERROR, "unexpected columns of an allocator");
#define VALUE(column) (values[(column) - 1])
#define IS_NULL(column) (nulls[(column) - 1])
	heap_deform_tuple(tuple, tupdesc, values, nulls);
	memset(row, 0, sizeof(SkAllocatorRow));
	row->id = DatumGetInt64(VALUE(COLUMN_ID));
	strlcpy(row->name, TextDatumGetCString(VALUE(COLUMN_NAME)), sizeof(row->name));
	if (!sk_mode_from_name(TextDatumGetCString(VALUE(COLUMN_MODE)), &row->mode))
		elog(ERROR, "unknown mode of allocator \"%s\"", row->name);
	row->next_value = DatumGetInt64(VALUE(COLUMN_NEXT_VALUE));
	row->min_value = DatumGetInt64(VALUE(COLUMN_MIN_VALUE));
	row->max_value = DatumGetInt64(VALUE(COLUMN_MAX_VALUE));
	row->batch_size = DatumGetInt32(VALUE(COLUMN_BATCH_SIZE));
	row->max_batch_size = DatumGetInt32(VALUE(COLUMN_MAX_BATCH_SIZE));
	row->low_water_mark = IS_NULL(COLUMN_LOW_WATER_MARK) ? -1 :
		DatumGetInt32(VALUE(COLUMN_LOW_WATER_MARK));
	row->failover_gap = IS_NULL(COLUMN_FAILOVER_GAP) ? -1 :
		DatumGetInt64(VALUE(COLUMN_FAILOVER_GAP));
	row->timeline = IS_NULL(COLUMN_TIMELINE) ? 0 :
		DatumGetInt32(VALUE(COLUMN_TIMELINE));
	if (!IS_NULL(COLUMN_SERVER))
		strlcpy(row->server, NameStr(*DatumGetName(VALUE(COLUMN_SERVER))), NAMEDATALEN);
	if (!IS_NULL(COLUMN_REMOTE_NAME))
		strlcpy(row->remote_name, TextDatumGetCString(VALUE(COLUMN_REMOTE_NAME)),
				sizeof(row->remote_name));
	row->owner_role = DatumGetObjectId(VALUE(COLUMN_OWNER_ROLE));
	if (!IS_NULL(COLUMN_USAGE_ROLES))
		fetch_roles(VALUE(COLUMN_USAGE_ROLES), row);
	row->table = tuple->t_tableOid;
	row->is_own = TransactionIdIsCurrentTransactionId(xmin);
	pfree(values);
	pfree(nulls);
}

static void
fetch_roles(Datum value, SkAllocatorRow *row)
{
	Datum	   *roles;
	bool	   *nulls;
	int			count;

	deconstruct_array(DatumGetArrayTypeP(value), REGROLEOID, sizeof(Oid), true,
					  TYPALIGN_INT, &roles, &nulls, &count);
	row->usage_roles = palloc(Max(count, 1) * sizeof(Oid));
	for (int i = 0; i < count; i++)
		if (!nulls[i])
			row->usage_roles[row->usage_count++] = DatumGetObjectId(roles[i]);
}

static void
set_value(TupleTableSlot *slot, Column column, Datum value, bool isnull)
{
	slot->tts_values[column - 1] = value;
	slot->tts_isnull[column - 1] = isnull;
}

/*
 * sk_row_store
 *		Store a row in a slot, whose other columns are filled already.
 */
void
sk_row_store(TupleTableSlot *slot, const SkAllocatorRow *row)
{
	Datum	   *roles = palloc(Max(row->usage_count, 1) * sizeof(Datum));
	NameData   *server = palloc(sizeof(NameData));

	for (int i = 0; i < row->usage_count; i++)
		roles[i] = ObjectIdGetDatum(row->usage_roles[i]);
	namestrcpy(server, row->server);
	set_value(slot, COLUMN_ID, Int64GetDatum(row->id), false);
	set_value(slot, COLUMN_NAME, CStringGetTextDatum(row->name), false);
	set_value(slot, COLUMN_MODE, CStringGetTextDatum(sk_mode_name(row->mode)), false);
	set_value(slot, COLUMN_NEXT_VALUE, Int64GetDatum(row->next_value), false);
	set_value(slot, COLUMN_MIN_VALUE, Int64GetDatum(row->min_value), false);
	set_value(slot, COLUMN_MAX_VALUE, Int64GetDatum(row->max_value), false);
	set_value(slot, COLUMN_BATCH_SIZE, Int32GetDatum((int32) row->batch_size), false);
	set_value(slot, COLUMN_MAX_BATCH_SIZE, Int32GetDatum((int32) row->max_batch_size), false);
	set_value(slot, COLUMN_LOW_WATER_MARK, Int32GetDatum((int32) row->low_water_mark),
			  row->low_water_mark < 0);
	set_value(slot, COLUMN_FAILOVER_GAP, Int64GetDatum(row->failover_gap),
			  row->failover_gap < 0);
	set_value(slot, COLUMN_TIMELINE, Int32GetDatum(row->timeline), row->timeline == 0);
	set_value(slot, COLUMN_SERVER, NameGetDatum(server), row->server[0] == '\0');
	set_value(slot, COLUMN_REMOTE_NAME, CStringGetTextDatum(row->remote_name),
			  row->remote_name[0] == '\0');
	set_value(slot, COLUMN_OWNER_ROLE, ObjectIdGetDatum(row->owner_role), false);
	set_value(slot, COLUMN_USAGE_ROLES,
			  PointerGetDatum(construct_array(roles, row->usage_count, REGROLEOID,
											  sizeof(Oid), true, TYPALIGN_INT)),
			  row->usage_count == 0);
	ExecStoreVirtualTuple(slot);
	ItemPointerSetInvalid(&slot->tts_tid);
}

/*
 * sk_row_take_role_away
 *		Have a role no more among those that may draw.
 */
void
sk_row_take_role_away(SkAllocatorRow *row, Oid role)
{
	int			kept = 0;

	for (int i = 0; i < row->usage_count; i++)
		if (row->usage_roles[i] != role)
			row->usage_roles[kept++] = row->usage_roles[i];
	row->usage_count = kept;
}
