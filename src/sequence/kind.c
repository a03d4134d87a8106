/*-------------------------------------------------------------------------
 *
 * kind.c
 *	  The kind of a sequence: an access method and its options.
 *
 * A kind that no loaded library offers is looked for by the function that loads it
 * (access_method.h).  A label must not lead to a file by itself, since whoever owns
 * a sequence writes its label.
 *
 * src/sequence/kind.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "common/int.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/guc.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "sequence/sequence.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"

#define SK_LOADER_PREFIX "load_"

/* The option of the setting that leaves sequences alone that no column owns. */
#define SK_OWNED_ONLY "owned_only"

PG_FUNCTION_INFO_V1(spanner_list_sequence_access_methods);

static char *default_kind = "";
static bool setting_is_defined = false;

/*
 * How many fetches to look ahead for close values.  Bit-reversed values come
 * closer as the counter grows; this finds those that start narrow.
 */
#define SK_FORESEEN_FETCHES 65536

static bool check_default_kind(char **newval, void **extra, GucSource source);
static void fold_case(char *label);
static const char *excerpt(const char *text);
static bool is_local(const char *kind);
static char *known_kinds(void);
static char *method_name(const SequenceAccessMethod *am);
static SkSequenceAmRegistry *get_registry(void);
static const SequenceAccessMethod *find_registered(const char *kind);
static bool load_library(const char *kind);
static bool take_common_option(SkSequenceOptions *options,
							   const SkOption *option);
static void parse_own_options(const SequenceAccessMethod *am,
							  SkSequenceOptions *options, List *own);
static SkIdentity parse_identity(const SkOption *option);
static void check_bits(int64 bits, int width);
static void check_skip_range(const SkRange *range, bool has_min, bool has_max);

/*
 * sk_default_kind_init
 *		Define the setting.
 */
void
sk_default_kind_init(void)
{
	DefineCustomStringVariable("spanner.default_sequence_kind",
							   "Sets the kind of new sequences and identity columns.",
							   "Empty or \"local\" means PostgreSQL's own sequences.",
							   &default_kind,
							   "",
							   PGC_USERSET,
							   0,
							   check_default_kind, NULL, NULL);
	setting_is_defined = true;
}

/*
 * sk_default_sequence_kind
 *		The label that new sequences get, or NULL if they stay as they are.
 *
 * "is_owned" says that a column owns the sequence, or that the user has asked
 * for the kind: an option of the setting leaves others alone.  A table that Citus
 * sends to another node brings the kinds of its sequences along: see
 * sequence_change.c.
 */
char *
sk_default_sequence_kind(bool is_owned)
{
	const char *problem;
	SkLabel    *label;
	const SkOption *option;
	bool		owned_only;

	if (is_local(default_kind) || sk_sent_by_citus())
		return NULL;
	label = sk_label_parse(default_kind, &problem);
	option = label != NULL ? sk_label_option(label->options, SK_OWNED_ONLY) : NULL;
	/* what cannot be understood is refused by the command that uses it */
	if (option == NULL || !parse_bool(option->value, &owned_only))
		return default_kind;
	sk_label_set(label, SK_OWNED_ONLY, NULL);
	return owned_only && !is_owned ? NULL : sk_label_format(label);
}

/*
 * sk_sequence_am_get
 *		The access method of a kind, whose library is loaded if need be.
 *
 * If there is none, returns NULL with "missing_ok", or raises Spanner's error.
 */
const SequenceAccessMethod *
sk_sequence_am_get(const char *kind, bool missing_ok)
{
	const SequenceAccessMethod *am = find_registered(kind);

	if (am == NULL && load_library(kind))
		am = find_registered(kind);
	if (am == NULL && !missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("Invalid Sequence Kind: %s.", kind),
				 errhint("This session knows these kinds: %s. Other kinds require the extension that provides them to be installed in this database.",
						 known_kinds())));
	return am;
}

/*
 * sk_label_parse_kind
 *		Take apart the kind that a user gave: its name, or a whole label.
 *
 * Raises Spanner's error for a text that is neither.
 */
SkLabel *
sk_label_parse_kind(const char *text)
{
	const char *problem;
	SkLabel    *label = sk_label_parse(text, &problem);

	if (label == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("Invalid Sequence Kind: %s.", excerpt(text)),
				 errdetail_internal("%s", problem),
				 errhint("An example is \"%s\".",
						 "bit_reversed_positive(skip_range_min=1, skip_range_max=1000)")));
	return label;
}

