/*-------------------------------------------------------------------------
 *
 * refusals.c
 *	  What Spanner has and PostgreSQL has not, and what takes its place.
 *
 * Such a thing is an error, or execute_ddl() leaves it out if it is asked to.
 * To refuse another one, add a line here.
 *
 * src/spanner_ddl/refusals.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "spanner_ddl/spanner_ddl.h"

#define FUNCTION_HINT "Write it in PostgreSQL's language, and run it directly."
#define PROPERTY_HINT "Query the tables with WITH RECURSIVE."
#define SEARCH_HINT "Use a GIN index on to_tsvector(...)."
#define TABLESPACE_HINT "A tablespace is PostgreSQL's nearest thing to it."
#define UPSERT_HINT "Run PostgreSQL's INSERT ... ON CONFLICT directly."

static const SkRefusal refusals[] = {
	/* how statements begin; * is CREATE, ALTER or DROP */
	{SK_REFUSED_STATEMENT, "create database", "database", "Run PostgreSQL's command directly, or ALTER DATABASE ... SET OPTIONS for the one that you are in."},
	{SK_REFUSED_STATEMENT, "drop database", "database", "Run PostgreSQL's command directly."},
	{SK_REFUSED_STATEMENT, "* function", "function", FUNCTION_HINT},
	{SK_REFUSED_STATEMENT, "* locality group", "locality group", TABLESPACE_HINT},
	{SK_REFUSED_STATEMENT, "* model", "model", "Call models from the application."},
	{SK_REFUSED_STATEMENT, "* or replace function", "function", FUNCTION_HINT},
	{SK_REFUSED_STATEMENT, "* or replace model", "model", "Call models from the application."},
	{SK_REFUSED_STATEMENT, "* or replace property", "property graph", PROPERTY_HINT},
	{SK_REFUSED_STATEMENT, "* placement", "placement", "spanner.create_splits() of extension \"spanner_keys_splits\" puts the rows of a table on several servers."},
	{SK_REFUSED_STATEMENT, "* property", "property graph", PROPERTY_HINT},
	{SK_REFUSED_STATEMENT, "* proto", "protocol buffer", "Use type JSON or BYTES."},
	{SK_REFUSED_STATEMENT, "* role", "role", "Roles belong to the whole server: run CREATE ROLE directly."},
	{SK_REFUSED_STATEMENT, "* search", "search index", SEARCH_HINT},
	{SK_REFUSED_STATEMENT, "* statistics", "package of statistics", "Use PostgreSQL's ANALYZE and CREATE STATISTICS."},
	{SK_REFUSED_STATEMENT, "* vector", "vector index", "Extensions of PostgreSQL have such indexes."},
	{SK_REFUSED_STATEMENT, "alter schema", "change of a schema", "Run PostgreSQL's ALTER SCHEMA directly."},
	{SK_REFUSED_STATEMENT, "grant", "privilege", "Run PostgreSQL's GRANT directly."},
	{SK_REFUSED_STATEMENT, "insert or", "INSERT OR", UPSERT_HINT},
	{SK_REFUSED_STATEMENT, "revoke", "privilege", "Run PostgreSQL's REVOKE directly."},

	/* what clients do with a file */
	{SK_CLIENT_STATEMENT, "abort batch", "ABORT BATCH"},
	{SK_CLIENT_STATEMENT, "run batch", "RUN BATCH"},
	{SK_CLIENT_STATEMENT, "set proto_descriptors", "SET PROTO_DESCRIPTORS"},
	{SK_CLIENT_STATEMENT, "start batch", "START BATCH"},

	/* types */
	{SK_REFUSED_TYPE, "interval", "INTERVAL", "Use a number of seconds, as INT64 or bigint."},
	{SK_REFUSED_TYPE, "struct", "STRUCT", "Use type JSON."},
	{SK_REFUSED_TYPE, "timestamp", "TIMESTAMP", "Use timestamptz."},
	{SK_REFUSED_TYPE, "tokenlist", "TOKENLIST", SEARCH_HINT},

	/* words at which the grammar stops */
	{SK_REFUSED_WORD, "on conflict", "ON CONFLICT", UPSERT_HINT},
	{SK_REFUSED_WORD, "placement key", "PLACEMENT KEY", "Partition the table by this column."},
	{SK_REFUSED_WORD, "then return", "THEN RETURN", "Run PostgreSQL's statement with RETURNING directly."},

	/* options of tables, indexes and columns */
	{SK_REFUSED_OPTION, "columnar_policy", "option \"columnar_policy\"", "Extensions of PostgreSQL store tables by columns."},
	{SK_REFUSED_OPTION, "locality_group", "option \"locality_group\"", TABLESPACE_HINT}
};

