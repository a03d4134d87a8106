/*-------------------------------------------------------------------------
 *
 * objects.c
 *	  Spanner's DDL for indexes, views and change streams, and DROP.
 *
 * A change stream becomes a publication.
 *
 * src/spanner_ddl/objects.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_index.h"
#include "catalog/pg_publication.h"
#include "catalog/pg_type.h"
#include "commands/publicationcmds.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/run_command.h"

/* An index that is made. */
typedef struct SkNewIndex
{
	Oid			relid;			/* of its table */
	Oid			parent;			/* INTERLEAVE IN, or InvalidOid */
	StringInfoData key;
	List	   *stored;			/* STORING or INCLUDE */
	StringInfoData filter;		/* WHERE, or empty */
} SkNewIndex;

static void read_index_key(SkDdlText *ddl, SkStatement *statement, SkNewIndex *index);
static void read_index_clauses(SkDdlText *ddl, SkStatement *statement, SkNewIndex *index);
static void add_filter(SkNewIndex *index, const char *column);
static void check_key_part(SkDdlText *ddl, SkStatement *statement, Oid relid,
						   const SkKeyPart *part);
static void recreate_index(SkDdlText *ddl, SkStatement *statement, Oid indexid);
static bool is_replaceable(const char *definition);
static char *stream_tables(SkDdlText *ddl, List *tables);
static char *published_columns(SkConstraint *tracked, Oid relid);
static void complete_identity(SkDdlText *ddl, const char *condition);
static void check_stream_option(SkDdlText *ddl, const SkDdlOption *option);
static char *publish_option(SkDdlText *ddl, List *options);
static void drop_table(SkDdlText *ddl, SkStatement *statement);
static void drop_schema(SkDdlText *ddl, SkStatement *statement);

/* CREATE [UNIQUE] [NULL_FILTERED] INDEX */
void
sk_ddl_create_index(SkDdlText *ddl, SkStatement *statement)
{
	SkNewIndex	index = {.relid = sk_ddl_find(ddl, statement->table, RELKIND_RELATION, false)};
	SkName	   *name = statement->name;

	initStringInfo(&index.key);
	initStringInfo(&index.filter);
	if (statement->columns == NIL && name != NULL)
		SK_DDL_ERROR(ddl, name->at, ERRCODE_SYNTAX_ERROR,
					 errmsg("Index %s does not specify any key columns.", sk_ddl_name(name)));
	sk_ddl_check_key_length(ddl, statement->columns);
	read_index_key(ddl, statement, &index);
	read_index_clauses(ddl, statement, &index);

	/*
	 * an index is in the schema of its table, which PostgreSQL need not be
	 * told
	 */
	if (name != NULL && (list_length(name->parts) > 1 ?
						 strcmp(linitial(name->parts), get_namespace_name(get_rel_namespace(index.relid))) != 0 :
						 ddl->dialect == SK_GOOGLESQL && list_length(statement->table->parts) > 1))
		sk_ddl_refuse(ddl, name->at, "index in another schema than its table", NULL);
	sk_ddl_emit(ddl, "CREATE %sINDEX %s%s ON %s (%s)%s%s%s", statement->is_unique ? "UNIQUE " : "",
				statement->exists_ok ? "IF NOT EXISTS " : "",
				name != NULL ? quote_identifier(llast(name->parts)) : "",
				sk_ddl_name(statement->table), index.key.data,
				index.stored != NIL ? psprintf(" INCLUDE (%s)", sk_ddl_name_list(index.stored)) : "",
				statement->is_unique && index.filter.len == 0 ? " NULLS NOT DISTINCT" : "",
				index.filter.data);
	if (OidIsValid(index.parent) && name != NULL)
		sk_ddl_check_interleave(ddl, name->at,
								get_relname_relid(llast(name->parts), get_rel_namespace(index.relid)),
								index.parent);
}

static void
read_index_key(SkDdlText *ddl, SkStatement *statement, SkNewIndex *index)
{
	ListCell   *lc;

	foreach(lc, statement->columns)
	{
		SkKeyPart  *part = lfirst(lc);

		check_key_part(ddl, statement, index->relid, part);
		appendStringInfo(&index->key, "%s%s%s", index->key.len > 0 ? ", " : "",
						 quote_identifier(part->column), part->is_desc ? " DESC" : "");
		if (part->nulls != NULL)
			appendStringInfo(&index->key, " NULLS %s", part->nulls);
		if (statement->null_filtered)
			add_filter(index, part->column);
	}
}

