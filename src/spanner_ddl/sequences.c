/*-------------------------------------------------------------------------
 *
 * sequences.c
 *	  Clauses and options of sequences and identity columns.
 *
 * They become arguments of create_sequence() and alter_sequence().  Which of
 * them may be where, and the errors, are as in Spanner; kinds other than
 * bit_reversed_positive and the options "bits" and "stripes" are ours.  In a
 * sequence the last of equal clauses counts.
 *
 * src/spanner_ddl/sequences.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "spanner_ddl/spanner_ddl.h"

/* Where a clause may stand: what the statement does, and with what. */
#define PLACE_CREATE 1
#define PLACE_ALTER 2
#define PLACE_SEQUENCE 4
#define PLACE_COLUMN 8
#define PLACE_BOTH (PLACE_SEQUENCE | PLACE_COLUMN)

typedef struct SkClauseRule
{
	int			places;
	const char *once;			/* what a column may have once */
} SkClauseRule;

/* All others are nowhere. */
static const SkClauseRule rules[SK_CLAUSE_OPTIONS + 1] = {
	[SK_CLAUSE_KIND] = {PLACE_CREATE | PLACE_BOTH, "The sequence kind"},
	[SK_CLAUSE_SKIP] = {PLACE_CREATE | PLACE_ALTER | PLACE_BOTH, "SKIP RANGE"},
	[SK_CLAUSE_NO_SKIP] = {PLACE_ALTER | PLACE_BOTH},
	[SK_CLAUSE_START] = {PLACE_CREATE | PLACE_BOTH, "START COUNTER WITH"},
	[SK_CLAUSE_RESTART] = {PLACE_ALTER | PLACE_BOTH},
	[SK_CLAUSE_LIMIT] = {PLACE_CREATE | PLACE_ALTER | PLACE_BOTH},
	[SK_CLAUSE_OWNED_BY_NONE] = {PLACE_CREATE | PLACE_ALTER | PLACE_SEQUENCE}
};

/* The options of a sequence. */
static const struct
{
	const char *name;
	SkTokenType type;
}			settings[] = {
	{"sequence_kind", SK_TOKEN_STRING},
	{"skip_range_min", SK_TOKEN_NUMBER},
	{"skip_range_max", SK_TOKEN_NUMBER},
	{"start_with_counter", SK_TOKEN_NUMBER},
	{"bits", SK_TOKEN_NUMBER},
	{"stripes", SK_TOKEN_NUMBER}
};

static void read_clause(SkDdlText *ddl, const SkDdlClause *clause, SkDdlChange *change);
static char *kind_text(const SkDdlClause *clause);
static void read_options(SkDdlText *ddl, List *options, SkDdlChange *change);
static void check_option(SkDdlText *ddl, const SkDdlOption *option, bool is_null);

/*
 * sk_ddl_read_clauses
 *		Note in "change" what the clauses of a sequence or a column ask for.
 *
 * "place" is one of SK_DDL_CREATE_SEQUENCE and so on, "object" the name.
 */
void
sk_ddl_read_clauses(SkDdlText *ddl, List *clauses, const char *place,
					const char *object, SkDdlChange *change)
{
	bool		has_options = false;
	ListCell   *lc;

	Assert(change->place == NULL && change->options.data == NULL);
	change->place = place;
	initStringInfo(&change->options);
	foreach(lc, clauses)
	{
		SkDdlClause *clause = lfirst(lc);

		if (has_options || (clause->type == SK_CLAUSE_OPTIONS && lc != list_head(clauses)))
			SK_DDL_ERROR(ddl, clause->at, ERRCODE_INVALID_PARAMETER_VALUE,
						 errmsg("The sequence properties can only be set in either clauses and options for the sequence %s",
								object),
						 errhint("Write all of them as options, or none."));
		has_options = clause->type == SK_CLAUSE_OPTIONS;
		if (has_options)
			read_options(ddl, clause->options, change);
		else
			read_clause(ddl, clause, change);
	}
	if (change->has_skip)
		appendStringInfo(&change->options,
						 ", skip_range_min => " INT64_FORMAT ", skip_range_max => " INT64_FORMAT,
						 change->skip_min, change->skip_max);
}

/*
 * sk_ddl_change_sequence
 *		Have ALTER SEQUENCE and alter_sequence() do what clauses ask for.
 */
void
sk_ddl_change_sequence(SkDdlText *ddl, const char *name, const SkDdlChange *change)
{
	StringInfoData arguments;

	Assert(change->place != NULL);
	if (change->limits != NULL)
		SK_DDL_EMIT(ddl, "ALTER SEQUENCE %s%s", name, change->limits);
	initStringInfo(&arguments);
	if (change->kind != NULL)
		appendStringInfo(&arguments, ", kind => %s", quote_literal_cstr(change->kind));
	appendStringInfoString(&arguments, change->options.data);
	if (change->no_skip)
		appendStringInfoString(&arguments, ", no_skip_range => true");
	if (change->has_counter)
		appendStringInfo(&arguments, ", restart_counter_with => " INT64_FORMAT, change->counter);
	if (arguments.len > 0 || change->limits == NULL)
		SK_DDL_EMIT(ddl, "SELECT spanner.alter_sequence(%s%s)", quote_literal_cstr(name), arguments.data);
}

/*
 * sk_ddl_default_kind
 *		The label that new sequences get; NULL if they stay PostgreSQL's own.
 */
const char *
sk_ddl_default_kind(void)
{
	const char *kind = GetConfigOption("spanner.default_sequence_kind", true, false);

	return kind == NULL || *kind == '\0' || strcmp(kind, "local") == 0 ? NULL : kind;
}

