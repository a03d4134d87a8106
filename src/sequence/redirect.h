/*-------------------------------------------------------------------------
 *
 * redirect.h
 *	  Calls of core's sequence functions on bound sequences.
 *
 * src/sequence/redirect.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_REDIRECT_H
#define SK_REDIRECT_H

extern void sk_redirect_init(void);

#endif							/* SK_REDIRECT_H */
