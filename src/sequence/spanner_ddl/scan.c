/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Tokens of SQL text; pure C.
 *
 * The rules are those of PostgreSQL's scanner with
 * standard_conforming_strings on, for a server encoding, in which no byte of
 * a multibyte character looks like ASCII.  GoogleSQL's `name` is added.
 * Operators come out as single characters, since none of more than one
 * matters here.
 *
 * No memory is allocated: a token is a piece of the text.
 *
 * src/sequence/spanner_ddl/scan.c
 *
 *-------------------------------------------------------------------------
 */
#include "sequence/spanner_ddl/scan.h"

/* The text, and how far it has been read. */
typedef struct SkScan
{
	const char *sql;
	size_t		length;
	size_t		pos;
} SkScan;

static bool is_space(char c);
static bool is_digit(char c);
static bool is_word_start(char c);
static bool is_word_char(char c);
static char peek(const SkScan *scan, size_t ahead);
static bool skip_space(SkScan *scan);
static bool skip_block_comment(SkScan *scan);
static bool skip_quoted(SkScan *scan, char quote, bool backslashes);
static bool skip_dollar_quoted(SkScan *scan, bool *is_quoted);
static void skip_number(SkScan *scan);
static const char *scan_token(SkScan *scan, SkTokenType *type);
static const char *scan_name(SkScan *scan);

/*
 * sk_token_next
 *		The first token at or behind byte "pos".
 *
 * A token that is in error reaches from where it begins to the end of the
 * text.
 */
SkToken
sk_token_next(const char *sql, size_t length, size_t pos)
{
	SkScan		scan = {sql, length, pos};
	SkToken		token = {SK_TOKEN_END, 0, 0, NULL};

	if (!skip_space(&scan))
		token.problem = "unterminated /* comment";
	token.start = scan.pos;
	if (token.problem == NULL && scan.pos < scan.length)
		token.problem = scan_token(&scan, &token.type);

	token.end = scan.pos;
	if (token.problem != NULL)
	{
		token.type = SK_TOKEN_ERROR;
		token.end = length;
	}
	return token;
}

/*
 * sk_token_is_word
 *		Is the token this keyword, given in lower case?
 */
bool
sk_token_is_word(const char *sql, const SkToken *token, const char *word,
				 size_t word_length)
{
	if (token->type != SK_TOKEN_WORD ||
		token->end - token->start != word_length)
		return false;

	for (size_t i = 0; i < word_length; i++)
	{
		char		c = sql[token->start + i];

		if (c >= 'A' && c <= 'Z')
			c += 'a' - 'A';
		if (c != word[i])
			return false;
	}
	return true;
}

/*
 * sk_token_unquote
 *		Write what stands between the quotes of a name or string.
 *
 * "out" has room for the token.  Returns the number of bytes written.
 */
size_t
sk_token_unquote(const char *sql, const SkToken *token, char *out)
{
	char		quote = sql[token->start];
	size_t		length = 0;

	for (size_t i = token->start + 1; i < token->end - 1; i++)
	{
		out[length++] = sql[i];
		if (sql[i] == quote)
			i++;
	}
	return length;
}

/*
 * sk_token_is_integer
 *		Does the token consist of digits?
 */
bool
sk_token_is_integer(const char *sql, const SkToken *token)
{
	if (token->type != SK_TOKEN_NUMBER)
		return false;
	for (size_t i = token->start; i < token->end; i++)
	{
		if (!is_digit(sql[i]))
			return false;
	}
	return true;
}

/*
 * sk_token_int64
 *		The value of a token of digits, which stand behind a minus sign if
 *		"negative".  Returns false if it does not fit.
 */
bool
sk_token_int64(const char *sql, const SkToken *token, bool negative,
			   int64_t *value)
{
	int64_t		result = 0;

	for (size_t i = token->start; i < token->end; i++)
	{
		int			digit = sql[i] - '0';

		/* going down holds the smallest number, too */
		if (result < (INT64_MIN + digit) / 10)
			return false;
		result = result * 10 - digit;
	}
	if (!negative && result == INT64_MIN)
		return false;
	*value = negative ? result : -result;
	return true;
}

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		(unsigned char) c >= 0x80;
}

static bool
is_word_char(char c)
{
	return is_word_start(c) || is_digit(c) || c == '$';
}

/* A character ahead of where we are; NUL behind the end of the text. */
static char
peek(const SkScan *scan, size_t ahead)
{
	return ahead < scan->length - scan->pos ? scan->sql[scan->pos + ahead] : '\0';
}

