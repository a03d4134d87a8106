/*-------------------------------------------------------------------------
 *
 * farmhash.c
 *	  FarmHash Fingerprint64, the hash behind Spanner's FARM_FINGERPRINT.
 *
 * The fingerprint of a string is the same on every machine, and never changes.
 * Input is read as little-endian words, whatever the machine, at any
 * alignment, and never beyond its last byte.  Arithmetic is modulo 2^64.
 *
 * Each class of lengths has its own formula; a longer one reads two
 * overlapping halves, counted from the start and from the end, rather than a
 * padded tail.
 *
 * This file is pure C, so that it can be fuzzed and reused outside of a
 * server.
 *
 * src/keys/farmhash.c
 *
 *-------------------------------------------------------------------------
 */
#include "farmhash.h"

/* odd constants of the algorithm */
#define SK_FARM_K0	UINT64_C(0xc3a5c85c97cb3127)
#define SK_FARM_K1	UINT64_C(0xb492b66fbe98f273)
#define SK_FARM_K2	UINT64_C(0x9ae16a3b2f90404f)

#define SK_FARM_SEED	UINT64_C(81)

/*
 * gcc -O2 leaves a function that is called twice out of line, and what it
 * works on in memory: long inputs would take 1.3 times as long.
 */
#ifdef __GNUC__
#define SK_ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define SK_ALWAYS_INLINE inline
#endif

/* Half of the state that is carried from one block of 64 bytes to the next. */
typedef struct SkFarmPair
{
	uint64_t	first;
	uint64_t	second;
} SkFarmPair;

typedef struct SkFarmState
{
	uint64_t	x;
	uint64_t	y;
	uint64_t	z;
	SkFarmPair	v;
	SkFarmPair	w;
} SkFarmState;

static uint64_t hash_0_to_16(const unsigned char *p, size_t len);
static uint64_t hash_17_to_32(const unsigned char *p, size_t len);
static uint64_t hash_33_to_64(const unsigned char *p, size_t len);
static uint64_t hash_65_and_more(const unsigned char *p, size_t len);

static inline uint32_t
load32(const unsigned char *p)
{
	return (uint32_t) p[0] |
		(uint32_t) p[1] << 8 |
		(uint32_t) p[2] << 16 |
		(uint32_t) p[3] << 24;
}

static inline uint64_t
load64(const unsigned char *p)
{
	return (uint64_t) p[0] |
		(uint64_t) p[1] << 8 |
		(uint64_t) p[2] << 16 |
		(uint64_t) p[3] << 24 |
		(uint64_t) p[4] << 32 |
		(uint64_t) p[5] << 40 |
		(uint64_t) p[6] << 48 |
		(uint64_t) p[7] << 56;
}

static inline uint64_t
rotate_right(uint64_t value, int bits)
{
	return (value >> bits) | (value << (64 - bits));
}

static inline uint64_t
mix_shift(uint64_t value)
{
	return value ^ (value >> 47);
}

/* Combine two words into one. */
static inline uint64_t
mix_words(uint64_t u, uint64_t v, uint64_t mul)
{
	uint64_t	a = mix_shift((u ^ v) * mul);

	return mix_shift((v ^ a) * mul) * mul;
}

/* Mix the 32 bytes at "p" into the pair (a, b). */
static inline SkFarmPair
mix_32_bytes(const unsigned char *p, uint64_t a, uint64_t b)
{
	SkFarmPair	result;
	uint64_t	first;

	a += load64(p);
	b = rotate_right(a + b + load64(p + 24), 21);
	first = a;
	a += load64(p + 8) + load64(p + 16);
	result.first = a + load64(p + 24);
	result.second = first + b + rotate_right(a, 44);
	return result;
}

static uint64_t
hash_0_to_16(const unsigned char *p, size_t len)
{
	uint64_t	mul = SK_FARM_K2 + (uint64_t) len * 2;

	if (len >= 8)
	{
		uint64_t	a = load64(p) + SK_FARM_K2;
		uint64_t	b = load64(p + len - 8);
		uint64_t	c = rotate_right(b, 37) * mul + a;
		uint64_t	d = (rotate_right(a, 25) + b) * mul;

		return mix_words(c, d, mul);
	}

	if (len >= 4)
	{
		uint64_t	a = load32(p);
		uint64_t	b = load32(p + len - 4);

		return mix_words((uint64_t) len + (a << 3), b, mul);
	}

	if (len > 0)
	{
		uint64_t	y = p[0] + ((uint64_t) p[len >> 1] << 8);
		uint64_t	z = (uint64_t) len + ((uint64_t) p[len - 1] << 2);

		return mix_shift((y * SK_FARM_K2) ^ (z * SK_FARM_K0)) * SK_FARM_K2;
	}

	return SK_FARM_K2;
}

