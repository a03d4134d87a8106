/*-------------------------------------------------------------------------
 *
 * tokens.c
 *	  The tokens of a text: in which dialect they are, and what they say.
 *
 * A text is in one dialect.  Words and forms that only GoogleSQL has decide,
 * since a string in double quotes is a name in the other dialect.
 *
 * src/spanner_ddl/tokens.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "parser/scansup.h"

#include "spanner_ddl/spanner_ddl.h"

static SkDialect guess_dialect(const char *sql, const SkToken *tokens, int count);
static bool token_is(const char *sql, const SkToken *token, const char *word);
static bool is_common(const char *sql, const SkToken *token);
static void read_token(SkDdlText *ddl, SkToken *token);
static char *read_name(SkDdlText *ddl, const SkToken *token);
static char *read_quoted(SkDdlText *ddl, const SkToken *token);
static char *read_doubled(const char *start, const char *end, char quote);
static char *read_escapes(SkDdlText *ddl, const SkToken *token,
						  const char *start, const char *end, bool is_bytes);
static bool read_code(const char **s, const char *end, bool is_bytes, char *out,
					  int *length);

/* Words of GoogleSQL, in lower case; "(" and "<" have to follow some. */
static const char *const googlesql_words[] = {
	"allow_commit_timestamp", "array<", "auto_increment", "bit_reverse(",
	"bytes(", "countif(", "current_timestamp(", "farm_fingerprint(", "float32",
	"float64", "generate_uuid(", "get_next_sequence_value", "if(", "ifnull(",
	"int64", "new_uuid(", "null_filtered", "options(",
	"pending_commit_timestamp(", "regexp_contains(", "safe_cast(", "storing", "string(", "tokenlist"
};

/* Types of the other dialect, where TIMESTAMP and JSON may be PostgreSQL's. */
static const char *const postgresql_words[] = {
	"bigint", "bigserial", "boolean", "bytea", "character", "int8", "float8",
	"jsonb", "serial", "text", "timestamptz", "varchar"
};

/*
 * sk_ddl_read_tokens
 *		Find out the dialect of a text, if nobody has said it, and split it
 *		into tokens.
 */
void
sk_ddl_read_tokens(SkDdlText *ddl)
{
	ddl->tokens = sk_ddl_scan(ddl->sql, SK_GOOGLESQL, &ddl->count);
	if (!ddl->has_dialect)
		ddl->dialect = guess_dialect(ddl->sql, ddl->tokens, ddl->count);
	if (ddl->dialect == SK_POSTGRESQL)
		ddl->tokens = sk_ddl_scan(ddl->sql, SK_POSTGRESQL, &ddl->count);

	for (int i = 0; i < ddl->count; i++)
		read_token(ddl, &ddl->tokens[i]);
}

