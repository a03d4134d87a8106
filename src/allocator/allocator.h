/*-------------------------------------------------------------------------
 *
 * allocator.h
 *	  What the files of the module offer to each other, above the cache.
 *
 * src/allocator/allocator.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_H
#define SK_ALLOCATOR_H

#include "allocator/cache.h"
#include "compat.h"

/* reserve.c */
extern int	sk_allocator_refill_target;

extern void sk_reserve_stamp(SkAllocatorRow *row);
extern void sk_reserve_skip_gap(SkAllocatorRow *row);
extern bool sk_reserve_lock(SkTable *table, SkRefill *refill,
							SkWorkerKind kind, SkAllocatorRow *row);
extern int64 sk_reserve_undo(SkTable *table, SkAllocatorRow *row);
extern void sk_reserve_choose_batch(SkRefill *refill,
									const SkAllocatorRow *row);
pg_noreturn extern void sk_report_exhausted(const char *name, int64 max_value);

/* transaction.c */
extern SkValues sk_own_take(const SkAllocatorRow *row, int64 count);
extern int64 sk_own_next(const SkAllocatorRow *row, SkMode *mode);
extern void sk_own_read(SkAllocatorRow *row);
extern void sk_own_note_update(const SkAllocatorRow *row, bool is_moved);
extern void sk_change_note(Oid table, int64 id, int64 minimum);
extern void sk_transaction_init(void);

/* commit_number.c */
extern void sk_commit_number_init(void);

/* worker.c */
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

#endif							/* SK_ALLOCATOR_H */
