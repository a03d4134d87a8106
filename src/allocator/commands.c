/*-------------------------------------------------------------------------
 *
 * commands.c
 *	  Creating, changing and dropping allocators.
 *
 * Each function locks the row, checks that the current user may change it, and
 * writes it.  The trigger of the table checks the row, and does what follows
 * from the change.
 *
 * src/allocator/commands.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_database.h"
#include "catalog/pg_proc.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "parser/scansup.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "allocator/allocator.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_create_allocator);
PG_FUNCTION_INFO_V1(spanner_alter_allocator);
PG_FUNCTION_INFO_V1(spanner_rename_allocator);
PG_FUNCTION_INFO_V1(spanner_drop_allocator);
PG_FUNCTION_INFO_V1(spanner_grant_allocator);
PG_FUNCTION_INFO_V1(spanner_revoke_allocator);
PG_FUNCTION_INFO_V1(spanner_advance_allocator);
PG_FUNCTION_INFO_V1(spanner_reset_allocator);
PG_FUNCTION_INFO_V1(spanner_release_allocator);

/* The options that create_allocator() and alter_allocator() have, in this order. */
enum Options
{
	OPTION_MAX_VALUE,
	OPTION_BATCH_SIZE,
	OPTION_LOW_WATER_MARK,
	OPTION_MAX_BATCH_SIZE,
	OPTION_FAILOVER_GAP,
	OPTION_MIN_VALUE,
	OPTION_SERVER,
	OPTION_REMOTE_NAME,
	OPTION_COUNT
};

/* Arguments of both, by position, and where the options begin. */
enum
{
	ARGUMENT_NAME,
	ARGUMENT_MODE,
	CREATE_START_VALUE,
	CREATE_OPTIONS,
	CREATE_IF_NOT_EXISTS = CREATE_OPTIONS + OPTION_COUNT,
	ALTER_OPTIONS = ARGUMENT_MODE + 1,
	ALTER_OWNER_ROLE = ALTER_OPTIONS + OPTION_COUNT
};

static void copy_name(const char *source, const char *what, char *name);
static void row_arguments(FunctionCallInfo fcinfo, int first,
						  SkAllocatorRow *row);
static void check_may_create(Oid function);
static Oid	role_argument(const char *role, bool public_ok);
static void check_owner(const SkAllocatorRow *row, Oid role);
static bool lock_owned(FunctionCallInfo fcinfo, bool missing_ok,
					   ArrayType *series, SkTable *table,
					   SkAllocatorRow *row);
static bool is_advanced(FunctionCallInfo fcinfo, int64 minimum,
						ArrayType *series, SkAllocatorRow *row);
static void write_and_close(SkTable *table, SkAllocatorRow *row,
							SkWrite kind);
static void report_users(const char *name);
static bool rename_row(void *arg);
static bool drop_row(void *arg);

/* All arguments but the name have a default. */
static inline void
require_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name),
				 argno > 0 ? errhint("Leave it out for its default.") : 0));
}

/* Copy a name of at most SK_MAX_ALLOCATOR_NAME bytes.  "what" is what an error calls it. */
static void
copy_name(const char *source, const char *what, char *name)
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
 * The mode, and the options, which are from "first" on.  What is NULL stays as
 * it is.  A dump may come before the server, a command may not.
 */
