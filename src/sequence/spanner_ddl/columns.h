/*-------------------------------------------------------------------------
 *
 * columns.h
 *	  Spanner's DDL for identity columns.
 *
 * src/sequence/spanner_ddl/columns.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_COLUMNS_H
#define SK_DDL_COLUMNS_H

#include "sequence/spanner_ddl/clauses.h"

extern bool sk_ddl_alter_column(SkDdlParser *parser);
extern void sk_ddl_run_table_statement(SkDdlParser *parser);

#endif							/* SK_DDL_COLUMNS_H */
