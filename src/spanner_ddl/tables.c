/*-------------------------------------------------------------------------
 *
 * tables.c
 *	  Spanner's DDL for tables.
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
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

/* A table that is made, and what comes after CREATE TABLE. */
typedef struct SkNewTable
{
	SkDdlText  *ddl;
	SkName	   *name;
	List	   *variables;
	List	   *key;			/* of SkKeyPart */
	bool		has_key;
	bool		key_is_null;	/* a column of it may be NULL */
	StringInfoData sql;
	List	   *after;			/* commands */
} SkNewTable;

static void add_key(SkNewTable *table);
static void read_key(SkNewTable *table, List *elements);
static void check_key(SkNewTable *table, List *elements);
static SkColumn *find_column(List *elements, const char *name);
static bool has_commit_timestamp(SkDdlText *ddl, const SkColumn *column);
static bool is_serial(const SkColumn *column);
static void check_sources(SkDdlText *ddl, const SkColumn *column);
static void add_identity(SkDdlText *ddl, SkName *table, const SkColumn *column,
						 StringInfo sql, List **after);
static char *generation_expression(SkDdlText *ddl, List *variables, const SkColumn *column);
static void add_column(SkNewTable *table, SkColumn *column);
static void add_constraints(SkNewTable *table, List *elements);
static void add_constraint(SkNewTable *table, SkConstraint *constraint);
static void check_parents(SkNewTable *table, List *elements);
static char *foreign_key(SkDdlText *ddl, SkConstraint *constraint, SkName *self,
						 List *self_key, List **before);
static bool is_commit_time(SkDdlText *ddl, SkRange range);
static List *key_names(List *key);

/* CREATE TABLE */
void
sk_ddl_create_table(SkDdlText *ddl, SkStatement *statement)
{
	SkNewTable	table = {.ddl = ddl,.name = statement->name};
	bool		exists;
	ListCell   *lc;

	sk_ddl_complete_name(table.name);
	exists = statement->exists_ok &&
		OidIsValid(sk_ddl_find(ddl, table.name, RELKIND_RELATION, true));
	initStringInfo(&table.sql);
	foreach(lc, statement->elements)
	{
		SkElement  *element = lfirst(lc);

		if (element != NULL && element->column != NULL)
			(void) sk_ddl_add_variable(ddl, &table.variables, element->column);
	}
	read_key(&table, statement->elements);
	check_key(&table, statement->elements);

	appendStringInfo(&table.sql, "CREATE TABLE %s%s (",
					 statement->exists_ok ? "IF NOT EXISTS " : "", sk_ddl_name(table.name));
	foreach(lc, statement->elements)
	{
		SkElement  *element = lfirst(lc);

		if (element != NULL && element->column != NULL)
			add_column(&table, element->column);
	}
	if (table.has_key)
		add_key(&table);
	add_constraints(&table, statement->elements);
	if (table.sql.data[table.sql.len - 1] == ',')
		table.sql.data[--table.sql.len] = '\0';
	sk_ddl_emit(ddl, "%s\n)", table.sql.data);
	if (exists)
		return;
	sk_ddl_emit_all(ddl, table.after);
	check_parents(&table, statement->elements);
}

/* Add a column.  A foreign key that it has is of this column. */
static void
add_column(SkNewTable *table, SkColumn *column)
{
	ListCell   *lc;

	appendStringInfo(&table->sql, "\n  %s,",
					 sk_ddl_column(table->ddl, table->name, table->variables, column, &table->after));
	if (column->has_update)
		table->after = lappend(table->after, sk_ddl_on_update(table->ddl, table->name, column));
	foreach(lc, column->constraints)
	{
		SkConstraint *constraint = lfirst(lc);

		if (constraint->type == SK_FOREIGN_KEY)
			constraint->columns = list_make1(column->name);
	}
}

/* Add the constraints of the table and of its columns, in the order of the text. */
static void
add_constraints(SkNewTable *table, List *elements)
{
	ListCell   *lc;
	ListCell   *constraint;

	foreach(lc, elements)
	{
		SkElement  *element = lfirst(lc);

		if (element == NULL)
			continue;
		if (element->constraint != NULL)
			add_constraint(table, element->constraint);
		if (element->column != NULL)
			foreach(constraint, element->column->constraints)
				add_constraint(table, lfirst(constraint));
	}
}

