/*-------------------------------------------------------------------------
 *
 * sequence_functions.h
 *	  Looking up the SQL functions of this room.
 *
 * src/sequence/sequence_functions.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SEQUENCE_FUNCTIONS_H
#define SK_SEQUENCE_FUNCTIONS_H

/* The schema that the extension is fixed to. */
#define SK_SCHEMA "spanner"

extern Oid	sk_sequence_function(const char *name, Oid namespace, int nargs,
								 const Oid *types, bool missing_ok);

#endif							/* SK_SEQUENCE_FUNCTIONS_H */
