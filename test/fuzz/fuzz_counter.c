/*-------------------------------------------------------------------------
 *
 * fuzz_counter.c
 *	  Fuzz target: arithmetic of counters and ranges, against wider numbers.
 *
 * test/fuzz/fuzz_counter.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdlib.h>

#include "sequence/counter.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) do { if (!(condition)) abort(); } while (0)

static int64 take(const uint8_t **data, size_t *size);
static __int128 count(SkRange range, int64 last);
static void check_after(int64 start, int64 increment, int64 counter, int64 last);
static void check_ranges(SkRange a, SkRange b, int64 last);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64		numbers[5];

	for (int i = 0; i < 5; i++)
		numbers[i] = take(&data, &size);
	for (int i = 1; i < 5; i++)
		if (numbers[i] < 0)
			numbers[i] = -(numbers[i] + 1);
	check_after(Max(numbers[1], 1), numbers[4] + (numbers[4] == 0), numbers[2], numbers[3]);
	check_ranges(sk_range(Min(numbers[0], numbers[1]), Max(numbers[0], numbers[1])),
				 sk_range(Min(numbers[2], numbers[3]), Max(numbers[2], numbers[3])),
				 numbers[4]);
	return 0;
}

/* The next number: small ones, those near the ends, and any others. */
static int64
take(const uint8_t **data, size_t *size)
{
	uint64		result = 0;
	int			length;

	if (*size == 0)
		return 0;
	length = Min(**data % 9, (int) *size - 1);
	for (int i = 1; i <= length; i++)
		result = result << 8 | (*data)[i];
	if (**data & 0x80)
		result = (uint64) PG_INT64_MAX - result;
	*data += length + 1;
	*size -= length + 1;
	return (int64) result;
}

static __int128
count(SkRange range, int64 last)
{
	__int128	first = Max(range.min, 1);
	__int128	end = Min(range.max, last);

	return end < first ? 0 : end - first + 1;
}

static void
check_after(int64 start, int64 increment, int64 counter, int64 last)
{
	__int128	right = start;
	int64		result = sk_counter_after(start, increment, counter, last);

	if (counter >= start)
		right += ((__int128) counter - start) / increment * increment + increment;
	CHECK(right > counter);
	CHECK(result == (right <= last ? (int64) right : 0));
}

static void
check_ranges(SkRange a, SkRange b, int64 last)
{
	SkRange		both = sk_range_cover(a, b);
	SkRange		common = {Max(a.min, b.min), Min(a.max, b.max)};
	__int128	left = (__int128) last - count(a, last) - count(b, last) +
		count(common, last);

	CHECK(sk_range_contains(both, a) && sk_range_contains(both, b));
	CHECK(count(both, last) >= Max(count(a, last), count(b, last)));
	CHECK(sk_range_contains(a, b) ==
		  (count(b, PG_INT64_MAX) == count(common, PG_INT64_MAX)));
	CHECK(sk_remaining_values(last, a, b) == left);
	CHECK(left >= 0);
}