static uint64_t
hash_17_to_32(const unsigned char *p, size_t len)
{
	uint64_t	mul = SK_FARM_K2 + (uint64_t) len * 2;
	uint64_t	a = load64(p) * SK_FARM_K1;
	uint64_t	b = load64(p + 8);
	uint64_t	c = load64(p + len - 8) * mul;
	uint64_t	d = load64(p + len - 16) * SK_FARM_K2;

	return mix_words(rotate_right(a + b, 43) + rotate_right(c, 30) + d,
					 a + rotate_right(b + SK_FARM_K2, 18) + c,
					 mul);
}

static uint64_t
hash_33_to_64(const unsigned char *p, size_t len)
{
	uint64_t	mul = SK_FARM_K2 + (uint64_t) len * 2;
	uint64_t	a = load64(p) * SK_FARM_K2;
	uint64_t	b = load64(p + 8);
	uint64_t	c = load64(p + len - 8) * mul;
	uint64_t	d = load64(p + len - 16) * SK_FARM_K2;
	uint64_t	y = rotate_right(a + b, 43) + rotate_right(c, 30) + d;
	uint64_t	z = mix_words(y, a + rotate_right(b + SK_FARM_K2, 18) + c, mul);
	uint64_t	e = load64(p + 16) * mul;
	uint64_t	f = load64(p + 24);
	uint64_t	g = (y + load64(p + len - 32)) * mul;
	uint64_t	h = (z + load64(p + len - 24)) * mul;

	return mix_words(rotate_right(e + f, 43) + rotate_right(g, 30) + h,
					 e + rotate_right(f + a, 18) + g,
					 mul);
}

/*
 * Mix the 64 bytes at "p" into the state.  The last block differs from the
 * others in two weights only.
 */
static SK_ALWAYS_INLINE void
mix_block(SkFarmState *state, const unsigned char *p, uint64_t mul,
		  uint64_t weight)
{
	uint64_t	x = state->x;
	uint64_t	y = state->y;
	uint64_t	z = state->z;

	x = rotate_right(x + y + state->v.first + load64(p + 8), 37) * mul;
	y = rotate_right(y + state->v.second + load64(p + 48), 42) * mul;
	x ^= state->w.second * weight;
	y += state->v.first * weight + load64(p + 40);
	z = rotate_right(z + state->w.first, 33) * mul;
	state->v = mix_32_bytes(p, state->v.second * mul, x + state->w.first);
	state->w = mix_32_bytes(p + 32, z + state->w.second, y + load64(p + 16));
	state->x = z;
	state->y = y;
	state->z = x;
}

static uint64_t
hash_65_and_more(const unsigned char *p, size_t len)
{
	const unsigned char *last = p + (len - 64);
	SkFarmState state = {0};
	uint64_t	mul;

	state.x = SK_FARM_SEED * SK_FARM_K2 + load64(p);
	state.y = SK_FARM_SEED * SK_FARM_K1 + 113;
	state.z = mix_shift(state.y * SK_FARM_K2 + 113) * SK_FARM_K2;

	/* all whole blocks but the last, which need not be aligned to 64 */
	for (; p < last; p += 64)
		mix_block(&state, p, SK_FARM_K1, 1);

	mul = SK_FARM_K1 + ((state.z & 0xff) << 1);
	state.w.first += (uint64_t) ((len - 1) & 63);
	state.v.first += state.w.first;
	state.w.first += state.v.first;
	mix_block(&state, last, mul, 9);

	return mix_words(mix_words(state.v.first, state.w.first, mul) +
					 mix_shift(state.y) * SK_FARM_K0 + state.z,
					 mix_words(state.v.second, state.w.second, mul) + state.x,
					 mul);
}

/*
 * sk_farm_fingerprint64
 *		Return the fingerprint of "len" bytes.
 */
uint64_t
sk_farm_fingerprint64(const void *data, size_t len)
{
	const unsigned char *p = data;

	if (len <= 16)
		return hash_0_to_16(p, len);
	if (len <= 32)
		return hash_17_to_32(p, len);
	if (len <= 64)
		return hash_33_to_64(p, len);
	return hash_65_and_more(p, len);
}
