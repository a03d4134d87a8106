/*-------------------------------------------------------------------------
 *
 * allocator_roles.h
 *	  The roles that allocators name, as DROP ROLE knows of them.
 *
 * src/allocator/allocator_roles.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_ROLES_H
#define SK_ALLOCATOR_ROLES_H

#include "allocator/allocator_table.h"

extern void sk_roles_keep(Relation rel, const SkAllocatorRow *row);
extern void sk_roles_forget_unused(void);

#endif							/* SK_ALLOCATOR_ROLES_H */
