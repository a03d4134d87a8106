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

static void read_clause(SkDdlText *ddl, const SkDdlClause *clause, SkDdlChange *change);
static void read_kind(SkDdlText *ddl, const SkDdlClause *clause, SkDdlChange *change);
static void read_options(SkDdlText *ddl, List *options, SkDdlChange *change);
static void check_value(SkDdlText *ddl, const SkDdlOption *option);
static void refuse_clause(SkDdlText *ddl, const SkDdlClause *clause, const char *place);
static void refuse_twice(SkDdlText *ddl, const SkDdlClause *clause, const char *what);

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
	if (clauses == NIL && strcmp(place, SK_DDL_ALTER_SEQUENCE) == 0)
		SK_DDL_ERROR(ddl, ddl->end, ERRCODE_SYNTAX_ERROR,
					 errmsg("syntax error at end of input"),
					 errhint("Say what is to be changed."));
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
 *		Have alter_sequence() do what clauses ask for.
 *
 * "sequence" is what its first argument is to be.
 */
void
sk_ddl_change_sequence(SkDdlText *ddl, const char *sequence, const SkDdlChange *change)
{
	StringInfoData arguments;

	Assert(change->place != NULL);
	initStringInfo(&arguments);
	if (change->kind != NULL)
		appendStringInfo(&arguments, ", kind => %s", quote_literal_cstr(change->kind));
	appendStringInfoString(&arguments, change->options.data);
	if (change->no_skip)
		appendStringInfoString(&arguments, ", no_skip_range => true");
	if (change->has_counter)
		appendStringInfo(&arguments, ", restart_counter_with => " INT64_FORMAT, change->counter);
	if (arguments.len > 0 || change->limits == NULL)
		SK_DDL_EMIT(ddl, "SELECT spanner.alter_sequence(%s%s)", sequence, arguments.data);
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
	bool		is_sequence = strcmp(change->place, SK_DDL_CREATE_SEQUENCE) == 0 ||
		strcmp(change->place, SK_DDL_ALTER_SEQUENCE) == 0;
	bool		is_alter = strncmp(change->place, "ALTER", 5) == 0;

	switch (clause->type)
	{
		case SK_CLAUSE_KIND:
			read_kind(ddl, clause, change);
			break;
		case SK_CLAUSE_SKIP:
			if (!is_sequence && change->has_skip)
				refuse_twice(ddl, clause, "SKIP RANGE");
			change->has_skip = true;
			change->skip_min = clause->first;
			change->skip_max = clause->second;
			break;
		case SK_CLAUSE_NO_SKIP:
			if (!is_alter)
				refuse_clause(ddl, clause, change->place);
			change->no_skip = true;
			break;
		case SK_CLAUSE_START:
			if (is_alter)
				refuse_clause(ddl, clause, change->place);
			if (!is_sequence && change->has_counter)
				refuse_twice(ddl, clause, "START COUNTER WITH");
			change->has_counter = true;
			change->counter = clause->first;
			break;
		case SK_CLAUSE_RESTART:
			if (!is_alter)
				refuse_clause(ddl, clause, change->place);
			change->has_counter = true;
			change->counter = clause->first;
			break;
		case SK_CLAUSE_LIMIT:
			change->limits = psprintf("%s %s", change->limits != NULL ? change->limits : "",
									  clause->word);
			break;
		case SK_CLAUSE_CYCLE:
			SK_DDL_ERROR(ddl, clause->at, ERRCODE_FEATURE_NOT_SUPPORTED,
						 errmsg("Optional clause <cycle> only support `NO CYCLE` as the value."));
			break;
		case SK_CLAUSE_OWNED_BY:
			if (is_sequence)
				SK_DDL_ERROR(ddl, clause->at, ERRCODE_FEATURE_NOT_SUPPORTED,
							 errmsg("Optional clause <owned_by> only support `NONE` as the value."),
							 errhint("Run ALTER SEQUENCE ... OWNED BY directly afterwards."));
			refuse_clause(ddl, clause, change->place);
			break;
		case SK_CLAUSE_OWNED_BY_NONE:
			if (!is_sequence)
				refuse_clause(ddl, clause, change->place);
			break;
		default:
			refuse_clause(ddl, clause, change->place);
	}
}

