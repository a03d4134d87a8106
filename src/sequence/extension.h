/*-------------------------------------------------------------------------
 *
 * extension.h
 *	  The extension's own schemas and functions, and calls of these.
 *
 * src/sequence/extension.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_EXTENSION_H
#define SK_EXTENSION_H

#include "nodes/primnodes.h"

#define SK_EXTENSION "spanner_keys"
#define SK_SCHEMA "spanner"
#define SK_INTERNAL_SCHEMA "spanner_internal"

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
extern bool sk_extension_exists(void);
extern Oid	sk_extension_owner(void);
extern Oid	sk_function(SkFunction function);
extern Oid	sk_loader_function(const char *name);
extern Expr *sk_make_call(SkFunction function, Oid type, List *arguments);
extern Expr *sk_make_guarded(SkFunction guard, List *arguments, Expr *value);
extern Expr *sk_make_oid(Oid type, Oid value);

#endif							/* SK_EXTENSION_H */
