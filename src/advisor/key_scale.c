/*-------------------------------------------------------------------------
 *
 * key_scale.c
 *	  From keys to positions in key space, and to buckets of equal width.
 *
 * Positions are numbers from 0, the smallest sampled key, to the largest.  All
 * buckets have the same width in positions, so that a field of equal shades is
 * an even spread.  Where there are fewer positions than buckets, each has a
 * bucket of its own.  For random UUIDs, and integers that are as sparse as
 * bit-reversed ones, key space is their whole value space.
 *
 * Keys that are infinite, or no number, go to the outermost buckets.
 *
 * Texts and byte strings are numbers, too.  They are compared by their bytes,
 * whatever the collation.  What all keys begin with is left out.  The bytes
 * that occur at each place behind it are the digits of a number, so that keys
 * of decimal or hexadecimal digits spread over the whole space.
 *
 * src/advisor/key_scale.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "advisor/key_scale.h"

/* Steps between the smallest and the largest number that is not an integer. */
#define SK_FLOAT_STEPS (UINT64CONST(1) << 52)

/* In buckets of so many positions, a few more or less make no difference. */
#define SK_MANY_POSITIONS (UINT64CONST(1) << 20)

/* Of a longer prefix, only the last bytes are shown beside a picture. */
#define SK_LONG_PREFIX 12
#define SK_SHOWN_PREFIX 4

/* Buckets of this length, in microseconds, are whole seconds long. */
#define SK_LONG_TIME (100 * USECS_PER_SEC)

/* How many bytes are looked at behind what all keys begin with. */
#define SK_ALPHABET_PLACES 63

/* A character has up to 4 bytes. */
#define SK_ALPHABET_KEY_SIZE (4 * SK_KEY_BYTES_READ + SK_ALPHABET_PLACES)

/* The bytes that sampled keys have behind what all of them begin with. */
struct SkAlphabet
{
	const unsigned char *prefix;	/* what all keys begin with */
	int			prefix_length;
	int			places;
	struct
	{
		int			count;
		int16		symbols[257];	/* bytes, ascending; -1 is the end of a
									 * key */
		int16		digits[257];	/* a byte's place in there, for byte + 1 */
	}			place[SK_ALPHABET_PLACES];
};

static void set_width(SkKeyScale *scale, int buckets);
static uint64 last_position(const SkKeyScale *scale, int bucket);
static void scale_integers(SkKeyScale *scale);
static void widen_range(const SkKeySample *sample, int64 *first, int64 *last);
static void scale_numbers(SkKeyScale *scale);
static uint64 number_position(const SkKeyScale *scale, double value);
static void scale_bytes(SkKeyScale *scale, int buckets);
static void scale_ranks(SkKeyScale *scale, int buckets);
static SkAlphabet *make_alphabet(const SkKeySample *sample,
								 SkSampledRow **sorted);
static bool add_place(SkAlphabet *alphabet, const SkKeySample *sample,
					  uint64 *size);
static int	byte_at(const SkSampledRow *row, int index);
static uint64 place_of_key(const SkAlphabet *alphabet, const SkSampledRow *row);
static int	key_at_place(const SkAlphabet *alphabet, uint64 place,
						 unsigned char *bytes);
static bool is_endless(int64 value);
static void rank_bytes(SkKeyScale *scale, SkSampledRow **sorted);
static bool has_neighbours(const SkKeyScale *scale);
static char *position_label(const SkKeyScale *scale, uint64 position, bool upper);
static char *integer_label(Oid type, int64 value);
static char *uuid_label(uint64 bytes, bool upper);
static char *place_label(const SkKeyScale *scale, uint64 place);
static char *bytes_label(Oid type, const unsigned char *bytes, int length);
static char *rank_label(const SkKeyScale *scale, uint64 from, uint64 to,
						bool upper);
static int	compare_bytes(const void *a, const void *b);
static int	compare_positions(const void *a, const void *b);

/*
 * sk_key_scale_make
 *		Give sampled rows their positions, sort them by those, and divide the
 *		key space into at most "buckets" buckets.
 */
