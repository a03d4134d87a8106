/*-------------------------------------------------------------------------
 *
 * database.c
 *	  Spanner's DDL for databases: the default kind of sequences.
 *
 * ALTER DATABASE is for the database that the session is in.  Spanner's
 * clients call it "db" whatever its name is, so this name is taken for the
 * current one unless there is a database of that name.  As in Spanner, the
 * session uses the new default at once, and the option is set only once.
 *
 * src/sequence/spanner_ddl/database.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/spanner_ddl/statements.h"
#include "spi/run_command.h"


/* What Spanner's clients call a database whatever its name is. */
#define SK_CLIENT_DATABASE "db"

static bool default_kind_value(SkDdlParser *parser, char **kind);
static void check_database(const char *name);
static void set_default_kind(const char *kind);

/*
 * sk_ddl_alter_database
 *		Set the default kind of a database.
 *
 * ALTER DATABASE name SET spanner.default_sequence_kind { TO | = } value, or
 * SET OPTIONS (default_sequence_kind = value).  Returns false for any other.
 */
bool
sk_ddl_alter_database(SkDdlParser *parser)
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
	if (parser->token->type == SK_TOKEN_NUMBER || sk_ddl_at_char(parser, '-'))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The default_sequence_kind option only supports string or null."),
				 errhint("Write the kind in single quotes."),
				 sk_ddl_position(parser, parser->token->start)));
	if (parser->token->type != SK_TOKEN_STRING &&
		parser->token->type != SK_TOKEN_NAME)
		return false;
	*kind = parser->token->text;
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

	old = sk_query_text(psprintf("SELECT c FROM pg_catalog.pg_db_role_setting s,"
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
