/*-------------------------------------------------------------------------
 *
 * owner_rights.h
 *	  Looking at a relation with the rights of its owner.
 *
 * src/spi/owner_rights.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_OWNER_RIGHTS_H
#define SK_OWNER_RIGHTS_H

/* What sk_owner_exit() puts back. */
typedef struct SkOwnerScope
{
	Oid			userid;
	int			sec_context;
	int			nest_level;
} SkOwnerScope;

extern Oid	sk_relation_owner(Oid relid);
extern void sk_check_own_table(Oid relid);
extern void sk_owner_enter(SkOwnerScope *scope, Oid relid);
extern void sk_role_enter(SkOwnerScope *scope, Oid role);
extern void sk_owner_exit(SkOwnerScope *scope);

#endif							/* SK_OWNER_RIGHTS_H */
