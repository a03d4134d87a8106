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

#include "sequence/access_method.h"

extern bool sk_blocks_overlap(Oid seqid, const SequenceAccessMethod *am,
							  const SkSequenceOptions *options);
extern void sk_report_left_alone(Oid seqid, const SequenceAccessMethod *am);
extern void sk_report_overlap(Oid seqid, const SequenceAccessMethod *am,
							  const SkSequenceOptions *options);

#endif							/* SK_SPACING_H */
