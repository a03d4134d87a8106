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

#include "catalog/pg_sequence.h"

#include "sequence/binding.h"

extern const SkObstacle *sk_overlap_obstacle(Oid seqid,
											 const SequenceAccessMethod *am,
											 const SkSequenceOptions *options);
extern void sk_report_overlap(Oid seqid, const SequenceAccessMethod *am,
							  const SkSequenceOptions *options);
extern FormData_pg_sequence sk_read_sequence(Oid seqid);

#endif							/* SK_SPACING_H */