void
sk_key_scale_make(SkKeyScale *scale, SkKeySample *sample, int buckets)
{
	memset(scale, 0, sizeof(SkKeyScale));
	scale->sample = sample;
	scale->form = sample->form;
	if (sample->count == 0)
		return;
	switch (sample->form)
	{
		case SK_KEY_INTEGER:
		case SK_KEY_UUID:
			scale_integers(scale);
			break;
		case SK_KEY_FLOAT:
			scale_numbers(scale);
			break;
		case SK_KEY_BYTES:
			scale_bytes(scale, buckets);
			break;
		case SK_KEY_RANK:
			scale_ranks(scale, buckets);
			break;
	}

	qsort(sample->rows, sample->count, sizeof(SkSampledRow), compare_positions);
	set_width(scale, buckets);
}

/*
 * sk_key_scale_different
 *		How many positions the sampled keys have.
 */
int
sk_key_scale_different(const SkKeyScale *scale)
{
	const SkKeySample *sample = scale->sample;
	int			result = Min(sample->count, 1);

	for (int i = 1; i < sample->count; i++)
		result += sample->rows[i].position != sample->rows[i - 1].position;
	return result;
}

/*
 * sk_key_scale_bucket
 *		The bucket, from 0, that a row is in.
 */
int
sk_key_scale_bucket(const SkKeyScale *scale, const SkSampledRow *row)
{
	return (int) Min(row->position / scale->width, scale->buckets - 1);
}

/*
 * sk_key_scale_from
 *		Where a bucket begins, as text.  NULL for an empty bucket of a type
 *		whose values cannot be computed with.
 */
char *
sk_key_scale_from(const SkKeyScale *scale, int bucket)
{
	uint64		from = scale->width * bucket;

	if (scale->form == SK_KEY_RANK)
		return rank_label(scale, from, last_position(scale, bucket), false);
	return position_label(scale, from, false);
}

/*
 * sk_key_scale_label
 *		The same for the axis of a picture: without most of a long text that
 *		all keys begin with.
 */
char *
sk_key_scale_label(const SkKeyScale *scale, int bucket)
{
	char	   *result = sk_key_scale_from(scale, bucket);
	int			skipped;

	if (scale->alphabet == NULL || scale->sample->key.type == BYTEAOID ||
		scale->alphabet->prefix_length <= SK_LONG_PREFIX)
		return result;
	skipped = pg_mbcliplen(result, strlen(result),
						   scale->alphabet->prefix_length - SK_SHOWN_PREFIX);
	return psprintf("..%s", result + skipped);
}

/*
 * sk_key_scale_to
 *		Where it ends: the last key in it, or the first of the next bucket if
 *		keys have no neighbours, such as times and floating-point numbers.
 */
char *
sk_key_scale_to(const SkKeyScale *scale, int bucket)
{
	uint64		to = last_position(scale, bucket);

	if (scale->form == SK_KEY_RANK)
		return rank_label(scale, scale->width * bucket, to, true);
	if (!has_neighbours(scale) && to < scale->last)
		to++;
	return position_label(scale, to, true);
}

/*
 * If there are few positions, only the last bucket can have fewer than the
 * others.  If there are many, it also gets the remainder of the division.
 */
static void
set_width(SkKeyScale *scale, int buckets)
{
	bool		is_time = scale->form == SK_KEY_INTEGER && !has_neighbours(scale);

	scale->width = scale->last / buckets;
	if (is_time && scale->width > SK_LONG_TIME)
		scale->width = (scale->width + USECS_PER_SEC - 1) / USECS_PER_SEC * USECS_PER_SEC;
	else if (scale->width < SK_MANY_POSITIONS ||
			 scale->last % buckets == buckets - 1)
		scale->width++;
	scale->buckets = (int) Min(scale->last / scale->width + 1, buckets);
}

static uint64
last_position(const SkKeyScale *scale, int bucket)
{
	return bucket == scale->buckets - 1 ? scale->last :
		scale->width * (bucket + 1) - 1;
}

static void
scale_integers(SkKeyScale *scale)
{
	SkKeySample *sample = scale->sample;
	bool		endless = scale->form == SK_KEY_INTEGER &&
		(sample->key.type == DATEOID || sample->key.type == TIMESTAMPOID ||
		 sample->key.type == TIMESTAMPTZOID);
	int64		first = PG_INT64_MAX;
	int64		last = PG_INT64_MIN;

	for (int i = 0; i < sample->count; i++)
	{
		int64		value = sample->rows[i].integer;

		if (endless && is_endless(value))
			continue;
		first = Min(first, value);
		last = Max(last, value);
	}
	if (first > last)
		first = last = sample->rows[0].integer;
	if (!endless)
		widen_range(sample, &first, &last);

	scale->first_integer = first;
	scale->last = (uint64) last - (uint64) first;
	for (int i = 0; i < sample->count; i++)
	{
		int64		value = Max(Min(sample->rows[i].integer, last), first);

		sample->rows[i].position = (uint64) value - (uint64) first;
	}
}

