/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The background workers that reserve values.
 *
 * src/allocator/worker.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_WORKER_H
#define SK_WORKER_H

#include "allocator/pool.h"

extern bool sk_worker_wake(SkWorkerKind kind);
extern void sk_worker_settings(void);

#endif							/* SK_WORKER_H */
