/*-------------------------------------------------------------------------
 *
 * parser.c
 *	  Reading statements of Spanner's DDL, token by token.
 *
 * What every statement is made of: keywords, names, numbers, and the errors
 * where something else is found.
 *
 * src/sequence/spanner_ddl/parser.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/keywords.h"
#include "mb/pg_wchar.h"
#include "nodes/value.h"

#include "sequence/spanner_ddl/parser.h"

static bool is_char(const SkToken *token, const char *sql, char c);
static char *label_name(SkDdlParser *parser);

/*
 * sk_ddl_start
 *		Go to the first token of a text, which must be one statement.
 *
 * A semicolon ends the statement and may be left out.
 */
void
sk_ddl_start(SkDdlParser *parser)
{
	parser->token = sk_scan_tokens(parser->sql);
	for (const SkToken *token = parser->token; token->type != SK_TOKEN_END; token++)
	{
		if (is_char(token, parser->sql, ';') && token[1].type != SK_TOKEN_END)
			ereport(ERROR,
					(errcode(ERRCODE_SYNTAX_ERROR),
					 errmsg("cannot run more than one statement at a time"),
					 errhint("Call execute_ddl once for each statement."),
					 sk_ddl_position(parser, token[1].start)));
	}
	if (sk_ddl_at_end(parser))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("statement is empty")));
}

/*
 * sk_ddl_advance
 *		Go to the next token.
 */
void
sk_ddl_advance(SkDdlParser *parser)
{
	parser->token++;
}

/*
 * sk_ddl_at_end
 *		Has the whole statement been read?
 */
bool
sk_ddl_at_end(const SkDdlParser *parser)
{
	return parser->token->type == SK_TOKEN_END || sk_ddl_at_char(parser, ';');
}

/*
 * sk_ddl_expect_end
 *		Raise an error if the statement goes on.
 */
void
sk_ddl_expect_end(SkDdlParser *parser, const char *hint)
{
	if (!sk_ddl_at_end(parser))
		sk_ddl_syntax_error(parser, hint);
}

/*
 * sk_ddl_at_char
 *		Does this character come next, which is none of a word?
 */
bool
sk_ddl_at_char(const SkDdlParser *parser, char c)
{
	return is_char(parser->token, parser->sql, c);
}

/*
 * sk_ddl_accept_char
 *		Step over a character if it comes next.
 */
bool
sk_ddl_accept_char(SkDdlParser *parser, char c)
{
	if (!sk_ddl_at_char(parser, c))
		return false;
	sk_ddl_advance(parser);
	return true;
}

/*
 * sk_ddl_expect_char
 *		Step over a character, which must come next.
 */
void
sk_ddl_expect_char(SkDdlParser *parser, char c, const char *hint)
{
	if (!sk_ddl_accept_char(parser, c))
		sk_ddl_syntax_error(parser, hint);
}

/*
 * sk_ddl_accept
 *		Step over keywords if all of them come next.
 *
 * "words" are in lower case and separated by single blanks.
 */
bool
sk_ddl_accept(SkDdlParser *parser, const char *words)
{
	const SkToken *first = parser->token;

	while (*words != '\0')
	{
		size_t		length = strcspn(words, " ");

		if (parser->token->type != SK_TOKEN_WORD ||
			strlen(parser->token->text) != length ||
			strncmp(parser->token->text, words, length) != 0)
		{
			parser->token = first;
			return false;
		}
		sk_ddl_advance(parser);
		words += length;
		if (*words == ' ')
			words++;
	}
	return true;
}

/*
 * sk_ddl_word
 *		The name that a token without quotes stands for; NULL for any other.
 */
char *
sk_ddl_word(const SkDdlParser *parser)
{
	return parser->token->type == SK_TOKEN_WORD ? parser->token->text : NULL;
}

/*
 * sk_ddl_name
 *		Read the name of an object.
 *
 * As in PostgreSQL, reserved keywords need quotes.
 */
char *
sk_ddl_name(SkDdlParser *parser)
{
	if (parser->token->type == SK_TOKEN_WORD && !sk_ddl_at_name(parser))
		sk_ddl_syntax_error(parser, "Quote names that are keywords.");
	return label_name(parser);
}

/*
 * sk_ddl_at_name
 *		Does the name of an object come next?
 */
bool
sk_ddl_at_name(const SkDdlParser *parser)
{
	const SkToken *token = parser->token;
	int			keyword;

	if (token->type != SK_TOKEN_WORD)
		return token->type == SK_TOKEN_NAME;
	keyword = ScanKeywordLookup(token->text, &ScanKeywords);
	return keyword < 0 ||
		ScanKeywordCategories[keyword] == UNRESERVED_KEYWORD ||
		ScanKeywordCategories[keyword] == COL_NAME_KEYWORD;
}

/*
 * sk_ddl_qualified_name
 *		Read a name with its schema, as a list of strings.
 */
List *
sk_ddl_qualified_name(SkDdlParser *parser)
{
	List	   *names = list_make1(makeString(sk_ddl_name(parser)));

	while (sk_ddl_accept_char(parser, '.'))
		names = lappend(names, makeString(label_name(parser)));
	return names;
}

/*
 * sk_ddl_integer
 *		Read a number, which may have a sign.
 */
int64
sk_ddl_integer(SkDdlParser *parser)
{
	int			start = parser->token->start;
	const char *sign = "";
	int			length;
	int64		value;

	if (sk_ddl_accept_char(parser, '-'))
		sign = "-";
	else
		(void) sk_ddl_accept_char(parser, '+');
	length = parser->token->end - parser->token->start;
	if (parser->token->type != SK_TOKEN_NUMBER ||
		strspn(parser->sql + parser->token->start, "0123456789") < length)
		sk_ddl_syntax_error(parser, "An integer is expected here.");
	errno = 0;
	value = strtoll(psprintf("%s%.*s", sign, length,
							 parser->sql + parser->token->start), NULL, 10);
	if (errno == ERANGE)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("number is out of range for type bigint"),
				 sk_ddl_position(parser, start)));
	sk_ddl_advance(parser);
	return value;
}

/*
 * sk_ddl_syntax_error
 *		Report that the next token is not what may stand here.
 */
void
sk_ddl_syntax_error(const SkDdlParser *parser, const char *hint)
{
	const char *near = parser->sql + parser->token->start;
	int			length = parser->token->end - parser->token->start;

	if (parser->token->type == SK_TOKEN_END)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("syntax error at end of input"),
				 errhint("%s", hint),
				 sk_ddl_position(parser, parser->token->start)));
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("syntax error at or near \"%s\"",
					pnstrdup(near, pg_mbcliplen(near, length, NAMEDATALEN))),
			 errhint("%s", hint),
			 sk_ddl_position(parser, parser->token->start)));
}

/*
 * sk_ddl_position
 *		The error position of a byte of the text, for use in ereport().
 */
int
sk_ddl_position(const SkDdlParser *parser, int offset)
{
	return errposition(pg_mbstrlen_with_len(parser->sql, offset) + 1);
}

static bool
is_char(const SkToken *token, const char *sql, char c)
{
	return token->type == SK_TOKEN_CHAR && sql[token->start] == c;
}

/* Any name, keywords included. */
static char *
label_name(SkDdlParser *parser)
{
	char	   *name = parser->token->text;

	if (parser->token->type != SK_TOKEN_WORD &&
		parser->token->type != SK_TOKEN_NAME)
		sk_ddl_syntax_error(parser, "A name is expected here.");
	sk_ddl_advance(parser);
	return name;
}
