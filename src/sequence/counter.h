/*-------------------------------------------------------------------------
 *
 * counter.h
 *	  From the counter of a core sequence to a value.
 *
 * src/sequence/counter.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_COUNTER_H
#define SK_COUNTER_H

#include "sequence/binding.h"

extern int64 sk_counter_draw(SkBinding *binding);
extern int64 sk_counter_draw_again(SkBinding *binding, int64 *counter);

/*
 * sk_counter_value
 *		Map a counter that has just been drawn to the value to give out.
 *
 * Draws further counters as long as the value has to be passed over.  Inline
 * because this runs for every value.
 */
static inline int64
sk_counter_value(SkBinding *binding, int64 counter)
{
	int64		value = counter;

	if (binding->am != NULL &&
		!(sk_has_value(binding->options, counter) &&
		  binding->am->nextval(binding->options, counter, &value) &&
		  !sk_is_skipped(binding->options, value)))
		value = sk_counter_draw_again(binding, &counter);

	binding->last_counter = counter;
	binding->last_value = value;
	return value;
}

#endif							/* SK_COUNTER_H */
