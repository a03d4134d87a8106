/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  Reading expressions token by token.
 *
 * src/spanner_ddl/reader.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_READER_H
#define SK_DDL_READER_H

#include "utils/formatting.h"

#include "spanner_ddl/spanner_ddl.h"

/* The tokens that are left. */
typedef struct SkReader
{
	SkDdlText  *ddl;
	int			next;
	int			end;
	List	   *variables;		/* NIL: names are not checked */
	bool		is_query;
} SkReader;

/* What an expression becomes. */
typedef struct SkExpr
{
	char	   *sql;
	SkType		type;
	bool		is_primary;		/* needs no parentheses as an operand */
	bool		is_small;		/* INT64 that PostgreSQL has as integer, or
								 * NULL */
	bool		is_literal;		/* a number, or an array */
	const char *text;			/* of a literal number or string; else NULL */
} SkExpr;

/* expression.c */
extern void sk_ddl_check_length(SkDdlText *ddl, SkRange range);
extern SkExpr sk_ddl_read_expression(SkReader *reader);
extern SkExpr sk_ddl_read_unary(SkReader *reader);
extern SkExpr sk_ddl_read_parentheses(SkReader *reader);
extern SkExpr sk_ddl_read_list(SkReader *reader);
extern SkExpr sk_ddl_read_name(SkReader *reader);
extern SkType sk_ddl_match_types(List *operands, bool *is_small);

/* literals.c */
extern SkExpr sk_ddl_read_number(SkReader *reader);
extern bool sk_ddl_read_typed_literal(SkReader *reader, SkExpr *result);
extern SkExpr sk_ddl_read_interval(SkReader *reader);
extern SkExpr sk_ddl_read_array(SkReader *reader);

/* functions.c */
extern SkExpr sk_ddl_read_call(SkReader *reader);
extern SkExpr sk_ddl_read_regex(SkReader *reader);
extern const char *sk_ddl_zone(SkReader *reader, int place, const SkExpr *zone);
extern const char *sk_ddl_named_zone(SkReader *reader, int place, const char *name);
extern char *sk_ddl_fill_template(const char *sql, const SkExpr *arguments, int count);

/* query.c */
extern char *sk_ddl_read_query(SkReader *reader);
extern char *sk_ddl_copy_tokens(SkReader *reader);

static inline SkExpr
make_expr(char *sql, SkType type, bool is_primary)
{
	SkExpr		result = {.sql = sql,.type = type,.is_primary = is_primary};

	return result;
}

static inline char *
upper_case(const char *word)
{
	return asc_toupper(word, strlen(word));
}

/* A token that comes; NULL after the last one. */
static inline const SkToken *
peek(SkReader *reader, int ahead)
{
	return reader->next + ahead < reader->end ?
		&reader->ddl->tokens[reader->next + ahead] : NULL;
}

static inline bool
at(SkReader *reader, const char *word)
{
	const SkToken *token = peek(reader, 0);

	return token != NULL && strcmp(token->text, word) == 0 &&
		(token->type == SK_TOKEN_WORD || token->type == SK_TOKEN_OPERATOR);
}

static inline bool
accept(SkReader *reader, const char *word)
{
	if (!at(reader, word))
		return false;
	reader->next++;
	return true;
}

/* Report a token that is not expected. */
pg_noreturn static inline void
fail(SkReader *reader)
{
	const SkToken *token = &reader->ddl->tokens[reader->next];

	SK_DDL_ERROR(reader->ddl, reader->next, ERRCODE_SYNTAX_ERROR,
				 reader->next < reader->ddl->end ?
				 errmsg("syntax error at or near \"%.*s\"", token->end - token->start,
						reader->ddl->sql + token->start) :
				 errmsg("syntax error at end of input"));
}

static inline void
expect(SkReader *reader, const char *word)
{
	if (!accept(reader, word))
		fail(reader);
}

#endif							/* SK_DDL_READER_H */
