/*-------------------------------------------------------------------------
 *
 * builtin_kinds.c
 *	  Access methods bit_reversed_positive and striped: counter to value.
 *
 * bit_reversed_positive is Cloud Spanner's.  The value is the counter with its
 * bits in reverse order.  Counters that follow each other differ in the highest
 * bits of their values, so that any number of equal key ranges gets the same
 * share of the inserts.
 *
 * striped has as many key ranges as there are stripes.
 * Only the lowest k = log2(stripes) bits of the counter are reversed, and
 * go to the top of the value; the rest, the run, gives the position in the
 * stripe.  Inserts spread over "stripes" equal key ranges as with full
 * reversal, but within each range they go to few B-tree pages, which stay in
 * memory.
 *
 * A B-tree splits a page in the middle unless it is the last of the index.
 * Keys that ascend in a stripe would leave all its pages half full.  So the
 * positions are divided into blocks, and each is filled in two passes: first
 * 9 of every 16 positions, and the 7 between them later.  A page is split
 * when it has rows of the first pass only, and the second one fills its half
 * to 8/9.  The second pass goes to a block once the first one has gone to
 * the next block, and its pages have been split:
 *
 *		first(0), first(1), second(0), first(2), second(1), ...
 *		first(last), second(last - 1), second(last)
 *
 * Values that have been given out must never be given for another counter,
 * so nothing of this may change.
 *
 * src/sequence/builtin_kinds.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "keys/bit_reverse.h"
#include "sequence/sequence.h"
#include "spanner_keys.h"

#define SK_DEFAULT_STRIPES 64
#define SK_MAX_STRIPES 65536

/* Positions of a block, and how many of them its passes fill. */
#define SK_BLOCK 512
#define SK_FIRST_PASS (SK_BLOCK / 16 * 9)
#define SK_SECOND_PASS (SK_BLOCK / 16 * 7)

/* Where in a block a fetch of the first or second pass goes. */
#define SK_FIRST_POSITION(draw) ((draw) * 16 / 9)
#define SK_SECOND_POSITION(draw) (((draw) * 16 + 15) / 7)

/* What am_options points to. */
typedef struct SkStripedOptions
{
	int			stripes;		/* a power of two */
	int			stripe_bits;	/* its logarithm, less than options->bits */
	uint64		runs;			/* values of a stripe */
} SkStripedOptions;

static bool bit_reversed_nextval(const SkSequenceOptions *options,
								 int64 counter, int64 *value);
static bool bit_reversed_unmap(const SkSequenceOptions *options, int64 value,
							   int64 *counter);
static int64 bit_reversed_least_distance(const SkSequenceOptions *options,
										 int64 increment, int64 last);
static int	default_stripes(int bits);
static void striped_parse_options(SkSequenceOptions *options, List *own);
static bool striped_nextval(const SkSequenceOptions *options, int64 counter,
							int64 *value);
static bool striped_unmap(const SkSequenceOptions *options, int64 value,
						  int64 *counter);
static List *striped_describe(const SkSequenceOptions *options);
static uint64 run_to_position(const SkStripedOptions *striped, uint64 run);
static uint64 position_to_run(const SkStripedOptions *striped,
							  uint64 position);

static const SequenceAccessMethod bit_reversed_positive_am = {
	.version = SK_SEQUENCE_AM_VERSION,
	.name = "bit_reversed_positive",
	.description = "the counter with its bits reversed, as in Cloud Spanner",
	.nextval = bit_reversed_nextval,
	.unmap = bit_reversed_unmap,
	.least_distance = bit_reversed_least_distance,
};

/* No least_distance: the passes of a block put values side by side. */
static const SequenceAccessMethod striped_am = {
	.version = SK_SEQUENCE_AM_VERSION,
	.name = "striped",
	.description = "dense runs in a power-of-two number of key ranges",
	.parse_options = striped_parse_options,
	.nextval = striped_nextval,
	.unmap = striped_unmap,
	.describe = striped_describe,
};

/*
 * sk_builtin_kinds_init
 *		Register the access methods that are built in.
 */
void
sk_builtin_kinds_init(void)
{
	sk_register_sequence_am(&bit_reversed_positive_am);
	sk_register_sequence_am(&striped_am);
}

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

/* The default gives way where the values are narrow. */
static int
default_stripes(int bits)
{
	return bits > 6 ? SK_DEFAULT_STRIPES : 1 << (bits - 1);
}

