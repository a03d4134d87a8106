/*-------------------------------------------------------------------------
 *
 * tables.c
 *	  CREATE TABLE and ALTER TABLE.
 *
 * INTERLEAVE IN PARENT becomes a foreign key, a descending key an index, a row
 * deletion policy a trigger that never fires and says when rows expire, a
 * synonym a view with another such trigger.
 *
 * src/spanner_ddl/tables.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_type.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/own_objects.h"
#include "spi/run_command.h"


/* The foreign key of an interleaved table: no name of Spanner's has a blank. */
#define INTERLEAVING "interleave in parent"

/* A table that is made, and what comes after CREATE TABLE. */
typedef struct SkNewTable
{
	SkDdlText  *ddl;
	SkName	   *name;
	Oid			schema;
	List	   *columns;		/* of SkColumn */
	List	   *constraints;	/* of SkConstraint, in the order of the text */
	List	   *variables;
	List	   *key;			/* of SkKeyPart */
	bool		has_key;
	bool		key_is_null;	/* a column of it may be NULL */
	StringInfoData sql;
	List	   *after;			/* commands */
} SkNewTable;

/* The table that is altered. */
typedef struct SkAlter
{
	SkDdlText  *ddl;
	SkName	   *name;
	Oid			relid;
} SkAlter;

static Oid	complete_name(SkName *name);
static void check_key(SkNewTable *table);
static void finish_table(SkNewTable *table);
static void read_elements(SkNewTable *table, List *elements);
static void add_key(SkNewTable *table);
static void alter_once(SkAlter *table, SkAction *action);
static void alter_add_column(SkAlter *table, SkAction *action);
static void add_with_kind(SkAlter *table, char *command, const SkColumn *column);
static void alter_add_constraint(SkAlter *table, SkConstraint *constraint, bool is_replaced);
static void drop_column(SkAlter *table, SkAction *action);
static void drop_synonym(SkAlter *table, SkAction *action);
static AttrNumber find_column(SkAlter *table, const SkAction *action);
static Oid	identity_sequence(SkAlter *table, const SkAction *action);
static bool is_identity(SkAlter *table, SkAction *action);
static void alter_column(SkAlter *table, SkAction *action);
static void check_nullability(SkAlter *table, SkAction *action, bool not_null);
static void alter_type(SkAlter *table, SkAction *action, SkColumn *column);
static void alter_default(SkAlter *table, SkAction *action);
static void set_update(SkAlter *table, SkAction *action);
static void drop_update(SkAlter *table, SkAction *action);
static void set_parent(SkAlter *table, SkAction *action);
static void rename_table(SkAlter *table, SkAction *action);
static void alter_identity(SkAlter *table, const SkAction *action);
static List *table_variables(Oid relid);
static void add_variable(SkDdlText *ddl, List **variables, const SkColumn *column);
static char *column_definition(SkDdlText *ddl, SkName *table, List *variables, const SkColumn *column, List **after);
static void check_assignment(SkDdlText *ddl, Oid relid, const char *name, const SkColumn *column);
static void check_sources(SkDdlText *ddl, const SkColumn *column);
static void check_virtual(SkDdlText *ddl, const SkColumn *column);
static char *identity_kind(SkDdlText *ddl, const SkColumn *column, int64 *start);
static char *generation_expression(SkDdlText *ddl, List *variables, const SkColumn *column);
static char *column_type(SkDdlText *ddl, const SkColumn *column, SkDdlType *type);
static const char *type_collation(const char *type);
static char *length_check(SkName *table, const SkColumn *column);
static char *constraint_definition(SkDdlText *ddl, SkName *table, Oid schema, bool is_new, List *key, List *variables, SkConstraint *constraint, List **after);
static char *foreign_key(SkDdlText *ddl, SkConstraint *constraint, SkName *self, List *self_key);
static bool has_unique_key(Oid relid, List *columns);
static char *parent_key(SkDdlText *ddl, SkConstraint *constraint, const char *table, List *key, List **after);
static List *synonym_commands(const SkName *synonym, const SkName *table);
static char *update_trigger(SkDdlText *ddl, const SkName *table, const SkColumn *column);
static bool is_commit_time(SkDdlText *ddl, SkNode *node);
static char *find_update_trigger(Oid relid, const char *column);
static char *policy_trigger(SkDdlText *ddl, const SkName *table, const SkConstraint *constraint, const List *variables);
static void check_table(SkDdlText *ddl, int at, Oid relid);
static void keep_column_name(SkDdlText *ddl, const SkName *table, const SkColumn *column);
static void keep_constraint_name(SkDdlText *ddl, const SkName *table, Oid relid, const SkConstraint *constraint);
static void emit_all(SkDdlText *ddl, List *commands);

/* CREATE TABLE */
void
sk_ddl_create_table(SkDdlText *ddl, SkStatement *statement)
{
	SkNewTable	table = {.ddl = ddl,.name = statement->name};
	ListCell   *lc;

	table.schema = complete_name(table.name);
	sk_ddl_new_name(ddl, "Table", table.schema, llast(table.name->parts), table.name->at);
	if (statement->exists_ok && OidIsValid(get_relname_relid(llast(table.name->parts), table.schema)))
	{
		/* core's NOTICE, and nothing of what the columns say */
		SK_DDL_EMIT(ddl, "CREATE TABLE IF NOT EXISTS %s ()", sk_ddl_name(table.name));
		return;
	}
	read_elements(&table, statement->elements);
	check_key(&table);

	initStringInfo(&table.sql);
	appendStringInfo(&table.sql, "CREATE TABLE %s%s (",
					 statement->exists_ok ? "IF NOT EXISTS " : "", sk_ddl_name(table.name));
	foreach(lc, table.columns)
	{
		SkColumn   *column = lfirst(lc);

		appendStringInfo(&table.sql, "\n  %s,",
						 column_definition(ddl, table.name, table.variables, column, &table.after));
		if (column->has_update)
			table.after = lappend(table.after, update_trigger(ddl, table.name, column));
	}
	if (table.has_key)
		add_key(&table);
	foreach(lc, table.constraints)
	{
		char	   *sql = constraint_definition(ddl, table.name, table.schema, true, sk_ddl_key_names(table.key),
												table.variables, lfirst(lc), &table.after);

		if (sql != NULL)
			appendStringInfo(&table.sql, "\n  %s,", sql);
	}
	if (table.sql.data[table.sql.len - 1] == ',')
		table.sql.data[--table.sql.len] = '\0';
	SK_DDL_EMIT(ddl, "%s\n)", table.sql.data);
	emit_all(ddl, table.after);
	finish_table(&table);
}

/* What can be told of a table when it exists. */
static void
finish_table(SkNewTable *table)
{
	SkDdlText  *ddl = table->ddl;
	Oid			relid = sk_ddl_find(ddl, table->name, RELKIND_RELATION, false);
	ListCell   *lc;

	foreach(lc, table->constraints)
	{
		SkConstraint *constraint = lfirst(lc);

		if (constraint->type == SK_INTERLEAVE)
			sk_ddl_check_interleave(ddl, constraint->at, relid,
									sk_ddl_find(ddl, constraint->table, RELKIND_RELATION, false));
		keep_constraint_name(ddl, table->name, relid, constraint);
	}
	check_table(ddl, table->name->at, relid);
	sk_ddl_keep_name(ddl, llast(table->name->parts), psprintf("TABLE %s", sk_ddl_name(table->name)));
	foreach(lc, table->columns)
	{
		check_assignment(ddl, relid, ((SkColumn *) lfirst(lc))->name, lfirst(lc));
		keep_column_name(ddl, table->name, lfirst(lc));
	}
}

/*
 * The schema of a new table.  It is added to the name, if its commands would
 * find another relation by the name alone.
 */
