/*-------------------------------------------------------------------------
 *
 * sequence_support.h
 *	  How calls of sequence functions are planned.
 *
 * src/sequence/redirect/sequence_support.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SEQUENCE_SUPPORT_H
#define SK_SEQUENCE_SUPPORT_H

#include "nodes/primnodes.h"

extern Expr *sk_ascending_draw(FuncExpr *call, int rows);

#endif							/* SK_SEQUENCE_SUPPORT_H */
