/*-------------------------------------------------------------------------
 *
 * partition_bounds.h
 *	  Do the partitions of a table take the ids of a kind?
 *
 * src/sequence/partition_bounds.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_PARTITION_BOUNDS_H
#define SK_PARTITION_BOUNDS_H

#include "sequence/sequence.h"

extern void sk_check_partitions(const SkSequence *seq, int elevel);

#endif							/* SK_PARTITION_BOUNDS_H */