/*
 * If the sampled keys look as if they were spread over the whole value space,
 * take that for their range.  A key that counts rows never looks so.
 */
static void
widen_range(const SkKeySample *sample, int64 *first, int64 *last)
{
	static const int all_bits[] = {15, 31, 53, 63};
	const int64 edge = INT64CONST(1) << 60;

	if (sample->form == SK_KEY_UUID)
	{
		if (*first < PG_INT64_MIN + edge && *last > PG_INT64_MAX - edge)
		{
			*first = PG_INT64_MIN;
			*last = PG_INT64_MAX;
		}
		return;
	}

	for (int i = 0; i < lengthof(all_bits); i++)
	{
		int64		half = INT64CONST(1) << (all_bits[i] - 1);

		if (*first >= 0 && *first < half / 2 && *last >= half &&
			*last - half < half && sample->total < half / 8)
		{
			*first = 0;
			*last = half + (half - 1);
			return;
		}
	}
}

static bool
is_endless(int64 value)
{
	return value == PG_INT64_MIN || value == PG_INT64_MAX;
}

/*
 * Numbers are halved so that the distance of two of them cannot overflow.  What
 * is not finite shares the outermost positions with the outermost numbers.
 */
static void
scale_numbers(SkKeyScale *scale)
{
	SkKeySample *sample = scale->sample;
	double		first = INFINITY;
	double		last = -INFINITY;

	for (int i = 0; i < sample->count; i++)
	{
		double		value = sample->rows[i].number;

		if (isnan(value))
			scale->high = "NaN";
		else if (isinf(value) && value < 0)
			scale->low = "-Infinity";
		else if (isinf(value) && scale->high == NULL)
			scale->high = "Infinity";
		else if (!isinf(value))
		{
			first = Min(first, value);
			last = Max(last, value);
		}
	}
	if (first < last || (first == last && (scale->low || scale->high)) ||
		(scale->low && scale->high))
		scale->last = SK_FLOAT_STEPS;
	if (first > last)
		first = last = 0;

	scale->first_number = first;
	scale->last_number = last;
	for (int i = 0; i < sample->count; i++)
		sample->rows[i].position = number_position(scale, sample->rows[i].number);
}

static uint64
number_position(const SkKeyScale *scale, double value)
{
	double		first = scale->first_number;
	double		last = scale->last_number;

	if (isnan(value) || value > last)
		return scale->last;
	if (value < first)
		return 0;
	if (first < last)
		return Min(scale->last,
				   (uint64) ((value / 2 - first / 2) / (last / 2 - first / 2) * SK_FLOAT_STEPS));
	return scale->low == NULL ? 0 : scale->high == NULL ? scale->last :
		scale->last / 2;
}

static void
scale_bytes(SkKeyScale *scale, int buckets)
{
	SkKeySample *sample = scale->sample;
	SkSampledRow **sorted = palloc(sample->count * sizeof(SkSampledRow *));
	int			different = 1;

	for (int i = 0; i < sample->count; i++)
		sorted[i] = &sample->rows[i];
	qsort(sorted, sample->count, sizeof(SkSampledRow *), compare_bytes);
	for (int i = 1; i < sample->count; i++)
	{
		if (compare_bytes(&sorted[i - 1], &sorted[i]) != 0)
			different++;
	}

	if (different <= buckets)
		rank_bytes(scale, sorted);
	else
	{
		SkAlphabet *alphabet = make_alphabet(sample, sorted);

		scale->alphabet = alphabet;
		scale->first_place = place_of_key(alphabet, sorted[0]);
		for (int i = 0; i < sample->count; i++)
			sorted[i]->position = place_of_key(alphabet, sorted[i]) -
				scale->first_place;
		scale->last = sorted[sample->count - 1]->position;
	}
	pfree(sorted);
}

