/*-------------------------------------------------------------------------
 *
 * sequence_column.h
 *	  A column and the sequence that it owns, as arguments of functions.
 *
 * src/sequence/sequence_column.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SEQUENCE_COLUMN_H
#define SK_SEQUENCE_COLUMN_H

#include "fmgr.h"

#include "sequence/sequence.h"

extern Oid	sk_named_column(FunctionCallInfo fcinfo, AttrNumber *attnum);
extern SkSequence *sk_lock_column(FunctionCallInfo fcinfo, bool changes_kind);
extern char *sk_stored_values(const SkSequence *seq);
extern Oid	sk_column_sequence(Oid table, AttrNumber column);

#endif							/* SK_SEQUENCE_COLUMN_H */
