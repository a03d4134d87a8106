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

extern void sk_registry_init(void);
extern const SequenceAccessMethod *sk_sequence_am_find(const char *kind);
extern const SequenceAccessMethod *sk_sequence_am_get(const char *kind);
extern char *sk_sequence_am_name(const SequenceAccessMethod *am);
extern char *sk_sequence_am_names(void);

/* bit_reversed.c, striped.c */
extern const SequenceAccessMethod sk_bit_reversed_positive_am;
extern const SequenceAccessMethod sk_striped_am;

#endif							/* SK_REGISTRY_H */
