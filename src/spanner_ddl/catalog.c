/*-------------------------------------------------------------------------
 *
 * catalog.c
 *	  Relations by name, what catalogs say of them, and commands on them.
 *
 * The key of a table is its primary key, or, since Spanner's keys may be NULL,
 * a UNIQUE NULLS NOT DISTINCT constraint.
 *
 * Commands run with the caller's rights.  What is put into them is names and
 * strings that are quoted anew, numbers and words that we know.
 *
 * src/spanner_ddl/catalog.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_is_synonym);

static char *join_names(List *names, const char *separator);
static bool reads_all(Query *query, TupleDesc columns, Relation table);

/*
 * sk_ddl_refuse
 *		Report what PostgreSQL has not.
 */
void
sk_ddl_refuse(SkDdlText *ddl, int token, const char *what, const char *hint)
{
	SK_DDL_ERROR(ddl, token, ERRCODE_FEATURE_NOT_SUPPORTED,
				 errmsg("%s is not supported", what),
				 hint != NULL ? errhint("%s", hint) : 0);
}

/*
 * sk_ddl_run_command
 *		Run a command of PostgreSQL, and note it: SK_DDL_EMIT() has its format.
 */
void
sk_ddl_run_command(SkDdlText *ddl, char *command)
{
	/* postgresql_ddl() rolls back what it does, and keeps this */
	Assert(ddl->commands == NIL || GetMemoryChunkContext(ddl->commands) == CurrentMemoryContext);
	ddl->commands = lappend(ddl->commands, command);

	if (strncmp(command, "SELECT ", 7) == 0)
		(void) sk_query_text(command);
	else if (command[0] != '-')
		sk_run_command(command);
}

/*
 * sk_ddl_name
 *		A name as it is in a command.
 */
char *
sk_ddl_name(const SkName *name)
{
	return join_names(name->parts, ".");
}

/*
 * sk_ddl_name_list
 *		Names of columns as they are in a command.
 */
char *
sk_ddl_name_list(List *names)
{
	return join_names(names, ", ");
}

static char *
join_names(List *names, const char *separator)
{
	StringInfoData result;
	ListCell   *lc;

	initStringInfo(&result);
	foreach(lc, names)
		appendStringInfo(&result, "%s%s", result.len > 0 ? separator : "", quote_identifier(lfirst(lc)));
	return result.data;
}

/*
 * sk_ddl_has_name
 *		Is a name in a list of them?
 */
bool
sk_ddl_has_name(const List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	return false;
}

/*
 * sk_ddl_find
 *		The relation of a kind that has this name; InvalidOid if it may be
 *		and is missing.
 */
Oid
sk_ddl_find(SkDdlText *ddl, const SkName *name, char relkind, bool missing_ok)
{
	List	   *names = NIL;
	ListCell   *lc;
	Oid			result;
	char		found;

	foreach(lc, name->parts)
		names = lappend(names, makeString(lfirst(lc)));
	result = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);
	found = OidIsValid(result) ? get_rel_relkind(result) : '\0';
	if (found == relkind || (found == RELKIND_PARTITIONED_TABLE && relkind == RELKIND_RELATION) ||
		(found == RELKIND_PARTITIONED_INDEX && relkind == RELKIND_INDEX))
		return result;
	if (missing_ok && found == '\0')
		return InvalidOid;
	if (relkind == RELKIND_SEQUENCE && found != '\0')
		SK_DDL_ERROR(ddl, name->at, ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("\"%s\" is not a sequence", (char *) llast(name->parts)),
					 errhint("Use pg_get_serial_sequence() to find the sequence of a column."));
	SK_DDL_ERROR(ddl, name->at, ERRCODE_UNDEFINED_TABLE,
				 relkind == RELKIND_SEQUENCE ? errmsg("Sequence not found: %s", sk_ddl_name(name)) :
				 relkind == RELKIND_INDEX ? errmsg("Index not found: %s", sk_ddl_name(name)) :
				 relkind == RELKIND_VIEW ? errmsg("View not found: %s", sk_ddl_name(name)) :
				 errmsg("Table not found: %s", sk_ddl_name(name)),
				 errhint("Qualify the name with its schema if that is not in the search path."));
	return InvalidOid;			/* keep compiler quiet */
}

/*
 * sk_ddl_skip
 *		Is there nothing to do, since IF EXISTS is said of what is missing?
 *		If it is not said, that is an error.
 */
