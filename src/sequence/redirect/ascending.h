/*-------------------------------------------------------------------------
 *
 * ascending.h
 *	  Values in ascending order for clients that sort returned ids.
 *
 * src/sequence/redirect/ascending.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ASCENDING_H
#define SK_ASCENDING_H

#include "nodes/pathnodes.h"

extern Expr *sk_ascending_call(PlannerInfo *root, FuncExpr *call);
extern void sk_lift_nextval(Query *insert, Oid nextval);

#endif							/* SK_ASCENDING_H */
