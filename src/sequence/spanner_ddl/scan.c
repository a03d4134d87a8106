/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Tokens of a statement, from PostgreSQL's own scanner.
 *
 * GoogleSQL's `name` is added.  Operators come out as single characters, since
 * none of more than one matters here.
 *
 * src/sequence/spanner_ddl/scan.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/keywords.h"
#include "mb/pg_wchar.h"
#include "nodes/pg_list.h"
#include "parser/scanner.h"
#include "parser/scansup.h"

#include "sequence/spanner_ddl/scan.h"

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

static void start_scanner(SkScan *scan, int from);
static void add_token(SkScan *scan, SkTokenType type, int start, int end,
					  char *text);
static SkTokenType token_type(const SkScan *scan, int core, int start);
static bool add_operator(SkScan *scan, int start, int end);
static void add_quoted_name(SkScan *scan, int start);

/*
 * sk_scan_tokens
 *		All tokens of a statement; the last one is of type SK_TOKEN_END.
 *
 * Raises the scanner's errors.
 */
SkToken *
sk_scan_tokens(const char *sql)
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
