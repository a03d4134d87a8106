/*-------------------------------------------------------------------------
 *
 * bit_reversed.c
 *	  Access method bit_reversed_positive: Cloud Spanner's sequences.
 *
 * The value is the counter with its bits in reverse order.  Counters that
 * follow each other differ in the highest bits of their values, so that any
 * number of equal key ranges gets the same share of the inserts.
 *
 * src/sequence/bit_reversed.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "keys/bit_reverse.h"
#include "sequence/kind.h"
#include "sequence/registry.h"

static bool bit_reversed_nextval(const SkSequenceOptions *options,
								 int64 counter, int64 *value);
static bool bit_reversed_unmap(const SkSequenceOptions *options, int64 value,
							   int64 *counter);
static int64 bit_reversed_least_distance(const SkSequenceOptions *options,
										 int64 increment, int64 last);

const SequenceAccessMethod sk_bit_reversed_positive_am = {
	.version = SK_SEQUENCE_AM_VERSION,
	.name = "bit_reversed_positive",
	.description = "the counter with its bits reversed, as in Cloud Spanner",
	.nextval = bit_reversed_nextval,
	.unmap = bit_reversed_unmap,
	.least_distance = bit_reversed_least_distance,
};

static bool
bit_reversed_nextval(const SkSequenceOptions *options, int64 counter,
					 int64 *value)
{
	Assert(options->bits >= SK_MIN_BITS && options->bits <= 63);
	Assert(counter >= 1 && counter <= options->max_counter);
	*value = (int64) sk_reverse_low_bits((uint64) counter, options->bits);
	return true;
}

static bool
bit_reversed_unmap(const SkSequenceOptions *options, int64 value,
				   int64 *counter)
{
	if (value < 1 || value > options->max_counter)
		return false;
	*counter = (int64) sk_reverse_low_bits((uint64) value, options->bits);
	return true;
}

/*
 * Counters of at most m bits have values whose lowest bits, all but m, are
 * zeros, whatever the increment.
 */
static int64
bit_reversed_least_distance(const SkSequenceOptions *options, int64 increment,
							int64 last)
{
	Assert(last >= 1 && last <= options->max_counter);
	return INT64CONST(1) << (options->bits - 1 - pg_leftmost_one_pos64(last));
}
