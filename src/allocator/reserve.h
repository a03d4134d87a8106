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

extern void sk_reserve_stamp(SkAllocatorRow *row);
extern void sk_reserve_leave_gap(SkAllocatorRow *row);
extern bool sk_reserve_lock(SkTable *table, SkRefill *refill,
							SkWorkerKind kind, SkAllocatorRow *row);
extern int64 sk_reserve_undo(SkTable *table, SkAllocatorRow *row);
extern void sk_reserve_choose_batch(SkRefill *refill,
									const SkAllocatorRow *row);
pg_noreturn extern void sk_report_exhausted(const char *name, int64 max_value);

#endif							/* SK_RESERVE_H */