static SkDialect
guess_dialect(const char *sql, const SkToken *tokens, int count)
{
	bool		has_type = false;
	bool		has_postgresql = false;
	int			depth = 0;

	for (int i = 0; i < count; i++)
	{
		const SkToken *token = &tokens[i];
		char		c = sql[token->start];

		if (c == '`' || token->type == SK_TOKEN_BYTES)
			return SK_GOOGLESQL;
		depth += c == '(' ? 1 : c == ')' ? -1 : 0;
		if (c == ';')
			depth = 0;
		/* an array without its keyword */
		if (c == '[' && i > 0 && token[-1].type == SK_TOKEN_OPERATOR && strchr(")]", sql[token[-1].start]) == NULL)
			return SK_GOOGLESQL;
		/* after the columns there is only GoogleSQL's key */
		if (c == ')' && depth == 0 && token_is(sql, token + 1, "primary") &&
			token_is(sql, token + 2, "key"))
			return SK_GOOGLESQL;
		if (token->type != SK_TOKEN_WORD)
			continue;
		/* function(SEQUENCE name), CAST(x AS STRING), type AS (expression) */
		if (i > 0 && ((token_is(sql, token, "sequence") && sql[token[-1].start] == '(' &&
					   (token[1].type == SK_TOKEN_WORD || token[1].type == SK_TOKEN_NAME)) ||
					  (token_is(sql, token, "string") && token_is(sql, token - 1, "as")) ||
					  (token_is(sql, token, "as") && sql[token[1].start] == '(' &&
					   is_common(sql, token - 1))))
			return SK_GOOGLESQL;
		for (int j = 0; j < lengthof(googlesql_words); j++)
		{
			const char *word = googlesql_words[j];
			int			length = strcspn(word, "(<");

			/* functions of the other dialect have a schema */
			if (token->end - token->start == length &&
				(i == 0 || sql[token[-1].start] != '.') &&
				pg_strncasecmp(sql + token->start, word, length) == 0 &&
				(word[length] == '\0' || word[length] == sql[token[1].start]))
				return SK_GOOGLESQL;
		}
		for (int j = 0; j < lengthof(postgresql_words); j++)
			has_postgresql |= token_is(sql, token, postgresql_words[j]);
		/* a type, not a name and not TIMESTAMP '...' or with a zone */
		has_type |= i > 0 && token[1].type != SK_TOKEN_STRING &&
			((token_is(sql, token, "timestamp") && !token_is(sql, token + 1, "with")) ||
			 (token_is(sql, token, "json") && token[-1].type != SK_TOKEN_OPERATOR));
	}
	return has_type && !has_postgresql ? SK_GOOGLESQL : SK_POSTGRESQL;
}

/* Is it what may come before AS (expression), and the other dialect has as well? */
static bool
is_common(const char *sql, const SkToken *token)
{
	static const char *const words[] = {"bool", "date", "json", "null", "numeric", "timestamp", "uuid"};
	bool		result = false;

	for (int i = 0; i < lengthof(words); i++)
		result |= token_is(sql, token, words[i]);
	return result;
}

static bool
token_is(const char *sql, const SkToken *token, const char *word)
{
	int			length = strlen(word);

	return token->type == SK_TOKEN_WORD && token->end - token->start == length &&
		pg_strncasecmp(sql + token->start, word, length) == 0;
}

static void
read_token(SkDdlText *ddl, SkToken *token)
{
	const char *start = ddl->sql + token->start;
	int			length = token->end - token->start;

	switch (token->type)
	{
		case SK_TOKEN_WORD:
			token->text = downcase_truncate_identifier(start, length, true);
			break;
		case SK_TOKEN_NAME:
			token->text = read_name(ddl, token);
			break;
		case SK_TOKEN_STRING:
		case SK_TOKEN_BYTES:
			token->text = read_quoted(ddl, token);
			break;
		case SK_TOKEN_BAD:
			ereport(ERROR,
					(errcode(ERRCODE_SYNTAX_ERROR),
					 errmsg("%s at or near \"%.*s\"", token->text, length, start),
					 sk_ddl_at_byte(ddl, token->start)));
			break;
		default:
			token->text = pnstrdup(start, length);
	}
}

/* Names of GoogleSQL are the same in upper and lower case. */
static char *
read_name(SkDdlText *ddl, const SkToken *token)
{
	const char *start = ddl->sql + token->start + 1;
	const char *end = ddl->sql + token->end - 1;
	char	   *result = ddl->dialect == SK_GOOGLESQL ?
		read_escapes(ddl, token, start, end, false) : read_doubled(start, end, '"');

	if (ddl->dialect == SK_GOOGLESQL)
		result = downcase_identifier(result, strlen(result), false, false);
	truncate_identifier(result, strlen(result), true);
	return result;
}

