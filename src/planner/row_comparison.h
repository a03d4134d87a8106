/*-------------------------------------------------------------------------
 *
 * row_comparison.h
 *	  What must not be an index condition beside one on the shard.
 *
 * src/planner/row_comparison.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ROW_COMPARISON_H
#define SK_ROW_COMPARISON_H

#include "nodes/pathnodes.h"

extern List *sk_index_restrictions(RelOptInfo *rel, List *clauses,
								   bool with_array);
extern bool sk_has_row_comparison(Node *node);
extern bool sk_has_array(List *clauses);
extern bool sk_has_nullable_range(RelOptInfo *rel, Node *node);

#endif							/* SK_ROW_COMPARISON_H */