/*
 * sk_ddl_refusal
 *		The thing of this type that the statement has at a token; NULL if it is
 *		none of those.
 */
const SkRefusal *
sk_ddl_refusal(SkDdlText *ddl, SkRefusalType type, int token)
{
	for (int i = 0; i < lengthof(refusals); i++)
	{
		if (refusals[i].type == type && sk_ddl_has_words(ddl, token, refusals[i].words))
			return &refusals[i];
	}
	return NULL;
}

/*
 * sk_ddl_has_words
 *		Does the statement have these words at a token?  "*" is for CREATE,
 *		ALTER and DROP.
 */
bool
sk_ddl_has_words(SkDdlText *ddl, int token, const char *words)
{
	for (; *words != '\0'; token++)
	{
		int			length = strcspn(words, " ");
		const char *text;

		if (token < ddl->first || token >= ddl->end || ddl->tokens[token].type != SK_TOKEN_WORD)
			return false;
		text = ddl->tokens[token].text;

		if (*words == '*' ? !SK_DDL_ONE_OF(text, "alter", "create", "drop") :
			strlen(text) != length || strncmp(words, text, length) != 0)
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
 * sk_ddl_refuse_type
 *		Report a type that PostgreSQL has not, or that Spanner has not.
 */
void
sk_ddl_refuse_type(SkDdlText *ddl, int token, const char *name)
{
	/* spanner.tokenlist */
	const SkRefusal *refusal = sk_ddl_refusal(ddl, SK_REFUSED_TYPE, token + (strncmp(name, "spanner.", 8) == 0 ? 2 : 0));
	const char *hint = refusal != NULL ? refusal->hint :
		strchr(name, '.') != NULL ? "Use BYTES or JSON in place of a protocol buffer." : NULL;

	SK_DDL_ERROR(ddl, token, ERRCODE_FEATURE_NOT_SUPPORTED,
				 errmsg("Type <%s> is not supported.", name),
				 hint != NULL ? errhint("%s", hint) : 0);
}

/*
 * sk_ddl_refuse_option
 *		Report an option, of a column if "object" says so.
 */
void
sk_ddl_refuse_option(SkDdlText *ddl, const SkDdlOption *option, const char *object)
{
	const SkRefusal *refusal = sk_ddl_refusal(ddl, SK_REFUSED_OPTION, option->at);

	sk_ddl_refuse(ddl, option->at, psprintf("option \"%s\"%s", option->name, object),
				  refusal != NULL ? refusal->hint : "Leave it out.");
}

/*
 * sk_ddl_fail
 *		Report a token that nothing can have there.
 */
void
sk_ddl_fail(SkDdlText *ddl, int at, const char *hint)
{
	const SkToken *token = &ddl->tokens[at];

	SK_DDL_ERROR(ddl, Min(at, ddl->end), ERRCODE_SYNTAX_ERROR,
				 at >= ddl->end ? errmsg("syntax error at end of input") :
				 errmsg("syntax error at or near \"%.*s\"", token->end - token->start, ddl->sql + token->start),
				 hint != NULL ? errhint("%s", hint) : 0);
}