/*
 * sk_kind_make
 *		Make a kind from the parts of a label.
 *
 * "width" is the number of value bits of the sequence's type: 15, 31 or 63.
 * Allocates in CurrentMemoryContext.  Errors are Spanner's where Spanner has
 * the option, and come in Spanner's order.
 */
SkKind *
sk_kind_make(const SkLabel *label, int width)
{
	SkKind	   *kind = palloc(sizeof(SkKind));
	const SequenceAccessMethod *am = sk_sequence_am_get(label->kind, false);
	SkSequenceOptions *result = palloc0(sizeof(SkSequenceOptions));
	List	   *own = NIL;
	ListCell   *lc;

	Assert(width == 15 || width == 31 || width == 63);
	result->bits = width;
	result->since = 1;
	foreach(lc, label->options)
	{
		SkOption   *option = lfirst(lc);

		/* the parser takes an option that is set twice */
		if (sk_label_option(label->options, option->name) != option)
			ereport(ERROR,
					(errcode(ERRCODE_SYNTAX_ERROR),
					 errmsg("option \"%s\" is set more than once", option->name)));
		if (!take_common_option(result, option))
			own = lappend(own, option);
	}
	check_bits(result->bits, width);
	check_skip_range(&result->skip_range,
					 sk_label_option(label->options, "skip_range_min") != NULL,
					 sk_label_option(label->options, "skip_range_max") != NULL);
	result->max_counter = (int64) ((UINT64CONST(1) << result->bits) - 2);

	parse_own_options(am, result, own);
	kind->am = am;
	kind->options = result;
	return kind;
}

/*
 * sk_kind_parts
 *		The reverse of sk_kind_make.
 *
 * The bits are always among the options, so that a change of the type does not
 * change the values.
 */
SkLabel *
sk_kind_parts(const SkKind *kind)
{
	const SkSequenceOptions *options = kind->options;
	SkLabel    *label = palloc0(sizeof(SkLabel));

	label->kind = method_name(kind->am);
	sk_label_set_int64(label, "bits", options->bits);
	if (!sk_range_is_empty(options->skip_range))
	{
		sk_label_set_int64(label, "skip_range_min", options->skip_range.min);
		sk_label_set_int64(label, "skip_range_max", options->skip_range.max);
	}
	if (!sk_range_is_empty(options->given))
		sk_label_set_range(label, "given", options->given);
	if (options->since > 1)
		sk_label_set_int64(label, "since", options->since);
	if (options->identity != SK_IDENTITY_NONE)
		sk_label_set(label, "identity",
					 options->identity == SK_IDENTITY_ALWAYS ? "always" : "by_default");
	if (kind->am->describe != NULL)
		label->options = list_concat(label->options, kind->am->describe(options));
	return label;
}

/*
 * sk_kind_reaches_value
 *		Do the next counters, from "start" on, give values often enough?
 *
 * This decides for everybody whether a sequence is exhausted before it begins.
 * Counters that follow each other give values that are spread over all, so
 * SK_MAX_ATTEMPTS of them say how dense the values lie that are skipped.
 */
bool
sk_kind_reaches_value(const SkKind *kind, int64 start)
{
	int64		count = Min(SK_MAX_ATTEMPTS, kind->options->max_counter - start + 1);
	int64		missing = Max(1, count / SK_LEAST_DENSITY);

	Assert(start >= 1);
	for (int64 i = 0; i < count && missing > 0; i++)
	{
		int64		value;

		if (kind->am->nextval(kind->options, start + i, &value) &&
			!sk_is_skipped(kind->options, value))
			missing--;
	}
	return missing == 0;
}

/*
 * sk_kind_overlaps
 *		Can values of a sequence be closer than its increment, with this kind?
 */
bool
sk_kind_overlaps(const SkKind *kind, const FormData_pg_sequence *form)
{
	int64		increment = form->seqincrement;
	int64		last;

	if (increment <= 1)
		return false;
	if (kind->am->least_distance == NULL)
		return true;

	if (pg_mul_s64_overflow(increment, SK_FORESEEN_FETCHES, &last) ||
		pg_add_s64_overflow(last, form->seqstart, &last))
		last = PG_INT64_MAX;
	last = Min(last, Min(kind->options->max_counter, form->seqmax));
	return kind->am->least_distance(kind->options, increment, last) < increment;
}

