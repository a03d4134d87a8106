/*-------------------------------------------------------------------------
 *
 * spanner_ddl_columns.h
 *	  Spanner's DDL for identity columns.
 *
 * src/sequence/spanner_ddl_columns.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SPANNER_DDL_COLUMNS_H
#define SK_SPANNER_DDL_COLUMNS_H

#include "sequence/spanner_ddl_clauses.h"

extern bool sk_ddl_alter_column(SkDdlParser *parser);
extern void sk_ddl_run_table_statement(SkDdlParser *parser);

/* spanner_ddl.c */
extern void sk_ddl_alter_sequence(Oid seqid, const SkDdlClauses *clauses);

#endif							/* SK_SPANNER_DDL_COLUMNS_H */
