/*-------------------------------------------------------------------------
 *
 * identity.h
 *	  Identity columns whose sequence is bound.
 *
 * src/sequence/identity.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_IDENTITY_H
#define SK_IDENTITY_H

#include "sequence/sequence.h"

extern AttrNumber sk_identity_column(Oid relid, Oid seqid);
extern void sk_convert_identity(Oid table, AttrNumber column, Oid seqid);
extern void sk_restore_identity(Oid seqid, SkIdentity identity);

#endif							/* SK_IDENTITY_H */