/*
 * A value that was set before the library was loaded is kept whatever it is:
 * the command that would use it fails then, whereas falling back to plain
 * sequences would go unnoticed.
 */
static bool
check_default_kind(char **newval, void **extra, GucSource source)
{
	const char *problem;
	SkLabel    *label;

	fold_case(*newval);
	if (!setting_is_defined || is_local(*newval))
		return true;
	/* only ALTER SYSTEM checks what a file will contain */
	if (source != PGC_S_SESSION && source != PGC_S_TEST &&
		!(source == PGC_S_FILE && ActivePortal != NULL &&
		  ActivePortal->commandTag == CMDTAG_ALTER_SYSTEM))
		return true;

	label = sk_label_parse(*newval, &problem);
	if (label != NULL && sk_sequence_am_get(label->kind, true) != NULL)
	{
		const SkOption *option = sk_label_option(label->options, SK_OWNED_ONLY);
		bool		owned_only;

		if (option != NULL && !parse_bool(option->value, &owned_only))
		{
			GUC_check_errdetail("Option \"%s\" is \"true\" or \"false\".", SK_OWNED_ONLY);
			return false;
		}
		sk_label_set(label, SK_OWNED_ONLY, NULL);
		/* options that no sequence can have raise their own errors */
		(void) sk_kind_make(label, 63);
		return true;
	}

	GUC_check_errcode(ERRCODE_INVALID_PARAMETER_VALUE);
	GUC_check_errmsg("Invalid Sequence Kind: %s.", excerpt(*newval));
	if (label == NULL)
		GUC_check_errdetail("%s", problem);
	GUC_check_errhint("Use \"local\", or one of the kinds that this session knows: %s.",
					  known_kinds());
	return false;
}

/*
 * Write the kind and the names of options in lower case, in place.
 *
 * The values of options belong to the access method and stay as they are.
 */
static void
fold_case(char *label)
{
	bool		is_value = false;

	for (; *label != '\0'; label++)
	{
		if (*label == '=')
			is_value = true;
		else if (*label == ',')
			is_value = false;
		else if (!is_value && *label >= 'A' && *label <= 'Z')
			*label += 'a' - 'A';
	}
}

/* What a message shows of a text that is no label. */
static const char *
excerpt(const char *text)
{
	const int	shown = 100;
	int			length = strlen(text);

	return length <= shown ? text :
				psprintf("%.*s...", pg_mbcliplen(text, length, shown), text);
}

static bool
is_local(const char *kind)
{
	return kind[0] == '\0' || strcmp(kind, SK_LOCAL_KIND) == 0;
}

/* The names of all that this session knows, for a message. */
static char *
known_kinds(void)
{
	SkSequenceAmRegistry *registry = get_registry();
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < registry->count; i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "",
						 method_name(registry->methods[i]));
	return names.data;
}

/* The name of an access method as it is stored and shown: in lower case. */
static char *
method_name(const SequenceAccessMethod *am)
{
	return asc_tolower(am->name, strlen(am->name));
}

static SkSequenceAmRegistry *
get_registry(void)
{
	SkSequenceAmRegistry *result = *(SkSequenceAmRegistry **)
		find_rendezvous_variable(SK_SEQUENCE_AM_RENDEZVOUS);

	Assert(result->version == SK_SEQUENCE_AM_VERSION);
	Assert(result->count >= 2 && result->count <= SK_MAX_SEQUENCE_AMS);
	return result;
}

/* The access method of a kind that is registered already, or NULL. */
static const SequenceAccessMethod *
find_registered(const char *kind)
{
	SkSequenceAmRegistry *registry = get_registry();

	for (int i = 0; i < registry->count; i++)
	{
		if (pg_strcasecmp(registry->methods[i]->name, kind) == 0)
			return registry->methods[i];
	}
	return NULL;
}

/*
 * Load the library that offers a kind, by a function without arguments in our
 * schema.  Only one in C counts, since only a superuser can create it.
 *
 * Returns false if none is known in this database.  Raises an error if it
 * cannot be loaded.
 */
static bool
load_library(const char *kind)
{
	char	   *name = psprintf("%s%s", SK_LOADER_PREFIX, kind);
	Oid			loader = InvalidOid;
	HeapTuple	tuple = NULL;

	/* no catalogs while a setting is restored after an abort */
	if (IsTransactionState() && strlen(name) < NAMEDATALEN && sk_extension_exists())
		tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
								PointerGetDatum(buildoidvector(NULL, 0)),
								ObjectIdGetDatum(sk_own_schema(SK_SCHEMA)));
	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
		loader = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
	ReleaseSysCache(tuple);
	if (OidIsValid(loader))
		(void) OidFunctionCall0(loader);
	return OidIsValid(loader);
}

