/*-------------------------------------------------------------------------
 *
 * generated_always.h
 *	  What GENERATED ALWAYS and OVERRIDING mean for identity columns whose
 *	  sequence is bound.
 *
 * src/sequence/redirect/generated_always.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_GENERATED_ALWAYS_H
#define SK_GENERATED_ALWAYS_H

#include "nodes/parsenodes.h"

extern void sk_generated_always_init(void);
extern void sk_check_generated_always(Query *query);

#endif							/* SK_GENERATED_ALWAYS_H */
