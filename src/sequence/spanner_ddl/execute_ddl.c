/*-------------------------------------------------------------------------
 *
 * execute_ddl.c
 *	  spanner.execute_ddl(): Spanner's DDL for sequences and identity columns.
 *
 * PostgreSQL's grammar cannot be extended, so statements that need Spanner's
 * clauses are passed as text.  They are read by a parser of our own, and run
 * by our SQL functions and PostgreSQL's commands, with the caller's rights.
 * What is put into commands is names and strings that are quoted anew.
 *
 * src/sequence/spanner_ddl/execute_ddl.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "sequence/spanner_ddl/statements.h"

PG_FUNCTION_INFO_V1(spanner_execute_ddl);

static void point_into_statement(void *arg);
static void execute_statement(SkDdlParser *parser);

/*
 * spanner.execute_ddl(statement text) returns void
 */
Datum
spanner_execute_ddl(PG_FUNCTION_ARGS)
{
	SkDdlParser parser = {0};
	ErrorContextCallback callback;
	int			nest_level;

	PreventCommandIfReadOnly("spanner.execute_ddl()");
	parser.sql = text_to_cstring(PG_GETARG_TEXT_PP(0));

	callback.callback = point_into_statement;
	callback.arg = &parser;
	callback.previous = error_context_stack;
	error_context_stack = &callback;

	/* PostgreSQL's parser must see the same strings as ours */
	nest_level = NewGUCNestLevel();
	(void) set_config_option("standard_conforming_strings", "on",
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	sk_ddl_start(&parser);
	execute_statement(&parser);
	AtEOXact_GUC(true, nest_level);
	error_context_stack = callback.previous;
	PG_RETURN_VOID();
}

/*
 * Error context callback: positions are in the text that we were given, not
 * in the client's query.
 */
static void
point_into_statement(void *arg)
{
	SkDdlParser *parser = arg;
	int			position = geterrposition();

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(position);
	internalerrquery(parser->sql);
	if (parser->hint != NULL)
		errhint("%s", parser->hint);
}

static void
execute_statement(SkDdlParser *parser)
{
	SkDdlParser start = *parser;

	if (sk_ddl_accept(parser, "create sequence"))
		sk_ddl_create_sequence(parser);
	else if (sk_ddl_accept(parser, "alter sequence"))
		sk_ddl_alter_sequence(parser);
	else if (sk_ddl_accept(parser, "drop sequence"))
		sk_ddl_drop_sequence(parser);
	else if (!sk_ddl_alter_column(parser) && !sk_ddl_alter_database(parser))
	{
		*parser = start;
		sk_ddl_run_table_statement(parser);
	}
}
