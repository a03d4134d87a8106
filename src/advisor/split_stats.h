/*-------------------------------------------------------------------------
 *
 * split_stats.h
 *	  Tables that are split by key ranges, and how full the splits are.
 *
 * src/advisor/split_stats.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SPLIT_STATS_H
#define SK_SPLIT_STATS_H

#include "utils/relcache.h"

extern Relation sk_split_table_open(Oid relid);

#endif							/* SK_SPLIT_STATS_H */
