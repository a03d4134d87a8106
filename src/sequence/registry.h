/*-------------------------------------------------------------------------
 *
 * registry.h
 *	  The registry of sequence access methods, and those built in.
 *
 * src/sequence/registry.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_REGISTRY_H
#define SK_REGISTRY_H

#include "sequence/access_method.h"

/* One bit has no value between 1 and 2^bits - 2. */
#define SK_MIN_BITS 2

extern const SequenceAccessMethod *sk_sequence_am_find(const char *kind);
extern const SequenceAccessMethod *sk_sequence_am_get(const char *kind);
extern SkSequenceOptions *sk_sequence_am_parse(const SequenceAccessMethod *am,
											   List *options, int width);
extern List *sk_sequence_am_describe(const SequenceAccessMethod *am,
									 const SkSequenceOptions *options);

/* bit_reversed.c, striped.c */
extern const SequenceAccessMethod sk_bit_reversed_positive_am;
extern const SequenceAccessMethod sk_striped_am;

#endif							/* SK_REGISTRY_H */
