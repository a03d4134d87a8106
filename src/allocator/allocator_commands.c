/*-------------------------------------------------------------------------
 *
 * allocator_commands.c
 *	  Creating, changing and dropping allocators.
 *
 * Each function locks the row, checks that the current user may do it, and
 * changes the row.  What follows from the change is up to the trigger of the
 * table.
 *
 * src/allocator/allocator_commands.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/regproc.h"

#include "allocator/allocator_cache.h"
#include "allocator/allocator_options.h"
#include "allocator/change.h"
#include "allocator/reserve.h"
#include "compat.h"

PG_FUNCTION_INFO_V1(spanner_create_allocator);
PG_FUNCTION_INFO_V1(spanner_alter_allocator);
PG_FUNCTION_INFO_V1(spanner_rename_allocator);
PG_FUNCTION_INFO_V1(spanner_drop_allocator);
PG_FUNCTION_INFO_V1(spanner_grant_allocator);
PG_FUNCTION_INFO_V1(spanner_revoke_allocator);
PG_FUNCTION_INFO_V1(spanner_advance_allocator);
PG_FUNCTION_INFO_V1(spanner_reset_allocator);
PG_FUNCTION_INFO_V1(spanner_release_allocator);

#define SK_DEFAULT_MAX_BATCH 100000

static SkStatement rename_row = {
	"UPDATE spanner.allocator a SET name = $2"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) $1",
	SPI_OK_UPDATE, 2, {INT8OID, TEXTOID}
};

static SkStatement delete_row = {
	"DELETE FROM spanner.allocator a"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) $1",
	SPI_OK_DELETE, 1, {INT8OID}
};

static SkStatement grant_row = {
	"UPDATE spanner.allocator a SET usage_role = $2"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) $1",
	SPI_OK_UPDATE, 2, {INT8OID, REGROLEOID}
};

static SkStatement set_counter = {
	"UPDATE spanner.allocator a SET next_value = $2"
	" WHERE a.allocator_id OPERATOR(pg_catalog.=) $1",
	SPI_OK_UPDATE, 2, {INT8OID, INT8OID}
};

static void check_name(const char *name);
static void lock_name(const char *name);
static bool read_owned(FunctionCallInfo fcinfo, const char *name, bool missing_ok,
					   SkAllocatorRow *row);
static SkMode mode_argument(FunctionCallInfo fcinfo, int argno);
static Oid	role_argument(const char *role, bool public_ok);
static void set_usage_role(FunctionCallInfo fcinfo, const char *name, Oid role, bool isnull);
static void change_row(SkStatement *statement, Datum *values);

/* An argument that cannot be left out. */
static inline void
require_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name),
				 errhint("Leave it out for its default, if it has one.")));
}

/*
 * spanner.create_allocator(name, mode, start_value, max_value, batch_size,
 * low_water_mark, max_batch_size, failover_gap, min_value, server,
 * remote_name, if_not_exists) returns bigint
 *
 * Makes an allocator and returns its id.  "start_value" is the first value;
 * batch sizes are from 1 to 10 million.
 */
