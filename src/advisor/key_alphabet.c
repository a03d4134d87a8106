/*-------------------------------------------------------------------------
 *
 * key_alphabet.c
 *	  Texts and byte strings as numbers.
 *
 * They are compared by their bytes, whatever the collation.  What all keys
 * begin with is left out.  The bytes that occur at each place behind it are
 * the digits of a number, so that keys that consist of digits or of
 * hexadecimal digits only spread over the whole space.
 *
 * src/advisor/key_alphabet.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "advisor/key_alphabet.h"

static bool add_place(SkAlphabet *alphabet, const SkKeySample *sample,
					  uint64 *size);
static int	byte_at(const SkSampledRow *row, int index);

/*
 * sk_alphabet_make
 *		Find the digits of sampled keys, which are "sorted" by their bytes.
 */
SkAlphabet *
sk_alphabet_make(const SkKeySample *sample, SkSampledRow **sorted)
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

/*
 * sk_alphabet_place
 *		The number that a key is.
 */
uint64
sk_alphabet_place(const SkAlphabet *alphabet, const SkSampledRow *row)
{
	uint64		result = 0;

	for (int i = 0; i < alphabet->places; i++)
		result = result * alphabet->place[i].count +
			alphabet->place[i].digits[byte_at(row, alphabet->prefix_length + i) + 1];
	return result;
}

/*
 * sk_alphabet_key
 *		The shortest key that is that number, or would be.
 *
 * Writes its bytes to "bytes", which has room for SK_ALPHABET_KEY_SIZE of
 * them, and returns how many they are.
 */
int
sk_alphabet_key(const SkAlphabet *alphabet, uint64 place, unsigned char *bytes)
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
