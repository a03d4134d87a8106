/*-------------------------------------------------------------------------
 *
 * series.c
 *	  Series: counters under one allocator.
 *
 * A series is a row of the table with a counter and a stamp of its own.  All
 * else it has of its allocator.  So it is drawn from by its id, like an
 * allocator, and a change of the allocator is one of all its series.
 *
 * What a series counts for are texts.  The value of a column has one text, that
 * which shard_id() hashes, which is the same for all equal values, of another
 * type too, and depends on no setting.
 *
 * The first one who uses a series makes its row, in its own transaction.
 * Others who want the same series wait for the end of that.
 *
 * src/allocator/series.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "allocator/change.h"
#include "allocator/reserve.h"
#include "allocator/series.h"
#include "keys/canonical.h"

/* What is locked while a series is made differs from what queues for a row. */
#define SK_SERIES_QUEUE 0x8000

static ArrayType *make_series(Datum *values, int count);
static Datum text_of_value(Datum value, Oid type);
static void make_row(SkTable *table, int64 parent_id, ArrayType *series,
					 SkAllocatorRow *row);

static ArrayType *
make_series(Datum *values, int count)
{
	ArrayType  *result = construct_array(values, count, TEXTOID, -1, false, TYPALIGN_INT);

	if (VARSIZE(result) > SK_MAX_SERIES_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("values of a series are too long"),
				 errdetail("Together they may have about %d bytes.", SK_MAX_SERIES_BYTES)));
	return result;
}

/*
 * sk_series_of_argument
 *		The series that the last argument of a function names; NULL if it is empty,
 *		or if the function has only "argno" arguments.
 */
ArrayType *
sk_series_of_argument(FunctionCallInfo fcinfo, int argno)
{
	return PG_NARGS() <= argno ? NULL :
		sk_series_of_array(PG_GETARG_ARRAYTYPE_P(argno));
}

/*
 * sk_series_of_array
 *		The same from the argument itself.
 */
ArrayType *
sk_series_of_array(ArrayType *values)
{
	Datum	   *texts;
	bool	   *nulls;
	int			count;

	if (ARR_NDIM(values) == 0)
		return NULL;
	deconstruct_array(values, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &count);
	if (ARR_NDIM(values) > 1 || count > SK_MAX_SERIES_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series is a list of 1 to %d values", SK_MAX_SERIES_COLUMNS)));
	for (int i = 0; i < count; i++)
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("value %d of the series must not be null", i + 1)));
	return make_series(texts, count);
}

/* A text in the encoding of the database; bytes are shown in hexadecimal. */
static Datum
text_of_value(Datum value, Oid type)
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
	sk_key_text_release(&key);
	return result;
}

/*
 * sk_series_of_row
 *		The series that columns of a row name.
 */
ArrayType *
sk_series_of_row(TupleTableSlot *slot, Relation rel, const AttrNumber *columns,
				 int count)
{
	Datum		texts[SK_MAX_SERIES_COLUMNS];

	Assert(count >= 1 && count <= SK_MAX_SERIES_COLUMNS);
	for (int i = 0; i < count; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), columns[i] - 1);
		bool		isnull;
		Datum		value = slot_getattr(slot, columns[i], &isnull);

		if (isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("null value in column \"%s\" of relation \"%s\", which tells the series of a number",
							NameStr(column->attname), RelationGetRelationName(rel)),
					 errhint("Declare the column NOT NULL, or give it a value that means none."),
					 errtablecol(rel, columns[i])));
		texts[i] = text_of_value(value, column->atttypid);
	}
	return make_series(texts, count);
}

/*
 * sk_series_compare
 *		Compare series in an order that is the same for everybody; NULL, the
 *		allocator itself, comes first.
 */
int
sk_series_compare(const ArrayType *a, const ArrayType *b)
{
	Size		a_size = a == NULL ? 0 : VARSIZE(a);
	Size		b_size = b == NULL ? 0 : VARSIZE(b);

	if (a_size != b_size)
		return a_size < b_size ? -1 : 1;
	return a_size == 0 ? 0 : memcmp(a, b, a_size);
}

/*
 * sk_series_print
 *		A series for a message: its values with commas between them.
 */
char *
sk_series_print(ArrayType *series)
{
	StringInfoData result;
	Datum	   *values;
	int			count;

	initStringInfo(&result);
	deconstruct_array(series, TEXTOID, -1, false, TYPALIGN_INT, &values, NULL, &count);
	for (int i = 0; i < count; i++)
		appendStringInfo(&result, "%s%s", i > 0 ? ", " : "", TextDatumGetCString(values[i]));
	return result.data;
}

/* Make the row of a series, which nobody else does meanwhile. */
static void
make_row(SkTable *table, int64 parent_id, ArrayType *series, SkAllocatorRow *row)
{
	SkAllocatorRow parent;

	if (!sk_row_keep(table, parent_id, &parent))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("allocator of series (%s) does not exist", sk_series_print(series))));
	/* it was found by its name, which series have not */
	Assert(parent.parent_id == 0);
	*row = parent;
	row->parent_id = parent_id;
	row->series = series;
	row->next_value = Max(parent.start_value, parent.min_value);
	/* values of a series of that name may have been given before a promotion */
	sk_reserve_leave_gap(row);
	sk_row_insert(table, row);
	row->is_own = true;
}

/*
 * sk_series_begin
 *		Find a series of an allocator, or make it.
 *
 * Waits for a transaction that is making it.
 */
void
sk_series_begin(SkTable *table, int64 parent_id, ArrayType *series,
				SkAllocatorRow *row)
{
	Oid			relid = RelationGetRelid(table->rel);
	uint64		hash;
	uint16		part;

	Assert(table->mode >= RowExclusiveLock);
	if (sk_series_find(table, parent_id, series, row))
		return;
	hash = hash_bytes_extended((unsigned char *) series, VARSIZE(series), parent_id);
	part = (uint16) (hash >> 32) | SK_SERIES_QUEUE;
	LockDatabaseObject(relid, (Oid) hash, part, ExclusiveLock);
	if (!sk_series_find_settled(table, parent_id, series, row))
		make_row(table, parent_id, series, row);
	/* others find the row now, and wait for the transaction */
	UnlockDatabaseObject(relid, (Oid) hash, part, ExclusiveLock);
}

/*
 * sk_series_delete
 *		Delete the series of an allocator that has been deleted.
 *
 * A transaction that was making one has kept the allocator until its end.
 */
void
sk_series_delete(int64 parent_id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "spanner_keys series",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	SkTable		table;
	ListCell   *lc;

	sk_table_open(&table, RowExclusiveLock);
	table.slot = table_slot_create(table.rel, NULL);
	foreach(lc, sk_series_ids(&table, parent_id, PG_INT32_MAX))
	{
		int64		id = *(int64 *) lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		sk_change_note(RelationGetRelid(table.rel), id, PG_INT64_MAX);
		old = MemoryContextSwitchTo(context);
		sk_series_delete_row(&table, id);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	sk_table_close(&table);
	MemoryContextDelete(context);
}
