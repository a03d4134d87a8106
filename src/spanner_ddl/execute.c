/*-------------------------------------------------------------------------
 *
 * execute.c
 *	  spanner.execute_ddl() and spanner.postgresql_ddl().
 *
 * The statements of a text are read, translated and run one after the other,
 * since a statement may depend on what those before it have made.
 * postgresql_ddl() does the same in a subtransaction that is rolled back.
 *
 * What cannot be done is left out if the caller says so.  Then a statement has
 * a subtransaction of its own.  If it fails, the smallest part of it that the
 * error is about goes, and the statement is tried again: an option, a default,
 * a column, a clause, or all of it.  Without that, the same is done once more
 * after an error, to count what else cannot be done.
 *
 * src/spanner_ddl/execute.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "common/keywords.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "parser/parser.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/run_command.h"

#define DIALECT_SETTING "spanner.dialect"

/* Where a text ends that is of a dialect. */
#define WHOLE_TEXT PG_INT32_MAX

/* A part of the text that is left out. */
typedef struct SkLeftOut
{
	int			statement;
	char	   *what;
	char	   *why;
	char	   *instead;
	char	   *name;			/* of the column or object, or NULL */
	bool		depends;		/* on another one */
} SkLeftOut;

PG_FUNCTION_INFO_V1(spanner_execute_ddl);
PG_FUNCTION_INFO_V1(spanner_postgresql_ddl);

static void take_arguments(SkDdlText *ddl, text *sql, text *dialect);
static void remember_dialect(const SkDdlText *ddl);
static void choose_dialect(SkDdlText *ddl);
static int	try_reading(SkDdlText *ddl, bool runs, SkDialect dialect, List **commands);
static bool is_foreign(const ErrorData *error);
static void check_meanings(List *google, List *postgresql);
static ErrorData *try_quietly(void (*step) (SkDdlText *), SkDdlText *ddl);
static void run_counting(SkDdlText *ddl);
static void run_text(SkDdlText *ddl);
static const char *zone_setting(void);
static int	statement_end(SkDdlText *ddl, int first);
static void run_statement(SkDdlText *ddl);
static void run_in_parts(SkDdlText *ddl);
static void run_parsed(SkDdlText *ddl);
static char *googlesql_message(char *message);
static void complete_error(SkDdlText *ddl, MemoryContext context);
static bool leave_out(SkDdlText *ddl, const ErrorData *error);
static char *owner_of(SkDdlText *ddl, int token);
static bool is_one_of(const ErrorData *error, const int *codes);
static SkLeftOut *find_left_out(SkDdlText *ddl, SkDdlRange range);
static SkDdlRange part_at(SkDdlText *ddl, int token);
static SkDdlRange element_at(SkDdlText *ddl, int token);
static SkDdlRange clause_at(SkDdlText *ddl, int token);
static int	enclosing(SkDdlText *ddl, int token);
static int	closing(SkDdlText *ddl, int open);
static SkDdlRange item_at(SkDdlText *ddl, int open, int token);
static bool is_operator(SkDdlText *ddl, int token, const char *text);
static char *made_name(SkDdlText *ddl, SkDdlRange part);
static char *text_of(SkDdlText *ddl, SkDdlRange range);
static void remove_tokens(SkDdlText *ddl, SkDdlRange part);

/*
 * spanner.execute_ddl(statement text, dialect text) returns void
 *
 * With leave_out boolean, and perhaps without the dialect, it returns a row for
 * each thing that is left out.  The dialect is googlesql, postgresql, or auto:
 * choose_dialect() finds it.
 */
