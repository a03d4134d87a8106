/*-------------------------------------------------------------------------
 *
 * relation_query.h
 *	  Asking about relations that are known by their OIDs.
 *
 * src/spi/relation_query.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_RELATION_QUERY_H
#define SK_RELATION_QUERY_H

#include "executor/tuptable.h"
#include "nodes/pg_list.h"
#include "utils/tuplestore.h"

/*
 * A query of ours, which says itself of what types its columns are.  Its text
 * has the names that sk_qualified_name() gives for the relations, and "$1", "$2"
 * and so on for the expressions.
 */
typedef struct SkRelationQuery
{
	const char *text;
	List	   *relids;			/* all that it reads, locked, of one owner */
	List	   *expressions;	/* trees of the first relation, as catalogs
								 * store them: their Vars have number 1 */
	bool		all_rows;		/* those that policies hide as well */
} SkRelationQuery;

extern Tuplestorestate *sk_query_relation(const SkRelationQuery *query,
										  TupleTableSlot **slot);
extern int64 sk_query_number(const SkRelationQuery *query);
extern void sk_check_one_owner(Oid relid);

#endif							/* SK_RELATION_QUERY_H */