/* Few different keys: each is a position. */
static void
rank_bytes(SkKeyScale *scale, SkSampledRow **sorted)
{
	Oid			type = scale->sample->key.type;

	scale->form = SK_KEY_RANK;
	scale->last = 0;
	for (int i = 0; i < scale->sample->count; i++)
	{
		SkSampledRow *row = sorted[i];

		if (i > 0 && compare_bytes(&sorted[i - 1], &sorted[i]) == 0)
			row->label = sorted[i - 1]->label;
		else
		{
			row->label = bytes_label(type, row->bytes, row->length);
			scale->last += i > 0 ? 1 : 0;
		}
		row->position = scale->last;
	}
}

/* Find the digits of sampled keys, which are "sorted" by their bytes. */
static SkAlphabet *
make_alphabet(const SkKeySample *sample, SkSampledRow **sorted)
{
	SkAlphabet *alphabet = palloc0(sizeof(SkAlphabet));
	SkSampledRow *first = sorted[0];
	SkSampledRow *last = sorted[sample->count - 1];
	int			shorter = Min(first->length, last->length);
	uint64		size = 1;

	while (alphabet->prefix_length < shorter &&
		   first->bytes[alphabet->prefix_length] == last->bytes[alphabet->prefix_length])
		alphabet->prefix_length++;
	alphabet->prefix = first->bytes;
	while (alphabet->places < lengthof(alphabet->place) &&
		   add_place(alphabet, sample, &size))
		;
	return alphabet;
}

/* The number that a key is. */
static uint64
place_of_key(const SkAlphabet *alphabet, const SkSampledRow *row)
{
	uint64		result = 0;

	for (int i = 0; i < alphabet->places; i++)
		result = result * alphabet->place[i].count +
			alphabet->place[i].digits[byte_at(row, alphabet->prefix_length + i) + 1];
	return result;
}

/*
 * The shortest key that is that number, or would be.  Writes its bytes to
 * "bytes", which has room for SK_ALPHABET_KEY_SIZE of them, and returns how
 * many they are.
 */
static int
key_at_place(const SkAlphabet *alphabet, uint64 place, unsigned char *bytes)
{
	int			length = alphabet->prefix_length;
	int			digits[SK_ALPHABET_PLACES];

	for (int i = alphabet->places - 1; i >= 0; i--)
	{
		digits[i] = (int) (place % alphabet->place[i].count);
		place /= alphabet->place[i].count;
	}
	memcpy(bytes, alphabet->prefix, length);
	for (int i = 0; i < alphabet->places; i++)
	{
		int			code = alphabet->place[i].symbols[digits[i]];

		if (code < 0)
			break;
		bytes[length++] = (unsigned char) code;
	}
	return length;
}

/* Take one more byte of the keys, if all numbers then still fit. */
static bool
add_place(SkAlphabet *alphabet, const SkKeySample *sample, uint64 *size)
{
	int			place = alphabet->places;
	int			count = 0;
	bool		seen[257] = {false};

	for (int i = 0; i < sample->count; i++)
		seen[byte_at(&sample->rows[i], alphabet->prefix_length + place) + 1] = true;
	for (int i = 0; i < lengthof(seen); i++)
	{
		if (!seen[i])
			continue;
		alphabet->place[place].symbols[count] = i - 1;
		alphabet->place[place].digits[i] = count++;
	}

	if (*size > (UINT64CONST(1) << 62) / count ||
		(count == 1 && seen[0]))
		return false;
	*size *= count;
	alphabet->place[place].count = count;
	alphabet->places++;
	return true;
}

static int
byte_at(const SkSampledRow *row, int index)
{
	return index < row->length ? row->bytes[index] : -1;
}

static void
scale_ranks(SkKeyScale *scale, int buckets)
{
	SkKeySample *sample = scale->sample;
	bool		few;
	int64		most = 0;

	for (int i = 0; i < sample->count; i++)
		most = Max(most, sample->rows[i].dense_rank);
	few = most <= buckets;

	for (int i = 0; i < sample->count; i++)
	{
		SkSampledRow *row = &sample->rows[i];

		row->position = (few ? row->dense_rank : row->rank) - 1;
		scale->last = Max(scale->last, row->position);
	}
	if (!few)
		scale->last = sample->count - 1;
}

static bool
has_neighbours(const SkKeyScale *scale)
{
	switch (scale->sample->key.type)
	{
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return false;
		default:
			return scale->form != SK_KEY_FLOAT;
	}
}