/* Raise an error if the table cannot be a child of its parent.  It exists by now. */
static void
check_parents(SkNewTable *table, List *elements)
{
	SkDdlText  *ddl = table->ddl;
	Oid			relid = sk_ddl_find(ddl, table->name, RELKIND_RELATION, false);
	ListCell   *lc;

	foreach(lc, elements)
	{
		SkElement  *element = lfirst(lc);

		if (element == NULL || element->constraint == NULL || element->constraint->type != SK_INTERLEAVE)
			continue;
		sk_ddl_check_interleave(ddl, element->constraint->at, relid,
								sk_ddl_find(ddl, element->constraint->table, RELKIND_RELATION, false));
		sk_ddl_check_policies(ddl, element->constraint->at, relid);
	}
}

/* Find the key, which may be in three places. */
static void
read_key(SkNewTable *table, List *elements)
{
	ListCell   *lc;
	SkConstraint *found = NULL;

	foreach(lc, elements)
	{
		SkElement  *element = lfirst(lc);
		int			place = -1;

		if (element == NULL)
			continue;
		if (element->column != NULL && element->column->is_primary_key)
		{
			SkKeyPart  *part = palloc0(sizeof(SkKeyPart));

			part->column = element->column->name;
			part->at = place = element->column->at;
			if (!table->has_key)
				table->key = list_make1(part);
		}
		else if (element->constraint != NULL && element->constraint->type == SK_PRIMARY_KEY)
		{
			found = element->constraint;
			place = found->at;
			if (!table->has_key)
				table->key = found->columns;
			if (found->name != NULL)
				SK_DDL_ERROR(table->ddl, place, ERRCODE_FEATURE_NOT_SUPPORTED,
							 errmsg("Setting a name of a <PRIMARY KEY> constraint is not supported."));
		}
		else
			continue;
		if (table->has_key)
			SK_DDL_ERROR(table->ddl, place, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("Primary key can be only defined once."));
		table->has_key = true;
	}
}

