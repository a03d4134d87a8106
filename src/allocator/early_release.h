/*-------------------------------------------------------------------------
 *
 * early_release.h
 *	  Releasing locks before the commit is durable.
 *
 * src/allocator/early_release.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_EARLY_RELEASE_H
#define SK_EARLY_RELEASE_H

extern void sk_early_release_init(void);
extern void sk_early_release_prepare(void);

#endif							/* SK_EARLY_RELEASE_H */
