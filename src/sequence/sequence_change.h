/*-------------------------------------------------------------------------
 *
 * sequence_change.h
 *	  The one way in which the kind, the options or the counter change.
 *
 * src/sequence/sequence_change.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SEQUENCE_CHANGE_H
#define SK_SEQUENCE_CHANGE_H

#include "sequence/sequence.h"

/* What becomes of START when the counter restarts. */
typedef enum SkStart
{
	SK_START_IF_UNUSED,			/* the same, if the sequence has not been used */
	SK_START_STAYS,
	SK_START_MOVES				/* the same */
} SkStart;

/* What is to change. */
typedef struct SkSequenceChange
{
	SkLabel		label;			/* without a kind, that stays; each option
								 * comes in place of the one before */
	bool		no_skip_range;
	bool		is_label;		/* the label is a whole one */
	bool		restarts;
	int64		counter;		/* to restart with, at least 1 */
	SkStart		start;			/* what becomes of START then */
} SkSequenceChange;

extern void sk_report_restriction(Oid seqid, const SkRestriction *restriction);
extern SkSequence *sk_sequence_lock(Oid seqid, LOCKMODE rows,
									bool changes_kind);
extern int	sk_fit_label(SkLabel *label, const SkSequence *seq, int width);
extern void sk_change_sequence(SkSequence *seq,
							   const SkSequenceChange *change);

#endif							/* SK_SEQUENCE_CHANGE_H */