Datum
spanner_create_allocator(PG_FUNCTION_ARGS)
{
	char	   *name;
	SkAllocatorOptions options;
	SkAllocatorRow existing;

	require_argument(fcinfo, 0, "name");
	require_argument(fcinfo, 1, "mode");
	require_argument(fcinfo, 2, "start_value");
	require_argument(fcinfo, 3, "max_value");
	require_argument(fcinfo, 4, "batch_size");
	require_argument(fcinfo, 11, "if_not_exists");
	sk_check_writable(fcinfo->flinfo->fn_oid);

	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	check_name(name);
	options.mode = mode_argument(fcinfo, 1);
	options.next_value = PG_GETARG_INT64(2);
	options.max_value = PG_GETARG_INT64(3);
	options.batch_size = PG_GETARG_INT32(4);
	options.low_water_mark = PG_ARGISNULL(5) ? -1 : PG_GETARG_INT32(5);
	options.max_batch_size = !PG_ARGISNULL(6) ? PG_GETARG_INT32(6) :
		Max(options.batch_size, SK_DEFAULT_MAX_BATCH);
	options.failover_gap = PG_ARGISNULL(7) ? -1 : PG_GETARG_INT64(7);
	options.min_value = !PG_ARGISNULL(8) ? PG_GETARG_INT64(8) :
		Min(options.next_value, 1);
	options.server = PG_ARGISNULL(9) ? NULL : NameStr(*PG_GETARG_NAME(9));
	options.remote_name = !PG_ARGISNULL(10) ?
		text_to_cstring(PG_GETARG_TEXT_PP(10)) :
		options.server != NULL ? name : NULL;
	options.owner_role = GetUserId();
	sk_options_check(name, &options);

	lock_name(name);
	if (sk_allocator_read(name, 0, &existing))
	{
		if (!PG_GETARG_BOOL(11))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("allocator \"%s\" already exists", name),
					 errhint("Choose another name, or use if_not_exists => true.")));
		ereport(NOTICE,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("allocator \"%s\" already exists, skipping", name)));
		PG_RETURN_INT64(existing.id);
	}
	PG_RETURN_INT64(sk_options_insert(name, &options));
}

/*
 * spanner.alter_allocator(name, mode, max_value, batch_size, low_water_mark,
 * max_batch_size, failover_gap, min_value, server, remote_name, owner_role)
 *
 * Changes what is not NULL.  Values that are reserved already are lost.
 */
Datum
spanner_alter_allocator(PG_FUNCTION_ARGS)
{
	char	   *name;
	SkAllocatorOptions options;
	SkAllocatorRow row;

	require_argument(fcinfo, 0, "name");
	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	(void) read_owned(fcinfo, name, false, &row);

	sk_reserve_leave_gap(&row);
	sk_options_lock(row.id, &options);
	if (!PG_ARGISNULL(1))
		options.mode = mode_argument(fcinfo, 1);
	if (!PG_ARGISNULL(2))
		options.max_value = PG_GETARG_INT64(2);
	if (!PG_ARGISNULL(3))
		options.batch_size = PG_GETARG_INT32(3);
	if (!PG_ARGISNULL(4))
		options.low_water_mark = PG_GETARG_INT32(4);
	if (!PG_ARGISNULL(5))
		options.max_batch_size = PG_GETARG_INT32(5);
	else
		options.max_batch_size = Max(options.max_batch_size, options.batch_size);
	if (!PG_ARGISNULL(6))
		options.failover_gap = PG_GETARG_INT64(6);
	if (!PG_ARGISNULL(7))
		options.min_value = PG_GETARG_INT64(7);
	if (!PG_ARGISNULL(8))
		options.server = NameStr(*PG_GETARG_NAME(8));
	if (!PG_ARGISNULL(9))
		options.remote_name = text_to_cstring(PG_GETARG_TEXT_PP(9));
	if (options.mode != SK_MODE_REMOTE && PG_ARGISNULL(8))
		options.server = options.remote_name = NULL;
	else if (options.remote_name == NULL)
		options.remote_name = name;
	if (!PG_ARGISNULL(10))
	{
		options.owner_role =
			role_argument(text_to_cstring(PG_GETARG_TEXT_PP(10)), false);
		check_can_set_role(GetUserId(), options.owner_role);
	}
	sk_options_check(name, &options);
	sk_options_update(row.id, &options);
	PG_RETURN_VOID();
}

/*
 * spanner.rename_allocator(name text, new_name text)
 */
