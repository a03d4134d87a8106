/*-------------------------------------------------------------------------
 *
 * object_name.h
 *	  Names of objects as arguments of functions.
 *
 * src/sequence/object_name.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_OBJECT_NAME_H
#define SK_OBJECT_NAME_H

#include "nodes/primnodes.h"

extern List *sk_split_name(const char *name);
extern RangeVar *sk_make_range_var(List *names, const char *name);
extern Oid	sk_schema_oid(const char *name);

#endif							/* SK_OBJECT_NAME_H */
