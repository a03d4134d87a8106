/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The background worker that reserves values.
 *
 * src/allocator/worker.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_WORKER_H
#define SK_WORKER_H

#include "allocator/pool.h"

/* What a worker is told when it is started. */
typedef struct SkWorkerStart
{
	Oid			dbid;
	SkWorkerKind kind;
} SkWorkerStart;

extern void sk_worker_init(void);

#endif							/* SK_WORKER_H */
