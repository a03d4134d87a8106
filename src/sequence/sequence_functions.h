/*-------------------------------------------------------------------------
 *
 * sequence_functions.h
 *	  Drawing values in C, and looking up the SQL functions of this room.
 *
 * src/sequence/sequence_functions.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SEQUENCE_FUNCTIONS_H
#define SK_SEQUENCE_FUNCTIONS_H

#include "sequence/binding.h"

extern int64 sk_draw_value(Oid seqid);
extern void sk_set_last_value(SkBinding *binding, int64 value);
extern void sk_forget_last_value(void);

#endif							/* SK_SEQUENCE_FUNCTIONS_H */
