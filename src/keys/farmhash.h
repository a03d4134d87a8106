/*-------------------------------------------------------------------------
 *
 * farmhash.h
 *	  FarmHash Fingerprint64.
 *
 * src/keys/farmhash.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_FARMHASH_H
#define SK_FARMHASH_H

#include <stddef.h>
#include <stdint.h>

extern uint64_t sk_farm_fingerprint64(const void *data, size_t len);

#endif							/* SK_FARMHASH_H */
