/*-------------------------------------------------------------------------
 *
 * registry.c
 *	  The registry of sequence access methods and the options they share.
 *
 * src/sequence/registry.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "sequence/method_library.h"
#include "sequence/registry.h"

PG_FUNCTION_INFO_V1(spanner_list_sequence_access_methods);

static SkSequenceAmRegistry *get_registry(void);
static const SequenceAccessMethod *find_registered(const char *kind);
static bool take_common_option(SkSequenceOptions *options,
							   const SkOption *option, bool *has_min,
							   bool *has_max);
static SkIdentity parse_identity(const SkOption *option);
static void refuse_duplicates(List *options);
static void check_bits(int64 bits, int width);
static void check_skip_range(SkSequenceOptions *options, bool has_min,
							 bool has_max);
static SkOption *make_int_option(const char *name, int64 value);

/*
 * sk_sequence_am_find
 *		The access method of a kind, or NULL if there is none.
 *
 * Loads the library that offers it if need be.
 */
const SequenceAccessMethod *
sk_sequence_am_find(const char *kind)
{
	const SequenceAccessMethod *am = find_registered(kind);

	if (am == NULL && sk_method_library_load(kind))
		am = find_registered(kind);
	return am;
}

/*
 * sk_sequence_am_get
 *		The access method of a kind.
 *
 * Raises Spanner's error for a kind that does not exist.
 */
const SequenceAccessMethod *
sk_sequence_am_get(const char *kind)
{
	const SequenceAccessMethod *am = sk_sequence_am_find(kind);
	SkSequenceAmRegistry *registry = get_registry();
	StringInfoData kinds;

	if (am != NULL)
		return am;

	initStringInfo(&kinds);
	for (int i = 0; registry != NULL && i < registry->count; i++)
		appendStringInfo(&kinds, "%s%s", i > 0 ? ", " : "",
						 registry->methods[i]->name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("Invalid Sequence Kind: %s.", kind),
			 errhint("This session knows these kinds: %s. A further kind needs the extension that offers it in this database.",
					 kinds.data)));
	return NULL;				/* keep compiler quiet */
}

/*
 * sk_sequence_am_parse
 *		Make the options of a sequence from a list of SkOption.
 *
 * "width" is the number of value bits of the sequence's type: 15, 31 or 63.
 * Allocates in CurrentMemoryContext.  Errors are Spanner's where Spanner has
 * the option, and come in Spanner's order.
 */
SkSequenceOptions *
sk_sequence_am_parse(const SequenceAccessMethod *am, List *options, int width)
{
	SkSequenceOptions *result = palloc0(sizeof(SkSequenceOptions));
	List	   *own = NIL;
	bool		has_min = false;
	bool		has_max = false;
	ListCell   *lc;

	refuse_duplicates(options);
	result->bits = width;
	foreach(lc, options)
	{
		SkOption   *option = lfirst(lc);

		if (!take_common_option(result, option, &has_min, &has_max))
			own = lappend(own, option);
	}
	check_bits(result->bits, width);
	check_skip_range(result, has_min, has_max);
	result->max_counter = (int64) ((UINT64CONST(1) << result->bits) - 2);

	if (am->parse_options != NULL)
		am->parse_options(result, own);
	else if (own != NIL)
		sk_unknown_option(linitial(own), NULL);
	return result;
}

/*
 * sk_sequence_am_describe
 *		The reverse of sk_sequence_am_parse: a list of SkOption.
 *
 * The bits are always among them, so that a change of the type does not change
 * the values.
 */
List *
sk_sequence_am_describe(const SequenceAccessMethod *am,
						const SkSequenceOptions *options)
{
	List	   *result = list_make1(make_int_option("bits", options->bits));

	if (options->has_skip_range)
	{
		result = lappend(result, make_int_option("skip_range_min",
												 options->skip_range_min));
		result = lappend(result, make_int_option("skip_range_max",
												 options->skip_range_max));
	}
	if (options->identity != SK_IDENTITY_NONE)
	{
		SkOption   *option = palloc(sizeof(SkOption));

		option->name = "identity";
		option->value = options->identity == SK_IDENTITY_ALWAYS ?
			"always" : "by_default";
		result = lappend(result, option);
	}
	if (am->describe != NULL)
		result = list_concat(result, am->describe(options));
	return result;
}