bool
sk_ddl_skip(SkDdlText *ddl, const SkName *name, char relkind, bool exists_ok)
{
	if (OidIsValid(sk_ddl_find(ddl, name, relkind, exists_ok)))
		return false;
	ereport(NOTICE,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg(relkind == RELKIND_SEQUENCE ? "sequence \"%s\" does not exist, skipping" :
					"relation \"%s\" does not exist, skipping",
					(char *) llast(name->parts))));
	return true;
}

/*
 * sk_ddl_table_key
 *		The names of the columns of a table's key; NIL if it has none.
 */
List *
sk_ddl_table_key(Oid relid)
{
	return sk_query_texts(psprintf("SELECT pg_catalog.unnest(spanner_internal.table_key('%u'))", relid));
}

/*
 * sk_ddl_check_key_length
 *		Raise an error if PostgreSQL has no index of so many columns.
 */
void
sk_ddl_check_key_length(SkDdlText *ddl, List *key)
{
	if (list_length(key) > INDEX_MAX_KEYS)
		SK_DDL_ERROR(ddl, ((SkKeyPart *) linitial(key))->at, ERRCODE_TOO_MANY_COLUMNS,
					 errmsg("cannot use more than %d columns in an index", INDEX_MAX_KEYS));
}

/*
 * sk_ddl_check_interleave
 *		Raise an error if the key of a table or index does not begin with the
 *		parent's.
 */
void
sk_ddl_check_interleave(SkDdlText *ddl, int at, Oid child, Oid parent)
{
	char	   *problem;

	problem = sk_query_text(psprintf("SELECT spanner_internal.interleave_problem('%u', '%u', '%s')", child, parent,
									 ddl->dialect == SK_GOOGLESQL ? "googlesql" : "postgresql"));
	if (problem != NULL)
		SK_DDL_ERROR(ddl, at, ERRCODE_INVALID_FOREIGN_KEY,
					 errmsg("%s", problem));
}

/*
 * sk_ddl_object
 *		The OID that one of our SQL functions returns for another one;
 *		InvalidOid if it returns NULL.
 */
Oid
sk_ddl_object(const char *function, Oid argument)
{
	char	   *oid = sk_query_text(psprintf("SELECT spanner_internal.%s('%u')", function, argument));

	return oid != NULL ? atooid(oid) : InvalidOid;
}

/*
 * sk_ddl_relation
 *		The name of a relation, qualified if the search path needs that.
 */
char *
sk_ddl_relation(Oid relid)
{
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid)));
}

/*
 * spanner_internal.is_synonym(view, relation) returns boolean
 *
 * Does the view show the rows of this table, with its columns and nothing else?
 */
Datum
spanner_is_synonym(PG_FUNCTION_ARGS)
{
	Relation	view = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	Relation	table = try_relation_open(PG_GETARG_OID(1), AccessShareLock);
	bool		result = view != NULL && table != NULL && view->rd_rel->relkind == RELKIND_VIEW &&
		reads_all(get_view_query(view), RelationGetDescr(view), table);

	if (table != NULL)
		relation_close(table, AccessShareLock);
	if (view != NULL)
		relation_close(view, AccessShareLock);
	PG_RETURN_BOOL(result);
}

static bool
reads_all(Query *query, TupleDesc columns, Relation table)
{
	RangeTblRef *from = list_length(query->jointree->fromlist) == 1 ? linitial(query->jointree->fromlist) : NULL;
	RangeTblEntry *rte;
	ListCell   *target = list_head(query->targetList);

	if (from == NULL || !IsA(from, RangeTblRef) || query->jointree->quals != NULL ||
		query->groupClause != NIL || query->groupingSets != NIL || query->havingQual != NULL ||
		query->distinctClause != NIL || query->sortClause != NIL || query->limitOffset != NULL ||
		query->limitCount != NULL || query->rowMarks != NIL)
		return false;
	rte = rt_fetch(from->rtindex, query->rtable);
	if (rte->rtekind != RTE_RELATION || rte->relid != RelationGetRelid(table) || !rte->inh ||
		rte->tablesample != NULL)
		return false;
	for (int i = 0; i < RelationGetNumberOfAttributes(table); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(table), i);
		TargetEntry *entry;

		if (column->attisdropped)
			continue;
		if (target == NULL)
			return false;
		entry = lfirst(target);
		if (!IsA(entry->expr, Var) || ((Var *) entry->expr)->varno != from->rtindex ||
			((Var *) entry->expr)->varattno != column->attnum ||
			namestrcmp(&TupleDescAttr(columns, entry->resno - 1)->attname, NameStr(column->attname)) != 0)
			return false;
		target = lnext(query->targetList, target);
	}
	return target == NULL;
}
