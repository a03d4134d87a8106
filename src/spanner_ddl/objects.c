/*-------------------------------------------------------------------------
 *
 * objects.c
 *	  Sequences, indexes, views, change streams, schemas, the database, and
 *	  DROP.
 *
 * A change stream becomes a publication.
 *
 * src/spanner_ddl/objects.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_publication.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/dest.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/run_command.h"

/* An index that is made. */
typedef struct SkNewIndex
{
	Oid			relid;			/* of its table */
	Oid			parent;			/* INTERLEAVE IN, or InvalidOid */
	List	   *stored;			/* STORING or INCLUDE */
	StringInfoData filter;		/* WHERE, or empty */
} SkNewIndex;

static void read_index(SkDdlText *ddl, SkStatement *statement, SkNewIndex *index);
static void add_filter(SkNewIndex *index, const char *column);
static void check_key_part(SkDdlText *ddl, SkStatement *statement, Oid relid, const SkKeyPart *part);
static void recreate_index(SkDdlText *ddl, SkStatement *statement, Oid indexid);
static void check_meaning(SkDdlText *ddl, SkStatement *statement, Query *query);
static bool is_taken_for_another(Node *node, void *context);
static bool is_float_literal(Node *node);
static char *view_definition(SkDdlText *ddl);
static void replace_view(SkDdlText *ddl);
static char *view_rights(SkDdlText *ddl);
static void find_stream(SkDdlText *ddl, SkStatement *statement);
static char *stream_tables(SkDdlText *ddl, List *tables);
static char *published_columns(SkConstraint *tracked, Oid relid);
static void complete_identity(SkDdlText *ddl, Oid relid);
static char *publish_option(SkDdlText *ddl, List *options);
static void check_stream_option(SkDdlText *ddl, const SkDdlOption *option);
static void skip_option(const SkDdlOption *option, const char *object);
static char *retention_problem(const char *value);
static void set_database_option(SkDdlText *ddl, const SkDdlOption *option);

/* CREATE SCHEMA */
void
sk_ddl_create_schema(SkDdlText *ddl, SkStatement *statement)
{
	const char *name = linitial(statement->name->parts);

	/* those that Spanner keeps for itself */
	if (SK_DDL_ONE_OF(asc_tolower(name, strlen(name)), "default", "definition_schema", "information_schema",
					  "ml", "net", "pg", "pg_catalog", "pg_information_schema", "public", "spanner",
					  "spanner_placement", "spanner_sys"))
		SK_DDL_ERROR(ddl, statement->name->at, ERRCODE_RESERVED_NAME,
					 errmsg("Schema name not valid: %s.", name));
	sk_ddl_new_name(ddl, "Schema", InvalidOid, name, statement->name->at);
	if (!statement->or_replace || !OidIsValid(get_namespace_oid(name, true)))
		SK_DDL_EMIT(ddl, "CREATE SCHEMA %s%s", statement->exists_ok ? "IF NOT EXISTS " : "",
					sk_ddl_name(statement->name));
	sk_ddl_keep_name(ddl, name, psprintf("SCHEMA %s", sk_ddl_name(statement->name)));
}

/* ANALYZE */
void
sk_ddl_analyze(SkDdlText *ddl, SkStatement *statement)
{
	SK_DDL_EMIT(ddl, "ANALYZE");
}

/* INSERT, UPDATE and DELETE, which run with the rights of the caller */
void
sk_ddl_change_rows(SkDdlText *ddl, SkStatement *statement)
{
	char	   *command = psprintf("%s %s%s%s%s", statement->object,
								   statement->name != NULL ? psprintf("%s ", sk_ddl_name(statement->name)) : "",
								   statement->alias != NULL ? psprintf("AS %s ", quote_identifier(statement->alias)) : "",
								   statement->columns != NIL ? psprintf("(%s) ", sk_ddl_name_list(statement->columns)) : "",
								   sk_ddl_translate(ddl, statement->expr, NIL, true));

	ddl->commands = lappend(ddl->commands, command);
	/* no error of syntax: with that it would be a text of the other dialect */
	if (ddl->dialect == SK_GOOGLESQL && llast(statement->expr->args) == NULL)
		SK_DDL_ERROR(ddl, ddl->first, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("%s needs WHERE", SK_DDL_UPPER(ddl->tokens[ddl->first].text)),
					 errhint("Write WHERE TRUE for all rows."));
	if (ddl->dialect == SK_GOOGLESQL)
		check_meaning(ddl, statement, sk_analyze_command(command));
	sk_run_command(command);
}