Datum
spanner_rename_allocator(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *new_name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	SkAllocatorRow row;
	SkAllocatorRow existing;
	Datum		values[2];

	(void) read_owned(fcinfo, name, false, &row);
	check_name(new_name);
	lock_name(new_name);
	if (sk_allocator_read(new_name, 0, &existing))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("allocator \"%s\" already exists", new_name),
				 errhint("Choose another name.")));
	values[0] = Int64GetDatum(row.id);
	values[1] = CStringGetTextDatum(new_name);
	change_row(&rename_row, values);
	PG_RETURN_VOID();
}

/*
 * spanner.drop_allocator(name text, missing_ok boolean) returns boolean
 */
Datum
spanner_drop_allocator(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	SkAllocatorRow row;
	Datum		id;

	if (!read_owned(fcinfo, name, PG_GETARG_BOOL(1), &row))
		PG_RETURN_BOOL(false);
	id = Int64GetDatum(row.id);
	change_row(&delete_row, &id);
	PG_RETURN_BOOL(true);
}

/*
 * spanner.grant_allocator(name text, role text)
 *
 * "role" may be public.  It takes the place of the role that was there.
 */
Datum
spanner_grant_allocator(PG_FUNCTION_ARGS)
{
	Oid			role = role_argument(text_to_cstring(PG_GETARG_TEXT_PP(1)), true);

	set_usage_role(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(0)), role, false);
	PG_RETURN_VOID();
}

/*
 * spanner.revoke_allocator(name text)
 */
Datum
spanner_revoke_allocator(PG_FUNCTION_ARGS)
{
	set_usage_role(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(0)), InvalidOid, true);
	PG_RETURN_VOID();
}

/*
 * spanner.advance_allocator(name text, minimum bigint) returns bigint
 *
 * Moves the allocator forward, so that it gives no value below "minimum";
 * never back.  Returns the first value that is not reserved.
 */
Datum
spanner_advance_allocator(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int64		minimum = PG_GETARG_INT64(1);
	SkAllocatorRow row;
	SkAllocatorOptions options;

	(void) read_owned(fcinfo, name, false, &row);
	sk_reserve_leave_gap(&row);
	sk_options_lock(row.id, &options);
	if (options.mode == SK_MODE_REMOTE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot advance allocator \"%s\"", name),
				 errdetail("Its values come from server \"%s\".", options.server),
				 errhint("Advance allocator \"%s\" there.", options.remote_name)));
	if (minimum > options.max_value && minimum - 1 > options.max_value)
		sk_report_exhausted(name, options.max_value);
	if (minimum > options.next_value)
	{
		Datum		values[] = {Int64GetDatum(row.id), Int64GetDatum(minimum)};

		change_row(&set_counter, values);
		options.next_value = minimum;
	}
	sk_change_note(row.id, minimum);
	PG_RETURN_INT64(options.next_value);
}

/*
 * spanner.reset_allocator(name text, value bigint, force boolean)
 *
 * Makes "value" the next one.  Values that are reserved and not yet drawn are
 * dropped.
 */
Datum
spanner_reset_allocator(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int64		value = PG_GETARG_INT64(1);
	SkAllocatorRow row;
	SkAllocatorOptions options;
	Datum		values[2];

	(void) read_owned(fcinfo, name, false, &row);
	sk_reserve_leave_gap(&row);
	sk_options_lock(row.id, &options);
	if (value < options.next_value && !PG_GETARG_BOOL(2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value %lld is below the next value %lld of allocator \"%s\"",
						(long long) value, (long long) options.next_value, name),
				 errdetail("Values would be given a second time."),
				 errhint("Use force => true if that is wanted.")));
	if (value < options.min_value || value > options.max_value)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value %lld is out of bounds of allocator \"%s\" (%lld..%lld)",
						(long long) value, name, (long long) options.min_value,
						(long long) options.max_value),
				 errhint("Change the bounds with spanner.alter_allocator().")));
	values[0] = Int64GetDatum(row.id);
	values[1] = Int64GetDatum(value);
	change_row(&set_counter, values);
	sk_change_note(row.id, PG_INT64_MAX);
	PG_RETURN_VOID();
}

