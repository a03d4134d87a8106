/*-------------------------------------------------------------------------
 *
 * fuzz_spanner_ddl_scan.c
 *	  Fuzz target: tokens of any text stay within it and make sense.
 *
 * test/fuzz/fuzz_spanner_ddl_scan.c
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/spanner_ddl/scan.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool ok)
{
	if (!ok)
		abort();
}

/* The text between the quotes has no quote that is not doubled. */
static void
check_quoted(const char *sql, const SkToken *token)
{
	size_t		length = token->end - token->start;
	char	   *out = malloc(length);
	size_t		written;
	size_t		quotes = 0;

	check(length >= 2 && sql[token->start] == sql[token->end - 1]);
	written = sk_token_unquote(sql, token, out);
	for (size_t i = 0; i < written; i++)
		quotes += out[i] == sql[token->start];
	check(written + quotes + 2 == length);
	free(out);
}

/* The value of an integer is that of the C library. */
static void
check_integer(const char *sql, const SkToken *token, bool negative)
{
	size_t		length = token->end - token->start;
	char	   *copy = malloc(length + 2);
	int64_t		value = 0;
	bool		fits;

	copy[0] = negative ? '-' : '+';
	memcpy(copy + 1, sql + token->start, length);
	copy[length + 1] = '\0';
	errno = 0;
	fits = sk_token_int64(sql, token, negative, &value);
	check(value == (fits ? strtoll(copy, NULL, 10) : 0));
	if (!fits)
		(void) strtoll(copy, NULL, 10);
	check(fits == (errno == 0));
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* an allocation of its own, so that reading beyond it is seen */
	char	   *sql = malloc(size > 0 ? size : 1);
	size_t		pos = 0;
	SkToken		token;

	if (size > 0)
		memcpy(sql, data, size);
	do
	{
		token = sk_token_next(sql, size, pos);
		check(token.start >= pos && token.start <= token.end && token.end <= size);
		check((token.type == SK_TOKEN_ERROR) == (token.problem != NULL));
		if (token.type == SK_TOKEN_END)
			check(token.start == size);
		else
			check(token.end > token.start);
		if (token.type == SK_TOKEN_CHAR)
			check(token.end == token.start + 1);
		if (token.type == SK_TOKEN_NAME || token.type == SK_TOKEN_STRING)
			check_quoted(sql, &token);
		if (sk_token_is_integer(sql, &token))
		{
			check_integer(sql, &token, false);
			check_integer(sql, &token, true);
		}
		(void) sk_token_is_word(sql, &token, "identity", 8);
		pos = token.end;
	} while (token.type != SK_TOKEN_END);

	free(sql);
	return 0;
}