/* Read what stands behind the key: STORING, INTERLEAVE IN and WHERE. */
static void
read_index_clauses(SkDdlText *ddl, SkStatement *statement, SkNewIndex *index)
{
	ListCell   *lc;
	ListCell   *column;

	foreach(lc, statement->elements)
	{
		SkConstraint *clause = lfirst(lc);

		if (clause->type == SK_UNIQUE)
			index->stored = clause->columns;
		else if (clause->type == SK_INTERLEAVE)
			index->parent = sk_ddl_find(ddl, clause->table, RELKIND_RELATION, false);
		else
			foreach(column, clause->columns)
				add_filter(index, lfirst(column));
	}
	foreach(lc, statement->columns)
	{
		SkKeyPart  *part = lfirst(lc);

		if (sk_ddl_has_name(index->stored, part->column))
			SK_DDL_ERROR(ddl, part->at, ERRCODE_DUPLICATE_COLUMN,
						 errmsg("Index %s specifies stored column %s that is a key of the index.",
								statement->name != NULL ? sk_ddl_name(statement->name) : "", part->column));
	}
}

/* Leave rows out of the index that have no value of this column. */
static void
add_filter(SkNewIndex *index, const char *column)
{
	appendStringInfo(&index->filter, "%s%s IS NOT NULL", index->filter.len > 0 ? " AND " : " WHERE ",
					 quote_identifier(column));
}

/* Raise an error if a column of a key is there twice, or of no such type. */
static void
check_key_part(SkDdlText *ddl, SkStatement *statement, Oid relid, const SkKeyPart *part)
{
	const char *index = statement->name != NULL ? sk_ddl_name(statement->name) : "";
	AttrNumber	attnum = get_attnum(relid, part->column);
	SkType		type;
	Oid			type_oid;
	Oid			collation;
	int32		typmod;
	ListCell   *lc;

	foreach(lc, statement->columns)
	{
		SkKeyPart  *other = lfirst(lc);

		if (other != part && strcmp(other->column, part->column) == 0)
			SK_DDL_ERROR(ddl, part->at, ERRCODE_DUPLICATE_COLUMN,
						 errmsg("Index %s specifies key column %s twice.", index, part->column));
	}
	if (attnum == InvalidAttrNumber)
		return;
	get_atttypetypmodcoll(relid, attnum, &type_oid, &typmod, &collation);
	type = sk_ddl_type_class(type_oid);
	/* Spanner has no order for the numbers of the PostgreSQL dialect */
	if (type == SK_TYPE_ARRAY || type == SK_TYPE_JSON || (type_oid == NUMERICOID && typmod < 0))
		SK_DDL_ERROR(ddl, part->at, ERRCODE_DATATYPE_MISMATCH,
					 errmsg("Cannot reference %s %s in the creation of index %s.",
							type == SK_TYPE_ARRAY ? "ARRAY" : type == SK_TYPE_JSON ? "JSON" : "PG.NUMERIC",
							part->column, index));
}

/* ALTER INDEX name { ADD | DROP } STORED COLUMN column */
void
sk_ddl_alter_index(SkDdlText *ddl, SkStatement *statement)
{
	Oid			indexid = sk_ddl_find(ddl, statement->name, RELKIND_INDEX, false);
	Oid			table = IndexGetRelation(indexid, false);
	const char *column = linitial(statement->columns);
	AttrNumber	attnum = get_attnum(table, column);
	bool		is_there = sk_query_text(psprintf("SELECT 1 FROM pg_catalog.pg_index"
												  " WHERE indexrelid OPERATOR(pg_catalog.=) '%u'"
												  " AND %d OPERATOR(pg_catalog.=) ANY (indkey::pg_catalog.int2[]"
												  " OPERATOR(pg_catalog.||) '{}'::pg_catalog.int2[])",
												  indexid, attnum)) != NULL;

	if (attnum == InvalidAttrNumber || (statement->is_drop && !is_there))
		SK_DDL_ERROR(ddl, statement->at, ERRCODE_UNDEFINED_COLUMN,
					 errmsg("Index %s does not have stored column %s.", sk_ddl_name(statement->name), column));
	if (!statement->is_drop && is_there)
		SK_DDL_ERROR(ddl, statement->at, ERRCODE_DUPLICATE_COLUMN,
					 errmsg("Column %s is already existed in index %s.", column, sk_ddl_name(statement->name)));
	recreate_index(ddl, statement, indexid);
}

