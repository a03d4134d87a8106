/*-------------------------------------------------------------------------
 *
 * restored.h
 *	  Allocators and their series that a dump brings.
 *
 * src/allocator/restored.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_RESTORED_H
#define SK_RESTORED_H

#include "access/htup.h"
#include "access/tupdesc.h"

extern HeapTuple sk_restore_allocator(HeapTuple tuple, TupleDesc tupdesc);
extern void sk_restore_series_of(int64 id);
extern void sk_restored_end(int level, int next);

#endif							/* SK_RESTORED_H */
