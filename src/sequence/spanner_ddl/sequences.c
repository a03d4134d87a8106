/*-------------------------------------------------------------------------
 *
 * sequences.c
 *	  Spanner's DDL for sequences.
 *
 * The statements do what our SQL functions do.
 *
 * src/sequence/spanner_ddl/sequences.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "utils/lsyscache.h"

#include "sequence/arguments.h"
#include "sequence/sequence_change.h"
#include "sequence/spanner_ddl/statements.h"
#include "spi/run_command.h"


static Oid	find_sequence(List *names, bool missing_ok);
static void check_dependent_columns(Oid seqid);

/*
 * sk_ddl_change_sequence
 *		Do to a sequence what the clauses ask for.
 */
void
sk_ddl_change_sequence(Oid seqid, const SkDdlClauses *clauses)
{
	if (clauses->limits != NULL)
		sk_run_command(psprintf("ALTER SEQUENCE %s%s", sk_qualified_name(seqid),
								clauses->limits));
	sk_alter_sequence(seqid, &clauses->change);
}

/*
 * sk_ddl_create_sequence
 *		CREATE SEQUENCE [ IF NOT EXISTS ] name [ clause ... ]
 */
void
sk_ddl_create_sequence(SkDdlParser *parser)
{
	bool		if_not_exists = sk_ddl_accept(parser, "if not exists");
	List	   *names = sk_ddl_qualified_name(parser);
	char	   *name = NameListToQuotedString(names);
	SkDdlClauses clauses = {0};

	sk_ddl_parse_clauses(parser, SK_DDL_CREATE_SEQUENCE, name, &clauses);
	sk_ddl_expect_end(parser, "The statement ends here.");
	sk_ddl_take_default_kind(&clauses);
	(void) sk_create_sequence(sk_make_range_var(names, name), &clauses.change,
							  if_not_exists);
}

/*
 * sk_ddl_alter_sequence
 *		ALTER SEQUENCE [ IF EXISTS ] name clause ...
 */
void
sk_ddl_alter_sequence(SkDdlParser *parser)
{
	bool		missing_ok = sk_ddl_accept(parser, "if exists");
	List	   *names = sk_ddl_qualified_name(parser);
	SkDdlClauses clauses = {0};
	Oid			seqid;

	sk_ddl_parse_clauses(parser, SK_DDL_ALTER_SEQUENCE,
						 NameListToQuotedString(names), &clauses);
	if (clauses.count == 0)
		sk_ddl_syntax_error(parser, "Say what is to be changed.");
	sk_ddl_expect_end(parser, "The statement ends here.");

	seqid = find_sequence(names, missing_ok);
	if (OidIsValid(seqid))
		sk_ddl_change_sequence(seqid, &clauses);
}

/*
 * sk_ddl_drop_sequence
 *		DROP SEQUENCE [ IF EXISTS ] name
 */
void
sk_ddl_drop_sequence(SkDdlParser *parser)
{
	bool		missing_ok = sk_ddl_accept(parser, "if exists");
	List	   *names = sk_ddl_qualified_name(parser);
	Oid			seqid;

	sk_ddl_expect_end(parser, "Spanner drops one sequence at a time, without CASCADE or RESTRICT; run other forms directly.");
	seqid = find_sequence(names, missing_ok);
	if (!OidIsValid(seqid))
		return;
	check_dependent_columns(seqid);
	sk_run_command(psprintf("DROP SEQUENCE %s", sk_qualified_name(seqid)));
}

/* Look up a sequence; InvalidOid if it may be and is missing. */
static Oid
find_sequence(List *names, bool missing_ok)
{
	Oid			seqid = RangeVarGetRelid(makeRangeVarFromNameList(names),
										 NoLock, true);

	if (OidIsValid(seqid))
	{
		sk_sequence_check_relkind(seqid);
		return seqid;
	}
	if (!missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("Sequence not found: %s",
						NameListToQuotedString(names)),
				 errhint("Qualify the name with its schema if that is not in the search path.")));
	ereport(NOTICE,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("sequence \"%s\" does not exist, skipping",
					NameListToString(names))));
	return InvalidOid;
}

/* Spanner's error for a sequence that the default of a column draws from. */
static void
check_dependent_columns(Oid seqid)
{
	char	   *column;

	column = sk_query_text(psprintf("SELECT d.adrelid::pg_catalog.regclass::pg_catalog.text"
									" OPERATOR(pg_catalog.||) '.'"
									" OPERATOR(pg_catalog.||) pg_catalog.quote_ident(a.attname)"
									" FROM pg_catalog.pg_depend p"
									" JOIN pg_catalog.pg_attrdef d ON d.oid OPERATOR(pg_catalog.=) p.objid"
									" JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid"
									" AND a.attnum OPERATOR(pg_catalog.=) d.adnum"
									" WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass"
									" AND p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"
									" AND p.refobjid OPERATOR(pg_catalog.=) '%u'"
									" ORDER BY d.adrelid, d.adnum LIMIT 1",
									seqid));
	if (column != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("Cannot drop SEQUENCE `%s` on which there is a dependent column: %s.",
						get_rel_name(seqid), column),
				 errhint("Drop the default of the column first.")));
}