Datum
spanner_execute_ddl(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		has_rows = get_func_retset(fcinfo->flinfo->fn_oid);
	SkDdlText	ddl = {.leaves_out = has_rows && PG_GETARG_BOOL(PG_NARGS() - 1)};
	ListCell   *lc;

	PreventCommandIfReadOnly("spanner.execute_ddl()");
	take_arguments(&ddl, PG_GETARG_TEXT_PP(0), has_rows && PG_NARGS() == 2 ? NULL : PG_GETARG_TEXT_PP(1));
	if (has_rows)
		InitMaterializedSRF(fcinfo, 0);
	sk_ddl_run(&ddl);
	remember_dialect(&ddl);
	if (!has_rows)
		PG_RETURN_VOID();

	foreach(lc, ddl.left_out)
	{
		SkLeftOut  *left = lfirst(lc);
		Datum		values[] = {Int32GetDatum(left->statement), CStringGetTextDatum(left->what),
			CStringGetTextDatum(left->why), left->instead != NULL ? CStringGetTextDatum(left->instead) : (Datum) 0
		};
		bool		nulls[] = {false, false, false, left->instead == NULL};

		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * spanner.postgresql_ddl(statement text, dialect text, leave_out boolean) returns setof text
 */
Datum
spanner_postgresql_ddl(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	SkDdlText	ddl = {.leaves_out = PG_GETARG_BOOL(2)};
	ErrorData  *error;
	ListCell   *lc;

	PreventCommandIfReadOnly("spanner.postgresql_ddl()");
	take_arguments(&ddl, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1));
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	/* the commands are in the memory of the caller, so they stay */
	error = sk_ddl_try(sk_ddl_run, &ddl, false);
	if (error != NULL)
		ReThrowError(error);

	foreach(lc, ddl.commands)
	{
		Datum		value = CStringGetTextDatum(lfirst(lc));
		bool		isnull = false;

		tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
	}
	return (Datum) 0;
}

static void
take_arguments(SkDdlText *ddl, text *sql, text *dialect)
{
	const char *name = dialect != NULL ? text_to_cstring(dialect) : "auto";

	ddl->sql = text_to_cstring(sql);
	if (pg_strcasecmp(name, "auto") == 0)
		return;
	ddl->has_dialect = true;
	ddl->dialect = pg_strcasecmp(name, "googlesql") == 0 ? SK_GOOGLESQL : SK_POSTGRESQL;
	if (ddl->dialect == SK_POSTGRESQL && pg_strcasecmp(name, "postgresql") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dialect \"%s\" is not known", name),
				 errhint("Use \"googlesql\", \"postgresql\", or \"auto\".")));
}

/*
 * A database has one dialect.  The first text that says it sets it, for this
 * session, and for the database if the current user may.
 */
static void
remember_dialect(const SkDdlText *ddl)
{
	const char *name = ddl->dialect == SK_GOOGLESQL ? "googlesql" : "postgresql";
	LOCKTAG		tag;

	if (sk_ddl_dialect != SK_SETTING_EMPTY || !ddl->has_dialect)
		return;
	(void) set_config_option(DIALECT_SETTING, name, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SET, true, 0, false);

	/*
	 * two sessions that write the row of the database at once would be an
	 * error of one, and the other one may have set it
	 */
	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	if (!object_ownercheck(DatabaseRelationId, MyDatabaseId, GetUserId()) ||
		LockAcquire(&tag, ShareUpdateExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL ||
		sk_ddl_database_setting(DIALECT_SETTING) != NULL)
		return;
	sk_run_command(psprintf("ALTER DATABASE %s SET %s TO %s", quote_identifier(get_database_name(MyDatabaseId)),
							DIALECT_SETTING, name));
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

	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);

	/* what some editors begin a file with */
	if (strncmp(ddl->sql, "\xEF\xBB\xBF", 3) == 0)
		ddl->sql += 3;
	if (!ddl->has_dialect)
		choose_dialect(ddl);
	run_counting(ddl);
	AtEOXact_GUC(true, nest_level);
}

/*
 * Choose the dialect of a text for which the caller names none: that of the
 * setting, unless only the other one can read the text.
 *
 * Without a setting the text is run as both, and rolled back.  If it can be
 * both, it has to mean the same; if neither, the one that gets further has the
 * better error.
 */
