/*-------------------------------------------------------------------------
 *
 * add_column.h
 *	  ALTER TABLE ... ADD COLUMN with a sequence of the default kind.
 *
 * src/sequence/redirect/add_column.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ADD_COLUMN_H
#define SK_ADD_COLUMN_H

#include "nodes/parsenodes.h"

extern void sk_add_column_start(AlterTableStmt *stmt);
extern void sk_add_column_end(AlterTableStmt *stmt);

#endif							/* SK_ADD_COLUMN_H */
