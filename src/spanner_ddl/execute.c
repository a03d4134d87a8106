/*-------------------------------------------------------------------------
 *
 * execute.c
 *	  spanner.execute_ddl() and spanner.postgresql_ddl().
 *
 * The statements of a text are read, translated and run one after the other,
 * since a statement may depend on what those before it have made.
 * postgresql_ddl() does the same in a subtransaction that is rolled back.
 *
 * Commands run with the caller's rights.  What is put into them is names and
 * strings that are quoted anew, numbers and words that we know.
 *
 * src/spanner_ddl/execute.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "datatype/timestamp.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

#include "keys/time_zone.h"
#include "spanner_ddl/spanner_ddl.h"
#include "spanner_keys.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_execute_ddl);
PG_FUNCTION_INFO_V1(spanner_postgresql_ddl);

/* How statements begin that cannot be done. */
typedef struct SkRefusal
{
	const char *words;
	const char *what;
	const char *hint;
} SkRefusal;

static void take_dialect(SkDdlText *ddl, const char *dialect);
static const SkRefusal refusals[] = {
	{"* database", "database", "Run PostgreSQL's command directly, or ALTER DATABASE ... SET OPTIONS for the one that you are in."},
	{"* function", "function", "Write it in PostgreSQL's language, and run it directly."},
	{"* locality group", "locality group", "A tablespace is PostgreSQL's nearest thing to it."},
	{"* model", "model", "Call models from the application."},
	{"* or replace function", "function", "Write it in PostgreSQL's language, and run it directly."},
	{"* or replace model", "model", "Call models from the application."},
	{"* or replace property", "property graph", "Query the tables with WITH RECURSIVE."},
	{"* placement", "placement", "spanner.create_splits() puts the rows of a table on several servers."},
	{"* property", "property graph", "Query the tables with WITH RECURSIVE."},
	{"* proto", "protocol buffer", "Use type JSON or BYTES."},
	{"* role", "role", "Roles belong to the whole server: run CREATE ROLE directly."},
	{"* search", "search index", "Use a GIN index on to_tsvector(...)."},
	{"* vector", "vector index", "Extensions of PostgreSQL have such indexes."},
	{"alter schema", "change of a schema", "Run PostgreSQL's ALTER SCHEMA directly."},
	{"grant", "privilege", "Run PostgreSQL's GRANT directly."},
	{"revoke", "privilege", "Run PostgreSQL's REVOKE directly."}
};

static const char *const verbs[] = {
	"alter", "analyze", "create", "drop", "grant", "rename", "revoke"
};

static char *default_time_zone = "";

static bool check_time_zone(char **newval, void **extra, GucSource source);
static int	statement_end(SkDdlText *ddl, int first);
static void run_statement(SkDdlText *ddl);
static void complete_error(SkDdlText *ddl, MemoryContext context);
static void translate_statement(SkDdlText *ddl);
static void check_schema_name(SkDdlText *ddl, const SkName *name);
static void refuse_others(SkDdlText *ddl);
static bool has_words(SkDdlText *ddl, const char *words);

void
sk_spanner_ddl_init(void)
{
	DefineCustomStringVariable("spanner.default_time_zone",
							   "Sets the time zone in which Spanner's expressions see timestamps.",
							   "Empty means Spanner's own default, America/Los_Angeles.",
							   &default_time_zone,
							   "",
							   PGC_USERSET,
							   0,
							   check_time_zone, NULL, NULL);
}

static bool
check_time_zone(char **newval, void **extra, GucSource source)
{
	if (**newval == '\0' || sk_ddl_zone_operand(*newval) != NULL)
		return true;
	GUC_check_errhint(SK_TIME_ZONE_HINT);
	return false;
}

/*
 * sk_ddl_time_zone
 *		The time zone of this database's expressions.
 */
const char *
sk_ddl_time_zone(void)
{
	return *default_time_zone != '\0' ? default_time_zone : "America/Los_Angeles";
}