static void
choose_dialect(SkDdlText *ddl)
{
	bool		is_known = sk_ddl_dialect == SK_SETTING_GOOGLESQL || sk_ddl_dialect == SK_SETTING_POSTGRESQL;
	bool		leaves_out = ddl->leaves_out;
	List	   *google;
	List	   *postgresql;
	int			end;
	int			other_end;

	ddl->leaves_out = false;
	end = try_reading(ddl, false, SK_GOOGLESQL, &google);
	other_end = try_reading(ddl, false, SK_POSTGRESQL, &postgresql);
	ddl->shows_dialect = end == WHOLE_TEXT && other_end == WHOLE_TEXT;
	if (ddl->shows_dialect && !is_known)
	{
		end = try_reading(ddl, true, SK_GOOGLESQL, &google);
		other_end = try_reading(ddl, true, SK_POSTGRESQL, &postgresql);
		if (end == WHOLE_TEXT && other_end == WHOLE_TEXT)
			check_meanings(google, postgresql);
	}
	ddl->leaves_out = leaves_out;
	ddl->dialect = sk_ddl_dialect == SK_SETTING_POSTGRESQL ? SK_POSTGRESQL : SK_GOOGLESQL;
	if (end != other_end && (!is_known || Max(end, other_end) == WHOLE_TEXT))
	{
		ddl->dialect = end > other_end ? SK_GOOGLESQL : SK_POSTGRESQL;
		ddl->has_dialect = !ddl->shows_dialect;
	}
}

/*
 * Read or run a text in a dialect, and roll that back.  Returns the byte at
 * which it is seen not to be of this dialect, or WHOLE_TEXT.
 */
static int
try_reading(SkDdlText *ddl, bool runs, SkDialect dialect, List **commands)
{
	ErrorData  *error;

	ddl->dialect = dialect;
	ddl->error_at = 0;
	ddl->only_reads = !runs;
	error = try_quietly(run_text, ddl);
	ddl->only_reads = false;
	*commands = ddl->commands;
	return error == NULL || (runs && !is_foreign(error)) ? WHOLE_TEXT : ddl->tokens[ddl->error_at].start;
}

/* Does an error say that a text is not of its dialect?  Rows, rights and what is there do not. */
static bool
is_foreign(const ErrorData *error)
{
	static const int others[] = {
		ERRCODE_DUPLICATE_COLUMN, ERRCODE_DUPLICATE_OBJECT, ERRCODE_DUPLICATE_SCHEMA, ERRCODE_DUPLICATE_TABLE,
		ERRCODE_INSUFFICIENT_PRIVILEGE, ERRCODE_UNDEFINED_TABLE, ERRCODE_WRONG_OBJECT_TYPE, 0
	};
	int			category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	return (category == ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION || category == ERRCODE_FEATURE_NOT_SUPPORTED) &&
		!is_one_of(error, others);
}

/* Raise an error if the commands of both dialects are not the same. */
static void
check_meanings(List *google, List *postgresql)
{
	for (int i = 0; i < Max(list_length(google), list_length(postgresql)); i++)
	{
		const char *one = i < list_length(google) ? list_nth(google, i) : "-- nothing";
		const char *other = i < list_length(postgresql) ? list_nth(postgresql, i) : "-- nothing";

		if (!equal(raw_parser(sk_ddl_yyplain(one), RAW_PARSE_DEFAULT),
				   raw_parser(sk_ddl_yyplain(other), RAW_PARSE_DEFAULT)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("statement means one thing in GoogleSQL, and another one in the PostgreSQL dialect"),
					 errdetail("In GoogleSQL it is \"%s\", and in the PostgreSQL dialect \"%s\".", one, other),
					 errhint("Name the dialect, as in spanner.execute_ddl('...', 'googlesql'), or set spanner.dialect.")));
	}
}

/* Run a text.  An error says how much else cannot be done. */
static void
run_counting(SkDdlText *ddl)
{
	ErrorData  *error;
	int			others = -1;
	ListCell   *lc;

	if (ddl->leaves_out)
	{
		run_text(ddl);
		return;
	}
	error = sk_ddl_try(run_text, ddl, true);
	if (error == NULL)
		return;
	if (error->sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED || error->sqlerrcode == ERRCODE_UNDEFINED_FUNCTION)
	{
		ddl->leaves_out = true;
		(void) try_quietly(run_text, ddl);
		foreach(lc, ddl->left_out)
			others += !((SkLeftOut *) lfirst(lc))->depends;
		if (others > 0 && error->detail == NULL)
			error->detail = psprintf(others == 1 ? "%d more thing of the text cannot be done." :
									 "%d more things of the text cannot be done.", others);
		if (others > 0)
			error->hint = psprintf("%s%sWith leave_out => true, such things are left out and listed.",
								   error->hint != NULL ? error->hint : "", error->hint != NULL ? " " : "");
	}
	ReThrowError(error);
}

