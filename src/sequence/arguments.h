/*-------------------------------------------------------------------------
 *
 * arguments.h
 *	  What functions take as arguments: names, and columns with a sequence.
 *
 * src/sequence/arguments.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ARGUMENTS_H
#define SK_ARGUMENTS_H

#include "fmgr.h"
#include "nodes/primnodes.h"

#include "sequence/sequence.h"

extern Oid	sk_named_column(FunctionCallInfo fcinfo, AttrNumber *attnum);
extern SkSequence *sk_lock_column(FunctionCallInfo fcinfo, bool changes_kind,
								  List **columns);
extern List *sk_storing_columns(Oid seqid);
extern char *sk_stored_values(List *columns, List **relids);

#endif							/* SK_ARGUMENTS_H */
