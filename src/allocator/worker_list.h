/*-------------------------------------------------------------------------
 *
 * worker_list.h
 *	  Which workers run, for which database.
 *
 * src/allocator/worker_list.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_WORKER_LIST_H
#define SK_WORKER_LIST_H

#include "datatype/timestamp.h"

#include "allocator/pool.h"

/* What the statistics view shows. */
typedef struct SkWorkerState
{
	Oid			dbid;
	SkWorkerKind kind;
	int			pid;			/* 0: being started */
	TimestampTz started;
	TimestampTz idle_since;		/* 0: not idle */
	bool		blocked;
} SkWorkerState;

/* sessions */
extern bool sk_worker_wake(SkWorkerKind kind);

/* workers */
extern bool sk_worker_attach(Oid dbid, SkWorkerKind kind);
extern void sk_worker_set_state(TimestampTz idle_since, bool blocked);
extern bool sk_worker_leave(bool even_if_pending);
extern int	sk_worker_count(void);
extern bool sk_worker_read(int index, SkWorkerState *state);

#endif							/* SK_WORKER_LIST_H */