/* PostgreSQL cannot change the columns of an index. */
static void
recreate_index(SkDdlText *ddl, SkStatement *statement, Oid indexid)
{
	const char *name = sk_ddl_name(statement->name);
	const char *column = linitial(statement->columns);
	char	   *loss = sk_ddl_index_loss(indexid);
	char	   *command = sk_ddl_index_statement(indexid, statement->is_drop ? NULL : column,
												 statement->is_drop ? column : NULL);
	char	   *comment = sk_query_text(psprintf("SELECT pg_catalog.obj_description('%u', 'pg_class')", indexid));

	if (loss != NULL)
		SK_DDL_ERROR(ddl, statement->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("index \"%s\" would lose %s", name, loss),
					 errdetail("The index is created anew with other columns."),
					 errhint("Take that from the index first, and give it back afterwards."));
	sk_ddl_emit(ddl, "DROP INDEX %s", name);
	sk_ddl_emit(ddl, "%s", command);
	if (comment != NULL)
		sk_ddl_emit(ddl, "COMMENT ON INDEX %s IS %s", name, quote_literal_cstr(comment));
}

/* CREATE [OR REPLACE] VIEW */
void
sk_ddl_create_view(SkDdlText *ddl, SkStatement *statement)
{
	char	   *definition;

	if (statement->security == NULL)
		SK_DDL_ERROR(ddl, statement->name->at, ERRCODE_SYNTAX_ERROR,
					 errmsg("View `%s` is missing the SQL SECURITY clause.", sk_ddl_name(statement->name)),
					 errhint("Write SQL SECURITY INVOKER or SQL SECURITY DEFINER before AS."));
	for (int i = statement->expr.first; ddl->dialect == SK_POSTGRESQL && i + 1 < statement->expr.end; i++)
	{
		if (strcmp(ddl->tokens[i].text, "for") == 0 && strcmp(ddl->tokens[i + 1].text, "update") == 0)
			sk_ddl_refuse(ddl, i, "FOR UPDATE in a view", NULL);
	}
	definition = psprintf("VIEW %s%s WITH (security_invoker = %s) AS %s", sk_ddl_name(statement->name),
						  statement->columns != NIL ?
						  psprintf(" (%s)", sk_ddl_name_list(statement->columns)) : "",
						  statement->security, sk_ddl_query(ddl, statement->expr));
	if (statement->or_replace && OidIsValid(sk_ddl_find(ddl, statement->name, RELKIND_VIEW, true)) &&
		!is_replaceable(definition))
	{
		sk_ddl_emit(ddl, "DROP VIEW %s", sk_ddl_name(statement->name));
		sk_ddl_emit(ddl, "CREATE %s", definition);
	}
	else
		sk_ddl_emit(ddl, "CREATE %s%s", statement->or_replace ? "OR REPLACE " : "", definition);
}

/* PostgreSQL replaces a view only if its columns stay; Spanner always does. */
static bool
is_replaceable(const char *definition)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool result = true;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		sk_run_command(psprintf("CREATE OR REPLACE %s", definition));
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		if (geterrcode() != ERRCODE_INVALID_TABLE_DEFINITION)
			PG_RE_THROW();
		FlushErrorState();
		result = false;
	}
	PG_END_TRY();
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return result;
}