static Oid
complete_name(SkName *name)
{
	Oid			schema = sk_ddl_schema(name);
	Oid			other;

	if (list_length(name->parts) > 1)
		return schema;
	other = RangeVarGetRelid(makeRangeVar(NULL, linitial(name->parts), -1), NoLock, true);
	if (OidIsValid(other) && get_rel_namespace(other) != schema)
		name->parts = lcons(get_namespace_name(schema), name->parts);
	return schema;
}

/* Columns and constraints, and among them the key, which may be in three places. */
static void
read_elements(SkNewTable *table, List *elements)
{
	ListCell   *lc;

	foreach(lc, elements)
	{
		SkConstraint *element = lfirst(lc);

		if (element->type == SK_COLUMN)
		{
			table->columns = lappend(table->columns, element->column);
			add_variable(table->ddl, &table->variables, element->column);
			table->constraints = list_concat(table->constraints, element->column->constraints);
		}

		/*
		 * its trigger on the parent fires first, so other keys see no child
		 * that is to go
		 */
		else if (element->type == SK_INTERLEAVE)
			table->constraints = lcons(element, table->constraints);
		else
			table->constraints = lappend(table->constraints, element);
	}
	foreach(lc, table->constraints)
	{
		SkConstraint *constraint = lfirst(lc);

		if (constraint->type != SK_PRIMARY_KEY)
			continue;
		if (constraint->name != NULL)
			SK_DDL_ERROR(table->ddl, constraint->at, ERRCODE_FEATURE_NOT_SUPPORTED,
						 errmsg("Setting a name of a <PRIMARY KEY> constraint is not supported."));
		if (table->has_key)
			SK_DDL_ERROR(table->ddl, constraint->at, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("Primary key can be only defined once."));
		table->has_key = true;
		table->key = constraint->columns;
	}
}

/* Spanner's rules for keys; are all columns of it NOT NULL? */
static void
check_key(SkNewTable *table)
{
	const char *name = sk_ddl_name(table->name);
	ListCell   *lc;
	ListCell   *other;

	sk_ddl_check_key(table->ddl, table->key, psprintf("table \"%s\"", name));
	foreach(lc, table->key)
	{
		SkKeyPart  *part = lfirst(lc);
		SkColumn   *column = NULL;
		const char *type_name;
		SkDdlType	type;

		foreach(other, table->columns)
		{
			if (strcmp(((SkColumn *) lfirst(other))->name, part->column) == 0)
				column = lfirst(other);
		}
		if (column == NULL)
			SK_DDL_ERROR(table->ddl, part->at, ERRCODE_UNDEFINED_COLUMN,
						 errmsg("Table %s references nonexistent key column %s.", name, part->column));
		type_name = column_type(table->ddl, column, &type);
		if (type == SK_TYPE_ARRAY || type == SK_TYPE_JSON || strcmp(type_name, "numeric") == 0)
			SK_DDL_ERROR(table->ddl, part->at, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("Column %s has type %s, but is part of the primary key.", column->name,
								type == SK_TYPE_NUMERIC ? "PG.NUMERIC" : sk_ddl_type_name(type)));
		if (column->has_update)
			SK_DDL_ERROR(table->ddl, part->at, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("Column %s.%s with ON UPDATE cannot be a part of or the whole primary key.",
								name, column->name));
		if (table->ddl->dialect == SK_GOOGLESQL && !column->not_null && !column->is_identity)
			table->key_is_null = true;
	}
}

/* The key as a constraint, and what PostgreSQL needs beside it. */
static void
add_key(SkNewTable *table)
{
	char	   *name = sk_ddl_name(table->name);
	int			descending = 0;
	ListCell   *lc;

	foreach(lc, table->key)
		descending += ((SkKeyPart *) lfirst(lc))->is_desc;
	if (table->key == NIL)
		table->after = lappend(table->after,
							   psprintf("CREATE UNIQUE INDEX ON %s ((true))", name));
	else if (table->key_is_null)
		appendStringInfo(&table->sql, "\n  CONSTRAINT %s UNIQUE NULLS NOT DISTINCT (%s),",
						 quote_identifier(ChooseRelationName(llast(table->name->parts), NULL, "pkey", table->schema, true)),
						 sk_ddl_name_list(sk_ddl_key_names(table->key)));
	else
		appendStringInfo(&table->sql, "\n  PRIMARY KEY (%s),", sk_ddl_name_list(sk_ddl_key_names(table->key)));
	/* the key itself is read backward if all of it descends */
	if (descending > 0 && descending < list_length(table->key))
		table->after = lappend(table->after, psprintf("CREATE INDEX ON %s (%s)", name, sk_ddl_key(table->key)));
	/* publications, such as those of change streams, must not stop changes */
	if (table->key == NIL || table->key_is_null)
		table->after = lappend(table->after, psprintf("ALTER TABLE %s REPLICA IDENTITY FULL", name));
}

/* ALTER TABLE */
void
sk_ddl_alter_table(SkDdlText *ddl, SkStatement *statement)
{
	SkAlter		table = {ddl, statement->name, InvalidOid};
	ListCell   *lc;

	if (sk_ddl_skip(ddl, statement->name, RELKIND_RELATION, statement->exists_ok))
		return;
	foreach(lc, statement->elements)
	{
		Oid			synonym;

		table.relid = sk_ddl_find(ddl, table.name, RELKIND_RELATION, false);
		synonym = sk_ddl_object("synonym_of", table.relid);
		(void) sk_ddl_on_relation(ddl, table.relid);
		alter_once(&table, lfirst(lc));
		if (OidIsValid(synonym) && ((SkAction *) lfirst(lc))->type == SK_ADD_COLUMN)
			SK_DDL_EMIT(ddl, "CREATE OR REPLACE VIEW %s WITH (security_invoker = true) AS SELECT * FROM %s",
						sk_ddl_relation(synonym), sk_ddl_name(table.name));
	}
	(void) sk_ddl_on_relation(ddl, InvalidOid);
}

static void
alter_once(SkAlter *table, SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	const char *name = sk_ddl_name(table->name);
	const char *object = action->name != NULL ? quote_identifier(action->name) : NULL;
	SkTypeName	timestamp = {.name = "timestamp",.at = action->at};
	SkDdlClause *clause;

	switch (action->type)
	{
		case SK_ADD_COLUMN:
			alter_add_column(table, action);
			break;
		case SK_ADD_CONSTRAINT:
			alter_add_constraint(table, action->constraint, action->exists_ok);
			break;
		case SK_DROP_COLUMN:
			drop_column(table, action);
			break;
		case SK_DROP_CONSTRAINT:
			SK_DDL_EMIT(ddl, "ALTER TABLE %s DROP CONSTRAINT %s", name, object);
			break;
		case SK_DROP_POLICY:
			SK_DDL_EMIT(ddl, "DROP TRIGGER row_deletion_policy ON %s", name);
			break;
		case SK_DROP_SYNONYM:
			drop_synonym(table, action);
			break;
		case SK_ALTER_COLUMN:
			alter_column(table, action);
			break;
		case SK_ALTER_TYPE:
			alter_type(table, action, action->column);
			break;
		case SK_SET_NOT_NULL:
		case SK_DROP_NOT_NULL:
			check_nullability(table, action, action->type == SK_SET_NOT_NULL);
			SK_DDL_EMIT(ddl, "ALTER TABLE %s ALTER COLUMN %s %s NOT NULL", name, object,
						action->type == SK_SET_NOT_NULL ? "SET" : "DROP");
			break;
		case SK_SET_DEFAULT:
		case SK_DROP_DEFAULT:
			alter_default(table, action);
			break;
		case SK_SET_UPDATE:
			set_update(table, action);
			break;
		case SK_DROP_UPDATE:
			drop_update(table, action);
			break;
		case SK_ALTER_IDENTITY:
			clause = linitial(action->column->clauses);
			if (clause->type == SK_CLAUSE_OPTIONS)
			{
				action->column->type = &timestamp;
				action->column->at = action->at;
				action->column->options = clause->options;
				alter_type(table, action, action->column);
			}
			else
				alter_identity(table, action);
			break;
		case SK_ADD_IDENTITY:
			SK_DDL_ERROR(ddl, action->at, ERRCODE_FEATURE_NOT_SUPPORTED,
						 errmsg("Cannot alter column `%s.%s` to an identity column.",
								get_rel_name(table->relid), action->name),
						 errhint("Set spanner.default_sequence_kind, and run it directly without Spanner's clauses."));
			break;
		case SK_SET_ON_DELETE:
			set_parent(table, action);
			break;
		case SK_RENAME:
			rename_table(table, action);
			break;
	}
}

