/*-------------------------------------------------------------------------
 *
 * counter.c
 *	  Arithmetic of counters and of ranges of values.
 *
 * Nothing here knows of catalogs or kinds: test/fuzz/fuzz_counter.c calls it
 * alone.
 *
 * src/sequence/counter.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"

#include "sequence/counter.h"

static int64 count_values(SkRange range, int64 last);

/*
 * sk_range_cover
 *		The smallest range that has the values of two.
 */
SkRange
sk_range_cover(SkRange a, SkRange b)
{
	SkRange		result;

	if (sk_range_is_empty(a) || sk_range_is_empty(b))
		return sk_range_is_empty(a) ? b : a;
	result.min = Min(a.min, b.min);
	result.max = Max(a.max, b.max);
	return result;
}

/*
 * sk_range_contains
 *		Does a range have all values of another that a kind can give?
 */
bool
sk_range_contains(SkRange outer, SkRange inner)
{
	return sk_range_is_empty(inner) ||
		(outer.min <= Max(inner.min, 1) && outer.max >= inner.max);
}

/*
 * sk_remaining_values
 *		How many of the values 1 to "last" are in neither of two ranges?
 */
int64
sk_remaining_values(int64 last, SkRange a, SkRange b)
{
	SkRange		both;
	int64		result = last - count_values(a, last) - count_values(b, last);

	/* what is in both has been taken away twice */
	both.min = Max(a.min, b.min);
	both.max = Min(a.max, b.max);
	return result + count_values(both, last);
}

/*
 * sk_counter_after
 *		The first counter after another that START and INCREMENT lead to.
 *
 * Servers that share the values of a sequence do so by different ones of them.
 * Returns 0 if there is none up to "last".
 */
int64
sk_counter_after(int64 start, int64 increment, int64 counter, int64 last)
{
	int64		distance;
	int64		result = start;

	Assert(start > 0 && increment > 0);
	if (counter >= start &&
		(pg_sub_s64_overflow(counter, start, &distance) ||
		 pg_add_s64_overflow(counter - distance % increment, increment, &result)))
		return 0;
	return result <= last ? result : 0;
}

/* The values of a range that are between 1 and "last". */
static int64
count_values(SkRange range, int64 last)
{
	int64		first = Max(range.min, 1);
	int64		end = Min(range.max, last);

	return end < first ? 0 : end - first + 1;
}
