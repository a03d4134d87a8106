/*-------------------------------------------------------------------------
 *
 * statements.h
 *	  The statements of Spanner's DDL, by object.
 *
 * src/sequence/spanner_ddl/statements.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_STATEMENTS_H
#define SK_DDL_STATEMENTS_H

#include "sequence/spanner_ddl/clauses.h"

/* alter_column.c */
extern bool sk_ddl_alter_column(SkDdlParser *parser);

/* columns.c */
extern void sk_ddl_run_table_statement(SkDdlParser *parser);

/* database.c */
extern bool sk_ddl_alter_database(SkDdlParser *parser);

/* sequences.c */
extern void sk_ddl_create_sequence(SkDdlParser *parser);
extern void sk_ddl_alter_sequence(SkDdlParser *parser);
extern void sk_ddl_drop_sequence(SkDdlParser *parser);
extern void sk_ddl_change_sequence(Oid seqid, const SkDdlClauses *clauses);

#endif							/* SK_DDL_STATEMENTS_H */