static void
alter_add_column(SkAlter *table, SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	SkColumn   *column = action->column;
	List	   *variables = table_variables(table->relid);
	List	   *after = NIL;
	SkDdlType	type;
	char	   *sql;
	ListCell   *lc;

	if (get_attnum(table->relid, action->name) != InvalidAttrNumber && action->exists_ok)
	{
		/* core's NOTICE */
		SK_DDL_EMIT(ddl, "ALTER TABLE %s ADD COLUMN IF NOT EXISTS %s %s", sk_ddl_name(table->name),
					quote_identifier(action->name), column_type(ddl, column, &type));
		return;
	}
	if (column->is_primary_key)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Cannot change key column %s.", column->name));
	add_variable(ddl, &variables, column);
	sql = psprintf("ALTER TABLE %s ADD COLUMN %s", sk_ddl_name(table->name),
				   column_definition(ddl, table->name, variables, column, &after));
	if (column->not_null && !column->has_default && !column->is_generated && !column->is_identity)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Cannot add NOT NULL column %s.%s to existing table %s.",
							sk_ddl_name(table->name), column->name, sk_ddl_name(table->name)),
					 errhint("Add it with a default."));
	if (after != NIL)
		add_with_kind(table, sql, column);
	else
		sk_ddl_run_command(ddl, sql);
	if (column->has_update)
		sk_ddl_run_command(ddl, update_trigger(ddl, table->name, column));
	foreach(lc, column->constraints)
		alter_add_constraint(table, lfirst(lc), false);
	check_table(ddl, column->at, table->relid);
	check_assignment(ddl, table->relid, column->name, column);
	keep_column_name(ddl, table->name, column);
}

/* Rows that are there draw values at once, so the sequence has its kind first. */
static void
add_with_kind(SkAlter *table, char *command, const SkColumn *column)
{
	const char *setting = "spanner.default_sequence_kind";
	const char *old = GetConfigOption(setting, true, false);
	int64		start;
	char	   *kind = identity_kind(table->ddl, column, &start);

	/* else the setting has it already, and the sequence follows it */
	Assert(kind != NULL);
	old = quote_literal_cstr(old != NULL ? old : "");
	SK_DDL_EMIT(table->ddl, "SET %s TO %s", setting, quote_literal_cstr(kind));
	sk_ddl_run_command(table->ddl, command);
	SK_DDL_EMIT(table->ddl, "SET %s TO %s", setting, old);
}

static void
alter_add_constraint(SkAlter *table, SkConstraint *constraint, bool is_replaced)
{
	SkDdlText  *ddl = table->ddl;
	const char *name = sk_ddl_name(table->name);
	List	   *after = NIL;
	char	   *sql;

	if (constraint->type == SK_PRIMARY_KEY || constraint->type == SK_INTERLEAVE)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("key of table \"%s\" cannot be changed", name),
					 errhint("Run PostgreSQL's ALTER TABLE directly."));
	if (constraint->type == SK_SYNONYM && OidIsValid(sk_ddl_object("synonym_of", table->relid)))
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_DUPLICATE_OBJECT,
					 errmsg("Cannot add a synonym to table %s because the table already has a synonym %s.",
							name, sk_ddl_relation(sk_ddl_object("synonym_of", table->relid))));
	sql = constraint_definition(ddl, table->name, get_rel_namespace(table->relid), false, NIL,
								table_variables(table->relid), constraint, &after);
	/* a policy */
	if (is_replaced)
		SK_DDL_EMIT(ddl, "DROP TRIGGER row_deletion_policy ON %s", name);
	if (sql != NULL)
		SK_DDL_EMIT(ddl, "ALTER TABLE %s ADD %s", name, sql);
	emit_all(ddl, after);
	keep_constraint_name(ddl, table->name, table->relid, constraint);
	check_table(ddl, constraint->at, table->relid);
}

/* PostgreSQL would drop indexes and constraints along; Spanner does not. */
static void
drop_column(SkAlter *table, SkAction *action)
{
	if (!action->exists_ok || get_attnum(table->relid, action->name) != InvalidAttrNumber)
	{
		AttrNumber	attnum = find_column(table, action);

		drop_update(table, action);
		sk_ddl_check(table->ddl, action->at, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
					 psprintf("SELECT spanner_internal.drop_column_problem('%u', '%d')", table->relid, attnum));
	}
	SK_DDL_EMIT(table->ddl, "ALTER TABLE %s DROP COLUMN %s%s", sk_ddl_name(table->name),
				action->exists_ok ? "IF EXISTS " : "", quote_identifier(action->name));
}

static void
drop_synonym(SkAlter *table, SkAction *action)
{
	Oid			view = sk_ddl_find(table->ddl, action->target, RELKIND_VIEW, false);

	if (view != sk_ddl_object("synonym_of", table->relid))
		SK_DDL_ERROR(table->ddl, action->target->at, ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("view \"%s\" is not the synonym of table \"%s\"",
							sk_ddl_name(action->target), sk_ddl_name(table->name)),
					 errhint("Use DROP VIEW."));
	SK_DDL_EMIT(table->ddl, "DROP VIEW %s", sk_ddl_name(action->target));
}

static AttrNumber
find_column(SkAlter *table, const SkAction *action)
{
	AttrNumber	result = get_attnum(table->relid, action->name);

	if (result == InvalidAttrNumber)
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_UNDEFINED_COLUMN,
					 errmsg("Column not found in table %s: %s", sk_ddl_name(table->name), action->name));
	return result;
}

/* The sequence of an identity column, InvalidOid if it has none of its own. */
static Oid
identity_sequence(SkAlter *table, const SkAction *action)
{
	char	   *oid = sk_query_text(psprintf("SELECT spanner_internal.ddl_identity('%u', '%d')", table->relid,
											 find_column(table, action)));

	return oid != NULL ? atooid(oid) : InvalidOid;
}

/* Does a column take values from a sequence of its own that has a kind? */
static bool
is_identity(SkAlter *table, SkAction *action)
{
	Oid			seqid = identity_sequence(table, action);
	ObjectAddress sequence = {RelationRelationId, seqid};

	return OidIsValid(seqid) && GetSecurityLabel(&sequence, SK_EXTENSION) != NULL;
}

