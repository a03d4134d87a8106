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

#include "allocator/allocator_table.h"
#include "allocator/pool.h"
#include "compat.h"

extern int	sk_allocator_refill_target;

extern SkRange sk_reserve_here(const SkAllocatorRow *row, int64 count);
extern void sk_reserve_leave_gap(const SkAllocatorRow *row);
extern void sk_reserve_pools(SkRefill *refills, int count);
extern bool sk_reserve_try_lock(int64 id);
extern bool sk_reserve_undo(int64 id, SkRange range);
extern void sk_reserve_error(SkPoolError *error, int sqlerrcode,
							 const char *message, const char *hint);
extern void sk_reserve_wrong_mode(SkRefill *refill, SkMode mode);
extern void sk_reserve_explain_missing(SkRefill *refills, int count);
extern void sk_reserve_choose_batch(SkRefill *refill, SkMode mode,
									int32 batch_size, int32 max_batch_size,
									int64 low_water_mark);
pg_noreturn extern void sk_report_exhausted(const char *name, int64 max_value);

#endif							/* SK_RESERVE_H */
