/*-------------------------------------------------------------------------
 *
 * default_kind.h
 *	  The kind of new sequences: spanner.default_sequence_kind.
 *
 * src/sequence/default_kind.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DEFAULT_KIND_H
#define SK_DEFAULT_KIND_H

#include "sequence/sequence.h"

extern char *sk_default_sequence_kind(void);
extern const SkObstacle *sk_bind_new_sequence(Oid seqid, SkIdentity identity);
extern void sk_report_left_alone(Oid seqid, const SkObstacle *obstacle);
extern void sk_fit_label(SkLabel *label, const SkSequence *seq, int width);

#endif							/* SK_DEFAULT_KIND_H */