/*
 * sk_ddl_zone_operand
 *		A time zone as AT TIME ZONE takes it; NULL if it takes no such zone.
 *
 * In a text, PostgreSQL counts offsets west of UTC, and in an interval, east.
 */
const char *
sk_ddl_zone_operand(const char *zone)
{
	/* with summers in GoogleSQL, and fixed offsets in PostgreSQL */
	static const char *const ambiguous[] = {"CET", "EET", "MET", "WET"};
	pg_tz	   *found;
	int			offset;

	if (!sk_parse_time_zone(zone, &found, &offset))
		return NULL;
	for (int i = 0; i < lengthof(ambiguous); i++)
	{
		if (pg_strcasecmp(zone, ambiguous[i]) == 0)
			return NULL;
	}
	if (*zone != '+' && *zone != '-')
		return quote_literal_cstr(zone);
	return psprintf("interval '%c%02d:%02d'", offset < 0 ? '-' : '+', abs(offset) / MINS_PER_HOUR,
					abs(offset) % MINS_PER_HOUR);
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
		{"intervalstyle", "postgres"},
		{"quote_all_identifiers", "off"},
		{"standard_conforming_strings", "on"}
	};
	int			nest_level = NewGUCNestLevel();
	int			count = 0;

	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);

	sk_ddl_read_tokens(ddl);
	for (int i = 0; i < ddl->count; i = statement_end(ddl, i) + 1)
		count += statement_end(ddl, i) > i;
	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("statement is empty")));

	for (int i = 0; i < ddl->count; i = ddl->end + 1)
	{
		ddl->first = ddl->next = i;
		ddl->end = statement_end(ddl, i);

		if (ddl->end == i)
			continue;
		ddl->number += count > 1;

		/* it is translated now, when what it may depend on has been run */
		run_statement(ddl);
	}
	AtEOXact_GUC(true, nest_level);
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

		refuse_others(ddl);
		(void) sk_ddl_yyparse(ddl);
		translate_statement(ddl);
		if (list_length(ddl->commands) == commands)
			sk_ddl_emit(ddl, "-- nothing to do");
	}
	PG_CATCH();
	{
		complete_error(ddl, context);
	}
	PG_END_TRY();
}

/* An error says which statement it is about, and where that begins. */
static void
complete_error(SkDdlText *ddl, MemoryContext context)
{
	ErrorData  *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	if (error->internalpos <= 0 || error->internalquery == NULL ||
		strcmp(error->internalquery, ddl->sql) != 0)
	{
		int			start = ddl->tokens[ddl->first].start;

		error->cursorpos = 0;
		error->internalpos = pg_mbstrlen_with_len(ddl->sql, start) + 1;
		error->internalquery = pstrdup(ddl->sql);
	}
	if (ddl->number > 0)
		error->context = error->context == NULL ?
			psprintf("statement %d", ddl->number) :
			psprintf("%s\nstatement %d", error->context, ddl->number);
	ReThrowError(error);
}

