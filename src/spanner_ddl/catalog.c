/*-------------------------------------------------------------------------
 *
 * catalog.c
 *	  What statements of Spanner's DDL have to know of tables that are there.
 *
 * The key of a table is its primary key, or, since Spanner's keys may be NULL,
 * a UNIQUE NULLS NOT DISTINCT constraint.
 *
 * src/spanner_ddl/catalog.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_is_synonym);
PG_FUNCTION_INFO_V1(spanner_parent_constraint);

static List *index_columns(Relation rel, Relation index);
static bool is_prefix(List *part, List *whole);
static bool reads_all(Query *query, TupleDesc columns, Relation table);
static char *stored_columns(Relation index, const char *add, const char *drop);
static char *find_outside(char *sql, const char *text);

/*
 * sk_ddl_table_variables
 *		The columns of a table, for expressions: a list of SkVariable.
 */
List *
sk_ddl_table_variables(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	List	   *result = NIL;

	for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), i);
		SkVariable *variable = palloc0(sizeof(SkVariable));

		if (attribute->attisdropped)
			continue;
		variable->name = pstrdup(NameStr(attribute->attname));
		variable->type = sk_ddl_type_class(attribute->atttypid);
		variable->expands = attribute->attgenerated != '\0';
		if (variable->expands)
			variable->expression =
				sk_query_text(psprintf("SELECT '(' OPERATOR(pg_catalog.||) pg_catalog.pg_get_expr(adbin, adrelid)"
									   " OPERATOR(pg_catalog.||) ')' FROM pg_catalog.pg_attrdef"
									   " WHERE adrelid OPERATOR(pg_catalog.=) '%u'"
									   " AND adnum OPERATOR(pg_catalog.=) '%d'",
									   relid, attribute->attnum));
		/* the text does not say what it becomes on assignment */
		if (variable->expression != NULL && sk_ddl_is_number(variable->type))
			variable->expression = psprintf("%s::%s", variable->expression,
											format_type_with_typemod(attribute->atttypid, attribute->atttypmod));
		result = lappend(result, variable);
	}
	table_close(rel, NoLock);
	return result;
}

/*
 * sk_ddl_query_variables
 *		The columns of all tables that a query names.
 *
 * A name of several types is of none.
 */
List *
sk_ddl_query_variables(SkDdlText *ddl, SkRange range)
{
	List	   *result = NIL;
	List	   *tables = NIL;

	for (int i = range.first + 1; i < range.end; i++)
	{
		const char *before = ddl->tokens[i - 1].text;
		List	   *names = NIL;
		Oid			relid;
		ListCell   *lc;

		if (strcmp(before, "from") != 0 && strcmp(before, "join") != 0 && strcmp(before, ",") != 0)
			continue;
		for (; i < range.end && (ddl->tokens[i].type == SK_TOKEN_WORD ||
								 ddl->tokens[i].type == SK_TOKEN_NAME); i += 2)
		{
			names = lappend(names, makeString(ddl->tokens[i].text));
			if (i + 1 >= range.end || strcmp(ddl->tokens[i + 1].text, ".") != 0)
				break;
		}
		if (names == NIL || list_length(names) > 2)
			continue;
		relid = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);
		CHECK_FOR_INTERRUPTS();
		if (!OidIsValid(relid) || get_rel_type_id(relid) == InvalidOid || list_member_oid(tables, relid))
			continue;
		tables = lappend_oid(tables, relid);
		foreach(lc, sk_ddl_table_variables(relid))
		{
			SkVariable *variable = lfirst(lc);
			ListCell   *other;

			variable->expands = false;
			foreach(other, result)
			{
				SkVariable *known = lfirst(other);

				if (strcmp(known->name, variable->name) == 0 && known->type != variable->type)
					known->type = variable->type = SK_TYPE_UNKNOWN;
			}
			result = lappend(result, variable);
		}
	}
	return result;
}

/*
 * sk_ddl_table_key
 *		The names of the columns of a table's key; NIL if it has none.
 */
List *
sk_ddl_table_key(Oid relid, bool *is_primary)
{
	Relation	rel = table_open(relid, AccessShareLock);
	List	   *result = NIL;
	ListCell   *lc;

	*is_primary = false;
	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		bool		is_key = index->rd_index->indisprimary ||
			(result == NIL && index->rd_index->indnullsnotdistinct &&
			 OidIsValid(get_index_constraint(lfirst_oid(lc))));

		if (is_key && !*is_primary)
		{
			result = index_columns(rel, index);
			*is_primary = index->rd_index->indisprimary;
		}
		index_close(index, NoLock);
	}
	table_close(rel, NoLock);
	return result;
}

/* Is a name in a list of them? */
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
 * sk_ddl_has_unique_key
 *		May a foreign key refer to these columns?
 */
