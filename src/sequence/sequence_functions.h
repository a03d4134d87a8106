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

/* The schema that the extension is fixed to. */
#define SK_SCHEMA "spanner"

extern int64 sk_draw_value(Oid seqid);
extern void sk_set_last_value(SkBinding *binding, int64 value);
extern Oid	sk_sequence_function(const char *name, Oid namespace, int nargs,
								 const Oid *types, bool missing_ok);

#endif							/* SK_SEQUENCE_FUNCTIONS_H */