/* ALTER COLUMN name type ..., which says how all of the column shall be. */
static void
alter_column(SkAlter *table, SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	SkColumn   *column = action->column;
	const char *start = psprintf("ALTER TABLE %s ALTER COLUMN %s", sk_ddl_name(table->name),
								 quote_identifier(action->name));
	AttrNumber	attnum = find_column(table, action);
	bool		is_generated = get_attgenerated(table->relid, attnum) != '\0';
	HeapTuple	tuple = SearchSysCacheCopyAttNum(table->relid, attnum);
	Form_pg_attribute old = (Form_pg_attribute) GETSTRUCT(tuple);
	List	   *clauses;
	ListCell   *lc;

	if (column->is_identity != is_identity(table, action))
		SK_DDL_ERROR(ddl, action->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 column->is_identity ?
					 errmsg("Cannot alter column `%s.%s` to an identity column.",
							get_rel_name(table->relid), action->name) :
					 errmsg("Cannot alter column `%s.%s` to drop the identity property.",
							get_rel_name(table->relid), action->name));
	if (column->is_generated || (is_generated && column->has_default))
		sk_ddl_refuse(ddl, action->at, "change of a generated column",
					  "Drop the column, and add it anew.");

	/*
	 * a column of the key that a parent and its children share stays what it
	 * is
	 */
	if (sk_query_text(psprintf("SELECT 1 WHERE spanner_internal.is_interleaved('%u', '%d')", table->relid,
							   attnum)) != NULL)
		SK_DDL_ERROR(ddl, action->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Cannot alter parent key column %s.%s.", get_rel_name(table->relid), action->name));
	check_nullability(table, action, column->not_null || column->is_identity);
	if (!column->has_update)
		drop_update(table, action);
	alter_type(table, action, column);
	if (!column->is_identity && column->not_null != old->attnotnull)
		SK_DDL_EMIT(ddl, "%s %s NOT NULL", start, column->not_null ? "SET" : "DROP");
	if (column->has_default)
	{
		SK_DDL_EMIT(ddl, "%s SET DEFAULT %s", start, sk_ddl_translate(ddl, column->expr, NIL, false));
		check_assignment(ddl, table->relid, action->name, column);
	}
	else if (!column->is_identity && !is_generated && old->atthasdef)
		SK_DDL_EMIT(ddl, "%s DROP DEFAULT", start);
	if (column->has_update && find_update_trigger(table->relid, action->name) == NULL)
		sk_ddl_run_command(ddl, update_trigger(ddl, table->name, column));
	clauses = column->clauses;
	foreach(lc, clauses)
	{
		SkDdlClause *clause = lfirst(lc);

		if (clause->type != SK_CLAUSE_SKIP)
			continue;
		column->clauses = list_make1(clause);
		alter_identity(table, action);
	}
}

/* Spanner's keys and indexes depend on whether a column may be NULL. */
static void
check_nullability(SkAlter *table, SkAction *action, bool not_null)
{
	sk_ddl_check(table->ddl, action->at, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
				 psprintf("SELECT spanner_internal.nullability_problem('%u', '%d', '%d')",
						  table->relid, find_column(table, action), not_null));
}

/* Values stay what they are: only lengths change, or STRING and BYTES. */
static void
alter_type(SkAlter *table, SkAction *action, SkColumn *column)
{
	AttrNumber	attnum = find_column(table, action);
	SkDdlType	old = sk_ddl_type_class(get_atttype(table->relid, attnum));
	SkDdlType	type;
	const char *name = column_type(table->ddl, column, &type);
	const char *start = psprintf("ALTER TABLE %s", sk_ddl_name(table->name));
	char	   *check;
	Oid			old_type;
	Oid			new_type;
	Oid			collation;
	int32		old_typmod;
	int32		new_typmod;

	if (old != type && !(old == SK_TYPE_STRING && type == SK_TYPE_BYTES) &&
		!(old == SK_TYPE_BYTES && type == SK_TYPE_STRING))
		SK_DDL_ERROR(table->ddl, column->at, ERRCODE_DATATYPE_MISMATCH,
					 errmsg("Cannot change type of column `%s` from `%s` to `%s`", action->name,
							format_type_be(get_atttype(table->relid, attnum)), name));
	check = sk_query_text(psprintf("SELECT pg_catalog.quote_ident(c.conname) FROM pg_catalog.pg_constraint c"
								   " WHERE c.conrelid OPERATOR(pg_catalog.=) '%u'"
								   " AND c.conkey OPERATOR(pg_catalog.=) '{%d}'"
								   " AND spanner_internal.ddl_length(c.oid, 'googlesql') IS NOT NULL"
	/* a CHECK of the text may be of the same form */
								   " ORDER BY pg_catalog.right(c.conname, 7) OPERATOR(pg_catalog.<>) '_length'",
								   table->relid, attnum));
	if (check != NULL)
		SK_DDL_EMIT(table->ddl, "%s DROP CONSTRAINT %s", start, check);
	parseTypeString(name, &new_type, &new_typmod, 0);
	get_atttypetypmodcoll(table->relid, attnum, &old_type, &old_typmod, &collation);
	if (new_type != old_type || new_typmod != old_typmod)
		SK_DDL_EMIT(table->ddl, "%s ALTER COLUMN %s TYPE %s%s%s", start, quote_identifier(action->name), name,
					type_collation(name), old == type ? "" : psprintf(" USING spanner_internal.%s(%s)",
																	  type == SK_TYPE_BYTES ? "string_to_bytes" : "bytes_to_string",
																	  quote_identifier(action->name)));
	check = length_check(table->name, column);
	if (check != NULL)
		SK_DDL_EMIT(table->ddl, "%s ADD %s", start, check);
}

/* An identity column keeps its sequence, whatever is said of its default. */
static void
alter_default(SkAlter *table, SkAction *action)
{
	const char *start = psprintf("ALTER TABLE %s ALTER COLUMN %s", sk_ddl_name(table->name),
								 quote_identifier(action->name));

	if (is_identity(table, action))
	{
		if (action->type == SK_SET_DEFAULT)
			SK_DDL_ERROR(table->ddl, action->at, ERRCODE_FEATURE_NOT_SUPPORTED,
						 errmsg("Cannot alter an identity column `%s.%s` to a generated or default column.",
								get_rel_name(table->relid), action->name),
						 errhint("Run it directly, without execute_ddl, to give up the sequence."));
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("column \"%s\" of relation \"%s\" is an identity column and keeps its sequence",
						action->name, get_rel_name(table->relid))));
	}
	else if (find_update_trigger(table->relid, action->name) != NULL)
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Column `%s` with an ON UPDATE expression must have an identical DEFAULT value expression.",
							action->name));
	else if (action->type == SK_SET_DEFAULT)
	{
		SK_DDL_EMIT(table->ddl, "%s SET DEFAULT %s", start,
					sk_ddl_translate(table->ddl, action->column->expr, NIL, false));
		check_assignment(table->ddl, table->relid, action->name, action->column);
	}
	else
		SK_DDL_EMIT(table->ddl, "%s DROP DEFAULT", start);
}

/* SET ON UPDATE, of a column whose default is the same */
static void
set_update(SkAlter *table, SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	SkColumn   *column = action->column;
	AttrNumber	attnum = find_column(table, action);

	if (sk_ddl_has_name(sk_ddl_table_key(table->relid), action->name))
		SK_DDL_ERROR(ddl, action->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Column %s.%s with ON UPDATE cannot be a part of or the whole primary key.",
							sk_ddl_name(table->name), action->name));
	column->has_default = sk_query_text(psprintf("SELECT 1 WHERE spanner_internal.is_commit_default('%u', '%d')",
												 table->relid, attnum)) != NULL;
	column->expr = column->update;
	drop_update(table, action);
	sk_ddl_run_command(ddl, update_trigger(ddl, table->name, column));
}

static void
drop_update(SkAlter *table, SkAction *action)
{
	char	   *trigger = find_update_trigger(table->relid, action->name);

	if (trigger != NULL)
		SK_DDL_EMIT(table->ddl, "DROP TRIGGER %s ON %s", trigger, sk_ddl_name(table->name));
}

