/*-------------------------------------------------------------------------
 *
 * alter_column.c
 *	  Spanner's DDL for identity columns that are there.
 *
 * src/sequence/spanner_ddl/alter_column.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/attnum.h"
#include "catalog/namespace.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "sequence/arguments.h"
#include "sequence/spanner_ddl/statements.h"

static bool alter_default(SkDdlParser *parser, List *table,
						  const char *column);
static bool alter_column_clauses(SkDdlParser *parser, SkDdlClauses *clauses);
static Oid	existing_column_sequence(List *table, const char *column,
									 bool missing_ok);

/*
 * sk_ddl_alter_column
 *		Run ALTER TABLE ... ALTER COLUMN with a clause of Spanner's.
 *
 * Returns false if the statement is another, and has read nothing then.
 */
bool
sk_ddl_alter_column(SkDdlParser *parser)
{
	SkDdlParser start = *parser;
	SkDdlClauses clauses = {0};
	List	   *table = NIL;
	char	   *column = NULL;
	bool		missing_ok;
	Oid			seqid;

	if (!sk_ddl_accept(parser, "alter table"))
		return false;
	missing_ok = sk_ddl_accept(parser, "if exists");
	(void) sk_ddl_accept(parser, "only");
	if (sk_ddl_at_name(parser))
	{
		table = sk_ddl_qualified_name(parser);
		(void) sk_ddl_accept_char(parser, '*');
		if (sk_ddl_accept(parser, "alter"))
		{
			(void) sk_ddl_accept(parser, "column");
			if (sk_ddl_at_name(parser))
				column = sk_ddl_name(parser);
		}
	}
	if (column != NULL && alter_default(parser, table, column))
		return true;
	if (column == NULL || !alter_column_clauses(parser, &clauses))
	{
		*parser = start;
		return false;
	}

	seqid = existing_column_sequence(table, column, missing_ok);
	if (OidIsValid(seqid))
		sk_ddl_change_sequence(seqid, &clauses);
	return true;
}

/*
 * As in Spanner, an identity column keeps its default whatever is said of it.
 * Returns false, and has read nothing, if the statement says nothing, or if
 * the column is another.
 */
static bool
alter_default(SkDdlParser *parser, List *table, const char *column)
{
	SkDdlParser clause = *parser;
	bool		is_drop = sk_ddl_accept(&clause, "drop default");
	Oid			relid;
	Oid			seqid;

	if (!is_drop && !sk_ddl_accept(&clause, "set default"))
		return false;
	relid = RangeVarGetRelid(makeRangeVarFromNameList(table), NoLock, true);
	if (!OidIsValid(relid))
		return false;
	seqid = sk_column_sequence(relid, get_attnum(relid, column));
	if (!OidIsValid(seqid) || sk_sequence_label(seqid) == NULL)
		return false;

	if (!is_drop)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("Cannot alter an identity column `%s.%s` to a generated or default column.",
						get_rel_name(relid), column),
				 errhint("Run it directly, without execute_ddl, to give up the sequence.")));
	sk_ddl_expect_end(&clause, "The statement ends here.");
	*parser = clause;
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("column \"%s\" of relation \"%s\" is an identity column and keeps its sequence",
					column, get_rel_name(relid))));
	return true;
}

/* Read what follows ALTER COLUMN; returns false if that is not Spanner's. */
static bool
alter_column_clauses(SkDdlParser *parser, SkDdlClauses *clauses)
{
	if (sk_ddl_accept(parser, "restart counter"))
	{
		(void) sk_ddl_accept(parser, "with");
		clauses->change.restarts = true;
		clauses->change.counter = sk_ddl_integer(parser);
	}
	else if (sk_ddl_accept(parser, "set"))
	{
		SkDdlParser clause = *parser;

		if (!sk_ddl_accept(&clause, "skip") && !sk_ddl_accept(&clause, "no") &&
			!sk_ddl_accept(&clause, "restart counter") &&
			!sk_ddl_accept(&clause, "minvalue") &&
			!sk_ddl_accept(&clause, "maxvalue") &&
			!sk_ddl_accept(&clause, "cycle"))
			return false;
		sk_ddl_parse_clause(parser, SK_DDL_ALTER_COLUMN, clauses);
	}
	else
		return false;

	if (!sk_ddl_at_end(parser) && parser->token->type == SK_TOKEN_WORD)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("Only single option is allowed for <ALTER COLUMN> on identity column."),
				 sk_ddl_position(parser, parser->token->start)));
	sk_ddl_expect_end(parser, "Use a statement for each column.");
	return true;
}

/* The sequence of a column; InvalidOid if the table may be and is missing. */
static Oid
existing_column_sequence(List *table, const char *column, bool missing_ok)
{
	RangeVar   *range = makeRangeVarFromNameList(table);
	Oid			relid = RangeVarGetRelid(range, NoLock, missing_ok);
	AttrNumber	attnum;
	Oid			seqid;

	if (!OidIsValid(relid))
	{
		ereport(NOTICE,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" does not exist, skipping",
						range->relname)));
		return InvalidOid;
	}
	attnum = get_attnum(relid, column);
	if (attnum == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, range->relname)));
	seqid = sk_column_sequence(relid, attnum);
	if (!OidIsValid(seqid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("Column is not an identity column in table %s: %s",
						range->relname, column)));
	return seqid;
}