/* CREATE and ALTER CHANGE STREAM */
void
sk_ddl_change_stream(SkDdlText *ddl, SkStatement *statement)
{
	const char *name = sk_ddl_name(statement->name);
	char	   *publish = publish_option(ddl, statement->options);
	bool		for_all = statement->elements != NIL && linitial(statement->elements) == NULL;
	char	   *tables = for_all ? NULL : stream_tables(ddl, statement->elements);

	if (list_length(statement->name->parts) > 1)
		sk_ddl_refuse(ddl, statement->name->at, "change stream in a schema",
					  "A publication has no schema.");
	if (statement->type == SK_ALTER_STREAM)
		(void) get_publication_oid(linitial(statement->name->parts), false);
	if (for_all)
		complete_identity(ddl, "k.oid OPERATOR(pg_catalog.>=) '16384'::pg_catalog.oid");
	if (statement->type == SK_CREATE_STREAM)
	{
		if (statement->exists_ok && OidIsValid(get_publication_oid(linitial(statement->name->parts), true)))
			return;
		sk_ddl_emit(ddl, "CREATE PUBLICATION %s%s%s", name,
					for_all ? " FOR ALL TABLES" : tables == NULL ? "" :
					psprintf(" FOR TABLE %s", tables),
					publish != NULL ? psprintf(" WITH (publish = %s)", publish) : "");
		return;
	}
	if (publish != NULL)
		sk_ddl_emit(ddl, "ALTER PUBLICATION %s SET (publish = %s)", name, publish);
	if (tables != NULL && !GetPublicationByName(linitial(statement->name->parts), false)->alltables)
		sk_ddl_emit(ddl, "ALTER PUBLICATION %s SET TABLE %s", name, tables);
	else if (statement->is_drop || for_all || tables != NULL)
	{
		char	   *options = sk_query_text(psprintf("SELECT pg_catalog.concat_ws(', ', CASE WHEN pubinsert THEN 'insert' END,"
													 " CASE WHEN pubupdate THEN 'update' END,"
													 " CASE WHEN pubdelete THEN 'delete' END,"
													 " CASE WHEN pubtruncate THEN 'truncate' END)"
													 " FROM pg_catalog.pg_publication"
													 " WHERE oid OPERATOR(pg_catalog.=) '%u'",
													 get_publication_oid(linitial(statement->name->parts), false)));

		sk_ddl_emit(ddl, "DROP PUBLICATION %s", name);
		sk_ddl_emit(ddl, "CREATE PUBLICATION %s%s WITH (publish = %s)", name,
					for_all ? " FOR ALL TABLES" : tables == NULL ? "" :
					psprintf(" FOR TABLE %s", tables), quote_literal_cstr(options));
	}
}

/* The tables of a change stream, with columns; NULL if there is none. */
static char *
stream_tables(SkDdlText *ddl, List *tables)
{
	StringInfoData result;
	ListCell   *lc;

	initStringInfo(&result);
	foreach(lc, tables)
	{
		SkConstraint *tracked = lfirst(lc);
		Oid			relid = sk_ddl_find(ddl, tracked->table, RELKIND_RELATION, false);

		complete_identity(ddl, psprintf("k.oid OPERATOR(pg_catalog.=) '%u'", relid));
		appendStringInfo(&result, "%s%s%s", result.len > 0 ? ", " : "", sk_ddl_name(tracked->table),
						 tracked->type == SK_PRIMARY_KEY ? published_columns(tracked, relid) : "");
	}
	return result.len > 0 ? result.data : NULL;
}

/*
 * Columns of a table that are published: those of the key as well, since an
 * UPDATE would fail without them.  Where such a list cannot be, it is all of
 * them.
 */
static char *
published_columns(SkConstraint *tracked, Oid relid)
{
	bool		is_primary;
	List	   *columns = list_copy(sk_ddl_table_key(relid, &is_primary));
	ListCell   *lc;

	if (!is_primary)
		return "";
	foreach(lc, columns)
	{
		/* a list has no generated columns before release 18 */
		if (get_attgenerated(relid, get_attnum(relid, lfirst(lc))) != '\0')
			return "";
	}
	foreach(lc, tracked->columns)
	{
		if (!sk_ddl_has_name(columns, lfirst(lc)))
			columns = lappend(columns, lfirst(lc));
	}
	return psprintf(" (%s)", sk_ddl_name_list(columns));
}

/* Tables without a primary key could not be changed while they are published. */
static void
complete_identity(SkDdlText *ddl, const char *condition)
{
	List	   *tables;
	ListCell   *lc;

	tables = sk_query_texts(psprintf("SELECT pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.'"
									 " OPERATOR(pg_catalog.||) pg_catalog.quote_ident(k.relname)"
									 " FROM pg_catalog.pg_class k"
									 " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) k.relnamespace"
									 " WHERE k.relkind OPERATOR(pg_catalog.=) 'r'"
									 " AND k.relpersistence OPERATOR(pg_catalog.=) 'p'"
									 " AND k.relreplident OPERATOR(pg_catalog.=) ANY ('{d,n}')"
									 " AND %s AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i"
									 " WHERE i.indrelid OPERATOR(pg_catalog.=) k.oid AND i.indisprimary)"
									 " AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d"
									 " WHERE d.objid OPERATOR(pg_catalog.=) k.oid AND d.deptype OPERATOR(pg_catalog.=) 'e')"
									 " AND n.nspname OPERATOR(pg_catalog.<>) ALL ('{pg_catalog,information_schema}')"
									 " ORDER BY 1", condition));
	foreach(lc, tables)
		sk_ddl_emit(ddl, "ALTER TABLE %s REPLICA IDENTITY FULL", (char *) lfirst(lc));
}

