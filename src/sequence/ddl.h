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
#include "sequence/label.h"

extern char *sk_default_sequence_kind(void);
extern const SequenceAccessMethod *sk_bind_new_sequence(Oid seqid,
														SkIdentity identity,
														bool *overlap);
extern SkLabel *sk_fitting_label(const char *kind, Oid seqid, int width);

#endif							/* SK_DDL_H */
