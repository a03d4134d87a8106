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
extern ErrorData *sk_worker_run(void (*step) (void *arg), void *arg,
								const char *activity, const char *durability);

#endif							/* SK_WORKER_H */
