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

/* What is to change. */
typedef struct SkSequenceChange
{
	SkLabel		label;			/* without a kind, that stays; each option
								 * comes in place of the one before */
	bool		no_skip_range;
	bool		is_label;		/* the label is a whole one */
	bool		is_new;			/* this command has made the sequence */
	bool		for_rows;		/* a conversion, or to skip what is stored */
	bool		restarts;
	int64		counter;		/* to restart with, at least 1; before the
								 * first use START follows, but for rows */
} SkSequenceChange;

extern void sk_report_restriction(Oid seqid, const SkRestriction *restriction);
extern SkSequence *sk_sequence_lock(Oid seqid, LOCKMODE rows,
									bool changes_kind);
extern void sk_report_few_values(const SkSequence *seq,
								 const SkSequenceOptions *options, int64 last);
extern char *sk_describe_column(const SkSequence *seq);
extern int	sk_fit_label(SkLabel *label, const SkSequence *seq, int width);
extern void sk_change_sequence(SkSequence *seq,
							   const SkSequenceChange *change);

#endif							/* SK_SEQUENCE_CHANGE_H */
