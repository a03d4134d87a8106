/*-------------------------------------------------------------------------
 *
 * clauses.c
 *	  The clauses that Spanner's DDL has for sequences and identity columns.
 *
 *		clause	:= kind [ "(" name "=" value { "," name "=" value } ")" ]
 *				 | SKIP RANGE n [ "," ] n | NO SKIP RANGE
 *				 | START COUNTER [ WITH ] n | RESTART COUNTER [ WITH ] n
 *				 | NO MINVALUE | NO MAXVALUE | NO CYCLE | OWNED BY NONE
 *		options := OPTIONS "(" name "=" value { "," name "=" value } ")"
 *
 * Which of them may stand where, and the errors, are as in Spanner; kinds
 * other than bit_reversed_positive and the options "bits" and "stripes" are
 * ours.  In a sequence the last of equal clauses counts.
 *
 * src/sequence/spanner_ddl/clauses.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "sequence/access_method.h"
#include "sequence/default_kind.h"
#include "sequence/label.h"
#include "sequence/registry.h"
#include "sequence/spanner_ddl/clauses.h"

/* A clause that PostgreSQL has and Spanner refuses. */
typedef struct SkCoreClause
{
	const char *words;
	const char *name;			/* in Spanner's error */
} SkCoreClause;

static const SkCoreClause core_clauses[] = {
	{"as", "as"},
	{"cache", "cache"},
	{"increment", "increment"},
	{"maxvalue", "MAXVALUE"},
	{"minvalue", "MINVALUE"},
	{"restart", "restart"},
	{"sequence name", "sequence_name"},
	{"start", "start"},
};

static void parse_skip_range(SkDdlParser *parser, SkDdlPlace place,
							 SkDdlClauses *clauses);
static bool has_skip_range(const SkDdlClauses *clauses);
static void parse_counter(SkDdlParser *parser, SkDdlPlace place,
						  SkDdlClauses *clauses);
static bool parse_limits(SkDdlParser *parser, SkDdlPlace place,
						 SkDdlClauses *clauses);
static bool parse_kind(SkDdlParser *parser, SkDdlPlace place,
					   SkDdlClauses *clauses);
static void parse_kind_options(SkDdlParser *parser, SkDdlClauses *clauses);
static void parse_options(SkDdlParser *parser, SkDdlClauses *clauses);
static bool parse_option(SkDdlParser *parser, const char *name,
						 SkDdlClauses *clauses);
static void take_kind(const char *kind, SkDdlClauses *clauses);
static void set_option(SkDdlClauses *clauses, const char *name,
					   const char *value);
static const char *place_name(SkDdlPlace place);
pg_noreturn static void refuse_twice(const SkDdlParser *parser, int start,
									 const char *what);
pg_noreturn static void refuse_clause(const SkDdlParser *parser, int start,
									  const char *name, SkDdlPlace place);
pg_noreturn static void refuse_core_clause(SkDdlParser *parser, SkDdlPlace place);

/*
 * sk_ddl_parse_clauses
 *		Read clauses up to the end of the statement or a parenthesis.
 *
 * "object" is what they describe, as Spanner's errors name it.
 */
void
sk_ddl_parse_clauses(SkDdlParser *parser, SkDdlPlace place,
					 const char *object, SkDdlClauses *clauses)
{
	bool		has_options = false;

	while (!sk_ddl_at_end(parser) && !sk_ddl_at_char(parser, ')'))
	{
		int			start = parser->token->start;
		bool		is_options = false;

		if (place == SK_DDL_CREATE_SEQUENCE)
			is_options = sk_ddl_accept(parser, "options");
		else if (place == SK_DDL_ALTER_SEQUENCE)
			is_options = sk_ddl_accept(parser, "set options");

		if (has_options || (is_options && clauses->count > 0))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("The sequence properties can only be set in either clauses and options for the sequence %s",
							object),
					 errhint("Write all of them as options, or none."),
					 sk_ddl_position(parser, start)));
		if (is_options)
			parse_options(parser, clauses);
		else
			sk_ddl_parse_clause(parser, place, clauses);
		has_options = is_options;
	}
}