/* SET ON DELETE, SET INTERLEAVE IN: another foreign key to the parent. */
static void
set_parent(SkAlter *table, SkAction *action)
{
	SkConstraint *constraint = action->constraint;
	const char *name = sk_ddl_name(table->name);
	Oid			old = sk_ddl_object("parent_constraint", table->relid);
	List	   *after = NIL;
	char	   *sql;

	if (constraint->table == NULL)
	{
		if (!OidIsValid(old))
			SK_DDL_ERROR(table->ddl, action->at, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						 errmsg("Cannot SET ON DELETE on table %s that does not have an INTERLEAVE clause.", name));
		constraint->table = palloc0(sizeof(SkName));
		constraint->table->parts = sk_query_texts(psprintf("SELECT pg_catalog.unnest(ARRAY[n.nspname, k.relname])"
														   " FROM pg_catalog.pg_constraint c"
														   " JOIN pg_catalog.pg_class k ON k.oid OPERATOR(pg_catalog.=) c.confrelid"
														   " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) k.relnamespace"
														   " WHERE c.oid OPERATOR(pg_catalog.=) '%u'", old));
		constraint->is_parent = true;
	}
	sql = parent_key(table->ddl, constraint, name, sk_ddl_table_key(table->relid), &after);
	if (!OidIsValid(old) && constraint->cascades)
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Altering the table %s from INTERLEAVE IN to INTERLEAVE IN PARENT ON DELETE CASCADE is not supported.", name),
					 errhint("Migrate it to INTERLEAVE IN PARENT ON DELETE NO ACTION first."));
	if (OidIsValid(old))
		SK_DDL_EMIT(table->ddl, "ALTER TABLE %s DROP CONSTRAINT %s", name,
					quote_identifier(get_constraint_name(old)));
	if (sql != NULL)
		SK_DDL_EMIT(table->ddl, "ALTER TABLE %s ADD %s", name, sql);
	emit_all(table->ddl, sk_query_texts(psprintf("SELECT spanner_internal.keys_after_parent('%u')", table->relid)));
	if (sk_query_text(psprintf("SELECT spanner_internal.interleaved_trigger('%u')", table->relid)) != NULL)
		SK_DDL_EMIT(table->ddl, "DROP TRIGGER interleaved_in ON %s", name);
	emit_all(table->ddl, after);
	sk_ddl_check_interleave(table->ddl, action->at, table->relid,
							sk_ddl_find(table->ddl, constraint->table, RELKIND_RELATION, false));
	check_table(table->ddl, action->at, table->relid);
}

static void
rename_table(SkAlter *table, SkAction *action)
{
	SkName	   *old = table->name;

	if (list_length(action->target->parts) > 1 &&
		strcmp(linitial(action->target->parts),
			   get_namespace_name(get_rel_namespace(table->relid))) != 0)
		sk_ddl_refuse(table->ddl, action->target->at, "new schema in RENAME",
					  "Run ALTER TABLE ... SET SCHEMA directly.");
	sk_ddl_new_name(table->ddl, "Table", get_rel_namespace(table->relid), llast(action->target->parts),
					action->target->at);
	SK_DDL_EMIT(table->ddl, "ALTER TABLE %s RENAME TO %s", sk_ddl_name(old),
				quote_identifier(llast(action->target->parts)));
	sk_ddl_keep_name(table->ddl, llast(action->target->parts), psprintf("TABLE %s", sk_ddl_relation(table->relid)));
	table->name = palloc0(sizeof(SkName));
	table->name->at = action->target->at;
	table->name->parts = lappend(list_truncate(list_copy(old->parts), list_length(old->parts) - 1),
								 llast(action->target->parts));
	if (action->with_synonym)
		emit_all(table->ddl, synonym_commands(old, table->name));
}

/* RENAME TABLE a TO b, ... */
void
sk_ddl_rename_tables(SkDdlText *ddl, SkStatement *statement)
{
	for (int i = 0; i < list_length(statement->elements); i += 2)
	{
		SkAlter		table = {ddl, list_nth(statement->elements, i), InvalidOid};
		SkAction	action = {.target = list_nth(statement->elements, i + 1)};

		table.relid = sk_ddl_find(ddl, table.name, RELKIND_RELATION, false);
		(void) sk_ddl_on_relation(ddl, table.relid);
		rename_table(&table, &action);
		(void) sk_ddl_on_relation(ddl, InvalidOid);
	}
}

/* ALTER TABLE ... ALTER COLUMN with a clause of Spanner's. */
static void
alter_identity(SkAlter *table, const SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	List	   *clauses = action->column->clauses;
	SkDdlClause *first = linitial(clauses);
	SkDdlChange change = {0};
	Oid			seqid;

	if (list_length(clauses) > 1)
		SK_DDL_ERROR(ddl, ((SkDdlClause *) lsecond(clauses))->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Only single option is allowed for <ALTER COLUMN> on identity column."));
	if (action->is_set && first->type == SK_CLAUSE_RESTART)
		SK_DDL_ERROR(ddl, first->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Optional clause <RESTART COUNTER WITH> is not supported in <ALTER COLUMN ... SET> statement. Use <ALTER COLUMN ... RESTART COUNTER WITH> instead."));
	sk_ddl_read_clauses(ddl, clauses, SK_DDL_ALTER_COLUMN, action->name, &change);
	seqid = identity_sequence(table, action);
	if (!OidIsValid(seqid))
		SK_DDL_ERROR(ddl, action->at, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 errmsg("Column is not an identity column in table %s: %s",
							get_rel_name(table->relid), action->name));
	sk_ddl_change_sequence(ddl, sk_ddl_relation(seqid), &change);
}

/*
 * The columns of a table, for expressions: a list of SkVariable.
 *
 * The expression of a generated column becomes part of a command, which parses
 * it as the owner of the table.
 */
static List *
table_variables(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	List	   *context = deparse_context_for(RelationGetRelationName(rel), relid);
	List	   *result = NIL;

	for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), i);
		SkVariable *variable = palloc0(sizeof(SkVariable));

		if (attribute->attisdropped)
			continue;
		variable->name = pstrdup(NameStr(attribute->attname));
		variable->type = sk_ddl_type_class(attribute->atttypid);
		variable->is_short = attribute->atttypid == INT2OID || attribute->atttypid == INT4OID;
		if (attribute->attgenerated != '\0')
			variable->expression = psprintf("(%s)",
											deparse_expression(build_column_default(rel, attribute->attnum),
															   context, false, false));
		/* the text does not say what it becomes on assignment */
		if (variable->expression != NULL && SK_IS_NUMBER(variable->type))
			variable->expression = psprintf("%s::%s", variable->expression,
											format_type_with_typemod(attribute->atttypid, attribute->atttypmod));
		result = lappend(result, variable);
	}
	table_close(rel, NoLock);
	return result;
}

/* Note a column for expressions. */
static void
add_variable(SkDdlText *ddl, List **variables, const SkColumn *column)
{
	SkVariable *variable = palloc0(sizeof(SkVariable));
	ListCell   *lc;

	if (list_length(*variables) == MaxHeapAttributeNumber)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_TOO_MANY_COLUMNS,
					 errmsg("tables can have at most %d columns", MaxHeapAttributeNumber));
	foreach(lc, *variables)
	{
		/* Spanner's names are the same in any case */
		if (pg_strcasecmp(((SkVariable *) lfirst(lc))->name, column->name) == 0)
			SK_DDL_ERROR(ddl, column->at, ERRCODE_DUPLICATE_COLUMN,
						 errmsg("Duplicate column name %s.", column->name));
	}
	sk_ddl_new_name(ddl, "Column", InvalidOid, column->name, column->at);
	variable->name = column->name;
	variable->column = column->is_generated ? column : NULL;
	(void) column_type(ddl, column, &variable->type);
	*variables = lappend(*variables, variable);
}

