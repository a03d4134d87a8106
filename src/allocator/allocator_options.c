/*-------------------------------------------------------------------------
 *
 * allocator_options.c
 *	  The options of an allocator: reading, checking and writing them.
 *
 * src/allocator/allocator_options.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "allocator/allocator_options.h"

#define SK_MAX_BATCH 10000000

static SkStatement insert_row = {
	"INSERT INTO spanner.allocator (mode, next_value, min_value, max_value,"
	" batch_size, max_batch_size, low_water_mark, failover_gap, server,"
	" remote_name, owner_role, name, timeline)"
	" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
	" RETURNING allocator_id",
	SPI_OK_INSERT_RETURNING, 13,
	{TEXTOID, INT8OID, INT8OID, INT8OID, INT4OID, INT4OID, INT4OID, INT8OID,
	NAMEOID, TEXTOID, REGROLEOID, TEXTOID, INT4OID}
};

static SkStatement update_row = {
	"UPDATE spanner.allocator a SET mode = $1, next_value = $2,"
	" min_value = $3, max_value = $4, batch_size = $5, max_batch_size = $6,"
	" low_water_mark = $7, failover_gap = $8, server = $9, remote_name = $10,"
	" owner_role = $11 WHERE a.allocator_id OPERATOR(pg_catalog.=) $12",
	SPI_OK_UPDATE, 12,
	{TEXTOID, INT8OID, INT8OID, INT8OID, INT4OID, INT4OID, INT4OID, INT8OID,
	NAMEOID, TEXTOID, REGROLEOID, INT8OID}
};

static SkStatement lock_row = {
	"SELECT a.next_value, a.min_value, a.max_value, a.batch_size,"
	" a.max_batch_size, a.low_water_mark, a.failover_gap, a.mode, a.server,"
	" a.remote_name, a.owner_role FROM spanner.allocator a"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) $1 FOR UPDATE OF a",
	SPI_OK_SELECT, 1, {INT8OID}
};

static void check_number(const char *option, int64 value, int64 low, int64 high);
static void write_options(SkStatement *statement,
						  const SkAllocatorOptions *options, Datum key);

/*
 * sk_options_lock
 *		Lock an allocator and read its options.
 */
void
sk_options_lock(int64 id, SkAllocatorOptions *options)
{
	MemoryContext caller = CurrentMemoryContext;
	Datum		key = Int64GetDatum(id);
	SkTableScope scope;
	bool		isnull;
	Datum		value;

	sk_table_enter(&scope);
	if (sk_table_execute(&lock_row, &key, NULL) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("allocator with id %lld does not exist", (long long) id),
				 errhint("It has just been dropped.")));
	options->next_value = sk_table_int64(0, 1);
	options->min_value = sk_table_int64(0, 2);
	options->max_value = sk_table_int64(0, 3);
	options->batch_size = DatumGetInt32(sk_table_datum(0, 4, &isnull));
	options->max_batch_size = DatumGetInt32(sk_table_datum(0, 5, &isnull));
	value = sk_table_datum(0, 6, &isnull);
	options->low_water_mark = isnull ? -1 : DatumGetInt32(value);
	value = sk_table_datum(0, 7, &isnull);
	options->failover_gap = isnull ? -1 : DatumGetInt64(value);
	(void) sk_mode_from_name(TextDatumGetCString(sk_table_datum(0, 8, &isnull)),
							 &options->mode);
	value = sk_table_datum(0, 9, &isnull);
	options->server = isnull ? NULL :
		MemoryContextStrdup(caller, NameStr(*DatumGetName(value)));
	value = sk_table_datum(0, 10, &isnull);
	options->remote_name = isnull ? NULL :
		MemoryContextStrdup(caller, TextDatumGetCString(value));
	options->owner_role = DatumGetObjectId(sk_table_datum(0, 11, &isnull));
	sk_table_leave(&scope);
}

/*
 * sk_options_check
 *		Refuse options that make no sense, before the table does.
 */
void
sk_options_check(const char *name, const SkAllocatorOptions *options)
{
	check_number("batch_size", options->batch_size, 1, SK_MAX_BATCH);
	check_number("max_batch_size", options->max_batch_size,
				 options->batch_size, SK_MAX_BATCH);
	check_number("low_water_mark", options->low_water_mark, -1, PG_INT32_MAX);
	check_number("failover_gap", options->failover_gap, -1, PG_INT64_MAX);
	check_number("max_value", options->max_value, options->min_value,
				 PG_INT64_MAX - 1);
	check_number("next value", options->next_value, options->min_value,
				 options->max_value + 1);
	if ((options->mode == SK_MODE_REMOTE) != (options->server != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 options->server == NULL ?
				 errmsg("allocator \"%s\" needs a server", name) :
				 errmsg("allocator \"%s\" cannot have a server", name),
				 errhint("Mode \"%s\" takes values from a foreign server, all others from this one.",
						 "remote")));
	if (options->server != NULL)
		(void) GetForeignServerByName(options->server, false);
}

static void
check_number(const char *option, int64 value, int64 low, int64 high)
{
	if (value < low || value > high)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %lld is out of range", option, (long long) value),
				 errhint("It must be between %lld and %lld.",
						 (long long) low, (long long) high)));
}

/*
 * sk_options_insert
 *		Make an allocator, and return its id.
 */
int64
sk_options_insert(const char *name, const SkAllocatorOptions *options)
{
	Datum		key = CStringGetTextDatum(name);
	SkTableScope scope;
	int64		id;

	sk_table_enter(&scope);
	write_options(&insert_row, options, key);
	id = sk_table_int64(0, 1);
	sk_table_leave(&scope);
	return id;
}

/*
 * sk_options_update
 *		Write the options of an allocator.
 */
void
sk_options_update(int64 id, const SkAllocatorOptions *options)
{
	SkTableScope scope;

	sk_table_enter(&scope);
	write_options(&update_row, options, Int64GetDatum(id));
	sk_table_leave(&scope);
}

/* The last argument of the statement is the key, or the name. */
static void
write_options(SkStatement *statement, const SkAllocatorOptions *options, Datum key)
{
	char		nulls[] = "             ";
	NameData	server;
	Datum		values[13];

	values[0] = CStringGetTextDatum(sk_mode_name(options->mode));
	values[1] = Int64GetDatum(options->next_value);
	values[2] = Int64GetDatum(options->min_value);
	values[3] = Int64GetDatum(options->max_value);
	values[4] = Int32GetDatum((int32) options->batch_size);
	values[5] = Int32GetDatum((int32) options->max_batch_size);
	values[6] = Int32GetDatum((int32) options->low_water_mark);
	values[7] = Int64GetDatum(options->failover_gap);
	values[8] = NameGetDatum(&server);
	values[9] = (Datum) 0;
	values[10] = ObjectIdGetDatum(options->owner_role);
	values[11] = key;
	values[12] = Int32GetDatum(GetWALInsertionTimeLine());
	namestrcpy(&server, options->server != NULL ? options->server : "");
	if (options->low_water_mark < 0)
		nulls[6] = 'n';
	if (options->failover_gap < 0)
		nulls[7] = 'n';
	if (options->server == NULL)
		nulls[8] = 'n';
	if (options->remote_name == NULL)
		nulls[9] = 'n';
	else
		values[9] = CStringGetTextDatum(options->remote_name);
	if (sk_table_execute(statement, values, nulls) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
				 errmsg("could not write a row of table \"%s\"",
						"spanner.allocator"),
				 errhint("Look for a trigger on the table that suppresses inserts or updates.")));
}
