/*-------------------------------------------------------------------------
 *
 * core_support.h
 *	  Our functions in the place of core's: support function, calls.
 *
 * src/sequence/core_support.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_CORE_SUPPORT_H
#define SK_CORE_SUPPORT_H

#include "nodes/primnodes.h"

#include "spi/own_objects.h"

extern void sk_set_core_support(bool attach);
extern Expr *sk_make_call(SkFunction function, Oid type, List *arguments);
extern Expr *sk_make_oid(Oid type, Oid value);

#endif							/* SK_CORE_SUPPORT_H */
