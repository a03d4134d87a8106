/*-------------------------------------------------------------------------
 *
 * identity_privilege.h
 *	  Who may draw from the sequence of an identity column.
 *
 * src/sequence/identity_privilege.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_IDENTITY_PRIVILEGE_H
#define SK_IDENTITY_PRIVILEGE_H

extern void sk_identity_privilege_init(void);
extern void sk_check_identity_privilege(Oid seqid);

#endif							/* SK_IDENTITY_PRIVILEGE_H */
