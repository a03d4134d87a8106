/*-------------------------------------------------------------------------
 *
 * extension.h
 *	  The extension's own functions, and calls of them.
 *
 * src/sequence/extension.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_EXTENSION_H
#define SK_EXTENSION_H

#include "nodes/primnodes.h"

/* The functions in C that other code looks for. */
typedef enum SkFunction
{
	SK_FUNCTION_ASCENDING_NEXTVAL,
	SK_FUNCTION_CURRVAL,
	SK_FUNCTION_LASTVAL,
	SK_FUNCTION_MAP_COUNTER,
	SK_FUNCTION_MAY_CALL,
	SK_FUNCTION_MAY_DRAW,
	SK_FUNCTION_NEXTVAL,
	SK_FUNCTION_SEQUENCE_SUPPORT,
	SK_FUNCTION_SETVAL,
	SK_FUNCTION_SETVAL_CALLED
} SkFunction;

extern void sk_extension_init(void);
extern Oid	sk_function(SkFunction function);
extern Oid	sk_loader_function(const char *name);
extern Expr *sk_make_call(SkFunction function, Oid type, List *arguments);
extern Expr *sk_make_guarded(SkFunction guard, List *arguments, Expr *value);
extern Expr *sk_make_oid(Oid type, Oid value);

/* in member_guard.c */
extern void sk_member_guard_init(void);
extern void sk_guard_members(Node *command);

#endif							/* SK_EXTENSION_H */
