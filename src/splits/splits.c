/*-------------------------------------------------------------------------
 *
 * splits.c
 *	  What splits need beside SQL.
 *
 * A command on a table can run code of its owner: checks, index expressions,
 * partition keys, domains, triggers; reading a constant of a type can run some
 * already.  So each step of a move is performed as the owner of the table,
 * with a security context that does not let such code get back to the caller.
 * Rows are counted with the rights of the owner for the same reason.
 *
 * src/splits/splits.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "parser/scanner.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"

#include "compat.h"
#include "spi/owner_rights.h"
#include "spi/relation_query.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_count_rows);
PG_FUNCTION_INFO_V1(spanner_run_as);
PG_FUNCTION_INFO_V1(spanner_fill_in);
PG_FUNCTION_INFO_V1(spanner_try_lock_moves);

/* The last field of an advisory lock's tag is 1 or 2 in core, 4 and more in Citus. */
#define SK_MOVES_LOCK 0x5350

static Node *partition_constraint(Relation rel);

/*
 * spanner_internal.count_rows(relation regclass, outside boolean)
 * returns bigint
 *
 * Counts the rows of a relation, or those outside of its bounds as a
 * partition.  NULL if there is no relation.
 */
Datum
spanner_count_rows(PG_FUNCTION_ARGS)
{
	SkRelationQuery query = {0};
	Relation	rel;
	int64		result;

	rel = PG_ARGISNULL(0) ? NULL : try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	if (rel == NULL)
		PG_RETURN_NULL();
	query.relids = list_make1_oid(RelationGetRelid(rel));
	if (!PG_ARGISNULL(1) && PG_GETARG_BOOL(1))
		query.expressions = list_make1(partition_constraint(rel));
	query.text = psprintf("SELECT pg_catalog.count(*) FROM %s%s",
						  sk_qualified_name(RelationGetRelid(rel)),
						  query.expressions != NIL ? " WHERE $1 IS NOT TRUE" : "");
	result = sk_query_number(&query);
	relation_close(rel, NoLock);
	PG_RETURN_INT64(result);
}

/*
 * spanner_internal.run_as(role oid, command text) returns void
 *
 * Text with a second command in it is refused, so that no name or expression
 * can begin one.
 */
Datum
spanner_run_as(PG_FUNCTION_ARGS)
{
	Oid			role = PG_GETARG_OID(0);
	char	   *name = GetUserNameFromId(role, false);
	char	   *command = text_to_cstring(PG_GETARG_TEXT_PP(1));
	SkOwnerScope scope;

	if (list_length(raw_parser(command, RAW_PARSE_DEFAULT)) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("not a single command: %s", command)));
	if (!has_privs_of_role(GetUserId(), role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be able to act as role \"%s\"", name)));
	check_can_set_role(GetUserId(), role);
	sk_role_enter(&scope, role);
	sk_run_command(command);
	sk_owner_exit(&scope);
	PG_RETURN_VOID();
}

/*
 * spanner_internal.fill_in(statement text, name text) returns text
 *
 * The server's own lexer says what is in a string or comment: a name in it
 * could end it.
 */
Datum
spanner_fill_in(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	char	   *from = statement;
	core_yy_extra_type extra;
	core_yyscan_t scanner = scanner_init(statement, &extra, &ScanKeywords, ScanKeywordTokens);
	core_YYSTYPE value;
	YYLTYPE		location;
	StringInfoData result;
	int			token;

	initStringInfo(&result);
	while ((token = core_yylex(&value, &location, scanner)) != 0)
		if (token == '{' && strncmp(statement + location, "{}", 2) == 0 &&
			strstr(from, "{}") == statement + location)
		{
			appendBinaryStringInfo(&result, from, statement + location - from);
			appendStringInfoString(&result, name);
			from = statement + location + 2;
		}
	scanner_finish(scanner);
	if (strstr(from, "{}") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("{} stands for a name, and cannot be in a string or comment")));
	if (from == statement)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the statement must have {} for the name of the table")));
	appendStringInfoString(&result, from);
	PG_RETURN_TEXT_P(cstring_to_text(result.data));
}

/*
 * spanner_internal.try_lock_moves(relation oid) returns boolean
 *
 * The lock of a table for the program, until the session ends.  Anybody can take
 * advisory locks, so it is none that their functions know.  Whoever could lock
 * the table, or a partition of it, may have it.
 */
Datum
spanner_try_lock_moves(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	bool		is_allowed;
	LOCKTAG		tag;

	/* a table that is gone is nobody's, and a partition may go at any time */
	is_allowed = !OidIsValid(sk_relation_owner(relid)) ||
		sk_query_text(psprintf("WITH RECURSIVE family (oid) AS (SELECT %u::pg_catalog.oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i"
							   " JOIN family f ON i.inhparent OPERATOR(pg_catalog.=) f.oid)"
							   " SELECT 'yes' FROM family f JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) f.oid"
							   " WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')"
							   " OR pg_catalog.has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE') LIMIT 1", relid)) != NULL;
	if (!is_allowed)
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, RelationRelationId, relid, SK_MOVES_LOCK);
	PG_RETURN_BOOL(LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL);
}

/*
 * The bounds of a partition.  The relation cache simplifies the partition key
 * when it is asked for it, which calls functions.
 */
static Node *
partition_constraint(Relation rel)
{
	SkOwnerScope scope;
	List	   *conditions;

	sk_check_one_owner(RelationGetRelid(rel));
	sk_owner_enter(&scope, RelationGetRelid(rel));
	conditions = RelationGetPartitionQual(rel);
	sk_owner_exit(&scope);
	if (conditions == NIL)
		return makeBoolConst(true, false);
	return (Node *) make_ands_explicit(conditions);
}
