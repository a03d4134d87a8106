/*-------------------------------------------------------------------------
 *
 * redirect_utility.h
 *	  Calls of core's sequence functions in the arguments of commands.
 *
 * src/sequence/redirect/redirect_utility.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_REDIRECT_UTILITY_H
#define SK_REDIRECT_UTILITY_H

extern void sk_redirect_utility_init(void);

#endif							/* SK_REDIRECT_UTILITY_H */
