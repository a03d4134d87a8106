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

/*
 * More rows than this draw one by one.  Their VALUES list takes far more
 * memory than their values, so this is only for direct calls.
 */
#define SK_MAX_ASCENDING 1000000

/* ascending.c */
extern int	sk_ascending_rows(PlannerInfo *root);
extern int	sk_insert_rows(Query *insert, bool in_select);
extern Query *sk_sorted_source(Query *insert);
extern int	sk_only_relation(Query *query);
extern List *sk_values_lists(Query *query);
extern bool sk_draws(Node *node, void *context);
extern bool sk_is_nextval(Node *node);
extern Expr *sk_ascending_draw(FuncExpr *call, int rows);

/* ascending_values.c */
extern int	sk_values_rows(PlannerInfo *root, const Const *sequence,
						   AttrNumber *column);
extern void sk_lift_draw(Query *query, AttrNumber column, Expr *draw);
extern void sk_ascend_inserts(Query *query);

#endif							/* SK_ASCENDING_H */
