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

#include "nodes/primnodes.h"

#include "sequence/sequence.h"

/* Kind of a sequence with a plain counter. */
#define SK_LOCAL_KIND "local"

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
	char	   *kind;			/* NULL: it stays */
	List	   *options;		/* of SkOption, each in place of the one
								 * before */
	bool		no_skip_range;
	bool		is_label;		/* kind and options are those of a whole label */
	bool		restarts;
	int64		counter;		/* to restart with, at least 1 */
	SkStart		start;			/* what becomes of START then */
} SkSequenceChange;

extern void sk_change_sequence(SkSequence *seq, const SkSequenceChange *change);
extern void sk_complete_label(Oid seqid);
extern SkKind *sk_check_change(SkSequence *seq, const SkSequenceChange *change);
extern void sk_check_start_counter(int64 counter);
extern void sk_check_counter_has_value(const char *name, int64 counter,
									   const SkSequenceOptions *options);
extern const SkObstacle *sk_overlap_obstacle(const SkSequence *seq,
											 const SkKind *kind);
extern void sk_report_overlap(const SkSequence *seq, const SkKind *kind);

/* leave.c */
extern List *sk_leave_kind(const SkSequence *seq, int64 restart,
						   List *sequences);
extern void sk_report_left(List *sequences);

/* sync.c */
extern bool sk_sync_stored(Oid seqid, bool goes_back);

/* sequence_commands.c */
extern Oid	sk_create_sequence(RangeVar *name, SkSequenceChange *change,
							   bool if_not_exists);
extern void sk_alter_sequence(Oid seqid, const SkSequenceChange *change);

#endif							/* SK_SEQUENCE_CHANGE_H */
