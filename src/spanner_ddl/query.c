/*-------------------------------------------------------------------------
 *
 * query.c
 *	  Queries, and expressions that are PostgreSQL's own.
 *
 * In a query of GoogleSQL, what stands between the words of its clauses is
 * names of tables and expressions.
 *
 * src/spanner_ddl/query.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "spanner_ddl/reader.h"

PG_FUNCTION_INFO_V1(spanner_postgresql_expression);

/* Words of a query between its expressions; "=" begins a list of tables. */
static const char *const query_words[] = {
	"select", "distinct", "from=", "where", "group", "by", "having", "order",
	"limit", "offset", "union", "intersect", "except", "all", "asc", "desc",
	"on", "using", "join=", "inner", "left", "right", "full", "cross", "outer",
	"as", "with=", "nulls", "first", "last"
};

static Node *without_regclass(Node *node, void *context);
static const char *token_sql(SkDdlText *ddl, const SkToken *token);
static const char *read_order(SkReader *reader);
static const char *find_word(SkReader *reader);
static void read_word(SkReader *reader, const char *word, StringInfo sql);

/*
 * sk_ddl_query
 *		PostgreSQL's text of a query.
 */
char *
sk_ddl_query(SkDdlText *ddl, SkRange range)
{
	SkReader	reader = {ddl, range.first, range.end, NIL, true};
	char	   *result;

	if (ddl->dialect == SK_POSTGRESQL)
		return sk_ddl_copy_tokens(&reader);
	sk_ddl_check_length(ddl, range);
	reader.variables = sk_ddl_query_variables(ddl, range);
	result = sk_ddl_read_query(&reader);
	if (reader.next < reader.end)
		fail(&reader);
	return result;
}

/* A token as PostgreSQL writes it. */
static const char *
token_sql(SkDdlText *ddl, const SkToken *token)
{
	switch (token->type)
	{
		case SK_TOKEN_NAME:
			return quote_identifier(token->text);
		case SK_TOKEN_STRING:
			return quote_literal_cstr(token->text);
		default:
			return pnstrdup(ddl->sql + token->start, token->end - token->start);
	}
}

/* Behind an expression of ORDER BY: where NULLs are, which are the least in GoogleSQL. */
static const char *
read_order(SkReader *reader)
{
	bool		is_desc = accept(reader, "desc");

	if (!is_desc)
		(void) accept(reader, "asc");
	if (at(reader, "nulls"))
		return is_desc ? " DESC" : "";
	return is_desc ? " DESC NULLS LAST" : " NULLS FIRST";
}

/* Tokens as they are, with blanks where there is something between them. */
char *
sk_ddl_copy_tokens(SkReader *reader)
{
	StringInfoData result;

	initStringInfo(&result);
	for (int i = reader->next; i < reader->end; i++)
	{
		SkToken    *token = &reader->ddl->tokens[i];

		/* a string does not grow together with what is before it */
		if (i > reader->next && (token->start > token[-1].end ||
								 (token->type == SK_TOKEN_STRING &&
								  strcmp(token[-1].text, "(") != 0)))
			appendStringInfoChar(&result, ' ');
		appendStringInfoString(&result, token_sql(reader->ddl, token));
	}
	return result.data;
}

/* The word of a query that comes next; NULL if there is another thing. */
static const char *
find_word(SkReader *reader)
{
	const SkToken *token = peek(reader, 0);

	for (int i = 0; i < lengthof(query_words) && token->type == SK_TOKEN_WORD; i++)
	{
		int			length = strcspn(query_words[i], "=");

		/* LEFT is a function as well */
		if (strncmp(query_words[i], token->text, length) == 0 && token->text[length] == '\0')
			return strcmp(token->text, "left") == 0 && strcmp(token[1].text, "(") == 0 ? NULL :
				query_words[i];
	}
	return NULL;
}

