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

static bool give_counter(const SkSequenceOptions *options, int64 number,
						 int64 *result);

/*
 * register_method(name text, version integer) returns void
 */
Datum
register_method(PG_FUNCTION_ARGS)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	SequenceAccessMethod *am = palloc0(sizeof(SequenceAccessMethod));

	am->name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	am->version = PG_GETARG_INT32(1);
	am->description = "a method of the tests";
	am->nextval = am->unmap = give_counter;
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
give_counter(const SkSequenceOptions *options, int64 number, int64 *result)
{
	*result = number;
	return true;
}