static void
translate_statement(SkDdlText *ddl)
{
	SkStatement *statement = ddl->statement;

	switch (statement->type)
	{
		case SK_CREATE_TABLE:
			sk_ddl_create_table(ddl, statement);
			break;
		case SK_CREATE_INDEX:
			sk_ddl_create_index(ddl, statement);
			break;
		case SK_CREATE_VIEW:
			sk_ddl_create_view(ddl, statement);
			break;
		case SK_CREATE_SCHEMA:
			check_schema_name(ddl, statement->name);
			if (!statement->or_replace || !OidIsValid(get_namespace_oid(linitial(statement->name->parts), true)))
				sk_ddl_emit(ddl, "CREATE SCHEMA %s%s", statement->exists_ok ? "IF NOT EXISTS " : "",
							sk_ddl_name(statement->name));
			break;
		case SK_CREATE_SEQUENCE:
			sk_ddl_create_sequence(ddl, statement);
			break;
		case SK_CREATE_STREAM:
		case SK_ALTER_STREAM:
			sk_ddl_change_stream(ddl, statement);
			break;
		case SK_ALTER_TABLE:
			sk_ddl_alter_table(ddl, statement);
			break;
		case SK_ALTER_INDEX:
			sk_ddl_alter_index(ddl, statement);
			break;
		case SK_ALTER_SEQUENCE:
			sk_ddl_alter_sequence(ddl, statement);
			break;
		case SK_ALTER_DATABASE:
			sk_ddl_alter_database(ddl, statement);
			break;
		case SK_DROP:
			sk_ddl_drop(ddl, statement);
			break;
		case SK_RENAME_TABLES:
			sk_ddl_rename_tables(ddl, statement);
			break;
		case SK_ANALYZE:
			sk_ddl_emit(ddl, "ANALYZE");
			break;
	}
}

/* Raise an error for names of schemas that Spanner keeps for itself. */
static void
check_schema_name(SkDdlText *ddl, const SkName *name)
{
	static const char *const reserved[] = {
		"default", "definition_schema", "information_schema", "ml", "net", "pg",
		"pg_catalog", "pg_information_schema", "public", "spanner",
		"spanner_placement", "spanner_sys"
	};

	for (int i = 0; i < lengthof(reserved); i++)
	{
		if (pg_strcasecmp(reserved[i], linitial(name->parts)) == 0)
			SK_DDL_ERROR(ddl, name->at, ERRCODE_RESERVED_NAME,
						 errmsg("Schema name not valid: %s.", (char *) linitial(name->parts)));
	}
}

/* Statements that Spanner has and PostgreSQL has not. */
static void
refuse_others(SkDdlText *ddl)
{
	bool		is_ddl = false;

	for (int i = 0; i < lengthof(verbs); i++)
		is_ddl |= has_words(ddl, verbs[i]);
	if (!is_ddl)
		SK_DDL_ERROR(ddl, ddl->first, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("statement is not Spanner's DDL"),
					 errhint("Run it directly, without execute_ddl."));
	for (int i = 0; i < lengthof(refusals); i++)
	{
		if (has_words(ddl, refusals[i].words))
			sk_ddl_refuse(ddl, ddl->next, refusals[i].what, refusals[i].hint);
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

/*
 * sk_ddl_refuse
 *		Report what PostgreSQL has not.
 */
void
sk_ddl_refuse(SkDdlText *ddl, int token, const char *what, const char *hint)
{
	SK_DDL_ERROR(ddl, token, ERRCODE_FEATURE_NOT_SUPPORTED,
				 errmsg("%s is not supported", what),
				 hint != NULL ? errhint("%s", hint) : 0);
}

/*
 * sk_ddl_at_byte
 *		The position of an error, for ereport().
 */
int
sk_ddl_at_byte(SkDdlText *ddl, int byte)
{
	internalerrquery(ddl->sql);
	return internalerrposition(pg_mbstrlen_with_len(ddl->sql, byte) + 1);
}

int
sk_ddl_at(SkDdlText *ddl, int token)
{
	/* at the end of a statement, not at the beginning of the next one */
	if (token >= ddl->end && token > 0)
		return sk_ddl_at_byte(ddl, ddl->tokens[ddl->end < ddl->count ? ddl->end : ddl->count].start);
	return sk_ddl_at_byte(ddl, ddl->tokens[token].start);
}

/*
 * sk_ddl_emit
 *		Run a command of PostgreSQL, and note it.
 */
void
sk_ddl_emit(SkDdlText *ddl, const char *format,...)
{
	StringInfoData command;

	initStringInfo(&command);
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, format);
		needed = appendStringInfoVA(&command, format, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&command, needed);
	}
	ddl->commands = lappend(ddl->commands, command.data);

	if (strncmp(command.data, "SELECT ", 7) == 0)
		(void) sk_query_text(command.data);
	else if (command.data[0] != '-')
		sk_run_command(command.data);
}

