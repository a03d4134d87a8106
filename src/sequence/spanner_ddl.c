/*-------------------------------------------------------------------------
 *
 * spanner_ddl.c
 *	  spanner.execute_ddl(): Spanner's DDL for sequences and identity columns.
 *
 * PostgreSQL's grammar cannot be extended, so statements that need Spanner's
 * clauses are passed as text.  They are read by a parser of our own, and run
 * by our SQL functions and PostgreSQL's commands, with the caller's rights.
 * What is put into commands is names and strings that are quoted anew.
 *
 * ALTER DATABASE is for the database that the session is in.  Spanner's
 * clients call it "db" whatever its name is, so this name is taken for the
 * current one unless there is a database of that name.  As in Spanner, the
 * session feels the new default at once, and the option is set only once.
 *
 * src/sequence/spanner_ddl.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/access_method.h"
#include "sequence/spanner_ddl_clauses.h"
#include "sequence/spanner_ddl_columns.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_execute_ddl);

/* What Spanner's clients call a database whatever its name is. */
#define SK_CLIENT_DATABASE "db"

static void point_into_statement(void *arg);
static void execute_statement(SkDdlParser *parser);
static void create_sequence(SkDdlParser *parser);
static void alter_sequence(SkDdlParser *parser);
static void drop_sequence(SkDdlParser *parser);
static Oid	find_sequence(List *names, bool missing_ok);
static void check_dependent_columns(Oid seqid);
static bool alter_database(SkDdlParser *parser);
static bool default_kind_value(SkDdlParser *parser, char **kind);
static void check_database(const char *name);
static void set_default_kind(const char *kind);
static char *query_text(const char *query);

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
	parser.length = strlen(parser.sql);

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
 * sk_ddl_alter_sequence
 *		Do to a sequence what the clauses ask for.
 */
void
sk_ddl_alter_sequence(Oid seqid, const SkDdlClauses *clauses)
{
	char	   *name = sk_qualified_name(seqid);
	StringInfoData query;
	ListCell   *lc;

	if (clauses->limits != NULL)
		sk_run_command(psprintf("ALTER SEQUENCE %s%s", name, clauses->limits));

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT spanner.alter_sequence(%s",
					 quote_literal_cstr(name));
	if (clauses->kind != NULL)
		appendStringInfo(&query, ", kind => %s",
						 quote_literal_cstr(clauses->kind));
	foreach(lc, clauses->options)
	{
		SkOption   *option = lfirst(lc);

		/* the options of a sequence are arguments of the function */
		appendStringInfo(&query, ", %s => %s", quote_identifier(option->name),
						 quote_literal_cstr(option->value));
	}
	if (clauses->no_skip_range)
		appendStringInfoString(&query, ", no_skip_range => true");
	if (clauses->has_counter)
		appendStringInfo(&query, ", restart_counter_with => '" INT64_FORMAT "'",
						 clauses->counter);
	appendStringInfoChar(&query, ')');
	(void) sk_query_texts(query.data);
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
		create_sequence(parser);
	else if (sk_ddl_accept(parser, "alter sequence"))
		alter_sequence(parser);
	else if (sk_ddl_accept(parser, "drop sequence"))
		drop_sequence(parser);
	else if (!sk_ddl_alter_column(parser) && !alter_database(parser))
	{
		*parser = start;
		sk_ddl_run_table_statement(parser);
	}
}

/* CREATE SEQUENCE [ IF NOT EXISTS ] name [ clause ... ] */
static void
create_sequence(SkDdlParser *parser)
{
	bool		if_not_exists = sk_ddl_accept(parser, "if not exists");
	char	   *name = NameListToQuotedString(sk_ddl_qualified_name(parser));
	SkDdlClauses clauses = {0};
	char	   *label;
	StringInfoData query;

	sk_ddl_parse_clauses(parser, SK_DDL_CREATE_SEQUENCE, name, &clauses);
	sk_ddl_expect_end(parser, "The statement ends here.");

	label = sk_ddl_label(&clauses);
	if (label == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The sequence does not have a valid sequence kind. Please specify the sequence kind explicitly or set the database option `default_sequence_kind`."),
				 errhint("Write BIT_REVERSED_POSITIVE behind the name, or set spanner.default_sequence_kind.")));

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT spanner.create_sequence(%s, kind => %s",
					 quote_literal_cstr(name), quote_literal_cstr(label));
	if (clauses.has_counter)
		appendStringInfo(&query, ", start_with_counter => '" INT64_FORMAT "'",
						 clauses.counter);
	if (if_not_exists)
		appendStringInfoString(&query, ", if_not_exists => true");
	appendStringInfoChar(&query, ')');
	(void) sk_query_texts(query.data);
}

