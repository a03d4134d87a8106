/*-------------------------------------------------------------------------
 *
 * fuzz_farmhash.c
 *	  Fuzz target: FarmHash against a second, slow implementation.
 *
 * Each input is hashed from a heap block of exactly its size, so that the
 * address sanitizer sees a read beyond either end, and at an odd address.
 *
 * The slow implementation takes every word of the input apart into bytes
 * and follows the published formulas with one array of state, sharing no
 * code with the fast one.
 *
 * test/fuzz/fuzz_farmhash.c
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "keys/farmhash.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t k[3] = {
	UINT64_C(0xc3a5c85c97cb3127),
	UINT64_C(0xb492b66fbe98f273),
	UINT64_C(0x9ae16a3b2f90404f)
};

/* Read "width" bytes from place "at" as a little-endian number. */
static uint64_t
fetch(const uint8_t *data, size_t size, size_t at, int width)
{
	uint64_t	result = 0;

	for (int i = width - 1; i >= 0; i--)
	{
		if (at + i >= size)
			abort();
		result = result * 256 + data[at + i];
	}
	return result;
}

static uint64_t
rotate(uint64_t value, int bits)
{
	for (int i = 0; i < bits; i++)
		value = (value >> 1) | ((value & 1) << 63);
	return value;
}

static uint64_t
mix2(uint64_t u, uint64_t v, uint64_t mul)
{
	uint64_t	a;
	uint64_t	b;

	a = (u ^ v) * mul;
	a ^= (a >> 47);
	b = (v ^ a) * mul;
	b ^= (b >> 47);
	return b * mul;
}

/* Mix four words and two of the state into a pair. */
static void
weak(const uint64_t word[4], uint64_t a, uint64_t b, uint64_t pair[2])
{
	uint64_t	c;

	a += word[0];
	b = rotate(b + a + word[3], 21);
	c = a;
	a += word[1];
	a += word[2];
	b += rotate(a, 44);
	pair[0] = a + word[3];
	pair[1] = b + c;
}

static void
slow_round(const uint8_t *data, size_t size, size_t at, uint64_t mul,
		   uint64_t nine, uint64_t s[7])
{
	enum
	{
		X, Y, Z, V0, V1, W0, W1
	};
	uint64_t	word[8];
	uint64_t	swap;

	for (int i = 0; i < 8; i++)
		word[i] = fetch(data, size, at + 8 * i, 8);

	s[X] = rotate(s[X] + s[Y] + s[V0] + word[1], 37) * mul;
	s[Y] = rotate(s[Y] + s[V1] + word[6], 42) * mul;
	s[X] ^= s[W1] * nine;
	s[Y] += s[V0] * nine + word[5];
	s[Z] = rotate(s[Z] + s[W0], 33) * mul;
	weak(word, s[V1] * mul, s[X] + s[W0], &s[V0]);
	weak(word + 4, s[Z] + s[W1], s[Y] + word[2], &s[W0]);
	swap = s[Z];
	s[Z] = s[X];
	s[X] = swap;
}

static uint64_t
slow_long(const uint8_t *data, size_t size)
{
	uint64_t	s[7] = {0};
	uint64_t	mul;
	uint64_t	tail = (size - 1) % 64;

	s[0] = 81 * k[2] + fetch(data, size, 0, 8);
	s[1] = 81 * k[1] + 113;
	s[2] = s[1] * k[2] + 113;
	s[2] = (s[2] ^ (s[2] >> 47)) * k[2];
	for (size_t block = 0; block < (size - 1) / 64; block++)
		slow_round(data, size, block * 64, k[1], 1, s);

	mul = k[1] + 2 * (s[2] & 255);
	s[5] += tail;
	s[3] += s[5];
	s[5] += s[3];
	slow_round(data, size, size - 64, mul, 9, s);
	return mix2(mix2(s[3], s[5], mul) + (s[1] ^ (s[1] >> 47)) * k[0] + s[2],
				mix2(s[4], s[6], mul) + s[0], mul);
}

static uint64_t
slow_17_to_64(const uint8_t *data, size_t size)
{
	uint64_t	mul = k[2] + 2 * size;
	uint64_t	a = fetch(data, size, 0, 8) * (size <= 32 ? k[1] : k[2]);
	uint64_t	b = fetch(data, size, 8, 8);
	uint64_t	c = fetch(data, size, size - 8, 8) * mul;
	uint64_t	d = fetch(data, size, size - 16, 8) * k[2];
	uint64_t	y = rotate(a + b, 43) + rotate(c, 30) + d;
	uint64_t	z = a + rotate(b + k[2], 18) + c;
	uint64_t	e;
	uint64_t	f;
	uint64_t	g;
	uint64_t	h;

	z = mix2(y, z, mul);
	if (size <= 32)
		return z;

	e = fetch(data, size, 16, 8) * mul;
	f = fetch(data, size, 24, 8);
	g = (y + fetch(data, size, size - 32, 8)) * mul;
	h = (z + fetch(data, size, size - 24, 8)) * mul;
	return mix2(rotate(e + f, 43) + rotate(g, 30) + h,
				e + rotate(f + a, 18) + g, mul);
}

static uint64_t
slow_fingerprint(const uint8_t *data, size_t size)
{
	uint64_t	mul = k[2] + 2 * size;
	uint64_t	a;
	uint64_t	b;

	if (size == 0)
		return k[2];
	if (size < 4)
	{
		a = data[0] + 256 * (uint64_t) data[size / 2];
		b = size + 4 * (uint64_t) data[size - 1];
		a = a * k[2] ^ b * k[0];
		return (a ^ (a >> 47)) * k[2];
	}
	if (size < 8)
		return mix2(size + 8 * fetch(data, size, 0, 4),
					fetch(data, size, size - 4, 4), mul);
	if (size <= 16)
	{
		a = fetch(data, size, 0, 8) + k[2];
		b = fetch(data, size, size - 8, 8);
		return mix2(rotate(b, 37) * mul + a, (rotate(a, 25) + b) * mul, mul);
	}
	return size <= 64 ? slow_17_to_64(data, size) : slow_long(data, size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t	expected = slow_fingerprint(data, size);
	uint8_t    *exact = malloc(size);
	uint8_t    *odd = malloc(size + 1);

	if (odd == NULL || (exact == NULL && size > 0))
		abort();
	if (size > 0)
	{
		memcpy(exact, data, size);
		memcpy(odd + 1, data, size);
	}
	if (sk_farm_fingerprint64(exact, size) != expected ||
		sk_farm_fingerprint64(odd + 1, size) != expected)
		abort();
	free(exact);
	free(odd);
	return 0;
}