/* A kind, perhaps with options as a label has them. */
static void
read_kind(SkDdlText *ddl, const SkDdlClause *clause, SkDdlChange *change)
{
	StringInfoData kind;
	ListCell   *lc;

	if (strncmp(change->place, "ALTER", 5) == 0)
		refuse_clause(ddl, clause, change->place);
	if (strcmp(change->place, SK_DDL_CREATE_TABLE) == 0 && change->kind != NULL)
		refuse_twice(ddl, clause, "The sequence kind");
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
	change->kind = kind.data;
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
		check_value(ddl, option);
		for (int i = 0; i < foreach_current_index(lc); i++)
		{
			if (strcmp(((SkDdlOption *) list_nth(options, i))->name, option->name) == 0)
				SK_DDL_ERROR(ddl, option->at, ERRCODE_SYNTAX_ERROR,
							 errmsg("option \"%s\" is set more than once", option->name));
		}
		if (strcmp(option->name, "start_with_counter") == 0)
		{
			change->has_counter = !is_null || is_alter;
			change->counter = is_null ? 1 : pg_strtoint64(option->value);
		}
		else if (is_null)
			unbounded += is_skip;
		else if (strcmp(option->name, "sequence_kind") == 0)
			change->kind = option->value;
		else
		{
			bounded += is_skip;
			appendStringInfo(&change->options, ", %s => " INT64_FORMAT, option->name,
							 pg_strtoint64(option->value));
		}
	}
	if (unbounded == 1 || (unbounded > 0 && bounded > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`skip_range_min` and `skip_range_max` have to be set together"),
				 errhint("Set both to NULL to remove the skip range.")));
	change->no_skip = unbounded > 0 && is_alter;
}

static void
check_value(SkDdlText *ddl, const SkDdlOption *option)
{
	bool		is_integer = SK_DDL_ONE_OF(option->name, "start_with_counter", "skip_range_min", "skip_range_max",
										   "bits", "stripes");
	bool		is_null = option->type == SK_TOKEN_WORD && strcmp(option->value, "null") == 0;

	if (!is_integer && strcmp(option->name, "sequence_kind") != 0)
		SK_DDL_ERROR(ddl, option->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("Unsupported sequence option: %s.", option->name),
					 errhint("The options are sequence_kind, skip_range_min, skip_range_max, start_with_counter, bits and stripes."));
	if (!is_integer && !is_null && option->type != SK_TOKEN_STRING)
		SK_DDL_ERROR(ddl, option->value_at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("Option %s can only take a string value.", option->name),
					 errhint("An example is sequence_kind='bit_reversed_positive'."));
	if (is_integer && !is_null && (option->type != SK_TOKEN_NUMBER ||
								   strpbrk(option->value, ".eExX") != NULL))
		SK_DDL_ERROR(ddl, option->value_at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("Option %s can only take a integer value.", option->name),
					 errhint("Write the number without quotes."));
}

static void
refuse_clause(SkDdlText *ddl, const SkDdlClause *clause, const char *place)
{
	SK_DDL_ERROR(ddl, clause->at, ERRCODE_FEATURE_NOT_SUPPORTED,
				 errmsg("Optional clause <%s> is not supported in <%s> statement.",
						clause->word, place));
}

static void
refuse_twice(SkDdlText *ddl, const SkDdlClause *clause, const char *what)
{
	SK_DDL_ERROR(ddl, clause->at, ERRCODE_SYNTAX_ERROR,
				 errmsg("%s is set more than once.", what));
}