/* CREATE SEQUENCE [ IF NOT EXISTS ] name [ clause ... ] */
void
sk_ddl_create_sequence(SkDdlText *ddl, SkStatement *statement)
{
	char	   *name = sk_ddl_name(statement->name);
	SkDdlChange change = {0};
	const char *kind;

	sk_ddl_read_clauses(ddl, statement->elements, SK_DDL_CREATE_SEQUENCE, name, &change);
	kind = change.kind != NULL ? change.kind : sk_ddl_default_kind();
	/* what is there needs no kind */
	if (kind == NULL &&
		!(statement->exists_ok &&
		  OidIsValid(sk_ddl_find(ddl, statement->name, RELKIND_SEQUENCE, true))))
		SK_DDL_ERROR(ddl, statement->name->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("The sequence does not have a valid sequence kind. Please specify the sequence kind explicitly or set the database option `default_sequence_kind`."),
					 errhint("Write BIT_REVERSED_POSITIVE after the name, or set spanner.default_sequence_kind."));
	if (change.has_counter)
		appendStringInfo(&change.options, ", start_with_counter => " INT64_FORMAT,
						 change.counter);
	if (statement->exists_ok)
		appendStringInfoString(&change.options, ", if_not_exists => true");
	sk_ddl_new_name(ddl, "Sequence", sk_ddl_schema(statement->name), llast(statement->name->parts),
					statement->name->at);
	SK_DDL_EMIT(ddl, "SELECT spanner.create_sequence(%s, %s%s)", quote_literal_cstr(name),
				kind != NULL ? quote_literal_cstr(kind) : "NULL", change.options.data);
	sk_ddl_keep_name(ddl, llast(statement->name->parts), psprintf("SEQUENCE %s", name));
}

/* ALTER SEQUENCE [ IF EXISTS ] name clause ... */
void
sk_ddl_alter_sequence(SkDdlText *ddl, SkStatement *statement)
{
	char	   *name = sk_ddl_name(statement->name);
	SkDdlChange change = {0};

	sk_ddl_read_clauses(ddl, statement->elements, SK_DDL_ALTER_SEQUENCE, name, &change);
	if (sk_ddl_skip(ddl, statement->name, RELKIND_SEQUENCE, statement->exists_ok))
		return;
	(void) sk_ddl_on_relation(ddl, sk_ddl_find(ddl, statement->name, RELKIND_SEQUENCE, false));
	sk_ddl_change_sequence(ddl, name, &change);
	(void) sk_ddl_on_relation(ddl, InvalidOid);
}

/* CREATE [UNIQUE] [NULL_FILTERED] INDEX */
void
sk_ddl_create_index(SkDdlText *ddl, SkStatement *statement)
{
	SkNewIndex	index = {.relid = sk_ddl_find(ddl, statement->table, RELKIND_RELATION, false)};
	SkName	   *name = statement->name;
	Oid			schema = get_rel_namespace(index.relid);

	initStringInfo(&index.filter);
	if (statement->columns == NIL)
		SK_DDL_ERROR(ddl, name->at, ERRCODE_SYNTAX_ERROR,
					 errmsg("Index %s does not specify any key columns.", sk_ddl_name(name)));
	read_index(ddl, statement, &index);

	/*
	 * an index is in the schema of its table, which PostgreSQL need not be
	 * told
	 */
	if (list_length(name->parts) > 1 ? strcmp(linitial(name->parts), get_namespace_name(schema)) != 0 :
		ddl->dialect == SK_GOOGLESQL && list_length(statement->table->parts) > 1)
		sk_ddl_refuse(ddl, name->at, "index in another schema than its table", NULL);
	sk_ddl_new_name(ddl, "Index", schema, llast(name->parts), name->at);
	(void) sk_ddl_on_relation(ddl, index.relid);
	SK_DDL_EMIT(ddl, "CREATE %sINDEX %s%s ON %s (%s)%s%s%s", statement->is_unique ? "UNIQUE " : "",
				statement->exists_ok ? "IF NOT EXISTS " : "", quote_identifier(llast(name->parts)),
				sk_ddl_name(statement->table), sk_ddl_key(statement->columns),
				index.stored != NIL ? psprintf(" INCLUDE (%s)", sk_ddl_name_list(index.stored)) : "",
				statement->is_unique ? " NULLS NOT DISTINCT" : "",
				index.filter.data);
	sk_ddl_keep_name(ddl, llast(name->parts),
					 psprintf("INDEX %s", quote_qualified_identifier(get_namespace_name(schema), llast(name->parts))));
	(void) sk_ddl_on_relation(ddl, InvalidOid);
	if (OidIsValid(index.parent))
		sk_ddl_check_interleave(ddl, name->at, get_relname_relid(llast(name->parts), schema), index.parent);
}