/* A column, as PostgreSQL defines it. */
static char *
column_definition(SkDdlText *ddl, SkName *table, List *variables, const SkColumn *column,
				  List **after)
{
	StringInfoData sql;
	SkDdlType	type;
	char	   *name;
	int64		start;
	char	   *kind;

	initStringInfo(&sql);
	name = column_type(ddl, column, &type);
	appendStringInfo(&sql, "%s %s%s", quote_identifier(column->name), name, type_collation(name));
	check_sources(ddl, column);
	if (column->not_null)
		appendStringInfoString(&sql, " NOT NULL");
	if (column->is_identity || strstr(column->type->name, "serial") != NULL)
	{
		if (type != SK_TYPE_INT)
			SK_DDL_ERROR(ddl, column->at, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("identity column \"%s\" must be of type INT64", column->name));
		/* the kind of the sequence is set when that exists */
		kind = identity_kind(ddl, column, &start);
		if (column->is_identity)
			appendStringInfoString(&sql, " GENERATED BY DEFAULT AS IDENTITY");
		if (start > 0)
			appendStringInfo(&sql, " (START WITH " INT64_FORMAT ")", start);
		if (kind != NULL)
			*after = lappend(*after,
							 psprintf("SELECT spanner.alter_sequence(pg_catalog.pg_get_serial_sequence(%s, %s), kind => %s)",
									  quote_literal_cstr(sk_ddl_name(table)), quote_literal_cstr(column->name),
									  quote_literal_cstr(kind)));
	}
	if (column->has_default)
		appendStringInfo(&sql, " DEFAULT %s", sk_ddl_translate(ddl, column->expr, variables, false));
	if (column->is_generated)
		appendStringInfo(&sql, " GENERATED ALWAYS AS (%s) STORED",
						 generation_expression(ddl, variables, column));
	if (length_check(table, column) != NULL)
		appendStringInfo(&sql, " %s", length_check(table, column));
	return sql.data;
}

/*
 * Raise an error if PostgreSQL casts the value of a column that is there now on
 * assignment, and GoogleSQL does not.
 */
static void
check_assignment(SkDdlText *ddl, Oid relid, const char *name, const SkColumn *column)
{
	SkNode	   *value = column->expr;
	Relation	rel;
	Node	   *node;
	SkDdlType	from;
	SkDdlType	to;

	if (ddl->dialect != SK_GOOGLESQL || value == NULL)
		return;
	while (value->type == SK_NODE_PARENTHESES)
		value = linitial(value->args);
	rel = table_open(relid, AccessShareLock);
	node = build_column_default(rel, get_attnum(relid, name));
	table_close(rel, NoLock);
	/* a default of NULL is none */
	if (node == NULL)
		return;
	to = sk_ddl_type_class(exprType(node));
	for (;;)
	{
		if (IsA(node, CoerceToDomain))
			node = (Node *) ((CoerceToDomain *) node)->arg;
		else if (IsA(node, CoerceViaIO) && ((CoerceViaIO *) node)->coerceformat == COERCE_IMPLICIT_CAST)
			node = (Node *) ((CoerceViaIO *) node)->arg;
		else if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST)
			node = linitial(((FuncExpr *) node)->args);
		else
			break;
	}
	from = value->type == SK_NODE_STRING ? SK_TYPE_STRING : sk_ddl_type_class(exprType(node));
	/* literals become what they are assigned to */
	if (from == to || from == SK_TYPE_UNKNOWN || (SK_IS_NUMBER(from) && SK_IS_NUMBER(to) && (from < to || to == SK_TYPE_FLOAT32)) ||
		(value->type == SK_NODE_STRING && (to == SK_TYPE_DATE || to == SK_TYPE_TIMESTAMP || to == SK_TYPE_UUID)))
		return;
	SK_DDL_ERROR(ddl, value->at, ERRCODE_DATATYPE_MISMATCH,
				 errmsg("column \"%s\" is of type %s but expression is of type %s", name, sk_ddl_type_name(to),
						sk_ddl_type_name(value->type == SK_NODE_FLOAT ? SK_TYPE_FLOAT : from)),
				 errhint("Cast the expression."));
}

/* Raise an error if what is said of the column's values does not go together, and core does not. */
static void
check_sources(SkDdlText *ddl, const SkColumn *column)
{
	if (column->not_null && column->is_null)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_SYNTAX_ERROR,
					 errmsg("conflicting NULL/NOT NULL declarations for column \"%s\"", column->name));
	if (column->is_always)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Only <GENERATED BY DEFAULT> is supported for identity column."),
					 errhint("Run the statement directly if explicit values shall be refused."));
	if (column->is_generated && !column->is_stored)
		check_virtual(ddl, column);
}

/* A generated column that Spanner would not store, and PostgreSQL does. */
static void
check_virtual(SkDdlText *ddl, const SkColumn *column)
{
	if (column->not_null)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Generated column `%s` that are not marked as STORED cannot be specified as NOT NULL.",
							column->name));
	if (column->type->length > 0 && strcmp(column->type->name, "numeric") != 0)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("generated column \"%s\" that is not STORED must have no length but MAX", column->name));
	ereport(NOTICE,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("generated column \"%s\" is stored here", column->name)));
}

/*
 * The kind of a new identity column with its options, as a label has them;
 * NULL if it is the default.  Sets the counter to start with, or 0.
 */
static char *
identity_kind(SkDdlText *ddl, const SkColumn *column, int64 *start)
{
	SkDdlChange change = {0};
	const char *kind;

	sk_ddl_read_clauses(ddl, column->clauses, SK_DDL_CREATE_TABLE, column->name, &change);
	if (change.kind == NULL && sk_ddl_default_kind() == NULL)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("The sequence kind of an identity column %s is not specified. Please specify the sequence kind explicitly or set the database option `default_sequence_kind`.",
							column->name),
					 errhint("Write GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE), or set spanner.default_sequence_kind."));
	*start = 0;
	if (change.has_counter)
	{
		if (change.counter < 1)
			SK_DDL_ERROR(ddl, column->at, ERRCODE_INVALID_PARAMETER_VALUE,
						 errmsg("`start_with_counter` has to be a positive INT64 number"));
		*start = change.counter;
	}
	kind = change.kind != NULL ? change.kind : sk_ddl_default_kind();
	if (change.has_skip)
	{
		int			length = strlen(kind);
		bool		has_options = kind[length - 1] == ')';

		kind = psprintf("%.*s%sskip_range_min=" INT64_FORMAT ", skip_range_max=" INT64_FORMAT ")",
						has_options ? length - 1 : length, kind, has_options ? ", " : "(",
						change.skip_min, change.skip_max);
	}
	else if (sk_ddl_default_kind() != NULL && strcmp(kind, sk_ddl_default_kind()) == 0)
		return NULL;
	return pstrdup(kind);
}

/* The expression of a generated column; others of which it is made are written out. */
static char *
generation_expression(SkDdlText *ddl, List *variables, const SkColumn *column)
{
	char	   *result;
	ListCell   *lc;

	foreach(lc, variables)
	{
		SkVariable *variable = lfirst(lc);

		variable->expands = variable->column != NULL || variable->expression != NULL;
		variable->is_open = strcmp(variable->name, column->name) == 0;
	}
	result = sk_ddl_translate(ddl, column->expr, variables, false);
	foreach(lc, variables)
	{
		SkVariable *variable = lfirst(lc);

		variable->expands = variable->is_open = false;
	}
	return result;
}