static void
striped_parse_options(SkSequenceOptions *options, List *own)
{
	SkStripedOptions *striped = palloc(sizeof(SkStripedOptions));
	int64		stripes = 0;
	ListCell   *lc;

	foreach(lc, own)
	{
		SkOption   *option = lfirst(lc);

		if (strcmp(option->name, "stripes") != 0)
			sk_unknown_option(option, "stripes");
		stripes = sk_option_int64(option);
		if (stripes < 2 || stripes > SK_MAX_STRIPES ||
			(stripes & (stripes - 1)) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("stripes must be a power of two between 2 and %d",
							SK_MAX_STRIPES)));
	}

	if (stripes == 0)
		stripes = default_stripes(options->bits);

	striped->stripes = (int) stripes;
	striped->stripe_bits = pg_leftmost_one_pos32((uint32) stripes);
	if (striped->stripe_bits >= options->bits)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d stripes do not fit into %d bits",
						striped->stripes, options->bits),
				 errhint("Use at most %d stripes.",
						 1 << (options->bits - 1))));
	striped->runs = UINT64CONST(1) << (options->bits - striped->stripe_bits);
	Assert(striped->stripes == 1 << striped->stripe_bits);
	options->am_options = striped;
}

static bool
striped_nextval(const SkSequenceOptions *options, int64 counter, int64 *value)
{
	const SkStripedOptions *striped = options->am_options;
	uint64		stripe = (uint64) counter & (striped->stripes - 1);
	uint64		run = (uint64) counter >> striped->stripe_bits;

	Assert(counter >= 1 && counter <= options->max_counter);
	Assert(striped->stripe_bits >= 1 && striped->stripe_bits < options->bits);
	stripe = sk_reverse_low_bits(stripe, striped->stripe_bits);
	*value = (int64) ((stripe << (options->bits - striped->stripe_bits)) |
					  run_to_position(striped, run));
	return true;
}

static bool
striped_unmap(const SkSequenceOptions *options, int64 value, int64 *counter)
{
	const SkStripedOptions *striped = options->am_options;
	int			run_bits = options->bits - striped->stripe_bits;
	uint64		stripe;
	uint64		position;

	if (value < 1 || value > options->max_counter)
		return false;

	stripe = sk_reverse_low_bits((uint64) value >> run_bits,
								 striped->stripe_bits);
	position = (uint64) value & (striped->runs - 1);
	*counter = (int64) ((position_to_run(striped, position) << striped->stripe_bits) |
						stripe);
	return true;
}

static List *
striped_describe(const SkSequenceOptions *options)
{
	const SkStripedOptions *striped = options->am_options;
	SkLabel		label = {0};

	if (striped->stripes != default_stripes(options->bits))
		sk_label_set_int64(&label, "stripes", striped->stripes);
	return label.options;
}

/*
 * The position of a run in its stripe.
 *
 * The runs are numbered anew in groups, each of the first pass of a block and
 * the second one of the block before.  The first group has no second pass,
 * and the one after the last block no first pass.  So the first run and the
 * last one keep their places, and 0 and 2^bits - 1 come of no counter.
 */
static uint64
run_to_position(const SkStripedOptions *striped, uint64 run)
{
	uint64		group;
	uint32		draw;

	Assert(run < striped->runs);
	if (striped->runs < SK_BLOCK)
		return run;

	if (run >= striped->runs - SK_SECOND_PASS)
		run += SK_FIRST_PASS;
	if (run >= SK_FIRST_PASS)
		run += SK_SECOND_PASS;

	draw = run % SK_BLOCK;
	group = run - draw;
	/* the first group begins with a first pass, and has no block before it */
	Assert(draw < SK_FIRST_PASS || group >= SK_BLOCK);
	if (draw < SK_FIRST_PASS)
		return group + SK_FIRST_POSITION(draw);
	return group - SK_BLOCK + SK_SECOND_POSITION(draw - SK_FIRST_PASS);
}

/* The reverse. */
static uint64
position_to_run(const SkStripedOptions *striped, uint64 position)
{
	uint32		offset = position % SK_BLOCK;
	uint32		draw = (offset * 9 + 15) / 16;	/* of the first pass, so far */
	uint64		run = position - offset;

	Assert(position < striped->runs);
	if (striped->runs < SK_BLOCK)
		return position;

	if (SK_FIRST_POSITION(draw) == offset)
		run += draw;
	else
		run += SK_BLOCK + SK_FIRST_PASS + offset - draw;

	if (run >= SK_FIRST_PASS)
		run -= SK_SECOND_PASS;
	if (run >= striped->runs - SK_SECOND_PASS + SK_FIRST_PASS)
		run -= SK_FIRST_PASS;
	Assert(run < striped->runs && run_to_position(striped, run) == position);
	return run;
}