/* What a publication publishes; NULL if no option speaks of it. */
static char *
publish_option(SkDdlText *ddl, List *options)
{
	static const char *const operations[] = {"insert", "update", "delete"};
	StringInfoData result;
	bool		excluded[lengthof(operations)] = {false};
	bool		is_set = false;
	ListCell   *lc;

	initStringInfo(&result);
	foreach(lc, options)
	{
		SkDdlOption *option = lfirst(lc);
		bool		is_known = strcmp(option->name, "retention_period") == 0 ||
			strcmp(option->name, "value_capture_type") == 0 ||
			strcmp(option->name, "allow_txn_exclusion") == 0 ||
			(strcmp(option->name, "exclude_ttl_deletes") == 0 && strcmp(option->value, "true") != 0);

		for (int i = 0; i < lengthof(operations); i++)
		{
			if (strcmp(option->name, psprintf("exclude_%s", operations[i])) != 0)
				continue;
			is_set = is_known = true;
			excluded[i] = strcmp(option->value, "true") == 0;
		}
		check_stream_option(ddl, option);
		/* a subscriber keeps what it has not read, and gets whole rows */
		if (!is_known)
			sk_ddl_refuse(ddl, option->at, psprintf("option \"%s\" of a change stream", option->name),
						  "The options here are exclude_insert, exclude_update and exclude_delete.");
	}
	for (int i = 0; i < lengthof(operations); i++)
	{
		if (!excluded[i])
			appendStringInfo(&result, "%s%s", result.len > 0 ? ", " : "", operations[i]);
	}
	return is_set ? quote_literal_cstr(result.data) : NULL;
}

/* The values that Spanner takes. */
static void
check_stream_option(SkDdlText *ddl, const SkDdlOption *option)
{
	const char *value = quote_literal_cstr(option->value);
	char	   *problem = NULL;

	if (option->type != SK_TOKEN_STRING)
		return;
	if (strcmp(option->name, "retention_period") == 0)
		problem = sk_query_text(psprintf("SELECT CASE WHEN %1$s OPERATOR(pg_catalog.!~) '^[0-9]{1,9}[dhms]$'"
										 " THEN 'Invalid time duration format: '"
										 " WHEN %1$s::pg_catalog.interval OPERATOR(pg_catalog.<) '1d'"
										 " OR %1$s::pg_catalog.interval OPERATOR(pg_catalog.>) '7d'"
										 " THEN 'Invalid retention_period: ' END", value));
	else if (strcmp(option->name, "value_capture_type") == 0 &&
			 strcmp(option->value, "OLD_AND_NEW_VALUES") != 0 && strcmp(option->value, "NEW_ROW") != 0 &&
			 strcmp(option->value, "NEW_VALUES") != 0 &&
			 strcmp(option->value, "NEW_ROW_AND_OLD_VALUES") != 0)
		problem = "Invalid value_capture_type: ";
	if (problem != NULL)
		SK_DDL_ERROR(ddl, option->value_at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("%s%s", problem, option->value));
}

/* RENAME TABLE a TO b, ... */
void
sk_ddl_rename_tables(SkDdlText *ddl, SkStatement *statement)
{
	for (int i = 0; i < list_length(statement->elements); i += 2)
	{
		SkName	   *from = list_nth(statement->elements, i);
		SkName	   *to = list_nth(statement->elements, i + 1);

		(void) sk_ddl_find(ddl, from, RELKIND_RELATION, false);
		sk_ddl_emit(ddl, "ALTER TABLE %s RENAME TO %s", sk_ddl_name(from),
					quote_identifier(llast(to->parts)));
	}
}