bool
sk_ddl_has_unique_key(Oid relid, List *columns)
{
	Relation	rel = table_open(relid, AccessShareLock);
	bool		result = false;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		List	   *found = index_columns(rel, index);

		if (index->rd_index->indisunique && index->rd_index->indimmediate &&
			list_length(found) == list_length(columns) &&
			RelationGetIndexPredicate(index) == NIL)
		{
			ListCell   *column;
			bool		has_all = true;

			foreach(column, columns)
				has_all &= sk_ddl_has_name(found, lfirst(column));
			result |= has_all;
		}
		index_close(index, NoLock);
	}
	table_close(rel, NoLock);
	return result;
}

/* The names of the key columns of an index; NIL if one is an expression. */
static List *
index_columns(Relation rel, Relation index)
{
	List	   *result = NIL;

	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		AttrNumber	column = index->rd_index->indkey.values[i];

		if (column == 0)
			return NIL;
		result = lappend(result, get_attname(RelationGetRelid(rel), column, false));
	}
	return result;
}

/*
 * sk_ddl_interleave
 *		The foreign key to the parent that a table is interleaved in: from the
 *		beginning of its key to the key, of columns of the same names.  NULL
 *		if there is none.
 */
char *
sk_ddl_interleave(Oid relid, Oid *parent)
{
	bool		is_primary;
	List	   *key = sk_ddl_table_key(relid, &is_primary);
	Relation	rel = table_open(relid, AccessShareLock);
	char	   *result = NULL;
	ListCell   *lc;

	foreach(lc, RelationGetFKeyList(rel))
	{
		ForeignKeyCacheInfo *info = lfirst(lc);
		List	   *parent_key;

		if (result != NULL || info->confrelid == relid)
			continue;
		parent_key = sk_ddl_table_key(info->confrelid, &is_primary);
		if (list_length(parent_key) != info->nkeys || !is_prefix(parent_key, key))
			continue;
		result = get_constraint_name(info->conoid);
		for (int i = 0; i < info->nkeys; i++)
		{
			if (strcmp(list_nth(key, i), get_attname(relid, info->conkey[i], false)) != 0 ||
				strcmp(list_nth(key, i), get_attname(info->confrelid, info->confkey[i], false)) != 0)
				result = NULL;
		}
		if (result != NULL && parent != NULL)
			*parent = info->confrelid;
	}
	table_close(rel, NoLock);
	return result;
}

/* Does a list of names begin with those of another one? */
static bool
is_prefix(List *part, List *whole)
{
	if (list_length(part) > list_length(whole))
		return false;
	for (int i = 0; i < list_length(part); i++)
	{
		if (strcmp(list_nth(part, i), list_nth(whole, i)) != 0)
			return false;
	}
	return part != NIL;
}

/*
 * sk_ddl_column_users
 *		What depends on a column: an index, a constraint, another column, a
 *		view; NULL if nothing does.  PostgreSQL would drop some of them along.
 */
char *
sk_ddl_column_users(Oid relid, const char *column)
{
	AttrNumber	attnum = get_attnum(relid, column);

	return sk_query_text(psprintf("SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid)"
								  " FROM pg_catalog.pg_depend d"
								  " LEFT JOIN pg_catalog.pg_constraint c ON c.oid OPERATOR(pg_catalog.=) d.objid"
								  " AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_constraint'::pg_catalog.regclass"
								  " LEFT JOIN pg_catalog.pg_attrdef a ON a.oid OPERATOR(pg_catalog.=) d.objid"
								  " AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass"
								  " LEFT JOIN pg_catalog.pg_class k ON k.oid OPERATOR(pg_catalog.=) d.objid"
								  " AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"
								  " LEFT JOIN pg_catalog.pg_rewrite r ON r.oid OPERATOR(pg_catalog.=) d.objid"
								  " AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass"
								  " LEFT JOIN pg_catalog.pg_trigger t ON t.oid OPERATOR(pg_catalog.=) d.objid"
								  " AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_trigger'::pg_catalog.regclass"
								  " WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"
								  " AND d.refobjid OPERATOR(pg_catalog.=) '%u' AND d.refobjsubid OPERATOR(pg_catalog.=) '%d'"
								  " AND (c.contype OPERATOR(pg_catalog.=) ANY ('{p,u,f}')"
								  " OR (c.contype OPERATOR(pg_catalog.=) 'c' AND NOT %s)"
								  " OR a.adnum OPERATOR(pg_catalog.<>) '%d'"
								  " OR k.relkind OPERATOR(pg_catalog.=) 'i' OR r.oid IS NOT NULL"
								  " OR (t.oid IS NOT NULL AND NOT t.tgisinternal))"
								  " ORDER BY d.classid, d.objid LIMIT 1",
								  relid, attnum, SK_IS_LENGTH_CHECK, attnum));
}

/*
 * sk_ddl_index_statement
 *		What creates an index anew with other columns beside its key: "add"
 *		more, or without "drop".
 *
 * All else is as PostgreSQL defines it: operator classes, collations, options,
 * a condition.  Its definition has no tablespace, and is of a partitioned table
 * ONLY, so the beginning is ours.
 */
