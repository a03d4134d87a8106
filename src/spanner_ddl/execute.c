/*-------------------------------------------------------------------------
 *
 * execute.c
 *	  spanner.execute_ddl() and spanner.postgresql_ddl().
 *
 * The statements of a text are read, translated and run one after the other,
 * since a statement may depend on what those before it have made.
 * postgresql_ddl() does the same in a subtransaction that is rolled back.
 *
 * src/spanner_ddl/execute.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/guc.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

#include "spanner_ddl/spanner_ddl.h"

PG_FUNCTION_INFO_V1(spanner_execute_ddl);
PG_FUNCTION_INFO_V1(spanner_postgresql_ddl);

/* How statements begin that cannot be done, what that is, and a hint. */
static const char *const refusals[][3] = {
	{"* database", "database", "Run PostgreSQL's command directly, or ALTER DATABASE ... SET OPTIONS for the one that you are in."},
	{"* function", "function", "Write it in PostgreSQL's language, and run it directly."},
	{"* locality group", "locality group", "A tablespace is PostgreSQL's nearest thing to it."},
	{"* model", "model", "Call models from the application."},
	{"* or replace function", "function", "Write it in PostgreSQL's language, and run it directly."},
	{"* or replace model", "model", "Call models from the application."},
	{"* or replace property", "property graph", "Query the tables with WITH RECURSIVE."},
	{"* placement", "placement", "spanner.create_splits() of extension \"spanner_keys_splits\" puts the rows of a table on several servers."},
	{"* property", "property graph", "Query the tables with WITH RECURSIVE."},
	{"* proto", "protocol buffer", "Use type JSON or BYTES."},
	{"* role", "role", "Roles belong to the whole server: run CREATE ROLE directly."},
	{"* search", "search index", "Use a GIN index on to_tsvector(...)."},
	{"* vector", "vector index", "Extensions of PostgreSQL have such indexes."},
	{"alter schema", "change of a schema", "Run PostgreSQL's ALTER SCHEMA directly."},
	{"grant", "privilege", "Run PostgreSQL's GRANT directly."},
	{"revoke", "privilege", "Run PostgreSQL's REVOKE directly."}
};

static void take_dialect(SkDdlText *ddl, const char *dialect);
static const char *zone_setting(void);
static int	statement_end(SkDdlText *ddl, int first);
static void run_statement(SkDdlText *ddl);
static bool skip_client_command(SkDdlText *ddl);
static void run_parsed(SkDdlText *ddl);
static void complete_error(SkDdlText *ddl, MemoryContext context);
static void refuse_others(SkDdlText *ddl);
static bool has_words(SkDdlText *ddl, const char *words);

/*
 * spanner.execute_ddl(statement text, dialect text) returns void
 *
 * The dialect is googlesql, postgresql, or auto: what the text looks like.
 */
Datum
spanner_execute_ddl(PG_FUNCTION_ARGS)
{
	SkDdlText	ddl = {.sql = text_to_cstring(PG_GETARG_TEXT_PP(0))};

	PreventCommandIfReadOnly("spanner.execute_ddl()");
	take_dialect(&ddl, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	sk_ddl_run(&ddl);
	PG_RETURN_VOID();
}

/*
 * spanner.postgresql_ddl(statement text, dialect text) returns setof text
 */
Datum
spanner_postgresql_ddl(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	SkDdlText	ddl = {.sql = text_to_cstring(PG_GETARG_TEXT_PP(0))};
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ListCell   *lc;

	PreventCommandIfReadOnly("spanner.postgresql_ddl()");
	take_dialect(&ddl, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		sk_ddl_run(&ddl);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		ReThrowError(error);
	}
	PG_END_TRY();
	/* the commands are in the memory of the caller, so they stay */
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;

	foreach(lc, ddl.commands)
	{
		Datum		value = CStringGetTextDatum(lfirst(lc));
		bool		isnull = false;

		tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
	}
	return (Datum) 0;
}

static void
take_dialect(SkDdlText *ddl, const char *dialect)
{
	ddl->has_dialect = pg_strcasecmp(dialect, "auto") != 0;
	ddl->dialect = pg_strcasecmp(dialect, "googlesql") == 0 ? SK_GOOGLESQL : SK_POSTGRESQL;
	if (ddl->has_dialect && ddl->dialect == SK_POSTGRESQL && pg_strcasecmp(dialect, "postgresql") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dialect \"%s\" is not known", dialect),
				 errhint("Use \"googlesql\", \"postgresql\", or \"auto\".")));
}

/*
 * sk_ddl_run
 *		Run a text; the commands that it has become are in "commands".
 */
void
sk_ddl_run(SkDdlText *ddl)
{
	/* it is no restore, and what is written and read here is always the same */
	static const char *const settings[][2] = {
		{"check_function_bodies", "on"},
		{"datestyle", "iso, ymd"},
		{"intervalstyle", "postgres"},
		{"quote_all_identifiers", "off"},
		{"standard_conforming_strings", "on"}
	};
	int			nest_level = NewGUCNestLevel();
	int			count = 0;

	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);

	/* what some editors begin a file with */
	if (strncmp(ddl->sql, "\xEF\xBB\xBF", 3) == 0)
		ddl->sql += 3;
	sk_ddl_yytokens(ddl);
	/* a string next to a TIMESTAMP becomes a constant when it is parsed */
	if (ddl->dialect == SK_GOOGLESQL)
		(void) set_config_option("timezone", zone_setting(), PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	for (int i = 0; i < ddl->count; i = statement_end(ddl, i) + 1)
		count += statement_end(ddl, i) > i;
	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("statement is empty")));

	for (int i = 0; i < ddl->count; i = ddl->end + 1)
	{
		ddl->first = ddl->next = i;
		ddl->in_expression = ddl->in_default = false;
		ddl->end = statement_end(ddl, i);
		if (ddl->end == i)
			continue;
		ddl->number += count > 1;

		/* it is translated now, when what it may depend on has been run */
		ddl->statement = NULL;
		run_statement(ddl);
	}
	AtEOXact_GUC(true, nest_level);
}

