/*-------------------------------------------------------------------------
 *
 * reserve_in_turn.h
 *	  Reserving values whatever the snapshot of the transaction shows.
 *
 * src/allocator/reserve_in_turn.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_RESERVE_IN_TURN_H
#define SK_RESERVE_IN_TURN_H

#include "allocator/allocator_table.h"
#include "allocator/pool.h"

extern SkRange sk_reserve_in_turn(const SkAllocatorRow *row, int64 count);

#endif							/* SK_RESERVE_IN_TURN_H */