static void
read_word(SkReader *reader, const char *word, StringInfo sql)
{
	const SkToken *next = peek(reader, 1);

	if (strcmp(word, "with=") == 0 && next != NULL && strcmp(next->text, "offset") == 0)
		sk_ddl_refuse(reader->ddl, reader->next, "WITH OFFSET", NULL);
	appendStringInfoString(sql, asc_toupper(word, strcspn(word, "=")));
	reader->next++;
	if (strcmp(word, "as") == 0 && next != NULL &&
		(next->type == SK_TOKEN_WORD || next->type == SK_TOKEN_NAME))
	{
		/* a name, whatever else it may be */
		appendStringInfo(sql, " %s", quote_identifier(next->text));
		reader->next++;
	}
	/* UNION DISTINCT is PostgreSQL's UNION */
	if ((strcmp(word, "union") == 0 || strcmp(word, "intersect") == 0 || strcmp(word, "except") == 0) &&
		!accept(reader, "distinct") && !at(reader, "all"))
		fail(reader);
}

/* A query, up to the parenthesis that ends it. */
char *
sk_ddl_read_query(SkReader *reader)
{
	StringInfoData sql;
	bool		in_tables = false;
	bool		in_order = false;

	check_stack_depth();
	initStringInfo(&sql);
	while (reader->next < reader->end && !at(reader, ")"))
	{
		const char *word = find_word(reader);

		CHECK_FOR_INTERRUPTS();
		if (accept(reader, ","))
		{
			appendStringInfoChar(&sql, ',');
			continue;
		}
		if (sql.len > 0)
			appendStringInfoChar(&sql, ' ');
		if (word != NULL)
		{
			read_word(reader, word, &sql);
			if (strcmp(word, "as") != 0)
				in_tables = strchr(word, '=') != NULL;
			in_order = strcmp(word, "order") == 0 ||
				(in_order && (strcmp(word, "by") == 0 || strcmp(word, "nulls") == 0 ||
							  strcmp(word, "first") == 0 || strcmp(word, "last") == 0));
		}
		else if (at(reader, "*"))
			SK_DDL_ERROR(reader->ddl, reader->next, ERRCODE_FEATURE_NOT_SUPPORTED,
						 errmsg("SELECT * is not allowed in strict name resolution mode"));
		else if (in_tables && at(reader, "("))
			appendStringInfoString(&sql, sk_ddl_read_parentheses(reader).sql);
		else if (accept(reader, "@") && at(reader, "{"))
		{
			/* a hint */
			while (!accept(reader, "}"))
			{
				if (++reader->next >= reader->end)
					fail(reader);
			}
		}
		else if (in_tables && accept(reader, "unnest"))
			appendStringInfo(&sql, "pg_catalog.unnest%s", sk_ddl_read_parentheses(reader).sql);
		else if (in_tables)
			appendStringInfoString(&sql, sk_ddl_read_name(reader).sql);
		else
		{
			appendStringInfoString(&sql, sk_ddl_read_expression(reader).sql);
			if (in_order)
				appendStringInfoString(&sql, read_order(reader));
		}
	}
	return sql.data;
}

/*
 * spanner_internal.postgresql_expression(relation, expression) returns text
 *
 * As PostgreSQL writes it, but for regclass, a type that Spanner has not; NULL
 * with functions and operators that are not PostgreSQL's or ours.
 */
Datum
spanner_postgresql_expression(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char	   *relname = get_rel_name(relid);
	Node	   *node = stringToNode(TextDatumGetCString(PG_GETARG_DATUM(1)));

	if (relname == NULL || sk_ddl_is_foreign(node, NULL))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(deparse_expression(without_regclass(node, NULL),
														deparse_context_for(relname, relid),
														false, false)));
}

/* The sequence of nextval() is a name there, without a cast. */
static Node *
without_regclass(Node *node, void *context)
{
	if (node != NULL && IsA(node, Const) && castNode(Const, node)->consttype == REGCLASSOID &&
		!castNode(Const, node)->constisnull)
		return (Node *) makeConst(UNKNOWNOID, -1, InvalidOid, -2,
								  DirectFunctionCall1(regclassout, castNode(Const, node)->constvalue),
								  false, false);
	return expression_tree_mutator(node, without_regclass, context);
}
