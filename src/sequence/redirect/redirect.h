/*-------------------------------------------------------------------------
 *
 * redirect.h
 *	  What commands and the start of the room call.
 *
 * src/sequence/redirect/redirect.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_REDIRECT_H
#define SK_REDIRECT_H

#include "nodes/parsenodes.h"

/* add_column.c */
extern void sk_add_column_start(AlterTableStmt *stmt);
extern void sk_add_column_end(AlterTableStmt *stmt);

/* identity_ddl.c */
extern void sk_check_identity_owner(AlterSeqStmt *stmt);
extern void sk_check_identity_drop(DropStmt *stmt);
extern void sk_identity_command_start(Node *command);
extern void sk_identity_command_end(Node *command);

/* planner_hook.c */
extern void sk_planner_hook_init(void);

#endif							/* SK_REDIRECT_H */