/* Spanner's rules for keys; are all columns of it NOT NULL? */
static void
check_key(SkNewTable *table, List *elements)
{
	ListCell   *lc;

	sk_ddl_check_key_length(table->ddl, table->key);
	foreach(lc, table->key)
	{
		SkKeyPart  *part = lfirst(lc);
		SkColumn   *column = find_column(elements, part->column);
		const char *name;
		SkType		type;

		if (column == NULL)
			SK_DDL_ERROR(table->ddl, part->at, ERRCODE_UNDEFINED_COLUMN,
						 errmsg("Table %s references nonexistent key column %s.",
								sk_ddl_name(table->name), part->column));
		for (int i = 0; i < foreach_current_index(lc); i++)
		{
			if (strcmp(((SkKeyPart *) list_nth(table->key, i))->column, part->column) == 0)
				SK_DDL_ERROR(table->ddl, part->at, ERRCODE_DUPLICATE_COLUMN,
							 errmsg("Table %s references key column %s more than once.",
									sk_ddl_name(table->name), part->column));
		}
		name = sk_ddl_column_type(table->ddl, column, &type);
		if (type == SK_TYPE_ARRAY || type == SK_TYPE_JSON || strcmp(name, "numeric") == 0)
			SK_DDL_ERROR(table->ddl, part->at, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("Column %s has type %s, but is part of the primary key.",
								column->name, type == SK_TYPE_ARRAY ? "ARRAY" :
								type == SK_TYPE_JSON ? "JSON" : "PG.NUMERIC"));
		if (column->has_update)
			SK_DDL_ERROR(table->ddl, part->at, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("Column %s.%s with ON UPDATE cannot be a part of or the whole primary key.",
								sk_ddl_name(table->name), column->name));
		if (table->ddl->dialect == SK_GOOGLESQL && !column->not_null && !column->is_identity)
			table->key_is_null = true;
	}
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

static SkColumn *
find_column(List *elements, const char *name)
{
	ListCell   *lc;

	foreach(lc, elements)
	{
		SkElement  *element = lfirst(lc);

		if (element != NULL && element->column != NULL && strcmp(element->column->name, name) == 0)
			return element->column;
	}
	return NULL;
}

/* The key as a constraint, and what PostgreSQL needs beside it. */
static void
add_key(SkNewTable *table)
{
	char	   *name = sk_ddl_name(table->name);
	StringInfoData order;
	int			descending = 0;
	ListCell   *lc;

	initStringInfo(&order);
	foreach(lc, table->key)
	{
		SkKeyPart  *part = lfirst(lc);

		appendStringInfo(&order, "%s%s%s", order.len > 0 ? ", " : "",
						 quote_identifier(part->column), part->is_desc ? " DESC" : "");
		descending += part->is_desc;
	}
	if (table->key == NIL)
		table->after = lappend(table->after,
							   psprintf("CREATE UNIQUE INDEX ON %s ((true))", name));
	else if (table->key_is_null)
		appendStringInfo(&table->sql, "\n  CONSTRAINT %s UNIQUE NULLS NOT DISTINCT (%s),",
						 quote_identifier(makeObjectName(llast(table->name->parts), NULL, "pkey")),
						 sk_ddl_name_list(key_names(table->key)));
	else
		appendStringInfo(&table->sql, "\n  PRIMARY KEY (%s),", sk_ddl_name_list(key_names(table->key)));
	/* the key itself is read backward if all of it descends */
	if (descending > 0 && descending < list_length(table->key))
		table->after = lappend(table->after, psprintf("CREATE INDEX ON %s (%s)", name, order.data));
	/* publications, such as those of change streams, must not stop changes */
	if (table->key == NIL || table->key_is_null)
		table->after = lappend(table->after, psprintf("ALTER TABLE %s REPLICA IDENTITY FULL", name));
}

/* Note a column for expressions. */
SkVariable *
sk_ddl_add_variable(SkDdlText *ddl, List **variables, const SkColumn *column)
{
	SkVariable *variable = palloc0(sizeof(SkVariable));
	ListCell   *lc;

	if (list_length(*variables) == MaxHeapAttributeNumber)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_TOO_MANY_COLUMNS,
					 errmsg("tables can have at most %d columns", MaxHeapAttributeNumber));
	foreach(lc, *variables)
	{
		if (strcmp(((SkVariable *) lfirst(lc))->name, column->name) == 0)
			SK_DDL_ERROR(ddl, column->at, ERRCODE_DUPLICATE_COLUMN,
						 errmsg("Duplicate column name %s.", column->name));
	}
	variable->name = column->name;
	variable->column = column->is_generated ? column : NULL;
	(void) sk_ddl_column_type(ddl, column, &variable->type);
	*variables = lappend(*variables, variable);
	return variable;
}

/* A column, as PostgreSQL defines it. */
char *
sk_ddl_column(SkDdlText *ddl, SkName *table, List *variables, const SkColumn *column,
			  List **after)
{
	StringInfoData sql;
	SkType		type;

	initStringInfo(&sql);
	appendStringInfo(&sql, "%s %s", quote_identifier(column->name), sk_ddl_column_type(ddl, column, &type));
	check_sources(ddl, column);
	if (column->not_null)
		appendStringInfoString(&sql, " NOT NULL");
	if (column->is_identity || is_serial(column))
	{
		if (type != SK_TYPE_INT)
			SK_DDL_ERROR(ddl, column->at, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("identity column \"%s\" must be of type INT64", column->name));
		add_identity(ddl, table, column, &sql, after);
	}
	else if (column->has_default)
		appendStringInfo(&sql, " DEFAULT %s", sk_ddl_expression(ddl, column->expr, variables, NULL));
	else if (column->is_generated)
		appendStringInfo(&sql, " GENERATED ALWAYS AS (%s) STORED",
						 generation_expression(ddl, variables, column));
	if (sk_ddl_length_check(table, column) != NULL)
		appendStringInfo(&sql, " %s", sk_ddl_length_check(table, column));
	return sql.data;
}

/* Raise an error if what is said of the column's values does not go together. */
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
	if (column->is_identity && is_serial(column))
		SK_DDL_ERROR(ddl, column->at, ERRCODE_SYNTAX_ERROR,
					 errmsg("Both serial and identity specified for column \"%s\"", column->name),
					 errhint("Use bigint for an identity column."));
	if (column->has_default && (column->is_identity || is_serial(column)))
		SK_DDL_ERROR(ddl, column->at, ERRCODE_SYNTAX_ERROR,
					 errmsg("Both identity and default value specified for column \"%s\"", column->name));
	if (column->has_default + column->is_generated + column->is_identity > 1)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_SYNTAX_ERROR,
					 errmsg("column \"%s\" has several sources of values", column->name));
}

