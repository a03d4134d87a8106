/*-------------------------------------------------------------------------
 *
 * label_provider.h
 *	  SECURITY LABEL FOR spanner_keys ON SEQUENCE ...: what it checks.
 *
 * src/sequence/label_provider.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_LABEL_PROVIDER_H
#define SK_LABEL_PROVIDER_H

extern void sk_label_provider_init(void);

#endif							/* SK_LABEL_PROVIDER_H */
