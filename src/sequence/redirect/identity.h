/*-------------------------------------------------------------------------
 *
 * identity.h
 *	  Planner hook: draws that are no function calls.
 *
 * src/sequence/redirect/identity.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_IDENTITY_H
#define SK_IDENTITY_H

extern void sk_identity_init(void);

#endif							/* SK_IDENTITY_H */
