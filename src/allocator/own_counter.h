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
extern SkRange sk_own_take(int64 id, const char *name, int64 count);
extern int64 sk_own_next(int64 id, const char *name, SkMode *mode);
extern void sk_own_read(SkAllocatorRow *row);
extern void sk_own_set(int64 id, int64 next);
extern void sk_own_note_update(int64 id, bool is_moved, int64 next);
extern void sk_own_write(void);

#endif							/* SK_OWN_COUNTER_H */