/* The time zone of the database as PostgreSQL's setting, in which offsets count west of UTC. */
static const char *
zone_setting(void)
{
	const char *zone = sk_ddl_time_zone();

	if (*zone != '+' && *zone != '-')
		return zone;
	return psprintf("<%s>%c%s", zone, *zone == '+' ? '-' : '+', zone + 1);
}

/* The token that ends a statement: a semicolon, or after the last one. */
static int
statement_end(SkDdlText *ddl, int first)
{
	while (first < ddl->count &&
		   (ddl->tokens[first].type != SK_TOKEN_OPERATOR ||
			strcmp(ddl->tokens[first].text, ";") != 0))
		first++;
	return first;
}

static void
run_statement(SkDdlText *ddl)
{
	MemoryContext context = CurrentMemoryContext;

	CHECK_FOR_INTERRUPTS();
	PG_TRY();
	{
		int			commands = list_length(ddl->commands);

		if (!skip_client_command(ddl))
			run_parsed(ddl);
		if (list_length(ddl->commands) == commands)
			SK_DDL_EMIT(ddl, "-- nothing to do");
	}
	PG_CATCH();
	{
		complete_error(ddl, context);
	}
	PG_END_TRY();
}

/* What clients do with a file is nothing here; returns false for other statements. */
static bool
skip_client_command(SkDdlText *ddl)
{
	static const char *const commands[] = {"abort batch", "run batch", "set proto_descriptors", "start batch"};

	for (int i = 0; i < lengthof(commands); i++)
	{
		if (!has_words(ddl, commands[i]))
			continue;
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("\"%s\" is a command of the client, and left out",
						asc_toupper(commands[i], strlen(commands[i])))));
		return true;
	}
	return false;
}

static void
run_parsed(SkDdlText *ddl)
{
	refuse_others(ddl);
	(void) sk_ddl_yyparse(ddl);
	/* the grammar has read all of it */
	Assert(ddl->statement != NULL && ddl->next == ddl->end);
	switch (ddl->statement->type)
	{
#define SK_DDL_STATEMENT(type, function) \
		case type: \
			function(ddl, ddl->statement); \
			break;
			SK_DDL_STATEMENTS
#undef SK_DDL_STATEMENT
	}
}

/* An error shows the statement that it is about, and says which one of the text that is. */
static void
complete_error(SkDdlText *ddl, MemoryContext context)
{
	int			start = ddl->tokens[ddl->first].start;
	int			before;
	ErrorData  *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	before = pg_mbstrlen_with_len(ddl->sql, start);
	if (error->internalpos <= before || error->internalquery == NULL ||
		strcmp(error->internalquery, ddl->sql) != 0)
	{
		error->cursorpos = 0;
		error->internalpos = before + 1;
	}
	/* a file may be long */
	error->internalquery = pnstrdup(ddl->sql + start, ddl->tokens[ddl->end - 1].end - start);
	error->internalpos = Min(error->internalpos - before, pg_mbstrlen(error->internalquery) + 1);
	if (ddl->number > 0)
		error->context = error->context == NULL ?
			psprintf("statement %d", ddl->number) :
			psprintf("%s\nstatement %d", error->context, ddl->number);
	ReThrowError(error);
}

/* Statements that Spanner has and PostgreSQL has not. */
static void
refuse_others(SkDdlText *ddl)
{
	static const char *const verbs[] = {"alter", "analyze", "create", "drop", "grant", "rename", "revoke"};
	bool		is_ddl = false;

	for (int i = 0; i < lengthof(verbs); i++)
		is_ddl |= has_words(ddl, verbs[i]);
	if (!is_ddl)
		SK_DDL_ERROR(ddl, ddl->first, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("statement is not Spanner's DDL"),
					 errhint("Run it directly, without execute_ddl."));
	for (int i = 0; i < lengthof(refusals); i++)
	{
		if (has_words(ddl, refusals[i][0]))
			sk_ddl_refuse(ddl, ddl->next, refusals[i][1], refusals[i][2]);
	}
}

/* Does the statement begin with these words?  "*" is for any first one. */
static bool
has_words(SkDdlText *ddl, const char *words)
{
	int			i = ddl->next;

	if (words[0] == '*' && strcmp(ddl->tokens[i].text, "create") != 0 &&
		strcmp(ddl->tokens[i].text, "alter") != 0 &&
		strcmp(ddl->tokens[i].text, "drop") != 0)
		return false;
	/* of a database only what others than the grammar would read */
	if (strcmp(words, "* database") == 0 && strcmp(ddl->tokens[i].text, "alter") == 0)
		return false;
	for (; *words != '\0'; i++)
	{
		int			length = strcspn(words, " ");

		if (i >= ddl->end || ddl->tokens[i].type != SK_TOKEN_WORD ||
			(words[0] != '*' && (strlen(ddl->tokens[i].text) != length ||
								 strncmp(words, ddl->tokens[i].text, length) != 0)))
			return false;
		words += length;
		words += *words == ' ';
	}
	return true;
}