/* Run a step without a word, and roll it back. */
static ErrorData *
try_quietly(void (*step) (SkDdlText *), SkDdlText *ddl)
{
	int			nest_level = NewGUCNestLevel();
	ErrorData  *error;

	(void) set_config_option("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	error = sk_ddl_try(step, ddl, false);
	AtEOXact_GUC(true, nest_level);
	return error;
}

static void
run_text(SkDdlText *ddl)
{
	int			count = 0;

	sk_ddl_yytokens(ddl);
	ddl->commands = ddl->left_out = NIL;
	ddl->number = 0;
	for (int i = 0; i < ddl->count; i = statement_end(ddl, i) + 1)
		count += statement_end(ddl, i) > i;
	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("statement is empty")));

	for (int i = 0; i < ddl->count; i = ddl->end + 1)
	{
		ddl->first = i;
		ddl->end = statement_end(ddl, i);
		if (ddl->end == i)
			continue;
		ddl->number += count > 1 || ddl->leaves_out;
		/* a string next to a TIMESTAMP becomes a constant when it is parsed */
		(void) set_config_option("timezone", zone_setting(), PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);

		/* it is translated now, when what it may depend on has been run */
		if (ddl->leaves_out)
			run_in_parts(ddl);
		else
			run_statement(ddl);
	}
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
	ddl->next = ddl->error_at = ddl->first;
	ddl->in_expression = ddl->in_default = false;
	ddl->statement = NULL;
	/* one before may have failed within its relation */
	ddl->relation = InvalidOid;
	PG_TRY();
	{
		int			commands = list_length(ddl->commands);
		const SkRefusal *command = sk_ddl_refusal(ddl, SK_CLIENT_STATEMENT, ddl->first);

		if (command == NULL)
			run_parsed(ddl);
		else
			ereport(NOTICE,
					(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
					 errmsg("\"%s\" is a command of the client, and left out", command->what)));
		if (list_length(ddl->commands) == commands)
			SK_DDL_EMIT(ddl, "-- nothing to do");
	}
	PG_CATCH();
	{
		complete_error(ddl, context);
	}
	PG_END_TRY();
}

/* Run a statement without what cannot be done, or leave all of it out. */
static void
run_in_parts(SkDdlText *ddl)
{
	for (;;)
	{
		int			commands = list_length(ddl->commands);
		ErrorData  *error = sk_ddl_try(run_statement, ddl, true);
		int			end = ddl->end;
		SkLeftOut  *left;

		if (error == NULL)
			return;
		ddl->commands = list_truncate(ddl->commands, commands);
		if (!leave_out(ddl, error))
			ReThrowError(error);
		left = llast(ddl->left_out);
		SK_DDL_EMIT(ddl, "-- left out: %s: %s", left->what, left->why);
		if (ddl->end == end)
			return;
	}
}

