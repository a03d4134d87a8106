/*-------------------------------------------------------------------------
 *
 * merge_bound.h
 *	  Where the scan of a shard starts, and where it stops.
 *
 * src/planner/merge_bound.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_MERGE_BOUND_H
#define SK_MERGE_BOUND_H

#include "planner/merge_stream.h"

extern void sk_init_merge_bounds(SkMerge *merge);
extern void sk_init_skip_bound(SkMerge *merge, int column);
extern void sk_set_merge_bound(SkMerge *merge, SkMergeBound *bound,
							   const Datum *values);
extern void sk_merge_scan_keys(SkMerge *merge, int32 shard,
							   const SkMergeBound *bound);

#endif							/* SK_MERGE_BOUND_H */
