/*-------------------------------------------------------------------------
 *
 * unchanged.c
 *	  Sequence access method unchanged: the values are the counters.
 *
 * Whoever compares a server where every sequence has an access method with
 * one where none has, sees with this one all that is different but the ids.
 *
 * test/modules/unchanged/unchanged.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "extension/spanner_keys/access_method.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(unchanged_load);

void		_PG_init(void);

static bool unchanged_nextval(const SkSequenceOptions *options,
							  int64 counter, int64 *value);
static bool unchanged_unmap(const SkSequenceOptions *options, int64 value,
							int64 *counter);
static int64 unchanged_least_distance(const SkSequenceOptions *options,
									  int64 increment, int64 last);

static const SequenceAccessMethod unchanged_am = {
	.version = SK_SEQUENCE_AM_VERSION,
	.name = "unchanged",
	.description = "the counter itself",
	.nextval = unchanged_nextval,
	.unmap = unchanged_unmap,
	.least_distance = unchanged_least_distance,
};

void
_PG_init(void)
{
	sk_register_sequence_am(&unchanged_am);
}

static bool
unchanged_nextval(const SkSequenceOptions *options, int64 counter,
				  int64 *value)
{
	*value = counter;
	return true;
}

static bool
unchanged_unmap(const SkSequenceOptions *options, int64 value, int64 *counter)
{
	*counter = value;
	return value >= 1 && value <= options->max_counter;
}

static int64
unchanged_least_distance(const SkSequenceOptions *options, int64 increment,
						 int64 last)
{
	return increment;
}

/*
 * spanner.load_unchanged() returns void
 *
 * Nothing remains to be done once the library has been loaded for the call.
 */
Datum
unchanged_load(PG_FUNCTION_ARGS)
{
	PG_RETURN_VOID();
}
