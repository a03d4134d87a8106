/*-------------------------------------------------------------------------
 *
 * column_label.h
 *	  Labels of columns, by which Citus tells its nodes of kinds.
 *
 * src/sequence/column_label.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_COLUMN_LABEL_H
#define SK_COLUMN_LABEL_H

#include "nodes/nodes.h"

#include "sequence/sequence.h"

/* Citus gives each group of nodes so many counters; the coordinator has group 0. */
#define SK_CITUS_RANGE (INT64CONST(1) << 48)

extern void sk_label_columns(Oid seqid);
extern void sk_check_column_label(Oid table, int32 column, const char *label);
extern void sk_column_labels_command_end(Node *command, bool restores);
extern void sk_lock_columns(Oid seqid);
extern void sk_find_nodes(SkSequence *seq);

#endif							/* SK_COLUMN_LABEL_H */
