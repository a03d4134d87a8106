/*-------------------------------------------------------------------------
 *
 * bit_reverse.h
 *	  Reversal of the bits of an integer.
 *
 * This file is pure C, so that it can be fuzzed and reused outside of a
 * server.
 *
 * src/keys/bit_reverse.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_BIT_REVERSE_H
#define SK_BIT_REVERSE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * sk_reverse_bits
 *		Reverse all 64 bits.
 */
static inline uint64_t
sk_reverse_bits(uint64_t value)
{
	/* swap neighbouring bits, then pairs, then ever wider groups */
	value = ((value >> 1) & UINT64_C(0x5555555555555555)) |
		((value & UINT64_C(0x5555555555555555)) << 1);
	value = ((value >> 2) & UINT64_C(0x3333333333333333)) |
		((value & UINT64_C(0x3333333333333333)) << 2);
	value = ((value >> 4) & UINT64_C(0x0F0F0F0F0F0F0F0F)) |
		((value & UINT64_C(0x0F0F0F0F0F0F0F0F)) << 4);
	value = ((value >> 8) & UINT64_C(0x00FF00FF00FF00FF)) |
		((value & UINT64_C(0x00FF00FF00FF00FF)) << 8);
	value = ((value >> 16) & UINT64_C(0x0000FFFF0000FFFF)) |
		((value & UINT64_C(0x0000FFFF0000FFFF)) << 16);
	return (value >> 32) | (value << 32);
}

/*
 * sk_reverse_low_bits
 *		Reverse the lowest "bits" bits, from 1 to 64; the others are dropped.
 */
static inline uint64_t
sk_reverse_low_bits(uint64_t value, int bits)
{
	return sk_reverse_bits(value) >> (64 - bits);
}

/*
 * sk_bit_reverse
 *		Reverse the bits of a signed integer, the way Spanner does.
 *
 * With "preserve_sign" the sign bit stays in its place and the 63 bits below
 * it are reversed; otherwise all 64 bits are.
 */
static inline int64_t
sk_bit_reverse(int64_t value, bool preserve_sign)
{
	const uint64_t sign = UINT64_C(1) << 63;
	uint64_t	bits = (uint64_t) value;

	if (preserve_sign)
		return (int64_t) ((bits & sign) | sk_reverse_low_bits(bits & ~sign, 63));
	return (int64_t) sk_reverse_bits(bits);
}

#endif							/* SK_BIT_REVERSE_H */