/* Read the key, and what stands behind it: STORING, INTERLEAVE IN and WHERE. */
static void
read_index(SkDdlText *ddl, SkStatement *statement, SkNewIndex *index)
{
	const char *name = sk_ddl_name(statement->name);
	List	   *columns;
	ListCell   *lc;
	ListCell   *column;

	sk_ddl_check_key(ddl, statement->columns, psprintf("index \"%s\"", name));
	foreach(lc, statement->columns)
	{
		SkKeyPart  *part = lfirst(lc);

		check_key_part(ddl, statement, index->relid, part);
		if (statement->null_filtered)
			add_filter(index, part->column);
	}
	foreach(lc, statement->elements)
	{
		SkConstraint *clause = lfirst(lc);

		if (clause->type == SK_UNIQUE)
			index->stored = list_concat(index->stored, clause->columns);
		else if (clause->type == SK_INTERLEAVE)
		{
			index->parent = sk_ddl_find(ddl, clause->table, RELKIND_RELATION, false);
			ereport(NOTICE,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("INTERLEAVE IN of an index means nothing here")));
		}
		else
			foreach(column, clause->columns)
				add_filter(index, lfirst(column));
	}
	/* an index has the key of its table anyway */
	columns = list_concat(sk_ddl_table_key(index->relid), sk_ddl_key_names(statement->columns));
	foreach(lc, index->stored)
	{
		if (sk_ddl_has_name(columns, lfirst(lc)))
			SK_DDL_ERROR(ddl, statement->at, ERRCODE_DUPLICATE_COLUMN,
						 errmsg("index \"%s\" has column \"%s\" already", name, (char *) lfirst(lc)));
		columns = lappend(columns, lfirst(lc));
	}
}

/* Leave rows out of the index that have no value of this column. */
static void
add_filter(SkNewIndex *index, const char *column)
{
	appendStringInfo(&index->filter, "%s%s IS NOT NULL", index->filter.len > 0 ? " AND " : " WHERE ",
					 quote_identifier(column));
}

/* Raise an error if a column of a key is of no such type. */
static void
check_key_part(SkDdlText *ddl, SkStatement *statement, Oid relid, const SkKeyPart *part)
{
	AttrNumber	attnum = get_attnum(relid, part->column);
	SkDdlType	type;
	Oid			type_oid;
	Oid			collation;
	int32		typmod;

	if (attnum == InvalidAttrNumber)
		return;
	get_atttypetypmodcoll(relid, attnum, &type_oid, &typmod, &collation);
	type = sk_ddl_type_class(type_oid);
	/* Spanner has no order for the numbers of the PostgreSQL dialect */
	if (type == SK_TYPE_ARRAY || type == SK_TYPE_JSON || (type_oid == NUMERICOID && typmod < 0))
		SK_DDL_ERROR(ddl, part->at, ERRCODE_DATATYPE_MISMATCH,
					 errmsg("Cannot reference %s %s in the creation of index %s.",
							type == SK_TYPE_NUMERIC ? "PG.NUMERIC" : sk_ddl_type_name(type),
							part->column, sk_ddl_name(statement->name)));
}

