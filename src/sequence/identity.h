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

/* A column whose default fetches from the sequence of its former identity. */
typedef struct SkIdentityColumn
{
	AttrNumber	attnum;
	Oid			seqid;
	SkIdentity	identity;
} SkIdentityColumn;

extern List *sk_identity_columns(Oid relid, Oid table);
extern SkIdentity sk_column_identity(Oid seqid, Oid table, const char *column);
extern char *sk_identity_name(Oid seqid, Oid table);
extern void sk_change_identity(Oid seqid, SkIdentity identity);

#endif							/* SK_IDENTITY_H */
