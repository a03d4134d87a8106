/*-------------------------------------------------------------------------
 *
 * column_default.h
 *	  Identity columns whose sequence is bound.
 *
 * src/sequence/redirect/column_default.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_COLUMN_DEFAULT_H
#define SK_COLUMN_DEFAULT_H

#include "access/attnum.h"

#include "sequence/access_method.h"

extern SkIdentity sk_column_identity(Oid table, AttrNumber column);
extern void sk_convert_identity(Oid table, AttrNumber column, Oid seqid);
extern void sk_report_lost_always(const char *column, const char *table);

#endif							/* SK_COLUMN_DEFAULT_H */
