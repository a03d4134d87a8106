/*-------------------------------------------------------------------------
 *
 * reserve.h
 *	  Reserving values in the table spanner.allocator.
 *
 * src/allocator/reserve.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_RESERVE_H
#define SK_RESERVE_H

#include "allocator/pool.h"
#include "allocator/table.h"
#include "compat.h"

extern int	sk_allocator_refill_target;

extern void sk_reserve_leave_gap(SkAllocatorRow *row);
extern void sk_reserve_pools(SkRefill *refills, int count);
extern bool sk_reserve_lock(SkTable *table, SkRefill *refill,
							SkWorkerKind kind, SkAllocatorRow *row);
extern int64 sk_reserve_undo(SkTable *table, SkAllocatorRow *row);
extern void sk_reserve_error(SkPoolError *error, int sqlerrcode,
							 const char *message, const char *hint);
extern void sk_reserve_choose_batch(SkRefill *refill,
									const SkAllocatorRow *row);
pg_noreturn extern void sk_report_exhausted(const char *name, int64 max_value);

/* in the transaction of a session */
extern SkRange sk_own_take(const SkAllocatorRow *row, int64 count);
extern int64 sk_own_next(const SkAllocatorRow *row, SkMode *mode);
extern void sk_own_read(SkAllocatorRow *row);
extern void sk_own_note_update(const SkAllocatorRow *row, bool is_moved);
extern void sk_own_note_series(void);
extern void sk_own_write(void);

extern void sk_reserve_init(void);

#endif							/* SK_RESERVE_H */
