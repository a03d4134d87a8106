/*-------------------------------------------------------------------------
 *
 * tree_marks.h
 *	  What we write into trees of the server to find it again later.
 *
 * A tree has no place for notes of an extension.  Two kinds of fields serve
 * instead.
 *
 * The location of a node is a position in the text, or -1.  The server copies
 * it like any field (copyObject), equal() ignores it, and an error at a
 * negative location shows no position.  Only text loses it: nodeToString()
 * and back.  So a mark is for trees that are not stored.
 *
 * The alias of the table that CREATE TABLE makes is never filled by the
 * grammar, and no code of the server reads it.  Its colnames are copied as a
 * list of nodes.  prepare_like() of sequence/sequence_ddl.c writes
 * commands there, and follow_like() finds them in the copy of the tree that the
 * server notes with the new table.
 *
 * src/spi/tree_marks.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_TREE_MARKS_H
#define SK_TREE_MARKS_H

#include "nodes/primnodes.h"

/*
 * Conditions on the shard that are added to a query (planner/parent_quals.c).
 * From the planner's data on a relation to the estimates of its paths.
 */
#define SK_ADDED_LOCATION (-2)

/* Where the mark of a condition is, or NULL if it cannot have one. */
static inline int *
sk_condition_location(Expr *condition)
{
	if (IsA(condition, OpExpr))
		return &((OpExpr *) condition)->location;
	if (IsA(condition, ScalarArrayOpExpr))
		return &((ScalarArrayOpExpr *) condition)->location;
	if (IsA(condition, BoolExpr))
		return &((BoolExpr *) condition)->location;
	return NULL;
}

static inline bool
sk_is_added(Expr *condition)
{
	int		   *location = sk_condition_location(condition);

	return location != NULL && *location == SK_ADDED_LOCATION;
}

/* Whatever is added is a comparison, a list or an OR. */
static inline void
sk_mark_added(Expr *condition)
{
	int		   *location = sk_condition_location(condition);

	Assert(location != NULL);
	*location = SK_ADDED_LOCATION;
}

/*
 * A call of ours; a user's own has a location of 0 or more, or -1.  Of nextval in a
 * column of ALTER TABLE ... ADD COLUMN (sequence/sequence_ddl.c): from
 * ddl_command_start to ddl_command_end.  Of what fetches in the place of nextval
 * (sequence/plan_fetch.c): from the planner to the executor.
 */
#define SK_OUR_LOCATION (-4711)

#endif							/* SK_TREE_MARKS_H */
