/*-------------------------------------------------------------------------
 *
 * relation_changes.h
 *	  Callbacks for changes of relations.
 *
 * src/spi/relation_changes.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_RELATION_CHANGES_H
#define SK_RELATION_CHANGES_H

#include "utils/inval.h"

extern void sk_on_relation_change(RelcacheCallbackFunction callback);
extern void sk_watch_relations(void);

#endif							/* SK_RELATION_CHANGES_H */
