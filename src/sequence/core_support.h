/*-------------------------------------------------------------------------
 *
 * core_support.h
 *	  Our support function on core's sequence functions.
 *
 * src/sequence/core_support.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_CORE_SUPPORT_H
#define SK_CORE_SUPPORT_H

extern void sk_attach_support(void);
extern void sk_detach_support(void);

#endif							/* SK_CORE_SUPPORT_H */
