/*-------------------------------------------------------------------------
 *
 * parser.c
 *	  Reading statements of Spanner's DDL, token by token.
 *
 * What every statement is made of: keywords, names, numbers, and the errors
 * where something else is found.
 *
 * The tokens are from PostgreSQL's own scanner.  GoogleSQL's `name` is added.
 * Operators come out as single characters, since none of more than one
 * matters here.
 *
 * src/sequence/spanner_ddl/parser.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/keywords.h"
#include "mb/pg_wchar.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"
#include "parser/scanner.h"
#include "parser/scansup.h"

#include "sequence/spanner_ddl/parser.h"

/*
 * What the scanner returns.  These stand first in PostgreSQL's grammar, as in
 * that of PL/pgSQL, so that no keyword moves them.
 */
enum
{
	CORE_IDENT = 258,
	CORE_UIDENT,
	CORE_FCONST,
	CORE_SCONST,
	CORE_USCONST,
	CORE_BCONST,
	CORE_XCONST,
	CORE_OP,
	CORE_ICONST
};

/* A scanner over the statement, and the tokens so far. */
typedef struct SkScan
{
	const char *sql;
	core_yyscan_t scanner;
	core_yy_extra_type extra;
	uint16	   *keywords;
	SkToken    *tokens;
	int			count;
	int			room;
} SkScan;

static SkToken *scan_tokens(const char *sql);
static void start_scanner(SkScan *scan, int from);
static void add_token(SkScan *scan, SkTokenType type, int start, int end,
					  char *text);
static SkTokenType token_type(const SkScan *scan, int core, int start);
static bool add_operator(SkScan *scan, int start, int end);
static void add_quoted_name(SkScan *scan, int start);
static bool is_char(const SkToken *token, const char *sql, char c);
static char *label_name(SkDdlParser *parser);

/*
 * All tokens of a statement; the last one is of type SK_TOKEN_END.  Raises the
 * scanner's errors.
 */
static SkToken *
scan_tokens(const char *sql)
{
	SkScan		scan = {.sql = sql};
	core_YYSTYPE value;
	YYLTYPE		start;
	int			core;

	/* a keyword is a word like any other */
	scan.keywords = palloc(sizeof(uint16) * ScanKeywords.num_keywords);
	for (int i = 0; i < ScanKeywords.num_keywords; i++)
		scan.keywords[i] = CORE_IDENT;

	start_scanner(&scan, 0);
	while ((core = core_yylex(&value, &start, scan.scanner)) != 0)
	{
		/* the scanner ends its buffer behind the token */
		int			end = start + (int) strlen(scan.extra.scanbuf + start);
		SkTokenType type = token_type(&scan, core, start);

		if (core == CORE_OP)
		{
			if (add_operator(&scan, start, end))
				continue;
			start_scanner(&scan, scan.tokens[scan.count - 1].end);
		}
		else
			add_token(&scan, type, start, end,
					  type == SK_TOKEN_WORD || type == SK_TOKEN_NAME ||
					  type == SK_TOKEN_STRING ? pstrdup(value.str) : NULL);
	}
	add_token(&scan, SK_TOKEN_END, start, start, NULL);
	scanner_finish(scan.scanner);
	return scan.tokens;
}

/* Begin at a byte of the text.  Blanks before it keep the positions. */
static void
start_scanner(SkScan *scan, int from)
{
	char	   *text = pstrdup(scan->sql);

	memset(text, ' ', from);
	if (scan->scanner != NULL)
		scanner_finish(scan->scanner);
	scan->scanner = scanner_init(text, &scan->extra, &ScanKeywords,
								 scan->keywords);
}

static void
add_token(SkScan *scan, SkTokenType type, int start, int end, char *text)
{
	SkToken    *token;

	if (scan->count == scan->room)
	{
		scan->room = Max(64, 2 * scan->room);
		scan->tokens = scan->tokens == NULL ?
			palloc(sizeof(SkToken) * scan->room) :
			repalloc(scan->tokens, sizeof(SkToken) * scan->room);
	}
	token = &scan->tokens[scan->count++];
	token->type = type;
	token->start = start;
	token->end = end;
	token->text = text;
}

static SkTokenType
token_type(const SkScan *scan, int core, int start)
{
	switch (core)
	{
		case CORE_IDENT:
			return scan->sql[start] == '"' ? SK_TOKEN_NAME : SK_TOKEN_WORD;
		case CORE_SCONST:
			return scan->sql[start] == '\'' ? SK_TOKEN_STRING : SK_TOKEN_OTHER;
		case CORE_ICONST:
		case CORE_FCONST:
			return SK_TOKEN_NUMBER;
		default:
			return core < CORE_IDENT ? SK_TOKEN_CHAR : SK_TOKEN_OTHER;
	}
}

/*
 * Take an operator apart.  Returns false if there was a `name`, behind which
 * the scanner has to begin anew.
 */
static bool
add_operator(SkScan *scan, int start, int end)
{
	for (int i = start; i < end; i++)
	{
		if (scan->sql[i] == '`')
		{
			add_quoted_name(scan, i);
			return false;
		}
		add_token(scan, SK_TOKEN_CHAR, i, i + 1, NULL);
	}
	return true;
}

/* A doubled quote stands for one. */
static void
add_quoted_name(SkScan *scan, int start)
{
	const char *sql = scan->sql;
	char	   *name = palloc(strlen(sql + start));
	int			length = 0;
	int			end = start + 1;

	while (sql[end] != '\0' && (sql[end] != '`' || sql[end + 1] == '`'))
	{
		name[length++] = sql[end];
		end += sql[end] == '`' ? 2 : 1;
	}
	name[length] = '\0';
	if (sql[end] == '\0' || length == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg(length == 0 ? "zero-length delimited identifier" :
						"unterminated quoted identifier"),
				 errhint("A name begins and ends with a backtick, or with a double quote."),
				 errposition(pg_mbstrlen_with_len(sql, start) + 1)));
	truncate_identifier(name, length, true);
	add_token(scan, SK_TOKEN_NAME, start, end + 1, name);
}

/*
 * sk_ddl_start
 *		Go to the first token of a text, which must be one statement.
 *
 * A semicolon ends the statement and may be left out.
 */
void
sk_ddl_start(SkDdlParser *parser)
{
	parser->token = scan_tokens(parser->sql);
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
 *		Does this character come next? Words have none like it.
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