/* ALTER INDEX name { ADD | DROP } STORED COLUMN column */
void
sk_ddl_alter_index(SkDdlText *ddl, SkStatement *statement)
{
	const char *name = sk_ddl_name(statement->name);
	const char *column = linitial(statement->columns);
	Oid			indexid;
	Relation	index;
	Form_pg_index form;
	AttrNumber	attnum;
	bool		is_there;
	char	   *loss;

	if (sk_ddl_skip(ddl, statement->name, RELKIND_INDEX, statement->exists_ok))
		return;
	indexid = sk_ddl_find(ddl, statement->name, RELKIND_INDEX, false);
	index = index_open(indexid, AccessShareLock);
	form = index->rd_index;
	attnum = get_attnum(form->indrelid, column);
	is_there = !statement->is_drop && sk_ddl_has_name(sk_ddl_table_key(form->indrelid), column);
	for (int i = statement->is_drop ? form->indnkeyatts : 0; i < form->indnatts; i++)
		is_there |= form->indkey.values[i] == attnum;
	if (attnum == InvalidAttrNumber || (statement->is_drop && !is_there))
		SK_DDL_ERROR(ddl, statement->at, ERRCODE_UNDEFINED_COLUMN,
					 errmsg("Index %s does not have stored column %s.", name, column));
	if (!statement->is_drop && is_there)
		SK_DDL_ERROR(ddl, statement->at, ERRCODE_DUPLICATE_COLUMN,
					 errmsg("Column %s is already existed in index %s.", column, name));
	loss = sk_query_text(psprintf("SELECT spanner_internal.index_loss('%u')", indexid));
	if (loss != NULL)
		SK_DDL_ERROR(ddl, statement->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("index \"%s\" would lose %s", name, loss),
					 errdetail("The index is created anew with other columns."),
					 errhint("Take that from the index first, and give it back afterwards."));
	index_close(index, NoLock);
	recreate_index(ddl, statement, indexid);
}

/*
 * PostgreSQL cannot change the columns of an index, so it is created anew by
 * its definition.  The owner of the table has chosen what is in that, and it is
 * parsed as this owner.
 */
static void
recreate_index(SkDdlText *ddl, SkStatement *statement, Oid indexid)
{
	const char *name = sk_ddl_name(statement->name);
	char	   *column = linitial(statement->columns);
	char	   *comment = GetComment(indexid, RelationRelationId, 0);
	Oid			relid = IndexGetRelation(indexid, false);
	char	   *definition = pg_get_indexdef_string(indexid);
	IndexStmt  *index = castNode(IndexStmt, linitial_node(RawStmt, raw_parser(definition, RAW_PARSE_DEFAULT))->stmt);
	PlannedStmt *wrapper = makeNode(PlannedStmt);
	IndexElem  *stored = makeNode(IndexElem);
	SkOwnerScope scope;
	ListCell   *lc;

	stored->name = column;
	foreach(lc, index->indexIncludingParams)
	{
		if (statement->is_drop && strcmp(lfirst_node(IndexElem, lc)->name, column) == 0)
			index->indexIncludingParams = foreach_delete_current(index->indexIncludingParams, lc);
	}
	if (!statement->is_drop)
		index->indexIncludingParams = lappend(index->indexIncludingParams, stored);
	wrapper->commandType = CMD_UTILITY;
	wrapper->utilityStmt = (Node *) index;

	(void) sk_ddl_on_relation(ddl, relid);
	/* the lock on the table that this takes is kept */
	SK_DDL_EMIT(ddl, "DROP INDEX %s", name);
	Assert(sk_relation_is_locked(relid, AccessExclusiveLock));
	sk_ddl_owner_enter(ddl, &scope);
	ProcessUtility(wrapper, definition, false, PROCESS_UTILITY_QUERY, NULL, NULL, None_Receiver, NULL);
	sk_owner_exit(&scope);
	CommandCounterIncrement();
	ddl->commands = lappend(ddl->commands,
							pg_get_indexdef_string(get_relname_relid(index->idxname, get_rel_namespace(relid))));
	if (comment != NULL)
		SK_DDL_EMIT(ddl, "COMMENT ON INDEX %s IS %s", name, quote_literal_cstr(comment));
	(void) sk_ddl_on_relation(ddl, InvalidOid);
}

