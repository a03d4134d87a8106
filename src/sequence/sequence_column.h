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

#include "access/attnum.h"
#include "fmgr.h"

typedef struct SkSequenceColumn
{
	Oid			table;
	AttrNumber	attnum;
	char	   *name;
	int			width;			/* value bits of its type */
	Oid			seqid;
} SkSequenceColumn;

extern void sk_open_column(FunctionCallInfo fcinfo, SkSequenceColumn *column);
extern void sk_lock_column(SkSequenceColumn *column);
extern Oid	sk_column_sequence(Oid table, AttrNumber column);

#endif							/* SK_SEQUENCE_COLUMN_H */