/* ALTER SEQUENCE [ IF EXISTS ] name clause ... */
static void
alter_sequence(SkDdlParser *parser)
{
	bool		missing_ok = sk_ddl_accept(parser, "if exists");
	List	   *names = sk_ddl_qualified_name(parser);
	SkDdlClauses clauses = {0};
	Oid			seqid;

	sk_ddl_parse_clauses(parser, SK_DDL_ALTER_SEQUENCE,
						 NameListToQuotedString(names), &clauses);
	if (clauses.count == 0)
		sk_ddl_syntax_error(parser, "Say what is to be changed.");
	sk_ddl_expect_end(parser, "The statement ends here.");

	seqid = find_sequence(names, missing_ok);
	if (OidIsValid(seqid))
		sk_ddl_alter_sequence(seqid, &clauses);
}

/* DROP SEQUENCE [ IF EXISTS ] name */
static void
drop_sequence(SkDdlParser *parser)
{
	bool		missing_ok = sk_ddl_accept(parser, "if exists");
	List	   *names = sk_ddl_qualified_name(parser);
	Oid			seqid;

	sk_ddl_expect_end(parser, "Spanner drops one sequence at a time, without CASCADE or RESTRICT; run other forms directly.");
	seqid = find_sequence(names, missing_ok);
	if (!OidIsValid(seqid))
		return;
	check_dependent_columns(seqid);
	sk_run_command(psprintf("DROP SEQUENCE %s", sk_qualified_name(seqid)));
}

/* Look up a sequence; InvalidOid if it may be and is missing. */
static Oid
find_sequence(List *names, bool missing_ok)
{
	Oid			seqid = RangeVarGetRelid(makeRangeVarFromNameList(names),
										 NoLock, true);

	if (OidIsValid(seqid) && get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a sequence", get_rel_name(seqid)),
				 errhint("The sequence of a column is told by pg_get_serial_sequence().")));
	if (OidIsValid(seqid))
		return seqid;

	if (!missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("Sequence not found: %s",
						NameListToQuotedString(names)),
				 errhint("Qualify the name with its schema if that is not in the search path.")));
	ereport(NOTICE,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("sequence \"%s\" does not exist, skipping",
					NameListToString(names))));
	return InvalidOid;
}

/* Spanner's error for a sequence that the default of a column draws from. */
static void
check_dependent_columns(Oid seqid)
{
	char	   *column;

	column = query_text(psprintf("SELECT d.adrelid::pg_catalog.regclass::pg_catalog.text"
								 " OPERATOR(pg_catalog.||) '.'"
								 " OPERATOR(pg_catalog.||) pg_catalog.quote_ident(a.attname)"
								 " FROM pg_catalog.pg_depend p"
								 " JOIN pg_catalog.pg_attrdef d ON d.oid OPERATOR(pg_catalog.=) p.objid"
								 " JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid"
								 " AND a.attnum OPERATOR(pg_catalog.=) d.adnum"
								 " WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass"
								 " AND p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"
								 " AND p.refobjid OPERATOR(pg_catalog.=) '%u'"
								 " ORDER BY d.adrelid, d.adnum LIMIT 1",
								 seqid));
	if (column != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("Cannot drop SEQUENCE `%s` on which there is a dependent column: %s.",
						get_rel_name(seqid), column),
				 errhint("Drop the default of the column first.")));
}

/*
 * ALTER DATABASE name SET spanner.default_sequence_kind { TO | = } value, or
 * SET OPTIONS (default_sequence_kind = value).  Returns false for any other.
 */
