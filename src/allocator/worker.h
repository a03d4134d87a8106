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

#include "utils/array.h"

#include "allocator/pool.h"
#include "allocator/shared_state.h"

extern bool sk_worker_wake(SkWorkerKind kind);
extern bool sk_worker_may_launch(const SkWorkerEntry *entry);
extern bool sk_worker_is_running(SkWorkerKind kind);
extern bool sk_worker_make_series(int64 parent_id, const ArrayType *series);
extern void sk_worker_settings(void);

#endif							/* SK_WORKER_H */
