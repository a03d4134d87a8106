/*-------------------------------------------------------------------------
 *
 * ddl.h
 *	  Event triggers, and the default kind of new sequences.
 *
 * src/sequence/ddl.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_H
#define SK_DDL_H

#include "sequence/access_method.h"

extern char *sk_default_sequence_kind(void);
extern void sk_bind_new_sequence(Oid seqid, SkIdentity identity);

#endif							/* SK_DDL_H */