static void
read_clause(SkDdlText *ddl, const SkDdlClause *clause, SkDdlChange *change)
{
	const SkClauseRule *rule = &rules[clause->type];
	bool		is_sequence = strstr(change->place, "SEQUENCE") != NULL;
	int			place = (change->place[0] == 'A' ? PLACE_ALTER : PLACE_CREATE) |
		(is_sequence ? PLACE_SEQUENCE : PLACE_COLUMN);

	if (clause->type == SK_CLAUSE_CYCLE || (clause->type == SK_CLAUSE_OWNED_BY && is_sequence))
		SK_DDL_ERROR(ddl, clause->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 clause->type == SK_CLAUSE_CYCLE ?
					 errmsg("Optional clause <cycle> only support `NO CYCLE` as the value.") :
					 errmsg("Optional clause <owned_by> only support `NONE` as the value."),
					 clause->type == SK_CLAUSE_CYCLE ? 0 :
					 errhint("Run ALTER SEQUENCE ... OWNED BY directly afterwards."));
	if ((rule->places & place) != place)
		SK_DDL_ERROR(ddl, clause->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Optional clause <%s> is not supported in <%s> statement.",
							clause->word, change->place));
	if (!is_sequence && rule->once != NULL && (change->seen & (1 << clause->type)) != 0)
		SK_DDL_ERROR(ddl, clause->at, ERRCODE_SYNTAX_ERROR,
					 errmsg("%s is set more than once.", rule->once));
	change->seen |= 1 << clause->type;
	if (clause->type == SK_CLAUSE_KIND)
		change->kind = kind_text(clause);
	else if (clause->type == SK_CLAUSE_SKIP)
	{
		change->has_skip = true;
		change->skip_min = clause->first;
		change->skip_max = clause->second;
	}
	else if (clause->type == SK_CLAUSE_NO_SKIP)
		change->no_skip = true;
	else if (clause->type == SK_CLAUSE_START || clause->type == SK_CLAUSE_RESTART)
	{
		change->has_counter = true;
		change->counter = clause->first;
	}
	else if (clause->type == SK_CLAUSE_LIMIT)
		change->limits = psprintf("%s %s", change->limits != NULL ? change->limits : "", clause->word);
}

/* A kind, perhaps with options as a label has them. */
static char *
kind_text(const SkDdlClause *clause)
{
	StringInfoData kind;
	ListCell   *lc;

	initStringInfo(&kind);
	appendStringInfoString(&kind, clause->word);
	foreach(lc, clause->options)
	{
		SkDdlOption *option = lfirst(lc);

		appendStringInfo(&kind, "%s%s=%s", lc == list_head(clause->options) ? "(" : ", ",
						 option->name, option->value);
	}
	if (clause->options != NIL)
		appendStringInfoChar(&kind, ')');
	return kind.data;
}

/* OPTIONS (name = value, ...) of a sequence; NULL takes one away. */
static void
read_options(SkDdlText *ddl, List *options, SkDdlChange *change)
{
	bool		is_alter = strcmp(change->place, SK_DDL_ALTER_SEQUENCE) == 0;
	int			unbounded = 0;
	int			bounded = 0;
	ListCell   *lc;

	foreach(lc, options)
	{
		SkDdlOption *option = lfirst(lc);
		bool		is_null = option->type == SK_TOKEN_WORD && strcmp(option->value, "null") == 0;
		bool		is_skip = strncmp(option->name, "skip_range_", 11) == 0;

		CHECK_FOR_INTERRUPTS();
		check_option(ddl, option, is_null);
		for (int i = 0; i < foreach_current_index(lc); i++)
		{
			if (strcmp(((SkDdlOption *) list_nth(options, i))->name, option->name) == 0)
				SK_DDL_ERROR(ddl, option->at, ERRCODE_SYNTAX_ERROR,
							 errmsg("option \"%s\" is set more than once", option->name));
		}
		unbounded += is_skip && is_null;
		bounded += is_skip && !is_null;
		if (strcmp(option->name, "start_with_counter") == 0)
		{
			change->has_counter = !is_null || is_alter;
			change->counter = is_null ? 1 : pg_strtoint64(option->value);
		}
		else if (strcmp(option->name, "sequence_kind") == 0)
			change->kind = is_null ? NULL : option->value;
		else if (!is_null)
			appendStringInfo(&change->options, ", %s => " INT64_FORMAT, option->name,
							 pg_strtoint64(option->value));
	}
	if (unbounded == 1 || (unbounded > 0 && bounded > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`skip_range_min` and `skip_range_max` have to be set together"),
				 errhint("Set both to NULL to remove the skip range.")));
	change->no_skip = unbounded > 0 && is_alter;
}

static void
check_option(SkDdlText *ddl, const SkDdlOption *option, bool is_null)
{
	int			i = 0;

	while (i < lengthof(settings) && strcmp(settings[i].name, option->name) != 0)
		i++;
	if (i == lengthof(settings))
		SK_DDL_ERROR(ddl, option->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("Unsupported sequence option: %s.", option->name),
					 errhint("The options are sequence_kind, skip_range_min, skip_range_max, start_with_counter, bits and stripes."));
	if (!is_null && (option->type != settings[i].type ||
					 (option->type == SK_TOKEN_NUMBER && strpbrk(option->value, ".eExX") != NULL)))
		SK_DDL_ERROR(ddl, option->value_at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("Option %s can only take a %s value.", option->name,
							settings[i].type == SK_TOKEN_STRING ? "string" : "integer"),
					 settings[i].type == SK_TOKEN_STRING ?
					 errhint("An example is sequence_kind='bit_reversed_positive'.") :
					 errhint("Write the number without quotes."));
}