char *
sk_ddl_index_statement(Oid indexid, const char *add, const char *drop)
{
	Relation	index = index_open(indexid, AccessShareLock);
	Oid			tablespace = index->rd_rel->reltablespace;
	char	   *method = get_am_name(index->rd_rel->relam);
	char	   *stored = stored_columns(index, add, drop);
	char	   *key = find_outside(sk_query_text(psprintf("SELECT pg_catalog.pg_get_indexdef('%u')", indexid)), "(");
	char	   *rest = find_outside(key + 1, ")") + 1;
	char	   *options = rest;
	char	   *condition;
	StringInfoData sql;

	if (strncmp(rest, " INCLUDE (", 10) == 0)
		options = find_outside(rest + 10, ")") + 1;
	condition = find_outside(options, " WHERE ");
	if (condition == NULL)
		condition = options + strlen(options);
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE %sINDEX %s ON %s %s", index->rd_index->indisunique ? "UNIQUE " : "",
					 quote_identifier(get_rel_name(indexid)), sk_qualified_name(index->rd_index->indrelid),
					 strcmp(method, "btree") == 0 ? "" : psprintf("USING %s ", quote_identifier(method)));
	appendStringInfo(&sql, "%.*s", (int) (rest - key), key);
	if (stored[0] != '\0')
		appendStringInfo(&sql, " INCLUDE (%s)", stored);
	appendStringInfo(&sql, "%.*s", (int) (condition - options), options);
	if (OidIsValid(tablespace))
		appendStringInfo(&sql, " TABLESPACE %s", quote_identifier(get_tablespace_name(tablespace)));
	appendStringInfoString(&sql, condition);
	index_close(index, NoLock);
	return sql.data;
}

/* The columns beside the key of an index. */
static char *
stored_columns(Relation index, const char *add, const char *drop)
{
	Form_pg_index form = index->rd_index;
	List	   *result = NIL;

	for (int i = form->indnkeyatts; i < form->indnatts; i++)
	{
		char	   *name = get_attname(form->indrelid, form->indkey.values[i], false);

		if (drop == NULL || strcmp(name, drop) != 0)
			result = lappend(result, name);
	}
	if (add != NULL)
		result = lappend(result, pstrdup(add));
	return sk_ddl_name_list(result);
}

/* Where a text occurs in SQL, outside of parentheses and quotes; NULL if it does not. */
static char *
find_outside(char *sql, const char *text)
{
	int			depth = 0;
	char		quote = '\0';

	for (char *place = sql; *place != '\0'; place++)
	{
		if (quote != '\0')
			quote = *place == quote ? '\0' : quote;
		else if (depth == 0 && strncmp(place, text, strlen(text)) == 0)
			return place;
		else if (*place == '\'' || *place == '"')
			quote = *place;
		else if (*place == '(' || *place == ')')
			depth += *place == '(' ? 1 : -1;
	}
	return NULL;
}

/*
 * sk_ddl_index_loss
 *		What an index would lose if it is created anew; NULL if nothing.
 */
char *
sk_ddl_index_loss(Oid indexid)
{
	return sk_query_text(psprintf("SELECT CASE WHEN i.indisreplident THEN 'its place as replica identity'"
								  " WHEN i.indisclustered THEN 'its mark for CLUSTER'"
								  " WHEN EXISTS (SELECT FROM pg_catalog.pg_attribute a"
								  " WHERE a.attrelid OPERATOR(pg_catalog.=) i.indexrelid"
								  " AND COALESCE(a.attstattarget, '-1') OPERATOR(pg_catalog.>=) '0')"
								  " THEN 'its statistics targets'"
								  " WHEN EXISTS (SELECT FROM pg_catalog.pg_partition_tree(i.indexrelid) p"
								  " JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) p.relid"
								  " JOIN pg_catalog.pg_class k ON k.oid OPERATOR(pg_catalog.=) i.indexrelid"
								  " WHERE ROW(c.reltablespace, c.reloptions) IS DISTINCT FROM ROW(k.reltablespace, k.reloptions))"
								  " THEN 'options of its partitions' END"
								  " FROM pg_catalog.pg_index i"
								  " WHERE i.indexrelid OPERATOR(pg_catalog.=) '%u'", indexid));
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

/*
 * spanner_internal.parent_constraint(relation) returns name
 *
 * The foreign key of an interleaved table; NULL of other tables.
 */
Datum
spanner_parent_constraint(PG_FUNCTION_ARGS)
{
	char		relkind = get_rel_relkind(PG_GETARG_OID(0));
	char	   *name = NULL;

	if (relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE)
		name = sk_ddl_interleave(PG_GETARG_OID(0), NULL);
	if (name == NULL)
		PG_RETURN_NULL();
	return DirectFunctionCall1(namein, CStringGetDatum(name));
}
