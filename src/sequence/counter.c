/*-------------------------------------------------------------------------
 *
 * counter.c
 *	  From the counter of a core sequence to a value.
 *
 * The counter is drawn with core's nextval, which takes care of locks, WAL,
 * caching and crash recovery.  Here it is mapped by the access method, and
 * drawn again where the value falls into the skip range.
 *
 * src/sequence/counter.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/pg_sequence.h"
#include "commands/sequence.h"
#include "common/int.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/counter.h"
#include "sequence/draw_privilege.h"

static bool unskipped_value(SkBinding *binding, int64 counter, int64 *value);
static void keep_last_value(SkBinding *binding, int64 counter);
static void report_no_value(SkBinding *binding, int64 counter);
static void report_exhausted(SkBinding *binding);

/*
 * sk_counter_draw
 *		Advance the core sequence and return its counter.
 *
 * Checks privileges: see draw_privilege.c.
 */
int64
sk_counter_draw(SkBinding *binding)
{
	sk_check_draw_privilege(binding->seqid, InvalidOid);
	return nextval_internal(binding->seqid, false);
}

/*
 * sk_counter_draw_again
 *		Go on where a counter has no value, or one to be passed over.
 *
 * Returns the value, and the counter that gives it in *counter.  Raises an
 * error if the counter space, or the patience, is exhausted.
 */
int64
sk_counter_draw_again(SkBinding *binding, int64 *counter)
{
	Oid			seqid = binding->seqid;
	int64		value;

	for (int attempt = 1;
		 !unskipped_value(binding, *counter, &value) ||
		 sk_is_skipped(binding->options, value); attempt++)
	{
		if (attempt >= SK_MAX_ATTEMPTS)
		{
			keep_last_value(binding, *counter);
			report_exhausted(binding);
		}
		CHECK_FOR_INTERRUPTS();
		*counter = sk_counter_draw(binding);
		binding = sk_binding_get(seqid);
		if (binding->am == NULL)
			return *counter;
	}
	return value;
}

/*
 * Map a counter of a bound sequence, without regard to skip ranges.  Returns
 * false if the access method passes it over.
 */
static bool
unskipped_value(SkBinding *binding, int64 counter, int64 *value)
{
	if (!sk_has_value(binding->options, counter))
	{
		keep_last_value(binding, counter);
		report_no_value(binding, counter);
	}
	return binding->am->nextval(binding->options, counter, value);
}

/* A counter that gives no value leaves currval where it is. */
static void
keep_last_value(SkBinding *binding, int64 counter)
{
	if (binding->last_counter != 0)
		binding->last_counter = counter;
}

static void
report_no_value(SkBinding *binding, int64 counter)
{
	if (counter < 1)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("counter %lld of sequence \"%s\" is not positive",
						(long long) counter, get_rel_name(binding->seqid)),
				 errhint("Restart the sequence with a counter of at least 1.")));
	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("Sequence %s is exhausted",
					get_rel_name(binding->seqid)),
			 errdetail("The last counter that has a value of %d bits is %lld.",
					   binding->options->bits,
					   (long long) binding->options->max_counter),
			 errhint("Use a new sequence with more bits.")));
}

static void
report_exhausted(SkBinding *binding)
{
	if (!binding->options->has_skip_range)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("Sequence %s is exhausted",
						get_rel_name(binding->seqid)),
				 errdetail("Its access method passed over %d counters in a row.",
						   SK_MAX_ATTEMPTS),
				 errhint("Use a new sequence with more bits.")));
	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("Sequence %s is exhausted",
					get_rel_name(binding->seqid)),
			 errdetail("%d counters in a row gave values in the skip range %lld to %lld.",
					   SK_MAX_ATTEMPTS,
					   (long long) binding->options->skip_range_min,
					   (long long) binding->options->skip_range_max),
			 errhint("Make the skip range smaller, or use a new sequence with more bits.")));
}
