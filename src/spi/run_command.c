/*-------------------------------------------------------------------------
 *
 * run_command.c
 *	  Running SQL commands of our own, and transactions of workers.
 *
 * Commands run as the current user, through core's utility commands: these
 * check privileges, take locks, and fire event triggers.  Names in them are
 * qualified and quoted.
 *
 * src/spi/run_command.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "spi/owner_rights.h"
#include "spi/run_command.h"

/*
 * sk_run_command
 *		Run one utility command.
 */
void
sk_run_command(const char *command)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "command failed: %s", command);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/*
 * sk_query_row
 *		Run a query and take "count" bigint columns of its only row.
 *
 * Sets "isnull" for each.  Row-level security must not hide rows from a
 * question about all of them: it raises an error instead.  Nor must a snapshot
 * of the transaction that is older than the caller's lock on the table.
 *
 * "table" is what is read.  The caller has checked that the current user owns
 * it or may act as its owner.  The query runs as the owner: owner_rights.c
 * says why.
 */
void
sk_query_row(Oid table, const char *query, int count, int64 *values,
			 bool *isnull)
{
	SkOwnerScope scope;
	SPIPlanPtr	plan;

	sk_owner_enter(&scope, table, false);
	(void) set_config_option("row_security", "off", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	plan = SPI_prepare(query, 0, NULL);
	if (plan == NULL ||
		SPI_execute_snapshot(plan, NULL, NULL, GetLatestSnapshot(), InvalidSnapshot,
							 false, false, 0) != SPI_OK_SELECT ||
		SPI_processed != 1)
		elog(ERROR, "query failed: %s", query);
	for (int i = 0; i < count; i++)
		values[i] = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
												SPI_tuptable->tupdesc,
												i + 1, &isnull[i]));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sk_owner_leave(&scope);
}

/*
 * sk_query_texts
 *		Run a query and take the texts of its first column, NULLs left out.
 */
List *
sk_query_texts(const char *query)
{
	MemoryContext caller = CurrentMemoryContext;
	List	   *result = NIL;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(query, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "query failed: %s", query);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char	   *value = SPI_getvalue(SPI_tuptable->vals[i],
										 SPI_tuptable->tupdesc, 1);
		MemoryContext old = MemoryContextSwitchTo(caller);

		if (value != NULL)
			result = lappend(result, pstrdup(value));
		MemoryContextSwitchTo(old);
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return result;
}

/*
 * sk_query_text
 *		Run a query and take the first of these texts, NULL if there is none.
 */
char *
sk_query_text(const char *query)
{
	List	   *texts = sk_query_texts(query);

	return texts == NIL ? NULL : linitial(texts);
}

/*
 * sk_qualified_name
 *		The name of a relation as it stands in such a command.
 */
char *
sk_qualified_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name_or_temp(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

/*
 * sk_command_relations
 *		What the command of an event trigger has done to relations of some kinds.
 *
 * "relkinds" is an array as a text, such as "{r,p}".  Returns a list of
 * SkCommandRelation, in the order in which it was done.
 */
List *
sk_command_relations(const char *relkinds)
{
	MemoryContext caller = CurrentMemoryContext;
	List	   *result = NIL;
	char	   *query = psprintf("SELECT k.oid,"
								 " pg_catalog.starts_with(c.command_tag, 'CREATE ')"
								 " FROM pg_catalog.pg_event_trigger_ddl_commands() c"
								 " JOIN pg_catalog.pg_class k"
								 " ON k.oid OPERATOR(pg_catalog.=) c.objid"
								 " WHERE c.classid OPERATOR(pg_catalog.=)"
								 " 'pg_catalog.pg_class'::pg_catalog.regclass"
								 " AND k.relkind OPERATOR(pg_catalog.=) ANY ('%s')"
								 " AND NOT c.in_extension", relkinds);

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(query, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not list the commands of an event trigger");

	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		MemoryContext old = MemoryContextSwitchTo(caller);
		SkCommandRelation *relation = palloc(sizeof(SkCommandRelation));
		bool		isnull;

		relation->relid = DatumGetObjectId(SPI_getbinval(row, desc, 1, &isnull));
		relation->is_new = DatumGetBool(SPI_getbinval(row, desc, 2, &isnull));
		result = lappend(result, relation);
		MemoryContextSwitchTo(old);
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return result;
}

/*
 * sk_run_transaction
 *		Run a step of a background worker in a transaction of its own.
 *
 * Returns the error if that fails, NULL if not.  "durability" is for
 * synchronous_commit: it is set as a setting, since core waits for a standby
 * as its assign hook has noted.
 */
ErrorData *
sk_run_transaction(void (*step) (void *arg), void *arg, const char *activity,
				   const char *durability)
{
	MemoryContext context = CurrentMemoryContext;
	ErrorData  *volatile error = NULL;

	PG_TRY();
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		pgstat_report_activity(STATE_RUNNING, activity);
		step(arg);
		PopActiveSnapshot();
		SetConfigOption("synchronous_commit", durability, PGC_SUSET, PGC_S_OVERRIDE);
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		error = CopyErrorData();
		AbortCurrentTransaction();
		FlushErrorState();
	}
	PG_END_TRY();
	pgstat_report_activity(STATE_IDLE, NULL);
	MemoryContextSwitchTo(context);
	return error;
}
