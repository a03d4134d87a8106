/*-------------------------------------------------------------------------
 *
 * widths.h
 *	  Whether columns hold the values of a sequence.
 *
 * src/sequence/widths.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_WIDTHS_H
#define SK_WIDTHS_H

#include "nodes/nodes.h"

#include "sequence/sequence.h"

extern List *sk_sequence_columns(Oid seqid);
extern int	sk_narrowest_width(List *columns);
extern void sk_fit_columns(const SkSequence *seq, SkLabel *label,
						   const List *asked);
extern void sk_narrow_sequence(Oid seqid, Oid type);
extern int	sk_references_width(SkSequence *seq);
extern void sk_check_references(SkSequence *seq, int bits);
extern void sk_widths_command_end(Node *command, const List *bound);

#endif							/* SK_WIDTHS_H */