/* Make the column draw from a sequence, whose kind is set when it exists. */
static void
add_identity(SkDdlText *ddl, SkName *table, const SkColumn *column, StringInfo sql, List **after)
{
	int64		start;
	char	   *kind = sk_ddl_identity(ddl, column, &start);

	if (column->is_identity)
		appendStringInfoString(sql, " GENERATED BY DEFAULT AS IDENTITY");
	if (start > 0)
		appendStringInfo(sql, " (START WITH " INT64_FORMAT ")", start);
	if (kind != NULL)
		*after = lappend(*after,
						 psprintf("SELECT spanner.alter_sequence(pg_catalog.pg_get_serial_sequence(%s, %s), kind => %s)",
								  quote_literal_cstr(sk_ddl_name(table)),
								  quote_literal_cstr(column->name), quote_literal_cstr(kind)));
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
	result = sk_ddl_expression(ddl, column->expr, variables, NULL);
	foreach(lc, variables)
	{
		SkVariable *variable = lfirst(lc);

		variable->expands = variable->is_open = false;
	}
	return result;
}

/* The type of a column, which also says if it may hold commit timestamps. */
char *
sk_ddl_column_type(SkDdlText *ddl, const SkColumn *column, SkType *type)
{
	StringInfoData sql;

	initStringInfo(&sql);
	*type = sk_ddl_type(ddl, column->type, &sql);
	return has_commit_timestamp(ddl, column) ? "spanner.commit_timestamp" : sql.data;
}

static bool
has_commit_timestamp(SkDdlText *ddl, const SkColumn *column)
{
	bool		result = false;
	ListCell   *lc;

	foreach(lc, column->options)
	{
		SkDdlOption *option = lfirst(lc);

		if (strcmp(option->name, "allow_commit_timestamp") != 0)
			sk_ddl_refuse(ddl, option->at, psprintf("option \"%s\" of a column", option->name),
						  "Leave it out.");
		if (column->type != NULL && (strcmp(column->type->name, "timestamp") != 0 || column->type->is_array))
			SK_DDL_ERROR(ddl, option->at, ERRCODE_INVALID_TABLE_DEFINITION,
						 errmsg("Column %s has invalid allow_commit_timestamp option.  Option only allowed on TIMESTAMP columns.", column->name));
		if (strcmp(option->value, "true") != 0 && strcmp(option->value, "false") != 0 &&
			strcmp(option->value, "null") != 0)
			SK_DDL_ERROR(ddl, option->value_at, ERRCODE_INVALID_PARAMETER_VALUE,
						 errmsg("option \"%s\" must be true, false or null", option->name));
		result = strcmp(option->value, "true") == 0;
	}
	return result;
}

static bool
is_serial(const SkColumn *column)
{
	const char *end = strstr(column->type->name, "serial");

	return end != NULL;
}

/* The constraint that checks the length of BYTES(n); NULL for other types. */
char *
sk_ddl_length_check(SkName *table, const SkColumn *column)
{
	if (strcmp(column->type->name, "bytes") != 0 || column->type->length < 1)
		return NULL;
	return psprintf("CONSTRAINT %s CHECK (%s(%s) <= " INT64_FORMAT ")",
					quote_identifier(makeObjectName(llast(table->parts), column->name, "length")),
					column->type->is_array ? "spanner_internal.longest" : "pg_catalog.length",
					quote_identifier(column->name), column->type->length);
}

/* What there is beside the columns. */
static void
add_constraint(SkNewTable *table, SkConstraint *constraint)
{
	List	   *before = NIL;
	char	   *sql = sk_ddl_constraint(table->ddl, table->name, true, key_names(table->key),
										table->variables, constraint, &before, &table->after);

	if (sql != NULL && before == NIL)
		appendStringInfo(&table->sql, "\n  %s,", sql);
	else if (sql != NULL)
		table->after = lappend(list_concat(table->after, before),
							   psprintf("ALTER TABLE %s ADD %s", sk_ddl_name(table->name), sql));
}

/*
 * sk_ddl_constraint
 *		A constraint as PostgreSQL defines it; NULL if it is another thing.
 *
 * Commands that come before and after it are added to these lists.
 */