/*
 * sk_ddl_parse_clause
 *		Read one clause, which must come next.
 */
void
sk_ddl_parse_clause(SkDdlParser *parser, SkDdlPlace place,
					SkDdlClauses *clauses)
{
	int			start = parser->token->start;

	clauses->count++;
	if (sk_ddl_accept(parser, "skip range"))
		parse_skip_range(parser, place, clauses);
	else if (sk_ddl_accept(parser, "no skip range"))
	{
		if (place != SK_DDL_ALTER_COLUMN)
			refuse_clause(parser, start, "NO SKIP RANGE", place);
		clauses->change.no_skip_range = true;
	}
	else if (sk_ddl_accept(parser, "start counter"))
	{
		if (place != SK_DDL_CREATE_SEQUENCE && place != SK_DDL_IDENTITY_COLUMN)
			refuse_clause(parser, start, "start_counter", place);
		parse_counter(parser, place, clauses);
	}
	else if (sk_ddl_accept(parser, "restart counter"))
	{
		if (place == SK_DDL_ALTER_COLUMN)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("Optional clause <RESTART COUNTER WITH> is not supported in <ALTER COLUMN ... SET> statement. Use <ALTER COLUMN ... RESTART COUNTER WITH> instead."),
					 sk_ddl_position(parser, start)));
		if (place != SK_DDL_ALTER_SEQUENCE)
			refuse_clause(parser, start, "restart_counter", place);
		parse_counter(parser, place, clauses);
	}
	else if (!parse_limits(parser, place, clauses) &&
			 !parse_kind(parser, place, clauses))
		refuse_core_clause(parser, place);
}

/*
 * sk_ddl_take_default_kind
 *		Have clauses without a kind name that of the setting, if it names one.
 */
void
sk_ddl_take_default_kind(SkDdlClauses *clauses)
{
	List	   *given = clauses->change.options;
	ListCell   *lc;

	if (clauses->change.kind != NULL || sk_default_sequence_kind() == NULL)
		return;
	clauses->change.options = NIL;
	take_kind(sk_default_sequence_kind(), clauses);
	foreach(lc, given)
	{
		SkOption   *option = lfirst(lc);

		set_option(clauses, option->name, option->value);
	}
}

/*
 * sk_ddl_label
 *		The label of a new column with these clauses, which name a kind.
 */
char *
sk_ddl_label(const SkDdlClauses *clauses)
{
	SkLabel		label = {clauses->change.kind, clauses->change.options};

	if (clauses->change.restarts)
		sk_check_start_counter(clauses->change.counter);
	(void) sk_kind_make(&label, 63);
	return sk_label_format(&label);
}

/* Read the bounds of a skip range: Spanner's dialects differ in the comma. */
static void
parse_skip_range(SkDdlParser *parser, SkDdlPlace place, SkDdlClauses *clauses)
{
	int			start = parser->token->start;
	int64		min;
	int64		max;

	if (place == SK_DDL_IDENTITY_COLUMN &&
		has_skip_range(clauses))
		refuse_twice(parser, start, "SKIP RANGE");
	min = sk_ddl_integer(parser);
	(void) sk_ddl_accept_char(parser, ',');
	max = sk_ddl_integer(parser);
	set_option(clauses, "skip_range_min", psprintf(INT64_FORMAT, min));
	set_option(clauses, "skip_range_max", psprintf(INT64_FORMAT, max));
}

static bool
has_skip_range(const SkDdlClauses *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses->change.options)
	{
		if (strcmp(((SkOption *) lfirst(lc))->name, "skip_range_min") == 0)
			return true;
	}
	return false;
}

static void
parse_counter(SkDdlParser *parser, SkDdlPlace place, SkDdlClauses *clauses)
{
	if (place == SK_DDL_IDENTITY_COLUMN && clauses->change.restarts)
		refuse_twice(parser, parser->token->start,
					 "START COUNTER WITH");
	(void) sk_ddl_accept(parser, "with");
	clauses->change.restarts = true;
	clauses->change.counter = sk_ddl_integer(parser);
}

/*
 * Read a clause that only confirms a default.  ALTER passes PostgreSQL's own
 * clauses on, since the sequence may have limits.
 */
