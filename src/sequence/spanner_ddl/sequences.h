/*-------------------------------------------------------------------------
 *
 * sequences.h
 *	  Spanner's DDL for sequences.
 *
 * src/sequence/spanner_ddl/sequences.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_SEQUENCES_H
#define SK_DDL_SEQUENCES_H

#include "sequence/spanner_ddl/clauses.h"

extern void sk_ddl_create_sequence(SkDdlParser *parser);
extern void sk_ddl_alter_sequence(SkDdlParser *parser);
extern void sk_ddl_drop_sequence(SkDdlParser *parser);
extern void sk_ddl_change_sequence(Oid seqid, const SkDdlClauses *clauses);

#endif							/* SK_DDL_SEQUENCES_H */