/* The type of a column, which also says if it may hold commit timestamps. */
static char *
column_type(SkDdlText *ddl, const SkColumn *column, SkDdlType *type)
{
	StringInfoData sql;
	bool		is_commit = false;
	ListCell   *lc;

	initStringInfo(&sql);
	*type = sk_ddl_type(ddl, column->type, &sql);
	foreach(lc, column->options)
	{
		SkDdlOption *option = lfirst(lc);

		if (strcmp(option->name, "allow_commit_timestamp") != 0)
			sk_ddl_refuse_option(ddl, option, " of a column");
		if (strcmp(column->type->name, "timestamp") != 0 || column->type->is_array)
			SK_DDL_ERROR(ddl, option->at, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("Column %s has invalid allow_commit_timestamp option.  Option only allowed on TIMESTAMP columns.", column->name));
		if (!SK_DDL_ONE_OF(option->value, "true", "false", "null"))
			SK_DDL_ERROR(ddl, option->value_at, ERRCODE_INVALID_PARAMETER_VALUE,
						 errmsg("option \"%s\" must be true, false or null", option->name));
		is_commit = strcmp(option->value, "true") == 0;
	}
	return is_commit ? "spanner.commit_timestamp" : sql.data;
}

/* Texts are compared by their bytes.  The header of locales needs that of ICU. */
static const char *
type_collation(const char *type)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	Datum		collate;
	bool		isnull;
	char		provider;
	bool		by_bytes;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
	collate = SysCacheGetAttr(DATABASEOID, tuple, Anum_pg_database_datcollate, &isnull);
	provider = ((Form_pg_database) GETSTRUCT(tuple))->datlocprovider;
	by_bytes = provider == COLLPROVIDER_BUILTIN ||
		(provider == COLLPROVIDER_LIBC && !isnull && SK_DDL_ONE_OF(TextDatumGetCString(collate), "C", "POSIX"));
	ReleaseSysCache(tuple);
	return strncmp(type, "text", 4) != 0 || by_bytes ? "" : " COLLATE \"C\"";
}

/*
 * The constraint that checks the length of STRING(n) and BYTES(n); NULL for
 * other types.  A varchar(n) would cut blanks, and silently.
 */
static char *
length_check(SkName *table, const SkColumn *column)
{
	if (column->type->length < 1)
		return NULL;
	return psprintf("CONSTRAINT %s CHECK (%s(%s) <= " INT64_FORMAT ")",
					quote_identifier(makeObjectName(llast(table->parts), column->name, "length")),
					column->type->is_array ? "spanner_internal.longest" : "pg_catalog.length",
					quote_identifier(column->name), column->type->length);
}

/*
 * A constraint as PostgreSQL defines it; NULL if it is another thing.
 *
 * Commands that come after it are added to that list.
 */
static char *
constraint_definition(SkDdlText *ddl, SkName *table, Oid schema, bool is_new, List *key, List *variables,
					  SkConstraint *constraint, List **after)
{
	if (constraint->name != NULL && (constraint->type == SK_CHECK || constraint->type == SK_FOREIGN_KEY))
		sk_ddl_new_name(ddl, constraint->type == SK_CHECK ? "Check Constraint" : "Foreign Key", schema,
						constraint->name, constraint->at);
	switch (constraint->type)
	{
		case SK_COLUMN:
		case SK_PRIMARY_KEY:
			break;
		case SK_CHECK:
			return psprintf("%sCHECK (%s)", constraint->name == NULL ? "" :
							psprintf("CONSTRAINT %s ", quote_identifier(constraint->name)),
							sk_ddl_translate(ddl, constraint->expr, variables, false));
		case SK_FOREIGN_KEY:
			return foreign_key(ddl, constraint, is_new ? table : NULL, key);
		case SK_INTERLEAVE:
			return parent_key(ddl, constraint, sk_ddl_name(table), key, after);
		case SK_DELETION_POLICY:
			*after = lappend(*after, policy_trigger(ddl, table, constraint, variables));
			break;
		case SK_SYNONYM:
			*after = list_concat(*after, synonym_commands(constraint->table, table));
			break;
		case SK_UNIQUE:
			SK_DDL_ERROR(ddl, constraint->at, ERRCODE_FEATURE_NOT_SUPPORTED,
						 errmsg("<UNIQUE> constraint is not supported, create a unique index instead."));
	}
	return NULL;
}

/*
 * A foreign key; NULL if it is not enforced and that is PostgreSQL's way.
 *
 * Spanner makes an index for the columns that it refers to.  PostgreSQL needs
 * a UNIQUE constraint, which the other table gets first: a constraint that is
 * added afterwards would be checked with a query, and that of CREATE TABLE is
 * not.
 */
static char *
foreign_key(SkDdlText *ddl, SkConstraint *constraint, SkName *self, List *self_key)
{
	bool		is_self = self != NULL &&
		strcmp(sk_ddl_name(self), sk_ddl_name(constraint->table)) == 0;
	List	   *referenced = constraint->referenced;
	Oid			relid = is_self ? InvalidOid :
		sk_ddl_find(ddl, constraint->table, RELKIND_RELATION, false);
	StringInfoData sql;

	if (referenced == NIL)
		referenced = is_self ? self_key : sk_ddl_table_key(relid);
	if (list_length(referenced) != list_length(constraint->columns))
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_FOREIGN_KEY,
					 errmsg("number of referencing and referenced columns for foreign key disagree"));
	if (constraint->not_enforced && !SK_HAS_NOT_ENFORCED)
	{
		ereport(NOTICE,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("foreign key to \"%s\" is not enforced, and left out",
						(char *) llast(constraint->table->parts))));
		return NULL;
	}
	initStringInfo(&sql);
	if (is_self && strcmp(sk_ddl_name_list(referenced), sk_ddl_name_list(self_key)) != 0)
		appendStringInfo(&sql, "UNIQUE (%s),\n  ", sk_ddl_name_list(referenced));
	else if (!is_self && !has_unique_key(relid, referenced))
	{
		Oid			before = sk_ddl_on_relation(ddl, relid);

		SK_DDL_EMIT(ddl, "ALTER TABLE %s ADD UNIQUE (%s)",
					sk_ddl_name(constraint->table), sk_ddl_name_list(referenced));
		(void) sk_ddl_on_relation(ddl, before);
	}
	if (constraint->name != NULL)
		appendStringInfo(&sql, "CONSTRAINT %s ", quote_identifier(constraint->name));
	appendStringInfo(&sql, "FOREIGN KEY (%s) REFERENCES %s (%s)%s%s", sk_ddl_name_list(constraint->columns),
					 sk_ddl_name(constraint->table), sk_ddl_name_list(referenced),
					 constraint->cascades ? " ON DELETE CASCADE" : "",
					 constraint->not_enforced ? " NOT ENFORCED" : "");
	return sql.data;
}

/* May a foreign key refer to these columns? */
static bool
has_unique_key(Oid relid, List *columns)
{
	StringInfoData attnums;
	ListCell   *lc;

	initStringInfo(&attnums);
	foreach(lc, columns)
		appendStringInfo(&attnums, "%s%d", attnums.len > 0 ? "," : "", get_attnum(relid, lfirst(lc)));
	return sk_query_text(psprintf("SELECT 1 WHERE spanner_internal.has_unique_key('%u', '{%s}')", relid,
								  attnums.data)) != NULL;
}

