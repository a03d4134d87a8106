/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  Tokens of SQL text; pure C.
 *
 * src/sequence/spanner_ddl/scan.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_SCAN_H
#define SK_DDL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum SkTokenType
{
	SK_TOKEN_END,				/* no more of them */
	SK_TOKEN_WORD,				/* keyword or name without quotes */
	SK_TOKEN_NAME,				/* "name" or `name` */
	SK_TOKEN_STRING,			/* 'text' */
	SK_TOKEN_NUMBER,
	SK_TOKEN_CHAR,				/* any other character */
	SK_TOKEN_OTHER,				/* E'text', $$text$$: not of Spanner's DDL */
	SK_TOKEN_ERROR
} SkTokenType;

/* A token is bytes [start, end) of the text. */
typedef struct SkToken
{
	SkTokenType type;
	size_t		start;
	size_t		end;
	const char *problem;		/* what is wrong with SK_TOKEN_ERROR */
} SkToken;

extern SkToken sk_token_next(const char *sql, size_t length, size_t pos);
extern bool sk_token_is_word(const char *sql, const SkToken *token,
							 const char *word, size_t word_length);
extern size_t sk_token_unquote(const char *sql, const SkToken *token,
							   char *out);
extern bool sk_token_is_integer(const char *sql, const SkToken *token);
extern bool sk_token_int64(const char *sql, const SkToken *token,
						   bool negative, int64_t *value);

#endif							/* SK_DDL_SCAN_H */
