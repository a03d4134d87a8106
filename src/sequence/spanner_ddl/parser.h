/*-------------------------------------------------------------------------
 *
 * parser.h
 *	  Reading statements of Spanner's DDL, token by token.
 *
 * src/sequence/spanner_ddl/parser.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_PARSER_H
#define SK_DDL_PARSER_H

#include "nodes/pg_list.h"

#include "compat.h"

typedef enum SkTokenType
{
	SK_TOKEN_END,				/* no more of them */
	SK_TOKEN_WORD,				/* keyword or name without quotes */
	SK_TOKEN_NAME,				/* "name" or `name` */
	SK_TOKEN_STRING,			/* 'text' */
	SK_TOKEN_NUMBER,
	SK_TOKEN_CHAR,				/* any other character */
	SK_TOKEN_OTHER				/* E'text', $$text$$: not of Spanner's DDL */
} SkTokenType;

/* A token is bytes [start, end) of the statement. */
typedef struct SkToken
{
	SkTokenType type;
	int			start;
	int			end;
	char	   *text;			/* a word folded, a name or string unquoted */
} SkToken;

/* A statement, and the token that comes next.  To go back, copy it. */
typedef struct SkDdlParser
{
	const char *sql;
	const SkToken *token;
	const char *hint;			/* for errors of PostgreSQL's own parser */
} SkDdlParser;

extern void sk_ddl_start(SkDdlParser *parser);
extern void sk_ddl_advance(SkDdlParser *parser);
extern bool sk_ddl_at_end(const SkDdlParser *parser);
extern void sk_ddl_expect_end(SkDdlParser *parser, const char *hint);
extern bool sk_ddl_at_char(const SkDdlParser *parser, char c);
extern bool sk_ddl_accept_char(SkDdlParser *parser, char c);
extern void sk_ddl_expect_char(SkDdlParser *parser, char c, const char *hint);
extern bool sk_ddl_accept(SkDdlParser *parser, const char *words);
extern char *sk_ddl_word(const SkDdlParser *parser);
extern bool sk_ddl_at_name(const SkDdlParser *parser);
extern char *sk_ddl_name(SkDdlParser *parser);
extern List *sk_ddl_qualified_name(SkDdlParser *parser);
extern int64 sk_ddl_integer(SkDdlParser *parser);
pg_noreturn extern void sk_ddl_syntax_error(const SkDdlParser *parser,
											const char *hint);
extern int	sk_ddl_position(const SkDdlParser *parser, int offset);

#endif							/* SK_DDL_PARSER_H */