static void
run_parsed(SkDdlText *ddl)
{
	const SkToken *verb = &ddl->tokens[ddl->first];
	const SkRefusal *refusal = sk_ddl_refusal(ddl, SK_REFUSED_STATEMENT, ddl->first);

	/* both dialects have what PostgreSQL has not */
	if (refusal != NULL && ddl->only_reads)
		return;
	if (refusal != NULL)
		sk_ddl_refuse(ddl, ddl->first, refusal->what, refusal->hint);
	/* the grammar stops at a word that PostgreSQL does not know, either */
	if (verb->type == SK_TOKEN_WORD && ScanKeywordLookup(verb->text, &ScanKeywords) >= 0 &&
		!SK_DDL_ONE_OF(verb->text, "alter", "analyze", "create", "delete", "drop", "insert", "rename", "update"))
		SK_DDL_ERROR(ddl, ddl->first, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("statement is not Spanner's DDL"),
					 errhint("Run it directly, without execute_ddl."));
	(void) sk_ddl_yyparse(ddl);
	/* the grammar has read all of it */
	Assert(ddl->statement != NULL && ddl->next == ddl->end);
	if (ddl->only_reads)
		return;
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

/* A message with the names of GoogleSQL's functions in place of ours. */
static char *
googlesql_message(char *message)
{
	static const char schema[] = "spanner_internal.";
	char	   *start = message != NULL ? strstr(message, schema) : NULL;
	char	   *name = start != NULL ? start + strlen(schema) : NULL;
	int			length = name != NULL ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;

	return start == NULL || name[length] != '(' ? message :
		psprintf("%.*s%s%s", (int) (start - message), message,
				 asc_toupper(name, length), name + length);
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
	error->message = googlesql_message(error->message);
	before = pg_mbstrlen_with_len(ddl->sql, start);
	if (error->internalpos <= before || error->internalquery == NULL ||
		strcmp(error->internalquery, ddl->sql) != 0)
	{
		error->cursorpos = 0;
		error->internalpos = pg_mbstrlen_with_len(ddl->sql, ddl->tokens[ddl->error_at].start) + 1;
	}
	/* a file may be long */
	error->internalquery = pnstrdup(ddl->sql + start, ddl->tokens[ddl->end - 1].end - start);
	error->internalpos = Min(error->internalpos - before, pg_mbstrlen(error->internalquery) + 1);
	if (ddl->number > 0)
		error->context = psprintf("%s%sstatement %d", error->context != NULL ? error->context : "",
								  error->context != NULL ? "\n" : "", ddl->number);
	if (ddl->shows_dialect && is_foreign(error) && error->sqlerrcode != ERRCODE_FEATURE_NOT_SUPPORTED)
		error->context = psprintf("%s%sread as %s",
								  error->context != NULL ? error->context : "", error->context != NULL ? ", " : "",
								  ddl->dialect == SK_GOOGLESQL ? "GoogleSQL" : "the PostgreSQL dialect");
	ReThrowError(error);
}

/*
 * Leave out the part of a statement that an error is about, if that is what
 * cannot be done or what depends on such a thing; returns false if not.
 */
static bool
leave_out(SkDdlText *ddl, const ErrorData *error)
{
	static const int missing[] = {
		ERRCODE_UNDEFINED_COLUMN, ERRCODE_UNDEFINED_FUNCTION, ERRCODE_UNDEFINED_OBJECT, ERRCODE_UNDEFINED_SCHEMA,
		ERRCODE_UNDEFINED_TABLE, ERRCODE_WRONG_OBJECT_TYPE, 0
	};
	static const int impossible[] = {
		ERRCODE_AMBIGUOUS_FUNCTION, ERRCODE_CANNOT_COERCE, ERRCODE_DATATYPE_MISMATCH, ERRCODE_FEATURE_NOT_SUPPORTED,
		ERRCODE_INDETERMINATE_DATATYPE, ERRCODE_INVALID_OBJECT_DEFINITION, ERRCODE_INVALID_REGULAR_EXPRESSION,
		ERRCODE_STATEMENT_TOO_COMPLEX, ERRCODE_SYNTAX_ERROR, ERRCODE_TOO_MANY_COLUMNS, ERRCODE_UNDEFINED_FUNCTION, 0
	};
	SkDdlRange	whole = {ddl->first, ddl->end};
	SkDdlRange	part = part_at(ddl, ddl->error_at < ddl->end ? ddl->error_at : ddl->first);
	SkLeftOut  *left = palloc0(sizeof(SkLeftOut));
	SkLeftOut  *cause = NULL;

	/* what is missing may have been left out before */
	if (is_one_of(error, missing))
		cause = find_left_out(ddl, part);
	if (cause == NULL && !is_one_of(error, impossible))
		return false;
	left->statement = ddl->number;
	left->what = text_of(ddl, part);
	left->name = made_name(ddl, part);
	left->depends = cause != NULL;
	left->why = cause != NULL ? psprintf("It depends on \"%s\", which is left out.", cause->name) :
		error->message;
	left->instead = cause != NULL ? NULL : error->hint;
	if (part.first != whole.first)
	{
		left->what = psprintf("%s: %s", owner_of(ddl, part.first), left->what);
		remove_tokens(ddl, part);
	}
	ddl->left_out = lappend(ddl->left_out, left);
	return true;
}

/* Whose the part of a statement is that begins here: of a table, and perhaps a column of it. */
static char *
owner_of(SkDdlText *ddl, int token)
{
	SkDdlRange	head = {ddl->first, ddl->first};
	SkDdlRange	element = element_at(ddl, token);

	while (head.end < Min(token, ddl->first + 6) && !is_operator(ddl, head.end, "("))
		head.end++;
	if (element.first == token)
		return text_of(ddl, head);
	element.end = element.first + 1;
	return psprintf("%s: %s", text_of(ddl, head), text_of(ddl, element));
}

/* Has an error one of these codes, which end with zero? */
static bool
is_one_of(const ErrorData *error, const int *codes)
{
	while (*codes != 0 && *codes != error->sqlerrcode)
		codes++;
	return *codes != 0;
}

/* What is left out that these tokens name; NULL if there is none. */
static SkLeftOut *
find_left_out(SkDdlText *ddl, SkDdlRange range)
{
	ListCell   *lc;

	foreach(lc, ddl->left_out)
	{
		SkLeftOut  *left = lfirst(lc);

		for (int i = range.first; left->name != NULL && i < range.end; i++)
		{
			if ((ddl->tokens[i].type == SK_TOKEN_WORD || ddl->tokens[i].type == SK_TOKEN_NAME) &&
				strcmp(ddl->tokens[i].text, left->name) == 0)
				return left;
		}
	}
	return NULL;
}

/* The smallest part around a token that can be missing: else the statement. */
static SkDdlRange
part_at(SkDdlText *ddl, int token)
{
	SkDdlRange	whole = {ddl->first, ddl->end};
	SkDdlRange	words = {token, token + 2};
	SkDdlRange	element = element_at(ddl, token);

	if (sk_ddl_has_words(ddl, token, "placement key"))
		return words;
	for (int open = is_operator(ddl, token, "(") ? token : enclosing(ddl, token); open >= 0;
		 token = open, open = enclosing(ddl, open))
	{
		SkDdlRange	all = {open, closing(ddl, open) + 1};
		SkDdlRange	item = item_at(ddl, open, token);

		/* the length of a vector, a default, some or all options */
		if (is_operator(ddl, open - 1, ">"))
			return all;
		if (sk_ddl_has_words(ddl, open - 1, "options") && item.end - item.first < all.end - all.first - 2)
			return item;
		all.first--;
		if (!sk_ddl_has_words(ddl, open - 2, "set") &&
			(sk_ddl_has_words(ddl, open - 1, "default") || sk_ddl_has_words(ddl, open - 1, "options")))
			return all;
	}
	if (element.first == element.end)
		return clause_at(ddl, token);
	/* a table without its key would be another one */
	for (int i = element.first; i < element.end; i++)
	{
		if (sk_ddl_has_words(ddl, i, "primary key"))
			return whole;
	}
	return element;
}

/* The column or constraint of a new table that a token is of, or nothing at that token. */
static SkDdlRange
element_at(SkDdlText *ddl, int token)
{
	SkDdlRange	nothing = {token, token};
	int			list = ddl->first;

	while (list < token && !is_operator(ddl, list, "("))
		list++;
	return list < token && token < closing(ddl, list) && sk_ddl_has_words(ddl, ddl->first, "create table") ?
		item_at(ddl, list, token) : nothing;
}

/* The clause of a table or index that a token behind its columns is of. */
static SkDdlRange
clause_at(SkDdlText *ddl, int token)
{
	static const char *const words[] = {
		"include", "interleave", "options", "order", "partition", "primary", "row", "storing", "ttl", "where", NULL
	};
	SkDdlRange	whole = {ddl->first, ddl->end};
	SkDdlRange	part = whole;

	for (int i = ddl->first; i < part.end; i++)
	{
		bool		begins = ddl->tokens[i].type == SK_TOKEN_WORD && sk_ddl_one_of(ddl->tokens[i].text, words);

		if (ddl->tokens[i].depth > 0)
			continue;
		if (i > token && (begins || is_operator(ddl, i, ",")))
			part.end = i;
		else if (begins)
			part.first = i;
	}
	return sk_ddl_has_words(ddl, ddl->first, "create") &&
		SK_DDL_ONE_OF(ddl->tokens[part.first].text, "interleave", "options", "row", "ttl") ? part : whole;
}

/* The parenthesis that is open at a token of the statement, or -1. */
static int
enclosing(SkDdlText *ddl, int token)
{
	int			depth = ddl->tokens[token].depth;

	while (--token >= ddl->first)
	{
		if (ddl->tokens[token].depth < depth)
			return token;
	}
	return -1;
}

/* The parenthesis that closes this one, or the last token of the statement. */
static int
closing(SkDdlText *ddl, int open)
{
	int			i = open + 1;

	while (i < ddl->end - 1 && (ddl->tokens[i].depth > ddl->tokens[open].depth + 1 || !is_operator(ddl, i, ")")))
		i++;
	return Min(i, ddl->end - 1);
}

/* What stands between the commas around a token, in parentheses that are open there. */
static SkDdlRange
item_at(SkDdlText *ddl, int open, int token)
{
	SkDdlRange	item = {open + 1, closing(ddl, open)};
	int			angles = 0;		/* open ones of a type */

	for (int i = item.first; i < item.end; i++)
	{
		bool		is_type = sk_ddl_has_words(ddl, i - 1, "array") || sk_ddl_has_words(ddl, i - 1, "struct");

		if (ddl->tokens[i].depth > ddl->tokens[open].depth + 1)
			continue;
		angles += is_operator(ddl, i, "<") && is_type;
		angles = Max(angles - is_operator(ddl, i, ">") - 2 * is_operator(ddl, i, ">>"), 0);
		if (angles > 0 || !is_operator(ddl, i, ","))
			continue;
		if (i < token)
			item.first = i + 1;
		else
			item.end = i;
	}
	return item;
}

static bool
is_operator(SkDdlText *ddl, int token, const char *text)
{
	return token >= ddl->first && token < ddl->end && ddl->tokens[token].type == SK_TOKEN_OPERATOR &&
		strcmp(ddl->tokens[token].text, text) == 0;
}

/* The name of a column or object that is not made; NULL if there is none. */
static char *
made_name(SkDdlText *ddl, SkDdlRange part)
{
	static const char *const words[] = {
		"add", "bundle", "change", "check", "column", "constraint", "create", "default", "exists", "foreign",
		"function", "graph", "group", "if", "index", "interleave", "locality", "model", "not", "null_filtered",
		"options", "or", "placement", "property", "proto", "replace", "role", "row", "schema", "search", "sequence",
		"stream", "synonym", "table", "ttl", "unique", "vector", "view", NULL
	};
	bool		is_statement = part.first == ddl->first;
	int			i = part.first;

	if (is_statement && sk_ddl_has_words(ddl, i, "alter table"))
	{
		while (i < part.end && !sk_ddl_has_words(ddl, i, "add"))
			i++;
	}
	else if (is_statement ? !sk_ddl_has_words(ddl, i, "create") : sk_ddl_one_of(ddl->tokens[i].text, words))
		return NULL;
	while (is_statement && i < part.end && ddl->tokens[i].type == SK_TOKEN_WORD &&
		   sk_ddl_one_of(ddl->tokens[i].text, words))
		i++;
	while (is_operator(ddl, i + 1, "."))
		i += 2;
	return i < part.end && (ddl->tokens[i].type == SK_TOKEN_WORD || ddl->tokens[i].type == SK_TOKEN_NAME) ?
		ddl->tokens[i].text : NULL;
}

/* Tokens as they are in the text, on one line and not too long. */
static char *
text_of(SkDdlText *ddl, SkDdlRange range)
{
	const char *end = ddl->sql + ddl->tokens[range.end - 1].end;
	StringInfoData result;
	int			length;

	initStringInfo(&result);
	for (const char *s = ddl->sql + ddl->tokens[range.first].start; s < end; s++)
	{
		if (!isspace((unsigned char) *s) || !isspace((unsigned char) s[1]))
			appendStringInfoChar(&result, isspace((unsigned char) *s) ? ' ' : *s);
	}
	length = pg_mbcliplen(result.data, result.len, 70);
	return length == result.len ? result.data : psprintf("%.*s...", length, result.data);
}

/* Remove a part of the statement, and a comma if it stands between some. */
static void
remove_tokens(SkDdlText *ddl, SkDdlRange part)
{
	int			size;
	bool		is_behind = is_operator(ddl, part.first - 1, ",");

	if (is_operator(ddl, part.end, ",") && (is_behind || is_operator(ddl, part.first - 1, "(")))
		part.end++;
	else if (is_behind)
		part.first--;
	size = part.end - part.first;
	/* with the last one, which ends them */
	memmove(&ddl->tokens[part.first], &ddl->tokens[part.end], sizeof(SkToken) * (ddl->count + 1 - part.end));
	ddl->count -= size;
	ddl->end -= size;
}