static bool
parse_limits(SkDdlParser *parser, SkDdlPlace place, SkDdlClauses *clauses)
{
	static const char *const words[] = {"no minvalue", "no maxvalue", "no cycle"};
	int			start = parser->token->start;

	for (int i = 0; i < lengthof(words); i++)
	{
		if (!sk_ddl_accept(parser, words[i]))
			continue;
		clauses->limits = psprintf("%s %s", clauses->limits != NULL ?
								   clauses->limits : "", words[i]);
		return true;
	}
	if (sk_ddl_accept(parser, "cycle"))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("Optional clause <cycle> only support `NO CYCLE` as the value."),
				 sk_ddl_position(parser, start)));
	if (!sk_ddl_accept(parser, "owned by"))
		return false;

	if (place == SK_DDL_IDENTITY_COLUMN || place == SK_DDL_ALTER_COLUMN)
		refuse_clause(parser, start, "owned_by", place);
	if (!sk_ddl_accept(parser, "none"))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("Optional clause <owned_by> only support `NONE` as the value."),
				 errhint("Run ALTER SEQUENCE ... OWNED BY directly afterwards."),
				 sk_ddl_position(parser, start)));
	return true;
}

/* Read a kind with its options.  Returns false if none comes next. */
static bool
parse_kind(SkDdlParser *parser, SkDdlPlace place, SkDdlClauses *clauses)
{
	int			start = parser->token->start;
	char	   *word = sk_ddl_word(parser);

	if (word == NULL || sk_sequence_am_find(word) == NULL)
		return false;
	if (place == SK_DDL_ALTER_SEQUENCE || place == SK_DDL_ALTER_COLUMN)
		refuse_clause(parser, start, word, place);
	if (place == SK_DDL_IDENTITY_COLUMN && clauses->change.kind != NULL)
		refuse_twice(parser, start, "The sequence kind");

	take_kind(word, clauses);
	sk_ddl_advance(parser);
	if (sk_ddl_accept_char(parser, '('))
		parse_kind_options(parser, clauses);
	return true;
}

static void
parse_kind_options(SkDdlParser *parser, SkDdlClauses *clauses)
{
	const char *hint = "Options of a kind have the form (name=value, ...).";

	do
	{
		char	   *name = sk_ddl_word(parser);
		char	   *value;

		if (name == NULL)
			sk_ddl_syntax_error(parser, hint);
		sk_ddl_advance(parser);
		sk_ddl_expect_char(parser, '=', hint);
		value = sk_ddl_word(parser);
		if (value != NULL)
			sk_ddl_advance(parser);
		else
			value = psprintf(INT64_FORMAT, sk_ddl_integer(parser));
		set_option(clauses, name, value);
	} while (sk_ddl_accept_char(parser, ','));
	sk_ddl_expect_char(parser, ')', hint);
}

/* Read "(name = value, ...)" behind OPTIONS. */
static void
parse_options(SkDdlParser *parser, SkDdlClauses *clauses)
{
	const char *hint = "Options have the form (name = value, ...).";
	int			unbounded = 0;
	List	   *names = NIL;

	sk_ddl_expect_char(parser, '(', hint);
	do
	{
		int			start = parser->token->start;
		char	   *name = sk_ddl_name(parser);
		ListCell   *lc;

		foreach(lc, names)
		{
			if (strcmp(lfirst(lc), name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_SYNTAX_ERROR),
						 errmsg("option \"%s\" is set more than once", name),
						 sk_ddl_position(parser, start)));
		}
		names = lappend(names, name);
		clauses->count++;
		sk_ddl_expect_char(parser, '=', hint);
		if (strncmp(name, "skip_range_", 11) == 0 &&
			sk_ddl_accept(parser, "null"))
			unbounded++;
		else if (!parse_option(parser, name, clauses))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("Unsupported sequence option: %s.", name),
					 errhint("The options are sequence_kind, skip_range_min, skip_range_max, start_with_counter, bits and stripes."),
					 sk_ddl_position(parser, start)));
	} while (sk_ddl_accept_char(parser, ','));
	sk_ddl_expect_char(parser, ')', hint);

	if (unbounded == 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`skip_range_min` and `skip_range_max` have to be set together"),
				 errhint("Set both to NULL to remove the skip range.")));
	clauses->change.no_skip_range = unbounded > 0;
}

