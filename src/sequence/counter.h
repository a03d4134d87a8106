/*-------------------------------------------------------------------------
 *
 * counter.h
 *	  Arithmetic of counters and of ranges of values.
 *
 * src/sequence/counter.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_COUNTER_H
#define SK_COUNTER_H

#include "sequence/access_method.h"

extern SkRange sk_range_cover(SkRange a, SkRange b);
extern bool sk_range_contains(SkRange outer, SkRange inner);
extern int64 sk_remaining_values(int64 last, SkRange a, SkRange b);
extern int64 sk_counter_after(int64 start, int64 increment, int64 counter,
							  int64 last);

static inline SkRange
sk_range(int64 min, int64 max)
{
	SkRange		result = {min, max};

	return result;
}

/* A sequence with a kind gives positive values only. */
static inline bool
sk_range_is_empty(SkRange range)
{
	return range.max < 1;
}

#endif							/* SK_COUNTER_H */
