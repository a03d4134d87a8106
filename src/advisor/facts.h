/*-------------------------------------------------------------------------
 *
 * facts.h
 *	  What the rules of spanner.advise look at.
 *
 * src/advisor/facts.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_FACTS_H
#define SK_FACTS_H

#include "nodes/pg_list.h"

extern List *sk_facts_gather(Oid relid);
extern void sk_facts_release(List *facts);

#endif							/* SK_FACTS_H */
