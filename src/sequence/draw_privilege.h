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

extern void sk_draw_privilege_init(void);
extern void sk_check_draw_privilege(Oid seqid, Oid called);

#endif							/* SK_DRAW_PRIVILEGE_H */
