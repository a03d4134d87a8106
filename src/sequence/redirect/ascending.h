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

extern int	sk_ascending_rows(PlannerInfo *root);
extern int	sk_values_rows(PlannerInfo *root, const Const *sequence,
						   AttrNumber *column);
extern void sk_lift_draw(PlannerInfo *root, AttrNumber column, Expr *draw);

#endif							/* SK_ASCENDING_H */
