/*-------------------------------------------------------------------------
 *
 * draw_privilege.h
 *	  Who may draw from a sequence.
 *
 * src/sequence/draw_privilege.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DRAW_PRIVILEGE_H
#define SK_DRAW_PRIVILEGE_H

#include "nodes/primnodes.h"

extern void sk_draw_privilege_init(void);
extern void sk_check_draw_privilege(Oid seqid, Oid called);
extern void sk_check_execute(Oid function);
extern Expr *sk_guard_draw(FuncExpr *call, Expr *value);

#endif							/* SK_DRAW_PRIVILEGE_H */
