/*-------------------------------------------------------------------------
 *
 * transaction.h
 *	  What the current transaction has taken from allocators, changed and restored.
 *
 * src/allocator/transaction.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_TRANSACTION_H
#define SK_ALLOCATOR_TRANSACTION_H

#include "allocator/cache.h"

extern SkValues sk_own_take(const SkAllocatorRow *row, int64 count);
extern int64 sk_own_next(const SkAllocatorRow *row, SkMode *mode);
extern void sk_own_read(SkAllocatorRow *row);
extern void sk_own_note_update(const SkAllocatorRow *row, bool is_moved);
extern void sk_change_note(Oid table, int64 id, int64 minimum);
extern void sk_transaction_init(void);

#endif							/* SK_ALLOCATOR_TRANSACTION_H */