static bool
alter_database(SkDdlParser *parser)
{
	const char *hint = "An example is ALTER DATABASE db SET spanner.default_sequence_kind = 'bit_reversed_positive'.";
	bool		is_option = false;
	char	   *name;
	char	   *kind;

	if (!sk_ddl_accept(parser, "alter database") || !sk_ddl_at_name(parser))
		return false;
	name = sk_ddl_name(parser);
	if (sk_ddl_accept(parser, "set options"))
	{
		is_option = true;
		sk_ddl_expect_char(parser, '(', hint);
		if (!sk_ddl_accept(parser, "default_sequence_kind"))
			sk_ddl_syntax_error(parser, hint);
		sk_ddl_expect_char(parser, '=', hint);
	}
	else if (!sk_ddl_accept(parser, "set spanner") ||
			 !sk_ddl_accept_char(parser, '.') ||
			 !sk_ddl_accept(parser, "default_sequence_kind"))
		return false;
	else if (!sk_ddl_accept(parser, "to"))
		sk_ddl_expect_char(parser, '=', hint);

	if (!default_kind_value(parser, &kind))
		sk_ddl_syntax_error(parser, hint);
	if (is_option)
		sk_ddl_expect_char(parser, ')', hint);
	sk_ddl_expect_end(parser, hint);

	check_database(name);
	set_default_kind(kind);
	return true;
}

/* Read a kind in quotes, or DEFAULT, for which *kind becomes NULL. */
static bool
default_kind_value(SkDdlParser *parser, char **kind)
{
	*kind = NULL;
	if (sk_ddl_accept(parser, "default") || sk_ddl_accept(parser, "null"))
		return true;
	if (parser->token.type == SK_TOKEN_NUMBER || sk_ddl_at_char(parser, '-'))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The default_sequence_kind option only supports string or null."),
				 errhint("Write the kind in single quotes."),
				 sk_ddl_position(parser, parser->token.start)));
	if (parser->token.type != SK_TOKEN_STRING &&
		parser->token.type != SK_TOKEN_NAME)
		return false;
	*kind = sk_ddl_unquoted(parser);
	sk_ddl_advance(parser);
	return true;
}

/* Raise an error if a name is not that of the current database. */
static void
check_database(const char *name)
{
	char	   *current = get_database_name(MyDatabaseId);

	if (strcmp(name, current) == 0 ||
		(strcmp(name, SK_CLIENT_DATABASE) == 0 &&
		 !OidIsValid(get_database_oid(name, true))))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("database \"%s\" is not the current database", name),
			 errhint("Connect to it, or run ALTER DATABASE directly.")));
}

/* Change the default of the current database, and of this session. */
static void
set_default_kind(const char *kind)
{
	char	   *old;

	old = query_text(psprintf("SELECT c FROM pg_catalog.pg_db_role_setting s,"
							  " pg_catalog.unnest(s.setconfig) c"
							  " WHERE s.setdatabase OPERATOR(pg_catalog.=) '%u'"
							  " AND s.setrole OPERATOR(pg_catalog.=) '0'"
							  " AND c OPERATOR(pg_catalog.~)"
							  " '^spanner\\.default_sequence_kind=.'",
							  MyDatabaseId));
	if (old != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("The default_sequence_kind option may not be unset once set."),
				 errdetail("The database has the setting %s.", old),
				 errhint("Run ALTER DATABASE directly, without execute_ddl, to change it.")));

	sk_run_command(psprintf("ALTER DATABASE %s SET spanner.default_sequence_kind TO %s",
							quote_identifier(get_database_name(MyDatabaseId)),
							kind != NULL ? quote_literal_cstr(kind) : "DEFAULT"));
	if (kind != NULL)
		(void) set_config_option("spanner.default_sequence_kind", kind,
								 PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SET, true, 0, false);
}

/*
 * Run a query.  Returns the text of the first column of its first row, NULL
 * if there is none.
 */
static char *
query_text(const char *query)
{
	List	   *texts = sk_query_texts(query);

	return texts == NIL ? NULL : linitial(texts);
}
