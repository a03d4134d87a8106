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

/*
 * More rows than this fetch one by one.  Their VALUES list takes far more
 * memory than their values, so this is only for direct calls.
 */
#define SK_MAX_ASCENDING 1000000

extern void sk_set_core_support(bool attach);
extern void sk_check_execute(Oid function);
extern Expr *sk_make_oid(Oid type, Oid value);

#endif							/* SK_CORE_SUPPORT_H */