/* CREATE [OR REPLACE] VIEW */
void
sk_ddl_create_view(SkDdlText *ddl, SkStatement *statement)
{
	ErrorData  *error = NULL;
	char	   *rights = NULL;

	if (statement->security == NULL)
		SK_DDL_ERROR(ddl, statement->name->at, ERRCODE_SYNTAX_ERROR,
					 errmsg("View `%s` is missing the SQL SECURITY clause.", sk_ddl_name(statement->name)),
					 errhint("Write SQL SECURITY INVOKER or SQL SECURITY DEFINER before AS."));
	for (int i = statement->expr->range.first; i + 1 < statement->expr->range.end; i++)
	{
		if (strcmp(ddl->tokens[i].text, "for") == 0 && strcmp(ddl->tokens[i + 1].text, "update") == 0)
			sk_ddl_refuse(ddl, i, "FOR UPDATE in a view", NULL);
	}
	sk_ddl_new_name(ddl, "View", sk_ddl_schema(statement->name), llast(statement->name->parts), statement->name->at);

	/*
	 * PostgreSQL replaces a view only if its columns stay; Spanner always
	 * does
	 */
	if (statement->or_replace && OidIsValid(sk_ddl_find(ddl, statement->name, RELKIND_VIEW, true)))
		error = sk_ddl_try(replace_view, ddl, false);
	if (error != NULL && error->sqlerrcode != ERRCODE_INVALID_TABLE_DEFINITION)
		ReThrowError(error);
	if (error != NULL)
	{
		rights = view_rights(ddl);
		SK_DDL_EMIT(ddl, "DROP VIEW %s", sk_ddl_name(statement->name));
	}
	SK_DDL_EMIT(ddl, "CREATE %s%s", statement->or_replace && error == NULL ? "OR REPLACE " : "", view_definition(ddl));
	if (rights != NULL && strcmp(rights, view_rights(ddl)) != 0)
		SK_DDL_EMIT(ddl, "%s", rights);
	if (rights != NULL && strcmp(rights, view_rights(ddl)) != 0)
		SK_DDL_ERROR(ddl, statement->name->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("view \"%s\" would lose its owner or the rights on it", sk_ddl_name(statement->name)),
					 errdetail("The view is created anew with other columns."),
					 errhint("Use DROP VIEW first, and grant the rights afterwards."));
	sk_ddl_keep_name(ddl, llast(statement->name->parts), psprintf("VIEW %s", sk_ddl_name(statement->name)));
	if (ddl->dialect == SK_GOOGLESQL)
	{
		Relation	view = relation_open(sk_ddl_find(ddl, statement->name, RELKIND_VIEW, false), AccessShareLock);

		check_meaning(ddl, statement, copyObject(get_view_query(view)));
		relation_close(view, NoLock);
	}
}

static char *
view_definition(SkDdlText *ddl)
{
	SkStatement *view = ddl->statement;

	return psprintf("VIEW %s%s WITH (security_invoker = %s) AS %s", sk_ddl_name(view->name),
					view->columns != NIL ? psprintf(" (%s)", sk_ddl_name_list(view->columns)) : "",
					view->security, sk_ddl_translate(ddl, view->expr, NIL, true));
}

static void
replace_view(SkDdlText *ddl)
{
	sk_run_command(psprintf("CREATE OR REPLACE %s", view_definition(ddl)));
}

/* The commands that give it its owner and rights. */
static char *
view_rights(SkDdlText *ddl)
{
	return sk_query_text(psprintf("SELECT spanner_internal.view_rights('%u')",
								  sk_ddl_find(ddl, ddl->statement->name, RELKIND_VIEW, false)));
}

/*
 * Raise an error if PostgreSQL takes a query for another one.
 *
 * GoogleSQL computes with FLOAT64, and takes a literal next to a FLOAT32 for
 * one.  The difference of dates is an INTERVAL.  An aggregate in a subquery is
 * of the rows there, whatever columns it has.  Types and levels are known now.
 */
static void
check_meaning(SkDdlText *ddl, SkStatement *statement, Query *query)
{
	const char *const *refusal = NULL;

	if (is_taken_for_another((Node *) query, &refusal))
		sk_ddl_refuse(ddl, statement->expr->at, refusal[0], refusal[1]);
}

static bool
is_taken_for_another(Node *node, void *refusal)
{
	static const char *const reals[] = {
		"computing with FLOAT32 in a query",
		"Cast it: CAST(x AS FLOAT64), or what it is compared with: CAST(0.1 AS FLOAT32)."
	};
	static const char *const dates[] = {"the difference of dates", "Write DATE_DIFF(a, b, DAY)."};
	static const char *const outer[] = {"an aggregate in a subquery without columns of that", NULL};
	OpExpr	   *operator = (OpExpr *) node;
	const char *const *found = NULL;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, is_taken_for_another, refusal, 0);
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup > 0)
		found = outer;
	if (IsA(node, OpExpr) && list_length(operator->args) == 2)
	{
		Node	   *left = linitial(operator->args);
		Node	   *right = lsecond(operator->args);

		if (operator->opresulttype == FLOAT4OID ||
			(exprType(left) == FLOAT4OID && is_float_literal(right)) ||
			(exprType(right) == FLOAT4OID && is_float_literal(left)))
			found = reals;
		else if (exprType(left) == DATEOID && operator->opresulttype == INT4OID)
			found = dates;
	}
	if (found == NULL)
		return expression_tree_walker(node, is_taken_for_another, refusal);
	*(const char *const **) refusal = found;
	return true;
}

