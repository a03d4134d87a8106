/*-------------------------------------------------------------------------
 *
 * fuzz_bit_reverse.c
 *	  Fuzz target: reversal of bits against a loop over single bits.
 *
 * test/fuzz/fuzz_bit_reverse.c
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "keys/bit_reverse.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool ok)
{
	if (!ok)
		abort();
}

/* Reverse the lowest "bits" bits, one by one. */
static uint64_t
reverse_one_by_one(uint64_t value, int bits)
{
	uint64_t	result = 0;

	for (int i = 0; i < bits; i++)
	{
		if ((value >> i) & 1)
			result |= UINT64_C(1) << (bits - 1 - i);
	}
	return result;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t	value = 0;
	uint64_t	low;
	int64_t		reversed;
	int			bits;

	if (size < 1)
		return 0;
	bits = data[0] % 64 + 1;
	memcpy(&value, data + 1, size - 1 < sizeof(value) ? size - 1 : sizeof(value));

	check(sk_reverse_bits(value) == reverse_one_by_one(value, 64));
	check(sk_reverse_bits(sk_reverse_bits(value)) == value);

	low = sk_reverse_low_bits(value, bits);
	check(low == reverse_one_by_one(value, bits));
	check(sk_reverse_low_bits(low, bits) == (bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value));

	reversed = sk_bit_reverse((int64_t) value, false);
	check((uint64_t) reversed == reverse_one_by_one(value, 64));
	check(sk_bit_reverse(reversed, false) == (int64_t) value);

	reversed = sk_bit_reverse((int64_t) value, true);
	check((reversed < 0) == ((int64_t) value < 0));
	check(((uint64_t) reversed & INT64_MAX) == reverse_one_by_one(value, 63));
	check(sk_bit_reverse(reversed, true) == (int64_t) value);

	return 0;
}
