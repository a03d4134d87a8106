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

extern void sk_convert_identity(Oid table, AttrNumber column, Oid seqid);
extern void sk_restore_identity(Oid seqid, SkIdentity identity);
extern bool sk_drop_default(Oid table, const char *column, Oid seqid);
extern void sk_set_default(Oid table, const char *column, Oid seqid);

#endif							/* SK_COLUMN_DEFAULT_H */
