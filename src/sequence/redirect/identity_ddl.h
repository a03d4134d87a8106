/*-------------------------------------------------------------------------
 *
 * identity_ddl.h
 *	  Commands on identity columns whose sequence is bound.
 *
 * src/sequence/redirect/identity_ddl.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_IDENTITY_DDL_H
#define SK_IDENTITY_DDL_H

#include "nodes/parsenodes.h"

extern void sk_check_identity_owner(AlterSeqStmt *stmt);
extern void sk_identity_command_start(Node *command);
extern void sk_identity_command_end(Node *command);

#endif							/* SK_IDENTITY_DDL_H */
