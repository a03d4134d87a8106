/*-------------------------------------------------------------------------
 *
 * split_points.h
 *	  Where to split the values of keys that are evenly spread.
 *
 * src/advisor/split_points.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SPLIT_POINTS_H
#define SK_SPLIT_POINTS_H

extern void sk_split_check_ids(int splits, int bits, int stripes);
extern void sk_split_check_shards(int splits, int shards);
extern int64 sk_split_point(int point, int splits, uint64 values);

#endif							/* SK_SPLIT_POINTS_H */
