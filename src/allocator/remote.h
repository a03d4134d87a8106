/*-------------------------------------------------------------------------
 *
 * remote.h
 *	  Values that come from allocators of other servers.
 *
 * src/allocator/remote.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_REMOTE_H
#define SK_REMOTE_H

#include "allocator/pool.h"

extern int	sk_remote_exchange(SkRefill *refills, int count);
extern long sk_remote_delay(void);
extern void sk_remote_disconnect(void);

#endif							/* SK_REMOTE_H */