static void
row_arguments(FunctionCallInfo fcinfo, int first, SkAllocatorRow *row)
{
#define GIVEN(option) (!PG_ARGISNULL(first + (option)))
#define INT64_OPTION(option) PG_GETARG_INT64(first + (option))
#define INT32_OPTION(option) PG_GETARG_INT32(first + (option))

	Assert(PG_NARGS() >= first + OPTION_COUNT);
	if (!PG_ARGISNULL(ARGUMENT_MODE))
	{
		char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(ARGUMENT_MODE));

		row->mode = sk_mode_from_name(downcase_identifier(name, strlen(name), false, false));
	}
	if (GIVEN(OPTION_MAX_VALUE))
		row->max_value = INT64_OPTION(OPTION_MAX_VALUE);
	if (GIVEN(OPTION_BATCH_SIZE))
		row->batch_size = INT32_OPTION(OPTION_BATCH_SIZE);
	if (GIVEN(OPTION_LOW_WATER_MARK))
		row->low_water_mark = INT32_OPTION(OPTION_LOW_WATER_MARK);
	row->max_batch_size = GIVEN(OPTION_MAX_BATCH_SIZE) ?
		INT32_OPTION(OPTION_MAX_BATCH_SIZE) :
		Max(row->max_batch_size, row->batch_size);
	if (GIVEN(OPTION_FAILOVER_GAP))
		row->failover_gap = INT64_OPTION(OPTION_FAILOVER_GAP);
	if (GIVEN(OPTION_MIN_VALUE))
		row->min_value = INT64_OPTION(OPTION_MIN_VALUE);
	if (GIVEN(OPTION_SERVER))
		strlcpy(row->server, NameStr(*PG_GETARG_NAME(first + OPTION_SERVER)), NAMEDATALEN);
	else if (row->mode != SK_MODE_REMOTE)
		row->server[0] = '\0';
	if (GIVEN(OPTION_REMOTE_NAME))
		copy_name(text_to_cstring(PG_GETARG_TEXT_PP(first + OPTION_REMOTE_NAME)),
				  "remote_name", row->remote_name);
	if (row->server[0] == '\0')
		row->remote_name[0] = '\0';
	else if (row->remote_name[0] == '\0')
		strlcpy(row->remote_name, row->name, sizeof(row->remote_name));
	if (row->server[0] != '\0')
		(void) GetForeignServerByName(row->server, false);
}

/*
 * May the current user make allocators?  Who may make schemas in the database
 * may, and roles that have been granted the function themselves.
 */
static void
check_may_create(Oid function)
{
	Oid			role = GetUserId();
	HeapTuple	tuple;
	bool		isnull;
	Datum		acl;
	bool		granted = false;

	if (object_aclcheck(DatabaseRelationId, MyDatabaseId, role,
						ACL_CREATE) == ACLCHECK_OK)
		return;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	acl = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proacl, &isnull);
	if (!isnull)
	{
		Oid		   *members;
		int			count = aclmembers(DatumGetAclP(acl), &members);

		/* the owner of the function is one of them, and PUBLIC is not */
		for (int i = 0; i < count; i++)
			granted |= has_privs_of_role(role, members[i]);
	}
	ReleaseSysCache(tuple);
	if (!granted)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to create an allocator"),
				 errhint("Grant CREATE on the database, or EXECUTE on the function, to the role.")));
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
	SkAllocatorRow row = {0};
	SkAllocatorRow existing;
	SkTable		table;
	char	   *name;

	require_argument(fcinfo, ARGUMENT_NAME, "name");
	require_argument(fcinfo, ARGUMENT_MODE, "mode");
	require_argument(fcinfo, CREATE_START_VALUE, "start_value");
	require_argument(fcinfo, CREATE_OPTIONS + OPTION_MAX_VALUE, "max_value");
	require_argument(fcinfo, CREATE_OPTIONS + OPTION_BATCH_SIZE, "batch_size");
	require_argument(fcinfo, CREATE_IF_NOT_EXISTS, "if_not_exists");
	sk_check_writable(fcinfo->flinfo->fn_oid);
	check_may_create(fcinfo->flinfo->fn_oid);

	name = text_to_cstring(PG_GETARG_TEXT_PP(ARGUMENT_NAME));
	copy_name(name, "allocator name", row.name);
	row.next_value = PG_GETARG_INT64(CREATE_START_VALUE);
	row.min_value = Min(row.next_value, 1);
	row.start_value = row.next_value;
	row.max_batch_size = SK_DEFAULT_MAX_BATCH;
	row.low_water_mark = row.failover_gap = SK_AUTOMATIC;
	row.owner_role = GetUserId();
	row_arguments(fcinfo, CREATE_OPTIONS, &row);

	sk_table_open(&table, RowExclusiveLock);
	if (!sk_row_find_settled(&table, name, NULL, &existing))
		sk_row_write(&table, &row, SK_WRITE_CHANGES);
	else if (!PG_GETARG_BOOL(CREATE_IF_NOT_EXISTS))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("allocator \"%s\" already exists", name),
				 errhint("Choose another name, or use if_not_exists => true.")));
	else
	{
		row.id = existing.id;
		ereport(NOTICE,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("allocator \"%s\" already exists, skipping", name)));
	}
	sk_table_close(&table);
	PG_RETURN_INT64(row.id);
}

