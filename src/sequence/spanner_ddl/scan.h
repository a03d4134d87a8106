/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  Tokens of a statement, from PostgreSQL's own scanner.
 *
 * src/sequence/spanner_ddl/scan.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_SCAN_H
#define SK_DDL_SCAN_H

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

extern SkToken *sk_scan_tokens(const char *sql);

#endif							/* SK_DDL_SCAN_H */
