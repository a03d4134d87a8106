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
extern int64 sk_counter_value(SkBinding *binding, int64 counter);
extern bool sk_counter_unskipped_value(SkBinding *binding, int64 counter,
									   int64 *value);
extern bool sk_counter_state(Oid seqid, int64 *next, bool *used);
extern void sk_check_identity_privilege(Oid seqid);

#endif							/* SK_COUNTER_H */