/* A role, as regrole reads it.  Returns InvalidOid for public. */
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
check_owner(const SkAllocatorRow *row, Oid role)
{
	if (!has_privs_of_role(role, row->owner_role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of allocator \"%s\"", row->name)));
}

/*
 * Open the table and lock the row of the allocator that the first argument
 * names, or of a series of it, if the current user may change it.  Returns
 * false, with the table closed, if there is none and "missing_ok".
 */
static bool
lock_owned(FunctionCallInfo fcinfo, bool missing_ok, ArrayType *series,
		   SkTable *table, SkAllocatorRow *row)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	bool		found;

	sk_check_writable(fcinfo->flinfo->fn_oid);
	sk_table_open(table, RowExclusiveLock);
	found = sk_row_find(table, name, 0, NULL, row);
	if (found)
	{
		/* nobody locks a row of others, or waits for it */
		check_owner(row, table->userid);
		if (series != NULL)
			sk_series_begin(table, row->id, series, row);
		found = sk_row_lock(table, row->id, SK_LOCK_WAIT, row) == SK_ROW_FOUND &&
			strcmp(row->name, name) == 0;
	}
	if (found)
	{
		check_owner(row, table->userid);
		return true;
	}
	sk_table_close(table);
	if (!missing_ok)
		sk_report_missing(ERROR, name, 0, false);
	ereport(NOTICE,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("allocator \"%s\" does not exist, skipping", name)));
	return false;
}

/*
 * The own counter of the transaction goes on from there, in the rest of the
 * statement too: invalidations come at its end.
 */
static void
write_and_close(SkTable *table, SkAllocatorRow *row, SkWrite kind)
{
	sk_row_write(table, row, kind);
	sk_allocator_epoch++;
	sk_table_close(table);
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
	SkAllocatorRow row;
	SkTable		table;
	uint64		gap;
	Oid			owner = InvalidOid;

	require_argument(fcinfo, ARGUMENT_NAME, "name");
	if (!PG_ARGISNULL(ALTER_OWNER_ROLE))
		owner = role_argument(text_to_cstring(PG_GETARG_TEXT_PP(ALTER_OWNER_ROLE)), false);
	(void) lock_owned(fcinfo, false, NULL, &table, &row);
	sk_row_skip_gap(&row);
	gap = sk_row_gap(&row);
	row_arguments(fcinfo, ALTER_OPTIONS, &row);

	/*
	 * counters that were written on a timeline before this one leave the gap
	 * of the former options: a series may give its first number since a
	 * promotion later
	 */
	if (gap > sk_row_gap(&row))
	{
		row.former_gap = Max(row.former_gap, (int64) gap);
		row.former_timeline = sk_stamp_now().timeline;
	}
	if (OidIsValid(owner))
	{
		check_can_set_role(table.userid, owner);
		row.owner_role = owner;
	}
	write_and_close(&table, &row, SK_WRITE_CHANGES);
	PG_RETURN_VOID();
}

/* Report the defaults and triggers that use a name that no allocator has. */
static void
report_users(const char *name)
{
	ListCell   *lc;

	foreach(lc, sk_query_texts(psprintf("SELECT * FROM spanner_internal.users_of_allocator(%s)",
										quote_literal_cstr(name))))
		ereport(NOTICE,
				(errcode(ERRCODE_WARNING),
				 errmsg("%s still names allocator \"%s\"", (char *) lfirst(lc), name)));
}