/*
 * sk_ddl_name
 *		A name as it is in a command.
 */
char *
sk_ddl_name(const SkName *name)
{
	return sk_ddl_rename(name, llast(name->parts));
}

/*
 * sk_ddl_rename
 *		A name in the schema of another one.
 */
char *
sk_ddl_rename(const SkName *name, const char *last)
{
	StringInfoData result;

	initStringInfo(&result);
	for (int i = 0; i + 1 < list_length(name->parts); i++)
		appendStringInfo(&result, "%s.", quote_identifier(list_nth(name->parts, i)));
	appendStringInfoString(&result, quote_identifier(last));
	return result.data;
}

/*
 * sk_ddl_complete_name
 *		Add the schema to the name of a new table, if its commands would find
 *		another relation by the name alone.
 */
void
sk_ddl_complete_name(SkName *name)
{
	RangeVar   *new_name = makeRangeVar(NULL, llast(name->parts), -1);
	Oid			schema;
	Oid			other;

	if (list_length(name->parts) > 1)
		return;
	schema = RangeVarGetCreationNamespace(new_name);
	other = RangeVarGetRelid(new_name, NoLock, true);
	if (OidIsValid(other) && get_rel_namespace(other) != schema)
		name->parts = lcons(get_namespace_name(schema), name->parts);
}

/*
 * sk_ddl_find
 *		The relation of a kind that has this name; InvalidOid if it may be
 *		and is missing.
 */
Oid
sk_ddl_find(SkDdlText *ddl, const SkName *name, char relkind, bool missing_ok)
{
	List	   *names = NIL;
	ListCell   *lc;
	Oid			result;
	char		found;

	foreach(lc, name->parts)
		names = lappend(names, makeString(lfirst(lc)));
	result = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);
	found = OidIsValid(result) ? get_rel_relkind(result) : '\0';
	if (found == relkind || (found == RELKIND_PARTITIONED_TABLE && relkind == RELKIND_RELATION) ||
		(found == RELKIND_PARTITIONED_INDEX && relkind == RELKIND_INDEX))
		return result;
	if (missing_ok && found == '\0')
		return InvalidOid;
	if (relkind == RELKIND_SEQUENCE && found != '\0')
		SK_DDL_ERROR(ddl, name->at, ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("\"%s\" is not a sequence", (char *) llast(name->parts)),
					 errhint("Use pg_get_serial_sequence() to find the sequence of a column."));
	SK_DDL_ERROR(ddl, name->at, ERRCODE_UNDEFINED_TABLE,
				 relkind == RELKIND_SEQUENCE ? errmsg("Sequence not found: %s", sk_ddl_name(name)) :
				 relkind == RELKIND_INDEX ? errmsg("Index not found: %s", sk_ddl_name(name)) :
				 relkind == RELKIND_VIEW ? errmsg("View not found: %s", sk_ddl_name(name)) :
				 errmsg("Table not found: %s", sk_ddl_name(name)),
				 errhint("Qualify the name with its schema if that is not in the search path."));
	return InvalidOid;			/* keep compiler quiet */
}

/*
 * sk_ddl_skip
 *		Is there nothing to do, since IF EXISTS is said of what is missing?
 *		If it is not said, that is an error.
 */
bool
sk_ddl_skip(SkDdlText *ddl, const SkName *name, char relkind, bool exists_ok)
{
	if (OidIsValid(sk_ddl_find(ddl, name, relkind, exists_ok)))
		return false;
	ereport(NOTICE,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg(relkind == RELKIND_SEQUENCE ? "sequence \"%s\" does not exist, skipping" :
					"relation \"%s\" does not exist, skipping",
					(char *) llast(name->parts))));
	return true;
}
