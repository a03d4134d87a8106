/*-------------------------------------------------------------------------
 *
 * kind_change.h
 *	  Changing the kind of a sequence that has been used.
 *
 * src/sequence/kind_change.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_KIND_CHANGE_H
#define SK_KIND_CHANGE_H

#include "sequence/label.h"

extern void sk_check_same_mapping(Oid seqid, SkLabel *old, SkLabel *new);
extern void sk_check_label_change(Oid seqid, const char *label);

#endif							/* SK_KIND_CHANGE_H */
