/*-------------------------------------------------------------------------
 *
 * dependents.h
 *	  What depends on a relation.
 *
 * src/sequence/dependents.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DEPENDENTS_H
#define SK_DEPENDENTS_H

#include "nodes/pg_list.h"

extern List *sk_list_dependents(Oid relation, Oid catalog);
extern List *sk_list_object_dependents(Oid classid, Oid objectid, Oid catalog);

#endif							/* SK_DEPENDENTS_H */
