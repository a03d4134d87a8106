/*-------------------------------------------------------------------------
 *
 * register_method.c
 *	  Registers sequence access methods with any name and version.
 *
 * test/modules/register_method/register_method.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "extension/spanner_keys/access_method.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(register_method);
PG_FUNCTION_INFO_V1(interface_version);

/* What is wrong with the methods that are registered from here on. */
static char *fault = "";

static bool has_fault(const char *what);
static bool give_counter(const SkSequenceOptions *options, int64 number,
						 int64 *result);
static void parse_options(SkSequenceOptions *options, List *own);
static List *describe(const SkSequenceOptions *options);

/*
 * register_method(name text, version integer, fault text) returns void
 */
Datum
register_method(PG_FUNCTION_ARGS)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	SequenceAccessMethod *am = palloc0(sizeof(SequenceAccessMethod));

	fault = text_to_cstring(PG_GETARG_TEXT_PP(2));
	if (!has_fault("no name"))
		am->name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	am->version = PG_GETARG_INT32(1);
	if (!has_fault("no description"))
		am->description = "a method of the tests";
	if (!has_fault("no nextval"))
		am->nextval = give_counter;
	if (!has_fault("no unmap"))
		am->unmap = give_counter;
	am->parse_options = parse_options;
	am->describe = describe;
	MemoryContextSwitchTo(old);
	sk_register_sequence_am(am);
	PG_RETURN_VOID();
}

/*
 * interface_version() returns integer
 */
Datum
interface_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(SK_SEQUENCE_AM_VERSION);
}

static bool
has_fault(const char *what)
{
	return strcmp(fault, what) == 0;
}

static bool
give_counter(const SkSequenceOptions *options, int64 number, int64 *result)
{
	*result = number;
	if (has_fault("same value"))
		*result = 5;
	else if (number > 3 && has_fault("value 0"))
		*result = 0;
	else if (number > 3 && has_fault("negative value"))
		*result = PG_INT64_MIN;
	else if (number > 3 && has_fault("wide value"))
		*result = (int64) ((UINT64CONST(1) << options->bits) - 1);
	return true;
}

static void
parse_options(SkSequenceOptions *options, List *own)
{
	if (own != NIL && !has_fault("forgets options") && !has_fault("no word"))
		sk_unknown_option(linitial(own), NULL);
	options->am_options = own;
	if (has_fault("bits"))
		options->bits = 64;
	else if (has_fault("skip range"))
		options->skip_range.max = 1;
	else if (has_fault("last counter"))
		options->max_counter++;
	else if (has_fault("no counter"))
		options->max_counter = 0;
}

static List *
describe(const SkSequenceOptions *options)
{
	SkOption   *option = palloc0(sizeof(SkOption));

	option->name = "mode";
	if (has_fault("no word"))
		option->value = "a b), x=(";
	else if (has_fault("forgets options") && options->am_options == NIL)
		option->value = "a";
	else if (has_fault("bits twice"))
	{
		option->name = "bits";
		option->value = "7";
	}
	else
		return NIL;
	return list_make1(option);
}
