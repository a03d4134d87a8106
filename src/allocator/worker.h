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

extern bool sk_worker_wake(SkWorkerKind kind);
extern bool sk_worker_is_running(SkWorkerKind kind);
extern bool sk_worker_make_series(int64 parent_id, const ArrayType *series);
extern void sk_worker_init(void);

/* remote.c */
extern int	sk_remote_exchange(SkRefill *refills, int count);
extern long sk_remote_delay(void);
extern void sk_remote_disconnect(void);
extern void sk_limit_time(int limit_ms);
extern void sk_end_limit(void);

#endif							/* SK_WORKER_H */