/*
 * Store an option that every kind has.  Returns false for any other.
 */
static bool
take_common_option(SkSequenceOptions *options, const SkOption *option)
{
	if (strcmp(option->name, "bits") == 0)
	{
		int64		bits = sk_option_int64(option);

		/* keep what does not fit into an int out of range */
		options->bits = (bits < 0 || bits > 64) ? 0 : (int) bits;
	}
	else if (strcmp(option->name, "skip_range_min") == 0)
		options->skip_range.min = sk_option_int64(option);
	else if (strcmp(option->name, "skip_range_max") == 0)
		options->skip_range.max = sk_option_int64(option);
	else if (strcmp(option->name, "given") == 0)
		options->given = sk_option_range(option);
	else if (strcmp(option->name, "since") == 0)
		options->since = sk_option_int64(option);
	else if (strcmp(option->name, "identity") == 0)
		options->identity = parse_identity(option);
	else
		return false;
	return true;
}

/*
 * sk_option_range
 *		The value of an option that is a range of values, "1..1000".
 */
SkRange
sk_option_range(const SkOption *option)
{
	const char *dots = strstr(option->value, "..");
	SkOption	max = {option->name, dots != NULL ? dots + 2 : ""};
	SkOption	min = *option;
	SkRange		result = {0, 0};

	if (dots != NULL)
	{
		min.value = pnstrdup(option->value, dots - option->value);
		result.min = sk_option_int64(&min);
		result.max = sk_option_int64(&max);
	}
	if (result.min < 1 || result.min > result.max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value \"%s\" of option \"%s\"",
						option->value, option->name),
				 errhint("Write it as the first and the last value, such as 1..1000.")));
	return result;
}

/*
 * Have an access method parse its own options.  It may be of another library, so
 * what it leaves behind is checked.
 */
static void
parse_own_options(const SequenceAccessMethod *am, SkSequenceOptions *options,
				  List *own)
{
	SkSequenceOptions given;
	const int64 last = options->max_counter;

	/* with what lies between the members, so that all can be compared at once */
	memcpy(&given, options, sizeof(given));
	if (am->parse_options != NULL)
		am->parse_options(options, own);
	else if (own != NIL)
		sk_unknown_option(linitial(own), NULL);

	given.max_counter = options->max_counter;
	given.am_options = options->am_options;
	if (memcmp(&given, options, sizeof(given)) != 0 ||
		options->max_counter < 1 || options->max_counter > last)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("sequence access method \"%s\" changed options that are not its own",
						am->name),
				 errdetail("It may set am_options, and lower max_counter.")));
}

static SkIdentity
parse_identity(const SkOption *option)
{
	if (pg_strcasecmp(option->value, "always") == 0)
		return SK_IDENTITY_ALWAYS;
	if (pg_strcasecmp(option->value, "by_default") == 0)
		return SK_IDENTITY_BY_DEFAULT;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value \"%s\" of option \"%s\"",
					option->value, option->name),
			 errhint("Use \"always\" or \"by_default\".")));
	return SK_IDENTITY_NONE;	/* keep compiler quiet */
}

/* Refuse bits that a sequence of a type of that width does not have. */
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

/* Raise Spanner's errors for a skip range. */
static void
check_skip_range(const SkRange *range, bool has_min, bool has_max)
{
	if (!has_min && !has_max)
		return;

	if (has_min != has_max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`skip_range_min` and `skip_range_max` have to be set together")));
	if (range->min > range->max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`skip_range_min` has to be lesser than or equal to `skip_range_max`")));
	if (sk_range_is_empty(*range))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The sequence skipped range has to contain at least one positive value"),
				 errhint("A sequence gives positive values only: leave the skip range out.")));
}

/*
 * spanner_internal.list_sequence_access_methods() returns setof record
 */
Datum
spanner_list_sequence_access_methods(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SkSequenceAmRegistry *registry = get_registry();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < registry->count; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		values[0] = CStringGetTextDatum(method_name(registry->methods[i]));
		values[1] = CStringGetTextDatum(registry->methods[i]->description);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}
