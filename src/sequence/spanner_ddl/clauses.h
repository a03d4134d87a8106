/*-------------------------------------------------------------------------
 *
 * clauses.h
 *	  The clauses that Spanner's DDL has for sequences and identity columns.
 *
 * src/sequence/spanner_ddl/clauses.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_CLAUSES_H
#define SK_DDL_CLAUSES_H

#include "sequence/sequence_change.h"
#include "sequence/spanner_ddl/parser.h"

/* The statement that clauses belong to. */
typedef enum SkDdlPlace
{
	SK_DDL_CREATE_SEQUENCE,
	SK_DDL_ALTER_SEQUENCE,
	SK_DDL_IDENTITY_COLUMN,
	SK_DDL_ALTER_COLUMN
} SkDdlPlace;

/* What the clauses ask for. */
typedef struct SkDdlClauses
{
	SkSequenceChange change;	/* restarts with the counter of START, too */
	char	   *limits;			/* clauses of PostgreSQL's own; NULL: none */
	int			count;			/* how many clauses there were */
} SkDdlClauses;

extern void sk_ddl_parse_clauses(SkDdlParser *parser, SkDdlPlace place,
								 const char *object, SkDdlClauses *clauses);
extern void sk_ddl_parse_clause(SkDdlParser *parser, SkDdlPlace place,
								SkDdlClauses *clauses);
extern void sk_ddl_take_default_kind(SkDdlClauses *clauses);
extern char *sk_ddl_label(const SkDdlClauses *clauses);

#endif							/* SK_DDL_CLAUSES_H */