/* Read the value of an option.  Returns false if there is no such option. */
static bool
parse_option(SkDdlParser *parser, const char *name, SkDdlClauses *clauses)
{
	bool		is_text = strcmp(name, "sequence_kind") == 0;
	bool		is_counter = strcmp(name, "start_with_counter") == 0;
	bool		is_string = parser->token->type == SK_TOKEN_STRING ||
		(parser->token->type == SK_TOKEN_NAME &&
		 parser->sql[parser->token->start] == '"');
	int			start = parser->token->start;

	if (!is_text && !is_counter && strcmp(name, "skip_range_min") != 0 &&
		strcmp(name, "skip_range_max") != 0 && strcmp(name, "bits") != 0 &&
		strcmp(name, "stripes") != 0)
		return false;

	if (is_text && !is_string)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("Option %s can only take a string value.", name),
				 errhint("An example is sequence_kind='bit_reversed_positive'."),
				 sk_ddl_position(parser, start)));
	if (!is_text && (is_string || parser->token->type == SK_TOKEN_WORD))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("Option %s can only take a integer value.", name),
				 errhint("Write the number without quotes."),
				 sk_ddl_position(parser, start)));

	if (is_text)
	{
		take_kind(parser->token->text, clauses);
		sk_ddl_advance(parser);
	}
	else if (is_counter)
	{
		clauses->change.restarts = true;
		clauses->change.counter = sk_ddl_integer(parser);
	}
	else
		set_option(clauses, name,
				   psprintf(INT64_FORMAT, sk_ddl_integer(parser)));
	return true;
}

/* Take over a kind, which may come with options as in a label. */
static void
take_kind(const char *kind, SkDdlClauses *clauses)
{
	SkLabel    *label = sk_label_parse_kind(kind);
	ListCell   *lc;

	clauses->change.kind = sk_sequence_am_name(sk_sequence_am_get(label->kind));
	foreach(lc, label->options)
	{
		SkOption   *option = lfirst(lc);

		set_option(clauses, option->name, option->value);
	}
}

static void
set_option(SkDdlClauses *clauses, const char *name, const char *value)
{
	SkLabel		label = {clauses->change.kind, clauses->change.options};

	sk_label_set(&label, pstrdup(name), value);
	clauses->change.options = label.options;
}

/* A statement, as Spanner's errors name it. */
static const char *
place_name(SkDdlPlace place)
{
	switch (place)
	{
		case SK_DDL_CREATE_SEQUENCE:
			return "CREATE SEQUENCE";
		case SK_DDL_ALTER_SEQUENCE:
			return "ALTER SEQUENCE";
		case SK_DDL_IDENTITY_COLUMN:
			return "CREATE TABLE";
		case SK_DDL_ALTER_COLUMN:
			return "ALTER COLUMN ... SET";
	}
	return NULL;				/* keep compiler quiet */
}

static void
refuse_twice(const SkDdlParser *parser, int start, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("%s is set more than once.", what),
			 sk_ddl_position(parser, start)));
}

static void
refuse_clause(const SkDdlParser *parser, int start, const char *name,
			  SkDdlPlace place)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("Optional clause <%s> is not supported in <%s> statement.",
					name, place_name(place)),
			 sk_ddl_position(parser, start)));
}

/* Raise an error, since what comes next is no clause of Spanner's. */
static void
refuse_core_clause(SkDdlParser *parser, SkDdlPlace place)
{
	int			start = parser->token->start;

	for (int i = 0; i < lengthof(core_clauses); i++)
	{
		if (sk_ddl_accept(parser, core_clauses[i].words))
			refuse_clause(parser, start, core_clauses[i].name, place);
	}
	sk_ddl_syntax_error(parser, "Clauses are SKIP RANGE, START COUNTER or RESTART COUNTER, NO MINVALUE, NO MAXVALUE, NO CYCLE and a sequence kind.");
}
