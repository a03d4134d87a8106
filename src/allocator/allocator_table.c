/*-------------------------------------------------------------------------
 *
 * allocator_table.c
 *	  Access to the table spanner.allocator.
 *
 * Users have no rights on the table; what they may do with an allocator
 * depends on its roles.  Statements on the table run as the owner of the
 * table, in a restricted security context, so that a trigger on it gets no
 * rights but those of the owner, in a background worker neither.  They name
 * everything with its schema.
 *
 * src/allocator/allocator_table.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "allocator/allocator_table.h"

static const char *const mode_names[] = {
	[SK_MODE_SYNC] = "sync",
	[SK_MODE_ON_COMMIT] = "on_commit",
	[SK_MODE_ASYNC] = "async",
	[SK_MODE_BATCH] = "batch",
	[SK_MODE_ASYNC_BATCH] = "async_batch",
	[SK_MODE_REMOTE] = "remote"
};

#define READ_COMMAND \
	"SELECT a.allocator_id, a.name, a.mode, a.owner_role, a.usage_role," \
	" a.server, a.remote_name, a.xmin" \
	" FROM spanner.allocator a WHERE "

static SkStatement read_by_name = {
	READ_COMMAND "a.name OPERATOR(pg_catalog.=) $1", SPI_OK_SELECT, 1, {TEXTOID}
};

static SkStatement read_by_id = {
	READ_COMMAND "a.allocator_id OPERATOR(pg_catalog.=) $1", SPI_OK_SELECT, 1, {INT8OID}
};

static void fetch_row(SkAllocatorRow *row);

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
 * sk_table_enter
 *		Become the owner of the table and connect to SPI.
 *
 * An error leaves the scope by itself: the transaction puts the user back.
 */
void
sk_table_enter(SkTableScope *scope)
{
	Oid			relid = sk_allocator_table();
	Relation	rel;

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" does not exist", "spanner.allocator"),
				 errhint("Create the extension \"%s\" in this database.",
						 "spanner_keys")));
	rel = table_open(relid, AccessShareLock);
	GetUserIdAndSecContext(&scope->userid, &scope->sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   scope->sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	table_close(rel, AccessShareLock);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

/*
 * sk_table_leave
 *		Become the former user again.
 */
void
sk_table_leave(SkTableScope *scope)
{
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	SetUserIdAndSecContext(scope->userid, scope->sec_context);
}

/*
 * sk_table_execute
 *		Run a statement, and return the number of rows.
 *
 * "nulls" is as for SPI; NULL if no argument is NULL.
 */
uint64
sk_table_execute(SkStatement *statement, Datum *values, const char *nulls)
{
	int			result;

	if (statement->plan == NULL)
	{
		SPIPlanPtr	plan = SPI_prepare(statement->command, statement->nargs,
									   statement->argtypes);

		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "could not prepare: %s", statement->command);
		statement->plan = plan;
	}
	result = SPI_execute_plan(statement->plan, values, nulls, false, 0);
	if (result != statement->expected)
		elog(ERROR, "unexpected result %d of: %s", result, statement->command);
	return SPI_processed;
}

/*
 * sk_table_datum
 *		A value of the result.  Columns are counted from 1.
 */
Datum
sk_table_datum(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
						 column, isnull);
}

/*
 * sk_table_int64
 *		A bigint of the result that cannot be NULL.
 */
int64
sk_table_int64(uint64 row, int column)
{
	bool		isnull;

	return DatumGetInt64(sk_table_datum(row, column, &isnull));
}

/*
 * sk_allocator_read
 *		Look an allocator up by its name, or else by its id.
 *
 * Returns false if there is none.  The result lives in the memory context of
 * the caller.
 */
bool
sk_allocator_read(const char *name, int64 id, SkAllocatorRow *row)
{
	MemoryContext caller = CurrentMemoryContext;
	SkTableScope scope;
	Datum		key = name != NULL ? CStringGetTextDatum(name) : Int64GetDatum(id);
	bool		found;

	sk_table_enter(&scope);
	found = sk_table_execute(name != NULL ? &read_by_name : &read_by_id,
							 &key, NULL) > 0;
	if (found)
	{
		MemoryContext spi = MemoryContextSwitchTo(caller);

		fetch_row(row);
		MemoryContextSwitchTo(spi);
	}
	sk_table_leave(&scope);
	return found;
}

static void
fetch_row(SkAllocatorRow *row)
{
	bool		isnull;
	Datum		value;

	row->id = sk_table_int64(0, 1);
	row->name = TextDatumGetCString(sk_table_datum(0, 2, &isnull));
	if (!sk_mode_from_name(TextDatumGetCString(sk_table_datum(0, 3, &isnull)),
						   &row->mode))
		elog(ERROR, "unknown mode of allocator \"%s\"", row->name);
	row->owner_role = DatumGetObjectId(sk_table_datum(0, 4, &isnull));
	row->usage_role = DatumGetObjectId(sk_table_datum(0, 5, &isnull));
	row->has_usage_role = !isnull;
	value = sk_table_datum(0, 6, &isnull);
	row->server = isnull ? NULL : pstrdup(NameStr(*DatumGetName(value)));
	value = sk_table_datum(0, 7, &isnull);
	row->remote_name = isnull ? NULL : TextDatumGetCString(value);
	row->is_own = TransactionIdIsCurrentTransactionId(DatumGetTransactionId(sk_table_datum(0, 8, &isnull)));
}