static char *
position_label(const SkKeyScale *scale, uint64 position, bool upper)
{
	uint64		integer = (uint64) scale->first_integer + position;
	double		part = (double) position / SK_FLOAT_STEPS;

	switch (scale->form)
	{
		case SK_KEY_INTEGER:
			return integer_label(scale->sample->key.type, (int64) integer);
		case SK_KEY_UUID:
			return uuid_label(integer ^ (UINT64CONST(1) << 63), upper);
		case SK_KEY_FLOAT:
			if (scale->low != NULL && position == 0)
				return pstrdup(scale->low);
			if (scale->high != NULL && position == scale->last)
				return pstrdup(scale->high);
			return psprintf("%.15g", scale->last == 0 ? scale->first_number :
							scale->first_number * (1 - part) + scale->last_number * part);
		default:
			return place_label(scale, scale->first_place + position);
	}
}

static char *
integer_label(Oid type, int64 value)
{
	Oid			output;
	bool		is_varlena;
	Datum		datum;

	switch (type)
	{
		case BOOLOID:
			datum = BoolGetDatum(value != 0);
			break;
		case INT2OID:
			datum = Int16GetDatum((int16) value);
			break;
		case INT4OID:
			datum = Int32GetDatum((int32) value);
			break;
		case OIDOID:
			datum = ObjectIdGetDatum((Oid) value);
			break;
		case DATEOID:
			datum = DateADTGetDatum(value == PG_INT64_MIN ? DATEVAL_NOBEGIN :
									value == PG_INT64_MAX ? DATEVAL_NOEND :
									(DateADT) value);
			break;
		default:
			datum = Int64GetDatum(value);
	}
	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, datum);
}

static char *
uuid_label(uint64 bytes, bool upper)
{
	pg_uuid_t	uuid;

	memset(&uuid, upper ? 0xFF : 0, sizeof(uuid));
	for (int i = 0; i < 8; i++)
		uuid.data[i] = (unsigned char) (bytes >> (56 - 8 * i));
	return DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&uuid)));
}

static char *
place_label(const SkKeyScale *scale, uint64 place)
{
	unsigned char bytes[SK_ALPHABET_KEY_SIZE];
	int			length = key_at_place(scale->alphabet, place, bytes);

	return bytes_label(scale->sample->key.type, bytes, length);
}

/* Text that was cut inside of a character loses the rest of the character. */
static char *
bytes_label(Oid type, const unsigned char *bytes, int length)
{
	char	   *result;

	if (type != BYTEAOID)
		return pnstrdup((const char *) bytes,
						pg_encoding_verifymbstr(GetDatabaseEncoding(),
												(const char *) bytes, length));

	result = palloc(2 * length + 3);
	strcpy(result, "\\x");
	result[2 + hex_encode((const char *) bytes, length, result + 2)] = '\0';
	return result;
}

/* The first or last sampled key of a bucket, NULL if it has none. */
static char *
rank_label(const SkKeyScale *scale, uint64 from, uint64 to, bool upper)
{
	const SkKeySample *sample = scale->sample;
	uint64		wanted = upper ? to : from;
	int			low = 0;
	int			high = sample->count;

	/* the first row at or behind "wanted", or behind it */
	while (low < high)
	{
		int			middle = low + (high - low) / 2;
		uint64		position = sample->rows[middle].position;

		if (position < wanted || (upper && position == wanted))
			low = middle + 1;
		else
			high = middle;
	}
	if (upper)
		low--;
	if (low < 0 || low >= sample->count ||
		sample->rows[low].position < from || sample->rows[low].position > to)
		return NULL;
	return sample->rows[low].label;
}

static int
compare_bytes(const void *a, const void *b)
{
	const SkSampledRow *left = *(SkSampledRow *const *) a;
	const SkSampledRow *right = *(SkSampledRow *const *) b;
	int			result = memcmp(left->bytes, right->bytes,
								Min(left->length, right->length));

	return result != 0 ? result : left->length - right->length;
}

static int
compare_positions(const void *a, const void *b)
{
	uint64		left = ((const SkSampledRow *) a)->position;
	uint64		right = ((const SkSampledRow *) b)->position;

	return left < right ? -1 : left > right ? 1 : 0;
}
