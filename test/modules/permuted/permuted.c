/*-------------------------------------------------------------------------
 *
 * permuted.c
 *	  Sequence access method permuted: a keyed permutation of the counter.
 *
 * A Feistel network over the bits of the value, with a round function that
 * the option "key" determines.  To one who sees a few values and does not
 * know the key they look random, and they spread evenly over the keys of an
 * index.  This is not cryptography: neither the round function nor the key,
 * which stands in a security label that every user of the database can read,
 * withstands an attack.
 *
 * Values that have been given out must never be given for another counter,
 * so nothing here may ever change for a method of this name.  The server's
 * hash functions come without such a promise, and are not used.
 *
 * test/modules/permuted/permuted.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "extension/spanner_keys/access_method.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(permuted_load);

#define ROUNDS 8

/* What am_options points to. */
typedef struct PermutedOptions
{
	uint64		key;
	uint64		round_keys[ROUNDS];
	int			low_bits;		/* width of the lower half */
	uint64		low_mask;
	uint64		high_mask;
} PermutedOptions;

void		_PG_init(void);

static void permuted_parse_options(SkSequenceOptions *options, List *own);
static bool permuted_nextval(const SkSequenceOptions *options, int64 counter,
							 int64 *value);
static bool permuted_unmap(const SkSequenceOptions *options, int64 value,
						   int64 *counter);
static List *permuted_describe(const SkSequenceOptions *options);
static uint64 parse_key(const SkOption *option);
static uint64 mix(uint64 value);
static uint64 encrypt(const PermutedOptions *permuted, uint64 value);
static uint64 decrypt(const PermutedOptions *permuted, uint64 value);
static bool has_value(const SkSequenceOptions *options, uint64 value);

static const SequenceAccessMethod permuted_am = {
	.version = SK_SEQUENCE_AM_VERSION,
	.name = "permuted",
	.description = "a keyed permutation of the counter",
	.parse_options = permuted_parse_options,
	.nextval = permuted_nextval,
	.unmap = permuted_unmap,
	.describe = permuted_describe,
};

void
_PG_init(void)
{
	sk_register_sequence_am(&permuted_am);
}

static void
permuted_parse_options(SkSequenceOptions *options, List *own)
{
	PermutedOptions *permuted = palloc(sizeof(PermutedOptions));
	bool		has_key = false;
	ListCell   *lc;

	foreach(lc, own)
	{
		SkOption   *option = lfirst(lc);

		if (strcmp(option->name, "key") != 0)
			sk_unknown_option(option, "key");
		permuted->key = parse_key(option);
		has_key = true;
	}
	if (!has_key)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sequence kind \"%s\" needs a key", permuted_am.name),
				 errhint("An example is \"permuted(key=0x9d1c40a35b7e2f68)\"; choose a number of your own.")));

	for (int i = 0; i < ROUNDS; i++)
		permuted->round_keys[i] =
			mix(permuted->key + (i + 1) * UINT64CONST(0x9e3779b97f4a7c15));
	permuted->low_bits = (options->bits + 1) / 2;
	permuted->low_mask = (UINT64CONST(1) << permuted->low_bits) - 1;
	permuted->high_mask =
		(UINT64CONST(1) << (options->bits - permuted->low_bits)) - 1;
	options->am_options = permuted;
}

/*
 * The network permutes all numbers of that many bits, of which the first and
 * the last are no values.  Where one of them comes out, the network is
 * applied again: along the cycle of a permutation that starts at a counter,
 * some value follows, at the latest the counter itself.
 */
static bool
permuted_nextval(const SkSequenceOptions *options, int64 counter,
				 int64 *value)
{
	uint64		result = (uint64) counter;

	do
	{
		result = encrypt(options->am_options, result);
	} while (!has_value(options, result));
	*value = (int64) result;
	return true;
}

static bool
permuted_unmap(const SkSequenceOptions *options, int64 value, int64 *counter)
{
	uint64		result = (uint64) value;

	if (!has_value(options, result))
		return false;

	do
	{
		result = decrypt(options->am_options, result);
	} while (!has_value(options, result));
	*counter = (int64) result;
	return true;
}

static List *
permuted_describe(const SkSequenceOptions *options)
{
	const PermutedOptions *permuted = options->am_options;
	SkOption   *option = palloc(sizeof(SkOption));

	option->name = "key";
	option->value = psprintf("0x%016llx", (unsigned long long) permuted->key);
	return list_make1(option);
}

/* A number of 64 bits, decimal or with 0x in front hexadecimal. */
static uint64
parse_key(const SkOption *option)
{
	const char *text = option->value;
	bool		is_hex = pg_strncasecmp(text, "0x", 2) == 0;
	const char *digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
	uint64		key;

	if (is_hex)
		text	  +=2;

	errno = 0;
	key = strtou64(text, NULL, is_hex ? 16 : 10);
	if (*text == '\0' || text[strspn(text, digits)] != '\0' || errno != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value \"%s\" of option \"%s\"",
						option->value, option->name),
				 errhint("Use a number between 0 and 2^64 - 1, in decimal or with 0x in hexadecimal digits.")));
	return key;
}

/* The finalizer of SplitMix64. */
static uint64
mix(uint64 value)
{
	value = (value ^ (value >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

/*
 * The halves take turns: each is changed by a function of the other, which
 * can be undone whatever the function, and whatever the widths.
 */
static uint64
encrypt(const PermutedOptions *permuted, uint64 value)
{
	uint64		low = value & permuted->low_mask;
	uint64		high = value >> permuted->low_bits;

	for (int i = 0; i < ROUNDS; i += 2)
	{
		low ^= mix(high ^ permuted->round_keys[i]) & permuted->low_mask;
		high ^= mix(low ^ permuted->round_keys[i + 1]) & permuted->high_mask;
	}
	return (high << permuted->low_bits) | low;
}

static uint64
decrypt(const PermutedOptions *permuted, uint64 value)
{
	uint64		low = value & permuted->low_mask;
	uint64		high = value >> permuted->low_bits;

	for (int i = ROUNDS - 2; i >= 0; i -= 2)
	{
		high ^= mix(low ^ permuted->round_keys[i + 1]) & permuted->high_mask;
		low ^= mix(high ^ permuted->round_keys[i]) & permuted->low_mask;
	}
	return (high << permuted->low_bits) | low;
}

static bool
has_value(const SkSequenceOptions *options, uint64 value)
{
	return value >= 1 && value <= (uint64) options->max_counter;
}

/*
 * spanner.load_permuted() returns void
 *
 * Nothing remains to be done once the library has been loaded for the call.
 */
Datum
permuted_load(PG_FUNCTION_ARGS)
{
	PG_RETURN_VOID();
}
