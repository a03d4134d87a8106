/*-------------------------------------------------------------------------
 *
 * identity_column.h
 *	  Identity columns whose sequence is bound.
 *
 * src/sequence/redirect/identity_column.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_IDENTITY_COLUMN_H
#define SK_IDENTITY_COLUMN_H

#include "utils/relcache.h"

#include "sequence/access_method.h"

/* A column whose default draws from the sequence of its former identity. */
typedef struct SkIdentityColumn
{
	AttrNumber	attnum;
	Oid			seqid;
	SkIdentity	identity;
} SkIdentityColumn;

extern List *sk_identity_columns(Relation rel, Oid table);
extern void sk_convert_identity(Oid table, AttrNumber column, Oid seqid);
extern void sk_restore_identity(Oid seqid, SkIdentity identity);
extern bool sk_drop_default(Oid table, const char *column, Oid seqid);
extern void sk_set_default(Oid table, const char *column, Oid seqid);

#endif							/* SK_IDENTITY_COLUMN_H */