/* DROP, which Spanner refuses while something depends on the object. */
void
sk_ddl_drop(SkDdlText *ddl, SkStatement *statement)
{
	char		relkind = strcmp(statement->object, "TABLE") == 0 ? RELKIND_RELATION :
		strcmp(statement->object, "INDEX") == 0 ? RELKIND_INDEX :
		strcmp(statement->object, "VIEW") == 0 ? RELKIND_VIEW : '\0';

	if (strcmp(statement->object, "SEQUENCE") == 0)
	{
		sk_ddl_drop_sequence(ddl, statement);
		return;
	}
	if (relkind != '\0' && sk_ddl_skip(ddl, statement->name, relkind, statement->exists_ok))
		return;
	if (relkind == RELKIND_RELATION)
	{
		Oid			relid = sk_ddl_find(ddl, statement->name, RELKIND_RELATION, false);

		drop_table(ddl, statement);
		if (sk_ddl_synonym_of(relid) != NULL)
			sk_ddl_emit(ddl, "DROP VIEW %s", sk_ddl_synonym_of(relid));
	}
	if (strcmp(statement->object, "SCHEMA") == 0)
		drop_schema(ddl, statement);
	sk_ddl_emit(ddl, "DROP %s %s%s", statement->object,
				relkind == '\0' && statement->exists_ok ? "IF EXISTS " : "",
				sk_ddl_name(statement->name));
}

/* Raise an error if a table has indexes, children or a change stream. */
static void
drop_table(SkDdlText *ddl, SkStatement *statement)
{
	Oid			relid = sk_ddl_find(ddl, statement->name, RELKIND_RELATION, false);
	char	   *users;

	/* those of its key are PostgreSQL's */
	users = sk_query_text(psprintf("SELECT pg_catalog.string_agg(i.indexrelid::pg_catalog.regclass::pg_catalog.text, ', ' ORDER BY i.indexrelid)"
								   " FROM pg_catalog.pg_index i"
								   " WHERE i.indrelid OPERATOR(pg_catalog.=) '%u'"
								   " AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c"
								   " WHERE c.conindid OPERATOR(pg_catalog.=) i.indexrelid)"
								   " AND i.indkey::pg_catalog.text OPERATOR(pg_catalog.<>) '0'"
								   " AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c"
								   " JOIN pg_catalog.pg_index k ON k.indexrelid OPERATOR(pg_catalog.=) c.conindid"
								   " WHERE c.conrelid OPERATOR(pg_catalog.=) i.indrelid AND NOT i.indisunique"
								   " AND i.indoption::pg_catalog.text OPERATOR(pg_catalog.~) '[13]'"
								   " AND k.indkey OPERATOR(pg_catalog.=) i.indkey)", relid));
	if (users != NULL)
		SK_DDL_ERROR(ddl, statement->name->at, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
					 errmsg("Cannot drop table %s with indices: %s.", sk_ddl_name(statement->name), users));
	users = sk_query_text(psprintf("SELECT pg_catalog.quote_ident(p.pubname) FROM pg_catalog.pg_publication_rel r"
								   " JOIN pg_catalog.pg_publication p ON p.oid OPERATOR(pg_catalog.=) r.prpubid"
								   " WHERE r.prrelid OPERATOR(pg_catalog.=) '%u' ORDER BY 1 LIMIT 1", relid));
	if (users != NULL)
		SK_DDL_ERROR(ddl, statement->name->at, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
					 errmsg("Cannot drop table %s with change_streams: %s.", sk_ddl_name(statement->name), users));
}

/* Raise an error if a schema has objects. */
static void
drop_schema(SkDdlText *ddl, SkStatement *statement)
{
	char	   *object;

	object = sk_query_text(psprintf("SELECT CASE k.relkind WHEN 'S' THEN 'sequences' WHEN 'v' THEN 'views'"
									" WHEN 'i' THEN 'indices' ELSE 'tables' END"
									" FROM pg_catalog.pg_class k"
									" WHERE k.relnamespace OPERATOR(pg_catalog.=) '%u'"
									" ORDER BY k.relkind DESC LIMIT 1",
									get_namespace_oid(linitial(statement->name->parts), true)));
	if (object != NULL)
		SK_DDL_ERROR(ddl, statement->name->at, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
					 errmsg("Cannot drop schema %s while it has dependent %s.",
							sk_ddl_name(statement->name), object));
}