char *
sk_ddl_constraint(SkDdlText *ddl, SkName *table, bool is_new, List *key, List *variables,
				  SkConstraint *constraint, List **before, List **after)
{
	switch (constraint->type)
	{
		case SK_PRIMARY_KEY:
			break;
		case SK_CHECK:
			return psprintf("%sCHECK (%s)", constraint->name == NULL ? "" :
							psprintf("CONSTRAINT %s ", quote_identifier(constraint->name)),
							sk_ddl_expression(ddl, constraint->expr, variables, NULL));
		case SK_FOREIGN_KEY:
			return foreign_key(ddl, constraint, is_new ? table : NULL, key, before);
		case SK_INTERLEAVE:
			return sk_ddl_parent_key(ddl, constraint, sk_ddl_name(table), key);
		case SK_DELETION_POLICY:
			*after = lappend(*after, sk_ddl_deletion_policy(ddl, table, constraint, variables));
			break;
		case SK_SYNONYM:
			*after = list_concat(*after, sk_ddl_synonym(constraint->table, table, is_new ? InvalidOid :
														sk_ddl_find(ddl, table, RELKIND_RELATION, false)));
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
 * a UNIQUE constraint, which goes to "before".
 */
static char *
foreign_key(SkDdlText *ddl, SkConstraint *constraint, SkName *self,
			List *self_key, List **before)
{
	bool		is_self = self != NULL &&
		strcmp(sk_ddl_name(self), sk_ddl_name(constraint->table)) == 0;
	List	   *referenced = constraint->referenced;
	Oid			relid = is_self ? InvalidOid :
		sk_ddl_find(ddl, constraint->table, RELKIND_RELATION, false);
	bool		is_primary;
	StringInfoData sql;

	if (referenced == NIL)
		referenced = is_self ? self_key : sk_ddl_table_key(relid, &is_primary);
	if (list_length(referenced) != list_length(constraint->columns))
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_FOREIGN_KEY,
					 errmsg("number of referencing and referenced columns for foreign key disagree"));
	if (constraint->not_enforced && !SK_HAS_NOT_ENFORCED)
	{
		if (constraint->cascades)
			sk_ddl_refuse(ddl, constraint->at, "ON DELETE CASCADE of a foreign key that is NOT ENFORCED", NULL);
		ereport(NOTICE,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("foreign key to \"%s\" is not enforced, and left out",
						(char *) llast(constraint->table->parts))));
		return NULL;
	}
	if (is_self ? strcmp(sk_ddl_name_list(referenced), sk_ddl_name_list(self_key)) != 0 : !sk_ddl_has_unique_key(relid, referenced))
		*before = list_make1(psprintf("ALTER TABLE %s ADD UNIQUE (%s)",
									  sk_ddl_name(constraint->table), sk_ddl_name_list(referenced)));
	initStringInfo(&sql);
	if (constraint->name != NULL)
		appendStringInfo(&sql, "CONSTRAINT %s ", quote_identifier(constraint->name));
	appendStringInfo(&sql, "FOREIGN KEY (%s) REFERENCES %s (%s)%s%s", sk_ddl_name_list(constraint->columns),
					 sk_ddl_name(constraint->table), sk_ddl_name_list(referenced),
					 constraint->cascades ? " ON DELETE CASCADE" : "",
					 constraint->not_enforced ? " NOT ENFORCED" : "");
	return sql.data;
}

/*
 * sk_ddl_parent_key
 *		The foreign key of an interleaved table; NULL if it has no parent.
 */
char *
sk_ddl_parent_key(SkDdlText *ddl, SkConstraint *constraint, const char *table, List *key)
{
	Oid			parent = sk_ddl_find(ddl, constraint->table, RELKIND_RELATION, false);
	bool		is_primary;
	List	   *parent_key = sk_ddl_table_key(parent, &is_primary);

	if (!constraint->is_parent)
		return NULL;
	for (int i = 0; i < list_length(parent_key); i++)
	{
		if (i >= list_length(key) || strcmp(list_nth(parent_key, i), list_nth(key, i)) != 0)
			SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_FOREIGN_KEY,
						 errmsg("Table %s does not reference parent key column %s.", table,
								(char *) list_nth(parent_key, i)),
						 errhint("The key begins with the columns of the parent's key."));
	}
	if (parent_key == NIL)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_FOREIGN_KEY,
					 errmsg("parent table \"%s\" has no key", (char *) llast(constraint->table->parts)));
	return psprintf("FOREIGN KEY (%s) REFERENCES %s (%s)%s", sk_ddl_name_list(parent_key),
					sk_ddl_name(constraint->table), sk_ddl_name_list(parent_key),
					constraint->cascades ? " ON DELETE CASCADE" : "");
}

