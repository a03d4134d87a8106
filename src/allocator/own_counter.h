/*-------------------------------------------------------------------------
 *
 * own_counter.h
 *	  Counters that the current transaction holds.
 *
 * src/allocator/own_counter.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_OWN_COUNTER_H
#define SK_OWN_COUNTER_H

#include "allocator/allocator_table.h"
#include "allocator/pool.h"

extern void sk_own_counter_init(void);
extern SkRange sk_own_take(const SkAllocatorRow *row, int64 count);
extern int64 sk_own_next(const SkAllocatorRow *row, SkMode *mode);
extern void sk_own_read(SkAllocatorRow *row);
extern void sk_own_note_update(const SkAllocatorRow *row, bool is_moved);
extern void sk_own_write(void);

#endif							/* SK_OWN_COUNTER_H */
