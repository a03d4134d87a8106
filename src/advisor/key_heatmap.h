/*-------------------------------------------------------------------------
 *
 * key_heatmap.h
 *	  Where in key space rows went, in the order of their insertion.
 *
 * src/advisor/key_heatmap.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_KEY_HEATMAP_H
#define SK_KEY_HEATMAP_H

#include "fmgr.h"

#include "advisor/key_scale.h"

/* What the picture says. */
typedef enum SkVerdict
{
	SK_VERDICT_NO_ROWS,
	SK_VERDICT_UNKNOWN,			/* too few rows */
	SK_VERDICT_OWN_ORDER,		/* ordered by the key itself */
	SK_VERDICT_ONE_KEY,
	SK_VERDICT_EVEN,
	SK_VERDICT_UNEVEN,
	SK_VERDICT_HOTSPOT
} SkVerdict;

/* How dense a cell is, compared with an even spread of the rows. */
typedef enum SkDensity
{
	SK_DENSITY_NONE,			/* no row */
	SK_DENSITY_QUARTER,			/* less than a quarter */
	SK_DENSITY_HALF,			/* less than half */
	SK_DENSITY_EVEN,			/* half to twice as dense */
	SK_DENSITY_FOUR,			/* up to 4 times */
	SK_DENSITY_EIGHT,			/* up to 8 times */
	SK_DENSITY_SIXTEEN,			/* up to 16 times */
	SK_DENSITY_MORE
} SkDensity;

typedef struct SkHeatmap
{
	SkKeySample sample;
	SkKeyScale	scale;
	int			times;			/* time buckets */
	int			keys;			/* key buckets */
	int64	   *cells;			/* sampled rows, by time and key bucket */
	const SkSampledRow **firsts;	/* first row of each time bucket, or NULL */
	const SkSampledRow *last;	/* last row of all */
	int			ranges;			/* key ranges that were compared */
	double		busiest;		/* share of the busiest of them, of late */
	SkVerdict	verdict;		/* on the last quarter of the rows */
	SkVerdict	earlier;		/* and before */
	int			since;			/* time bucket since when, 0 if always */
} SkHeatmap;

extern SkHeatmap *sk_heatmap_make(FunctionCallInfo fcinfo);
extern int64 sk_heatmap_cell(const SkHeatmap *map, int time, int key);
extern SkDensity sk_heatmap_density(const SkHeatmap *map, int time, int key);
extern char *sk_heatmap_finding(const SkHeatmap *map);
extern const char *sk_heatmap_key_name(const SkHeatmap *map);
extern char *sk_heatmap_origin(const SkHeatmap *map);
extern char *sk_heatmap_number(double number);

#endif							/* SK_KEY_HEATMAP_H */
