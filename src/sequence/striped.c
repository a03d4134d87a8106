/*-------------------------------------------------------------------------
 *
 * striped.c
 *	  Access method striped: as many ascending runs as there are stripes.
 *
 * Only the lowest k = log2(stripes) bits of the counter are reversed, and
 * go to the top of the value; the rest of the counter ascends below them.
 * Inserts spread over "stripes" equal key ranges as with full reversal, but
 * within each range they go to one B-tree page that stays in memory.
 *
 * src/sequence/striped.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "keys/bit_reverse.h"
#include "sequence/registry.h"

#define SK_DEFAULT_STRIPES 256
#define SK_MAX_STRIPES 65536

/* What am_options points to. */
typedef struct SkStripedOptions
{
	int			stripes;		/* a power of two */
	int			stripe_bits;	/* its logarithm, less than options->bits */
} SkStripedOptions;

static int	default_stripes(int bits);
static void striped_parse_options(SkSequenceOptions *options, List *own);
static bool striped_nextval(const SkSequenceOptions *options, int64 counter,
							int64 *value);
static bool striped_unmap(const SkSequenceOptions *options, int64 value,
						  int64 *counter);
static List *striped_describe(const SkSequenceOptions *options);

const SequenceAccessMethod sk_striped_am = {
	.version = SK_SEQUENCE_AM_VERSION,
	.name = "striped",
	.description = "ascending runs in a power-of-two number of key ranges",
	.parse_options = striped_parse_options,
	.nextval = striped_nextval,
	.unmap = striped_unmap,
	.describe = striped_describe,
};

/* The default gives way where the values are narrow. */
static int
default_stripes(int bits)
{
	return bits > 8 ? SK_DEFAULT_STRIPES : 1 << (bits - 1);
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
							SK_MAX_STRIPES),
					 errhint("The default of %d suits most tables.",
							 SK_DEFAULT_STRIPES)));
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
	options->am_options = striped;
}

static bool
striped_nextval(const SkSequenceOptions *options, int64 counter, int64 *value)
{
	const SkStripedOptions *striped = options->am_options;
	uint64		stripe = (uint64) counter & (striped->stripes - 1);

	stripe = sk_reverse_low_bits(stripe, striped->stripe_bits);
	*value = (int64) ((stripe << (options->bits - striped->stripe_bits)) |
					  ((uint64) counter >> striped->stripe_bits));
	return true;
}

static bool
striped_unmap(const SkSequenceOptions *options, int64 value, int64 *counter)
{
	const SkStripedOptions *striped = options->am_options;
	int			run_bits = options->bits - striped->stripe_bits;
	uint64		stripe;
	uint64		run;

	if (value < 1 || value > options->max_counter)
		return false;

	stripe = sk_reverse_low_bits((uint64) value >> run_bits,
								 striped->stripe_bits);
	run = (uint64) value & ((UINT64CONST(1) << run_bits) - 1);
	*counter = (int64) ((run << striped->stripe_bits) | stripe);
	return true;
}

static List *
striped_describe(const SkSequenceOptions *options)
{
	const SkStripedOptions *striped = options->am_options;
	SkOption   *option;

	if (striped->stripes == default_stripes(options->bits))
		return NIL;

	option = palloc(sizeof(SkOption));
	option->name = "stripes";
	option->value = psprintf("%d", striped->stripes);
	return list_make1(option);
}