/* The foreign key of an interleaved table; NULL if it has no parent. */
static char *
parent_key(SkDdlText *ddl, SkConstraint *constraint, const char *table, List *key, List **after)
{
	Oid			parent = sk_ddl_find(ddl, constraint->table, RELKIND_RELATION, false);
	List	   *parent_key = sk_ddl_table_key(parent);
	ListCell   *lc;

	if (!constraint->is_parent)
	{
		*after = lappend(*after, psprintf("CREATE CONSTRAINT TRIGGER interleaved_in AFTER UPDATE%s%s ON %s FROM %s"
										  " FOR EACH ROW WHEN (false) EXECUTE FUNCTION spanner_internal.interleaved_in()",
										  key != NIL ? " OF " : "", sk_ddl_name_list(key), table,
										  sk_ddl_name(constraint->table)));
		return NULL;
	}
	if (parent_key == NIL)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_FOREIGN_KEY,
					 errmsg("parent table \"%s\" has no key", (char *) llast(constraint->table->parts)));
	/* core would speak of a foreign key, which nobody has written */
	foreach(lc, parent_key)
	{
		if (!sk_ddl_has_name(key, lfirst(lc)))
			SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_FOREIGN_KEY,
						 errmsg("Table %s does not reference parent key column %s.", table, (char *) lfirst(lc)));
	}
	return psprintf("CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)%s",
					quote_identifier(INTERLEAVING), sk_ddl_name_list(parent_key),
					sk_ddl_name(constraint->table), sk_ddl_name_list(parent_key),
					constraint->cascades ? " ON DELETE CASCADE" : "");
}

/* The commands that make a synonym.  It has the caller's rights on the table. */
static List *
synonym_commands(const SkName *synonym, const SkName *table)
{
	const char *name = sk_ddl_name(synonym);

	return list_make2(psprintf("CREATE VIEW %s WITH (security_invoker = true) AS SELECT * FROM %s",
							   name, sk_ddl_name(table)),
					  psprintf("CREATE TRIGGER synonym AFTER UPDATE ON %s FOR EACH STATEMENT"
							   " WHEN (false) EXECUTE FUNCTION spanner_internal.synonym()", name));
}

/* The trigger that a column ON UPDATE becomes, once its default is known to be the same. */
static char *
update_trigger(SkDdlText *ddl, const SkName *table, const SkColumn *column)
{
	const char *name = quote_identifier(column->name);

	if (!is_commit_time(ddl, column->update))
		SK_DDL_ERROR(ddl, column->update->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("PENDING_COMMIT_TIMESTAMP() is the only supported ON UPDATE expression."));
	if (!column->has_default || !is_commit_time(ddl, column->expr))
		SK_DDL_ERROR(ddl, column->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Column `%s` with an ON UPDATE expression must have an identical DEFAULT value expression.",
							column->name));
	return psprintf("CREATE TRIGGER %s BEFORE UPDATE ON %s FOR EACH ROW"
					" WHEN (NEW.%s IS NOT DISTINCT FROM OLD.%s) EXECUTE FUNCTION spanner_internal.on_update()",
					quote_identifier(makeObjectName("on_update", column->name, NULL)),
					sk_ddl_name(table), name, name);
}

static bool
is_commit_time(SkDdlText *ddl, SkNode *node)
{
	const char *expression = sk_ddl_translate(ddl, node, NIL, false);

	return pg_strcasecmp(expression, "spanner.pending_commit_timestamp()") == 0 ||
		pg_strcasecmp(expression, "(spanner.pending_commit_timestamp())") == 0;
}

/* The trigger of a column ON UPDATE, NULL if there is none. */
static char *
find_update_trigger(Oid relid, const char *column)
{
	return sk_query_text(psprintf("SELECT pg_catalog.quote_ident(t) FROM spanner_internal.update_trigger('%u', '%d') t",
								  relid, get_attnum(relid, column)));
}

/* The trigger that a row deletion policy becomes. */
static char *
policy_trigger(SkDdlText *ddl, const SkName *table, const SkConstraint *constraint,
			   const List *variables)
{
	const char *column = linitial(constraint->columns);
	SkDdlType	type = SK_TYPE_UNKNOWN;
	Interval   *interval;
	ListCell   *lc;

	if (constraint->name != NULL && strcmp(constraint->name, "older_than") != 0)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("Only OLDER_THAN is supported."));
	foreach(lc, variables)
	{
		if (strcmp(((SkVariable *) lfirst(lc))->name, column) == 0)
			type = ((SkVariable *) lfirst(lc))->type;
	}
	if (type != SK_TYPE_TIMESTAMP)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("Cannot create ROW DELETION POLICY because column %s in table %s is not of type TIMESTAMP.",
							column, sk_ddl_name(table)));
	/* raises an error if it is none */
	interval = DatumGetIntervalP(DirectFunctionCall3(interval_in,
													 CStringGetDatum(constraint->interval),
													 ObjectIdGetDatum(InvalidOid),
													 Int32GetDatum(-1)));
	/* Spanner counts days, and a month is no number of them */
	if (interval->month != 0 || interval->time % USECS_PER_DAY != 0 ||
		interval->day + interval->time / USECS_PER_DAY < 0)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("interval \"%s\" of a row deletion policy is not a number of days",
							constraint->interval),
					 errdetail("It must be whole days, and not negative."),
					 errhint("An example is \"%s\".", "30 days"));
	return psprintf("CREATE TRIGGER row_deletion_policy AFTER UPDATE OF %s ON %s"
					" FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION spanner_internal.row_deletion_policy(%s)",
					quote_identifier(column), sk_ddl_name(table),
					quote_literal_cstr(constraint->interval));
}

/*
 * Raise an error if rows of a table, or of one above it, expire, and a child
 * of such a row would keep it, or if a generated column or check reads what
 * Spanner's may not.
 */
static void
check_table(SkDdlText *ddl, int at, Oid relid)
{
	Relation	rel = relation_open(relid, NoLock);
	bool		has_triggers = rel->rd_rel->relhastriggers;
	TupleConstr *constr = rel->rd_att->constr;
	bool		has_expressions = constr != NULL && (constr->has_generated_stored || constr->num_check > 0);

	relation_close(rel, NoLock);
	/* foreign keys and policies are triggers */
	if (has_triggers)
		sk_ddl_check(ddl, at, ERRCODE_INVALID_TABLE_DEFINITION,
					 psprintf("SELECT spanner_internal.expiry_problem('%u')", relid));
	if (has_expressions)
		sk_ddl_check(ddl, at, ERRCODE_INVALID_TABLE_DEFINITION,
					 psprintf("SELECT spanner_internal.expression_problem('%u')", relid));
}

static void
keep_column_name(SkDdlText *ddl, const SkName *table, const SkColumn *column)
{
	sk_ddl_keep_name(ddl, column->name,
					 psprintf("COLUMN %s.%s", sk_ddl_name(table), quote_identifier(column->name)));
}

static void
keep_constraint_name(SkDdlText *ddl, const SkName *table, Oid relid, const SkConstraint *constraint)
{
	Oid			parent;

	if (constraint->name != NULL && (constraint->type == SK_CHECK || constraint->type == SK_FOREIGN_KEY))
		sk_ddl_keep_name(ddl, constraint->name,
						 psprintf("CONSTRAINT %s ON %s", quote_identifier(constraint->name), sk_ddl_name(table)));
	parent = constraint->type == SK_FOREIGN_KEY ? sk_ddl_object("parent_constraint", relid) : InvalidOid;

	/*
	 * a name that is kept tells this key from the interleaving of a table of
	 * PostgreSQL
	 */
	if (OidIsValid(parent) && strcmp(get_constraint_name(parent), INTERLEAVING) != 0)
		SK_DDL_EMIT(ddl, "COMMENT ON CONSTRAINT %s ON %s IS %s", quote_identifier(get_constraint_name(parent)),
					sk_ddl_name(table), quote_literal_cstr(get_constraint_name(parent)));
}

static void
emit_all(SkDdlText *ddl, List *commands)
{
	ListCell   *lc;

	foreach(lc, commands)
		sk_ddl_run_command(ddl, lfirst(lc));
}