/*
 * spanner.release_allocator(name text) returns bigint
 *
 * Gives values that are reserved and not yet drawn back to the table.
 * Returns how many.
 */
Datum
spanner_release_allocator(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	SkAllocatorRow row;
	SkAllocatorOptions options;
	SkPoolKey	key;
	SkRange		range;

	(void) read_owned(fcinfo, name, false, &row);
	if (row.mode == SK_MODE_SYNC || row.mode == SK_MODE_ON_COMMIT ||
		row.mode == SK_MODE_REMOTE)
		PG_RETURN_INT64(0);
	sk_options_lock(row.id, &options);
	key.dbid = MyDatabaseId;
	key.relid = sk_allocator_table();
	key.allocator_id = row.id;
	range = sk_pool_withdraw(&key);
	if (range.first == range.end || !sk_reserve_undo(row.id, range))
		PG_RETURN_INT64(0);
	sk_pool_given_back(&key, range);
	PG_RETURN_INT64(range.end - range.first);
}

static void
check_name(const char *name)
{
	if (name[0] == '\0' || strlen(name) > SK_MAX_ALLOCATOR_NAME)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid allocator name: \"%s\"", name),
				 errhint("A name has from 1 to %d bytes.",
						 SK_MAX_ALLOCATOR_NAME)));
}

/*
 * Wait until others who give an allocator this name have committed or not.
 * The third number sets this lock apart from those on numbers of rows.
 */
static void
lock_name(const char *name)
{
	uint32		hash = hash_bytes((const unsigned char *) name, strlen(name));

	LockDatabaseObject(sk_allocator_table(), (Oid) hash, 1, ExclusiveLock);
}

/* Find an allocator that the current user may change. */
static bool
read_owned(FunctionCallInfo fcinfo, const char *name, bool missing_ok,
		   SkAllocatorRow *row)
{
	sk_check_writable(fcinfo->flinfo->fn_oid);
	if (!sk_allocator_read(name, 0, row))
	{
		ereport(missing_ok ? NOTICE : ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 missing_ok ?
				 errmsg("allocator \"%s\" does not exist, skipping", name) :
				 errmsg("allocator \"%s\" does not exist", name),
				 missing_ok ? 0 :
				 errhint("Create it with spanner.create_allocator().")));
		return false;
	}
	sk_check_owner(row);
	return true;
}

static SkMode
mode_argument(FunctionCallInfo fcinfo, int argno)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(argno));
	SkMode		mode;

	if (!sk_mode_from_name(name, &mode))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid allocator mode: \"%s\"", name),
				 errhint("Modes are sync, on_commit, async, batch, async_batch, remote.")));
	return mode;
}

/* A role as regrole reads it; public as GRANT does, and as InvalidOid. */
static Oid
role_argument(const char *role, bool public_ok)
{
	if (public_ok && (strcmp(role, "-") == 0 ||
					  pg_strcasecmp(role, "public") == 0))
		return InvalidOid;
	return DatumGetObjectId(DirectFunctionCall1(regrolein,
												CStringGetDatum(role)));
}

static void
set_usage_role(FunctionCallInfo fcinfo, const char *name, Oid role,
			   bool isnull)
{
	SkAllocatorRow row;
	SkTableScope scope;
	Datum		values[2];

	(void) read_owned(fcinfo, name, false, &row);
	values[0] = Int64GetDatum(row.id);
	values[1] = ObjectIdGetDatum(role);
	sk_table_enter(&scope);
	(void) sk_table_execute(&grant_row, values, isnull ? " n" : NULL);
	sk_table_leave(&scope);
}

static void
change_row(SkStatement *statement, Datum *values)
{
	SkTableScope scope;

	sk_table_enter(&scope);
	(void) sk_table_execute(statement, values, NULL);
	sk_table_leave(&scope);
}