/* Is it a literal that has become a FLOAT64? */
static bool
is_float_literal(Node *node)
{
	FuncExpr   *cast = (FuncExpr *) node;

	return IsA(node, FuncExpr) && cast->funcformat == COERCE_IMPLICIT_CAST &&
		sk_ddl_type_class(exprType(linitial(cast->args))) == SK_TYPE_FLOAT;
}

/* CREATE and ALTER CHANGE STREAM */
void
sk_ddl_change_stream(SkDdlText *ddl, SkStatement *statement)
{
	const char *name = sk_ddl_name(statement->name);
	const char *publication = linitial(statement->name->parts);
	char	   *publish = publish_option(ddl, statement->options);
	bool		for_all = statement->elements != NIL && linitial(statement->elements) == NULL;
	char	   *tables = NULL;
	const char *objects = " FOR ALL TABLES";

	if (list_length(statement->name->parts) > 1)
		sk_ddl_refuse(ddl, statement->name->at, "change stream in a schema",
					  "A publication has no schema.");
	if (statement->type == SK_ALTER_STREAM)
		find_stream(ddl, statement);
	else
	{
		sk_ddl_new_name(ddl, "Change Stream", InvalidOid, publication, statement->name->at);
		if (statement->exists_ok && OidIsValid(get_publication_oid(publication, true)))
			return;
	}
	if (for_all)
		complete_identity(ddl, InvalidOid);
	else
	{
		tables = stream_tables(ddl, statement->elements);
		objects = tables == NULL ? "" : psprintf(" FOR TABLE %s", tables);
	}
	if (statement->type == SK_CREATE_STREAM)
	{
		SK_DDL_EMIT(ddl, "CREATE PUBLICATION %s%s%s", name, objects,
					publish != NULL ? psprintf(" WITH (publish = %s)", publish) : "");
		sk_ddl_keep_name(ddl, publication, psprintf("PUBLICATION %s", name));
		return;
	}
	if (publish != NULL)
		SK_DDL_EMIT(ddl, "ALTER PUBLICATION %s SET (publish = %s)", name, publish);
	if (tables != NULL && !GetPublicationByName(publication, false)->alltables)
		SK_DDL_EMIT(ddl, "ALTER PUBLICATION %s SET TABLE %s", name, tables);
	else if (statement->is_drop || for_all || tables != NULL)
	{
		char	   *options = sk_query_text(psprintf("SELECT pg_catalog.concat_ws(', ', CASE WHEN p.pubinsert THEN 'insert' END,"
													 " CASE WHEN p.pubupdate THEN 'update' END,"
													 " CASE WHEN p.pubdelete THEN 'delete' END,"
													 " CASE WHEN p.pubtruncate THEN 'truncate' END)"
													 " FROM pg_catalog.pg_publication p"
													 " WHERE p.oid OPERATOR(pg_catalog.=) '%u'",
													 get_publication_oid(publication, false)));

		SK_DDL_EMIT(ddl, "DROP PUBLICATION %s", name);
		SK_DDL_EMIT(ddl, "CREATE PUBLICATION %s%s WITH (publish = %s)", name, objects, quote_literal_cstr(options));
		sk_ddl_keep_name(ddl, publication, psprintf("PUBLICATION %s", name));
	}
}

