/*-------------------------------------------------------------------------
 *
 * spacing.h
 *	  How close to each other the values of a sequence are.
 *
 * src/sequence/spacing.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SPACING_H
#define SK_SPACING_H

#include "sequence/sequence.h"

extern const SkObstacle *sk_overlap_obstacle(const SkSequence *seq,
											 const SkKind *kind);
extern void sk_report_overlap(const SkSequence *seq, const SkKind *kind);

#endif							/* SK_SPACING_H */
