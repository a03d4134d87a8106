/*-------------------------------------------------------------------------
 *
 * sequence_functions.h
 *	  Fetching values, and who may.
 *
 * src/sequence/sequence_functions.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SEQUENCE_FUNCTIONS_H
#define SK_SEQUENCE_FUNCTIONS_H

/*
 * More rows than this fetch one by one.  Their VALUES list takes far more
 * memory than their values, so this is only for direct calls.
 */
#define SK_MAX_ASCENDING 1000000

extern void sk_check_execute(Oid function);

#endif							/* SK_SEQUENCE_FUNCTIONS_H */