/* Raise an error if there is no such change stream. */
static void
find_stream(SkDdlText *ddl, SkStatement *statement)
{
	const char *name = llast(statement->name->parts);

	if (!OidIsValid(get_publication_oid(name, true)))
		SK_DDL_ERROR(ddl, statement->name->at, ERRCODE_UNDEFINED_OBJECT,
					 errmsg("Change Stream not found: %s", name));
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

		complete_identity(ddl, relid);
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
	Oid			constraint;
	List	   *columns = sk_ddl_table_key(relid);
	ListCell   *lc;

	if (get_primary_key_attnos(relid, true, &constraint) == NULL)
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

/*
 * Tables without a primary key could not be changed while they are published:
 * one of them, or all, since a publication of all tables has those as well.
 */
static void
complete_identity(SkDdlText *ddl, Oid relid)
{
	ListCell   *lc;

	foreach(lc, sk_query_texts(psprintf("SELECT t FROM spanner_internal.tables_without_identity('%u') t", relid)))
	{
		(void) sk_ddl_on_relation(ddl, atooid(lfirst(lc)));
		SK_DDL_EMIT(ddl, "ALTER TABLE %s REPLICA IDENTITY FULL", sk_qualified_name(ddl->relation));
	}
	(void) sk_ddl_on_relation(ddl, InvalidOid);
}

/* What a publication publishes; NULL if no option speaks of it. */
static char *
publish_option(SkDdlText *ddl, List *options)
{
	static const char *const operations[] = {"insert", "update", "delete"};
	bool		excluded[lengthof(operations)] = {false};
	bool		is_set = false;
	List	   *published = NIL;
	ListCell   *lc;

	foreach(lc, options)
	{
		SkDdlOption *option = lfirst(lc);

		check_stream_option(ddl, option);
		for (int i = 0; i < lengthof(operations); i++)
		{
			if (strcmp(option->name, psprintf("exclude_%s", operations[i])) != 0)
				continue;
			is_set = true;
			excluded[i] = strcmp(option->value, "true") == 0;
		}
	}
	for (int i = 0; i < lengthof(operations); i++)
	{
		if (!excluded[i])
			published = lappend(published, unconstify(char *, operations[i]));
	}
	return is_set ? quote_literal_cstr(sk_ddl_name_list(published)) : NULL;
}

/* The options and values that Spanner takes; a subscriber keeps what it has not read, and gets whole rows. */
static void
check_stream_option(SkDdlText *ddl, const SkDdlOption *option)
{
	bool		is_text = SK_DDL_ONE_OF(option->name, "retention_period", "value_capture_type");
	char	   *problem = NULL;

	if ((!is_text && !SK_DDL_ONE_OF(option->name, "allow_txn_exclusion", "exclude_delete", "exclude_insert",
									"exclude_ttl_deletes", "exclude_update")) ||
		(strcmp(option->name, "exclude_ttl_deletes") == 0 && strcmp(option->value, "true") == 0))
		sk_ddl_refuse(ddl, option->at, psprintf("option \"%s\" of a change stream", option->name),
					  "The options here are exclude_insert, exclude_update and exclude_delete.");
	if (option->type == SK_TOKEN_WORD && strcmp(option->value, "null") == 0)
		return;
	if (option->type != (is_text ? SK_TOKEN_STRING : SK_TOKEN_WORD))
		SK_DDL_ERROR(ddl, option->value_at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("option \"%s\" must be %s or null", option->name, is_text ? "a string" : "true, false"));
	if (strcmp(option->name, "retention_period") == 0)
		problem = retention_problem(option->value);
	else if (is_text && !SK_DDL_ONE_OF(option->value, "OLD_AND_NEW_VALUES", "NEW_ROW", "NEW_VALUES",
									   "NEW_ROW_AND_OLD_VALUES"))
		problem = "Invalid value_capture_type: ";
	if (problem != NULL)
		SK_DDL_ERROR(ddl, option->value_at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("%s%s", problem, option->value));
	if (is_text)
		skip_option(option, "change stream");
}

/* An option that is taken, and does nothing. */
static void
skip_option(const SkDdlOption *option, const char *object)
{
	ereport(NOTICE,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("option \"%s\" of a %s means nothing here", option->name, object)));
}

/* One to seven days, in one unit. */
static char *
retention_problem(const char *value)
{
	int			digits = strspn(value, "0123456789");
	int64		seconds;

	if (digits < 1 || digits > 9 || value[digits] == '\0' || strchr("dhms", value[digits]) == NULL ||
		value[digits + 1] != '\0')
		return "Invalid time duration format: ";
	seconds = atol(value) *
		(value[digits] == 'd' ? SECS_PER_DAY : value[digits] == 'h' ? SECS_PER_HOUR :
		 value[digits] == 'm' ? SECS_PER_MINUTE : 1);
	return seconds < SECS_PER_DAY || seconds > 7 * SECS_PER_DAY ? "Invalid retention_period: " : NULL;
}

