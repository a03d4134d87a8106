/*-------------------------------------------------------------------------
 *
 * database.h
 *	  Spanner's DDL for databases: the default kind of sequences.
 *
 * src/sequence/spanner_ddl/database.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_DATABASE_H
#define SK_DDL_DATABASE_H

#include "sequence/spanner_ddl/parser.h"

extern bool sk_ddl_alter_database(SkDdlParser *parser);

#endif							/* SK_DDL_DATABASE_H */