static bool
rename_row(void *arg)
{
	FunctionCallInfo fcinfo = arg;
	char	   *new_name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	SkAllocatorRow row;
	SkAllocatorRow existing;
	SkTable		table;

	(void) lock_owned(fcinfo, false, NULL, &table, &row);
	copy_name(new_name, "allocator name", row.name);
	if (sk_row_find_settled(&table, new_name, NULL, &existing))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("allocator \"%s\" already exists", new_name)));
	write_and_close(&table, &row, SK_WRITE_ACCESS);
	return true;
}

/*
 * spanner.rename_allocator(name text, new_name text)
 */
Datum
spanner_rename_allocator(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	/* a series that is being made keeps it */
	(void) sk_wait_limited(rename_row, fcinfo, name);
	report_users(name);
	PG_RETURN_VOID();
}

static bool
drop_row(void *arg)
{
	FunctionCallInfo fcinfo = arg;
	SkAllocatorRow row;
	SkTable		table;

	if (!lock_owned(fcinfo, PG_GETARG_BOOL(1), NULL, &table, &row))
		return false;
	sk_row_write(&table, NULL, SK_WRITE_CHANGES);
	sk_table_close(&table);
	return true;
}

/*
 * spanner.drop_allocator(name text, if_exists boolean) returns boolean
 */
Datum
spanner_drop_allocator(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (!sk_wait_limited(drop_row, fcinfo, name))
		PG_RETURN_BOOL(false);
	report_users(name);
	PG_RETURN_BOOL(true);
}

/*
 * spanner.grant_allocator(name text, role text)
 *
 * "role" may be public.
 */
Datum
spanner_grant_allocator(PG_FUNCTION_ARGS)
{
	Oid			role = role_argument(text_to_cstring(PG_GETARG_TEXT_PP(1)), true);
	SkAllocatorRow row;
	SkTable		table;

	(void) lock_owned(fcinfo, false, NULL, &table, &row);
	row.usage_roles = list_append_unique_oid(row.usage_roles, role);
	write_and_close(&table, &row, SK_WRITE_ACCESS);
	PG_RETURN_VOID();
}

/*
 * spanner.revoke_allocator(name text, role text)
 *
 * Takes the right to use it away from a role, or from all without one.
 */
Datum
spanner_revoke_allocator(PG_FUNCTION_ARGS)
{
	Oid			role = InvalidOid;
	SkAllocatorRow row;
	SkTable		table;

	require_argument(fcinfo, 0, "name");
	if (!PG_ARGISNULL(1))
		role = role_argument(text_to_cstring(PG_GETARG_TEXT_PP(1)), true);
	(void) lock_owned(fcinfo, false, NULL, &table, &row);
	/* a change by hand may have named a role twice */
	row.usage_roles = PG_ARGISNULL(1) ? NIL :
		list_difference_oid(row.usage_roles, list_make1_oid(role));
	write_and_close(&table, &row, SK_WRITE_ACCESS);
	PG_RETURN_VOID();
}

/*
 * Is an allocator, or a series, at "minimum" already?  What its pool has below is
 * dropped, as a rollback leaves a gap anyway.
 *
 * An application may ask this for each of its rows while others take values, so the
 * row is not locked: what is reserved after it was read lies above.
 */
static bool
is_advanced(FunctionCallInfo fcinfo, int64 minimum, ArrayType *series,
			SkAllocatorRow *row)
{
	bool		is_own = false;
	bool		found;
	int64		former;
	SkPoolKey	key;
	SkTable		table;

	sk_check_writable(fcinfo->flinfo->fn_oid);
	sk_table_open(&table, AccessShareLock);
	found = sk_row_find(&table, text_to_cstring(PG_GETARG_TEXT_PP(0)), 0, series, row);
	if (found)
	{
		check_owner(row, table.userid);
		/* the transaction may have taken values, which the row does not show */
		(void) sk_row_locker(&table, row->id, &is_own);
	}
	sk_table_close(&table);
	if (!found || is_own || row->mode == SK_MODE_REMOTE)
		return false;
	former = row->next_value;
	sk_row_skip_gap(row);
	key = sk_row_key(row);
	return row->next_value == former && minimum <= former &&
		(series != NULL || sk_stamp_is_now(row->series_stamp)) &&
		sk_pool_discard(&key, minimum, false);
}