/*
 * sk_ddl_synonym
 *		The commands that make a synonym, whose owner is the table's.
 *
 * It has the caller's rights on the table.  A table that is not there yet has
 * no OID.
 */
List *
sk_ddl_synonym(const SkName *synonym, const SkName *table, Oid relid)
{
	const char *name = sk_ddl_name(synonym);
	List	   *result = NIL;

	if (OidIsValid(relid) && !object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
	result = lappend(result,
					 psprintf("CREATE VIEW %s WITH (security_invoker = true) AS SELECT * FROM %s",
							  name, sk_ddl_name(table)));
	result = lappend(result,
					 psprintf("CREATE TRIGGER synonym AFTER UPDATE ON %s FOR EACH STATEMENT"
							  " WHEN (false) EXECUTE FUNCTION spanner_internal.synonym()", name));
	if (OidIsValid(relid) && sk_relation_owner(relid) != GetUserId())
		result = lappend(result,
						 psprintf("ALTER VIEW %s OWNER TO %s", name,
								  quote_identifier(GetUserNameFromId(sk_relation_owner(relid), false))));
	return result;
}

/*
 * sk_ddl_on_update
 *		The trigger that a column ON UPDATE becomes, once its default is known
 *		to be the same.
 */
char *
sk_ddl_on_update(SkDdlText *ddl, const SkName *table, const SkColumn *column)
{
	const char *name = quote_identifier(column->name);

	if (!is_commit_time(ddl, column->update))
		SK_DDL_ERROR(ddl, column->update.first, ERRCODE_FEATURE_NOT_SUPPORTED,
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
is_commit_time(SkDdlText *ddl, SkRange range)
{
	const char *expression = sk_ddl_expression(ddl, range, NIL, NULL);

	return pg_strcasecmp(expression, "spanner.pending_commit_timestamp()") == 0 ||
		pg_strcasecmp(expression, "(spanner.pending_commit_timestamp())") == 0;
}

/*
 * sk_ddl_update_trigger
 *		The trigger of a column ON UPDATE, NULL if there is none.
 */
char *
sk_ddl_update_trigger(Oid relid, const char *column)
{
	return sk_query_text(psprintf("SELECT pg_catalog.quote_ident(t.tgname) FROM pg_catalog.pg_trigger t"
								  " JOIN pg_catalog.pg_depend d ON d.objid OPERATOR(pg_catalog.=) t.oid"
								  " WHERE t.tgrelid OPERATOR(pg_catalog.=) '%u' AND t.tgfoid"
								  " OPERATOR(pg_catalog.=) 'spanner_internal.on_update'::pg_catalog.regproc"
								  " AND d.refobjid OPERATOR(pg_catalog.=) t.tgrelid"
								  " AND d.refobjsubid OPERATOR(pg_catalog.=) '%d'",
								  relid, get_attnum(relid, column)));
}

/*
 * sk_ddl_synonym_of
 *		The synonym of a table, NULL if it has none.
 */
char *
sk_ddl_synonym_of(Oid relid)
{
	return sk_query_text(psprintf("SELECT s::pg_catalog.regclass FROM spanner_internal.synonym_of('%u') s"
								  " WHERE s IS NOT NULL", relid));
}

/* Raise an error if the key of a table or index does not begin with the parent's. */
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

char *
sk_ddl_name_list(List *names)
{
	StringInfoData result;
	ListCell   *lc;

	initStringInfo(&result);
	foreach(lc, names)
		appendStringInfo(&result, "%s%s", result.len > 0 ? ", " : "",
						 quote_identifier(lfirst(lc)));
	return result.data;
}

static List *
key_names(List *key)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, key)
		result = lappend(result, ((SkKeyPart *) lfirst(lc))->column);
	return result;
}

void
sk_ddl_emit_all(SkDdlText *ddl, List *commands)
{
	ListCell   *lc;

	foreach(lc, commands)
		sk_ddl_emit(ddl, "%s", (char *) lfirst(lc));
}