/* Returns false if a comment does not end. */
static bool
skip_space(SkScan *scan)
{
	for (;;)
	{
		if (scan->pos < scan->length && is_space(scan->sql[scan->pos]))
			scan->pos++;
		else if (peek(scan, 0) == '-' && peek(scan, 1) == '-')
		{
			while (scan->pos < scan->length && peek(scan, 0) != '\n' &&
				   peek(scan, 0) != '\r')
				scan->pos++;
		}
		else if (peek(scan, 0) == '/' && peek(scan, 1) == '*')
		{
			if (!skip_block_comment(scan))
				return false;
		}
		else
			return true;
	}
}

/* Comments nest.  One that does not end is not stepped over. */
static bool
skip_block_comment(SkScan *scan)
{
	size_t		start = scan->pos;
	size_t		depth = 0;

	while (scan->pos < scan->length)
	{
		bool		opens = peek(scan, 0) == '/' && peek(scan, 1) == '*';
		bool		closes = peek(scan, 0) == '*' && peek(scan, 1) == '/';

		scan->pos += opens || closes ? 2 : 1;
		if (opens)
			depth++;
		else if (closes && --depth == 0)
			return true;
	}
	scan->pos = start;
	return false;
}

/* Read one token, which is there.  Returns what is wrong with it, or NULL. */
static const char *
scan_token(SkScan *scan, SkTokenType *type)
{
	char		c = peek(scan, 0);
	bool		is_quoted;

	if ((c == 'e' || c == 'E') && peek(scan, 1) == '\'')
	{
		*type = SK_TOKEN_OTHER;
		scan->pos++;
		return skip_quoted(scan, '\'', true) ? NULL : "unterminated quoted string";
	}
	if (is_word_start(c))
	{
		*type = SK_TOKEN_WORD;
		while (scan->pos < scan->length && is_word_char(peek(scan, 0)))
			scan->pos++;
		return NULL;
	}
	if (c == '"' || c == '`')
	{
		*type = SK_TOKEN_NAME;
		return scan_name(scan);
	}
	if (c == '\'')
	{
		*type = SK_TOKEN_STRING;
		return skip_quoted(scan, c, false) ? NULL : "unterminated quoted string";
	}
	if (is_digit(c) || (c == '.' && is_digit(peek(scan, 1))))
	{
		*type = SK_TOKEN_NUMBER;
		skip_number(scan);
		return NULL;
	}
	if (c == '$')
	{
		*type = SK_TOKEN_OTHER;
		if (!skip_dollar_quoted(scan, &is_quoted))
			return "unterminated dollar-quoted string";
		if (is_quoted)
			return NULL;
	}
	*type = SK_TOKEN_CHAR;
	scan->pos++;
	return NULL;
}

/* Step over a quoted name. */
static const char *
scan_name(SkScan *scan)
{
	size_t		start = scan->pos;

	if (!skip_quoted(scan, scan->sql[start], false))
		return "unterminated quoted identifier";
	if (scan->pos == start + 2)
		return "zero-length delimited identifier";
	return NULL;
}

/* Step over quoted text, in which a doubled quote stands for one. */
static bool
skip_quoted(SkScan *scan, char quote, bool backslashes)
{
	scan->pos++;
	while (scan->pos < scan->length)
	{
		char		c = peek(scan, 0);

		if (c == quote && peek(scan, 1) != quote)
		{
			scan->pos++;
			return true;
		}
		if ((c == quote || (c == '\\' && backslashes)) &&
			scan->length - scan->pos > 1)
			scan->pos++;
		scan->pos++;
	}
	return false;
}

/*
 * Step over $tag$text$tag$.  Returns false if it does not end; if there is no
 * such thing, sets *is_quoted to false and stays.
 */
static bool
skip_dollar_quoted(SkScan *scan, bool *is_quoted)
{
	size_t		tag_length = 1;
	size_t		start = scan->pos;

	while (peek(scan, tag_length) != '$' && is_word_char(peek(scan, tag_length)))
		tag_length++;
	*is_quoted = peek(scan, tag_length) == '$' && !is_digit(peek(scan, 1));
	if (!*is_quoted)
		return true;

	tag_length++;
	for (scan->pos += tag_length; scan->length - scan->pos >= tag_length; scan->pos++)
	{
		size_t		same = 0;

		while (same < tag_length &&
			   scan->sql[scan->pos + same] == scan->sql[start + same])
			same++;
		if (same == tag_length)
		{
			scan->pos += tag_length;
			return true;
		}
	}
	return false;
}

/* Numbers of all forms, and junk that is attached to them. */
static void
skip_number(SkScan *scan)
{
	while (scan->pos < scan->length &&
		   (is_word_char(peek(scan, 0)) || peek(scan, 0) == '.'))
		scan->pos++;
}