static SkSequenceAmRegistry *
get_registry(void)
{
	return *(SkSequenceAmRegistry **)
		find_rendezvous_variable(SK_SEQUENCE_AM_RENDEZVOUS);
}

/* The access method of a kind that is registered already, or NULL. */
static const SequenceAccessMethod *
find_registered(const char *kind)
{
	SkSequenceAmRegistry *registry = get_registry();

	for (int i = 0; registry != NULL && i < registry->count; i++)
	{
		if (strcmp(registry->methods[i]->name, kind) == 0)
			return registry->methods[i];
	}
	return NULL;
}

/*
 * Store an option that every kind has.  Returns false for any other.
 */
static bool
take_common_option(SkSequenceOptions *options, const SkOption *option,
				   bool *has_min, bool *has_max)
{
	if (strcmp(option->name, "bits") == 0)
	{
		int64		bits = sk_option_int64(option);

		/* keep what does not fit into an int out of range */
		options->bits = (bits < 0 || bits > 64) ? 0 : (int) bits;
	}
	else if (strcmp(option->name, "skip_range_min") == 0)
	{
		options->skip_range_min = sk_option_int64(option);
		*has_min = true;
	}
	else if (strcmp(option->name, "skip_range_max") == 0)
	{
		options->skip_range_max = sk_option_int64(option);
		*has_max = true;
	}
	else if (strcmp(option->name, "identity") == 0)
		options->identity = parse_identity(option);
	else
		return false;
	return true;
}

static SkIdentity
parse_identity(const SkOption *option)
{
	if (strcmp(option->value, "always") == 0)
		return SK_IDENTITY_ALWAYS;
	if (strcmp(option->value, "by_default") == 0)
		return SK_IDENTITY_BY_DEFAULT;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value \"%s\" of option \"%s\"",
					option->value, option->name),
			 errhint("Use \"always\" or \"by_default\".")));
	return SK_IDENTITY_NONE;	/* keep compiler quiet */
}

static void
refuse_duplicates(List *options)
{
	for (int i = 0; i < list_length(options); i++)
	{
		SkOption   *option = list_nth(options, i);

		for (int j = 0; j < i; j++)
		{
			SkOption   *other = list_nth(options, j);

			if (strcmp(option->name, other->name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_SYNTAX_ERROR),
						 errmsg("option \"%s\" is set more than once",
								option->name),
						 errhint("Remove all but one of them.")));
		}
	}
}

static void
check_bits(int64 bits, int width)
{
	if (bits < SK_MIN_BITS || bits > width)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bits must be between %d and %d", SK_MIN_BITS, width),
				 errdetail("A sequence of type bigint has 63 bits, one of type integer 31, one of type smallint 15."),
				 errhint("Choose fewer bits, or use a new sequence of a wider type.")));
}

static void
check_skip_range(SkSequenceOptions *options, bool has_min, bool has_max)
{
	if (!has_min && !has_max)
		return;

	if (has_min != has_max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`skip_range_min` and `skip_range_max` have to be set together"),
				 errhint("Give both bounds; they belong to the range.")));
	if (options->skip_range_min > options->skip_range_max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`skip_range_min` has to be lesser than or equal to `skip_range_max`"),
				 errhint("Exchange the bounds.")));
	if (options->skip_range_max < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The sequence skipped range has to contain at least one positive value"),
				 errhint("A sequence gives positive values only: leave the skip range out.")));
	options->has_skip_range = true;
}

static SkOption *
make_int_option(const char *name, int64 value)
{
	SkOption   *option = palloc(sizeof(SkOption));

	option->name = name;
	option->value = psprintf(INT64_FORMAT, value);
	return option;
}

/*
 * spanner.list_sequence_access_methods() returns setof record
 */
Datum
spanner_list_sequence_access_methods(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SkSequenceAmRegistry *registry = get_registry();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; registry != NULL && i < registry->count; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		values[0] = CStringGetTextDatum(registry->methods[i]->name);
		values[1] = CStringGetTextDatum(registry->methods[i]->description);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}
