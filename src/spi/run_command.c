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
#include "catalog/namespace.h"
#include "commands/dbcommands.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

#include "spi/run_command.h"

/*
 * sk_run_command
 *		Run one statement of any kind, and pass over what it returns.
 */
void
sk_run_command(const char *command)
{
	int			result;

	SPI_connect();
	result = SPI_execute(command, false, 0);
	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot run statement: %s", SPI_result_code_string(result))));
	SPI_finish();
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

	SPI_connect();
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
	SPI_finish();
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
 * sk_analyze_command
 *		What one statement means, which is not run.
 */
Query *
sk_analyze_command(const char *command)
{
	return parse_analyze_fixedparams(linitial_node(RawStmt, raw_parser(command, RAW_PARSE_DEFAULT)),
									 command, NULL, 0, NULL);
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
 * sk_parse_name
 *		Read the name of a relation, written as in SQL.
 */
RangeVar *
sk_parse_name(const char *name)
{
	List	   *names = sk_split_name(name);

	if (list_length(names) == 3 &&
		strcmp(strVal(linitial(names)), get_database_name(MyDatabaseId)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" is in another database", name)));
	return makeRangeVarFromNameList(names);
}

/*
 * sk_split_name
 *		Take apart a name with dots, as a list of String.
 */
List *
sk_split_name(const char *name)
{
	List	   *parts;
	List	   *result = NIL;
	ListCell   *lc;

	if (!SplitIdentifierString(pstrdup(name), '.', &parts) || parts == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name \"%s\"", name),
				 errhint("Double-quote what is not a lower-case identifier, and separate schema and name by a dot.")));
	foreach(lc, parts)
		result = lappend(result, makeString(pstrdup(lfirst(lc))));
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