/* DROP, which Spanner refuses while something depends on the object. */
void
sk_ddl_drop(SkDdlText *ddl, SkStatement *statement)
{
	const char *object = statement->object;
	char		relkind = strcmp(object, "TABLE") == 0 ? RELKIND_RELATION :
		strcmp(object, "INDEX") == 0 ? RELKIND_INDEX :
		strcmp(object, "VIEW") == 0 ? RELKIND_VIEW :
		strcmp(object, "SEQUENCE") == 0 ? RELKIND_SEQUENCE : '\0';
	Oid			relid = InvalidOid;
	Oid			synonym;

	if (relkind != '\0')
		relid = sk_ddl_find(ddl, statement->name, relkind, statement->exists_ok);
	else if (strcmp(object, "PUBLICATION") == 0 && !statement->exists_ok)
		find_stream(ddl, statement);
	if (relkind == RELKIND_RELATION && OidIsValid(relid))
	{
		/* what core would drop along */
		sk_ddl_check(ddl, statement->name->at, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
					 psprintf("SELECT spanner_internal.drop_table_problem('%u')", relid));
		synonym = sk_ddl_object("synonym_of", relid);
		if (OidIsValid(synonym))
			SK_DDL_EMIT(ddl, "DROP VIEW %s", sk_ddl_relation(synonym));
	}
	SK_DDL_EMIT(ddl, "DROP %s %s%s", object, statement->exists_ok ? "IF EXISTS " : "", sk_ddl_name(statement->name));
}

/*
 * ALTER DATABASE is for the database that the session is in.  Spanner's
 * clients call it "db" whatever its name is, so this name is taken for the
 * current one unless there is a database of that name.
 */
void
sk_ddl_alter_database(SkDdlText *ddl, SkStatement *statement)
{
	char	   *name = linitial(statement->name->parts);
	ListCell   *lc;

	if (strcmp(name, get_database_name(MyDatabaseId)) != 0 &&
		(strcmp(name, "db") != 0 || OidIsValid(get_database_oid(name, true))))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("database \"%s\" is not the current database", name),
				 errhint("Connect to it, or run ALTER DATABASE directly.")));
	foreach(lc, statement->options)
	{
		SkDdlOption *option = lfirst(lc);

		if (SK_DDL_ONE_OF(option->name, "default_sequence_kind", "default_time_zone"))
			set_database_option(ddl, option);
		else if (SK_DDL_ONE_OF(option->name, "columnar_policy", "default_leader", "optimizer_statistics_package",
							   "optimizer_version", "read_lease_regions", "version_retention_period",
							   "witness_location"))
			skip_option(option, "database");
		else
			sk_ddl_refuse(ddl, option->at, psprintf("option \"%s\" of a database", option->name),
						  "The options here are default_sequence_kind and default_time_zone.");
	}
}

/* Set an option of the database, once, and the same in this session. */
static void
set_database_option(SkDdlText *ddl, const SkDdlOption *option)
{
	char	   *setting = psprintf("spanner.%s", option->name);
	bool		is_kind = strcmp(option->name, "default_sequence_kind") == 0;
	char	   *old;

	if (option->type != SK_TOKEN_STRING &&
		(option->type != SK_TOKEN_WORD || !SK_DDL_ONE_OF(option->value, "null", "default")))
		SK_DDL_ERROR(ddl, option->value_at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("The %s option only supports string or null.", option->name),
					 errhint("Write the value in single quotes."));
	old = sk_ddl_database_setting(setting);
	if (old != NULL && is_kind && old[strlen(setting) + 1] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("The %s option may not be unset once set.", option->name),
				 errdetail("The database has the setting %s.", old),
				 errhint("Run ALTER DATABASE directly, without execute_ddl, to change it.")));
	SK_DDL_EMIT(ddl, "ALTER DATABASE %s SET %s TO %s",
				quote_identifier(get_database_name(MyDatabaseId)), setting,
				option->type == SK_TOKEN_STRING ? quote_literal_cstr(option->value) : "DEFAULT");
	SK_DDL_EMIT(ddl, "SET %s TO %s", setting, option->type == SK_TOKEN_STRING ? quote_literal_cstr(option->value) : "''");
}
