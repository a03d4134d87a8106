/*-------------------------------------------------------------------------
 *
 * extension.h
 *	  Calls of the extension's functions, and functions of other libraries.
 *
 * src/sequence/extension.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_EXTENSION_H
#define SK_EXTENSION_H

#include "nodes/primnodes.h"

#include "spi/own_objects.h"

extern Oid	sk_loader_function(const char *name);
extern Expr *sk_make_call(SkFunction function, Oid type, List *arguments);
extern Expr *sk_make_guarded(SkFunction guard, List *arguments, Expr *value);
extern Expr *sk_make_oid(Oid type, Oid value);

#endif							/* SK_EXTENSION_H */