/* A string of any form; of bytes in hexadecimal. */
static char *
read_quoted(SkDdlText *ddl, const SkToken *token)
{
	const char *start = ddl->sql + token->start;
	const char *end = ddl->sql + token->end;
	bool		is_raw = false;
	int			quotes = 1;

	if (*start == '$')
	{
		int			tag = strchr(start + 1, '$') - start + 1;

		return pnstrdup(start + tag, end - start - 2 * tag);
	}
	if (ddl->dialect == SK_POSTGRESQL && *start == '\'')
		return read_doubled(start + 1, end - 1, '\'');
	for (; *start != '\'' && *start != '"'; start++)
		is_raw |= *start == 'r' || *start == 'R';
	if (ddl->dialect == SK_GOOGLESQL && end - start >= 6 &&
		start[1] == *start && start[2] == *start)
		quotes = 3;
	start += quotes;
	end -= quotes;
	if (is_raw && token->type == SK_TOKEN_STRING)
		return pnstrdup(start, end - start);
	if (is_raw)
	{
		char	   *hex = palloc(2 * (end - start) + 1);

		for (int i = 0; i < end - start; i++)
			sprintf(hex + 2 * i, "%02x", (unsigned char) start[i]);
		hex[2 * (end - start)] = '\0';
		return hex;
	}
	return read_escapes(ddl, token, start, end, token->type == SK_TOKEN_BYTES);
}

/* What is between quotes, which are doubled within. */
static char *
read_doubled(const char *start, const char *end, char quote)
{
	char	   *result = palloc(end - start + 1);
	char	   *out = result;

	for (const char *s = start; s < end; s++)
	{
		if (*s == quote && s + 1 < end)
			s++;
		*out++ = *s;
	}
	*out = '\0';
	return result;
}

/* What is between quotes, with escapes of C. */
static char *
read_escapes(SkDdlText *ddl, const SkToken *token, const char *start,
			 const char *end, bool is_bytes)
{
	StringInfoData buffer;

	initStringInfo(&buffer);
	for (const char *s = start; s < end;)
	{
		char		code[MAX_MULTIBYTE_CHAR_LEN + 1];
		int			length = 1;

		/* quotes that are doubled */
		if ((*s == '\'' && ddl->dialect == SK_POSTGRESQL) || (*s == '`' && token->type == SK_TOKEN_NAME))
			s++;
		code[0] = *s++;
		if (code[0] == '\\' && !read_code(&s, end, is_bytes, code, &length))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_ESCAPE_SEQUENCE),
					 errmsg("invalid escape sequence"),
					 sk_ddl_at_byte(ddl, token->start)));
		for (int i = 0; i < length; i++)
		{
			if (is_bytes)
				appendStringInfo(&buffer, "%02x", (unsigned char) code[i]);
			else
				appendStringInfoChar(&buffer, code[i]);
		}
	}
	if (!is_bytes)
		(void) pg_verifymbstr(buffer.data, buffer.len, false);
	return buffer.data;
}

/* Read what follows a backslash; returns false if that is no escape. */
static bool
read_code(const char **s, const char *end, bool is_bytes, char *out, int *length)
{
	static const char from[] = "abfnrtv";
	static const char to[] = "\a\b\f\n\r\t\v";
	char		c = **s;
	const char *found;
	int			digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
	char		number[9] = {0};
	char	   *rest;
	unsigned long value;

	if (digits == 0 && (c < '0' || c > '3'))
	{
		(*s)++;
		found = strchr(from, c);
		*out = found != NULL ? to[found - from] : c;
		return strchr("abfnrtv\\?\"'`", c) != NULL;
	}
	if (digits > 0)
		(*s)++;
	if (end - *s < (digits > 0 ? digits : 3))
		return false;
	memcpy(number, *s, digits > 0 ? digits : 3);
	*s += digits > 0 ? digits : 3;
	value = strtoul(number, &rest, digits > 0 ? 16 : 8);
	if (*rest != '\0' || value == 0 || (digits > 2 && is_bytes))
		return is_bytes && value == 0 && *rest == '\0' ? (*out = '\0', true) : false;
	if (is_bytes)
	{
		*out = (char) value;
		return true;
	}
	if (!is_valid_unicode_codepoint(value))
		return false;
	pg_unicode_to_server(value, (unsigned char *) out);
	*length = strlen(out);
	return true;
}
