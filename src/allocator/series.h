/*-------------------------------------------------------------------------
 *
 * series.h
 *	  Series: counters under one allocator.
 *
 * src/allocator/series.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SERIES_H
#define SK_SERIES_H

#include "fmgr.h"

#include "allocator/table.h"

/* The most values that a series has. */
#define SK_MAX_SERIES_COLUMNS 32

extern ArrayType *sk_series_of_argument(FunctionCallInfo fcinfo, int argno);
extern ArrayType *sk_series_of_array(ArrayType *values);
extern ArrayType *sk_series_of_row(TupleTableSlot *slot, Relation rel,
								   const AttrNumber *columns, int count);
extern int	sk_series_compare(const ArrayType *a, const ArrayType *b);
extern char *sk_series_print(ArrayType *series);
extern void sk_series_begin(SkTable *table, int64 parent_id, ArrayType *series,
							SkAllocatorRow *row);
extern void sk_series_delete(int64 parent_id);

#endif							/* SK_SERIES_H */
