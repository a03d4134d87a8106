/*-------------------------------------------------------------------------
 *
 * raw_default.h
 *	  Sequence functions in the expressions of DDL commands.
 *
 * src/sequence/redirect/raw_default.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_RAW_DEFAULT_H
#define SK_RAW_DEFAULT_H

#include "nodes/parsenodes.h"

extern void sk_redirect_raw_defaults(Node *command, Oid namespace);
extern void sk_redirect_raw_arguments(List *arguments);

#endif							/* SK_RAW_DEFAULT_H */