/*
 * spanner.advance_allocator(name text, minimum bigint, VARIADIC series text[])
 * returns bigint
 *
 * Moves the allocator forward, so that it gives no value below "minimum";
 * never back.  Returns the first value that is not reserved.
 */
Datum
spanner_advance_allocator(PG_FUNCTION_ARGS)
{
	int64		minimum = PG_GETARG_INT64(1);
	ArrayType  *series = sk_series_of_argument(fcinfo, 2);
	SkAllocatorRow row;
	SkTable		table;

	if (is_advanced(fcinfo, minimum, series, &row))
		PG_RETURN_INT64(row.next_value);
	(void) lock_owned(fcinfo, false, series, &table, &row);
	if (row.mode == SK_MODE_REMOTE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot advance allocator \"%s\"", row.name),
				 errdetail("Its values come from server \"%s\".", row.server),
				 errhint("Advance allocator \"%s\" there.", row.remote_name)));
	sk_row_skip_gap(&row);
	if (minimum > row.max_value && minimum - 1 > row.max_value)
		sk_report_exhausted(row.name, row.max_value);
	row.next_value = Max(row.next_value, minimum);
	/* whoever advances the allocator itself says that no series is unknown */
	row.series_stamp = sk_stamp_now();
	write_and_close(&table, &row, SK_WRITE_ADVANCES);
	PG_RETURN_INT64(row.next_value);
}

/*
 * spanner.reset_allocator(name text, value bigint, force boolean,
 * series text[])
 *
 * Makes "value" the next one.  Values that are reserved and not yet taken are
 * dropped.
 */
Datum
spanner_reset_allocator(PG_FUNCTION_ARGS)
{
	int64		value = PG_GETARG_INT64(1);
	SkAllocatorRow row;
	SkTable		table;

	(void) lock_owned(fcinfo, false, sk_series_of_argument(fcinfo, 3),
					  &table, &row);
	sk_row_skip_gap(&row);
	if (value < row.next_value && !PG_GETARG_BOOL(2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value %lld is below the next value %lld of allocator \"%s\"",
						(long long) value, (long long) row.next_value, row.name),
				 errdetail("Values have been reserved up to %lld, and may have been given.",
						   (long long) row.next_value - 1),
				 errhint("Use force => true if values may be given a second time.")));
	if (value < row.min_value || value > row.max_value)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value %lld is out of bounds of allocator \"%s\" (%lld..%lld)",
						(long long) value, row.name, (long long) row.min_value,
						(long long) row.max_value),
				 errhint("Change the bounds with spanner.alter_allocator().")));
	row.next_value = value;
	write_and_close(&table, &row, SK_WRITE_CHANGES);
	PG_RETURN_VOID();
}

/*
 * spanner.release_allocator(name text, VARIADIC series text[]) returns bigint
 *
 * Gives values that are reserved and not yet taken back to the table.
 * Returns how many.
 */
Datum
spanner_release_allocator(PG_FUNCTION_ARGS)
{
	SkAllocatorRow row;
	SkTable		table;
	SkPoolKey	key;
	int64		count = 0;

	(void) lock_owned(fcinfo, false, sk_series_of_argument(fcinfo, 1),
					  &table, &row);
	key = sk_row_key(&row);
	if (sk_mode_has_pool(row.mode))
		count = sk_pool_withdraw(&key, &row.next_value);
	if (count > 0)
		sk_row_write(&table, &row, SK_WRITE_RESERVES);
	sk_table_close(&table);
	PG_RETURN_INT64(count);
}
